//! Simulated devices: what a device can do, intersected with what another one reported.
//!
//! Reads the capability files of `devices/` (`schema: device-caps/1`). A simulation only ever takes away: where a file does not
//! know something, the device's own answer stays.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

use ash::vk::{self, FormatFeatureFlags2 as Feature};

use samplin_core::ability::{ABILITIES, Ability};
use samplin_core::decide::DeviceCaps;
use samplin_core::features::FormatFeatures;
use samplin_core::quirk::Quirks;
use samplin_platform as platform;
use samplin_reports::Capabilities;

use crate::devices;

const V14: u32 = vk::make_api_version(0, 1, 4, 0);
/// The least `maxSamplerLodBias` of version 1.4 (Limits, "Required Limits").
const LOD_BIAS_1_4: f64 = 14.0;

/// Unless a format has one of the first, it must not have the second (Formats, "Format Features").
const DEPENDENT: [(Feature, Feature); 4] = [
    (
        Feature::SAMPLED_IMAGE,
        any_of(&[
            Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT,
            Feature::SAMPLED_IMAGE_FILTER_MINMAX,
            Feature::SAMPLED_IMAGE_DEPTH_COMPARISON,
            Feature::MIDPOINT_CHROMA_SAMPLES,
            Feature::COSITED_CHROMA_SAMPLES,
            Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER,
            Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER,
            Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT,
            Feature::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE,
        ]),
    ),
    (any_of(&[Feature::SAMPLED_IMAGE, Feature::BLIT_SRC]), Feature::SAMPLED_IMAGE_FILTER_LINEAR),
    (
        Feature::STORAGE_IMAGE,
        any_of(&[
            Feature::STORAGE_IMAGE_ATOMIC,
            Feature::STORAGE_READ_WITHOUT_FORMAT,
            Feature::STORAGE_WRITE_WITHOUT_FORMAT,
        ]),
    ),
    (Feature::COLOR_ATTACHMENT, Feature::COLOR_ATTACHMENT_BLEND),
];

/// Usages of an image, each with the format features of which it needs one (Resource Creation, "Format Feature Dependent Usage Flags").
const USAGES: [(vk::ImageUsageFlags, Feature); 7] = [
    (vk::ImageUsageFlags::SAMPLED, Feature::SAMPLED_IMAGE),
    (vk::ImageUsageFlags::STORAGE, Feature::STORAGE_IMAGE),
    (vk::ImageUsageFlags::COLOR_ATTACHMENT, Feature::COLOR_ATTACHMENT),
    (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, Feature::DEPTH_STENCIL_ATTACHMENT),
    (vk::ImageUsageFlags::INPUT_ATTACHMENT, any_of(&[Feature::COLOR_ATTACHMENT, Feature::DEPTH_STENCIL_ATTACHMENT])),
    (vk::ImageUsageFlags::TRANSFER_SRC, Feature::TRANSFER_SRC),
    (vk::ImageUsageFlags::TRANSFER_DST, Feature::TRANSFER_DST),
];

/// The formats of `filterMinmaxSingleComponentFormats`.
const SINGLE_COMPONENT: [vk::Format; 12] = [
    vk::Format::R8_UNORM,
    vk::Format::R8_SNORM,
    vk::Format::R16_UNORM,
    vk::Format::R16_SNORM,
    vk::Format::R16_SFLOAT,
    vk::Format::R32_SFLOAT,
    vk::Format::D16_UNORM,
    vk::Format::X8_D24_UNORM_PACK32,
    vk::Format::D32_SFLOAT,
    vk::Format::D16_UNORM_S8_UINT,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D32_SFLOAT_S8_UINT,
];

const fn any_of(features: &[Feature]) -> Feature {
    let (mut all, mut index) = (0, 0);
    while index < features.len() {
        all |= features[index].as_raw();
        index += 1;
    }
    Feature::from_raw(all)
}

/// The abilities of another device.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Name of the device, from its file.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What it reports.
    reported: Capabilities,
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

