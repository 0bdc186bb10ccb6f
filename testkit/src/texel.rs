//! Texel formats: what the harness can encode, decode and name.
//!
//! A [`Value`] is one texel or one sampled result. Depth is `Float([d, 0, 0, 1])`, stencil `Uint([s, 0, 0, 1])`, as a
//! shader sees them. Encodings follow the Vulkan specification, chapters *Formats* and *Fixed-Point Data Conversions*.

use ash::vk;

/// One texel or sampled result, components in R, G, B, A order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Normalised, floating-point or depth.
    Float([f32; 4]),
    /// Signed integer.
    Int([i32; 4]),
    /// Unsigned integer or stencil.
    Uint([u32; 4]),
}

impl Value {
    /// The four components as `f64`, whatever the kind.
    pub fn components(self) -> [f64; 4] {
        match self {
            Self::Float(c) => c.map(f64::from),
            Self::Int(c) => c.map(f64::from),
            Self::Uint(c) => c.map(f64::from),
        }
    }

    /// The raw 32-bit patterns.
    pub fn bits(self) -> [u32; 4] {
        match self {
            Self::Float(c) => c.map(f32::to_bits),
            Self::Int(c) => c.map(i32::cast_unsigned),
            Self::Uint(c) => c,
        }
    }

    /// Rebuilds a value of the given kind from raw 32-bit patterns.
    pub fn from_bits(kind: NumericKind, bits: [u32; 4]) -> Self {
        match kind {
            NumericKind::Float => Self::Float(bits.map(f32::from_bits)),
            NumericKind::Int => Self::Int(bits.map(u32::cast_signed)),
            NumericKind::Uint => Self::Uint(bits),
        }
    }

    /// The same from what a shader wrote: four words in a buffer.
    pub(crate) fn from_bytes(kind: NumericKind, bytes: &[u8]) -> Self {
        Self::from_bits(kind, std::array::from_fn(|n| little_endian(&bytes[n * 4..][..4])))
    }

    /// Largest component-wise distance to `other`; infinite when the kinds differ or a component is NaN on one side only.
    pub fn distance(self, other: Self) -> f64 {
        if std::mem::discriminant(&self) != std::mem::discriminant(&other) {
            return f64::INFINITY;
        }
        let pairs = self.components().into_iter().zip(other.components());
        pairs.fold(0.0, |worst, (a, b)| {
            let step = match (a.is_nan(), b.is_nan()) {
                (true, true) => 0.0,
                (false, false) if a == b => 0.0,
                (false, false) => (a - b).abs(),
                _ => f64::INFINITY,
            };
            f64::max(worst, step)
        })
    }

    /// Whether every component of `self` lies within `tolerance` of `other`.
    pub fn is_near(self, other: Self, tolerance: f64) -> bool {
        self.distance(other) <= tolerance
    }
}

/// What a shader reads from a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumericKind {
    /// `float` vectors.
    Float,
    /// `int` vectors.
    Int,
    /// `uint` vectors.
    Uint,
}

/// Interpretation of one component's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Sfloat,
    Srgb,
}

/// How the bits of a texel are laid out.
#[derive(Clone, Copy, Debug)]
enum TexelLayout {
    /// `count` components of `bits` bits each, in memory order; `bgra` swaps R and B.
    Array { code: Code, bits: u32, count: usize, bgra: bool },
    /// One little-endian word; for each of R, G, B, A its (shift, width), width 0 when absent.
    Packed { code: Code, bytes: usize, fields: [(u32, u32); 4] },
    /// `B10G11R11_UFLOAT_PACK32`.
    Rg11b10,
    /// `E5B9G9R9_UFLOAT_PACK32`.
    Rgb9e5,
    /// The 24-bit depth aspect, in the low bits of a 32-bit word (buffer copies).
    Depth24,
}

