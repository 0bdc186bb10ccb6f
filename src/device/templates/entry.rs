//! The entries of a template: where its elements lie, which of them conflict, which bytes they have.

use std::ffi::c_void;
use std::mem::size_of;
use std::ops::ControlFlow;

use ash::vk::{self, DescriptorImageInfo};
use samplin_hot::memory::{self, Room};
use samplin_hot::{Pair, SetLayout};

use crate::device::shown::{ElementsOf, StandIn};
use crate::variant::Gate;

/// Largest copy of a template's data, in bytes. Beyond it (and with elements of unknown size, or that share bytes) the template
/// is applied as it is and the conflicting descriptors are written again.
pub(super) const LARGEST_COPY: usize = 256 * 1024;

/// One entry of a template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) binding: u32,
    pub(super) element: u32,
    pub(super) count: usize,
    pub(super) offset: usize,
    pub(super) stride: usize,
    /// Bytes of one element; 0 when the type is not known.
    size: usize,
    pub(super) combined: bool,
}

impl Entry {
    pub(super) fn new(entry: &vk::DescriptorUpdateTemplateEntry) -> Self {
        use vk::DescriptorType as T;
        let count = entry.descriptor_count as usize;
        let (count, stride, size) = match entry.descriptor_type {
            T::SAMPLER
            | T::COMBINED_IMAGE_SAMPLER
            | T::SAMPLED_IMAGE
            | T::STORAGE_IMAGE
            | T::INPUT_ATTACHMENT
            | T::SAMPLE_WEIGHT_IMAGE_QCOM
            | T::BLOCK_MATCH_IMAGE_QCOM => (count, entry.stride, size_of::<DescriptorImageInfo>()),
            T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
                (count, entry.stride, size_of::<vk::DescriptorBufferInfo>())
            }
            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => (count, entry.stride, size_of::<vk::BufferView>()),
            T::ACCELERATION_STRUCTURE_KHR => (count, entry.stride, size_of::<vk::AccelerationStructureKHR>()),
            T::ACCELERATION_STRUCTURE_NV => (count, entry.stride, size_of::<vk::AccelerationStructureNV>()),
            // descriptorCount is a number of bytes and the stride is ignored.
            T::INLINE_UNIFORM_BLOCK => (usize::from(count > 0), 0, count),
            _ => (count, entry.stride, 0),
        };
        Self {
            binding: entry.dst_binding,
            element: entry.dst_array_element,
            count,
            offset: entry.offset,
            stride,
            size,
            combined: entry.descriptor_type == T::COMBINED_IMAGE_SAMPLER,
        }
    }

    /// Its elements, if descriptors of this type may show other views than they are written with. `is_stored`: those that are stored to,
    /// too.
    pub(super) fn shown(&self, ty: vk::DescriptorType, is_stored: bool) -> Option<ElementsOf> {
        let shown = StandIn::of(ty).filter(|shown| is_stored || *shown == StandIn::Read)?;
        Some(ElementsOf { at: (self.offset, self.stride, self.count), binding: self.binding, shown })
    }

    /// Whether it has combined image samplers whose samplers are not ignored.
    pub(super) fn is_pair(&self, layout: Option<&SetLayout>) -> bool {
        self.combined && !layout.is_some_and(|layout| layout.is_immutable(self.binding))
    }

    /// Offset of element `index` in `pData`.
    pub(super) fn at(&self, index: usize) -> usize {
        self.offset.wrapping_add(index.wrapping_mul(self.stride))
    }

    /// One past the last byte; `None` for an unknown size or a sum beyond the address space.
    pub(super) fn end(&self) -> Option<usize> {
        if self.count == 0 {
            return Some(0);
        }
        if self.size == 0 {
            return None;
        }
        (self.count - 1).checked_mul(self.stride)?.checked_add(self.offset)?.checked_add(self.size)
    }

    /// The combined image sampler at element `index`.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685), the entry is of combined image samplers
    /// and `index` is below the count.
    #[inline(always)]
    pub(super) unsafe fn read(&self, data: *const c_void, index: usize) -> DescriptorImageInfo {
        let at = data.cast::<u8>().wrapping_add(self.at(index));
        // SAFETY: the template describes an info there; alignment is not promised.
        unsafe { at.cast::<DescriptorImageInfo>().read_unaligned() }
    }

    /// A bit for each element from `start` on, of at most 64, whose pair may conflict.
    ///
    /// # Safety
    ///
    /// As for [`Entry::read`].
    #[inline(always)]
    pub(super) unsafe fn candidates(&self, gate: &Gate, data: *const c_void, start: usize) -> u64 {
        let end = self.count.min(start + 64);
        (start..end).rev().fold(0, |all, index| {
            // SAFETY: the index is below the count, and `data` is valid for the template by this function's contract, which is that of
            // `read`.
            let info = unsafe { self.read(data, index) };
            (all << 1) | u64::from(gate.may_conflict(info.sampler, info.image_view))
        })
    }

    /// Calls `with` for each element whose pair conflicts, until it says that it has enough.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, and the entry is of combined image samplers.
    #[inline(always)]
    pub(super) unsafe fn each_conflict(
        &self,
        gate: &Gate,
        data: *const c_void,
        mut with: impl FnMut(usize, Pair) -> ControlFlow<()>,
    ) {
        for start in (0..self.count).step_by(64) {
            // SAFETY: the start is below the count, and `data` is valid for the template of this entry.
            let mut left = unsafe { self.candidates(gate, data, start) };
            while left != 0 {
                let index = start + left.trailing_zeros() as usize;
                left &= left - 1;
                // SAFETY: a bit of `candidates` stands for an index below the count, and `data` is valid for the template by this
                // function's contract.
                let info = unsafe { self.read(data, index) };
                if let Some(pair) = gate.look_up(info.sampler, info.image_view)
                    && with(index, pair).is_break()
                {
                    return;
                }
            }
        }
    }

    /// Whether a pair of it may conflict.
    ///
    /// # Safety
    ///
    /// As for [`Entry::each_conflict`].
    #[inline(always)]
    pub(super) unsafe fn may_conflict(&self, gate: &Gate, data: *const c_void) -> bool {
        // SAFETY: the starts are below the count, and `data` is valid for the template of this entry.
        (0..self.count).step_by(64).any(|start| unsafe { self.candidates(gate, data, start) } != 0)
    }

    /// Whether a pair of it conflicts.
    ///
    /// # Safety
    ///
    /// As for [`Entry::each_conflict`].
    #[inline(never)]
    pub(super) unsafe fn conflicts(&self, gate: &Gate, data: *const c_void) -> bool {
        let mut out = false;
        let stop = |_, _| {
            out = true;
            ControlFlow::Break(())
        };
        // SAFETY: `data` is valid for the template of this entry by this function's contract.
        unsafe { self.each_conflict(gate, data, stop) };
        out
    }

    /// Whether `next` goes on where this one ends, and then takes it over.
    fn takes_over(&mut self, next: &Self) -> bool {
        let stride = match self.count {
            1 => next.offset.wrapping_sub(self.offset),
            _ => self.stride,
        };
        let goes_on = self.count > 0
            && stride < LARGEST_COPY
            && next.offset == self.offset.wrapping_add(self.count.wrapping_mul(stride))
            && (next.count == 1 || next.stride == stride);
        if goes_on {
            self.stride = stride;
            self.count += next.count;
        }
        goes_on
    }
}

