//! Tables back to what `check` and `diff` look at.
//!
//! Rows that say the same of a device are folded, so that what is kept grows with what differs and not with the number of runs.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::trace::analysis::{Analysis, Decision, Exempt, Position, Read, RecordChanges, Unresolved};
use crate::trace::reader::{Counts, Event, TraceSource};
use crate::trace::record::RecordedChange;

/// The columns that are read of `runs`.
const RUNS: [&str; 4] = ["run", "device", "build", "trace"];

/// The columns that are read of `changes`.
const CHANGES: [&str; 22] = [
    "run",
    "device",
    "build",
    "event",
    "fingerprint",
    "sampler_name",
    "view_name",
    "format",
    "aspect",
    "view_type",
    "swizzle",
    "path",
    "rule",
    "catalog",
    "vuid",
    "field",
    "before",
    "after",
    "because",
    "lost",
    "line",
    "applied",
];

/// The columns that are read of `unresolved`.
const UNRESOLVED: [&str; 14] = [
    "run",
    "device",
    "build",
    "line",
    "what",
    "why",
    "rule",
    "vuid",
    "fingerprint",
    "sampler_name",
    "view_name",
    "format",
    "aspect",
    "view_type",
];

/// The columns that are read of `exempt`.
const EXEMPT: [&str; 11] = [
    "run",
    "device",
    "build",
    "line",
    "what",
    "rules",
    "fingerprint",
    "sampler_name",
    "view_name",
    "format",
    "changes",
];

/// Adds the runs of a folder of tables.
///
/// # Errors
///
/// When a table cannot be read or there is no run (of that build) in it.
pub(crate) fn add(analysis: &mut Analysis, root: &Path, build: Option<&str>) -> Result<()> {
    let (seen, passed, left) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut reading = Reading { analysis, build, traces: HashMap::new(), seen, passed, left };
    let mut devices: BTreeMap<String, Value> = BTreeMap::new();
    reading.table(root, "runs", &RUNS, |reading, row| {
        let trace = reading.analysis.traces.len();
        let source = TraceSource::File(row.text("trace").into());
        reading.traces.insert(row.text("run"), trace);
        reading.analysis.traces.push(Read { source, counts: Counts { records: 1, ..Counts::default() } });
        let device = row.text("device");
        devices.insert(device.clone(), json!({ "device": device }));
    })?;
    if reading.traces.is_empty() {
        let of = build.map(|build| format!(" of the build {build}")).unwrap_or_default();
        return Err(Failure::file(root, format!("there is no run{of} in the table runs"))
            .hint("`samplin export TRACE… --parquet DIR` writes tables"));
    }
    reading.analysis.fleet.extend(devices.keys().cloned());
    reading.analysis.devices.extend(devices.into_values().map(|device| (0, device)));
    // The rows of a record follow each other.
    let mut record: Vec<Row> = Vec::new();
    reading.table(root, "changes", &CHANGES, |reading, row| {
        if record
            .first()
            .is_some_and(|first| (first.get("run"), first.get("line")) != (row.get("run"), row.get("line")))
        {
            reading.decision(&record);
            record.clear();
        }
        record.push(row);
    })?;
    reading.decision(&record);
    reading.table(root, "unresolved", &UNRESOLVED, |reading, row| reading.unresolved(&row))?;
    reading.table(root, "exempt", &EXEMPT, |reading, row| reading.exempt(&row))
}

/// A row: texts as they are, other values as text.
struct Row {
    names: &'static [&'static str],
    values: Vec<Option<Text>>,
}

/// Shared, because most rows of a column say what others say.
type Text = Arc<str>;

struct Reading<'a> {
    analysis: &'a mut Analysis,
    build: Option<&'a str>,
    /// The index of each run's trace.
    traces: HashMap<String, usize>,
    seen: HashMap<Vec<Option<Text>>, usize>,
    passed: HashMap<Vec<Option<Text>>, usize>,
    left: HashMap<Vec<Option<Text>>, usize>,
}

impl Row {
    fn get(&self, name: &str) -> Option<&Text> {
        let at = self.names.iter().position(|seen| *seen == name)?;
        self.values.get(at)?.as_ref()
    }

    fn text(&self, name: &str) -> String {
        self.owned(name).unwrap_or_default()
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(|text| text.to_string())
    }

    /// What makes rows alike: all but where each was met.
    fn key(&self) -> impl Iterator<Item = Option<Text>> + '_ {
        self.names
            .iter()
            .zip(&self.values)
            .filter(|(name, _)| !matches!(**name, "run" | "line"))
            .map(|(_, value)| value.clone())
    }

    fn line(&self) -> u64 {
        self.get("line").and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn change(&self) -> RecordedChange {
        // A word stands as it is, anything else as JSON.
        let value = |name: &str| match self.get(name) {
            None => Value::Null,
            Some(text) => match serde_json::from_str(text) {
                Ok(Value::String(_)) | Err(_) => Value::String(text.to_string()),
                Ok(other) => other,
            },
        };
        RecordedChange {
            rule: self.text("rule"),
            catalog: self.text("catalog"),
            vuid: self.owned("vuid"),
            field: self.text("field"),
            from: value("before"),
            to: value("after"),
            because: self.text("because"),
            lost: self.text("lost"),
            // The tables do not hold it.
            repaired_by: None,
        }
    }
}

