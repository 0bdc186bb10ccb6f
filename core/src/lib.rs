//! What samplin decides, and the facts it decides by: pure values, no Vulkan call, no global, no file.
//!
//! Start at [`decide`], and at [`outcome`] for what decisions come to. Vulkan's types appear as plain data; an enumerant that the bindings do not know is a number like any
//! other.
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
pub mod storage;

pub use api::{
    Change, Device, FeatureStructure, Features, FormatProperties, Image, Limits, Outcome, Settings, Unresolved, Value,
    View,
};
pub use ash::vk;
pub use decide::SamplerState as Sampler;
pub use decide::{BlockMatchWindow, BorderMapping, CustomBorder, Reads, YcbcrConversion};
pub use features::{FormatFeatures, Tiling};
