//! Descriptor writes: the look through them, and the copy that goes down when one has to change.
//!
//! The leaf hooks call this without a guard, so nothing here can panic. What is decided for the first time has a guard of its own.

use std::mem::{MaybeUninit, offset_of};
use std::sync::atomic::Ordering;

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_hot::Pair;

use super::Device;
use super::layouts::LayoutOf;
use super::types::{COMBINED, SINGLE, type_bit};
use crate::counters::Path;

// ---- looking ----

const _: () = assert!(
    offset_of!(WriteDescriptorSet<'_>, descriptor_type) == offset_of!(WriteDescriptorSet<'_>, descriptor_count) + 4
);

/// The [`kind`] of a write.
///
/// # Safety
///
/// A valid write.
#[inline(always)]
unsafe fn kind_of(write: *const WriteDescriptorSet<'_>) -> u64 {
    // SAFETY: both members are read, the second of which follows the first (asserted above).
    let words = unsafe { (&raw const (*write).descriptor_count).cast::<u64>().read_unaligned() };
    if cfg!(target_endian = "little") { words } else { words.rotate_left(32) }
}

/// The bit of a [`kind`]'s type.
#[inline(always)]
fn bit_of(kind: u64) -> u32 {
    type_bit(vk::DescriptorType::from_raw((kind >> 32) as i32))
}

impl Device {
    /// Looks at one write and counts it. False if it needs a closer look: it may conflict, has several descriptors that may, is of a type
    /// that is watched, or counting it takes longer.
    ///
    /// # Safety
    ///
    /// A valid write.
    #[inline(always)]
    pub unsafe fn pass_write(&self, write: *const WriteDescriptorSet<'_>, path: Path) -> bool {
        let look = self.hot.gate.must_look();
        // SAFETY: the write is valid by this function's contract, so both members can be read.
        let kind = unsafe { kind_of(write) };
        if kind == self.hot.single() {
            // SAFETY: one descriptor of a combined image sampler in a valid write, as its kind says.
            return !(look && unsafe { self.is_candidate(write) }) && self.hot.counters.add_here(path, 1);
        }
        if kind >= self.hot.plain() {
            return true;
        }
        if self.hot.watched() & bit_of(kind) != 0 {
            return false;
        }
        if bit_of(kind) != COMBINED {
            return true;
        }
        !look && self.hot.counters.add_here(path, kind & u64::from(u32::MAX))
    }

