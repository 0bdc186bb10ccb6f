//! `samplin run`: starts a program under the layer and says what the layer did.

mod headless;
mod place;
mod summary;
mod supervise;
mod validation;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use samplin_config::settings::{self, Mode, TraceLevel, TraceTarget};

use self::summary::{RunNotes, Watch};
use self::validation::Log;
use crate::devices;
use crate::doctor;
use crate::elf::Elf;
use crate::failure::{Failure, FailureKind, Outcome, Result};
use crate::files;
use crate::layer::{self, Library, NAME, VALIDATION};
use crate::os;
use crate::output::{ColorChoice, Output, Style};
use crate::rules;
use crate::system::{self, LayerKind, System};

/// The arguments of `samplin run`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Arguments {
    /// What the layer does: legalize, audit (change nothing) or off
    #[arg(long, value_parser = Mode::WORDS.to_vec())]
    pub mode: Option<String>,
    /// A setting of the layer; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Make the device as weak as another one: a name from `samplin caps --list`, or a capability file
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// The rules file (samplin.toml)
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Where the trace goes; %e is the executable, %p the process, %d the date [default: a file in the state folder]
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Append to the trace; without this, the file is overwritten
    #[arg(long)]
    pub append: bool,
    /// Overwrite a file that is not a trace; without this, that is wrong usage
    #[arg(long)]
    pub overwrite: bool,
    /// Pass on the program's status even if no Vulkan instance was traced; without this, that is exit status 4
    #[arg(long)]
    pub allow_untraced: bool,
    /// Write the summary to a file as JSON, separate from the program's output
    #[arg(long, value_name = "FILE")]
    pub summary_json: Option<PathBuf>,
    /// How much the trace holds
    #[arg(long, value_name = "LEVEL", value_parser = TraceLevel::WORDS.to_vec())]
    pub trace_level: Option<String>,
    /// Put the Khronos validation layer below samplin, to check what the driver gets
    #[arg(long)]
    pub validate: bool,
    /// Without a display start Xvfb, without a GPU use lavapipe
    #[arg(long)]
    pub headless: bool,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH")]
    pub layer: Option<PathBuf>,
    /// Do not print the summary
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// The environment that a program gets, as changes to this process's own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables to set, or to remove.
    pub variables: Vec<(String, Option<OsString>)>,
    /// What the user reads about it.
    pub notes: Vec<String>,
}

