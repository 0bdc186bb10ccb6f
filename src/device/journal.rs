//! How what was seen and done becomes lines of the trace: what is counted, what is said once only, and each record of a device.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk;
use samplin_core::left::{Cause, Explained, Left};
use samplin_hot::Pair;
use samplin_hot::memory::Room;
use samplin_wire::kinds::{self, Exempted};
use samplin_wire::text::{api_version, handle};
use samplin_wire::words;
use serde_json::{Map, Value as Json, json};

use super::classes::ViewClass;
use super::driver::Driver;
use super::frames::Frames;
use super::once::{Once, Turn};
use crate::ability;
use crate::caps::DriverSays;
use crate::counters::Path;
use crate::decide::{
    self, BlitSource, Change, Changes, Context, Decision, DeviceCaps, Policy, Rule, SamplerState, ShaderType,
};
use crate::features::Tiling;
use crate::instance::Instance;
use crate::names;
use crate::outcome::{Alone, Meeting, Unresolved};
use crate::record;
use crate::settings::TraceLevel;
use crate::table::{FastMap, lock};
use crate::trace::Trace;
use crate::variant::{KEEP, SharedState};

/// How many things of a kind are said. The rest counts as left out of the trace.
const SAID: u64 = 1 << 16;

/// Where a sampler without a handle is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// `vkWriteSamplerDescriptorsEXT`.
    HeapWrite = 1,
    /// The create info of a pipeline or of a shader object.
    Embedded = 2,
}

impl Via {
    const fn name(self) -> &'static str {
        match self {
            Self::HeapWrite => "heap_write",
            Self::Embedded => "embedded",
        }
    }
}

/// What makes the repair of a link the same one in another pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LinkKey {
    /// Set, binding and element of image and sampler.
    pub(super) at: [(u32, u32, u32); 2],
    /// How and in which stages they are used.
    pub(super) uses: (samplin_spirv::Uses, u32),
    /// The fingerprint of the sampler's state.
    pub(super) fingerprint: u64,
    /// The classes of the view and of the one that the sampler suits.
    pub(super) classes: (u32, u32),
    /// How it was repaired, and whether the sampler was replaced.
    pub(super) how: (Option<&'static str>, bool),
}

/// What was said before, so that each thing is said once, or again much later.
#[derive(Default)]
struct Said {
    unresolved: Once<(Left, Option<Rule>, u64, u64)>,
    /// How often something unresolved was said.
    whats: FastMap<Left, u64>,
    blits: Once<(i32, i32)>,
    /// Views and images by format and what was changed.
    usages: Once<(&'static str, i32, String)>,
    /// What rules files leave alone: what it is, and its state and class.
    exempted: Once<(Exempted, u64, u64)>,
    /// Fingerprints of modules that were rewritten.
    modules: Once<u64>,
    links: Once<LinkKey, 512>,
    /// Fingerprints of what samplers asked for and of what they got.
    samplers: Once<(u64, u64)>,
    rules: FastMap<&'static str, u64>,
}

/// What reasons are worded by.
#[derive(Clone, Copy)]
pub(super) struct Wording {
    pub(super) caps: DeviceCaps,
    pub(super) policy: Policy,
}

/// What was counted, said and named.
pub struct Journal {
    instance: Arc<Instance>,
    wording: Wording,
    /// Which frame it is.
    pub frames: Frames,
    /// Every pair is recorded.
    records_all: bool,
    /// Names that the application gave its objects.
    names: Mutex<FastMap<(i32, u64), String>>,
    has_names: AtomicBool,
    said: Mutex<Said>,
    /// Samplers that were changed at creation, or would have been but for the mode.
    samplers_changed: AtomicU64,
    /// Blits whose filter was changed.
    blits_rewritten: AtomicU64,
    /// Repairs of links that have a record already, for another pipeline.
    links_repeated: AtomicU64,
}

/// A pair, with its state and its class.
#[derive(Clone, Copy)]
pub(super) struct PairParts<'p> {
    pub(super) pair: Pair,
    pub(super) shared: &'p SharedState,
    pub(super) class: &'p ViewClass,
}

impl Journal {
    /// Nothing said yet, to the trace of this instance.
    pub(super) fn new(instance: &Arc<Instance>, wording: Wording) -> Self {
        let trace = &instance.trace;
        Self {
            instance: Arc::clone(instance),
            wording,
            frames: Frames::default(),
            records_all: trace.is_on() && trace.level() == TraceLevel::All,
            names: Mutex::default(),
            has_names: AtomicBool::new(false),
            said: Mutex::default(),
            samplers_changed: AtomicU64::new(0),
            blits_rewritten: AtomicU64::new(0),
            links_repeated: AtomicU64::new(0),
        }
    }

