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
    words: [AtomicU64; WORDS],
    /// 0 when empty.
    value: AtomicU64,
}

impl Entry {
    fn new() -> Self {
        Self { words: array::from_fn(|_| AtomicU64::new(0)), value: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn is_of(&self, words: &Words) -> bool {
        self.words.iter().zip(words).all(|(own, word)| own.load(Ordering::Relaxed) == *word)
    }

    fn copy(&self, words: &Words, value: u64) {
        self.words.iter().zip(words).for_each(|(own, word)| own.store(*word, Ordering::Relaxed));
        self.value.store(value, Ordering::Relaxed);
    }

    fn read(&self) -> (Words, u64) {
        (array::from_fn(|at| self.words[at].load(Ordering::Relaxed)), self.value.load(Ordering::Relaxed))
    }
}

/// Entries, the newest first. Readers take no lock: they look whether the number is the same before and after.
struct Set {
    /// Odd while the entries are written.
    version: AtomicU64,
    entries: [Entry; ENTRIES],
}

impl Set {
    fn new() -> Self {
        Self { version: AtomicU64::new(0), entries: array::from_fn(|_| Entry::new()) }
    }

    /// The value kept for these words, 0 if there is none or the set is written meanwhile.
    #[inline(always)]
    fn get(&self, words: &Words) -> u64 {
        let version = self.version.load(Ordering::Acquire);
        let Some(entry) = self.entries.iter().find(|entry| entry.is_of(words)) else { return 0 };
        let value = entry.value.load(Ordering::Relaxed);
        // What is written before the version becomes odd, or after, is not seen before that is.
        fence(Ordering::Acquire);
        if version & 1 == 0 && self.version.load(Ordering::Relaxed) == version { value } else { 0 }
    }

    /// Keeps a value in front of the others. No other thread may do so meanwhile.
    fn put(&self, words: &Words, value: u64) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // Readers that see any of the following also see that the number is odd, or that it has changed.
        fence(Ordering::Release);
        let last = self.entries.len() - 1;
        let at = self.entries.iter().position(|entry| entry.is_of(words)).unwrap_or(last);
        let mut next = (*words, value);
        for entry in &self.entries[..=at] {
            let before = entry.read();
            entry.copy(&next.0, next.1);
            next = before;
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }
}

/// A cache of a fixed size: a new entry goes to the front of a set of four, and the last of these is gone. Looking takes no lock.
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

    #[inline(always)]
    fn set_of(words: &Words) -> usize {
        // Odd factors without a pattern, so that the products do not wait for each other.
        const FACTORS: [u64; 8] = {
            let mut factors = [0; 8];
            let mut at = 0;
            while at < factors.len() {
                factors[at] = fold(at as u64 + 1) | 1;
                at += 1;
            }
            factors
        };
        let sum = words.iter().zip(FACTORS).fold(0, |sum: u64, (word, by)| sum.wrapping_add(word.wrapping_mul(by)));
        fold(sum) as usize & (Self::SETS - 1)
    }

    /// The value kept for these words, 0 if there is none.
    #[inline(always)]
    pub fn get(&self, words: &Words) -> u64 {
        let Some(sets) = self.sets.get() else { return 0 };
        sets.get(Self::set_of(words)).map_or(0, |set| set.get(words))
    }

    /// Keeps a value, which is not 0.
    pub fn set(&self, words: &Words, value: u64) {
        let _writer = self.writer.lock();
        let sets = self.sets.get_or_init(|| {
            let mut sets = memory::vec(Self::SETS);
            sets.resize_with(Self::SETS, Set::new);
            sets.into_boxed_slice()
        });
        if let Some(set) = sets.get(Self::set_of(words)) {
            set.put(words, value);
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
            set.put(&[1], 10);
            let reader = Arc::clone(&set);
            let reading = thread::spawn(move || (reader.get(&[1]), reader.get(&[2])));
            set.put(&[2], 20);
            let (one, two) = reading.join().unwrap();
            assert!(one == 0 || one == 10, "{one}");
            assert!(two == 0 || two == 20, "{two}");
            assert_eq!((set.get(&[1]), set.get(&[2])), (0, 20));
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