fn layout(format: vk::Format, aspect: vk::ImageAspectFlags) -> Option<TexelLayout> {
    use Code::{Sfloat, Sint, Snorm, Srgb, Uint, Unorm};
    let bgra = |code| Some(TexelLayout::Array { code, bits: 8, count: 4, bgra: true });
    let array = |code, bits, count| Some(TexelLayout::Array { code, bits, count, bgra: false });
    let packed = |code, bytes, fields| Some(TexelLayout::Packed { code, bytes, fields });
    if aspect == vk::ImageAspectFlags::STENCIL {
        return array(Uint, 8, 1);
    }
    match format {
        vk::Format::R8_UNORM => array(Unorm, 8, 1),
        vk::Format::R8_SNORM => array(Snorm, 8, 1),
        vk::Format::R8_UINT | vk::Format::S8_UINT => array(Uint, 8, 1),
        vk::Format::R8_SINT => array(Sint, 8, 1),
        vk::Format::R8_SRGB => array(Srgb, 8, 1),
        vk::Format::R8G8_UNORM => array(Unorm, 8, 2),
        vk::Format::R8G8_SNORM => array(Snorm, 8, 2),
        vk::Format::R8G8_UINT => array(Uint, 8, 2),
        vk::Format::R8G8_SINT => array(Sint, 8, 2),
        vk::Format::R8G8_SRGB => array(Srgb, 8, 2),
        vk::Format::R8G8B8A8_UNORM | vk::Format::A8B8G8R8_UNORM_PACK32 => array(Unorm, 8, 4),
        vk::Format::R8G8B8A8_SNORM | vk::Format::A8B8G8R8_SNORM_PACK32 => array(Snorm, 8, 4),
        vk::Format::R8G8B8A8_UINT | vk::Format::A8B8G8R8_UINT_PACK32 => array(Uint, 8, 4),
        vk::Format::R8G8B8A8_SINT | vk::Format::A8B8G8R8_SINT_PACK32 => array(Sint, 8, 4),
        vk::Format::R8G8B8A8_SRGB | vk::Format::A8B8G8R8_SRGB_PACK32 => array(Srgb, 8, 4),
        vk::Format::B8G8R8A8_UNORM => bgra(Unorm),
        vk::Format::B8G8R8A8_SNORM => bgra(Snorm),
        vk::Format::B8G8R8A8_UINT => bgra(Uint),
        vk::Format::B8G8R8A8_SINT => bgra(Sint),
        vk::Format::B8G8R8A8_SRGB => bgra(Srgb),
        vk::Format::R16_UNORM | vk::Format::D16_UNORM | vk::Format::D16_UNORM_S8_UINT => array(Unorm, 16, 1),
        vk::Format::R16_SNORM => array(Snorm, 16, 1),
        vk::Format::R16_UINT => array(Uint, 16, 1),
        vk::Format::R16_SINT => array(Sint, 16, 1),
        vk::Format::R16_SFLOAT => array(Sfloat, 16, 1),
        vk::Format::R16G16_UNORM => array(Unorm, 16, 2),
        vk::Format::R16G16_SNORM => array(Snorm, 16, 2),
        vk::Format::R16G16_UINT => array(Uint, 16, 2),
        vk::Format::R16G16_SINT => array(Sint, 16, 2),
        vk::Format::R16G16_SFLOAT => array(Sfloat, 16, 2),
        vk::Format::R16G16B16A16_UNORM => array(Unorm, 16, 4),
        vk::Format::R16G16B16A16_SNORM => array(Snorm, 16, 4),
        vk::Format::R16G16B16A16_UINT => array(Uint, 16, 4),
        vk::Format::R16G16B16A16_SINT => array(Sint, 16, 4),
        vk::Format::R16G16B16A16_SFLOAT => array(Sfloat, 16, 4),
        vk::Format::R32_UINT => array(Uint, 32, 1),
        vk::Format::R32_SINT => array(Sint, 32, 1),
        vk::Format::R32_SFLOAT | vk::Format::D32_SFLOAT | vk::Format::D32_SFLOAT_S8_UINT => array(Sfloat, 32, 1),
        vk::Format::R32G32_UINT => array(Uint, 32, 2),
        vk::Format::R32G32_SINT => array(Sint, 32, 2),
        vk::Format::R32G32_SFLOAT => array(Sfloat, 32, 2),
        vk::Format::R32G32B32_UINT => array(Uint, 32, 3),
        vk::Format::R32G32B32_SINT => array(Sint, 32, 3),
        vk::Format::R32G32B32_SFLOAT => array(Sfloat, 32, 3),
        vk::Format::R32G32B32A32_UINT => array(Uint, 32, 4),
        vk::Format::R32G32B32A32_SINT => array(Sint, 32, 4),
        vk::Format::R32G32B32A32_SFLOAT => array(Sfloat, 32, 4),
        vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT => Some(TexelLayout::Depth24),
        vk::Format::A2B10G10R10_UNORM_PACK32 => packed(Unorm, 4, [(0, 10), (10, 10), (20, 10), (30, 2)]),
        vk::Format::A2B10G10R10_UINT_PACK32 => packed(Uint, 4, [(0, 10), (10, 10), (20, 10), (30, 2)]),
        vk::Format::A2R10G10B10_UNORM_PACK32 => packed(Unorm, 4, [(20, 10), (10, 10), (0, 10), (30, 2)]),
        vk::Format::A2R10G10B10_UINT_PACK32 => packed(Uint, 4, [(20, 10), (10, 10), (0, 10), (30, 2)]),
        vk::Format::R5G6B5_UNORM_PACK16 => packed(Unorm, 2, [(11, 5), (5, 6), (0, 5), (0, 0)]),
        vk::Format::B5G6R5_UNORM_PACK16 => packed(Unorm, 2, [(0, 5), (5, 6), (11, 5), (0, 0)]),
        vk::Format::R4G4B4A4_UNORM_PACK16 => packed(Unorm, 2, [(12, 4), (8, 4), (4, 4), (0, 4)]),
        vk::Format::B4G4R4A4_UNORM_PACK16 => packed(Unorm, 2, [(4, 4), (8, 4), (12, 4), (0, 4)]),
        vk::Format::R5G5B5A1_UNORM_PACK16 => packed(Unorm, 2, [(11, 5), (6, 5), (1, 5), (0, 1)]),
        vk::Format::B5G5R5A1_UNORM_PACK16 => packed(Unorm, 2, [(1, 5), (6, 5), (11, 5), (0, 1)]),
        vk::Format::A1R5G5B5_UNORM_PACK16 => packed(Unorm, 2, [(10, 5), (5, 5), (0, 5), (15, 1)]),
        vk::Format::B10G11R11_UFLOAT_PACK32 => Some(TexelLayout::Rg11b10),
        vk::Format::E5B9G9R9_UFLOAT_PACK32 => Some(TexelLayout::Rgb9e5),
        _ => None,
    }
}

