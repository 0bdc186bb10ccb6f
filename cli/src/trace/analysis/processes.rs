//! Who wrote the records: processes and their settings.

use samplin_wire::read::{self, Setting};
use serde_json::Value;

use super::Analysis;
use crate::trace::record;

impl Analysis {
    /// A line for each process, `vkcube (4711), Vulkan 1.0.0, samplin 0.1.0`; one for all that differ by their number alone.
    pub fn processes(&self) -> Vec<String> {
        let mut found: Vec<(&str, String, Vec<u32>)> = Vec::new();
        for (pid, layer) in &self.layers {
            let text = |key: &str| layer.get(key).and_then(Value::as_str);
            let exe = text("exe").unwrap_or("?");
            let mut rest = String::new();
            let app = record::named_version(layer.get("app"));
            let engine = record::named_version(layer.get("engine"));
            if let Some(app) = app.filter(|app| Some(app.as_str()) != text("exe")) {
                rest += &format!(", application {app}");
            }
            if let Some(engine) = engine {
                rest += &format!(", engine {engine}");
            }
            if let Some(version) = text("api_version") {
                rest += &format!(", Vulkan {version}");
            }
            rest += &format!(", samplin {}", text("version").unwrap_or("?"));
            match found.iter_mut().find(|seen| (seen.0, &seen.1) == (exe, &rest)) {
                Some((_, _, pids)) => pids.push(*pid),
                None => found.push((exe, rest, vec![*pid])),
            }
        }
        let line = |(exe, rest, mut pids): (&str, String, Vec<u32>)| {
            // An application may create several instances.
            pids.sort_unstable();
            pids.dedup();
            match pids.as_slice() {
                [pid] => format!("{exe} ({pid}){rest}"),
                pids => format!("{exe} ({} processes){rest}", pids.len()),
            }
        };
        found.into_iter().map(line).collect()
    }

    /// The settings that somebody set, as `mode = audit (environment)`, of all processes.
    pub fn settings(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (_, layer) in &self.layers {
            let is_shown = |setting: &Setting<'_>| setting.source != "default" && setting.name != "trace";
            for Setting { name, value, source } in read::settings(layer).filter(is_shown) {
                let line = format!("{name} = {} ({source})", record::value(value));
                if !found.contains(&line) {
                    found.push(line);
                }
            }
        }
        found
    }

    /// The effective value of a setting in the first process.
    pub fn setting(&self, key: &str) -> Option<&str> {
        read::setting(&self.layers.first()?.1, key)
    }
}
