//! What was decided for each (sampler state, view class), read without a lock: the choice, and apart from it whether everything
//! was said about an immutable sampler, for which there is none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::lock::lock;
use crate::memory::{self, Room};

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
    /// The one that this one replaced, or null; readers may still hold it.
    older: AtomicPtr<Self>,
}

impl Drop for Far {
    fn drop(&mut self) {
        let older = *self.older.get_mut();
        if !older.is_null() {
            // SAFETY: made by `Box::into_raw` in `Row::grow`, and in no other place since this one replaced it.
            drop(unsafe { Box::from_raw(older) });
        }
    }
}

/// The choices of one state.
struct Row {
    near: [AtomicU64; NEAR],
    /// A bit for each class in `near`, set once nothing is left to be said about an immutable sampler.
    settled: AtomicU64,
    /// Those of the classes from [`NEAR`] on.
    far: AtomicPtr<Far>,
}

impl Row {
    fn new() -> Self {
        Self {
            near: [const { AtomicU64::new(UNDECIDED) }; NEAR],
            settled: AtomicU64::new(0),
            far: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    fn far(&self) -> Option<&Far> {
        // SAFETY: null or a pointer from `Box::into_raw`; what is replaced lives on as long as what replaced it.
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

    /// Makes a cell for a class. No other thread may do so meanwhile.
    fn grow(&self, class: usize) {
        let Some(index) = class.checked_sub(NEAR) else { return };
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
                older: AtomicPtr::new(self.far.load(Ordering::Relaxed)),
            };
            self.far.store(Box::into_raw(Box::new(fresh)), Ordering::Release);
        }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let far = *self.far.get_mut();
        if !far.is_null() {
            // SAFETY: made by `Box::into_raw` in `grow`, and in no other place: what it replaced hangs on it.
            drop(unsafe { Box::from_raw(far) });
        }
    }
}

/// A row for each state that something was chosen for, by number, or null.
type Rows = Box<[AtomicPtr<Row>]>;

/// One row for each state number that something was ever chosen for; rows are never freed, only used again, so that a stale number is
/// harmless.
///
/// A state that nothing was chosen for has a null pointer and no row: most of the states of an application conflict with no view, and
/// many samplers are alive at once where each has a state of its own.
pub struct Choices {
    rows: AtomicPtr<Rows>,
    /// Every array ever published, the last one in force; readers may still hold the older ones. Its lock serialises growth.
    owned: Mutex<Vec<AtomicPtr<Rows>>>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { rows: AtomicPtr::new(std::ptr::null_mut()), owned: Mutex::default() }
    }
}

impl Choices {
    /// The row of a state that something was chosen for.
    #[inline(always)]
    fn row(&self, state: u32) -> Option<&Row> {
        // SAFETY: null, or from `Box::into_raw` and kept in `owned`.
        let rows = unsafe { self.rows.load(Ordering::Acquire).as_ref() }?;
        // SAFETY: null, or from `Box::into_raw`, and kept as long as `self`.
        unsafe { rows.get(state as usize)?.load(Ordering::Acquire).as_ref() }
    }

    /// The row of a state, made if there is none.
    fn row_of(&self, state: u32) -> Option<&Row> {
        if let Some(row) = self.row(state) {
            return Some(row);
        }
        let mut owned = lock(&self.owned);
        let state = state as usize;
        // SAFETY: null, or from `Box::into_raw` and kept in `owned`.
        let old = unsafe { self.rows.load(Ordering::Relaxed).as_ref() }.map_or(&[][..], |rows| rows);
        if old.len() <= state {
            let mut rows = memory::vec((state + 1).next_power_of_two().max(64));
            rows.extend(old.iter().map(|row| AtomicPtr::new(row.load(Ordering::Relaxed))));
            rows.resize_with(rows.capacity(), AtomicPtr::default);
            let rows = Box::into_raw(Box::new(rows.into_boxed_slice()));
            owned.with_room().push(AtomicPtr::new(rows));
            self.rows.store(rows, Ordering::Release);
        }
        // SAFETY: null, or from `Box::into_raw` and kept in `owned`, where these rows may just have been put.
        let cell = unsafe { self.rows.load(Ordering::Relaxed).as_ref() }?.get(state)?;
        if cell.load(Ordering::Relaxed).is_null() {
            cell.store(Box::into_raw(Box::new(Row::new())), Ordering::Release);
        }
        // SAFETY: just found to be there, and kept as long as `self`.
        unsafe { cell.load(Ordering::Relaxed).as_ref() }
    }

    /// The choice for (state, view class): a sampler's handle, [`KEEP`] or [`UNDECIDED`].
    #[inline(always)]
    pub fn choice(&self, state: u32, class: u32) -> u64 {
        self.reader().choice(state, class)
    }

