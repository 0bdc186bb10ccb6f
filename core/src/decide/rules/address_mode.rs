rule! { ($)
    /// An address mode that does not exist, or that this image or instruction does not allow.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-addressModeU-parameter (and V, W): the value is one of the enumeration.
    /// VUID-vkCmdDraw-flags-02696: an image with `VK_IMAGE_CREATE_CORNER_SAMPLED_BIT_NV` is read with CLAMP_TO_EDGE only.
    ///
    /// ## Who trips over it
    ///
    /// Uninitialised structures; numbers of another API's enumeration.
    ///
    /// ## What is lost
    ///
    /// The address mode: CLAMP_TO_EDGE stands in.
    ///
    /// ## In the application
    ///
    /// Start from a zeroed structure: 0 is `VK_SAMPLER_ADDRESS_MODE_REPEAT`.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    address_mode AddressMode "address-mode" {
        A20U "A-20" Vuid("VUID-VkSamplerCreateInfo-addressModeU-parameter")
            lost "what this driver happened to show", because "the value is not a VkSamplerAddressMode";
        A20V "A-20" Vuid("VUID-VkSamplerCreateInfo-addressModeV-parameter")
            lost "what this driver happened to show", because "the value is not a VkSamplerAddressMode";
        A20W "A-20" Vuid("VUID-VkSamplerCreateInfo-addressModeW-parameter")
            lost "what this driver happened to show", because "the value is not a VkSamplerAddressMode";
        B64 "B-64" Vuid("VUID-vkCmdDraw-flags-02696")
            lost "address mode", because "the image has VK_IMAGE_CREATE_CORNER_SAMPLED_BIT_NV";
    }
}
