//! Catalogue A.7: flags and vendor structures.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-52" Some("VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788") =>
        "NON_SEAMLESS_CUBE_MAP without the feature"
            { t.s.flags = NON_SEAMLESS; t.caps.non_seamless_cube_map = false; }
            => ["A-52 flags NON_SEAMLESS_CUBE_MAP_EXT -> 0"]
            but { t.caps.non_seamless_cube_map = true; };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02574") =>
        "SUBSAMPLED with two filters"
            { t.flagged(SUBSAMPLED); t.s.min_filter = LINEAR; }
            => ["A-53 minFilter LINEAR -> NEAREST"]
            but { t.s.mag_filter = LINEAR; };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02575") =>
        "SUBSAMPLED with LINEAR between mip levels"
            { t.flagged(SUBSAMPLED); t.s.mipmap_mode = MIP_LINEAR; }
            => ["A-53 mipmapMode LINEAR -> NEAREST"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02576") =>
        "SUBSAMPLED with a LOD range"
            { t.flagged(SUBSAMPLED); t.s.max_lod = 1000.0; }
            => ["A-53 maxLod 1000 -> 0"]
            but { t.s.max_lod = 0.0; };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02577") =>
        "SUBSAMPLED with wrapping"
            { t.flagged(SUBSAMPLED); t.s.address_mode = [Mode::REPEAT; 3]; }
            => ["A-53 addressModeU REPEAT -> CLAMP_TO_EDGE", "A-53 addressModeV REPEAT -> CLAMP_TO_EDGE"]
            but { t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_BORDER, Mode::REPEAT]; };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02578") =>
        "SUBSAMPLED with anisotropy"
            { t.flagged(SUBSAMPLED); t.anisotropic(2.0); }
            => ["A-53 anisotropyEnable true -> false"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02579") =>
        "SUBSAMPLED with comparison"
            { t.flagged(SUBSAMPLED); t.s.compare_enable = true; }
            => ["A-53 compareEnable true -> false"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); };
    "A-53" Some("VUID-VkSamplerCreateInfo-flags-02580") =>
        "SUBSAMPLED with unnormalized coordinates; the coordinates are in the shader, so the flag goes"
            { t.texels(); t.s.flags = SUBSAMPLED; }
            => ["A-53 flags SUBSAMPLED_EXT -> 0"]
            but { t.s.unnormalized_coordinates = false; };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06964") =>
        "IMAGE_PROCESSING with filters"
            { t.flagged(PROCESSING); t.filters(LINEAR); }
            => ["A-54 magFilter LINEAR -> NEAREST", "A-54 minFilter LINEAR -> NEAREST"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); }
        "IMAGE_PROCESSING with the filter of a conversion, which A-40 fixes: the flag goes"
            { t.converts(); t.s.flags = PROCESSING; }
            => ["A-54 flags IMAGE_PROCESSING_QCOM -> 0"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06965") =>
        "IMAGE_PROCESSING with LINEAR between mip levels"
            { t.flagged(PROCESSING); t.s.mipmap_mode = MIP_LINEAR; }
            => ["A-54 mipmapMode LINEAR -> NEAREST"]
            but { t.s.mipmap_mode = MIP_NEAREST; };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06966") =>
        "IMAGE_PROCESSING with a LOD range"
            { t.flagged(PROCESSING); (t.s.min_lod, t.s.max_lod) = (1.0, 1.0); }
            => ["A-54 minLod 1 -> 0", "A-54 maxLod 1 -> 0"]
            but { (t.s.min_lod, t.s.max_lod) = (0.0, 0.0); };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06967") =>
        "IMAGE_PROCESSING with wrapping"
            { t.flagged(PROCESSING); t.s.address_mode[1] = Mode::MIRRORED_REPEAT; }
            => ["A-54 addressModeV MIRRORED_REPEAT -> CLAMP_TO_EDGE"]
            but { t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER, Mode::REPEAT]; };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06968") =>
        "IMAGE_PROCESSING with another border"
            { t.s.flags = PROCESSING; t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE); }
            => ["A-54 borderColor FLOAT_OPAQUE_WHITE -> FLOAT_TRANSPARENT_BLACK"]
            // Only U and V count.
            but { t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER]; };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06969") =>
        "IMAGE_PROCESSING with anisotropy"
            { t.flagged(PROCESSING); t.anisotropic(2.0); }
            => ["A-54 anisotropyEnable true -> false"]
            but { t.s.anisotropy_enable = false; };
    "A-54" Some("VUID-VkSamplerCreateInfo-flags-06970") =>
        "IMAGE_PROCESSING with comparison"
            { t.flagged(PROCESSING); t.s.compare_enable = true; }
            => ["A-54 compareEnable true -> false"]
            but { t.s.compare_enable = false; };
    "A-55" Some("VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210") =>
        "a window above the limit"
            { t.s.block_match = Some(BlockMatchWindow { extent: [65, 8], compare_mode: 1 }); }
            => ["A-55 windowExtent 65x8 -> 64x8"]
            // A limit that is not reported is none.
            but { t.caps.max_block_match_window = [0, 0]; };
    "A-56" Some("VUID-VkSamplerCreateInfo-flags-08110") =>
        "capture and replay without the feature"
            { t.s.flags = REPLAY; t.caps.descriptor_buffer_capture_replay = false; }
            => ["A-56 flags DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT -> 0"]
            but { t.caps.descriptor_buffer_capture_replay = true; };
    "A-57" Some("VUID-VkSamplerCreateInfo-pNext-08111") =>
        "captured data without the flag"
            { t.s.opaque_capture = true; }
            => ["A-57 opaqueCaptureDescriptorData present -> absent"]
            but { t.s.flags = REPLAY; };
    "A-59" Some("VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter") =>
        "weights that are none"
            { t.s.cubic_weights = Some(4); }
            => ["A-59 cubicWeights 4 -> absent"]
            but { t.s.cubic_weights = Some(3); };
    "A-59" Some("VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter") =>
        "a reduction mode that is none"
            { t.s.reduction_mode = Some(vk::SamplerReductionMode::from_raw(3)); }
            => ["A-59 reductionMode 3 -> WEIGHTED_AVERAGE"]
            but { t.s.reduction_mode = MAX; };
};
