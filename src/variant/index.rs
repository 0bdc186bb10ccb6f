//! Which row a state has: by what its samplers have in common, and by create infos seen before.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use samplin_hot::Recent;
use samplin_hot::recent::Words;

use crate::budget::BorderPlace;
use crate::decide::{Bits, StateKey, is_valid_border};
use crate::table::FastMap;

use super::SharedState;

/// What samplers that share a row have in common.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Shared {
    pub(super) state: StateKey,
    pub(super) overrides: u64,
    pub(super) border: BorderPlace,
    /// Whether the border colour is one: `border=strict` judges its kind even where it is ignored, and the key takes a value of no
    /// enumeration for a float colour.
    pub(super) has_border: bool,
    /// [`SharedState::given`], which the records of its samplers tell.
    pub(super) given: Option<u64>,
}

impl Shared {
    pub(super) fn of(state: &SharedState) -> Self {
        Self {
            state: state.kept.original.key(),
            overrides: state.overrides,
            border: state.border,
            has_border: is_valid_border(state.kept.original.border_color),
            given: state.given,
        }
    }

    /// Differs as a rule where what is shared differs.
    pub(super) fn hash(&self) -> u64 {
        FastMap::<u64, ()>::default().hasher().hash_one(self)
    }
}

/// What the index knows of a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Life {
    /// Its samplers.
    pub(super) live: u32,
    /// Counts the states that the row had.
    pub(super) generation: u32,
    /// It is in `idle`.
    pub(super) idle: bool,
    /// [`SharedState::border`].
    pub(super) border: BorderPlace,
    /// [`SharedState::needs`].
    pub(super) needs: Bits,
    /// One more than the index in [`Index::rewritten`], 0 for none.
    pub(super) rewritten: u32,
    /// What is there is of this state.
    pub(super) is_rewritten: bool,
    /// Something may have been chosen for the state, or hang on it, since it had its first sampler.
    pub(super) is_touched: bool,
    /// [`Shared::hash`] of its state, if samplers of an equal one come here too.
    pub(super) hash: u64,
}

/// States without a sampler that are kept, because applications create the same samplers again and again.
pub(super) const IDLE: usize = 512;

/// In [`Index::recent`]: the create info was changed.
pub(super) const CHANGED: u32 = 1 << 31;

/// The rows of a device's states.
#[derive(Default)]
pub(super) struct Index {
    /// By the hash of what makes samplers share a row, which is worked out again from the row when it is asked for.
    pub(super) by_hash: FastMap<u64, u32>,
    pub(super) lives: Vec<Life>,
    /// Rows whose last sampler went while their state stayed, in that order; some may have samplers again.
    pub(super) idle: VecDeque<u32>,
    /// Rows without a state.
    pub(super) free: Vec<u32>,
    /// By create info: generation in the high half; row + 1, and [`CHANGED`], in the low one.
    pub(super) recent: Recent,
    /// [`Again::rewritten`] of the rows that ever had one, which keep their element.
    pub(super) rewritten: Vec<Words>,
    pub(super) states: Census,
    pub(super) samplers: Census,
}

impl Index {
    /// Counts a sampler in a row.
    #[inline]
    pub(super) fn enter(&mut self, number: u32) -> Option<()> {
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
    pub(super) fn add(&mut self) {
        self.live += 1;
        self.peak = self.peak.max(self.live);
        self.created += 1;
    }
}
