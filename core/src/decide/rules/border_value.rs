use alloc::{format, string::String};

use crate::decide::{Catalog, Change, Context, Field};

rule! { ($)
    /// A custom border colour holds values that its format cannot.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-borderColor-04442: the value is representable in the given format.
    /// VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605: the colour's kind (INT, FLOAT) is that of the format.
    ///
    /// ## Who trips over it
    ///
    /// Translators that pass on a float colour of 2.0 for a UNORM image. No validation layer checks the range.
    ///
    /// ## What is lost
    ///
    /// Values outside the format's range: they are clamped, as the format would store them.
    ///
    /// ## In the application
    ///
    /// Clamp each component to [0, 1] for UNORM, [-1, 1] for SNORM, and to the number of bits for integers.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_value BorderValue "border-value" lost_by lost {
        A33 "A-33" Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605")
            lost "what this driver happened to show", because "the kind of the border colour is not that of its format";
        A34 "A-34" Vuid("VUID-VkSamplerCreateInfo-borderColor-04442")
            lost "values outside the format's range", because "the value cannot be represented in the border colour's format";
        B58 "B-58" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "values outside the view format's range", by out_of_range;
    }
}

pub(super) fn out_of_range(_: &Change, context: &Context<'_>) -> String {
    format!("{} cannot hold the value", context.format())
}

pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    let is_value = (change.catalog, change.field) == (Catalog::A33, Field::CustomBorderColor);
    is_value.then_some("what the format cannot hold of the colour")
}
