//! Counts of descriptors seen and rewritten, without contention on the hot path.
//!
//! A device has 128 stripes, and the address of a thread's control block says which of them is its own for as long as it
//! lives. The first thread at a stripe owns it and adds with a plain load and store. The owner is never asked whether it is
//! still there: all others at that stripe, while it lives and after, add atomically to counters on a line beside it, which few
//! threads share. So no thread has to be told of another's end, and one that gets the control block of one that has ended goes
//! on with its counters. Sums are exact once the threads have stopped counting.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::memory;
use crate::table::Apart;

/// How a descriptor reached the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// `vkUpdateDescriptorSets`.
    Update,
    /// `vkUpdateDescriptorSetWithTemplate`.
    Template,
    /// `vkCmdPushDescriptorSet` and `…2`.
    Push,
    /// `vkCmdPushDescriptorSetWithTemplate` and `…2`.
    PushTemplate,
    /// `vkGetDescriptorEXT`.
    GetDescriptor,
    /// `vkGetImageViewHandleNVX` and `…64NVX`.
    ImageViewHandle,
    /// `vkCmdBindPipeline` and `vkCmdBindDescriptorSets`: what a shader joins.
    Draw,
}

impl Path {
    /// Every path.
    pub const ALL: [Self; 7] = [
        Self::Update,
        Self::Template,
        Self::Push,
        Self::PushTemplate,
        Self::GetDescriptor,
        Self::ImageViewHandle,
        Self::Draw,
    ];

    /// Name in the trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Template => "template",
            Self::Push => "push",
            Self::PushTemplate => "push_template",
            Self::GetDescriptor => "get_descriptor",
            Self::ImageViewHandle => "image_view_handle",
            Self::Draw => "draw",
        }
    }
}

/// Stripes of a device: a power of two, more than the threads that mostly update descriptors at once, so that few meet at one.
const STRIPES: usize = 128;

#[derive(Default)]
struct Counts {
    seen: [AtomicU64; Path::ALL.len()],
    rewritten: [AtomicU64; Path::ALL.len()],
}

/// A cache line that one thread writes.
#[repr(align(128))]
#[derive(Default)]
struct Owned {
    /// [`thread_word`] of the thread that may add without atomics; 0 while nobody does.
    owner: AtomicUsize,
    counts: Counts,
}

#[derive(Default)]
struct Stripe {
    owned: Owned,
    /// Of all other threads that come here.
    shared: Apart<Counts>,
}

/// A word that differs between threads that run at the same time, and is never 0.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
#[inline(always)]
fn thread_word() -> usize {
    let word: usize;
    // SAFETY: on x86-64 Linux the first word of the thread control block, at fs:0, holds its own address (System V ABI,
    // thread-local storage variant II); reading it has no effect. A look-up of a thread-local variable of a shared object
    // would cost a call.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) word, options(nostack, preserves_flags, readonly, pure)) };
    word
}

/// A word that differs between threads that run at the same time, and is never 0.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
fn thread_word() -> usize {
    thread_local! {
        // A `const` initialiser and a type without a destructor: nothing is registered to run at thread exit.
        static HERE: std::cell::Cell<u8> = const { std::cell::Cell::new(0) };
    }
    HERE.try_with(|here| std::ptr::from_ref(here) as usize).unwrap_or(1)
}

/// Where a thread counts. Control blocks lie apart by the size of a stack, which is often a power of two: multiplied by an odd
/// number, evenly strided addresses spread over the stripes (the tests show for which strides).
#[inline(always)]
fn stripe_of(thread: usize) -> usize {
    ((thread as u32).wrapping_mul(0x2c1b_3c6d) >> (u32::BITS - STRIPES.ilog2())) as usize
}

impl Counts {
    /// Adds for the only thread that writes these.
    #[inline(always)]
    fn add(&self, path: Path, seen: u64, rewritten: u64) {
        let add = |counter: &AtomicU64, amount| {
            counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        };
        add(&self.seen[path as usize], seen);
        if rewritten != 0 {
            add(&self.rewritten[path as usize], rewritten);
        }
    }

    #[inline(always)]
    fn add_shared(&self, path: Path, seen: u64, rewritten: u64) {
        self.seen[path as usize].fetch_add(seen, Ordering::Relaxed);
        if rewritten != 0 {
            self.rewritten[path as usize].fetch_add(rewritten, Ordering::Relaxed);
        }
    }
}

impl Stripe {
    /// Makes the stripe the thread's, if it is nobody's, and adds.
    #[cold]
    #[inline(never)]
    fn add_or_own(&self, thread: usize, path: Path, seen: u64, rewritten: u64) {
        if self.owned.owner.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.owned.counts.add(path, seen, rewritten);
        } else {
            self.shared.0.add_shared(path, seen, rewritten);
        }
    }
}

/// The counters of one device.
pub struct Counters {
    stripes: Box<[Stripe; STRIPES]>,
}

impl Counters {
    /// All zero.
    pub fn new() -> Self {
        // Not by way of an array on the stack, which is the application's and may be small.
        let stripes = memory::collect((0..STRIPES).map(|_| Stripe::default())).into_boxed_slice();
        // SAFETY: a slice of `STRIPES` elements has the layout of an array of as many.
        Self { stripes: unsafe { Box::from_raw(Box::into_raw(stripes).cast::<[Stripe; STRIPES]>()) } }
    }

