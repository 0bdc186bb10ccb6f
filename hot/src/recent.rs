//! What create infos seen lately came to, so that creating an object like one before costs little.

use std::array;
use std::sync::OnceLock;

use crate::hash::fold;
use crate::lock::Lock;
use crate::memory;

#[cfg(all(loom, test))]
use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(all(loom, test)))]
use std::sync::atomic::{AtomicU64, Ordering, fence};

const WORDS: usize = if cfg!(all(loom, test)) { 1 } else { 8 };
const ENTRIES: usize = if cfg!(all(loom, test)) { 1 } else { 4 };

/// A create info as plain words. What differs must differ here.
pub type Words = [u64; WORDS];

struct Entry {
    /// [`mixed`] of the words, which tells most others at once.
    mixed: AtomicU64,
    words: [AtomicU64; WORDS],
    /// 0 when empty.
    value: AtomicU64,
}

/// Differs as a rule where the words differ.
#[inline(always)]
pub fn mixed(words: &Words) -> u64 {
    const FACTOR: u64 = fold(1) | 1;
    // Two sums, so that a product waits for half of the others only.
    let mut sums = [0_u64; 2];
    for (at, word) in words.iter().enumerate() {
        sums[at % 2] = sums[at % 2].wrapping_mul(FACTOR).wrapping_add(*word);
    }
    fold(sums[0] ^ sums[1].rotate_left(32))
}

impl Entry {
    fn new() -> Self {
        let words = array::from_fn(|_| AtomicU64::new(0));
        Self { mixed: AtomicU64::new(0), words, value: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn is_of(&self, mixed: u64, words: &Words) -> bool {
        let differs = |all, (own, word): (&AtomicU64, &u64)| all | (own.load(Ordering::Relaxed) ^ word);
        self.mixed.load(Ordering::Relaxed) == mixed && self.words.iter().zip(words).fold(0, differs) == 0
    }

    fn write(&self, mixed: u64, words: &Words, value: u64) {
        self.mixed.store(mixed, Ordering::Relaxed);
        self.words.iter().zip(words).for_each(|(own, word)| own.store(*word, Ordering::Relaxed));
        self.value.store(value, Ordering::Relaxed);
    }
}

/// A few entries. Readers take no lock: they look whether the number is the same before and after.
struct Set {
    /// Odd while an entry is written.
    version: AtomicU64,
    entries: [Entry; ENTRIES],
}

impl Set {
    fn new() -> Self {
        Self { version: AtomicU64::new(0), entries: array::from_fn(|_| Entry::new()) }
    }

    /// The value kept for these words, 0 if there is none or the set is written meanwhile.
    #[inline(always)]
    fn get(&self, mixed: u64, words: &Words) -> u64 {
        let version = self.version.load(Ordering::Acquire);
        let Some(entry) = self.entries.iter().find(|entry| entry.is_of(mixed, words)) else { return 0 };
        let value = entry.value.load(Ordering::Relaxed);
        // What is written before the version becomes odd, or after, is not seen before that is.
        fence(Ordering::Acquire);
        if version & 1 == 0 && self.version.load(Ordering::Relaxed) == version { value } else { 0 }
    }

    /// Keeps a value, in place of the one that is there for longest if there is no room. No other thread may do so meanwhile.
    fn put(&self, mixed: u64, words: &Words, value: u64) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // Readers that see any of the following also see that the number is odd, or that it has changed.
        fence(Ordering::Release);
        let own = self.entries.iter().position(|entry| entry.is_of(mixed, words));
        // In turn: the number grows by two each time.
        let at = own.unwrap_or((version / 2) as usize % ENTRIES);
        if let Some(entry) = self.entries.get(at) {
            entry.write(mixed, words, value);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }
}

/// A cache of a fixed size: a new entry goes into a set of four, in place of the oldest of these. Looking takes no lock.
#[derive(Default)]
pub struct Recent {
    /// None until the first entry.
    sets: OnceLock<Box<[Set]>>,
    writer: Lock<()>,
}

impl Recent {
    const SETS: usize = 256;

    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value kept for these words, 0 if there is none.
    #[inline(always)]
    pub fn get(&self, words: &Words) -> u64 {
        let Some(sets) = self.sets.get() else { return 0 };
        let mixed = mixed(words);
        sets.get(mixed as usize % Self::SETS).map_or(0, |set| set.get(mixed, words))
    }

    /// Keeps a value, which is not 0.
    pub fn set(&self, words: &Words, value: u64) {
        let _writer = self.writer.lock();
        let sets = self.sets.get_or_init(|| {
            let mut sets = memory::vec(Self::SETS);
            sets.resize_with(Self::SETS, Set::new);
            sets.into_boxed_slice()
        });
        let mixed = mixed(words);
        if let Some(set) = sets.get(mixed as usize % Self::SETS) {
            set.put(mixed, words, value);
        }
    }
}

/// Run by loom through every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p samplin-hot --lib model`.
#[cfg(all(loom, test))]
mod model {
    use loom::sync::Arc;
    use loom::thread;

    use super::Set;

    #[test]
    fn words_that_were_replaced_never_lead_to_the_value_of_others() {
        loom::model(|| {
            let set = Arc::new(Set::new());
            set.put(1, &[1], 10);
            let reader = Arc::clone(&set);
            let reading = thread::spawn(move || (reader.get(1, &[1]), reader.get(2, &[2])));
            set.put(2, &[2], 20);
            let (one, two) = reading.join().unwrap();
            assert!(one == 0 || one == 10, "{one}");
            assert!(two == 0 || two == 20, "{two}");
            assert_eq!((set.get(1, &[1]), set.get(2, &[2])), (0, 20));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_until_its_set_is_full() {
        let recent = Recent::new();
        let words = |n: u64| array::from_fn(|at| if at as u64 == n % 8 { n / 8 + 1 } else { 0 });
        assert_eq!(recent.get(&[0; 8]), 0);
        let mut found = 0;
        for n in 0..256 {
            recent.set(&words(n), n + 1);
            assert_eq!(recent.get(&words(n)), n + 1);
        }
        for n in 0..256 {
            let value = recent.get(&words(n));
            assert!(value == 0 || value == n + 1, "another one's value");
            found += usize::from(value != 0);
        }
        assert!(found > 250, "create infos that differ in one word mostly have sets of their own: {found} of 256");
    }

    #[test]
    fn words_that_differ_in_their_highest_bits_have_sets_of_their_own() {
        // LODs are floats, whose lowest bits are zeroes.
        let words =
            |n: u64| array::from_fn(|at| if at == 6 { u64::from((n as f32 / 64.0).to_bits()) << 32 } else { 0 });
        let recent = Recent::new();
        (1..257).for_each(|n| recent.set(&words(n), n));
        let found = (1..257).filter(|n| recent.get(&words(*n)) == *n).count();
        assert!(found > 250, "{found} of 256");
    }

    #[test]
    fn readers_beside_a_writer_find_what_belongs_to_their_words_or_nothing() {
        let recent = Recent::new();
        let words = |n: u64| [n; 8];
        let rounds = if cfg!(miri) { 200 } else { 200_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..rounds).for_each(|n| recent.set(&words(n % 4000), n % 4000 + 1)));
            for _ in 0..2 {
                scope.spawn(|| {
                    for n in 0..rounds {
                        let value = recent.get(&words(n % 4000));
                        assert!(value == 0 || value == n % 4000 + 1, "another one's value");
                    }
                });
            }
        });
    }
}