impl Reading<'_> {
    fn position(&self, row: &Row) -> Position {
        let trace = row.get("run").and_then(|run| self.traces.get(run.as_ref())).copied().unwrap_or(usize::MAX);
        Position { trace, line: row.line(), t_ns: 0 }
    }

    /// Adds the decision of a record, of which these are the changes.
    fn decision(&mut self, rows: &[Row]) {
        let Some(first) = rows.first() else { return };
        let key: Vec<_> = rows.iter().flat_map(Row::key).collect();
        if let Some(seen) = self.seen.get(&key).and_then(|index| self.analysis.decisions.get_mut(*index)) {
            seen.count += 1;
            return;
        }
        let event = first.text("event");
        let changes = RecordChanges::of(rows.iter().map(Row::change).collect());
        self.seen.insert(key, self.analysis.decisions.len());
        self.analysis.decisions.push(Decision {
            event: Event::ALL.iter().find(|(_, name)| *name == event).map_or("", |(_, name)| name),
            device: first.owned("device"),
            fingerprint: first.owned("fingerprint"),
            format: first.owned("format"),
            aspect: first.owned("aspect"),
            view_type: first.owned("view_type"),
            swizzle: first.owned("swizzle"),
            path: first.owned("path"),
            // Tables do not say where a shader joins a pair.
            link: None,
            source: None,
            how: None,
            draw: None,
            changes: changes.made,
            held: changes.held,
            applied: first.text("applied") == "true",
            lossless: None,
            sampler: None,
            view: None,
            sampler_name: first.owned("sampler_name"),
            view_name: first.owned("view_name"),
            first: self.position(first),
            count: 1,
        });
    }

    fn unresolved(&mut self, row: &Row) {
        let key: Vec<_> = row.key().collect();
        if let Some(seen) = self.passed.get(&key).and_then(|index| self.analysis.unresolved.get_mut(*index)) {
            seen.count += 1;
            return;
        }
        self.passed.insert(key, self.analysis.unresolved.len());
        self.analysis.unresolved.push(Unresolved {
            device: row.owned("device"),
            what: row.text("what"),
            why: row.text("why"),
            rule: row.owned("rule"),
            vuid: row.owned("vuid"),
            fingerprint: row.owned("fingerprint"),
            format: row.owned("format"),
            aspect: row.owned("aspect"),
            view_type: row.owned("view_type"),
            sampler_name: row.owned("sampler_name"),
            view_name: row.owned("view_name"),
            link: None,
            source: None,
            draw: None,
            first: self.position(row),
            count: 1,
        });
    }

    fn exempt(&mut self, row: &Row) {
        let key: Vec<_> = row.key().collect();
        if let Some(seen) = self.left.get(&key).and_then(|index| self.analysis.exempt.get_mut(*index)) {
            seen.count += 1;
            return;
        }
        let changes: Vec<RecordedChange> = serde_json::from_str(&row.text("changes")).unwrap_or_default();
        self.left.insert(key, self.analysis.exempt.len());
        self.analysis.exempt.push(Exempt {
            device: row.owned("device"),
            what: row.text("what"),
            rules: serde_json::from_str(&row.text("rules")).unwrap_or_default(),
            fingerprint: row.owned("fingerprint"),
            format: row.owned("format"),
            changes: RecordChanges::of(changes).made,
            sampler_name: row.owned("sampler_name"),
            view_name: row.owned("view_name"),
            first: self.position(row),
            count: 1,
        });
    }

    /// Gives every row of a table to `visit`, with these columns.
    fn table(
        &mut self,
        root: &Path,
        name: &str,
        columns: &'static [&'static str],
        mut visit: impl FnMut(&mut Self, Row),
    ) -> Result<()> {
        let mut files = Vec::new();
        // A table without a row has no folder.
        find(&root.join(name), &mut files);
        files.sort();
        for path in files {
            let failure = |error: ParquetError| Failure::file(&path, error);
            let file = File::open(&path).map_err(|error| Failure::file(&path, error))?;
            let reader = SerializedFileReader::new(file).map_err(failure)?;
            for group in 0..reader.num_row_groups() {
                let group = reader.get_row_group(group).map_err(failure)?;
                let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
                let schema = group.metadata().schema_descr();
                let mut values = Vec::new();
                for wanted in columns {
                    let index =
                        schema.columns().iter().position(|column| column.name() == *wanted).ok_or_else(|| {
                            Failure::file(
                                &path,
                                format!("there is no column {wanted}: samplin export did not write this"),
                            )
                        })?;
                    let column = group.get_column_reader(index).and_then(|reader| texts(reader, rows));
                    values.push(column.map_err(failure)?.into_iter());
                }
                for _ in 0..rows {
                    let row = values.iter_mut().map(|column| column.next().flatten()).collect();
                    let row = Row { names: columns, values: row };
                    if self.build.is_none_or(|build| row.get("build").is_some_and(|of| of.as_ref() == build)) {
                        visit(self, row);
                    }
                }
            }
        }
        Ok(())
    }
}

/// All Parquet files in a folder, at any depth.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
}

/// The values of a column; equal texts share one.
fn texts(reader: ColumnReader, rows: usize) -> std::result::Result<Vec<Option<Text>>, ParquetError> {
    let mut levels: Vec<i16> = Vec::new();
    let values: Vec<Text> = match reader {
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            let mut seen: HashMap<&[u8], Text> = HashMap::new();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into();
            values.iter().map(|value| seen.entry(value.data()).or_insert_with(|| text(value.data())).clone()).collect()
        }
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            values.iter().map(|value: &i64| value.to_string().into()).collect()
        }
        ColumnReader::BoolColumnReader(mut reader) => {
            let mut values = Vec::new();
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            values.iter().map(|value: &bool| value.to_string().into()).collect()
        }
        _ => return Err(ParquetError::General("a column of another type than samplin export writes".to_owned())),
    };
    // A column that is never null has no levels.
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.iter().map(|level| if *level == 0 { None } else { values.next() }).collect())
}