    /// How many names and how many things that were said are remembered.
    pub(super) fn remembered(&self) -> [usize; 2] {
        let said = lock(&self.said);
        let others =
            said.usages.len() + said.exempted.len() + said.modules.len() + said.samplers.len() + said.links.len();
        [lock(&self.names).len(), said.unresolved.len() + said.blits.len() + others]
    }

    /// Where records go.
    pub fn trace(&self) -> &Trace {
        &self.instance.trace
    }

    /// Whether records of single decisions are wanted.
    pub fn records_decisions(&self) -> bool {
        self.trace().is_on() && self.trace().level() != TraceLevel::Summary
    }

    /// Whether records of everything are wanted.
    pub fn records_all(&self) -> bool {
        self.records_all
    }

    /// Remembers the application's name of an object; an empty one forgets it.
    pub fn set_name(&self, ty: vk::ObjectType, object: u64, name: String) {
        if name.is_empty() {
            return self.forget_name(ty, object);
        }
        self.has_names.store(true, Ordering::Relaxed);
        lock(&self.names).with_room().insert((ty.as_raw(), object), name);
    }

    /// Whether the application ever named an object.
    pub(super) fn has_names(&self) -> bool {
        self.has_names.load(Ordering::Relaxed)
    }

    /// Forgets the name of an object that goes away.
    pub(super) fn forget_name(&self, ty: vk::ObjectType, object: u64) {
        if self.has_names() {
            lock(&self.names).remove(&(ty.as_raw(), object));
        }
    }

    /// The application's name of an object.
    pub fn name(&self, ty: vk::ObjectType, object: u64) -> Option<String> {
        lock(&self.names).get(&(ty.as_raw(), object)).cloned()
    }

    /// The words of a reason.
    pub(super) fn context<'a>(&'a self, class: Option<&'a ViewClass>) -> Context<'a> {
        let by_itself = class.is_some_and(|class| class.traits.by_itself);
        let policy = if by_itself { self.wording.policy.by_itself() } else { self.wording.policy };
        Context {
            view: class.map(|class| &class.traits),
            tiling: class.map_or(Tiling::Optimal, |class| class.tiling),
            saturates: policy.saturates,
            emulates: policy.emulates,
            divides: policy.divides,
            ..Context::new(&self.wording.caps)
        }
    }

