use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A border colour meets a view with a component mapping, and the device cannot apply the mapping to the border.
    ///
    /// ## The specification
    ///
    /// Image Operations > Instruction/Format/Sampler/Image View Validation: opaque black and custom colours are undefined through a
    ///   view that is not identity mapped, whatever the mapping does to the colour. Two things define them:
    ///
    /// - `borderColorSwizzleFromImage` is enabled, or
    /// - the sampler chains `VkSamplerBorderColorComponentMappingCreateInfoEXT` with the view's mapping and sRGB encoding, which
    ///   needs `borderColorSwizzle`.
    ///
    /// Transparent black and opaque white are always defined. No VUID exists, so no validation layer reports it.
    ///
    /// ## Who trips over it
    ///
    /// Every program that reads BGRA, alpha-only or luminance images through a mapping and clamps to the border.
    ///
    /// ## What is lost
    ///
    /// Nothing if a predefined colour shows the same, or if the mapping does not change the colour. samplin leaves the latter
    ///   alone, a departure from the letter that `border=strict` ends.
    /// Otherwise the exact colour: samplin chooses the predefined colour that is nearest as the shader sees it.
    /// Drivers show the colour with the mapping or without it. If even the colour without it is nearer than any predefined one, it
    ///   stays and is named (B-65).
    ///
    /// ## In the application
    ///
    /// Enable `borderColorSwizzle` and chain the view's mapping:
    ///
    /// ```c
    /// VkSamplerBorderColorComponentMappingCreateInfoEXT map = {
    ///     .sType = VK_STRUCTURE_TYPE_SAMPLER_BORDER_COLOR_COMPONENT_MAPPING_CREATE_INFO_EXT,
    ///     .components = view_info.components,
    ///     .srgb = VK_FALSE, // VK_TRUE if the view's format is sRGB
    /// };
    /// ```
    ///
    /// ## Settings
    ///
    /// - `augment=on` enables the feature where the device has it.
    /// - `border=strict` keeps to the letter of the specification.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    border_swizzle BorderSwizzle "border-swizzle" {
        B52 "B-52" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing", because "the view swizzles and borderColorSwizzleFromImage is not enabled";
        B52Exact "B-52" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing: the predefined colour shows the same",
            because "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled";
        B52Lossy "B-52" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "exact border colour",
            because "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled";
        B53 "B-53" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing", because "the view swizzles and borderColorSwizzleFromImage is not enabled";
        B53Exact "B-53" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing: the predefined colour shows the same",
            because "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled";
        B53Lossy "B-53" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "exact border colour",
            because "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled";
        B54 "B-54" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing", because "the border's component mapping is not the view's";
        B55 "B-55" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing", by not_said;
        B65 "B-65" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "",
            because "the view swizzles the border colour, neither borderColorSwizzleFromImage nor borderColorSwizzle is \
             enabled, and no predefined colour is nearer than what the driver may show instead";
    }
}

pub(super) fn not_said(_: &Change, context: &Context<'_>) -> String {
    format!("srgb does not say what {} is", context.format())
}