impl Environment {
    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<OsString>) {
        self.variables.push((name.into(), Some(value.into())));
    }

    fn remove(&mut self, name: &str) {
        self.variables.push((name.to_owned(), None));
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Applies it to a command.
    pub fn apply(&self, command: &mut Command) {
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// The settings that the arguments ask for, as (name, value), checked.
fn settings_of(arguments: &Arguments) -> Result<Vec<(String, String)>> {
    let mut wanted: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: String| -> Result<()> {
        if wanted.iter().any(|(there, _)| there == key) {
            return Err(Failure::usage(format!("the setting {key} is given twice")));
        }
        wanted.push((key.to_owned(), value));
        Ok(())
    };
    for pair in &arguments.set {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--set {pair}: write KEY=VALUE, such as --set border=strict")))?;
        put(key.trim(), value.trim().to_owned())?;
    }
    if let Some(mode) = &arguments.mode {
        put("mode", mode.clone())?;
    }
    if let Some(level) = &arguments.trace_level {
        put("trace_level", level.clone())?;
    }
    if let Some(trace) = &arguments.trace {
        put("trace", trace.clone())?;
    }
    if let Some(rules) = &arguments.rules {
        let absolute = std::path::absolute(rules).map_err(|error| Failure::file(rules, error))?;
        std::fs::File::open(&absolute).map_err(|error| Failure::file(rules, error))?;
        put("config", text_of(&absolute)?)?;
    }
    if let Some(device) = &arguments.device {
        put("device", device.clone())?;
    }
    check(&wanted)?;
    // A run that is meant to be simulated must not go on with all that this device can do, whoever names the device.
    if !wanted.iter().any(|(key, _)| key == "device")
        && let Some(device) = settings::load(&wanted).settings.device
    {
        wanted.push(("device".to_owned(), device));
    }
    for (key, value) in &mut wanted {
        match key.as_str() {
            "device" if !matches!(value.as_str(), "none" | "off") => {
                let file = devices::find(value)?.on_disk()?;
                *value = text_of(&file)?;
            }
            "trace" => absolute_trace(value)?,
            _ => {}
        }
    }
    Ok(wanted)
}

fn text_of(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::environment(format!("{}: the path is not UTF-8", path.display())))
}

/// Checks settings by the layer's own table.
fn check(wanted: &[(String, String)]) -> Result<()> {
    let loaded = settings::load(wanted);
    for (key, _) in wanted {
        let problem = loaded
            .problems
            .iter()
            .find(|problem| problem.file.is_none() && problem.key == *key && problem.level == settings::Level::Error);
        if let Some(problem) = problem {
            return Err(Failure::usage(format!("the setting {key}: {}", problem.message)));
        }
    }
    Ok(())
}

/// Makes the path of a trace absolute: the program may change its folder before it creates an instance.
fn absolute_trace(value: &mut String) -> Result<()> {
    let is_path = matches!(TraceTarget::from_text(value), TraceTarget::Path(_));
    if !is_path || value.starts_with("~/") || Path::new(value).has_root() || value.is_empty() {
        return Ok(());
    }
    let absolute = std::path::absolute(Path::new(value)).map_err(|error| Failure::file(Path::new(value), error))?;
    *value = text_of(&absolute)?;
    Ok(())
}

/// How the layers have to be named for the loader of programs of a kind.
pub fn layers(libraries: &[Library], of: Elf, validate: bool, system: &System) -> Result<Environment> {
    let mut environment = Environment::default();
    let installed = system
        .layers_for(LayerKind::Implicit, of)
        .into_iter()
        .find(|manifest| manifest.layer.name == NAME)
        .map(|manifest| (manifest.library_for(Some(of), system), manifest));

    let mut names: Vec<String> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    match &installed {
        // Loaders before 1.3.2xx silently refuse an implicit layer that VK_INSTANCE_LAYERS names, whatever else has its name.
        Some((installed_library, manifest)) => {
            let enable = manifest.layer.enable_environment.iter().flatten().next();
            let (name, value) = enable.map_or(("ENABLE_SAMPLIN", "1"), |(name, value)| (name, value));
            environment.set(name, value);
            for name in manifest.layer.disable_environment.iter().flatten().map(|(name, _)| name) {
                environment.remove(name);
            }
            let own = libraries.iter().find(|library| library.elf == of);
            let is_own = |there: &Path| own.is_none_or(|library| files::is_same(there, &library.path));
            if !installed_library.as_deref().is_some_and(is_own) {
                environment.note(format!(
                    "the installed layer is used ({}), because its implicit manifest comes first",
                    installed_library.as_deref().unwrap_or(Path::new("?")).display()
                ));
            }
        }
        // The loader of a program with elevated rights has only what is installed.
        None if os::loader_passes_over_paths() => {
            let there = system.layers_for(LayerKind::Explicit, of).iter().any(|manifest| manifest.layer.name == NAME);
            if !there {
                return Err(Failure::environment("the loader takes no folder of layers from this environment, because its programs have elevated rights").hint("install the layer with `samplin install --system` first"));
            }
            names.push(NAME.to_owned());
        }
        None => {
            names.push(NAME.to_owned());
            folders.push(layer::private_folder(libraries, system)?);
        }
    }
    if validate {
        let found = system
            .layers_for(LayerKind::Explicit, of)
            .into_iter()
            .find(|manifest| manifest.layer.name == VALIDATION)
            .ok_or_else(|| {
                Failure::environment("the Khronos validation layer is not installed")
                    .hint("on Debian or Ubuntu: sudo apt-get install vulkan-validationlayers; elsewhere the Vulkan SDK has it")
            })?;
        names.push(VALIDATION.to_owned());
        folders.extend(found.path.parent().map(Path::to_path_buf));
    }
    let listed = system.variable("VK_INSTANCE_LAYERS").unwrap_or_default();
    for name in listed.split(os::SEPARATOR).filter(|name| !name.is_empty()) {
        if !names.iter().any(|there| there == name) && name != NAME {
            names.push(name.to_owned());
        }
    }
    if !names.is_empty() {
        environment.set("VK_INSTANCE_LAYERS", names.join(os::SEPARATOR));
    }
    if !folders.is_empty() {
        // Loaders up to 1.3.239 ignore the order of VK_INSTANCE_LAYERS and stack layers as they find their manifests, newer
        // ones take the order; both are given. VK_LAYER_PATH replaces the usual folders, so they follow.
        for folder in system.layer_folders(LayerKind::Explicit) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let list = std::env::join_paths(&folders).map_err(|_| {
            Failure::environment("a folder of layers has a colon in its name, which the loader cannot take")
        })?;
        environment.set("VK_LAYER_PATH", list);
    }
    if let Some(list) = system.variable("VK_LOADER_LAYERS_DISABLE") {
        let kind = if installed.is_some() { LayerKind::Implicit } else { LayerKind::Explicit };
        if system::list_covers(&list, NAME, kind) {
            environment.set("VK_LOADER_LAYERS_ALLOW", NAME);
            environment
                .note(format!("VK_LOADER_LAYERS_DISABLE={list} covers the layer; VK_LOADER_LAYERS_ALLOW exempts it"));
        }
    }
    Ok(environment)
}

/// Everything that a program needs around it, kept up while this lives.
#[derive(Debug)]
pub struct Stage {
    /// Its environment.
    pub environment: Environment,
    /// The display that was brought up for it.
    _display: Option<headless::Display>,
}

impl Stage {
    /// Finds the layer and prepares the environment; brings up what is missing if `headless`.
    ///
    /// # Errors
    ///
    /// When the program, the layer or something they need is not there.
    pub fn prepare(program: &str, given: Option<&Path>, validate: bool, headless: bool) -> Result<Self> {
        let system = System::current();
        let Some(path) = system.program(program) else {
            return Err(missing_program(program));
        };
        let libraries = layer::find_all(given, &system)?;
        let native = || libraries.iter().find(|library| library.elf.is_native()).unwrap_or(&libraries[0]).elf;
        let of = doctor::loads(&path, &system).ok().map(|(_, elf)| elf).filter(|elf| elf.runs_here());
        let mut environment = layers(&libraries, of.unwrap_or_else(native), validate, &system)?;
        let display = if headless { Some(headless::prepare(&system, &mut environment)?) } else { None };
        Ok(Self { environment, _display: display })
    }
}

/// Runs a program to its end, passing signals on; returns its status.
///
/// # Errors
///
/// When it cannot be started.
pub fn start(command: Command, name: &str) -> Result<u8> {
    supervise::run(command, name).map(|ended| ended.code)
}

/// Runs the command.
///
/// # Errors
///
/// When the program cannot be started as asked.
pub fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    let (program, rest) = arguments.program.split_first().ok_or_else(|| Failure::usage("name a program"))?;
    let name = program.to_string_lossy().into_owned();
    let mut settings = settings_of(arguments)?;
    let mut trace = trace_of(&settings);
    if let TraceTarget::Path(text) = &trace
        && let Some(real) = place::behind_link(text)?
    {
        settings.retain(|(key, _)| key != "trace");
        settings.push(("trace".to_owned(), real.clone()));
        trace = TraceTarget::Path(real);
    }
    let setting = |key: &str| effective(&settings, key);
    let mut watch = Watch::new(&trace);
    let path = System::current().program(&name).unwrap_or_default();
    place::guard(arguments, &watch, &settings, &path)?;
    // The layer would leave out what is wrong and go on, which nobody sees who does not read the trace.
    if let Some(rules) = rules_file(&settings) {
        rules::load_sound(&rules)?;
    }
    let mut stage = Stage::prepare(&name, arguments.layer.as_deref(), arguments.validate, arguments.headless)?;
    for (key, value) in &settings {
        stage.environment.set(format!("SAMPLIN_{}", key.to_ascii_uppercase()), value);
    }

    let mut errors = Output::stderr(color);
    if !arguments.quiet {
        for note in &stage.environment.notes {
            let prefix = errors.styled(Style::Dim, "samplin:");
            errors.line(format!("{prefix} {note}"));
        }
    }
    errors.finish()?;

    if !arguments.append {
        watch.begin_anew(watch.own(&path)).map_err(|error| Failure::environment(format!("{trace}: {error}")))?;
    }
    let log = if arguments.validate { Some(Log::open(&mut stage.environment)?) } else { None };
    let mut command = Command::new(program);
    command.args(rest);
    stage.environment.apply(&mut command);
    let ended = supervise::run(command, &name)?;
    let validation = log.map(Log::close);
    let environment = stage.environment.clone();
    drop(stage);

    let written = watch.traces(ended.process);
    let is_summed = written.len() > 1 && (output.json || arguments.summary_json.is_some());
    let mode = setting("mode");
    let notes = RunNotes {
        traces: RunNotes::read(&written)?,
        sum: if is_summed { Some(summary::sum(&written)?) } else { None },
        mode: mode.clone(),
        trace,
        status: ended.describe(),
        validation,
    };
    let is_untraced = notes.instances() == 0;
    let is_off = mode.as_deref() == Some("off");
    let is_nowhere = matches!(watch, Watch::Nowhere);
    let mut errors = Output::stderr(color);
    if !arguments.quiet && !output.json {
        notes.print(&mut errors);
    }
    if is_untraced {
        let why =
            untraced((is_off || is_nowhere).then(|| notes.why_none()), &watch, &environment, &path, arguments.headless);
        if ended.code == 0 && !arguments.allow_untraced {
            errors.finish()?;
            report(arguments, &notes, 4, output)?;
            return Err(why.hint("--allow-untraced passes on the program's status anyway"));
        }
        if !arguments.quiet {
            let prefix = errors.styled(Style::Dim, "samplin:");
            errors.line(format!("{prefix} {}", why.message));
        }
    }
    errors.finish()?;
    report(arguments, &notes, ended.code, output)?;
    Ok(Outcome::Status(ended.code))
}

