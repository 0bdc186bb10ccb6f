//! SARIF 2.1.0: what code hosts show beside the code.

use samplin_core::decide::{Catalog, Rule, RuleSource as Stands};
use serde_json::{Value, json};

use super::{Finding, Report, SPECIFICATION};
use crate::output::capital;

/// A log of one run.
pub(super) fn log(report: &Report<'_>) -> Value {
    let mut names: Vec<&str> = Vec::new();
    let all = || report.findings.iter().chain(report.allowed.iter().map(|(finding, _)| finding));
    for finding in all() {
        if !names.contains(&finding.rule.as_str()) {
            names.push(&finding.rule);
        }
    }
    let results = report.findings.iter().map(|finding| result(finding, None, &names));
    let allowed = report.allowed.iter().map(|(finding, reason)| result(finding, Some(reason), &names));
    let notes: Vec<Value> =
        report.warnings.iter().map(|text| json!({ "level": "warning", "message": { "text": text } })).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "samplin",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": names.iter().map(|name| rule(name)).collect::<Vec<_>>(),
            } },
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notes }],
            "automationDetails": { "id": format!("{}/", report.command) },
            "columnKind": "unicodeCodePoints",
            "results": results.chain(allowed).collect::<Vec<_>>(),
        }],
    })
}

/// A rule with its help: where it stands, and what is lost.
fn rule(name: &str) -> Value {
    let rows: Vec<Catalog> = Catalog::ALL.iter().copied().filter(|row| row.rule().name() == name).collect();
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut link = None;
    for row in &rows {
        let (text, markdown) = match row.source() {
            Stands::Vuid(vuid) => {
                link = link.or(Some(vuid));
                (vuid.to_owned(), format!("[{vuid}]({SPECIFICATION}{vuid})"))
            }
            Stands::Text(place) => (format!("the specification, {place}"), format!("the specification, {place}")),
            Stands::Layer => ("a rule of samplin's own".to_owned(), "a rule of samplin's own".to_owned()),
        };
        let line =
            |source: String| format!("{}: {source}. Where it is repaired, this is lost: {}.", row.id(), row.lost());
        let line = (line(text), line(markdown));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let about = match Rule::ALL.iter().any(|rule| rule.name() == name) {
        true => format!("samplin's rule {name}: what a sampler, view or shader asks for and the device cannot do"),
        false => "samplin saw something that it leaves as it is".to_owned(),
    };
    let join = |of: fn(&(String, String)) -> &str, mark: &str| {
        let lines: Vec<String> = lines.iter().map(|line| format!("{mark}{}", of(line))).collect();
        if lines.is_empty() { about.clone() } else { lines.join("\n") }
    };
    let mut rule = json!({
        "id": name,
        "name": name.split('-').map(capital).collect::<String>(),
        "shortDescription": { "text": about },
        "fullDescription": { "text": about },
        "help": { "text": join(|line| &line.0, ""), "markdown": join(|line| &line.1, "- ") },
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": ["vulkan", "sampling"] },
    });
    if let Some(vuid) = link {
        rule["helpUri"] = format!("{SPECIFICATION}{vuid}").into();
    }
    rule
}

fn result(finding: &Finding, allowed: Option<&String>, names: &[&str]) -> Value {
    let trace = location(&finding.trace, finding.line);
    let mut locations = vec![trace];
    if let Some(source) = &finding.source {
        locations.insert(0, location(&source.file, source.line.into()));
    }
    let draw = finding.draw.as_ref();
    let (label, draw) =
        (draw.and_then(|draw| draw.label.clone()), draw.map(|of| format!("frame {}, draw {}", of.frame, of.draw)));
    let objects = [("sampler", &finding.sampler), ("view", &finding.view), ("label", &label), ("draw", &draw)];
    let logical: Vec<Value> =
        objects.into_iter().filter_map(|(kind, name)| Some(json!({ "name": name.as_ref()?, "kind": kind }))).collect();
    if let Some(first) = locations.first_mut().filter(|_| !logical.is_empty()) {
        first["logicalLocations"] = logical.into();
    }
    let related: Vec<Value> = locations.split_off(1);
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": names.iter().position(|name| *name == finding.rule),
        "level": if finding.unresolved { "warning" } else { "error" },
        "message": { "text": finding.rest() },
        "locations": locations,
        "partialFingerprints": { "samplinFinding/v2": finding.key() },
        "occurrenceCount": finding.count.max(1),
        "properties": {
            "vuid": finding.vuid,
            "fingerprint": finding.fingerprint,
            "format": finding.format,
            "device": finding.device,
        },
    });
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some(reason) = allowed {
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// A line of a file.
fn location(file: &str, line: u64) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line.max(1) },
    } })
}

/// A path as a relative or absolute reference (RFC 3986, 3.3 and 4.2): what is none of its characters is written in hexadecimal, and a
/// colon as well, before which a scheme would stand.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    if path.starts_with('/') {
        out += "file://";
    }
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' | b'=' | b',' => {
                out.push(byte.into());
            }
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("a b/ü:%.frag"), "a%20b/%C3%BC%3A%25.frag");
        assert_eq!(uri("/x/y.hlsl"), "file:///x/y.hlsl");
        assert_eq!(uri(r"C:\shaders\y.hlsl"), "C%3A/shaders/y.hlsl");
    }
}
