//! Limits on how many samplers there may be, and who gets the places: the application comes first.
//!
//! Knows `maxSamplerAllocationCount` and `maxCustomBorderColorSamplers` as numbers of places. Does not know what holds them.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::decide::Rule;
use crate::left::{Cause, Clause, Explained};

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

/// Places of `maxSamplerAllocationCount` that variants leave free, for samplers that threads are just creating or destroying: those are
/// counted when the driver has made them, and until it is asked to destroy them.
pub const IN_FLIGHT: u32 = 64;

/// Up to how many samplers of the application there is a place for each, however many variants there are.
pub const fn uncrowded(limit: u32) -> u32 {
    limit - share(limit)
}

/// How many samplers are near the limit: what is left is an eighth.
pub const fn near(limit: u32) -> u32 {
    limit - limit / 8
}

/// Places of `maxSamplerAllocationCount` that variants hold. Those of the application are counted by whoever keeps its samplers.
#[derive(Debug, Default)]
pub struct SamplerPlaces {
    variants: AtomicU32,
}

impl SamplerPlaces {
    /// Variants that the driver has or is being asked for.
    pub fn variants(&self) -> u32 {
        self.variants.load(Ordering::Relaxed)
    }

    /// Whether the application, which has so many samplers now, went over the limit for variants alone. It is never refused: if it goes
    /// over alone, the driver says so.
    pub fn crowded(&self, application: u32, limit: u32) -> Option<Crowded> {
        let variants = self.variants();
        let is_over = application.saturating_add(variants) > limit;
        (is_over && application <= limit).then_some(Crowded { application, variants })
    }

    /// Takes a place for a variant beside the samplers of the application, which are counted after that. Where these are `shared`, a place
    /// is nobody's in particular. What is only `wished` leaves the last quarter to repairs.
    ///
    /// # Errors
    ///
    /// If the variants have their share or nothing is left; says why.
    pub fn lend(
        &self,
        limit: u32,
        shared: bool,
        wished: bool,
        application: impl FnOnce() -> u32,
    ) -> Result<(), Clause> {
        let bound = if shared { limit } else { share(limit) };
        let bound = if wished { bound - bound / 4 } else { bound };
        let below = |now: u32| (now < bound).then_some(now + 1);
        let before = self.variants.fetch_update(Ordering::Relaxed, Ordering::Relaxed, below);
        let variants = before.map_err(|variants| no_share(limit, variants, bound, wished))?;
        let live = application().saturating_add(variants);
        if live.saturating_add(IN_FLIGHT) < limit {
            return Ok(());
        }
        self.give_back();
        Err(Cause::LastPlaces.with(&[&live, &limit, &IN_FLIGHT]).why)
    }

    /// Gives a place of a variant back, after the driver has destroyed it.
    pub fn give_back(&self) {
        self.variants.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why there is no variant while `variants` hold all places that they may have of `maxSamplerAllocationCount`.
fn no_share(limit: u32, variants: u32, bound: u32, wished: bool) -> Clause {
    let cause = if wished { Cause::OverrideShare } else { Cause::VariantShare };
    cause.with(&[&variants, &bound, &limit]).why
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
    /// It was created with a predefined one because the application has as many as the limit allows.
    Refused,
}

/// The application asked for more than a limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// What it asked for at once.
    pub asked: u32,
    /// The limit.
    pub limit: u32,
}

/// A limit on how many samplers there may be at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `maxSamplerAllocationCount`.
    Samplers,
    /// `maxCustomBorderColorSamplers`.
    CustomBorders,
}

impl Limit {
    /// The rule that is about it.
    pub fn rule(self) -> Rule {
        match self {
            Self::Samplers => Rule::SamplerBudget,
            Self::CustomBorders => Rule::BorderBudget,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Samplers => "maxSamplerAllocationCount",
            Self::CustomBorders => "maxCustomBorderColorSamplers",
        }
    }

    /// The valid usage that holds the application to it.
    pub fn vuid(self) -> &'static str {
        match self {
            Self::Samplers => "VUID-vkCreateSampler-maxSamplerAllocationCount-04110",
            Self::CustomBorders => "VUID-VkSamplerCreateInfo-None-04012",
        }
    }
}

impl Overrun {
    /// What is wrong.
    pub fn explained(&self, of: Limit) -> Explained {
        let cause = match of {
            Limit::Samplers => Cause::SamplerOverrun,
            Limit::CustomBorders => Cause::BorderOverrun,
        };
        cause.with(&[&of.name(), &self.limit, &self.asked])
    }

    /// Of so many that were asked for at once, if they are too many.
    pub fn of(asked: u32, limit: u32) -> Option<Self> {
        (asked > limit).then_some(Self { asked, limit })
    }
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
    /// Those that were.
    refused: u32,
    /// The most of both at a time.
    asked_peak: u32,
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

