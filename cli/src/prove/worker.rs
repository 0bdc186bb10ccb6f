//! The process in which cases are tried. A driver may crash on what is illegal, so the tool itself only asks: a line of JSON for each
//! step, answered by a line.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ash::vk;
use samplin_core::quirk::Quirk;
use samplin_testkit::{Context, ContextBuilder, NumericKind, Trace};
use serde::{Deserialize, Serialize};

use super::case::{self, Case};
use super::compared::Compared;
use super::look;
use super::quirks::{self, Driver, Probed};
use super::stored::Format;
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::trace::record::RecordedChange;

/// How long a driver may take for one step.
const PATIENCE: Duration = Duration::from_secs(60);

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// Which driver it is.
    Driver,
    /// The pair as it was asked for, with the layer.
    Repaired(Box<Case>),
    /// A format that shaders convert, with the layer, then without.
    Stored(Box<Format>),
    /// What the driver answers for a format, of images with linear tiling or with optimal.
    Features(i32, bool),
    /// Whether the driver has a quirk, by its name.
    Quirk(String),
    /// The same without the layer, held against what was asked for and what those changes make of it.
    Asked(Box<Case>, Vec<RecordedChange>),
}

/// The answer to a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The driver.
    Driver(Box<Driver>),
    /// What the layer changed here, what it left, and how what came out compares with that.
    Repaired { changes: Vec<RecordedChange>, left: Vec<String>, repaired: Compared },
    /// How what came out compares with what was asked for, and with the repaired pair.
    Asked { asked: Compared, repaired: Compared },
    /// How what shaders convert, and what the driver does by itself, compare with the specification.
    Stored { with: Compared, without: Compared, is_converted: bool },
    /// Features of a format.
    Features(u64),
    /// What a probe found.
    Quirk(Probed),
    /// There is no Vulkan device here.
    NoDevice(String),
    /// The process ended, or did not answer.
    Crashed(String),
}

impl Answer {
    /// What a probe of a quirk found. Of one quirk a crash is all there is to see.
    pub(super) fn probed(self, quirk: Quirk) -> Probed {
        match self {
            Self::Quirk(probed) => probed,
            Self::Crashed(how) if quirk == Quirk::ANISOTROPY_BELOW_ONE_CRASHES => Probed::Has(how),
            Self::Crashed(how) | Self::NoDevice(how) => Probed::Unknown(how),
            _ => Probed::Unknown("the worker did not answer".to_owned()),
        }
    }
}

/// Runs as the worker: answers until there is no further step.
pub(super) fn serve() -> Result<Outcome> {
    // What a step's panic says goes into its answer.
    panic::set_hook(Box::new(|_| {}));
    let mut contexts = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::input(format!("standard input: {error}")))?;
        let step: Step =
            serde_json::from_str(&line).map_err(|error| Failure::input(format!("standard input: {error}")))?;
        let answer = answer(step, &mut contexts);
        let text = serde_json::to_string(&answer).unwrap_or_default();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| Failure::environment(error.to_string()))?;
    }
    Ok(Outcome::Fine)
}

/// Contexts without the layer, by the abilities that are off.
type Contexts = BTreeMap<Vec<String>, Context>;

fn answer(step: Step, contexts: &mut Contexts) -> Answer {
    match step {
        Step::Driver => match context(contexts, &[]) {
            Ok(context) => Answer::Driver(Box::new(Driver::of(context))),
            Err(why) => Answer::NoDevice(why),
        },
        Step::Features(format, is_linear) => match context(contexts, &[]) {
            Ok(context) => {
                let tiling = if is_linear { vk::ImageTiling::LINEAR } else { vk::ImageTiling::OPTIMAL };
                let features = context.format_features(vk::Format::from_raw(format), tiling);
                // The bits of both kinds of flags mean the same.
                Answer::Features(features.as_raw().into())
            }
            Err(why) => Answer::NoDevice(why),
        },
        Step::Repaired(case) => guarded(
            || repaired(&case),
            |compared| Answer::Repaired { changes: case.changes.clone(), left: Vec::new(), repaired: compared },
        ),
        Step::Quirk(name) => guarded(
            || {
                let quirk = Quirk::named(&name).ok_or_else(|| Compared::Unknown("no such quirk".to_owned()))?;
                let context = context(contexts, &[]).map_err(Compared::Unknown)?;
                Ok(Answer::Quirk(quirks::probe(context, quirk)))
            },
            |compared| Answer::Quirk(Probed::Unknown(compared.why())),
        ),
        Step::Stored(format) => guarded(
            || stored(&format, contexts),
            |compared| Answer::Stored { with: compared.clone(), without: compared, is_converted: false },
        ),
        Step::Asked(case, changes) => guarded(
            || asked(&case, &changes, contexts),
            |compared| Answer::Asked { asked: compared.clone(), repaired: compared },
        ),
    }
}

