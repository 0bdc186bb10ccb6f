//! The trace: JSON lines that say what the layer saw and did.
//!
//! A [`Trace`] belongs to one `VkInstance` and is shared by reference count. [`Trace::emit`] turns a record into one line and
//! hands it to the system with one write in append mode. It knows the five members that every record has and nothing of
//! the others; `manifest/trace.schema.json` describes them all.
//!
//! What the process can rely on:
//!
//! * A trace that cannot be written costs the process nothing: the record is [counted](Trace::dropped) and forgotten. Nothing
//!   here panics, waits for a lock, retries, starts a thread or raises a signal.
//! * Lines are whole. Threads and forked children may write at once; after a write that was cut off (disk full) the next one
//!   starts on a fresh line.
//! * Nothing outlives a [`Trace`] except its file: no thread-local storage, no exit handler. What is global is listed in
//!   [`crate::platform::now_ns`].
//! * A fork in the process is harmless. The child has its own copy of everything, writes to the same file with its own
//!   `pid`, and can meet no lock that its parent's other threads held.
//!
//! Start at [`Trace::open`] for where a trace goes and at [`Trace::emit`] for what a line looks like.

mod rotate;
mod sink;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use samplin_config::template;
use samplin_wire::kinds::LeftOut;
use serde::Serialize;

use self::sink::Sink;
use crate::platform;
use crate::settings::{Level, Problem, TraceLevel, TraceTarget};

/// The trace of one `VkInstance`.
#[derive(Debug)]
pub struct Trace {
    sink: Option<Sink>,
    level: TraceLevel,
    /// How many bytes its records may take.
    limit: u64,
    seq: AtomicU64,
    /// Bytes of all records so far, those beyond the limit too: nothing follows the first that does not fit.
    asked: AtomicU64,
    dropped: AtomicU64,
    left_out: [AtomicU64; 2],
}

impl Trace {
    /// Prepares a trace. A file is created by the first record, not here; one that exists already is opened here.
    ///
    /// | `target` | where |
    /// |---|---|
    /// | `Auto` | `%e-%p.jsonl` in the folder `samplin` in the user's [state folder](platform::state_folder). When the file is created, older files of that form beyond the newest 20 are removed, unless their process still runs |
    /// | `Stderr` | descriptor 2, whatever it stands for at each record. A slow reader makes the process wait, as for its own output |
    /// | `Path` | a file, a FIFO or a device by the rules of the platform module. `%e` is the [executable](platform::executable_name), `%p` the process id, `%d` the [date](platform::date), `%%` a percent sign; any other `%` stays as it is. A leading `~/` is the home folder; a relative path starts at the working directory of this moment. `/dev/stderr` is `Stderr`; `/dev/stdout` and `/dev/fd/N` are copied now |
    /// | `Off` | nowhere |
    ///
    /// # Errors
    /// If the target cannot be opened the trace is off and there is one [`Problem`]. If somebody named the target, one
    /// line on standard error has its path and the reason; `Auto` fails silently. In an
    /// [elevated](platform::is_elevated) process every trace is off and nothing is said.
    pub fn open(target: &TraceTarget, level: TraceLevel) -> (Trace, Vec<Problem>) {
        let sink = match target {
            TraceTarget::Off => Ok(None),
            _ if platform::is_elevated() => Err((Level::Warning, "the process has elevated privileges".to_owned())),
            TraceTarget::Stderr => Ok(Some(Sink::stderr())),
            TraceTarget::Auto => auto_path()
                .ok_or_else(|| "there is no home folder to write to".to_owned())
                .and_then(Sink::auto)
                .map(Some)
                .map_err(|why| (Level::Warning, why)),
            TraceTarget::Path(text) => {
                Sink::named(template::Values::current().expand(text)).map(Some).map_err(|why| (Level::Error, why))
            }
        };
        match sink {
            Ok(sink) => (Trace::new(sink, level), Vec::new()),
            Err((level_of_problem, why)) => {
                let problem = Problem {
                    level: level_of_problem,
                    key: "trace".to_owned(),
                    file: None,
                    line: None,
                    column: None,
                    message: format!("there is no trace: {why}"),
                };
                (Trace::new(None, level), vec![problem])
            }
        }
    }

    /// A trace that writes nothing.
    pub fn off() -> Trace {
        Trace::new(None, TraceLevel::default())
    }

    fn new(sink: Option<Sink>, level: TraceLevel) -> Trace {
        Trace {
            sink,
            level,
            limit: u64::MAX,
            seq: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            left_out: Default::default(),
        }
    }

    /// The same trace, whose records may take `bytes` bytes: the first that does not fit and all later ones are
    /// [left out](Trace::left_out). What a file held before does not count.
    #[must_use]
    pub fn limited(self, bytes: u64) -> Trace {
        Trace { limit: bytes, ..self }
    }

