//! Samplers of the driver that samplers of the application share which ask for the same (`samplers=share`).
//!
//! Handles need not be unique without `privateData`; destroying one must not "cause identical handles of the same type to become invalid
//! if that handle value has been created more times than it has been destroyed" (Fundamentals, "Object Model"). So a sampler of the driver
//! lives until it was destroyed as often as it was handed out. Only this knows how often that was, whatever else fails: nothing here
//! panics, and giving one back takes no memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::lock::{Guard, Lock};
use samplin_hot::memory::Room;
use samplin_hot::recent::{Words, mixed};
use samplin_hot::table::fold;
use samplin_wire::kinds;

use super::driver::Driver;
use super::ground::Ground;
use crate::budget;
use crate::sampler_info::{self, Chained};
use crate::settings::{self, Mode};
use crate::variant::Census;

/// What of an allocator is compared: what is allocated with one is given back to an equal one, since the application has to destroy each of
/// its samplers with one that is compatible with that of its creation (VUID-vkDestroySampler-sampler-01083). Zeroes for none.
type Allocator = [usize; 6];

/// What makes creations one: [`sampler_info::key_of`] what they ask for, and who allocates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    hash: u64,
    words: Words,
    chained: Chained,
    allocator: Allocator,
}

impl Key {
    fn new(words: Words, chained: Chained, allocator: Allocator) -> Self {
        let mut hash = mixed(&words);
        if chained != Chained::default() {
            let [reduction, red, blue, format, mapping, name] = chained;
            hash ^= mixed(&[reduction, red, blue, format, mapping, name, 0, 1]).rotate_left(2);
        }
        if allocator != Allocator::default() {
            let [data, allocate, reallocate, free, begin, end] = allocator.map(|word| word as u64);
            hash ^= mixed(&[data, allocate, reallocate, free, begin, end, 0, 0]).rotate_left(1);
        }
        Self { hash, words, chained, allocator }
    }

    /// Whether something is chained.
    pub fn is_chained(&self) -> bool {
        self.chained != Chained::default()
    }
}

/// What an entry is found by.
#[derive(Clone, Copy)]
enum By {
    Key,
    Handle,
}

/// Place of no entry.
const NOWHERE: u32 = u32::MAX;

/// A sampler of the driver that may be handed out more than once.
struct Entry {
    key: Key,
    handle: u64,
    /// How often it was handed out and not destroyed yet.
    uses: u32,
    /// How often the driver was asked for it and not to destroy it: drivers have one object for equal states as well.
    made: u32,
    /// What it was made with is not what was asked for.
    is_changed: bool,
    /// The places of the next one of its chains, by [`By`]. The first is that of the next free place where nothing is.
    next: [u32; 2],
}

impl Entry {
    fn hash(&self, by: By) -> u64 {
        match by {
            By::Key => self.key.hash,
            By::Handle => fold(self.handle),
        }
    }
}

/// Entries that are found by their key and by their handle. Two maps would look six times where this looks four times, and move what
/// they keep.
struct Table {
    entries: Vec<Entry>,
    /// The first free place.
    free: u32,
    /// How many places are taken.
    taken: usize,
    /// Where chains begin, by the low bits of a hash: as many as a power of two, and not fewer than entries.
    heads: Vec<[u32; 2]>,
    /// Samplers of the application now and at most, since they are shared.
    live: u32,
    peak: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self { entries: Vec::new(), free: NOWHERE, taken: 0, heads: Vec::new(), live: 0, peak: 0 }
    }
}

impl Table {
    fn head(&mut self, hash: u64, by: By) -> Option<&mut u32> {
        let last = self.heads.len().wrapping_sub(1);
        self.heads.get_mut(hash as usize & last).map(|heads| &mut heads[by as usize])
    }

