//! What developers of samplin run: `scripts/NAME` builds this program and calls it with the same arguments.
//!
//! Each task is a module, whose `USAGE` is its help. The exit status is 0; 1 when something does not hold; 2 for wrong usage; 3 when an
//! input cannot be read.

mod alphabet;
mod coverage;
mod extensions;
mod imports;
mod instructions;
mod manifests;
mod opcodes;
mod registry;
mod report;
mod sizes;
mod views;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A task, called with its arguments.
type Task = fn(&[&str]) -> Outcome;

/// The tasks by their names.
const TASKS: [(&str, Task); 9] = [
    ("alphabet", alphabet::run),
    ("coverage", coverage::run),
    ("imports", imports::run),
    ("instructions", instructions::run),
    ("known-extensions", extensions::run),
    ("known-opcodes", opcodes::run),
    ("manifests", manifests::run),
    ("structure-sizes", sizes::run),
    ("test-report", report::run),
];

/// How a task ends without an answer.
enum Failure {
    /// The arguments are not those of its usage.
    Usage(&'static str),
    /// Something that it reads or runs fails.
    Input(String),
}

type Outcome = Result<bool, Failure>;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (name, rest) = arguments.split_first().unwrap_or((&"", &[]));
    let Some((_, run)) = TASKS.iter().find(|(task, _)| task == name) else {
        eprintln!("usage: xtask {} ARGUMENT…", TASKS.map(|(task, _)| task).join("|"));
        return ExitCode::from(2);
    };
    match run(rest) {
        Ok(holds) => ExitCode::from(u8::from(!holds)),
        Err(Failure::Usage(text)) if rest.last().is_some_and(|last| ["-h", "--help"].contains(last)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(Failure::Usage(usage)) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
        Err(Failure::Input(what)) => {
            eprintln!("samplin: {what}");
            ExitCode::from(3)
        }
    }
}
