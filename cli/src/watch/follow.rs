//! A trace that grows: what was added since the last look, and what became of the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use samplin_wire::kinds::Pulse;
use serde_json::Value;

use crate::os::{self, FileKey};
use crate::trace::analysis::{Analysis, Read};
use crate::trace::open;
use crate::trace::reader::{Event, Lines, Record, TraceSource, Verdict};

/// The frames that records name, which are those of draws that first met something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Number and time of the first.
    first: Option<(u64, u64)>,
    /// Of the last.
    last: Option<(u64, u64)>,
}

impl Frames {
    fn note(&mut self, frame: u64, t_ns: u64) {
        if self.first.is_none() {
            self.first = Some((frame, t_ns));
        }
        if self.last.is_none_or(|(known, _)| known < frame) {
            self.last = Some((frame, t_ns));
        }
    }

    /// How many frames have ended at least.
    pub fn at_least(&self) -> Option<u64> {
        self.last.map(|(frame, _)| frame)
    }

    /// Frames a second between the first record and the last.
    pub fn a_second(&self) -> Option<f64> {
        let ((from, since), (to, until)) = (self.first?, self.last?);
        let seconds = until.checked_sub(since)? as f64 / 1e9;
        (to > from && seconds >= 0.1).then(|| (to - from) as f64 / seconds)
    }
}

/// What the pulse of a device said last, and before that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The last record.
    pub last: Pulse,
    /// Nanoseconds from the one before to it, and what came in between: frames, draws, and repaired ones among these.
    between: Option<(u64, [u64; 3])>,
    t_ns: u64,
}

impl Beat {
    /// Frames, draws, and repaired ones among these, a second between the last two records.
    pub fn a_second(&self) -> Option<[f64; 3]> {
        let (nanoseconds, counts) = self.between?;
        Some(counts.map(|count| count as f64 * 1e9 / nanoseconds as f64))
    }

    /// Takes the next record.
    fn next(before: Option<&Self>, last: Pulse, t_ns: u64) -> Self {
        let counts = |pulse: &Pulse| [pulse.frames, pulse.draws, pulse.repaired.unwrap_or(0)];
        let between = before.filter(|before| before.t_ns < t_ns).map(|before| {
            let (now, then) = (counts(&last), counts(&before.last));
            (t_ns - before.t_ns, std::array::from_fn(|index| now[index].saturating_sub(then[index])))
        });
        Self { last, between, t_ns }
    }
}

/// Kinds of records of which the last one is kept.
const KEPT: [&str; 3] = ["retune", "scale", "settings"];

/// What a look at a trace came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing happened.
    Same,
    /// There is more in it now, all of which is read.
    Grown,
    /// There is more in it than was read.
    Behind,
}

/// A trace and how far it was read.
#[derive(Debug)]
pub struct Tail {
    /// Where it is.
    pub path: PathBuf,
    /// What it adds up to.
    pub analysis: Analysis,
    /// The frames that it names.
    pub frames: Frames,
    /// How it goes, by device.
    pub beats: BTreeMap<String, Beat>,
    /// The last records of these kinds: which rules changed in the running program, and which scale they follow.
    pub last: BTreeMap<&'static str, Value>,
    /// How often it was read from its beginning again, because it was emptied or another file took its place.
    pub restarts: u64,
    /// Why it cannot be read.
    pub trouble: Option<String>,
    /// The process that wrote the last record.
    pub pid: u32,
    file: Option<File>,
    id: Option<FileKey>,
    length: u64,
    lines: Lines,
    /// Compressed traces do not grow.
    is_whole: bool,
}

