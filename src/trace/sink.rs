//! Where the lines of a trace go.
//!
//! There is no lock: the state is a few atomics, so that a child forked at any moment can go on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use super::rotate;
use crate::platform::{self, AppendFile, FileId, RawFile};

/// The value of [`Sink::descriptor`] before the first record.
const UNOPENED: RawFile = -1;

/// The value of [`Sink::descriptor`] once nothing can be written any more.
const CLOSED: RawFile = -2;

/// How often a file is opened again after the process closed its descriptor.
const REOPEN: u32 = 8;

#[derive(Debug)]
pub(super) struct Sink {
    kind: SinkKind,
    /// The descriptor, [`UNOPENED`] or [`CLOSED`].
    descriptor: AtomicI32,
    /// Which file `descriptor` stood for when it was opened.
    device: AtomicU64,
    inode: AtomicU64,
    reopened: AtomicU32,
    /// Whether what was written last is the beginning of a line only.
    is_torn: AtomicBool,
}

#[derive(Debug)]
enum SinkKind {
    /// Descriptor 2, which is the process's: never closed, and whatever file it stands for.
    Stderr,
    /// A copy of a descriptor that the process inherited.
    Inherited,
    /// A file that somebody named.
    Named(PathBuf),
    /// The automatic file.
    Auto(PathBuf),
}

impl Sink {
    pub(super) fn stderr() -> Sink {
        Sink::new(SinkKind::Stderr, platform::STDERR)
    }

    /// The automatic file, after a check that it could be created.
    pub(super) fn auto(path: PathBuf) -> Result<Sink, String> {
        let checked = platform::check_append(&path);
        checked
            .map(|file| Sink::new(SinkKind::Auto(path.clone()), UNOPENED).with(file))
            .map_err(|error| failed(&path, &error))
    }

    /// The file that `text` names, after a check that it could be opened. Says on standard error if it cannot.
    pub(super) fn named(text: String) -> Result<Sink, String> {
        let path = platform::absolute(Path::new(&text));
        let sink = match platform::descriptor_path(&path) {
            Some(platform::STDERR) => Ok(Sink::stderr()),
            Some(descriptor) => {
                platform::inherit(descriptor).map(|file| Sink::new(SinkKind::Inherited, UNOPENED).with(Some(file)))
            }
            None => {
                platform::check_append(&path).map(|file| Sink::new(SinkKind::Named(path.clone()), UNOPENED).with(file))
            }
        };
        sink.map_err(|error| {
            let why = failed(&path, &error);
            complain(&why);
            why
        })
    }

    /// The sink with `file` opened already.
    fn with(self, file: Option<AppendFile>) -> Sink {
        if let Some(file) = file {
            self.adopt(file);
        }
        self
    }

    fn new(kind: SinkKind, descriptor: RawFile) -> Sink {
        Sink {
            kind,
            descriptor: AtomicI32::new(descriptor),
            device: AtomicU64::new(0),
            inode: AtomicU64::new(0),
            reopened: AtomicU32::new(0),
            is_torn: AtomicBool::new(false),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.descriptor.load(Ordering::Relaxed) != CLOSED
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match &self.kind {
            SinkKind::Stderr | SinkKind::Inherited => None,
            SinkKind::Named(path) | SinkKind::Auto(path) => Some(path),
        }
    }

    /// Writes one line and returns whether all of it was written. `line`: a newline, which is left out unless the line
    /// before was cut off; then the line with its newline.
    pub(super) fn write(&self, line: &[u8]) -> bool {
        let Some(descriptor) = self.descriptor() else {
            return false;
        };
        let was_torn = self.is_torn.swap(false, Ordering::Relaxed);
        let line = if was_torn { line } else { line.get(1..).unwrap_or_default() };
        let Err(written) = platform::write(descriptor, line) else {
            return true;
        };
        // After the newline alone the file is at the start of a line again.
        let is_torn = if was_torn { written != 1 } else { written > 0 };
        if is_torn {
            self.is_torn.store(true, Ordering::Relaxed);
        }
        false
    }

    /// The descriptor to write to, opened if need be.
    fn descriptor(&self) -> Option<RawFile> {
        loop {
            let descriptor = self.descriptor.load(Ordering::Acquire);
            match (&self.kind, descriptor) {
                (_, CLOSED) => return None,
                (SinkKind::Stderr, descriptor) => return Some(descriptor),
                (SinkKind::Inherited, UNOPENED) => return None,
                (SinkKind::Named(path) | SinkKind::Auto(path), UNOPENED) => self.open(path),
                (_, descriptor) => {
                    if platform::file_id(descriptor) == Some(self.id()) {
                        return Some(descriptor);
                    }
                    self.lose(descriptor);
                }
            }
        }
    }

    fn id(&self) -> FileId {
        FileId { device: self.device.load(Ordering::Relaxed), inode: self.inode.load(Ordering::Relaxed) }
    }

    /// Opens the file. Two threads may do so at once; one of them wins and the other closes its own.
    fn open(&self, path: &Path) {
        match platform::open_append(path) {
            Ok(file) => {
                if let (true, SinkKind::Auto(_), Some(folder)) = (self.adopt(file), &self.kind, path.parent()) {
                    rotate::rotate(folder, path, rotate::KEEP);
                }
            }
            Err(error) => {
                let closed = self.descriptor.compare_exchange(UNOPENED, CLOSED, Ordering::AcqRel, Ordering::Acquire);
                if closed.is_ok() && matches!(self.kind, SinkKind::Named(_)) {
                    complain(&failed(path, &error));
                }
            }
        }
    }

    /// Makes `file` the one to write to; `false` if there is one already.
    fn adopt(&self, file: AppendFile) -> bool {
        let (id, ends_mid_line) = (file.id, file.ends_mid_line);
        if self.descriptor.load(Ordering::Acquire) != UNOPENED {
            return false;
        }
        // Two threads that get here at once have the same file, unless somebody moves it at this moment; then the descriptor
        // is taken for lost at the next record and the file opened again.
        self.device.store(id.device, Ordering::Relaxed);
        self.inode.store(id.inode, Ordering::Relaxed);
        let descriptor = file.release();
        let adopted = self.descriptor.compare_exchange(UNOPENED, descriptor, Ordering::AcqRel, Ordering::Acquire);
        if adopted.is_err() {
            platform::close(descriptor, id);
            return false;
        }
        if ends_mid_line {
            self.is_torn.store(true, Ordering::Relaxed);
        }
        true
    }

    /// The process has closed the descriptor, and perhaps got the same number for a file of its own: it is left alone.
    fn lose(&self, descriptor: RawFile) {
        let may_reopen =
            !matches!(self.kind, SinkKind::Inherited) && self.reopened.fetch_add(1, Ordering::Relaxed) < REOPEN;
        let next = if may_reopen { UNOPENED } else { CLOSED };
        // If this fails another thread has noticed too.
        let _ = self.descriptor.compare_exchange(descriptor, next, Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let descriptor = *self.descriptor.get_mut();
        if !matches!(self.kind, SinkKind::Stderr) && descriptor >= 0 {
            platform::close(descriptor, self.id());
        }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn complain(why: &str) {
    platform::say(&format!("samplin: there is no trace: {why}"));
}
