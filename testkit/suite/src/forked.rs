//! Runs each test in a copy of one process.
//!
//! A test that has a process to itself can break nothing but itself, and loads driver, validation layer and schema anew, which takes
//! longer than most of what it does with them. So the program loads them once and forks for each test. What a test changes in memory and
//! in its environment ends with its copy.

use crate::run;
use libtest_mimic::{Arguments, Trial};
use samplin_testkit::{Context, layer, resident};
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A test that takes longer hangs; one that compiles shaders on a software driver takes a minute of a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
/// What a test program says at its end when nothing failed.
const PASSED: &str = "test result: ok.";
/// How often ended tests are looked for.
const PAUSE: Duration = Duration::from_millis(1);

/// Runs the tests of a program: as `libtest-mimic` does, which is what `cargo test` and `cargo nextest` expect, or, with
/// `--processes N --report FILE [FILTER]`, each in a copy of this process, N at once.
///
/// FILE gets a line of JSON for each test: `program`, `test`, `failed`, and `output`, what it wrote to standard output and error.
///
/// A test fails that does not say at its end that it passed, and one that takes longer than five minutes, which is ended with what it
/// has started.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    main_within(trials, LIMIT)
}

/// The same with another limit for each test.
pub fn main_within(trials: Vec<Trial>, limit: Duration) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [program, processes, count, report, file, filter @ ..] = &arguments[..] else {
        return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
    };
    if processes != "--processes" || report != "--report" {
        return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
    }
    let count: NonZeroUsize = count.parse().expect("a number of processes");
    let mut report = File::create(file).expect("a file for the report");
    let program = name_of(program);
    let selected = Arguments::from_iter([&program].into_iter().chain(filter));
    let names: Vec<String> =
        trials.iter().filter(|trial| !selected.is_filtered_out(trial)).map(|trial| trial.name().to_owned()).collect();

    load();
    let (mut ended, mut failures) = (0, 0);
    let mut running: Vec<Running> = Vec::new();
    let mut waiting = names.iter();
    loop {
        while running.len() < count.get()
            && let Some(name) = waiting.next()
        {
            match fork() {
                Some(copy) => running.push(Running { name, started: Instant::now(), copy }),
                None => {
                    // On the thread that is there, which the test would have had in a process of its own.
                    let only = Arguments::from_iter([&*program, "--exact", "--nocapture", "--test-threads=1", name]);
                    return libtest_mimic::run(&only, trials).exit_code();
                }
            }
        }
        if running.is_empty() {
            break;
        }
        let Some((index, status)) = running.iter().enumerate().find_map(|(at, test)| Some((at, test.ended(limit)?)))
        else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let Running { name, started, copy } = running.swap_remove(index);
        let mut output = copy.output();
        let failed = status != 0 || !output.contains(PASSED);
        if libc::WIFSIGNALED(status) {
            let limit = if started.elapsed() > limit { ", when its time was over" } else { "" };
            output += &format!("\nended by signal {}{limit}\n", libc::WTERMSIG(status));
        }
        ended += 1;
        let verdict = if failed { "FAIL" } else { "ok" };
        println!("{verdict:>4} {:8.3} s  {program} {name}", started.elapsed().as_secs_f64());
        if failed {
            failures += 1;
            println!("{output}");
        }
        let record = json!({ "program": program, "test": name, "failed": failed, "output": output });
        writeln!(report, "{record}").expect("a report that can be written");
    }
    println!("{program}: {ended} tests of {}, {failures} failed", names.len());
    if failures == 0 && ended == names.len() && ended > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A program's name, without the number that cargo appends.
fn name_of(program: &str) -> String {
    let stem = Path::new(program).file_stem().expect("a program's path").to_string_lossy();
    stem.rsplit_once('-').map_or(&*stem, |(name, _)| name).to_owned()
}

