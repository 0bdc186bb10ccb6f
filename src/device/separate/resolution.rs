//! What is to be bound for a pipeline and what is in its sets, found once for each.
//!
//! The answer depends on the pipeline and on what is in the sets, and on nothing else: not on the order of binds, not on what was
//! bound before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use samplin_hot::memory::{self, Room};

use super::Separate;
use super::bits::Bits;
use super::commands::Point;
use super::ladder::{Decided, Want};
use super::programs::{HIDDEN, Program};
use super::recipe::Variant;
use super::sets::{Brief, Other};
use crate::device::Device;
use crate::table::{FastMap, fold, lock};

/// What is to be bound for a pipeline and what is in its sets.
pub(super) struct Resolution {
    /// Set numbers, and the shadow to bind there.
    pub(super) shadows: Vec<(usize, u64)>,
    /// Set numbers, and samplers to push there.
    pub(super) pushes: Vec<(u32, Other)>,
    /// The pipeline to bind instead, and its hidden set; 0 if nothing is known to be read from that.
    pub(super) variant: Option<(Arc<Variant>, u64)>,
    /// It holds as long as what it was made of: nothing was missing that may be there the next time.
    is_lasting: bool,
    /// What it was made of.
    key: Key,
}

impl Resolution {
    /// Whether what the application has bound is what is to be bound.
    fn is_nothing(&self) -> bool {
        self.shadows.is_empty() && self.pushes.is_empty() && self.variant.is_none()
    }
}

/// Sets of links that a key has room for; pipelines with links in more have none.
const LINKED: usize = 8;

/// A pipeline and what is in each of the sets that its links are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Of what is behind it.
    hash: u64,
    words: [u64; LINKED + 1],
}

impl Key {
    /// The key of what a bind point holds; none if descriptors were pushed, which are other ones each time.
    #[inline(always)]
    pub(super) fn of(program: &Program, point: &Point) -> Option<Self> {
        let mut key = Self::default();
        let (first, rest) = key.words.split_first_mut()?;
        let mix = |hash: u64, word: u64| fold(hash.rotate_left(29) ^ word).wrapping_add(hash);
        *first = program.number << 1 | u64::from(point.is_pushed_beside(&program.layout));
        let linked = program.linked.filter(|linked| linked.count_ones() as usize <= LINKED)?;
        let mut hash = mix(!0, *first);
        for (place, number) in rest.iter_mut().zip(Bits(linked)) {
            hash = hash.rotate_left(1);
            let Some(bound) = point.sets.get(number) else { continue };
            let is_read = bound.layout.as_ref().is_some_and(|own| {
                std::ptr::eq(&**own, &*program.layout) || own.is_compatible(&program.layout, number)
            });
            if is_read {
                *place = bound.brief.stamp;
                if bound.brief.stamp == Brief::PUSHED {
                    return None;
                }
                hash = mix(hash, bound.brief.stamp);
            }
        }
        key.hash = hash;
        Some(key)
    }

    /// A word that differs for keys that differ; never 0.
    #[inline(always)]
    fn hash(&self, seed: u64) -> u64 {
        fold(self.hash ^ seed.rotate_left(32)) | 1
    }
}

/// Most resolutions that are remembered in each shard.
const RESOLUTIONS: usize = 256;
const SHARDS: usize = 16;

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
    /// Hashes of keys that ask for nothing. One that another takes the place of is found out again.
    nothings: OnceLock<Box<[AtomicU64]>>,
}

/// Away from the others, which other threads lock.
#[derive(Default)]
#[repr(align(128))]
struct Shard(Mutex<FastMap<Key, Arc<Resolution>>>);

