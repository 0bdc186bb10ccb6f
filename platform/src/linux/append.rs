//! Files that lines are appended to.

use std::ffi::CString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use super::to_u64;
use super::undisturbed::{SignalGuard, Uncancelled};
use crate::append::{AppendFile, FileId, created_or_existing, refused};

/// A descriptor number. It says nothing about ownership.
pub type RawFile = libc::c_int;

/// The number of standard error.
pub const STDERR: RawFile = libc::STDERR_FILENO;

impl AppendFile {
    fn new(file: impl Into<OwnedFd>, metadata: &Metadata, ends_mid_line: bool) -> AppendFile {
        AppendFile { descriptor: file.into().into_raw_fd(), id: id_of(metadata), ends_mid_line }
    }
}

/// Which descriptor a path names, if it is one of the names the system gives to descriptors: `/dev/stdout`,
/// `/dev/stderr`, `/dev/fd/N`, `/proc/self/fd/N`. They are symbolic links, which [`open_append`] would refuse.
pub fn descriptor_path(path: &Path) -> Option<RawFile> {
    let path = path.to_str()?;
    match path {
        "/dev/stdout" => return Some(libc::STDOUT_FILENO),
        "/dev/stderr" => return Some(STDERR),
        _ => {}
    }
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse().ok()
}

/// A copy of a descriptor that the process inherited (a pipe of the parent's, say), so that the process may close its own.
///
/// # Errors
/// The descriptor is not open, or is not open for writing.
pub fn inherit(descriptor: RawFile) -> io::Result<AppendFile> {
    let _uncancelled = Uncancelled::begin();
    let file = duplicate(descriptor)?;
    // SAFETY: F_GETFL takes no argument and touches no memory of ours (fcntl(2)).
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    if flags & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(refused("is not open for writing"));
    }
    let file = File::from(file);
    let metadata = file.metadata()?;
    Ok(AppendFile::new(file, &metadata, false))
}

/// A copy of a descriptor, closed on exec and not one of the three standard numbers.
fn duplicate(descriptor: RawFile) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC takes an integer and touches no memory of ours; a closed descriptor gives EBADF (fcntl(2)).
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, STDERR + 1) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fcntl just returned this descriptor, nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Opens `path` so that each write appends a line, and creates it if it is missing.
///
/// A new file gets mode 0600 and missing folders 0700, both less the process's umask. An existing target is accepted if
/// it is
///
/// * a regular file of this user's with a single name (another user may have put a link to one of our files in a shared
///   folder, or a file of his own to read what we write),
/// * a character device, such as `/dev/null` or a terminal,
/// * a FIFO of this user's that has a reader. It is opened non-blocking: a full pipe loses a record, it never stops the
///   process.
///
/// The descriptor is closed on exec, never the controlling terminal, and never one of the three standard numbers.
///
/// # Errors
/// Those of the system, and a refusal for any other existing target: a symbolic link in last place, a folder, a socket,
/// another user's file. Nothing has been created then, except perhaps folders.
pub fn open_append(path: &Path) -> io::Result<AppendFile> {
    let _uncancelled = Uncancelled::begin();
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let create = || {
        let file = open(path, true)?;
        let metadata = file.metadata()?;
        Ok(AppendFile::new(file, &metadata, false))
    };
    created_or_existing(create, || open_existing(path))
}

