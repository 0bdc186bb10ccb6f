rule! { ($)
    /// `VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE` without the feature.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-addressModeU-01079: `samplerMirrorClampToEdge` (Vulkan 1.2) or
    ///   `VK_KHR_sampler_mirror_clamp_to_edge` has to be enabled.
    ///
    /// ## Who trips over it
    ///
    /// Translators of OpenGL and Direct3D 9. Most devices support the mode; the application forgot to enable it.
    ///
    /// ## What is lost
    ///
    /// Clamping beyond one mirrored copy: MIRRORED_REPEAT is the same up to a coordinate of 1.
    ///
    /// ## In the application
    ///
    /// ```c
    /// VkPhysicalDeviceVulkan12Features v12 = { .samplerMirrorClampToEdge = supported12.samplerMirrorClampToEdge };
    /// ```
    ///
    /// ## Settings
    ///
    /// - `augment=on` (the default) enables the feature where the device has it, so that nothing has to be changed.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    mirror_clamp MirrorClamp "mirror-clamp" {
        A21 "A-21" Vuid("VUID-VkSamplerCreateInfo-addressModeU-01079")
            lost "clamping beyond one mirrored copy",
            because "neither samplerMirrorClampToEdge nor VK_KHR_sampler_mirror_clamp_to_edge is enabled";
    }
}
