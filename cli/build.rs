//! The commit that the program says it is of.

use std::process::{Command, Stdio};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // One that is not there would count as changed each time.
    for file in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if std::path::Path::new(file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    println!("cargo:rerun-if-env-changed=SAMPLIN_COMMIT");
    let said = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).stderr(Stdio::null()).output();
    let said = said.ok().filter(|said| said.status.success()).map(|said| said.stdout).unwrap_or_default();
    let commit = std::env::var("SAMPLIN_COMMIT").unwrap_or_else(|_| String::from_utf8_lossy(&said).trim().to_owned());
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = if commit.is_empty() { version } else { format!("{version} ({commit})") };
    println!("cargo:rustc-env=SAMPLIN_VERSION={version}");
}
