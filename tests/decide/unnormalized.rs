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
    Row {
        id: "A-10",
        vuid: None,
        what: "filters differ, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.s.mag_filter = LINEAR;
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.s.min_filter = LINEAR,
    },
    Row {
        id: "A-13",
        vuid: None,
        what: "wrapping of an axis that the view has, with levels that it has not, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::REPEAT, Mode::REPEAT];
            (t.s.mipmap_mode, t.s.max_lod) = (MIP_LINEAR, 4.0);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| {
            t.s.address_mode[1] = Mode::CLAMP_TO_BORDER;
            (t.s.mipmap_mode, t.s.max_lod) = (vk::SamplerMipmapMode::NEAREST, 0.0);
        },
    },
    Row {
        id: "A-13",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"),
        what: "wrapping of an axis that the view has not loses nothing",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.s.address_mode[1] = Mode::REPEAT;
            (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_1D, vk::ImageType::TYPE_1D);
        },
        changes: &["A-13 addressModeV REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[1] = Mode::CLAMP_TO_EDGE,
    },
    Row {
        id: "A-11",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073"),
        what: "levels that the view has not lose nothing",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.s.mipmap_mode = MIP_LINEAR;
        },
        changes: &["A-11 mipmapMode LINEAR -> NEAREST"],
        legal: |t| t.s.mipmap_mode = vk::SamplerMipmapMode::NEAREST,
    },
    Row {
        id: "A-14",
        vuid: None,
        what: "anisotropy, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-14",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076"),
        what: "anisotropy that the device has not loses nothing",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.caps.sampler_anisotropy = false;
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 4.0);
        },
        changes: &["A-14 anisotropyEnable true -> false"],
        legal: |t| t.s.anisotropy_enable = false,
    },
    Row {
        id: "A-15",
        vuid: None,
        what: "comparison that an instruction asks for, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.sees(vk::Format::D16_UNORM, Feature::SAMPLED_IMAGE_DEPTH_COMPARISON);
            (t.seen().reads, t.seen().divide) = (Reads::Compared, Divide::Suited);
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-15",
        vuid: None,
        what: "the same with a format that cannot be compared: the shader divides and compares",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.policy.compares = true;
            t.sees(vk::Format::R32_SFLOAT, Feature::empty());
            (t.seen().reads, t.seen().divide) = (Reads::Compared, Divide::Suited);
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false", "B-31 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "A-15",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077"),
        what: "comparison that none asks for loses nothing",
        illegal: |t| {
            t.divides(Divide::Suited);
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS);
        },
        changes: &["A-15 compareEnable true -> false"],
        legal: |t| t.s.compare_enable = false,
    },
    Row {
        id: "B-40",
        vuid: None,
        what: "a view in 3D, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_3D, vk::ImageType::TYPE_3D);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_2D, vk::ImageType::TYPE_2D),
    },
    Row {
        id: "B-41",
        vuid: None,
        what: "a view of several levels, and the shader divides",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.seen().single_level = false;
        },
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.seen().single_level = true,
    },
    Row {
        id: "S-5",
        vuid: Some("VUID-vkCmdDraw-None-08610"),
        what: "an implicit level of detail or a projection, and the shader divides",
        illegal: |t| t.divides(Divide::Lookup),
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.divides(Divide::Suited),
    },
    Row {
        id: "S-5",
        vuid: Some("VUID-vkCmdDraw-None-08611"),
        what: "a bias or an offset, and the shader divides",
        illegal: |t| t.divides(Divide::Offset),
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    // The id speaks of `OpImageSample*` alone, the text of functions.
    Row {
        id: "S-5",
        vuid: None,
        what: "an offset of a gather, and the shader divides",
        illegal: |t| t.divides(Divide::Gather),
        changes: &["S-5 unnormalizedCoordinates true -> false"],
        legal: |t| t.divides(Divide::Never),
    },
    Row {
        id: "A-13",
        vuid: None,
        what: "wrapping, with a comparison that no instruction asks for: the shader divides, and the sampler does not compare",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.sees(
                vk::Format::D16_UNORM,
                Feature::SAMPLED_IMAGE_DEPTH_COMPARISON | Feature::SAMPLED_IMAGE_FILTER_LINEAR,
            );
            (t.seen().reads, t.seen().divide) = (Reads::Plain, Divide::Suited);
            (t.s.address_mode[0], t.s.compare_enable) = (Mode::REPEAT, true);
        },
        changes: &["S-5 unnormalizedCoordinates true -> false", "A-15 compareEnable true -> false"],
        legal: |t| (t.s.address_mode[0], t.s.compare_enable) = (Mode::CLAMP_TO_EDGE, false),
    },
    Row {
        id: "A-13",
        vuid: Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"),
        what: "unnormalized=base: shaders divide nothing",
        illegal: |t| {
            t.divides(Divide::Suited);
            t.policy.divides = false;
            t.s.address_mode[0] = Mode::REPEAT;
        },
        changes: &["A-13 addressModeU REPEAT -> CLAMP_TO_EDGE"],
        legal: |t| t.s.address_mode[0] = Mode::CLAMP_TO_EDGE,
    },
];