/// Whether `aspect` of `format` is unsigned normalized, with or without sRGB encoding.
pub fn is_unorm(format: vk::Format, aspect: vk::ImageAspectFlags) -> bool {
    match layout(format, aspect) {
        Some(TexelLayout::Array { code, .. } | TexelLayout::Packed { code, .. }) => {
            matches!(code, Code::Unorm | Code::Srgb)
        }
        Some(TexelLayout::Depth24) => true,
        Some(TexelLayout::Rg11b10 | TexelLayout::Rgb9e5) | None => false,
    }
}

/// Whether [`encode`] and [`decode`] know `format`.
pub fn is_known(format: vk::Format) -> bool {
    layout(format, vk::ImageAspectFlags::NONE).is_some()
}

/// The aspects of a format: colour, or depth and stencil as present.
pub fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
        vk::Format::D16_UNORM_S8_UINT | vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// What a shader reads from a view of `format` and a single `aspect`.
pub fn numeric_kind(format: vk::Format, aspect: vk::ImageAspectFlags) -> NumericKind {
    let kind = |code| match code {
        Code::Uint => NumericKind::Uint,
        Code::Sint => NumericKind::Int,
        _ => NumericKind::Float,
    };
    match layout(format, aspect) {
        Some(TexelLayout::Array { code, .. } | TexelLayout::Packed { code, .. }) => kind(code),
        _ => NumericKind::Float,
    }
}

