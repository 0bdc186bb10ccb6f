//! Numbers for what is in a set, and what was found out about what has a number.
//!
//! A number stands for one content of one set as long as the device lives: each comes from one counter and none comes twice. A set
//! reserves a block of them at a time, so that threads that write to different sets rarely meet at the counter.
//!
//! A writer changes the content first and moves the version then; a reader reads the version first. So what was found out under a
//! number rests on all that was written before the set got that number, and what comes later gets another one.

#[cfg(all(loom, test))]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(all(loom, test)))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers that a set reserves at a time.
const BLOCK: u64 = if cfg!(all(loom, test)) { 2 } else { 256 };

/// Where the numbers of a device come from.
#[derive(Debug)]
pub struct Versions(AtomicU64);

impl Default for Versions {
    fn default() -> Self {
        Self::from_block(1)
    }
}

impl Versions {
    /// Numbers from a block on. Those of block 0 belong to the caller.
    pub fn from_block(block: u64) -> Self {
        Self(AtomicU64::new(block.wrapping_mul(BLOCK)))
    }

    /// The first number of a block that nobody else has.
    fn draw(&self) -> u64 {
        self.0.fetch_add(BLOCK, Ordering::Relaxed)
    }

    /// The number that follows one which the caller has: of its block, or of a new one.
    #[inline(always)]
    fn after(&self, version: u64) -> u64 {
        let next = version.wrapping_add(1);
        if next.is_multiple_of(BLOCK) { self.draw_cold() } else { next }
    }

    #[cold]
    #[inline(never)]
    fn draw_cold(&self) -> u64 {
        self.draw()
    }
}

/// The version of one set.
#[derive(Debug)]
pub struct Version(AtomicU64);

impl Version {
    /// That of a new set.
    pub fn new(versions: &Versions) -> Self {
        Self(AtomicU64::new(versions.draw()))
    }

