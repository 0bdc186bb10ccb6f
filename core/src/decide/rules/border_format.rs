use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A custom border colour without a format where the device needs one, or with another one than the view's.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014: without `customBorderColorWithoutFormat` the format is given.
    /// VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015: views of B4G4R4A4, B5G6R5, B5G5R5A1 and A1B5G5R5 (UNORM_PACK16)
    ///   need the format, feature or not.
    /// Image Operations > Instruction/Format/Sampler/Image View Validation: a format that is given equals that of the view, else
    ///   the texel is undefined.
    ///
    /// ## Who trips over it
    ///
    /// Translators of OpenGL and Direct3D, whose samplers know no format.
    ///
    /// ## What is lost
    ///
    /// Nothing where the sampler can be made for the view's format (samplin makes one for each format that it meets); else the
    ///   exact border colour.
    ///
    /// ## In the application
    ///
    /// Make one sampler for each format, with `VkSamplerCustomBorderColorCreateInfoEXT::format` set; or enable
    ///   `customBorderColorWithoutFormat` where the device has it.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_format BorderFormat "border-format" {
        A32 "A-32" Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014")
            lost "exact border colour", disabled "customBorderColorWithoutFormat";
        A32Exact "A-32" Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014")
            lost "nothing: the predefined colour shows the same", disabled "customBorderColorWithoutFormat";
        B56 "B-56" Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015")
            lost "nothing", by without_format;
        B56Exact "B-56" Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015")
            lost "nothing: the predefined colour shows the same", by without_format;
        B57 "B-57" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing", by of_another_format;
    }
}

pub(super) fn without_format(_: &Change, context: &Context<'_>) -> String {
    format!("a custom border on {} needs its format", context.format())
}

pub(super) fn of_another_format(_: &Change, context: &Context<'_>) -> String {
    format!("the border's format is not the view's, {}", context.format())
}
