//! Shadow sets: copies of the application's sets in which some samplers or views are others.
//!
//! A shadow needs no fence. Whenever the application may update, free or reset a set, whatever was recorded with it is complete or
//! invalid (vkUpdateDescriptorSets, VUID-vkFreeDescriptorSets-pDescriptorSets-00309), and so is whatever was recorded with its
//! shadows; they die with that. Sets that may be updated while they are bound have none.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind::Other;
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::aspects::sampler_of;
use super::layouts::{Binding, SetShape};
use super::sets::{SetEntry, Shadow};
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::resolve::Pairs;
use crate::table::lock;

/// Most shadows of a set at a time.
const SHADOWS: usize = 4;
/// The same where each change of rules may take one.
const SHADOWS_OF_RULES: usize = 64;

impl Separate {
    /// A copy of a set with other samplers or views; none if there is no memory or there are too many.
    pub(super) fn shadow(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        set: u64,
        entry: &SetEntry,
        others: &[Other],
    ) -> Option<u64> {
        let kept = |shadows: &[Shadow]| Some(shadows.iter().find(|shadow| *shadow.others == *others)?.set);
        let (known, count) = entry.with_shadows(|shadows| (kept(shadows), shadows.len()));
        if known.is_some() || count >= SHADOWS && !(self.wholes.follow_rules() && count < SHADOWS_OF_RULES) {
            return known;
        }
        let (pool, made) = self.make_set(&ground.driver, &entry.shape, entry.variable, entry.pool_flags())?;
        self.fill_shadow(ground, pairs, set, made, entry, others);
        self.force.keep_shadow();
        let faster = entry.with_shadows(|shadows| {
            let known = kept(shadows);
            if known.is_none() {
                let others = memory::collect(others.iter().copied()).into_boxed_slice();
                shadows.with_room().push(Shadow { others, set: made.as_raw(), pool: pool.as_raw() });
            }
            known
        });
        if faster.is_some() {
            // Another thread was.
            ground.driver.destroy_pool(pool);
            return faster;
        }
        entry.is_guarded.store(true, Ordering::Release);
        // Whatever is written to a set from now on, a copy of it goes stale.
        ground.hot.keep_watching(u32::MAX);
        self.takes_all.store(true, Ordering::Relaxed);
        let live = self.shadows.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_shadows.fetch_max(live, Ordering::Relaxed);
        Some(made.as_raw())
    }

    /// An empty set of a definition, in a pool of its own with these flags. `variable`: descriptors of its last binding, if their number
    /// varies.
    pub(super) fn make_set(
        &self,
        driver: &Driver,
        shape: &SetShape,
        variable: u32,
        flags: vk::DescriptorPoolCreateFlags,
    ) -> Option<(vk::DescriptorPool, vk::DescriptorSet)> {
        let layout = self.twin_of_set(driver, shape)?;
        let (create, allocate) = (driver.fns.create_descriptor_pool?, driver.fns.allocate_descriptor_sets?);
        let reads_on = self.limits.reads_past_variable;
        let count = |binding: &Binding| match shape.variable {
            // Where the driver reads on behind the set it has to find memory of the pool, which it makes of zeroes.
            Some(last) if last == binding.binding && !reads_on => variable,
            _ => binding.count,
        };
        let sizes = memory::collect(
            shape
                .bindings
                .iter()
                .filter(|binding| count(binding) > 0)
                .map(|binding| vk::DescriptorPoolSize::default().ty(binding.ty).descriptor_count(count(binding))),
        );
        let blocks = sizes.iter().filter(|size| size.ty == vk::DescriptorType::INLINE_UNIFORM_BLOCK).count();
        let mut blocks =
            vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(blocks as u32);
        let mut info = vk::DescriptorPoolCreateInfo::default().flags(flags).max_sets(1).pool_sizes(&sizes);
        if blocks.max_inline_uniform_block_bindings > 0 {
            info = info.push_next(&mut blocks);
        }
        let mut pool = vk::DescriptorPool::null();
        // SAFETY: one set, with room for each of its descriptors; the types are those of a layout that the driver accepted.
        let result = unsafe { create(driver.handle, &info, std::ptr::null(), &mut pool) };
        if result != vk::Result::SUCCESS {
            return None;
        }
        let mut counts = vk::DescriptorSetVariableDescriptorCountAllocateInfo::default()
            .descriptor_counts(std::slice::from_ref(&variable));
        let mut info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(std::slice::from_ref(&layout));
        if shape.variable.is_some() {
            info = info.push_next(&mut counts);
        }
        let mut set = vk::DescriptorSet::null();
        // SAFETY: the pool was just made for one such set, and nobody else has it.
        let result = unsafe { allocate(driver.handle, &info, &mut set) };
        if result != vk::Result::SUCCESS {
            driver.destroy_pool(pool);
            return None;
        }
        Some((pool, set))
    }

