//! The `samplin` command line tool: runs programs under the layer, reads its traces, explains and predicts.
//!
//! A library only so that its tests and benchmarks reach inside; [`main`] is the program. Start reading at [`Command`];
//! each subcommand is a module of its name with an `Arguments` and a `run`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::CompleteEnv;

pub mod caps;
pub mod check;
pub mod complete;
pub mod devices;
pub mod diff;
pub mod doctor;
pub mod elf;
pub mod explain;
#[cfg(feature = "parquet")]
pub mod export;
pub mod failure;
pub mod files;
pub mod folders;
pub mod inspect;
pub mod install;
mod judged;
pub mod layer;
pub mod looked;
pub mod manual;
pub mod os;
pub mod output;
#[cfg(test)]
mod pages;
pub mod predict;
pub mod preset;
pub mod prove;
pub mod report;
pub mod reproduce;
pub mod rules;
pub mod run;
pub mod settings;
pub mod story;
pub mod system;
pub mod trace;
pub mod watch;

use self::failure::{Failure, Outcome};
use self::output::{ColorChoice, Output, Style};

/// The command line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "samplin",
    version = env!("SAMPLIN_VERSION"),
    about = "Makes Vulkan texture sampling legal, portable and explained",
    long_about = "Makes Vulkan texture sampling legal, portable and explained.\n\n`samplin run -- PROGRAM` runs a program under the layer. The other commands read its trace, predict what other devices would do, and manage the installation.",
    after_help = "Exit status: 0 fine, 1 findings, 2 wrong usage, 3 an input cannot be read, 4 the system lacks something.\n`run` passes on the program's status: 128 + n if signal n ended it, 126 if it cannot be executed, 127 if it does not exist.",
    arg_required_else_help = true,
    disable_help_subcommand = true,
    infer_subcommands = true
)]
pub struct CommandLine {
    // What every command takes follows what is its own; clap gives --help 999.
    /// Print JSON
    #[arg(long, global = true, display_order = 997)]
    pub json: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", display_order = 998)]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run a program under the layer and sum up what the layer did
    Run(run::Arguments),
    /// Follow programs that run, in the terminal: what is repaired, what is left, frames, limits; switch repairs off and on
    Watch(watch::Arguments),
    /// Show what traces contain: changes with their reasons, counts, and what is unresolved
    Inspect(inspect::Arguments),
    /// Explain a rule, a valid-usage id, a name of what is left or a setting, and how to repair it
    Explain(explain::Arguments),
    /// Show every setting: its value here, who set it, its default
    Settings(settings::Arguments),
    /// Write an HTML page about a run: findings, charts, devices
    Report(report::Arguments),
    /// Compare the decisions of two runs; exit status 1 if they differ
    Diff(diff::Arguments),
    /// Check a run in continuous integration; exit status 1 on findings
    Check(check::Arguments),
    /// Write traces as Parquet tables, for SQL over the runs of many machines
    #[cfg(feature = "parquet")]
    Export(export::Arguments),
    /// Show what devices can filter, compare and store, and which borders they have
    Caps(caps::Arguments),
    /// Predict the decisions of a recorded run on another device
    Predict(predict::Arguments),
    /// Try a run's pairs on this driver, as asked for and as repaired; exit status 1 if the driver is wrong or a repair does not hold
    Prove(prove::Arguments),
    /// Write a pair of a run as a program of its own, in C++ or Rust
    Reproduce(reproduce::Arguments),
    /// Run a program with a ready rules file: sharp, smooth-depth, retro or safe
    Preset(preset::Arguments),
    /// Check and write rules files, and find the override that breaks a picture
    Rules(rules::Arguments),
    /// Put the layer where the Vulkan loader finds it
    Install(install::Arguments),
    /// Remove the layer
    Uninstall(install::Removal),
    /// Find what keeps the layer from working; exit status 1 on findings
    Doctor(doctor::Arguments),
    /// Print the completions for a shell
    Completions(manual::Completions),
    /// Print a manual page, or write all of them
    Man(manual::Arguments),
}

/// Runs the program with this process's arguments.
pub fn main() -> ExitCode {
    // A shell that wants completions says so in the environment; this ends the process then.
    CompleteEnv::with_factory(command).complete();
    start(std::env::args_os())
}

fn start(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = command().try_get_matches_from(arguments);
    let line = match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => line,
        Err(error) => {
            // Help and version are no errors; the stream may be closed.
            let status = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let mut output = Output::stdout(line.color, line.json);
    let result = dispatch(&line, &mut output);
    // What was written belongs before the message about what was not.
    let finished = output.finish();
    match result.and_then(|outcome| finished.map(|()| outcome)) {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            complain(&failure, line.color);
            ExitCode::from(failure.kind as u8)
        }
    }
}

fn complain(failure: &Failure, color: ColorChoice) {
    let mut errors = Output::stderr(color);
    let prefix = errors.styled(Style::Bad, "samplin:");
    for message in std::iter::once(&failure.message).chain(&failure.more) {
        errors.line(format!("{prefix} {message}"));
    }
    if let Some(hint) = &failure.hint {
        let prefix = errors.styled(Style::Dim, "samplin:");
        errors.line(format!("{prefix} {hint}"));
    }
    // There is nobody left to tell.
    let _ = errors.finish();
}

fn dispatch(line: &CommandLine, output: &mut Output) -> failure::Result<Outcome> {
    match &line.command {
        Command::Run(arguments) => run::run(arguments, line.color, output),
        Command::Watch(arguments) => watch::run(arguments, line.color, output),
        Command::Inspect(arguments) => inspect::run(arguments, output),
        Command::Report(arguments) => report::run(arguments, output),
        Command::Diff(arguments) => diff::run(arguments, output),
        Command::Check(arguments) => check::run(arguments, output),
        #[cfg(feature = "parquet")]
        Command::Export(arguments) => export::run(arguments, output),
        Command::Caps(arguments) => caps::run(arguments, output),
        Command::Predict(arguments) => predict::run(arguments, output),
        Command::Prove(arguments) => prove::run(arguments, output),
        Command::Reproduce(arguments) => reproduce::run(arguments, output),
        Command::Explain(arguments) => explain::run(arguments, output),
        Command::Settings(arguments) => settings::run(arguments, output),
        Command::Preset(arguments) => preset::run(arguments, line.color, output),
        Command::Rules(arguments) => rules::run(arguments, line.color, output),
        Command::Install(arguments) => install::run(arguments, output),
        Command::Uninstall(arguments) => install::uninstall(arguments, output),
        Command::Doctor(arguments) => doctor::run(arguments, output),
        Command::Completions(arguments) => manual::completions(arguments, output),
        Command::Man(arguments) => manual::man(arguments, output),
    }
}

/// The description of the command line, with examples and completions.
pub fn command() -> clap::Command {
    complete::with_completers(manual::with_examples(CommandLine::command()))
}
