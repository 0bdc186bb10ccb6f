//! What was found out for pipelines and what is in their sets, so that it is found out once.
//!
//! # What keeps the layer's own objects
//!
//! The layer has no fences, so it goes by what the application does. Objects of its own die
//!
//! - with the application's object that they stand in for, whose destruction proves that nothing pending reads either: second pipelines
//!   with their pipeline (VUID-vkDestroyPipeline-pipeline-00765), shadows with their set (vkUpdateDescriptorSets,
//!   VUID-vkFreeDescriptorSets-pDescriptorSets-00309), variants with the last sampler that they stand in for
//!   (VUID-vkDestroySampler-sampler-01082);
//! - where there may be any number of them for one such object, when no command buffer [holds](Held) them: hidden sets, and second
//!   pipelines that have their tasks in their code. A command buffer lets go when it is begun again, freed, or its pool destroyed, none
//!   of which an application may do while it is pending (VUID-vkBeginCommandBuffer-commandBuffer-00049,
//!   VUID-vkFreeCommandBuffers-pCommandBuffers-00047, VUID-vkDestroyCommandPool-commandPool-00041).
//!
//! That a sampler goes proves nothing for a set that names it: with PARTIALLY_BOUND the shader need not read that descriptor. Such a set is
//! never bound again, as the handle may come back, but it stays as long as it is held, and its binding is PARTIALLY_BOUND as well.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use samplin_bind::Other;
use samplin_hot::memory::{self, Room};

use super::hidden::HiddenSet;
use super::recipe::Second;
use crate::table::{FastMap, FastSet, fold, lock};

/// What is to be bound for a pipeline and what is in its sets; by default what the application has bound.
#[derive(Default)]
pub(super) struct Resolution {
    /// Set numbers, and the shadow to bind there.
    pub(super) shadows: Vec<(usize, u64)>,
    /// Set numbers, and samplers to push there.
    pub(super) pushes: Vec<(u32, Other)>,
    /// The pipeline to bind instead, and its hidden set; 0 if nothing is known to be read from that.
    pub(super) second: Option<(Arc<Second>, u64)>,
    /// That set.
    pub(super) hidden: Option<Arc<HiddenSet>>,
    /// Samplers that had gone when it was known to hold, see [`Resolutions::gone`].
    pub(super) since: AtomicU64,
    /// The application's samplers that it was made of.
    pub(super) names: Names,
    /// It holds as long as what it was made of: nothing was missing that may be there the next time.
    pub(super) is_lasting: bool,
    /// What it was made of.
    pub(super) key: Key,
}

impl Resolution {
    /// Whether what the application has bound is what is to be bound.
    pub(super) fn is_nothing(&self) -> bool {
        self.shadows.is_empty() && self.pushes.is_empty() && self.second.is_none()
    }

    /// Which objects of the layer's own a command buffer has to hold that it was put in force in; 0 for none.
    fn held(&self) -> (usize, u64) {
        let second = self.second.as_ref().map_or(0, |(second, _)| Arc::as_ptr(second).addr());
        (second, self.hidden.as_ref().map_or(0, |hidden| hidden.set))
    }
}

/// By so many hashes samplers are told apart that resolutions were made of.
const HASHES: usize = 1 << 10;
/// A resolution of samplers with more hashes goes with any sampler.
const NAMES: usize = 64;

fn hash_of(sampler: u64) -> u16 {
    (fold(sampler) >> 32) as u16 % HASHES as u16
}

/// Samplers that something was made of, by their hashes.
#[derive(Default)]
pub(super) struct Names {
    hashes: Vec<u16>,
    is_any: bool,
}

impl Names {
    pub(super) fn of(samplers: impl Iterator<Item = u64>) -> Self {
        let mut names = Self::default();
        for hash in samplers.map(hash_of) {
            if names.have(hash) {
                continue;
            }
            if names.hashes.len() == NAMES {
                return Self::any();
            }
            names.hashes.with_room().push(hash);
        }
        names
    }

    /// Any sampler there is.
    pub(super) fn any() -> Self {
        Self { hashes: Vec::new(), is_any: true }
    }

    fn have(&self, hash: u16) -> bool {
        self.is_any || self.hashes.contains(&hash)
    }
}