impl Tail {
    /// Of a trace, of which nothing is read yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            analysis: Analysis::default(),
            frames: Frames::default(),
            beats: BTreeMap::new(),
            last: BTreeMap::new(),
            restarts: 0,
            trouble: None,
            pid: 0,
            file: None,
            id: None,
            length: 0,
            lines: Lines::default(),
            is_whole: false,
        }
    }

    /// Bytes that were read, and that there were at the last look.
    pub fn progress(&self) -> (u64, u64) {
        (self.lines.counts.bytes, self.length)
    }

    /// Bytes of a last line that has no end.
    pub fn unfinished(&self) -> usize {
        self.lines.unfinished()
    }

    /// Records that were read.
    pub fn records(&self) -> u64 {
        self.lines.counts.records
    }

    /// Lines that are no records.
    pub fn damaged(&self) -> u64 {
        self.lines.counts.damaged
    }

    /// Begins anew with the file that is at the path now.
    fn open(&mut self) -> io::Result<()> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if self.file.is_some() || self.is_whole {
            self.restarts += 1;
        }
        (self.analysis, self.frames, self.lines, self.last, self.beats) = Default::default();
        self.id = os::key_of_open(&file, &metadata);
        self.is_whole = open::is_compressed(&self.path)?;
        self.file = Some(file);
        Ok(())
    }

    /// Reads what was added, at most about so many bytes.
    pub fn look(&mut self, budget: &mut u64) -> Look {
        match self.try_look(budget) {
            Ok(look) => {
                let had_trouble = self.trouble.take().is_some();
                if had_trouble && look == Look::Same { Look::Grown } else { look }
            }
            Err(error) => {
                let trouble = Some(error.to_string());
                let is_news = self.trouble != trouble;
                self.trouble = trouble;
                if is_news { Look::Grown } else { Look::Same }
            }
        }
    }

    fn try_look(&mut self, budget: &mut u64) -> io::Result<Look> {
        let mut look = Look::Same;
        match std::fs::metadata(&self.path) {
            Ok(metadata) => {
                let is_other = self.file.is_some() && os::key(&self.path) != self.id;
                if self.file.is_none() || is_other || metadata.len() < self.lines.counts.bytes && !self.is_whole {
                    self.open()?;
                    look = Look::Grown;
                }
                self.length = metadata.len();
            }
            // Removed, but what it held is known.
            Err(_) if self.file.is_some() => return Ok(Look::Same),
            Err(error) => return Err(error),
        }
        if self.is_whole {
            return if look == Look::Grown { self.read_whole() } else { Ok(look) };
        }
        let Some(file) = &mut self.file else { return Ok(look) };
        let mut notes = (&mut self.analysis, &mut self.frames, &mut self.pid, &mut self.last, &mut self.beats);
        let mut visit = |record: &Record<'_>| note(&mut notes, record);
        while self.lines.counts.bytes < self.length {
            if *budget == 0 {
                return Ok(Look::Behind);
            }
            let got = self.lines.step(file, &mut visit)? as u64;
            if got == 0 {
                break;
            }
            look = Look::Grown;
            *budget = budget.saturating_sub(got);
        }
        Ok(look)
    }

    fn read_whole(&mut self) -> io::Result<Look> {
        let mut notes = (&mut self.analysis, &mut self.frames, &mut self.pid, &mut self.last, &mut self.beats);
        let source = TraceSource::File(self.path.clone());
        let counts = source.read(false, |record| note(&mut notes, record));
        self.lines.counts = counts.map_err(|failure| io::Error::other(failure.message))?;
        Ok(Look::Grown)
    }

    /// What it adds up to, with what reading came to, as `samplin inspect` has it.
    pub fn snapshot(&self) -> Analysis {
        let mut analysis = self.analysis.clone();
        analysis.traces.push(Read { source: TraceSource::File(self.path.clone()), counts: self.lines.counts.clone() });
        analysis.fill_names();
        analysis
    }
}

type Notes<'t> = (
    &'t mut Analysis,
    &'t mut Frames,
    &'t mut u32,
    &'t mut BTreeMap<&'static str, Value>,
    &'t mut BTreeMap<String, Beat>,
);

