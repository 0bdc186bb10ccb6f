//! Descriptor writes: the look through them, and the copy that goes down when one has to change.
//!
//! The leaf hooks call this without a guard, so nothing here can panic. What is decided for the first time has a guard of its own.

mod singles;

use std::mem::{MaybeUninit, offset_of};

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_hot::SetLayout;
use samplin_hot::gate::Start;

pub use self::singles::Stop;
use super::Device;
use super::ground::Ground;
use super::hot::Hot;
use super::layouts::LayoutOf;
use super::resolve::Pairs;
use super::storage::Room;
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

impl Hot {
    /// Whether the pair of a single write may conflict.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    unsafe fn is_candidate(&self, write: *const WriteDescriptorSet<'_>) -> bool {
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
    unsafe fn may_conflict(&self, write: *const WriteDescriptorSet<'_>) -> bool {
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
        (count, first): (u32, u32),
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
}

impl Device {
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
        // Last, so that pairs are of the application's views.
        let down = |writes| {
            if !self.ground.hot.exchanges_views() {
                return down(writes);
            }
            let mut room = Room::new();
            // SAFETY: `count` valid writes by this function's contract, or as many copies of them.
            down(unsafe { self.aliased_writes(count, writes, &mut room) });
        };
        // SAFETY: there is one write, valid by this function's contract.
        if count == 1 && unsafe { kind_of(writes) } == SINGLE && self.ground.hot.gate.must_look() {
            // SAFETY: there is one write, valid by this function's contract or copied from such a one, and its kind is that of one combined
            // image sampler.
            if self.ground.hot.has_immutables()
                && unsafe { self.pairs.pass_lone(&self.ground, &*writes, layout_of, path) }
            {
                return down(writes);
            }
            // SAFETY: there is one such write, and its sampler counts: no layout has immutable ones, or `pass_lone` has found that this
            // write is not for one.
            return unsafe { self.pairs.forward_single(&self.ground, writes, path, down) };
        }
        // SAFETY: `count` valid writes by this function's contract, or as many copies of them.
        let given = unsafe { crate::pnext::slice(writes, count) };
        // SAFETY: the writes are valid by this function's contract.
        if let Some(from) = unsafe { self.pairs.look(&self.ground, given, first as usize, layout_of) } {
            // SAFETY: the writes are valid by this function's contract, and `from` is where `look` has just found the first that conflicts.
            return unsafe { rewrite(self, given, from, path, layout_of, down) };
        }
        let seen = combined(given);
        if seen > 0 {
            self.ground.hot.counters.add(path, seen as u64, 0);
        }
        down(writes);
    }
}

impl Pairs {
    /// [`Device::forward_writes`] for one pair whose sampler counts.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(always)]
    unsafe fn forward_single<'a>(
        &self,
        ground: &Ground,
        write: *const WriteDescriptorSet<'a>,
        path: Path,
        down: impl FnOnce(*const WriteDescriptorSet<'a>),
    ) {
        // SAFETY: one element (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
        let (given, info) = unsafe { (*write, *(*write).p_image_info) };
        let pair = ground.hot.gate.look_up(info.sampler, info.image_view);
        let choice = pair.map_or(info.sampler, |pair| vk::Sampler::from_raw(self.choose(ground, pair, path)));
        let is_other = choice != info.sampler;
        ground.hot.counters.add(path, 1, u64::from(is_other));
        let info = DescriptorImageInfo { sampler: choice, ..info };
        let other = WriteDescriptorSet { p_image_info: &info, ..given };
        down(if is_other { &other } else { write });
    }

    /// The closer look, from write `first` on: where other samplers may have to go down from. What there is to be said of immutable and
    /// of separate samplers is said here, or where writes are rewritten.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(always)]
    unsafe fn look(
        &self,
        ground: &Ground,
        writes: &[WriteDescriptorSet<'_>],
        first: usize,
        layout_of: LayoutOf<'_>,
    ) -> Option<From> {
        let look = ground.hot.gate.must_look();
        if look && ground.hot.has_immutables() {
            // SAFETY: the same writes, valid by this function's contract.
            return unsafe { self.look_among_immutables(ground, writes, first, layout_of) }.map(|write| (write, None));
        }
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                if !look {
                    continue;
                }
                // SAFETY: the write is one of those that are valid by this function's contract, and of combined image samplers.
                match unsafe { infos(write) } {
                    [info] if ground.hot.gate.may_conflict(info.sampler, info.image_view) => {
                        return Some((index, None));
                    }
                    [_] => {}
                    infos => {
                        if let Some(start) = ground.hot.gate.first_conflict(infos) {
                            return Some((index, Some(start)));
                        }
                    }
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                ground.separate_seen();
            }
        }
        None
    }

