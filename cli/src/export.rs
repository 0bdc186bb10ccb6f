//! `samplin export`: traces as Parquet tables, for whatever reads those.
//!
//! [`tables`] says what there is to write, `rows` makes rows of records, and `store` files of rows; `read`
//! reads them again for `check` and `diff`.

pub(crate) mod read;
mod rows;
mod store;
pub mod tables;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use indicatif::ProgressBar;
use serde_json::json;

use self::rows::{Origin, Rows};
use self::store::Store;
use crate::failure::{Failure, Outcome, Result};
use crate::folders;
use crate::inspect;
use crate::output::{Output, Style};
use crate::trace::key::Key;
use crate::trace::reader::{self, Counts, TraceSource};
use crate::trace::record::{bytes, counted};

/// The arguments of `samplin export`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The traces, or folders with traces (`*.jsonl`, at any depth); `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// The folder for the tables
    #[arg(long, value_name = "DIR")]
    pub parquet: PathBuf,
    /// The build of the application; without it that of the folder `build=…` that a trace lies in
    #[arg(long, value_name = "NAME")]
    pub build: Option<String>,
    /// The day of the runs, YYYY-MM-DD; without it that of the folder `day=…`, a date in the trace's name, or when it was written
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub day: Option<String>,
}

/// What a trace came to, if there is anything to say of it.
struct Trouble {
    name: String,
    counts: Counts,
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read or a table not be written. Then there is nothing new below the folder.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let sources = sources(&arguments.traces)?;
    let tables: Arc<[tables::Table]> = tables::all().map_err(|error| Failure::environment(error.to_string()))?.into();
    let store = Store::new(&arguments.parquet, &label(&sources), tables.clone())?;
    let mut rows = Rows::new(tables.clone(), store);
    let bar = total(&sources);
    let (mut read, mut records, mut damaged) = (0, 0, 0);
    let mut troubles = Vec::new();
    for source in &sources {
        rows.begin(origin(source, arguments)?);
        let counts = read_one(source, &bar, &mut rows)?;
        rows.end()?;
        read += counts.bytes;
        records += counts.records;
        damaged += counts.damaged;
        if counts.damaged > 0 || counts.unknown > 0 || counts.records == 0 {
            troubles.push(Trouble { name: source.name(), counts });
        }
    }
    bar.finish_and_clear();
    if records == 0 {
        let name = sources.first().map(TraceSource::name).unwrap_or_default();
        return Err(Failure::input(format!(
            "{name}: there is no record in {}",
            counted(sources.len() as u64, "trace")
        )));
    }
    let count = rows.store.rows.clone();
    let (files, written) = rows.finish()?;
    let warnings: Vec<String> = troubles.iter().flat_map(Trouble::lines).collect();
    if output.json {
        let by_table: serde_json::Map<_, _> =
            tables.iter().zip(&count).map(|(table, rows)| (table.name.clone(), json!(rows))).collect();
        output.json(&json!({
            "traces": sources.len(),
            "bytes": read,
            "records": records,
            "damaged": damaged,
            "rows": by_table,
            "files": files,
            "bytes_written": written,
            "warnings": warnings,
        }));
        return Ok(Outcome::Fine);
    }
    for warning in &warnings {
        output.styled_line(Style::Warn, format!("warning: {warning}"));
    }
    let place = output.styled(Style::Heading, arguments.parquet.display());
    output.line(format!(
        "{place}: {} ({}) of {} in {} ({})",
        counted(records, "record"),
        bytes(read),
        counted(sources.len() as u64, "trace"),
        counted(files as u64, "file"),
        bytes(written)
    ));
    for (table, rows) in tables.iter().zip(&count) {
        output.line(format!("  {:10} {}", table.name, counted(*rows, "row")));
    }
    if damaged > 0 {
        output.line(format!("  {} left out", counted(damaged, "damaged line")));
    }
    Ok(Outcome::Fine)
}

impl Trouble {
    fn lines(&self) -> Vec<String> {
        if self.counts.records == 0 && self.counts.damaged == 0 {
            return vec![format!("{}: there is no record in it", self.name)];
        }
        inspect::damage(&self.name, &self.counts)
    }
}

