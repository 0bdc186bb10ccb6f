//! `samplin check` and `samplin diff` as gates: what is allowed, until when, and each format for its reader.

use serde_json::{Value, json};

use crate::common::*;

/// A run with nothing to find fault with.
pub(crate) const CLEAN: &str = include_str!("../data/clean.jsonl");

fn findings_of(value: &Value) -> Vec<Value> {
    value["findings"].as_array().unwrap().clone()
}

fn findings(home: &Folder, arguments: &[&str], code: i32) -> Vec<Value> {
    let all = [&["check", "decisions.jsonl", "--json"], arguments].concat();
    findings_of(&samplin_in(home, all).json(code))
}

/// Each member of an entry allows what it names and nothing else.
#[test]
fn findings_are_allowed_by_what_they_are() {
    let home = holding(["decisions.jsonl"]);
    let all = findings(&home, &[], 1);
    let with = |member: &str| all.iter().find(|finding| finding[member].is_string()).unwrap()[member].as_str().unwrap();
    let cases = [
        ("rule", "stencil".to_owned(), "rule"),
        ("fingerprint", with("fingerprint").to_owned(), "fingerprint"),
        ("format", "D32_SFLOAT".to_owned(), "format"),
        ("name", "shadow".to_owned(), "sampler"),
        ("what", with("what").to_owned(), "what"),
    ];
    for (key, value, member) in cases {
        let entry = format!("[[allow]]\n{key} = \"{value}\"\nreason = \"known\"\n");
        home.write("samplin-check.toml", &entry);
        let left = findings(&home, &[], 1);
        let fits = |finding: &Value| {
            finding[member].as_str().is_some_and(|found| found.strip_prefix("VK_FORMAT_").unwrap_or(found) == value)
        };
        assert!(left.len() < all.len() && !left.iter().any(fits), "{key}");
        assert_eq!(left.len() + all.iter().filter(|finding| fits(finding)).count(), all.len(), "{key}");
        // By a name that is given, in place of the one that is found.
        std::fs::rename(home.join("samplin-check.toml"), home.join("other.toml")).unwrap();
        assert_eq!(findings(&home, &[], 1).len(), all.len());
        assert_eq!(findings(&home, &["--config", "other.toml"], 1).len(), left.len());
    }
    let value = {
        home.write("samplin-check.toml", "[[allow]]\nrule = \"stencil\"\nreason = \"known since May\"\n");
        samplin_in(&home, ["check", "decisions.jsonl", "--json"]).json(1)
    };
    assert_eq!(value["allowed"][0]["finding"]["rule"], "stencil");
    assert_eq!(value["allowed"][0]["reason"], "known since May (samplin-check.toml:1)");
}

/// What a baseline was not written for is found: another format, view or VUID of the same rule and sampler.
#[test]
fn a_baseline_lets_nothing_pass_that_is_new() {
    let home = holding(["decisions.jsonl"]);
    borrow(&home, "all.jsonl");
    let whole = text_in("all.jsonl");
    let check = |code, arguments: &[&str]| {
        let all = [&["check", "run.jsonl", "--json", "--baseline", "known.toml"][..], arguments].concat();
        samplin_in(&home, all).json(code)
    };
    home.write("run.jsonl", &whole);
    let all = findings_of(&samplin_in(&home, ["check", "run.jsonl", "--json"]).json(1));
    let lines: Vec<u64> =
        all.iter().filter(|one| one["rule"] == "anisotropy").map(|one| one["line"].as_u64().unwrap()).collect();
    assert!(lines.len() > 3);
    // Each is accepted in a run without the others.
    for line in &lines {
        let of_run = whole.lines().zip(1..).filter(|(_, number)| number == line || !lines.contains(number));
        home.write("run.jsonl", of_run.map(|(text, _)| format!("{text}\n")).collect::<String>());
        let _ = std::fs::remove_file(home.join("known.toml"));
        check(0, &["--deny", "anisotropy", "--update-baseline"]);
        check(0, &["--deny", "anisotropy"]);
        home.write("run.jsonl", &whole);
        let value = check(1, &["--deny", "anisotropy"]);
        let allowed: Vec<&Value> =
            value["allowed"].as_array().unwrap().iter().map(|one| &one["finding"]["line"]).collect();
        assert_eq!(allowed, [line]);
    }
    // What is met more often, later, or under another name, is not new.
    check(0, &["--update-baseline"]);
    let mut again: Vec<&str> = whole.lines().collect();
    let pair = again.iter().find(|line| line.contains("linear-filter")).copied().unwrap();
    again.insert(3, "");
    again.push(pair);
    home.write("run.jsonl", again.join("\n").replace("\"sampler\":\"linear\"", "\"sampler\":\"smooth\"") + "\n");
    check(0, &[]);
    // An entry by hand allows whatever fits.
    home.write("known.toml", "[[allow]]\nrule = \"anisotropy\"\nreason = \"all\"\n");
    check(0, &["--deny", "anisotropy"]);
}

