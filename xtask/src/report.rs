//! What test runs resulted in, and what they left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex_lite::Regex;
use serde::Deserialize;

use crate::{Failure, Outcome, read, root};

const USAGE: &str = "\
Sums up test runs and holds what they left out against the lists of what may be left out.

    scripts/test-report [--lists DIR] [--whole] FILE…

FILE is a JUnit file of cargo-nextest (*.xml), the report of a program that copies itself for each test (*.jsonl), the output of
`python3 -m unittest -v` (*.unittest), lines as in a list (*.skips), or the output of `cargo test -- --show-output` (any other). A test
says with a line `SKIP: REASON` that it left something out.

Files whose names are the same up to the first dot are of one run. The skips of a run DRIVER stand in tests/skips/DRIVER.txt (or DIR),
those of any run in tests/skips/environment.txt, one a line:

    [if CONDITION: ]PROGRAM TEST, REASON

PROGRAM is the test program (e2e), TEST the test's name; * and ? stand for any text and any character, but every test that a line
matches has to skip. CONDITION is a name, or several with `and` between them, each perhaps with `not` before it:

    root          the tests run as root
    nosuid        set-user-id programs have no effect in the temporary folder
    jsonschema    python3 has jsonschema
    deqp-runner   deqp-runner is installed
    cargo-deny    cargo-deny is installed
    nextest       cargo-nextest is installed

A line whose condition does not hold says nothing. A skip that no line allows is a failure, and so is a test that ran and did not
skip although a line says so. Lines about tests that did not run say nothing, but with --whole, when all tests should have run,
they are failures as well.

Exit status: 0; 1 when a test failed, none ran, or skips and lists differ; 2 for wrong usage; 3 when a file cannot be read.";

/// The list about every run.
const SHARED: &str = "environment";

/// What the tests of one run resulted in.
#[derive(Default)]
struct Tests {
    /// In the order in which they ran, each by its name with the program's before it.
    ran: Vec<Test>,
    index: HashMap<String, usize>,
}

#[derive(Default)]
struct Test {
    name: String,
    has_failed: bool,
    skips: Vec<String>,
}

impl Tests {
    fn of(&mut self, name: &str) -> &mut Test {
        let at = *self.index.entry(name.to_owned()).or_insert_with(|| {
            self.ran.push(Test { name: name.to_owned(), ..Test::default() });
            self.ran.len() - 1
        });
        &mut self.ran[at]
    }

    fn add(&mut self, name: &str, has_failed: bool, skips: impl IntoIterator<Item = String>) {
        let test = self.of(name);
        test.has_failed |= has_failed;
        test.skips.extend(skips);
    }

    /// How many passed, failed and skipped; one that left out a part has not passed.
    fn counts(&self) -> [usize; 3] {
        let failed = self.ran.iter().filter(|test| test.has_failed).count();
        let skipped = self.ran.iter().filter(|test| !test.has_failed && !test.skips.is_empty()).count();
        [self.ran.len() - failed - skipped, failed, skipped]
    }
}

/// How the lines of the reports look.
struct Patterns {
    entry: Regex,
    running: Regex,
    documentation: Regex,
    started: Regex,
    ended: Regex,
    section: Regex,
    unittest: Regex,
    unittest_ended: Regex,
}

