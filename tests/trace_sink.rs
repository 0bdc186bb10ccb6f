//! The trace as a process sees it: files, devices and pipes of every kind, threads, forks, full disks, and what the process
//! does to its own descriptors meanwhile.
//!
//! Tests that change the process (signals, limits, descriptors, user) do so in a forked child, which reports by its exit
//! status; tests of the environment run this program again.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use samplin::trace::{self, Trace};
use samplin_config::settings::{Level, TraceLevel, TraceTarget};
use samplin_platform as platform;
use samplin_testkit::again::{self, Ended};
use samplin_testkit::{Folder, skip};
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

// Records

#[test]
fn a_record_has_five_members_and_its_own() {
    #[derive(Serialize)]
    struct Body {
        text: &'static str,
        handle: String,
        floats: [Float; 5],
        nothing: Option<u32>,
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    let before = platform::now_ns();
    let floats = [1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0].map(Float);
    trace.emit("sampler", &Body { text: "a\n\"b\"", handle: handle(0xABC), floats, nothing: None });
    let found = records(&path);
    let [record] = &found[..] else {
        panic!("one record: {found:?}");
    };
    assert_eq!(record["seq"], 0);
    assert_eq!(record["pid"], std::process::id());
    assert_eq!(record["tid"], platform::thread_id());
    assert!((before..=platform::now_ns()).contains(&record["t_ns"].as_u64().expect("a number")));
    assert_eq!(record["event"], "sampler");
    assert_eq!(
        body(record),
        json!({
            "text": "a\n\"b\"", "handle": "0xabc", "nothing": null,
            "floats": [1.5, "NaN", "Infinity", "-Infinity", -0.0],
        })
    );
    let line = text(&path);
    assert!(line.starts_with("{\"seq\":0,\"t_ns\":") && line.contains(",\"event\":\"sampler\",\"text\":"), "{line}");
}

#[test]
fn every_shape_of_record_makes_a_line() {
    #[derive(Serialize)]
    struct Empty {}
    #[derive(Serialize)]
    struct Unit;
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    trace.emit("a", &Empty {});
    trace.emit("b", &Unit);
    trace.emit("c", &json!({"x": {}}));
    trace.emit("d", &json!([1, 2]));
    trace.emit("e", "text");
    trace.emit("f", &7);
    trace.emit("g", &std::collections::BTreeMap::from([("k", 1)]));
    let records = records(&path);
    assert_eq!(events(&records), ["a", "b", "c", "d", "e", "f", "g"]);
    assert_eq!(
        records.iter().map(body).collect::<Vec<_>>(),
        [
            json!({}),
            json!({}),
            json!({"x": {}}),
            json!({"value": [1, 2]}),
            json!({"value": "text"}),
            json!({"value": 7}),
            json!({"k": 1}),
        ]
    );
}

#[test]
fn a_record_that_cannot_be_serialised_is_dropped() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("broken"))
        }
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    trace.emit("a", &json!({}));
    trace.emit("b", &Broken);
    // Half of it is written already when it is found out.
    trace.emit("c", &(1, Broken));
    trace.emit("d", &std::collections::BTreeMap::from([(vec![1], 1)]));
    trace.emit("e", &json!({}));
    assert_eq!(trace.dropped(), 3);
    let records = records(&path);
    assert_eq!(events(&records), ["a", "e"]);
    assert_eq!(records[1]["seq"], 4, "the gap shows the loss");
}

#[test]
fn handles_are_hexadecimal() {
    assert_eq!(handle(0), "0x0");
    assert_eq!(handle(u64::MAX), "0xffffffffffffffff");
}

#[test]
fn levels_decide_what_is_wanted() {
    use TraceLevel::{All, Decisions, Summary};
    let folder = Folder::new();
    let wants = |level| {
        let (trace, _) = Trace::open(&target(&folder.join("t.jsonl")), level);
        assert_eq!(trace.level(), level);
        [Summary, Decisions, All].map(|level| trace.wants(level))
    };
    assert_eq!(wants(Summary), [true, false, false]);
    assert_eq!(wants(Decisions), [true, true, false]);
    assert_eq!(wants(All), [true, true, true]);
    assert_eq!([Summary, Decisions, All].map(|level| Trace::off().wants(level)), [false; 3]);
}

#[test]
fn off_is_off() {
    for trace in [Trace::off(), Trace::open(&TraceTarget::Off, TraceLevel::All).0] {
        trace.emit("a", &json!({}));
        assert!(!trace.is_on() && trace.path().is_none());
        assert_eq!(trace.dropped(), 0);
    }
}

// Files

#[test]
fn the_first_record_creates_the_file_and_its_folders_for_the_user_alone() {
    let folder = Folder::new();
    let path = folder.join("a/b/t.jsonl");
    let trace = open(&path);
    assert_eq!(trace.path(), Some(path.as_path()));
    assert!(!folder.join("a").exists(), "nothing is created before");
    trace.emit("a", &json!({}));
    for (path, mode) in [(&path, 0o600), (&folder.join("a"), 0o700), (&folder.join("a/b"), 0o700)] {
        let found = fs::metadata(path).expect("exists").mode() & 0o777;
        assert_eq!(found, mode, "{}: {found:o}", path.display());
    }
}

