//! Skips that are listed, that are not, and lists that say too much.

use std::fmt::Write as _;

use super::*;

/// A test: its program, its name, what it printed and whether it failed.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    reasons: &'static [&'static str],
    has_failed: bool,
}

const fn case(name: &'static str, reasons: &'static [&'static str]) -> Case {
    Case { name, reasons, has_failed: false }
}

const fn failed(name: &'static str) -> Case {
    Case { name, reasons: &[], has_failed: true }
}

const PASSED: Case = case("plain", &[]);
const SKIPPED: Case = case("borders/custom", &["the device lacks customBorderColors [1, 2]"]);
const LISTED: &str = "e2e borders/custom, the device lacks customBorderColors [1, 2]";

impl Case {
    fn output(&self) -> String {
        let reasons: String = self.reasons.iter().map(|reason| format!("\nSKIP: {reason}\n")).collect();
        format!("running 1 test\n{reasons}ok\n")
    }
}

/// A file as cargo-nextest writes it.
fn junit(cases: &[Case]) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"run\"><testsuite name=\"samplin\">\n"
            .to_owned();
    for case in cases {
        let failure = if case.has_failed { "<failure type=\"test failure\">failed</failure>" } else { "" };
        let output = case.output();
        let _ = writeln!(
            text,
            "<testcase name=\"{}\" classname=\"samplin::e2e\">{failure}<system-out>{output}</system-out></testcase>",
            case.name
        );
    }
    text + "</testsuite></testsuites>\n"
}

/// The same from a program that copies itself for each test.
fn records(cases: &[Case]) -> String {
    let record = |case: &Case| serde_json::json!({"program": "e2e", "test": case.name, "output": case.output(), "failed": case.has_failed});
    cases.iter().map(|case| format!("{}\n", record(case))).collect()
}

/// Reports, and lists that they are held against.
#[derive(Default)]
struct Given<'a> {
    files: &'a [(&'a str, &'a str)],
    own: &'a [&'a str],
    shared: &'a [&'a str],
    is_whole: bool,
}

impl Given<'_> {
    /// The exit status and the lines.
    fn report(&self) -> (u8, String) {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("xtask-report-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("lists")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        put("lists/driver.txt", &format!("# a comment\n\n{}\n", self.own.join("\n")));
        put("lists/environment.txt", &format!("{}\n", self.shared.join("\n")));
        self.files.iter().for_each(|(name, text)| put(name, text));
        let files: Vec<_> = self.files.iter().map(|(name, _)| folder.join(name)).collect();
        let answer = match report(&files, &folder.join("lists"), self.is_whole) {
            Ok((lines, is_well)) => (u8::from(!is_well), lines.join("\n") + "\n"),
            Err(Failure::Input(what)) => (3, what),
            Err(Failure::Usage(text)) => (2, text.to_owned()),
        };
        std::fs::remove_dir_all(&folder).unwrap();
        answer
    }

    #[track_caller]
    fn ends(&self, status: u8, texts: &[&str]) {
        let (ended, said) = self.report();
        assert_eq!(ended, status, "{said}");
        texts.iter().for_each(|text| assert!(said.contains(text), "{text}: {said}"));
    }
}

/// One JUnit file of a run on `driver`, and its own list.
#[track_caller]
fn ends(cases: &[Case], own: &[&str], status: u8, texts: &[&str]) {
    Given { files: &[("driver.xml", &junit(cases))], own, ..Given::default() }.ends(status, texts);
}

#[test]
fn a_skip_has_to_be_listed() {
    ends(&[PASSED, SKIPPED], &[LISTED], 0, &["1 passed, 0 failed, 1 skipped"]);
    ends(&[PASSED, SKIPPED], &[], 1, &[&format!("driver: skip that is not listed: {LISTED}\n")]);
    let ran = junit(&[PASSED, SKIPPED]);
    Given { files: &[("driver.xml", &ran)], shared: &[LISTED], ..Given::default() }.ends(0, &["1 skipped"]);
    // The list of another driver.
    Given { files: &[("other.xml", &ran)], own: &[LISTED], ..Given::default() }.ends(1, &["not listed"]);
}

#[test]
fn a_run_has_several_files() {
    let passed = junit(&[PASSED]);
    let given = |second: &str, own: &[&str], status, texts: &[&str]| {
        let files = [("driver.xml", passed.as_str()), ("driver.e2e.jsonl", second)];
        Given { files: &files, own, is_whole: true, ..Given::default() }.ends(status, texts);
    };
    let skipped = records(&[SKIPPED]);
    given(&skipped, &[LISTED], 0, &["1 passed, 0 failed, 1 skipped"]);
    given(&skipped, &[], 1, &["driver: skip that is not listed"]);
    given(&records(&[failed("borders/custom")]), &[LISTED], 1, &["1 passed, 1 failed, 0 skipped"]);
    given(&skipped[..9], &[LISTED], 3, &["driver.e2e.jsonl"]);
}

#[test]
fn a_listed_test_has_to_skip() {
    let stale = [PASSED, case("borders/custom", &[])];
    ends(&stale, &[LISTED], 1, &["no longer skips: e2e borders/custom (driver.txt:3", "2 passed"]);
    let other = [PASSED, case("borders/custom", &["no loader"])];
    ends(&other, &[LISTED], 1, &["not listed: e2e borders/custom, no loader", "no longer skips"]);
    // One that failed may not have come so far.
    let (status, said) = Given {
        files: &[("driver.xml", &junit(&[PASSED, failed("borders/custom")]))],
        own: &[LISTED],
        ..Given::default()
    }
    .report();
    assert!(status == 1 && !said.contains("no longer"), "{said}");
}

