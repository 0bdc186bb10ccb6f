//! Step 12: address modes.

use ash::vk;

use super::{Catalog, Pass};

impl Pass<'_> {
    /// Step 12: A-21 and B-64.
    pub(super) fn address_modes(&mut self) {
        use vk::SamplerAddressMode as M;
        for axis in 0..3 {
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
}
