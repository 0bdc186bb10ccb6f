//! Where traces are.

use std::path::{Path, PathBuf};

use samplin_platform as platform;

/// The folder of automatic traces.
pub fn traces() -> Option<PathBuf> {
    platform::state_folder().map(|folder| folder.join("samplin"))
}

/// The trace in `folder` that was written last.
pub fn newest_trace(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .flatten()
        .filter(|entry| is_trace(&entry.path()))
        .filter_map(|entry| {
            Some((entry.metadata().ok().filter(std::fs::Metadata::is_file)?.modified().ok()?, entry.path()))
        })
        .max()
        .map(|(_, path)| path)
}

/// Whether a file has the name of a trace, compressed or not.
pub fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|ending| name.ends_with(ending))
}