impl Resolutions {
    /// Forgets all but what needs no repair: a sampler is going, or a pipeline was split.
    pub(super) fn clear(&self) {
        if self.count.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
        self.changes.fetch_add(1, Ordering::AcqRel);
        for shard in &self.shards {
            let gone = std::mem::take(&mut *lock(&shard.0));
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
        let hash = key.hash(self.time());
        nothings.get(hash as usize >> 1 & (NOTHINGS - 1)).is_some_and(|device| device.load(Ordering::Relaxed) == hash)
    }

    fn keep_nothing(&self, key: &Key) {
        let hash = key.hash(self.time());
        let nothings = self.nothings.get_or_init(|| {
            let mut words = memory::vec(NOTHINGS);
            words.resize_with(NOTHINGS, AtomicU64::default);
            words.into_boxed_slice()
        });
        if let Some(place) = nothings.get(hash as usize >> 1 & (NOTHINGS - 1)) {
            place.store(hash, Ordering::Relaxed);
        }
    }

    fn shard(&self, key: &Key) -> Option<&Shard> {
        self.shards.get((key.hash >> 32) as usize % SHARDS)
    }

    fn get(&self, key: &Key) -> Option<Arc<Resolution>> {
        lock(&self.shard(key)?.0).get(key).cloned()
    }

    fn insert(&self, resolution: &Arc<Resolution>) {
        let Some(shard) = self.shard(&resolution.key) else { return };
        let mut table = lock(&shard.0);
        if table.len() >= RESOLUTIONS {
            table.clear();
        }
        table.with_room().insert(resolution.key, Arc::clone(resolution));
        self.count.fetch_add(1, Ordering::AcqRel);
    }
}

/// Resolutions that were found at a bind point.
const FOUND: usize = 16;

/// The resolutions that were found at a bind point last, so that threads that record need not meet.
#[derive(Default)]
pub(super) struct Found {
    places: Option<Box<[Option<Arc<Resolution>>; FOUND]>>,
    /// They are of this time, see [`Resolutions::clear`].
    changes: u64,
}

impl Found {
    fn place(&mut self, key: &Key) -> Option<&mut Option<Arc<Resolution>>> {
        self.places.as_mut()?.get_mut((key.hash >> 40) as usize % FOUND)
    }

    /// Takes one out.
    fn take(&mut self, resolutions: &Resolutions, key: &Key) -> Option<Arc<Resolution>> {
        let changes = resolutions.changes.load(Ordering::Acquire);
        if self.changes != changes {
            self.changes = changes;
            self.places = None;
        }
        self.place(key)?.take_if(|found| found.key == *key)
    }

    /// Keeps one.
    pub(super) fn keep(&mut self, resolution: Arc<Resolution>) {
        if !resolution.is_lasting || resolution.key == Key::default() {
            return;
        }
        if self.places.is_none() {
            self.places = Some(Box::default());
        }
        if let Some(place) = self.place(&{ resolution.key }) {
            *place = Some(resolution);
        }
    }
}

/// Whether all sets are bound that the pipeline's links are in.
fn is_complete(program: &Program, point: &Point) -> bool {
    let is_bound = |number: u32| {
        let own = point.sets.get(number as usize).and_then(|bound| bound.layout.as_ref());
        own.is_some_and(|own| own.is_compatible(&program.layout, number as usize))
    };
    program.links.iter().all(|link| is_bound(link.image.set) && is_bound(link.sampler.set))
}

impl Point {
    /// Whether nothing in these sets needs what something in them lacks.
    #[inline(always)]
    pub(super) fn is_legal(&self, linked: u32) -> bool {
        let summary = Bits(linked).fold(0, |all, number| all | self.sets.get(number).map_or(0, |b| b.brief.summary));
        (summary & (summary >> 32)) as u32 == 0
    }
}

impl Device {
    /// Whether nothing that the pipeline reads through the bound sets can need another sampler.
    #[inline(always)]
    pub(super) fn is_legal(&self, program: &Program, point: &Point) -> bool {
        if !self.hot.gate.must_look() {
            return true;
        }
        let Some(linked) = program.linked else { return false };
        point.is_legal(linked)
    }

