//! Lock-free read, locked write containers that the hooks look things up in.
//!
//! Knows nothing of Vulkan: keys are 64-bit handles, values are 64-bit words. Start at [`FlatTable`].
//!
//! The protocol leans on one rule of the API: a handle that a call names is valid for the whole call, so
//! nobody removes a key while another thread may look it up *and act on the answer*. A look-up of any other
//! word (an ignored member, say) may return a stale value, which is why values are plain words and never freed memory.

use std::hash::Hash;
use std::hint::select_unpredictable;
use std::ops::DerefMut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crate::hash::{FastMap, FastSet, fold};
use crate::memory::{self, Room};

/// The primitives of [`FlatTable`] and [`BitFilter`]: the standard library's, or those that the models in `model.rs` run with.
mod sync {
    #[cfg(all(loom, test))]
    pub(super) use loom::sync::{Mutex, atomic::AtomicPtr, atomic::AtomicU64};
    #[cfg(not(all(loom, test)))]
    pub(super) use std::sync::{Mutex, atomic::AtomicPtr, atomic::AtomicU64};
}
use sync::{AtomicPtr as TablePtr, AtomicU64, Mutex as TableMutex};

/// Locks without poisoning: a panic in another hook must not cascade into this one. Called, since two hundred places lock.
#[inline(never)]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is written often, away from the cache lines of what is read often.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

const EMPTY: u64 = 0;
const TOMBSTONE: u64 = u64::MAX;

/// Slots from which on a table is large.
const LARGE: usize = 1 << 16;

struct Slot {
    key: AtomicU64,
    value: AtomicU64,
}

struct Slots {
    mask: usize,
    slots: Box<[Slot]>,
}

impl Slots {
    fn new(capacity: usize) -> Box<Self> {
        let mut slots = memory::vec(capacity);
        slots.resize_with(capacity, || Slot { key: AtomicU64::new(EMPTY), value: AtomicU64::new(0) });
        Box::new(Self { mask: capacity - 1, slots: slots.into_boxed_slice() })
    }

    #[inline(always)]
    fn at(&self, index: usize) -> &Slot {
        // SAFETY: the number of slots is a power of two and `mask` is one less, so the masked index is below it.
        unsafe { self.slots.get_unchecked(index & self.mask) }
    }
}

#[derive(Default)]
struct Writer {
    live: usize,
    tombstones: usize,
    /// Every table ever published; readers may still walk the older ones.
    owned: Vec<*mut Slots>,
}

// SAFETY: the pointers come from `Box::into_raw`, are owned by this value alone and point to `Sync` data.
unsafe impl Send for Writer {}

/// Map from a non-zero 64-bit key to a non-zero 64-bit value: open addressing, linear probing, load at most one quarter (large
/// tables: one half, dense ones: three quarters).
///
/// Reads take no lock and write nothing. Writes are serialised by a mutex. Growth publishes a new slot array; older arrays stay
/// until the table is dropped, and since each is half of the next their sum is bounded by the newest.
pub struct FlatTable {
    current: TablePtr<Slots>,
    /// It is let fill up to three quarters: for many keys that are looked up now and then, not for each descriptor.
    is_dense: bool,
    writer: Apart<TableMutex<Writer>>,
}

