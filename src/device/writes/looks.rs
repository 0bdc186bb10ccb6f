//! The look through descriptor writes, which reads no more than what each descriptor needs.

use std::mem::offset_of;

use ash::vk::{self, DescriptorImageInfo, WriteDescriptorSet};

use crate::counters::Path;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::layouts::LayoutOf;
use crate::device::types::{COMBINED, type_bit};

const _: () = assert!(
    offset_of!(WriteDescriptorSet<'_>, descriptor_type) == offset_of!(WriteDescriptorSet<'_>, descriptor_count) + 4
);

/// The [`kind`] of a write.
///
/// # Safety
///
/// A valid write.
#[inline(always)]
pub(super) unsafe fn kind_of(write: *const WriteDescriptorSet<'_>) -> u64 {
    // SAFETY: both members are read, the second of which follows the first (asserted above).
    let words = unsafe { (&raw const (*write).descriptor_count).cast::<u64>().read_unaligned() };
    if cfg!(target_endian = "little") { words } else { words.rotate_left(32) }
}

/// The bit of a [`kind`]'s type.
#[inline(always)]
pub(super) fn bit_of(kind: u64) -> u32 {
    type_bit(vk::DescriptorType::from_raw((kind >> 32) as i32))
}

/// The image infos of a write of combined image samplers.
///
/// # Safety
///
/// The write is valid (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
#[inline(always)]
pub(super) unsafe fn infos<'a>(write: &WriteDescriptorSet<'a>) -> &'a [DescriptorImageInfo] {
    if write.descriptor_count == 0 || write.p_image_info.is_null() {
        return &[];
    }
    // SAFETY: the write is valid by this function's contract, so its array has as many elements as it says.
    unsafe { std::slice::from_raw_parts(write.p_image_info, write.descriptor_count as usize) }
}

/// Number of combined image samplers.
pub(super) fn combined(writes: &[WriteDescriptorSet<'_>]) -> usize {
    let of = |write: &WriteDescriptorSet<'_>| {
        let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        if is_combined { write.descriptor_count as usize } else { 0 }
    };
    writes.iter().map(of).sum()
}

/// Where the look through writes stopped, in a word that one more argument has room for.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Stop(u64);

impl Stop {
    /// The bit that marks a stop at a write of a single combined image sampler.
    const SINGLE: u64 = 1 << 63;

    /// Behind all writes.
    pub(super) const END: Self = Self(u32::MAX as u64);

    /// At write `at`, with so many combined image samplers in those before.
    #[inline(always)]
    pub(super) fn new(at: u32, seen: u64, is_single: bool) -> Self {
        Self((if is_single { Self::SINGLE } else { 0 }) | seen << 32 | u64::from(at))
    }

    /// The write at which it stopped; `u32::MAX` if only counting takes longer.
    #[inline(always)]
    pub fn at(self) -> u32 {
        self.0 as u32
    }

    /// Whether that is one of a single combined image sampler.
    #[inline(always)]
    pub fn is_single(self) -> bool {
        self.0 & Self::SINGLE != 0
    }

    /// Combined image samplers in the writes before.
    pub(super) fn seen(self) -> u64 {
        (self.0 & !Self::SINGLE) >> 32
    }
}

impl Hot {
    /// Looks at one write and counts it. False if it needs a closer look: it may conflict, has several descriptors that may, is of a type
    /// that is watched, or counting it takes longer.
    ///
    /// # Safety
    ///
    /// A valid write.
    #[inline(always)]
    pub unsafe fn pass_write(&self, write: *const WriteDescriptorSet<'_>, path: Path) -> bool {
        let look = self.gate.must_look();
        // SAFETY: the write is valid by this function's contract, so both members can be read.
        let kind = unsafe { kind_of(write) };
        if kind == self.single() {
            // SAFETY: one descriptor of a combined image sampler in a valid write, as its kind says.
            return !(look && unsafe { self.is_candidate(write) }) && self.counters.add_here(path, 1);
        }
        if kind >= self.plain() {
            return true;
        }
        if self.watched() & bit_of(kind) != 0 {
            return false;
        }
        if bit_of(kind) != COMBINED {
            return true;
        }
        !look && self.counters.add_here(path, kind & u64::from(u32::MAX))
    }

