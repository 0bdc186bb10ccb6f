//! Section C: the filter of `vkCmdBlitImage` and `vkCmdBlitImage2`.

use alloc::{format, string::String};

use ash::vk;

use crate::decide::{Catalog, Change, Changes, Context, Exempt, Field, Value};
use crate::left::{Cause, Explained};
use crate::{format, names};

rule! { ($)
    /// A blit with LINEAR or CUBIC from a format that the device cannot filter.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdBlitImage-filter-02001, -02002, -00237 and -srcImage-00232: LINEAR needs the format's LINEAR bit, CUBIC its own
    ///   bit and a 2D image; depth and stencil are blitted with NEAREST only, whatever the bits say.
    ///
    /// No filter makes a blit between formats of two classes legal: of signed or unsigned integers
    ///   (VUID-vkCmdBlitImage-srcImage-00229, VUID-vkCmdBlitImage-srcImage-00230), or from or to another format of depth or stencil
    ///   (VUID-vkCmdBlitImage-srcImage-00231). Nor one from an aspect to another (VUID-VkImageBlit-aspectMask-00238). samplin names
    ///   both (`blit`).
    ///
    /// ## Who trips over it
    ///
    /// Mipmap generation for R32F, integer and depth images.
    ///
    /// ## What is lost
    ///
    /// Smoothing; nothing where the blit does not scale, and nothing for integers.
    ///
    /// ## In the application
    ///
    /// ```c
    /// VkFilter filter = can_filter(src_format) && !is_depth(src_format) ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    /// vkCmdBlitImage(cmd, src, src_layout, dst, dst_layout, 1, &region, filter);
    /// ```
    ///
    /// Or average in a compute shader.
    ///
    /// ## Settings
    ///
    /// - `mode=audit` leaves blits as they are and records them.
    /// - A rule with `set = { repair = "off" }` leaves it as the application asked.
    blit_filter BlitFilter "blit-filter" {
        C1 "C-1" Vuid("VUID-vkCmdBlitImage-filter-02001")
            lost "smoothing", lacks "SAMPLED_IMAGE_FILTER_LINEAR";
        C2 "C-2" Vuid("VUID-vkCmdBlitImage-filter-02002")
            lost "cubic kernel", lacks "SAMPLED_IMAGE_FILTER_CUBIC";
        C3 "C-3" Vuid("VUID-vkCmdBlitImage-filter-00237")
            lost "cubic kernel", because "CUBIC needs a 2D source image";
        C4 "C-4" Vuid("VUID-vkCmdBlitImage-srcImage-00232")
            lost "smoothing", by of_depth;
        C10 "C-10" Vuid("VUID-vkCmdBlitImage-filter-02001")
            lost "nothing: integer values have no average", by of_integers;
    }
}

pub(super) fn of_depth(_: &Change, context: &Context<'_>) -> String {
    format!("{} has depth or stencil", context.format())
}

pub(super) fn of_integers(_: &Change, context: &Context<'_>) -> String {
    format!("{} holds integers", context.format())
}

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
pub fn unblittable(formats: [vk::Format; 2]) -> Option<(&'static str, Explained)> {
    use format::NumericClass as Class;
    let [from, to] = formats.map(names::format);
    let classes = formats.map(format::numeric_class);
    let differ = |class| classes.contains(&class) && classes[0] != classes[1];
    match () {
        () if formats.into_iter().any(format::is_depth_stencil) => (formats[0] != formats[1])
            .then(|| ("VUID-vkCmdBlitImage-srcImage-00231", Cause::DepthFormats.with(&[&from, &to]))),
        () if differ(Class::Sint) => {
            Some(("VUID-vkCmdBlitImage-srcImage-00229", Cause::SignedFormats.with(&[&from, &to])))
        }
        () if differ(Class::Uint) => {
            Some(("VUID-vkCmdBlitImage-srcImage-00230", Cause::UnsignedFormats.with(&[&from, &to])))
        }
        () => None,
    }
}

/// The same of the aspects of a region that are blitted, from and to.
pub fn unblittable_aspects(
    formats: [vk::Format; 2],
    [from, to]: [vk::ImageAspectFlags; 2],
) -> Option<(&'static str, Explained)> {
    (from != to).then(|| {
        let [from, to] = [from, to].map(|of| names::image_aspects(of.as_raw().into()).join(" and "));
        let [own, other] = formats.map(names::format);
        ("VUID-VkImageBlit-aspectMask-00238", Cause::BlitAspects.with(&[&from, &own, &to, &other]))
    })
}
