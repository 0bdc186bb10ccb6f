//! Finding the overridden sampler that breaks a picture, by halving.
//!
//! A run in which some samplers are left alone uses the rules file with one rule in front that matches their fingerprints and
//! stops, so that no later rule looks at them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use samplin_config::overrides::{MAX_OVERRIDES, Overrides};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, Result};
use crate::output::{ColorChoice, Output, Style};
use crate::run;
use crate::trace::reader::{Event, Source};
use crate::trace::record::counted;

/// The arguments of `samplin rules bisect`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The rules file [default: the user's for the program]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Instead of asking: a shell command that succeeds when the picture is good; the program's exit status is in $STATUS
    #[arg(long, value_name = "COMMAND")]
    pub good_if: Option<String>,
    /// Without a display start Xvfb, without a GPU use lavapipe
    #[arg(long)]
    pub headless: bool,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH")]
    pub layer: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// The overridden samplers: fingerprint and, if it has one, name.
type Candidates = BTreeMap<String, Option<String>>;

/// What stays the same in every run.
struct Trials<'a> {
    arguments: &'a Arguments,
    stage: run::Stage,
    rules: String,
    folder: Scratch,
    said: Output,
    runs: u32,
    all: Candidates,
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A rule that keeps all later ones away from these samplers.
fn exemption(fingerprints: &[&String]) -> String {
    let list = fingerprints.iter().map(|fingerprint| format!("\"{fingerprint}\"")).collect::<Vec<_>>().join(", ");
    format!("[[rule]]\nname = \"left alone\"\nwhen = {{ fingerprint = [{list}] }}\nstop = true\n")
}

impl Trials<'_> {
    fn say(&mut self, text: &str) {
        let prefix = self.said.styled(Style::Dim, "samplin:");
        self.said.line(format!("{prefix} {text}"));
        self.said.flush();
    }

    /// Runs the program with overrides for `touched` alone; whether the picture was good.
    fn is_good(&mut self, touched: &[&String]) -> Result<bool> {
        self.runs += 1;
        let left: Vec<&String> = self.all.keys().filter(|fingerprint| !touched.contains(fingerprint)).collect();
        let mut text = String::new();
        if !left.is_empty() {
            text = exemption(&left);
        }
        text += &self.rules;
        let number = self.runs;
        let what = format!("run {number}: overrides for {}", counted(touched.len() as u64, "sampler state"));
        self.say(&what);
        let status = self.start(&text, None)?;
        let good = match self.arguments.good_if.as_deref() {
            Some(command) => judge(command, status)?,
            None => self.ask()?,
        };
        self.say(if good { "good" } else { "bad" });
        Ok(good)
    }

    /// Runs the program with these rules.
    fn start(&mut self, rules: &str, trace: Option<&Path>) -> Result<u8> {
        let path = self.folder.0.join("samplin.toml");
        std::fs::write(&path, rules).map_err(|error| Failure::file(&path, error))?;
        let mut environment = self.stage.environment.clone();
        environment.set("SAMPLIN_CONFIG", &path);
        match trace {
            Some(trace) => {
                environment.set("SAMPLIN_TRACE", trace);
                environment.set("SAMPLIN_TRACE_LEVEL", "all");
            }
            None => environment.set("SAMPLIN_TRACE", "off"),
        }
        let (program, rest) = self.arguments.program.split_first().ok_or_else(|| Failure::usage("name a program"))?;
        let mut command = Command::new(program);
        // Answers come by standard input.
        command.args(rest).stdin(Stdio::null());
        environment.apply(&mut command);
        run::start(command, &program.to_string_lossy())
    }

    fn ask(&mut self) -> Result<bool> {
        loop {
            let mut errors = std::io::stderr().lock();
            // Nobody to ask is found out by reading.
            let _ = write!(errors, "samplin: was the picture good? [g]ood, [b]ad, [q]uit: ");
            let _ = errors.flush();
            let mut answer = String::new();
            let read = std::io::stdin()
                .lock()
                .read_line(&mut answer)
                .map_err(|error| Failure::input(format!("(standard input): {error}")))?;
            if read == 0 {
                return Err(Failure::usage("nobody answers: standard input is at its end")
                    .hint("answer on a terminal, or judge by a command with --good-if"));
            }
            match answer.trim().to_ascii_lowercase().as_str() {
                "g" | "good" | "y" | "yes" => return Ok(true),
                "b" | "bad" | "n" | "no" => return Ok(false),
                "q" | "quit" => return Err(Failure::usage("given up")),
                _ => {}
            }
        }
    }
}

fn judge(command: &str, status: u8) -> Result<bool> {
    let ended = Command::new("sh")
        .args(["-c", command])
        .env("STATUS", status.to_string())
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::environment(format!("sh: {error}")))?;
    match ended.code() {
        Some(126 | 127) => Err(Failure::usage(format!("--good-if {command}: the shell cannot run it"))),
        _ => Ok(ended.success()),
    }
}

