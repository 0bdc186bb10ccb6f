//! The pool of samplers that tables lead to, see [`tables`](super::tables), in hidden sets: what is written to them while they are bound.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};

use super::lists::{COLUMNS, LatePool, Lists, PLACES, PoolOf};
use super::tables::Tables;
use crate::device::driver::Driver;
use crate::device::resolve::On;
use crate::table::lock;

impl Lists {
    /// The first place behind all that are taken.
    fn end(&self) -> usize {
        self.pool.iter().rposition(|sampler| *sampler != 0).map_or(0, |last| last + 1)
    }

    /// Places that every pool has which is written on.
    fn room(&self) -> usize {
        self.late.iter().map(|pool| pool.places).fold(PLACES, u32::min) as usize
    }

    /// Any sampler that lives.
    fn any_sampler(&self) -> u64 {
        self.pool.iter().copied().find(|sampler| *sampler != 0).unwrap_or(0)
    }
}

impl Tables {
    /// Places that are left for other samplers.
    pub(super) fn left(&self) -> usize {
        let lists = lock(&self.lists);
        lists.room().saturating_sub(lists.end())
    }

    /// Whether a pool with so many places has all that words lead to.
    pub(super) fn fits(&self, places: u32) -> bool {
        lock(&self.lists).end() <= places as usize
    }

    /// The places that words of these samplers lead to, in ascending order, and what is there.
    pub(super) fn reached(&self, samplers: impl Iterator<Item = u64>) -> Vec<(u32, u64)> {
        let rows = samplers.filter_map(|sampler| (self.numbers.rows.get(sampler) as usize).checked_sub(1));
        let mut rows = memory::sorted(memory::collect(rows));
        rows.dedup();
        let lists = lock(&self.lists);
        let Some(matrix) = self.matrix() else { return Vec::new() };
        let columns = lists.columns.len().max(1);
        let words =
            rows.iter().flat_map(|row| (row * COLUMNS..row * COLUMNS + columns).filter_map(|at| matrix.get(at)));
        let mut places = memory::sorted(memory::collect(words));
        places.dedup();
        memory::collect(places.into_iter().filter_map(|place| Some((place, *lists.pool.get(place as usize)?))))
    }

    /// The samplers of a pool that is not written any more, at the places where they are; all of them live as long as nobody forgets them, and
    /// `with` is called before that may be. Nobody reads any other place.
    pub(super) fn with_places(&self, pool: &PoolOf, reached: &[(u32, u64)], with: impl FnOnce(&[u64])) {
        let lists = lock(&self.lists);
        let living = || {
            let lives = |(place, sampler): &&(u32, u64)| lists.pool.get(*place as usize) == Some(sampler);
            reached.iter().filter(lives).copied().filter(|(place, sampler)| *place < pool.places && *sampler != 0)
        };
        let any = living().next().map_or(0, |(_, sampler)| sampler);
        let mut all = memory::collect((0..pool.count).map(|_| any));
        living().for_each(|(place, sampler)| all.get_mut(place as usize).into_iter().for_each(|own| *own = sampler));
        with(&all);
    }

    /// The samplers of a pool that is written on, in this binding of a set; as in [`Tables::with_places`]. False if it has not enough places.
    pub(super) fn with_pool(
        &self,
        pool: &PoolOf,
        set: vk::DescriptorSet,
        binding: u32,
        with: impl FnOnce(&[u64]),
    ) -> bool {
        let mut lists = lock(&self.lists);
        if lists.end() > pool.places as usize {
            return false;
        }
        let any = lists.any_sampler();
        let placed = |at: usize| lists.pool.get(at).copied().filter(|sampler| *sampler != 0).unwrap_or(any);
        let mut all = memory::collect((0..pool.count as usize).map(placed));
        for (at, sampler) in &lists.own {
            for place in pool.own.iter().filter_map(|own| own.place(at.0, at.1)) {
                all.get_mut(place as usize).into_iter().for_each(|own| *own = *sampler);
            }
        }
        with(&all);
        let own = memory::collect(pool.own.iter().copied());
        lists.late.with_room().push(LatePool { set: set.as_raw(), binding, places: pool.places, own });
        true
    }

    /// The key of a state and a column.
    pub(super) fn unplaced(state: u32, column: u32) -> u64 {
        (u64::from(state) << 8) | (u64::from(column) + 1)
    }

