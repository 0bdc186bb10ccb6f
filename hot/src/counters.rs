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
        let add = |counter: &AtomicU64, amount| {
            counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        };
        add(&self.seen[path as usize], seen);
        if rewritten != 0 {
            add(&self.rewritten[path as usize], rewritten);
        }
    }

    fn add_shared(&self, path: Path, seen: u64, rewritten: u64) {
        self.seen[path as usize].fetch_add(seen, Ordering::Relaxed);
        self.rewritten[path as usize].fetch_add(rewritten, Ordering::Relaxed);
    }
}

/// The counters of one device.
pub struct Counters {
    lines: Box<[Line; OWNED + 1]>,
}

impl Counters {
    /// All zero.
    pub fn new() -> Self {
        Self { lines: Box::new(std::array::from_fn(|_| Line::default())) }
    }

    /// Counts `seen` combined image samplers if the thread has its line where it looks first; returns whether it has.
    #[inline(always)]
    pub fn add_here(&self, path: Path, seen: u64) -> bool {
        let thread = thread_word();
        let line = &self.lines[(thread >> 12) % OWNED];
        let here = line.owner.load(Ordering::Relaxed) == thread;
        if here {
            line.add(path, seen, 0);
        }
        here
    }

    /// Counts `seen` combined image samplers of which `rewritten` got another sampler.
    #[inline(always)]
    pub fn add(&self, path: Path, seen: u64, rewritten: u64) {
        let thread = thread_word();
        // Control blocks lie at least a page apart, mostly.
        let first = (thread >> 12) % OWNED;
        let line = &self.lines[first];
        if line.owner.load(Ordering::Relaxed) == thread {
            line.add(path, seen, rewritten);
        } else {
            self.add_elsewhere(thread, first, path, seen, rewritten);
        }
    }

    /// Finds the thread's line among those after `first`, or takes one; else shares the last.
    #[cold]
    #[inline(never)]
    fn add_elsewhere(&self, thread: usize, first: usize, path: Path, seen: u64, rewritten: u64) {
        for step in 0..OWNED {
            let line = &self.lines[(first + step) % OWNED];
            let owner = line.owner.load(Ordering::Relaxed);
            let mine = owner == thread
                || (owner == 0 && line.owner.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok());
            if mine {
                return line.add(path, seen, rewritten);
            }
        }
        self.lines[OWNED].add_shared(path, seen, rewritten);
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
