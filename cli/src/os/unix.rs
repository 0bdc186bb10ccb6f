//! Unix.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process};

/// What stands between names of layers and folders in the loader's variables.
pub const SEPARATOR: &str = ":";

/// What makes a file the same one, whatever leads to it.
pub type FileKey = (u64, u64);

/// That of a file that is there.
pub fn key(path: &Path) -> Option<FileKey> {
    std::fs::metadata(path).ok().map(|metadata| key_of(&metadata))
}

/// That of a file that is open.
pub fn key_of_open(_: &File, metadata: &Metadata) -> Option<FileKey> {
    Some(key_of(metadata))
}

fn key_of(metadata: &Metadata) -> FileKey {
    (metadata.dev(), metadata.ino())
}

/// That of standard input, if it is a file.
pub fn key_of_stdin() -> Option<FileKey> {
    let stat = rustix::fs::fstat(io::stdin()).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file.then_some((stat.st_dev, stat.st_ino))
}

/// That of standard output.
pub fn key_of_stdout() -> Option<FileKey> {
    rustix::fs::fstat(io::stdout()).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

/// Whether something is to be read there: a pipe, a socket or a file, and neither a terminal nor `/dev/null`.
pub fn is_piped(stream: impl AsFd) -> bool {
    let kind = rustix::fs::fstat(stream).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile))
}

/// How many names a file has.
pub fn names(_: &Path, metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Whether it belongs to another user.
pub fn is_foreign(_: &Path, metadata: &Metadata) -> bool {
    metadata.uid() != rustix::process::geteuid().as_raw()
}

/// Makes a folder for this user alone.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// A folder in that of temporary files which must be of this user alone: programs load what its manifests name.
///
/// # Errors
///
/// When it cannot be made, or is somebody else's.
pub fn fallback_cache() -> io::Result<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("samplin-cache-{own}"));
    match make_private(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    let metadata = std::fs::symlink_metadata(&folder)?;
    if metadata.is_dir() && metadata.uid() == own && metadata.mode() & 0o022 == 0 {
        return Ok(folder);
    }
    Err(io::Error::other(format!("{} is not of this user alone", folder.display())))
}

/// Whether this user may write there.
pub fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Whether it is a file that can be started.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Sets the flag when this process is asked to end. SIGHUP ends it as it does by default: a terminal that is gone is read for ever.
///
/// # Errors
///
/// When signals cannot be watched.
pub fn note_end(flag: &Arc<AtomicBool>) -> io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(flag)).map(drop)
}

/// Asks a process to end.
pub fn ask_to_end(process: u32) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Something that another process writes lines to, opened to read: a FIFO.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_log(path: &Path) -> io::Result<File> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
}

/// Begins such a file again if it was emptied, which cannot happen to a FIFO.
///
/// # Errors
///
/// None.
pub fn begin_again(_: &mut File) -> io::Result<()> {
    Ok(())
}

/// The name of a variable, as it is looked up.
pub fn variable(name: OsString) -> OsString {
    name
}

/// The variable of the home folder.
pub const HOME: &str = "HOME";
/// The variable of the folder for data, and what holds without it, below the home folder.
pub const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");
/// The same for what can be made again.
pub const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");
/// The same for traces.
pub const STATE: (&str, &str) = ("XDG_STATE_HOME", ".local/state");
/// The variable of folders in which libraries are looked for first.
pub const LIBRARIES: &str = "LD_LIBRARY_PATH";
/// What a name of a program may be written without.
pub const ENDINGS: [&str; 1] = [""];

/// The further folders of libraries are in files, which the caller reads.
pub fn library_folders() -> Vec<PathBuf> {
    Vec::new()
}

/// Whether the loader ignores folders of layers in the environment of programs that this one starts.
pub fn loader_passes_over_paths() -> bool {
    false
}

/// There is no registry: the loader looks into folders.
pub fn registered(_: &str) -> Vec<PathBuf> {
    Vec::new()
}

/// Does nothing: the loader finds a manifest by its folder.
///
/// # Errors
///
/// None.
pub fn register(_: &str, _: bool, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
///
/// None.
pub fn unregister(_: &str, _: bool, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Where `install --system` puts things.
pub fn for_all() -> PathBuf {
    PathBuf::from("/usr/local")
}
