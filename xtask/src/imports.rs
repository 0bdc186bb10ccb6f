//! How the files of the workspace import each other.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use regex_lite::Regex;
use serde::Deserialize;

use crate::{Failure, Outcome, read, root};

const USAGE: &str = "\
Checks how the files of the workspace import each other.

    scripts/imports [--list]

Four things must hold: no two files import each other, directly or by way of others (a file and the modules below it count as one
there: what they share is the face of the room); no crate depends on one that is not below it; no room imports what owns it, as no file
below `src/device/` names the `Device`; no file is longer than 600 lines, tests aside. --list prints every import between files.

Exit status: 0; 1 when something does not hold; 2 for wrong usage.";

/// How many lines a file may have.
const LONGEST: usize = 600;

/// Each crate, and the crates of this workspace that it may depend on outside of tests.
const BELOW: &[(&str, &[&str])] = &[
    ("samplin-core", &[]),
    ("samplin-spirv", &["samplin-core"]),
    ("samplin-platform", &[]),
    ("samplin-hot", &[]),
    ("samplin-bind", &["samplin-core", "samplin-hot"]),
    ("vk-layer-sys", &[]),
    ("samplin-wire", &["samplin-core"]),
    ("samplin-reports", &["samplin-core"]),
    ("samplin-capi", &["samplin-core", "samplin-reports"]),
    ("samplin-core-c", &["samplin-capi"]),
    ("samplin-config", &["samplin-core", "samplin-platform", "samplin-reports"]),
    ("samplin-predict", &["samplin-config", "samplin-core", "samplin-wire"]),
    ("samplin-page", &["samplin-config", "samplin-predict"]),
    (
        "samplin",
        &[
            "samplin-bind",
            "samplin-config",
            "samplin-core",
            "samplin-hot",
            "samplin-platform",
            "samplin-spirv",
            "samplin-wire",
            "vk-layer-sys",
        ],
    ),
    ("samplin-so", &["samplin", "vk-layer-sys"]),
    (
        "samplin-cli",
        &[
            "samplin-config",
            "samplin-core",
            "samplin-platform",
            "samplin-predict",
            "samplin-reports",
            "samplin-spirv",
            "samplin-testkit",
            "samplin-wire",
        ],
    ),
    ("samplin-testkit", &["samplin-spirv", "vk-layer-sys"]),
    ("samplin-suite", &["samplin-testkit"]),
    ("samplin-checker", &["samplin-core"]),
    ("samplin-compiler", &[]),
    ("samplin-fuzz-targets", &["samplin", "samplin-cli", "samplin-config", "samplin-core", "samplin-spirv"]),
    ("samplin-faults-layer", &["vk-layer-sys"]),
    ("samplin-v0-layer", &["samplin"]),
    ("samplin-forward-layer", &["vk-layer-sys"]),
    ("samplin-bench", &["samplin-hot", "samplin-testkit"]),
    ("samplin-gallery", &["samplin-testkit"]),
    ("xtask", &["samplin-config", "samplin-core"]),
];

/// Folders outside of the crates' `src` whose files count as well, and how these end.
const BESIDE: [(&str, &str); 2] = [("scripts", ""), ("examples/gallery", ".rs")];

/// The crate, the module and the name that owns rooms: no file below that module may name it.
const OWNER: (&str, &str, &str) = ("samplin", "device", "Device");

/// Names of modules, from the crate on.
type Names = Vec<String>;

struct Patterns {
    comment: Regex,
    tests: Regex,
    import: Regex,
    path: Regex,
    alias: Regex,
}

impl Patterns {
    fn new() -> Result<Patterns, Failure> {
        let new = |pattern| Regex::new(pattern).map_err(|error| Failure::Input(error.to_string()));
        Ok(Patterns {
            comment: new(r"//[^\n]*")?,
            // A module of tests at the end of a file, which may import what it likes.
            tests: new(r"(?ms)^#\[cfg\((?:all\()?test\b.*?^mod \w+ \{.*\z")?,
            import: new(r"(?s)\buse\s+((?:crate|super|self)\b[^;]*);")?,
            path: new(r"\b((?:crate|super)(?:::\w+)+)")?,
            alias: new(r"\s+as\s+\w+$")?,
        })
    }

