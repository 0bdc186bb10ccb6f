//! Limits on how many samplers there may be, and who gets the places: the application comes first.
//!
//! Knows `maxSamplerAllocationCount` and `maxCustomBorderColorSamplers` as numbers of places. Does not know what holds them.

use std::sync::atomic::{AtomicU32, Ordering};

/// Places of a limit that variants share, beyond those that samplers of the application asked for and gave up: an eighth, and
/// none of a limit below 1024, which applications do reach.
pub const fn share(limit: u32) -> u32 {
    if limit < 1024 { 0 } else { limit / 8 }
}

/// The application is within a limit and variants hold what it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded {
    /// Places that the application wants, the one just now included.
    pub application: u32,
    /// Places that variants hold.
    pub variants: u32,
}

/// Places of `maxSamplerAllocationCount`. Every sampler takes one, so they are counted without a lock.
#[derive(Debug, Default)]
pub struct SamplerPlaces {
    /// Samplers that the driver has or is being asked for.
    taken: AtomicU32,
    /// Variants among them.
    variants: AtomicU32,
}

impl SamplerPlaces {
    /// Samplers that the driver has.
    pub fn taken(&self) -> u32 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a place for the application, which is never refused: if it goes over the limit alone, the driver says so.
    #[inline]
    pub fn enter(&self, limit: u32) -> Option<Crowded> {
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        if before < limit { None } else { self.crowded(before, limit) }
    }

    #[cold]
    fn crowded(&self, before: u32, limit: u32) -> Option<Crowded> {
        let variants = self.variants.load(Ordering::Relaxed);
        let application = before.saturating_sub(variants).saturating_add(1);
        (application <= limit).then_some(Crowded { application, variants })
    }

    /// Gives a place of the application back, after the driver has destroyed the sampler.
    pub fn leave(&self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a place for a variant.
    ///
    /// # Errors
    ///
    /// If the variants have their share or nothing is left; says why.
    pub fn lend(&self, limit: u32) -> Result<(), String> {
        let take = |count: &AtomicU32, bound: u32| {
            let below = |now: u32| (now < bound).then_some(now + 1);
            count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, below)
        };
        if let Err(variants) = take(&self.variants, share(limit)) {
            return Err(no_share(limit, variants));
        }
        take(&self.taken, limit).map(|_| ()).map_err(|live| {
            self.variants.fetch_sub(1, Ordering::Relaxed);
            format!("{live} samplers are live and maxSamplerAllocationCount allows no more")
        })
    }

    /// Gives a place of a variant back, after the driver has destroyed it.
    pub fn give_back(&self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
        self.variants.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why there is no variant while `variants` have their share of `maxSamplerAllocationCount`.
fn no_share(limit: u32, variants: u32) -> String {
    format!(
        "variants hold {variants} of the {} samplers that they share of maxSamplerAllocationCount, {limit}; \
         the others are the application's",
        share(limit)
    )
}

/// What a sampler of the application has of `maxCustomBorderColorSamplers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BorderPlace {
    /// Nothing: it did not ask, or there was nothing to be had.
    #[default]
    None,
    /// It asked for a custom border colour and was created with a predefined one, so a variant may have the place.
    GivenUp,
    /// It was created with a custom border colour.
    Held,
}

/// What a sampler of the application wants of `maxCustomBorderColorSamplers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorderWish {
    /// A place. Where it `must` be created as it is, it is not refused.
    Take {
        /// See there.
        must: bool,
    },
    /// None, although it asked for a custom border colour: a variant may have its place.
    GiveUp,
}

/// What stands for the place that a variant with a custom border colour takes, for one state that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// The place that a sampler of this state gave up.
    Own,
    /// A place of the share.
    Shared,
}

/// Places of `maxCustomBorderColorSamplers`.
///
/// Every state that uses a variant covers it, because each may be the last that does. A state covers one variant at most by a
/// place that it gave up: it may lose all its samplers but one. So with no share there are never more custom border colours
/// than samplers of the application that asked for one, and the next such sampler finds its place.
#[derive(Clone, Debug, Default)]
pub struct BorderPlaces {
    limit: u32,
    /// Samplers of the application that asked for a place and were not refused.
    asked: u32,
    /// Custom border colours that the driver has or is being asked for.
    taken: u32,
    /// Those of variants among them.
    variants: u32,
    /// Variants that are covered by the share.
    shared: u32,
    peak: u32,
}

impl BorderPlaces {
    /// None is taken.
    pub fn new(limit: u32) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Custom border colours that the driver has.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// The most that it ever had.
    pub fn peak(&self) -> u32 {
        self.peak
    }

    fn take(&mut self) {
        self.taken += 1;
        self.peak = self.peak.max(self.taken);
    }

    /// Gives a sampler of the application what it wants.
    pub fn ask(&mut self, wish: BorderWish) -> (BorderPlace, Option<Crowded>) {
        match wish {
            BorderWish::Take { must } => self.enter(must),
            BorderWish::GiveUp => (self.give_up(), None),
        }
    }

