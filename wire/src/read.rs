//! The way back: from records to the values that they were made of.
//!
//! `None` stands for what cannot be read: a member that is not there, a word that is none of the trace's.

use std::borrow::Cow;

use ash::vk;
use samplin_core::ability::ABILITIES;
use samplin_core::decide::{
    Aspect, BlitSource, BlockMatchWindow, BorderMapping, CustomBorder, DeviceCaps, Divide, Field, Reads, SamplerState,
    Value as Decided, ViewTraits, YcbcrConversion, is_int_border,
};
use samplin_core::features::Tiling;
use samplin_core::names;
use samplin_core::storage::StorableFormats;
use serde_json::Value;

use crate::record::{Descriptor, Draw, HOWS, Joined, Link};
use crate::words::{self, ImageClass, UsageClass};

/// The value whose name, or number, a text is.
fn raw(text: &str, candidates: impl IntoIterator<Item = i32>, name: impl Fn(i32) -> String) -> Option<i32> {
    text.parse().ok().or_else(|| candidates.into_iter().find(|value| name(*value) == text))
}

macro_rules! enumerants {
    ($($fn:ident($type:ident): $candidates:expr;)+) => {
        $(fn $fn(value: Option<&Value>) -> Option<vk::$type> {
            let text = value?.as_str()?;
            raw(text, $candidates, |value| names::$fn(vk::$type::from_raw(value))).map(vk::$type::from_raw)
        })+
    };
}

enumerants! {
    filter(Filter): [0, 1, 1_000_015_000];
    mipmap_mode(SamplerMipmapMode): [0, 1];
    address_mode(SamplerAddressMode): [0, 1, 2, 3, 4, 0x2900, 0x8742];
    compare_op(CompareOp): 0..=7;
    border_color(BorderColor): (0..=5).chain([1_000_287_003, 1_000_287_004]);
    reduction_mode(SamplerReductionMode): [0, 1, 2, 1_000_521_000];
    view_type(ImageViewType): 0..=6;
    image_type(ImageType): 0..=2;
    component_swizzle(ComponentSwizzle): 0..=6;
    chroma_location(ChromaLocation): 0..=1;
}

fn format(value: Option<&Value>) -> Option<vk::Format> {
    let text = value?.as_str()?;
    text.parse().ok().map(vk::Format::from_raw).or_else(|| match text {
        "VK_FORMAT_UNDEFINED" => Some(vk::Format::UNDEFINED),
        _ => names::format_by_name(text),
    })
}

