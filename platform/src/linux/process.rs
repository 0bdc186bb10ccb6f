//! The process and the program it runs.

use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::to_u64;
use super::undisturbed::Uncancelled;

/// Whether the process runs with more rights than the user who started it (`AT_SECURE`).
///
/// The environment, the working directory and the home folder then belong to somebody whom the process must not trust,
/// so settings come from the application alone and nothing is written.
///
/// An application of Android never is: it has a user of its own, and all have inherited the value of the process that they are
/// copies of.
///
/// Source: `getauxval(3)`, "AT_SECURE: Has a nonzero value if this executable should be treated securely".
pub fn is_elevated() -> bool {
    // SAFETY: geteuid takes no argument and cannot fail (geteuid(2)).
    #[cfg(target_os = "android")]
    if super::application::is_application(unsafe { libc::geteuid() }) {
        return false;
    }
    if cfg!(miri) {
        // The interpreter has no auxiliary vector.
        return false;
    }
    // SAFETY: getauxval reads the auxiliary vector, which the kernel wrote before the process started (getauxval(3)).
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The kernel's id of the calling thread, unique on the machine while the thread lives.
///
/// It is asked of the kernel each time: Rust's own thread ids live in thread-local storage that runs a destructor.
pub fn thread_id() -> u64 {
    // SAFETY: SYS_gettid takes no argument and cannot fail (gettid(2)).
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u64::try_from(id).unwrap_or(0)
}

/// The name of the host, if the system tells.
pub fn host_name() -> Option<String> {
    let mut name = [0_u8; 256];
    // SAFETY: gethostname writes at most so many bytes through the pointer, which is to an array of as many (gethostname(2)).
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    let text = CStr::from_bytes_until_nul(&name).ok()?.to_string_lossy().into_owned();
    (result == 0 && !text.is_empty()).then_some(text)
}

/// The file name of the running program without its folders, `"unknown"` if the system does not tell.
///
/// Under Wine it is the Windows program (`game.exe`), not Wine's own loader, and of an application of Android the package.
/// Bytes that are not UTF-8 appear as U+FFFD.
pub fn executable_name() -> String {
    let _uncancelled = Uncancelled::begin();
    let program = std::env::current_exe()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let command = if program.starts_with("wine") || program.starts_with(ZYGOTE) {
        std::fs::read("/proc/self/cmdline").unwrap_or_default()
    } else {
        Vec::new()
    };
    program_name(&program, &command)
}

/// What the program file of every application of Android is called, `app_process32` or `app_process64`.
const ZYGOTE: &str = "app_process";

/// The name to use for the program file `program`, given the process's arguments, each ended by a NUL byte.
fn program_name(program: &str, command: &[u8]) -> String {
    // Wine's loader keeps its own name in /proc/self/exe and puts the Windows path in the first argument.
    let first = command.split(|&byte| byte == 0).next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let windows = first
        .rsplit(['\\', '/'])
        .next()
        .filter(|name| program.starts_with("wine") && name.to_ascii_lowercase().ends_with(".exe"));
    let package = first.split(':').next().filter(|name| program.starts_with(ZYGOTE) && !name.is_empty());
    let name = windows.or(package).unwrap_or_else(|| program.strip_suffix(" (deleted)").unwrap_or(program));
    if name.is_empty() { "unknown" } else { name }.to_owned()
}

/// The file that this code was loaded from: the layer's shared object, or the program that links the library.
pub fn library_path() -> Option<PathBuf> {
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
    let name = unsafe { CStr::from_ptr(name) };
    std::path::absolute(OsStr::from_bytes(name.to_bytes())).ok()
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

/// The monotonic clock of the system in nanoseconds, never 0.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: clock_gettime writes one `timespec` through the pointer, which is to storage of that type (clock_gettime(2)).
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr()) } != 0 {
        return 1;
    }
    // SAFETY: clock_gettime returned 0, so it has filled the structure.
    let time = unsafe { time.assume_init() };
    to_u64(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(to_u64(time.tv_nsec)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(program_name("app_process64", b"com.example.game:render\0"), "com.example.game");
        assert_eq!(program_name("app_process64", b""), "app_process64");
    }

    #[test]
    fn this_process_is_known() {
        assert!(executable_name().starts_with("samplin_platform-"), "{}", executable_name());
        assert!(!is_elevated());
        assert!(process_exists(std::process::id()));
        assert!(process_exists(1), "a process that may not be signalled exists too");
        assert!(!process_exists(0) && !process_exists(u32::MAX) && !process_exists(i32::MAX as u32));
        let own = thread_id();
        let other = std::thread::spawn(thread_id).join().expect("the thread ends");
        assert!(own != 0 && other != 0 && own != other);
    }
}
