//! Maps by id, which ask for room before they grow.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::error::Error;

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
