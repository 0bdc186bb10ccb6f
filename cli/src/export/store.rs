//! Rows in files: one file for each table, day and device at a time, under names of its own until all are whole.
//!
//! Rows wait in columns of plain words, texts as indices into a [`Pool`], and go into a row group when there are enough of them
//! or too many in all. Nothing is under its final name before everything is written.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::tables::{ColumnType, Table};
use crate::failure::{Failure, Result};
use crate::files;
use crate::trace::key::{Key, ReadyMap};

/// Rows of a row group.
const ROWS: usize = 1 << 16;

/// Words that wait in all parts together, 8 bytes each.
const WAITING: usize = 8 << 20;

/// Files that are open at a time.
const OPEN: usize = 100;

/// How many parts are distinguished at a time.
const PARTS: usize = 4_000;

/// Texts that are remembered, and their bytes.
const TEXTS: (usize, usize) = (200_000, 32 << 20);

/// The columns that queries select row groups by; the least and largest value of others would help nobody, and take time.
const SELECTED: [&str; 7] = ["run", "day", "device", "build", "rule", "format", "sampler_name"];

/// The value of a column in a row: a number, the bits of one, or the index of a text.
pub(super) type Word = u64;

/// Nothing. No count is as large, no text has that index, and as a number it is a NaN that no JSON holds.
pub(super) const NULL: Word = Word::MAX;

/// Texts, each once.
#[derive(Default)]
pub(super) struct Pool {
    texts: Vec<ByteArray>,
    bytes: usize,
    seen: ReadyMap<u128, Word>,
}

impl Pool {
    /// The word for what `make` gives, which is asked for once for each `raw` of a `column`.
    #[inline]
    pub(super) fn word(&mut self, column: u64, raw: &[u8], make: impl FnOnce() -> Option<String>) -> Word {
        let mut key = Key::new();
        key.word(column);
        let key = key.text(raw).finish();
        if let Some(word) = self.seen.get(&key) {
            return *word;
        }
        let word = make().map_or(NULL, |text| self.push(text));
        self.seen.insert(key, word);
        word
    }

    /// A text that comes once.
    pub(super) fn push(&mut self, text: String) -> Word {
        self.bytes += text.len();
        self.texts.push(ByteArray::from(text.into_bytes()));
        self.texts.len() as Word - 1
    }

    fn is_full(&self) -> bool {
        self.seen.len() > TEXTS.0 || self.texts.len() > TEXTS.0 || self.bytes > TEXTS.1
    }
}

/// The rows of a table, day and device that wait, and the file they go to.
struct Part {
    table: usize,
    folder: PathBuf,
    columns: Vec<Vec<Word>>,
    rows: usize,
    file: Option<SerializedFileWriter<File>>,
}

/// All files in the making.
pub(super) struct Store {
    root: PathBuf,
    /// Where files are made.
    scratch: PathBuf,
    /// What the names of all files of this export have in common.
    label: String,
    tables: Arc<[Table]>,
    properties: WriterPropertiesPtr,
    parts: Vec<Part>,
    by_name: HashMap<(usize, String, String), usize>,
    waiting: usize,
    open: Vec<usize>,
    /// Files that are whole, by their folder below the root; the place is the name in the scratch folder.
    whole: Vec<PathBuf>,
    pub(super) pool: Pool,
    /// Counts how often indices of parts and texts have lost their meaning.
    pub(super) epoch: u64,
    /// Rows by table.
    pub(super) rows: Vec<u64>,
    /// Bytes of the files that are whole.
    bytes: u64,
}

impl Store {
    /// Makes the folder. Files of an earlier export with the same `label` are replaced at the end.
    pub(super) fn new(root: &Path, label: &str, tables: Arc<[Table]>) -> Result<Self> {
        let scratch = fs::create_dir_all(root).and_then(|()| files::new_folder(root, ".samplin-export-"));
        let scratch = scratch.map_err(|error| failure(root, &error))?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_created_by(concat!("samplin ", env!("CARGO_PKG_VERSION")).to_owned());
        for name in SELECTED {
            properties = properties.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
        }
        let properties = properties.build();
        Ok(Self {
            root: root.to_path_buf(),
            scratch,
            label: label.to_owned(),
            rows: vec![0; tables.len()],
            tables,
            properties: Arc::new(properties),
            parts: Vec::new(),
            by_name: HashMap::new(),
            waiting: 0,
            open: Vec::new(),
            whole: Vec::new(),
            pool: Pool::default(),
            epoch: 0,
            bytes: 0,
        })
    }

