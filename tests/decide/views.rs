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

macro_rules! view_rows {
    ($t:ident: $($catalog:path, $id:literal $vuid:expr => $($unmendable:block but $legal:block)*;)*) => {
        &[$($(ViewRow { catalog: $catalog, id: $id, vuid: $vuid, unmendable: |$t| $unmendable, legal: |$t| $legal },)*)*]
    };
}

pub(crate) const ROWS: &[ViewRow] = view_rows! { t:
    Catalog::B35, "B-35" Some("VUID-vkCmdDraw-None-06479") =>
        // An instruction that compares is undefined without comparison too.
        { t.s.compare_enable = true; t.filters(LINEAR); t.sees(F::R32_SFLOAT, NONE).reads = Reads::Compared; }
            but { t.gains(COMPARES); }
        // What the shader cannot do in the place of the sampler: the view shows another component than the one that is compared.
        { (t.s.compare_enable, t.policy.compares) = (true, true); let view = t.sees(F::R32G32_SFLOAT, NONE);
          (view.reads, view.components[0]) = (Reads::Compared, Swizzle::G); }
            but { t.gains(COMPARES); }
        { (t.s.compare_enable, t.policy.compares) = (true, true); t.sees(F::R32_UINT, NONE).reads = Reads::Compared; }
            but { t.s.compare_enable = false; }
        // Whoever writes a descriptor does not know who reads it.
        { t.s.compare_enable = true; t.sees(F::R8G8B8A8_UNORM, FILTERS); }
            but { t.sees(F::D32_SFLOAT, NONE); };
    Catalog::B33, "B-33" None =>
        { t.s.compare_enable = true; t.sees(F::D24_UNORM_S8_UINT, EVERY).aspect = decide::Aspect::Stencil;
          t.seen().reads = Reads::Compared; }
            but { t.seen().aspect = decide::Aspect::Depth; }
        { t.s.compare_enable = true; t.sees(F::S8_UINT, EVERY).aspect = decide::Aspect::Stencil; }
            but { t.s.compare_enable = false; };
    Catalog::B40, "B-40" Some("VUID-vkCmdDraw-None-08609") =>
        // A shader that only fetches never looks at the sampler.
        { t.texels(); t.sees(F::R8_UNORM, NONE).view_type = vk::ImageViewType::TYPE_3D;
          t.seen().reads = Reads::Compared; }
            but { t.seen().reads = Reads::Unknown; }
        { t.texels(); t.sees(F::R8_UNORM, NONE).view_type = vk::ImageViewType::TYPE_2D_ARRAY;
          t.seen().reads = Reads::Plain; }
            but { t.seen().view_type = vk::ImageViewType::TYPE_1D; };
    Catalog::B41, "B-41" Some("VUID-vkCmdDraw-unnormalizedCoordinates-09635") =>
        { t.texels(); t.sees(F::R8_UNORM, NONE).single_level = false; t.seen().reads = Reads::Plain; }
            but { t.seen().reads = Reads::Unknown; }
        { t.texels(); t.sees(F::R8_UNORM, NONE).single_level = false; t.seen().reads = Reads::Plain; }
            but { t.s.unnormalized_coordinates = false; }
        { t.texels(); t.sees(F::R8_UNORM, NONE).single_layer = false; t.seen().reads = Reads::Plain; }
            but { t.seen().single_layer = true; };
    Catalog::B65, "B-65" None =>
        // Grey that is a little red, of a view that exchanges red and blue: any predefined colour is further away than a little blue.
        { t.float_border([0.6, 0.5, 0.5, 1.0], F::UNDEFINED);
          t.untold(F::R8G8B8A8_UNORM, [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::IDENTITY]); }
            but { t.s.custom_border = Some(CustomBorder { color: [0.5_f32.to_bits(); 4], format: F::UNDEFINED }); }
        // Alpha that is shown twice: opaque black is as near as transparent black, and white further away.
        { t.border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
          t.untold(F::R8G8B8A8_UNORM, [Swizzle::IDENTITY, Swizzle::IDENTITY, Swizzle::A, Swizzle::IDENTITY]); }
            but { t.caps.border_color_swizzle_from_image = true; };
    Catalog::B66, "B-66" Some("VUID-VkImageViewCreateInfo-usage-02274") =>
        // A format that the device does not have at all: the filter is not the news.
        { t.filters(LINEAR);
          (t.s.mipmap_mode, t.s.reduction_mode) = (MIP_LINEAR, Some(vk::SamplerReductionMode::MIN));
          t.sees(F::D24_UNORM_S8_UINT, NONE).features = Some(Feature::TRANSFER_DST); }
            // What is not known is not touched.
            but { t.seen().features = None; };
    Catalog::B78, "B-78" None =>
        // A plain sampler on a subsampled image.
        { t.sees(F::R8_UNORM, NONE).subsampled = true; }
            but { t.seen().subsampled = false; }
        // A subsampled sampler on a plain image.
        { t.flagged(SUBSAMPLED); t.sees(F::R8_UNORM, NONE); }
            but { t.s.flags = vk::SamplerCreateFlags::empty(); }
        // A subsampled sampler that is not immutable.
        { t.flagged(SUBSAMPLED); t.sees(F::R8_UNORM, NONE).subsampled = true; }
            but { t.view = None; };
};

#[test]
fn check_unmendable() {
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
#[test]
fn with_a_conversion() {
    let mut setting = Setting::new();
    setting.converts();
    setting.s.compare_enable = true;
    setting.caps.mutable_comparison_samplers = false;
    setting.sees(F::R8G8B8A8_UINT, NONE).subsampled = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.s.ycbcr = None;
    setting.seen().ycbcr = true;
    let decision = setting.decide();
    assert!(decision.changes.is_empty() && decision.unresolved.is_none(), "{decision:?}");

    setting.seen().ycbcr = false;
    assert!(!setting.decide().changes.is_empty());
}