    /// [`Pairs::look`] on a device that has seen immutable samplers.
    ///
    /// # Safety
    ///
    /// The writes are valid.
    #[inline(never)]
    unsafe fn look_among_immutables(
        &self,
        ground: &Ground,
        writes: &[WriteDescriptorSet<'_>],
        first: usize,
        layout_of: LayoutOf<'_>,
    ) -> Option<usize> {
        let mut out = None;
        for (index, write) in writes.iter().enumerate().skip(first) {
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                // SAFETY: the write is valid by this function's contract, and of combined image samplers, so it has as many infos as it
                // says.
                unsafe {
                    if let Some(layout) = ground.hot.ignoring(write, layout_of) {
                        self.note_write(ground, layout, write);
                    } else if out.is_none() && ground.hot.conflicts(write) {
                        out = Some(index);
                    }
                }
            } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                ground.separate_seen();
            }
        }
        out
    }

    /// Takes note of what is written for immutable samplers of a layout.
    ///
    /// # Safety
    ///
    /// The write is valid, of combined image samplers.
    #[inline(never)]
    unsafe fn note_write(&self, ground: &Ground, layout: &SetLayout, write: &WriteDescriptorSet<'_>) {
        let target = (write.dst_binding, write.dst_array_element);
        // SAFETY: the write is valid by this function's contract.
        self.note_immutables(ground, layout, target, unsafe { infos(write) }.iter().copied());
    }

    /// Counts a write that goes down as it is: its sampler is an immutable one, of which note is taken, or it is only a candidate
    /// because it might be. False if it may conflict.
    ///
    /// # Safety
    ///
    /// A valid write of one combined image sampler.
    #[inline(never)]
    unsafe fn pass_lone(
        &self,
        ground: &Ground,
        write: &WriteDescriptorSet<'_>,
        layout_of: LayoutOf<'_>,
        path: Path,
    ) -> bool {
        // SAFETY: the write is valid by this function's contract, and of one combined image sampler.
        unsafe {
            match ground.hot.ignoring(write, layout_of) {
                Some(layout) => self.note_write(ground, layout, write),
                None if ground.hot.may_conflict(write) => return false,
                None => {}
            }
        }
        ground.hot.counters.add(path, 1, 0);
        true
    }
}

