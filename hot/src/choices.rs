//! What was decided for each (sampler state, view class), read without a lock: the choice, and apart from it whether everything
//! was said about an immutable sampler, for which there is none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::memory;
use crate::table::{AppendVec, lock};

/// Choice word: no decision yet. Zero, as is a bit that is not set.
pub const UNDECIDED: u64 = 0;
/// Choice word: hand down the sampler that was given.
pub const KEEP: u64 = u64::MAX;

/// A descriptor whose sampler and view conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sampler given.
    pub sampler: u64,
    /// The view given.
    pub view: u64,
    /// Number of the sampler's state.
    pub state: u32,
    /// Number of the view's class.
    pub class: u32,
}

/// Classes whose choices lie in the row itself, so that reading one takes a single load that depends on others. Classes are
/// numbered as they appear, and few applications have more that conflict.
const NEAR: usize = 8;

struct Far {
    choices: Box<[AtomicU64]>,
    /// A bit for each.
    settled: Box<[AtomicU64]>,
}

/// The choices of one state.
#[repr(C)]
struct Row {
    near: [AtomicU64; NEAR],
    /// A bit for each class in `near`, set once nothing is left to be said about an immutable sampler.
    settled: AtomicU64,
    /// Those of the classes from [`NEAR`] on.
    far: AtomicPtr<Far>,
    /// Arrays that a larger one replaced; readers may still hold them. Its lock serialises growth.
    #[expect(clippy::vec_box, reason = "readers hold the address of the box's content")]
    retired: Mutex<Vec<Box<Far>>>,
}

impl Row {
    fn new() -> Self {
        Self {
            near: [const { AtomicU64::new(UNDECIDED) }; NEAR],
            settled: AtomicU64::new(0),
            far: AtomicPtr::new(std::ptr::null_mut()),
            retired: Mutex::default(),
        }
    }

    fn far(&self) -> Option<&Far> {
        // SAFETY: null or a pointer from `Box::into_raw`; replaced arrays live on in `retired` as long as the row.
        unsafe { self.far.load(Ordering::Acquire).as_ref() }
    }

    /// The cell of a class, if there is one yet.
    #[inline(always)]
    fn cell(&self, class: usize) -> Option<&AtomicU64> {
        match class.checked_sub(NEAR) {
            None => self.near.get(class),
            Some(index) => self.far()?.choices.get(index),
        }
    }

    /// The word and the bit in it that tell whether a class is settled, if there is a cell for it yet.
    #[inline(always)]
    fn settled(&self, class: usize) -> Option<(&AtomicU64, u64)> {
        match class.checked_sub(NEAR) {
            None => Some((&self.settled, 1 << class)),
            Some(index) => Some((self.far()?.settled.get(index / 64)?, 1 << (index % 64))),
        }
    }

    /// Makes a cell for a class.
    fn grow(&self, class: usize) {
        let Some(index) = class.checked_sub(NEAR) else { return };
        let mut retired = lock(&self.retired);
        let old = self.far();
        if old.map_or(0, |far| far.choices.len()) <= index {
            let len = (index + 1).next_power_of_two().max(8);
            let larger = |len: usize, old: Option<&[AtomicU64]>| {
                let old = old.unwrap_or(&[]).iter().map(|from| AtomicU64::new(from.load(Ordering::Relaxed)));
                let mut fresh = memory::vec(len);
                fresh.extend(old);
                fresh.resize_with(len, || AtomicU64::new(UNDECIDED));
                fresh.into_boxed_slice()
            };
            let fresh = Far {
                choices: larger(len, old.map(|far| &*far.choices)),
                settled: larger(len.div_ceil(64), old.map(|far| &*far.settled)),
            };
            let old = self.far.swap(Box::into_raw(Box::new(fresh)), Ordering::AcqRel);
            if !old.is_null() {
                // SAFETY: made by `Box::into_raw` and just taken out of its only place.
                retired.push(unsafe { Box::from_raw(old) });
            }
        }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let far = *self.far.get_mut();
        if !far.is_null() {
            // SAFETY: made by `Box::into_raw` in `cell`; replaced pointers move to `retired`, so it is owned once.
            drop(unsafe { Box::from_raw(far) });
        }
    }
}

/// One row for each state number; rows are never freed, only reused, so that a stale number is harmless.
#[derive(Default)]
pub struct Choices {
    rows: AppendVec<Row>,
}

impl Choices {
    /// Adds a row and returns its number; `None` when numbers run out.
    pub fn add_row(&self) -> Option<u32> {
        u32::try_from(self.rows.push(Row::new())?).ok()
    }

