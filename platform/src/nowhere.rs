//! No operating system: a page in a browser. There are no files, no environment, no other process and no clock.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::append::{AppendFile, FileId};

/// A descriptor number. There is none.
pub type RawFile = i32;

/// The number of standard error.
pub const STDERR: RawFile = 2;

/// The variables that would name the user's folders.
pub(super) const FOLDERS: super::environment::Folders =
    super::environment::Folders { home: "HOME", state: ("", ""), config: ("", ""), data: ("", "") };

/// Nothing cancels a thread.
pub(super) struct Uncancelled;

impl Uncancelled {
    /// Does nothing.
    pub(super) fn begin() -> Uncancelled {
        Uncancelled
    }
}

/// What cannot be done here.
fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// No path names a descriptor.
pub fn descriptor_path(_: &Path) -> Option<RawFile> {
    None
}

/// # Errors
/// Always.
pub fn inherit(_: RawFile) -> io::Result<AppendFile> {
    unsupported()
}

/// # Errors
/// Always.
pub fn open_append(_: &Path) -> io::Result<AppendFile> {
    unsupported()
}

/// # Errors
/// Always.
pub fn check_append(_: &Path) -> io::Result<Option<AppendFile>> {
    unsupported()
}

/// Every descriptor is closed.
pub fn file_id(_: RawFile) -> Option<FileId> {
    None
}

/// Does nothing.
pub fn close(_: RawFile, _: FileId) {}

/// # Errors
/// Always.
pub fn write(_: RawFile, _: &[u8]) -> Result<(), usize> {
    Err(0)
}

/// There are no files.
pub fn own_file_written(_: &Path) -> Option<SystemTime> {
    None
}

/// Nobody has more rights than another.
pub fn is_elevated() -> bool {
    false
}

/// There is one thread.
pub fn thread_id() -> u64 {
    0
}

/// Nobody tells.
pub fn host_name() -> Option<String> {
    None
}

/// Nobody tells.
pub fn executable_name() -> String {
    "unknown".to_owned()
}

/// There are no files.
pub fn library_path() -> Option<PathBuf> {
    None
}

/// Does nothing.
pub fn keep_loaded() {}

/// There are no processes.
pub fn process_exists(_: u32) -> bool {
    false
}

/// The clock stands still.
pub(crate) fn monotonic_ns() -> u64 {
    1
}

/// Only Android's applications have one folder for all.
pub(super) fn own_folder() -> Option<PathBuf> {
    None
}

/// Android has a log for what is said.
pub(super) fn log(_: &str) {}
