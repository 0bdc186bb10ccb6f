//! What is written down of links: a `pair` record for each link and (state, class) that is repaired, an `unresolved` one for each that
//! is not.

use std::time::Duration;

use ash::vk::{self, Handle};
use samplin_bind::plan::{How, link_bit};
use samplin_core::left::{About, Cause, Explained, Left};
use samplin_hot::{Pair, memory};
use samplin_spirv::{Module, Operand, Specialization};
use samplin_wire::kinds;
use samplin_wire::record::{Descriptor, Joined, Link, SourceLine};
use samplin_wire::text::handle;
use serde_json::json;

use super::Separate;
use super::binds::Binds;
use super::late::Met;
use super::programs::{Program, ProgramLink, Stage};
use super::progress::{Draw, Drawn};
use super::reads::is_divided;
use super::recipe::{PassRun, StageCode, When};
use super::shown::NotedDescriptor;
use super::stages::model;
use super::tasks::TaskRequest;
use super::want::{GroupRepair, LinkAt, Want};
use crate::counters::Path;
use crate::decide::{Catalog, Change, ConflictBits, Reads, Rule};
use crate::device::ViewClass;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::journal::{Journal, LinkKey, PairParts};
use crate::device::modules::fingerprint;
use crate::device::resolve::Pairs;
use crate::device::wishes::Wishes;
use crate::outcome::{self, Chosen, Meeting, Refusal, Wanted};
use crate::overrides::{Override, Overrides};
use crate::record;
use crate::table::{fold, lock};
use crate::variant::{KEEP, SharedState};

/// How many records the links of a pipeline get.
const MOST_LINKS: u64 = 1 << 12;

/// `ONE TWO` to `["one", "two"]`.
fn words(uses: samplin_spirv::Uses) -> Vec<String> {
    format!("{uses:?}").split_whitespace().map(str::to_lowercase).collect()
}

/// Names of the stages, as `VkShaderStageFlagBits` has them.
pub(super) fn stages(stages: vk::ShaderStageFlags) -> Vec<String> {
    format!("{stages:?}").split(" | ").map(str::to_lowercase).collect()
}

/// How a link got the sampler that it wants, and for which pair: another one than its own where all images of a sampler get what suits them
/// all.
#[derive(Clone, Copy)]
pub(super) struct LinkRepair {
    pub(super) at: LinkAt,
    pub(super) how: Option<&'static str>,
    pub(super) pair: Pair,
    pub(super) because: Pair,
    pub(super) wanted: u64,
}

/// What a record of a pair that is left says of its link.
struct LinkLeft {
    link: Option<Link>,
    source: Option<SourceLine>,
    /// It is about what the shader should do.
    is_task: bool,
    /// What distinguishes the record from others of its name.
    key: (u64, u64),
}

fn link_members(program: &Program, LinkAt { link, image, sampler }: LinkAt) -> Link {
    let descriptor = |(set, binding, element)| Descriptor { set, binding, element: Some(element) };
    let link = program.links.get(link);
    Link {
        image: descriptor(image),
        sampler: descriptor(sampler),
        uses: link.map(|link| words(link.uses)),
        stages: link.map(|link| stages(link.stages)),
    }
}

