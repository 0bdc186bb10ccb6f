//! What one program needs: libraries of its own word size.

use std::path::{Path, PathBuf};

use super::checks::LOADER;
use super::{Finding, Level};
use crate::elf::{Elf, Executable};
use crate::layer::{self, LIBRARY, NAME};
use crate::system::{self, LayerKind, System};

/// How many programs may read each other before the last is one of the machine's own.
const SCRIPTS: usize = 4;

/// What a program is, in words, and what libraries it loads.
///
/// # Errors
///
/// A clause when it is nothing that loads libraries.
pub fn loads(path: &Path, system: &System) -> Result<(String, Elf), String> {
    let mut path = path.to_path_buf();
    let mut read = String::new();
    for _ in 0..SCRIPTS {
        match Executable::read(&path).map_err(|error| format!("{}: {error}", path.display()))? {
            Executable::Linux(elf) => return Ok((format!("{read}{}", elf.describe()), elf)),
            Executable::Windows(bits) => {
                let of = [Elf::native(), Elf::other()].into_iter().flatten().find(|elf| elf.bits == bits);
                let of = of.ok_or_else(|| format!("{}: no {bits}-bit programs run here", path.display()))?;
                return Ok((
                    format!("{read}a {bits}-bit program of Windows, for which Wine loads {}", of.describe()),
                    of,
                ));
            }
            Executable::Script(program, argument) => {
                let program = match argument {
                    Some(name) if program.ends_with("env") => system.program(&name).unwrap_or(program),
                    _ => program,
                };
                read = format!("a script of {}, which is ", program.display());
                path = program;
            }
        }
    }
    Err(format!("{}: a script of scripts", path.display()))
}

/// A program that somebody names: its path, its name in PATH, or the number of a process.
pub(super) fn named(system: &System, name: &str, findings: &mut Vec<Finding>) {
    if let Some(path) = system.program(name) {
        return file(system, &path, findings);
    }
    // What Wine and qemu start may be no file that a shell would.
    if name.contains('/') && Path::new(name).is_file() {
        return file(system, Path::new(name), findings);
    }
    let folder = system.fixed("/proc").join(name);
    match folder.join("exe").read_link() {
        Ok(path) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
            let of = file_of(system, &folder.join("exe"), &path, findings);
            if of.is_some() {
                loaded(&folder, name, findings);
            }
        }
        _ => findings.push(
            Finding::new("program-missing", Level::Error, format!("{name}: there is no such program or process"))
                .advice("name its path, its name in PATH, or the number of a process that this user may look at"),
        ),
    }
}

/// What the file of a program needs.
pub(super) fn file(system: &System, path: &Path, findings: &mut Vec<Finding>) {
    file_of(system, path, path, findings);
}

fn file_of(system: &System, path: &Path, shown: &Path, findings: &mut Vec<Finding>) -> Option<Elf> {
    let shown = shown.display();
    let (what, elf) = match loads(path, system) {
        Ok(what) => what,
        Err(why) => {
            findings.push(Finding::new("program-unknown", Level::Warning, why).advice("name a program"));
            return None;
        }
    };
    findings.push(Finding::new("program", Level::Good, format!("{shown} is {what}")));
    let kind = elf.describe();
    if !elf.runs_here() {
        let why = format!("{shown} is {kind}, which this machine runs only by emulation");
        findings.push(
            Finding::new("program-machine", Level::Warning, why)
                .advice("loader, driver and layer must be of that kind; examine their system with --root"),
        );
        return Some(elf);
    }
    let package = |name: &str| {
        let debian = elf.debian().unwrap_or_default();
        let foreign = format!("sudo dpkg --add-architecture {debian} && sudo apt-get update && ");
        let foreign = if elf.is_native() { "" } else { &foreign };
        format!("on Debian or Ubuntu: {foreign}sudo apt-get install {name}:{debian}")
    };
    if system.library_for(LOADER, elf).is_none() {
        let why = format!("there is no {kind} Vulkan loader ({LOADER}), unless the program brings one");
        findings.push(Finding::new("program-loader", Level::Warning, why).advice(package("libvulkan1")));
    }
    let is_for = |driver: &system::DriverManifest| {
        let library = &driver.driver.library_path;
        let bare = if library.contains('/') { None } else { system.library_for(library, elf) };
        let path = bare.or_else(|| system::library_of(&driver.path, library, system));
        path.is_some_and(|path| Elf::read(&path).is_ok_and(|of| of == elf))
    };
    if !system.drivers().iter().flatten().any(is_for) {
        let why = format!("there is no {kind} Vulkan driver");
        findings.push(Finding::new("program-driver", Level::Error, why).advice(package("mesa-vulkan-drivers")));
    }
    layer(system, elf, findings);
    Some(elf)
}

/// The library of the layer that programs of a kind load.
fn layer(system: &System, elf: Elf, findings: &mut Vec<Finding>) {
    let kind = elf.describe();
    let installed = LayerKind::ALL.into_iter().flat_map(|of| system.layers_for(of, elf));
    let mut installed = installed.filter(|manifest| manifest.layer.name == NAME);
    let is_it = |path: &PathBuf| Elf::read(path).is_ok_and(|of| of == elf);
    if let Some(path) = installed.find_map(|manifest| manifest.library_for(Some(elf), system).filter(is_it)) {
        findings.push(Finding::new("program-layer", Level::Good, format!("it loads the layer {}", path.display())));
        return;
    }
    let found = layer::find_all(None, system).into_iter().flatten().find(|library| library.elf == elf);
    findings.push(match found.filter(|_| system.is_real()) {
        Some(library) => Finding::new(
            "program-layer-run",
            Level::Note,
            format!("`samplin run` gives it the layer {}, which is not installed", library.path.display()),
        )
        .advice("`samplin install` lets every program use it"),
        None => {
            Finding::new("program-layer-missing", Level::Error, format!("the {kind} library of the layer is missing"))
                .advice(format!(
                    "name the {kind} {LIBRARY} with `samplin install --layer PATH`, or install that package"
                ))
        }
    });
}

/// Whether a running process has the layer.
fn loaded(folder: &Path, name: &str, findings: &mut Vec<Finding>) {
    let Ok(maps) = std::fs::read_to_string(folder.join("maps")) else { return };
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    let found = paths.find(|path| path.trim_end_matches(" (deleted)").ends_with(LIBRARY));
    findings.push(match found {
        Some(path) => Finding::new("process-loaded", Level::Good, format!("process {name} has loaded {path}")),
        None => Finding::new("process-not-loaded", Level::Note, format!("process {name} has not loaded the layer"))
            .advice("start it again with ENABLE_SAMPLIN=1 if the layer is installed, or with `samplin run`"),
    });
}
