//! Links that no draw shows in full: their descriptors may change after the draw was recorded, or there are too many of them to be
//! listed. Their records say what was ever written to their bindings, and come as late as they can: every so many frames, when the pipeline
//! goes, and when the device does. A draw that finds such a pair says more, and is preferred.

use std::sync::atomic::Ordering;

use samplin_bind::plan::link_bit;
use samplin_core::left::Left;
use samplin_hot::memory::Room;
use samplin_spirv::{Operand, Sampled};

use super::Separate;
use super::arrays::{Meaning, Sum};
use super::binds::Binds;
use super::ladder::elements;
use super::layouts::PipelineShape;
use super::programs::{Late, Program, ProgramLink};
use super::progress::{Draw, Drawn};
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::table::{FastMap, lock};
use crate::variant::Gate;

/// Frames from one look to the next.
const FRAMES: u64 = 256;

/// What is in bindings of all live sets, by their definition, the binding, and the type that its images are read as: looked up once each.
#[derive(Default)]
pub(super) struct Met<'b> {
    known: FastMap<(u64, u32, Option<bool>), u64>,
    /// What pushed descriptors are taken to need and lack, which are in no set.
    of_pushed: u64,
    /// Sets that are known to be bound, so that no other is looked at.
    bound: Option<Binds<'b>>,
}

impl<'b> Met<'b> {
    /// Pushed descriptors may need and lack anything.
    pub(super) fn with_pushed() -> Self {
        Self { of_pushed: u64::MAX, ..Self::default() }
    }

    /// These sets are bound.
    pub(super) fn with_bound(binds: Binds<'b>) -> Self {
        Self { bound: Some(binds), ..Self::default() }
    }

    /// What the samplers of an operand need, and in the upper half what its images lack.
    fn of(
        &mut self,
        separate: &Separate,
        gate: &Gate,
        layout: &PipelineShape,
        operand: &Operand,
        sampled: Option<Sampled>,
    ) -> u64 {
        let Some(shape) = layout.sets.get(operand.set as usize).and_then(Option::as_ref) else { return u64::MAX };
        let Some(binding) = shape.binding(operand.binding) else { return 0 };
        if shape.is_pushed() {
            return self.of_pushed;
        }
        let bound = self.bound.as_ref().and_then(|binds| binds.at(operand.set)?.of(&separate.sets));
        if let Some((entry, own)) = bound.and_then(|entry| Some((entry, entry.shape.binding(operand.binding)?))) {
            return entry.seen(gate, own, sampled);
        }
        if let Some(seen) = &binding.seen {
            return u64::from(seen.needs()) | u64::from(seen.lacks(sampled)) << 32;
        }
        let key = (shape.number(), operand.binding, sampled.map(|own| own == Sampled::Float));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut all = 0;
        separate.sets.for_each(&mut |entry| {
            let own = entry.shape.binding(operand.binding).filter(|_| entry.shape.number() == shape.number());
            all |= own.map_or(0, |binding| entry.seen(gate, binding, sampled));
        });
        self.known.with_room().insert(key, all);
        all
    }

    /// Whether a link may join what conflicts, of what is in any live set of its definitions, or was in arrays of one.
    pub(super) fn may_conflict(
        &mut self,
        separate: &Separate,
        gate: &Gate,
        layout: &PipelineShape,
        link: &ProgramLink,
    ) -> bool {
        let mut of = |operand| self.of(separate, gate, layout, operand, link.sampled);
        gate.must_look() && of(&link.sampler) as u32 & (of(&link.image) >> 32) as u32 != 0
    }
}

/// Why a link can reach more than a draw shows, if it can.
fn late(layout: &PipelineShape, link: &ProgramLink) -> Option<Left> {
    let binding = |operand: &Operand| layout.sets.get(operand.set as usize)?.as_ref()?.binding(operand.binding);
    let (image, sampler) = (binding(&link.image)?, binding(&link.sampler)?);
    match () {
        () if link.is_combined() => None,
        () if image.is_too_large() || sampler.is_too_large() => Some(Left::TooLarge),
        () if !image.after_bind && !sampler.after_bind => None,
        () if elements(&link.image, image).is_none() || elements(&link.sampler, sampler).is_none() => {
            Some(Left::Bindless)
        }
        () => Some(Left::UpdateAfterBind),
    }
}

