//! What the summaries count against what the records have.
//!
//! The layer counts what it did whether or not there is a record of it: `trace_level = summary` writes no records, `trace_limit` ends them,
//! a line may be damaged or missing, and a record of a newer layer may be of a kind that is not known here.

use std::collections::{BTreeMap, btree_map};

use samplin_core::budget::Limit;
use samplin_core::left::Left;
use samplin_wire::kinds::RequestedLimit;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::census::was_shared;
use crate::trace::record::{counted, grouped};

/// How many traces and processes are distinguished.
const BOOKS: usize = 4096;

/// How many different unresolved things of a process are distinguished.
const WHATS: usize = 1024;

/// The limits that a census counts.
const LIMITS: [Limit; 2] = [Limit::Samplers, Limit::CustomBorders];

/// What no record has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The trace.
    #[serde(skip)]
    pub trace: usize,
    /// The line of the last summary that counts it.
    pub line: u64,
    /// The rule, if the summary says so.
    pub rule: Option<String>,
    /// The stable name of what is unresolved.
    pub what: Option<String>,
    /// Whether it was left as it is.
    pub unresolved: bool,
    /// How often.
    pub count: u64,
    /// In one line.
    pub message: String,
}

/// The counts of a process in a trace.
#[derive(Clone, Debug, Default)]
struct Book {
    /// Changes in records, in the order of the timeline's rules.
    recorded: Vec<u64>,
    changes: BTreeMap<String, u64>,
    recorded_unresolved: BTreeMap<(String, Option<String>), u64>,
    unresolved: BTreeMap<String, u64>,
    exceeded: BTreeMap<String, RequestedLimit>,
    /// Records that did not fit the limit, or could not be written.
    left_out: u64,
    level: Option<String>,
    line: u64,
    /// Instances and devices that began, and those whose summary is there.
    instances: [u64; 2],
    /// See `instances`.
    devices: [u64; 2],
}

/// All books, by trace and process.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    books: BTreeMap<(usize, u32), Book>,
}

impl Ledger {
    fn book(&mut self, trace: usize, process: u32) -> Option<&mut Book> {
        let room = self.books.len() < BOOKS;
        match self.books.entry((trace, process)) {
            btree_map::Entry::Occupied(book) => Some(book.into_mut()),
            btree_map::Entry::Vacant(place) if room => Some(place.insert(Book::default())),
            btree_map::Entry::Vacant(_) => None,
        }
    }

    /// Counts a record with changes by these rules.
    pub(super) fn count_changes(&mut self, trace: usize, process: u32, rules: &[u32]) {
        let Some(book) = self.book(trace, process) else { return };
        for rule in rules {
            let at = *rule as usize;
            if book.recorded.len() <= at {
                book.recorded.resize(at + 1, 0);
            }
            if let Some(count) = book.recorded.get_mut(at) {
                *count += 1;
            }
        }
    }

    /// Counts a record of something unresolved.
    pub(super) fn count_unresolved(&mut self, trace: usize, process: u32, what: String, rule: Option<String>) {
        let Some(book) = self.book(trace, process) else { return };
        if book.recorded_unresolved.len() < WHATS {
            *book.recorded_unresolved.entry((what, rule)).or_insert(0) += 1;
        }
    }

    /// A process says how much it records.
    pub(super) fn begin(&mut self, trace: usize, process: u32, level: Option<&str>) {
        if let Some(book) = self.book(trace, process) {
            book.level = level.map(str::to_owned);
            book.instances[0] += 1;
        }
    }

    /// A process has a device.
    pub(super) fn begin_device(&mut self, trace: usize, process: u32) {
        if let Some(book) = self.book(trace, process) {
            book.devices[0] += 1;
        }
    }

    /// The trace was read; one without a run has an empty book.
    pub(super) fn close(&mut self, trace: usize) {
        if self.books.range((trace, 0)..=(trace, u32::MAX)).next().is_none() {
            let _ = self.book(trace, 0);
        }
    }

    /// Each trace that does not hold a run to its end, with the reason.
    pub(super) fn unfinished(&self) -> BTreeMap<usize, String> {
        let mut open: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
        let mut found = BTreeMap::new();
        for ((trace, _), book) in &self.books {
            let [begun, ended] = book.instances;
            // Records without the one of the layer are of an instance as well.
            let is_headless = begun + ended == 0
                && (book.devices[0] > 0 || !book.recorded.is_empty() || !book.recorded_unresolved.is_empty());
            let instances = (begun + u64::from(is_headless)).saturating_sub(ended);
            let devices = book.devices[0].saturating_sub(book.devices[1]);
            let sum = open.entry(*trace).or_default();
            sum[0] += instances;
            sum[1] += devices;
            if begun + ended == 0 && !is_headless {
                found.insert(*trace, "there is no run in it".to_owned());
            }
        }
        for (trace, [instances, devices]) in open {
            let open = match (instances, devices) {
                (0, 0) => continue,
                (0, devices) => counted(devices, "device"),
                (instances, _) => counted(instances, "instance"),
            };
            found.insert(trace, format!("the run has no end: {open} without a summary"));
        }
        found
    }

