//! Catalogue B.2: comparison against the view, where no instruction that reads it compares. What compares is in `views.rs`.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "B-30",
        vuid: None,
        what: "comparison on stencil",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
            t.seen().reads = Reads::Plain;
        },
        changes: &["B-30 compareEnable true -> false"],
        legal: |t| t.seen().aspect = decide::Aspect::Depth,
    },
    Row {
        id: "B-30",
        vuid: None,
        what: "comparison on a colour format",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::R32_SFLOAT, Feature::SAMPLED_IMAGE_FILTER_LINEAR).reads = Reads::Plain;
        },
        changes: &["B-30 compareEnable true -> false"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-30",
        vuid: None,
        what: "comparison on an integer format, of which the statement asks the same bit",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::R32_UINT, Feature::empty()).reads = Reads::Plain;
        },
        changes: &["B-30 compareEnable true -> false"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-30",
        vuid: None,
        what: "after which LINEAR needs its bit (B-1, B-2)",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.compare_enable) = (MIP_LINEAR, true);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty()).reads = Reads::Plain;
        },
        changes: &[
            "B-30 compareEnable true -> false",
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
            "B-2 mipmapMode LINEAR -> NEAREST",
        ],
        // A depth view may be compared whatever its features.
        legal: |t| {
            t.sees(vk::Format::D16_UNORM, Feature::empty()).reads = Reads::Plain;
        },
    },
    Row {
        id: "B-36",
        vuid: Some("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450"),
        what: "a dynamic comparison sampler on a portability device without the feature",
        illegal: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::D16_UNORM, Feature::from_raw(u64::MAX));
            t.caps.mutable_comparison_samplers = false;
        },
        changes: &["B-36 compareEnable true -> false"],
        // At creation it may yet become immutable.
        legal: |t| t.view = None,
    },
];
