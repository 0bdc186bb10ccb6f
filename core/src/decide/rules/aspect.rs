//! Descriptors of views that show depth and stencil at once: they may show one of them.

use ash::vk::{ImageAspectFlags as Aspects, ImageUsageFlags as Usage};

use crate::decide::{Catalog, Change, Field, Value};

rule! { ($)
    /// A descriptor has a view that shows depth and stencil at once.
    ///
    /// ## The specification
    ///
    /// VUID-VkDescriptorImageInfo-imageView-01976: a descriptor's view of a depth/stencil image shows its depth or its stencil, not
    ///   both. As an attachment a view may have both.
    ///
    /// ## Who trips over it
    ///
    /// Programs that make one view of a depth/stencil image and use it as attachment and as texture (SDL#12192, blade#278).
    ///
    /// ## What is lost
    ///
    /// Nothing where samplin knows what the shader declares: floats read the depth, integers the stencil.
    /// Where it does not, the descriptor shows the depth:
    ///
    /// - in descriptor buffers;
    /// - with `separate=base`;
    /// - in sets that were allocated before the first image of depth and stencil that is sampled, if samplin does not follow them
    ///   for anything else (`set-unfollowed`);
    /// - in sets that may be updated after they are bound (`update-after-bind`);
    /// - where one pipeline reads a descriptor both ways (`both-aspects`).
    ///
    /// ## In the application
    ///
    /// ```c
    /// VkImageViewCreateInfo sampled = attachment_info;
    /// sampled.subresourceRange.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `aspect=keep` leaves such views to the driver. NVIDIA's (580) shows the stencil then, also to shaders that read floats;
    ///   lavapipe the depth; SwiftShader neither.
    /// - `mode=audit` records it and changes nothing.
    aspect Aspect "aspect" {
        H6 "H-6" Vuid("VUID-VkDescriptorImageInfo-imageView-01976")
            lost "the other aspect, where the shader's type is not known",
            because "a descriptor shows depth or stencil, not both";
    }
}

const BOTH: Aspects = Aspects::from_raw(Aspects::DEPTH.as_raw() | Aspects::STENCIL.as_raw());
/// The usages with which a shader reads a view through a descriptor.
const READ: u64 = (Usage::SAMPLED.as_raw() | Usage::INPUT_ATTACHMENT.as_raw()) as u64;

/// Whether a descriptor of a view with these aspects and this usage may show only one of them
/// (VUID-VkDescriptorImageInfo-imageView-01976). A view with both has the usages alone that both have (VkImageViewUsageCreateInfo), so each
/// can be read.
pub fn shows_one_aspect(aspects: Aspects, usage: u64) -> bool {
    aspects.contains(BOTH) && usage & READ != 0
}

/// The change of a descriptor that shows one aspect of a view with both.
pub fn aspect_shown(aspect: Aspects) -> Change {
    let (from, to) = (Value::Aspects(BOTH.as_raw().into()), Value::Aspects(aspect.as_raw().into()));
    Change { catalog: Catalog::H6, field: Field::AspectMask, from, to }
}
