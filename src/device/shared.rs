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
use samplin_wire::kinds;

use super::driver::Driver;
use super::ground::Ground;
use crate::budget;
use crate::sampler_info::{self, Chained};
use crate::settings::{self, Mode};
use crate::table::FastMap;
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

/// A sampler of the driver that may be handed out more than once.
struct Entry {
    key: Key,
    /// How often it was handed out and not destroyed yet.
    uses: u32,
    /// How often the driver was asked for it and not to destroy it: drivers have one object for equal states as well.
    made: u32,
    /// What it was made with is not what was asked for.
    is_changed: bool,
}

#[derive(Default)]
struct Table {
    by_hash: FastMap<u64, u64>,
    by_handle: FastMap<u64, Entry>,
    /// Samplers of the application now and at most, since they are shared.
    live: u32,
    peak: u32,
}

impl Table {
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
    /// How often one was kept to be handed out.
    kept: AtomicU64,
    /// The first allocator of a sampler that is not shared.
    first: OnceLock<Allocator>,
    /// There were others, and there were samplers without one.
    others: AtomicBool,
    without: AtomicBool,
    table: Lock<Table>,
    /// Held while the driver creates one that is to be shared.
    creating: Lock<()>,
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

    /// Takes note of the allocator of a sampler that is about to be created and not shared.
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

    /// Waits until no other thread creates one that is to be shared.
    pub fn creating(&self) -> Guard<'_, ()> {
        self.creating.lock()
    }

    /// Moves when a sampler is kept: what was not found before may be there.
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// Hands out the sampler that was made for an equal key, if there is one, and says whether that was changed.
    pub fn take_shared(&self, key: &Key) -> Option<(vk::Sampler, bool)> {
        let mut table = self.table.lock();
        let handle = *table.by_hash.get(&key.hash)?;
        let entry = table.by_handle.get_mut(&handle).filter(|entry| entry.key == *key)?;
        entry.uses = entry.uses.checked_add(1)?;
        let is_changed = entry.is_changed;
        table.count_one();
        self.saved.store(self.saved() + 1, Ordering::Relaxed);
        self.given.store(self.given.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some((vk::Sampler::from_raw(handle), is_changed))
    }

    /// Counts a sampler that the driver has just made and that is not kept.
    pub fn count_unshared(&self) {
        self.table.lock().count_one();
    }

    /// Keeps a sampler that the driver has just made for a key, to hand it out again.
    pub fn keep_shared(&self, key: &Key, sampler: vk::Sampler, is_changed: bool) {
        let mut table = self.table.lock();
        table.count_one();
        Self::keep(&mut table, key, sampler.as_raw(), is_changed);
        self.kept.store(self.kept() + 1, Ordering::Relaxed);
    }

    fn keep(table: &mut Table, key: &Key, handle: u64, is_changed: bool) {
        if let Some(entry) = table.by_handle.get_mut(&handle) {
            (entry.uses, entry.made) = (entry.uses + 1, entry.made + 1);
            return;
        }
        // Without memory, and where another thread was faster, it is its own.
        if table.by_hash.contains_key(&key.hash)
            || table.by_hash.try_room().is_err()
            || table.by_handle.try_room().is_err()
        {
            return;
        }
        table.by_hash.insert(key.hash, handle);
        table.by_handle.insert(handle, Entry { key: *key, uses: 1, made: 1, is_changed });
    }

    /// Takes back a sampler that is destroyed. Whether the driver has to destroy it. Once more after it was forgotten if samplers were not
    /// shared before: what starts to share on another thread takes over what is not forgotten yet.
    pub fn leave_shared(&self, sampler: vk::Sampler) -> bool {
        let mut table = self.table.lock();
        table.live = table.live.saturating_sub(1);
        let Some(entry) = table.by_handle.get_mut(&sampler.as_raw()) else { return true };
        entry.uses -= 1;
        if entry.uses >= entry.made {
            self.saved.store(self.saved() - 1, Ordering::Relaxed);
            return false;
        }
        entry.made -= 1;
        if entry.made == 0 {
            let hash = entry.key.hash;
            table.by_handle.remove(&sampler.as_raw());
            table.by_hash.remove(&hash);
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
