//! Things that are done once, however often they come up: in bounded memory, so that some are done again much later.

use std::hash::Hash;

use samplin_hot::memory::Room;

use crate::table::FastSet;

/// What is to be done with a thing that has come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is done: for the first time, or for the first time in a while.
    Do,
    /// It was done.
    Done,
    /// So many were done that no more are.
    TooMany,
}

/// Things that have come up. Those that come up again and again are remembered; the others are forgotten, the oldest half at once.
#[derive(Debug)]
pub(super) struct Once<T, const REMEMBERED: usize = 4096> {
    recent: FastSet<T>,
    before: FastSet<T>,
    /// How many were done.
    done: u64,
}

impl<T, const REMEMBERED: usize> Default for Once<T, REMEMBERED> {
    fn default() -> Self {
        Self { recent: FastSet::default(), before: FastSet::default(), done: 0 }
    }
}

impl<T: Hash + Eq, const REMEMBERED: usize> Once<T, REMEMBERED> {
    /// Notes a thing, of which `most` are done.
    pub(super) fn turn(&mut self, thing: T, most: u64) -> Turn {
        if self.recent.contains(&thing) {
            return Turn::Done;
        }
        let was_before = self.before.contains(&thing);
        if !was_before && self.done >= most {
            return Turn::TooMany;
        }
        if self.recent.len() >= REMEMBERED / 2 {
            self.before = std::mem::take(&mut self.recent);
        }
        self.recent.with_room().insert(thing);
        if was_before {
            return Turn::Done;
        }
        self.done += 1;
        Turn::Do
    }

    /// How many are remembered.
    pub(super) fn len(&self) -> usize {
        self.recent.len() + self.before.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMEMBERED: usize = 64;

    #[test]
    fn what_comes_up_again_is_done_once() {
        let mut once = Once::<u64, REMEMBERED>::default();
        let mut done = 0_u64;
        for frame in 0..10_000_u64 {
            // One that is always there, and one that is new each time.
            for thing in [0, frame + 1] {
                done += u64::from(once.turn(thing, u64::MAX) == Turn::Do);
            }
            assert!(once.len() <= REMEMBERED);
        }
        assert_eq!(done, 10_001, "of what is forgotten nothing came up again");
    }

    #[test]
    fn what_was_forgotten_is_done_again() {
        let mut once = Once::<u64, REMEMBERED>::default();
        let things = 0..2 * REMEMBERED as u64;
        for _ in 0..2 {
            assert!(things.clone().all(|thing| once.turn(thing, u64::MAX) == Turn::Do));
        }
        assert_eq!(once.turn(0, u64::MAX), Turn::Do);
        assert_eq!(once.turn(0, u64::MAX), Turn::Done);
    }

    #[test]
    fn beyond_the_most_nothing_is_done() {
        let mut once = Once::<u64, REMEMBERED>::default();
        let turns = [1, 2, 1, 3, 2, 3].map(|thing| once.turn(thing, 2));
        use Turn::{Do, Done, TooMany};
        assert_eq!(turns, [Do, Do, Done, TooMany, Done, TooMany]);
    }
}
