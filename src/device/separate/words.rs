//! The words of shader modules, each sequence kept once, and how much is kept to make pipelines again.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use samplin_hot::memory::{self, Room};

use crate::table::{FastMap, fold, lock};

/// Memory that counts for as long as this lives.
pub(super) struct Counted {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The words of a shader module.
pub struct Words {
    words: Box<[u32]>,
    _counted: Counted,
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.words
    }
}

/// Words by their hash, as long as anybody has them.
#[derive(Default)]
pub(super) struct WordTable {
    lists: Mutex<FastMap<u64, Vec<Weak<Words>>>>,
    /// Bytes that are kept.
    all: Arc<AtomicU64>,
}

impl WordTable {
    /// Bytes that are kept of words and of what else is [counted](Self::count).
    pub(super) fn bytes(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// Counts memory for as long as the result lives.
    pub(super) fn count(&self, bytes: usize) -> Counted {
        self.all.fetch_add(bytes as u64, Ordering::Relaxed);
        Counted { bytes: bytes as u64, all: Arc::clone(&self.all) }
    }

    /// These words: those that are kept, if they are.
    pub(super) fn intern(&self, words: &[u32]) -> Arc<Words> {
        let hash = words.iter().fold(words.len() as u64, |hash, word| fold(hash.rotate_left(5) ^ u64::from(*word)));
        let mut lists = lock(&self.lists);
        let is_there = |place: &Weak<Words>| place.strong_count() > 0;
        if lists.len() >= 64 && lists.len().is_power_of_two() {
            lists.retain(|_, list| list.iter().any(is_there));
        }
        let list = lists.with_room().entry(hash).or_default();
        list.retain(is_there);
        if let Some(same) = list.iter().filter_map(Weak::upgrade).find(|same| ***same == *words) {
            return same;
        }
        let mut copy = memory::vec(words.len());
        copy.extend_from_slice(words);
        let words = Arc::new(Words { words: copy.into(), _counted: self.count(size_of_val(words)) });
        list.with_room().push(Arc::downgrade(&words));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_are_kept_once_and_counted_as_long_as_they_live() {
        let table = WordTable::default();
        let (one, same, other) = (table.intern(&[1, 2, 3]), table.intern(&[1, 2, 3]), table.intern(&[1, 2]));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
        assert_eq!((&one[..], &other[..], table.bytes()), (&[1, 2, 3][..], &[1, 2][..], 20));
        drop(one);
        assert_eq!(table.bytes(), 20);
        drop(same);
        assert_eq!(table.bytes(), 8);
        for word in 0..1000 {
            table.intern(&[word; 7]);
        }
        assert!(lock(&table.lists).len() <= 128, "what nobody has is forgotten");
        assert_eq!((table.bytes(), &table.intern(&[1, 2])[..]), (8, &other[..]));
    }
}
