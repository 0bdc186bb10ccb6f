//! What is said when the program has ended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::failure::Result;
use crate::folders;
use crate::inspect;
use crate::output::{Cell, Output, Style, Table};
use crate::system::System;
use crate::trace::analysis::Analysis;
use crate::trace::reader::Source;
use crate::trace::record::{counted, grouped};

/// How many rules are listed.
const RULES: usize = 12;

/// Where traces of the program will turn up.
#[derive(Clone, Debug)]
pub(super) enum Watch {
    /// Nowhere.
    Nowhere,
    /// Files in a folder whose names begin and end so.
    Folder { folder: PathBuf, pattern: Vec<String>, before: BTreeSet<PathBuf>, automatic: bool },
}

impl Watch {
    /// `setting`: the `trace` setting, if it is set.
    pub(super) fn new(setting: Option<&str>) -> Self {
        let is = |words: &[&str]| setting.is_some_and(|text| words.iter().any(|word| text.eq_ignore_ascii_case(word)));
        if is(&["off", "none", "false", "0", "stderr"]) || setting.is_some_and(|text| text.starts_with("/dev/")) {
            return Self::Nowhere;
        }
        let automatic = setting.is_none_or(str::is_empty) || is(&["auto", "on", "true", "1"]);
        let (folder, pattern) = if automatic {
            let Some(folder) = folders::traces() else { return Self::Nowhere };
            (folder, vec![String::new(), "-".to_owned(), ".jsonl".to_owned()])
        } else {
            let mut text = setting.unwrap_or("").to_owned();
            if let Some(rest) = text.strip_prefix("~/") {
                let Some(home) = System::current().home() else { return Self::Nowhere };
                text = format!("{}/{rest}", home.display());
            }
            let path = PathBuf::from(&text);
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
            if folder.to_string_lossy().contains('%') {
                return Self::Nowhere;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (folder, pieces(&name))
        };
        let before = files(&folder, &pattern).into_iter().map(|(path, _)| path).collect();
        Self::Folder { folder, pattern, before, automatic }
    }

    /// The traces written since `started`, the one of `process` first.
    pub(super) fn traces(&self, started: SystemTime, process: u32) -> Vec<PathBuf> {
        let Self::Folder { folder, pattern, before, automatic } = self else { return Vec::new() };
        // File systems keep coarser times than the clock.
        let since = started.checked_sub(std::time::Duration::from_millis(50)).unwrap_or(started);
        let mut found: Vec<PathBuf> = files(folder, pattern)
            .into_iter()
            // In the state folder of the user, other programs write their own; there only new files count.
            .filter(|(path, time)| *time >= since && !(*automatic && before.contains(path)))
            .map(|(path, _)| path)
            .collect();
        let own = format!("-{process}.jsonl");
        found.sort_by_key(|path| (!path.to_string_lossy().ends_with(&own), path.clone()));
        found
    }
}

/// The fixed parts of a file name with marks, between which anything may stand.
fn pieces(name: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        let mark = if character == '%' { characters.next() } else { None };
        match (character, mark) {
            ('%', Some('e' | 'p' | 'd')) => pieces.push(String::new()),
            ('%', Some('%')) => pieces.last_mut().into_iter().for_each(|piece| piece.push('%')),
            (character, mark) => {
                pieces
                    .last_mut()
                    .into_iter()
                    .for_each(|piece| piece.extend([Some(character), mark].into_iter().flatten()));
            }
        }
    }
    pieces
}

fn fits(name: &str, pieces: &[String]) -> bool {
    let [first, between @ .., last] = pieces else {
        return pieces.first().is_some_and(|whole| whole == name);
    };
    let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
    for piece in between {
        let Some(at) = rest.find(piece.as_str()) else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or("");
    }
    rest.ends_with(last.as_str())
}

fn files(folder: &Path, pattern: &[String]) -> Vec<(PathBuf, SystemTime)> {
    std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| fits(&entry.file_name().to_string_lossy(), pattern))
        .filter_map(|entry| Some((folder.join(entry.file_name()), entry.metadata().ok()?.modified().ok()?)))
        .collect()
}

/// What there is to tell.
#[derive(Debug)]
pub(super) struct Told {
    /// The traces.
    pub(super) traces: Vec<PathBuf>,
    /// The `mode` setting.
    pub(super) mode: Option<String>,
    /// The `trace` setting.
    pub(super) trace: Option<String>,
    /// How the program ended, if not well.
    pub(super) status: Option<String>,
}

