//! `samplin watch` as a process: what scripts get, and that a terminal is left as it was.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use crate::common::*;

#[test]
fn scripts_get_what_there_is_now() {
    let home = holding(["all.jsonl"]);
    let json = samplin_in(&home, ["watch", "all.jsonl", "--once", "--json"]).json(0);
    let process = &json["processes"][0];
    assert_eq!((process["program"].as_str(), process["state"].as_str()), (Some("scene"), Some("ended")));
    let inspected = samplin_in(&home, ["inspect", "all.jsonl", "--json"]).json(0);
    assert_eq!(process["summary"]["by_rule"], inspected["by_rule"]);
    assert_eq!((&json["changes"], &json["repaired_share"]["of"]), (&inspected["changes"], &320.into()));
    let text = samplin_in(&home, ["watch", "all.jsonl", "--once"]).quiet(0);
    assert!(text.contains("\nLimits\n") && text.contains("linear-filter") && text.contains("32 726"), "{text}");
    // A folder, and the folder of automatic traces.
    assert!(samplin_in(&home, ["watch", ".", "--once"]).quiet(0).contains("scene"));
    assert!(samplin_in(&home, ["watch", "--once"]).fails(3).contains("there is no trace"));
    home.write(".local/state/samplin/scene-4294967295.jsonl", std::fs::read(home.join("all.jsonl")).unwrap());
    assert!(samplin_in(&home, ["watch", "--once"]).quiet(0).contains("scene"));
    // A process writes its trace under a name that only its descriptors tell.
    let trace = home.join("all.jsonl");
    let mut child = Command::new("sleep").arg("60").stdin(std::fs::File::open(trace).unwrap()).spawn().unwrap();
    let by_process = samplin_in(&home, ["watch", &child.id().to_string(), "--once", "--json"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(by_process.json(0)["changes"], inspected["changes"]);
}

/// Starts a line of a shell in a terminal of its own; none if nothing here makes terminals.
fn in_terminal(home: &Folder, flags: &str, line: &str, stdout: Stdio) -> Option<Child> {
    let mut script = Command::new("script");
    script
        .args([flags, line, "/dev/null"])
        .envs(tool(home).get_envs().filter_map(|(key, value)| Some((key, value?))))
        .env("TERM", "xterm")
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(stdout);
    let child = script.spawn().ok();
    if child.is_none() {
        skip("there is no script of util-linux");
    }
    child
}

/// In a terminal of its own: the page comes up, a key writes the rules file, and another ends it.
#[test]
fn a_terminal_is_left_as_it_was() {
    let home = holding(["all.jsonl"]);
    let line =
        format!("stty rows 24 cols 80; {} watch all.jsonl --rules rules.toml; stty -a", env!("CARGO_BIN_EXE_samplin"));
    let Some(mut child) = in_terminal(&home, "-qec", &line, Stdio::piped()) else { return };
    let mut keys = child.stdin.take().unwrap();
    for key in [" ", "q"] {
        std::thread::sleep(std::time::Duration::from_millis(700));
        keys.write_all(key.as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    drop(keys);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("linear-filter"), "{shown}");
    let (page, after) = shown.rsplit_once("\u{1b}[?1049l").expect("the other screen ends");
    assert!(page.contains("\u{1b}[?1049h") && after.contains(" icanon") && after.contains(" echo "), "{after}");
    let rules = home.read("rules.toml");
    assert!(rules.contains("repair = \"off\""), "{rules}");
}

/// A terminal that goes away, as with a lost connection, takes the page with it.
#[test]
fn a_terminal_that_is_gone_ends_it() {
    let home = holding(["all.jsonl"]);
    let line = format!("stty rows 24 cols 80; exec {} watch all.jsonl", env!("CARGO_BIN_EXE_samplin"));
    let Some(mut child) = in_terminal(&home, "-qc", &line, Stdio::null()) else { return };
    std::thread::sleep(std::time::Duration::from_secs(1));
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let page = std::fs::read_to_string(children).unwrap().trim().to_owned();
    assert!(std::path::Path::new(&format!("/proc/{page}/stat")).is_file(), "{page}");
    child.kill().unwrap();
    child.wait().unwrap();
    // Who takes over an orphan may leave it as a zombie.
    let is_there = || std::fs::read_to_string(format!("/proc/{page}/cmdline")).is_ok_and(|line| line.contains("watch"));
    for _ in 0..50 {
        if !is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let _ = Command::new("kill").args(["-9", &page]).status();
    panic!("the page is still there without a terminal");
}
