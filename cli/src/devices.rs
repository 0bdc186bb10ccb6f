//! The capability files that come with the program, and finding the one that a name means.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::system::{self, System};

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

macro_rules! shipped {
    ($($short:literal => $name:literal,)+) => {
        /// Every file of `devices/`.
        pub const SHIPPED: &[Shipped] = &[$(Shipped {
            short: $short,
            name: $name,
            text: include_str!(concat!("../../devices/", $name, ".json")),
        },)+];
    };
}

shipped! {
    "adreno-506" => "qualcomm-adreno-506-android",
    "adreno-540" => "qualcomm-adreno-540-android",
    "adreno-650" => "qualcomm-adreno-650-android",
    "adreno-750" => "qualcomm-adreno-750-turnip",
    "adreno-830" => "qualcomm-adreno-830-android",
    "apple-a8" => "apple-a8-moltenvk",
    "apple-a12" => "apple-a12-moltenvk",
    "apple-m1" => "apple-m1-moltenvk-1.2.11",
    "apple-m2" => "apple-m2-honeykrisp",
    "gtx-650ti" => "nvidia-gtx650ti-windows",
    "hd-620" => "intel-hd620-windows",
    "llvmpipe" => "llvmpipe-mesa-22.3-debian12",
    "mali-g57" => "arm-mali-g57-android",
    "mali-g610" => "arm-mali-g610-panvk",
    "mali-g720" => "arm-mali-g720-android",
    "mali-t830" => "arm-mali-t830-android",
    "powervr-bxm" => "imgtec-powervr-bxm-8-256-android",
    "powervr-ge8320" => "imgtec-powervr-ge8320-android",
    "rtx-5080" => "nvidia-rtx5080-windows",
    "rx-580" => "amd-polaris10-radv-25.0",
    "rx-5700xt" => "amd-rx5700xt-windows",
    "swiftshader" => "google-swiftshader-llvm16",
    "v3d-4.2" => "broadcom-v3d-4.2-v3dv",
    "v3d-7.1" => "broadcom-v3d-7.1-v3dv",
    "verisilicon" => "verisilicon-gc-debian",
    "xclipse-940" => "samsung-xclipse-940-android",
}

/// A capability file.
#[derive(Clone, Debug)]
pub enum DeviceFile {
    /// One that is built in.
    Shipped(&'static Shipped),
    /// A file.
    Path(PathBuf),
}

impl DeviceFile {
    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Self::Shipped(shipped) => shipped.short.to_owned(),
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// Its text.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn text(&self) -> Result<String> {
        match self {
            Self::Shipped(shipped) => Ok(shipped.text.to_owned()),
            Self::Path(path) => std::fs::read_to_string(path).map_err(|error| Failure::file(path, error)),
        }
    }

    /// A file with its content, for the layer; a built-in one is written to the user's cache.
    ///
    /// # Errors
    ///
    /// When the file is not there or cannot be written.
    pub fn on_disk(&self) -> Result<PathBuf> {
        match self {
            Self::Path(path) => {
                std::fs::File::open(path).map_err(|error| Failure::file(path, error))?;
                std::path::absolute(path).map_err(|error| Failure::file(path, error))
            }
            Self::Shipped(shipped) => {
                let base = System::current().cache_home().unwrap_or_else(|| std::env::temp_dir().join("samplin-cache"));
                let path = base.join("samplin/devices").join(format!("{}.json", shipped.name));
                if !std::fs::read(&path).is_ok_and(|there| there == shipped.text.as_bytes()) {
                    system::write_atomically(&path, shipped.text.as_bytes()).map_err(|error| {
                        Failure::environment(format!("{}: {error}", path.display()))
                            .hint("set XDG_CACHE_HOME to a folder that can be written")
                    })?;
                }
                Ok(path)
            }
        }
    }
}

/// Whether `part` occurs in `name` as whole words between dashes.
fn has_words(name: &str, part: &str) -> bool {
    format!("-{name}-").contains(&format!("-{part}-"))
}

/// The file that a short name, a file name, a part of one, or a path means.
///
/// # Errors
///
/// When nothing or too much fits.
pub fn find(wanted: &str) -> Result<DeviceFile> {
    if wanted.contains('/') || wanted.ends_with(".json") {
        return Ok(DeviceFile::Path(Path::new(wanted).to_path_buf()));
    }
    let lower = wanted.to_ascii_lowercase();
    let exact = SHIPPED.iter().find(|shipped| shipped.short == lower || shipped.name == lower);
    if let Some(shipped) = exact {
        return Ok(DeviceFile::Shipped(shipped));
    }
    let mut fitting: Vec<&'static Shipped> =
        SHIPPED.iter().filter(|shipped| has_words(shipped.name, &lower) || has_words(shipped.short, &lower)).collect();
    if fitting.is_empty() && lower.len() >= 3 {
        fitting = SHIPPED.iter().filter(|shipped| shipped.name.contains(&lower)).collect();
    }
    let list = |of: &[&Shipped]| of.iter().map(|shipped| shipped.short).collect::<Vec<_>>().join(", ");
    match fitting.as_slice() {
        [one] => Ok(DeviceFile::Shipped(one)),
        [] => Err(Failure::usage(format!("no device is called {wanted}"))
            .hint(format!("there are {}; or name a capability file", list(&SHIPPED.iter().collect::<Vec<_>>())))),
        several => Err(Failure::usage(format!("{wanted} may be any of {}", list(several)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(wanted: &str) -> String {
        match find(wanted) {
            Ok(DeviceFile::Shipped(shipped)) => shipped.name.to_owned(),
            Ok(DeviceFile::Path(path)) => path.display().to_string(),
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
