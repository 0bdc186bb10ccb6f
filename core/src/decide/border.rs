//! Step 13: border colours.

use ash::vk;

use super::nearest::{Sight, is_opaque_black, numbers, own_class, predefined};
use super::{
    Aspect, BorderMapping, Catalog, Change, CustomBorder, DeviceCaps, Dimensions, Field, Judgement, Policy,
    SamplerState, Value, ViewTraits, is_custom, is_int_border, is_valid_border, normalize_components,
};
use crate::format::{self, ComponentRange, NumericClass};

/// Whether the view can show the border through this sampler: an axis that the view has clamps to it.
///
/// Seamless cubes ignore address modes (B-70); on non-seamless ones U and V act per face (B-71).
pub(super) fn reaches_border(state: &SamplerState, dimensions: Dimensions) -> bool {
    let [u, v, w] = state.address_mode.map(|mode| mode == vk::SamplerAddressMode::CLAMP_TO_BORDER);
    match dimensions {
        Dimensions::One => u,
        Dimensions::Two => u || v,
        Dimensions::Three => u || v || w,
        Dimensions::Cube => (u || v) && state.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
    }
}

/// Whether A-54 fixes the border colour, whatever the view: an image-processing sampler whose U or V clamps to it.
pub(super) fn is_border_fixed(state: &SamplerState) -> bool {
    let [u, v, _] = state.address_mode.map(|mode| mode == vk::SamplerAddressMode::CLAMP_TO_BORDER);
    state.flags.contains(vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM) && (u || v)
}

/// The border colour of the other kind with the same meaning: white is 1 and 1.0, never the maximum.
fn twin(color: vk::BorderColor) -> vk::BorderColor {
    use vk::BorderColor as B;
    match color {
        B::FLOAT_TRANSPARENT_BLACK => B::INT_TRANSPARENT_BLACK,
        B::INT_TRANSPARENT_BLACK => B::FLOAT_TRANSPARENT_BLACK,
        B::FLOAT_OPAQUE_BLACK => B::INT_OPAQUE_BLACK,
        B::INT_OPAQUE_BLACK => B::FLOAT_OPAQUE_BLACK,
        B::FLOAT_OPAQUE_WHITE => B::INT_OPAQUE_WHITE,
        B::INT_OPAQUE_WHITE => B::FLOAT_OPAQUE_WHITE,
        B::FLOAT_CUSTOM_EXT => B::INT_CUSTOM_EXT,
        B::INT_CUSTOM_EXT => B::FLOAT_CUSTOM_EXT,
        other => other,
    }
}

/// Converts one word between the kinds: floats round to the nearest integer (NaN is 0), integers become the same float.
fn convert(word: u32, to_int: bool, signed: bool) -> u32 {
    if to_int {
        let exact = f64::from(f32::from_bits(word));
        let value = exact + 0.5_f64.copysign(exact);
        // `as` drops the fraction, saturates and turns NaN into 0, which is the rounding and the clamping wanted here.
        if signed { (value as i32) as u32 } else { value as u32 }
    } else if signed {
        ((word as i32) as f32).to_bits()
    } else {
        (word as f32).to_bits()
    }
}

/// Brings one word into what `range` holds. Component order R, G, B, A.
fn clamp(word: u32, index: usize, range: ComponentRange) -> u32 {
    match range {
        ComponentRange::Float { min, max } => {
            let value = f32::from_bits(word);
            if value.is_nan() {
                if max.is_infinite() { word } else { 0.0_f32.to_bits() }
            } else if value < min {
                min.to_bits()
            } else if value > max {
                max.to_bits()
            } else {
                word
            }
        }
        ComponentRange::Uint(bits) => match bits.get(index) {
            Some(&n @ 1..=31) => word.min((1 << n) - 1),
            _ => word,
        },
        ComponentRange::Sint(bits) => match bits.get(index) {
            Some(&n @ 1..=31) => {
                let max = (1_i32 << (n - 1)) - 1;
                (word as i32).clamp(-max - 1, max) as u32
            }
            _ => word,
        },
    }
}

