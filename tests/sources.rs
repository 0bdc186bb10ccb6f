//! What the layer's sources say about themselves.

use std::path::{Path, PathBuf};

/// The only place that may know the operating system.
const PLATFORM: &str = "platform/src";

/// How code reaches the operating system: its C library, the parts of Rust's library that differ between systems, files, the
/// environment and the process. Also declarations of C functions, and what a path asks of the file system.
const SYSTEM: &[&str] = &[
    "libc::",
    "std::os::",
    "std::fs",
    "std::env::",
    "std::process",
    "std::net",
    "std::thread::spawn",
    "std::path::absolute",
    "std::io::stderr",
    "std::io::stdout",
    "unsafe extern \"C\" {",
    ".is_file()",
    ".is_dir()",
    ".exists()",
    ".canonicalize()",
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("reads").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// The lines of a source that are part of the layer, with their numbers: no comment, nothing after the tests begin.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines
        .take_while(|(_, line)| !(line.starts_with("#[cfg(") && line.contains("test")))
        .filter(|(_, line)| !line.starts_with("//"))
}

/// The layer's sources that are in the platform module or are not, by their names from the root.
fn layer(inside: bool) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for part in ["bind", "config", "core", "hot", "platform", "reports", "so", "spirv", "wire", "."] {
        sources(&root.join(part).join("src"), &mut files);
    }
    let named = files.into_iter().map(|path| {
        let name = path.strip_prefix(root).expect("below the root").to_str().expect("UTF-8").to_owned();
        (name, std::fs::read_to_string(&path).expect("reads"))
    });
    let is_tests = |name: &str| name.ends_with("/tests.rs") || name.ends_with("/model.rs");
    named.filter(|(name, _)| !is_tests(name) && name.starts_with(PLATFORM) == inside).collect()
}

/// The lines of code of `sources` in which a word of `words` stands, as `path:line: code`.
fn lines_with(sources: &[(String, String)], words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources {
        let lines = code(text).filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        found.extend(lines.map(|(number, line)| format!("{name}:{number}: {line}")));
    }
    found
}

#[test]
fn only_the_platform_module_asks_the_operating_system() {
    let others = layer(false);
    assert!(others.len() > 40, "{} sources", others.len());
    assert_eq!(lines_with(&others, SYSTEM), Vec::<String>::new(), "these belong in platform/");
}

#[test]
fn the_platform_module_is_found_asking() {
    let platform = layer(true);
    for word in ["libc::", "std::os::", "std::fs", "std::env::", "std::process", ".is_file()"] {
        assert!(!lines_with(&platform, &[word]).is_empty(), "{word}");
    }
}

/// The keys of Rust's own hasher come from `getrandom`, at which a thread can be cancelled.
#[test]
fn no_set_has_random_keys() {
    let made = ["RandomState", "HashSet<", "HashMap<", "HashSet::", "HashMap::"];
    let found: Vec<String> = lines_with(&layer(false), &made)
        .into_iter()
        // The aliases that name a hasher of the layer's own, and what holds for sets of any hasher.
        .filter(|line| !line.contains("BuildHasher"))
        .collect();
    assert_eq!(found, Vec::<String>::new(), "FastMap and FastSet have none");
}

/// Where a manifest says `test = false` a unit test would never run.
#[test]
fn what_is_not_tested_has_no_tests() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let said = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    let workspace: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let mut left_out = Vec::new();
    for package in workspace["packages"].as_array().expect("packages") {
        let targets = package["targets"].as_array().expect("targets");
        let is = |target: &serde_json::Value, kinds: &[&str]| kinds.iter().any(|kind| target["kind"][0] == *kind);
        let has_library = targets.iter().any(|target| is(target, &["lib"]));
        for target in targets.iter().filter(|it| it["test"] == false && is(it, &["lib", "cdylib", "rlib", "bin"])) {
            let main = PathBuf::from(target["src_path"].as_str().expect("a path"));
            // The modules of a program are its own where there is no library.
            if is(target, &["bin"]) && has_library {
                left_out.push(main);
            } else {
                sources(main.parent().expect("a folder"), &mut left_out);
            }
        }
    }
    assert!(left_out.len() > 40, "{} files", left_out.len());
    left_out.retain(|path| std::fs::read_to_string(path).expect("reads").contains("#[test]"));
    assert_eq!(left_out, Vec::<PathBuf>::new());
}
