//! A second opinion on legality, written from the Vulkan specification and not from the code under test.
//!
//! [`violations`] names every rule that a sampler, alone or with a view, breaks. It repairs nothing, knows no order of
//! steps and shares no helper with `samplin_core::decide`; what it needs to know of a format it reads off the format's
//! name ([`formats`]), so that neither side can hide a slip of the other. Each condition stands beside the valid-usage id
//! or the chapter and heading that it was read from; [`citations`] gives them, and a property holds them against those
//! that the layer gives. The short ids (A-1, B-50) are only names, by which results can be compared.
//!
//! A statement is evaluated as it reads, on the members that it names. What the statements leave open is read so:
//!
//! * *Unknown is innocent.* Format features that are not known count as present, a format that is not in the table of
//!   names has no numeric class, a block-match limit of zero is no limit.
//! * *NaN breaks every comparison*, so a NaN bias breaks A-2, a NaN LOD A-4, a NaN anisotropy A-6.
//! * *Poison is of the border's texels.* Statements under Image Operations > Instruction/Format/Sampler/Image View
//!   Validation that speak of a border colour are evaluated where an address mode reaches the border; those about its
//!   kind also elsewhere with `border=strict`. Statements with a valid-usage id hold wherever they say.

pub(crate) mod draw;
pub(crate) mod formats;
pub(crate) mod replay;

use self::formats::{Facts, Numeric};
use ash::vk;
use samplin_core::decide::{
    Aspect, BlitSource, BorderMapping, ConversionState, CustomBorder, DeviceCaps, Policy, SamplerState, ViewTraits,
    YcbcrConversion,
};
use std::collections::BTreeSet;

/// Rows that no other sampler can mend: another view or shader could (reject class `fix-view`).
pub(crate) const VIEW_ONLY: [&str; 3] = ["B-40", "B-41", "B-78"];

/// Whether the sampler's descriptor data was captured and may be replayed, which ties it to its exact state.
///
/// Descriptor Sets > Capture and Replay of descriptor data: it is made again from the same state or not at all, so no rule
/// but [`VIEW_ONLY`] applies.
pub(crate) fn replays(state: &SamplerState, caps: &DeviceCaps) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
        && caps.descriptor_buffer_capture_replay
}

/// What a judgement is made of: the broken rules in the order of evaluation, each once, and on request every citation.
#[derive(Default)]
struct Judge {
    broken: Vec<&'static str>,
    cited: Option<BTreeSet<(&'static str, &'static str)>>,
}

impl Judge {
    /// One condition: the rule's short name, where the specification states it, and whether the statement is broken.
    fn check(&mut self, id: &'static str, source: &'static str, illegal: bool) {
        if let Some(cited) = &mut self.cited {
            cited.insert((id, source));
        }
        if illegal && !self.broken.contains(&id) {
            self.broken.push(id);
        }
    }

    fn pair(
        &mut self,
        state: &SamplerState,
        view: Option<&ViewTraits>,
        dynamic: bool,
        caps: &DeviceCaps,
        policy: &Policy,
    ) {
        let exempt = state.ycbcr.is_some() || view.is_some_and(|view| view.ycbcr);
        if !replays(state, caps) {
            self.section_a(state, caps);
            self.sampler_only_of_section_b(state, dynamic && !exempt, caps);
            if let Some(view) = view
                && !exempt
            {
                self.filtering(state, view, caps);
                self.comparison(state, view);
                self.borders(state, view, caps, policy);
            }
        }
        if let Some(view) = view
            && !exempt
        {
            self.view_only(state, view, dynamic);
        }
    }
}

/// Names of the rules that the sampler breaks, each once.
///
/// With a view, the rules about pairs are judged too; `dynamic` tells whether the pair is a dynamic combined image
/// sampler. Pairs with a Y′CbCr conversion on either side are exempt from them: the sampler is immutable and both sides
/// carry the same conversion (VUID-VkWriteDescriptorSet-descriptorType-02738), so there is no pair to mend.
pub(crate) fn violations(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    dynamic: bool,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Vec<&'static str> {
    let mut judge = Judge::default();
    judge.pair(state, view, dynamic, caps, policy);
    judge.broken
}

