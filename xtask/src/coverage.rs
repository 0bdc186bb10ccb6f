//! Which lines the tests run, by crate and by file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::{Failure, Outcome, read, write};

const USAGE: &str = "\
Sums up what `llvm-cov export -summary-only` wrote.

    xtask coverage EXPORT FILE [AGAINST]

Writes how many lines each source file of this repository has, and how many of them ran, to FILE, and prints both by crate. AGAINST is the
FILE of another commit: its figures are printed beside, and the files of which a smaller share runs are named.

Exit status: 0; 2 for wrong usage; 3 when a file cannot be read.";

#[derive(Deserialize)]
struct Export {
    data: Vec<Exported>,
}

#[derive(Deserialize)]
struct Exported {
    files: Vec<ExportedFile>,
}

#[derive(Deserialize)]
struct ExportedFile {
    filename: String,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    lines: Lines,
}

#[derive(Deserialize)]
struct Lines {
    count: u64,
    covered: u64,
}

/// Lines of code and those that ran, by file.
type Files = BTreeMap<String, (u64, u64)>;

/// The files of the product: what only tests, benches and developers run is no measure of them.
fn product(export: Export) -> Files {
    const OTHERS: [&str; 8] = ["tests", "testkit", "bench", "fuzz", "xtask", "examples", "target", "build.rs"];
    let mut files = Files::new();
    for file in export.data.into_iter().flat_map(|data| data.files) {
        // In the order of a path's folders, the last that has a manifest of a workspace is the repository; what is not below it is a
        // dependency's.
        let path = Path::new(&file.filename);
        let Some(root) = path.ancestors().filter(|folder| folder.join("layer.json").is_file()).last() else { continue };
        let Ok(name) = path.strip_prefix(root) else { continue };
        let is_other = |part: &std::path::Component<'_>| {
            OTHERS.iter().any(|other| part.as_os_str() == *other) || part.as_os_str() == "tests.rs"
        };
        if !name.components().any(|part| is_other(&part)) {
            files.insert(name.display().to_string(), (file.summary.lines.count, file.summary.lines.covered));
        }
    }
    files
}

fn share((count, covered): (u64, u64)) -> f64 {
    100.0 * covered as f64 / count.max(1) as f64
}

fn by_crate(files: &Files) -> BTreeMap<&str, (u64, u64)> {
    let mut crates = BTreeMap::new();
    for (name, (count, covered)) in files {
        for of in [name.split('/').next().unwrap_or_default(), "~all"] {
            let sum = crates.entry(of).or_insert((0, 0));
            *sum = (sum.0 + count, sum.1 + covered);
        }
    }
    crates
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (export, out, against) = match arguments {
        [export, out] => (export, out, None),
        [export, out, against] => (export, out, Some(against)),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let parsed = |path: &str, error: serde_json::Error| Failure::Input(format!("{path}: {error}"));
    let files = product(serde_json::from_str(&read(Path::new(export))?).map_err(|error| parsed(export, error))?);
    let text = serde_json::to_string_pretty(&files).map_err(|error| parsed(out, error))?;
    write(Path::new(out), &(text + "\n"))?;
    let before: Files = match against {
        Some(path) => serde_json::from_str(&read(Path::new(path))?).map_err(|error| parsed(path, error))?,
        None => Files::new(),
    };
    println!("| crate | lines | run | share | share before |\n|---|--:|--:|--:|--:|");
    let (crates, crates_before) = (by_crate(&files), by_crate(&before));
    for (name, sum) in crates {
        let other = crates_before.get(name).map_or("–".to_owned(), |sum| format!("{:.1} %", share(*sum)));
        println!("| {} | {} | {} | {:.1} % | {other} |", name.trim_start_matches('~'), sum.0, sum.1, share(sum));
    }
    for (name, sum) in &files {
        if let Some(other) = before.get(name).filter(|other| share(**other) > share(*sum)) {
            println!("{name}: {} of {} lines run, before {} of {}", sum.1, sum.0, other.1, other.0);
        }
    }
    Ok(true)
}
