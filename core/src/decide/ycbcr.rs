//! Step 3 and `vkCreateSamplerYcbcrConversion`.

use ash::vk;

use super::sanitize::is_valid_filter;
use super::{Catalog, Change, Changes, Exempt, Field, Pass, Value};

impl Pass<'_> {
    /// Step 3. The conversion stays whatever else changes.
    pub(super) fn ycbcr(&mut self) {
        let Some(conversion) = self.state.ycbcr else { return };
        // A chroma filter that A-1 rejects stays with the conversion; no sampler can follow it.
        if !conversion.separate_reconstruction && is_valid_filter(conversion.chroma_filter, self.caps) {
            self.set_mag(Catalog::A40, conversion.chroma_filter);
            self.set_min(Catalog::A40, conversion.chroma_filter);
        }
        for axis in 0..3 {
            self.set_address(Catalog::A41, axis, vk::SamplerAddressMode::CLAMP_TO_EDGE);
        }
        self.disable_anisotropy(Catalog::A41);
        if self.state.unnormalized_coordinates && !self.is_off(Catalog::A41) {
            self.note(Catalog::A41, Field::UnnormalizedCoordinates, Value::Bool(true), Value::Bool(false));
            self.state.unnormalized_coordinates = false;
        }
        self.drop_reduction(Catalog::A42);
    }
}

/// The members of `VkSamplerYcbcrConversionCreateInfo` that rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversionState {
    /// `xChromaOffset`.
    pub x_chroma_offset: vk::ChromaLocation,
    /// `yChromaOffset`.
    pub y_chroma_offset: vk::ChromaLocation,
    /// `chromaFilter`.
    pub chroma_filter: vk::Filter,
    /// `forceExplicitReconstruction`.
    pub force_explicit_reconstruction: bool,
}

/// Outcome of [`conversion`].
#[derive(Clone, Debug)]
pub struct ConversionDecision {
    /// The state to hand down.
    pub state: ConversionState,
    /// One entry per change.
    pub changes: Changes,
}

/// Decides at `vkCreateSamplerYcbcrConversion`.
///
/// `features` are the potential format features of the conversion (the union over every tiling and
/// modifier); `None` when they are not known, for an external format say, and then nothing changes.
/// `subsampled` tells whether chroma is subsampled horizontally and vertically: an offset along an axis that is not
/// subsampled is ignored.
pub fn conversion(
    state: &ConversionState,
    features: Option<vk::FormatFeatureFlags2>,
    subsampled: [bool; 2],
) -> ConversionDecision {
    conversion_except(state, features, subsampled, Exempt::NONE)
}

/// [`conversion`], but for the rules that are switched off.
pub fn conversion_except(
    state: &ConversionState,
    features: Option<vk::FormatFeatureFlags2>,
    subsampled: [bool; 2],
    exempt: Exempt,
) -> ConversionDecision {
    use vk::FormatFeatureFlags2 as F;
    let mut out = *state;
    let mut changes = Changes::new();
    let Some(features) = features else { return ConversionDecision { state: out, changes } };
    let mut note = |catalog, field, from, to| changes.push(Change { catalog, field, from, to });
    if out.chroma_filter == vk::Filter::LINEAR
        && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER)
        && !exempt.contains(Catalog::A43)
    {
        note(Catalog::A43, Field::ChromaFilter, Value::Filter(out.chroma_filter), Value::Filter(vk::Filter::NEAREST));
        out.chroma_filter = vk::Filter::NEAREST;
    }
    let cosited = features.contains(F::COSITED_CHROMA_SAMPLES);
    let midpoint = features.contains(F::MIDPOINT_CHROMA_SAMPLES);
    for (location, field, relevant) in [
        (&mut out.x_chroma_offset, Field::XChromaOffset, subsampled[0]),
        (&mut out.y_chroma_offset, Field::YChromaOffset, subsampled[1]),
    ] {
        let (catalog, to) = match *location {
            vk::ChromaLocation::COSITED_EVEN if !cosited && midpoint => (Catalog::A44X, vk::ChromaLocation::MIDPOINT),
            vk::ChromaLocation::MIDPOINT if !midpoint && cosited => (Catalog::A44Y, vk::ChromaLocation::COSITED_EVEN),
            _ => continue,
        };
        if relevant && !exempt.contains(catalog) {
            note(catalog, field, Value::ChromaLocation(*location), Value::ChromaLocation(to));
            *location = to;
        }
    }
    if out.force_explicit_reconstruction
        && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE)
        && !exempt.contains(Catalog::A45)
    {
        note(Catalog::A45, Field::ForceExplicitReconstruction, Value::Bool(true), Value::Bool(false));
        out.force_explicit_reconstruction = false;
    }
    ConversionDecision { state: out, changes }
}
