//! Helpers named after the words of the statements.

use crate::formats::{self, Numeric};
use ash::vk;
use samplin_core::decide::{Aspect, SamplerState, ViewTraits};

pub(crate) const NEAREST: vk::Filter = vk::Filter::NEAREST;
pub(crate) const LINEAR: vk::Filter = vk::Filter::LINEAR;
pub(crate) const CUBIC: vk::Filter = vk::Filter::CUBIC_EXT;
pub(crate) const MIP_LINEAR: vk::SamplerMipmapMode = vk::SamplerMipmapMode::LINEAR;
pub(crate) const MIP_NEAREST: vk::SamplerMipmapMode = vk::SamplerMipmapMode::NEAREST;
pub(crate) const EDGE: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_EDGE;
pub(crate) const BORDER: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_BORDER;

/// `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT`, which the layer's own extension takes and no driver understands (S-4).
pub(crate) const GL_MODES: [i32; 2] = [0x2900, 0x8742];

/// `magFilter` or `minFilter` is `filter`.
pub(crate) fn either(state: &SamplerState, filter: vk::Filter) -> bool {
    [state.mag_filter, state.min_filter].contains(&filter)
}

/// `VkSamplerReductionModeCreateInfo::reductionMode`; absent means `WEIGHTED_AVERAGE`.
pub(crate) fn reduction(state: &SamplerState) -> vk::SamplerReductionMode {
    state.reduction_mode.unwrap_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE)
}

pub(crate) fn min_or_max(state: &SamplerState) -> bool {
    [vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX].contains(&reduction(state))
}

pub(crate) fn range_clamp(state: &SamplerState) -> bool {
    reduction(state) == vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM
}

pub(crate) fn custom(state: &SamplerState) -> bool {
    [vk::BorderColor::FLOAT_CUSTOM_EXT, vk::BorderColor::INT_CUSTOM_EXT].contains(&state.border_color)
}

pub(crate) fn valid_border(color: vk::BorderColor) -> bool {
    [
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        vk::BorderColor::INT_TRANSPARENT_BLACK,
        vk::BorderColor::FLOAT_OPAQUE_BLACK,
        vk::BorderColor::INT_OPAQUE_BLACK,
        vk::BorderColor::FLOAT_OPAQUE_WHITE,
        vk::BorderColor::INT_OPAQUE_WHITE,
        vk::BorderColor::FLOAT_CUSTOM_EXT,
        vk::BorderColor::INT_CUSTOM_EXT,
    ]
    .contains(&color)
}

pub(crate) fn int_border(color: vk::BorderColor) -> bool {
    [
        vk::BorderColor::INT_TRANSPARENT_BLACK,
        vk::BorderColor::INT_OPAQUE_BLACK,
        vk::BorderColor::INT_OPAQUE_WHITE,
        vk::BorderColor::INT_CUSTOM_EXT,
    ]
    .contains(&color)
}

/// U and V are each `CLAMP_TO_EDGE` or `CLAMP_TO_BORDER`.
pub(crate) fn uv_clamp(state: &SamplerState) -> bool {
    state.address_mode[..2].iter().all(|mode| [EDGE, BORDER].contains(mode))
}

/// Both LODs are zero (−0 is zero).
pub(crate) fn lods_zero(state: &SamplerState) -> bool {
    state.min_lod == 0.0 && state.max_lod == 0.0
}

/// The view's features are unknown or hold the bit.
pub(crate) fn has(view: &ViewTraits, bit: vk::FormatFeatureFlags2) -> bool {
    view.features.is_none_or(|features| features.contains(bit))
}

/// Numeric kind of what the view returns: the aspect decides for depth and stencil, the format's name for colour.
pub(crate) fn numeric(view: &ViewTraits) -> Numeric {
    match view.aspect {
        Aspect::Depth => Numeric::Float,
        Aspect::Stencil => Numeric::Uint,
        Aspect::Color => formats::facts(view.format).numeric,
    }
}

/// Heading of the list of cases in which a texel is poison.
pub(crate) const VALIDATION: &str = "Image Operations > Instruction/Format/Sampler/Image View Validation";
