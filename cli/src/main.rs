//! The `samplin` command line tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    samplin_cli::main()
}
