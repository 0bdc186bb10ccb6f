use alloc::{format, string::String};

use ash::vk;

use crate::decide::{Change, Context, Value};
use crate::names;

rule! { ($)
    /// A CUBIC filter, or a value that is no filter at all, that the device does not know.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-magFilter-parameter: CUBIC needs `VK_EXT_filter_cubic` or `VK_IMG_filter_cubic`.
    /// VUID-vkCmdDraw-None-02692, -02693 and -filterCubic-02694: the format needs
    ///   `VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_CUBIC_BIT`, and the view type and usage have to allow it.
    ///
    /// ## Who trips over it
    ///
    /// Programs written for Adreno or PowerVR that run elsewhere; 3D and cube views.
    ///
    /// ## What is lost
    ///
    /// The cubic kernel: LINEAR where the format allows it, else NEAREST.
    ///
    /// ## In the application
    ///
    /// Enable `VK_EXT_filter_cubic`, query `VkFilterCubicImageViewImageFormatPropertiesEXT` for the image, and use LINEAR where
    ///   `filterCubic` is false.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    cubic Cubic "cubic" {
        A1Mag "A-1" Vuid("VUID-VkSamplerCreateInfo-magFilter-parameter")
            lost "cubic kernel", by no_such_filter;
        A1Min "A-1" Vuid("VUID-VkSamplerCreateInfo-minFilter-parameter")
            lost "cubic kernel", by no_such_filter;
        A1Mip "A-1" Vuid("VUID-VkSamplerCreateInfo-mipmapMode-parameter")
            lost "what this driver happened to show", because "the value is not a VkSamplerMipmapMode";
        A59Weights "A-59" Vuid("VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter")
            lost "what this driver happened to show", because "the value is not a VkCubicFilterWeightsQCOM";
        B5 "B-5" Vuid("VUID-vkCmdDraw-None-02692")
            lost "cubic kernel", lacks "SAMPLED_IMAGE_FILTER_CUBIC";
        B6 "B-6" Vuid("VUID-vkCmdDraw-None-02693")
            lost "cubic kernel", by of_this_type;
        B7 "B-7" Vuid("VUID-vkCmdDraw-filterCubic-02694")
            lost "cubic kernel", by of_this_image;
        B8 "B-8" Vuid("VUID-vkCmdDraw-filterCubicMinmax-02695")
            lost "footprint minimum or maximum", by minmax_of_this_image;
    }
}

pub(super) fn no_such_filter(change: &Change, _: &Context<'_>) -> String {
    match change.from == Value::Filter(vk::Filter::CUBIC_EXT) {
        true => "neither VK_EXT_filter_cubic nor VK_IMG_filter_cubic is enabled".into(),
        false => "the value is not a VkFilter".into(),
    }
}

pub(super) fn of_this_type(_: &Change, context: &Context<'_>) -> String {
    let view_type = context.view.map_or_else(String::new, |view| names::view_type(view.view_type));
    format!("{view_type} views need VK_EXT_filter_cubic")
}

pub(super) fn of_this_image(_: &Change, context: &Context<'_>) -> String {
    format!("filterCubic is false for this image of {}", context.format())
}

pub(super) fn minmax_of_this_image(_: &Change, context: &Context<'_>) -> String {
    format!("filterCubicMinmax is false for this image of {}", context.format())
}