/// What distinguishes a link from others, in any pipeline.
fn link_key(
    program: &Program,
    LinkAt { link, image, sampler }: LinkAt,
    shared: &SharedState,
    classes: (u32, u32),
    how: (Option<&'static str>, bool),
) -> LinkKey {
    let uses = program.links.get(link).map_or_else(Default::default, |link| (link.uses, link.stages.as_raw()));
    LinkKey { at: [image, sampler], uses, fingerprint: shared.fingerprint(), classes, how }
}

/// Where the first of the shaders that join a link does so, as its debug lines say. A look at the whole shader, for a record that is
/// written once.
fn source_of(program: &Program, link: usize) -> Option<SourceLine> {
    let link = program.links.get(link)?;
    let recipe = program.recipe().ok()?;
    recipe.stages.iter().filter(|stage| link.stages.contains(stage.stage)).find_map(|stage| {
        let constants: Vec<(u32, &[u8])> = stage.constants.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
        let module = Module::read(&stage.words).ok()?;
        let entry = (&*stage.name, model(stage.stage)?);
        let (file, line) = module
            .source_of(entry.0, entry.1, Some(&Specialization(&constants)), (link.image, link.sampler))
            .ok()??;
        Some(SourceLine { file, line })
    })
}

/// A link whose elements are not distinguished.
pub(super) fn joined(link: &ProgramLink) -> Link {
    let descriptor = |of: &Operand| Descriptor { set: of.set, binding: of.binding, element: None };
    Link {
        image: descriptor(&link.image),
        sampler: descriptor(&link.sampler),
        uses: Some(words(link.uses)),
        stages: Some(stages(link.stages)),
    }
}

impl Separate {
    /// The part of the `summary` record that is about links.
    pub fn separate_summary(&self, ground: &Ground) -> kinds::Separate {
        let journal = &ground.journal;
        self.record_all_late(ground);
        let unresolved = journal.unresolved_counts(|left| left.about() == About::Link);
        let repeated = journal.links_repeated();
        kinds::Separate { unresolved, repeated, ..self.summary() }
    }

    /// Says that nothing is repaired of a pipeline in a command buffer that was begun before binds were followed, by what is in the sets that
    /// live when it is bound: a look at all of them, so not without a trace, nor again for each bind of sets. What is written and bound
    /// later is named with the next bind of the pipeline there.
    pub(super) fn began_before(&self, hot: &Hot, journal: &Journal, program: &Program) {
        if !journal.records_decisions() {
            return;
        }
        let (unknown, mut met) = (Drawn { program, draw: &Draw::default() }, Met::with_pushed());
        // One that compares where its format cannot; of pushed descriptors, and of sets of which nothing else is known, none is.
        let noted = |operand: &Operand| {
            let shape = program.layout.sets.get(operand.set as usize).and_then(Option::as_ref);
            let number = shape.map(|shape| shape.number());
            let mut found = None;
            self.sets.for_each(&mut |entry| {
                if found.is_none() && Some(entry.shape.number()) == number {
                    let mut own = entry.wholes(operand.binding).into_iter().map(|(_, noted)| noted);
                    found = own.find(|noted| hot.cannot_compare(noted.sampler, noted.view));
                }
            });
            let is_unknown = || shape.is_none_or(|shape| shape.is_pushed()) || self.wholes.has_unfollowed();
            found.map(Some).or_else(|| is_unknown().then_some(None))
        };
        for (index, link) in program.links.iter().enumerate() {
            if link.is_noted && self.wholes.compare() {
                if let Some(noted) = noted(&link.image) {
                    journal.uncompared_before(unknown, index, noted);
                }
            } else if !link.is_noted && met.may_conflict(self, &hot.gate, &program.layout, link) {
                journal.link_unresolved(Left::BeganBefore, unknown, index);
            }
        }
    }

    /// The same of sets that are bound later, by what is in them and in all live sets at other numbers.
    pub(super) fn bound_late(&self, hot: &Hot, journal: &Journal, program: &Program, binds: Binds<'_>) {
        let (unknown, mut met) = (Drawn { program, draw: &Draw::default() }, Met::with_bound(binds));
        let is_bound = |link: &ProgramLink| [&link.image, &link.sampler].iter().any(|at| binds.at(at.set).is_some());
        let links = program.links.iter().enumerate().filter(|(_, link)| !link.is_noted && is_bound(link));
        for (index, link) in links.filter(|_| journal.records_decisions()) {
            if met.may_conflict(self, &hot.gate, &program.layout, link) {
                journal.link_unresolved(Left::BeganBefore, unknown, index);
            }
        }
    }
}

impl Wishes {
    /// What a state and a class come to, for the record: as it is if the driver has a sampler for it.
    pub(super) fn meeting_of<'a>(
        &self,
        rules: &'a Overrides,
        driver: &Driver,
        shared: &SharedState,
        class: &'a ViewClass,
    ) -> Meeting<'a, ()> {
        self.meeting_with(rules, driver, shared, class, |_| Ok(()))
    }

    /// The same, where `has` answers for the driver.
    fn meeting_with<'a>(
        &self,
        rules: &'a Overrides,
        driver: &Driver,
        shared: &SharedState,
        class: &'a ViewClass,
        has: impl FnMut(&Wanted<'_>) -> Result<(), Refusal>,
    ) -> Meeting<'a, ()> {
        let overrides = rules.for_view(shared.overrides, &class.traits).map(Override::wished);
        let off = self.off(shared.overrides, Some(class));
        outcome::meeting(&shared.kept, &class.traits, overrides, off, &self.terms(driver), has)
    }
}

