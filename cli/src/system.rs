//! What the Vulkan loader would see: environment variables, folders, manifests, libraries.
//!
//! A [`System`] can be another one than this process's, with its own root folder and variables, so that every finding of
//! `samplin doctor` has a test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::elf::Elf;
use crate::os;

/// The environment and the file system as the loader sees them.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
    variables: BTreeMap<OsString, OsString>,
}

/// The two kinds of layer manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// In force for every program, once its variable is set.
    Implicit,
    /// In force where it is asked for by name.
    Explicit,
}

impl LayerKind {
    /// Both kinds, in the order in which the loader stacks them.
    pub const ALL: [Self; 2] = [Self::Implicit, Self::Explicit];

    /// The folder below `vulkan/`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Implicit => "implicit_layer.d",
            Self::Explicit => "explicit_layer.d",
        }
    }

    /// The key of the registry of Windows, below `Software\Khronos\Vulkan`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Implicit => "ImplicitLayers",
            Self::Explicit => "ExplicitLayers",
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::Explicit => "explicit",
        }
    }
}

impl System {
    /// This process's.
    pub fn current() -> Self {
        Self {
            root: PathBuf::from("/"),
            variables: std::env::vars_os().map(|(name, value)| (os::variable(name), value)).collect(),
        }
    }

