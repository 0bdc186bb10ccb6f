//! `samplin prove`: what the driver at hand really makes of the pairs of a run, as they were asked for and as they are repaired.
//!
//! Each distinct (sampler, view class, path, instructions) of a trace is sampled at known points of an image with known texels, in a
//! process of its own because drivers crash on what is illegal. What comes out is held against the [reference](samplin_testkit::reference)
//! on the CPU, which follows the specification and knows nothing of the layer.

pub(crate) mod case;
mod compared;
mod decided;
mod look;
mod quirks;
mod stored;
pub(crate) mod verdict;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use samplin_core::quirk::Quirk;
use serde_json::json;

use self::case::{Case, Cases};
use self::quirks::{Driver, Probed};
use self::stored::Format;
use self::verdict::{Proof, Verdict};
use self::worker::{Answer, Step, Worker};
use crate::check::formats::{self, Target};
use crate::check::{Finding, Report};
use crate::devices;
use crate::elf::Elf;
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::inspect;
use crate::layer::{self, Library};
use crate::output::{Output, Style};
use crate::system::System;
use crate::trace::reader;
use crate::trace::record::{RecordedChange, counted, grouped, short};

/// The arguments of `samplin prove`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A trace, best of the level all (`samplin run --trace-level all -- PROGRAM`); `-` is standard input. Without one, what is piped in,
    /// else the newest
    #[arg(value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Let the layer make the device as weak as another one: a name from `samplin caps --list`, or a capability file
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// The driver to try: the manifest of a Vulkan driver (ICD) [default: what the loader finds]
    #[arg(long, value_name = "ICD")]
    pub driver: Option<PathBuf>,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH")]
    pub layer: Option<PathBuf>,
    /// Try which quirks the driver has, and write them as a file of `manifest/quirks/`; without a TRACE, do nothing else
    #[arg(long, value_name = "FILE")]
    pub quirks: Option<PathBuf>,
    /// How many rows to show; 0 for all
    #[arg(long, default_value_t = 20)]
    pub limit: usize,
    /// The format of findings, and a file for them instead of standard output; may be given several times [text, json, junit, github, markdown,
    /// sarif]
    #[arg(long, value_name = "FORMAT[=FILE]")]
    pub format: Vec<Target>,
    #[arg(long, hide = true)]
    pub(crate) worker: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When the trace cannot be used, or the layer or a driver is not there.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    if arguments.worker {
        return worker::serve();
    }
    if let Some(file) = &arguments.quirks {
        write_quirks(arguments, file, output)?;
        if arguments.trace.is_none() {
            return Ok(Outcome::Fine);
        }
    }
    let source = inspect::sources(arguments.trace.as_slice())?.remove(0);
    formats::must_be_apart(&arguments.format, &[("the trace", source.path())])?;
    let mut cases = Cases::default();
    source.read(true, |record| cases.record(record))?;
    let level_is_all = cases.level_is_all;
    let (pairs, formats) = cases.into_found();
    let mut subjects: Vec<Subject> = pairs.into_iter().map(|pair| Subject::Pair(Box::new(pair))).collect();
    subjects.extend(formats.into_iter().map(Subject::Format));
    if subjects.is_empty() {
        return Err(Failure::input(format!("{}: the trace holds no pair with its view's class", source.name()))
            .hint("record it with `samplin run --trace-level all -- PROGRAM`"));
    }
    if let Some(device) = &arguments.device {
        let file = devices::find(device)?.on_disk()?;
        let file = file.to_str().ok_or_else(|| Failure::environment("the path of the device is not UTF-8"))?;
        for settings in subjects.iter_mut().map(Subject::settings) {
            settings.retain(|(name, _)| name != "device");
            settings.push(("device".to_owned(), file.to_owned()));
        }
        // Another device decides otherwise.
        for subject in &mut subjects {
            if let Subject::Pair(case) = subject {
                case.judged = None;
            }
        }
    }
    let bench = Bench::new(arguments)?;
    let driver = bench.driver()?;
    let proofs = bench.prove(&subjects, &driver)?;
    let proven =
        Proven { trace: source.name(), driver: driver.title, subjects: &subjects, proofs: &proofs, level_is_all };
    proven.write(arguments, output)?;
    Ok(Outcome::from_findings(proofs.iter().any(|proof| proof.verdict.is_finding())))
}

