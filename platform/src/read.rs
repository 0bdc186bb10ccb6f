//! Files and folders that are read.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::system::Uncancelled;

/// The text of a file, as `std::fs::read_to_string`.
///
/// # Errors
/// Those of the system, and `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let _uncancelled = Uncancelled::begin();
    fs::read_to_string(path)
}

/// What a regular file of at most `largest` bytes holds.
///
/// # Errors
/// Those of the system, and a refusal for anything else: a FIFO or a device would make the process wait.
pub fn read_regular(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let _uncancelled = Uncancelled::begin();
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    // One more byte than is allowed tells that there are more, also of a file that grows.
    fs::File::open(path)?.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::other(format!("it is larger than {largest} bytes")));
    }
    Ok(bytes)
}

/// What changes when a file is written or replaced: when that was last, in nanoseconds since 1970, and its length; none where there is none.
pub fn stamp(path: &Path) -> Option<(u128, u64)> {
    let _uncancelled = Uncancelled::begin();
    let known = fs::metadata(path).ok()?;
    let written = known.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some((written.as_nanos(), known.len()))
}

/// Whether there is a regular file of this name, or a link to one.
pub fn is_file(path: &Path) -> bool {
    let _uncancelled = Uncancelled::begin();
    path.is_file()
}

/// Whether there is a folder of this name, or a link to one.
pub fn is_folder(path: &Path) -> bool {
    let _uncancelled = Uncancelled::begin();
    path.is_dir()
}

/// Whether there is anything of this name.
pub fn exists(path: &Path) -> bool {
    let _uncancelled = Uncancelled::begin();
    path.exists()
}

/// `path` from the root, without a look at what is there. As it is if there is no working directory.
pub fn absolute(path: &Path) -> PathBuf {
    let _uncancelled = Uncancelled::begin();
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The paths of what is in a folder, in no order. Empty if it cannot be read.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let _uncancelled = Uncancelled::begin();
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Removes a file. Somebody else may have done so first.
pub fn remove(path: &Path) {
    let _uncancelled = Uncancelled::begin();
    let _ = fs::remove_file(path);
}