    /// Counts `seen` combined image samplers, unless nobody owns the stripe of this thread yet; returns whether it has.
    #[inline(always)]
    pub fn add_here(&self, path: Path, seen: u64) -> bool {
        self.add_here_as(thread_word(), path, seen)
    }

    #[inline(always)]
    fn add_here_as(&self, thread: usize, path: Path, seen: u64) -> bool {
        let stripe = &self.stripes[stripe_of(thread)];
        let owner = stripe.owned.owner.load(Ordering::Relaxed);
        if owner == thread {
            stripe.owned.counts.add(path, seen, 0);
            return true;
        }
        if owner != 0 {
            stripe.shared.0.add_shared(path, seen, 0);
        }
        owner != 0
    }

    /// Counts `seen` combined image samplers of which `rewritten` got another sampler.
    #[inline(always)]
    pub fn add(&self, path: Path, seen: u64, rewritten: u64) {
        self.add_as(thread_word(), path, seen, rewritten);
    }

    #[inline(always)]
    fn add_as(&self, thread: usize, path: Path, seen: u64, rewritten: u64) {
        let stripe = &self.stripes[stripe_of(thread)];
        if stripe.owned.owner.load(Ordering::Relaxed) == thread {
            stripe.owned.counts.add(path, seen, rewritten);
        } else {
            stripe.add_or_own(thread, path, seen, rewritten);
        }
    }

    /// Sums of (seen, rewritten) of a path.
    pub fn sum(&self, path: Path) -> (u64, u64) {
        let sum = |pick: fn(&Counts) -> &[AtomicU64; Path::ALL.len()]| {
            let of = |counts: &Counts| pick(counts).get(path as usize).map_or(0, |c| c.load(Ordering::Relaxed));
            let all = self.stripes.iter().flat_map(|stripe| [&stripe.owned.counts, &stripe.shared.0]);
            all.map(of).fold(0_u64, u64::wrapping_add)
        };
        (sum(|counts| &counts.seen), sum(|counts| &counts.rewritten))
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const CALLS: u64 = if cfg!(miri) { 5 } else { 1000 };

    /// What a hook does: it looks again, and counts out of line, only where it could not count at once. Returns how often that
    /// was.
    fn count(counters: &Counters) -> u64 {
        let mut again = 0;
        for _ in 0..CALLS {
            if !counters.add_here(Path::Push, 3) {
                counters.add(Path::Push, 3, 0);
                again += 1;
            }
        }
        again
    }

    #[test]
    fn a_hundred_threads_at_once_count_where_they_look_first() {
        let counters = Counters::new();
        let all = Barrier::new(100);
        let body = || {
            all.wait();
            let again = count(&counters);
            counters.add(Path::Update, 2, 1);
            // Nobody's control block is given to another thread before all have counted.
            all.wait();
            again
        };
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..100).map(|_| scope.spawn(body)).collect();
            let again: Vec<_> = running.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(again.iter().all(|calls| *calls <= 1), "calls of each thread that took the long way: {again:?}");
        });
        assert_eq!(counters.sum(Path::Push), (100 * CALLS * 3, 0));
        assert_eq!(counters.sum(Path::Update), (200, 100));
    }

    #[test]
    fn threads_one_after_another_count_where_they_look_first_although_every_stripe_is_taken() {
        let counters = Counters::new();
        let (started, end) = (Barrier::new(2 * STRIPES + 1), Barrier::new(2 * STRIPES + 1));
        std::thread::scope(|scope| {
            for _ in 0..2 * STRIPES {
                scope.spawn(|| {
                    counters.add(Path::Template, 1, 1);
                    started.wait();
                    end.wait();
                });
            }
            started.wait();
            let one = |_| std::thread::scope(|scope| scope.spawn(|| count(&counters)).join().unwrap());
            let again: Vec<_> = (0..200).map(one).collect();
            end.wait();
            assert!(again.iter().all(|calls| *calls <= 1), "calls of each thread that took the long way: {again:?}");
        });
        assert_eq!(counters.sum(Path::Push), (200 * CALLS * 3, 0));
        assert_eq!(counters.sum(Path::Template), (2 * STRIPES as u64, 2 * STRIPES as u64));
    }

    #[test]
    fn threads_that_never_have_the_control_block_of_another_lose_nothing() {
        // Ever new addresses, each of a thread that has ended before the next one starts.
        let counters = Counters::new();
        for thread in (1..=2000_usize).map(|n| n.wrapping_mul(0x0080_1000)) {
            counters.add_as(thread, Path::Update, 2, 1);
            assert!(counters.add_here_as(thread, Path::Update, 1));
        }
        assert_eq!(counters.sum(Path::Update), (6000, 2000));
    }

    #[test]
    fn stacks_of_any_usual_size_spread_over_the_stripes() {
        const GUARD: usize = 0x1000;
        for stride in [0x1_0000, 0x4_0000, 0x10_0000, 0x20_0000, 0x20_0000 + GUARD, 0x80_0000, 0x80_0000 + GUARD] {
            let mut at = [0; STRIPES];
            (0..STRIPES).for_each(|n| at[stripe_of(0xf7d8_a6c0_usize.wrapping_sub(n * stride))] += 1);
            let most = at.into_iter().max().unwrap();
            assert!(most <= 3, "{most} of {STRIPES} threads with stacks {stride:#x} apart meet at one stripe");
        }
    }
}
