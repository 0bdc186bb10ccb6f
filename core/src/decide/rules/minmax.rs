use crate::decide::{Catalog, Change, Context, Field};

rule! { ($)
    /// A MIN or MAX reduction meets a format, or an image type, that cannot do it.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-magFilter-09598 and -mipmapMode-09599: with a reduction of MIN or MAX, LINEAR needs
    ///   `VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_MINMAX_BIT`.
    /// `filterMinmaxSingleComponentFormats` and `filterMinmaxImageComponentMapping` say which formats and mappings a device supports.
    ///
    /// ## Who trips over it
    ///
    /// Depth pyramids for occlusion culling. Many devices support MIN and MAX for single-component formats only, and some for none.
    ///
    /// ## What is lost
    ///
    /// The minimum or maximum of the footprint: the sampler reads one texel. samplin never averages instead.
    ///
    /// ## In the application
    ///
    /// Check the bit, and read four texels otherwise:
    ///
    /// ```c
    /// bool minmax = p.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_MINMAX_BIT;
    /// ```
    ///
    /// Without it use `textureGather` and `min`/`max` in the shader.
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    minmax Minmax "minmax" lost_by lost {
        B3 "B-3" Vuid("VUID-vkCmdDraw-magFilter-09598")
            lost "footprint minimum or maximum", lacks "SAMPLED_IMAGE_FILTER_MINMAX";
        B4 "B-4" Vuid("VUID-vkCmdDraw-mipmapMode-09599")
            lost "footprint minimum or maximum", lacks "SAMPLED_IMAGE_FILTER_MINMAX";
        B13 "B-13" Text("Limits > VkPhysicalDeviceSamplerFilterMinmaxProperties")
            lost "footprint minimum or maximum", because "filterMinmaxImageComponentMapping is false and the view swizzles R";
    }
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<&'static str> {
    let is_mode = (change.catalog, change.field) == (Catalog::B4, Field::MipmapMode);
    (is_mode && context.view.is_some_and(|view| view.single_level)).then_some("nothing: the view has one level")
}
