//! The checks of `samplin doctor`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use samplin_config::overrides::Overrides;
use samplin_config::settings::{self, Problem};

use super::{Finding, Level, ProbeResult};
use crate::devices;
use crate::elf::Elf;
use crate::layer::{NAME, VALIDATION};
use crate::os;
use crate::settings::rules_files;
use crate::system::{self, BadManifest, LayerKind, LayerManifest, System};
use crate::trace::record::counted;

/// The library that programs load.
pub(super) const LOADER: &str = if cfg!(windows) { "vulkan-1.dll" } else { "libvulkan.so.1" };

/// Below this version the loader stacks layers as it finds them, and refuses implicit ones that are named.
const ORDERED: (u32, u32, u32) = (1, 3, 250);

pub(super) fn loader(system: &System, probe: Option<&ProbeResult>, findings: &mut Vec<Finding>) {
    let Some(path) = system.library(LOADER) else {
        findings.push(
            Finding::new("loader-missing", Level::Error, format!("there is no Vulkan loader ({LOADER})"))
                .advice("on Debian or Ubuntu: sudo apt-get install libvulkan1"),
        );
        return;
    };
    match Elf::read(&path) {
        Ok(elf) if !elf.is_native() => {
            findings.push(Finding::new(
                "loader-class",
                Level::Error,
                format!("{}: the loader is {}, which this machine cannot run", path.display(), elf.describe()),
            ));
            return;
        }
        Err(error) => {
            findings.push(
                Finding::new("loader-broken", Level::Error, format!("{}: {error}", path.display()))
                    .advice("install the package of the loader again"),
            );
            return;
        }
        Ok(_) => {}
    }
    let version = match probe {
        Some(ProbeResult::Answered(probe)) => probe.loader,
        _ => None,
    };
    match version {
        None => findings.push(Finding::new("loader", Level::Good, format!("loader {}", path.display()))),
        Some(version @ (major, minor, patch)) => {
            findings.push(Finding::new(
                "loader",
                Level::Good,
                format!("loader {major}.{minor}.{patch}, {}", path.display()),
            ));
            if version < ORDERED {
                findings.push(Finding::new(
                    "loader-old",
                    Level::Note,
                    "this loader ignores the order of VK_INSTANCE_LAYERS and stacks layers as it finds their manifests; `samplin run --validate` allows for it",
                ));
            }
        }
    }
}

fn bad_manifest(id: &'static str, bad: &BadManifest) -> Finding {
    let line = bad.line.map(|line| format!(":{line}")).unwrap_or_default();
    Finding::new(id, Level::Error, format!("{}{line}: {}", bad.path.display(), bad.message))
        .advice("the loader ignores this manifest; correct it or remove it")
}