fn float(value: Option<&Value>) -> Option<f32> {
    match value? {
        Value::Number(number) => number.as_f64().map(|number| number as f32),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f32::NAN),
            "Infinity" => Some(f32::INFINITY),
            "-Infinity" => Some(f32::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn flag(value: &Value) -> Option<vk::SamplerCreateFlags> {
    let text = value.as_str()?;
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok().map(vk::SamplerCreateFlags::from_raw);
    }
    (0..32)
        .map(|bit| vk::SamplerCreateFlags::from_raw(1 << bit))
        .find(|flag| names::sampler_flags(*flag).first().is_some_and(|name| name == text))
}

fn flags(value: &Value) -> Option<vk::SamplerCreateFlags> {
    value.as_array()?.iter().map(flag).try_fold(vk::SamplerCreateFlags::empty(), |all, bit| Some(all | bit?))
}

fn features_bits(value: &Value) -> Option<Option<vk::FormatFeatureFlags2>> {
    match value {
        Value::Null => Some(None),
        Value::String(text) => {
            let bits = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
            Some(Some(vk::FormatFeatureFlags2::from_raw(bits)))
        }
        _ => None,
    }
}

fn tiling(value: Option<&Value>) -> Option<Tiling> {
    let word = value?.as_str()?;
    [Tiling::Optimal, Tiling::Linear, Tiling::Modifier].into_iter().find(|tiling| tiling.word() == word)
}

/// `value` of a member, or the default when there is none; `None` when there is one that cannot be read.
fn or_default<T>(value: Option<&Value>, default: T, read: impl FnOnce(Option<&Value>) -> Option<T>) -> Option<T> {
    if value.is_none() { Some(default) } else { read(value) }
}

/// `Some(None)` when there is no such member.
fn optional<T>(value: Option<&Value>, read: impl FnOnce(Option<&Value>) -> Option<T>) -> Option<Option<T>> {
    if value.is_none() { Some(None) } else { read(value).map(Some) }
}

fn four<T: Copy>(value: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> Option<[T; 4]> {
    let items: Vec<T> = value?.as_array()?.iter().map(read).collect::<Option<_>>()?;
    items.try_into().ok()
}

/// Two numbers, of an extent.
fn two(value: Option<&Value>) -> Option<[u32; 2]> {
    let [x, y] = value?.as_array()?.as_slice() else { return None };
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    Some([number(x)?, number(y)?])
}

/// A component mapping from its four letters.
fn mapping(value: Option<&Value>) -> Option<[vk::ComponentSwizzle; 4]> {
    let swizzle = |(letter, own)| {
        Some(match letter {
            _ if letter == own => vk::ComponentSwizzle::IDENTITY,
            '0' => vk::ComponentSwizzle::ZERO,
            '1' => vk::ComponentSwizzle::ONE,
            'r' => vk::ComponentSwizzle::R,
            'g' => vk::ComponentSwizzle::G,
            'b' => vk::ComponentSwizzle::B,
            'a' => vk::ComponentSwizzle::A,
            _ => return None,
        })
    };
    value?.as_str()?.chars().zip("rgba".chars()).map(swizzle).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// The value of a member before or after a change.
pub fn value(field: Field, value: &Value) -> Option<Decided> {
    match value {
        Value::Null => return Some(Decided::Absent),
        Value::String(word) if word == "present" => return Some(Decided::Present),
        _ => {}
    }
    let given = Some(value);
    Some(match field {
        Field::Flags if is_of_image(value) => Decided::ImageFlags(bits(value, names::image_flags)?),
        Field::Flags => Decided::SamplerFlags(flags(value)?),
        Field::Usage => Decided::Usage(bits(value, names::image_usage)?),
        Field::AspectMask => Decided::Aspects(bits(value, names::image_aspects)?),
        Field::MagFilter | Field::MinFilter | Field::ChromaFilter | Field::BlitFilter => {
            Decided::Filter(filter(given)?)
        }
        Field::MipmapMode => Decided::MipmapMode(mipmap_mode(given)?),
        Field::AddressModeU | Field::AddressModeV | Field::AddressModeW => Decided::AddressMode(address_mode(given)?),
        Field::CompareOp => Decided::CompareOp(compare_op(given)?),
        Field::BorderColor => Decided::BorderColor(border_color(given)?),
        Field::ReductionMode => Decided::ReductionMode(reduction_mode(given)?),
        Field::XChromaOffset | Field::YChromaOffset => Decided::ChromaLocation(chroma_location(given)?),
        Field::CustomBorderColorFormat => Decided::Format(format(given)?),
        Field::AnisotropyEnable
        | Field::CompareEnable
        | Field::UnnormalizedCoordinates
        | Field::SampleShadingEnable
        | Field::ForceExplicitReconstruction => Decided::Bool(value.as_bool()?),
        Field::MipLodBias | Field::MaxAnisotropy | Field::MinLod | Field::MaxLod | Field::MinSampleShading => {
            Decided::Float(float(given)?)
        }
        // Floats always have a point, and integers never.
        Field::CustomBorderColor if value.as_array()?.iter().all(Value::is_u64) => Decided::IntColor(int_color(given)?),
        Field::CustomBorderColor => Decided::FloatColor(float_color(given)?),
        Field::CubicWeights | Field::SampleMaskWords => Decided::Raw(i32::try_from(value.as_i64()?).ok()?),
        Field::BlockMatchWindow => Decided::Extent(two(given)?),
        Field::BorderColorMapping => Decided::Mapping(BorderMapping {
            components: mapping(value.get("components"))?,
            srgb: value.get("srgb")?.as_bool()?,
        }),
        Field::Capability
        | Field::Extension
        | Field::Decoration
        | Field::ImageFormat
        | Field::StorageClass
        | Field::MemorySemantics
        | Field::ExecutionMode
        | Field::BuiltIn
        | Field::Location
        | Field::Interpolation => Decided::Spirv(names::spirv_by_name(value.as_str()?)?),
        // A structure that is chained or not.
        Field::OpaqueCapture => return None,
    })
}

/// Whether flags are those of an image.
fn is_of_image(value: &Value) -> bool {
    let first = value.as_array().and_then(|names| names.first()).and_then(Value::as_str);
    first.is_some_and(|name| name.starts_with("VK_IMAGE_CREATE_"))
}

/// The bits of which `names` gives these names, and numbers for those without.
fn bits(value: &Value, names: impl Fn(u64) -> Vec<String>) -> Option<u64> {
    let bit = |name: &str| (0..64).map(|bit| 1u64 << bit).find(|bit| names(*bit).iter().any(|one| one == name));
    value.as_array()?.iter().try_fold(0, |all, name| Some(all | bit(name.as_str()?)?))
}

fn int_color(value: Option<&Value>) -> Option<[u32; 4]> {
    four(value, |word| word.as_u64().and_then(|word| u32::try_from(word).ok()))
}

fn float_color(value: Option<&Value>) -> Option<[u32; 4]> {
    four(value, |word| float(Some(word)).map(f32::to_bits))
}

/// A setting in a `layer` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<'v> {
    /// Its name.
    pub name: &'v str,
    /// The value in force.
    pub value: &'v Value,
    /// Where that is from, in a word; `default` where nobody has set it.
    pub source: &'v str,
}

/// The settings of a `layer` record, by name; those that cannot be read are left out.
pub fn settings(layer: &Value) -> impl Iterator<Item = Setting<'_>> {
    layer.get("settings").and_then(Value::as_object).into_iter().flatten().filter_map(|(name, setting)| {
        Some(Setting { name, value: setting.get("value")?, source: setting.get("source")?.as_str()? })
    })
}

/// The value in force of the setting of this name; `None` if a `layer` record does not have it as text.
pub fn setting<'v>(layer: &'v Value, name: &str) -> Option<&'v str> {
    settings(layer).find(|setting| setting.name == name)?.value.as_str()
}

