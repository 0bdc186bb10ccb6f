//! Records that say at which draw a pair was first met.

use serde_json::{Value, json};

use crate::common::*;

/// Line numbers in `all.jsonl`, counted from 0, of a repaired link, of another, and of one that is left.
const RECORDS: [usize; 3] = [363, 367, 370];

/// `all.jsonl` with draws in these records, each frame, number and label.
fn trace(home: &Folder, name: &str, draws: [Option<(Value, Value, Value)>; 3]) {
    let text = text_in("all.jsonl");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, draw) in RECORDS.into_iter().zip(draws) {
        assert!(lines[line]["link"].is_object() && !lines[line]["changes"].as_array().unwrap().is_empty());
        let Some((frame, number, label)) = draw else { continue };
        for (member, value) in [("frame", frame), ("draw", number), ("label", label)] {
            if !value.is_null() {
                lines[line][member] = value;
            }
        }
    }
    home.write(name, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

fn labelled(frame: u64, number: u64, label: &str) -> Option<(Value, Value, Value)> {
    Some((frame.into(), number.into(), label.into()))
}

/// Three traces: with draws in two labels, with draws without labels, and as an older layer wrote it.
fn home() -> Folder {
    let home = Folder::new();
    let shadow = || labelled(12, 7, "Shadow pass");
    trace(&home, "labels.jsonl", [shadow(), labelled(0, 3, "Main pass"), shadow()]);
    let plain = || Some((0.into(), 1.into(), Value::Null));
    trace(&home, "draws.jsonl", [plain(), plain(), plain()]);
    trace(&home, "older.jsonl", [None, None, None]);
    home
}

#[test]
fn inspect_groups_by_label() {
    let home = home();
    let told = samplin_in(&home, ["inspect", "--by", "label", "labels.jsonl"]).quiet(0);
    assert_eq!(
        told,
        "
by label
     label          first draw        changed          left as it is
  2  \"Shadow pass\"  frame 12, draw 7  linear-filter 2  no-free-set 1
  1  \"Main pass\"    frame 0, draw 3   linear-filter 2
"
    );
    let group = |label: Value, frame: u64, draw: u64, records: u64, rules: Value, left: Value| {
        let mut first = json!({ "frame": frame, "draw": draw });
        if !label.is_null() {
            first["label"] = label.clone();
        }
        json!({ "label": label, "first": first, "records": records, "rules": rules, "left": left })
    };
    let by_label = |name: &str| samplin_in(&home, ["inspect", "--json", name]).json(0)["by_label"].clone();
    let (filter, left) = (json!({ "linear-filter": 2 }), json!({ "no-free-set": 1 }));
    let expected = json!([
        group("Shadow pass".into(), 12, 7, 2, filter.clone(), left.clone()),
        group("Main pass".into(), 0, 3, 1, filter, json!({})),
    ]);
    assert_eq!(by_label("labels.jsonl"), expected);
    let expected = json!([group(Value::Null, 0, 1, 3, json!({ "linear-filter": 4 }), left)]);
    assert_eq!(by_label("draws.jsonl"), expected);
    assert_eq!(by_label("older.jsonl"), json!([]));
    // Without being asked it is told where there are labels.
    for (name, is_told) in [("labels.jsonl", true), ("draws.jsonl", false), ("older.jsonl", false)] {
        let told = samplin_in(&home, ["inspect", name]).quiet(0);
        assert_eq!(told.contains("\nby label\n"), is_told, "{name}: {told}");
    }
    let told = samplin_in(&home, ["inspect", "--by", "label", "draws.jsonl"]).quiet(0);
    assert!(told.contains("3  (no label)  frame 0, draw 1"), "{told}");
    let told = samplin_in(&home, ["inspect", "--by", "label", "older.jsonl"]).quiet(0);
    assert_eq!(told.trim(), "No record names a draw.");
}

#[test]
fn inspect_tells_the_draw_of_an_object() {
    let home = home();
    for (name, told) in [("labels.jsonl", Some("frame 12, draw 7, \"Shadow pass\"")), ("older.jsonl", None)] {
        let story = samplin_in(&home, ["inspect", "--object", "of one set", name]).quiet(0);
        let line = story.lines().find_map(|line| line.trim().strip_prefix("first met"));
        assert_eq!(line.map(str::trim), told, "{story}");
    }
}

#[test]
fn check_says_the_draw_of_a_finding() {
    let home = home();
    let check = |options: &[&str], name: &str| samplin_in(&home, [&["check"][..], options, &[name]].concat());
    let told = check(&[], "labels.jsonl").quiet(1);
    let findings: Vec<_> = told.lines().filter(|line| line.contains("fragment: image")).collect();
    assert_eq!(findings.len(), 1, "{told}");
    assert!(
        findings[0].ends_with(
            "sampler at set 0 binding 1, frame 12, draw 7, \"Shadow pass\"] (VUID-vkCmdDraw-magFilter-04553)"
        ),
        "{told}"
    );
    let told = check(&[], "draws.jsonl").quiet(1);
    assert!(told.contains("sampler at set 0 binding 1, frame 0, draw 1] (VUID"), "{told}");
    let told = check(&[], "older.jsonl").quiet(1);
    assert!(!told.contains("draw 1") && told.contains("sampler at set 0 binding 1] (VUID"), "{told}");

    let draws = |name: &str| -> Vec<Value> {
        let report = check(&["--json"], name).json(1);
        report["findings"].as_array().unwrap().iter().filter_map(|finding| finding.get("draw").cloned()).collect()
    };
    let shadow = json!({ "frame": 12, "draw": 7, "label": "Shadow pass" });
    assert_eq!(draws("labels.jsonl"), [shadow.clone(), json!({ "frame": 0, "draw": 3, "label": "Main pass" }), shadow]);
    assert_eq!(draws("draws.jsonl"), vec![json!({ "frame": 0, "draw": 1 }); 3]);
    assert_eq!(draws("older.jsonl"), [Value::Null; 0]);
}

/// Another run meets the same pair at another draw: it is the same finding.
#[test]
fn a_baseline_knows_a_finding_at_any_draw() {
    let home = home();
    samplin_in(&home, ["check", "labels.jsonl", "--baseline", "known.toml", "--update-baseline"]).quiet(0);
    for name in ["labels.jsonl", "draws.jsonl", "older.jsonl"] {
        let told = samplin_in(&home, ["check", name, "--baseline", "known.toml"]);
        assert_eq!(told.code, 0, "{name}: {}{}", told.stdout, told.stderr);
    }
    let keys = |name: &str| -> Vec<Value> {
        let log = samplin_in(&home, ["check", "--format", "sarif", name]).json(1);
        let results = log["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|result| result["partialFingerprints"].clone()).collect()
    };
    assert_eq!(keys("labels.jsonl"), keys("older.jsonl"));
}

#[test]
fn sarif_has_the_draw_as_a_logical_location() {
    let home = home();
    let logical = |name: &str| {
        let log = samplin_in(&home, ["check", "--format", "sarif", name]).json(1);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let of = |result: &Value| result["message"]["text"].as_str().unwrap().contains("fragment: image");
        let result = results.iter().find(|result| of(result)).unwrap();
        result["locations"][0]["logicalLocations"].clone()
    };
    let sampler = json!({ "name": "of one set", "kind": "sampler" });
    let draw = |text: &str| json!({ "name": text, "kind": "draw" });
    let label = json!({ "name": "Shadow pass", "kind": "label" });
    assert_eq!(logical("labels.jsonl"), json!([sampler, label, draw("frame 12, draw 7")]));
    assert_eq!(logical("draws.jsonl"), json!([sampler, draw("frame 0, draw 1")]));
    assert_eq!(logical("older.jsonl"), json!([sampler]));
}

#[test]
fn the_report_has_columns_for_draws() {
    let home = home();
    let page = |name: &str| samplin_in(&home, ["report", name, "-o", "-", "--csv", "all.csv"]).quiet(0);
    let cells = |number: &str, draw: &str, label: &str| {
        format!(
            "frame <span data-c=\"18\">{number}</span>, draw <span data-c=\"19\">{draw}</span><br>“<span data-c=\"20\">{label}</span>”"
        )
    };
    let written = page("labels.jsonl");
    assert_eq!(written.matches(&cells("12", "7", "Shadow pass")).count(), 2, "a change and what is left");
    assert_eq!(written.matches(&cells("0", "3", "Main pass")).count(), 1);
    assert!(written.contains("<td>“Shadow pass”</td>") && written.contains("<td>“Main pass”</td>"));
    let table = home.read("all.csv");
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].ends_with(",applied,frame,draw,label"), "{}", lines[0]);
    assert_eq!(lines.iter().filter(|line| line.ends_with(",yes,12,7,Shadow pass")).count(), 2);
    assert_eq!(lines.iter().filter(|line| line.ends_with(",no,12,7,Shadow pass")).count(), 1);
    let written = page("older.jsonl");
    assert!(!written.contains("data-c=\"18\"") && !written.contains("“Shadow pass”"));
    let table = home.read("all.csv");
    assert!(table.lines().skip(1).all(|line| line.ends_with(",,,")));
}

