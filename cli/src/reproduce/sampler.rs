//! A sampler's create info in C++ and in Rust.

use ash::vk;
use samplin_core::names;
use samplin_testkit::{BorderValue, SamplerDesc};
use serde::Serialize;

use super::float;

#[derive(Serialize)]
pub(super) struct Member {
    name: &'static str,
    value: String,
}

/// A form of the sampler.
#[derive(Serialize)]
pub(super) struct Form {
    begin: String,
    chains: Vec<String>,
    members: Vec<Member>,
    rust: Vec<Member>,
}

/// A float of a create info, which may be none.
pub(super) fn number(value: f32, is_c: bool) -> String {
    match (value, is_c) {
        (value, true) if value.is_nan() => "NAN".to_owned(),
        (value, true) if value.is_infinite() => if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned(),
        (value, true) => format!("{}f", float(value)),
        (value, false) if value.is_nan() => "f32::NAN".to_owned(),
        (value, false) if value.is_infinite() => {
            if value > 0.0 { "f32::INFINITY" } else { "f32::NEG_INFINITY" }.to_owned()
        }
        (value, false) => float(value),
    }
}

/// An enumerant by its name in C, or by its number.
pub(super) fn c_name(name: &str, ty: &str, raw: i32) -> String {
    if name.starts_with("VK_") { name.to_owned() } else { format!("static_cast<{ty}>({raw:#x})") }
}

/// An enumerant of ash's, which has names for what it knows.
pub(super) fn rust_name(debug: &str, ty: &str, raw: i32) -> String {
    if debug.starts_with(|first: char| first.is_ascii_alphabetic()) {
        format!("vk::{ty}::{debug}")
    } else {
        format!("vk::{ty}::from_raw({raw:#x})")
    }
}

pub(super) fn form(sampler: &SamplerDesc, begin: String) -> Form {
    let mut form = Form { begin, chains: chains(sampler), members: Vec::new(), rust: Vec::new() };
    let mut put = |c: &'static str, rust: &'static str, values: (String, String)| {
        form.members.push(Member { name: c, value: values.0 });
        form.rust.push(Member { name: rust, value: values.1 });
    };
    macro_rules! enumerant {
        ($value:expr, $c:literal, $rust:literal, $names:path) => {{
            let value = $value;
            (c_name(&$names(value), $c, value.as_raw()), rust_name(&format!("{value:?}"), $rust, value.as_raw()))
        }};
    }
    let float = |value: f32| (number(value, true), number(value, false));
    let flag = |on: bool| {
        let text = |on: bool| if on { "TRUE" } else { "FALSE" };
        (format!("VK_{}", text(on)), format!("vk::{}", text(on)))
    };
    let flags = sampler.flags.as_raw();
    put(
        "flags",
        "flags",
        (format!("VkSamplerCreateFlags({flags:#x})"), format!("vk::SamplerCreateFlags::from_raw({flags:#x})")),
    );
    put("magFilter", "mag_filter", enumerant!(sampler.mag_filter, "VkFilter", "Filter", names::filter));
    put("minFilter", "min_filter", enumerant!(sampler.min_filter, "VkFilter", "Filter", names::filter));
    let mode = enumerant!(sampler.mipmap_mode, "VkSamplerMipmapMode", "SamplerMipmapMode", names::mipmap_mode);
    put("mipmapMode", "mipmap_mode", mode);
    let axes =
        [("addressModeU", "address_mode_u"), ("addressModeV", "address_mode_v"), ("addressModeW", "address_mode_w")];
    for ((c, rust), mode) in axes.into_iter().zip(sampler.address) {
        put(c, rust, enumerant!(mode, "VkSamplerAddressMode", "SamplerAddressMode", names::address_mode));
    }
    put("mipLodBias", "mip_lod_bias", float(sampler.lod_bias));
    put("anisotropyEnable", "anisotropy_enable", flag(sampler.anisotropy_enable));
    put("maxAnisotropy", "max_anisotropy", float(sampler.max_anisotropy));
    put("compareEnable", "compare_enable", flag(sampler.compare_enable));
    put("compareOp", "compare_op", enumerant!(sampler.compare_op, "VkCompareOp", "CompareOp", names::compare_op));
    put("minLod", "min_lod", float(sampler.min_lod));
    put("maxLod", "max_lod", float(sampler.max_lod));
    put(
        "borderColor",
        "border_color",
        enumerant!(sampler.border_color, "VkBorderColor", "BorderColor", names::border_color),
    );
    put("unnormalizedCoordinates", "unnormalized_coordinates", flag(sampler.unnormalized));
    form
}

