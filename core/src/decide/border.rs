//! Step 13: border colours.

use ash::vk;

use super::{
    Aspect, BorderMapping, Catalog, Change, CustomBorder, DeviceCaps, Dimensions, Field, Pass, SamplerState, Value,
    ViewTraits, is_custom, is_int_border, is_valid_border, normalize_components,
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

/// The words of a predefined colour.
fn predefined_words(color: vk::BorderColor) -> [u32; 4] {
    use vk::BorderColor as B;
    let one = if is_int_border(color) { 1 } else { 1.0_f32.to_bits() };
    match color {
        B::FLOAT_OPAQUE_BLACK | B::INT_OPAQUE_BLACK => [0, 0, 0, one],
        B::FLOAT_OPAQUE_WHITE | B::INT_OPAQUE_WHITE => [one; 4],
        _ => [0; 4],
    }
}

/// The predefined colours of the same kind, the swizzle-invariant ones first.
fn candidates(int: bool) -> [vk::BorderColor; 3] {
    use vk::BorderColor as B;
    if int {
        [B::INT_TRANSPARENT_BLACK, B::INT_OPAQUE_WHITE, B::INT_OPAQUE_BLACK]
    } else {
        [B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_WHITE, B::FLOAT_OPAQUE_BLACK]
    }
}

/// One component as a number. Integers are read as signed: −1 is nearer to 0 than to 1. NaN counts as 0.
fn number(word: u32, int: bool) -> f64 {
    let float = f32::from_bits(word);
    if int {
        f64::from(word as i32)
    } else if float.is_nan() {
        0.0
    } else {
        f64::from(float.clamp(-1e9, 1e9))
    }
}

/// Squared Euclidean distance of two colours of one kind.
fn distance(a: [u32; 4], b: [u32; 4], int: bool) -> f64 {
    a.into_iter().zip(b).map(|(a, b)| number(a, int) - number(b, int)).map(|d| d * d).sum()
}

/// Nearest of `among` to a colour, as the view's components show the two.
fn nearest(
    value: [u32; 4],
    int: bool,
    among: &[vk::BorderColor],
    components: Option<[vk::ComponentSwizzle; 4]>,
) -> vk::BorderColor {
    let shown = |words: [u32; 4]| components.map_or(words, |components| swizzle(words, components, int));
    let wanted = shown(value);
    let mut best = (f64::INFINITY, vk::BorderColor::FLOAT_TRANSPARENT_BLACK);
    for candidate in among {
        let d = distance(wanted, shown(predefined_words(*candidate)), int);
        if d < best.0 {
            best = (d, *candidate);
        }
    }
    best.1
}

/// What a component mapping makes of a colour.
fn swizzle(words: [u32; 4], components: [vk::ComponentSwizzle; 4], int: bool) -> [u32; 4] {
    use vk::ComponentSwizzle as C;
    let one = if int { 1 } else { 1.0_f32.to_bits() };
    let [r, g, b, a] = words;
    let mut out = words;
    for (to, component) in out.iter_mut().zip(components) {
        match component {
            C::ZERO => *to = 0,
            C::ONE => *to = one,
            C::R => *to = r,
            C::G => *to = g,
            C::B => *to = b,
            C::A => *to = a,
            _ => {}
        }
    }
    out
}

/// The predefined colour of the same kind with exactly this value (−0 is 0).
fn exact_predefined(color: vk::BorderColor, value: [u32; 4]) -> Option<vk::BorderColor> {
    let int = is_int_border(color);
    let fold = |word: u32| if !int && word == (-0.0_f32).to_bits() { 0 } else { word };
    candidates(int).into_iter().find(|candidate| predefined_words(*candidate) == value.map(fold))
}

/// Nearest predefined colour of the same kind, by Euclidean distance of the four components.
pub(super) fn nearest_predefined(color: vk::BorderColor, value: [u32; 4]) -> vk::BorderColor {
    let int = is_int_border(color);
    nearest(value, int, &candidates(int), None)
}

/// Whether the colour looks different when its components are exchanged: opaque black and any custom one.
pub(super) fn is_swizzle_sensitive(color: vk::BorderColor) -> bool {
    is_custom(color) || matches!(color, vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK)
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

impl Pass<'_> {
    /// Step 13, the border colour of A-54, B-50 to B-58.
    ///
    /// The view, where it can show the border, settles the kind of the colour; then the format has to suit the kind,
    /// the value the format, and the swizzle the view.
    pub(super) fn border(&mut self) {
        if self.state.uses_border() && !is_valid_border(self.state.border_color) {
            self.set_border_color(Catalog::A22, vk::BorderColor::FLOAT_TRANSPARENT_BLACK);
        }
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
        let reached = self
            .used
            .view
            .filter(|view| view.class_is_known() && reaches_border(&self.state, view.dimensions()))
            .copied();
        if let Some(view) = reached {
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
            self.set_border_color(Catalog::B56, nearest_predefined(self.state.border_color, custom.color));
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

    /// Replaces a custom colour by the predefined one of exactly its value, if there is one. Only called where the custom
    /// colour cannot stay as it is, so a legal one is never touched.
    fn use_exact(&mut self, catalog: Catalog) -> bool {
        let exact = self.state.custom_border.and_then(|c| exact_predefined(self.state.border_color, c.color));
        if let Some(exact) = exact {
            self.set_border_color(catalog, exact);
        }
        exact.is_some()
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
            if !self.use_exact(Catalog::A30Exact) {
                self.set_border_color(Catalog::A30, nearest_predefined(color, custom.color));
            }
        } else if formatless && self.use_exact(Catalog::A32Exact) {
            // No format is needed for a predefined colour.
        } else if formatless && !supplied {
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
                let stencil = view.aspect == Aspect::Stencil;
                let mut value = clamp_to_format(self.converted(&custom, view.numeric_class()), view.format, stencil);
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
        if view.components == identity || !is_swizzle_sensitive(color) || self.caps.border_color_swizzle_from_image {
            return;
        }
        let custom = is_custom(color);
        let catalog = if custom { Catalog::B53 } else { Catalog::B52 };
        if self.caps.border_color_swizzle {
            self.set_mapping(catalog, wanted);
            return;
        }
        let value = match self.state.custom_border {
            Some(border) if custom => border.color,
            _ => predefined_words(color),
        };
        let int = is_int_border(color);
        let invariant = candidates(int);
        let to = nearest(value, int, invariant.get(..2).unwrap_or(&[]), Some(view.components));
        self.set_border_color(if custom { Catalog::B53Lossy } else { Catalog::B52Lossy }, to);
    }

    fn set_mapping(&mut self, catalog: Catalog, to: BorderMapping) {
        let from = self.state.border_mapping.map_or(Value::Absent, Value::Mapping);
        self.state.border_mapping = Some(to);
        self.note(catalog, Field::BorderColorMapping, from, Value::Mapping(to));
    }
}

/// The same sampler without its custom border colour, for when the device can hold no more of them: the nearest
/// predefined colour, of those that swizzling leaves alone where the view's swizzle would matter.
pub fn without_custom_border(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    caps: &DeviceCaps,
) -> (SamplerState, Option<Change>) {
    let mut out = *state;
    let Some(custom) = state.custom_border.filter(|_| is_custom(state.border_color)) else { return (out, None) };
    let int = is_int_border(state.border_color);
    let identity = [vk::ComponentSwizzle::IDENTITY; 4];
    let components = view.map_or(identity, |view| view.components);
    let follows = components == identity || caps.border_color_swizzle_from_image || state.border_mapping.is_some();
    let all = candidates(int);
    let among = if follows { &all[..] } else { all.get(..2).unwrap_or(&[]) };
    out.border_color = nearest(custom.color, int, among, Some(components));
    let exact = exact_predefined(state.border_color, custom.color) == Some(out.border_color);
    let change = Change {
        catalog: if exact { Catalog::A35Exact } else { Catalog::A35 },
        field: Field::BorderColor,
        from: Value::BorderColor(state.border_color),
        to: Value::BorderColor(out.border_color),
    };
    (out, Some(change))
}
