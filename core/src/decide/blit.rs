//! Section C: the filter of `vkCmdBlitImage` and `vkCmdBlitImage2`.

use ash::vk;

use super::{Catalog, Change, Changes, Exempt, Field, Value};
use crate::{format, names};

/// What matters of a blit's source image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlitSource {
    /// Format the image was created with.
    pub format: vk::Format,
    /// Type of the image.
    pub image_type: vk::ImageType,
    /// Format features of that format with the image's tiling; `None` when they are not known.
    pub features: Option<vk::FormatFeatureFlags2>,
}

/// Outcome of [`blit`].
#[derive(Clone, Debug)]
pub struct BlitDecision {
    /// The filter to hand down.
    pub filter: vk::Filter,
    /// One entry per change.
    pub changes: Changes,
}

/// Decides the filter of a blit from `source`. A blit has no sampler, so the filter is all that can change.
pub fn blit(filter: vk::Filter, source: &BlitSource) -> BlitDecision {
    blit_except(filter, source, Exempt::NONE)
}

/// [`blit`], but for the rules that are switched off.
pub fn blit_except(filter: vk::Filter, source: &BlitSource, exempt: Exempt) -> BlitDecision {
    let mut out = BlitDecision { filter, changes: Changes::new() };
    let mut to = |catalog, to| {
        if out.filter != to && !exempt.contains(catalog) {
            out.changes.push(Change {
                catalog,
                field: Field::BlitFilter,
                from: Value::Filter(out.filter),
                to: Value::Filter(to),
            });
            out.filter = to;
        }
    };
    let may = |bit| source.features.is_none_or(|features| features.contains(bit));
    if filter == vk::Filter::NEAREST {
        return out;
    }
    if format::is_depth_stencil(source.format) {
        to(Catalog::C4, vk::Filter::NEAREST);
        return out;
    }
    let mut now = filter;
    if now == vk::Filter::CUBIC_EXT {
        let conflict = if source.image_type != vk::ImageType::TYPE_2D {
            Some(Catalog::C3)
        } else if !may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT) {
            Some(Catalog::C2)
        } else {
            None
        };
        if let Some(catalog) = conflict.filter(|catalog| !exempt.contains(*catalog)) {
            now = vk::Filter::LINEAR;
            to(catalog, now);
        }
    }
    if now == vk::Filter::LINEAR && !may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR) {
        let integer = format::numeric_class(source.format).is_integer();
        to(if integer { Catalog::C10 } else { Catalog::C1 }, vk::Filter::NEAREST);
    }
    out
}

/// Why images of these formats may not be blitted to each other whatever the filter, with the rule's id. No other filter repairs that.
pub fn unblittable(formats: [vk::Format; 2]) -> Option<(&'static str, String)> {
    use format::NumericClass as Class;
    let [from, to] = formats.map(names::format);
    let classes = formats.map(format::numeric_class);
    let differ = |class| classes.contains(&class) && classes[0] != classes[1];
    match () {
        () if formats.into_iter().any(format::is_depth_stencil) => (formats[0] != formats[1]).then(|| {
            let why = format!("{from} and {to} differ, and one of them has depth or stencil");
            ("VUID-vkCmdBlitImage-srcImage-00231", why)
        }),
        () if differ(Class::Sint) => {
            Some(("VUID-vkCmdBlitImage-srcImage-00229", format!("of {from} and {to} one alone holds signed integers")))
        }
        () if differ(Class::Uint) => Some((
            "VUID-vkCmdBlitImage-srcImage-00230",
            format!("of {from} and {to} one alone holds unsigned integers"),
        )),
        () => None,
    }
}

/// The same of the aspects of a region that are blitted, from and to.
pub fn unblittable_aspects(
    formats: [vk::Format; 2],
    [from, to]: [vk::ImageAspectFlags; 2],
) -> Option<(&'static str, String)> {
    (from != to).then(|| {
        let [from, to] = [from, to].map(|of| names::image_aspects(of.as_raw().into()).join(" and "));
        let [own, other] = formats.map(names::format);
        ("VUID-VkImageBlit-aspectMask-00238", format!("{from} of {own} is blitted to {to} of {other}"))
    })
}
