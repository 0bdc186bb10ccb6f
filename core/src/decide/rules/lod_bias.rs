use alloc::{format, string::String};

use crate::decide::{Change, Context, Value};

rule! { ($)
    /// `mipLodBias` is larger than the device allows, is no number, or is not supported at all.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-mipLodBias-01069: its absolute value is at most `maxSamplerLodBias`.
    /// VUID-VkSamplerCreateInfo-samplerMipLodBias-04467: on portability devices it is 0 unless `samplerMipLodBias` is enabled.
    ///
    /// ## Who trips over it
    ///
    /// Sharpening sliders, upscalers with a computed bias (a logarithm of 0 is minus infinity), translators of older APIs.
    ///
    /// ## What is lost
    ///
    /// The part of the bias beyond the limit.
    ///
    /// ## In the application
    ///
    /// ```c
    /// float limit = properties.limits.maxSamplerLodBias;
    /// info.mipLodBias = fmaxf(-limit, fminf(limit, bias));
    /// ```
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    lod_bias LodBias "lod-bias" {
        A2 "A-2" Vuid("VUID-VkSamplerCreateInfo-mipLodBias-01069")
            lost "part of the bias", by too_much;
        A3 "A-3" Vuid("VUID-VkSamplerCreateInfo-samplerMipLodBias-04467")
            lost "bias", disabled "samplerMipLodBias";
    }
}

pub(super) fn too_much(change: &Change, context: &Context<'_>) -> String {
    match change.from {
        Value::Float(bias) if bias.is_nan() => "the bias is not a number".into(),
        _ => format!("maxSamplerLodBias is {}", context.caps.max_sampler_lod_bias),
    }
}
