//! The records of the trace: what a decision looks like as JSON.
//!
//! Builds values from decisions; writing them is [`crate::trace`]'s business. The schema is `manifest/trace.schema.json`.

use ash::vk;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::budget;
use crate::decide::{
    Aspect, Catalog, Change, DeviceCaps, Field, SamplerState, Value, ViewTraits, is_custom, is_int_border,
};
use crate::names;
use crate::trace::{Float, handle};

fn float(value: f32) -> Json {
    serde_json::to_value(Float(value)).unwrap_or(Json::Null)
}

/// A value before or after a change, in Vulkan's words.
pub fn value(value: Value) -> Json {
    match value {
        Value::Filter(v) => names::filter(v).into(),
        Value::MipmapMode(v) => names::mipmap_mode(v).into(),
        Value::AddressMode(v) => names::address_mode(v).into(),
        Value::CompareOp(v) => names::compare_op(v).into(),
        Value::BorderColor(v) => names::border_color(v).into(),
        Value::ReductionMode(v) => names::reduction_mode(v).into(),
        Value::SamplerFlags(v) => names::sampler_flags(v).into(),
        Value::ChromaLocation(v) => names::chroma_location(v).into(),
        Value::Format(v) => names::format(v).into(),
        Value::Bool(v) => v.into(),
        Value::Float(v) => float(v),
        Value::FloatColor(words) => words.map(|word| float(f32::from_bits(word))).to_vec().into(),
        Value::IntColor(words) => words.to_vec().into(),
        Value::Extent(v) => v.to_vec().into(),
        Value::Mapping(v) => json!({ "components": mapping_letters(v.components), "srgb": v.srgb }),
        Value::Raw(v) => v.into(),
        Value::Present => "present".into(),
        Value::Absent => Json::Null,
    }
}

/// What a change was decided against, for the wording of its reason.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The device.
    pub caps: &'a DeviceCaps,
    /// The view, if one took part.
    pub view: Option<&'a ViewTraits>,
    /// Format of a blit's source image.
    pub source: Option<vk::Format>,
    /// Tiling whose features were looked at.
    pub tiling: Tiling,
}

/// Tiling of an image, as the trace names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// `VK_IMAGE_TILING_OPTIMAL`.
    #[default]
    Optimal,
    /// `VK_IMAGE_TILING_LINEAR`.
    Linear,
    /// `VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT`.
    Modifier,
}

impl Tiling {
    /// Name in reasons.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal tiling",
            Self::Linear => "linear tiling",
            Self::Modifier => "its DRM format modifier",
        }
    }
}

/// Why a variant has no custom border colour.
pub fn no_border_share(caps: &DeviceCaps) -> String {
    let limit = caps.max_custom_border_color_samplers;
    format!(
        "a variant may have the place that its own sampler gave up; of the {limit} samplers that maxCustomBorderColorSamplers \
         allows, variants share {}",
        budget::share(limit)
    )
}

