//! What a device can do, from a capability file or from the device itself.

use std::collections::BTreeMap;
use std::path::Path;

use ash::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_core::quirk::Quirks;
use samplin_core::storage::{self, Stored};
use samplin_core::{format, names};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};
use crate::trace::record::grouped;

/// What a device can do with one format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatAbilities {
    /// Vulkan name.
    pub name: String,
    /// Features with optimal tiling.
    #[serde(serialize_with = "feature_names")]
    pub optimal: Feature,
    /// Features with linear tiling.
    #[serde(serialize_with = "feature_names")]
    pub linear_tiling: Feature,
    /// Features of buffers.
    #[serde(skip)]
    pub buffer: Feature,
}

fn feature_names<S: serde::Serializer>(features: &Feature, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    names::format_features(*features).serialize(serializer)
}

macro_rules! abilities {
    ($($(#[$doc:meta])* $name:ident: $field:ident has $bit:ident;)+) => {
        impl FormatAbilities {
            $($(#[$doc])* pub fn $name(&self) -> bool { self.$field.contains(Feature::$bit) })+
        }
    };
}

abilities! {
    /// Can be sampled.
    sampled: optimal has SAMPLED_IMAGE;
    /// Can be filtered with LINEAR.
    linear: optimal has SAMPLED_IMAGE_FILTER_LINEAR;
    /// Can be reduced with MIN and MAX.
    minmax: optimal has SAMPLED_IMAGE_FILTER_MINMAX;
    /// Can be filtered with CUBIC.
    cubic: optimal has SAMPLED_IMAGE_FILTER_CUBIC_EXT;
    /// Can be compared.
    compare: optimal has SAMPLED_IMAGE_DEPTH_COMPARISON;
    /// Can be the source of a blit.
    blit_source: optimal has BLIT_SRC;
    /// Can be a storage image.
    storage: optimal has STORAGE_IMAGE;
    /// Can be sampled with linear tiling.
    sampled_linear_tiling: linear_tiling has SAMPLED_IMAGE;
    /// Can be filtered with LINEAR with linear tiling.
    linear_linear_tiling: linear_tiling has SAMPLED_IMAGE_FILTER_LINEAR;
}

impl FormatAbilities {
    /// Its number.
    fn number(&self) -> vk::Format {
        names::format_by_name(&self.name).unwrap_or_default()
    }
}

/// A class of formats that devices tend to treat alike.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// For headings.
    pub name: &'static str,
    kind: AbilityKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbilityKind {
    Eight,
    Srgb,
    Packed,
    Norm16,
    Float16,
    Float32,
    Float64,
    Integer,
    Depth,
    Stencil,
    Bc,
    Etc,
    Astc,
    Pvrtc,
    Ycbcr,
    Other,
}

/// Every class, in the order of tables.
pub const CLASSES: &[Class] = &[
    Class { name: "8-bit norm", kind: AbilityKind::Eight },
    Class { name: "8-bit sRGB", kind: AbilityKind::Srgb },
    Class { name: "packed (565, 10-10-10-2, …)", kind: AbilityKind::Packed },
    Class { name: "16-bit norm", kind: AbilityKind::Norm16 },
    Class { name: "16-bit float", kind: AbilityKind::Float16 },
    Class { name: "32-bit float", kind: AbilityKind::Float32 },
    Class { name: "64-bit float", kind: AbilityKind::Float64 },
    Class { name: "integer", kind: AbilityKind::Integer },
    Class { name: "depth", kind: AbilityKind::Depth },
    Class { name: "stencil", kind: AbilityKind::Stencil },
    Class { name: "BC", kind: AbilityKind::Bc },
    Class { name: "ETC2, EAC", kind: AbilityKind::Etc },
    Class { name: "ASTC", kind: AbilityKind::Astc },
    Class { name: "PVRTC", kind: AbilityKind::Pvrtc },
    Class { name: "Y′CbCr", kind: AbilityKind::Ycbcr },
    Class { name: "other", kind: AbilityKind::Other },
];

fn kind(name: &str) -> AbilityKind {
    let name = name.strip_prefix("VK_FORMAT_").unwrap_or(name);
    let ends = |suffix: &str| name.ends_with(suffix);
    if name.contains("_422_") || name.contains("_420_") || name.contains("_444_") {
        return AbilityKind::Ycbcr;
    }
    for (prefix, kind) in [
        ("BC", AbilityKind::Bc),
        ("ETC2", AbilityKind::Etc),
        ("EAC", AbilityKind::Etc),
        ("ASTC", AbilityKind::Astc),
        ("PVRTC", AbilityKind::Pvrtc),
    ] {
        if name.starts_with(prefix) {
            return kind;
        }
    }
    if name.starts_with('D') || name.starts_with("X8_D24") {
        return AbilityKind::Depth;
    }
    if name == "S8_UINT" {
        return AbilityKind::Stencil;
    }
    if name.contains("UINT") || name.contains("SINT") {
        return AbilityKind::Integer;
    }
    let packed = name.contains("_PACK") && !name.starts_with("A8B8G8R8");
    if packed {
        return AbilityKind::Packed;
    }
    if ends("SRGB") || name.contains("SRGB_PACK32") {
        return AbilityKind::Srgb;
    }
    match name.split_once('_').map_or(name, |(components, _)| components) {
        components if components.contains("64") => AbilityKind::Float64,
        components if components.contains("32") => AbilityKind::Float32,
        components if components.contains("16") && (ends("SFLOAT") || ends("UFLOAT")) => AbilityKind::Float16,
        components if components.contains("16") => AbilityKind::Norm16,
        components if components.contains('8') || components.contains("G4") => AbilityKind::Eight,
        _ => AbilityKind::Other,
    }
}

impl Class {
    /// Whether a format belongs to it.
    pub fn holds(&self, format: &str) -> bool {
        kind(format) == self.kind
    }

    /// Whether its formats hold integers, which have no LINEAR anywhere.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, AbilityKind::Integer | AbilityKind::Stencil)
    }

    /// Whether its formats hold depth.
    pub fn is_depth(&self) -> bool {
        self.kind == AbilityKind::Depth
    }
}

/// Whether it would be a gap that a format of this name cannot be filtered.
pub(super) fn should_filter(format: &str) -> bool {
    !matches!(kind(format), AbilityKind::Integer | AbilityKind::Stencil | AbilityKind::Ycbcr | AbilityKind::Float64)
}

/// What a device can do.
#[derive(Clone, Debug)]
pub struct Abilities {
    /// What it was asked for as.
    pub name: String,
    /// Its own name.
    pub title: String,
    /// Version of Vulkan.
    pub api_version: String,
    /// The driver.
    pub driver: String,
    /// Where this is known from.
    pub source: String,
    /// Whether features and their extensions are usable, by the names of `effective`.
    pub effective: BTreeMap<String, bool>,
    /// Limits; `None` where they are not known.
    pub limits: BTreeMap<String, Option<f64>>,
    /// Formats by number, those without any feature left out.
    pub formats: Vec<FormatAbilities>,
    /// The image formats that shaders do without where formats are lowered ([`storage::StorableFormats`]).
    pub lowered: u64,
    /// Whether the comparison bit, which needs 64-bit masks, is known.
    pub knows_compare: bool,
    /// What the driver is known to do where Vulkan leaves it open.
    pub quirks: Quirks,
    /// The capability file that this is from; of this machine's device, the members that are made of nothing else here.
    pub file: Value,
}

/// Feature names that were looked up before: a file repeats a few of them thousands of times.
#[derive(Default)]
struct FeatureCache(BTreeMap<String, Option<Feature>>);

impl FeatureCache {
    fn bit(&mut self, name: &str) -> Option<Feature> {
        if let Some(ability) = self.0.get(name) {
            return *ability;
        }
        let bit = names::format_feature_by_name(name);
        self.0.insert(name.to_owned(), bit);
        bit
    }
}

/// The names of `effective`, with what they are called in tables.
pub(super) const EFFECTIVE: [(&str, &str); 10] = [
    ("samplerAnisotropy", "anisotropy"),
    ("mirrorClampToEdge", "mirror clamp to edge"),
    ("filterMinmax", "min/max reduction"),
    ("filterCubic", "cubic filter"),
    ("customBorderColors", "custom border colours"),
    ("customBorderColorWithoutFormat", "custom borders without a format"),
    ("borderColorSwizzle", "border swizzle"),
    ("borderColorSwizzleFromImage", "border swizzle from the view"),
    ("samplerMipLodBias", "LOD bias in samplers"),
    ("nonSeamlessCubeMap", "non-seamless cubes"),
];

/// The limits that tables show.
pub(super) const LIMITS: [&str; 5] = [
    "maxSamplerAnisotropy",
    "maxSamplerLodBias",
    "maxSamplerAllocationCount",
    "maxCustomBorderColorSamplers",
    "filterMinmaxImageComponentMapping",
];

impl Abilities {
    /// Reads a capability file.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn from_file(name: &str, file: Value) -> Result<Self> {
        let Some(formats) = file.get("formats").and_then(Value::as_object) else {
            return Err(Failure::input(format!("{name}: this is no capability file: it has no member \"formats\"")));
        };
        let text = |pointer: &str| file.pointer(pointer).and_then(Value::as_str).unwrap_or("").to_owned();
        let mut found: Vec<(i32, FormatAbilities)> = Vec::new();
        let mut knows_compare = false;
        let mut bits = FeatureCache::default();
        for (format, features) in formats {
            let Some(number) = names::format_by_name(format) else { continue };
            let mut union = |keys: [&str; 2]| {
                knows_compare |= features.get(keys[1]).is_some();
                keys.iter()
                    .filter_map(|key| features.get(*key)?.as_array())
                    .flatten()
                    .filter_map(|name| bits.bit(name.as_str()?))
                    .fold(Feature::empty(), |all, bit| all | bit)
            };
            let optimal = union(["optimalTilingFeatures", "optimalTilingFeatures2"]);
            let linear_tiling = union(["linearTilingFeatures", "linearTilingFeatures2"]);
            let buffer = union(["bufferFeatures", "bufferFeatures2"]);
            found.push((number.as_raw(), FormatAbilities { name: format.clone(), optimal, linear_tiling, buffer }));
        }
        found.sort_by_key(|(number, _)| *number);
        let formats: Vec<FormatAbilities> = found.into_iter().map(|(_, format)| format).collect();
        let driver: Vec<String> =
            [text("/device/driverName"), text("/device/driverInfo"), text("/device/driverVersion")]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
        let mut source = text("/provenance/origin");
        let licence = text("/provenance/license");
        if !licence.is_empty() && licence != "own measurement" {
            source += &format!("; {licence}");
        }
        Ok(Self {
            name: name.to_owned(),
            title: text("/device/deviceName"),
            api_version: text("/device/apiVersion"),
            driver: driver.join(", "),
            source,
            effective: file
                .get("effective")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter_map(|(key, value)| Some((key.clone(), value.as_bool()?)))
                .collect(),
            limits: file
                .get("limits")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(key, value)| {
                    (key.clone(), value.as_f64().or_else(|| value.as_bool().map(|on| f64::from(u8::from(on)))))
                })
                .collect(),
            lowered: lowered(&formats),
            formats,
            knows_compare,
            quirks: Quirks::named(
                file.get("quirks").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str),
            ),
            file,
        })
    }

    /// Whether a feature of `effective` can be used. One that the file does not name counts as there.
    pub fn has(&self, key: &str) -> bool {
        self.effective.get(key).copied().unwrap_or(true)
    }

    /// A limit, if it is known.
    pub fn limit(&self, key: &str) -> Option<f64> {
        self.limits.get(key).copied().flatten()
    }

    /// A limit as text.
    pub fn limit_text(&self, key: &str) -> String {
        match self.limit(key) {
            None => "?".to_owned(),
            Some(limit) if limit >= 4_294_967_295.0 => "no limit".to_owned(),
            Some(limit) if limit.fract() == 0.0 => grouped(limit as u64),
            Some(limit) => format!("{limit:.3}"),
        }
    }

    /// `up to 16`, or `no`.
    pub fn anisotropy(&self) -> String {
        if self.has("samplerAnisotropy") {
            format!("up to {}", self.limit_text("maxSamplerAnisotropy"))
        } else {
            "no".to_owned()
        }
    }

    /// `up to 15.996`, or `not in samplers`.
    pub fn bias_text(&self) -> String {
        if self.has("samplerMipLodBias") {
            format!("up to {}", self.limit_text("maxSamplerLodBias"))
        } else {
            "not in samplers".to_owned()
        }
    }

    /// `up to 4000`, or `no`.
    pub fn border_text(&self) -> String {
        if self.has("customBorderColors") {
            format!("up to {}", self.limit_text("maxCustomBorderColorSamplers"))
        } else {
            "no".to_owned()
        }
    }

    /// How shaders store texels of one of its formats, with optimal tiling.
    pub fn stored(&self, format: &FormatAbilities) -> Stored {
        Stored::of(format.number(), format.optimal, self.lowered)
    }

    /// The counts of an overview.
    pub fn summary(&self) -> Map<String, Value> {
        let count = |has: fn(&FormatAbilities) -> bool| self.formats.iter().filter(|f| f.sampled() && has(f)).count();
        let stored = |how| {
            let all = self.formats.iter().filter(|format| is_declared(format.number()));
            all.filter(|format| self.stored(format) == how).count()
        };
        let mut out = Map::new();
        out.insert("name".into(), self.name.clone().into());
        out.insert("device".into(), self.title.clone().into());
        out.insert("api_version".into(), self.api_version.clone().into());
        out.insert("sampled".into(), count(|_| true).into());
        out.insert("linear".into(), count(FormatAbilities::linear).into());
        out.insert("sampled_without_linear".into(), count(|f| !f.linear() && should_filter(&f.name)).into());
        out.insert("minmax".into(), count(FormatAbilities::minmax).into());
        out.insert("cubic".into(), count(FormatAbilities::cubic).into());
        for how in STORED {
            out.insert(format!("stored_{}", how.word()), stored(how).into());
        }
        out.insert("features".into(), json!(self.effective));
        out.insert("limits".into(), json!(self.limits));
        out
    }

    /// Everything, as JSON.
    pub fn json(&self) -> Map<String, Value> {
        let mut out = self.summary();
        out.insert("driver".into(), self.driver.clone().into());
        out.insert("source".into(), self.source.clone().into());
        out.insert("quirks".into(), self.quirks.iter().map(|quirk| quirk.name()).collect());
        let formats = self.formats.iter().map(|format| {
            let mut members = json!(format);
            members["storage"] = self.stored(format).word().into();
            members
        });
        out.insert("formats".into(), formats.collect());
        out
    }

    /// As a capability file.
    pub fn to_file(&self, path: &Path) -> Value {
        let mut out = self.file.clone();
        out["name"] = path.file_stem().unwrap_or_default().to_string_lossy().into();
        if out.get("schema").is_some() {
            return out;
        }
        let list = |features: Feature, wide: bool| {
            let low = Feature::from_raw(u64::from(u32::MAX));
            names::format_features(if wide { features & !low } else { features & low })
        };
        let formats: Map<String, Value> = self
            .formats
            .iter()
            .map(|format| {
                let mut members = Map::new();
                for (key, features) in [
                    ("linearTilingFeatures", format.linear_tiling),
                    ("optimalTilingFeatures", format.optimal),
                    ("bufferFeatures", format.buffer),
                ] {
                    members.insert(key.into(), list(features, false).into());
                    if self.knows_compare {
                        members.insert(format!("{key}2"), list(features, true).into());
                    }
                }
                (format.name.clone(), Value::Object(members))
            })
            .collect();
        out["schema"] = "device-caps/1".into();
        if self.quirks != Quirks::default() {
            out["quirks"] = self.quirks.iter().map(|quirk| quirk.name()).collect();
        }
        out["effective"] = json!(self.effective);
        out["limits"] = json!(self.limits);
        out["formats"] = Value::Object(formats);
        out["formats_covered"] =
            json!({ "listed": self.formats.len(), "absent_means": "the device reported no features at all" });
        out
    }
}

