//! The trace as a process sees it: files, devices and pipes of every kind, threads, forks, full disks, and what the process
//! does to its own descriptors meanwhile.
//!
//! Tests that change the process (signals, limits, descriptors, user) do so in a forked child, which reports by its exit
//! status; tests of the environment run this program again.

mod automatic;
mod damage;
mod devices;
mod files;
mod leftovers;
mod records;
mod schema;
mod threads;

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use samplin::log;
use samplin::trace::Trace;
use samplin_config::settings::{Level, Log, TraceLevel, TraceTarget};
use samplin_platform as platform;
use samplin_testkit::again::{self, Ended};
use samplin_testkit::{Folder, skip};
use samplin_wire::kinds::Unresolved;
use samplin_wire::text::{Float, handle};
use serde::Serialize;
use serde_json::{Value, json};

// Helpers

fn utf8(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn target(path: &Path) -> TraceTarget {
    TraceTarget::Path(utf8(path).to_owned())
}

/// A trace to `path`, after a check that nothing is wrong with it.
fn open(path: &Path) -> Trace {
    let (trace, problems) = Trace::open(&target(path), TraceLevel::All);
    assert_eq!(problems, [], "{}", path.display());
    trace
}

/// Why there is no trace to `path`, after a check that there is none.
fn refusal(path: &Path) -> String {
    let (trace, problems) = Trace::open(&target(path), TraceLevel::All);
    assert!(!trace.is_on(), "{}", path.display());
    trace.emit("test", &json!({}));
    assert_eq!(trace.dropped(), 0, "what is off drops nothing");
    let [problem] = &problems[..] else {
        panic!("{}: {problems:?}", path.display());
    };
    assert_eq!((problem.level, problem.key.as_str()), (Level::Error, "trace"));
    assert!(problem.message.contains(utf8(path)), "{}", problem.message);
    problem.message.clone()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The records in a trace; every line must be whole.
fn records(path: &Path) -> Vec<Value> {
    let text = text(path);
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))).collect()
}

/// The lines of a trace that are records, and the number of others.
fn whole_lines(text: &str) -> (Vec<Value>, usize) {
    let (whole, torn): (Vec<_>, Vec<_>) = text.lines().map(serde_json::from_str).partition(Result::is_ok);
    (whole.into_iter().flatten().collect(), torn.len())
}

fn events(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["event"].as_str().unwrap_or_default()).collect()
}

/// The members of a record that are its own.
fn body(record: &Value) -> Value {
    let mut members = record.as_object().cloned().expect("an object");
    for member in ["seq", "t_ns", "pid", "tid", "event"] {
        assert!(members.remove(member).is_some(), "{member}");
    }
    Value::Object(members)
}

/// Runs `body` in a forked child, which may do to itself what it likes, and checks that it ends well.
fn in_child(body: impl FnOnce()) {
    // SAFETY: the child runs `body` and leaves by _exit, without going back to the test harness. `body` allocates, which
    // glibc's fork makes possible in the child of a process with several threads.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: _exit takes an integer and does not return.
        unsafe { libc::_exit(if ended.is_ok() { 0 } else { 101 }) };
    }
    assert!(pid > 0, "forks");
    let mut status = 0;
    // SAFETY: `pid` is a child of this process that nobody else waits for, and `status` is a live integer.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(waited, pid);
    assert!(!libc::WIFSIGNALED(status), "the child was ended by signal {}", libc::WTERMSIG(status));
    assert_eq!(libc::WEXITSTATUS(status), 0, "the child's exit status");
}

/// Runs the test called `name` of `program`, a copy of this one, in a process of its own with these variables.
fn run_again(program: &Path, name: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = again::test(program, name);
    command.env_remove("XDG_STATE_HOME").env_remove("HOME").envs(variables.iter().copied());
    again::run(&mut command).expect("it skips nothing")
}

/// A pipe: its end to read and its end to write.
fn pipe() -> (File, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: `ends` is an array of two integers, which is what pipe2 fills.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: pipe2 returned 0, so both are open descriptors that nobody else knows.
    unsafe { (File::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) }
}

/// Makes `to` stand for what `from` stands for. For children only, whose descriptors nobody else uses.
fn redirect(from: &impl AsRawFd, to: RawFd) {
    // SAFETY: dup2 takes two integers.
    assert_eq!(unsafe { libc::dup2(from.as_raw_fd(), to) }, to);
}

/// Closes a descriptor. For children only.
fn close(descriptor: RawFd) {
    // SAFETY: close takes an integer; the child does not use what it owned under this number again.
    unsafe { libc::close(descriptor) };
}

fn is_open(descriptor: RawFd) -> bool {
    // SAFETY: F_GETFD takes an integer and touches no memory of ours.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) != -1 }
}

/// The descriptors of this process that stand for `path`.
fn descriptors_of(path: &Path) -> Vec<RawFd> {
    let links = fs::read_dir("/proc/self/fd").expect("reads").flatten();
    let ours = links.filter(|link| fs::read_link(link.path()).is_ok_and(|file| file == path));
    ours.filter_map(|link| link.file_name().to_str()?.parse().ok()).collect()
}

fn make_fifo(path: &Path) {
    let name = std::ffi::CString::new(utf8(path)).expect("no NUL");
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

fn is_root() -> bool {
    // SAFETY: geteuid takes no argument and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Whether this process runs as another user than the one who started it.
fn has_two_users() -> bool {
    // SAFETY: neither takes an argument, and neither can fail.
    unsafe { libc::geteuid() != libc::getuid() }
}

/// Lets a child go on as a user without rights.
fn become_nobody() {
    // SAFETY: both take an integer; the child has no other thread that would have to follow.
    let done = unsafe { libc::setgid(65_534) == 0 && libc::setuid(65_534) == 0 };
    assert!(done, "changes the user");
}

fn set_of(signal: i32) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, to which sigaddset then adds.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        set.assume_init()
    }
}

fn block(signal: i32) {
    // SAFETY: the set is initialised, and no old one is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set_of(signal), std::ptr::null_mut()) };
}

fn is_blocked(signal: i32) -> bool {
    let mut set = set_of(signal);
    // SAFETY: without a new set, the call only writes the present one to `set`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set);
        libc::sigismember(&raw const set, signal) == 1
    }
}

fn is_pending(signal: i32) -> bool {
    let mut set = set_of(signal);
    // SAFETY: the call writes the pending signals to `set`.
    unsafe {
        libc::sigpending(&raw mut set);
        libc::sigismember(&raw const set, signal) == 1
    }
}