impl Pairs {
    /// Writes the `pair` record of a link.
    pub(super) fn record_link(&self, ground: &Ground, program: Drawn<'_>, repair: LinkRepair) {
        let LinkRepair { at, how, pair, because, wanted } = repair;
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(pair.class))
        else {
            return;
        };
        let Some(of) = self.images.class(because.class) else { return };
        let rules = ground.wishes.rules();
        // Overrides that found no place took no part, which has a record with its reason.
        let meeting = ground.wishes.meeting_with(&rules, &ground.driver, &shared, of, |asked| {
            let has = !asked.wished || self.samplers.variant_of(asked.key) == Some(wanted);
            if has { Ok(()) } else { Err(Refusal::Sampler(Rule::SamplerBudget, Cause::NoMemoryForSampler.into())) }
        });
        // There was no sampler, which has a record.
        let is_refused = matches!(meeting.chosen, Chosen::Variant(())) && wanted == pair.sampler;
        if !is_refused && !meeting.is_refused() {
            self.record_unmendable(ground, pair, because, &meeting, &ground.journal.joined(program, at, how));
        }
        if is_refused || (meeting.changes.is_empty() && !ground.journal.records_all()) {
            return;
        }
        let choice = if wanted == pair.sampler { KEEP } else { wanted };
        if !ground.journal.is_news_of_link(link_key(
            &program,
            at,
            &shared,
            (pair.class, because.class),
            (how, choice != KEEP),
        )) {
            return;
        }
        ground.journal.count(&meeting.changes);
        if ground.journal.records_decisions() {
            let joined = Joined { source: source_of(&program, at.link), ..ground.journal.joined(program, at, how) };
            let parts = PairParts { pair, shared: &shared, class };
            ground.journal.record_pair(parts, Path::Draw, of, &meeting, choice, Some(joined));
        }
    }

    /// Writes an `unresolved` record of what no other sampler mends.
    fn record_unmendable(
        &self,
        ground: &Ground,
        pair: Pair,
        because: Pair,
        meeting: &Meeting<'_, ()>,
        joined: &Joined,
    ) {
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(because.class))
        else {
            return;
        };
        for unresolved in meeting.unresolved(&ground.journal.context(Some(class))) {
            let pair = Pair { class: because.class, ..pair };
            let parts = PairParts { pair, shared: &shared, class };
            ground.journal.pair_unresolved(Left::Pair, unresolved, parts, Some(joined));
        }
    }

    /// The same of a descriptor that is both, whose sampler was chosen when it was written.
    pub(super) fn record_read(&self, ground: &Ground, program: Drawn<'_>, link: usize, element: u32, pair: Pair) {
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(pair.class))
        else {
            return;
        };
        let Some(of) = program.links.get(link).filter(|_| class.traits.reads != Reads::Unknown) else { return };
        if ground.journal.is_unrecorded(&program, link, pair, false) {
            let at = (of.image.set, of.image.binding, element);
            let joined = ground.journal.joined(program, LinkAt { link, image: at, sampler: at }, None);
            self.record_unmendable(
                ground,
                pair,
                pair,
                &ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class),
                &joined,
            );
        }
    }

    /// Whether another sampler mends anything of a pair.
    pub(super) fn is_mendable(&self, ground: &Ground, pair: Pair) -> bool {
        let of = self.samplers.rows(&ground.hot).state(pair.state).zip(self.images.class(pair.class));
        of.is_none_or(|(shared, class)| {
            !ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class).changes.is_empty()
        })
    }

    /// Writes a record for each link of a sampler that has none yet: how it is repaired, or why it is not.
    pub(super) fn record_group(&self, ground: &Ground, program: Drawn<'_>, group: &[Want], repair: GroupRepair<'_>) {
        let GroupRepair { how, met, split, left, divided } = repair;
        for want in group {
            if let Some((pair, sampler)) = want.divided.filter(|_| want.is_divided(divided)) {
                if ground.journal.is_unrecorded(&program, want.link, pair, false) {
                    let how = Some(How::Split.name());
                    let repair = LinkRepair { at: want.at(), how, pair, because: pair, wanted: sampler };
                    self.record_link(ground, program, repair);
                }
                continue;
            }
            let is_split = split & link_bit(want.link) != 0;
            // What one of them needs, all get that do not read one of their own.
            let met = met.filter(|_| want.reads(split));
            let Some(pair) = want.pair.or_else(|| met.and_then(|_| ground.hot.pair_at(want))) else { continue };
            let wanted = met.map_or(want.wanted, |(sampler, _)| sampler);
            let changes = wanted != want.given;
            let how = match want.fetch {
                Some(_) if left & link_bit(want.link) != 0 => continue,
                Some(_) => Ok(How::Fetch),
                None => how,
            };
            match how {
                Err(what) if changes && !is_split && ground.journal.is_unrecorded(&program, want.link, pair, true) => {
                    self.link_left(ground, what, program, want.at(), pair);
                }
                Err(_) if changes && !is_split => {}
                // In audit mode and with what no other sampler repairs nothing changes.
                _ if ground.journal.is_unrecorded(&program, want.link, pair, false) => {
                    let how = if is_split { Ok(How::Split) } else { how };
                    let how = how.ok().filter(|_| changes).map(How::name);
                    let because = met.map_or(pair, |(_, because)| because);
                    self.record_link(ground, program, LinkRepair { at: want.at(), how, pair, because, wanted });
                }
                _ => {}
            }
        }
    }

    /// Writes the `unresolved` record of a link that conflicts.
    pub(super) fn link_left(&self, ground: &Ground, what: Left, program: Drawn<'_>, at: LinkAt, pair: Pair) {
        let shared = self.samplers.rows(&ground.hot).state(pair.state);
        let key =
            |shared: &SharedState| link_key(&program, at, shared, (pair.class, pair.class), (Some(what.name()), false));
        if shared.is_some_and(|shared| !ground.journal.is_news_of_link(key(&shared))) {
            return;
        }
        let key = (fold(program.number) ^ at.link as u64, (u64::from(pair.state) << 32) | u64::from(pair.class));
        let (link, source) = (Some(link_members(&program, at)), source_of(&program, at.link));
        self.pair_left(ground, what, program, pair, LinkLeft { link, source, is_task: false, key });
    }

    /// Says that a shader does not do what a descriptor asks for.
    pub(super) fn task_left(&self, ground: &Ground, what: Left, program: Drawn<'_>, request: &TaskRequest) {
        let (link, source) = (program.links.get(request.link).map(joined), source_of(&program, request.link));
        let key = (program.number, request.link as u64);
        self.pair_left(ground, what, program, request.pair, LinkLeft { link, source, is_task: true, key });
    }

    /// Writes the `unresolved` record of a pair that a shader joins.
    #[inline(never)]
    fn pair_left(&self, ground: &Ground, what: Left, program: Drawn<'_>, pair: Pair, left: LinkLeft) {
        let LinkLeft { link, source, is_task, key } = left;
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(pair.class))
        else {
            return;
        };
        let rules = ground.wishes.rules();
        let meeting = ground.wishes.meeting_of(&rules, &ground.driver, &shared, class);
        let is_divided = is_divided(&meeting);
        let Meeting { changes, saturate, compare, .. } = meeting;
        let context = ground.journal.context(Some(class));
        let members = record::view(&class.traits);
        let first = changes.first().map(|change| change.catalog);
        let rule = match is_task {
            true if is_divided => Some(Rule::Unnormalized),
            true if compare.is_some() => Some(Rule::Compare),
            true if saturate.contains(&true) => Some(Rule::GlClamp),
            true => Some(Rule::LinearFilter),
            false => first.map(|catalog| catalog.rule()),
        };
        // Nothing is changed, so nothing is lost.
        let mut changes = record::changes(changes.iter(), &context);
        changes.iter_mut().for_each(|change| change["lost"] = "".into());
        let mut about = ground.journal.of_program(
            program,
            json!({
                "vuid": first.and_then(|catalog| catalog.vuid()),
                "sampler": handle(pair.sampler),
                "view": handle(pair.view),
                "names": ground.journal.names(pair),
                "fingerprint": format!("{:016x}", shared.fingerprint()),
                "format": members.format,
                "aspect": members.aspect,
                "view_type": members.view_type,
                "link": link,
                "changes": changes,
            }),
        );
        if let Some(source) = source {
            about["source"] = json!(source);
        }
        ground.journal.unresolved(what, rule, about, key);
    }
}

