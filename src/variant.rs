//! Sampler states that live samplers share, the choice made for each view class, and the samplers made for them.
//!
//! Three levels, as in SwiftShader's sampler caches: a descriptor write first finds its sampler's *state number* and its view's
//! *class number* in the flat tables, then reads the choice for that pair from a small array, and only a pair never seen before
//! takes the locks below.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

pub use samplin_hot::choices::{KEEP, UNDECIDED};
use samplin_hot::memory::{self, Room};
use samplin_hot::recent::Words;
use samplin_hot::{Choices, Recent};

use crate::decide::{Bits, SamplerState, StateKey, is_valid_border};
use crate::table::{AppendVec, FastMap, lock};

/// A state that samplers have, or had a while ago.
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
    /// Variants this state holds a use of.
    used: Vec<StateKey>,
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
    fn gone(self) -> Gone {
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
    /// [`SharedState::given`], which the records of its samplers tell.
    given: Option<u64>,
}

impl Shared {
    fn of(state: &SharedState) -> Self {
        Self {
            state: state.original.key(),
            rules: state.rules,
            custom_border: state.custom_border,
            has_border: is_valid_border(state.original.border_color),
            given: state.given,
        }
    }
}

/// What the index knows of a place.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Its samplers.
    live: u32,
    /// Counts the states that the place had.
    generation: u32,
    /// It is in `idle`.
    idle: bool,
    /// [`SharedState::custom_border`].
    custom_border: bool,
    /// [`SharedState::needs`].
    needs: Bits,
}

/// What goes with a sampler.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Variants that nobody uses any more, to be destroyed.
    pub variants: Vec<Gone>,
    /// It held a place of `maxCustomBorderColorSamplers`.
    pub custom_border: bool,
}

/// States without a sampler that are kept, because applications create the same samplers again and again.
const IDLE: usize = 512;

#[derive(Default)]
struct Index {
    /// By what makes samplers share a place.
    by_key: FastMap<Shared, u32>,
    lives: Vec<Life>,
    /// Places whose last sampler went while their state stayed, in that order; some may have samplers again.
    idle: VecDeque<u32>,
    /// Places without a state.
    free: Vec<u32>,
    /// Place and generation by create info.
    recent: Recent,
    states: Census,
    samplers: Census,
}

impl Index {
    /// Counts a sampler at a place.
    fn enter(&mut self, number: u32) -> Option<()> {
        let life = self.lives.get_mut(number as usize)?;
        life.live += 1;
        if life.live == 1 {
            self.states.add();
        }
        Some(())
    }
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

/// The states and variants of one device. The choices made for them lie beside it, where descriptors are looked at.
#[derive(Default)]
pub struct Cache {
    /// One for each row of the [`Choices`]. Places are never freed, only reused, so that a stale number is harmless.
    places: AppendVec<Mutex<Option<Owned>>>,
    index: Mutex<Index>,
    variants: Mutex<Variants>,
}

impl Cache {
    /// Counts one more sampler of `state` and returns the number of its place; `None` when numbers run out.
    pub fn acquire(&self, choices: &Choices, state: SharedState) -> Option<u32> {
        let mut index = lock(&self.index);
        let number = self.acquire_locked(choices, &mut index, state)?;
        index.samplers.add();
        Some(number)
    }

    /// Lets a sampler of place `from` have another state. The place of that one uses every variant that `from` does: descriptors
    /// may hold what was chosen for the sampler before. The sampler still has to be released from `from`.
    pub fn acquire_moved(&self, choices: &Choices, from: u32, state: SharedState) -> Option<u32> {
        let number = {
            let mut index = lock(&self.index);
            let number = self.acquire_locked(choices, &mut index, state)?;
            // It is one sampler, which is about to be released once.
            index.samplers.live += 1;
            number
        };
        self.inherit(from, number);
        Some(number)
    }

    fn acquire_locked(&self, choices: &Choices, index: &mut Index, state: SharedState) -> Option<u32> {
        let key = Shared::of(&state);
        let shareable = state.unknown.is_none();
        let known = if shareable { index.by_key.get(&key).copied() } else { None };
        let number = match known {
            Some(number) => number,
            None => {
                let number =
                    self.place(choices, index, Owned { state: Arc::new(state), shareable, used: Vec::new() })?;
                if shareable {
                    index.by_key.with_room().insert(key, number);
                }
                number
            }
        };
        index.enter(number)?;
        Some(number)
    }

