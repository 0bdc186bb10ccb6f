//! Keeping the folder of automatic traces small.

use std::path::Path;
use std::time::SystemTime;

use crate::platform;

/// How many automatic traces are kept, the one just created included.
pub(super) const KEEP: usize = 20;

/// Removes the oldest files of the form `<name>-<process id>.jsonl` in `folder` beyond the newest `keep`.
///
/// Left alone whatever their age: `own`; a file whose process still runs, or another with its id now; links, folders and
/// files of any other name; files of another user. Several processes may do this at once: each removes some, none
/// removes what the others keep. Errors are ignored.
pub(super) fn rotate(folder: &Path, own: &Path, keep: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<(SystemTime, std::path::PathBuf, u32)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let process = process_of(entry.file_name().to_str()?)?;
            // Not following links: this describes the entry itself.
            let metadata = entry.metadata().ok()?;
            let path = entry.path();
            let is_candidate = metadata.is_file() && platform::is_own(&metadata) && path != own;
            is_candidate.then_some((metadata.modified().ok()?, path, process))
        })
        .collect();
    files.sort_by(|left, right| right.cmp(left));
    for (_, path, process) in files.into_iter().skip(keep.saturating_sub(1)) {
        if !platform::process_exists(process) {
            // Somebody else may have removed it first.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The process id in the name of an automatic trace; `None` for any other name.
fn process_of(name: &str) -> Option<u32> {
    let (executable, process) = name.strip_suffix(".jsonl")?.rsplit_once('-')?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !executable.is_empty())
        .then(|| process.parse().ok())
        .flatten()
}
