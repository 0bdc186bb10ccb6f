//! What is kept of images and of views, but for their handles.

use ash::vk;

use crate::decide::{self, ConflictBits, ViewTraits};
use crate::features::Tiling;

/// What is kept of an image. Images with equal traits share one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageTraits {
    /// Format of creation.
    pub format: vk::Format,
    /// `imageType`.
    pub image_type: vk::ImageType,
    /// Tiling; [`Tiling::Modifier`] goes with `modifier`.
    pub tiling: Tiling,
    /// DRM format modifier, 0 without one.
    pub modifier: u64,
    /// Effective create flags ("Effective Flags"), whose low half is a `VkImageCreateFlags`.
    pub flags: u64,
    /// Effective usage, whose low half is a `VkImageUsageFlags`.
    pub usage: u64,
    /// Effective usage of the stencil aspect.
    pub stencil_usage: u64,
    /// `mipLevels`.
    pub levels: u32,
    /// `arrayLayers`.
    pub layers: u32,
    /// What of `usage` some format of the image has.
    pub reachable: u64,
    /// Whether it may be viewed as unsigned integers, for shaders to store to.
    pub aliased: bool,
    /// Whether no format of it has the whole usage, and it was made all the same: a swapchain's, whose surface offers the usage.
    pub is_short: bool,
}

impl ImageTraits {
    /// Whether a view of this format can inherit a usage that the format cannot have.
    pub fn may_lack_usage(&self, format: vk::Format) -> bool {
        self.is_short || decide::may_lack_usage(self.flags, format == self.format)
    }
}

/// What is kept of a view class.
#[derive(Clone, Copy, Debug)]
pub struct ViewClass {
    /// What decisions look at.
    pub traits: ViewTraits,
    /// What it cannot give.
    pub lacks: ConflictBits,
    /// Tiling of the image, for the wording of reasons.
    pub tiling: Tiling,
}
