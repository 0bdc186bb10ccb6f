//! Reading a trace line by line in a fixed amount of memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::open;
use super::scan::{self, Damage, Raw};
use crate::failure::{Failure, Result};

/// The longest line that is read; a record is a few kilobytes at most.
pub const LONGEST: usize = 16 << 20;

/// How much is read at once.
const CHUNK: usize = 1 << 20;

macro_rules! events {
    ($($(#[doc = $doc:literal])? $event:ident = $name:literal,)+) => {
        /// The kinds of records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the event of its name")]
        pub enum Event { $($(#[doc = $doc])? $event,)+ }

        impl Event {
            /// Every kind with its name.
            pub const ALL: [(Self, &'static str); [$($name),+].len()] = [$((Self::$event, $name)),+];

            /// The name in the trace.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$event => $name,)+ }
            }

            /// The kind whose name is between these quotes.
            fn from_raw(raw: &[u8]) -> Option<Self> {
                let name = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
                $(if name == $name.as_bytes() { return Some(Self::$event); })+
                None
            }
        }
    };
}

events! {
    Layer = "layer",
    Device = "device",
    Sampler = "sampler",
    Conversion = "conversion",
    Image = "image",
    View = "view",
    Pair = "pair",
    Blit = "blit",
    Shader = "shader",
    Unresolved = "unresolved",
    /// A rules file leaves something alone.
    Exempt = "exempt",
    /// Samplers are shared from here on.
    Sharing = "sharing",
    /// A LOD bias follows the scale at which the application renders.
    Scale = "scale",
    /// Other rules are in force.
    Retune = "retune",
    /// How it goes.
    Pulse = "pulse",
    Settings = "settings",
    Summary = "summary",
    /// Not the layer's: a test case that `scripts/cts` has run.
    Case = "case",
}

/// Makes, of one list, the members that are looked at and the two ways to find one by its name.
macro_rules! members {
    ($($variant:ident $field:ident $name:literal $(or $also:literal)? $doc:literal)*) => {
        /// The members of a record that are looked at, as raw text.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Fields<'t> {
            $(#[doc = $doc] pub $field: Raw<'t>,)*
        }

        impl<'t> Fields<'t> {
            #[inline]
            fn put(&mut self, name: &[u8], value: Raw<'t>) {
                let slot = match Member::named(name) {
                    $(Some(Member::$variant) => &mut self.$field,)*
                    None => return,
                };
                *slot = value;
            }

            /// The member.
            #[inline]
            pub fn get(&self, member: Member) -> Raw<'t> {
                match member {
                    $(Member::$variant => self.$field,)*
                }
            }
        }

        /// A member that is looked at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Member {
            $(#[doc = $doc] $variant,)*
        }

        impl Member {
            /// The member of this name.
            #[inline]
            pub fn named(name: &[u8]) -> Option<Self> {
                Some(match name {
                    $($name $(| $also)? => Self::$variant,)*
                    _ => return None,
                })
            }
        }
    };
}

members! {
    TNs t_ns b"t_ns" "Monotonic nanoseconds."
    Pid pid b"pid" "Process."
    Event event b"event" "`event`."
    Sampler sampler b"sampler" "`sampler`."
    View view b"view" "`view`."
    Name name b"name" "`name` of a sampler."
    Names names b"names" "`names` of a pair."
    Fingerprint fingerprint b"fingerprint" "`fingerprint`."
    Format format b"format" or b"src_format" "`format`, or `src_format` of a blit."
    Aspect aspect b"aspect" "`aspect`."
    ViewType view_type b"view_type" "`view_type`."
    Swizzle swizzle b"swizzle" "`swizzle`."
    Path path b"path" "`path`."
    Changes changes b"changes" "`changes`."
    Variant variant b"variant" "`variant`."
    Lossless lossless b"lossless" "`lossless`."
    State state b"state" "`state` of a sampler."
    Conversion conversion b"conversion" "`conversion`."
    What what b"what" "`what` of an unresolved or exempt record."
    Rules rules b"rules" "`rules` of an exempt record."
    Why why b"why" "`why`."
    Rule rule b"rule" "`rule`."
    Vuid vuid b"vuid" "`vuid`."
    ViewClass view_class b"view_class" "`view_class`, what a prediction needs to know of a view."
    Link link b"link" "`link`, of what only a shader joins."
    Source source b"source" "`source`, where a shader reads the image."
    How how b"how" "`how` a link was repaired."
    Frame frame b"frame" "`frame`, how many frames had ended at a draw."
    Draw draw b"draw" "`draw`, its number in its command buffer."
    Label label b"label" "`label`, the debug label region that it is in."
    Stage stage b"stage" "`stage` of a shader."
    Pass pass b"pass" "`pass` of a shader."
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'t> {
    /// Line in the file, from 1.
    pub line: u64,
    /// Its kind.
    pub event: Event,
    /// The members that are looked at.
    pub fields: Fields<'t>,
    /// The whole line.
    pub text: &'t [u8],
}

impl Record<'_> {
    /// Nanoseconds since the layer was loaded.
    pub fn time(&self) -> u64 {
        self.fields.t_ns.number().unwrap_or(0)
    }

    /// The process.
    pub fn process(&self) -> u32 {
        self.fields.pid.number().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0)
    }
}

/// What a line turned out to be.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is what nearly every line is")]
pub enum Line<'t> {
    /// A record.
    Record(Record<'t>),
    /// A record of a kind that this version does not know.
    Unknown(&'t [u8]),
    /// Not a record.
    Damaged(u64, Damage),
}

/// Reads one line, without its end. An empty line is nothing.
#[inline]
pub fn line(number: u64, text: &[u8]) -> Option<Line<'_>> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    if let Err(error) = std::str::from_utf8(text) {
        return Some(Line::Damaged(number, Damage::Encoding(error.valid_up_to())));
    }
    let mut fields = Fields::default();
    if let Err(damage) = scan::members(text, |name, value| fields.put(name, value)) {
        return Some(Line::Damaged(number, damage));
    }
    Some(match Event::from_raw(fields.event.0) {
        Some(event) => Line::Record(Record { line: number, event, fields, text }),
        None if fields.event.0.starts_with(b"\"") => Line::Unknown(fields.event.0),
        None => Line::Damaged(number, Damage::NotARecord),
    })
}

/// What happened to a line that a visitor was given.
pub type Verdict = std::result::Result<(), Damage>;

/// What reading a file came to.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Bytes read.
    pub bytes: u64,
    /// Records.
    pub records: u64,
    /// Records of unknown kinds.
    pub unknown: u64,
    /// Lines that are no records.
    pub damaged: u64,
    /// The first of them, with their line numbers.
    pub examples: Vec<(u64, Damage)>,
    /// Whether the last line has no end and is damaged: the process was stopped while it wrote, or still writes.
    pub is_cut_off: bool,
}

impl Counts {
    /// How many damaged lines are named.
    pub const EXAMPLES: usize = 5;

    fn damage(&mut self, number: u64, damage: Damage) {
        self.damaged += 1;
        if self.examples.len() < Self::EXAMPLES {
            self.examples.push((number, damage));
        }
    }

    #[inline]
    fn take(&mut self, number: u64, text: &[u8], is_last: bool, visit: &mut impl FnMut(&Record<'_>) -> Verdict) {
        match line(number, text) {
            None => {}
            Some(Line::Unknown(_)) => self.unknown += 1,
            Some(Line::Damaged(number, damage)) => {
                self.damage(number, damage);
                self.is_cut_off = is_last;
            }
            Some(Line::Record(record)) => match visit(&record) {
                Ok(()) => self.records += 1,
                Err(damage) => self.damage(number, damage),
            },
        }
    }
}

/// Where records come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceSource {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl TraceSource {
    /// Where it is; `-` of standard input.
    pub fn path(&self) -> &Path {
        match self {
            Self::Stdin => Path::new("-"),
            Self::File(path) => path,
        }
    }

    /// The source that an argument names; `-` is standard input.
    pub fn from_argument(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(argument.to_path_buf()) }
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "(standard input)".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Gives every record to `visit`, in order. A record that `visit` refuses counts as damaged.
    ///
    /// `progress`: whether to show a bar on standard error.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or read, or there is no record in it: what saw nothing must not look like a clean run. Damaged
    /// lines are no error; they are counted.
    pub fn read(&self, progress: bool, visit: impl FnMut(&Record<'_>) -> Verdict) -> Result<Counts> {
        let length = match self {
            Self::File(path) if progress => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            _ => 0,
        };
        let bar = (length > 64 << 20).then(|| bar(length));
        let counted = |inner| Moving { inner, bar: bar.as_ref() };
        let counts =
            self.open(counted).and_then(|mut input| read(&mut input, visit).map_err(|error| self.failure(&error)));
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        counts.and_then(|counts| self.some(counts))
    }

    /// Opens it, decompressed if need be. `watched` goes around what is read as it lies there.
    pub(crate) fn open<'r, W: Read + 'r>(
        &self,
        watched: impl FnOnce(Box<dyn Read>) -> W,
    ) -> Result<Box<dyn Read + 'r>> {
        let inner: Box<dyn Read> = match self {
            Self::Stdin => Box::new(io::stdin()),
            Self::File(path) => {
                let file = File::open(path).map_err(|error| self.failure(&error))?;
                if file.metadata().map_err(|error| self.failure(&error))?.is_dir() {
                    return Err(Failure::file(path, "this is a folder")
                        .hint("name a trace in it, or run `samplin inspect` without a file for the newest trace"));
                }
                Box::new(file)
            }
        };
        open::decompressed(Box::new(watched(inner))).map_err(|error| self.failure(&error))
    }

    /// The same counts, if there is a record.
    pub(crate) fn some(&self, counts: Counts) -> Result<Counts> {
        if counts.records > 0 {
            return Ok(counts);
        }
        let why = match (counts.bytes, counts.unknown, counts.examples.first()) {
            (0, ..) => "the trace is empty".to_owned(),
            (_, 1.., _) => "there is no record in it that this version knows; a newer samplin wrote it".to_owned(),
            (_, _, Some((line, damage))) => format!("there is no record in it: line {line}: {damage}"),
            _ => "there is no record in it".to_owned(),
        };
        Err(Failure::input(format!("{}: {why}", self.name()))
            .hint("did the program run under the layer? `samplin run -- PROGRAM` says why not"))
    }

    /// Why it cannot be read.
    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        let failure = Failure::input(format!("{}: {error}", self.name()));
        match error.kind() {
            io::ErrorKind::NotFound if *self != Self::Stdin => {
                failure.hint("traces are in ~/.local/state/samplin unless the setting `trace` says otherwise")
            }
            _ => failure,
        }
    }
}

