//! Where the records come from: when, by which command, under which layer, on which driver.

use serde_json::Value;

use crate::trace::analysis::Analysis;

/// How many different lines of a kind are shown.
const TOLD: usize = 6;

/// Lines of key and value, each once.
pub(super) fn of(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let layers = || analysis.layers.iter().map(|(_, layer)| layer);
    let devices = analysis.devices.iter().map(|(_, device)| device);
    let kinds = [
        ("begun", several(layers().filter_map(started))),
        ("command", several(layers().filter_map(command))),
        ("layer", several(layers().filter_map(layer))),
        ("driver", several(devices.filter_map(driver))),
    ];
    kinds.into_iter().flat_map(|(key, values)| values.into_iter().map(move |value| (key, value))).collect()
}

fn text<'v>(of: &'v Value, pointer: &str) -> Option<&'v str> {
    of.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
}

/// `2026-11-26 12:16:22 UTC`
fn started(layer: &Value) -> Option<String> {
    Some(text(layer, "/started")?.replace('T', " ").replace('Z', " UTC"))
}

/// The arguments as a shell takes them: the first, or all if `trace_identity` says so.
fn command(layer: &Value) -> Option<String> {
    let arguments = layer.get("arguments")?.as_array()?.iter().filter_map(Value::as_str);
    let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into);
    let line = arguments.map(quoted).collect::<Vec<_>>().join(" ");
    let host = text(layer, "/host").map(|host| format!(" (on {host})")).unwrap_or_default();
    (!line.is_empty()).then(|| line + &host)
}

/// `samplin 0.1.0 (8ac3160b99ed)`
fn layer(layer: &Value) -> Option<String> {
    let commit = text(layer, "/commit").map(|commit| format!(" ({commit})")).unwrap_or_default();
    Some(format!("samplin {}{commit}", text(layer, "/version")?))
}

/// `llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)`
fn driver(device: &Value) -> Option<String> {
    let parts = ["/driver/name", "/driver/info"].into_iter().filter_map(|member| text(device, member));
    let line = parts.collect::<Vec<_>>().join(", ");
    (!line.is_empty()).then_some(line)
}

/// The different ones, and how many more there are.
fn several(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    let more = found.len().saturating_sub(TOLD);
    if more > 0 {
        found.truncate(TOLD);
        found.push(format!("and {more} more"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_is_not_told() {
        let mut analysis = Analysis::default();
        assert_eq!(of(&analysis), []);
        analysis.layers = vec![(1, json!({ "version": "0.1.0" })); 2];
        analysis.devices =
            vec![(1, json!({ "driver": null })), (1, json!({ "driver": { "name": "", "info": "x 1" } }))];
        assert_eq!(of(&analysis), [("layer", "samplin 0.1.0".to_owned()), ("driver", "x 1".to_owned())]);
    }

    #[test]
    fn many_processes_are_not_all_told() {
        let layer =
            |n: usize| (1, json!({ "started": format!("2026-11-26T12:16:{n:02}Z"), "arguments": ["a b", "c"] }));
        let mut analysis = Analysis::default();
        analysis.layers = (0..9).map(layer).collect();
        let rows = of(&analysis);
        assert_eq!(rows.first().unwrap().1, "2026-11-26 12:16:00 UTC");
        assert_eq!(rows.get(6).unwrap().1, "and 3 more");
        assert_eq!(rows.get(7).unwrap(), &("command", "'a b' c".to_owned()));
    }
}
