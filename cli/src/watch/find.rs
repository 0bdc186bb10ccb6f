//! Which traces are watched: named files, those of a folder, or those of a process and the processes that it starts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use samplin_platform as platform;

use crate::folders;

/// How often the descriptors of a process are looked at before it counts as one without a trace of another name.
const TRIES: u32 = 20;

/// Of so many looks, one is for processes although no trace was added to the folder.
const RARELY: u32 = 10;

/// What is watched.
#[derive(Debug)]
pub enum Target {
    /// These files, also before they are there.
    Files(Vec<PathBuf>),
    /// Every trace of running processes in a folder, and the newest one.
    Folder(PathBuf),
    /// A process and those that it starts.
    Tree(Tree),
}

/// A process and those that it starts.
#[derive(Debug, Default)]
pub struct Tree {
    /// The folder of automatic traces.
    folder: Option<PathBuf>,
    /// Traces in it that are older than the watch; none of a process that ran before.
    before: BTreeSet<PathBuf>,
    /// Whether traces of processes that are gone already count, because the watch is older than all of them.
    is_own: bool,
    /// How often it was looked at.
    looks: u32,
    /// When a trace was last added to the folder.
    changed: Option<SystemTime>,
    /// The processes, and how often their descriptors were looked at.
    processes: BTreeMap<u32, u32>,
}

impl Tree {
    /// Of a process that runs.
    pub fn running(root: u32) -> Self {
        Self { folder: folders::traces(), processes: [(root, 0)].into(), ..Self::default() }
    }

    /// Of a process that does not run yet: [`Tree::begin`] says which.
    pub fn planned() -> Self {
        let folder = folders::traces();
        let before = folder.as_deref().map(traces).unwrap_or_default().into_iter().collect();
        Self { folder, before, is_own: true, ..Self::default() }
    }

    /// Names the process.
    pub fn begin(&mut self, root: u32) {
        self.processes.insert(root, 0);
    }

    fn look(&mut self, proc: &Path) -> Vec<PathBuf> {
        let changed = self.folder.as_deref().and_then(|folder| std::fs::metadata(folder).ok()?.modified().ok());
        self.looks += 1;
        // A program may have hundreds of threads, each with a list of processes that it has started.
        if changed == self.changed && self.looks > TRIES && !self.looks.is_multiple_of(RARELY) {
            return Vec::new();
        }
        self.changed = changed;
        // Before the processes, so that each whose trace is there is found among them, unless it is gone.
        let there = self.folder.as_deref().map(traces).unwrap_or_default();
        let mut new: Vec<u32> = self.processes.keys().copied().collect();
        while let Some(process) = new.pop() {
            for child in children(proc, process) {
                if let Entry::Vacant(entry) = self.processes.entry(child) {
                    entry.insert(0);
                    new.push(child);
                }
            }
        }
        let mut found = Vec::new();
        for (process, tries) in self.processes.iter_mut().filter(|(_, tries)| **tries < TRIES) {
            *tries += 1;
            found.extend(open_traces(proc, *process));
        }
        for path in there {
            let Some(process) = process_of(&path).filter(|_| !self.before.contains(&path)) else { continue };
            // A process may begin and end between two looks.
            let is_gone = self.is_own && !platform::process_exists(process);
            if is_gone || self.processes.contains_key(&process) {
                found.push(path);
            } else if self.is_own {
                self.before.insert(path);
            }
        }
        found
    }
}

impl Target {
    /// The traces that there are now.
    pub fn look(&mut self) -> Vec<PathBuf> {
        match self {
            Self::Files(paths) => paths.clone(),
            Self::Folder(folder) => {
                let is_running = |path: &PathBuf| process_of(path).is_some_and(platform::process_exists);
                let mut found: Vec<PathBuf> = traces(folder).into_iter().filter(is_running).collect();
                if found.is_empty() {
                    found.extend(folders::newest_trace(folder));
                }
                found
            }
            Self::Tree(tree) => tree.look(Path::new("/proc")),
        }
    }

    /// Whether there may be more traces later.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Files(_))
    }
}

/// The traces in a folder.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| folders::is_trace(path)).collect()
}

/// The process id in the name of an automatic trace.
pub fn process_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_suffix(".jsonl")?.rsplit_once('-')?.1.parse().ok()
}

/// The processes that the threads of a process have started.
fn children(proc: &Path, process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(proc.join(format!("{process}/task"))).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<_>>()).collect()
}

/// The traces that a process has open.
fn open_traces(proc: &Path, process: u32) -> Vec<PathBuf> {
    let descriptors = std::fs::read_dir(proc.join(format!("{process}/fd"))).into_iter().flatten().flatten();
    let paths = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    paths.filter(|path| folders::is_trace(path) && path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use samplin_testkit::Folder;

    use super::*;

    /// Made-up processes: 10 has started 11, 11 has started 12, and 13 is another's.
    fn processes(home: &Folder) -> PathBuf {
        for (process, started) in [(10, "11 "), (11, "12"), (12, ""), (13, "")] {
            home.write(&format!("proc/{process}/task/{process}/children"), started);
            std::fs::create_dir_all(home.join(format!("proc/{process}/fd"))).unwrap();
        }
        home.join("proc")
    }

    #[test]
    fn a_process_is_watched_with_those_that_it_starts() {
        let home = Folder::new();
        let proc = processes(&home);
        for name in ["traces/game-12.jsonl", "traces/other-13.jsonl", "own name.jsonl", "log.txt"] {
            home.write(name, "{}\n");
        }
        for (number, name) in [(3, "own name.jsonl"), (4, "log.txt")] {
            std::os::unix::fs::symlink(home.join(name), proc.join(format!("11/fd/{number}"))).unwrap();
        }
        let mut tree = Tree { folder: Some(home.join("traces")), ..Tree::running(10) };
        let mut found = tree.look(&proc);
        found.sort();
        assert_eq!(found, [home.join("own name.jsonl"), home.join("traces/game-12.jsonl")]);
    }

    #[test]
    fn traces_that_are_older_than_a_program_are_not_its_own() {
        let home = Folder::new();
        let proc = processes(&home);
        let gone = u32::MAX;
        home.write(&format!("traces/old-{gone}.jsonl"), "{}\n");
        let folder = home.join("traces");
        let before = traces(&folder).into_iter().collect();
        let mut tree = Tree { folder: Some(folder.clone()), before, ..Tree::planned() };
        tree.begin(10);
        assert_eq!(tree.look(&proc), [""; 0].map(PathBuf::from));
        // One that lived between two looks, and one of somebody else that still runs.
        home.write(&format!("traces/short-{gone}.jsonl"), "{}\n");
        home.write(&format!("traces/else-{}.jsonl", std::process::id()), "{}\n");
        assert_eq!(tree.look(&proc), [folder.join(format!("short-{gone}.jsonl"))]);
    }

    #[test]
    fn names_tell_the_process() {
        assert_eq!(process_of(Path::new("/a/vkcube-12.jsonl")), Some(12));
        assert_eq!(process_of(Path::new("/a/vkcube.jsonl")), None);
    }
}
