//! How near a border colour comes to the one that was asked for, as the shader sees the two.
//!
//! What a shader sees of a border colour follows from *Image Operations*: "Border Replacement" takes the components that the format
//! has, "Conversion to RGBA" gives those that it lacks as 0, 0, 0 and 1, and "Component Swizzle" applies the view's mapping. A
//! mapping that the device follows ([`Sight::knows_mapping`]) leaves no doubt. Where the device does not know it, opaque black and custom colours
//! are undefined, and drivers show one of two colours: with the mapping, as asked for, or without it.
//!
//! "Border Replacement" also lets implementations exchange blue or red with alpha for predefined colours of two 4444 formats, which only
//! opaque black shows. Few do, so it remains the nearest there, but never counts as exact. A device whose `rgba4OpaqueBlackSwizzled`
//! (`VK_KHR_maintenance10`) is true may not; the property is not read, which costs such a device a custom colour where opaque black would
//! be exact, and never shows a wrong one.
//!
//! The distance of two colours is the squared Euclidean one of their four components after all that. It is total: integers count
//! as the format's class reads them, an infinity as the largest float, NaN as all but 0. Of equally near colours the one is taken that is
//! nearest by all four components, seen or not, and of those the first of [`candidates`].

use ash::vk;

use super::{ViewTraits, is_int_border};
use crate::format::{self, NumericClass};

/// A NaN is shown as most would have it, and yet is not the same as 0.
const NOT_A_NUMBER: f64 = 1e-30;

/// The distance of what most drivers show as asked for, and some may not.
const DOUBTFUL: f64 = 1e-30;

/// The predefined colours of a kind, those that no mapping can make undefined first.
pub(super) fn candidates(int: bool) -> [vk::BorderColor; 3] {
    use vk::BorderColor as B;
    if int {
        [B::INT_TRANSPARENT_BLACK, B::INT_OPAQUE_WHITE, B::INT_OPAQUE_BLACK]
    } else {
        [B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_WHITE, B::FLOAT_OPAQUE_BLACK]
    }
}

/// Whether the colour is opaque black, of either kind: the one predefined colour that looks different when its components are
/// exchanged.
pub(super) fn is_opaque_black(color: vk::BorderColor) -> bool {
    matches!(color, vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK)
}

/// The components of a predefined colour, which are the same numbers in both kinds.
pub(super) fn predefined(color: vk::BorderColor) -> [f64; 4] {
    use vk::BorderColor as B;
    match color {
        B::FLOAT_OPAQUE_WHITE | B::INT_OPAQUE_WHITE => [1.0; 4],
        color if is_opaque_black(color) => [0.0, 0.0, 0.0, 1.0],
        _ => [0.0; 4],
    }
}

/// The words of a custom colour as the numbers that a format of this class shows.
pub(super) fn numbers(words: [u32; 4], class: NumericClass) -> [f64; 4] {
    words.map(|word| match class {
        NumericClass::Uint => f64::from(word),
        NumericClass::Sint => f64::from(word as i32),
        NumericClass::Float => {
            let value = f32::from_bits(word);
            if value.is_nan() { NOT_A_NUMBER } else { f64::from(value.clamp(f32::MIN, f32::MAX)) }
        }
    })
}

fn distance(a: [f64; 4], b: [f64; 4]) -> f64 {
    a.into_iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// What stands between a border colour and the shader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Components that the format has.
    present: [bool; 4],
    /// The view's mapping.
    components: [vk::ComponentSwizzle; 4],
    /// The device follows the mapping: it is the identity, or the device knows it.
    knows_mapping: bool,
    /// `border=strict`: a mapping that the device does not know makes opaque black undefined, whether it changes it or not.
    strict: bool,
    /// An implementation may exchange two components of opaque black.
    exchanges: bool,
}

/// Whether an implementation may exchange two components of the predefined opaque black with this format, which it may not do of a custom
/// colour. That `rgba4OpaqueBlackSwizzled` forbids it is not looked at.
fn exchanges_opaque_black(format: vk::Format) -> bool {
    matches!(format, vk::Format::B4G4R4A4_UNORM_PACK16 | vk::Format::R4G4B4A4_UNORM_PACK16)
}