#[test]
fn a_trace_without_records_leaves_no_file() {
    let folder = Folder::new();
    drop(open(&folder.join("t.jsonl")));
    assert!(!folder.join("t.jsonl").exists());
}

#[test]
fn records_are_appended_and_permissions_kept() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "{\"event\":\"earlier\"}\n").expect("writes");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("sets");
    open(&path).emit("a", &json!({}));
    open(&path).emit("b", &json!({}));
    assert_eq!(events(&records(&path)), ["earlier", "a", "b"]);
    assert_eq!(fs::metadata(&path).expect("exists").mode() & 0o777, 0o644);
}

#[test]
fn a_file_that_ends_in_the_middle_of_a_line_goes_on_with_a_fresh_one() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "{\"seq\":0,\"ev").expect("writes");
    let trace = open(&path);
    trace.emit("a", &json!({}));
    trace.emit("b", &json!({}));
    let text = text(&path);
    let (whole, torn) = whole_lines(&text);
    assert_eq!((events(&whole), torn), (vec!["a", "b"], 1), "{text}");
    assert!(!text.contains("\n\n"), "{text}");
}

#[test]
fn marks_in_the_path_are_expanded_and_it_becomes_absolute() {
    let folder = Folder::new();
    let trace = open(&folder.join("%e-%p-%d-%%-%x.jsonl"));
    let name = format!("{}-{}-{}-%-%x.jsonl", platform::executable_name(), std::process::id(), platform::date());
    assert_eq!(trace.path(), Some(folder.join(&name).as_path()));
    trace.emit("a", &json!({}));
    assert!(folder.join(&name).is_file());
    // A relative path stays where it was, wherever the process goes.
    in_child(|| {
        std::env::set_current_dir(folder.path()).expect("goes");
        let trace = open(Path::new("t.jsonl"));
        assert_eq!(trace.path(), Some(folder.join("t.jsonl").as_path()));
        std::env::set_current_dir("/").expect("goes");
        trace.emit("a", &json!({}));
    });
    assert_eq!(records(&folder.join("t.jsonl")).len(), 1);
}

#[test]
fn a_symbolic_link_is_refused() {
    let folder = Folder::new();
    let victim = folder.join("victim");
    fs::write(&victim, "precious").expect("writes");
    for (name, to) in [("link", victim.as_path()), ("dangling", &folder.join("nothing"))] {
        std::os::unix::fs::symlink(to, folder.join(name)).expect("links");
        assert!(refusal(&folder.join(name)).contains("symbolic link"));
    }
    assert_eq!(text(&victim), "precious");
    assert!(!folder.join("nothing").exists());
}

#[test]
fn a_symbolic_link_that_appears_later_is_refused_too() {
    let folder = Folder::new();
    let link = folder.join("t.jsonl");
    in_child(|| {
        let (_reader, silent) = pipe();
        redirect(&silent, 2);
        let trace = open(&link);
        std::os::unix::fs::symlink(folder.join("nothing"), &link).expect("links");
        trace.emit("a", &json!({}));
        trace.emit("b", &json!({}));
        assert!(!trace.is_on());
        assert_eq!(trace.dropped(), 1, "the record that found out");
    });
    assert!(!folder.join("nothing").exists());
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let folder = Folder::new();
    let victim = folder.join("victim");
    fs::write(&victim, "precious").expect("writes");
    fs::hard_link(&victim, folder.join("t.jsonl")).expect("links");
    assert!(refusal(&folder.join("t.jsonl")).contains("second name"));
    assert_eq!(text(&victim), "precious");
}

#[test]
fn another_users_file_is_refused() {
    if !is_root() {
        return skip("only root can make another user's file");
    }
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    fs::write(&path, "").expect("writes");
    std::os::unix::fs::chown(&path, Some(65_534), None).expect("gives it away");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("sets");
    assert!(refusal(&path).contains("another user"));
    assert_eq!(text(&path), "");
}

#[test]
fn folders_sockets_and_impossible_paths_are_refused() {
    let folder = Folder::new();
    assert!(refusal(folder.path()).to_lowercase().contains("directory"));
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("binds");
    assert!(refusal(&folder.join("socket")).contains("neither a file"));
    fs::write(folder.join("file"), "").expect("writes");
    assert!(refusal(&folder.join("file/t.jsonl")).to_lowercase().contains("not a directory"));
    assert!(refusal(&folder.join("file/a/t.jsonl")).to_lowercase().contains("not a directory"));
    refusal(&folder.join("x".repeat(300)));
}

#[test]
fn a_folder_without_write_permission_is_told_at_once() {
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("sets");
    in_child(|| {
        if is_root() {
            become_nobody();
        }
        let (_reader, silent) = pipe();
        redirect(&silent, 2);
        for name in ["t.jsonl", "a/b/t.jsonl"] {
            assert!(refusal(&folder.join(name)).contains("denied"));
        }
    });
}

