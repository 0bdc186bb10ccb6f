//! Layer settings: what they mean, where they come from, which one wins.
//!
//! Start at [`load`]. It gathers what each source says as text, then checks every value against the table `KEYS`; a
//! mistake becomes a [`Problem`] and changes nothing, so loading never fails and never prints.
//!
//! | precedence | source | spelling of `mode` |
//! |---|---|---|
//! | 1 (wins) | environment | `SAMPLIN_MODE` |
//! | 2 | `vk_layer_settings.txt` | `samplin.mode`, or `samplin_sampling.mode` as Vulkan Configurator writes it |
//! | 3 | the application, by `VK_EXT_layer_settings` | `mode` |
//! | 4 | default | |
//!
//! Source of that order: Vulkan-Utility-Libraries `docs/layer_configuration.md` (read at 245b48c, headers 1.4.360): "here is
//! the priority order: 1. Environment variables. 2. Using dedicated Vulkan system files. 3. Using the Vulkan API". A value
//! that a source gets wrong counts as not given, so the next source decides. An empty value counts as not given too:
//! Vulkan Configurator writes one for each path that is left at its default.
//!
//! This module does not know what a setting does, and reads no rules or capability file.

mod file;
#[macro_use]
mod kinds;
mod suggest;
mod table;
mod values;

use std::fmt::{self, Display};

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};

use samplin_platform as platform;

use self::kinds::Wrong;
pub use self::kinds::{Described, Form, Word};
pub use self::suggest::nearest;
use self::table::KEYS;
pub use self::table::*;
pub use self::values::{Counters, TraceTarget};

/// Where the value of a setting came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingSource {
    /// Nobody set it.
    Default,
    /// `vk_layer_settings.txt`.
    File,
    /// An environment variable.
    Environment,
    /// The application, by `VK_EXT_layer_settings`.
    Application,
}

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What was asked for is not done.
    Error,
    /// What was asked for is done, but probably not what was meant.
    Warning,
}

/// Something wrong with the settings, the rules or the trace's target. It is also the body of a `settings` record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// How bad it is.
    pub level: Level,
    /// The setting, spelled as its source spells it: `SAMPLIN_MODE`, `samplin.mode` or `mode`.
    pub key: String,
    /// The path of the file it is written in; `None` if it is not in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The character in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What is wrong and what to write instead, in one line.
    pub message: String,
}

impl Display for Problem {
    /// Writes `file:line:column: error: key: message`, without the parts that are not known.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            out.write_str(file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(out, ":{number}")?;
            }
            out.write_str(": ")?;
        }
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        write!(out, "{level}: {}: {}", self.key, self.message)
    }
}

/// What [`load`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The settings in effect.
    pub settings: Settings,
    /// Each setting's name, its effective value as text and its source, in the order of `KEYS`.
    pub sources: Vec<(&'static str, String, SettingSource)>,
    /// What was wrong, in the order in which it was met.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// The settings as a JSON object for the `layer` record: `{"mode": {"value": "audit", "source": "environment"}, …}`.
    pub fn effective(&self) -> impl Serialize + '_ {
        Effective(&self.sources)
    }

    /// Sets a setting that nobody has set: to what it is on a device that the layer knows something of.
    pub fn default_to(&mut self, name: &str, text: &str) {
        let of = |(key, ..): &&mut (&str, String, SettingSource)| *key == name;
        let found = KEYS.iter().find(|key| key.name == name).zip(self.sources.iter_mut().find(of));
        if let Some((key, (_, value, SettingSource::Default))) = found
            && (key.set)(&mut self.settings, text).is_ok()
        {
            *value = (key.show)(&self.settings);
        }
    }
}

struct Effective<'a>(&'a [(&'static str, String, SettingSource)]);

impl Serialize for Effective<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Entry<'a>(&'a str, SettingSource);
        impl Serialize for Entry<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut entry = serializer.serialize_struct("Entry", 2)?;
                entry.serialize_field("value", self.0)?;
                entry.serialize_field("source", &self.1)?;
                entry.end()
            }
        }
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value, source) in self.0 {
            map.serialize_entry(key, &Entry(value, *source))?;
        }
        map.end()
    }
}

/// What one source says about one key, before anybody has checked it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Raw {
    source: SettingSource,
    /// The key as written.
    spelled: String,
    /// The key without its prefix, in lower case.
    key: String,
    /// `None` if it is not UTF-8.
    value: Option<String>,
    position: Position,
}

/// Where in a file something is written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Position {
    file: Option<String>,
    line: Option<u32>,
    /// The columns of the key and of the value.
    columns: Option<(u32, u32)>,
}

/// Reads the settings of this process for a new instance.
///
/// `application`: the (key, value) pairs of the `VkLayerSettingsCreateInfoEXT` structures that name this layer, in chain
/// order, as text: a boolean as `true` / `false`, a number in decimal. "When multiple VkLayerSettingsCreateInfoEXT
/// structures are chained and the same pSettingName is referenced for the same pLayerName, the value of the first reference
/// of the layer setting is used" (Vulkan specification, VkLayerSettingEXT).
///
/// Errors are in [`Loaded::problems`]: an unknown key, a wrong value, a setting given twice, a file that cannot be read.
/// When the process [is elevated](platform::is_elevated), only the application is asked.
pub fn load(application: &[(String, String)]) -> Loaded {
    let file = file::find();
    let environment = platform::env_with_prefix(PREFIX);
    resolve(application, file, environment)
}