fn note((analysis, frames, pid, last, beats): &mut Notes<'_>, record: &Record<'_>) -> Verdict {
    if let Some(frame) = record.fields.frame.number() {
        frames.note(frame, record.time());
    }
    match record.event {
        Event::Layer => **pid = record.process(),
        Event::Pulse => {
            if let Ok(pulse) = serde_json::from_slice::<Pulse>(record.text) {
                let beat = Beat::next(beats.get(&pulse.device), pulse, record.time());
                frames.note(beat.last.frames, record.time());
                beats.insert(beat.last.device.clone(), beat);
            }
        }
        event if KEPT.contains(&event.name()) => {
            last.extend(serde_json::from_slice(record.text).ok().map(|value| (event.name(), value)));
        }
        _ => {}
    }
    analysis.record(0, record)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use samplin_testkit::Folder;

    use super::*;

    fn line(frame: u64, t_ns: u64) -> String {
        format!(
            "{{\"seq\":0,\"t_ns\":{t_ns},\"pid\":7,\"event\":\"unresolved\",\"what\":\"bindless\",\"why\":\"\",\"frame\":{frame},\"draw\":1}}\n"
        )
    }

    fn look(tail: &mut Tail) -> Look {
        tail.look(&mut 1_000_000_000)
    }

    #[test]
    fn a_growing_file_is_read_once() {
        let folder = Folder::new();
        let path = folder.join("t.jsonl");
        let mut tail = Tail::new(path.clone());
        assert_eq!(look(&mut tail), Look::Grown, "the trouble is news");
        assert_eq!(look(&mut tail), Look::Same);
        assert!(tail.trouble.is_some());
        let mut file = File::create(&path).unwrap();
        assert_eq!(look(&mut tail), Look::Grown);
        assert!(tail.trouble.is_none());
        // A half line waits for its other half.
        let (one, two) = (line(10, 1_000_000_000), line(70, 2_000_000_000));
        let (half, rest) = two.split_at(20);
        file.write_all(format!("{one}{half}").as_bytes()).unwrap();
        assert_eq!(look(&mut tail), Look::Grown);
        assert_eq!((tail.records(), tail.unfinished(), tail.lines.counts.damaged), (1, 20, 0));
        assert_eq!(tail.frames.a_second(), None);
        file.write_all(rest.as_bytes()).unwrap();
        assert_eq!(look(&mut tail), Look::Grown);
        assert_eq!((tail.records(), tail.unfinished(), tail.analysis.unresolved[0].count), (2, 0, 2));
        assert_eq!((tail.frames.at_least(), tail.frames.a_second()), (Some(70), Some(60.0)));
        assert_eq!(look(&mut tail), Look::Same);
    }

    #[test]
    fn an_emptied_or_replaced_file_begins_anew() {
        let folder = Folder::new();
        let path = folder.join("t.jsonl");
        std::fs::write(&path, line(1, 1) + &line(2, 2)).unwrap();
        let mut tail = Tail::new(path.clone());
        look(&mut tail);
        std::fs::write(&path, line(3, 3)).unwrap();
        assert_eq!(look(&mut tail), Look::Grown);
        assert_eq!((tail.records(), tail.restarts, tail.frames.at_least()), (1, 1, Some(3)));
        // Rotated: the old file has another name, and the new one is longer.
        std::fs::rename(&path, folder.join("old.jsonl")).unwrap();
        assert_eq!(look(&mut tail), Look::Same, "what is known stays");
        std::fs::write(&path, line(4, 4).repeat(5)).unwrap();
        assert_eq!(look(&mut tail), Look::Grown);
        assert_eq!((tail.records(), tail.restarts, tail.analysis.unresolved[0].count), (5, 2, 5));
    }

    #[test]
    fn the_last_record_of_a_kind_is_kept() {
        let folder = Folder::new();
        let path = folder.join("t.jsonl");
        let scale = |bias: f64| {
            format!("{{\"seq\":0,\"t_ns\":1,\"pid\":7,\"event\":\"scale\",\"rule\":\"sharp\",\"bias\":{bias}}}\n")
        };
        std::fs::write(&path, scale(-1.0) + &scale(-0.5) + &line(1, 1)).unwrap();
        let mut tail = Tail::new(path);
        look(&mut tail);
        assert_eq!(tail.last["scale"]["bias"], -0.5);
        assert_eq!(tail.last.len(), 1);
    }

    #[test]
    fn pulses_give_rates() {
        let folder = Folder::new();
        let path = folder.join("t.jsonl");
        let pulse = |t_ns: u64, [frames, draws, repaired]: [u64; 3]| {
            format!(
                "{{\"seq\":0,\"t_ns\":{t_ns},\"pid\":7,\"tid\":7,\"event\":\"pulse\",\"device\":\"0x1\",\"frames\":{frames},\
                 \"draws\":{draws},\"repaired\":{repaired},\"headroom\":{{\"maxSamplerAllocationCount\":9,\
                 \"maxCustomBorderColorSamplers\":8}}}}\n"
            )
        };
        std::fs::write(&path, pulse(1_000_000_000, [10, 100, 0])).unwrap();
        let mut tail = Tail::new(path.clone());
        look(&mut tail);
        assert_eq!(tail.beats["0x1"].a_second(), None, "one record has no rate");
        std::fs::write(&path, pulse(1_000_000_000, [10, 100, 0]) + &pulse(3_000_000_000, [130, 1100, 500])).unwrap();
        look(&mut tail);
        assert_eq!(tail.beats["0x1"].a_second(), Some([60.0, 500.0, 250.0]));
        assert_eq!((tail.beats["0x1"].last.headroom.samplers, tail.frames.at_least()), (9, Some(130)));
    }

    #[test]
    fn a_long_file_is_read_in_pieces() {
        let folder = Folder::new();
        let path = folder.join("t.jsonl");
        std::fs::write(&path, line(1, 1).repeat(30_000)).unwrap();
        let mut tail = Tail::new(path);
        assert_eq!(tail.look(&mut 1), Look::Behind);
        assert!(tail.progress().0 < tail.progress().1);
        assert_eq!(look(&mut tail), Look::Grown);
        assert_eq!(tail.records(), 30_000);
    }
}