#[test]
fn a_named_trace_that_fails_is_told_on_standard_error_in_one_line() {
    let folder = Folder::new();
    let (mut reader, writer) = pipe();
    in_child(|| {
        redirect(&writer, 2);
        refusal(folder.path());
        // Nothing can be created here, which root finds out by the first record only.
        let (trace, _) = Trace::open(&TraceTarget::Path("/proc/samplin/t.jsonl".to_owned()), TraceLevel::All);
        for _ in 0..3 {
            trace.emit("a", &json!({}));
        }
    });
    drop(writer);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("reads");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("samplin: there is no trace: ") && lines[0].contains(folder.text()), "{said}");
    assert!(lines[1].contains("/proc/samplin/t.jsonl: "), "{said}");
}

#[test]
fn odd_paths_are_survived() {
    for text in ["/tmp/a\0b", "", "/", ".", "..", "/dev/fd/987654"] {
        let (trace, problems) = Trace::open(&TraceTarget::Path(text.to_owned()), TraceLevel::All);
        assert!(!trace.is_on() && problems.len() == 1, "{text:?}: {problems:?}");
    }
    for text in ["~/", "%", "/dev/fd/-1", "/dev/fd/", "/proc/self/fd/x"] {
        let (trace, problems) = Trace::open(&TraceTarget::Path(text.to_owned()), TraceLevel::All);
        assert_eq!(trace.is_on(), problems.is_empty(), "{text:?}: {problems:?}");
    }
}

// Devices, pipes, inherited descriptors

#[test]
fn a_full_device_drops_each_record_after_one_attempt() {
    let trace = open(Path::new("/dev/full"));
    for _ in 0..100 {
        trace.emit("a", &json!({"x": "y".repeat(10_000)}));
    }
    assert_eq!(trace.dropped(), 100);
    assert!(trace.is_on(), "the disk may have room again later");
}

#[test]
fn the_null_device_takes_everything() {
    let trace = open(Path::new("/dev/null"));
    trace.emit("a", &json!({}));
    assert_eq!(trace.dropped(), 0);
}

#[test]
fn a_fifo_without_a_reader_is_refused_and_does_not_wait() {
    let folder = Folder::new();
    let path = folder.join("fifo");
    make_fifo(&path);
    assert!(refusal(&path).contains("nobody reads"));
}

#[test]
fn a_fifo_loses_records_when_it_is_full_and_goes_on_when_there_is_room() {
    let folder = Folder::new();
    let path = folder.join("fifo");
    make_fifo(&path);
    let mut options = OpenOptions::new();
    let mut reader = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path).expect("opens the end to read");
    let trace = open(&path);
    // Larger than what a pipe takes as a whole, so that one is cut off.
    let large = json!({"x": "y".repeat(10_000)});
    for _ in 0..20 {
        trace.emit("a", &large);
    }
    let lost = trace.dropped();
    assert!(lost > 0 && lost < 20, "{lost}");
    let mut taken = Vec::new();
    let _ = reader.read_to_end(&mut taken);
    trace.emit("b", &large);
    trace.emit("c", &json!({}));
    let _ = reader.read_to_end(&mut taken);
    assert_eq!(trace.dropped(), lost);
    let (whole, torn) = whole_lines(std::str::from_utf8(&taken).expect("UTF-8"));
    assert_eq!(whole.len() as u64, 22 - lost);
    assert_eq!(torn, 1);
    assert!(events(&whole).ends_with(&["a", "b", "c"]), "{:?}", events(&whole));
    // The reader goes away, and the process lives on.
    drop(reader);
    trace.emit("d", &json!({}));
    assert_eq!(trace.dropped(), lost + 1);
}

#[test]
fn standard_error_gets_lines() {
    for target in [TraceTarget::Stderr, TraceTarget::Path("/dev/stderr".to_owned())] {
        let (mut reader, writer) = pipe();
        in_child(|| {
            let (trace, problems) = Trace::open(&target, TraceLevel::All);
            assert!(problems.is_empty() && trace.is_on() && trace.path().is_none());
            // Whatever it stands for by then.
            redirect(&writer, 2);
            trace.emit("a", &json!({}));
            trace.emit("b", &json!({}));
            drop(trace);
            assert!(is_open(2), "standard error is the process's");
        });
        drop(writer);
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("reads");
        let (whole, torn) = whole_lines(&said);
        assert_eq!((events(&whole), torn), (vec!["a", "b"], 0), "{said}");
    }
}

#[test]
fn a_closed_standard_error_is_survived() {
    in_child(|| {
        let (trace, _) = Trace::open(&TraceTarget::Stderr, TraceLevel::All);
        close(2);
        trace.emit("a", &json!({}));
        assert_eq!(trace.dropped(), 1);
    });
}

#[test]
fn an_inherited_descriptor_is_copied() {
    let (mut reader, writer) = pipe();
    let trace = open(Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())));
    drop(writer);
    trace.emit("a", &json!({}));
    assert!(trace.path().is_none());
    drop(trace);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("reads to the end: the copy is closed with the trace");
    assert_eq!(events(&whole_lines(&said).0), ["a"], "{said}");
    let read_only = File::open("/dev/null").expect("opens");
    let path = format!("/dev/fd/{}", read_only.as_raw_fd());
    assert!(refusal(Path::new(&path)).contains("not open for writing"));
}

