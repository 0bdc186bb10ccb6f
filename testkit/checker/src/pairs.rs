//! Rules of action commands and descriptors.

use crate::Judge;
use crate::creation::{border_pinned, representable};
use crate::formats::{self, Numeric};
use crate::words::*;
use ash::vk;
use samplin_core::decide::{Aspect, DeviceCaps, Policy, SamplerState, ViewTraits};

impl Judge {
    /// Those that the sampler breaks whatever the view.
    pub(crate) fn sampler_only_of_section_b(&mut self, state: &SamplerState, dynamic: bool, caps: &DeviceCaps) {
        let cubic = either(state, CUBIC);
        let clamps = range_clamp(state);
        self.check("B-10", "VUID-vkCmdDraw-cubicRangeClamp-09212", cubic && clamps && !caps.cubic_range_clamp);
        self.check("B-11", "VUID-vkCmdDraw-reductionMode-09213", !cubic && clamps);
        let weighted = state.cubic_weights.is_some_and(|weights| weights != 0);
        self.check(
            "B-12",
            "VUID-vkCmdDraw-selectableCubicWeights-09214",
            cubic && weighted && !caps.selectable_cubic_weights,
        );
        self.check(
            "B-36",
            "VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450",
            dynamic && state.compare_enable && !caps.mutable_comparison_samplers,
        );
    }

    /// Filtering against format features.
    pub(crate) fn filtering(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps) {
        use vk::FormatFeatureFlags2 as F;
        let linear = either(state, LINEAR);
        let cubic = either(state, CUBIC);
        let mip = state.mipmap_mode == MIP_LINEAR;
        let extremes = min_or_max(state);

        // Both statements name WEIGHTED_AVERAGE and no other reduction mode.
        let averages = reduction(state) == vk::SamplerReductionMode::WEIGHTED_AVERAGE && !state.compare_enable;
        // Formats > VkFormatFeatureFlagBits2: the LINEAR_2D bit says the same of 1D and 2D images.
        let linear_2d = caps.filter_linear_2d_img
            && [vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D].contains(&view.image_type)
            && has(view, F::from_raw(0x2000_0000_0000));
        let linear_bit = has(view, F::SAMPLED_IMAGE_FILTER_LINEAR) || linear_2d;
        self.check("B-1", "VUID-vkCmdDraw-magFilter-04553", linear && averages && !linear_bit);
        self.check("B-2", "VUID-vkCmdDraw-mipmapMode-04770", mip && averages && !linear_bit);
        // The same statement, told apart because nothing is lost: there is no average of integers.
        let stencil = view.aspect == Aspect::Stencil;
        let integer = matches!(numeric(view), Numeric::Uint | Numeric::Sint) && !stencil;
        self.check("B-16", "VUID-vkCmdDraw-magFilter-04553", integer && (linear || mip) && averages && !linear_bit);

        let minmax_bit = has(view, F::SAMPLED_IMAGE_FILTER_MINMAX);
        self.check("B-3", "VUID-vkCmdDraw-magFilter-09598", linear && extremes && !minmax_bit);
        self.check("B-4", "VUID-vkCmdDraw-mipmapMode-09599", mip && extremes && !minmax_bit);

        let volume_or_cube = [vk::ImageViewType::TYPE_3D, vk::ImageViewType::CUBE, vk::ImageViewType::CUBE_ARRAY]
            .contains(&view.view_type);
        let cubic_bit = has(view, F::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
        self.check("B-5", "VUID-vkCmdDraw-None-02692", cubic && !cubic_bit);
        self.check("B-6", "VUID-vkCmdDraw-None-02693", cubic && volume_or_cube && !caps.filter_cubic_ext);
        self.check("B-7", "VUID-vkCmdDraw-filterCubic-02694", cubic && caps.filter_cubic_ext && !view.filter_cubic);
        self.check(
            "B-8",
            "VUID-vkCmdDraw-filterCubicMinmax-02695",
            cubic && extremes && caps.filter_cubic_ext && !view.filter_cubic_minmax,
        );

        let r_is_identity = [vk::ComponentSwizzle::IDENTITY, vk::ComponentSwizzle::R].contains(&view.components[0]);
        self.check(
            "B-13",
            "Limits > VkPhysicalDeviceSamplerFilterMinmaxProperties",
            extremes && !caps.filter_minmax_component_mapping && !r_is_identity,
        );
        // Of a depth/stencil format the three bits speak of depth only, so a stencil aspect has none of them: LINEAR and
        // CUBIC under the heading below, MINMAX under the one above. What needs no bit needs none here either.
        self.check(
            "B-15",
            "Formats > VkFormatFeatureFlagBits2",
            stencil && (cubic || ((linear || mip) && (averages || extremes))),
        );
    }

    /// Comparison.
    pub(crate) fn comparison(&mut self, state: &SamplerState, view: &ViewTraits) {
        let compares = state.compare_enable;
        // A plain instruction with comparison on is poison, and so is a comparing one on a stencil aspect.
        self.check("B-33", VALIDATION, compares && view.aspect == Aspect::Stencil);
        // A plain instruction is poison, and a comparing one needs the bit (VUID-vkCmdDraw-None-06479).
        let bit = has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON);
        self.check("B-35", VALIDATION, compares && view.aspect == Aspect::Color && !bit);
    }

