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

/// Different choices that lie in the row of a state itself: what a view lacks decides, so most classes share one.
const NEAR: usize = 3;

/// Classes that have a bit in a row; the highest bit stands for all others and is never set.
const BITS: usize = 63;

/// The bit of a class in a word, or the one that is never set.
#[inline(always)]
fn bit(class: u32) -> u64 {
    1 << class.min(BITS as u32)
}

/// A choice and the classes that it is made for.
struct Shared {
    choice: AtomicU64,
    classes: AtomicU64,
}

impl Shared {
    /// The choice, if it is one for the class of a bit.
    #[inline(always)]
    fn of(&self, bit: u64) -> Option<u64> {
        (self.classes.load(Ordering::Acquire) & bit != 0).then(|| self.choice.load(Ordering::Relaxed))
    }
}

/// What has no place in a row, by class.
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

/// The choices of one state, in one cache line: where there are thousands, each is a miss.
#[repr(align(64))]
struct Row {
    near: [Shared; NEAR],
    /// A bit for each class, set once nothing is left to be said about an immutable sampler.
    settled: AtomicU64,
    far: AtomicPtr<Far>,
}

const _: () = assert!(size_of::<Row>() == 64);

impl Row {
    fn new() -> Self {
        Self {
            near: [const { Shared { choice: AtomicU64::new(UNDECIDED), classes: AtomicU64::new(0) } }; NEAR],
            settled: AtomicU64::new(0),
            far: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The same row in another array.
    fn again(&self) -> Self {
        let word = |word: &AtomicU64| AtomicU64::new(word.load(Ordering::Relaxed));
        Self {
            near: self.near.each_ref().map(|from| Shared { choice: word(&from.choice), classes: word(&from.classes) }),
            settled: word(&self.settled),
            far: AtomicPtr::new(self.far.load(Ordering::Relaxed)),
        }
    }

    fn far(&self) -> Option<&Far> {
        // SAFETY: null or a pointer from `Box::into_raw`; what is replaced lives on as long as what replaced it.
        unsafe { self.far.load(Ordering::Acquire).as_ref() }
    }

    /// The choice for a class that is none of the first choice's.
    #[inline(never)]
    fn other(&self, class: u32) -> u64 {
        let near = self.near.iter().find_map(|shared| shared.of(bit(class)));
        let far = || Some(self.far()?.choices.get(class as usize)?.load(Ordering::Acquire));
        near.or_else(far).unwrap_or(UNDECIDED)
    }

    /// Enters a choice for a class that has none. No other thread may change the row meanwhile.
    fn enter(&self, class: u32, choice: u64) {
        let shared = self.near.iter().find(|shared| {
            let is_free = shared.classes.load(Ordering::Relaxed) == 0;
            is_free || shared.choice.load(Ordering::Relaxed) == choice
        });
        match shared.filter(|_| (class as usize) < BITS) {
            Some(shared) => {
                shared.choice.store(choice, Ordering::Relaxed);
                shared.classes.fetch_or(bit(class), Ordering::Release);
            }
            None => {
                let cell = self.grow(class as usize).and_then(|far| far.choices.get(class as usize));
                if let Some(cell) = cell {
                    cell.store(choice, Ordering::Release);
                }
            }
        }
    }

    /// The word and the bit in it that tell whether a class is settled, if there is one for it yet.
    #[inline(always)]
    fn settled(&self, class: u32) -> Option<(&AtomicU64, u64)> {
        if (class as usize) < BITS {
            return Some((&self.settled, bit(class)));
        }
        Some((self.far()?.settled.get(class as usize / 64)?, 1 << (class % 64)))
    }

    /// What has no place in the row, with room for a class. No other thread may change the row meanwhile.
    fn grow(&self, class: usize) -> Option<&Far> {
        let old = self.far();
        if old.map_or(0, |far| far.choices.len()) <= class {
            let len = (class + 1).next_power_of_two().max(64);
            let larger = |len: usize, old: Option<&[AtomicU64]>| {
                let old = old.unwrap_or(&[]).iter().map(|from| AtomicU64::new(from.load(Ordering::Relaxed)));
                let mut fresh = memory::vec(len);
                fresh.extend(old);
                fresh.resize_with(len, || AtomicU64::new(UNDECIDED));
                fresh.into_boxed_slice()
            };
            let fresh = Far {
                choices: larger(len, old.map(|far| &*far.choices)),
                settled: larger(len / 64, old.map(|far| &*far.settled)),
                older: AtomicPtr::new(self.far.load(Ordering::Relaxed)),
            };
            self.far.store(Box::into_raw(Box::new(fresh)), Ordering::Release);
        }
        self.far()
    }
}

/// Rows by the number of their state.
type Rows = Box<[Row]>;

/// A row for each state number up to the highest that something was ever chosen for; rows are never freed, only used again, so that a
/// stale number is harmless.
///
/// They lie one after the other, so that a choice is one load away from the words of sampler and view. Where nothing conflicts there
/// are none.
///
/// Whoever changes something keeps all others from doing so meanwhile; readers need nothing.
pub struct Choices {
    rows: AtomicPtr<Rows>,
    /// Every array ever published, the last one in force; readers may still hold the older ones.
    owned: Mutex<Vec<AtomicPtr<Rows>>>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { rows: AtomicPtr::new(std::ptr::null_mut()), owned: Mutex::default() }
    }
}

impl Choices {
    /// The row of a state, if there is one yet.
    #[inline(always)]
    fn row(&self, state: u32) -> Option<&Row> {
        self.reader().rows.get(state as usize)
    }

