//! Links that needed samplers of their own, by names that hold from run to run, so that later pipelines with such a link are split when
//! they are made, and nothing is compiled at a draw.
//!
//! With the setting `learned` they are a text file of one line each. It is read when a device is made, and a line is appended when a link
//! is learned: in one write, so that several processes may have the same file.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use samplin_hot::memory::Room;
use samplin_platform as platform;
use samplin_spirv::Index;

use super::Separate;
use super::layouts::PipelineShape;
use super::programs::{Program, ProgramLink};
use crate::decide::fnv1a;
use crate::device::ground::Ground;
use crate::settings::{Level, Problem};
use crate::table::{FastSet, lock};
use samplin_bind::plan::LINKS;

/// The first line of a file, without which it is somebody else's.
const HEADER: &str = "# samplin: links that are split when their pipeline is made";
/// Bytes of a file that are read at most, and links that are remembered at most.
const LARGEST: u64 = 1 << 22;
const MOST: usize = 1 << 16;

/// Links by their names.
#[derive(Default)]
pub(super) struct Learned {
    links: Mutex<FastSet<u64>>,
    /// There are any.
    any: AtomicBool,
    /// The file; none if there is none to write to.
    path: Mutex<Option<PathBuf>>,
    /// The file is still to be begun.
    is_new: AtomicBool,
}

impl Learned {
    fn insert(&self, name: u64) -> bool {
        let mut links = lock(&self.links);
        let is_new = links.len() < MOST && links.with_room().insert(name);
        self.any.store(true, Ordering::Release);
        is_new
    }

    /// How many are known.
    pub(super) fn count(&self) -> usize {
        lock(&self.links).len()
    }

    /// Takes over the lines of a file. Lines that are no names are passed over: comments, and what a process left that was cut off.
    fn take(&self, text: &str) {
        for line in text.lines() {
            let word = line.split_ascii_whitespace().next().filter(|word| word.len() == 16);
            if let Some(name) = word.and_then(|word| u64::from_str_radix(word, 16).ok()) {
                self.insert(name);
            }
        }
    }

    fn append(&self, line: &str) {
        let Some(path) = lock(&self.path).clone() else { return };
        let opened = match platform::open_append(&path) {
            Ok(file) => file,
            Err(why) => return tracing::warn!(%why, "learned links are not kept"),
        };
        let mut text = String::new();
        if opened.ends_mid_line {
            text.push('\n');
        }
        if self.is_new.swap(false, Ordering::Relaxed) {
            text.push_str(HEADER);
            text.push('\n');
        }
        text.push_str(line);
        let id = opened.id;
        let file = opened.release();
        if platform::write(file, text.as_bytes()).is_err() {
            tracing::warn!("a learned link is not kept");
        }
        platform::close(file, id);
    }
}

/// The name of a link: its slots, and how their sets are defined. Handles have no part in it, so it is the same in every run.
fn name(link: &ProgramLink, layout: &PipelineShape) -> Option<u64> {
    let slot = |operand: &samplin_spirv::Operand| {
        let set = layout.sets.get(operand.set as usize)?.as_ref()?;
        let element = if let Index::Const(element) = operand.index { u64::from(element) } else { u64::MAX };
        Some([u64::from(operand.set), u64::from(operand.binding), element, set.stable()])
    };
    let words = [slot(&link.image)?, slot(&link.sampler)?];
    Some(fnv1a(words.iter().flatten().flat_map(|word| word.to_le_bytes())))
}

impl Separate {
    /// Remembers that links of a pipeline needed samplers of their own.
    pub(super) fn learn(&self, program: &Program, links: u64) {
        if self.force.splits() {
            return;
        }
        for (_, link) in program.links.iter().take(LINKS).enumerate().filter(|(n, _)| links >> n & 1 != 0) {
            let Some(name) = name(link, &program.layout) else { continue };
            if self.learned.insert(name) {
                let (image, sampler) = (&link.image, &link.sampler);
                let (image, sampler) = ((image.set, image.binding), (sampler.set, sampler.binding));
                let line =
                    format!("{name:016x} # image {}.{}, sampler {}.{}\n", image.0, image.1, sampler.0, sampler.1);
                self.learned.append(&line);
            }
        }
    }

    /// The links of a pipeline that are known to need samplers of their own.
    pub(super) fn learned(&self, program: &Program) -> u64 {
        if !self.learned.any.load(Ordering::Acquire) {
            return 0;
        }
        let known = lock(&self.learned.links);
        let is_known = |link| name(link, &program.layout).is_some_and(|name| known.contains(&name));
        let links = program.links.iter().take(LINKS).enumerate();
        links.filter(|(_, link)| is_known(link)).fold(0, |all, (number, _)| all | 1 << number)
    }

    /// Reads the links of earlier runs. A file that cannot be read, is too large or somebody else's is not written either.
    pub fn read_learned(&self, ground: &Ground) {
        if ground.wishes.audit {
            return;
        }
        let Some(path) = ground.driver.instance.settings.learned.as_deref() else { return };
        let path = PathBuf::from(samplin_config::template::Values::current().expand(path));
        let read = if platform::is_elevated() {
            Err("the process has elevated privileges".to_owned())
        } else if !platform::exists(&path) {
            self.learned.is_new.store(true, Ordering::Relaxed);
            Ok(String::new())
        } else {
            let text = platform::read_regular(&path, LARGEST).map_err(|why| why.to_string());
            text.and_then(|bytes| match String::from_utf8(bytes) {
                Ok(text) if text.is_empty() => {
                    self.learned.is_new.store(true, Ordering::Relaxed);
                    Ok(text)
                }
                Ok(text) if text.lines().next() == Some(HEADER) => Ok(text),
                _ => Err("it is no list of learned links".to_owned()),
            })
        };
        match read {
            Ok(text) => {
                self.learned.take(&text);
                *lock(&self.learned.path) = Some(path);
            }
            Err(why) => ground.journal.trace().emit(
                "settings",
                &Problem {
                    level: Level::Error,
                    key: "learned".to_owned(),
                    file: None,
                    line: None,
                    column: None,
                    message: format!("{} is not read, and nothing is written there: {why}", path.display()),
                },
            ),
        }
    }
}