impl FlatTable {
    /// An empty table of `capacity` slots, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        let slots = Box::into_raw(Slots::new(capacity.next_power_of_two().max(8)));
        Self {
            current: TablePtr::new(slots),
            is_dense: false,
            writer: Apart(TableMutex::new(Writer { live: 0, tombstones: 0, owned: vec![slots] })),
        }
    }

    #[inline]
    fn writer(&self) -> impl DerefMut<Target = Writer> + '_ {
        self.writer.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    fn slots(&self) -> &Slots {
        // SAFETY: `current` always holds a pointer from `Box::into_raw` that `Writer::owned` keeps until `self` is dropped.
        unsafe { &*self.current.load(Ordering::Acquire) }
    }

    /// The value of `key`, or 0 when it is absent.
    #[inline(always)]
    pub fn get(&self, key: u64) -> u64 {
        let slots = self.slots();
        let mut index = fold(key) as usize;
        loop {
            let slot = slots.at(index);
            let found = slot.key.load(Ordering::Acquire);
            if found == key {
                // A zero key finds an empty slot and the reserved word a removed key's, whose value was never set or is stale.
                return if key == EMPTY || key == TOMBSTONE { 0 } else { slot.value.load(Ordering::Acquire) };
            }
            if found == EMPTY {
                return 0;
            }
            index = index.wrapping_add(1);
        }
    }

    /// Sets the value of `key` and returns the previous one, 0 if there was none.
    ///
    /// A null key and the one reserved word are ignored: no driver hands them out as a handle.
    pub fn insert(&self, key: u64, value: u64) -> u64 {
        self.insert_unless(key, value, &mut || false)
    }

    /// [`FlatTable::insert`], but if the key is there and `keep` says so its value stays. No other thread changes the table
    /// between the look and what `keep` does.
    #[inline]
    pub fn insert_unless(&self, key: u64, value: u64, keep: &mut dyn FnMut() -> bool) -> u64 {
        if key == EMPTY || key == TOMBSTONE {
            return 0;
        }
        let mut writer = self.writer();
        let len = self.slots().slots.len();
        let taken = writer.live + writer.tombstones + 1;
        // Large tables are in no cache anyway, and are let fill up to a half.
        let is_full = match self.is_dense {
            true => taken * 4 > len * 3,
            false => taken * if len < LARGE { 4 } else { 2 } > len,
        };
        if is_full {
            self.rebuild(&mut writer);
        }
        let slots = self.slots();
        let mut index = fold(key) as usize;
        let mut free: Option<&Slot> = None;
        loop {
            let slot = slots.at(index);
            match slot.key.load(Ordering::Relaxed) {
                found if found == key => {
                    let before = slot.value.load(Ordering::Relaxed);
                    if !keep() {
                        slot.value.store(value, Ordering::Release);
                    }
                    return before;
                }
                EMPTY => {
                    let target = free.unwrap_or(slot);
                    writer.live += 1;
                    writer.tombstones -= usize::from(free.is_some());
                    target.value.store(value, Ordering::Release);
                    target.key.store(key, Ordering::Release);
                    return 0;
                }
                TOMBSTONE => free = free.or(Some(slot)),
                _ => {}
            }
            index = index.wrapping_add(1);
        }
    }

    /// Removes `key` and returns its value, 0 if it was absent.
    pub fn remove(&self, key: u64) -> u64 {
        self.remove_unless(key, &mut || false)
    }

    /// [`FlatTable::remove`], but if `keep` says so the key stays and 0 is returned.
    #[inline]
    pub fn remove_unless(&self, key: u64, keep: &mut dyn FnMut() -> bool) -> u64 {
        if key == EMPTY || key == TOMBSTONE {
            return 0;
        }
        let mut writer = self.writer();
        if keep() {
            return 0;
        }
        let slots = self.slots();
        let mut index = fold(key) as usize;
        loop {
            let slot = slots.at(index);
            let found = slot.key.load(Ordering::Relaxed);
            if found == EMPTY {
                return 0;
            }
            if found == key {
                break;
            }
            index = index.wrapping_add(1);
        }
        let value = slots.at(index).value.load(Ordering::Relaxed);
        writer.live -= 1;
        if slots.at(index.wrapping_add(1)).key.load(Ordering::Relaxed) != EMPTY {
            slots.at(index).key.store(TOMBSTONE, Ordering::Release);
            writer.tombstones += 1;
            return value;
        }
        // No probe goes past this slot, so it and the tombstones that lead up to it can become empty again.
        slots.at(index).key.store(EMPTY, Ordering::Release);
        let mut back = index.wrapping_sub(1);
        while slots.at(back).key.load(Ordering::Relaxed) == TOMBSTONE {
            slots.at(back).key.store(EMPTY, Ordering::Release);
            writer.tombstones -= 1;
            back = back.wrapping_sub(1);
        }
        value
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.writer().live
    }

    /// Whether the table holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `with` for every key and value, in no order. It must not change the table.
    pub fn for_each(&self, with: &mut dyn FnMut(u64, u64)) {
        let _writer = self.writer();
        for slot in &self.slots().slots {
            let key = slot.key.load(Ordering::Relaxed);
            if key != EMPTY && key != TOMBSTONE {
                with(key, slot.value.load(Ordering::Relaxed));
            }
        }
    }

    /// Publishes a table that is twice as large.
    fn rebuild(&self, writer: &mut Writer) {
        let old = self.slots();
        let new = Slots::new(old.slots.len() * 2);
        for slot in &old.slots {
            let key = slot.key.load(Ordering::Relaxed);
            if key == EMPTY || key == TOMBSTONE {
                continue;
            }
            let mut index = fold(key) as usize;
            while new.at(index).key.load(Ordering::Relaxed) != EMPTY {
                index = index.wrapping_add(1);
            }
            new.at(index).value.store(slot.value.load(Ordering::Relaxed), Ordering::Relaxed);
            new.at(index).key.store(key, Ordering::Relaxed);
        }
        let new = Box::into_raw(new);
        writer.owned.push(new);
        writer.tombstones = 0;
        self.current.store(new, Ordering::Release);
    }
}

