//! What the name of a format says about it: an independent source for the tables of the layer.

use ash::vk;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Numeric kind of a colour format's values as a shader reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numeric {
    /// Normalised, scaled, floating-point, or depth.
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// The name is not known.
    Unknown,
}

/// What the name tells.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Kind of the colour components; of the depth component where there is one.
    pub numeric: Numeric,
    /// Bits of R, G, B, A (depth counts as R); `None` for an absent component. 32 where the name gives no width.
    pub bits: [Option<u32>; 4],
    /// Closed interval of representable floats; `None` when every float is.
    pub range: Option<(f32, f32)>,
    /// Has a depth aspect.
    pub depth: bool,
    /// Has a stencil aspect.
    pub stencil: bool,
}

const UNKNOWN: Facts = Facts { numeric: Numeric::Unknown, bits: [None; 4], range: None, depth: false, stencil: false };

/// Raw values of every format whose name is read: the core block and the extensions' blocks up to Vulkan 1.3, with
/// `VK_KHR_maintenance5`.
pub fn known() -> impl Iterator<Item = vk::Format> {
    (1..=184)
        .chain(1_000_054_000..=1_000_054_007)
        .chain(1_000_066_000..=1_000_066_013)
        .chain(1_000_156_000..=1_000_156_033)
        .chain(1_000_330_000..=1_000_330_003)
        .chain(1_000_340_000..=1_000_340_001)
        .chain(1_000_470_000..=1_000_470_001)
        .map(vk::Format::from_raw)
}

static FACTS: LazyLock<HashMap<i32, Facts>> =
    LazyLock::new(|| known().map(|format| (format.as_raw(), parse(&format!("{format:?}")))).collect());

/// Facts of a format; [`Numeric::Unknown`] for values outside [`known`].
pub fn facts(format: vk::Format) -> &'static Facts {
    FACTS.get(&format.as_raw()).unwrap_or(&UNKNOWN)
}

/// Reads a registry name without its `VK_FORMAT_` prefix.
fn parse(name: &str) -> Facts {
    const KINDS: [&str; 9] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SRGB", "UFLOAT", "SFLOAT"];
    let tokens: Vec<&str> = name.split('_').collect();
    let at = tokens.iter().position(|token| KINDS.contains(token)).expect("every name holds a numeric kind");
    let layout = tokens[..at].join("_");
    let kind = tokens[at];

    let depth = ["D16", "D24", "D32"].iter().any(|depth| layout.contains(depth));
    let stencil = tokens.contains(&"S8");
    let unsized_components = |rgba: &str| ["R", "G", "B", "A"].map(|c| rgba.contains(c).then_some(32));
    let bits = if layout.starts_with("BC") {
        match layout.as_str() {
            "BC4" => unsized_components("R"),
            "BC5" => unsized_components("RG"),
            "BC1_RGB" | "BC6H" => unsized_components("RGB"),
            _ => unsized_components("RGBA"),
        }
    } else if layout.starts_with("ASTC") || layout.starts_with("PVRTC") {
        unsized_components("RGBA")
    } else {
        let width = |component: char| {
            layout.split(component).skip(1).find_map(|rest| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().ok()
            })
        };
        [width('R').or(width('D')), width('G'), width('B'), width('A')]
    };
    let (numeric, range) = match kind {
        "UINT" => (Numeric::Uint, None),
        "SINT" => (Numeric::Sint, None),
        "UNORM" | "SRGB" => (Numeric::Float, Some((0.0, 1.0))),
        "SNORM" => (Numeric::Float, Some((-1.0, 1.0))),
        // A shared exponent has no encoding of infinity or NaN: 511/512 of 2^16 is the largest value.
        "UFLOAT" if layout.starts_with("E5") => (Numeric::Float, Some((0.0, 65_408.0))),
        // No sign bit; NaN and infinity have encodings.
        "UFLOAT" => (Numeric::Float, Some((0.0, f32::INFINITY))),
        _ => (Numeric::Float, None),
    };
    Facts { numeric, bits, range, depth, stencil }
}