    /// The index of a part; it holds until the epoch changes.
    pub(super) fn part(&mut self, table: usize, day: &str, device: &str) -> usize {
        let key = (table, day.to_owned(), device.to_owned());
        if let Some(index) = self.by_name.get(&key) {
            return *index;
        }
        let (name, width) = self.tables.get(table).map_or(("", 0), |table| (table.name.as_str(), table.columns.len()));
        let folder = [name.to_owned(), format!("day={day}"), format!("device={}", escaped(device))].iter().collect();
        self.parts.push(Part { table, folder, columns: vec![Vec::new(); width], rows: 0, file: None });
        self.by_name.insert(key, self.parts.len() - 1);
        self.parts.len() - 1
    }

    /// Adds a row of one word for each column.
    pub(super) fn push(&mut self, part: usize, row: &[Word]) -> Result<()> {
        let Some(of) = self.parts.get_mut(part) else { return Ok(()) };
        for (column, word) in of.columns.iter_mut().zip(row) {
            column.push(*word);
        }
        of.rows += 1;
        self.waiting += row.len();
        if let Some(rows) = self.rows.get_mut(of.table) {
            *rows += 1;
        }
        if of.rows >= ROWS {
            self.write(part)?;
        }
        while self.waiting > WAITING {
            let fullest = (0..self.parts.len()).max_by_key(|index| self.weight(*index)).unwrap_or(0);
            self.write(fullest)?;
        }
        Ok(())
    }

    fn weight(&self, part: usize) -> usize {
        self.parts.get(part).map_or(0, |part| part.rows * part.columns.len())
    }

    /// Lets go of texts and parts if there are too many, between two records.
    pub(super) fn tidy(&mut self) -> Result<()> {
        if self.pool.is_full() || self.parts.len() > PARTS {
            self.close_all()?;
            self.pool = Pool::default();
            self.epoch += 1;
        }
        Ok(())
    }

    /// Writes the rows of a part that wait as a row group.
    fn write(&mut self, index: usize) -> Result<()> {
        if self.parts.get(index).is_none_or(|part| part.rows == 0) {
            return Ok(());
        }
        if self.parts.get(index).is_some_and(|part| part.file.is_none()) {
            if self.open.len() >= OPEN {
                let oldest = self.open.remove(0);
                self.close(oldest)?;
            }
            self.open.push(index);
        }
        let (Some(part), whole) = (self.parts.get_mut(index), &mut self.whole) else { return Ok(()) };
        let Some(table) = self.tables.get(part.table) else { return Ok(()) };
        let written = (|| {
            let mut file = match part.file.take() {
                Some(file) => file,
                None => {
                    let file = File::create_new(self.scratch.join(whole.len().to_string()))?;
                    whole.push(part.folder.clone());
                    SerializedFileWriter::new(file, table.schema.clone(), self.properties.clone())?
                }
            };
            write_group(&mut file, table, &part.columns, &self.pool)?;
            part.file = Some(file);
            Ok(())
        })();
        written.map_err(|error| unwritten(&self.root, error))?;
        self.waiting -= part.rows * part.columns.len();
        part.rows = 0;
        // Most parts of a large fleet get few rows: what they hold is given back.
        part.columns = vec![Vec::new(); part.columns.len()];
        Ok(())
    }

    fn close(&mut self, index: usize) -> Result<()> {
        self.write(index)?;
        let Some(mut file) = self.parts.get_mut(index).and_then(|part| part.file.take()) else { return Ok(()) };
        let closed = file.finish().and_then(|_| {
            self.bytes += file.bytes_written() as u64;
            // A file system may say only now that it is full.
            Ok(file.inner().sync_all()?)
        });
        self.open.retain(|open| *open != index);
        closed.map_err(|error| unwritten(&self.root, error))
    }

