//! Catalogue A.6: conversions, and `vkCreateSamplerYcbcrConversion`.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-40" Some("VUID-VkSamplerCreateInfo-minFilter-01645") =>
        "filters other than the chroma filter"
            { t.converts(); t.filters(NEAREST); }
            => ["A-40 magFilter NEAREST -> LINEAR", "A-40 minFilter NEAREST -> LINEAR"]
            but {
              t.s.ycbcr = t.s.ycbcr.map(|conversion| YcbcrConversion { separate_reconstruction: true, ..conversion }); };
    "A-41" Some("VUID-VkSamplerCreateInfo-addressModeU-01646") =>
        "address modes, W too"
            { t.converts(); t.s.address_mode = [Mode::REPEAT, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER]; }
            => ["A-41 addressModeU REPEAT -> CLAMP_TO_EDGE", "A-41 addressModeW CLAMP_TO_BORDER -> CLAMP_TO_EDGE"]
            but { t.s.ycbcr = None; }
        "anisotropy and unnormalized coordinates"
            { t.converts(); t.anisotropic(2.0); t.s.unnormalized_coordinates = true; }
            => ["A-41 anisotropyEnable true -> false", "A-41 unnormalizedCoordinates true -> false"]
            but { (t.s.anisotropy_enable, t.s.unnormalized_coordinates) = (false, false); };
    "A-42" Some("VUID-VkSamplerCreateInfo-None-01647") =>
        "a reduction"
            { t.converts(); t.s.reduction_mode = MAX; }
            => ["A-42 reductionMode MAX -> WEIGHTED_AVERAGE"]
            but { t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE); };
};

/// Rule, valid-usage id, illegal state, missing feature, changes. The twin has the feature.
pub(crate) type ConversionRow =
    (&'static str, &'static str, fn(&mut ConversionState), Feature, &'static [&'static str]);

pub(crate) const AT_CREATION: &[ConversionRow] = table! {
    ("A-43", "VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657", |c| c.chroma_filter = LINEAR,
        Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER, &["A-43 chromaFilter LINEAR -> NEAREST"]),
    ("A-44", "VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651",
        |c| c.x_chroma_offset = vk::ChromaLocation::COSITED_EVEN, Feature::COSITED_CHROMA_SAMPLES,
        &["A-44 xChromaOffset COSITED_EVEN -> MIDPOINT"]),
    ("A-44", "VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01652",
        |c| { c.x_chroma_offset = vk::ChromaLocation::COSITED_EVEN; c.y_chroma_offset = vk::ChromaLocation::MIDPOINT; },
        Feature::MIDPOINT_CHROMA_SAMPLES, &["A-44 yChromaOffset MIDPOINT -> COSITED_EVEN"]),
    ("A-45", "VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656",
        |c| c.force_explicit_reconstruction = true,
        Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE,
        &["A-45 forceExplicitReconstruction true -> false"]),
};

/// Judges the rows of [`AT_CREATION`].
#[test]
fn at_creation() {
    let everything = EVERY;
    for (id, vuid, illegal, missing, changes) in AT_CREATION {
        let mut state = ConversionState {
            x_chroma_offset: vk::ChromaLocation::MIDPOINT,
            y_chroma_offset: vk::ChromaLocation::MIDPOINT,
            chroma_filter: NEAREST,
            force_explicit_reconstruction: false,
        };
        illegal(&mut state);
        let decision = decide::conversion(&state, Some(everything & !*missing), [true, true]);
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id}");
        assert!(decision.changes.iter().all(|c| c.catalog.vuid() == Some(vuid)), "{id}");
        for (features, subsampled) in [(Some(everything), [true, true]), (None, [true, true])] {
            let twin = decide::conversion(&state, features, subsampled);
            assert!(twin.changes.is_empty() && twin.state == state, "{id}");
        }
    }
    // An offset along an axis that is not subsampled is ignored, and with neither bit there is nothing to swap to.
    let cosited = ConversionState {
        x_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        y_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        chroma_filter: NEAREST,
        force_explicit_reconstruction: false,
    };
    let decision = decide::conversion(&cosited, Some(Feature::MIDPOINT_CHROMA_SAMPLES), [true, false]);
    assert_eq!(decision.state.y_chroma_offset, vk::ChromaLocation::COSITED_EVEN);
    assert_eq!(decision.changes.len(), 1);
    assert!(decide::conversion(&cosited, Some(NONE), [true, true]).changes.is_empty());
}
