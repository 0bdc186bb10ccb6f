//! Binds: what the application binds is noted, and reaches the driver unchanged.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind as bind;
use samplin_bind::Pushed;

use super::Separate;
use super::command_buffers::{CommandBuffer, Place, index};
use super::layouts::PipelineShape;
use super::pushes;
use super::sets::SetEntry;
use crate::device::ground::Ground;
use crate::device::hot::{Hot, follow};
use crate::device::live::{Filled, Live, Recording, Writes};
use crate::variant::Gate;

/// How many binds of sets are looked at in a command buffer of which not all is known.
const LATE_LOOKS: u8 = 64;

/// Sets that the application binds.
#[derive(Clone, Copy)]
pub struct Binds<'a> {
    /// Pipeline layout.
    pub layout: Live<'a, vk::PipelineLayout>,
    /// Number of the first set.
    pub first: u32,
    /// The sets.
    pub sets: &'a [Live<'a, vk::DescriptorSet>],
    /// Dynamic offsets of all of them.
    pub offsets: &'a [u32],
}

impl<'a> Binds<'a> {
    /// The set that is bound at this number, if it is among them.
    pub(super) fn at(&self, number: u32) -> Option<Live<'a, vk::DescriptorSet>> {
        number.checked_sub(self.first).and_then(|at| self.sets.get(at as usize)).copied()
    }

    #[inline(always)]
    fn noted(&self, separate: &Separate, goes_down: bool) -> bind::Binds<'a> {
        bind::Binds {
            layout: self.layout.as_raw(),
            gone: separate.layouts_gone(),
            first: self.first as usize,
            offsets: self.offsets,
            goes_down,
        }
    }
}

/// Descriptors that the application pushes.
#[derive(Clone, Copy)]
pub struct Pushes<'a> {
    /// Pipeline layout.
    pub layout: Live<'a, vk::PipelineLayout>,
    /// Set number.
    pub set: u32,
    /// What is pushed.
    pub descriptors: Descriptors<'a>,
}

