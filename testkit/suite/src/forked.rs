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
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A test that takes longer hangs; one that compiles shaders on a software driver takes a minute of a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
/// How often ended tests are looked for.
const PAUSE: Duration = Duration::from_millis(1);

/// Runs the tests of a program: as `libtest-mimic` does, which is what `cargo test` and `cargo nextest` expect, or, with
/// `--processes N --report FILE [FILTER]`, each in a copy of this process, N at once.
///
/// FILE gets a line of JSON for each test: `program`, `test`, `failed`, and `output`, what it wrote to standard output and error.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [program, processes, count, report, file, filter @ ..] = &arguments[..] else {
        return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
    };
    if processes != "--processes" || report != "--report" {
        return libtest_mimic::run(&Arguments::from_args(), trials).exit_code();
    }
    let count = count.parse().expect("a number of processes");
    let mut report = File::create(file).expect("a file for the report");
    let program = name_of(program);
    let selected = Arguments::from_iter([&program].into_iter().chain(filter));
    let names: Vec<String> =
        trials.iter().filter(|trial| !selected.is_filtered_out(trial)).map(|trial| trial.name().to_owned()).collect();

    load();
    let mut failures = 0;
    let mut running: Vec<Running> = Vec::new();
    let mut waiting = names.iter();
    loop {
        while running.len() < count
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
        let Some((index, failed)) = running.iter().enumerate().find_map(|(index, test)| Some((index, test.ended()?)))
        else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let Running { name, started, copy } = running.swap_remove(index);
        let output = copy.output();
        let verdict = if failed { "FAIL" } else { "ok" };
        println!("{verdict:>4} {:8.3} s  {program} {name}", started.elapsed().as_secs_f64());
        if failed {
            failures += 1;
            println!("{output}");
        }
        let record = json!({ "program": program, "test": name, "failed": failed, "output": output });
        writeln!(report, "{record}").expect("a report that can be written");
    }
    println!("{program}: {} tests, {failures} failed", names.len());
    if failures == 0 && !names.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
    match fork() {
        Some(copy) => {
            while copy.ended().is_none() {
                std::thread::sleep(PAUSE);
            }
            let path = PathBuf::from(copy.output());
            if path.is_absolute() {
                resident::keep(&path);
            }
        }
        None => {
            if let Ok(_context) = Context::builder().validation().build()
                && let Some(path) = resident::loaded_validation()
            {
                let _ = std::io::stdout().write_all(path.as_os_str().as_bytes());
            }
            std::process::exit(0);
        }
    }
}

/// A test that runs.
struct Running<'a> {
    name: &'a str,
    started: Instant,
    copy: Copy,
}

impl Running<'_> {
    /// Whether the test failed, once it has ended. One that has come to its limit is ended.
    fn ended(&self) -> Option<bool> {
        if self.started.elapsed() > LIMIT {
            // SAFETY: the group is that of a child that was not waited for, so the number is still its own.
            unsafe { libc::kill(-self.copy.process, libc::SIGKILL) };
        }
        self.copy.ended().map(|status| status != 0)
    }
}

/// A copy of this process.
struct Copy {
    process: libc::pid_t,
    /// Its standard output and error.
    output: File,
}

impl Copy {
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
    fn output(mut self) -> String {
        let mut written = Vec::new();
        self.output.rewind().and_then(|()| self.output.read_to_end(&mut written)).expect("a file in memory");
        String::from_utf8_lossy(&written).into_owned()
    }
}

/// Copies this process: the copy to this one, `None` to the copy, which writes to a file from then on and ends with this process.
fn fork() -> Option<Copy> {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux").count();
    assert_eq!(threads, 1, "the locks of other threads would stay taken in a copy");
    std::io::stdout().flush().expect("an open standard output");
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0, "no file in memory: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptor was just made and is owned by nothing else.
    let output = unsafe { File::from_raw_fd(file) };
    // SAFETY: there is no other thread, so that the copy can go on as this process would.
    let process = unsafe { libc::fork() };
    assert!(process >= 0, "no copy of this process: {}", std::io::Error::last_os_error());
    if process > 0 {
        return Some(Copy { process, output });
    }
    // SAFETY: both descriptors are open, and what standard output was stays open in the process that was copied.
    let replaced = unsafe { libc::dup2(output.as_raw_fd(), 1) == 1 && libc::dup2(output.as_raw_fd(), 2) == 2 };
    assert!(replaced, "no output of its own: {}", std::io::Error::last_os_error());
    // SAFETY: these concern the calling process alone. Its group is what it starts itself as well.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    None
}
