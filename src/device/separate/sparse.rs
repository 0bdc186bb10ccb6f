//! Slots of large bindings: memory grows with the descriptors that are written, not with those that are declared.
//!
//! A tree of two levels, whose parts are made when the first of their slots is written and go with the set. Each part knows what its
//! slots need and lack, so that a bind sums up what has changed, and a search skips what cannot be meant.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use samplin_hot::memory;

/// Slots of a leaf.
const LEAF: usize = 256;
/// Leaves of a branch.
const BRANCH: usize = 64;
/// Slots of a branch.
const UNDER: usize = LEAF * BRANCH;

/// What all slots of a part need, and in the upper half what they lack.
#[derive(Debug, Default)]
struct Summed {
    /// A slot has changed since.
    is_stale: AtomicBool,
    word: AtomicU64,
}

impl Summed {
    /// A slot was written, before. Each mark is an exchange, so that whoever takes it away sees what all have written that set it.
    fn spoil(&self) {
        self.is_stale.swap(true, Ordering::Release);
    }

    /// Sums up again what has changed.
    fn sum_up(&self, sum: impl FnOnce() -> u64) -> u64 {
        if self.is_stale.swap(false, Ordering::AcqRel) {
            self.word.store(sum(), Ordering::Relaxed);
        }
        self.word.load(Ordering::Relaxed)
    }

    /// Whether a slot may have one of these bits.
    fn may_have(&self, bits: u64) -> bool {
        self.is_stale.load(Ordering::Relaxed) || self.word.load(Ordering::Relaxed) & bits != 0
    }
}

#[derive(Debug)]
struct Leaf {
    slots: Box<[AtomicU64]>,
    summed: Summed,
}

#[derive(Debug)]
struct Branch {
    leaves: Box<[OnceLock<Leaf>]>,
    summed: Summed,
}

/// A list of parts that are not made yet.
fn parts<T: Default>(count: usize) -> Box<[T]> {
    let mut parts = memory::vec(count);
    parts.resize_with(count, T::default);
    parts.into_boxed_slice()
}

/// Slots by their numbers.
#[derive(Debug)]
pub(super) struct Sparse(Box<[OnceLock<Branch>]>);

impl Sparse {
    /// So many slots, all of them 0.
    pub(super) fn new(slots: usize) -> Self {
        Self(parts(slots.div_ceil(UNDER)))
    }

    fn leaf(&self, slot: usize) -> Option<&Leaf> {
        self.0.get(slot / UNDER)?.get()?.leaves.get(slot / LEAF % BRANCH)?.get()
    }

