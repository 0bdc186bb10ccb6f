//! Catalogue A.1: filters, LOD, anisotropy.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-parameter"),
        what: "CUBIC without an extension that has it",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.caps.filter_cubic_img = false;
            t.caps.filter_cubic_ext = false;
        },
        changes: &["A-1 magFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.caps.filter_cubic_img = true,
    },
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-minFilter-parameter"),
        what: "a minification filter that is none",
        illegal: |t| t.s.min_filter = vk::Filter::from_raw(77),
        changes: &["A-1 minFilter 77 -> NEAREST"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "A-1",
        vuid: Some("VUID-VkSamplerCreateInfo-mipmapMode-parameter"),
        what: "a mipmap mode that is none",
        illegal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::from_raw(2),
        changes: &["A-1 mipmapMode 2 -> NEAREST"],
        legal: |t| t.s.mipmap_mode = MIP_LINEAR,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias above the limit",
        illegal: |t| t.s.mip_lod_bias = 15.5,
        changes: &["A-2 mipLodBias 15.5 -> 15"],
        legal: |t| t.s.mip_lod_bias = 15.0,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias below the negative limit, where the validation layer looks away",
        illegal: |t| t.s.mip_lod_bias = f32::NEG_INFINITY,
        changes: &["A-2 mipLodBias -inf -> -15"],
        legal: |t| t.s.mip_lod_bias = -15.0,
    },
    Row {
        id: "A-2",
        vuid: Some("VUID-VkSamplerCreateInfo-mipLodBias-01069"),
        what: "bias is not a number",
        illegal: |t| t.s.mip_lod_bias = f32::NAN,
        changes: &["A-2 mipLodBias NaN -> 0"],
        legal: |t| t.s.mip_lod_bias = -0.0,
    },
    Row {
        id: "A-3",
        vuid: Some("VUID-VkSamplerCreateInfo-samplerMipLodBias-04467"),
        what: "any bias on a portability device without the feature",
        illegal: |t| {
            t.s.mip_lod_bias = 0.5;
            t.caps.sampler_mip_lod_bias = false;
        },
        changes: &["A-3 mipLodBias 0.5 -> 0"],
        legal: |t| t.s.mip_lod_bias = 0.0,
    },
    Row {
        id: "A-4",
        vuid: Some("VUID-VkSamplerCreateInfo-maxLod-01973"),
        what: "the range is upside down",
        illegal: |t| (t.s.min_lod, t.s.max_lod) = (4.0, 1.0),
        changes: &["A-4 minLod 4 -> 1", "A-4 maxLod 1 -> 4"],
        legal: |t| t.s.max_lod = 4.0,
    },
    Row {
        id: "A-4",
        vuid: Some("VUID-VkSamplerCreateInfo-maxLod-01973"),
        what: "ends that are not numbers",
        illegal: |t| (t.s.min_lod, t.s.max_lod) = (f32::NAN, f32::NAN),
        changes: &["A-4 minLod NaN -> 0", "A-4 maxLod NaN -> 1000"],
        // negative values are legal, and 0.25 is the OpenGL idiom for "no mipmap", never to be rounded.
        legal: |t| (t.s.min_lod, t.s.max_lod) = (-1e9, 0.25),
    },
    Row {
        id: "A-5",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01070"),
        what: "anisotropy without the feature",
        illegal: |t| {
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
            t.caps.sampler_anisotropy = false;
        },
        changes: &["A-5 anisotropyEnable true -> false"],
        legal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (false, 999.0),
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "more anisotropy than the limit",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::INFINITY),
        changes: &["A-6 maxAnisotropy inf -> 16"],
        legal: |t| t.s.max_anisotropy = 16.0,
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "less anisotropy than 1",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 0.0),
        changes: &["A-6 anisotropyEnable true -> false"],
        legal: |t| t.s.max_anisotropy = 1.0,
    },
    Row {
        id: "A-6",
        vuid: Some("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"),
        what: "anisotropy is not a number",
        illegal: |t| (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, f32::NAN),
        changes: &["A-6 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-7",
        vuid: Some("VUID-VkSamplerCreateInfo-magFilter-01081"),
        what: "CUBIC with anisotropy; CUBIC wins",
        illegal: |t| {
            t.s.min_filter = CUBIC;
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["A-7 anisotropyEnable true -> false"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "S-6",
        vuid: None,
        what: "anisotropy on NEAREST filters, with aniso_nearest=off",
        illegal: |t| {
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 16.0);
            t.s.mipmap_mode = MIP_LINEAR;
            t.policy.flat_nearest = true;
        },
        changes: &["S-6 anisotropyEnable true -> false"],
        legal: |t| t.policy.flat_nearest = false,
    },
    Row {
        id: "S-6",
        vuid: None,
        what: "a degree of 1 is no exception",
        illegal: |t| {
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 1.0);
            t.caps.max_sampler_anisotropy = 1.0;
            t.policy.flat_nearest = true;
        },
        changes: &["S-6 anisotropyEnable true -> false"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "S-6",
        vuid: None,
        what: "with a view that asks for nothing",
        illegal: |t| {
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 99.0);
            t.policy.flat_nearest = true;
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["S-6 anisotropyEnable true -> false"],
        legal: |t| (t.s.mag_filter, t.s.max_anisotropy) = (LINEAR, 16.0),
    },
];
