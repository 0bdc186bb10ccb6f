//! Sets of handles that fit into the first-level cache.

use std::hint::select_unpredictable;
use std::sync::atomic::Ordering;

use super::AtomicU64;

/// A set of handles with false positives and no false negatives, small enough for the first-level cache: one bit per hash.
///
/// A reader that knows a handle got it from a call that returned after the bit was set, and the bit stays until every key that has it is
/// removed (`Counts`), so it never misses one.
pub struct BitFilter {
    words: [AtomicU64; BitFilter::WORDS],
}

impl BitFilter {
    const WORDS: usize = if cfg!(all(loom, test)) { 2 } else { 512 };

    /// 20 240 / 32 749 of a full turn. The divisor is the largest prime below the number of bits, so that handles which a pool lays
    /// out evenly, whatever their stride, get bits of their own until they have been through nearly all of them.
    const TURN: u64 = ((20_240_u128 << 64) / 32_749) as u64;

    /// An empty set, or one that holds everything.
    pub fn new(full: bool) -> Self {
        let word = if full { u64::MAX } else { 0 };
        Self { words: std::array::from_fn(|_| AtomicU64::new(word)) }
    }

    /// The word that a key is in, and the key's bit in its lowest six bits.
    #[inline(always)]
    fn place(key: u64) -> (usize, u64) {
        let bit = key.wrapping_mul(Self::TURN) >> (u64::BITS - 6 - Self::WORDS.ilog2());
        ((bit >> 6) as usize & (Self::WORDS - 1), bit)
    }

    /// Whether both sets may hold their keys. Without a branch, because one for each of two random bits costs more than everything
    /// else here.
    #[inline(always)]
    pub fn both(&self, key: u64, other: &Self, other_key: u64) -> bool {
        let ((word, bit), (other_word, other_bit)) = (Self::place(key), Self::place(other_key));
        let word = self.words[word].load(Ordering::Relaxed);
        let other_word = other.words[other_word].load(Ordering::Relaxed);
        let both = select_unpredictable(word >> (bit & 63) & 1 != 0, other_word, 0);
        both >> (other_bit & 63) & 1 != 0
    }

    /// Sets the bit of a key. No other thread may write meanwhile.
    #[inline(always)]
    pub fn insert(&self, key: u64) {
        let (word, bit) = Self::place(key);
        let word = &self.words[word];
        word.store(word.load(Ordering::Relaxed) | 1 << (bit & 63), Ordering::Release);
    }

    /// Clears the bit of a key, which no other key has. No other thread may write meanwhile.
    #[inline(always)]
    pub(crate) fn remove(&self, key: u64) {
        let (word, bit) = Self::place(key);
        let word = &self.words[word];
        word.store(word.load(Ordering::Relaxed) & !(1 << (bit & 63)), Ordering::Release);
    }

    /// Makes it the same as another one, which nobody changes meanwhile.
    pub fn take(&self, other: &Self) {
        let words = self.words.iter().zip(&other.words);
        words.for_each(|(word, other)| word.store(other.load(Ordering::Relaxed), Ordering::Release));
    }

    /// Makes it hold everything.
    pub fn fill(&self) {
        self.words.iter().for_each(|word| word.store(u64::MAX, Ordering::Release));
    }

    /// Replaces the set by the keys that `fill` adds. Keys that are in both sets are never missed meanwhile.
    pub fn reset(&self, fill: impl FnOnce(&mut dyn FnMut(u64))) {
        let mut fresh = [0_u64; Self::WORDS];
        fill(&mut |key| {
            let (word, bit) = Self::place(key);
            fresh[word] |= 1 << (bit & 63);
        });
        for (word, value) in self.words.iter().zip(fresh) {
            word.store(value, Ordering::Release);
        }
    }
}

/// How many keys have each bit of a [`BitFilter`], for whoever adds and removes them: four bits for each, of which the most stands for
/// any number from there on. 16 KiB; without memory nothing is counted, and bits stay.
#[derive(Default)]
pub(crate) struct Counts(Vec<u8>);

impl Counts {
    const BITS: usize = BitFilter::WORDS * u64::BITS as usize;
    const MOST: u8 = 15;

    /// Of an empty filter.
    pub(crate) fn new() -> Self {
        let mut counts = Vec::new();
        if counts.try_reserve_exact(Self::BITS / 2).is_ok() {
            counts.resize(Self::BITS / 2, 0);
        }
        Self(counts)
    }

    /// Where the count of a key's bit is, and how far up.
    #[inline(always)]
    fn of(&mut self, key: u64) -> Option<(&mut u8, u32)> {
        let bit = BitFilter::place(key).1 as usize % Self::BITS;
        Some((self.0.get_mut(bit / 2)?, (bit % 2 * 4) as u32))
    }

    /// Counts a key. Whether its bit has to be set.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: u64) -> bool {
        let Some((counts, at)) = self.of(key) else { return true };
        let count = *counts >> at & Self::MOST;
        if count < Self::MOST {
            *counts += 1 << at;
        }
        count == 0
    }

    /// Counts a key less. Whether its bit has to be cleared.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: u64) -> bool {
        let Some((counts, at)) = self.of(key) else { return false };
        let count = *counts >> at & Self::MOST;
        if (1..Self::MOST).contains(&count) {
            *counts -= 1 << at;
        }
        count == 1
    }
}
