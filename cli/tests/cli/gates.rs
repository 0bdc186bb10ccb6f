//! `samplin check` and `samplin diff` as gates: what is allowed, until when, and each format for its reader.

use serde_json::{Value, json};

use crate::common::*;

/// A run with nothing to find fault with.
pub(crate) const CLEAN: &str = concat!(
    r#"{"seq":0,"t_ns":1,"pid":7,"tid":7,"event":"layer","exe":"game","version":"0.1.0","settings":{}}"#,
    "\n",
    r#"{"seq":1,"t_ns":2,"pid":7,"tid":7,"event":"summary","scope":"instance","dropped":0}"#,
    "\n"
);

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

#[test]
fn entries_end_and_go_stale() {
    let home = holding(["decisions.jsonl"]);
    let text =
        |arguments: &[&str], code| samplin_in(&home, [&["check", "decisions.jsonl"], arguments].concat()).quiet(code);
    home.write(
        "samplin-check.toml",
        "[[allow]]\nrule = \"stencil\"\nreason = \"soon\"\nexpires = \"2999-12-31\"\n\n[[allow]]\nrule = \"ycbcr\"\nreason = \"never\"\n",
    );
    let told = text(&["--deny", "stencil"], 0);
    assert!(told.contains("allowed") && !told.contains("stale"), "of ycbcr nothing is known: {told}");
    let told = text(&["--deny", "stencil,ycbcr"], 0);
    assert!(told.contains("samplin-check.toml:6: stale: nothing is found that this entry allows (never)"), "{told}");
    assert!(!told.contains("expired"), "{told}");
    home.write("samplin-check.toml", "[[allow]]\nrule = \"stencil\"\nreason = \"late\"\nexpires = \"2020-02-29\"\n");
    let told = text(&["--deny", "stencil"], 1);
    assert!(told.contains("samplin-check.toml:1: expired on 2020-02-29"), "{told}");
    for (entry, wrong) in [
        ("[[allow]]\nrule = \"stencil\"\n", "reason"),
        ("[[allow]]\nreason = \"all\"\n", "needs a finding, rule"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \" \"\n", "needs a reason"),
        ("[[allow]]\nrule = \"stencils\"\nreason = \"x\"\n", "there is no rule stencils"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = \"soon\"\n", "no day"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = \"2027-02-31\"\n", "no day"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = \"2027-02-29\"\n", "no day"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = \"2027-04-31\"\n", "no day"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = 2027-02-31\n", "samplin-check.toml:4"),
        ("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = 2027-01-01T00:00:00Z\n", "no day"),
        ("[[allow]]\nformat = \"R32_FLOAT\"\nreason = \"x\"\n", "no format R32_FLOAT; did you mean R32_SFLOAT?"),
        ("[[allow]]\nfingerprint = \"12\"\nreason = \"x\"\n", "16 hexadecimal digits"),
        ("[[allow]]\nfingerprint = \"0x23456789ABCDEF\"\nreason = \"x\"\n", "16 hexadecimal digits"),
        ("\n[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpire = \"2999-01-01\"\n", "unknown field"),
        ("[[allow\n", "samplin-check.toml:1"),
    ] {
        home.write("samplin-check.toml", entry);
        let said = samplin_in(&home, ["check", "decisions.jsonl"]).fails(3);
        assert!(said.contains("samplin-check.toml:") && said.contains(wrong), "{entry}: {said}");
    }
}

/// A run in a pipeline takes minutes, so one is enough to learn of every mistake.
#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let home = holding(["decisions.jsonl"]);
    home.write(
        "samplin-check.toml",
        "[[allow]]\nrule = \"stencils\"\nreason = \"\"\n\n[[allow]]\nrule = \"stencil\"\nreason = 1\n\n\
         [[allow]]\nformat = \"R99\"\nreason = \"x\"\nexpires = \"2027-13-01\"\n",
    );
    let said = samplin_in(&home, ["check", "decisions.jsonl"]).fails(3);
    let told: Vec<&str> = said.lines().collect();
    let starts = [
        ":1: an entry needs a reason",
        ":1: there is no rule stencils",
        ":5: ",
        ":9: there is no format R99",
        ":9: expires",
    ];
    assert_eq!(told.len(), starts.len(), "{said}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(&format!("samplin: samplin-check.toml{start}")), "{start}: {said}");
    }
    // A line break inside of a mistake is none.
    home.write("samplin-check.toml", "[[allow]]\nrule = \"a\\nb\"\nreason = \"x\"\n");
    let said = samplin_in(&home, ["check", "decisions.jsonl"]).fails(3);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(r"there is no rule a\nb"), "{said}");
    // What is right, with quotes and without.
    for day in ["\"2996-02-29\"", "2996-02-29", "2999-12-31"] {
        let entry = format!("[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = {day}\n");
        home.write("samplin-check.toml", entry);
        samplin_in(&home, ["check", "decisions.jsonl", "--deny", "stencil"]).quiet(0);
    }
    home.write("samplin-check.toml", "[[allow]]\nrule = \"stencil\"\nreason = \"x\"\nexpires = 2020-02-29\n");
    let told = samplin_in(&home, ["check", "decisions.jsonl", "--deny", "stencil"]).quiet(1);
    assert!(told.contains("expired on 2020-02-29"), "{told}");
}