/// Why a rule applied, in one clause with the facts of the case.
pub fn because(change: &Change, context: &Context<'_>) -> String {
    let caps = context.caps;
    let format = context.view.map(|view| view.format).or(context.source).map_or_else(String::new, names::format);
    let lacks = |bit: &str| format!("{format} lacks {bit} ({})", context.tiling.name());
    let not_enabled = |feature: &str| format!("{feature} is not enabled");
    match change.catalog {
        Catalog::A1Mag | Catalog::A1Min => {
            if change.from == Value::Filter(vk::Filter::CUBIC_EXT) {
                "neither VK_EXT_filter_cubic nor VK_IMG_filter_cubic is enabled".into()
            } else {
                "the value is not a VkFilter".into()
            }
        }
        Catalog::A1Mip => "the value is not a VkSamplerMipmapMode".into(),
        Catalog::A2 if matches!(change.from, Value::Float(bias) if bias.is_nan()) => "the bias is not a number".into(),
        Catalog::A2 => format!("maxSamplerLodBias is {}", caps.max_sampler_lod_bias),
        Catalog::A3 => not_enabled("samplerMipLodBias"),
        Catalog::A4 => "maxLod is less than minLod, or one of them is not a number".into(),
        Catalog::A5 => not_enabled("samplerAnisotropy"),
        Catalog::A6 => {
            format!("maxAnisotropy must be within 1 and maxSamplerAnisotropy, {}", caps.max_sampler_anisotropy)
        }
        Catalog::A7 => "CUBIC and anisotropy exclude each other".into(),
        Catalog::A10 => "unnormalized coordinates need equal min and mag filters".into(),
        Catalog::A11 => "unnormalized coordinates need mipmapMode NEAREST".into(),
        Catalog::A12 => "unnormalized coordinates need minLod and maxLod 0".into(),
        Catalog::A13 => "unnormalized coordinates need CLAMP_TO_EDGE or CLAMP_TO_BORDER on U and V".into(),
        Catalog::A14 => "unnormalized coordinates exclude anisotropy".into(),
        Catalog::A15 => "unnormalized coordinates exclude comparison".into(),
        Catalog::A20U | Catalog::A20V | Catalog::A20W => "the value is not a VkSamplerAddressMode".into(),
        Catalog::A21 => "neither samplerMirrorClampToEdge nor VK_KHR_sampler_mirror_clamp_to_edge is enabled".into(),
        Catalog::A22 => "an axis clamps to the border and the value is not a VkBorderColor".into(),
        Catalog::A25 => "the value is not a VkCompareOp".into(),
        Catalog::A26 => "comparison and a reduction mode exclude each other".into(),
        Catalog::A27 => not_enabled("samplerFilterMinmax"),
        Catalog::A28 => "CUBIC with a reduction mode needs VK_EXT_filter_cubic".into(),
        Catalog::A30 | Catalog::A30Exact => not_enabled("customBorderColors"),
        Catalog::A31 => "VkSamplerCustomBorderColorCreateInfoEXT is not chained".into(),
        Catalog::A32 | Catalog::A32Exact => not_enabled("customBorderColorWithoutFormat"),
        Catalog::A33 => "the kind of the border colour is not that of its format".into(),
        Catalog::A34 => "the value cannot be represented in the border colour's format".into(),
        Catalog::A35 | Catalog::A35Exact if context.view.is_some() => no_border_share(caps),
        Catalog::A35 | Catalog::A35Exact => format!(
            "{} samplers with a custom border colour are live, as many as maxCustomBorderColorSamplers allows",
            caps.max_custom_border_color_samplers
        ),
        Catalog::A36 => not_enabled("borderColorSwizzle"),
        Catalog::A40 => "the conversion has no separate reconstruction filter".into(),
        Catalog::A41 => "a Y′CbCr conversion needs CLAMP_TO_EDGE, normalized coordinates and no anisotropy".into(),
        Catalog::A42 => "a Y′CbCr conversion excludes a reduction mode".into(),
        Catalog::A43 => lacks("SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER"),
        Catalog::A44X => lacks("COSITED_CHROMA_SAMPLES"),
        Catalog::A44Y => lacks("MIDPOINT_CHROMA_SAMPLES"),
        Catalog::A45 => lacks("SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE"),
        Catalog::A52 => not_enabled("nonSeamlessCubeMap"),
        Catalog::A53Filter
        | Catalog::A53Mip
        | Catalog::A53Lod
        | Catalog::A53Address
        | Catalog::A53Anisotropy
        | Catalog::A53Compare
        | Catalog::A53Unnormalized => "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it".into(),
        Catalog::A54Filter
        | Catalog::A54Mip
        | Catalog::A54Lod
        | Catalog::A54Address
        | Catalog::A54Border
        | Catalog::A54Anisotropy
        | Catalog::A54Compare => "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it".into(),
        Catalog::A55 => {
            let [width, height] = caps.max_block_match_window;
            format!("maxBlockMatchWindow is {width}×{height}")
        }
        Catalog::A56 => not_enabled("descriptorBufferCaptureReplay"),
        Catalog::A57 => "the capture and replay flag is not set".into(),
        Catalog::A59Weights => "the value is not a VkCubicFilterWeightsQCOM".into(),
        Catalog::A59Reduction => "the value is not a VkSamplerReductionMode".into(),
        Catalog::B1 | Catalog::B2 => lacks("SAMPLED_IMAGE_FILTER_LINEAR"),
        Catalog::B3 | Catalog::B4 => lacks("SAMPLED_IMAGE_FILTER_MINMAX"),
        Catalog::B5 => lacks("SAMPLED_IMAGE_FILTER_CUBIC"),
        Catalog::B6 => format!(
            "{} views need VK_EXT_filter_cubic",
            context.view.map_or_else(String::new, |view| names::view_type(view.view_type))
        ),
        Catalog::B7 => format!("filterCubic is false for this image of {format}"),
        Catalog::B8 => format!("filterCubicMinmax is false for this image of {format}"),
        Catalog::B9 => "anisotropy without a LINEAR filter is implementation-defined".into(),
        Catalog::B10 => not_enabled("cubicRangeClamp"),
        Catalog::B11 => "range clamp needs CUBIC".into(),
        Catalog::B12 => not_enabled("selectableCubicWeights"),
        Catalog::B13 => "filterMinmaxImageComponentMapping is false and the view swizzles R".into(),
        Catalog::B15 => format!("the view reads the stencil aspect of {format}, for which no filter is defined"),
        Catalog::B16 => format!("{format} holds integers"),
        Catalog::B33 => "the view reads the stencil aspect".into(),
        Catalog::B35 => lacks("SAMPLED_IMAGE_DEPTH_COMPARISON"),
        Catalog::B36 => not_enabled("mutableComparisonSamplers"),
        Catalog::B50 => format!("{format} is read as floats"),
        Catalog::B51 => match context.view.map(|view| view.aspect) {
            Some(Aspect::Stencil) => "the view reads the stencil aspect, which holds integers".into(),
            _ => format!("{format} holds integers"),
        },
        Catalog::B52 | Catalog::B53 => "the view swizzles and borderColorSwizzleFromImage is not enabled".into(),
        Catalog::B52Lossy | Catalog::B53Lossy => {
            "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled".into()
        }
        Catalog::B54 => "the border's component mapping is not the view's".into(),
        Catalog::B55 => format!("srgb does not say what {format} is"),
        Catalog::B56 | Catalog::B56Exact => format!("a custom border on {format} needs its format"),
        Catalog::B57 => format!("the border's format is not the view's, {format}"),
        Catalog::B58 => format!("{format} cannot hold the value"),
        Catalog::B59 => "a stencil border may be taken from R or from G".into(),
        Catalog::Override => "a rule asks for it".into(),
        Catalog::HeldUnnormalized => "held back: the sampler has unnormalized coordinates (guard unnormalized)".into(),
        Catalog::HeldCompare => "held back: the sampler compares (guard compare)".into(),
        Catalog::HeldYcbcr => "held back: the pair has a Y′CbCr conversion (guard ycbcr)".into(),
        Catalog::HeldInteger => format!("held back: {format} is read as integers (guard integer)"),
        Catalog::HeldAttachment => "held back: the image is rendered to (guard attachment)".into(),
        Catalog::HeldSingleMip => "held back: the view has one mip level (guard single_mip)".into(),
        Catalog::HeldNearest => "held back: the sampler does not filter (guard nearest)".into(),
        Catalog::HeldOneDimensional => "held back: the view is 1D (guard one_dimensional)".into(),
        Catalog::GlClamp => format!("the pair filters {format}, so the border takes part"),
        Catalog::GlClampEdge => match context.view {
            Some(_) => "the pair does not filter, so only edge texels are read".into(),
            None => "no view is known yet, and the edge is safe with every view".into(),
        },
        Catalog::GlMirrorClamp => "Vulkan has no mirrored clamp to the border".into(),
        Catalog::B64 => "the image has VK_IMAGE_CREATE_CORNER_SAMPLED_BIT_NV".into(),
        Catalog::DepthCompare => format!("{format} lacks SAMPLED_IMAGE_FILTER_LINEAR and depth_linear is compare"),
        Catalog::B40 => "the view is neither 1D nor 2D".into(),
        Catalog::B41 => "the view has more than one level or layer".into(),
        Catalog::B78 => "only one of sampler and image is subsampled".into(),
        Catalog::C1 => lacks("SAMPLED_IMAGE_FILTER_LINEAR"),
        Catalog::C2 => lacks("SAMPLED_IMAGE_FILTER_CUBIC"),
        Catalog::C3 => "CUBIC needs a 2D source image".into(),
        Catalog::C4 => format!("{format} has depth or stencil"),
        Catalog::C10 => format!("{format} holds integers"),
    }
}

