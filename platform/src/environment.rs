//! Environment variables and the user's folders.

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::is_elevated;
use super::system::{FOLDERS, own_folder};

/// The value of an environment variable.
///
/// `None` when it is not set, empty, not UTF-8, or when the process [is elevated](is_elevated).
pub fn env(key: &str) -> Option<String> {
    if is_elevated() {
        return None;
    }
    std::env::var(key).ok().filter(|value| !value.is_empty())
}

/// Every environment variable whose name begins with `prefix`, in order of name; the value is `None` if it is not UTF-8.
///
/// Variables with an empty value are left out, as [`env()`] does. Where the system does not tell capitals from small letters in
/// names, they are in capitals. Empty when the process [is elevated](is_elevated).
pub fn env_with_prefix(prefix: &str) -> Vec<(String, Option<String>)> {
    if is_elevated() {
        return Vec::new();
    }
    let found: BinaryHeap<(String, Option<String>)> = std::env::vars_os()
        .map(|(name, value)| (if cfg!(windows) { name.to_ascii_uppercase() } else { name }, value))
        .filter(|(name, value)| name.as_encoded_bytes().starts_with(prefix.as_bytes()) && !value.is_empty())
        .map(|(name, value)| (name.to_string_lossy().into_owned(), OsString::into_string(value).ok()))
        .collect();
    found.into_sorted_vec()
}

/// Where a system says what the user's folders are: a variable, and what holds without it, below the home folder.
pub(super) struct Folders {
    /// The variable of the home folder.
    pub(super) home: &'static str,
    /// For state.
    pub(super) state: (&'static str, &'static str),
    /// For configuration.
    pub(super) config: (&'static str, &'static str),
    /// For data.
    pub(super) data: (&'static str, &'static str),
}

/// The user's folder for state (logs, traces): `$XDG_STATE_HOME`, else `~/.local/state`; `%LOCALAPPDATA%` on Windows, and on
/// Android the folder that an application has for its files.
///
/// `None` when elevated, or when neither variable holds an absolute path.
///
/// Source: XDG Base Directory Specification 0.8; "If an implementation encounters a relative path [...] it should consider
/// the path invalid and ignore it."
pub fn state_folder() -> Option<PathBuf> {
    user_folder(FOLDERS.state)
}

/// The user's folder for configuration: `$XDG_CONFIG_HOME`, else `~/.config`; `%APPDATA%` on Windows. `None` as for
/// [`state_folder`].
pub fn config_folder() -> Option<PathBuf> {
    user_folder(FOLDERS.config)
}

/// The user's folder for data: `$XDG_DATA_HOME`, else `~/.local/share`; `%LOCALAPPDATA%` on Windows. `None` as for
/// [`state_folder`].
pub fn data_folder() -> Option<PathBuf> {
    user_folder(FOLDERS.data)
}

/// The user's home folder, from `$HOME`, `%USERPROFILE%` on Windows. `None` when elevated or when that is not an absolute path.
pub fn home_folder() -> Option<PathBuf> {
    env(FOLDERS.home).map(PathBuf::from).filter(|p| p.is_absolute())
}

/// `text` as a path, with a leading `~/` replaced by the [home folder](home_folder) if there is one: settings files are not
/// read by a shell, which would have done that.
pub fn home_path(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), home_folder()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

fn user_folder((variable, below_home): (&str, &str)) -> Option<PathBuf> {
    env(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(own_folder)
        .or_else(|| home_folder().map(|home| home.join(below_home)))
}
