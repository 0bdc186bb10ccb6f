//! A list that grows without moving what is in it, and numbers for equal values.

use std::hash::Hash;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::hash::FastMap;
use crate::lock::lock;
use crate::memory::{self, Room};

/// Growing list whose elements never move, read without a lock.
///
/// Chunk *n* holds `32 << n` elements.
pub struct AppendVec<T> {
    chunks: [AtomicPtr<T>; AppendVec::<()>::CHUNKS],
    len: AtomicUsize,
    writer: Mutex<()>,
}

impl<T> AppendVec<T> {
    const CHUNKS: usize = 26;

    /// An empty list.
    pub fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            len: AtomicUsize::new(0),
            writer: Mutex::new(()),
        }
    }

    #[inline(always)]
    fn locate(index: usize) -> (usize, usize) {
        let shifted = index + 32;
        let chunk = (usize::BITS - 1 - shifted.leading_zeros()) as usize - 5;
        (chunk, shifted - (32 << chunk))
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len.load(Ordering::Acquire) {
            return None;
        }
        let (chunk, offset) = Self::locate(index);
        let base = self.chunks.get(chunk)?.load(Ordering::Acquire);
        // SAFETY: `index < len`, and `push` writes the element and publishes its chunk before it publishes `len`.
        Some(unsafe { &*base.add(offset) })
    }

    /// Appends an element and returns its index; `None` when the list is full (two thousand million elements).
    pub fn push(&self, value: T) -> Option<usize> {
        let _writer = lock(&self.writer);
        let index = self.len.load(Ordering::Relaxed);
        let (chunk, offset) = Self::locate(index);
        let slot = self.chunks.get(chunk)?;
        let mut base = slot.load(Ordering::Relaxed);
        if base.is_null() {
            let mut fresh: Vec<T> = memory::vec(32 << chunk);
            base = fresh.as_mut_ptr();
            std::mem::forget(fresh);
            slot.store(base, Ordering::Release);
        }
        // SAFETY: the chunk has room for `32 << chunk` elements, `offset` is below that, and the slot is not initialised yet.
        unsafe { base.add(offset).write(value) };
        self.len.store(index + 1, Ordering::Release);
        Some(index)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Whether the list has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl<T> Default for AppendVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for AppendVec<T> {
    fn drop(&mut self) {
        let mut left = *self.len.get_mut();
        for (chunk, base) in self.chunks.iter_mut().enumerate() {
            let base = *base.get_mut();
            if base.is_null() {
                break;
            }
            let capacity = 32 << chunk;
            let initialised = left.min(capacity);
            left -= initialised;
            // SAFETY: `push` took the buffer from a `Vec` of this capacity and initialised this many elements of it.
            drop(unsafe { Vec::from_raw_parts(base, initialised, capacity) });
        }
    }
}

// SAFETY: elements are only handed out by shared reference, and moved in from any thread.
unsafe impl<T: Send + Sync> Sync for AppendVec<T> {}
// SAFETY: as for `Sync`; the buffers are owned by the list.
unsafe impl<T: Send> Send for AppendVec<T> {}

/// Gives equal values one small number, for ever.
pub struct Interner<K, V> {
    map: Mutex<FastMap<K, u32>>,
    items: AppendVec<V>,
}

impl<K: Hash + Eq, V> Interner<K, V> {
    /// An empty interner.
    pub fn new() -> Self {
        Self { map: Mutex::new(FastMap::default()), items: AppendVec::new() }
    }

    /// The number of `key`, with `make(number)` stored for a key not seen before.
    pub fn intern(&self, key: K, make: impl FnOnce(u32) -> V) -> Option<u32> {
        let mut map = lock(&self.map);
        if let Some(index) = map.get(&key) {
            return Some(*index);
        }
        let next = u32::try_from(self.items.len()).ok()?;
        let index = u32::try_from(self.items.push(make(next))?).ok()?;
        map.with_room().insert(key, index);
        Some(index)
    }

    /// What was stored for a number.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&V> {
        self.items.get(index as usize)
    }

    /// Number of distinct keys.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<K: Hash + Eq, V> Default for Interner<K, V> {
    fn default() -> Self {
        Self::new()
    }
}