/// One change as a record member.
pub fn change(change: &Change, context: &Context<'_>) -> Json {
    let mut out = Map::new();
    out.insert("rule".into(), change.catalog.rule().name().into());
    out.insert("catalog".into(), change.catalog.id().into());
    out.insert("vuid".into(), change.catalog.vuid().map_or(Json::Null, Into::into));
    out.insert("field".into(), change.field.name().into());
    out.insert("from".into(), value(change.from));
    out.insert("to".into(), value(change.to));
    out.insert("because".into(), because(change, context).into());
    out.insert("lost".into(), lost(change).into());
    Json::Object(out)
}

/// What is lost; a change of the anisotropy itself loses less than switching it off.
fn lost(change: &Change) -> &'static str {
    match (change.catalog, change.field) {
        (Catalog::A6, Field::MaxAnisotropy) => "anisotropic quality above the limit",
        (catalog, _) => catalog.lost(),
    }
}

/// A sampler state as a record member: every member by its Vulkan name, ignored ones left out.
pub fn state(state: &SamplerState) -> Json {
    let s = state.normalized();
    let mut out = Map::new();
    let mut put = |key: &str, value: Json| {
        out.insert(key.to_owned(), value);
    };
    if !s.flags.is_empty() {
        put("flags", names::sampler_flags(s.flags).into());
    }
    put("magFilter", names::filter(s.mag_filter).into());
    put("minFilter", names::filter(s.min_filter).into());
    put("mipmapMode", names::mipmap_mode(s.mipmap_mode).into());
    for (field, mode) in Field::ADDRESS_MODES.into_iter().zip(s.address_mode) {
        put(field.name(), names::address_mode(mode).into());
    }
    put("mipLodBias", float(s.mip_lod_bias));
    put("anisotropyEnable", s.anisotropy_enable.into());
    if s.anisotropy_enable {
        put("maxAnisotropy", float(s.max_anisotropy));
    }
    put("compareEnable", s.compare_enable.into());
    if s.compare_enable {
        put("compareOp", names::compare_op(s.compare_op).into());
    }
    put("minLod", float(s.min_lod));
    put("maxLod", float(s.max_lod));
    // The kind of an ignored one counts where border is strict.
    if s.uses_border() || is_custom(s.border_color) || is_int_border(s.border_color) {
        put("borderColor", names::border_color(s.border_color).into());
    }
    put("unnormalizedCoordinates", s.unnormalized_coordinates.into());
    if let Some(mode) = s.reduction_mode {
        put("reductionMode", names::reduction_mode(mode).into());
    }
    if let Some(conversion) = s.ycbcr {
        put("ycbcrConversion", handle(conversion.handle).into());
        put("ycbcrChromaFilter", names::filter(conversion.chroma_filter).into());
        put("ycbcrSeparateReconstruction", conversion.separate_reconstruction.into());
        put("ycbcrFingerprint", format!("{:016x}", conversion.fingerprint).into());
    }
    if let Some(custom) = s.custom_border {
        let words =
            if is_int_border(s.border_color) { Value::IntColor(custom.color) } else { Value::FloatColor(custom.color) };
        put("customBorderColor", value(words));
        put("customBorderColorFormat", names::format(custom.format).into());
    }
    if let Some(mapping) = s.border_mapping {
        put("borderColorComponents", mapping.components.map(names::component_swizzle).to_vec().into());
        put("borderColorSrgb", mapping.srgb.into());
    }
    if let Some(weights) = s.cubic_weights {
        put("cubicWeights", weights.into());
    }
    if let Some(window) = s.block_match {
        put("blockMatchWindow", window.extent.to_vec().into());
        put("blockMatchCompareMode", window.compare_mode.into());
    }
    if s.opaque_capture {
        put("opaqueCapture", true.into());
    }
    Json::Object(out)
}

