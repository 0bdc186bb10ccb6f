//! The decision core: pure functions from values to values.
//!
//! Knows every rule about samplers, (sampler, view) pairs and blits. Makes no Vulkan call, reads no global, allocates
//! only for a decision of more than four changes ([`Changes`]) and cannot fail; `ash::vk` types appear only as plain
//! data, unknown enumerants included. A decision carries one reason per changed field, so the trace is a by-product and
//! no second implementation.
//!
//! Start reading at [`legalize`], which runs the rules in an order that reaches a fixed point in one pass: every
//! step only moves down a lattice (CUBIC > LINEAR > NEAREST, custom > predefined, on > off).

mod address;
mod bits;
mod border;
mod catalog;
mod exempt;
mod filter;
mod lost;
mod nearest;
mod overrides;
mod plain;
mod reason;
mod rules;
mod sanitize;
mod shader_type;
mod state;
mod unknown;
mod usage;
mod view;

use alloc::vec::Vec;

use ash::vk;

pub use self::address::{GL_CLAMP, GL_MIRROR_CLAMP, is_gl};
pub use self::bits::{ConflictBits, lacks, lacks_dynamic, needs};
pub use self::border::without_custom_border;
pub use self::catalog::{Change, Changes, Field, RuleSource, Value};
pub use self::exempt::Exempt;
pub use self::lost::Repairer;
pub use self::overrides::{Bias, Compare, Guard, Guards, Wish, apply};
pub use self::plain::is_plainly_legal;
pub use self::reason::{Context, lost, repairer};
pub use self::rules::aspect::{aspect_shown, shows_one_aspect};
pub use self::rules::blit_filter::{BlitDecision, BlitSource, blit, blit_except, unblittable, unblittable_aspects};
pub use self::rules::compare::ShaderCompare;
pub use self::rules::sample_shading::{SampleShading, ShadingWish, sample_shading, wish_shading};
pub use self::rules::unnormalized::may_divide;
pub use self::rules::ycbcr::{ConversionDecision, ConversionState, conversion, conversion_except};
pub use self::rules::{AT_OFFSET, Catalog, IN_PLACE, OF_SAMPLES, Rule, because, no_border_share};
pub use self::shader_type::{ShaderType, shader_type};
pub use self::state::{
    BlockMatchWindow, BorderMapping, CustomBorder, SamplerState, StateKey, YcbcrConversion, fnv1a, is_custom,
    is_int_border, is_valid_border,
};
pub use self::unknown::{is_unknown_enumerant, unknown_enumerants};
pub use self::usage::{
    ViewUsage, image_flags, may_lack_usage, reachable_usage, stored_elsewhere, unsupported_usage, usage_beside_storage,
    view_usage, viewed_as_integers,
};
pub use self::view::{
    Aspect, DeviceCaps, Dimensions, Divide, Policy, Reads, SamplerUse, ViewTraits, normalize_components,
};

/// A legal state and how it came about.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The state to hand down; the given one when `changes` is empty.
    pub state: SamplerState,
    /// One entry per change, in order.
    pub changes: Changes,
    /// Axes (U, V, W) whose coordinates a shader would have to saturate for GL_CLAMP to be exact.
    pub saturate: [bool; 3],
    /// Of these, axes whose coordinates have to lose their sign before that, for GL_MIRROR_CLAMP.
    pub mirror: [bool; 3],
    /// LINEAR magnification, minification and mip levels that were given up because the view's format lacks them, and that a shader
    /// could make of NEAREST.
    pub emulate: [bool; 3],
    /// LOD bias and limits that were asked for: the state's own, but where a shader that filters has to add them.
    pub lods: [f32; 3],
    /// The comparison that was given up because the view's format lacks it, and that a shader does, which then filters as well
    /// ([`Decision::emulate`]).
    pub compare: Option<ShaderCompare>,
    /// A rule that is broken and that no other sampler can mend (only another view or shader could).
    pub unresolved: Option<Catalog>,
}

impl Decision {
    /// Takes over a state that differs in its border colour, with the change that says why.
    pub fn replace_border(&mut self, state: SamplerState, change: Option<Change>) {
        self.state = state;
        if let Some(change) = change {
            self.changes.push(change);
        }
    }
}

/// The state being worked on, with what it is judged against.
struct Judgement<'a> {
    state: SamplerState,
    caps: &'a DeviceCaps,
    policy: &'a Policy,
    used: SamplerUse<'a>,
    exempt: Exempt,
    changes: Changes,
    saturate: [bool; 3],
    mirror: [bool; 3],
    emulate: [bool; 3],
    lods: [f32; 3],
    compare: Option<ShaderCompare>,
    unresolved: Option<Catalog>,
}

