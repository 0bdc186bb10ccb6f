//! Descriptors of views that show depth and stencil at once: they may show one of them.

use ash::vk::{ImageAspectFlags as Aspects, ImageUsageFlags as Usage};

use super::{Catalog, Change, Field, Value};

const BOTH: Aspects = Aspects::from_raw(Aspects::DEPTH.as_raw() | Aspects::STENCIL.as_raw());
/// The usages with which a shader reads a view through a descriptor.
const READ: u64 = (Usage::SAMPLED.as_raw() | Usage::INPUT_ATTACHMENT.as_raw()) as u64;

/// The aspect that descriptors show of a view of this usage with both, with the change; none for a view with one aspect and for one that no
/// shader reads.
///
/// It is the depth: what a descriptor is written for is not known, and nearly all read that. A view with both has the usages alone that both
/// have (VkImageViewUsageCreateInfo), so its depth can be read.
pub fn aspect_read(aspects: Aspects, usage: u64) -> Option<(Aspects, Change)> {
    if !aspects.contains(BOTH) || usage & READ == 0 {
        return None;
    }
    let (from, to) = (Value::Aspects(BOTH.as_raw().into()), Value::Aspects(Aspects::DEPTH.as_raw().into()));
    Some((Aspects::DEPTH, Change { catalog: Catalog::H6, field: Field::AspectMask, from, to }))
}
