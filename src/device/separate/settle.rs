//! Bringing what is bound in line with what was decided, at each command that binds.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::commands::{Binds, Bound, Hidden, Point, bind_point, place};
use super::layouts::PipelineShape;
use super::recipe::{Executable, Variant};
use super::resolution::Resolution;
use super::sets::{Other, SetRecord};
use crate::device::Device;

impl Device {
    /// Chooses what to bind instead of some of the sets that the application is about to bind, from number `first` on.
    fn choose_sets(&self, separate: &Separate, point: &mut Point, numbers: std::ops::Range<usize>) {
        let Some(program) = point.program.clone() else { return };
        let Some(resolution) = self.look_at(separate, &program, point) else { return };
        for (number, shadow) in resolution.shadows.iter().filter(|(number, _)| numbers.contains(number)) {
            if let Some(bound) = point.sets.get_mut(*number) {
                bound.actual = *shadow;
                point.differs = true;
            }
        }
    }

    /// Brings what is bound in line with what the pipeline needs.
    ///
    /// # Safety
    ///
    /// `commands` is the valid command buffer of `point`, and recording.
    unsafe fn settle(&self, separate: &Separate, commands: vk::CommandBuffer, point: &mut Point, at: usize) {
        let Some(program) = point.program.clone() else { return };
        let Some(resolution) = self.look_at(separate, &program, point) else { return };
        let wanted = resolution.variant.as_ref().map_or(&program.own, |(variant, _)| &variant.made);
        let is_bound = point.has_bound(wanted);
        let waits = point.feeds_back && !is_bound;
        if waits {
            let parts = resolution.variant.as_ref().map_or(&[][..], |(variant, _)| &variant.parts);
            parts.iter().for_each(|(link, _)| self.link_unresolved("transform-feedback", &program, *link));
        } else if !is_bound {
            // SAFETY: forwarded from the caller.
            unsafe { self.settle_program(commands, (point, at), wanted) };
        }
        point.differs = waits;
        for number in 0..point.sets.len() {
            // SAFETY: forwarded from the caller.
            unsafe { self.settle_set(separate, commands, (point, &program.layout), (at, number), &resolution) };
        }
        if let Some((variant, hidden)) = resolution.variant.as_ref().filter(|_| !waits) {
            point.differs = true;
            if *hidden != 0 {
                // SAFETY: forwarded from the caller.
                unsafe { self.settle_hidden(separate, commands, (point, at), variant, *hidden) };
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
                // SAFETY: forwarded from the caller; it differs from the application's pipeline, which is bound, in the samplers that it
                // reads.
                unsafe { bind(commands, bind_point(at), vk::Pipeline::from_raw(*pipeline)) };
            }
            (Executable::Shaders(wanted), _, Some(bind)) => {
                let (stages, shaders) = point.exchange_shaders(wanted);
                // SAFETY: forwarded from the caller; as many shaders as stages, which differ from the application's, which are bound, in
                // the samplers that they read.
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
        variant: &Variant,
        set: u64,
    ) {
        let same = |hidden: &Hidden| hidden.set == set && std::ptr::eq(&*hidden.layout, &*variant.layout);
        if point.hidden.as_ref().is_some_and(same) {
            return;
        }
        let (Some(bind), Some(twin)) =
            (self.fns.cmd_bind_descriptor_sets, self.twin_of_pipeline(separate, &variant.layout))
        else {
            return;
        };
        let raw = vk::DescriptorSet::from_raw(set);
        // SAFETY: the command buffer is recording; the layout is the one that the bound pipeline was made with, compatible with the
        // application's for all sets below.
        unsafe { bind(commands, bind_point(at), twin, variant.number() as u32, 1, &raw, 0, std::ptr::null()) };
        point.hide(Hidden { set, layout: Arc::clone(&variant.layout) });
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
            // SAFETY: forwarded from the caller.
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
            let (Some(bind), Some(twin)) = (self.fns.cmd_bind_descriptor_sets, self.twin_of_pipeline(separate, layout))
            else {
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
        let is_at = |place: &(u32, u32)| others.iter().any(|(binding, element, _)| (*binding, *element) == *place);
        let mut next: Vec<Other> = memory::collect(others.iter().copied());
        let now = &bound.pushed;
        let back = now.iter().filter(|(binding, element, _)| !is_at(&(*binding, *element)));
        for (binding, element, _) in back {
            let slot = bound.record.as_deref().and_then(|record| {
                let slot = record.shape.binding(*binding)?.sampler_slot(*element)?;
                Some(record.get(slot))
            });
            if let Some(own) = slot.filter(|own| *own != 0) {
                next.with_room().push((*binding, *element, own));
            }
        }
        if !std::mem::take(&mut bound.repushed) {
            next.retain(|other| !now.contains(other));
        }
        bound.pushed = memory::collect(others.iter().copied());
        if next.is_empty() {
            return false;
        }
        let (Some(push), Some(twin)) = (self.fns.cmd_push_descriptor_set, self.twin_of_pipeline(separate, layout))
        else {
            return false;
        };
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
    pub unsafe fn separate_variant(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> vk::Pipeline {
        // SAFETY: forwarded from the caller.
        let Some(program) = (unsafe { separate.programs.get(pipeline.as_raw()) }) else { return pipeline };
        let Some(variant) = program.splits.current() else { return pipeline };
        // SAFETY: forwarded from the caller.
        let state = place(point).zip(unsafe { separate.state(commands) });
        let no_room = state.is_some_and(|(at, state)| state.with(at, |point| point.is_pushed_beside(&program.layout)));
        match variant.made {
            Executable::Pipeline(other) if !no_room => vk::Pipeline::from_raw(other),
            _ => pipeline,
        }
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
        let Some(at) = place(point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, program) = unsafe { (separate.state(commands), separate.programs.share(pipeline.as_raw())) };
        let Some(state) = state else { return };
        state.with(at, |point| {
            point.program = program;
            point.pipeline = actual.as_raw();
            // Shaders of this bind point are bound no more (vkCmdBindPipeline).
            point.shaders.clear();
            // SAFETY: forwarded from the caller.
            unsafe { self.settle(separate, commands, point, at) };
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
    ) -> Option<Vec<vk::DescriptorSet>> {
        let at = place(binds.point)?;
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands)?, separate.pipeline_shape(binds.layout)?) };
        let first = binds.first as usize;
        state.with(at, |point| {
            // SAFETY: forwarded from the caller.
            unsafe { point.bind(separate, &layout, binds) };
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
        let Some(at) = place(binds.point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands), separate.pipeline_shape(binds.layout)) };
        let (Some(state), Some(layout)) = (state, layout) else { return };
        state.with(at, |point| {
            // SAFETY: forwarded from the caller.
            unsafe {
                point.bind(separate, &layout, binds);
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
        let Some(at) = place(point) else { return };
        // SAFETY: forwarded from the caller.
        let Some(state) = (unsafe { separate.state(commands) }) else { return };
        // SAFETY: forwarded from the caller.
        state.with(at, |point| unsafe { self.settle(separate, commands, point, at) });
    }

    /// Takes over pushed descriptors, after they were pushed: `write` puts them into the record.
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
        write: impl FnOnce(&SetRecord),
    ) {
        let Some(at) = place(point) else { return };
        // SAFETY: forwarded from the caller.
        let (state, layout) = unsafe { (separate.state(commands), separate.pipeline_shape(layout)) };
        let (Some(state), Some(layout)) = (state, layout) else { return };
        state.with(at, |point| {
            let Some(record) = point.push(separate, &layout, number as usize) else { return };
            write(record);
            // SAFETY: forwarded from the caller.
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
        place: (vk::PipelineLayout, u32),
        writes: &[vk::WriteDescriptorSet<'_>],
    ) {
        for point in points {
            // SAFETY: forwarded from the caller.
            unsafe {
                self.pushed(separate, commands, point, place, |record| {
                    writes.iter().for_each(|write| record.take(write));
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
        place: (vk::PipelineLayout, u32),
        data: *const c_void,
    ) {
        // SAFETY: a valid template, which is not destroyed during the command.
        let Some(runs) = (unsafe { separate.templates.share(template.as_raw()) }) else { return };
        // SAFETY: forwarded from the caller.
        unsafe {
            self.pushed(separate, commands, runs.bind_point, place, |record| runs.apply(record, data));
        }
    }
}