impl Told {
    /// As JSON.
    pub(super) fn json(&self, status: u8) -> Result<Value> {
        let sources: Vec<Source> = self.traces.iter().cloned().map(Source::File).collect();
        let analysis = Analysis::of(&sources, false)?;
        Ok(json!({ "status": status, "summary": inspect::json(&analysis) }))
    }

    /// As text.
    pub(super) fn print(&self, output: &mut Output) {
        let prefix = output.styled(Style::Dim, "samplin:");
        let say = |output: &mut Output, text: String| output.line(format!("{prefix} {text}"));
        if let Some(status) = &self.status {
            say(output, format!("the program ended with {status}"));
        }
        if self.traces.is_empty() {
            say(output, self.why_none());
            return;
        }
        for path in &self.traces {
            match Analysis::of(&[Source::File(path.clone())], false) {
                Ok(analysis) => self.print_one(path, &analysis, output),
                Err(failure) => say(output, failure.message),
            }
        }
    }

    fn why_none(&self) -> String {
        let trace = self.trace.as_deref().unwrap_or("");
        if self.mode.as_deref() == Some("off") {
            "the mode is off, so there is no trace".to_owned()
        } else if trace.eq_ignore_ascii_case("stderr") {
            "the trace went to standard error".to_owned()
        } else if ["off", "none", "false", "0"].iter().any(|word| trace.eq_ignore_ascii_case(word)) {
            "there is no trace, because the setting trace is off".to_owned()
        } else {
            "there is no trace: the program created no Vulkan instance, or the loader left the layer out (`samplin doctor` looks for the reason)".to_owned()
        }
    }

    fn print_one(&self, path: &Path, analysis: &Analysis, output: &mut Output) {
        let prefix = output.styled(Style::Dim, "samplin:");
        for process in analysis.processes() {
            output.line(format!("{prefix} {process}"));
        }
        for device in inspect::devices(analysis) {
            output.line(format!("{prefix} on {device}"));
        }
        let changes = analysis.change_count();
        let unresolved: u64 = analysis.unresolved.iter().map(|item| item.count).sum();
        if changes == 0 {
            let text = output.styled(Style::Good, "nothing was changed");
            output.line(format!("{prefix} {text}"));
        } else {
            let records: u64 = analysis.decisions.iter().map(|decision| decision.count).sum();
            let verb = if self.mode.as_deref() == Some("audit") { " would be made" } else { "" };
            let text = format!("{}{verb} in {}", counted(changes, "change"), counted(records, "record"));
            let text = output.styled(Style::Heading, text);
            output.line(format!("{prefix} {text}"));
            let mut table = Table::new(2);
            for group in analysis.by_rule().iter().take(RULES) {
                let example = group.kinds.first().map(|kind| kind.change.brief()).unwrap_or_default();
                let others = match group.kinds.len() {
                    0 | 1 => String::new(),
                    kinds => format!(" and {}", counted(kinds as u64 - 1, "more kind")),
                };
                table.row([
                    Cell::number(group.changes),
                    Cell::new(&group.rule).style(Style::Name),
                    Cell::new(example + &others),
                ]);
            }
            output.table(&table);
        }
        if unresolved > 0 {
            let text = output.styled(Style::Warn, format!("{} passed through unresolved", grouped(unresolved)));
            output.line(format!("{prefix} {text}"));
        }
        for warning in inspect::warnings(analysis).iter().take(5) {
            output.line(format!("{prefix} {warning}"));
        }
        output.line(format!("{prefix} trace {} (`samplin inspect` tells the rest)", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_marks_are_recognised() {
        assert_eq!(pieces("a.jsonl"), ["a.jsonl"]);
        assert_eq!(pieces("%e-%p.jsonl"), ["", "-", ".jsonl"]);
        assert_eq!(pieces("100%%-%x%p"), ["100%-%x", ""]);
        assert!(fits("vkcube-12.jsonl", &pieces("%e-%p.jsonl")));
        assert!(fits("t-12", &pieces("t-%p")));
        assert!(!fits("vkcube.jsonl", &pieces("%e-%p.jsonl")));
        assert!(fits("a.jsonl", &pieces("a.jsonl")));
        assert!(!fits("ba.jsonl", &pieces("a.jsonl")));
    }
}
