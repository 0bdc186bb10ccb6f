use ash::vk;

use crate::decide::{Catalog, Change, Context, Value};

rule! { ($)
    /// A reduction mode that the device or the other members of the sampler exclude.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-compareEnable-01423: no MIN or MAX together with comparison.
    /// VUID-VkSamplerCreateInfo-pNext-06726: MIN and MAX need `samplerFilterMinmax`.
    /// VUID-VkSamplerCreateInfo-magFilter-07911: with CUBIC they need `VK_EXT_filter_cubic`.
    ///
    /// ## Who trips over it
    ///
    /// Depth pyramids on devices without the feature; samplers made from templates that set everything.
    ///
    /// ## What is lost
    ///
    /// The minimum or maximum of the footprint.
    ///
    /// ## In the application
    ///
    /// Leave `VkSamplerReductionModeCreateInfo` out unless `samplerFilterMinmax` is enabled, and switch `compareEnable` off with it.
    ///
    /// ## Settings
    ///
    /// - `augment=on` enables `samplerFilterMinmax` where the device has it.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    reduction Reduction "reduction" lost_by lost {
        A26 "A-26" Vuid("VUID-VkSamplerCreateInfo-compareEnable-01423")
            lost "footprint minimum or maximum", because "comparison and a reduction mode exclude each other";
        A27 "A-27" Vuid("VUID-VkSamplerCreateInfo-pNext-06726")
            lost "footprint minimum or maximum", disabled "samplerFilterMinmax";
        A28 "A-28" Vuid("VUID-VkSamplerCreateInfo-magFilter-07911")
            lost "footprint minimum or maximum", because "CUBIC with a reduction mode needs VK_EXT_filter_cubic";
        A59Reduction "A-59" Vuid("VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter")
            lost "what this driver happened to show", because "the value is not a VkSamplerReductionMode";
        B10 "B-10" Vuid("VUID-vkCmdDraw-cubicRangeClamp-09212")
            lost "range clamp", disabled "cubicRangeClamp";
        B11 "B-11" Vuid("VUID-vkCmdDraw-reductionMode-09213")
            lost "range clamp", because "range clamp needs CUBIC";
        B12 "B-12" Vuid("VUID-vkCmdDraw-selectableCubicWeights-09214")
            lost "cubic weights", disabled "selectableCubicWeights";
    }
}

const RANGE_CLAMP: Value = Value::ReductionMode(vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM);

pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    let is_range_clamp = matches!(change.catalog, Catalog::A27 | Catalog::A28) && change.from == RANGE_CLAMP;
    is_range_clamp.then_some("range clamp")
}
