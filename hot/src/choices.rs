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

/// Different choices of a state that are kept with their classes: what a view lacks decides, so most classes share one.
const NEAR: usize = 3;

/// Classes that have a bit: at one more than their number, as the words of views have it. The highest bit stands for all others and is
/// never set.
const BITS: u32 = 62;

/// In [`SharedChoice::classes`]: the choice is one that was made before, so that only the same may come in its place. No class has this bit.
const RETIRED: u64 = 1;

/// The bit of a class, by one more than its number, or the one that is never set.
#[inline(always)]
fn bit(next: u32) -> u64 {
    1 << next.min(BITS + 1)
}

/// A choice and the classes that it is made for.
#[repr(align(16))]
struct SharedChoice {
    choice: AtomicU64,
    classes: AtomicU64,
}

impl SharedChoice {
    const fn new() -> Self {
        Self { choice: AtomicU64::new(UNDECIDED), classes: AtomicU64::new(0) }
    }

    /// The same in another array.
    fn again(&self) -> Self {
        let word = |word: &AtomicU64| AtomicU64::new(word.load(Ordering::Relaxed));
        Self { choice: word(&self.choice), classes: word(&self.classes) }
    }

    /// The choice, if it is one for the class of a bit.
    #[inline(always)]
    fn of(&self, bit: u64) -> Option<u64> {
        (self.classes.load(Ordering::Acquire) & bit != 0).then(|| self.choice.load(Ordering::Relaxed))
    }
}

/// What a row has no place for, by class.
struct Far {
    choices: Box<[AtomicU64]>,
    /// A bit for each.
    recorded: Box<[AtomicU64]>,
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

/// What there is for a state beside the choice that most of its classes share.
struct Row {
    near: [SharedChoice; NEAR - 1],
    /// A bit for each class, set once nothing is left to be said about an immutable sampler.
    recorded: AtomicU64,
    far: AtomicPtr<Far>,
}

impl Row {
    fn new() -> Self {
        let near = [const { SharedChoice::new() }; NEAR - 1];
        Self { near, recorded: AtomicU64::new(0), far: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The same row in another array.
    fn again(&self) -> Self {
        Self {
            near: self.near.each_ref().map(SharedChoice::again),
            recorded: AtomicU64::new(self.recorded.load(Ordering::Relaxed)),
            far: AtomicPtr::new(self.far.load(Ordering::Relaxed)),
        }
    }

    fn far(&self) -> Option<&Far> {
        // SAFETY: null or a pointer from `Box::into_raw`; what is replaced lives on as long as what replaced it.
        unsafe { self.far.load(Ordering::Acquire).as_ref() }
    }

    /// The word and the bit in it that say whether a class is marked, if there is one for it yet.
    #[inline(always)]
    fn recorded(&self, class: u32) -> Option<(&AtomicU64, u64)> {
        if class < BITS {
            return Some((&self.recorded, bit(class + 1)));
        }
        Some((self.far()?.recorded.get(class as usize / 64)?, 1 << (class % 64)))
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
                recorded: larger(len / 64, old.map(|far| &*far.recorded)),
                older: AtomicPtr::new(self.far.load(Ordering::Relaxed)),
            };
            self.far.store(Box::into_raw(Box::new(fresh)), Ordering::Release);
        }
        self.far()
    }
}

/// What is kept of states, by number.
#[derive(Default)]
struct Rows {
    /// The choice that most classes share, by itself: where there are thousands of states, each that is looked at is a cache miss, and
    /// four of these lie in one line. At one more than the number of the state, as the words of samplers have it.
    first: Box<[SharedChoice]>,
    rest: Box<[Row]>,
}

impl Rows {
    fn near(&self, state: usize) -> Option<impl Iterator<Item = &SharedChoice>> {
        Some(std::iter::once(self.first.get(state + 1)?).chain(&self.rest.get(state)?.near))
    }

    fn choice(&self, state: u32, class: u32) -> Option<u64> {
        let (number, row) = (state as usize, self.rest.get(state as usize)?);
        let far = || Some(row.far()?.choices.get(class as usize)?.load(Ordering::Acquire));
        self.near(number)?.find_map(|shared| shared.of(bit(class.saturating_add(1)))).or_else(far)
    }

