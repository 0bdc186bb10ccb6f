//! Hashing of handles, and maps with it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// What [`fold`] multiplies by.
pub(crate) const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// Mixes the bits of a handle. Drivers hand out evenly strided pointers, which multiplicative hashing by one
/// constant clusters badly; folding the 128-bit product does not.
#[inline(always)]
pub const fn fold(key: u64) -> u64 {
    let product = key as u128 * FACTOR as u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hasher of [`FastMap`]: folded multiplication over 64-bit words. Not resistant to chosen keys; keys here are the
/// driver's handles and the application's own states.
#[derive(Clone, Copy, Default)]
pub struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, i: u8) {
        self.write_u64(u64::from(i));
    }

    fn write_u32(&mut self, i: u32) {
        self.write_u64(u64::from(i));
    }

    fn write_i32(&mut self, i: i32) {
        self.write_u64(i as u64);
    }

    fn write_u64(&mut self, i: u64) {
        // The constant lets zeroes count.
        self.0 = fold(self.0.rotate_left(23) ^ i ^ 0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }
}

/// A hash map with the cheap hasher.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;
/// A hash set with the cheap hasher.
pub type FastSet<T> = HashSet<T, BuildHasherDefault<FoldHasher>>;
