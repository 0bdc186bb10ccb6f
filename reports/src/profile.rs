//! Vulkan Profiles, read.
//!
//! A profile promises what it lists, so a feature that it does not list is one that an application must not count on. What it has among
//! `optionals` may or may not be there; a capability file says `null` of that.

use std::collections::BTreeSet;

use samplin_core::names;
use serde_json::{Map, Value as Json, json};

use crate::Malformed;
use crate::export::{AUTHOR, QUIRKS};
use crate::facts::{CORE, EXTENSIONS, FEATURES, LIMITS, Parts};

/// The format features that an export of the database carries; it knows nothing about the others.
const EXPORTED: u64 = 0xdfff;

/// The least that every implementation has ("Required Limits"), where a profile says nothing.
const REQUIRED: [(&str, f64); 3] =
    [("maxSamplerAnisotropy", 1.0), ("maxSamplerLodBias", 2.0), ("maxSamplerAllocationCount", 4000.0)];

/// A profile as a capability file.
pub(crate) fn to_file(file: &Json, name: &str, wanted: Option<&str>) -> Result<Json, Malformed> {
    let profiles = file.get("profiles").and_then(Json::as_object);
    let profiles = profiles.ok_or_else(|| Malformed::new("the member \"profiles\" is not an object"))?;
    let (key, profile) = match (wanted, profiles.iter().collect::<Vec<_>>().as_slice()) {
        (None, [one]) => *one,
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|(key, _)| key.as_str()).collect();
            return Err(Malformed::new(format!("the file has several profiles: {}", names.join(", "))));
        }
        (Some(wanted), several) => *several
            .iter()
            .find(|(key, _)| key.as_str() == wanted)
            .ok_or_else(|| Malformed::new(format!("the file has no profile {wanted}")))?,
    };
    let mut promised = Blocks::default();
    promised.add_profile(file, profile, "capabilities", &mut BTreeSet::new());
    let mut optional = Blocks::default();
    optional.add_profile(file, profile, "optionals", &mut BTreeSet::new());

    let text = |key: &str| profile.get(key).and_then(Json::as_str).unwrap_or_default();
    let is_ours = profile.pointer("/contributors").is_some_and(|all| all.get(AUTHOR).is_some());
    let feature = |(key, structure): &(&str, &str)| match promised.member("features", key) {
        Some(value) => Json::Bool(value == &Json::Bool(true)),
        None if *structure == CORE && optional.member("features", key).is_none() => Json::Bool(false),
        // The profile does not carry the structure.
        None => Json::Null,
    };
    let has = |key: &str| promised.extensions.contains_key(key);
    let limits = LIMITS.iter().map(|(key, _)| {
        let required = REQUIRED.iter().find(|(of, _)| of == key).map(|(_, value)| json!(value));
        let value = promised.limit(key).cloned().or(required);
        ((*key).to_owned(), value.unwrap_or(Json::Null))
    });
    let property = |key: &str| promised.member("properties", key).cloned().unwrap_or(Json::Null);
    let is_lossy = !optional.formats.is_empty() || !is_ours && promised.is_export();
    let mut covered = json!({
        "listed": promised.formats.len(),
        "absent_means": "the profile does not promise the format",
    });
    if is_lossy {
        covered["lossy"] =
            "FILTER_CUBIC, FILTER_MINMAX and later bits are absent from the source, so they are not known".into();
    }
    let device_name = property("deviceName");
    let device_name = if device_name.is_string() { device_name } else { text("label").into() };
    let vendor = property("vendorID").as_u64().map(|id| format!("{id:#x}"));
    let (description, quirks) = text("description").split_once(QUIRKS).unwrap_or((text("description"), ""));
    let parts = Parts {
        device: json!({
            "deviceName": device_name,
            "vendorID": vendor,
            "deviceType": property("deviceType"),
            "driverName": property("driverName"),
            "driverInfo": property("driverInfo"),
            "driverVersion": property("driverVersion"),
            "apiVersion": text("api-version"),
        }),
        provenance: json!({ "origin": format!("Vulkan Profile {key}: {}", description.trim()) }),
        features: FEATURES.iter().map(|one| (one.0.to_owned(), feature(one))).collect(),
        extensions: EXTENSIONS.iter().map(|key| ((*key).to_owned(), has(key).into())).collect(),
        limits: limits.collect(),
        formats: promised.formats.iter().map(|(name, of)| (name.clone(), of.clone())).collect(),
        covered,
        quirks: quirks.split_whitespace().map(Into::into).collect(),
    };
    Ok(parts.file(name, if is_ours { "device" } else { "profile" }))
}

