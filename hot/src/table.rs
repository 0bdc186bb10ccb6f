//! Lock-free read, locked write containers that the hooks look things up in.
//!
//! Knows nothing of Vulkan: keys are 64-bit handles, values are 64-bit words. Start at [`FlatTable`].
//!
//! The protocol leans on one rule of the API: a handle that a call names is valid for the whole call, so
//! nobody removes a key while another thread may look it up *and act on the answer*. A look-up of any other
//! word (an ignored member, say) may return a stale value, which is why values are plain words and never freed memory.

mod append;
mod filter;
mod handles;

use std::hint::select_unpredictable;
use std::sync::atomic::Ordering;

pub use self::append::{AppendVec, Interner};
pub use self::filter::BitFilter;
pub(crate) use self::filter::Counts;
pub use self::handles::HandleMap;
use crate::hash::FACTOR;
pub use crate::hash::{FastMap, FastSet, fold};
pub use crate::lock::lock;
use crate::lock::{Guard, Lock};
use crate::memory::{self, Room};

// The primitives of `FlatTable` and `BitFilter`: the standard library's, or those that the models in `model.rs` run with.
#[cfg(all(loom, test))]
use loom::sync::atomic::{AtomicPtr, AtomicU64};
#[cfg(not(all(loom, test)))]
use std::sync::atomic::{AtomicPtr, AtomicU64};

/// What is written often, away from the cache lines of what is read often.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

/// The key of a slot that never had one. Not zero, which callers do ask for: nothing has that, so it needs no case of its own. The factor
/// of the hash, because it is at hand.
const EMPTY: u64 = FACTOR;
/// The key of a slot whose key was removed.
const TOMBSTONE: u64 = u64::MAX;

/// Slots from which on a table is large.
const LARGE: usize = 1 << 12;

struct Slot {
    key: AtomicU64,
    value: AtomicU64,
}

/// Slots that lie in one cache line.
const BUCKET: usize = 4;

#[repr(align(64))]
struct Bucket([Slot; BUCKET]);

/// What a place in a table is a multiple of: as many bytes as a slot has, so that a masked hash is where a slot lies.
const STEP: usize = 16;

/// The part of a place that says which slot of a bucket it is.
const WITHIN: usize = (BUCKET - 1) * STEP;

const _: () = assert!(cfg!(all(loom, test)) || size_of::<Slot>() == STEP && size_of::<Bucket>() == BUCKET * STEP);

/// The bucket of a place.
///
/// # Safety
///
/// There are as many buckets as that takes, which live as long as the reference.
#[inline(always)]
unsafe fn bucket_at<'t>(buckets: *const Bucket, place: usize) -> &'t Bucket {
    // SAFETY: what is left of the place is that of one of the buckets, by this function's contract.
    unsafe {
        if cfg!(all(loom, test)) { &*buckets.add(place / (BUCKET * STEP)) } else { &*buckets.byte_add(place & !WITHIN) }
    }
}

/// The slot at a place.
///
/// # Safety
///
/// As for [`bucket_at`].
#[inline(always)]
unsafe fn slot_at<'t>(buckets: *const Bucket, place: usize) -> &'t Slot {
    if cfg!(all(loom, test)) {
        // SAFETY: the place is that of a slot in one of the buckets, which live as long as the reference.
        let Bucket(slots) = unsafe { bucket_at(buckets, place) };
        return &slots[place / STEP % BUCKET];
    }
    // SAFETY: a bucket is nothing but its slots, and the place is that of one of them, by this function's contract.
    unsafe { &*buckets.byte_add(place).cast::<Slot>() }
}

/// The slots of a table, of which there are as many as a power of two.
#[derive(Clone, Copy)]
struct Places {
    /// What masks a key's hash: in a large table without [`WITHIN`], so that a key is first looked for at the start of a bucket and can
    /// be looked for in all of it at once.
    mask: usize,
    buckets: *const Bucket,
}

impl Places {
    #[inline(always)]
    fn first(self, key: u64) -> usize {
        (fold(key) as usize).wrapping_mul(STEP) & self.mask
    }

    #[inline(always)]
    fn after(self, place: usize) -> usize {
        place.wrapping_add(STEP) & (self.mask | WITHIN)
    }

    #[inline(always)]
    fn before(self, place: usize) -> usize {
        place.wrapping_sub(STEP) & (self.mask | WITHIN)
    }

    /// Whether a key is looked for in a whole bucket at once.
    #[inline(always)]
    fn are_many(self) -> bool {
        self.mask & WITHIN == 0
    }
}

