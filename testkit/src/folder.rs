//! Folders for the files of a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of a test's own in the system's temporary one, removed again unless the test fails.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty folder.
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("samplin-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        // One that is there is what a failed test left, of a process whose number has come round.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path.canonicalize().expect("the folder is there"))
    }

    /// Its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its path as text.
    pub fn text(&self) -> &str {
        self.0.to_str().expect("temporary paths are UTF-8")
    }

    /// Path of a file in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// The text of a file in it.
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a file, with the folders that it is in; returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().expect("it is in this folder")).expect("a folder");
        fs::write(&path, content).expect("a writable folder");
        path
    }
}

/// The files of a folder whose names end so, in the order of their names.
pub fn files(folder: impl AsRef<Path>, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Some tests take the right to write away.
            #[cfg(unix)]
            let _ = fs::set_permissions(&self.0, std::os::unix::fs::PermissionsExt::from_mode(0o700));
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