/// `value` with every component clamped to what the format can hold. Only those that replace one of the format's are
/// (Image Operations > Border Replacement: of a depth and of a stencil aspect R); any value is as good in the others.
fn clamp_to_format(value: [u32; 4], format: vk::Format, stencil: bool) -> [u32; 4] {
    let range = format::component_range(format, stencil);
    let present = if stencil { [true, false, false, false] } else { format::components(format) };
    let mut out = value;
    for (index, (word, present)) in out.iter_mut().zip(present).enumerate() {
        if present {
            *word = clamp(*word, index, range);
        }
    }
    out
}

/// The aspect of the format whose values a border colour of this kind gives, if the format has it. For depth/stencil
/// formats FLOAT stands for depth and INT for stencil; of a colour format the numeric class must be known and match.
fn meant_aspect(format: vk::Format, int: bool) -> Option<Aspect> {
    let (aspects, depth, stencil) =
        (format::aspects(format), vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    if aspects == vk::ImageAspectFlags::COLOR {
        (format::is_known(format) && format::numeric_class(format).is_integer() == int).then_some(Aspect::Color)
    } else if int {
        aspects.contains(stencil).then_some(Aspect::Stencil)
    } else {
        aspects.contains(depth).then_some(Aspect::Depth)
    }
}

/// B-56: the chained custom colour has no format and the view's is one of those that need it, border or not.
fn lacks_format(state: &SamplerState, view: &ViewTraits) -> bool {
    format::needs_border_format(view.format)
        && state.custom_border.is_some_and(|custom| custom.format == vk::Format::UNDEFINED)
}

fn color_value(int: bool, words: [u32; 4]) -> Value {
    if int { Value::IntColor(words) } else { Value::FloatColor(words) }
}

impl Judgement<'_> {
    /// Step 13, the border colour of A-54, B-50 to B-58.
    ///
    /// The view, where it can show the border, settles the kind of the colour; then the format has to suit the kind,
    /// the value the format, and the swizzle the view.
    pub(super) fn border(&mut self) {
        if self.state.uses_border() && !is_valid_border(self.state.border_color) {
            self.set_border_color(Catalog::A22, vk::BorderColor::FLOAT_TRANSPARENT_BLACK);
        }
        if self.state.border_mapping.is_some() && !self.caps.border_color_swizzle && !self.is_off(Catalog::A36) {
            self.note(Catalog::A36, Field::BorderColorMapping, Value::Present, Value::Absent);
            self.state.border_mapping = None;
        }
        if is_border_fixed(&self.state) {
            self.set_border_color(Catalog::A54Border, vk::BorderColor::FLOAT_TRANSPARENT_BLACK);
            return;
        }
        if is_custom(self.state.border_color) {
            self.custom_support();
        }
        self.border_kind();
        if is_custom(self.state.border_color) {
            self.custom_format();
        }
        if let Some(view) = self.reached_view().copied() {
            if is_custom(self.state.border_color) {
                self.custom_for_view(&view);
            }
            self.border_swizzle(&view);
        } else if let Some(view) = self.used.view
            && is_custom(self.state.border_color)
            && lacks_format(&self.state, view)
            && !self.use_exact(Catalog::B56Exact)
            && let Some(custom) = self.state.custom_border
        {
            // Nobody sees the colour, so it is not worth a place among the custom ones.
            self.use_nearest(&custom, Catalog::B56Exact, Catalog::B56);
        }
    }

    /// The view, if it can show the border and its class is known.
    fn reached_view(&self) -> Option<&ViewTraits> {
        self.used.view.filter(|view| view.class_is_known() && reaches_border(&self.state, view.dimensions()))
    }

    /// A custom colour that is to be had as nearly as can be, and what it is seen through. Without a view that shows it, it is
    /// seen through whatever format was given for it.
    fn wanted(&self, custom: &CustomBorder) -> (Sight, [f64; 4]) {
        let Some(view) = self.reached_view() else {
            let class = own_class(self.state.border_color, custom.format);
            return (Sight::of_format(custom.format), numbers(custom.color, class));
        };
        // A device that can follow the mapping gets it.
        let knows_mapping = self.caps.border_color_swizzle_from_image
            || self.caps.border_color_swizzle
            || self.state.border_mapping.is_some();
        let value = self.in_kind_of(custom, view);
        (Sight::of_view(view, knows_mapping, self.policy.strict_border), numbers(value, view.numeric_class()))
    }

    /// A custom colour in the kind of a view, as far as its format holds it.
    fn in_kind_of(&self, custom: &CustomBorder, view: &ViewTraits) -> [u32; 4] {
        let same = is_int_border(self.state.border_color) == view.is_integer();
        let value = if same { custom.color } else { self.converted(custom, view.numeric_class()) };
        clamp_to_format(value, view.format, view.aspect == Aspect::Stencil)
    }

    fn set_custom(&mut self, catalog: Catalog, color: [u32; 4], int_before: bool) {
        let is_off = self.is_off(catalog);
        let int_now = is_int_border(self.state.border_color);
        if let Some(custom) = &mut self.state.custom_border
            && custom.color != color
            && !is_off
        {
            let from = color_value(int_before, custom.color);
            custom.color = color;
            self.note(catalog, Field::CustomBorderColor, from, color_value(int_now, color));
        }
    }

    fn set_custom_format(&mut self, catalog: Catalog, format: vk::Format) {
        let is_off = self.is_off(catalog);
        if let Some(custom) = &mut self.state.custom_border
            && custom.format != format
            && !is_off
        {
            let from = custom.format;
            custom.format = format;
            self.note(catalog, Field::CustomBorderColorFormat, Value::Format(from), Value::Format(format));
        }
    }

    /// The view whose class the border colour must have, if there is one: it can show the border (or `border=strict`),
    /// and its class is known.
    fn border_view(&self) -> Option<&ViewTraits> {
        let view = self.used.view?;
        let strict = self.policy.strict_border && is_valid_border(self.state.border_color);
        let matters = strict || reaches_border(&self.state, view.dimensions());
        (matters && view.class_is_known()).then_some(view)
    }

    /// Replaces a custom colour by a predefined one that shows the same, if there is one. Only called where the custom colour
    /// cannot stay as it is, so a legal one is never touched.
    fn use_exact(&mut self, catalog: Catalog) -> bool {
        let int = is_int_border(self.state.border_color);
        let exact = self.state.custom_border.and_then(|custom| {
            let (sight, wanted) = self.wanted(&custom);
            sight.exact(wanted, int)
        });
        let Some(exact) = exact else { return false };
        self.set_border_color(catalog, exact);
        true
    }

    /// Replaces a custom colour by the nearest predefined one.
    fn use_nearest(&mut self, custom: &CustomBorder, exact: Catalog, lossy: Catalog) {
        let (sight, wanted) = self.wanted(custom);
        let (nearest, distance) = sight.nearest(wanted, is_int_border(self.state.border_color));
        self.set_border_color(if distance == 0.0 { exact } else { lossy }, nearest);
    }

    /// where no view that shows the border supplies the format: back to a predefined colour.
    fn custom_support(&mut self) {
        use vk::BorderColor as B;
        let color = self.state.border_color;
        let Some(custom) = self.state.custom_border else {
            let black = if is_int_border(color) { B::INT_TRANSPARENT_BLACK } else { B::FLOAT_TRANSPARENT_BLACK };
            self.set_border_color(Catalog::A31, black);
            return;
        };
        let formatless = custom.format == vk::Format::UNDEFINED && !self.caps.custom_border_color_without_format;
        // A format that the view can supply is worth a custom colour only where the view can show it.
        let supplied = self.border_view().is_some_and(|view| view.format != vk::Format::UNDEFINED);
        if !self.caps.custom_border_colors {
            self.use_nearest(&custom, Catalog::A30Exact, Catalog::A30);
        } else if formatless && self.use_exact(Catalog::A32Exact) {
            // No format is needed for a predefined colour.
        } else if formatless && !supplied {
            self.use_nearest(&custom, Catalog::A32Exact, Catalog::A32);
        }
    }

    /// B-50 and B-51: the kind of the colour follows the class of the view.
    fn border_kind(&mut self) {
        let Some(view) = self.border_view().copied() else { return };
        let wanted = view.is_integer();
        if is_int_border(self.state.border_color) == wanted {
            return;
        }
        let catalog = if wanted { Catalog::B51 } else { Catalog::B50 };
        match self.state.custom_border {
            Some(custom) if is_custom(self.state.border_color) => {
                let stencil = view.aspect == Aspect::Stencil;
                let mut value = self.in_kind_of(&custom, &view);
                if stencil && custom.format == vk::Format::UNDEFINED {
                    // The value may be taken from G (Image Operations > Border Replacement).
                    value[1] = value[0];
                }
                self.set_border_color(catalog, twin(self.state.border_color));
                self.set_custom(catalog, value, !wanted);
                if custom.format != vk::Format::UNDEFINED {
                    self.set_custom_format(catalog, view.format);
                }
            }
            _ => self.set_border_color(catalog, twin(self.state.border_color)),
        }
    }

    /// The custom colour's value in the other kind, for a format of class `target`.
    fn converted(&self, custom: &CustomBorder, target: NumericClass) -> [u32; 4] {
        let int = is_int_border(self.state.border_color);
        // The words do not tell their sign: an integer format that they were given for does, else they are signed.
        let signed =
            if int { format::numeric_class(custom.format) != NumericClass::Uint } else { target == NumericClass::Sint };
        custom.color.map(|word| convert(word, !int, signed))
    }

    /// the format of a custom colour, and what the format can hold.
    fn custom_format(&mut self) {
        if let (Some(CustomBorder { format: vk::Format::UNDEFINED, .. }), Some(view)) =
            (self.state.custom_border, self.used.view)
            && !self.caps.custom_border_color_without_format
        {
            self.set_custom_format(Catalog::A32, view.format);
        }
        let Some(custom) = self.state.custom_border else { return };
        let int = is_int_border(self.state.border_color);
        let color_format = format::is_known(custom.format) && !format::is_depth_stencil(custom.format);
        if color_format && meant_aspect(custom.format, int).is_none() {
            match self.border_view().map(|view| view.format) {
                // The kind is what the view needs, so it is the format that is wrong.
                Some(format) => self.set_custom_format(Catalog::A33, format),
                None => {
                    let value = self.converted(&custom, format::numeric_class(custom.format));
                    let value = clamp_to_format(value, custom.format, false);
                    self.set_border_color(Catalog::A33, twin(self.state.border_color));
                    self.set_custom(Catalog::A33, value, int);
                }
            }
        }
        let Some(custom) = self.state.custom_border else { return };
        let int = is_int_border(self.state.border_color);
        if let Some(aspect) = meant_aspect(custom.format, int) {
            let stencil = aspect == Aspect::Stencil;
            self.set_custom(Catalog::A34, clamp_to_format(custom.color, custom.format, stencil), int);
        }
    }

    /// B-56 to B-58: a custom colour has the view's format, if it has one, and a value that the view can show.
    fn custom_for_view(&mut self, view: &ViewTraits) {
        if lacks_format(&self.state, view) {
            if self.use_exact(Catalog::B56Exact) {
                return;
            }
            self.set_custom_format(Catalog::B56, view.format);
        }
        let Some(custom) = self.state.custom_border else { return };
        let formatless = custom.format == vk::Format::UNDEFINED;
        if !formatless {
            self.set_custom_format(Catalog::B57, view.format);
        }
        let stencil = view.aspect == Aspect::Stencil;
        let int = is_int_border(self.state.border_color);
        let mut value = clamp_to_format(custom.color, view.format, stencil);
        if stencil && formatless {
            // The value may be taken from G (Image Operations > Border Replacement), so that has to be one too. That R and
            // G differ is legal: which is read depends on the implementation.
            value[1] = clamp(value[1], 0, format::component_range(view.format, true));
        }
        self.set_custom(Catalog::B58, value, int);
    }

    /// B-52 to B-55: a colour that swizzling changes needs the device to know the view's swizzle.
    fn border_swizzle(&mut self, view: &ViewTraits) {
        let wanted = BorderMapping { components: view.components, srgb: format::is_srgb(view.format) };
        let identity = [vk::ComponentSwizzle::IDENTITY; 4];
        if let Some(mapping) = self.state.border_mapping {
            let given = normalize_components(vk::ComponentMapping {
                r: mapping.components[0],
                g: mapping.components[1],
                b: mapping.components[2],
                a: mapping.components[3],
            });
            let fits = given == wanted.components || (given == identity && wanted.components == identity);
            if !fits {
                self.set_mapping(Catalog::B54, wanted);
            } else if mapping.srgb != wanted.srgb {
                self.set_mapping(Catalog::B55, BorderMapping { components: mapping.components, srgb: wanted.srgb });
            }
            return;
        }
        let color = self.state.border_color;
        let custom = is_custom(color);
        if view.components == identity
            || !(custom || is_opaque_black(color))
            || self.caps.border_color_swizzle_from_image
        {
            return;
        }
        let [knows_mapping, exact, lossy] = if custom {
            [Catalog::B53, Catalog::B53Exact, Catalog::B53Lossy]
        } else {
            [Catalog::B52, Catalog::B52Exact, Catalog::B52Lossy]
        };
        if self.caps.border_color_swizzle {
            self.set_mapping(knows_mapping, wanted);
            return;
        }
        let strict = self.policy.strict_border;
        let asked = match self.state.custom_border {
            Some(border) if custom => numbers(border.color, view.numeric_class()),
            _ => predefined(color),
        };
        let sight = Sight::of_view(view, false, strict);
        let (nearest, distance) = sight.nearest(asked, is_int_border(color));
        let doubt = sight.doubt(asked);
        if strict || distance < doubt {
            self.set_border_color(if distance == 0.0 { exact } else { lossy }, nearest);
        } else if doubt > 0.0 {
            // Whatever this driver makes of it is as near as anything else, or nearer.
            self.unresolved = Some(Catalog::B65);
        }
    }

    fn set_mapping(&mut self, catalog: Catalog, to: BorderMapping) {
        if self.is_off(catalog) {
            return;
        }
        let from = self.state.border_mapping.map_or(Value::Absent, Value::Mapping);
        self.state.border_mapping = Some(to);
        self.note(catalog, Field::BorderColorMapping, from, Value::Mapping(to));
    }
}