impl Hot {
    /// # Safety
    ///
    /// The write is valid, of combined image samplers.
    #[inline(always)]
    unsafe fn conflicts(&self, write: &WriteDescriptorSet<'_>) -> bool {
        // SAFETY: the write is valid and of combined image samplers by this function's contract, so it has as many infos as it says.
        match unsafe { infos(write) } {
            [info] => self.gate.conflict(info.sampler, info.image_view).is_some(),
            infos => self.gate.first_conflict(infos).is_some(),
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

// ---- rewriting ----

/// Writes and image infos that are copied on the stack.
const WRITES: usize = 16;
pub(super) const INFOS: usize = 64;

/// A write, and where in its array pairs start to conflict if that is known.
type From = (usize, Option<Start>);

/// Calls `down` with a copy of the writes in which every pair that conflicts, in write `first` or later, has the sampler chosen for
/// it; with the writes themselves if none changes.
///
/// # Safety
///
/// The writes are valid.
#[inline(never)]
unsafe fn rewrite<'a>(
    device: &Device,
    given: &[WriteDescriptorSet<'a>],
    from: From,
    path: Path,
    layout_of: LayoutOf<'_>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    let seen = combined(given);
    if given.len() <= WRITES && seen <= INFOS {
        let mut writes = [const { MaybeUninit::uninit() }; WRITES];
        let mut infos = [const { MaybeUninit::uninit() }; INFOS];
        // SAFETY: the writes are valid by this function's contract, and both places were checked to hold all of them.
        return down(unsafe { rewrite_into(device, given, from, (path, seen), layout_of, &mut writes, &mut infos) });
    }
    let (mut writes, mut infos) = (Vec::new(), Vec::new());
    if writes.try_reserve_exact(given.len()).is_err() || infos.try_reserve_exact(seen).is_err() {
        // Without memory for a copy there is only what was given.
        device.ground.hot.counters.add(path, seen as u64, 0);
        return down(given.as_ptr());
    }
    let (writes, infos) = (writes.spare_capacity_mut(), infos.spare_capacity_mut());
    // SAFETY: the writes are valid by this function's contract, and as much room was reserved as they need.
    down(unsafe { rewrite_into(device, given, from, (path, seen), layout_of, writes, infos) });
}

/// Number of combined image samplers.
fn combined(writes: &[WriteDescriptorSet<'_>]) -> usize {
    let of = |write: &WriteDescriptorSet<'_>| {
        let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        if is_combined { write.descriptor_count as usize } else { 0 }
    };
    writes.iter().map(of).sum()
}

/// Writes that are looked at together.
const BLOCK: usize = 64;

/// Copies writes with other samplers, and their changed image infos.
struct Copies<'c, 'a> {
    device: &'c Device,
    path: Path,
    /// As many as there are writes.
    writes: *mut WriteDescriptorSet<'a>,
    /// Room for the infos that are left.
    infos: &'c mut [MaybeUninit<DescriptorImageInfo>],
    rewritten: u64,
}

impl Copies<'_, '_> {
    /// Puts other samplers into writes, from write `first` on.
    ///
    /// # Safety
    ///
    /// The writes are valid and copied.
    #[inline(always)]
    unsafe fn all(&mut self, writes: &[WriteDescriptorSet<'_>], (first, start): From, layout_of: LayoutOf<'_>) {
        let (device, path) = (self.device, self.path);
        let immutables = device.ground.hot.has_immutables();
        let blocks = writes.get(first..).unwrap_or_default().chunks(BLOCK);
        for (block, number) in blocks.zip((first..).step_by(BLOCK)) {
            // A bit for each single pair that may conflict, so that there is one branch for as many, and one for each array.
            let (mut left, mut arrays) = (0_u64, 0_u64);
            for (at, write) in block.iter().enumerate().rev() {
                // SAFETY: the write is valid by this function's contract.
                let kind = unsafe { kind_of(write) };
                if kind == SINGLE {
                    // SAFETY: one combined image sampler, as its kind says.
                    left = (left << 1) | u64::from(unsafe { device.ground.hot.may_conflict(write) });
                    continue;
                }
                left <<= 1;
                if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                    arrays |= 1 << at;
                } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                    device.ground.separate_seen();
                }
            }
            if immutables {
                for (at, write) in block.iter().enumerate() {
                    // SAFETY: the write is valid by this function's contract.
                    if (left | arrays) >> at & 1 != 0 && unsafe { device.ground.hot.is_ignored(write, layout_of) } {
                        (left, arrays) = (left & !(1 << at), arrays & !(1 << at));
                    }
                }
            }
            let look = device.ground.hot.gate.look();
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                // SAFETY: bits are those of the block's writes, and the infos of this one are one, as its kind says.
                let info = unsafe { *block.get_unchecked(at).p_image_info };
                let sampler = look.choice(info.sampler, info.image_view, &mut |pair| {
                    device.pairs.resolve(&device.ground, pair, path)
                });
                let Some((to, rest)) = std::mem::take(&mut self.infos).split_first_mut() else { break };
                self.infos = rest;
                self.rewritten += u64::from(sampler != info.sampler);
                // Also where it is the same, because a branch costs more.
                let to = to.write(DescriptorImageInfo { sampler, ..info });
                // SAFETY: there are as many copies as writes.
                unsafe { (*self.writes.add(number + at)).p_image_info = to };
            }
            while arrays != 0 {
                let at = arrays.trailing_zeros() as usize;
                arrays &= arrays - 1;
                let start = start.filter(|_| number + at == first);
                // SAFETY: bits are those of the block's writes, which are valid and all copied.
                unsafe { self.array(block.get_unchecked(at), number + at, start) };
            }
        }
    }

    /// Puts other samplers into write `at`, of an array whose pairs start to conflict at `start`.
    ///
    /// # Safety
    ///
    /// A valid write of combined image samplers, of which there is a copy at that place.
    #[inline(never)]
    unsafe fn array(&mut self, write: &WriteDescriptorSet<'_>, at: usize, start: Option<Start>) {
        // SAFETY: valid by this function's contract.
        let given = unsafe { infos(write) };
        let gate = &self.device.ground.hot.gate;
        let Some(start) = start.or_else(|| gate.first_conflict(given)) else { return };
        let Some((to, left)) = std::mem::take(&mut self.infos).split_at_mut_checked(given.len()) else { return };
        self.infos = left;
        let changed = gate
            .substitute(given, to, start, &mut |pair| self.device.pairs.resolve(&self.device.ground, pair, self.path));
        if changed > 0 {
            self.rewritten += changed;
            // SAFETY: there is a copy by this function's contract.
            unsafe { (*self.writes.add(at)).p_image_info = to.as_ptr().cast() };
        }
    }
}

/// Returns what has to go down, and counts.
///
/// # Safety
///
/// As for [`rewrite`]; there is room for the writes and for all their image infos, of which there are as many as `seen` says.
#[inline(never)]
unsafe fn rewrite_into<'a>(
    device: &Device,
    writes: &[WriteDescriptorSet<'a>],
    (first, start): From,
    (path, seen): (Path, usize),
    layout_of: LayoutOf<'_>,
    room_writes: &mut [MaybeUninit<WriteDescriptorSet<'a>>],
    room_infos: &mut [MaybeUninit<DescriptorImageInfo>],
) -> *const WriteDescriptorSet<'a> {
    let copies = room_writes.as_mut_ptr().cast::<WriteDescriptorSet<'a>>();
    // SAFETY: there is room for as many, by this function's contract.
    unsafe { copies.copy_from_nonoverlapping(writes.as_ptr(), writes.len()) };
    let mut copies = Copies { device, path, writes: copies, infos: room_infos, rewritten: 0 };
    if let ([write], Some(_)) = (writes, start) {
        // SAFETY: it is valid, of combined image samplers, and was just copied.
        unsafe { copies.array(write, 0, start) };
    } else {
        // SAFETY: the writes are valid by this function's contract and were just copied; there is room for all their infos.
        unsafe { copies.all(writes, (first, start), layout_of) };
    }
    device.ground.hot.counters.add(path, seen as u64, copies.rewritten);
    if copies.rewritten > 0 { copies.writes } else { writes.as_ptr() }
}
