use alloc::{format, string::String};

use crate::budget;
use crate::decide::{Change, Context, DeviceCaps};
use crate::left::{Cause, Clause};

rule! { ($)
    /// More samplers with a custom border colour are alive than the device allows.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-None-04012: at most `maxCustomBorderColorSamplers` (32 or more; V3D has 24).
    ///
    /// ## Who trips over it
    ///
    /// Translators that make a sampler for each combination of states and never free one.
    ///
    /// ## What is lost
    ///
    /// The exact border colour of the samplers beyond the limit.
    ///
    /// ## In the application
    ///
    /// Share samplers of equal state, destroy what is not used, and prefer a predefined colour where it has the same value.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_budget BorderBudget "border-budget" {
        A35 "A-35" Vuid("VUID-VkSamplerCreateInfo-None-04012")
            lost "exact border colour", by too_many;
        A35Exact "A-35" Vuid("VUID-VkSamplerCreateInfo-None-04012")
            lost "nothing: the predefined colour shows the same", by too_many;
    }
}

pub(super) fn too_many(_: &Change, context: &Context<'_>) -> String {
    let limit = context.caps.max_custom_border_color_samplers;
    match context.view {
        Some(_) => no_border_share(context.caps).into(),
        None => format!(
            "{limit} samplers with a custom border colour are live, as many as maxCustomBorderColorSamplers allows"
        ),
    }
}

/// Why a variant has no custom border colour.
pub fn no_border_share(caps: &DeviceCaps) -> Clause {
    let limit = caps.max_custom_border_color_samplers;
    Cause::BorderShare.with(&[&budget::share(limit), &limit]).why
}
