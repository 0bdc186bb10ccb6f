use alloc::{format, string::String};

use ash::vk;

use crate::decide::{Catalog, Change, Context, Field, Judgement, SamplerState, Value};

rule! { ($)
    /// Anisotropy without the feature, beyond the device's limit, or together with a filter that excludes it; with
    ///   `aniso_nearest=off` also where both filters are NEAREST.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-anisotropyEnable-01070: `samplerAnisotropy` has to be enabled.
    /// VUID-VkSamplerCreateInfo-anisotropyEnable-01071: `maxAnisotropy` lies between 1 and `maxSamplerAnisotropy`.
    /// VUID-VkSamplerCreateInfo-magFilter-01081: no anisotropy with CUBIC.
    ///
    /// "The particular scheme for anisotropic texture filtering is implementation-dependent" (Image Operations > Texel Anisotropic
    ///   Filtering), and a note there expects no consistent behaviour of NEAREST filters with it.
    ///
    /// ## Who trips over it
    ///
    /// Programs that ask for 16 everywhere, or forget to enable the feature. A `maxAnisotropy` of NaN or below 1 crashes some
    ///   drivers in `vkCreateSampler`.
    /// Games with blocky textures: anisotropy on NEAREST filters is legal, sharp on some drivers and smooth on others, on some of
    ///   them with a degree of 1 too.
    ///
    /// ## What is lost
    ///
    /// Anisotropic quality. What the device can do is kept.
    /// With `aniso_nearest=off`, what the driver happened to show. A sampler with one LINEAR filter keeps its anisotropy.
    ///
    /// ## In the application
    ///
    /// ```c
    /// features.samplerAnisotropy = supported.samplerAnisotropy;      /* at vkCreateDevice */
    /// info.anisotropyEnable = features.samplerAnisotropy && degree > 1.0f && info.minFilter == VK_FILTER_LINEAR;
    /// info.maxAnisotropy = fminf(16.0f, properties.limits.maxSamplerAnisotropy);
    /// ```
    ///
    /// ## Settings
    ///
    /// - `augment=on` does not enable the feature for the application's own samplers; a rule that sets `max_anisotropy` does.
    /// - `aniso_nearest=off` switches anisotropy off where both filters are NEAREST; it is the default on a simulated device that
    ///   has the quirk `anisotropy-smooths-nearest` in its capability file.
    /// - A rule with `set = { max_anisotropy = 1 }` switches it off for the pairs that it matches; no guard holds that back.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    anisotropy Anisotropy "anisotropy" lost_by lost {
        A5 "A-5" Vuid("VUID-VkSamplerCreateInfo-anisotropyEnable-01070")
            lost "anisotropic quality", disabled "samplerAnisotropy";
        A6 "A-6" Vuid("VUID-VkSamplerCreateInfo-anisotropyEnable-01071")
            lost "anisotropic quality", by out_of_range;
        A7 "A-7" Vuid("VUID-VkSamplerCreateInfo-magFilter-01081")
            lost "anisotropic quality; CUBIC is kept", because "CUBIC and anisotropy exclude each other";
        B9 "B-9" Text("Image Operations > Texel Anisotropic Filtering")
            lost "anisotropic quality", because "anisotropy without a LINEAR filter is implementation-defined";
        AnisoNearest "S-6" Text("Image Operations > Texel Anisotropic Filtering")
            lost "what this driver happened to show",
            because "the result of anisotropy with NEAREST filters is implementation-defined, and some drivers smooth";
    }
}

pub(super) fn out_of_range(_: &Change, context: &Context<'_>) -> String {
    let limit = context.caps.max_sampler_anisotropy;
    format!("maxAnisotropy must be within 1 and maxSamplerAnisotropy, {limit}")
}

/// A change of the degree loses less than switching it off.
pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    let is_degree = (change.catalog, change.field) == (Catalog::A6, Field::MaxAnisotropy);
    is_degree.then_some("anisotropic quality above the limit")
}

/// Whether anisotropy meets a sampler without any LINEAR filter: "Applications should not expect consistent behavior in such cases" (Texel
/// Anisotropic Filtering, of filters of NEAREST). With one LINEAR filter there is something that it makes sharper.
pub(in crate::decide) fn is_anisotropic_nearest(state: &SamplerState) -> bool {
    let nearest = vk::Filter::NEAREST;
    state.anisotropy_enable && state.mag_filter == nearest && state.min_filter == nearest
}

impl Judgement<'_> {
    /// Step 10: A-5 to A-7, and `aniso_nearest=off`.
    pub(in crate::decide) fn anisotropy(&mut self) {
        if !self.state.anisotropy_enable {
            return;
        }
        if !self.caps.sampler_anisotropy {
            self.disable_anisotropy(Catalog::A5);
            return;
        }
        if self.state.uses_filter(vk::Filter::CUBIC_EXT) {
            self.disable_anisotropy(Catalog::A7);
            return;
        }
        let (asked, limit) = (self.state.max_anisotropy, self.caps.max_sampler_anisotropy);
        // A limit below 1 leaves no value legal; off always is.
        if asked.is_nan() || asked < 1.0 || limit.is_nan() || limit < 1.0 {
            self.disable_anisotropy(Catalog::A6);
            return;
        }
        if self.policy.flat_nearest && is_anisotropic_nearest(&self.state) {
            self.disable_anisotropy(Catalog::AnisoNearest);
        }
        if self.state.anisotropy_enable && asked > limit && !self.is_off(Catalog::A6) {
            self.note(Catalog::A6, Field::MaxAnisotropy, Value::Float(asked), Value::Float(limit));
            self.state.max_anisotropy = limit;
        }
    }
}
