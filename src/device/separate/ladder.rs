//! What has to be bound for a pipeline and the sets that are bound with it.
//!
//! The answer depends on the pipeline and on what is in the sets, and on nothing else: not on the order of binds, not on what was
//! bound before.

use std::sync::Arc;

use ash::vk::Handle;
use samplin_bind::plan::{Facts, Group, How, LINKS, Links, Plan, Shared, link_bit, plan};
use samplin_bind::{Bound, Other};
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};
use samplin_spirv::{Index, Operand, Uses};

use super::Separate;
use super::bound::{BoundBinding, BoundLink, LinkOf};
use super::command_buffers::{BindPoint, Followed};
use super::comparisons::{ask_comparisons, keep_comparisons};
use super::emulation::{SplitMask, may_compare};
use super::hidden::HiddenSet;
use super::layouts::Binding;
use super::programs::Program;
use super::progress::Drawn;
use super::recipe::{Second, When};
use super::sets::SetEntry;
use super::split::position_of;
use super::tasks::{ELEMENTS, TaskRequest, loose};
use super::want::{GroupRepair, HiddenRequest, Want, Wants};
use crate::counters::Path;
use crate::decide::{self, ConflictBits, Rule};
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::resolve::{On, Pairs};
use crate::settings::SeparateShared;

/// What links come to.
pub(super) struct Decided {
    /// Set numbers, and the shadow to bind there.
    pub(super) shadows: Vec<(usize, u64)>,
    /// Set numbers, and samplers to push there.
    pub(super) pushes: Vec<(u32, Other)>,
    /// The pipeline to bind instead, and its hidden set; 0 if nothing is known to be read from that.
    pub(super) second: Option<(Arc<Second>, u64)>,
    /// That set.
    pub(super) hidden: Option<Arc<HiddenSet>>,
    /// It holds as long as what it was made of: nothing was missing that may be there the next time.
    pub(super) is_lasting: bool,
}

/// The elements that an operand may name, of a binding with `count` descriptors; none if they cannot be known.
pub(super) fn elements(operand: &Operand, binding: &Binding) -> Option<std::ops::Range<u32>> {
    match operand.index {
        Index::Whole => Some(0..1),
        Index::Const(element) => Some(element..element.saturating_add(1)),
        Index::Dynamic { .. } | Index::Push(_) if (1..=ELEMENTS).contains(&operand.count) => {
            Some(0..operand.count.min(binding.count))
        }
        _ => None,
    }
}

impl Separate {
    /// What each use of a sampler asks for, by the sets that are bound. Sets that are not bound, or with another layout than the
    /// pipeline's, ask for nothing.
    pub(super) fn wants(&self, ground: &Ground, pairs: &Pairs, program: Drawn<'_>, point: &BindPoint) -> Wants {
        let mut wants = Wants::default();
        for (index, link) in program.links.iter().enumerate() {
            self.wants_of(ground, pairs, program, point, LinkOf { index, link }, &mut wants);
        }
        wants
    }