/// Where each condition about samplers was read: pairs of a rule's name and a valid-usage id or a chapter and heading.
pub(crate) fn citations() -> BTreeSet<(&'static str, &'static str)> {
    let mut judge = Judge { cited: Some(BTreeSet::new()), ..Judge::default() };
    // A state that holds every structure, so that no condition is skipped for want of one.
    let conversion =
        YcbcrConversion { handle: 0, chroma_filter: NEAREST, separate_reconstruction: true, fingerprint: 0 };
    let custom = CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED };
    let bordered = SamplerState {
        address_mode: [BORDER; 3],
        border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
        custom_border: Some(custom),
        ..SamplerState::default()
    };
    let mapping = BorderMapping { components: [vk::ComponentSwizzle::IDENTITY; 4], srgb: false };
    let view = ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::empty());
    for state in [
        bordered,
        SamplerState { border_mapping: Some(mapping), ..bordered },
        SamplerState { ycbcr: Some(conversion), ..SamplerState::default() },
    ] {
        judge.pair(&state, Some(&view), true, &DeviceCaps::default(), &Policy::default());
    }
    judge.cited.unwrap_or_default()
}

/// The list of [`violations`] without the rows that no sampler can mend.
pub(crate) fn fixable(broken: &[&'static str]) -> Vec<&'static str> {
    broken.iter().copied().filter(|id| !VIEW_ONLY.contains(id)).collect()
}

// --- helpers named after the words of the statements ---------------------------------------------------------------

const NEAREST: vk::Filter = vk::Filter::NEAREST;
const LINEAR: vk::Filter = vk::Filter::LINEAR;
const CUBIC: vk::Filter = vk::Filter::CUBIC_EXT;
const MIP_LINEAR: vk::SamplerMipmapMode = vk::SamplerMipmapMode::LINEAR;
const MIP_NEAREST: vk::SamplerMipmapMode = vk::SamplerMipmapMode::NEAREST;
const EDGE: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_EDGE;
const BORDER: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_BORDER;

/// `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT`, which the layer's own extension takes and no driver understands (S-4).
const GL_MODES: [i32; 2] = [0x2900, 0x8742];

/// `magFilter` or `minFilter` is `filter`.
fn either(state: &SamplerState, filter: vk::Filter) -> bool {
    [state.mag_filter, state.min_filter].contains(&filter)
}

/// `VkSamplerReductionModeCreateInfo::reductionMode`; absent means `WEIGHTED_AVERAGE`.
fn reduction(state: &SamplerState) -> vk::SamplerReductionMode {
    state.reduction_mode.unwrap_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE)
}

fn min_or_max(state: &SamplerState) -> bool {
    [vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX].contains(&reduction(state))
}

fn range_clamp(state: &SamplerState) -> bool {
    reduction(state) == vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM
}

fn custom(state: &SamplerState) -> bool {
    [vk::BorderColor::FLOAT_CUSTOM_EXT, vk::BorderColor::INT_CUSTOM_EXT].contains(&state.border_color)
}

fn valid_border(color: vk::BorderColor) -> bool {
    [
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        vk::BorderColor::INT_TRANSPARENT_BLACK,
        vk::BorderColor::FLOAT_OPAQUE_BLACK,
        vk::BorderColor::INT_OPAQUE_BLACK,
        vk::BorderColor::FLOAT_OPAQUE_WHITE,
        vk::BorderColor::INT_OPAQUE_WHITE,
        vk::BorderColor::FLOAT_CUSTOM_EXT,
        vk::BorderColor::INT_CUSTOM_EXT,
    ]
    .contains(&color)
}

fn int_border(color: vk::BorderColor) -> bool {
    [
        vk::BorderColor::INT_TRANSPARENT_BLACK,
        vk::BorderColor::INT_OPAQUE_BLACK,
        vk::BorderColor::INT_OPAQUE_WHITE,
        vk::BorderColor::INT_CUSTOM_EXT,
    ]
    .contains(&color)
}

/// U and V are each `CLAMP_TO_EDGE` or `CLAMP_TO_BORDER`.
fn uv_clamp(state: &SamplerState) -> bool {
    state.address_mode[..2].iter().all(|mode| [EDGE, BORDER].contains(mode))
}

/// Both LODs are zero (−0 is zero).
fn lods_zero(state: &SamplerState) -> bool {
    state.min_lod == 0.0 && state.max_lod == 0.0
}

/// The view's features are unknown or hold the bit.
fn has(view: &ViewTraits, bit: vk::FormatFeatureFlags2) -> bool {
    view.features.is_none_or(|features| features.contains(bit))
}

/// Numeric kind of what the view returns: the aspect decides for depth and stencil, the format's name for colour.
fn numeric(view: &ViewTraits) -> Numeric {
    match view.aspect {
        Aspect::Depth => Numeric::Float,
        Aspect::Stencil => Numeric::Uint,
        Aspect::Color => formats::facts(view.format).numeric,
    }
}

/// Heading of the list of cases in which a texel is poison.
const VALIDATION: &str = "Image Operations > Instruction/Format/Sampler/Image View Validation";

// --- rules of vkCreateSampler --------------------------------------------------------------------------------------

impl Judge {
    /// Valid usage of `VkSamplerCreateInfo` and of what can be chained to it.
    fn section_a(&mut self, s: &SamplerState, caps: &DeviceCaps) {
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
fn border_pinned(state: &SamplerState) -> bool {
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
pub(crate) fn representable(color: [u32; 4], int: bool, facts: &Facts) -> bool {
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

// --- rules of action commands and descriptors ----------------------------------------------------------------------

impl Judge {
    /// Those that the sampler breaks whatever the view.
    fn sampler_only_of_section_b(&mut self, state: &SamplerState, dynamic: bool, caps: &DeviceCaps) {
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
    fn filtering(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps) {
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
    fn comparison(&mut self, state: &SamplerState, view: &ViewTraits) {
        let compares = state.compare_enable;
        // A plain instruction with comparison on is poison, and so is a comparing one on a stencil aspect.
        self.check("B-33", VALIDATION, compares && view.aspect == Aspect::Stencil);
        // A plain instruction is poison, and a comparing one needs the bit (VUID-vkCmdDraw-None-06479).
        let bit = has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON);
        self.check("B-35", VALIDATION, compares && view.aspect == Aspect::Color && !bit);
    }

    /// Border colours, and the address modes of corner-sampled images.
    fn borders(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, policy: &Policy) {
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
    fn view_only(&mut self, state: &SamplerState, view: &ViewTraits, dynamic: bool) {
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

// --- section C and conversions -------------------------------------------------------------------------------------

/// Rules of `vkCmdBlitImage` that a blit with `filter` from `source` breaks.
pub(crate) fn blit_violations(filter: vk::Filter, source: &BlitSource) -> Vec<&'static str> {
    use vk::FormatFeatureFlags2 as F;
    let facts = formats::facts(source.format);
    let has = |bit| source.features.is_none_or(|features| features.contains(bit));
    let integer = matches!(facts.numeric, Numeric::Uint | Numeric::Sint) && !facts.depth && !facts.stencil;
    let mut broken = Vec::new();
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    let linear_bit = has(F::SAMPLED_IMAGE_FILTER_LINEAR);
    // VUID-vkCmdBlitImage-filter-02001
    check("C-1", filter == LINEAR && !linear_bit);
    // VUID-vkCmdBlitImage-filter-02002
    check("C-2", filter == CUBIC && !has(F::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
    // VUID-vkCmdBlitImage-filter-00237
    check("C-3", filter == CUBIC && source.image_type != vk::ImageType::TYPE_2D);
    // VUID-vkCmdBlitImage-srcImage-00232
    check("C-4", filter != NEAREST && (facts.depth || facts.stencil));
    // VUID-vkCmdBlitImage-filter-02001 again, told apart because nothing is lost.
    check("C-10", integer && filter == LINEAR && !linear_bit);
    broken
}

/// Rules that a conversion breaks. With neither chroma-location bit no location is legal
/// (VUID-VkSamplerYcbcrConversionCreateInfo-format-01650), so A-44 has no cure and is not reported.
pub(crate) fn conversion_violations(
    state: &ConversionState,
    features: Option<vk::FormatFeatureFlags2>,
    subsampled: [bool; 2],
) -> Vec<&'static str> {
    use vk::FormatFeatureFlags2 as F;
    let Some(features) = features else { return Vec::new() };
    let mut broken = Vec::new();
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    // VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657
    check("A-43", state.chroma_filter == LINEAR && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER));
    let (cosited, midpoint) =
        (features.contains(F::COSITED_CHROMA_SAMPLES), features.contains(F::MIDPOINT_CHROMA_SAMPLES));
    let misplaced = [(state.x_chroma_offset, subsampled[0]), (state.y_chroma_offset, subsampled[1])].into_iter().any(
        |(location, downsampled)| {
            downsampled
                && ((location == vk::ChromaLocation::COSITED_EVEN && !cosited && midpoint)
                    || (location == vk::ChromaLocation::MIDPOINT && !midpoint && cosited))
        },
    );
    // VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651 and -01652
    check("A-44", misplaced);
    // VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656
    check(
        "A-45",
        state.force_explicit_reconstruction
            && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE),
    );
    broken
}
