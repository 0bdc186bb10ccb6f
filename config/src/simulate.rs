//! Simulated devices: what a device can do, intersected with what another one reported.
//!
//! Reads the capability files of `devices/` (`schema: device-caps/1`). A simulation only ever takes away: where a file does not
//! know something, the device's own answer stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ash::vk;
use serde_json::{Map, Value as Json};

use samplin_core::decide::DeviceCaps;
use samplin_core::features::FormatFeatures;
use samplin_core::names;
use samplin_platform as platform;

/// Format-feature bits that an export of the profiles tool carries; it knows nothing about the others.
const LOSSY: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(0xdfff);

/// The abilities of another device.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Name of the device, from its file.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    effective: BTreeMap<String, bool>,
    limits: BTreeMap<String, f64>,
    formats: BTreeMap<i32, FormatFeatures>,
    /// Bits that the file knows about.
    covered: vk::FormatFeatureFlags2,
}

/// Why a capability file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The file, if one was found.
    pub path: Option<PathBuf>,
    /// Line of the file, if the text is at fault.
    pub line: Option<u32>,
    /// Column in that line.
    pub column: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Unusable {
    fn new(path: Option<&Path>, message: String) -> Self {
        Self { path: path.map(Path::to_path_buf), line: None, column: None, message }
    }
}

/// Folders in which a short name is looked up: beside the library, in its build tree, and where packages put data.
fn folders() -> Vec<PathBuf> {
    let mut out = Vec::new();
    if let Some(library) = platform::library_path()
        && let Some(folder) = library.parent()
    {
        out.push(folder.join("devices"));
        // target/release/libVkLayer_samplin.so in the source tree.
        out.extend(folder.ancestors().skip(1).take(3).map(|up| up.join("devices")));
        out.extend(folder.ancestors().skip(1).take(3).map(|up| up.join("share/samplin/devices")));
    }
    out.extend(platform::data_folder().map(|folder| folder.join("samplin/devices")));
    out
}

/// Whether `name` occurs in `stem` as whole words between dashes.
fn names_device(stem: &str, name: &str) -> bool {
    format!("-{stem}-").contains(&format!("-{name}-"))
}

/// Finds the file that a setting means: a path, or the name of a file in one of the folders, or part of such a name.
fn locate(setting: &str) -> Result<PathBuf, Unusable> {
    let path = Path::new(setting);
    if setting.contains('/') || setting.ends_with(".json") {
        return Ok(path.to_path_buf());
    }
    let mut matches: Vec<PathBuf> = Vec::new();
    for folder in folders() {
        let exact = folder.join(format!("{setting}.json"));
        if platform::is_file(&exact) {
            return Ok(exact);
        }
        matches.extend(platform::list(&folder).into_iter().filter(|path| {
            path.extension().is_some_and(|extension| extension == "json")
                && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| names_device(stem, setting))
        }));
        if !matches.is_empty() {
            break;
        }
    }
    matches.sort();
    match matches.len() {
        1 => matches.pop().ok_or_else(|| Unusable::new(None, String::new())),
        0 => Err(Unusable::new(
            None,
            format!(
                "no capability file is named {setting}; give the path of one, or the name of a file in the folder devices"
            ),
        )),
        _ => {
            let stems: Vec<_> =
                matches.iter().filter_map(|path| path.file_stem()).map(|stem| stem.to_string_lossy()).collect();
            Err(Unusable::new(None, format!("{setting} may be any of {}; say which", stems.join(", "))))
        }
    }
}