impl Sight {
    /// Through a view. `knows_mapping`: the device follows its mapping.
    pub(super) fn of_view(view: &ViewTraits, knows_mapping: bool, strict: bool) -> Self {
        let stencil = view.aspect == super::Aspect::Stencil;
        let present = if stencil { [true, false, false, false] } else { format::components(view.format) };
        let identity = view.components == [vk::ComponentSwizzle::IDENTITY; 4];
        let exchanges = exchanges_opaque_black(view.format);
        Self { present, components: view.components, knows_mapping: knows_mapping || identity, strict, exchanges }
    }

    /// Through a view that is not known, of this format if one is given.
    pub(super) fn of_format(format: vk::Format) -> Self {
        let present = if format::is_known(format) { format::components(format) } else { [true; 4] };
        let exchanges = exchanges_opaque_black(format);
        Self { present, components: [vk::ComponentSwizzle::IDENTITY; 4], knows_mapping: true, strict: false, exchanges }
    }

    /// The components that the format has, and what stands for the others.
    fn filled(&self, color: [f64; 4]) -> [f64; 4] {
        let mut out = [0.0, 0.0, 0.0, 1.0];
        for ((to, from), present) in out.iter_mut().zip(color).zip(self.present) {
            if present {
                *to = from;
            }
        }
        out
    }

    /// What the specification has the shader see where the mapping is followed.
    pub(super) fn seen(&self, color: [f64; 4]) -> [f64; 4] {
        use vk::ComponentSwizzle as C;
        let filled @ [r, g, b, a] = self.filled(color);
        let mut out = filled;
        for (to, component) in out.iter_mut().zip(self.components) {
            match component {
                C::ZERO => *to = 0.0,
                C::ONE => *to = 1.0,
                C::R => *to = r,
                C::G => *to = g,
                C::B => *to = b,
                C::A => *to = a,
                _ => {}
            }
        }
        out
    }

    /// How far from the colour the driver may be that shows it without the mapping: 0 where that changes nothing.
    pub(super) fn doubt(&self, color: [f64; 4]) -> f64 {
        if self.knows_mapping { 0.0 } else { distance(self.seen(color), self.filled(color)) }
    }

    /// The predefined colour of a kind that is nearest to `color`, of those that look the same on every driver, and how far it is.
    pub(super) fn nearest(&self, color: [f64; 4], int: bool) -> (vk::BorderColor, f64) {
        let wanted = self.seen(color);
        let mut best = (vk::BorderColor::FLOAT_TRANSPARENT_BLACK, [f64::INFINITY; 2]);
        for candidate in candidates(int) {
            let other = predefined(candidate);
            let in_doubt =
                is_opaque_black(candidate) && !self.knows_mapping && (self.strict || self.doubt(other) > 0.0);
            let doubtful = if self.exchanges && is_opaque_black(candidate) { DOUBTFUL } else { 0.0 };
            let distances = [distance(wanted, self.seen(other)) + doubtful, distance(color, other)];
            if !in_doubt && distances < best.1 {
                best = (candidate, distances);
            }
        }
        let (nearest, [distance, _]) = best;
        (nearest, distance)
    }

    /// The predefined colour that shows the same, if there is one.
    pub(super) fn exact(&self, color: [f64; 4], int: bool) -> Option<vk::BorderColor> {
        let (nearest, distance) = self.nearest(color, int);
        (distance == 0.0).then_some(nearest)
    }
}

/// Whether the view's mapping changes opaque black, so that a device that does not know it may show another colour.
pub(super) fn changes_opaque_black(view: &ViewTraits) -> bool {
    Sight::of_view(view, false, false).doubt(predefined(vk::BorderColor::INT_OPAQUE_BLACK)) > 0.0
}

/// The class that a custom colour's words have by themselves: integers are signed, unless they were given for a format of
/// unsigned ones.
pub(super) fn own_class(color: vk::BorderColor, format: vk::Format) -> NumericClass {
    match (is_int_border(color), format::numeric_class(format)) {
        (true, NumericClass::Uint) => NumericClass::Uint,
        (true, _) => NumericClass::Sint,
        (false, _) => NumericClass::Float,
    }
}
