//! Windows.

mod append;
mod owner;
mod process;

pub use self::append::*;
pub use self::process::*;

/// Whose files and settings are where, by the names that Windows gives them.
pub(super) const FOLDERS: super::environment::Folders = super::environment::Folders {
    home: "USERPROFILE",
    state: ("LOCALAPPDATA", "AppData/Local"),
    config: ("APPDATA", "AppData/Roaming"),
    data: ("LOCALAPPDATA", "AppData/Local"),
};

/// Windows has no cancellation that a thread meets in a call.
pub(super) struct Uncancelled;

impl Uncancelled {
    /// Does nothing.
    pub(super) fn begin() -> Uncancelled {
        Uncancelled
    }
}

/// Only Android's applications have one folder for all.
pub(super) fn own_folder() -> Option<std::path::PathBuf> {
    None
}

/// Android has a log for what is said.
pub(super) fn log(_: &str) {}