    /// One whose fixed folders are below `root`, with this process's variables.
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_path_buf(), ..Self::current() }
    }

    /// The same with variables set, or removed.
    #[must_use]
    pub fn with(mut self, variables: &[(String, Option<OsString>)]) -> Self {
        for (name, value) in variables {
            match value {
                Some(value) => self.variables.insert(name.into(), value.clone()),
                None => self.variables.remove(std::ffi::OsStr::new(name)),
            };
        }
        self
    }

    /// Whether this is the machine itself.
    pub fn is_real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The value of a variable, if it is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables
            .get(std::ffi::OsStr::new(name))
            .filter(|value| !value.is_empty())
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Whether a variable is set, even to nothing.
    pub fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(std::ffi::OsStr::new(name))
    }

    /// Variables whose names begin with `prefix`.
    pub fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .filter(|(name, _)| name.starts_with(prefix))
            .collect()
    }

    /// The paths in a variable that separates them by colons.
    pub fn path_list(&self, name: &str) -> Vec<PathBuf> {
        self.variable(name).map(|value| split(&value)).unwrap_or_default()
    }

    /// A fixed path of the system.
    pub fn fixed(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A folder that a variable names, with its default below the home folder.
    fn user_folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        self.variable(variable).map(PathBuf::from).and_then(absolute).or_else(|| Some(self.home()?.join(below_home)))
    }

    /// The home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.variable(os::HOME).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// `$XDG_DATA_HOME`, `%LOCALAPPDATA%` on Windows.
    pub fn data_home(&self) -> Option<PathBuf> {
        self.user_folder(os::DATA.0, os::DATA.1)
    }

    /// `$XDG_CACHE_HOME`, likewise.
    pub fn cache_home(&self) -> Option<PathBuf> {
        self.user_folder(os::CACHE.0, os::CACHE.1)
    }

    /// `$XDG_STATE_HOME`, likewise.
    pub fn state_home(&self) -> Option<PathBuf> {
        self.user_folder(os::STATE.0, os::STATE.1)
    }

    /// The folders whose `vulkan/…` the loader searches, in its order.
    ///
    /// Source: LoaderLayerInterface.md, "Linux Layer Discovery" (1.3.239 and 1.4.364 agree).
    pub fn vulkan_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        folders.extend(self.user_folder("XDG_CONFIG_HOME", ".config"));
        match self.path_list("XDG_CONFIG_DIRS") {
            dirs if dirs.is_empty() => folders.push(self.fixed("/etc/xdg")),
            dirs => folders.extend(dirs),
        }
        folders.push(self.fixed("/etc"));
        folders.push(self.fixed("/usr/local/etc"));
        folders.extend(self.data_home());
        match self.path_list("XDG_DATA_DIRS") {
            dirs if dirs.is_empty() => folders.extend([self.fixed("/usr/local/share"), self.fixed("/usr/share")]),
            dirs => folders.extend(dirs),
        }
        let mut unique: Vec<PathBuf> = Vec::new();
        for folder in folders {
            if !unique.contains(&folder) {
                unique.push(folder);
            }
        }
        unique
    }

    /// The folders in which the loader looks for layers of a kind when no variable says otherwise; on Windows the manifests that the
    /// registry lists.
    ///
    /// Source: LoaderLayerInterface.md, "Windows Layer Discovery".
    pub fn usual_layer_folders(&self, kind: LayerKind) -> Vec<PathBuf> {
        if cfg!(windows) {
            return os::registered(kind.key());
        }
        self.vulkan_folders().into_iter().map(|folder| folder.join("vulkan").join(kind.folder())).collect()
    }

    /// The folders and files in which the loader looks for layers of a kind, in its order.
    pub fn layer_folders(&self, kind: LayerKind) -> Vec<PathBuf> {
        let (replace, add) = match kind {
            LayerKind::Explicit => ("VK_LAYER_PATH", "VK_ADD_LAYER_PATH"),
            LayerKind::Implicit => ("VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"),
        };
        if os::loader_passes_over_paths() {
            return self.usual_layer_folders(kind);
        }
        let replaced = self.path_list(replace);
        if !replaced.is_empty() {
            return replaced;
        }
        let mut folders = self.path_list(add);
        folders.extend(self.usual_layer_folders(kind));
        folders
    }

    /// Every layer that a loader would find, in its order, of whatever word size.
    pub fn all_layers(&self, kind: LayerKind) -> Vec<Result<LayerManifest, BadManifest>> {
        manifests(&self.layer_folders(kind)).into_iter().flat_map(|path| read_layers(&path, kind)).collect()
    }

    /// Those that the loader of programs of a kind takes. Loaders that do not know `library_arch` yet pass over the others as well,
    /// once their library cannot be loaded.
    pub fn layers_for(&self, kind: LayerKind, of: Elf) -> Vec<LayerManifest> {
        let layers = self.all_layers(kind).into_iter().flatten();
        layers.filter(|manifest| manifest.layer.bits().is_none_or(|bits| bits == of.bits)).collect()
    }

    /// Those that the loader of programs like this one takes.
    pub fn layers(&self, kind: LayerKind) -> Vec<LayerManifest> {
        match Elf::native() {
            Some(native) => self.layers_for(kind, native),
            None => self.all_layers(kind).into_iter().flatten().collect(),
        }
    }

    /// The manifests of drivers that the loader would find.
    pub fn drivers(&self) -> Vec<Result<DriverManifest, BadManifest>> {
        self.driver_manifests().into_iter().map(|path| read_driver(&path)).collect()
    }

    /// The variable that names the drivers, if one does, with its paths.
    pub fn chosen_drivers(&self) -> Option<(&'static str, Vec<PathBuf>)> {
        ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(|name| {
            let paths = self.path_list(name);
            (!paths.is_empty()).then_some((name, paths))
        })
    }

    fn driver_manifests(&self) -> Vec<PathBuf> {
        match self.chosen_drivers() {
            Some((_, paths)) => manifests(&paths),
            None => {
                let mut paths = self.path_list("VK_ADD_DRIVER_FILES");
                if cfg!(windows) {
                    paths.extend(os::registered("Drivers"));
                } else {
                    paths.extend(self.vulkan_folders().into_iter().map(|folder| folder.join("vulkan/icd.d")));
                }
                manifests(&paths)
            }
        }
    }

    /// Whether the kernel offers a graphics device.
    pub fn has_gpu(&self) -> bool {
        cfg!(windows)
            || self.fixed("/dev/nvidiactl").exists()
            || std::fs::read_dir(self.fixed("/dev/dri")).is_ok_and(|entries| {
                entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("renderD"))
            })
    }

    /// The manifest of lavapipe, a driver that needs no GPU.
    pub fn lavapipe(&self) -> Option<PathBuf> {
        let folders: Vec<_> = self.vulkan_folders().into_iter().map(|folder| folder.join("vulkan/icd.d")).collect();
        manifests(&folders)
            .into_iter()
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lvp_icd")))
    }

    /// Finds a program as a shell does.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        if Path::new(name).components().count() > 1 || cfg!(windows) {
            folders.push(PathBuf::new());
        }
        if Path::new(name).components().count() == 1 {
            folders.extend(self.path_list("PATH"));
        }
        let named = folders.iter().flat_map(|folder| os::ENDINGS.map(|ending| folder.join(format!("{name}{ending}"))));
        named.into_iter().find(|path| os::is_program(path))
    }

    /// Finds a library by its bare name where the dynamic linker looks, for programs of a kind: the linker passes over libraries of
    /// another word size.
    pub fn library_for(&self, name: &str, of: Elf) -> Option<PathBuf> {
        self.libraries(name).into_iter().find(|path| Elf::read(path).is_ok_and(|elf| elf == of))
    }

    /// Finds a library for programs like this one; where there is none, what else has its name.
    pub fn library(&self, name: &str) -> Option<PathBuf> {
        let found = self.libraries(name);
        found.iter().find(|path| Elf::read(path).is_ok_and(Elf::is_native)).or(found.first()).cloned()
    }

    fn libraries(&self, name: &str) -> Vec<PathBuf> {
        let mut folders = self.path_list(os::LIBRARIES);
        folders.extend(if cfg!(windows) { os::library_folders() } else { self.linker_folders() });
        folders.into_iter().map(|folder| folder.join(name)).filter(|path| path.is_file()).collect()
    }

    fn linker_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let mut files = vec![self.fixed("/etc/ld.so.conf")];
        if let Ok(entries) = std::fs::read_dir(self.fixed("/etc/ld.so.conf.d")) {
            files.extend(entries.flatten().map(|entry| entry.path()));
        }
        for file in files {
            for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
                let line = line.split('#').next().unwrap_or("").trim();
                if line.starts_with('/') {
                    folders.push(self.fixed(line));
                }
            }
        }
        let own: Vec<_> = [Elf::native(), Elf::other()].into_iter().flatten().filter_map(Elf::folder).collect();
        for base in ["/lib", "/usr/lib", "/usr/local/lib"] {
            folders.extend(own.iter().map(|folder| self.fixed(&format!("{base}/{folder}"))));
            folders.extend(["64", "32", ""].map(|bits| self.fixed(&format!("{base}{bits}"))));
        }
        folders
    }
}