/// Whether the elements that a link names join what conflicts, as live sets have them now.
fn conflicts_now(separate: &Separate, gate: &Gate, layout: &PipelineShape, link: &ProgramLink) -> bool {
    let of = |operand: &Operand, is_sampler: bool| {
        let shape = layout.sets.get(operand.set as usize)?.as_ref()?;
        let elements = elements(operand, shape.binding(operand.binding)?)?;
        let own = Sum::default();
        separate.sets.for_each(&mut |entry| {
            let binding = entry.shape.binding(operand.binding).filter(|_| entry.shape.number() == shape.number());
            let Some(binding) = binding else { return };
            let slot = |element| if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
            let handles = elements.clone().filter_map(slot).map(|slot| entry.get(slot));
            handles.for_each(|handle| {
                own.add_one(Meaning::of(gate, handle, is_sampler).bits);
            });
        });
        Some(own)
    };
    let (Some(image), Some(sampler)) = (of(&link.image, false), of(&link.sampler, true)) else { return false };
    sampler.needs() & image.lacks(link.sampled) != 0
}

impl Program {
    /// Remembers that a draw recorded a link.
    pub(super) fn mark_late_recorded(&self, link: usize) {
        lock(&self.records.late).with_room().insert(link, Late::Recorded);
    }
}

impl Separate {
    /// Notes the links that something written just now may concern.
    pub(super) fn suspect(&self, hot: &Hot) {
        if !self.news.load(Ordering::Acquire) || !self.news.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut met = Met::default();
        let mut look = |program: &Program| self.suspect_links(hot, program, &mut met);
        self.programs.for_each(&mut look);
        self.shaders.for_each_combination(&mut look);
    }

    /// Notes the links of a new program.
    pub(super) fn suspect_new(&self, hot: &Hot, program: &Program) {
        self.suspect_links(hot, program, &mut Met::default());
    }

    /// Notes the links of a program that may join what conflicts without a draw that shows it.
    fn suspect_links(&self, hot: &Hot, program: &Program, met: &mut Met) {
        if program.is_library {
            // What is linked of it has these links as well, and is what runs.
            return;
        }
        for (index, link) in program.links.iter().enumerate() {
            let layout = &program.layout;
            let Some(why) = late(layout, link) else { continue };
            let is_found = |known: Option<&Late>| known.is_some_and(|known| *known != Late::Expected);
            if is_found(lock(&program.records.late).get(&index)) || !met.may_conflict(self, &hot.gate, layout, link) {
                continue;
            }
            let is_expected = why == Left::UpdateAfterBind && !conflicts_now(self, &hot.gate, layout, link);
            let known = if is_expected { Late::Expected } else { Late::Found };
            lock(&program.records.late).with_room().insert(index, known);
            self.has_late.store(true, Ordering::Release);
        }
    }

    /// Records the links of a program that no draw has recorded.
    pub(super) fn record_late(&self, ground: &Ground, program: &Program) {
        let (journal, gate) = (&ground.journal, &ground.hot.gate);
        let mut late_links = lock(&program.records.late);
        let unrecorded = late_links.iter_mut().filter(|(_, known)| **known != Late::Recorded);
        for (index, known) in unrecorded {
            let conflicts = |link| conflicts_now(self, gate, &program.layout, link);
            if *known == Late::Expected && !program.links.get(*index).is_some_and(conflicts) {
                self.has_late.store(true, Ordering::Release);
                continue;
            }
            *known = Late::Recorded;
            let link = link_bit(*index);
            let what = match program.looked_up & link {
                0 => program.links.get(*index).and_then(|link| late(&program.layout, link)),
                // Recorded below.
                _ if program.splits.mask() & link != 0 => None,
                // A draw that came later would have been repaired.
                _ => Some(program.splits.reason(link).unwrap_or(Left::UpdateAfterBind)),
            };
            let drawn = Drawn { program, draw: &Draw::default() };
            what.into_iter().for_each(|what| journal.link_unresolved(what, drawn, *index));
        }
        drop(late_links);
        let drawn = Drawn { program, draw: &Draw::default() };
        let looked_up = program.looked_up & program.loose & program.splits.mask();
        for (index, link) in program.links.iter().enumerate().filter(|(index, _)| looked_up & link_bit(*index) != 0) {
            let seen = program.layout.binding(&link.image).and_then(|(_, binding)| binding.seen.as_ref());
            if self.tables.lost() & seen.map_or(u32::MAX, |seen| seen.lacks(link.sampled)) != 0 {
                journal.link_unresolved(Left::SamplerLimit, drawn, index);
            }
        }
    }

    /// The same of all programs.
    pub(super) fn record_all_late(&self, ground: &Ground) {
        if self.has_late.swap(false, Ordering::AcqRel) {
            self.programs.for_each(&mut |program| self.record_late(ground, program));
            self.shaders.for_each_combination(&mut |program| self.record_late(ground, program));
        }
    }

    /// A frame has ended.
    #[inline]
    pub fn end_frame(&self, ground: &Ground) {
        if self.has_late.load(Ordering::Acquire) && ground.journal.frames.count().is_multiple_of(FRAMES) {
            ground.guard(|| self.record_all_late(ground), || ());
        }
    }
}
