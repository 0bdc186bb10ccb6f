use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A sampler flag without its feature, or members that the flag excludes.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788; -flags-02574 to -02580 (subsampled); -flags-06964 to -06970 (image
    ///   processing); -flags-08110 and -pNext-08111 (capture and replay).
    ///
    /// ## Who trips over it
    ///
    /// Flags that were copied from a sample for one vendor's device.
    ///
    /// ## What is lost
    ///
    /// What the flag excludes, or the flag itself where its feature is not enabled.
    ///
    /// ## In the application
    ///
    /// Enable the feature that the flag belongs to, and set the members as the flag's valid usage says.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    flags Flags "flags" {
        A52 "A-52" Vuid("VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788")
            lost "seams between cube faces", disabled "nonSeamlessCubeMap";
        A53Filter "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02574")
            lost "one filter", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Mip "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02575")
            lost "mipmap mode", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Lod "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02576")
            lost "LOD range", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Address "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02577")
            lost "wrapping", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Anisotropy "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02578")
            lost "anisotropic quality", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Compare "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02579")
            lost "comparison", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A53Unnormalized "A-53" Vuid("VUID-VkSamplerCreateInfo-flags-02580")
            lost "subsampled images", because "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it";
        A54Filter "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06964")
            lost "smoothing", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Mip "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06965")
            lost "mipmap mode", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Lod "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06966")
            lost "LOD range", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Address "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06967")
            lost "wrapping", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Border "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06968")
            lost "border colour", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Anisotropy "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06969")
            lost "anisotropic quality", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A54Compare "A-54" Vuid("VUID-VkSamplerCreateInfo-flags-06970")
            lost "comparison", because "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it";
        A55 "A-55" Vuid("VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210")
            lost "window size", by too_large;
        A56 "A-56" Vuid("VUID-VkSamplerCreateInfo-flags-08110")
            lost "capture and replay", disabled "descriptorBufferCaptureReplay";
        A57 "A-57" Vuid("VUID-VkSamplerCreateInfo-pNext-08111")
            lost "capture and replay", because "the capture and replay flag is not set";
        B78 "B-78" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "", by of_one_only;
    }
}

pub(super) fn too_large(_: &Change, context: &Context<'_>) -> String {
    let [width, height] = context.caps.max_block_match_window;
    format!("maxBlockMatchWindow is {width}×{height}")
}

pub(super) fn of_one_only(_: &Change, context: &Context<'_>) -> String {
    match context.view.is_some_and(|view| view.subsampled) {
        true => "a subsampled image is read through an immutable sampler that is subsampled".into(),
        false => "the sampler is subsampled and the image is not".into(),
    }
}
