//! Step 13: border colours.

use ash::vk;

use super::{
    Aspect, Catalog, CustomBorder, Dimensions, Field, Pass, SamplerState, Value, ViewTraits, is_custom, is_int_border,
    is_valid_border,
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

/// Nearest predefined colour of the same kind, by Euclidean distance of the four components.
///
/// Integers are read as signed: −1 is nearer to 0 than to 1. NaN counts as 0.
fn nearest_predefined(color: vk::BorderColor, value: [u32; 4]) -> vk::BorderColor {
    use vk::BorderColor as B;
    let int = is_int_border(color);
    let component = |word: u32| -> f64 {
        if int {
            f64::from(word as i32)
        } else {
            let float = f32::from_bits(word);
            if float.is_nan() { 0.0 } else { f64::from(float.clamp(-1e9, 1e9)) }
        }
    };
    let given = value.map(component);
    let distance = |candidate: [f64; 4]| -> f64 { given.iter().zip(candidate).map(|(a, b)| (a - b) * (a - b)).sum() };
    let candidates = if int {
        [B::INT_TRANSPARENT_BLACK, B::INT_OPAQUE_BLACK, B::INT_OPAQUE_WHITE]
    } else {
        [B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_BLACK, B::FLOAT_OPAQUE_WHITE]
    };
    let values = [[0.0; 4], [0.0, 0.0, 0.0, 1.0], [1.0; 4]];
    let mut best = (f64::INFINITY, candidates[0]);
    for (candidate, value) in candidates.into_iter().zip(values) {
        let d = distance(value);
        if d < best.0 {
            best = (d, candidate);
        }
    }
    best.1
}

/// Converts one word between the kinds: floats round to the nearest integer (NaN is 0), integers become the same float.
fn convert(word: u32, to_int: bool, signed: bool) -> u32 {
    if to_int {
        let value = f64::from(f32::from_bits(word)).round();
        // `as` saturates and turns NaN into 0, which is the clamping wanted here.
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

/// `value` with every component clamped to what the format can hold. Components that the format does not have are not
/// stored, so any value is as good there.
fn clamp_to_format(value: [u32; 4], format: vk::Format, stencil: bool) -> [u32; 4] {
    let range = format::component_range(format, stencil);
    let present = if stencil { [true, true, false, false] } else { format::components(format) };
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

fn color_value(int: bool, words: [u32; 4]) -> Value {
    if int { Value::IntColor(words) } else { Value::FloatColor(words) }
}

impl Pass<'_> {
    /// Step 13, the border colour of A-54, B-50, B-51.
    ///
    /// The view, where it can show the border, settles the kind of the colour; then the format has to suit the kind,
    /// and the value the format.
    pub(super) fn border(&mut self) {
        if self.state.border_mapping.is_some() && !self.caps.border_color_swizzle {
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
    }

    fn set_custom(&mut self, catalog: Catalog, color: [u32; 4], int_before: bool) {
        let int_now = is_int_border(self.state.border_color);
        if let Some(custom) = &mut self.state.custom_border
            && custom.color != color
        {
            let from = color_value(int_before, custom.color);
            custom.color = color;
            self.note(catalog, Field::CustomBorderColor, from, color_value(int_now, color));
        }
    }

    fn set_custom_format(&mut self, catalog: Catalog, format: vk::Format) {
        if let Some(custom) = &mut self.state.custom_border
            && custom.format != format
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

    /// where no view can supply the format: back to a predefined colour.
    fn custom_support(&mut self) {
        use vk::BorderColor as B;
        let color = self.state.border_color;
        let Some(custom) = self.state.custom_border else {
            let black = if is_int_border(color) { B::INT_TRANSPARENT_BLACK } else { B::FLOAT_TRANSPARENT_BLACK };
            self.set_border_color(Catalog::A31, black);
            return;
        };
        let formatless = custom.format == vk::Format::UNDEFINED
            && !self.caps.custom_border_color_without_format
            && self.used.view.is_none_or(|view| view.format == vk::Format::UNDEFINED);
        if !self.caps.custom_border_colors {
            self.set_border_color(Catalog::A30, nearest_predefined(color, custom.color));
        } else if formatless {
            self.set_border_color(Catalog::A32, nearest_predefined(color, custom.color));
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
                // A stated format stays if it has values of the new kind.
                let (format, class, stencil) = match meant_aspect(custom.format, wanted) {
                    Some(aspect) if aspect == Aspect::Color || aspect == view.aspect => {
                        (custom.format, format::numeric_class(custom.format), aspect == Aspect::Stencil)
                    }
                    _ => (view.format, view.numeric_class(), view.aspect == Aspect::Stencil),
                };
                let mut value = clamp_to_format(self.converted(&custom, class), format, stencil);
                if stencil {
                    // With an undefined format the stencil value may be taken from R or from G.
                    value[1] = value[0];
                }
                self.set_border_color(catalog, twin(self.state.border_color));
                self.set_custom(catalog, value, !wanted);
                if custom.format != vk::Format::UNDEFINED {
                    self.set_custom_format(catalog, format);
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
}
