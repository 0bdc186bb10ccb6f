use alloc::string::String;

use crate::decide::lost::Lost;
use crate::decide::{Catalog, Change, Context, Field};

rule! { ($)
    /// A LINEAR `mipmapMode` meets a format that the device cannot filter.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-mipmapMode-04770: blending between mip levels needs `VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT`, even
    ///   if both filters are NEAREST.
    ///
    /// ## Who trips over it
    ///
    /// One default sampler with trilinear filtering that every texture shares: depth, R32F and integer images among them. The image
    ///   may have one mip level; the rule holds all the same.
    ///
    /// ## What is lost
    ///
    /// Blending between mip levels: the nearest level is read instead.
    ///
    /// ## In the application
    ///
    /// ```c
    /// info.mipmapMode = can_filter(format) ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
    /// ```
    ///
    /// See `linear-filter` for `can_filter`.
    ///
    /// ## Settings
    ///
    /// - `unfilterable=emulate` keeps the blending.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    linear_mipmap LinearMipmap "linear-mipmap" lost_by lost {
        B2 "B-2" Vuid("VUID-vkCmdDraw-mipmapMode-04770")
            lost "blending between mip levels", by not_filtered;
    }
}

pub(super) fn not_filtered(change: &Change, context: &Context<'_>) -> String {
    super::linear_filter::not_filtered(change, context)
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<Lost> {
    let is_mode = change.field == Field::MipmapMode;
    match context.view {
        Some(view) if is_mode && view.single_level => Some("nothing: the view has one level".into()),
        Some(view) if is_mode && view.is_integer() => Some(Catalog::B16.lost().into()),
        _ => super::linear_filter::lost(change, context),
    }
}
