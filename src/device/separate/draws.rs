//! Draws, dispatches and traces of rays: what one needs is bound right before it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind::{Calls, Descriptor, Hide, Needs, Refused};
use samplin_core::left::Left;
use samplin_hot::memory;

use super::Separate;
use super::command_buffers::{CommandBuffer, Followed, Place, bind_point, index};
use super::comparisons::{ask_comparisons, keep_comparisons};
use super::emulation::may_compare;
use super::found::Resolution;
use super::layouts::PipelineShape;
use super::programs::Program;
use super::progress::{Draw, Drawn};
use super::pushes;
use super::shown::ASPECTS;
use super::want::HiddenRequest;
use crate::device::ground::Ground;
use crate::device::journal::Journal;
use crate::device::live::Recording;
use crate::device::resolve::Pairs;
use samplin_bind::plan::link_bit;

/// Calls of the layer's own into a command buffer, right before a command that uses what is bound. What is bound by this differs from what
/// the application has bound in the samplers and views that are read.
struct Down<'d> {
    ground: &'d Ground,
    pairs: &'d Pairs,
    separate: &'d Separate,
    commands: Recording<'d>,
    point: vk::PipelineBindPoint,
}

impl Calls<Followed> for Down<'_> {
    fn bind_pipeline(&mut self, pipeline: u64) {
        if let Some(bind) = self.ground.driver.fns.cmd_bind_pipeline {
            // SAFETY: the command buffer is recording.
            unsafe { bind(self.commands.handle(), self.point, vk::Pipeline::from_raw(pipeline)) };
        }
    }

    fn bind_shaders(&mut self, shaders: &[(u32, u64)]) {
        let Some(bind) = self.ground.driver.fns.cmd_bind_shaders else { return };
        for few in shaders.chunks(FEW) {
            let (mut stages, mut handles) = ([vk::ShaderStageFlags::empty(); FEW], [vk::ShaderEXT::null(); FEW]);
            for ((stage, handle), (own_stage, own)) in stages.iter_mut().zip(&mut handles).zip(few) {
                (*stage, *handle) = (vk::ShaderStageFlags::from_raw(*own_stage), vk::ShaderEXT::from_raw(*own));
            }
            // SAFETY: the command buffer is recording; there are as many shaders as stages.
            unsafe { bind(self.commands.handle(), few.len() as u32, stages.as_ptr(), handles.as_ptr()) };
        }
    }

    fn bind_kept(&mut self, layout: u64, number: usize, set: u64, offsets: &[u32]) {
        let Some(bind) = self.ground.driver.fns.cmd_bind_descriptor_sets else { return };
        let (set, count, at) = (vk::DescriptorSet::from_raw(set), offsets.len() as u32, number as u32);
        let layout = vk::PipelineLayout::from_raw(layout);
        // SAFETY: the command buffer is recording; the application has bound this set so in this recording, before whose end it destroys none of both
        // (VUID-vkDestroyPipelineLayout-pipelineLayout-02004).
        unsafe { bind(self.commands.handle(), self.point, layout, at, 1, &set, count, offsets.as_ptr()) };
    }

    fn bind_set(&mut self, layout: &PipelineShape, number: usize, set: u64, offsets: &[u32]) -> bool {
        let twin = self.separate.twin_for_set(&self.ground.driver, layout, number);
        let (Some(bind), Some((twin, _kept))) = (self.ground.driver.fns.cmd_bind_descriptor_sets, twin) else {
            return false;
        };
        let (set, count, at) = (vk::DescriptorSet::from_raw(set), offsets.len() as u32, number as u32);
        // SAFETY: the command buffer is recording; the layout is compatible with `layout` for the set of this number, which is defined so, and takes as
        // many offsets.
        unsafe { bind(self.commands.handle(), self.point, twin, at, 1, &set, count, offsets.as_ptr()) };
        true
    }

    fn push(&mut self, layout: &PipelineShape, number: usize, descriptors: &[((u32, u32), Descriptor)]) -> bool {
        let twin = self.separate.twin_for_set(&self.ground.driver, layout, number);
        let (Some(push), Some((twin, _kept))) = (self.ground.driver.fns.cmd_push_descriptor_set, twin) else {
            return false;
        };
        // What the application wrote; its pairs were repaired when it was pushed, and are again.
        let repaired =
            |(at, descriptor): &((u32, u32), Descriptor)| (*at, self.pairs.repaired(self.ground, *descriptor));
        let descriptors = memory::collect(descriptors.iter().map(repaired));
        pushes::with_writes(&descriptors, |writes| {
            // SAFETY: the command buffer is recording; the layout is compatible with the one that the application pushed with, and the descriptors are
            // those that it has pushed, some with other samplers or views.
            unsafe {
                self.pairs.stand_ins.with_shown(self.ground, &self.pairs.images, writes, |writes| {
                    push(self.commands.handle(), self.point, twin, number as u32, writes.len() as u32, writes.as_ptr());
                });
            }
        });
        true
    }
}

