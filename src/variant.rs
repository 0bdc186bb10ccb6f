//! Sampler states that live samplers share, the choice made for each view class, and the samplers made for them.
//!
//! Three levels, as in SwiftShader's sampler caches: a descriptor write first finds its sampler's *state number* and its view's
//! *class number* in the flat tables, then reads the choice for that pair from a small array, and only a pair never seen before
//! takes the locks below.

mod index;
mod made;

use std::sync::{Arc, Mutex};

use samplin_hot::Choices;
pub use samplin_hot::choices::{KEEP, UNDECIDED};
use samplin_hot::memory::{self, Room};
use samplin_hot::recent::Words;

pub use self::index::Census;
use self::index::{CHANGED, IDLE, Index, Life, Shared};
pub use self::made::{Gone, Use};
use self::made::{Variant, Variants};
use crate::budget::{BorderPlace, BorderPlaces, Cover};
use crate::decide::{Bits, SamplerState, StateKey};
use crate::table::{AppendVec, lock};

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
    /// What each of its samplers has of `maxCustomBorderColorSamplers`.
    pub border: BorderPlace,
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
    /// Variants this state holds a use of, each once.
    used: Vec<Use>,
    /// A sampler of it gave up a place of `maxCustomBorderColorSamplers` that covers no variant yet.
    has_place: bool,
    /// Where its one sampler was before. What was chosen for it there may be in descriptors, and a thread that looked it up before
    /// it moved may still be asking there, so it stays counted there as well for as long as it lives.
    from: Option<u32>,
}

impl Owned {
    fn new(state: Arc<SharedState>, shareable: bool, from: Option<u32>) -> Self {
        let mut new = Self { state, shareable, used: Vec::new(), has_place: false, from };
        new.clear();
        new
    }

    /// Forgets what it uses, which is returned.
    fn clear(&mut self) -> Vec<Use> {
        // A sampler that has moved may have left its place to a variant where it was.
        self.has_place = self.state.border == BorderPlace::GivenUp && self.from.is_none();
        std::mem::take(&mut self.used)
    }
}

/// What a state gets that wants a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// There is one, with this handle.
    Made(u64, Use),
    /// There is none, and a place for its custom border colour is taken if it has one.
    ToMake(Use),
    /// No place for its custom border colour.
    NoBorder,
}

/// What a create info led to before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// The place of its state.
    pub number: u32,
    /// What it asks of a view.
    pub needs: Bits,
    /// It was changed, or would have been but for the mode.
    pub changed: bool,
    /// What goes down instead of it.
    pub rewritten: Option<Words>,
}

