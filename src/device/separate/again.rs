//! Pipelines that may be made again.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use samplin_hot::memory::Room;

use super::programs::Program;

/// Pipelines that may be made again, oldest first.
#[derive(Default)]
pub(super) struct KeptPrograms {
    programs: VecDeque<Weak<Program>>,
    /// Those that were split when they were the oldest.
    split: VecDeque<Weak<Program>>,
    /// How many there are when those that are gone are looked for.
    limit: usize,
}

impl KeptPrograms {
    /// How many there are, those that are gone among them.
    pub(super) fn len(&self) -> usize {
        self.programs.len() + self.split.len()
    }

    pub(super) fn add(&mut self, program: &Arc<Program>) {
        if self.len() >= self.limit {
            for list in [&mut self.programs, &mut self.split] {
                list.retain(|program| program.strong_count() > 0);
            }
            self.limit = 2 * self.len() + 64;
        }
        self.programs.with_room().push_back(Arc::downgrade(program));
    }

    /// Takes out the oldest that was not set aside, and if there is none, of those, which is also told. `newest`: the one that was added
    /// last stays.
    pub(super) fn oldest(&mut self, newest: bool) -> Option<(Weak<Program>, bool)> {
        if self.programs.len() > usize::from(newest) {
            return Some((self.programs.pop_front()?, false));
        }
        Some((self.split.pop_front()?, true))
    }

    pub(super) fn set_aside(&mut self, program: Weak<Program>) {
        self.split.with_room().push_back(program);
    }
}
