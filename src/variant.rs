//! Sampler states that live samplers share, the choice made for each view class, and the samplers made for them.
//!
//! Three levels, as in SwiftShader's sampler caches: a descriptor write first finds its sampler's *state number* and its view's
//! *class number* in the flat tables, then reads the choice for that pair from a small array, and only a pair never seen before
//! takes the locks below.

mod again;
mod index;
mod made;
mod sharing;

use std::ops::Deref;
use std::sync::{Arc, Mutex};

pub use samplin_hot::choices::{KEEP, UNDECIDED};
use samplin_hot::memory::{self, Room};
use samplin_hot::recent::{Words, mixed};
use samplin_hot::{Gate as GateOf, Recent};

pub use self::index::Index;
use self::index::{CHANGED, IDLE, Row, RowState, SharedKey, hash_of};
pub use self::made::{Census, Gone, VariantUse};
use self::made::{Variant, Variants};
use crate::budget::{BorderPlace, BorderPlaces, Cover};
use crate::decide::{ConflictBits, StateKey};
use crate::outcome::Kept;
use crate::sampler_info;
use crate::table::lock;

/// The gate of a device: rows of states are written under the lock of its samplers, so that creating a sampler takes one.
pub type Gate = GateOf<Index>;

/// A state that samplers have, or had a while ago.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// What meetings with views are decided from.
    pub kept: Kept,
    /// What it asks of a view.
    pub needs: ConflictBits,
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

/// A state as it was found in its row, which may have got another one since.
#[derive(Clone, Debug)]
pub struct FoundState {
    state: Arc<SharedState>,
    generation: u32,
}

impl Deref for FoundState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.state
    }
}

/// What a state gets that wants a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// There is one, with this handle.
    Made(u64, VariantUse),
    /// There is none, and a place for its custom border colour is taken if it has one.
    ToMake(VariantUse),
    /// No place for its custom border colour.
    NoBorder,
}

/// What a create info led to before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again(u64);

impl Again {
    /// The row of its state.
    #[inline(always)]
    pub fn number(self) -> Option<u32> {
        (self.0 as u32 & !CHANGED).checked_sub(1)
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether it was changed, or would have been but for the mode.
    #[inline(always)]
    pub fn is_changed(self) -> bool {
        self.0 as u32 & CHANGED != 0
    }
}

/// A sampler that was entered.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// The row of its state.
    pub number: u32,
    /// Whether its handle is. Else it still has to be [released](Rows::release) from the row.
    pub is_new: bool,
    /// Samplers now.
    pub live: u32,
}

/// What goes with a sampler.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Variants that nobody uses any more, to be destroyed.
    pub variants: Vec<Gone>,
    /// What it had of `maxCustomBorderColorSamplers`.
    pub border: BorderPlace,
}

/// The states and variants of one device. What is kept of states lies under the lock of the gate's samplers, and the choices made for
/// them in the gate, where descriptors are looked at: [`Cache::on`] brings them together.
#[derive(Default)]
pub struct Cache {
    /// By create info: generation of the row in the high half; row + 1, and [`CHANGED`], in the low one.
    recent: Recent,
    variants: Mutex<Variants>,
}

/// The states of a device with its gate.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    cache: &'a Cache,
    gate: &'a Gate,
}

