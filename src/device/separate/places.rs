//! The pool of samplers that tables lead to, see [`tables`](super::tables), in hidden sets: what is written to them while they are bound.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::tables::{LatePool, Lists, PLACES, Tables};
use crate::device::driver::Driver;
use crate::table::lock;

impl Lists {
    /// The first place behind all that are taken.
    fn end(&self) -> usize {
        self.pool.iter().rposition(|sampler| *sampler != 0).map_or(0, |last| last + 1)
    }

    /// Any sampler that lives.
    fn any_sampler(&self) -> u64 {
        self.pool.iter().copied().find(|sampler| *sampler != 0).unwrap_or(0)
    }
}

impl Tables {
    /// Whether some pool was too small for what was written after it was bound.
    pub(super) fn has_overrun(&self) -> bool {
        self.overran.load(Ordering::Acquire)
    }

    /// Moves when the samplers of the pool do.
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    /// Whether a pool of so many samplers has all that words lead to.
    pub(super) fn fits(&self, count: u32) -> bool {
        !self.is_full.load(Ordering::Acquire) && lock(&self.lists).end() <= count as usize
    }

    /// The samplers of a pool with so many places, all of which live as long as nobody forgets them: `with` is called before that may be.
    /// `late`: its binding in a set that is written when the pool changes.
    pub(super) fn with_pool<R>(
        &self,
        count: u32,
        late: Option<(vk::DescriptorSet, u32)>,
        with: impl FnOnce(&[u64]) -> R,
    ) -> R {
        let mut lists = lock(&self.lists);
        let any = lists.any_sampler();
        let own = |at: usize| lists.pool.get(at).copied().filter(|sampler| *sampler != 0).unwrap_or(any);
        let done = with(&memory::collect((0..count as usize).map(own)));
        if let Some((set, binding)) = late {
            if lists.end() > count as usize {
                self.overran.store(true, Ordering::Release);
            }
            lists.late.with_room().push(LatePool { set: set.as_raw(), binding, count });
        }
        done
    }

    /// A hidden set is about to be destroyed.
    pub(super) fn leave_pool(&self, set: u64) {
        lock(&self.lists).late.retain(|pool| pool.set != set);
    }

    /// Where a sampler is in the pool.
    pub(super) fn place(&self, driver: &Driver, lists: &mut Lists, sampler: u64) -> Option<u32> {
        if let Some(place) = (self.places.get(sampler) as u32).checked_sub(1) {
            return Some(place);
        }
        // The first free one, so that small pools last.
        let place = match lists.pool.iter().position(|sampler| *sampler == 0) {
            Some(place) => place as u32,
            None if lists.pool.len() < PLACES as usize => {
                lists.pool.with_room().push(0);
                lists.pool.len() as u32 - 1
            }
            None => return None,
        };
        *lists.pool.get_mut(place as usize)? = sampler;
        self.places.insert(sampler, u64::from(place) + 1);
        self.turn.fetch_add(1, Ordering::AcqRel);
        driver.write_pools(&lists.late, place, sampler);
        if lists.late.iter().any(|pool| pool.count <= place) {
            self.overran.store(true, Ordering::Release);
        }
        Some(place)
    }

    /// A sampler is about to go.
    pub(super) fn forget(&self, driver: &Driver, sampler: u64) {
        let (row, place) = (self.rows.get(sampler), self.places.get(sampler));
        if row == 0 && place == 0 {
            return;
        }
        let mut lists = lock(&self.lists);
        if let Some(row) = (self.rows.remove(sampler) as u32).checked_sub(1) {
            lists.rows.get_mut(row as usize).into_iter().for_each(|row| row.sampler = 0);
        }
        if let Some(place) = (self.places.remove(sampler) as u32).checked_sub(1) {
            lists.pool.get_mut(place as usize).into_iter().for_each(|own| *own = 0);
            self.turn.fetch_add(1, Ordering::AcqRel);
            let any = lists.any_sampler();
            if any != 0 {
                driver.write_pools(&lists.late, place, any);
            }
        }
    }
}

impl Driver {
    /// Writes a sampler to a place of pools.
    fn write_pools(&self, pools: &[LatePool], place: u32, sampler: u64) {
        let Some(update) = self.fns.update_descriptor_sets else { return };
        let info = vk::DescriptorImageInfo { sampler: vk::Sampler::from_raw(sampler), ..Default::default() };
        for pool in pools.iter().filter(|pool| place < pool.count) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(vk::DescriptorSet::from_raw(pool.set))
                .dst_binding(pool.binding)
                .dst_array_element(place)
                .descriptor_type(vk::DescriptorType::SAMPLER)
                .image_info(std::slice::from_ref(&info));
            // SAFETY: the set lives until it leaves the list, under whose lock this is; its binding has UPDATE_AFTER_BIND, so it may be bound
            // or pending (VUID-vkUpdateDescriptorSets-None-03047), and no shader reads a place that no live sampler had so far.
            unsafe { update(self.handle, 1, &write, 0, std::ptr::null()) };
        }
    }
}
