//! What no sampler can mend.

use crate::setting::*;

/// A rule that only another view could satisfy: nothing is changed, and the rule is named.
pub(crate) struct ViewRow {
    pub(crate) catalog: Catalog,
    id: &'static str,
    vuid: Option<&'static str>,
    unmendable: fn(&mut Setting),
    legal: fn(&mut Setting),
}

pub(crate) const ROWS: &[ViewRow] = &[
    // An instruction that compares is undefined without comparison too.
    ViewRow {
        catalog: Catalog::B35,
        id: "B-35",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        unmendable: |t| {
            t.s.compare_enable = true;
            t.filters(LINEAR);
            t.sees(vk::Format::R32_SFLOAT, Feature::empty()).reads = Reads::Compared;
        },
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    // What the shader cannot do in the place of the sampler: the view shows another component than the one that is compared.
    ViewRow {
        catalog: Catalog::B35,
        id: "B-35",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        unmendable: |t| {
            (t.s.compare_enable, t.policy.compares) = (true, true);
            let view = t.sees(vk::Format::R32G32_SFLOAT, Feature::empty());
            (view.reads, view.components[0]) = (Reads::Compared, Swizzle::G);
        },
        legal: |t| t.seen().features = Some(Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON),
    },
    ViewRow {
        catalog: Catalog::B35,
        id: "B-35",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        unmendable: |t| {
            (t.s.compare_enable, t.policy.compares) = (true, true);
            t.sees(vk::Format::R32_UINT, Feature::empty()).reads = Reads::Compared;
        },
        legal: |t| t.s.compare_enable = false,
    },
    // Whoever writes a descriptor does not know who reads it.
    ViewRow {
        catalog: Catalog::B35,
        id: "B-35",
        vuid: Some("VUID-vkCmdDraw-None-06479"),
        unmendable: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::R8G8B8A8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        },
        legal: |t| {
            t.sees(vk::Format::D32_SFLOAT, Feature::empty());
        },
    },
    ViewRow {
        catalog: Catalog::B33,
        id: "B-33",
        vuid: None,
        unmendable: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
            t.seen().reads = Reads::Compared;
        },
        legal: |t| t.seen().aspect = decide::Aspect::Depth,
    },
    ViewRow {
        catalog: Catalog::B33,
        id: "B-33",
        vuid: None,
        unmendable: |t| {
            t.s.compare_enable = true;
            t.sees(vk::Format::S8_UINT, Feature::from_raw(u64::MAX)).aspect = decide::Aspect::Stencil;
        },
        legal: |t| t.s.compare_enable = false,
    },
    // A shader that only fetches never looks at the sampler.
    ViewRow {
        catalog: Catalog::B40,
        id: "B-40",
        vuid: Some("VUID-vkCmdDraw-None-08609"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).view_type = vk::ImageViewType::TYPE_3D;
            t.seen().reads = Reads::Compared;
        },
        legal: |t| t.seen().reads = Reads::Unknown,
    },
    ViewRow {
        catalog: Catalog::B41,
        id: "B-41",
        vuid: Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).single_level = false;
            t.seen().reads = Reads::Plain;
        },
        legal: |t| t.seen().reads = Reads::Unknown,
    },
    ViewRow {
        catalog: Catalog::B40,
        id: "B-40",
        vuid: Some("VUID-vkCmdDraw-None-08609"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).view_type = vk::ImageViewType::TYPE_2D_ARRAY;
            t.seen().reads = Reads::Plain;
        },
        legal: |t| t.seen().view_type = vk::ImageViewType::TYPE_1D,
    },
    ViewRow {
        catalog: Catalog::B41,
        id: "B-41",
        vuid: Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).single_level = false;
            t.seen().reads = Reads::Plain;
        },
        legal: |t| t.s.unnormalized_coordinates = false,
    },
    ViewRow {
        catalog: Catalog::B41,
        id: "B-41",
        vuid: Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635"),
        unmendable: |t| {
            t.texels();
            t.sees(vk::Format::R8_UNORM, Feature::empty()).single_layer = false;
            t.seen().reads = Reads::Plain;
        },
        legal: |t| t.seen().single_layer = true,
    },
    // Grey that is a little red, of a view that exchanges red and blue: any predefined colour is further away than a little blue.
    ViewRow {
        catalog: Catalog::B65,
        id: "B-65",
        vuid: None,
        unmendable: |t| {
            t.float_border([0.6, 0.5, 0.5, 1.0], vk::Format::UNDEFINED);
            t.untold(vk::Format::R8G8B8A8_UNORM, [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY]);
        },
        legal: |t| {
            t.s.custom_border = Some(CustomBorder { color: [0.5_f32.to_bits(); 4], format: vk::Format::UNDEFINED })
        },
    },
    // Alpha that is shown twice: opaque black is as near as transparent black, and white further away.
    ViewRow {
        catalog: Catalog::B65,
        id: "B-65",
        vuid: None,
        unmendable: |t| {
            t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
            t.untold(vk::Format::R8G8B8A8_UNORM, [Swizzle::IDENTITY, Swizzle::IDENTITY, Swizzle::A, Swizzle::IDENTITY]);
        },
        legal: |t| t.caps.border_color_swizzle_from_image = true,
    },
    // A format that the device does not have at all: the filter is not the news.
    ViewRow {
        catalog: Catalog::B66,
        id: "B-66",
        vuid: Some("VUID-VkImageViewCreateInfo-usage-02274"),
        unmendable: |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.reduction_mode) = (MIP_LINEAR, Some(vk::SamplerReductionMode::MIN));
            t.sees(vk::Format::D24_UNORM_S8_UINT, Feature::empty()).features = Some(Feature::TRANSFER_DST);
        },
        // What is not known is not touched.
        legal: |t| t.seen().features = None,
    },
    // A plain sampler on a subsampled image.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| t.sees(vk::Format::R8_UNORM, Feature::empty()).subsampled = true,
        legal: |t| t.seen().subsampled = false,
    },
    // A subsampled sampler on a plain image.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| {
            t.flagged(SUBSAMPLED);
            t.sees(vk::Format::R8_UNORM, Feature::empty());
        },
        legal: |t| t.s.flags = vk::SamplerCreateFlags::empty(),
    },
    // A subsampled sampler that is not immutable.
    ViewRow {
        catalog: Catalog::B78,
        id: "B-78",
        vuid: None,
        unmendable: |t| {
            t.flagged(SUBSAMPLED);
            t.sees(vk::Format::R8_UNORM, Feature::empty()).subsampled = true;
        },
        legal: |t| t.view = None,
    },
];

