//! SQL views over JSON lines that are the tables of manifest/tables.json, in two dialects.
//!
//! They have every column but `line`, which no engine tells of a file. The cases of the CTS are in no trace, so that their table has no
//! view.

use serde::Deserialize;

use crate::Failure;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    DuckDb,
    ClickHouse,
}

#[derive(Deserialize)]
struct Tables {
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    name: String,
    of: String,
    columns: Vec<Column>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    from: String,
}

/// Whether a change's member may be of any type.
fn is_any(source: &str, pointer: &str) -> bool {
    source == "change" && ["/from", "/to"].contains(&pointer)
}

/// The members around and inside of a pointer to every member.
fn halves(pointer: &str) -> (&str, &str) {
    let (outer, inner) = pointer.split_once("/*/").unwrap_or((pointer, ""));
    (outer.trim_matches('/'), inner)
}

/// The value at a JSON pointer.
fn duckdb(source: &str, pointer: &str, kind: &str) -> String {
    if kind == "sum" {
        let (outer, inner) = halves(pointer);
        let path = format!("$.{}.*.{inner}", outer.replace('/', "."));
        return format!("CAST(list_sum(CAST(nullif(json_extract({source}, '{path}'), []) AS BIGINT[])) AS BIGINT)");
    }
    let path = format!("'$.{}'", pointer.trim_matches('/').replace('/', "."));
    let text = format!("json_extract_string({source}, {path})");
    match kind {
        "json" => format!("CAST(json_extract({source}, {path}) AS VARCHAR)"),
        // Whole numbers have no fraction.
        _ if is_any(source, pointer) => format!(r"regexp_replace({text}, '([0-9])[.]0([^0-9]|$)', '\1\2', 'g')"),
        "count" => format!("CAST({text} AS BIGINT)"),
        "number" => format!("CAST({text} AS DOUBLE)"),
        "flag" => format!("CAST({text} AS BOOLEAN)"),
        _ => text,
    }
}

/// The value at a JSON pointer.
fn clickhouse(source: &str, pointer: &str, kind: &str) -> String {
    if kind == "sum" {
        let (outer, inner) = halves(pointer);
        let members = format!("JSONExtractKeysAndValuesRaw({source}, '{outer}')");
        let summed = format!("arraySum(x -> JSONExtractInt(x.2, '{inner}'), {members})");
        return format!("if(JSONHas({source}, '{outer}'), {summed}, NULL)");
    }
    let keys: Vec<String> = pointer.trim_matches('/').split('/').map(|key| format!("'{key}'")).collect();
    let path = keys.join(", ");
    let raw = format!("JSONExtractRaw({source}, {path})");
    let wanted = match kind {
        "json" => return format!("nullIf({raw}, '')"),
        // A change's value may be of any type: a word as it is, anything else as JSON.
        _ if is_any(source, pointer) => {
            let text = format!("JSONExtractString({source}, {path})");
            return format!("if(JSONType({source}, {path}) = 'String', {text}, nullIf(nullIf({raw}, 'null'), ''))");
        }
        "count" => "Int64",
        "number" => "Float64",
        "flag" => "Bool",
        _ => "String",
    };
    format!("JSONExtract({source}, {path}, 'Nullable({wanted})')")
}

impl Dialect {
    fn get(self, source: &str, pointer: &str, kind: &str) -> String {
        match self {
            Dialect::DuckDb => duckdb(source, pointer, kind),
            Dialect::ClickHouse => clickhouse(source, pointer, kind),
        }
    }

    /// The expression for a column.
    fn value(self, column: &Column, table: &str) -> String {
        let (source, kind) = (column.from.as_str(), column.kind.as_str());
        let text = |pointer| self.get("json", pointer, "text");
        match source {
            "run" | "day" | "device" | "build" | "trace" => format!("r.{source}"),
            "sampler_name" => format!("coalesce({}, {})", text("/name"), text("/names/sampler")),
            "applied" => format!("(event <> 'pair' OR {} IS NOT NULL)", text("/variant")),
            "change_count" if self == Dialect::DuckDb => "CAST(json_array_length(json, '$.changes') AS BIGINT)".into(),
            "change_count" => "CAST(JSONLength(json, 'changes') AS BIGINT)".into(),
            "/format" if table == "changes" => {
                format!("coalesce({}, {})", self.get("json", source, kind), self.get("json", "/src_format", kind))
            }
            _ => match source.strip_prefix("change/") {
                Some(member) => self.get("change", &format!("/{member}"), kind),
                None => self.get("json", source, kind),
            },
        }
    }

