//! `samplin install` and `samplin uninstall`: puts the layer where the loader finds it.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::devices::SHIPPED;
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::layer::{self, LIBRARY, Library};
use crate::os;
use crate::output::{Output, Style};
use crate::system::{LayerKind, System};

/// File names of the manifests. 32-bit and 64-bit ones lie in one folder.
const fn manifest_name(kind: LayerKind, bits: u8) -> &'static str {
    match (kind, bits) {
        (LayerKind::Implicit, 32) => "VkLayer_samplin.implicit.32.json",
        (LayerKind::Implicit, _) => "VkLayer_samplin.implicit.json",
        (LayerKind::Explicit, 32) => "VkLayer_samplin.explicit.32.json",
        (LayerKind::Explicit, _) => "VkLayer_samplin.explicit.json",
    }
}

/// The word sizes of programs.
const WIDTHS: [u8; 2] = [64, 32];

/// Where to install.
#[derive(Clone, Debug, clap::Args)]
#[group(multiple = false)]
pub struct Scope {
    /// For this user, below ~/.local/share (the default)
    #[arg(long)]
    pub user: bool,
    /// For everybody, below /usr/local
    #[arg(long)]
    pub system: bool,
    /// Below this folder
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
}

/// The arguments of `samplin install`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Where to.
    #[command(flatten)]
    pub scope: Scope,
    /// Active in programs that run with ENABLE_SAMPLIN=1 (the default)
    #[arg(long, conflicts_with = "explicit")]
    pub implicit: bool,
    /// Active where VK_INSTANCE_LAYERS or the program names it
    #[arg(long)]
    pub explicit: bool,
    /// The layer's library, its manifest or the folder of either; may be given twice, for 64-bit and 32-bit programs
    #[arg(long, value_name = "PATH")]
    pub layer: Vec<PathBuf>,
}

/// The arguments of `samplin uninstall`.
#[derive(Clone, Debug, clap::Args)]
pub struct Removal {
    /// From where.
    #[command(flatten)]
    pub scope: Scope,
}

/// The folders of an installation.
#[derive(Clone, Debug)]
struct Folders {
    /// For the library of 64-bit programs; that of 32-bit ones has a folder in it.
    library: PathBuf,
    /// For capability files: where the layer looks for names.
    devices: PathBuf,
    /// The folder that holds `vulkan/`.
    data: PathBuf,
    /// Where manifests are listed in the registry: for all users, or for this one. None where the loader looks into folders.
    registry: Option<bool>,
}

impl Folders {
    fn of(scope: &Scope, system: &System) -> Result<Self> {
        let prefix = match (&scope.prefix, scope.system) {
            (Some(prefix), _) => Some(std::path::absolute(prefix).map_err(|error| Failure::file(prefix, error))?),
            (None, true) if cfg!(windows) => Some(os::for_all()),
            (None, true) => Some(system.fixed("/usr/local")),
            (None, false) => None,
        };
        let registry = scope.prefix.is_none().then_some(scope.system);
        Ok(match prefix {
            Some(prefix) => Self {
                registry,
                library: prefix.join("lib"),
                devices: prefix.join("share/samplin/devices"),
                data: prefix.join("share"),
            },
            None => {
                let data = system.data_home().ok_or_else(|| {
                    Failure::environment("there is no home folder: neither XDG_DATA_HOME nor HOME is an absolute path")
                })?;
                Self { registry, library: data.join("samplin"), devices: data.join("samplin/devices"), data }
            }
        })
    }

    /// The list of the folders that `install` made, for `uninstall` to remove.
    fn made(&self) -> PathBuf {
        self.data.join("samplin/made-folders.json")
    }

    fn manifest(&self, kind: LayerKind, bits: u8) -> PathBuf {
        self.data.join("vulkan").join(kind.folder()).join(manifest_name(kind, bits))
    }

    /// Removes a manifest from the registry, so that the loader does not look for it.
    fn withdraw(&self, kind: LayerKind, manifest: &Path) -> Result<()> {
        let Some(for_all) = self.registry else { return Ok(()) };
        os::unregister(kind.key(), for_all, manifest).map_err(|error| cannot_write(manifest, &error))
    }

