//! The console sends Ctrl-C and Ctrl-Break to the program as well; only this process must outlive them, to say what the layer did.

use std::process::{Command, ExitStatus};

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
use windows_sys::core::BOOL;

use crate::failure::{Failure, Result};

/// Says that nothing else is to be done. A handler, because what ignores Ctrl-C without one is inherited by the program.
unsafe extern "system" fn outlive(_: u32) -> BOOL {
    1
}

/// Starts the program and waits for its end.
pub(super) fn attend(mut command: Command, name: &str) -> Result<(u32, ExitStatus)> {
    // SAFETY: the handler is a function of this program, which is there until it ends, and touches nothing.
    unsafe { SetConsoleCtrlHandler(Some(outlive), 1) };
    let mut child = command.spawn().map_err(|error| Failure::program(name, &error))?;
    let status = child.wait().map_err(|error| Failure::environment(format!("{name}: {error}")))?;
    Ok((child.id(), status))
}

/// Windows has none.
pub(super) fn signal(_: ExitStatus) -> Option<i32> {
    None
}

pub(super) fn signal_name(_: i32) -> String {
    String::new()
}
