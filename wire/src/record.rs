//! The records of the trace: what a decision looks like as JSON.
//!
//! Builds values from decisions; writing them is the layer's business. The schema is `manifest/trace.schema.json`.

use std::borrow::Cow;

use ash::vk;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use samplin_core::decide::{
    self, Aspect, BlitSource, Change, Context, DeviceCaps, Divide, Field, Reads, SamplerState, Value, ViewTraits,
    is_custom, is_int_border,
};
use samplin_core::features::Tiling;
use samplin_core::names;

use crate::text::{Float, handle};

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
        Value::ImageFlags(v) => names::image_flags(v).into(),
        Value::Usage(v) => names::image_usage(v).into(),
        Value::Aspects(v) => names::image_aspects(v).into(),
        Value::ChromaLocation(v) => names::chroma_location(v).into(),
        Value::Format(v) => names::format(v).into(),
        Value::Bool(v) => v.into(),
        Value::Float(v) => float(v),
        Value::FloatColor(words) => words.map(|word| float(f32::from_bits(word))).to_vec().into(),
        Value::IntColor(words) => words.to_vec().into(),
        Value::Extent(v) => v.to_vec().into(),
        Value::Mapping(v) => json!({ "components": mapping_letters(v.components), "srgb": v.srgb }),
        Value::Raw(v) => v.into(),
        Value::Spirv(v) => v.into(),
        Value::Present => "present".into(),
        Value::Absent => Json::Null,
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
    out.insert("because".into(), decide::because(change, context).into());
    out.insert("lost".into(), decide::lost(change, context).into());
    if let Some(word) = decide::repairer(change, context).word() {
        out.insert("repaired_by".into(), word.into());
    }
    Json::Object(out)
}

/// Changes as a record member.
pub fn changes<'a>(changes: impl IntoIterator<Item = &'a Change>, context: &Context<'_>) -> Vec<Json> {
    changes.into_iter().map(|one| change(one, context)).collect()
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

/// The members that describe a view class, shared by `pair` and `unresolved` records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewMembers {
    /// Vulkan name of the view's format.
    pub format: String,
    /// `color`, `depth` or `stencil`.
    pub aspect: Cow<'static, str>,
    /// Vulkan name of the view type.
    pub view_type: String,
    /// Four letters of `rgba01`, the identity is `rgba`.
    pub swizzle: String,
    /// What else decisions look at, for predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_class: Option<ViewClassMembers>,
}

/// What decisions look at in a view, beyond what people want to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewClassMembers {
    /// Type of the image.
    pub image_type: String,
    /// `optimal`, `linear` or `modifier`.
    pub tiling: Cow<'static, str>,
    /// `VkFormatFeatureFlags2` of the view's format with that tiling, in hexadecimal; `None` when not known.
    pub features: Option<String>,
    /// Number of mip levels; 0 unless an override looks at it.
    pub levels: u32,
    /// What holds of the view.
    pub is: Vec<Cow<'static, str>>,
}

/// Format features as a record member.
pub fn features(features: Option<vk::FormatFeatureFlags2>) -> Option<String> {
    features.map(|features| format!("{:#x}", features.as_raw()))
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
        ("reads_plain", view.reads == Reads::Plain),
        ("reads_compared", view.reads == Reads::Compared),
        ("divided", view.divide != Divide::Never),
        ("divided_lookups", view.divide == Divide::Lookup),
        ("divided_offsets", view.divide == Divide::Offset),
        ("divided_gathers", view.divide == Divide::Gather),
        ("by_itself", view.by_itself),
    ];
    ViewClassMembers {
        image_type: names::image_type(view.image_type),
        tiling: of.word().into(),
        features: features(view.features),
        levels: view.levels,
        is: facts.into_iter().filter_map(|(fact, holds)| holds.then_some(fact.into())).collect(),
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
        }
        .into(),
        view_type: names::view_type(view.view_type),
        swizzle: mapping_letters(view.components),
        view_class: None,
    }
}

/// A `blit` record. `asked`: the filter that was asked for and the source's tiling, for predictions.
pub fn blit(
    source: &BlitSource,
    changes: &[Change],
    context: &Context<'_>,
    lossless: bool,
    asked: Option<(vk::Filter, Tiling)>,
) -> Json {
    let mut out = Map::new();
    out.insert("src_format".into(), names::format(source.format).into());
    out.insert("changes".into(), changes.iter().map(|one| change(one, context)).collect());
    out.insert("lossless".into(), lossless.into());
    if let Some((filter, tiling)) = asked {
        out.insert("filter".into(), names::filter(filter).into());
        out.insert("src_type".into(), names::image_type(source.image_type).into());
        out.insert("src_tiling".into(), tiling.word().into());
        out.insert("src_features".into(), features(source.features).into());
    }
    Json::Object(out)
}

