//! Compiles the shaders of cases that are about shaders into `OUT_DIR`, and writes the device there that one of them simulates.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Each source, and what the compiler is told of it: the counters are OpenGL's.
const SHADERS: [(&str, &[&str]); 4] = [
    ("count.comp", &["-G"]),
    ("store.hlsl", &["-V", "-D", "-e", "main", "-S", "comp"]),
    ("lamps.comp", &["-V"]),
    ("samples.frag", &["-V"]),
];

/// A device that the other is but for sample shading.
const DEVICE: &str = "../../devices/llvmpipe-mesa-22.3-debian12.json";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shaders");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (source, options) in SHADERS {
        let file = Path::new("shaders").join(source);
        let made = out.join(source).with_extension("spv");
        let mut command = Command::new("glslangValidator");
        command.arg("--quiet").args(options).arg("-o").arg(made).arg(file);
        let output = command.output().unwrap_or_else(|error| panic!("glslangValidator is needed to build: {error}"));
        assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stdout));
    }
    println!("cargo:rerun-if-changed={DEVICE}");
    let device = std::fs::read_to_string(DEVICE).expect("a capability file");
    let without = device.replacen("\"llvmpipe-mesa-22.3-debian12\"", "\"no-sample-shading\"", 1).replacen(
        "\"effective\": {",
        "\"effective\": {\n    \"sampleRateShading\": false,",
        1,
    );
    assert_eq!(
        without.matches("no-sample-shading").count() + without.matches("sampleRateShading").count(),
        2,
        "{DEVICE}"
    );
    std::fs::write(out.join("no-sample-shading.json"), without).expect("OUT_DIR is writable");
}
