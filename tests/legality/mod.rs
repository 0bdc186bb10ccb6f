//! A second opinion on legality, written from the catalogue of sampling rules and not from the code under test.
//!
//! [`violations`] names every catalogue row that a sampler, alone or with a view, breaks. It repairs nothing, knows no
//! order of steps and shares no helper with `samplin_core::decide`; what it needs to know of a format it reads off
//! the format's name ([`formats`]), so that neither side can hide a slip of the other.
//!
//! A row is evaluated as its valid-usage statement reads, on the members that the statement names. Three readings that
//! the statements leave open are fixed here, because both sides must agree on them:
//!
//! * *Unknown is innocent.* Format features that are not known count as present, a format that is not in the table of
//!   names has no numeric class, a block-match limit of zero is no limit.
//! * *NaN breaks every comparison*, so a NaN bias breaks A-2, a NaN LOD A-4, a NaN anisotropy A-6.
//! * *Range clamp averages.* `WEIGHTED_AVERAGE_RANGECLAMP_QCOM` is an average to B-1 and B-2: the statements name
//!   `WEIGHTED_AVERAGE` alone, but the LINEAR format feature they refer to is asked of every LINEAR filter.

pub(crate) mod draw;
pub(crate) mod formats;
pub(crate) mod replay;

use self::formats::{Facts, Numeric};
use ash::vk;
use samplin_core::decide::{Aspect, BlitSource, ConversionState, DeviceCaps, Policy, SamplerState, ViewTraits};

/// Rows that no other sampler can mend: another view or shader could (reject class `fix-view`).
pub(crate) const VIEW_ONLY: [&str; 3] = ["B-40", "B-41", "B-78"];

/// Whether the sampler's descriptor data was captured and may be replayed, which ties it to its exact state.
///
/// Section A.7 of the catalogue: created bit-exact or not at all, so no row but [`VIEW_ONLY`] applies.
pub(crate) fn replays(state: &SamplerState, caps: &DeviceCaps) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
        && caps.descriptor_buffer_capture_replay
}

