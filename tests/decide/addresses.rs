//! Catalogue A.3 and A.4: address modes, comparison, reduction.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-parameter"),
        what: "GL_CLAMP on U",
        illegal: |t| t.s.address_mode[0] = Mode::from_raw(0x2900),
        changes: &["A-20 addressModeU 10496 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[0] = Mode::MIRROR_CLAMP_TO_EDGE,
    },
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeV-parameter"),
        what: "no mode on V",
        illegal: |t| t.s.address_mode[1] = Mode::from_raw(5),
        changes: &["A-20 addressModeV 5 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[1] = Mode::CLAMP_TO_BORDER,
    },
    Row {
        id: "A-20",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeW-parameter"),
        what: "no mode on W",
        illegal: |t| t.s.address_mode[2] = Mode::from_raw(-1),
        changes: &["A-20 addressModeW -1 -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[2] = Mode::MIRRORED_REPEAT,
    },
    Row {
        id: "A-21",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01079"),
        what: "MIRROR_CLAMP_TO_EDGE without feature or extension, on W alone",
        illegal: |t| {
            t.s.address_mode[2] = Mode::MIRROR_CLAMP_TO_EDGE;
            t.caps.sampler_mirror_clamp_to_edge = false;
        },
        changes: &["A-21 addressModeW MIRROR_CLAMP_TO_EDGE -> MIRRORED_REPEAT"],
        legal: |t| t.caps.sampler_mirror_clamp_to_edge = true,
    },
    Row {
        id: "A-22",
        vuid: Some("VUID-VkSamplerCreateInfo-addressModeU-01078"),
        what: "no border colour where an axis asks for one",
        illegal: |t| t.border(vk::BorderColor::from_raw(99)),
        changes: &["A-22 borderColor 99 -> FLOAT_TRANSPARENT_BLACK"],
        // Garbage is legal where it is ignored.
        legal: |t| t.s.address_mode = [Mode::REPEAT; 3],
    },
    Row {
        id: "A-25",
        vuid: Some("VUID-VkSamplerCreateInfo-compareEnable-01080"),
        what: "no operator to compare with",
        illegal: |t| (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::from_raw(8)),
        changes: &["A-25 compareOp 8 -> ALWAYS"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-26",
        vuid: Some("VUID-VkSamplerCreateInfo-compareEnable-01423"),
        what: "comparison with a reduction; comparison wins",
        illegal: |t| (t.s.compare_enable, t.s.reduction_mode) = (true, MAX),
        changes: &["A-26 reductionMode MAX -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    },
    Row {
        id: "A-27",
        vuid: Some("VUID-VkSamplerCreateInfo-pNext-06726"),
        what: "a reduction without the feature",
        illegal: |t| {
            t.s.reduction_mode = MIN;
            t.caps.sampler_filter_minmax = false;
        },
        changes: &["A-27 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    },
    Row {
        id: "A-28",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-07911"),
        what: "CUBIC with a reduction on VK_IMG_filter_cubic",
        illegal: |t| {
            (t.s.mag_filter, t.s.reduction_mode) = (CUBIC, MAX);
            t.caps.filter_cubic_ext = false;
        },
        changes: &["A-28 reductionMode MAX -> WEIGHTED_AVERAGE"],
        legal: |t| t.caps.filter_cubic_ext = true,
    },
];
