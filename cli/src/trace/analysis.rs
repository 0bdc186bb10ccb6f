//! What one or more traces add up to.
//!
//! Records that say the same are folded into one [`Decision`] with a count, by a 128-bit hash over the raw text of the
//! members that make the difference, so that the usual record costs one look-up and no parsing. What could grow
//! with the length of a trace is bounded (see [`Limits`]) and says so when the bound is met.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::reader::{Counts, Event, Record, Source, Verdict};
use super::record::{self, Change};
use super::scan::{Damage, Raw};
use crate::failure::Result;

/// Bounds on what is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Different decisions. Further ones are counted by their changes and format alone, up to twice as many.
    pub decisions: usize,
    /// Different unresolved things.
    pub unresolved: usize,
    /// Processes, devices, problems and summaries kept one by one.
    pub records: usize,
    /// Different sampler states, and different variants.
    pub objects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { decisions: 50_000, unresolved: 10_000, records: 1_000, objects: 200_000 }
    }
}

/// A hasher for keys that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
    fn write_u128(&mut self, words: u128) {
        self.0 = words as u64;
    }
}

type ReadyMap<K, V> = HashMap<K, V, BuildHasherDefault<Ready>>;

/// A 128-bit hash of several texts. Not for hostile input: a collision would merge two decisions in a report.
#[derive(Clone, Copy, Debug)]
struct Key(u64, u64);

impl Key {
    const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)
    }

    fn mix(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    }

    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = Self::mix(self.0 ^ word, 0xa076_1d64_78bd_642f);
        self.1 = Self::mix(self.1.rotate_left(29) ^ word, 0xe703_7ed1_a0b4_28db);
    }

    #[inline]
    fn text(mut self, text: &[u8]) -> Self {
        let mut chunks = text.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(<[u8; 8]>::try_from(chunk).map_or(0, u64::from_le_bytes));
        }
        let mut last = [0_u8; 8];
        for (to, from) in last.iter_mut().zip(chunks.remainder()) {
            *to = *from;
        }
        self.word(u64::from_le_bytes(last));
        // The length, so that texts cannot run into each other.
        self.word(text.len() as u64);
        self
    }

    fn finish(self) -> u128 {
        (u128::from(self.0) << 64) | u128::from(self.1)
    }
}

/// Where something was first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
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
    /// What was changed.
    #[serde(serialize_with = "changes_as_list")]
    pub changes: Arc<[Change]>,
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
    pub first: Place,
    /// How many records say so.
    pub count: u64,
}

fn changes_as_list<S: serde::Serializer>(
    changes: &Arc<[Change]>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    changes.as_ref().serialize(serializer)
}

/// Something passed through, and how often.
#[derive(Clone, Debug, Serialize)]
pub struct Unresolved {
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
    /// Name of the first sampler.
    pub sampler_name: Option<String>,
    /// Name of the first view.
    pub view_name: Option<String>,
    /// Where it was first met.
    pub first: Place,
    /// How many records say so.
    pub count: u64,
}

/// Changes over time: a fixed number of stretches, whose length doubles as the trace goes on.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Length of a stretch in nanoseconds.
    pub width_ns: u64,
    /// Names of the rules, in the order of the series.
    pub rules: Vec<String>,
    /// For each rule, the changes in each stretch.
    pub series: Vec<Vec<u64>>,
    /// Variants first seen in each stretch.
    pub variants: Vec<u64>,
    /// Number of stretches in use.
    pub used: usize,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width_ns: 1_000_000, rules: Vec::new(), series: Vec::new(), variants: vec![0; Self::STRETCHES], used: 0 }
    }
}

impl Timeline {
    /// Number of stretches.
    pub const STRETCHES: usize = 120;

    fn slot(&mut self, t_ns: u64) -> usize {
        while t_ns / self.width_ns >= Self::STRETCHES as u64 {
            self.width_ns = self.width_ns.saturating_mul(2);
            for series in self.series.iter_mut().chain([&mut self.variants]) {
                let folded: Vec<u64> = series.chunks(2).map(|pair| pair.iter().sum()).collect();
                series.clear();
                series.extend(folded);
                series.resize(Self::STRETCHES, 0);
            }
            self.used = self.used.div_ceil(2);
        }
        let slot = (t_ns / self.width_ns) as usize;
        self.used = self.used.max(slot + 1);
        slot
    }