#[test]
fn a_baseline_lets_pass_what_was_there() {
    let home = holding(["decisions.jsonl"]);
    samplin_in(&home, ["check", "decisions.jsonl", "--baseline", "known.toml"]).fails(3);
    samplin_in(&home, ["check", "decisions.jsonl", "--update-baseline"]).fails(2);
    let told =
        samplin_in(&home, ["check", "decisions.jsonl", "--baseline", "known.toml", "--update-baseline"]).quiet(0);
    assert!(told.contains("known.toml: 0 kept, "), "{told}");
    samplin_in(&home, ["check", "decisions.jsonl", "--baseline", "known.toml"]).quiet(0);
    // Once more changes nothing.
    let before = home.read("known.toml");
    samplin_in(&home, ["check", "decisions.jsonl", "--baseline", "known.toml", "--update-baseline"]).quiet(0);
    assert_eq!(home.read("known.toml"), before);
    // What is new is found, what is gone is named and taken out, reasons stay.
    let text = text_in("decisions.jsonl");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("\"rule\":\"stencil\"")).collect();
    home.write("fewer.jsonl", without.join("\n") + "\n");
    let told = samplin_in(&home, ["check", "fewer.jsonl", "--baseline", "known.toml"]).quiet(0);
    assert!(told.contains("stale: nothing is found"), "{told}");
    home.write(
        "known.toml",
        "# ours\n".to_owned() + &before.replacen("accepted on", "looked at by Ada, accepted on", 1) + "# more?\n",
    );
    samplin_in(&home, ["check", "fewer.jsonl", "--baseline", "known.toml", "--update-baseline"]).quiet(0);
    let after = home.read("known.toml");
    assert!(after.len() < before.len() && after.contains("looked at by Ada"), "{after}");
    assert!(after.starts_with("# ours\n") && after.contains("# more?\n"), "comments stay: {after}");
    let told = samplin_in(&home, ["check", "decisions.jsonl", "--baseline", "known.toml"]).quiet(1);
    assert!(told.contains("stencil: ") && !told.contains(" minmax: "), "{told}");
    // What is over is not renewed by the way.
    home.write("known.toml", "[[allow]]\nrule = \"stencil\"\nreason = \"late\"\nexpires = \"2020-01-01\"\n");
    let arguments = ["check", "decisions.jsonl", "--deny", "stencil", "--baseline", "known.toml", "--update-baseline"];
    samplin_in(&home, arguments).quiet(1);
    assert!(home.read("known.toml").contains("expires = \"2020-01-01\""));
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
    home.write("known.toml", "[[allow]]\nfinding = \"12\"\nreason = \"x\"\n");
    let said = samplin_in(&home, ["check", "run.jsonl", "--baseline", "known.toml"]).fails(3);
    assert!(said.contains("known.toml:") && said.contains("32 hexadecimal digits"), "{said}");
}