/// Splits a list of paths, without empty ones.
pub fn split(list: &str) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The manifests that folders and files stand for. Inside a folder the loader takes them as the file system gives them; here
/// they are sorted, so that messages are the same every time.
fn manifests(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        let mut here: Vec<PathBuf> = if path.is_dir() {
            std::fs::read_dir(path)
                .map(|entries| entries.flatten().map(|entry| entry.path()).filter(|path| is_json(path)).collect())
                .unwrap_or_default()
        } else if is_json(path) && path.exists() {
            vec![path.clone()]
        } else {
            Vec::new()
        };
        here.sort();
        for path in here {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// A manifest that the loader passes over.
#[derive(Clone, Debug)]
pub struct BadManifest {
    /// The file.
    pub path: PathBuf,
    /// Line, if the text is at fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// One layer of a manifest.
#[derive(Clone, Debug)]
pub struct LayerManifest {
    /// The file.
    pub path: PathBuf,
    /// Its kind, by the folder it was found in.
    pub kind: LayerKind,
    /// What it says.
    pub layer: Layer,
}

/// The members of a layer manifest that matter here.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Layer {
    /// Name of the layer.
    pub name: String,
    /// The library; missing for a layer made of others.
    #[serde(default)]
    pub library_path: Option<String>,
    /// Vulkan version.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Word size of the library, if the manifest says it.
    #[serde(default)]
    pub library_arch: Option<String>,
    /// The variable that switches an implicit layer on.
    #[serde(default)]
    pub enable_environment: Option<BTreeMap<String, String>>,
    /// The variable that switches an implicit layer off.
    #[serde(default)]
    pub disable_environment: Option<BTreeMap<String, String>>,
}

impl Layer {
    /// Word size of the library, if the manifest says it.
    pub fn bits(&self) -> Option<u8> {
        self.library_arch.as_ref()?.parse().ok()
    }
}

#[derive(Deserialize)]
struct LayerFile {
    #[serde(default)]
    layer: Option<Layer>,
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct DriverFile {
    #[serde(rename = "ICD")]
    driver: Driver,
}

/// The members of a driver manifest that matter here.
#[derive(Clone, Debug, Deserialize)]
pub struct Driver {
    /// The library.
    pub library_path: String,
    /// Vulkan version.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Word size of the library, if the manifest says it.
    #[serde(default)]
    pub library_arch: Option<String>,
}

/// A driver's manifest.
#[derive(Clone, Debug)]
pub struct DriverManifest {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub driver: Driver,
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, BadManifest> {
    let text = std::fs::read_to_string(path).map_err(|error| BadManifest {
        path: path.to_path_buf(),
        line: None,
        message: error.to_string(),
    })?;
    serde_json::from_str(&text).map_err(|error| BadManifest {
        path: path.to_path_buf(),
        line: Some(error.line()),
        message: error.to_string(),
    })
}

/// The layers of one manifest.
pub fn read_layers(path: &Path, kind: LayerKind) -> Vec<Result<LayerManifest, BadManifest>> {
    match parse::<LayerFile>(path) {
        Err(bad) => vec![Err(bad)],
        Ok(file) => file
            .layer
            .into_iter()
            .chain(file.layers)
            .map(|layer| Ok(LayerManifest { path: path.to_path_buf(), kind, layer }))
            .collect(),
    }
}

fn read_driver(path: &Path) -> Result<DriverManifest, BadManifest> {
    parse::<DriverFile>(path).map(|file| DriverManifest { path: path.to_path_buf(), driver: file.driver })
}

/// Where the library of a manifest is: a relative path starts at the manifest, a bare name is left to the linker.
pub fn library_of(manifest: &Path, library: &str, system: &System) -> Option<PathBuf> {
    if Path::new(library).components().count() == 1 {
        return system.library(library);
    }
    Some(manifest.parent().unwrap_or(Path::new("/")).join(library))
}

impl LayerManifest {
    /// Where the library is that programs of a kind load by this manifest; `None` without one.
    pub fn library_for(&self, of: Option<Elf>, system: &System) -> Option<PathBuf> {
        let library = self.layer.library_path.as_deref()?;
        match of {
            Some(of) if !library.contains('/') => system.library_for(library, of),
            _ => library_of(&self.path, library, system),
        }
    }

    /// What its library is for, if the manifest says a word size that programs here can have.
    pub fn elf(&self) -> Option<Elf> {
        let bits = self.layer.bits()?;
        [Elf::native(), Elf::other()].into_iter().flatten().find(|elf| elf.bits == bits)
    }
}

/// Whether a pattern of `VK_LOADER_LAYERS_ENABLE` and the like covers a layer. `*` stands for anything at either end; names
/// between tildes stand for all layers of a kind. Letters are compared without case.
///
/// Source: LoaderLayerInterface.md, "Layer Filtering".
pub fn filter_covers(pattern: &str, name: &str, kind: LayerKind) -> bool {
    let (pattern, name) = (pattern.trim().to_ascii_lowercase(), name.to_ascii_lowercase());
    match pattern.as_str() {
        "" => false,
        "*" | "**" | "~all~" => true,
        "~implicit~" => kind == LayerKind::Implicit,
        "~explicit~" => kind == LayerKind::Explicit,
        _ => match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
            (Some(end), None) => name.ends_with(end),
            (None, Some(start)) => name.starts_with(start),
            (None, None) => name == pattern,
        },
    }
}

/// Whether a comma-separated list of such patterns covers a layer.
pub fn list_covers(list: &str, name: &str, kind: LayerKind) -> bool {
    list.split(',').any(|pattern| filter_covers(pattern, name, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_the_loaders() {
        let covers = |pattern| filter_covers(pattern, "VK_LAYER_SAMPLIN_sampling", LayerKind::Explicit);
        for pattern in
            ["*", "~all~", "~explicit~", "vk_layer_samplin_sampling", "*sampling", "VK_LAYER_S*", "*SAMPLIN*"]
        {
            assert!(covers(pattern), "{pattern}");
        }
        for pattern in ["", "~implicit~", "VK_LAYER_SAMPLIN", "*KHRONOS*", "sampling*"] {
            assert!(!covers(pattern), "{pattern}");
        }
        assert!(list_covers("*KHRONOS*, *SAMPLIN*", "VK_LAYER_SAMPLIN_sampling", LayerKind::Implicit));
    }
}
