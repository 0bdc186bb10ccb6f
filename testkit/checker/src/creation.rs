//! Rules of `vkCreateSampler`.

use crate::Judge;
use crate::formats::{self, Facts, Numeric};
use crate::words::*;
use ash::vk;
use samplin_core::decide::{DeviceCaps, Policy, SamplerState};

impl Judge {
    /// "vendor implementations of anisotropic filtering interpret these sampler state in different ways, particularly in corner cases such
    /// as magFilter, minFilter of VK_FILTER_NEAREST": a note, which a setting makes a rule of where both are.
    pub(crate) fn anisotropy_without_linear(&mut self, s: &SamplerState, policy: &Policy) {
        let anisotropic = s.anisotropy_enable && policy.flat_nearest;
        let nearest = [s.mag_filter, s.min_filter] == [NEAREST; 2];
        self.check("S-6", "Image Operations > Texel Anisotropic Filtering", anisotropic && nearest);
    }

    /// Valid usage of `VkSamplerCreateInfo` and of what can be chained to it.
    pub(crate) fn section_a(&mut self, s: &SamplerState, caps: &DeviceCaps) {
        // Filters, LOD, anisotropy
        let cubic_enabled = caps.filter_cubic_img || caps.filter_cubic_ext;
        let valid_filter = |filter| filter == NEAREST || filter == LINEAR || (filter == CUBIC && cubic_enabled);
        self.check("A-1", "VUID-VkSamplerCreateInfo-magFilter-parameter", !valid_filter(s.mag_filter));
        self.check("A-1", "VUID-VkSamplerCreateInfo-minFilter-parameter", !valid_filter(s.min_filter));
        let valid_mip = [MIP_NEAREST, MIP_LINEAR].contains(&s.mipmap_mode);
        self.check("A-1", "VUID-VkSamplerCreateInfo-mipmapMode-parameter", !valid_mip);
        let bias_within = s.mip_lod_bias.abs() <= caps.max_sampler_lod_bias;
        self.check("A-2", "VUID-VkSamplerCreateInfo-mipLodBias-01069", !bias_within);
        let bias_off = !caps.sampler_mip_lod_bias;
        self.check("A-3", "VUID-VkSamplerCreateInfo-samplerMipLodBias-04467", bias_off && s.mip_lod_bias != 0.0);
        let ordered = s.max_lod >= s.min_lod;
        self.check("A-4", "VUID-VkSamplerCreateInfo-maxLod-01973", !ordered);
        let anisotropic = s.anisotropy_enable;
        self.check("A-5", "VUID-VkSamplerCreateInfo-anisotropyEnable-01070", anisotropic && !caps.sampler_anisotropy);
        let degree_within = (1.0..=caps.max_sampler_anisotropy).contains(&s.max_anisotropy);
        self.check("A-6", "VUID-VkSamplerCreateInfo-anisotropyEnable-01071", anisotropic && !degree_within);
        self.check("A-7", "VUID-VkSamplerCreateInfo-magFilter-01081", anisotropic && either(s, CUBIC));

        // Unnormalized coordinates. With a conversion A-41 forbids the coordinates themselves.
        let unnormalized = s.unnormalized_coordinates;
        let filters_differ = s.min_filter != s.mag_filter;
        self.check("A-10", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072", unnormalized && filters_differ);
        let mips = s.mipmap_mode != MIP_NEAREST;
        self.check("A-11", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073", unnormalized && mips);
        self.check("A-12", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074", unnormalized && !lods_zero(s));
        self.check("A-13", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075", unnormalized && !uv_clamp(s));
        self.check("A-14", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076", unnormalized && anisotropic);
        self.check("A-15", "VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077", unnormalized && s.compare_enable);

        // Address modes and predefined border colours
        let gl = |mode: &vk::SamplerAddressMode| caps.gl_address_modes && GL_MODES.contains(&mode.as_raw());
        for (mode, source) in s.address_mode.iter().zip([
            "VUID-VkSamplerCreateInfo-addressModeU-parameter",
            "VUID-VkSamplerCreateInfo-addressModeV-parameter",
            "VUID-VkSamplerCreateInfo-addressModeW-parameter",
        ]) {
            self.check("A-20", source, !(0..=4).contains(&mode.as_raw()) && !gl(mode));
        }
        self.check("S-4", "VK_SAMPLIN_gl_address_modes", s.address_mode.iter().any(gl));
        let mirrors = s.address_mode.contains(&vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE);
        self.check(
            "A-21",
            "VUID-VkSamplerCreateInfo-addressModeU-01079",
            mirrors && !caps.sampler_mirror_clamp_to_edge,
        );
        let bordered = s.address_mode.contains(&BORDER);
        self.check("A-22", "VUID-VkSamplerCreateInfo-addressModeU-01078", bordered && !valid_border(s.border_color));

        // Comparison and reduction
        let averages = reduction(s) == vk::SamplerReductionMode::WEIGHTED_AVERAGE;
        let valid_op = (0..=7).contains(&s.compare_op.as_raw());
        self.check("A-25", "VUID-VkSamplerCreateInfo-compareEnable-01080", s.compare_enable && !valid_op);
        self.check("A-26", "VUID-VkSamplerCreateInfo-compareEnable-01423", s.compare_enable && !averages);
        self.check("A-27", "VUID-VkSamplerCreateInfo-pNext-06726", !averages && !caps.sampler_filter_minmax);
        let img_cubic = either(s, CUBIC) && !caps.filter_cubic_ext;
        self.check("A-28", "VUID-VkSamplerCreateInfo-magFilter-07911", !averages && img_cubic);

        // Custom border colour and swizzle
        let unsupported = custom(s) && !caps.custom_border_colors;
        self.check("A-30", "VUID-VkSamplerCreateInfo-customBorderColors-04085", unsupported);
        self.check("A-31", "VUID-VkSamplerCreateInfo-borderColor-04011", custom(s) && s.custom_border.is_none());
        if let Some(border) = s.custom_border
            && custom(s)
        {
            let int = int_border(s.border_color);
            let facts = formats::facts(border.format);
            let formatless = border.format == vk::Format::UNDEFINED;
            self.check(
                "A-32",
                "VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014",
                formatless && !caps.custom_border_color_without_format,
            );
            let mismatch = match facts.numeric {
                Numeric::Float => int,
                Numeric::Uint | Numeric::Sint => !int,
                Numeric::Unknown => false,
            };
            self.check(
                "A-33",
                "VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605",
                mismatch && !facts.depth && !facts.stencil,
            );
            self.check("A-34", "VUID-VkSamplerCreateInfo-borderColor-04442", !representable(border.color, int, facts));
        }
        self.check(
            "A-36",
            "VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437",
            s.border_mapping.is_some() && !caps.border_color_swizzle,
        );

        // Y′CbCr. A chroma filter that A-1 rejects cannot be copied to the sampler.
        if let Some(conversion) = s.ycbcr {
            let chroma = conversion.chroma_filter;
            self.check(
                "A-40",
                "VUID-VkSamplerCreateInfo-minFilter-01645",
                !conversion.separate_reconstruction
                    && valid_filter(chroma)
                    && (s.min_filter != chroma || s.mag_filter != chroma),
            );
            self.check(
                "A-41",
                "VUID-VkSamplerCreateInfo-addressModeU-01646",
                s.address_mode != [EDGE; 3] || anisotropic || unnormalized,
            );
            self.check("A-42", "VUID-VkSamplerCreateInfo-None-01647", !averages);
        }

        // Flags and vendors' structures
        use vk::SamplerCreateFlags as F;
        let per_face = s.flags.contains(F::NON_SEAMLESS_CUBE_MAP_EXT);
        self.check(
            "A-52",
            "VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788",
            per_face && !caps.non_seamless_cube_map,
        );
        let subsampled = s.flags.contains(F::SUBSAMPLED_EXT);
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02574", subsampled && filters_differ);
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02575", subsampled && mips);
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02576", subsampled && !lods_zero(s));
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02577", subsampled && !uv_clamp(s));
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02578", subsampled && anisotropic);
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02579", subsampled && s.compare_enable);
        self.check("A-53", "VUID-VkSamplerCreateInfo-flags-02580", subsampled && unnormalized);
        let processing = s.flags.contains(F::IMAGE_PROCESSING_QCOM);
        let smooth = s.min_filter != NEAREST || s.mag_filter != NEAREST;
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06964", processing && smooth);
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06965", processing && mips);
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06966", processing && !lods_zero(s));
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06967", processing && !uv_clamp(s));
        self.check(
            "A-54",
            "VUID-VkSamplerCreateInfo-flags-06968",
            border_pinned(s) && s.border_color != vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        );
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06969", processing && anisotropic);
        self.check("A-54", "VUID-VkSamplerCreateInfo-flags-06970", processing && s.compare_enable);
        let limit = caps.max_block_match_window;
        self.check(
            "A-55",
            "VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210",
            limit != [0; 2]
                && s.block_match.is_some_and(|window| window.extent[0] > limit[0] || window.extent[1] > limit[1]),
        );
        let capture_flag = s.flags.contains(F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        self.check(
            "A-56",
            "VUID-VkSamplerCreateInfo-flags-08110",
            capture_flag && !caps.descriptor_buffer_capture_replay,
        );
        self.check("A-57", "VUID-VkSamplerCreateInfo-pNext-08111", s.opaque_capture && !capture_flag);
        self.check(
            "A-59",
            "VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter",
            s.cubic_weights.is_some_and(|weights| !(0..=3).contains(&weights)),
        );
        self.check(
            "A-59",
            "VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter",
            s.reduction_mode.is_some_and(|mode| !(0..=2).contains(&mode.as_raw()) && !range_clamp(s)),
        );
    }
}

/// VUID-VkSamplerCreateInfo-flags-06968: the border colour of an image-processing sampler whose U or V clamps to it.
pub(crate) fn border_pinned(state: &SamplerState) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM) && state.address_mode[..2].contains(&BORDER)
}

/// Whether one word of a border colour is a value that a component of this many bits can hold.
fn holds(word: u32, bits: u32, facts: &Facts) -> bool {
    match facts.numeric {
        Numeric::Uint => u64::from(word) < 1 << bits.min(32),
        Numeric::Sint => {
            let half = 1_i64 << (bits.min(32) - 1);
            (-half..half).contains(&i64::from(word as i32))
        }
        _ => {
            let value = f32::from_bits(word);
            facts
                .range
                .is_none_or(|(low, high)| (low <= value && value <= high) || (value.is_nan() && high.is_infinite()))
        }
    }
}

/// VUID-VkSamplerCreateInfo-borderColor-04442: every component that replaces one of the format's can hold its value.
///
/// Which ones do is said by the table under Image Operations > Border Replacement: R alone for a depth and for a stencil
/// aspect, else those that the format has. Judged only where the kind of the colour fits the format (else A-33 is
/// broken), and where a depth/stencil format has the aspect that the kind names: FLOAT asks for depth, INT for stencil
/// (Samplers > Custom Border Colors).
pub fn representable(color: [u32; 4], int: bool, facts: &Facts) -> bool {
    if int && facts.stencil {
        return color[0] <= 0xff;
    }
    let judged = match facts.numeric {
        Numeric::Unknown => false,
        Numeric::Float => !int && (facts.depth || !facts.stencil),
        Numeric::Uint | Numeric::Sint => int,
    };
    !judged || color.iter().zip(facts.bits).all(|(word, bits)| bits.is_none_or(|bits| holds(*word, bits, facts)))
}