#[test]
fn several_formats_are_written_at_once() {
    let home = holding(["decisions.jsonl"]);
    let outputs = ["text=o.txt", "json=o.json", "junit=o.xml", "github=o.gh", "markdown=o.md", "sarif=o.sarif"];
    for command in
        [&["check", "decisions.jsonl", "--allow", "stencil"][..], &["diff", "decisions.jsonl", "clean.jsonl"]]
    {
        home.write("clean.jsonl", CLEAN);
        let formats = outputs.iter().flat_map(|output| ["--format", output]);
        let all: Vec<&str> = command.iter().copied().chain(formats).collect();
        let told = samplin_in(&home, &all).quiet(1);
        let plain = samplin_in(&home, command).quiet(1);
        assert_eq!(told, plain, "the text stays on standard output");
        let value: Value = serde_json::from_str(&home.read("o.json")).unwrap();
        assert!(!value["findings"].as_array().unwrap().is_empty());
        assert!(home.read("o.xml").starts_with("<?xml") && home.read("o.gh").starts_with("::"));
        assert!(home.read("o.md").contains("| rule | findings |") && home.read("o.txt").contains(" findings"));
        let only = [command, &["--format", "markdown"]].concat();
        assert_eq!(samplin_in(&home, only).quiet(1), home.read("o.md"));
        let two = [command, &["--format", "markdown", "--format", "junit"]].concat();
        assert!(samplin_in(&home, two).fails(2).contains("only one format"));
    }
    assert!(samplin_in(&home, ["check", "decisions.jsonl", "--format", "xml"]).fails(2).contains("no format xml"));
    // A file that cannot be written is no success.
    samplin_in(&home, ["check", "decisions.jsonl", "--format", "junit=none/o.xml/"]).fails(4);
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

#[test]
fn allowed_rules_are_skipped_in_junit() {
    let home = holding(["decisions.jsonl"]);
    home.write("samplin-check.toml", "[[allow]]\nrule = \"minmax\"\nreason = \"the shader's own <business>\"\n");
    let told = samplin_in(&home, ["check", "decisions.jsonl", "--allow", "stencil", "--format", "junit"]).quiet(1);
    assert!(told.contains("name=\"stencil\"><skipped message=\"this rule is allowed\"/>"), "{told}");
    assert!(told.contains("the shader&apos;s own &lt;business&gt;") && told.contains("skipped=\"2\""), "{told}");
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

/// Where a record says where the shader is, that is where the finding is.
#[test]
fn the_line_of_the_shader_is_the_place() {
    let home = holding(["decisions.jsonl"]);
    let source = json!({ "file": "shaders/lit.frag", "line": 42 });
    let left =
        json!({ "what": "no-free-set", "why": "no set", "rule": "depth-compare", "pipeline": "0x1", "source": source });
    home.write("lined.jsonl", home.read("decisions.jsonl") + &record("unresolved", left));
    let log = sarif(&home, &["check", "lined.jsonl"], 1);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let lined =
        results.iter().find(|result| result["message"]["text"].as_str().unwrap().starts_with("no-free-set")).unwrap();
    let at = &lined["locations"][0]["physicalLocation"];
    assert_eq!((&at["artifactLocation"]["uri"], &at["region"]["startLine"]), (&json!("shaders/lit.frag"), &json!(42)));
    let github = samplin_in(&home, ["check", "lined.jsonl", "--format", "github"]).quiet(1);
    assert!(github.contains("::warning file=shaders/lit.frag,line=42,title=depth-compare::no-free-set"), "{github}");
    let text = samplin_in(&home, ["check", "lined.jsonl"]).quiet(1);
    assert!(text.lines().any(|line| line.starts_with("shaders/lit.frag:42: depth-compare: no-free-set")), "{text}");
}

/// What a check does not look at stays in the baseline, and is not called stale.
#[test]
fn entries_about_other_rules_stay() {
    let home = holding(["decisions.jsonl"]);
    let check = |options: &[&str], code| {
        let all = [&["check", "decisions.jsonl", "--baseline", "known.toml"], options].concat();
        samplin_in(&home, all).quiet(code)
    };
    let read = || home.read("known.toml");
    home.write(
        "known.toml",
        "[[allow]]\nrule = \"heap\"\nreason = \"later\"\n\n[[allow]]\nname = \"old\"\nreason = \"gone\"\n",
    );
    // The second is about any rule, and a check of all rules knows that it is stale; heaps it does not look at.
    assert!(check(&["--update-baseline"], 0).contains("known.toml: 1 kept, "));
    let whole = read();
    assert!(whole.contains("rule = \"heap\"") && !whole.contains("\"old\""), "{whole}");
    for options in
        [&["--deny", "stencil"][..], &["--allow", "stencil"], &["--deny", "unresolved"], &["--deny", "minmax,compare"]]
    {
        let told = check(options, 0);
        assert!(!told.contains("stale"), "{options:?}: {told}");
        let told = check(&[options, &["--update-baseline"]].concat(), 0);
        assert!(told.contains(" 0 added, 0 taken out"), "{options:?}: {told}");
        assert_eq!(read(), whole, "{options:?}");
    }
    // What is denied and not found any more goes.
    home.write("known.toml", whole.clone() + "\n[[allow]]\nrule = \"stencil\"\nname = \"nobody\"\nreason = \"x\"\n");
    assert!(check(&["--deny", "minmax", "--update-baseline"], 0).contains("0 taken out"));
    assert!(check(&["--deny", "stencil"], 0).contains("stale: nothing is found"));
    assert!(check(&["--deny", "stencil", "--update-baseline"], 0).contains("1 taken out"));
    assert_eq!(read(), whole);
    // What only the summary counts is not allowed by the rule alone.
    let counted = CLEAN.replace("\"instance\"", "\"device\",\"changes\":{\"stencil\":3}");
    home.write("counted.jsonl", counted + CLEAN.lines().nth(1).unwrap() + "\n");
    let arguments = ["check", "counted.jsonl", "--baseline", "counts.toml", "--update-baseline"];
    samplin_in(&home, arguments).quiet(0);
    samplin_in(&home, ["check", "decisions.jsonl", "--deny", "stencil", "--baseline", "counts.toml"]).quiet(1);
}