#[test]
fn a_pipe_without_a_reader_does_not_end_the_process() {
    in_child(|| {
        // Rust's programs ignore the signal; a C program does not.
        // SAFETY: this restores the default action, in a child that has one thread.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (reader, writer) = pipe();
        let trace = open(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())));
        drop(reader);
        for _ in 0..3 {
            trace.emit("a", &json!({}));
        }
        assert_eq!(trace.dropped(), 3);
        assert!(!is_pending(libc::SIGPIPE) && !is_blocked(libc::SIGPIPE));
    });
}

#[test]
fn a_signal_of_the_process_stays_pending_and_one_of_the_traces_does_not() {
    for is_raised in [true, false] {
        in_child(|| {
            block(libc::SIGPIPE);
            if is_raised {
                // SAFETY: raise sends a signal that this thread blocks.
                unsafe { libc::raise(libc::SIGPIPE) };
            }
            let (reader, writer) = pipe();
            let trace = open(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())));
            drop(reader);
            trace.emit("a", &json!({}));
            assert_eq!(trace.dropped(), 1);
            assert_eq!(is_pending(libc::SIGPIPE), is_raised);
            assert!(is_blocked(libc::SIGPIPE));
        });
    }
}

// A full disk, and what the process does to itself

/// Sets how large the process's files may grow, in bytes.
fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a live structure that the call reads.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

#[test]
fn a_line_that_was_cut_off_is_followed_by_whole_ones() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    // A limit on the size of files cuts a line as a full disk does: part of it is written, then nothing more.
    in_child(|| {
        let trace = open(&path);
        let body = json!({"x": "y".repeat(200)});
        trace.emit("first", &body);
        let length = fs::metadata(&path).expect("exists").len();
        limit_file_size(length + 100);
        trace.emit("cut", &body);
        assert_eq!(trace.dropped(), 1);
        assert_eq!(fs::metadata(&path).expect("exists").len(), length + 100);
        for _ in 0..10 {
            trace.emit("lost", &body);
        }
        assert_eq!(trace.dropped(), 11);
        // Room for the newline only; it must not be written twice.
        limit_file_size(length + 101);
        trace.emit("lost", &body);
        assert_eq!(trace.dropped(), 12);
        limit_file_size(1 << 30);
        trace.emit("second", &body);
        trace.emit("third", &body);
        assert_eq!(trace.dropped(), 12);
        assert!(!is_pending(libc::SIGXFSZ) && !is_blocked(libc::SIGXFSZ));
    });
    let text = text(&path);
    let (whole, torn) = whole_lines(&text);
    assert_eq!((events(&whole), torn), (vec!["first", "second", "third"], 1), "{text}");
    assert!(!text.contains("\n\n"), "{text}");
}

#[test]
fn a_process_that_closes_every_descriptor_keeps_its_own_files_clean() {
    let folder = Folder::new();
    let (path, other) = (folder.join("t.jsonl"), folder.join("other"));
    in_child(|| {
        let trace = open(&path);
        trace.emit("a", &json!({}));
        // What a daemon does; then it opens files of its own, which get the same numbers.
        let highest = descriptors_of(&path)[0];
        (3..=highest).for_each(close);
        let mut options = OpenOptions::new();
        let own: Vec<File> = (0..20).map(|_| options.create(true).append(true).open(&other).expect("opens")).collect();
        assert!(own.iter().any(|file| file.as_raw_fd() == highest));
        trace.emit("b", &json!({}));
        drop(trace);
        assert!(own.iter().all(|file| is_open(file.as_raw_fd())), "the process's files stay open");
    });
    assert_eq!(events(&records(&path)), ["a", "b"]);
    assert_eq!(text(&other), "");
}

#[test]
fn a_trace_that_keeps_losing_its_descriptor_gives_up() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    in_child(|| {
        let trace = open(&path);
        for _ in 0..20 {
            trace.emit("a", &json!({}));
            descriptors_of(&path).into_iter().for_each(close);
        }
        assert!(!trace.is_on());
    });
    assert_eq!(records(&path).len(), 9);
}

#[test]
fn a_trace_never_becomes_a_standard_descriptor() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    in_child(|| {
        (0..3).for_each(close);
        let trace = open(&path);
        trace.emit("a", &json!({}));
        assert!((0..3).all(|descriptor| !is_open(descriptor)));
        assert_eq!(trace.dropped(), 0);
    });
    assert_eq!(records(&path).len(), 1);
}

#[test]
fn the_descriptor_is_closed_on_exec_and_with_the_trace() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    assert!(descriptors_of(&path).is_empty());
    trace.emit("a", &json!({}));
    let descriptors = descriptors_of(&path);
    assert_eq!(descriptors.len(), 1);
    // SAFETY: F_GETFD takes an integer and touches no memory of ours.
    let flags = unsafe { libc::fcntl(descriptors[0], libc::F_GETFD) };
    assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    drop(trace);
    assert!(descriptors_of(&path).is_empty());
}

// Threads and forks

