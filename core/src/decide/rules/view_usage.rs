rule! { ($)
    /// A view of a mutable image or of a swapchain's image inherits a usage that the view's own format does not support.
    ///
    /// ## The specification
    ///
    /// VUID-VkImageViewCreateInfo-usage-02274, -02275, -08931, -02277 and -08932: a view has the image's usage unless it states a
    ///   smaller one with `VkImageViewUsageCreateInfo`, and its format has to support all of it.
    ///
    /// ## Who trips over it
    ///
    /// Images with STORAGE usage that are also viewed as sRGB; swapchains with mutable formats; swapchains with STORAGE usage in an
    ///   sRGB format, because the surface offers the usage for another format.
    ///
    /// ## What is lost
    ///
    /// Nothing: the view could not be used that way on this device.
    ///
    /// ## In the application
    ///
    /// ```c
    /// VkImageViewUsageCreateInfo usage = {
    ///     .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO, .usage = VK_IMAGE_USAGE_SAMPLED_BIT };
    /// view_info.pNext = &usage;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `mode=audit` records it and changes nothing.
    view_usage ViewUsage "view-usage" {
        H1Sampled "H-1" Vuid("VUID-VkImageViewCreateInfo-usage-02274")
            lost "nothing: such a view cannot be sampled", lacks "SAMPLED_IMAGE";
        H1Storage "H-1" Vuid("VUID-VkImageViewCreateInfo-usage-02275")
            lost "nothing: such a view cannot be a storage image", lacks "STORAGE_IMAGE";
        H1Color "H-1" Vuid("VUID-VkImageViewCreateInfo-usage-08931")
            lost "nothing: such a view cannot be rendered to", lacks "COLOR_ATTACHMENT";
        H1DepthStencil "H-1" Vuid("VUID-VkImageViewCreateInfo-usage-02277")
            lost "nothing: such a view cannot be rendered to", lacks "DEPTH_STENCIL_ATTACHMENT";
        H1Input "H-1" Vuid("VUID-VkImageViewCreateInfo-usage-08932")
            lost "nothing: such a view cannot be an input attachment", lacks "COLOR_ATTACHMENT and DEPTH_STENCIL_ATTACHMENT";
    }
}