    /// Counts a sampler that was changed at creation, or would have been but for the mode.
    pub fn count_changed_sampler(&self) {
        self.samplers_changed.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a record of a usage is to be written: each time with `all`, else once per format and change.
    pub(super) fn is_news_of_usage(&self, event: &'static str, format: vk::Format, change: &Change, all: bool) -> bool {
        let key = || (event, format.as_raw(), format!("{:?}", (change.from, change.to, change.catalog)));
        all || self.is_news(|said| &mut said.usages, key())
    }

    /// Whether it is to be written that something is left alone: once for a state and a class.
    pub(super) fn is_news_of_exempt(&self, what: Exempted, state: u64, class: u64) -> bool {
        self.is_news(|said| &mut said.exempted, (what, state, class))
    }

    /// Whether records of a rewritten module are to be written: each time at the level all, else once.
    pub(super) fn is_news_of_module(&self, fingerprint: u64) -> bool {
        self.records_all() || self.is_news(|said| &mut said.modules, fingerprint)
    }

    /// Adds changes to the counts by rule.
    pub(super) fn count(&self, changes: &[Change]) {
        let mut said = lock(&self.said);
        for change in changes.iter().filter(|change| change.catalog.is_made()) {
            *said.rules.entry(change.catalog.rule().name()).or_insert(0) += 1;
        }
    }

    /// Whether a record of a link's repair is to be written: for each pipeline at the level all, else once for all pipelines, and a count.
    pub(super) fn is_news_of_link(&self, key: LinkKey) -> bool {
        let is_news = self.records_all() || self.is_news(|said| &mut said.links, key);
        if !is_news {
            self.links_repeated.fetch_add(1, Ordering::Relaxed);
        }
        is_news
    }

    /// How many repairs of links had a record already.
    pub(super) fn links_repeated(&self) -> u64 {
        self.links_repeated.load(Ordering::Relaxed)
    }

    /// Whether something is to be said: not again, and not if too much was said already, which counts as left out of the trace.
    fn is_news<T: Hash + Eq, const N: usize>(&self, kind: impl FnOnce(&mut Said) -> &mut Once<T, N>, thing: T) -> bool {
        let turn = kind(&mut lock(&self.said)).turn(thing, SAID);
        self.is_turn(turn)
    }

    /// Whether something is to be said. What is too much counts as left out of the trace.
    pub(super) fn is_turn(&self, turn: Turn) -> bool {
        if turn == Turn::TooMany {
            self.trace().leave_out(0);
        }
        turn == Turn::Do
    }

    /// Writes a `pair` record; `because` is the class that the changes are because of.
    pub(super) fn record_pair<V>(
        &self,
        parts: PairParts<'_>,
        path: Path,
        because: &ViewClass,
        meeting: &Meeting<'_, V>,
        choice: u64,
        joined: Option<record::Joined>,
    ) {
        let PairParts { pair, shared, class } = parts;
        let trilinear = shared.kept.original.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
        let context = self.context(Some(because));
        let gathers = joined.as_ref().is_some_and(|joined| joined.link.only_gathers());
        let context = Context { trilinear, linear: meeting.linear(context.emulates), gathers, ..context };
        self.trace().emit(
            "pair",
            &kinds::Pair {
                sampler: handle(pair.sampler),
                view: handle(pair.view),
                names: self.names(pair),
                fingerprint: format!("{:016x}", shared.fingerprint()),
                class: record::ViewMembers {
                    view_class: self.records_all().then(|| record::view_class(&class.traits, class.tiling)),
                    ..record::view(&class.traits)
                },
                path: path.name().to_owned(),
                changes: record::changes(meeting.changes.iter(), &context),
                rules: meeting.by_overrides.iter().map(|name| (*name).to_owned()).collect(),
                saturate: ["u", "v", "w"]
                    .into_iter()
                    .zip(meeting.saturate)
                    .filter(|(_, on)| *on)
                    .map(|(axis, _)| axis.to_owned())
                    .collect(),
                variant: (choice != KEEP).then(|| handle(choice)),
                joined,
            },
        );
    }

    /// What the application calls both sides of a pair.
    pub(super) fn names(&self, pair: Pair) -> kinds::Names {
        kinds::Names {
            sampler: self.name(vk::ObjectType::SAMPLER, pair.sampler),
            view: self.name(vk::ObjectType::IMAGE_VIEW, pair.view),
        }
    }

    /// Writes a `sampler` record: at the level all for each, else one for all that ask for the same and get the same.
    pub(super) fn record_sampler(&self, sampler: u64, state: &SamplerState, decision: &Decision) {
        if !decision.changes.is_empty() {
            self.count_changed_sampler();
        }
        if !self.records_all() {
            let both = || (state.fingerprint(), decision.state.fingerprint());
            if decision.changes.is_empty() || !self.trace().is_on() || !self.is_news(|said| &mut said.samplers, both())
            {
                return;
            }
        }
        let changes: Vec<Change> = decision.changes.iter().copied().collect();
        self.count(&changes);
        if !self.records_decisions() {
            return;
        }
        let context = self.context(None);
        let is_ignored = self.records_all() && state.custom_border.is_some() && !decide::is_custom(state.border_color);
        let hint = "VkSamplerCustomBorderColorCreateInfoEXT is ignored, as borderColor is no custom one";
        self.trace().emit(
            "sampler",
            &kinds::Sampler {
                sampler: handle(sampler),
                name: self.name(vk::ObjectType::SAMPLER, sampler),
                fingerprint: format!("{:016x}", state.fingerprint()),
                state: record::state(state),
                changes: record::changes(&changes, &context),
                hint: is_ignored.then(|| hint.to_owned()),
                path: None,
                rules: Vec::new(),
            },
        );
    }

    /// Writes a `sampler` record of one without a handle: once for all that ask for the same and get the same.
    pub(super) fn record_described(&self, via: Via, state: &SamplerState, alone: &Alone<'_>, ty: Option<&ShaderType>) {
        let changes: Vec<Change> = alone.decision.changes.iter().copied().collect();
        if !changes.is_empty() {
            self.count_changed_sampler();
        }
        let key = || (state.fingerprint() ^ via as u64, alone.decision.state.fingerprint() ^ via as u64);
        let is_worth_it = self.records_all() || !changes.is_empty();
        if !is_worth_it || !self.trace().is_on() || !self.is_news(|said| &mut said.samplers, key()) {
            return;
        }
        self.count(&changes);
        if !self.records_decisions() {
            return;
        }
        let view = ty.map(ShaderType::view);
        let context = Context { view: view.as_ref(), of_shader: true, ..self.context(None) };
        self.trace().emit(
            "sampler",
            &kinds::Sampler {
                sampler: handle(0),
                name: None,
                fingerprint: format!("{:016x}", state.fingerprint()),
                state: record::state(state),
                changes: record::changes(&changes, &context),
                hint: None,
                path: Some(via.name().to_owned()),
                rules: alone.by_overrides.iter().map(|name| (*name).to_owned()).collect(),
            },
        );
    }

    /// Says that samplers are shared from here on, of so many.
    pub(super) fn record_sharing(&self, count: u32) {
        if self.records_decisions() {
            let max = self.wording.caps.max_sampler_allocation_count;
            self.trace().emit("sharing", &kinds::SharingBegins { count, max });
        }
    }

    /// Writes a `conversion` record.
    pub(super) fn record_conversion(&self, conversion: u64, format: vk::Format, changes: &Changes) {
        let changes: Vec<Change> = changes.iter().copied().collect();
        self.count(&changes);
        if changes.is_empty() || !self.records_decisions() {
            return;
        }
        let context = Context { source: Some(format), ..self.context(None) };
        self.trace().emit(
            "conversion",
            &kinds::Conversion {
                conversion: handle(conversion),
                format: names::format(format),
                changes: record::changes(&changes, &context),
            },
        );
    }

    /// Writes a `blit` record, once per format and filter; at the level all, also of a blit that is legal.
    pub fn record_blit(
        &self,
        source: &BlitSource,
        tiling: Tiling,
        changes: &Changes,
        filter: vk::Filter,
        lossless: impl FnOnce() -> bool,
    ) {
        let changes: Vec<Change> = changes.iter().copied().collect();
        if !changes.is_empty() {
            self.blits_rewritten.fetch_add(1, Ordering::Relaxed);
        } else if !self.records_all() {
            return;
        }
        // A legal one must not keep an illegal one of another tiling from its record.
        let key = if changes.is_empty() { !filter.as_raw() } else { filter.as_raw() };
        if !self.is_news(|said| &mut said.blits, (source.format.as_raw(), key)) {
            return;
        }
        self.count(&changes);
        if !self.records_decisions() {
            return;
        }
        let context = Context { source: Some(source.format), tiling, ..self.context(None) };
        let asked = self.records_all().then_some((filter, tiling));
        let record = record::blit(source, &changes, &context, lossless(), asked);
        self.trace().emit("blit", &record);
    }

    pub(super) fn pair_unresolved(
        &self,
        what: Left,
        unresolved: Unresolved,
        parts: PairParts<'_>,
        joined: Option<&record::Joined>,
    ) {
        let PairParts { pair, shared, class } = parts;
        let members = record::view(&class.traits);
        let mut about = record::object(&mut [
            ("vuid", unresolved.vuid.into()),
            ("sampler", handle(pair.sampler).into()),
            ("view", handle(pair.view).into()),
            ("names", json!(self.names(pair))),
            ("fingerprint", format!("{:016x}", shared.fingerprint()).into()),
            ("format", members.format.into()),
            ("aspect", members.aspect.into()),
            ("view_type", members.view_type.into()),
        ]);
        if let Some(joined) = joined {
            about["pipeline"] = json!(joined.pipeline);
            about["link"] = json!(joined.link);
            if let Some(name) = &joined.pipeline_name {
                about["pipeline_name"] = json!(name);
            }
            if let Some(draw) = &joined.draw {
                draw.put_into(&mut about);
            }
        }
        let key = (shared.fingerprint(), u64::from(pair.class));
        self.unresolved(Explained { what, why: unresolved.why }, Some(unresolved.rule), about, key);
    }

    /// Records once, for each name, rule and `key`, that samplin leaves something as it is although it may be wrong.
    pub fn unresolved(&self, of: impl Into<Explained>, rule: Option<Rule>, members: Json, key: (u64, u64)) {
        if self.records_decisions() {
            self.record_unresolved(of.into(), rule, members, key);
        }
    }

    #[inline(never)]
    fn record_unresolved(&self, of: Explained, rule: Option<Rule>, members: Json, key: (u64, u64)) {
        let Explained { what, why } = of;
        if !self.is_news(|said| &mut said.unresolved, (what, rule, key.0, key.1)) {
            return;
        }
        *lock(&self.said).whats.with_room().entry(what).or_insert(0) += 1;
        let about = if let Json::Object(about) = members { about } else { Map::new() };
        let rule = rule.map(|rule| rule.name().to_owned());
        let record = kinds::Unresolved { what: what.name().to_owned(), why: why.into(), rule, about };
        self.trace().emit("unresolved", &record);
    }

    /// How many records there are of what is unresolved, by those names that `is_meant` takes.
    pub fn unresolved_counts(&self, is_meant: impl Fn(Left) -> bool) -> kinds::Members<u64> {
        let said = lock(&self.said);
        let meant = said.whats.iter().filter(|(what, _)| is_meant(**what));
        kinds::Members(meant.map(|(what, count)| (what.name().to_owned(), *count)).collect())
    }

    /// Says once (per `key`) that members of a sampler, or the filter of a blit, hold values which an extension younger than
    /// the layer may have added.
    pub fn unknown_enumerants(
        &self,
        driver: &Driver,
        members: &[(decide::Field, decide::Value)],
        sampler: Option<u64>,
        key: u64,
    ) {
        let Some(((field, value), others)) = members.split_first() else { return };
        let mut values = format!("{} {}", field.name(), record::value(*value));
        for (field, value) in others {
            values = format!("{values}, {} {}", field.name(), record::value(*value));
        }
        let origin = driver.enabled.unknown().next().unwrap_or("the device's core version");
        let mut about = Map::new();
        if let Some(sampler) = sampler {
            about.insert("sampler".into(), handle(sampler).into());
            about.insert("fingerprint".into(), format!("{key:016x}").into());
        }
        let why = Cause::YoungerExtension.with(&[&values, &origin]);
        self.unresolved(why, None, Json::Object(about), (key, sampler.is_some().into()));
    }

    /// Writes the `device` record, with what the driver calls itself and says of its build.
    pub fn record_device(
        &self,
        driver: &Driver,
        properties: Option<(vk::PhysicalDeviceProperties, Option<DriverSays>)>,
        intercepts: &[&str],
    ) {
        let (name, kind) = properties.map_or((String::new(), None), |(p, said)| {
            let name = p.device_name_as_c_str().map_or_else(|_| String::new(), |n| n.to_string_lossy().into_owned());
            let (called, info) = said.map(|said| (said.name, said.info)).unzip();
            let kind = kinds::Driver {
                vendor_id: p.vendor_id,
                device_id: p.device_id,
                driver_version: p.driver_version,
                api_version: api_version(p.api_version),
                name: called.filter(|name| !name.is_empty()),
                info: info.filter(|info| !info.is_empty()),
            };
            (name, Some(kind))
        });
        let augmented_for = driver.enabled.augmented.iter().filter_map(|name| {
            let why = ability::added_for(name)?;
            Some(((*name).to_owned(), why.to_owned()))
        });
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        self.trace().emit(
            "device",
            &kinds::Device {
                device: name,
                driver: kind,
                limits: record::limits(&driver.caps),
                features: driver.enabled.features.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
                augmented: words(&driver.enabled.augmented),
                augmented_for: augmented_for.collect(),
                quirks: driver.quirks.iter().map(|quirk| quirk.name().to_owned()).collect(),
                simulated: driver.instance.simulation.as_ref().map(|simulation| simulation.name.clone()),
                storage: if self.records_all() { words::stored(driver.known_formats()) } else { Vec::new() },
                intercepts: words(intercepts),
            },
        );
    }

    /// The last record: what is known of the device, with what was counted here.
    pub(super) fn record_summary(&self, mut summary: kinds::DeviceSummary) {
        let said = lock(&self.said);
        summary.changes = said.rules.iter().map(|(rule, count)| ((*rule).to_owned(), *count)).collect();
        drop(said);
        summary.samplers.changed = self.samplers_changed.load(Ordering::Relaxed);
        summary.blits_rewritten = self.blits_rewritten.load(Ordering::Relaxed);
        (summary.dropped, summary.left_out) = (self.trace().dropped(), self.trace().left_out());
        self.trace().emit_last("summary", &kinds::Summary::Device(Box::new(summary)));
    }
}