/// An object of these members, which are taken: one function for all, where a macro has code for each member.
#[inline(never)]
pub fn object(members: &mut [(&'static str, Json)]) -> Json {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert((*name).to_owned(), value.take());
    }
    Json::Object(object)
}

/// The limits and features of a `device` record.
pub fn limits(caps: &DeviceCaps) -> Json {
    object(&mut [
        ("maxSamplerAnisotropy", float(caps.max_sampler_anisotropy)),
        ("maxSamplerLodBias", float(caps.max_sampler_lod_bias)),
        ("maxSamplerAllocationCount", caps.max_sampler_allocation_count.into()),
        ("maxCustomBorderColorSamplers", caps.max_custom_border_color_samplers.into()),
        ("filterMinmaxImageComponentMapping", caps.filter_minmax_component_mapping.into()),
        ("maxBlockMatchWindow", caps.max_block_match_window.to_vec().into()),
    ])
}

/// Where a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Descriptor {
    /// The number of its set.
    pub set: u32,
    /// The number of its binding.
    pub binding: u32,
    /// Its element of the binding; any where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
}

/// An image and a sampler in descriptors of their own, and the shader that joins them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Where the image is.
    pub image: Descriptor,
    /// Where the sampler is.
    pub sampler: Descriptor,
    /// How the shader samples, in lower case; `None` where it is not known.
    pub uses: Option<Vec<String>>,
    /// The stages that do, as `VkShaderStageFlagBits` has them, in lower case; `None` where they are not known.
    pub stages: Option<Vec<String>>,
}

impl Link {
    /// How the shader reads the image.
    pub fn reads(&self) -> Reads {
        let uses = self.uses.as_deref().unwrap_or_default();
        let is_plain = |word: &String| !matches!(word.as_str(), "query_lod" | "combined" | "fetch" | "query");
        match () {
            () if uses.iter().any(|word| word == "dref") => Reads::Compared,
            () if uses.iter().any(is_plain) => Reads::Plain,
            () => Reads::Unknown,
        }
    }

    /// Whether it is known that the shader does nothing else with the two that the sampler takes part in than gather.
    pub fn only_gathers(&self) -> bool {
        let Some(uses) = &self.uses else { return false };
        let is_unfiltered = |word: &String| UNFILTERED.contains(&word.as_str());
        uses.iter().any(|word| word == UNFILTERED[0]) && uses.iter().all(is_unfiltered)
    }
}

/// Words of `uses` for what a sampler's filter takes no part in, and for the ways to do that.
const UNFILTERED: [&str; 8] = ["gather", "const_offsets", "offset", "sparse", "dref", "combined", "fetch", "query"];

/// Where a shader reads an image through a sampler: what its debug lines say of the first such instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What a pipeline was given another sampler by: the words of `how`, as the schema has them.
pub const HOWS: [&str; 6] = ["shadow", "split", "push", "fetch", "table", "guess"];

/// The members of a `pair` record whose path is `draw`, beyond those of any pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The pipeline whose shader joins the pair, in the trace's spelling of a handle.
    pub pipeline: String,
    /// The application's name of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_name: Option<String>,
    /// Where image and sampler are.
    pub link: Link,
    /// Where the shader reads the image, if its debug lines say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// One of [`HOWS`]; `None` where the pipeline was given no other sampler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<Cow<'static, str>>,
    /// The draw at which it was met; `None` in older traces.
    #[serde(flatten)]
    pub draw: Option<Draw>,
}

/// Which draw, dispatch or trace of rays a record is about: the first at which its subject was met, as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// How many frames had ended.
    pub frame: u64,
    /// Its number in its command buffer, from 1.
    pub draw: u32,
    /// The innermost debug label region of the application that was open in the command buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Draw {
    /// Adds its members to those of a record.
    pub fn put_into(&self, members: &mut Json) {
        members["frame"] = self.frame.into();
        members["draw"] = self.draw.into();
        if let Some(label) = &self.label {
            members["label"] = label.as_str().into();
        }
    }
}
