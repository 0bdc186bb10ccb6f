//! Reading the layer's JSON-lines trace.

use serde_json::Value;
use std::path::Path;

/// One change of a `sampler`, `pair` or `blit` record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedChange {
    /// Stable rule name, e.g. `linear-filter`.
    pub rule: String,
    /// Catalogue id, e.g. `B-1`.
    pub catalog: String,
    /// VUID; empty when the rule has none.
    pub vuid: String,
    /// Changed field in the specification's spelling.
    pub field: String,
    /// Old value as text.
    pub from: String,
    /// New value as text.
    pub to: String,
    /// Why.
    pub because: String,
    /// What the application no longer gets; empty when nothing.
    pub lost: String,
}

/// The parsed records of a trace file, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// One JSON object per line.
    pub records: Vec<Value>,
}

impl Trace {
    /// Reads a trace file.
    /// The error is a sentence with the path, and the line number where a line is no JSON object with an `event`.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}:{error}", path.display()))
    }

    /// Parses the text of a trace.
    /// The error is `line: what is wrong with it`, lines counted from 1.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut records = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let record: Value = serde_json::from_str(line).map_err(|error| format!("{number}: {error}"))?;
            if record.get("event").and_then(Value::as_str).is_none() {
                return Err(format!("{number}: no event in {line}"));
            }
            records.push(record);
        }
        Ok(Self { records })
    }

    /// The records of one event, oldest first.
    pub fn events<'t>(&'t self, event: &'t str) -> impl Iterator<Item = &'t Value> {
        self.records.iter().filter(move |record| record["event"] == event)
    }

    /// The first record of an event.
    /// Panics when there is none.
    pub fn first(&self, event: &str) -> &Value {
        let found = self.records.iter().find(|record| record["event"] == event);
        found.unwrap_or_else(|| panic!("the trace has no {event} record: {self:#?}"))
    }

    /// All changes of all records, in order.
    pub fn changes(&self) -> Vec<RecordedChange> {
        self.records.iter().flat_map(changes).collect()
    }

    /// Whether some record has a change by this rule.
    pub fn has_rule(&self, rule: &str) -> bool {
        self.changes().iter().any(|change| change.rule == rule)
    }
}

/// The `changes` of one record, empty when it has none.
pub fn changes(record: &Value) -> Vec<RecordedChange> {
    let list = record.get("changes").and_then(Value::as_array);
    list.into_iter().flatten().map(change).collect()
}

fn change(value: &Value) -> RecordedChange {
    let text = |key: &str| match value.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    RecordedChange {
        rule: text("rule"),
        catalog: text("catalog"),
        vuid: text("vuid"),
        field: text("field"),
        from: text("from"),
        to: text("to"),
        because: text("because"),
        lost: text("lost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_from_any_record() {
        let text = concat!(
            "{\"seq\":1,\"event\":\"layer\"}\n",
            "{\"seq\":2,\"event\":\"pair\",\"changes\":[{\"rule\":\"linear-filter\",\"catalog\":\"B-1\",",
            "\"field\":\"magFilter\",\"from\":\"VK_FILTER_LINEAR\",\"to\":\"VK_FILTER_NEAREST\",\"lost\":null}]}\n",
        );
        let trace = Trace::parse(text).expect("well-formed");
        assert_eq!(trace.events("pair").count(), 1);
        assert!(trace.has_rule("linear-filter"));
        assert_eq!(trace.changes()[0].lost, "");
        assert_eq!(Trace::parse("{\"event\":\"x\"}\nnot json").unwrap_err().split(':').next(), Some("2"));
    }
}