/// What is wrong with the library of a manifest, where it is; `of`: what the manifest says that it is for.
fn library_finding(
    prefix: [&'static str; 2],
    manifest: &Path,
    library: &str,
    path: Option<PathBuf>,
    of: Option<Elf>,
) -> Option<Finding> {
    let [stale, class] = prefix;
    let Some(path) = path.filter(|path| path.exists()) else {
        return Some(
            Finding::new(stale, Level::Error, format!("{}: its library {library} does not exist", manifest.display()))
                .advice("install it again, or remove the manifest"),
        );
    };
    match Elf::read(&path) {
        Ok(elf) if of.map_or(elf.is_native(), |of| of == elf) => None,
        Ok(elf) => Some(
            Finding::new(
                class,
                Level::Warning,
                format!("{}: its library {} is {}", manifest.display(), path.display(), elf.describe()),
            )
            .advice("only programs of that kind can load it"),
        ),
        Err(error) => Some(Finding::new(class, Level::Error, format!("{}: {error}", path.display()))),
    }
}

pub(super) fn drivers(system: &System, probe: Option<&ProbeResult>, findings: &mut Vec<Finding>) {
    if let Some((variable, paths)) = system.chosen_drivers() {
        for path in paths.iter().filter(|path| !path.exists()) {
            findings.push(
                Finding::new(
                    "driver-chosen-missing",
                    Level::Error,
                    format!("{variable} names {}, which does not exist", path.display()),
                )
                .advice(format!("unset {variable}, or name the manifest of a driver")),
            );
        }
    }
    let mut usable: Vec<PathBuf> = Vec::new();
    let mut foreign: Vec<Finding> = Vec::new();
    for driver in system.drivers() {
        match driver {
            Err(bad) => findings.push(bad_manifest("driver-manifest", &bad)),
            Ok(driver) => {
                let library = &driver.driver.library_path;
                let path = system::library_of(&driver.path, library, system);
                let finding = library_finding(["driver-stale", "driver-class"], &driver.path, library, path, None);
                match finding {
                    None => usable.push(driver.path),
                    // Other word sizes are the usual thing on systems that run old programs.
                    Some(finding) if finding.id == "driver-class" => foreign.push(finding),
                    Some(finding) => findings.push(finding),
                }
            }
        }
    }
    if usable.is_empty() {
        findings.extend(foreign);
        findings.push(
            Finding::new(
                "driver-missing",
                Level::Error,
                "there is no Vulkan driver that programs of this machine can load",
            )
            .advice("install the one of your GPU; without a GPU: sudo apt-get install mesa-vulkan-drivers"),
        );
        return;
    }
    match probe {
        Some(ProbeResult::Answered(probe)) if !probe.devices.is_empty() => {
            for device in &probe.devices {
                findings.push(Finding::new("device", Level::Good, format!("device {device}")));
            }
        }
        Some(ProbeResult::Answered(probe)) => {
            let why = probe.trouble.clone().unwrap_or_else(|| "the drivers found no device".to_owned());
            findings.push(
                Finding::new("device-missing", Level::Error, why)
                    .advice("VK_LOADER_DEBUG=all vulkaninfo shows what the loader and the drivers say"),
            );
        }
        Some(ProbeResult::Crashed(status)) => findings.push(
            Finding::new("driver-crash", Level::Error, format!("a driver ended the process that queried it: {status}"))
                .advice("try each alone with VK_DRIVER_FILES=MANIFEST"),
        ),
        Some(ProbeResult::Hung) => findings.push(
            Finding::new("driver-hang", Level::Error, "the drivers do not answer")
                .advice("try each alone with VK_DRIVER_FILES=MANIFEST"),
        ),
        None => {
            for path in usable {
                findings.push(Finding::new("driver", Level::Good, format!("driver {}", path.display())));
            }
        }
    }
}

pub(super) fn layers(system: &System, findings: &mut Vec<Finding>) {
    let mut own: Vec<LayerManifest> = Vec::new();
    let mut by_name: BTreeMap<String, Vec<LayerManifest>> = BTreeMap::new();
    let mut has_validation = false;
    for manifest in LayerKind::ALL.into_iter().flat_map(|kind| system.all_layers(kind)) {
        match manifest {
            Err(bad) => findings.push(bad_manifest("layer-manifest", &bad)),
            Ok(manifest) => {
                has_validation |= manifest.layer.name == VALIDATION;
                by_name.entry(manifest.layer.name.clone()).or_default().push(manifest.clone());
                if manifest.layer.name == NAME {
                    own.push(manifest);
                }
            }
        }
    }
    for manifest in &own {
        let path = manifest.path.display();
        if let Some(library) = &manifest.layer.library_path {
            let (of, place) = (manifest.elf(), &manifest.path);
            let path = manifest.library_for(of, system);
            findings.extend(library_finding(["layer-stale", "layer-class"], place, library, path, of));
        }
        if manifest.kind == LayerKind::Implicit && manifest.layer.disable_environment.is_none() {
            findings.push(
                Finding::new(
                    "layer-no-disable",
                    Level::Error,
                    format!("{path}: the loader ignores an implicit layer without disable_environment"),
                )
                .advice("write the manifest again with `samplin install`"),
            );
        }
    }
    for (name, manifests) in by_name.iter().filter(|(_, manifests)| manifests.len() > 1) {
        let is_own = name == NAME;
        let paths: Vec<String> = manifests
            .iter()
            .map(|manifest| format!("{} ({})", manifest.path.display(), manifest.kind.word()))
            .collect();
        // An implicit and an explicit manifest may name one library, as packages do. Word sizes apart, one name belongs to one library.
        let mut libraries: Vec<_> = manifests
            .iter()
            .map(|manifest| (manifest.layer.library_arch.clone(), manifest.library_for(manifest.elf(), system)))
            .collect();
        libraries.sort();
        libraries.dedup();
        let mut arches: Vec<_> = libraries.iter().map(|(arch, _)| arch).collect();
        arches.dedup();
        if libraries.len() == 1 || arches.len() == libraries.len() && arches.iter().all(|arch| arch.is_some()) {
            continue;
        }
        let level = if is_own { Level::Warning } else { Level::Note };
        let finding = Finding::new(
            "layer-double",
            level,
            format!("{name} is installed {} times: {}", manifests.len(), paths.join(", ")),
        );
        findings.push(if is_own {
            finding.advice(
                "the loader takes the first; remove the others with `samplin uninstall` (--user, --system or --prefix)",
            )
        } else {
            finding
        });
    }
    for manifest in &own {
        let bits = manifest.elf().filter(|elf| !elf.is_native());
        let bits = bits.map(|elf| format!(", for {} programs", elf.describe())).unwrap_or_default();
        findings.push(Finding::new(
            "layer",
            Level::Good,
            format!("layer {} ({}{bits})", manifest.path.display(), manifest.kind.word()),
        ));
    }
    if own.is_empty() {
        findings.push(
            Finding::new("layer-missing", Level::Note, "the layer is not installed")
                .advice("`samplin run` works without; `samplin install` lets every program use it"),
        );
    }
    let hidden = hidden(system);
    findings.extend(hidden);
    if !has_validation {
        findings.push(
            Finding::new(
                "validation-missing",
                Level::Note,
                "the Khronos validation layer is not installed, so `samplin run --validate` cannot work",
            )
            .advice("on Debian or Ubuntu: sudo apt-get install vulkan-validationlayers"),
        );
    }
}

/// An installed explicit manifest that VK_LAYER_PATH hides.
fn hidden(system: &System) -> Option<Finding> {
    let replaced = system.variable("VK_LAYER_PATH")?;
    let visible = system.layers(LayerKind::Explicit).iter().any(|manifest| manifest.layer.name == NAME);
    if visible {
        return None;
    }
    let folders = system.usual_layer_folders(LayerKind::Explicit);
    let mut installed = folders.iter().map(|folder| folder.join("VkLayer_samplin.explicit.json"));
    let installed = installed.find(|path| path.exists())?;
    Some(
        Finding::new("layer-hidden", Level::Warning, format!("VK_LAYER_PATH={replaced} hides {}", installed.display()))
            .advice("unset it, or use VK_ADD_LAYER_PATH, which adds to the usual folders"),
    )
}

pub(super) fn environment(system: &System, findings: &mut Vec<Finding>) {
    let mut implicit = system.layers(LayerKind::Implicit);
    implicit.retain(|manifest| manifest.layer.name == NAME);
    let kind = if implicit.is_empty() { LayerKind::Explicit } else { LayerKind::Implicit };
    if let Some(list) = system.variable("VK_LOADER_LAYERS_DISABLE")
        && system::list_covers(&list, NAME, kind)
    {
        let allowed =
            system.variable("VK_LOADER_LAYERS_ALLOW").is_some_and(|list| system::list_covers(&list, NAME, kind));
        if !allowed {
            findings.push(
                Finding::new(
                    "disabled-by-filter",
                    Level::Error,
                    format!("VK_LOADER_LAYERS_DISABLE={list} switches the layer off"),
                )
                .advice(format!("unset it, or set VK_LOADER_LAYERS_ALLOW={NAME}")),
            );
        }
    }
    let named = system.variable("VK_INSTANCE_LAYERS").unwrap_or_default();
    let is_named = named.split(':').any(|name| name == NAME);
    if let Some(manifest) = implicit.first() {
        let enable = manifest.layer.enable_environment.iter().flatten().next();
        let (variable, value) = enable.map_or(("ENABLE_SAMPLIN", "1"), |(name, value)| (name.as_str(), value.as_str()));
        match system.variable(variable) {
            Some(given) if given == value => {}
            Some(given) => findings.push(
                Finding::new("enable-value", Level::Error, format!("{variable}={given} does not switch the layer on"))
                    .advice(format!("the loader compares the value: {variable}={value}")),
            ),
            None if is_named => findings.push(
                Finding::new(
                    "implicit-named",
                    Level::Warning,
                    format!("VK_INSTANCE_LAYERS names {NAME}, which is installed as an implicit layer: older loaders ignore it silently"),
                )
                .advice(format!("set {variable}={value} instead, or install it with `samplin install --explicit`")),
            ),
            None => {}
        }
        for disable in manifest.layer.disable_environment.iter().flatten().map(|(name, _)| name) {
            if system.is_set(disable) {
                findings.push(
                    Finding::new(
                        "disabled-by-variable",
                        Level::Error,
                        format!("{disable} is set, so the layer is not loaded"),
                    )
                    .advice(format!("unset it; even an empty {disable} counts")),
                );
            }
        }
    } else if is_named {
        let found = system.layers(LayerKind::Explicit).iter().any(|manifest| manifest.layer.name == NAME);
        if !found {
            findings.push(
                Finding::new("named-not-found", Level::Error, format!("VK_INSTANCE_LAYERS names {NAME}, but there is no manifest of it"))
                    .advice("install it with `samplin install --explicit`, or set VK_ADD_LAYER_PATH to the folder of its manifest"),
            );
        }
    }
    for name in ["VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"] {
        for path in system.path_list(name).into_iter().filter(|path| !path.exists()) {
            findings.push(Finding::new(
                "path-missing",
                Level::Warning,
                format!("{name} names {}, which does not exist", path.display()),
            ));
        }
    }
    if let Some(mode) = system.variable("SAMPLIN_MODE").filter(|mode| mode.eq_ignore_ascii_case("off")) {
        findings.push(
            Finding::new(
                "mode-off",
                Level::Warning,
                format!("SAMPLIN_MODE={mode}: the layer passes everything through"),
            )
            .advice("unset it"),
        );
    }
}

fn problem_finding(id: &'static str, problem: &Problem) -> Finding {
    let level = match problem.level {
        settings::Level::Error => Level::Error,
        settings::Level::Warning => Level::Warning,
    };
    let position = [problem.line, problem.column].into_iter().flatten().map(|number| format!(":{number}"));
    let position = problem.file.iter().cloned().chain(position).collect::<String>();
    let separator = if position.is_empty() { "" } else { ": " };
    let message = format!("{position}{separator}{}: {}", problem.key, problem.message);
    Finding::new(id, level, message).advice("correct it, or remove it")
}

/// What a run would find wrong with the settings of this environment, with the device that they name, and with rules files.
pub(super) fn settings(system: &System, findings: &mut Vec<Finding>) {
    if !system.is_real() {
        return;
    }
    let loaded = settings::load(&[]);
    findings.extend(loaded.problems.iter().map(|problem| problem_finding("setting", problem)));
    if let Some(device) = &loaded.settings.device {
        findings.push(match devices::simulated(device) {
            Ok(name) => Finding::new("simulation", Level::Good, format!("the device {name} is simulated")),
            Err(failure) => {
                let finding = Finding::new("simulation", Level::Error, format!("device: {}", failure.message));
                match failure.hint {
                    Some(hint) => finding.advice(hint),
                    None => finding,
                }
            }
        });
    }
    for path in rules_files(&loaded) {
        let (overrides, problems) = Overrides::load(&path);
        findings.extend(problems.iter().map(|problem| problem_finding("rules", problem)));
        if problems.is_empty() {
            let count = counted(overrides.iter().count() as u64, "rule");
            findings.push(Finding::new("rules", Level::Good, format!("{}: {count}", path.display())));
        }
    }
}

pub(super) fn containers(system: &System, findings: &mut Vec<Finding>) {
    let is_steam = system.variable("PRESSURE_VESSEL_RUNTIME").is_some()
        || system.fixed("/run/pressure-vessel").exists()
        || std::fs::read_to_string(system.fixed("/run/host/container-manager"))
            .is_ok_and(|name| name.trim() == "pressure-vessel");
    if is_steam {
        findings.push(
            Finding::new("steam", Level::Note, "this is a container of the Steam Linux Runtime")
                .advice("it imports layers of the host, below /usr or in ~/.local/share; set the game's launch options to ENABLE_SAMPLIN=1 %command%"),
        );
        if system.variable("PRESSURE_VESSEL_IMPORT_VULKAN_LAYERS").is_some_and(|value| value == "0") {
            findings.push(
                Finding::new(
                    "steam-import",
                    Level::Error,
                    "PRESSURE_VESSEL_IMPORT_VULKAN_LAYERS=0 keeps the host's layers out",
                )
                .advice("unset it"),
            );
        }
    }
    if system.fixed("/.flatpak-info").exists() {
        findings.push(
            Finding::new("flatpak", Level::Note, "this is a Flatpak sandbox")
                .advice("it sees layers of its own file system only: install inside it (flatpak run --command=sh APP), below ~/.local/share of the app (~/.var/app/APP/data)"),
        );
    }
    if let Some(snap) = system.variable("SNAP_NAME") {
        findings.push(
            Finding::new("snap", Level::Note, format!("this is inside the snap {snap}"))
                .advice("it does not see layers of the host; install below the snap's own home"),
        );
    }
}

pub(super) fn traces(system: &System, findings: &mut Vec<Finding>) {
    let Some(folder) = system.state_home().map(|folder| folder.join("samplin")) else {
        findings.push(
            Finding::new("no-home", Level::Warning, "there is no home folder for automatic traces")
                .advice("set HOME, XDG_STATE_HOME or SAMPLIN_TRACE=FILE"),
        );
        return;
    };
    // The nearest folder that is there decides whether the rest can be made.
    let Some(there) = folder.ancestors().find(|path| path.exists()) else { return };
    let is_writable = there.is_dir() && os::is_writable(there);
    findings.push(if is_writable {
        Finding::new("traces", Level::Good, format!("traces go to {}", folder.display()))
    } else {
        Finding::new(
            "traces-unwritable",
            Level::Warning,
            format!("{} cannot be written, so there are no automatic traces", there.display()),
        )
        .advice("set XDG_STATE_HOME or SAMPLIN_TRACE=FILE")
    });
}
