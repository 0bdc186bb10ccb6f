//! `samplin inspect --object`: the whole story of one object.

use std::collections::BTreeSet;

use samplin_core::left::Left;
use samplin_wire::read;
use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table};
use crate::trace::links;
use crate::trace::reader::{Event, Record, TraceSource};
use crate::trace::record::{self, RecordedChange, grouped, listed, short};

/// How many records of a story are kept.
const LONGEST: usize = 10_000;

/// What only a trace of the level `all` has.
const PARTIAL: &str = "The trace holds only what was changed, and names the first of the samplers that ask for the same; \
    `--set trace_level=all` records every sampler and pair.";

/// How many names are offered when none fits.
const SUGGESTIONS: usize = 5;

/// How the object is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectName {
    /// A handle, in the trace's spelling.
    Handle(String),
    /// A fingerprint.
    Fingerprint(String),
    /// A debug name.
    Name(String),
}

impl ObjectName {
    pub(crate) fn of(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        if let Some(digits) = lower.strip_prefix("0x")
            && let Ok(handle) = u64::from_str_radix(digits, 16)
        {
            return Self::Handle(format!("{handle:#x}"));
        }
        if lower.len() == 16 && lower.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Self::Fingerprint(lower);
        }
        Self::Name(text.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Handle(text) | Self::Fingerprint(text) | Self::Name(text) => text,
        }
    }

    /// What the bytes of every line about the object hold, for a quick first look.
    fn needle(&self) -> String {
        // As JSON writes it.
        serde_json::to_string(self.text()).unwrap_or_default()
    }
}

/// One record about the object.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    trace: String,
    line: u64,
    /// What the object is in the record: `sampler`, `view`, `variant`, `conversion`, `image`, `device`, `pipeline` or `fingerprint`.
    role: &'static str,
    record: Value,
}

#[derive(Debug, Default, Serialize)]
struct Story {
    entries: Vec<Entry>,
    /// Records beyond the limit.
    left_out: u64,
    /// Handles under which the object went.
    handles: BTreeSet<String>,
    /// Fingerprints of its state.
    fingerprints: BTreeSet<String>,
    /// Debug names.
    names: BTreeSet<String>,
    /// Whether the traces hold every sampler and pair, not only what was changed.
    complete: bool,
    #[serde(skip)]
    other_names: BTreeSet<String>,
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read.
pub fn run(sources: &[TraceSource], object: &str, output: &mut Output) -> Result {
    let wanted = ObjectName::of(object);
    if wanted.text().is_empty() {
        return Err(Failure::usage("--object needs a handle, a debug name or a fingerprint"));
    }
    let mut story = Story::default();
    for source in sources {
        let needle = wanted.needle();
        let finder = memchr::memmem::Finder::new(needle.as_bytes());
        let name = source.name();
        source.read(true, |record| {
            if record.event == Event::Layer {
                let layer: Option<Value> = serde_json::from_slice(record.text).ok();
                story.complete |= layer.is_some_and(|layer| read::setting(&layer, "trace_level") == Some("all"));
            }
            if matches!(wanted, ObjectName::Name(_)) {
                story.remember_names(record);
            }
            if finder.find(record.text).is_some() {
                story.consider(&name, &wanted, record);
            }
            Ok(())
        })?;
    }
    if story.entries.is_empty() {
        return Err(nothing(&wanted, &story));
    }
    if output.json {
        output.json(&serde_json::json!({ "object": wanted, "story": story }));
    } else {
        print(&wanted, &story, output);
    }
    Ok(Outcome::Fine)
}

fn nothing(wanted: &ObjectName, story: &Story) -> Failure {
    let failure = Failure::input(format!("no record is about {}", wanted.text()));
    let ObjectName::Name(name) = wanted else {
        return if story.complete { failure } else { failure.hint(PARTIAL) };
    };
    let lower = name.to_lowercase();
    let is_near = |other: &str| other.to_lowercase().contains(&lower) || lower.contains(&other.to_lowercase());
    let names: Vec<String> = story.other_names.iter().map(|name| format!("\"{name}\"")).collect();
    let near: Vec<&String> = names.iter().filter(|name| is_near(name.trim_matches('"'))).collect();
    if !near.is_empty() {
        failure.hint(format!("there is {}", listed(&near, SUGGESTIONS)))
    } else if story.other_names.is_empty() {
        failure.hint("no object in the trace has a debug name; use a handle (0x…) or a fingerprint")
    } else {
        failure.hint(format!("names in the trace: {}", listed(&names, SUGGESTIONS)))
    }
}

impl Story {
    fn remember_names(&mut self, record: &Record<'_>) {
        if self.other_names.len() >= 10_000 {
            return;
        }
        let names: Value = record.fields.names.parse().unwrap_or_default();
        let own = record.fields.name.text().map(std::borrow::Cow::into_owned);
        let of_pair = names.as_object().into_iter().flat_map(|names| names.values());
        self.other_names.extend(of_pair.filter_map(Value::as_str).map(str::to_owned).chain(own));
    }