impl Judgement<'_> {
    /// Whether a shader makes up for LINEAR that the sampler gives up.
    fn is_filtered_in_shader(&self) -> bool {
        self.policy.emulates || self.compare.is_some()
    }

    fn note(&mut self, catalog: Catalog, field: Field, from: Value, to: Value) {
        self.changes.push(Change { catalog, field, from, to });
    }

    /// Whether a member may hold an enumerant that the layer does not know. It stays as it came, whatever a rule would have:
    /// what the rules are for such a value is not known either.
    fn stays(&self, value: Value) -> bool {
        is_unknown_enumerant(value, self.caps)
    }

    /// Whether the user has switched a rule off: then it changes nothing.
    fn is_off(&self, catalog: Catalog) -> bool {
        self.exempt.contains(catalog)
    }

    fn set_mag(&mut self, catalog: Catalog, to: vk::Filter) {
        if self.state.mag_filter != to && !self.is_off(catalog) && !self.stays(Value::Filter(self.state.mag_filter)) {
            self.note(catalog, Field::MagFilter, Value::Filter(self.state.mag_filter), Value::Filter(to));
            self.state.mag_filter = to;
        }
    }

    fn set_min(&mut self, catalog: Catalog, to: vk::Filter) {
        if self.state.min_filter != to && !self.is_off(catalog) && !self.stays(Value::Filter(self.state.min_filter)) {
            self.note(catalog, Field::MinFilter, Value::Filter(self.state.min_filter), Value::Filter(to));
            self.state.min_filter = to;
        }
    }

    /// Replaces `from` by `to` in both filters.
    fn demote_filter(&mut self, catalog: Catalog, from: vk::Filter, to: vk::Filter) {
        if self.state.mag_filter == from {
            self.set_mag(catalog, to);
        }
        if self.state.min_filter == from {
            self.set_min(catalog, to);
        }
    }

    fn set_mip(&mut self, catalog: Catalog, to: vk::SamplerMipmapMode) {
        let from = self.state.mipmap_mode;
        if from != to && !self.is_off(catalog) && !self.stays(Value::MipmapMode(from)) {
            self.note(catalog, Field::MipmapMode, Value::MipmapMode(from), Value::MipmapMode(to));
            self.state.mipmap_mode = to;
        }
    }

    fn set_address(&mut self, catalog: Catalog, axis: usize, to: vk::SamplerAddressMode) {
        let (caps, is_off) = (self.caps, self.is_off(catalog));
        if let (Some(mode), Some(field)) = (self.state.address_mode.get_mut(axis), Field::ADDRESS_MODES.get(axis)) {
            let from = *mode;
            if from != to && !is_off && !is_unknown_enumerant(Value::AddressMode(from), caps) {
                *mode = to;
                self.note(catalog, *field, Value::AddressMode(from), Value::AddressMode(to));
            }
        }
    }

    fn disable_anisotropy(&mut self, catalog: Catalog) {
        if self.state.anisotropy_enable && !self.is_off(catalog) {
            self.note(catalog, Field::AnisotropyEnable, Value::Bool(true), Value::Bool(false));
            self.state.anisotropy_enable = false;
        }
    }

    fn disable_compare(&mut self, catalog: Catalog) {
        if self.state.compare_enable && !self.is_off(catalog) {
            self.note(catalog, Field::CompareEnable, Value::Bool(true), Value::Bool(false));
            self.state.compare_enable = false;
        }
    }

    /// Back to `WEIGHTED_AVERAGE`, which is what an absent structure means.
    fn drop_reduction(&mut self, catalog: Catalog) {
        let from = self.state.reduction();
        if from != vk::SamplerReductionMode::WEIGHTED_AVERAGE
            && !self.is_off(catalog)
            && !self.stays(Value::ReductionMode(from))
        {
            self.note(
                catalog,
                Field::ReductionMode,
                Value::ReductionMode(from),
                Value::ReductionMode(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
            );
            self.state.reduction_mode = None;
        }
    }

    fn set_lods(&mut self, catalog: Catalog, min: f32, max: f32) {
        if self.is_off(catalog) {
            return;
        }
        // By bits: NaN must compare equal to itself here, and −0 is as good as 0.
        let differs = |a: f32, b: f32| a.to_bits() != b.to_bits() && !(a == 0.0 && b == 0.0);
        if differs(self.state.min_lod, min) {
            self.note(catalog, Field::MinLod, Value::Float(self.state.min_lod), Value::Float(min));
            self.state.min_lod = min;
        }
        if differs(self.state.max_lod, max) {
            self.note(catalog, Field::MaxLod, Value::Float(self.state.max_lod), Value::Float(max));
            self.state.max_lod = max;
        }
    }

    fn set_flags(&mut self, catalog: Catalog, to: vk::SamplerCreateFlags) {
        let from = self.state.flags;
        if from != to && !self.is_off(catalog) {
            self.note(catalog, Field::Flags, Value::SamplerFlags(from), Value::SamplerFlags(to));
            self.state.flags = to;
        }
    }

    fn set_border_color(&mut self, catalog: Catalog, to: vk::BorderColor) {
        let from = self.state.border_color;
        if from != to && !self.is_off(catalog) && !self.stays(Value::BorderColor(from)) {
            self.note(catalog, Field::BorderColor, Value::BorderColor(from), Value::BorderColor(to));
            self.state.border_color = to;
        }
    }
}

