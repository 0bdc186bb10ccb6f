//! Update templates: which of their entries are followed.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory;

use super::Separate;
use super::arrays::Taken;
use super::lists::Numbers;
use super::sets::{SetEntry, info_of};
use crate::device::aspects::Aspects;
use crate::device::live::Filled;
use crate::device::shown::shows_aspects;
use crate::device::types::{COMBINED, has_buffers, has_images, has_texels, type_bit};
use crate::variant::Gate;

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

/// An entry of an update template with the data for it.
#[derive(Clone, Copy)]
pub(super) struct FilledRun<'c> {
    pub(super) run: &'c TemplateRun,
    data: *const c_void,
}

impl<'c> FilledRun<'c> {
    /// Where an element is; the entry has it.
    fn at(self, index: u32) -> Option<*const u8> {
        let TemplateRun { offset, stride, count, .. } = *self.run;
        let at = self.data.cast::<u8>().wrapping_add(offset.wrapping_add(stride.wrapping_mul(index as usize)));
        (index < count).then_some(at)
    }

    /// An element that is an image info, or none.
    pub(super) fn image(self, index: u32) -> vk::DescriptorImageInfo {
        let at = self.at(index).filter(|_| has_images(self.run.ty));
        // SAFETY: the template describes an info there; alignment is not promised.
        at.map_or_else(Default::default, |at| unsafe { at.cast::<vk::DescriptorImageInfo>().read_unaligned() })
    }

    /// An element that is a buffer info, or none.
    pub(super) fn buffer(self, index: u32) -> vk::DescriptorBufferInfo {
        let at = self.at(index).filter(|_| has_buffers(self.run.ty));
        // SAFETY: the template describes an info there; alignment is not promised.
        at.map_or_else(Default::default, |at| unsafe { at.cast::<vk::DescriptorBufferInfo>().read_unaligned() })
    }

    /// An element that is a handle, or null.
    pub(super) fn handle(self, index: u32) -> u64 {
        let is_handle = has_texels(self.run.ty) || self.run.ty == vk::DescriptorType::ACCELERATION_STRUCTURE_KHR;
        // SAFETY: the template describes a handle there; alignment is not promised.
        self.at(index).filter(|_| is_handle).map_or(0, |at| unsafe { at.cast::<u64>().read_unaligned() })
    }
}

impl TemplateRuns {
    /// The entries with data for the template that these are of.
    fn with(&self, data: *const c_void) -> impl Iterator<Item = FilledRun<'_>> + Clone {
        self.runs.iter().map(move |run| FilledRun { run, data })
    }
}

impl Separate {
    /// The entries of a template that is filled, if it is followed.
    pub(super) fn runs<'c>(&'c self, filled: Filled<'c>) -> Option<impl Iterator<Item = FilledRun<'c>> + Clone> {
        filled.template().of(&self.templates).map(|runs| runs.with(filled.data()))
    }

    /// Remembers a template. `pushes`: the bind point that its pushes are for.
    pub fn insert_separate_template(
        &self,
        aspects: &Aspects,
        template: vk::DescriptorUpdateTemplate,
        pushes: Option<vk::PipelineBindPoint>,
        runs: impl Iterator<Item = TemplateRun>,
    ) {
        // Pushed descriptors are kept whatever their type, and a layout that is followed may be younger, or a view with both aspects.
        let may_follow = |ty| {
            self.follows(ty)
                || (self.tasks.divide || self.tasks.compare || self.seen.is_on()) && type_bit(ty) == COMBINED
                || aspects.is_on() && shows_aspects(ty)
        };
        let runs = memory::collect(runs.filter(|run| pushes.is_some() || may_follow(run.ty))).into_boxed_slice();
        let bind_point = pushes.unwrap_or_default();
        self.templates.insert(template.as_raw(), Arc::new(TemplateRuns { runs, bind_point }));
    }

    /// Forgets a template.
    pub fn forget_template(&self, template: vk::DescriptorUpdateTemplate) {
        self.templates.remove(template.as_raw());
    }
}

impl SetEntry {
    /// Takes over what the data of a template says.
    pub(super) fn apply(&self, on: (&Gate, &Numbers), run: FilledRun<'_>) -> Taken {
        let TemplateRun { ty, target, count, .. } = *run.run;
        let is_texels = has_texels(ty);
        let info = |index| if is_texels { info_of(run.handle(index)) } else { run.image(index) };
        let (gate, numbers) = on;
        self.write(gate, numbers, ty, target, count, info)
    }
}
