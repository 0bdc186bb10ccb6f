//! The counts of every device, from the summaries.

use std::collections::BTreeMap;

use samplin_core::budget::Limit;
use samplin_wire::kinds::{RequestedLimit, Separate};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::Analysis;

impl Analysis {
    /// The counts of every device added up.
    pub fn census(&self) -> Option<Census> {
        if self.summaries.is_empty() {
            return None;
        }
        let mut census = Census { devices: self.summaries.len() as u64, ..Census::default() };
        let mut lefts: BTreeMap<&String, Vec<u64>> = BTreeMap::new();
        let at = |value: &Value, path: &[&str]| {
            path.iter().try_fold(value, |value, key| value.get(key)).and_then(Value::as_u64).unwrap_or(0)
        };
        for summary in &self.summaries {
            census.samplers_created += at(summary, &["samplers", "created"]);
            census.samplers_shared += at(summary, &["samplers", "shared", "given"]);
            census.samplers_changed += at(summary, &["samplers", "changed"]);
            census.samplers_live += at(summary, &["samplers", "live"]);
            census.samplers_peak = census.samplers_peak.max(at(summary, &["samplers", "peak"]));
            census.views_created += at(summary, &["views", "created"]);
            census.view_classes += at(summary, &["views", "classes"]);
            census.states_peak = census.states_peak.max(at(summary, &["census", "unique_states", "peak"]));
            census.variants_created += at(summary, &["variants", "created"]);
            census.variants_peak = census.variants_peak.max(at(summary, &["variants", "peak"]));
            census.variants_live += at(summary, &["variants", "live"]);
            census.blits_rewritten += at(summary, &["blits_rewritten"]);
            census.passed_through |= summary.get("passed_through").and_then(Value::as_bool).unwrap_or(false);
            // Older traces have none.
            if let Some(separate) = summary.get("separate").and_then(|separate| Separate::deserialize(separate).ok()) {
                add(census.separate.get_or_insert_default(), separate);
            }
            if let Some(writes) = summary.get("writes").and_then(Value::as_object) {
                for (path, counts) in writes {
                    let entry = census.writes.entry(path.clone()).or_default();
                    entry.seen += at(counts, &["seen"]);
                    entry.rewritten += at(counts, &["rewritten"]);
                }
            }
            if let Some(limits) = summary.pointer("/census/limits").and_then(Value::as_object) {
                for (limit, asked) in limits {
                    let Ok(asked) = RequestedLimit::deserialize(asked) else { continue };
                    let beyond = |asked: &RequestedLimit| asked.asked.saturating_sub(asked.limit);
                    // Without the feature the limit is 0, and its absence is the news.
                    let is_worse = census.exceeded.get(limit).is_none_or(|worst| beyond(worst) < beyond(&asked));
                    if beyond(&asked) > 0 && asked.limit > 0 && is_worse && !was_shared(summary, limit) {
                        census.exceeded.insert(limit.clone(), asked);
                    }
                }
            }
            if let Some(headroom) = summary.pointer("/census/headroom").and_then(Value::as_object) {
                for (limit, left) in headroom {
                    lefts.entry(limit).or_default().push(left.as_u64().unwrap_or(0));
                }
            }
        }
        for (name, lefts) in lefts {
            let limits =
                self.devices.iter().filter_map(|(_, device)| device.get("limits")?.get(name)?.as_u64()).collect();
            census.headroom.insert(name.clone(), Headroom::of(lefts, limits));
        }
        Some(census)
    }
}

/// Whether what the application asked for of a limit came to less for the driver, as samplers were shared: then a record says so where that
/// was too much as well.
pub(super) fn was_shared(summary: &Value, limit: &str) -> bool {
    limit == Limit::Samplers.name() && summary.pointer("/samplers/shared").is_some_and(Value::is_object)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Adds the counts of another device; the highest peak stays.
fn add(all: &mut Separate, one: Separate) {
    all.links += one.links;
    all.sets += one.sets;
    all.shadows.live += one.shadows.live;
    all.shadows.peak = all.shadows.peak.max(one.shadows.peak);
    all.hidden_sets += one.hidden_sets;
    all.splits += one.splits;
    all.compile_ms += one.compile_ms;
    all.learned = all.learned.max(one.learned);
    for (what, count) in one.unresolved.0 {
        match all.unresolved.0.iter_mut().find(|(name, _)| *name == what) {
            Some((_, sum)) => *sum += count,
            None => all.unresolved.0.push((what, count)),
        }
    }
}

/// The counts of every device added up; peaks are the highest of any device.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the members of the summary record")]
pub struct Census {
    pub devices: u64,
    pub samplers_created: u64,
    pub samplers_changed: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub samplers_shared: u64,
    pub samplers_live: u64,
    pub samplers_peak: u64,
    pub views_created: u64,
    pub view_classes: u64,
    pub states_peak: u64,
    pub variants_created: u64,
    pub variants_peak: u64,
    pub variants_live: u64,
    pub blits_rewritten: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separate: Option<Separate>,
    pub passed_through: bool,
    pub writes: BTreeMap<String, Writes>,
    pub headroom: BTreeMap<String, Headroom>,
    /// Limits that the application exceeds, by what it asks for on the device where it exceeds them the most.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exceeded: BTreeMap<String, RequestedLimit>,
}

/// Descriptors that came on one path.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Writes {
    /// Seen.
    pub seen: u64,
    /// Rewritten.
    pub rewritten: u64,
}

/// What is left of a limit, where it is scarcest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Headroom {
    /// Left at the peak, on the devices that have any.
    pub left: u64,
    /// The lowest limit that is not 0; 0 if all are; nothing if no device record has it.
    pub limit: Option<u64>,
    /// How many device records have a limit.
    pub devices: u64,
    /// For how many of them it is 0: what is limited is not available.
    pub without: u64,
}

impl Headroom {
    /// `lefts`: what the summaries say is left; `limits`: what the device records say there is. A summary does not say which
    /// device record is its own, but a device without anything has nothing left, so as many zeros are theirs.
    fn of(mut lefts: Vec<u64>, mut limits: Vec<u64>) -> Self {
        lefts.sort_unstable();
        limits.sort_unstable();
        let without = limits.iter().take_while(|limit| **limit == 0).count();
        let theirs = lefts.iter().take(without).take_while(|left| **left == 0).count();
        Self {
            left: lefts.get(theirs).copied().unwrap_or(0),
            limit: limits.get(without).or(limits.last()).copied(),
            devices: limits.len() as u64,
            without: without as u64,
        }
    }
}
