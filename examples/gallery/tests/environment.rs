//! What the gallery hands on to its processes, of the environment it was started in.

use samplin_testkit::{Trace, layer, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The settings that the layer was in force with, as `(value, source)` by their names; nothing if the case cannot run here.
fn settings(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<Value> {
    if let Err(why) = layer::locate() {
        assert!(std::env::var_os("CI").is_none(), "{why}");
        skip(why);
        return None;
    }
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    let output = Command::new(env!("CARGO_BIN_EXE_gallery"))
        .args(["--no-validation", "--only", "r32-uint-linear", "--out"])
        .arg(&picture)
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = Trace::read(&picture.with_extension("jsonl")).expect("a trace beside the picture");
    let record = trace.events("layer").next().expect("the layer was there");
    Some(record["settings"].clone())
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