/// The words of a custom colour, as integers.
pub(super) fn color(value: BorderValue) -> [u32; 4] {
    match value {
        BorderValue::Float(value) => value.map(f32::to_bits),
        BorderValue::Int(value) => value.map(i32::cast_unsigned),
        BorderValue::Uint(value) => value,
    }
}

/// What is chained to the create info, in C++.
pub(super) fn chains(sampler: &SamplerDesc) -> Vec<String> {
    let mut all = Vec::new();
    let mut chain = |ty: &str, s_type: &str, name: &str, members: &[String]| {
        all.push(format!("{ty} {name} = {{{s_type}}};"));
        all.extend(members.iter().map(|member| format!("{name}.{member};")));
        all.push(format!("{name}.pNext = sampler_info.pNext;"));
        all.push(format!("sampler_info.pNext = &{name};"));
    };
    if let Some(mode) = sampler.reduction {
        let value = c_name(&names::reduction_mode(mode), "VkSamplerReductionMode", mode.as_raw());
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO";
        chain("VkSamplerReductionModeCreateInfo", s_type, "reduction", &[format!("reductionMode = {value}")]);
    }
    if let Some(border) = sampler.custom_border {
        let words = color(border.value).map(|word| format!("{word:#x}"));
        let mut members: Vec<String> =
            words.iter().enumerate().map(|(at, word)| format!("customBorderColor.uint32[{at}] = {word}")).collect();
        members.push(format!("format = {}", names::format(border.format)));
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT";
        chain("VkSamplerCustomBorderColorCreateInfoEXT", s_type, "custom", &members);
    }
    if let Some((mapping, srgb)) = sampler.border_mapping {
        let components = [mapping.r, mapping.g, mapping.b, mapping.a].map(names::component_swizzle).join(", ");
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_BORDER_COLOR_COMPONENT_MAPPING_CREATE_INFO_EXT";
        let members = [format!("components = {{{components}}}"), format!("srgb = {}", u32::from(srgb))];
        chain("VkSamplerBorderColorComponentMappingCreateInfoEXT", s_type, "mapping", &members);
    }
    all
}

/// The same in Rust, of both forms.
pub(super) fn rust_chains(asked: &SamplerDesc, legal: &SamplerDesc) -> Vec<String> {
    let mut all = Vec::new();
    let mut chain = |name: &str, forms: [Option<String>; 2]| {
        let Some(default) = forms.iter().flatten().next().cloned() else { return };
        let [asked, legal] = &forms;
        let of = |form: &Option<String>| form.clone().unwrap_or_else(|| default.clone());
        all.push(format!("let mut {name} = if LEGAL {{ {} }} else {{ {} }};", of(legal), of(asked)));
        all.push(format!("if if LEGAL {{ {} }} else {{ {} }} {{", legal.is_some(), asked.is_some()));
        all.push(format!("    info = info.push_next(&mut {name});"));
        all.push("}".to_owned());
    };
    chain(
        "reduction",
        [asked, legal].map(|sampler| {
            let mode = sampler.reduction?;
            let mode = rust_name(&format!("{mode:?}"), "SamplerReductionMode", mode.as_raw());
            Some(format!("vk::SamplerReductionModeCreateInfo::default().reduction_mode({mode})"))
        }),
    );
    chain("custom", [asked, legal].map(|sampler| {
        let border = sampler.custom_border?;
        let words = color(border.value).map(|word| format!("{word:#x}")).join(", ");
        let format = rust_name(&format!("{:?}", border.format), "Format", border.format.as_raw());
        Some(format!(
            "vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(vk::ClearColorValue {{ uint32: [{words}] }}).format({format})"
        ))
    }));
    chain("mapping", [asked, legal].map(|sampler| {
        let (mapping, srgb) = sampler.border_mapping?;
        let of = |swizzle: vk::ComponentSwizzle| format!("vk::ComponentSwizzle::{swizzle:?}");
        let [r, g, b, a] = [mapping.r, mapping.g, mapping.b, mapping.a].map(of);
        Some(format!(
            "vk::SamplerBorderColorComponentMappingCreateInfoEXT::default().components(vk::ComponentMapping {{ r: {r}, g: {g}, b: {b}, a: {a} }}).srgb({srgb})"
        ))
    }));
    all
}