    /// Takes a place for a sampler of the application. Only its own count may refuse it (VUID-VkSamplerCreateInfo-None-04012), and
    /// not if `must`: then it is created in any case.
    pub fn enter(&mut self, must: bool) -> (BorderPlace, Option<Crowded>) {
        let is_full = self.taken >= self.limit;
        if is_full && self.asked >= self.limit && !must {
            return (BorderPlace::None, None);
        }
        let crowded = (is_full && self.asked < self.limit)
            .then_some(Crowded { application: self.asked + 1, variants: self.variants });
        self.asked += 1;
        self.take();
        (BorderPlace::Held, crowded)
    }

    /// Counts a sampler of the application that asked for a place and does not take it.
    pub fn give_up(&mut self) -> BorderPlace {
        self.asked += 1;
        BorderPlace::GivenUp
    }

    /// A sampler of the application and its variants are destroyed, or its creation failed.
    pub fn leave(&mut self, place: BorderPlace) {
        self.asked = self.asked.saturating_sub(u32::from(place != BorderPlace::None));
        self.taken = self.taken.saturating_sub(u32::from(place == BorderPlace::Held));
    }

    /// Covers the use of a variant, and takes its place if it is to be made. `shared` says how many states cover it by the share,
    /// if it is there; `own` says whether the state has a place that covers nothing yet, which is then used up. `None` if it cannot be
    /// covered.
    pub fn cover(&mut self, shared: Option<u32>, own: &mut bool) -> Option<Cover> {
        if shared.is_none() && self.taken >= self.limit {
            return None;
        }
        let cover = if *own { Cover::Own } else { Cover::Shared };
        if cover == Cover::Shared && shared.unwrap_or(0) == 0 {
            if self.shared >= share(self.limit) {
                return None;
            }
            self.shared += 1;
        }
        if shared.is_none() {
            self.variants += 1;
            self.take();
        }
        *own = false;
        Some(cover)
    }

    /// No state covers a variant by the share any more.
    pub fn unshare(&mut self) {
        self.shared = self.shared.saturating_sub(1);
    }

    /// A variant is destroyed, or was not made.
    pub fn give_back(&mut self) {
        self.taken = self.taken.saturating_sub(1);
        self.variants = self.variants.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_an_eighth_and_nothing_of_little() {
        assert_eq!([0, 1, 24, 96, 1023].map(share), [0; 5]);
        assert_eq!([1024, 4000, 4096, u32::MAX].map(share), [128, 500, 512, u32::MAX / 8]);
    }

    #[test]
    fn samplers_of_the_application_are_not_refused_for_variants() {
        let places = SamplerPlaces::default();
        assert!(places.lend(96).is_err(), "a small limit is the application's");
        for _ in 0..1023 {
            assert_eq!(places.enter(1024), None);
        }
        assert_eq!(places.lend(1024), Ok(()));
        assert!(places.lend(1024).is_err());
        assert_eq!(places.enter(1024), Some(Crowded { application: 1024, variants: 1 }));
        assert_eq!(places.enter(1024), None, "alone over the limit");
        places.leave();
        places.leave();
        places.give_back();
        assert_eq!(places.enter(1024), None);
    }

    #[test]
    fn a_place_that_was_given_up_covers_one_variant() {
        let mut places = BorderPlaces::new(2);
        assert_eq!(places.cover(None, &mut false), None, "no share of a small limit");
        let given_up = places.give_up();
        let mut own = true;
        assert_eq!(places.cover(None, &mut own), Some(Cover::Own));
        assert!(!own, "it covers one only");
        assert_eq!(places.enter(false), (BorderPlace::Held, None));
        assert_eq!(places.enter(false), (BorderPlace::None, None), "the application's own count");
        assert_eq!(places.enter(true), (BorderPlace::Held, None));
        places.leave(BorderPlace::Held);
        places.give_back();
        places.leave(given_up);
        assert_eq!(places.enter(false), (BorderPlace::Held, None));
        assert_eq!((places.taken(), places.peak()), (2, 3));
    }

    #[test]
    fn what_variants_share_may_crowd_the_application_and_is_named() {
        let mut places = BorderPlaces::new(1024);
        assert_eq!(places.cover(None, &mut false), Some(Cover::Shared));
        for _ in 0..1023 {
            assert_eq!(places.enter(false), (BorderPlace::Held, None));
        }
        let mut own = true;
        assert_eq!(places.cover(None, &mut own), None, "nothing is left");
        assert!(own, "what covers nothing is not used up");
        assert_eq!(places.cover(Some(1), &mut false), Some(Cover::Shared), "but it is there already");
        let crowded = Crowded { application: 1024, variants: 1 };
        assert_eq!(places.enter(false), (BorderPlace::Held, Some(crowded)));
        assert_eq!(places.enter(false), (BorderPlace::None, None));
    }
}