    fn rule(&mut self, name: &str) -> usize {
        self.rules.iter().position(|rule| rule == name).unwrap_or_else(|| {
            self.rules.push(name.to_owned());
            self.series.push(vec![0; Self::STRETCHES]);
            self.rules.len() - 1
        })
    }
}

/// One trace and what reading it came to.
#[derive(Clone, Debug)]
pub struct Read {
    /// Where it came from.
    pub source: Source,
    /// What it came to.
    pub counts: Counts,
}

/// What traces add up to.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    limits: Limits,
    /// The traces.
    pub traces: Vec<Read>,
    /// Records by kind.
    pub events: BTreeMap<Event, u64>,
    /// `layer` records with their process.
    pub layers: Vec<(u32, Value)>,
    /// `device` records with their process.
    pub devices: Vec<(u32, Value)>,
    /// `settings` records.
    pub problems: Vec<Value>,
    /// `summary` records of devices.
    pub summaries: Vec<Value>,
    /// Processes that wrote a layer record, and those whose summary of the instance is there.
    pub started: u64,
    /// See `started`.
    pub ended: u64,
    /// Records that the layer could not write.
    pub dropped: u64,
    /// Records beyond `trace_limit`, and their bytes.
    pub left_out: (u64, u64),
    /// Decisions that changed something, in the order in which they were first met.
    pub decisions: Vec<Decision>,
    /// Legal pairs and samplers (only in a trace of the level all).
    pub legal: u64,
    /// Unresolved things.
    pub unresolved: Vec<Unresolved>,
    /// Decisions beyond the limit, which are not told apart by sampler.
    pub folded: u64,
    /// Decisions beyond twice the limit, which are in no sum.
    pub uncounted: u64,
    /// Unresolved records beyond the limit.
    pub unresolved_folded: u64,
    /// Changes over time.
    pub timeline: Timeline,
    /// First state seen of each fingerprint, as JSON.
    pub states: BTreeMap<String, Box<[u8]>>,
    /// Longest time since a process loaded the layer.
    pub last_ns: u64,
    known: ReadyMap<u128, u32>,
    coarse: ReadyMap<u128, u32>,
    known_unresolved: ReadyMap<u128, u32>,
    known_changes: ReadyMap<u128, Arc<[Change]>>,
    legal_keys: ReadyMap<u128, ()>,
    variants: HashSet<u64, BuildHasherDefault<Ready>>,
    rules_of: Vec<Box<[u32]>>,
    /// First debug name seen of each fingerprint: a sampler is often named only after it was recorded.
    names: HashMap<String, String>,
}

impl Analysis {
    /// Reads the given traces.
    ///
    /// # Errors
    ///
    /// When one cannot be read.
    pub fn of(sources: &[Source], progress: bool) -> Result<Self> {
        let mut analysis = Self::default();
        for source in sources {
            analysis.add(source, progress)?;
        }
        analysis.fill_names();
        Ok(analysis)
    }