    fn find(&mut self, by: By, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<&mut Entry> {
        let mut place = *self.head(hash, by)?;
        loop {
            let entry = self.entries.get(place as usize)?;
            if is_it(entry) {
                return self.entries.get_mut(place as usize);
            }
            place = entry.next[by as usize];
        }
    }

    fn of_key(&mut self, key: &Key) -> Option<&mut Entry> {
        self.find(By::Key, key.hash, |entry| entry.key == *key)
    }

    fn of_handle(&mut self, handle: u64) -> Option<&mut Entry> {
        self.find(By::Handle, fold(handle), |entry| entry.handle == handle)
    }

    /// Enters one that is handed out once. Does nothing without memory.
    fn insert(&mut self, key: &Key, handle: u64, is_changed: bool) {
        if self.taken == self.heads.len() && !self.grow() {
            return;
        }
        if self.free == NOWHERE && self.entries.try_room().is_err() {
            return;
        }
        let place = if self.free == NOWHERE { self.entries.len() as u32 } else { self.free };
        let entry = Entry { key: *key, handle, uses: 1, made: 1, is_changed, next: [NOWHERE; 2] };
        match self.entries.get_mut(place as usize) {
            Some(free) => {
                self.free = free.next[By::Key as usize];
                *free = entry;
            }
            None => self.entries.push(entry),
        }
        self.taken += 1;
        self.link(place);
    }

    /// Puts the entry at a place in front of its chains.
    fn link(&mut self, place: u32) {
        for by in [By::Key, By::Handle] {
            let Some(hash) = self.entries.get(place as usize).map(|entry| entry.hash(by)) else { return };
            let Some(head) = self.head(hash, by) else { return };
            let next = std::mem::replace(head, place);
            if let Some(entry) = self.entries.get_mut(place as usize) {
                entry.next[by as usize] = next;
            }
        }
    }

    /// Makes room for twice as many. Whether there is memory. All places are taken.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let more = self.heads.len().max(16);
        if self.heads.try_reserve_exact(more).is_err() {
            return false;
        }
        let all = self.heads.len() + more;
        self.heads.clear();
        self.heads.resize(all, [NOWHERE; 2]);
        (0..self.entries.len() as u32).for_each(|place| self.link(place));
        true
    }

    /// Forgets the one with a handle.
    fn remove(&mut self, handle: u64) {
        let Some(key) = self.of_handle(handle).map(|entry| entry.key.hash) else { return };
        let mut place = NOWHERE;
        for (by, hash) in [(By::Key, key), (By::Handle, fold(handle))] {
            let (mut before, mut at) = (NOWHERE, self.head(hash, by).map_or(NOWHERE, |head| *head));
            while let Some(entry) = self.entries.get(at as usize) {
                let next = entry.next[by as usize];
                if entry.handle == handle {
                    match self.entries.get_mut(before as usize) {
                        Some(entry) => entry.next[by as usize] = next,
                        None => _ = self.head(hash, by).map(|head| *head = next),
                    }
                    place = at;
                    break;
                }
                (before, at) = (at, next);
            }
        }
        if let Some(entry) = self.entries.get_mut(place as usize) {
            entry.next[By::Key as usize] = std::mem::replace(&mut self.free, place);
            self.taken -= 1;
        }
    }

    fn count_one(&mut self) {
        self.live += 1;
        self.peak = self.peak.max(self.live);
    }
}

/// Those of one device.
#[derive(Default)]
pub struct SharedSamplers {
    /// From here on, samplers are shared.
    on: AtomicBool,
    /// They are once there are so many; `u32::MAX` for never.
    from: u32,
    /// How many samplers fewer the driver has than the application. This and the next two change under the lock of the table alone.
    saved: AtomicU32,
    /// How often one was handed out that was there.
    given: AtomicU64,
    /// The first allocator of a sampler that is not shared.
    first: OnceLock<Allocator>,
    /// There were others, and there were samplers without one.
    others: AtomicBool,
    without: AtomicBool,
    table: Lock<Table>,
}

impl SharedSamplers {
    /// On a device that allows so many, whose handles `may` be equal.
    pub(super) fn new(setting: settings::Samplers, may: bool, limit: u32) -> Self {
        let from = match setting {
            _ if !may => u32::MAX,
            settings::Samplers::Own => u32::MAX,
            settings::Samplers::Share => 0,
            settings::Samplers::Auto => budget::near(limit),
        };
        Self { on: AtomicBool::new(from == 0), from, ..Self::default() }
    }

    /// Up to how many samplers nothing has to be looked at for this.
    pub(super) fn places(&self, limit: u32) -> u32 {
        if self.from == 0 { u32::MAX } else { self.from.min(budget::uncrowded(limit)) }
    }
}

/// The table, held while the driver creates a sampler that is to be shared: taking it once costs 45 ns less than looking, creating under
/// a lock of its own and keeping.
///
/// The driver's allocation callbacks cannot come back here (VkAllocationCallbacks: they must not call Vulkan). A creation takes the turn
/// of rules that change as well, and whoever holds that never waits for this: samplers that rules look at are not shared
/// ([`SharedSamplers::may_share`]).
pub struct Creating<'s>(Guard<'s, Table>);