/// Finds the file that a setting means: a path, the name of a file in one of the folders, a [shipped device](devices), or a part of the
/// name of a file in one of the folders.
///
/// # Errors
///
/// When there is none, or more than one.
pub fn locate(setting: &str) -> Result<PathBuf, Unusable> {
    let path = Path::new(setting);
    if setting.contains('/') || setting.ends_with(".json") {
        return Ok(path.to_path_buf());
    }
    let folders = folders();
    let named = |stem: &str| {
        folders.iter().map(|folder| folder.join(format!("{stem}.json"))).find(|path| platform::is_file(path))
    };
    let shipped = devices::find(setting);
    if let Some(path) = named(setting).or_else(|| named(shipped.as_ref().ok()?.name)) {
        return Ok(path);
    }
    let mut matches: BTreeSet<PathBuf> = BTreeSet::new();
    for folder in &folders {
        matches.extend(platform::list(folder).into_iter().filter(|path| {
            path.extension().is_some_and(|extension| extension == "json")
                && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| devices::has_words(stem, setting))
        }));
        if !matches.is_empty() {
            break;
        }
    }
    match (matches.len(), shipped) {
        (1, _) => matches.pop_first().ok_or_else(|| Unusable::new(None, String::new())),
        (0, Err(unknown)) => Err(Unusable::new(None, format!("{}; {}", unknown.message, unknown.hint))),
        (0, Ok(shipped)) => Err(Unusable::new(
            None,
            format!(
                "{setting} is {}.json, which is in none of the folders that capability files are looked for in",
                shipped.name
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

/// What a capability file says whose text this is; `path` names it.
///
/// # Errors
///
/// When it is not JSON (with line and column), or is not of this schema.
pub fn parse(path: &Path, text: &str) -> Result<Simulation, Unusable> {
    let parsed = samplin_reports::parse(text).and_then(|file| Capabilities::of_file_checked(&file));
    let reported = parsed.map_err(|malformed| Unusable {
        path: Some(path.to_path_buf()),
        line: malformed.line,
        column: malformed.column,
        message: malformed.message,
    })?;
    let name = reported.name().map(str::to_owned);
    Ok(Simulation {
        name: name.unwrap_or_else(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()),
        path: path.to_path_buf(),
        reported,
    })
}

impl Simulation {
    /// Takes away the features, extensions and limits that the simulated device does not have.
    pub fn restrict(&self, caps: &mut DeviceCaps) {
        self.reported.restrict(caps);
    }

    /// What the file says.
    pub fn reported(&self) -> &Capabilities {
        &self.reported
    }

    /// What its driver is known to do where Vulkan leaves it open.
    pub fn quirks(&self) -> Quirks {
        self.reported.quirks()
    }

    /// Takes away the format features that the simulated device does not have.
    ///
    /// A core format that the file does not list has none there. A format of an extension that it does not list may never
    /// have been asked about, so it stays as it is.
    pub fn restrict_format(&self, format: vk::Format, features: &mut FormatFeatures) {
        let Some(there) = self.reported.format(format) else { return };
        let keep =
            |own: vk::FormatFeatureFlags2, other: vk::FormatFeatureFlags2| own & (other | !self.reported.covered());
        features.optimal = keep(features.optimal, there.optimal);
        features.linear = keep(features.linear, there.linear);
        features.buffer = keep(features.buffer, there.buffer);
        for (_, own) in &mut features.modifiers {
            *own = keep(*own, there.optimal);
        }
    }

    /// Whether the file denies a feature, or an ability by the name that it has in files.
    pub fn denies(&self, name: &str) -> bool {
        self.reported.denies(name)
    }

    /// Whether the file does not deny an ability.
    fn says(&self, ability: &Ability) -> bool {
        !self.denies(ability.file)
    }

    /// Whether an application that sees the device must not see an ability: the file denies it, or something without which no device
    /// may have it.
    pub fn hides(&self, ability: &Ability) -> bool {
        let (formats, needed) = ability.formats;
        let lacks = |number| {
            let mut all = FormatFeatures { optimal: needed, ..FormatFeatures::default() };
            self.show_format(vk::Format::from_raw(number), &mut all);
            all.optimal != needed
        };
        !self.says(ability)
            || ability.needs.iter().filter_map(|name| Ability::by_name(name)).any(|needed| self.hides(needed))
            || formats.iter().any(|(first, last)| (*first..=*last).any(lacks))
    }

    /// Whether an application that sees the device must not see an extension.
    pub fn hides_extension(&self, name: &CStr) -> bool {
        ABILITIES.iter().any(|ability| ability.extensions.contains(&name) && self.hides(ability))
    }

    /// The version of the device that an application sees: below one that demands what is hidden.
    pub fn show_version(&self, version: u32) -> u32 {
        let lod_bias = self.reported.limit("maxSamplerLodBias").is_some_and(|limit| limit < LOD_BIAS_1_4);
        let since = ABILITIES.iter().filter(|ability| self.hides(ability)).filter_map(|ability| ability.since);
        let demands = since.chain(lod_bias.then_some(V14)).min();
        match demands {
            Some(first) if version >= first => {
                vk::make_api_version(0, 1, vk::api_version_minor(first) - 1, vk::api_version_patch(version))
            }
            _ => version,
        }
    }

    /// Whether single-component formats that can be sampled can be reduced as well, as `filterMinmaxSingleComponentFormats` says.
    pub fn reduces_single_components(&self) -> bool {
        let both = Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_MINMAX;
        let has_limit = self.reported.limit("filterMinmaxSingleComponentFormats").is_none_or(|limit| limit != 0.0);
        has_limit
            && SINGLE_COMPONENT.iter().all(|format| {
                let mut all = FormatFeatures { optimal: both, ..FormatFeatures::default() };
                self.show_format(*format, &mut all);
                all.optimal != Feature::SAMPLED_IMAGE
            })
    }

    /// [`Simulation::restrict_format`] for an application that sees the device: what must not be without a feature goes with it, and
    /// of a format that is not there nothing stays.
    pub fn show_format(&self, format: vk::Format, features: &mut FormatFeatures) {
        self.restrict_format(format, features);
        let Some(there) = self.reported.format(format) else { return };
        let consistent = |own: Feature, there: Feature| {
            if (there & self.reported.covered()).is_empty() {
                return Feature::empty();
            }
            DEPENDENT
                .iter()
                .fold(own, |own, (any, dependent)| if own.intersects(*any) { own } else { own & !*dependent })
        };
        features.optimal = consistent(features.optimal, there.optimal);
        features.linear = consistent(features.linear, there.linear);
        for (_, own) in &mut features.modifiers {
            *own = consistent(*own, there.optimal);
        }
    }

    /// Whether an application that sees the device may create an image of a format for these usages: not if what a usage needs is
    /// among the driver's `own` features with optimal or linear tiling and not among those that are shown. With
    /// `VK_IMAGE_CREATE_EXTENDED_USAGE_BIT` the formats of its views count.
    pub fn allows_image(
        &self,
        format: vk::Format,
        is_linear: bool,
        own: Feature,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
    ) -> bool {
        let mut features = FormatFeatures { optimal: own, linear: own, ..FormatFeatures::default() };
        self.show_format(format, &mut features);
        let shown = if is_linear { features.linear } else { features.optimal };
        let lost = |(of, any): &(vk::ImageUsageFlags, Feature)| {
            usage.contains(*of) && own.intersects(*any) && !shown.intersects(*any)
        };
        if shown.is_empty() {
            return own.is_empty();
        }
        flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE) || !USAGES.iter().any(lost)
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
    fn a_quirk_is_a_default() {
        let defaults = |of: Simulation| of.quirks().defaults().collect::<Vec<_>>();
        let with = FILE.replace(
            "\"formats_covered\"",
            "\"quirks\": [\"other\", \"anisotropy-smooths-nearest\"], \"formats_covered\"",
        );
        assert_eq!(defaults(parse(Path::new("test.json"), &with).unwrap()), [("aniso_nearest", "off")]);
        assert_eq!(defaults(parse(Path::new("test.json"), FILE).unwrap()), []);
        let smooth = |name: &str| !defaults(load(name).unwrap()).is_empty();
        let smoothing: Vec<&str> = devices::SHIPPED.iter().map(|one| one.short).filter(|name| smooth(name)).collect();
        assert_eq!(smoothing, ["hd-620"]);
    }

    #[test]
    fn what_is_not_there_has_no_limit_of_the_drivers() {
        let file =
            FILE.replace("\"samplerAnisotropy\": false", "\"samplerAnisotropy\": false, \"customBorderColors\": false");
        let simulation = parse(Path::new("test.json"), &file).unwrap();
        let mut caps = DeviceCaps {
            max_sampler_anisotropy: 16.0,
            custom_border_colors: true,
            max_custom_border_color_samplers: 7,
            ..DeviceCaps::default()
        };
        simulation.restrict(&mut caps);
        assert_eq!((caps.max_sampler_anisotropy, caps.max_custom_border_color_samplers), (1.0, 0));
    }

    /// The layer finds each shipped device by every name that the tool prints.
    #[test]
    fn every_printed_name_is_a_file() {
        for devices::Shipped { short, name } in devices::SHIPPED {
            for spelled in [short, name] {
                let path = locate(spelled).unwrap_or_else(|unusable| panic!("{spelled}: {}", unusable.message));
                assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(*name), "{spelled}");
                assert_eq!(load(spelled).map(|simulation| simulation.name).as_deref(), Ok(*name));
            }
        }
        for (wrong, expected) in [
            ("voodoo", "no device is called voodoo; there are adreno-506, "),
            ("adreno-605", "no device is called adreno-605; did you mean adreno-6"),
            ("v3d", "v3d may be any of "),
        ] {
            let said = locate(wrong).unwrap_err().message;
            assert!(said.starts_with(expected), "{said}");
        }
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
}