/// The traces that arguments name: of a folder those in it, in the order of their names.
fn sources(arguments: &[PathBuf]) -> Result<Vec<TraceSource>> {
    let mut found = Vec::new();
    for argument in arguments {
        if argument.is_dir() {
            let before = found.len();
            walk(argument, &mut found)?;
            if found.len() == before {
                return Err(Failure::file(argument, "there is no trace (*.jsonl), compressed or not, in this folder"));
            }
        } else {
            found.push(TraceSource::from_argument(argument));
        }
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<TraceSource>) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries: Vec<PathBuf> =
        entries.map_err(|error| Failure::file(folder, error))?.iter().map(fs::DirEntry::path).collect();
    entries.sort();
    for path in entries {
        // A link could lead round in circles.
        if path.is_dir() && !path.is_symlink() {
            walk(&path, found)?;
        } else if folders::is_trace(&path) && path.is_file() {
            found.push(TraceSource::File(path));
        }
    }
    Ok(())
}

/// What the files of an export have in their names: the same for the same traces, so that doing it again replaces them.
fn label(sources: &[TraceSource]) -> String {
    let mut key = Key::new();
    for source in sources {
        let name = match source {
            TraceSource::File(path) => fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string(),
            TraceSource::Stdin => source.name(),
        };
        key = key.text(name.as_bytes());
    }
    format!("{:016x}", key.finish() as u64)
}

/// A bar over all traces; nothing is drawn unless standard error is a terminal.
fn total(sources: &[TraceSource]) -> ProgressBar {
    let length = sources.iter().map(|source| match source {
        TraceSource::File(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        TraceSource::Stdin => 0,
    });
    reader::bar(length.sum())
}

/// A reader that moves the bar, and ends when there is no sense in reading on.
struct Moving<'a> {
    inner: Box<dyn Read>,
    bar: &'a ProgressBar,
    stop: &'a std::cell::Cell<bool>,
}

impl Read for Moving<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.get() {
            return Ok(0);
        }
        let got = self.inner.read(into)?;
        self.bar.inc(got as u64);
        Ok(got)
    }
}

fn read_one(source: &TraceSource, bar: &ProgressBar, rows: &mut Rows) -> Result<Counts> {
    let stop = std::cell::Cell::new(false);
    let mut input = source.open(|inner| Moving { inner, bar, stop: &stop })?;
    let counts = reader::read(&mut input, |record| {
        let verdict = rows.record(record);
        stop.set(rows.has_failed());
        verdict
    });
    match counts {
        // What was compressed does not end where reading was given up; `Rows::end` has the reason.
        Err(_) if rows.has_failed() => Ok(Counts::default()),
        counts => counts.map_err(|error| source.failure(&error)),
    }
}

/// Day and build of a trace.
fn origin(source: &TraceSource, arguments: &Arguments) -> Result<Origin> {
    let path = match source {
        TraceSource::File(path) => path.as_path(),
        TraceSource::Stdin => Path::new(""),
    };
    let part = |key: &str| {
        let parts = path.components().rev().filter_map(|part| part.as_os_str().to_str());
        parts.filter_map(|part| part.strip_prefix(key)).next().map(str::to_owned)
    };
    let named = || path.file_name().and_then(|name| date_in(&name.to_string_lossy()));
    let written = || {
        let metadata = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let seconds = metadata.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs());
        seconds.map_or_else(samplin_platform::date, |seconds| samplin_platform::date_of(seconds / 86_400))
    };
    let of_folder = part("day=")
        .map(|found| day(&found).map_err(|why| Failure::input(format!("{}: day={found}: {why}", source.name()))));
    let text = match (arguments.day.clone(), of_folder) {
        (Some(given), _) => given,
        (None, Some(found)) => found?,
        (None, None) => named().unwrap_or_else(written),
    };
    let days = samplin_platform::days_of(&text).unwrap_or(0);
    Ok(Origin { trace: source.name(), day: (text, days), build: arguments.build.clone().or_else(|| part("build=")) })
}

/// A date, `YYYY-MM-DD`.
fn day(text: &str) -> std::result::Result<String, String> {
    samplin_platform::days_of(text)
        .map(|_| text.to_owned())
        .ok_or_else(|| "not a date, YYYY-MM-DD from 1970 on".to_owned())
}

/// The last date in a name, as the setting `trace` writes one for `%d`.
fn date_in(name: &str) -> Option<String> {
    (0..name.len().saturating_sub(9)).rev().filter_map(|at| name.get(at..at + 10)).find_map(|text| day(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_date_of_a_name_counts() {
        assert_eq!(date_in("game-2026-11-22.jsonl").as_deref(), Some("2026-11-22"));
        assert_eq!(date_in("2025-01-01-game-2026-11-22-7.jsonl").as_deref(), Some("2026-11-22"));
        assert_eq!(date_in("é2026-11-22").as_deref(), Some("2026-11-22"));
        assert_eq!(date_in("game-2026-13-22.jsonl"), None);
        assert_eq!(date_in("game"), None);
    }
}
