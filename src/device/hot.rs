//! What the leaf hooks read of a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use ash::vk;
use samplin_hot::lock::Lock;
use samplin_hot::{Counters, SetLayout};

use super::templates::kept::Template;
use super::types;
use crate::table::HandleMap;
use crate::variant::Gate;

/// Which binds of pipelines and sets are followed: none, those of devices on which something can conflict, or all.
pub(crate) mod follow {
    /// No pipeline joins images and samplers.
    pub(crate) const NONE: u8 = 0;
    /// Some do, which matters once something can conflict.
    pub(crate) const LINKED: u8 = 1;
    /// Some read samplers of the layer's own.
    pub(crate) const ALL: u8 = 2;
}

/// The part of a device that is needed for each descriptor.
pub struct Hot {
    /// Samplers and views, which of them conflict, and what was chosen for those that do.
    pub gate: Gate,
    /// Counters of descriptors.
    pub counters: Counters,
    /// Which binds are followed, one of [`follow`]; it only grows.
    pub(crate) follow: AtomicU8,
    /// Whether a set layout with immutable samplers was ever created.
    pub has_immutables: AtomicBool,
    /// Descriptor types whose writes need more than to be counted, as [`type_bit`](types::type_bit)s.
    watched: AtomicU32,
    /// Those that somebody follows as long as the device lives.
    kept: AtomicU32,
    /// Those that may show another view than they are written with.
    exchanged: AtomicU32,
    /// Those whose views are held against what shaders declare.
    viewed: AtomicU32,
    /// Held while types are watched, or no more.
    watching: Lock<()>,
    /// What it comes to for a write of one combined image sampler: its [`kind`](types::kind), or none if all of them are watched.
    single: AtomicU64,
    /// [`kind`](types::kind)s from here on have no sampler and are not watched.
    plain: AtomicU64,
    /// Update templates with combined image samplers.
    pub templates: HandleMap<Template>,
    /// Sets of layouts with immutable samplers.
    pub sets: HandleMap<SetLayout>,
    /// Pipeline layouts with such a set layout: one entry per set.
    pub pipeline_layouts: HandleMap<Vec<Option<Arc<SetLayout>>>>,
}

impl Hot {
    /// That of a device without objects.
    pub(super) fn new(gate: Gate) -> Self {
        Self {
            gate,
            counters: Counters::new(),
            follow: AtomicU8::new(follow::NONE),
            has_immutables: AtomicBool::new(false),
            watched: AtomicU32::new(0),
            kept: AtomicU32::new(0),
            exchanged: AtomicU32::new(0),
            viewed: AtomicU32::new(0),
            watching: Lock::new(()),
            single: AtomicU64::new(types::SINGLE),
            plain: AtomicU64::new(types::plain_from(0)),
            templates: HandleMap::new(),
            sets: HandleMap::new(),
            pipeline_layouts: HandleMap::new(),
        }
    }

    /// Whether binds have to be noted: something may conflict that pipelines join, or a pipeline reads samplers of the layer's own.
    #[inline(always)]
    pub fn follows_binds(&self) -> bool {
        match self.follow.load(Ordering::Acquire) {
            follow::NONE => false,
            follow::LINKED => self.gate.must_look(),
            _ => true,
        }
    }

    /// Descriptor types that are watched.
    #[inline(always)]
    pub(super) fn watched(&self) -> u32 {
        self.watched.load(Ordering::Relaxed)
    }

    /// Descriptor types that may show another view than they are written with.
    #[inline(always)]
    pub(super) fn exchanged(&self) -> u32 {
        self.exchanged.load(Ordering::Relaxed)
    }

    /// Descriptors of these types may show other views from now on, and are watched.
    pub(super) fn exchange(&self, types: u32) {
        self.exchanged.fetch_or(types, Ordering::SeqCst);
        self.watch(types);
    }

    /// Descriptors of a type show what they are written with.
    pub(super) fn exchange_no_more(&self, ty: vk::DescriptorType) {
        self.exchanged.fetch_and(!types::type_bit(ty), Ordering::SeqCst);
        self.unwatch(ty);
    }

    /// Views in descriptors of these types are looked at from now on.
    pub fn look_at_views(&self, types: u32) {
        if self.viewed.fetch_or(types, Ordering::SeqCst) & types != types {
            self.watch(types);
        }
    }

