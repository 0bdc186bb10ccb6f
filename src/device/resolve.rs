//! The slow way of a pair: what is decided when a state meets a view class for the first time.

use samplin_core::left::Left;
use samplin_hot::{Pair, choices};

use super::Device;
use super::separate::Separate;
use crate::counters::Path;
use crate::decide;
use crate::outcome::{self, Chosen, Refusal};
use crate::overrides::Override;
use crate::variant::{KEEP, SharedState};

impl Device {
    /// The sampler to use for a pair that conflicts.
    pub fn choose(&self, pair: Pair, path: Path) -> u64 {
        choices::choose(&self.ground.hot.gate.choices, pair, &mut |pair| self.resolve(pair, path))
    }

    /// Decides a (state, class) for the first time: makes or finds the variant, publishes the choice, writes the record.
    #[cold]
    #[inline(never)]
    pub(super) fn resolve(&self, pair: Pair, path: Path) -> u64 {
        self.ground.guard(|| self.resolve_unguarded(pair, path), || KEEP)
    }

    fn resolve_unguarded(&self, pair: Pair, path: Path) -> u64 {
        let (Some(shared), Some(class)) = (self.rows().state(pair.state), self.class(pair.class)) else {
            return KEEP;
        };
        let overrides = self.ground.wishes.overrides.for_view(shared.overrides, &class.traits).map(Override::wished);
        let off = self.ground.wishes.off(shared.overrides, Some(class));
        let meeting = outcome::meeting(
            &shared.kept,
            &class.traits,
            (overrides, off),
            &self.ground.wishes.terms(&self.ground.driver),
            |wanted| {
                self.may_have_variant(pair.sampler, &shared)?;
                self.variant(pair.state, &shared, wanted)
            },
        );
        let (choice, variant) = match &meeting.chosen {
            Chosen::Variant((made, usage)) => (*made, Some(*usage)),
            Chosen::Refused(..) if self.is_pinned(pair.sampler) && self.rows().is_shareable(pair.state) => {
                // It is just being given a row of its own; what holds for it must not hold for the others of this one.
                return KEEP;
            }
            Chosen::Own | Chosen::Refused(..) => (KEEP, None),
        };
        let (choice, first) = self.rows().publish((pair.state, pair.class), &shared, choice, variant);
        if !first {
            // Another thread was faster; what was prepared here is not needed.
            if let Some(usage) = variant
                && let Some(unused) = self.rows().drop_use(pair.state, &shared, &usage)
            {
                self.destroy_variant(unused);
            }
            return choice;
        }
        self.ground.wishes.exempt_pair(
            &self.ground.journal,
            "pair",
            pair,
            (&shared, class),
            Some(path),
            &meeting.exempted,
        );
        // Links are told one by one, once it is known what becomes of each.
        if path != Path::Draw || matches!(meeting.chosen, Chosen::Refused(..)) {
            for unresolved in meeting.unresolved(&self.ground.journal.context(Some(class))) {
                // Whether a shader compares, and does that itself, is found out where the descriptor is bound, if it is followed.
                if path == Path::Draw || !(self.is_compared_where_bound() && unresolved.is_comparison()) {
                    self.ground.journal.pair_unresolved(Left::Pair, &unresolved, (pair, None), &shared, class);
                }
            }
        }
        if path != Path::Draw && (!meeting.changes.is_empty() || self.ground.journal.records_all()) {
            self.ground.journal.count(&meeting.changes);
            if self.ground.journal.records_decisions() {
                self.ground.journal.record_pair(pair, &shared, (class, class), &meeting, choice, (path, None));
            }
        }
        choice
    }

    /// Whether another sampler may stand in for this one at all.
    pub(super) fn may_have_variant(&self, sampler: u64, shared: &SharedState) -> Result<(), Refusal> {
        let why = if let Some(s_type) = shared.unknown {
            format!("the sampler has a structure of type {s_type} chained, which a variant could not carry")
        } else if self.is_pinned(sampler) {
            "the sampler is immutable in a descriptor-buffer layout, so it must stay the same everywhere".to_owned()
        } else {
            return Ok(());
        };
        Err(Refusal::Sampler(decide::Rule::Flags, why))
    }

    /// Takes note of an immutable sampler that meets a view which it conflicts with, for the first time by their state and class, and
    /// [settles](samplin_hot::Choices::settle) it.
    #[cold]
    #[inline(never)]
    pub(super) fn immutable_conflict(&self, pair: Pair) {
        self.ground.guard(|| self.immutable_conflict_unguarded(pair), || ());
    }

    /// Whether a rule names the immutable sampler of a pair.
    pub(super) fn names_immutable(&self, pair: Pair) -> bool {
        let of = self.rows().state(pair.state).zip(self.class(pair.class));
        of.is_some_and(|(shared, class)| self.ground.wishes.overrides.demote(shared.overrides, Some(&class.traits)))
    }

    fn immutable_conflict_unguarded(&self, pair: Pair) {
        let (Some(shared), Some(class)) = (self.rows().state(pair.state), self.class(pair.class)) else {
            return;
        };
        // When everything is recorded every pair is said to conflict.
        // What becomes of one that a rule names is said where it is bound.
        let is_followed = self.separate.as_deref().is_some_and(Separate::follows_immutables);
        if !(is_followed && self.names_immutable(pair))
            && self.ground.driver.relevant(shared.needs).0 & class.lacks.0 != 0
        {
            let context = self.ground.journal.context(Some(class));
            let off = self.ground.wishes.off(shared.overrides, Some(class));
            let (unresolved, exempted) = outcome::immutable(
                &shared.kept,
                &class.traits,
                off,
                &self.ground.wishes.terms(&self.ground.driver),
                &context,
            );
            self.ground.wishes.exempt_pair(
                &self.ground.journal,
                "immutable sampler",
                pair,
                (&shared, class),
                None,
                &exempted,
            );
            if let Some(unresolved) = unresolved {
                self.ground.journal.pair_unresolved(Left::ImmutablePair, &unresolved, (pair, None), &shared, class);
            }
        }
        self.rows().settle((pair.state, pair.class), &shared);
    }
}
