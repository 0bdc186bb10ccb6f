//! Binds for which nothing has to be repaired: the part of the hooks that is a leaf.
//!
//! Almost every bind ends here, so nothing here allocates, locks or counts references. What cannot be done so, or may have to be
//! repaired, is left to the slow way, which takes the same bind over from the beginning.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use super::Separate;
use super::commands::{Binds, CommandBuffer, LastLayout, Point, index};
use super::found::Key;
use super::programs::Program;
use super::sets::Brief;
use crate::device::Device;
use crate::device::hot::follow;

impl Device {
    /// Whether binds have to be followed: something may conflict that pipelines join, or a pipeline reads samplers of the layer's own.
    #[inline(always)]
    pub fn follows_binds(&self) -> bool {
        match self.hot.follow.load(Ordering::Acquire) {
            follow::NONE => false,
            follow::LINKED => self.hot.gate.must_look(),
            _ => true,
        }
    }

    /// What is followed, and the state of a command buffer that was begun meanwhile.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer while the references are used.
    #[inline(always)]
    unsafe fn followed(&self, commands: vk::CommandBuffer) -> Option<(&Separate, &CommandBuffer)> {
        let separate = self.separate.as_deref().filter(|separate| !separate.force.any())?;
        // SAFETY: the command buffer is valid while the references are used, by this function's contract, so it is not freed meanwhile.
        Some((separate, unsafe { separate.commands.buffers.get(commands.as_raw()) }?))
    }

    /// Whether a pipeline needs nothing but what is bound with it.
    #[inline(always)]
    fn needs_nothing(&self, separate: &Separate, program: &Program, point: &mut Point) -> bool {
        point.refresh(separate, &self.hot.gate);
        if program.splits.mask() != 0 {
            return false;
        }
        program.is_plain()
            || (!self.records_all() && self.is_legal(program, point))
            || Key::of(program, point).is_some_and(|key| separate.resolutions.is_nothing(&key))
    }

    /// Takes over the bind of a pipeline, if nothing but that is to be done.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    #[inline(never)]
    pub unsafe fn follow_pipeline(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> bool {
        let Some(at) = index(point) else { return true };
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.followed(commands) }) else { return false };
        // SAFETY: the pipeline is valid by this function's contract, so it is not destroyed and its entry stays meanwhile.
        let Some(program) = (unsafe { separate.programs.get(pipeline.as_raw()) }) else { return false };
        buffer.leaf(at, |point| {
            let is_known = point.shaders.is_empty() && !point.differs && point.time == separate.resolutions.time();
            if !is_known || !self.needs_nothing(separate, program, point) {
                return false;
            }
            point.given = program.handle;
            point.linked = program.linked.filter(|_| !self.records_all());
            point.pipeline = program.handle;
            true
        })
    }

    /// Takes over the bind of sets, if nothing but that is to be done.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets and the layout are valid.
    #[inline(never)]
    pub unsafe fn follow_sets(&self, commands: vk::CommandBuffer, binds: &Binds<'_>) -> bool {
        let Some(at) = index(binds.point) else { return true };
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.followed(commands) }) else { return false };
        buffer.leaf(at, |point| {
            if point.differs || point.time != separate.resolutions.time() {
                return false;
            }
            // SAFETY: the sets and the layout of `binds` are valid by this function's contract.
            if !unsafe { self.follow_each(separate, point, binds) } {
                return false;
            }
            if point.given != 0 {
                if point.linked.is_some_and(|linked| !point.has_loose && point.is_legal(linked)) {
                    return true;
                }
                // SAFETY: destroying it would have invalidated the command buffer that it is bound in (Command Buffer Lifecycle).
                let program = unsafe { separate.programs.get(point.given) };
                return program.is_none_or(|program| self.needs_nothing(separate, program, point));
            }
            let Some(program) = point.program.take() else { return true };
            let needs_nothing = self.needs_nothing(separate, &program, point);
            point.program = Some(program);
            needs_nothing
        })
    }

    /// Takes over each of the sets of a bind.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_sets`].
    #[inline(always)]
    unsafe fn follow_each(&self, separate: &Separate, point: &mut Point, binds: &Binds<'_>) -> bool {
        let first = binds.first as usize;
        let Some(last) = (first + binds.sets.len()).checked_sub(1).filter(|last| *last >= first) else { return true };
        if !binds.offsets.is_empty() || point.hidden.is_some() || point.sets.len() <= last {
            return false;
        }
        let gone = separate.layouts_gone();
        let handle = binds.layout.as_raw();
        let is_same = point.last.handle == handle && point.last.gone == gone;
        if !is_same || point.sets.len() != binds.sets.len() {
            // SAFETY: the layout is valid by this function's contract, so it is not destroyed meanwhile.
            let Some(layout) = (unsafe { separate.layout_at(binds.layout) }) else { return false };
            point.last = LastLayout { handle, at: std::ptr::from_ref(layout).addr(), gone };
            point.disturb(layout, first, last);
        }
        let layout = point.last.at;
        for (bound, set) in point.sets.iter_mut().skip(first).zip(binds.sets) {
            if !bound.is_with(std::ptr::without_provenance(layout)) {
                return false;
            }
            // SAFETY: the set is one of valid ones by this function's contract, so it is not freed meanwhile.
            let entry = unsafe { separate.sets.get(set.as_raw()) };
            let brief = entry.map_or(Brief::default(), |entry| entry.brief(&self.hot.gate));
            point.has_loose |= brief.is_loose;
            bound.hold(set.as_raw(), brief);
            bound.offsets.clear();
        }
        true
    }
}
