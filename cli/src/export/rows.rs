//! Records as rows: which run, device and part each belongs to, and the words of its columns.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::store::{NULL, Store, Word};
use super::tables::{CHANGE, Column, ColumnType, From, Of, Table};
use crate::failure::{Failure, Result};
use crate::trace::key::{Key, ReadyMap};
use crate::trace::reader::{Event, Record, Verdict};
use crate::trace::scan::{self, Damage, Raw};

/// What stands for the device of a process that has none yet.
const UNKNOWN: &str = "unknown";

/// How many processes of one trace are distinguished at a time, and how many lists of changes are cached.
const MOST: usize = 50_000;

/// The changes of a record: for each the words of [`CHANGE`].
type Changes = Rc<[[Word; CHANGE.len()]]>;

/// What holds for a whole trace.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// Its name.
    pub(super) trace: String,
    /// `YYYY-MM-DD`, and the days since 1970-01-01.
    pub(super) day: (String, u64),
    /// The build.
    pub(super) build: Option<String>,
}

/// A process of the trace.
struct Process {
    run: String,
    device: String,
    /// Words and parts of what stands above; they hold in this epoch of the store only.
    epoch: u64,
    words: Common,
    parts: Vec<Option<usize>>,
    /// The layer record and its line, until the device is known that the row is filed under.
    layer: Option<(Value, u64)>,
    /// How often the process has begun a run in this trace.
    runs: u64,
}

/// The columns that are alike in all rows of a process.
#[derive(Clone, Copy)]
struct Common {
    run: Word,
    device: Word,
    build: Word,
    day: Word,
    trace: Word,
}

/// Makes rows of the records of one trace after the other.
pub(super) struct Rows {
    tables: Arc<[Table]>,
    /// The table of each kind of row.
    of: HashMap<Of, usize>,
    pub(super) store: Store,
    origin: Origin,
    processes: HashMap<u32, Process>,
    changes: ReadyMap<u128, Changes>,
    epoch: u64,
    row: Vec<Word>,
    /// Why nothing can be written any more.
    failure: Option<Failure>,
}

impl Rows {
    pub(super) fn new(tables: Arc<[Table]>, store: Store) -> Self {
        let of = tables.iter().enumerate().map(|(index, table)| (table.of, index)).collect();
        let origin = Origin { trace: String::new(), day: (String::new(), 0), build: None };
        Self {
            tables,
            of,
            store,
            origin,
            processes: HashMap::new(),
            changes: ReadyMap::default(),
            epoch: 0,
            row: Vec::new(),
            failure: None,
        }
    }

