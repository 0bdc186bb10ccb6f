//! `samplin explain` and `samplin settings`.

use serde_json::Value;

use crate::common::*;

#[test]
fn a_rule_an_id_a_name_and_a_setting_are_explained() {
    let rule = samplin(["explain", "linear-filter"]).quiet(0);
    for part in
        ["VUID-vkCmdDraw-magFilter-04553", "VK_FILTER_NEAREST", "unfilterable=emulate", "B-16", "lost: smoothing"]
    {
        assert!(rule.contains(part), "{part}: {rule}");
    }
    assert!(samplin(["explain", "VUID-vkCmdDispatch-magFilter-04553"]).quiet(0).starts_with("linear-filter (rule)"));
    assert!(samplin(["explain", "A-2"]).quiet(0).starts_with("lod-bias (rule)"));
    let left = samplin(["explain", "immutable-sampler"]).quiet(0);
    assert!(left.contains("To repair it: write the sampler into the set"), "{left}");
    let setting = samplin(["explain", "SAMPLIN_UNFILTERABLE"]).quiet(0);
    assert!(setting.contains("nearest (default)") && setting.contains("emulate"), "{setting}");
}

#[test]
fn what_there_is_is_listed_and_what_there_is_not_is_refused() {
    let list = samplin(["explain"]).quiet(0);
    assert!(["linear-filter", "bindless", "resolve_memory"].into_iter().all(|word| list.contains(word)));
    assert!(samplin(["explain", "linear-fliter"]).fails(2).contains("did you mean linear-filter?"));
    assert!(samplin(["explain", "VUID-vkCmdDraw-None-99999"]).fails(2).contains("no rule for that id"));
    let json: Value = serde_json::from_str(&samplin(["explain", "minmax", "--json"]).quiet(0)).unwrap();
    assert_eq!(json["rules"][0]["sections"].as_array().unwrap().len(), 5);
    assert_eq!(json["left"].as_array().unwrap().len(), 0);
}

#[test]
fn settings_say_who_set_them() {
    let home = Folder::new();
    home.write("vk_layer_settings.txt", "samplin.border = strict\n");
    let output = tool(&home).args(["settings", "--json"]).env("SAMPLIN_MODE", "audit").output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |key: &str| {
        let all = json["settings"].as_array().unwrap();
        let found = all.iter().find(|setting| setting["key"] == key).unwrap();
        (found["value"].as_str().unwrap().to_owned(), found["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("mode"), ("audit".into(), "environment".into()));
    assert_eq!(of("border"), ("strict".into(), "file".into()));
    assert_eq!(of("storage"), ("base".into(), "default".into()));
    assert_eq!(output.status.code(), Some(0));
}

/// What `run` and `doctor` refuse is no setting that is in force.
#[test]
fn a_device_and_a_rules_file_that_cannot_be_had_are_findings() {
    let home = Folder::new();
    home.write("broken.json", "{");
    home.write("broken.toml", "[[rule]\n");
    let said = |arguments: &[&str], variable: &str, value: &str| {
        let output = tool(&home).args(arguments).env(variable, value).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (variable, value, told) in [
        ("SAMPLIN_DEVICE", "v3d", "v3d may be any of"),
        ("SAMPLIN_DEVICE", "voodoo", "no device is called voodoo"),
        ("SAMPLIN_DEVICE", "./none.json", "cannot be read"),
        ("SAMPLIN_DEVICE", "./broken.json", "broken.json"),
        ("SAMPLIN_CONFIG", "/nowhere/rules.toml", "the rules file cannot be read"),
        ("SAMPLIN_CONFIG", "broken.toml", "broken.toml"),
    ] {
        for arguments in [&["settings"][..], &["settings", "device"], &["settings", "--json"]] {
            let (status, text) = said(arguments, variable, value);
            assert!(status == Some(1) && text.contains(told), "{arguments:?} {value}: {status:?} {text}");
        }
    }
    for value in ["adreno-650", "none"] {
        assert_eq!(said(&["settings"], "SAMPLIN_DEVICE", value).0, Some(0), "{value}");
    }
}

#[test]
fn a_wrong_setting_is_a_finding_and_an_unknown_one_wrong_usage() {
    let home = Folder::new();
    let output = tool(&home).args(["settings"]).env("SAMPLIN_MODE", "legalise").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("did you mean \"legalize\"?"));
    assert!(samplin(["settings", "moed"]).fails(2).contains("did you mean mode?"));
}
