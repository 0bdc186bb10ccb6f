//! Applications of Android.

use std::path::PathBuf;

/// The first user id of applications. Source: `AID_APP_START` of Android's `android_filesystem_config.h`.
const FIRST: u32 = 10_000;

/// How many ids each user of the device has. Source: `AID_USER_OFFSET`, likewise.
const OF_USER: u32 = 100_000;

/// Whether a process of this user is an application, which has its own user and no rights to lose.
pub(super) fn is_application(user: u32) -> bool {
    user % OF_USER >= FIRST
}

/// The name of the package, by the arguments of a process, each ended by a NUL byte: a process besides the first has a name of its
/// own after a colon.
pub(super) fn package(command: &[u8]) -> Option<&str> {
    let name = command.split(|&byte| byte == 0 || byte == b':').next()?;
    std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.contains('/'))
}

/// Where a package has its files, for this user id.
/// Source: "Data directory" in Android's storage documentation: `/data/user/USER/PACKAGE`, in which `files` is `getFilesDir`.
fn folder(user: u32, command: &[u8]) -> Option<PathBuf> {
    let package = package(command).filter(|_| is_application(user))?;
    Some(PathBuf::from(format!("/data/user/{}/{package}/files", user / OF_USER)))
}

/// The folder for files of the application that this process is.
#[cfg(target_os = "android")]
pub(crate) fn files() -> Option<PathBuf> {
    // SAFETY: geteuid takes no argument and cannot fail (geteuid(2)).
    let user = unsafe { libc::geteuid() };
    folder(user, &std::fs::read("/proc/self/cmdline").ok()?)
}

/// Says a line in the system's log.
#[cfg(all(target_os = "android", feature = "logcat"))]
pub(crate) fn log(line: &str) {
    #[link(name = "log")]
    unsafe extern "C" {
        /// Of `android/log.h`.
        fn __android_log_write(
            priority: libc::c_int,
            tag: *const libc::c_char,
            text: *const libc::c_char,
        ) -> libc::c_int;
    }
    /// `ANDROID_LOG_INFO` of the same header.
    const INFO: libc::c_int = 4;
    let Ok(text) = std::ffi::CString::new(line.replace('\0', " ")) else { return };
    // SAFETY: both texts are null-terminated and live.
    unsafe { __android_log_write(INFO, c"samplin".as_ptr(), text.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_have_folders() {
        let of = |user, command: &[u8]| folder(user, command).map(|path| path.display().to_string());
        assert_eq!(of(10_123, b"com.example.game\0"), Some("/data/user/0/com.example.game/files".to_owned()));
        assert_eq!(
            of(1_010_123, b"com.example.game:render\0x\0"),
            Some("/data/user/10/com.example.game/files".to_owned())
        );
        // The shell, the system, and what names a program instead of a package.
        assert_eq!(of(2_000, b"com.example.game\0"), None);
        assert_eq!(of(1_001_000, b"system_server\0"), None);
        assert_eq!(of(10_123, b"/data/local/tmp/test\0"), None);
        assert_eq!(of(10_123, b""), None);
    }
}
