//! No false green: a command that saw nothing says so, with its own exit status, and never prints yesterday's run.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::*;
use crate::gates::CLEAN;

/// The tool with something on its standard input.
fn piped(home: &Folder, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = tool(home);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Nobody may read it.
    let _ = stdin.write_all(input);
    drop(stdin);
    Ran::of(&child.wait_with_output().unwrap())
}

fn run(home: &Folder, options: &[&str], program: &[&str]) -> Ran {
    pretend_layer(home);
    samplin_in(home, [&["run", "--layer", "layer"], options, &["--"], program].concat())
}

#[test]
fn a_trace_is_begun_anew_and_counts_this_run_alone() {
    let Some(vulkan) = vulkan() else { return };
    let home = holding(["decisions.jsonl"]);
    let start =
        |options: &[&str]| vulkan.run(&home, &[&["--trace", "decisions.jsonl"][..], options].concat(), "scene", &[]);
    let head = |ran: &Ran| {
        let line = ran.stderr.lines().find(|line| line.contains(" changes in ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", ran.stderr))
    };
    let first = start(&[]);
    let length = std::fs::metadata(home.join("decisions.jsonl")).unwrap().len();
    let second = start(&[]);
    assert_eq!((head(&first), first.code), (head(&second), second.code));
    let again = std::fs::metadata(home.join("decisions.jsonl")).unwrap().len();
    assert!(again.abs_diff(length) < length / 10, "{length} {again}");
    let third = start(&["--append"]);
    assert_eq!(head(&first), head(&third), "the summary is of this run, whatever is before it");
    assert!(std::fs::metadata(home.join("decisions.jsonl")).unwrap().len() > length * 3 / 2);
    let told = samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0);
    assert!(told.contains("scene (2 processes)"), "{told}");
}

#[test]
fn compressed_traces_are_read() {
    let home = Folder::new();
    for name in ["decisions.jsonl", "all.jsonl"] {
        borrow(&home, name);
    }
    let plain = std::fs::read(data("decisions.jsonl")).unwrap();
    let gzipped = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    // Both formats may be several pieces, one after the other; Zstandard has pieces that hold nothing.
    let (head, tail) = plain.split_at(plain.len() / 2);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    home.write("one.jsonl.gz", gzipped(&plain));
    home.write("two.jsonl.gz", [gzipped(head), gzipped(tail)].concat());
    home.write("one.jsonl.zst", zstd(&plain));
    home.write("two.jsonl.zst", [&skippable[..], &zstd(head), &skippable, &zstd(tail)].concat());
    home.write("no-ending", zstd(&plain));
    let expected = samplin_in(&home, ["check", "--json", "decisions.jsonl"]).json(1);
    for name in ["one.jsonl.gz", "two.jsonl.gz", "one.jsonl.zst", "two.jsonl.zst", "no-ending"] {
        let found = samplin_in(&home, ["check", "--json", name]).json(1);
        let renamed = found.to_string().replace(name, "decisions.jsonl");
        assert_eq!(renamed, expected.to_string(), "{name}");
        samplin_in(&home, ["diff", "decisions.jsonl", name]).quiet(0);
        let input = std::fs::read(home.join(name)).unwrap();
        let by_pipe = piped(&home, &["check", "--json", "-"], &input).json(1);
        assert_eq!(by_pipe["findings"].as_array().unwrap().len(), expected["findings"].as_array().unwrap().len());
        // Cut anywhere, it is damaged and not a shorter trace.
        for cut in [input.len() - 1, input.len() / 2, 20] {
            home.write("cut", &input[..cut]);
            samplin_in(&home, ["check", "cut"]).fails(3);
        }
    }
    if Command::new("zstd").arg("--version").output().is_err() {
        return;
    }
    let packed = Command::new("zstd").args(["-19", "--long=24", "-c"]).arg(data("all.jsonl")).output().unwrap();
    home.write("all.jsonl.zst", packed.stdout);
    samplin_in(&home, ["diff", "all.jsonl", "all.jsonl.zst"]).quiet(0);
}

