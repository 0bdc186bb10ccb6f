//! Signals: those that the terminal does not send to the program itself are passed on.

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

/// Starts the program, passes signals on and waits for its end.
pub(super) fn attend(mut command: Command, name: &str) -> Result<(u32, ExitStatus)> {
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
    Ok((process, status))
}

/// The signal that ended a program, if one did.
pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

pub(super) fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map(|name| format!(" ({name})")).unwrap_or_default()
}
