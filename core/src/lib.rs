//! What a Vulkan device makes of a sampler and an image view, and what to create instead.
//!
//! Describe a [`Device`] by its formats, its limits and the features that a program enables, and ask what it makes of a [`Sampler`] and a
//! [`View`]. Pure values: no Vulkan call, no global, no file, no standard library. Vulkan's types are ash's, as plain data; an enumerant that
//! the bindings do not know is a number like any other.
//!
//! Modules that are hidden from this documentation belong to the layer and change with it. There, start at `decide`, and at `outcome` for what
//! decisions come to.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod api;

#[doc(hidden)]
pub mod ability;
#[doc(hidden)]
pub mod budget;
#[doc(hidden)]
pub mod decide;
#[doc(hidden)]
pub mod declared;
#[doc(hidden)]
pub mod features;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod left;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod outcome;
#[doc(hidden)]
pub mod quirk;
#[doc(hidden)]
pub mod storage;

pub use api::{
    Change, Device, FeatureStructure, Features, FormatProperties, Image, Limits, Outcome, Settings, Unresolved, Value,
    View,
};
pub use ash::vk;
pub use decide::SamplerState as Sampler;
pub use decide::{BlockMatchWindow, BorderMapping, CustomBorder, Reads, YcbcrConversion};
pub use features::{FormatFeatures, Tiling};
