//! Maps by id, which ask for room before they grow, and what tells cheaply that an id is in none of them.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::error::{Error, filled};

/// A hash that is good enough for what is bounded by limits.
#[derive(Default)]
pub(crate) struct Fold(u64);

impl std::hash::Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

/// Something for each of some ids.
pub(crate) type Map<T> = HashMap<u32, T, BuildHasherDefault<Fold>>;

/// Puts something into a map, asking for room first; says what was there.
pub(crate) fn put<K: Eq + std::hash::Hash, T>(
    map: &mut HashMap<K, T, BuildHasherDefault<Fold>>,
    key: K,
    value: T,
) -> Result<Option<T>, Error> {
    map.try_reserve(1).map_err(|_| Error::Memory)?;
    Ok(map.insert(key, value))
}

/// Ids that may be in a map: says yes for all that were added, and for few others.
///
/// A pass looks at every word of a function, nearly none of which names what it is after; a bit is looked at faster than a map.
pub(crate) struct Marks {
    /// A power of two of them. Ids beyond share those of others.
    bits: Vec<u64>,
}

impl Marks {
    /// Nothing, with a bit for each of `ids` ids.
    pub(crate) fn new(ids: usize) -> Result<Marks, Error> {
        Ok(Marks { bits: filled(ids.div_ceil(64).next_power_of_two(), 0)? })
    }

    pub(crate) fn add(&mut self, id: u32) {
        let at = self.at(id);
        if let Some(bits) = self.bits.get_mut(at) {
            *bits |= 1 << (id % 64);
        }
    }

    #[inline]
    pub(crate) fn may_have(&self, id: u32) -> bool {
        self.bits.get(self.at(id)).is_some_and(|bits| bits >> (id % 64) & 1 != 0)
    }

    #[inline]
    fn at(&self, id: u32) -> usize {
        (id / 64) as usize & self.bits.len().wrapping_sub(1)
    }
}
