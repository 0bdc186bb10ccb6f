//! Reads the values back that the layer's records were made of.

use ash::vk;
use samplin_core::ability::ABILITIES;
use samplin_core::decide::{
    Aspect, BlitSource, BlockMatchWindow, BorderMapping, CustomBorder, DeviceCaps, SamplerState, ViewTraits,
    YcbcrConversion, is_int_border,
};
use samplin_core::features::Tiling;
use samplin_core::names;
use serde_json::Value;

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
    Some(match value?.as_str()? {
        "optimal" => Tiling::Optimal,
        "linear" => Tiling::Linear,
        "modifier" => Tiling::Modifier,
        _ => return None,
    })
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

/// The state of a `sampler` record; `None` if something in it cannot be read.
pub(crate) fn state(value: &Value) -> Option<SamplerState> {
    let get = |key: &str| value.get(key);
    let boolean = |key: &str| get(key).map_or(Some(false), Value::as_bool);
    let border_color = or_default(get("borderColor"), vk::BorderColor::FLOAT_TRANSPARENT_BLACK, border_color)?;
    let custom_border = optional(get("customBorderColor"), |value| {
        let color = if is_int_border(border_color) {
            four(value, |word| word.as_u64().and_then(|word| u32::try_from(word).ok()))?
        } else {
            four(value, |word| float(Some(word)).map(f32::to_bits))?
        };
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
        let extent: Vec<u32> =
            value?.as_array()?.iter().map(|side| u32::try_from(side.as_u64()?).ok()).collect::<Option<_>>()?;
        let compare_mode = i32::try_from(get("blockMatchCompareMode")?.as_i64()?).ok()?;
        Some(BlockMatchWindow { extent: extent.try_into().ok()?, compare_mode })
    })?;
    let flags = get("flags").map_or(Some(vk::SamplerCreateFlags::empty()), |flags| {
        flags.as_array()?.iter().map(flag).try_fold(vk::SamplerCreateFlags::empty(), |all, bit| Some(all | bit?))
    })?;
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
pub(crate) fn view(value: &Value) -> Option<(ViewTraits, Tiling)> {
    let class = value.get("view_class")?;
    let facts: Vec<&str> = class.get("is")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let is = |fact: &str| facts.contains(&fact);
    let letters: Vec<vk::ComponentSwizzle> = value
        .get("swizzle")?
        .as_str()?
        .chars()
        .zip("rgba".chars())
        .map(|(letter, own)| {
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
        })
        .collect::<Option<_>>()?;
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
        components: letters.try_into().ok()?,
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
    };
    Some((traits, tiling(class.get("tiling"))?))
}

/// Filter, source and tiling of a `blit` record of the level all.
pub(crate) fn blit(value: &Value) -> Option<(vk::Filter, BlitSource, Tiling)> {
    let source = BlitSource {
        format: format(value.get("src_format"))?,
        image_type: image_type(value.get("src_type"))?,
        features: features_bits(value.get("src_features")?)?,
    };
    Some((filter(value.get("filter"))?, source, tiling(value.get("src_tiling"))?))
}

/// The abilities that a `device` record tells.
pub(crate) fn caps(device: &Value) -> Option<DeviceCaps> {
    let mut caps = DeviceCaps::default();
    let features = device.get("features")?;
    for ability in ABILITIES {
        let Some(field) = ability.field else { continue };
        // What is the layer's own came later than the rest, and older traces do not tell it.
        let untold = ability.name.starts_with("VK_SAMPLIN_").then_some(false);
        *field(&mut caps) = features.get(ability.name).and_then(Value::as_bool).or(untold)?;
    }
    let limits = device.get("limits")?;
    let count = |key: &str| u32::try_from(limits.get(key)?.as_u64()?).ok();
    caps.max_sampler_anisotropy = float(limits.get("maxSamplerAnisotropy"))?;
    caps.max_sampler_lod_bias = float(limits.get("maxSamplerLodBias"))?;
    caps.max_sampler_allocation_count = count("maxSamplerAllocationCount")?;
    caps.max_custom_border_color_samplers = count("maxCustomBorderColorSamplers")?;
    caps.filter_minmax_component_mapping = limits.get("filterMinmaxImageComponentMapping")?.as_bool()?;
    let window: Vec<u32> = limits
        .get("maxBlockMatchWindow")?
        .as_array()?
        .iter()
        .map(|side| u32::try_from(side.as_u64()?).ok())
        .collect::<Option<_>>()?;
    caps.max_block_match_window = window.try_into().ok()?;
    Some(caps)
}

