//! Steps 1, 2, 4 and 11: enumerants and NaN, unnormalized coordinates, flag families, LOD.

use ash::vk;

use super::{Catalog, DeviceCaps, Field, Judgement, Value, is_gl};

/// `VK_LOD_CLAMP_NONE`.
const LOD_CLAMP_NONE: f32 = 1000.0;

/// Whether `filter` may be used at all on this device.
pub(super) fn is_valid_filter(filter: vk::Filter, caps: &DeviceCaps) -> bool {
    let cubic = caps.filter_cubic_img || caps.filter_cubic_ext;
    filter == vk::Filter::NEAREST || filter == vk::Filter::LINEAR || (cubic && filter == vk::Filter::CUBIC_EXT)
}

/// Nearest legal filter for one that A-1 rejects: what a missing CUBIC falls back to, else NEAREST.
fn valid_filter(filter: vk::Filter) -> vk::Filter {
    if filter == vk::Filter::CUBIC_EXT { vk::Filter::LINEAR } else { vk::Filter::NEAREST }
}

impl Judgement<'_> {
    /// Step 1: values outside their enumeration, and NaN.
    pub(super) fn sanitize(&mut self) {
        if !is_valid_filter(self.state.mag_filter, self.caps) {
            self.set_mag(Catalog::A1Mag, valid_filter(self.state.mag_filter));
        }
        if !is_valid_filter(self.state.min_filter, self.caps) {
            self.set_min(Catalog::A1Min, valid_filter(self.state.min_filter));
        }
        if !matches!(self.state.mipmap_mode, vk::SamplerMipmapMode::NEAREST | vk::SamplerMipmapMode::LINEAR) {
            self.set_mip(Catalog::A1Mip, vk::SamplerMipmapMode::NEAREST);
        }
        for (axis, catalog) in [Catalog::A20U, Catalog::A20V, Catalog::A20W].into_iter().enumerate() {
            let valid =
                self.state.address_mode.get(axis).is_none_or(|mode| {
                    (0..=4).contains(&mode.as_raw()) || (self.caps.gl_address_modes && is_gl(*mode))
                });
            if !valid {
                self.set_address(catalog, axis, vk::SamplerAddressMode::CLAMP_TO_EDGE);
            }
        }
        let from = self.state.compare_op;
        let is_wrong = self.state.compare_enable && !(0..=7).contains(&from.as_raw());
        if is_wrong && !self.is_off(Catalog::A25) && !self.stays(Value::CompareOp(from)) {
            self.note(Catalog::A25, Field::CompareOp, Value::CompareOp(from), Value::CompareOp(vk::CompareOp::ALWAYS));
            self.state.compare_op = vk::CompareOp::ALWAYS;
        }
        if self.state.reduction_mode.is_some_and(|mode| {
            !(0..=2).contains(&mode.as_raw()) && mode != vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM
        }) {
            self.drop_reduction(Catalog::A59Reduction);
        }
        if let Some(weights) = self.state.cubic_weights
            && !(0..=3).contains(&weights)
            && !self.is_off(Catalog::A59Weights)
            && !self.stays(Value::Raw(weights))
        {
            self.note(Catalog::A59Weights, Field::CubicWeights, Value::Raw(weights), Value::Absent);
            self.state.cubic_weights = None;
        }
        let min = if self.state.min_lod.is_nan() { 0.0 } else { self.state.min_lod };
        let max = if self.state.max_lod.is_nan() { LOD_CLAMP_NONE } else { self.state.max_lod };
        self.set_lods(Catalog::A4, min, max);
    }

    /// Step 2. `unnormalizedCoordinates` itself stays: the coordinates are in the shader.
    pub(super) fn unnormalized(&mut self) {
        if !self.state.unnormalized_coordinates || self.state.ycbcr.is_some() {
            return;
        }
        self.equal_filters(Catalog::A10);
        self.set_mip(Catalog::A11, vk::SamplerMipmapMode::NEAREST);
        self.set_lods(Catalog::A12, 0.0, 0.0);
        self.clamp_uv(Catalog::A13);
        self.disable_anisotropy(Catalog::A14);
        self.disable_compare(Catalog::A15);
    }

    /// Filters that differ become NEAREST, unless one of them has to stay as it came: then they cannot be made equal.
    fn equal_filters(&mut self, catalog: Catalog) {
        let (mag, min) = (self.state.mag_filter, self.state.min_filter);
        if mag != min && !self.stays(Value::Filter(mag)) && !self.stays(Value::Filter(min)) {
            self.set_mag(catalog, vk::Filter::NEAREST);
            self.set_min(catalog, vk::Filter::NEAREST);
        }
    }

    /// U and V become CLAMP_TO_EDGE unless they already clamp to edge or border.
    fn clamp_uv(&mut self, catalog: Catalog) {
        use vk::SamplerAddressMode as M;
        for axis in 0..2 {
            let clamps = self
                .state
                .address_mode
                .get(axis)
                .is_none_or(|mode| matches!(*mode, M::CLAMP_TO_EDGE | M::CLAMP_TO_BORDER) || is_gl(*mode));
            if !clamps {
                self.set_address(catalog, axis, M::CLAMP_TO_EDGE);
            }
        }
    }

    /// Step 4, but for the border colour of A-54.
    pub(super) fn flags(&mut self) {
        use vk::SamplerCreateFlags as F;
        if self.state.flags.contains(F::NON_SEAMLESS_CUBE_MAP_EXT) && !self.caps.non_seamless_cube_map {
            self.set_flags(Catalog::A52, self.state.flags & !F::NON_SEAMLESS_CUBE_MAP_EXT);
        }
        if self.state.flags.contains(F::SUBSAMPLED_EXT) && self.state.unnormalized_coordinates {
            // Clearing unnormalizedCoordinates would misplace every coordinate; the flag goes instead.
            self.set_flags(Catalog::A53Unnormalized, self.state.flags & !F::SUBSAMPLED_EXT);
        }
        if self.state.flags.contains(F::SUBSAMPLED_EXT) {
            self.equal_filters(Catalog::A53Filter);
            self.set_mip(Catalog::A53Mip, vk::SamplerMipmapMode::NEAREST);
            self.set_lods(Catalog::A53Lod, 0.0, 0.0);
            self.clamp_uv(Catalog::A53Address);
            self.disable_anisotropy(Catalog::A53Anisotropy);
            self.disable_compare(Catalog::A53Compare);
        }
        if self.state.flags.contains(F::IMAGE_PROCESSING_QCOM)
            && let Some(conversion) = self.state.ycbcr
            && !conversion.separate_reconstruction
            && self.state.uses_filter(conversion.chroma_filter)
            && conversion.chroma_filter != vk::Filter::NEAREST
        {
            // A-40 asks for the chroma filter and this family for NEAREST; the conversion cannot go, so the flag does.
            self.set_flags(Catalog::A54Filter, self.state.flags & !F::IMAGE_PROCESSING_QCOM);
        }
        if self.state.flags.contains(F::IMAGE_PROCESSING_QCOM) {
            self.set_mag(Catalog::A54Filter, vk::Filter::NEAREST);
            self.set_min(Catalog::A54Filter, vk::Filter::NEAREST);
            self.set_mip(Catalog::A54Mip, vk::SamplerMipmapMode::NEAREST);
            self.set_lods(Catalog::A54Lod, 0.0, 0.0);
            self.clamp_uv(Catalog::A54Address);
            self.disable_anisotropy(Catalog::A54Anisotropy);
            self.disable_compare(Catalog::A54Compare);
        }
        let keeps_window = self.is_off(Catalog::A55);
        if let Some(window) = self.state.block_match.as_mut().filter(|_| !keeps_window) {
            let from = window.extent;
            let limit = self.caps.max_block_match_window;
            if limit != [0; 2] {
                window.extent = [from[0].min(limit[0]), from[1].min(limit[1])];
            }
            let to = window.extent;
            if from != to {
                self.note(Catalog::A55, Field::BlockMatchWindow, Value::Extent(from), Value::Extent(to));
            }
        }
        if self.state.flags.contains(F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
            && !self.caps.descriptor_buffer_capture_replay
        {
            self.set_flags(Catalog::A56, self.state.flags & !F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        }
        if self.state.opaque_capture
            && !self.state.flags.contains(F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
            && !self.is_off(Catalog::A57)
        {
            self.note(Catalog::A57, Field::OpaqueCapture, Value::Present, Value::Absent);
            self.state.opaque_capture = false;
        }
    }

    /// Step 11.
    pub(super) fn lod(&mut self) {
        let bias = self.state.mip_lod_bias;
        let (catalog, legal) = if !self.caps.sampler_mip_lod_bias {
            (Catalog::A3, 0.0)
        } else if bias.is_nan() {
            (Catalog::A2, 0.0)
        } else {
            let limit = self.caps.max_sampler_lod_bias;
            (Catalog::A2, bias.max(-limit).min(limit))
        };
        if (bias.is_nan() || bias != legal) && !self.is_off(catalog) {
            self.note(catalog, Field::MipLodBias, Value::Float(bias), Value::Float(legal));
            self.state.mip_lod_bias = legal;
        }
        if self.state.max_lod < self.state.min_lod {
            self.set_lods(Catalog::A4, self.state.max_lod, self.state.min_lod);
        }
    }

    /// Follows from B-1, B-2 and B-31 where a shader filters: it samples whole levels. A bias would count a second time there, and so
    /// would a limit between two levels that both take part. What was asked for is kept for the shader.
    pub(super) fn lods_of_shader(&mut self) {
        let super::SamplerState { mip_lod_bias: bias, min_lod, max_lod, .. } = self.state;
        self.lods = [bias, min_lod, max_lod];
        let compares = self.compare.is_some();
        if !(compares || self.policy.emulates && self.emulate.contains(&true)) {
            return;
        }
        let [mag, min, mip] = self.emulate;
        let catalog = match () {
            () if compares => Catalog::B31,
            () if mag || min => Catalog::B1,
            () => Catalog::B2,
        };
        let open = |lod: f32, end: f32| {
            let is_between = mip && lod > 0.0 && lod < LOD_CLAMP_NONE && lod != (lod as u32) as f32;
            if is_between { end } else { lod }
        };
        if bias != 0.0 {
            self.note(catalog, Field::MipLodBias, Value::Float(bias), Value::Float(0.0));
            self.state.mip_lod_bias = 0.0;
        }
        self.set_lods(catalog, open(min_lod, 0.0), open(max_lod, LOD_CLAMP_NONE));
    }
}