impl Creating<'_> {
    /// Counts the sampler that the driver has just made. To hand it out again as well if it has a key.
    pub fn done(mut self, sampler: vk::Sampler, kept: Option<(&Key, bool)>) {
        self.0.count_one();
        if let Some((key, is_changed)) = kept {
            SharedSamplers::keep(&mut self.0, key, sampler.as_raw(), is_changed);
        }
    }
}

fn allocator_of(allocator: Option<&vk::AllocationCallbacks<'_>>) -> Allocator {
    allocator.map_or_else(Allocator::default, |given| {
        let vk::AllocationCallbacks { p_user_data, pfn_allocation, pfn_reallocation, pfn_free, .. } = *given;
        [
            p_user_data as usize,
            pfn_allocation.map_or(0, |command| command as usize),
            pfn_reallocation.map_or(0, |command| command as usize),
            pfn_free.map_or(0, |command| command as usize),
            given.pfn_internal_allocation.map_or(0, |command| command as usize),
            given.pfn_internal_free.map_or(0, |command| command as usize),
        ]
    })
}

impl SharedSamplers {
    /// Whether samplers may be shared.
    pub(super) fn may_share(settings: &settings::Settings, enabled: &crate::caps::Enabled, use_samplers: bool) -> bool {
        // What is captured is of one sampler, data is attached to one, and rules may tell one from another.
        let is_told_apart = enabled.private_data
            || use_samplers
            || enabled.extension(ash::ext::descriptor_buffer::NAME)
            || enabled.extension(vk_layer_sys::EXT_DESCRIPTOR_HEAP_NAME);
        settings.mode == Mode::Legalize && !is_told_apart
    }

    /// Whether samplers are shared.
    #[inline(always)]
    pub fn shares(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// The samplers of the application, where the driver has and had those of `own`.
    pub(super) fn of_application(&self, own: Census) -> Census {
        let peak = self.table.lock().peak.max(own.peak);
        Census { live: own.live + self.saved(), peak, created: own.created + self.given.load(Ordering::Relaxed) }
    }

    /// How many samplers fewer the driver has than the application.
    pub(super) fn saved(&self) -> u32 {
        self.saved.load(Ordering::Relaxed)
    }

    /// Shares samplers from here on if there are too many, those that are alive among them. Whether that begins now.
    pub(super) fn start_if_many<A>(&self, live: u32, alive: impl FnOnce() -> A) -> bool
    where
        A: IntoIterator<Item = (u64, Words, bool)>,
    {
        live >= self.from && !self.shares() && self.start(live, alive)
    }

    #[cold]
    #[inline(never)]
    fn start<A: IntoIterator<Item = (u64, Words, bool)>>(&self, live: u32, alive: impl FnOnce() -> A) -> bool {
        // Before they are looked at: who destroys one of them meanwhile either has forgotten it already, or sees this.
        if self.on.swap(true, Ordering::Relaxed) {
            return false;
        }
        // Before that of the table of samplers, which nobody holds who asks for this one: what is destroyed meanwhile waits for it.
        let mut table = self.table.lock();
        (table.live, table.peak) = (live, live);
        let alive = alive();
        // After they were looked at: all of them were noted before.
        if let Some(allocator) = self.only_allocator() {
            for (handle, words, is_changed) in alive {
                Self::keep(&mut table, &Key::new(words, Chained::default(), allocator), handle, is_changed);
            }
        }
        drop(table);
        tracing::info!("samplers are shared from here on");
        true
    }

    /// Notes the allocator of a sampler that is about to be created and not shared.
    #[inline(always)]
    pub fn note_allocator(&self, allocator: Option<&vk::AllocationCallbacks<'_>>) {
        match allocator {
            Some(allocator) => self.note_callbacks(allocator),
            None if self.without.load(Ordering::Relaxed) => {}
            None => self.without.store(true, Ordering::Relaxed),
        }
    }

    #[inline(never)]
    fn note_callbacks(&self, allocator: &vk::AllocationCallbacks<'_>) {
        let given = allocator_of(Some(allocator));
        if *self.first.get_or_init(|| given) != given {
            self.others.store(true, Ordering::Relaxed);
        }
    }

    /// The allocator of all samplers so far, if it is known which that is.
    fn only_allocator(&self) -> Option<Allocator> {
        let SharedSamplers { first, others, without, .. } = self;
        match first.get() {
            None => Some(Allocator::default()),
            Some(first) => (!others.load(Ordering::Relaxed) && !without.load(Ordering::Relaxed)).then_some(*first),
        }
    }

    /// What a sampler shares with others; `None` if it is to be its own: for capture and replay, with a chain that says more than borders,
    /// reduction and a name, or with a chain and an allocator.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    pub unsafe fn shared_key(
        &self,
        ground: &Ground,
        info: &vk::SamplerCreateInfo<'_>,
        allocator: Option<&vk::AllocationCallbacks<'_>>,
    ) -> Option<Key> {
        let is_captured = info.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        if is_captured || !ground.is_sound() {
            return None;
        }
        let (mut plain, mut chained) = (*info, Chained::default());
        if !info.p_next.is_null() {
            // SAFETY: `info` is valid by this function's contract.
            chained = unsafe { sampler_info::chained_words(info) }.filter(|_| allocator.is_none())?;
            plain.p_next = std::ptr::null();
        }
        let words = sampler_info::words(&plain)?;
        Some(Key::new(sampler_info::key_of(&words), chained, allocator_of(allocator)))
    }

