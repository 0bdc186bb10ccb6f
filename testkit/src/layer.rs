//! Finding the layer under test and proving which library is loaded.
//!
//! [`install`] is the single place of the test programs that changes the environment, and it runs before the Vulkan
//! loader is loaded ([`crate::ContextBuilder::build`] calls it first).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the layer.
pub const SAMPLIN: &str = "VK_LAYER_SAMPLIN_sampling";
/// Name of the Khronos validation layer.
pub const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";
/// File name of the layer's library.
pub const LIBRARY: &str = if cfg!(windows) { "VkLayer_samplin.dll" } else { "libVkLayer_samplin.so" };
const MANIFEST: &str = "VkLayer_samplin.json";
/// Environment variable naming a folder with a manifest of the layer to test.
pub const LAYER_DIR_VARIABLE: &str = "SAMPLIN_LAYER_DIR";

/// Makes the layer under test visible to the loader, once per process.
///
/// The folder is `SAMPLIN_LAYER_DIR` when set. Otherwise the newest [`LIBRARY`] beside the running program (its folder,
/// then up to two folders above, `deps` included) gets a manifest in a folder `samplin-layer` beside it. The folder goes in front of `VK_LAYER_PATH` when that is set, else in front of
/// `VK_ADD_LAYER_PATH`, so that the distribution's layers stay visible.
/// The error is a sentence saying where the library was looked for; the environment is then left as it was.
pub fn install() -> Result<&'static Path, String> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let outcome = FOLDER.get_or_init(|| {
        let folder = locate()?;
        let variable = if std::env::var_os("VK_LAYER_PATH").is_some() { "VK_LAYER_PATH" } else { "VK_ADD_LAYER_PATH" };
        let mut search = vec![folder.clone()];
        if let Some(present) = std::env::var_os(variable) {
            search.extend(std::env::split_paths(&present));
        }
        let joined = std::env::join_paths(search).map_err(|error| format!("{variable}: {error}"))?;
        // SAFETY: the closure runs once. Rust code reads the environment under the standard library's lock, and the only
        // foreign reader in these programs, the Vulkan loader, is loaded after this function returns.
        unsafe { std::env::set_var(variable, joined) };
        Ok(folder)
    });
    match outcome {
        Ok(folder) => Ok(folder),
        Err(message) => Err(message.clone()),
    }
}

/// The folder [`install`] would use, without touching the environment (a manifest may be written).
pub fn locate() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os(LAYER_DIR_VARIABLE).filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return fs::canonicalize(&folder)
            .map_err(|error| format!("{LAYER_DIR_VARIABLE}={}: {error}", folder.display()));
    }
    let library = built_library()?;
    let folder = library.with_file_name("samplin-layer");
    write_manifest(&folder, &library)?;
    Ok(folder)
}

/// The newest built library near the running program.
/// The error is a sentence naming the folders that were searched and the command that builds the library.
pub fn built_library() -> Result<PathBuf, String> {
    built(LIBRARY).map_err(|error| {
        format!("{error}; build it (cargo build -p samplin-so) or name a manifest's folder in {LAYER_DIR_VARIABLE}")
    })
}

/// The newest library of a file name near the running program.
/// The error is a sentence naming the folders that were searched.
pub fn built(library: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("the running program has no path: {error}"))?;
    let folders: Vec<PathBuf> =
        program.ancestors().skip(1).take(2).flat_map(|folder| [folder.to_owned(), folder.join("deps")]).collect();
    let newest = folders
        .iter()
        .map(|folder| folder.join(library))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .max();
    newest.map(|(_, path)| path).ok_or_else(|| {
        let searched = folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
        format!("{library} is in none of {searched}")
    })
}

/// Writes a manifest into `folder` for `library`, following the repository's own `layer.json` where present.
pub fn write_manifest(folder: &Path, library: &Path) -> Result<(), String> {
    let mut manifest = repository_manifest().unwrap_or_else(|| {
        serde_json::json!({
            "file_format_version": "1.2.0",
            "layer": {
                "name": SAMPLIN,
                "type": "GLOBAL",
                "api_version": "1.4.0",
                "implementation_version": "1",
                "description": "samplin under test",
                "instance_extensions": [{"name": "VK_EXT_layer_settings", "spec_version": "2"}],
            }
        })
    });
    // As an explicit layer under test; the switches of an implicit manifest would only add ways to lose it.
    if let Some(layer) = manifest["layer"].as_object_mut() {
        layer.insert("library_path".to_owned(), library.display().to_string().into());
        layer.remove("enable_environment");
        layer.remove("disable_environment");
    }
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    // Other test processes may be reading: the new manifest appears whole or not at all.
    let (path, fresh) = (folder.join(MANIFEST), folder.join(format!("{MANIFEST}.{}", std::process::id())));
    fs::write(&fresh, format!("{manifest:#}\n")).map_err(|error| failed(&fresh, error))?;
    fs::rename(&fresh, &path).map_err(|error| failed(&path, error))
}

fn repository_manifest() -> Option<serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("layer.json");
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// Path of the layer library mapped into this process, by `/proc/self/maps`; `None` when it is not mapped.
///
/// The layer is linked so that it stays mapped after its last instance, so this tells whether it was *ever* loaded.
#[cfg(unix)]
pub fn loaded_library() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.trim_end_matches(" (deleted)").ends_with(LIBRARY))?;
    let start = line.find('/')?;
    Some(PathBuf::from(line[start..].trim_end_matches(" (deleted)")))
}

/// The layer library that is loaded into this process, by its name alone.
#[cfg(windows)]
pub fn loaded_library() -> Option<PathBuf> {
    libloading::os::windows::Library::open_already_loaded(LIBRARY).ok().map(|_| PathBuf::from(LIBRARY))
}
