//! samplin: a Vulkan layer that makes texture sampling legal, portable and explained.
//!
//! Built as the shared object that the Vulkan loader loads, and as a Rust library for tests and tools, which use the pure
//! parts: [`decide`], [`format`](mod@format), [`settings`] and the record types.
//!
//! Where to start: [`decide`] for what is decided, [`hooks`] for where, [`state`] for what is remembered.
// No panic may come from a hook; the guard is for what slips through, not for what is written down.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]
#![allow(non_snake_case, reason = "the library's file name is what the Vulkan loader's manifests expect")]

use std::ffi::CStr;

use ash::vk;

pub mod ability;
pub mod caps;
pub use samplin_hot::{counters, table};
pub mod decide;
pub mod dispatch;
pub mod entry;
pub mod format;
pub mod hooks;
pub mod memory;
pub mod names;
pub mod platform;
pub mod pnext;
pub mod record;
pub mod rules;
pub mod sampler_info;
pub mod settings;
pub mod simulate;
pub mod state;
pub mod trace;
pub mod variant;

/// Name of the layer.
pub const LAYER_NAME: &CStr = c"VK_LAYER_SAMPLIN_sampling";
/// Version of the layer.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Highest core version that the layer understands.
pub const API_VERSION: u32 = vk::make_api_version(0, 1, 4, 0);
