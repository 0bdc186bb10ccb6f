//! Every form holds what decisions read.

use std::path::PathBuf;

use samplin_core::names;
use samplin_core::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_reports::{Capabilities, Form, profile, to_file};
use serde_json::{Map, Value as Json, json};

/// The capability files of `devices/`, or of the folder that `SAMPLIN_CAPABILITY_FILES` names.
fn files() -> Vec<(String, Json)> {
    let folder = std::env::var_os("SAMPLIN_CAPABILITY_FILES").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../devices")));
    let mut found: Vec<(String, Json)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), serde_json::from_str(&text).unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 20);
    found
}

/// The differences in what decisions read: capabilities, formats, what is not known, defaults of settings.
fn differences(a: &Json, b: &Json) -> Vec<String> {
    let (a, b) = (Capabilities::of_file_checked(a).unwrap(), Capabilities::of_file_checked(b).unwrap());
    let mut found = Vec::new();
    if a.caps() != b.caps() {
        found.push(format!("{:?}\n{:?}", a.caps(), b.caps()));
    }
    if a.covered() != b.covered() {
        found.push(format!("covered {:?} {:?}", a.covered(), b.covered()));
    }
    if a.smooths_nearest() != b.smooths_nearest() {
        found.push("quirks".to_owned());
    }
    for format in names::formats() {
        // None and no features are the same for whoever asks the device by itself, and not for whoever restricts another one.
        if a.format(format) != b.format(format) {
            found.push(format!("{} {:?} {:?}", names::format(format), a.format(format), b.format(format)));
        }
    }
    for ability in samplin_core::ability::ABILITIES.iter().flat_map(|one| [one.name, one.file]) {
        if a.denies(ability) != b.denies(ability) {
            found.push(format!("denies {ability}: {} {}", a.denies(ability), b.denies(ability)));
        }
    }
    for limit in ["maxSamplerLodBias", "filterMinmaxSingleComponentFormats"] {
        if a.limit(limit) != b.limit(limit) {
            found.push(format!("{limit} {:?} {:?}", a.limit(limit), b.limit(limit)));
        }
    }
    found
}

#[test]
fn a_profile_holds_what_a_capability_file_holds() {
    for (name, file) in files() {
        let profile = profile(&file);
        assert_eq!(Form::of(&profile), Some(Form::Profiles));
        let back = to_file(&profile.to_string(), &name, None).unwrap();
        assert_eq!(differences(&file, &back), [""; 0], "{name}");
        let again = to_file(&samplin_reports::profile(&back).to_string(), &name, None).unwrap();
        assert_eq!(differences(&back, &again), [""; 0], "{name}");
    }
}

/// A mask of 32 bits, signed as viewers write them.
fn mask(names: &Json) -> i32 {
    let bits = names.as_array().unwrap().iter().filter_map(|name| names::format_feature_by_name(name.as_str()?));
    bits.fold(Feature::empty(), |all, bit| all | bit).as_raw() as u32 as i32
}

/// A report with what a capability file says, and the highest bit in masks, which some drivers leave there.
fn report(file: &Json) -> Json {
    let of = |key: &str| file[key].as_object().unwrap();
    let is_core =
        |key: &str| !key.starts_with("custom") && !key.starts_with("border") && !key.starts_with("nonSeamless");
    let known = || of("features").iter().filter(|(_, value)| !value.is_null());
    let features: Map<String, Json> =
        known().filter(|(key, _)| is_core(key)).map(|(key, on)| (key.clone(), json!(u8::from(on == true)))).collect();
    let extended: Vec<Json> = known()
        .filter(|(key, _)| !is_core(key))
        .map(|(key, on)| json!({ "extension": "VK_EXT_some", "name": key, "supported": on }))
        .collect();
    let known = || of("limits").iter().filter(|(_, value)| !value.is_null());
    let limits: Map<String, Json> = known()
        .filter(|(key, _)| is_core(key) && !key.starts_with("filterMinmax"))
        .map(|(key, of)| (key.clone(), of.clone()))
        .collect();
    let properties: Vec<Json> = known()
        .filter(|(key, _)| !limits.contains_key(*key))
        .map(|(key, value)| json!({ "extension": "VK_EXT_some", "name": key, "value": value.to_string() }))
        .collect();
    let supported = of("extensions").iter().filter(|(_, on)| **on == Json::Bool(true));
    let format = |(name, of): (&String, &Json)| {
        let number = names::format_by_name(name).unwrap().as_raw();
        json!([number, {
            "supported": true,
            "linearTilingFeatures": mask(&of["linearTilingFeatures"]),
            "optimalTilingFeatures": mask(&of["optimalTilingFeatures"]) | i32::MIN,
            "bufferFeatures": mask(&of["bufferFeatures"]),
        }])
    };
    json!({
        "environment": { "appversion": "4.0" },
        "features": features,
        "extended": { "devicefeatures2": extended, "deviceproperties2": properties },
        "extensions": supported.map(|(name, _)| json!({ "extensionName": name, "specVersion": 1 })).collect::<Vec<_>>(),
        "properties": {
            "deviceName": file["device"]["deviceName"], "apiVersionText": file["device"]["apiVersion"], "limits": limits,
        },
        "formats": of("formats").iter().map(format).collect::<Vec<_>>(),
    })
}