/// Tries which quirks the driver has, and writes a file of them.
fn write_quirks(arguments: &Arguments, file: &Path, output: &mut Output) -> Result<()> {
    let traces: Vec<_> = arguments.trace.iter().map(|trace| ("the trace", trace.as_path())).collect();
    files::must_be_apart(&[("--quirks", file)], &traces)?;
    let bench = Bench::new(arguments)?;
    let (driver, found) = (bench.driver()?, bench.quirks()?);
    let text = driver.file(&found).map_err(Failure::environment)?;
    files::write_output(file, text.as_bytes())?;
    if output.json {
        return Ok(());
    }
    let heading = output.styled(Style::Heading, &driver.title);
    output.line(format!("On {heading}:"));
    for (quirk, probed) in &found {
        match probed {
            Probed::Has(observed) => output.line(format!("  {}: {observed}", quirk.name())),
            Probed::HasNot => {}
            Probed::Unknown(why) => output.styled_line(Style::Dim, format!("  {} is not known: {why}", quirk.name())),
        }
    }
    Ok(())
}

/// What is tried.
enum Subject {
    /// A pair.
    Pair(Box<Case>),
    /// A format of storage images.
    Format(Format),
}

impl Subject {
    fn settings(&mut self) -> &mut Vec<(String, String)> {
        match self {
            Self::Pair(case) => &mut case.settings,
            Self::Format(format) => &mut format.settings,
        }
    }

    fn line(&self) -> u64 {
        match self {
            Self::Pair(case) => case.line,
            Self::Format(format) => format.line,
        }
    }

    /// What it is, and what the layer changed.
    fn sentence(&self, changes: &[RecordedChange]) -> String {
        match self {
            Self::Pair(case) => case.sentence(changes),
            Self::Format(format) => format!("{} stored and read by shaders that convert", short(&format.format)),
        }
    }

    /// Tries it.
    fn proven(&self, worker: &mut Worker, driver: &Driver) -> Result<Proof> {
        let case = match self {
            Self::Format(format) => return Ok(Proof::stored(&worker.ask(&Step::Stored(Box::new(format.clone())))?)),
            Self::Pair(case) => case,
        };
        let otherwise = case.differs(driver, |format, is_linear| {
            let answer = worker.ask(&Step::Features(format.as_raw(), is_linear));
            let Ok(Answer::Features(bits)) = answer else { return None };
            Some(vk::FormatFeatureFlags2::from_raw(bits))
        });
        let with = worker.ask(&Step::Repaired(case.clone()))?;
        let changes = match &with {
            Answer::Repaired { changes, .. } => changes.clone(),
            _ => Vec::new(),
        };
        let without = worker.ask(&Step::Asked(case.clone(), changes))?;
        Ok(Proof::from(&with, &without, &case.changes, case.both_aspects).unless_decided(otherwise))
    }

    fn json(&self, proof: &Proof) -> serde_json::Value {
        let mut members = json!({
            "line": self.line(),
            "verdict": proof.verdict,
            "observed": proof.observed,
            "difference": proof.difference,
            "changes": proof.changes,
        });
        let more = match self {
            Self::Format(format) => json!({ "storage_format": format.format }),
            Self::Pair(case) => json!({
                "fingerprint": case.fingerprint,
                "names": { "sampler": case.names[0], "view": case.names[1] },
                "state": case.state,
                "view": case.view,
                "path": case.path,
                "uses": case.uses,
                "recorded": case.changes,
            }),
        };
        if let (Some(members), serde_json::Value::Object(more)) = (members.as_object_mut(), more) {
            members.extend(more);
        }
        members
    }
}

/// Where cases are tried.
struct Bench {
    layers: PathBuf,
    driver: Option<PathBuf>,
}

impl Bench {
    fn new(arguments: &Arguments) -> Result<Self> {
        let system = System::current();
        let path = layer::find(arguments.layer.as_deref(), &system)?;
        let elf = Elf::read(&path).map_err(|error| Failure::file(&path, error))?;
        let driver = match &arguments.driver {
            Some(path) => Some(path.canonicalize().map_err(|error| Failure::file(path, error))?),
            None => None,
        };
        Ok(Self { layers: layer::private_folder(&[Library { path, elf }], &system)?, driver })
    }