    /// The statement for one table.
    fn view(self, table: &Table) -> String {
        let columns = table.columns.iter().filter(|column| column.name != "line");
        let columns: Vec<_> =
            columns.map(|column| format!("    {} AS {}", self.value(column, &table.name), column.name)).collect();
        let (first, each) = match self {
            Dialect::DuckDb => ("min_by", "unnest(json_extract(json, '$.changes[*]'))"),
            Dialect::ClickHouse => ("argMin", "arrayJoin(JSONExtractArrayRaw(json, 'changes'))"),
        };
        let rows = match table.of.as_str() {
            "layer" => format!(
                "(\n    SELECT l.run AS run, l.day AS day, coalesce(d.first_device, 'unknown') AS device, l.build AS build, \
                 l.trace AS trace, l.json AS json\n    FROM records AS l\n    \
                 JOIN (SELECT run, min(seq) AS first_seq FROM records WHERE event = 'layer' GROUP BY run) AS f \
                 ON f.run = l.run AND f.first_seq = l.seq\n    \
                 LEFT JOIN (SELECT run, {first}(own_device, seq) AS first_device FROM created GROUP BY run) AS d \
                 ON d.run = l.run\n    WHERE l.event = 'layer'\n) AS r"
            ),
            "change" => format!(
                "(\n    SELECT *, {each} AS change\n    FROM placed\n    \
                 WHERE event IN ('sampler', 'pair', 'blit', 'conversion', 'shader')\n) AS r"
            ),
            of => format!("placed AS r\nWHERE event = '{of}'"),
        };
        format!("CREATE OR REPLACE VIEW {} AS\nSELECT\n{}\nFROM {rows};\n", table.name, columns.join(",\n"))
    }
}

/// File names and SQL, from the text of manifest/tables.json.
pub(crate) fn views(text: &str) -> Result<[(String, String); 2], Failure> {
    let Tables { tables } =
        serde_json::from_str(text).map_err(|error| Failure::Input(format!("manifest/tables.json: {error}")))?;
    Ok([(Dialect::DuckDb, "duckdb", DUCKDB), (Dialect::ClickHouse, "clickhouse", CLICKHOUSE)].map(
        |(dialect, name, head)| {
            let views = tables.iter().filter(|table| table.of != "case").map(|table| dialect.view(table));
            (format!("traces.{name}.sql"), [head, DEVICES].into_iter().map(str::to_owned).chain(views).collect())
        },
    ))
}

const DUCKDB: &str = "\
-- The six tables straight over JSON lines, in DuckDB: traces/build=…/day=…/*.jsonl. Start it in the folder that traces/ and
-- predicted/ lie in. Derived from manifest/tables.json by scripts/manifests. Damaged lines are left out.
CREATE OR REPLACE VIEW lines AS
SELECT filename AS trace, json
FROM read_json_objects(
    'traces/**/*.jsonl', format = 'newline_delimited', filename = true, ignore_errors = true, hive_partitioning = false
)
WHERE json IS NOT NULL;
CREATE OR REPLACE VIEW records AS
SELECT
    concat(trace, ':', json_extract_string(json, '$.pid')) AS run,
    CAST(regexp_extract(trace, 'day=([0-9-]+)', 1) AS DATE) AS day,
    nullif(regexp_extract(trace, 'build=([^/]+)', 1), '') AS build,
    trace,
    json_extract_string(json, '$.event') AS event,
    CAST(json_extract_string(json, '$.seq') AS BIGINT) AS seq,
    CASE WHEN json_extract_string(json, '$.event') = 'device'
        THEN coalesce(json_extract_string(json, '$.simulated'), json_extract_string(json, '$.device')) END AS own_device,
    json
FROM lines;
";

const CLICKHOUSE: &str = "\
-- The six tables straight over JSON lines, in ClickHouse: traces/build=…/day=…/*.jsonl. Start clickhouse-local or chdb in the
-- folder that traces/ and predicted/ lie in. Derived from manifest/tables.json by scripts/manifests. Damaged lines are left out.
SET join_use_nulls = 1;
CREATE OR REPLACE VIEW lines AS
SELECT _path AS trace, line AS json
FROM file('traces/**/*.jsonl', 'LineAsString', 'line String')
WHERE isValidJSON(line) SETTINGS use_hive_partitioning = 0;
CREATE OR REPLACE VIEW records AS
SELECT
    concat(trace, ':', toString(JSONExtractInt(json, 'pid'))) AS run,
    toDate32(extract(trace, 'day=([0-9-]+)')) AS day,
    nullIf(extract(trace, 'build=([^/]+)'), '') AS build,
    trace,
    JSONExtractString(json, 'event') AS event,
    JSONExtractInt(json, 'seq') AS seq,
    if(event = 'device', coalesce(JSONExtract(json, 'simulated', 'Nullable(String)'), JSONExtractString(json, 'device')), NULL)
        AS own_device,
    json
FROM lines;
";

/// From which record on a process has which device; the first one holds for its run as well.
const DEVICES: &str = "\
CREATE OR REPLACE VIEW created AS
SELECT run, seq, own_device, lead(seq, 1, 9000000000000000000) OVER (PARTITION BY run ORDER BY seq) AS until
FROM records
WHERE own_device IS NOT NULL;
CREATE OR REPLACE VIEW placed AS
SELECT r.run AS run, r.day AS day, coalesce(c.own_device, 'unknown') AS device, r.build AS build, r.trace AS trace,
    r.event AS event, r.seq AS seq, r.json AS json
FROM records AS r LEFT JOIN created AS c ON c.run = r.run AND c.seq <= r.seq AND r.seq < c.until;
";
