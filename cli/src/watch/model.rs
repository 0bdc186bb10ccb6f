//! What is known of the watched processes.

use std::path::PathBuf;

use samplin_platform as platform;
use samplin_wire::read;
use serde_json::{Value, json};

use super::find::Target;
use super::follow::{Beat, Look, Tail};
use crate::inspect;
use crate::trace::analysis::Analysis;
use crate::trace::record;

/// How it is with a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// There is no record of it yet.
    Waiting,
    /// It runs.
    Running,
    /// It has destroyed its instances, and the trace is whole.
    Ended,
    /// It is gone, and its trace has no end.
    Stopped,
}

impl Life {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Stopped => "died",
        }
    }
}

/// A process and its trace.
#[derive(Debug)]
pub struct Process {
    /// The trace.
    pub tail: Tail,
    /// How it is.
    pub life: Life,
}

impl Process {
    /// Of a trace, of which nothing is read yet.
    pub fn new(path: PathBuf) -> Self {
        Self { tail: Tail::new(path), life: Life::Waiting }
    }

    fn analysis(&self) -> &Analysis {
        &self.tail.analysis
    }

    /// The first layer record.
    pub fn layer(&self) -> Option<&Value> {
        self.analysis().layers.first().map(|(_, layer)| layer)
    }

    /// The program's name, else that of the trace.
    pub fn name(&self) -> String {
        let exe = self.layer().and_then(|layer| layer.get("exe")).and_then(Value::as_str);
        let file = || self.tail.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        exe.map_or_else(file, str::to_owned)
    }

    /// A setting of the layer in it.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.layer().and_then(|layer| read::setting(layer, key))
    }

    /// How often rules changed while it ran.
    pub fn retunes(&self) -> u64 {
        self.tail.last.get("retune").and_then(|retune| retune.get("generation")?.as_u64()).unwrap_or(0)
    }

    /// What stayed when rules changed last.
    pub fn kept(&self) -> u64 {
        let kept = self.tail.last.get("retune").and_then(|retune| retune.get("kept")?.as_object());
        kept.into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum()
    }

    /// Looks whether it still runs; whether that is news.
    fn look_alive(&mut self) -> bool {
        let analysis = &self.tail.analysis;
        let life = if analysis.started == 0 {
            Life::Waiting
        } else if analysis.ended >= analysis.started {
            Life::Ended
        } else if self.tail.pid != 0 && platform::process_exists(self.tail.pid) {
            Life::Running
        } else {
            Life::Stopped
        };
        std::mem::replace(&mut self.life, life) != life
    }
}

/// How it goes: rates between the last two records of each device, added up, and the least that is left of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulse {
    /// Draws that were submitted.
    pub draws: u64,
    /// Frames, draws, and those of them that were repaired, a second.
    pub a_second: Option<[f64; 3]>,
    /// Samplers.
    pub samplers: u32,
    /// Samplers with a custom border colour.
    pub custom_borders: u32,
    /// Copies of descriptor sets.
    pub copies: u64,
    /// Places for samplers that shaders look up.
    pub places: Option<u64>,
}

impl Pulse {
    fn add(sum: Option<Self>, beat: &Beat) -> Self {
        let last = &beat.last;
        let own = Self {
            draws: last.draws,
            a_second: beat.a_second(),
            samplers: last.headroom.samplers,
            custom_borders: last.headroom.custom_borders,
            copies: last.copies.unwrap_or(0),
            places: last.places,
        };
        let Some(sum) = sum else { return own };
        let rates = match (sum.a_second, own.a_second) {
            (Some(one), Some(other)) => Some(std::array::from_fn(|index| one[index] + other[index])),
            (one, other) => one.or(other),
        };
        Self {
            draws: sum.draws + own.draws,
            a_second: rates,
            samplers: sum.samplers.min(own.samplers),
            custom_borders: sum.custom_borders.min(own.custom_borders),
            copies: sum.copies + own.copies,
            places: sum.places.into_iter().chain(own.places).min(),
        }
    }

    /// Of the draws, which part was repaired, in percent.
    pub fn share(&self) -> Option<f64> {
        let [_, draws, repaired] = self.a_second?;
        (draws > 0.0).then(|| repaired * 100.0 / draws)
    }

    fn json(&self) -> Value {
        let [frames, draws, repaired] = match self.a_second {
            Some(rates) => rates.map(Some),
            None => [None; 3],
        };
        json!({
            "draws": self.draws,
            "a_second": { "frames": frames, "draws": draws, "repaired": repaired },
            "headroom": { "samplers": self.samplers, "custom_borders": self.custom_borders },
            "copies": self.copies,
            "places": self.places,
        })
    }
}

/// Sums over processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Records that were read.
    pub records: u64,
    /// Changes.
    pub changes: u64,
    /// Records of pairs and others that were repaired.
    pub repaired: u64,
    /// Records of pairs and samplers that are legal; only in traces of the level all.
    pub legal: u64,
    /// What is left.
    pub left: u64,
    /// What rules switch off.
    pub exempt: u64,
    /// Descriptors that were written and rewritten, of devices that are destroyed.
    pub writes: Option<(u64, u64)>,
    /// Frames that have ended at least, in the process with the most.
    pub frames: Option<u64>,
    /// Frames a second in that process.
    pub frames_a_second: Option<f64>,
    /// How it goes, of programs with `pulse=on`.
    pub pulse: Option<Pulse>,
}

