//! Draws every kind of sampling the layer repairs, without it and with it, onto one page.
//!
//! Each half of each case runs in a process of its own, this program started again with an environment that loads no layer and the
//! hidden `--worker` option. Two reasons. Some of these cases crash drivers: without the layer, llvmpipe dies on a
//! comparison sampler over a colour texture; then that half is drawn as a crash and the rest of the page still comes
//! out. And the layer may be switched on in the environment; a new process starts without those variables, before
//! anything has read them. What no variable controls (a loader settings file, say) would still slip through, so each
//! half also proves by `/proc/self/maps` that the layer's library was loaded, or was not, as its name says. A case about a
//! setting of the layer has the layer in both halves, and another value of the setting in the left one.

mod cases;
mod emulated;
mod levels;
mod page;
mod reasons;
mod separate;
mod shaders;

use cases::{CASES, Case, Picture};
use clap::Parser;
use page::{Note, Page, Panel, Style, Tile, Verdict};
use reasons::{grouped, vuid_list};
use samplin_testkit::{Context, ContextError, Trace, layer, trace};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 4;

/// Draws sampling without and with the layer, headless, into a PNG.
#[derive(Parser)]
#[command(name = "gallery", version)]
struct Arguments {
    /// The picture to write.
    #[arg(long, value_name = "PATH.png", default_value = "out/gallery.png")]
    out: PathBuf,
    /// Part of the name of the Vulkan device to use, or #n for the n-th.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Draw only this case; may be given several times.
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
    /// A setting of the layer, as KEY=VALUE; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    setting: Vec<(String, String)>,
    /// Leave the Khronos validation layer out even where it is installed.
    #[arg(long)]
    no_validation: bool,
    /// Print checksums of the pictures and the reasons as JSON.
    #[arg(long)]
    json: bool,
    /// List the cases and draw nothing.
    #[arg(long)]
    list: bool,
    /// Paints one half of one case into this folder: the child's side of this program.
    #[arg(long, value_name = "FOLDER", hide = true)]
    worker: Option<PathBuf>,
    /// Whether the worker enables the layer.
    #[arg(long, hide = true)]
    with_layer: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let is_usage = error.use_stderr();
            let _ = error.print();
            return if is_usage { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    if arguments.list {
        for case in CASES {
            println!("{:20} {}", case.name, case.title);
        }
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = arguments.only.iter().find(|name| !CASES.iter().any(|case| case.name == *name)) {
        eprintln!("gallery: there is no case {unknown}; --list names them");
        return ExitCode::from(USAGE);
    }
    let outcome = match &arguments.worker {
        Some(folder) => work(&arguments, folder),
        None => run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("gallery: {message}");
            ExitCode::from(ENVIRONMENT)
        }
    }
}

/// Names of the environment variables that would load the layer behind the gallery's back, or undo what the gallery sets itself:
/// the environment wins over the application. The caller's other settings of the layer stay.
fn steering_variables(settings: &[(String, String)]) -> Vec<String> {
    let own = settings.iter().map(|(key, _)| key.as_str()).chain(["trace"]);
    own.map(|key| format!("SAMPLIN_{}", key.to_ascii_uppercase()))
        .chain(["ENABLE_SAMPLIN", "VK_LOADER_LAYERS_ENABLE", "VK_INSTANCE_LAYERS"].map(str::to_owned))
        .collect()
}

// ---- the child's side ----

/// Paints one half of one case and writes `result.json` and, when there is a picture, `picture.rgb` into `folder`.
fn work(arguments: &Arguments, folder: &Path) -> Result<(), String> {
    let case = CASES.iter().find(|case| arguments.only.iter().any(|name| name == case.name)).ok_or("no case")?;
    let mut builder = Context::builder().application("samplin gallery", 1);
    if let Some(device) = &arguments.device {
        builder = builder.device(device);
    }
    if arguments.with_layer {
        builder = builder.samplin().setting("trace", &folder.join("trace.jsonl").display().to_string());
        for (key, value) in &arguments.setting {
            builder = builder.setting(key, value);
        }
    }
    // Of a setting that is there twice the first counts: what the command line says, then what the case asks for.
    let builder = (case.prepare)(builder);
    let mut validation = !arguments.no_validation;
    let context = match builder.clone().validation().build() {
        Ok(context) if validation => Ok(context),
        Err(ContextError::LayerMissing(name)) if name == layer::VALIDATION => {
            validation = false;
            builder.build()
        }
        Err(error) => Err(error),
        Ok(context) => {
            drop(context);
            builder.build()
        }
    };
    let context = context.map_err(|error| error.to_string())?;
    let device = describe(&context);
    let outcome = (case.paint)(&context);
    let messages = context.messages();
    drop(context);
    let library = layer::loaded_library();
    match (&library, arguments.with_layer) {
        (Some(library), false) => {
            return Err(format!(
                "the half without the layer is not without it: {} is loaded although no variable asks for it; look for \
                 a loader settings file (vk_loader_settings.json) or another way it is forced on",
                library.display()
            ));
        }
        (None, true) => return Err("the half with the layer is not with it: its library is not loaded".to_owned()),
        _ => {}
    }
    let painted = outcome.is_ok();
    if let Ok(picture) = &outcome {
        std::fs::write(folder.join("picture.rgb"), picture.as_flattened()).map_err(|error| error.to_string())?;
    }
    let objections: BTreeSet<String> = messages.errors().into_iter().map(|message| message.id).collect();
    let result = json!({
        "device": device,
        "library": library.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        "lacking": outcome.err(),
        // Of a half that handed nothing over there is nothing to say.
        "validation": (validation && painted).then_some(objections),
    });
    std::fs::write(folder.join("result.json"), result.to_string()).map_err(|error| error.to_string())
}

fn describe(context: &Context) -> String {
    let version = context.properties().api_version;
    let [major, minor, patch] =
        [ash::vk::api_version_major(version), ash::vk::api_version_minor(version), ash::vk::api_version_patch(version)];
    format!("{} (Vulkan {major}.{minor}.{patch})", context.device_name())
}

// ---- the parent's side ----

/// What one half of a case gave.
#[derive(Clone)]
enum Outcome {
    /// A picture.
    Painted(Picture),
    /// What the device lacks.
    Lacking(String),
    /// How the process died.
    Crashed(String),
}

/// One half of a case.
struct Half {
    outcome: Outcome,
    device: Option<String>,
    /// Ids of the validation layer's errors, each once; `None` when it was not in use or nobody knows.
    objections: Option<Vec<String>>,
    trace: Trace,
}

/// Starts this program again for one half of `case`; `contrast` is a setting of the layer that comes before all others.
///
/// # Errors
///
/// The child's message when it could not set up Vulkan, or the failing operation.
fn half(
    arguments: &Arguments,
    case: &Case,
    with_layer: bool,
    contrast: Option<(&str, &str)>,
    folder: &Path,
) -> Result<Half, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let mut command = Command::new(program);
    command.arg("--worker").arg(folder).args(["--only", case.name]);
    if with_layer {
        command.arg("--with-layer");
    }
    if arguments.no_validation {
        command.arg("--no-validation");
    }
    if let Some(device) = &arguments.device {
        command.args(["--device", device]);
    }
    let own = contrast.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings: Vec<_> = own.into_iter().chain(arguments.setting.iter().cloned()).collect();
    for (key, value) in &settings {
        command.arg("--setting").arg(format!("{key}={value}"));
    }
    for name in steering_variables(&settings) {
        command.env_remove(name);
    }
    // An installed implicit manifest may need no variable to be on; this one switches it off. The half with the layer
    // names it in its instance, through a manifest that knows no such variable.
    command.env("DISABLE_SAMPLIN", "1");
    let output = command.output().map_err(|error| format!("a child process cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(i32::from(ENVIRONMENT)) {
        let message = said.lines().rev().find_map(|line| line.strip_prefix("gallery: ")).unwrap_or("no message");
        return Err(message.to_owned());
    }
    let trace = match std::fs::read_to_string(folder.join("trace.jsonl")) {
        Ok(text) => Trace::parse(&text).map_err(|error| format!("trace of {}: line {error}", case.name))?,
        Err(_) => Trace::default(),
    };
    if !output.status.success() {
        let how = crash(output.status, said.lines().last().unwrap_or_default());
        return Ok(Half { outcome: Outcome::Crashed(how), device: None, objections: None, trace });
    }
    let read = |name: &str| std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let result: Value = serde_json::from_slice(&read("result.json")?).map_err(|error| error.to_string())?;
    let outcome = match result["lacking"].as_str() {
        Some(lacking) => Outcome::Lacking(lacking.to_owned()),
        None => Outcome::Painted(read("picture.rgb")?.chunks_exact(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]).collect()),
    };
    let objections =
        result["validation"].as_array().map(|ids| ids.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    Ok(Half { outcome, device: result["device"].as_str().map(str::to_owned), objections, trace })
}

/// How a child died, in words.
fn crash(status: ExitStatus, last_words: &str) -> String {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    match signal {
        Some(11) => "segmentation fault".to_owned(),
        Some(6) => format!("abort: {last_words}"),
        Some(signal) => format!("signal {signal}"),
        None => format!("{status}: {last_words}"),
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let is_chosen = |case: &&Case| arguments.only.is_empty() || arguments.only.iter().any(|name| name == case.name);
    let scratch = Scratch(std::env::temp_dir().join(format!("samplin-gallery-{}", std::process::id())));
    let mut comparisons = Vec::new();
    let mut missing = None;
    let mut trace = Vec::new();
    for case in CASES.iter().filter(is_chosen) {
        let folder = |half: &str| scratch.0.join(format!("{}-{half}", case.name));
        // One message is enough when the layer is not there at all.
        let with = match &missing {
            None => half(arguments, case, true, None, &folder("with")).map_err(|message| missing = Some(message)).ok(),
            Some(_) => None,
        };
        let contrast = emulated::contrast(case).filter(|_| with.is_some());
        let without = half(arguments, case, contrast.is_some(), contrast, &folder("without"))?;
        trace.extend(std::fs::read(folder("with").join("trace.jsonl")).unwrap_or_default());
        comparisons.push(Comparison { case, contrast, without, with });
    }
    let halves = || comparisons.iter().flat_map(|both| std::iter::once(&both.without).chain(&both.with));
    let device = halves().find_map(|half| half.device.clone()).unwrap_or_else(|| "unknown device".to_owned());
    let validation = halves().any(|half| half.objections.is_some());
    let version = halves()
        .flat_map(|half| half.trace.events("layer").collect::<Vec<_>>())
        .find_map(|record| record["version"].as_str())
        .map(str::to_owned);
    let with_what = match (&missing, &version) {
        (Some(message), _) => format!("layer missing ({message})"),
        (None, Some(version)) => format!("samplin {version}"),
        (None, None) => "samplin".to_owned(),
    };
    let oracle = if validation { "; below it the Khronos validation layer, quoted under each tile" } else { "" };
    let page = Page {
        subtitle: vec![
            device.clone(),
            format!("{with_what}{oracle}"),
            "Integer, depth, stencil and R32_SFLOAT values are shown on a dark-to-light scale; magenta is no value of the texture."
                .to_owned(),
        ],
        tiles: comparisons.iter().map(Comparison::tile).collect(),
    };
    page.write(&arguments.out)?;
    let kept = trace_file(&arguments.out);
    std::fs::write(&kept, trace).map_err(|error| format!("{}: {error}", kept.display()))?;
    if arguments.json {
        let report = json!({
            "device": device,
            "layer": version,
            "picture": arguments.out.display().to_string(),
            "cases": comparisons.iter().map(Comparison::json).collect::<Vec<_>>(),
        });
        println!("{report:#}");
    } else {
        eprintln!("{}: {} cases on {device}; {with_what}", arguments.out.display(), comparisons.len());
    }
    missing.map_or(Ok(()), Err)
}

/// Where the traces of all halves with the layer go: the file that `SAMPLIN_TRACE` names, else one beside the picture.
fn trace_file(picture: &Path) -> PathBuf {
    let named = std::env::var_os("SAMPLIN_TRACE").map(PathBuf::from);
    // A word such as "off" is for the layer, and its %p would be another process.
    let is_file = |path: &PathBuf| path.is_absolute() && !path.to_string_lossy().contains('%');
    named.filter(is_file).unwrap_or_else(|| picture.with_extension("jsonl"))
}

/// A folder that goes away with the value.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Both halves of a case.
struct Comparison<'a> {
    case: &'a Case,
    /// The setting of the left half, if that is with the layer too.
    contrast: Option<(&'static str, &'static str)>,
    without: Half,
    with: Option<Half>,
}

impl Comparison<'_> {
    /// What the left half is.
    fn left(&self) -> String {
        match self.contrast {
            Some((key, value)) => format!("with {key}={value}"),
            None => "without the layer".to_owned(),
        }
    }