    /// Reads one more trace.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn add(&mut self, source: &Source, progress: bool) -> Result<()> {
        let trace = self.traces.len();
        let counts = source.read(progress, |record| self.record(trace, record))?;
        self.traces.push(Read { source: source.clone(), counts });
        Ok(())
    }

    /// Gives names to decisions about samplers that got theirs later.
    fn fill_names(&mut self) {
        for decision in self.decisions.iter_mut().filter(|decision| decision.sampler_name.is_none()) {
            let name = decision.fingerprint.as_ref().and_then(|fingerprint| self.names.get(fingerprint));
            decision.sampler_name = name.cloned();
        }
    }

    /// Number of different variants seen.
    pub fn variants_seen(&self) -> usize {
        self.variants.len()
    }

    /// Number of changes in all.
    pub fn change_count(&self) -> u64 {
        self.decisions.iter().map(|decision| decision.changes.len() as u64 * decision.count).sum()
    }

    /// Damaged lines in all traces.
    pub fn damaged(&self) -> u64 {
        self.traces.iter().map(|read| read.counts.damaged).sum()
    }

    /// Adds one record of the trace with this index.
    ///
    /// # Errors
    ///
    /// When a nested value of it is not what it should be.
    pub fn record(&mut self, trace: usize, record: &Record<'_>) -> Verdict {
        match record.event {
            Event::Pair | Event::Sampler | Event::Blit | Event::Conversion | Event::Shader => {
                self.decision(trace, record)?;
            }
            Event::Unresolved => self.add_unresolved(trace, record),
            Event::Layer => {
                let layer: Value = whole(record)?;
                self.started += 1;
                keep(&mut self.layers, self.limits.records, || (record.process(), layer));
            }
            Event::Device => {
                let device: Value = whole(record)?;
                keep(&mut self.devices, self.limits.records, || (record.process(), device));
            }
            Event::Settings => {
                let problem: Value = whole(record)?;
                keep(&mut self.problems, self.limits.records, || problem);
            }
            Event::Summary => {
                let summary: Value = whole(record)?;
                if summary.get("scope").and_then(Value::as_str) == Some("instance") {
                    self.ended += 1;
                    // Counted per instance, so the last one of a process says it all.
                    let at = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
                    self.dropped += at("/dropped");
                    self.left_out.0 += at("/left_out/records");
                    self.left_out.1 += at("/left_out/bytes");
                } else {
                    keep(&mut self.summaries, self.limits.records, || summary);
                }
            }
        }
        *self.events.entry(record.event).or_insert(0) += 1;
        self.last_ns = self.last_ns.max(record.time());
        Ok(())
    }

    fn decision(&mut self, trace: usize, record: &Record<'_>) -> Verdict {
        let fields = &record.fields;
        let sort = record.event as u64;
        if record.event == Event::Sampler && fields.state.is_present() {
            self.state(fields.fingerprint, fields.state)?;
        }
        if fields.changes.is_empty_array() {
            self.legal += 1;
            return Ok(());
        }
        let mut key = Key::new();
        key.word((sort << 1) | u64::from(fields.variant.is_null()));
        let coarse = key.text(fields.changes.0).text(fields.format.0).text(fields.lossless.0);
        let full = coarse
            .text(fields.fingerprint.0)
            .text(fields.path.0)
            .text(fields.aspect.0)
            .text(fields.view_type.0)
            .text(fields.swizzle.0)
            .finish();
        let index = match self.known.get(&full) {
            Some(index) => *index as usize,
            None => self.new_decision(trace, record, full, coarse.finish())?,
        };
        if let Some(decision) = self.decisions.get_mut(index) {
            decision.count += 1;
        }
        let slot = self.timeline.slot(record.time());
        for rule in self.rules_of.get(index).into_iter().flatten() {
            if let Some(count) = self.timeline.series.get_mut(*rule as usize).and_then(|series| series.get_mut(slot)) {
                *count += 1;
            }
        }
        if record.event == Event::Pair && !fields.variant.is_null() && self.variants.len() < self.limits.objects {
            let mut handle = Key::new();
            handle.word(u64::from(record.process()));
            if self.variants.insert(handle.text(fields.variant.0).0)
                && let Some(count) = self.timeline.variants.get_mut(slot)
            {
                *count += 1;
            }
        }
        Ok(())
    }

    #[cold]
    fn new_decision(
        &mut self,
        trace: usize,
        record: &Record<'_>,
        full: u128,
        coarse: u128,
    ) -> std::result::Result<usize, Damage> {
        let fields = &record.fields;
        let is_full = self.decisions.len() >= self.limits.decisions;
        if is_full {
            self.folded += 1;
            if let Some(index) = self.coarse.get(&coarse) {
                return Ok(*index as usize);
            }
        }
        let changes = self.changes(fields.changes)?;
        let names: Value =
            if fields.names.is_present() { fields.names.parse().map_err(|_| Damage::NotARecord)? } else { Value::Null };
        let name = |key: &str| names.get(key).and_then(Value::as_str).map(str::to_owned);
        let text = |raw: Raw<'_>| raw.text().map(std::borrow::Cow::into_owned);
        let keep = |raw: Raw<'_>| if is_full { None } else { text(raw) };
        let number = self.decisions.len();
        let rules: Vec<u32> = changes.iter().map(|change| self.timeline.rule(&change.rule) as u32).collect();
        self.rules_of.push(rules.into_boxed_slice());
        self.decisions.push(Decision {
            event: record.event.name(),
            fingerprint: keep(fields.fingerprint),
            format: text(fields.format),
            aspect: keep(fields.aspect),
            view_type: keep(fields.view_type),
            swizzle: keep(fields.swizzle),
            path: keep(fields.path),
            changes,
            applied: record.event != Event::Pair || !fields.variant.is_null(),
            lossless: match fields.lossless.0 {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => None,
            },
            sampler: keep(fields.sampler).or_else(|| keep(fields.conversion)),
            view: keep(fields.view),
            sampler_name: keep(fields.name).or_else(|| name("sampler")),
            view_name: name("view"),
            first: Place { trace, line: record.line, t_ns: record.time() },
            count: 0,
        });
        if let Some(Decision { fingerprint: Some(fingerprint), sampler_name: Some(name), .. }) = self.decisions.last()
            && !self.names.contains_key(fingerprint)
        {
            self.names.insert(fingerprint.clone(), name.clone());
        }
        // Twice the limit is met only if changes and formats alone differ so often.
        if self.decisions.len() > self.limits.decisions * 2 {
            self.decisions.pop();
            self.rules_of.pop();
            self.uncounted += 1;
            return Ok(usize::MAX);
        }
        let map = if is_full { &mut self.coarse } else { &mut self.known };
        map.insert(if is_full { coarse } else { full }, u32::try_from(number).unwrap_or(u32::MAX));
        Ok(number)
    }

    /// The parsed changes; equal texts share one list.
    fn changes(&mut self, raw: Raw<'_>) -> std::result::Result<Arc<[Change]>, Damage> {
        if !raw.is_present() {
            return Ok(Arc::new([]));
        }
        let key = Key::new().text(raw.0).finish();
        if let Some(known) = self.known_changes.get(&key) {
            return Ok(known.clone());
        }
        let parsed: Vec<Change> = raw.parse().map_err(|_| Damage::NotARecord)?;
        let shared: Arc<[Change]> = parsed.into();
        if self.known_changes.len() < self.limits.decisions {
            self.known_changes.insert(key, shared.clone());
        }
        Ok(shared)
    }

    /// Remembers the first state of each fingerprint.
    fn state(&mut self, fingerprint: Raw<'_>, state: Raw<'_>) -> Verdict {
        let key = Key::new().text(fingerprint.0).text(state.0).finish();
        if self.legal_keys.contains_key(&key) {
            return Ok(());
        }
        // New, so it is worth a look: a damaged one must not go unnoticed.
        let _: serde::de::IgnoredAny = state.parse().map_err(|_| Damage::NotARecord)?;
        if self.legal_keys.len() < self.limits.objects {
            self.legal_keys.insert(key, ());
            if self.states.len() < self.limits.decisions
                && let Some(fingerprint) = fingerprint.text()
                && !self.states.contains_key(fingerprint.as_ref())
            {
                self.states.insert(fingerprint.into_owned(), state.0.into());
            }
        }
        Ok(())
    }

    fn add_unresolved(&mut self, trace: usize, record: &Record<'_>) {
        let fields = &record.fields;
        let mut key = Key::new();
        for raw in [fields.what, fields.why, fields.rule, fields.vuid, fields.fingerprint, fields.format] {
            key = key.text(raw.0);
        }
        let key = key.text(fields.aspect.0).text(fields.view_type.0).finish();
        if let Some(found) = self.known_unresolved.get(&key).and_then(|index| self.unresolved.get_mut(*index as usize))
        {
            found.count += 1;
            return;
        }
        if self.unresolved.len() >= self.limits.unresolved {
            self.unresolved_folded += 1;
            return;
        }
        let text = |raw: Raw<'_>| raw.text().map(std::borrow::Cow::into_owned);
        let names: Value = fields.names.parse().unwrap_or_default();
        let name = |key: &str| names.get(key).and_then(Value::as_str).map(str::to_owned);
        self.known_unresolved.insert(key, u32::try_from(self.unresolved.len()).unwrap_or(u32::MAX));
        self.unresolved.push(Unresolved {
            what: text(fields.what).unwrap_or_default(),
            why: text(fields.why).unwrap_or_default(),
            rule: text(fields.rule),
            vuid: text(fields.vuid),
            fingerprint: text(fields.fingerprint),
            format: text(fields.format),
            aspect: text(fields.aspect),
            view_type: text(fields.view_type),
            sampler_name: name("sampler"),
            view_name: name("view"),
            first: Place { trace, line: record.line, t_ns: record.time() },
            count: 1,
        });
    }
}

