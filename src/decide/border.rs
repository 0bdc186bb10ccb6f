//! Step 13: border colours.

use ash::vk;

use super::{
    BorderMapping, Catalog, CustomBorder, Dimensions, Field, Pass, SamplerState, Value, ViewTraits, is_custom,
    is_int_border, is_valid_border,
};
use crate::format::{self, ComponentRange};

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
pub(super) fn nearest_predefined(color: vk::BorderColor, value: [u32; 4]) -> vk::BorderColor {
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
                if min == f32::MIN { word } else { 0.0_f32.to_bits() }
            } else if value < min {
                min.to_bits()
            } else if value > max {
                max.to_bits()
            } else {
                word
            }
        }
        // Components that the format does not have are not stored, so any value is as good.
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

/// `value` with every component clamped to what the format can hold.
pub(super) fn clamp_to_format(value: [u32; 4], format: vk::Format, stencil: bool) -> [u32; 4] {
    let range = format::component_range(format, stencil);
    let mut out = value;
    for (index, word) in out.iter_mut().enumerate() {
        *word = clamp(*word, index, range);
    }
    out
}

fn color_value(int: bool, words: [u32; 4]) -> Value {
    if int { Value::IntColor(words) } else { Value::FloatColor(words) }
}

impl Pass<'_> {
    /// Step 13, B-50, B-51.
    pub(super) fn border(&mut self) {
        if let Some(mapping) = self.state.border_mapping
            && !self.caps.border_color_swizzle
        {
            self.drop_mapping(mapping);
        }
        if is_custom(self.state.border_color) {
            self.custom_border();
        }
        self.border_kind();
    }

    fn drop_mapping(&mut self, _mapping: BorderMapping) {
        self.note(Catalog::A36, Field::BorderColorMapping, Value::Present, Value::Absent);
        self.state.border_mapping = None;
    }

    fn set_custom(&mut self, catalog: Catalog, color: [u32; 4], int_before: bool) {
        let int_now = is_int_border(self.state.border_color);
        if let Some(custom) = &mut self.state.custom_border
            && (custom.color != color || int_before != int_now)
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

    /// what a custom border colour needs whatever the view.
    fn custom_border(&mut self) {
        use vk::BorderColor as B;
        let color = self.state.border_color;
        let Some(custom) = self.state.custom_border else {
            let black = if is_int_border(color) { B::INT_TRANSPARENT_BLACK } else { B::FLOAT_TRANSPARENT_BLACK };
            self.set_border_color(Catalog::A31, black);
            return;
        };
        if !self.caps.custom_border_colors {
            self.set_border_color(Catalog::A30, nearest_predefined(color, custom.color));
            return;
        }
        if custom.format == vk::Format::UNDEFINED && !self.caps.custom_border_color_without_format {
            match self.used.view {
                Some(view) => self.set_custom_format(Catalog::A32, view.format),
                None => {
                    self.set_border_color(Catalog::A32, nearest_predefined(color, custom.color));
                    return;
                }
            }
        }
        if let Some(CustomBorder { color: value, format }) = self.state.custom_border
            && format != vk::Format::UNDEFINED
        {
            // Depth/stencil formats may be bordered by either kind: FLOAT for depth, INT for stencil.
            let depth_stencil = format::is_depth_stencil(format);
            let int = is_int_border(self.state.border_color);
            let stencil = depth_stencil && int;
            let integer_format = format::numeric_class(format).is_integer();
            if !depth_stencil && int != integer_format {
                self.flip_custom(Catalog::A33, format::numeric_class(format) == format::NumericClass::Sint);
            }
            let now = self.state.custom_border.map_or(value, |custom| custom.color);
            let int = is_int_border(self.state.border_color);
            self.set_custom(Catalog::A34, clamp_to_format(now, format, stencil), int);
        }
    }

    /// Turns a custom colour into its twin of the other kind, value included.
    fn flip_custom(&mut self, catalog: Catalog, signed: bool) {
        let int = is_int_border(self.state.border_color);
        if let Some(custom) = self.state.custom_border {
            self.set_border_color(catalog, twin(self.state.border_color));
            self.set_custom(catalog, custom.color.map(|word| convert(word, !int, signed)), int);
        }
    }

    /// B-50 and B-51: the kind of the colour follows the class of the view.
    fn border_kind(&mut self) {
        let Some(view) = self.used.view else { return };
        let wanted = view.is_integer();
        let strict = self.policy.strict_border && is_valid_border(self.state.border_color);
        if !(strict || reaches_border(&self.state, view.dimensions()))
            || is_int_border(self.state.border_color) == wanted
        {
            return;
        }
        let catalog = if wanted { Catalog::B51 } else { Catalog::B50 };
        if is_custom(self.state.border_color) {
            let signed = view.numeric_class() == format::NumericClass::Sint || !wanted;
            self.flip_custom(catalog, signed);
            self.border_for_view(view, catalog);
        } else {
            self.set_border_color(catalog, twin(self.state.border_color));
        }
    }

    /// After a change of kind the value must fit the view, and a stated format must be the view's.
    fn border_for_view(&mut self, view: &ViewTraits, catalog: Catalog) {
        let stencil = view.aspect == super::Aspect::Stencil;
        if let Some(custom) = self.state.custom_border {
            let mut value = clamp_to_format(custom.color, view.format, stencil);
            if stencil {
                // With an undefined format the stencil value may be taken from R or from G.
                value[1] = value[0];
            }
            self.set_custom(catalog, value, is_int_border(self.state.border_color));
            if custom.format != vk::Format::UNDEFINED {
                self.set_custom_format(catalog, view.format);
            }
        }
    }
}
