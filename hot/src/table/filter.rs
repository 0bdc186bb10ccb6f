//! Sets of handles that fit into the first-level cache.

use std::hint::select_unpredictable;
use std::sync::atomic::Ordering;

use super::AtomicU64;

/// A set of handles with false positives and no false negatives, small enough for the first-level cache: one bit per hash.
///
/// Bits are only ever added, until [`BitFilter::reset`] writes a new set. A reader that knows a handle got it from a call that
/// returned after the bit was set, so it never misses one.
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

    /// Whether the set may hold a key.
    #[inline(always)]
    pub fn may_hold(&self, key: u64) -> bool {
        let (word, bit) = Self::place(key);
        self.words[word].load(Ordering::Relaxed) >> (bit & 63) & 1 != 0
    }

    /// Adds a key. Whether that changed anything.
    pub fn insert(&self, key: u64) -> bool {
        let (word, bit) = Self::place(key);
        let bit = 1 << (bit & 63);
        // Asked first, because a bit that is set takes no exchange.
        let is_new = self.words[word].load(Ordering::Acquire) & bit == 0;
        if is_new {
            self.words[word].fetch_or(bit, Ordering::Release);
        }
        is_new
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
