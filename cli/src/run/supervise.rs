//! Running a program as if it had been started without us: signals and the status go through.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::process::{Command, ExitStatus};

#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;

use crate::failure::Result;

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
            (Some(signal), _) => Some(format!("signal {signal}{}", system::signal_name(signal))),
            (None, 0) => None,
            (None, code) => Some(format!("exit status {code}")),
        }
    }
}

/// Starts the program, passes signals on and waits for its end.
pub(super) fn run(command: Command, name: &str) -> Result<Ended> {
    let (process, status) = system::attend(command, name)?;
    Ok(Ended { process, code: code(status), signal: system::signal(status) })
}

fn code(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| system::signal(status).map(|signal| 128 + signal)).unwrap_or(255);
    // What Windows has for a program that crashed does not fit, and must not end in 0.
    let is_lost = number != 0 && number & 0xff == 0;
    u8::try_from(number & 0xff).ok().filter(|_| !is_lost).unwrap_or(255)
}
