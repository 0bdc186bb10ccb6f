//! Step 12: address modes.

use ash::vk;

use super::{Catalog, Dimensions, Judgement};

/// `GL_CLAMP`: half of the footprint beyond the edge blends with the border.
pub const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);
/// `GL_MIRROR_CLAMP_EXT`: the same after one mirrored repeat.
pub const GL_MIRROR_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x8742);

/// Whether the mode is one of those that only samplin understands.
pub fn is_gl(mode: vk::SamplerAddressMode) -> bool {
    mode == GL_CLAMP || mode == GL_MIRROR_CLAMP
}

/// Whether address modes of this axis act on such a view at all: faces of seamless cubes ignore them (B-70, B-71).
fn acts_on(dimensions: Dimensions, axis: usize, flags: vk::SamplerCreateFlags) -> bool {
    match dimensions {
        Dimensions::One => axis == 0,
        Dimensions::Two => axis < 2,
        Dimensions::Three => true,
        Dimensions::Cube => axis < 2 && flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
    }
}

impl Judgement<'_> {
    /// Step 12: GL modes, A-21 and B-64.
    pub(super) fn address_modes(&mut self) {
        use vk::SamplerAddressMode as M;
        for axis in 0..3 {
            let mode = self.state.address_mode.get(axis).copied().unwrap_or_default();
            if is_gl(mode) {
                self.gl_mode(axis, mode);
            }
            if !self.caps.sampler_mirror_clamp_to_edge
                && self.state.address_mode.get(axis) == Some(&M::MIRROR_CLAMP_TO_EDGE)
            {
                // The same texels for coordinates within [-1, 1].
                self.set_address(Catalog::A21, axis, M::MIRRORED_REPEAT);
            }
            if self.used.view.is_some_and(|view| view.corner_sampled) {
                self.set_address(Catalog::B64, axis, M::CLAMP_TO_EDGE);
            }
        }
    }

    /// A mode of OpenGL becomes one of Vulkan. With LINEAR filters a footprint can straddle the edge and blend with the
    /// border, which CLAMP_TO_BORDER does once the shader saturates the coordinate; with NEAREST only edge texels can be read.
    /// The filters are final here: whatever the view cannot filter is NEAREST by now, unless a shader filters.
    /// A shader keeps what one filter of two reads as NEAREST within the edge; without one `gl_clamp_rule` says what they get.
    /// Mirroring takes a shader that drops the sign of the coordinate: without one its border is given up, as half of what is
    /// sampled would else be the border alone.
    fn gl_mode(&mut self, axis: usize, mode: vk::SamplerAddressMode) {
        use vk::SamplerAddressMode as M;
        let filters = self.is_filtered_in_shader();
        let linear = |filter: vk::Filter, emulated: bool| filter == vk::Filter::LINEAR || filters && emulated;
        let [mag, min, _] = self.emulate;
        let (mag, min) = (linear(self.state.mag_filter, mag), linear(self.state.min_filter, min));
        let dimensions = self.used.view.map(super::ViewTraits::dimensions);
        let saturates = self.policy.saturates && dimensions != Some(Dimensions::Cube);
        let filters = if saturates { min || mag } else { min && (mag || self.policy.gl_clamp_min) };
        let mut border = filters && dimensions.is_some_and(|of| acts_on(of, axis, self.state.flags));
        let mirrors = mode == GL_MIRROR_CLAMP;
        use vk::SamplerCreateFlags as F;
        let only_clamps = self.state.unnormalized_coordinates
            || self.state.flags.intersects(F::SUBSAMPLED_EXT | F::IMAGE_PROCESSING_QCOM);
        border &= !mirrors || self.policy.saturates && !only_clamps;
        for (axes, on) in [(&mut self.saturate, border), (&mut self.mirror, border && mirrors)] {
            if let Some(place) = axes.get_mut(axis) {
                *place = on;
            }
        }
        if mirrors {
            let to = match (border, only_clamps) {
                (true, _) => M::CLAMP_TO_BORDER,
                (false, true) => M::CLAMP_TO_EDGE,
                (false, false) => M::MIRROR_CLAMP_TO_EDGE,
            };
            self.set_address(Catalog::GlMirrorClamp, axis, to);
        } else if border {
            self.set_address(Catalog::GlClamp, axis, M::CLAMP_TO_BORDER);
        } else {
            self.set_address(Catalog::GlClampEdge, axis, M::CLAMP_TO_EDGE);
        }
    }
}
