//! Draws, dispatches and traces of rays: what one needs is bound right before it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind::{Calls, Descriptor, Hide, Needs, Refused};
use samplin_core::left::Left;
use samplin_hot::memory;

use super::Separate;
use super::commands::{CommandBuffer, Followed, Place, bind_point, index};
use super::comparisons::{ask_comparisons, keep_comparisons};
use super::found::Resolution;
use super::layouts::PipelineShape;
use super::programs::Program;
use super::progress::{Draw, Drawn};
use super::pushes;
use super::sampling::may_compare;
use super::shown::ASPECTS;
use crate::device::Device;
use samplin_bind::plan::link_bit;

/// Calls of the layer's own into a command buffer.
struct Down<'d> {
    device: &'d Device,
    separate: &'d Separate,
    commands: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
}

impl<'d> Down<'d> {
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state as long as this is used, and a command is about to be recorded there that
    /// uses what is bound. What is bound by this differs from what the application has bound in the samplers that are read.
    unsafe fn new(device: &'d Device, separate: &'d Separate, commands: vk::CommandBuffer, at: usize) -> Self {
        Self { device, separate, commands, point: bind_point(at) }
    }
}

impl Calls<Followed> for Down<'_> {
    fn bind_pipeline(&mut self, pipeline: u64) {
        if let Some(bind) = self.device.fns.cmd_bind_pipeline {
            // SAFETY: as `Down::new` asks.
            unsafe { bind(self.commands, self.point, vk::Pipeline::from_raw(pipeline)) };
        }
    }

    fn bind_shaders(&mut self, shaders: &[(u32, u64)]) {
        let Some(bind) = self.device.fns.cmd_bind_shaders else { return };
        for few in shaders.chunks(FEW) {
            let (mut stages, mut handles) = ([vk::ShaderStageFlags::empty(); FEW], [vk::ShaderEXT::null(); FEW]);
            for ((stage, handle), (own_stage, own)) in stages.iter_mut().zip(&mut handles).zip(few) {
                (*stage, *handle) = (vk::ShaderStageFlags::from_raw(*own_stage), vk::ShaderEXT::from_raw(*own));
            }
            // SAFETY: as `Down::new` asks; there are as many shaders as stages.
            unsafe { bind(self.commands, few.len() as u32, stages.as_ptr(), handles.as_ptr()) };
        }
    }

    fn bind_kept(&mut self, layout: u64, number: usize, set: u64, offsets: &[u32]) {
        let Some(bind) = self.device.fns.cmd_bind_descriptor_sets else { return };
        let (set, count, at) = (vk::DescriptorSet::from_raw(set), offsets.len() as u32, number as u32);
        let layout = vk::PipelineLayout::from_raw(layout);
        // SAFETY: as `Down::new` asks; the application has bound this set so in this recording, before whose end it destroys none of both
        // (VUID-vkDestroyPipelineLayout-pipelineLayout-02004).
        unsafe { bind(self.commands, self.point, layout, at, 1, &set, count, offsets.as_ptr()) };
    }

    fn bind_set(&mut self, layout: &PipelineShape, number: usize, set: u64, offsets: &[u32]) -> bool {
        let twin = self.device.twin_for_set(self.separate, layout, number);
        let (Some(bind), Some((twin, _kept))) = (self.device.fns.cmd_bind_descriptor_sets, twin) else { return false };
        let (set, count, at) = (vk::DescriptorSet::from_raw(set), offsets.len() as u32, number as u32);
        // SAFETY: as `Down::new` asks; the layout is compatible with `layout` for the set of this number, which is defined so, and takes as
        // many offsets.
        unsafe { bind(self.commands, self.point, twin, at, 1, &set, count, offsets.as_ptr()) };
        true
    }

    fn push(&mut self, layout: &PipelineShape, number: usize, descriptors: &[((u32, u32), Descriptor)]) -> bool {
        let twin = self.device.twin_for_set(self.separate, layout, number);
        let (Some(push), Some((twin, _kept))) = (self.device.fns.cmd_push_descriptor_set, twin) else { return false };
        // What the application wrote; its pairs were repaired when it was pushed, and are again.
        let repaired = |(at, descriptor): &((u32, u32), Descriptor)| (*at, self.device.repaired(*descriptor));
        let descriptors = memory::collect(descriptors.iter().map(repaired));
        pushes::with_writes(&descriptors, |writes| {
            // SAFETY: as `Down::new` asks; the layout is compatible with the one that the application pushed with, and the descriptors are
            // those that it has pushed, some with other samplers or views.
            unsafe {
                self.device.with_shown(writes, |writes| {
                    push(self.commands, self.point, twin, number as u32, writes.len() as u32, writes.as_ptr());
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

impl Device {
    /// Counts a draw, a dispatch or a trace of rays that is about to be recorded, and says whether what is bound has to be looked at for it.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    #[inline(always)]
    pub unsafe fn count_draw(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) -> bool {
        self.follows_binds() && {
            // SAFETY: the command buffer is recording, by this function's contract.
            let noted = index(point).zip(unsafe { self.noted(commands) });
            noted.is_some_and(|(at, (separate, buffer))| {
                buffer.count_draw(at) && !self.needs_nothing(separate, buffer, at)
            })
        }
    }

    /// Whether all that is bound is the application's own and nothing else is needed, as far as that is seen without a look at what was found
    /// out. Takes no memory.
    #[inline(never)]
    fn needs_nothing(&self, separate: &Separate, buffer: &CommandBuffer, at: usize) -> bool {
        if separate.layouts.differ.load(Ordering::Relaxed) {
            self.name_differing_layouts(separate, buffer, at);
        }
        let is_all_told = self.records_all() || separate.force.any();
        let look = |place: &mut Place| {
            if is_all_told || place.point.looks_different() {
                return false;
            }
            place.look_up(separate, &self.hot.gate);
            let summary = place.point.summary();
            // Then no pipeline needs anything, unless views are looked at.
            let mut needs_nothing =
                (summary & (summary >> 32)) as u32 == 0 && summary & ASPECTS == 0 && !separate.seen.differs();
            if !needs_nothing && place.point.program.is_none() && !place.is_unknown {
                // SAFETY: destroying it would have invalidated the command buffer that it is bound in (Command Buffer Lifecycle).
                let program = unsafe { separate.programs.get(place.point.pipeline) };
                needs_nothing = program.is_some_and(|program| self.is_at_rest(separate, program, &place.point));
            }
            place.point.is_dirty = !needs_nothing;
            needs_nothing
        };
        buffer.edit(at, look).unwrap_or(false)
    }

    /// Binds what the draw needs that was counted last.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn meet_draw(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((at, (separate, buffer))) = index(point).zip(unsafe { self.noted(commands) }) else { return };
        if self.records_decisions() {
            self.guard(|| buffer.note_draw(at), || ());
        }
        // SAFETY: as above.
        unsafe { self.meet_needs(separate, (commands, at), buffer) };
    }

    /// Binds what transform feedback needs that is about to begin.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn meet_feedback(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(point).zip(unsafe { self.noted(commands) }).filter(|_| self.follows_binds());
        let Some((at, (separate, buffer))) = noted.filter(|(at, (_, buffer))| buffer.is_dirty(*at)) else { return };
        buffer.edit(at, |place| place.draw = Draw::default());
        // SAFETY: as above.
        unsafe { self.meet_needs(separate, (commands, at), buffer) };
    }

    /// # Safety
    ///
    /// The command buffer is valid and in the recording state, `buffer` is its, and a command that uses what is bound is about to be recorded.
    unsafe fn meet_needs(
        &self,
        separate: &Separate,
        (commands, at): (vk::CommandBuffer, usize),
        buffer: &CommandBuffer,
    ) {
        // SAFETY: as this function asks.
        let down = || unsafe { Down::new(self, separate, commands, at) };
        self.guard(
            || _ = buffer.edit(at, |place| self.meet_place(separate, place, &mut down())),
            // The layer has just given up, or had before: nothing binds the hidden set that a pipeline of its own reads.
            || _ = buffer.edit(at, |place| place.point.give_up(&mut down())),
        );
    }

    /// The layer has given up, and sets are about to be bound that it does not note.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    #[cold]
    pub unsafe fn forget_kept_sets(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((at, (separate, buffer))) = index(point).zip(unsafe { self.noted(commands) }) else { return };
        // SAFETY: as above; the sets are those that the application has bound.
        let mut down = unsafe { Down::new(self, separate, commands, at) };
        buffer.edit(at, |place| place.point.give_up_sets(&mut down));
    }

    /// The layer has given up, and shaders are about to be bound that it does not note: the application's own run from here on.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn forget_program(&self, commands: vk::CommandBuffer) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.noted(commands) }) else { return };
        // SAFETY: as above; the shaders that are bound next to those make a draw.
        let mut down = unsafe { Down::new(self, separate, commands, 0) };
        buffer.edit(0, |place| {
            place.point.give_up(&mut down);
            place.point.forget_program();
        });
    }

    /// Binds everything as the application has, for what is not followed; the next draw that is has its own again.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn give_back(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((at, (separate, buffer))) = index(point).zip(unsafe { self.noted(commands) }) else { return };
        // SAFETY: as above; the command uses what is bound.
        let mut down = unsafe { Down::new(self, separate, commands, at) };
        buffer.edit(at, |place| {
            // Commands that the device generates are no draw with a number.
            place.draw = Draw::default();
            if place.point.differs {
                place.point.give_back(&mut down);
                place.point.is_dirty = true;
            }
        });
    }

    fn meet_place(&self, separate: &Separate, place: &mut Place, down: &mut Down<'_>) {
        let shaders = place.point.program.clone();
        // SAFETY: destroying it would have invalidated the command buffer that it is bound in (Command Buffer Lifecycle).
        let given = unsafe { separate.programs.get(place.point.pipeline) };
        let Some(program) = shaders.as_deref().or(given).filter(|_| !place.is_unknown) else {
            if place.point.differs {
                place.point.give_back(down);
            }
            place.point.is_dirty = false;
            return;
        };
        place.look_up(separate, &self.hot.gate);
        let found = self.look_at(separate, program, place);
        if found.is_none() && !place.point.differs {
            place.point.is_dirty = false;
            return;
        }
        let nothing = Resolution::default();
        let resolution = found.as_deref().unwrap_or(&nothing);
        // Before it is bound, so that it is held when the driver has it.
        found.iter().for_each(|found| place.found.keep(&separate.resolutions, Arc::clone(found)));
        if place.is_unpushable && resolution.second.is_some() {
            self.tell_second(Left::PushedType, Drawn { program, draw: &place.draw }, resolution);
            return place.point.give_back(down);
        }
        if let Err(Refused::Feedback) = place.point.meet(&needs(program, resolution), down) {
            self.tell_second(Left::TransformFeedback, Drawn { program, draw: &place.draw }, resolution);
            // What runs stays, with the application's own sets.
            let fed = self.feed(separate, (program, resolution), place);
            _ = place.point.meet(&needs(program, &fed), down);
        }
        if found.is_some_and(|found| !found.is_lasting) {
            // The next draw after a bind tries again, also if the same is bound.
            place.point.sets.iter_mut().for_each(|bound| bound.brief = None);
        }
    }

    /// Names why the links are left that a second pipeline is there for.
    fn tell_second(&self, what: Left, program: Drawn<'_>, resolution: &Resolution) {
        let links = resolution.second.iter().flat_map(|(second, _)| second.links());
        links.for_each(|link| self.link_unresolved(what, program, link));
    }

    /// The second pipeline or shaders that run, with the hidden set that they read with these sets, where nothing else may be bound; nothing
    /// where the application's own do. Names the links that are left for want of what would exchange samplers in sets.
    fn feed(
        &self,
        separate: &Separate,
        (program, resolution): (&Program, &Resolution),
        place: &mut Place,
    ) -> Arc<Resolution> {
        let since = separate.resolutions.gone();
        place.share(separate);
        let drawn = Drawn { program, draw: &place.draw };
        let mut wants = self.wants(separate, drawn, &place.point);
        let second = program.splits.find(|second| place.point.has_bound(&second.made));
        let split = second.as_ref().map_or(0, |second| second.mask);
        for want in wants.all.iter().filter(|want| want.wanted != want.given && split & link_bit(want.link) == 0) {
            let (_, _, (set, ..)) = want.at();
            let is_copied = resolution.shadows.iter().any(|(number, _)| *number == set as usize);
            if is_copied || resolution.pushes.iter().any(|(number, _)| *number == set) {
                self.link_unresolved(Left::TransformFeedback, drawn, want.link);
            }
        }
        let compared = second.as_ref().map_or(0, |second| second.compared());
        ask_comparisons(&mut wants.asked, &wants.all, (&[], split | compared));
        let uncompared = may_compare(&wants.asked) & !compared;
        keep_comparisons(&mut wants.asked, &mut wants.all, uncompared);
        let fed = second.and_then(|second| {
            let hidden = self.hidden_for(separate, &second, (&wants.all, &wants.asked), (since, true))?;
            let set = hidden.as_ref().map_or(0, |hidden| hidden.set);
            Some(Resolution { second: Some((second, set)), hidden, since: since.into(), ..Resolution::default() })
        });
        let fed = Arc::new(fed.unwrap_or_default());
        // Before it is bound, so that it is held when the driver has it.
        place.found.keep(&separate.resolutions, Arc::clone(&fed));
        fed
    }
}
