//! Border colours.

use crate::Judge;
use crate::creation::{border_pinned, representable};
use crate::formats::{self, Numeric};
use crate::words::*;
use ash::vk;
use samplin_core::decide::{Aspect, DeviceCaps, Policy, SamplerState, ViewTraits};

impl Judge {
    /// Border colours, and the address modes of corner-sampled images.
    pub(crate) fn borders(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, policy: &Policy) {
        // Image Operations > Wrapping Operation: U acts on every view, V on 2D and cube ones, W on 3D ones; cubes ignore
        // them unless the sampler was made non-seamless.
        use vk::ImageViewType as T;
        let axes = match view.view_type {
            T::TYPE_1D | T::TYPE_1D_ARRAY => 1,
            T::TYPE_3D => 3,
            T::CUBE | T::CUBE_ARRAY if !state.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT) => 0,
            _ => 2,
        };
        let reached = state.address_mode[..axes].contains(&BORDER);
        // Where A-54 pins the colour, a breach of B-51 has no cure; the colour is all zero bits, which no kind and no
        // swizzle changes.
        let judged = valid_border(state.border_color) && !border_pinned(state);
        if judged && (reached || policy.strict_border) {
            let (int, kind) = (int_border(state.border_color), numeric(view));
            self.check("B-50", VALIDATION, int && kind == Numeric::Float);
            self.check("B-51", VALIDATION, !int && matches!(kind, Numeric::Uint | Numeric::Sint));
        }
        // A view whose numeric kind is not known is innocent of the rest.
        if judged && reached && numeric(view) != Numeric::Unknown {
            self.border_swizzle(state, view, caps, policy);
            self.border_format(state, view);
        }
        // This statement has an id, and it does not ask whether the border is ever seen.
        let packed = [
            vk::Format::B4G4R4A4_UNORM_PACK16,
            vk::Format::B5G6R5_UNORM_PACK16,
            vk::Format::A1B5G5R5_UNORM_PACK16_KHR,
            vk::Format::B5G5R5A1_UNORM_PACK16,
        ];
        let formatless = state.custom_border.is_some_and(|border| border.format == vk::Format::UNDEFINED);
        self.check(
            "B-56",
            "VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015",
            custom(state) && formatless && packed.contains(&view.format),
        );
        self.check("B-64", "VUID-vkCmdDraw-flags-02696", view.corner_sampled && state.address_mode != [EDGE; 3]);
    }

    /// Border colours that a component mapping changes.
    ///
    /// B-54 and B-55 are written without regard to the colour, and are read so here, although transparent black and
    /// white look the same however they are swizzled. B-52 and B-53 are, too, with `border=strict`. Without it they count where
    /// the mapping makes a difference and a colour that nothing leaves open comes nearer than that; where none does, it is
    /// B-65.
    fn border_swizzle(&mut self, state: &SamplerState, view: &ViewTraits, caps: &DeviceCaps, policy: &Policy) {
        let of_view = form_of_identity(view.components);
        let swizzled = of_view != [vk::ComponentSwizzle::IDENTITY; 4];
        let untold = swizzled && !caps.border_color_swizzle_from_image && state.border_mapping.is_none();
        let black = [vk::BorderColor::FLOAT_OPAQUE_BLACK, vk::BorderColor::INT_OPAQUE_BLACK];
        let open = untold && (custom(state) || black.contains(&state.border_color));
        let (differs, mends) = outlook(state, view);
        let told = caps.border_color_swizzle;
        let counts = open && (policy.strict_border || told || (differs && mends));
        self.check("B-52", VALIDATION, counts && !custom(state));
        self.check("B-53", VALIDATION, counts && custom(state));
        self.check("B-65", VALIDATION, open && differs && !counts);
        if let Some(mapping) = state.border_mapping {
            self.check("B-54", VALIDATION, form_of_identity(mapping.components) != of_view);
            self.check("B-55", VALIDATION, mapping.srgb != format!("{:?}", view.format).contains("SRGB"));
        }
    }

    /// A custom colour and the view's format.
    fn border_format(&mut self, state: &SamplerState, view: &ViewTraits) {
        let Some(border) = state.custom_border.filter(|_| custom(state)) else { return };
        let formatless = border.format == vk::Format::UNDEFINED;
        self.check("B-57", VALIDATION, !formatless && border.format != view.format);
        // Image Operations > Border Replacement: without a format an implementation may take a stencil value from G, so
        // either has to be one. That the two may differ is not forbidden; which is read depends on the implementation.
        let int = int_border(state.border_color);
        let fits = representable(border.color, int, formats::facts(view.format));
        let second = int && formatless && view.aspect == Aspect::Stencil && border.color[1] > 0xff;
        self.check("B-58", VALIDATION, !fits || second);
    }
}

