use alloc::{format, string::String};

use super::is_of_shader;
use crate::decide::lost::Lost;
use crate::decide::{Catalog, Change, Context, Field, ViewTraits};

rule! { ($)
    /// A LINEAR `magFilter` or `minFilter` meets a format that the device cannot filter.
    ///
    /// ## The specification
    ///
    /// A draw or dispatch that samples such a view is invalid, and its result is undefined (VUID-vkCmdDraw-magFilter-04553).
    /// The device says which formats it can filter: `VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT` of the view's format and
    ///   the image's tiling.
    /// Vulkan never requires that bit for 32-bit floats, for depth, for 16-bit UNORM and SNORM, or for integers.
    ///
    /// ## Who trips over it
    ///
    /// Shadow maps and depth of field that read depth with LINEAR; R32F height maps and light maps on phones; integer masks and
    ///   picking buffers that share a sampler with colour textures.
    /// Desktop GPUs filter most of these formats, so the fault shows on phones, Raspberry Pi and software drivers only.
    ///
    /// ## What is lost
    ///
    /// Smoothing: samplin replaces LINEAR by NEAREST. Integers lose nothing, because integer values have no average.
    ///
    /// ## In the application
    ///
    /// Ask the device, and choose the filter by its answer:
    ///
    /// ```c
    /// VkFormatProperties p;
    /// vkGetPhysicalDeviceFormatProperties(gpu, format, &p);
    /// VkFilter filter = p.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT
    ///     ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    /// VkSamplerCreateInfo info = { .magFilter = filter, .minFilter = filter, /* … */ };
    /// ```
    ///
    /// Or use a format that every device filters, such as `VK_FORMAT_R16_SFLOAT`. Give integer images a sampler of their own with
    ///   NEAREST.
    ///
    /// ## Settings
    ///
    /// - `unfilterable=emulate`: the shader takes several NEAREST samples and weighs them, so that the smoothing stays.
    /// - `depth_linear=compare`: an old trick for depth; undefined by today's specification, never the default.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    linear_filter LinearFilter "linear-filter" lost_by lost {
        B1 "B-1" Vuid("VUID-vkCmdDraw-magFilter-04553")
            lost "smoothing", by not_filtered;
        B16 "B-16" Vuid("VUID-vkCmdDraw-magFilter-04553")
            lost "nothing: integer values have no average", by of_integers;
    }
}

pub(super) fn not_filtered(change: &Change, context: &Context<'_>) -> String {
    match change.field {
        field if is_of_shader(field) => "the filtering shader samples whole levels, and adds it itself".into(),
        _ => context.lacks("SAMPLED_IMAGE_FILTER_LINEAR"),
    }
}

pub(super) fn of_integers(_: &Change, context: &Context<'_>) -> String {
    format!("{} holds integers", context.format())
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<Lost> {
    let is_filter = matches!(change.field, Field::MagFilter | Field::MinFilter);
    let is_integer = context.view.is_some_and(ViewTraits::is_integer);
    Some(Lost::but_for_some_shaders(match change.catalog {
        Catalog::B16 => return None,
        Catalog::B1 if is_filter && context.gathers => {
            return Some("nothing: the shader gathers, and gathers use no filter".into());
        }
        _ if is_of_shader(change.field) => "nothing where the shader filters, the requested value elsewhere",
        _ if context.emulates && context.is_cube() => {
            "seam: the texels beside edges of faces are approximate; smoothing where no shader filters"
        }
        _ if context.emulates && !is_integer => "nothing where the shader filters, smoothing elsewhere",
        _ => return None,
    }))
}