/// Loads what every test uses. A copy, which ends at once, makes an instance and says which validation layer that loads: threads that
/// a driver starts for an instance would not be in later copies.
fn load() {
    let _ = layer::install();
    resident::keep_loader();
    resident::keep_drivers();
    run::schema();
    let Some(copy) = fork() else {
        match Context::builder().validation().build() {
            Ok(_context) => println!("\n{}", resident::loaded_validation().unwrap_or_default().display()),
            Err(error) => println!("no context: {error}"),
        }
        std::process::exit(0);
    };
    let maker = Running { name: "load", started: Instant::now(), copy };
    let status = loop {
        match maker.ended(LIMIT) {
            Some(status) => break status,
            None => std::thread::sleep(PAUSE),
        }
    };
    let output = maker.copy.output();
    // After whatever the loader and the driver say.
    match output.lines().next_back().map(Path::new) {
        Some(path) if status == 0 && path.is_absolute() => resident::keep_validation_at(path),
        _ => println!("the validation layer is loaded for each test: {output}"),
    }
    // Some tests want it to be loaded, and one wants it not to be.
    assert_eq!(layer::loaded_library(), None, "the layer would be in every copy");
}

/// A test that runs.
struct Running<'a> {
    name: &'a str,
    started: Instant,
    copy: Forked,
}

impl Running<'_> {
    /// Its wait status, once it has ended. One that has come to the limit is ended.
    fn ended(&self, limit: Duration) -> Option<i32> {
        if self.started.elapsed() > limit {
            // SAFETY: the group is that of a child that was not waited for, so the number is still its own.
            unsafe { libc::kill(-self.copy.process, libc::SIGKILL) };
        }
        self.copy.ended()
    }
}

/// A copy of this process.
struct Forked {
    process: libc::pid_t,
    /// Its standard output and error.
    output: File,
}

impl Forked {
    /// Its wait status, once it has ended. To be asked no more after that.
    fn ended(&self) -> Option<i32> {
        let mut status = 0;
        // SAFETY: the status is this function's own, and the process a child of this one.
        match unsafe { libc::waitpid(self.process, &raw mut status, libc::WNOHANG) } {
            0 => None,
            process if process == self.process => Some(status),
            _ => panic!("a copy of this process cannot be waited for: {}", std::io::Error::last_os_error()),
        }
    }

    /// What it wrote.
    fn output(&self) -> String {
        // Where it is written next is shared with what the copy has started and left.
        let length = self.output.metadata().map_or(0, |file| file.len());
        let mut written = vec![0; usize::try_from(length).expect("less than memory")];
        self.output.read_exact_at(&mut written, 0).expect("a file in memory");
        String::from_utf8_lossy(&written).into_owned()
    }
}

/// Copies this process: the copy to this one, `None` to the copy, which writes to a file from then on and ends with this process. What
/// the copy starts does not.
fn fork() -> Option<Forked> {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux").count();
    assert_eq!(threads, 1, "the locks of other threads would stay taken in a copy");
    std::io::stdout().flush().expect("an open standard output");
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0, "no file in memory: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptor was just made and is owned by nothing else.
    let output = unsafe { File::from_raw_fd(file) };
    let parent = std::process::id();
    // SAFETY: there is no other thread, so that the copy can go on as this process would.
    let process = unsafe { libc::fork() };
    assert!(process >= 0, "no copy of this process: {}", std::io::Error::last_os_error());
    if process > 0 {
        return Some(Forked { process, output });
    }
    // SAFETY: both descriptors are open, and what standard output was stays open in the process that was copied.
    let replaced = unsafe { libc::dup2(output.as_raw_fd(), 1) == 1 && libc::dup2(output.as_raw_fd(), 2) == 2 };
    assert!(replaced, "no output of its own: {}", std::io::Error::last_os_error());
    // SAFETY: it takes numbers, and changes the calling process alone.
    let grouped = unsafe { libc::setpgid(0, 0) };
    assert_eq!(grouped, 0, "no group to end: {}", std::io::Error::last_os_error());
    // SAFETY: this option takes a number, and changes the calling process alone.
    let told = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    assert_eq!(told, 0, "no signal when it ends: {}", std::io::Error::last_os_error());
    assert_eq!(std::os::unix::process::parent_id(), parent, "the process that was copied is gone");
    None
}
