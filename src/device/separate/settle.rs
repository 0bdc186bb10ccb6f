//! Bringing what is bound in line with what was decided, at each command that binds.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::bound::Bound;
use super::commands::{Actual, Binds, Hidden, Point, bind_point, index};
use super::found::Resolution;
use super::layouts::PipelineShape;
use super::programs::Program;
use super::recipe::{Executable, Second};
use super::sets::{Brief, Other, SetEntry};
use crate::device::Device;
use crate::device::hot::follow;

impl Device {
    /// Chooses what to bind instead of some of the sets that the application is about to bind, from number `first` on.
    fn choose_sets(&self, separate: &Separate, point: &mut Point, numbers: std::ops::Range<usize>) {
        let resolution = self.with_program(separate, point, |program, point| self.look_at(separate, program, point));
        let Some(resolution) = resolution else { return };
        for (number, shadow) in resolution.shadows.iter().filter(|(number, _)| numbers.contains(number)) {
            if let Some(bound) = point.sets.get_mut(*number) {
                bound.actual = *shadow;
                point.differs = true;
            }
        }
        point.chosen = Some(resolution);
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
        let result = with(&program, point);
        point.program.get_or_insert(program);
        result
    }

    /// Brings what is bound in line with what the pipeline needs.
    ///
    /// # Safety
    ///
    /// `commands` is the valid command buffer of `point`, and recording.
    unsafe fn settle(&self, separate: &Separate, commands: vk::CommandBuffer, point: &mut Point, at: usize) {
        self.with_program(separate, point, |program, point| {
            let chosen = point.chosen.take();
            let Some(resolution) = chosen.or_else(|| self.look_at(separate, program, point)) else { return };
            // Before it is bound, so that it is held when the driver has it.
            point.found.keep(&separate.resolutions, Arc::clone(&resolution));
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract.
            unsafe { self.settle_all(separate, commands, (program, point, at), &resolution) };
        });
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
        let mut is_bound = point.has_bound(wanted);
        if let Executable::Pipeline(wanted) = wanted {
            let other = if *wanted == program.handle { 0 } else { *wanted };
            is_bound = is_bound || point.awaits_sets(program);
            if !program.splits.expects(other) && point.is_complete(program) {
                program.splits.want(other);
                // From now on the bind of this pipeline is looked at wherever it is.
                self.hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
            }
        }
        let waits = point.feeds_back && !is_bound;
        if waits {
            let links = resolution.second.iter().flat_map(|(second, _)| second.links());
            links.for_each(|link| self.link_unresolved("transform-feedback", program, link));
        } else if !is_bound {
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_program` asks for the same.
            unsafe { self.settle_program(commands, (point, at), wanted) };
        }
        point.differs = waits || !point.has_bound(&program.own);
        for number in 0..point.sets.len() {
            // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_set` asks for the same.
            unsafe { self.settle_set(separate, commands, (point, &program.layout), (at, number), resolution) };
        }
        if let Some((second, hidden)) = resolution.second.as_ref().filter(|_| !waits) {
            point.differs = true;
            if *hidden != 0 {
                // SAFETY: `commands` is recording and `point` is of it, by this function's contract; `settle_hidden` asks for the
                // same.
                unsafe { self.settle_hidden(separate, commands, (point, at), second, *hidden) };
            }
        }
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

    /// The pipeline to bind instead of `pipeline`: one that is split stays so, unless there is no room for its hidden set.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    pub unsafe fn separate_second(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> vk::Pipeline {
        // SAFETY: `pipeline` is valid by this function's contract, so it is not destroyed and its entry stays meanwhile.
        let Some(program) = (unsafe { separate.programs.get(pipeline.as_raw()) }) else { return pipeline };
        let (second, expected) = (program.splits.current_pipeline(), program.splits.expected());
        if second | expected == 0 {
            return pipeline;
        }
        // SAFETY: `commands` is recording by this function's contract, so it is not freed meanwhile.
        let buffer = index(point).zip(unsafe { separate.buffer(commands) });
        let wanted = |point: &mut Point| match () {
            () if point.is_pushed_beside(&program.layout) => 0,
            () if expected != 0 && !point.is_complete(program) => expected,
            () => second,
        };
        let wanted = buffer.map_or(second, |(at, buffer)| buffer.with(at, wanted));
        if wanted == 0 { pipeline } else { vk::Pipeline::from_raw(wanted) }
    }

