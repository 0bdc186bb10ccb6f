//! Counts of descriptors seen and rewritten, without a shared write on the hot path.
//!
//! Each of the first 64 threads that ever count gets a cache line of its own and adds with a plain load and store;
//! threads beyond that share one line and add atomically. Sums are exact once the threads have stopped counting.

use std::cell::Cell;
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
    seen: [AtomicU64; Path::ALL.len()],
    rewritten: [AtomicU64; Path::ALL.len()],
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // A `const` initialiser and a type without a destructor: nothing is registered to run at thread exit.
    static INDEX: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[cold]
fn assign(cell: &Cell<usize>) -> usize {
    let index = NEXT.fetch_add(1, Ordering::Relaxed).min(OWNED);
    cell.set(index);
    index
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
    #[inline]
    pub fn add(&self, path: Path, seen: u64, rewritten: u64) {
        let index = INDEX.try_with(|cell| if cell.get() == usize::MAX { assign(cell) } else { cell.get() });
        let index = index.unwrap_or(OWNED);
        let Some(line) = self.lines.get(index) else { return };
        for (counter, amount) in [(&line.seen, seen), (&line.rewritten, rewritten)] {
            let Some(counter) = counter.get(path as usize) else { continue };
            if amount == 0 {
            } else if index == OWNED {
                counter.fetch_add(amount, Ordering::Relaxed);
            } else {
                counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
            }
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
        std::thread::scope(|scope| {
            for _ in 0..2 * OWNED {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        counters.add(Path::Push, 3, 1);
                    }
                });
            }
        });
        let calls = 2 * OWNED as u64 * 1000;
        assert_eq!(counters.sum(Path::Push), (3 * calls, calls));
        assert_eq!(counters.sum(Path::Update), (0, 0));
    }
}
