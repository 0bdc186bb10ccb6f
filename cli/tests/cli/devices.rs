//! `samplin caps` and `samplin predict`, as processes.

use std::process::Command;

use ash::vk;

use crate::common::*;

#[test]
fn shipped_devices_are_shown() {
    snapshot("caps-adreno-650.txt", &samplin(["caps", "adreno-650"]).quiet(0));
    snapshot("caps-all.txt", &samplin(["caps", "--all"]).quiet(0));
    snapshot("caps-diff.txt", &samplin(["caps", "v3d-4.2", "rtx-5080"]).quiet(0));
}

#[test]
fn device_json_tells_the_same() {
    let one = samplin(["caps", "--json", "v3d-4.2"]).json(0);
    assert_eq!(one[0]["limits"]["maxCustomBorderColorSamplers"], 24.0);
    let formats = one[0]["formats"].as_array().unwrap();
    let stored = |word: &str| formats.iter().filter(|format| format["storage"] == word).count();
    assert_eq!(stored("native") + stored("lowered") + stored("not"), formats.len());
    // Of all formats, and not only of those that shaders can declare.
    assert!(stored("native") as u64 > one[0]["stored_native"].as_u64().unwrap());
    assert!(one[0]["stored_native"].as_u64() > Some(30), "{}", one[0]);
    assert_eq!(one[0]["quirks"], serde_json::json!([]));
    let smooth = "anisotropy-smooths-nearest";
    assert_eq!(samplin(["caps", "--json", "hd-620"]).json(0)[0]["quirks"], serde_json::json!([smooth]));
    assert!(samplin(["caps", "hd-620"]).quiet(0).contains(&format!("quirk {smooth}: Anisotropy blends ")));
    let all = samplin(["caps", "--json", "--all"]).json(0);
    assert_eq!(all.as_array().unwrap().len(), samplin(["caps", "--list"]).quiet(0).lines().count());
    let differences = samplin(["caps", "--json", "v3d-4.2", "rtx-5080"]).json(0);
    assert!(differences["formats"].as_array().unwrap().iter().any(|entry| entry["ability"] == "linear"));
}

#[test]
fn the_real_device_can_be_saved_and_read_back() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let run = |arguments: &[&str]| Ran::by(vulkan.drive(&mut tool(&home)).args(arguments));
    let saved = run(&["caps", "--save", "own.json"]).quiet(0);
    assert!(saved.contains("own.json: ") && saved.contains("llvmpipe"), "{saved}");
    let told = run(&["caps", "gpu:0", "./own.json"]).quiet(0);
    assert!(told.contains("They can do the same."), "{told}");
    let failure = run(&["caps", "gpu:7"]).fails(2);
    assert!(failure.contains("gpu:0 llvmpipe"), "{failure}");
}

#[test]
fn predictions_are_told() {
    let home = holding(["all.jsonl"]);
    snapshot(
        "predict-adreno-650.txt",
        &samplin_in(&home, ["predict", "all.jsonl", "--device", "adreno-650", "--limit", "3"]).quiet(0),
    );
    let value = samplin_in(&home, ["predict", "all.jsonl", "--device", "apple-a8", "--json"]).json(0);
    assert!(value["unsupported_formats"]["VK_FORMAT_BC1_RGBA_UNORM_BLOCK"].as_u64() > Some(0), "no BC on that device");
    let alone = samplin_in(&home, ["predict", "all.jsonl", "--device", "rtx-5080", "--alone", "--json"]).json(0);
    let both = samplin_in(&home, ["predict", "all.jsonl", "--device", "rtx-5080", "--json"]).json(0);
    assert!(alone["changes"].as_u64() < both["changes"].as_u64(), "what the recording device lacks does not count");
}

