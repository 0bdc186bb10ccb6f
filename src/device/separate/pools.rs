//! Pools of descriptor sets: which sets come and go.

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;

use super::Separate;
use super::sets::SetEntry;
use crate::device::driver::Driver;
use crate::device::hot::Hot;
use crate::device::live::Live;
use crate::pnext::slice;
use crate::table::{FastSet, lock};

/// What a pool has of sets that are followed.
#[derive(Default)]
pub(super) struct SetPool {
    /// It was made with UPDATE_AFTER_BIND.
    is_update: bool,
    pub(super) sets: FastSet<u64>,
}

impl Separate {
    /// Remembers sets that were allocated.
    ///
    /// # Safety
    ///
    /// `info` is the valid argument of the call that made `sets`.
    pub unsafe fn separate_sets(
        &self,
        hot: &Hot,
        info: &vk::DescriptorSetAllocateInfo<'_>,
        sets: &[vk::DescriptorSet],
    ) {
        // SAFETY: the chain of a valid structure, and its arrays; layouts are not destroyed during this command
        // (VUID-VkDescriptorSetAllocateInfo-pSetLayouts-parameter).
        let (layouts, variable) = unsafe {
            let counts = crate::pnext::find::<vk::DescriptorSetVariableDescriptorCountAllocateInfo<'_>>(info.p_next);
            let counts = counts.map_or(&[][..], |node| slice(node.p_descriptor_counts, node.descriptor_set_count));
            (Live::all(slice(info.p_set_layouts, info.descriptor_set_count)), counts)
        };
        for (index, (layout, set)) in layouts.iter().zip(sets).enumerate() {
            let Some(layout) = self.set_layout(*layout) else { continue };
            let shows_aspects = self.wholes.may_come() && layout.shape.may_show_aspects();
            if !layout.shape.is_followed(self.seen.has_slots()) && !shows_aspects {
                continue;
            }
            let variable = variable.get(index).copied().unwrap_or(0);
            let shape = Arc::clone(&layout.shape);
            let mut entry = SetEntry::new(&hot.gate, &self.arrays, shape, Some(layout), variable);
            let mut pools = lock(&self.pools);
            let pool = pools.with_room().entry(info.descriptor_pool.as_raw()).or_default();
            pool.sets.with_room().insert(set.as_raw());
            entry.is_in_update_pool = pool.is_update;
            drop(pools);
            self.sets.insert(set.as_raw(), Arc::new(entry));
        }
        self.suspect(hot);
    }

    /// Remembers a pool, if copies of its sets have to be of one like it.
    pub fn insert_set_pool(&self, pool: vk::DescriptorPool, flags: vk::DescriptorPoolCreateFlags) {
        if flags.contains(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND) {
            let kept = SetPool { is_update: true, sets: FastSet::default() };
            lock(&self.pools).with_room().insert(pool.as_raw(), kept);
        }
    }

    /// Forgets sets that are about to be freed.
    pub fn forget_separate_sets(&self, driver: &Driver, pool: vk::DescriptorPool, gone: &[vk::DescriptorSet]) {
        if let Some(pool) = lock(&self.pools).get_mut(&pool.as_raw()) {
            gone.iter().for_each(|set| _ = pool.sets.remove(&set.as_raw()));
        }
        gone.iter().for_each(|set| self.forget_set(driver, set.as_raw()));
    }

    /// Forgets every set of a pool, and the pool itself if it goes as well.
    pub fn forget_separate_pool(&self, driver: &Driver, pool: vk::DescriptorPool, goes: bool) {
        let mut pools = lock(&self.pools);
        let gone = match pools.get_mut(&pool.as_raw()) {
            Some(kept) if !goes => std::mem::take(&mut kept.sets),
            _ => pools.remove(&pool.as_raw()).map(|kept| kept.sets).unwrap_or_default(),
        };
        drop(pools);
        gone.into_iter().for_each(|set| self.forget_set(driver, set));
    }

    /// Forgets a set that is written to as memory from now on (VK_VALVE_descriptor_set_host_mapping), which nothing is seen of.
    pub fn forget_mapped_set(&self, driver: &Driver, set: vk::DescriptorSet) {
        lock(&self.pools).values_mut().for_each(|pool| _ = pool.sets.remove(&set.as_raw()));
        self.forget_set(driver, set.as_raw());
    }

    fn forget_set(&self, driver: &Driver, set: u64) {
        // SAFETY: the set is the application's to free, so no other call names it.
        let entry = unsafe { self.sets.share(set) };
        self.sets.remove(set);
        if let Some(entry) = entry {
            self.drop_shadows(driver, &entry);
            self.forget_table(driver, &entry);
            self.hold(&entry);
        }
        self.wholes.forget(set);
    }
}