    /// To be read before the content.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// [`Version::move_on`] by one number, where that is of the same block and no other thread moves it. Whether it was moved.
    #[inline(always)]
    pub fn step(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        let next = now.wrapping_add(1);
        !next.is_multiple_of(BLOCK) && self.0.compare_exchange(now, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The content has changed, or what it means. Other threads may be at it: two writers where UPDATE_AFTER_BIND allows that, and beside
    /// any writer whoever finds that samplers need something else. Who moves it later sees what was written before.
    #[inline(always)]
    pub fn move_on(&self, versions: &Versions) {
        let mut now = self.0.load(Ordering::Relaxed);
        // Each attempt has a number of its own: one that another thread has taken is of no use.
        while let Err(other) =
            self.0.compare_exchange_weak(now, versions.after(now), Ordering::AcqRel, Ordering::Relaxed)
        {
            now = other;
        }
    }
}

/// What was found out about a content, as one word.
#[derive(Debug, Default)]
pub struct Summary {
    /// The version that it is of; 0 at first.
    of: AtomicU64,
    word: AtomicU64,
}

impl Summary {
    /// The word for a version, if it is known.
    #[inline(always)]
    pub fn get(&self, version: u64) -> Option<u64> {
        // Whoever stores another word has seen a later version first, so a word that is not of this one is of what the set has become.
        (self.of.load(Ordering::Acquire) == version).then(|| self.word.load(Ordering::Relaxed))
    }

    /// Keeps what was found out, unless the content has changed. One thread at a time calls this.
    pub fn keep(&self, current: &Version, version: u64, word: u64) {
        if current.get() == version {
            self.word.store(word, Ordering::Release);
            self.of.store(version, Ordering::Release);
        }
    }
}

/// Run by loom through every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p samplin-hot --lib model`.
#[cfg(all(loom, test))]
mod model {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    /// Two slots, what both hold together, and a turn for whoever keeps that.
    struct Set {
        versions: Versions,
        version: Version,
        slots: [AtomicU64; 2],
        summary: Summary,
        turn: Mutex<()>,
    }

    impl Set {
        fn new() -> Arc<Self> {
            let versions = Versions::default();
            let version = Version::new(&versions);
            let slots = [AtomicU64::new(0), AtomicU64::new(0)];
            Arc::new(Self { versions, version, slots, summary: Summary::default(), turn: Mutex::new(()) })
        }

        fn write(&self, slot: usize) {
            self.slots[slot].store(1 << slot, Ordering::Relaxed);
            if slot != 0 || !self.version.step() {
                self.version.move_on(&self.versions);
            }
        }

        /// What a bind reads.
        fn read(&self) -> u64 {
            let version = self.version.get();
            if let Some(word) = self.summary.get(version) {
                return word;
            }
            let _turn = self.turn.lock().unwrap();
            let word = self.slots.iter().fold(0, |all, slot| all | slot.load(Ordering::Relaxed));
            self.summary.keep(&self.version, version, word);
            word
        }
    }

    fn check(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    /// Two threads write to one set, as UPDATE_AFTER_BIND allows, while a third one binds it. A later bind sees both.
    #[test]
    fn a_summary_is_never_older_than_its_version() {
        check(|| {
            let set = Set::new();
            let writers = [0, 1].map(|slot| {
                let set = Arc::clone(&set);
                thread::spawn(move || set.write(slot))
            });
            set.read();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            assert_eq!(set.read(), 3);
        });
    }

    /// Two threads bind a set while a third one writes to it.
    #[test]
    fn a_summary_is_of_the_version_that_it_is_kept_for() {
        check(|| {
            let set = Set::new();
            let readers = [(); 2].map(|()| {
                let set = Arc::clone(&set);
                thread::spawn(move || set.read())
            });
            set.write(0);
            assert_eq!(set.read(), 1);
            readers.into_iter().for_each(|reader| _ = reader.join().unwrap());
            assert_eq!(set.read(), 1);
        });
    }

    /// A thread writes to a set while another one finds that what samplers need has changed, has the set looked at again and binds it. A
    /// later bind sees both.
    #[test]
    fn a_set_is_looked_at_again_while_it_is_written_to() {
        check(|| {
            let set = Set::new();
            let writer = {
                let set = Arc::clone(&set);
                thread::spawn(move || set.write(0))
            };
            // What a sampler needs is as good as a slot.
            set.write(1);
            set.read();
            writer.join().unwrap();
            assert_eq!(set.read(), 3);
        });
    }

    /// What is read once the version is seen is what was written before it.
    #[test]
    fn no_two_threads_get_the_same_number() {
        check(|| {
            let set = Set::new();
            let other = Version::new(&set.versions);
            let moved = {
                let set = Arc::clone(&set);
                thread::spawn(move || [(); 2].map(|()| (set.write(0), set.version.get()).1))
            };
            let mut own = Vec::new();
            for _ in 0..3 {
                other.move_on(&set.versions);
                own.push(other.get());
            }
            own.extend(moved.join().unwrap());
            own.sort_unstable();
            own.dedup();
            assert_eq!(own.len(), 5);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Updates after which a set once looked like the next one.
    const ONCE: u64 = 1 << 24;

    #[test]
    fn a_set_never_looks_like_another_however_often_it_is_written() {
        let versions = Versions::default();
        let [written, next] = [(); 2].map(|()| Version::new(&versions));
        next.move_on(&versions);
        for _ in 0..if cfg!(miri) { 1 << 10 } else { ONCE + 16 } {
            assert_ne!(written.get(), next.get());
            written.move_on(&versions);
        }
    }

    #[test]
    fn no_number_comes_twice_beside_any_boundary() {
        const STEPS: usize = if cfg!(miri) { 300 } else { 5000 };
        for bits in [0, 8, 16, 24, 32, 40, 48, 55] {
            let first = (1_u64 << bits).saturating_sub(2).max(1);
            let versions = Versions::from_block(first);
            let mut random = fastrand_like(first);
            let mut sets: Vec<Version> = (0..8).map(|_| Version::new(&versions)).collect();
            let mut seen: HashSet<u64> = sets.iter().map(Version::get).collect();
            for _ in 0..STEPS {
                let which = random() as usize % sets.len();
                match random() % 16 {
                    // A set is freed, and another one has its handle.
                    0 => sets[which] = Version::new(&versions),
                    _ => sets[which].move_on(&versions),
                }
                assert!(seen.insert(sets[which].get()), "{:#x} comes twice after block {first:#x}", sets[which].get());
            }
            assert!(seen.iter().all(|version| *version >= BLOCK), "block 0 is the caller's");
        }
    }

    /// Numbers that look random.
    fn fastrand_like(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = crate::hash::fold(state.wrapping_add(1));
            state >> 20
        }
    }

    #[test]
    fn what_was_found_out_goes_with_its_version() {
        let versions = Versions::default();
        let (version, summary) = (Version::new(&versions), Summary::default());
        let first = version.get();
        assert_eq!(summary.get(first), None);
        summary.keep(&version, first, 7);
        assert_eq!(summary.get(first), Some(7));
        version.move_on(&versions);
        assert_eq!(summary.get(version.get()), None);
        // Somebody who was slow: it is of a content that is gone.
        summary.keep(&version, first, 7);
        assert_eq!(summary.get(version.get()), None);
    }
}