    /// The paths that a `use` tree such as `crate::{a::B, c}` names.
    fn flatten(&self, tree: &str, before: &[String], out: &mut Vec<Names>) {
        let tree = tree.trim();
        let parts = |text: &str| text.split("::").map(|part| part.trim().to_owned()).collect::<Names>();
        let Some((head, inside)) = tree.split_once('{') else {
            let path = self.alias.replace(tree, "");
            return out.push([before, &parts(&path)].concat());
        };
        let head: Names = parts(head).into_iter().filter(|part| !part.is_empty()).collect();
        let head = [before, &head].concat();
        let (mut depth, mut start) = (1, 0);
        for (at, character) in inside.char_indices() {
            depth += match character {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            if character == ',' && depth == 1 || character == '}' && depth == 0 {
                if !inside[start..at].trim().is_empty() {
                    self.flatten(&inside[start..at], &head, out);
                }
                start = at + 1;
            }
        }
    }

    /// The paths that a module names, from the crate on.
    fn paths(&self, of: &[String], text: &str) -> Vec<Names> {
        let text = self.comment.replace_all(text, "");
        let text = self.tests.replace(&text, "");
        let mut paths = Vec::new();
        self.import.captures_iter(&text).for_each(|found| self.flatten(&found[1], &[], &mut paths));
        let rest = self.import.replace_all(&text, "");
        paths.extend(self.path.captures_iter(&rest).map(|found| found[1].split("::").map(str::to_owned).collect()));
        paths.iter().map(|path: &Names| absolute(of, path)).collect()
    }
}

/// A path as a module spells it, from the crate on.
fn absolute(of: &[String], path: &[String]) -> Names {
    let (mut at, mut rest) = (of, path);
    match path.first().map(String::as_str) {
        Some("crate") => (at, rest) = (&[], &path[1..]),
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|part| part == "super") {
        at = at.split_last().map_or(&[], |(_, before)| before);
        rest = &rest[1..];
    }
    [at, rest].concat()
}

/// The files below a folder that end so.
fn files(folder: &Path, end: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, end, out);
        } else if path.to_string_lossy().ends_with(end) {
            out.push(path);
        }
    }
    out.sort();
}

/// The modules of a crate with their files.
fn modules(source: &Path) -> Vec<(Names, PathBuf)> {
    let mut found = Vec::new();
    files(source, ".rs", &mut found);
    let mut out: Vec<(Names, PathBuf)> = Vec::new();
    for file in found {
        let short = file.strip_prefix(source).unwrap_or(&file).with_extension("");
        let mut parts: Names = short.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
            parts.pop();
        }
        match out.iter_mut().find(|(names, _)| *names == parts) {
            Some(module) => module.1 = file,
            None => out.push((parts, file)),
        }
    }
    out
}