/// A bit for each hash.
#[derive(Default)]
struct Hashes([AtomicU64; HASHES / 64]);

impl Hashes {
    /// The word that a hash is in, and its bit.
    fn bit(&self, hash: u16) -> Option<(&AtomicU64, u64)> {
        Some((self.0.get(usize::from(hash) / 64)?, 1 << (hash % 64)))
    }

    fn add(&self, names: &Names) {
        if names.is_any {
            self.0.iter().for_each(|word| word.store(u64::MAX, Ordering::SeqCst));
        }
        let bits = names.hashes.iter().filter_map(|hash| self.bit(*hash));
        bits.for_each(|(word, bit)| _ = word.fetch_or(bit, Ordering::SeqCst));
    }

    fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::SeqCst));
    }
}

/// Sets of links that a key has room for; pipelines with links in more have none.
pub(super) const LINKED: usize = 8;

/// A pipeline and what is in each of the sets that its links are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Of what is behind it.
    pub(super) hash: u64,
    pub(super) words: [u64; LINKED + 1],
}

impl Key {
    /// [`PartialEq`], without a call.
    #[inline(always)]
    fn is(&self, other: &Self) -> bool {
        self.hash == other.hash && self.words.iter().zip(&other.words).fold(0, |all, (one, two)| all | (one ^ two)) == 0
    }

    /// A word that differs for keys that differ; never 0.
    #[inline(always)]
    fn word(&self, seed: u64) -> u64 {
        fold(self.hash ^ seed.rotate_left(32)) | 1
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Most resolutions that are remembered in each shard.
const RESOLUTIONS: usize = 256;
const SHARDS: usize = 16;
/// Most that are remembered.
pub(super) const RESOLUTIONS_IN_ALL: usize = RESOLUTIONS * SHARDS;

/// Keys that are remembered as asking for nothing.
const NOTHINGS: usize = 1 << 13;

/// Resolutions by their keys.
#[derive(Default)]
pub(super) struct Resolutions {
    shards: [Shard; SHARDS],
    /// How many there are, so that forgetting none costs nothing.
    count: AtomicU64,
    /// Moves when all are forgotten.
    changes: AtomicU64,
    /// Moves when what is in sets means something else than before.
    time: AtomicU64,
    /// Moves when a sampler goes.
    gone: AtomicU64,
    /// What that was when the last sampler of each hash went. Written in order and before that, under the lock.
    last: Last,
    going: Mutex<()>,
    /// Hashes of keys that ask for nothing. One that another takes the place of is found out again.
    nothings: OnceLock<Box<[AtomicU64]>>,
}

/// A number for each hash. In place, so that a sampler which goes takes no memory.
struct Last([AtomicU64; HASHES]);

impl Default for Last {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; HASHES])
    }
}

impl Last {
    fn get(&self, hash: u16) -> Option<&AtomicU64> {
        self.0.get(usize::from(hash))
    }
}

/// Away from the others, which other threads lock.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    by_key: Mutex<FastMap<Key, Arc<Resolution>>>,
    /// Of the samplers that these may have been made of. Added to under the lock.
    named: Hashes,
}

