//! The manifests describe the settings that the layer has, as it has them.

use samplin_config::settings;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the repository")
}

fn described_settings() -> Vec<Value> {
    let manifest: Value = serde_json::from_str(&read("layer.json")).expect("layer.json is JSON");
    manifest["layer"]["features"]["settings"].as_array().expect("an array").clone()
}

/// Loads settings as if the application had chained them, and nobody else said anything.
fn load(key: &str, value: &str) -> settings::Loaded {
    settings::load(&[(key.to_owned(), value.to_owned())])
}

#[test]
fn every_setting_is_described_once_in_order() {
    let described = described_settings();
    let described: Vec<&str> = described.iter().filter_map(|setting| setting["key"].as_str()).collect();
    let loaded = settings::load(&[]);
    let known: Vec<&str> = loaded.sources.iter().map(|(name, ..)| *name).collect();
    assert_eq!(described, known);
}

#[test]
fn every_setting_names_its_variable() {
    for setting in described_settings() {
        let key = setting["key"].as_str().expect("a key");
        assert_eq!(setting["env"], format!("SAMPLIN_{}", key.to_uppercase()));
    }
}

#[test]
fn defaults_are_the_defaults() {
    let defaults = settings::Loaded { problems: Vec::new(), ..settings::load(&[]) };
    for setting in described_settings() {
        let key = setting["key"].as_str().expect("a key");
        let loaded = load(key, setting["default"].as_str().expect("a default"));
        assert_eq!(loaded.problems, [], "{key}");
        assert_eq!(loaded.settings, defaults.settings, "{key}");
    }
}

#[test]
fn every_value_offered_is_accepted_and_no_other() {
    for setting in described_settings() {
        let Some(flags) = setting["flags"].as_array() else { continue };
        let key = setting["key"].as_str().expect("a key");
        for flag in flags {
            let word = flag["key"].as_str().expect("a flag key");
            let loaded = load(key, word);
            assert_eq!(loaded.problems, [], "{key}");
            let effective = loaded.sources.iter().find(|(name, ..)| *name == key).expect("a known key");
            assert_eq!((effective.1.as_str(), effective.2), (word, settings::Source::Application), "{key}");
        }
        assert_eq!(load(key, "no such word").problems.len(), 1, "{key}");
    }
}

#[test]
fn sample_settings_file_names_every_setting_at_its_default() {
    let text = read("manifest/vk_layer_settings.txt");
    let sample: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("#samplin.")?.split_once(" = ")).collect();
    let loaded = settings::load(&[]);
    let known: Vec<(&str, &str)> = loaded.sources.iter().map(|(name, value, _)| (*name, value.as_str())).collect();
    assert_eq!(sample, known);
}
