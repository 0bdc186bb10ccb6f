//! Overrides: wishes of the user about a sampler, held back where they are known to break effects.
//!
//! Knows what a wish may touch. Deliberately does not know where wishes come from (that is the rules file's reader) and whether the
//! outcome is legal: it goes through [`super::legalize`] like anything an application asks for.

use ash::vk;

use super::{Catalog, Change, Changes, Field, SamplerState, Value, ViewTraits, is_custom};

/// A change to the LOD bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// Added to what the application set, in mip levels.
    Add(f32),
    /// Instead of what the application set.
    Set(f32),
    /// Added for the scale at which the application renders; none while that is not known.
    Scale(Option<f32>),
}

/// An application with a lower bias than this scales it by itself.
const BIASED: f32 = -0.1;

/// What is wished for the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// No comparison.
    Off,
    /// Another operator, for samplers that compare.
    Op(vk::CompareOp),
}

/// What one override sets; absent members stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Anisotropy of this degree; 1 or less switches it off.
    pub max_anisotropy: Option<f32>,
    /// LOD bias.
    pub mip_lod_bias: Option<Bias>,
    /// `minLod`.
    pub min_lod: Option<f32>,
    /// `maxLod`.
    pub max_lod: Option<f32>,
    /// `magFilter`.
    pub mag_filter: Option<vk::Filter>,
    /// `minFilter`.
    pub min_filter: Option<vk::Filter>,
    /// `mipmapMode`.
    pub mipmap_mode: Option<vk::SamplerMipmapMode>,
    /// Address modes by axis.
    pub address_mode: [Option<vk::SamplerAddressMode>; 3],
    /// Comparison.
    pub compare: Option<Compare>,
    /// Border colour; a predefined one.
    pub border_color: Option<vk::BorderColor>,
}

impl Wish {
    /// Whether the wish names an address mode of OpenGL.
    pub fn uses_gl(&self) -> bool {
        self.address_mode.iter().flatten().any(|mode| super::is_gl(*mode))
    }
}

macro_rules! guards {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $catalog:ident;)+) => {
        /// A reason to leave a sampler or a pair alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Guard { $($(#[$doc])* $variant,)+ }

        impl Guard {
            /// Every guard.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Name in rules files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            const fn bit(self) -> u32 {
                1 << self as u32
            }

            /// The row that says in a record what was held back.
            pub(super) const fn catalog(self) -> Catalog {
                match self { $(Self::$variant => Catalog::$catalog,)+ }
            }
        }
    };
}

guards! {
    /// Unnormalized coordinates: texels are addressed one by one.
    Unnormalized = "unnormalized", HeldUnnormalized;
    /// Depth comparison: filters and bias change shadows, not sharpness.
    Compare = "compare", HeldCompare;
    /// Y′CbCr conversions.
    Ycbcr = "ycbcr", HeldYcbcr;
    /// Integer and stencil views: their values have no average.
    Integer = "integer", HeldInteger;
    /// Views of images that are rendered to: effects read exact texels of them.
    Attachment = "attachment", HeldAttachment;
    /// Views with one level: anisotropy and bias only blur or do nothing.
    SingleMip = "single_mip", HeldSingleMip;
    /// Samplers with a negative LOD bias of the application's own: it follows its scale by itself.
    AlreadyBiased = "already-biased", HeldAlreadyBiased;
    /// Samplers without any LINEAR filter: anisotropy would smooth what was meant to be blocky.
    Nearest = "nearest", HeldNearest;
    /// 1D views have nothing to be anisotropic about, and old drivers do not survive it.
    OneDimensional = "one_dimensional", HeldOneDimensional;
    /// Pipelines that are libraries, or linked of some: their parts would have to agree. Cannot be switched off.
    Library = "library", HeldLibrary;
    /// Pipelines with one sample: nothing is shaded more often.
    SingleSample = "single-sample", HeldSingleSample;
    /// Fragment shaders that write memory which others see: they would do so more often.
    SideEffects = "side-effects", HeldSideEffects;
    /// Fragment shaders and pipelines with a shading rate, which sample shading takes away.
    ShadingRate = "shading-rate", HeldShadingRate;
    /// Fragment shaders that say which samples they cover.
    MaskOutput = "mask-output", HeldMaskOutput;
    /// Fragment shaders that read which samples an invocation covers.
    MaskInput = "mask-input", HeldMaskInput;
    /// Fragment shaders with sections that fragments enter one after the other.
    Interlock = "interlock", HeldInterlock;
}

/// A set of guards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guards(u32);

impl Guards {
    /// No guard.
    pub const NONE: Self = Self(0);

    /// Adds a guard to the set.
    pub fn insert(&mut self, guard: Guard) {
        self.0 |= guard.bit();
    }

    /// Whether the guard is in the set.
    pub const fn contains(self, guard: Guard) -> bool {
        self.0 & guard.bit() != 0
    }
}

