//! The layer's own log: lines on standard error for people who work on the layer, made of the events of `tracing`.
//!
//! What the layer did to samplers is in the trace, which is another thing: no line of the log goes there, and no record comes here.
//! While nobody asked for a log there is no subscriber, and an event costs one relaxed load.
//!
//! # What is global, and why that is safe in somebody else's process
//!
//! `tracing` is linked statically and not exported, so a process that uses it has another copy with another default; here there is
//! one subscriber and one level per copy of this library. Of several instances the most talkative one counts, from then on.
//!
//! The subscriber is made the *global* default, once, and no code here may ever make a *scoped* one
//! (`tracing::subscriber::with_default`, `set_default`): that is kept in thread-local storage with a destructor, which pins the
//! library in every thread that ran it. While there is no scoped one, `tracing-core` 0.1.36 (`dispatcher.rs`, `get_default`) does
//! not touch that storage. `tests/trace_sink.rs` counts the registrations.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::platform;
use crate::settings::Log;

/// The most that anybody asked for, a [`Log`].
static LEVEL: AtomicU8 = AtomicU8::new(Log::Off as u8);

/// Makes the log at least as verbose as `level` from now on. A process with
/// [elevated rights](platform::is_elevated) has none.
pub fn raise(level: Log) {
    if level == Log::Off || platform::is_elevated() {
        return;
    }
    let before = LEVEL.fetch_max(level as u8, Ordering::AcqRel);
    if before >= level as u8 {
        return;
    }
    if before == Log::Off as u8 {
        // Fails only if somebody in this library has set a default before; then that one stays.
        let _ = tracing::subscriber::set_global_default(Stderr);
    }
    // `tracing` keeps for each event whether it is wanted.
    tracing::callsite::rebuild_interest_cache();
}

/// Up to which level events are logged.
fn wanted() -> LevelFilter {
    match LEVEL.load(Ordering::Relaxed) {
        0 => LevelFilter::OFF,
        1 => LevelFilter::WARN,
        2 => LevelFilter::INFO,
        3 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    }
}

/// Writes each event as a line to standard error. Spans are off.
struct Stderr;

impl Subscriber for Stderr {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= wanted()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(wanted())
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Nobody asks for one while spans are off; an id must be positive.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        platform::say(&Line::of(event).text);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event as text: `samplin: debug: what happened name=value other="text"`.
#[derive(Default)]
struct Line {
    text: String,
    /// Its end had to be left out.
    is_cut: bool,
}

impl Line {
    /// The longest line in bytes: what a pipe takes in one piece (`PIPE_BUF`, pipe(7)) less the newline and the mark of a cut.
    const LONGEST: usize = 4096 - 1 - '…'.len_utf8();

    fn of(event: &Event<'_>) -> Line {
        let mut line = Line { text: String::with_capacity(256), is_cut: false };
        line.text.push_str(match *event.metadata().level() {
            Level::ERROR | Level::WARN => "samplin: warn:",
            Level::INFO => "samplin: info:",
            Level::DEBUG => "samplin: debug:",
            Level::TRACE => "samplin: trace:",
        });
        event.record(&mut line);
        line
    }
}

impl Write for Line {
    /// Adds text without what a terminal would obey or hide: control characters and marks of writing direction become escapes.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let escaped = (!matches!(character, '"' | '\'' | '\\')).then(|| character.escape_debug());
            let bytes = escaped.as_ref().map_or(1, |escaped| escaped.clone().map(char::len_utf8).sum());
            if !self.is_cut && self.text.len() + bytes > Line::LONGEST {
                self.text.push('…');
                self.is_cut = true;
            }
            if self.is_cut {
                return Err(fmt::Error);
            }
            match escaped {
                Some(escaped) => self.text.extend(escaped),
                None => self.text.push(character),
            }
        }
        Ok(())
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Fails when the line is full, which its end says then.
        let _ = match field.name() {
            "message" => write!(self, " {value:?}"),
            name => write!(self, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&str]) -> String {
        let mut line = Line::default();
        for part in parts {
            assert_eq!(line.write_str(part).is_err(), line.is_cut);
        }
        assert_eq!(line.text.ends_with('…'), line.is_cut);
        line.text
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(written(&["a\u{1b}[31m\n\r\u{202e}b\u{9b}"]), r"a\u{1b}[31m\n\r\u{202e}b\u{9b}");
        assert_eq!(written(&["\"Größe\" 'x' \\ 日本"]), "\"Größe\" 'x' \\ 日本");
    }

    #[test]
    fn a_line_is_written_in_one_piece() {
        for (end, shown) in [("x", "x"), ("\u{1b}", r"\u{1b}"), ("日", "日")] {
            for length in 4070..4100 {
                let line = written(&[&"a".repeat(length), end, end, "b"]);
                assert!(line.len() + "\n".len() <= 4096, "{length}: {}", line.len());
                let whole = length + 2 * shown.len() + 1;
                assert_eq!(line.ends_with('b'), whole <= Line::LONGEST, "{length} {end:?}");
            }
        }
    }
}