/// What goes with a sampler.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Variants that nobody uses any more, to be destroyed.
    pub variants: Vec<Gone>,
    /// What it had of `maxCustomBorderColorSamplers`.
    pub border: BorderPlace,
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
    /// An empty one, for a device with this `maxCustomBorderColorSamplers`.
    pub fn new(max_custom_borders: u32) -> Self {
        let variants = Variants { borders: BorderPlaces::new(max_custom_borders), ..Variants::default() };
        Self { variants: Mutex::new(variants), ..Self::default() }
    }

    /// Counts one more sampler of `state` and returns the number of its place; `None` when numbers run out.
    pub fn acquire(&self, choices: &Choices, state: SharedState) -> Option<u32> {
        let mut index = lock(&self.index);
        let number = self.acquire_locked(choices, &mut index, state)?;
        index.samplers.add();
        Some(number)
    }

    /// Lets a sampler of place `from` have another state. Returns the number of its new place, and whether the sampler still has
    /// to be released from `from`: not where variants were chosen for it, which descriptors may hold.
    pub fn acquire_moved(&self, choices: &Choices, from: u32, state: SharedState) -> Option<(u32, bool)> {
        let mut index = lock(&self.index);
        let is_free = {
            let place = lock(self.places.get(from as usize)?);
            place.as_ref().is_some_and(|owned| owned.used.is_empty() && owned.from.is_none())
        };
        if !is_free {
            let own = Owned::new(Arc::new(state), false, Some(from));
            return Some((self.enter_own(choices, &mut index, own)?, false));
        }
        let number = self.acquire_locked(choices, &mut index, state)?;
        // It is one sampler, which is about to be released once.
        index.samplers.live += 1;
        Some((number, true))
    }

    fn acquire_locked(&self, choices: &Choices, index: &mut Index, state: SharedState) -> Option<u32> {
        let key = Shared::of(&state);
        let shareable = state.unknown.is_none();
        let known = if shareable { index.by_key.get(&key).copied() } else { None };
        let number = match known {
            Some(number) => number,
            None => {
                let number = self.place(choices, index, Owned::new(Arc::new(state), shareable, None))?;
                if shareable {
                    index.by_key.with_room().insert(key, number);
                }
                number
            }
        };
        index.enter(number)?;
        Some(number)
    }

    /// Counts one more sampler of the state that a create info with these words had, if it is still at its place.
    pub fn acquire_recent(&self, words: &Words) -> Option<Again> {
        let mut index = lock(&self.index);
        let value = index.recent.get(words);
        let changed = value as u32 & CHANGED != 0;
        let number = (value as u32 & !CHANGED).checked_sub(1)?;
        let life = *index.lives.get(number as usize)?;
        if life.generation != (value >> 32) as u32 {
            return None;
        }
        index.enter(number)?;
        index.samplers.add();
        let at = life.rewritten.checked_sub(1).filter(|_| changed && life.is_rewritten);
        let rewritten = at.and_then(|at| index.rewritten.get(at as usize).copied());
        Some(Again { number, needs: life.needs, changed, rewritten })
    }

    /// Remembers which place the create info with these words led to, and whether and into what it was changed.
    pub fn remember_recent(&self, words: &Words, number: u32, changed: bool, rewritten: Option<Words>) {
        let mut index = lock(&self.index);
        let index = &mut *index;
        let Some(life) = index.lives.get_mut(number as usize).filter(|_| number < CHANGED - 1) else { return };
        if let Some(rewritten) = rewritten {
            match index.rewritten.get_mut((life.rewritten as usize).wrapping_sub(1)) {
                // Another create info of this state, which differs in what is ignored and came to something else: one of them has
                // to be looked at each time.
                Some(own) if life.is_rewritten && *own != rewritten => return,
                Some(own) => *own = rewritten,
                None => {
                    index.rewritten.with_room().push(rewritten);
                    life.rewritten = index.rewritten.len() as u32;
                }
            }
            life.is_rewritten = true;
        }
        let place = (number + 1) | if changed { CHANGED } else { 0 };
        index.recent.set(words, (u64::from(life.generation) << 32) | u64::from(place));
    }

    /// Puts `owned` at a free place, or at that of the state that has been without a sampler for longest if there are many.
    fn place(&self, choices: &Choices, index: &mut Index, owned: Owned) -> Option<u32> {
        let (border, needs) = (owned.state.border, owned.state.needs);
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
            *life = Life { border, needs, is_rewritten: false, ..*life };
            return Some(number);
        }
        // The index is locked, so rows, places and lives stay in step.
        self.places.push(Mutex::new(Some(owned)))?;
        index.lives.with_room().push(Life { border, needs, ..Life::default() });
        choices.add_row()
    }

    /// Gives one sampler of place `number` a place of its own, where choices are made for it alone, and returns that.
    pub fn isolate(&self, choices: &Choices, number: u32) -> Option<u32> {
        let mut index = lock(&self.index);
        let own = {
            let place = lock(self.places.get(number as usize)?);
            let owned = place.as_ref()?;
            if index.lives.get(number as usize)?.live == 1 && !owned.shareable {
                return Some(number);
            }
            Owned::new(Arc::clone(&owned.state), false, Some(number))
        };
        self.enter_own(choices, &mut index, own)
    }

    /// A place for one sampler that stays counted where it was, and as one sampler and state.
    fn enter_own(&self, choices: &Choices, index: &mut Index, own: Owned) -> Option<u32> {
        let number = self.place(choices, index, own)?;
        index.lives.get_mut(number as usize)?.live += 1;
        Some(number)
    }

    /// Counts one sampler less. With the last one of a state its variants lose their use; those that nobody uses any more are
    /// returned.
    #[must_use]
    pub fn release(&self, choices: &Choices, number: u32) -> Released {
        let mut index = lock(&self.index);
        let index = &mut *index;
        let Some(life) = index.lives.get(number as usize).filter(|life| life.live > 0) else {
            return Released::default();
        };
        let mut out = Released { variants: Vec::new(), border: life.border };
        index.samplers.live -= 1;
        let (mut used, mut from) = self.leave(choices, index, number);
        while let Some(before) = from {
            let more;
            (more, from) = self.leave(choices, index, before);
            more.into_iter().for_each(|usage| used.with_room().push(usage));
        }
        if used.is_empty() {
            return out;
        }
        // Before any use is given back, so that the end of the device finds them all if there is no memory.
        out.variants = memory::vec(used.len());
        let mut variants = lock(&self.variants);
        out.variants.extend(used.into_iter().filter_map(|usage| variants.unuse(&usage)));
        out
    }

    /// Counts one sampler less at a place. Returns what the place used, if that was the last, and where else it is counted.
    fn leave(&self, choices: &Choices, index: &mut Index, number: u32) -> (Vec<Use>, Option<u32>) {
        let nothing = (Vec::new(), None);
        let Some(life) = index.lives.get_mut(number as usize).filter(|life| life.live > 0) else { return nothing };
        life.live -= 1;
        if life.live > 0 {
            return nothing;
        }
        let Some(place) = self.places.get(number as usize) else { return nothing };
        let mut place = lock(place);
        let Some(owned) = place.as_mut() else { return nothing };
        let (used, from) = (owned.clear(), owned.from);
        if from.is_none() {
            index.states.live -= 1;
        }
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
        (used, from)
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
    /// `variant` is the use of the variant that the choice stands for, which goes over to the state on success.
    /// Nothing is set when the place meanwhile has another state than `decided`, or no sampler: then nobody would take the choice
    /// back.
    pub fn publish(
        &self,
        choices: &Choices,
        (state, class): (u32, u32),
        decided: &Arc<SharedState>,
        choice: u64,
        variant: Option<Use>,
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
        if let Some(usage) = variant {
            if owned.used.iter().any(|other| other.key == usage.key) {
                // For another class as well: one use is enough, and it is not the last.
                let _ = lock(&self.variants).unuse(&usage);
                owned.has_place |= usage.cover == Some(Cover::Own);
            } else {
                owned.used.push(usage);
            }
        }
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

    /// A use of a variant for the state at a place, and what covers it if it has a custom border colour (`custom`).
    pub fn reserve(&self, number: u32, decided: &Arc<SharedState>, key: StateKey, custom: bool) -> Reserved {
        let Some(place) = self.places.get(number as usize) else { return Reserved::NoBorder };
        let mut place = lock(place);
        let Some(owned) = place.as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided)) else {
            return Reserved::NoBorder;
        };
        let is_used = owned.used.iter().any(|usage| usage.key == key);
        let mut variants = lock(&self.variants);
        let Variants { by_key, borders, .. } = &mut *variants;
        let made = by_key.get_mut(&key);
        let mut cover = None;
        if custom && !is_used {
            cover = borders.cover(made.as_ref().map(|variant| variant.shared), owned.has_place);
            if cover.is_none() {
                return Reserved::NoBorder;
            }
            owned.has_place &= cover != Some(Cover::Own);
        }
        let usage = Use { key, cover };
        match made {
            Some(variant) => {
                variant.add(&usage);
                Reserved::Made(variant.handle, usage)
            }
            None => Reserved::ToMake(usage),
        }
    }

    /// Adds a variant that was just created. If another thread was faster its handle is returned instead, with the use counted
    /// there, and the given one has to be destroyed, as it has to be when there is no memory and nothing is returned.
    pub fn add_variant(&self, usage: &Use, handle: u64, custom_border: bool) -> Option<(u64, bool)> {
        let mut variants = lock(&self.variants);
        let Variants { by_key, borders, census } = &mut *variants;
        if let Some(variant) = by_key.get_mut(&usage.key) {
            if usage.cover == Some(Cover::Shared) && variant.shared > 0 {
                borders.unshare();
            }
            variant.add(usage);
            return Some((variant.handle, false));
        }
        by_key.try_room().ok()?;
        let mut variant = Variant { handle, uses: 0, shared: 0, custom_border };
        variant.add(usage);
        by_key.insert(usage.key, variant);
        census.add();
        Some((handle, true))
    }

    /// Gives a use back that was not published; returns the variant to destroy when it was the last.
    #[must_use]
    pub fn drop_use(&self, number: u32, decided: &Arc<SharedState>, usage: &Use) -> Option<Gone> {
        self.uncover(number, decided, usage);
        lock(&self.variants).unuse(usage)
    }

    /// Gives back what was reserved for a variant that was not made; its place for a custom border colour is given back apart.
    pub fn abandon(&self, number: u32, decided: &Arc<SharedState>, usage: &Use) {
        self.uncover(number, decided, usage);
        if usage.cover == Some(Cover::Shared) {
            lock(&self.variants).borders.unshare();
        }
    }

    fn uncover(&self, number: u32, decided: &Arc<SharedState>, usage: &Use) {
        if usage.cover == Some(Cover::Own)
            && let Some(place) = self.places.get(number as usize)
            && let Some(owned) = lock(place).as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided))
        {
            owned.has_place = true;
        }
    }

    /// Runs `body` on the places for custom border colours.
    pub fn with_borders<R>(&self, body: impl FnOnce(&mut BorderPlaces) -> R) -> R {
        body(&mut lock(&self.variants).borders)
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
            border: BorderPlace::None,
        }
    }

    fn plain(key: StateKey) -> Use {
        Use { key, cover: None }
    }

    #[test]
    fn equal_states_share_a_place_and_variants_die_with_the_last() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let a = cache.acquire(&choices, state(0.0)).unwrap();
        assert_eq!(cache.acquire(&choices, state(0.0)), Some(a));
        let b = cache.acquire(&choices, state(1.0)).unwrap();
        assert_ne!(a, b);
        let key = state(0.0).original.key();
        assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
        assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), 77, Some(plain(key))), (77, true));
        assert_eq!(cache.publish(&choices, (a, 9), &cache.state(a).unwrap(), KEEP, None), (77, false));
        assert_eq!(cache.reserve(b, &cache.state(b).unwrap(), key, false), Reserved::Made(77, plain(key)));
        assert_eq!(cache.publish(&choices, (b, 0), &cache.state(b).unwrap(), 77, Some(plain(key))), (77, true));
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
            let rewritten = (n % 2 == 1).then(|| words(n + 1));
            cache.remember_recent(&words(n), number, n % 2 == 1, rewritten);
            let again = Some(Again { number, needs: Bits::NONE, changed: n % 2 == 1, rewritten });
            assert_eq!(cache.acquire_recent(&words(n)), again);
            assert!(
                cache.release(&choices, number).variants.is_empty()
                    && cache.release(&choices, number).variants.is_empty()
            );
            assert_eq!(cache.acquire_recent(&words(n)), again, "idle, but there");
            assert!(cache.release(&choices, number).variants.is_empty());
            numbers.insert(number);
        }
        assert_eq!(numbers.len(), IDLE + 1);
        assert_eq!(cache.acquire_recent(&words(0)), None, "another state is at its place");
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
        assert_eq!(cache.samplers().peak, 2);
    }

    #[test]
    fn create_infos_of_one_state_keep_what_each_came_to() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let words = |n: u64| [n, 0, 0, 0, 0, 0, 0, 0];
        let number = cache.acquire(&choices, state(0.0)).unwrap();
        // They differ in what is ignored: the first is legal, the second changed, the third changed into something else.
        cache.remember_recent(&words(1), number, false, None);
        cache.remember_recent(&words(2), number, true, Some(words(20)));
        cache.remember_recent(&words(3), number, true, Some(words(30)));
        let came_to = |n| cache.acquire_recent(&words(n)).map(|again| (again.changed, again.rewritten));
        assert_eq!(came_to(1), Some((false, None)));
        assert_eq!(came_to(2), Some((true, Some(words(20)))));
        assert_eq!(came_to(3), None, "looked at each time");
        // Another state at the same place starts anew.
        for _ in 0..3 {
            assert!(cache.release(&choices, number).variants.is_empty());
        }
        for n in 1..=IDLE as u32 {
            let other = cache.acquire(&choices, state(n as f32)).unwrap();
            assert!(cache.release(&choices, other).variants.is_empty());
        }
        let other = cache.acquire(&choices, state(-1.0)).unwrap();
        assert_eq!(other, number);
        cache.remember_recent(&words(4), other, true, None);
        assert_eq!(came_to(4), Some((true, None)), "changed in mode audit");
    }

    #[test]
    fn samplers_with_a_place_for_a_custom_border_do_not_share_with_those_without() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let with = cache.acquire(&choices, SharedState { border: BorderPlace::Held, ..state(0.0) }).unwrap();
        let without = cache.acquire(&choices, state(0.0)).unwrap();
        let holds = |place| cache.state(place).unwrap().border;
        assert_eq!(
            (holds(with), holds(without)),
            (BorderPlace::Held, BorderPlace::None),
            "each gives back what it took"
        );
        assert!(
            cache.release(&choices, with).variants.is_empty() && cache.release(&choices, without).variants.is_empty()
        );
        assert_eq!(
            cache.acquire(&choices, SharedState { border: BorderPlace::Held, ..state(0.0) }).map(holds),
            Some(BorderPlace::Held)
        );
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
        assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
        assert_eq!(
            cache.publish(&choices, (shared, 3), &cache.state(shared).unwrap(), 77, Some(plain(key))),
            (77, true)
        );
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
        assert_eq!((cache.states().live, cache.samplers().live), (1, 1), "it is counted once");
        let again = cache.acquire(&choices, state(1.0)).unwrap();
        assert_ne!(again, own);
        assert!(cache.release(&choices, own).variants.is_empty() && cache.release(&choices, again).variants.is_empty());
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
    }

    #[test]
    fn the_place_of_an_isolated_sampler_is_given_to_no_other_state() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let shared = cache.acquire(&choices, state(0.0)).unwrap();
        let own = cache.isolate(&choices, shared).unwrap();
        for n in 0..2 * IDLE as u32 {
            let other = cache.acquire(&choices, state(1.0 + n as f32)).unwrap();
            // A thread that looked the sampler up before it moved still asks for choices by this number.
            assert_ne!(other, shared, "a stale number meets another state");
            assert!(cache.release(&choices, other).variants.is_empty());
        }
        assert!(cache.release(&choices, own).variants.is_empty());
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour")]
    fn no_variant_is_lost_while_a_sampler_is_isolated() {
        use std::sync::Barrier;
        const ROUNDS: u32 = 2000;
        const CLASSES: u32 = 64;
        let key = |class: u32| state(1.0 + class as f32).original.key();
        let start = Barrier::new(2);
        for round in 0..ROUNDS {
            let (cache, choices) = (Cache::default(), Choices::default());
            let shared = cache.acquire(&choices, state(0.0)).unwrap();
            let decided = cache.state(shared).unwrap();
            let (mut gone, published, own) = std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let (mut gone, mut published) = (Vec::new(), 0);
                    start.wait();
                    for class in 0..CLASSES {
                        let (handle, key) = (u64::from(class) + 1, key(class));
                        let usage = plain(key);
                        assert_eq!(cache.add_variant(&usage, handle, true), Some((handle, true)));
                        if cache.publish(&choices, (shared, class), &decided, handle, Some(usage)).1 {
                            published += 1;
                        } else {
                            gone.extend(cache.drop_use(shared, &decided, &usage));
                        }
                    }
                    (gone, published)
                });
                start.wait();
                // So that it falls on another part of the writer's work in each round.
                (0..round % 50 * 40).for_each(|_| std::hint::spin_loop());
                let own = cache.isolate(&choices, shared).unwrap();
                let (gone, published) = writer.join().unwrap();
                (gone, published, own)
            });
            assert!(gone.len() + published as usize == CLASSES as usize);
            gone.extend(cache.release(&choices, own).variants);
            assert_eq!(gone.len(), CLASSES as usize, "round {round}: what is not handed back is never destroyed");
            assert_eq!(cache.variants().live, 0);
        }
    }

    #[test]
    fn a_sampler_that_moves_takes_its_variants_along() {
        let (cache, choices) = (Cache::default(), Choices::default());
        let key = state(0.0).original.key();
        let from = cache.acquire(&choices, state(0.0)).unwrap();
        assert_eq!(cache.add_variant(&plain(key), 77, false), Some((77, true)));
        assert_eq!(cache.publish(&choices, (from, 3), &cache.state(from).unwrap(), 77, Some(plain(key))), (77, true));
        let named = || SharedState { rules: 1, ..state(0.0) };
        let (to, free) = cache.acquire_moved(&choices, from, named()).unwrap();
        assert_eq!(choices.choice(to, 3), UNDECIDED, "choices are made anew");
        assert_eq!((cache.samplers().created, cache.samplers().live, cache.states().live), (1, 1, 1));
        assert!(to != from && !free && !cache.is_shareable(to), "descriptors may hold what was chosen for it");
        let (again, free) = cache.acquire_moved(&choices, to, SharedState { rules: 3, ..state(0.0) }).unwrap();
        assert!(again != to && !free);
        assert_eq!(cache.release(&choices, again).variants, [Gone { handle: 77, custom_border: false }]);
        // Without a variant it joins others of its new state.
        let from = cache.acquire(&choices, state(0.0)).unwrap();
        let other = cache.acquire(&choices, named()).unwrap();
        assert_eq!(cache.acquire_moved(&choices, from, named()), Some((other, true)));
        for number in [from, other, other] {
            assert!(cache.release(&choices, number).variants.is_empty());
        }
        assert_eq!((cache.states().live, cache.samplers().live), (0, 0));
    }

    /// A state whose base gave a custom border colour up.
    fn given_up(bias: f32) -> SharedState {
        SharedState { border: BorderPlace::GivenUp, ..state(bias) }
    }

    #[test]
    fn the_loser_of_a_race_gives_its_sampler_back() {
        let (cache, choices) = (Cache::new(1024), Choices::default());
        let key = state(0.0).original.key();
        let [a, b] = [0.0, 1.0].map(|bias| cache.acquire(&choices, state(bias)).unwrap());
        let [first, second] = [a, b].map(|number| {
            let Reserved::ToMake(usage) = cache.reserve(number, &cache.state(number).unwrap(), key, true) else {
                panic!("there is a share");
            };
            usage
        });
        assert_eq!(cache.with_borders(|borders| borders.taken()), 2, "both are asked for");
        assert_eq!(cache.add_variant(&first, 1, true), Some((1, true)));
        assert_eq!(cache.add_variant(&second, 2, true), Some((1, false)));
        cache.with_borders(BorderPlaces::give_back);
        assert_eq!(cache.drop_use(b, &cache.state(b).unwrap(), &second), None);
        let gone = Gone { handle: 1, custom_border: true };
        assert_eq!(cache.drop_use(a, &cache.state(a).unwrap(), &first), Some(gone));
    }

    #[test]
    fn a_state_covers_one_variant_by_the_place_that_it_gave_up() {
        let (cache, choices) = (Cache::new(2), Choices::default());
        let [one, two] = [1.0, 2.0].map(|bias| state(bias).original.key());
        let make = |number: u32, class: u32, key: StateKey, handle: u64| {
            let decided = cache.state(number).unwrap();
            let (handle, usage) = match cache.reserve(number, &decided, key, true) {
                Reserved::Made(handle, usage) => (handle, usage),
                Reserved::ToMake(usage) => (cache.add_variant(&usage, handle, true).unwrap().0, usage),
                Reserved::NoBorder => return None,
            };
            assert_eq!(cache.publish(&choices, (number, class), &decided, handle, Some(usage)), (handle, true));
            Some(handle)
        };
        cache.with_borders(|borders| (borders.give_up(), borders.give_up()));
        let [a, b] = [given_up(10.0), given_up(11.0)].map(|state| cache.acquire(&choices, state).unwrap());
        assert_eq!(make(a, 0, one, 77), Some(77));
        assert_eq!(make(a, 1, one, 0), Some(77), "the same for another class");
        assert_eq!(make(a, 2, two, 78), None, "another one would be the application's place");
        let own = cache.isolate(&choices, a).unwrap();
        assert_eq!(make(own, 0, two, 78), None, "it is the same sampler, whose place is used");
        assert_eq!(make(b, 0, one, 0), Some(77), "each of them may be the last");
        assert_eq!(make(b, 1, two, 78), None);
        assert!(cache.release(&choices, own).variants.is_empty());
        assert_eq!(cache.release(&choices, b).variants, [Gone { handle: 77, custom_border: true }]);
        cache.with_borders(BorderPlaces::give_back);
        // The place is there again with a new sampler.
        assert_eq!(cache.acquire(&choices, given_up(10.0)), Some(a));
        let decided = cache.state(a).unwrap();
        let Reserved::ToMake(usage) = cache.reserve(a, &decided, two, true) else { panic!("it has a place") };
        assert_eq!(cache.reserve(a, &decided, one, true), Reserved::NoBorder);
        cache.abandon(a, &decided, &usage);
        cache.with_borders(BorderPlaces::give_back);
        assert_eq!(make(a, 0, two, 79), Some(79));
        let released = cache.release(&choices, a);
        assert_eq!((released.variants.len(), released.border), (1, BorderPlace::GivenUp));
    }
}
