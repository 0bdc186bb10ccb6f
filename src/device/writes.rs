//! Descriptor writes: the look through them, and the copy that reaches the driver when one has to change.
//!
//! The leaf hooks call this without a guard, so nothing here can panic. What is decided for the first time has a guard of its own.

mod looks;
mod singles;

use std::mem::MaybeUninit;

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_hot::SetLayout;
use samplin_hot::gate::Start;

pub use self::looks::Stop;
use self::looks::{combined, infos, kind_of};
use super::ground::Ground;
use super::layouts::LayoutOf;
use super::resolve::{On, Pairs};
use super::storage::Room;
use super::types::SINGLE;
use crate::counters::Path;

impl Pairs {
    /// Hands writes that need a closer look, from write `first` on, to `down`, or a copy with legal pairs.
    ///
    /// # Safety
    ///
    /// `count` valid writes of this device.
    #[inline(always)]
    pub unsafe fn forward_writes<'a>(
        &self,
        ground: &Ground,
        count: u32,
        writes: *const WriteDescriptorSet<'a>,
        (first, path): (u32, Path),
        layout_of: LayoutOf<'_>,
        down: impl FnOnce(*const WriteDescriptorSet<'a>),
    ) {
        // Last, so that pairs are of the application's views.
        let down = |writes| {
            if !ground.hot.exchanges_views() {
                return down(writes);
            }
            let mut room = Room::new();
            // SAFETY: `count` valid writes by this function's contract, or as many copies of them.
            down(unsafe { self.stand_ins.aliased_writes(ground, &self.images, count, writes, &mut room) });
        };
        // SAFETY: there is one write, valid by this function's contract.
        if count == 1 && unsafe { kind_of(writes) } == SINGLE && ground.hot.gate.must_look() {
            // SAFETY: there is one write, valid by this function's contract or copied from such a one, and its kind is that of one combined
            // image sampler.
            if ground.hot.has_immutables() && unsafe { self.pass_lone(ground, &*writes, layout_of, path) } {
                return down(writes);
            }
            // SAFETY: there is one such write, and its sampler counts: no layout has immutable ones, or `pass_lone` has found that this
            // write is not for one.
            return unsafe { self.forward_single(ground, writes, path, down) };
        }
        // SAFETY: `count` valid writes by this function's contract, or as many copies of them.
        let given = unsafe { crate::pnext::slice(writes, count) };
        // SAFETY: the writes are valid by this function's contract.
        if let Some(from) = unsafe { self.look(ground, given, first as usize, layout_of) } {
            // SAFETY: the writes are valid by this function's contract, and `from` is where `look` has just found the first that conflicts.
            return unsafe { rewrite(On { ground, pairs: self }, given, from, path, layout_of, down) };
        }
        let seen = combined(given);
        if seen > 0 {
            ground.hot.counters.add(path, seen as u64, 0);
        }
        down(writes);
    }

    /// [`Pairs::forward_writes`] for one pair whose sampler counts.
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

    /// The closer look, from write `first` on: where other samplers may have to reach the driver from. What there is to be said of
    /// immutable and of separate samplers is said here, or where writes are rewritten.
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

    /// Notes what is written for immutable samplers of a layout.
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

    /// Counts a write that reaches the driver unchanged: its sampler is an immutable one, of which note is taken, or it is only a candidate
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
    On { ground, pairs }: On<'_>,
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
        return down(unsafe {
            rewrite_into(On { ground, pairs }, given, from, (path, seen), layout_of, &mut writes, &mut infos)
        });
    }
    let (mut writes, mut infos) = (Vec::new(), Vec::new());
    if writes.try_reserve_exact(given.len()).is_err() || infos.try_reserve_exact(seen).is_err() {
        // Without memory for a copy there is only what was given.
        ground.hot.counters.add(path, seen as u64, 0);
        return down(given.as_ptr());
    }
    let (writes, infos) = (writes.spare_capacity_mut(), infos.spare_capacity_mut());
    // SAFETY: the writes are valid by this function's contract, and as much room was reserved as they need.
    down(unsafe { rewrite_into(On { ground, pairs }, given, from, (path, seen), layout_of, writes, infos) });
}

/// Writes that are looked at together.
const BLOCK: usize = 64;

/// Copies writes with other samplers, and their changed image infos.
struct Copies<'c, 'a> {
    on: On<'c>,
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
        let (On { ground, pairs }, path) = (self.on, self.path);
        let immutables = ground.hot.has_immutables();
        let blocks = writes.get(first..).unwrap_or_default().chunks(BLOCK);
        for (block, number) in blocks.zip((first..).step_by(BLOCK)) {
            // A bit for each single pair that may conflict, so that there is one branch for as many, and one for each array.
            let (mut left, mut arrays) = (0_u64, 0_u64);
            for (at, write) in block.iter().enumerate().rev() {
                // SAFETY: the write is valid by this function's contract.
                let kind = unsafe { kind_of(write) };
                if kind == SINGLE {
                    // SAFETY: one combined image sampler, as its kind says.
                    left = (left << 1) | u64::from(unsafe { ground.hot.may_conflict(write) });
                    continue;
                }
                left <<= 1;
                if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                    arrays |= 1 << at;
                } else if write.descriptor_type == vk::DescriptorType::SAMPLER {
                    ground.separate_seen();
                }
            }
            if immutables {
                for (at, write) in block.iter().enumerate() {
                    // SAFETY: the write is valid by this function's contract.
                    if (left | arrays) >> at & 1 != 0 && unsafe { ground.hot.is_ignored(write, layout_of) } {
                        (left, arrays) = (left & !(1 << at), arrays & !(1 << at));
                    }
                }
            }
            let look = ground.hot.gate.look();
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                // SAFETY: bits are those of the block's writes, and the infos of this one are one, as its kind says.
                let info = unsafe { *block.get_unchecked(at).p_image_info };
                let sampler = look.choice(info.sampler, info.image_view, &mut |pair| pairs.resolve(ground, pair, path));
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
        let On { ground, pairs } = self.on;
        let gate = &ground.hot.gate;
        let Some(start) = start.or_else(|| gate.first_conflict(given)) else { return };
        let Some((to, left)) = std::mem::take(&mut self.infos).split_at_mut_checked(given.len()) else { return };
        self.infos = left;
        let changed = gate.substitute(given, to, start, &mut |pair| pairs.resolve(ground, pair, self.path));
        if changed > 0 {
            self.rewritten += changed;
            // SAFETY: there is a copy by this function's contract.
            unsafe { (*self.writes.add(at)).p_image_info = to.as_ptr().cast() };
        }
    }
}

/// Returns what has to reach the driver, and counts.
///
/// # Safety
///
/// As for [`rewrite`]; there is room for the writes and for all their image infos, of which there are as many as `seen` says.
#[inline(never)]
unsafe fn rewrite_into<'a>(
    On { ground, pairs }: On<'_>,
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
    let mut copies = Copies { on: On { ground, pairs }, path, writes: copies, infos: room_infos, rewritten: 0 };
    if let ([write], Some(_)) = (writes, start) {
        // SAFETY: it is valid, of combined image samplers, and was just copied.
        unsafe { copies.array(write, 0, start) };
    } else {
        // SAFETY: the writes are valid by this function's contract and were just copied; there is room for all their infos.
        unsafe { copies.all(writes, (first, start), layout_of) };
    }
    ground.hot.counters.add(path, seen as u64, copies.rewritten);
    if copies.rewritten > 0 { copies.writes } else { writes.as_ptr() }
}