    /// What is to be bound for the pipeline and the sets of a bind point.
    fn resolve_point(&self, separate: &Separate, program: &Program, point: &mut Point) -> Arc<Resolution> {
        let key = Key::of(program, point);
        if let Some(key) = &key {
            let resolutions = &separate.resolutions;
            if let Some(kept) = point.found.take(resolutions, key).or_else(|| resolutions.get(key)) {
                return kept;
            }
        }
        point.meet(separate);
        let mut resolution = self.make_resolution(separate, program, point);
        let Some(key) = key.filter(|_| resolution.is_lasting) else { return Arc::new(resolution) };
        resolution.key = key;
        if resolution.is_nothing() {
            separate.resolutions.keep_nothing(&key);
        }
        let resolution = Arc::new(resolution);
        separate.resolutions.insert(&resolution);
        resolution
    }

    fn make_resolution(&self, separate: &Separate, program: &Program, point: &Point) -> Resolution {
        let mut wants = self.wants(program, point);
        if program.blind == Some(HIDDEN)
            && wants.all.iter().all(|want| want.wanted == want.given)
            && !self.is_legal(program, point)
        {
            self.program_unresolved(HIDDEN, program);
        }
        let Decided { shadows, pushes, variant } = self.decide_links(separate, program, point, &mut wants);
        let Some(variant) = variant else {
            return Resolution { shadows, pushes, variant: None, is_lasting: true, key: Key::default() };
        };
        let hidden = self.hidden_for(separate, &variant, &wants.all);
        if hidden == Some(0) && is_complete(program, point) {
            // Nothing is in the slots that the split links read, so the application's pipeline reads no more than they would.
            return Resolution { shadows, pushes, variant: None, is_lasting: true, key: Key::default() };
        }
        if hidden.is_none() {
            // Without its set the split pipeline would read nothing; the application's reads what it has.
            variant.parts.iter().for_each(|(link, _)| self.link_unresolved("memory", program, *link));
        }
        let (is_lasting, variant) = (hidden.is_some(), hidden.map(|hidden| (variant, hidden)));
        Resolution { shadows, pushes, is_lasting, variant, key: Key::default() }
    }

    /// The hidden set of a split pipeline, by what its links ask for; 0 if no sampler that they could read is bound, none if there is
    /// no such set to be had.
    fn hidden_for(&self, separate: &Separate, variant: &Variant, wants: &[Want]) -> Option<u64> {
        let mut samplers = Vec::new();
        for (link, count) in &variant.parts {
            let start = samplers.len();
            (0..*count).for_each(|_| samplers.with_room().push(0_u64));
            for want in wants.iter().filter(|want| want.link == *link) {
                // A descriptor that nobody may use can hold a sampler that is gone.
                let lives = want.wanted != want.given || self.hot.gate.sampler(want.given) != 0;
                if let Some(target) = samplers.get_mut(start + want.hidden_at as usize).filter(|_| lives) {
                    *target = want.wanted;
                }
            }
        }
        // Where nothing may be read, any sampler does.
        let Some(any) = samplers.iter().copied().find(|sampler| *sampler != 0) else { return Some(0) };
        samplers.iter_mut().filter(|sampler| **sampler == 0).for_each(|sampler| *sampler = any);
        self.hidden_set(separate, &variant.hidden, &samplers)
    }

    /// What is to be bound at a bind point; none if it is what the application has bound there, and nothing else is. To be given back to
    /// [`Found::keep`].
    pub(super) fn look_at(&self, separate: &Separate, program: &Program, point: &mut Point) -> Option<Arc<Resolution>> {
        let time = separate.resolutions.time();
        if point.time != time {
            point.time = time;
            point.look_again(separate, &self.hot.gate);
        }
        point.refresh(separate, &self.hot.gate);
        let is_plain = !point.differs && program.splits.mask() == 0 && !separate.force.any();
        if is_plain && (program.is_plain() || (!self.records_all() && self.is_legal(program, point))) {
            return None;
        }
        Some(self.resolve_point(separate, program, point))
    }
}
