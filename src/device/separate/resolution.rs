//! What is to be bound for a pipeline and what is in its sets, found once for each.
//!
//! The answer depends on the pipeline and on what is in the sets, and on nothing else: not on the order of binds, not on what was
//! bound before.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use samplin_bind::{Brief, NumberSet};
use samplin_core::left::Left;
use samplin_hot::memory::Room;

use super::Separate;
use super::arrays::Meaning;
use super::command_buffers::{BindPoint, Place};
use super::found::{Key, Names, Resolution};
use super::hidden::HiddenSet;
use super::ladder::Decided;
use super::looked_up::elements;
use super::programs::{HIDDEN, Program};
use super::progress::Drawn;
use super::recipe::Second;
use super::shown::ASPECTS;
use super::want::HiddenRequest;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::journal::Journal;
use crate::device::live::Recording;
use crate::device::resolve::{On, Pairs};
use crate::table::fold;
use crate::variant::Gate;

impl Key {
    /// The key of what a bind point holds; none if descriptors were pushed, which are other ones each time.
    #[inline(always)]
    pub(super) fn of(separate: &Separate, program: &Program, point: &BindPoint) -> Option<Self> {
        let mut key = Self::default();
        let (first, rest) = key.words.split_first_mut()?;
        let mix = |hash: u64, word: u64| fold(hash.rotate_left(29) ^ word).wrapping_add(hash);
        *first = program.number;
        let linked = program.key_sets(separate)?;
        let mut hash = mix(!0, *first);
        for (word, number) in rest.iter_mut().zip(NumberSet(linked)) {
            hash = hash.rotate_left(1);
            let Some(bound) = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number)) else {
                continue;
            };
            *word = bound.brief.map_or(0, |brief| brief.stamp);
            if *word == Brief::PUSHED {
                return None;
            }
            hash = mix(hash, *word);
        }
        key.hash = hash;
        Some(key)
    }

    /// The key for all sets near which the same stands, of a program whose shader looks everything up: what is to be bound then depends on
    /// arrays, and of other sets on nothing but what their descriptors stand for. None if no set differs so.
    fn of_meanings(
        mut self,
        separate: &Separate,
        gate: &Gate,
        commands: Recording<'_>,
        program: &Program,
        point: &BindPoint,
    ) -> Option<Self> {
        let mix = |hash: u64, word: u64| fold(hash.rotate_left(29) ^ word).wrapping_add(hash);
        let (linked, mut is_other) = (program.key_sets(separate)?, false);
        let (first, rest) = self.words.split_first_mut()?;
        let mut all = mix(0, *first);
        for (word, number) in rest.iter_mut().zip(NumberSet(linked)) {
            let bound = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number));
            let entry = bound.and_then(|bound| bound.content().or_else(|| commands.set(bound).of(&separate.sets)));
            if let Some(entry) = entry.filter(|entry| !entry.shape.has_arrays()) {
                let mut hash = entry.shape.number();
                for (operand, is_sampler) in program.operands().filter(|(operand, _)| operand.set as usize == number) {
                    let binding = entry.shape.binding(operand.binding)?;
                    for element in elements(operand, binding) {
                        let slot = if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
                        let handle = entry.get(slot?);
                        hash = mix(hash, Meaning::of(gate, handle, is_sampler).word.into());
                        // A row belongs to a sampler.
                        hash = if is_sampler { mix(hash, handle) } else { hash };
                    }
                }
                // No version is as great.
                (*word, is_other) = (hash | 1 << 63, true);
            }
            all = mix(all.rotate_left(1), *word);
        }
        self.hash = all;
        is_other.then_some(self)
    }
}

impl Place {
    /// Looks up what is in the sets that were bound, where that is not known or may have changed since.
    #[inline(always)]
    pub(super) fn look_up(&mut self, separate: &Separate, commands: Recording<'_>, gate: &Gate) {
        let time = separate.resolutions.time();
        let is_late = std::mem::replace(&mut self.time, time) != time;
        for bound in self.point.sets.iter_mut().filter(|bound| bound.layout.is_some()) {
            if !is_late && bound.brief.is_some_and(|brief| !brief.is_loose) {
                continue;
            }
            bound.brief = Some(if bound.is_pushed() {
                let brief = bound.content().map_or(Brief::EMPTY, |entry| entry.brief(gate));
                // Which views were pushed is looked at where a program asks.
                let aspects = if separate.wholes.are_there() { ASPECTS } else { 0 };
                Brief { stamp: Brief::PUSHED, summary: brief.summary | aspects, ..brief }
            } else {
                let entry = commands.set(bound).of(&separate.sets);
                entry.map_or_else(|| separate.wholes.brief(bound.set), |entry| entry.brief(gate))
            });
        }
    }