#[test]
fn a_report_holds_what_a_capability_file_holds() {
    for (name, file) in files() {
        let is_wide =
            file["formats"].as_object().unwrap().values().any(|of| of.get("optimalTilingFeatures2").is_some());
        if is_wide || file["formats_covered"].get("lossy").is_some() || file.get("kind") == Some(&json!("profile")) {
            continue;
        }
        let back = to_file(&report(&file).to_string(), &name, None).unwrap();
        let quirk = file.get("quirks").map_or("", |_| "quirks");
        assert_eq!(differences(&file, &back).concat(), quirk, "{name}");
        assert_eq!(back["device"]["deviceName"], file["device"]["deviceName"]);
    }
}

#[test]
fn a_profile_promises_what_it_lists_and_no_more() {
    let profile = json!({
        "profiles": {
            "VP_BASE": { "version": 1, "api-version": "1.1.0", "label": "", "description": "", "capabilities": ["base"] },
            "VP_MORE": {
                "version": 1, "api-version": "1.3.0", "label": "more", "description": "", "profiles": ["VP_BASE"],
                "capabilities": ["more", ["either", "or"]], "optionals": ["perhaps"],
            },
        },
        "capabilities": {
            "base": {
                "features": { "VkPhysicalDeviceFeatures": { "samplerAnisotropy": true } },
                "formats": { "VK_FORMAT_R8_UNORM": { "VkFormatProperties": {
                    "optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"] } } },
            },
            "more": {
                "extensions": { "VK_EXT_filter_cubic": 1 },
                "properties": { "VkPhysicalDeviceProperties": { "limits": { "maxSamplerAnisotropy": 8 } } },
                "formats": { "VK_FORMAT_R8_UNORM": { "VkFormatProperties3": {
                    "optimalTilingFeatures": ["VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT"] } } },
            },
            "either": { "extensions": { "VK_EXT_custom_border_color": 1 } },
            "or": { "extensions": { "VK_EXT_border_color_swizzle": 1 } },
            "perhaps": { "features": { "VkPhysicalDeviceFeatures": { "sampleRateShading": true } } },
        },
    })
    .to_string();
    let refused = to_file(&profile, "x", None).unwrap_err().message;
    assert_eq!(refused, "the file has several profiles: VP_BASE, VP_MORE");
    assert!(to_file(&profile, "x", Some("VP_NONE")).unwrap_err().message.contains("VP_NONE"));
    let more = to_file(&profile, "x", Some("VP_MORE")).unwrap();
    let (known, caps) =
        (Capabilities::of_file_checked(&more).unwrap(), Capabilities::of_file_checked(&more).unwrap().caps());
    assert!(
        caps.sampler_anisotropy && caps.filter_cubic_ext && !caps.custom_border_colors && !caps.border_color_swizzle
    );
    assert_eq!((caps.max_sampler_anisotropy, caps.max_sampler_lod_bias), (8.0, 2.0));
    assert!(!known.denies("sampleRateShading") && known.denies("fragmentStoresAndAtomics"));
    let both = Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT;
    assert_eq!(known.features(vk::Format::R8_UNORM).optimal, both);
    let base = Capabilities::of_file_checked(&to_file(&profile, "x", Some("VP_BASE")).unwrap()).unwrap();
    assert!(base.denies("filterCubic") && base.denies("sampleRateShading"));
}

/// Profiles may require each other in circles, and name each other as often as they like.
#[test]
fn profiles_that_require_each_other_end() {
    let all: Vec<String> = (0..20).map(|number| format!("VP_{number}")).collect();
    let one = json!({ "label": "", "profiles": all, "capabilities": ["block"] });
    let profiles: Map<String, Json> = all.iter().map(|name| (name.clone(), one.clone())).collect();
    let block = json!({ "features": { "VkPhysicalDeviceFeatures": { "samplerAnisotropy": true } }, "formats": {} });
    let file = json!({ "profiles": profiles, "capabilities": { "block": block } });
    let read = to_file(&file.to_string(), "x", Some("VP_3")).unwrap();
    assert_eq!(read["effective"]["samplerAnisotropy"], true);
}

#[test]
fn what_is_none_of_them_is_refused() {
    let said = |text: &str| to_file(text, "x", None).unwrap_err();
    assert_eq!(said("{\n  \"schema\": }").line, Some(2));
    assert!(said("{}").message.contains("device-caps/1"));
    assert!(said(r#"{"properties": {}, "features": {}, "formats": {}}"#).message.contains("formats"));
    assert!(Capabilities::read(r#"{"schema": "device-caps/1"}"#).unwrap_err().message.contains("formats"));
}
