//! `samplin settings`: what each setting means, its value in this environment, and who set it.

use std::path::PathBuf;

use samplin_config::overrides::{self, Overrides};
use samplin_config::settings::{self as config, Level, Loaded, Problem};
use serde::Serialize;

use crate::devices;
use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table};

/// The arguments of `samplin settings`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// One setting: mode, SAMPLIN_MODE and samplin.mode are the same
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
}

/// A value of an enumeration.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    /// The word.
    pub value: String,
    /// What it means.
    pub meaning: String,
}

/// A setting with its value.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// Its name.
    pub key: String,
    /// The environment variable.
    pub variable: String,
    /// What is in force.
    pub value: String,
    /// Who set it.
    pub source: config::SettingSource,
    /// What is in force if nobody sets it.
    pub default: String,
    /// What it is for.
    pub description: String,
    /// The words that it takes, if it takes words.
    pub values: Vec<Value>,
}

impl Described {
    /// Whether a word is this setting's name, in any of its spellings.
    pub fn is_called(&self, word: &str) -> bool {
        let bare = word.strip_prefix("samplin.").unwrap_or(word);
        bare.eq_ignore_ascii_case(&self.key) || word.eq_ignore_ascii_case(&self.variable)
    }
}

/// The settings that a program started here would have, but for what it sets itself.
pub fn load() -> Loaded {
    let mut loaded = config::load(&[]);
    if let Some(Ok(quirks)) = loaded.settings.device.as_deref().map(devices::quirks) {
        quirks.defaults().for_each(|(name, text)| loaded.default_to(name, text));
    }
    loaded
}

/// The rules files that the layer may read: the one that is set, else all that it looks for.
pub fn rules_files(loaded: &Loaded) -> Vec<PathBuf> {
    match &loaded.settings.config {
        Some(path) => vec![samplin_platform::home_path(path)],
        None => overrides::automatic_files(),
    }
}

/// What is wrong with the settings, with the device that they name, and with rules files.
fn problems(loaded: &Loaded) -> Vec<Problem> {
    let mut problems = loaded.problems.clone();
    let device = loaded.settings.device.as_deref().map(devices::simulated);
    if let Some(Err(failure)) = device {
        let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        problems.push(Problem {
            level: Level::Error,
            key: "device".into(),
            file: None,
            line: None,
            column: None,
            message: failure.message + &hint,
        });
    }
    problems.extend(rules_files(loaded).iter().flat_map(|path| Overrides::load(path).1));
    problems
}

/// Every setting, in the order of the table.
pub fn described(loaded: &Loaded) -> Vec<Described> {
    let of = |(row, (_, value, source)): (&config::Described, &(_, String, _))| Described {
        key: row.name.to_owned(),
        variable: row.variable(),
        value: value.clone(),
        source: *source,
        default: config::default_of(row.name),
        description: row.about().to_owned(),
        values: row.words().iter().map(|one| Value { value: one.word.into(), meaning: one.meaning().into() }).collect(),
    };
    config::DESCRIBED.iter().zip(&loaded.sources).map(of).collect()
}

/// Who set it, in a word.
fn source(source: config::SettingSource) -> &'static str {
    match source {
        config::SettingSource::Default => "default",
        config::SettingSource::File => "file",
        config::SettingSource::Environment => "environment",
        config::SettingSource::Application => "application",
    }
}

/// Prints all that is known of a setting.
pub fn print(setting: &Described, output: &mut Output) {
    output.styled_line(Style::Heading, format!("{} (setting)", setting.key));
    output.line(&setting.description);
    let mut table = Table::new(2);
    table.row([
        Cell::new("value").style(Style::Dim),
        Cell::new(format!("{} ({})", setting.value, source(setting.source))),
    ]);
    table.row([Cell::new("default").style(Style::Dim), Cell::new(&setting.default)]);
    table.row([
        Cell::new("set it").style(Style::Dim),
        Cell::new(format!(
            "{}=… in the environment, samplin.{} = … in vk_layer_settings.txt",
            setting.variable, setting.key
        )),
    ]);
    output.table(&table);
    if !setting.values.is_empty() {
        let mut table = Table::new(2);
        for value in &setting.values {
            table.row([Cell::new(&value.value).style(Style::Name), Cell::new(&value.meaning)]);
        }
        output.table(&table);
    }
}

/// Runs the command.
///
/// # Errors
///
/// When there is no such setting.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let loaded = load();
    let mut settings = described(&loaded);
    let problems = problems(&loaded);
    if let Some(key) = &arguments.key {
        let keys: Vec<String> = settings.iter().map(|setting| setting.key.clone()).collect();
        settings.retain(|setting| setting.is_called(key));
        if settings.is_empty() {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let hint = config::nearest(key, &keys)
                .map_or_else(|| format!("there are {}", keys.join(", ")), |near| format!("did you mean {near}?"));
            return Err(Failure::usage(format!("there is no setting {key}")).hint(hint));
        }
    }
    if output.json {
        output.json(&serde_json::json!({ "settings": settings, "problems": problems }));
        return Ok(Outcome::from_findings(!problems.is_empty()));
    }
    if arguments.key.is_some() {
        settings.iter().for_each(|setting| print(setting, output));
    } else {
        let mut table = Table::new(0);
        table.heading(["setting", "value", "set by", "default"]);
        for setting in &settings {
            let is_set = setting.source != config::SettingSource::Default;
            table.row([
                Cell::new(&setting.key).style(Style::Name),
                Cell::new(&setting.value).style(if is_set { Style::Heading } else { Style::Plain }),
                Cell::new(source(setting.source)).style(Style::Dim),
                Cell::new(&setting.default).style(Style::Dim),
            ]);
        }
        output.table(&table);
        output.line("");
        output.styled_line(
            Style::Dim,
            "`samplin settings KEY` explains one. A program may set others itself, through VK_EXT_layer_settings.",
        );
    }
    for problem in &problems {
        output.styled_line(Style::Bad, problem);
    }
    Ok(Outcome::from_findings(!problems.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_described_with_its_default() {
        let loaded = load();
        let described = described(&loaded);
        assert_eq!(described.len(), loaded.sources.len());
        for setting in &described {
            assert!(setting.description.ends_with('.'), "{}", setting.key);
            if !setting.values.is_empty() {
                assert!(setting.values.iter().any(|value| value.value == setting.default), "{}", setting.key);
            }
        }
    }

    #[test]
    fn a_setting_has_three_spellings() {
        let described = described(&load());
        let mode = described.first().unwrap();
        assert!(["mode", "SAMPLIN_MODE", "samplin.mode", "Mode"].into_iter().all(|word| mode.is_called(word)));
        assert!(!mode.is_called("mod"));
    }
}