    fn worker(&self) -> Worker {
        Worker::new(self.layers.clone(), self.driver.clone())
    }

    fn driver(&self) -> Result<Driver> {
        match self.worker().ask(&Step::Driver)? {
            Answer::Driver(driver) => Ok(*driver),
            Answer::NoDevice(why) => Err(Failure::environment(why)),
            Answer::Crashed(how) => Err(Failure::environment(format!("the driver fails: {how}"))),
            _ => Err(Failure::environment("the worker process did not say which driver it has")),
        }
    }

    /// Tries each quirk, in the order of the table.
    fn quirks(&self) -> Result<Vec<(Quirk, Probed)>> {
        let mut worker = self.worker();
        let probed = |quirk: Quirk| {
            let answer = worker.ask(&Step::Quirk(quirk.name().to_owned()))?;
            Ok((quirk, answer.probed(quirk)))
        };
        Quirk::all().map(probed).collect()
    }

    /// Tries each case with and without the layer.
    fn prove(&self, subjects: &[Subject], driver: &Driver) -> Result<Vec<Proof>> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4).min(subjects.len());
        let (next, bar) = (AtomicUsize::new(0), reader::bar(subjects.len() as u64));
        let found: Mutex<BTreeMap<usize, Proof>> = Mutex::new(BTreeMap::new());
        let work = || -> Result<()> {
            let mut worker = self.worker();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(subject) = subjects.get(index) else { return Ok(()) };
                let proof = subject.proven(&mut worker, driver)?;
                found.lock().unwrap_or_else(PoisonError::into_inner).insert(index, proof);
                bar.inc(1);
            }
        };
        std::thread::scope(|scope| -> Result<()> {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err(Failure::environment("a thread of the tool gave up")))
            })
        })?;
        bar.finish_and_clear();
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
    }
}

/// What there is to say of a trace.
struct Proven<'a> {
    trace: String,
    driver: String,
    subjects: &'a [Subject],
    proofs: &'a [Proof],
    level_is_all: bool,
}

