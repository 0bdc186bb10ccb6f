//! A display and a driver where there are none.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Environment;
use crate::failure::{Failure, Result};
use crate::system::System;

/// How long Xvfb may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was brought up; ends with it.
#[derive(Debug)]
pub(super) struct Display {
    server: Option<Child>,
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// Starts an X server without a screen if there is no display, and chooses lavapipe if there is no GPU for one.
pub(super) fn prepare(system: &System, environment: &mut Environment) -> Result<Display> {
    let displays = ["WAYLAND_DISPLAY", "DISPLAY"];
    let display = displays.into_iter().find_map(|name| Some((name, system.variable(name)?)));
    let needs_driver = system.chosen_drivers().is_none() && (display.is_none() || !system.has_gpu());
    // First, because nothing has to be ended if it fails.
    if needs_driver {
        let manifest = system.lavapipe().ok_or_else(|| {
            Failure::environment("there is no GPU for a virtual display, and lavapipe is not installed")
                .hint("on Debian or Ubuntu: sudo apt-get install mesa-vulkan-drivers")
        })?;
        let why = if system.has_gpu() { "a virtual display" } else { "no GPU" };
        environment.note(format!("{why}: the driver is lavapipe ({})", manifest.display()));
        // Old loaders know the second name only.
        environment.set("VK_DRIVER_FILES", &manifest);
        environment.set("VK_ICD_FILENAMES", &manifest);
    }
    match display {
        Some((name, value)) => {
            environment.note(format!("the display is {name}={value}"));
            Ok(Display { server: None })
        }
        None => {
            let (server, number) = start_server(system)?;
            environment.note(format!("no display: started Xvfb as :{number}"));
            environment.set("DISPLAY", format!(":{number}"));
            environment.remove("WAYLAND_DISPLAY");
            Ok(Display { server: Some(server) })
        }
    }
}

/// Starts Xvfb on a display that it finds free; returns it with the number.
fn start_server(system: &System) -> Result<(Child, u32)> {
    let program = system.program("Xvfb").ok_or_else(|| {
        Failure::environment("there is no display, and Xvfb is not installed")
            .hint("on Debian or Ubuntu: sudo apt-get install xvfb")
    })?;
    let mut server = Command::new(program)
        // Without -noreset the server starts anew whenever its last client leaves, and refuses who comes then.
        .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::environment(format!("Xvfb cannot be started: {error}")))?;
    let (Some(stdout), Some(mut stderr)) = (server.stdout.take(), server.stderr.take()) else {
        return Err(Failure::environment("Xvfb cannot be started"));
    };
    let (sender, receiver) = mpsc::channel();
    // The thread ends with the server, which closes the pipe.
    thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines();
        let number = lines.next().and_then(std::result::Result::ok).and_then(|line| line.trim().parse::<u32>().ok());
        let _ = sender.send(number);
        lines.for_each(drop);
    });
    let number = receiver.recv_timeout(PATIENCE).ok().flatten();
    let Some(number) = number else {
        let _ = server.kill();
        let _ = server.wait();
        let mut said = String::new();
        let _ = stderr.read_to_string(&mut said);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned();
        return Err(Failure::environment(format!("Xvfb did not start: {last}")));
    };
    // What it says later must not fill the pipe.
    thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    Ok((server, number))
}
