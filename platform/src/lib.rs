//! The operating system.
//!
//! This is the only module that knows which system the layer runs on: privileges, environment, folders, clocks, thread
//! ids, and files that must not surprise the process the layer lives in. It knows nothing of Vulkan and nothing of what is
//! written to a file.
//!
//! It is written for Linux and Android. Another system gets its own version of the functions below and of nothing else.
//! Three habits hold on every system:
//!
//! * Nothing is done behind the process's back: no thread, signal handler, exit handler or thread-local destructor.
//! * A privileged process (set-user-id, set-group-id, file capabilities) gets no environment and no file of ours.
//! * No function waits for another process, with one exception: a write to standard error, or to another descriptor that
//!   the process inherited, waits as the process's own would.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
compile_error!("the platform module has no version for this operating system yet");

use std::ffi::{CString, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A descriptor number. It says nothing about ownership.
pub type RawFile = libc::c_int;

/// The number of standard error.
pub const STDERR: RawFile = libc::STDERR_FILENO;

/// Whether the process runs with more rights than the user who started it (`AT_SECURE`).
///
/// The environment, the working directory and the home folder then belong to somebody whom the process must not trust,
/// so settings come from the application alone and nothing is written.
///
/// Source: `getauxval(3)`, "AT_SECURE: Has a nonzero value if this executable should be treated securely".
pub fn is_elevated() -> bool {
    if cfg!(miri) {
        // The interpreter has no auxiliary vector.
        return false;
    }
    // SAFETY: getauxval reads the auxiliary vector, which the kernel wrote before the process started (getauxval(3)).
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The id of the process. After a fork the child gets its own.
pub fn process_id() -> u32 {
    std::process::id()
}

/// The kernel's id of the calling thread, unique on the machine while the thread lives.
///
/// It is asked of the kernel each time: Rust's own thread ids live in thread-local storage that runs a destructor.
pub fn thread_id() -> u64 {
    // SAFETY: SYS_gettid takes no argument and cannot fail (gettid(2)).
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u64::try_from(id).unwrap_or(0)
}

/// The file name of the running program without its folders, `"unknown"` if the system does not tell.
///
/// Under Wine it is the Windows program (`game.exe`), not Wine's own loader. Bytes that are not UTF-8 appear as U+FFFD.
pub fn executable_name() -> String {
    let program = std::env::current_exe()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let command =
        if program.starts_with("wine") { std::fs::read("/proc/self/cmdline").unwrap_or_default() } else { Vec::new() };
    program_name(&program, &command)
}

/// The name to use for the program file `program`, given the process's arguments, each ended by a NUL byte.
fn program_name(program: &str, command: &[u8]) -> String {
    // Wine's loader keeps its own name in /proc/self/exe and puts the Windows path in the first argument.
    let first = command.split(|&byte| byte == 0).next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let windows = first
        .rsplit(['\\', '/'])
        .next()
        .filter(|name| program.starts_with("wine") && name.to_ascii_lowercase().ends_with(".exe"));
    let name = windows.unwrap_or_else(|| program.strip_suffix(" (deleted)").unwrap_or(program));
    if name.is_empty() { "unknown" } else { name }.to_owned()
}

/// The file that this code was loaded from: the layer's shared object, or the program that links the library.
pub fn library_path() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address and fills the structure it is given (dladdr(3)).
    if unsafe { libc::dladdr(library_path as *const libc::c_void, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: zeroed before and filled by dladdr, which returned non-zero.
    let name = unsafe { info.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: dladdr points it at the null-terminated name of a loaded object, which stays loaded while its code runs.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    std::path::absolute(std::ffi::OsStr::from_bytes(name.to_bytes())).ok()
}

/// Monotonic time in nanoseconds since the first call in this process, which the layer makes when it is loaded.
pub fn now_ns() -> u64 {
    // No `OnceLock`: the child of a fork could wait for the thread that was filling it.
    static START: AtomicU64 = AtomicU64::new(0);
    let now = monotonic_ns();
    match START.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => 0,
        Err(start) => now.saturating_sub(start),
    }
}

/// The monotonic clock of the system in nanoseconds, never 0.
fn monotonic_ns() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: clock_gettime writes one `timespec` through the pointer, which is to storage of that type (clock_gettime(2)).
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr()) } != 0 {
        return 1;
    }
    // SAFETY: clock_gettime returned 0, so it has filled the structure.
    let time = unsafe { time.assume_init() };
    to_u64(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(to_u64(time.tv_nsec)).max(1)
}

/// The date in UTC as `YYYY-MM-DD`.
///
/// UTC, because local time reads the environment and the time zone files in the middle of somebody else's process.
pub fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_from_days(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The day of the Gregorian calendar that is `days` days after 1970-01-01: year, month 1..=12, day 1..=31.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    // Count from 0000-03-01, so that the leap day ends the year, in eras of 400 years = 146,097 days.
    let since_march = days + 719_468;
    let era = since_march / 146_097;
    let day_of_era = since_march % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The value of an environment variable.
///
/// `None` when it is not set, empty, not UTF-8, or when the process [is elevated](is_elevated).
pub fn env(key: &str) -> Option<String> {
    if is_elevated() {
        return None;
    }
    std::env::var(key).ok().filter(|value| !value.is_empty())
}

/// Every environment variable whose name begins with `prefix`, in order of name; the value is `None` if it is not UTF-8.
///
/// Variables with an empty value are left out, as [`env()`] does. Empty when the process [is elevated](is_elevated).
pub fn env_with_prefix(prefix: &str) -> Vec<(String, Option<String>)> {
    if is_elevated() {
        return Vec::new();
    }
    let mut found: Vec<(String, Option<String>)> = std::env::vars_os()
        .filter(|(name, value)| name.as_bytes().starts_with(prefix.as_bytes()) && !value.is_empty())
        .map(|(name, value)| (name.to_string_lossy().into_owned(), OsString::into_string(value).ok()))
        .collect();
    found.sort();
    found
}

/// The user's folder for state (logs, traces): `$XDG_STATE_HOME`, else `~/.local/state`.
///
/// `None` when elevated, or when neither variable holds an absolute path.
///
/// Source: XDG Base Directory Specification 0.8; "If an implementation encounters a relative path [...] it should consider
/// the path invalid and ignore it."
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state")
}

/// The user's folder for configuration: `$XDG_CONFIG_HOME`, else `~/.config`. `None` as for [`state_folder`].
pub fn config_folder() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config")
}