struct Slots {
    /// See [`Places::mask`].
    mask: usize,
    buckets: Box<[Bucket]>,
}

impl Slots {
    fn new(capacity: usize) -> Box<Self> {
        let mut buckets = memory::vec(capacity / BUCKET);
        let slot = |_| Slot { key: AtomicU64::new(EMPTY), value: AtomicU64::new(0) };
        buckets.resize_with(capacity / BUCKET, || Bucket(std::array::from_fn(slot)));
        let within = if capacity < LARGE { 0 } else { WITHIN };
        Box::new(Self { mask: ((capacity - 1) * STEP) & !within, buckets: buckets.into_boxed_slice() })
    }

    fn len(&self) -> usize {
        self.buckets.len() * BUCKET
    }

    #[inline(always)]
    fn places(&self) -> Places {
        Places { mask: self.mask, buckets: self.buckets.as_ptr() }
    }

    #[inline(always)]
    fn at(&self, place: usize) -> &Slot {
        // SAFETY: the number of slots is a power of two, and a masked place is that of one of them.
        unsafe { slot_at(self.buckets.as_ptr(), place) }
    }

    /// The place of a key, under the lock.
    #[inline(always)]
    fn find(&self, key: u64) -> Option<usize> {
        if is_reserved(key) {
            return None;
        }
        let places = self.places();
        let mut place = places.first(key);
        loop {
            let found = self.at(place).key.load(Ordering::Relaxed);
            if found == key {
                return Some(place);
            }
            if found == EMPTY {
                return None;
            }
            place = places.after(place);
        }
    }

    /// Removes the key at a place, under the lock.
    #[inline(always)]
    fn vacate<W>(&self, mut place: usize, writer: &mut Writer<W>) {
        writer.live -= 1;
        let places = self.places();
        if self.at(places.after(place)).key.load(Ordering::Relaxed) != EMPTY {
            self.at(place).key.store(TOMBSTONE, Ordering::Release);
            return;
        }
        // No probe goes past this slot, so it and the tombstones that lead up to it can become empty again.
        loop {
            self.at(place).key.store(EMPTY, Ordering::Release);
            writer.room += 1;
            place = places.before(place);
            if self.at(place).key.load(Ordering::Relaxed) != TOMBSTONE {
                return;
            }
        }
    }
}

struct Writer<W> {
    live: usize,
    /// Empty slots that may be taken before the table grows.
    room: usize,
    /// Insertions ever.
    insertions: u64,
    /// Every table ever published; readers may still walk the older ones.
    owned: Vec<*mut Slots>,
    with: W,
}

// SAFETY: the pointers come from `Box::into_raw`, are owned by this value alone and point to `Sync` data.
unsafe impl<W: Send> Send for Writer<W> {}

/// Map from a non-zero 64-bit key to a non-zero 64-bit value: open addressing, linear probing, load at most one quarter (large
/// tables: one half, dense ones: three quarters).
///
/// Reads take no lock and write nothing. Writes are serialised by a lock, which may guard something else as well. Growth publishes a
/// new slot array; older arrays stay until the table is dropped, and since each is half of the next their sum is bounded by the
/// newest.
pub struct FlatTable<W = ()> {
    current: AtomicPtr<Slots>,
    /// It is let fill up to three quarters: for many keys that are looked up now and then, not for each descriptor.
    is_dense: bool,
    writer: Apart<Lock<Writer<W>>>,
}

/// A null key and two reserved words are ignored: no driver hands them out as a handle.
#[inline(always)]
const fn is_reserved(key: u64) -> bool {
    matches!(key, 0 | EMPTY | TOMBSTONE)
}

impl FlatTable {
    /// An empty table of `capacity` slots, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        Self::with(capacity, ())
    }
}

impl<W> FlatTable<W> {
    /// The same, whose lock guards `with` as well.
    pub fn with(capacity: usize, with: W) -> Self {
        Self::of(capacity, with, false)
    }

    fn of(capacity: usize, with: W, is_dense: bool) -> Self {
        let capacity = capacity.next_power_of_two().max(8);
        let slots = Box::into_raw(Slots::new(capacity));
        let room = Self::most(capacity, is_dense);
        Self {
            current: AtomicPtr::new(slots),
            is_dense,
            writer: Apart(Lock::new(Writer { live: 0, room, insertions: 0, owned: vec![slots], with })),
        }
    }