impl Proven<'_> {
    fn count(&self, verdict: Verdict) -> usize {
        self.proofs.iter().filter(|proof| proof.verdict == verdict).count()
    }

    /// What was tried, with the proofs, the weightiest first.
    fn ordered(&self) -> Vec<(&Subject, &Proof)> {
        let mut all: Vec<_> = self.subjects.iter().zip(self.proofs).collect();
        all.sort_by_key(|(subject, proof)| (proof.verdict, subject.line()));
        all
    }

    /// `29 distinct pairs and 1 format`.
    fn tried(&self) -> String {
        let formats = self.subjects.iter().filter(|subject| matches!(subject, Subject::Format(_))).count();
        let pairs = counted((self.subjects.len() - formats) as u64, "distinct pair");
        if formats == 0 { pairs } else { format!("{pairs} and {}", counted(formats as u64, "format")) }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.level_is_all {
            notes.push(
                "the trace holds changed pairs only; --trace-level all records the legal ones as well".to_owned(),
            );
        }
        notes
    }

    fn write(&self, arguments: &Arguments, output: &mut Output) -> Result<()> {
        let findings: Vec<Finding> = self
            .ordered()
            .into_iter()
            .filter(|(_, proof)| proof.verdict.is_finding())
            .map(|(subject, proof)| self.finding(subject, proof))
            .collect();
        let report = Report {
            command: "prove",
            traces: vec![self.trace.clone()],
            findings: &findings,
            allowed: &[],
            ignored: Vec::new(),
            rules: Verdict::ALL.into_iter().filter(|verdict| verdict.is_finding()).map(Verdict::words).collect(),
            warnings: self.notes(),
            looked_at: format!("{} on {}", self.tried(), self.driver),
        };
        let json = output.json;
        let mut targets = arguments.format.clone();
        if json {
            output.json(&self.json());
            targets.retain(Target::is_file);
            if targets.is_empty() {
                return Ok(());
            }
            output.json = false;
        }
        let written = formats::write(&report, &targets, output, |output| {
            if !json {
                self.text(arguments.limit, output);
            }
        });
        output.json = json;
        written
    }

    fn finding(&self, subject: &Subject, proof: &Proof) -> Finding {
        let finding = Finding {
            trace: self.trace.clone(),
            line: subject.line(),
            rule: proof.verdict.words().to_owned(),
            device: Some(self.driver.clone()),
            unresolved: proof.verdict == Verdict::DriverWrong,
            message: format!("{}: {}", subject.sentence(&proof.changes), proof.observed),
            count: 1,
            ..Finding::default()
        };
        match subject {
            Subject::Format(format) => Finding { format: Some(format.format.clone()), ..finding },
            Subject::Pair(case) => {
                let member = |name: &str| case.view.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
                let [sampler, view] = case.names.clone();
                Finding {
                    fingerprint: Some(case.fingerprint.clone()),
                    sampler,
                    view,
                    format: member("format"),
                    aspect: member("aspect"),
                    view_type: member("view_type"),
                    swizzle: member("swizzle"),
                    ..finding
                }
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        let counts: BTreeMap<&str, usize> =
            Verdict::ALL.into_iter().map(|verdict| (verdict.words(), self.count(verdict))).collect();
        let of = |is_pair: bool| -> Vec<serde_json::Value> {
            let all = self.subjects.iter().zip(self.proofs);
            let some = all.filter(|(subject, _)| matches!(subject, Subject::Pair(_)) == is_pair);
            some.map(|(subject, proof)| subject.json(proof)).collect()
        };
        json!({
            "trace": self.trace,
            "driver": self.driver,
            "verdicts": counts,
            "pairs": of(true),
            "formats": of(false),
            "notes": self.notes(),
        })
    }

    fn text(&self, limit: usize, output: &mut Output) {
        let heading = output.styled(Style::Heading, &self.driver);
        output.line(format!("On {heading}: {} tried", self.tried()));
        for verdict in Verdict::ALL {
            let count = self.count(verdict);
            let text = format!("  {count:>6} {}", verdict.words());
            match verdict {
                _ if count == 0 => {}
                verdict if verdict.is_finding() => output.styled_line(Style::Bad, text),
                _ => output.line(text),
            }
        }
        for note in self.notes() {
            output.styled_line(Style::Warn, format!("  {note}"));
        }
        let mut rows: Vec<(Verdict, String, &str, u64)> = Vec::new();
        for (subject, proof) in self.ordered().into_iter().filter(|(_, proof)| proof.verdict != Verdict::Holds) {
            let sentence = subject.sentence(&proof.changes);
            match rows.iter_mut().find(|row| (row.0, &row.1, row.2) == (proof.verdict, &sentence, &proof.observed)) {
                Some(row) => row.3 += 1,
                None => rows.push((proof.verdict, sentence, &proof.observed, 1)),
            }
        }
        let limit = if limit == 0 { usize::MAX } else { limit };
        let mut last = None;
        for (verdict, sentence, observed, count) in rows.iter().take(limit) {
            if last.replace(*verdict) != Some(*verdict) {
                output.line("");
                output.styled_line(Style::Heading, verdict.words());
            }
            let times = if *count == 1 { String::new() } else { format!(" (×{})", grouped(*count)) };
            output.line(format!("  {sentence}{times}"));
            output.styled_line(Style::Dim, format!("    {observed}"));
        }
        if rows.len() > limit {
            output.line(format!("  and {} more (--limit 0 shows all)", grouped((rows.len() - limit) as u64)));
        }
    }
}

impl Case {
    /// What it is, and what is changed: `R32_UINT 2D by update: magFilter LINEAR → NEAREST`.
    pub(crate) fn sentence(&self, changes: &[RecordedChange]) -> String {
        let member = |name: &str| self.view.get(name).and_then(serde_json::Value::as_str).map_or("?", short);
        let aspect = if member("aspect") == "color" { String::new() } else { format!(" {}", member("aspect")) };
        let changes: Vec<String> = changes.iter().map(RecordedChange::brief).collect();
        let changes = if changes.is_empty() { "legal".to_owned() } else { changes.join(", ") };
        format!("{}{aspect} {} by {}: {changes}", member("format"), member("view_type"), self.path)
    }
}