/// Whether [`open_append`] is likely to succeed, found out without creating anything.
///
/// A target that exists is opened to find out, and returned: closing it again would end a FIFO for its reader.
///
/// # Errors
/// What [`open_append`] would say.
pub fn check_append(path: &Path) -> io::Result<Option<AppendFile>> {
    let _uncancelled = Uncancelled::begin();
    if path.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is empty"));
    }
    match open_existing(path) {
        Ok(file) => return Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut folder = path.parent();
    while let Some(here) = folder {
        let here = if here.as_os_str().is_empty() { Path::new(".") } else { here };
        match std::fs::metadata(here) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(io::Error::from(io::ErrorKind::NotADirectory));
            }
            Ok(_) => {
                let name = CString::new(here.as_os_str().as_bytes())?;
                // SAFETY: `name` is a NUL-terminated string that outlives the call; faccessat reads nothing else.
                let denied = unsafe {
                    libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK | libc::X_OK, AS_EFFECTIVE_USER)
                } != 0;
                return if denied { Err(io::Error::last_os_error()) } else { Ok(None) };
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => folder = here.parent(),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Bionic has no such flag and refuses any; there the real user is asked about, who is the same in a process that has a trace
/// at all.
const AS_EFFECTIVE_USER: libc::c_int = if cfg!(target_os = "android") { 0 } else { AT_EACCESS };

/// Of `fcntl.h`, which Bionic's has not. Source: the Linux header `linux/fcntl.h`.
const AT_EACCESS: libc::c_int = 0x200;

/// Opens for appending, only if new or only if there already. `O_CLOEXEC` is what Rust sets by itself.
fn open(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(is_new).mode(0o600).custom_flags(NO_SURPRISE);
    let file = options.open(path)?;
    if file.as_raw_fd() > STDERR {
        return Ok(file);
    }
    // The process has closed a standard descriptor, and what it prints must not end up in our file.
    duplicate(file.as_raw_fd()).map(File::from)
}

/// Follow no link, wait for nobody, become nobody's terminal.
const NO_SURPRISE: libc::c_int = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;

fn open_existing(path: &Path) -> io::Result<AppendFile> {
    // Looked at before it is opened, because opening some devices does something; and again after, because it may have been
    // replaced in between.
    accept(&std::fs::symlink_metadata(path)?)?;
    let file = open(path, false).map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => refused("is a FIFO without a reader"),
        Some(libc::ELOOP) => refused("is a symbolic link"),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    accept(&metadata)?;
    let ends_mid_line = metadata.is_file() && !ends_with_newline(path, &metadata).unwrap_or(true);
    Ok(AppendFile::new(file, &metadata, ends_mid_line))
}

/// Whether a file belongs to the user as whom the process runs.
fn is_own(metadata: &Metadata) -> bool {
    // SAFETY: geteuid takes no argument and cannot fail (geteuid(2)).
    metadata.uid() == unsafe { libc::geteuid() }
}

/// When this user's file was last written. `None` for a link, a folder, a file of another user's, or one that is not there.
pub fn own_file_written(path: &Path) -> Option<SystemTime> {
    let _uncancelled = Uncancelled::begin();
    let metadata = std::fs::symlink_metadata(path).ok()?;
    (metadata.is_file() && is_own(&metadata)).then(|| metadata.modified().ok()).flatten()
}

fn accept(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        Err(refused("is a symbolic link"))
    } else if kind.is_dir() {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else if kind.is_char_device() {
        Ok(())
    } else if !kind.is_file() && !kind.is_fifo() {
        Err(refused("is neither a file, a FIFO nor a character device"))
    } else if !is_own(metadata) {
        Err(refused("belongs to another user"))
    } else if kind.is_file() && metadata.nlink() > 1 {
        Err(refused("has a second name (hard link)"))
    } else {
        Ok(())
    }
}

/// Whether the file's last byte is a newline; an empty file counts as ending with one.
fn ends_with_newline(path: &Path, metadata: &Metadata) -> io::Result<bool> {
    let Some(last) = metadata.len().checked_sub(1) else {
        return Ok(true);
    };
    let file = OpenOptions::new().read(true).custom_flags(NO_SURPRISE).open(path)?;
    let mut byte = [0_u8];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

fn id_of(metadata: &Metadata) -> FileId {
    FileId { device: metadata.dev(), inode: metadata.ino() }
}

/// Which file a descriptor number stands for now; `None` if it is closed.
///
/// A process may close every descriptor it finds (daemons and sandboxes do) and get the same number back for a file of
/// its own. Compare before writing to a number that was opened earlier.
pub fn file_id(descriptor: RawFile) -> Option<FileId> {
    let mut status = MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: fstat64 writes one `stat64` through the pointer, which is to storage of that type; a closed descriptor gives EBADF.
    if unsafe { libc::fstat64(descriptor, status.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: fstat64 returned 0, so it has filled the structure (fstat(2)).
    let status = unsafe { status.assume_init() };
    Some(FileId { device: to_u64(status.st_dev), inode: to_u64(status.st_ino) })
}

/// Closes a descriptor that was [released](AppendFile::release), if it still stands for the same file.
pub fn close(descriptor: RawFile, id: FileId) {
    let _uncancelled = Uncancelled::begin();
    if file_id(descriptor) == Some(id) {
        // SAFETY: the caller gave up the descriptor, and the line above found that it is still the file that was opened.
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    }
}

/// Writes all of `bytes` with one `write`, or more only if the system takes them piecemeal or a signal interrupts it.
///
/// It never raises a signal: neither SIGPIPE (nobody reads the pipe) nor SIGXFSZ (the file reached the process's limit),
/// each of which would end a process that has not asked to hear of them.
///
/// # Errors
/// The first error of the system ends the attempt; `EAGAIN` from a full non-blocking pipe is one. The error holds the number
/// of bytes that were written before.
pub fn write(descriptor: RawFile, bytes: &[u8]) -> Result<(), usize> {
    let _uncancelled = Uncancelled::begin();
    let guard = SignalGuard::block();
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        // SAFETY: `rest` is a live slice, so its pointer is valid for reads of its length; a closed descriptor gives EBADF.
        let count = unsafe { libc::write(descriptor, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(count) {
            Ok(0) => {
                return Err(written);
            }
            Ok(count) => written += count,
            Err(_) => {
                match io::Error::last_os_error().raw_os_error() {
                    Some(libc::EINTR) => continue,
                    Some(libc::EPIPE) => guard.consume(libc::SIGPIPE),
                    Some(libc::EFBIG) => guard.consume(libc::SIGXFSZ),
                    _ => {}
                }
                return Err(written);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_have_paths() {
        let number = |path: &str| descriptor_path(Path::new(path));
        assert_eq!(number("/dev/stdout"), Some(1));
        assert_eq!(number("/dev/stderr"), Some(2));
        assert_eq!(number("/dev/fd/17"), Some(17));
        assert_eq!(number("/proc/self/fd/0"), Some(0));
        for path in ["/dev/fd/", "/dev/fd/+1", "/dev/fd/x", "/dev/fd/99999999999", "/dev/null", "fd/1", ""] {
            assert_eq!(number(path), None, "{path}");
        }
    }

    #[test]
    fn a_closed_descriptor_stands_for_nothing() {
        assert_eq!(file_id(-1), None);
        assert_eq!(write(-1, b"x"), Err(0));
        assert_eq!(write(-1, b""), Ok(()));
        close(-1, FileId { device: 0, inode: 0 });
        assert!(inherit(-1).is_err());
    }

    #[test]
    fn only_the_files_own_descriptor_is_closed() {
        let file = File::open("/dev/null").expect("opens");
        let other = FileId { device: 0, inode: 0 };
        close(file.as_raw_fd(), other);
        assert!(file_id(file.as_raw_fd()).is_some_and(|id| id != other));
    }
}
