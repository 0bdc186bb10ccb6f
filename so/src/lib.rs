//! The loadable library: the allocator and the exported symbols, nothing else.
//!
//! A package of its own, because a library that is also linked by other packages is built without link-time optimisation.
#![allow(non_snake_case, reason = "the library's file name is what the Vulkan loader's manifests expect")]

use ash::vk;
use samplin::memory::WithReserve;
use vk_layer_sys::NegotiateLayerInterface;

// Android's loader does not negotiate.
#[cfg(target_os = "android")]
samplin::export_v0!();

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// The commit that it is built from, or nothing.
static COMMIT: &str = env!("SAMPLIN_COMMIT");

/// Agrees with the loader on version 2 of the layer interface, see [`samplin::entry::negotiate`].
///
/// # Safety
///
/// `interface` is null or points to a `VkNegotiateLayerInterface` that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    if !COMMIT.is_empty() {
        samplin::built_from(&COMMIT);
    }
    // SAFETY: `interface` is null or may be written by this function's contract, which is all that `negotiate` asks.
    unsafe { samplin::entry::negotiate(interface) }
}