    fn library(&self, bits: u8) -> PathBuf {
        let folder = if bits == 32 { self.library.join(layer::NARROW) } else { self.library.clone() };
        folder.join(LIBRARY)
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::environment(format!("{}: {error}", path.display()));
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        failure.hint("run it with sudo, or install for this user alone with --user")
    } else {
        failure
    }
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    shlex::try_quote(&text).map(Into::into).unwrap_or(text)
}

/// The folders above a path that are not there, the outermost first.
fn missing_above(path: &Path) -> impl Iterator<Item = PathBuf> {
    let missing: Vec<_> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.into_iter().rev()
}

/// The folders that `install` made, by its list.
fn made_folders(list: &Path) -> Vec<PathBuf> {
    std::fs::read(list).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Runs `samplin install`.
///
/// # Errors
///
/// When the layer is not found or a file cannot be written.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let system = System::current();
    let folders = Folders::of(&arguments.scope, &system)?;
    let kind = if arguments.explicit { LayerKind::Explicit } else { LayerKind::Implicit };
    let sources = sources(&arguments.layer, &system)?;
    let mut written: Vec<PathBuf> = Vec::new();
    let mut made = made_folders(&folders.made());
    let mut put = |path: PathBuf, content: &[u8]| -> Result<()> {
        made.extend(missing_above(&path));
        files::write_atomically(&path, content).map_err(|error| cannot_write(&path, &error))?;
        written.push(path);
        Ok(())
    };
    // The manifests come last: they must not point at nothing.
    let mut placed: Vec<Library> = Vec::new();
    for source in sources {
        let path = folders.library(source.elf.bits);
        if !files::is_same(&source.path, &path) {
            let content = std::fs::read(&source.path).map_err(|error| Failure::file(&source.path, error))?;
            put(path.clone(), &content)?;
        }
        placed.push(Library { path, ..source });
    }
    for shipped in SHIPPED {
        put(folders.devices.join(format!("{}.json", shipped.name)), shipped.text.as_bytes())?;
    }
    for library in &placed {
        let path = folders.manifest(kind, library.elf.bits);
        put(path.clone(), layer::manifest(kind, library)?.as_bytes())?;
        if let Some(for_all) = folders.registry {
            os::register(kind.key(), for_all, &path).map_err(|error| cannot_write(&path, &error))?;
        }
    }
    let list = folders.made();
    made.extend(missing_above(&list));
    files::write_atomically(&list, &serde_json::to_vec(&made).unwrap_or_default())
        .map_err(|error| cannot_write(&list, &error))?;
    // Two manifests of one name confuse every loader, so the other kind goes.
    let other = if kind == LayerKind::Implicit { LayerKind::Explicit } else { LayerKind::Implicit };
    let mut removed: Vec<PathBuf> = Vec::new();
    for library in &placed {
        let path = folders.manifest(other, library.elf.bits);
        folders.withdraw(other, &path)?;
        if remove(&path)? {
            removed.push(path);
        }
    }

    let seen = system.usual_layer_folders(kind);
    let is_visible = seen.contains(&folders.data.join("vulkan").join(kind.folder()))
        || placed.iter().any(|library| seen.contains(&folders.manifest(kind, library.elf.bits)));
    let shown: Vec<_> = placed.iter().map(|library| (library, folders.manifest(kind, library.elf.bits))).collect();
    if output.json {
        let libraries = shown.iter().map(
            |(library, manifest)| json!({ "library": library.path, "manifest": manifest, "bits": library.elf.bits }),
        );
        output.json(&json!({
            "kind": kind,
            "library": shown.first().map(|(library, _)| &library.path),
            "manifest": shown.first().map(|(_, manifest)| manifest),
            "libraries": libraries.collect::<Vec<_>>(),
            "written": written,
            "removed": removed,
            "visible": is_visible,
        }));
        return Ok(Outcome::Fine);
    }
    for (library, manifest) in &shown {
        let bits = library.elf.bits;
        output.line(format!("library   {} (for {bits}-bit programs)", library.path.display()));
        output.line(format!("manifest  {} ({})", manifest.display(), kind.word()));
    }
    output.line(format!("devices   {} ({} capability files)", folders.devices.display(), SHIPPED.len()));
    for path in removed {
        output.line(format!("removed   {}, so that the name is there once", path.display()));
    }
    output.line("");
    match kind {
        LayerKind::Implicit => {
            output.line("Switch it on for a program with ENABLE_SAMPLIN=1; everything else runs without it.")
        }
        LayerKind::Explicit => {
            output.line(format!("Switch it on for a program with VK_INSTANCE_LAYERS={}.", layer::NAME))
        }
    }
    if !is_visible && cfg!(windows) {
        let text = match folders.registry {
            Some(false) => {
                "The loader passes over what one user has installed in programs with elevated rights, which this one has: use --system."
            }
            _ => "The loader does not look there by itself: name the folder of the manifest in VK_ADD_LAYER_PATH.",
        };
        output.styled_line(Style::Warn, text);
    } else if !is_visible {
        let text = format!(
            "The loader does not look there by itself: export XDG_DATA_DIRS={}:\"${{XDG_DATA_DIRS:-/usr/local/share:/usr/share}}\"",
            quoted(&folders.data)
        );
        output.styled_line(Style::Warn, text);
    }
    Ok(Outcome::Fine)
}