/// Writes the summary as JSON where that is asked for.
fn report(arguments: &Arguments, notes: &RunNotes, status: u8, output: &mut Output) -> Result<()> {
    if output.json {
        output.json(&notes.json(status));
    }
    let Some(path) = &arguments.summary_json else { return Ok(()) };
    // Programs that the program starts write traces of names that nobody could tell before.
    let traces: Vec<(&str, &Path)> = notes.traces.iter().map(|(trace, _)| ("the trace", trace.as_path())).collect();
    files::must_be_apart(&[("--summary-json", path)], &traces)?;
    files::write_output(path, serde_json::to_string_pretty(&notes.json(status)).unwrap_or_default().as_bytes())
}

/// What the command line says, else the environment, else the settings file.
fn effective(given: &[(String, String)], key: &str) -> Option<String> {
    if let Some((_, value)) = given.iter().find(|(there, _)| there == key) {
        return Some(value.clone());
    }
    let loaded = settings::load(&[]);
    loaded
        .sources
        .into_iter()
        .find(|(name, _, source)| *name == key && *source != settings::SettingSource::Default)
        .map(|(_, value, _)| value)
}

/// Where the trace goes.
fn trace_of(settings: &[(String, String)]) -> TraceTarget {
    let text = effective(settings, "trace").filter(|text| !text.is_empty());
    text.map_or(TraceTarget::Auto, |text| TraceTarget::from_text(&text))
}

