//! Catalogue H: usages of views and images.

use crate::setting::*;
use ash::vk::{ImageAspectFlags as Aspects, ImageUsageFlags as Usage};
use samplin_core::decide::{
    ViewUsage, aspect_shown, image_flags, may_lack_usage, shows_one_aspect, unsupported_usage, usage_beside_storage,
    view_usage,
};
use samplin_core::left::Cause;

/// Id and valid-usage id; usage that is inherited, features of the view's format; usage that is left; features of the legal twin.
pub(crate) type UsageRow =
    (&'static str, &'static str, &'static [Usage], Feature, &'static [Usage], &'static [Feature]);

const SAMPLED: Feature = Feature::SAMPLED_IMAGE;

fn usage(bits: &[Usage]) -> Usage {
    bits.iter().fold(Usage::empty(), |all, bit| all | *bit)
}

fn features(bits: &[Feature]) -> Feature {
    bits.iter().fold(NONE, |all, bit| all | *bit)
}

pub(crate) const ROWS: &[UsageRow] = table! {
    ("H-1", "VUID-VkImageViewCreateInfo-usage-02274", &[Usage::SAMPLED, Usage::STORAGE], Feature::STORAGE_IMAGE,
        &[Usage::STORAGE], &[Feature::STORAGE_IMAGE, SAMPLED]),
    ("H-1", "VUID-VkImageViewCreateInfo-usage-02275", &[Usage::SAMPLED, Usage::STORAGE, Usage::TRANSFER_DST],
        SAMPLED, &[Usage::SAMPLED, Usage::TRANSFER_DST], &[Feature::STORAGE_IMAGE, SAMPLED]),
    ("H-1", "VUID-VkImageViewCreateInfo-usage-08931", &[Usage::SAMPLED, Usage::COLOR_ATTACHMENT], SAMPLED,
        &[Usage::SAMPLED], &[Feature::COLOR_ATTACHMENT, SAMPLED]),
    // With linear tiling the one feature stands in for the other (VUID-VkImageViewCreateInfo-image-08334).
    ("H-1", "VUID-VkImageViewCreateInfo-usage-08931", &[Usage::SAMPLED, Usage::COLOR_ATTACHMENT], SAMPLED,
        &[Usage::SAMPLED], &[Feature::LINEAR_COLOR_ATTACHMENT_NV, SAMPLED]),
    ("H-1", "VUID-VkImageViewCreateInfo-usage-02277", &[Usage::SAMPLED, Usage::DEPTH_STENCIL_ATTACHMENT],
        SAMPLED, &[Usage::SAMPLED], &[Feature::DEPTH_STENCIL_ATTACHMENT, SAMPLED]),
    ("H-1", "VUID-VkImageViewCreateInfo-usage-08932", &[Usage::SAMPLED, Usage::INPUT_ATTACHMENT], SAMPLED,
        &[Usage::SAMPLED], &[Feature::DEPTH_STENCIL_ATTACHMENT, SAMPLED]),
};

fn bits(usage: Usage) -> u64 {
    usage.as_raw().into()
}

/// A view that may be narrowed.
fn view(inherited: Usage, features: Feature) -> ViewUsage {
    ViewUsage { features, inherited: bits(inherited), of_image: !0, can_state_usage: true, imageless: false }
}

/// Judges the rows.
#[test]
fn check() {
    for (id, vuid, inherited, illegal, left, legal) in ROWS {
        let (inherited, left) = (usage(inherited), usage(left));
        let (narrowed, changes) = view_usage(&view(inherited, *illegal)).expect("a legal usage");
        assert_eq!(narrowed, bits(left), "{vuid}");
        assert!(changes.iter().any(|c| c.catalog.id() == *id && c.catalog.vuid() == Some(vuid)), "{vuid}");
        let (first, last) = (changes.iter().next().expect("a change"), changes.iter().last().expect("a change"));
        assert_eq!((first.from, last.to), (Value::Usage(bits(inherited)), Value::Usage(bits(left))), "{vuid}");
        let (same, none) = view_usage(&view(inherited, features(legal))).expect("the twin is legal");
        assert!(same == bits(inherited) && none.is_empty(), "{vuid}: {none:?}");
        assert_eq!(unsupported_usage(bits(left), *illegal), 0, "{vuid}: what is left is legal");
    }
}

/// What must not be narrowed, and why.
#[test]
fn kept() {
    let both = usage(&[Usage::SAMPLED, Usage::STORAGE]);
    let narrowable = view(both, SAMPLED);
    assert!(view_usage(&narrowable).is_ok());
    let rendered = view(both | Usage::COLOR_ATTACHMENT, features(&[SAMPLED, Feature::COLOR_ATTACHMENT]));
    assert!(view_usage(&rendered).is_ok());
    for (view, why) in [
        (ViewUsage { can_state_usage: false, ..narrowable }, Cause::NoUsageStructure),
        // The structure has 32 bits, and those above must not get lost.
        (ViewUsage { inherited: narrowable.inherited | 1 << 40, ..narrowable }, Cause::NoUsageStructure),
        (view(both, NONE), Cause::NothingLeft),
        (view(Usage::STORAGE | Usage::TRANSFER_DST, SAMPLED), Cause::NothingLeft),
        (ViewUsage { of_image: bits(Usage::SAMPLED), ..narrowable }, Cause::NoViewFormat),
        (ViewUsage { imageless: true, ..rendered }, Cause::ImagelessView),
    ] {
        assert_eq!(view_usage(&view).expect_err("kept"), why, "{view:?}");
    }
    // An imageless framebuffer takes attachments only.
    assert!(view_usage(&ViewUsage { imageless: true, ..narrowable }).is_ok());
}

/// What a view is left with when shaders store through another one.
#[test]
fn beside_storage() {
    let all = usage(&[Usage::SAMPLED, Usage::STORAGE]) | Usage::TRANSFER_DST;
    let left = |usage, features| usage_beside_storage(bits(usage), features);
    assert_eq!(left(all, SAMPLED), bits(Usage::SAMPLED | Usage::TRANSFER_DST));
    // What its format cannot have goes as well, and nothing is left of what makes no view.
    assert_eq!(left(all | Usage::COLOR_ATTACHMENT, SAMPLED), bits(Usage::SAMPLED | Usage::TRANSFER_DST));
    assert_eq!(left(all, NONE), 0);
    assert_eq!(left(Usage::STORAGE | Usage::TRANSFER_DST, SAMPLED), 0);
}

/// H-2: an image whose usage another format of its list has.
#[test]
fn images() {
    let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
    let extended = u64::from(vk::ImageCreateFlags::EXTENDED_USAGE.as_raw());
    let used = bits(usage(&[Usage::SAMPLED, Usage::STORAGE]));
    let (own, all) = (SAMPLED, features(&[SAMPLED, Feature::STORAGE_IMAGE]));
    let decided = |flags, features, listed: &[Feature]| image_flags(flags, used, features, listed.iter().copied());
    let (flags, change) = decided(mutable, own, &[own, all]).expect("EXTENDED_USAGE");
    assert_eq!((flags, change.catalog.id()), (mutable | extended, "H-2"));
    assert_eq!(change.catalog.vuid(), Some("VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251"));
    assert_eq!((change.from, change.to), (Value::ImageFlags(mutable), Value::ImageFlags(mutable | extended)));
    for (flags, features, listed) in [
        (mutable, all, &[own, all][..]),
        (0, own, &[all]),
        (mutable | extended, own, &[all]),
        (mutable, own, &[own]),
        (mutable, own, &[]),
    ] {
        assert_eq!(decided(flags, features, listed), None, "{flags:#x} {features:?} {listed:?}");
    }
}

/// Which views are looked at: those of another format, and those of the image's own where it says that its format need not have the usage.
#[test]
fn looked_at() {
    let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
    let extended = u64::from(vk::ImageCreateFlags::EXTENDED_USAGE.as_raw());
    for (flags, other, own) in [
        (0, false, false),
        (extended, false, false),
        (mutable, true, false),
        (mutable | extended, true, true),
        (mutable | extended | 1 << 40, true, true),
    ] {
        assert_eq!((may_lack_usage(flags, false), may_lack_usage(flags, true)), (other, own), "{flags:#x}");
    }
}

/// VUID-VkDescriptorImageInfo-imageView-01976: what a descriptor shows has one aspect; what no shader reads may have both.
#[test]
fn descriptors_show_one_aspect_of_a_view_with_both() {
    let both = Aspects::DEPTH | Aspects::STENCIL;
    let sampled = bits(Usage::SAMPLED | Usage::DEPTH_STENCIL_ATTACHMENT);
    for usage in [sampled, bits(Usage::INPUT_ATTACHMENT)] {
        assert!(shows_one_aspect(both, usage));
    }
    assert!(!shows_one_aspect(both, bits(Usage::DEPTH_STENCIL_ATTACHMENT)));
    for one in [Aspects::DEPTH, Aspects::STENCIL, Aspects::COLOR] {
        assert!(!shows_one_aspect(one, sampled));
    }
    assert_eq!(aspect_shown(Aspects::STENCIL).catalog.vuid(), Some("VUID-VkDescriptorImageInfo-imageView-01976"));
}
