//! `samplin check` and `samplin diff`, as processes.

use samplin_core::decide::Rule;

use crate::common::*;

#[test]
fn findings_are_told_in_every_format() {
    let home = holding(["decisions.jsonl"]);
    for format in ["text", "junit", "github"] {
        let told = samplin_in(&home, ["check", "decisions.jsonl", "--format", format]).quiet(1);
        snapshot(&format!("check-{format}.txt"), &told);
    }
    let value = samplin_in(&home, ["check", "decisions.jsonl", "--format", "json"]).json(1);
    assert_eq!(samplin_in(&home, ["check", "--json", "decisions.jsonl"]).json(1), value);
    let findings = value["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| finding["rule"] == "linear-filter" && finding["vuid"] == "VUID-vkCmdDraw-magFilter-04553")
    );
    let mut lines: Vec<u64> = findings.iter().map(|finding| finding["line"].as_u64().unwrap()).collect();
    let text = home.read("decisions.jsonl");
    assert!(lines.iter().all(|line| *line >= 1 && *line <= text.lines().count() as u64));
    let before = lines.clone();
    lines.sort_unstable();
    assert_eq!(lines, before, "in the order of the file");
}

#[test]
fn the_rules_on_offer_are_the_layers() {
    let help = samplin(["check", "--help"]).quiet(0);
    let (_, offered) = help.split_once("[possible values: ").unwrap();
    let offered: Vec<String> =
        offered.split(']').next().unwrap().split(',').map(|name| name.trim().to_owned()).collect();
    let known: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).chain(["unresolved"]).collect();
    assert_eq!(offered, known);
    let mut once = offered.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), offered.len(), "each rule once: {offered:?}");
}

#[test]
fn junit_is_well_formed() {
    let home = holding(["decisions.jsonl"]);
    let told = samplin_in(&home, ["check", "decisions.jsonl", "--format", "junit"]).quiet(1);
    let mut open: Vec<&str> = Vec::new();
    for tag in told.split('<').skip(1).filter_map(|part| part.split('>').next()) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{told}");
        } else if !tag.ends_with('/') && !tag.starts_with('?') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty());
}