/// The guards that hold for a pair, whatever the wish; without a view those that ask for none.
fn holding(state: &SamplerState, view: Option<&ViewTraits>, wish: &Wish, before: &Changes) -> Guards {
    let of_view = |holds: fn(&ViewTraits) -> bool| view.is_some_and(holds);
    let is_flat =
        |view: &ViewTraits| matches!(view.view_type, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY);
    let is_own_bias = || !before.iter().any(|change| change.field == Field::MipLodBias && change.catalog.is_made());
    let scales = matches!(wish.mip_lod_bias, Some(Bias::Scale(_)));
    let all = [
        (Guard::Unnormalized, state.unnormalized_coordinates),
        (Guard::Compare, state.compare_enable),
        (Guard::Ycbcr, state.ycbcr.is_some() || of_view(|view| view.ycbcr)),
        (Guard::Integer, of_view(ViewTraits::is_integer)),
        (Guard::Attachment, of_view(|view| view.attachment)),
        (Guard::SingleMip, of_view(|view| view.single_level)),
        (Guard::AlreadyBiased, scales && state.mip_lod_bias < BIASED && is_own_bias()),
        (Guard::Nearest, !state.uses_filter(vk::Filter::LINEAR) && !state.uses_filter(vk::Filter::CUBIC_EXT)),
        (Guard::OneDimensional, of_view(is_flat)),
    ];
    let mut out = Guards::NONE;
    all.into_iter().filter(|(_, holds)| *holds).for_each(|(guard, _)| out.insert(guard));
    out
}

/// The guards that concern a field.
fn concerning(field: Field) -> &'static [Guard] {
    use Guard as G;
    match field {
        Field::MaxAnisotropy => &[
            G::Unnormalized,
            G::Compare,
            G::Ycbcr,
            G::Integer,
            G::Attachment,
            G::SingleMip,
            G::Nearest,
            G::OneDimensional,
        ],
        // Off: there is no sampling that it breaks.
        Field::AnisotropyEnable => &[],
        Field::MipLodBias => {
            &[G::Unnormalized, G::Compare, G::Ycbcr, G::Integer, G::Attachment, G::SingleMip, G::AlreadyBiased]
        }
        Field::MinLod | Field::MaxLod => {
            &[G::Unnormalized, G::Compare, G::Ycbcr, G::Integer, G::Attachment, G::SingleMip]
        }
        _ => &[G::Unnormalized, G::Compare, G::Ycbcr, G::Integer, G::Attachment],
    }
}

/// Applies `wish` to a pair, or to a sampler of which no view is known. Returns the wished state; `changes` gets what was changed and, with the wish as `from` and what stays
/// as `to`, what was held back.
pub fn apply(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    wish: &Wish,
    guards_off: Guards,
    changes: &mut Changes,
) -> SamplerState {
    let mut out = *state;
    let holding = holding(state, view, wish, changes);
    let held = |field: Field| {
        concerning(field).iter().copied().find(|guard| holding.contains(*guard) && !guards_off.contains(*guard))
    };
    let mut set = |field: Field, from: Value, to: Value| -> bool {
        if from == to {
            return false;
        }
        match held(field) {
            Some(guard) => {
                changes.push(Change { catalog: guard.catalog(), field, from: to, to: from });
                false
            }
            None => {
                changes.push(Change { catalog: Catalog::Override, field, from, to });
                true
            }
        }
    };
    if let Some(to) = wish.mag_filter
        && set(Field::MagFilter, Value::Filter(out.mag_filter), Value::Filter(to))
    {
        out.mag_filter = to;
    }
    if let Some(to) = wish.min_filter
        && set(Field::MinFilter, Value::Filter(out.min_filter), Value::Filter(to))
    {
        out.min_filter = to;
    }
    if let Some(to) = wish.mipmap_mode
        && set(Field::MipmapMode, Value::MipmapMode(out.mipmap_mode), Value::MipmapMode(to))
    {
        out.mipmap_mode = to;
    }
    match wish.max_anisotropy {
        Some(degree) if degree > 1.0 => {
            let from = if out.anisotropy_enable { out.max_anisotropy } else { 1.0 };
            if set(Field::MaxAnisotropy, Value::Float(from), Value::Float(degree)) {
                (out.anisotropy_enable, out.max_anisotropy) = (true, degree);
            }
        }
        // Also where the degree is 1 already, which some drivers take as on.
        Some(_) if set(Field::AnisotropyEnable, Value::Bool(out.anisotropy_enable), Value::Bool(false)) => {
            out.anisotropy_enable = false;
        }
        _ => {}
    }
    if let Some(bias) = wish.mip_lod_bias {
        let to = match bias {
            Bias::Add(amount) => out.mip_lod_bias + amount,
            Bias::Set(amount) => amount,
            Bias::Scale(amount) => out.mip_lod_bias + amount.unwrap_or(0.0),
        };
        if set(Field::MipLodBias, Value::Float(out.mip_lod_bias), Value::Float(to)) {
            out.mip_lod_bias = to;
        }
    }
    if let Some(to) = wish.min_lod
        && set(Field::MinLod, Value::Float(out.min_lod), Value::Float(to))
    {
        out.min_lod = to;
    }
    if let Some(to) = wish.max_lod
        && set(Field::MaxLod, Value::Float(out.max_lod), Value::Float(to))
    {
        out.max_lod = to;
    }
    for ((axis, wished), field) in out.address_mode.iter_mut().zip(wish.address_mode).zip(Field::ADDRESS_MODES) {
        if let Some(to) = wished
            && set(field, Value::AddressMode(*axis), Value::AddressMode(to))
        {
            *axis = to;
        }
    }
    match wish.compare {
        Some(Compare::Off)
            if out.compare_enable && set(Field::CompareEnable, Value::Bool(true), Value::Bool(false)) =>
        {
            out.compare_enable = false;
        }
        Some(Compare::Op(to))
            if out.compare_enable && set(Field::CompareOp, Value::CompareOp(out.compare_op), Value::CompareOp(to)) =>
        {
            out.compare_op = to;
        }
        _ => {}
    }
    if let Some(to) = wish.border_color
        && set(Field::BorderColor, Value::BorderColor(out.border_color), Value::BorderColor(to))
    {
        out.border_color = to;
        if !is_custom(to) {
            out.custom_border = None;
        }
    }
    out
}
