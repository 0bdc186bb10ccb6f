//! Descriptor sets: which sampler and which image is in which slot.
//!
//! Slots hold handles as they were written and nothing else; what they mean is looked up when a set is bound. Only descriptors of
//! bindings with UPDATE_AFTER_BIND may be written by two threads at once, so single words without an order are enough.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::layouts::{Binding, Kind, SetLayout, SetShape};
use crate::device::Device;
use crate::device::types::{COMBINED, type_bit};
use crate::hooks::slice;
use crate::table::lock;
use crate::variant::Gate;

/// A sampler in place of another: binding, element, handle.
pub(super) type Other = (u32, u32, u64);

/// A set that is bound in place of the application's.
#[derive(Debug)]
pub(super) struct Shadow {
    /// What is different in it, in ascending order.
    pub(super) others: Box<[Other]>,
    pub(super) set: u64,
    /// A pool of its own.
    pub(super) pool: u64,
}

/// What a bind remembers of what is in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Brief {
    /// [`SetEntry::stamp`]; 0 if no set is bound.
    pub(super) stamp: u64,
    /// What the samplers need, and in the upper half what the images lack.
    pub(super) summary: u64,
    /// The set may be updated while it is bound.
    pub(super) is_loose: bool,
}

impl Brief {
    /// Stamp of descriptors that were pushed: they are other ones each time.
    pub(super) const PUSHED: u64 = u64::MAX;

    /// Of a set with nothing of interest, which is not as if none were bound.
    pub(super) const EMPTY: Self = Self { stamp: 1, summary: 0, is_loose: false };
}

/// Slots that an entry has room for itself.
const NEAR: usize = 4;

/// A descriptor set, or the descriptors that were pushed to a set number.
#[derive(Debug)]
pub(super) struct SetEntry {
    pub(super) shape: Arc<SetShape>,
    /// What it was allocated with; pushed descriptors were not.
    layout: Option<Arc<SetLayout>>,
    /// Descriptors of its last binding, if that varies.
    pub(super) variable: u32,
    is_loose: bool,
    /// Another value after each write.
    stamp: AtomicU64,
    /// Needs and lacks of what is in it, when it had this stamp.
    summary: AtomicU64,
    summary_at: AtomicU64,
    /// A handle for each slot, 0 for none: the first of them, and all if there are more.
    near: [AtomicU64; NEAR],
    #[expect(clippy::box_collection, reason = "one word instead of three in each of many entries")]
    many: Option<Box<Vec<AtomicU64>>>,
    /// Sets that are bound in place of this one; almost all sets have none.
    #[expect(clippy::box_collection, reason = "as above")]
    shadows: Mutex<Option<Box<Vec<Shadow>>>>,
    pub(super) has_shadows: AtomicBool,
}

impl SetEntry {
    pub(super) fn new(shape: Arc<SetShape>, layout: Option<Arc<SetLayout>>, variable: u32, number: u64) -> Self {
        let many = (shape.slots > NEAR).then(|| {
            let mut slots = memory::vec(shape.slots);
            slots.resize_with(shape.slots, AtomicU64::default);
            Box::new(slots)
        });
        let entry = Self {
            is_loose: shape.after_bind,
            shape,
            layout,
            variable,
            stamp: AtomicU64::new(number << 24),
            summary: AtomicU64::new(0),
            summary_at: AtomicU64::new(0),
            near: Default::default(),
            many,
            shadows: Mutex::default(),
            has_shadows: AtomicBool::new(false),
        };
        for binding in &entry.shape.bindings {
            for (element, sampler) in binding.immutable.iter().enumerate() {
                entry.set(binding.sampler_slot(element as u32), *sampler);
            }
        }
        entry
    }

    /// Whether the layout that it was allocated with is gone.
    pub(super) fn is_without_layout(&self) -> bool {
        self.layout.as_deref().is_some_and(SetLayout::is_gone)
    }

    /// Whether a test switch may have it copied: there are samplers in it, and a copy does not go stale.
    pub(super) fn may_be_copied(&self) -> bool {
        let samples = |binding: &Binding| binding.ty == vk::DescriptorType::SAMPLER;
        !self.shape.after_bind && !self.is_without_layout() && self.shape.bindings.iter().any(samples)
    }

    #[inline(always)]
    fn slots(&self) -> &[AtomicU64] {
        match &self.many {
            Some(many) => many,
            None => &self.near,
        }
    }

    /// Works on the sets that are bound in place of this one.
    pub(super) fn with_shadows<R>(&self, with: impl FnOnce(&mut Vec<Shadow>) -> R) -> R {
        with(lock(&self.shadows).get_or_insert_default())
    }