    /// The choice for (state, view class): a sampler's handle, [`KEEP`] (also for a state that is not there) or [`UNDECIDED`].
    #[inline(always)]
    pub fn choice(&self, state: u32, class: u32) -> u64 {
        let Some(row) = self.rows.get(state as usize) else { return KEEP };
        match row.near.get(class as usize) {
            Some(cell) => cell.load(Ordering::Acquire),
            None => Self::far_choice(row, class),
        }
    }

    #[inline(never)]
    fn far_choice(row: &Row, class: u32) -> u64 {
        row.cell(class as usize).map_or(UNDECIDED, |cell| cell.load(Ordering::Acquire))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the one before, [`UNDECIDED`] if there was none.
    ///
    /// The caller serialises this with [`Choices::clear`] for the same state.
    pub fn publish(&self, state: u32, class: u32, choice: u64) -> u64 {
        let Some(row) = self.rows.get(state as usize) else { return KEEP };
        row.grow(class as usize);
        let Some(cell) = row.cell(class as usize) else { return KEEP };
        match cell.compare_exchange(UNDECIDED, choice, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Whether nothing is left to be said about an immutable sampler of this state with a view of this class (also for a state
    /// that is not there).
    #[inline(always)]
    pub fn is_settled(&self, state: u32, class: u32) -> bool {
        let Some(row) = self.rows.get(state as usize) else { return true };
        row.settled(class as usize).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// Remembers that nothing is left to be said about an immutable sampler. While another thread adds a class to the same state
    /// that may be lost, and whoever asks next finds out once more that it was said.
    pub fn settle(&self, state: u32, class: u32) {
        let Some(row) = self.rows.get(state as usize) else { return };
        row.grow(class as usize);
        if let Some((word, bit)) = row.settled(class as usize) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Forgets everything about a state.
    pub fn clear(&self, state: u32) {
        let Some(row) = self.rows.get(state as usize) else { return };
        let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(UNDECIDED, Ordering::Release));
        clear(&row.near);
        row.settled.store(0, Ordering::Release);
        if let Some(far) = row.far() {
            clear(&far.choices);
            clear(&far.settled);
        }
    }
}

/// The choice for a pair: [`KEEP`] stands for the given sampler.
#[inline(always)]
pub fn choose(choices: &Choices, pair: Pair, undecided: &mut dyn FnMut(Pair) -> u64) -> u64 {
    let choice = match choices.choice(pair.state, pair.class) {
        UNDECIDED => undecided(pair),
        choice => choice,
    };
    if choice == KEEP { pair.sampler } else { choice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_choices_are_told_apart() {
        let choices = Choices::default();
        let state = choices.add_row().unwrap();
        let classes = [0, NEAR as u32 - 1, NEAR as u32, 99, 1000];
        for class in classes {
            assert_eq!(choices.choice(state, class), UNDECIDED);
            assert_eq!(choices.publish(state, class, u64::from(class) + 1), UNDECIDED);
            assert_eq!(choices.publish(state, class, KEEP), u64::from(class) + 1);
        }
        assert!(classes.iter().all(|class| choices.choice(state, *class) == u64::from(*class) + 1));
        assert_eq!(choices.choice(state + 1, 0), KEEP);
        let other = choices.add_row().unwrap();
        assert_eq!((choices.choice(other, 0), choices.choice(other, 99)), (UNDECIDED, UNDECIDED));
        choices.clear(state);
        assert!(classes.iter().all(|class| choices.choice(state, *class) == UNDECIDED));
    }

    #[test]
    fn what_is_settled_is_no_choice_and_is_forgotten_with_the_state() {
        let choices = Choices::default();
        let (state, other) = (choices.add_row().unwrap(), choices.add_row().unwrap());
        let classes = [0, NEAR as u32 - 1, NEAR as u32, NEAR as u32 + 63, NEAR as u32 + 64, 1000];
        for (nth, class) in classes.into_iter().enumerate() {
            assert!(!choices.is_settled(state, class));
            choices.settle(state, class);
            // Also those before it, although there is more room now.
            let settled = classes.iter().filter(|class| choices.is_settled(state, **class)).count();
            assert_eq!(settled, nth + 1);
            assert_eq!(choices.choice(state, class), UNDECIDED);
            assert!(!choices.is_settled(other, class));
        }
        let all = (0..2000).filter(|class| choices.is_settled(state, *class)).count();
        assert_eq!(all, classes.len());
        assert!(choices.is_settled(other + 1, 0), "a state that is not there");
        choices.clear(state);
        assert!(classes.iter().all(|class| !choices.is_settled(state, *class)));
    }
}