impl Journal {
    /// What a record says of a link, but for the line of the shader.
    pub(super) fn joined(&self, program: Drawn<'_>, at: LinkAt, how: Option<&'static str>) -> Joined {
        Joined {
            pipeline: handle(program.handle),
            pipeline_name: self.program_name(&program),
            link: link_members(&program, at),
            source: None,
            how: how.map(Into::into),
            draw: self.draw_members(program.draw),
        }
    }

    /// Whether there is no record yet that says that a link is repaired, or left.
    pub(super) fn is_unrecorded(&self, program: &Program, link: usize, pair: Pair, left: bool) -> bool {
        let turn = lock(&program.records.links).turn((link, pair.state, pair.class, left), MOST_LINKS);
        self.is_turn(turn)
    }

    /// Writes the `shader` record of a stage that a pass has rewritten for some links; `words`: how many it has now.
    pub(super) fn shader_rewritten(
        &self,
        program: &Program,
        StageCode { stage, words: given, .. }: &StageCode,
        run: PassRun<'_>,
        words: usize,
    ) {
        let PassRun { pass, links, took, when } = run;
        tracing::debug!(pipeline = handle(program.handle), ?stage, ?took, pass, "shader rewritten");
        if !self.records_decisions() {
            return;
        }
        let links = links.iter().filter_map(|link| program.links.get(*link));
        let bindings = links
            .filter(|link| link.stages.contains(*stage))
            .map(|link| kinds::Binding { set: link.sampler.set, binding: link.sampler.binding });
        self.trace().emit(
            "shader",
            &kinds::Shader {
                stage: format!("VK_SHADER_STAGE_{stage:?}_BIT"),
                module: format!("{:016x}", fingerprint(given)),
                pass: pass.to_owned(),
                pipeline: handle(program.handle),
                bindings: bindings.collect(),
                changes: Vec::new(),
                words: [given.len(), words],
                ms: took.as_secs_f64() * 1e3,
                learned: when == When::Made,
            },
        );
    }