    fn set(&self, slot: Option<usize>, handle: u64) {
        if let Some(word) = slot.and_then(|slot| self.slots().get(slot)) {
            word.store(handle, Ordering::Relaxed);
        }
    }

    /// The handle in a slot, 0 for none.
    pub(super) fn get(&self, slot: usize) -> u64 {
        self.slots().get(slot).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// What a bind remembers of it.
    #[inline(always)]
    pub(super) fn brief(&self, gate: &Gate) -> Brief {
        let stamp = self.stamp();
        if self.summary_at.load(Ordering::Acquire) == stamp {
            return Brief { stamp, summary: self.summary.load(Ordering::Relaxed), is_loose: self.is_loose };
        }
        self.sum_up(gate, stamp)
    }

    /// The same, if it was found out before and stays so while the set is bound.
    #[inline(always)]
    pub(super) fn known_brief(&self) -> Option<Brief> {
        let stamp = self.stamp();
        if self.is_loose || self.summary_at.load(Ordering::Acquire) != stamp {
            return None;
        }
        Some(Brief { stamp, summary: self.summary.load(Ordering::Relaxed), is_loose: false })
    }

    #[cold]
    #[inline(never)]
    fn sum_up(&self, gate: &Gate, stamp: u64) -> Brief {
        let (mut needs, mut lacks) = (0, 0);
        for slot in self.slots() {
            // A handle is a sampler's or a view's; it may be both, as numbers go, and then counts for too much.
            let handle = slot.load(Ordering::Relaxed);
            needs |= (gate.sampler(handle) >> 32) as u32;
            lacks |= (gate.view(handle) >> 32) as u32;
        }
        let summary = u64::from(needs) | (u64::from(lacks) << 32);
        self.summary.store(summary, Ordering::Relaxed);
        self.summary_at.store(stamp, Ordering::Release);
        Brief { stamp, summary, is_loose: self.is_loose }
    }

    /// A value that changes with each write and is that of no other set.
    pub(super) fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn touch(&self) {
        if self.is_loose {
            self.stamp.fetch_add(1, Ordering::Relaxed);
        } else {
            // Nobody else writes to it at the same time (vkUpdateDescriptorSets, "Host Synchronization").
            self.stamp.store(self.stamp().wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Takes over written descriptors of a type.
    ///
    /// # Safety
    ///
    /// `info(n)` may be called for each `n` below `count` if descriptors of this type are images or samplers.
    #[inline(always)]
    unsafe fn write(
        &self,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        self.touch();
        let slots = self.shape.run(ty, target, count).and_then(|run| self.slots().get(run));
        let Some(slots) = slots else {
            // SAFETY: `info` may be called as this function's contract says.
            return unsafe { self.write_each(ty, target, count, info) };
        };
        for (index, slot) in (0..).zip(slots) {
            let info = info(index);
            let handle =
                if ty == vk::DescriptorType::SAMPLER { info.sampler.as_raw() } else { info.image_view.as_raw() };
            slot.store(handle, Ordering::Relaxed);
        }
    }

    /// [`SetEntry::write`] where not every descriptor has a slot of its own that is written.
    ///
    /// # Safety
    ///
    /// As for [`SetEntry::write`].
    #[inline(never)]
    unsafe fn write_each(
        &self,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        if self.set_pairs(ty, target, count, (0..count).map(&info)) {
            return;
        }
        self.shape.walk(target, count, |index, binding, element| {
            let (sampler, image) = (binding.sampler_slot(element), binding.image_slot(element));
            match ty {
                // Nothing is read for what has no slot.
                vk::DescriptorType::SAMPLER => {
                    if sampler.is_some() && binding.immutable.is_empty() {
                        self.set(sampler, info(index).sampler.as_raw());
                    }
                    self.set(image, 0);
                }
                vk::DescriptorType::SAMPLED_IMAGE => {
                    self.set(sampler, 0);
                    if image.is_some() {
                        self.set(image, info(index).image_view.as_raw());
                    }
                }
                _ if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && binding.kind == Kind::Combined => {
                    let info = info(index);
                    if binding.immutable.is_empty() {
                        self.set(sampler, info.sampler.as_raw());
                    }
                    self.set(image, info.image_view.as_raw());
                }
                _ => {
                    // What else a binding of several types can hold.
                    self.set(sampler, 0);
                    self.set(image, 0);
                }
            }
        });
    }

    /// Takes over what is copied from `from`.
    pub(super) fn copy(&self, from: &Self, copy: &vk::CopyDescriptorSet<'_>) {
        self.touch();
        let mut words = memory::vec(copy.descriptor_count as usize);
        from.shape.walk((copy.src_binding, copy.src_array_element), copy.descriptor_count, |_, binding, element| {
            let get = |slot: Option<usize>| slot.map_or(0, |slot| from.get(slot));
            words.push((get(binding.sampler_slot(element)), get(binding.image_slot(element))));
        });
        self.shape.walk(
            (copy.dst_binding, copy.dst_array_element),
            copy.descriptor_count,
            |index, binding, element| {
                let Some((sampler, image)) = words.get(index as usize) else { return };
                if binding.immutable.is_empty() {
                    self.set(binding.sampler_slot(element), *sampler);
                }
                self.set(binding.image_slot(element), *image);
            },
        );
    }
}

/// Separate samplers or images in the data of an update template, or what else may stand where they do.
#[derive(Clone, Copy, Debug)]
pub struct TemplateRun {
    /// `descriptorType` of the entry.
    pub ty: vk::DescriptorType,
    /// `dstBinding` and `dstArrayElement` of the entry.
    pub target: (u32, u32),
    /// `descriptorCount` of the entry.
    pub count: u32,
    /// `offset` of the entry.
    pub offset: usize,
    /// `stride` of the entry.
    pub stride: usize,
}

/// The entries of an update template.
pub(super) struct TemplateRuns {
    pub(super) runs: Box<[TemplateRun]>,
    /// Pushes are for this bind point.
    pub(super) bind_point: vk::PipelineBindPoint,
}

impl TemplateRuns {
    /// Writes what the data of a template says into a entry.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    pub(super) unsafe fn apply(&self, entry: &SetEntry, data: *const c_void) {
        for run in &self.runs {
            let info = |index: u32| {
                let at =
                    data.cast::<u8>().wrapping_add(run.offset.wrapping_add(run.stride.wrapping_mul(index as usize)));
                // SAFETY: the template describes an element of this type there; alignment is not promised.
                unsafe { at.cast::<vk::DescriptorImageInfo>().read_unaligned() }
            };
            // SAFETY: `info` reads what the data holds of samplers and images.
            unsafe { entry.write(run.ty, run.target, run.count, info) };
        }
    }
}

/// Whether descriptors of a type are described by image infos that lie in slots.
pub(super) fn has_image_infos(ty: vk::DescriptorType) -> bool {
    (Separate::WATCHED | COMBINED) & type_bit(ty) != 0
}

impl SetEntry {
    /// Takes over a write.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    pub(super) unsafe fn take(&self, write: &vk::WriteDescriptorSet<'_>) {
        // SAFETY: the write is valid by this function's contract.
        unsafe {
            let is_taken = if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                self.take_pairs(write)
            } else {
                self.take_run(write)
            };
            if !is_taken {
                self.take_each(write);
            }
        }
    }

    /// [`SetEntry::take`] of combined ones that stay in one binding of these; false for another write.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(never)]
    unsafe fn take_pairs(&self, write: &vk::WriteDescriptorSet<'_>) -> bool {
        // SAFETY: VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493.
        let infos = unsafe { slice(write.p_image_info, write.descriptor_count) };
        let at = (write.dst_binding, write.dst_array_element);
        self.touch();
        self.set_pairs(write.descriptor_type, at, write.descriptor_count, infos.iter().copied())
    }

    /// Sets the slots of combined ones that stay in one binding of these. Whether they do.
    #[inline(always)]
    fn set_pairs(
        &self,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        infos: impl Iterator<Item = vk::DescriptorImageInfo>,
    ) -> bool {
        let Some((range, with_samplers)) = self.shape.pairs(ty, target, count) else { return false };
        let Some(slots) = self.slots().get(range) else { return false };
        for ([sampler, image], info) in slots.as_chunks().0.iter().zip(infos) {
            if with_samplers {
                sampler.store(info.sampler.as_raw(), Ordering::Relaxed);
            }
            image.store(info.image_view.as_raw(), Ordering::Relaxed);
        }
        true
    }

    /// [`SetEntry::take`] of samplers or images that stay in one binding of nothing but these; false for another write.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    unsafe fn take_run(&self, write: &vk::WriteDescriptorSet<'_>) -> bool {
        let (ty, count) = (write.descriptor_type, write.descriptor_count);
        let run = self.shape.run(ty, (write.dst_binding, write.dst_array_element), count);
        let Some(slots) = run.and_then(|run| self.slots().get(run)) else { return false };
        self.touch();
        // SAFETY: VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493; a run is of samplers or of sampled images.
        let infos = unsafe { slice(write.p_image_info, count) };
        if ty == vk::DescriptorType::SAMPLER {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.sampler.as_raw(), Ordering::Relaxed));
        } else {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.image_view.as_raw(), Ordering::Relaxed));
        }
        true
    }

    /// # Safety
    ///
    /// The write is valid.
    #[inline(never)]
    unsafe fn take_each(&self, write: &vk::WriteDescriptorSet<'_>) {
        self.touch();
        if self.shape.followed & type_bit(write.descriptor_type) == 0 {
            return;
        }
        let infos = if has_image_infos(write.descriptor_type) {
            // SAFETY: VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493.
            unsafe { slice(write.p_image_info, write.descriptor_count) }
        } else {
            &[]
        };
        let info = |index: u32| infos.get(index as usize).copied().unwrap_or_default();
        // SAFETY: `info` reads nothing but the slice.
        unsafe {
            self.write_each(
                write.descriptor_type,
                (write.dst_binding, write.dst_array_element),
                write.descriptor_count,
                info,
            )
        };
    }
}