    fn consider(&mut self, trace: &str, wanted: &ObjectName, record: &Record<'_>) {
        let Ok(value) = serde_json::from_slice::<Value>(record.text) else { return };
        let is = |pointer: &str| value.pointer(pointer).and_then(Value::as_str) == Some(wanted.text());
        let roles: &[(&str, &'static str)] = match wanted {
            ObjectName::Handle(_) => &[
                ("/sampler", "sampler"),
                ("/view", "view"),
                ("/variant", "variant"),
                ("/conversion", "conversion"),
                ("/state/ycbcrConversion", "conversion"),
                ("/image", "image"),
                ("/device", "device"),
                ("/pipeline", "pipeline"),
            ],
            ObjectName::Fingerprint(_) => &[("/fingerprint", "fingerprint")],
            ObjectName::Name(_) => &[("/name", "sampler"), ("/names/sampler", "sampler"), ("/names/view", "view")],
        };
        let Some((_, role)) = roles.iter().find(|(pointer, _)| is(pointer)) else { return };
        let note = |set: &mut BTreeSet<String>, pointer: &str| {
            if let Some(text) = value.pointer(pointer).and_then(Value::as_str) {
                set.insert(text.to_owned());
            }
        };
        match *role {
            "sampler" | "fingerprint" => {
                note(&mut self.handles, "/sampler");
                note(&mut self.fingerprints, "/fingerprint");
                note(&mut self.names, "/name");
                note(&mut self.names, "/names/sampler");
            }
            "view" => {
                note(&mut self.handles, "/view");
                note(&mut self.names, "/names/view");
            }
            _ => {}
        }
        if self.entries.len() >= LONGEST {
            self.left_out += 1;
            return;
        }
        self.entries.push(Entry { trace: trace.to_owned(), line: record.line, role, record: value });
    }
}

fn print(wanted: &ObjectName, story: &Story, output: &mut Output) {
    let role = story.entries.first().map_or("object", |entry| match entry.role {
        "fingerprint" => "samplers of fingerprint",
        role => role,
    });
    output.styled_line(Style::Heading, format!("The {role} {}", wanted.text()));
    let mut table = Table::new(2);
    for (key, set) in [("handles", &story.handles), ("fingerprints", &story.fingerprints), ("names", &story.names)] {
        let says_nothing = set.is_empty() || (set.len() == 1 && set.contains(wanted.text()));
        if !says_nothing {
            let names: Vec<&String> = set.iter().collect();
            table.row([Cell::new(key).style(Style::Dim), Cell::new(listed(&names, 8))]);
        }
    }
    output.table(&table);
    let many = story.entries.windows(2).any(|pair| matches!(pair, [a, b] if a.trace != b.trace));
    for entry in &story.entries {
        output.line("");
        let time = entry.record.get("t_ns").and_then(Value::as_u64).map(record::duration).unwrap_or_default();
        let position = if many { format!("{}:{}", entry.trace, entry.line) } else { format!("line {}", entry.line) };
        let head = format!("{time} · {position}");
        let head = output.styled(Style::Dim, head);
        output.line(format!("{head}  {}", headline(entry)));
        details(entry, output);
    }
    output.line("");
    if story.left_out > 0 {
        output.styled_line(Style::Warn, format!("{} later records are left out", grouped(story.left_out)));
    }
    if !story.complete {
        output.styled_line(Style::Dim, PARTIAL);
    }
}

fn text<'v>(record: &'v Value, pointer: &str) -> Option<&'v str> {
    record.pointer(pointer).and_then(Value::as_str)
}

/// `"name"` or the handle.
fn called(record: &Value, name: &str, handle: &str) -> String {
    match (text(record, name), text(record, handle)) {
        (Some(name), Some(handle)) => format!("\"{name}\" ({handle})"),
        (Some(name), None) => format!("\"{name}\""),
        (None, handle) => handle.unwrap_or("?").to_owned(),
    }
}

fn changes(record: &Value) -> Vec<RecordedChange> {
    record.get("changes").cloned().and_then(|changes| serde_json::from_value(changes).ok()).unwrap_or_default()
}

