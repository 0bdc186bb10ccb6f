//! Binds: what the application binds is noted, and goes down as it came.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind as bind;
use samplin_bind::Pushed;

use super::Separate;
use super::commands::{CommandBuffer, Place, index};
use super::layouts::PipelineShape;
use super::programs::Program;
use super::pushes;
use super::sets::SetEntry;
use crate::device::Device;
use crate::device::hot::Hot;
use crate::device::hot::follow;

/// Sets that the application binds.
#[derive(Clone, Copy)]
pub struct Binds<'a> {
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// Number of the first set.
    pub first: u32,
    /// The sets.
    pub sets: &'a [vk::DescriptorSet],
    /// Dynamic offsets of all of them.
    pub offsets: &'a [u32],
}

impl<'a> Binds<'a> {
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
    pub layout: vk::PipelineLayout,
    /// Set number.
    pub set: u32,
    /// What is pushed.
    pub descriptors: Descriptors<'a>,
}

/// Descriptors, as a command has them.
#[derive(Clone, Copy)]
pub enum Descriptors<'a> {
    /// `pDescriptorWrites`.
    Writes(&'a [vk::WriteDescriptorSet<'a>]),
    /// `descriptorUpdateTemplate` and `pData`.
    Template(vk::DescriptorUpdateTemplate, *const c_void),
}

impl Hot {
    /// Whether binds have to be noted: something may conflict that pipelines join, or a pipeline reads samplers of the layer's own.
    #[inline(always)]
    pub fn follows_binds(&self) -> bool {
        match self.follow.load(Ordering::Acquire) {
            follow::NONE => false,
            follow::LINKED => self.gate.must_look(),
            _ => true,
        }
    }
}

