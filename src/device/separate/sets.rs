//! Descriptor sets: which sampler and which image is in which slot.
//!
//! Slots hold handles as they were written and nothing else; what they mean is looked up when a set is bound. Only descriptors of
//! bindings with UPDATE_AFTER_BIND may be written by two threads at once, so single words without an order are enough: the version of
//! the set, which moves after them, orders them ([`samplin_hot::version`]).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_bind::{Brief, Other};
use samplin_hot::memory;
use samplin_hot::{Summary, Version};

use super::Separate;
use super::layouts::{Binding, Kind, SetLayout, SetShape};
use super::shown::{ASPECTS, Shown, Whole, Written};
use super::sparse::Sparse;
use crate::device::live::Write;
use crate::device::types::{COMBINED, type_bit};
use crate::table::lock;
use crate::variant::Gate;

/// A set that is bound in place of the application's.
#[derive(Debug)]
pub(super) struct Shadow {
    /// What is different in it, in ascending order.
    pub(super) others: Box<[Other]>,
    pub(super) set: u64,
    /// A pool of its own.
    pub(super) pool: u64,
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
    /// Its pool was made with UPDATE_AFTER_BIND.
    pub(super) is_in_update_pool: bool,
    version: Version,
    /// Needs and lacks of what is in it.
    summary: Summary,
    /// A handle for each slot, 0 for none: the first of them, and all if there are more.
    near: [AtomicU64; NEAR],
    many: Option<Box<Many>>,
    /// What almost no set has.
    rare: Mutex<Option<Box<Rare>>>,
    /// A write may have to allocate or to call down: there are shadows, or slots that get room when they are written.
    pub(super) is_guarded: AtomicBool,
}

/// What almost no set has.
#[derive(Debug, Default)]
struct Rare {
    /// Sets that are bound in place of this one.
    shadows: Vec<Shadow>,
    /// Its descriptors of views with both aspects.
    wholes: Shown,
}

/// More slots than an entry has room for itself.
#[derive(Debug)]
struct Many {
    dense: Vec<AtomicU64>,
    sparse: Option<Sparse>,
}

