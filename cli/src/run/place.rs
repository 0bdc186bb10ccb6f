//! Where the trace goes, looked at before the program starts: links, which the layer refuses, and files that must not be lost.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use samplin_config::{overrides, settings};

use super::Arguments;
use super::summary::{Watch, pieces};
use crate::caps;
use crate::failure::{Failure, Result};
use crate::files;
use crate::layer;
use crate::os;
use crate::system::{self, LayerKind, System};

/// A line of a trace is no longer than this where it is asked whether it is one.
const FIRST_LINE: u64 = 1 << 20;

/// The loader that first knows `VK_LOADER_LAYERS_ALLOW` (LoaderInterfaceArchitecture.md, "Table of Debug Environment Variables").
const ALLOWS: (u32, u32, u32) = (1, 3, 262);

/// What a `trace` setting leads to if it names a symbolic link to a file, which the layer does not follow.
pub(super) fn behind_link(setting: &str) -> Result<Option<String>> {
    let path = samplin_platform::home_path(setting);
    let text = path.to_string_lossy();
    let whole = pieces(&text);
    let [name] = whole.as_slice() else { return Ok(None) };
    let path = Path::new(name);
    if !path.is_absolute() || path.starts_with("/dev") || path.starts_with("/proc") || !path.is_symlink() {
        return Ok(None);
    }
    let real = files::target(path).map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    Ok(real.map(|real| real.to_string_lossy().replace('%', "%%")))
}

/// Refuses to write over what the run reads, over another output, or over what is no trace.
pub(super) fn guard(arguments: &Arguments, watch: &Watch, settings: &[(String, String)], program: &Path) -> Result<()> {
    let trace = watch.file();
    let mut outputs: Vec<(&str, &Path)> = Vec::new();
    outputs.extend(trace.as_deref().map(|path| ("--trace", path)));
    outputs.extend(arguments.summary_json.as_deref().map(|path| ("--summary-json", path)));
    let inputs = inputs(arguments, settings, program);
    let inputs: Vec<(&str, &Path)> = inputs.iter().map(|(what, path)| (*what, path.as_path())).collect();
    files::must_be_apart(&outputs, &inputs)?;
    if let Some(path) = &arguments.summary_json {
        if watch.may_write(path, program) {
            return Err(files::would_replace(path, "--summary-json", "the trace"));
        }
        files::must_have_place(path)?;
    }
    for path in watch.own(program).into_iter().filter(|_| !arguments.overwrite) {
        if !may_be_trace(&path) {
            return Err(Failure::usage(format!("{}: this is no trace, which --trace would overwrite", path.display()))
                .hint("name another file; --overwrite overwrites it"));
        }
    }
    Ok(())
}

/// The files that the run reads, most of which nobody names on the command line.
fn inputs(arguments: &Arguments, settings: &[(String, String)], program: &Path) -> Vec<(&'static str, PathBuf)> {
    let setting = |key: &str| super::effective(settings, key).map(|value| samplin_platform::home_path(&value));
    let mut inputs = vec![("the program", program.to_path_buf())];
    let layers = layer::find_all(arguments.layer.as_deref(), &System::current()).into_iter().flatten();
    inputs.extend(layers.map(|library| ("the layer", library.path)));
    inputs.extend(arguments.layer.clone().filter(|path| path.is_file()).map(|path| ("--layer", path)));
    match super::rules_file(settings) {
        Some(path) => inputs.push(("the rules file", path)),
        // Programs that the program starts have files of their own.
        None => inputs.extend(overrides::automatic_files().into_iter().map(|path| ("a rules file", path))),
    }
    inputs.extend(settings::settings_file().map(|path| ("the settings file", path)));
    inputs.extend(setting("device").map(|path| ("the device", path)));
    inputs.extend(setting("learned").map(|path| ("the learned list", path)));
    inputs
}

/// Whether a file is empty or begins with a record.
fn may_be_trace(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut line = Vec::new();
    match BufReader::new(file.take(FIRST_LINE)).read_until(b'\n', &mut line) {
        Ok(0) => true,
        Ok(_) => serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&line).is_ok(),
        Err(_) => false,
    }
}

/// What is wrong with the place of a trace.
pub(super) fn trouble(path: &Path) -> Option<String> {
    let shown = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        Some(format!("the trace {shown} is a folder (name a file)"))
    } else if !folder.is_dir() {
        Some(format!("the trace {shown} cannot be written, because there is no folder {}", folder.display()))
    } else if !os::is_writable(if path.exists() { path } else { folder }) {
        Some(format!("the trace {shown} cannot be written"))
    } else {
        files::refusal(path).map(|why| format!("the trace {shown} is refused: {why}"))
    }
}

/// A filter that keeps the layer out because the loader is too old for the exemption.
pub(super) fn filter(system: &System) -> Option<String> {
    let list = system.variable("VK_LOADER_LAYERS_DISABLE")?;
    let covers = [LayerKind::Explicit, LayerKind::Implicit]
        .into_iter()
        .any(|kind| system::list_covers(&list, super::NAME, kind));
    let version = caps::loader_version();
    let is_old = version.is_none_or(|version| version < ALLOWS);
    (covers && is_old).then(|| {
        let version = version.map(|(a, b, c)| format!(" (here {a}.{b}.{c})")).unwrap_or_default();
        format!(
            "VK_LOADER_LAYERS_DISABLE={list} covers the layer, and loaders before 1.3.262{version} do not know VK_LOADER_LAYERS_ALLOW, which exempts it (unset it)"
        )
    })
}
