//! What a device is known to report, and what it is as a device of the decision core.

use std::collections::BTreeMap;

use samplin_core::ability::{ABILITIES, Ability};
use samplin_core::decide::DeviceCaps;
use samplin_core::quirk::{Quirk, Quirks};
use samplin_core::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_core::{Device, FormatFeatures, FormatProperties, Settings, names};
use serde_json::{Map, Value as Json};

use crate::{Malformed, SCHEMA, to_file};

/// Format-feature bits that an export of the profiles tool carries; it knows nothing about the others.
const LOSSY: Feature = Feature::from_raw(0xdfff);
/// The last format of version 1.0.
const LAST_CORE_FORMAT: i32 = 184;

/// What a device reports of sampling.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// The name of the file.
    name: Option<String>,
    /// Features, and what an application can use of them, by the names of capability files.
    effective: BTreeMap<String, bool>,
    limits: BTreeMap<String, f64>,
    formats: BTreeMap<i32, FormatFeatures>,
    /// Bits that the file knows about.
    covered: Feature,
    quirks: Quirks,
}

/// A map of `members`, one by one: collecting them would sort a list first, with the code of a sort for each type.
fn map<K: Ord, V>(members: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut all = BTreeMap::new();
    all.extend(members);
    all
}

fn format_features(of: &Map<String, Json>) -> FormatFeatures {
    let union = |keys: [&str; 2]| {
        keys.iter()
            .filter_map(|key| of.get(*key)?.as_array())
            .flatten()
            .filter_map(|name| names::format_feature_by_name(name.as_str()?))
            .fold(Feature::empty(), |all, bit| all | bit)
    };
    FormatFeatures {
        optimal: union(["optimalTilingFeatures", "optimalTilingFeatures2"]),
        linear: union(["linearTilingFeatures", "linearTilingFeatures2"]),
        buffer: union(["bufferFeatures", "bufferFeatures2"]),
        modifiers: Vec::new(),
    }
}