/// Which of R, G, B, A the colour format stores; a format that is not [known](is_known) is taken to store all four.
pub fn channels(format: vk::Format) -> [bool; 4] {
    match layout(format, vk::ImageAspectFlags::NONE) {
        Some(TexelLayout::Array { count, .. }) => [true, count > 1, count > 2, count > 3],
        Some(TexelLayout::Packed { fields, .. }) => fields.map(|(_, width)| width > 0),
        Some(TexelLayout::Rg11b10 | TexelLayout::Rgb9e5) => [true, true, true, false],
        Some(TexelLayout::Depth24) => [true, false, false, false],
        None => [true; 4],
    }
}

/// Bytes one texel of `aspect` takes in a buffer copy.
/// Panics when the format is not [known](is_known).
pub fn size(format: vk::Format, aspect: vk::ImageAspectFlags) -> usize {
    match known(format, aspect) {
        TexelLayout::Array { bits, count, .. } => bits as usize / 8 * count,
        TexelLayout::Packed { bytes, .. } => bytes,
        TexelLayout::Rg11b10 | TexelLayout::Rgb9e5 | TexelLayout::Depth24 => 4,
    }
}

fn known(format: vk::Format, aspect: vk::ImageAspectFlags) -> TexelLayout {
    layout(format, aspect).unwrap_or_else(|| panic!("the harness has no encoding for {format:?}"))
}

