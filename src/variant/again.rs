//! What of a state changes while it has samplers: the overrides that match it.

use super::index::{RowState, hash_of};
use super::{Rows, SharedState};
use crate::decide::ConflictBits;

impl Rows<'_> {
    /// Has each state looked at: `look` gives the overrides that match it now, what it needs, and whether they ask for something else than
    /// before. What was chosen for such a state is forgotten. The variants that it uses stay, because descriptors may hold them. How many
    /// states that samplers have are such.
    pub fn look_again(self, look: &mut dyn FnMut(&SharedState) -> (u64, ConflictBits, bool)) -> u32 {
        let mut samplers = self.gate.write_samplers();
        let index = samplers.with();
        let mut changed = 0;
        for (number, row) in index.rows.iter_mut().enumerate() {
            let Some(found) = row.found() else { continue };
            let (overrides, needs, is_other) = look(&found);
            if overrides == found.overrides && !is_other {
                continue;
            }
            let state = SharedState { overrides, needs, ..(*found).clone() };
            row.hash = hash_of(&state);
            (row.state, row.needs) = (RowState::of(state), needs);
            // Whoever decides with what was in force before publishes nothing, and create infos are looked at again.
            row.generation = row.generation.wrapping_add(1);
            if is_other {
                self.gate.choices.retire(number as u32);
                changed += u32::from(row.live > 0);
            }
        }
        index.find_by_hash_again();
        changed
    }
}