    fn pictures(&self) -> [Option<&Picture>; 2] {
        [Some(&self.without), self.with.as_ref()].map(|half| match &half?.outcome {
            Outcome::Painted(picture) => Some(picture),
            _ => None,
        })
    }

    /// Share of pixels that differ between the halves, 0..=1.
    fn difference(&self) -> Option<f64> {
        let [Some(without), Some(with)] = self.pictures() else { return None };
        let differing = without.iter().zip(with).filter(|(a, b)| a != b).count();
        Some(differing as f64 / without.len() as f64)
    }

    fn changes(&self) -> Vec<trace::RecordedChange> {
        self.with.as_ref().map(|half| half.trace.changes()).unwrap_or_default()
    }

    /// What the layer enabled on the device although the application did not.
    fn augmented(&self) -> Vec<&str> {
        let devices = self.with.iter().flat_map(|half| half.trace.events("device"));
        devices
            .flat_map(|record| record["augmented"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect()
    }

    /// Whether the device lacks something, and not only without the layer.
    fn is_unsupported(&self) -> bool {
        matches!(self.without.outcome, Outcome::Lacking(_)) && self.pictures()[1].is_none()
    }

    fn verdict(&self) -> Verdict {
        match (&self.without.outcome, &self.with) {
            _ if self.is_unsupported() => Verdict::Unsupported,
            (_, None) => Verdict::NoLayer,
            (_, Some(with)) if !with.objections.as_deref().unwrap_or_default().is_empty() => Verdict::Unresolved,
            (_, Some(with)) if with.trace.events("unresolved").next().is_some() => Verdict::Unresolved,
            _ if !self.changes().is_empty() => Verdict::Rewritten,
            _ if !self.augmented().is_empty() => Verdict::Enabled,
            _ => Verdict::LeftAlone,
        }
    }

    fn tile(&self) -> Tile {
        let panel = |half: Option<&Half>| match half.map(|half| &half.outcome) {
            Some(Outcome::Painted(picture)) => Panel::Picture(picture.clone()),
            Some(Outcome::Crashed(how)) => Panel::Words(format!("the driver crashed: {how}")),
            Some(Outcome::Lacking(lacking)) if !self.is_unsupported() => Panel::Words(lacking.clone()),
            Some(Outcome::Lacking(_)) | None => Panel::Blank,
        };
        Tile {
            title: self.case.title.to_owned(),
            asks: self.case.asks.to_owned(),
            verdict: self.verdict(),
            left: self.left(),
            panels: [panel(Some(&self.without)), panel(self.with.as_ref())],
            notes: self.notes(),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let note = |style, text: String| Note { style, text };
        if let (Outcome::Lacking(lacking), true) = (&self.without.outcome, self.is_unsupported()) {
            return vec![note(Style::Plain, format!("not supported by this device: {lacking}"))];
        }
        let mut notes = Vec::new();
        for rule in grouped(&self.changes()) {
            notes.push(note(Style::Strong, rule.heading()));
            for reason in rule.reasons {
                notes.push(note(Style::Code, reason.changes()));
                notes.push(note(Style::Plain, format!("because {}", reason.because)));
            }
        }
        for record in self.with.iter().flat_map(|half| half.trace.events("pair")).filter(|pair| pair["path"] == "draw")
        {
            let place =
                |of: &str| format!("set {} binding {}", record["link"][of]["set"], record["link"][of]["binding"]);
            let how = record["how"].as_str().unwrap_or("nothing");
            let text = format!("image at {}, sampler at {}: {how}", place("image"), place("sampler"));
            notes.push(note(Style::Plain, text));
        }
        let augmented = self.augmented();
        if !augmented.is_empty() {
            notes.push(note(Style::Plain, format!("the layer enabled {}", augmented.join(", "))));
        }
        for record in self.with.iter().flat_map(|half| half.trace.events("unresolved")) {
            let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            notes.push(note(Style::Alarm, format!("unresolved: {}: {}", text("what"), text("why"))));
        }
        if let Some(difference) = self.difference() {
            let text = match difference {
                0.0 => "the pictures are identical".to_owned(),
                _ => format!("{:.1} % of the pixels differ", difference * 100.0),
            };
            notes.push(note(Style::Plain, text));
        }
        for (name, half) in [(self.left(), Some(&self.without)), ("with the layer".to_owned(), self.with.as_ref())] {
            let Some(ids) = half.and_then(|half| half.objections.as_ref()) else { continue };
            if ids.is_empty() {
                notes.push(note(Style::Calm, format!("validation {name}: silent")));
            } else {
                notes.push(note(Style::Alarm, format!("validation {name}: {}", vuid_list(ids))));
            }
        }
        notes
    }

    fn json(&self) -> Value {
        let half = |half: &Half| {
            let (checksum, lacking, crashed) = match &half.outcome {
                Outcome::Painted(picture) => (Some(checksum(picture)), None, None),
                Outcome::Lacking(lacking) => (None, Some(lacking), None),
                Outcome::Crashed(how) => (None, None, Some(how)),
            };
            json!({"checksum": checksum, "lacking": lacking, "crashed": crashed, "validation": half.objections})
        };
        let records = self.with.iter().flat_map(|half| &half.trace.records);
        let changes: Vec<_> =
            records.flat_map(|record| record["changes"].as_array().into_iter().flatten().cloned()).collect();
        json!({
            "case": self.case.name,
            "title": self.case.title,
            "contrast": self.contrast.map(|(key, value)| format!("{key}={value}")),
            "without": half(&self.without),
            "with": self.with.as_ref().map(half),
            "differing": self.difference(),
            "changes": changes,
        })
    }
}

/// FNV-1a over the pixels, as 16 hexadecimal digits.
fn checksum(picture: &Picture) -> String {
    let hash = picture
        .as_flattened()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
