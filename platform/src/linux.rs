//! Linux and Android.

mod append;
#[cfg(any(target_os = "android", test))]
mod application;
mod process;
mod undisturbed;

pub use self::append::*;
pub use self::process::*;
pub(super) use self::undisturbed::Uncancelled;

/// Whose files and settings are where: the variable of the XDG Base Directory Specification, and what holds without it, below the
/// home folder.
pub(super) const FOLDERS: super::environment::Folders = super::environment::Folders {
    home: "HOME",
    state: ("XDG_STATE_HOME", ".local/state"),
    config: ("XDG_CONFIG_HOME", ".config"),
    data: ("XDG_DATA_HOME", ".local/share"),
};

/// The folder of an Android application for its own files; elsewhere there is none.
#[cfg(target_os = "android")]
pub(super) use self::application::files as own_folder;

/// The folder of an Android application for its own files; elsewhere there is none.
#[cfg(not(target_os = "android"))]
pub(super) fn own_folder() -> Option<std::path::PathBuf> {
    None
}

/// Says a line in the system's log.
#[cfg(all(target_os = "android", feature = "logcat"))]
pub(super) use self::application::log;

/// Says a line in the system's log, where there is one.
#[cfg(not(all(target_os = "android", feature = "logcat")))]
pub(super) fn log(_: &str) {}

/// Does nothing: the linker's flag keeps the shared object in the process.
pub fn keep_loaded() {}

/// Widens an id whose type differs between systems.
fn to_u64<T: TryInto<u64>>(id: T) -> u64 {
    id.try_into().unwrap_or(u64::MAX)
}