/// The strongly connected components with more than one node (Tarjan, 1972).
struct Circles<'a> {
    graph: &'a [BTreeSet<usize>],
    number: Vec<Option<usize>>,
    low: Vec<usize>,
    stack: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl<'a> Circles<'a> {
    fn of(graph: &'a [BTreeSet<usize>]) -> Vec<Vec<usize>> {
        let (number, low) = (vec![None; graph.len()], vec![0; graph.len()]);
        let mut search = Circles { graph, number, low, stack: Vec::new(), count: 0, found: Vec::new() };
        for node in 0..graph.len() {
            if search.number[node].is_none() {
                search.visit(node);
            }
        }
        search.found
    }

    fn visit(&mut self, node: usize) {
        (self.number[node], self.low[node]) = (Some(self.count), self.count);
        self.count += 1;
        self.stack.push(node);
        for &other in &self.graph[node] {
            match self.number[other] {
                None => {
                    self.visit(other);
                    self.low[node] = self.low[node].min(self.low[other]);
                }
                Some(number) if self.stack.contains(&other) => self.low[node] = self.low[node].min(number),
                Some(_) => {}
            }
        }
        if Some(self.low[node]) == self.number[node] {
            let start = self.stack.iter().position(|one| *one == node).unwrap_or(0);
            let component = self.stack.split_off(start);
            if component.len() > 1 {
                self.found.push(component);
            }
        }
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

fn metadata() -> Result<Metadata, Failure> {
    let arguments = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
    let done = Command::new("cargo").args(arguments).current_dir(root()).output();
    let done = done.map_err(|error| Failure::Input(format!("cargo: {error}")))?;
    if !done.status.success() {
        return Err(Failure::Input(String::from_utf8_lossy(&done.stderr).into_owned()));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| Failure::Input(format!("cargo metadata: {error}")))
}

fn short(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}

/// What is wrong in a crate; prints its imports where `lists`.
fn judge(name: &str, source: &Path, patterns: &Patterns, lists: bool) -> Result<Vec<String>, Failure> {
    let mut wrong = Vec::new();
    let known = modules(source);
    let index: HashMap<&[String], usize> =
        known.iter().enumerate().map(|(at, (names, _))| (names.as_slice(), at)).collect();
    let mut graph = vec![BTreeSet::new(); known.len()];
    for (at, (module, file)) in known.iter().enumerate() {
        let text = read(file)?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let lines = patterns.tests.replace(&text, "").matches('\n').count();
        if lines > LONGEST && name != "samplin-testkit" && stem != "tests" {
            wrong.push(format!("{} has {lines} lines, more than {LONGEST}", short(file)));
        }
        if stem == "tests" || stem == "model" {
            continue;
        }
        let paths = patterns.paths(module, &text);
        let (owning, owner, owned) = OWNER;
        let is_owner = |path: &Names| path.len() > 1 && path[0] == owner && (path[1] == owned || path[1] == "*");
        if name == owning && module.len() > 1 && module[0] == owner && paths.iter().any(is_owner) {
            wrong.push(format!("{} imports {owned}, which owns it", short(file)));
        }
        for path in paths {
            let depth = (0..path.len()).take_while(|depth| index.contains_key(&path[..=*depth])).count();
            let other = &path[..depth];
            // Neither a module's own face nor what lies below it.
            if let Some(other_at) = index.get(other)
                && !other.starts_with(module)
                && !module.starts_with(other)
            {
                graph[at].insert(*other_at);
            }
        }
    }
    if lists {
        for (at, others) in graph.iter().enumerate() {
            let mut others: Vec<_> = others.iter().map(|other| &known[*other]).collect();
            others.sort();
            others.iter().for_each(|(_, other)| println!("{} -> {}", short(&known[at].1), short(other)));
        }
    }
    for circle in Circles::of(&graph) {
        let names: BTreeSet<String> = circle.iter().map(|at| short(&known[*at].1)).collect();
        let names: Vec<_> = names.into_iter().collect();
        wrong.push(format!("these files import each other: {}", names.join(", ")));
    }
    Ok(wrong)
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let lists = match arguments {
        [] => false,
        ["--list"] => true,
        _ => return Err(Failure::Usage(USAGE)),
    };
    let patterns = Patterns::new()?;
    let mut wrong = Vec::new();
    for package in metadata()?.packages {
        let name = &package.name;
        let Some((_, below)) = BELOW.iter().find(|(known, _)| known == name) else {
            wrong.push(format!("{name} is not in the list of crates in xtask/src/imports.rs"));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|one| one.kind.is_none() && one.path.is_some()) {
            if !below.contains(&dependency.name.as_str()) {
                wrong.push(format!("{name} depends on {}, which is not below it", dependency.name));
            }
        }
        let source = package.manifest_path.parent().unwrap_or(Path::new("")).join("src");
        if source.is_dir() {
            wrong.extend(judge(name, &source, &patterns, lists)?);
        }
    }
    for (folder, end) in BESIDE {
        let mut found = Vec::new();
        files(&root().join(folder), end, &mut found);
        for file in found.iter().filter(|file| file.parent() == Some(&root().join(folder))) {
            let lines = read(file)?.matches('\n').count();
            if lines > LONGEST {
                wrong.push(format!("{} has {lines} lines, more than {LONGEST}", short(file)));
            }
        }
    }
    wrong.iter().for_each(|line| eprintln!("samplin: {line}"));
    Ok(wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Names {
        path.split("::").map(str::to_owned).collect()
    }

    fn paths(of: &str, text: &str) -> Vec<String> {
        let found = Patterns::new().ok().unwrap().paths(&names(of), text);
        found.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn a_use_names_each_of_its_paths() {
        let text =
            "use crate::{a::{B, C as D}, e};\nuse super::f; use self::g::*;\nlet x = crate::h::I;\n// crate::no\n";
        assert_eq!(paths("m::n", text), ["a::B", "a::C", "e", "m::f", "m::n::g::*", "h::I"]);
        assert_eq!(paths("m", "use std::fs;\n#[cfg(test)]\nmod tests {\n    use crate::x;\n}\n"), [] as [&str; 0]);
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let graph = [[1], [2], [0], [0]].map(BTreeSet::from);
        let mut circles = Circles::of(&graph);
        circles.iter_mut().for_each(|circle| circle.sort_unstable());
        assert_eq!(circles, [[0, 1, 2]]);
        assert!(Circles::of(&[BTreeSet::from([1]), BTreeSet::new()]).is_empty());
    }

    #[test]
    fn a_crate_is_judged() {
        let folder = std::env::temp_dir().join(format!("xtask-imports-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("device")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        put("lib.rs", "mod a; mod b; mod device;");
        put("a.rs", "use crate::b::X;");
        put("b.rs", "struct X;");
        put("device.rs", "pub struct Device;");
        put("device/room.rs", "use super::other::Y;");
        let patterns = Patterns::new().ok().unwrap();
        let wrong = |name| judge(name, &folder, &patterns, false).ok().unwrap();
        assert_eq!(wrong("samplin"), [] as [&str; 0]);
        put("b.rs", "use super::a::Z;");
        put("device/room.rs", "use super::Device;");
        put("long.rs", &"\n".repeat(601));
        let found = wrong("samplin");
        assert!(found.len() == 3 && found[0].ends_with("room.rs imports Device, which owns it"), "{found:?}");
        assert!(
            found[1].contains("long.rs has 601 lines") && found[2].starts_with("these files import each other"),
            "{found:?}"
        );
        assert_eq!(wrong("samplin-cli").len(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