    /// Whether there was no place for what stands in for the sampler of a pair.
    pub(super) fn is_unplaced(&self, pair: Pair) -> bool {
        let column = self.column(pair.class + 1).unwrap_or(0);
        self.unplaced.get(Self::unplaced(pair.state, column)) != 0
    }

    /// Whether there was none for any.
    pub(super) fn has_unplaced(&self) -> bool {
        !self.unplaced.is_empty()
    }

    /// What samplers need that were left without a place, or what stands in for them.
    pub(super) fn lost(&self) -> u32 {
        self.lost.load(Ordering::Acquire)
    }

    pub(super) fn lose(&self, On { ground, pairs }: On<'_>, state: u32) {
        let needs = pairs.samplers.rows(&ground.hot).state(state).map_or(u32::MAX, |shared| shared.needs.0);
        self.lost.fetch_or(needs, Ordering::AcqRel);
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
        let place = lists.pool.iter().position(|sampler| *sampler == 0).unwrap_or(lists.pool.len());
        if place >= lists.room() {
            return None;
        }
        if place == lists.pool.len() {
            lists.pool.with_room().push(0);
        }
        let place = place as u32;
        *lists.pool.get_mut(place as usize)? = sampler;
        self.places.insert(sampler, u64::from(place) + 1);
        driver.write_pools(&lists.late, place, sampler);
        Some(place)
    }

    /// A sampler that has no place was written to a descriptor that may be read already: it is read behind all places.
    #[cold]
    pub(super) fn write_own(&self, driver: &Driver, at: (u64, u32), sampler: u64) {
        let mut lists = lock(&self.lists);
        lists.own.with_room().insert(at, sampler);
        driver.write_own(&lists.late, at, sampler);
    }

    /// A table is about to go.
    pub(super) fn forget_own(&self, number: u64) {
        lock(&self.lists).own.retain(|(table, _), _| *table != number);
    }

    /// A sampler is about to go.
    pub(super) fn forget(&self, driver: &Driver, sampler: u64) {
        let (row, place) = (self.numbers.rows.get(sampler), self.places.get(sampler));
        if row == 0 && place == 0 && self.lost() == 0 {
            return;
        }
        let mut lists = lock(&self.lists);
        let any = lists.any_sampler();
        let Lists { own, late, .. } = &mut *lists;
        for (at, _) in own.extract_if(|_, own| *own == sampler).filter(|_| any != 0 && any != sampler) {
            driver.write_own(late, at, any);
        }
        if let Some(row) = (self.numbers.rows.remove(sampler) as u32).checked_sub(1) {
            lists.rows.get_mut(row as usize).into_iter().for_each(|row| row.sampler = 0);
        }
        if let Some(place) = (self.places.remove(sampler) as u32).checked_sub(1) {
            lists.pool.get_mut(place as usize).into_iter().for_each(|own| *own = 0);
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
        pools.iter().filter(|pool| place < pool.places).for_each(|pool| self.write_pool(pool, place, sampler));
    }

    /// Writes the sampler with a word of a table where pools have it behind their places.
    fn write_own(&self, pools: &[LatePool], at: (u64, u32), sampler: u64) {
        for pool in pools {
            pool.own
                .iter()
                .filter_map(|own| own.place(at.0, at.1))
                .for_each(|place| self.write_pool(pool, place, sampler));
        }
    }

    fn write_pool(&self, pool: &LatePool, element: u32, sampler: u64) {
        let Some(update) = self.fns.update_descriptor_sets else { return };
        let info = vk::DescriptorImageInfo { sampler: vk::Sampler::from_raw(sampler), ..Default::default() };
        let write = vk::WriteDescriptorSet::default()
            .dst_set(vk::DescriptorSet::from_raw(pool.set))
            .dst_binding(pool.binding)
            .dst_array_element(element)
            .descriptor_type(vk::DescriptorType::SAMPLER)
            .image_info(std::slice::from_ref(&info));
        // SAFETY: the set lives until it leaves the list, under whose lock this is; its binding has UPDATE_AFTER_BIND, so it may be bound or
        // pending (VUID-vkUpdateDescriptorSets-None-03047). No shader reads a place that no live sampler had so far; what is behind the
        // places is read where the application's own descriptor would be, which is being written.
        unsafe { update(self.handle, 1, &write, 0, std::ptr::null()) };
    }
}