/// The members that tell a view class, shared by `pair` and `unresolved` records.
#[derive(Clone, Debug, Serialize)]
pub struct ViewMembers {
    /// Vulkan name of the view's format.
    pub format: String,
    /// `color`, `depth` or `stencil`.
    pub aspect: &'static str,
    /// Vulkan name of the view type.
    pub view_type: String,
    /// Four letters of `rgba01`, the identity is `rgba`.
    pub swizzle: String,
    /// What else decisions look at, for predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_class: Option<ViewClassMembers>,
}

/// What decisions look at in a view, beyond what people want to read.
#[derive(Clone, Debug, Serialize)]
pub struct ViewClassMembers {
    /// Type of the image.
    pub image_type: String,
    /// `optimal`, `linear` or `modifier`.
    pub tiling: &'static str,
    /// `VkFormatFeatureFlags2` of the view's format with that tiling, in hexadecimal; `None` when not known.
    pub features: Option<String>,
    /// Number of mip levels; 0 unless a rule looks at it.
    pub levels: u32,
    /// What holds of the view.
    pub is: Vec<&'static str>,
}

/// Format features as a record member.
pub fn features(features: Option<vk::FormatFeatureFlags2>) -> Option<String> {
    features.map(|features| format!("{:#x}", features.as_raw()))
}

