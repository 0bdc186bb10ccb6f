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
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
        .filter_map(|entry| {
            Some((entry.metadata().ok().filter(std::fs::Metadata::is_file)?.modified().ok()?, entry.path()))
        })
        .max()
        .map(|(_, path)| path)
}
