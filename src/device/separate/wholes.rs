//! What is noted of views with depth and stencil: which descriptors show them, and which programs read integers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use samplin_bind::Brief;
use samplin_hot::memory::{self, Room};

use super::layouts::LARGEST;
use super::sets::SetEntry;
use super::shown::{ASPECTS, Shown, Whole, Written};
use crate::table::{FastMap, lock};

/// Whether sets have to note descriptors of views with both aspects, and binds to be followed for them.
#[derive(Default)]
pub(super) struct Wholes {
    /// There was an image that may have such a view: sets that may show it are followed.
    pub(super) may_come: AtomicBool,
    /// There was such a view.
    pub(super) are_there: AtomicBool,
    /// A program reads integers.
    pub(super) are_read: AtomicBool,
    /// What sets show that nobody follows, because they are older than the first such image: what comes of it can only be named.
    unfollowed: Mutex<FastMap<u64, Shown>>,
    has_unfollowed: AtomicBool,
}

impl Wholes {
    /// What is known of a set that is not followed and shows such a view. No other set has this stamp.
    const UNFOLLOWED: Brief = Brief { stamp: 2, summary: ASPECTS, is_loose: false };

    /// Whether there was a view with both aspects.
    #[inline(always)]
    pub(super) fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Acquire)
    }

    /// Whether there was an image that may have one.
    pub(super) fn may_come(&self) -> bool {
        self.may_come.load(Ordering::Acquire)
    }

    /// Works on what a set shows that is not followed, if anything like it does.
    fn unfollowed<R>(&self, set: u64, with: impl FnOnce(&Shown) -> R) -> Option<R> {
        if !self.has_unfollowed.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.unfollowed).get(&set).map(with)
    }

    /// Whether a set that is not followed shows such a view.
    pub(super) fn is_unfollowed(&self, set: vk::DescriptorSet) -> bool {
        self.unfollowed(set.as_raw(), |_| ()).is_some()
    }

    /// What a bind remembers of a set that is not followed.
    pub(super) fn brief(&self, set: u64) -> Brief {
        self.unfollowed(set, |_| Self::UNFOLLOWED).unwrap_or(Brief::EMPTY)
    }

    /// Elements and views of a binding of a set that is not followed.
    pub(super) fn unfollowed_of(&self, set: u64, binding: u32) -> Vec<(u32, u64)> {
        self.unfollowed(set, |shown| shown.of(binding)).unwrap_or_default()
    }

    /// Forgets a set that is about to be freed.
    pub(super) fn forget(&self, set: u64) {
        if self.has_unfollowed.load(Ordering::Acquire) {
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

    /// Takes over what is written into a set. Whether the set shows such a view then.
    pub(super) fn take(
        &self,
        (set, entry): (vk::DescriptorSet, Option<&SetEntry>),
        written: impl Iterator<Item = Written>,
    ) -> bool {
        if let Some(entry) = entry {
            return entry.take_wholes(written);
        }
        let mut written =
            written.skip_while(|(_, whole)| whole.is_none() && !self.has_unfollowed.load(Ordering::Acquire)).peekable();
        if written.peek().is_none() {
            return false;
        }
        self.has_unfollowed.store(true, Ordering::Release);
        let mut all = lock(&self.unfollowed);
        let shown = all.with_room().entry(set.as_raw()).or_default();
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
        (set, entry): (vk::DescriptorSet, Option<&SetEntry>),
        from: (u32, u32),
        count: u32,
    ) -> Vec<Option<Whole>> {
        let places = Self::walk(entry, from, count);
        match entry {
            Some(entry) => memory::collect(places.map(|at| entry.whole(at))),
            None => self
                .unfollowed(set.as_raw(), |shown| memory::collect(places.map(|at| shown.get(at))))
                .unwrap_or_default(),
        }
    }
}
