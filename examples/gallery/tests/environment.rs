//! What the gallery hands on to its processes, of the environment it was started in, and what its cases set themselves.

use samplin_testkit::{Trace, layer, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The settings that the layer was in force with, as `(value, source)` by their names; nothing if the case cannot run here.
fn settings(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<Value> {
    let trace = draw(name, "r32-uint-linear", arguments, variables)?;
    let record = trace.events("layer").next().expect("the layer was there");
    Some(record["settings"].clone())
}

/// The trace of one case; nothing if it cannot run here.
fn draw(name: &str, case: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<Trace> {
    Some(drawn(name, case, arguments, variables)?.0)
}

/// The trace of one case and what `--json` says of it; nothing if it cannot run here.
fn drawn(name: &str, case: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<(Trace, Value)> {
    if let Err(why) = layer::locate() {
        assert!(std::env::var_os("CI").is_none(), "{why}");
        skip(why);
        return None;
    }
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    let output = Command::new(env!("CARGO_BIN_EXE_gallery"))
        .args(["--no-validation", "--json", "--only", case, "--out"])
        .arg(&picture)
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let trace = Trace::read(&picture.with_extension("jsonl")).expect("a trace beside the picture");
    Some((trace, report["cases"][0].clone()))
}

#[test]
fn the_callers_settings_reach_the_layer() {
    let variables = [("SAMPLIN_TRACE_LEVEL", "all"), ("SAMPLIN_BORDER", "strict")];
    let Some(settings) = settings("callers", &[], &variables) else { return };
    assert_eq!(settings["trace_level"]["value"], "all", "{settings:#}");
    assert_eq!(settings["trace_level"]["source"], "environment", "{settings:#}");
    assert_eq!(settings["border"]["value"], "strict", "{settings:#}");
    assert_eq!(settings["border"]["source"], "environment", "{settings:#}");
}

#[test]
fn what_the_gallery_sets_itself_stays() {
    // Its own trace is where it reads the reasons, and a setting on its command line was asked for last.
    let variables = [("SAMPLIN_TRACE", "off"), ("SAMPLIN_TRACE_LEVEL", "all"), ("VK_INSTANCE_LAYERS", layer::SAMPLIN)];
    let Some(settings) = settings("own", &["--setting", "trace_level=summary"], &variables) else { return };
    assert_eq!(settings["trace_level"]["value"], "summary", "{settings:#}");
    assert_eq!(settings["trace_level"]["source"], "application", "{settings:#}");
}

#[test]
fn what_only_the_shader_joins_is_repaired() {
    for (case, how) in [("separate", "shadow"), ("separate-shared", "split"), ("separate-sets", "shadow")] {
        let Some(trace) = draw(case, case, &[], &[]) else { return };
        let pairs: Vec<_> = trace.events("pair").map(|pair| (&pair["path"], &pair["how"], &pair["format"])).collect();
        assert_eq!(pairs, [(&"draw".into(), &how.into(), &"VK_FORMAT_R32_UINT".into())], "{case}: the bad image alone");
        assert_eq!(trace.events("unresolved").count(), 0, "{case}");
        // What the command line says counts more than what the case says.
        let Some(trace) = draw(&format!("{case}-base"), case, &["--setting", "separate=base"], &[]) else { return };
        let left: Vec<_> = trace.events("unresolved").map(|record| record["what"].clone()).collect();
        assert_eq!((trace.events("pair").count(), left), (0, vec!["separate samplers".into()]), "{case}");
    }
}

#[test]
fn a_case_about_a_setting_has_the_layer_in_both_halves() {
    let Some((trace, report)) = drawn("contrast", "r32f-linear", &[], &[]) else { return };
    assert_eq!(report["contrast"], "unfilterable=nearest");
    assert!(report["differing"].as_f64().is_some_and(|share| share > 0.5), "{report:#}");
    let own = |record: &Value| record["settings"]["unfilterable"]["value"] == "emulate";
    assert!(trace.events("layer").all(own), "the right half's trace alone: {trace:#?}");
    assert_eq!(trace.events("shader").filter(|record| record["pass"] == "filter").count(), 1, "{trace:#?}");
    assert_eq!(trace.events("unresolved").count(), 0, "{trace:#?}");
    // What the caller sets is the right half's.
    let caller = ["--setting", "unfilterable=nearest"];
    let Some((trace, both)) = drawn("contrast-set", "r32f-linear", &caller, &[]) else { return };
    assert_eq!((&both["differing"], trace.events("shader").count()), (&0.0.into(), 0), "{both:#}");
    assert_eq!(both["without"], report["without"]);
    let Some((_, kept)) = drawn("contrast-kept", "r32f-linear", &[], &[("SAMPLIN_UNFILTERABLE", "emulate")]) else {
        return;
    };
    assert_eq!((&kept["without"], &kept["with"]), (&report["without"], &report["with"]));
}

#[test]
fn an_immutable_sampler_is_split() {
    let Some((trace, report)) = drawn("immutable", "immutable", &[], &[]) else { return };
    let pairs: Vec<_> = trace.events("pair").map(|pair| (&pair["how"], &pair["format"])).collect();
    assert_eq!(pairs, [(&"split".into(), &"VK_FORMAT_R32_SFLOAT".into())], "the image that cannot be filtered alone");
    assert_eq!((trace.events("unresolved").count(), &report["contrast"]), (0, &Value::Null), "{report:#}");
    let Some(trace) = draw("immutable-base", "immutable", &["--setting", "immutable=base"], &[]) else { return };
    let left: Vec<_> = trace.events("unresolved").map(|record| record["what"].clone()).collect();
    assert_eq!((left, trace.events("shader").count()), (vec!["immutable sampler".into()], 0));
}

#[test]
fn counters_of_opengl_count() {
    let Some((trace, report)) = drawn("counters", "gl-counters", &[], &[]) else { return };
    assert!(report["without"]["lacking"].as_str().is_some_and(|why| why.contains("atomic counters")), "{report:#}");
    // Integers only, so that every driver paints the same.
    assert_eq!(report["with"]["checksum"], "9fb4276e1db16eb9");
    let passes: Vec<_> = trace.events("shader").map(|record| &record["pass"]).collect();
    assert_eq!((passes, trace.events("unresolved").count()), (vec![&"atomic_counters".into()], 0));
}

#[test]
fn what_the_compiler_made_up_is_not_believed() {
    let Some(trace) = draw("store", "hlsl-store", &[], &[]) else { return };
    assert!(!trace.changes().is_empty() && trace.changes().iter().all(|change| change.catalog == "H-4"), "{trace:#?}");
    // Without the setting it is named, and nothing is done about it.
    let Some(trace) = draw("store-base", "hlsl-store", &["--setting", "storage=base"], &[]) else { return };
    let left: Vec<_> = trace.events("unresolved").map(|record| record["what"].clone()).collect();
    assert_eq!((trace.events("shader").count(), left), (0, vec!["declared-format".into()]));
}

#[test]
fn what_the_device_cannot_store_is_stored_all_the_same() {
    let Some((trace, report)) = drawn("lamps", "r11g11b10-store", &[], &[]) else { return };
    assert_eq!(report["contrast"], "device_visible=on");
    let refused = report["without"]["lacking"].as_str();
    assert!(refused.is_some_and(|why| why.contains("cannot store to R11G11B10F")), "{report:#}");
    let changes = trace.changes();
    assert!(!changes.is_empty() && changes.iter().all(|change| change.catalog == "H-5"), "{changes:#?}");
    assert_eq!(trace.events("unresolved").count(), 0, "{trace:#?}");
}

#[test]
fn one_sample_needs_no_sample_shading() {
    let Some((trace, report)) = drawn("samples", "one-sample", &[], &[]) else { return };
    assert_eq!(report["differing"], 0.0, "{report:#}");
    assert!(trace.changes().iter().all(|change| change.catalog == "J-2"), "{trace:#?}");
    assert_eq!((trace.events("shader").count(), trace.events("unresolved").count()), (2, 0), "module and pipeline");
}
