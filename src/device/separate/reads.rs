//! How links read: whether a comparison or unnormalized coordinates suit a view depends on the instructions.

use samplin_hot::Pair;
use samplin_spirv::Uses;

use crate::decide::{Bits, Reads};
use crate::device::Device;

/// What is known of the instructions of a link. Asking for the level that sampling would use reads nothing.
fn reads(uses: Uses) -> Reads {
    match () {
        () if uses.contains(Uses::DREF) => Reads::Compared,
        () if uses.without(Uses::QUERY_LOD).samples() => Reads::Plain,
        () => Reads::Unknown,
    }
}

impl Device {
    /// The pair with the class of its view as a link reads it, where decisions look at that.
    pub(super) fn as_read(&self, pair: Pair, uses: Uses) -> Pair {
        let lacks = self.class(pair.class).map_or(Bits::NONE, |class| class.lacks);
        let needs = (self.hot.gate.sampler(pair.sampler) >> 32) as u32;
        if needs & lacks.0 & (Bits::COMPARE.0 | Bits::UNNORMALIZED.0) == 0 {
            return pair;
        }
        Pair { class: self.class_as_read(pair.class, reads(uses)), ..pair }
    }
}