    fn close_all(&mut self) -> Result<()> {
        for index in 0..self.parts.len() {
            self.close(index)?;
        }
        self.parts.clear();
        self.by_name.clear();
        Ok(())
    }

    /// Writes what waits and gives all files their names. Returns how many there are, and their bytes.
    pub(super) fn finish(mut self) -> Result<(usize, u64)> {
        self.close_all()?;
        for folder in &self.whole {
            fs::create_dir_all(self.root.join(folder)).map_err(|error| failure(&self.root.join(folder), &error))?;
        }
        let mut stale = self.earlier();
        for (number, folder) in self.whole.iter().enumerate() {
            let path = self.root.join(folder).join(format!("part-{}-{number}.parquet", self.label));
            fs::rename(self.scratch.join(number.to_string()), &path).map_err(|error| failure(&path, &error))?;
            stale.retain(|old| *old != path);
        }
        for path in stale {
            fs::remove_file(&path).map_err(|error| failure(&path, &error))?;
        }
        Ok((self.whole.len(), self.bytes))
    }

    /// The files that an earlier export of the same traces has left.
    fn earlier(&self) -> Vec<PathBuf> {
        let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let begin = format!("part-{}-", self.label);
        self.tables
            .iter()
            .flat_map(|table| inside(&self.root.join(&table.name)).collect::<Vec<_>>())
            .flat_map(|day| inside(&day).collect::<Vec<_>>())
            .flat_map(|device| inside(&device).collect::<Vec<_>>())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin)))
            .collect()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Whatever is left there is of no use to anybody.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// A name as part of a path: every byte but letters, digits, `-`, `_` and `.` as `%` and two hexadecimal digits.
pub(super) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            out.push(byte.into());
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

fn unwritten(root: &Path, error: ParquetError) -> Failure {
    match error {
        ParquetError::External(inner) => Failure::environment(format!("{}: {inner}", root.display()))
            .hint("nothing was exported: what was written so far has been removed"),
        other => Failure::environment(format!("{}: {other}", root.display())),
    }
}

fn write_group(
    file: &mut SerializedFileWriter<File>,
    table: &Table,
    columns: &[Vec<Word>],
    pool: &Pool,
) -> std::result::Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for (column, words) in table.columns.iter().zip(columns) {
        let Some(mut writer) = group.next_column()? else { break };
        let levels: Option<Vec<i16>> = column.null.then(|| words.iter().map(|word| i16::from(*word != NULL)).collect());
        // Of a column that is never null nothing is left out, so that a fault would be an error and no shift.
        let present = || words.iter().copied().filter(|word| !column.null || *word != NULL);
        let levels = levels.as_deref();
        match (writer.untyped(), column.kind) {
            (ColumnWriter::ByteArrayColumnWriter(out), ColumnType::Text | ColumnType::Json) => {
                let none = ByteArray::from(Vec::new());
                let text = |word: Word| pool.texts.get(word as usize).unwrap_or(&none).clone();
                out.write_batch(&present().map(text).collect::<Vec<_>>(), levels, None)?;
            }
            (ColumnWriter::Int64ColumnWriter(out), ColumnType::Count | ColumnType::Sum) => {
                out.write_batch(&present().map(|word| word as i64).collect::<Vec<_>>(), levels, None)?;
            }
            (ColumnWriter::Int32ColumnWriter(out), ColumnType::Day) => {
                out.write_batch(&present().map(|word| word as i32).collect::<Vec<_>>(), levels, None)?;
            }
            (ColumnWriter::DoubleColumnWriter(out), ColumnType::Number) => {
                out.write_batch(&present().map(f64::from_bits).collect::<Vec<_>>(), levels, None)?;
            }
            (ColumnWriter::BoolColumnWriter(out), ColumnType::Flag) => {
                out.write_batch(&present().map(|word| word == 1).collect::<Vec<_>>(), levels, None)?;
            }
            (_, kind) => return Err(ParquetError::General(format!("{}: no {kind:?}", column.name))),
        }
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_names_of_folders() {
        assert_eq!(escaped("adreno-650"), "adreno-650");
        assert_eq!(escaped("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe%20%28LLVM%2015.0.6%2C%20256%20bits%29");
        assert_eq!(escaped("../é%/"), "..%2F%C3%A9%25%2F");
    }
}
