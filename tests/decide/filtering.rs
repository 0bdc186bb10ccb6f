//! Catalogue B.1: filtering against format features.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "B-1" Some("VUID-vkCmdDraw-magFilter-04553") =>
        "LINEAR on a format that cannot be filtered"
            { t.filters(LINEAR); t.sees(F::R32G32B32A32_SFLOAT, NONE); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            but { t.gains(FILTERS); }
        "LINEAR in one filter is enough"
            { t.s.min_filter = LINEAR; t.sees(F::R16_UNORM, NONE); }
            => ["B-1 minFilter LINEAR -> NEAREST"]
            // Features that are not known forbid nothing.
            but { t.seen().features = None; }
        "LINEAR on depth without comparison"
            { t.filters(LINEAR); t.sees(F::D16_UNORM, COMPARES); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            // B-34: with comparison LINEAR is legal on any depth format.
            but { (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS); }
        "the 2D bit of VK_IMG_filter_linear_2d serves no 3D image"
            { t.filters(LINEAR); t.sees(F::R8G8B8A8_UNORM, Feature::from_raw(1 << 45));
              t.seen().view_type = vk::ImageViewType::TYPE_3D; t.seen().image_type = vk::ImageType::TYPE_3D; }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            // B-17
            but { t.seen().view_type = vk::ImageViewType::TYPE_2D; t.seen().image_type = vk::ImageType::TYPE_2D; }
        "whose anisotropy is implementation-defined on NEAREST (B-9)"
            { t.filters(LINEAR); t.anisotropic(8.0); t.sees(F::R32_SFLOAT, NONE); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST",
                "B-9 anisotropyEnable true -> false"]
            // The application's own anisotropy with NEAREST is not ours to judge.
            but { t.filters(NEAREST); }
        "LINEAR beside CUBIC; with a range clamp it is not what the statement names"
            { (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR);
              t.sees(F::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); }
            => ["B-1 minFilter LINEAR -> NEAREST"]
            but { t.s.reduction_mode = RANGE_CLAMP; }
        "depth_linear=compare: comparison with ALWAYS in place of NEAREST"
            { t.filters(LINEAR); t.policy.depth_compare = true; t.sees(F::D32_SFLOAT, COMPARES); }
            => ["S-2 compareEnable false -> true", "S-2 compareOp NEVER -> ALWAYS"]
            but { t.filters(NEAREST); }
        "depth_linear=compare gives way to unnormalized coordinates (A-15)"
            { t.texels(); t.filters(LINEAR); t.policy.depth_compare = true; t.sees(F::D32_SFLOAT, COMPARES); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            but { t.filters(NEAREST); }
        "depth_linear=compare gives way to SUBSAMPLED (A-53)"
            { t.flagged(SUBSAMPLED); t.filters(LINEAR); t.policy.depth_compare = true;
              t.sees(F::D32_SFLOAT, COMPARES); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            but { t.s.flags = vk::SamplerCreateFlags::empty(); t.gains(FILTERS); }
        "depth_linear=compare gives way where the format cannot compare (B-31)"
            { t.filters(LINEAR); t.policy.depth_compare = true; t.sees(F::D16_UNORM, NONE); }
            => ["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            but { t.seen().features = None; }
        "depth_linear=compare gives way where comparison is illegal"
            { t.s.mag_filter = LINEAR; t.policy.depth_compare = true; t.sees(F::D32_SFLOAT, COMPARES);
              t.caps.mutable_comparison_samplers = false; }
            => ["B-1 magFilter LINEAR -> NEAREST"]
            but { t.gains(FILTERS); };
    "B-2" Some("VUID-vkCmdDraw-mipmapMode-04770") =>
        "LINEAR between mip levels, although both filters are NEAREST"
            { t.s.mipmap_mode = MIP_LINEAR; t.sees(F::R32G32_SFLOAT, NONE); }
            => ["B-2 mipmapMode LINEAR -> NEAREST"]
            but { t.gains(FILTERS); }
        "LINEAR between levels of CUBIC; with a range clamp it is not what the statement names"
            { t.filters(CUBIC); t.s.mipmap_mode = MIP_LINEAR;
              t.sees(F::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); }
            => ["B-2 mipmapMode LINEAR -> NEAREST"]
            but { t.s.reduction_mode = RANGE_CLAMP; };
    "B-3" Some("VUID-vkCmdDraw-magFilter-09598") =>
        "MAX over LINEAR without the bit; a texel is its own maximum"
            { t.filters(LINEAR); t.s.reduction_mode = MAX; t.sees(F::R8G8B8A8_UNORM, FILTERS); }
            => ["B-3 magFilter LINEAR -> NEAREST", "B-3 minFilter LINEAR -> NEAREST",
                "B-3 reductionMode MAX -> WEIGHTED_AVERAGE"]
            but { t.filters(NEAREST); }
        "MIN over integers without the bit"
            { t.filters(LINEAR); t.s.reduction_mode = MIN; t.sees(F::R32_UINT, NONE); }
            => ["B-3 magFilter LINEAR -> NEAREST", "B-3 minFilter LINEAR -> NEAREST",
                "B-3 reductionMode MIN -> WEIGHTED_AVERAGE"]
            // Integers have a minimum.
            but { t.gains(Feature::SAMPLED_IMAGE_FILTER_MINMAX); };
    "B-4" Some("VUID-vkCmdDraw-mipmapMode-09599") =>
        "MIN over mip levels without the bit"
            { t.s.mipmap_mode = MIP_LINEAR; t.s.reduction_mode = MIN; t.sees(F::R8_UNORM, FILTERS); }
            => ["B-4 mipmapMode LINEAR -> NEAREST", "B-4 reductionMode MIN -> WEIGHTED_AVERAGE"]
            but { t.gains(Feature::SAMPLED_IMAGE_FILTER_MINMAX); }
        "MAX over mip levels without the bit, where CUBIC itself may reduce"
            { t.filters(CUBIC); (t.s.mipmap_mode, t.s.reduction_mode) = (MIP_LINEAR, MAX);
              t.sees(F::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); }
            => ["B-4 mipmapMode LINEAR -> NEAREST"]
            but { t.s.mipmap_mode = MIP_NEAREST; };
    "B-5" Some("VUID-vkCmdDraw-None-02692") =>
        "CUBIC without the bit"
            { t.s.mag_filter = CUBIC; t.sees(F::R8G8B8A8_UNORM, FILTERS); }
            => ["B-5 magFilter CUBIC_EXT -> LINEAR"]
            but { t.gains(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); }
        "CUBIC on a format that has not even LINEAR"
            { t.filters(CUBIC); t.sees(F::R32_SFLOAT, NONE); }
            => ["B-5 magFilter CUBIC_EXT -> LINEAR", "B-5 minFilter CUBIC_EXT -> LINEAR",
                "B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"]
            but { t.seen().features = None; }
        "after which range clamp has no CUBIC left (B-11)"
            { t.filters(CUBIC); t.s.reduction_mode = RANGE_CLAMP; t.sees(F::R8G8B8A8_UNORM, FILTERS); }
            => ["B-5 magFilter CUBIC_EXT -> LINEAR", "B-5 minFilter CUBIC_EXT -> LINEAR",
                "B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"]
            but { t.gains(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); }
        "CUBIC on integers"
            { t.filters(CUBIC); t.sees(F::A8B8G8R8_UINT_PACK32, NONE); }
            => ["B-5 magFilter CUBIC_EXT -> LINEAR", "B-5 minFilter CUBIC_EXT -> LINEAR",
                "B-16 magFilter LINEAR -> NEAREST", "B-16 minFilter LINEAR -> NEAREST"]
            // A PowerVR GE8100 reports it.
            but { t.gains(Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT); };
    "B-6" Some("VUID-vkCmdDraw-None-02693") =>
        "CUBIC on a cube with VK_IMG_filter_cubic alone"
            { t.s.min_filter = CUBIC; t.sees(F::R8G8B8A8_UNORM, EVERY);
              t.seen().view_type = vk::ImageViewType::CUBE; t.caps.filter_cubic_ext = false; }
            => ["B-6 minFilter CUBIC_EXT -> LINEAR"]
            but { t.seen().view_type = vk::ImageViewType::TYPE_2D_ARRAY; };
    "B-7" Some("VUID-vkCmdDraw-filterCubic-02694") =>
        "CUBIC where the image's query says no"
            { t.s.mag_filter = CUBIC; t.sees(F::R8G8B8A8_UNORM, EVERY); t.seen().filter_cubic = false; }
            => ["B-7 magFilter CUBIC_EXT -> LINEAR"]
            // The query belongs to VK_EXT_filter_cubic.
            but { t.caps.filter_cubic_ext = false; };
    "B-8" Some("VUID-vkCmdDraw-filterCubicMinmax-02695") =>
        "CUBIC with MIN where the image's query says no"
            { t.filters(CUBIC); t.s.reduction_mode = MIN; t.sees(F::R8G8B8A8_UNORM, EVERY);
              t.seen().filter_cubic_minmax = false; }
            => ["B-8 reductionMode MIN -> WEIGHTED_AVERAGE"]
            but { t.filters(LINEAR); };
    "B-10" Some("VUID-vkCmdDraw-cubicRangeClamp-09212") =>
        "CUBIC with range clamp without the feature"
            { t.filters(CUBIC); t.s.reduction_mode = RANGE_CLAMP; t.caps.cubic_range_clamp = false; }
            => ["B-10 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"]
            but { t.caps.cubic_range_clamp = true; };
    "B-11" Some("VUID-vkCmdDraw-reductionMode-09213") =>
        "range clamp without CUBIC"
            { t.filters(LINEAR); t.s.reduction_mode = RANGE_CLAMP; }
            => ["B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"]
            but { t.s.mag_filter = CUBIC; };
    "B-12" Some("VUID-vkCmdDraw-selectableCubicWeights-09214") =>
        "CUBIC with weights of one's own without the feature"
            { t.filters(CUBIC); t.s.cubic_weights = Some(2); t.caps.selectable_cubic_weights = false; }
            => ["B-12 cubicWeights 2 -> absent"]
            // Nobody reads them.
            but { t.filters(LINEAR); };
    "B-13" None =>
        "MAX of a view with another R, on a device that cannot map"
            { t.filters(LINEAR); t.s.reduction_mode = MAX; t.sees(F::R8G8_UNORM, EVERY);
              t.seen().components[0] = Swizzle::G; t.caps.filter_minmax_component_mapping = false; }
            => ["B-13 magFilter LINEAR -> NEAREST", "B-13 minFilter LINEAR -> NEAREST",
                "B-13 reductionMode MAX -> WEIGHTED_AVERAGE"]
            // Only R counts, and R that names itself is identity.
            but {
                t.seen().components = normalize_components(vk::ComponentMapping {
                    r: Swizzle::R,
                    g: Swizzle::ZERO,
                    b: Swizzle::ONE,
                    a: Swizzle::R,
                });
            }
        "CUBIC does not stay to average what was to be reduced"
            { t.filters(CUBIC); t.s.reduction_mode = MIN; t.sees(F::R8G8_UNORM, EVERY);
              t.seen().components[0] = Swizzle::ONE; t.caps.filter_minmax_component_mapping = false; }
            => ["B-13 magFilter CUBIC_EXT -> NEAREST", "B-13 minFilter CUBIC_EXT -> NEAREST",
                "B-13 reductionMode MIN -> WEIGHTED_AVERAGE"]
            but { t.caps.filter_minmax_component_mapping = true; }
        "MIN on stencil of which R is swizzled, on a device that cannot do that"
            { t.s.reduction_mode = MIN; t.caps.filter_minmax_component_mapping = false;
              t.sees(F::S8_UINT, EVERY).components[0] = Swizzle::G; }
            => ["B-13 reductionMode MIN -> WEIGHTED_AVERAGE"]
            but { t.seen().components[0] = Swizzle::IDENTITY; };
    "B-15" None =>
        "LINEAR on stencil, whatever the format's bits say of depth"
            { t.filters(LINEAR); t.s.mipmap_mode = MIP_LINEAR;
              t.sees(F::D24_UNORM_S8_UINT, EVERY).aspect = decide::Aspect::Stencil; }
            => ["B-15 magFilter LINEAR -> NEAREST", "B-15 minFilter LINEAR -> NEAREST",
                "B-15 mipmapMode LINEAR -> NEAREST"]
            but { t.seen().aspect = decide::Aspect::Depth; }
        "MIN with a footprint on stencil"
            { (t.s.reduction_mode, t.s.mipmap_mode) = (MIN, MIP_LINEAR); t.sees(F::S8_UINT, EVERY); }
            => ["B-15 mipmapMode LINEAR -> NEAREST", "B-15 reductionMode MIN -> WEIGHTED_AVERAGE"]
            // The MINMAX bit is only asked of LINEAR (VUID-vkCmdDraw-magFilter-09598, mipmapMode-09599).
            but { t.s.mipmap_mode = MIP_NEAREST; }
        "CUBIC on stencil goes all the way"
            { t.s.mag_filter = CUBIC; t.sees(F::S8_UINT, EVERY); }
            => ["B-15 magFilter CUBIC_EXT -> LINEAR", "B-15 magFilter LINEAR -> NEAREST"]
            but { t.s.mag_filter = NEAREST; };
    "B-16" Some("VUID-vkCmdDraw-magFilter-04553") =>
        "LINEAR on integers"
            { t.filters(LINEAR); t.s.mipmap_mode = MIP_LINEAR; t.sees(F::R8G8B8A8_SINT, NONE); }
            => ["B-16 magFilter LINEAR -> NEAREST", "B-16 minFilter LINEAR -> NEAREST",
                "B-2 mipmapMode LINEAR -> NEAREST"]
            // No statement excludes integers: what the device reports is what it can do.
            but { t.gains(FILTERS); };
};
