//! Reports of the Vulkan Hardware Capability Viewer, which the database `vulkan.gpuinfo.org` hands out.

use samplin_core::names;
use samplin_core::vk::{self, FormatFeatureFlags2 as Feature};
use serde_json::{Map, Value as Json, json};

use crate::Malformed;
use crate::facts::{EXTENSIONS, FEATURES, LIMITS, Parts};

/// The bit that drivers and older viewers leave in masks of 32 bits, which belongs to no feature.
const STRAY: u64 = 1 << 31;

/// A report as a capability file.
pub(crate) fn to_file(report: &Json, name: &str) -> Result<Json, Malformed> {
    let text = |pointer: &str| report.pointer(pointer).filter(|value| value.is_string()).cloned();
    let extended = |list: &str, key: &str, value: &str| {
        let all = report.pointer(&format!("/extended/{list}"))?.as_array()?;
        all.iter().find(|one| one.get("name").and_then(Json::as_str) == Some(key))?.get(value).cloned()
    };
    let feature = |key: &str| {
        let core = ["/features", "/core11/features", "/core12/features", "/core13/features"];
        let found = core.iter().find_map(|of| report.pointer(of)?.get(key).cloned());
        found.or_else(|| extended("devicefeatures2", key, "supported")).and_then(|value| switch(&value))
    };
    let limit = |key: &str| {
        let core = ["/properties/limits", "/core12/properties"];
        let found = core.iter().find_map(|of| report.pointer(of)?.get(key).cloned());
        found.or_else(|| extended("deviceproperties2", key, "value"))
    };
    let listed = report.get("extensions").and_then(Json::as_array);
    let has = |key: &str| {
        listed.into_iter().flatten().any(|one| one.get("extensionName").and_then(Json::as_str) == Some(key))
    };
    let formats = report.get("formats").and_then(Json::as_array);
    let formats = formats.ok_or_else(|| Malformed::new("the member \"formats\" of the report is not a list"))?;
    let limits = LIMITS.iter().map(|(key, _)| {
        let is_switch = key.starts_with("filterMinmax");
        let value =
            limit(key).and_then(|value| if is_switch { switch(&value).map(Json::Bool) } else { number(&value) });
        ((*key).to_owned(), value.unwrap_or(Json::Null))
    });
    let vendor = report.pointer("/properties/vendorID").and_then(Json::as_u64).map(|id| format!("{id:#x}"));
    let driver =
        |key: &str| text(&format!("/core12/properties/{key}")).or_else(|| extended("deviceproperties2", key, "value"));
    let viewer = report.pointer("/environment/appversion").and_then(Json::as_str).unwrap_or("unknown");
    let parts = Parts {
        device: json!({
            "deviceName": text("/properties/deviceName"),
            "vendorID": vendor,
            "deviceType": text("/properties/deviceTypeText"),
            "driverName": driver("driverName"),
            "driverInfo": driver("driverInfo"),
            "driverVersion": text("/properties/driverVersionText"),
            "apiVersion": text("/properties/apiVersionText"),
        }),
        provenance: json!({
            "origin": format!("a report of vulkan.gpuinfo.org, version {viewer} of the viewer"),
            "license": "CC BY 4.0, vulkan.gpuinfo.org / Sascha Willems",
        }),
        features: FEATURES.iter().map(|(key, _)| ((*key).to_owned(), feature(key).into())).collect(),
        extensions: EXTENSIONS.iter().map(|key| ((*key).to_owned(), has(key).into())).collect(),
        limits: limits.collect(),
        formats: formats.iter().filter_map(format).collect(),
        covered: json!({ "listed": formats.len(), "absent_means": "the device reported no features at all" }),
        quirks: Vec::new(),
    };
    Ok(parts.file(name, "device"))
}

/// A `VkBool32` in whichever way a version of the viewer wrote it.
pub(crate) fn switch(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(on) => Some(*on),
        Json::Number(number) => number.as_f64().map(|number| number != 0.0),
        Json::String(word) => match word.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A number, which may be written as text.
fn number(value: &Json) -> Option<Json> {
    match value {
        Json::Number(_) => Some(value.clone()),
        Json::String(digits) => serde_json::from_str::<Json>(digits).ok().filter(Json::is_number),
        _ => None,
    }
}

/// The entry of a format that has any feature.
fn format(entry: &Json) -> Option<(String, Json)> {
    let number = i32::try_from(entry.get(0)?.as_i64()?).ok()?;
    let name = names::format(vk::Format::from_raw(number));
    if !name.starts_with("VK_") {
        return None;
    }
    let mut members = Map::new();
    let mut any = false;
    for key in ["linearTilingFeatures", "optimalTilingFeatures", "bufferFeatures"] {
        // Masks with the highest bit come out negative.
        let mask = entry.get(1)?.get(key).and_then(Json::as_i64).unwrap_or(0) as u64 & 0xffff_ffff & !STRAY;
        any |= mask != 0;
        members.insert(key.to_owned(), names::format_features(Feature::from_raw(mask)).into());
    }
    any.then_some((name, Json::Object(members)))
}
