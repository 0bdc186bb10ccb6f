//! `samplin rules`: checks rules files, writes a commented one, and finds the overridden sampler or the repair that breaks a picture.

mod bisect;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use samplin_config::overrides::{Host, Overrides};
use samplin_config::settings::{Level, Problem};
use samplin_core::quirk::Quirks;
use samplin_wire::read;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, ColorChoice, Output, Style, Table};
use crate::trace::reader::{Event, TraceSource};
use crate::trace::record::{counted, grouped};

const SAMPLE: &str = include_str!("../../manifest/samplin.toml");

/// The arguments of `samplin rules`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Command {
    /// Check a rules file; exit status 1 if it has a mistake
    Check(Check),
    /// Write a commented rules file to start from
    New(New),
    /// Run a program several times to find the override, or the repair, that breaks the picture
    Bisect(bisect::Arguments),
}

/// The arguments of `samplin rules check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Check {
    /// The rules file
    pub file: PathBuf,
    /// Also show which rules match the samplers of this trace (of the level all)
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
}

/// The arguments of `samplin rules new`.
#[derive(Clone, Debug, clap::Args)]
pub struct New {
    /// The file to write [default: standard output]
    pub file: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When a file cannot be read or written, or a program cannot be run.
pub fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    match &arguments.command {
        Command::Check(arguments) => check(arguments, output),
        Command::New(arguments) => new(arguments, output),
        Command::Bisect(arguments) => bisect::run(arguments, color, output),
    }
}

/// Reads a rules file.
fn load(path: &Path) -> Result<(String, Overrides, Vec<Problem>)> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    let (overrides, problems) = Overrides::parse(path, &text);
    Ok((text, overrides, problems))
}

/// Reads a rules file of which every part is in force.
///
/// # Errors
///
/// When it cannot be read, or has mistakes: the error lists all of them.
pub(crate) fn load_sound(path: &Path) -> Result<(String, Overrides)> {
    let (text, overrides, problems) = load(path)?;
    Failure::mistakes(problems.iter().map(ToString::to_string).collect())?;
    Ok((text, overrides))
}

fn check(arguments: &Check, output: &mut Output) -> Result {
    let (_, overrides, problems) = load(&arguments.file)?;
    let matches = arguments.trace.as_deref().map(|trace| matches(&overrides, trace)).transpose()?;
    let of = |name: &str| matches.as_ref().map(|counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0));
    let idle: Vec<&str> = overrides.iter().map(|one| one.name.as_str()).filter(|name| of(name) == Some(0)).collect();
    if output.json {
        output.json(&json!({
            "file": arguments.file,
            "rules": overrides.iter().map(|one| json!({
                "name": one.name,
                "line": one.line,
                "samplers": of(&one.name),
            })).collect::<Vec<_>>(),
            "problems": problems,
        }));
        return Ok(Outcome::from_findings(!problems.is_empty()));
    }
    for problem in &problems {
        let style = if problem.level == Level::Error { Style::Bad } else { Style::Warn };
        let position = [problem.line, problem.column].into_iter().flatten().map(|number| format!(":{number}"));
        let position =
            output.styled(Style::Heading, format!("{}{}", arguments.file.display(), position.collect::<String>()));
        let word = output.styled(style, if problem.level == Level::Error { "error" } else { "warning" });
        output.line(format!("{position}: {word}: {}", problem.message));
    }
    let mut table = Table::new(2);
    for one in overrides.iter() {
        let samplers = of(&one.name).map_or_else(String::new, |count| counted(count, "sampler state"));
        table.row([
            Cell::new(format!("line {}", one.line)).style(Style::Dim),
            Cell::new(&one.name).style(Style::Name),
            Cell::new(samplers),
        ]);
    }
    let name = arguments.file.display();
    let count = counted(overrides.iter().count() as u64, "rule");
    if problems.is_empty() {
        output.styled_line(Style::Good, format!("{name}: {count}, no problem"));
    } else {
        output.line(format!("{name}: {count} in force, {}", counted(problems.len() as u64, "problem")));
    }
    output.table(&table);
    for name in idle {
        output.styled_line(Style::Warn, format!("rule {name} matches no sampler of the trace"));
    }
    Ok(Outcome::from_findings(!problems.is_empty()))
}

/// How many sampler states of a trace each rule matches, by what it asks of the sampler.
fn matches(overrides: &Overrides, trace: &Path) -> Result<BTreeMap<String, u64>> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut in_force = overrides.clone();
    let mut created = 0_u64;
    let mut has_every_sampler = false;
    let source = TraceSource::from_argument(trace);
    source.read(true, |record| {
        if !matches!(record.event, Event::Layer | Event::Device | Event::Sampler) {
            return Ok(());
        }
        let Ok(value) = serde_json::from_slice::<Value>(record.text) else { return Ok(()) };
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("");
        match record.event {
            Event::Layer => {
                has_every_sampler |= read::setting(&value, "trace_level") == Some("all");
                // Without the version, which overrides do not look at.
                let name = |key: &str| value.get(key).map(|of| of.get("name").unwrap_or(of)).and_then(Value::as_str);
                let (app, engine) = (name("app").unwrap_or(""), name("engine").unwrap_or(""));
                in_force = overrides.for_host(&Host { exe: text("exe"), app, engine });
            }
            Event::Device => {
                let quirks = value.get("quirks").and_then(Value::as_array).into_iter().flatten();
                let quirks = Quirks::named(quirks.filter_map(Value::as_str));
                in_force = in_force.for_device(text("device"), quirks);
            }
            _ => {
                created += 1;
                let Some(state) = value.get("state").and_then(read::state) else { return Ok(()) };
                if !seen.insert(text("fingerprint").to_owned()) {
                    return Ok(());
                }
                let name = value.get("name").and_then(Value::as_str);
                let bits = in_force.match_sampler(&state, state.fingerprint(), created, name);
                for (index, one) in in_force.iter().enumerate() {
                    *counts.entry(one.name.clone()).or_insert(0) += bits >> index & 1;
                }
            }
        }
        Ok(())
    })?;
    if !has_every_sampler {
        return Err(Failure::input(format!("{}: the trace does not hold every sampler", source.name()))
            .hint("record it with `samplin run --trace-level all -- PROGRAM`"));
    }
    Ok(counts)
}

fn new(arguments: &New, output: &mut Output) -> Result {
    let Some(path) = &arguments.file else {
        output.document(SAMPLE);
        return Ok(Outcome::Fine);
    };
    if path.is_file() && !arguments.force {
        return Err(Failure::usage(format!("{}: the file is there", path.display())).hint("--force overwrites it"));
    }
    crate::files::write_output(path, SAMPLE.as_bytes())?;
    if output.json {
        output.json(&json!({ "file": path }));
        return Ok(Outcome::Fine);
    }
    output.line(format!("{}: {} bytes; every rule in it is switched off", path.display(), grouped(SAMPLE.len())));
    output.line("Use it with `samplin run --rules FILE -- PROGRAM`, or put it into ~/.config/samplin.");
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_without_problems() {
        let (overrides, problems) = Overrides::parse(Path::new("samplin.toml"), SAMPLE);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(overrides.is_empty());
    }
}