/// Runs a step; what the harness cannot do is unknown.
fn guarded(
    step: impl FnOnce() -> std::result::Result<Answer, Compared>,
    failed: impl FnOnce(Compared) -> Answer,
) -> Answer {
    match panic::catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(compared)) => failed(compared),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the harness gave up");
            failed(Compared::Unknown(text.lines().next().unwrap_or_default().to_owned()))
        }
    }
}

fn context<'c>(contexts: &'c mut Contexts, case: &[&Case]) -> std::result::Result<&'c Context, String> {
    let off = case.first().map(|case| case.off.clone()).unwrap_or_default();
    if !contexts.contains_key(&off) {
        let builder = case
            .iter()
            .flat_map(|case| case.off())
            .fold(Context::builder().without_messenger(), |builder, capability| builder.without(capability));
        contexts.insert(off.clone(), builder.build().map_err(|error| error.to_string())?);
    }
    contexts.get(&off).ok_or_else(String::new)
}

fn repaired(case: &Case) -> std::result::Result<Answer, Compared> {
    let trial = case.trial().map_err(Compared::Unknown)?;
    let build = |builder: ContextBuilder| {
        let builder = case.off().fold(builder, |builder, capability| builder.without(capability));
        if case.gl_clamp { builder.extension(c"VK_SAMPLIN_gl_address_modes") } else { builder }
    };
    let (looked, records) = with_layer(&case.settings, build, |context| look::look(context, &trial))?;
    let of = |event: &str| records.records.iter().filter(|record| record["event"] == event).collect::<Vec<_>>();
    // Of a pair that a shader joins, the last record says what it came to.
    let pair = of("pair").into_iter().next_back();
    let changes: Vec<RecordedChange> =
        of("sampler").into_iter().take(1).chain(pair).flat_map(case::changes_of).collect();
    let compared = |changes: &[RecordedChange]| changes.iter().any(case::is_made_to_compare);
    if compared(&case.changes) && !compared(&changes) {
        return Err(Compared::Unknown(
            "the program's shader compares, and here the layer makes no sampler do so".to_owned(),
        ));
    }
    let left =
        of("unresolved").into_iter().filter_map(|record| Some(record.get("what")?.as_str()?.to_owned())).collect();
    let repaired = match (looked, case::expected(&case.state, &changes)) {
        (Err(compared), _) => compared,
        (_, Err(why)) => Compared::Unknown(why),
        (Ok(looked), Ok(samplers)) => looked.compared_with(&trial, &samplers),
    };
    Ok(Answer::Repaired { changes, left, repaired })
}

fn stored(format: &Format, contexts: &mut Contexts) -> std::result::Result<Answer, Compared> {
    let without = format.compared(context(contexts, &[]).map_err(Compared::Unknown)?);
    let (with, records) = with_layer(&format.settings, |builder| builder, |context| format.compared(context))?;
    let is_converted = records
        .records
        .iter()
        .filter(|record| record["event"] == "view")
        .flat_map(case::changes_of)
        .any(|change| change.rule == "storage-format");
    Ok(Answer::Stored { with, without, is_converted })
}

/// Does something on a context with the layer, and reads what the layer recorded.
fn with_layer<R>(
    settings: &[(String, String)],
    build: impl FnOnce(ContextBuilder) -> ContextBuilder,
    work: impl FnOnce(&Context) -> R,
) -> std::result::Result<(R, Trace), Compared> {
    let folder = files::Scratch::new("samplin-prove-").map_err(|failure| Compared::Unknown(failure.message))?;
    let trace = folder.path().join("trace.jsonl");
    let text =
        trace.to_str().ok_or_else(|| Compared::Unknown("the path of temporary files is not UTF-8".to_owned()))?;
    let builder = Context::builder().without_messenger().samplin();
    let builder = builder.setting("trace", text).setting("trace_level", "all").setting("config", "none");
    let builder = settings.iter().fold(builder, |builder, (name, value)| builder.setting(name, value));
    let context = build(builder).build().map_err(|error| Compared::Unknown(error.to_string()))?;
    let result = work(&context);
    drop(context);
    Ok((result, Trace::read(&trace).map_err(Compared::Unknown)?))
}