/// The ways in which formats are stored, in the order of tables.
pub(super) const STORED: [Stored; 3] = [Stored::Natively, Stored::Lowered, Stored::Not];

/// Whether a shader can declare it itself, or have it converted without a declaration. sRGB formats are viewed with another one for that.
fn is_declared(format: vk::Format) -> bool {
    storage::declared(format).is_some() && !format::is_srgb(format)
}

/// The image formats that a device with these formats does without.
pub(super) fn lowered(formats: &[FormatAbilities]) -> u64 {
    let all: BTreeMap<i32, Feature> = formats.iter().map(|one| (one.number().as_raw(), one.optimal)).collect();
    let optimal = |wanted: vk::Format| all.get(&wanted.as_raw()).copied().unwrap_or_default();
    storage::StorableFormats::of(&mut |wanted| optimal(wanted), Feature::STORAGE_IMAGE).lowered()
}

/// Every format that is worth asking a device about.
pub(super) fn formats() -> impl Iterator<Item = (vk::Format, String)> {
    names::formats().map(|format| (format, names::format(format)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_classed() {
        for (format, class) in [
            ("VK_FORMAT_R8G8B8A8_UNORM", "8-bit norm"),
            ("VK_FORMAT_A8B8G8R8_SNORM_PACK32", "8-bit norm"),
            ("VK_FORMAT_B8G8R8A8_SRGB", "8-bit sRGB"),
            ("VK_FORMAT_A8B8G8R8_SRGB_PACK32", "8-bit sRGB"),
            ("VK_FORMAT_R5G6B5_UNORM_PACK16", "packed (565, 10-10-10-2, …)"),
            ("VK_FORMAT_B10G11R11_UFLOAT_PACK32", "packed (565, 10-10-10-2, …)"),
            ("VK_FORMAT_R16G16_SNORM", "16-bit norm"),
            ("VK_FORMAT_R16_SFLOAT", "16-bit float"),
            ("VK_FORMAT_R32G32B32A32_SFLOAT", "32-bit float"),
            ("VK_FORMAT_R64_SFLOAT", "64-bit float"),
            ("VK_FORMAT_A2B10G10R10_UINT_PACK32", "integer"),
            ("VK_FORMAT_R32_SINT", "integer"),
            ("VK_FORMAT_D32_SFLOAT_S8_UINT", "depth"),
            ("VK_FORMAT_X8_D24_UNORM_PACK32", "depth"),
            ("VK_FORMAT_S8_UINT", "stencil"),
            ("VK_FORMAT_BC6H_UFLOAT_BLOCK", "BC"),
            ("VK_FORMAT_EAC_R11_SNORM_BLOCK", "ETC2, EAC"),
            ("VK_FORMAT_ASTC_4x4_SRGB_BLOCK", "ASTC"),
            ("VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG", "PVRTC"),
            ("VK_FORMAT_G8_B8R8_2PLANE_420_UNORM", "Y′CbCr"),
            ("VK_FORMAT_G8B8G8R8_422_UNORM", "Y′CbCr"),
        ] {
            let found: Vec<_> = CLASSES.iter().filter(|class| class.holds(format)).map(|class| class.name).collect();
            assert_eq!(found, [class], "{format}");
        }
    }

    fn shipped(short: &str) -> Abilities {
        let shipped = crate::devices::SHIPPED.iter().find(|shipped| shipped.short == short).unwrap();
        Abilities::from_file(short, serde_json::from_str(shipped.text).unwrap()).unwrap()
    }

    /// As of a device of this machine, which has no file.
    #[test]
    fn what_was_asked_survives_being_written() {
        let first = shipped("llvmpipe");
        let asked = Abilities { file: json!({ "kind": "device", "device": first.file["device"] }), ..first.clone() };
        let second = Abilities::from_file("x", asked.to_file(Path::new("/tmp/x.json"))).unwrap();
        assert_eq!(first.formats, second.formats);
        assert_eq!(first.effective, second.effective);
        assert_eq!(first.limits, second.limits);
        assert_eq!(first.title, second.title);
        assert!(first.knows_compare && second.knows_compare);
        assert!(first.formats.iter().any(FormatAbilities::compare));
        assert!(first.formats.iter().any(|format| !format.buffer.is_empty()));
    }

    #[test]
    fn a_file_is_written_whole() {
        let mut file = shipped("hd-620").to_file(Path::new("x.json"));
        assert_eq!(file["name"], "x");
        file["name"] = "intel-hd620-windows".into();
        assert_eq!(file, shipped("hd-620").file);
    }

    #[test]
    fn each_declared_format_is_stored_in_one_way() {
        let old = shipped("adreno-506");
        let how = |name: &str| old.stored(old.formats.iter().find(|format| format.name == name).unwrap());
        // There is no R16_UINT to be stored in place of 16 bits, but R32_UINT there always is.
        assert_eq!(how("VK_FORMAT_R8G8B8A8_UNORM"), Stored::Natively);
        assert_eq!(how("VK_FORMAT_B10G11R11_UFLOAT_PACK32"), Stored::Lowered);
        assert_eq!(how("VK_FORMAT_R8G8_UNORM"), Stored::Not);
        let summary = old.summary();
        let count = |how: Stored| summary[&format!("stored_{}", how.word())].as_u64().unwrap();
        let declared = old.formats.iter().filter(|format| is_declared(format.number())).count();
        assert_eq!(STORED.into_iter().map(count).sum::<u64>(), declared as u64);
        assert!(STORED.into_iter().all(|how| count(how) > 0), "{summary:?}");
    }

    #[test]
    fn feature_names_are_the_registrys() {
        let features = Feature::SAMPLED_IMAGE_FILTER_LINEAR
            | Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT
            | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON;
        let names = names::format_features(features);
        let back =
            names.iter().filter_map(|name| names::format_feature_by_name(name)).fold(Feature::empty(), |a, b| a | b);
        assert_eq!(back, features, "{names:?}");
        assert!(names.contains(&"VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT".to_owned()), "{names:?}");
    }
}