    /// The row of a state, made if there is none.
    fn row_of(&self, state: u32) -> Option<&Row> {
        let old = self.reader().rows;
        if old.len() <= state as usize {
            let mut rows = memory::vec((state as usize + 1).next_power_of_two().max(64));
            rows.extend(old.iter().map(Row::again));
            rows.resize_with(rows.capacity(), Row::new);
            let mut owned = lock(&self.owned);
            owned.with_room();
            let rows = Box::into_raw(Box::new(rows.into_boxed_slice()));
            owned.push(AtomicPtr::new(rows));
            self.rows.store(rows, Ordering::Release);
        }
        self.row(state)
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

    /// Sets the choice for (state, view class) unless there is one; returns the one before, [`UNDECIDED`] if there was none.
    pub fn publish(&self, state: u32, class: u32, choice: u64) -> u64 {
        let Some(row) = self.row_of(state) else { return KEEP };
        let before = row.other(class);
        if before == UNDECIDED {
            row.enter(class, choice);
        }
        before
    }

    /// Whether nothing is left to be said about an immutable sampler of this state with a view of this class.
    #[inline(always)]
    pub fn is_settled(&self, state: u32, class: u32) -> bool {
        let Some((word, bit)) = self.row(state).and_then(|row| row.settled(class)) else { return false };
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Remembers that nothing is left to be said about an immutable sampler.
    pub fn settle(&self, state: u32, class: u32) {
        let Some(row) = self.row_of(state) else { return };
        if class as usize >= BITS {
            row.grow(class as usize);
        }
        if let Some((word, bit)) = row.settled(class) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Forgets everything about a state.
    pub fn clear(&self, state: u32) {
        let Some(row) = self.row(state) else { return };
        let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(UNDECIDED, Ordering::Release));
        row.near.iter().for_each(|shared| shared.classes.store(0, Ordering::Release));
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
        for far in rows.into_iter().map(|row| row.far.into_inner()).filter(|far| !far.is_null()) {
            // SAFETY: made by `Box::into_raw` in `Row::grow`, and in no other row of the last array: what it replaced hangs on it.
            drop(unsafe { Box::from_raw(far) });
        }
    }
}

/// [`Choices`] as they were at one time, but for what is in rows.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'c> {
    rows: &'c [Row],
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
        let [first, ..] = &row.near;
        first.of(bit(class)).unwrap_or_else(|| row.other(class))
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
