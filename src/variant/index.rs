//! Which row a state has: by what its samplers have in common, and by create infos seen before.

use std::collections::VecDeque;
use std::sync::Arc;

use samplin_hot::memory::{self, Room};
use samplin_hot::recent::{Words, mixed};

use super::made::{Census, VariantUse};
use super::{FoundState, SharedState};
use crate::budget::BorderPlace;
use crate::decide::{ConflictBits, StateKey, is_valid_border};
use crate::outcome::Kept;
use crate::sampler_info;
use crate::table::FastMap;

/// What samplers that share a row have in common.
#[derive(PartialEq, Eq)]
pub(super) struct SharedKey {
    pub(super) state: StateKey,
    pub(super) overrides: u64,
    pub(super) border: BorderPlace,
    /// Whether the border colour is one: `border=strict` judges its kind even where it is ignored, and the key takes a value of no
    /// enumeration for a float colour.
    pub(super) has_border: bool,
    /// [`SharedState::given`], which the records of its samplers have.
    pub(super) given: Option<u64>,
}

impl SharedKey {
    pub(super) fn of(state: &SharedState) -> Self {
        Self {
            state: state.kept.original.key(),
            overrides: state.overrides,
            border: state.border,
            has_border: is_valid_border(state.kept.original.border_color),
            given: state.given,
        }
    }
}

/// Differs as a rule where what states share differs. That of plain ones is by their words alone.
pub(super) fn hash_of(state: &SharedState) -> u64 {
    match plain_key_of(state) {
        Some(key) => mixed(&key),
        None => {
            let SharedState { kept, given, overrides, border, .. } = state;
            mixed(&[kept.original.fingerprint(), *overrides, *border as u64, given.unwrap_or_default(), 0, 0, 0, 0])
        }
    }
}

/// What samplers that share the row of such a state have in common, if it is what their create infos without a chain say and nothing else.
#[inline(never)]
pub(super) fn plain_key_of(state: &SharedState) -> Option<Words> {
    let is_plain = state.given.is_none() && state.overrides == 0 && state.border == BorderPlace::None;
    if is_plain { sampler_info::plain_key(&state.kept.original) } else { None }
}

/// The state of a row, in as little memory as it can be given again from: there may be as many as there are samplers.
#[derive(Default)]
pub(super) enum RowState {
    /// The row is free.
    #[default]
    Nothing,
    /// One without a chain that reached the driver unchanged, with nothing else to be said of it: its create info.
    Plain(Words),
    /// Any other.
    Whole(Arc<SharedState>),
}

impl RowState {
    pub(super) fn of(state: SharedState) -> Self {
        let SharedState { kept: Kept { original, base }, needs: _, given, unknown, overrides, border } = &state;
        let is_plain = given.is_none() && unknown.is_none() && *overrides == 0 && *border == BorderPlace::None;
        match sampler_info::words_of(original).filter(|words| is_plain && sampler_info::words_of(base) == Some(*words))
        {
            Some(words) => Self::Plain(words),
            None => Self::Whole(Arc::new(state)),
        }
    }

    fn get(&self, needs: ConflictBits) -> Option<Arc<SharedState>> {
        match self {
            Self::Nothing => None,
            Self::Whole(state) => Some(Arc::clone(state)),
            Self::Plain(words) => {
                let original = sampler_info::state_of(words);
                let kept = Kept { original, base: original };
                let border = BorderPlace::None;
                Some(Arc::new(SharedState { kept, needs, given: None, unknown: None, overrides: 0, border }))
            }
        }
    }
}

/// What is kept of a state that samplers have, or had a while ago.
#[derive(Default)]
pub(super) struct Row {
    pub(super) state: RowState,
    /// Variants it holds a use of, each once; few states have any.
    #[expect(clippy::box_collection, reason = "most rows have none, and there may be as many rows as samplers")]
    pub(super) used: Option<Box<Vec<VariantUse>>>,
    /// Its samplers.
    pub(super) live: u32,
    /// Counts the states that the row had.
    pub(super) generation: u32,
    /// [`SharedState::needs`].
    pub(super) needs: ConflictBits,
    /// One more than the index in [`Index::rewritten`], 0 for none.
    pub(super) rewritten: u32,
    /// [`hash_of`] its state, by which it is in [`Index::by_hash`] if it is shareable.
    pub(super) hash: u64,
    /// One more than where its one sampler was before, 0 for nowhere. What was chosen for it there may be in descriptors, and a thread
    /// that looked it up before it moved may still be asking there, so it stays counted there as well for as long as it lives.
    pub(super) from: u32,
    /// [`SharedState::border`].
    pub(super) border: BorderPlace,
    /// A sampler of it gave up a place of `maxCustomBorderColorSamplers` that covers no variant yet.
    pub(super) has_place: bool,
    /// Whether samplers of an equal state come here too.
    pub(super) is_shareable: bool,
    /// It is in `idle`.
    pub(super) is_idle: bool,
    /// What is in [`Index::rewritten`] is of this state.
    pub(super) is_rewritten: bool,
    /// Something may have been chosen for the state, or hang on it, since it had its first sampler.
    pub(super) is_touched: bool,
}

impl Row {
    /// One of a state without samplers; `from`: where its one sampler stays counted, unless its state is to be shared.
    pub(super) fn new(state: SharedState, is_shareable: bool, from: Option<u32>) -> Self {
        let (border, needs) = (state.border, state.needs);
        let from = from.map_or(0, |from| from + 1);
        let mut new = Self { state: RowState::of(state), border, needs, is_shareable, from, ..Self::default() };
        new.clear();
        new
    }