    /// Shares what is in the sets that were bound.
    pub(super) fn share(&mut self, separate: &Separate, commands: Recording<'_>) {
        for bound in self.point.sets.iter_mut().filter(|bound| bound.set != 0 && bound.content().is_none()) {
            bound.set_content(commands.set(bound).share(&separate.sets));
        }
    }
}

/// Whether all sets are bound that the pipeline's links are in.
fn is_complete(program: &Program, point: &BindPoint) -> bool {
    let is_bound = |number: u32| {
        let bound = point.sets.get(number as usize);
        bound.is_some_and(|bound| bound.is_for(&program.layout, number as usize))
    };
    program.links.iter().all(|link| is_bound(link.image.set) && is_bound(link.sampler.set))
        && program.integers().all(|(set, _)| is_bound(set))
}

/// Whether nothing in these sets needs what something in them lacks.
#[inline(always)]
fn is_legal(point: &BindPoint, linked: u32) -> bool {
    let summary = |number: usize| point.sets.get(number).and_then(|bound| bound.brief).map_or(0, |brief| brief.summary);
    let summary = NumberSet(linked).fold(0, |all, number| all | summary(number));
    (summary & (summary >> 32)) as u32 == 0
}

impl Hot {
    /// Whether nothing that the pipeline reads through the bound sets can need another sampler or view.
    #[inline(always)]
    pub(super) fn is_legal(&self, program: &Program, point: &BindPoint) -> bool {
        if program.reads_noted() && point.summary() & ASPECTS != 0 {
            return false;
        }
        if !self.gate.must_look() {
            return true;
        }
        program.linked.is_some_and(|linked| is_legal(point, linked))
    }
}

impl Separate {
    /// What is to be bound for the pipeline and the sets of a bind point.
    fn resolve_place(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        commands: Recording<'_>,
        program: &Program,
        place: &mut Place,
    ) -> Arc<Resolution> {
        let own = Key::of(self, program, &place.point);
        let key = match own.filter(|_| self.looks_all_up(&ground.journal, program, &place.point)) {
            Some(own) => own.of_meanings(self, &ground.hot.gate, commands, program, &place.point).or(Some(own)),
            None => own,
        };
        if let Some(key) = &key {
            let resolutions = &self.resolutions;
            if let Some(kept) = place.found.take(resolutions, key).or_else(|| resolutions.get(key)) {
                if kept.is_nothing() {
                    own.iter().for_each(|own| resolutions.keep_nothing(own));
                }
                return kept;
            }
        }
        place.share(self, commands);
        let drawn = Drawn { program, draw: &place.draw };
        let mut resolution = self.make_resolution(ground, pairs, drawn, &place.point);
        let is_of_sets = !resolution.shadows.is_empty() || !resolution.pushes.is_empty();
        let key = if is_of_sets { own } else { key };
        let Some((key, own)) = key.zip(own).filter(|_| resolution.is_lasting) else { return Arc::new(resolution) };
        resolution.key = key;
        if resolution.is_nothing() {
            self.resolutions.keep_nothing(&own);
        }
        let resolution = Arc::new(resolution);
        self.resolutions.insert(&resolution);
        resolution
    }

    /// Whether nothing is to be found out for a program but what its shader looks up.
    fn looks_all_up(&self, journal: &Journal, program: &Program, point: &BindPoint) -> bool {
        program.looks_all_up()
            && !program.looks_at_views(self)
            && !self.force.any()
            && !journal.records_all()
            && point.summary() & ASPECTS == 0
    }