impl Capabilities {
    /// Reads a text of any [`Form`](crate::Form).
    ///
    /// # Errors
    ///
    /// When it is of none of them, or has several profiles.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        Self::of_file_checked(&to_file(text, "", None)?)
    }

    /// Reads a capability file.
    ///
    /// # Errors
    ///
    /// When it is none, or has no formats.
    pub fn of_file_checked(file: &Json) -> Result<Self, Malformed> {
        if file.get("schema").and_then(Json::as_str) != Some(SCHEMA) {
            let message = "the file is not a capability file: its member \"schema\" is not \"device-caps/1\"";
            return Err(Malformed::new(message));
        }
        if !file.get("formats").is_some_and(Json::is_object) {
            return Err(Malformed::new("the capability file has no member \"formats\""));
        }
        Ok(Self::of_file(file))
    }

    /// What a capability file says. A member that is not what it should be says nothing.
    pub(crate) fn of_file(file: &Json) -> Self {
        let object = |key: &str| file.get(key).and_then(Json::as_object).into_iter().flatten();
        let is_lossy = file
            .get("formats_covered")
            .and_then(|covered| covered.get("lossy"))
            .is_some_and(|lossy| *lossy != Json::Bool(false));
        let mut members = object("formats").filter_map(|(_, format)| format.as_object());
        let covered = if is_lossy {
            LOSSY
        } else if members.any(|format| format.keys().any(|key| key.ends_with("Features2"))) {
            Feature::from_raw(u64::MAX)
        } else {
            Feature::from_raw(u64::from(u32::MAX))
        };
        Self {
            name: file.get("name").and_then(Json::as_str).map(str::to_owned),
            // What is a feature and nothing else stands among those only.
            effective: map(object("features")
                .chain(object("effective"))
                .filter_map(|(key, value)| Some((key.clone(), value.as_bool()?)))),
            limits: map(object("limits").filter_map(|(key, value)| {
                let number = value.as_f64().or_else(|| value.as_bool().map(|on| f64::from(u8::from(on))))?;
                Some((key.clone(), number))
            })),
            formats: map(object("formats").filter_map(|(name, value)| {
                Some((names::format_by_name(name)?.as_raw(), format_features(value.as_object()?)))
            })),
            covered,
            quirks: Quirks::named(
                file.get("quirks").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str),
            ),
        }
    }

    /// The name that the file has for it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A limit by Vulkan's name, if it is known; 0 or 1 for a boolean.
    pub fn limit(&self, name: &str) -> Option<f64> {
        self.limits.get(name).copied()
    }

    /// Format features that the source can name. What else a format has is not known.
    pub fn covered(&self) -> Feature {
        self.covered
    }

    /// Whether a feature is denied, or an ability by the name that it has in capability files.
    pub fn denies(&self, name: &str) -> bool {
        self.effective.get(name) == Some(&false)
    }

    /// Whether the driver is known to smooth NEAREST where there is anisotropy.
    pub fn smooths_nearest(&self) -> bool {
        self.quirks.has(Quirk::ANISOTROPY_SMOOTHS_NEAREST)
    }

    /// What the driver is known to do where Vulkan leaves it open.
    #[doc(hidden)]
    pub fn quirks(&self) -> Quirks {
        self.quirks
    }

    /// Number of formats that are listed.
    pub fn format_count(&self) -> usize {
        self.formats.len()
    }

    /// What is said of a format: a core format that is not listed has nothing, and one of an extension may never have been asked about.
    pub fn format(&self, format: vk::Format) -> Option<&FormatFeatures> {
        static ABSENT: FormatFeatures = FormatFeatures {
            optimal: Feature::empty(),
            linear: Feature::empty(),
            buffer: Feature::empty(),
            modifiers: Vec::new(),
        };
        self.formats.get(&format.as_raw()).or((format.as_raw() <= LAST_CORE_FORMAT).then_some(&ABSENT))
    }

    /// Features of a format by the file alone.
    pub fn features(&self, format: vk::Format) -> FormatFeatures {
        self.formats.get(&format.as_raw()).cloned().unwrap_or_default()
    }

    /// Takes away the features, extensions and limits that the device does not have.
    #[doc(hidden)]
    pub fn restrict(&self, caps: &mut DeviceCaps) {
        let lacks = |ability: &Ability| self.denies(ability.file);
        for ability in ABILITIES.iter().filter(|ability| lacks(ability)) {
            if let Some(field) = ability.field {
                *field(caps) = false;
            }
        }
        if let Some(mapping) = self.limit("filterMinmaxImageComponentMapping") {
            caps.filter_minmax_component_mapping &= mapping != 0.0;
        }
        let float = |key: &str, own: f32| self.limit(key).map_or(own, |limit| own.min(limit as f32));
        caps.max_sampler_anisotropy = float("maxSamplerAnisotropy", caps.max_sampler_anisotropy).max(1.0);
        caps.max_sampler_lod_bias = float("maxSamplerLodBias", caps.max_sampler_lod_bias);
        // `as` saturates, so a limit of 2³² − 1 or more stays the largest number.
        let count = |key: &str, own: u32| self.limit(key).map_or(own, |limit| own.min(limit as u32));
        caps.max_sampler_allocation_count = count("maxSamplerAllocationCount", caps.max_sampler_allocation_count);
        caps.max_custom_border_color_samplers =
            count("maxCustomBorderColorSamplers", caps.max_custom_border_color_samplers);
        // The limit of what it does not have is none of the driver's (Limits, "Required Limits"; files have none).
        let lacks = |name| Ability::by_name(name).is_some_and(lacks);
        if lacks("samplerAnisotropy") {
            caps.max_sampler_anisotropy = 1.0;
        }
        if lacks("customBorderColors") {
            caps.max_custom_border_color_samplers = 0;
        }
    }

    /// The abilities of the device by itself: as if everything it has were enabled on it.
    #[doc(hidden)]
    pub fn caps(&self) -> DeviceCaps {
        let mut caps = DeviceCaps {
            max_sampler_anisotropy: f32::MAX,
            max_sampler_lod_bias: f32::MAX,
            max_sampler_allocation_count: u32::MAX,
            filter_minmax_component_mapping: true,
            max_custom_border_color_samplers: u32::MAX,
            ..DeviceCaps::default()
        };
        for ability in ABILITIES.iter().filter(|ability| !ability.file.is_empty()) {
            if let Some(field) = ability.field {
                *field(&mut caps) = true;
            }
        }
        // Files do not tell the two extensions for cubic filters apart.
        caps.filter_cubic_img = false;
        self.restrict(&mut caps);
        caps
    }

    /// Features of a format on the device by itself, where depth that can be sampled can be compared.
    #[doc(hidden)]
    pub fn own_features(&self, format: vk::Format) -> FormatFeatures {
        let mut features = self.features(format);
        features.add_comparison(format);
        features
    }

    /// The device by itself, with everything enabled on it that it has.
    pub fn device(&self) -> Device {
        let formats: FormatProperties = names::formats().map(|format| (format, self.own_features(format))).collect();
        let settings = Settings { aniso_nearest_off: self.smooths_nearest(), ..Settings::default() };
        Device::with_caps(self.caps(), formats).with_settings(&settings)
    }
}
