//! Catalogue A.7: flags and vendor structures.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "A-52",
        vuid: Some("VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788"),
        what: "NON_SEAMLESS_CUBE_MAP without the feature",
        illegal: |t| {
            t.s.flags = NON_SEAMLESS;
            t.caps.non_seamless_cube_map = false;
        },
        changes: &["A-52 flags NON_SEAMLESS_CUBE_MAP_EXT -> 0"],
        legal: |t| t.caps.non_seamless_cube_map = true,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02574"),
        what: "SUBSAMPLED with two filters",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.min_filter = LINEAR;
        },
        changes: &["A-53 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.mag_filter = LINEAR,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02575"),
        what: "SUBSAMPLED with LINEAR between mip levels",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-53 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02576"),
        what: "SUBSAMPLED with a LOD range",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.max_lod = 1000.0;
        },
        changes: &["A-53 maxLod 1000 -> 0"],
        legal: |t| t.s.max_lod = 0.0,
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02577"),
        what: "SUBSAMPLED with wrapping",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.address_mode = [Mode::REPEAT; 3];
        },
        changes: &["A-53 addressModeU REPEAT -> CLAMP_TO_EDGE", "A-53 addressModeV REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER, Mode::REPEAT],
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02578"),
        what: "SUBSAMPLED with anisotropy",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 2.0);
        },
        changes: &["A-53 anisotropyEnable true -> false"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02579"),
        what: "SUBSAMPLED with comparison",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.s.compare_enable = true;
        },
        changes: &["A-53 compareEnable true -> false"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-53",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-02580"),
        what: "SUBSAMPLED with unnormalized coordinates; the coordinates are in the shader, so the flag goes",
        illegal: |t| {
            t.texels();
            t.s.flags = SUBSAMPLED;
        },
        changes: &["A-53 flags SUBSAMPLED_EXT -> 0"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06964"),
        what: "IMAGE_PROCESSING with filters",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.filters(LINEAR);
        },
        changes: &["A-54 magFilter LINEAR -> NEAREST", "A-54 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06964"),
        what: "IMAGE_PROCESSING with the filter of a conversion, which A-40 fixes: the flag goes",
        illegal: |t| {
            t.converts();
            t.s.flags = PROCESSING;
        },
        changes: &["A-54 flags IMAGE_PROCESSING_QCOM -> 0"],
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06965"),
        what: "IMAGE_PROCESSING with LINEAR between mip levels",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-54 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06966"),
        what: "IMAGE_PROCESSING with a LOD range",
        illegal: |t| {
            t.flagged(PROCESSING);
            (t.s.min_lod, t.s.max_lod) = (1.0, 1.0);
        },
        changes: &["A-54 minLod 1 -> 0", "A-54 maxLod 1 -> 0"],
        legal: |t| (t.s.min_lod, t.s.max_lod) = (0.0, 0.0),
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06967"),
        what: "IMAGE_PROCESSING with wrapping",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.address_mode[1] = Mode::MIRRORED_REPEAT;
        },
        changes: &["A-54 addressModeV MIRRORED_REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER, Mode::REPEAT],
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06968"),
        what: "IMAGE_PROCESSING with another border",
        illegal: |t| {
            t.s.flags = PROCESSING;
            t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        },
        changes: &["A-54 borderColor FLOAT_OPAQUE_WHITE -> FLOAT_TRANSPARENT_BLACK"],
        // Only U and V count.
        legal: |t| t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER],
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06969"),
        what: "IMAGE_PROCESSING with anisotropy",
        illegal: |t| {
            t.flagged(PROCESSING);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 2.0);
        },
        changes: &["A-54 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-54",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-06970"),
        what: "IMAGE_PROCESSING with comparison",
        illegal: |t| {
            t.flagged(PROCESSING);
            t.s.compare_enable = true;
        },
        changes: &["A-54 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-55",
        vuid: Some("VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210"),
        what: "a window above the limit",
        illegal: |t| t.s.block_match = Some(BlockMatchWindow { extent: [65, 8], compare_mode: 1 }),
        changes: &["A-55 windowExtent 65x8 -> 64x8"],
        // A limit that is not reported is none.
        legal: |t| t.caps.max_block_match_window = [0, 0],
    },
    Row {
        id: "A-56",
        vuid: Some("VUID-VkSamplerCreateInfo-flags-08110"),
        what: "capture and replay without the feature",
        illegal: |t| {
            t.s.flags = REPLAY;
            t.caps.descriptor_buffer_capture_replay = false;
        },
        changes: &["A-56 flags DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT -> 0"],
        legal: |t| t.caps.descriptor_buffer_capture_replay = true,
    },
    Row {
        id: "A-57",
        vuid: Some("VUID-VkSamplerCreateInfo-pNext-08111"),
        what: "captured data without the flag",
        illegal: |t| t.s.opaque_capture = true,
        changes: &["A-57 opaqueCaptureDescriptorData present -> absent"],
        legal: |t| t.s.flags = REPLAY,
    },
    Row {
        id: "A-59",
        vuid: Some("VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter"),
        what: "weights that are none",
        illegal: |t| t.s.cubic_weights = Some(4),
        changes: &["A-59 cubicWeights 4 -> absent"],
        legal: |t| t.s.cubic_weights = Some(3),
    },
    Row {
        id: "A-59",
        vuid: Some("VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter"),
        what: "a reduction mode that is none",
        illegal: |t| t.s.reduction_mode = Some(vk::SamplerReductionMode::from_raw(3)),
        changes: &["A-59 reductionMode 3 -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.reduction_mode = MAX,
    },
];