    /// Counts one more sampler of the state that a create info with these words had, if it is still at its place; also returns
    /// what it asks of a view.
    pub fn acquire_recent(&self, words: &Words) -> Option<(u32, Bits)> {
        let mut index = lock(&self.index);
        let value = index.recent.get(words);
        let number = (value as u32).checked_sub(1)?;
        let life = *index.lives.get(number as usize)?;
        if life.generation != (value >> 32) as u32 {
            return None;
        }
        index.enter(number)?;
        index.samplers.add();
        Some((number, life.needs))
    }

    /// Remembers which place the create info with these words led to.
    pub fn remember_recent(&self, words: &Words, number: u32) {
        let mut index = lock(&self.index);
        if let Some(life) = index.lives.get(number as usize) {
            let value = (u64::from(life.generation) << 32) | (u64::from(number) + 1);
            index.recent.set(words, value);
        }
    }

    /// Puts `owned` at a free place, or at that of the state that has been without a sampler for longest if there are many.
    fn place(&self, choices: &Choices, index: &mut Index, owned: Owned) -> Option<u32> {
        let (custom_border, needs) = (owned.state.custom_border, owned.state.needs);
        let mut free = index.free.pop();
        while free.is_none() && index.idle.len() > IDLE {
            let number = index.idle.pop_front()?;
            let life = index.lives.get_mut(number as usize)?;
            life.idle = false;
            if life.live > 0 {
                continue;
            }
            life.generation = life.generation.wrapping_add(1);
            if let Some(old) = lock(self.places.get(number as usize)?).take() {
                index.by_key.remove(&Shared::of(&old.state));
            }
            choices.clear(number);
            free = Some(number);
        }
        if let Some(number) = free {
            *lock(self.places.get(number as usize)?) = Some(owned);
            let life = index.lives.get_mut(number as usize)?;
            *life = Life { custom_border, needs, ..*life };
            return Some(number);
        }
        // The index is locked, so rows, places and lives stay in step.
        self.places.push(Mutex::new(Some(owned)))?;
        index.lives.with_room().push(Life { custom_border, needs, ..Life::default() });
        choices.add_row()
    }

    /// Moves one sampler of place `number` to a place of its own, where choices are made for it alone, and returns that.
    ///
    /// The variants chosen for it before may be in descriptors, so they live on with it.
    pub fn isolate(&self, choices: &Choices, number: u32) -> Option<u32> {
        let place = self.places.get(number as usize)?;
        let mut index = lock(&self.index);
        let own = {
            let place = lock(place);
            let owned = place.as_ref()?;
            if index.lives.get(number as usize)?.live == 1 && !owned.shareable {
                return Some(number);
            }
            let mut variants = lock(&self.variants);
            for key in &owned.used {
                if let Some(variant) = variants.by_key.get_mut(key) {
                    variant.uses += 1;
                }
            }
            Owned { state: Arc::clone(&owned.state), shareable: false, used: owned.used.clone() }
        };
        let own = self.place(choices, &mut index, own)?;
        index.enter(own)?;
        // It is one sampler, which is about to be released once.
        index.samplers.live += 1;
        drop(index);
        // None of its variants can be gone with this, since the new place uses them.
        let _ = self.release(choices, number);
        Some(own)
    }

