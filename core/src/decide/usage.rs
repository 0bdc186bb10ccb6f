//! Section H: the usage that a view inherits from its image, and that an image has beyond its own format.

use ash::vk::{self, FormatFeatureFlags2 as Feature, ImageUsageFlags as Usage};

use super::{Catalog, Change, Changes, Field, Value};
use crate::left::Cause;

/// What each usage demands of the format of a view: the usage, format features of which one is enough, and the rule.
///
/// `LINEAR_COLOR_ATTACHMENT_NV` stands in for the other with linear tiling (VUID-VkImageViewCreateInfo-image-08334).
const DEMANDS: [(Usage, Feature, Catalog); 5] = [
    (Usage::SAMPLED, Feature::SAMPLED_IMAGE, Catalog::H1Sampled),
    (Usage::STORAGE, Feature::STORAGE_IMAGE, Catalog::H1Storage),
    (
        Usage::COLOR_ATTACHMENT,
        Feature::from_raw(Feature::COLOR_ATTACHMENT.as_raw() | Feature::LINEAR_COLOR_ATTACHMENT_NV.as_raw()),
        Catalog::H1Color,
    ),
    (Usage::DEPTH_STENCIL_ATTACHMENT, Feature::DEPTH_STENCIL_ATTACHMENT, Catalog::H1DepthStencil),
    (
        Usage::INPUT_ATTACHMENT,
        Feature::from_raw(
            Feature::COLOR_ATTACHMENT.as_raw()
                | Feature::DEPTH_STENCIL_ATTACHMENT.as_raw()
                | Feature::LINEAR_COLOR_ATTACHMENT_NV.as_raw(),
        ),
        Catalog::H1Input,
    ),
];

/// The usages of which a view needs one (*Resources*, "valid image usage" of image views), as far as [`unsupported_usage`] can leave them.
const OF_VIEWS: u64 = {
    let attachments = Usage::COLOR_ATTACHMENT.as_raw() | Usage::DEPTH_STENCIL_ATTACHMENT.as_raw();
    let shaders = Usage::SAMPLED.as_raw() | Usage::STORAGE.as_raw() | Usage::INPUT_ATTACHMENT.as_raw();
    (attachments | shaders) as u64
};

/// Every usage with which an image can become an attachment of a framebuffer.
const ATTACHMENTS: u64 = (Usage::COLOR_ATTACHMENT.as_raw()
    | Usage::DEPTH_STENCIL_ATTACHMENT.as_raw()
    | Usage::INPUT_ATTACHMENT.as_raw()) as u64;

/// The bits of `usage` that demand a feature which `features` do not have.
pub fn unsupported_usage(usage: u64, features: Feature) -> u64 {
    let of = |(bit, demanded, _): &(Usage, Feature, Catalog)| {
        if features.intersects(*demanded) { 0 } else { u64::from(bit.as_raw()) }
    };
    usage & DEMANDS.iter().map(of).fold(0, core::ops::BitOr::bitor)
}

/// Whether a view of an image with these flags can inherit a usage that its format cannot have; `own`: it has the image's own format,
/// which has the whole usage unless the image says otherwise.
pub fn may_lack_usage(flags: u64, own: bool) -> bool {
    let is = |flag: vk::ImageCreateFlags| flags & u64::from(flag.as_raw()) != 0;
    is(vk::ImageCreateFlags::MUTABLE_FORMAT) && (!own || is(vk::ImageCreateFlags::EXTENDED_USAGE))
}

/// What is left of a view's usage when shaders store through another view: what its format can have of the rest, or nothing if that is
/// nothing to use a view for.
pub fn usage_beside_storage(usage: u64, features: Feature) -> u64 {
    let left = usage & !u64::from(Usage::STORAGE.as_raw()) & !unsupported_usage(usage, features);
    if left & OF_VIEWS == 0 { 0 } else { left }
}

/// What of an image's usage one of its formats has; `own` are the features of its format, `listed` those of each that its views may have.
/// Without a list it is taken to be all if the image says that its own format need not have it.
pub fn reachable_usage(usage: u64, flags: u64, own: Feature, listed: Option<&mut dyn Iterator<Item = Feature>>) -> u64 {
    let missing = unsupported_usage(usage, own);
    let is_extended = flags & u64::from(vk::ImageCreateFlags::EXTENDED_USAGE.as_raw()) != 0;
    match listed {
        _ if missing == 0 || !is_extended => usage & !missing,
        None => usage,
        Some(features) => usage & !features.fold(missing, unsupported_usage),
    }
}