fn keep<T>(list: &mut Vec<T>, limit: usize, make: impl FnOnce() -> T) {
    if list.len() < limit {
        list.push(make());
    }
}

fn whole(record: &Record<'_>) -> std::result::Result<Value, Damage> {
    serde_json::from_slice(record.text).map_err(|error| Damage::Byte(error.column().saturating_sub(1)))
}

/// One group of changes and how many there are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// What the group has in common.
    pub key: String,
    /// A longer name, for a sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Changes.
    pub changes: u64,
    /// Records that hold them.
    pub records: u64,
    /// Changes by rule.
    pub rules: BTreeMap<String, u64>,
}

/// What one rule did.
#[derive(Clone, Debug, Serialize)]
pub struct RuleGroup {
    /// The rule.
    pub rule: String,
    /// Changes.
    pub changes: u64,
    /// The different changes, the most frequent first.
    pub kinds: Vec<ChangeKind>,
}

/// One change and how often it was made.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeKind {
    /// How often.
    pub count: u64,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// By what to group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// By rule.
    Rule,
    /// By the format of the view.
    Format,
    /// By sampler.
    Sampler,
    /// By the path on which the pair came.
    Path,
}

impl Analysis {
    /// What each rule did, the busiest first.
    pub fn by_rule(&self) -> Vec<RuleGroup> {
        let mut kinds: HashMap<&Change, u64> = HashMap::new();
        for decision in &self.decisions {
            for change in decision.changes.iter() {
                *kinds.entry(change).or_insert(0) += decision.count;
            }
        }
        let mut groups: BTreeMap<&str, Vec<ChangeKind>> = BTreeMap::new();
        for (change, count) in kinds {
            groups.entry(&change.rule).or_default().push(ChangeKind { count, change: change.clone() });
        }
        let mut groups: Vec<RuleGroup> = groups
            .into_iter()
            .map(|(rule, mut kinds)| {
                kinds.sort_by(|a, b| {
                    let order = |kind: &ChangeKind| {
                        (kind.change.catalog.clone(), kind.change.brief(), kind.change.because.clone())
                    };
                    b.count.cmp(&a.count).then_with(|| order(a).cmp(&order(b)))
                });
                RuleGroup { rule: rule.to_owned(), changes: kinds.iter().map(|kind| kind.count).sum(), kinds }
            })
            .collect();
        groups.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.rule.cmp(&b.rule)));
        groups
    }

    /// Changes grouped by format, sampler or path, the busiest first.
    pub fn grouped(&self, by: By) -> Vec<Group> {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for decision in &self.decisions {
            let key = match by {
                By::Rule => continue,
                By::Format => decision.format.clone(),
                By::Sampler => decision.fingerprint.clone(),
                By::Path => Some(decision.path.clone().unwrap_or_else(|| match decision.event {
                    "pair" => "(several)".to_owned(),
                    "sampler" | "conversion" => "creation".to_owned(),
                    event => event.to_owned(),
                })),
            };
            let Some(key) = key else { continue };
            let group = groups.entry(key.clone()).or_insert_with(|| Group { key, ..Group::default() });
            if by == By::Sampler && group.name.is_none() {
                group.name.clone_from(&decision.sampler_name);
            }
            group.records += decision.count;
            group.changes += decision.count * decision.changes.len() as u64;
            for change in decision.changes.iter() {
                *group.rules.entry(change.rule.clone()).or_insert(0) += decision.count;
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.key.cmp(&b.key)));
        groups
    }

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
            if let Some(writes) = summary.get("writes").and_then(Value::as_object) {
                for (path, counts) in writes {
                    let entry = census.writes.entry(path.clone()).or_default();
                    entry.seen += at(counts, &["seen"]);
                    entry.rewritten += at(counts, &["rewritten"]);
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

/// The counts of every device added up; peaks are the highest of any device.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the members of the summary record")]
pub struct Census {
    pub devices: u64,
    pub samplers_created: u64,
    pub samplers_changed: u64,
    pub samplers_live: u64,
    pub samplers_peak: u64,
    pub views_created: u64,
    pub view_classes: u64,
    pub states_peak: u64,
    pub variants_created: u64,
    pub variants_peak: u64,
    pub variants_live: u64,
    pub blits_rewritten: u64,
    pub passed_through: bool,
    pub writes: BTreeMap<String, Writes>,
    pub headroom: BTreeMap<String, Headroom>,
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
    /// The lowest limit that is not 0; 0 if all are; nothing if no device record tells.
    pub limit: Option<u64>,
    /// How many device records tell a limit.
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
            match found.iter_mut().find(|known| (known.0, &known.1) == (exe, &rest)) {
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
            for (key, setting) in layer.get("settings").and_then(Value::as_object).into_iter().flatten() {
                let source = setting.get("source").and_then(Value::as_str).unwrap_or("default");
                if source == "default" || key == "trace" {
                    continue;
                }
                let value = setting.get("value").map(record::value).unwrap_or_default();
                let line = format!("{key} = {value} ({source})");
                if !found.contains(&line) {
                    found.push(line);
                }
            }
        }
        found
    }

    /// The effective value of a setting in the first process.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.layers.first()?.1.get("settings")?.get(key)?.get("value")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::reader::{self, Line};

    fn feed(analysis: &mut Analysis, text: &str) -> Verdict {
        match reader::line(1, text.as_bytes()) {
            Some(Line::Record(record)) => analysis.record(0, &record),
            other => panic!("not a record: {other:?}"),
        }
    }

    fn pair(t_ns: u64, fingerprint: &str, field: &str) -> String {
        format!(
            r#"{{"seq":1,"t_ns":{t_ns},"pid":1,"tid":1,"event":"pair","sampler":"0x1","view":"0x2","names":{{"sampler":"s","view":null}},"fingerprint":"{fingerprint}","format":"VK_FORMAT_D16_UNORM","aspect":"depth","view_type":"VK_IMAGE_VIEW_TYPE_2D","swizzle":"rgba","path":"update","changes":[{{"rule":"linear-filter","catalog":"B-1","vuid":null,"field":"{field}","from":"VK_FILTER_LINEAR","to":"VK_FILTER_NEAREST","because":"x","lost":"smoothing"}}],"variant":"0x{t_ns:x}"}}"#
        )
    }

    #[test]
    fn equal_records_become_one_decision() {
        let mut analysis = Analysis::default();
        for t_ns in 1..=10 {
            feed(&mut analysis, &pair(t_ns, "00000000000000aa", "magFilter")).unwrap();
        }
        feed(&mut analysis, &pair(11, "00000000000000bb", "magFilter")).unwrap();
        feed(&mut analysis, &pair(12, "00000000000000aa", "minFilter")).unwrap();
        assert_eq!(analysis.decisions.iter().map(|d| d.count).collect::<Vec<_>>(), [10, 1, 1]);
        assert_eq!(analysis.change_count(), 12);
        assert_eq!(analysis.variants_seen(), 12);
        let rules = analysis.by_rule();
        assert_eq!((rules[0].rule.as_str(), rules[0].changes, rules[0].kinds.len()), ("linear-filter", 12, 2));
        assert_eq!(analysis.grouped(By::Sampler).len(), 2);
        assert_eq!(analysis.grouped(By::Path)[0].changes, 12);
        assert_eq!(analysis.decisions[0].sampler_name.as_deref(), Some("s"));
    }

    #[test]
    fn too_many_decisions_are_folded_and_counted() {
        let limits = Limits { decisions: 4, unresolved: 2, records: 1, objects: 3 };
        let mut analysis = Analysis { limits, ..Analysis::default() };
        for number in 0..100_u64 {
            feed(&mut analysis, &pair(number, &format!("{number:016x}"), "magFilter")).unwrap();
        }
        assert_eq!(analysis.decisions.len(), 5);
        assert_eq!(analysis.folded, 96);
        assert_eq!(analysis.change_count(), 100, "nothing is lost from the sums");
        assert_eq!(analysis.variants_seen(), 3);
        for number in 0..10 {
            let line = format!(r#"{{"event":"unresolved","what":"w{number}","why":""}}"#);
            feed(&mut analysis, &line).unwrap();
        }
        assert_eq!((analysis.unresolved.len(), analysis.unresolved_folded), (2, 8));
    }

    #[test]
    fn nested_damage_is_refused() {
        let mut analysis = Analysis::default();
        let line = r#"{"event":"pair","changes":[{"rule":oops}]}"#;
        assert_eq!(feed(&mut analysis, line), Err(Damage::NotARecord));
        assert!(analysis.decisions.is_empty() && analysis.events.is_empty());
        let line = r#"{"event":"sampler","fingerprint":"00","state":{"a":b},"changes":[]}"#;
        assert_eq!(feed(&mut analysis, line), Err(Damage::NotARecord));
    }

    #[test]
    fn time_is_folded_as_it_grows() {
        let mut timeline = Timeline::default();
        let rule = timeline.rule("cubic");
        for t_ns in (0..1_000_000_000_u64).step_by(1_000_000) {
            let slot = timeline.slot(t_ns);
            timeline.series[rule][slot] += 1;
        }
        assert_eq!(timeline.series[rule].iter().sum::<u64>(), 1000);
        assert_eq!(timeline.width_ns, 16_000_000);
        assert_eq!(timeline.used, 63);
    }
}