/// The state of a `sampler` record; `None` if something in it cannot be read.
pub fn state(value: &Value) -> Option<SamplerState> {
    let get = |key: &str| value.get(key);
    let boolean = |key: &str| get(key).map_or(Some(false), Value::as_bool);
    let border_color = or_default(get("borderColor"), vk::BorderColor::FLOAT_TRANSPARENT_BLACK, border_color)?;
    let custom_border = optional(get("customBorderColor"), |value| {
        let color = if is_int_border(border_color) { int_color(value) } else { float_color(value) }?;
        Some(CustomBorder { color, format: format(get("customBorderColorFormat"))? })
    })?;
    let border_mapping = optional(get("borderColorComponents"), |value| {
        Some(BorderMapping {
            components: four(value, |component| component_swizzle(Some(component)))?,
            srgb: boolean("borderColorSrgb")?,
        })
    })?;
    let ycbcr = optional(get("ycbcrConversion"), |value| {
        let hex = |value: &Value| u64::from_str_radix(value.as_str()?.trim_start_matches("0x"), 16).ok();
        Some(YcbcrConversion {
            handle: hex(value?)?,
            chroma_filter: filter(get("ycbcrChromaFilter"))?,
            separate_reconstruction: boolean("ycbcrSeparateReconstruction")?,
            fingerprint: hex(get("ycbcrFingerprint")?)?,
        })
    })?;
    let block_match = optional(get("blockMatchWindow"), |value| {
        let compare_mode = i32::try_from(get("blockMatchCompareMode")?.as_i64()?).ok()?;
        Some(BlockMatchWindow { extent: two(value)?, compare_mode })
    })?;
    let flags = or_default(get("flags"), vk::SamplerCreateFlags::empty(), |value| flags(value?))?;
    Some(SamplerState {
        flags,
        mag_filter: filter(get("magFilter"))?,
        min_filter: filter(get("minFilter"))?,
        mipmap_mode: mipmap_mode(get("mipmapMode"))?,
        address_mode: [
            address_mode(get("addressModeU"))?,
            address_mode(get("addressModeV"))?,
            address_mode(get("addressModeW"))?,
        ],
        mip_lod_bias: float(get("mipLodBias"))?,
        anisotropy_enable: boolean("anisotropyEnable")?,
        max_anisotropy: or_default(get("maxAnisotropy"), 0.0, float)?,
        compare_enable: boolean("compareEnable")?,
        compare_op: or_default(get("compareOp"), vk::CompareOp::NEVER, compare_op)?,
        min_lod: float(get("minLod"))?,
        max_lod: float(get("maxLod"))?,
        border_color,
        unnormalized_coordinates: boolean("unnormalizedCoordinates")?,
        reduction_mode: optional(get("reductionMode"), reduction_mode)?,
        ycbcr,
        custom_border,
        border_mapping,
        cubic_weights: optional(get("cubicWeights"), |value| i32::try_from(value?.as_i64()?).ok())?,
        block_match,
        opaque_capture: boolean("opaqueCapture")?,
    })
}