/// The texel that a shader gets for a border colour, with the view's mapping and without it.
///
/// Image Operations > Border Replacement, then > Conversion to RGBA (0, 0, 0 and 1 for what the format lacks), then >
/// Component Swizzle.
fn texels(color: [f64; 4], view: &ViewTraits) -> [[f64; 4]; 2] {
    use vk::ComponentSwizzle as C;
    let held = match view.aspect {
        Aspect::Color => formats::facts(view.format).bits.map(|bits| bits.is_some()),
        Aspect::Depth | Aspect::Stencil => [true, false, false, false],
    };
    let plain: [f64; 4] = std::array::from_fn(|at| if held[at] { color[at] } else { f64::from(u8::from(at == 3)) });
    let mapped = std::array::from_fn(|at| match view.components[at] {
        C::ZERO => 0.0,
        C::ONE => 1.0,
        C::R => plain[0],
        C::G => plain[1],
        C::B => plain[2],
        C::A => plain[3],
        _ => plain[at],
    });
    [mapped, plain]
}

/// Squares of the differences, added up.
fn apart(one: [f64; 4], other: [f64; 4]) -> f64 {
    (0..4).map(|at| (one[at] - other[at]).powi(2)).sum()
}

/// The two colours that a device which is not told of the view's mapping may show for a sampler's border: with the mapping, as
/// the specification has it elsewhere, and without.
pub fn border_texels(state: &SamplerState, view: &ViewTraits) -> [[f64; 4]; 2] {
    texels(shade(state, view), view)
}

/// The border colour as numbers.
fn shade(state: &SamplerState, view: &ViewTraits) -> [f64; 4] {
    let number = |word: u32| match numeric(view) {
        Numeric::Uint => f64::from(word),
        Numeric::Sint => f64::from(word as i32),
        _ => match f64::from(f32::from_bits(word)) {
            value if value.is_nan() => 1e-30,
            value => value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)),
        },
    };
    match (state.border_color, state.custom_border) {
        (vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE, _) => [1.0; 4],
        (vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK, _) => [0.0, 0.0, 0.0, 1.0],
        (_, Some(border)) if custom(state) => border.color.map(number),
        _ => [0.0; 4],
    }
}

/// Whether the view's mapping changes the border colour, and whether a predefined one that it leaves no doubt about comes nearer
/// to it than the colour without the mapping.
fn outlook(state: &SamplerState, view: &ViewTraits) -> (bool, bool) {
    let [asked, plain] = border_texels(state, view);
    let doubt = apart(asked, plain);
    let mends = [[0.0; 4], [1.0; 4], [0.0, 0.0, 0.0, 1.0]].into_iter().enumerate().any(|(number, color)| {
        let [mapped, plain] = texels(color, view);
        // The specification excepts transparent black and white.
        (number < 2 || mapped == plain) && apart(mapped, asked) < doubt
    });
    (asked != plain, mends)
}

/// Resources > Image Views, identity mappings: every component that names itself replaced by `IDENTITY`.
fn form_of_identity(components: [vk::ComponentSwizzle; 4]) -> [vk::ComponentSwizzle; 4] {
    use vk::ComponentSwizzle as C;
    let mut out = components;
    for (component, own) in out.iter_mut().zip([C::R, C::G, C::B, C::A]) {
        if *component == own {
            *component = C::IDENTITY;
        }
    }
    out
}
