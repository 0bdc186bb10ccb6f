"""SQL views over JSON lines that are the tables of manifest/tables.json, in two dialects.

`scripts/manifests` writes them to docs/fleet. They have every column but `line`, which no engine tells of a file. The cases of the
CTS are in no trace, so that their table has no view.
"""

import json


def duckdb(source, pointer, kind):
    """The value at a JSON pointer."""
    keys = pointer.strip("/").split("/")
    if kind == "sum":
        outer, inner = pointer.split("/*/")
        path = "$." + outer.strip("/").replace("/", ".") + ".*." + inner
        return f"CAST(list_sum(CAST(nullif(json_extract({source}, '{path}'), []) AS BIGINT[])) AS BIGINT)"
    path = "'$." + ".".join(keys) + "'"
    if kind == "json":
        return f"CAST(json_extract({source}, {path}) AS VARCHAR)"
    text = f"json_extract_string({source}, {path})"
    if source == "change" and pointer in ("/from", "/to"):
        # Whole numbers have no fraction.
        return f"regexp_replace({text}, '([0-9])[.]0([^0-9]|$)', '\\1\\2', 'g')"
    return {"text": text, "count": f"CAST({text} AS BIGINT)", "number": f"CAST({text} AS DOUBLE)", "flag": f"CAST({text} AS BOOLEAN)"}[kind]


def clickhouse(source, pointer, kind):
    """The value at a JSON pointer."""
    if kind == "sum":
        outer, inner = pointer.split("/*/")
        members = f"JSONExtractKeysAndValuesRaw({source}, '{outer.strip('/')}')"
        summed = f"arraySum(x -> JSONExtractInt(x.2, '{inner}'), {members})"
        return f"if(JSONHas({source}, '{outer.strip('/')}'), {summed}, NULL)"
    path = ", ".join(f"'{key}'" for key in pointer.strip("/").split("/"))
    if kind == "json":
        return f"nullIf(JSONExtractRaw({source}, {path}), '')"
    # A change's value may be of any type: a word as it is, anything else as JSON.
    if source == "change" and pointer in ("/from", "/to"):
        return f"if(JSONType({source}, {path}) = 'String', JSONExtractString({source}, {path}), nullIf(nullIf(JSONExtractRaw({source}, {path}), 'null'), ''))"
    wanted = {"text": "String", "count": "Int64", "number": "Float64", "flag": "Bool"}[kind]
    return f"JSONExtract({source}, {path}, 'Nullable({wanted})')"


def value(dialect, column, table):
    """The expression for a column."""
    source, kind = column["from"], column["type"]
    get = {"duckdb": duckdb, "clickhouse": clickhouse}[dialect]
    if source in ("run", "day", "device", "build", "trace"):
        return f"r.{source}"
    if source == "sampler_name":
        return f"coalesce({get('json', '/name', 'text')}, {get('json', '/names/sampler', 'text')})"
    if source == "applied":
        return f"(event <> 'pair' OR {get('json', '/variant', 'text')} IS NOT NULL)"
    if source == "change_count":
        count = {"duckdb": "json_array_length(json, '$.changes')", "clickhouse": "JSONLength(json, 'changes')"}[dialect]
        return f"CAST({count} AS BIGINT)"
    if source.startswith("change/"):
        return get("change", source[len("change") :], kind)
    if source == "/format" and table == "changes":
        return f"coalesce({get('json', '/format', kind)}, {get('json', '/src_format', kind)})"
    return get("json", source, kind)


HEAD = {
    "duckdb": """\
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
""",
    "clickhouse": """\
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
""",
}
# From which record on a process has which device; the first one holds for its run as well.
DEVICES = """\
CREATE OR REPLACE VIEW created AS
SELECT run, seq, own_device, lead(seq, 1, 9000000000000000000) OVER (PARTITION BY run ORDER BY seq) AS until
FROM records
WHERE own_device IS NOT NULL;
CREATE OR REPLACE VIEW placed AS
SELECT r.run AS run, r.day AS day, coalesce(c.own_device, 'unknown') AS device, r.build AS build, r.trace AS trace,
    r.event AS event, r.seq AS seq, r.json AS json
FROM records AS r LEFT JOIN created AS c ON c.run = r.run AND c.seq <= r.seq AND r.seq < c.until;
"""


def view(dialect, table):
    """The statement for one table."""
    names = [column for column in table["columns"] if column["name"] != "line"]
    columns = ",\n".join(f"    {value(dialect, column, table['name'])} AS {column['name']}" for column in names)
    of = table["of"]
    rows = f"placed AS r\nWHERE event = '{of}'"
    if of == "layer":
        rows = (
            "(\n    SELECT l.run AS run, l.day AS day, coalesce(d.first_device, 'unknown') AS device, l.build AS build,"
            " l.trace AS trace, l.json AS json\n"
            "    FROM records AS l\n"
            "    JOIN (SELECT run, min(seq) AS first_seq FROM records WHERE event = 'layer' GROUP BY run) AS f"
            " ON f.run = l.run AND f.first_seq = l.seq\n"
            f"    LEFT JOIN (SELECT run, {FIRST[dialect]}(own_device, seq) AS first_device FROM created GROUP BY run) AS d"
            " ON d.run = l.run\n"
            "    WHERE l.event = 'layer'\n) AS r"
        )
    elif of == "change":
        each = {
            "duckdb": "unnest(json_extract(json, '$.changes[*]'))",
            "clickhouse": "arrayJoin(JSONExtractArrayRaw(json, 'changes'))",
        }[dialect]
        rows = (
            f"(\n    SELECT *, {each} AS change\n    FROM placed\n"
            "    WHERE event IN ('sampler', 'pair', 'blit', 'conversion', 'shader')\n) AS r"
        )
    return f"CREATE OR REPLACE VIEW {table['name']} AS\nSELECT\n{columns}\nFROM {rows};\n"


FIRST = {"duckdb": "min_by", "clickhouse": "argMin"}


def views(text):
    """Returns {file name: SQL}, from the text of manifest/tables.json."""
    tables = json.loads(text)["tables"]
    return {
        f"traces.{dialect}.sql": HEAD[dialect]
        + DEVICES
        + "".join(view(dialect, table) for table in tables if table["of"] != "case")
        for dialect in HEAD
    }
