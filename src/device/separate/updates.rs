//! Updates of descriptor sets: what they write is taken over before they reach the driver.
//!
//! Almost no set has a shadow, so almost every update is taken over without a guard: nothing then allocates, locks or calls down.

use std::sync::atomic::Ordering;

use ash::vk;

use super::Separate;
use super::arrays::Taken;
use super::sets::SetEntry;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::live::{Copied, Filled, Live, Write, Writes};
use crate::device::resolve::{On, Pairs};

/// A set that was written to has another version after that.
#[inline(always)]
fn touch(written: Option<(vk::DescriptorSet, &SetEntry)>) {
    if let Some((_, entry)) = written {
        entry.touch();
    }
}

/// A set that is written to, see [`Separate::written`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct WrittenSet<'c>(&'c SetEntry);

impl WrittenSet<'_> {
    /// Takes a write over if that calls nothing. If not, the write may have been, and may be once more.
    #[inline(always)]
    pub fn take_one(self, write: Write<'_>) -> bool {
        let Self(entry) = self;
        if let Some((slot, handle)) = entry.shape.single(write)
            && let Some(slot) = entry.slots().get(slot)
        {
            slot.store(handle, Ordering::Relaxed);
            return entry.touch_once();
        }
        false
    }
}

impl Separate {
    /// Takes over writes, each after `changes` has been asked whether its set may change; ends with the first that may not. False then, and
    /// if there is news (`SetEntry::set`) or a table to write.
    #[inline(always)]
    fn take_writes(&self, hot: &Hot, writes: Writes<'_>, mut changes: impl FnMut(&SetEntry) -> bool) -> bool {
        if self.seen.is_watching() {
            self.seen.spend(writes.each().map(|write| write.descriptor_type));
        }
        // Shadows are copies of all that is in a set.
        let all = self.takes_all.load(Ordering::Relaxed);
        let (mut last, mut is_known): (Option<(vk::DescriptorSet, &SetEntry)>, _) = (None, true);
        for write in writes.each() {
            if !all && !self.follows(write.descriptor_type) {
                continue;
            }
            let entry = match last {
                Some((set, entry)) if set == write.dst_set => entry,
                _ => {
                    let Some(entry) = write.set().of_in_line(&self.sets) else { continue };
                    touch(last.replace((write.dst_set, entry)));
                    entry
                }
            };
            if !changes(entry) {
                is_known = false;
                break;
            }
            is_known &= entry.take::<false>((&hot.gate, &self.tables.numbers), write).is_known();
        }
        touch(last);
        is_known
    }

    /// Takes over writes where no set is guarded, see `SetEntry::is_guarded`, no view has both aspects and there is no news;
    /// false else. It neither allocates nor locks nor calls down, so that hooks call it without a guard.
    #[inline(always)]
    pub fn follow_writes(&self, hot: &Hot, writes: Writes<'_>) -> bool {
        !self.wholes.are_there() && self.take_writes(hot, writes, |entry| !entry.is_guarded.load(Ordering::Acquire))
    }

    /// The set that a write is to, if all that there is to do is to take the write over.
    #[inline(always)]
    pub fn written<'c>(&'c self, write: Write<'c>) -> Option<WrittenSet<'c>> {
        if self.wholes.are_there() {
            return None;
        }
        let entry = write.set().of_in_line(&self.sets)?;
        (!entry.is_guarded.load(Ordering::Acquire)).then_some(WrittenSet(entry))
    }

    /// [`Separate::follow_writes`] for one write to such a set.
    pub fn take_one(&self, hot: &Hot, WrittenSet(entry): WrittenSet<'_>, write: Write<'_>) -> bool {
        let taken = entry.take::<true>((&hot.gate, &self.tables.numbers), write);
        if matches!(taken, Taken::Near) {
            entry.touch();
        }
        taken.is_known()
    }

    /// [`Separate::follow_writes`] for an update with a template.
    pub fn follow_template(&self, hot: &Hot, set: Live<'_, vk::DescriptorSet>, filled: Filled<'_>) -> bool {
        !self.wholes.are_there()
            && self.take_template(hot, set, filled, |entry| !entry.is_guarded.load(Ordering::Acquire))
    }

    /// Takes over an update with a template, if `changes` says that its set may change. False if not, and if there is news
    /// (`SetEntry::set`).
    #[inline(always)]
    fn take_template(
        &self,
        hot: &Hot,
        set: Live<'_, vk::DescriptorSet>,
        filled: Filled<'_>,
        changes: impl FnOnce(&SetEntry) -> bool,
    ) -> bool {
        let Some(entry) = set.of_in_line(&self.sets) else { return true };
        if !changes(entry) {
            return false;
        }
        let Some(runs) = self.runs(filled) else { return true };
        if self.seen.is_watching() {
            self.seen.spend(runs.clone().map(|run| run.run.ty));
        }
        let all = self.takes_all.load(Ordering::Relaxed);
        let runs = runs.filter(|run| all || self.follows(run.run.ty));
        let is_known =
            runs.fold(true, |is_known, run| is_known & entry.apply((&hot.gate, &self.tables.numbers), run).is_known());
        entry.touch();
        is_known
    }

    /// Takes over writes and copies before they reach the driver: what was bound with a set that they change is of no use any more.
    pub fn separate_updates<'a>(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        writes: Writes<'_>,
        copies: impl Iterator<Item = Copied<'a>>,
    ) {
        let Ground { hot, driver, .. } = ground;
        let drop_shadows = |entry: &SetEntry| {
            self.drop_shadows(driver, entry);
            true
        };
        self.take_writes(hot, writes, drop_shadows);
        for write in writes.each() {
            if let Some(entry) = write.set().of(&self.sets).filter(|entry| entry.table().is_some()) {
                let target = (write.dst_binding, write.dst_array_element);
                self.write_words(On { ground, pairs }, entry, entry.shape.walk(target, write.descriptor_count));
            }
        }
        self.note_written_wholes(hot, &pairs.stand_ins.aspects, writes);
        for copy in copies {
            let [from, to] = copy.sets().map(|set| set.of(&self.sets));
            if let Some(to) = to {
                self.drop_shadows(driver, to);
                to.copy(&hot.gate, from, &copy);
                let target = (copy.dst_binding, copy.dst_array_element);
                self.write_words(On { ground, pairs }, to, to.shape.walk(target, copy.descriptor_count));
            }
            self.note_copied_wholes(hot, copy);
        }
        self.suspect(hot);
    }

    /// Takes over an update with a template before it reaches the driver.
    pub fn separate_template(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        set: Live<'_, vk::DescriptorSet>,
        filled: Filled<'_>,
    ) {
        let Ground { hot, driver, .. } = ground;
        let drop_shadows = |entry: &SetEntry| {
            self.drop_shadows(driver, entry);
            true
        };
        self.take_template(hot, set, filled, drop_shadows);
        if let Some(entry) = set.of(&self.sets).filter(|entry| entry.table().is_some()) {
            for run in self.runs(filled).into_iter().flatten() {
                self.write_words(On { ground, pairs }, entry, entry.shape.walk(run.run.target, run.run.count));
            }
        }
        self.note_template_wholes(hot, &pairs.stand_ins.aspects, set, filled);
        self.suspect(hot);
    }
}
