//! Binds and pushes that are no leaves: they take note of what the application binds, and let what stands in for it go down in its place.

use std::ffi::c_void;

use ash::vk::{self, Handle};

use super::Separate;
use super::commands::{Actual, Binds, Point, index};
use super::follow::Follow;
use super::sets::{Brief, SetEntry};
use crate::device::Device;

impl Device {
    /// Takes over a pipeline that is about to be bound. Returns the one to bind.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    pub unsafe fn separate_pipeline(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> vk::Pipeline {
        let Some(at) = index(point) else { return pipeline };
        // SAFETY: `commands` is recording and `pipeline` valid, by this function's contract, so neither goes meanwhile.
        let (buffer, program) = unsafe { (separate.buffer(commands), separate.programs.get(pipeline.as_raw())) };
        let Some(buffer) = buffer else { return pipeline };
        let is_whole = buffer.is_whole();
        let taken = buffer.edit(at, |point| {
            point.take_unknown(pipeline);
            match program {
                Some(program) if is_whole => {
                    point.renew(separate, &self.hot.gate);
                    point.refresh(separate, &self.hot.gate);
                    return self.take_pipeline(separate, program, point);
                }
                Some(program) => {
                    point.given = program.handle;
                    self.began_before(program);
                }
                None if point.differs => self.leave(point),
                None => {}
            }
            pipeline.as_raw()
        });
        vk::Pipeline::from_raw(taken.unwrap_or(pipeline.as_raw()))
    }

    /// Takes note of a pipeline that is about to be bound, with shaders of which nothing is known: for them everything has to be what the
    /// application has bound.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn separate_unknown(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, pipeline): (vk::PipelineBindPoint, vk::Pipeline),
    ) {
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some((at, buffer)) = index(point).zip(unsafe { separate.buffer(commands) }) else { return };
        buffer.with(at, |point| {
            point.take_unknown(pipeline);
            if point.differs {
                self.leave(point);
            }
        });
    }

    /// Takes over sets that are about to be bound. Returns what to bind instead of them, if anything.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets are valid, and the layout is null or valid.
    pub unsafe fn separate_binds(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        binds: &Binds<'_>,
    ) -> Option<Actual> {
        let first = binds.first as usize;
        // SAFETY: `commands` is recording and the layout null or valid, by this function's contract, so neither goes meanwhile.
        unsafe {
            let layout = separate.layout_at(binds.layout);
            self.take_sets(separate, commands, (binds.point, layout.is_some()), |point| {
                // SAFETY: the sets of `binds` are valid by this function's contract.
                layout.iter().for_each(|layout| point.bind(separate, &self.hot.gate, layout, binds));
                match self.follow_program(separate, point, first..first + binds.sets.len()) {
                    Follow::Others => point.actual(binds),
                    _ => None,
                }
            })
        }
    }

    /// Takes over sets that were bound as the application gave them.
    ///
    /// # Safety
    ///
    /// As for [`Device::separate_binds`].
    pub unsafe fn separate_bound_as_given(&self, separate: &Separate, commands: vk::CommandBuffer, binds: &Binds<'_>) {
        // SAFETY: `commands` is recording and the layout null or valid, as `separate_binds` asks, so neither goes meanwhile.
        unsafe {
            let layout = separate.layout_at(binds.layout);
            self.take_sets(separate, commands, (binds.point, layout.is_some()), |point| {
                // SAFETY: the sets of `binds` are valid, as `separate_binds` asks.
                layout.iter().for_each(|layout| point.bind(separate, &self.hot.gate, layout, binds));
                self.follow_program(separate, point, 0..0);
            });
        }
    }

    /// Takes over what is bound or pushed to set numbers, unless it is not known what else is bound. With a layout that is not known, which
    /// may be null (VkBindDescriptorSetsInfo, `layout`), nothing is known of any set any more.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    unsafe fn take_sets<R: Default>(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        (point, is_known): (vk::PipelineBindPoint, bool),
        take: impl FnOnce(&mut Point) -> R,
    ) -> R {
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let Some((at, buffer)) = index(point).zip(unsafe { separate.buffer(commands) }) else { return R::default() };
        let is_whole = buffer.is_whole();
        buffer.with(at, |point| {
            if !is_whole {
                if point.given == 0 && point.program.is_none() {
                    self.began_before_unseen();
                }
                return R::default();
            }
            point.renew(separate, &self.hot.gate);
            if is_known {
                return take(point);
            }
            self.unknown_layout();
            point.forget_sets();
            self.follow_program(separate, point, 0..0);
            R::default()
        })
    }

    /// Takes note that nothing is known of the sets that are bound.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn separate_forget(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
    ) {
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let buffer = unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) };
        let Some((at, buffer)) = index(point).zip(buffer) else { return };
        buffer.with(at, |point| {
            point.forget_sets();
            self.follow_program(separate, point, 0..0);
        });
    }

    /// Takes note that transform feedback is active, or no more.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn set_feedback(&self, separate: &Separate, commands: vk::CommandBuffer, active: bool) {
        // SAFETY: `commands` is recording by this function's contract, so it is not freed while `buffer` is used.
        let buffer = unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) };
        let Some((at, buffer)) = index(vk::PipelineBindPoint::GRAPHICS).zip(buffer) else { return };
        buffer.with(at, |point| {
            point.feeds_back = active;
            self.follow_program(separate, point, 0..0);
        });
    }

    /// Takes over pushed descriptors, after they were pushed: `write` puts them into the entry.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the layout is null or valid.
    unsafe fn pushed(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (layout, number): (vk::PipelineLayout, u32),
        write: impl FnOnce(&SetEntry),
    ) {
        // SAFETY: `layout` is null or valid, by this function's contract, so it does not go meanwhile.
        let layout = unsafe { separate.pipeline_shape(layout) };
        let push = |point: &mut Point| {
            if let Some(entry) = layout.as_ref().and_then(|layout| point.push(layout, number as usize)) {
                write(entry);
                let brief = Brief { stamp: Brief::PUSHED, ..entry.brief(&self.hot.gate) };
                if let Some(bound) = point.sets.get_mut(number as usize) {
                    bound.brief = brief;
                }
                point.sum_up();
            }
            self.follow_program(separate, point, 0..0);
        };
        // SAFETY: `commands` is recording, by this function's contract.
        unsafe { self.take_sets(separate, commands, (point, layout.is_some()), push) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::separate::bound::Bound;
    use crate::device::separate::commands::LastLayout;
    use crate::device::separate::found::Resolutions;

    /// Names every member, so that a new one has to say here what a beginning leaves of it.
    #[test]
    fn a_beginning_leaves_nothing_of_what_was_recorded() {
        let bound = || Bound { set: 1, actual: 2, offsets: vec![3], has_more: true, ..Bound::default() };
        let last = LastLayout { handle: 1, at: 2, gone: 3 };
        let mut point = Point {
            given: 1,
            quiet_at: 2,
            held: [3; 8],
            has_loose: true,
            last,
            with_last: 4,
            hidden_from: 5,
            summary: 6,
            has_pushes: true,
            time: 7,
            pipeline: 8,
            sets: vec![bound(), bound()],
            differs: true,
            is_left: true,
            feeds_back: true,
            ..Point::default()
        };
        point.clear();
        let Point {
            program,
            given,
            quiet_at,
            held,
            has_loose,
            last: kept,
            with_last,
            hidden_from,
            summary,
            has_pushes,
            found,
            time,
            pipeline,
            shaders,
            sets,
            hidden,
            differs,
            is_left,
            feeds_back,
        } = point;
        assert!(
            program.is_none() && !found.has_room(&Resolutions::default()) && shaders.is_empty() && hidden.is_none()
        );
        assert_eq!([has_loose, has_pushes, differs, is_left, feeds_back], [false; 5]);
        assert_eq!([given, quiet_at, summary, pipeline, u64::from(with_last)], [0; 5]);
        assert_eq!((held, hidden_from), ([0; 8], usize::MAX));
        // What does not depend on what was recorded.
        assert_eq!((kept.handle, time), (last.handle, 7));
        let is_clear = |bound: &Bound| {
            let nothing = (bound.set, bound.actual, bound.offsets.len(), bound.pushed.len()) == (0, 0, 0, 0);
            nothing && bound.layout.is_none() && bound.entry.is_none() && !bound.has_more && !bound.repushed
        };
        assert!(sets.iter().all(is_clear));
    }
}
