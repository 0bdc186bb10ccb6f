//! Bits: what a sampler asks of a view and what a view cannot give, as bits.
//!
//! `needs(sampler) & lacks(view) == 0` means that the pair is legal as it is, so a descriptor write can pass with two
//! loads and one AND. The property test `bits_agree_with_decide` holds the two against [`super::pair`].

use ash::vk;

use super::address::is_gl;
use super::border::{is_border_fixed, reaches_border};

use super::filter::{can_filter_cubic_minmax, can_filter_linear, can_filter_minmax, can_reduce, cubic_conflict};
use super::nearest::{changes_opaque_black, is_opaque_black};
use super::rules::compare::can_compare;
use super::{
    DeviceCaps, Dimensions, Policy, SamplerState, Value, ViewTraits, is_custom, is_int_border, is_unknown_enumerant,
    is_valid_border,
};

/// A set of conflicts that a sampler and a view can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConflictBits(pub u32);

impl ConflictBits {
    /// No conflict possible.
    pub const NONE: Self = Self(0);
    /// LINEAR min, mag or mip with averaging and without comparison.
    pub const LINEAR: Self = Self(1 << 0);
    /// LINEAR footprint with MIN or MAX.
    pub const MINMAX: Self = Self(1 << 1);
    /// MIN or MAX whatever the footprint.
    pub const REDUCTION: Self = Self(1 << 2);
    /// CUBIC.
    pub const CUBIC: Self = Self(1 << 3);
    /// CUBIC with MIN or MAX.
    pub const CUBIC_MINMAX: Self = Self(1 << 4);
    /// Comparison.
    pub const COMPARE: Self = Self(1 << 5);
    /// An address mode other than CLAMP_TO_EDGE.
    pub const ADDRESS: Self = Self(1 << 6);
    /// Unnormalized coordinates.
    pub const UNNORMALIZED: Self = Self(1 << 7);
    /// The SUBSAMPLED flag.
    pub const SUBSAMPLED: Self = Self(1 << 8);
    /// No SUBSAMPLED flag.
    pub const NOT_SUBSAMPLED: Self = Self(1 << 9);
    /// An address mode of OpenGL, which every view decides about.
    pub const GL_ADDRESS: Self = Self(1 << 10);
    /// An override matches the sampler, and which wishes are held back depends on the view.
    pub const OVERRIDE: Self = Self(1 << 11);
    /// A view that can be sampled.
    pub const SAMPLED: Self = Self(1 << 12);
    /// Unnormalized coordinates that a shader may normalize, which every view decides about.
    pub const TEXELS: Self = Self(1 << 13);
    /// A view of depth and stencil at once, of which a descriptor shows what the shader reads. Views lack it, and no sampler needs it.
    pub const ASPECTS: Self = Self(1 << 14);
    /// A view of integers. Such views lack it, and no sampler needs it.
    pub const INTEGER: Self = Self(1 << 15);
    /// First of four bits for integer borders, one per [`Dimensions`].
    const INT_BORDER: u32 = 16;
    /// First of four bits for float borders.
    const FLOAT_BORDER: u32 = 20;
    /// First of four bits for opaque black, which a mapping can change.
    const SWIZZLED_BORDER: u32 = 24;
    /// First of four bits for custom colours and border swizzles, whose format, value and mapping depend on the view in ways that
    /// no bit says: every view is decided about, once per class.
    const CUSTOM_BORDER: u32 = 28;

    const DIMENSIONS: [Dimensions; 4] = [Dimensions::One, Dimensions::Two, Dimensions::Three, Dimensions::Cube];

    const fn slot(dimensions: Dimensions) -> u32 {
        match dimensions {
            Dimensions::One => 0,
            Dimensions::Two => 1,
            Dimensions::Three => 2,
            Dimensions::Cube => 3,
        }
    }

    fn add(&mut self, bits: Self, when: bool) {
        if when {
            self.0 |= bits.0;
        }
    }