    /// Takes over a bound pipeline, after `actual` was bound for it.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    pub unsafe fn separate_pipeline(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (pipeline, actual): (vk::Pipeline, vk::Pipeline),
    ) {
        let Some(at) = index(point) else { return };
        // SAFETY: `commands` is recording and `pipeline` valid, by this function's contract, so neither goes meanwhile.
        let (buffer, program) = unsafe { (separate.buffer(commands), separate.programs.get(pipeline.as_raw())) };
        let given = program.map_or(0, |program| program.handle);
        let Some(buffer) = buffer else { return };
        let is_whole = buffer.is_whole();
        buffer.with(at, |point| {
            (point.program, point.given) = (None, given);
            if !is_whole {
                point.meet_program(separate);
                self.began_before(point);
            }
            point.pipeline = actual.as_raw();
            // Sets that need nothing have to correct what was expected of them.
            point.differs |= actual != pipeline;
            // Shaders of this bind point are bound no more (vkCmdBindPipeline).
            point.shaders.clear();
            // SAFETY: `point` is of `commands`, which is recording by this function's contract.
            unsafe { self.settle(separate, commands, point, at) };
        });
    }

    /// Takes note that shaders are about to be bound of which nothing is known: for them everything has to be what the application has
    /// bound.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn separate_unknown(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
    ) {
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some((at, buffer)) = index(point).zip(unsafe { separate.buffer(commands) }) else { return };
        buffer.with(at, |point| {
            self.with_program(separate, point, |program, point| {
                // SAFETY: `commands` is recording and `point` is of it, by this function's contract.
                unsafe { self.settle_all(separate, commands, (program, point, at), &Resolution::default()) };
            });
            (point.program, point.given, point.pipeline) = (None, 0, 0);
            point.shaders.clear();
        });
    }

    /// Takes over sets that are about to be bound. Returns what to bind instead of them, if anything.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets and the layout are valid.
    pub unsafe fn separate_binds(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        binds: &Binds<'_>,
    ) -> Option<Actual> {
        let at = index(binds.point)?;
        // SAFETY: `commands` is recording and the layout of `binds` valid, by this function's contract, so neither goes meanwhile.
        let (buffer, layout) = unsafe { (separate.buffer(commands)?, separate.layout_at(binds.layout)?) };
        let first = binds.first as usize;
        if !buffer.is_whole() {
            self.began_before_unseen(buffer, at);
        }
        buffer.with(at, |point| {
            // SAFETY: the sets of `binds` are valid by this function's contract.
            unsafe { point.bind(separate, &self.hot.gate, layout, binds) };
            self.choose_sets(separate, point, first..first + binds.sets.len());
            point.actual(binds)
        })
    }

    /// Takes over sets that were bound as the application gave them.
    ///
    /// # Safety
    ///
    /// As for [`Device::separate_binds`].
    pub unsafe fn separate_bound_as_given(&self, separate: &Separate, commands: vk::CommandBuffer, binds: &Binds<'_>) {
        let Some(at) = index(binds.point) else { return };
        // SAFETY: `commands` is recording and the layout of `binds` valid, as `separate_binds` asks, so neither goes meanwhile.
        let (buffer, layout) = unsafe { (separate.buffer(commands), separate.layout_at(binds.layout)) };
        let (Some(buffer), Some(layout)) = (buffer, layout) else { return };
        buffer.with(at, |point| {
            // SAFETY: the sets of `binds` are valid, as `separate_binds` asks, and `point` is of `commands`, which is recording.
            unsafe {
                point.bind(separate, &self.hot.gate, layout, binds);
                self.settle(separate, commands, point, at);
            }
        });
    }

    /// Brings the rest in line after sets were bound.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn separate_bound(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
    ) {
        let Some(at) = index(point) else { return };
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some(buffer) = (unsafe { separate.buffer(commands) }) else { return };
        // SAFETY: `point` is of `commands`, which is recording by this function's contract.
        buffer.with(at, |point| unsafe { self.settle(separate, commands, point, at) });
    }

    /// Takes over pushed descriptors, after they were pushed: `write` puts them into the entry.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the layout is valid.
    unsafe fn pushed(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (layout, number): (vk::PipelineLayout, u32),
        write: impl FnOnce(&SetEntry),
    ) {
        let Some(at) = index(point) else { return };
        // SAFETY: `commands` is recording and `layout` valid, by this function's contract, so neither goes meanwhile.
        let (buffer, layout) = unsafe { (separate.buffer(commands), separate.pipeline_shape(layout)) };
        let (Some(buffer), Some(layout)) = (buffer, layout) else { return };
        buffer.with(at, |point| {
            let Some(entry) = point.push(&layout, number as usize) else { return };
            write(entry);
            let brief = Brief { stamp: Brief::PUSHED, ..entry.brief(&self.hot.gate) };
            if let Some(bound) = point.sets.get_mut(number as usize) {
                bound.brief = brief;
            }
            // SAFETY: `point` is of `commands`, which is recording by this function's contract.
            unsafe { self.settle(separate, commands, point, at) };
        });
    }

    /// Takes over pushed descriptors, after they were pushed.
    ///
    /// # Safety
    ///
    /// The arguments of a valid push.
    pub unsafe fn separate_push(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        points: impl IntoIterator<Item = vk::PipelineBindPoint>,
        at: (vk::PipelineLayout, u32),
        writes: &[vk::WriteDescriptorSet<'_>],
    ) {
        for point in points {
            // SAFETY: the command buffer, the layout and the writes are those of a valid push, by this function's contract.
            unsafe {
                self.pushed(separate, commands, point, at, |entry| {
                    writes.iter().for_each(|write| entry.take(write));
                });
            }
        }
    }

    /// Takes over descriptors that were pushed with a template.
    ///
    /// # Safety
    ///
    /// The arguments of a valid push.
    pub unsafe fn separate_push_template(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        template: vk::DescriptorUpdateTemplate,
        at: (vk::PipelineLayout, u32),
        data: *const c_void,
    ) {
        // SAFETY: a valid template, which is not destroyed during the command.
        let Some(runs) = (unsafe { separate.templates.share(template.as_raw()) }) else { return };
        // SAFETY: the command buffer and the layout are those of a valid push, and `data` is for the template of `runs`, by this
        // function's contract.
        unsafe {
            self.pushed(separate, commands, runs.bind_point, at, |entry| runs.apply(entry, data));
        }
    }
}