    /// Copies the application's set and exchanges samplers and views.
    fn fill_shadow(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        from: u64,
        to: vk::DescriptorSet,
        entry: &SetEntry,
        others: &[Other],
    ) {
        let Some(update) = ground.driver.fns.update_descriptor_sets else { return };
        let from = vk::DescriptorSet::from_raw(from);
        let copies = memory::collect(entry.shape.bindings.iter().filter_map(|binding| {
            let count = if entry.shape.variable == Some(binding.binding) { entry.variable } else { binding.count };
            // Immutable ones come with the layout (VUID-VkCopyDescriptorSet-dstBinding-02753); of combined ones the images do not.
            let comes = binding.ty == vk::DescriptorType::SAMPLER && !binding.immutable.is_empty();
            (count > 0 && !comes).then(|| {
                vk::CopyDescriptorSet::default()
                    .src_set(from)
                    .src_binding(binding.binding)
                    .dst_set(to)
                    .dst_binding(binding.binding)
                    .descriptor_count(count)
            })
        }));
        let is_noted = self.wholes.are_there();
        let infos = memory::collect(others.iter().map(|other| match is_noted {
            true => pairs.exchanged(ground, entry, other),
            false => sampler_of(other),
        }));
        let writes = memory::collect(others.iter().zip(&infos).map(|((binding, element, _), (ty, info))| {
            vk::WriteDescriptorSet::default()
                .dst_set(to)
                .dst_binding(*binding)
                .dst_array_element(*element)
                .descriptor_type(*ty)
                .image_info(std::slice::from_ref(info))
        }));
        // SAFETY: both sets are of layouts that are defined alike; the application's set is bound by the command under way, so nobody
        // updates it, and its descriptors may be undefined or dead, which copying allows. The new set is not in use. The samplers
        // and views written are the layer's own, which live as long as those that they stand in for.
        unsafe {
            update(ground.driver.handle, 0, std::ptr::null(), copies.len() as u32, copies.as_ptr());
            update(ground.driver.handle, writes.len() as u32, writes.as_ptr(), 0, std::ptr::null());
        }
    }

    /// Destroys the shadows of a set that is about to change or to go. That is a change by itself: whatever the set is written with, and
    /// if nothing of it is followed, what was found out with a shadow holds no more.
    pub(super) fn drop_shadows(&self, driver: &Driver, entry: &SetEntry) {
        if !entry.has_shadows() {
            return;
        }
        let gone = entry.with_shadows(std::mem::take);
        entry.is_guarded.store(false, Ordering::Release);
        entry.touch();
        for shadow in gone {
            self.shadows.fetch_sub(1, Ordering::Relaxed);
            driver.destroy_pool(vk::DescriptorPool::from_raw(shadow.pool));
        }
    }

    /// Destroys whatever the layer has made for separate samplers: for the end of the device.
    pub fn destroy_separate(&self, driver: &Driver) {
        let pools = std::mem::take(&mut *lock(&self.pools));
        for set in pools.into_values().flat_map(|pool| pool.sets) {
            // SAFETY: the device is being destroyed, so no other call names its sets.
            if let Some(entry) = unsafe { self.sets.get(set) } {
                self.drop_shadows(driver, entry);
            }
        }
        self.destroy_splits(driver);
        self.destroy_twins(driver);
        self.destroy_passes(driver);
    }
}

impl Driver {
    pub(super) fn destroy_pool(&self, pool: vk::DescriptorPool) {
        if let Some(destroy) = self.fns.destroy_descriptor_pool {
            // SAFETY: made by `make_set` with a NULL allocator; its one set is not in use, or was recorded in place of one that is being
            // updated, freed or reset, or with a sampler that is being destroyed.
            unsafe { destroy(self.handle, pool, std::ptr::null()) };
        }
    }
}
