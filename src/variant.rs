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
use crate::decide::{Bits, StateKey};
use crate::outcome::Kept;
use crate::table::{AppendVec, lock};

/// A state that samplers have, or had a while ago.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// What meetings with views are decided from.
    pub kept: Kept,
    /// What it asks of a view.
    pub needs: Bits,
    /// Fingerprint of what the application asked for, where that is not what is kept of it.
    pub given: Option<u64>,
    /// A chained structure the layer does not understand: such a state is not shared and has no variants.
    pub unknown: Option<i32>,
    /// The overrides that match its samplers, one bit each.
    pub overrides: u64,
    /// What each of its samplers has of `maxCustomBorderColorSamplers`.
    pub border: BorderPlace,
}

impl SharedState {
    /// Fingerprint of what the application asked for. Computed when it is wanted, which is rarely: creating a sampler must be
    /// cheap.
    pub fn fingerprint(&self) -> u64 {
        self.given.unwrap_or_else(|| self.kept.original.fingerprint())
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
    /// The row of its state.
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
    /// One for each row of the [`Choices`]. Rows are never freed, only reused, so that a stale number is harmless.
    rows: AppendVec<Mutex<Option<Owned>>>,
    index: Mutex<Index>,
    variants: Mutex<Variants>,
}

impl Cache {
    /// An empty one, for a device with this `maxCustomBorderColorSamplers`.
    pub fn new(max_custom_borders: u32) -> Self {
        let variants = Variants { borders: BorderPlaces::new(max_custom_borders), ..Variants::default() };
        Self { variants: Mutex::new(variants), ..Self::default() }
    }

    /// Counts one more sampler of `state` and returns the number of its row; `None` when numbers run out.
    pub fn acquire(&self, choices: &Choices, state: SharedState) -> Option<u32> {
        let mut index = lock(&self.index);
        let number = self.acquire_locked(choices, &mut index, state)?;
        index.samplers.add();
        Some(number)
    }

    /// Lets a sampler of row `from` have another state. Returns the number of its new row, and whether the sampler still has
    /// to be released from `from`: not where variants were chosen for it, which descriptors may hold.
    pub fn acquire_moved(&self, choices: &Choices, from: u32, state: SharedState) -> Option<(u32, bool)> {
        let mut index = lock(&self.index);
        let is_free = {
            let row = lock(self.rows.get(from as usize)?);
            row.as_ref().is_some_and(|owned| owned.used.is_empty() && owned.from.is_none())
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
        let hash = key.hash();
        let before = index.by_hash.get(&hash).copied().filter(|_| state.unknown.is_none());
        let number = match before {
            Some(number) if self.state(number).is_some_and(|other| Shared::of(&other) == key) => number,
            // One of another state with the same hash has a row of its own.
            _ => {
                let shareable = state.unknown.is_none() && before.is_none();
                let number = self.put(choices, index, Owned::new(Arc::new(state), shareable, None))?;
                if shareable {
                    index.by_hash.with_room().insert(hash, number);
                    index.lives.get_mut(number as usize)?.hash = hash;
                }
                number
            }
        };
        index.enter(number)?;
        Some(number)
    }

    /// Counts one more sampler of the state that a create info with these words had, if it is still in its row.
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

    /// Remembers which row the create info with these words led to, and whether and into what it was changed.
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
        let row = (number + 1) | if changed { CHANGED } else { 0 };
        index.recent.set(words, (u64::from(life.generation) << 32) | u64::from(row));
    }

    /// Puts `owned` into a free row, or into that of the state that has been without a sampler for longest if there are many.
    fn put(&self, choices: &Choices, index: &mut Index, owned: Owned) -> Option<u32> {
        let (border, needs) = (owned.state.border, owned.state.needs);
        // Rows that are not shared are free once they are left.
        let is_touched = !owned.shareable || border != BorderPlace::None;
        let mut free = index.free.pop();
        while free.is_none() && index.idle.len() > IDLE {
            let number = index.idle.pop_front()?;
            let life = index.lives.get_mut(number as usize)?;
            life.idle = false;
            if life.live > 0 {
                continue;
            }
            life.generation = life.generation.wrapping_add(1);
            if lock(self.rows.get(number as usize)?).take().is_some() {
                index.by_hash.remove(&life.hash);
            }
            choices.clear(number);
            free = Some(number);
        }
        if let Some(number) = free {
            *lock(self.rows.get(number as usize)?) = Some(owned);
            let life = index.lives.get_mut(number as usize)?;
            *life = Life { border, needs, is_rewritten: false, is_touched, ..*life };
            return Some(number);
        }
        // The index is locked, so choices, rows and lives stay in step.
        self.rows.push(Mutex::new(Some(owned)))?;
        index.lives.with_room().push(Life { border, needs, is_touched, ..Life::default() });
        choices.add_row()
    }

