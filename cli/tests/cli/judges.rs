//! `samplin check` and `samplin diff`, as processes.

use samplin_core::decide::Rule;

use serde_json::json;

use crate::common::*;
use crate::gates::CLEAN;

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

/// What the summaries count and no record tells is found by its rule, whatever the reason is.
#[test]
fn what_only_the_summary_counts_is_found() {
    let home = Folder::new();
    let line =
        |event: &str, rest: &str| format!("{{\"seq\":1,\"t_ns\":2,\"pid\":7,\"tid\":7,\"event\":\"{event}\"{rest}}}\n");
    let change = |rule: &str| {
        format!(
            "{{\"rule\":\"{rule}\",\"catalog\":\"B-1\",\"vuid\":null,\"field\":\"magFilter\",\"from\":1,\"to\":0,\"because\":\"b\",\"lost\":\"\"}}"
        )
    };
    let pair = line(
        "pair",
        &format!(",\"fingerprint\":\"aa\",\"changes\":[{0},{0}],\"variant\":\"0x1\"", change("linear-filter")),
    );
    let layer = line(
        "layer",
        ",\"exe\":\"game\",\"version\":\"0.1.0\",\"settings\":{\"trace_level\":{\"source\":\"default\",\"value\":\"decisions\"}}",
    );
    let summary_level = layer.replace("\"decisions\"", "\"summary\"");
    let device = |changes: &str, asked: u32, left: &str| {
        line(
            "summary",
            &format!(
                ",\"scope\":\"device\",\"changes\":{{{changes}}},\"census\":{{\"limits\":{{\"maxSamplerAllocationCount\":{{\"asked\":{asked},\"limit\":96}}}}}},\
                 \"separate\":{{\"unresolved\":{{{left}}}}}"
            ),
        )
    };
    let end = |left_out: u32| {
        line(
            "summary",
            &format!(",\"scope\":\"instance\",\"dropped\":0,\"left_out\":{{\"records\":{left_out},\"bytes\":9}}"),
        )
    };
    let two = device("\"linear-filter\":2", 1, "");
    let cases: [(&str, String, &str, &str); 8] = [
        (
            "level",
            summary_level + &two + &end(0),
            "linear-filter: 2 changes by linear-filter are counted in the summary and not in the records (trace_level = summary)",
            "linear-filter",
        ),
        ("missing", layer.clone() + &two + &end(0), "(damaged, missing or unknown lines)", "linear-filter"),
        ("damaged", layer.clone() + &pair[..60] + "\n" + &two + &end(0), "2 changes by linear-filter", "linear-filter"),
        (
            "unknown",
            layer.clone() + &pair.replace("\"pair\"", "\"couple\"") + &two + &end(0),
            "2 changes by linear-filter",
            "linear-filter",
        ),
        (
            "fewer",
            layer.clone() + &pair + &device("\"linear-filter\":3", 1, "") + &end(0),
            "1 change by linear-filter is counted",
            "linear-filter",
        ),
        (
            "limit",
            layer.clone() + &two.replace("\"linear-filter\":2", "").replace("asked\":1,", "asked\":4100,") + &end(0),
            "sampler-budget: limit exceeded: maxSamplerAllocationCount is 96 and the summary counts 4100 at a time",
            "sampler-budget",
        ),
        (
            "left",
            layer.clone() + &device("", 1, "\"no-free-set\":1") + &end(0),
            "no-free-set: 1 counted in the summary",
            "unresolved",
        ),
        (
            "cut",
            layer.clone() + &device("", 1, "") + &end(40),
            "40 records of any rule did not get into the trace (trace_limit",
            "stencil",
        ),
    ];
    for (name, text, told, denied) in cases {
        let file = format!("{name}.jsonl");
        home.write(&file, &text);
        for options in [&["check", &file][..], &["check", &file, "--deny", denied]] {
            let found = samplin_in(&home, options).quiet(1);
            assert!(found.contains(told), "{name}: {found}");
        }
        home.write("same.jsonl", layer.clone() + &end(0));
        let denies = samplin_in(&home, ["diff", "same.jsonl", &file, "--deny", denied]).quiet(1);
        assert!(denies.contains(told.split_once(": ").map_or(told, |(_, rest)| rest)), "{name}: {denies}");
        let page = samplin_in(&home, ["inspect", &file]).quiet(0);
        assert!(!page.contains("Nothing had to be changed"), "{name}: {page}");
        // Of those two no rule is known, so they may be of any.
        if !["cut", "left"].contains(&name) {
            assert_eq!(samplin_in(&home, ["check", &file, "--deny", "minmax"]).code, 0, "{name}");
            assert_eq!(samplin_in(&home, ["check", &file, "--allow", denied]).code, 0, "{name}");
        }
    }
    // What was asked for came to less, as samplers were shared.
    let asked = two.replace("\"linear-filter\":2", "").replace("asked\":1,", "asked\":4100,");
    let shared = asked.replace(
        "\"scope\":",
        "\"samplers\":{\"created\":4100,\"shared\":{\"given\":4010,\"because\":\"samplers=share\"}},\"scope\":",
    );
    home.write("shared.jsonl", layer.clone() + &shared + &end(0));
    let page = samplin_in(&home, ["inspect", "shared.jsonl"]).quiet(0);
    assert!(page.contains("4010 of them another one again") && !page.contains("too many"), "{page}");
    assert_eq!(samplin_in(&home, ["check", "shared.jsonl", "--deny", "sampler-budget"]).code, 0);
    // What the records tell is found once, as they tell it; a book for each process.
    home.write("whole.jsonl", layer.clone() + &pair + &two + &end(0));
    let found = samplin_in(&home, ["check", "whole.jsonl"]).quiet(1);
    assert!(!found.contains("counted in the summary"), "{found}");
    let other = |text: String| text.replace("\"pid\":7", "\"pid\":8");
    home.write("two.jsonl", layer.clone() + &pair + &pair + &end(0) + &other(layer.clone() + &two + &end(0)));
    assert!(samplin_in(&home, ["check", "two.jsonl"]).quiet(1).contains("2 changes by linear-filter are counted"));
}

