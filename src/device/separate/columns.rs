//! What arrays hold, as a table that a shader could look up: a row for each state of samplers, and a column for each effect that classes of
//! views have on all of these. Counted for the census of the level all.

use samplin_hot::memory::{self, Room};

use super::Separate;
use super::layouts::hash_of;
use super::sets::SetEntry;
use crate::device::ground::Ground;
use crate::device::resolve::Pairs;
use crate::table::{FastSet, lock};

/// Numbers of states and of classes that were in arrays.
#[derive(Debug, Default)]
pub(super) struct Held {
    states: FastSet<u32>,
    classes: FastSet<u32>,
}

/// Pairs that are looked at, at most.
const MOST: usize = 1 << 18;

impl Separate {
    /// Notes what is in the arrays of a set that is about to go.
    pub(super) fn hold(&self, entry: &SetEntry) {
        if self.counts_columns {
            let mut held = lock(&self.held);
            entry.each_word(|is_sampler, word| {
                let all = if is_sampler { &mut held.states } else { &mut held.classes };
                word.checked_sub(1).into_iter().for_each(|number| _ = all.with_room().insert(number));
            });
        }
    }

    /// How many states and classes were noted.
    pub(super) fn held_in_arrays(&self) -> usize {
        let held = lock(&self.held);
        held.states.len() + held.classes.len()
    }

    /// How many columns there would be, one for what suits every sampler among them; none if nothing was in arrays or is not counted.
    pub fn columns(&self, ground: &Ground, pairs: &Pairs) -> Option<u64> {
        self.sets.for_each(&mut |entry| self.hold(entry));
        let held = lock(&self.held);
        let states = held.states.iter().filter_map(|state| pairs.samplers.rows(&ground.hot).state(*state));
        let states = memory::collect(states.take(MOST));
        let classes = held.classes.iter().filter_map(|class| pairs.images.class(*class));
        let mut columns = FastSet::default();
        for class in classes.take(MOST.checked_div(states.len())?) {
            let effects = states.iter().map(|shared| {
                let is_legal = ground.driver.relevant(shared.needs).0 & class.lacks.0 == 0;
                let given =
                    || ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, shared, class).state.key();
                if is_legal { None } else { Some(given()) }
            });
            columns.with_room().insert(hash_of(&memory::collect(effects)));
        }
        (!columns.is_empty()).then_some(columns.len() as u64)
    }
}
