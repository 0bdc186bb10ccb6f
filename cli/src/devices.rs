//! The capability files that come with the program, and finding the one that a name means.

use std::path::{Path, PathBuf};

use samplin_core::quirk::Quirks;
use samplin_reports::Form;
use serde_json::Value as Json;

use crate::failure::{Failure, Result};
use crate::files;
use crate::system::System;

/// A capability file that is built in.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// What people type.
    pub short: &'static str,
    /// The file's name without its ending.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

macro_rules! with_text {
    ($($short:literal => $name:literal,)+) => {
        /// Every file of `devices/`.
        pub const SHIPPED: &[Shipped] = &[$(Shipped {
            short: $short,
            name: $name,
            text: include_str!(concat!("../../devices/", $name, ".json")),
        },)+];
    };
}

samplin_config::shipped_devices!(with_text);

/// A capability file.
#[derive(Clone, Debug)]
pub enum DeviceFile {
    /// One that is built in.
    Shipped(&'static Shipped),
    /// A file, and which of its profiles is meant if it holds several.
    Path(PathBuf, Option<String>),
}

impl DeviceFile {
    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Self::Shipped(shipped) => shipped.short.to_owned(),
            Self::Path(path, None) => path.display().to_string(),
            Self::Path(path, Some(profile)) => format!("{}#{profile}", path.display()),
        }
    }

    /// The capability file that it is, or that follows from what it is: a report of vulkan.gpuinfo.org, or a Vulkan Profile.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is none of these.
    pub fn capability_file(&self) -> Result<Json> {
        match self {
            Self::Shipped(shipped) => read(&self.name(), shipped.text, shipped.name, None),
            Self::Path(path, profile) => {
                let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                read(&self.name(), &text, profile.as_deref().unwrap_or(&stem), profile.as_deref())
            }
        }
    }

    /// A file with its content, for the layer; a built-in one is written to the user's cache.
    ///
    /// # Errors
    ///
    /// When the file is not there or cannot be written.
    pub fn on_disk(&self) -> Result<PathBuf> {
        match self {
            Self::Path(path, None) if is_capability_file(path)? => {
                std::path::absolute(path).map_err(|error| Failure::file(path, error))
            }
            Self::Path(path, _) => {
                let text = serde_json::to_string_pretty(&self.capability_file()?).unwrap_or_default();
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let number = samplin_core::decide::fnv1a(text.bytes());
                let cached = Path::new("samplin/devices").join(format!("{name}-{number:016x}.json"));
                files::in_cache(&cached, text.as_bytes(), &System::current())
            }
            Self::Shipped(shipped) => {
                let path = Path::new("samplin/devices").join(format!("{}.json", shipped.name));
                files::in_cache(&path, shipped.text.as_bytes(), &System::current())
            }
        }
    }
}

/// Reads a text of any form as a capability file of this name, for messages that call it `source`.
fn read(source: &str, text: &str, name: &str, profile: Option<&str>) -> Result<Json> {
    samplin_reports::to_file(text, name, profile).map_err(|malformed| match malformed.line {
        Some(line) => Failure::input(format!("{source}:{line}: {}", malformed.message)),
        None => Failure::input(format!("{source}: {}", malformed.message))
            .hint("`samplin caps --save FILE` writes one; devices/README.md describes the format; FILE#NAME is one of several profiles"),
    })
}

/// Whether the layer can read the file itself. One that is no JSON is left to it, which says what is wrong.
fn is_capability_file(path: &Path) -> Result<bool> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    let form = samplin_reports::parse(&text).ok().and_then(|file| Form::of(&file));
    Ok(!matches!(form, Some(Form::Report | Form::Profiles)))
}