impl Device {
    /// What is noted of a command buffer, if binds are.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer while the references are used.
    #[inline(always)]
    pub(super) unsafe fn noted(&self, commands: vk::CommandBuffer) -> Option<(&Separate, &CommandBuffer)> {
        let separate = self.separate.as_deref()?;
        // SAFETY: the command buffer is valid while the references are used, by this function's contract, so it is not freed meanwhile.
        Some((separate, unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) }?))
    }

    /// [`Device::noted`] for a bind; a command buffer that was begun before binds were noted is taken note of now.
    ///
    /// # Safety
    ///
    /// As for [`Device::noted`].
    #[inline(always)]
    pub(super) unsafe fn noted_now(&self, commands: vk::CommandBuffer) -> Option<(&Separate, &CommandBuffer)> {
        // SAFETY: the command buffer is valid, by this function's contract.
        unsafe { self.noted(commands).or_else(|| self.note_buffer(commands)) }
    }

    /// # Safety
    ///
    /// As for [`Device::noted`].
    #[cold]
    #[inline(never)]
    unsafe fn note_buffer(&self, commands: vk::CommandBuffer) -> Option<(&Separate, &CommandBuffer)> {
        let separate = self.separate.as_deref()?;
        // SAFETY: the command buffer is valid while the references are used, by this function's contract.
        Some((separate, self.ground.guard(|| unsafe { separate.buffer(commands) }, || None)?))
    }

    /// Notes a bind of a pipeline. Whether it has to go down: one that others run instead of is bound by the next draw. Also when the layer has
    /// given up, because then a draw may still have to bind one.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    #[inline(always)]
    pub unsafe fn note_pipeline(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> bool {
        let Some(at) = index(point) else { return true };
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.noted_now(commands) }) else { return true };
        let is_split = || {
            // SAFETY: the pipeline is valid by this function's contract, so it is not destroyed meanwhile.
            let program = unsafe { separate.programs.get(pipeline.as_raw()) };
            program.is_some_and(|program| program.splits.current_pipeline() != 0)
        };
        let may_stay =
            self.ground.hot.follow.load(Ordering::Acquire) == follow::ALL && !self.ground.is_broken() && is_split();
        let goes_down = buffer.edit(at, |place| {
            place.is_unknown = false;
            if may_stay && !place.point.feeds_back && place.point.keep_pipeline(pipeline.as_raw()) {
                return false;
            }
            place.point.bind_pipeline(pipeline.as_raw());
            true
        });
        goes_down.unwrap_or_else(|| {
            // SAFETY: as above.
            let program = unsafe { separate.programs.get(pipeline.as_raw()) };
            self.note_late(buffer, at, program);
            true
        })
    }

    /// [`Device::note_pipeline`] for a pipeline that nothing stands in for, in a command buffer of which all is known. Whether it was that.
    ///
    /// # Safety
    ///
    /// As for [`Device::note_pipeline`].
    #[inline(always)]
    pub unsafe fn note_own_pipeline(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> bool {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(point).zip(unsafe { self.noted(commands) });
        if self.ground.hot.follow.load(Ordering::Acquire) != follow::LINKED {
            // SAFETY: the pipeline is valid by this function's contract, so it is not destroyed meanwhile.
            let program = noted.and_then(|(_, (separate, _))| unsafe { separate.programs.get(pipeline.as_raw()) });
            if program.is_none_or(|program| program.splits.current_pipeline() != 0) {
                return false;
            }
        }
        let note = |place: &mut Place| {
            place.is_unknown = false;
            place.point.bind_pipeline(pipeline.as_raw());
        };
        noted.is_some_and(|(at, (_, buffer))| buffer.edit(at, note).is_some())
    }

    /// [`Device::note_sets`] for the most common ones, see [`bind::Point::bind_sets_alike`]. Whether it was that.
    ///
    /// # Safety
    ///
    /// As for [`Device::note_sets`].
    #[inline(always)]
    pub unsafe fn note_sets_alike(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        binds: Binds<'_>,
    ) -> bool {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(point).zip(unsafe { self.noted(commands) });
        let Some((at, (separate, buffer))) = noted else { return false };
        if let ([set], true) = (binds.sets, separate.has_shadows()) {
            // SAFETY: the set is valid by this function's contract, so it is not freed meanwhile.
            let entry = unsafe { separate.sets.get_in_line(set.as_raw()) };
            if entry.is_some_and(|entry| entry.is_guarded.load(Ordering::Acquire)) {
                return false;
            }
        }
        let sets = binds.sets.iter().map(|set| set.as_raw());
        buffer.edit(at, |place| place.point.bind_sets_alike(binds.noted(separate, true), sets)).unwrap_or(false)
    }

    /// Names what is not repaired of a pipeline that is bound where not all is known that is.
    #[cold]
    #[inline(never)]
    fn note_late(&self, buffer: &CommandBuffer, at: usize, program: Option<&Program>) {
        buffer.edit_late(at, |place| {
            let Some(program) = program.filter(|program| place.point.pipeline != program.handle) else { return };
            place.point.pipeline = program.handle;
            self.ground.guard(|| self.began_before(program), || ());
        });
    }

    /// Notes a bind of a pipeline with shaders of which nothing is known.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn note_unknown(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(point).zip(unsafe { self.noted(commands) });
        noted.map(|(at, (_, buffer))| {
            buffer.edit(at, |place| {
                place.is_unknown = true;
                place.point.bind_pipeline(pipeline.as_raw());
            })
        });
    }

    /// Notes a bind of sets. Whether it has to go down: a set with copies need not, if `may_stay`, as the next draw binds it or one of these.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets are valid, and the layout is null or valid.
    #[must_use]
    #[inline(always)]
    pub unsafe fn note_sets(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        (binds, may_stay): (Binds<'_>, bool),
    ) -> bool {
        let Some(at) = index(point) else { return true };
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.noted_now(commands) }) else { return true };
        let goes_down = match binds.sets {
            [set] if may_stay && separate.has_shadows() => {
                // SAFETY: the sets are valid by this function's contract, so they are not freed meanwhile.
                unsafe { separate.sets.get_in_line(set.as_raw()) }.is_none_or(|entry| !entry.has_shadows())
            }
            _ => true,
        };
        let noted = buffer.edit(at, |place| {
            let noted = binds.noted(separate, goes_down);
            let find = || {
                // SAFETY: the layout is null or valid by this function's contract.
                unsafe { separate.pipeline_shape(binds.layout) }.or_else(|| {
                    self.unknown_layout();
                    None
                })
            };
            place.point.bind_sets(noted, binds.sets.iter().map(|set| set.as_raw()), find)
        });
        match noted {
            Some(is_noted) => goes_down || !is_noted,
            None => {
                self.note_late_sets(buffer, at);
                true
            }
        }
    }

    /// Says that sets are bound for a pipeline that was bound when nothing was noted.
    #[cold]
    #[inline(never)]
    fn note_late_sets(&self, buffer: &CommandBuffer, at: usize) {
        let is_unseen = |place: &mut Place| place.point.pipeline == 0 && place.point.program.is_none();
        if self.ground.hot.gate.must_look() && buffer.edit_late(at, is_unseen) == Some(true) {
            self.began_before_unseen();
        }
    }

    /// Notes descriptors that were pushed.
    ///
    /// # Safety
    ///
    /// The arguments of a valid push to a command buffer in the recording state.
    pub unsafe fn note_push(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pushes: Pushes<'_>) {
        // SAFETY: the command buffer is recording, by this function's contract, and the layout is null or valid.
        let (noted, layout) = unsafe {
            (self.noted(commands), self.separate.as_deref().and_then(|separate| separate.pipeline_shape(pushes.layout)))
        };
        let Some((at, (separate, buffer))) = index(point).zip(noted) else { return };
        buffer.edit(at, |place| {
            let number = pushes.set as usize;
            let Some(layout) = layout else {
                self.unknown_layout();
                return place.point.forget_sets();
            };
            let Place { point, is_unpushable, .. } = place;
            let shape = layout.sets.get(number).and_then(Option::as_ref);
            let content = || shape.map(|shape| SetEntry::new(shape.clone(), None, 0).into());
            point.push(&layout, number, content, |pushed, entry| {
                // SAFETY: the descriptors are those of a valid push, by this function's contract.
                *is_unpushable |= !unsafe { separate.take_push(pushes.descriptors, (&layout, number), pushed, entry) };
            });
        });
    }

    /// Notes that nothing is known of the sets that are bound.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn note_buffers(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(point).zip(unsafe { self.noted(commands) });
        noted.map(|(at, (_, buffer))| buffer.edit(at, |place| place.point.forget_sets()));
    }

    /// Notes that transform feedback is active, or no more.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state.
    pub unsafe fn note_feedback(&self, commands: vk::CommandBuffer, active: bool) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let noted = index(vk::PipelineBindPoint::GRAPHICS).zip(unsafe { self.noted(commands) });
        noted.map(|(at, (_, buffer))| buffer.edit(at, |place| place.point.feed_back(active)));
    }

    /// The bind point that the pushes of a template are for.
    ///
    /// # Safety
    ///
    /// `template` is valid.
    pub unsafe fn push_point(&self, template: vk::DescriptorUpdateTemplate) -> Option<vk::PipelineBindPoint> {
        // SAFETY: the template is valid by this function's contract, so it is not destroyed meanwhile.
        unsafe { self.separate.as_deref()?.templates.get(template.as_raw()) }.map(|runs| runs.bind_point)
    }
}