    /// Lets place `to` use every variant that place `from` does, for a sampler that moves from one to the other: descriptors may
    /// hold what was chosen for it before.
    ///
    /// Both places have a sampler that keeps them during the call.
    fn inherit(&self, from: u32, to: u32) {
        let used = |number: u32| self.places.get(number as usize);
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
                owned.used.with_room().push(key);
            }
        }
    }

    /// Counts one sampler less. With the last one of a state its variants lose their use; those that nobody uses any more are
    /// returned.
    #[must_use]
    pub fn release(&self, choices: &Choices, number: u32) -> Released {
        let mut index = lock(&self.index);
        let index = &mut *index;
        let Some(life) = index.lives.get_mut(number as usize).filter(|life| life.live > 0) else {
            return Released::default();
        };
        let mut out = Released { variants: Vec::new(), custom_border: life.custom_border };
        life.live -= 1;
        index.samplers.live -= 1;
        if life.live > 0 {
            return out;
        }
        index.states.live -= 1;
        let Some(place) = self.places.get(number as usize) else { return out };
        let used = {
            let mut place = lock(place);
            let Some(owned) = place.as_mut() else { return out };
            let used = std::mem::take(&mut owned.used);
            if owned.shareable {
                if !life.idle {
                    life.idle = true;
                    index.idle.with_room().push_back(number);
                }
            } else {
                life.generation = life.generation.wrapping_add(1);
                *place = None;
                index.free.with_room().push(number);
            }
            choices.clear(number);
            used
        };
        if used.is_empty() {
            return out;
        }
        // Before any use is given back, so that the end of the device finds them all if there is no memory.
        out.variants = memory::vec(used.len());
        let mut variants = lock(&self.variants);
        out.variants.extend(used.into_iter().filter_map(|key| variants.unuse(&key)));
        out
    }

    /// Counts a sampler whose handle the driver had returned before, and which therefore has no place.
    pub fn count_duplicate(&self, more: bool) {
        let mut index = lock(&self.index);
        if more {
            // Its creation was counted when it was given a place, which it has given back.
            index.samplers.live += 1;
        } else {
            index.samplers.live -= 1;
        }
    }

    /// Takes back the count of a creation that failed.
    pub fn uncount_created(&self) {
        lock(&self.index).samplers.created -= 1;
    }

    /// Whether other samplers of the same state may be at a place.
    pub fn is_shareable(&self, number: u32) -> bool {
        self.places.get(number as usize).is_some_and(|place| lock(place).as_ref().is_some_and(|owned| owned.shareable))
    }

    /// The state at a place.
    pub fn state(&self, number: u32) -> Option<Arc<SharedState>> {
        lock(self.places.get(number as usize)?).as_ref().map(|owned| Arc::clone(&owned.state))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the choice in force and whether it is this one.
    ///
    /// `variant` is the key of the variant that the choice stands for, whose use goes over to the state on success.
    /// Nothing is set when the place meanwhile has another state than `decided`, or no sampler: then nobody would take the choice
    /// back.
    pub fn publish(
        &self,
        choices: &Choices,
        (state, class): (u32, u32),
        decided: &Arc<SharedState>,
        choice: u64,
        variant: Option<StateKey>,
    ) -> (u64, bool) {
        let index = lock(&self.index);
        if index.lives.get(state as usize).is_none_or(|life| life.live == 0) {
            return (KEEP, false);
        }
        let Some(place) = self.places.get(state as usize) else { return (KEEP, false) };
        let mut place = lock(place);
        let Some(owned) = place.as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided)) else {
            return (KEEP, false);
        };
        owned.used.with_room();
        let before = choices.publish(state, class, choice);
        if before != UNDECIDED {
            return (before, false);
        }
        owned.used.extend(variant);
        (choice, true)
    }

    /// Remembers that nothing is left to be said about immutable samplers of a state with views of a class, unless the place
    /// meanwhile has another state than `decided`.
    pub fn settle(&self, choices: &Choices, (state, class): (u32, u32), decided: &Arc<SharedState>) {
        // Places get other states under this lock.
        let _index = lock(&self.index);
        if self.state(state).is_some_and(|now| Arc::ptr_eq(&now, decided)) {
            choices.settle(state, class);
        }
    }

    /// One more use of the variant of this state, if it exists.
    pub fn use_variant(&self, key: &StateKey) -> Option<u64> {
        let mut variants = lock(&self.variants);
        let variant = variants.by_key.get_mut(key)?;
        variant.uses += 1;
        Some(variant.handle)
    }

    /// Adds a variant that was just created, with one use. If another thread was faster its handle is returned instead, with
    /// the use counted there, and the given one has to be destroyed, as it has to be when there is no memory and nothing is returned.
    pub fn add_variant(&self, key: StateKey, handle: u64, custom_border: bool) -> Option<(u64, bool)> {
        let mut variants = lock(&self.variants);
        if let Some(variant) = variants.by_key.get_mut(&key) {
            variant.uses += 1;
            return Some((variant.handle, false));
        }
        variants.by_key.try_room().ok()?;
        variants.by_key.insert(key, Variant { handle, uses: 1, custom_border });
        variants.census.add();
        Some((handle, true))
    }

    /// Gives one use back; returns the handle to destroy when it was the last.
    #[must_use]
    pub fn drop_use(&self, key: &StateKey) -> Option<Gone> {
        lock(&self.variants).unuse(key)
    }

    /// Every variant, which is thereby forgotten: for the end of the device.
    pub fn take_variants(&self) -> impl Iterator<Item = Gone> + use<> {
        let mut variants = lock(&self.variants);
        variants.census.live = 0;
        std::mem::take(&mut variants.by_key).into_values().map(Variant::gone)
    }

    /// Variants now, at most and ever.
    pub fn variants(&self) -> Census {
        lock(&self.variants).census
    }

    /// Distinct states now, at most, and how often one got its first sampler.
    pub fn states(&self) -> Census {
        lock(&self.index).states
    }

    /// Samplers of the application now, at most and ever.
    pub fn samplers(&self) -> Census {
        lock(&self.index).samplers
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
        let (cache, choices) = (Cache::default(), Choices::default());
        let a = cache.acquire(&choices, state(0.0)).unwrap();
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(a));
        let b = cache.acquire(&choices, state(1.0)).unwrap();
        assert_ne!(a, b);
        let key = state(0.0).original.key();
        assert_eq!(cache.add_variant(key, 77, false), Some((77, true)));
        assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), 77, Some(key)), (77, true));
        assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), KEEP, None), (77, false));
        assert_eq!(cache.use_variant(&key), Some(77));
        assert_eq!(cache.publish(&choices, (b, 0), &cache.state(b).unwrap(), 77, Some(key)), (77, true));
        assert_eq!((choices.choice(a, 9), choices.choice(a, 8), choices.choice(b, 0)), (77, UNDECIDED, 77));
        assert!(cache.release(&choices, a).variants.is_empty());
        assert_eq!(choices.choice(a, 9), 77);
        assert!(cache.release(&choices, a).variants.is_empty(), "the other state still uses the variant");
        assert_eq!(choices.choice(a, 9), UNDECIDED);
        assert_eq!(cache.release(&choices, b).variants, [Gone { handle: 77, custom_border: false }]);
        assert_eq!(cache.variants(), Census { live: 0, peak: 1, created: 1 });
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(a), "a state is kept for a while");
        assert_eq!(choices.choice(a, 9), UNDECIDED);
        assert!(cache.release(&choices, a).variants.is_empty());
    }

    #[test]
    fn no_choice_is_published_for_a_state_that_has_no_sampler_or_is_gone() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let number = cache.acquire(&choices, state(0.0)).unwrap();
        let decided = cache.state(number).unwrap();
        assert!(cache.release(&choices, number).variants.is_empty());
        assert_eq!(cache.publish(&choices, (number, 0), &decided, 77, None), (KEEP, false), "idle");
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(number));
        assert_eq!(cache.publish(&choices, (number, 0), &decided, 77, None), (77, true));
        let other = Arc::new(state(0.0));
        assert_eq!(cache.publish(&choices, (number, 1), &other, 77, None), (KEEP, false), "decided for another");
        assert_eq!((choices.choice(number, 0), choices.choice(number, 1)), (77, UNDECIDED));
    }

    #[test]
    fn places_are_reused_once_many_are_idle() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let words = |n: u32| [u64::from(n), 0, 0, 0, 0, 0, 0, 0];
        let mut numbers = std::collections::HashSet::new();
        for n in 0..4 * IDLE as u32 {
            let number = cache.acquire(&choices, state(n as f32)).unwrap();
            cache.remember_recent(&words(n), number);
            assert_eq!(cache.acquire_recent(&words(n)), Some((number, Bits::NONE)));
            assert!(
                cache.release(&choices, number).variants.is_empty()
                    && cache.release(&choices, number).variants.is_empty()
            );
            assert_eq!(cache.acquire_recent(&words(n)), Some((number, Bits::NONE)), "idle, but there");
            assert!(cache.release(&choices, number).variants.is_empty());
            numbers.insert(number);
        }
        assert_eq!(numbers.len(), IDLE + 1);
        assert_eq!(cache.acquire_recent(&words(0)), None, "another state is at its place");
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
        assert_eq!(cache.samplers().peak, 2);
    }

    #[test]
    fn samplers_with_a_place_for_a_custom_border_do_not_share_with_those_without() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let with = cache.acquire(&choices, SharedState { custom_border: true, ..state(0.0) }).unwrap();
        let without = cache.acquire(&choices, state(0.0)).unwrap();
        let holds = |place| cache.state(place).unwrap().custom_border;
        assert_eq!((holds(with), holds(without)), (true, false), "each gives back what it took");
        assert!(
            cache.release(&choices, with).variants.is_empty() && cache.release(&choices, without).variants.is_empty()
        );
        assert_eq!(cache.acquire(&choices, SharedState { custom_border: true, ..state(0.0) }).map(holds), Some(true));
    }

    #[test]
    fn a_border_colour_of_no_enumeration_is_shared_with_none() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let of = |raw| {
            let original =
                SamplerState { border_color: ash::vk::BorderColor::from_raw(raw), ..SamplerState::default() };
            SharedState { original, base: original, ..state(0.0) }
        };
        let (float, none) = (cache.acquire(&choices, of(0)).unwrap(), cache.acquire(&choices, of(6)).unwrap());
        assert_ne!(float, none, "strict repairs the first on integer views");
        assert_eq!(cache.acquire(&choices, of(-7)), Some(none));
    }

    #[test]
    fn states_with_unknown_structures_are_not_shared() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let odd = SharedState { unknown: Some(1), ..state(0.0) };
        let a = cache.acquire(&choices, odd.clone()).unwrap();
        let b = cache.acquire(&choices, odd).unwrap();
        assert_ne!(a, b);
        assert_ne!(cache.acquire(&choices, state(0.0)), Some(a));
        assert!(cache.release(&choices, a).variants.is_empty() && cache.release(&choices, b).variants.is_empty());
    }

    #[test]
    fn an_isolated_sampler_keeps_its_variants_and_nothing_else() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let key = state(0.0).original.key();
        let shared = cache.acquire(&choices, state(0.0)).unwrap();
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(shared));
        assert_eq!(cache.add_variant(key, 77, false), Some((77, true)));
        assert_eq!(cache.publish(&choices, (shared, 3), &cache.state(shared).unwrap(), 77, Some(key)), (77, true));
        let own = cache.isolate(&choices, shared).unwrap();
        assert_ne!(own, shared);
        assert_eq!(cache.isolate(&choices, own), Some(own));
        assert_eq!((choices.choice(shared, 3), choices.choice(own, 3)), (77, UNDECIDED));
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(shared), "new samplers of the state do not join it");
        assert!(
            cache.release(&choices, shared).variants.is_empty() && cache.release(&choices, shared).variants.is_empty()
        );
        assert_eq!(cache.release(&choices, own).variants, [Gone { handle: 77, custom_border: false }]);
        // The only sampler of a state.
        let shared = cache.acquire(&choices, state(1.0)).unwrap();
        let own = cache.isolate(&choices, shared).unwrap();
        let again = cache.acquire(&choices, state(1.0)).unwrap();
        assert_ne!(again, own);
        assert!(cache.release(&choices, own).variants.is_empty() && cache.release(&choices, again).variants.is_empty());
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
    }

    #[test]
    fn a_sampler_that_moves_takes_its_variants_along() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let key = state(0.0).original.key();
        let from = cache.acquire(&choices, state(0.0)).unwrap();
        assert_eq!(cache.add_variant(key, 77, false), Some((77, true)));
        assert_eq!(cache.publish(&choices, (from, 3), &cache.state(from).unwrap(), 77, Some(key)), (77, true));
        let to = cache.acquire_moved(&choices, from, SharedState { rules: 1, ..state(0.0) }).unwrap();
        assert_eq!(cache.samplers().created, 1);
        assert_ne!(to, from);
        // However often samplers move, one use is enough.
        cache.inherit(from, to);
        cache.inherit(from, to);
        cache.inherit(to, to);
        assert!(
            cache.release(&choices, from).variants.is_empty(),
            "the variant may be in a descriptor of the one that moved"
        );
        assert_eq!(choices.choice(to, 3), UNDECIDED, "choices are made anew");
        assert_eq!(cache.release(&choices, to).variants, [Gone { handle: 77, custom_border: false }]);
    }

    #[test]
    fn the_loser_of_a_race_gives_its_sampler_back() {
        let cache = Cache::default();
        let key = state(0.0).original.key();
        assert_eq!(cache.add_variant(key, 1, true), Some((1, true)));
        assert_eq!(cache.add_variant(key, 2, true), Some((1, false)));
        assert_eq!(cache.drop_use(&key), None);
        assert_eq!(cache.drop_use(&key), Some(Gone { handle: 1, custom_border: true }));
    }
}
