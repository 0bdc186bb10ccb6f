//! The slow way of a pair: what is decided when a state meets a view class for the first time.

use std::ffi::c_void;

use samplin_hot::Pair;

use super::Device;
use super::telling::Outcome;
use super::variants::Refusal;
use crate::counters::Path;
use crate::decide::{self, Bits, Change, Changes, Rule, SamplerState};
use crate::variant::{KEEP, UNDECIDED};

impl Device {
    /// The sampler to use for a pair that conflicts.
    pub fn choose(&self, pair: Pair, path: Path) -> u64 {
        let choice = match self.hot.choices.choice(pair.state, pair.class) {
            UNDECIDED => self.resolve(pair, path),
            choice => choice,
        };
        if choice == KEEP { pair.sampler } else { choice }
    }

    /// What samplers of a state ask of a view on this device; `rules` are those that match them.
    pub(super) fn needs(&self, original: &SamplerState, base: &SamplerState, rules: u64) -> Bits {
        let bits = self.relevant(decide::needs(original, base, &self.caps, &self.policy));
        if rules == 0 { bits } else { Bits(bits.0 | Bits::OVERRIDE.0) }
    }

    /// Bits that can matter on this device at all: without subsampled images nothing is missed for not being subsampled.
    pub(super) fn relevant(&self, bits: Bits) -> Bits {
        let ignored = if self.enabled.subsampled { 0 } else { Bits::SUBSAMPLED.0 | Bits::NOT_SUBSAMPLED.0 };
        Bits(bits.0 & !ignored)
    }

    /// [`Device::resolve`] for `samplin-hot`.
    ///
    /// # Safety
    ///
    /// `device` points to a device.
    pub(super) unsafe fn resolve_for(device: *const c_void, pair: Pair, path: Path) -> u64 {
        // SAFETY: forwarded from the caller.
        unsafe { &*device.cast::<Self>() }.resolve(pair, path)
    }

    /// Decides a (state, class) for the first time: makes or finds the variant, publishes the choice, writes the record.
    #[cold]
    fn resolve(&self, pair: Pair, path: Path) -> u64 {
        self.guard(|| self.resolve_unguarded(pair, path), || KEEP)
    }

