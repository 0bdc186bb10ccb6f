//! Keeps the Vulkan loader, drivers and the validation layer in memory for as long as the process lives.
//!
//! The Vulkan loader opens a driver for each enumeration and each instance and closes it after the last one. A software driver brings
//! a compiler along, and relocating that again for each context took a third of the time of a short test. The layer under test is not
//! kept: that it can be unloaded and loaded again is tested.

use libloading::Library;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// What a mapping of the validation layer's library is recognised by.
const VALIDATION: &str = "libVkLayer_khronos_validation.so";

/// The Vulkan loader.
pub fn keep_loader() {
    // SAFETY: it is the library that each context opens by this name (`ash::Entry::load`).
    unsafe { keep(Path::new(if cfg!(windows) { "vulkan-1.dll" } else { "libvulkan.so.1" })) };
}

/// The drivers that the environment names. Whatever cannot be kept is left to the loader, which says what is wrong with it.
pub fn keep_drivers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(std::env::var_os);
        for manifest in named.iter().flat_map(std::env::split_paths) {
            if let Some(library) = library_of(&manifest) {
                // SAFETY: the Vulkan loader opens what the manifest names, which is where this name is from.
                unsafe { keep(&library) };
            }
        }
    });
}

/// The validation layer, if it is loaded at this moment.
pub(crate) fn keep_validation() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Some(path) = loaded_validation() {
            keep_validation_at(&path);
        }
    });
}

/// The validation layer, which [`loaded_validation`] has found in this process or in a copy of it.
pub fn keep_validation_at(path: &Path) {
    assert!(path.ends_with(VALIDATION), "{} is no validation layer", path.display());
    // SAFETY: it is the validation layer by its name, and was loaded from this path by the Vulkan loader before.
    unsafe { keep(path) };
}

/// The validation layer's library, if it is loaded at this moment.
pub fn loaded_validation() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    paths.find(|path| path.ends_with(VALIDATION)).map(PathBuf::from)
}

/// The library that a driver's manifest names: a path, relative to the manifest unless absolute, or a name to search for.
fn library_of(manifest: &Path) -> Option<PathBuf> {
    let value: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    let library = Path::new(value["ICD"]["library_path"].as_str()?);
    let is_path = library.components().count() > 1;
    Some(if is_path { manifest.parent()?.join(library) } else { library.to_owned() })
}

/// Opens a library for good.
///
/// # Safety
///
/// It is one that this process loads in any case, so that its constructors do nothing that would not be done.
unsafe fn keep(library: &Path) {
    // SAFETY: the caller says that it is loaded in any case.
    if let Ok(open) = unsafe { Library::new(library) } {
        // Dropping the handle would close the library.
        std::mem::forget(open);
    }
}