    /// Views in descriptors are looked at no more, but for those of these types.
    pub(super) fn leave_views(&self, kept: u32) {
        let types = self.viewed.fetch_and(kept, Ordering::SeqCst) & !kept;
        let own = (0..u32::BITS).filter(|bit| types >> bit & 1 != 0);
        own.for_each(|bit| _ = self.unwatch(vk::DescriptorType::from_raw(bit as i32)));
    }

    /// The kind of a write that needs no more than to be looked at as a pair, see [`kind`](types::kind).
    #[inline(always)]
    pub(super) fn single(&self) -> u64 {
        self.single.load(Ordering::Relaxed)
    }

    /// The first kind of which nothing is to be looked at.
    #[inline(always)]
    pub(super) fn plain(&self) -> u64 {
        self.plain.load(Ordering::Relaxed)
    }

    /// Watches descriptors of more types.
    pub fn watch(&self, types: u32) {
        let _turn = self.watching.lock();
        self.watched.fetch_or(types, Ordering::SeqCst);
        self.sum_up();
    }

    /// What follows from the types that are watched. To be called by one thread at a time.
    fn sum_up(&self) {
        let watched = self.watched();
        let single = if watched & types::COMBINED != 0 { u64::MAX } else { types::SINGLE };
        self.single.store(single, Ordering::Relaxed);
        self.plain.store(types::plain_from(watched), Ordering::Relaxed);
    }

    /// Watches descriptors of more types as long as the device lives, whoever else stops to.
    pub fn keep_watching(&self, types: u32) {
        if self.kept.fetch_or(types, Ordering::SeqCst) & types != types {
            self.watch(types);
        }
    }

    /// Watches descriptors of a type no more, unless somebody follows them. Whether they were watched, and that ends.
    pub(super) fn unwatch(&self, ty: vk::DescriptorType) -> bool {
        let bit = types::type_bit(ty);
        let wanted = [&self.kept, &self.exchanged, &self.viewed];
        let is_kept = || wanted.iter().any(|types| types.load(Ordering::SeqCst) & bit != 0);
        if is_kept() || self.watched() & bit == 0 {
            return false;
        }
        {
            let _turn = self.watching.lock();
            if self.watched.fetch_and(!bit, Ordering::SeqCst) & bit == 0 {
                return false;
            }
            self.sum_up();
        }
        // Who follows them from now on has either found them unwatched, or is seen here.
        if is_kept() {
            self.watch(bit);
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_follows_stays_watched() {
        let hot = Hot::new(Gate::with(false, crate::variant::Index::new(u32::MAX)));
        let (image, buffer) = (vk::DescriptorType::STORAGE_IMAGE, vk::DescriptorType::STORAGE_TEXEL_BUFFER);
        let (image_bit, buffer_bit) = (types::type_bit(image), types::type_bit(buffer));
        hot.watch(image_bit);
        assert!(hot.unwatch(image) && !hot.unwatch(image));
        assert_eq!(hot.watched(), 0);
        hot.keep_watching(image_bit);
        hot.watch(image_bit | buffer_bit);
        assert!(!hot.unwatch(image), "somebody follows what is written to mutable descriptors, say");
        assert!(hot.unwatch(buffer));
        assert_eq!(hot.watched(), image_bit);
    }

    /// What is looked at for a while leaves nothing behind.
    #[test]
    fn what_nobody_looks_at_any_more_is_plain_again() {
        let hot = Hot::new(Gate::with(false, crate::variant::Index::new(u32::MAX)));
        let before = (hot.watched(), hot.single(), hot.plain());
        let image = vk::DescriptorType::STORAGE_IMAGE;
        let attachment = types::type_bit(vk::DescriptorType::INPUT_ATTACHMENT);
        hot.look_at_views(types::type_bit(image) | attachment | types::COMBINED);
        assert_ne!((hot.single(), hot.plain()), (before.1, before.2));
        // Another view may stand in for one meanwhile.
        hot.exchange(types::type_bit(image));
        hot.leave_views(0);
        assert_eq!((hot.watched(), hot.single()), (types::type_bit(image), before.1));
        hot.exchange_no_more(image);
        assert_eq!((hot.watched(), hot.single(), hot.plain()), before);
        // And the other way round.
        hot.exchange(types::type_bit(image));
        hot.look_at_views(types::type_bit(image));
        hot.exchange_no_more(image);
        assert_eq!(hot.watched(), types::type_bit(image));
        hot.leave_views(0);
        assert_eq!((hot.watched(), hot.single(), hot.plain()), before);
    }
}