/// Reads the capability file that the `device` setting names.
///
/// # Errors
///
/// When no file is found, it cannot be read, is not JSON (with line and column), or is not of this schema.
pub fn load(setting: &str) -> Result<Simulation, Unusable> {
    let path = locate(setting)?;
    let text = platform::read_text(&path)
        .map_err(|error| Unusable::new(Some(&path), format!("the capability file cannot be read: {error}")))?;
    parse(&path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Simulation, Unusable> {
    let file: Json = serde_json::from_str(text).map_err(|error| Unusable {
        path: Some(path.to_path_buf()),
        line: u32::try_from(error.line()).ok(),
        column: u32::try_from(error.column()).ok(),
        message: format!("the capability file is not JSON: {error}"),
    })?;
    if file.get("schema").and_then(Json::as_str) != Some("device-caps/1") {
        let message = "the file is not a capability file: its member \"schema\" is not \"device-caps/1\"";
        return Err(Unusable::new(Some(path), message.into()));
    }
    let object = |key: &str| file.get(key).and_then(Json::as_object);
    let formats = object("formats")
        .ok_or_else(|| Unusable::new(Some(path), "the capability file has no member \"formats\"".into()))?;
    let lossy = object("formats_covered")
        .and_then(|covered| covered.get("lossy"))
        .is_some_and(|lossy| *lossy != Json::Bool(false));
    let wide = formats.values().filter_map(Json::as_object).any(|f| f.keys().any(|key| key.ends_with("Features2")));
    let covered = if lossy {
        LOSSY
    } else if wide {
        vk::FormatFeatureFlags2::from_raw(u64::MAX)
    } else {
        vk::FormatFeatureFlags2::from_raw(u64::from(u32::MAX))
    };
    Ok(Simulation {
        name: file
            .get("name")
            .and_then(Json::as_str)
            .map_or_else(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), str::to_owned),
        path: path.to_path_buf(),
        effective: object("effective")
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_bool()?)))
            .collect(),
        limits: object("limits")
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| {
                let number = value.as_f64().or_else(|| value.as_bool().map(|on| f64::from(u8::from(on))))?;
                Some((key.clone(), number))
            })
            .collect(),
        formats: formats
            .iter()
            .filter_map(|(name, value)| {
                Some((names::format_by_name(name)?.as_raw(), format_features(value.as_object()?)))
            })
            .collect(),
        covered,
    })
}

fn format_features(of: &Map<String, Json>) -> FormatFeatures {
    let union = |keys: [&str; 2]| {
        keys.iter()
            .filter_map(|key| of.get(*key)?.as_array())
            .flatten()
            .filter_map(|name| names::format_feature_by_name(name.as_str()?))
            .fold(vk::FormatFeatureFlags2::empty(), |all, bit| all | bit)
    };
    FormatFeatures {
        optimal: union(["optimalTilingFeatures", "optimalTilingFeatures2"]),
        linear: union(["linearTilingFeatures", "linearTilingFeatures2"]),
        modifiers: Vec::new(),
    }
}

impl Simulation {
    /// Takes away the features, extensions and limits that the simulated device does not have.
    pub fn restrict(&self, caps: &mut DeviceCaps) {
        let has = |key: &str| self.effective.get(key).copied().unwrap_or(true);
        caps.sampler_anisotropy &= has("samplerAnisotropy");
        caps.sampler_mirror_clamp_to_edge &= has("mirrorClampToEdge");
        caps.sampler_filter_minmax &= has("filterMinmax");
        caps.filter_cubic_ext &= has("filterCubic");
        caps.filter_cubic_img &= has("filterCubic");
        caps.custom_border_colors &= has("customBorderColors");
        caps.custom_border_color_without_format &= has("customBorderColorWithoutFormat");
        caps.border_color_swizzle &= has("borderColorSwizzle");
        caps.border_color_swizzle_from_image &= has("borderColorSwizzleFromImage");
        caps.non_seamless_cube_map &= has("nonSeamlessCubeMap");
        caps.sampler_mip_lod_bias &= has("samplerMipLodBias");
        if let Some(mapping) = self.limits.get("filterMinmaxImageComponentMapping") {
            caps.filter_minmax_component_mapping &= *mapping != 0.0;
        }
        let float = |key: &str, own: f32| self.limits.get(key).map_or(own, |limit| own.min(*limit as f32));
        caps.max_sampler_anisotropy = float("maxSamplerAnisotropy", caps.max_sampler_anisotropy).max(1.0);
        caps.max_sampler_lod_bias = float("maxSamplerLodBias", caps.max_sampler_lod_bias);
        // `as` saturates, so a limit of 2³² − 1 or more stays the largest number.
        let count = |key: &str, own: u32| self.limits.get(key).map_or(own, |limit| own.min(*limit as u32));
        caps.max_sampler_allocation_count = count("maxSamplerAllocationCount", caps.max_sampler_allocation_count);
        caps.max_custom_border_color_samplers =
            count("maxCustomBorderColorSamplers", caps.max_custom_border_color_samplers);
    }

    /// Takes away the format features that the simulated device does not have.
    ///
    /// A core format that the file does not list has none there. A format of an extension that it does not list may never
    /// have been asked about, so it stays as it is.
    pub fn restrict_format(&self, format: vk::Format, features: &mut FormatFeatures) {
        let absent = FormatFeatures::default();
        let there = match self.formats.get(&format.as_raw()) {
            Some(there) => there,
            None if format.as_raw() <= 184 => &absent,
            None => return,
        };
        let keep = |own: vk::FormatFeatureFlags2, other: vk::FormatFeatureFlags2| own & (other | !self.covered);
        features.optimal = keep(features.optimal, there.optimal);
        features.linear = keep(features.linear, there.linear);
        for (_, own) in &mut features.modifiers {
            *own = keep(*own, there.optimal);
        }
    }

