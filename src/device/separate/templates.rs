//! Update templates: which of their entries are followed.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory;

use super::Separate;
use super::sets::{SetEntry, has_buffer_views, info_of};
use crate::device::Device;
use crate::device::aspects::shows_aspects;
use crate::device::types::{COMBINED, type_bit};

/// Separate samplers or images in the data of an update template, or what else may stand where they do.
#[derive(Clone, Copy, Debug)]
pub struct TemplateRun {
    /// `descriptorType` of the entry.
    pub ty: vk::DescriptorType,
    /// `dstBinding` and `dstArrayElement` of the entry.
    pub target: (u32, u32),
    /// `descriptorCount` of the entry.
    pub count: u32,
    /// `offset` of the entry.
    pub offset: usize,
    /// `stride` of the entry.
    pub stride: usize,
}

/// The entries of an update template.
pub(super) struct TemplateRuns {
    pub(super) runs: Box<[TemplateRun]>,
    /// Pushes are for this bind point.
    pub(super) bind_point: vk::PipelineBindPoint,
}

impl TemplateRuns {
    /// Writes what the data of a template says into a entry.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    pub(super) unsafe fn apply(&self, entry: &SetEntry, data: *const c_void) {
        for run in &self.runs {
            let info = |index: u32| {
                let at =
                    data.cast::<u8>().wrapping_add(run.offset.wrapping_add(run.stride.wrapping_mul(index as usize)));
                if has_buffer_views(run.ty) {
                    // SAFETY: the template describes a view of a buffer there; alignment is not promised.
                    return info_of(unsafe { at.cast::<u64>().read_unaligned() });
                }
                // SAFETY: the template describes an element of this type there; alignment is not promised.
                unsafe { at.cast::<vk::DescriptorImageInfo>().read_unaligned() }
            };
            // SAFETY: `info` reads what the data holds of samplers and images.
            unsafe { entry.write(run.ty, run.target, run.count, info) };
        }
    }
}

impl Device {
    /// Remembers a template. `pushes`: the bind point that its pushes are for.
    pub fn insert_separate_template(
        &self,
        separate: &Separate,
        template: vk::DescriptorUpdateTemplate,
        pushes: Option<vk::PipelineBindPoint>,
        runs: impl Iterator<Item = TemplateRun>,
    ) {
        // Pushed descriptors are kept whatever their type, and a layout that is followed may be younger, or a view with both aspects.
        let may_follow = |ty| {
            separate.follows(ty)
                || (separate.tasks.divide || separate.seen.is_on()) && type_bit(ty) == COMBINED
                || self.aspects.is_on() && shows_aspects(ty)
        };
        let runs = memory::collect(runs.filter(|run| pushes.is_some() || may_follow(run.ty))).into_boxed_slice();
        let bind_point = pushes.unwrap_or_default();
        separate.templates.insert(template.as_raw(), Arc::new(TemplateRuns { runs, bind_point }));
    }

    /// Forgets a template.
    pub fn forget_separate_template(&self, separate: &Separate, template: vk::DescriptorUpdateTemplate) {
        separate.templates.remove(template.as_raw());
    }
}