impl Resolutions {
    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(&shard.by_key).len()).sum()
    }

    /// How many samplers have gone. What was found out before that may name them.
    pub(super) fn gone(&self) -> u64 {
        self.gone.load(Ordering::SeqCst)
    }

    /// A sampler is going: nothing that names it is found any more, whoever is at work on that now.
    pub(super) fn forget_sampler(&self, sampler: u64) {
        let hash = hash_of(sampler);
        {
            let _going = lock(&self.going);
            let gone = self.gone.load(Ordering::Relaxed) + 1;
            if let Some(last) = self.last.get(hash) {
                last.store(gone, Ordering::Release);
            }
            self.gone.store(gone, Ordering::SeqCst);
        }
        for shard in &self.shards {
            let Some((word, bit)) = shard.named.bit(hash) else { continue };
            // Whoever keeps one and is not seen here sees that the sampler has gone.
            if word.load(Ordering::SeqCst) & bit != 0 {
                let mut by_key = lock(&shard.by_key);
                // Those that were made since are of another sampler with this hash.
                let mut is_named = false;
                by_key.retain(|_, resolution| {
                    let holds = self.holds(resolution);
                    is_named |= holds && resolution.names.have(hash);
                    holds
                });
                if !is_named {
                    word.fetch_and(!bit, Ordering::SeqCst);
                }
            }
        }
    }

    /// Whether no sampler has gone that a resolution was made of.
    #[inline(always)]
    fn holds(&self, resolution: &Resolution) -> bool {
        let gone = self.gone();
        resolution.since.load(Ordering::Relaxed) == gone || self.holds_still(resolution, gone)
    }

    #[inline(never)]
    fn holds_still(&self, Resolution { since, names, .. }: &Resolution, gone: u64) -> bool {
        let known = since.load(Ordering::Relaxed);
        let went = |hash: &u16| self.last.get(*hash).is_none_or(|last| last.load(Ordering::Acquire) > known);
        let holds = !names.is_any && !names.hashes.iter().any(went);
        if holds {
            since.store(gone, Ordering::Relaxed);
        }
        holds
    }

    /// Forgets all but what needs no repair: what may be of a pipeline that was split, or is to be evicted.
    pub(super) fn clear(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        if self.count.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
        for shard in &self.shards {
            let gone = {
                let mut by_key = lock(&shard.by_key);
                shard.named.clear();
                std::mem::take(&mut *by_key)
            };
            drop(gone);
        }
    }

    /// Forgets those whose hidden set is not found any more: their sets are gone, so nobody asks for them again.
    pub(super) fn forget_retired(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        let is_retired = |resolution: &Resolution| resolution.hidden.as_ref().is_some_and(|hidden| hidden.is_retired());
        for shard in &self.shards {
            let mut gone = Vec::new();
            for (_, own) in lock(&shard.by_key).extract_if(|_, resolution| is_retired(resolution)) {
                gone.with_room().push(own);
            }
            // Not under the lock: with the last share goes what it holds.
            drop(gone);
        }
    }

    /// Forgets everything: what samplers need has changed.
    pub(super) fn look_again(&self) {
        self.time.fetch_add(1, Ordering::AcqRel);
        self.clear();
    }

    /// Moves when what bound sets were found to need and to lack does not hold any more.
    #[inline(always)]
    pub(super) fn time(&self) -> u64 {
        self.time.load(Ordering::Acquire)
    }

    /// Whether nothing is to be repaired, as was found out before.
    #[inline(always)]
    pub(super) fn is_nothing(&self, key: &Key) -> bool {
        let Some(nothings) = self.nothings.get() else { return false };
        let hash = key.word(self.time());
        nothings.get(hash as usize >> 1 & (NOTHINGS - 1)).is_some_and(|kept| kept.load(Ordering::Relaxed) == hash)
    }

    /// Nothing is to be repaired.
    pub(super) fn keep_nothing(&self, key: &Key) {
        let hash = key.word(self.time());
        let nothings = self.nothings.get_or_init(|| {
            let mut words = memory::vec(NOTHINGS);
            words.resize_with(NOTHINGS, AtomicU64::default);
            words.into_boxed_slice()
        });
        if let Some(kept) = nothings.get(hash as usize >> 1 & (NOTHINGS - 1)) {
            kept.store(hash, Ordering::Relaxed);
        }
    }

    fn shard(&self, key: &Key) -> Option<&Shard> {
        self.shards.get((key.hash >> 32) as usize % SHARDS)
    }

    /// The one of a key.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Resolution>> {
        let found = lock(&self.shard(key)?.by_key).get(key).cloned();
        found.filter(|found| self.holds(found))
    }

    /// Keeps one by its key.
    pub(super) fn insert(&self, resolution: &Arc<Resolution>) {
        let Some(shard) = self.shard(&resolution.key) else { return };
        let mut by_key = lock(&shard.by_key);
        // First, so that a sampler that goes finds it here or is seen.
        shard.named.add(&resolution.names);
        if !self.holds(resolution) {
            return;
        }
        if by_key.len() >= RESOLUTIONS {
            by_key.clear();
            shard.named.clear();
            shard.named.add(&resolution.names);
        }
        by_key.with_room().insert(resolution.key, Arc::clone(resolution));
        self.count.fetch_add(1, Ordering::AcqRel);
    }
}