/// Shader objects that are bound in one call: all of graphics.
const FEW: usize = 8;

/// What a draw of a program needs.
fn needs<'n>(program: &'n Program, resolution: &'n Resolution) -> Needs<'n, Followed> {
    let (executable, hidden) = match &resolution.second {
        None => (&program.own, None),
        Some((second, 0)) => (&second.made, None),
        Some((second, set)) => (&second.made, Some(Hide { set: *set, layout: &second.layout })),
    };
    let Resolution { shadows, pushes, .. } = resolution;
    Needs { executable, layout: &*program.layout, shadows, pushes, hidden }
}

impl Separate {
    /// Counts a draw, a dispatch or a trace of rays that is about to be recorded, and says whether what is bound has to be looked at for it.
    #[inline(always)]
    pub fn count_draw(&self, ground: &Ground, commands: Recording<'_>, point: vk::PipelineBindPoint) -> bool {
        let noted = || index(point).zip(self.noted(commands));
        ground.hot.follows_binds()
            && noted()
                .is_some_and(|(at, buffer)| buffer.count_draw(at) && !self.needs_nothing(ground, commands, buffer, at))
    }

    /// Whether all that is bound is the application's own and nothing else is needed, as far as that is seen without a look at what was found
    /// out. Takes no memory.
    #[inline(never)]
    fn needs_nothing(&self, ground: &Ground, commands: Recording<'_>, buffer: &CommandBuffer, at: usize) -> bool {
        if self.layouts.differ.load(Ordering::Relaxed) {
            self.name_differing_layouts(ground, commands, buffer, at);
        }
        let is_all_recorded = ground.journal.records_all() || self.force.any();
        let look = |place: &mut Place| {
            if is_all_recorded || place.point.looks_different() {
                return false;
            }
            place.look_up(self, commands, &ground.hot.gate);
            let summary = place.point.summary();
            // Then no pipeline needs anything, unless views are looked at.
            let mut needs_nothing =
                (summary & (summary >> 32)) as u32 == 0 && summary & ASPECTS == 0 && !self.seen.differs();
            needs_nothing &= !self.tables.has_late();
            if !needs_nothing && place.point.program.is_none() && !place.is_unknown {
                let program = commands.pipeline(&place.point).of(&self.programs);
                needs_nothing =
                    program.is_some_and(|program| self.is_at_rest(&ground.hot, &ground.journal, program, &place.point));
            }
            place.point.is_dirty = !needs_nothing;
            needs_nothing
        };
        buffer.edit(at, look).unwrap_or(false)
    }

    /// Binds what the draw needs that was counted last.
    pub fn meet_draw(&self, ground: &Ground, pairs: &Pairs, commands: Recording<'_>, point: vk::PipelineBindPoint) {
        let Some((at, buffer)) = index(point).zip(self.noted(commands)) else { return };
        if ground.journal.records_decisions() {
            ground.guard(|| buffer.note_draw(at), || ());
        }
        self.meet_needs(ground, pairs, commands, buffer, at);
    }

    /// Binds what transform feedback needs that is about to begin.
    pub fn meet_feedback(&self, ground: &Ground, pairs: &Pairs, commands: Recording<'_>, point: vk::PipelineBindPoint) {
        let noted = index(point).zip(self.noted(commands)).filter(|_| ground.hot.follows_binds());
        let Some((at, buffer)) = noted.filter(|(at, buffer)| buffer.is_dirty(*at)) else { return };
        buffer.edit(at, |place| place.draw = Draw::default());
        self.meet_needs(ground, pairs, commands, buffer, at);
    }

    fn down<'d>(&'d self, ground: &'d Ground, pairs: &'d Pairs, commands: Recording<'d>, at: usize) -> Down<'d> {
        Down { ground, pairs, separate: self, commands, point: bind_point(at) }
    }

    fn meet_needs(&self, ground: &Ground, pairs: &Pairs, commands: Recording<'_>, buffer: &CommandBuffer, at: usize) {
        let down = || self.down(ground, pairs, commands, at);
        ground.guard(
            || _ = buffer.edit(at, |place| self.meet_place(place, &mut down())),
            // The layer has just given up, or had before: nothing binds the hidden set that a pipeline of its own reads.
            || _ = buffer.edit(at, |place| place.point.give_up(&mut down())),
        );
    }

    /// The layer has given up, and sets are about to be bound that it does not note.
    #[cold]
    pub fn forget_kept_sets(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
    ) {
        let Some((at, buffer)) = index(point).zip(self.noted(commands)) else { return };
        buffer.edit(at, |place| place.point.give_up_sets(&mut self.down(ground, pairs, commands, at)));
    }

    /// The layer has given up, and shaders are about to be bound that it does not note: the application's own run from here on.
    pub fn forget_program(&self, ground: &Ground, pairs: &Pairs, commands: Recording<'_>) {
        let Some(buffer) = self.noted(commands) else { return };
        buffer.edit(0, |place| {
            place.point.give_up(&mut self.down(ground, pairs, commands, 0));
            place.point.forget_program();
        });
    }