#[test]
fn eight_threads_write_whole_lines_with_numbers_of_their_own() {
    const THREADS: usize = 8;
    const RECORDS: usize = 1000;
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = open(&path);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let trace = &trace;
            scope.spawn(move || {
                for record in 0..RECORDS {
                    trace.emit("a", &json!({"thread": thread, "record": record, "fill": "x".repeat(record)}));
                }
            });
        }
    });
    assert_eq!(trace.dropped(), 0);
    let records = records(&path);
    assert_eq!(records.len(), THREADS * RECORDS);
    let seqs: HashSet<_> = records.iter().map(|record| record["seq"].as_u64().expect("a number")).collect();
    assert_eq!(seqs.len(), THREADS * RECORDS);
    assert_eq!(seqs.iter().max(), Some(&(THREADS as u64 * RECORDS as u64 - 1)));
    let tids: HashSet<_> = records.iter().map(|record| record["tid"].as_u64()).collect();
    assert_eq!(tids.len(), THREADS);
    // Each thread's own records are in order, and their numbers and times rise.
    for thread in 0..THREADS {
        let own: Vec<_> = records.iter().filter(|record| record["thread"] == thread).collect();
        assert!(own.iter().enumerate().all(|(index, record)| record["record"] == index));
        let number = |record: &Value, member: &str| record[member].as_u64().expect("a number");
        assert!(own.windows(2).all(|pair| number(pair[0], "seq") < number(pair[1], "seq")));
        assert!(own.windows(2).all(|pair| number(pair[0], "t_ns") <= number(pair[1], "t_ns")));
    }
}

#[test]
fn a_file_opened_by_many_threads_at_once_is_opened_once() {
    let folder = Folder::new();
    for round in 0..50 {
        let path = folder.join(format!("a/{round}/t.jsonl"));
        let trace = open(&path);
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    trace.emit("a", &json!({}));
                });
            }
        });
        assert_eq!(records(&path).len(), 8);
        assert_eq!(descriptors_of(&path).len(), 1);
    }
}

#[test]
fn a_forked_child_goes_on_in_the_same_file_with_its_own_id() {
    let folder = Folder::new();
    let trace = open(&folder.join("%p.jsonl"));
    let path = trace.path().expect("a file").to_owned();
    trace.emit("parent", &json!({}));
    std::thread::scope(|scope| {
        // Another thread is in the middle of writing when the forks happen.
        scope.spawn(|| {
            for _ in 0..2000 {
                trace.emit("thread", &json!({"fill": "x".repeat(100)}));
            }
        });
        for _ in 0..10 {
            in_child(|| {
                for _ in 0..100 {
                    trace.emit("child", &json!({"fill": "y".repeat(100)}));
                }
                assert_eq!(trace.dropped(), 0);
            });
        }
    });
    let records = records(&path);
    let of = |event: &str| records.iter().filter(|record| record["event"] == event).collect::<Vec<_>>();
    assert_eq!((of("parent").len(), of("thread").len(), of("child").len()), (1, 2000, 1000));
    let pids: HashSet<_> = of("child").iter().map(|record| record["pid"].as_u64()).collect();
    assert_eq!(pids.len(), 10);
    assert!(of("child").iter().all(|record| record["pid"] != std::process::id() && record["tid"] == record["pid"]));
    let names: HashSet<_> = records.iter().map(|record| (record["pid"].as_u64(), record["seq"].as_u64())).collect();
    assert_eq!(names.len(), records.len(), "pid and seq name a record");
}

#[test]
fn a_child_forked_before_the_first_record_opens_the_same_file() {
    let folder = Folder::new();
    let trace = open(&folder.join("%p.jsonl"));
    in_child(|| trace.emit("child", &json!({})));
    trace.emit("parent", &json!({}));
    assert_eq!(events(&records(trace.path().expect("a file"))), ["child", "parent"]);
}

// The automatic file, in processes of their own

/// The child's part: opens the automatic trace, writes two records and says what came of it.
fn trace_automatically() {
    let (trace, problems) = Trace::open(&TraceTarget::Auto, TraceLevel::All);
    trace.emit("a", &json!({}));
    trace.emit("b", &json!({}));
    println!("pid={}", std::process::id());
    println!("path={}", trace.path().map_or_else(String::new, |path| path.display().to_string()));
    println!("on={} problems={} dropped={}", trace.is_on(), problems.len(), trace.dropped());
    again::tell(Ok(()));
}

