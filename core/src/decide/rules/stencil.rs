use alloc::{format, string::String};

use crate::decide::{Catalog, Change, Context, Field};

rule! { ($)
    /// A LINEAR filter meets the stencil aspect of an image.
    ///
    /// ## The specification
    ///
    /// Formats > VkFormatFeatureFlagBits2: the LINEAR bit of a depth/stencil format speaks of its depth aspect. Stencil values are
    ///   unsigned integers and cannot be filtered.
    ///
    /// ## Who trips over it
    ///
    /// Outlines and masks that read stencil with the default sampler. Validation layers do not report it where the format filters depth.
    ///
    /// ## What is lost
    ///
    /// Nothing: stencil values have no average.
    ///
    /// ## In the application
    ///
    /// ```c
    /// info.magFilter = info.minFilter = VK_FILTER_NEAREST;
    /// info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    /// ```
    ///
    /// Or read with `texelFetch`, which uses no sampler.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    stencil Stencil "stencil" lost_by lost {
        B15 "B-15" Text("Formats > VkFormatFeatureFlagBits2")
            lost "nothing: stencil values have no average", by no_filter;
    }
}

pub(super) fn no_filter(_: &Change, context: &Context<'_>) -> String {
    format!("the view reads the stencil aspect of {}, for which no filter is defined", context.format())
}

/// Of stencil values and of those that MIN and MAX were not asked for, the reduction is what goes.
pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    (change.field == Field::ReductionMode).then(|| Catalog::B3.lost())
}