impl Separate {
    /// Takes over descriptors that were pushed. Whether all of them are known.
    ///
    /// # Safety
    ///
    /// The descriptors of a valid push to the set of this number.
    unsafe fn take_push(
        &self,
        descriptors: Descriptors<'_>,
        (layout, number): (&PipelineShape, usize),
        pushed: &mut Pushed,
        entry: Option<&SetEntry>,
    ) -> bool {
        let Some(shape) = layout.sets.get(number).and_then(Option::as_deref) else { return false };
        match descriptors {
            // SAFETY: the writes are of a valid push by this function's contract.
            Descriptors::Writes(writes) => writes.iter().fold(true, |all, write| unsafe {
                entry.into_iter().for_each(|entry| entry.take(write));
                pushes::write(shape, write, pushed) && all
            }),
            Descriptors::Template(template, data) => {
                // SAFETY: a valid template, which is not destroyed during the command.
                let Some(runs) = (unsafe { self.templates.share(template.as_raw()) }) else { return false };
                // SAFETY: `data` is for the template of `runs`, by this function's contract.
                unsafe {
                    entry.into_iter().for_each(|entry| runs.apply(entry, data));
                    runs.runs
                        .iter()
                        .map(|run| pushes::run(shape, run, data, pushed))
                        .fold(true, |all, is_known| all & is_known)
                }
            }
        }
    }
}
