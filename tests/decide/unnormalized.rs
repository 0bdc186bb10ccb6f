//! Catalogue A.2: unnormalized coordinates.

use crate::setting::*;

pub(crate) const ROWS: &[Row] = rows! { t:
    "A-10" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072") =>
        "filters differ"
            { t.texels(); t.s.mag_filter = LINEAR; }
            => ["A-10 magFilter LINEAR -> NEAREST"]
            but { t.s.min_filter = LINEAR; }
        "filters differ and neither is NEAREST"
            { t.texels(); (t.s.mag_filter, t.s.min_filter) = (CUBIC, LINEAR); }
            => ["A-10 magFilter CUBIC_EXT -> NEAREST", "A-10 minFilter LINEAR -> NEAREST"]
            but { t.s.min_filter = CUBIC; };
    "A-11" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073") =>
        "LINEAR between mip levels"
            { t.texels(); t.s.mipmap_mode = MIP_LINEAR; }
            => ["A-11 mipmapMode LINEAR -> NEAREST"]
            but { t.s.unnormalized_coordinates = false; }
        "levels that the view has not lose nothing"
            { t.divides(Divide::Suited); t.s.mipmap_mode = MIP_LINEAR; }
            => ["A-11 mipmapMode LINEAR -> NEAREST"]
            but { t.s.mipmap_mode = MIP_NEAREST; };
    "A-12" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074") =>
        "a LOD range"
            { t.texels(); (t.s.min_lod, t.s.max_lod) = (-1.0, 1000.0); }
            => ["A-12 minLod -1 -> 0", "A-12 maxLod 1000 -> 0"]
            but { (t.s.min_lod, t.s.max_lod) = (-0.0, 0.0); };
    "A-13" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075") =>
        "wrapping"
            { t.texels(); t.s.address_mode = [Mode::REPEAT, Mode::MIRROR_CLAMP_TO_EDGE, Mode::REPEAT]; }
            => ["A-13 addressModeU REPEAT -> CLAMP_TO_EDGE",
                "A-13 addressModeV MIRROR_CLAMP_TO_EDGE -> CLAMP_TO_EDGE"]
            // W is free.
            but { t.s.address_mode = [Mode::CLAMP_TO_BORDER, Mode::CLAMP_TO_EDGE, Mode::REPEAT]; }
        "wrapping of an axis that the view has not loses nothing"
            { t.divides(Divide::Suited); t.s.address_mode[1] = Mode::REPEAT;
              (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_1D, vk::ImageType::TYPE_1D); }
            => ["A-13 addressModeV REPEAT -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[1] = Mode::CLAMP_TO_EDGE; }
        "unnormalized=base: shaders divide nothing"
            { t.divides(Divide::Suited); t.policy.divides = false; t.s.address_mode[0] = Mode::REPEAT; }
            => ["A-13 addressModeU REPEAT -> CLAMP_TO_EDGE"]
            but { t.s.address_mode[0] = Mode::CLAMP_TO_EDGE; };
    "A-14" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076") =>
        "anisotropy"
            { t.texels(); t.anisotropic(4.0); }
            => ["A-14 anisotropyEnable true -> false"]
            but { t.s.anisotropy_enable = false; }
        "anisotropy that the device has not loses nothing"
            { t.divides(Divide::Suited); t.caps.sampler_anisotropy = false; t.anisotropic(4.0); }
            => ["A-14 anisotropyEnable true -> false"]
            but { t.s.anisotropy_enable = false; };
    "A-15" Some("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077") =>
        "comparison"
            { t.texels(); (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS); }
            => ["A-15 compareEnable true -> false"]
            but { t.s.unnormalized_coordinates = false; }
        "comparison that none asks for loses nothing"
            { t.divides(Divide::Suited); (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS); }
            => ["A-15 compareEnable true -> false"]
            but { t.s.compare_enable = false; };
    "A-10" None =>
        "filters differ, and the shader divides"
            { t.divides(Divide::Suited); t.s.mag_filter = LINEAR; }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.s.min_filter = LINEAR; };
    "A-13" None =>
        "wrapping of an axis that the view has, with levels that it has not, and the shader divides"
            { t.divides(Divide::Suited); t.s.address_mode = [Mode::CLAMP_TO_EDGE, Mode::REPEAT, Mode::REPEAT];
              (t.s.mipmap_mode, t.s.max_lod) = (MIP_LINEAR, 4.0); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.s.address_mode[1] = Mode::CLAMP_TO_BORDER; (t.s.mipmap_mode, t.s.max_lod) = (MIP_NEAREST, 0.0); }
        "wrapping, with a comparison that no instruction asks for: the shader divides, and the sampler does not compare"
            {
                t.divides(Divide::Suited);
                t.sees(
                    F::D16_UNORM,
                    COMPARES | FILTERS,
                );
                (t.seen().reads, t.seen().divide) = (Reads::Plain, Divide::Suited);
                (t.s.address_mode[0], t.s.compare_enable) = (Mode::REPEAT, true);
            }
            => ["S-5 unnormalizedCoordinates true -> false", "A-15 compareEnable true -> false"]
            but { (t.s.address_mode[0], t.s.compare_enable) = (Mode::CLAMP_TO_EDGE, false); };
    "A-14" None =>
        "anisotropy, and the shader divides"
            { t.divides(Divide::Suited); t.anisotropic(4.0); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.s.anisotropy_enable = false; };
    "A-15" None =>
        "comparison that an instruction asks for, and the shader divides"
            { t.divides(Divide::Suited); t.sees(F::D16_UNORM, COMPARES);
              (t.seen().reads, t.seen().divide) = (Reads::Compared, Divide::Suited);
              (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.s.compare_enable = false; }
        "the same with a format that cannot be compared: the shader divides and compares"
            { t.divides(Divide::Suited); t.policy.compares = true; t.sees(F::R32_SFLOAT, NONE);
              (t.seen().reads, t.seen().divide) = (Reads::Compared, Divide::Suited);
              (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS); }
            => ["S-5 unnormalizedCoordinates true -> false", "B-31 compareEnable true -> false"]
            but { t.s.compare_enable = false; };
    "B-40" None =>
        "a view in 3D, and the shader divides"
            { t.divides(Divide::Suited);
              (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_3D, vk::ImageType::TYPE_3D); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { (t.seen().view_type, t.seen().image_type) = (vk::ImageViewType::TYPE_2D, vk::ImageType::TYPE_2D); };
    "B-41" None =>
        "a view of several levels, and the shader divides"
            { t.divides(Divide::Suited); t.seen().single_level = false; }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.seen().single_level = true; };
    "S-5" Some("VUID-vkCmdDraw-None-08610") =>
        "an implicit level of detail or a projection, and the shader divides"
            { t.divides(Divide::Lookup); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.divides(Divide::Suited); };
    "S-5" Some("VUID-vkCmdDraw-None-08611") =>
        "a bias or an offset, and the shader divides"
            { t.divides(Divide::Offset); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.s.unnormalized_coordinates = false; };
    "S-5" None =>
        // The id speaks of `OpImageSample*` alone, the text of functions.
        "an offset of a gather, and the shader divides"
            { t.divides(Divide::Gather); }
            => ["S-5 unnormalizedCoordinates true -> false"]
            but { t.divides(Divide::Never); };
};

/// What the shader makes up for is what the sampler or the view would otherwise be changed or left for: both cite the same statement.
pub(crate) const TWINS: [(Catalog, Catalog); 6] = [
    (Catalog::TexelFilter, Catalog::A10),
    (Catalog::TexelAddress, Catalog::A13),
    (Catalog::TexelAnisotropy, Catalog::A14),
    (Catalog::TexelCompare, Catalog::A15),
    (Catalog::TexelView, Catalog::B40),
    (Catalog::TexelLevels, Catalog::B41),
];

#[test]
fn twins() {
    for (divided, other) in TWINS {
        assert_eq!(divided.source(), other.source(), "{divided:?} and {other:?}");
    }
}

/// Flags and modes that have rules of their own about texels keep the repair that needs no shader, and so does what a user has switched
/// off.
#[test]
fn kept() {
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
    assert!(decide::may_divide(&t.s));
    let mut legal = Setting::new();
    assert!(!decide::may_divide(&legal.s));
    legal.texels();
    assert!(decide::may_divide(&legal.s), "a view or an instruction may not suit it");
}