    /// How many of its slots are taken at most.
    fn most(len: usize, is_dense: bool) -> usize {
        match is_dense {
            true => len / 4 * 3,
            false if len < LARGE => len / 4,
            // In no first-level cache anyway, and the half of it is in a second-level one for longer.
            false => len / 2,
        }
    }

    #[inline(always)]
    fn slots(&self) -> &Slots {
        // SAFETY: `current` always holds a pointer from `Box::into_raw` that `Writer::owned` keeps until `self` is dropped.
        unsafe { &*self.current.load(Ordering::Acquire) }
    }

    /// The value of `key`, or 0 when it is absent.
    #[inline(never)]
    pub fn get(&self, key: u64) -> u64 {
        self.get_in_line(key)
    }

    /// The same, for leaf hooks.
    #[inline(always)]
    pub fn get_in_line(&self, key: u64) -> u64 {
        self.reader().get(key)
    }

    /// The table as it is now, for several look-ups: what is entered later may be missing.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        Reader { places: self.slots().places(), table: std::marker::PhantomData }
    }

    /// Keeps other threads from changing the table, and from what its lock guards.
    #[inline(always)]
    pub fn write(&self) -> Writing<'_, W> {
        Writing { table: self, writer: self.writer.0.lock() }
    }

    /// Sets the value of `key` and returns the previous one, 0 if there was none.
    #[inline(never)]
    pub fn insert(&self, key: u64, value: u64) -> u64 {
        self.write().insert(key, value)
    }

    /// Removes `key` and returns its value, 0 if it was absent.
    #[inline(never)]
    pub fn remove(&self, key: u64) -> u64 {
        self.write().remove(key)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.writer.0.lock().live
    }

    /// Whether the table holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often a key was inserted.
    pub fn insertions(&self) -> u64 {
        self.writer.0.lock().insertions
    }

    /// Calls `with` for every key and value, in no order. It must not change the table.
    pub fn for_each(&self, with: &mut dyn FnMut(u64, u64)) {
        self.write().for_each(with);
    }
}

/// A [`FlatTable`] as it was at one time, but for the values.
#[derive(Clone, Copy)]
pub struct Reader<'t> {
    places: Places,
    table: std::marker::PhantomData<&'t Slots>,
}

impl Reader<'_> {
    /// The value of `key`, or 0 when it is absent.
    #[inline(always)]
    pub fn get(self, key: u64) -> u64 {
        let mut place = self.places.first(key);
        loop {
            // SAFETY: a masked place of the same buckets, which live as long as the table.
            let slot = unsafe { slot_at(self.places.buckets, place) };
            let found = slot.key.load(Ordering::Acquire);
            if found == key {
                return slot.value.load(Ordering::Acquire);
            }
            if found == EMPTY {
                return 0;
            }
            place = self.places.after(place);
        }
    }

    /// The same for the few keys of a large table that are not in their bucket.
    #[cold]
    #[inline(never)]
    fn get_far(self, key: u64) -> u64 {
        self.get(key)
    }

    /// The value of `key` if it is in its bucket, else 0. Without a branch: which slot it is in is random, and in a large table a wrong
    /// guess is noticed only when the line has come.
    #[inline(always)]
    fn in_bucket(self, key: u64) -> u64 {
        // SAFETY: a masked place of the same buckets, which live as long as the table.
        let Bucket(slots) = unsafe { bucket_at(self.places.buckets, self.places.first(key)) };
        slots.iter().fold(0, |value, slot| {
            let is_here = slot.key.load(Ordering::Acquire) == key;
            select_unpredictable(is_here, slot.value.load(Ordering::Acquire), value)
        })
    }

    /// Whether looking for a key in all of its bucket at once is the quicker way.
    #[inline(always)]
    pub fn suits_buckets(self) -> bool {
        self.places.are_many()
    }

    /// The values of `key` here and of `other_key` in another table, 0 where it is absent.
    #[inline(always)]
    pub fn both(self, key: u64, other: Self, other_key: u64) -> (u64, u64) {
        if self.suits_buckets() && other.suits_buckets() {
            return self.both_by_a_call(key, other, other_key);
        }
        (self.get(key), other.get(other_key))
    }

    /// By a call: with both ways in one loop there are too few registers.
    #[inline(never)]
    fn both_by_a_call(self, key: u64, other: Self, other_key: u64) -> (u64, u64) {
        self.both_in_buckets(key, other, other_key)
    }

    /// The same where that suits both, with a look at whole buckets.
    #[inline(always)]
    pub fn both_in_buckets(self, key: u64, other: Self, other_key: u64) -> (u64, u64) {
        let (value, other_value) = (self.in_bucket(key), other.in_bucket(other_key));
        if value == 0 || other_value == 0 {
            return (self.get_far(key), other.get_far(other_key));
        }
        (value, other_value)
    }
}