    /// Whether writes of such types, or any copies, have to be followed.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    pub unsafe fn follows_writes(&self, count: u32, writes: *const WriteDescriptorSet<'_>, copies: u32) -> bool {
        let watched = self.hot.watched();
        let mut types = 0;
        for index in 0..count as usize {
            // SAFETY: below the count.
            types |= type_bit(unsafe { (*writes.add(index)).descriptor_type });
        }
        self.separate.is_some() && ((copies != 0 && watched != 0) || types & watched != 0)
    }

    /// Whether copies of descriptors have to be followed: some set may hold what is.
    pub fn follows_copies(&self) -> bool {
        self.separate.is_some() && self.hot.watched() != 0
    }

    /// Whether the pair of a single write may conflict.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    unsafe fn is_candidate(&self, write: *const WriteDescriptorSet<'_>) -> bool {
        // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493), which the driver reads as well.
        let info = unsafe { &*(*write).p_image_info };
        self.hot.gate.candidate(info.sampler, info.image_view)
    }

    /// [`Device::pass_write`] for any number of writes where nothing can conflict: only counts, unless a type is watched.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    pub unsafe fn pass_all(&self, count: u32, writes: *const WriteDescriptorSet<'_>, path: Path) -> bool {
        let (mut seen, mut types) = (0, 0);
        for index in 0..count as usize {
            // SAFETY: below the count.
            let write = unsafe { &*writes.add(index) };
            // Without a branch: types alternate in ways of their own.
            let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            seen += u64::from(write.descriptor_count & 0_u32.wrapping_sub(u32::from(is_combined)));
            types |= type_bit(write.descriptor_type);
        }
        if types & self.hot.watched() != 0 {
            return false;
        }
        seen == 0 || self.hot.counters.add_here(path, seen)
    }

    /// [`Device::pass_write`] for any number of writes where something can conflict. An error is the first that needs a closer look;
    /// `u32::MAX` if only counting takes longer.
    ///
    /// # Safety
    ///
    /// `count` valid writes.
    #[inline(always)]
    pub unsafe fn pass_each(&self, count: u32, writes: *const WriteDescriptorSet<'_>, path: Path) -> Result<(), u32> {
        let (single, plain) = (self.hot.single(), self.hot.plain());
        let mut seen = 0;
        let mut write = writes;
        // SAFETY: the end of the writes.
        let end = unsafe { writes.add(count as usize) };
        while write != end {
            // SAFETY: before the end.
            let kind = unsafe { kind_of(write) };
            let passes = if kind == single {
                seen += 1;
                // SAFETY: before the end.
                !unsafe { self.is_candidate(write) }
            } else {
                kind >= plain || (self.hot.watched() | COMBINED) & bit_of(kind) == 0
            };
            if !passes {
                // SAFETY: both are of the same array.
                return Err(unsafe { write.offset_from_unsigned(writes) } as u32);
            }
            // SAFETY: before the end.
            write = unsafe { write.add(1) };
        }
        if seen == 0 || self.hot.counters.add_here(path, seen) { Ok(()) } else { Err(u32::MAX) }
    }

    /// Hands writes that need a closer look, from write `first` on, to `down`, or a copy with legal pairs.
    ///
    /// # Safety
    ///
    /// `count` valid writes of this device.
    #[inline(always)]
    pub unsafe fn forward_writes<'a>(
        &self,
        count: u32,
        writes: *const WriteDescriptorSet<'a>,
        (first, path): (u32, Path),
        layout_of: LayoutOf<'_>,
        down: impl FnOnce(*const WriteDescriptorSet<'a>),
    ) {
        // SAFETY: `count` valid writes by this function's contract.
        let aliased = if self.stores_elsewhere() { unsafe { self.aliased_writes(count, writes) } } else { None };
        let writes = aliased.as_ref().map_or(writes, |aliased| aliased.writes());
        // SAFETY: there is one write, valid by this function's contract.
        if count == 1 && unsafe { kind_of(writes) } == SINGLE && !self.has_immutables() && self.hot.gate.must_look() {
            // SAFETY: as above.
            return unsafe { self.forward_single(writes, path, down) };
        }
        // SAFETY: `count` valid writes.
        let given = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(writes, count as usize) } };
        // SAFETY: the writes are valid by this function's contract.
        if let Some(first) = unsafe { self.look(given, first as usize, layout_of) } {
            // SAFETY: as above; they are those that were looked at.
            return unsafe { rewrite(self, given, first, path, layout_of, down) };
        }
        // SAFETY: as above.
        let seen: usize = unsafe { combined(given) }.map(|(_, infos)| infos.len()).sum();
        if seen > 0 {
            self.hot.counters.add(path, seen as u64, 0);
        }
        down(writes);
    }

    /// [`Device::forward_writes`] for one pair whose sampler counts.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    unsafe fn forward_single<'a>(
        &self,
        write: *const WriteDescriptorSet<'a>,
        path: Path,
        down: impl FnOnce(*const WriteDescriptorSet<'a>),
    ) {
        // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
        let (given, info) = unsafe { (*write, *(*write).p_image_info) };
        let pair = self.hot.gate.look_up(info.sampler, info.image_view);
        let choice = pair.map_or(info.sampler, |pair| vk::Sampler::from_raw(self.choose(pair, path)));
        let is_other = choice != info.sampler;
        self.hot.counters.add(path, 1, u64::from(is_other));
        let info = DescriptorImageInfo { sampler: choice, ..info };
        let other = WriteDescriptorSet { p_image_info: &info, ..given };
        down(if is_other { &other } else { write });
    }

    /// The closer look, from write `first` on: the first write in which another sampler has to go down. What there is to be said
    /// of immutable and of separate samplers is said here.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(always)]
    unsafe fn look(&self, writes: &[WriteDescriptorSet<'_>], first: usize, layout_of: LayoutOf<'_>) -> Option<usize> {
        let look = self.hot.gate.must_look();
        if look && self.hot.has_immutables.load(Ordering::Acquire) {
            // SAFETY: the same writes, valid by this function's contract.
            return unsafe { self.look_among_immutables(writes, first, layout_of) };
        }
        let mut out = None;
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                // SAFETY: valid by the caller's promise.
                if look && out.is_none() && unsafe { self.conflicts(write) } {
                    out = Some(index);
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                self.separate_seen();
            }
        }
        out
    }

    /// [`Device::look`] on a device that has seen immutable samplers.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(never)]
    unsafe fn look_among_immutables(
        &self,
        writes: &[WriteDescriptorSet<'_>],
        first: usize,
        layout_of: LayoutOf<'_>,
    ) -> Option<usize> {
        let mut out = None;
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                // SAFETY: valid by the caller's promise.
                unsafe {
                    if let Some(layout) = self.ignoring(write, layout_of) {
                        let target = (write.dst_binding, write.dst_array_element);
                        self.note_immutables(layout, target, infos(write).iter().copied());
                    } else if out.is_none() && self.conflicts(write) {
                        out = Some(index);
                    }
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                self.separate_seen();
            }
        }
        out
    }

    /// # Safety
    ///
    /// The write is valid, of combined image samplers.
    #[inline(always)]
    unsafe fn conflicts(&self, write: &WriteDescriptorSet<'_>) -> bool {
        // SAFETY: valid by the caller's promise.
        match unsafe { infos(write) } {
            [info] => self.hot.gate.conflict(info.sampler, info.image_view).is_some(),
            infos => self.hot.gate.first_conflict(infos).is_some(),
        }
    }
}