    /// Where a set of its links is not known, nothing of the layer's own is bound: nobody draws before all are bound
    /// (VUID-vkCmdDraw-None-08600), so there is one that could not be followed.
    fn make_resolution(&self, ground: &Ground, pairs: &Pairs, program: Drawn<'_>, point: &BindPoint) -> Resolution {
        let since = self.resolutions.gone();
        let bound = self.bound(&ground.hot, &ground.driver, pairs, program.program, point);
        if !is_complete(&program, point) {
            self.record_declared(&ground.journal, program, &bound, &[]);
            return Resolution { is_lasting: true, since: since.into(), ..Resolution::default() };
        }
        // Before the choices are made for links, which are recorded otherwise.
        let shown = if self.wholes.are_there() { self.shown(ground, pairs, program, point) } else { Vec::new() };
        let mut wants = self.wants(ground, pairs, program, point);
        wants.shown = shown;
        if program.blind == Some(HIDDEN)
            && wants.all.iter().all(|want| want.wanted == want.given)
            && !ground.hot.is_legal(&program, point)
        {
            ground.journal.program_unresolved(HIDDEN, program);
        }
        let decided = self.decide_links(ground, pairs, program, point, &mut wants, since);
        let Decided { shadows, pushes, mut second, hidden, is_lasting } = decided;
        // What is split or has tasks is made of the application's words.
        let all = pairs.stand_ins.storage.lowered;
        let is_own = second.is_none();
        let retyped =
            is_own.then(|| self.retyped_for(&ground.driver, all, &ground.journal, &program, &bound)).flatten();
        let mended = retyped.as_ref().map_or(&[][..], |made| &made.formats);
        self.record_declared(&ground.journal, program, &bound, mended);
        second = second.or(retyped.map(|made| (made, 0)));
        let samplers = wants.all.iter().map(|want| want.own);
        let names = Names::of(samplers.chain(wants.requests.iter().map(|request| request.pair.sampler)));
        let looks_up = second.as_ref().is_some_and(|(second, _)| second.selection.is_some());
        let names = if looks_up { Names::any() } else { names };
        Resolution { shadows, pushes, second, hidden, since: since.into(), names, is_lasting, key: Key::default() }
    }

    /// The hidden set of a split pipeline, by what its links ask for, if a sampler that they could read is bound; an error if there is
    /// no such set to be had.
    pub(super) fn hidden_for(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        second: &Second,
        request: HiddenRequest<'_>,
    ) -> Result<Option<Arc<HiddenSet>>, Left> {
        let HiddenRequest { wants, requests, point, since, runs } = request;
        let Ground { hot, driver, .. } = ground;
        let Some(shape) = &second.hidden else { return Ok(None) };
        let divided = second.tasks.as_ref().map_or_else(Vec::new, |tasks| tasks.divided(requests));
        let words = second.tasks.as_ref().map_or_else(Vec::new, |tasks| tasks.words(requests));
        let mut samplers = Vec::new();
        for (link, count) in &second.parts {
            let start = samplers.len();
            (0..*count).for_each(|_| samplers.with_room().push(0_u64));
            for want in wants.iter().filter(|want| want.link == *link) {
                // A descriptor that nobody may use can hold a sampler that is gone.
                let lives = want.wanted != want.given || hot.gate.sampler(want.own) != 0;
                if let Some(target) = samplers.get_mut(start + want.hidden_at as usize).filter(|_| lives) {
                    *target = want.hidden(&divided);
                }
            }
        }
        // Where nothing may be read, any sampler does.
        let any = samplers.iter().copied().find(|sampler| *sampler != 0);
        match any {
            None if !samplers.is_empty() && !runs && second.selection.is_none() => return Ok(None),
            _ => samplers.iter_mut().filter(|sampler| **sampler == 0).for_each(|sampler| *sampler = any.unwrap_or(0)),
        }
        let parts = self.tables.numbers.parts();
        let look_ups = match &second.selection {
            Some(selection) => Some(selection.look_ups(self, On { ground, pairs }, point)?),
            None => None,
        };
        let found = self.hidden_set(driver, shape, &samplers, since, &words, look_ups.as_ref()).ok_or(Left::Memory)?;
        if parts != self.tables.numbers.parts()
            && let Some(statics) = &found.statics
        {
            // It may have come too late to be written with all others.
            self.write_statics(statics);
        }
        Ok(Some(found))
    }

    /// Whether a program needs nothing but what the application has bound, as far as that was found out.
    #[inline(always)]
    pub(super) fn is_at_rest(&self, hot: &Hot, journal: &Journal, program: &Program, point: &BindPoint) -> bool {
        if program.splits.is_late.load(Ordering::Acquire) && program.may_meet_late(point) {
            return false;
        }
        !program.looks_at_views(self) && (program.is_plain() || !journal.records_all() && hot.is_legal(program, point))
            || Key::of(self, program, point).is_some_and(|key| self.resolutions.is_nothing(&key))
    }

    /// What is to be bound at a bind point; none if it is what the application has bound there. To be given back to [`Found::keep`].
    ///
    /// [`Found::keep`]: super::found::Found::keep
    pub(super) fn look_at(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        commands: Recording<'_>,
        program: &Program,
        place: &mut Place,
    ) -> Option<Arc<Resolution>> {
        if !self.force.any() && self.is_at_rest(&ground.hot, &ground.journal, program, &place.point) {
            return None;
        }
        Some(self.resolve_place(ground, pairs, commands, program, place))
    }
}