#[test]
fn the_automatic_file_is_in_the_state_folder() {
    const NAME: &str = "the_automatic_file_is_in_the_state_folder";
    if again::plays(NAME) {
        return trace_automatically();
    }
    let folder = Folder::new();
    let home = folder.text();
    for (variables, state) in [
        (vec![("HOME", home)], folder.join(".local/state")),
        (vec![("HOME", "/nonexistent"), ("XDG_STATE_HOME", home)], folder.path().to_owned()),
        // A relative path is to be ignored.
        (vec![("HOME", home), ("XDG_STATE_HOME", "state")], folder.join(".local/state")),
    ] {
        let output = run_again(&again::program(), NAME, &variables);
        let name = format!("{}-{}.jsonl", platform::executable_name(), output.said("pid"));
        let path = state.join("samplin").join(name);
        assert_eq!(output.said("path"), utf8(&path));
        assert_eq!(output.said("on"), "true problems=0 dropped=0");
        assert_eq!(events(&records(&path)), ["a", "b"]);
        assert_eq!(fs::metadata(&path).expect("exists").mode() & 0o777, 0o600);
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn the_automatic_file_fails_silently() {
    const NAME: &str = "the_automatic_file_fails_silently";
    if again::plays(NAME) {
        return trace_automatically();
    }
    let folder = Folder::new();
    fs::write(folder.join("file"), "").expect("writes");
    for (state, on) in [
        ("", "false problems=1 dropped=0"),
        (utf8(&folder.join("file")), "false problems=1 dropped=0"),
        // What only the first record finds out, for root.
        ("/proc", "false problems="),
    ] {
        let output = run_again(&again::program(), NAME, &[("XDG_STATE_HOME", state)]);
        assert!(output.said("on").starts_with(on), "{output:?}");
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn twenty_automatic_files_are_kept() {
    const NAME: &str = "twenty_automatic_files_are_kept";
    if again::plays(NAME) {
        return trace_automatically();
    }
    let folder = Folder::new();
    let traces = folder.join("samplin");
    fs::create_dir(&traces).expect("creates");
    let mut ended = Command::new("true").spawn().expect("starts");
    ended.wait().expect("ends");
    let old = |age: u64| traces.join(format!("app{age:02}-{}.jsonl", ended.id()));
    for age in 1..=25 {
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * age);
        File::create(old(age)).and_then(|file| file.set_modified(then)).expect("creates");
    }
    fs::write(traces.join("notes.txt"), "").expect("writes");
    let output = run_again(&again::program(), NAME, &[("XDG_STATE_HOME", folder.text())]);
    let count = fs::read_dir(&traces).expect("reads").count();
    assert_eq!(count, 21, "20 traces and the notes");
    assert!(Path::new(output.said("path")).exists());
    assert!(traces.join("notes.txt").exists() && old(19).exists() && !old(20).exists());
}

#[test]
fn a_process_with_more_rights_than_its_user_writes_nothing() {
    const NAME: &str = "a_process_with_more_rights_than_its_user_writes_nothing";
    if again::plays(NAME) {
        assert_eq!(platform::is_elevated(), has_two_users());
        println!("elevated={}", platform::is_elevated());
        println!("home={:?}", platform::env("HOME"));
        let path = std::env::var("SAMPLIN_TEST_PATH").expect("is set");
        for target in [TraceTarget::Auto, TraceTarget::Stderr, TraceTarget::Path(path)] {
            let (trace, problems) = Trace::open(&target, TraceLevel::All);
            trace.emit("a", &json!({}));
            assert!(!platform::is_elevated() || (!trace.is_on() && problems.len() == 1));
        }
        return again::tell(Ok(()));
    }
    if !is_root() {
        return skip("only root can make a program of another user");
    }
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("sets");
    let program = folder.join("program");
    // Copied by another process: while this one held it open for writing, a child that another test starts at this moment
    // would hold it open too, and it could not be run.
    let copied = Command::new("cp").arg(again::program()).arg(&program).status().expect("runs cp");
    assert!(copied.success());
    std::os::unix::fs::chown(&program, Some(65_534), Some(65_534)).expect("gives it away");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).expect("sets");
    let path = folder.join("t.jsonl");
    let output = run_again(&program, NAME, &[("HOME", folder.text()), ("SAMPLIN_TEST_PATH", utf8(&path))]);
    if output.said("elevated") != "true" {
        return skip("set-user-id programs have no effect in the temporary folder");
    }
    assert_eq!(output.said("home"), "None");
    assert!(!path.exists() && !folder.join(".local").exists());
    assert_eq!(output.stderr, "");
}

// Diagnostics

/// The records of a trace whose text mentions `mark`: event and body.
fn bodies(path: &Path, mark: &str) -> Vec<(String, Value)> {
    let all = records(path);
    let marked = all.iter().filter(|record| record.to_string().contains(mark));
    marked.map(|record| (record["event"].as_str().unwrap_or_default().to_owned(), body(record))).collect()
}

#[test]
fn events_become_records_of_the_registered_traces() {
    let folder = Folder::new();
    let paths = ["1", "2", "3"].map(|name| folder.join(name));
    let traces = [0, 1, 2].map(|index| Arc::new(open(&paths[index])));
    trace::diagnostics_init();
    trace::diagnostics_init();
    trace::register(&traces[0]);
    trace::register(&traces[1]);

    let id = traces[0].id();
    tracing::error!(target: "samplin::settings", trace = id, key = "rule", file = "a.toml", line = 3_u32, "events1 bad");
    tracing::warn!(target: "samplin::settings", key = "events1", "two {}", 2);
    tracing::warn!(target: "samplin::guard", what = "events1", why = "a panic", rule = "flags", hook = "vkX", n = -1);
    tracing::error!(target: "samplin::guard", "events1 only a message");
    tracing::info!(target: "samplin", trace = id, what = "events1", "reason");
    // None of ours, too fine, or not an event.
    tracing::error!(target: "other", "events1");
    tracing::error!(target: "samplinx", "events1");
    tracing::debug!(target: "samplin::guard", "events1");
    let _span = tracing::error_span!(target: "samplin::guard", "events1").entered();

    let shared = [
        ("settings".to_owned(), json!({"level": "warning", "key": "events1", "message": "two 2"})),
        ("unresolved".to_owned(), json!({"what": "events1", "why": "a panic; hook=vkX; n=-1", "rule": "flags"})),
        ("unresolved".to_owned(), json!({"what": "events1 only a message", "why": "", "rule": null})),
    ];
    let bad = json!({"level": "error", "key": "rule", "file": "a.toml", "line": 3, "message": "events1 bad"});
    let mut first = vec![("settings".to_owned(), bad)];
    first.extend(shared.clone());
    first.push(("unresolved".to_owned(), json!({"what": "events1", "why": "reason", "rule": null})));
    assert_eq!(bodies(&paths[0], "events1"), first);
    assert_eq!(bodies(&paths[1], "events1"), shared);
    assert!(!paths[2].exists(), "it is not registered");
}

#[test]
fn a_trace_gets_no_events_after_it_is_unregistered_or_dropped() {
    let folder = Folder::new();
    let paths = ["1", "2"].map(|name| folder.join(name));
    let traces = [0, 1].map(|index| Arc::new(open(&paths[index])));
    trace::diagnostics_init();
    traces.iter().for_each(trace::register);
    tracing::error!(target: "samplin::guard", "events2 one");
    let [first, second] = traces;
    trace::unregister(&first);
    drop(second);
    tracing::error!(target: "samplin::guard", "events2 two");
    assert_eq!(bodies(&paths[0], "events2").len(), 1);
    assert_eq!(bodies(&paths[1], "events2").len(), 1);
    trace::unregister(&first);
}

#[test]
fn events_of_many_threads_arrive_while_traces_come_and_go() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let trace = Arc::new(open(&path));
    trace::diagnostics_init();
    trace::register(&trace);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    tracing::warn!(target: "samplin::guard", trace = trace.id(), "events3");
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                let brief = Arc::new(Trace::off());
                trace::register(&brief);
                trace::unregister(&brief);
            }
        });
    });
    assert_eq!(bodies(&path, "events3").len(), 800);
}

