//! Keys of what was met before: hashes over the raw text of records.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for keys that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
    fn write_u128(&mut self, words: u128) {
        self.0 = words as u64;
    }
}

pub(crate) type ReadyMap<K, V> = HashMap<K, V, BuildHasherDefault<Ready>>;

/// A 128-bit hash of several texts. Not for hostile input: a collision would merge two decisions in a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(pub(crate) u64, u64);

impl Key {
    pub(crate) const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)
    }

    fn mix(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        self.0 = Self::mix(self.0 ^ word, 0xa076_1d64_78bd_642f);
        self.1 = Self::mix(self.1.rotate_left(29) ^ word, 0xe703_7ed1_a0b4_28db);
    }

    #[inline]
    pub(crate) fn text(mut self, text: &[u8]) -> Self {
        let mut chunks = text.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(<[u8; 8]>::try_from(chunk).map_or(0, u64::from_le_bytes));
        }
        let mut last = [0_u8; 8];
        for (to, from) in last.iter_mut().zip(chunks.remainder()) {
            *to = *from;
        }
        self.word(u64::from_le_bytes(last));
        // The length, so that texts cannot run into each other.
        self.word(text.len() as u64);
        self
    }

    pub(crate) fn finish(self) -> u128 {
        (u128::from(self.0) << 64) | u128::from(self.1)
    }
}
