//! Tests that need a process of their own.

use std::process::Command;

/// Last words of such a process.
const DONE: &str = "all is well";
/// Set in the process that a test has of its own.
const ALONE: &str = "MOCK_TEST_ALONE";

/// Runs `body` in a process of its own, which is the test `name` again, and returns what it printed.
pub(crate) fn alone(name: &str, body: impl FnOnce()) -> String {
    alone_with_errors(name, body).0
}

/// [`alone`], and what the process wrote to standard error.
pub(crate) fn alone_with_errors(name: &str, body: impl FnOnce()) -> (String, String) {
    if std::env::var_os(ALONE).is_some() {
        body();
        println!("{DONE}");
        // The counts are looked at by the process that started this one.
        std::process::exit(0);
    }
    let program = std::env::current_exe().expect("this program");
    let out = Command::new(program)
        .env(ALONE, "1")
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg(name)
        .output()
        .expect("this program runs again");
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{}\n{said}\n{wrong}", out.status);
    assert!(said.contains(DONE), "{name} did not run:\n{said}");
    println!("{said}");
    (said.into_owned(), wrong.into_owned())
}
