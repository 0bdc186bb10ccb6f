//! Descriptors of views that show depth and stencil at once: they may show one of them.

use ash::vk::{ImageAspectFlags as Aspects, ImageUsageFlags as Usage};

use super::{Catalog, Change, Field, Value};

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
