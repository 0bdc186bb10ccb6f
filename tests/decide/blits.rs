//! Catalogue C: blits.

use crate::setting::*;
use samplin_core::decide::{unblittable, unblittable_aspects};

/// Rule, valid-usage id, filter, format, image type, features, changes; then the twin's format, image type, features.
pub(crate) type BlitSide = (vk::Format, vk::ImageType, Feature);
pub(crate) type BlitRow = (&'static str, &'static str, vk::Filter, BlitSide, &'static [&'static str], BlitSide);

const D2: vk::ImageType = vk::ImageType::TYPE_2D;
const D3: vk::ImageType = vk::ImageType::TYPE_3D;

pub(crate) const ROWS: &[BlitRow] = table! {
    ("C-1", "VUID-vkCmdBlitImage-filter-02001", LINEAR, (F::R32_SFLOAT, D2, Feature::BLIT_SRC),
        &["C-1 filter LINEAR -> NEAREST"], (F::R32_SFLOAT, D2, FILTERS)),
    ("C-2", "VUID-vkCmdBlitImage-filter-02002", CUBIC, (F::R8_UNORM, D2, FILTERS), &["C-2 filter CUBIC_EXT -> LINEAR"],
        (F::R8_UNORM, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT)),
    ("C-2", "VUID-vkCmdBlitImage-filter-02002", CUBIC, (F::R32_SFLOAT, D2, Feature::BLIT_SRC),
        &["C-2 filter CUBIC_EXT -> LINEAR", "C-1 filter LINEAR -> NEAREST"],
        (F::R32_SFLOAT, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT)),
    ("C-3", "VUID-vkCmdBlitImage-filter-00237", CUBIC, (F::R8_UNORM, D3, EVERY), &["C-3 filter CUBIC_EXT -> LINEAR"],
        (F::R8_UNORM, D2, EVERY)),
    ("C-4", "VUID-vkCmdBlitImage-srcImage-00232", LINEAR, (F::D16_UNORM, D2, EVERY), &["C-4 filter LINEAR -> NEAREST"],
        (F::R16_UNORM, D2, EVERY)),
    ("C-4", "VUID-vkCmdBlitImage-srcImage-00232", CUBIC, (F::S8_UINT, D2, EVERY), &["C-4 filter CUBIC_EXT -> NEAREST"],
        (F::R8_UNORM, D2, EVERY)),
    // No statement excludes integers: what the device reports is what it can do.
    ("C-10", "VUID-vkCmdBlitImage-filter-02001", LINEAR, (F::R8_UINT, D2, Feature::BLIT_SRC),
        &["C-10 filter LINEAR -> NEAREST"], (F::R8_UINT, D2, FILTERS)),
    ("C-10", "VUID-vkCmdBlitImage-filter-02001", CUBIC, (F::A8B8G8R8_UINT_PACK32, D2, Feature::BLIT_SRC),
        &["C-2 filter CUBIC_EXT -> LINEAR", "C-10 filter LINEAR -> NEAREST"],
        (F::A8B8G8R8_UINT_PACK32, D2, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT)),
};

/// Judges the rows.
#[test]
fn check() {
    let source = |(format, image_type, features): BlitSide| BlitSource { format, image_type, features: Some(features) };
    for (id, vuid, filter, illegal, changes, legal) in ROWS {
        let decision = decide::blit(*filter, &source(*illegal));
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id}");
        assert!(decision.changes.iter().any(|c| c.catalog.id() == *id && c.catalog.vuid() == Some(vuid)), "{id}");
        for source in [source(*legal), BlitSource { features: None, ..source(*legal) }] {
            let twin = decide::blit(*filter, &source);
            assert!(twin.changes.is_empty() && twin.filter == *filter, "{id}: {twin:?}");
        }
        assert!(decide::blit(NEAREST, &source(*illegal)).changes.is_empty(), "{id}: NEAREST always may");
    }
}

/// Formats of two images, and the rule that a blit between them breaks whatever its filter.
#[test]
fn formats() {
    let rows = [
        (F::R8G8B8A8_UNORM, F::R32G32B32A32_SFLOAT, None),
        (F::R8_SINT, F::R32_SINT, None),
        (F::R8_UINT, F::R32_UINT, None),
        (F::D16_UNORM, F::D16_UNORM, None),
        (F::S8_UINT, F::S8_UINT, None),
        (F::R8_SINT, F::R8_UNORM, Some("srcImage-00229")),
        (F::R8_UNORM, F::R8_SINT, Some("srcImage-00229")),
        (F::R8_SINT, F::R8_UINT, Some("srcImage-00229")),
        (F::R8_UINT, F::R8_UNORM, Some("srcImage-00230")),
        (F::R8_UNORM, F::R8_UINT, Some("srcImage-00230")),
        (F::D16_UNORM, F::R16_UNORM, Some("srcImage-00231")),
        (F::R8_UINT, F::S8_UINT, Some("srcImage-00231")),
        (F::D32_SFLOAT, F::D32_SFLOAT_S8_UINT, Some("srcImage-00231")),
    ];
    for (from, to, rule) in rows {
        let broken =
            unblittable([from, to]).map(|(vuid, _)| vuid.trim_start_matches("VUID-vkCmdBlitImage-").to_owned());
        assert_eq!(broken.as_deref(), rule, "{from:?} to {to:?}");
    }
    // Of one format the aspects still have to match.
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let both = [F::D24_UNORM_S8_UINT; 2];
    for aspects in [depth, stencil, depth | stencil] {
        assert_eq!(unblittable_aspects(both, [aspects; 2]), None);
    }
    for aspects in [[depth, stencil], [stencil, depth], [depth | stencil, depth]] {
        let (vuid, _) = unblittable_aspects(both, aspects).expect("a rule");
        assert_eq!(vuid, "VUID-VkImageBlit-aspectMask-00238", "{aspects:?}");
    }
}