/// What is installed: what the caller names, or what is found, at most one library for each word size.
fn sources(given: &[PathBuf], system: &System) -> Result<Vec<Library>> {
    if given.is_empty() {
        return layer::find_all(None, system);
    }
    let mut found: Vec<Library> = Vec::new();
    for path in given {
        for library in layer::find_all(Some(path), system)? {
            match found.iter().find(|there| there.elf == library.elf) {
                None => found.push(library),
                Some(there) if files::is_same(&there.path, &library.path) => {}
                Some(there) => {
                    let [one, two] = [there, &library].map(|library| library.path.display());
                    return Err(Failure::usage(format!(
                        "two libraries are {}: {one} and {two}",
                        library.elf.describe()
                    )));
                }
            }
        }
    }
    Ok(found)
}

/// Removes a file; whether it was there.
fn remove(path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(cannot_write(path, &error)),
    }
}

/// Runs `samplin uninstall`.
///
/// # Errors
///
/// When a file cannot be removed.
pub fn uninstall(arguments: &Removal, output: &mut Output) -> Result {
    let folders = Folders::of(&arguments.scope, &System::current())?;
    let mut removed: Vec<PathBuf> = Vec::new();
    // The manifests first: they must not point at nothing.
    let mut files: Vec<PathBuf> = Vec::new();
    for (kind, bits) in LayerKind::ALL.into_iter().flat_map(|kind| WIDTHS.map(|bits| (kind, bits))) {
        let manifest = folders.manifest(kind, bits);
        folders.withdraw(kind, &manifest)?;
        files.push(manifest);
    }
    files.extend(WIDTHS.map(|bits| folders.library(bits)));
    files.extend(SHIPPED.iter().map(|shipped| folders.devices.join(format!("{}.json", shipped.name))));
    for file in files {
        if remove(&file)? {
            removed.push(file);
        }
    }
    let mut made = made_folders(&folders.made());
    if remove(&folders.made())? {
        removed.push(folders.made());
    }
    // The innermost first, if nothing else is in them. Those of our own name go even if an older version made them.
    made.extend([folders.data.join("samplin"), folders.devices.clone()]);
    made.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in made {
        let _ = std::fs::remove_dir(folder);
    }
    if output.json {
        output.json(&json!({ "removed": removed }));
    } else if removed.is_empty() {
        output.line(format!("nothing is installed below {}", folders.data.display()));
    } else {
        let devices = removed.iter().filter(|path| path.starts_with(&folders.devices)).count();
        for path in removed.iter().filter(|path| !path.starts_with(&folders.devices)) {
            output.line(format!("removed   {}", path.display()));
        }
        if devices > 0 {
            output.line(format!("removed   {} capability files in {}", devices, folders.devices.display()));
        }
    }
    Ok(Outcome::Fine)
}
