//! The process that records come from: its device, and who holds the places of its limits.

use std::collections::{HashMap, HashSet};

use samplin_core::budget::{self, BorderPlace, BorderPlaces, Cover};
use samplin_core::decide::{self, Decision, DeviceCaps, Policy, SamplerState, StateKey, ViewTraits};

/// What is known of the process that records come from.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) caps: DeviceCaps,
    pub(super) policy: Policy,
    pub(super) audit: bool,
    /// Custom border colours in use. The trace does not tell when samplers end, so all count as alive.
    pub(super) borders: BorderPlaces,
    /// Samplers that asked for one of them.
    pub(super) holders: HashSet<String>,
    /// Variants that exist, with how many states cover each by the share.
    pub(super) variants: HashMap<StateKey, u32>,
    /// Variants with a custom border colour by the fingerprints of the states that use them.
    pub(super) uses: HashSet<(String, StateKey)>,
    /// States whose place covers a variant.
    pub(super) covering: HashSet<String>,
}

/// What a pair needs beyond the sampler that creation made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Nothing.
    None,
    /// Another sampler.
    Made,
    /// Another sampler, without the custom border colour that there was no place for.
    OverBudget,
    /// Another sampler, which there is no place for, for this reason.
    Refused(String),
}

/// Why there is no variant.
pub(super) enum Refusal {
    Border,
    Sampler(String),
}

impl Host {
    /// Decides a pair as the layer does when it meets one for the first time.
    pub(super) fn pair(&mut self, fingerprint: &str, kept: &Kept, view: &ViewTraits) -> (Decision, Variant) {
        let mut decision = decide::pair(&kept.original, view, &self.caps, &self.policy);
        let may_change = !self.audit || kept.original.address_mode.iter().any(|mode| decide::is_gl(*mode));
        if decision.state.key() == kept.base.key() || !may_change {
            return (decision, Variant::None);
        }
        let mut found = self.variant(fingerprint, kept, &decision.state);
        let mut variant = Variant::Made;
        if matches!(found, Err(Refusal::Border)) {
            let (without, change) = decide::without_custom_border(&decision.state, Some(view), &self.caps);
            decision.replace_border(without, change);
            variant = Variant::OverBudget;
            found = if without.key() == kept.base.key() {
                Ok(())
            } else {
                self.variant(fingerprint, kept, &decision.state)
            };
        }
        if let Err(Refusal::Sampler(why)) = found {
            variant = Variant::Refused(why);
        }
        (decision, variant)
    }

    /// Takes the places of a variant for a state, unless they are taken.
    fn variant(&mut self, fingerprint: &str, kept: &Kept, state: &SamplerState) -> Result<(), Refusal> {
        let key = state.key();
        let shared = self.variants.get(&key).copied();
        let limit = self.caps.max_sampler_allocation_count;
        let used = u32::try_from(self.variants.len()).unwrap_or(u32::MAX);
        let is_full = shared.is_none() && used >= budget::share(limit);
        let user = (fingerprint.to_owned(), key);
        if decide::is_custom(state.border_color) && !self.uses.contains(&user) {
            let own = kept.border == BorderPlace::GivenUp && !self.covering.contains(fingerprint);
            if is_full {
                // As the layer, which asks for this place first and gives it back.
                self.borders.clone().cover(shared, own).ok_or(Refusal::Border)?;
            } else {
                let cover = self.borders.cover(shared, own).ok_or(Refusal::Border)?;
                *self.variants.entry(key).or_insert(0) += u32::from(cover == Cover::Shared);
                if cover == Cover::Own {
                    self.covering.insert(fingerprint.to_owned());
                }
                self.uses.insert(user);
            }
        }
        if is_full {
            return Err(Refusal::Sampler(budget::no_share(limit, used)));
        }
        self.variants.entry(key).or_insert(0);
        Ok(())
    }
}

/// A state as the layer keeps it: what was asked for and what creation made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) original: SamplerState,
    pub(super) base: SamplerState,
    pub(super) border: BorderPlace,
}
