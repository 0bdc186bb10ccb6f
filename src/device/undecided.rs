//! Pairs in combined descriptors of which a draw says whether the shader compares, as long as none has.

use std::sync::Mutex;

use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};

use crate::outcome::Unresolved;
use crate::table::{FastMap, lock};
use crate::variant::FoundState;

/// Most of them; what comes then is named at once.
const MOST: usize = 256;

/// The first pair of each state and class, and what is said of it if no draw decides.
#[derive(Default)]
pub(super) struct Undecided(Mutex<FastMap<(u32, u32), Pending>>);

type Pending = (Pair, Unresolved, FoundState);

impl Undecided {
    /// Keeps a pair. Gives it back where there is no room.
    pub(super) fn keep(&self, pair: Pair, unresolved: Unresolved, shared: FoundState) -> Result<(), Unresolved> {
        let mut all = lock(&self.0);
        if all.len() >= MOST {
            return Err(unresolved);
        }
        all.with_room().insert((pair.state, pair.class), (pair, unresolved, shared));
        Ok(())
    }

    /// Takes them all out.
    pub(super) fn take(&self) -> Vec<Pending> {
        memory::collect(std::mem::take(&mut *lock(&self.0)).into_values())
    }

    /// A draw has decided about pairs of this state and class.
    pub(super) fn decide(&self, pair: Pair) {
        lock(&self.0).remove(&(pair.state, pair.class));
    }
}
