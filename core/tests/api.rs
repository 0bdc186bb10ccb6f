//! The public interface is what `api.txt` lists. An item may appear; for one to go the version has to rise.
//!
//! The list is read from the sources, which rustfmt has formatted: what `lib.rs` exports, without what is hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files with exported items.
const FILES: [&str; 7] =
    ["api.rs", "api/device.rs", "api/features.rs", "api/view.rs", "features.rs", "decide/state.rs", "decide/view.rs"];

/// The names that `lib.rs` exports, with what they are called inside.
fn exported(lib: &str) -> BTreeMap<String, String> {
    let uses = lib.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let mut names = BTreeMap::new();
    for list in uses {
        let (_, list) = list.rsplit_once("::").unwrap_or(("", list));
        for item in list.trim_matches(['{', '}', '\n']).split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (inside, outside) = item.split_once(" as ").unwrap_or((item, item));
            names.insert(inside.to_owned(), outside.to_owned());
        }
    }
    names
}

/// A line and those that it goes on in, up to the one that ends with one of these.
fn whole(lines: &[&str], ends: &[char]) -> String {
    let mut out = String::new();
    for line in lines {
        let line = line.trim();
        let glue = if out.is_empty() || out.ends_with('(') || line.starts_with(')') { "" } else { " " };
        out += glue;
        out += line;
        if line.ends_with(ends) {
            break;
        }
    }
    out.trim_end_matches([' ', '{', ';', ',']).replace(",)", ")")
}

/// The first word that can be a name.
fn name_of(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty()).unwrap_or_default()
}

/// Adds the members of a block. Those of a trait are public without a word.
fn members(name: &str, block: &[&str], is_trait: bool, out: &mut BTreeSet<String>) {
    let mut hidden = false;
    for (index, line) in block.iter().enumerate() {
        let depth = line.len() - line.trim_start().len();
        let text = line.trim();
        if depth != 4 || text.starts_with("//") {
            continue;
        }
        let is_attribute = text.starts_with("#[");
        if text.starts_with("pub fn") || text.starts_with("pub const") || is_trait && text.starts_with("fn ") {
            if !hidden {
                out.insert(format!("{name}: {}", whole(&block[index..], &['{', ';'])));
            }
        } else if !is_attribute && text.ends_with(',') && (text.starts_with("pub ") || !text.contains(' ')) {
            out.insert(format!("{name}: {}", text.trim_end_matches(',')));
        }
        hidden = is_attribute && (hidden || text == "#[doc(hidden)]");
    }
}

/// The public interface, an item a line.
fn interface() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: &str| std::fs::read_to_string(source.join(file)).unwrap();
    let names = exported(&read("lib.rs"));
    let mut out: BTreeSet<String> = BTreeSet::new();
    for file in FILES {
        let text = read(file);
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let end = lines[start..].iter().position(|line| line.starts_with('}')).map_or(start, |at| start + at);
            let body = lines.get(start + 1..end).unwrap_or_default();
            if let Some(rest) =
                ["pub struct ", "pub enum ", "pub trait "].iter().find_map(|kind| line.strip_prefix(kind))
            {
                let Some(name) = names.get(name_of(rest)) else { continue };
                let derived =
                    lines[start - 1].strip_prefix("#[derive(").map_or("", |derived| derived.trim_end_matches(")]"));
                out.insert(format!("{name}: {} ({derived})", line.split(' ').nth(1).unwrap()));
                // The one member of a tuple is private.
                if line.ends_with('{') {
                    members(name, body, line.starts_with("pub trait"), &mut out);
                }
            } else if line.starts_with("impl") {
                let header = line.trim_end_matches(" {");
                match header.split_once(" for ") {
                    Some((of, target)) => {
                        if let Some(name) = names.get(name_of(target)) {
                            out.insert(format!("{name}: {of}"));
                        }
                    }
                    None => {
                        if let Some(name) = names.get(name_of(header.trim_start_matches("impl"))) {
                            members(name, body, false, &mut out);
                        }
                    }
                }
            } else if line.starts_with("features! {") {
                let fields = body.iter().filter(|line| !line.trim().starts_with("//"));
                out.extend(fields.map(|line| format!("Features: pub {}: bool", name_of(line))));
            } else if line.starts_with("structures! {") {
                let types = body.iter().filter_map(|line| line.trim().split_once(": "));
                out.extend(
                    types.map(|(of, fields)| {
                        format!("FeatureStructure: impl for {of}: {}", fields.trim_end_matches(';'))
                    }),
                );
            }
        }
    }
    for name in names.values() {
        let is_there = name == "vk" || out.iter().any(|line| line.starts_with(&format!("{name}: ")));
        assert!(is_there, "{name} is exported, and in none of the files that are read");
    }
    // By a macro, which has no indentation of its own.
    for method in
        ["Features: pub fn with", "Device: pub fn decide", "FormatFeatures: pub fn with_tiling", "View: pub fn new_2d"]
    {
        assert!(out.iter().any(|line| line.starts_with(method)), "{method} was not found");
    }
    out
}

#[test]
fn no_item_goes_without_a_new_version() {
    let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    // Before version 1 the second number says that something broke.
    let heading = format!("samplin-core {}", version[..if version[0] == "0" { 2 } else { 1 }].join("."));
    let now = interface();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("api.txt");
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<String> = there.lines().skip(1).map(str::to_owned).collect();
    let gone: Vec<_> = listed.difference(&now).collect();
    if there.lines().next() == Some(&heading) {
        assert!(gone.is_empty(), "these were public in {heading}: {gone:#?}; without them the version has to rise");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let lines: Vec<String> = std::iter::once(heading.clone()).chain(now.iter().cloned()).collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let new: Vec<_> = now.difference(&listed).collect();
    assert!(new.is_empty(), "these are new: {new:#?}; UPDATE_DOCS=1 cargo test -p samplin-core --test api lists them");
    assert_eq!(there.lines().next(), Some(heading.as_str()));
}
