//! `samplin inspect`, as a process.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::*;

#[test]
fn a_trace_is_told() {
    let home = holding(["decisions.jsonl"]);
    snapshot("inspect.txt", &samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0));
}

#[test]
fn json_has_every_group() {
    let value = samplin(["inspect".into(), "--json".into(), data("decisions.jsonl").into_os_string()]).json(0);
    for key in
        ["by_rule", "by_format", "by_sampler", "by_path", "decisions", "unresolved", "census", "processes", "devices"]
    {
        assert!(!value[key].is_null(), "{key}");
    }
    let sum: u64 = value["by_rule"].as_array().unwrap().iter().map(|rule| rule["changes"].as_u64().unwrap()).sum();
    assert_eq!(value["changes"], sum);
    let path: u64 = value["by_path"].as_array().unwrap().iter().map(|path| path["changes"].as_u64().unwrap()).sum();
    assert_eq!(path, sum, "every change came on some path");
}

#[test]
fn objects_are_explained() {
    let home = holding(["all.jsonl"]);
    for (name, object) in [
        ("explain-name.txt", "shadow"),
        ("explain-fingerprint.txt", &fingerprint_of("white border")),
        ("explain-handle.txt", &handle_of("white border")),
    ] {
        let text = samplin_in(&home, ["inspect", "all.jsonl", "--object", object]).quiet(0);
        snapshot(name, &text);
    }
    let story = samplin_in(&home, ["inspect", "all.jsonl", "--object", "shadow", "--json"]).json(0);
    assert!(story["story"]["entries"].as_array().unwrap().len() > 10);
}

fn record_of(name: &str) -> serde_json::Value {
    let text = text_in("all.jsonl");
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|record| record["names"]["sampler"] == name)
        .unwrap()
}

fn fingerprint_of(name: &str) -> String {
    record_of(name)["fingerprint"].as_str().unwrap().to_owned()
}

fn handle_of(name: &str) -> String {
    record_of(name)["sampler"].as_str().unwrap().to_uppercase().replace("0X", "0x")
}

#[test]
fn what_cannot_be_read_is_named() {
    let home = Folder::new();
    if is_root() {
        samplin_testkit::skip("permissions, because root reads everything");
    } else {
        let path = home.write("secret.jsonl", "{}");
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0);
        std::fs::set_permissions(&path, permissions).unwrap();
        let failure = samplin_in(&home, ["inspect", "secret.jsonl"]).fails(3);
        assert!(failure.contains("secret.jsonl: Permission denied"), "{failure}");
    }
}

fn is_root() -> bool {
    // What /proc says of this process's owner needs no further crate.
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// What the tool writes on a terminal, to either stream.
fn on_a_terminal(home: &Folder, arguments: &str, variables: &[(&str, &str)]) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_samplin"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(home.path());
    command.env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("script, of every Debian, makes a terminal");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let home = holding(["decisions.jsonl"]);
    assert!(on_a_terminal(&home, "inspect decisions.jsonl", &[]).contains("\u{1b}[36m"));
    assert!(!on_a_terminal(&home, "inspect decisions.jsonl", &[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!on_a_terminal(&home, "inspect --json decisions.jsonl", &[]).contains('\u{1b}'));
    assert!(!on_a_terminal(&home, "inspect --color never decisions.jsonl", &[]).contains('\u{1b}'));
    let plain = samplin_in(&home, ["inspect", "decisions.jsonl"]).quiet(0);
    assert!(!plain.contains('\u{1b}'), "there is no terminal here");
    let colored = samplin_in(&home, ["inspect", "--color", "always", "decisions.jsonl"]).quiet(0);
    assert!(colored.contains("\u{1b}["));
    let json = samplin_in(&home, ["inspect", "--color", "always", "--json", "decisions.jsonl"]).quiet(0);
    assert!(!json.contains('\u{1b}'));
}

/// Memory stays flat: a trace of 200 MB is read in a fraction of that. The benchmark does the same with a gigabyte.
#[test]
fn a_large_trace_needs_little_memory() {
    let home = Folder::new();
    let path = home.join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let (records, changes) = samplin_testkit::large::trace(&mut file, 200_000_000).unwrap();
    file.flush().unwrap();
    drop(file);
    // The limit is on what is allocated, which is more than what is resident.
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 200000; exec \"$0\" inspect --json \"$1\""])
        .arg(env!("CARGO_BIN_EXE_samplin"))
        .arg(&path)
        .output()
        .unwrap();
    let value = Ran::of(&output).json(0);
    assert_eq!(value["traces"][0]["records"], records);
    assert_eq!(value["changes"], changes);
    assert_eq!(value["traces"][0]["damaged_lines"], 0);
    // Whoever waits at a terminal sees how far it is.
    let told = on_a_terminal(&home, "inspect large.jsonl", &[]);
    assert!(told.contains("/190.7"), "{}", told.chars().take(2000).collect::<String>());
}
