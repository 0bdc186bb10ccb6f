//! Step 3 and `vkCreateSamplerYcbcrConversion`.

use ash::vk;

use crate::decide::sanitize::is_valid_filter;
use crate::decide::{Catalog, Change, Changes, Context, Exempt, Field, Judgement, Value};

rule! { ($)
    /// A Y′CbCr conversion, or a sampler with one, asks for what its format does not offer.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-minFilter-01645, -addressModeU-01646, -None-01647 for samplers;
    ///   VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657, -xChromaOffset-01651, -01652 and
    ///   -forceExplicitReconstruction-01656 for conversions.
    ///
    /// ## Who trips over it
    ///
    /// Video players and cameras that were tested on one phone.
    ///
    /// ## What is lost
    ///
    /// What the format does not offer: chroma smoothing, a separate luma filter, half a texel of chroma position, wrapping.
    ///
    /// ## In the application
    ///
    /// Query the format's `…_YCBCR_CONVERSION_…` bits before choosing `chromaFilter` and offsets; use equal filters and CLAMP_TO_EDGE.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    ycbcr Ycbcr "ycbcr" lost_by lost {
        A40 "A-40" Vuid("VUID-VkSamplerCreateInfo-minFilter-01645")
            lost "luma filter", because "the conversion has no separate reconstruction filter";
        A41 "A-41" Vuid("VUID-VkSamplerCreateInfo-addressModeU-01646")
            lost "addressing", because "a Y′CbCr conversion needs CLAMP_TO_EDGE, normalized coordinates and no anisotropy";
        A42 "A-42" Vuid("VUID-VkSamplerCreateInfo-None-01647")
            lost "footprint minimum or maximum", because "a Y′CbCr conversion excludes a reduction mode";
        A43 "A-43" Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657")
            lost "chroma smoothing", lacks "SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER";
        A44X "A-44" Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651")
            lost "half a texel of chroma position", lacks "COSITED_CHROMA_SAMPLES";
        A44Y "A-44" Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01652")
            lost "half a texel of chroma position", lacks "MIDPOINT_CHROMA_SAMPLES";
        A45 "A-45" Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656")
            lost "explicit reconstruction", lacks "SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE";
    }
}

pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    match (change.catalog, change.field) {
        (Catalog::A41, Field::AnisotropyEnable) => Some(Catalog::A5.lost()),
        (Catalog::A41, Field::UnnormalizedCoordinates) => Some("coordinates in texels"),
        _ => None,
    }
}

impl Judgement<'_> {
    /// Step 3. The conversion stays whatever else changes.
    pub(in crate::decide) fn ycbcr(&mut self) {
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