impl Separate {
    /// Whether descriptors of a type may change what is in slots: also those that may stand in a binding of several types.
    pub(super) fn follows(&self, ty: vk::DescriptorType) -> bool {
        let combined = if self.follows_immutables() { COMBINED } else { 0 };
        (Self::WATCHED | Self::OTHERS | combined) & type_bit(ty) != 0
    }

    /// What samplers of a state ask for has changed.
    pub fn look_again(&self) {
        // Another thread may be writing to one of them.
        self.sets.for_each(&mut |entry| _ = entry.stamp.fetch_add(1, Ordering::Relaxed));
        self.resolutions.look_again();
        self.move_on();
    }
}

impl Device {
    /// Remembers sets that were allocated.
    ///
    /// # Safety
    ///
    /// `info` is the valid argument of the call that made `sets`.
    pub unsafe fn separate_sets(
        &self,
        separate: &Separate,
        info: &vk::DescriptorSetAllocateInfo<'_>,
        sets: &[vk::DescriptorSet],
    ) {
        // SAFETY: the chain of a valid structure, and its arrays.
        let (layouts, variable) = unsafe {
            let counts = crate::pnext::find::<vk::DescriptorSetVariableDescriptorCountAllocateInfo<'_>>(info.p_next);
            let counts = counts.map_or(&[][..], |node| slice(node.p_descriptor_counts, node.descriptor_set_count));
            (slice(info.p_set_layouts, info.descriptor_set_count), counts)
        };
        for (index, (layout, set)) in layouts.iter().zip(sets).enumerate() {
            // SAFETY: valid, and not destroyed during this command (VUID-VkDescriptorSetAllocateInfo-pSetLayouts-parameter).
            let Some(layout) = (unsafe { separate.set_layout(*layout) }) else { continue };
            if layout.shape.slots == 0 {
                continue;
            }
            let variable = variable.get(index).copied().unwrap_or(0);
            let shape = Arc::clone(&layout.shape);
            let entry = SetEntry::new(shape, Some(layout), variable, separate.number());
            lock(&separate.pools)
                .with_room()
                .entry(info.descriptor_pool.as_raw())
                .or_default()
                .with_room()
                .insert(set.as_raw());
            separate.sets.insert(set.as_raw(), Arc::new(entry));
        }
    }

