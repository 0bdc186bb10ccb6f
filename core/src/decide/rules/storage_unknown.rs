rule! { ($)
    /// A shader reads or writes a storage image without a format, and the device cannot do so with the format of the view.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-OpTypeImage-07028 and -07027: where the shader declares Unknown, the view's format supports
    ///   STORAGE_READ_WITHOUT_FORMAT or STORAGE_WRITE_WITHOUT_FORMAT.
    /// VUID-vkCmdDraw-OpTypeImage-07030 and -07029: the same of texel buffers.
    ///
    /// ## Who trips over it
    ///
    /// Translators that declare no format, on GPUs that read a few formats so only; Vulkan 1.3 lets every shader declare the
    ///   capabilities.
    ///
    /// ## What is lost
    ///
    /// Nothing with `storage=emulate`: the shader declares the format of the view. A second pipeline is compiled at the draw.
    ///
    /// ## In the application
    ///
    /// Declare the format in the shader, or look for `VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT` in `VkFormatProperties3`.
    ///
    /// ## Settings
    ///
    /// - `storage=emulate` repairs it where all images of a type are of one format.
    storage_unknown StorageUnknown "storage-unknown" {
        H7 "H-7" Vuid("VUID-vkCmdDraw-OpTypeImage-07028")
            lost "nothing: the shader declares the format of the view",
            because "the device does not read the format of the view without one in the shader";
        H8 "H-8" Vuid("VUID-vkCmdDraw-OpTypeImage-07027")
            lost "nothing: the shader declares the format of the view",
            because "the device does not write the format of the view without one in the shader";
    }
}