/// Descriptors, as a command has them.
#[derive(Clone, Copy)]
pub enum Descriptors<'a> {
    /// `pDescriptorWrites`.
    Writes(Writes<'a>),
    /// `descriptorUpdateTemplate` and `pData`.
    Template(Filled<'a>),
}

impl Separate {
    /// What is noted of a command buffer, if binds are.
    #[inline(always)]
    pub(super) fn noted<'c>(&'c self, commands: Recording<'c>) -> Option<&'c CommandBuffer> {
        commands.live().of_in_line(&self.commands.buffers)
    }

    /// [`Separate::noted`] for a bind; a command buffer that was begun before binds were noted is taken note of now.
    #[inline(always)]
    pub(super) fn noted_now<'c>(&'c self, ground: &Ground, commands: Recording<'c>) -> Option<&'c CommandBuffer> {
        self.noted(commands).or_else(|| self.note_buffer(ground, commands))
    }

    #[cold]
    #[inline(never)]
    fn note_buffer<'c>(&'c self, ground: &Ground, commands: Recording<'c>) -> Option<&'c CommandBuffer> {
        ground.guard(|| self.buffer(commands.live()), || None)
    }

    /// Notes a bind of a pipeline. Whether it has to reach the driver: one that others run instead of is bound by the next draw. Also when
    /// the layer has given up, because then a draw may still have to bind one.
    #[inline(always)]
    pub fn note_pipeline(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
        pipeline: Live<'_, vk::Pipeline>,
    ) -> bool {
        let Some((at, buffer)) = index(point).zip(self.noted_now(ground, commands)) else { return true };
        let is_split = || {
            let program = pipeline.of(&self.programs);
            program.is_some_and(|program| program.splits.current_pipeline() != 0)
        };
        let may_stay = ground.hot.follow.load(Ordering::Acquire) == follow::ALL && !ground.is_broken() && is_split();
        let goes_down = buffer.edit(at, |place| {
            place.is_unknown = false;
            if may_stay && !place.point.feeds_back && place.point.keep_pipeline(pipeline.as_raw()) {
                return false;
            }
            place.point.bind_pipeline(pipeline.as_raw());
            true
        });
        goes_down.unwrap_or_else(|| {
            self.note_late(ground, buffer, at, pipeline);
            true
        })
    }

    /// [`Separate::note_pipeline`] for a pipeline that nothing stands in for, in a command buffer of which all is known. Whether it was that.
    #[inline(always)]
    pub fn note_own_pipeline(
        &self,
        hot: &Hot,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
        pipeline: Live<'_, vk::Pipeline>,
    ) -> bool {
        let noted = index(point).zip(self.noted(commands));
        if hot.follow.load(Ordering::Acquire) != follow::LINKED {
            let program = noted.and_then(|_| pipeline.of(&self.programs));
            if program.is_none_or(|program| program.splits.current_pipeline() != 0) {
                return false;
            }
        }
        let note = |place: &mut Place| {
            place.is_unknown = false;
            place.point.bind_pipeline(pipeline.as_raw());
        };
        noted.is_some_and(|(at, buffer)| buffer.edit(at, note).is_some())
    }

    /// [`Separate::note_sets`] for the most common ones, see [`bind::BindPoint::bind_sets_alike`]. Whether it was that.
    #[inline(always)]
    pub fn note_sets_alike(&self, commands: Recording<'_>, point: vk::PipelineBindPoint, binds: Binds<'_>) -> bool {
        let Some((at, buffer)) = index(point).zip(self.noted(commands)) else { return false };
        if let ([set], true) = (binds.sets, self.has_shadows()) {
            let entry = set.of_in_line(&self.sets);
            if entry.is_some_and(|entry| entry.is_guarded.load(Ordering::Acquire)) {
                return false;
            }
        }
        let sets = binds.sets.iter().map(|set| set.as_raw());
        buffer.edit(at, |place| place.point.bind_sets_alike(binds.noted(self, true), sets)).unwrap_or(false)
    }

    /// Names what is not repaired of a pipeline that is bound where not all is known that is.
    #[cold]
    #[inline(never)]
    fn note_late(&self, ground: &Ground, buffer: &CommandBuffer, at: usize, pipeline: Live<'_, vk::Pipeline>) {
        buffer.edit_late(at, |place| {
            if place.point.pipeline != pipeline.as_raw() {
                place.point.pipeline = pipeline.as_raw();
                let look = |program| self.began_before(&ground.hot, &ground.journal, program);
                ground.guard(|| pipeline.of(&self.programs).into_iter().for_each(look), || ());
            }
        });
    }

    /// Names what sets bring that are bound after their pipeline where not all is known that is, or that something may.
    #[cold]
    #[inline(never)]
    fn note_late_sets(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        buffer: &CommandBuffer,
        at: usize,
        binds: Binds<'_>,
    ) {
        if !ground.hot.gate.must_look() {
            return;
        }
        buffer.edit_late(at, |place| {
            if place.point.pipeline == 0 && place.point.program.is_none() {
                return ground.journal.began_before_unseen();
            }
            let given = commands.pipeline(&place.point).of(&self.programs);
            let program = place.point.program.as_deref().or(given).filter(|_| place.late_looks < LATE_LOOKS);
            place.late_looks += u8::from(program.is_some());
            let look = |program| self.bound_late(&ground.hot, &ground.journal, program, binds);
            ground.guard(|| program.into_iter().for_each(look), || ());
        });
    }

    /// Notes a bind of a pipeline with shaders of which nothing is known.
    pub fn note_unknown(&self, commands: Recording<'_>, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        index(point).zip(self.noted(commands)).map(|(at, buffer)| {
            buffer.edit(at, |place| {
                place.is_unknown = true;
                place.point.bind_pipeline(pipeline.as_raw());
            })
        });
    }

    /// Notes a bind of sets. Whether it has to reach the driver: a set with copies need not, if `may_stay`, as the next draw binds it or
    /// one of these.
    #[must_use]
    #[inline(always)]
    pub fn note_sets(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
        binds: Binds<'_>,
        may_stay: bool,
    ) -> bool {
        let Some((at, buffer)) = index(point).zip(self.noted_now(ground, commands)) else { return true };
        let goes_down = match binds.sets {
            [set] if may_stay && self.has_shadows() => {
                set.of_in_line(&self.sets).is_none_or(|entry| !entry.has_shadows())
            }
            _ => true,
        };
        let noted = buffer.edit(at, |place| {
            let noted = binds.noted(self, goes_down);
            let find = || {
                self.pipeline_shape(binds.layout).or_else(|| {
                    ground.journal.unknown_layout();
                    None
                })
            };
            place.point.bind_sets(noted, binds.sets.iter().map(|set| set.as_raw()), find)
        });
        match noted {
            Some(is_noted) => goes_down || !is_noted,
            None => {
                self.note_late_sets(ground, commands, buffer, at, binds);
                true
            }
        }
    }

    /// Notes descriptors that were pushed.
    pub fn note_push(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
        pushes: Pushes<'_>,
    ) {
        let (noted, layout) = (self.noted(commands), self.pipeline_shape(pushes.layout));
        let Some((at, buffer)) = index(point).zip(noted) else { return };
        buffer.edit(at, |place| {
            let (number, gate) = (pushes.set as usize, &ground.hot.gate);
            let Some(layout) = layout else {
                ground.journal.unknown_layout();
                return place.point.forget_sets();
            };
            let Place { point, is_unpushable, .. } = place;
            let shape = layout.sets.get(number).and_then(Option::as_ref);
            let content = || shape.map(|shape| SetEntry::new(gate, &self.arrays, shape.clone(), None, 0).into());
            point.push(&layout, number, content, |pushed, entry| {
                *is_unpushable |= !self.take_push(gate, pushes.descriptors, &layout, number, pushed, entry);
            });
        });
    }

    /// Notes that nothing is known of the sets that are bound.
    pub fn note_buffers(&self, commands: Recording<'_>, point: vk::PipelineBindPoint) {
        let noted = index(point).zip(self.noted(commands));
        noted.map(|(at, buffer)| buffer.edit(at, |place| place.point.forget_sets()));
    }

    /// Notes that transform feedback is active, or no more.
    pub fn note_feedback(&self, commands: Recording<'_>, active: bool) {
        let noted = index(vk::PipelineBindPoint::GRAPHICS).zip(self.noted(commands));
        noted.map(|(at, buffer)| buffer.edit(at, |place| place.point.feed_back(active)));
    }

    /// The bind point that the pushes of a template are for.
    pub fn push_point(&self, template: Live<'_, vk::DescriptorUpdateTemplate>) -> Option<vk::PipelineBindPoint> {
        template.of(&self.templates).map(|runs| runs.bind_point)
    }

    /// Takes over descriptors that were pushed to the set of this number. Whether all of them are known.
    fn take_push(
        &self,
        gate: &Gate,
        descriptors: Descriptors<'_>,
        layout: &PipelineShape,
        number: usize,
        pushed: &mut Pushed,
        entry: Option<&SetEntry>,
    ) -> bool {
        let Some(shape) = layout.sets.get(number).and_then(Option::as_deref) else { return false };
        match descriptors {
            Descriptors::Writes(writes) => writes.each().fold(true, |all, write| {
                entry.into_iter().for_each(|entry| {
                    _ = entry.take::<false>((gate, &self.tables.numbers), write);
                    entry.touch();
                });
                pushes::write(shape, write, pushed) && all
            }),
            Descriptors::Template(filled) => {
                let Some(runs) = self.runs(filled) else { return false };
                entry.into_iter().for_each(|entry| {
                    runs.clone().for_each(|run| _ = entry.apply((gate, &self.tables.numbers), run));
                    entry.touch();
                });
                runs.map(|run| pushes::run(shape, run, pushed)).fold(true, |all, is_known| all & is_known)
            }
        }
    }
}