impl SetEntry {
    pub(super) fn new(shape: Arc<SetShape>, layout: Option<Arc<SetLayout>>, variable: u32) -> Self {
        let many = (shape.slots > NEAR || shape.sparse > 0).then(|| {
            let mut dense = memory::vec(shape.slots);
            dense.resize_with(shape.slots, AtomicU64::default);
            Box::new(Many { dense, sparse: (shape.sparse > 0).then(|| Sparse::new(shape.sparse)) })
        });
        let entry = Self {
            is_loose: shape.after_bind,
            version: Version::new(&shape.versions),
            is_guarded: AtomicBool::new(shape.sparse > 0),
            shape,
            layout,
            variable,
            is_in_update_pool: false,
            summary: Summary::default(),
            near: Default::default(),
            many,
            rare: Mutex::default(),
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

    /// Flags of the pools that its copies come from: what is copied from a set of a pool with UPDATE_AFTER_BIND goes into a set of such a
    /// pool, and what is from another one into another one (VUID-VkCopyDescriptorSet-srcSet-01920, -04887). Sets of pools with HOST_ONLY,
    /// which are never bound, have no copies.
    pub(super) fn pool_flags(&self) -> vk::DescriptorPoolCreateFlags {
        match self.is_in_update_pool {
            true => vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND,
            false => vk::DescriptorPoolCreateFlags::empty(),
        }
    }

    /// Whether a test switch may have it copied: there are samplers in it, and a copy does not go stale.
    pub(super) fn may_be_copied(&self) -> bool {
        let samples = |binding: &Binding| binding.ty == vk::DescriptorType::SAMPLER;
        !self.shape.after_bind && !self.is_without_layout() && self.shape.bindings.iter().any(samples)
    }

    #[inline(always)]
    fn slots(&self) -> &[AtomicU64] {
        match &self.many {
            Some(many) => &many.dense,
            None => &self.near,
        }
    }

    fn sparse(&self) -> Option<&Sparse> {
        self.many.as_ref()?.sparse.as_ref()
    }

    /// Works on the sets that are bound in place of this one.
    pub(super) fn with_shadows<R>(&self, with: impl FnOnce(&mut Vec<Shadow>) -> R) -> R {
        with(&mut lock(&self.rare).get_or_insert_default().shadows)
    }

    /// Takes over what is written: views with both aspects, or none. Whether it shows such a view then. `written` must not look into it.
    pub(super) fn take_wholes(&self, written: impl Iterator<Item = Written>) -> bool {
        let mut written = written.peekable();
        let mut rare = lock(&self.rare);
        let has_any = rare.as_ref().is_some_and(|rare| !rare.wholes.is_empty());
        while !has_any && written.next_if(|(_, whole)| whole.is_none()).is_some() {}
        if written.peek().is_none() {
            return has_any;
        }
        let wholes = &mut rare.get_or_insert_default().wholes;
        let (changes, has_any) = (wholes.take(written), !wholes.is_empty());
        drop(rare);
        if changes {
            self.touch();
        }
        has_any
    }

    /// Whether any of its descriptors shows such a view.
    pub(super) fn has_wholes(&self) -> bool {
        lock(&self.rare).as_ref().is_some_and(|rare| !rare.wholes.is_empty())
    }

    /// Its descriptor at a binding and an element, if that shows such a view.
    pub(super) fn whole(&self, at: (u32, u32)) -> Option<Whole> {
        lock(&self.rare).as_ref()?.wholes.get(at)
    }

    /// Elements of a binding that show such views, and these.
    pub(super) fn wholes(&self, binding: u32) -> Vec<(u32, Whole)> {
        lock(&self.rare).as_ref().map_or_else(Vec::new, |rare| rare.wholes.of(binding))
    }

    /// Whether others are bound in place of it.
    pub(super) fn has_shadows(&self) -> bool {
        self.is_guarded.load(Ordering::Acquire)
            && lock(&self.rare).as_ref().is_some_and(|rare| !rare.shadows.is_empty())
    }

    fn set(&self, slot: Option<usize>, handle: u64) {
        let Some(slot) = slot else { return };
        let dense = self.slots();
        if let Some(word) = dense.get(slot) {
            word.store(handle, Ordering::Relaxed);
        } else if let Some(sparse) = self.sparse() {
            sparse.set(slot - dense.len(), handle);
        }
    }

    /// The handle in a slot, 0 for none.
    pub(super) fn get(&self, slot: usize) -> u64 {
        let dense = self.slots();
        match dense.get(slot) {
            Some(word) => word.load(Ordering::Relaxed),
            None => self.sparse().map_or(0, |sparse| sparse.get(slot - dense.len())),
        }
    }

    /// Calls `with` for element and handle of each sampler of a binding, or of each image, that may have one of `bits`, until it has found
    /// something. More may be there, of which that is not known: what needs and lacks it has is for `with` to ask.
    pub(super) fn find<R>(
        &self,
        binding: &Binding,
        is_sampler: bool,
        bits: u32,
        mut with: impl FnMut(u32, u64) -> Option<R>,
    ) -> Option<R> {
        let (slots, dense) = (binding.slots(), self.slots());
        let mut with = |slot: usize, handle| with(binding.element_of(slot, is_sampler)?, handle);
        if let Some(own) = dense.get(slots.clone()) {
            let found = |(slot, word): (usize, &AtomicU64)| {
                Some(word.load(Ordering::Relaxed)).filter(|handle| *handle != 0).and_then(|handle| with(slot, handle))
            };
            return slots.zip(own).find_map(found);
        }
        let range = slots.start.checked_sub(dense.len())?..slots.end - dense.len();
        let bits = u64::from(bits) << if is_sampler { 0 } else { 32 };
        self.sparse()?.find(range, bits, |slot, handle| with(slot + dense.len(), handle))
    }

    /// What a bind remembers of it.
    #[inline(always)]
    pub(super) fn brief(&self, gate: &Gate) -> Brief {
        let stamp = self.version();
        match self.summary.get(stamp) {
            Some(summary) => Brief { stamp, summary, is_loose: self.is_loose },
            None => self.sum_up(gate, stamp),
        }
    }

    #[cold]
    #[inline(never)]
    fn sum_up(&self, gate: &Gate, stamp: u64) -> Brief {
        // A handle is a sampler's or a view's; it may be both, as numbers go, and then counts for too much.
        let of = |handle| gate.sampler(handle) >> 32 | gate.view(handle) >> 32 << 32;
        // Also for the lock of the summary: one thread at a time sums up and keeps.
        let turn = lock(&self.rare);
        let shows_aspects = turn.as_ref().is_some_and(|rare| !rare.wholes.is_empty());
        let aspects = if shows_aspects { ASPECTS } else { 0 };
        let dense = self.slots().iter().fold(0, |all, slot| all | of(slot.load(Ordering::Relaxed)));
        // What is not known may need and lack anything.
        let unknown = if self.shape.is_too_large { u64::MAX } else { 0 };
        let summary = dense | self.sparse().map_or(0, |sparse| sparse.sum_up(of)) | unknown | aspects;
        self.summary.keep(&self.version, stamp, summary);
        drop(turn);
        Brief { stamp, summary, is_loose: self.is_loose }
    }

    /// A number that changes with each write and is that of no other set as long as the device lives.
    #[inline(always)]
    pub(super) fn version(&self) -> u64 {
        self.version.get()
    }

    /// What is in it has changed. To be called after that.
    #[inline(always)]
    pub(super) fn touch(&self) {
        self.version.move_on(&self.shape.versions);
    }

    /// What samplers need has changed. Another thread may be writing to the set.
    fn look_again(&self) {
        self.sparse().into_iter().for_each(Sparse::spoil);
        self.version.move_on(&self.shape.versions);
    }

    /// Takes over written descriptors of a type.
    #[inline(always)]
    pub(super) fn write(
        &self,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        let slots = self.shape.run(ty, target, count).and_then(|run| self.slots().get(run));
        let Some(slots) = slots else {
            if !self.set_pairs(ty, target, count, (0..count).map(&info)) {
                self.write_each(ty, target, count, info);
            }
            return self.touch();
        };
        for (index, slot) in (0..).zip(slots) {
            let info = info(index);
            let handle =
                if ty == vk::DescriptorType::SAMPLER { info.sampler.as_raw() } else { info.image_view.as_raw() };
            slot.store(handle, Ordering::Relaxed);
        }
        self.touch();
    }

    /// [`SetEntry::write`], one descriptor after the other.
    #[inline(never)]
    fn write_each(
        &self,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        for (index, (binding, element)) in (0..).zip(self.shape.walk(target, count)) {
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
                vk::DescriptorType::STORAGE_IMAGE if binding.kind == Kind::Either => {
                    self.set(sampler, 0);
                    self.set(image, info(index).image_view.as_raw());
                }
                _ if binding.kind == Kind::Viewed => {
                    if ty == binding.ty {
                        self.set(image, info(index).image_view.as_raw());
                    }
                }
                _ => {
                    // What else a binding of several types can hold.
                    self.set(sampler, 0);
                    self.set(image, 0);
                }
            }
        }
    }

    /// Nothing is known any more of what is in slots for views alone.
    pub(super) fn forget_views(&self, types: u32) {
        if self.shape.viewed & types == 0 {
            return;
        }
        let is_viewed = |binding: &&Binding| binding.kind == Kind::Viewed && types & type_bit(binding.ty) != 0;
        for binding in self.shape.bindings.iter().filter(is_viewed) {
            (0..binding.count).for_each(|element| self.set(binding.image_slot(element), 0));
        }
        self.touch();
    }

    /// Takes over what is copied from a set; of one that is not followed nothing is known that lies in slots.
    pub(super) fn copy(&self, from: Option<&Self>, copy: &vk::CopyDescriptorSet<'_>) {
        let count = copy.descriptor_count;
        let source = from.map(|from| from.shape.walk((copy.src_binding, copy.src_array_element), count));
        let mut source = source.into_iter().flatten();
        // What is read and what is written do not overlap (VUID-VkCopyDescriptorSet-srcSet-00349).
        for (binding, element) in self.shape.walk((copy.dst_binding, copy.dst_array_element), count) {
            let own = source.next();
            let get = |slot: fn(&Binding, u32) -> Option<usize>| {
                own.and_then(|(binding, element)| slot(binding, element))
                    .zip(from)
                    .map_or(0, |(slot, from)| from.get(slot))
            };
            if binding.immutable.is_empty() {
                self.set(binding.sampler_slot(element), get(Binding::sampler_slot));
            }
            self.set(binding.image_slot(element), get(Binding::image_slot));
        }
        self.touch();
    }
}

/// A view of a buffer as an info, as slots have it.
pub(super) fn info_of(view: u64) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { image_view: vk::ImageView::from_raw(view), ..Default::default() }
}

