//! Counts of descriptors seen and rewritten, without a shared write on the hot path.
//!
//! Each of the first 64 threads that ever count on a device gets a cache line of its own and adds with a plain load and
//! store; threads beyond that share one line and add atomically. Sums are exact once the threads have stopped counting. A
//! line keeps its owner when the thread ends: a new thread in the same place goes on with it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
}

impl Path {
    /// Every path.
    pub const ALL: [Self; 6] =
        [Self::Update, Self::Template, Self::Push, Self::PushTemplate, Self::GetDescriptor, Self::ImageViewHandle];

    /// Name in the trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Template => "template",
            Self::Push => "push",
            Self::PushTemplate => "push_template",
            Self::GetDescriptor => "get_descriptor",
            Self::ImageViewHandle => "image_view_handle",
        }
    }
}

/// Threads with a cache line of their own.
const OWNED: usize = 64;

#[repr(align(128))]
#[derive(Default)]
struct Line {
    /// [`thread_word`] of the thread that may add without atomics; 0 while nobody does.
    owner: AtomicUsize,
    seen: [AtomicU64; Path::ALL.len()],
    rewritten: [AtomicU64; Path::ALL.len()],
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

impl Line {
    /// Adds for the only thread that writes this line.
    #[inline(always)]
    fn add(&self, path: Path, seen: u64, rewritten: u64) {
        for (counter, amount) in [(&self.seen, seen), (&self.rewritten, rewritten)] {
            if let Some(counter) = counter.get(path as usize) {
                counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
            }
        }
    }

    fn add_shared(&self, path: Path, seen: u64, rewritten: u64) {
        for (counter, amount) in [(&self.seen, seen), (&self.rewritten, rewritten)] {
            if let Some(counter) = counter.get(path as usize) {
                counter.fetch_add(amount, Ordering::Relaxed);
            }
        }
    }
}

/// The counters of one device.
pub struct Counters {
    lines: Box<[Line]>,
}

impl Counters {
    /// All zero.
    pub fn new() -> Self {
        Self { lines: (0..=OWNED).map(|_| Line::default()).collect() }
    }

    /// Counts `seen` combined image samplers of which `rewritten` got another sampler.
    #[inline(always)]
    pub fn add(&self, path: Path, seen: u64, rewritten: u64) {
        let thread = thread_word();
        // Control blocks lie at least a page apart, mostly.
        let first = (thread >> 12) % OWNED;
        let Some(line) = self.lines.get(first) else { return };
        if line.owner.load(Ordering::Relaxed) == thread {
            line.add(path, seen, rewritten);
        } else {
            self.add_elsewhere(thread, first, path, seen, rewritten);
        }
    }

    /// Finds the thread's line among those after `first`, or takes one; else shares the last.
    #[cold]
    fn add_elsewhere(&self, thread: usize, first: usize, path: Path, seen: u64, rewritten: u64) {
        let owned = self.lines.get(..OWNED).unwrap_or(&[]);
        for step in 0..OWNED {
            let Some(line) = owned.get((first + step) % OWNED) else { continue };
            let owner = line.owner.load(Ordering::Relaxed);
            let mine = owner == thread
                || (owner == 0 && line.owner.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok());
            if mine {
                return line.add(path, seen, rewritten);
            }
        }
        if let Some(line) = self.lines.get(OWNED) {
            line.add_shared(path, seen, rewritten);
        }
    }

    /// Sums of (seen, rewritten) of a path.
    pub fn sum(&self, path: Path) -> (u64, u64) {
        let sum = |pick: fn(&Line) -> &[AtomicU64; Path::ALL.len()]| {
            let of = |line: &Line| pick(line).get(path as usize).map_or(0, |c| c.load(Ordering::Relaxed));
            self.lines.iter().map(of).fold(0_u64, u64::wrapping_add)
        };
        (sum(|line| &line.seen), sum(|line| &line.rewritten))
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_lines_lose_nothing() {
        let counters = Counters::new();
        let each = if cfg!(miri) { 5 } else { 1000 };
        std::thread::scope(|scope| {
            for _ in 0..2 * OWNED {
                scope.spawn(|| {
                    for _ in 0..each {
                        counters.add(Path::Push, 3, 1);
                    }
                });
            }
        });
        let calls = 2 * OWNED as u64 * each;
        assert_eq!(counters.sum(Path::Push), (3 * calls, calls));
        assert_eq!(counters.sum(Path::Update), (0, 0));
    }
}
