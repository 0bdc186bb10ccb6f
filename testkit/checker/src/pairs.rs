//! Rules of action commands and descriptors.

use crate::Judge;
use crate::formats::Numeric;
use crate::words::*;
use ash::vk;
use samplin_core::decide::{Aspect, DeviceCaps, Divide, Policy, Reads, SamplerState, ViewTraits};

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
        if !has(view, F::SAMPLED_IMAGE) {
            return;
        }
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

    /// Comparison against the instructions that read the view, and against the view.
    pub(crate) fn comparison(&mut self, state: &SamplerState, view: &ViewTraits, policy: &Policy) {
        let compares = state.compare_enable;
        let stencil = view.aspect == Aspect::Stencil;
        let bit = has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON);
        let unfit = view.aspect == Aspect::Color && !bit;
        // "The SPIR-V instruction is not one of the OpImage*Dref* instructions and the sampler compareEnable is VK_TRUE". The statement
        // asks nothing of the view; "comparable is left" is the departure that the crate's documentation lists.
        let plain = view.reads == Reads::Plain;
        let left = !stencil && !unfit;
        self.check("B-30", VALIDATION, compares && plain && !left);
        // Instructions that compare need compareEnable, so that giving it up mends nothing: of a stencil aspect they are poison ("the
        // image view aspect is not VK_IMAGE_ASPECT_DEPTH_BIT"), and of others they need the bit.
        self.check("B-33", VALIDATION, compares && !plain && stencil);
        // A depth format may lack the bit as well; that is wrong where an instruction compares.
        let unfit = unfit || view.aspect == Aspect::Depth && !bit && view.reads == Reads::Compared;
        // A shader that samples the value as it lies in the image can compare it: the first component, with one of the eight operators, and
        // with texels that are not Vulkan's own business otherwise. "Depth Compare Operation" defines that of depth/stencil formats only,
        // where the value is "D"; that colours are compared alike is a departure that the crate's documentation lists.
        let r_is_identity = [vk::ComponentSwizzle::IDENTITY, vk::ComponentSwizzle::R].contains(&view.components[0]);
        let shader = policy.compares
            && view.reads == Reads::Compared
            && numeric(view) == Numeric::Float
            && r_is_identity
            && has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE)
            && !(view.corner_sampled || view.subsampled)
            && state.flags.is_empty()
            && state.compare_op.as_raw() as u32 <= 7;
        self.check("B-31", "VUID-vkCmdDraw-None-06479", compares && unfit && !stencil && shader);
        self.check("B-35", "VUID-vkCmdDraw-None-06479", compares && !plain && unfit && !shader);
    }

    /// Rules that only another view could satisfy.
    pub(crate) fn view_only(&mut self, state: &SamplerState, view: &ViewTraits, dynamic: bool) {
        let sampled = has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE);
        self.check("B-66", "VUID-VkImageViewCreateInfo-usage-02274", !sampled);
        // "is used to sample": of a descriptor by itself nobody knows that.
        let unnormalized = state.unnormalized_coordinates && view.reads != Reads::Unknown;
        let flat = [vk::ImageViewType::TYPE_1D, vk::ImageViewType::TYPE_2D].contains(&view.view_type);
        self.check("B-40", "VUID-vkCmdDraw-None-08609", unnormalized && !flat);
        let single = view.single_level && view.single_layer;
        self.check("B-41", "VUID-vkCmdDraw-unnormalizedCoordinates-09635", unnormalized && !single);
        // What instructions exclude. The ids speak of `OpImageSample*`; that "the functions must: not use offsets" holds of gathers too,
        // by "limitations of unnormalized coordinates".
        let by = |divide: Divide| state.unnormalized_coordinates && view.divide == divide;
        self.check("S-5", "VUID-vkCmdDraw-None-08610", by(Divide::Lookup));
        self.check("S-5", "VUID-vkCmdDraw-None-08611", by(Divide::Offset));
        self.check("S-5", VALIDATION, by(Divide::Gather));
        // Both directions are in the list. That the sampler is immutable is said under VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT (Resource
        // Creation > VkImageCreateFlagBits): values read through any other one are undefined.
        let subsampled = state.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
        self.check("B-78", VALIDATION, subsampled != view.subsampled || (subsampled && dynamic));
    }
}