/// The features of a `device` record for these abilities; what they do not tell stays as recorded.
pub(crate) fn features(caps: &DeviceCaps, recorded: Option<&Value>) -> Value {
    let mut features = recorded.and_then(Value::as_object).cloned().unwrap_or_default();
    features.extend(caps.features().into_iter().map(|(name, on)| (name.to_owned(), on.into())));
    Value::Object(features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use samplin_wire::record;
    use serde_json::Map;

    #[test]
    fn states_survive_their_record() {
        let base = SamplerState::default();
        let custom = CustomBorder {
            color: [1.5_f32.to_bits(), 0, f32::MIN_POSITIVE.to_bits(), 0.1_f32.to_bits()],
            format: vk::Format::R8G8B8A8_UNORM,
        };
        let states = [
            base,
            SamplerState {
                flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT | vk::SamplerCreateFlags::from_raw(1 << 30),
                mag_filter: vk::Filter::CUBIC_EXT,
                min_filter: vk::Filter::from_raw(77),
                mipmap_mode: vk::SamplerMipmapMode::LINEAR,
                address_mode: [
                    vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
                    vk::SamplerAddressMode::from_raw(0x2900),
                    vk::SamplerAddressMode::CLAMP_TO_BORDER,
                ],
                mip_lod_bias: -0.1,
                anisotropy_enable: true,
                max_anisotropy: 3.3,
                compare_enable: true,
                compare_op: vk::CompareOp::GREATER_OR_EQUAL,
                min_lod: 0.25,
                max_lod: f32::INFINITY,
                border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
                reduction_mode: Some(vk::SamplerReductionMode::MAX),
                custom_border: Some(custom),
                border_mapping: Some(BorderMapping { components: [vk::ComponentSwizzle::ONE; 4], srgb: true }),
                cubic_weights: Some(2),
                ..base
            },
            SamplerState {
                border_color: vk::BorderColor::INT_CUSTOM_EXT,
                custom_border: Some(CustomBorder { color: [u32::MAX, 0, 7, 1 << 31], format: vk::Format::UNDEFINED }),
                ..base
            },
            SamplerState { border_color: vk::BorderColor::INT_OPAQUE_WHITE, mip_lod_bias: f32::NAN, ..base },
            SamplerState {
                ycbcr: Some(YcbcrConversion {
                    handle: 5,
                    chroma_filter: vk::Filter::LINEAR,
                    separate_reconstruction: true,
                    fingerprint: 0xfeed,
                }),
                block_match: Some(BlockMatchWindow { extent: [3, 4], compare_mode: 1 }),
                opaque_capture: true,
                unnormalized_coordinates: true,
                ..base
            },
        ];
        for state in states {
            let back = super::state(&record::state(&state)).expect("can be read");
            assert_eq!(back.key(), state.key(), "{state:?}");
        }
    }

    #[test]
    fn views_survive_their_record() {
        let mut view = ViewTraits::new_2d(vk::Format::D32_SFLOAT, vk::FormatFeatureFlags2::from_raw(0x2_0000_d401));
        view.components = [
            vk::ComponentSwizzle::IDENTITY,
            vk::ComponentSwizzle::R,
            vk::ComponentSwizzle::ONE,
            vk::ComponentSwizzle::ZERO,
        ];
        view.filter_cubic_minmax = false;
        view.attachment = true;
        view.view_type = vk::ImageViewType::TYPE_2D_ARRAY;
        let members =
            record::ViewMembers { view_class: Some(record::view_class(&view, Tiling::Linear)), ..record::view(&view) };
        let value = serde_json::to_value(&members).expect("serialises");
        assert_eq!(super::view(&value), Some((view, Tiling::Linear)));
    }

    #[test]
    fn abilities_survive_their_record() {
        let caps = DeviceCaps {
            sampler_anisotropy: true,
            max_sampler_anisotropy: 16.0,
            max_sampler_lod_bias: 15.996,
            sampler_mip_lod_bias: false,
            filter_cubic_ext: true,
            max_block_match_window: [64, 32],
            ..DeviceCaps::default()
        };
        let features: Map<String, Value> =
            caps.features().iter().map(|(name, on)| ((*name).to_owned(), (*on).into())).collect();
        let device = serde_json::json!({ "features": features, "limits": record::limits(&caps) });
        assert_eq!(super::caps(&device), Some(caps));
        let again = super::features(&caps, device.get("features"));
        assert_eq!(again, device["features"], "the same names both ways");
    }
}
