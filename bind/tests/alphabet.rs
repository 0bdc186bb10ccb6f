//! The table of commands and structures that a model of binds has to know, see `scripts/alphabet`.

use std::collections::HashSet;
use std::path::PathBuf;

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Name, who covers it, and how or why not.
fn rows(text: &str) -> Vec<[&str; 3]> {
    text.lines().map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn each_row_says_who_covers_it_or_why_nobody_does() {
    let (text, property) = (read("bind/tests/alphabet.tsv"), read("bind/tests/property.rs"));
    let rows = rows(&text);
    assert!(rows.is_sorted_by_key(|[name, ..]| *name));
    for [name, who, how] in rows {
        match who {
            "stream" => assert!(property.contains(&format!("Call::{how}")), "{name}: {how} is in no stream"),
            "table" => assert!(!read(how).is_empty()),
            "action" | "machine" => {}
            "-" => assert!(how.len() > 10, "{name} has no reason"),
            _ => panic!("{name}: {who}"),
        }
    }
}

/// A draw that is not hooked reads what was bound for the last one.
#[test]
fn the_layer_hooks_each_draw_of_the_table_and_no_other() {
    let (text, commands) = (read("bind/tests/alphabet.tsv"), read("src/commands.rs"));
    let listed: HashSet<&str> = rows(&text).iter().filter(|row| row[1] == "action").map(|row| row[0]).collect();
    let actions = commands.split_once("actions {").unwrap().1.split_once('}').unwrap().0;
    // The first name is the registry's; others are aliases.
    let hooked = actions.lines().filter_map(|line| line.split("c\"").nth(1)?.split('"').next());
    assert_eq!(hooked.collect::<HashSet<_>>(), listed);
}