/// Resolutions that were found at a bind point: pairs of places.
const FOUND: usize = 128;

/// Places that a key may be in.
type Places = [Option<Arc<Resolution>>; 2];

/// What a command buffer holds of the layer's own since it was begun, beside what is in its [`Found`].
#[derive(Default)]
struct Held {
    all: Vec<Arc<Resolution>>,
    /// How many there are when those that hold the same are looked for.
    limit: usize,
}

impl Held {
    /// Holds what a resolution has put in force. Takes memory now and then; without any, what it holds is never destroyed.
    #[cold]
    #[inline(never)]
    fn hold(&mut self, resolution: Arc<Resolution>) {
        if resolution.second.is_none() {
            return;
        }
        if self.all.len() >= self.limit {
            let mut seen = FastSet::default();
            if seen.try_reserve(self.all.len()).is_ok() {
                self.all.retain(|held| seen.insert(held.held()));
            }
            self.limit = 2 * self.all.len() + 16;
        }
        match self.all.try_room() {
            Ok(()) => self.all.push(resolution),
            Err(_) => std::mem::forget(resolution),
        }
    }
}

/// The resolutions that were found at a bind point last, so that threads that record need not meet. What was put in force since the
/// command buffer was begun is here or held.
#[derive(Default)]
pub(super) struct LastFound {
    places: Option<Box<[Places; FOUND]>>,
    /// They are of this time, see [`Resolutions::clear`].
    changes: u64,
    /// None of them was made of a sampler that had gone then, see [`Resolutions::gone`].
    gone: u64,
    held: Held,
}

impl LastFound {
    #[inline(always)]
    fn places(&mut self, key: &Key) -> Option<&mut Places> {
        self.places.as_mut()?.get_mut((key.hash >> 40) as usize % FOUND)
    }

    /// Takes one out.
    #[inline(always)]
    pub(super) fn take(&mut self, resolutions: &Resolutions, key: &Key) -> Option<Arc<Resolution>> {
        if self.changes != resolutions.changes.load(Ordering::Acquire) {
            return None;
        }
        self.places(key)?
            .iter_mut()
            .find_map(|place| place.take_if(|found| found.key.is(key) && resolutions.holds(found)))
    }

    /// Keeps one that was taken out.
    #[inline(always)]
    pub(super) fn put_back(&mut self, resolution: Arc<Resolution>) {
        let [first, second] = match self.places(&{ resolution.key }) {
            Some(places) => places,
            None => return self.held.hold(resolution),
        };
        if first.is_some() {
            std::mem::swap(first, second);
        }
        if let Some(last) = first.replace(resolution) {
            self.held.hold(last);
        }
    }

    /// Keeps one that is about to be put in force.
    pub(super) fn keep(&mut self, resolutions: &Resolutions, resolution: Arc<Resolution>) {
        let changes = resolutions.changes.load(Ordering::Acquire);
        if self.changes != changes {
            self.changes = changes;
            let old = self.places.take().into_iter().flat_map(|places| *places);
            old.flatten().flatten().for_each(|old| self.held.hold(old));
        }
        let is_lasting = resolution.is_lasting && resolution.key != Key::default();
        if !is_lasting || !resolutions.holds(&resolution) {
            return self.held.hold(resolution);
        }
        if self.places.is_none() {
            self.places = Some(Box::new([const { [None, None] }; FOUND]));
        }
        self.put_back(resolution);
    }

    /// The command buffer is begun, so it is not pending: nothing has to be held any more.
    pub(super) fn begin(&mut self, resolutions: &Resolutions) {
        self.held = Held::default();
        let gone = std::mem::replace(&mut self.gone, resolutions.gone());
        if self.changes != resolutions.changes.load(Ordering::Acquire) {
            self.places = None;
        } else if gone != self.gone
            && let Some(places) = &mut self.places
        {
            let all = places.iter_mut().flatten();
            all.for_each(|place| _ = place.take_if(|found| !resolutions.holds(found)));
        }
    }
}

#[cfg(test)]
mod tests;
