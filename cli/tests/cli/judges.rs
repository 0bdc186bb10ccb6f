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
fn rules_are_denied_and_allowed_by_name() {
    let home = holding(["decisions.jsonl"]);
    let rules = |arguments: &[&str], code| -> Vec<String> {
        let all = [&["check", "decisions.jsonl", "--json"], arguments].concat();
        let value = samplin_in(&home, all).json(code);
        let mut rules: Vec<String> =
            value["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap().to_owned()).collect();
        rules.sort();
        rules.dedup();
        rules
    };
    let all = rules(&[], 1);
    assert!(all.len() > 3, "{all:?}");
    assert_eq!(rules(&["--deny", "stencil"], 1), ["stencil"]);
    assert_eq!(rules(&["--deny", "stencil,minmax", "--deny", "compare"], 1), ["compare", "minmax", "stencil"]);
    assert_eq!(rules(&["--deny", "ycbcr"], 0), Vec::<String>::new());
    assert!(!rules(&["--allow", "stencil"], 1).contains(&"stencil".to_owned()));
    let failure = samplin_in(&home, ["check", "decisions.jsonl", "--deny", "stencill"]).fails(2);
    assert!(failure.contains("stencill") && failure.contains("'stencil'"), "{failure}");
}

#[test]
fn a_clean_trace_passes() {
    let home = Folder::new();
    home.write("clean.jsonl", CLEAN);
    let told = samplin_in(&home, ["check", "clean.jsonl"]).quiet(0);
    assert!(told.starts_with("no findings in "), "{told}");
    let junit = samplin_in(&home, ["check", "clean.jsonl", "--format", "junit", "--deny", "stencil"]).quiet(0);
    assert!(junit.contains("<testsuites tests=\"1\" failures=\"0\">"), "{junit}");
}

#[test]
fn what_the_layer_does_not_look_at_is_no_fault_until_it_is_denied() {
    let home = Folder::new();
    let left = |rule: &str| {
        let left = json!({ "what": "descriptor-heap", "why": "not looked at", "rule": rule });
        CLEAN.to_owned() + &record("unresolved", left)
    };
    home.write("heap.jsonl", left("heap"));
    samplin_in(&home, ["check", "heap.jsonl"]).quiet(0);
    for denied in ["heap", "unresolved"] {
        let value = samplin_in(&home, ["check", "heap.jsonl", "--json", "--deny", denied]).json(1);
        assert_eq!(value["findings"][0]["rule"], "heap", "{value:#}");
    }
    // Another rule that was broken and could not be mended is one.
    home.write("flags.jsonl", left("flags"));
    samplin_in(&home, ["check", "flags.jsonl"]).quiet(1);
}

/// More samplers than the device allows are a fault, with figures that do not end at the limit; what the user switched off is none.
#[test]
fn a_limit_that_is_exceeded_is_a_fault() {
    let home = Folder::new();
    let limit = "maxSamplerAllocationCount";
    let over = json!({
        "what": "limit exceeded", "why": "too many", "rule": "sampler-budget", "limit": limit, "count": 4001, "max": 4000,
        "vuid": format!("VUID-vkCreateSampler-{limit}-04110"),
    });
    let over = record("unresolved", over);
    let summary = |asked: u32| {
        let census = json!({ "headroom": { limit: 0 }, "limits": { limit: { "asked": asked, "limit": 4000 } } });
        record("summary", json!({ "scope": "device", "census": census }))
    };
    let exempt = exempt("mine", "0123456789abcdef");
    home.write("over.jsonl", format!("{CLEAN}{over}{}", summary(4100)));
    home.write("full.jsonl", format!("{CLEAN}{}{exempt}", summary(4000)));
    let told = samplin_in(&home, ["check", "over.jsonl", "--deny", "sampler-budget"]).quiet(1);
    assert!(told.contains("sampler-budget: limit exceeded: too many (VUID-vkCreateSampler-"), "{told}");
    assert_eq!(samplin_in(&home, ["check", "over.jsonl"]).code, 1);
    assert_eq!(samplin_in(&home, ["check", "over.jsonl", "--deny", "border-budget"]).code, 0);
    assert_eq!(samplin_in(&home, ["check", "full.jsonl"]).code, 0);
    let told = samplin_in(&home, ["inspect", "over.jsonl"]).quiet(0);
    assert!(told.contains("4100 of 4000: the application asks for 100 too many"), "{told}");
    let told = samplin_in(&home, ["inspect", "full.jsonl"]).quiet(0);
    assert!(!told.contains("too many"), "{told}");
    assert!(told.contains("Repairs that rules switch off: 1"), "{told}");
    assert!(told.contains("linear-filter  pair on R32_SFLOAT  rule mine (a.toml:3)"), "{told}");
    samplin_in(&home, ["report", "full.jsonl", "--output", "page.html"]).quiet(0);
    let page = home.read("page.html");
    assert!(page.contains("Repairs that rules switch off") && page.contains("mine (a.toml:3)"));
}

#[test]
fn a_gate_that_saw_nothing_is_not_green() {
    let home = Folder::new();
    home.write("empty.jsonl", "");
    home.write("garbage.jsonl", "not a trace\n");
    assert!(samplin_in(&home, ["check", "empty.jsonl"]).fails(3).contains("empty.jsonl: the trace is empty"));
    assert!(samplin_in(&home, ["check", "garbage.jsonl"]).fails(3).contains("there is no record in it"));
    assert!(samplin_in(&home, ["check", "missing.jsonl"]).fails(3).contains("missing.jsonl: No such file"));
    samplin(["check"]).fails(2);
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

#[test]
fn equal_runs_do_not_differ() {
    let home = holding(["decisions.jsonl"]);
    let told = samplin_in(&home, ["diff", "decisions.jsonl", "decisions.jsonl"]).quiet(0);
    assert!(told.contains("No difference in"), "{told}");
    // The same run in another process: other handles, other times, other order.
    let text = home.read("decisions.jsonl");
    let mut lines: Vec<String> =
        text.lines().map(|line| line.replace("\"0x", "\"0x1").replace("\"t_ns\":", "\"t_ns\":9")).collect();
    lines[2..].reverse();
    home.write("again.jsonl", lines.join("\n") + "\n");
    samplin_in(&home, ["diff", "decisions.jsonl", "again.jsonl"]).quiet(0);
}

#[test]
fn new_gone_and_changed_decisions_are_told() {
    let home = holding(["decisions.jsonl"]);
    let text = home.read("decisions.jsonl");
    let is_pair = |line: &&str| line.contains("\"event\":\"pair\"") && line.contains("linear-filter");
    let gone = text.lines().position(|line| is_pair(&line)).unwrap();
    let changed = text.lines().enumerate().filter(|(_, line)| is_pair(line)).last().unwrap().0;
    let other: Vec<String> =
        text.lines()
            .enumerate()
            .filter(|(number, _)| *number != gone)
            .map(|(number, line)| {
                if number == changed {
                    line.replace("VK_FILTER_NEAREST", "VK_FILTER_CUBIC_EXT")
                } else {
                    line.to_owned()
                }
            })
            .collect();
    home.write("other.jsonl", other.join("\n") + "\n");
    snapshot("diff.txt", &samplin_in(&home, ["diff", "decisions.jsonl", "other.jsonl"]).quiet(1));
    let value = samplin_in(&home, ["diff", "--json", "decisions.jsonl", "other.jsonl"]).json(1);
    let count = |key: &str| value["differences"][key].as_array().unwrap().len();
    assert_eq!((count("gone"), count("new"), count("changed")), (1, 0, 1));
    let back = samplin_in(&home, ["diff", "--json", "other.jsonl", "decisions.jsonl"]).json(1);
    assert_eq!(back["differences"]["new"].as_array().unwrap().len(), 1, "the other way round it is new");
}

#[test]
fn diff_needs_two_traces() {
    samplin(["diff", "a.jsonl"]).fails(2);
    assert!(samplin(["diff", "-", "-"]).fails(2).contains("only one of the two"));
    assert!(samplin(["diff", "a.jsonl", "b.jsonl"]).fails(3).contains("a.jsonl: No such file"));
}

#[test]
fn links_are_told_apart() {
    let home = holding(["all.jsonl"]);
    let text = home.read("all.jsonl");
    for (from, to, told) in [
        ("\"how\":\"shadow\"", "\"how\":\"push\"", "decided otherwise: 1"),
        ("\"what\":\"no-free-set\"", "\"what\":\"sampler-limit\"", "only in A: 1"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        home.write("other.jsonl", text.replace(from, to));
        let differences = samplin_in(&home, ["diff", "all.jsonl", "other.jsonl"]).quiet(1);
        assert!(differences.contains(told), "{differences}");
        let (old, new) = (from.split('"').nth(3).unwrap(), to.split('"').nth(3).unwrap());
        assert!(differences.contains(old) && differences.contains(new), "{differences}");
    }
    let found = samplin_in(&home, ["check", "all.jsonl", "--deny", "unresolved"]).quiet(1);
    let left = "no-free-set: the pipeline layout has all sets that the device can bind";
    let place = "compute: image at set 0 binding 2, sampler at set 0 binding 1]";
    let line = found.lines().find(|line| line.contains(left)).unwrap_or_else(|| panic!("{found}"));
    assert!(line.contains(place) && line.contains("sampler \"of all sets\""), "{line}");
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

/// What a rules file leaves alone is told, and found where its rule is denied by name: a rules file does not overrule a gate.
#[test]
fn what_rules_leave_alone_is_told() {
    let home = Folder::new();
    let exempt = |name: &str, pair: u32| exempt(name, &format!("{pair:016x}"));
    home.write("clean.jsonl", CLEAN);
    home.write("off.jsonl", CLEAN.to_owned() + &exempt("mine", 1) + &exempt("mine", 2) + &exempt("other", 3));
    let told = "3 pairs are left alone by rules: mine (a.toml:3), other (a.toml:3)";
    for (command, code) in [
        (&["check", "off.jsonl"][..], 0),
        (&["check", "off.jsonl", "--deny", "stencil"], 0),
        (&["check", "off.jsonl", "--deny", "linear-filter", "--allow-exempt"], 0),
        (&["check", "off.jsonl", "--deny", "linear-filter"], 1),
        (&["check", "off.jsonl", "--deny", "unresolved"], 1),
        (&["diff", "clean.jsonl", "off.jsonl"], 0),
    ] {
        let said = samplin_in(&home, command).quiet(code);
        assert!(said.contains(told), "{command:?}: {said}");
        let is_found =
            said.contains("linear-filter: left alone by mine (a.toml:3): magFilter LINEAR → NEAREST: it lacks it");
        assert_eq!(is_found, code == 1, "{command:?}: {said}");
    }
    let said = samplin_in(&home, ["check", "clean.jsonl"]).quiet(0);
    assert!(!said.contains("left alone"), "{said}");
    // A gate for what a build adds: what B leaves alone and A does not is added, whether or not A repairs it.
    let repaired = exempt("mine", 1).replace("\"exempt\"", "\"pair\"");
    home.write("repaired.jsonl", CLEAN.to_owned() + &repaired);
    for (a, b, flags, code) in [
        ("clean.jsonl", "off.jsonl", &["--deny", "linear-filter"][..], 1),
        ("repaired.jsonl", "off.jsonl", &["--deny", "linear-filter"], 1),
        ("clean.jsonl", "off.jsonl", &["--deny", "unresolved"], 1),
        ("clean.jsonl", "off.jsonl", &["--deny", "linear-filter", "--allow-exempt"], 0),
        ("clean.jsonl", "off.jsonl", &["--deny", "stencil"], 0),
        ("off.jsonl", "off.jsonl", &["--deny", "linear-filter"], 0),
        ("off.jsonl", "clean.jsonl", &["--deny", "linear-filter"], 0),
    ] {
        let said = samplin_in(&home, [&["diff", a, b], flags].concat()).quiet(code);
        let is_found = said.contains("only in B: 3") && said.contains("exempt 0000000000000003 on R32_SFLOAT");
        assert_eq!(is_found, code == 1, "{a} {b} {flags:?}: {said}");
    }
    // A baseline can hold it.
    let known = ["check", "off.jsonl", "--deny", "linear-filter", "--baseline", "known.toml"];
    samplin_in(&home, [&known[..], &["--update-baseline"]].concat()).quiet(0);
    samplin_in(&home, known).quiet(0);
}