/// Decides at `vkCreateSampler`: section A of the catalogue, no view known.
pub fn create(state: &SamplerState, caps: &DeviceCaps, policy: &Policy) -> Decision {
    legalize(state, SamplerUse::CREATE, caps, policy)
}

/// [`create`], but for the rules that are switched off.
pub fn create_except(state: &SamplerState, exempt: Exempt, caps: &DeviceCaps, policy: &Policy) -> Decision {
    legalize_except(state, SamplerUse::CREATE, exempt, caps, policy)
}

/// Decides for a sampler written together with a view as a dynamic combined image sampler.
///
/// `state` is what the application asked for at creation, so that what creation alone had to drop
/// for want of a view can come back.
pub fn pair(state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, policy: &Policy) -> Decision {
    pair_except(state, view, Exempt::NONE, caps, policy)
}

/// [`pair`], but for the rules that are switched off.
pub fn pair_except(
    state: &SamplerState,
    view: &ViewTraits,
    exempt: Exempt,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Decision {
    legalize_except(state, SamplerUse { view: Some(view), dynamic: true }, exempt, caps, policy)
}

/// Whether the sampler was made for capture and replay, which ties its opaque data to its exact state: it is never changed.
pub fn replays(state: &SamplerState, caps: &DeviceCaps) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
        && caps.descriptor_buffer_capture_replay
}

/// The canonical pass. Idempotent; returns the given state, with no changes, when it is legal for `used`.
///
/// Two kinds of sampler are never changed for the sake of a view: those with a Y′CbCr conversion (their pair is
/// immutable by rule), and those made for capture and replay, whose opaque data belongs to the exact state.
pub fn legalize(state: &SamplerState, used: SamplerUse<'_>, caps: &DeviceCaps, policy: &Policy) -> Decision {
    legalize_except(state, used, Exempt::NONE, caps, policy)
}

fn legalize_except(
    state: &SamplerState,
    used: SamplerUse<'_>,
    exempt: Exempt,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Decision {
    let (changes, [saturate, mirror, emulate]) = (Changes::new(), [[false; 3]; 3]);
    let (state, lods, compare, unresolved) = (*state, [0.0; 3], None, None);
    let mut pass =
        Judgement { state, caps, policy, used, exempt, changes, saturate, mirror, emulate, lods, compare, unresolved };
    let replays = replays(&state, caps);
    if state.ycbcr.is_some() || used.view.is_some_and(|view| view.ycbcr) {
        pass.used = SamplerUse::CREATE;
    }
    if !replays {
        pass.sanitize(); //              1
        pass.divide(); //                2
        pass.unnormalized();
        pass.ycbcr(); //                 3
        pass.flags(); //                 4
        pass.compare(); //               5
        pass.reduction(); //             6
        pass.cubic(); //                 7
        pass.range_clamp_and_weights(); // 8
        pass.linear(); //                9
        pass.anisotropy(); //            10
        pass.lod(); //                   11
        pass.address_modes(); //         12
        pass.border(); //                13
        pass.lods_of_shader();
        // 14, counts, belongs to whoever creates the sampler.
    }
    pass.fix_view_only();
    let Judgement { state, changes, saturate, mirror, emulate, lods, compare, unresolved, .. } = pass;
    Decision { state, changes, saturate, mirror, emulate, lods, compare, unresolved }
}

impl Judgement<'_> {
    /// Rules that only another view could satisfy (B-40, B-41, B-66, B-78; step 5 has B-33 and B-35).
    fn fix_view_only(&mut self) {
        let Some(view) = self.used.view else { return };
        // Both rules are about sampling: a shader that only fetches texels or asks for sizes never looks at the sampler.
        if self.state.unnormalized_coordinates && view.reads != Reads::Unknown {
            if !matches!(view.view_type, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D) {
                self.unresolved = Some(Catalog::B40);
            } else if !(view.single_level && view.single_layer) {
                self.unresolved = Some(Catalog::B41);
            }
        }
        let subsampled = self.state.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
        if subsampled != view.subsampled || (subsampled && self.used.dynamic) {
            self.unresolved = Some(Catalog::B78);
        }
        if !view.can_be_sampled() {
            self.unresolved = Some(Catalog::B66);
        }
    }
}

/// The changes of a pair that creation had not already made.
pub fn new_changes(pair: &Changes, created: &Changes) -> Vec<Change> {
    // Not by `from`: it may be NaN, which no comparison finds equal to itself.
    // By rule and not by row: anisotropy that the device does not have is gone, and need not go again for want of a filter.
    let same = |a: &Change, b: &Change| (a.catalog.rule(), a.field) == (b.catalog.rule(), b.field) && a.to == b.to;
    pair.iter().filter(|change| !created.iter().any(|made| same(made, change))).copied().collect()
}