/// Catalogue ids of the rows that the sampler breaks, in catalogue order, each once.
///
/// With a view, section B is judged too; `dynamic` tells whether the pair is a dynamic combined image sampler. Pairs
/// with a Y′CbCr conversion on either side are exempt from section B (its policy note: the sampler is immutable, and
/// both sides carry the same conversion).
pub(crate) fn violations(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    dynamic: bool,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Vec<&'static str> {
    let mut broken = Vec::new();
    let exempt = state.ycbcr.is_some() || view.is_some_and(|view| view.ycbcr);
    if !replays(state, caps) {
        section_a(state, caps, &mut broken);
        sampler_only_of_section_b(state, dynamic && !exempt, caps, &mut broken);
        if let Some(view) = view
            && !exempt
        {
            filtering(state, view, caps, &mut broken);
            comparison(state, view, &mut broken);
            borders(state, view, caps, policy, &mut broken);
        }
    }
    if let Some(view) = view
        && !exempt
    {
        view_only(state, view, dynamic, &mut broken);
    }
    broken
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

// --- section A -----------------------------------------------------------------------------------------------------

/// Rules of `vkCreateSampler` alone.
fn section_a(state: &SamplerState, caps: &DeviceCaps, broken: &mut Vec<&'static str>) {
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    let s = state;

    // A.1 filters, LOD, anisotropy
    let cubic_enabled = caps.filter_cubic_img || caps.filter_cubic_ext;
    let valid_filter = |filter| filter == NEAREST || filter == LINEAR || (filter == CUBIC && cubic_enabled);
    check(
        "A-1",
        !valid_filter(s.mag_filter)
            || !valid_filter(s.min_filter)
            || ![MIP_NEAREST, MIP_LINEAR].contains(&s.mipmap_mode),
    );
    let bias_within = s.mip_lod_bias.abs() <= caps.max_sampler_lod_bias;
    check("A-2", !bias_within);
    check("A-3", !caps.sampler_mip_lod_bias && s.mip_lod_bias != 0.0);
    let ordered = s.max_lod >= s.min_lod;
    check("A-4", !ordered);
    check("A-5", s.anisotropy_enable && !caps.sampler_anisotropy);
    let anisotropy_within = (1.0..=caps.max_sampler_anisotropy).contains(&s.max_anisotropy);
    check("A-6", s.anisotropy_enable && !anisotropy_within);
    check("A-7", s.anisotropy_enable && either(s, CUBIC));

    // A.2 unnormalized coordinates. With a conversion A-41 forbids the coordinates themselves.
    let unnormalized = s.unnormalized_coordinates;
    check("A-10", unnormalized && s.min_filter != s.mag_filter);
    check("A-11", unnormalized && s.mipmap_mode != MIP_NEAREST);
    check("A-12", unnormalized && !lods_zero(s));
    check("A-13", unnormalized && !uv_clamp(s));
    check("A-14", unnormalized && s.anisotropy_enable);
    check("A-15", unnormalized && s.compare_enable);

    // A.3 address modes and predefined border colours
    let gl = |mode: &vk::SamplerAddressMode| caps.gl_address_modes && GL_MODES.contains(&mode.as_raw());
    check("A-20", s.address_mode.iter().any(|mode| !(0..=4).contains(&mode.as_raw()) && !gl(mode)));
    check("S-4", s.address_mode.iter().any(gl));
    check(
        "A-21",
        s.address_mode.contains(&vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE) && !caps.sampler_mirror_clamp_to_edge,
    );
    check("A-22", s.address_mode.contains(&BORDER) && !valid_border(s.border_color));

    // A.4 comparison and reduction
    let averages = reduction(s) == vk::SamplerReductionMode::WEIGHTED_AVERAGE;
    check("A-25", s.compare_enable && !(0..=7).contains(&s.compare_op.as_raw()));
    check("A-26", s.compare_enable && !averages);
    check("A-27", !averages && !caps.sampler_filter_minmax);
    check("A-28", !averages && either(s, CUBIC) && !caps.filter_cubic_ext);

    // A.5 custom border colour and swizzle
    check("A-30", custom(s) && !caps.custom_border_colors);
    check("A-31", custom(s) && s.custom_border.is_none());
    if let Some(border) = s.custom_border
        && custom(s)
    {
        let int = int_border(s.border_color);
        let facts = formats::facts(border.format);
        check("A-32", border.format == vk::Format::UNDEFINED && !caps.custom_border_color_without_format);
        let mismatch = match facts.numeric {
            Numeric::Float => int,
            Numeric::Uint | Numeric::Sint => !int,
            Numeric::Unknown => false,
        };
        check("A-33", mismatch && !facts.depth && !facts.stencil);
        check("A-34", !representable(border.color, int, facts));
    }
    check("A-36", s.border_mapping.is_some() && !caps.border_color_swizzle);

    // A.6 Y′CbCr. A chroma filter that A-1 rejects cannot be copied to the sampler.
    if let Some(conversion) = s.ycbcr {
        let chroma = conversion.chroma_filter;
        check(
            "A-40",
            !conversion.separate_reconstruction
                && valid_filter(chroma)
                && (s.min_filter != chroma || s.mag_filter != chroma),
        );
        check("A-41", s.address_mode != [EDGE; 3] || s.anisotropy_enable || unnormalized);
        check("A-42", !averages);
    }

    // A.7 flags, vendor
    use vk::SamplerCreateFlags as F;
    check("A-52", s.flags.contains(F::NON_SEAMLESS_CUBE_MAP_EXT) && !caps.non_seamless_cube_map);
    check(
        "A-53",
        s.flags.contains(F::SUBSAMPLED_EXT)
            && (s.min_filter != s.mag_filter
                || s.mipmap_mode != MIP_NEAREST
                || !lods_zero(s)
                || !uv_clamp(s)
                || s.anisotropy_enable
                || s.compare_enable
                || unnormalized),
    );
    check(
        "A-54",
        s.flags.contains(F::IMAGE_PROCESSING_QCOM)
            && (s.min_filter != NEAREST
                || s.mag_filter != NEAREST
                || s.mipmap_mode != MIP_NEAREST
                || !lods_zero(s)
                || !uv_clamp(s)
                || (border_pinned(s) && s.border_color != vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
                || s.anisotropy_enable
                || s.compare_enable),
    );
    let limit = caps.max_block_match_window;
    check(
        "A-55",
        limit != [0; 2]
            && s.block_match.is_some_and(|window| window.extent[0] > limit[0] || window.extent[1] > limit[1]),
    );
    let capture_flag = s.flags.contains(F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
    check("A-56", capture_flag && !caps.descriptor_buffer_capture_replay);
    check("A-57", s.opaque_capture && !capture_flag);
    check(
        "A-59",
        s.cubic_weights.is_some_and(|weights| !(0..=3).contains(&weights))
            || s.reduction_mode.is_some_and(|mode| !(0..=2).contains(&mode.as_raw()) && !range_clamp(s)),
    );
}

/// A-54 fixes the border colour of an image-processing sampler whose U or V clamps to the border.
fn border_pinned(state: &SamplerState) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM) && state.address_mode[..2].contains(&BORDER)
}

/// every component that the format has can hold its value.
///
/// Judged only where the kind of the colour fits the format (else A-33 is broken), and where a depth/stencil format
/// has the aspect that the kind names: FLOAT asks for depth, INT for stencil.
pub(crate) fn representable(color: [u32; 4], int: bool, facts: &Facts) -> bool {
    if int && facts.stencil {
        // The implementation may take the stencil value from R or from G.
        return color[..2].iter().all(|word| *word <= 0xff);
    }
    let judged = match facts.numeric {
        Numeric::Unknown => false,
        Numeric::Float => !int && (facts.depth || !facts.stencil),
        Numeric::Uint | Numeric::Sint => int,
    };
    !judged
        || color.iter().zip(facts.bits).all(|(word, bits)| {
            let Some(bits) = bits else { return true };
            match facts.numeric {
                Numeric::Uint => u64::from(*word) < 1 << bits.min(32),
                Numeric::Sint => {
                    let half = 1_i64 << (bits.min(32) - 1);
                    (-half..half).contains(&i64::from(*word as i32))
                }
                _ => {
                    let value = f32::from_bits(*word);
                    facts.range.is_none_or(|(low, high)| {
                        (low <= value && value <= high) || (value.is_nan() && high.is_infinite())
                    })
                }
            }
        })
}

// --- section B -----------------------------------------------------------------------------------------------------

/// Rules of action commands and descriptors that the sampler breaks whatever the view.
fn sampler_only_of_section_b(state: &SamplerState, dynamic: bool, caps: &DeviceCaps, broken: &mut Vec<&'static str>) {
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    let cubic = either(state, CUBIC);
    check("B-10", cubic && range_clamp(state) && !caps.cubic_range_clamp);
    check("B-11", !cubic && range_clamp(state));
    check("B-12", cubic && state.cubic_weights.is_some_and(|weights| weights != 0) && !caps.selectable_cubic_weights);
    check("B-36", dynamic && state.compare_enable && !caps.mutable_comparison_samplers);
}

/// B.1: filtering against format features.
fn filtering(state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, broken: &mut Vec<&'static str>) {
    use vk::FormatFeatureFlags2 as F;
    let mut check = |id, illegal: bool| {
        if illegal {
            broken.push(id);
        }
    };
    let linear = either(state, LINEAR);
    let cubic = either(state, CUBIC);
    let mip = state.mipmap_mode == MIP_LINEAR;
    let averages = !min_or_max(state);

    // B-17: VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_2D_BIT_IMG serves 1D and 2D images.
    let linear_2d = caps.filter_linear_2d_img
        && [vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D].contains(&view.image_type)
        && has(view, F::from_raw(0x2000_0000_0000));
    let linear_bit = has(view, F::SAMPLED_IMAGE_FILTER_LINEAR) || linear_2d;
    check("B-1", linear && averages && !state.compare_enable && !linear_bit);
    check("B-2", mip && averages && !state.compare_enable && !linear_bit);

    let minmax_bit = has(view, F::SAMPLED_IMAGE_FILTER_MINMAX);
    check("B-3", linear && !averages && !minmax_bit);
    check("B-4", mip && !averages && !minmax_bit);

    let volume_or_cube =
        [vk::ImageViewType::TYPE_3D, vk::ImageViewType::CUBE, vk::ImageViewType::CUBE_ARRAY].contains(&view.view_type);
    check("B-5", cubic && !has(view, F::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
    check("B-6", cubic && volume_or_cube && !caps.filter_cubic_ext);
    check("B-7", cubic && caps.filter_cubic_ext && !view.filter_cubic);
    check("B-8", cubic && !averages && caps.filter_cubic_ext && !view.filter_cubic_minmax);

    let r_is_identity = [vk::ComponentSwizzle::IDENTITY, vk::ComponentSwizzle::R].contains(&view.components[0]);
    check("B-13", !averages && !caps.filter_minmax_component_mapping && !r_is_identity);
    let stencil = view.aspect == Aspect::Stencil;
    check("B-15", stencil && (linear || cubic || mip || !averages));
    // Averages of integers have no meaning; their minimum and maximum do, and drivers report the bit for them.
    let integer = matches!(numeric(view), Numeric::Uint | Numeric::Sint);
    check("B-16", integer && !stencil && averages && !state.compare_enable && (linear || cubic || mip));
    check("B-16", integer && !stencil && !averages && cubic);
}

/// B.2: comparison.
fn comparison(state: &SamplerState, view: &ViewTraits, broken: &mut Vec<&'static str>) {
    if !state.compare_enable {
        return;
    }
    match view.aspect {
        Aspect::Depth => {}
        Aspect::Stencil => broken.push("B-33"),
        Aspect::Color => {
            let integer = matches!(numeric(view), Numeric::Uint | Numeric::Sint);
            if integer || !has(view, vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON) {
                broken.push("B-35");
            }
        }
    }
}

/// B.4 and B-64.
fn borders(
    state: &SamplerState,
    view: &ViewTraits,
    caps: &DeviceCaps,
    policy: &Policy,
    broken: &mut Vec<&'static str>,
) {
    // Axes on which the address modes act: none on a seamless cube (B-70), the face's two on a non-seamless one (B-71).
    use vk::ImageViewType as T;
    let axes = match view.view_type {
        T::TYPE_1D | T::TYPE_1D_ARRAY => 1,
        T::TYPE_3D => 3,
        T::CUBE | T::CUBE_ARRAY if !state.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT) => 0,
        _ => 2,
    };
    let reached = state.address_mode[..axes].contains(&BORDER);
    // Where A-54 pins the colour, a breach of B-51 has no cure; the colour is all zero bits, which no kind and no
    // swizzle changes. A view whose numeric kind is not known is innocent of all of B.4.
    if valid_border(state.border_color) && !border_pinned(state) && numeric(view) != Numeric::Unknown {
        if reached || policy.strict_border {
            match (int_border(state.border_color), numeric(view)) {
                (true, Numeric::Float) => broken.push("B-50"),
                (false, Numeric::Uint | Numeric::Sint) => broken.push("B-51"),
                _ => {}
            }
        }
        if reached {
            border_swizzle(state, view, caps, broken);
            border_format(state, view, broken);
        }
    }
    if view.corner_sampled && state.address_mode != [EDGE; 3] {
        broken.push("B-64");
    }
}

/// The mapping with every component that names itself replaced by `IDENTITY`.
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

/// B-52 to B-55.
///
/// B-54 and B-55 are written without regard to the colour, and are read so here, although transparent black and white
/// look the same however they are swizzled.
fn border_swizzle(state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, broken: &mut Vec<&'static str>) {
    let of_view = form_of_identity(view.components);
    let swizzled = of_view != [vk::ComponentSwizzle::IDENTITY; 4];
    match state.border_mapping {
        None => {
            let black = [vk::BorderColor::FLOAT_OPAQUE_BLACK, vk::BorderColor::INT_OPAQUE_BLACK];
            let undefined = swizzled && !caps.border_color_swizzle_from_image;
            if undefined && black.contains(&state.border_color) {
                broken.push("B-52");
            }
            if undefined && custom(state) {
                broken.push("B-53");
            }
        }
        Some(mapping) => {
            if form_of_identity(mapping.components) != of_view {
                broken.push("B-54");
            }
            if mapping.srgb != format!("{:?}", view.format).contains("SRGB") {
                broken.push("B-55");
            }
        }
    }
}

/// B-56 to B-59: a custom colour and the view's format.
fn border_format(state: &SamplerState, view: &ViewTraits, broken: &mut Vec<&'static str>) {
    let Some(border) = state.custom_border.filter(|_| custom(state)) else { return };
    let int = int_border(state.border_color);
    let formatless = border.format == vk::Format::UNDEFINED;
    let packed = [
        vk::Format::B4G4R4A4_UNORM_PACK16,
        vk::Format::B5G6R5_UNORM_PACK16,
        vk::Format::B5G5R5A1_UNORM_PACK16,
        vk::Format::A1B5G5R5_UNORM_PACK16_KHR,
    ];
    if formatless && packed.contains(&view.format) {
        broken.push("B-56");
    }
    if !formatless && border.format != view.format {
        broken.push("B-57");
    }
    if !representable(border.color, int, formats::facts(view.format)) {
        broken.push("B-58");
    }
    if formatless && int && view.aspect == Aspect::Stencil && border.color[0] != border.color[1] {
        broken.push("B-59");
    }
}

/// Rows that only another view could satisfy.
fn view_only(state: &SamplerState, view: &ViewTraits, dynamic: bool, broken: &mut Vec<&'static str>) {
    let unnormalized = state.unnormalized_coordinates;
    if unnormalized && ![vk::ImageViewType::TYPE_1D, vk::ImageViewType::TYPE_2D].contains(&view.view_type) {
        broken.push("B-40");
    }
    if unnormalized && !(view.single_level && view.single_layer) {
        broken.push("B-41");
    }
    let subsampled = state.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
    if subsampled != view.subsampled || (subsampled && dynamic) {
        broken.push("B-78");
    }
}

// --- section C and conversions -------------------------------------------------------------------------------------

/// Rows of section C that a blit with `filter` from `source` breaks.
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
    check("C-1", filter == LINEAR && !has(F::SAMPLED_IMAGE_FILTER_LINEAR));
    check("C-2", filter == CUBIC && !has(F::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
    check("C-3", filter == CUBIC && source.image_type != vk::ImageType::TYPE_2D);
    check("C-4", filter != NEAREST && (facts.depth || facts.stencil));
    check("C-10", integer && (filter == LINEAR || filter == CUBIC));
    broken
}

/// Rows that a conversion breaks. With neither chroma-location bit A-44 has no cure and is not reported
/// pass and log).
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
    check("A-44", misplaced);
    check(
        "A-45",
        state.force_explicit_reconstruction
            && !features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE),
    );
    broken
}