    /// Writes the `shader` record of a stage that declares other formats; `changed`: descriptors and changes.
    pub(super) fn shader_retyped(
        &self,
        program: &Program,
        StageCode { stage, words: given, .. }: &StageCode,
        bindings: Vec<kinds::Binding>,
        changes: &[Change],
        words: usize,
        took: Duration,
    ) {
        self.count(changes);
        if !self.records_decisions() {
            return;
        }
        let context = self.context(None);
        self.trace().emit(
            "shader",
            &kinds::Shader {
                stage: format!("VK_SHADER_STAGE_{stage:?}_BIT"),
                module: format!("{:016x}", fingerprint(given)),
                pass: samplin_spirv::passes::Pass::ImageAccess.name().to_owned(),
                pipeline: handle(program.handle),
                bindings,
                changes: memory::collect(changes.iter().map(|change| record::change(change, &context))),
                words: [given.len(), words],
                ms: took.as_secs_f64() * 1e3,
                learned: false,
            },
        );
    }

    /// Says once that a pipeline joins what lies in descriptor buffers.
    pub(super) fn descriptor_buffer(&self, pipeline: vk::Pipeline) {
        let what = Left::DescriptorBuffer;
        self.unresolved(what, None, json!({ "pipeline": handle(pipeline.as_raw()) }), (0, 0));
    }

