//! Files that lines are appended to.

#[cfg(not(target_family = "wasm"))]
use std::io;
use std::mem::ManuallyDrop;

use super::system::{RawFile, STDERR, close, write};

/// Which file a descriptor stands for: device and inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileId {
    /// Number of the device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// A file opened for appending by [`open_append`](super::open_append) or [`inherit`](super::inherit).
#[derive(Debug)]
pub struct AppendFile {
    /// Closed on drop.
    pub(super) descriptor: RawFile,
    /// The file behind it.
    pub id: FileId,
    /// Whether the file ends in the middle of a line, left there by a writer that was cut off. It may also be one that
    /// another process is writing at this moment; then an empty line comes of it.
    pub ends_mid_line: bool,
}

impl AppendFile {
    /// The descriptor, which from now on is the caller's to [`close`].
    pub fn release(self) -> RawFile {
        ManuallyDrop::new(self).descriptor
    }
}

impl Drop for AppendFile {
    fn drop(&mut self) {
        close(self.descriptor, self.id);
    }
}

/// What is opened by creating it, or as it is if it is there already.
#[cfg(not(target_family = "wasm"))]
pub(super) fn created_or_existing(
    create: impl Fn() -> io::Result<AppendFile>,
    existing: impl Fn() -> io::Result<AppendFile>,
) -> io::Result<AppendFile> {
    // Created and reopened in turn by others, the file may be there for one call and gone for the next: try twice.
    for _ in 0..2 {
        match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened,
        }
        match existing() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound))
}

#[cfg(not(target_family = "wasm"))]
pub(super) fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

/// Says one line on standard error, on Android with the feature `logcat` in the system's log. `line` has no newline of its own; nothing is reported if it cannot be written.
pub fn say(line: &str) {
    if cfg!(all(target_os = "android", feature = "logcat")) {
        return super::system::log(line);
    }
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend(line.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
    bytes.push(b'\n');
    // Nobody is left to tell if this fails.
    let _ = write(STDERR, &bytes);
}
