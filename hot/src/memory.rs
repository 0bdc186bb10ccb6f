//! Memory that cannot be had. What grows with what the application creates asks first and unwinds when there is none, to whoever
//! guards the hook; the standard library's own answer is to end the process, which is not the layer's to end.

use std::collections::{BinaryHeap, HashMap, HashSet, TryReserveError, VecDeque};
use std::hash::{BuildHasher, Hash};

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
