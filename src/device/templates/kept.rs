//! What is kept of a template.

use std::ffi::c_void;
use std::mem::size_of;
use std::sync::Arc;

use ash::vk::{self, DescriptorImageInfo};
use samplin_hot::SetLayout;
use samplin_hot::memory;

use super::entry::{Entry, LARGEST_COPY, runs_of, spans_of};
use crate::device::shown::ElementsOf;
use crate::device::types::type_bit;
use crate::variant::Gate;

/// What is kept of a template with combined image samplers.
pub struct Template {
    /// Its combined image samplers.
    pub(super) runs: Vec<Entry>,
    /// Number of them.
    pub(super) seen: u64,
    /// Offset of the first.
    pub(super) first: usize,
    /// Distance from the first to the next.
    pub(super) stride: usize,
    /// All of them are at that distance.
    pub(super) is_one_run: bool,
    /// All that it describes is these, without gaps.
    pub(super) is_array: bool,
    /// One pair, with which its data starts and ends.
    pub(super) is_lone: bool,
    /// Layout with immutable samplers of the sets that it is for.
    pub(super) layout: Option<Arc<SetLayout>>,
    /// All of its entries.
    pub(super) entries: Vec<Entry>,
    /// Their types.
    pub(super) types: u32,
    pub(super) bind_point: vk::PipelineBindPoint,
    /// Its descriptors that may show other views than they are written with.
    pub(super) shown: Vec<ElementsOf>,
    /// Size of the data and what of it is described, as (offset, length), if it can be copied.
    pub(super) copied: Option<(usize, Vec<(usize, usize)>)>,
}

impl Template {
    /// A template of these entries; `None` without combined image samplers, unless it `is_followed` all the same. `layout`: that of
    /// the sets which it is for, if it has immutable samplers.
    pub fn new(
        given: &[vk::DescriptorUpdateTemplateEntry],
        bind_point: vk::PipelineBindPoint,
        layout: Option<Arc<SetLayout>>,
        is_followed: bool,
        is_stored: bool,
    ) -> Option<Self> {
        let entries: Vec<Entry> = given.iter().map(Entry::new).collect();
        let runs = runs_of(&entries);
        let shown =
            given.iter().zip(&entries).filter_map(|(given, entry)| entry.shown(given.descriptor_type, is_stored));
        let shown: Vec<ElementsOf> = memory::collect(shown);
        if runs.is_empty() && !is_followed && shown.is_empty() {
            return None;
        }
        let (first, stride) = runs.first().map_or((0, 0), |run| (run.offset, run.stride));
        let types = given.iter().fold(0, |types, entry| types | type_bit(entry.descriptor_type));
        let copied = entries
            .iter()
            .try_fold(0, |all: usize, entry| Some(all.max(entry.end()?)))
            .filter(|extent| *extent <= LARGEST_COPY)
            .and_then(|extent| Some((extent, spans_of(&entries, extent)?)));
        let seen = runs.iter().map(|run| run.count as u64).sum();
        let is_lone = seen == 1 && first == 0 && entries.len() == 1;
        let is_one_run = runs.len() < 2;
        // In a program of 32 bits the bytes of more elements than any device allows are no number.
        let bytes = usize::try_from(seen).unwrap_or(usize::MAX).saturating_mul(size_of::<DescriptorImageInfo>());
        let all = (first, bytes);
        let is_array = seen > 1
            && (is_one_run && stride == size_of::<DescriptorImageInfo>())
            && copied.as_ref().is_some_and(|(_, spans)| *spans == [all]);
        Some(Self {
            runs,
            seen,
            first,
            stride,
            is_one_run,
            is_array,
            is_lone,
            layout,
            entries,
            types,
            bind_point,
            shown,
            copied,
        })
    }

    /// Layout with immutable samplers of the sets that it is for.
    pub fn layout(&self) -> Option<&SetLayout> {
        self.layout.as_deref()
    }

    /// Whether it has descriptors that may show other views than they are written with.
    #[inline(always)]
    pub fn has_shown(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Whether it has more than one combined image sampler.
    #[inline(always)]
    pub fn is_several(&self) -> bool {
        self.seen != 1
    }

    /// Whether its combined image samplers are evenly apart.
    #[inline(always)]
    pub fn is_one_run(&self) -> bool {
        self.is_one_run
    }

    /// Whether its data is one pair and nothing else.
    #[inline(always)]
    pub fn is_lone(&self) -> bool {
        self.is_lone
    }

    /// Whether the pair at this offset may conflict.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, which describes an info there.
    #[inline(always)]
    pub(super) unsafe fn is_candidate(gate: &Gate, data: *const c_void, at: usize) -> bool {
        let info = data.cast::<u8>().wrapping_add(at).cast::<DescriptorImageInfo>();
        // SAFETY: the template describes an info at that offset of its data; alignment is not promised.
        let info = unsafe { info.read_unaligned() };
        gate.candidate(info.sampler, info.image_view)
    }

    /// Whether a pair in `data` may conflict, if no sampler is an immutable one.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(never)]
    pub(super) unsafe fn may_conflict(&self, gate: &Gate, data: *const c_void) -> bool {
        // SAFETY: `data` is valid for the template, so for each of its runs.
        self.runs.iter().any(|run| unsafe { run.may_conflict(gate, data) })
    }

    /// Its pairs, if all that it describes is an array of them.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, for as long as the reference lives.
    #[inline(always)]
    pub(super) unsafe fn array<'a>(&self, data: *const c_void) -> Option<&'a [DescriptorImageInfo]> {
        let infos = data.wrapping_byte_add(self.first).cast::<DescriptorImageInfo>();
        if !self.is_array || !infos.is_aligned() {
            return None;
        }
        // SAFETY: the template describes as many infos there, without gaps, and they are aligned.
        Some(unsafe { std::slice::from_raw_parts(infos, self.seen as usize) })
    }
}
