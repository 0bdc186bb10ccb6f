//! The words of shader modules, each sequence kept once, and how much is kept to make pipelines again.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use samplin_hot::memory::{self, Room};

use crate::table::{FastMap, fold, lock};

/// Memory that counts for as long as this lives.
#[derive(Debug)]
pub(super) struct Counted {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Counted {
    /// So many bytes more, if there are no more than `most` then.
    pub(super) fn within(all: &Arc<AtomicU64>, bytes: usize, most: u64) -> Option<Self> {
        let bytes = bytes as u64;
        let add = |before: u64| before.checked_add(bytes).filter(|after| *after <= most);
        all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(Self { bytes, all: Arc::clone(all) })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The words of a shader module. They count as long as no module that is alive has them: those are the application's to bound.
pub struct Words {
    words: Box<[u32]>,
    /// The same words with the image formats that the application declares, where others stand for them.
    declared: Option<Arc<Words>>,
    /// Modules that are alive and have these words.
    modules: AtomicU64,
    all: Arc<AtomicU64>,
}

impl Words {
    /// The words with the image formats that the application declares.
    pub fn declared(&self) -> &[u32] {
        self.declared.as_deref().unwrap_or(self)
    }

    fn bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

/// The words of a module that is alive, and those that they were made of.
pub(super) struct Module {
    words: Arc<Words>,
    _declared: Option<Box<Module>>,
}

impl Module {
    pub(super) fn new(words: Arc<Words>) -> Self {
        if words.modules.fetch_add(1, Ordering::Relaxed) == 0 {
            words.all.fetch_sub(words.bytes(), Ordering::Relaxed);
        }
        let _declared = words.declared.clone().map(|declared| Box::new(Self::new(declared)));
        Self { words, _declared }
    }

    pub(super) fn words(&self) -> &Arc<Words> {
        &self.words
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.words.modules.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.words.all.fetch_add(self.words.bytes(), Ordering::Relaxed);
        }
    }
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
    lists: Mutex<Lists>,
    /// Bytes that are kept, beside the words of modules that are alive.
    all: Arc<AtomicU64>,
}

#[derive(Default)]
struct Lists {
    by_hash: FastMap<u64, Vec<Weak<Words>>>,
    /// How many lists there are when those of words that are gone are looked for.
    limit: usize,
}

impl Lists {
    /// The list of a hash, without words that are gone.
    fn list(&mut self, hash: u64) -> &mut Vec<Weak<Words>> {
        let is_there = |words: &Weak<Words>| words.strong_count() > 0;
        if self.by_hash.len() >= self.limit {
            self.by_hash.retain(|_, list| list.iter().any(is_there));
            self.limit = 2 * self.by_hash.len() + 64;
        }
        let list = self.by_hash.with_room().entry(hash).or_default();
        list.retain(is_there);
        list
    }
}

impl WordTable {
    /// Bytes that are kept of words that no module has any more, and of what else is [counted](Self::count).
    pub(super) fn bytes(&self) -> u64 {
        // Two threads that make and destroy the modules of equal words may be seen to subtract before they add.
        let bytes = self.all.load(Ordering::Relaxed);
        if bytes > i64::MAX as u64 { 0 } else { bytes }
    }

    /// Lists of words, those of words that are gone among them.
    pub(super) fn len(&self) -> usize {
        lock(&self.lists).by_hash.len()
    }

    /// Counts memory for as long as the result lives.
    pub(super) fn count(&self, bytes: usize) -> Counted {
        self.all.fetch_add(bytes as u64, Ordering::Relaxed);
        Counted { bytes: bytes as u64, all: Arc::clone(&self.all) }
    }

    /// These words: those that are kept, if they are.
    pub(super) fn intern(&self, words: &[u32], declared: Option<Arc<Words>>) -> Arc<Words> {
        let hash = words.iter().fold(words.len() as u64, |hash, word| fold(hash.rotate_left(5) ^ u64::from(*word)));
        let mut lists = lock(&self.lists);
        let list = lists.list(hash);
        if let Some(same) = list
            .iter()
            .filter_map(Weak::upgrade)
            .find(|same| ***same == *words && same.declared() == declared.as_deref().map_or(words, |own| own))
        {
            return same;
        }
        let mut copy = memory::vec(words.len());
        copy.extend_from_slice(words);
        list.with_room();
        self.all.fetch_add(size_of_val(words) as u64, Ordering::Relaxed);
        let words =
            Arc::new(Words { words: copy.into(), declared, modules: AtomicU64::new(0), all: Arc::clone(&self.all) });
        list.push(Arc::downgrade(&words));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_are_kept_once_and_counted_as_long_as_they_live() {
        let table = WordTable::default();
        let (one, same, other) =
            (table.intern(&[1, 2, 3], None), table.intern(&[1, 2, 3], None), table.intern(&[1, 2], None));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
        assert_eq!((&one[..], &other[..], table.bytes()), (&[1, 2, 3][..], &[1, 2][..], 20));
        drop(one);
        assert_eq!(table.bytes(), 20);
        drop(same);
        assert_eq!(table.bytes(), 8);
        for word in 0..1000 {
            table.intern(&[word; 7], None);
        }
        assert!(table.len() <= 128, "what nobody has is forgotten");
        assert_eq!((table.bytes(), &table.intern(&[1, 2], None)[..]), (8, &other[..]));
    }

    #[test]
    fn words_count_when_no_module_has_them() {
        let table = WordTable::default();
        let kept = table.intern(&[1, 2, 3], None);
        let modules = [(); 2].map(|()| Module::new(table.intern(&[1, 2, 3], None)));
        assert_eq!(table.bytes(), 0);
        let [one, other] = modules;
        drop(one);
        assert_eq!(table.bytes(), 0);
        drop(other);
        assert_eq!(table.bytes(), 12, "a pipeline may be made of them again");
        drop(kept);
        assert_eq!(table.bytes(), 0);
        drop(Module::new(table.intern(&[1, 2, 3], None)));
        assert_eq!(table.bytes(), 0);
    }
}