/// What several blocks of capabilities say together.
#[derive(Default)]
struct Blocks<'a> {
    blocks: Vec<&'a Json>,
    extensions: Map<String, Json>,
    formats: Map<String, Json>,
}

impl<'a> Blocks<'a> {
    /// Adds the blocks that a profile names under a key, and those of profiles that it requires, each once.
    fn add_profile(&mut self, file: &'a Json, profile: &'a Json, key: &str, seen: &mut BTreeSet<&'a str>) {
        let names = |key: &str| profile.get(key).and_then(Json::as_array).into_iter().flatten();
        for required in names("profiles").filter_map(Json::as_str) {
            let known = file.get("profiles").and_then(|all| all.get(required));
            if let Some(profile) = known.filter(|_| seen.insert(required)) {
                self.add_profile(file, profile, key, seen);
            }
        }
        // Of blocks in a list of their own a device has any one, so that none of them is promised.
        for block in names(key).filter_map(Json::as_str) {
            if let Some(block) = file.get("capabilities").and_then(|all| all.get(block)) {
                self.add(block);
            }
        }
    }

    fn add(&mut self, block: &'a Json) {
        self.blocks.push(block);
        let object = |key: &str| block.get(key).and_then(Json::as_object).into_iter().flatten();
        self.extensions.extend(object("extensions").map(|(name, version)| (name.clone(), version.clone())));
        for (name, properties) in object("formats") {
            let entry = self.formats.entry(name.clone()).or_insert_with(|| json!({}));
            add_format(entry, properties);
        }
    }

    /// A member of any structure of features or properties. The last block that names it counts.
    fn member(&self, kind: &str, key: &str) -> Option<&'a Json> {
        let in_block = |block: &&'a Json| block.get(kind)?.as_object()?.values().find_map(|of| of.get(key));
        self.blocks.iter().rev().find_map(in_block)
    }

    fn limit(&self, key: &str) -> Option<&'a Json> {
        let core = |block: &&'a Json| block.pointer("/properties/VkPhysicalDeviceProperties/limits")?.get(key);
        self.blocks.iter().rev().find_map(core).or_else(|| self.member("properties", key))
    }

    /// Whether it has but the features that exports of the database have.
    fn is_export(&self) -> bool {
        let lists = self.formats.values().filter_map(Json::as_object).flatten();
        let mut names = lists.filter_map(|(_, list)| list.as_array()).flatten().filter_map(Json::as_str);
        let known = |name: &str| names::format_feature_by_name(name).is_none_or(|bit| bit.as_raw() & !EXPORTED == 0);
        names.all(known)
    }
}

/// Adds what a profile says of a format to an entry of a capability file.
fn add_format(entry: &mut Json, properties: &Json) {
    let narrow =
        ["/VkFormatProperties", "/VkFormatProperties2/formatProperties", "/VkFormatProperties2KHR/formatProperties"];
    let wide = ["/VkFormatProperties3", "/VkFormatProperties3KHR"];
    for key in ["linearTilingFeatures", "optimalTilingFeatures", "bufferFeatures"] {
        add_list(entry, key, narrow.iter().filter_map(|of| properties.pointer(of)?.get(key)));
        let found: Vec<&Json> = wide.iter().filter_map(|of| properties.pointer(of)?.get(key)).collect();
        if !found.is_empty() {
            add_list(entry, &format!("{key}2"), found.into_iter());
        }
    }
}

fn add_list<'a>(entry: &mut Json, key: &str, lists: impl Iterator<Item = &'a Json>) {
    let mut all: Vec<Json> = entry.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    for name in lists.filter_map(Json::as_array).flatten() {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    entry[key] = all.into();
}
