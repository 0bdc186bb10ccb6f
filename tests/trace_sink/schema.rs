//! The schema of the records.

use super::*;

/// The schema of the records.
fn schema() -> (PathBuf, Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/trace.schema.json");
    let schema = serde_json::from_str(&text(&path)).expect("JSON");
    (path, schema)
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a string")).collect()
}

#[test]
fn the_schema_names_every_rule_setting_and_event() {
    let (_, schema) = schema();
    let rules = strings(&schema["$defs"]["rule"]["enum"]);
    for rule in samplin_core::decide::Rule::ALL {
        assert!(rules.contains(&rule.name()), "{}", rule.name());
    }
    let settings = &schema["$defs"]["layer"]["properties"]["settings"]["properties"];
    let loaded = samplin_config::settings::load(&[]);
    assert_eq!(settings.as_object().map(serde_json::Map::len), Some(loaded.sources.len()));
    for (key, ..) in &loaded.sources {
        assert!(settings[key].is_object(), "{key}");
    }
    for event in strings(&schema["properties"]["event"]["enum"]) {
        let members = schema["$defs"][event]["properties"].as_object().expect("a definition");
        assert!(!members.is_empty(), "{event}");
        let is_chosen = |choice: &Value| choice["if"]["properties"]["event"]["const"] == event;
        assert!(schema["allOf"].as_array().is_some_and(|choices| choices.iter().any(is_chosen)), "{event}");
    }
}

/// Checks each line of a file against the schema and says what is wrong; `examples` instead of a file stands for those in
/// the schema. Exit status 3: this Python cannot.
const VALIDATOR: &str = r#"
import json, sys
try:
    from jsonschema import Draft202012Validator as Validator
except ImportError:
    sys.exit(3)
schema = json.load(open(sys.argv[1], encoding="utf-8"))
Validator.check_schema(schema)
if sys.argv[2] == "examples":
    records = [example for event in schema["properties"]["event"]["enum"] for example in schema["$defs"][event]["examples"]]
else:
    records = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
validator = Validator(schema)
for record in records:
    for error in validator.iter_errors(record):
        print(record["event"], error.json_path, error.message)
    if validator.is_valid({**record, "unheard_of": 1}):
        print(record["event"], "may have any member")
print(len(records), "records")
"#;

/// What the validator says about `file`; `None` if there is none on this machine.
fn validate(file: &str) -> Option<String> {
    let (schema, _) = schema();
    let output = Command::new("python3").args(["-c", VALIDATOR, utf8(&schema), file]).output().ok()?;
    if output.status.code() == Some(3) {
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_schemas_examples_follow_it() {
    let Some(said) = validate("examples") else {
        return skip("python3 with jsonschema is not installed");
    };
    assert_eq!(said, "18 records\n");
}

#[test]
fn the_records_of_this_part_follow_the_schema() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let application = [("mode".to_owned(), "audit".to_owned()), ("brder".to_owned(), "x".to_owned())];
    let loaded = samplin_config::settings::load(&application);
    let trace = Arc::new(open(&path));
    trace.emit(
        "layer",
        &json!({
            "version": "0.1.0", "exe": platform::executable_name(), "app": null, "engine": null, "api_version": null,
            "settings": serde_json::to_value(loaded.effective()).expect("serialises"),
        }),
    );
    for problem in &loaded.problems {
        trace.emit("settings", problem);
    }
    for why in ["b", ""] {
        let (what, why) = ("a".to_owned(), why.to_owned());
        trace.emit("unresolved", &Unresolved { what, why, rule: None, about: serde_json::Map::new() });
    }
    let count = records(&path).len();
    assert!(count >= 4, "{count}");
    let Some(said) = validate(utf8(&path)) else {
        return skip("python3 with jsonschema is not installed");
    };
    assert_eq!(said, format!("{count} records\n"));
}
