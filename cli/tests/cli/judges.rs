//! `samplin check` and `samplin diff`, as processes.

use samplin_core::decide::Rule;

use crate::common::{Folder, borrow, samplin, samplin_in, snapshot};

fn home() -> Folder {
    let home = Folder::new();
    borrow(&home, "decisions.jsonl");
    home
}

/// A trace with nothing to find fault with.
const CLEAN: &str = concat!(
    r#"{"seq":0,"t_ns":1,"pid":7,"tid":7,"event":"layer","exe":"game","version":"0.1.0","settings":{}}"#,
    "\n",
    r#"{"seq":1,"t_ns":2,"pid":7,"tid":7,"event":"summary","scope":"instance","dropped":0}"#,
    "\n"
);

#[test]
fn findings_are_told_in_every_format() {
    let home = home();
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
    let text = std::fs::read_to_string(home.join("decisions.jsonl")).unwrap();
    assert!(lines.iter().all(|line| *line >= 1 && *line <= text.lines().count() as u64));
    let before = lines.clone();
    lines.sort_unstable();
    assert_eq!(lines, before, "in the order of the file");
}

#[test]
fn rules_are_denied_and_allowed_by_name() {
    let home = home();
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
    let heap = r#"{"seq":2,"t_ns":3,"pid":7,"tid":7,"event":"unresolved","what":"descriptor-heap","why":"not looked at","rule":"heap"}"#;
    home.write("heap.jsonl", format!("{CLEAN}{heap}\n"));
    samplin_in(&home, ["check", "heap.jsonl"]).quiet(0);
    for denied in ["heap", "unresolved"] {
        let value = samplin_in(&home, ["check", "heap.jsonl", "--json", "--deny", denied]).json(1);
        assert_eq!(value["findings"][0]["rule"], "heap", "{value:#}");
    }
    // Another rule that was broken and could not be mended is one.
    home.write("flags.jsonl", format!("{CLEAN}{}\n", heap.replace("\"heap\"", "\"flags\"")));
    samplin_in(&home, ["check", "flags.jsonl"]).quiet(1);
}

/// More samplers than the device allows are a fault, with figures that do not end at the limit; what the user switched off is none.
#[test]
fn a_limit_that_is_exceeded_is_a_fault() {
    let home = Folder::new();
    let over = concat!(
        r#"{"seq":1,"t_ns":2,"pid":7,"tid":7,"event":"unresolved","what":"limit exceeded","why":"too many","rule":"sampler-budget","#,
        r#""vuid":"VUID-vkCreateSampler-maxSamplerAllocationCount-04110","limit":"maxSamplerAllocationCount","count":4001,"max":4000}"#,
        "\n"
    );
    let summary = |asked: u32| {
        format!(
            "{{\"seq\":2,\"t_ns\":3,\"pid\":7,\"tid\":7,\"event\":\"summary\",\"scope\":\"device\",\"census\":{{\
             \"headroom\":{{\"maxSamplerAllocationCount\":0}},\
             \"limits\":{{\"maxSamplerAllocationCount\":{{\"asked\":{asked},\"limit\":4000}}}}}}}}\n"
        )
    };
    let exempt = concat!(
        r#"{"seq":3,"t_ns":4,"pid":7,"tid":7,"event":"exempt","what":"pair","rules":[{"name":"mine","file":"a.toml","line":3}],"#,
        r#""fingerprint":"0123456789abcdef","format":"VK_FORMAT_R32_SFLOAT","changes":[{"rule":"linear-filter","catalog":"B-1","#,
        r#""vuid":null,"field":"magFilter","from":"LINEAR","to":"NEAREST","because":"it lacks it","lost":"smoothing"}]}"#,
        "\n"
    );
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
    let page = std::fs::read_to_string(home.join("page.html")).unwrap();
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
    let home = home();
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
    let home = home();
    let told = samplin_in(&home, ["diff", "decisions.jsonl", "decisions.jsonl"]).quiet(0);
    assert!(told.contains("No difference in"), "{told}");
    // The same run in another process: other handles, other times, other order.
    let text = std::fs::read_to_string(home.join("decisions.jsonl")).unwrap();
    let mut lines: Vec<String> =
        text.lines().map(|line| line.replace("\"0x", "\"0x1").replace("\"t_ns\":", "\"t_ns\":9")).collect();
    lines[2..].reverse();
    home.write("again.jsonl", lines.join("\n") + "\n");
    samplin_in(&home, ["diff", "decisions.jsonl", "again.jsonl"]).quiet(0);
}

#[test]
fn new_gone_and_changed_decisions_are_told() {
    let home = home();
    let text = std::fs::read_to_string(home.join("decisions.jsonl")).unwrap();
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
    let home = Folder::new();
    borrow(&home, "all.jsonl");
    let text = std::fs::read_to_string(home.join("all.jsonl")).unwrap();
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