    /// Enters a choice for a class that has none. No other thread may change anything meanwhile.
    fn enter(&self, state: u32, class: u32, choice: u64) -> Option<()> {
        let shared = self.near(state as usize)?.find(|shared| {
            let is_free = shared.classes.load(Ordering::Relaxed) == 0;
            is_free || shared.choice.load(Ordering::Relaxed) == choice
        });
        match shared.filter(|_| class < BITS) {
            Some(shared) => {
                shared.choice.store(choice, Ordering::Relaxed);
                shared.classes.fetch_or(bit(class + 1), Ordering::Release);
            }
            None => {
                let far = self.rest.get(state as usize)?.grow(class as usize)?;
                far.choices.get(class as usize)?.store(choice, Ordering::Release);
            }
        }
        Some(())
    }
}

/// What was chosen for each state number up to the highest that something was ever chosen for; nothing of it is freed, only used again,
/// so that a stale number is harmless.
///
/// States lie one after the other, so that a choice is one load away from the words of sampler and view. Where nothing conflicts there
/// are none.
///
/// Whoever changes something keeps all others from doing so meanwhile; readers need nothing.
pub struct Choices {
    rows: AtomicPtr<Rows>,
    /// All that was ever published, the last one in force; readers may still hold the older ones.
    owned: Mutex<Vec<AtomicPtr<Rows>>>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { rows: AtomicPtr::new(std::ptr::null_mut()), owned: Mutex::default() }
    }
}

impl Choices {
    fn rows(&self) -> Option<&Rows> {
        // SAFETY: null, or from `Box::into_raw` and kept in `owned`.
        unsafe { self.rows.load(Ordering::Acquire).as_ref() }
    }

    /// The rows, with one of a state.
    fn rows_with(&self, state: u32) -> Option<&Rows> {
        let old = self.rows();
        if old.is_none_or(|old| old.rest.len() <= state as usize) {
            let len = (state as usize + 1).next_power_of_two().max(64);
            let (mut first, mut rest) = (memory::vec(len + 1), memory::vec(len));
            if let Some(old) = old {
                first.extend(old.first.iter().map(SharedChoice::again));
                rest.extend(old.rest.iter().map(Row::again));
            }
            first.resize_with(len + 1, SharedChoice::new);
            rest.resize_with(len, Row::new);
            let mut owned = lock(&self.owned);
            owned.with_room();
            let rows = Rows { first: first.into_boxed_slice(), rest: rest.into_boxed_slice() };
            let rows = Box::into_raw(Box::new(rows));
            owned.push(AtomicPtr::new(rows));
            self.rows.store(rows, Ordering::Release);
        }
        self.rows()
    }

    /// The choice for (state, view class): a sampler's handle, [`KEEP`] or [`UNDECIDED`].
    #[inline(never)]
    pub fn choice(&self, state: u32, class: u32) -> u64 {
        self.rows().and_then(|rows| rows.choice(state, class)).unwrap_or(UNDECIDED)
    }

    /// The choices, for several look-ups.
    #[inline(always)]
    pub(crate) fn reader(&self) -> Chosen<'_> {
        Chosen { first: self.rows().map_or(&[], |rows| &rows.first), of: self }
    }

    /// Sets the choice for (state, view class) unless there is one; returns the one before, [`UNDECIDED`] if there was none.
    pub fn publish(&self, state: u32, class: u32, choice: u64) -> u64 {
        let Some(rows) = self.rows_with(state) else { return KEEP };
        let before = rows.choice(state, class).unwrap_or(UNDECIDED);
        if before == UNDECIDED {
            rows.enter(state, class, choice);
        }
        before
    }

    /// Whether nothing is left to be said about an immutable sampler of this state with a view of this class.
    #[inline(always)]
    pub fn is_recorded(&self, state: u32, class: u32) -> bool {
        let row = self.rows().and_then(|rows| rows.rest.get(state as usize));
        let Some((word, bit)) = row.and_then(|row| row.recorded(class)) else { return false };
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Remembers that nothing is left to be said about an immutable sampler.
    pub fn mark_recorded(&self, state: u32, class: u32) {
        let Some(row) = self.rows_with(state).and_then(|rows| rows.rest.get(state as usize)) else { return };
        if class >= BITS {
            row.grow(class as usize);
        }
        if let Some((word, bit)) = row.recorded(class) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Forgets what was chosen for a state while readers may look: none of them finds a choice that was made for another class.
    pub fn retire(&self, state: u32) {
        let Some(rows) = self.rows() else { return };
        let (Some(near), Some(row)) = (rows.near(state as usize), rows.rest.get(state as usize)) else { return };
        for shared in near.filter(|shared| shared.classes.load(Ordering::Relaxed) != 0) {
            shared.classes.store(RETIRED, Ordering::Release);
        }
        row.recorded.store(0, Ordering::Release);
        if let Some(far) = row.far() {
            let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(UNDECIDED, Ordering::Release));
            clear(&far.choices);
            clear(&far.recorded);
        }
    }

    /// Forgets everything about a state.
    pub fn clear(&self, state: u32) {
        let Some(rows) = self.rows() else { return };
        let (Some(near), Some(row)) = (rows.near(state as usize), rows.rest.get(state as usize)) else { return };
        let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(UNDECIDED, Ordering::Release));
        near.for_each(|shared| shared.classes.store(0, Ordering::Release));
        row.recorded.store(0, Ordering::Release);
        if let Some(far) = row.far() {
            clear(&far.choices);
            clear(&far.recorded);
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
        for far in rows.rest.into_iter().map(|row| row.far.into_inner()).filter(|far| !far.is_null()) {
            // SAFETY: made by `Box::into_raw` in `Row::grow`, and in no other row of the last array: what it replaced hangs on it.
            drop(unsafe { Box::from_raw(far) });
        }
    }
}