    /// Hands out the sampler that was made for an equal key and says whether that was changed, or has the caller create it while other
    /// threads wait: of those that ask for the same at once one creates it.
    pub fn take_shared(&self, key: &Key) -> Result<(vk::Sampler, bool), Creating<'_>> {
        let mut table = self.table.lock();
        let Some(entry) = table.of_key(key).filter(|entry| entry.uses < u32::MAX) else { return Err(Creating(table)) };
        entry.uses += 1;
        let (handle, is_changed) = (entry.handle, entry.is_changed);
        table.count_one();
        self.saved.store(self.saved() + 1, Ordering::Relaxed);
        self.given.store(self.given.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok((vk::Sampler::from_raw(handle), is_changed))
    }

    /// Counts a sampler that the driver has just made and that has no key.
    pub fn count_unshared(&self) {
        self.table.lock().count_one();
    }

    fn keep(table: &mut Table, key: &Key, handle: u64, is_changed: bool) {
        if let Some(entry) = table.of_handle(handle) {
            (entry.uses, entry.made) = (entry.uses + 1, entry.made + 1);
        } else if table.of_key(key).is_none() {
            table.insert(key, handle, is_changed);
        }
    }

    /// Takes back a sampler that is destroyed. Whether the driver has to destroy it. Once more after it was forgotten if samplers were not
    /// shared before: what starts to share on another thread takes over what is not forgotten yet.
    pub fn leave_shared(&self, sampler: vk::Sampler) -> bool {
        let mut table = self.table.lock();
        table.live = table.live.saturating_sub(1);
        let Some(entry) = table.of_handle(sampler.as_raw()) else { return true };
        entry.uses -= 1;
        if entry.uses >= entry.made {
            self.saved.store(self.saved() - 1, Ordering::Relaxed);
            return false;
        }
        entry.made -= 1;
        if entry.made == 0 {
            table.remove(sampler.as_raw());
        }
        true
    }

    /// What became of it, for the summary.
    pub(super) fn sharing(&self, driver: &Driver) -> Option<kinds::Sharing> {
        let limit = driver.caps.max_sampler_allocation_count;
        self.shares().then(|| kinds::Sharing {
            given: self.given.load(Ordering::Relaxed),
            because: match self.from {
                0 => "samplers=share".to_owned(),
                from => format!("{from} samplers were live and maxSamplerAllocationCount is {limit}"),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys of few hashes, so that chains are long.
    fn key(state: u64) -> Key {
        Key { hash: state % 3, words: [state; 8], chained: Chained::default(), allocator: Allocator::default() }
    }

    proptest! {
        #[test]
        fn entries_are_found_by_both_until_they_are_removed(steps in prop::collection::vec((0..60_u64, any::<bool>()), 1..400)) {
            let (mut table, mut model) = (Table::default(), HashMap::new());
            for (state, comes) in steps {
                let handle = 1000 + state;
                if comes && model.insert(handle, state).is_none() {
                    table.insert(&key(state), handle, state % 2 == 0);
                } else if !comes && model.remove(&handle).is_some() {
                    table.remove(handle);
                }
                for state in 0..60 {
                    let there = model.contains_key(&(1000 + state));
                    prop_assert_eq!(table.of_handle(1000 + state).map(|entry| entry.key.words[0]), there.then_some(state));
                    prop_assert_eq!(table.of_key(&key(state)).map(|entry| entry.handle), there.then_some(1000 + state));
                }
                prop_assert_eq!(table.taken, model.len());
                prop_assert!(table.entries.len() <= table.heads.len().max(1));
            }
        }
    }
}
