//! The C compiler of the target that the tests are built for.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Its name: what `CC` names, else `cc` if it compiles for this target, else a cross compiler by its usual name.
fn name() -> String {
    if let Ok(named) = std::env::var("CC") {
        return named;
    }
    let machine = Command::new("cc").arg("-dumpmachine").output().map(|output| output.stdout).unwrap_or_default();
    let machine = String::from_utf8_lossy(&machine).into_owned();
    let own: &[&str] = match std::env::consts::ARCH {
        "x86" => &["i686", "i586", "i486", "i386"],
        other => &[other],
    };
    if machine.is_empty() || own.iter().any(|own| machine.starts_with(own)) {
        "cc".to_owned()
    } else {
        format!("{}-linux-gnu-gcc", own[0])
    }
}

/// What it says to `source`: whether it compiles, what it prints, what it complains of.
pub(crate) fn compile(arguments: &[&str], source: &str) -> (bool, String, String) {
    let compiler = name();
    let spawned = Command::new(&compiler)
        .args(["-std=gnu11", "-x", "c", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.unwrap_or_else(|error| {
        panic!("this test needs a C compiler, and {compiler} does not start: {error}. Install one or name it in CC.")
    });
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}
