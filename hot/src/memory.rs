//! Memory that cannot be had. What grows with what the application creates asks first and unwinds when there is none, to whoever
//! guards the hook; the standard library's own answer is to end the process, which is not the layer's to end.

use std::alloc::{Layout, alloc_zeroed};
use std::collections::{BinaryHeap, HashMap, HashSet, TryReserveError, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// What is unwound with.
pub struct OutOfMemory;

/// Leaves the hook. No panic, so nothing is printed into a host that has run out of memory.
#[cold]
pub fn give_up() -> ! {
    std::panic::resume_unwind(Box::new(OutOfMemory))
}

/// An empty vector with room for `capacity` elements.
pub fn vec<T>(capacity: usize) -> Vec<T> {
    let mut out = Vec::new();
    if out.try_reserve_exact(capacity).is_err() {
        give_up();
    }
    out
}

/// What bytes of 0 are a value of.
///
/// # Safety
///
/// They are, and there is nothing to drop.
pub unsafe trait Zero {}

// SAFETY: it has the layout of an integer.
unsafe impl Zero for AtomicU32 {}
// SAFETY: it has the layout of an integer.
unsafe impl Zero for AtomicU64 {}

/// `count` elements of zeroes. Where there are many, the host finds memory for a page when it is written.
pub fn zeroed<T: Zero>(count: usize) -> Box<[T]> {
    let Ok(layout) = Layout::array::<T>(count) else { give_up() };
    if layout.size() == 0 {
        return Box::default();
    }
    // SAFETY: the layout has a size.
    let first = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if first.is_null() {
        give_up();
    }
    // SAFETY: it was allocated with the layout of these elements, of which zeroes are values by the trait's contract.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, count)) }
}

/// What `items` yields, in a vector of that length.
pub fn collect<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut out = vec(items.size_hint().0);
    for item in items {
        out.with_room().push(item);
    }
    out
}

/// `list` in ascending order.
///
/// By a heap: a slice's own sort is ten times the code, which comes again with each type.
pub fn sorted<T: Ord>(list: Vec<T>) -> Vec<T> {
    if list.is_sorted() { list } else { BinaryHeap::from(list).into_sorted_vec() }
}

/// `list` in the order of what `key` says of each element, equal ones as they were.
pub fn sorted_by_key<T, K: Ord>(list: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    if list.is_sorted_by_key(&key) {
        return list;
    }
    let order = sorted(collect(list.iter().enumerate().map(|(at, item)| (key(item), at))));
    let mut items = collect(list.into_iter().map(Some));
    collect(order.into_iter().filter_map(|(_, at)| items.get_mut(at)?.take()))
}

/// A collection that can be asked for room.
pub trait Room {
    /// Makes room for one more element, in the collection's own steps.
    fn try_room(&mut self) -> Result<(), TryReserveError>;

    /// The collection, with room for one more element.
    #[inline]
    fn with_room(&mut self) -> &mut Self {
        if self.try_room().is_err() {
            give_up();
        }
        self
    }
}

impl<T> Room for Vec<T> {
    fn try_room(&mut self) -> Result<(), TryReserveError> {
        self.try_reserve(1)
    }
}

impl<T> Room for VecDeque<T> {
    fn try_room(&mut self) -> Result<(), TryReserveError> {
        self.try_reserve(1)
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Room for HashMap<K, V, S> {
    fn try_room(&mut self) -> Result<(), TryReserveError> {
        self.try_reserve(1)
    }
}

impl<T: Hash + Eq, S: BuildHasher> Room for HashSet<T, S> {
    fn try_room(&mut self) -> Result<(), TryReserveError> {
        self.try_reserve(1)
    }
}
