//! What is bound right before a draw.

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::bound::{Bound, Hidden};
use super::commands::{CommandBuffer, Point, bind_point, index};
use super::found::Resolution;
use super::layouts::PipelineShape;
use super::programs::Program;
use super::recipe::{Executable, Second};
use super::sets::Other;
use crate::device::Device;

/// The program of a bind point while both are worked with. It goes back, also when that unwinds.
struct HeldProgram<'p> {
    program: Option<Arc<Program>>,
    point: &'p mut Point,
}

impl Drop for HeldProgram<'_> {
    fn drop(&mut self) {
        if self.point.program.is_none() {
            self.point.program = self.program.take();
        }
    }
}

impl Device {
    /// Binds what was left to be bound for a draw, a dispatch or a trace of rays that is about to be recorded.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn flush(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        let (Some(separate), Some(at)) = (self.separate.as_deref(), index(point)) else { return };
        // SAFETY: the command buffer is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some(buffer) = (unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) }) else { return };
        // What was bound since a device has given up is not known.
        if buffer.is_left(at) && !self.is_broken() {
            let settle = || {
                buffer.with(at, |point| {
                    point.is_left = false;
                    // SAFETY: `point` is of `commands`, which is recording by this function's contract.
                    unsafe { self.settle(separate, commands, point, at) };
                });
            };
            // SAFETY: as above.
            self.guard(settle, || unsafe { self.yield_program(commands, buffer, at) });
        }
    }

    /// Binds the application's pipeline or shaders in place of the layer's own: the layer has just given up, so nothing binds the hidden
    /// set that its own read.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, and `buffer` is its.
    #[cold]
    unsafe fn yield_program(&self, commands: vk::CommandBuffer, buffer: &CommandBuffer, at: usize) {
        buffer.with(at, |point| {
            if point.feeds_back {
                return;
            }
            let program = point.program.as_ref().map_or(0, |program| program.own_pipeline());
            let own = if point.given == 0 { program } else { point.given };
            if let Some(bind) = self.fns.cmd_bind_pipeline.filter(|_| own != 0 && own != point.pipeline) {
                point.pipeline = own;
                // SAFETY: `commands` is recording, by this function's contract; the application has bound the pipeline there.
                unsafe { bind(commands, bind_point(at), vk::Pipeline::from_raw(own)) };
            }
            for shader in point.shaders.iter_mut().filter(|shader| shader.actual != shader.own.handle) {
                shader.actual = shader.own.handle;
                if let Some(bind) = self.fns.cmd_bind_shaders {
                    let own = vk::ShaderEXT::from_raw(shader.actual);
                    // SAFETY: as above, of one shader for one stage.
                    unsafe { bind(commands, 1, &shader.stage, &own) };
                }
            }
        });
    }

    /// Binds everything as the application has, for what is not followed; the next draw that is has its own again.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn give_back(&self, separate: &Separate, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        let Some(at) = index(point) else { return };
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some(buffer) = (unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) }) else { return };
        buffer.with(at, |point| {
            if !point.differs && !point.is_left {
                return;
            }
            self.with_program(separate, point, |program, point| {
                // SAFETY: `commands` is recording and `point` is of it, by this function's contract.
                unsafe { self.settle_all(separate, commands, (program, point, at), &Resolution::default()) };
            });
            // SAFETY: as above.
            unsafe { self.restore(separate, commands, point, at) };
            self.leave(point);
        });
    }

    /// Binds the application's sets again that others stand in for, each with its own layout.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn restore(&self, separate: &Separate, commands: vk::CommandBuffer, point: &mut Point, at: usize) {
        for number in 0..point.sets.len() {
            let bound = point.sets.get(number).filter(|bound| bound.differs());
            let Some(layout) = bound.and_then(|bound| bound.layout.clone()) else { continue };
            let nothing = Resolution::default();
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_set` asks for the same.
            unsafe { self.settle_set(separate, commands, (point, &layout), (at, number), &nothing) };
        }
    }

    /// Works with the pipeline that is bound, if it is known.
    fn with_program<R: Default>(
        &self,
        separate: &Separate,
        point: &mut Point,
        with: impl FnOnce(&Program, &mut Point) -> R,
    ) -> R {
        if point.given != 0 {
            // SAFETY: destroying it would have invalidated the command buffer that it is bound in (Command Buffer Lifecycle).
            let program = unsafe { separate.programs.get(point.given) };
            return program.map(|program| with(program, point)).unwrap_or_default();
        }
        let Some(program) = point.program.take() else { return R::default() };
        let mut held = HeldProgram { program: Some(program), point };
        let HeldProgram { program, point } = &mut held;
        program.as_deref().map(|program| with(program, point)).unwrap_or_default()
    }

    /// Brings what is bound in line with what the pipeline needs.
    ///
    /// # Safety
    ///
    /// `commands` is the valid command buffer of `point`, and recording; a command is about to be recorded there that uses what is bound.
    unsafe fn settle(&self, separate: &Separate, commands: vk::CommandBuffer, point: &mut Point, at: usize) {
        let is_known = self.with_program(separate, point, |program, point| {
            if let Some(resolution) = self.look_at(separate, program, point) {
                // Before it is bound, so that it is held when the driver has it.
                point.found.keep(&separate.resolutions, Arc::clone(&resolution));
                // SAFETY: `commands` is recording and `point` is of it, by this function's contract.
                unsafe { self.settle_all(separate, commands, (program, point, at), &resolution) };
            }
            true
        });
        if !is_known {
            // SAFETY: as above.
            unsafe { self.restore(separate, commands, point, at) };
            point.differs = point.sets.iter().any(Bound::differs);
        }
    }

    /// Brings what is bound in line with a resolution.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_all(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (program, point, at): (&Program, &mut Point, usize),
        resolution: &Resolution,
    ) {
        let wanted = resolution.second.as_ref().map_or(&program.own, |(second, _)| &second.made);
        let waits = point.feeds_back && !point.has_bound(wanted);
        if waits {
            let links = resolution.second.iter().flat_map(|(second, _)| second.links());
            links.for_each(|link| self.link_unresolved("transform-feedback", program, link));
        } else if !point.has_bound(wanted) {
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_program` asks for the same.
            unsafe { self.settle_program(commands, (point, at), wanted) };
        }
        // What is bound has to stay, with the application's own sets.
        let fed = waits.then(|| self.feed(separate, program, point));
        let resolution = fed.as_deref().unwrap_or(resolution);
        point.differs = !point.has_bound(&program.own);
        for number in 0..point.sets.len() {
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_set` asks for the same.
            unsafe { self.settle_set(separate, commands, (point, &program.layout), (at, number), resolution) };
        }
        if let Some((second, hidden)) = resolution.second.as_ref().filter(|(_, hidden)| *hidden != 0) {
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_hidden` asks for the same.
            unsafe { self.settle_hidden(separate, commands, (point, at), second, *hidden) };
        }
    }

    /// The second pipeline or shaders that are bound, with the hidden set that they read with these sets, where no other may be bound;
    /// nothing where the application's own are bound.
    fn feed(&self, separate: &Separate, program: &Program, point: &mut Point) -> Arc<Resolution> {
        let since = separate.resolutions.gone();
        let fed = program.splits.find(|second| point.has_bound(&second.made)).and_then(|second| {
            point.meet(separate);
            let wants = self.wants(separate, program, point);
            let hidden = self.hidden_for(separate, &second, (&wants.all, &wants.asked), since)?;
            let set = hidden.as_ref().map_or(0, |hidden| hidden.set);
            Some(Resolution { second: Some((second, set)), hidden, since, ..Resolution::default() })
        });
        let fed = Arc::new(fed.unwrap_or_default());
        // Before it is bound, so that it is held when the driver has it.
        point.found.keep(&separate.resolutions, Arc::clone(&fed));
        fed
    }

    /// Binds the pipeline or the shaders that are wanted.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_program(
        &self,
        commands: vk::CommandBuffer,
        (point, at): (&mut Point, usize),
        wanted: &Executable,
    ) {
        match (wanted, self.fns.cmd_bind_pipeline, self.fns.cmd_bind_shaders) {
            (Executable::Pipeline(pipeline), Some(bind), _) => {
                point.pipeline = *pipeline;
                // SAFETY: `commands` is recording by this function's contract; it differs from the application's pipeline, which is bound, in the samplers that it
                // reads.
                unsafe { bind(commands, bind_point(at), vk::Pipeline::from_raw(*pipeline)) };
            }
            (Executable::Shaders(wanted), _, Some(bind)) => {
                let (stages, shaders) = point.exchange_shaders(wanted);
                // SAFETY: `commands` is recording by this function's contract; there are as many shaders as stages, which differ from the
                // application's, which are bound, in the samplers that they read.
                unsafe { bind(commands, stages.len() as u32, stages.as_ptr(), shaders.as_ptr()) };
            }
            _ => {}
        }
    }

    /// Binds the hidden set of a split pipeline.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_hidden(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, at): (&mut Point, usize),
        second: &Second,
        set: u64,
    ) {
        if point.hidden.as_ref().is_some_and(|hidden| hidden.is_of(second, set)) {
            return;
        }
        let (Some(bind), Some(twin)) =
            (self.fns.cmd_bind_descriptor_sets, self.twin_of_pipeline(separate, &second.layout))
        else {
            return;
        };
        let raw = vk::DescriptorSet::from_raw(set);
        // SAFETY: the command buffer is recording; the layout is the one that the bound pipeline was made with, compatible with the
        // application's for all sets below.
        unsafe { bind(commands, bind_point(at), twin, second.number() as u32, 1, &raw, 0, std::ptr::null()) };
        point.hide(Hidden { set, layout: Arc::clone(&second.layout) });
    }

    /// Binds what has to be bound at a set number.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn settle_set(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, layout): (&mut Point, &PipelineShape),
        (at, number): (usize, usize),
        resolution: &Resolution,
    ) {
        let Some(bound) = point.sets.get_mut(number) else { return };
        if bound.layout.as_ref().is_none_or(|own| !own.is_compatible(layout, number)) {
            point.differs |= bound.differs();
            return;
        }
        if bound.set == 0 {
            let of_set = |(set, other): &(u32, Other)| (*set as usize == number).then_some(*other);
            let others = memory::collect(resolution.pushes.iter().filter_map(of_set));
            // SAFETY: `commands` is recording and `bound` is of it, by this function's contract; `push_again` asks for the same.
            let is_pushed = unsafe { self.push_again(separate, commands, (bound, layout), (at, number), &others) };
            point.differs |= bound.differs();
            if is_pushed {
                point.show(number, layout);
            }
            return;
        }
        let shadow = resolution.shadows.iter().find(|(set, _)| *set == number);
        let wanted = shadow.map_or(bound.set, |(_, shadow)| *shadow);
        if wanted != bound.actual {
            let twin = self.twin_for_set(separate, layout, number);
            let (Some(bind), Some((twin, _kept))) = (self.fns.cmd_bind_descriptor_sets, twin) else {
                point.differs = true;
                return;
            };
            let set = vk::DescriptorSet::from_raw(wanted);
            // SAFETY: the command buffer is recording; the set is of a layout defined like that of the pipeline at this number, with which
            // all lower sets are compatible, so nothing else is disturbed; the offsets are those of the application's own bind.
            unsafe {
                let offsets = &bound.offsets;
                bind(commands, bind_point(at), twin, number as u32, 1, &set, offsets.len() as u32, offsets.as_ptr());
            }
            bound.actual = wanted;
            point.differs |= bound.differs();
            return point.show(number, layout);
        }
        point.differs |= bound.differs();
    }

    /// Pushes samplers in place of the application's, and its own where they are wanted again. Whether it pushed any.
    ///
    /// # Safety
    ///
    /// As for [`Device::settle`].
    unsafe fn push_again(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (bound, layout): (&mut Bound, &PipelineShape),
        (at, number): (usize, usize),
        others: &[Other],
    ) -> bool {
        let is_at = |at: &(u32, u32)| others.iter().any(|(binding, element, _)| (*binding, *element) == *at);
        let mut next: Vec<Other> = memory::collect(others.iter().copied());
        let now = &bound.pushed;
        let back = now.iter().filter(|(binding, element, _)| !is_at(&(*binding, *element)));
        for (binding, element, _) in back {
            let slot = bound.entry.as_deref().and_then(|entry| {
                let slot = entry.shape.binding(*binding)?.sampler_slot(*element)?;
                Some(entry.get(slot))
            });
            if let Some(own) = slot.filter(|own| *own != 0) {
                next.with_room().push((*binding, *element, own));
            }
        }
        if !bound.repushed {
            next.retain(|other| !now.contains(other));
        }
        let twin = if next.is_empty() { None } else { self.twin_for_set(separate, layout, number) };
        let push = self.fns.cmd_push_descriptor_set.zip(twin);
        if push.is_none() && !next.is_empty() {
            return false;
        }
        bound.repushed = false;
        bound.pushed = memory::collect(others.iter().copied());
        let Some((push, (twin, _kept))) = push else { return false };
        let infos = memory::collect(next.iter().map(|(_, _, sampler)| vk::DescriptorImageInfo {
            sampler: vk::Sampler::from_raw(*sampler),
            ..Default::default()
        }));
        let writes = memory::collect(next.iter().zip(&infos).map(|((binding, element, _), info)| {
            vk::WriteDescriptorSet::default()
                .dst_binding(*binding)
                .dst_array_element(*element)
                .descriptor_type(vk::DescriptorType::SAMPLER)
                .image_info(std::slice::from_ref(info))
        }));
        // SAFETY: the command buffer is recording; the layout is defined like the one that the application pushed with, and only
        // samplers that it has pushed are replaced.
        unsafe { push(commands, bind_point(at), twin, number as u32, writes.len() as u32, writes.as_ptr()) };
        true
    }
}