/// The image infos of a write of combined image samplers.
///
/// # Safety
///
/// The write is valid (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
#[inline(always)]
unsafe fn infos<'a>(write: &WriteDescriptorSet<'a>) -> &'a [DescriptorImageInfo] {
    if write.descriptor_count == 0 || write.p_image_info.is_null() {
        return &[];
    }
    // SAFETY: the write is valid by this function's contract, so its array has as many elements as it says.
    unsafe { std::slice::from_raw_parts(write.p_image_info, write.descriptor_count as usize) }
}

/// Combined image samplers in writes.
///
/// # Safety
///
/// The writes are valid.
#[inline(always)]
unsafe fn combined<'w, 'a>(
    writes: &'w [WriteDescriptorSet<'a>],
) -> impl Iterator<Item = (usize, &'a [DescriptorImageInfo])> + 'w {
    let are_combined =
        |write: &WriteDescriptorSet<'_>| write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    // SAFETY: each write is valid by this function's contract.
    writes
        .iter()
        .enumerate()
        .filter(move |(_, write)| are_combined(write))
        .map(|(index, write)| (index, unsafe { infos(write) }))
}

// ---- rewriting ----

/// Writes and image infos that are copied on the stack.
const WRITES: usize = 16;
pub(super) const INFOS: usize = 64;

/// Calls `down` with a copy of the writes in which every pair that conflicts, in write `first` or later, has the sampler chosen for
/// it; with the writes themselves if none changes.
///
/// # Safety
///
/// The writes are valid.
#[inline(always)]
unsafe fn rewrite<'a>(
    device: &Device,
    given: &[WriteDescriptorSet<'a>],
    first: usize,
    path: Path,
    layout_of: LayoutOf<'_>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    let mut seen = 0;
    // SAFETY: the writes are valid by this function's contract.
    unsafe { combined(given) }.for_each(|(_, infos)| seen += infos.len());
    if given.len() <= WRITES && seen <= INFOS {
        let mut room_writes = [const { MaybeUninit::uninit() }; WRITES];
        let mut room_infos = [const { MaybeUninit::uninit() }; INFOS];
        // SAFETY: the writes are valid by this function's contract, and both places were checked to hold all of them.
        let (changed, rewritten) =
            unsafe { rewrite_into(device, given, (first, path), layout_of, &mut room_writes, &mut room_infos) };
        device.hot.counters.add(path, seen as u64, rewritten);
        down(changed);
    } else {
        let (mut room_writes, mut room_infos) = (Vec::new(), Vec::new());
        if room_writes.try_reserve_exact(given.len()).is_err() || room_infos.try_reserve_exact(seen).is_err() {
            // Without memory for a copy there is only what was given.
            return down(given.as_ptr());
        }
        let (writes, infos) = (room_writes.spare_capacity_mut(), room_infos.spare_capacity_mut());
        // SAFETY: the writes are valid by this function's contract, and as much room was reserved as they need.
        let (changed, rewritten) = unsafe { rewrite_into(device, given, (first, path), layout_of, writes, infos) };
        device.hot.counters.add(path, seen as u64, rewritten);
        down(changed);
    }
}

/// Returns what has to go down and how many samplers are others.
///
/// # Safety
///
/// As for [`rewrite`]; there is room for the writes and for all their image infos.
#[inline(never)]
unsafe fn rewrite_into<'a>(
    device: &Device,
    writes: &[WriteDescriptorSet<'a>],
    (first, path): (usize, Path),
    layout_of: LayoutOf<'_>,
    room_writes: &mut [MaybeUninit<WriteDescriptorSet<'a>>],
    room_infos: &mut [MaybeUninit<DescriptorImageInfo>],
) -> (*const WriteDescriptorSet<'a>, u64) {
    let immutables = device.hot.has_immutables.load(Ordering::Acquire);
    let mut undecided = |pair| device.resolve(pair, path);
    let mut rewritten = 0;
    let mut used = 0;
    // Single pairs are gathered so that they can be looked at together.
    let mut owners = [0_usize; INFOS];
    let mut gathered = 0;
    // SAFETY: an initialised element is a valid `MaybeUninit` of the same layout.
    let as_uninit = unsafe { &*(std::ptr::from_ref(writes) as *const [MaybeUninit<WriteDescriptorSet<'a>>]) };
    let Some(copies) = room_writes.get_mut(..writes.len()) else { return (writes.as_ptr(), 0) };
    copies.copy_from_slice(as_uninit);
    let copies = copies.as_mut_ptr().cast::<WriteDescriptorSet<'a>>();
    let room = room_infos.as_mut_ptr();
    let flush = |owners: &[usize], used: &mut usize, undecided: &mut dyn FnMut(Pair) -> u64| {
        // SAFETY: `owners.len()` infos were written there.
        let block =
            unsafe { std::slice::from_raw_parts_mut(room.add(*used).cast::<DescriptorImageInfo>(), owners.len()) };
        let changed = device.hot.gate.substitute_in_place(block, undecided, |at, info| {
            if let Some(owner) = owners.get(at) {
                // SAFETY: owners are indices of writes, and there are as many copies.
                unsafe { (*copies.add(*owner)).p_image_info = info };
            }
        });
        *used += owners.len();
        changed
    };
    // SAFETY: the writes are valid by this function's contract, so those from `first` on are.
    for (index, infos) in unsafe { combined(writes.get(first..).unwrap_or(&[])) } {
        let index = first + index;
        // SAFETY: the write is valid.
        if immutables && writes.get(index).is_some_and(|write| unsafe { device.is_ignored(write, layout_of) }) {
            continue;
        }
        if let [info] = infos {
            // SAFETY: there is room for every info of the writes.
            unsafe { (*room.add(used + gathered)).write(*info) };
            owners[gathered] = index;
            gathered += 1;
            if gathered == INFOS {
                rewritten += flush(&owners, &mut used, &mut undecided);
                gathered = 0;
            }
            continue;
        }
        if gathered > 0 {
            rewritten += flush(&owners[..gathered], &mut used, &mut undecided);
            gathered = 0;
        }
        // SAFETY: there is room for every info of the writes.
        let out = unsafe { std::slice::from_raw_parts_mut(room.add(used), infos.len()) };
        let changed = device.hot.gate.substitute(infos, out, &mut undecided);
        if changed > 0 {
            rewritten += changed;
            used += infos.len();
            // SAFETY: below the number of copies.
            unsafe { (*copies.add(index)).p_image_info = out.as_ptr().cast() };
        }
    }
    if gathered > 0 {
        rewritten += flush(&owners[..gathered], &mut used, &mut undecided);
    }
    (if rewritten > 0 { copies } else { writes.as_ptr() }, rewritten)
}
