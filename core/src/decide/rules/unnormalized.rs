//! Step 2 where the shader divides coordinates in texels by the size of the level: the sampler becomes one with
//! normalized coordinates and keeps all that the application asked for.

use ash::vk;

use crate::decide::lost::Lost;
use crate::decide::{
    Catalog, Change, Context, Dimensions, Divide, Field, Judgement, Reads, SamplerState, Value, ViewTraits, is_gl,
};

rule! { ($)
    /// A sampler with unnormalized coordinates asks for what such samplers may not have, or meets a view that they may not read.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072 to -01077: equal filters, NEAREST between levels, a level of detail
    ///   of 0, clamped coordinates, no anisotropy, no comparison.
    /// VUID-vkCmdDraw-None-08609 to -08611: only 1D and 2D views, no projection, implicit level, bias or offset. The chapter on
    ///   samplers excludes offsets of gathers too.
    /// VUID-vkCmdDraw-unnormalizedCoordinates-09635: only views of one level and one layer.
    /// These are about sampling: a shader that only fetches texels or asks for sizes may use any view.
    ///
    /// ## Who trips over it
    ///
    /// Console emulators and compute libraries that address images by texel.
    ///
    /// ## What is lost
    ///
    /// Nothing where samplin follows the shader and the descriptor: separate images and samplers always, combined descriptors as below.
    /// The shader divides the coordinates by the size of the level and reads a sampler with normalized coordinates, which keeps
    ///   wrapping, filters, levels, comparison and anisotropy (rows S-5).
    /// An instruction that names its level divides by the size of that level, every other one by the size of the base level.
    ///
    /// Elsewhere the sampler loses what it may not have: wrapping becomes clamping, for example. An `unresolved` record says why
    ///   the shader does not divide.
    ///
    /// samplin follows combined descriptors from the first sampler with unnormalized coordinates on, for a view or an instruction may
    ///   not suit a legal one either.
    /// Set layouts and pipelines that are older keep the legal sampler, and so do set layouts that
    ///   are defined like an older one that lives. The `sampler` record says what is lost there; samplin names neither the view nor
    ///   the instruction (08610, 08611).
    ///
    /// ## In the application
    ///
    /// Divide by the size in the shader and use a normalized sampler, or use `texelFetch` where no filter is needed:
    ///
    /// ```glsl
    /// vec4 c = textureLod(image, coordinate / vec2(textureSize(image, 0)), 0.0);
    /// ```
    ///
    /// ## Settings
    ///
    /// - `unnormalized=always` follows combined descriptors from the start, so that the order of creation does not matter. Every descriptor
    ///   update then takes longer.
    /// - `unnormalized=base` makes the sampler legal by itself and divides nothing.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    unnormalized Unnormalized "unnormalized" lost_by lost {
        A10 "A-10" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072")
            lost "one filter", because "unnormalized coordinates need equal min and mag filters";
        A11 "A-11" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073")
            lost "nothing: only the first level is read", because "unnormalized coordinates need mipmapMode NEAREST";
        A12 "A-12" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074")
            lost "levels other than the first", because "unnormalized coordinates need minLod and maxLod 0";
        A13 "A-13" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075")
            lost "wrapping", because "unnormalized coordinates need CLAMP_TO_EDGE or CLAMP_TO_BORDER on U and V";
        A14 "A-14" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076")
            lost "anisotropic quality", because "unnormalized coordinates exclude anisotropy";
        A15 "A-15" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077")
            lost "comparison", because "unnormalized coordinates exclude comparison";
        TexelFilter "S-5" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates need equal filters, so the shader normalizes them";
        TexelAddress "S-5" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates cannot wrap, so the shader normalizes them";
        TexelAnisotropy "S-5" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates exclude anisotropy, so the shader normalizes them";
        TexelCompare "S-5" Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates exclude comparison, so the shader normalizes them";
        TexelView "S-5" Vuid("VUID-vkCmdDraw-None-08609")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates need a 1D or 2D view, so the shader normalizes them";
        TexelLevels "S-5" Vuid("VUID-vkCmdDraw-unnormalizedCoordinates-09635")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates need a view of one level and layer, so the shader normalizes them";
        TexelLookup "S-5" Vuid("VUID-vkCmdDraw-None-08610")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates exclude implicit levels of detail and projection, so the shader normalizes them";
        TexelOffset "S-5" Vuid("VUID-vkCmdDraw-None-08611")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates exclude offsets and biases, so the shader normalizes them";
        TexelGather "S-5" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing: the shader divides coordinates by the size of the level",
            because "unnormalized coordinates exclude offsets, of gathers too, so the shader normalizes them";
        B40 "B-40" Vuid("VUID-vkCmdDraw-None-08609")
            lost "", because "the view is neither 1D nor 2D";
        B41 "B-41" Vuid("VUID-vkCmdDraw-unnormalizedCoordinates-09635")
            lost "", because "the view has more than one level or layer";
    }
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<Lost> {
    if change.catalog.id() == Catalog::TexelView.id() {
        return Some(Lost::but_for_the_shader(change.catalog.lost()));
    }
    Some(Lost::but_for_some_shaders(match change.catalog {
        _ if !context.divides => return None,
        Catalog::A10 => "one filter, where no shader divides coordinates",
        Catalog::A12 => "levels other than the first, where no shader divides coordinates",
        Catalog::A13 => "wrapping, where no shader divides coordinates",
        Catalog::A14 => "anisotropic quality, where no shader divides coordinates",
        Catalog::A15 => "comparison, where no shader divides coordinates",
        _ => return None,
    }))
}

/// Whether a shader may divide for a sampler at all. Flags have rules of their own about unnormalized coordinates, and modes of OpenGL
/// are clamped in texels.
pub fn may_divide(state: &SamplerState) -> bool {
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

impl Judgement<'_> {
    /// S-5. It stands before A-10 to A-15, which have nothing left to do for such a sampler.
    pub(in crate::decide) fn divide(&mut self) {
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