/// The elements of combined image samplers in as few runs as their places allow: applications often describe each binding of a
/// structure by an entry of its own.
pub(super) fn runs_of(entries: &[Entry]) -> Vec<Entry> {
    let mut runs: Vec<Entry> = memory::vec(entries.len());
    for entry in entries.iter().filter(|entry| entry.combined && entry.count > 0) {
        if !runs.last_mut().is_some_and(|last| last.takes_over(entry)) {
            runs.with_room().push(*entry);
        }
    }
    runs
}

/// The bytes that elements have, as (offset, length), in order and without gaps between two; `None` if a byte belongs to two elements.
///
/// Applications may feed several bindings from one structure, a pair and a separate sampler say; in a copy of the data the
/// sampler could not change for one of them alone.
pub(super) fn spans_of(entries: &[Entry], extent: usize) -> Option<Vec<(usize, usize)>> {
    let bytes = entries.iter().fold(0, |all: usize, entry| all.saturating_add(entry.count.saturating_mul(entry.size)));
    // Also bounds the list below.
    if bytes > extent {
        return None;
    }
    let all = entries.iter().flat_map(|entry| (0..entry.count).map(move |index| (entry.at(index), entry.size)));
    let mut spans: Vec<(usize, usize)> = memory::sorted(memory::collect(all));
    let mut are_disjoint = true;
    spans.dedup_by(|(next, more), (start, length)| {
        let end = *start + *length;
        are_disjoint &= end <= *next;
        let goes_on = end == *next;
        if goes_on {
            *length += *more;
        }
        goes_on
    });
    are_disjoint.then_some(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ty: vk::DescriptorType, count: u32, offset: usize, stride: usize) -> Entry {
        Entry::new(&vk::DescriptorUpdateTemplateEntry {
            dst_binding: 0,
            dst_array_element: 0,
            descriptor_count: count,
            descriptor_type: ty,
            offset,
            stride,
        })
    }

    #[test]
    fn elements_that_share_bytes_are_found() {
        use vk::DescriptorType as T;
        let disjoint = |entries: &[Entry]| {
            let extent = entries.iter().map(|entry| entry.end().unwrap()).max().unwrap();
            spans_of(entries, extent).is_some()
        };
        let pairs = |count, offset, stride| entry(T::COMBINED_IMAGE_SAMPLER, count, offset, stride);
        assert!(disjoint(&[pairs(3, 0, 24), pairs(2, 72, 24)]));
        // Interleaved, as in an array of structures.
        assert!(disjoint(&[pairs(3, 0, 48), pairs(3, 24, 48)]));
        assert!(!disjoint(&[pairs(3, 0, 48), pairs(3, 23, 48)]));
        assert!(!disjoint(&[pairs(2, 0, 23)]));
        assert!(!disjoint(&[pairs(u32::MAX, 0, 0)]));
        assert!(!disjoint(&[pairs(1, 0, 24), entry(T::SAMPLER, 1, 0, 24)]));
        assert!(!disjoint(&[pairs(1, 0, 24), entry(T::INLINE_UNIFORM_BLOCK, 1, 23, 0)]));
        assert!(disjoint(&[pairs(1, 0, 24), pairs(0, 5, 24), entry(T::INLINE_UNIFORM_BLOCK, 9, 24, 0)]));
    }

    #[test]
    fn what_is_described_is_copied_and_nothing_between() {
        use vk::DescriptorType as T;
        let spans = |entries: &[Entry], extent| spans_of(entries, extent).unwrap();
        let pair = |count, offset, stride| entry(T::COMBINED_IMAGE_SAMPLER, count, offset, stride);
        assert_eq!(spans(&[pair(2, 48, 24), pair(1, 24, 0), pair(1, 0, 0)], 96), [(0, 96)]);
        assert_eq!(spans(&[pair(2, 0, 48), entry(T::SAMPLER, 1, 100, 24)], 124), [(0, 24), (48, 24), (100, 24)]);
        assert_eq!(spans(&[pair(0, 0, 48), entry(T::INLINE_UNIFORM_BLOCK, 9, 7, 0)], 16), [(7, 9)]);
    }

    #[test]
    fn entries_that_go_on_from_each_other_are_one_run() {
        use vk::DescriptorType as T;
        let pair = |count, offset, stride| entry(T::COMBINED_IMAGE_SAMPLER, count, offset, stride);
        let runs = |entries: &[Entry]| {
            runs_of(entries).iter().map(|run| (run.offset, run.stride, run.count)).collect::<Vec<_>>()
        };
        let buffer = entry(T::UNIFORM_BUFFER, 1, 24, 24);
        // A structure with an entry for each binding; with a hole in it; with a buffer after each pair.
        assert_eq!(runs(&[pair(1, 0, 0), pair(1, 24, 0), pair(1, 48, 0)]), [(0, 24, 3)]);
        assert_eq!(runs(&[pair(1, 0, 0), pair(1, 24, 0), pair(1, 80, 0)]), [(0, 24, 2), (80, 0, 1)]);
        assert_eq!(runs(&[pair(1, 0, 0), buffer, pair(1, 48, 0), pair(1, 96, 7)]), [(0, 48, 3)]);
        // Arrays that follow each other, with the same distance and with another.
        assert_eq!(runs(&[pair(4, 8, 24), pair(2, 104, 24)]), [(8, 24, 6)]);
        assert_eq!(runs(&[pair(4, 8, 24), pair(2, 104, 32)]), [(8, 24, 4), (104, 32, 2)]);
        // Backwards, twice the same bytes, and none at all.
        assert_eq!(runs(&[pair(1, 24, 24), pair(1, 0, 24)]), [(24, 24, 1), (0, 24, 1)]);
        assert_eq!(runs(&[pair(1, 24, 24), pair(1, 24, 24)]), [(24, 0, 2)]);
        assert_eq!(runs(&[pair(0, 24, 24), pair(1, 48, 24)]), [(48, 24, 1)]);
    }

    #[test]
    fn extents_cover_the_last_element_and_nothing_more() {
        use vk::DescriptorType as T;
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 3, 5, 33).end(), Some(5 + 2 * 33 + 24));
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 1, 5, 0).end(), Some(29));
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 0, 500, 24).end(), Some(0));
        assert_eq!(entry(T::INLINE_UNIFORM_BLOCK, 40, 8, 999).end(), Some(48));
        assert_eq!(entry(T::from_raw(0x7fff_0001), 1, 0, 8).end(), None);
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 2, 0, usize::MAX).end(), None);
    }
}
