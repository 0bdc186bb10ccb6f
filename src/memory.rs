//! The layer's memory: the host's, and a reserve for when the host has none left.
//!
//! Rust ends the process when an allocation fails. In somebody else's process that is not the layer's to decide, so a request that
//! the host refuses is served from a block set aside in the library (zero pages until then). When half of it is in use the devices
//! are passed through, after which their hooks need no more. What is too large for it asks first, see [`samplin_hot::memory`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::table::lock;

/// Size of the reserve in bytes.
pub const RESERVE: usize = 512 << 10;
/// What pieces are a multiple of, and the largest alignment that is served.
const GRAIN: usize = 128;
const GRAINS: usize = RESERVE / GRAIN;

#[repr(C, align(128))]
struct Block(UnsafeCell<[MaybeUninit<u8>; RESERVE]>);

// SAFETY: every byte belongs to at most one piece, see `take`.
unsafe impl Sync for Block {}

static BLOCK: Block = Block(UnsafeCell::new([MaybeUninit::uninit(); RESERVE]));
/// A bit for each grain, set while it is in use.
static MAP: Mutex<[u64; GRAINS / 64]> = Mutex::new([0; GRAINS / 64]);
/// Grains in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Pieces ever served.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The allocator of the loadable library.
#[derive(Clone, Copy, Debug)]
pub struct WithReserve;

/// How many allocations the host has refused and the reserve has served.
pub fn taken() -> u64 {
    TAKEN.load(Ordering::Relaxed)
}

/// Whether so much of the reserve is in use that devices have to be passed through.
#[inline]
pub fn is_low() -> bool {
    USED.load(Ordering::Relaxed) > GRAINS / 2
}

fn start() -> *mut u8 {
    BLOCK.0.get().cast()
}

fn is_reserve(at: *mut u8) -> bool {
    (at as usize).wrapping_sub(start() as usize) < RESERVE
}

/// A free piece of the reserve, or null if there is none.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    let wanted = layout.size().div_ceil(GRAIN);
    if layout.align() > GRAIN || wanted > GRAINS || refused() {
        return std::ptr::null_mut();
    }
    let mut map = lock(&MAP);
    let mut free = 0;
    for grain in 0..GRAINS {
        free = if map[grain / 64] >> (grain % 64) & 1 == 0 { free + 1 } else { 0 };
        if free == wanted {
            let first = grain + 1 - wanted;
            (first..=grain).for_each(|at| map[at / 64] |= 1 << (at % 64));
            USED.fetch_add(wanted, Ordering::Relaxed);
            TAKEN.fetch_add(1, Ordering::Relaxed);
            return start().wrapping_add(first * GRAIN);
        }
    }
    std::ptr::null_mut()
}

/// Gives a piece back.
#[cold]
fn give_back(at: *mut u8, size: usize) {
    let (first, count) = ((at as usize - start() as usize) / GRAIN, size.div_ceil(GRAIN));
    let mut map = lock(&MAP);
    (first..first + count).for_each(|at| map[at / 64] &= !(1 << (at % 64)));
    USED.fetch_sub(count, Ordering::Relaxed);
}

