//! Updates of descriptor sets: what they write is taken over before they go down.
//!
//! Almost no set has a shadow, so almost every update is taken over without a guard: nothing then allocates, locks or calls down.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use super::Separate;
use super::sets::SetEntry;
use crate::device::Device;

impl Separate {
    /// Takes over writes, each after `changes` has been asked whether its set may change; ends with the first that may not.
    ///
    /// # Safety
    ///
    /// The writes of a valid `vkUpdateDescriptorSets`.
    #[inline(always)]
    unsafe fn take_writes(
        &self,
        writes: &[vk::WriteDescriptorSet<'_>],
        mut changes: impl FnMut(&SetEntry) -> bool,
    ) -> bool {
        if self.seen.is_watching() {
            self.seen.spend(writes.iter().map(|write| write.descriptor_type));
        }
        // Shadows are copies of all that is in a set.
        let all = self.takes_all.load(Ordering::Relaxed);
        let mut last: Option<(vk::DescriptorSet, &SetEntry)> = None;
        for write in writes {
            if !all && !self.follows(write.descriptor_type) {
                continue;
            }
            let entry = match last {
                Some((set, entry)) if set == write.dst_set => entry,
                _ => {
                    // SAFETY: a set that a command names is not freed meanwhile.
                    let Some(entry) = (unsafe { self.sets.get_in_line(write.dst_set.as_raw()) }) else { continue };
                    last = Some((write.dst_set, entry));
                    entry
                }
            };
            if !changes(entry) {
                return false;
            }
            // SAFETY: `write` is one of a valid `vkUpdateDescriptorSets` by this function's contract, so its arrays have as many
            // elements as it says.
            unsafe { entry.take(write) };
        }
        true
    }

    /// Takes over writes where no set is guarded, see `SetEntry::is_guarded`, and no view has both aspects; false else. It neither
    /// allocates nor locks nor calls down, so that hooks call it without a guard.
    ///
    /// # Safety
    ///
    /// The writes of a valid `vkUpdateDescriptorSets`.
    #[inline(always)]
    pub unsafe fn follow_writes(&self, writes: &[vk::WriteDescriptorSet<'_>]) -> bool {
        // SAFETY: the writes are of a valid `vkUpdateDescriptorSets` by this function's contract.
        !self.wholes.are_there()
            && unsafe { self.take_writes(writes, |entry| !entry.is_guarded.load(Ordering::Acquire)) }
    }

    /// [`Separate::follow_writes`] for one write.
    ///
    /// # Safety
    ///
    /// A valid write of samplers or sampled images.
    #[inline(always)]
    pub unsafe fn follow_write(&self, write: &vk::WriteDescriptorSet<'_>) -> bool {
        if self.wholes.are_there() {
            return false;
        }
        // SAFETY: a set that a command names is not freed meanwhile.
        let Some(entry) = (unsafe { self.sets.get_in_line(write.dst_set.as_raw()) }) else { return true };
        if entry.is_guarded.load(Ordering::Acquire) {
            return false;
        }
        // SAFETY: a valid write by this function's contract, so its array has as many elements as it says.
        unsafe { entry.take(write) };
        true
    }

    /// [`Separate::follow_writes`] for an update with a template.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkUpdateDescriptorSetWithTemplate`.
    pub unsafe fn follow_template(
        &self,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) -> bool {
        // SAFETY: set and template are valid during the command, and `data` is valid for the template.
        !self.wholes.are_there()
            && unsafe { self.take_template(set, template, data, |entry| !entry.is_guarded.load(Ordering::Acquire)) }
    }

    /// Takes over an update with a template, if `changes` says that its set may change.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkUpdateDescriptorSetWithTemplate`.
    #[inline(always)]
    unsafe fn take_template(
        &self,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
        changes: impl FnOnce(&SetEntry) -> bool,
    ) -> bool {
        // SAFETY: set and template are valid during the command.
        let (entry, runs) = unsafe { (self.sets.get_in_line(set.as_raw()), self.templates.get(template.as_raw())) };
        let Some(entry) = entry else { return true };
        if !changes(entry) {
            return false;
        }
        if let Some(runs) = runs {
            if self.seen.is_watching() {
                self.seen.spend(runs.runs.iter().map(|run| run.ty));
            }
            // SAFETY: `data` is valid for the template that `runs` were made of, by this function's contract.
            unsafe { runs.apply(entry, data) };
        }
        true
    }
}

impl Device {
    /// Takes over writes and copies before they go down: what was bound with a set that they change is of no use any more.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkUpdateDescriptorSets`.
    pub unsafe fn separate_updates(
        &self,
        separate: &Separate,
        writes: &[vk::WriteDescriptorSet<'_>],
        copies: &[vk::CopyDescriptorSet<'_>],
    ) {
        let drop_shadows = |entry: &SetEntry| {
            self.drop_shadows(separate, entry);
            true
        };
        // SAFETY: the writes are of a valid `vkUpdateDescriptorSets` by this function's contract.
        unsafe {
            separate.take_writes(writes, drop_shadows);
            self.note_written_wholes(separate, writes);
        }
        for copy in copies {
            // SAFETY: both sets of a copy are valid (VUID-VkCopyDescriptorSet-srcSet-parameter, -dstSet-parameter), so their
            // entries stay meanwhile.
            let (from, to) =
                unsafe { (separate.sets.get(copy.src_set.as_raw()), separate.sets.get(copy.dst_set.as_raw())) };
            if let Some(to) = to {
                self.drop_shadows(separate, to);
                to.copy(from, copy);
            }
            self.note_copied_wholes(separate, copy, (from, to));
        }
    }

    /// Takes over an update with a template before it goes down.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkUpdateDescriptorSetWithTemplate`.
    pub unsafe fn separate_template(
        &self,
        separate: &Separate,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) {
        let drop_shadows = |entry: &SetEntry| {
            self.drop_shadows(separate, entry);
            true
        };
        // SAFETY: set, template and data are those of a valid command by this function's contract.
        unsafe {
            separate.take_template(set, template, data, drop_shadows);
            self.note_template_wholes(separate, (set, template), data);
        }
    }
}
