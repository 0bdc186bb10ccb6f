//! Finding the layer's library, and describing it to the loader.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::elf::Elf;
use crate::failure::{Failure, Result};
use crate::files;
use crate::system::{self, LayerKind, System};

/// Name of the layer.
pub const NAME: &str = "VK_LAYER_SAMPLIN_sampling";
/// Name of the Khronos validation layer.
pub const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";
/// File name of the library.
pub const LIBRARY: &str = if cfg!(windows) { "VkLayer_samplin.dll" } else { "libVkLayer_samplin.so" };
/// Folder of the library for 32-bit programs, within that of the library for 64-bit ones.
pub const NARROW: &str = "32";

const EXPLICIT: &str = include_str!("../../manifest/VkLayer_samplin.explicit.json");
const IMPLICIT: &str = include_str!("../../manifest/VkLayer_samplin.implicit.json");

/// A library of the layer, and what can load it.
#[derive(Clone, Debug)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// Programs of this kind.
    pub elf: Elf,
}

/// The text of a manifest that names `library`, for loaders of its word size only: two manifests of one name lie beside each other.
///
/// # Errors
///
/// When the path is not UTF-8, which JSON cannot hold.
pub fn manifest(kind: LayerKind, library: &Library) -> Result<String> {
    let template = match kind {
        LayerKind::Explicit => EXPLICIT,
        LayerKind::Implicit => IMPLICIT,
    };
    let path = &library.path;
    let path =
        path.to_str().ok_or_else(|| Failure::environment(format!("{}: the path is not UTF-8", path.display())))?;
    let fill = || -> Option<String> {
        let mut manifest: Value = serde_json::from_str(template).ok()?;
        *manifest.get_mut("layer")?.get_mut("library_path")? = path.into();
        *manifest.get_mut("layer")?.get_mut("library_arch")? = library.elf.bits.to_string().into();
        serde_json::to_string_pretty(&manifest).ok()
    };
    // The templates are part of this program.
    fill().map(|text| text + "\n").ok_or_else(|| Failure::environment("the manifest in this program is broken"))
}

/// Finds the library for programs like this one: where the caller says, beside this program, in the tree it was built in, below the
/// prefix it is installed in, or where an installed manifest points.
///
/// # Errors
///
/// When there is none, or none that can be loaded here.
pub fn find(given: Option<&Path>, system: &System) -> Result<PathBuf> {
    let found = find_all(given, system)?;
    match found.iter().find(|library| library.elf.is_native()) {
        Some(library) => Ok(library.path.clone()),
        None => Err(cannot_load(&found[0].path, found[0].elf)),
    }
}

/// Finds the library, as [`find`] does, and the one for programs of the other word size if it lies beside that. The one of a file that
/// the caller names comes alone.
///
/// # Errors
///
/// When there is none, or none that can be loaded here.
pub fn find_all(given: Option<&Path>, system: &System) -> Result<Vec<Library>> {
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
    let path = std::path::absolute(&found).map_err(|error| Failure::file(&found, error))?;
    let elf = Elf::read(&path).map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    if !elf.runs_here() {
        return Err(cannot_load(&path, elf));
    }
    let other = if given.is_none_or(Path::is_dir) { beside(&path, elf) } else { None };
    Ok([Some(Library { path, elf }), other].into_iter().flatten().collect())
}

fn cannot_load(library: &Path, elf: Elf) -> Failure {
    let (path, kind) = (library.display(), elf.describe());
    Failure::environment(format!("{path}: the library is {kind}, which programs of this machine cannot load"))
}

/// The library of the other word size that belongs to this one: where `samplin install` puts it, where distributions have theirs, or
/// where cargo builds it.
fn beside(library: &Path, elf: Elf) -> Option<Library> {
    let other = [Elf::native(), Elf::other()].into_iter().flatten().find(|of| *of != elf)?;
    let folder = library.parent()?;
    let mut places = vec![folder.join(NARROW), folder.join("..")];
    places.extend(other.folder().map(|name| folder.join("..").join(name)));
    places.extend(["lib32", "lib64", "lib"].map(|name| folder.join("..").join(name)));
    places.extend(other.target().map(|target| folder.join("..").join(target).join("release")));
    let mut found = places.into_iter().map(|place| place.join(LIBRARY));
    let path = found.find(|path| Elf::read(path).is_ok_and(|of| of == other))?;
    Some(Library { path: path.canonicalize().unwrap_or(path), elf: other })
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
        let own = Elf::native().and_then(Elf::folder).map(|own| format!("../lib/{own}"));
        for below in ["", "../lib", "../lib/samplin", "../share/samplin"].into_iter().chain(own.as_deref()) {
            let library = folder.join(below).join(LIBRARY);
            if library.is_file() {
                return Some(library.canonicalize().unwrap_or(library));
            }
        }
    }
    LayerKind::ALL.into_iter().flat_map(|kind| system.layers(kind)).find_map(|manifest| {
        let library = manifest.layer.library_path.filter(|_| manifest.layer.name == NAME)?;
        system::library_of(&manifest.path, &library, system).filter(|library| library.is_file())
    })
}

/// The folder of manifests for these libraries alone, made in the user's cache. It stays, because programs may create Vulkan
/// instances long after this one has ended.
///
/// # Errors
///
/// When one cannot be written.
pub fn private_folder(libraries: &[Library], system: &System) -> Result<PathBuf> {
    let texts = libraries.iter().map(|library| manifest(LayerKind::Explicit, library)).collect::<Result<Vec<_>>>()?;
    let hash = samplin_core::decide::fnv1a(texts.iter().flat_map(|text| text.bytes()));
    let folder = Path::new("samplin/layers").join(format!("{hash:016x}"));
    let mut written = PathBuf::new();
    for (library, text) in libraries.iter().zip(&texts) {
        let second = if library.elf.is_native() { String::new() } else { format!(".{}", library.elf.bits) };
        let name = folder.join(format!("VkLayer_samplin{second}.json"));
        written = files::in_cache(&name, text.as_bytes(), system)?;
    }
    written.pop();
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_the_library() {
        for kind in LayerKind::ALL {
            let path = PathBuf::from("/opt/x y/libVkLayer_samplin.so");
            let text = manifest(kind, &Library { path, elf: Elf { bits: 32, machine: 3 } }).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["layer"]["library_path"], "/opt/x y/libVkLayer_samplin.so");
            assert_eq!(value["layer"]["library_arch"], "32");
            assert_eq!(value["layer"]["name"], NAME);
            assert_eq!(value["layer"].get("disable_environment").is_some(), kind == LayerKind::Implicit);
        }
    }
}
