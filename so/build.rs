//! Link flags of the shared object.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Folds functions of the same instructions into one; nothing compares the addresses of functions.
const FOLD: &str = "-Wl,--icf=all";

/// Whether this linker takes `flag`: GNU ld, which older toolchains and other systems use, has no [`FOLD`].
fn linker_takes(flag: &str, folder: &Path) -> bool {
    let probe = folder.join("probe.rs");
    fs::write(&probe, "").is_ok()
        && Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--crate-type", "cdylib", &format!("-Clink-arg={flag}"), "--target"])
            .arg(env::var_os("TARGET").unwrap_or_default())
            .args(env::var("RUSTC_LINKER").ok().map(|linker| format!("-Clinker={linker}")))
            // The caller's own flags may choose another linker.
            .args(
                env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().split('\u{1f}').filter(|flag| !flag.is_empty()),
            )
            .args(["--out-dir".as_ref(), folder.as_os_str(), probe.as_os_str()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// The commit that the sources are of, or nothing; of changes that are not committed it knows nothing.
fn commit() -> String {
    let said = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).stderr(Stdio::null()).output();
    let said = said.ok().filter(|said| said.status.success()).map(|said| said.stdout).unwrap_or_default();
    env::var("SAMPLIN_COMMIT").unwrap_or_else(|_| String::from_utf8_lossy(&said).trim().to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // One that is not there would count as changed each time.
    for file in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if Path::new(file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    println!("cargo:rerun-if-env-changed=SAMPLIN_COMMIT");
    println!("cargo:rustc-env=SAMPLIN_COMMIT={}", commit());
    if matches!(env::var("CARGO_CFG_TARGET_OS").as_deref(), Ok("linux" | "android")) {
        // A host thread may still return through one of our functions after the loader's dlclose:
        // the object stays mapped for the life of the process. Windows asks for that at run time (`platform::keep_loaded`).
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // Another object that exports a symbol of the same name must not redirect ours.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,relro,-z,now");
        if env::var("PROFILE").as_deref() == Ok("release") {
            // The profile's own `strip` is lost to packages that override another of its settings.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-s");
            let folder = env::var_os("OUT_DIR").expect("cargo names a folder for what build scripts make");
            if linker_takes(FOLD, Path::new(&folder)) {
                println!("cargo:rustc-cdylib-link-arg={FOLD}");
            }
        }
    }
}
