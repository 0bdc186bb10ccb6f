//! The process that records come from: its device, and who holds the places of its limits.

use std::collections::{HashMap, HashSet};

use samplin_core::budget::{BorderPlace, BorderPlaces, BorderWish, Cover, SamplerPlaces};
use samplin_core::decide::{DeviceCaps, Exempt, Policy, Rule, SamplerState, StateKey, ViewTraits};
use samplin_core::outcome::{self, Creation, Kept, Meeting, Off, Refusal, Terms, Wanted};

use super::lowering::Storage;

/// What is known of the process that records come from.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) caps: DeviceCaps,
    pub(super) policy: Policy,
    audit: bool,
    places: Places,
    /// What is done about storage images.
    pub(super) storage: Storage,
}

/// Who holds the places of its limits. The trace does not tell when samplers end: as many as the summary says were alive at once count, or
/// all, if there is none.
#[derive(Debug)]
struct Places {
    /// Samplers that ask for the same are one.
    shared: bool,
    /// Places of samplers, of which those of variants alone are counted.
    samplers: SamplerPlaces,
    /// Custom border colours in use.
    borders: BorderPlaces,
    /// How many samplers asked for one of them at once.
    at_once: usize,
    /// Samplers that asked for one of them.
    holders: HashSet<String>,
    /// Variants that exist, with how many states cover each by the share.
    variants: HashMap<StateKey, u32>,
    /// Variants with a custom border colour by the fingerprints of the states that use them.
    uses: HashSet<(String, StateKey)>,
    /// States whose place covers a variant.
    covering: HashSet<String>,
}

impl Host {
    /// One on which there is no sampler yet.
    pub(super) fn new(
        caps: DeviceCaps,
        policy: Policy,
        audit: bool,
        storage: Storage,
        at_once: (bool, Option<u32>),
    ) -> Self {
        let (shared, at_once) = at_once;
        let places = Places {
            shared,
            samplers: SamplerPlaces::default(),
            borders: BorderPlaces::new(caps.max_custom_border_color_samplers),
            at_once: at_once.map_or(usize::MAX, |at_once| at_once as usize),
            holders: HashSet::new(),
            variants: HashMap::new(),
            uses: HashSet::new(),
            covering: HashSet::new(),
        };
        Self { caps, policy, audit, places, storage }
    }

    /// What a sampler comes to whose record names this handle.
    pub(super) fn creation(&mut self, given: &SamplerState, handle: &str) -> Creation {
        let Self { caps, policy, audit, places, .. } = self;
        outcome::creation(given, Exempt::NONE, &Terms { caps, policy, audit: *audit }, |wish| {
            places.border(handle, wish)
        })
    }

    /// What it comes to that a sampler meets a view for the first time.
    pub(super) fn meeting(&mut self, fingerprint: &str, sampler: &Sampler, view: &ViewTraits) -> Meeting<'static, ()> {
        let Self { caps, policy, audit, places, .. } = self;
        let limit = caps.max_sampler_allocation_count;
        outcome::meeting(&sampler.kept, view, [], Off::NONE, &Terms { caps, policy, audit: *audit }, |wanted| {
            places.variant(fingerprint, sampler.border, wanted, limit)
        })
    }
}

impl Places {
    fn border(&mut self, handle: &str, wish: BorderWish) -> BorderPlace {
        if self.holders.len() < self.at_once && self.holders.insert(handle.to_owned()) {
            return self.borders.ask(wish).0;
        }
        // The driver's one object for equal states, or a new one in an old place.
        match wish {
            BorderWish::Take { .. } => BorderPlace::Held,
            BorderWish::GiveUp => BorderPlace::GivenUp,
        }
    }

    /// Takes the places of a variant for a state, unless they are taken.
    fn variant(
        &mut self,
        fingerprint: &str,
        border: BorderPlace,
        wanted: &Wanted<'_>,
        limit: u32,
    ) -> Result<(), Refusal> {
        let shared = self.variants.get(&wanted.key).copied();
        let user = (fingerprint.to_owned(), wanted.key);
        // As the layer, which gives the one place back if there is none of the other.
        let mut borders = self.borders.clone();
        let mut cover = None;
        if wanted.custom_border && !self.uses.contains(&user) {
            let mut own = border == BorderPlace::GivenUp && !self.covering.contains(fingerprint);
            cover = Some(borders.cover(shared, &mut own).ok_or(Refusal::Border)?);
        }
        if shared.is_none() {
            self.samplers
                .lend(limit, self.shared, wanted.wished, || 0)
                .map_err(|why| Refusal::Sampler(Rule::SamplerBudget, why))?;
        }
        self.borders = borders;
        *self.variants.entry(wanted.key).or_insert(0) += u32::from(cover == Some(Cover::Shared));
        if cover == Some(Cover::Own) {
            self.covering.insert(fingerprint.to_owned());
        }
        if cover.is_some() {
            self.uses.insert(user);
        }
        Ok(())
    }
}

/// A sampler as the layer keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampler {
    /// What its meetings are decided from.
    pub(super) kept: Kept,
    /// What it has of `maxCustomBorderColorSamplers`.
    pub(super) border: BorderPlace,
}
