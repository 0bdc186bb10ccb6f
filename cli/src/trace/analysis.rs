//! What one or more traces add up to.
//!
//! Records that say the same are folded into one [`Decision`] with a count, by a 128-bit hash over the raw text of the
//! members that make the difference, so that the usual record costs one look-up and no parsing. What could grow
//! with the length of a trace is bounded (see [`Limits`]) and says so when the bound is met.

mod census;
mod groups;
mod ledger;
mod met;
mod processes;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::hash::BuildHasherDefault;
use std::io::{Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use samplin_wire::read;
use samplin_wire::record::{Draw, Link};
use serde_json::Value;

pub use self::census::{Census, Headroom, Writes};
pub use self::groups::{By, ChangeKind, Group, LabelGroup, LinkGroup, RuleGroup};
use self::ledger::Ledger;
pub use self::ledger::Missing;
pub use self::met::{Decision, Exempt, Position, Unresolved};
pub use self::timeline::Timeline;
use super::key::{Key, Ready, ReadyMap};
use super::reader::{self, Counts, Event, Fields, Record, TraceSource, Verdict};
use super::record::RecordedChange;
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

/// One trace and what reading it came to.
#[derive(Clone, Debug)]
pub struct Read {
    /// Where it came from.
    pub source: TraceSource,
    /// What it came to.
    pub counts: Counts,
}

/// The changes of a record.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordChanges {
    /// Those that were made.
    pub(crate) made: Arc<[RecordedChange]>,
    /// Wishes that were held back.
    pub(crate) held: Arc<[RecordedChange]>,
}

impl RecordChanges {
    pub(crate) fn of(changes: Vec<RecordedChange>) -> Self {
        let (held, made): (Vec<_>, Vec<_>) = changes.into_iter().partition(RecordedChange::is_held);
        Self { made: made.into(), held: held.into() }
    }
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
    /// The devices of tables, each by its name; none of traces.
    pub fleet: BTreeSet<String>,
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
    /// What rules files leave alone; as many are kept as of unresolved things.
    pub exempt: Vec<Exempt>,
    /// Records of further ones.
    pub exempt_folded: u64,
    /// Decisions beyond the limit, which are not distinguished by sampler.
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
    exact: ReadyMap<u128, u32>,
    coarse: ReadyMap<u128, u32>,
    known_unresolved: ReadyMap<u128, u32>,
    known_exempt: ReadyMap<u128, u32>,
    earlier_changes: ReadyMap<u128, RecordChanges>,
    legal_keys: ReadyMap<u128, ()>,
    variants: HashSet<u64, BuildHasherDefault<Ready>>,
    rules_of: Vec<Box<[u32]>>,
    ledger: Ledger,
    /// First debug name seen of each fingerprint: a sampler is often named only after it was recorded.
    names: HashMap<String, String>,
}

