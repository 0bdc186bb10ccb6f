//! What is said when the program has ended.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use samplin_config::settings::TraceTarget;
use serde_json::{Value, json};

use super::validation::Messages;
use crate::failure::Result;
use crate::files;
use crate::folders;
use crate::inspect;
use crate::looked;
use crate::output::{Cell, Output, Style, Table};
use crate::system::System;
use crate::trace::analysis::Analysis;
use crate::trace::record::{counted, more};

/// How many rules are listed.
const RULES: usize = 12;

/// How many warnings of a trace are printed.
const WARNINGS: usize = 5;

/// Where traces of the program will turn up.
#[derive(Clone, Debug)]
pub(super) enum Watch {
    /// Nowhere that can be looked at: it is off, or goes to a stream.
    Nowhere,
    /// Nowhere, because there is no home folder.
    Homeless,
    /// Files in a folder whose names begin and end so; `before`: how long those are that are there.
    Folder { folder: PathBuf, pattern: Vec<String>, before: BTreeMap<PathBuf, u64>, automatic: bool },
}

impl Watch {
    /// Of traces that go there.
    pub(super) fn new(target: &TraceTarget) -> Self {
        let (folder, pattern) = match target {
            TraceTarget::Off | TraceTarget::Stderr => return Self::Nowhere,
            TraceTarget::Auto => {
                let Some(folder) = folders::traces() else { return Self::Homeless };
                (folder, vec![String::new(), "-".to_owned(), ".jsonl".to_owned()])
            }
            TraceTarget::Path(text) => {
                if text.starts_with("~/") && System::current().home().is_none() {
                    return Self::Homeless;
                }
                let path = samplin_platform::home_path(text);
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
                if path.starts_with("/dev") || folder.to_string_lossy().contains('%') || is_stream(&path) {
                    return Self::Nowhere;
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (folder, pieces(&name))
            }
        };
        let before = files(&folder, &pattern).into_iter().collect();
        Self::Folder { folder, pattern, before, automatic: *target == TraceTarget::Auto }
    }

    /// The one file that the trace goes to, if its name has no marks.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Folder { folder, pattern, automatic: false, .. } => match pattern.as_slice() {
                [name] => Some(folder.join(name)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The files with something in them that the program would go on writing, as far as their names can be told.
    pub(super) fn own(&self, program: &Path) -> Vec<PathBuf> {
        let Self::Folder { pattern, before, automatic: false, .. } = self else { return Vec::new() };
        let words = words(program);
        // The process is a new one, so a file with a number is of another.
        let is_own =
            |path: &Path| expands(&path.file_name().unwrap_or_default().to_string_lossy(), pattern, &words, false);
        before.iter().filter(|(path, length)| **length > 0 && is_own(path)).map(|(path, _)| path.clone()).collect()
    }

    /// Whether a file, which need not be there, may become the program's trace.
    pub(super) fn may_write(&self, path: &Path, program: &Path) -> bool {
        let Self::Folder { folder, pattern, .. } = self else { return false };
        let real = |folder: &Path| std::path::absolute(folder).and_then(|folder| folder.canonicalize()).ok();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let own = std::path::absolute(path).ok().and_then(|path| real(path.parent()?));
        own.is_some() && own == real(folder) && expands(&name, pattern, &words(program), true)
    }

    /// Empties these traces: the layer appends. What it refuses to write into is left whole.
    pub(super) fn begin_anew(&mut self, own: Vec<PathBuf>) -> io::Result<()> {
        let Self::Folder { before, .. } = self else { return Ok(()) };
        for path in own {
            if let Some(why) = files::refusal(&path) {
                return Err(io::Error::other(why));
            }
            std::fs::File::options().write(true).open(&path)?.set_len(0)?;
            before.insert(path, 0);
        }
        Ok(())
    }

    /// The traces that were written since, each with where that begins, the one of `process` first.
    pub(super) fn traces(&self, process: u32) -> Vec<(PathBuf, u64)> {
        let Self::Folder { folder, pattern, before, automatic } = self else { return Vec::new() };
        let mut found: Vec<(PathBuf, u64)> = files(folder, pattern)
            .into_iter()
            .filter_map(|(path, length)| match before.get(&path) {
                // In the state folder of the user, other programs write their own; there only new files count.
                Some(_) if *automatic => None,
                Some(from) if length <= *from => None,
                from => Some((path, from.copied().unwrap_or(0))),
            })
            .collect();
        let own = format!("-{process}.jsonl");
        found.sort_by_key(|(path, _)| (!path.to_string_lossy().ends_with(&own), path.clone()));
        found
    }
}

/// Whether there is something that cannot be read again: a FIFO, a socket, a device.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The fixed parts of a file name with marks, between which anything may stand.
pub(super) fn pieces(name: &str) -> Vec<String> {
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

/// What a mark can stand for but the process: the executable, by either name, and the date of today.
fn words(program: &Path) -> Vec<String> {
    let names = [program.to_path_buf(), program.canonicalize().unwrap_or_default()];
    let names = names.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    names.chain([samplin_platform::date()]).collect()
}

/// Whether a name is these pieces with one of the words between any two, or with a number if `numbers`.
fn expands(name: &str, pieces: &[String], words: &[String], numbers: bool) -> bool {
    let Some((first, others)) = pieces.split_first() else { return false };
    let Some(name) = name.strip_prefix(first.as_str()) else { return false };
    if others.is_empty() {
        return name.is_empty();
    }
    let after_number = Some(name.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let after_number = after_number.filter(|rest| numbers && rest.len() < name.len());
    let after_words = words.iter().filter_map(|word| name.strip_prefix(word.as_str()));
    after_words.chain(after_number).any(|rest| expands(rest, others, words, numbers))
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

/// The files of such names, with their lengths.
fn files(folder: &Path, pattern: &[String]) -> Vec<(PathBuf, u64)> {
    std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| fits(&entry.file_name().to_string_lossy(), pattern))
        .filter_map(|entry| {
            let path = folder.join(entry.file_name());
            let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
            Some((path, metadata.len()))
        })
        .collect()
}

/// What is printed.
#[derive(Debug)]
pub(super) struct RunNotes {
    /// What each trace adds up to, of this run alone.
    pub(super) traces: Vec<(PathBuf, Analysis)>,
    /// What several add up to, if that is printed.
    pub(super) sum: Option<Analysis>,
    /// The `mode` setting.
    pub(super) mode: Option<String>,
    /// The `trace` setting.
    pub(super) trace: TraceTarget,
    /// How the program ended, if not well.
    pub(super) status: Option<String>,
    /// What validation said, if it was asked.
    pub(super) validation: Option<Messages>,
}

impl RunNotes {
    /// Reads what was written; a trace without a record of this run is none.
    pub(super) fn read(traces: &[(PathBuf, u64)]) -> Result<Vec<(PathBuf, Analysis)>> {
        traces.iter().map(|one| Ok((one.0.clone(), sum(std::slice::from_ref(one))?))).collect()
    }

    /// How many instances were traced.
    pub(super) fn instances(&self) -> u64 {
        self.traces.iter().map(|(_, analysis)| analysis.started).sum()
    }

    /// As JSON.
    pub(super) fn json(&self, status: u8) -> Value {
        let each =
            |(path, analysis): &(PathBuf, Analysis)| json!({ "trace": path, "summary": inspect::json(analysis) });
        let none = Analysis::default();
        let first = self.traces.first().map(|(_, first)| first);
        let mut value = json!({
            "status": status,
            "instances": self.instances(),
            "validation": self.validation,
            "traces": self.traces.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            "summary": inspect::json(self.sum.as_ref().or(first).unwrap_or(&none)),
        });
        match self.traces.as_slice() {
            [] => {}
            [(path, _)] => value["trace"] = json!(path),
            several => value["processes"] = several.iter().map(each).collect(),
        }
        value
    }

    /// As text.
    pub(super) fn print(&self, output: &mut Output) {
        let prefix = output.styled(Style::Dim, "samplin:");
        let say = |output: &mut Output, text: String| output.line(format!("{prefix} {text}"));
        if let Some(status) = &self.status {
            say(output, format!("the program ended with {status}"));
        }
        for (path, analysis) in &self.traces {
            self.print_one(path, analysis, output);
        }
        if let Some(messages) = &self.validation {
            say(output, messages.describe());
        }
    }

    /// Why there is no trace, if somebody asked for none.
    pub(super) fn why_none(&self) -> String {
        match &self.trace {
            _ if self.mode.as_deref() == Some("off") => "the mode is off, so there is no trace".to_owned(),
            TraceTarget::Off => "there is no trace, because the setting trace is off".to_owned(),
            TraceTarget::Stderr => "the trace went to standard error, which is not read".to_owned(),
            other => format!("the trace went to {other}, which is not read"),
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
        if changes == 0 {
            let style = if looked::is_anything(analysis) { Style::Good } else { Style::Warn };
            let what =
                if looked::is_unrecorded(analysis) { "no record has a change" } else { "nothing had to be changed" };
            let text = format!("{what} in {}", looked::at(analysis));
            let text = output.styled(style, text);
            output.line(format!("{prefix} {text}"));
        } else {
            let records = analysis.record_count();
            let verb = if self.mode.as_deref() == Some("audit") { " would be made" } else { "" };
            let text = format!("{}{verb} in {}", counted(changes, "change"), counted(records, "record"));
            let text = output.styled(Style::Heading, text);
            output.line(format!("{prefix} {text}, of {}", looked::at(analysis)));
            let mut table = Table::new(2);
            let groups = analysis.by_rule();
            for group in groups.iter().take(RULES) {
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
            if let Some(more) = more(groups.len(), RULES) {
                output.line(format!("  {more}"));
            }
        }
        if let Some(held) = looked::overrides(analysis) {
            output.line(format!("{prefix} overrides: {held}"));
        }
        if let Some(left) = looked::left(analysis) {
            let text = output.styled(Style::Warn, left);
            output.line(format!("{prefix} {text}"));
        }
        if let Some(exempt) = looked::exempt(analysis) {
            let text = output.styled(Style::Warn, exempt);
            output.line(format!("{prefix} {text}"));
        }
        output.line(format!("{prefix} {}", looked::not_covered(analysis)));
        let warnings = inspect::warnings(analysis);
        for warning in warnings.iter().take(WARNINGS).cloned().chain(more(warnings.len(), WARNINGS)) {
            output.line(format!("{prefix} {warning}"));
        }
        output.line(format!("{prefix} trace {} (`samplin inspect` shows the rest)", path.display()));
    }
}

/// What traces add up to, each from where the run begins in it.
pub(super) fn sum(traces: &[(PathBuf, u64)]) -> Result<Analysis> {
    let mut analysis = Analysis::default();
    for (path, from) in traces {
        analysis.add_rest(path, *from)?;
    }
    analysis.fill_names();
    Ok(analysis)
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
        let words = ["vkcube".to_owned(), "2026-01-02".to_owned()];
        for (name, pattern, by_word, by_number) in [
            ("a.jsonl", "a.jsonl", true, true),
            ("vkcube.jsonl", "%e.jsonl", true, true),
            ("vkcube-2026-01-02.jsonl", "%e-%d.jsonl", true, true),
            ("vkcube-12.jsonl", "%e-%p.jsonl", false, true),
            ("vkcube-x.jsonl", "%e-%p.jsonl", false, false),
            ("summary.json", "%p.json", false, false),
            ("ab", "a", false, false),
        ] {
            let found = [false, true].map(|numbers| expands(name, &pieces(pattern), &words, numbers));
            assert_eq!(found, [by_word, by_number], "{name} {pattern}");
        }
    }
}
