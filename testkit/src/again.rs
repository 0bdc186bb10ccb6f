//! Running the test program again, for what needs a process of its own: an environment, a working directory, a death.
//!
//! The process that is started plays a [`part`] and ends with [`tell`]; [`run`] holds it to both.

#[cfg(unix)]
use crate::Folder;
use crate::skip::{Outcome, Skip};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the part to the process that is to play it. Not a name of the layer's: some tests want none of them set.
const PART: &str = "TEST_PROGRAM_PART";
/// Last words of a process that came to its end.
const DONE: &str = "the part is played";
/// What it says instead when it cannot play its part here.
const SKIPPED: &str = "the part cannot be played: ";

/// This program.
pub fn program() -> PathBuf {
    std::env::current_exe().expect("the running program has a path")
}

/// A copy of this program that runs as another user than the one who starts it.
///
/// # Errors
///
/// Where nobody may make one.
#[cfg(unix)]
pub fn of_another_user(folder: &Folder) -> Result<PathBuf, Skip> {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let allow =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("sets");
    allow(folder.path(), 0o777);
    let copy = folder.join("program");
    // Copied by another process: while this one held it open for writing, a child that another test starts at this moment
    // would hold it open too, and it could not be run.
    let copied = Command::new("cp").arg(program()).arg(&copy).status().expect("runs cp");
    assert!(copied.success());
    chown(&copy, Some(65_534), Some(65_534))
        .map_err(|_| Skip("only root can make a program of another user".into()))?;
    allow(&copy, 0o6755);
    Ok(copy)
}

/// The part that this process is to play; `None` when it is the one that runs the tests.
pub fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// Whether this process is to play that part.
pub fn plays(wanted: &str) -> bool {
    part().is_some_and(|part| part == wanted)
}

/// A process that plays `part`, where the program's `main` looks for one.
pub fn command(part: &str) -> Command {
    let mut command = Command::new(program());
    command.env(PART, part);
    command
}

/// A process of `program`, a copy of this one, in which the test `name` plays the part of that name.
pub fn test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "--nocapture", "--test-threads=1", name]).env(PART, name);
    command
}

/// The last words of a process that played its part.
pub fn tell(outcome: Outcome) {
    match outcome {
        Ok(()) => println!("{DONE}"),
        Err(Skip(reason)) => println!("{SKIPPED}{reason}"),
    }
}

/// What a process that played its part has said.
#[derive(Debug)]
pub struct Ended {
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
}

impl Ended {
    /// What it said about `key`, with `println!("{key}=…")`.
    pub fn said(&self, key: &str) -> &str {
        // libtest writes in front of the first, on the same line.
        let (_, rest) = self.stdout.split_once(&format!("{key}=")).unwrap_or_else(|| panic!("no {key} in {self:?}"));
        rest.lines().next().unwrap_or_default()
    }
}

/// Runs such a process, which has to come to its end.
/// The error is what it was [told](tell) to skip for.
pub fn run(command: &mut Command) -> Result<Ended, Skip> {
    let output = command.output().expect("the program starts again");
    let [stdout, stderr] = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    if let Some((_, reason)) = stdout.split_once(SKIPPED) {
        return Err(Skip(reason.trim().to_owned()));
    }
    assert!(output.status.success() && stdout.contains(DONE), "{}\n{stdout}\n{stderr}", output.status);
    Ok(Ended { stdout, stderr })
}

/// Runs `body` in a process of its own, which is the test `name` again, and returns what it said.
pub fn alone(name: &str, body: impl FnOnce()) -> Ended {
    if plays(name) {
        body();
        tell(Ok(()));
        // What it said is looked at by the process that started this one.
        std::process::exit(0);
    }
    let ended = run(&mut test(&program(), name)).expect("nothing is skipped there");
    println!("{}", ended.stdout);
    ended
}