/// What changes of a view through which shaders would store, because integers are stored in its place: its usage, which is then `left`,
/// or its format if nothing is left of that.
pub fn stored_elsewhere(format: vk::Format, alias: vk::Format, usage: u64, left: u64) -> Change {
    let (field, from, to) = if left != 0 {
        (Field::Usage, Value::Usage(usage), Value::Usage(left))
    } else {
        (Field::ImageFormat, Value::Format(format), Value::Format(alias))
    };
    Change { catalog: Catalog::H5, field, from, to }
}

/// What changes of an image because some of its views are of integers: its create flags.
pub fn viewed_as_integers(flags: u64, wider: u64) -> Change {
    let (from, to) = (Value::ImageFlags(flags), Value::ImageFlags(wider));
    Change { catalog: Catalog::H5Image, field: Field::Flags, from, to }
}

/// A view that is about to be created without a usage of its own.
#[derive(Clone, Copy, Debug)]
pub struct ViewUsage {
    /// Features of its format, with the tiling of the image.
    pub features: Feature,
    /// The usage that it inherits.
    pub inherited: u64,
    /// What of the image's usage some format of the image has, so that it was not asked for in vain.
    pub of_image: u64,
    /// `VkImageViewUsageCreateInfo` exists: version 1.1 or `VK_KHR_maintenance2`.
    pub can_state_usage: bool,
    /// `imagelessFramebuffer` is enabled, and framebuffers may compare usages that the application states.
    pub imageless: bool,
}

/// The usage that a view gets, with one change for each bit that goes; none if all of them are legal.
///
/// # Errors
/// A view that cannot be given what would be legal.
pub fn view_usage(view: &ViewUsage) -> Result<(u64, Changes), Cause> {
    let gone = unsupported_usage(view.inherited, view.features);
    let (mut usage, mut changes) = (view.inherited, Changes::new());
    if gone == 0 {
        return Ok((usage, changes));
    }
    let left = usage & !gone;
    match () {
        () if !view.can_state_usage || view.inherited >> 32 != 0 => return Err(Cause::NoUsageStructure),
        () if left & OF_VIEWS == 0 => return Err(Cause::NothingLeft),
        () if gone & !view.of_image != 0 => return Err(Cause::NoViewFormat),
        () if view.imageless && left & ATTACHMENTS != 0 => return Err(Cause::ImagelessView),
        () => {}
    }
    for (bit, _, catalog) in DEMANDS {
        let bit = u64::from(bit.as_raw());
        if gone & bit != 0 {
            let (from, to) = (Value::Usage(usage), Value::Usage(usage & !bit));
            changes.push(Change { catalog, field: Field::Usage, from, to });
            usage &= !bit;
        }
    }
    Ok((usage, changes))
}

/// The create flags that an image of `format_features` with `usage` needs beyond `flags`, with the change; none if its own format has
/// the whole usage, or if it is not one of several formats. `listed`: features of each format that it may be viewed with.
///
/// `VK_IMAGE_CREATE_EXTENDED_USAGE_BIT` says that the usage need not be supported by the image's own format, only by one that a view may
/// have (VkImageCreateFlagBits).
pub fn image_flags(
    flags: u64,
    usage: u64,
    own: Feature,
    listed: impl Iterator<Item = Feature>,
) -> Option<(u64, Change)> {
    let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
    let extended = u64::from(vk::ImageCreateFlags::EXTENDED_USAGE.as_raw());
    let unsupported = unsupported_usage(usage, own);
    if unsupported == 0 || flags & mutable == 0 || flags & extended != 0 {
        return None;
    }
    let by_none = listed.fold(unsupported, |left, features| left & unsupported_usage(left, features));
    let wider = flags | extended;
    let (from, to) = (Value::ImageFlags(flags), Value::ImageFlags(wider));
    (by_none == 0).then_some((wider, Change { catalog: Catalog::H2, field: Field::Flags, from, to }))
}