/// The rules file that somebody names, for the layer does not look for one then.
fn rules_file(settings: &[(String, String)]) -> Option<PathBuf> {
    let named = effective(settings, "config").filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case("auto"));
    named.map(|value| samplin_platform::home_path(&value))
}

/// Why no instance was traced, as far as that can be seen from outside. `off`: what the settings say.
fn untraced(off: Option<String>, watch: &Watch, environment: &Environment, program: &Path, headless: bool) -> Failure {
    let system = System::current().with(&environment.variables);
    let mut causes: Vec<String> = off.into_iter().collect();
    if matches!(watch, Watch::Homeless) {
        causes.push(
            "there is no home folder, so automatic traces have no folder (set HOME, or name a file with --trace)"
                .into(),
        );
    }
    causes.extend(watch.file().as_deref().and_then(place::trouble));
    causes.extend(doctor::obstacles(&system, program));
    causes.extend(place::filter(&system));
    if causes.is_empty() {
        causes.push(
            "the program created none, or the loader left the layer out (`samplin doctor` looks for the reason)".into(),
        );
        // No evidence, but often the reason.
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| system.variable(name).is_some());
        if !has_display && !headless {
            causes.push(
                "there is no display, without which a program that opens a window gives up (try --headless)".into(),
            );
        }
    }
    Failure::environment(format!("no Vulkan instance was traced: {}", causes.join("; ")))
}

fn missing_program(name: &str) -> Failure {
    if name.contains('/') && Path::new(name).is_file() {
        let failure = Failure::environment(format!("{name}: this is no program that can be started"));
        return Failure { kind: FailureKind::NotExecutable, ..failure }
            .hint(format!("make it one with chmod +x {name}"));
    }
    let failure =
        Failure { kind: FailureKind::NotThere, ..Failure::environment(format!("{name}: there is no such program")) };
    match name {
        "vkcube" | "vulkaninfo" => failure.hint("on Debian or Ubuntu: sudo apt-get install vulkan-tools"),
        _ if name.starts_with('-') => {
            failure.hint("put -- before the program: samplin run [OPTIONS] -- PROGRAM [ARGUMENTS]")
        }
        _ => failure,
    }
}