    /// The choices as they are now, for several look-ups: what is made first for a state later may be missing.
    #[inline(always)]
    pub(crate) fn reader(&self) -> Chosen<'_> {
        // SAFETY: null, or from `Box::into_raw` and kept in `owned`.
        Chosen { rows: unsafe { self.rows.load(Ordering::Acquire).as_ref() }.map_or(&[], |rows| rows), of: self }
    }

    #[inline(never)]
    fn far_choice(row: &Row, class: u32) -> u64 {
        row.cell(class as usize).map_or(UNDECIDED, |cell| cell.load(Ordering::Acquire))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the one before, [`UNDECIDED`] if there was none.
    ///
    /// The caller serialises this with [`Choices::settle`] and [`Choices::clear`] for the same state.
    pub fn publish(&self, state: u32, class: u32, choice: u64) -> u64 {
        let Some(row) = self.row_of(state) else { return KEEP };
        row.grow(class as usize);
        let Some(cell) = row.cell(class as usize) else { return KEEP };
        match cell.compare_exchange(UNDECIDED, choice, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Whether nothing is left to be said about an immutable sampler of this state with a view of this class.
    #[inline(always)]
    pub fn is_settled(&self, state: u32, class: u32) -> bool {
        let Some((word, bit)) = self.row(state).and_then(|row| row.settled(class as usize)) else { return false };
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Remembers that nothing is left to be said about an immutable sampler.
    pub fn settle(&self, state: u32, class: u32) {
        let Some(row) = self.row_of(state) else { return };
        row.grow(class as usize);
        if let Some((word, bit)) = row.settled(class as usize) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Forgets everything about a state.
    pub fn clear(&self, state: u32) {
        let Some(row) = self.row(state) else { return };
        let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(UNDECIDED, Ordering::Release));
        clear(&row.near);
        row.settled.store(0, Ordering::Release);
        if let Some(far) = row.far() {
            clear(&far.choices);
            clear(&far.settled);
        }
    }
}

impl Drop for Choices {
    fn drop(&mut self) {
        let mut rows = Rows::default();
        for array in std::mem::take(&mut *lock(&self.owned)) {
            // SAFETY: from `Box::into_raw`, listed once. The last one has all that the others had.
            rows = *unsafe { Box::from_raw(array.into_inner()) };
        }
        for row in rows.into_iter().map(AtomicPtr::into_inner).filter(|row| !row.is_null()) {
            // SAFETY: made by `Box::into_raw` in `row_of`, once for each number.
            drop(unsafe { Box::from_raw(row) });
        }
    }
}

/// [`Choices`] as they were at one time, but for what is in rows.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'c> {
    rows: &'c [AtomicPtr<Row>],
    pub(crate) of: &'c Choices,
}

impl Chosen<'_> {
    /// The choice for a pair that had none when this was made, which `undecided` makes if there still is none.
    #[cold]
    #[inline(never)]
    pub(crate) fn now(of: &Choices, pair: Pair, undecided: &mut dyn FnMut(Pair) -> u64) -> u64 {
        match of.choice(pair.state, pair.class) {
            UNDECIDED => undecided(pair),
            choice => choice,
        }
    }

    /// See [`Choices::choice`].
    #[inline(always)]
    pub(crate) fn choice(&self, state: u32, class: u32) -> u64 {
        let Some(row) = self.rows.get(state as usize) else { return UNDECIDED };
        // SAFETY: null, or from `Box::into_raw`, and kept as long as the choices.
        let Some(row) = (unsafe { row.load(Ordering::Acquire).as_ref() }) else { return UNDECIDED };
        match row.near.get(class as usize) {
            Some(cell) => cell.load(Ordering::Acquire),
            None => Choices::far_choice(row, class),
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
        let (state, other) = (3, 700);
        let classes = [0, NEAR as u32 - 1, NEAR as u32, 99, 1000];
        for class in classes {
            assert_eq!(choices.choice(state, class), UNDECIDED);
            assert_eq!(choices.publish(state, class, u64::from(class) + 1), UNDECIDED);
            assert_eq!(choices.publish(state, class, KEEP), u64::from(class) + 1);
        }
        assert!(classes.iter().all(|class| choices.choice(state, *class) == u64::from(*class) + 1));
        assert_eq!((choices.choice(state + 1, 0), choices.choice(9000, 0)), (UNDECIDED, UNDECIDED));
        assert_eq!(choices.publish(other, 1, 5), UNDECIDED);
        assert!(classes.iter().all(|class| choices.choice(state, *class) == u64::from(*class) + 1), "with more rows");
        assert_eq!((choices.choice(other, 0), choices.choice(other, 99)), (UNDECIDED, UNDECIDED));
        choices.clear(state);
        assert!(classes.iter().all(|class| choices.choice(state, *class) == UNDECIDED));
    }

    #[test]
    fn what_is_settled_is_no_choice_and_is_forgotten_with_the_state() {
        let choices = Choices::default();
        let (state, other) = (0, 1);
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
        choices.clear(state);
        assert!(classes.iter().all(|class| !choices.is_settled(state, *class)));
    }
}