pub(crate) fn check_unmendable() {
    for row in ROWS {
        let mut setting = Setting::new();
        (row.unmendable)(&mut setting);
        assert_eq!(setting.violations(), [row.id]);
        let decision = setting.decide();
        assert_eq!(decision.unresolved, Some(row.catalog));
        assert_eq!((row.catalog.id(), row.catalog.vuid()), (row.id, row.vuid));
        assert!(decision.changes.is_empty() && untouched(&setting.s, &decision.state), "{}", row.id);

        (row.legal)(&mut setting);
        assert_eq!(setting.violations(), [""; 0]);
        let decision = setting.decide();
        assert_eq!(decision.unresolved, None, "{}", row.id);
        assert!(decision.changes.is_empty(), "{}", row.id);
    }
}

/// Views and samplers with a conversion form pairs by rules of their own (B.6): nothing of section B touches them.
pub(crate) fn with_a_conversion() {
    let mut setting = Setting::new();
    setting.converts();
    setting.s.compare_enable = true;
    setting.caps.mutable_comparison_samplers = false;
    setting.sees(vk::Format::R8G8B8A8_UINT, Feature::empty()).subsampled = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.s.ycbcr = None;
    setting.seen().ycbcr = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.seen().ycbcr = false;
    assert!(!setting.decide().changes.is_empty());
}