/// The view of a `pair` record of the level all.
pub fn view(value: &Value) -> Option<(ViewTraits, Tiling)> {
    let class = value.get("view_class")?;
    let facts: Vec<&str> = class.get("is")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let is = |fact: &str| facts.contains(&fact);
    let traits = ViewTraits {
        format: format(value.get("format"))?,
        aspect: match value.get("aspect")?.as_str()? {
            "color" => Aspect::Color,
            "depth" => Aspect::Depth,
            "stencil" => Aspect::Stencil,
            _ => return None,
        },
        view_type: view_type(value.get("view_type"))?,
        image_type: image_type(class.get("image_type"))?,
        components: mapping(value.get("swizzle"))?,
        features: features_bits(class.get("features")?)?,
        levels: class.get("levels").and_then(Value::as_u64).and_then(|levels| u32::try_from(levels).ok())?,
        single_level: is("single_level"),
        single_layer: is("single_layer"),
        corner_sampled: is("corner_sampled"),
        subsampled: is("subsampled"),
        attachment: is("attachment"),
        ycbcr: is("ycbcr"),
        filter_cubic: is("filter_cubic"),
        filter_cubic_minmax: is("filter_cubic_minmax"),
        reads: match () {
            () if is("reads_plain") => Reads::Plain,
            () if is("reads_compared") => Reads::Compared,
            () => Reads::Unknown,
        },
        divide: match () {
            () if is("divided_lookups") => Divide::Lookup,
            () if is("divided_offsets") => Divide::Offset,
            () if is("divided_gathers") => Divide::Gather,
            () if is("divided") => Divide::Suited,
            () => Divide::Never,
        },
        by_itself: is("by_itself"),
    };
    Some((traits, tiling(class.get("tiling"))?))
}

/// The format of a record.
pub fn format_of(value: &Value) -> Option<vk::Format> {
    format(value.get("format"))
}

/// The words of a member of a record; none if it has none.
fn list(value: &Value, key: &str) -> Option<Vec<u64>> {
    value.get(key)?.as_array()?.iter().map(Value::as_u64).collect()
}

/// What a `device` record of the level all says of the formats of storage images and of storage texel buffers.
pub fn stored(device: &Value) -> Option<[StorableFormats; 2]> {
    words::read_stored(&list(device, "storage")?)
}

/// What decisions look at in the image of a record of the level all.
pub fn image_class(value: &Value) -> Option<ImageClass> {
    ImageClass::read(&list(value, "class")?)
}

