use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A mutable image has a usage that its own format does not support, but formats of its list do.
    ///
    /// ## The specification
    ///
    /// VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251: the format supports the usage, unless
    ///   `VK_IMAGE_CREATE_EXTENDED_USAGE_BIT` says that only views of other formats will use it.
    ///
    /// ## Who trips over it
    ///
    /// sRGB images that are stored to through a UNORM view.
    ///
    /// ## What is lost
    ///
    /// Nothing: views of the other formats have the usage.
    ///
    /// samplin names a swapchain whose formats all lack a part of `imageUsage` (VUID-VkSwapchainCreateInfoKHR-imageFormat-01778),
    ///   and does not change it. The usage that a surface offers is that of the surface, not of each format.
    /// Images that are bound to it, imageless framebuffers, and views that state their usage repeat its `imageUsage`. Its views
    ///   lose what their format lacks (rule `view-usage`).
    /// samplin does not check whether the surface offers the usage at all (VUID-VkSwapchainCreateInfoKHR-presentMode-01427,
    ///   -imageUsage-01384).
    ///
    /// ## In the application
    ///
    /// ```c
    /// image_info.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `mode=audit` records it and changes nothing.
    image_usage ImageUsage "image-usage" {
        H2 "H-2" Vuid("VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251")
            lost "nothing: views of the other formats have the usage", by of_other_formats;
    }
}

pub(super) fn of_other_formats(_: &Change, context: &Context<'_>) -> String {
    let format = context.format();
    format!("only other formats that the image may be viewed with have the usage, {format} has not")
}