    /// Says once that sets are bound with a layout that is not known.
    pub(super) fn unknown_layout(&self) {
        let what = Left::DynamicLayout;
        self.unresolved(what, None, json!({}), (0, 0));
    }

    /// Says once that the device generates commands.
    pub fn generated_commands(&self) {
        let what = Left::GeneratedCommands;
        self.unresolved(what, None, json!({}), (0, 0));
    }

    /// Says so where sets are bound for a pipeline that was bound before.
    pub(super) fn began_before_unseen(&self) {
        self.unresolved(Left::BeganBefore, None, json!({}), (0, 0));
    }

    /// The members of a record, and those that name a program.
    pub(super) fn of_program(&self, program: Drawn<'_>, mut members: serde_json::Value) -> serde_json::Value {
        members["pipeline"] = json!(handle(program.handle));
        if let Some(name) = self.program_name(&program) {
            members["pipeline_name"] = json!(name);
        }
        if let Some(draw) = self.draw_members(program.draw) {
            draw.put_into(&mut members);
        }
        members
    }

    /// Says that a link may compare where a format cannot, in a command buffer of which too little is known; the descriptor, if it is known.
    fn uncompared_before(&self, program: Drawn<'_>, link: usize, noted: Option<NotedDescriptor>) {
        let Some(found) = program.links.get(link) else { return };
        let mut members = self.of_program(program, json!({ "link": joined(found), "vuid": Catalog::B35.vuid() }));
        if let Some(NotedDescriptor { sampler, view, .. }) = noted {
            (members["sampler"], members["view"]) = (json!(handle(sampler.as_raw())), json!(handle(view.as_raw())));
        }
        let key = (program.number, link as u64);
        self.unresolved(Left::BeganBefore, Some(Rule::Compare), members, key);
    }

    /// Says that a link is not followed.
    pub(super) fn link_unresolved(&self, what: Left, program: Drawn<'_>, link: usize) {
        let Some(found) = program.links.get(link) else { return };
        let members = self.of_program(program, json!({ "link": joined(found) }));
        self.unresolved(what, None, members, (program.number, link as u64));
    }

    /// Says that a program whose links are not all known may join what must not meet.
    pub(super) fn program_unresolved(&self, what: Left, program: Drawn<'_>) {
        self.unresolved(what, None, self.of_program(program, json!({})), (program.number, u64::MAX));
    }

    /// Says that the links of a stage are not known.
    pub(super) fn shader_unresolved(&self, of: impl Into<Explained>, program: u64, stage: &Stage<'_>) {
        let members = json!({
            "pipeline": handle(program),
            "stages": stages(stage.stage),
            "entry": stage.name,
        });
        self.unresolved(of, None, members, (program, u64::from(stage.stage.as_raw())));
    }
}

impl Hot {
    /// Whether a combined descriptor compares where its format cannot.
    pub(super) fn cannot_compare(&self, sampler: vk::Sampler, view: vk::ImageView) -> bool {
        let conflict = (self.gate.sampler(sampler.as_raw()) & self.gate.view(view.as_raw())) >> 32;
        conflict as u32 & ConflictBits::COMPARE.0 != 0
    }

    /// State and class of a use, whether they conflict or not.
    pub(super) fn pair_at(&self, want: &Want) -> Option<Pair> {
        let (state, class) = (self.gate.sampler(want.own), self.gate.view(want.view));
        let number = |word: u64| (word as u32).checked_sub(1);
        Some(Pair { sampler: want.own, view: want.view, state: number(state)?, class: number(class)? })
    }
}
