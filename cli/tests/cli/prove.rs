//! `samplin prove` and `samplin reproduce`: what the driver makes of the gallery's pairs, and programs of them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::*;

/// Cases of the gallery: pairs that drivers get wrong, pairs that shaders make good, and legal ones.
const CASES: [&str; 10] = [
    "rgba8-linear",
    "r32-uint-linear",
    "d32-linear",
    "colour-shadow",
    "both-aspects",
    "int-border",
    "float-border",
    "lod-range",
    "unnormalized",
    "cube-uint",
];

/// A folder with the trace of the gallery at the level all.
struct Recorded {
    home: Folder,
    vulkan: Vulkan,
}

impl Recorded {
    fn new() -> Option<Self> {
        let (vulkan, gallery) = (vulkan()?, gallery()?);
        let recorded = Self { home: Folder::new(), vulkan };
        let mut command = recorded.tool();
        command.args(["run", "--quiet", "--trace-level", "all", "--trace", "all.jsonl", "--"]).arg(&gallery);
        command.args(["--no-validation", "--out", "gallery.png"]);
        for case in CASES {
            command.args(["--only", case]);
        }
        let ran = Ran::by(&mut command);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        Some(recorded)
    }

    fn tool(&self) -> Command {
        self.vulkan.tool(&self.home)
    }
}

