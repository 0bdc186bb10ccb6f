//! Catalogue B.1: filtering against format features.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on a format that cannot be filtered",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::R32G32B32A32_SFLOAT, Feature::empty());
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR in one filter is enough",
        illegal: |t| {
            t.s.min_filter = LINEAR;
            t.sees(vk::Format::R16_UNORM, Feature::empty());
        },
        changes: &["B-1 minFilter LINEAR -> NEAREST"],
        // Features that are not known forbid nothing.
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on depth without comparison",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::D16_UNORM, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        // B-34: with comparison LINEAR is legal on any depth format.
        legal: |t| (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "the 2D bit of VK_IMG_filter_linear_2d serves no 3D image",
        illegal: |t| {
            t.filters(LINEAR);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(1 << 45));
            t.seen().view_type = vk::ImageViewType::TYPE_3D;
            t.seen().image_type = vk::ImageType::TYPE_3D;
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        // B-17
        legal: |t| {
            t.seen().view_type = vk::ImageViewType::TYPE_2D;
            t.seen().image_type = vk::ImageType::TYPE_2D;
        },
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "whose anisotropy is implementation-defined on NEAREST (B-9)",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 8.0);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
            "B-9 anisotropyEnable true -> false",
        ],
        // The application's own anisotropy with NEAREST is not ours to judge.
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-2",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-04770"),
        what: "LINEAR between mip levels, although both filters are NEAREST",
        illegal: |t| {
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R32G32_SFLOAT, Feature::empty());
        },
        changes: &["B-2 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-3",
        vuid: Some("VUID-vkCmdDraw-magFilter-09598"),
        what: "MAX over LINEAR without the bit; a texel is its own maximum",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MAX;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &[
            "B-3 magFilter LINEAR -> NEAREST",
            "B-3 minFilter LINEAR -> NEAREST",
            "B-3 reductionMode MAX -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-3",
        vuid: Some("VUID-vkCmdDraw-magFilter-09598"),
        what: "MIN over integers without the bit",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R32_UINT, Feature::empty());
        },
        changes: &[
            "B-3 magFilter LINEAR -> NEAREST",
            "B-3 minFilter LINEAR -> NEAREST",
            "B-3 reductionMode MIN -> WEIGHTED_AVERAGE",
        ],
        // Integers have a minimum.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_MINMAX),
    },
    Row {
        id: "B-4",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-09599"),
        what: "MIN over mip levels without the bit",
        illegal: |t| {
            t.s.mipmap_mode = MIP_LINEAR;
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["B-4 mipmapMode LINEAR -> NEAREST", "B-4 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_MINMAX),
    },
    Row {
        id: "B-4",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-09599"),
        what: "MAX over mip levels without the bit, where CUBIC itself may reduce",
        illegal: |t| {
            t.filters(CUBIC);
            (t.s.mipmap_mode, t.s.reduction_mode) = (MIP_LINEAR, MAX);
            t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-4 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC without the bit",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &["B-5 magFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC on a format that has not even LINEAR",
        illegal: |t| {
            t.filters(CUBIC);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-1 magFilter LINEAR -> NEAREST",
            "B-1 minFilter LINEAR -> NEAREST",
        ],
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-6",
        vuid: Some("VUID-vkCmdDraw-None-02693"),
        what: "CUBIC on a cube with VK_IMG_filter_cubic alone",
        illegal: |t| {
            t.s.min_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().view_type = vk::ImageViewType::CUBE;
            t.caps.filter_cubic_ext = false;
        },
        changes: &["B-6 minFilter CUBIC_EXT -> LINEAR"],
        legal: |t| t.seen().view_type = vk::ImageViewType::TYPE_2D_ARRAY,
    },
    Row {
        id: "B-7",
        vuid: Some("VUID-vkCmdDraw-filterCubic-02694"),
        what: "CUBIC where the image's query says no",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().filter_cubic = false;
        },
        changes: &["B-7 magFilter CUBIC_EXT -> LINEAR"],
        // The query belongs to VK_EXT_filter_cubic.
        legal: |t| t.caps.filter_cubic_ext = false,
    },
    Row {
        id: "B-8",
        vuid: Some("VUID-vkCmdDraw-filterCubicMinmax-02695"),
        what: "CUBIC with MIN where the image's query says no",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().filter_cubic_minmax = false;
        },
        changes: &["B-8 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.filters(LINEAR),
    },
    Row {
        id: "B-10",
        vuid: Some("VUID-vkCmdDraw-cubicRangeClamp-09212"),
        what: "CUBIC with range clamp without the feature",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = RANGE_CLAMP;
            t.caps.cubic_range_clamp = false;
        },
        changes: &["B-10 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"],
        legal: |t| t.caps.cubic_range_clamp = true,
    },
    Row {
        id: "B-11",
        vuid: Some("VUID-vkCmdDraw-reductionMode-09213"),
        what: "range clamp without CUBIC",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = RANGE_CLAMP;
        },
        changes: &["B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE"],
        legal: |t| t.s.mag_filter = CUBIC,
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "after which range clamp has no CUBIC left (B-11)",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = RANGE_CLAMP;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-11 reductionMode WEIGHTED_AVERAGE_RANGECLAMP_QCOM -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-12",
        vuid: Some("VUID-vkCmdDraw-selectableCubicWeights-09214"),
        what: "CUBIC with weights of one's own without the feature",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.cubic_weights = Some(2);
            t.caps.selectable_cubic_weights = false;
        },
        changes: &["B-12 cubicWeights 2 -> absent"],
        // Nobody reads them.
        legal: |t| t.filters(LINEAR),
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "MAX of a view with another R, on a device that cannot map",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.reduction_mode = MAX;
            t.sees(vk::Format::R8G8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().components[0] = Swizzle::G;
            t.caps.filter_minmax_component_mapping = false;
        },
        changes: &[
            "B-13 magFilter LINEAR -> NEAREST",
            "B-13 minFilter LINEAR -> NEAREST",
            "B-13 reductionMode MAX -> WEIGHTED_AVERAGE",
        ],
        // Only R counts, and R that names itself is identity.
        legal: |t| {
            t.seen().components = normalize_components(vk::ComponentMapping {
                r: Swizzle::R,
                g: Swizzle::ZERO,
                b: Swizzle::ONE,
                a: Swizzle::R,
            });
        },
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "CUBIC does not stay to average what was to be reduced",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.reduction_mode = MIN;
            t.sees(vk::Format::R8G8_UNORM, Feature::from_raw(u64::MAX));
            t.seen().components[0] = Swizzle::ONE;
            t.caps.filter_minmax_component_mapping = false;
        },
        changes: &[
            "B-13 magFilter CUBIC_EXT -> NEAREST",
            "B-13 minFilter CUBIC_EXT -> NEAREST",
            "B-13 reductionMode MIN -> WEIGHTED_AVERAGE",
        ],
        legal: |t| t.caps.filter_minmax_component_mapping = true,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "LINEAR on stencil, whatever the format's bits say of depth",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
        },
        changes: &[
            "B-15 magFilter LINEAR -> NEAREST",
            "B-15 minFilter LINEAR -> NEAREST",
            "B-15 mipmapMode LINEAR -> NEAREST",
        ],
        legal: |t| t.seen().aspect = decide::Aspect::Depth,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "MIN with a footprint on stencil",
        illegal: |t| {
            (t.s.reduction_mode, t.s.mipmap_mode) = (MIN, MIP_LINEAR);
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX));
        },
        changes: &["B-15 mipmapMode LINEAR -> NEAREST", "B-15 reductionMode MIN -> WEIGHTED_AVERAGE"],
        // The MINMAX bit is only asked of LINEAR (VUID-vkCmdDraw-magFilter-09598, mipmapMode-09599).
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "B-13",
        vuid: None,
        what: "MIN on stencil of which R is swizzled, on a device that cannot do that",
        illegal: |t| {
            t.s.reduction_mode = MIN;
            t.caps.filter_minmax_component_mapping = false;
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX)).components[0] = Swizzle::G;
        },
        changes: &["B-13 reductionMode MIN -> WEIGHTED_AVERAGE"],
        legal: |t| t.seen().components[0] = Swizzle::IDENTITY,
    },
    Row {
        id: "B-15",
        vuid: None,
        what: "CUBIC on stencil goes all the way",
        illegal: |t| {
            t.s.mag_filter = CUBIC;
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX));
        },
        changes: &["B-15 magFilter CUBIC_EXT -> LINEAR", "B-15 magFilter LINEAR -> NEAREST"],
        legal: |t| t.s.mag_filter = NEAREST,
    },
    Row {
        id: "B-16",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR on integers",
        illegal: |t| {
            t.filters(LINEAR);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R8G8B8A8_SINT, Feature::empty());
        },
        changes: &[
            "B-16 magFilter LINEAR -> NEAREST",
            "B-16 minFilter LINEAR -> NEAREST",
            "B-2 mipmapMode LINEAR -> NEAREST",
        ],
        // No statement excludes integers: what the device reports is what it can do.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
    Row {
        id: "B-5",
        vuid: Some("VUID-vkCmdDraw-None-02692"),
        what: "CUBIC on integers",
        illegal: |t| {
            t.filters(CUBIC);
            t.sees(vk::Format::A8B8G8R8_UINT_PACK32, Feature::empty());
        },
        changes: &[
            "B-5 magFilter CUBIC_EXT -> LINEAR",
            "B-5 minFilter CUBIC_EXT -> LINEAR",
            "B-16 magFilter LINEAR -> NEAREST",
            "B-16 minFilter LINEAR -> NEAREST",
        ],
        // A PowerVR GE8100 reports it.
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
    },
    Row {
        id: "B-2",
        vuid: Some("VUID-vkCmdDraw-mipmapMode-04770"),
        what: "LINEAR between levels of CUBIC; with a range clamp it is not what the statement names",
        illegal: |t| {
            t.filters(CUBIC);
            t.s.mipmap_mode = MIP_LINEAR;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-2 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.reduction_mode = RANGE_CLAMP,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "LINEAR beside CUBIC; with a range clamp it is not what the statement names",
        illegal: |t| {
            (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR);
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        },
        changes: &["B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.s.reduction_mode = RANGE_CLAMP,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare: comparison with ALWAYS in place of NEAREST",
        illegal: |t| {
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["S-2 compareEnable false -> true", "S-2 compareOp NEVER -> ALWAYS"],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way to unnormalized coordinates (A-15)",
        illegal: |t| {
            t.texels();
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.filters(NEAREST),
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way to SUBSAMPLED (A-53)",
        illegal: |t| {
            t.flagged(SUBSAMPLED);
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| {
            t.s.flags = vk::SamplerCreateFlags::empty();
            t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way where the format cannot compare (B-31)",
        illegal: |t| {
            t.filters(LINEAR);
            t.policy.depth_compare = true;
            t.sees(vk::Format::D16_UNORM, Feature::empty());
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST", "B-1 minFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = None,
    },
    Row {
        id: "B-1",
        vuid: Some("VUID-vkCmdDraw-magFilter-04553"),
        what: "depth_linear=compare gives way where comparison is illegal",
        illegal: |t| {
            t.s.mag_filter = LINEAR;
            t.policy.depth_compare = true;
            t.sees(vk::Format::D32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
            t.caps.mutable_comparison_samplers = false;
        },
        changes: &["B-1 magFilter LINEAR -> NEAREST"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    },
];