// SAFETY: memory is the system's or a piece of the reserve of the layout's size and alignment, which nobody else has until it is
// given back; nothing here unwinds.
unsafe impl GlobalAlloc for WithReserve {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !fails(layout.size()) {
            // SAFETY: `layout` has a size that is not 0, which is what callers of `GlobalAlloc::alloc` promise, and what `System`
            // asks.
            let at = unsafe { System.alloc(layout) };
            if !at.is_null() {
                return at;
            }
        }
        take(layout)
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !fails(layout.size()) {
            // SAFETY: `layout` has a size that is not 0, which is what callers of `GlobalAlloc::alloc_zeroed` promise, and what
            // `System` asks.
            let at = unsafe { System.alloc_zeroed(layout) };
            if !at.is_null() {
                return at;
            }
        }
        let at = take(layout);
        if !at.is_null() {
            // SAFETY: the piece has the layout's size. It may have been used before.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    #[inline(never)]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if is_reserve(at) {
            give_back(at, layout.size());
        } else {
            // SAFETY: what is not in the reserve came from the system, with the layout that the caller of an allocator has to give again.
            unsafe { System.dealloc(at, layout) }
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let kept = is_reserve(at);
        if !kept && !fails(size) {
            // SAFETY: what is not in the reserve came from the system, with the layout that the caller of an allocator has to give again.
            let moved = unsafe { System.realloc(at, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that `size`, rounded up to the alignment, fits.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: `size` is not 0, which callers of `GlobalAlloc::realloc` promise, so the layout may be asked for.
        let moved = if kept { unsafe { self.alloc(wanted) } } else { take(wanted) };
        if !moved.is_null() {
            // SAFETY: both are at least that long and are different allocations; the old one is not used after this.
            unsafe {
                moved.copy_from_nonoverlapping(at, layout.size().min(size));
                self.dealloc(at, layout);
            }
        }
        moved
    }
}

#[cfg(debug_assertions)]
pub use faults::inside;
#[cfg(debug_assertions)]
use faults::{fails, refused};

/// Runs a part of the layer whose allocations can be made to fail in a debug build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn inside<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(not(debug_assertions))]
#[inline(always)]
fn fails(_: usize) -> bool {
    false
}

#[cfg(not(debug_assertions))]
fn refused() -> bool {
    false
}

/// Allocations that fail on demand, for tests: a debug build's only.
#[cfg(debug_assertions)]
pub mod faults {
    use std::cell::Cell;

    /// Which allocations of this thread fail while it is inside of the layer.
    #[derive(Clone, Copy, Debug)]
    pub struct Plan {
        /// Size in bytes from which on allocations count.
        pub smallest: usize,
        /// The first of these that fails, from 0.
        pub first: u64,
        /// How many fail.
        pub count: u64,
        /// Whether the reserve serves those that fail.
        pub reserve: bool,
    }

    const NONE: Plan = Plan { smallest: 0, first: u64::MAX, count: 0, reserve: true };

    thread_local! {
        static PLAN: Cell<Plan> = const { Cell::new(NONE) };
        static SEEN: Cell<u64> = const { Cell::new(0) };
        static DEPTH: Cell<u32> = const { Cell::new(0) };
        static FAILED: Cell<bool> = const { Cell::new(false) };
    }

    /// Starts a plan; without one nothing fails.
    pub fn set(plan: Option<Plan>) {
        PLAN.set(plan.unwrap_or(NONE));
        SEEN.set(0);
    }

    /// Allocations of this thread that counted since the last [`set`].
    pub fn seen() -> u64 {
        SEEN.get()
    }

    /// Runs a part of the layer whose allocations count.
    pub fn inside<R>(body: impl FnOnce() -> R) -> R {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                DEPTH.set(DEPTH.get() - 1);
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        let _leave = Leave;
        body()
    }

    /// As long as it lives this thread is outside of the layer: in a driver that the layer calls, say.
    pub struct Outside(u32);

    impl Outside {
        /// Leaves the layer.
        #[expect(clippy::new_without_default, reason = "a guard")]
        pub fn new() -> Self {
            Self(DEPTH.replace(0))
        }
    }

    impl Drop for Outside {
        fn drop(&mut self) {
            DEPTH.set(self.0);
        }
    }

    pub(super) fn fails(size: usize) -> bool {
        let (seen, plan) = (SEEN.get(), PLAN.get());
        let counts = DEPTH.get() > 0 && size >= plan.smallest;
        let failed = counts && seen >= plan.first && seen - plan.first < plan.count;
        SEEN.set(seen + u64::from(counts));
        FAILED.set(failed);
        failed
    }

    /// Whether the reserve refuses what just failed.
    pub(super) fn refused() -> bool {
        FAILED.get() && !PLAN.get().reserve
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::{GRAIN, RESERVE, give_back, is_low, is_reserve, start, take, taken};

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour")]
    fn pieces_are_apart_aligned_and_used_again() {
        let sizes = [1, GRAIN, GRAIN + 1, 8320, 3];
        for _ in 0..2 {
            let before = taken();
            let mut pieces = Vec::new();
            for (number, size) in sizes.iter().cycle().enumerate() {
                let layout = Layout::from_size_align(*size, [1, 8, 128][number % 3]).unwrap();
                let at = take(layout);
                if at.is_null() {
                    break;
                }
                assert!(is_reserve(at) && (at as usize).is_multiple_of(layout.align()));
                // SAFETY: the piece has that many bytes.
                unsafe { at.write_bytes(number as u8, *size) };
                pieces.push((at, *size, number as u8));
            }
            assert!(is_low() && pieces.len() > 100 && taken() - before == pieces.len() as u64);
            for (at, size, byte) in pieces {
                // SAFETY: written above, and nobody else has it.
                let bytes = unsafe { std::slice::from_raw_parts(at, size) };
                assert!(bytes.iter().all(|found| *found == byte), "pieces that share bytes");
                give_back(at, size);
            }
            assert!(!is_low());
        }
        // Everything is one piece again, and more than everything is none.
        let all = Layout::from_size_align(RESERVE, GRAIN).unwrap();
        let at = take(all);
        assert_eq!(at, start());
        assert!(take(Layout::new::<u8>()).is_null());
        give_back(at, RESERVE);
        assert!(take(Layout::from_size_align(RESERVE + 1, 1).unwrap()).is_null());
        assert!(take(Layout::from_size_align(1, 2 * GRAIN).unwrap()).is_null());
    }
}
