//! Catalogue A.3 and A.4: address modes, comparison, reduction.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-20" Some("VUID-VkSamplerCreateInfo-addressModeU-parameter") =>
        "GL_CLAMP on U"
            { t.s.address_mode[0] = Mode::from_raw(0x2900); }
            => ["A-20 addressModeU 10496 -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[0] = Mode::MIRROR_CLAMP_TO_EDGE; };
    "A-20" Some("VUID-VkSamplerCreateInfo-addressModeV-parameter") =>
        "no mode on V"
            { t.s.address_mode[1] = Mode::from_raw(5); }
            => ["A-20 addressModeV 5 -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[1] = Mode::CLAMP_TO_BORDER; };
    "A-20" Some("VUID-VkSamplerCreateInfo-addressModeW-parameter") =>
        "no mode on W"
            { t.s.address_mode[2] = Mode::from_raw(-1); }
            => ["A-20 addressModeW -1 -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[2] = Mode::MIRRORED_REPEAT; };
    "A-21" Some("VUID-VkSamplerCreateInfo-addressModeU-01079") =>
        "MIRROR_CLAMP_TO_EDGE without feature or extension, on W alone"
            { t.s.address_mode[2] = Mode::MIRROR_CLAMP_TO_EDGE; t.caps.sampler_mirror_clamp_to_edge = false; }
            => ["A-21 addressModeW MIRROR_CLAMP_TO_EDGE -> MIRRORED_REPEAT"]
            but { t.caps.sampler_mirror_clamp_to_edge = true; };
    "A-22" Some("VUID-VkSamplerCreateInfo-addressModeU-01078") =>
        "no border colour where an axis asks for one"
            { t.border(vk::BorderColor::from_raw(99)); }
            => ["A-22 borderColor 99 -> FLOAT_TRANSPARENT_BLACK"]
            // Garbage is legal where it is ignored.
            but { t.s.address_mode = [Mode::REPEAT; 3]; };
    "A-25" Some("VUID-VkSamplerCreateInfo-compareEnable-01080") =>
        "no operator to compare with"
            { (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::from_raw(8)); }
            => ["A-25 compareOp 8 -> ALWAYS"]
            but { t.s.compare_enable = false; };
    "A-26" Some("VUID-VkSamplerCreateInfo-compareEnable-01423") =>
        "comparison with a reduction; comparison wins"
            { (t.s.compare_enable, t.s.reduction_mode) = (true, MAX); }
            => ["A-26 reductionMode MAX -> WEIGHTED_AVERAGE"]
            but { t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE); };
    "A-27" Some("VUID-VkSamplerCreateInfo-pNext-06726") =>
        "a reduction without the feature"
            { t.s.reduction_mode = MIN; t.caps.sampler_filter_minmax = false; }
            => ["A-27 reductionMode MIN -> WEIGHTED_AVERAGE"]
            but { t.s.reduction_mode = Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE); };
    "A-28" Some("VUID-VkSamplerCreateInfo-magFilter-07911") =>
        "CUBIC with a reduction on VK_IMG_filter_cubic"
            { (t.s.mag_filter, t.s.reduction_mode) = (CUBIC, MAX); t.caps.filter_cubic_ext = false; }
            => ["A-28 reductionMode MAX -> WEIGHTED_AVERAGE"]
            but { t.caps.filter_cubic_ext = true; };
};
