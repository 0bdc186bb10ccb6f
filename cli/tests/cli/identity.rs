//! What a trace says about where it comes from.

use std::process::Command;

use serde_json::Value;

use crate::common::*;

#[test]
fn a_trace_says_when_of_what_and_with_which_driver() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let run = |identity: &[&str]| {
        let mut command = tool(&home);
        vulkan.drive(&mut command).arg("run").arg("--layer").arg(&vulkan.layer);
        command.args(["--trace", "trace.jsonl"]).args(identity).arg("--").arg(example("scene")).arg("picture.ppm");
        let _ = std::fs::remove_file(home.join("trace.jsonl"));
        assert!(command.output().unwrap().status.success());
        let text = home.read("trace.jsonl");
        let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        (records.next().unwrap(), records.find(|record| record["event"] == "device").unwrap())
    };
    let (layer_record, device) = run(&[]);
    let today = Command::new("date").args(["-u", "+%Y-%m-%dT"]).output().unwrap();
    let today = String::from_utf8(today.stdout).unwrap();
    assert!(layer_record["started"].as_str().unwrap().starts_with(today.trim()), "{layer_record}");
    let arguments = |record: &Value| record["arguments"].as_array().unwrap().len();
    assert_eq!((arguments(&layer_record), &layer_record["host"]), (1, &Value::Null));
    assert!(layer_record["arguments"][0].as_str().unwrap().ends_with("/scene"));
    assert_eq!(device["driver"]["name"], "llvmpipe");
    assert!(device["driver"]["info"].as_str().unwrap().starts_with("Mesa"), "{device}");

    let (layer_record, _) = run(&["--set", "trace_identity=arguments"]);
    assert_eq!((arguments(&layer_record), &layer_record["host"]), (2, &Value::Null));
    let (layer_record, _) = run(&["--set", "trace_identity=host"]);
    let host = Command::new("uname").arg("-n").output().unwrap();
    assert_eq!(layer_record["host"], String::from_utf8(host.stdout).unwrap().trim());
    assert_eq!(arguments(&layer_record), 2);
}

#[test]
fn the_program_says_its_version_and_commit() {
    let said = samplin(["--version"]).quiet(0);
    let (version, commit) = said.trim().strip_prefix("samplin ").unwrap().split_once(' ').unwrap_or((said.trim(), ""));
    assert!(version.ends_with(env!("CARGO_PKG_VERSION")), "{said}");
    let is_commit = |text: &str| text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Sources without a repository have none.
    let has_repository = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.git")).exists();
    let may_be_missing = !has_repository && std::env::var_os("SAMPLIN_COMMIT").is_none();
    assert!(is_commit(commit.trim_matches(['(', ')'])) || (commit.is_empty() && may_be_missing), "{said}");
}