impl Patterns {
    fn new() -> Result<Patterns, Failure> {
        let new = |pattern| Regex::new(pattern).map_err(|error| Failure::Input(error.to_string()));
        Ok(Patterns {
            entry: new(r"^(?:if ([^:]+): )?(\S+ .+?), (.+)$")?,
            running: new(r"^\s+Running (?:.* )?\(?\S*?([^/\s]+?)(?:-[0-9a-f]{16})?\)?$")?,
            documentation: new(r"^\s+Doc-tests (\S+)$")?,
            started: new(r"^test (?:\[[^\]]*\] )?(.+?)\s+\.\.\.")?,
            ended: new(r"(?:^|\s)(ok|FAILED|ignored)(?:[ ,].*)?$")?,
            section: new(r"^---- (.+) std(?:out|err) ----$")?,
            unittest: new(r"^(test\w*) \((\S+)\)")?,
            unittest_ended: new(r#"\.\.\. (ok|FAIL|ERROR|expected failure|unexpected success|skipped ['"](.*)['"])$"#)?,
        })
    }

    fn libtest(&self, text: &str, tests: &mut Tests) {
        let (mut program, mut current, mut is_open) = ("?".to_owned(), String::new(), false);
        for line in text.lines() {
            if let Some(found) = self.running.captures(line).or_else(|| self.documentation.captures(line)) {
                (program, current, is_open) = (found[1].to_owned(), String::new(), false);
            } else if let Some(found) = self.section.captures(line) {
                (current, is_open) = (format!("{program} {}", &found[1]), false);
            } else if let Some(reason) = line.strip_prefix("SKIP: ") {
                if !current.is_empty() {
                    tests.add(&current, false, [reason.trim_end().to_owned()]);
                }
            } else if let Some(found) = self.started.captures(line) {
                (current, is_open) = (format!("{program} {}", &found[1]), true);
                tests.of(&current);
            }
            // What a test prints itself may stand between its name and its result.
            if is_open && let Some(found) = self.ended.captures(line) {
                is_open = false;
                match &found[1] {
                    "ignored" if tests.of(&current).skips.is_empty() => tests.add(&current, false, ["ignored".into()]),
                    "FAILED" => tests.of(&current).has_failed = true,
                    _ => {}
                }
            }
        }
    }

    fn unittest(&self, text: &str, tests: &mut Tests) {
        let mut current = None;
        for line in text.lines() {
            if let Some(found) = self.unittest.captures(line) {
                let (name, whole) = (&found[1], &found[2]);
                let (module, rest) = whole.split_once('.').unwrap_or((whole, ""));
                // Before Python 3.11 the test's name is not in the brackets.
                let end = if rest.ends_with(&format!(".{name}")) { String::new() } else { format!(".{name}") };
                current = Some(format!("{module} {rest}{end}"));
            }
            if let Some(name) = &current
                && let Some(found) = self.unittest_ended.captures(line)
            {
                let has_failed = ["FAIL", "ERROR", "unexpected success"].contains(&&found[1]);
                let reason = found.get(2).map(|reason| reason.as_str().to_owned()).filter(|reason| !reason.is_empty());
                tests.add(name, has_failed, reason);
                current = None;
            }
        }
    }

    /// Adds a file to what its run resulted in.
    fn add(&self, path: &Path, tests: &mut Tests) -> Result<(), Failure> {
        let text = read(path)?;
        let unreadable = |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => junit(&text, tests).map_err(|error| unreadable(&error))?,
            Some("jsonl") => records(&text, tests).map_err(|error| unreadable(&error))?,
            Some("unittest") => self.unittest(&text, tests),
            Some("skips") => {
                for (test, reason) in text.lines().filter_map(|line| line.split_once(", ")) {
                    tests.add(test, false, [reason.to_owned()]);
                }
            }
            _ => self.libtest(&text, tests),
        }
        Ok(())
    }
}

/// The reasons that a test printed.
fn reasons(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| Some(line.strip_prefix("SKIP: ")?.trim_end().to_owned()))
}

fn junit(text: &str, tests: &mut Tests) -> Result<(), roxmltree::Error> {
    let document = roxmltree::Document::parse(text)?;
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let child = |name: &str| case.children().find(|child| child.has_tag_name(name));
        let class = case.attribute("classname").unwrap_or_default().rsplit("::").next().unwrap_or_default();
        let said = [child("system-out"), child("system-err")].into_iter().flatten().filter_map(|output| output.text());
        let mut skips: Vec<String> = said.flat_map(reasons).collect();
        if let Some(skipped) = child("skipped").filter(|_| skips.is_empty()) {
            skips.push(skipped.attribute("message").unwrap_or("ignored").to_owned());
        }
        let has_failed = child("failure").or(child("error")).is_some();
        tests.add(&format!("{class} {}", case.attribute("name").unwrap_or_default()), has_failed, skips);
    }
    Ok(())
}

#[derive(Deserialize)]
struct Record {
    program: String,
    test: String,
    failed: bool,
    output: String,
}

fn records(text: &str, tests: &mut Tests) -> Result<(), serde_json::Error> {
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let record: Record = serde_json::from_str(line)?;
        tests.add(&format!("{} {}", record.program, record.test), record.failed, reasons(&record.output));
    }
    Ok(())
}

/// Whether a program is in one of the folders of `PATH`.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether a condition holds; `None` if there is none of that name.
fn holds(condition: &str) -> Option<bool> {
    Some(match condition {
        "root" => rustix::process::geteuid().is_root(),
        "nosuid" => {
            let flags = rustix::fs::statvfs(std::env::temp_dir()).map(|of| of.f_flag);
            let is_mounted_so = flags.is_ok_and(|flags| flags.contains(rustix::fs::StatVfsMountFlags::NOSUID));
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            is_mounted_so || status.contains("NoNewPrivs:\t1")
        }
        "jsonschema" => {
            let find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('jsonschema') is None)";
            Command::new("python3").args(["-c", find]).status().is_ok_and(|status| status.success())
        }
        "deqp-runner" => is_installed("deqp-runner"),
        "cargo-deny" => is_installed("cargo-deny"),
        "nextest" => is_installed("cargo-nextest"),
        _ => return None,
    })
}

/// Whether all of a text is as a pattern with `*` and `?` says. Other characters, brackets among them, stand for themselves.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '*' => text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| matches(rest, &text[at..])),
        _ => text
            .chars()
            .next()
            .is_some_and(|next| (first == '?' || first == next) && matches(rest, &text[next.len_utf8()..])),
    }
}

