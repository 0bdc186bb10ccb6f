//! `vk_layer_settings.txt`: where it is and what it says about this layer.
//!
//! The format is that of Vulkan-Utility-Libraries (`layer_settings_manager.cpp`, `ParseSettingsFile`, read at 245b48c):
//! `<layer>.<setting> = <value>` lines, `#` starts a comment anywhere in a line, the last line about a setting counts.

use std::path::{Path, PathBuf};

use super::{Level, Position, Problem, Raw, SettingSource};
use samplin_platform as platform;

/// What may stand before the dot: the short name, and the one that Vulkan Configurator derives from
/// `VK_LAYER_SAMPLIN_sampling` (lower case, without `VK_LAYER_`).
pub(super) const PREFIXES: [&str; 2] = ["samplin", "samplin_sampling"];

const NAME: &str = "vk_layer_settings.txt";

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What the file says about this layer, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct ParsedFile {
    pub(super) raws: Vec<Raw>,
    pub(super) problems: Vec<Problem>,
}

/// Finds and reads the settings file, the first that exists of
///
/// 1. `VK_LAYER_SETTINGS_PATH`, a file of any name or a folder that holds `vk_layer_settings.txt`,
/// 2. `vk_layer_settings.txt` in the working directory,
/// 3. `vulkan/settings.d/vk_layer_settings.txt` in `$XDG_DATA_HOME`, else `~/.local/share`, where Vulkan Configurator
///    leaves it.
///
/// Source: Vulkan-Utility-Libraries `docs/layer_configuration.md`: "if a file is found in the working directory of the
/// targeted application, the Vulkan Layer Settings library will bypass the layer settings created by Vulkan Configurator".
/// (The library's code asks for the third one first. samplin follows the text, in which the most specific one wins.)
///
/// Nothing is found when the process [is elevated](platform::is_elevated).
pub(super) fn find() -> ParsedFile {
    let (path, problem) = locate();
    let mut found = path.map_or_else(ParsedFile::default, |path| read(&path));
    found.problems.splice(0..0, problem);
    found
}

/// The settings file that counts, and what is wrong with the one that was named.
pub(super) fn locate() -> (Option<PathBuf>, Option<Problem>) {
    if platform::is_elevated() {
        return (None, None);
    }
    let mut problem = None;
    let mut paths = Vec::new();
    if let Some(named) = platform::env("VK_LAYER_SETTINGS_PATH") {
        let mut path = PathBuf::from(&named);
        if platform::is_folder(&path) {
            path.push(NAME);
        }
        if !platform::exists(&path) {
            problem = Some(Problem {
                level: Level::Warning,
                key: "VK_LAYER_SETTINGS_PATH".to_owned(),
                file: Some(path.to_string_lossy().into_owned()),
                line: None,
                column: None,
                message: "there is no such settings file; the usual places are searched".to_owned(),
            });
        }
        paths.push(path);
    }
    paths.push(PathBuf::from(NAME));
    paths.extend(platform::data_folder().map(|f| f.join("vulkan/settings.d").join(NAME)));
    (paths.into_iter().find(|path| platform::exists(path)), problem)
}

fn read(path: &Path) -> ParsedFile {
    let shown = path.to_string_lossy().into_owned();
    match platform::read_regular(path, LARGEST) {
        Ok(bytes) => parse(&shown, &String::from_utf8_lossy(&bytes)),
        Err(why) => ParsedFile {
            raws: Vec::new(),
            problems: vec![Problem {
                level: Level::Error,
                key: NAME.to_owned(),
                file: Some(shown),
                line: None,
                column: None,
                message: format!("the settings file cannot be read: {why}"),
            }],
        },
    }
}

/// Takes the lines about this layer out of the text of a settings file. `file` is the path for messages.
pub(super) fn parse(file: &str, text: &str) -> ParsedFile {
    let mut found = ParsedFile::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, whole) in text.lines().enumerate() {
        let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let content = whole.split('#').next().unwrap_or_default();
        let (left, value) = match content.split_once('=') {
            Some((left, right)) => (left, Some(right)),
            None => (content, None),
        };
        let spelled = left.trim();
        let Some(key) = own_key(spelled) else {
            continue;
        };
        let key_column = column(content, spelled);
        let Some(value) = value else {
            found.problems.push(Problem {
                level: Level::Error,
                key: spelled.to_owned(),
                file: Some(file.to_owned()),
                line: Some(line),
                column: Some(key_column),
                message: "there is no \"=\" in this line, which is ignored".to_owned(),
            });
            continue;
        };
        let value = value.trim();
        if let Some(index) = found.raws.iter().position(|raw| raw.key == key) {
            let earlier = found.raws.remove(index).position.line.unwrap_or(0);
            found.problems.push(Problem {
                level: Level::Warning,
                key: spelled.to_owned(),
                file: Some(file.to_owned()),
                line: Some(line),
                column: Some(key_column),
                message: format!("line {earlier} sets this too and is ignored"),
            });
        }
        found.raws.push(Raw {
            source: SettingSource::File,
            spelled: spelled.to_owned(),
            key,
            value: Some(value.to_owned()),
            position: Position {
                file: Some(file.to_owned()),
                line: Some(line),
                columns: Some((key_column, column(content, value))),
            },
        });
    }
    found
}

/// The setting that a left-hand side names, in lower case; `None` if it belongs to another layer.
fn own_key(spelled: &str) -> Option<String> {
    // A name is one word. Anything longer without "=" is prose that somebody forgot to comment out.
    let word = spelled.split_whitespace().next()?.to_ascii_lowercase();
    let (layer, _) = word.split_once('.')?;
    if !PREFIXES.contains(&layer) {
        return None;
    }
    Some(spelled.get(layer.len() + 1..)?.to_ascii_lowercase())
}

/// The column of `part`, which is a part of `whole`, in characters from 1.
fn column(whole: &str, part: &str) -> u32 {
    let offset = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    let characters = whole.get(..offset).map_or(0, |before| before.chars().count());
    u32::try_from(characters + 1).unwrap_or(u32::MAX)
}