impl Sums {
    /// Of what was seen, which part was repaired, in percent: descriptors where their device is destroyed, else records.
    pub fn share(&self) -> Option<(u64, u64)> {
        match self.writes {
            Some((seen, rewritten)) if seen > 0 => Some((rewritten, seen)),
            _ if self.legal > 0 => Some((self.repaired, self.repaired + self.legal + self.left)),
            _ => None,
        }
    }
}

/// Everything that is known.
#[derive(Debug)]
pub struct Model {
    target: Target,
    /// The processes, in the order in which their traces were found.
    pub processes: Vec<Process>,
    /// The one that is looked at; none for all.
    pub only: Option<usize>,
}

impl Model {
    /// Of what is watched, of which nothing is read yet.
    pub fn new(target: Target) -> Self {
        Self { target, processes: Vec::new(), only: None }
    }

    /// Names the process that was started.
    pub fn begin(&mut self, root: u32) {
        if let Target::Tree(tree) = &mut self.target {
            tree.begin(root);
        }
    }

    /// Looks for new traces and for processes that ended; whether there is news.
    pub fn look_around(&mut self) -> bool {
        let mut is_news = false;
        if self.target.is_open() || self.processes.is_empty() {
            for path in self.target.look() {
                if !self.processes.iter().any(|process| process.tail.path == path) {
                    self.processes.push(Process::new(path));
                    is_news = true;
                }
            }
        }
        for process in &mut self.processes {
            is_news |= process.look_alive();
        }
        is_news
    }

    /// Reads what was added to the traces, at most about so many bytes.
    pub fn read(&mut self, mut budget: u64) -> Look {
        let mut look = Look::Same;
        for process in &mut self.processes {
            let one = process.tail.look(&mut budget);
            if one != Look::Same {
                process.look_alive();
                look = if look == Look::Behind { look } else { one };
            }
        }
        look
    }

    /// The processes that are looked at, each with its number.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &Process)> {
        let only = self.only;
        self.processes.iter().enumerate().filter(move |(index, _)| only.is_none_or(|only| only == *index))
    }

    /// Bytes that were read, and that there are.
    pub fn progress(&self) -> (u64, u64) {
        let sum = |(read, length): (u64, u64), process: &Process| {
            let (one, of) = process.tail.progress();
            (read + one.min(of), length + of)
        };
        self.processes.iter().fold((0, 0), sum)
    }

    /// Sums over the processes that are looked at.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for (_, process) in self.shown() {
            let analysis = process.analysis();
            sums.records += process.tail.records();
            sums.changes += analysis.change_count();
            sums.repaired += analysis.record_count();
            sums.legal += analysis.legal;
            sums.left += analysis.unresolved.iter().map(|item| item.count).sum::<u64>() + analysis.unresolved_folded;
            sums.exempt += analysis.exempt.iter().map(|item| item.count).sum::<u64>() + analysis.exempt_folded;
            if let Some(census) = analysis.census() {
                let (seen, rewritten) = sums.writes.unwrap_or_default();
                let count =
                    |of: fn(&crate::trace::analysis::Writes) -> u64| census.writes.values().map(of).sum::<u64>();
                sums.writes = Some((seen + count(|one| one.seen), rewritten + count(|one| one.rewritten)));
            }
            sums.pulse = process.tail.beats.values().fold(sums.pulse, |sum, beat| Some(Pulse::add(sum, beat)));
            if process.tail.frames.at_least() > sums.frames {
                sums.frames = process.tail.frames.at_least();
                sums.frames_a_second = process.tail.frames.a_second();
            }
        }
        sums
    }

    /// All of it as JSON.
    pub fn json(&self) -> Value {
        let processes: Vec<Value> = self
            .processes
            .iter()
            .map(|process| {
                let tail = &process.tail;
                let (read, length) = tail.progress();
                json!({
                    "trace": tail.path,
                    "pid": tail.pid,
                    "program": process.name(),
                    "state": process.life.word(),
                    "trouble": tail.trouble,
                    "bytes": { "read": read, "there": length, "unfinished_line": tail.unfinished() },
                    "restarts": tail.restarts,
                    "frames": { "at_least": tail.frames.at_least(), "a_second": tail.frames.a_second() },
                    "summary": inspect::json(&tail.snapshot()),
                })
            })
            .collect();
        let sums = self.sums();
        json!({
            "processes": processes,
            "records": sums.records,
            "changes": sums.changes,
            "left": sums.left,
            "exempt": sums.exempt,
            "repaired_share": sums.share().map(|(repaired, of)| json!({ "repaired": repaired, "of": of })),
            "frames": { "at_least": sums.frames, "a_second": sums.frames_a_second },
            "pulse": sums.pulse.map(|pulse| pulse.json()),
        })
    }
}

/// A process in a line: `vkcube (4711), running`.
pub fn describe(process: &Process) -> String {
    let pid = if process.tail.pid == 0 { String::new() } else { format!(" ({})", process.tail.pid) };
    format!("{}{pid}, {}", process.name(), process.life.word())
}

/// What is wrong with the trace of a process, in a few words.
pub fn trouble(process: &Process) -> Option<String> {
    let tail = &process.tail;
    let damaged = tail.damaged();
    if let Some(trouble) = &tail.trouble {
        return Some(trouble.clone());
    }
    let mut parts = Vec::new();
    if damaged > 0 {
        parts.push(record::counted(damaged, "damaged line"));
    }
    if tail.unfinished() > 0 && process.life != Life::Running {
        parts.push("the last line is cut off".to_owned());
    }
    if tail.restarts > 0 {
        parts.push(format!("read from its beginning {}", record::counted(tail.restarts, "more time")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
