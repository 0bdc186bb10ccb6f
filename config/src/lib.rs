//! What users write: settings, rules files and capability files.
//!
//! Knows their names, values and mistakes; makes no Vulkan call and does not know what becomes of a setting.

use std::ffi::CStr;

pub mod devices;
pub mod overrides;
pub mod quirks;
pub mod settings;
pub mod simulate;
pub mod template;

/// Name of the layer.
pub const LAYER_NAME: &CStr = c"VK_LAYER_SAMPLIN_sampling";