    /// Border colours, and the address modes of corner-sampled images.
    pub(crate) fn borders(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, policy: &Policy) {
        // Image Operations > Wrapping Operation: U acts on every view, V on 2D and cube ones, W on 3D ones; cubes ignore
        // them unless the sampler was made non-seamless.
        use vk::ImageViewType as T;
        let axes = match view.view_type {
            T::TYPE_1D | T::TYPE_1D_ARRAY => 1,
            T::TYPE_3D => 3,
            T::CUBE | T::CUBE_ARRAY if !state.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT) => 0,
            _ => 2,
        };
        let reached = state.address_mode[..axes].contains(&BORDER);
        // Where A-54 pins the colour, a breach of B-51 has no cure; the colour is all zero bits, which no kind and no
        // swizzle changes.
        let judged = valid_border(state.border_color) && !border_pinned(state);
        if judged && (reached || policy.strict_border) {
            let (int, kind) = (int_border(state.border_color), numeric(view));
            self.check("B-50", VALIDATION, int && kind == Numeric::Float);
            self.check("B-51", VALIDATION, !int && matches!(kind, Numeric::Uint | Numeric::Sint));
        }
        // A view whose numeric kind is not known is innocent of the rest.
        if judged && reached && numeric(view) != Numeric::Unknown {
            self.border_swizzle(state, view, caps);
            self.border_format(state, view);
        }
        // This statement has an id, and it does not ask whether the border is ever seen.
        let packed = [
            vk::Format::B4G4R4A4_UNORM_PACK16,
            vk::Format::B5G6R5_UNORM_PACK16,
            vk::Format::A1B5G5R5_UNORM_PACK16_KHR,
            vk::Format::B5G5R5A1_UNORM_PACK16,
        ];
        let formatless = state.custom_border.is_some_and(|border| border.format == vk::Format::UNDEFINED);
        self.check(
            "B-56",
            "VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015",
            custom(state) && formatless && packed.contains(&view.format),
        );
        self.check("B-64", "VUID-vkCmdDraw-flags-02696", view.corner_sampled && state.address_mode != [EDGE; 3]);
    }

    /// Border colours that a component mapping changes.
    ///
    /// B-54 and B-55 are written without regard to the colour, and are read so here, although transparent black and
    /// white look the same however they are swizzled.
    fn border_swizzle(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps) {
        let of_view = form_of_identity(view.components);
        let swizzled = of_view != [vk::ComponentSwizzle::IDENTITY; 4];
        let untold = swizzled && !caps.border_color_swizzle_from_image && state.border_mapping.is_none();
        let black = [vk::BorderColor::FLOAT_OPAQUE_BLACK, vk::BorderColor::INT_OPAQUE_BLACK];
        self.check("B-52", VALIDATION, untold && black.contains(&state.border_color));
        self.check("B-53", VALIDATION, untold && custom(state));
        if let Some(mapping) = state.border_mapping {
            self.check("B-54", VALIDATION, form_of_identity(mapping.components) != of_view);
            self.check("B-55", VALIDATION, mapping.srgb != format!("{:?}", view.format).contains("SRGB"));
        }
    }

    /// A custom colour and the view's format.
    fn border_format(&mut self, state: &SamplerState, view: &ViewTraits) {
        let Some(border) = state.custom_border.filter(|_| custom(state)) else { return };
        let formatless = border.format == vk::Format::UNDEFINED;
        self.check("B-57", VALIDATION, !formatless && border.format != view.format);
        // Image Operations > Border Replacement: without a format an implementation may take a stencil value from G, so
        // either has to be one. That the two may differ is not forbidden; which is read depends on the implementation.
        let int = int_border(state.border_color);
        let fits = representable(border.color, int, formats::facts(view.format));
        let second = int && formatless && view.aspect == Aspect::Stencil && border.color[1] > 0xff;
        self.check("B-58", VALIDATION, !fits || second);
    }

    /// Rules that only another view could satisfy.
    pub(crate) fn view_only(&mut self, state: &SamplerState, view: &ViewTraits, dynamic: bool) {
        let unnormalized = state.unnormalized_coordinates;
        let flat = [vk::ImageViewType::TYPE_1D, vk::ImageViewType::TYPE_2D].contains(&view.view_type);
        self.check("B-40", "VUID-vkCmdDraw-None-08609", unnormalized && !flat);
        let single = view.single_level && view.single_layer;
        self.check("B-41", "VUID-vkCmdDraw-unnormalizedCoordinates-09635", unnormalized && !single);
        // Both directions are in the list. That the sampler is immutable is what VK_EXT_fragment_density_map builds on:
        // VUID-VkPipelineLayoutCreateInfo-pImmutableSamplers-03566 counts such samplers among the immutable ones only.
        let subsampled = state.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
        self.check("B-78", VALIDATION, subsampled != view.subsampled || (subsampled && dynamic));
    }
}

/// Resources > Image Views, identity mappings: every component that names itself replaced by `IDENTITY`.
fn form_of_identity(components: [vk::ComponentSwizzle; 4]) -> [vk::ComponentSwizzle; 4] {
    use vk::ComponentSwizzle as C;
    let mut out = components;
    for (component, own) in out.iter_mut().zip([C::R, C::G, C::B, C::A]) {
        if *component == own {
            *component = C::IDENTITY;
        }
    }
    out
}
