//! No false green: a command that saw nothing says so, with its own exit status, and never prints yesterday's run.

use std::io::Write as _;
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