    fn wants_of(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        point: &BindPoint,
        LinkOf { index, link }: LinkOf<'_>,
        wants: &mut Wants,
    ) {
        if link.is_noted {
            return self.noted_tasks_of(ground, pairs, program, point, LinkOf { index, link }, wants);
        }
        let bound = |operand: &Operand| {
            let number = operand.set as usize;
            let bound = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number))?;
            let entry = bound.content()?;
            Some((entry, entry.shape.binding(operand.binding)?))
        };
        let (Some((images, image)), Some((samplers, sampler))) = (bound(&link.image), bound(&link.sampler)) else {
            return;
        };
        let bound_link = BoundLink {
            index,
            image: BoundBinding { set: images, binding: image },
            sampler: BoundBinding { set: samplers, binding: sampler },
        };
        if program.looked_up & link_bit(index) != 0 {
            let seen = |set: &SetEntry, binding| set.seen(&ground.hot.gate, binding, link.sampled);
            let conflict = seen(samplers, sampler) as u32 & (seen(images, image) >> 32) as u32;
            if images.unlisted(image).or_else(|| samplers.unlisted(sampler)).is_none() {
                wants.blocked.with_room().push((link.sampler.set, link.sampler.binding));
                // No other sampler would compare in its place.
                let compares = link.uses.contains(Uses::DREF) && conflict & ConflictBits::COMPARE.0 != 0;
                if compares && ground.hot.gate.must_look() {
                    wants.uncompared |= link_bit(index);
                    return pairs.record_indexed(ground, program, &bound_link, Some(Left::Bindless), &|_| true);
                }
                if conflict != 0 && ground.hot.gate.must_look() || self.force.selects() {
                    wants.looked_up |= link_bit(index);
                }
                return;
            }
        }
        if link.is_combined() && image.immutable.is_empty() {
            let both = BoundBinding { set: images, binding: image };
            return self.tasks_of(ground, pairs, program, LinkOf { index, link }, both, wants);
        }
        let (image_elements, sampler_elements) = match (elements(&link.image, image), elements(&link.sampler, sampler))
        {
            _ if let Some(what) = images.unlisted(image).or_else(|| samplers.unlisted(sampler)) => {
                wants.blocked.with_room().push((link.sampler.set, link.sampler.binding));
                let seen = |set: &SetEntry, binding| set.seen(&ground.hot.gate, binding, link.sampled);
                if seen(samplers, sampler) as u32 & (seen(images, image) >> 32) as u32 != 0 {
                    program.mark_late_recorded(index);
                    ground.journal.link_unresolved(what, program, index);
                }
                return;
            }
            (Some(images), Some(samplers)) => (images, samplers),
            _ => {
                wants.blocked.with_room().push((link.sampler.set, link.sampler.binding));
                return pairs.record_indexed(ground, program, &bound_link, Some(Left::Bindless), &|_| true);
            }
        };
        for image_element in image_elements {
            // Nothing to conflict with, if it is a hole or a null view.
            let view = image.image_slot(image_element).map_or(0, |slot| images.get(slot));
            // One descriptor that is both has one element.
            let own = if link.is_combined() { image_element..image_element + 1 } else { sampler_elements.clone() };
            for sampler_element in own {
                let own = sampler.sampler_slot(sampler_element).map_or(0, |slot| samplers.get(slot));
                if own == 0 || link.is_combined() && !ground.driver.may_be_exchanged(&ground.hot, own) {
                    continue;
                }
                let pair = pairs.shown_pair(ground, &program, link, own, view);
                let divided = self.divided(ground, pairs, pair, link.uses);
                let pair = pair.map(|pair| pairs.images.as_read(&ground.hot, &ground.driver, pair, link.uses)).filter(
                    |pair| {
                        !link.is_combined()
                            || self.follows_all_immutables()
                            || pairs.names_immutable(&ground.hot, &ground.wishes, *pair)
                    },
                );
                let position = position_of(&link.image, &link.sampler, image_element, sampler_element);
                let after_bind = image.after_bind || sampler.after_bind;
                if after_bind && pair.is_some() {
                    program.mark_late_recorded(index);
                }
                let followed = pair.and_then(|pair| {
                    self.followed_sampler(On { ground, pairs }, bound_link.sampler, sampler_element, pair, view)
                });
                let pair = pair.filter(|_| followed.is_none());
                let mut want = Want {
                    link: index,
                    sampler_at: (link.sampler.set, link.sampler.binding, sampler_element),
                    image_at: (link.image.set, link.image.binding, image_element),
                    given: followed.unwrap_or_else(|| pairs.held(ground, bound_link.sampler, sampler_element, own)),
                    wanted: pair.map_or(followed.unwrap_or(own), |pair| pairs.choose(ground, pair, Path::Draw)),
                    own,
                    divided,
                    pair,
                    loose: after_bind,
                    view,
                    hidden_at: position,
                    fetch: None,
                    compare: None,
                };
                self.want_comparison(ground, pairs, program, &mut want);
                if link.uses.contains(Uses::DREF) {
                    pairs.record_uncompared(&ground.hot, &ground.journal, program, &want);
                }
                let asks = pair.filter(|_| self.has_tasks() && want.compare.is_none());
                if let Some(pair) = divided.map(|(pair, _)| pair).or(asks) {
                    let why = loose(after_bind);
                    self.ask(On { ground, pairs }, index, position, pair, why, wants);
                }
                wants.all.with_room().push(want);
            }
        }
    }

    /// Decides what each sampler of the bound sets is to be: those to exchange in their sets, and the pipeline to bind with the
    /// links that ask for samplers of their own.
    pub(super) fn decide_links(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        point: &BindPoint,
        wants: &mut Wants,
        since: u64,
    ) -> Decided {
        let Wants { all, shown, blocked, requests, looked_up, uncompared } = wants;
        let (looked_up, uncompared) = (*looked_up, *uncompared);
        *all = memory::sorted_by_key(std::mem::take(all), |want| want.sampler_at);
        let bit = |want: &Want| link_bit(want.link);
        // Why no link can read a hidden set.
        let mut unhidden = None;
        let mut is_lasting = true;
        // Links that must not be split here: of what they read nothing is known, so that a hidden set could not hold it.
        let unknown = all.iter().fold(program.noted(), |all, want| all & !bit(want)) | uncompared;
        // Links that read nothing from a hidden set.
        let mut unread = 0;
        let unmade = looked_up & !(program.splits.mask() | program.splits.refused());
        if unmade != 0 {
            self.split_all(ground, &program, unmade, 0, When::Bound);
        }
        // Whether the pipeline is one for all combinations of links, which also does for those of which nothing is known.
        let (mut is_for_all, mut may_be_for_all) = (false, true);
        // Numbers of sets that there is no copy of.
        let mut uncopied = Vec::new();
        loop {
            let second = program.splits.current().filter(|_| unhidden.is_none());
            let split_at_all = second.as_ref().map_or(0, |second| second.mask) & !unread;
            let split = if is_for_all { split_at_all } else { split_at_all & !unknown };
            let crowded = program.splits.crowded();
            for want in all.iter_mut() {
                if crowded & bit(want) != 0 && want.view != 0 && !want.loose && want.wanted != want.given {
                    let task = want.pair.map(|pair| self.task_of(ground, pairs, pair, true));
                    want.fetch = task.flatten().and_then(Result::ok);
                }
            }
            let links = Links {
                split,
                refused: program.splits.refused(),
                unhidden,
                blind: program.blind,
                blocked,
                shared: match self.settings.shared {
                    SeparateShared::Split => Shared::Split,
                    SeparateShared::Meet => Shared::Meet,
                    SeparateShared::Keep => Shared::Keep,
                },
                forced: self.force.splits(),
            };
            let facts = BoundFacts { ground, pairs, program: &program, point, uses: all, uncopied: &uncopied };
            let Plan { join, others, groups } = plan(&memory::collect(all.iter().map(Want::used)), &links, &facts);
            if join != 0 {
                let wished = all.iter().filter(|want| join & bit(want) != 0 && pairs.is_wish(ground, want));
                let wishes = wished.fold(0, |all, want| all | bit(want));
                self.split_all(ground, &program, join, wishes, When::Bound);
                continue;
            }
            let exchanged =
                memory::collect(others.iter().copied().chain(shown.iter().map(|shown| (shown.set, shown.other))));
            let (shadows, pushes) = match self.exchange(ground, pairs, &program, point, &exchanged) {
                Ok(exchanged) => exchanged,
                Err(set) => {
                    uncopied.with_room().push(set);
                    pairs.stand_ins.aspects.leave_shown(&ground.journal, program, shown, set);
                    continue;
                }
            };
            for (want, pair) in all.iter().filter_map(|want| Some((want, want.pair?))) {
                let Some(task) = want.fetch else { continue };
                let position = want.hidden_at;
                match requests.iter_mut().find(|other| (other.link, other.position) == (want.link, position)) {
                    Some(same) => same.task = Ok(task),
                    None => requests.with_room().push(TaskRequest { link: want.link, position, pair, task: Ok(task) }),
                }
            }
            for want in
                all.iter().filter(|want| want.divided.is_some() && want.fetch.is_none() && split & bit(want) == 0)
            {
                let is_it = |other: &&mut TaskRequest| (other.link, other.position) == (want.link, want.hidden_at);
                let why = unhidden.or_else(|| program.splits.reason(bit(want))).unwrap_or(Left::TooManyLinks);
                if let Some(request) = requests.iter_mut().find(is_it).filter(|request| request.task.is_ok()) {
                    request.task = Err(why);
                }
            }
            ask_comparisons(requests, all, &others, split);
            if may_be_for_all && unhidden.is_none() && !is_for_all && self.is_one_too_many(&program, split, requests) {
                let how = SplitMask { mask: split_at_all, is_for_all: true };
                let made = self.tasked(&ground.driver, &ground.journal, &program, how, requests, When::Bound);
                // Instructions that it leaves read the hidden set whatever is asked.
                is_for_all = made.is_ok_and(|made| made.left() & unknown == 0);
                may_be_for_all = is_for_all;
                continue;
            }
            let (made, left) =
                self.with_tasks(ground, pairs, program, unhidden, SplitMask { mask: split, is_for_all }, requests);
            let uncompared = left & may_compare(requests);
            if uncompared != 0 {
                keep_comparisons(requests, all, uncompared);
                continue;
            }
            let made = match made {
                // What else is made does not read a link's own descriptor.
                None if is_for_all => {
                    (is_for_all, may_be_for_all) = (false, false);
                    continue;
                }
                None => match self.split_only(ground, &program, second, split) {
                    Ok(made) => made,
                    Err(why) => {
                        unhidden = Some(why);
                        continue;
                    }
                },
                made => made,
            };
            let divided = made.as_ref().and_then(|made| made.tasks.as_ref());
            let divided = divided.map_or_else(Vec::new, |tasks| tasks.divided(requests));
            let (second, hidden) = match made {
                None => (None, None),
                Some(made) => match self.hidden_for(
                    ground,
                    pairs,
                    &made,
                    HiddenRequest { wants: all, requests, point, since, runs: false },
                ) {
                    // Nothing is in the slots that the split links read, so shaders that do not split them read no more than they would.
                    Ok(None)
                        if made.hidden.is_some()
                            && made.mask & !unread != 0
                            && requests.iter().any(|request| request.task.is_ok()) =>
                    {
                        unread |= made.mask;
                        continue;
                    }
                    Ok(None) if made.hidden.is_some() => (None, None),
                    Ok(hidden) => (Some((made, hidden.as_ref().map_or(0, |hidden| hidden.set))), hidden),
                    Err(why) => {
                        // Without its set the split pipeline would read nothing. The application's reads what is in the sets, and
                        // there each sampler is for other links.
                        (unhidden, is_lasting) = (Some(why), false);
                        continue;
                    }
                },
            };
            pairs.stand_ins.aspects.record_stencils(ground, &pairs.images, shown);
            for Group { uses, how, met } in groups {
                let met = met.and_then(|at| all.get(at)).and_then(|want| Some((want.wanted, want.pair?)));
                pairs.record_group(
                    ground,
                    program,
                    all.get(uses).unwrap_or_default(),
                    GroupRepair { how, met, split, left, divided: &divided },
                );
            }
            self.record_looked_up(On { ground, pairs }, program, point, looked_up, split, unhidden);
            return Decided { shadows, pushes, second, hidden, is_lasting };
        }
    }

    /// The second pipeline in which these links are split and no shader is asked for more; the name of what keeps it from being made.
    /// `second`: the one in which all are split that are.
    fn split_only(
        &self,
        ground: &Ground,
        program: &Program,
        second: Option<Arc<Second>>,
        split: u64,
    ) -> Result<Option<Arc<Second>>, Left> {
        match second {
            _ if split == 0 => Ok(None),
            Some(second) if second.mask == split => Ok(Some(second)),
            _ => {
                let only = SplitMask { mask: split, is_for_all: false };
                self.tasked(&ground.driver, &ground.journal, program, only, &[], When::Bound).map(Some)
            }
        }
    }

    /// The copies of sets in which samplers are exchanged, and the samplers to push; the number of a set that cannot be copied.
    #[expect(clippy::type_complexity, reason = "the two halves of a decision")]
    fn exchange(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: &Program,
        point: &BindPoint,
        others: &[(u32, Other)],
    ) -> Result<(Vec<(usize, u64)>, Vec<(u32, Other)>), u32> {
        let (mut shadows, mut pushes) = (Vec::new(), Vec::new());
        for (number, bound) in point.sets.iter().enumerate() {
            let set = number as u32;
            let own = others.iter().filter(|(at, _)| *at == set).map(|(_, other)| *other);
            let own = memory::sorted(memory::collect(own));
            let entry = bound.content();
            let force = |entry: &SetEntry| self.force.shadows() && entry.may_be_copied() && bound.set != 0;
            if own.is_empty() && !entry.is_some_and(force) {
                continue;
            }
            // What is exchanged is bound or pushed with a layout of the layer's own.
            if self.twin_of_pipeline(&ground.driver, &program.layout).is_none() {
                match own.is_empty() {
                    true => continue,
                    false => return Err(set),
                }
            }
            if bound.set == 0 {
                own.into_iter().for_each(|other| pushes.with_room().push((set, other)));
                continue;
            }
            match entry.and_then(|entry| self.shadow(ground, pairs, bound.set, entry, &own)) {
                Some(shadow) => shadows.with_room().push((number, shadow)),
                None if own.is_empty() => {}
                None => return Err(set),
            }
        }
        Ok((shadows, pushes))
    }
}

