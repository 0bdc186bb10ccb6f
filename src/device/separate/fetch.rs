//! Links whose texels are fetched: where there is room neither for one more set nor for one more sampler, and all that is wrong with the
//! sampler is a filter that the image lacks, the shader does without a sampler.

use ash::vk;
use samplin_spirv::sampling::flags;

use crate::decide::{Change, Dimensions, Rule, SamplerState, ViewTraits, is_custom};
use crate::format;
use crate::outcome::Meeting;

/// What fetches do beyond the edges of an axis, by its address mode; none for one that is not known.
fn edges(mode: vk::SamplerAddressMode) -> Option<u32> {
    use vk::SamplerAddressMode as M;
    Some(match mode {
        M::REPEAT => flags::WRAP_S,
        M::MIRRORED_REPEAT => flags::WRAP_S | flags::FOLD_S,
        M::CLAMP_TO_EDGE => 0,
        M::MIRROR_CLAMP_TO_EDGE => flags::FOLD_S,
        M::CLAMP_TO_BORDER => flags::BORDER_S,
        _ => return None,
    })
}

/// The components of a border that are 1: what the format has of the colour, 1 for an alpha that it lacks, in the order of the view
/// ("Border Replacement", "Conversion to RGBA", "Component Swizzle"); none for a colour that is not made of zeroes and ones.
fn border(state: &SamplerState, view: &ViewTraits) -> Option<u32> {
    use vk::BorderColor as B;
    const ALPHA: u32 = 8;
    let colour = match state.border_color {
        _ if is_custom(state.border_color) => return None,
        B::FLOAT_OPAQUE_WHITE | B::INT_OPAQUE_WHITE => 0xf,
        B::FLOAT_OPAQUE_BLACK | B::INT_OPAQUE_BLACK => ALPHA,
        _ => 0,
    };
    let mut has = 1;
    if !format::is_depth_stencil(view.format) {
        let components = format::components(view.format).into_iter().enumerate();
        has = components.fold(0, |all, (component, is_there)| all | u32::from(is_there) << component);
    }
    let texel = colour & has | ALPHA & !has;
    // In the order of `VkComponentSwizzle`: itself, 0, 1, R and so on.
    let others = texel << 3 | 0b100;
    let mut all = 0;
    for (component, swizzle) in view.components.into_iter().enumerate() {
        let one = if swizzle == vk::ComponentSwizzle::IDENTITY {
            texel >> component
        } else {
            others >> (swizzle.as_raw() & 7)
        };
        all |= ((one & 1) * flags::BORDER) << component;
    }
    Some(all)
}

/// What the shader has to know to fetch what a pair may have, on top of what it does for a descriptor anyway; none if it could not do the
/// same.
pub(super) fn flags_of(meeting: &Meeting<'_, ()>, view: &ViewTraits) -> Option<u32> {
    let state = &meeting.state;
    let is_about = |change: &Change| matches!(change.catalog.rule(), Rule::LinearFilter | Rule::LinearMipmap);
    let is_nearest = [state.mag_filter, state.min_filter] == [vk::Filter::NEAREST; 2]
        && state.mipmap_mode == vk::SamplerMipmapMode::NEAREST;
    let is_odd =
        state.compare_enable || meeting.compare.is_some() || view.subsampled || view.corner_sampled || view.ycbcr;
    if !is_nearest || is_odd || view.dimensions() == Dimensions::Cube || !meeting.changes.iter().any(is_about) {
        return None;
    }
    let mut all = flags::FETCH | flags::EMULATE;
    for (axis, mode) in state.address_mode.into_iter().enumerate() {
        all |= edges(mode)? << axis;
    }
    if all & (flags::BORDER_S * 7) != 0 {
        all |= border(state, view)?;
    }
    Some(all)
}