    /// One of a state that reached the driver as these words.
    pub(super) fn plain(words: &Words, needs: ConflictBits, is_shareable: bool) -> Self {
        Self { state: RowState::Plain(*words), needs, is_shareable, is_touched: !is_shareable, ..Self::default() }
    }

    /// Whether samplers of plain words with this key share the row.
    pub(super) fn has_key(&self, key: &Words) -> bool {
        match &self.state {
            RowState::Nothing => false,
            RowState::Plain(words) => sampler_info::key_of(words) == *key,
            RowState::Whole(state) => plain_key_of(state).as_ref() == Some(key),
        }
    }

    /// Forgets what it uses, which is returned, and what was chosen for it.
    pub(super) fn clear(&mut self) -> Vec<VariantUse> {
        // Rows that are not shared are free once they are left.
        self.is_touched = !self.is_shareable || self.border != BorderPlace::None;
        // A sampler that has moved may have left its place to a variant where it was.
        self.has_place = self.border == BorderPlace::GivenUp && self.from == 0;
        self.used.take().map(|used| *used).unwrap_or_default()
    }

    /// The variants that it uses.
    pub(super) fn uses(&self) -> &[VariantUse] {
        self.used.as_deref().map_or(&[], Vec::as_slice)
    }

    /// The state, if there is one.
    #[inline(never)]
    pub(super) fn found(&self) -> Option<FoundState> {
        Some(FoundState { state: self.state.get(self.needs)?, generation: self.generation })
    }

    /// Whether it still has a state that was found in it.
    pub(super) fn has(&self, found: &FoundState) -> bool {
        self.generation == found.generation && !matches!(self.state, RowState::Nothing)
    }
}

/// States without a sampler that are kept, because applications create the same samplers again and again.
pub(super) const IDLE: usize = 512;

/// In [`super::Cache::recent`]: the create info was changed.
pub(super) const CHANGED: u32 = 1 << 31;

/// The rows of a device's states, guarded by the lock of the gate's samplers.
#[derive(Default)]
pub struct Index {
    /// By the hash of what makes samplers share a row, which is worked out again from the row when it is asked for.
    pub(super) by_hash: FastMap<u64, u32>,
    /// Never freed, only used again, so that a stale number is harmless.
    pub(super) rows: Vec<Row>,
    /// Rows whose last sampler went while their state stayed, in that order; some may have samplers again.
    pub(super) idle: VecDeque<u32>,
    /// Rows without a state.
    pub(super) free: Vec<u32>,
    /// [`Again::rewritten`](super::Again::rewritten) of the rows that ever had one, which keep their element.
    pub(super) rewritten: Vec<Words>,
    pub(super) states: Census,
    pub(super) samplers: Census,
    /// So many samplers may there be without a look at whether variants hold places that these want.
    uncrowded: u32,
}

impl Index {
    /// An empty one, for a device with this `maxSamplerAllocationCount`.
    pub fn new(places: u32) -> Self {
        Self { uncrowded: places, ..Self::default() }
    }

    /// Nothing is to be looked at, however many there are.
    pub(super) fn look_at_no_places(&mut self) {
        self.uncrowded = u32::MAX;
    }

    /// Whether one more sampler is too few to look at whether variants hold places that the application wants.
    #[inline(always)]
    pub(super) fn has_places(&self) -> bool {
        self.samplers.live < self.uncrowded
    }

    /// Finds rows by the hashes that they have now. One that is like another one before it is shared no more.
    pub(super) fn find_by_hash_again(&mut self) {
        self.by_hash.clear();
        for (number, row) in self.rows.iter_mut().enumerate().filter(|(_, row)| row.is_shareable) {
            if matches!(row.state, RowState::Nothing) {
                continue;
            }
            if self.by_hash.contains_key(&row.hash) {
                (row.is_shareable, row.is_touched, row.hash) = (false, true, 0);
            } else {
                self.by_hash.with_room().insert(row.hash, number as u32);
            }
        }
    }

    /// A row by its number.
    #[inline(always)]
    pub(super) fn row(&mut self, number: u32) -> Option<&mut Row> {
        self.rows.get_mut(number as usize)
    }

    /// Counts a sampler in a row.
    #[inline(always)]
    pub(super) fn enter(&mut self, number: u32) -> Option<()> {
        let row = self.rows.get_mut(number as usize)?;
        row.live += 1;
        if row.live == 1 {
            self.states.add();
        }
        Some(())
    }

    /// Adds a row, with a quarter of what there is to spare: rows are large.
    pub(super) fn push(&mut self, row: Row) -> Option<u32> {
        let number = u32::try_from(self.rows.len()).ok().filter(|number| *number < CHANGED - 1)?;
        if self.rows.len() == self.rows.capacity() && self.rows.try_reserve_exact(self.rows.len() / 4 + 16).is_err() {
            memory::give_up();
        }
        self.rows.with_room().push(row);
        Some(number)
    }

    /// Takes note that a row has no sampler any more while its state stays.
    #[inline(always)]
    pub(super) fn rest(&mut self, number: u32) {
        self.states.live -= 1;
        if let Some(row) = self.rows.get_mut(number as usize).filter(|row| !row.is_idle) {
            row.is_idle = true;
            self.idle.with_room().push_back(number);
        }
    }
}
