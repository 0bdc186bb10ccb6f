//! The functions that `scripts/fuzz` runs under libFuzzer, on their seeds and for a moment on damaged and random bytes.

use samplin_fuzz_targets as targets;
use std::path::{Path, PathBuf};

/// A change such as an editor, a full disk or a bad cable would make.
fn damage(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let at = random.usize(..=bytes.len());
    match random.u8(..5) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.u8(..)),
        2 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
        3 if at < bytes.len() => _ = bytes.remove(at),
        _ => {
            let piece: Vec<u8> = bytes.iter().skip(at).take(random.usize(1..40)).copied().collect();
            let to = random.usize(..=bytes.len());
            bytes.splice(to..to, piece);
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder of seeds");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Runs `target` on its seeds and on what becomes of them.
fn run(name: &str, target: fn(&[u8])) {
    let mut files = files_of(&format!("fuzz/seeds/{name}"));
    assert!(!files.is_empty(), "{name} has no seeds");
    // Files that are there for something else, as `scripts/fuzz` takes them.
    if name == "rules" {
        files.extend(samplin_testkit::folder::files(root().join("tests/data/rules"), "toml"));
        files.push(root().join("manifest/samplin.toml"));
    }
    // Both passes are about the same declarations.
    if name == "sample_inputs" {
        files.extend(files_of("fuzz/seeds/sample_builtins"));
    }
    // What once was survived badly.
    let found = format!("fuzz/found/{name}");
    if root().join(&found).is_dir() {
        files.extend(files_of(&found));
    }
    let mut seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a seed")).collect();
    seeds.sort();
    seeds.push(Vec::new());
    let mut random = fastrand::Rng::with_seed(7);
    let mut inputs = 0;
    for seed in seeds.iter().cycle().take(400) {
        let mut bytes = seed.clone();
        target(&bytes);
        for _ in 0..4 {
            damage(&mut bytes, &mut random);
            target(&bytes);
        }
        let mut noise = vec![0; random.usize(..200)];
        random.fill(&mut noise);
        target(&noise);
        inputs += 6;
    }
    println!("{name}: {inputs} inputs");
}

#[test]
fn settings_that_say_anything() {
    run("settings", targets::settings);
    // The target has one file for all inputs.
    if let Some(file) = std::env::var_os("VK_LAYER_SETTINGS_PATH") {
        let _ = std::fs::remove_file(file);
    }
}

/// Tests of functions, by the names that `scripts/fuzz` has for them.
macro_rules! tests {
    ($($test:ident: $name:ident)*) => {
        $(#[test]
        fn $test() {
            run(stringify!($name), targets::$name);
        })*
    };
}

tests! {
    chains_of_any_shape: chain
    rules_that_say_anything: rules
    traces_that_say_anything: trace
    shaders_that_say_anything: spirv
    links_of_any_kind: sampling
    samplers_that_are_looked_up_anywhere: select
    declarations_of_images_that_say_anything: image_access
    formats_of_images_that_say_anything: image_formats
    counters_of_any_kind: atomic_counters
    samples_of_any_kind: sample_builtins
    inputs_of_any_kind: sample_inputs
}
