//! The few objects of a kind that commands name all the time, by the dispatch key of their handles.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::table::HandleMap;

/// Objects that are found by comparing a handful of words in a row, which is all that almost every process needs.
const NEAR: usize = 8;

struct Cell<T> {
    key: AtomicU64,
    /// From `Arc::into_raw`, null while the place is free.
    value: AtomicPtr<T>,
}

/// Shares of objects by their dispatch keys, which are never 0. Look-ups take no lock and write nothing.
///
/// Meant for a `static`: dropping it frees nothing.
pub struct Keyed<T> {
    near: [Cell<T>; NEAR],
    /// What found no place among the near ones.
    far: OnceLock<HandleMap<T>>,
}

impl<T> Keyed<T> {
    /// Without objects.
    pub const fn new() -> Self {
        let near = [const { Cell { key: AtomicU64::new(0), value: AtomicPtr::new(ptr::null_mut()) } }; NEAR];
        Self { near, far: OnceLock::new() }
    }

    /// Keeps a share of an object until [`Keyed::remove`].
    pub fn insert(&self, key: u64, value: Arc<T>) {
        let pointer = Arc::into_raw(value).cast_mut();
        for place in &self.near {
            // The pointer is the claim: it goes from null to an object once, and readers look at the key first.
            let claim = place.value.compare_exchange(ptr::null_mut(), pointer, Ordering::AcqRel, Ordering::Relaxed);
            if claim.is_ok() {
                place.key.store(key, Ordering::Release);
                return;
            }
        }
        // SAFETY: the share that was made a pointer above, and that no place took.
        let value = unsafe { Arc::from_raw(pointer) };
        self.far.get_or_init(HandleMap::new).insert(key, value);
    }

    /// The object with this key if it is in the place that is taken first, which is the only one of almost every process. No call,
    /// so that a caller needs no stack.
    ///
    /// # Safety
    ///
    /// The object is not removed while the reference lives.
    #[inline(always)]
    pub unsafe fn first(&self, key: u64) -> Option<&T> {
        let [place, ..] = &self.near;
        if place.key.load(Ordering::Acquire) == key {
            // SAFETY: null, or kept alive by the share in the place, which stays there by this function's contract.
            unsafe { place.value.load(Ordering::Acquire).as_ref() }
        } else {
            None
        }
    }

    /// The object with this key.
    ///
    /// # Safety
    ///
    /// As for [`Keyed::first`].
    #[inline(always)]
    pub unsafe fn get(&self, key: u64) -> Option<&T> {
        for place in &self.near {
            if place.key.load(Ordering::Acquire) == key {
                // SAFETY: as in `first`.
                return unsafe { place.value.load(Ordering::Acquire).as_ref() };
            }
        }
        // SAFETY: the object is not removed while the reference is used, by this function's contract.
        unsafe { self.get_far(key) }
    }

    /// # Safety
    ///
    /// As for [`Keyed::first`].
    #[cold]
    #[inline(never)]
    unsafe fn get_far(&self, key: u64) -> Option<&T> {
        // SAFETY: as for `get`, which calls this.
        unsafe { self.far.get()?.get(key) }
    }

    /// A share of the object with this key.
    ///
    /// # Safety
    ///
    /// The object is not removed meanwhile.
    pub unsafe fn share(&self, key: u64) -> Option<Arc<T>> {
        let Some(place) = self.near.iter().find(|place| place.key.load(Ordering::Acquire) == key) else {
            // SAFETY: the object is not removed meanwhile, by this function's contract.
            return unsafe { self.far.get()?.share(key) };
        };
        let value = place.value.load(Ordering::Acquire);
        if value.is_null() {
            return None;
        }
        // SAFETY: from `Arc::into_raw`; the place keeps its own share meanwhile by this function's contract.
        unsafe {
            Arc::increment_strong_count(value);
            Some(Arc::from_raw(value))
        }
    }

    /// Forgets the object with this key and returns the share that was kept of it.
    ///
    /// # Safety
    ///
    /// No reference that a look-up of this key returned is used any more.
    pub unsafe fn remove(&self, key: u64) -> Option<Arc<T>> {
        for place in &self.near {
            if place.key.compare_exchange(key, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let value = place.value.swap(ptr::null_mut(), Ordering::AcqRel);
                // SAFETY: `insert` put this share there, and it was just taken out.
                return (!value.is_null()).then(|| unsafe { Arc::from_raw(value) });
            }
        }
        let far = self.far.get()?;
        // SAFETY: nobody else removes this key meanwhile by this function's contract.
        let value = unsafe { far.share(key) };
        far.remove(key);
        value
    }
}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_objects_are_found_until_they_are_removed() {
        let keyed = Keyed::new();
        let keys = 1..=NEAR as u64 + 3;
        // SAFETY: each reference ends in its line.
        let found = |key| unsafe { (keyed.get(key).copied(), keyed.first(key).copied()) };
        for key in keys.clone() {
            assert_eq!(found(key), (None, None));
            keyed.insert(key, Arc::new(key * 10));
        }
        for key in keys.clone() {
            assert_eq!(found(key), (Some(key * 10), (key == 1).then_some(10)));
            // SAFETY: nothing is removed meanwhile.
            let share = unsafe { keyed.share(key) }.expect("it is there");
            assert_eq!((*share, Arc::strong_count(&share)), (key * 10, 2));
        }
        for key in keys.clone() {
            // SAFETY: no reference is left.
            let value = unsafe { keyed.remove(key) }.expect("it is there");
            assert_eq!((*value, Arc::strong_count(&value)), (key * 10, 1), "the only share");
            // SAFETY: the references of this round ended in the lines above.
            assert!(unsafe { keyed.remove(key) }.is_none() && unsafe { keyed.share(key) }.is_none());
            assert_eq!(found(key), (None, None));
        }
    }

    #[test]
    fn a_free_place_is_taken_again() {
        let keyed = Keyed::new();
        for round in 1..=3 * NEAR as u64 {
            keyed.insert(round, Arc::new(round));
            // SAFETY: the reference ends here, and nothing else is there.
            assert_eq!(unsafe { keyed.first(round) }, Some(&round));
            // SAFETY: no reference is left.
            assert_eq!(unsafe { keyed.remove(round) }.as_deref(), Some(&round));
        }
    }
}
