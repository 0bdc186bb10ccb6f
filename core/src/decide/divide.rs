//! Step 2 where the shader divides coordinates in texels by the size of the level: the sampler becomes one with normalized coordinates
//! and keeps all that the application asked for.

use ash::vk;

use super::{Catalog, Dimensions, Divide, Field, Pass, Reads, SamplerState, Value, ViewTraits, is_gl};

/// Whether a shader may divide for a sampler at all. Flags have rules of their own about unnormalized coordinates, and modes of OpenGL
/// are clamped in texels.
fn may_divide(state: &SamplerState) -> bool {
    state.unnormalized_coordinates
        && state.flags.is_empty()
        && state.ycbcr.is_none()
        && state.block_match.is_none()
        && !state.address_mode.iter().any(|mode| is_gl(*mode))
}

/// Rules of unnormalized coordinates that a sampler breaks by itself, where a legal one would do something else on this many axes.
fn broken_by_sampler(state: &SamplerState, axes: usize) -> impl Iterator<Item = Catalog> {
    use vk::SamplerAddressMode as M;
    let clamps = |mode: &M| matches!(*mode, M::CLAMP_TO_EDGE | M::CLAMP_TO_BORDER);
    let wraps = !state.address_mode.iter().take(axes).all(clamps);
    let all = [
        (state.mag_filter != state.min_filter, Catalog::TexelFilter),
        (wraps, Catalog::TexelAddress),
        (state.anisotropy_enable, Catalog::TexelAnisotropy),
        (state.compare_enable, Catalog::TexelCompare),
    ];
    all.into_iter().filter_map(|(is_broken, row)| is_broken.then_some(row))
}

/// The rule that the view, or an instruction that reads it, breaks.
fn broken_by_view(view: &ViewTraits) -> Option<Catalog> {
    if !matches!(view.view_type, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D) {
        return Some(Catalog::TexelView);
    }
    if !(view.single_level && view.single_layer) {
        return Some(Catalog::TexelLevels);
    }
    match view.divide {
        Divide::Lookup => Some(Catalog::TexelLookup),
        Divide::Offset => Some(Catalog::TexelOffset),
        Divide::Gather => Some(Catalog::TexelGather),
        Divide::Never | Divide::Suited => None,
    }
}

/// Whether a sampler with unnormalized coordinates loses something when it is made legal by itself, whatever it meets.
pub fn loses_texels(state: &SamplerState) -> bool {
    may_divide(state) && broken_by_sampler(state, 2).next().is_some()
}

/// The repair of the same rule without the shader, which a user may have switched off; the row itself where there is none.
fn repair_of(row: Catalog) -> Catalog {
    match row {
        Catalog::TexelFilter => Catalog::A10,
        Catalog::TexelAddress => Catalog::A13,
        Catalog::TexelAnisotropy => Catalog::A14,
        Catalog::TexelCompare => Catalog::A15,
        other => other,
    }
}

impl Pass<'_> {
    /// S-5. It stands before, which have nothing left to do for such a sampler.
    pub(super) fn divide(&mut self) {
        let is_divided = |view: &&ViewTraits| self.policy.divides && view.divide != Divide::Never;
        let Some(view) = self.used.view.filter(is_divided).filter(|_| may_divide(&self.state)) else { return };
        let axes = if view.dimensions() == Dimensions::One { 1 } else { 2 };
        // The sampler comes first, which breaks its rules whatever it meets. What no instruction compares loses no comparison.
        let matters = |row: &Catalog| match row {
            Catalog::TexelAnisotropy => self.caps.sampler_anisotropy,
            Catalog::TexelCompare => view.reads == Reads::Compared,
            _ => true,
        };
        let broken = broken_by_sampler(&self.state, axes).filter(matters).chain(broken_by_view(view));
        let Some(row) = broken.into_iter().find(|row| !self.is_off(*row) && !self.is_off(repair_of(*row))) else {
            return;
        };
        self.note(row, Field::UnnormalizedCoordinates, Value::Bool(true), Value::Bool(false));
        self.state.unnormalized_coordinates = false;
        // Creation took it away already, and no instruction would be defined with it.
        if view.reads != Reads::Compared {
            self.disable_compare(Catalog::A15);
        }
    }
}