    /// How much the trace is meant to hold. The caller decides by it what to emit; [`Trace::wants`] helps.
    pub fn level(&self) -> TraceLevel {
        self.level
    }

    /// Whether records of this level belong in the trace and can be written: `Summary` ones always, `Decisions` ones unless
    /// the trace is a summary, `All` ones only if it holds all.
    pub fn wants(&self, level: TraceLevel) -> bool {
        let depth = |level| match level {
            TraceLevel::Summary => 0,
            TraceLevel::Decisions => 1,
            TraceLevel::All => 2,
        };
        depth(level) <= depth(self.level) && self.is_on()
    }

    /// Whether a record would be written: not if the trace is off, nor once its file could not be opened.
    pub fn is_on(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::is_on)
    }

    /// Writes one record as a line.
    ///
    /// `event`: the name of the record. `record`: a structure or map; its members follow the five that every line has,
    ///
    /// ```json
    /// {"seq":0,"t_ns":81234,"pid":4711,"tid":4712,"event":"layer","version":"0.1.0"}
    /// ```
    ///
    /// and must not repeat them. Anything else than a structure or map becomes the member `value`, and a unit nothing.
    ///
    /// `seq` counts the records of this trace from 0, one by one, so that a gap shows a record that was lost. Threads that
    /// write at once may put their lines in another order than their `seq`; a forked child goes on from its parent's
    /// count, so `pid` and `seq` name a record. `t_ns` is [`platform::now_ns`].
    ///
    /// A record that cannot be serialised or written is counted in [`Trace::dropped`]; there is one attempt. Does nothing if
    /// the trace is off. A non-finite float becomes `null`, unless it is a [`Float`](samplin_wire::text::Float).
    pub fn emit<T: Serialize + ?Sized>(&self, event: &'static str, record: &T) {
        self.put(event, record, self.limit);
    }

    /// [`Trace::emit`], whatever the limit: for what says how a trace ended.
    pub fn emit_last<T: Serialize + ?Sized>(&self, event: &'static str, record: &T) {
        self.put(event, record, u64::MAX);
    }

    fn put<T: Serialize + ?Sized>(&self, event: &'static str, record: &T, limit: u64) {
        let Some(sink) = self.sink.as_ref().filter(|sink| sink.is_on()) else {
            return;
        };
        let mut line = self.begin(event);
        let start = line.len();
        let is_whole = serde_json::to_writer(&mut line, record).is_ok() && finish(&mut line, start);
        // Without the newline in front.
        let bytes = line.len().saturating_sub(1) as u64;
        if is_whole && self.asked.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > limit {
            self.leave_out(bytes);
        } else if !(is_whole && sink.write(&line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a record of so many bytes that is not written.
    pub fn leave_out(&self, bytes: u64) {
        let [records, of_bytes] = &self.left_out;
        records.fetch_add(1, Ordering::Relaxed);
        of_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was left out so far. `seq` goes on past it.
    pub fn left_out(&self) -> LeftOut {
        let [records, bytes] = &self.left_out;
        LeftOut { records: records.load(Ordering::Relaxed), bytes: bytes.load(Ordering::Relaxed) }
    }

    /// The start of a line, up to and without the record's own members. The first byte is a newline, which the sink
    /// writes only if the line before was cut off.
    fn begin(&self, event: &'static str) -> Vec<u8> {
        let mut line = Vec::with_capacity(1024);
        // Writing to a vector cannot fail.
        let _ = write!(
            line,
            "\n{{\"seq\":{},\"t_ns\":{},\"pid\":{},\"tid\":{},\"event\":\"{}\"",
            self.seq.fetch_add(1, Ordering::Relaxed),
            platform::now_ns(),
            platform::process_id(),
            platform::thread_id(),
            event.escape_default(),
        );
        line
    }

    /// Records that could not be written so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The file that the trace goes to, absolute. `None` if it is off, standard error or an inherited descriptor.
    pub fn path(&self) -> Option<&Path> {
        self.sink.as_ref().and_then(Sink::path)
    }
}

/// Joins what was serialised at `start` to the object that was begun before it, and ends the line.
fn finish(line: &mut Vec<u8>, start: usize) -> bool {
    match line.get(start..) {
        Some(b"{}" | b"null") => line.truncate(start),
        Some([b'{', ..]) => {
            if let Some(brace) = line.get_mut(start) {
                *brace = b',';
            }
            line.push(b'\n');
            return true;
        }
        Some([_, ..]) => {
            line.splice(start..start, *b",\"value\":");
        }
        Some([]) | None => return false,
    }
    line.extend_from_slice(b"}\n");
    true
}

/// The file that [`TraceTarget::Auto`] stands for.
fn auto_path() -> Option<PathBuf> {
    let name = template::Values::current().expand("%e-%p.jsonl");
    Some(platform::state_folder()?.join("samplin").join(name))
}