/// A line of a list.
struct Entry {
    place: String,
    line: String,
    test: String,
    reason: String,
    has_run: bool,
}

/// The lines of a list whose conditions hold.
fn list(path: &Path, patterns: &Patterns) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    let text = if path.exists() { read(path)? } else { String::new() };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        let (place, line) = (format!("{name}:{}", at + 1), line.trim().to_owned());
        let Some(found) = patterns.entry.captures(&line) else {
            return Err(Failure::Input(format!("{place}: not PROGRAM TEST, REASON: {line}")));
        };
        let (test, reason) = (found[2].to_owned(), found[3].to_owned());
        let mut is_meant = true;
        for part in found.get(1).iter().flat_map(|condition| condition.as_str().split(" and ")) {
            let (name, wanted) = part.strip_prefix("not ").map_or((part, true), |name| (name.trim(), false));
            match holds(name.trim()) {
                Some(held) => is_meant &= held == wanted,
                None => return Err(Failure::Input(format!("{place}: no condition: {name}"))),
            }
        }
        if is_meant {
            entries.push(Entry { place, line, test, reason, has_run: false });
        }
    }
    Ok(entries)
}

/// What is wrong with the skips of a run, by its own list and by the shared one.
fn compare(tests: &Tests, lists: [&mut [Entry]; 2]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut entries: Vec<&mut Entry> = lists.into_iter().flatten().collect();
    for Test { name, has_failed, skips } in &tests.ran {
        let allowed: Vec<_> = entries.iter_mut().filter(|entry| matches(&entry.test, name)).collect();
        let mut seen: Vec<&str> = Vec::new();
        for reason in skips {
            if !seen.contains(&reason.as_str()) && !allowed.iter().any(|entry| matches(&entry.reason, reason)) {
                wrong.push(format!("skip that is not listed: {name}, {reason}"));
            }
            seen.push(reason);
        }
        for entry in allowed {
            entry.has_run = true;
            // A test that failed may not have come as far as where it skips.
            if !has_failed && !skips.iter().any(|reason| matches(&entry.reason, reason)) {
                wrong.push(format!("no longer skips: {name} ({}: {})", entry.place, entry.line));
            }
        }
    }
    wrong
}

/// The lines of the report, and whether nothing is wrong.
fn report(files: &[PathBuf], lists: &Path, is_whole: bool) -> Result<(Vec<String>, bool), Failure> {
    let patterns = Patterns::new()?;
    let mut runs: Vec<(String, Tests)> = Vec::new();
    for path in files {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = file.split('.').next().unwrap_or_default();
        if !runs.iter().any(|(run, _)| run == name) {
            runs.push((name.to_owned(), Tests::default()));
        }
        if let Some((_, tests)) = runs.iter_mut().find(|(run, _)| run == name) {
            patterns.add(path, tests)?;
        }
    }
    let mut shared = list(&lists.join(format!("{SHARED}.txt")), &patterns)?;
    let (mut lines, mut wrong, mut idle, mut total) = (Vec::new(), Vec::new(), Vec::new(), [0; 3]);
    let say = |[passed, failed, skipped]: [usize; 3]| format!("{passed} passed, {failed} failed, {skipped} skipped");
    let never = |entries: &[Entry]| -> Vec<String> {
        let idle = entries.iter().filter(|entry| !entry.has_run);
        idle.map(|entry| format!("no test of this name ran: {}: {}", entry.place, entry.line)).collect()
    };
    for (name, tests) in &runs {
        let mut own = if name == SHARED { Vec::new() } else { list(&lists.join(format!("{name}.txt")), &patterns)? };
        wrong.extend(compare(tests, [&mut own, &mut shared]).iter().map(|line| format!("{name}: {line}")));
        idle.extend(never(&own));
        let counts = tests.counts();
        total = std::array::from_fn(|at| total[at] + counts[at]);
        lines.push(format!("{name}: {}", say(counts)));
    }
    if is_whole {
        wrong.extend(never(&shared));
        wrong.extend(idle);
    }
    let [passed, failed, _] = total;
    let is_well = failed == 0 && passed > 0 && wrong.is_empty();
    lines.extend(wrong);
    lines.push(say(total));
    Ok((lines, is_well))
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut lists, mut is_whole, mut files) = (root().join("tests/skips"), false, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--lists" => lists = rest.next().map(PathBuf::from).ok_or(Failure::Usage(USAGE))?,
            "--whole" => is_whole = true,
            option if option.starts_with('-') => return Err(Failure::Usage(USAGE)),
            file => files.push(PathBuf::from(file)),
        }
    }
    if files.is_empty() {
        return Err(Failure::Usage(USAGE));
    }
    let (lines, is_well) = report(&files, &lists, is_whole)?;
    lines.iter().for_each(|line| println!("{line}"));
    Ok(is_well)
}

#[cfg(test)]
mod tests;
