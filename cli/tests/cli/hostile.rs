//! Text from outside that would steer a terminal, an XML reader, a browser or GitHub, in every command that prints some.

use serde_json::Value;

use crate::common::*;

/// ESC with a colour that the tool never uses, a title ended by BEL, breaks, marks of direction, C1, the end of a CDATA section,
/// a tag, and what GitHub would take for a break.
const NASTY: &str = "\u{1b}[35m\u{1b}]0;title\u{7}\r\n::error::x\u{202e}\u{2066}\u{9b}35m]]><b>&%0A";

/// A home with a trace in which all that is text ends in [`NASTY`], and with the same trace as it was.
fn home() -> Folder {
    let home = holding(["decisions.jsonl"]);
    let text = home.read("decisions.jsonl");
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            spoil("", &mut record);
            record.to_string()
        })
        .collect();
    home.write("nasty.jsonl", lines.join("\n") + "\n");
    home
}

fn spoil(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if !["event", "scope"].contains(&key) => text.push_str(NASTY),
        Value::Null if key == "name" => *value = Value::String(NASTY.to_owned()),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(key, item)),
        Value::Object(members) => members.iter_mut().for_each(|(key, member)| spoil(key, member)),
        _ => {}
    }
}

/// Panics if there is anything in a text that is not shown as it is, other than line breaks.
#[track_caller]
fn assert_tame(text: &str) {
    let bad = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let at = text.find(bad);
    assert_eq!(at, None, "{:?}", at.map(|at| text[at..].chars().take(60).collect::<String>()));
}

#[test]
fn every_command_shows_it() {
    let home = home();
    for (line, code) in [
        (&["inspect", "nasty.jsonl"] as &[&str], 0),
        (&["inspect", "nasty.jsonl", "--limit", "0", "--by", "rule,format,sampler,path"], 0),
        (&["inspect", "nasty.jsonl", "--json"], 0),
        (&["inspect", "nasty.jsonl", "--object", NASTY], 0),
        (&["check", "nasty.jsonl"], 1),
        (&["check", "nasty.jsonl", "--format", "json"], 1),
        (&["check", "nasty.jsonl", "--format", "junit"], 1),
        (&["check", "nasty.jsonl", "--format", "github"], 1),
        (&["diff", "nasty.jsonl", "decisions.jsonl"], 1),
        (&["diff", "nasty.jsonl", "decisions.jsonl", "--json"], 1),
        (&["report", "nasty.jsonl", "--output", "-"], 0),
        (&["report", "nasty.jsonl", "--output", "-", "--title", NASTY], 0),
    ] {
        let told = samplin_in(&home, line).quiet(code);
        assert!(told.contains("[35m"), "{line:?} shows the names: {told}");
        assert_tame(&told);
    }
}

#[test]
fn colours_are_the_tools_own() {
    let home = home();
    for command in ["inspect", "check"] {
        let told = samplin_in(&home, [command, "nasty.jsonl", "--color", "always"]).stdout;
        let plain = samplin_in(&home, [command, "nasty.jsonl", "--color", "never"]).stdout;
        let mut without = told.clone();
        for code in ["0", "1", "2", "31", "32", "33", "36"] {
            without = without.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_ne!(told, plain, "{command} has colours");
        assert_eq!(without, plain, "{command}");
        assert_tame(&plain);
    }
}

#[test]
fn failures_and_summaries_show_it() {
    let home = home();
    let name = "no\u{1b}[35m\u{7}such\u{202e}file";
    let failure = samplin_in(&home, ["inspect", name]).fails(3);
    assert!(failure.contains(r"no\u{1b}[35m\u{7}such\u{202e}file: No such file"), "{failure}");
    assert_tame(&failure);
    let ran = samplin_in(&home, ["run", "--", name]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains(r"\u{1b}[35m"), "{}", ran.stderr);
    assert_tame(&ran.stderr);
}

#[test]
fn an_annotation_is_one_line() {
    let home = home();
    let told = samplin_in(&home, ["check", "nasty.jsonl", "--format", "github"]).quiet(1);
    let (last, annotations) = told.lines().collect::<Vec<_>>().split_last().map(|(l, a)| (*l, a.to_vec())).unwrap();
    assert!(last.ends_with("findings") && annotations.len() > 3, "{told}");
    for line in annotations {
        assert!(["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start)), "{line}");
        // Only `%25` is left of what was written to look like an escape: `%0A` stands between findings alone.
        let is_whole = |part: &str| {
            part.contains(" — nasty.jsonl:")
                || part.ends_with(" findings")
                || part.starts_with("… and ")
                || part.contains("::notice")
        };
        assert!(line.starts_with("::notice") || line.split("%0A").all(is_whole), "{line}");
    }
    assert!(told.contains("%250A") && told.contains(r"\r\n"), "{told}");
}

#[test]
fn junit_and_the_page_hold_no_markup_of_names() {
    let home = home();
    let junit = samplin_in(&home, ["check", "nasty.jsonl", "--format", "junit"]).quiet(1);
    assert!(!junit.contains("]]>") && !junit.contains("<b>"), "{junit}");
    assert!(junit.contains("]]&gt;&lt;b&gt;&amp;%0A"), "{junit}");
    let page = samplin_in(&home, ["report", "nasty.jsonl", "--output", "-"]).quiet(0);
    assert!(!page.contains("<b>"), "{page}");
}