fn headline(entry: &Entry) -> String {
    let record = &entry.record;
    let changed = changes(record).iter().any(|change| !change.is_held());
    match text(record, "/event") {
        Some("sampler") if changed => "created, changed at once".to_owned(),
        Some("sampler") => "created, legal by itself".to_owned(),
        Some("pair") => {
            let view = format!(
                "{} {} view",
                short(text(record, "/format").unwrap_or("?")),
                text(record, "/view_type").map(short).unwrap_or("")
            );
            let other = if entry.role == "view" {
                format!("sampler {}", called(record, "/names/sampler", "/sampler"))
            } else {
                format!("{view} {}", called(record, "/names/view", "/view"))
            };
            let fate = match (changed, text(record, "/variant")) {
                (true, Some(variant)) => match text(record, "/how") {
                    Some(how) => format!("replaced by {variant} ({how})"),
                    None => format!("replaced by {variant}"),
                },
                (true, None) => "illegal, left as it is".to_owned(),
                (false, Some(variant)) => format!("replaced by {variant}"),
                (false, None) => "legal".to_owned(),
            };
            format!("met {other} by {}: {fate}", text(record, "/path").unwrap_or("?"))
        }
        Some("unresolved") => format!("unresolved: {}", text(record, "/what").unwrap_or("?")),
        Some(created @ ("conversion" | "image" | "view")) => format!("{created} created"),
        Some("shader") if record.get("pipeline").is_none() => {
            let [module, pass] = ["/module", "/pass"].map(|member| text(record, member).unwrap_or("?"));
            format!("module {module} rewritten: {pass}")
        }
        Some("shader") => {
            let stage = text(record, "/stage").map_or("?", short).trim_end_matches("_BIT").to_lowercase();
            let pass = text(record, "/pass").unwrap_or("?");
            format!("{stage} shader of pipeline {} rewritten: {pass}", text(record, "/pipeline").unwrap_or("?"))
        }
        Some(event) => event.to_owned(),
        None => String::new(),
    }
}

fn details(entry: &Entry, output: &mut Output) {
    let record = &entry.record;
    let mut table = Table::new(4);
    if let Some(state) = record.get("state").and_then(Value::as_object) {
        let members: Vec<_> = state.iter().map(|(key, value)| format!("{key} {}", record::value(value))).collect();
        for (index, chunk) in members.chunks(5).enumerate() {
            let key = if index == 0 { "asked for" } else { "" };
            table.row([Cell::new(key).style(Style::Dim), Cell::new(chunk.join(", "))]);
        }
    }
    for change in &changes(record) {
        if change.is_held() {
            let held = format!("held back: {}", change.held());
            table.row([Cell::new(&change.rule).style(Style::Name), Cell::new(held)]);
            continue;
        }
        table.row([Cell::new(&change.rule).style(Style::Name), Cell::new(change.brief())]);
        table.row([Cell::new(""), Cell::new(format!("because {}", change.because)).style(Style::Dim)]);
        if !change.lost.is_empty() {
            table.row([Cell::new(""), Cell::new(format!("lost: {}", change.lost)).style(Style::Dim)]);
        }
        if let Some(vuid) = &change.vuid {
            table.row([Cell::new(""), Cell::new(vuid).style(Style::Dim)]);
        }
    }
    if let Some(link) = record.get("link").and_then(read::link) {
        let name = text(record, "/pipeline_name").map(|name| format!(" “{name}”")).unwrap_or_default();
        let pipeline = text(record, "/pipeline").unwrap_or("?");
        let joined = format!("{}, pipeline {pipeline}{name}", links::describe(&link));
        table.row([Cell::new("joined by").style(Style::Dim), Cell::new(joined)]);
    }
    if let Some(draw) = read::draw(record).flatten() {
        table.row([Cell::new("first met").style(Style::Dim), Cell::new(links::draw(&draw))]);
    }
    if let Some(words) = text(record, "/how").and_then(links::how) {
        table.row([Cell::new("how").style(Style::Dim), Cell::new(words)]);
    }
    if text(record, "/event") == Some("unresolved") {
        let rule = text(record, "/rule").unwrap_or("");
        table.row([Cell::new(rule).style(Style::Name), Cell::new(text(record, "/why").unwrap_or(""))]);
        if let Some(words) = text(record, "/what").and_then(Left::of) {
            let why = text(record, "/why").unwrap_or_default();
            table.row([Cell::new("to do").style(Style::Dim), Cell::new(words.advice_on(why))]);
        }
        if let Some(vuid) = text(record, "/vuid") {
            table.row([Cell::new(""), Cell::new(vuid).style(Style::Dim)]);
        }
    }
    output.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_told_apart() {
        assert_eq!(ObjectName::of("0X0055Ab"), ObjectName::Handle("0x55ab".into()));
        assert_eq!(ObjectName::of("E3bc490f004b8617"), ObjectName::Fingerprint("e3bc490f004b8617".into()));
        assert_eq!(ObjectName::of("shadow map"), ObjectName::Name("shadow map".into()));
        assert_eq!(ObjectName::of("0xghost"), ObjectName::Name("0xghost".into()));
    }
}