/// A label is the application's: it is nothing to a terminal, a browser or a spreadsheet, and one that is no text is none.
#[test]
fn hostile_labels_are_only_text() {
    let home = Folder::new();
    let hostile = "=1+1<script>alert(1)</script>\u{1b}[31m\u{202e}\n";
    let damaged = Some(("x".into(), json!(-1), json!(7)));
    trace(&home, "hostile.jsonl", [labelled(1, 2, hostile), damaged, labelled(1, u64::MAX, "late")]);
    let told = samplin_in(&home, ["inspect", "--by", "label", "hostile.jsonl"]).quiet(0);
    let line = "  1  \"=1+1<script>alert(1)</script>\\u{1b}[31m\\u{202e}\\n\"  frame 1, draw 2  linear-filter 2";
    assert_eq!(told.lines().filter(|shown| shown.starts_with("  1")).collect::<Vec<_>>(), [line]);
    let page = samplin_in(&home, ["report", "hostile.jsonl", "-o", "-", "--csv", "all.csv"]).quiet(0);
    assert!(page.contains("=1+1&lt;script&gt;alert(1)") && !page.contains("<script>alert(1)"));
    let table = home.read("all.csv");
    assert!(table.contains(",1,2,\"'=1+1<script>"), "it is no formula");
    let told = samplin_in(&home, ["check", "hostile.jsonl"]).quiet(1);
    assert!(
        !told.contains('\u{1b}') && !told.contains('\u{202e}') && told.contains("frame 1, draw 2, \"=1+1"),
        "{told}"
    );
}