impl SetEntry {
    /// Takes over a write.
    #[inline(always)]
    pub(super) fn take(&self, write: Write<'_>) {
        let is_taken = if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            self.take_pairs(write)
        } else {
            self.take_run(write)
        };
        if !is_taken {
            self.take_each(write);
        }
        self.touch();
    }

    /// [`SetEntry::take`] of combined ones that stay in one binding of these; false for another write.
    #[inline(never)]
    fn take_pairs(&self, write: Write<'_>) -> bool {
        let at = (write.dst_binding, write.dst_array_element);
        self.set_pairs(write.descriptor_type, at, write.descriptor_count, write.images().iter().copied())
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
    #[inline(always)]
    fn take_run(&self, write: Write<'_>) -> bool {
        let (ty, count) = (write.descriptor_type, write.descriptor_count);
        let run = self.shape.run(ty, (write.dst_binding, write.dst_array_element), count);
        let Some(slots) = run.and_then(|run| self.slots().get(run)) else { return false };
        let infos = write.images();
        if ty == vk::DescriptorType::SAMPLER {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.sampler.as_raw(), Ordering::Relaxed));
        } else {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.image_view.as_raw(), Ordering::Relaxed));
        }
        true
    }

    #[inline(never)]
    fn take_each(&self, write: Write<'_>) {
        let ty = write.descriptor_type;
        if (self.shape.followed | self.shape.viewed) & type_bit(ty) == 0 {
            return;
        }
        let (infos, views) = (write.images(), write.texels());
        let info = |index: u32| {
            let of_buffer = || views.get(index as usize).map(|view| info_of(view.as_raw()));
            infos.get(index as usize).copied().or_else(of_buffer).unwrap_or_default()
        };
        self.write_each(ty, (write.dst_binding, write.dst_array_element), write.descriptor_count, info);
    }
}