/// Tiling as a record member.
pub const fn tiling(tiling: Tiling) -> &'static str {
    match tiling {
        Tiling::Optimal => "optimal",
        Tiling::Linear => "linear",
        Tiling::Modifier => "modifier",
    }
}

/// Everything of a view class that a prediction for another device needs.
pub fn view_class(view: &ViewTraits, of: Tiling) -> ViewClassMembers {
    let facts = [
        ("single_level", view.single_level),
        ("single_layer", view.single_layer),
        ("corner_sampled", view.corner_sampled),
        ("subsampled", view.subsampled),
        ("attachment", view.attachment),
        ("ycbcr", view.ycbcr),
        ("filter_cubic", view.filter_cubic),
        ("filter_cubic_minmax", view.filter_cubic_minmax),
    ];
    ViewClassMembers {
        image_type: names::image_type(view.image_type),
        tiling: tiling(of),
        features: features(view.features),
        levels: view.levels,
        is: facts.into_iter().filter_map(|(fact, holds)| holds.then_some(fact)).collect(),
    }
}

/// Four letters for a component mapping; `rgba` is the identity.
pub fn mapping_letters(components: [vk::ComponentSwizzle; 4]) -> String {
    use vk::ComponentSwizzle as C;
    let letter = |(component, own): (C, char)| match component {
        C::ZERO => '0',
        C::ONE => '1',
        C::R => 'r',
        C::G => 'g',
        C::B => 'b',
        C::A => 'a',
        _ => own,
    };
    components.into_iter().zip("rgba".chars()).map(letter).collect()
}

/// Describes a view class.
pub fn view(view: &ViewTraits) -> ViewMembers {
    ViewMembers {
        format: names::format(view.format),
        aspect: match view.aspect {
            Aspect::Color => "color",
            Aspect::Depth => "depth",
            Aspect::Stencil => "stencil",
        },
        view_type: names::view_type(view.view_type),
        swizzle: mapping_letters(view.components),
        view_class: None,
    }
}

/// The limits and features of a `device` record.
pub fn limits(caps: &DeviceCaps) -> Json {
    json!({
        "maxSamplerAnisotropy": float(caps.max_sampler_anisotropy),
        "maxSamplerLodBias": float(caps.max_sampler_lod_bias),
        "maxSamplerAllocationCount": caps.max_sampler_allocation_count,
        "maxCustomBorderColorSamplers": caps.max_custom_border_color_samplers,
        "filterMinmaxImageComponentMapping": caps.filter_minmax_component_mapping,
        "maxBlockMatchWindow": caps.max_block_match_window,
    })
}
