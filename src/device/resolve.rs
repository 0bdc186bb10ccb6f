//! The slow way of a pair: what is decided when a state meets a view class for the first time.

use samplin_core::left::{Cause, Left};
use samplin_hot::{Pair, choices};
use samplin_wire::kinds::Exempted;

use super::activity::Activity;
use super::ground::Ground;
use super::heaps::Heaps;
use super::hot::Hot;
use super::images::Images;
use super::journal::PairParts;
use super::samplers::Samplers;
use super::stand_ins::StandIns;
use super::submissions::Submissions;
use super::undecided::Undecided;
use super::wishes::Wishes;
use crate::counters::Path;
use crate::decide::{self, ConflictBits};
use crate::outcome::{self, Chosen, Refusal};
use crate::overrides::Override;
use crate::variant::{KEEP, SharedState};

/// The samplers and the views of a device, which descriptors join.
pub struct Pairs {
    /// Samplers of the application, and what stands in for them.
    pub samplers: Samplers,
    /// Images and their views.
    pub images: Images,
    /// What stands in for views.
    pub stand_ins: StandIns,
    /// Pairs that a draw has to decide about.
    pub(super) undecided: Undecided,
    /// Samplers and images that are described where they are used.
    pub heaps: Heaps,
    /// What is submitted, with `pulse=on`.
    pub activity: Option<Box<Activity>>,
    /// What is submitted where rules may change.
    pub submissions: Submissions,
}

/// What a choice for a pair is made with.
#[derive(Clone, Copy)]
pub struct On<'d> {
    /// What the rooms stand on.
    pub ground: &'d Ground,
    /// Samplers and views.
    pub pairs: &'d Pairs,
}

impl Pairs {
    /// The sampler to use for a pair that conflicts.
    pub fn choose(&self, ground: &Ground, pair: Pair, path: Path) -> u64 {
        choices::choose(&ground.hot.gate.choices, pair, &mut |pair| self.resolve(ground, pair, path))
    }

    /// Decides a (state, class) for the first time: makes or finds the variant, publishes the choice, writes the record.
    #[cold]
    #[inline(never)]
    pub(super) fn resolve(&self, ground: &Ground, pair: Pair, path: Path) -> u64 {
        ground.guard(|| self.resolve_unguarded(ground, pair, path), || KEEP)
    }

    fn resolve_unguarded(&self, ground: &Ground, pair: Pair, path: Path) -> u64 {
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(pair.class))
        else {
            return KEEP;
        };
        let rules = ground.wishes.rules();
        let overrides = rules.for_view(shared.overrides, &class.traits).map(Override::wished);
        let off = ground.wishes.off(shared.overrides, Some(class));
        let meeting = outcome::meeting(
            &shared.kept,
            &class.traits,
            overrides,
            off,
            &ground.wishes.terms(&ground.driver),
            |wanted| {
                self.samplers.may_have_variant(pair.sampler, &shared)?;
                self.samplers.variant(ground, pair.state, &shared, wanted)
            },
        );
        if shared.kept.original.compare_enable
            && class.lacks.0 & ConflictBits::COMPARE.0 != 0
            && let Some(follower) = &ground.follower
        {
            follower.follow_comparisons(&ground.hot);
        }
        let (choice, variant) = match &meeting.chosen {
            Chosen::Variant((made, usage)) => (*made, Some(*usage)),
            Chosen::Refused(..)
                if self.samplers.is_pinned(pair.sampler)
                    && self.samplers.rows(&ground.hot).is_shareable(pair.state) =>
            {
                // It is just being given a row of its own; what holds for it must not hold for the others of this one.
                return KEEP;
            }
            Chosen::Own | Chosen::Refused(..) => (KEEP, None),
        };
        let (choice, first) = self.samplers.rows(&ground.hot).publish(pair.state, pair.class, &shared, choice, variant);
        if !first {
            // Another thread was faster; what was prepared here is not needed.
            if let Some(usage) = variant {
                self.samplers.rows(&ground.hot).drop_use(pair.state, &shared, &usage);
            }
            if self.samplers.rows(&ground.hot).is_other(pair.state, &shared) {
                // Other rules have come into force.
                return self.resolve_unguarded(ground, pair, path);
            }
            return choice;
        }
        let parts = PairParts { pair, shared: &shared, class };
        ground.wishes.exempt_pair(&ground.journal, Exempted::Pair, parts, Some(path), &meeting.exempted);
        // Each link has a record of its own, once it is known what becomes of it.
        if path != Path::Draw || meeting.is_refused() {
            for unresolved in meeting.unresolved(&ground.journal.context(Some(class))) {
                // Whether a shader compares, and does that itself, is found out where the descriptor is bound. What lies in memory is not.
                let is_decided = matches!(path, Path::Draw | Path::GetDescriptor | Path::ImageViewHandle)
                    || !unresolved.is_comparison()
                    || !ground.follower.as_ref().is_some_and(|follower| follower.compares_combined());
                let kept =
                    if is_decided { Err(unresolved) } else { self.undecided.keep(pair, unresolved, shared.clone()) };
                if let Err(unresolved) = kept {
                    ground.journal.pair_unresolved(Left::Pair, unresolved, parts, None);
                }
            }
        }
        if path != Path::Draw && (!meeting.changes.is_empty() || ground.journal.records_all()) {
            ground.journal.count(&meeting.changes);
            if ground.journal.records_decisions() {
                ground.journal.record_pair(parts, path, class, &meeting, choice, None);
            }
        }
        choice
    }
}