/// Each repair is needed or does no harm, each legal pair holds; every format says so.
#[test]
fn the_gallerys_pairs_are_proven() {
    let Some(recorded) = Recorded::new() else { return };
    let formats = ["--format", "junit=proof.xml", "--format", "sarif=proof.sarif"];
    let ran = recorded.tool().args(["prove", "all.jsonl", "--json"]).args(formats).output().unwrap();
    let proof = Ran::of(&ran).json(0);
    let count = |verdict: &str| proof["verdicts"][verdict].as_u64().unwrap();
    assert_eq!((count("driver wrong"), count("repair does not hold")), (0, 0), "{proof:#}");
    assert!(count("repair needed") >= 4 && count("holds") >= 1, "{proof:#}");
    let pairs = proof["pairs"].as_array().unwrap();
    assert_eq!(
        pairs.len() as u64,
        proof["verdicts"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>()
    );
    for pair in pairs {
        let changed = !pair["changes"].as_array().unwrap().is_empty();
        let verdict = pair["verdict"].as_str().unwrap();
        assert!(changed == verdict.starts_with("repair") || verdict == "no reference", "{pair:#}");
        assert!(verdict != "repair needed" || !pair["observed"].as_str().unwrap().is_empty(), "{pair:#}");
    }
    let junit = std::fs::read_to_string(recorded.home.join("proof.xml")).unwrap();
    assert!(junit.contains("driver wrong") && junit.contains("failures=\"0\""), "{junit}");
    let sarif = std::fs::read_to_string(recorded.home.join("proof.sarif")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["results"], Value::Array(Vec::new()));
    // The same on a page, beside what other devices would have.
    recorded.home.write("proof.json", serde_json::to_string(&proof).unwrap());
    let page = ["report", "all.jsonl", "--verdicts", "proof.json", "--devices", "all", "-o", "page.html"];
    Ran::by(recorded.tool().args(page)).quiet(0);
    let page = std::fs::read_to_string(recorded.home.join("page.html")).unwrap();
    assert!(
        page.contains("<td>repair needed") && page.contains("adreno-650") && page.len() < 2_000_000,
        "{}",
        page.len()
    );
    let text = Ran::by(recorded.tool().args(["prove", "all.jsonl", "--limit", "0"])).quiet(0);
    assert!(text.contains("repair needed") && text.contains("instead of"), "{text}");
}

/// A program of each state ends with status 1 where the driver is wrong, and with 0 under the layer and in its legal form.
#[test]
fn programs_fail_without_the_layer_and_pass_with_it() {
    let Some(recorded) = Recorded::new() else { return };
    if !Path::new("/usr/include/vulkan/vulkan.h").is_file() || Command::new("c++").arg("--version").output().is_err() {
        skip("there is no C++ compiler with the Vulkan headers");
        return;
    }
    let proof = Ran::by(recorded.tool().args(["prove", "all.jsonl", "--json"])).json(0);
    let home = recorded.home.path();
    let mut tried = 0;
    for pair in proof["pairs"].as_array().unwrap() {
        let verdict = pair["verdict"].as_str().unwrap();
        if verdict == "no reference" {
            continue;
        }
        let (fingerprint, line) = (pair["fingerprint"].as_str().unwrap(), pair["line"].to_string());
        let arguments = ["reproduce", "all.jsonl", "--object", fingerprint, "--line", &line, "-o", "pair.cpp"];
        Ran::by(recorded.tool().args(arguments)).quiet(0);
        let compiled = |legal: &str, name: &str| {
            let arguments = ["-std=c++17", "-Wall", "-Werror", legal, "pair.cpp", "-o", name, "-ldl"];
            let ran = Ran::by(Command::new("c++").args(arguments).current_dir(home));
            assert_eq!(ran.code, 0, "{pair:#}\n{}", ran.stderr);
        };
        compiled("-DLEGAL=0", "pair");
        compiled("-DLEGAL=1", "legal");
        let run = |name: &str| {
            let mut command = Command::new(home.join(name));
            let ran = recorded.vulkan.drive(&mut command).output();
            Ran::of(&ran.unwrap())
        };
        let with =
            recorded.tool().args(["run", "--quiet", "--trace", "with.jsonl", "--overwrite", "--", "./pair"]).output();
        let (asked, with, legal) = (run("pair"), Ran::of(&with.unwrap()), run("legal"));
        let what = format!("{pair:#}\n{}\n{}{}\n{}", asked.stdout, with.stdout, with.stderr, legal.stdout);
        assert_eq!((with.code, legal.code), (0, 0), "{what}");
        match verdict {
            "repair needed" => assert_ne!(asked.code, 0, "{what}"),
            "holds" => assert_eq!(asked.code, 0, "{what}"),
            _ => {}
        }
        tried += 1;
    }
    assert!(tried >= 4, "{tried} programs of {proof:#}");
}

/// What is measured of a driver is what the layer knows of it, if it knows the driver.
#[test]
fn quirks_are_measured_and_known() {
    let Some(vulkan) = vulkan() else { return };
    let home = Folder::new();
    let run = |arguments: &[&str]| Ran::by(vulkan.tool(&home).args(arguments));
    let said = run(&["prove", "--quirks", "own.toml"]).quiet(0);
    let text = home.read("own.toml");
    let file: toml::Table = text.parse().unwrap();
    let measured: Vec<&str> = file["quirks"].as_table().unwrap().keys().map(String::as_str).collect();
    assert!(!measured.is_empty() && measured.iter().all(|quirk| said.contains(quirk)), "{text}{said}");
    assert!(
        file["measured_on"].as_str().unwrap().contains("Vulkan") && file["driver_id"].as_integer() > Some(0),
        "{text}"
    );
    let caps = run(&["caps", "--json"]).json(0);
    let mut known: Vec<&str> = caps[0]["quirks"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    known.sort_unstable();
    if known.is_empty() {
        skip("nothing is known of this driver");
        return;
    }
    assert_eq!(measured, known, "{text}");
    // A capability file of this device has them as well.
    run(&["caps", "--save", "own.json"]).quiet(0);
    let saved = run(&["caps", "./own.json"]).quiet(0);
    assert!(known.iter().all(|quirk| saved.contains(&format!("quirk {quirk}: "))), "{saved}");
}

/// The application's names stay out of a program unless they are asked for, and cannot end its comments.
#[test]
fn names_are_written_only_when_asked_for() {
    let home = Folder::new();
    let all = text_in("all.jsonl");
    let pair = all.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let pair = pair.filter(|record| record["event"] == "pair" && !record["names"]["sampler"].is_null());
    let name = pair.map(|pair| pair["names"]["sampler"].as_str().unwrap().to_owned()).next().expect("a named sampler");
    let evil = "end\\\n*/ of it";
    home.write("all.jsonl", all.replace(&serde_json::to_string(&name).unwrap(), &serde_json::to_string(evil).unwrap()));
    for (file, is_comment) in [("pair.cpp", "//"), ("pair.rs", "//!")] {
        let plain = samplin_in(&home, ["reproduce", "all.jsonl", "--object", evil, "-o", file]);
        assert_eq!(plain.code, 0, "{}", plain.stderr);
        assert!(!home.read(file).contains("of it"));
        samplin_in(&home, ["reproduce", "all.jsonl", "--object", evil, "-o", file, "--names"]).quiet(0);
        let text = home.read(file);
        let line = text.lines().find(|line| line.contains("of it")).expect("the name");
        assert!(line.starts_with(is_comment) && !line.contains('\\'), "{line}");
    }
}

/// A decision that a trace records as it was carried out, but that the rules do not make, fails the run. The pair's own record is edited, so
/// that it is of a layer that decides wrongly and tells so.
#[test]
fn decisions_that_the_rules_do_not_make_are_noticed() {
    let Some(recorded) = Recorded::new() else { return };
    let all = std::fs::read_to_string(recorded.home.join("all.jsonl")).unwrap();
    let change = |rule: &str, catalog: &str, field: &str, [from, to]: [&str; 2]| {
        let (from, to) = (Value::from(from), Value::from(to));
        json!({ "rule": rule, "catalog": catalog, "field": field, "from": from, "to": to, "because": "", "lost": "", "vuid": null })
    };
    let nearest = ["VK_FILTER_LINEAR", "VK_FILTER_NEAREST"];
    let mut edited = [0; 3];
    let lines = all.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let is_legal = record["changes"] == json!([]);
        // A border of another colour than the one that was asked for.
        for change in record["changes"].as_array_mut().into_iter().flatten() {
            if change["from"] == "VK_BORDER_COLOR_INT_OPAQUE_WHITE" {
                change["to"] = Value::from("VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK");
                edited[2] += 1;
            }
        }
        match record["format"].as_str() {
            _ if record["event"] != "pair" => {}
            // A legal one that is changed.
            Some("VK_FORMAT_R8G8B8A8_UNORM") if is_legal && record["path"] == "update" => {
                record["changes"] = json!([change("linear-filter", "B-1", "magFilter", nearest)]);
                edited[0] += 1;
            }
            // An illegal one that is not, or otherwise.
            Some("VK_FORMAT_R32_UINT") if !is_legal => {
                for change in record["changes"].as_array_mut().unwrap() {
                    let from = change["from"].clone();
                    if change["field"] == "magFilter" {
                        change["to"] = from;
                        edited[1] += 1;
                    }
                }
            }
            _ => {}
        }
        record.to_string() + "\n"
    });
    let text: String = lines.collect();
    assert!(edited.iter().all(|count| *count > 0), "{edited:?}");
    recorded.home.write("edited.jsonl", text);
    let otherwise = |trace: &str, code| {
        let ran = recorded.tool().args(["prove", trace, "--json"]).output().unwrap();
        let proof = Ran::of(&ran).json(code);
        let pairs = proof["pairs"].as_array().unwrap().clone();
        pairs.into_iter().filter(|pair| pair["observed"].as_str().unwrap().contains("decided otherwise")).collect()
    };
    let clean: Vec<Value> = otherwise("all.jsonl", 0);
    assert_eq!(clean, Vec::<Value>::new());
    let wrong: Vec<Value> = otherwise("edited.jsonl", 1);
    assert!(wrong.iter().all(|pair| pair["verdict"] == "repair does not hold"), "{wrong:#?}");
    let has = |format: &str, said: &str| {
        wrong.iter().any(|pair| pair["view"]["format"] == format && pair["observed"].as_str().unwrap().contains(said))
    };
    assert!(has("VK_FORMAT_R8G8B8A8_UNORM", "VK_FILTER_NEAREST recorded, no change by the rules"), "{wrong:#?}");
    assert!(has("VK_FORMAT_R8G8B8A8_UNORM", "FLOAT_OPAQUE_BLACK recorded"), "{wrong:#?}");
    assert!(has("VK_FORMAT_R32_UINT", "VK_FILTER_LINEAR recorded, VK_FILTER_NEAREST by the rules"), "{wrong:#?}");
    // A prediction for another device decides otherwise, and is not held against the record.
    let ran = recorded.tool().args(["prove", "edited.jsonl", "--json", "--device", "adreno-650"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&ran.stdout).contains("decided otherwise"));
}
