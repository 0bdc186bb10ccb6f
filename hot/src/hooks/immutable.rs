//! Immutable samplers: which layout a write or a push is for, and what there is to be said of those that conflict.

use std::sync::atomic::Ordering;

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};

use super::record::Hot;
use crate::layout::SetLayout;

/// Where the set layouts of writes come from.
#[derive(Clone, Copy)]
pub(super) enum Layouts<'a> {
    /// `dstSet` of the write, which is a valid set (VUID-VkWriteDescriptorSet-dstSet-00320).
    OfSets,
    /// Push descriptors: `dstSet` is ignored, and this is the layout, if it has immutable samplers.
    Given(Option<&'a SetLayout>),
}

impl Hot {
    /// The layout by which the samplers of a write are ignored, because the binding has immutable ones.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    pub(super) unsafe fn ignoring<'a>(
        &'a self,
        write: &WriteDescriptorSet<'_>,
        layouts: Layouts<'a>,
    ) -> Option<&'a SetLayout> {
        let layout = match layouts {
            // SAFETY: a set that a command names is not freed meanwhile.
            Layouts::OfSets => unsafe { self.sets.get(write.dst_set.as_raw()) },
            Layouts::Given(layout) => layout,
        };
        layout.filter(|layout| layout.is_immutable(write.dst_binding))
    }

    /// [`Hot::ignoring`], where it is rarely asked.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(never)]
    pub(super) unsafe fn is_ignored(&self, write: &WriteDescriptorSet<'_>, layouts: Layouts<'_>) -> bool {
        // SAFETY: forwarded from the caller.
        unsafe { self.ignoring(write, layouts) }.is_some()
    }

    /// Takes note of immutable samplers that conflict with the views written to `target` (binding and element) and on, unless it
    /// was done for that state and class before.
    #[inline(always)]
    pub(super) fn note_immutables(
        &self,
        layout: &SetLayout,
        target: (u32, u32),
        infos: impl Iterator<Item = DescriptorImageInfo>,
    ) {
        layout.for_each(target, infos, |sampler, view| {
            if self.gate.candidate(sampler, view) != 0
                && let Some(pair) = self.gate.look_up(sampler, view)
                && !self.choices.is_settled(pair.state, pair.class)
            {
                // SAFETY: this part of the record was borrowed from the whole one, which is therefore alive.
                unsafe { (self.rest.immutable)(self.record(), pair) };
            }
        });
    }

    /// The layout with immutable samplers of set number `set` of a pipeline layout, for push descriptors.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid.
    #[inline(always)]
    pub unsafe fn push_layout(&self, layout: vk::PipelineLayout, set: u32) -> Option<&SetLayout> {
        if !self.has_immutables.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: forwarded from the caller.
        let sets = unsafe { self.pipeline_layouts.get(layout.as_raw()) }?;
        sets.get(set as usize)?.as_deref()
    }
}
