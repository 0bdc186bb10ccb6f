//! Sampler states that live samplers share, the choice made for each view class, and the samplers made for them.
//!
//! Three levels, as in SwiftShader's sampler caches: a descriptor write first finds its sampler's *state number* and its view's
//! *class number* in the flat tables, then reads the choice for that pair from a small array, and only a pair never seen before
//! takes the locks below.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::decide::{Bits, SamplerState, StateKey, is_valid_border};
use crate::table::{AppendVec, FastMap, lock};

/// Choice word: no decision yet.
pub const UNDECIDED: u64 = 0;
/// Choice word: hand down the sampler that was given.
pub const KEEP: u64 = u64::MAX;

/// A state that at least one live sampler has.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// What the application asked for.
    pub original: SamplerState,
    /// What the driver's sampler was created with.
    pub base: SamplerState,
    /// What it asks of a view.
    pub needs: Bits,
    /// Fingerprint of what the application asked for, where that is not `original`.
    pub given: Option<u64>,
    /// A chained structure the layer does not understand: such a state is not shared and has no variants.
    pub unknown: Option<i32>,
    /// The rules that match its samplers, one bit each.
    pub rules: u64,
    /// Its samplers hold a place each of `maxCustomBorderColorSamplers`.
    pub custom_border: bool,
}

impl SharedState {
    /// Fingerprint of what the application asked for. Computed when it is wanted, which is rarely: creating a sampler must be
    /// cheap.
    pub fn fingerprint(&self) -> u64 {
        self.given.unwrap_or_else(|| self.original.fingerprint())
    }
}

struct Owned {
    state: Arc<SharedState>,
    /// Whether samplers of an equal state come here too.
    shareable: bool,
    live: u32,
    /// Variants this state holds a use of.
    used: Vec<StateKey>,
}

struct Choices(Box<[AtomicU64]>);

/// Place of one state. Places are never freed, only reused, so that a stale number is harmless.
struct Slot {
    owned: Mutex<Option<Owned>>,
    choices: AtomicPtr<Choices>,
    /// Arrays that a larger one replaced; readers may still hold them.
    #[expect(clippy::vec_box, reason = "readers hold the address of the box's content")]
    retired: Mutex<Vec<Box<Choices>>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let choices = *self.choices.get_mut();
        if !choices.is_null() {
            // SAFETY: made by `Box::into_raw` in `publish`, replaced pointers move to `retired`, so it is owned once.
            drop(unsafe { Box::from_raw(choices) });
        }
    }
}

struct Variant {
    handle: u64,
    uses: u32,
    custom_border: bool,
}

/// A variant that nobody uses any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The driver's sampler, to be destroyed.
    pub handle: u64,
    /// It holds a place of `maxCustomBorderColorSamplers`.
    pub custom_border: bool,
}

impl Variant {
    fn gone(&self) -> Gone {
        Gone { handle: self.handle, custom_border: self.custom_border }
    }
}

/// What samplers that share a place have in common.
#[derive(PartialEq, Eq, Hash)]
struct Shared {
    state: StateKey,
    rules: u64,
    /// Whether they hold places for custom border colours.
    custom_border: bool,
    /// Whether the border colour is one: `border=strict` judges its kind even where it is ignored, and the key takes a value of no
    /// enumeration for a float colour.
    has_border: bool,
}

impl Shared {
    fn of(state: &SharedState) -> Self {
        Self {
            state: state.original.key(),
            rules: state.rules,
            custom_border: state.custom_border,
            has_border: is_valid_border(state.original.border_color),
        }
    }
}

#[derive(Default)]
struct Index {
    /// By what makes samplers share a place.
    by_key: FastMap<Shared, u32>,
    free: Vec<u32>,
    live: u32,
    peak: u32,
}

/// How many of something there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Now.
    pub live: u32,
    /// At most, at any time.
    pub peak: u32,
    /// Ever.
    pub created: u64,
}

