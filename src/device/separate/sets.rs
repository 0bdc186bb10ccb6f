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
use super::arrays::{Arrays, Budget, Infos, Meaning, Sought, Sum, Taken};
use super::blocks::Table;
use super::layouts::{Binding, SetLayout, SetShape, SlotKind};
use super::lists::Numbers;
use super::shown::{ASPECTS, CombinedDescriptors, NotedDescriptor, NotedDescriptors, Written};
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
    /// A write may have to call down: there are shadows.
    pub(super) is_guarded: AtomicBool,
}

/// What almost no set has.
#[derive(Debug, Default)]
struct Rare {
    /// Sets that are bound in place of this one.
    shadows: Vec<Shadow>,
    /// Its descriptors of views with both aspects.
    wholes: NotedDescriptors,
    /// Its combined descriptors, with `live=on`.
    combined: Option<Box<CombinedDescriptors>>,
}

/// More slots than an entry has room for itself.
#[derive(Debug)]
struct Many {
    few: Vec<AtomicU64>,
    /// None if there are none, or may not be.
    arrays: Option<Arrays>,
    /// What was ever written to arrays, also to those that there are none of.
    seen: Sum,
}

impl SetEntry {
    pub(super) fn new(
        gate: &Gate,
        budget: &Budget,
        shape: Arc<SetShape>,
        layout: Option<Arc<SetLayout>>,
        variable: u32,
    ) -> Self {
        let many = (shape.slots > NEAR || shape.has_arrays()).then(|| {
            let mut few = memory::vec(shape.slots);
            few.resize_with(shape.slots, AtomicU64::default);
            let arrays = Some(shape.slots_in_arrays(variable)).filter(|slots| *slots > 0);
            let arrays = arrays.and_then(|slots| Arrays::new(slots, budget));
            Box::new(Many { few, arrays, seen: Sum::default() })
        });
        let entry = Self {
            is_loose: shape.after_bind,
            version: Version::new(&shape.versions),
            is_guarded: AtomicBool::new(false),
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
                entry.set(gate, binding, binding.sampler_slot(element as u32), true, *sampler);
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
    pub(super) fn slots(&self) -> &[AtomicU64] {
        match &self.many {
            Some(many) => &many.few,
            None => &self.near,
        }
    }

    pub(super) fn arrays(&self) -> Option<&Arrays> {
        self.many.as_ref()?.arrays.as_ref()
    }

    /// What shaders look up of its arrays, if they do.
    pub(super) fn table(&self) -> Option<&Arc<Table>> {
        self.arrays()?.table.get()
    }

    /// Works on the sets that are bound in place of this one.
    pub(super) fn with_shadows<R>(&self, with: impl FnOnce(&mut Vec<Shadow>) -> R) -> R {
        with(&mut lock(&self.rare).get_or_insert_default().shadows)
    }

    /// Works on what is noted of its combined descriptors, if anything is.
    pub(super) fn edit_combined<R>(&self, with: impl FnOnce(&mut CombinedDescriptors) -> R) -> Option<R> {
        lock(&self.rare).as_mut()?.combined.as_deref_mut().map(with)
    }

    pub(super) fn with_combined<R>(&self, with: impl FnOnce(&mut CombinedDescriptors) -> R) -> R {
        with(lock(&self.rare).get_or_insert_default().combined.get_or_insert_default())
    }

    /// Takes over what is written: views with both aspects, or none. Whether it shows such a view then. `written` must not look into it.
    pub(super) fn take_wholes(&self, mut written: impl Iterator<Item = Written>) -> bool {
        let mut rare = lock(&self.rare);
        let mut first = None;
        if rare.as_ref().is_none_or(|rare| rare.wholes.is_empty()) {
            first = written.find(|(_, whole)| whole.is_some());
            if first.is_none() {
                return false;
            }
        }
        let wholes = &mut rare.get_or_insert_default().wholes;
        let (changes, has_any) = (wholes.take(first.into_iter().chain(written)), !wholes.is_empty());
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
    pub(super) fn whole(&self, at: (u32, u32)) -> Option<NotedDescriptor> {
        lock(&self.rare).as_ref()?.wholes.get(at)
    }

    /// Elements of a binding that show such views, and these.
    pub(super) fn wholes(&self, binding: u32) -> Vec<(u32, NotedDescriptor)> {
        lock(&self.rare).as_ref().map_or_else(Vec::new, |rare| rare.wholes.of(binding))
    }

    /// Whether others are bound in place of it.
    pub(super) fn has_shadows(&self) -> bool {
        self.is_guarded.load(Ordering::Acquire)
            && lock(&self.rare).as_ref().is_some_and(|rare| !rare.shadows.is_empty())
    }

    /// Sets a slot of a binding; with it is said whether that is for a sampler. Whether a binding was never seen with something, and nobody
    /// has looked since.
    #[inline(always)]
    fn set(&self, gate: &Gate, binding: &Binding, slot: Option<usize>, is_sampler: bool, handle: u64) -> bool {
        let Some(slot) = slot else { return false };
        match self.slots().get(slot) {
            Some(word) => {
                word.store(handle, Ordering::Relaxed);
                false
            }
            None => self.set_far(gate, binding, slot, is_sampler, handle),
        }
    }

    /// Apart, so that whoever sets slots near the entry calls nothing.
    #[inline(never)]
    fn set_far(&self, gate: &Gate, binding: &Binding, slot: usize, is_sampler: bool, handle: u64) -> bool {
        self.set_one_in_arrays(binding, slot, handle, Meaning::of(gate, handle, is_sampler))
    }

    /// [`SetEntry::set`] of a slot in arrays, or of one that there is no room for.
    #[inline(always)]
    pub(super) fn set_one_in_arrays(&self, binding: &Binding, slot: usize, handle: u64, meaning: Meaning) -> bool {
        let Some(many) = &self.many else { return false };
        let slot = slot.wrapping_sub(many.few.len());
        if many.arrays.as_ref().is_none_or(|arrays| arrays.set_one(slot, handle, meaning)) {
            many.seen.add_one(meaning.bits);
        }
        if binding.seen.as_ref().is_some_and(|seen| seen.add_one(meaning.bits)) {
            self.shape.news.store(true, Ordering::Release);
        }
        self.shape.news.load(Ordering::Relaxed)
    }

    /// Sets the slots of samplers or images from one on, which stay in one binding of nothing but these, as [`SetEntry::set`] does.
    #[inline(always)]
    fn set_run<const SAMPLERS: bool>(
        &self,
        gate: &Gate,
        binding: &Binding,
        first: usize,
        infos: &[vk::DescriptorImageInfo],
    ) -> bool {
        let words = gate.words(SAMPLERS);
        if let [info] = infos {
            let handle = if SAMPLERS { info.sampler.as_raw() } else { info.image_view.as_raw() };
            return self.set_one_in_arrays(binding, first, handle, Meaning::read(words, handle, SAMPLERS));
        }
        let Some(many) = &self.many else { return false };
        let all = Infos::<SAMPLERS> { infos, words };
        let seen = match &many.arrays {
            Some(arrays) => arrays.set(first.wrapping_sub(many.few.len()), all),
            None => all.kinds(),
        };
        many.seen.add(seen);
        if binding.seen.as_ref().is_some_and(|own| own.add(seen)) {
            self.shape.news.store(true, Ordering::Release);
        }
        self.shape.news.load(Ordering::Relaxed)
    }

    /// The handle in a slot, 0 for none.
    pub(super) fn get(&self, slot: usize) -> u64 {
        let few = self.slots();
        match few.get(slot) {
            Some(word) => word.load(Ordering::Relaxed),
            None => self.arrays().map_or(0, |arrays| arrays.get(slot - few.len())),
        }
    }

    /// What the handle in a slot stood for when it was written, if that is in arrays.
    pub(super) fn word(&self, slot: usize) -> Option<u32> {
        self.arrays()?.word(slot.checked_sub(self.slots().len())?)
    }

    /// Calls `with` for element and handle of each sampler of a binding, or of each image of a type, that may have one of `bits`, until it
    /// has found something. More may be there, of which that is not known: what needs and lacks it has is for `with` to ask.
    pub(super) fn find<R>(
        &self,
        gate: &Gate,
        binding: &Binding,
        sought: Sought,
        bits: u32,
        mut with: impl FnMut(u32, u64) -> Option<R>,
    ) -> Option<R> {
        let (slots, few, is_sampler) = (binding.slots(), self.slots(), sought == Sought::Samplers);
        let mut with = |slot: usize, handle| with(binding.element_of(slot, is_sampler)?, handle);
        if let Some(own) = few.get(slots.clone()) {
            let found = |(slot, word): (usize, &AtomicU64)| {
                Some(word.load(Ordering::Relaxed)).filter(|handle| *handle != 0).and_then(|handle| with(slot, handle))
            };
            return slots.zip(own).find_map(found);
        }
        let range = slots.start.checked_sub(few.len())?..slots.end - few.len();
        let may = |sum: &Sum| match sought {
            Sought::Samplers => bits & sum.needs() != 0,
            Sought::Images(sampled) => bits & sum.lacks(sampled) != 0,
        };
        self.arrays()?.find(range, may, |slot, handle, word| {
            // The handle of something that is gone may have come back.
            let is_it = Meaning::of(gate, handle, is_sampler).word == word;
            is_it.then(|| with(slot + few.len(), handle))?
        })
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
        let few = self.slots().iter().fold(0, |all, slot| all | of(slot.load(Ordering::Relaxed)));
        let summary = few | self.many.as_ref().map_or(0, |many| many.seen.all()) | aspects;
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

    /// The same, if it calls nothing. Whether it is done.
    #[inline(always)]
    pub(super) fn touch_once(&self) -> bool {
        self.version.step()
    }

    /// Takes over written descriptors of a type, see [`SetEntry::take`].
    #[inline(always)]
    pub(super) fn write(
        &self,
        gate: &Gate,
        numbers: &Numbers,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) -> Taken {
        if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && self.set_pairs(ty, target, count, (0..count).map(&info))
        {
            // Those that are both are in no table.
            return Taken::Near;
        }
        let slots = self.shape.run(ty, target, count).and_then(|(_, run)| self.slots().get(run));
        let Some(slots) = slots else {
            let before = self.before(numbers);
            let is_news = self.write_each(gate, ty, target, count, info);
            let is_written = self.follow(numbers, before, (ty, target, count));
            self.touch();
            return Taken::Touched(!is_news && is_written && self.is_followed(numbers, before));
        };
        for (index, slot) in (0..).zip(slots) {
            let info = info(index);
            let handle =
                if ty == vk::DescriptorType::SAMPLER { info.sampler.as_raw() } else { info.image_view.as_raw() };
            slot.store(handle, Ordering::Relaxed);
        }
        Taken::Near
    }

    /// [`SetEntry::write`], one descriptor after the other. Whether there is news.
    #[inline(never)]
    fn write_each(
        &self,
        gate: &Gate,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) -> bool {
        let mut is_news = false;
        for (index, (binding, element)) in (0..).zip(self.shape.walk(target, count)) {
            let (sampler, image) = ((binding.sampler_slot(element), true), (binding.image_slot(element), false));
            let mut set = |(slot, is_sampler), handle| is_news |= self.set(gate, binding, slot, is_sampler, handle);
            match ty {
                // Nothing is read for what has no slot.
                vk::DescriptorType::SAMPLER => {
                    if sampler.0.is_some() && binding.immutable.is_empty() {
                        set(sampler, info(index).sampler.as_raw());
                    }
                    set(image, 0);
                }
                vk::DescriptorType::SAMPLED_IMAGE => {
                    set(sampler, 0);
                    if image.0.is_some() {
                        set(image, info(index).image_view.as_raw());
                    }
                }
                _ if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && binding.kind == SlotKind::Combined => {
                    let info = info(index);
                    if binding.immutable.is_empty() {
                        set(sampler, info.sampler.as_raw());
                    }
                    set(image, info.image_view.as_raw());
                }
                vk::DescriptorType::STORAGE_IMAGE if binding.kind == SlotKind::Either => {
                    set(sampler, 0);
                    set(image, info(index).image_view.as_raw());
                }
                _ if binding.kind == SlotKind::Viewed => {
                    if ty == binding.ty {
                        set(image, info(index).image_view.as_raw());
                    }
                }
                _ => {
                    // What else a binding of several types can hold.
                    set(sampler, 0);
                    set(image, 0);
                }
            }
        }
        is_news
    }

    /// Nothing is known any more of what is in slots for views alone.
    pub(super) fn forget_views(&self, types: u32) {
        if self.shape.viewed & types == 0 {
            return;
        }
        let is_viewed = |binding: &&Binding| binding.kind == SlotKind::Viewed && types & type_bit(binding.ty) != 0;
        for binding in self.shape.bindings.iter().filter(is_viewed) {
            for slot in binding.slots() {
                match self.slots().get(slot) {
                    Some(word) => word.store(0, Ordering::Relaxed),
                    None => _ = self.set_one_in_arrays(binding, slot, 0, Meaning::default()),
                }
            }
        }
        self.touch();
    }

    /// Takes over what is copied from a set; of one that is not followed nothing is known that lies in slots.
    pub(super) fn copy(&self, gate: &Gate, from: Option<&Self>, copy: &vk::CopyDescriptorSet<'_>) {
        let count = copy.descriptor_count;
        let source = from.map(|from| from.shape.walk((copy.src_binding, copy.src_array_element), count));
        let mut source = source.into_iter().flatten();
        // What is read and what is written do not overlap (VUID-VkCopyDescriptorSet-srcSet-00349).
        for (binding, element) in self.shape.walk((copy.dst_binding, copy.dst_array_element), count) {
            let own = source.next();
            let copy = |slot: fn(&Binding, u32) -> Option<usize>, is_sampler| {
                let Some(to) = slot(binding, element) else { return };
                let own = own.and_then(|(binding, element)| slot(binding, element)).zip(from);
                let handle = own.map_or(0, |(slot, from)| from.get(slot));
                if let Some(word) = self.slots().get(to) {
                    return word.store(handle, Ordering::Relaxed);
                }
                let (meaning, word) =
                    (Meaning::of(gate, handle, is_sampler), own.and_then(|(slot, from)| from.word(slot)));
                // What was there stays what it was if the handle is another one's by now.
                let other = word.filter(|word| *word != meaning.word).map(|word| Meaning { word, bits: 0 });
                self.set_one_in_arrays(binding, to, handle, other.unwrap_or(meaning));
            };
            if binding.immutable.is_empty() {
                copy(Binding::sampler_slot, true);
            }
            copy(Binding::image_slot, false);
        }
        self.touch();
    }
}

/// A view of a buffer as an info, as slots have it.
pub(super) fn info_of(view: u64) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { image_view: vk::ImageView::from_raw(view), ..Default::default() }
}

impl SetEntry {
    /// Takes over a write. `ALONE`: of a call that has no other, so that nothing is called for what is far from the entry.
    #[inline(always)]
    pub(super) fn take<const ALONE: bool>(&self, on: (&Gate, &Numbers), write: Write<'_>) -> Taken {
        let (ty, count) = (write.descriptor_type, write.descriptor_count);
        if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            return if self.take_pairs(write) { Taken::Near } else { self.take_other(on, write, None) };
        }
        let run = self.shape.run(ty, (write.dst_binding, write.dst_array_element), count);
        let slots = run.clone().and_then(|(_, run)| self.slots().get(run));
        let Some(slots) = slots else {
            let run = run.map(|(binding, run)| (binding, run.start));
            return if ALONE { self.take_far(on.0, on.1, write, run) } else { self.take_other(on, write, run) };
        };
        let infos = write.images();
        if ty == vk::DescriptorType::SAMPLER {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.sampler.as_raw(), Ordering::Relaxed));
        } else {
            slots.iter().zip(infos).for_each(|(slot, info)| slot.store(info.image_view.as_raw(), Ordering::Relaxed));
        }
        Taken::Near
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

    /// [`SetEntry::take`] of what is not for slots of one binding near the entry. `run`: binding and first slot of samplers or images that
    /// stay in one binding of nothing but these.
    #[inline(always)]
    fn take_far(&self, gate: &Gate, numbers: &Numbers, write: Write<'_>, run: Option<(&Binding, usize)>) -> Taken {
        let (ty, target) = (write.descriptor_type, (write.dst_binding, write.dst_array_element));
        let before = self.before(numbers);
        let is_news = match run {
            Some(run) if ty == vk::DescriptorType::SAMPLER => self.set_run::<true>(gate, run.0, run.1, write.images()),
            Some(run) => self.set_run::<false>(gate, run.0, run.1, write.images()),
            None => self.take_each(gate, write),
        };
        let is_written = self.follow(numbers, before, (ty, target, write.descriptor_count));
        self.touch();
        Taken::Touched(!is_news && is_written && self.is_followed(numbers, before))
    }

    /// The same, called.
    #[inline(never)]
    fn take_other(&self, on: (&Gate, &Numbers), write: Write<'_>, run: Option<(&Binding, usize)>) -> Taken {
        self.take_far(on.0, on.1, write, run)
    }

    fn take_each(&self, gate: &Gate, write: Write<'_>) -> bool {
        let ty = write.descriptor_type;
        if (self.shape.followed | self.shape.viewed) & type_bit(ty) == 0 {
            return false;
        }
        let (infos, views) = (write.images(), write.texels());
        let info = |index: u32| {
            let of_buffer = || views.get(index as usize).map(|view| info_of(view.as_raw()));
            infos.get(index as usize).copied().or_else(of_buffer).unwrap_or_default()
        };
        self.write_each(gate, ty, (write.dst_binding, write.dst_array_element), write.descriptor_count, info)
    }
}

impl Separate {
    /// Whether descriptors of a type may change what is in slots: also those that may stand in a binding of several types.
    pub(super) fn follows(&self, ty: vk::DescriptorType) -> bool {
        let combined = if self.follows_immutables() || self.seen.is_watching() { COMBINED } else { 0 };
        (Self::WATCHED | Self::OTHERS | combined) & type_bit(ty) != 0
    }
}