impl Analysis {
    /// Reads the given traces.
    ///
    /// # Errors
    ///
    /// When one cannot be read.
    pub fn of(sources: &[TraceSource], progress: bool) -> Result<Self> {
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
    pub fn add(&mut self, source: &TraceSource, progress: bool) -> Result<()> {
        let trace = self.traces.len();
        let counts = source.read(progress, |record| self.record(trace, record))?;
        self.ledger.close(trace);
        self.traces.push(Read { source: source.clone(), counts });
        Ok(())
    }

    /// Reads what was added to a trace since it had `from` bytes, which may be nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn add_rest(&mut self, path: &Path, from: u64) -> Result<()> {
        let trace = self.traces.len();
        let source = TraceSource::File(path.to_path_buf());
        let counts = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            reader::read(&mut file, |record| self.record(trace, record))
        });
        let counts = counts.map_err(|error| source.failure(&error))?;
        self.traces.push(Read { source, counts });
        Ok(())
    }

    /// Gives names to decisions about samplers that got theirs later.
    pub(crate) fn fill_names(&mut self) {
        for decision in self.decisions.iter_mut().filter(|decision| decision.sampler_name.is_none()) {
            let name = decision.fingerprint.as_ref().and_then(|fingerprint| self.names.get(fingerprint));
            decision.sampler_name = name.cloned();
        }
    }

    /// Number of different variants seen.
    pub fn variants_seen(&self) -> usize {
        self.variants.len()
    }

    /// Number of records with changes.
    pub fn record_count(&self) -> u64 {
        self.decisions.iter().filter(|decision| !decision.changes.is_empty()).map(|decision| decision.count).sum()
    }

    /// Number of changes in all.
    pub fn change_count(&self) -> u64 {
        self.decisions.iter().map(|decision| decision.changes.len() as u64 * decision.count).sum()
    }

    /// What summaries count and no record has.
    pub fn missing(&self) -> Vec<Missing> {
        self.ledger.missing(&self.timeline.rules)
    }

    /// The number of each trace that does not hold a run to its end, with the reason.
    pub fn unfinished(&self) -> BTreeMap<usize, String> {
        self.ledger.unfinished()
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
            Event::Pair
            | Event::Sampler
            | Event::Image
            | Event::View
            | Event::Blit
            | Event::Conversion
            | Event::Shader => {
                self.decision(trace, record)?;
            }
            Event::Unresolved => self.add_unresolved(trace, record)?,
            Event::Exempt => self.add_exempt(trace, record)?,
            Event::Layer => {
                let layer: Value = whole(record)?;
                self.ledger.begin(trace, record.process(), read::setting(&layer, "trace_level"));
                self.started += 1;
                keep(&mut self.layers, self.limits.records, || (record.process(), layer));
            }
            Event::Device => {
                let device: Value = whole(record)?;
                self.ledger.begin_device(trace, record.process());
                keep(&mut self.devices, self.limits.records, || (record.process(), device));
            }
            Event::Settings => {
                let problem: Value = whole(record)?;
                keep(&mut self.problems, self.limits.records, || problem);
            }
            // No run of the layer, and what its summary says as well.
            Event::Case | Event::Sharing | Event::Scale | Event::Retune | Event::Pulse => {}
            Event::Summary => {
                let summary: Value = whole(record)?;
                self.ledger.count(trace, record.process(), record.line, &summary);
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
            // A shader that was split for the pairs of its links changes nothing else.
            self.legal += u64::from(record.event != Event::Shader);
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
            .text(fields.link.0)
            .text(fields.source.0)
            .text(fields.how.0)
            .finish();
        let index = match self.exact.get(&full) {
            Some(index) => *index as usize,
            None => self.new_decision(trace, record, full, coarse.finish())?,
        };
        if let Some(decision) = self.decisions.get_mut(index) {
            decision.count += 1;
        }
        self.ledger.count_changes(trace, record.process(), self.rules_of.get(index).map_or(&[], |rules| rules));
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
        let RecordChanges { made: changes, held } = self.changes(fields.changes)?;
        let names: Value =
            if fields.names.is_present() { fields.names.parse().map_err(|_| Damage::NotARecord)? } else { Value::Null };
        let name = |key: &str| names.get(key).and_then(Value::as_str).map(str::to_owned);
        let keep = |raw: Raw<'_>| if is_full { None } else { raw.owned() };
        let number = self.decisions.len();
        let rules: Vec<u32> = changes.iter().map(|change| self.timeline.rule(&change.rule) as u32).collect();
        self.rules_of.push(rules.into_boxed_slice());
        self.decisions.push(Decision {
            event: record.event.name(),
            device: None,
            fingerprint: keep(fields.fingerprint),
            format: fields.format.owned(),
            aspect: keep(fields.aspect),
            view_type: keep(fields.view_type),
            swizzle: keep(fields.swizzle),
            path: keep(fields.path),
            link: if is_full { None } else { link(fields.link)? },
            source: if is_full { None } else { fields.source.parse().ok() },
            how: keep(fields.how),
            draw: draw(fields),
            changes,
            held,
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
            first: Position { trace, line: record.line, t_ns: record.time() },
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
        let map = if is_full { &mut self.coarse } else { &mut self.exact };
        map.insert(if is_full { coarse } else { full }, u32::try_from(number).unwrap_or(u32::MAX));
        Ok(number)
    }

    /// The parsed changes; equal texts share one list.
    fn changes(&mut self, raw: Raw<'_>) -> std::result::Result<RecordChanges, Damage> {
        if !raw.is_present() {
            return Ok(RecordChanges::default());
        }
        let key = Key::new().text(raw.0).finish();
        if let Some(earlier) = self.earlier_changes.get(&key) {
            return Ok(earlier.clone());
        }
        let parsed: Vec<RecordedChange> = raw.parse().map_err(|_| Damage::NotARecord)?;
        let shared = RecordChanges::of(parsed);
        if self.earlier_changes.len() < self.limits.decisions {
            self.earlier_changes.insert(key, shared.clone());
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

    fn add_exempt(&mut self, trace: usize, record: &Record<'_>) -> Verdict {
        let fields = &record.fields;
        let mut key = Key::new();
        for raw in [fields.what, fields.rules, fields.fingerprint, fields.format, fields.changes] {
            key = key.text(raw.0);
        }
        let key = key.finish();
        if let Some(found) = self.known_exempt.get(&key).and_then(|index| self.exempt.get_mut(*index as usize)) {
            found.count += 1;
            return Ok(());
        }
        let changes = self.changes(fields.changes)?;
        let rules = fields.rules.parse().map_err(|_| Damage::NotARecord)?;
        if self.exempt.len() >= self.limits.unresolved {
            self.exempt_folded += 1;
            return Ok(());
        }
        let names: Value = fields.names.parse().unwrap_or_default();
        let name = |key: &str| names.get(key).and_then(Value::as_str).map(str::to_owned);
        self.known_exempt.insert(key, u32::try_from(self.exempt.len()).unwrap_or(u32::MAX));
        self.exempt.push(Exempt {
            device: None,
            what: fields.what.owned().unwrap_or_default(),
            rules,
            fingerprint: fields.fingerprint.owned(),
            format: fields.format.owned(),
            changes: changes.made,
            sampler_name: fields.name.owned().or_else(|| name("sampler")),
            view_name: name("view"),
            first: Position { trace, line: record.line, t_ns: record.time() },
            count: 1,
        });
        Ok(())
    }

    fn add_unresolved(&mut self, trace: usize, record: &Record<'_>) -> Verdict {
        let fields = &record.fields;
        let mut key = Key::new();
        for raw in [fields.what, fields.why, fields.rule, fields.vuid, fields.fingerprint, fields.format] {
            key = key.text(raw.0);
        }
        let key = key.text(fields.aspect.0).text(fields.view_type.0).text(fields.link.0).text(fields.source.0).finish();
        let what = fields.what.owned().unwrap_or_default();
        self.ledger.count_unresolved(trace, record.process(), what.clone(), fields.rule.owned());
        if let Some(found) = self.known_unresolved.get(&key).and_then(|index| self.unresolved.get_mut(*index as usize))
        {
            found.count += 1;
            return Ok(());
        }
        if self.unresolved.len() >= self.limits.unresolved {
            self.unresolved_folded += 1;
            return Ok(());
        }
        let link = link(fields.link)?;
        let names: Value = fields.names.parse().unwrap_or_default();
        let name = |key: &str| names.get(key).and_then(Value::as_str).map(str::to_owned);
        self.known_unresolved.insert(key, u32::try_from(self.unresolved.len()).unwrap_or(u32::MAX));
        self.unresolved.push(Unresolved {
            device: None,
            what,
            why: fields.why.owned().unwrap_or_default(),
            rule: fields.rule.owned(),
            vuid: fields.vuid.owned(),
            fingerprint: fields.fingerprint.owned(),
            format: fields.format.owned(),
            aspect: fields.aspect.owned(),
            view_type: fields.view_type.owned(),
            link,
            source: fields.source.parse().ok(),
            draw: draw(fields),
            sampler_name: name("sampler"),
            view_name: name("view"),
            first: Position { trace, line: record.line, t_ns: record.time() },
            count: 1,
        });
        Ok(())
    }
}

/// The link of a record, which has one only if a shader joins what it is about.
fn link(raw: Raw<'_>) -> std::result::Result<Option<Link>, Damage> {
    if !raw.is_present() {
        return Ok(None);
    }
    let value: Value = raw.parse().map_err(|_| Damage::NotARecord)?;
    read::link(&value).map(Some).ok_or(Damage::NotARecord)
}

/// The draw of a record, if it says one.
fn draw(fields: &Fields<'_>) -> Option<Draw> {
    let (frame, number) = (fields.frame.number()?, fields.draw.number()?);
    let label = fields.label.text().map(std::borrow::Cow::into_owned);
    Some(Draw { frame, draw: u32::try_from(number).ok()?, label })
}

fn keep<T>(list: &mut Vec<T>, limit: usize, make: impl FnOnce() -> T) {
    if list.len() < limit {
        list.push(make());
    }
}

fn whole(record: &Record<'_>) -> std::result::Result<Value, Damage> {
    serde_json::from_slice(record.text).map_err(|error| Damage::Byte(error.column().saturating_sub(1)))
}
