//! Links that compare where the format of the image lacks the comparison: they read through a sampler that compares nothing, and the
//! shader compares. That goes for descriptors that need it alone; whatever else meets the sampler has the device's comparison.

use samplin_bind::Other;
use samplin_bind::plan::link_bit;
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory::Room;
use samplin_spirv::Uses;
use samplin_spirv::sampling::Task;

use super::Separate;
use super::compare::compares;
use super::programs::Program;
use super::progress::Drawn;
use super::tasks::{TaskRequest, divides};
use super::want::Want;
use crate::counters::Path;
use crate::decide::{ConflictBits, Reads};
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::journal::{Journal, PairParts};
use crate::device::resolve::Pairs;
use crate::outcome::Unresolved;

/// Has the shader compare for those of these uses that get another sampler: in their sets, or as links of `split`.
pub(super) fn ask_comparisons(requests: &mut Vec<TaskRequest>, uses: &[Want], others: &[(u32, Other)], split: u64) {
    // What is divided is asked for as it is.
    requests.retain(|request| !request.task.as_ref().is_ok_and(|task| compares(task) && !divides(task)));
    let is_exchanged = |want: &&Want| {
        let is_it = |(set, (binding, element, sampler)): &(u32, Other)| {
            (*set, *binding, *element) == want.sampler_at && *sampler == want.wanted
        };
        split & link_bit(want.link) != 0 || want.reads(split) && others.iter().any(is_it)
    };
    let compared = uses.iter().filter(is_exchanged).filter_map(|want| Some((want, want.compare?, want.pair?)));
    for (want, task, pair) in compared {
        requests.with_room().push(TaskRequest { link: want.link, position: want.hidden_at, pair, task: Ok(task) });
    }
}

/// Has the uses of these links keep their samplers, because their shaders cannot compare: nothing of them is divided either.
pub(super) fn keep_comparisons(requests: &mut Vec<TaskRequest>, uses: &mut [Want], links: u64) {
    for want in uses.iter_mut().filter(|want| links & link_bit(want.link) != 0) {
        want.divided = None;
        if want.compare.take().is_some() {
            want.wanted = want.given;
        }
    }
    let changes = |task: &Task| compares(task) || divides(task);
    requests.retain(|request| links & link_bit(request.link) == 0 || !request.task.as_ref().is_ok_and(changes));
}

impl Program {
    /// Links of which sets note the descriptors that cannot compare and no others, a bit each.
    pub(super) fn noted(&self) -> u64 {
        let noted = self.links.iter().enumerate().filter(|(_, link)| link.is_noted);
        noted.fold(0, |all, (number, _)| all | link_bit(number))
    }

    /// Links that compare, a bit each.
    pub(super) fn comparing(&self) -> u64 {
        let comparing = self.links.iter().enumerate().filter(|(_, link)| link.uses.intersects(Uses::DREF));
        comparing.fold(0, |all, (number, _)| all | link_bit(number))
    }
}

impl Separate {
    /// Finds out whether a use of a sampler compares in the shader; where it cannot it keeps its sampler. What is divided is compared
    /// beside that, or not at all.
    pub(super) fn want_comparison(&self, ground: &Ground, pairs: &Pairs, program: Drawn<'_>, want: &mut Want) {
        let Some(pair) = want.pair.filter(|_| want.wanted != want.given) else { return };
        match self.comparison_of(ground, pairs, pair) {
            None => return,
            Some(_) if want.divided.is_some() => {}
            Some(Ok(task)) if link_bit(want.link) != 0 => return want.compare = Some(task),
            Some(Ok(_)) => pairs.link_left(ground, Left::TooManyLinks, program, want.at(), pair),
            Some(Err(why)) => pairs.link_left(ground, why, program, want.at(), pair),
        }
        want.wanted = want.given;
    }

    /// The same of a combined descriptor: its sampler was chosen when it was written, but the shader can read another one. `read`: the pair
    /// as the link reads it.
    pub(super) fn want_comparison_of_both(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        want: &mut Want,
        read: Pair,
    ) {
        if self.comparison_of(ground, pairs, read).is_some() {
            (want.pair, want.wanted) = (Some(read), pairs.choose(ground, read, Path::Draw));
            self.want_comparison(ground, pairs, program, want);
        }
    }

    /// What the shader has to do for a pair so that it compares, if it is to compare in the place of the sampler; the name of what keeps
    /// it from that.
    pub(super) fn comparison_of(&self, ground: &Ground, pairs: &Pairs, pair: Pair) -> Option<Result<Task, Left>> {
        let class = pairs.images.class(pair.class).filter(|class| class.traits.reads == Reads::Compared)?;
        let shared = pairs.samplers.rows(&ground.hot).state(pair.state)?;
        ground.wishes.meeting_of(&ground.wishes.rules(), &ground.driver, &shared, class).compare?;
        self.task_of(ground, pairs, pair, false)
    }
}

impl Pairs {
    /// Names a link that compares through a sampler which was not created for that: nothing defines what that reads, and no sampler is
    /// known that would. It is no conflict, so it is found where a bind is looked at for another reason, or for the trace of the level all.
    pub(super) fn record_uncompared(&self, hot: &Hot, journal: &Journal, program: Drawn<'_>, want: &Want) {
        let needs = (hot.gate.sampler(want.own) >> 32) as u32;
        let is_known = needs & ConflictBits::SAMPLED.0 != 0 && want.view != 0;
        let Some(pair) = hot.pair_at(want).filter(|_| is_known) else { return };
        let (Some(shared), Some(class)) = (self.samplers.rows(hot).state(pair.state), self.images.class(pair.class))
        else {
            return;
        };
        if !shared.kept.original.compare_enable && journal.is_unrecorded(&program, want.link, pair, true) {
            let joined = journal.joined(program, want.at(), None);
            let parts = PairParts { pair, shared: &shared, class };
            journal.pair_unresolved(Left::Pair, Unresolved::uncompared(), parts, Some(&joined));
        }
    }
}
