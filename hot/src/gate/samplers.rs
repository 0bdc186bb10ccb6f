//! The samplers of a gate while no other thread changes them.

use std::sync::atomic::Ordering;

use super::{Gate, Guarded};
use crate::table::{Cell, Writing};

/// The samplers of a gate, which no other thread changes.
pub struct Samplers<'g, W = ()> {
    pub(super) gate: &'g Gate<W>,
    pub(super) table: Writing<'g, Guarded<W>>,
}

impl<W> Samplers<'_, W> {
    /// What the lock guards beside them.
    #[inline(always)]
    pub fn with(&mut self) -> &mut W {
        &mut self.table.with().with
    }

    /// Whether one can be added without memory, which may be missing and is unwound for.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.table.has_room()
    }

    /// Whether a handle exists, or existed, more than once.
    #[inline(always)]
    pub fn has_duplicates(&self) -> bool {
        self.gate.has_duplicates.load(Ordering::Relaxed)
    }

    /// Adds a sampler, after which others may. If the driver returned a handle that is there already, the first one stays in force: a
    /// descriptor does not tell which of them it means. Then false is returned.
    #[inline(always)]
    pub fn add(mut self, sampler: u64, needs: u32, state: u32) -> bool {
        let before = self.table.insert_new(sampler, (u64::from(needs) << 32) | (u64::from(state) + 1));
        if before != 0 {
            self.gate.count_duplicate(sampler);
        }
        // Also for a handle that was there: whoever entered it may not have come this far yet, and this call returns it as well.
        let is_new = before == 0;
        let needs = if is_new { needs } else { (before >> 32) as u32 };
        let (all_needs, all_lacks) = self.gate.unions();
        if self.gate.concerns(needs, all_needs, all_lacks) {
            self.meet(sampler, needs, (before >> 32) as u32);
        }
        is_new
    }

    /// Takes a sampler into the filters that is in the table, where it was one that needed `before`.
    #[inline(never)]
    pub(super) fn meet(mut self, sampler: u64, needs: u32, before: u32) {
        let gate = self.gate;
        let (all_needs, all_lacks) = gate.unions();
        if needs & !all_needs != 0 {
            drop(self);
            return gate.widen(needs, 0);
        }
        if needs & all_lacks != 0 && self.table.with().counts.add(sampler) {
            gate.sampler_filter.insert(sampler);
            gate.any_filter.insert(sampler);
        }
        if before & all_lacks != 0 {
            self.leave(sampler);
        }
    }

    #[inline(never)]
    fn leave(&mut self, sampler: u64) {
        let Guarded { counts, any_sampler, .. } = self.table.with();
        if counts.remove(sampler) {
            self.gate.sampler_filter.remove(sampler);
            if !*any_sampler {
                self.gate.any_filter.remove(sampler);
            }
        }
    }

    /// Where a sampler is and its word, if it is there.
    #[inline(always)]
    pub fn find(&self, sampler: u64) -> Option<(Cell, u64)> {
        self.table.find(sampler)
    }

    /// Forgets the sampler that was just found there with this word, and whose handle exists no more than once.
    #[inline(always)]
    pub fn remove_at(&mut self, cell: Cell, sampler: u64, word: u64) {
        self.table.remove_at(cell);
        if (word >> 32) as u32 & self.gate.unions().1 != 0 {
            self.leave(sampler);
        }
    }

    /// Forgets a sampler and returns its word, 0 for one never seen; `None` if its handle exists once more.
    #[inline(always)]
    pub fn remove(&mut self, sampler: u64) -> Option<u64> {
        if self.has_duplicates() && self.gate.uncount_duplicate(sampler) {
            return None;
        }
        let word = self.table.remove(sampler);
        if (word >> 32) as u32 & self.gate.unions().1 != 0 {
            self.leave(sampler);
        }
        Some(word)
    }

    /// Calls `with` for every sampler and its word, in no order.
    pub fn for_each(&self, with: &mut dyn FnMut(u64, u64)) {
        self.table.for_each(with);
    }
}