impl Pairs {
    /// Whether no rule asks for what a use wants, but the user's wishes alone do.
    fn is_wish(&self, ground: &Ground, want: &Want) -> bool {
        let of = want.pair.and_then(|pair| {
            Some((self.samplers.rows(&ground.hot).state(pair.state)?, self.images.class(pair.class)?))
        });
        let Some((shared, class)) = of.filter(|(shared, _)| shared.overrides != 0) else { return false };
        ground
            .wishes
            .meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class)
            .changes
            .iter()
            .all(|change| change.catalog.rule() == Rule::Override)
    }

    /// Whether the user has switched off what a use would need, so that it keeps the application's sampler whatever others get.
    fn is_exempt(&self, ground: &Ground, want: &Want) -> bool {
        let of = want.pair.and_then(|pair| {
            Some((self.samplers.rows(&ground.hot).state(pair.state)?, self.images.class(pair.class)?))
        });
        let Some((shared, class)) = of.filter(|(shared, _)| shared.overrides != 0) else { return false };
        !ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class).exempted.is_empty()
    }

    /// The sampler that a descriptor holds: beside an image the one that this image needed when both were written.
    fn held(&self, ground: &Ground, at: BoundBinding<'_>, element: u32, own: u64) -> u64 {
        let BoundBinding { set, binding } = at;
        if !binding.has_pairs() || !binding.immutable.is_empty() {
            return own;
        }
        let view = binding.image_slot(element).map_or(0, |slot| set.get(slot));
        let pair = ground.hot.gate.conflict(Handle::from_raw(own), Handle::from_raw(view));
        pair.map_or(own, |pair| self.choose(ground, pair, Path::Update))
    }

    /// What the sampler that a use wants needs of a view.
    fn needs_of(&self, ground: &Ground, want: &Want) -> Option<u32> {
        let pair = want.pair?;
        let (shared, class) = (self.samplers.rows(&ground.hot).state(pair.state)?, self.images.class(pair.class)?);
        let state = ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class).state;
        Some(ground.driver.relevant(decide::needs(&state, &state, &ground.driver.caps, &ground.wishes.policy)).0)
    }

    /// The links of a pipeline whose immutable samplers rules name with some views, so that it is split as soon as it is made.
    pub(super) fn named_links(&self, ground: &Ground, program: &Program) -> u64 {
        let is_named = |sampler: &u64| {
            let state = (ground.hot.gate.sampler(*sampler) as u32)
                .checked_sub(1)
                .and_then(|state| self.samplers.rows(&ground.hot).state(state));
            state.is_some_and(|shared| ground.wishes.rules().demote(shared.overrides, None))
                && ground.driver.may_be_exchanged(&ground.hot, *sampler)
        };
        let links = program.links.iter().take(LINKS).enumerate().filter(|(_, link)| {
            let set = program.layout.sets.get(link.image.set as usize).and_then(Option::as_ref);
            let binding = set.and_then(|set| set.binding(link.image.binding));
            link.is_combined() && binding.is_some_and(|binding| binding.immutable.iter().any(is_named))
        });
        links.fold(0, |all, (number, _)| all | 1 << number)
    }
}