/// Where a key was found, for as long as nothing is entered or removed.
#[derive(Clone, Copy)]
pub struct Cell(usize);

/// A table that no other thread changes.
pub struct Writing<'t, W = ()> {
    table: &'t FlatTable<W>,
    writer: Guard<'t, Writer<W>>,
}

impl<W> Writing<'_, W> {
    /// What the lock guards beside the table.
    #[inline(always)]
    pub fn with(&mut self) -> &mut W {
        &mut self.writer.with
    }

    /// Whether a key can be inserted without memory, which may be missing and is unwound for.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.writer.room != 0
    }

    /// Sets the value of `key` and returns the previous one, 0 if there was none.
    #[inline(always)]
    pub fn insert(&mut self, key: u64, value: u64) -> u64 {
        self.enter(key, value, true)
    }

    /// Sets the value of `key` if it has none, else returns that.
    #[inline(always)]
    pub fn insert_new(&mut self, key: u64, value: u64) -> u64 {
        self.enter(key, value, false)
    }

    #[inline(always)]
    fn enter(&mut self, key: u64, value: u64, replaces: bool) -> u64 {
        if is_reserved(key) {
            return 0;
        }
        if !self.has_room() {
            self.grow();
        }
        let (slots, writer) = (self.table.slots(), &mut *self.writer);
        writer.insertions += 1;
        let places = slots.places();
        let mut place = places.first(key);
        let mut free: Option<&Slot> = None;
        loop {
            let slot = slots.at(place);
            match slot.key.load(Ordering::Relaxed) {
                found if found == key => {
                    let before = slot.value.load(Ordering::Relaxed);
                    if replaces {
                        slot.value.store(value, Ordering::Release);
                    }
                    return before;
                }
                EMPTY => {
                    writer.live += 1;
                    writer.room -= usize::from(free.is_none());
                    let target = free.unwrap_or(slot);
                    target.value.store(value, Ordering::Release);
                    target.key.store(key, Ordering::Release);
                    return 0;
                }
                TOMBSTONE => free = free.or(Some(slot)),
                _ => {}
            }
            place = places.after(place);
        }
    }

    /// Where `key` is and its value, if it is there.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<(Cell, u64)> {
        let slots = self.table.slots();
        let place = slots.find(key)?;
        Some((Cell(place), slots.at(place).value.load(Ordering::Relaxed)))
    }

    /// Removes `key` and returns its value, 0 if it was absent.
    #[inline(always)]
    pub fn remove(&mut self, key: u64) -> u64 {
        let slots = self.table.slots();
        let Some(place) = slots.find(key) else { return 0 };
        let value = slots.at(place).value.load(Ordering::Relaxed);
        slots.vacate(place, &mut self.writer);
        value
    }

    /// Removes the key that was just found there.
    #[inline(always)]
    pub fn remove_at(&mut self, Cell(place): Cell) {
        self.table.slots().vacate(place, &mut self.writer);
    }

    /// See [`FlatTable::for_each`].
    pub(crate) fn for_each(&self, with: &mut dyn FnMut(u64, u64)) {
        for slot in self.table.slots().buckets.iter().flat_map(|Bucket(slots)| slots) {
            let key = slot.key.load(Ordering::Relaxed);
            if !is_reserved(key) {
                with(key, slot.value.load(Ordering::Relaxed));
            }
        }
    }

    /// Publishes a table that is twice as large.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let len = self.table.slots().len() * 2;
        let new = Slots::new(len);
        let places = new.places();
        self.for_each(&mut |key, value| {
            let mut place = places.first(key);
            while new.at(place).key.load(Ordering::Relaxed) != EMPTY {
                place = places.after(place);
            }
            new.at(place).value.store(value, Ordering::Relaxed);
            new.at(place).key.store(key, Ordering::Relaxed);
        });
        self.writer.owned.with_room();
        let new = Box::into_raw(new);
        self.writer.owned.push(new);
        self.writer.room = FlatTable::<W>::most(len, self.table.is_dense) - self.writer.live;
        self.table.current.store(new, Ordering::Release);
    }
}

impl<W> Drop for FlatTable<W> {
    fn drop(&mut self) {
        for slots in self.writer.0.lock().owned.drain(..) {
            // SAFETY: made by `Box::into_raw`, listed once, and `&mut self` proves that no reader is left.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