/// The samplers that rules applied to, by a trace.
fn overridden(trace: &Path) -> Result<Candidates> {
    let mut found = Candidates::new();
    let finder = memchr::memmem::Finder::new(b"\"rules\":[\"");
    Source::File(trace.to_path_buf()).read(false, |record| {
        if record.event == Event::Pair && finder.find(record.text).is_some() {
            let value: Value = serde_json::from_slice(record.text).unwrap_or_default();
            let is_changed = value.get("changes").and_then(Value::as_array).is_some_and(|changes| !changes.is_empty());
            if let (true, Some(fingerprint)) = (is_changed, value.get("fingerprint").and_then(Value::as_str)) {
                let name = value.pointer("/names/sampler").and_then(Value::as_str).map(str::to_owned);
                let label = found.entry(fingerprint.to_owned()).or_default();
                if label.is_none() {
                    *label = name;
                }
            }
        }
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    let program = arguments.program.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    let path = match &arguments.rules {
        Some(path) => path.clone(),
        None => {
            let exe = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Overrides::find(None, &exe).0.path.ok_or_else(|| {
                Failure::usage("there is no rules file, so nothing is overridden").hint("name one with --rules")
            })?
        }
    };
    let (text, overrides, problems) = super::load(&path)?;
    if let Some(problem) = problems.first() {
        return Err(Failure::input(problem.to_string()).hint("`samplin rules check` tells every problem of the file"));
    }
    if overrides.iter().count() == 0 {
        return Err(Failure::input(format!("{}: there is no rule in it", path.display())));
    }
    if overrides.iter().count() >= MAX_OVERRIDES {
        return Err(Failure::input(format!(
            "{}: the file has {MAX_OVERRIDES} rules, and the search needs one more",
            path.display()
        )));
    }
    let stage = run::Stage::prepare(&program, arguments.layer.as_deref(), false, arguments.headless)?;
    let folder = std::env::temp_dir().join(format!("samplin-bisect-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| Failure::environment(format!("{}: {error}", folder.display())))?;
    let mut trials = Trials {
        arguments,
        stage,
        rules: text,
        folder: Scratch(folder),
        said: Output::stderr(color),
        runs: 1,
        all: Candidates::new(),
    };
    for note in trials.stage.environment.notes.clone() {
        trials.say(&note);
    }

    let trace = trials.folder.0.join("trace.jsonl");
    trials.say("run 1: every override, to see which samplers they touch");
    let rules = trials.rules.clone();
    trials.start(&rules, Some(&trace))?;
    if !trace.exists() {
        return Err(Failure::environment(
            "the program left no trace: it created no Vulkan instance, or the loader left the layer out",
        )
        .hint("`samplin doctor` looks for the reason"));
    }
    trials.all = overridden(&trace)?;
    if trials.all.is_empty() {
        return Err(Failure::input(format!("{}: its rules change no sampler of this program", path.display())));
    }
    let count = trials.all.len() as u64;
    trials.say(&format!("the rules change {}", counted(count, "sampler state")));

    let all = trials.all.clone();
    let names: Vec<&String> = all.keys().collect();
    if !trials.is_good(&[])? {
        output.styled_line(Style::Warn, "The picture is bad without any override, so no rule is to blame.");
        return Ok(Outcome::Findings);
    }
    if trials.is_good(&names)? {
        output.styled_line(Style::Good, "The picture is good with every override.");
        return Ok(Outcome::Fine);
    }
    let guilty = halve(&mut trials, names)?;
    let runs = trials.runs;
    report(&all, &guilty, runs, &path, output);
    Ok(Outcome::Findings)
}

/// The smallest set found that breaks the picture: one sampler, or several that only do so together.
fn halve<'c>(trials: &mut Trials<'_>, mut bad: Vec<&'c String>) -> Result<Vec<&'c String>> {
    let mut pieces = 2;
    // Zeller's ddmin: first each part alone, then each part left out, then smaller parts.
    while bad.len() > 1 {
        let size = bad.len().div_ceil(pieces);
        let parts: Vec<Vec<&'c String>> = bad.chunks(size).map(<[_]>::to_vec).collect();
        let mut smaller = None;
        for part in &parts {
            // Of two parts the second is to blame if the first is not, unless both are needed: that shows next.
            if !trials.is_good(part)? {
                smaller = Some((part.clone(), 2));
                break;
            }
        }
        if smaller.is_none() && parts.len() > 2 {
            for part in &parts {
                let rest: Vec<&'c String> = bad.iter().copied().filter(|name| !part.contains(name)).collect();
                if !trials.is_good(&rest)? {
                    smaller = Some((rest, pieces - 1));
                    break;
                }
            }
        }
        match smaller {
            Some((set, next)) => (bad, pieces) = (set, next.max(2)),
            None if pieces < bad.len() => pieces = (pieces * 2).min(bad.len()),
            None => break,
        }
    }
    Ok(bad)
}

fn report(all: &Candidates, guilty: &[&String], runs: u32, path: &Path, output: &mut Output) {
    let list: Vec<(&String, Option<&String>)> =
        guilty.iter().map(|name| (*name, all.get(*name).and_then(Option::as_ref))).collect();
    let snippet = exemption(guilty);
    if output.json {
        output.json(&json!({
            "guilty": list.iter().map(|(fingerprint, name)| json!({ "fingerprint": fingerprint, "name": name })).collect::<Vec<_>>(),
            "runs": runs,
            "exemption": snippet,
        }));
        return;
    }
    let mut text = String::new();
    for (fingerprint, name) in &list {
        // Writing to a string cannot fail.
        let _ = write!(text, " {fingerprint}");
        if let Some(name) = name {
            let _ = write!(text, " \"{name}\"");
        }
    }
    let what = if guilty.len() == 1 {
        "The override of this sampler breaks the picture:"
    } else {
        "The overrides of these samplers break the picture together:"
    };
    let what = output.styled(Style::Bad, what);
    output.line(format!("{what}{text}"));
    output.line(format!(
        "Found in {}. To leave it alone, put this in front of {}:",
        counted(u64::from(runs), "run"),
        path.display()
    ));
    output.line("");
    output.document(&snippet);
}