fn asked(case: &Case, changes: &[RecordedChange], contexts: &mut Contexts) -> std::result::Result<Answer, Compared> {
    let trial = case.trial().map_err(Compared::Unknown)?;
    let looked = look::look(context(contexts, &[case]).map_err(Compared::Unknown)?, &trial)?;
    let repaired = match case::expected(&case.state, changes) {
        Ok(samplers) => looked.compared_with(&trial, &samplers),
        Err(why) => Compared::Unknown(why),
    };
    // Outside of what the specification defines nothing was asked for.
    let is_number = trial.numbers() == NumericKind::Float;
    let asked = match changes.iter().find(|change| !is_number || !DEFINED.contains(&change.rule.as_str())) {
        None if !trial.view_suits && changes.is_empty() => {
            Compared::Unknown("coordinates in texels need a view of one level and layer".to_owned())
        }
        None => looked.compared(&trial, &trial.asked),
        Some(change) => Compared::Unknown(format!("{} has no meaning as the application sets it", change.field)),
    };
    Ok(Answer::Asked { asked, repaired })
}

/// The rules of what is illegal on a device that lacks an ability and means the same on every other.
const DEFINED: [&str; 4] = ["linear-filter", "linear-mipmap", "compare", "unnormalized"];

/// A worker, from outside. One that has ended is started anew.
pub(super) struct Worker {
    command: Box<dyn Fn() -> Command + Send>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// One that `library` is the layer of. `driver` is a manifest of a driver.
    pub(super) fn new(layers: PathBuf, driver: Option<PathBuf>) -> Self {
        Self { command: Box::new(move || command(&layers, driver.as_deref())), running: None }
    }

    /// Has a step answered.
    ///
    /// # Errors
    ///
    /// When the process cannot be started.
    pub(super) fn ask(&mut self, step: &Step) -> Result<Answer> {
        if self.running.is_none() {
            self.running = Some(Running::start((self.command)())?);
        }
        let Some(running) = &mut self.running else { return Ok(Answer::Crashed(String::new())) };
        let text = serde_json::to_string(step).map_err(|error| Failure::environment(error.to_string()))?;
        if writeln!(running.input, "{text}").and_then(|()| running.input.flush()).is_ok() {
            loop {
                match running.answers.recv_timeout(PATIENCE) {
                    // Drivers may write to standard output as well.
                    Ok(line) => match serde_json::from_str(&line) {
                        Ok(answer) => return Ok(answer),
                        Err(_) => continue,
                    },
                    Err(RecvTimeoutError::Timeout) => {
                        self.running = None;
                        return Ok(Answer::Crashed(format!("no answer within {} s", PATIENCE.as_secs())));
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        }
        let status = running.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let status = format!("the driver ends the process, {status}");
        self.running = None;
        Ok(Answer::Crashed(status))
    }
}

impl Running {
    fn start(mut command: Command) -> Result<Self> {
        let failed = |error: std::io::Error| Failure::environment(format!("the worker process: {error}"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::environment("the worker process has no pipes"));
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            // The end of the process ends this.
            for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, answers })
    }
}

/// This program as a worker. Of the layer it gets what a step says, and nothing of the environment's.
fn command(layers: &Path, driver: Option<&Path>) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "samplin".into());
    let mut command = Command::new(program);
    command.args(["prove", "--worker"]);
    for (name, _) in std::env::vars_os() {
        let is_ours = name.to_str().is_some_and(|name| name.starts_with("SAMPLIN_") && name != "SAMPLIN_TEST_DEVICE");
        if is_ours || name == "VK_INSTANCE_LAYERS" || name == "ENABLE_SAMPLIN" {
            command.env_remove(name);
        }
    }
    command.env(samplin_testkit::layer::LAYER_DIR_VARIABLE, layers);
    if let Some(driver) = driver {
        command.env("VK_DRIVER_FILES", driver).env("VK_ICD_FILENAMES", driver);
    }
    command
}