/// What the shader makes up for is what the sampler or the view would otherwise be changed or left for: both cite the same statement.
pub(crate) const TWINS: [(Catalog, Catalog); 6] = [
    (Catalog::TexelFilter, Catalog::A10),
    (Catalog::TexelAddress, Catalog::A13),
    (Catalog::TexelAnisotropy, Catalog::A14),
    (Catalog::TexelCompare, Catalog::A15),
    (Catalog::TexelView, Catalog::B40),
    (Catalog::TexelLevels, Catalog::B41),
];

pub(crate) fn twins() {
    for (divided, other) in TWINS {
        assert_eq!(divided.source(), other.source(), "{divided:?} and {other:?}");
    }
}

/// Flags and modes that have rules of their own about texels keep the repair that needs no shader, and so does what a user has switched
/// off.
pub(crate) fn kept() {
    let wraps = |edit: fn(&mut Setting)| {
        let mut t = Setting::new();
        t.divides(Divide::Suited);
        t.s.address_mode[0] = Mode::REPEAT;
        edit(&mut t);
        t
    };
    let divides = |t: &Setting| t.decide().changes.iter().any(|change| change.catalog.id() == "S-5");
    assert!(divides(&wraps(|_| {})));
    assert!(!divides(&wraps(|t| t.s.flags = SUBSAMPLED)));
    assert!(!divides(&wraps(|t| t.s.flags = PROCESSING)));
    assert!(!divides(&wraps(|t| {
        t.caps.gl_address_modes = true;
        t.s.address_mode[1] = decide::GL_CLAMP;
    })));
    let t = wraps(|_| {});
    let is_divided_without = |name: &str, t: &Setting| {
        let off = decide::Exempt::named(name).expect("a repair");
        let decision = decide::pair_except(&t.s, &t.view.expect("a view"), off, &t.caps, &t.policy);
        decision.changes.iter().any(|change| change.catalog.id() == "S-5")
    };
    for (name, is_divided) in [("A-13", false), ("S-5", false), ("unnormalized", false), ("A-14", true)] {
        assert_eq!(is_divided_without(name, &t), is_divided, "without {name}");
    }
    // What the view or an instruction excludes, which nothing but the shader repairs.
    let excluded: [fn(&mut Setting); 5] = [
        |t| (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_3D, vk::ImageType::TYPE_3D),
        |t| t.seen().single_level = false,
        |t| t.seen().divide = Divide::Lookup,
        |t| t.seen().divide = Divide::Offset,
        |t| t.seen().divide = Divide::Gather,
    ];
    for (n, exclude) in excluded.into_iter().enumerate() {
        let mut t = Setting::new();
        t.divides(Divide::Suited);
        exclude(&mut t);
        for (name, is_divided) in [("S-5", false), ("unnormalized", false), ("A-13", true)] {
            assert_eq!(is_divided_without(name, &t), is_divided, "{n} without {name}");
        }
    }
    assert!(decide::loses_texels(&t.s));
    let mut legal = Setting::new();
    legal.texels();
    assert!(!decide::loses_texels(&legal.s));
    (legal.s.mipmap_mode, legal.s.max_lod) = (MIP_LINEAR, 4.0);
    assert!(!decide::loses_texels(&legal.s), "which levels are lost says the view");
}