    /// Begins with a trace.
    pub(super) fn begin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Ends a trace, of which everything has been read.
    pub(super) fn end(&mut self) -> Result<()> {
        self.forget();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Gives all files their names. Returns how many there are and their bytes.
    pub(super) fn finish(self) -> Result<(usize, u64)> {
        self.store.finish()
    }

    /// Whether there is no sense in reading on.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Lets go of all processes.
    fn forget(&mut self) {
        let mut waiting: Vec<u32> =
            self.processes.iter().filter(|(_, process)| process.layer.is_some()).map(|(pid, _)| *pid).collect();
        waiting.sort_unstable();
        for pid in waiting {
            self.run_row(pid);
        }
        self.processes.clear();
    }

    fn keep(&mut self, result: Result<()>) {
        if let Err(failure) = result
            && self.failure.is_none()
        {
            self.failure = Some(failure);
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    ///
    /// When a nested value of it is not what it should be: then it has no row.
    pub(super) fn record(&mut self, record: &Record<'_>) -> Verdict {
        if self.failure.is_some() {
            return Ok(());
        }
        let tidied = self.store.tidy();
        self.keep(tidied);
        if self.epoch != self.store.epoch || self.changes.len() > MOST {
            self.changes.clear();
            self.epoch = self.store.epoch;
        }
        let pid = record.process();
        match record.event {
            Event::Layer => self.layer(pid, record)?,
            Event::Device => {
                let value = whole(record)?;
                let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
                let process = self.process(pid);
                process.device = text("simulated").or_else(|| text("device")).unwrap_or_else(|| UNKNOWN.to_owned());
                // The words are those of the device before.
                process.epoch = u64::MAX;
                self.run_row(pid);
                self.value_row(Of::Device, pid, &value, record.line);
            }
            Event::Summary => self.value_row(Of::Summary, pid, &whole(record)?, record.line),
            Event::Unresolved => self.member_rows(Of::Unresolved, pid, record, &[]),
            Event::Exempt => self.member_rows(Of::Exempt, pid, record, &[]),
            Event::Pair
            | Event::Sampler
            | Event::Image
            | Event::View
            | Event::Blit
            | Event::Conversion
            | Event::Shader => {
                let changes = self.list(record.fields.changes)?;
                self.member_rows(Of::Change, pid, record, &changes);
                if record.event == Event::Pair {
                    self.member_rows(Of::Pair, pid, record, &changes);
                }
            }
            Event::Case => {
                let value = whole(record)?;
                let device = value.get("device").and_then(Value::as_str).unwrap_or(UNKNOWN);
                let process = self.process(pid);
                if process.device != device {
                    process.device = device.to_owned();
                    process.epoch = u64::MAX;
                }
                self.value_row(Of::Case, pid, &value, record.line);
            }
            Event::Settings | Event::Sharing | Event::Scale | Event::Retune | Event::Pulse => {}
        }
        Ok(())
    }

    fn layer(&mut self, pid: u32, record: &Record<'_>) -> Verdict {
        let value = whole(record)?;
        let seen = self.processes.get(&pid).map_or(0, |process| process.runs);
        // A second instance goes on counting; a number that begins again is another process, in a trace that was put together.
        if seen > 0 && value.get("seq").and_then(Value::as_u64) != Some(0) {
            return Ok(());
        }
        self.run_row(pid);
        self.processes.remove(&pid);
        let process = self.process(pid);
        process.runs = seen + 1;
        if seen > 0 {
            process.run += &format!(":{}", seen + 1);
        }
        process.layer = Some((value, record.line));
        Ok(())
    }

    fn process(&mut self, pid: u32) -> &mut Process {
        if self.processes.len() >= MOST && !self.processes.contains_key(&pid) {
            self.forget();
        }
        let origin = &self.origin;
        self.processes.entry(pid).or_insert_with(|| Process {
            run: format!("{}:{pid}", origin.trace),
            device: UNKNOWN.to_owned(),
            epoch: u64::MAX,
            words: Common::NONE,
            parts: Vec::new(),
            layer: None,
            runs: 0,
        })
    }

    /// The common words of a process and the part of a table for it.
    fn place(&mut self, pid: u32, table: usize) -> (Common, usize) {
        let (epoch, width) = (self.store.epoch, self.tables.len());
        self.process(pid);
        let Some(process) = self.processes.get_mut(&pid) else { return (Common::NONE, usize::MAX) };
        if process.epoch != epoch {
            let pool = &mut self.store.pool;
            let mut once = |text: &str| pool.word(u64::MAX, text.as_bytes(), || Some(text.to_owned()));
            process.words = Common {
                run: once(&process.run),
                device: once(&process.device),
                build: self.origin.build.as_deref().map_or(NULL, &mut once),
                day: self.origin.day.1,
                trace: once(&self.origin.trace),
            };
            process.parts = vec![None; width];
            process.epoch = epoch;
        }
        let part = match process.parts.get_mut(table) {
            Some(Some(part)) => *part,
            slot => {
                let part = self.store.part(table, &self.origin.day.0, &process.device);
                if let Some(slot) = slot {
                    *slot = Some(part);
                }
                part
            }
        };
        (process.words, part)
    }

    /// Writes the row of a run, if it waits.
    fn run_row(&mut self, pid: u32) {
        let layer = self.processes.get_mut(&pid).and_then(|process| process.layer.take());
        if let Some((value, line)) = layer {
            self.value_row(Of::Layer, pid, &value, line);
        }
    }

    /// A row of a record that was read as a tree.
    fn value_row(&mut self, of: Of, pid: u32, value: &Value, line: u64) {
        let Some(index) = self.of.get(&of).copied() else { return };
        let (common, part) = self.place(pid, index);
        let tables = self.tables.clone();
        self.row.clear();
        for (number, column) in tables.get(index).map_or(&[][..], |table| &table.columns).iter().enumerate() {
            let word = match &column.from {
                From::Pointer(pointer) => self.tree_word((index * 100 + number) as u64, column, pointer, value),
                other => common.word(other).unwrap_or(line),
            };
            self.row.push(word);
        }
        let pushed = self.store.push(part, &self.row);
        self.keep(pushed);
    }

    fn tree_word(&mut self, number: u64, column: &Column, pointer: &str, value: &Value) -> Word {
        let found = value.pointer(pointer);
        let text = match column.kind {
            ColumnType::Sum => return sum(value, pointer).unwrap_or(NULL),
            ColumnType::Count | ColumnType::Day => return found.and_then(Value::as_u64).unwrap_or(NULL),
            ColumnType::Number => return found.and_then(Value::as_f64).map_or(NULL, f64::to_bits),
            ColumnType::Flag => return found.and_then(Value::as_bool).map_or(NULL, u64::from),
            ColumnType::Text => found.and_then(Value::as_str).map(str::to_owned),
            ColumnType::Json => found.map(Value::to_string),
        };
        text.map_or(NULL, |text| self.store.pool.word(number, text.as_bytes(), || Some(text.clone())))
    }

    /// The rows of a record whose members the reader has found: one, or one for each change.
    fn member_rows(&mut self, of: Of, pid: u32, record: &Record<'_>, changes: &[[Word; CHANGE.len()]]) {
        let count = if of == Of::Change { changes.len() } else { 1 };
        let Some(index) = self.of.get(&of).copied().filter(|_| count > 0) else { return };
        let (common, part) = self.place(pid, index);
        let tables = self.tables.clone();
        let columns = tables.get(index).map_or(&[][..], |table| &table.columns);
        self.row.clear();
        for (number, column) in columns.iter().enumerate() {
            let word = match &column.from {
                From::Member(member, inner) => self.member_word(
                    (index * 100 + number) as u64,
                    column.kind,
                    record.fields.get(*member),
                    inner.as_deref(),
                ),
                From::SamplerName if !record.fields.name.is_null() => {
                    self.member_word(u64::MAX - 1, ColumnType::Text, record.fields.name, None)
                }
                From::SamplerName => {
                    self.member_word(u64::MAX - 2, ColumnType::Text, record.fields.names, Some("sampler"))
                }
                From::Applied => u64::from(record.event != Event::Pair || !record.fields.variant.is_null()),
                From::ChangeCount => changes.len() as Word,
                // Filled in below.
                From::Change(_) | From::Pointer(_) => NULL,
                other => common.word(other).unwrap_or(record.line),
            };
            self.row.push(word);
        }
        for at in 0..count {
            if let Some(change) = changes.get(at).filter(|_| of == Of::Change) {
                for (slot, column) in self.row.iter_mut().zip(columns) {
                    if let From::Change(member) = column.from {
                        *slot = change.get(member).copied().unwrap_or(NULL);
                    }
                }
            }
            let pushed = self.store.push(part, &self.row);
            self.keep(pushed);
        }
    }

    #[inline]
    fn member_word(&mut self, number: u64, kind: ColumnType, raw: Raw<'_>, inner: Option<&str>) -> Word {
        if raw.is_null() {
            return NULL;
        }
        match kind {
            ColumnType::Count => raw.number().unwrap_or(NULL),
            ColumnType::Flag => match raw.0 {
                b"true" => 1,
                b"false" => 0,
                _ => NULL,
            },
            _ => self.store.pool.word(number, raw.0, || match inner {
                None if kind == ColumnType::Json => std::str::from_utf8(raw.0).ok().map(str::to_owned),
                None => raw.text().map(std::borrow::Cow::into_owned),
                Some(inner) => member_of(raw, inner),
            }),
        }
    }

    /// The words of a list of changes.
    fn list(&mut self, raw: Raw<'_>) -> std::result::Result<Changes, Damage> {
        if !raw.is_present() || raw.is_empty_array() {
            return Ok(Rc::new([]));
        }
        let key = Key::new().text(raw.0).finish();
        if let Some(seen) = self.changes.get(&key) {
            return Ok(seen.clone());
        }
        let parsed: Vec<Value> = raw.parse().map_err(|_| Damage::NotARecord)?;
        let mut words = Vec::with_capacity(parsed.len());
        for change in &parsed {
            // What gives a change its sense.
            if !["rule", "field"].iter().all(|name| change.get(name).is_some_and(Value::is_string)) {
                return Err(Damage::NotARecord);
            }
            words.push(CHANGE.map(|member| {
                let text = match change.get(member) {
                    None | Some(Value::Null) => return NULL,
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => plain(other),
                };
                self.store.pool.word(u64::MAX - 3, text.as_bytes(), || Some(text.clone()))
            }));
        }
        let list: Changes = words.into();
        self.changes.insert(key, list.clone());
        Ok(list)
    }
}

impl Common {
    const NONE: Self = Self { run: NULL, device: NULL, build: NULL, day: NULL, trace: NULL };

    /// The word of a column that is alike in all rows of a process; nothing for the line.
    fn word(&self, from: &From) -> Option<Word> {
        Some(match from {
            From::Run => self.run,
            From::Day => self.day,
            From::Device => self.device,
            From::Build => self.build,
            From::Trace => self.trace,
            _ => return None,
        })
    }
}

/// A value as JSON in which whole numbers have no fraction, as every reader of JSON would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15) {
            Some(float) => format!("{float:.0}"),
            None => number.to_string(),
        },
        Value::Array(parts) => format!("[{}]", parts.iter().map(plain).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// A member of the object that `raw` is, if it is a text.
fn member_of(raw: Raw<'_>, name: &str) -> Option<String> {
    let mut found = None;
    let read = scan::members(raw.0, |member, value| {
        if member == name.as_bytes() {
            found = value.text().map(std::borrow::Cow::into_owned);
        }
    });
    read.ok().and(found)
}

/// The sum of what `pointer`, which holds one `*`, points at.
fn sum(value: &Value, pointer: &str) -> Option<u64> {
    let (outer, inner) = pointer.split_once("/*")?;
    let members = value.pointer(outer)?.as_object()?;
    Some(members.values().filter_map(|member| member.pointer(inner)?.as_u64()).sum())
}

fn whole(record: &Record<'_>) -> std::result::Result<Value, Damage> {
    serde_json::from_slice(record.text).map_err(|error| Damage::Byte(error.column().saturating_sub(1)))
}
