//! The samplers that the layer makes itself, in the places of the limits that the application leaves to it.

use ash::vk;
use samplin_core::left::{Cause, Clause};
use samplin_wire::text::handle;

use super::driver::Driver;
use super::ground::Ground;
use super::hot::Hot;
use super::samplers::Samplers;
use crate::budget::{BorderPlace, BorderPlaces};
use crate::decide::{Rule, StateKey};
use crate::outcome::{Refusal, Wanted};
use crate::sampler_info;
use crate::variant::{FoundState, Gone, Released, Reserved, VariantUse};

impl Samplers {
    /// The sampler that is wanted for the state in row `number`, shared with whoever else needs the same one.
    pub(super) fn variant(
        &self,
        ground: &Ground,
        number: u32,
        decided: &FoundState,
        wanted: &Wanted<'_>,
    ) -> Result<(u64, VariantUse), Refusal> {
        let custom = wanted.custom_border;
        let usage = match self.rows(&ground.hot).reserve(number, decided, wanted.key, custom) {
            Reserved::Made(handle, usage) => return Ok((handle, usage)),
            Reserved::ToMake(usage) => usage,
            Reserved::NoBorder => {
                tracing::debug!(state = number, "variant refused: no place is left for its custom border colour");
                return Err(Refusal::Border);
            }
        };
        let made = match self.make(&ground.hot, &ground.driver, wanted) {
            Ok(made) => match self.cache.add_variant(&usage, made, custom) {
                Some((handle, true)) => return Ok((handle, usage)),
                added => {
                    // Nobody has met it, so nobody has to forget it, which takes locks that pairs are decided under.
                    self.destroy_made(&ground.driver, Gone { handle: made, custom_border: custom });
                    added.map(|(handle, _)| handle).ok_or_else(|| Cause::NoMemoryForSampler.into())
                }
            },
            Err(why) => {
                if custom {
                    self.cache.with_borders(BorderPlaces::give_back);
                }
                Err(why)
            }
        };
        made.map(|handle| (handle, usage)).map_err(|why| {
            self.rows(&ground.hot).abandon(number, decided, &usage);
            tracing::debug!(state = number, why = &*why, "variant refused");
            Refusal::Sampler(Rule::SamplerBudget, why)
        })
    }

    /// The variant with this state.
    pub(super) fn variant_of(&self, key: StateKey) -> Option<u64> {
        self.cache.variant_of(&key)
    }

    /// A new sampler, which holds one of the variants' places.
    fn make(&self, hot: &Hot, driver: &Driver, wanted: &Wanted<'_>) -> Result<u64, Clause> {
        let Some(create) = driver.fns.create_sampler else {
            return Err(Cause::NoCreateSampler.into());
        };
        let live = || self.driver_samplers(hot);
        let limit = driver.caps.max_sampler_allocation_count.saturating_sub(driver.enabled.embedded_places);
        self.places.lend(limit, self.shared.shares(), wanted.wished, live)?;
        let mut made = vk::Sampler::null();
        // SAFETY: the create info is legal for this device, its chain is made of live locals, and a NULL allocator is always
        // allowed: the application's own one is only promised for the call it was passed to.
        let result = unsafe {
            sampler_info::with_create_info(wanted.state, None, |info, _| {
                create(driver.handle, info, std::ptr::null(), &mut made)
            })
        };
        if result != vk::Result::SUCCESS {
            self.places.give_back();
            return Err(Cause::SamplerFailed.with(&[&format_args!("{result:?}")]).why);
        }
        tracing::debug!(sampler = handle(vk::Handle::as_raw(made)), "variant made");
        Ok(vk::Handle::as_raw(made))
    }

    /// Destroys a variant that is no longer used. Its places are free only after that.
    pub(super) fn destroy_variant(&self, ground: &Ground, gone: Gone) {
        if let Some(follower) = &ground.follower {
            follower.forget_variant(&ground.driver, gone.handle);
        }
        self.destroy_made(&ground.driver, gone);
    }

    fn destroy_made(&self, driver: &Driver, gone: Gone) {
        if let Some(destroy) = driver.fns.destroy_sampler {
            // SAFETY: the sampler was created by `make` with a NULL allocator and is named by no descriptor in use: nobody has met it, or
            // every application sampler that it stood in for is being destroyed, so work that refers to it is complete
            // (VUID-vkDestroySampler-sampler-01082).
            unsafe { destroy(driver.handle, vk::Handle::from_raw(gone.handle), std::ptr::null()) };
        }
        self.places.give_back();
        if gone.custom_border {
            self.cache.with_borders(BorderPlaces::give_back);
        }
    }

    /// Destroys the variants that went with a sampler. Returns what the sampler has of `maxCustomBorderColorSamplers`, which is free only
    /// when the driver has destroyed it.
    #[must_use]
    pub(super) fn destroy_released(&self, ground: &Ground, released: Released) -> BorderPlace {
        for variant in released.variants {
            self.destroy_variant(ground, variant);
        }
        released.border
    }

    /// Destroys every variant: for the end of the device.
    pub fn destroy_variants(&self, ground: &Ground) {
        for variant in self.cache.take_variants() {
            self.destroy_variant(ground, variant);
        }
    }
}
