use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A sampler meets a view of a format that the device cannot sample at all.
    ///
    /// ## The specification
    ///
    /// VUID-VkImageViewCreateInfo-usage-02274: the format of a view with SAMPLED usage has `VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT`
    ///   with the image's tiling. Without it no other feature of the format says anything, so no other sampler would make the pair
    ///   legal.
    ///
    /// ## Who trips over it
    ///
    /// Programs that take `VK_FORMAT_D24_UNORM_S8_UINT`, BC or ASTC for granted, or images with linear tiling.
    ///
    /// ## What is lost
    ///
    /// Nothing: no sampler is changed for it. What the shader reads is undefined.
    ///
    /// ## In the application
    ///
    /// ```c
    /// vkGetPhysicalDeviceFormatProperties(gpu, format, &properties);
    /// bool can_be_sampled = properties.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `samplin predict TRACE --device DEVICE` lists such formats before a player meets them.
    unsupported_format UnsupportedFormat "unsupported-format" {
        B66 "B-66" Vuid("VUID-VkImageViewCreateInfo-usage-02274")
            lost "", by not_sampled;
    }
}

pub(super) fn not_sampled(_: &Change, context: &Context<'_>) -> String {
    format!("{} cannot be sampled at all ({})", context.format(), context.tiling.name())
}
