//! How far the recording of a command buffer has come: the number of its next draw, and the debug labels that are open.
//!
//! A command buffer keeps the innermost [`LEVELS`] label regions, each with the first [`BYTES`] bytes of its name, in memory that the
//! first label allocates and that stays with the command buffer.

use samplin_wire::record;

use super::Separate;
use super::programs::Program;
use crate::device::journal::Journal;
use crate::device::live::{Recording, Text};

/// How many nested label regions of a command buffer are kept.
const LEVELS: usize = 8;

/// How many bytes of a label's name are kept.
const BYTES: usize = 64;

/// The name of a label.
#[derive(Clone, Copy)]
pub(super) struct Name {
    length: u8,
    bytes: [u8; BYTES],
}

impl Default for Name {
    fn default() -> Self {
        Self { length: 0, bytes: [0; BYTES] }
    }
}

impl Name {
    /// The first bytes of a name, cut between two characters; empty if there is none.
    fn read(name: Text<'_>) -> Self {
        let mut read = Self::default();
        // One more, which says whether the last character is whole.
        let mut bytes = [0; BYTES + 1];
        let mut end = bytes.iter_mut().zip(name.bytes()).map(|(place, byte)| *place = byte).count();
        end = end.min(BYTES);
        // A character of UTF-8 has at most three bytes behind its first.
        while end > BYTES - 4 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        let kept = bytes.get(..end).unwrap_or_default();
        read.bytes.iter_mut().zip(kept).for_each(|(place, byte)| *place = *byte);
        read.length = end as u8;
        read
    }