/// A setting's default as text; empty for what is no setting.
pub fn default_of(name: &str) -> String {
    KEYS.iter().find(|key| key.name == name).map_or_else(String::new, |key| (key.show)(&Settings::default()))
}

/// What the environment says about `log`, and nobody else: for what happens before there is an instance.
pub fn log_of_environment() -> Log {
    let text = platform::env("SAMPLIN_LOG");
    text.and_then(|text| Log::from_word(text.trim())).unwrap_or_default()
}

/// The settings file that counts for this process, if there is one.
pub fn settings_file() -> Option<std::path::PathBuf> {
    file::locate().0
}

/// The prefix of the environment variables.
const PREFIX: &str = "SAMPLIN_";

/// Whether an environment variable with the layer's prefix is something else than a setting: `SAMPLIN_LAYER_DIR` and
/// `SAMPLIN_TEST_…` belong to the project's own scripts and tests.
fn is_reserved(variable: &str) -> bool {
    variable == "SAMPLIN_LAYER_DIR" || variable.starts_with("SAMPLIN_TEST_")
}

/// [`load`], with everything it would read given.
fn resolve(
    application: &[(String, String)],
    file: file::ParsedFile,
    environment: Vec<(String, Option<String>)>,
) -> Loaded {
    let mut problems = Vec::new();
    // Lowest precedence first.
    let mut raws = from_application(application);
    problems.extend(file.problems);
    raws.extend(file.raws);
    raws.extend(from_environment(environment));

    let mut settings = Settings::default();
    let mut sources = KEYS.map(|_| SettingSource::Default);
    for raw in raws {
        let known = KEYS.iter().zip(&mut sources).find(|(k, _)| k.name == raw.key);
        let Some((key, source)) = known else {
            problems.push(unknown(&raw));
            continue;
        };
        let Some(value) = &raw.value else {
            problems.push(raw.problem(Level::Error, "the value is not UTF-8 and is ignored".into()));
            continue;
        };
        let value = value.trim();
        if value.is_empty() {
            continue;
        }
        match (key.set)(&mut settings, value) {
            Ok(()) => {
                *source = raw.source;
                if let Some(doubt) = (key.doubt)(value) {
                    problems.push(raw.problem(Level::Warning, doubt));
                }
            }
            Err(Wrong(words)) => {
                let mut message = format!("\"{}\" is not one of {}", quote(value), words.join(", "));
                if let Some(near) = nearest(value, words) {
                    message += &format!("; did you mean \"{near}\"?");
                }
                problems.push(raw.problem(Level::Error, message));
            }
        }
    }
    let sources = KEYS.iter().zip(sources).map(|(key, source)| (key.name, (key.show)(&settings), source)).collect();
    Loaded { settings, sources, problems }
}

/// The start of a text for a message of one line.
fn quote(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut quoted: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        quoted.push('…');
    }
    quoted
}

fn from_application(pairs: &[(String, String)]) -> Vec<Raw> {
    let mut raws: Vec<Raw> = Vec::with_capacity(pairs.len());
    for (spelled, value) in pairs {
        let key = spelled.to_ascii_lowercase();
        // The first reference counts.
        if raws.iter().any(|raw| raw.key == key) {
            continue;
        }
        raws.push(Raw {
            source: SettingSource::Application,
            spelled: spelled.clone(),
            key,
            value: Some(value.clone()),
            position: Position::default(),
        });
    }
    raws
}

fn from_environment(variables: Vec<(String, Option<String>)>) -> Vec<Raw> {
    variables
        .into_iter()
        .filter(|(name, _)| !is_reserved(name))
        .map(|(spelled, value)| Raw {
            source: SettingSource::Environment,
            // Variables are upper case: `SAMPLIN_mode` is not one of ours, and the message says so.
            key: match spelled.strip_prefix(PREFIX) {
                Some(rest) if rest == rest.to_ascii_uppercase() => rest.to_ascii_lowercase(),
                _ => spelled.clone(),
            },
            spelled,
            value,
            position: Position::default(),
        })
        .collect()
}

fn unknown(raw: &Raw) -> Problem {
    let names = KEYS.map(|key| key.name);
    let bare = raw.key.strip_prefix(PREFIX).unwrap_or(&raw.key);
    let near = nearest(bare, &names).map(|name| match raw.source {
        SettingSource::Environment => format!("{PREFIX}{}", name.to_ascii_uppercase()),
        SettingSource::File => format!("{}.{name}", file::PREFIXES[0]),
        SettingSource::Application | SettingSource::Default => name.to_owned(),
    });
    let message = match near {
        Some(near) => format!("there is no such setting; did you mean {near}?"),
        None => format!("there is no such setting; there are {}", names.join(", ")),
    };
    raw.problem(Level::Error, message)
}

impl Raw {
    /// A problem at this position: at the key for an unknown one, else at the value.
    fn problem(&self, level: Level, message: String) -> Problem {
        let is_known = KEYS.iter().any(|key| key.name == self.key);
        Problem {
            level,
            key: self.spelled.clone(),
            file: self.position.file.clone(),
            line: self.position.line,
            column: self.position.columns.map(|(key, value)| if is_known { value } else { key }),
            message,
        }
    }
}

#[cfg(test)]
mod tests;
