use alloc::{format, string::String};

use crate::decide::{Aspect, Catalog, Change, Context, Field};

rule! { ($)
    /// An integer border colour meets a float format, or the reverse.
    ///
    /// ## The specification
    ///
    /// Image Operations > Instruction/Format/Sampler/Image View Validation: the border colour's type has to fit the view's format,
    ///   else the texel is undefined. No VUID exists and no validation layer reports it.
    /// VUID-VkSamplerCreateInfo-addressModeU-01078: the colour is a valid value where an address mode reaches the border.
    ///
    /// ## Who trips over it
    ///
    /// `VK_BORDER_COLOR_INT_OPAQUE_WHITE` as a default for colour images: it reads as white on some drivers and as 0 on others.
    ///   Integer images with `FLOAT` borders.
    ///
    /// ## What is lost
    ///
    /// What this driver happened to show. The colour keeps its meaning: opaque white stays opaque white.
    ///
    /// ## In the application
    ///
    /// ```c
    /// info.borderColor = is_integer(format) ? VK_BORDER_COLOR_INT_OPAQUE_WHITE : VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `border=strict`: the kind matters even where no address mode reaches the border.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_type BorderType "border-type" lost_by lost {
        A22 "A-22" Vuid("VUID-VkSamplerCreateInfo-addressModeU-01078")
            lost "what this driver happened to show", because "an axis clamps to the border and the value is not a VkBorderColor";
        B50 "B-50" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "what this driver happened to show", by of_floats;
        B51 "B-51" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "what this driver happened to show", by of_integers;
    }
}

pub(super) fn of_floats(_: &Change, context: &Context<'_>) -> String {
    format!("{} is read as floats", context.format())
}

pub(super) fn of_integers(_: &Change, context: &Context<'_>) -> String {
    match context.view.map(|view| view.aspect) {
        Some(Aspect::Stencil) => "the view reads the stencil aspect, which holds integers".into(),
        _ => format!("{} holds integers", context.format()),
    }
}

/// The value and the format of a custom colour follow its kind.
pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    match (change.catalog, change.field) {
        (Catalog::B50 | Catalog::B51, Field::CustomBorderColor) => Some("what the format cannot hold of the colour"),
        (Catalog::B50 | Catalog::B51, Field::CustomBorderColorFormat) => Some("nothing"),
        _ => None,
    }
}
