//! The choice made for each (sampler state, view class), read without a lock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::memory;
use crate::table::{AppendVec, lock};

/// Choice word: no decision yet.
pub const UNDECIDED: u64 = 0;
/// Choice word: hand down the sampler that was given.
pub const KEEP: u64 = u64::MAX;

/// Classes whose choices lie in the row itself, so that reading one takes a single load that depends on others. Classes are
/// numbered as they appear, and few applications have more that conflict.
const NEAR: usize = 8;

struct Far(Box<[AtomicU64]>);

/// The choices of one state.
#[repr(C)]
struct Row {
    near: [AtomicU64; NEAR],
    /// Those of the classes from [`NEAR`] on.
    far: AtomicPtr<Far>,
    /// Arrays that a larger one replaced; readers may still hold them. Its lock serialises growth.
    #[expect(clippy::vec_box, reason = "readers hold the address of the box's content")]
    retired: Mutex<Vec<Box<Far>>>,
}

impl Row {
    fn new() -> Self {
        Self {
            near: [const { AtomicU64::new(UNDECIDED) }; NEAR],
            far: AtomicPtr::new(std::ptr::null_mut()),
            retired: Mutex::default(),
        }
    }

    fn far(&self) -> &[AtomicU64] {
        // SAFETY: null or a pointer from `Box::into_raw`; replaced arrays live on in `retired` as long as the row.
        unsafe { self.far.load(Ordering::Acquire).as_ref() }.map_or(&[], |far| &far.0)
    }

    /// The cell of a class, which is made if there is none yet.
    fn cell(&self, class: usize) -> Option<&AtomicU64> {
        let Some(index) = class.checked_sub(NEAR) else { return self.near.get(class) };
        let mut retired = lock(&self.retired);
        if self.far().len() <= index {
            let len = (index + 1).next_power_of_two().max(8);
            let mut fresh = memory::vec(len);
            fresh.resize_with(len, || AtomicU64::new(UNDECIDED));
            let fresh = fresh.into_boxed_slice();
            for (to, from) in fresh.iter().zip(self.far()) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            let old = self.far.swap(Box::into_raw(Box::new(Far(fresh))), Ordering::AcqRel);
            if !old.is_null() {
                // SAFETY: made by `Box::into_raw` and just taken out of its only place.
                retired.push(unsafe { Box::from_raw(old) });
            }
        }
        self.far().get(index)
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let far = *self.far.get_mut();
        if !far.is_null() {
            // SAFETY: made by `Box::into_raw` in `cell`; replaced pointers move to `retired`, so it is owned once.
            drop(unsafe { Box::from_raw(far) });
        }
    }
}

/// One row for each place of a state; places are never freed, only reused, so that a stale number is harmless.
#[derive(Default)]
pub struct Choices {
    rows: AppendVec<Row>,
}

impl Choices {
    /// Adds a row and returns its number; `None` when numbers run out.
    pub fn add_row(&self) -> Option<u32> {
        u32::try_from(self.rows.push(Row::new())?).ok()
    }

    /// The choice for (state, view class): a sampler's handle, [`KEEP`] (also for a state that is not there) or [`UNDECIDED`].
    #[inline(always)]
    pub fn choice(&self, state: u32, class: u32) -> u64 {
        let Some(row) = self.rows.get(state as usize) else { return KEEP };
        match row.near.get(class as usize) {
            Some(cell) => cell.load(Ordering::Acquire),
            None => Self::far_choice(row, class),
        }
    }

    #[inline(never)]
    fn far_choice(row: &Row, class: u32) -> u64 {
        let cell = (class as usize).checked_sub(NEAR).and_then(|index| row.far().get(index));
        cell.map_or(UNDECIDED, |cell| cell.load(Ordering::Acquire))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the one before, [`UNDECIDED`] if there was none.
    ///
    /// The caller serialises this with [`Choices::clear`] for the same state.
    pub fn publish(&self, state: u32, class: u32, choice: u64) -> u64 {
        let Some(cell) = self.rows.get(state as usize).and_then(|row| row.cell(class as usize)) else { return KEEP };
        match cell.compare_exchange(UNDECIDED, choice, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Forgets every choice of a state.
    pub fn clear(&self, state: u32) {
        let Some(row) = self.rows.get(state as usize) else { return };
        for cell in row.near.iter().chain(row.far()) {
            cell.store(UNDECIDED, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_choices_are_told_apart() {
        let choices = Choices::default();
        let state = choices.add_row().unwrap();
        let classes = [0, NEAR as u32 - 1, NEAR as u32, 99, 1000];
        for class in classes {
            assert_eq!(choices.choice(state, class), UNDECIDED);
            assert_eq!(choices.publish(state, class, u64::from(class) + 1), UNDECIDED);
            assert_eq!(choices.publish(state, class, KEEP), u64::from(class) + 1);
        }
        assert!(classes.iter().all(|class| choices.choice(state, *class) == u64::from(*class) + 1));
        assert_eq!(choices.choice(state + 1, 0), KEEP);
        let other = choices.add_row().unwrap();
        assert_eq!((choices.choice(other, 0), choices.choice(other, 99)), (UNDECIDED, UNDECIDED));
        choices.clear(state);
        assert!(classes.iter().all(|class| choices.choice(state, *class) == UNDECIDED));
    }
}
