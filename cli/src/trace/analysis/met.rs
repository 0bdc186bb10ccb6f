//! What records come to one by one: decisions and what is unresolved, each with its first position and its count.

use std::sync::Arc;

use samplin_wire::kinds::RuleAt;
use samplin_wire::record::{Draw, Link, SourceLine};
use serde::Serialize;

use crate::trace::record::RecordedChange;

/// Where something was first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Index of the trace among those given.
    pub trace: usize,
    /// Its line, from 1.
    pub line: u64,
    /// Nanoseconds since the process loaded the layer.
    pub t_ns: u64,
}

/// A decision, and how often it was taken.
#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    /// `pair`, `sampler`, `blit`, `conversion` or `shader`.
    pub event: &'static str,
    /// The device, where there are several: in tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Fingerprint of the sampler.
    pub fingerprint: Option<String>,
    /// Format of the view, of a blit's source or of a conversion.
    pub format: Option<String>,
    /// Aspect of the view.
    pub aspect: Option<String>,
    /// Type of the view.
    pub view_type: Option<String>,
    /// Component mapping of the view.
    pub swizzle: Option<String>,
    /// How a pair reached the layer.
    pub path: Option<String>,
    /// Where a shader finds image and sampler, if only it joins them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Where the shader does, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// What the shader was given another sampler by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// The draw at which it was first met, if it was met at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// What was changed.
    #[serde(serialize_with = "changes_as_list")]
    pub changes: Arc<[RecordedChange]>,
    /// Wishes of overrides that a guard held back. What has no other changes is no finding.
    #[serde(skip_serializing_if = "is_empty", serialize_with = "changes_as_list")]
    pub held: Arc<[RecordedChange]>,
    /// Whether a variant took the sampler's place (a pair), or the change was made (others).
    pub applied: bool,
    /// Whether a blit gives the same result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless: Option<bool>,
    /// Handle of the first sampler or conversion.
    pub sampler: Option<String>,
    /// Handle of the first view.
    pub view: Option<String>,
    /// Name of the first sampler.
    pub sampler_name: Option<String>,
    /// Name of the first view.
    pub view_name: Option<String>,
    /// Where it was first met.
    pub first: Position,
    /// How many records say so.
    pub count: u64,
}

fn changes_as_list<S: serde::Serializer>(changes: &Arc<[RecordedChange]>, serializer: S) -> Result<S::Ok, S::Error> {
    changes.as_ref().serialize(serializer)
}

/// Something that a rules file leaves as the application asked for it, and how often.
#[derive(Clone, Debug, Serialize)]
pub struct Exempt {
    /// The device, where there are several: in tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What it is: `sampler`, `pair`, `immutable sampler`, `blit` or `conversion`.
    pub what: String,
    /// The rules that switch its repair off.
    pub rules: Vec<RuleAt>,
    /// Fingerprint of the sampler.
    pub fingerprint: Option<String>,
    /// Format of the view, of a blit's source or of a conversion.
    pub format: Option<String>,
    /// What would have been changed.
    #[serde(serialize_with = "changes_as_list")]
    pub changes: Arc<[RecordedChange]>,
    /// Name of the first sampler.
    pub sampler_name: Option<String>,
    /// Name of the first view.
    pub view_name: Option<String>,
    /// Where it was first met.
    pub first: Position,
    /// How many records say so.
    pub count: u64,
}

impl Exempt {
    /// The repairs that are switched off, and where.
    pub fn repairs(&self) -> String {
        let mut rules: Vec<&str> = self.changes.iter().map(|change| change.rule.as_str()).collect();
        rules.dedup();
        rules.join(", ")
    }

    /// The rules that do so, with file and line.
    pub fn places(&self) -> String {
        let place = |rule: &RuleAt| format!("{} ({}:{})", rule.name, rule.file, rule.line);
        self.rules.iter().map(place).collect::<Vec<_>>().join(", ")
    }
}

fn is_empty(changes: &Arc<[RecordedChange]>) -> bool {
    changes.is_empty()
}

/// Something passed through, and how often.
#[derive(Clone, Debug, Serialize)]
pub struct Unresolved {
    /// The device, where there are several: in tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What was seen.
    pub what: String,
    /// Why it is passed through.
    pub why: String,
    /// The rule concerned.
    pub rule: Option<String>,
    /// The valid usage that is broken.
    pub vuid: Option<String>,
    /// Fingerprint of the sampler.
    pub fingerprint: Option<String>,
    /// Format of the view.
    pub format: Option<String>,
    /// Aspect of the view.
    pub aspect: Option<String>,
    /// Type of the view.
    pub view_type: Option<String>,
    /// Where a shader finds image and sampler, if only it joins them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Where the shader does, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// The draw at which it was first met, if it was met at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// Name of the first sampler.
    pub sampler_name: Option<String>,
    /// Name of the first view.
    pub view_name: Option<String>,
    /// Where it was first met.
    pub first: Position,
    /// How many records say so.
    pub count: u64,
}