#[test]
fn each_part_has_a_line_of_its_own() {
    let ran = [PASSED, case("every_path", &["Push: no", "Heap: no"])];
    let (first, second) = ("e2e every_path, Push: no", "e2e every_path, Heap: no");
    ends(&ran, &[first, second], 0, &[]);
    ends(&ran, &[first], 1, &[&format!("not listed: {second}")]);
    ends(&ran, &[first, second, "e2e every_path, Copy: no"], 1, &["no longer skips"]);
}

#[test]
fn a_filter_selects_other_tests() {
    ends(&[PASSED], &[LISTED], 0, &["1 passed, 0 failed, 0 skipped"]);
    let given = |cases: &[Case], status, texts: &[&str]| {
        let files = [("driver.xml", junit(cases))];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        Given { files: &files, own: &[LISTED], is_whole: true, ..Given::default() }.ends(status, texts);
    };
    given(&[PASSED], 1, &["no test of this name ran: driver.txt:3"]);
    given(&[PASSED, SKIPPED], 0, &[]);
}

#[test]
fn a_line_may_have_patterns() {
    let ran = [PASSED, case("a/1", &["llvmpipe (1) filters"]), case("a/2", &["llvmpipe (2) filters"])];
    ends(&ran, &["e2e a/?, llvmpipe (*) filters"], 0, &[]);
    ends(&ran, &["e2e a/?, llvmpipe"], 1, &["not listed"]);
    // All that it matches have to skip.
    ends(&ran, &["e2e *, llvmpipe (*) filters"], 1, &["no longer skips: e2e plain"]);
}

#[test]
fn a_line_may_have_a_condition() {
    let is_root = holds("root").unwrap();
    let lines = ["if root: e2e a, only without root", "if not root: e2e a, only with root"];
    let [held, other] = if is_root { [0, 1] } else { [1, 0] }
        .map(|at| [case("a", &["only without root"]), case("a", &["only with root"])][at]);
    let given = |cases: &[Case], shared: &[&str], status, texts: &[&str]| {
        let ran = junit(cases);
        Given { files: &[("driver.xml", &ran)], shared, is_whole: status == 0, ..Given::default() }.ends(status, texts);
    };
    given(&[PASSED, held], &lines, 0, &[]);
    given(&[PASSED, other], &lines, 1, &["not listed", "no longer skips"]);
    given(&[PASSED, case("a", &[])], &["if root and not root: e2e a, never"], 0, &[]);
    given(&[PASSED], &["if raining: e2e a, wet"], 3, &["no condition: raining"]);
}

#[test]
fn a_run_in_which_nothing_passed_is_no_pass() {
    ends(&[], &[], 1, &["0 passed"]);
    ends(&[SKIPPED], &[LISTED], 1, &["0 passed"]);
}

#[test]
fn what_cannot_be_read_is_named() {
    Given { files: &[("driver.xml", "<")], ..Given::default() }.ends(3, &["driver.xml"]);
    ends(&[PASSED], &["e2e only-a-name"], 3, &["not PROGRAM TEST, REASON"]);
}

#[test]
fn the_output_of_cargo_test_is_read() {
    let text = "   Compiling samplin v0.1.0
     Running unittests src/lib.rs (target/debug/deps/VkLayer_samplin-0123456789abcdef)

running 2 tests
test decide::one ... ok
test decide::left ... ignored, slow

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/e2e/main.rs (target/debug/deps/e2e-0123456789abcdef)

running 2 tests
test borders/custom ...\x20
SKIP: no
ignored
test plain          ... ok

     Running tests/settings.rs (target/debug/deps/settings-0123456789abcdef)

running 2 tests
test rights ... ok
test other ... FAILED

successes:

---- rights stdout ----

SKIP: only root
";
    let lines = ["VkLayer_samplin decide::left, ignored", "e2e borders/custom, no", "settings rights, only root"];
    let unlisted = lines.map(|line| format!("not listed: {line}\n"));
    Given { files: &[("driver.log", text)], ..Given::default() }.ends(1, &unlisted.each_ref().map(String::as_str));
    Given { files: &[("driver.log", text)], ..Given::default() }.ends(1, &["driver: 2 passed, 1 failed, 3 skipped"]);
    let text = text.replace("test other ... FAILED", "test other ... ok");
    let given = Given { files: &[("driver.log", &text)], own: &lines, is_whole: true, ..Given::default() };
    given.ends(0, &["3 passed, 0 failed, 3 skipped"]);
}

#[test]
fn the_output_of_unittest_is_read() {
    let text = "test_one (test_cts.Own.test_one) ... ok
test_two (test_cts.Own.test_two)
What it is about. ... ok
test_three (test_cts.Runner.test_three) ... skipped 'deqp-runner is not installed'
";
    let listed = ["test_cts Runner.*, deqp-runner is not installed"];
    let given = |text: &str, own: &[&str], status, said: &str| {
        Given { files: &[("driver.unittest", text)], own, ..Given::default() }.ends(status, &[said]);
    };
    given(text, &[], 1, "not listed: test_cts Runner.test_three, deqp-runner");
    given(text, &listed, 0, "2 passed, 0 failed, 1 skipped");
    given(&text.replace("test_one) ... ok", "test_one) ... FAIL"), &listed, 1, "1 failed");
}

#[test]
fn steps_that_are_left_out_are_listed_too() {
    let ran = junit(&[PASSED]);
    let files = [("driver.xml", ran.as_str()), ("driver.skips", "steps dependencies, cargo-deny is not installed\n")];
    Given { files: &files, ..Given::default() }.ends(1, &["driver: skip that is not listed: steps dependencies"]);
}