/// The user's folder for data: `$XDG_DATA_HOME`, else `~/.local/share`. `None` as for [`state_folder`].
pub fn data_folder() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", ".local/share")
}

/// The user's home folder, from `$HOME`. `None` when elevated or when that is not an absolute path.
pub fn home_folder() -> Option<PathBuf> {
    env("HOME").map(PathBuf::from).filter(|p| p.is_absolute())
}

/// `text` as a path, with a leading `~/` replaced by the [home folder](home_folder) if there is one: settings files are not
/// read by a shell, which would have done that.
pub fn home_path(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), home_folder()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    env(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| home_folder().map(|home| home.join(below_home)))
}

/// Whether a process with this id exists on the machine, as far as this process can see.
pub fn process_exists(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return false;
    };
    if pid == 0 {
        return false;
    }
    // SAFETY: signal 0 only checks whether the process could be signalled (kill(2): "If sig is 0, then no signal is sent").
    let reached = unsafe { libc::kill(pid, 0) } == 0;
    reached || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Which file a descriptor stands for: device and inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileId {
    /// Number of the device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// A file opened for appending by [`open_append`] or [`inherit`].
#[derive(Debug)]
pub struct AppendFile {
    /// The descriptor, closed on drop.
    pub file: OwnedFd,
    /// The file behind it.
    pub id: FileId,
    /// Whether the file ends in the middle of a line, left there by a writer that was cut off. It may also be one that
    /// another process is writing at this moment; then an empty line comes of it.
    pub ends_mid_line: bool,
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
    Ok(AppendFile { id: id_of(&metadata), file: file.into(), ends_mid_line: false })
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
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // Created and reopened in turn by others, the file may be there for one call and gone for the next: try twice.
    for _ in 0..2 {
        match open(path, true) {
            Ok(file) => {
                let metadata = file.metadata()?;
                return Ok(AppendFile { id: id_of(&metadata), file: file.into(), ends_mid_line: false });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        match open_existing(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound))
}

/// Whether [`open_append`] is likely to succeed, found out without creating anything.
///
/// A target that exists is opened to find out, and returned: closing it again would end a FIFO for its reader.
///
/// # Errors
/// What [`open_append`] would say.
pub fn check_append(path: &Path) -> io::Result<Option<AppendFile>> {
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
                    libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK | libc::X_OK, libc::AT_EACCESS)
                } != 0;
                return if denied { Err(io::Error::last_os_error()) } else { Ok(None) };
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => folder = here.parent(),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

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
        Some(libc::ENXIO) => refused("is a FIFO that nobody reads"),
        Some(libc::ELOOP) => refused("is a symbolic link"),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    accept(&metadata)?;
    let ends_mid_line = metadata.is_file() && !ends_with_newline(path, &metadata).unwrap_or(true);
    Ok(AppendFile { id: id_of(&metadata), file: file.into(), ends_mid_line })
}

/// Whether a file belongs to the user as whom the process runs.
pub fn is_own(metadata: &Metadata) -> bool {
    // SAFETY: geteuid takes no argument and cannot fail (geteuid(2)).
    metadata.uid() == unsafe { libc::geteuid() }
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

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
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

/// Widens an id whose type differs between systems.
fn to_u64<T: TryInto<u64>>(id: T) -> u64 {
    id.try_into().unwrap_or(u64::MAX)
}

/// Closes a descriptor taken out of an [`AppendFile`] with `into_raw_fd`, if it still stands for the same file.
pub fn close(descriptor: RawFile, id: FileId) {
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

/// Says one line on standard error. `line` has no newline of its own; nothing is reported if it cannot be written.
pub fn say(line: &str) {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend(line.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
    bytes.push(b'\n');
    // Nobody is left to tell if this fails.
    let _ = write(STDERR, &bytes);
}

/// Keeps SIGPIPE and SIGXFSZ from the calling thread while it lives. Other threads and the process's handlers are not
/// touched. Both signals are directed at the thread that writes (pthreads(7) and signal(7): "synchronously generated").
struct SignalGuard {
    /// The thread's mask before, `None` if it could not be changed.
    before: Option<libc::sigset_t>,
    /// Of SIGPIPE and SIGXFSZ, those that were pending before: not ours to consume.
    pending: [bool; 2],
}

const GUARDED: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

impl SignalGuard {
    fn block() -> SignalGuard {
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        let blocked = signal_set(&GUARDED);
        // SAFETY: `blocked` is an initialised set and `before` is storage for one (pthread_sigmask(3)).
        let changed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, before.as_mut_ptr()) } == 0;
        if !changed {
            return SignalGuard { before: None, pending: [true; 2] };
        }
        // SAFETY: pthread_sigmask returned 0 and was given a place for the old set, so it has filled it.
        let before = unsafe { before.assume_init() };
        let mut pending = [false; 2];
        // A signal can only have been pending before if it was blocked before, which spares the usual case a system call.
        if GUARDED.iter().any(|&signal| is_member(&before, signal)) {
            let mut set = MaybeUninit::<libc::sigset_t>::uninit();
            // SAFETY: `set` is storage for a signal set, which sigpending fills if it returns 0 (sigpending(2)).
            if unsafe { libc::sigpending(set.as_mut_ptr()) } == 0 {
                // SAFETY: sigpending returned 0.
                let set = unsafe { set.assume_init() };
                pending = GUARDED.map(|signal| is_member(&set, signal));
            }
        }
        SignalGuard { before: Some(before), pending }
    }

    /// Takes back the signal that a failed write has just raised.
    fn consume(&self, signal: libc::c_int) {
        let was_pending = GUARDED.iter().zip(self.pending).any(|(&guarded, pending)| guarded == signal && pending);
        if was_pending {
            return;
        }
        let set = signal_set(&[signal]);
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            // SAFETY: `set` is an initialised set holding a signal that this thread blocks, `at_once` a valid time, and a
            // null pointer says that no details are wanted (sigtimedwait(2)).
            let taken = unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const at_once) };
            if taken >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return;
            }
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: `before` is the set that pthread_sigmask returned, and no old set is asked for.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
        }
    }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set it is given and cannot fail on storage of the right type (sigsetops(3)).
    let mut set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for &signal in signals {
        // SAFETY: the set is initialised; an unknown signal number gives EINVAL and changes nothing.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn is_member(set: &libc::sigset_t, signal: libc::c_int) -> bool {
    // SAFETY: `set` is a reference to an initialised set.
    unsafe { libc::sigismember(set, signal) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(58), (1970, 2, 28));
        assert_eq!(civil_from_days(59), (1970, 3, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(11_017), (2000, 3, 1));
        assert_eq!(civil_from_days(20_453), (2025, 12, 31));
        assert_eq!(civil_from_days(20_454), (2026, 1, 1));
        assert_eq!(civil_from_days(47_540), (2100, 2, 28));
        assert_eq!(civil_from_days(47_541), (2100, 3, 1));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil_from_days(0);
        for days in 1..150_000 {
            let date = civil_from_days(days);
            let is_next_day = date.2 == before.2 + 1 && date.1 == before.1 && date.0 == before.0;
            let is_next_month = date.2 == 1 && date.1 == before.1 + 1 && date.0 == before.0 && before.2 >= 28;
            let is_next_year = (date.1, date.2) == (1, 1) && (before.1, before.2) == (12, 31) && date.0 == before.0 + 1;
            assert!(is_next_day || is_next_month || is_next_year, "{before:?} then {date:?}");
            before = date;
        }
    }

    #[test]
    fn the_date_has_its_shape() {
        let date = date();
        assert_eq!(date.len(), 10, "{date}");
        assert!(date.starts_with("20") && date.bytes().filter(|&byte| byte == b'-').count() == 2, "{date}");
    }

    #[test]
    fn programs_have_names() {
        assert_eq!(program_name("vkcube", b""), "vkcube");
        assert_eq!(program_name("vkcube (deleted)", b""), "vkcube");
        assert_eq!(program_name("", b""), "unknown");
        // The first argument counts under Wine only.
        assert_eq!(program_name("vkcube", b"C:\\game.exe\0"), "vkcube");
        assert_eq!(program_name("wine64-preloader", b"C:\\Games\\The Game.EXE\0-fast\0"), "The Game.EXE");
        assert_eq!(program_name("wine", b"/home/me/game.exe\0"), "game.exe");
        assert_eq!(program_name("wineserver", b"/usr/bin/wineserver\0"), "wineserver");
        assert_eq!(program_name("wine64", b""), "wine64");
    }

    #[test]
    fn this_process_is_known() {
        assert!(executable_name().starts_with("samplin_platform-"), "{}", executable_name());
        assert!(!is_elevated());
        assert!(process_exists(process_id()));
        assert!(process_exists(1), "a process that may not be signalled exists too");
        assert!(!process_exists(0) && !process_exists(u32::MAX) && !process_exists(i32::MAX as u32));
        let own = thread_id();
        let other = std::thread::spawn(thread_id).join().expect("the thread ends");
        assert!(own != 0 && other != 0 && own != other);
    }

    #[test]
    fn time_passes() {
        let first = now_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = now_ns();
        assert!(second - first >= 2_000_000 && second < 3_600_000_000_000, "{first} then {second}");
    }

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