impl Census {
    fn add(&mut self) {
        self.live += 1;
        self.peak = self.peak.max(self.live);
        self.created += 1;
    }
}

#[derive(Default)]
struct Variants {
    by_key: FastMap<StateKey, Variant>,
    census: Census,
}

/// The states and variants of one device.
#[derive(Default)]
pub struct Cache {
    slots: AppendVec<Slot>,
    index: Mutex<Index>,
    variants: Mutex<Variants>,
}

impl Cache {
    /// Counts one more sampler of `state` and returns the number of its place; `None` when numbers run out.
    pub fn acquire(&self, state: SharedState) -> Option<u32> {
        let key = Shared::of(&state);
        let mut index = lock(&self.index);
        if state.unknown.is_none()
            && let Some(number) = index.by_key.get(&key).copied()
            && let Some(slot) = self.slots.get(number as usize)
            && let Some(owned) = lock(&slot.owned).as_mut()
        {
            owned.live += 1;
            return Some(number);
        }
        let shareable = state.unknown.is_none();
        let owned = Owned { state: Arc::new(state), shareable, live: 1, used: Vec::new() };
        let number = self.place(&mut index, owned)?;
        if shareable {
            index.by_key.insert(key, number);
        }
        Some(number)
    }

    /// Puts `owned` at a free place.
    fn place(&self, index: &mut Index, owned: Owned) -> Option<u32> {
        let number = match index.free.pop() {
            Some(number) => {
                *lock(&self.slots.get(number as usize)?.owned) = Some(owned);
                number
            }
            None => u32::try_from(self.slots.push(Slot {
                owned: Mutex::new(Some(owned)),
                choices: AtomicPtr::new(std::ptr::null_mut()),
                retired: Mutex::new(Vec::new()),
            })?)
            .ok()?,
        };
        index.live += 1;
        index.peak = index.peak.max(index.live);
        Some(number)
    }

    /// Moves one sampler of place `number` to a place of its own, where choices are made for it alone, and returns that.
    ///
    /// The variants chosen for it before may be in descriptors, so they live on with it.
    pub fn isolate(&self, number: u32) -> Option<u32> {
        let slot = self.slots.get(number as usize)?;
        let mut index = lock(&self.index);
        let own = {
            let mut place = lock(&slot.owned);
            let owned = place.as_mut()?;
            if owned.live == 1 && !owned.shareable {
                return Some(number);
            }
            let mut variants = lock(&self.variants);
            for key in &owned.used {
                if let Some(variant) = variants.by_key.get_mut(key) {
                    variant.uses += 1;
                }
            }
            Owned { state: Arc::clone(&owned.state), shareable: false, live: 1, used: owned.used.clone() }
        };
        let own = self.place(&mut index, own)?;
        drop(index);
        // None of its variants can be gone with this, since the new place uses them.
        let _ = self.release(number);
        Some(own)
    }

    /// Lets place `to` use every variant that place `from` does, for a sampler that moves from one to the other: descriptors may
    /// hold what was chosen for it before.
    ///
    /// Both places have a sampler that keeps them during the call.
    pub fn inherit(&self, from: u32, to: u32) {
        let used = |number: u32| self.slots.get(number as usize).map(|slot| &slot.owned);
        let Some(keys) = used(from).and_then(|place| lock(place).as_ref().map(|owned| owned.used.clone())) else {
            return;
        };
        let Some(place) = used(to).filter(|_| from != to) else { return };
        let mut place = lock(place);
        let Some(owned) = place.as_mut() else { return };
        let mut variants = lock(&self.variants);
        for key in keys {
            if !owned.used.contains(&key)
                && let Some(variant) = variants.by_key.get_mut(&key)
            {
                variant.uses += 1;
                owned.used.push(key);
            }
        }
    }