impl Separate {
    /// Whether descriptors of a type may change what is in slots: also those that may stand in a binding of several types.
    pub(super) fn follows(&self, ty: vk::DescriptorType) -> bool {
        let combined = if self.follows_immutables() || self.seen.is_watching() { COMBINED } else { 0 };
        (Self::WATCHED | Self::OTHERS | combined) & type_bit(ty) != 0
    }

    /// What is in all live sets of each of these definitions, as [`Brief::summary`] has it. Of pushed descriptors it is not known.
    pub(super) fn sums(&self, gate: &Gate, shapes: &[Option<Arc<SetShape>>]) -> Vec<u64> {
        let is_known = |shape: &Option<Arc<SetShape>>| shape.as_ref().is_some_and(|shape| !shape.is_pushed());
        let mut sums = memory::collect(shapes.iter().map(|shape| if is_known(shape) { 0 } else { u64::MAX }));
        self.sets.for_each(&mut |entry| {
            for (sum, shape) in sums.iter_mut().zip(shapes) {
                if shape.as_ref().is_some_and(|shape| shape.number() == entry.shape.number()) {
                    *sum |= entry.brief(gate).summary;
                }
            }
        });
        sums
    }

    /// What samplers of a state ask for has changed.
    pub fn look_again(&self) {
        self.sets.for_each(&mut |entry| entry.look_again());
        self.resolutions.look_again();
    }
}