/// What decisions look at in the usage of the view of a record of the level all.
pub fn usage_class(value: &Value) -> Option<UsageClass> {
    UsageClass::read(&list(value, "class")?)
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn descriptor(value: Option<&Value>) -> Option<Descriptor> {
    let value = value?;
    let get = |key: &str| value.get(key).and_then(number);
    Some(Descriptor {
        set: get("set")?,
        binding: get("binding")?,
        element: optional(value.get("element"), |at| number(at?))?,
    })
}

/// A list of words, or `null` for one that is not known.
fn words(value: Option<&Value>) -> Option<Option<Vec<String>>> {
    match value? {
        Value::Null => Some(None),
        list => list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>().map(Some),
    }
}

/// A `link` member.
pub fn link(value: &Value) -> Option<Link> {
    Some(Link {
        image: descriptor(value.get("image"))?,
        sampler: descriptor(value.get("sampler"))?,
        uses: words(value.get("uses"))?,
        stages: words(value.get("stages"))?,
    })
}

/// Which draw a record is about; inner `None` for one that does not say, as those of older traces.
pub fn draw(value: &Value) -> Option<Option<Draw>> {
    let (Some(frame), Some(number_of)) = (value.get("frame"), value.get("draw")) else {
        return (value.get("frame").is_none() && value.get("draw").is_none()).then_some(None);
    };
    let label = optional(value.get("label"), |label| Some(label?.as_str()?.to_owned()))?;
    Some(Some(Draw { frame: frame.as_u64()?, draw: number(number_of)?, label }))
}

/// What a `pair` record of the path `draw` says beyond any pair.
pub fn joined(value: &Value) -> Option<Joined> {
    let how = optional(value.get("how"), |how| HOWS.into_iter().find(|word| how.is_some_and(|how| how == *word)))?;
    let pipeline = value.get("pipeline")?.as_str()?;
    u64::from_str_radix(pipeline.strip_prefix("0x")?, 16).ok()?;
    let pipeline_name = optional(value.get("pipeline_name"), |name| Some(name?.as_str()?.to_owned()))?;
    Some(Joined {
        source: optional(value.get("source"), |source| serde_json::from_value(source?.clone()).ok())?,
        pipeline: pipeline.to_owned(),
        pipeline_name,
        link: link(value.get("link")?)?,
        how: how.map(Cow::Borrowed),
        draw: draw(value)?,
    })
}

/// Filter, source and tiling of a `blit` record of the level all.
pub fn blit(value: &Value) -> Option<(vk::Filter, BlitSource, Tiling)> {
    let source = BlitSource {
        format: format(value.get("src_format"))?,
        image_type: image_type(value.get("src_type"))?,
        features: features_bits(value.get("src_features")?)?,
    };
    Some((filter(value.get("filter"))?, source, tiling(value.get("src_tiling"))?))
}

/// Abilities that device records have only since a later version of the layer.
const LATE: [&str; 9] = [
    "VK_KHR_maintenance2",
    "imagelessFramebuffer",
    "sampleRateShading",
    "shaderStorageImageReadWithoutFormat",
    "shaderStorageImageWriteWithoutFormat",
    "VK_KHR_format_feature_flags2",
    "shaderDrawParameters",
    "fragmentStoresAndAtomics",
    "vertexPipelineStoresAndAtomics",
];

/// The abilities that a `device` record has.
pub fn caps(device: &Value) -> Option<DeviceCaps> {
    let mut caps = DeviceCaps::default();
    let features = device.get("features")?;
    for ability in ABILITIES {
        let Some(field) = ability.field else { continue };
        // What is the layer's own, and what images, views and shaders are judged by, came later than the rest: older traces do not
        // tell it.
        let is_late = ability.name.starts_with("VK_SAMPLIN_") || LATE.contains(&ability.name);
        let absent = is_late.then_some(false);
        *field(&mut caps) = features.get(ability.name).and_then(Value::as_bool).or(absent)?;
    }
    let limits = device.get("limits")?;
    let count = |key: &str| u32::try_from(limits.get(key)?.as_u64()?).ok();
    caps.max_sampler_anisotropy = float(limits.get("maxSamplerAnisotropy"))?;
    caps.max_sampler_lod_bias = float(limits.get("maxSamplerLodBias"))?;
    caps.max_sampler_allocation_count = count("maxSamplerAllocationCount")?;
    caps.max_custom_border_color_samplers = count("maxCustomBorderColorSamplers")?;
    caps.filter_minmax_component_mapping = limits.get("filterMinmaxImageComponentMapping")?.as_bool()?;
    caps.max_block_match_window = two(limits.get("maxBlockMatchWindow"))?;
    Some(caps)
}

/// The features of a `device` record for these abilities; what they do not have stays as recorded.
pub fn features(caps: &DeviceCaps, recorded: Option<&Value>) -> Value {
    let mut features = recorded.and_then(Value::as_object).cloned().unwrap_or_default();
    features.extend(caps.features().into_iter().map(|(name, on)| (name.to_owned(), on.into())));
    Value::Object(features)
}

#[cfg(test)]
mod tests;