#[test]
fn both_filters_of_a_pair_are_one_finding_and_one_annotation_stands_for_a_rule() {
    let home = holding(["decisions.jsonl"]);
    let all = findings(&home, &["--deny", "linear-filter"], 1);
    let both = |finding: &&Value| {
        finding["message"].as_str().unwrap().starts_with("magFilter LINEAR → NEAREST, minFilter LINEAR → NEAREST: ")
    };
    assert!(all.iter().filter(both).count() > 3, "{all:#?}");
    let mut once: Vec<String> =
        all.iter().map(|finding| format!("{}{}{}", finding["line"], finding["rule"], finding["message"])).collect();
    let count = once.len();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), count);
    let told = samplin_in(&home, ["check", "decisions.jsonl", "--format", "github"]).quiet(1);
    let annotations = told.lines().filter(|line| line.starts_with("::error") || line.starts_with("::warning"));
    let mut rules: Vec<&str> =
        annotations.map(|line| line.split("title=").nth(1).unwrap().split(['(', ':']).next().unwrap()).collect();
    assert!(rules.len() > 5 && rules.len() <= 10, "{rules:?}");
    rules.dedup();
    let all_rules: std::collections::BTreeSet<_> = rules.iter().collect();
    assert_eq!(all_rules.len(), rules.len(), "each rule once: {told}");
}

/// GitHub shows ten annotations of each level: what it leaves out is counted.
#[test]
fn annotations_that_are_not_shown_are_counted() {
    let home = holding(["decisions.jsonl"]);
    let text = text_in("decisions.jsonl");
    let whole = samplin_in(&home, ["check", "decisions.jsonl", "--format", "github"]).quiet(1);
    let errors =
        |told: &str| told.lines().filter(|line| line.starts_with("::error")).map(str::to_owned).collect::<Vec<_>>();
    let names: Vec<&str> =
        samplin_core::decide::Rule::ALL.iter().map(|rule| rule.name()).filter(|rule| !whole.contains(rule)).collect();
    let warnings = |count: usize| {
        let left = |rule: &str| record("unresolved", json!({ "what": "x", "why": "y", "rule": rule }));
        // One of the trace's own is a warning.
        let records: String = names[..count - 1].iter().map(|rule| left(rule)).collect();
        home.write("more.jsonl", text.clone() + &records + &left(names[count - 2]).replace("\"y\"", "\"z\""));
        let told = samplin_in(&home, ["check", "more.jsonl", "--format", "github"]).quiet(1);
        let warnings: Vec<String> =
            told.lines().filter(|line| line.starts_with("::warning")).map(str::to_owned).collect();
        assert_eq!(errors(&told).len(), errors(&whole).len(), "{told}");
        (warnings.len(), warnings.last().unwrap().contains("title=other rules::not shown: "), told)
    };
    let (count, has_rest, told) = warnings(10);
    assert!(count == 10 && !has_rest, "{told}");
    let (count, has_rest, told) = warnings(13);
    assert!(count == 10 && has_rest && told.contains(" of 4 rules: "), "{told}");
    // Notices: eleven entries that nothing meets.
    let stale = |count: usize| {
        let entry = |number| format!("[[allow]]\nname = \"none {number}\"\nreason = \"gone\"\n");
        home.write("samplin-check.toml", (0..count).map(entry).collect::<String>());
        let told = samplin_in(&home, ["check", "decisions.jsonl", "--format", "github"]).quiet(1);
        let notices: Vec<&str> = told.lines().filter(|line| line.starts_with("::notice")).collect();
        assert_eq!(told.matches("stale: ").count(), count, "{told}");
        (notices.len(), notices.last().unwrap().contains("not shown: 2 notices"))
    };
    assert_eq!((stale(10), stale(11)), ((10, false), (10, true)));
}