    /// Counts one sampler less. With the last one of a state its variants lose their use; those that nobody uses any more are
    /// returned and have to be destroyed.
    #[must_use]
    pub fn release(&self, number: u32) -> Vec<Gone> {
        let Some(slot) = self.slots.get(number as usize) else { return Vec::new() };
        let mut index = lock(&self.index);
        let used = {
            let mut place = lock(&slot.owned);
            let Some(owned) = place.as_mut() else { return Vec::new() };
            owned.live -= 1;
            if owned.live > 0 {
                return Vec::new();
            }
            if owned.shareable {
                index.by_key.remove(&Shared::of(&owned.state));
            }
            let used = std::mem::take(&mut owned.used);
            *place = None;
            used
        };
        for cell in self.cells(slot) {
            cell.store(UNDECIDED, Ordering::Release);
        }
        index.live -= 1;
        index.free.push(number);
        drop(index);
        let mut variants = lock(&self.variants);
        used.into_iter().filter_map(|key| variants.unuse(&key)).collect()
    }

    /// The state at a place.
    pub fn state(&self, number: u32) -> Option<Arc<SharedState>> {
        let slot = self.slots.get(number as usize)?;
        lock(&slot.owned).as_ref().map(|owned| Arc::clone(&owned.state))
    }

    fn cells<'a>(&'a self, slot: &'a Slot) -> &'a [AtomicU64] {
        let choices = slot.choices.load(Ordering::Acquire);
        // SAFETY: null or a pointer from `Box::into_raw`; replaced arrays live on in `retired` as long as the cache.
        unsafe { choices.as_ref() }.map_or(&[], |choices| &choices.0)
    }