    /// Number of formats the file lists.
    pub fn format_count(&self) -> usize {
        self.formats.len()
    }

    /// The abilities of the simulated device by itself: as if everything it has were enabled on it.
    pub fn caps(&self) -> DeviceCaps {
        let mut caps = DeviceCaps {
            sampler_anisotropy: true,
            max_sampler_anisotropy: f32::MAX,
            max_sampler_lod_bias: f32::MAX,
            max_sampler_allocation_count: u32::MAX,
            sampler_mirror_clamp_to_edge: true,
            sampler_filter_minmax: true,
            filter_minmax_component_mapping: true,
            filter_cubic_ext: true,
            custom_border_colors: true,
            custom_border_color_without_format: true,
            max_custom_border_color_samplers: u32::MAX,
            border_color_swizzle: true,
            border_color_swizzle_from_image: true,
            non_seamless_cube_map: true,
            ..DeviceCaps::default()
        };
        self.restrict(&mut caps);
        caps
    }

    /// Features of a format by the file alone.
    pub fn features(&self, format: vk::Format) -> FormatFeatures {
        self.formats.get(&format.as_raw()).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
        "schema": "device-caps/1", "name": "test",
        "effective": {"samplerAnisotropy": false, "mirrorClampToEdge": true},
        "limits": {"maxSamplerLodBias": 4, "maxSamplerAllocationCount": 4294967295, "maxCustomBorderColorSamplers": null},
        "formats_covered": {},
        "formats": {"VK_FORMAT_R8_UNORM": {
            "optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"], "linearTilingFeatures": []}}
    }"#;

    #[test]
    fn a_simulation_only_takes_away() {
        let simulation = parse(Path::new("test.json"), FILE).unwrap();
        let mut caps = DeviceCaps {
            sampler_anisotropy: true,
            max_sampler_lod_bias: 16.0,
            max_custom_border_color_samplers: 7,
            ..DeviceCaps::default()
        };
        simulation.restrict(&mut caps);
        assert!(!caps.sampler_anisotropy && !caps.sampler_mirror_clamp_to_edge);
        assert_eq!(caps.max_sampler_lod_bias, 4.0);
        assert_eq!(caps.max_sampler_allocation_count, 4000);
        assert_eq!(caps.max_custom_border_color_samplers, 7, "null in the file means not known");
    }

    #[test]
    fn formats_lose_bits_and_unlisted_core_formats_lose_all() {
        let simulation = parse(Path::new("test.json"), FILE).unwrap();
        type F = vk::FormatFeatureFlags2;
        let all = FormatFeatures {
            optimal: F::SAMPLED_IMAGE | F::SAMPLED_IMAGE_FILTER_LINEAR | F::SAMPLED_IMAGE_DEPTH_COMPARISON,
            ..FormatFeatures::default()
        };
        let restricted = |format| {
            let mut features = all.clone();
            simulation.restrict_format(format, &mut features);
            features.optimal
        };
        assert_eq!(restricted(vk::Format::R8_UNORM), F::SAMPLED_IMAGE | F::SAMPLED_IMAGE_DEPTH_COMPARISON);
        assert_eq!(restricted(vk::Format::R8G8_UNORM), F::SAMPLED_IMAGE_DEPTH_COMPARISON);
        assert_eq!(restricted(vk::Format::A4R4G4B4_UNORM_PACK16), all.optimal);
    }

    #[test]
    fn bad_files_are_named_with_their_place() {
        let error = parse(Path::new("x.json"), "{\n  \"schema\": }").unwrap_err();
        assert_eq!((error.line, error.path.as_deref()), (Some(2), Some(Path::new("x.json"))));
        assert!(parse(Path::new("x.json"), "{}").unwrap_err().message.contains("device-caps/1"));
        assert!(parse(Path::new("x.json"), r#"{"schema": "device-caps/1"}"#).unwrap_err().message.contains("formats"));
    }

    #[test]
    fn short_names_are_whole_words() {
        assert!(names_device("qualcomm-adreno-650-android", "adreno-650"));
        assert!(!names_device("qualcomm-adreno-650-android", "adreno-6"));
    }
}