    /// Binds everything as the application has, for what is not followed; the next draw that is has its own again.
    pub fn give_back(&self, ground: &Ground, pairs: &Pairs, commands: Recording<'_>, point: vk::PipelineBindPoint) {
        let Some((at, buffer)) = index(point).zip(self.noted(commands)) else { return };
        buffer.edit(at, |place| {
            // Commands that the device generates are no draw with a number.
            place.draw = Draw::default();
            if place.point.differs {
                place.point.give_back(&mut self.down(ground, pairs, commands, at));
                place.point.is_dirty = true;
            }
        });
    }

    fn meet_place(&self, place: &mut Place, down: &mut Down<'_>) {
        let Down { ground, pairs, commands, .. } = *down;
        let shaders = place.point.program.clone();
        let given = commands.pipeline(&place.point).of(&self.programs);
        let Some(program) = shaders.as_deref().or(given).filter(|_| !place.is_unknown) else {
            if place.point.differs {
                place.point.give_back(down);
            }
            place.point.is_dirty = false;
            return;
        };
        place.look_up(self, commands, &ground.hot.gate);
        let found = self.look_at(ground, pairs, commands, program, place);
        if found.is_none() && !place.point.differs {
            place.point.is_dirty = false;
            return;
        }
        let nothing = Resolution::default();
        let resolution = found.as_deref().unwrap_or(&nothing);
        // Before it is bound, so that it is held when the driver has it.
        found.iter().for_each(|found| place.found.keep(&self.resolutions, Arc::clone(found)));
        if place.is_unpushable && resolution.second.is_some() {
            record_second(&ground.journal, Left::PushedType, Drawn { program, draw: &place.draw }, resolution);
            return place.point.give_back(down);
        }
        if let Err(Refused::Feedback) = place.point.meet(&needs(program, resolution), down) {
            record_second(&ground.journal, Left::TransformFeedback, Drawn { program, draw: &place.draw }, resolution);
            // What runs stays, with the application's own sets.
            let fed = self.feed(ground, pairs, commands, program, resolution, place);
            _ = place.point.meet(&needs(program, &fed), down);
        }
        if found.is_some_and(|found| !found.is_lasting) {
            // The next draw after a bind tries again, also if the same is bound.
            place.point.sets.iter_mut().for_each(|bound| bound.brief = None);
        }
    }

    /// The second pipeline or shaders that run, with the hidden set that they read with these sets, where nothing else may be bound; nothing
    /// where the application's own do. Names the links that are left for want of what would exchange samplers in sets.
    fn feed(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        commands: Recording<'_>,
        program: &Program,
        resolution: &Resolution,
        place: &mut Place,
    ) -> Arc<Resolution> {
        let since = self.resolutions.gone();
        place.share(self, commands);
        let drawn = Drawn { program, draw: &place.draw };
        let mut wants = self.wants(ground, pairs, drawn, &place.point);
        let second = program.splits.find(|second| place.point.has_bound(&second.made));
        let split = second.as_ref().map_or(0, |second| second.mask);
        for want in wants.all.iter().filter(|want| want.wanted != want.given && split & link_bit(want.link) == 0) {
            let (set, ..) = want.sampler_at;
            let is_copied = resolution.shadows.iter().any(|(number, _)| *number == set as usize);
            if is_copied || resolution.pushes.iter().any(|(number, _)| *number == set) {
                ground.journal.link_unresolved(Left::TransformFeedback, drawn, want.link);
            }
        }
        let compared = second.as_ref().map_or(0, |second| second.compared());
        ask_comparisons(&mut wants.requests, &wants.all, &[], split | compared);
        let uncompared = may_compare(&wants.requests) & !compared;
        keep_comparisons(&mut wants.requests, &mut wants.all, uncompared);
        let fed = second.and_then(|second| {
            let (wants, requests, point) = (&wants.all[..], &wants.requests[..], &place.point);
            let request = HiddenRequest { wants, requests, point, since, runs: true };
            let hidden = self.hidden_for(ground, pairs, &second, request).ok()?;
            let set = hidden.as_ref().map_or(0, |hidden| hidden.set);
            Some(Resolution { second: Some((second, set)), hidden, since: since.into(), ..Resolution::default() })
        });
        let fed = Arc::new(fed.unwrap_or_default());
        // Before it is bound, so that it is held when the driver has it.
        place.found.keep(&self.resolutions, Arc::clone(&fed));
        fed
    }
}

/// Names why the links are left that a second pipeline is there for.
fn record_second(journal: &Journal, what: Left, program: Drawn<'_>, resolution: &Resolution) {
    let links = resolution.second.iter().flat_map(|(second, _)| second.links());
    links.for_each(|link| journal.link_unresolved(what, program, link));
}
