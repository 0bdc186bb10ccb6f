//! Vulkan Profiles, written.

use samplin_core::names;
use samplin_core::vk::FormatFeatureFlags2 as Feature;
use serde_json::{Map, Value as Json, json};

use crate::Capabilities;
use crate::facts::{CORE, FEATURES, LIMITS};

/// Who wrote the profile, among its contributors.
pub(crate) const AUTHOR: &str = "samplin";
/// What stands before the quirks of the driver in the description.
pub(crate) const QUIRKS: &str = "Quirks of the driver: ";
const DEVICE: &str = "device";
const UNKNOWN: &str = "unknown";
/// Every mask of 32 bits.
const NARROW: Feature = Feature::from_raw(u32::MAX as u64);

/// A capability file as a Vulkan Profile. What the file does not know is among the profile's `optionals`.
pub fn profile(file: &Json) -> Json {
    let known = Capabilities::of_file(file);
    let object = |key: &str| file.get(key).and_then(Json::as_object);
    let is = |of: &str, key: &str| file.get(of).and_then(|of| of.get(key)).filter(|value| !value.is_null());
    let listed = object("extensions");
    let (mut features, mut unknown) = (Map::new(), Map::new());
    for (name, structure) in FEATURES {
        let effective = is("effective", name);
        match is("features", name) {
            Some(value) => member(&mut features, structure, name, value.clone()),
            // It follows from the extensions, or from there not being any.
            None if effective.is_some() && listed.is_some() => {}
            None => match effective {
                Some(value) if *structure == CORE || *value == Json::Bool(true) => {
                    member(&mut features, structure, name, value.clone());
                }
                None if *structure == CORE => member(&mut unknown, structure, name, true.into()),
                _ => {}
            },
        }
    }
    let mut properties = json!({ "VkPhysicalDeviceProperties": { "limits": {} } });
    for (name, structure) in LIMITS {
        let Some(value) = is("limits", name) else { continue };
        match structure {
            Some(structure) => properties[*structure][*name] = value.clone(),
            None => properties["VkPhysicalDeviceProperties"]["limits"][*name] = value.clone(),
        }
    }
    for (key, structure) in [
        ("deviceName", "VkPhysicalDeviceProperties"),
        ("driverName", "VkPhysicalDeviceDriverProperties"),
        ("driverInfo", "VkPhysicalDeviceDriverProperties"),
    ] {
        if let Some(value) = is("device", key) {
            properties[structure][key] = value.clone();
        }
    }
    let extensions: Map<String, Json> = match listed {
        Some(all) => {
            all.iter().filter(|(_, on)| **on == Json::Bool(true)).map(|(name, _)| (name.clone(), 1.into())).collect()
        }
        None => extensions_of(&is),
    };
    let (mut formats, mut unknown_formats) = (Map::new(), Map::new());
    let missing = NARROW & !known.covered();
    for (name, _) in object("formats").into_iter().flatten() {
        let Some(format) = names::format_by_name(name) else { continue };
        let of = known.features(format);
        let lists = |what: fn(Feature) -> Vec<String>| {
            json!({
                "linearTilingFeatures": what(of.linear),
                "optimalTilingFeatures": what(of.optimal),
                "bufferFeatures": what(of.buffer),
            })
        };
        let mut entry = json!({ "VkFormatProperties": lists(|all| names::format_features(all & NARROW)) });
        if known.covered() & !NARROW != Feature::empty() {
            entry["VkFormatProperties3"] = lists(names::format_features_2);
        }
        formats.insert(name.clone(), entry);
        if !missing.is_empty() {
            let list = names::format_features(missing);
            let entry =
                json!({ "VkFormatProperties": { "linearTilingFeatures": list, "optimalTilingFeatures": list } });
            unknown_formats.insert(name.clone(), entry);
        }
    }
    let text = |pointer: &str| file.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let (name, title, origin) = (text("/name"), text("/device/deviceName"), text("/provenance/origin"));
    let key: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut description = format!("What samplin knows of {name}. {origin}");
    let quirks: Vec<&str> =
        file.get("quirks").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    if !quirks.is_empty() {
        description += &format!(" {QUIRKS}{}", quirks.join(" "));
    }
    let version = text("/device/apiVersion");
    let mut profile = json!({
        "version": 1,
        "api-version": if version.is_empty() { "1.0.0" } else { version },
        "label": if title.is_empty() { name } else { title },
        "description": description,
        "contributors": { AUTHOR: { "company": "samplin", "contact": false } },
        "history": [],
        "capabilities": [DEVICE],
    });
    let block = json!({ "extensions": extensions, "features": features, "properties": properties, "formats": formats });
    let mut blocks = json!({ DEVICE: block });
    if !(unknown.is_empty() && unknown_formats.is_empty()) {
        profile["optionals"] = json!([UNKNOWN]);
        blocks[UNKNOWN] = json!({ "features": unknown, "formats": unknown_formats });
    }
    json!({
        "$schema": "https://schema.khronos.org/vulkan/profiles-0.8-latest.json#",
        "capabilities": blocks,
        "profiles": { format!("VP_SAMPLIN_{key}"): profile },
    })
}

fn member(of: &mut Map<String, Json>, structure: &str, name: &str, value: Json) {
    of.entry(structure).or_insert_with(|| json!({}))[name] = value;
}

/// The extensions of a capability file that lists none: those without which it could not have what it has.
fn extensions_of<'a>(is: &dyn Fn(&str, &str) -> Option<&'a Json>) -> Map<String, Json> {
    let has = |key: &str| is("effective", key) == Some(&Json::Bool(true));
    [
        ("VK_EXT_filter_cubic", has("filterCubic")),
        ("VK_KHR_sampler_mirror_clamp_to_edge", has("mirrorClampToEdge")),
        ("VK_EXT_sampler_filter_minmax", has("filterMinmax")),
        ("VK_EXT_custom_border_color", has("customBorderColors")),
        ("VK_EXT_border_color_swizzle", has("borderColorSwizzle")),
        ("VK_EXT_non_seamless_cube_map", has("nonSeamlessCubeMap")),
        ("VK_KHR_portability_subset", is("effective", "samplerMipLodBias") == Some(&Json::Bool(false))),
    ]
    .into_iter()
    .filter(|(_, on)| *on)
    .map(|(name, _)| (name.to_owned(), 1.into()))
    .collect()
}