/// A bar for so many bytes, on standard error if that is a terminal.
pub(crate) fn bar(length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A reader that moves a bar by what it reads.
struct Moving<'b> {
    inner: Box<dyn Read>,
    bar: Option<&'b ProgressBar>,
}

impl Read for Moving<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(into)?;
        if let Some(bar) = self.bar {
            bar.inc(got as u64);
        }
        Ok(got)
    }
}

/// Cuts what is read into lines, a piece at a time: what follows a growing file goes on where it stopped.
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Bytes of an unfinished line at the front of the buffer.
    kept: usize,
    number: u64,
    /// Inside a line that is too long: its bytes are thrown away up to its end.
    skipping: bool,
    /// What was read so far.
    pub counts: Counts,
}

impl Default for Lines {
    fn default() -> Self {
        Self { buffer: vec![0; CHUNK], kept: 0, number: 0, skipping: false, counts: Counts::default() }
    }
}

impl Lines {
    /// Bytes of the last line, which has no end yet.
    pub fn unfinished(&self) -> usize {
        self.kept
    }

    /// Reads once, and gives every record that is whole by then to `visit`. Returns the number of bytes; 0 at the end.
    ///
    /// # Errors
    ///
    /// When reading fails.
    pub fn step(&mut self, input: &mut dyn Read, visit: &mut impl FnMut(&Record<'_>) -> Verdict) -> io::Result<usize> {
        if self.kept == self.buffer.len() {
            if self.buffer.len() >= LONGEST {
                if !self.skipping {
                    self.number += 1;
                    self.counts.damage(self.number, Damage::TooLong);
                    self.skipping = true;
                }
                self.kept = 0;
            } else {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        let got = loop {
            match input.read(self.buffer.get_mut(self.kept..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.counts.bytes += got as u64;
        let length = self.kept + got;
        let filled = self.buffer.get(..length).unwrap_or_default();
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', filled.get(self.kept..).unwrap_or_default()) {
            let end = self.kept + newline;
            if self.skipping {
                self.skipping = false;
            } else {
                self.number += 1;
                self.counts.take(self.number, filled.get(start..end).unwrap_or_default(), false, visit);
            }
            start = end + 1;
        }
        self.buffer.copy_within(start..length, 0);
        self.kept = if self.skipping { 0 } else { length - start };
        Ok(got)
    }

    /// Takes what has no end for the last line.
    pub fn finish(mut self, visit: &mut impl FnMut(&Record<'_>) -> Verdict) -> Counts {
        let rest = self.buffer.get(..self.kept).unwrap_or_default();
        if !rest.is_empty() {
            self.counts.take(self.number + 1, rest, true, visit);
        }
        self.counts
    }
}

/// [`TraceSource::read`] on anything.
///
/// # Errors
///
/// When reading fails.
pub fn read(input: &mut dyn Read, mut visit: impl FnMut(&Record<'_>) -> Verdict) -> io::Result<Counts> {
    let mut lines = Lines::default();
    while lines.step(input, &mut visit)? > 0 {}
    Ok(lines.finish(&mut visit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives `step` bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text =
            b"{\"event\":\"pair\",\"seq\":1}\n\n{\"event\":\"new\"}\r\nbroken\n{\"event\":\"blit\"}\n{\"event\":\"su";
        for step in [1, 2, 7, 1000] {
            let mut seen = Vec::new();
            let counts = read(&mut Slow(text, step), |record| {
                seen.push((record.line, record.event));
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, [(1, Event::Pair), (5, Event::Blit)]);
            assert_eq!((counts.records, counts.unknown, counts.damaged), (2, 1, 2));
            assert_eq!(counts.examples, [(4, Damage::Byte(0)), (6, Damage::CutOff)]);
            assert!(counts.is_cut_off);
            assert_eq!(counts.bytes, text.len() as u64);
        }
    }

    #[test]
    fn a_line_without_end_is_thrown_away_in_pieces() {
        let mut text = b"{\"event\":\"pair\"}\n{\"x\":\"".to_vec();
        text.resize(text.len() + LONGEST + 5, b'x');
        text.extend_from_slice(b"\"}\n{\"event\":\"blit\"}\n");
        let mut seen = Vec::new();
        let counts = read(&mut text.as_slice(), |record| {
            seen.push((record.line, record.event));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [(1, Event::Pair), (3, Event::Blit)]);
        assert_eq!(counts.examples, [(2, Damage::TooLong)]);
    }

    #[test]
    fn a_whole_last_line_needs_no_end() {
        let counts = read(&mut b"{\"event\":\"pair\"}".as_slice(), |_| Ok(())).unwrap();
        assert_eq!((counts.records, counts.damaged, counts.is_cut_off), (1, 0, false));
    }
}
