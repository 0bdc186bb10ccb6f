//! Finding the layer's library, and describing it to the loader.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::files;
use crate::system::{self, Elf, LayerKind, System};

/// Name of the layer.
pub const NAME: &str = "VK_LAYER_SAMPLIN_sampling";
/// Name of the Khronos validation layer.
pub const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";
/// File name of the library.
pub const LIBRARY: &str = "libVkLayer_samplin.so";

const EXPLICIT: &str = include_str!("../../manifest/VkLayer_samplin.explicit.json");
const IMPLICIT: &str = include_str!("../../manifest/VkLayer_samplin.implicit.json");

/// The text of a manifest that names `library`.
///
/// # Errors
///
/// When the path is not UTF-8, which JSON cannot hold.
pub fn manifest(kind: LayerKind, library: &Path) -> Result<String> {
    let template = match kind {
        LayerKind::Explicit => EXPLICIT,
        LayerKind::Implicit => IMPLICIT,
    };
    let path = library
        .to_str()
        .ok_or_else(|| Failure::environment(format!("{}: the path is not UTF-8", library.display())))?;
    let fill = || -> Option<String> {
        let mut manifest: Value = serde_json::from_str(template).ok()?;
        *manifest.get_mut("layer")?.get_mut("library_path")? = path.into();
        serde_json::to_string_pretty(&manifest).ok()
    };
    // The templates are part of this program.
    fill().map(|text| text + "\n").ok_or_else(|| Failure::environment("the manifest in this program is broken"))
}

/// Finds the library: where the caller says, beside this program, in the tree it was built in, below the prefix it is
/// installed in, or where an installed manifest points.
///
/// # Errors
///
/// When there is none, or none that can be loaded here.
pub fn find(given: Option<&Path>, system: &System) -> Result<PathBuf> {
    let found = match given {
        Some(path) => in_place(path).ok_or_else(|| {
            Failure::environment(format!("{}: there is no {LIBRARY}", path.display()))
                .hint("name the library, its manifest or the folder of either")
        })?,
        None => search(system).ok_or_else(|| {
            Failure::environment(format!("the layer ({LIBRARY}) was not found"))
                .hint("build it with scripts/build, install it with `samplin install`, or name it with --layer")
        })?,
    };
    let library = std::path::absolute(&found).map_err(|error| Failure::file(&found, error))?;
    match Elf::read(&library) {
        Ok(elf) if elf.is_native() => Ok(library),
        Ok(elf) => Err(Failure::environment(format!(
            "{}: the library is {}, which programs of this machine cannot load",
            library.display(),
            elf.describe()
        ))),
        Err(error) => Err(Failure::environment(format!("{}: {error}", library.display()))),
    }
}

/// The library that a path stands for: itself, what a manifest names, or what lies in a folder.
fn in_place(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let library = path.join(LIBRARY);
        if library.is_file() {
            return Some(library);
        }
        let mut manifests: Vec<PathBuf> = std::fs::read_dir(path)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        manifests.sort();
        return manifests.iter().find_map(|manifest| by_manifest(manifest));
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        return by_manifest(path);
    }
    path.is_file().then(|| path.to_path_buf())
}

fn by_manifest(path: &Path) -> Option<PathBuf> {
    system::read_layers(path, LayerKind::Explicit).into_iter().flatten().find_map(|manifest| {
        let library = manifest.layer.library_path.filter(|_| manifest.layer.name == NAME)?;
        system::library_of(path, &library, &System::current()).filter(|library| library.is_file())
    })
}

fn search(system: &System) -> Option<PathBuf> {
    // The project's own scripts and tests say where the layer is by this variable.
    if let Some(library) = system.variable("SAMPLIN_LAYER_DIR").and_then(|folder| in_place(Path::new(&folder))) {
        return Some(library);
    }
    let program = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    if let Some(folder) = program.as_deref().and_then(Path::parent) {
        // In the build tree: the release library, which scripts/build makes, whatever this program was built as.
        for root in folder.ancestors().skip(2).take(2) {
            let library = root.join("target/release").join(LIBRARY);
            if root.join("layer.json").is_file() && library.is_file() {
                return Some(library);
            }
        }
        for below in ["", "../lib", "../lib/samplin", "../share/samplin"] {
            let library = folder.join(below).join(LIBRARY);
            if library.is_file() {
                return Some(library.canonicalize().unwrap_or(library));
            }
        }
    }
    LayerKind::ALL.into_iter().flat_map(|kind| system.layers(kind)).flatten().find_map(|manifest| {
        let library = manifest.layer.library_path.filter(|_| manifest.layer.name == NAME)?;
        system::library_of(&manifest.path, &library, system).filter(|library| library.is_file())
    })
}

/// The folder of a manifest for `library` alone, made in the user's cache. It stays, because programs may create Vulkan
/// instances long after this one has ended.
///
/// # Errors
///
/// When it cannot be written.
pub fn private_folder(library: &Path, system: &System) -> Result<PathBuf> {
    let text = manifest(LayerKind::Explicit, library)?;
    let hash = samplin_core::decide::fnv1a(text.bytes());
    let path = Path::new("samplin/layers").join(format!("{hash:016x}")).join("VkLayer_samplin.json");
    let path = files::in_cache(&path, text.as_bytes(), system)?;
    Ok(path.parent().map(Path::to_path_buf).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_the_library() {
        for kind in LayerKind::ALL {
            let text = manifest(kind, Path::new("/opt/x y/libVkLayer_samplin.so")).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["layer"]["library_path"], "/opt/x y/libVkLayer_samplin.so");
            assert_eq!(value["layer"]["name"], NAME);
            assert_eq!(value["layer"].get("disable_environment").is_some(), kind == LayerKind::Implicit);
        }
    }
}
