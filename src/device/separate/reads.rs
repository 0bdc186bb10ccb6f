//! How links read: whether a comparison or unnormalized coordinates suit a view depends on the instructions.

use samplin_hot::Pair;
use samplin_spirv::Uses;

use super::Separate;
use crate::counters::Path;
use crate::decide::{ConflictBits, Divide, Reads};
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::images::Images;
use crate::device::resolve::Pairs;
use crate::outcome::Meeting;

/// What is known of the instructions of a link. Asking for the level that sampling would use reads nothing.
fn reads(uses: Uses) -> Reads {
    match () {
        () if uses.contains(Uses::DREF) => Reads::Compared,
        () if uses.without(Uses::QUERY_LOD).samples() => Reads::Plain,
        () => Reads::Unknown,
    }
}

/// What instructions of a link ask for that unnormalized coordinates exclude. A comparison is the sampler's business: where it has none,
/// nothing defines what is read, whatever the coordinates are. An offset beside a gather may be that of the gather.
fn divide(uses: Uses) -> Divide {
    match () {
        () if uses.intersects(Uses::IMPLICIT | Uses::PROJ) => Divide::Lookup,
        () if uses.intersects(Uses::BIAS) => Divide::Offset,
        () if uses.intersects(Uses::OFFSET | Uses::CONST_OFFSETS) && uses.contains(Uses::GATHER) => Divide::Gather,
        () if uses.intersects(Uses::OFFSET) => Divide::Offset,
        () => Divide::Suited,
    }
}

/// Whether the shader has to divide coordinates by the size of the level for what a pair comes to.
pub(super) fn is_divided<V>(meeting: &Meeting<'_, V>) -> bool {
    meeting.changes.iter().any(|change| change.catalog.is_divided())
}

impl Separate {
    /// The pair as it is where the shader divides coordinates in texels, and the sampler for that; none where there is no reason to.
    pub(super) fn divided(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        pair: Option<Pair>,
        uses: Uses,
    ) -> Option<(Pair, u64)> {
        let pair = pair.filter(|_| self.tasks.divide)?;
        let needs = (ground.hot.gate.sampler(pair.sampler) >> 32) as u32;
        let reads = match reads(uses) {
            // The level is that of coordinates as they are given.
            Reads::Unknown if uses.contains(Uses::QUERY_LOD) => Reads::Plain,
            reads => reads,
        };
        if needs & ConflictBits::TEXELS.0 == 0 || reads == Reads::Unknown {
            return None;
        }
        let pair = Pair { class: pairs.images.class_divided(&ground.driver, pair.class, reads, divide(uses)), ..pair };
        let (shared, class) = (pairs.samplers.rows(&ground.hot).state(pair.state)?, pairs.images.class(pair.class)?);
        if !is_divided(&ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class)) {
            return None;
        }
        let sampler = pairs.choose(ground, pair, Path::Draw);
        (sampler != pair.sampler).then_some((pair, sampler))
    }
}

impl Images {
    /// The pair with the class of its view as a link reads it, where decisions look at that.
    pub(super) fn as_read(&self, hot: &Hot, driver: &Driver, pair: Pair, uses: Uses) -> Pair {
        let lacks = self.class(pair.class).map_or(ConflictBits::NONE, |class| class.lacks);
        let needs = (hot.gate.sampler(pair.sampler) >> 32) as u32;
        if needs & lacks.0 & (ConflictBits::COMPARE.0 | ConflictBits::UNNORMALIZED.0) == 0 {
            return pair;
        }
        Pair { class: self.class_as_read(driver, pair.class, reads(uses)), ..pair }
    }
}