// The schema

/// The schema of the records.
fn schema() -> (PathBuf, Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/trace.schema.json");
    let schema = serde_json::from_str(&text(&path)).expect("JSON");
    (path, schema)
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string")).collect()
}

#[test]
fn the_schema_names_every_rule_setting_and_event() {
    let (_, schema) = schema();
    let rules = strings(&schema["$defs"]["rule"]["enum"]);
    for rule in samplin_core::decide::Rule::ALL {
        assert!(rules.contains(&rule.name()), "{}", rule.name());
    }
    let settings = &schema["$defs"]["layer"]["properties"]["settings"]["properties"];
    let loaded = samplin_config::settings::load(&[]);
    assert_eq!(settings.as_object().map(serde_json::Map::len), Some(loaded.sources.len()));
    for (key, ..) in &loaded.sources {
        assert!(settings[key].is_object(), "{key}");
    }
    for event in strings(&schema["properties"]["event"]["enum"]) {
        let members = schema["$defs"][event]["properties"].as_object().expect("a definition");
        assert!(!members.is_empty(), "{event}");
        let is_chosen = |choice: &Value| choice["if"]["properties"]["event"]["const"] == event;
        assert!(schema["allOf"].as_array().is_some_and(|choices| choices.iter().any(is_chosen)), "{event}");
    }
}

/// Checks each line of a file against the schema and says what is wrong; `examples` instead of a file stands for those in
/// the schema. Exit status 3: this Python cannot.
const VALIDATOR: &str = r#"
import json, sys
try:
    from jsonschema import Draft202012Validator as Validator
except ImportError:
    sys.exit(3)
schema = json.load(open(sys.argv[1], encoding="utf-8"))
Validator.check_schema(schema)
if sys.argv[2] == "examples":
    records = [example for event in schema["properties"]["event"]["enum"] for example in schema["$defs"][event]["examples"]]
else:
    records = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
validator = Validator(schema)
for record in records:
    for error in validator.iter_errors(record):
        print(record["event"], error.json_path, error.message)
    if validator.is_valid({**record, "unheard_of": 1}):
        print(record["event"], "may have any member")
print(len(records), "records")
"#;

