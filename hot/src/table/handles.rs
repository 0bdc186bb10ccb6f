//! What belongs to a handle, shared with whoever uses it.

use std::sync::Arc;

use super::FlatTable;

/// A [`FlatTable`] whose values are reference-counted.
pub struct HandleMap<T> {
    pub(super) table: FlatTable,
    marker: std::marker::PhantomData<Arc<T>>,
}

impl<T> HandleMap<T> {
    /// An empty map.
    pub fn new() -> Self {
        Self { table: FlatTable::new(16), marker: std::marker::PhantomData }
    }

    /// An empty map that holds many handles in little memory, and takes longer to find them.
    pub fn dense() -> Self {
        Self { table: FlatTable::of(16, (), true), marker: std::marker::PhantomData }
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
    pub unsafe fn get(&self, handle: u64) -> Option<&T> {
        // SAFETY: the word is in the table, where the caller promises that it stays.
        unsafe { Self::at(self.table.get(handle)) }
    }

    /// The same, for leaf hooks.
    ///
    /// # Safety
    ///
    /// As for [`HandleMap::get`].
    #[inline(always)]
    pub unsafe fn get_in_line(&self, handle: u64) -> Option<&T> {
        // SAFETY: the word is in the table, where the caller promises that it stays.
        unsafe { Self::at(self.table.get_in_line(handle)) }
    }

    /// What a word stands for.
    ///
    /// # Safety
    ///
    /// It is that of a handle, or 0, and stays in the table while the reference lives.
    #[inline(always)]
    unsafe fn at<'t>(word: u64) -> Option<&'t T> {
        // SAFETY: a non-zero word came from `Arc::into_raw`, and its share is the table's, by this function's contract.
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

    /// A share of each record that `is_it` says, in no order. It must not change the map.
    pub fn shares_of(&self, is_it: &mut dyn FnMut(&T) -> bool) -> Vec<Arc<T>> {
        let mut shares = Vec::new();
        self.table.for_each(&mut |_, word| {
            let pointer = word as usize as *const T;
            // SAFETY: the word came from `Arc::into_raw` in `insert`, and nothing leaves the table meanwhile, whose writers are kept out.
            if is_it(unsafe { &*pointer }) {
                // SAFETY: as above, so the count is at least 1; the share that is made here is counted.
                shares.push(unsafe {
                    Arc::increment_strong_count(pointer);
                    Arc::from_raw(pointer)
                });
            }
        });
        shares
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
