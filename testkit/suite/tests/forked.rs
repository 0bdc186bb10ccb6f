//! How a program that copies itself for each test says what became of them.

use libtest_mimic::{Arguments, Trial};
use samplin_suite::forked;
use samplin_suite::run::{Folder, Skip, trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What a test finds that another has left in memory.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Tests that end in every way, and leave something behind.
fn played() -> Vec<Trial> {
    let leaves = |name: &'static str| {
        trial(name, || {
            assert_eq!(LEFT.fetch_add(1, Ordering::Relaxed), 0, "another test was here");
            Ok(())
        })
    };
    vec![
        leaves("ends/one"),
        leaves("ends/two"),
        trial("ends/skips", || Err(Skip("there is no such device".to_owned()))),
        trial("ends/panics", || panic!("of its own accord")),
        trial("ends/dies", || std::process::abort()),
        trial("ends/leaves", || std::process::exit(0)),
        trial("ends/hangs", || {
            // With a process of its own, which has its output as well.
            let status = Command::new("sleep").arg("1000").status();
            panic!("it came back: {status:?}")
        }),
    ]
}

/// Plays them, and returns what the report has of each, and whether the program was content.
fn play(filter: &[&str]) -> (BTreeMap<String, Value>, bool) {
    let folder = Folder::new();
    let report = folder.join("report.jsonl");
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--processes", "2", "--report"]).arg(&report).args(filter);
    let content = command.output().expect("a program that starts").status.success();
    let text = std::fs::read_to_string(report).expect("a report");
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    (records.map(|record| (record["test"].as_str().expect("a name").to_owned(), record)).collect(), content)
}

fn tells_how_each_ended() {
    let (records, content) = play(&[]);
    assert!(!content, "some of them failed");
    let failed: BTreeMap<&str, bool> =
        records.iter().map(|(test, record)| (&**test, record["failed"].as_bool().expect("a verdict"))).collect();
    let good = ["ends/one", "ends/two", "ends/skips"].map(|name| (name, false));
    let bad = ["ends/panics", "ends/dies", "ends/leaves", "ends/hangs"].map(|name| (name, true));
    assert_eq!(failed, good.into_iter().chain(bad).collect());
    let said = |test: &str, text: &str| records[test]["output"].as_str().is_some_and(|output| output.contains(text));
    assert!(said("ends/skips", "\nSKIP: there is no such device\n"), "{records:#?}");
    assert!(said("ends/panics", "of its own accord"), "{records:#?}");
    assert!(said("ends/dies", "ended by signal 6\n"), "{records:#?}");
    assert!(said("ends/hangs", "ended by signal 9, when its time was over\n"), "{records:#?}");
    assert!(records.values().all(|record| record["program"] == "forked"), "{records:#?}");
}

fn a_filter_selects() {
    let (records, content) = play(&["ends/one"]);
    assert!(content, "it passes");
    assert_eq!(records.keys().collect::<Vec<_>>(), ["ends/one"]);
    let (records, content) = play(&["no test of this name"]);
    assert!(!content && records.is_empty(), "that nothing ran is no success");
    let mut none = Command::new(std::env::current_exe().expect("a path"));
    none.args(["--processes", "0", "--report", "/dev/null"]);
    assert!(!none.output().expect("a program that starts").status.success(), "no process runs nothing");
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--processes") {
        return forked::main_within(played(), Duration::from_secs(2));
    }
    let test = |name: &str, body: fn()| {
        Trial::test(name, move || {
            body();
            Ok(())
        })
    };
    let trials = vec![test("tells_how_each_ended", tells_how_each_ended), test("a_filter_selects", a_filter_selects)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