    /// Forgets sets that are about to be freed.
    pub fn forget_separate_sets(&self, separate: &Separate, pool: vk::DescriptorPool, gone: &[vk::DescriptorSet]) {
        if let Some(list) = lock(&separate.pools).get_mut(&pool.as_raw()) {
            gone.iter().for_each(|set| _ = list.remove(&set.as_raw()));
        }
        gone.iter().for_each(|set| self.forget_set(separate, set.as_raw()));
    }

    /// Forgets every set of a pool.
    pub fn forget_separate_pool(&self, separate: &Separate, pool: vk::DescriptorPool) {
        let sets = lock(&separate.pools).remove(&pool.as_raw()).unwrap_or_default();
        sets.into_iter().for_each(|set| self.forget_set(separate, set));
    }

    fn forget_set(&self, separate: &Separate, set: u64) {
        // SAFETY: the set is the application's to free, so no other call names it.
        if let Some(entry) = unsafe { separate.sets.share(set) } {
            self.drop_shadows(separate, &entry);
        }
        separate.sets.remove(set);
    }

    /// Remembers a template.
    pub fn insert_separate_template(
        &self,
        separate: &Separate,
        template: vk::DescriptorUpdateTemplate,
        bind_point: vk::PipelineBindPoint,
        runs: impl Iterator<Item = TemplateRun>,
    ) {
        let runs = memory::collect(runs.filter(|run| separate.follows(run.ty))).into_boxed_slice();
        separate.templates.insert(template.as_raw(), Arc::new(TemplateRuns { runs, bind_point }));
    }

    /// Forgets a template.
    pub fn forget_separate_template(&self, separate: &Separate, template: vk::DescriptorUpdateTemplate) {
        separate.templates.remove(template.as_raw());
    }
}
