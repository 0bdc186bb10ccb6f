use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// `depth_linear=compare` turned LINEAR on unfilterable depth into a comparison with ALWAYS.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-magFilter-04553 exempts comparing samplers. Reading through one without comparing is undefined by today's
    ///   specification.
    ///
    /// ## Who trips over it
    ///
    /// Only who sets it. Gallium did this in 2021.
    ///
    /// ## What is lost
    ///
    /// Plain sampling is undefined by today's specification; several drivers filter all the same.
    ///
    /// ## In the application
    ///
    /// See `linear-filter`.
    ///
    /// ## Settings
    ///
    /// - `depth_linear=nearest` (the default) does without.
    /// - `unfilterable=emulate` filters in the shader, which is defined.
    /// - A rule with `set = { repair = "off" }` leaves it as the application asked.
    depth_compare DepthCompare "depth-compare" {
        DepthCompare "S-2" Vuid("VUID-vkCmdDraw-magFilter-04553")
            lost "plain sampling is undefined by today's specification", by compares_instead;
    }
}

pub(super) fn compares_instead(_: &Change, context: &Context<'_>) -> String {
    format!("{} lacks SAMPLED_IMAGE_FILTER_LINEAR and depth_linear is compare", context.format())
}
