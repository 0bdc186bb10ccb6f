//! Samplers that need no look at the rules, which most are.

use ash::vk;

use super::rules::anisotropy::is_anisotropic_nearest;
use super::{DeviceCaps, Policy, SamplerState};

/// Whether a sampler is one of those that [`create`](super::create) leaves as they are, whatever the policy but for anisotropy, as far as that can be seen
/// without its steps. It holds of few that some rule is about: nothing is chained, nothing but the filters, modes and numbers that every
/// device has, or these `caps` say that this one has.
pub fn is_plainly_legal(state: &SamplerState, caps: &DeviceCaps, policy: &Policy) -> bool {
    let SamplerState { reduction_mode: None, ycbcr: None, custom_border: None, border_mapping: None, .. } = state
    else {
        return false;
    };
    let is_chained = state.cubic_weights.is_some() || state.block_match.is_some() || state.opaque_capture;
    let filters = [state.mag_filter.as_raw(), state.min_filter.as_raw(), state.mipmap_mode.as_raw()];
    // Negative ones are none of these as well.
    let is_plain = filters.iter().all(|raw| *raw as u32 <= vk::Filter::LINEAR.as_raw() as u32)
        && (0..=5).contains(&state.border_color.as_raw())
        && state.flags.is_empty()
        && !state.unnormalized_coordinates
        && !is_chained;
    let last = vk::SamplerAddressMode::CLAMP_TO_BORDER.as_raw() as u32 + u32::from(caps.sampler_mirror_clamp_to_edge);
    let anisotropy = 1.0..=caps.max_sampler_anisotropy;
    let biases = if caps.sampler_mip_lod_bias { caps.max_sampler_lod_bias } else { 0.0 };
    is_plain
        && state.address_mode.iter().all(|mode| mode.as_raw() as u32 <= last)
        && state.mip_lod_bias.abs() <= biases
        && state.min_lod <= state.max_lod
        && (!state.compare_enable || (0..=7).contains(&state.compare_op.as_raw()))
        && (!state.anisotropy_enable || caps.sampler_anisotropy && anisotropy.contains(&state.max_anisotropy))
        && !(policy.flat_nearest && is_anisotropic_nearest(state))
}
