//! From `tracing` events to records.
//!
//! The layer reports rare internal trouble with the `tracing` macros, from places that have no [`Trace`] at hand. This
//! subscriber turns such events into records of the traces that are registered:
//!
//! | target | record | members taken from the fields |
//! |---|---|---|
//! | `samplin::settings` | `settings` | `key`, `file`, `line`, `column`, the message; `level` from the event's level |
//! | `samplin::…` | `unresolved` | `what` (else the message), `why`, `rule`; any other field is appended to `why` |
//!
//! An event with a field `trace`, the [id](Trace::id) of a trace, goes to that trace; any other goes to every registered
//! trace, since what concerns the process concerns each instance in it. Events of other targets, events below INFO and
//! spans are off.
//!
//! # What is global, and why that is safe in somebody else's process
//!
//! There is one subscriber and one list of traces per copy of this library. `tracing` is linked statically and not exported,
//! so a process that uses `tracing` itself has its own default subscriber, which is another.
//!
//! The subscriber is made the *global* default, once, and no code here may ever make a *scoped* one
//! (`tracing::subscriber::with_default`, `set_default`). A scoped one is kept in thread-local storage with a destructor,
//! which pins the library in every thread that ran it. `tracing-core` 0.1.36 (`dispatcher.rs`, `get_default`) does not touch
//! that storage while the count of scoped ones is zero, and Rust registers a destructor at first touch only.
//! `tests/trace_sink/` counts the registrations.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

use serde::Serialize;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use super::Trace;

static TRACES: Mutex<Vec<Weak<Trace>>> = Mutex::new(Vec::new());

/// Makes the layer's own `tracing` events go to the registered traces. Further calls do nothing.
pub fn diagnostics_init() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    // Fails only if somebody in this library has set a default before; then that one stays.
    let _ = tracing::subscriber::set_global_default(Diagnostics);
    // An event that another thread met between the two steps inside would otherwise stay off.
    tracing::callsite::rebuild_interest_cache();
}

/// Makes `trace` receive events until it is dropped or [unregistered](unregister).
pub fn register(trace: &Arc<Trace>) {
    if let Some(mut traces) = traces() {
        traces.retain(|other| other.strong_count() > 0);
        traces.push(Arc::downgrade(trace));
    }
}

/// Makes `trace` receive no more events. Dropping it does that too.
pub fn unregister(trace: &Arc<Trace>) {
    if let Some(mut traces) = traces() {
        traces.retain(|other| other.strong_count() > 0 && !std::ptr::eq(other.as_ptr(), &raw const **trace));
    }
}

impl Trace {
    /// What an event's field `trace` holds to go to this trace alone. It is the trace's address, so it is unique while the
    /// trace lives and must not be kept longer.
    pub fn id(self: &Arc<Trace>) -> u64 {
        Arc::as_ptr(self).addr() as u64
    }
}

/// The list, or `None` if it stays taken: in the child of a fork, the thread that held it may not exist any more. The list is
/// held for moments only, so the wait is short otherwise.
fn traces() -> Option<MutexGuard<'static, Vec<Weak<Trace>>>> {
    for _ in 0..1000 {
        match TRACES.try_lock() {
            Ok(traces) => return Some(traces),
            // A list of weak references has no state that a panic could leave half done.
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// The traces that an event for `id` goes to.
fn receivers(id: Option<u64>) -> Vec<Arc<Trace>> {
    traces().map_or_else(Vec::new, |traces| {
        traces.iter().filter_map(Weak::upgrade).filter(|trace| id.is_none_or(|id| trace.id() == id)).collect()
    })
}

struct Diagnostics;

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    let module = target.split("::").next().unwrap_or_default();
    metadata.is_event()
        && *metadata.level() <= LevelFilter::INFO
        && (module == "samplin" || module == "VkLayer_samplin")
}

impl Subscriber for Diagnostics {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_ours(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_ours(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are off, so nobody asks for one; an id must be positive.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let target = event.metadata().target();
        let is_settings = target.split("::").nth(1) == Some("settings");
        for trace in receivers(fields.trace) {
            if is_settings {
                trace.emit("settings", &fields.settings(event.metadata().level()));
            } else {
                trace.emit("unresolved", &fields.unresolved(target));
            }
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event. Empty text means that there was none.
#[derive(Default)]
struct Fields {
    message: String,
    key: String,
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    what: String,
    why: String,
    rule: String,
    trace: Option<u64>,
    /// The others, as `name=value`.
    others: Vec<String>,
}

#[derive(Serialize)]
struct SettingsRecord<'a> {
    level: &'static str,
    key: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    message: &'a str,
}

#[derive(Serialize)]
struct UnresolvedRecord<'a> {
    what: &'a str,
    why: String,
    rule: Option<&'a str>,
}

impl Fields {
    fn settings(&self, level: &tracing::Level) -> SettingsRecord<'_> {
        SettingsRecord {
            level: if *level == tracing::Level::ERROR { "error" } else { "warning" },
            key: &self.key,
            file: &self.file,
            line: self.line,
            column: self.column,
            message: &self.message,
        }
    }

    fn unresolved<'a>(&'a self, target: &'a str) -> UnresolvedRecord<'a> {
        let (what, reason) = match (self.what.as_str(), self.message.as_str()) {
            ("", "") => (target, ""),
            ("", message) => (message, ""),
            (what, message) => (what, message),
        };
        let parts = [self.why.as_str(), reason];
        let parts = parts.into_iter().chain(self.others.iter().map(String::as_str));
        UnresolvedRecord {
            what,
            why: parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "),
            rule: Some(self.rule.as_str()).filter(|rule| !rule.is_empty()),
        }
    }

    fn text(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            "key" => self.key = value,
            "file" => self.file = value,
            "what" => self.what = value,
            "why" => self.why = value,
            "rule" => self.rule = value,
            name => self.others.push(format!("{name}={value}")),
        }
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "line" => self.line = Some(value),
            "column" => self.column = Some(value),
            "trace" => self.trace = Some(value),
            _ => self.text(field, value.to_string()),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.record_u64(field, value),
            Err(_) => self.text(field, value.to_string()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // Only a value's own formatting can fail; what it wrote until then is kept.
        let _ = write!(text, "{value:?}");
        self.text(field, text);
    }
}
