//! What rows know for whoever hands samplers of the driver out more than once.

use samplin_hot::memory::Room;
use samplin_hot::recent::Words;

use super::Rows;
use super::index::plain_key_of;

impl Rows<'_> {
    /// The samplers of the application that nothing is chained to, each with the [key](crate::sampler_info::key_of) of what it asked for
    /// and whether it was changed. From now on places are not looked at.
    pub fn plain_samplers(self) -> Vec<(u64, Words, bool)> {
        let mut samplers = self.gate.write_samplers();
        let mut words: Vec<(u64, u32)> = Vec::new();
        samplers.for_each(&mut |handle, word| words.with_room().push((handle, word as u32)));
        let index = samplers.with();
        index.look_at_no_places();
        let mut out = Vec::new();
        for (handle, word) in words {
            let state = word.checked_sub(1).and_then(|number| index.row(number)?.found());
            let Some(state) = state.filter(|state| state.unknown.is_none()) else { continue };
            if let Some(key) = plain_key_of(&state) {
                out.with_room().push((handle, key, state.kept.original.key() != state.kept.base.key()));
            }
        }
        out
    }
}