    /// Whether the pair of a single write may conflict.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    pub(super) unsafe fn is_candidate(&self, write: *const WriteDescriptorSet<'_>) -> bool {
        // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493), which the driver reads as well.
        let info = unsafe { &*(*write).p_image_info };
        self.gate.candidate(info.sampler, info.image_view)
    }

    /// Whether the pair of a single write may conflict, if its sampler counts.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    pub(super) unsafe fn may_conflict(&self, write: *const WriteDescriptorSet<'_>) -> bool {
        // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493), which the driver reads as well.
        let info = unsafe { &*(*write).p_image_info };
        self.gate.may_conflict(info.sampler, info.image_view)
    }

    /// Looks at writes from write `first` on once more, and counts all of them, on a device that has seen immutable samplers: those that
    /// are only candidates because they might be of one, and are not. False if one needs a closer look all the same.
    ///
    /// # Safety
    ///
    /// `count` valid writes, of which those before `first` need no closer look.
    #[inline(never)]
    pub unsafe fn pass_beside(
        &self,
        count: u32,
        first: u32,
        writes: *const WriteDescriptorSet<'_>,
        layout_of: LayoutOf<'_>,
        path: Path,
    ) -> bool {
        // SAFETY: `count` valid writes by this function's contract.
        let given = unsafe { crate::pnext::slice(writes, count) };
        let mut ordinary = None;
        for write in given.get(first as usize..).unwrap_or_default() {
            // SAFETY: a valid write.
            let kind = unsafe { kind_of(write) };
            if kind != self.single() {
                if kind >= self.plain() || (self.watched() | COMBINED) & bit_of(kind) == 0 {
                    continue;
                }
                return false;
            }
            // SAFETY: a write of one combined image sampler, as its kind says.
            if unsafe { self.may_conflict(write) } {
                return false;
            }
            if ordinary != Some(write.dst_set) {
                // SAFETY: a valid write.
                if unsafe { self.has_layout(write, layout_of) } {
                    return false;
                }
                ordinary = Some(write.dst_set);
            }
        }
        self.counters.add_here(path, combined(given) as u64)
    }

    /// [`Hot::pass_write`] for any number of writes where nothing can conflict: only counts, unless a type is watched.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    pub unsafe fn pass_all(&self, count: u32, writes: *const WriteDescriptorSet<'_>, path: Path) -> bool {
        let (mut seen, mut types) = (0, 0);
        for index in 0..count as usize {
            // SAFETY: there are `count` valid writes by this function's contract, and the index is below that.
            let write = unsafe { &*writes.add(index) };
            // Without a branch: types alternate in ways of their own.
            let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            seen += u64::from(write.descriptor_count & 0_u32.wrapping_sub(u32::from(is_combined)));
            types |= type_bit(write.descriptor_type);
        }
        if types & self.watched() != 0 {
            return false;
        }
        seen == 0 || self.counters.add_here(path, seen)
    }

    /// [`Hot::pass_write`] for any number of writes where something can conflict. An error is the first that needs a closer look,
    /// or that only counting takes longer.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    pub unsafe fn pass_each(&self, count: u32, writes: *const WriteDescriptorSet<'_>, path: Path) -> Result<(), Stop> {
        let (single, plain) = (self.single(), self.plain());
        let mut seen = 0;
        let mut write = writes;
        // SAFETY: one past the last of the `count` writes that there are by this function's contract.
        let end = unsafe { writes.add(count as usize) };
        while write != end {
            // SAFETY: `write` is before the end, so it is one of the valid writes.
            let kind = unsafe { kind_of(write) };
            let passes = if kind == single {
                seen += 1;
                // SAFETY: one of the valid writes, and one descriptor of a combined image sampler, as its kind says.
                !unsafe { self.is_candidate(write) }
            } else {
                kind >= plain || (self.watched() | COMBINED) & bit_of(kind) == 0
            };
            if !passes {
                // SAFETY: `write` was reached from `writes` within one array.
                let at = unsafe { write.offset_from_unsigned(writes) };
                return Err(Stop::new(at as u32, seen - u64::from(kind == single), kind == single));
            }
            // SAFETY: `write` is before the end, so the next one is at most the end.
            write = unsafe { write.add(1) };
        }
        if seen == 0 || self.counters.add_here(path, seen) { Ok(()) } else { Err(Stop::END) }
    }

    /// # Safety
    ///
    /// The write is valid, of combined image samplers.
    #[inline(always)]
    pub(super) unsafe fn conflicts(&self, write: &WriteDescriptorSet<'_>) -> bool {
        // SAFETY: the write is valid and of combined image samplers by this function's contract, so it has as many infos as it says.
        match unsafe { infos(write) } {
            [info] => self.gate.conflict(info.sampler, info.image_view).is_some(),
            infos => self.gate.first_conflict(infos).is_some(),
        }
    }
}

impl Ground {
    /// Whether writes of such types, or any copies, have to be followed.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    pub unsafe fn follows_writes(&self, count: u32, writes: *const WriteDescriptorSet<'_>, copies: u32) -> bool {
        let watched = self.hot.watched();
        if !self.wishes.follows || watched == 0 {
            return false;
        }
        let mut types = 0;
        for index in 0..count as usize {
            // SAFETY: the index is below `count`, and that many writes are valid by this function's contract.
            types |= type_bit(unsafe { (*writes.add(index)).descriptor_type });
        }
        copies != 0 || types & watched != 0
    }

    /// Whether copies of descriptors have to be followed: some set may hold what is.
    pub fn follows_copies(&self) -> bool {
        self.wishes.follows && self.hot.watched() != 0
    }
}
