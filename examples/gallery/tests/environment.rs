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
    if let Err(why) = layer::locate() {
        assert!(std::env::var_os("CI").is_none(), "{why}");
        skip(why);
        return None;
    }
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    let output = Command::new(env!("CARGO_BIN_EXE_gallery"))
        .args(["--no-validation", "--only", case, "--out"])
        .arg(&picture)
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(Trace::read(&picture.with_extension("jsonl")).expect("a trace beside the picture"))
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
