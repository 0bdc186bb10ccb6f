//! samplin: a Vulkan layer that makes texture sampling legal, portable and explained.
//!
//! This is the layer as a plain library; `so/` makes the shared object of it that the Vulkan loader loads. What is decided stands
//! in `samplin-core`, what users write in `samplin-config`, what the trace looks like in `samplin-wire`.
//!
//! Where to start: [`entry`] for what the loader calls, [`hooks`] for what is intercepted, [`mod@device`] for what is remembered.
// No panic may come from a hook; the guard is for what slips through, not for what is written down.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

use ash::vk;
use once_cell::race::OnceRef;

use samplin_config::{LAYER_NAME, overrides, settings, simulate};
use samplin_core::{ability, budget, decide, features, format, names, outcome};
use samplin_hot::{counters, table};
use samplin_platform as platform;
use samplin_wire::record;

mod advertised;
pub mod caps;
pub mod commands;
pub mod device;
pub mod dispatch;
pub mod entry;
pub mod extensions;
mod feature_bits;
pub mod hooks;
pub mod instance;
pub mod kept;
pub mod log;
mod lowered;
pub mod memory;
pub mod pnext;
pub mod sampler_info;
pub mod trace;
pub mod v0;
pub mod variant;

/// Version of the layer.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that the loadable library was built from, which it says when it is loaded.
static COMMIT: OnceRef<'static, &'static str> = OnceRef::new();

/// Remembers the commit that the loadable library was built from.
pub fn built_from(commit: &'static &'static str) {
    // The first that says so is right; it is said once for each negotiation.
    let _ = COMMIT.set(commit);
}

/// Highest core version that the layer understands.
pub const API_VERSION: u32 = vk::make_api_version(0, 1, 4, 0);
