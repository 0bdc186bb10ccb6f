//! Catalogue B.2: comparison against the view, where no instruction that reads it compares, or where the shader can compare. What it cannot is in `views.rs`.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "B-30" None =>
        "comparison on stencil"
            { t.s.compare_enable = true; t.sees(F::D24_UNORM_S8_UINT, EVERY).aspect = decide::Aspect::Stencil;
              t.seen().reads = Reads::Plain; }
            => ["B-30 compareEnable true -> false"]
            but { (t.seen().aspect, t.seen().reads) = (decide::Aspect::Depth, Reads::Compared); }
        "comparison on a colour format"
            { t.s.compare_enable = true; t.sees(F::R32_SFLOAT, FILTERS).reads = Reads::Plain; }
            => ["B-30 compareEnable true -> false"]
            but { t.gains(COMPARES); t.seen().reads = Reads::Compared; }
        "comparison on an integer format, of which the statement asks the same bit"
            { t.s.compare_enable = true; t.sees(F::R32_UINT, NONE).reads = Reads::Plain; }
            => ["B-30 compareEnable true -> false"]
            but { t.gains(COMPARES); t.seen().reads = Reads::Compared; }
        "after which LINEAR needs its bit (B-1, B-2)"
            { t.filters(LINEAR); (t.s.mipmap_mode, t.s.compare_enable) = (MIP_LINEAR, true);
              t.sees(F::R32_SFLOAT, NONE).reads = Reads::Plain; }
            => ["B-30 compareEnable true -> false", "B-1 magFilter LINEAR -> NEAREST",
                "B-1 minFilter LINEAR -> NEAREST", "B-2 mipmapMode LINEAR -> NEAREST"]
            // What is compared is not filtered before.
            but { t.sees(F::D16_UNORM, COMPARES).reads = Reads::Compared; };
    "B-31" Some("VUID-vkCmdDraw-None-06479") =>
        "comparison on a colour format that an instruction compares with: the shader compares and filters"
            { t.filters(LINEAR);
              (t.s.mipmap_mode, t.s.compare_enable, t.policy.compares) = (MIP_LINEAR, true, true);
              (t.s.mip_lod_bias, t.s.min_lod, t.s.max_lod) = (0.5, 0.25, 3.0);
              t.sees(F::R16_UNORM, FILTERS).reads = Reads::Compared; }
            => ["B-31 compareEnable true -> false", "B-31 magFilter LINEAR -> NEAREST",
                "B-31 minFilter LINEAR -> NEAREST", "B-31 mipmapMode LINEAR -> NEAREST", "B-31 mipLodBias 0.5 -> 0",
                "B-31 minLod 0.25 -> 0"]
            but { t.gains(COMPARES); }
        "the same on a depth format without the bit, where nothing is to be filtered"
            { (t.s.compare_enable, t.policy.compares) = (true, true);
              t.sees(F::D16_UNORM, NONE).reads = Reads::Compared; }
            => ["B-31 compareEnable true -> false"]
            // Nobody knows whether anything compares.
            but { t.seen().reads = Reads::Unknown; }
        "the same with anisotropy, which the shader does not filter by, and NEAREST"
            { (t.s.compare_enable, t.policy.compares) = (true, true); t.anisotropic(4.0);
              t.sees(F::R32_SFLOAT, FILTERS).reads = Reads::Compared; }
            => ["B-31 compareEnable true -> false", "B-9 anisotropyEnable true -> false"]
            but { t.gains(COMPARES); }
        "the same with anisotropy and LINEAR"
            { t.filters(LINEAR); (t.s.compare_enable, t.policy.compares) = (true, true); t.anisotropic(4.0);
              t.sees(F::R32_SFLOAT, FILTERS).reads = Reads::Compared; }
            => ["B-31 compareEnable true -> false", "B-9 anisotropyEnable true -> false",
                "B-31 magFilter LINEAR -> NEAREST", "B-31 minFilter LINEAR -> NEAREST"]
            but { t.gains(COMPARES); }
        "on a portability device without mutableComparisonSamplers (B-36), where the shader needs no comparing sampler"
            { (t.s.compare_enable, t.policy.compares) = (true, true); t.caps.mutable_comparison_samplers = false;
              t.sees(F::R32_SFLOAT, NONE).reads = Reads::Compared; }
            => ["B-31 compareEnable true -> false"]
            but { t.s.compare_enable = false; };
    "B-36" Some("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450") =>
        "the same where the shader cannot compare"
            { t.s.compare_enable = true; t.caps.mutable_comparison_samplers = false;
              t.sees(F::R32_SFLOAT, NONE).reads = Reads::Compared; }
            => ["B-36 compareEnable true -> false"]
            but { t.s.compare_enable = false; }
        "a dynamic comparison sampler on a portability device without the feature"
            { t.s.compare_enable = true; t.sees(F::D16_UNORM, EVERY); t.caps.mutable_comparison_samplers = false; }
            => ["B-36 compareEnable true -> false"]
            // At creation it may yet become immutable.
            but { t.view = None; };
};

/// A departure from the statement of B-30, which has no condition on the view: a view that can be compared keeps the comparison also where
/// no instruction compares.
#[test]
fn comparable() {
    for (format, features, is_left) in
        [(F::D16_UNORM, NONE, true), (F::R32_SFLOAT, COMPARES, true), (F::R32_SFLOAT, NONE, false)]
    {
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
#[test]
fn references() {
    for (format, clamps) in [
        (F::D16_UNORM, true),
        (F::D24_UNORM_S8_UINT, true),
        (F::D32_SFLOAT, false),
        (F::D32_SFLOAT_S8_UINT, false),
        (F::R16_UNORM, true),
        (F::R8G8B8A8_SRGB, true),
        (F::BC4_UNORM_BLOCK, true),
        (F::BC4_SNORM_BLOCK, false),
        (F::R16_SNORM, false),
        (F::R16_USCALED, false),
        (F::R32_SFLOAT, false),
        (F::B10G11R11_UFLOAT_PACK32, false),
    ] {
        let mut t = Setting::new();
        (t.s.compare_enable, t.s.compare_op, t.policy.compares) = (true, vk::CompareOp::GREATER, true);
        t.sees(format, NONE).reads = Reads::Compared;
        let compare = decide::ShaderCompare { operator: vk::CompareOp::GREATER, clamps };
        assert_eq!(t.decide().compare, Some(compare), "{format:?}");
    }
}

/// What keeps the shader from comparing: then the sampler stays, and nothing stands in for it.
#[test]
fn refused() {
    type Case = (&'static str, fn(&mut Setting));
    let cases: [Case; 9] = [
        ("a flag", |t| t.s.flags = NON_SEAMLESS),
        ("a subsampled image", |t| t.seen().subsampled = true),
        ("a corner-sampled image", |t| t.seen().corner_sampled = true),
        ("shaders are left alone", |t| t.policy.compares = false),
        ("another component", |t| t.seen().components[0] = Swizzle::G),
        ("integers", |t| t.seen().format = F::R32_UINT),
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
        t.sees(F::R32_SFLOAT, NONE).reads = Reads::Compared;
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