    /// Whether any bit is in both sets.
    pub const fn conflicts(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What the sampler asks of a view. `original` is the application's state, `base` what [`super::create`] made of it.
pub fn needs(original: &SamplerState, base: &SamplerState, caps: &DeviceCaps, policy: &Policy) -> ConflictBits {
    let mut bits = ConflictBits::NONE;
    if base.ycbcr.is_some() {
        return bits;
    }
    let replays = base.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
        && caps.descriptor_buffer_capture_replay;
    bits.add(ConflictBits::UNNORMALIZED, base.unnormalized_coordinates);
    bits.add(ConflictBits::TEXELS, base.unnormalized_coordinates && policy.divides && !replays);
    let subsampled = base.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
    bits.add(if subsampled { ConflictBits::SUBSAMPLED } else { ConflictBits::NOT_SUBSAMPLED }, true);
    bits.add(ConflictBits::SAMPLED, true);
    if replays {
        return bits;
    }
    let minmax = base.is_minmax();
    let cubic = base.uses_filter(vk::Filter::CUBIC_EXT);
    let averages = base.reduction() == vk::SamplerReductionMode::WEIGHTED_AVERAGE;
    bits.add(ConflictBits::LINEAR, base.uses_linear() && averages && !base.compare_enable);
    bits.add(ConflictBits::MINMAX, base.uses_linear() && minmax);
    bits.add(ConflictBits::REDUCTION, minmax);
    bits.add(ConflictBits::CUBIC, cubic);
    bits.add(ConflictBits::CUBIC_MINMAX, cubic && minmax);
    bits.add(ConflictBits::COMPARE, base.compare_enable);
    let clamps = |mode: vk::SamplerAddressMode| {
        mode == vk::SamplerAddressMode::CLAMP_TO_EDGE || is_unknown_enumerant(Value::AddressMode(mode), caps)
    };
    bits.add(ConflictBits::ADDRESS, !base.address_mode.into_iter().all(clamps));
    let valid = is_valid_border(base.border_color);
    let strict = policy.strict_border && valid;
    let fixed = is_border_fixed(base);
    let kind = if is_int_border(base.border_color) { ConflictBits::INT_BORDER } else { ConflictBits::FLOAT_BORDER };
    // By what the application asked for: creation may have had to drop a custom colour that a view's format allows.
    // And which predefined colour is nearest to it depends on the view, too.
    let given = original.custom_border.filter(|_| is_custom(original.border_color));
    let custom = given.is_some() || base.border_mapping.is_some();
    // A colour without a format concerns some views even where no axis reaches it (B-56).
    let formatless = caps.custom_border_colors && given.is_some_and(|border| border.format == vk::Format::UNDEFINED);
    let opaque_black = is_opaque_black(base.border_color);
    for dimensions in ConflictBits::DIMENSIONS {
        let slot = ConflictBits::slot(dimensions);
        let reached = !fixed && reaches_border(base, dimensions);
        bits.add(ConflictBits(1 << (kind + slot)), !fixed && (strict || (reached && valid)));
        bits.add(ConflictBits(1 << (ConflictBits::SWIZZLED_BORDER + slot)), reached && opaque_black);
        // With border=strict a custom colour follows the view even where it cannot be seen, and every mapping counts.
        let every_view = custom && (reached || formatless || (strict && !fixed));
        bits.add(
            ConflictBits(1 << (ConflictBits::CUSTOM_BORDER + slot)),
            every_view || (strict && reached && opaque_black),
        );
    }
    bits.add(ConflictBits::GL_ADDRESS, caps.gl_address_modes && original.address_mode.iter().any(|mode| is_gl(*mode)));
    bits
}

/// What a view cannot give a sampler that is written with it as a dynamic descriptor.
pub fn lacks(view: &ViewTraits, caps: &DeviceCaps) -> ConflictBits {
    let mut bits = ConflictBits::NONE;
    if view.ycbcr {
        return bits;
    }
    let single = view.single_level && view.single_layer;
    let flat = matches!(view.view_type, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D);
    // A subsampled sampler must be immutable, so no view suits it in a dynamic descriptor.
    bits.add(ConflictBits::SUBSAMPLED, true);
    bits.add(ConflictBits::NOT_SUBSAMPLED, view.subsampled);
    bits.add(ConflictBits::SAMPLED, !view.can_be_sampled());
    bits.add(ConflictBits::UNNORMALIZED, !(flat && single));
    bits.add(ConflictBits::LINEAR, !can_filter_linear(view, caps));
    bits.add(ConflictBits::MINMAX, !can_filter_minmax(view));
    bits.add(ConflictBits::REDUCTION, !can_reduce(view, caps));
    bits.add(ConflictBits::CUBIC, cubic_conflict(view, caps).is_some());
    bits.add(ConflictBits::CUBIC_MINMAX, caps.filter_cubic_ext && !can_filter_cubic_minmax(view));
    bits.add(ConflictBits::COMPARE, !can_compare(view) || !caps.mutable_comparison_samplers);
    bits.add(ConflictBits::ADDRESS, view.corner_sampled);
    let first = if view.is_integer() { ConflictBits::FLOAT_BORDER } else { ConflictBits::INT_BORDER };
    let slot = ConflictBits::slot(view.dimensions());
    bits.add(ConflictBits(1 << (first + slot)), view.class_is_known());
    let swizzled = view.components != [vk::ComponentSwizzle::IDENTITY; 4];
    let undefined = swizzled && view.class_is_known() && !caps.border_color_swizzle_from_image;
    // A device that can follow the mapping gets it; for others only a mapping counts that changes the colour.
    let matters = undefined && (caps.border_color_swizzle || changes_opaque_black(view));
    bits.add(ConflictBits(1 << (ConflictBits::SWIZZLED_BORDER + slot)), matters);
    bits.add(ConflictBits(1 << (ConflictBits::CUSTOM_BORDER + slot)), true);
    bits.add(ConflictBits::GL_ADDRESS, true);
    bits.add(ConflictBits::TEXELS, true);
    bits.add(ConflictBits::OVERRIDE, true);
    bits.add(ConflictBits::INTEGER, view.is_integer() && view.class_is_known());
    bits
}

/// What no dynamic descriptor of this device can give, whatever the view (B-36).
pub fn lacks_dynamic(caps: &DeviceCaps) -> ConflictBits {
    if caps.mutable_comparison_samplers { ConflictBits::NONE } else { ConflictBits::COMPARE }
}
