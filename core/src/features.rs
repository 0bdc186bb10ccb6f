//! Format features, by the tiling of the image.

use ash::vk;

/// Tiling of an image, as the trace names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// `VK_IMAGE_TILING_OPTIMAL`.
    #[default]
    Optimal,
    /// `VK_IMAGE_TILING_LINEAR`.
    Linear,
    /// `VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT`.
    Modifier,
}

impl Tiling {
    /// Name in reasons.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal tiling",
            Self::Linear => "linear tiling",
            Self::Modifier => "its DRM format modifier",
        }
    }

    /// Name in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Linear => "linear",
            Self::Modifier => "modifier",
        }
    }
}

/// Format features of one format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatFeatures {
    /// `optimalTilingFeatures`.
    pub optimal: vk::FormatFeatureFlags2,
    /// `linearTilingFeatures`.
    pub linear: vk::FormatFeatureFlags2,
    /// `bufferFeatures`.
    pub buffer: vk::FormatFeatureFlags2,
    /// Features per DRM format modifier.
    pub modifiers: Vec<(u64, vk::FormatFeatureFlags2)>,
}

impl FormatFeatures {
    /// Union over every tiling and modifier: the *potential format features* of a Y′CbCr conversion.
    pub fn potential(&self) -> vk::FormatFeatureFlags2 {
        self.modifiers.iter().fold(self.optimal | self.linear, |all, (_, features)| all | *features)
    }
}