    /// The name; none if it is empty.
    fn text(&self) -> Option<String> {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Labels of a command buffer.
#[derive(Default)]
struct Labels {
    /// How many regions are open.
    depth: usize,
    /// How many of the innermost ones are in `names`.
    kept: usize,
    /// The region at depth `n`, counted from 1, is at `n` modulo [`LEVELS`]. While none is open, the last label that was inserted is at 0.
    names: [Name; LEVELS],
}

impl Labels {
    fn put(&mut self, depth: usize, name: Name) {
        if let Some(place) = self.names.get_mut(depth % LEVELS) {
            *place = name;
        }
    }

    /// The innermost region that has a name; where none is open, the last label that was inserted.
    fn innermost(&self) -> Name {
        let outermost = if self.depth == 0 { 0 } else { self.depth - self.kept + 1 };
        let names = (outermost..=self.depth).rev().filter_map(|depth| self.names.get(depth % LEVELS));
        names.copied().find(|name| name.length != 0).unwrap_or_default()
    }
}

/// What a command does to the labels of its command buffer.
#[derive(Clone, Copy, Debug)]
pub enum Label<'c> {
    /// Begins a region with this name.
    Begin(Text<'c>),
    /// Inserts a label with this name.
    Insert(Text<'c>),
    /// Ends the innermost region.
    End,
}

/// How far the recording of a command buffer has come.
#[derive(Default)]
pub(super) struct Progress {
    /// How many draws were recorded.
    draws: u32,
    labels: Option<Box<Labels>>,
}

impl Progress {
    /// The command buffer is begun.
    pub(super) fn begin(&mut self) {
        self.draws = 0;
        if let Some(labels) = &mut self.labels {
            (labels.depth, labels.kept) = (0, 0);
            labels.put(0, Name::default());
        }
    }

    /// A draw is recorded.
    #[inline(always)]
    pub(super) fn count(&mut self) {
        self.draws = self.draws.wrapping_add(1);
    }

    /// Writes down the draw that was counted last.
    pub(super) fn put_last(&self, draw: &mut Draw) {
        draw.number = self.draws;
        let label = self.labels.as_ref().map_or_else(Name::default, |labels| labels.innermost());
        match &mut draw.label {
            Some(kept) => **kept = label,
            None if label.length == 0 => {}
            None => draw.label = Some(Box::new(label)),
        }
    }

    /// Notes a label.
    pub(super) fn label(&mut self, label: Label<'_>) {
        // Ends of regions that another command buffer has begun.
        if self.labels.is_none() && matches!(label, Label::End) {
            return;
        }
        let labels = self.labels.get_or_insert_default();
        match label {
            Label::Begin(name) => {
                labels.depth += 1;
                labels.kept = LEVELS.min(labels.kept + 1);
                labels.put(labels.depth, Name::read(name));
            }
            Label::Insert(name) if labels.depth == 0 => labels.put(0, Name::read(name)),
            Label::Insert(_) => {}
            Label::End => {
                labels.depth = labels.depth.saturating_sub(1);
                labels.kept = labels.kept.saturating_sub(1);
                if labels.depth == 0 {
                    labels.put(0, Name::default());
                }
            }
        }
    }
}

/// A draw, a dispatch or a trace of rays.
#[derive(Default)]
pub(super) struct Draw {
    /// Its number in its command buffer, from 1; 0 if that is not known.
    pub(super) number: u32,
    /// Allocated for the first label, so that most bind points need no room for one.
    label: Option<Box<Name>>,
}

impl Draw {
    fn label(&self) -> Option<String> {
        self.label.as_deref().and_then(Name::text)
    }
}

/// A program that a draw uses.
#[derive(Clone, Copy)]
pub(super) struct Drawn<'a> {
    pub(super) program: &'a Program,
    pub(super) draw: &'a Draw,
}

impl std::ops::Deref for Drawn<'_> {
    type Target = Program;

    fn deref(&self) -> &Program {
        self.program
    }
}

impl Journal {
    /// What a record says of a draw.
    pub(super) fn draw_members(&self, draw: &Draw) -> Option<record::Draw> {
        let number = Some(draw.number).filter(|number| *number != 0)?;
        Some(record::Draw { frame: self.frames.count(), draw: number, label: draw.label() })
    }
}

impl Separate {
    /// Notes a label.
    pub fn label(&self, journal: &Journal, commands: Recording<'_>, label: Label<'_>) {
        if let Some(buffer) = self.noted(commands).filter(|_| journal.records_decisions()) {
            buffer.at_progress(|progress| progress.label(label));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    /// The progress after these: `+name` begins, `!name` inserts, `-` ends.
    fn progress(steps: &[&str]) -> Progress {
        let mut progress = Progress::default();
        for step in steps {
            let name = CString::new(&step[1..]).unwrap();
            // SAFETY: null-terminated.
            let text = unsafe { Text::new(name.as_ptr()) };
            progress.label(match &step[..1] {
                "+" => Label::Begin(text),
                "!" => Label::Insert(text),
                _ => Label::End,
            });
        }
        progress
    }

    fn last(progress: &Progress) -> (u32, Option<String>) {
        let mut draw = Draw::default();
        progress.put_last(&mut draw);
        (draw.number, draw.label())
    }

    fn label(steps: &[&str]) -> Option<String> {
        last(&progress(steps)).1
    }

    fn is(steps: &[&str], expected: Option<&str>) {
        assert_eq!(label(steps).as_deref(), expected, "{steps:?}");
    }

    #[test]
    fn the_innermost_region_that_is_open_names_a_draw() {
        is(&[], None);
        is(&["+a"], Some("a"));
        is(&["+a", "+b"], Some("b"));
        is(&["+a", "+b", "-"], Some("a"));
        is(&["+a", "-"], None);
    }

    #[test]
    fn a_region_without_a_name_leaves_the_one_around_it() {
        is(&["+a", "+"], Some("a"));
        is(&["+a", "+", "-", "-"], None);
        is(&["+"], None);
    }

    #[test]
    fn an_inserted_label_counts_outside_of_regions() {
        is(&["!x"], Some("x"));
        is(&["!x", "!y"], Some("y"));
        is(&["+a", "!x"], Some("a"));
        is(&["!x", "+a", "-"], None);
        is(&["!x", "+"], None);
        is(&["!x", "-"], None);
    }

    #[test]
    fn ends_of_regions_of_other_command_buffers_end_nothing() {
        is(&["-", "-", "+a"], Some("a"));
        is(&["+a", "-", "-", "+b"], Some("b"));
        assert!(progress(&["-"]).labels.is_none());
    }

    #[test]
    fn the_innermost_levels_are_kept() {
        let names: Vec<String> = (1..=20).map(|depth| format!("+{depth}")).collect();
        for ends in 0..=20 {
            let steps: Vec<&str> = names.iter().map(String::as_str).chain(std::iter::repeat_n("-", ends)).collect();
            let expected = (ends < LEVELS).then(|| (20 - ends).to_string());
            is(&steps, expected.as_deref());
            // What is begun afterwards is kept again.
            is(&[&steps[..], &["+new"]].concat(), Some("new"));
            is(
                &[&steps[..], &["+new", "-"]].concat(),
                if ends + 1 < LEVELS || ends == 7 { expected.as_deref() } else { None },
            );
        }
    }

    #[test]
    fn a_command_buffer_that_is_begun_has_no_draws_and_no_labels() {
        for steps in [&["+a", "+b"][..], &["!x"]] {
            let mut progress = progress(steps);
            progress.count();
            progress.begin();
            assert_eq!(last(&progress), (0, None));
        }
    }

    #[test]
    fn names_are_cut_between_characters() {
        let whole = "x".repeat(BYTES);
        is(&[&format!("+{whole}")], Some(&whole));
        is(&[&format!("+{whole}y")], Some(&whole));
        for (before, cut) in
            [(BYTES - 1, "é"), (BYTES - 1, "€"), (BYTES - 2, "€"), (BYTES - 1, "🌑"), (BYTES - 3, "🌑")]
        {
            let kept = "x".repeat(before);
            is(&[&format!("+{kept}{cut}tail")], Some(&kept));
        }
        let fits = format!("{}🌑", "x".repeat(BYTES - 4));
        is(&[&format!("+{fits}")], Some(&fits));
        is(&[&format!("+{fits}tail")], Some(&fits));
    }

    #[test]
    fn hostile_names_are_survived() {
        let mut progress = Progress::default();
        let tails = CString::new([0x80; 200]).unwrap();
        let names = [std::ptr::null(), c"a\xff\xfeb".as_ptr(), tails.as_ptr()];
        // SAFETY: null or null-terminated.
        let [none, broken, tails] = names.map(|name| unsafe { Text::new(name) });
        progress.label(Label::Begin(none));
        assert_eq!(last(&progress).1, None);
        progress.label(Label::Begin(broken));
        assert_eq!(last(&progress).1.as_deref(), Some("a\u{fffd}\u{fffd}b"));
        progress.label(Label::Begin(tails));
        assert_eq!(last(&progress).1, Some("\u{fffd}".repeat(BYTES - 4)));
    }
}
