//! Keeping the folder of automatic traces small.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use samplin_hot::memory;

use crate::platform;

/// How many automatic traces are kept, the one just created included.
pub(super) const KEEP: usize = 20;

/// Removes the oldest files of the form `<name>-<process id>.jsonl` in `folder` beyond the newest `keep`.
///
/// Left alone whatever their age: `own`; a file whose process still runs, or another with its id now; links, folders and
/// files of any other name; files of another user. Several processes may do this at once: each removes some, none
/// removes what the others keep. Errors are ignored.
pub(super) fn rotate(folder: &Path, own: &Path, keep: usize) {
    let files: Vec<(SystemTime, PathBuf, u32)> = platform::list(folder)
        .into_iter()
        .filter(|path| path != own)
        .filter_map(|path| {
            let process = process_of(path.file_name()?.to_str()?)?;
            Some((platform::own_file_written(&path)?, path, process))
        })
        .collect();
    for (_, path, process) in memory::sorted(files).into_iter().rev().skip(keep.saturating_sub(1)) {
        if !platform::process_exists(process) {
            platform::remove(&path);
        }
    }
}

/// The process id in the name of an automatic trace; `None` for any other name.
fn process_of(name: &str) -> Option<u32> {
    let (executable, process) = name.strip_suffix(".jsonl")?.rsplit_once('-')?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !executable.is_empty()).then(|| process.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;
    use std::time::Duration;

    use samplin_testkit::Folder;

    use super::*;

    /// Creates a file that was last written `age` seconds ago.
    fn add(folder: &Folder, name: &str, age: u64) -> PathBuf {
        let path = folder.join(name);
        let file = File::create(&path).expect("creates");
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("sets the time");
        path
    }

    fn names(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).expect("reads");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("reads").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The id of a process that has ended.
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        child.wait().expect("ends");
        child.id()
    }

    #[test]
    fn the_newest_stay() {
        let folder = Folder::new();
        let pid = ended();
        for age in 1..=30 {
            add(&folder, &format!("app{age:02}-{pid}.jsonl"), age);
        }
        let own = add(&folder, "own-1.jsonl", 0);
        rotate(folder.path(), &own, 20);
        let mut expected: Vec<String> = (1..=19).map(|age| format!("app{age:02}-{pid}.jsonl")).collect();
        expected.push("own-1.jsonl".to_owned());
        assert_eq!(names(&folder), expected);
    }

    #[test]
    fn nothing_else_is_touched() {
        let folder = Folder::new();
        let pid = ended();
        let kept = [
            "notes.txt".to_owned(),
            "app.jsonl".to_owned(),
            "app-x.jsonl".to_owned(),
            format!("-{pid}.jsonl"),
            format!("app-{pid}.jsonl.gz"),
            format!("app-{pid}.json"),
            "app--.jsonl".to_owned(),
            "app-99999999999999999999.jsonl".to_owned(),
            format!("running-{}.jsonl", platform::process_id()),
        ];
        for name in &kept {
            add(&folder, name, 1000);
        }
        let elsewhere = Folder::new();
        let target = add(&elsewhere, &format!("target-{pid}.jsonl"), 1000);
        std::os::unix::fs::symlink(&target, folder.join(format!("link-{pid}.jsonl"))).expect("links");
        fs::create_dir(folder.join(format!("folder-{pid}.jsonl"))).expect("creates");
        let own = add(&folder, &format!("own-{pid}.jsonl"), 2000);
        add(&folder, &format!("old-{pid}.jsonl"), 1000);
        rotate(folder.path(), &own, 1);
        let mut expected = kept.to_vec();
        expected.extend(["link", "folder", "own"].map(|name| format!("{name}-{pid}.jsonl")));
        expected.sort();
        assert_eq!(names(&folder), expected);
        assert!(target.exists());
    }

    #[test]
    fn a_missing_folder_is_no_trouble() {
        rotate(Path::new("/nonexistent/samplin"), Path::new("/nonexistent/samplin/a-1.jsonl"), 20);
    }

    #[test]
    fn several_at_once_are_no_trouble() {
        let folder = Folder::new();
        let pid = ended();
        for age in 0..200 {
            add(&folder, &format!("app{age:03}-{pid}.jsonl"), age);
        }
        let own = folder.join("own-1.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| rotate(folder.path(), &own, 20));
            }
        });
        let expected: Vec<String> = (0..19).map(|age| format!("app{age:03}-{pid}.jsonl")).collect();
        assert_eq!(names(&folder), expected);
    }
}
