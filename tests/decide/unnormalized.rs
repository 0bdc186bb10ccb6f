//! Catalogue A.2: unnormalized coordinates.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "A-10",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"),
        what: "filters differ",
        illegal: |t| {
            t.texels();
            t.s.mag_filter = LINEAR;
        },
        changes: &["A-10 magFilter LINEAR -> NEAREST"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "A-10",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"),
        what: "filters differ and neither is NEAREST",
        illegal: |t| {
            t.texels();
            (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR);
        },
        changes: &["A-10 magFilter CUBIC_EXT -> NEAREST", "A-10 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.min_filter = CUBIC,
    },
    Row {
        id: "A-11",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073"),
        what: "LINEAR between mip levels",
        illegal: |t| {
            t.texels();
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-11 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    Row {
        id: "A-12",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074"),
        what: "a LOD range",
        illegal: |t| {
            t.texels();
            (t.s.min_lod, t.s.max_lod) = (-1.0, 1000.0);
        },
        changes: &["A-12 minLod -1 -> 0", "A-12 maxLod 1000 -> 0"],
        legal: |t| (t.s.min_lod, t.s.max_lod) = (-0.0, 0.0),
    },
    Row {
        id: "A-13",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"),
        what: "wrapping",
        illegal: |t| {
            t.texels();
            t.s.address_mode = [Mode::REPEAT, Mode::MIRROR_CLAMP_TO_EDGE, Mode::REPEAT];
        },
        changes: &[
            "A-13 addressModeU REPEAT -> CLAMP_TO_EDGE",
            "A-13 addressModeV MIRROR_CLAMP_TO_EDGE -> CLAMP_TO_EDGE",
        ],
        // W is free.
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_EDGE, Mode::REPEAT],
    },
    Row {
        id: "A-14",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076"),
        what: "anisotropy",
        illegal: |t| {
            t.texels();
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["A-14 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-15",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077"),
        what: "comparison",
        illegal: |t| {
            t.texels();
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS);
        },
        changes: &["A-15 compareEnable true -> false"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
];