/// The log of a command, checked against the published schema and opened by a reader that is not ours.
fn sarif(home: &Folder, arguments: &[&str], code: i32) -> Value {
    let text = samplin_in(home, [arguments, &["--format", "sarif"]].concat()).quiet(code);
    let schema = text_in("sarif/sarif-schema-2.1.0.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let log = sarif_rust::from_str(&text).unwrap();
    let results = log.runs[0].results.as_ref().map_or(0, Vec::len);
    assert_eq!(results, value["runs"][0]["results"].as_array().unwrap().len());
    value
}

#[test]
fn sarif_is_valid_and_has_help() {
    let home = holding(["decisions.jsonl"]);
    home.write(
        "samplin-check.toml",
        "[[allow]]\nrule = \"minmax\"\nreason = \"known\"\n\n[[allow]]\nrule = \"ycbcr\"\nreason = \"old\"\n",
    );
    let log = sarif(&home, &["check", "decisions.jsonl"], 1);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let filter = rules.iter().find(|rule| rule["id"] == "linear-filter").unwrap();
    let vuid = "VUID-vkCmdDraw-magFilter-04553";
    assert!(filter["helpUri"].as_str().unwrap().ends_with(vuid), "{filter:#}");
    assert!(filter["help"]["markdown"].as_str().unwrap().contains(&format!("[{vuid}](https://")), "{filter:#}");
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let at = &result["locations"][0]["physicalLocation"];
        assert_eq!(at["artifactLocation"]["uri"], "decisions.jsonl");
        assert_eq!(result["suppressions"].is_array(), result["ruleId"] == "minmax", "{result:#}");
    }
    assert!(run["invocations"][0]["toolExecutionNotifications"].to_string().contains("stale"), "{run:#}");
    home.write("clean.jsonl", CLEAN);
    let log = sarif(&home, &["check", "clean.jsonl"], 0);
    assert_eq!(log["runs"][0]["results"], json!([]));
    sarif(&home, &["diff", "clean.jsonl", "decisions.jsonl"], 1);
    sarif(&home, &["diff", "decisions.jsonl", "clean.jsonl"], 1);
    // Names may be anything.
    let nasty = text_in("decisions.jsonl").replace("\"shadow\"", "\"a\\u202e<b>\\n|%\"");
    home.write("a b%ü.jsonl", nasty);
    let log = sarif(&home, &["check", "a b%ü.jsonl"], 1);
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%20b%25%C3%BC.jsonl");
}

/// Code hosts take two results of one fingerprint for one.
#[test]
fn different_findings_have_different_fingerprints() {
    let home = holding(["decisions.jsonl"]);
    borrow(&home, "all.jsonl");
    let keys = |trace: &str| -> Vec<String> {
        let log = sarif(&home, &["check", trace], 1);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let key = |result: &Value| result["partialFingerprints"]["samplinFinding/v2"].as_str().unwrap().to_owned();
        results.iter().map(key).collect()
    };
    for trace in ["decisions.jsonl", "all.jsonl"] {
        let all = keys(trace);
        let once: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(once.len(), all.len(), "{trace}");
    }
    // The name of the sampler, another view's name and another path make no other finding.
    let text = text_in("decisions.jsonl");
    let before = keys("decisions.jsonl");
    home.write("decisions.jsonl", text.replace("\"shadow\"", "\"other\""));
    assert_eq!(keys("decisions.jsonl"), before);
    let pair =
        text.lines().find(|line| line.contains("\"path\":\"update\"") && line.contains("linear-filter")).unwrap();
    let again = pair.replace("\"path\":\"update\"", "\"path\":\"push\"");
    home.write("decisions.jsonl", text.clone() + &again + "\n");
    assert_eq!(keys("decisions.jsonl"), before);
    // Another type of the view does.
    assert!(pair.contains("\"view_type\":\"VK_IMAGE_VIEW_TYPE_2D\""), "{pair}");
    home.write("decisions.jsonl", text.clone() + &pair.replace("VIEW_TYPE_2D\"", "VIEW_TYPE_CUBE\"") + "\n");
    assert_eq!(keys("decisions.jsonl").len(), before.len() + 1);
}
