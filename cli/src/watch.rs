//! `samplin watch`: a page in the terminal that follows traces as they grow.

pub mod app;
pub mod detail;
pub mod find;
pub mod follow;
pub mod model;
pub mod page;
mod program;
pub mod rows;
pub mod rules;
mod terminal;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use samplin_platform as platform;

use self::app::App;
use self::find::{Target, Tree};
use self::follow::Look;
use self::model::{Model, describe, trouble};
use self::program::Program;
use self::rows::Tab;
use crate::failure::{Failure, Outcome, Result};
use crate::folders;
use crate::output::{Cell, ColorChoice, Output, Style, Table};
use crate::trace::record::more;

/// How many rows of each list `--once` prints.
const ONCE: usize = 10;

/// The arguments of `samplin watch`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A process id, traces, or a folder of traces; without it, traces of programs that run, else the newest one
    #[arg(value_name = "PID|TRACE")]
    pub what: Vec<PathBuf>,
    /// Print what there is now and end, as text or with --json
    #[arg(long, conflicts_with = "program")]
    pub once: bool,
    /// The rules file that keys write [default: the one that the program reads]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// A setting of the layer; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "program")]
    pub set: Vec<String>,
    /// Without a display start Xvfb, without a GPU use lavapipe
    #[arg(long, requires = "program")]
    pub headless: bool,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH", requires = "program")]
    pub layer: Option<PathBuf>,
    /// A program to run under the layer, and its arguments
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "what")]
    pub program: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
///
/// When there is nothing to watch, or no terminal to show it in.
pub fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    let is_once = arguments.once || output.json;
    if !is_once && !std::io::stdout().is_terminal() {
        return Err(Failure::usage("standard output is no terminal").hint("--once prints what there is now"));
    }
    if is_once && !arguments.program.is_empty() {
        return Err(Failure::usage("a program is watched in a terminal").hint("`samplin run --json` sums up a run"));
    }
    if is_once {
        let mut model = Model::new(target(arguments)?);
        model.look_around();
        while model.read(u64::MAX) == Look::Behind {}
        return once(model, arguments, output);
    }
    let (target, mut program) = match arguments.program.as_slice() {
        [] => (target(arguments)?, None),
        words => {
            let tree = Tree::planned();
            (Target::Tree(tree), Some(Program::start(&options(arguments), arguments.rules.as_deref(), words)?))
        }
    };
    let mut model = Model::new(target);
    if let Some(program) = &program {
        model.begin(program.process());
    }
    let rules = program.as_ref().map_or_else(|| arguments.rules.clone(), |program| program.rules.clone());
    let mut app = App::new(model, rules);
    let shown = terminal::run(&mut app, program.as_mut());
    let Some(mut program) = program else {
        shown.map_err(|error| Failure::environment(format!("the terminal: {error}")))?;
        return Ok(Outcome::Fine);
    };
    program.end();
    let mut errors = Output::stderr(color);
    let prefix = errors.styled(Style::Dim, "samplin:");
    for process in &app.model.processes {
        errors.line(format!("{prefix} {}: trace {}", describe(process), process.tail.path.display()));
    }
    errors.line(format!("{prefix} the program's output is in {}", program.log.display()));
    if let Some(rules) = program.new_rules() {
        errors.line(format!("{prefix} the rules are in {}; keep a copy for --rules", rules.display()));
    }
    errors.finish()?;
    shown.map_err(|error| Failure::environment(format!("the terminal: {error}")))?;
    Ok(program.status().map_or(Outcome::Fine, Outcome::Status))
}

/// The options of `samplin run`.
fn options(arguments: &Arguments) -> Vec<OsString> {
    let mut options = Vec::new();
    arguments.layer.iter().for_each(|layer| options.extend(["--layer".into(), layer.into()]));
    arguments.set.iter().for_each(|set| options.extend(["--set".into(), set.into()]));
    options.extend(arguments.headless.then(|| "--headless".into()));
    options
}

/// What is to be watched.
fn target(arguments: &Arguments) -> Result<Target> {
    match arguments.what.as_slice() {
        [] => {
            let folder = folders::traces().ok_or_else(|| {
                Failure::input("there is no trace: neither XDG_STATE_HOME nor HOME is an absolute path")
            })?;
            if folders::newest_trace(&folder).is_none() && arguments.once {
                return Err(Failure::input(format!("{}: there is no trace", folder.display()))
                    .hint("make one with `samplin run -- PROGRAM`, or name a file"));
            }
            Ok(Target::Folder(folder))
        }
        [one] if one.is_dir() => Ok(Target::Folder(one.clone())),
        [one] if process(one).is_some_and(|_| !one.exists()) => {
            let process = process(one).unwrap_or_default();
            if !platform::process_exists(process) {
                return Err(Failure::input(format!("there is no process {process}")));
            }
            Ok(Target::Tree(Tree::running(process)))
        }
        files => {
            if let Some(folder) = files.iter().find(|path| path.is_dir()) {
                return Err(Failure::usage(format!("{}: name one folder alone, or files", folder.display())));
            }
            Ok(Target::Files(files.to_vec()))
        }
    }
}

fn process(argument: &Path) -> Option<u32> {
    argument.to_str()?.parse().ok()
}

/// Prints what there is.
fn once(model: Model, arguments: &Arguments, output: &mut Output) -> Result {
    let troubles: Vec<String> = model
        .processes
        .iter()
        .filter_map(|process| Some(format!("{}: {}", process.tail.path.display(), process.tail.trouble.as_ref()?)))
        .collect();
    if !troubles.is_empty() && troubles.len() == model.processes.len() {
        return Err(Failure::input(troubles.join("; ")));
    }
    if model.processes.is_empty() {
        return Err(Failure::input("no trace was found")
            .hint("does the program run under the layer? `samplin doctor` looks for the reason"));
    }
    if output.json {
        output.json(&model.json());
        return Ok(Outcome::Fine);
    }
    for process in &model.processes {
        let trouble = trouble(process).map(|trouble| format!(" ({trouble})")).unwrap_or_default();
        output.styled_line(Style::Heading, format!("{}: {}{trouble}", describe(process), process.tail.path.display()));
    }
    let mut app = App::new(model, arguments.rules.clone());
    app.look_at_rules();
    for (tab, name, columns) in Tab::ALL {
        app.tab = tab;
        app.refresh();
        if app.rows.is_empty() {
            continue;
        }
        output.line("");
        output.styled_line(Style::Heading, name);
        let mut table = Table::new(2);
        table.heading(columns.iter().copied());
        for row in app.rows.iter().take(ONCE) {
            let style = if row.is_warning { Style::Warn } else { Style::Plain };
            table.row(row.cells.iter().map(|cell| Cell::new(cell).style(style)));
        }
        output.table(&table);
        if let Some(more) = more(app.rows.len(), ONCE) {
            output.line(format!("  {more}"));
        }
    }
    Ok(Outcome::Fine)
}
