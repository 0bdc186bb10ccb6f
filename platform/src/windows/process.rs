//! The process and the program it runs.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::{FromRawHandle as _, OwnedHandle};
use std::path::PathBuf;
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, HMODULE, STILL_ACTIVE};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN,
    GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW, GetModuleHandleExW, GetModuleHandleW,
    GetProcAddress,
};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::{ComputerNamePhysicalDnsHostname, GetComputerNameExW};
use windows_sys::Win32::System::SystemServices::SECURITY_MANDATORY_MEDIUM_RID;
use windows_sys::Win32::System::Threading::{
    GetCurrentThreadId, GetExitCodeProcess, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};
use windows_sys::core::w;

use super::owner;

/// Whether the process runs with more rights than programs of its user have: above medium integrity. The Vulkan loader ignores the
/// environment and the user's own layers then.
///
/// The environment, the working directory and the home folder then belong to somebody whom the process must not trust,
/// so settings come from the application alone and nothing is written.
///
/// Wine starts every process with such rights, on top of those of one Unix user: there it says nothing.
pub fn is_elevated() -> bool {
    has_high_integrity() && !is_wine()
}

/// Whether the process is above medium integrity, or may be.
pub fn has_high_integrity() -> bool {
    owner::integrity().is_none_or(|level| level > SECURITY_MANDATORY_MEDIUM_RID as u32)
}

/// Whether this is not Windows but Wine, which tells by a function of its own.
fn is_wine() -> bool {
    // SAFETY: both names end with a zero, and `ntdll` is part of every process.
    unsafe { GetProcAddress(GetModuleHandleW(w!("ntdll.dll")), c"wine_get_version".as_ptr().cast()) }.is_some()
}

/// The system's id of the calling thread, unique on the machine while the thread lives.
///
/// It is asked of the system each time: Rust's own thread ids live in thread-local storage that runs a destructor.
pub fn thread_id() -> u64 {
    // SAFETY: the function takes no argument and cannot fail.
    u64::from(unsafe { GetCurrentThreadId() })
}

/// The name of the host, if the system tells.
pub fn host_name() -> Option<String> {
    let mut name = [0_u16; 256];
    let mut length = name.len() as u32;
    // SAFETY: `name` has room for as many characters as `length` says, which is a live number.
    let result = unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, name.as_mut_ptr(), &raw mut length) };
    let text = String::from_utf16_lossy(name.get(..length as usize)?);
    (result != 0 && !text.is_empty()).then_some(text)
}

/// The file name of the running program without its folders, `"unknown"` if the system does not tell. What is not Unicode appears
/// as U+FFFD.
pub fn executable_name() -> String {
    std::env::current_exe()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The module that this code is in, after what the flags say is done to its use count.
fn module(flags: u32) -> Option<HMODULE> {
    let mut module = ptr::null_mut();
    let address = library_path as *const u16;
    // SAFETY: with this flag the second argument is an address in the module and no name, and `module` is a place for a handle.
    let found =
        unsafe { GetModuleHandleExW(flags | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, address, &raw mut module) } != 0;
    found.then_some(module)
}

/// The file that this code was loaded from: the layer's shared object, or the program that links the library.
pub fn library_path() -> Option<PathBuf> {
    let module = module(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT)?;
    let mut name = vec![0_u16; 260];
    loop {
        // SAFETY: the module is the one this code runs in, and `name` has room for as many characters as are said here.
        let length = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32) } as usize;
        if length < name.len() {
            return Some(PathBuf::from(OsString::from_wide(name.get(..length).filter(|name| !name.is_empty())?)));
        }
        // As many as there is room for: it was cut off. No path is longer than 32,767.
        if name.len() > 0x8000 {
            return None;
        }
        name.resize(name.len() * 2, 0);
    }
}

/// Keeps the library that this code is in loaded for the life of the process: a thread of the host may still return through one of
/// its functions after the loader has freed it.
pub fn keep_loaded() {
    module(GET_MODULE_HANDLE_EX_FLAG_PIN);
}

/// Whether a process with this id runs on the machine, as far as this process can see.
pub fn process_exists(pid: u32) -> bool {
    if pid == 0 {
        return false;
    }
    // SAFETY: the function takes numbers only.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if process.is_null() {
        return io::Error::last_os_error().raw_os_error() == Some(ERROR_ACCESS_DENIED as i32);
    }
    let mut code = 0;
    // SAFETY: the handle was just opened, and `code` is a live number. A process that has ended stays known while somebody has a
    // handle.
    let is_running = unsafe { GetExitCodeProcess(process, &raw mut code) } == 0 || code == STILL_ACTIVE as u32;
    // SAFETY: OpenProcess has just given this handle, and nobody else has it.
    drop(unsafe { OwnedHandle::from_raw_handle(process) });
    is_running
}

/// The monotonic clock of the system in nanoseconds, never 0.
pub(crate) fn monotonic_ns() -> u64 {
    let (mut count, mut frequency) = (0_i64, 0_i64);
    // SAFETY: both places are live numbers. Source: "On systems that run Windows XP or later, the function will always succeed".
    unsafe {
        QueryPerformanceCounter(&raw mut count);
        QueryPerformanceFrequency(&raw mut frequency);
    }
    let nanoseconds = i128::from(count) * 1_000_000_000 / i128::from(frequency.max(1));
    u64::try_from(nanoseconds).unwrap_or(1).max(1)
}
