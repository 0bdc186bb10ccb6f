//! `samplin export`, and `check` and `diff` over its tables, as processes.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::common::*;

/// All Parquet files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Every row of a table, by column.
fn rows(tables: &Path, table: &str) -> Vec<BTreeMap<String, Field>> {
    let mut out = Vec::new();
    for path in files(&tables.join(table)) {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            out.push(row.unwrap().into_columns().into_iter().collect());
        }
    }
    out
}

fn text(field: &Field) -> Option<&str> {
    match field {
        Field::Str(text) => Some(text),
        Field::Null => None,
        other => panic!("no text: {other}"),
    }
}

/// The recorded lines of the process that comes first.
fn one_process() -> String {
    let text = text_in("all.jsonl");
    let pid = |line: &str| serde_json::from_str::<Value>(line).unwrap()["pid"].clone();
    let first = text.lines().next().map(pid);
    text.lines().filter(|line| Some(pid(line)) == first).map(|line| format!("{line}\n")).collect()
}

fn home() -> Folder {
    let home = Folder::new();
    home.write("all.jsonl", one_process());
    home
}

fn lines() -> Vec<Value> {
    let text = one_process();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const EXEMPT: &str = concat!(
    r#"{"seq":9999,"t_ns":4,"pid":28235,"tid":7,"event":"exempt","what":"pair","rules":[{"name":"mine","file":"a.toml","line":3}],"#,
    r#""fingerprint":"0123456789abcdef","format":"VK_FORMAT_R32_SFLOAT","changes":[{"rule":"linear-filter","field":"magFilter"}]}"#,
    "\n"
);

/// What `scripts/cts` writes for a case.
const CASE: &str = r#"{"event":"case","seq":0,"pid":9,"device":"lavapipe-22","case":"dEQP-VK.texture.a","without":"Pass","with":"Fail","verdict":"different","expected":null,"shard":"1/4"}
"#;

#[test]
fn cases_of_the_cts_are_rows() {
    let home = Folder::new();
    let second = CASE.replace("\"Fail\"", "\"Pass\"").replace("different", "same").replace("texture.a", "texture.b");
    home.write("shards/1/cases.jsonl", format!("{CASE}{second}"));
    home.write("shards/2/cases.jsonl", CASE.replace("lavapipe-22", "nvidia-580").replace("1/4", "2/4"));
    let told = samplin_in(&home, ["export", "shards", "--parquet", "tables", "--json"]).json(0);
    assert_eq!((&told["rows"]["cases"], &told["rows"]["runs"]), (&3.into(), &0.into()), "{told:#}");
    let mut cases: Vec<_> = rows(&home.join("tables"), "cases")
        .iter()
        .map(|row| {
            ["device", "test_case", "with_layer", "verdict", "shard"].map(|column| text_of(row, column)).join(" ")
        })
        .collect();
    cases.sort();
    assert_eq!(
        cases,
        [
            "lavapipe-22 dEQP-VK.texture.a Fail different 1/4",
            "lavapipe-22 dEQP-VK.texture.b Pass same 1/4",
            "nvidia-580 dEQP-VK.texture.a Fail different 2/4"
        ]
    );
    // To the other commands it is a record that says nothing.
    samplin_in(&home, ["inspect", "shards/1/cases.jsonl"]).quiet(0);
}

#[test]
fn the_columns_are_those_of_the_manifest() {
    let home = home();
    // With a record that no program has to have.
    let all = home.read("all.jsonl");
    home.write("more.jsonl", all + EXEMPT);
    samplin_in(&home, ["export", "more.jsonl", "--parquet", "tables"]).quiet(0);
    let exempt = rows(&home.join("tables"), "exempt");
    assert_eq!(["what", "format"].map(|column| text_of(&exempt[0], column)), ["pair", "VK_FORMAT_R32_SFLOAT"]);
    assert_eq!(text_of(&exempt[0], "rules"), r#"[{"name":"mine","file":"a.toml","line":3}]"#);
    let manifest: Value = serde_json::from_str(include_str!("../../../manifest/tables.json")).unwrap();
    let tables = manifest["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 8);
    for table in tables {
        let name = table["name"].as_str().unwrap();
        if name == "cases" {
            // No trace has any.
            assert!(files(&home.join("tables/cases")).is_empty());
            home.write("cases.jsonl", CASE);
            samplin_in(&home, ["export", "cases.jsonl", "--parquet", "tables"]).quiet(0);
        }
        let [file] = &files(&home.join("tables").join(name))[..] else { panic!("{name}: one file") };
        let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
        let written: Vec<_> = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let described = table["columns"].as_array().unwrap();
        assert_eq!(written.len(), described.len(), "{name}");
        for (column, described) in written.iter().zip(described) {
            let of = format!("{name}.{}", described["name"]);
            assert_eq!(column.name(), described["name"], "{of}");
            assert!(described["description"].as_str().is_some_and(|text| text.ends_with('.')), "{of}");
            let expected = match described["type"].as_str().unwrap() {
                "text" | "json" => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                "count" | "sum" => (Physical::INT64, None),
                "number" => (Physical::DOUBLE, None),
                "flag" => (Physical::BOOLEAN, None),
                "day" => (Physical::INT32, Some(LogicalType::Date)),
                other => panic!("{of}: {other}"),
            };
            assert_eq!((column.physical_type(), column.logical_type_ref().cloned()), expected, "{of}");
            let is_optional = column.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
            assert_eq!(is_optional, described["null"].as_bool().unwrap(), "{of}");
        }
    }
}

#[test]
fn every_record_is_a_row() {
    let home = Folder::new();
    let trace = home.write("fleet/build=1.7/day=2026-11-20/one.jsonl", one_process());
    let told = samplin_in(&home, ["export", "fleet", "--parquet", "tables", "--json"]).json(0);
    assert_eq!((&told["traces"], &told["damaged"]), (&1.into(), &0.into()), "{told:#}");
    let tables = home.join("tables");
    let of = |event: &str| lines().into_iter().filter(|line| line["event"] == event).collect::<Vec<_>>();

    let runs = rows(&tables, "runs");
    let [run] = &runs[..] else { panic!("{runs:?}") };
    let pid = lines()[0]["pid"].clone();
    assert_eq!(text(&run["trace"]), Some("fleet/build=1.7/day=2026-11-20/one.jsonl"));
    assert_eq!(text(&run["run"]), Some(format!("fleet/build=1.7/day=2026-11-20/one.jsonl:{pid}").as_str()));
    assert_eq!(run["day"], Field::Date(20_777));
    assert_eq!(
        (text(&run["build"]), text(&run["app"]), text(&run["mode"])),
        (Some("1.7"), Some("scene"), Some("legalize"))
    );

    let device = &of("device")[0];
    let devices = rows(&tables, "devices");
    assert_eq!(
        devices[0]["max_sampler_anisotropy"],
        Field::Double(device["limits"]["maxSamplerAnisotropy"].as_f64().unwrap())
    );
    assert_eq!(text(&devices[0]["device"]), device["device"].as_str());
    let features: Value = serde_json::from_str(text(&devices[0]["features"]).unwrap()).unwrap();
    assert_eq!(features, device["features"]);

    // Pair by pair, and change by change in the order of the trace.
    let pairs = rows(&tables, "pairs");
    let written = of("pair");
    assert_eq!(pairs.len(), written.len());
    for (row, pair) in pairs.iter().zip(&written) {
        for name in ["fingerprint", "format", "aspect", "view_type", "swizzle", "path"] {
            assert_eq!(text(&row[name]), pair[name].as_str(), "{name} of {pair}");
        }
        assert_eq!(text(&row["sampler_name"]), pair["names"]["sampler"].as_str());
        assert_eq!(text(&row["features"]), pair["view_class"]["features"].as_str());
        assert_eq!(row["changes"], Field::Long(pair["changes"].as_array().unwrap().len() as i64));
        assert_eq!(row["replaced"], Field::Bool(!pair["variant"].is_null()));
    }
    let changes = rows(&tables, "changes");
    let written: Vec<(Value, Value)> = lines()
        .into_iter()
        .flat_map(|line| {
            line["changes"]
                .as_array()
                .cloned()
                .unwrap_or_default()
                .into_iter()
                .map(move |change| (line.clone(), change))
        })
        .collect();
    assert!(written.len() > 200);
    assert_eq!(changes.len(), written.len());
    for (row, (line, change)) in changes.iter().zip(&written) {
        for name in ["rule", "catalog", "vuid", "field", "because", "lost"] {
            assert_eq!(text(&row[name]), change[name].as_str(), "{name} of {change}");
        }
        for (column, member) in [("before", "from"), ("after", "to")] {
            let expected = match &change[member] {
                Value::Null => None,
                Value::String(word) => Some(word.clone()),
                // Whole numbers have no fraction.
                other => {
                    let text = format!("{other},").replace(".0,", ",").replace(".0]", "]");
                    Some(text.trim_end_matches(',').to_owned())
                }
            };
            assert_eq!(text(&row[column]), expected.as_deref(), "{column} of {change}");
        }
        assert_eq!(text(&row["event"]), line["event"].as_str());
        assert_eq!(row["t_ns"], Field::Long(line["t_ns"].as_i64().unwrap()));
        let number = std::fs::read_to_string(&trace)
            .unwrap()
            .lines()
            .position(|text| serde_json::from_str::<Value>(text).unwrap() == *line);
        assert_eq!(row["line"], Field::Long(number.unwrap() as i64 + 1));
    }

    let unresolved = rows(&tables, "unresolved");
    assert_eq!(unresolved.len(), of("unresolved").len());
    assert_eq!(text(&unresolved[0]["why"]), of("unresolved")[0]["why"].as_str());

    let census = rows(&tables, "census");
    let summary = &of("summary")[0];
    assert_eq!(census.len(), of("summary").len());
    let seen: i64 = summary["writes"].as_object().unwrap().values().map(|path| path["seen"].as_i64().unwrap()).sum();
    assert_eq!(census[0]["descriptors_seen"], Field::Long(seen));
    assert_eq!(
        census[0]["headroom_allocation_count"],
        Field::Long(summary["census"]["headroom"]["maxSamplerAllocationCount"].as_i64().unwrap())
    );
    assert_eq!(census.last().unwrap()["dropped"], Field::Long(0));
    assert_eq!(census.last().unwrap()["samplers_created"], Field::Null, "the summary of the instance has none");
}

#[test]
fn rows_lie_by_day_and_device() {
    let home = home();
    let text = home.read("all.jsonl");
    home.write("game-2026-11-21.jsonl", text.replace("\"simulated\":null", "\"simulated\":\"adreno-650\""));
    samplin_in(&home, ["export", "all.jsonl", "--day", "2026-11-20", "--parquet", "tables"]).quiet(0);
    samplin_in(&home, ["export", "game-2026-11-21.jsonl", "--build", "9", "--parquet", "tables"]).quiet(0);
    let folders: Vec<String> = files(&home.join("tables/pairs"))
        .iter()
        .map(|path| path.parent().unwrap().strip_prefix(home.join("tables/pairs")).unwrap().display().to_string())
        .collect();
    assert_eq!(
        folders,
        ["day=2026-11-20/device=llvmpipe%20%28LLVM%2015.0.6%2C%20256%20bits%29", "day=2026-11-21/device=adreno-650"]
    );
    // The same again replaces what it has written.
    let before = files(&home.join("tables"));
    samplin_in(&home, ["export", "game-2026-11-21.jsonl", "--build", "10", "--parquet", "tables"]).quiet(0);
    assert_eq!(files(&home.join("tables")), before);
    let builds: Vec<_> = rows(&home.join("tables"), "runs").iter().map(|row| row["build"].clone()).collect();
    assert_eq!(builds, [Field::Null, Field::Str("10".to_owned())]);
    // With another day the old ones must go.
    samplin_in(&home, ["export", "game-2026-11-21.jsonl", "--day", "2026-11-19", "--parquet", "tables"]).quiet(0);
    assert_eq!(files(&home.join("tables")).len(), before.len());
    assert_eq!(rows(&home.join("tables"), "runs").len(), 2);
    assert!(
        samplin_in(&home, ["export", "all.jsonl", "--day", "2026-02-30", "--parquet", "t"])
            .fails(2)
            .contains("not a date")
    );
}

#[test]
fn processes_of_one_trace_are_runs_of_their_own() {
    let home = home();
    let text = home.read("all.jsonl");
    let pid = lines()[0]["pid"].to_string();
    let other =
        text.replace(&format!("\"pid\":{pid}"), "\"pid\":7").replace("\"simulated\":null", "\"simulated\":\"x/y\"");
    // Two processes line by line, and then the first once more.
    let mut mixed: Vec<&str> = text.lines().zip(other.lines()).flat_map(|(a, b)| [a, b]).collect();
    mixed.extend(text.lines());
    home.write("mixed.jsonl", mixed.join("\n"));
    samplin_in(&home, ["export", "mixed.jsonl", "--parquet", "tables"]).quiet(0);
    let tables = home.join("tables");
    let mut runs: Vec<_> =
        rows(&tables, "runs").iter().map(|row| (text_of(row, "run"), text_of(row, "device"))).collect();
    runs.sort();
    let llvmpipe = "llvmpipe (LLVM 15.0.6, 256 bits)".to_owned();
    let name = |run: &str| format!("mixed.jsonl:{run}");
    assert_eq!(
        runs,
        [(name(&pid), llvmpipe.clone()), (name(&format!("{pid}:2")), llvmpipe), (name("7"), "x/y".to_owned())]
    );
    let mut by_run: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(&tables, "changes") {
        *by_run.entry(text_of(&row, "run")).or_insert(0) += 1;
    }
    let once =
        samplin_in(&home, ["export", "all.jsonl", "--parquet", "once", "--json"]).json(0)["rows"]["changes"].as_u64();
    assert!(by_run.len() == 3 && by_run.values().all(|count| Some(*count as u64) == once), "{by_run:?} {once:?}");
}

fn text_of(row: &BTreeMap<String, Field>, column: &str) -> String {
    text(&row[column]).unwrap_or_default().to_owned()
}

#[test]
fn check_finds_in_tables_what_it_finds_in_traces() {
    let home = home();
    home.write("all.jsonl", one_process() + EXEMPT);
    // Twice the same, so that there is something to count.
    std::fs::copy(home.join("all.jsonl"), home.join("again.jsonl")).unwrap();
    samplin_in(&home, ["export", "all.jsonl", "again.jsonl", "--build", "1", "--parquet", "tables"]).quiet(0);
    let findings = |of: &[&str]| {
        let deny = ["--json", "--deny", "linear-filter", "--deny", "unresolved"];
        let told = samplin_in(&home, [&["check"], of, &deny[..]].concat()).json(1);
        let mut found: Vec<String> = told["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                ["trace", "line", "rule", "message", "vuid", "fingerprint", "format", "count", "unresolved"]
                    .map(|key| finding[key].to_string())
                    .join(" ")
            })
            .collect();
        found.sort();
        found
    };
    let (of_trace, of_tables) = (findings(&["all.jsonl", "again.jsonl"]), findings(&["tables"]));
    assert!(of_trace.len() > 10 && of_trace.iter().any(|finding| finding.contains("left alone by mine (a.toml:3)")));
    assert_eq!(of_tables, of_trace);
    samplin_in(&home, ["check", "tables", "--deny", "ycbcr"]).quiet(0);
    samplin_in(&home, ["check", "tables", "--build", "1", "--deny", "linear-filter"]).quiet(1);
    assert!(samplin_in(&home, ["check", "tables", "--build", "2"]).fails(3).contains("no run of the build 2"));
    std::fs::create_dir(home.join("empty")).unwrap();
    assert!(samplin_in(&home, ["check", "empty"]).fails(3).contains("empty: there is no run in the table runs"));
}
