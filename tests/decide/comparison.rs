//! Catalogue B.2: comparison against the view, where no instruction that reads it compares, or where the shader can compare. What it cannot is in `views.rs`.

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
        legal: |t| (t.seen().aspect, t.seen().reads) = (decide::Aspect::Depth, Reads::Compared),
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
        legal: |t| {
            t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
            t.seen().reads = Reads::Compared;
        },
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
        legal: |t| {
            t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
            t.seen().reads = Reads::Compared;
        },
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
        // What is compared is not filtered before.
        legal: |t| {
            t.sees(vk::Format::D16_UNORM, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON).reads = Reads::Compared;
        },
    },
    Row {
        id: "B-31",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        what: "comparison on a colour format that an instruction compares with: the shader compares and filters",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.compare_enable, t.policy.compares) = (MIP_LINEAR, true, true);
            (t.s.mip_lod_bias, t.s.min_lod, t.s.max_lod) = (0.5, 0.25, 3.0);
            t.sees(vk::Format::R16_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR).reads = Reads::Compared;
        },
        changes: &[
            "B-31 compareEnable true -> false",
            "B-31 magFilter LINEAR -> NEAREST",
            "B-31 minFilter LINEAR -> NEAREST",
            "B-31 mipmapMode LINEAR -> NEAREST",
            "B-31 mipLodBias 0.5 -> 0",
            "B-31 minLod 0.25 -> 0",
        ],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-31",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        what: "the same on a depth format without the bit, where nothing is to be filtered",
        illegal: |t| {
            (t.s.compare_enable, t.policy.compares) = (true, true);
            t.sees(vk::Format::D16_UNORM, Feature::empty()).reads = Reads::Compared;
        },
        changes: &["B-31 compareEnable true -> false"],
        // Nobody knows whether anything compares.
        legal: |t| t.seen().reads = Reads::Unknown,
    },
    Row {
        id: "B-31",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        what: "the same with anisotropy, which the shader does not filter by, and NEAREST",
        illegal: |t| {
            (t.s.compare_enable, t.policy.compares) = (true, true);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
            t.sees(vk::Format::R32_SFLOAT, Feature::SAMPLED_IMAGE_FILTER_LINEAR).reads = Reads::Compared;
        },
        changes: &["B-31 compareEnable true -> false", "B-9 anisotropyEnable true -> false"],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-31",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        what: "the same with anisotropy and LINEAR",
        illegal: |t| {
            t.filters(LINEAR);
            (t.s.compare_enable, t.policy.compares) = (true, true);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
            t.sees(vk::Format::R32_SFLOAT, Feature::SAMPLED_IMAGE_FILTER_LINEAR).reads = Reads::Compared;
        },
        changes: &[
            "B-31 compareEnable true -> false",
            "B-9 anisotropyEnable true -> false",
            "B-31 magFilter LINEAR -> NEAREST",
            "B-31 minFilter LINEAR -> NEAREST",
        ],
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    Row {
        id: "B-31",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        what: "on a portability device without mutableComparisonSamplers (B-36), where the shader needs no comparing sampler",
        illegal: |t| {
            (t.s.compare_enable, t.policy.compares) = (true, true);
            t.caps.mutable_comparison_samplers = false;
            t.sees(vk::Format::R32_SFLOAT, Feature::empty()).reads = Reads::Compared;
        },
        changes: &["B-31 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "B-36",
        vuid: Some("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450"),
        what: "the same where the shader cannot compare",
        illegal: |t| {
            t.s.compare_enable = true;
            t.caps.mutable_comparison_samplers = false;
            t.sees(vk::Format::R32_SFLOAT, Feature::empty()).reads = Reads::Compared;
        },
        changes: &["B-36 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
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

/// A departure from the statement of B-30, which has no condition on the view: a view that can be compared keeps the comparison also where
/// no instruction compares.
pub(crate) fn comparable() {
    for (format, features, is_left) in [
        (vk::Format::D16_UNORM, Feature::empty(), true),
        (vk::Format::R32_SFLOAT, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON, true),
        (vk::Format::R32_SFLOAT, Feature::empty(), false),
    ] {
        let mut t = Setting::new();
        t.s.compare_enable = true;
        t.sees(format, features).reads = Reads::Plain;
        let decision = t.decide();
        assert_eq!((decision.changes.is_empty(), decision.unresolved), (is_left, None), "{format:?} {features:?}");
        assert_eq!(t.violations().is_empty(), is_left, "{format:?} {features:?}");
    }
}

/// "If the image being sampled has an unsigned normalized fixed-point format, then Dref is clamped to [0,1] before the compare operation"
/// (Depth Compare Operation).
pub(crate) fn references() {
    for (format, clamps) in [
        (vk::Format::D16_UNORM, true),
        (vk::Format::D24_UNORM_S8_UINT, true),
        (vk::Format::D32_SFLOAT, false),
        (vk::Format::D32_SFLOAT_S8_UINT, false),
        (vk::Format::R16_UNORM, true),
        (vk::Format::R8G8B8A8_SRGB, true),
        (vk::Format::BC4_UNORM_BLOCK, true),
        (vk::Format::BC4_SNORM_BLOCK, false),
        (vk::Format::R16_SNORM, false),
        (vk::Format::R16_USCALED, false),
        (vk::Format::R32_SFLOAT, false),
        (vk::Format::B10G11R11_UFLOAT_PACK32, false),
    ] {
        let mut t = Setting::new();
        (t.s.compare_enable, t.s.compare_op, t.policy.compares) = (true, vk::CompareOp::GREATER, true);
        t.sees(format, Feature::empty()).reads = Reads::Compared;
        let compare = decide::ShaderCompare { operator: vk::CompareOp::GREATER, clamps };
        assert_eq!(t.decide().compare, Some(compare), "{format:?}");
    }
}

/// What keeps the shader from comparing: then the sampler stays, and nothing stands in for it.
pub(crate) fn refused() {
    type Case = (&'static str, fn(&mut Setting));
    let cases: [Case; 9] = [
        ("a flag", |t| t.s.flags = NON_SEAMLESS),
        ("a subsampled image", |t| t.seen().subsampled = true),
        ("a corner-sampled image", |t| t.seen().corner_sampled = true),
        ("shaders are left alone", |t| t.policy.compares = false),
        ("another component", |t| t.seen().components[0] = Swizzle::G),
        ("integers", |t| t.seen().format = vk::Format::R32_UINT),
        ("stencil", |t| t.seen().aspect = decide::Aspect::Stencil),
        ("an unknown format", |t| t.seen().format = vk::Format::from_raw(1_000_999_000)),
        ("an unknown operator", |t| {
            (t.s.compare_op, t.caps.unknown_extension) = (vk::CompareOp::from_raw(1_000_999_000), true);
        }),
    ];
    let compared = || {
        let mut t = Setting::new();
        (t.s.compare_enable, t.policy.compares) = (true, true);
        t.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
        t.sees(vk::Format::R32_SFLOAT, Feature::empty()).reads = Reads::Compared;
        t
    };
    assert!(compared().decide().compare.is_some());
    for (what, refuse) in cases {
        let mut t = compared();
        refuse(&mut t);
        let decision = t.decide();
        assert_eq!(decision.compare, None, "{what}");
        assert!(decision.unresolved.is_some() && untouched(&t.s, &decision.state), "{what}: {decision:?}");
    }
    let t = compared();
    let off = decide::Exempt::named("B-31").expect("a repair");
    let decision = decide::pair_except(&t.s, &t.view.expect("a view"), off, &t.caps, &t.policy);
    assert_eq!((decision.compare, decision.unresolved), (None, Some(Catalog::B35)));
}