/// [`Choices`] with what most pairs need of them at hand.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'c> {
    first: &'c [SharedChoice],
    of: &'c Choices,
}

impl Chosen<'_> {
    /// The choice for the state and class of numbers that are one less, see [`Choices::choice`].
    #[inline(always)]
    pub(crate) fn choice(&self, next_state: u32, next_class: u32) -> u64 {
        let first = self.first.get(next_state as usize).and_then(|first| first.of(bit(next_class)));
        first.unwrap_or_else(|| self.of.choice(next_state.wrapping_sub(1), next_class.wrapping_sub(1)))
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
        let classes = [0, NEAR as u32 - 1, NEAR as u32, BITS - 1, BITS, 99, 1000];
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
    fn classes_share_choices_and_readers_find_the_same() {
        let choices = Choices::default();
        // Two choices by turns, then more than lie beside each other, for classes with and without a bit.
        let choice = |state: u32, class: u32| match class {
            _ if (state + class).is_multiple_of(7) => UNDECIDED,
            0..50 => u64::from(1 + class % 2),
            _ => u64::from(1 + class % 9),
        };
        // More than there is room for at first.
        let states = [0, 3, 4, 5, 63, 64, 70];
        let pairs = || states.into_iter().flat_map(|state| (0..80).map(move |class| (state, class)));
        for (state, class) in pairs().filter(|(state, class)| choice(*state, *class) != UNDECIDED) {
            assert_eq!(choices.publish(state, class, choice(state, class)), UNDECIDED);
        }
        for (state, class) in pairs() {
            let found = (choices.choice(state, class), choices.reader().choice(state + 1, class + 1));
            assert_eq!(found, (choice(state, class), choice(state, class)), "of {state} and {class}");
        }
        let shared =
            choices.rows().and_then(|rows| rows.near(3)).map(|near| near.map(|it| it.classes.load(Ordering::Relaxed)));
        assert!(
            shared.is_some_and(|mut all| all.all(|classes| classes.count_ones() > 1)),
            "they take no room of their own"
        );
        choices.clear(3);
        assert!((0..80).all(|class| choices.reader().choice(4, class + 1) == UNDECIDED));
        assert!((0..80).all(|class| choices.reader().choice(5, class + 1) == choice(4, class)));
    }

    #[test]
    fn what_is_settled_is_no_choice_and_is_forgotten_with_the_state() {
        let choices = Choices::default();
        let (state, other) = (0, 1);
        let classes = [0, NEAR as u32 - 1, NEAR as u32, BITS - 1, BITS, 1000];
        for (nth, class) in classes.into_iter().enumerate() {
            assert!(!choices.is_recorded(state, class));
            choices.mark_recorded(state, class);
            // Also those before it, although there is more room now.
            let recorded = classes.iter().filter(|class| choices.is_recorded(state, **class)).count();
            assert_eq!(recorded, nth + 1);
            assert_eq!(choices.choice(state, class), UNDECIDED);
            assert!(!choices.is_recorded(other, class));
        }
        let all = (0..2000).filter(|class| choices.is_recorded(state, *class)).count();
        assert_eq!(all, classes.len());
        choices.clear(state);
        assert!(classes.iter().all(|class| !choices.is_recorded(state, *class)));
    }
}