/// A trace of one pair with these changes.
fn one_pair(changes: &[Value]) -> String {
    let [layer, end] = CLEAN.split_inclusive('\n').collect::<Vec<_>>()[..] else { panic!() };
    let names = json!({ "sampler": null, "view": null });
    layer.to_owned() + &pair(names, "VK_FORMAT_R8G8B8A8_UNORM", changes.into()) + end
}

#[test]
fn a_wish_that_was_held_back_is_no_change() {
    let home = Folder::new();
    let overridden = |catalog: &str, field: &str, from: f64, to: f64, because: &str| {
        json!({
            "rule": "override", "catalog": catalog, "vuid": null, "field": field, "from": from, "to": to,
            "because": because, "lost": "the override",
        })
    };
    let why = "held back: the view has one mip level (guard single_mip)";
    let held = overridden("O-2", "maxAnisotropy", 16.0, 1.0, why);
    home.write("held.jsonl", one_pair(std::slice::from_ref(&held)));
    let told = "0 applied, 1 held back: max_anisotropy = 16 (one mip level)";
    let inspected = samplin_in(&home, ["inspect", "held.jsonl"]).quiet(0);
    assert!(inspected.contains(told) && !inspected.contains("16 → 1"), "{inspected}");
    let value = samplin_in(&home, ["inspect", "--json", "held.jsonl"]).json(0);
    assert_eq!((&value["changes"], &value["scope"]["held_back"][0]["count"]), (&0.into(), &1.into()));
    samplin_in(&home, ["check", "held.jsonl"]).quiet(0);
    samplin_in(&home, ["check", "held.jsonl", "--deny", "override"]).quiet(0);
    let page = samplin_in(&home, ["report", "held.jsonl", "-o", "-"]).quiet(0);
    assert!(page.contains(told) && !page.contains("16 → 1"));
    let story = samplin_in(&home, ["inspect", "held.jsonl", "--object", "0x1"]).quiet(0);
    assert!(story.contains("held back: max_anisotropy = 16 (one mip level)") && !story.contains("→"), "{story}");
    // One that was carried out is one, beside another that was not.
    let applied = overridden("O-1", "minLod", 0.0, 1.0, "a rule says so");
    home.write("both.jsonl", one_pair(&[applied, held]));
    let inspected = samplin_in(&home, ["inspect", "both.jsonl"]).quiet(0);
    assert!(inspected.contains("1 applied, 1 held back"), "{inspected}");
    samplin_in(&home, ["check", "both.jsonl"]).quiet(1);
    samplin_in(&home, ["diff", "held.jsonl", "both.jsonl"]).quiet(1);
    // Through tables as well.
    samplin_in(&home, ["export", "held.jsonl", "--parquet", "tables"]).quiet(0);
    samplin_in(&home, ["check", "tables"]).quiet(0);
}

/// The same with the layer: the wish is one of a rules file, the image has one level.
#[test]
fn a_real_wish_that_is_held_back_is_told_so() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    home.write("rules.toml", "[[rule]]\nname = \"sharp\"\nset = { max_anisotropy = 16 }\n");
    let ran = vulkan.run(&home, &["--rules", "rules.toml", "--trace", "t.jsonl"], "scene", &[]);
    assert!(ran.stderr.contains("held back: max_anisotropy = 16 ("), "{}", ran.stderr);
    let value = samplin_in(&home, ["check", "t.jsonl", "--deny", "override", "--json"]);
    assert!(!value.stdout.contains("held back"), "{}", value.stdout);
}

#[test]
fn nothing_to_change_says_what_was_looked_at() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let start = |program: &str, options: &[&str]| {
        vulkan.run(&home, &[&["--trace", "t.jsonl"][..], options].concat(), program, &["now.ppm"]).stderr
    };
    let said = start("scene", &[]);
    assert!(said.contains("nothing had to be changed in 6 samplers, "), "{said}");
    assert!(
        said.contains("descriptors with an image and a sampler") && said.contains("pairs that shaders join"),
        "{said}"
    );
    assert!(said.contains("not checked: what no rule of samplin covers"), "{said}");
    let said = start("scene", &["--set", "separate=base"]);
    assert!(said.contains("not checked: pairs that only shaders join (separate = base)"), "{said}");
    let told = samplin_in(&home, ["inspect", "t.jsonl"]).quiet(0);
    assert!(told.contains("Nothing had to be changed in 6 samplers, "), "{told}");
    let page = samplin_in(&home, ["report", "t.jsonl", "-o", "-"]).quiet(0);
    assert!(page.contains("Nothing had to be changed in 6 samplers, "));
    let said = vulkan.run(&home, &[], "scene", &[]).stderr;
    assert!(said.contains("left as it is and named: ") && said.contains(": pair ("), "{said}");
}