    /// The choice for (state, view class): a sampler's handle, [`KEEP`] or [`UNDECIDED`].
    #[inline(always)]
    pub fn choice(&self, state: u32, class: u32) -> u64 {
        let Some(slot) = self.slots.get(state as usize) else { return KEEP };
        self.cells(slot).get(class as usize).map_or(UNDECIDED, |cell| cell.load(Ordering::Acquire))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the choice in force and whether it is this one.
    ///
    /// `variant` is the key of the variant that the choice stands for, whose use goes over to the state on success.
    pub fn publish(&self, state: u32, class: u32, choice: u64, variant: Option<StateKey>) -> (u64, bool) {
        let Some(slot) = self.slots.get(state as usize) else { return (KEEP, false) };
        let mut place = lock(&slot.owned);
        let Some(owned) = place.as_mut() else { return (KEEP, false) };
        if self.cells(slot).len() <= class as usize {
            let len = (class as usize + 1).next_power_of_two().max(8);
            let fresh: Box<[AtomicU64]> = (0..len).map(|_| AtomicU64::new(UNDECIDED)).collect();
            for (to, from) in fresh.iter().zip(self.cells(slot)) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            let old = slot.choices.swap(Box::into_raw(Box::new(Choices(fresh))), Ordering::AcqRel);
            if !old.is_null() {
                // SAFETY: made by `Box::into_raw` and just taken out of its only place.
                lock(&slot.retired).push(unsafe { Box::from_raw(old) });
            }
        }
        let Some(cell) = self.cells(slot).get(class as usize) else { return (KEEP, false) };
        let before = cell.load(Ordering::Acquire);
        if before != UNDECIDED {
            return (before, false);
        }
        cell.store(choice, Ordering::Release);
        owned.used.extend(variant);
        (choice, true)
    }

    /// One more use of the variant of this state, if it exists.
    pub fn use_variant(&self, key: &StateKey) -> Option<u64> {
        let mut variants = lock(&self.variants);
        let variant = variants.by_key.get_mut(key)?;
        variant.uses += 1;
        Some(variant.handle)
    }

    /// Adds a variant that was just created, with one use. If another thread was faster its handle is returned instead, with
    /// the use counted there, and the given one has to be destroyed.
    pub fn add_variant(&self, key: StateKey, handle: u64, custom_border: bool) -> (u64, bool) {
        let mut variants = lock(&self.variants);
        if let Some(variant) = variants.by_key.get_mut(&key) {
            variant.uses += 1;
            return (variant.handle, false);
        }
        variants.by_key.insert(key, Variant { handle, uses: 1, custom_border });
        variants.census.add();
        (handle, true)
    }

    /// Gives one use back; returns the handle to destroy when it was the last.
    #[must_use]
    pub fn drop_use(&self, key: &StateKey) -> Option<Gone> {
        lock(&self.variants).unuse(key)
    }

    /// Every variant, which is thereby forgotten: for the end of the device.
    #[must_use]
    pub fn take_variants(&self) -> Vec<Gone> {
        let mut variants = lock(&self.variants);
        variants.census.live = 0;
        variants.by_key.drain().map(|(_, variant)| variant.gone()).collect()
    }

    /// Variants now, at most and ever.
    pub fn variants(&self) -> Census {
        lock(&self.variants).census
    }

    /// Distinct states now and at most.
    pub fn states(&self) -> (u32, u32) {
        let index = lock(&self.index);
        (index.live, index.peak)
    }
}

impl Variants {
    fn unuse(&mut self, key: &StateKey) -> Option<Gone> {
        let variant = self.by_key.get_mut(key)?;
        variant.uses -= 1;
        if variant.uses > 0 {
            return None;
        }
        let variant = self.by_key.remove(key)?;
        self.census.live -= 1;
        Some(variant.gone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(bias: f32) -> SharedState {
        let original = SamplerState { mip_lod_bias: bias, ..SamplerState::default() };
        SharedState {
            original,
            base: original,
            needs: Bits::NONE,
            given: None,
            unknown: None,
            rules: 0,
            custom_border: false,
        }
    }

    #[test]
    fn equal_states_share_a_place_and_variants_die_with_the_last() {
        let cache = Cache::default();
        let a = cache.acquire(state(0.0)).unwrap();
        assert_eq!(cache.acquire(state(0.0)), Some(a));
        let b = cache.acquire(state(1.0)).unwrap();
        assert_ne!(a, b);
        let key = state(0.0).original.key();
        assert_eq!(cache.add_variant(key, 77, false), (77, true));
        assert_eq!(cache.publish(a, 9, 77, Some(key)), (77, true));
        assert_eq!(cache.publish(a, 9, KEEP, None), (77, false));
        assert_eq!(cache.use_variant(&key), Some(77));
        assert_eq!(cache.publish(b, 0, 77, Some(key)), (77, true));
        assert_eq!((cache.choice(a, 9), cache.choice(a, 8), cache.choice(b, 0)), (77, UNDECIDED, 77));
        assert!(cache.release(a).is_empty());
        assert_eq!(cache.choice(a, 9), 77);
        assert!(cache.release(a).is_empty(), "the other state still uses the variant");
        assert_eq!(cache.choice(a, 9), UNDECIDED);
        assert_eq!(cache.release(b), [Gone { handle: 77, custom_border: false }]);
        assert_eq!(cache.variants(), Census { live: 0, peak: 1, created: 1 });
        let again = cache.acquire(state(2.0)).unwrap();
        assert!(again == a || again == b, "places are reused");
        assert_eq!(cache.choice(again, 9), UNDECIDED);
    }

    #[test]
    fn samplers_with_a_place_for_a_custom_border_do_not_share_with_those_without() {
        let cache = Cache::default();
        let with = cache.acquire(SharedState { custom_border: true, ..state(0.0) }).unwrap();
        let without = cache.acquire(state(0.0)).unwrap();
        let holds = |place| cache.state(place).unwrap().custom_border;
        assert_eq!((holds(with), holds(without)), (true, false), "each gives back what it took");
        assert!(cache.release(with).is_empty() && cache.release(without).is_empty());
        assert_eq!(cache.acquire(SharedState { custom_border: true, ..state(0.0) }).map(holds), Some(true));
    }

    #[test]
    fn a_border_colour_of_no_enumeration_is_shared_with_none() {
        let cache = Cache::default();
        let of = |raw| {
            let original =
                SamplerState { border_color: ash::vk::BorderColor::from_raw(raw), ..SamplerState::default() };
            SharedState { original, base: original, ..state(0.0) }
        };
        let (float, none) = (cache.acquire(of(0)).unwrap(), cache.acquire(of(6)).unwrap());
        assert_ne!(float, none, "strict repairs the first on integer views");
        assert_eq!(cache.acquire(of(-7)), Some(none));
    }

    #[test]
    fn states_with_unknown_structures_are_not_shared() {
        let cache = Cache::default();
        let odd = SharedState { unknown: Some(1), ..state(0.0) };
        let a = cache.acquire(odd.clone()).unwrap();
        let b = cache.acquire(odd).unwrap();
        assert_ne!(a, b);
        assert_ne!(cache.acquire(state(0.0)), Some(a));
        assert!(cache.release(a).is_empty() && cache.release(b).is_empty());
    }

    #[test]
    fn an_isolated_sampler_keeps_its_variants_and_nothing_else() {
        let cache = Cache::default();
        let key = state(0.0).original.key();
        let shared = cache.acquire(state(0.0)).unwrap();
        assert_eq!(cache.acquire(state(0.0)), Some(shared));
        assert_eq!(cache.add_variant(key, 77, false), (77, true));
        assert_eq!(cache.publish(shared, 3, 77, Some(key)), (77, true));
        let own = cache.isolate(shared).unwrap();
        assert_ne!(own, shared);
        assert_eq!(cache.isolate(own), Some(own));
        assert_eq!((cache.choice(shared, 3), cache.choice(own, 3)), (77, UNDECIDED));
        assert_eq!(cache.acquire(state(0.0)), Some(shared), "new samplers of the state do not join it");
        assert!(cache.release(shared).is_empty() && cache.release(shared).is_empty());
        assert_eq!(cache.release(own), [Gone { handle: 77, custom_border: false }]);
        // The only sampler of a state.
        let shared = cache.acquire(state(1.0)).unwrap();
        let own = cache.isolate(shared).unwrap();
        let again = cache.acquire(state(1.0)).unwrap();
        assert_ne!(again, own);
        assert!(cache.release(own).is_empty() && cache.release(again).is_empty());
        assert_eq!(cache.states().0, 0);
    }

    #[test]
    fn a_sampler_that_moves_takes_its_variants_along() {
        let cache = Cache::default();
        let key = state(0.0).original.key();
        let from = cache.acquire(state(0.0)).unwrap();
        assert_eq!(cache.add_variant(key, 77, false), (77, true));
        assert_eq!(cache.publish(from, 3, 77, Some(key)), (77, true));
        let to = cache.acquire(SharedState { rules: 1, ..state(0.0) }).unwrap();
        assert_ne!(to, from);
        // However often samplers move, one use is enough.
        cache.inherit(from, to);
        cache.inherit(from, to);
        cache.inherit(to, to);
        assert!(cache.release(from).is_empty(), "the variant may be in a descriptor of the one that moved");
        assert_eq!(cache.choice(to, 3), UNDECIDED, "choices are made anew");
        assert_eq!(cache.release(to), [Gone { handle: 77, custom_border: false }]);
    }

    #[test]
    fn the_loser_of_a_race_gives_its_sampler_back() {
        let cache = Cache::default();
        let key = state(0.0).original.key();
        assert_eq!(cache.add_variant(key, 1, true), (1, true));
        assert_eq!(cache.add_variant(key, 2, true), (1, false));
        assert_eq!(cache.drop_use(&key), None);
        assert_eq!(cache.drop_use(&key), Some(Gone { handle: 1, custom_border: true }));
    }
}
