//! Rules of `vkCmdBlitImage` and `vkCreateSamplerYcbcrConversion`.

use crate::formats::{self, Numeric};
use crate::words::{CUBIC, LINEAR, NEAREST};
use ash::vk;
use samplin_core::decide::{BlitSource, ConversionState};

/// Rules of `vkCmdBlitImage` that a blit with `filter` from `source` breaks.
pub fn blit_violations(filter: vk::Filter, source: &BlitSource) -> Vec<&'static str> {
    use vk::FormatFeatureFlags2 as F;
    let facts = formats::facts(source.format);
    let has = |bit| source.features.is_none_or(|features| features.contains(bit));
    let integer = matches!(facts.numeric, Numeric::Uint | Numeric::Sint) && !facts.depth && !facts.stencil;
    let mut broken = Vec::new();
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    let linear_bit = has(F::SAMPLED_IMAGE_FILTER_LINEAR);
    // VUID-vkCmdBlitImage-filter-02001
    check("C-1", filter == LINEAR && !linear_bit);
    // VUID-vkCmdBlitImage-filter-02002
    check("C-2", filter == CUBIC && !has(F::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
    // VUID-vkCmdBlitImage-filter-00237
    check("C-3", filter == CUBIC && source.image_type != vk::ImageType::TYPE_2D);
    // VUID-vkCmdBlitImage-srcImage-00232
    check("C-4", filter != NEAREST && (facts.depth || facts.stencil));
    // VUID-vkCmdBlitImage-filter-02001 again, told apart because nothing is lost.
    check("C-10", integer && filter == LINEAR && !linear_bit);
    broken
}

/// Rules that a conversion breaks. With neither chroma-location bit no location is legal
/// (VUID-VkSamplerYcbcrConversionCreateInfo-format-01650), so A-44 has no cure and is not reported.
pub fn conversion_violations(
    state: &ConversionState,
    features: Option<vk::FormatFeatureFlags2>,
    subsampled: [bool; 2],
) -> Vec<&'static str> {
    use vk::FormatFeatureFlags2 as F;
    let Some(features) = features else { return Vec::new() };
    let mut broken = Vec::new();
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    // VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657
    check("A-43", state.chroma_filter == LINEAR && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER));
    let (cosited, midpoint) =
        (features.contains(F::COSITED_CHROMA_SAMPLES), features.contains(F::MIDPOINT_CHROMA_SAMPLES));
    let misplaced = [(state.x_chroma_offset, subsampled[0]), (state.y_chroma_offset, subsampled[1])].into_iter().any(
        |(location, downsampled)| {
            downsampled
                && ((location == vk::ChromaLocation::COSITED_EVEN && !cosited && midpoint)
                    || (location == vk::ChromaLocation::MIDPOINT && !midpoint && cosited))
        },
    );
    // VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651 and -01652
    check("A-44", misplaced);
    // VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656
    check(
        "A-45",
        state.force_explicit_reconstruction
            && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE),
    );
    broken
}