impl Driver {
    /// Whether another sampler may stand in for an immutable one of a descriptor that holds both. Some have to be immutable: those of
    /// subsampled images (VkSamplerCreateInfo, `flags`; Y′CbCr conversions never conflict), and with some devices
    /// those that compare (VUID-VkAtImageInfo-mutableComparisonSamplers-04450).
    fn may_be_exchanged(&self, hot: &Hot, sampler: u64) -> bool {
        let needs = (hot.gate.sampler(sampler) >> 32) as u32;
        let fixed = if self.caps.mutable_comparison_samplers { 0 } else { ConflictBits::COMPARE.0 };
        needs & (ConflictBits::SUBSAMPLED.0 | fixed) == 0
    }
}

/// What lies behind uses at a bind point.
struct BoundFacts<'a> {
    ground: &'a Ground,
    pairs: &'a Pairs,
    program: &'a Program,
    point: &'a BindPoint,
    uses: &'a [Want],
    /// Numbers of sets that there is no copy of.
    uncopied: &'a [u32],
}

impl Facts for BoundFacts<'_> {
    fn is_wish(&self, of: usize) -> bool {
        self.uses.get(of).is_some_and(|want| self.pairs.is_wish(self.ground, want))
    }

    fn is_exempt(&self, of: usize) -> bool {
        self.uses.get(of).is_some_and(|want| self.pairs.is_exempt(self.ground, want))
    }

    fn suits(&self, of: usize, other: usize) -> bool {
        let needs = self.uses.get(of).and_then(|want| self.pairs.needs_of(self.ground, want));
        let lacks = self.uses.get(other).map(|other| (self.ground.hot.gate.view(other.view) >> 32) as u32);
        needs.zip(lacks).is_some_and(|(needs, lacks)| needs & lacks == 0)
    }

    fn reason(&self, links: u64) -> Option<Left> {
        self.program.splits.reason(links)
    }

    fn exchange(&self, set: u32, binding: u32) -> Result<How, Left> {
        if self.uncopied.contains(&set) {
            return Err(Left::Memory);
        }
        let bound = self.point.sets.get(set as usize).ok_or(Left::Memory)?;
        let entry = bound.content().ok_or(Left::SetUnfollowed)?;
        // A sampler that is read out of a descriptor with an image has the one that this image needs; others read their own.
        let is_fixed = |binding: &Binding| !binding.immutable.is_empty() || binding.has_pairs();
        if entry.shape.binding(binding).is_none_or(is_fixed) {
            return Err(Left::ImmutableSampler);
        }
        may_exchange(bound)
    }
}

/// How a descriptor of a bound set may be exchanged for all that read it.
pub(super) fn may_exchange(bound: &Bound<Followed>) -> Result<How, Left> {
    if bound.set == 0 {
        return Ok(How::Push);
    }
    let entry = bound.content().ok_or(Left::SetUnfollowed)?;
    if entry.shape.after_bind {
        return Err(Left::UpdateAfterBind);
    }
    if entry.is_without_layout() {
        return Err(Left::LayoutDestroyed);
    }
    if entry.shape.is_too_large_to_copy() {
        return Err(Left::TooLarge);
    }
    Ok(How::Shadow)
}