/// The file that a short name, a file name, a part of one, or a path means.
///
/// # Errors
///
/// When nothing or too much fits.
pub fn find(wanted: &str) -> Result<DeviceFile> {
    if wanted.contains('/') || wanted.ends_with(".json") || wanted.contains(".json#") {
        let (path, profile) = match wanted.split_once(".json#") {
            Some((path, profile)) => (format!("{path}.json"), Some(profile.to_owned())),
            None => (wanted.to_owned(), None),
        };
        return Ok(DeviceFile::Path(path.into(), profile));
    }
    let unknown = match samplin_config::devices::find(wanted) {
        Ok(found) => match SHIPPED.iter().find(|shipped| shipped.name == found.name) {
            Some(shipped) => return Ok(DeviceFile::Shipped(shipped)),
            None => return Err(Failure::usage(format!("{wanted} is not built in"))),
        },
        Err(unknown) => unknown,
    };
    // The user's own files, where the layer finds them.
    match samplin_config::simulate::locate(wanted) {
        Ok(path) => Ok(DeviceFile::Path(path, None)),
        Err(_) => Err(Failure::usage(unknown.message).hint(unknown.hint)),
    }
}

/// The files among these devices that somebody named or that lie in a folder of the user's, as inputs that no output may replace.
pub fn inputs<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<PathBuf> {
    let path = |name: &'n String| match find(name) {
        Ok(DeviceFile::Path(path, _)) => Some(path),
        _ => None,
    };
    names.into_iter().filter_map(path).collect()
}

/// The name of the device that the setting `device` means, if the layer can simulate it.
///
/// # Errors
///
/// When nothing or too much fits, or the file cannot be used.
pub fn simulated(setting: &str) -> Result<String> {
    let file = find(setting)?;
    match &file {
        DeviceFile::Shipped(_) => Ok(file.name()),
        DeviceFile::Path(path, _) => match samplin_config::simulate::load(&path.to_string_lossy()) {
            Ok(simulation) => Ok(simulation.name),
            Err(unusable) => Err(Failure::input(format!("{}: {}", path.display(), unusable.message))),
        },
    }
}

/// What the driver of the device that the setting `device` means is known to do.
///
/// # Errors
///
/// As for [`simulated`].
pub fn quirks(setting: &str) -> Result<Quirks> {
    let path = find(setting)?.on_disk()?;
    let simulation = samplin_config::simulate::load(&path.to_string_lossy());
    simulation.map(|simulation| simulation.quirks()).map_err(|unusable| Failure::input(unusable.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(wanted: &str) -> String {
        match find(wanted) {
            Ok(DeviceFile::Shipped(shipped)) => shipped.name.to_owned(),
            Ok(file @ DeviceFile::Path(..)) => file.name(),
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn names_mean_one_device() {
        assert_eq!(name("adreno-650"), "qualcomm-adreno-650-android");
        assert_eq!(name("Adreno-650"), "qualcomm-adreno-650-android");
        assert_eq!(name("rtx5080"), "nvidia-rtx5080-windows");
        assert_eq!(name("polaris"), "amd-polaris10-radv-25.0");
        assert_eq!(name("./own.json"), "./own.json");
        assert_eq!(name("a/own.json#VP_ONE"), "a/own.json#VP_ONE");
        assert_eq!(name("v3d"), "v3d may be any of v3d-4.2, v3d-7.1");
        assert_eq!(name("voodoo"), "no device is called voodoo");
    }

    #[test]
    fn every_file_is_what_its_name_says() {
        for shipped in SHIPPED {
            let value: serde_json::Value = serde_json::from_str(shipped.text).unwrap();
            assert_eq!(value["schema"], "device-caps/1", "{}", shipped.name);
            assert_eq!(value["name"], shipped.name);
            assert!(value["provenance"]["license"].is_string(), "{}", shipped.name);
        }
        let mut shorts: Vec<_> = SHIPPED.iter().map(|shipped| shipped.short).collect();
        shorts.sort_unstable();
        shorts.dedup();
        assert_eq!(shorts.len(), SHIPPED.len());
    }

    #[test]
    fn the_folder_holds_these_files_and_its_readme_names_them() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../devices");
        let mut there: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
            .collect();
        there.sort();
        let mut ours: Vec<String> = SHIPPED.iter().map(|shipped| shipped.name.to_owned()).collect();
        ours.sort();
        assert_eq!(there, ours);
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        for shipped in SHIPPED {
            assert!(readme.contains(&format!("| `{}` | `{}` |", shipped.short, shipped.name)), "{}", shipped.name);
        }
    }
}
