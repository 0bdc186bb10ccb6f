//! What the leaf hooks read of a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use ash::vk;
use samplin_hot::{Counters, SetLayout};

use super::templates::Template;
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
            single: AtomicU64::new(types::SINGLE),
            plain: AtomicU64::new(types::plain_from(0)),
            templates: HandleMap::new(),
            sets: HandleMap::new(),
            pipeline_layouts: HandleMap::new(),
        }
    }

    /// Descriptor types that are watched.
    #[inline(always)]
    pub(super) fn watched(&self) -> u32 {
        self.watched.load(Ordering::Relaxed)
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
        let watched = self.watched.fetch_or(types, Ordering::AcqRel) | types;
        if watched & types::COMBINED != 0 {
            self.single.store(u64::MAX, Ordering::Relaxed);
        }
        // Several threads may be here at once: it only grows.
        self.plain.fetch_max(types::plain_from(watched), Ordering::Relaxed);
    }

    /// Watches descriptors of a type no more. Whether they were watched, and that ends: where all types are, somebody follows whatever is
    /// written.
    pub(super) fn unwatch(&self, ty: vk::DescriptorType) -> bool {
        let bit = types::type_bit(ty);
        let without = |watched: u32| (watched & bit != 0 && watched != u32::MAX).then_some(watched & !bit);
        self.watched() & bit != 0 && self.watched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, without).is_ok()
    }
}