/// What a prediction writes is a trace like any other.
#[test]
fn a_prediction_keeps_to_the_schema() {
    let home = holding(["all.jsonl"]);
    samplin_in(&home, ["predict", "all.jsonl", "--device", "adreno-650", "-o", "there.jsonl"]).quiet(0);
    let schema = serde_json::from_str(include_str!("../../../manifest/trace.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for name in ["all.jsonl", "there.jsonl"] {
        let text = home.read(name);
        assert!(text.lines().count() > 300, "{name}");
        for (number, line) in text.lines().enumerate() {
            let record = serde_json::from_str(line).unwrap();
            if let Err(error) = schema.validate(&record) {
                panic!("{name}:{}: {error}\n{line}", number + 1);
            }
        }
    }
}

/// The heart of predictions: for each of these devices, and one that is made up, they equal what the layer decides when it runs the same
/// program with the device made as weak.
#[track_caller]
fn predicted_as_run(program: &str, devices: &[&str], set: &[&str], is_told: impl Fn(&str, &serde_json::Value)) {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let program = example(program);
    let record = |name: &str, device: Option<&str>| {
        let mut command = vulkan.tool(&home);
        command.args(["run", "--quiet", "--trace-level", "all", "--trace", name]).args(set);
        if let Some(device) = device {
            command.args(["--device", device]);
        }
        let ran = Ran::by(command.arg("--").arg(&program));
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    };
    record("here.jsonl", None);
    // What no report tells, a file may.
    let shipped = samplin_cli::devices::SHIPPED.iter().find(|shipped| shipped.short == "llvmpipe").unwrap();
    let mut lesser: serde_json::Value = serde_json::from_str(shipped.text).unwrap();
    for feature in ["sampleRateShading", "shaderStorageImageWriteWithoutFormat"] {
        lesser["effective"][feature] = false.into();
    }
    home.write("lesser.json", lesser.to_string());
    let lesser = home.join("lesser.json");
    for (number, device) in devices.iter().copied().chain([lesser.to_str().unwrap()]).enumerate() {
        let real = format!("real-{number}.jsonl");
        let predicted = format!("predicted-{number}.jsonl");
        record(&real, Some(device));
        let arguments = ["predict", "here.jsonl", "--device", device, "-o", &predicted, "--json"];
        is_told(device, &samplin_in(&home, arguments).json(0));
        let told = samplin_in(&home, ["diff", &real, &predicted]);
        assert_eq!(told.code, 0, "{device}:\n{}", told.stdout);
    }
}

#[test]
fn predictions_equal_real_runs() {
    let shorts: Vec<&str> = samplin_cli::devices::SHIPPED.iter().map(|shipped| shipped.short).collect();
    predicted_as_run("scene", &shorts, &[], |_, _| ());
}

/// The same of storage images and shaders, which come to most on devices that store little.
#[test]
fn predictions_equal_real_runs_of_shaders() {
    let devices = ["adreno-506", "apple-a8", "powervr-ge8320", "v3d-4.2", "verisilicon", "hd-620", "rtx-5080"];
    predicted_as_run("stores", &devices, &["--set", "storage=emulate"], |device, told| {
        let rules = told["by_rule"].as_array().unwrap();
        let changes = |name: &str| {
            rules.iter().find(|rule| rule["rule"] == name).map_or(0, |rule| rule["changes"].as_u64().unwrap())
        };
        assert!(told["images"].as_u64() > Some(40) && told["modules"].as_u64() > Some(10), "{device}");
        assert!(changes("view-usage") >= 3, "{device}: no device stores sRGB");
        assert_eq!(changes("storage-format") > 20, device.starts_with("adreno-5"), "{device}");
        assert_eq!(changes("sample-shading") > 0, device.ends_with("lesser.json"), "{device}");
        // Of two that have anisotropy, the one that smooths NEAREST.
        let smooths = [("hd-620", true), ("rtx-5080", false)].into_iter().find(|(name, _)| *name == device);
        assert!(smooths.is_none_or(|(_, smooths)| smooths == (changes("anisotropy") > 0)), "{device}");
    });
    // Who sets it is followed on any device, and not asked for on this one.
    for (word, devices) in [("off", ["rtx-5080"]), ("keep", ["hd-620"])] {
        predicted_as_run("stores", &devices, &["--set", &format!("aniso_nearest={word}")], |device, told| {
            let rules = told["by_rule"].as_array().unwrap();
            assert_eq!(rules.iter().any(|rule| rule["rule"] == "anisotropy"), word == "off", "{device}");
        });
    }
    predicted_as_run("stores", &devices[..1], &[], |_, _| ());
}

#[test]
fn examples_are_where_tests_look_for_them() {
    assert!(data("all.jsonl").is_file());
    let ran = Command::new(example("scene")).env_clear().env("VK_ICD_FILENAMES", "/nonexistent.json").output();
    assert!(ran.is_ok(), "the example scene is built with the tests");
}

/// `maxSamplerAllocationCount` of apple-m1, and `maxCustomBorderColorSamplers` of v3d-4.2.
const SAMPLERS: u32 = 1024;
const BORDERS: u32 = 24;

/// A folder with the trace of everything, its text and its first record.
fn with_all() -> (Folder, String, serde_json::Value) {
    let home = holding(["all.jsonl"]);
    let text = home.read("all.jsonl");
    let first = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    (home, text, first)
}

/// What was alive at once is held against the limits of the other device, as the layer does there.
#[test]
fn limits_of_the_other_device_are_findings() {
    let (home, text, first) = with_all();
    let with = |samplers: u32, borders: u32| {
        let asked = |asked| serde_json::json!({ "asked": asked, "limit": 32768 });
        let limits = serde_json::json!({
            "maxSamplerAllocationCount": asked(samplers),
            "maxCustomBorderColorSamplers": asked(borders),
        });
        let summary = serde_json::json!({
            "seq": 999_999, "t_ns": 1, "pid": first["pid"], "tid": 1, "event": "summary", "scope": "device",
            "census": { "limits": limits },
        });
        home.write("run.jsonl", format!("{text}{summary}\n"));
    };
    for (device, rule, samplers, borders, is_over) in [
        ("apple-m1", "sampler-budget", SAMPLERS, 0, false),
        ("apple-m1", "sampler-budget", SAMPLERS + 1, 0, true),
        ("v3d-4.2", "border-budget", 40, BORDERS, false),
        ("v3d-4.2", "border-budget", 40, BORDERS + 1, true),
    ] {
        with(samplers, borders);
        let what = format!("{device} {samplers} {borders}");
        let told = samplin_in(&home, ["predict", "run.jsonl", "--device", device, "--deny", rule]);
        // Pairs may have findings by that rule as well.
        let told = if is_over { told.quiet(1) } else { told.stdout };
        assert_eq!(told.contains(&format!("denied: {rule}: limit exceeded: ")), is_over, "{what}: {told}");
        let table = samplin_in(&home, ["predict", "run.jsonl", "--all", "--deny", rule, "--json"]);
        let table: serde_json::Value = serde_json::from_str(&table.stdout).unwrap();
        let rows = table["findings"].as_array().unwrap();
        let has = |row: &&serde_json::Value| {
            (&row["finding"]["rule"], &row["finding"]["what"]) == (&rule.into(), &"limit exceeded".into())
                && row["devices"][device] == true
        };
        assert_eq!(rows.iter().filter(has).count(), usize::from(is_over), "{what}");
        // The trace that a prediction writes tells it too.
        samplin_in(&home, ["predict", "run.jsonl", "--device", device, "-o", "there.jsonl"]).quiet(0);
        let told = samplin_in(&home, ["check", "there.jsonl", "--deny", rule]).stdout;
        assert_eq!(told.contains(&format!("{rule}: limit exceeded: ")), is_over, "{what}: {told}");
    }
    // What makes the status 1 is said, and a device that is named twice is told once.
    let told = samplin_in(&home, ["predict", "all.jsonl", "--device", "apple-a8", "--deny", "linear-filter"]).quiet(1);
    assert!(told.contains("denied: linear-filter: "), "{told}");
    let all = samplin_in(&home, ["predict", "all.jsonl", "--all", "--device", "Adreno-650"]).quiet(0);
    assert!(all.contains(" 1 of 26 ") && !all.contains(" of 27 "), "{all}");
}

/// A view whose image has no record is one of a swapchain's, and is looked at where its format lacks something.
#[test]
fn views_of_swapchains_are_looked_at_where_their_format_lacks_something() {
    let (home, text, first) = with_all();
    let features = vk::FormatFeatureFlags2::SAMPLED_IMAGE | vk::FormatFeatureFlags2::STORAGE_IMAGE;
    let (sampled, stored) = (vk::ImageUsageFlags::SAMPLED, vk::ImageUsageFlags::STORAGE);
    for (usage, lacking) in [(sampled | stored, 1), (sampled, 0)] {
        let class = samplin_wire::words::UsageClass::write(0xdead, Some(features), u64::from(usage.as_raw()), None);
        let view = serde_json::json!({
            "seq": 999_999, "t_ns": 1, "pid": first["pid"], "tid": 1, "event": "view", "view": "0x9", "name": null,
            "format": "VK_FORMAT_B8G8R8A8_SRGB", "changes": [], "class": class,
        });
        let lines: Vec<&str> = text.lines().collect();
        let after = 1 + lines.iter().position(|line| line.contains("\"event\":\"device\"")).unwrap();
        let (before, behind) = lines.split_at(after);
        home.write("run.jsonl", format!("{}\n{view}\n{}\n", before.join("\n"), behind.join("\n")));
        let told = samplin_in(&home, ["predict", "run.jsonl", "--device", "rtx-5080", "--json"]).json(0);
        // The recording layer could not state a usage, as its trace does not say so: then it is named.
        let left = told["unresolved"].as_array().unwrap();
        let named = left.iter().filter(|left| left["what"] == "view-usage").count();
        assert_eq!(named, lacking, "{usage:?}");
    }
}

/// Samplers with custom border colours that follow one another are not as many at once.
#[test]
fn border_colours_are_refused_by_how_many_are_alive_at_once() {
    let home = holding(["all.jsonl"]);
    let text = home.read("all.jsonl");
    let custom = text.lines().find(|line| line.contains("\"event\":\"sampler\"") && line.contains("FLOAT_CUSTOM_EXT"));
    let custom: serde_json::Value = serde_json::from_str(custom.unwrap()).unwrap();
    let kept = |line: &&str| line.contains("\"event\":\"layer\"") || line.contains("\"event\":\"device\"");
    let mut lines: Vec<String> = text.lines().filter(kept).map(str::to_owned).collect();
    for number in 0..BORDERS + 10 {
        let mut one = custom.clone();
        one["sampler"] = format!("{:#x}", 0x1000 + number).into();
        // Of a state of its own, so that a record tells what becomes of it.
        one["state"]["maxLod"] = f64::from(1 + number).into();
        let state = samplin_wire::read::state(&one["state"]).unwrap();
        one["fingerprint"] = format!("{:016x}", state.fingerprint()).into();
        lines.push(one.to_string());
    }
    for (at_once, is_over) in [(2, false), (BORDERS, false), (BORDERS + 10, true)] {
        let summary = serde_json::json!({
            "seq": 999_999, "t_ns": 1, "pid": custom["pid"], "tid": 1, "event": "summary", "scope": "device",
            "census": { "limits": {
                "maxSamplerAllocationCount": { "asked": 40, "limit": 4000 },
                "maxCustomBorderColorSamplers": { "asked": at_once, "limit": 4000 },
            } },
        });
        home.write("run.jsonl", format!("{}\n{summary}\n", lines.join("\n")));
        samplin_in(
            &home,
            ["predict", "run.jsonl", "--device", "v3d-4.2", "--deny", "border-budget", "--allow-unfinished"],
        )
        .quiet(is_over.into());
    }
}

/// Findings down, devices across: the same as one prediction for each.
#[test]
fn several_devices_make_a_table() {
    let home = holding(["all.jsonl"]);
    let names = ["adreno-650", "apple-a8", "v3d-4.2"];
    let arguments =
        ["predict", "all.jsonl", "--json", "--device", names[0], "--device", names[1], "--device", names[2]];
    let table = samplin_in(&home, arguments).json(0);
    for (at, name) in names.iter().enumerate() {
        let alone = samplin_in(&home, ["predict", "all.jsonl", "--json", "--device", name]).json(0);
        assert_eq!(table["changes"][at], alone["changes"], "{name}");
        samplin_in(&home, ["predict", "all.jsonl", "--device", name, "-o", "one.jsonl"]).quiet(0);
        let checked = samplin_in(&home, ["check", "one.jsonl", "--json"]);
        let checked: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
        let of_device = table["findings"].as_array().unwrap().iter().filter(|row| row["devices"][name] == true);
        let rules = |rows: Vec<&serde_json::Value>| -> std::collections::BTreeSet<String> {
            rows.into_iter().map(|row| format!("{} {}", row["rule"], row["message"])).collect()
        };
        let mine = rules(of_device.map(|row| &row["finding"]).filter(|row| row["unresolved"] == false).collect());
        let theirs = checked["findings"].as_array().unwrap().iter().filter(|row| row["unresolved"] == false);
        assert_eq!(mine, rules(theirs.collect()), "{name}");
    }
    let told = samplin_in(&home, ["predict", "all.jsonl", "--device", names[0], "--device", names[1]]).quiet(0);
    assert!(told.starts_with("rule ") && told.contains("adreno-650  apple-a8"), "{told}");
    // A gate: red where a device has a finding by that rule, alone or among others.
    for (arguments, code) in [
        (&["--device", "apple-a8", "--deny", "linear-filter"][..], 1),
        (&["--device", "apple-a8", "--deny", "heap"], 0),
        (&["--all", "--deny", "linear-filter,ycbcr"], 1),
        (&["--all", "--deny", "heap"], 0),
    ] {
        samplin_in(&home, [&["predict", "all.jsonl"], arguments].concat()).quiet(code);
    }
    samplin_in(&home, ["predict", "all.jsonl"]).fails(2);
    // The page has the same marks.
    let page = ["report", "all.jsonl", "-o", "-", "--device", names[0], "--device", names[1], "--device", names[2]];
    let page = samplin_in(&home, page).quiet(0);
    let section = page.split("id=\"matrix-title\"").nth(1).unwrap().split("id=\"losses-title\"").next().unwrap();
    let arguments = arguments.map(|argument| if argument == "--json" { "--limit=0" } else { argument });
    let told = samplin_in(&home, arguments).quiet(0);
    let rows: Vec<&str> = told.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    let marks: usize =
        rows.iter().map(|row| row.split_whitespace().skip(1).take(3).filter(|mark| *mark == "x").count()).sum();
    assert_eq!(section.matches("<td>×</td>").count(), marks);
    assert_eq!(section.matches("<tr>").count(), rows.len() + 1);
    samplin_in(&home, ["predict", "all.jsonl", "--all", "-o", "x"]).fails(2);
    if let Some(vulkan) = vulkan() {
        let told =
            Ran::by(vulkan.drive(&mut tool(&home)).args("predict all.jsonl --device gpu --device v3d-4.2".split(' ')))
                .quiet(0);
        assert!(told.contains("gpu  v3d-4.2"), "{told}");
    }
}

/// A line that is read on a terminal: a few findings of a rule, none twice, and beside each as few devices as say which have it.
#[test]
fn a_table_of_all_devices_can_be_read() {
    let home = holding(["all.jsonl"]);
    let told = |limit: &str| samplin_in(&home, ["predict", "all.jsonl", "--all", "--limit", limit]).quiet(0);
    let all = told("0");
    let is_finding = |line: &&str| line.contains(" of 26  ");
    let findings = |text: &str| -> Vec<String> { text.lines().filter(is_finding).map(str::to_owned).collect() };
    let pairs: Vec<String> = all
        .lines()
        .zip(all.lines().skip(1))
        .filter(|(line, _)| is_finding(line))
        .map(|(line, next)| format!("{line}{next}"))
        .collect();
    let once: std::collections::BTreeSet<&String> = pairs.iter().collect();
    assert!(once.len() == pairs.len() && once.len() > 100, "{all}");
    for (line, next) in all.lines().zip(all.lines().skip(1)).filter(|(line, _)| is_finding(line)) {
        assert!(line.find(" of 26  ").unwrap() < 30, "{line}");
        let has: usize = line[..line.find(" of 26").unwrap()].rsplit(' ').next().unwrap().parse().unwrap();
        let names = next.split_whitespace().filter(|word| !["not", "on"].contains(word)).count();
        match has {
            26 => assert!(!next.trim_start().starts_with("on ") && !next.trim_start().starts_with("not on "), "{next}"),
            1..=13 => assert!(next.trim_start().starts_with("on ") && names == has, "{line}\n{next}"),
            _ => assert!(next.trim_start().starts_with("not on ") && names == 26 - has, "{line}\n{next}"),
        }
    }
    let two = told("2");
    for rule in ["anisotropy", "linear-filter"] {
        let of = |text: &str| findings(text).iter().filter(|line| line.starts_with(rule)).count();
        assert_eq!(of(&two), 2, "{two}");
        let more = format!("… and {} more (--limit 0 shows all)", of(&all) - 2);
        assert!(of(&all) > 2 && two.contains(&more), "{more}: {two}");
    }
    assert!(!all.contains("--limit 0"));
    let few = ["predict", "all.jsonl", "--device", "apple-a8", "--device", "v3d-4.2", "--limit", "1"];
    let few = samplin_in(&home, few).quiet(0);
    assert_eq!(few.lines().filter(|line| line.starts_with("linear-filter ")).count(), 1, "{few}");
}