/// A run without an end may have had anything to find: no gate is green, unless it is told to be.
#[test]
fn a_run_without_an_end_is_not_green() {
    let home = Folder::new();
    let [layer, end] = CLEAN.split_inclusive('\n').collect::<Vec<_>>()[..] else { panic!() };
    let device = record("device", json!({ "device": "x" }));
    let case = record("settings", json!({ "level": "warning", "key": "mode", "message": "m" }));
    home.write("clean.jsonl", CLEAN);
    home.write("two.jsonl", CLEAN.to_owned() + &CLEAN.replace(":7,", ":8,"));
    samplin_in(&home, ["check", "two.jsonl"]).quiet(0);
    let open = "a.jsonl: the run has no end: 1 instance without a summary";
    let cases = [
        (layer.to_owned(), open),
        (device.clone(), open),
        (CLEAN.to_owned() + &layer.replace(":7,", ":8,"), open),
        // An end in another process is none of this one.
        (layer.to_owned() + &end.replace(":7,", ":8,"), open),
        (layer.to_owned() + &device + end, "a.jsonl: the run has no end: 1 device without a summary"),
        (case, "a.jsonl: there is no run in it"),
    ];
    for (text, why) in cases {
        home.write("a.jsonl", &text);
        for command in [
            &["check", "a.jsonl"][..],
            &["check", "clean.jsonl", "a.jsonl", "--deny", "stencil", "--format", "junit=o.xml"],
            &["check", "a.jsonl", "--baseline", "known.toml", "--update-baseline"],
            &["diff", "clean.jsonl", "a.jsonl", "--deny", "stencil"],
            &["diff", "a.jsonl", "clean.jsonl", "--deny", "stencil"],
        ] {
            let said = samplin_in(&home, command).fails(3);
            assert!(said.contains(why) && said.contains("--allow-unfinished accepts it"), "{command:?}: {said}");
            assert!(!home.join("known.toml").exists() && !home.join("o.xml").exists());
            let accepted = [command, &["--allow-unfinished"]].concat();
            assert_eq!(samplin_in(&home, accepted).code, 0, "{command:?}");
            for file in ["known.toml", "o.xml"] {
                let _ = std::fs::remove_file(home.join(file));
            }
        }
    }
    // What is found is told all the same.
    borrow(&home, "decisions.jsonl");
    let text = home.read("decisions.jsonl");
    let cut: Vec<&str> = text.lines().filter(|line| !line.contains("\"event\":\"summary\"")).collect();
    home.write("killed.jsonl", cut.join("\n") + "\n");
    samplin_in(&home, ["check", "killed.jsonl", "--deny", "stencil"]).quiet(1);
    samplin_in(&home, ["check", "killed.jsonl", "--deny", "ycbcr"]).fails(3);
    borrow(&home, "all.jsonl");
    let text = home.read("all.jsonl");
    let cut: Vec<&str> = text.lines().filter(|line| !line.contains("\"event\":\"summary\"")).collect();
    home.write("killed.jsonl", cut.join("\n") + "\n");
    for devices in [&["--device", "v3d-4.2"][..], &["--device", "v3d-4.2", "--device", "apple-a8"]] {
        let command = [&["predict", "killed.jsonl", "--deny", "heap"][..], devices].concat();
        assert!(samplin_in(&home, &command).fails(3).contains("without a summary"));
        assert_eq!(samplin_in(&home, [&command[..], &["--allow-unfinished"]].concat()).code, 0);
        let whole = [&["predict", "all.jsonl", "--deny", "heap"][..], devices].concat();
        assert_eq!(samplin_in(&home, whole).code, 0);
    }
    samplin_in(&home, ["predict", "all.jsonl", "--device", "v3d-4.2", "-o", "there.jsonl"]).quiet(0);
    assert_ne!(samplin_in(&home, ["check", "there.jsonl", "--deny", "heap"]).code, 3);
}