/// What the validator says about `file`; `None` if there is none on this machine.
fn validate(file: &str) -> Option<String> {
    let (schema, _) = schema();
    let output = Command::new("python3").args(["-c", VALIDATOR, utf8(&schema), file]).output().ok()?;
    if output.status.code() == Some(3) {
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_schemas_examples_follow_it() {
    let Some(said) = validate("examples") else {
        return skip("python3 with jsonschema is not installed");
    };
    assert_eq!(said, "10 records\n");
}

#[test]
fn the_records_of_this_part_follow_the_schema() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let application = [("mode".to_owned(), "audit".to_owned()), ("brder".to_owned(), "x".to_owned())];
    let loaded = samplin_config::settings::load(&application);
    let trace = Arc::new(open(&path));
    trace.emit(
        "layer",
        &json!({
            "version": "0.1.0", "exe": platform::executable_name(), "app": null, "engine": null, "api_version": null,
            "settings": serde_json::to_value(loaded.effective()).expect("serialises"),
        }),
    );
    for problem in &loaded.problems {
        trace.emit("settings", problem);
    }
    trace::diagnostics_init();
    trace::register(&trace);
    let id = trace.id();
    tracing::error!(target: "samplin::settings", trace = id, key = "a", file = "b", line = 1, column = 2, "c");
    tracing::warn!(target: "samplin::settings", trace = id, "only a message");
    tracing::error!(target: "samplin::guard", trace = id, what = "a", why = "b", rule = "override", other = true);
    tracing::error!(target: "samplin::guard", trace = id, "only a message");
    trace::unregister(&trace);
    let count = records(&path).len();
    assert!(count >= 6, "{count}");
    let Some(said) = validate(utf8(&path)) else {
        return skip("python3 with jsonschema is not installed");
    };
    assert_eq!(said, format!("{count} records\n"));
}

// Nothing is left behind in the process's threads

/// The thread whose registrations are counted, 0 for none.
static WATCHED: AtomicU64 = AtomicU64::new(0);
static REGISTERED: AtomicU32 = AtomicU32::new(0);

type Destructor = unsafe extern "C" fn(*mut libc::c_void);

fn count() {
    if WATCHED.load(Ordering::Relaxed) == platform::thread_id() {
        REGISTERED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The C library's function of this name, which one of ours has replaced in this program.
fn real(name: &std::ffi::CStr) -> *mut libc::c_void {
    // SAFETY: the name is NUL-terminated.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!real.is_null());
    real
}

/// Takes the place of the C library's function. Rust's standard library calls it for thread-local values that have a
/// destructor.
#[unsafe(no_mangle)]
extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    object: *mut libc::c_void,
    library: *mut libc::c_void,
) -> libc::c_int {
    type Real = unsafe extern "C" fn(Destructor, *mut libc::c_void, *mut libc::c_void) -> libc::c_int;
    count();
    // SAFETY: the function of that name has this type, and the arguments are those that our caller gave.
    unsafe {
        let real = std::mem::transmute::<*mut libc::c_void, Real>(real(c"__cxa_thread_atexit_impl"));
        real(destructor, object, library)
    }
}

/// Takes the place of the C library's function. Rust's standard library calls it to be told of the end of a thread.
#[unsafe(no_mangle)]
extern "C" fn pthread_setspecific(key: libc::pthread_key_t, value: *const libc::c_void) -> libc::c_int {
    type Real = unsafe extern "C" fn(libc::pthread_key_t, *const libc::c_void) -> libc::c_int;
    count();
    // SAFETY: the function of that name has this type, and the arguments are those that our caller gave.
    unsafe {
        let real = std::mem::transmute::<*mut libc::c_void, Real>(real(c"pthread_setspecific"));
        real(key, value)
    }
}

/// Runs `body` on a thread that Rust knows nothing of, as a process's own threads are, and counts the destructors that it
/// registers.
fn registrations(mut body: fn()) -> u32 {
    extern "C" fn start(body: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the pointer is to the function pointer of the caller, who waits for this thread.
        let body = unsafe { *body.cast::<fn()>() };
        REGISTERED.store(0, Ordering::Relaxed);
        WATCHED.store(platform::thread_id(), Ordering::Relaxed);
        body();
        WATCHED.store(0, Ordering::Relaxed);
        std::ptr::null_mut()
    }
    let mut thread = 0;
    // SAFETY: all pointers are to live values; `body` outlives the thread, which is joined.
    unsafe {
        assert_eq!(libc::pthread_create(&raw mut thread, std::ptr::null(), start, (&raw mut body).cast()), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
    REGISTERED.load(Ordering::Relaxed)
}

#[test]
fn no_thread_gets_a_destructor() {
    /// Whether the body below got what it expected. It does not panic: that would register a destructor.
    static IS_FINE: AtomicU32 = AtomicU32::new(0);
    fn everything() {
        let folder = std::env::temp_dir().join(format!("samplin-trace-destructors-{}", std::process::id()));
        let loaded = samplin_config::settings::load(&[("mode".to_owned(), "x".to_owned())]);
        let (trace, problems) = Trace::open(&target(&folder.join("%e-%p-%d.jsonl")), TraceLevel::All);
        let trace = Arc::new(trace);
        trace::diagnostics_init();
        trace::register(&trace);
        trace.emit("a", &loaded.effective());
        tracing::error!(target: "samplin::guard", trace = trace.id(), what = "a", "b {}", 1);
        tracing::error!(target: "samplin::settings", "b");
        let (refused, _) = Trace::open(&target(&folder), TraceLevel::All);
        trace::unregister(&trace);
        let is_fine = problems.is_empty() && trace.dropped() == 0 && trace.is_on() && !refused.is_on();
        IS_FINE.store(u32::from(is_fine), Ordering::Relaxed);
        drop((trace, refused));
        let _ = fs::remove_dir_all(folder);
    }
    fn something_else() {
        std::hint::black_box(std::thread::current());
    }
    fn a_scoped_subscriber() {
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || ());
    }
    assert_eq!(registrations(everything), 0);
    assert_eq!(IS_FINE.load(Ordering::Relaxed), 1);
    assert!(registrations(something_else) > 0, "the count works");
    assert!(registrations(a_scoped_subscriber) > 0, "and sees what it is there to see");
}