    /// A summary counts.
    pub(super) fn count(&mut self, trace: usize, process: u32, line: u64, summary: &Value) {
        let Some(book) = self.book(trace, process) else { return };
        book.line = line;
        if summary.get("scope").and_then(Value::as_str) == Some("instance") {
            let at = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
            book.left_out += at("/left_out/records") + at("/dropped");
            book.instances[1] += 1;
            // A prediction has no summaries of devices.
            if summary.get("predicted").is_some() {
                book.devices[1] = book.devices[0];
            }
            return;
        }
        book.devices[1] += 1;
        for (place, into) in [("/changes", &mut book.changes), ("/separate/unresolved", &mut book.unresolved)] {
            for (name, count) in summary.pointer(place).and_then(Value::as_object).into_iter().flatten() {
                if into.len() < WHATS {
                    *into.entry(name.clone()).or_insert(0) += count.as_u64().unwrap_or(0);
                }
            }
        }
        for name in LIMITS.map(Limit::name) {
            let asked = summary.pointer("/census/limits").and_then(|limits| limits.get(name));
            // Without the feature the limit is 0, and records show its absence.
            if let Some(Ok(asked)) = asked.map(RequestedLimit::deserialize)
                && asked.limit > 0
                && asked.asked > asked.limit
                && !was_shared(summary, name)
            {
                book.exceeded.insert(name.to_owned(), asked);
            }
        }
    }

    /// What is counted and in no record. `rules`: those of the timeline.
    pub(super) fn missing(&self, rules: &[String]) -> Vec<Missing> {
        self.books.iter().flat_map(|((trace, _), book)| book.missing(*trace, rules)).collect()
    }
}

impl Book {
    fn why(&self) -> &'static str {
        match self.level.as_deref() {
            Some("summary") => "trace_level = summary",
            _ if self.left_out > 0 => "trace_limit, or what could not be written",
            _ => "damaged, missing or unknown lines",
        }
    }

    fn missing(&self, trace: usize, rules: &[String]) -> Vec<Missing> {
        let mut out = Vec::new();
        let mut add = |rule: Option<&str>, what: Option<&str>, unresolved: bool, count: u64, message: String| {
            let (rule, what) = (rule.map(str::to_owned), what.map(str::to_owned));
            out.push(Missing { trace, line: self.line.max(1), rule, what, unresolved, count, message });
        };
        let why = self.why();
        for (rule, count) in &self.changes {
            let place = rules.iter().position(|name| name == rule);
            let recorded = place.and_then(|at| self.recorded.get(at)).copied().unwrap_or(0);
            if let Some(count @ 1..) = count.checked_sub(recorded) {
                let changes = counted(count, "change");
                let verb = if count == 1 { "is" } else { "are" };
                let message =
                    format!("{changes} by {rule} {verb} counted in the summary and not in the records ({why})");
                add(Some(rule), None, false, count, message);
            }
        }
        for (what, count) in &self.unresolved {
            let recorded: u64 =
                self.recorded_unresolved.iter().filter(|((name, _), _)| name == what).map(|(_, count)| count).sum();
            if let Some(count @ 1..) = count.checked_sub(recorded) {
                let message =
                    format!("{what}: {} counted in the summary and not in the records ({why})", grouped(count));
                add(None, Some(what), true, count, message);
            }
        }
        for (name, rule) in LIMITS.map(|limit| (limit.name(), limit.rule())) {
            let Some(asked) = self.exceeded.get(name) else { continue };
            let what = Left::LimitExceeded.name();
            let recorded = (what.to_owned(), Some(rule.name().to_owned()));
            if !self.recorded_unresolved.contains_key(&recorded) {
                let message = format!(
                    "{what}: {name} is {} and the summary counts {} at a time",
                    grouped(asked.limit),
                    grouped(asked.asked)
                );
                add(Some(rule.name()), Some(what), true, 1, message);
            }
        }
        if self.left_out > 0 {
            let message =
                format!("{} of any rule did not get into the trace ({why})", counted(self.left_out, "record"));
            add(None, None, true, self.left_out, message);
        }
        out
    }
}
