//! What documents promise of themselves: links that lead somewhere, a README for three minutes, and plain English.
//!
//! `DOCUMENTS_TABLE=1 cargo test --test documents table -- --nocapture` prints words, longest line and sentences of each document.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

mod prose;

fn root() -> PathBuf {
    // Another tree can be measured with the same rules.
    std::env::var_os("DOCUMENTS_ROOT").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), PathBuf::from)
}

fn documents(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let is_ours = !["target", "out", "node_modules"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && is_ours && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            documents(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            out.push(path);
        }
    }
    out.sort();
}

/// What a heading is called in links to it, and what it is called by hand.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    headings.chain(named).collect()
}

/// Targets of links, code left out.
fn links(text: &str) -> Vec<String> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if !is_code {
            found.extend(line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
    }
    found
}

/// Links of a document that lead nowhere.
fn broken(path: &Path, text: &str) -> Vec<String> {
    let is_broken = |link: &String| {
        if link.contains("://") {
            return false;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { path.to_owned() } else { path.parent().unwrap().join(file) };
        if anchor.is_empty() {
            return !target.exists();
        }
        !std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor))
    };
    links(text).into_iter().filter(is_broken).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut all = Vec::new();
    documents(&root, &mut all);
    assert!(all.len() > 40, "{}", all.len());
    let mut seen = 0;
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        seen += links(&text).len();
        assert_eq!(broken(&path, &text), Vec::<String>::new(), "{}", path.display());
    }
    assert!(seen > 60, "{seen}");
    let text = "[no](docs/none.md) [file](README.md) [anchor](README.md#no-such) [there](README.md#commands)";
    assert_eq!(broken(&root.join("README.md"), text), ["docs/none.md", "README.md#no-such"]);
}

/// `SUMMARY.md` is the list of contents of the book: a page that it does not name is not in the book.
#[test]
fn every_page_is_in_the_book() {
    let folder = root().join("docs");
    let mut all = Vec::new();
    documents(&folder, &mut all);
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let named: HashSet<PathBuf> = links(&summary).into_iter().map(|link| folder.join(link)).collect();
    let missing: Vec<_> = all.iter().filter(|path| !named.contains(*path) && !path.ends_with("SUMMARY.md")).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not name {missing:?}");
}

#[test]
fn the_readme_takes_three_minutes() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let words = text.split_whitespace().count();
    assert!(text.lines().count() <= 150 && words < 1_200, "{} lines, {words} words", text.lines().count());
}

/// Documents whose text is judged. The changelog is history, and stays as it was written.
fn judged() -> Vec<(String, String)> {
    let root = root();
    let mut all = Vec::new();
    documents(&root, &mut all);
    let named = all.into_iter().filter(|path| !path.ends_with("CHANGELOG.md")).map(|path| {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        (name, std::fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

#[test]
fn documents_are_in_plain_english() {
    let found: Vec<String> = judged()
        .iter()
        .flat_map(|(name, text)| prose::judge(text).into_iter().map(move |what| format!("{name}: {what}")))
        .collect();
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

/// Texts of records, of help and of messages.
const SPEAKING: &[&str] =
    &["core/src", "cli/src", "config/src", "wire/src", "spirv/src", "platform/src", "src", "so/src"];

fn sources(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        std::fs::read_dir(path).unwrap().flatten().for_each(|entry| sources(&entry.path(), out));
    } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
        out.push(path.to_owned());
    }
}

#[test]
fn messages_are_in_plain_english() {
    let root = root();
    let mut files = Vec::new();
    SPEAKING.iter().for_each(|folder| sources(&root.join(folder), &mut files));
    let (mut found, mut seen) = (Vec::new(), 0);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for literal in prose::literals(text) {
            seen += 1;
            found.extend(prose::dialect(&literal).map(|word| format!("{}: {word}: {literal}", file.display())));
        }
    }
    assert!(seen > 1_000, "{seen}");
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn table() {
    if std::env::var_os("DOCUMENTS_TABLE").is_none() {
        return;
    }
    println!("| document | words | longest line | mean sentence | longest sentence |\n|---|--:|--:|--:|--:|");
    let mut all = prose::Measure::default();
    for (name, text) in judged() {
        let measure = prose::measure(&text);
        println!("| `{name}` | {measure} |");
        all.add(&measure);
    }
    println!("| all | {all} |");
}
