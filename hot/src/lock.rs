//! A lock that is taken and given back in place, by one exchange each, where nobody waits.
//!
//! The standard library's is called (twice each way, with its look at whether a thread panics), which is more than what is done under
//! it when an object is created. Like [`lock`] this one is not poisoned: a panic in another hook must not cascade.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Mutex as Plain, MutexGuard, PoisonError};

#[cfg(all(loom, test))]
use loom::sync::{Condvar, Mutex, atomic::AtomicU32};
#[cfg(not(all(loom, test)))]
use std::sync::{Condvar, Mutex, atomic::AtomicU32};

/// Locks without poisoning: a panic in another hook must not cascade into this one. Called, since two hundred places lock.
#[inline(never)]
pub fn lock<T: ?Sized>(mutex: &Plain<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may wait for it.
const AWAITED: u32 = 2;

/// How often a thread looks again before it sleeps: what is done under these locks takes less than going to sleep.
const LOOKS: u32 = if cfg!(all(loom, test)) { 0 } else { 100 };

/// Who has the value, and who waits for it. Apart from the value, so that there is one of it for values of all types.
struct Turn {
    word: AtomicU32,
    /// Held from when a thread says that it waits until it sleeps.
    sleep: Mutex<()>,
    woken: Condvar,
}

impl Turn {
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            let is_free = self.word.load(Ordering::Relaxed) == FREE;
            if is_free && self.word.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
        }
        let mut awake = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever was asleep cannot tell whether others are, and says that they may be.
        while self.word.swap(AWAITED, Ordering::Acquire) != FREE {
            awake = self.woken.wait(awake).unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Whoever said that it waits, before the word became free, has this until it sleeps.
        drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_one();
    }
}

/// A value that one thread at a time has.
pub struct Lock<T> {
    turn: Turn,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through a guard, of which there is one at a time, so sharing the lock moves the value between
// threads and never shares it.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub fn new(value: T) -> Self {
        let turn = Turn { word: AtomicU32::new(FREE), sleep: Mutex::new(()), woken: Condvar::new() };
        Self { turn, value: UnsafeCell::new(value) }
    }

    /// Waits until no other thread has the value, and takes it.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        if self.turn.word.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.turn.wait();
        }
        Guard { lock: self }
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// The value of a [`Lock`], for as long as it lives.
pub struct Guard<'l, T> {
    lock: &'l Lock<T>,
}

// SAFETY: shared references to a guard give shared ones to the value and nothing else.
unsafe impl<T: Sync> Sync for Guard<'_, T> {}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one of its lock, so nobody else has a reference to the value that is not borrowed from it.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one of its lock and is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.lock.turn.word.swap(FREE, Ordering::Release) == AWAITED {
            self.lock.turn.wake();
        }
    }
}

/// Run by loom through every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p samplin-hot --lib model`.
#[cfg(all(loom, test))]
mod model {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::Lock;

    #[test]
    fn one_thread_at_a_time_has_the_value_and_none_sleeps_for_ever() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let lock = Arc::new(Lock::new(UnsafeCell::new(0)));
            // Of two threads that have the cell at once loom tells.
            let add = |lock: &Lock<UnsafeCell<u32>>| lock.lock().with_mut(|value| unsafe { *value += 1 });
            let others = [(); 2].map(|()| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || add(&lock))
            });
            add(&lock);
            others.into_iter().for_each(|other| other.join().unwrap());
            assert_eq!(lock.lock().with(|value| unsafe { *value }), 3);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_and_a_panic_leaves_it_free() {
        const ROUNDS: u32 = if cfg!(miri) { 50 } else { 50_000 };
        let lock = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        let mut value = lock.lock();
                        let before = *value;
                        if round % 100 == 0 {
                            // Long enough for the others to sleep.
                            std::thread::yield_now();
                        }
                        *value = before + 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 4 * ROUNDS);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("while it is held");
        }));
        assert!(caught.is_err());
        assert_eq!(*lock.lock(), 4 * ROUNDS);
    }
}
