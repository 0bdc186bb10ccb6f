//! What editors are told of the format of rules files.

use super::mistakes::malformed;
use super::set::wishes;
use super::when::CONDITIONS;
use super::*;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[("editors", editors)])
}

/// `text` as JSON, as an editor's schema checker sees it; `None` if it is not TOML.
fn toml_as_json(text: &str) -> Option<Json> {
    fn value(of: &DeValue<'_>) -> Json {
        match of {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Integer(number) => {
                i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).expect("a small number").into()
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().expect("a number").into(),
            DeValue::Boolean(on) => (*on).into(),
            DeValue::Datetime(when) => when.to_string().into(),
            DeValue::Array(list) => list.iter().map(|item| value(item.get_ref())).collect(),
            DeValue::Table(of) => table(of),
        }
    }
    fn table(of: &DeTable<'_>) -> Json {
        Json::Object(of.iter().map(|(key, of)| (key.get_ref().to_string(), value(of.get_ref()))).collect())
    }
    DeTable::parse(text).ok().map(|file| table(file.get_ref()))
}

fn schema() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/samplin.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    serde_json::from_str(&text).expect("JSON")
}

/// The schema for editors accepts what the layer accepts, and complains where it does.
fn editors() -> Outcome {
    let document = schema();
    let mut repairs = samplin_core::decide::Exempt::names();
    repairs.sort_unstable();
    assert_eq!(document["$defs"]["repair"]["anyOf"][0]["enum"], Json::from(repairs));
    let schema = jsonschema::draft202012::new(&document).expect("a schema");
    let accept = |text: &str| {
        let (_, problems) = Overrides::parse(Path::new("samplin.toml"), text);
        assert_eq!(problems, Vec::new(), "{text}");
        let json = toml_as_json(text).expect("TOML");
        let errors: Vec<String> = schema.iter_errors(&json).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?} in {text}");
    };
    for (condition, _) in CONDITIONS {
        accept(&format!("[[rule]]\nwhen = {{ {condition} }}\nset = {{ min_lod = 0 }}\n"));
    }
    for wish in wishes() {
        accept(&format!("[[rule]]\nname = \"a\"\nset = {{ {} }}\nguards_off = [\"compare\"]\n", wish.set));
    }
    accept("[[rule]]\nwhen = { format = \"D16_*\" }\nset = { immutable = \"demote\" }\n");
    for rule in samplin_core::decide::Exempt::names().into_iter().chain(["B-1", "s-2"]) {
        accept(&format!("[[rule]]\nwhen = {{ rule = [\"{rule}\"] }}\nset = {{ repair = \"off\" }}\n"));
    }
    for set in [
        "mag_filter = \"VK_FILTER_CUBIC_EXT\", mipmap_mode = \"VK_SAMPLER_MIPMAP_MODE_NEAREST\"",
        "address_mode = { u = \"VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE\" }, compare = \"VK_COMPARE_OP_NOT_EQUAL\"",
        "address_mode = \"VK_SAMPLER_ADDRESS_MODE_REPEAT\", border = \"VK_BORDER_COLOR_INT_OPAQUE_WHITE\"",
    ] {
        accept(&format!("[[rule]]\nwhen = {{ min_filter = \"VK_FILTER_LINEAR\" }}\nset = {{ {set} }}\n"));
    }
    accept("[[rule]]\nwhen = { rule = \"cubic\" }\nset = { repair = \"off\", min_lod = 1 }\n");
    let mut seen = 0;
    for path in malformed() {
        let text = std::fs::read_to_string(&path).expect("a file");
        // What is not TOML never reaches a schema; some mistakes are beyond one.
        let Some(json) = toml_as_json(&text) else { continue };
        let beyond = ["swapped", "no-such-format"].into_iter().any(|what| path.to_string_lossy().contains(what));
        seen += 1;
        assert_eq!(schema.is_valid(&json), beyond, "{}", path.display());
    }
    assert!(seen >= 20, "{seen}");
    // The sample: as it is, and with its rules switched on.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/samplin.toml");
    let sample = std::fs::read_to_string(path).expect("the sample");
    accept(&sample);
    let on: Vec<&str> = sample
        .lines()
        .map(|line| {
            let rule = |rest: &&str| rest.starts_with(|first: char| first == '[' || first.is_ascii_lowercase());
            line.strip_prefix('#').filter(rule).unwrap_or(line)
        })
        .collect();
    accept(&on.join("\n"));
    let (rules, _) = Overrides::parse(Path::new("samplin.toml"), &on.join("\n"));
    assert!(rules.iter().count() >= 3, "the sample has rules to switch on");
    Ok(())
}