    /// The most samplers that the application asked for at a time, whether it got places for all or not.
    pub fn asked_peak(&self) -> u32 {
        self.asked_peak
    }

    /// Whether the application asks for more than there are.
    pub fn overrun(&self) -> Option<Overrun> {
        Overrun::of(self.asked + self.refused, self.limit)
    }

    fn take(&mut self) {
        self.taken += 1;
        self.peak = self.peak.max(self.taken);
    }

    /// Gives a sampler of the application what it wants.
    pub fn ask(&mut self, wish: BorderWish) -> (BorderPlace, Option<Crowded>) {
        let granted = match wish {
            BorderWish::Take { must } => self.enter(must),
            BorderWish::GiveUp => (self.give_up(), None),
        };
        self.asked_peak = self.asked_peak.max(self.asked + self.refused);
        granted
    }

    /// Takes a place for a sampler of the application. Only its own count may refuse it (VUID-VkSamplerCreateInfo-None-04012), and
    /// not if `must`: then it is created in any case.
    pub fn enter(&mut self, must: bool) -> (BorderPlace, Option<Crowded>) {
        let is_full = self.taken >= self.limit;
        if is_full && self.asked >= self.limit && !must {
            self.refused += 1;
            return (BorderPlace::Refused, None);
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
        self.asked = self.asked.saturating_sub(u32::from(matches!(place, BorderPlace::Held | BorderPlace::GivenUp)));
        self.refused = self.refused.saturating_sub(u32::from(place == BorderPlace::Refused));
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
        assert!(places.lend(96, false, false, || 0).is_err(), "a small limit is the application's");
        assert_eq!(places.lend(96, true, false, || 0), Ok(()), "unless its samplers are shared");
        assert!(places.lend(96, true, false, || 96 - IN_FLIGHT).is_err());
        places.give_back();
        assert!(places.lend(1024, false, false, || 1024 - IN_FLIGHT).is_err(), "for what is being created");
        assert_eq!(places.lend(1024, false, false, || 1023 - IN_FLIGHT), Ok(()));
        assert!(places.lend(1024, false, false, || 1023 - IN_FLIGHT).is_err());
        assert_eq!(places.variants(), 1, "what was refused is given back");
        assert_eq!(places.crowded(1023, 1024), None);
        assert_eq!(places.crowded(1024, 1024), Some(Crowded { application: 1024, variants: 1 }));
        assert_eq!(places.crowded(1025, 1024), None, "alone over the limit");
        places.give_back();
        assert_eq!(places.crowded(1024, 1024), None);
    }

    #[test]
    fn overrides_leave_a_quarter_to_repairs() {
        let places = SamplerPlaces::default();
        let taken = |wished| (0..1024).take_while(|_| places.lend(1024, false, wished, || 0).is_ok()).count();
        assert_eq!(taken(true), 96);
        assert_eq!(taken(false), 32);
        assert_eq!(taken(true), 0);
    }

    #[test]
    fn variants_crowd_nobody_who_leaves_them_their_share() {
        for limit in [0, 96, 1023, 1024, 4000, u32::MAX] {
            let places = SamplerPlaces::default();
            for _ in 0..share(limit).min(1000) {
                assert_eq!(places.lend(limit, false, false, || 0), Ok(()));
            }
            assert_eq!(places.crowded(uncrowded(limit), limit), None, "{limit}");
        }
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
        assert_eq!(places.enter(false), (BorderPlace::Refused, None), "the application's own count");
        places.leave(BorderPlace::Refused);
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
        assert_eq!(places.enter(false), (BorderPlace::Refused, None));
    }

    #[test]
    fn what_the_application_asks_for_beyond_a_limit_is_counted_exactly() {
        let mut places = BorderPlaces::new(2);
        let take = BorderWish::Take { must: false };
        let given = [take, take, BorderWish::GiveUp, take].map(|wish| {
            let place = places.ask(wish).0;
            (place, places.overrun().map(|over| over.asked))
        });
        assert_eq!(
            given,
            [
                (BorderPlace::Held, None),
                (BorderPlace::Held, None),
                (BorderPlace::GivenUp, Some(3)),
                (BorderPlace::Refused, Some(4)),
            ]
        );
        for (place, _) in given {
            places.leave(place);
        }
        assert_eq!((places.overrun(), places.taken(), places.asked_peak()), (None, 0, 4));
        // Full is not over.
        assert_eq!((places.ask(take).0, places.ask(take).0), (BorderPlace::Held, BorderPlace::Held));
        assert_eq!(places.overrun(), None);
    }
}
