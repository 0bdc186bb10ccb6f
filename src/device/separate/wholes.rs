//! What is noted of descriptors that some programs cannot read as they are, whatever their layouts have slots for: which there are, and which
//! programs read such ones. They show a view with depth and stencil, or they are combined and compare where the format cannot.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use ash::vk::{self, Handle};
use samplin_bind::Brief;
use samplin_hot::memory::{self, Room};
use samplin_hot::{Version, Versions};

use super::layouts::LARGEST;
use super::sets::SetEntry;
use super::shown::{ASPECTS, NotedDescriptor, NotedDescriptors, Written};
use crate::table::{FastMap, lock};

/// Whether sets have to note such descriptors, and binds to be followed for them.
#[derive(Default)]
pub(super) struct Wholes {
    /// There was an image that may have such a view: sets that may show it are followed.
    pub(super) may_come: AtomicBool,
    /// What there was, [`ASPECT`] or [`COMPARISON`].
    there: AtomicU8,
    /// What programs read.
    read: AtomicU8,
    /// What sets show that nobody follows, with a number that changes with each write.
    unfollowed: Mutex<FastMap<u64, (u64, NotedDescriptors)>>,
    has_unfollowed: AtomicBool,
}

/// A view with both aspects; a program that reads integers.
pub(super) const ASPECT: u8 = 1;
/// A combined descriptor that compares where its format cannot; a program that compares through combined descriptors.
pub(super) const COMPARISON: u8 = 2;

/// Rules may come to be others, so that all combined descriptors are noted; see `combined`.
pub(super) const RULES: u8 = 4;

impl Wholes {
    /// Whether all combined descriptors are noted.
    pub(super) fn follow_rules(&self) -> bool {
        self.there.load(Ordering::Acquire) & RULES != 0
    }

    /// Whether there was anything that sets have to note.
    #[inline(always)]
    pub(super) fn are_there(&self) -> bool {
        self.there.load(Ordering::Acquire) != 0
    }

    /// Whether there was a combined descriptor that compares where its format cannot.
    pub(super) fn compare(&self) -> bool {
        self.there.load(Ordering::Acquire) & COMPARISON != 0
    }

    /// Such things are there. Whether a program reads them.
    pub(super) fn come(&self, what: u8) -> bool {
        self.there.fetch_or(what, Ordering::SeqCst);
        self.read.load(Ordering::SeqCst) & what != 0
    }

    /// A program reads such things. Whether there are any.
    pub(super) fn are_read(&self, what: u8) -> bool {
        self.read.fetch_or(what, Ordering::SeqCst);
        self.there.load(Ordering::SeqCst) & what != 0
    }

    /// Whether there was an image that may have one.
    pub(super) fn may_come(&self) -> bool {
        self.may_come.load(Ordering::Acquire)
    }

    /// Works on what a set shows that is not followed, if anything like it does.
    fn unfollowed<R>(&self, set: u64, with: impl FnOnce(&NotedDescriptors) -> R) -> Option<R> {
        if !self.has_unfollowed() {
            return None;
        }
        lock(&self.unfollowed).get(&set).map(|(_, shown)| with(shown))
    }

    /// Whether any set that is not followed ever showed anything of that.
    pub(super) fn has_unfollowed(&self) -> bool {
        self.has_unfollowed.load(Ordering::Acquire)
    }

    /// Whether a set that is not followed shows anything of that.
    pub(super) fn is_unfollowed(&self, set: vk::DescriptorSet) -> bool {
        self.unfollowed(set.as_raw(), |_| ()).is_some()
    }

    /// What a bind remembers of a set that is not followed.
    pub(super) fn brief(&self, set: u64) -> Brief {
        if !self.has_unfollowed() {
            return Brief::EMPTY;
        }
        let of = |(stamp, _): &(u64, NotedDescriptors)| Brief { stamp: *stamp, summary: ASPECTS, is_loose: false };
        lock(&self.unfollowed).get(&set).map_or(Brief::EMPTY, of)
    }

    /// Elements and descriptors of a binding of a set that is not followed.
    pub(super) fn unfollowed_of(&self, set: u64, binding: u32) -> Vec<(u32, NotedDescriptor)> {
        self.unfollowed(set, |shown| shown.of(binding)).unwrap_or_default()
    }

    /// Forgets a set that is about to be freed.
    pub(super) fn forget(&self, set: u64) {
        if self.has_unfollowed() {
            lock(&self.unfollowed).remove(&set);
        }
    }

    /// The descriptors that `count` ones of a set are, from one on. The layout of a set that is not followed is not known, so that all
    /// are taken to be of one binding. No more are walked than a binding that is followed may hold.
    pub(super) fn walk(
        entry: Option<&SetEntry>,
        target: (u32, u32),
        count: u32,
    ) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let count = count.min(LARGEST);
        let known =
            entry.map(|entry| entry.shape.walk(target, count).map(|(binding, element)| (binding.binding, element)));
        let guessed =
            (0..if entry.is_none() { count } else { 0 }).map(move |index| (target.0, target.1.wrapping_add(index)));
        known.into_iter().flatten().chain(guessed)
    }

    /// Takes over what is written into a set. Whether the set shows anything of that then. `versions`: where those of sets come from.
    pub(super) fn take(
        &self,
        set: vk::DescriptorSet,
        entry: Option<&SetEntry>,
        written: impl Iterator<Item = Written>,
        versions: &Versions,
    ) -> bool {
        if let Some(entry) = entry {
            return entry.take_wholes(written);
        }
        let mut written = written.skip_while(|(_, whole)| whole.is_none() && !self.has_unfollowed()).peekable();
        if written.peek().is_none() {
            return false;
        }
        self.has_unfollowed.store(true, Ordering::Release);
        let mut all = lock(&self.unfollowed);
        let (stamp, shown) = all.with_room().entry(set.as_raw()).or_default();
        *stamp = Version::new(versions).get();
        shown.take(written);
        let is_empty = shown.is_empty();
        if is_empty {
            all.remove(&set.as_raw());
        }
        !is_empty
    }

    /// What `count` descriptors of a set show, from one on.
    pub(super) fn shown(
        &self,
        set: vk::DescriptorSet,
        entry: Option<&SetEntry>,
        from: (u32, u32),
        count: u32,
    ) -> Vec<Option<NotedDescriptor>> {
        let places = Self::walk(entry, from, count);
        match entry {
            Some(entry) => memory::collect(places.map(|at| entry.whole(at))),
            None => self
                .unfollowed(set.as_raw(), |shown| memory::collect(places.map(|at| shown.get(at))))
                .unwrap_or_default(),
        }
    }
}