/// Appends one texel of `aspect` to `bytes`; components out of range saturate.
/// Panics when the format is not [known](is_known).
pub fn encode(format: vk::Format, aspect: vk::ImageAspectFlags, value: Value, bytes: &mut Vec<u8>) {
    let wanted = value.components();
    match known(format, aspect) {
        TexelLayout::Array { code, bits, count, bgra } => {
            for index in 0..count {
                let source = if bgra { [2, 1, 0, 3][index] } else { index };
                // sRGB never applies to alpha.
                let code = if code == Code::Srgb && source == 3 { Code::Unorm } else { code };
                let word = encode_component(code, bits, wanted[source]);
                bytes.extend_from_slice(&word.to_le_bytes()[..bits as usize / 8]);
            }
        }
        TexelLayout::Packed { code, bytes: length, fields } => {
            let word = fields.into_iter().zip(wanted).fold(0u32, |word, ((shift, width), component)| {
                if width == 0 { word } else { word | encode_component(code, width, component) << shift }
            });
            bytes.extend_from_slice(&word.to_le_bytes()[..length]);
        }
        TexelLayout::Depth24 => {
            bytes.extend_from_slice(&encode_component(Code::Unorm, 24, wanted[0]).to_le_bytes());
        }
        TexelLayout::Rg11b10 => {
            let word = encode_small_float(wanted[0], 6)
                | encode_small_float(wanted[1], 6) << 11
                | encode_small_float(wanted[2], 5) << 22;
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        TexelLayout::Rgb9e5 => bytes.extend_from_slice(&encode_rgb9e5(wanted).to_le_bytes()),
    }
}

/// Reads one texel of `aspect`; missing G and B read 0, missing A reads 1, as a shader sees them.
/// Panics when the format is not [known](is_known).
pub fn decode(format: vk::Format, aspect: vk::ImageAspectFlags, bytes: &[u8]) -> Value {
    let mut read = [0.0, 0.0, 0.0, 1.0];
    match known(format, aspect) {
        TexelLayout::Array { code, bits, count, bgra } => {
            let step = bits as usize / 8;
            for index in 0..count {
                let target = if bgra { [2, 1, 0, 3][index] } else { index };
                let code = if code == Code::Srgb && target == 3 { Code::Unorm } else { code };
                read[target] = decode_component(code, bits, little_endian(&bytes[index * step..][..step]));
            }
        }
        TexelLayout::Packed { code, bytes: length, fields } => {
            let word = little_endian(&bytes[..length]);
            for (target, (shift, width)) in read.iter_mut().zip(fields) {
                if width > 0 {
                    *target = decode_component(code, width, word >> shift & low_bits(width));
                }
            }
        }
        TexelLayout::Depth24 => read[0] = decode_component(Code::Unorm, 24, little_endian(&bytes[..4]) & low_bits(24)),
        TexelLayout::Rg11b10 => {
            let word = little_endian(&bytes[..4]);
            read[0] = decode_small_float(word & low_bits(11), 6);
            read[1] = decode_small_float(word >> 11 & low_bits(11), 6);
            read[2] = decode_small_float(word >> 22, 5);
        }
        TexelLayout::Rgb9e5 => {
            let word = little_endian(&bytes[..4]);
            let scale = f64::from((word >> 27).cast_signed() - 15 - 9).exp2();
            for (index, target) in read.iter_mut().take(3).enumerate() {
                *target = f64::from(word >> (9 * index) & low_bits(9)) * scale;
            }
        }
    }
    match numeric_kind(format, aspect) {
        NumericKind::Float => Value::Float(read.map(|c| c as f32)),
        NumericKind::Int => Value::Int(read.map(|c| c as i32)),
        NumericKind::Uint => Value::Uint(read.map(|c| c as u32)),
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn low_bits(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

fn encode_component(code: Code, bits: u32, value: f64) -> u32 {
    let top = f64::from(low_bits(bits));
    let signed_top = f64::from(low_bits(bits) >> 1);
    match code {
        Code::Unorm => (value.clamp(0.0, 1.0) * top).round() as u32,
        Code::Snorm => ((value.clamp(-1.0, 1.0) * signed_top).round() as i32).cast_unsigned() & low_bits(bits),
        Code::Uint => value.clamp(0.0, top) as u32,
        Code::Sint => (value.clamp(-signed_top - 1.0, signed_top) as i32).cast_unsigned() & low_bits(bits),
        Code::Sfloat if bits == 32 => (value as f32).to_bits(),
        Code::Sfloat => half_from(value as f32),
        Code::Srgb => (srgb_from_linear(value.clamp(0.0, 1.0)) * top).round() as u32,
    }
}

fn decode_component(code: Code, bits: u32, word: u32) -> f64 {
    let top = f64::from(low_bits(bits));
    let signed = f64::from((word << (32 - bits)).cast_signed() >> (32 - bits));
    match code {
        Code::Unorm => f64::from(word) / top,
        Code::Snorm => (signed / f64::from(low_bits(bits) >> 1)).max(-1.0),
        Code::Uint => f64::from(word),
        Code::Sint => signed,
        Code::Sfloat if bits == 32 => f64::from(f32::from_bits(word)),
        Code::Sfloat => f64::from(half_to(word)),
        Code::Srgb => linear_from_srgb(f64::from(word) / top),
    }
}

/// The sRGB transfer function, 0..=1 to 0..=1.
pub fn srgb_from_linear(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Inverse of [`srgb_from_linear`].
pub fn linear_from_srgb(encoded: f64) -> f64 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Binary16 bits of `value`, rounded to nearest even, overflowing to infinity.
fn half_from(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = f64::from(value.abs());
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of representable values around `magnitude`, subnormals included.
    let exponent = ((bits >> 23 & 0xff).cast_signed() - 127).max(-14);
    let quantum = f64::from(exponent - 10).exp2();
    let steps = (magnitude / quantum).round_ties_even() as u32;
    // Steps past 0x400 carry into the exponent field by themselves.
    let base = ((exponent + 14) as u32) << 10;
    sign | (base + steps)
}

fn half_to(half: u32) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = (half >> 10 & 0x1f).cast_signed();
    let mantissa = (half & 0x3ff) as f32;
    match exponent {
        0 => sign * mantissa * (-24f32).exp2(),
        31 if mantissa == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + mantissa / 1024.0) * ((exponent - 15) as f32).exp2(),
    }
}

/// Unsigned float with five exponent bits and `mantissa` bits; negative values become 0, large ones the largest finite.
fn encode_small_float(value: f64, mantissa: u32) -> u32 {
    let half = half_from(value.max(0.0) as f32);
    let shift = 10 - mantissa;
    let rounded = (half + (1 << (shift - 1))) >> shift;
    rounded.min((31 << mantissa) - 1)
}

fn decode_small_float(word: u32, mantissa: u32) -> f64 {
    f64::from(half_to(word << (10 - mantissa)))
}

fn encode_rgb9e5(wanted: [f64; 4]) -> u32 {
    let limit = 511.0 / 512.0 * 65536.0;
    let colour = [wanted[0], wanted[1], wanted[2]].map(|c: f64| c.clamp(0.0, limit));
    let largest = colour.into_iter().fold(0.0, f64::max);
    let mut exponent = if largest > 0.0 { (largest.log2().floor() as i32).max(-16) + 16 } else { 0 };
    if (largest / f64::from(exponent - 24).exp2()).round() >= 512.0 {
        exponent += 1;
    }
    let scale = f64::from(exponent - 24).exp2();
    let mantissas = colour.map(|c| (c / scale).round() as u32);
    mantissas[0] | mantissas[1] << 9 | mantissas[2] << 18 | exponent.cast_unsigned() << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

    fn bytes_of(format: vk::Format, aspect: vk::ImageAspectFlags, value: Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(format, aspect, value, &mut bytes);
        assert_eq!(bytes.len(), size(format, aspect));
        bytes
    }

    #[test]
    fn memory_order_follows_the_format_name() {
        let red = Value::Float([1.0, 0.0, 0.0, 0.0]);
        assert_eq!(bytes_of(vk::Format::R8G8B8A8_UNORM, COLOUR, red), [255, 0, 0, 0]);
        assert_eq!(bytes_of(vk::Format::B8G8R8A8_UNORM, COLOUR, red), [0, 0, 255, 0]);
        assert_eq!(bytes_of(vk::Format::B5G6R5_UNORM_PACK16, COLOUR, red), [0x1f, 0]);
        assert_eq!(bytes_of(vk::Format::B4G4R4A4_UNORM_PACK16, COLOUR, red), [0xf0, 0]);
        assert_eq!(bytes_of(vk::Format::A2B10G10R10_UNORM_PACK32, COLOUR, red), [0xff, 3, 0, 0]);
        let stencil = bytes_of(vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::STENCIL, Value::Uint([7, 0, 0, 0]));
        assert_eq!(stencil, [7]);
    }

    #[test]
    fn halves_round_trip() {
        for half in 0..0x7c01u32 {
            assert_eq!(half_from(half_to(half)), half);
        }
        assert_eq!(half_from(1.0), 0x3c00);
        assert_eq!(half_from(-2.0), 0xc000);
        assert_eq!(half_from(70000.0), 0x7c00);
    }

    #[test]
    fn representable_values_round_trip() {
        let cases = [
            (vk::Format::B10G11R11_UFLOAT_PACK32, Value::Float([0.5, 2.0, 0.25, 1.0])),
            (vk::Format::E5B9G9R9_UFLOAT_PACK32, Value::Float([0.5, 2.0, 0.25, 1.0])),
            (vk::Format::R8_SNORM, Value::Float([-1.0, 0.0, 0.0, 1.0])),
            (vk::Format::R16_SINT, Value::Int([-300, 0, 0, 1])),
            (vk::Format::R32G32B32A32_UINT, Value::Uint([u32::MAX, 1, 2, 3])),
            (vk::Format::R16G16B16A16_SFLOAT, Value::Float([-0.5, 1024.0, 0.125, 1.0])),
            (vk::Format::D24_UNORM_S8_UINT, Value::Float([1.0, 0.0, 0.0, 1.0])),
        ];
        for (format, value) in cases {
            let aspect = vk::ImageAspectFlags::NONE;
            assert_eq!(decode(format, aspect, &bytes_of(format, aspect, value)), value, "{format:?}");
        }
    }

    #[test]
    fn srgb_leaves_alpha_linear() {
        let value = decode(vk::Format::R8G8B8A8_SRGB, COLOUR, &[188, 0, 255, 128]);
        assert!(value.is_near(Value::Float([0.502_886, 0.0, 1.0, 128.0 / 255.0]), 1e-4), "{value:?}");
    }
}