    pub(super) fn get(&self, slot: usize) -> u64 {
        let word = self.leaf(slot).and_then(|leaf| leaf.slots.get(slot % LEAF));
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Sets a slot. Two threads may set slots of one leaf.
    pub(super) fn set(&self, slot: usize, handle: u64) {
        if handle == 0 && self.leaf(slot).is_none() {
            return;
        }
        let Some(branch) = self.0.get(slot / UNDER) else { return };
        let branch = branch.get_or_init(|| Branch { leaves: parts(BRANCH), summed: Summed::default() });
        let Some(leaf) = branch.leaves.get(slot / LEAF % BRANCH) else { return };
        let leaf = leaf.get_or_init(|| Leaf { slots: parts(LEAF), summed: Summed::default() });
        let Some(word) = leaf.slots.get(slot % LEAF) else { return };
        word.store(handle, Ordering::Relaxed);
        leaf.summed.spoil();
        branch.summed.spoil();
    }

    /// What handles stand for has changed.
    pub(super) fn spoil(&self) {
        for branch in self.0.iter().filter_map(OnceLock::get) {
            branch.leaves.iter().filter_map(OnceLock::get).for_each(|leaf| leaf.summed.spoil());
            branch.summed.spoil();
        }
    }

    /// What all slots need and lack; `of` says that of a handle. One thread at a time sums up.
    pub(super) fn sum_up(&self, of: impl Fn(u64) -> u64) -> u64 {
        let of_leaf = |leaf: &Leaf| {
            let slots = || leaf.slots.iter().fold(0, |all, slot| all | of(slot.load(Ordering::Relaxed)));
            leaf.summed.sum_up(slots)
        };
        self.0.iter().filter_map(OnceLock::get).fold(0, |all, branch| {
            let leaves = || branch.leaves.iter().filter_map(OnceLock::get).fold(0, |all, leaf| all | of_leaf(leaf));
            all | branch.summed.sum_up(leaves)
        })
    }

    /// Calls `with` for each slot in `range` that is not 0 and lies in a part which may have one of `bits`, until it has found something.
    pub(super) fn find<R>(
        &self,
        range: Range<usize>,
        bits: u64,
        mut with: impl FnMut(usize, u64) -> Option<R>,
    ) -> Option<R> {
        let mut slot = range.start;
        while slot < range.end {
            let branch = self.0.get(slot / UNDER)?;
            let Some(branch) = branch.get().filter(|branch| branch.summed.may_have(bits)) else {
                slot = (slot / UNDER + 1) * UNDER;
                continue;
            };
            let end = (slot / LEAF + 1) * LEAF;
            let leaf = branch.leaves.get(slot / LEAF % BRANCH).and_then(OnceLock::get);
            if let Some(leaf) = leaf.filter(|leaf| leaf.summed.may_have(bits)) {
                for at in slot..end.min(range.end) {
                    let handle = leaf.slots.get(at % LEAF).map_or(0, |word| word.load(Ordering::Relaxed));
                    if handle != 0
                        && let Some(found) = with(at, handle)
                    {
                        return Some(found);
                    }
                }
            }
            slot = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves that were made.
    fn leaves(sparse: &Sparse) -> usize {
        let branches = sparse.0.iter().filter_map(OnceLock::get);
        branches.map(|branch| branch.leaves.iter().filter(|leaf| leaf.get().is_some()).count()).sum()
    }

    #[test]
    fn room_is_made_for_what_is_written() {
        let sparse = Sparse::new(1 << 20);
        assert_eq!((sparse.0.len(), leaves(&sparse)), (64, 0));
        for slot in [0, 1, LEAF - 1, 777_777, (1 << 20) - 1] {
            sparse.set(slot, slot as u64 + 1);
        }
        assert_eq!(leaves(&sparse), 3);
        // Nothing is written where nothing was, or behind the end.
        sparse.set(5 * LEAF, 0);
        sparse.set(1 << 20, 7);
        assert_eq!((leaves(&sparse), sparse.get(5 * LEAF), sparse.get(1 << 20)), (3, 0, 0));
        assert_eq!([0, 2, LEAF - 1, 777_777].map(|slot| sparse.get(slot)), [1, 0, LEAF as u64, 777_778]);
        sparse.set(0, 0);
        assert_eq!(sparse.get(0), 0);
    }

    /// Against a list, for writes in any order: what all slots have together, and the slots that have one of some bits.
    #[test]
    fn sums_and_searches_agree_with_a_list() {
        const SLOTS: usize = 3 * UNDER + 100;
        let sparse = Sparse::new(SLOTS);
        let mut list = vec![0_u64; SLOTS];
        let mut random = fastrand::Rng::with_seed(1);
        let sum = |list: &[u64]| list.iter().fold(0, |all, handle| all | handle);
        for _ in 0..if cfg!(miri) { 30 } else { 2000 } {
            // Near each other, so that slots are written again.
            let slot = [0, LEAF - 2, UNDER - 2, 2 * UNDER + 3, SLOTS - 4][random.usize(..5)] + random.usize(..4);
            let handle = if random.bool() { 0 } else { 1 << random.u32(..8) };
            sparse.set(slot, handle);
            list[slot] = handle;
            if random.u8(..4) == 0 {
                assert_eq!(sparse.sum_up(|handle| handle), sum(&list));
            }
            let bits = 1 << random.u32(..8);
            let range = random.usize(..SLOTS / 2)..random.usize(SLOTS / 2..SLOTS);
            let own = |slot: usize, handle: u64| (handle & bits != 0).then_some(slot);
            let wanted = range.clone().find(|slot| list[*slot] & bits != 0);
            assert_eq!(sparse.find(range, bits, own), wanted);
        }
        // What handles stand for is something else.
        sparse.spoil();
        assert_eq!(sparse.sum_up(|handle| handle << 8), sum(&list) << 8);
    }
}