impl Samplers {
    /// Whether another sampler may stand in for this one at all.
    pub(super) fn may_have_variant(&self, sampler: u64, shared: &SharedState) -> Result<(), Refusal> {
        let why = if let Some(s_type) = shared.unknown {
            Cause::ChainedSampler.with(&[&s_type]).why
        } else if self.is_pinned(sampler) {
            Cause::PinnedSampler.into()
        } else {
            return Ok(());
        };
        Err(Refusal::Sampler(decide::Rule::Flags, why))
    }
}

impl Pairs {
    /// Notes an immutable sampler that meets a view which it conflicts with, for the first time by their state and class, and
    /// [marks](samplin_hot::Choices::mark_recorded) it.
    #[cold]
    #[inline(never)]
    pub(super) fn immutable_conflict(&self, ground: &Ground, pair: Pair) {
        ground.guard(|| self.immutable_conflict_unguarded(ground, pair), || ());
    }

    /// Whether a rule names the immutable sampler of a pair.
    pub(super) fn names_immutable(&self, hot: &Hot, wishes: &Wishes, pair: Pair) -> bool {
        let of = self.samplers.rows(hot).state(pair.state).zip(self.images.class(pair.class));
        of.is_some_and(|(shared, class)| wishes.rules().demote(shared.overrides, Some(&class.traits)))
    }

    fn immutable_conflict_unguarded(&self, ground: &Ground, pair: Pair) {
        let (Some(shared), Some(class)) =
            (self.samplers.rows(&ground.hot).state(pair.state), self.images.class(pair.class))
        else {
            return;
        };
        // When everything is recorded every pair is said to conflict.
        // What becomes of one that a rule names is said where it is bound.
        let is_followed = ground.follower.as_ref().is_some_and(|follower| follower.follows_immutables());
        if !(is_followed && self.names_immutable(&ground.hot, &ground.wishes, pair))
            && ground.driver.relevant(shared.needs).0 & class.lacks.0 != 0
        {
            let context = ground.journal.context(Some(class));
            let off = ground.wishes.off(shared.overrides, Some(class));
            let (unresolved, exempted) =
                outcome::immutable(&shared.kept, &class.traits, off, &ground.wishes.terms(&ground.driver), &context);
            let parts = PairParts { pair, shared: &shared, class };
            ground.wishes.exempt_pair(&ground.journal, Exempted::ImmutableSampler, parts, None, &exempted);
            if let Some(unresolved) = unresolved {
                ground.journal.pair_unresolved(Left::ImmutablePair, unresolved, parts, None);
            }
        }
        self.samplers.rows(&ground.hot).mark_recorded(pair.state, pair.class, &shared);
    }
}
