//! Format features, by the tiling of the image.

use alloc::vec::Vec;

use ash::vk;

use crate::format;

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
    /// That of an image; a tiling that is not known counts as optimal.
    pub fn of(tiling: vk::ImageTiling) -> Self {
        match tiling {
            vk::ImageTiling::LINEAR => Self::Linear,
            vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => Self::Modifier,
            _ => Self::Optimal,
        }
    }

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
    /// Features that the device gave in 32 bits, of which none says that a format can be compared: every sampled depth format could.
    pub fn of_32_bits(format: vk::Format, of: &vk::FormatProperties) -> Self {
        let wide = |flags: vk::FormatFeatureFlags| vk::FormatFeatureFlags2::from_raw(u64::from(flags.as_raw()));
        let mut features = Self {
            optimal: wide(of.optimal_tiling_features),
            linear: wide(of.linear_tiling_features),
            buffer: wide(of.buffer_features),
            modifiers: Vec::new(),
        };
        features.add_comparison(format);
        features
    }

    /// Adds that depth formats can be compared where they can be sampled, which masks of 32 bits do not say.
    pub fn add_comparison(&mut self, format: vk::Format) {
        if format::aspects(format).contains(vk::ImageAspectFlags::DEPTH) {
            for tiling in [&mut self.optimal, &mut self.linear] {
                if tiling.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE) {
                    *tiling |= vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON;
                }
            }
        }
    }

    /// The features with a tiling, and with a modifier if that is [`Tiling::Modifier`].
    pub fn with_tiling(&self, tiling: Tiling, modifier: u64) -> vk::FormatFeatureFlags2 {
        match tiling {
            Tiling::Optimal => self.optimal,
            Tiling::Linear => self.linear,
            Tiling::Modifier => {
                let found = self.modifiers.iter().find(|(one, _)| *one == modifier);
                found.map_or(vk::FormatFeatureFlags2::empty(), |(_, features)| *features)
            }
        }
    }

    /// Union over every tiling and modifier: the *potential format features* of a Y′CbCr conversion.
    pub fn potential(&self) -> vk::FormatFeatureFlags2 {
        self.modifiers.iter().fold(self.optimal | self.linear, |all, (_, features)| all | *features)
    }
}

impl From<&vk::FormatProperties3<'_>> for FormatFeatures {
    fn from(of: &vk::FormatProperties3<'_>) -> Self {
        Self {
            optimal: of.optimal_tiling_features,
            linear: of.linear_tiling_features,
            buffer: of.buffer_features,
            modifiers: Vec::new(),
        }
    }
}