impl Rows<'_> {
    /// Enters a sampler of `state`; `None` when numbers run out.
    pub fn add(self, sampler: u64, state: SharedState) -> Option<Added> {
        let mut samplers = self.gate.write_samplers();
        let needs = state.needs;
        let index = samplers.with();
        let number = self.acquire(index, state)?;
        index.samplers.add();
        let live = index.samplers.live;
        Some(Added { number, is_new: samplers.add(sampler, needs.0, number), live })
    }

    /// Enters a sampler whose create info has these words, which reached the driver unchanged and of which nothing is to be said, and
    /// remembers it; `None` when numbers run out.
    pub fn add_plain(self, sampler: u64, words: &Words, needs: ConflictBits) -> Option<Added> {
        let key = sampler_info::key_of(words);
        let mut samplers = self.gate.write_samplers();
        let index = samplers.with();
        let number = self.acquire_plain(index, words, &key, needs)?;
        index.samplers.add();
        let (live, generation) = (index.samplers.live, index.row(number)?.generation);
        let is_new = samplers.add(sampler, needs.0, number);
        if is_new {
            // Whoever finds it once the row has another state sees so by the generation.
            self.cache.recent.set(words, (u64::from(generation) << 32) | u64::from(number + 1));
        }
        Some(Added { number, is_new, live })
    }

    fn acquire_plain(self, index: &mut Index, words: &Words, key: &Words, needs: ConflictBits) -> Option<u32> {
        let hash = mixed(key);
        let before = index.by_hash.get(&hash).copied();
        let number = match before {
            Some(number) if index.row(number)?.has_key(key) => number,
            // As in `acquire`.
            _ => self.put(index, Row::plain(words, needs, before.is_none()), hash)?,
        };
        index.enter(number)?;
        Some(number)
    }

    /// Lets a sampler of row `from` have another state. Returns the number of its new row, and whether the sampler still has
    /// to be released from `from`: not where variants were chosen for it, which descriptors may hold.
    pub fn acquire_moved(self, from: u32, state: SharedState) -> Option<(u32, bool)> {
        let mut samplers = self.gate.write_samplers();
        let index = samplers.with();
        let row = index.row(from)?;
        if !row.uses().is_empty() || row.from != 0 {
            return Some((self.enter_own(index, Row::new(state, false, Some(from)))?, false));
        }
        let number = self.acquire(index, state)?;
        // It is one sampler, which is about to be released once.
        index.samplers.live += 1;
        Some((number, true))
    }

    #[inline(never)]
    fn acquire(self, index: &mut Index, state: SharedState) -> Option<u32> {
        let key = SharedKey::of(&state);
        let hash = hash_of(&state);
        let before = index.by_hash.get(&hash).copied().filter(|_| state.unknown.is_none());
        let other = before.and_then(|number| index.row(number)?.found());
        let number = match before {
            Some(number) if other.is_some_and(|other| SharedKey::of(&other) == key) => number,
            // One of another state with the same hash has a row of its own.
            _ => {
                let is_shareable = state.unknown.is_none() && before.is_none();
                self.put(index, Row::new(state, is_shareable, None), hash)?
            }
        };
        index.enter(number)?;
        Some(number)
    }

    /// Enters a sampler whose create info led [here](Cache::again) before, if its state is still in that row and that takes no memory, nor
    /// a place that variants may hold. Whether it did.
    #[inline(always)]
    pub fn add_again(self, sampler: u64, again: Again) -> Option<bool> {
        let mut samplers = self.gate.write_samplers();
        let has_room = samplers.has_room();
        let index = samplers.with();
        let number = again.number()?;
        let has_room = has_room && index.has_places();
        let row = index.row(number).filter(|row| has_room && row.generation == again.generation())?;
        let needs = row.needs;
        index.enter(number)?;
        index.samplers.add();
        Some(samplers.add(sampler, needs.0, number))
    }

    /// What reached the driver instead of a create info that was seen before; outer `None` if its state is not in its row any more.
    pub fn rewritten(self, again: Again) -> Option<Option<Words>> {
        let mut samplers = self.gate.write_samplers();
        let index = samplers.with();
        let row = index.row(again.number()?).filter(|row| row.generation == again.generation())?;
        let at = row.rewritten.checked_sub(1).filter(|_| again.is_changed() && row.is_rewritten);
        Some(at.and_then(|at| index.rewritten.get(at as usize).copied()))
    }

    /// Remembers which row the create info with these words led to, and whether and into what it was changed.
    pub fn remember_recent(self, words: &Words, number: u32, changed: bool, rewritten: Option<Words>) {
        let mut samplers = self.gate.write_samplers();
        let Index { rows, rewritten: all, .. } = samplers.with();
        let Some(row) = rows.get_mut(number as usize) else { return };
        if let Some(rewritten) = rewritten {
            match all.get_mut((row.rewritten as usize).wrapping_sub(1)) {
                // Another create info of this state, which differs in what is ignored and came to something else: one of them has
                // to be looked at each time.
                Some(own) if row.is_rewritten && *own != rewritten => return,
                Some(own) => *own = rewritten,
                None => {
                    all.with_room().push(rewritten);
                    row.rewritten = all.len() as u32;
                }
            }
            row.is_rewritten = true;
        }
        let value = (number + 1) | if changed { CHANGED } else { 0 };
        self.cache.recent.set(words, (u64::from(row.generation) << 32) | u64::from(value));
    }

    /// Puts a state into a free row, or into that of the state that has been without a sampler for longest if there are many. It is found
    /// by its hash if it is shareable.
    #[inline(never)]
    fn put(self, index: &mut Index, mut new: Row, hash: u64) -> Option<u32> {
        let mut free = index.free.pop();
        while free.is_none() && index.idle.len() > IDLE {
            let number = index.idle.pop_front()?;
            let row = index.row(number)?;
            row.is_idle = false;
            if row.live > 0 {
                continue;
            }
            row.generation = row.generation.wrapping_add(1);
            row.state = RowState::Nothing;
            let hash = row.hash;
            index.by_hash.remove(&hash);
            self.gate.choices.clear(number);
            free = Some(number);
        }
        let is_shareable = new.is_shareable;
        new.hash = hash;
        let number = match free {
            Some(number) => {
                let row = index.row(number)?;
                (new.generation, new.rewritten) = (row.generation, row.rewritten);
                *row = new;
                number
            }
            None => index.push(new)?,
        };
        if is_shareable {
            index.by_hash.with_room().insert(hash, number);
        }
        Some(number)
    }

    /// Gives one sampler of row `number` a row of its own, where choices are made for it alone, and returns that.
    pub fn isolate(self, number: u32) -> Option<u32> {
        let mut samplers = self.gate.write_samplers();
        let index = samplers.with();
        let row = index.row(number)?;
        let state = row.found()?;
        if row.live == 1 && !row.is_shareable {
            return Some(number);
        }
        self.enter_own(index, Row::new((*state).clone(), false, Some(number)))
    }

    /// A row for one sampler that stays counted where it was, and as one sampler and state.
    fn enter_own(self, index: &mut Index, own: Row) -> Option<u32> {
        let number = self.put(index, own, 0)?;
        index.row(number)?.live += 1;
        Some(number)
    }

    /// Forgets a sampler that nothing hangs on but its count in its row. Whether that was so, and all that there is to do; takes no memory.
    #[inline(always)]
    pub fn remove_plain(self, sampler: u64) -> bool {
        let mut samplers = self.gate.write_samplers();
        let Some((place, word)) = samplers.find(sampler).filter(|_| !samplers.has_duplicates()) else { return false };
        let number = word as u32;
        let index = samplers.with();
        let has_room = index.idle.len() < index.idle.capacity();
        let Some(row) = index.row(number - 1).filter(|row| !row.is_touched && row.live > 0) else { return false };
        if row.live == 1 {
            if !row.is_idle && !has_room {
                return false;
            }
            row.live = 0;
            index.rest(number - 1);
        } else {
            row.live -= 1;
        }
        index.samplers.live -= 1;
        samplers.remove_at(place, sampler, word);
        true
    }

    /// Forgets a sampler. `None` where its handle exists once more, or has no row.
    pub fn remove(self, sampler: u64) -> Option<Released> {
        let mut samplers = self.gate.write_samplers();
        let word = samplers.remove(sampler);
        let index = samplers.with();
        let Some(word) = word else {
            // It has no row.
            index.samplers.live -= 1;
            return None;
        };
        Some(self.release_from(index, (word as u32).checked_sub(1)?))
    }

    /// Counts one sampler less. With the last one of a state its variants lose their use; those that nobody uses any more are
    /// returned.
    #[must_use]
    pub fn release(self, number: u32) -> Released {
        self.release_from(self.gate.write_samplers().with(), number)
    }

    #[inline(never)]
    fn release_from(self, index: &mut Index, number: u32) -> Released {
        let Some(row) = index.row(number).filter(|row| row.live > 0) else { return Released::default() };
        let mut out = Released { variants: Vec::new(), border: row.border };
        index.samplers.live -= 1;
        let (mut used, mut from) = self.leave(index, number);
        while let Some(before) = from {
            let more;
            (more, from) = self.leave(index, before);
            more.into_iter().for_each(|usage| used.with_room().push(usage));
        }
        if used.is_empty() {
            return out;
        }
        let mut variants = lock(&self.cache.variants);
        // Before any use is given back, so that the end of the device finds them all if there is no memory.
        out.variants = memory::vec(used.len() + variants.unused());
        out.variants.extend(used.into_iter().filter_map(|usage| variants.unuse(&usage)));
        out.variants.extend(variants.take_unused());
        out
    }

    /// Counts one sampler less in a row. Returns what the row used, if that was the last, and where else it is counted.
    fn leave(self, index: &mut Index, number: u32) -> (Vec<VariantUse>, Option<u32>) {
        let nothing = (Vec::new(), None);
        let Some(row) = index.row(number).filter(|row| row.live > 0) else { return nothing };
        row.live -= 1;
        if row.live > 0 {
            return nothing;
        }
        if !row.is_touched {
            index.rest(number);
            return nothing;
        }
        let (used, from) = (row.clear(), row.from.checked_sub(1));
        if row.is_shareable {
            index.rest(number);
        } else {
            row.generation = row.generation.wrapping_add(1);
            row.state = RowState::Nothing;
            if from.is_none() {
                index.states.live -= 1;
            }
            index.free.with_room().push(number);
        }
        self.gate.choices.clear(number);
        (used, from)
    }

    /// Counts a sampler whose handle the driver had returned before, and which therefore has no row. Its creation was counted when it was
    /// given a row, which it has given back.
    pub fn count_duplicate(self) {
        self.gate.write_samplers().with().samplers.live += 1;
    }

    /// Whether other samplers of the same state may be in a row.
    pub fn is_shareable(self, number: u32) -> bool {
        self.gate.write_samplers().with().row(number).is_some_and(|row| row.is_shareable)
    }

    /// Whether a row has another state than was found there, and samplers.
    pub fn is_other(self, number: u32, found: &FoundState) -> bool {
        self.gate.write_samplers().with().row(number).is_some_and(|row| row.live > 0 && !row.has(found))
    }

    /// The state in a row.
    pub fn state(self, number: u32) -> Option<FoundState> {
        self.gate.write_samplers().with().row(number)?.found()
    }

    /// Sets the choice for (state, view class) unless there is one; returns the choice in force and whether it is this one.
    ///
    /// `variant` is the use of the variant that the choice stands for, which goes over to the state on success.
    /// Nothing is set when the row meanwhile has another state than `decided`, or no sampler: then nobody would take the choice
    /// back.
    pub fn publish(
        self,
        state: u32,
        class: u32,
        decided: &FoundState,
        choice: u64,
        variant: Option<VariantUse>,
    ) -> (u64, bool) {
        let mut samplers = self.gate.write_samplers();
        let row = samplers.with().row(state).filter(|row| row.live > 0 && row.has(decided));
        let Some(row) = row else { return (KEEP, false) };
        row.is_touched = true;
        let used = row.used.get_or_insert_default();
        used.with_room();
        let before = self.gate.choices.publish(state, class, choice);
        if before != UNDECIDED {
            return (before, false);
        }
        if let Some(usage) = variant {
            if used.iter().any(|other| other.key == usage.key) {
                // For another class as well: one use is enough, and it is not the last.
                let _ = lock(&self.cache.variants).unuse(&usage);
                row.has_place |= usage.cover == Some(Cover::Own);
            } else {
                used.push(usage);
            }
        }
        (choice, true)
    }

    /// Remembers that nothing is left to be said about immutable samplers of a state with views of a class, unless the row
    /// meanwhile has another state than `decided`.
    pub fn mark_recorded(self, state: u32, class: u32, decided: &FoundState) {
        // Rows get other states under this lock.
        let mut samplers = self.gate.write_samplers();
        if let Some(row) = samplers.with().row(state).filter(|row| row.has(decided)) {
            row.is_touched = true;
            self.gate.choices.mark_recorded(state, class);
        }
    }

    /// A use of a variant for the state in a row, and what covers it if it has a custom border colour (`custom`).
    pub fn reserve(self, number: u32, decided: &FoundState, key: StateKey, custom: bool) -> Reserved {
        let mut samplers = self.gate.write_samplers();
        let Some(row) = samplers.with().row(number).filter(|row| row.has(decided)) else { return Reserved::NoBorder };
        let is_used = row.uses().iter().any(|usage| usage.key == key);
        let mut variants = lock(&self.cache.variants);
        let Variants { by_key, borders, .. } = &mut *variants;
        let made = by_key.get_mut(&key);
        let mut cover = None;
        if custom && !is_used {
            cover = borders.cover(made.as_ref().map(|variant| variant.shared), &mut row.has_place);
            if cover.is_none() {
                return Reserved::NoBorder;
            }
        }
        let usage = VariantUse { key, cover };
        match made {
            Some(variant) => {
                variant.add(&usage);
                Reserved::Made(variant.handle, usage)
            }
            None => Reserved::ToMake(usage),
        }
    }

    /// Gives a use back that was not published. Pairs are decided under locks that a sampler's destruction takes, so the variant stays until
    /// another is [released](Rows::release), if that was its last use.
    pub fn drop_use(self, number: u32, decided: &FoundState, usage: &VariantUse) {
        self.uncover(number, decided, usage);
        lock(&self.cache.variants).leave(usage);
    }

    /// Gives back what was reserved for a variant that was not made; its place for a custom border colour is given back apart.
    pub fn abandon(self, number: u32, decided: &FoundState, usage: &VariantUse) {
        self.uncover(number, decided, usage);
        if usage.cover == Some(Cover::Shared) {
            lock(&self.cache.variants).borders.unshare();
        }
    }

    fn uncover(self, number: u32, decided: &FoundState, usage: &VariantUse) {
        if usage.cover == Some(Cover::Own)
            && let Some(row) = self.gate.write_samplers().with().row(number).filter(|row| row.has(decided))
        {
            row.has_place = true;
        }
    }

    /// Distinct states now, at most, and how often one got its first sampler.
    pub fn states(self) -> Census {
        self.gate.write_samplers().with().states
    }

    /// Rows that there are, those without a sampler among them.
    pub fn kept(self) -> usize {
        self.gate.write_samplers().with().rows.len()
    }

    /// Samplers of the application now, at most and ever.
    pub fn samplers(self) -> Census {
        self.gate.write_samplers().with().samplers
    }
}

impl Cache {
    /// An empty one, for a device with this `maxCustomBorderColorSamplers`.
    pub fn new(max_custom_borders: u32) -> Self {
        let variants = Variants { borders: BorderPlaces::new(max_custom_borders), ..Variants::default() };
        Self { variants: Mutex::new(variants), ..Self::default() }
    }

    /// With the gate of the same device.
    #[inline(always)]
    pub fn on<'a>(&'a self, gate: &'a Gate) -> Rows<'a> {
        Rows { cache: self, gate }
    }

    /// What the create info with these words led to before, without a lock.
    #[inline(always)]
    pub fn again(&self, words: &Words) -> Option<Again> {
        Some(Again(self.recent.get(words))).filter(|again| again.0 != 0)
    }

    /// Adds a variant that was just created. If another thread was faster its handle is returned instead, with the use counted
    /// there, and the given one has to be destroyed, as it has to be when there is no memory and nothing is returned.
    pub fn add_variant(&self, usage: &VariantUse, handle: u64, custom_border: bool) -> Option<(u64, bool)> {
        let mut variants = lock(&self.variants);
        let Variants { by_key, borders, census, .. } = &mut *variants;
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
}

#[cfg(test)]
mod tests;
