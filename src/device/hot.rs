//! What the leaf hooks read of a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

use samplin_hot::{Choices, Counters, Gate, SetLayout};

use super::templates::Template;
use crate::table::HandleMap;

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
    /// Samplers and views, and which of them conflict.
    pub gate: Gate,
    /// The choices by state and class.
    pub choices: Choices,
    /// Counters of descriptors.
    pub counters: Counters,
    /// Which binds are followed, one of [`follow`]; it only grows.
    pub follow: AtomicU8,
    /// Whether a set layout with immutable samplers was ever created.
    pub has_immutables: AtomicBool,
    /// Descriptor types whose writes need more than to be counted, as [`type_bit`](super::types::type_bit)s.
    pub watched: AtomicU32,
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
            choices: Choices::default(),
            counters: Counters::new(),
            follow: AtomicU8::new(follow::NONE),
            has_immutables: AtomicBool::new(false),
            watched: AtomicU32::new(0),
            templates: HandleMap::new(),
            sets: HandleMap::new(),
            pipeline_layouts: HandleMap::new(),
        }
    }
}
