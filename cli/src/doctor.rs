//! `samplin doctor`: looks for what keeps the layer from working, and says what to do.
//!
//! Each check is a function from a [`System`] to [`Finding`]s, so that it can be tried on a made-up system.

mod checks;
mod program;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::caps;
use crate::failure::{Outcome, Result};
use crate::output::{Output, Style};
use crate::system::System;

/// The arguments of `samplin doctor`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Also ask what this program needs: a path, a name in PATH, or the number of a process
    #[arg(value_name = "PROGRAM", conflicts_with = "probe")]
    pub program: Option<String>,
    /// Examine the system whose root is this folder, such as a container's
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Ask the loader in this process and print what it says (used by the command itself)
    #[arg(long, hide = true)]
    pub probe: bool,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is wrong.
    Good,
    /// Worth knowing.
    Note,
    /// It may not do what is expected.
    Warning,
    /// It does not work.
    Error,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name.
    pub id: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What there is.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    fn new(id: &'static str, level: Level, message: impl Into<String>) -> Self {
        Self { id, level, message: message.into(), advice: None }
    }

    fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What the loader says when it is asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Probe {
    /// Version of the loader.
    pub loader: Option<(u32, u32, u32)>,
    /// Names of the devices.
    pub devices: Vec<String>,
    /// Why no device could be asked.
    pub trouble: Option<String>,
}

/// Everything that is found wrong, or fine, with a system.
pub fn examine(system: &System, probe: Option<&ProbeResult>) -> Vec<Finding> {
    let mut findings = Vec::new();
    checks::loader(system, probe, &mut findings);
    checks::drivers(system, probe, &mut findings);
    checks::layers(system, &mut findings);
    checks::environment(system, &mut findings);
    checks::settings(system, &mut findings);
    checks::containers(system, &mut findings);
    checks::traces(system, &mut findings);
    findings
}

pub use program::loads;

/// What keeps the layer from a program that is to have it, in a line each; without asking the loader.
pub fn obstacles(system: &System, program: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    if loads(program, system).is_ok_and(|(_, elf)| !elf.is_native()) {
        program::file(system, program, &mut findings);
    } else {
        checks::loader(system, None, &mut findings);
        checks::drivers(system, None, &mut findings);
    }
    checks::environment(system, &mut findings);
    findings.retain(|finding| finding.level == Level::Error);
    let line = |finding: Finding| match finding.advice {
        Some(advice) => format!("{} ({advice})", finding.message),
        None => finding.message,
    };
    findings.into_iter().map(line).collect()
}

/// How asking the loader went.
#[derive(Clone, Debug)]
pub enum ProbeResult {
    /// It answered.
    Answered(Probe),
    /// The process that asked ended like this.
    Crashed(String),
    /// It did not answer in time.
    Hung,
}

/// How long the loader and the drivers may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the loader in a process of its own: drivers crash.
fn probe() -> Option<ProbeResult> {
    let program = std::env::current_exe().ok()?;
    let mut child = Command::new(program)
        .args(["doctor", "--probe"])
        // The layer would write a trace of its own.
        .env("SAMPLIN_TRACE", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let end = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Some(ProbeResult::Hung);
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    Some(match serde_json::from_slice(&output.stdout) {
        Ok(probe) => ProbeResult::Answered(probe),
        Err(_) => ProbeResult::Crashed(output.status.to_string()),
    })
}

/// Runs the command.
///
/// # Errors
///
/// None of its own; findings are its result.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    if arguments.probe {
        let (devices, trouble) = match caps::titles() {
            Ok(titles) => (titles, None),
            Err(failure) => (Vec::new(), Some(failure.message)),
        };
        let answer = Probe { loader: caps::loader_version(), devices, trouble };
        output.line(serde_json::to_string(&answer).unwrap_or_default());
        return Ok(Outcome::Fine);
    }
    let system = arguments.root.as_deref().map_or_else(System::current, System::below);
    let probe = if system.is_real() { probe() } else { None };
    let mut findings = examine(&system, probe.as_ref());
    if let Some(program) = &arguments.program {
        program::named(&system, program, &mut findings);
    }
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Good);
    if output.json {
        output.json(&json!({ "findings": findings, "worst": worst }));
    } else {
        print(&findings, worst, output);
    }
    Ok(Outcome::from_findings(worst >= Level::Warning))
}

fn print(findings: &[Finding], worst: Level, output: &mut Output) {
    for finding in findings {
        let (word, style) = match finding.level {
            Level::Good => ("ok      ", Style::Good),
            Level::Note => ("note    ", Style::Name),
            Level::Warning => ("warning ", Style::Warn),
            Level::Error => ("error   ", Style::Bad),
        };
        let word = output.styled(style, word);
        output.line(format!("{word}{}", finding.message));
        if let Some(advice) = &finding.advice {
            output.line(format!("        {advice}"));
        }
    }
    output.line("");
    match worst {
        Level::Good | Level::Note => output.styled_line(Style::Good, "Nothing keeps the layer from working."),
        Level::Warning => output.styled_line(Style::Warn, "Something may keep the layer from working."),
        Level::Error => output.styled_line(Style::Bad, "Something keeps the layer from working."),
    }
}
