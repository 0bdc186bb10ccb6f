//! Which device extensions were in the registry when the layer was written.
//!
//! None of these adds an enumerant to a sampler beyond those that [`decide`](crate::decide) names, so where only they are
//! enabled, any other value is no enumerant. Of an extension that is not among them that cannot be said.
//! `scripts/known-extensions` writes the table from the registry. It holds hashes, which take a seventh of the room of the names:
//! one unknown name in ten million is taken for another by chance, and has its values repaired.
#![forbid(unsafe_code)]

mod known;

use ash::vk;

use crate::decide::fnv1a;

/// Highest core version whose enumerants the layer knows.
const CORE: (u32, u32) = (1, 4);

/// Whether the extension was in the registry.
pub fn is_known(name: &[u8]) -> bool {
    let hash = fnv1a(name.iter().copied());
    known::KNOWN.binary_search(&((hash ^ (hash >> 32)) as u32)).is_ok()
}

/// Whether the core version of a device is one that the layer was written for.
pub fn is_known_version(version: u32) -> bool {
    (vk::api_version_major(version), vk::api_version_minor(version)) <= CORE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_registry_are_known_and_no_others() {
        assert!(known::KNOWN.is_sorted_by(|a, b| a < b));
        for name in [
            ash::khr::swapchain::NAME,
            ash::khr::sampler_mirror_clamp_to_edge::NAME,
            ash::img::filter_cubic::NAME,
            ash::ext::filter_cubic::NAME,
            ash::ext::custom_border_color::NAME,
            ash::qcom::filter_cubic_clamp::NAME,
            ash::android::external_memory_android_hardware_buffer::NAME,
            // Younger than the bindings, disabled in the registry, provisional.
            c"VK_EXT_descriptor_heap",
            c"VK_ANDROID_native_buffer",
            c"VK_AMDX_shader_enqueue",
        ] {
            assert!(is_known(name.to_bytes()), "{name:?}");
        }
        // An instance extension cannot be enabled on a device, and a number that is set aside has no name yet.
        for name in [c"VK_EXT_sampling_of_tomorrow", c"VK_KHR_surface", c"VK_EXT_extension_28", c"", c"VK_KHR_swapchai"]
        {
            assert!(!is_known(name.to_bytes()), "{name:?}");
        }
    }

    #[test]
    fn versions_are_known_up_to_the_one_of_the_registry() {
        for (version, is_known) in [
            (vk::API_VERSION_1_0, true),
            (vk::make_api_version(0, 1, 4, 999), true),
            (vk::make_api_version(0, 1, 5, 0), false),
            (vk::make_api_version(0, 2, 0, 0), false),
        ] {
            assert_eq!(is_known_version(version), is_known, "{version:#x}");
        }
    }
}