impl Drop for FlatTable {
    fn drop(&mut self) {
        for slots in self.writer().owned.drain(..) {
            // SAFETY: made by `Box::into_raw`, listed once, and `&mut self` proves that no reader is left.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

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

    /// Adds a key.
    pub fn insert(&self, key: u64) {
        let (word, bit) = Self::place(key);
        self.words[word].fetch_or(1 << (bit & 63), Ordering::Release);
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

/// A [`FlatTable`] whose values are reference-counted.
pub struct HandleMap<T> {
    table: FlatTable,
    marker: std::marker::PhantomData<Arc<T>>,
}

impl<T> HandleMap<T> {
    /// An empty map.
    pub fn new() -> Self {
        Self { table: FlatTable::new(16), marker: std::marker::PhantomData }
    }

    /// An empty map that holds many handles in little memory, and takes longer to find them.
    pub fn dense() -> Self {
        let mut map = Self::new();
        map.table.is_dense = true;
        map
    }

    /// Inserts what belongs to a handle, replacing what did.
    pub fn insert(&self, handle: u64, value: Arc<T>) {
        let word = Arc::as_ptr(&value) as usize as u64;
        let old = self.table.insert(handle, word);
        if self.table.get(handle) == word {
            // The table has this share now. Not before, because an insertion without memory unwinds.
            let _ = Arc::into_raw(value);
        }
        Self::release(old);
    }

    fn release(word: u64) {
        if word != 0 {
            // SAFETY: the word came from `Arc::into_raw` in `insert` and left the table exactly once.
            drop(unsafe { Arc::from_raw(word as usize as *const T) });
        }
    }

    /// What belongs to a handle.
    ///
    /// # Safety
    ///
    /// The handle must not be removed while the reference lives. Hooks get this from the API: a handle that a
    /// command names is valid, and its destruction is externally synchronised, for the duration of the command.
    #[inline]
    pub unsafe fn get(&self, handle: u64) -> Option<&T> {
        let word = self.table.get(handle);
        // SAFETY: a non-zero word came from `Arc::into_raw`, and the caller promises that it stays in the table.
        (word != 0).then(|| unsafe { &*(word as usize as *const T) })
    }

    /// A share of what belongs to a handle.
    ///
    /// # Safety
    ///
    /// As for [`HandleMap::get`].
    pub unsafe fn share(&self, handle: u64) -> Option<Arc<T>> {
        let word = self.table.get(handle);
        if word == 0 {
            return None;
        }
        let pointer = word as usize as *const T;
        // SAFETY: the table owns one count of this `Arc` and the caller promises that it keeps it meanwhile.
        unsafe {
            Arc::increment_strong_count(pointer);
            Some(Arc::from_raw(pointer))
        }
    }

    /// Removes a handle.
    pub fn remove(&self, handle: u64) {
        Self::release(self.table.remove(handle));
    }

    /// Calls `with` for every record, in no order. It must not change the map.
    pub fn for_each(&self, with: &mut dyn FnMut(&T)) {
        self.table.for_each(&mut |_, word| {
            // SAFETY: the word came from `Arc::into_raw` in `insert`, and nothing leaves the table meanwhile, whose writers are kept out.
            with(unsafe { &*(word as usize as *const T) });
        });
    }

    /// Whether no handle is present.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

impl<T> Default for HandleMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for HandleMap<T> {
    fn drop(&mut self) {
        self.table.for_each(&mut |_, word| Self::release(word));
    }
}

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

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
