//! `samplin preset`: runs a program with a rules file that is ready, and leaves the file to the player.

pub mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use samplin_platform as platform;
use serde_json::json;

use self::table::{PRESETS, Preset};
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::output::{Cell, ColorChoice, Output, Style, Table};
use crate::run;
use crate::trace::record::counted;

/// The arguments of `samplin preset`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The preset; without it, list all
    #[arg(value_name = "NAME", value_parser = names())]
    pub name: Option<String>,
    /// Print the rules file and write nothing
    #[arg(long, conflicts_with_all = ["output", "program", "force"])]
    pub print: bool,
    /// Where the rules file goes [default: presets/NAME.toml beside samplin's other rules files]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite a rules file that was changed; without this, it is used as it is
    #[arg(long)]
    pub force: bool,
    /// Where the trace goes, as in `samplin run`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Without a display start Xvfb, without a GPU use lavapipe
    #[arg(long)]
    pub headless: bool,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH")]
    pub layer: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

fn names() -> PossibleValuesParser {
    PRESETS.iter().map(|preset| PossibleValue::new(preset.name).help(preset.about)).collect::<Vec<_>>().into()
}

/// Runs the command.
///
/// # Errors
///
/// When the file cannot be written or the program cannot be started.
pub fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    let Some(preset) = arguments.name.as_deref().and_then(Preset::named) else {
        return list(output);
    };
    if arguments.print {
        output.document(&preset.file());
        return Ok(Outcome::Fine);
    }
    let (path, is_changed) = place(preset, arguments)?;
    if arguments.program.is_empty() {
        if output.json {
            output.json(&described(preset, Some(&path)));
        } else {
            print(preset, &path, is_changed, "", output);
            output.line(format!(
                "Use it with `samplin run --rules {}{} -- PROGRAM`.",
                path.display(),
                preset.options()
            ));
        }
        return Ok(Outcome::Fine);
    }
    let mut errors = Output::stderr(color);
    let prefix = errors.styled(Style::Dim, "samplin: ");
    print(preset, &path, is_changed, &prefix, &mut errors);
    errors.finish()?;
    let settings = preset.settings.iter().map(|setting| format!("{}={}", setting.key, setting.value));
    let run = run::Arguments {
        set: settings.collect(),
        rules: Some(path),
        trace: arguments.trace.clone(),
        headless: arguments.headless,
        layer: arguments.layer.clone(),
        program: arguments.program.clone(),
        ..run::Arguments::default()
    };
    run::run(&run, color, output)
}

/// Where the rules file is, which is written unless it is there; and whether it is another one than the preset has.
fn place(preset: &Preset, arguments: &Arguments) -> Result<(PathBuf, bool)> {
    let text = preset.file();
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => platform::config_folder()
            .ok_or_else(|| {
                Failure::environment("there is no home folder for the rules file").hint("name one with -o FILE")
            })?
            .join("samplin/presets")
            .join(format!("{}.toml", preset.name)),
    };
    let there = std::fs::read(&path).ok().filter(|_| !arguments.force);
    if let Some(there) = there.filter(|there| !there.is_empty()) {
        return Ok((path, there != text.as_bytes()));
    }
    if arguments.output.is_none() {
        files::write_atomically(&path, text.as_bytes()).map_err(|error| {
            Failure::environment(format!("{}: {error}", path.display())).hint("name a file with -o FILE")
        })?;
    } else {
        files::write_output(&path, text.as_bytes())?;
    }
    Ok((path, false))
}

fn print(preset: &Preset, path: &Path, is_changed: bool, prefix: &str, output: &mut Output) {
    let count = |count: usize, what: &str| counted(count as u64, what);
    let mut holds = count(preset.rules.iter().filter(|rule| rule.is_on).count(), "rule");
    if !preset.settings.is_empty() {
        holds += &format!(" and {}", count(preset.settings.len(), "setting"));
    }
    let name = output.styled(Style::Name, preset.name);
    output.line(format!("{prefix}preset {name}, {holds}: {}", path.display()));
    if is_changed {
        let text = "this file is not as the preset has it, and is used as it is; --force overwrites it";
        let text = output.styled(Style::Warn, text);
        output.line(format!("{prefix}{text}"));
    }
}

fn described(preset: &Preset, file: Option<&Path>) -> serde_json::Value {
    let settings: serde_json::Map<_, _> =
        preset.settings.iter().map(|setting| (setting.key.to_owned(), setting.value.into())).collect();
    json!({
        "preset": preset.name,
        "about": preset.about,
        "file": file,
        "settings": settings,
        "rules": preset.rules.iter().filter(|rule| rule.is_on).map(|rule| rule.name).collect::<Vec<_>>(),
    })
}

fn list(output: &mut Output) -> Result {
    if output.json {
        output.json(&PRESETS.iter().map(|preset| described(preset, None)).collect::<Vec<_>>());
        return Ok(Outcome::Fine);
    }
    let mut table = Table::new(2);
    for preset in PRESETS {
        table.row([Cell::new(preset.name).style(Style::Name), Cell::new(preset.about)]);
    }
    output.table(&table);
    output.line("Run a program with one: samplin preset NAME -- PROGRAM");
    Ok(Outcome::Fine)
}
