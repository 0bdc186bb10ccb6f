//! The samplers made for states: which exist, how many uses each has, and the custom border colours that they take.

use super::Cache;
use crate::budget::{BorderPlaces, Cover};
use crate::decide::StateKey;
use crate::table::{FastMap, lock};

/// A use of a variant by a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantUse {
    pub(super) key: StateKey,
    /// What covers its place for a custom border colour; `None` without one, and where another use by the state does.
    pub(super) cover: Option<Cover>,
}

/// A sampler made for states.
pub(super) struct Variant {
    pub(super) handle: u64,
    pub(super) uses: u32,
    /// Uses that are covered by a place of the share.
    pub(super) shared: u32,
    pub(super) custom_border: bool,
}

/// A variant that nobody uses any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The driver's sampler, to be destroyed.
    pub handle: u64,
    /// It holds a place of `maxCustomBorderColorSamplers`.
    pub custom_border: bool,
}

impl Variant {
    pub(super) fn add(&mut self, usage: &VariantUse) {
        self.uses += 1;
        self.shared += u32::from(usage.cover == Some(Cover::Shared));
    }

    pub(super) fn gone(self) -> Gone {
        Gone { handle: self.handle, custom_border: self.custom_border }
    }
}

impl Cache {
    /// The variant with this state.
    pub fn variant_of(&self, key: &StateKey) -> Option<u64> {
        lock(&self.variants).by_key.get(key).map(|variant| variant.handle)
    }
}

/// Every variant of a device.
#[derive(Default)]
pub(super) struct Variants {
    pub(super) by_key: FastMap<StateKey, Variant>,
    pub(super) census: Census,
    pub(super) borders: BorderPlaces,
    /// Some may be without a use, see [`Variants::leave`].
    pub(super) has_unused: bool,
}

impl Variants {
    pub(super) fn unuse(&mut self, usage: &VariantUse) -> Option<Gone> {
        if self.count_down(usage)? > 0 {
            return None;
        }
        let variant = self.by_key.remove(&usage.key)?;
        self.census.live -= 1;
        Some(variant.gone())
    }

    /// Gives a use back where no sampler may be destroyed: a variant that was its last waits for the next use, or for
    /// [`Variants::take_unused`].
    pub(super) fn leave(&mut self, usage: &VariantUse) {
        self.has_unused |= self.count_down(usage) == Some(0);
    }

    /// How many wait without a use.
    pub(super) fn unused(&self) -> usize {
        if self.has_unused { self.by_key.values().filter(|variant| variant.uses == 0).count() } else { 0 }
    }

    /// Takes them.
    pub(super) fn take_unused(&mut self) -> impl Iterator<Item = Gone> {
        let Self { by_key, census, has_unused, .. } = self;
        let unused = std::mem::take(has_unused).then(|| by_key.extract_if(|_, variant| variant.uses == 0));
        unused.into_iter().flatten().map(|(_, variant)| {
            census.live -= 1;
            variant.gone()
        })
    }

    /// Uses that are left of its variant.
    fn count_down(&mut self, usage: &VariantUse) -> Option<u32> {
        let variant = self.by_key.get_mut(&usage.key)?;
        variant.uses -= 1;
        if usage.cover == Some(Cover::Shared) {
            variant.shared -= 1;
            if variant.shared == 0 {
                self.borders.unshare();
            }
        }
        Some(variant.uses)
    }
}

/// How many of something there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Now.
    pub live: u32,
    /// At most, at any time.
    pub peak: u32,
    /// Ever.
    pub created: u64,
}

impl Census {
    pub(super) fn add(&mut self) {
        self.live += 1;
        self.peak = self.peak.max(self.live);
        self.created += 1;
    }
}
