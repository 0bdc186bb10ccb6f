//! What the tables are: `manifest/tables.json`, which documents them and from which files are written and read.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use serde::Deserialize;

use crate::trace::reader::Member;

/// The description; compiled in, so that no installed file can contradict the code.
pub const MANIFEST: &str = include_str!("../../../manifest/tables.json");

/// The records that a table has rows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the record of its name")]
pub enum Of {
    Layer,
    Device,
    Change,
    Pair,
    Unresolved,
    Exempt,
    Summary,
    Case,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// INT64.
    Count,
    /// DOUBLE.
    Number,
    /// BOOLEAN.
    Flag,
    /// Days since 1970-01-01.
    Day,
    /// A value as JSON, in UTF-8.
    Json,
    /// The sum of several counts, INT64.
    Sum,
}

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The run.
    Run,
    /// Its day.
    Day,
    /// The device that decisions are made for.
    Device,
    /// The build of the application.
    Build,
    /// The trace.
    Trace,
    /// The line of the record.
    Line,
    /// `name` of a sampler record, else `names.sampler`.
    SamplerName,
    /// Whether the changed sampler is in use.
    Applied,
    /// How many changes the record has.
    ChangeCount,
    /// A member of the change: its index in [`CHANGE`].
    Change(usize),
    /// A member that the reader knows, and one in it.
    Member(Member, Option<String>),
    /// A JSON pointer into a record that is read as a tree.
    Pointer(String),
}

/// The members of a change that columns take.
pub const CHANGE: [&str; 8] = ["rule", "catalog", "vuid", "field", "from", "to", "because", "lost"];

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnType,
    /// Whether there can be nothing.
    pub null: bool,
    /// Where its values are from.
    pub from: From,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, which is that of its folder.
    pub name: String,
    /// What it has rows of.
    pub of: Of,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The same for Parquet.
    pub schema: TypePtr,
}

#[derive(Deserialize)]
struct Described {
    tables: Vec<DescribedTable>,
}

#[derive(Deserialize)]
struct DescribedTable {
    name: String,
    of: Of,
    columns: Vec<DescribedColumn>,
}

#[derive(Deserialize)]
struct DescribedColumn {
    name: String,
    #[serde(rename = "type")]
    kind: ColumnType,
    null: bool,
    from: String,
}

/// All tables, from [`MANIFEST`].
///
/// # Errors
///
/// When the description names what there is not, which a test excludes.
pub fn all() -> Result<Vec<Table>, ParquetError> {
    let general = |error: String| ParquetError::General(format!("manifest/tables.json: {error}"));
    let described: Described = serde_json::from_str(MANIFEST).map_err(|error| general(error.to_string()))?;
    let mut tables = Vec::new();
    for table in described.tables {
        let mut columns = Vec::new();
        for column in table.columns {
            let from = from(table.of, &column.from)
                .ok_or_else(|| general(format!("{}.{}: no such source: {}", table.name, column.name, column.from)))?;
            columns.push(Column { name: column.name, kind: column.kind, null: column.null, from });
        }
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder(&table.name).with_fields(fields).build()?);
        tables.push(Table { name: table.name, of: table.of, columns, schema });
    }
    Ok(tables)
}

fn from(of: Of, word: &str) -> Option<From> {
    Some(match word {
        "run" => From::Run,
        "day" => From::Day,
        "device" => From::Device,
        "build" => From::Build,
        "trace" => From::Trace,
        "line" => From::Line,
        "sampler_name" => From::SamplerName,
        "applied" => From::Applied,
        "change_count" => From::ChangeCount,
        _ => match (word.strip_prefix("change/"), of) {
            (Some(member), _) => From::Change(CHANGE.iter().position(|known| *known == member)?),
            // These records are few, and so different that they are read as trees.
            (None, Of::Layer | Of::Device | Of::Summary | Of::Case) => {
                word.starts_with('/').then(|| From::Pointer(word.to_owned()))?
            }
            (None, _) => {
                let mut parts = word.strip_prefix('/')?.splitn(2, '/');
                From::Member(Member::named(parts.next()?.as_bytes())?, parts.next().map(str::to_owned))
            }
        },
    })
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        ColumnType::Text | ColumnType::Json => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Count | ColumnType::Sum => (Physical::INT64, None),
        ColumnType::Number => (Physical::DOUBLE, None),
        ColumnType::Flag => (Physical::BOOLEAN, None),
        ColumnType::Day => (Physical::INT32, Some(LogicalType::Date)),
    };
    let repetition = if column.null { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let built = Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(Arc::new(built))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_source_and_every_table_begins_alike() {
        let tables = all().unwrap();
        assert_eq!(
            tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
            ["runs", "devices", "changes", "pairs", "unresolved", "exempt", "census", "cases"]
        );
        for table in &tables {
            let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(names.get(..5), Some(&["run", "day", "device", "build", "line"][..]), "{}", table.name);
        }
    }

    #[test]
    fn a_source_that_there_is_not_is_noticed() {
        assert_eq!(from(Of::Pair, "/format"), Some(From::Member(Member::Format, None)));
        assert_eq!(from(Of::Pair, "/no_such_member"), None);
        assert_eq!(from(Of::Change, "change/nothing"), None);
        assert_eq!(from(Of::Summary, "dropped"), None);
    }
}