    fn resolve_unguarded(&self, pair: Pair, path: Path) -> u64 {
        let (Some(shared), Some(class)) = (self.cache.state(pair.state), self.class(pair.class)) else {
            return KEEP;
        };
        let mut wished = shared.original;
        let mut overrides = Changes::new();
        let mut by_rules = Vec::new();
        // No wish is worth the bits that were captured.
        let rules = if decide::replays(&shared.original, &self.caps) { 0 } else { shared.rules };
        for rule in self.rules.for_view(rules, &class.traits) {
            wished = decide::apply(&wished, &class.traits, &rule.wish, rule.guards_off, &mut overrides);
            by_rules.push(rule.name.as_str());
        }
        let mut decision = decide::pair(&wished, &class.traits, &self.caps, &self.policy);
        let mut choice = KEEP;
        let mut variant = None;
        let mut over_budget = false;
        let mut trouble: Option<(Rule, String)> = None;
        let mut wanted = decision.state.key();
        // In audit mode only the modes that no driver knows are replaced.
        let may_change = !self.audit || shared.original.address_mode.iter().any(|mode| decide::is_gl(*mode));
        if wanted != shared.base.key() && may_change {
            if let Some(s_type) = shared.unknown {
                let why =
                    format!("the sampler has a structure of type {s_type} chained, which a variant could not carry");
                trouble = Some((Rule::Flags, why));
            } else if self.is_pinned(pair.sampler) {
                if self.cache.is_shareable(pair.state) {
                    // It is just being given a place of its own; what holds for it must not hold for the others of this one.
                    return KEEP;
                }
                let why = "the sampler is immutable in a descriptor-buffer layout, so it must stay the same everywhere";
                trouble = Some((Rule::Flags, why.to_owned()));
            } else {
                let mut found = self.variant(pair.state, &shared, &decision.state);
                if matches!(found, Err(Refusal::Border))
                    && !by_rules.is_empty()
                    && decide::is_custom(shared.original.border_color)
                {
                    // No wish is worth the colour that the application has.
                    overrides = Changes::new();
                    decision = decide::pair(&shared.original, &class.traits, &self.caps, &self.policy);
                    wanted = decision.state.key();
                    found = if wanted == shared.base.key() {
                        trouble = Some((Rule::BorderBudget, decide::no_border_share(&self.caps)));
                        Ok(None)
                    } else {
                        self.variant(pair.state, &shared, &decision.state)
                    };
                }
                if matches!(found, Err(Refusal::Border)) {
                    let (state, change) =
                        decide::without_custom_border(&decision.state, Some(&class.traits), &self.caps);
                    decision.replace_border(state, change);
                    wanted = decision.state.key();
                    over_budget = true;
                    found = if wanted == shared.base.key() {
                        Ok(None)
                    } else {
                        self.variant(pair.state, &shared, &decision.state)
                    };
                }
                match found {
                    Ok(Some((made, usage))) => (choice, variant) = (made, Some(usage)),
                    Ok(None) | Err(Refusal::Border) => {}
                    Err(Refusal::Sampler(why)) => trouble = Some((Rule::SamplerBudget, why)),
                }
            }
        }
        let (choice, first) = self.cache.publish(&self.hot.choices, (pair.state, pair.class), &shared, choice, variant);
        if !first {
            // Another thread was faster; what was prepared here is not needed.
            if let Some(usage) = variant
                && let Some(unused) = self.cache.drop_use(pair.state, &shared, &usage)
            {
                self.destroy_variant(unused);
            }
            return choice;
        }
        let created = decide::create(&shared.original, &self.caps, &self.policy);
        let mut changes: Vec<Change> = Vec::new();
        // Equal to what creation made of it: then creation has told every change, by whichever rule. But for wishes: also one
        // that was held back, or that came to nothing, is told with its reason; and a colour that the view would have brought back
        // and that there was no place for.
        if trouble.is_none() && (wanted != shared.base.key() || overrides.iter().next().is_some() || over_budget) {
            changes.extend(overrides.iter());
            changes.extend(decide::new_changes(&decision.changes, &created.changes));
        }
        if path == Path::Draw {
            // Told for each link, once it is known what becomes of it.
            return choice;
        }
        if let Some(catalog) = decision.unresolved {
            let change =
                Change { catalog, field: decide::Field::Flags, from: decide::Value::Absent, to: decide::Value::Absent };
            let why = decide::because(&change, &self.context(Some(class)));
            self.pair_unresolved("pair", &why, catalog.rule(), catalog.vuid(), pair, &shared, class);
        }
        if let Some((rule, why)) = &trouble {
            self.pair_unresolved("pair", why, *rule, None, pair, &shared, class);
        }
        if !changes.is_empty() || self.records_all() {
            self.count(&changes);
            if self.records_decisions() {
                let (saturate, link) = (decision.saturate, serde_json::Map::new());
                let outcome = Outcome { changes: &changes, saturate, by_rules: &by_rules, choice, link };
                self.record_pair(pair, &shared, class, &outcome, path);
            }
        }
        choice
    }

    /// [`Device::immutable_conflict`] for `samplin-hot`.
    ///
    /// # Safety
    ///
    /// `device` points to a device.
    pub(super) unsafe fn immutable_conflict_for(device: *const c_void, pair: Pair) {
        // SAFETY: forwarded from the caller.
        let device = unsafe { &*device.cast::<Self>() };
        device.guard(|| device.immutable_conflict(pair), || ());
    }

    /// An immutable sampler meets a view that it conflicts with, for the first time by their state and class.
    #[cold]
    fn immutable_conflict(&self, pair: Pair) {
        let (Some(shared), Some(class)) = (self.cache.state(pair.state), self.class(pair.class)) else {
            return;
        };
        // When everything is recorded every pair is said to conflict.
        if self.relevant(shared.needs).0 & class.lacks.0 != 0 {
            let decision = decide::pair(&shared.original, &class.traits, &self.caps, &self.policy);
            let created = decide::create(&shared.original, &self.caps, &self.policy);
            let changes = decide::new_changes(&decision.changes, &created.changes);
            let catalog = changes.first().map(|change| change.catalog).or(decision.unresolved);
            if let Some(catalog) = catalog {
                let reason = changes.first().map_or_else(String::new, |change| {
                    format!(": {}", decide::because(change, &self.context(Some(class))))
                });
                let why = format!("the sampler is immutable, so it is the same for every view{reason}");
                self.pair_unresolved("immutable sampler", &why, catalog.rule(), catalog.vuid(), pair, &shared, class);
            }
        }
        self.cache.settle(&self.hot.choices, (pair.state, pair.class), &shared);
    }
}