    /// Gives one sampler of row `number` a row of its own, where choices are made for it alone, and returns that.
    pub fn isolate(&self, choices: &Choices, number: u32) -> Option<u32> {
        let mut index = lock(&self.index);
        let own = {
            let row = lock(self.rows.get(number as usize)?);
            let owned = row.as_ref()?;
            if index.lives.get(number as usize)?.live == 1 && !owned.shareable {
                return Some(number);
            }
            Owned::new(Arc::clone(&owned.state), false, Some(number))
        };
        self.enter_own(choices, &mut index, own)
    }

    /// A row for one sampler that stays counted where it was, and as one sampler and state.
    fn enter_own(&self, choices: &Choices, index: &mut Index, own: Owned) -> Option<u32> {
        let number = self.put(choices, index, own)?;
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

    /// Counts one sampler less in a row. Returns what the row used, if that was the last, and where else it is counted.
    #[inline]
    fn leave(&self, choices: &Choices, index: &mut Index, number: u32) -> (Vec<Use>, Option<u32>) {
        let nothing = (Vec::new(), None);
        let Some(life) = index.lives.get_mut(number as usize).filter(|life| life.live > 0) else { return nothing };
        life.live -= 1;
        if life.live > 0 {
            return nothing;
        }
        if !life.is_touched {
            index.states.live -= 1;
            if !life.idle {
                life.idle = true;
                index.idle.with_room().push_back(number);
            }
            return nothing;
        }
        let Some(row) = self.rows.get(number as usize) else { return nothing };
        let mut row = lock(row);
        let Some(owned) = row.as_mut() else { return nothing };
        life.is_touched = !owned.shareable || life.border != BorderPlace::None;
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
            *row = None;
            index.free.with_room().push(number);
        }
        choices.clear(number);
        (used, from)
    }

    /// Counts a sampler whose handle the driver had returned before, and which therefore has no row.
    pub fn count_duplicate(&self, more: bool) {
        let mut index = lock(&self.index);
        if more {
            // Its creation was counted when it was given a row, which it has given back.
            index.samplers.live += 1;
        } else {
            index.samplers.live -= 1;
        }
    }

    /// Takes back the count of a creation that failed.
    pub fn uncount_created(&self) {
        lock(&self.index).samplers.created -= 1;
    }

    /// Whether other samplers of the same state may be in a row.
    pub fn is_shareable(&self, number: u32) -> bool {
        self.rows.get(number as usize).is_some_and(|row| lock(row).as_ref().is_some_and(|owned| owned.shareable))
    }

    /// The state in a row.
    pub fn state(&self, number: u32) -> Option<Arc<SharedState>> {
        lock(self.rows.get(number as usize)?).as_ref().map(|owned| Arc::clone(&owned.state))
    }

    /// Sets the choice for (state, view class) unless there is one; returns the choice in force and whether it is this one.
    ///
    /// `variant` is the use of the variant that the choice stands for, which goes over to the state on success.
    /// Nothing is set when the row meanwhile has another state than `decided`, or no sampler: then nobody would take the choice
    /// back.
    pub fn publish(
        &self,
        choices: &Choices,
        (state, class): (u32, u32),
        decided: &Arc<SharedState>,
        choice: u64,
        variant: Option<Use>,
    ) -> (u64, bool) {
        let mut index = lock(&self.index);
        let Some(life) = index.lives.get_mut(state as usize).filter(|life| life.live > 0) else { return (KEEP, false) };
        life.is_touched = true;
        let Some(row) = self.rows.get(state as usize) else { return (KEEP, false) };
        let mut row = lock(row);
        let Some(owned) = row.as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided)) else {
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

    /// Remembers that nothing is left to be said about immutable samplers of a state with views of a class, unless the row
    /// meanwhile has another state than `decided`.
    pub fn settle(&self, choices: &Choices, (state, class): (u32, u32), decided: &Arc<SharedState>) {
        // Rows get other states under this lock.
        let mut index = lock(&self.index);
        if self.state(state).is_some_and(|now| Arc::ptr_eq(&now, decided))
            && let Some(life) = index.lives.get_mut(state as usize)
        {
            life.is_touched = true;
            choices.settle(state, class);
        }
    }

    /// A use of a variant for the state in a row, and what covers it if it has a custom border colour (`custom`).
    pub fn reserve(&self, number: u32, decided: &Arc<SharedState>, key: StateKey, custom: bool) -> Reserved {
        let Some(row) = self.rows.get(number as usize) else { return Reserved::NoBorder };
        let mut row = lock(row);
        let Some(owned) = row.as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided)) else {
            return Reserved::NoBorder;
        };
        let is_used = owned.used.iter().any(|usage| usage.key == key);
        let mut variants = lock(&self.variants);
        let Variants { by_key, borders, .. } = &mut *variants;
        let made = by_key.get_mut(&key);
        let mut cover = None;
        if custom && !is_used {
            cover = borders.cover(made.as_ref().map(|variant| variant.shared), &mut owned.has_place);
            if cover.is_none() {
                return Reserved::NoBorder;
            }
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
            && let Some(row) = self.rows.get(number as usize)
            && let Some(owned) = lock(row).as_mut().filter(|owned| Arc::ptr_eq(&owned.state, decided))
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
mod tests;
