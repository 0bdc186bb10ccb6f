//! Running a program as if it had been started without us: signals and the status go through.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::failure::{Failure, Result};

/// How a program ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// Its process id.
    pub(super) process: u32,
    /// Its exit status, 128 + n if signal n ended it.
    pub(super) code: u8,
    signal: Option<i32>,
}

impl Ended {
    /// For the summary; `None` if all went well.
    pub(super) fn describe(self) -> Option<String> {
        match (self.signal, self.code) {
            (Some(signal), _) => Some(format!("signal {signal}{}", signal_name(signal))),
            (None, 0) => None,
            (None, code) => Some(format!("exit status {code}")),
        }
    }
}

fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map(|name| format!(" ({name})")).unwrap_or_default()
}

/// Starts the program, passes signals on and waits for its end.
pub(super) fn run(mut command: Command, name: &str) -> Result<Ended> {
    let trouble = |what: &str, error: &dyn std::fmt::Display| Failure::environment(format!("{what}: {error}"));
    // Before the program starts, so that no signal is lost; a handler does not survive the program's start.
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])
        .map_err(|error| trouble("signals cannot be watched", &error))?;
    let handle = signals.handle();
    let mut child = command.spawn().map_err(|error| Failure::program(name, &error))?;
    let process = child.id();
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let alive = Arc::new(Mutex::new(pid));
    let target = Arc::clone(&alive);
    let forwarder = thread::spawn(move || {
        for origin in signals.forever() {
            // The terminal sends its signals to the program as well.
            if matches!(origin.cause, Cause::Kernel) {
                continue;
            }
            let target = target.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(pid), Some(signal)) = (*target, Signal::from_named_raw(origin.signal)) {
                let _ = kill_process(pid, signal);
            }
        }
    });
    // Leaves the process id in use until nobody can signal it any more.
    if let Some(pid) = pid {
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {
        }
    }
    *alive.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let status = child.wait().map_err(|error| trouble(name, &error))?;
    handle.close();
    let _ = forwarder.join();
    Ok(Ended { process, code: code(status), signal: status.signal() })
}

fn code(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255);
    u8::try_from(number & 0xff).unwrap_or(255)
}
