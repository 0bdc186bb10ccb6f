rule! { ($)
    /// A custom border colour without its feature or without its structure.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-customBorderColors-04085: `customBorderColors` is enabled.
    /// VUID-VkSamplerCreateInfo-borderColor-04011: `VkSamplerCustomBorderColorCreateInfoEXT` is chained.
    /// VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437: its mapping needs `borderColorSwizzle`.
    ///
    /// ## Who trips over it
    ///
    /// Translators on devices without `VK_EXT_custom_border_color`.
    ///
    /// ## What is lost
    ///
    /// The exact colour: the predefined one that is nearest as the shader sees it stands in, which loses nothing if it shows the
    ///   same. Of a view of red alone only red counts.
    ///
    /// ## In the application
    ///
    /// Enable the extension and both features, or choose one of the six predefined colours.
    ///
    /// ## Settings
    ///
    /// - `augment=on` enables the extension where the device has it.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_custom BorderCustom "border-custom" {
        A30 "A-30" Vuid("VUID-VkSamplerCreateInfo-customBorderColors-04085")
            lost "exact border colour", disabled "customBorderColors";
        A30Exact "A-30" Vuid("VUID-VkSamplerCreateInfo-customBorderColors-04085")
            lost "nothing: the predefined colour shows the same", disabled "customBorderColors";
        A31 "A-31" Vuid("VUID-VkSamplerCreateInfo-borderColor-04011")
            lost "what this driver happened to show", because "VkSamplerCustomBorderColorCreateInfoEXT is not chained";
        A37 "A-37" Vuid("VUID-VkDescriptorMappingSourceConstantOffsetEXT-pEmbeddedSampler-11445")
            lost "exact border colour", because "a shader cannot embed a sampler with a custom border colour";
        A38 "A-38" Vuid("VUID-vkWriteSamplerDescriptorsEXT-borderColor-11444")
            lost "exact border colour",
            because "VkSamplerCustomBorderColorIndexCreateInfoEXT is not chained, or its index is beyond maxCustomBorderColorSamplers";
        A36 "A-36" Vuid("VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437")
            lost "nothing: each pair is decided by its view", disabled "borderColorSwizzle";
    }
}