#[test]
fn validation_is_counted() {
    let Some(vulkan) = vulkan() else { return };
    if !Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").is_file() {
        skip("the Khronos validation layer is not installed");
        return;
    }
    let home = Folder::new();
    let start = |arguments: &[&str]| {
        let ran = vulkan.run(&home, &["--validate", "--summary-json", "s.json"], "faulty", arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let summary = home.read("s.json");
        (ran, serde_json::from_str::<Value>(&summary).unwrap())
    };
    let (ran, summary) = start(&["2"]);
    assert!(ran.stderr.contains("validation gave 2 messages: 2 errors, 0 warnings"), "{}", ran.stderr);
    assert!(ran.stderr.contains("VUID-VkBufferCreateInfo-size-00912"), "passed on: {}", ran.stderr);
    assert_eq!(ran.stdout, "2 faults\n", "the program's own output stays apart");
    assert_eq!((&summary["validation"]["errors"], &summary["instances"]), (&2.into(), &1.into()));
    let (ran, _) = start(&["0"]);
    assert!(ran.stderr.contains("validation gave no message"), "{}", ran.stderr);
}

/// Pipelines that are made again and again, as engines do: one record for the link, and how often it was met.
#[test]
fn a_link_of_a_remade_pipeline_is_told_once() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    for (level, records, repeated) in [("decisions", 1, 6), ("all", 7, 0)] {
        let ran = vulkan.run(&home, &["--trace", "t.jsonl", "--trace-level", level], "joined", &["7"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let text = home.read("t.jsonl");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
        let pairs: Vec<_> = of("pair").into_iter().filter(|pair| pair["path"] == "draw").collect();
        let summary = of("summary").into_iter().find(|summary| summary["scope"] == "device").unwrap();
        assert_eq!(pairs.len(), records, "{level}");
        assert_eq!(summary["separate"]["repeated"], repeated, "{level}: {summary:#}");
    }
}

/// The layer follows no link, so the tool does: what the link leads to is the trace, and nothing else is emptied.
#[test]
fn a_link_is_followed_before_the_layer_refuses_it() {
    let home = Folder::new();
    pretend_layer(&home);
    let old = text_in("decisions.jsonl");
    home.write("real 100%.jsonl", &old);
    std::os::unix::fs::symlink("real 100%.jsonl", home.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("later.jsonl", home.join("new.jsonl")).unwrap();
    let start = |options: &[&str], trace: Option<&str>| {
        Ran::by(
            tool(&home)
                .envs(trace.map(|trace| ("SAMPLIN_TRACE", home.join(trace))))
                .args(["run", "--layer", "layer", "--allow-untraced"])
                .args(options)
                .args(["--", "sh", "-c", "echo $SAMPLIN_TRACE"]),
        )
    };
    let real = home.join("real 100%%.jsonl").display().to_string();
    for (options, trace) in [(&["--append", "--trace", "link.jsonl"][..], None), (&["--append"], Some("link.jsonl"))] {
        assert_eq!(start(options, trace).stdout.trim(), real, "{options:?}");
        assert_eq!(home.read("real 100%.jsonl"), old);
    }
    assert_eq!(start(&["--trace", "link.jsonl"], None).stdout.trim(), real);
    assert!(home.read("real 100%.jsonl").is_empty() && home.join("link.jsonl").is_symlink());
    assert_eq!(start(&["--trace", "new.jsonl"], None).stdout.trim(), home.join("later.jsonl").display().to_string());
    // What the layer refuses is left whole.
    home.write("one.jsonl", &old);
    std::fs::hard_link(home.join("one.jsonl"), home.join("two.jsonl")).unwrap();
    let ran = start(&["--trace", "one.jsonl"], None);
    assert!(ran.code == 4 && ran.stderr.contains("it has a second name"), "{}", ran.stderr);
    assert_eq!(home.read("two.jsonl"), old);
    // A link among the names with marks is not emptied either.
    std::os::unix::fs::symlink("one.jsonl", home.join("sh.jsonl")).unwrap();
    assert_eq!(start(&["--trace", "%e.jsonl"], None).code, 4);
    assert_eq!(home.read("one.jsonl"), old);
}

/// A program that writes traces as the layer would: copies of these files, by these names.
fn copying(files: &[(&str, &str)]) -> String {
    files.iter().map(|(from, to)| format!("cat {from} > {to};")).collect()
}

#[test]
fn a_summary_of_several_processes_is_one_of_all() {
    let home = Folder::new();
    home.write("none", one_pair(&[]));
    home.write("one", one_pair(&[made("linear-filter")]));
    let summary = |script: &str| {
        let ran = run(&home, &["--trace", "t-%p.jsonl", "--summary-json", "s.json"], &["sh", "-c", script]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let text = home.read("s.json");
        for number in 1..4 {
            let _ = std::fs::remove_file(home.path().join(format!("t-{number}.jsonl")));
        }
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let told = summary(&copying(&[("none", "t-1.jsonl"), ("one", "t-2.jsonl"), ("one", "t-3.jsonl")]));
    assert_eq!((&told["instances"], &told["summary"]["changes"]), (&3.into(), &2.into()), "{told:#}");
    assert_eq!(told["summary"]["by_rule"][0]["changes"], 2);
    let paths: Vec<_> = ["t-1.jsonl", "t-2.jsonl", "t-3.jsonl"].iter().map(|name| home.join(name)).collect();
    assert_eq!(told["traces"], json!(paths));
    let each: Vec<_> = told["processes"].as_array().unwrap().iter().map(|one| &one["summary"]["changes"]).collect();
    assert_eq!(each, [0, 1, 1]);
    // Of one it is the same as ever.
    let told = summary(&copying(&[("one", "t-2.jsonl")]));
    assert_eq!((&told["instances"], &told["summary"]["changes"]), (&1.into(), &1.into()), "{told:#}");
    assert_eq!((&told["trace"], &told["processes"]), (&json!(paths[1]), &Value::Null));
    assert_eq!(told["traces"], json!([paths[1]]));
}

/// The same with the layer, and two programs of one name.
#[test]
fn a_real_summary_of_two_processes_is_one_of_both() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let scene = example("scene");
    let changes = |script: &str| {
        let ran = Ran::by(
            vulkan.tool(&home).args(["run", "--summary-json", "s.json", "--", "sh", "-c", script]).env("SCENE", &scene),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told: Value = serde_json::from_str(&home.read("s.json")).unwrap();
        (told["instances"].as_u64().unwrap(), told["summary"]["changes"].as_u64().unwrap())
    };
    let (one, many) = changes("$SCENE; true");
    assert!(one == 1 && many > 100, "{one} {many}");
    assert_eq!(changes("$SCENE; $SCENE now.ppm"), (2, many));
    assert_eq!(changes("$SCENE now.ppm; $SCENE"), (2, many));
}

/// A list that is cut says how much of it is not there.
#[test]
fn what_a_summary_leaves_out_is_counted() {
    let home = Folder::new();
    let rules = samplin_core::decide::Rule::ALL;
    let told = |count: usize, problems: usize| {
        let changes: Vec<Value> = rules.iter().take(count).map(|rule| made(rule.name())).collect();
        let problem =
            |number| record("settings", json!({ "level": "error", "key": format!("k{number}"), "message": "m" }));
        home.write("many", one_pair(&changes) + &(0..problems).map(problem).collect::<String>());
        let ran = run(&home, &["--trace", "t.jsonl"], &["sh", "-c", "cat many > t.jsonl"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    let said = told(15, 8);
    assert!(said.contains("\n  … and 3 more\n") && said.contains("samplin: … and 3 more\n"), "{said}");
    let said = told(12, 5);
    assert!(!said.contains("more\n"), "{said}");
}