/// The same sampler without its custom border colour, for when the device can hold no more of them: the nearest
/// predefined colour, as the view shows it if there is one.
pub fn without_custom_border(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    caps: &DeviceCaps,
    policy: &Policy,
) -> (SamplerState, Option<Change>) {
    let mut out = *state;
    let Some(custom) = state.custom_border.filter(|_| is_custom(state.border_color)) else { return (out, None) };
    let knows_mapping = caps.border_color_swizzle_from_image || state.border_mapping.is_some();
    let (sight, class) = match view.filter(|view| view.class_is_known() && reaches_border(state, view.dimensions())) {
        Some(view) => (Sight::of_view(view, knows_mapping, policy.strict_border), view.numeric_class()),
        None => (Sight::of_format(custom.format), own_class(state.border_color, custom.format)),
    };
    let (nearest, distance) = sight.nearest(numbers(custom.color, class), is_int_border(state.border_color));
    out.border_color = nearest;
    let change = Change {
        catalog: if distance == 0.0 { Catalog::A35Exact } else { Catalog::A35 },
        field: Field::BorderColor,
        from: Value::BorderColor(state.border_color),
        to: Value::BorderColor(out.border_color),
    };
    (out, Some(change))
}

#[cfg(test)]
mod tests {
    use super::convert;

    #[test]
    fn floats_round_as_the_standard_library_rounds() {
        let with_std = |word: u32, signed: bool| {
            let value = f64::from(f32::from_bits(word)).round();
            if signed { (value as i32) as u32 } else { value as u32 }
        };
        let few = [0.5_f32, 1.5, 2.5, -0.5, 0.499_999_97, 8_388_607.5, 16_777_217.0, 2_147_483_648.0, f32::NAN];
        let words = (0..=u32::MAX).step_by(4099).chain(few.map(f32::to_bits));
        for word in words {
            for signed in [false, true] {
                assert_eq!(convert(word, true, signed), with_std(word, signed), "{}", f32::from_bits(word));
            }
        }
    }
}
