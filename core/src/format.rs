//! Facts about formats: aspects, numeric class and component widths. Table data, no queries.
//!
//! Knows: what the specification's "Formats" chapter says about a `VkFormat` value. Deliberately does
//! not know: what any device can do with a format (that is [`crate::features`]).
#![forbid(unsafe_code)]

use ash::vk;

/// How the components of a format are read by a shader (SPIR-V result type of a sample).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumericClass {
    /// Any normalised, scaled or floating-point format, and depth: results are floats.
    Float,
    /// `UINT` formats and stencil: results are unsigned integers.
    Uint,
    /// `SINT` formats: results are signed integers.
    Sint,
}

impl NumericClass {
    /// Whether results are integers, so that filter weights and float borders have no meaning.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::Float)
    }
}

/// Numeric class of a colour format. Depth formats are [`NumericClass::Float`]; the stencil aspect is
/// decided by the view, see [`crate::decide::ViewTraits`].
///
/// Unknown format values are [`NumericClass::Float`].
pub fn numeric_class(format: vk::Format) -> NumericClass {
    use vk::Format as F;
    match format {
        F::R8_UINT
        | F::R8G8_UINT
        | F::R8G8B8_UINT
        | F::B8G8R8_UINT
        | F::R8G8B8A8_UINT
        | F::B8G8R8A8_UINT
        | F::A8B8G8R8_UINT_PACK32
        | F::A2R10G10B10_UINT_PACK32
        | F::A2B10G10R10_UINT_PACK32
        | F::R16_UINT
        | F::R16G16_UINT
        | F::R16G16B16_UINT
        | F::R16G16B16A16_UINT
        | F::R32_UINT
        | F::R32G32_UINT
        | F::R32G32B32_UINT
        | F::R32G32B32A32_UINT
        | F::R64_UINT
        | F::R64G64_UINT
        | F::R64G64B64_UINT
        | F::R64G64B64A64_UINT
        | F::S8_UINT => NumericClass::Uint,
        F::R8_SINT
        | F::R8G8_SINT
        | F::R8G8B8_SINT
        | F::B8G8R8_SINT
        | F::R8G8B8A8_SINT
        | F::B8G8R8A8_SINT
        | F::A8B8G8R8_SINT_PACK32
        | F::A2R10G10B10_SINT_PACK32
        | F::A2B10G10R10_SINT_PACK32
        | F::R16_SINT
        | F::R16G16_SINT
        | F::R16G16B16_SINT
        | F::R16G16B16A16_SINT
        | F::R32_SINT
        | F::R32G32_SINT
        | F::R32G32B32_SINT
        | F::R32G32B32A32_SINT
        | F::R64_SINT
        | F::R64G64_SINT
        | F::R64G64B64_SINT
        | F::R64G64B64A64_SINT => NumericClass::Sint,
        _ => NumericClass::Float,
    }
}

/// Aspects of a format: `DEPTH`, `STENCIL`, both, or `COLOR` (every other format, planar ones too).
pub fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::Format as F;
    match format {
        F::D16_UNORM | F::X8_D24_UNORM_PACK32 | F::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        F::S8_UINT => vk::ImageAspectFlags::STENCIL,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Whether the format has a depth or a stencil aspect.
pub fn is_depth_stencil(format: vk::Format) -> bool {
    aspects(format) != vk::ImageAspectFlags::COLOR
}

/// Whether a view of the format's colour aspect can only be sampled through a Y′CbCr conversion ("Formats requiring sampler Y′CBCR
/// conversion for VK_IMAGE_ASPECT_COLOR_BIT image views").
pub fn needs_conversion(format: vk::Format) -> bool {
    // The R10X6 and R12X4 families hold colour formats of one plane in the same range.
    let of_one_plane = matches!(format.as_raw(), 1_000_156_007..=1_000_156_009 | 1_000_156_017..=1_000_156_019);
    matches!(format.as_raw(), 1_000_156_000..=1_000_156_033 | 1_000_330_000..=1_000_330_003) && !of_one_plane
}

/// Whether chroma is subsampled horizontally and vertically ("Chroma Reconstruction": 4:2:2 and 4:2:0).
pub fn chroma_subsampling(format: vk::Format) -> [bool; 2] {
    use vk::Format as F;
    match format {
        F::G8_B8_R8_3PLANE_420_UNORM
        | F::G8_B8R8_2PLANE_420_UNORM
        | F::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16
        | F::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16
        | F::G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16
        | F::G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16
        | F::G16_B16_R16_3PLANE_420_UNORM
        | F::G16_B16R16_2PLANE_420_UNORM => [true, true],
        F::G8B8G8R8_422_UNORM
        | F::B8G8R8G8_422_UNORM
        | F::G8_B8_R8_3PLANE_422_UNORM
        | F::G8_B8R8_2PLANE_422_UNORM
        | F::G10X6B10X6G10X6R10X6_422_UNORM_4PACK16
        | F::B10X6G10X6R10X6G10X6_422_UNORM_4PACK16
        | F::G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16
        | F::G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16
        | F::G12X4B12X4G12X4R12X4_422_UNORM_4PACK16
        | F::B12X4G12X4R12X4G12X4_422_UNORM_4PACK16
        | F::G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16
        | F::G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16
        | F::G16B16G16R16_422_UNORM
        | F::B16G16R16G16_422_UNORM
        | F::G16_B16_R16_3PLANE_422_UNORM
        | F::G16_B16R16_2PLANE_422_UNORM => [true, false],
        _ => [false, false],
    }
}

/// Whether the format's colour components are sRGB-encoded.
pub fn is_srgb(format: vk::Format) -> bool {
    use vk::Format as F;
    matches!(
        format,
        F::R8_SRGB
            | F::R8G8_SRGB
            | F::R8G8B8_SRGB
            | F::B8G8R8_SRGB
            | F::R8G8B8A8_SRGB
            | F::B8G8R8A8_SRGB
            | F::A8B8G8R8_SRGB_PACK32
            | F::BC1_RGB_SRGB_BLOCK
            | F::BC1_RGBA_SRGB_BLOCK
            | F::BC2_SRGB_BLOCK
            | F::BC3_SRGB_BLOCK
            | F::BC7_SRGB_BLOCK
            | F::ETC2_R8G8B8_SRGB_BLOCK
            | F::ETC2_R8G8B8A1_SRGB_BLOCK
            | F::ETC2_R8G8B8A8_SRGB_BLOCK
            | F::ASTC_4X4_SRGB_BLOCK
            | F::ASTC_5X4_SRGB_BLOCK
            | F::ASTC_5X5_SRGB_BLOCK
            | F::ASTC_6X5_SRGB_BLOCK
            | F::ASTC_6X6_SRGB_BLOCK
            | F::ASTC_8X5_SRGB_BLOCK
            | F::ASTC_8X6_SRGB_BLOCK
            | F::ASTC_8X8_SRGB_BLOCK
            | F::ASTC_10X5_SRGB_BLOCK
            | F::ASTC_10X6_SRGB_BLOCK
            | F::ASTC_10X8_SRGB_BLOCK
            | F::ASTC_10X10_SRGB_BLOCK
            | F::ASTC_12X10_SRGB_BLOCK
            | F::ASTC_12X12_SRGB_BLOCK
            | F::PVRTC1_2BPP_SRGB_BLOCK_IMG
            | F::PVRTC1_4BPP_SRGB_BLOCK_IMG
            | F::PVRTC2_2BPP_SRGB_BLOCK_IMG
            | F::PVRTC2_4BPP_SRGB_BLOCK_IMG
    )
}

/// Whether this module's tables speak of the format.
///
/// What they say of any other value (`UNDEFINED`, formats younger than the tables) is a guess that no rewrite may
/// rest on.
pub fn is_known(format: vk::Format) -> bool {
    matches!(
        format.as_raw(),
        1..=184
            | 1_000_054_000..=1_000_054_007
            | 1_000_066_000..=1_000_066_013
            | 1_000_156_000..=1_000_156_033
            | 1_000_330_000..=1_000_330_003
            | 1_000_340_000..=1_000_340_001
            | 1_000_470_000..=1_000_470_001
    )
}

/// Which of R, G, B, A the format has; depth and stencil count as R. Planar formats have what all planes give together.
pub fn components(format: vk::Format) -> [bool; 4] {
    use vk::Format as F;
    let count = match format.as_raw() {
        9..=15 | 70..=76 | 98..=100 | 110..=112 | 124..=130 => 1,
        1 | 16..=22 | 77..=83 | 101..=103 | 113..=115 => 2,
        4 | 5 | 23..=36 | 84..=90 | 104..=106 | 116..=118 | 122 | 123 => 3,
        _ => match format {
            F::BC4_UNORM_BLOCK | F::BC4_SNORM_BLOCK | F::EAC_R11_UNORM_BLOCK | F::EAC_R11_SNORM_BLOCK => 1,
            F::R10X6_UNORM_PACK16 | F::R12X4_UNORM_PACK16 => 1,
            F::BC5_UNORM_BLOCK | F::BC5_SNORM_BLOCK | F::EAC_R11G11_UNORM_BLOCK | F::EAC_R11G11_SNORM_BLOCK => 2,
            F::R10X6G10X6_UNORM_2PACK16 | F::R12X4G12X4_UNORM_2PACK16 => 2,
            F::BC1_RGB_UNORM_BLOCK | F::BC1_RGB_SRGB_BLOCK | F::BC6H_UFLOAT_BLOCK | F::BC6H_SFLOAT_BLOCK => 3,
            F::ETC2_R8G8B8_UNORM_BLOCK | F::ETC2_R8G8B8_SRGB_BLOCK => 3,
            F::R10X6G10X6B10X6A10X6_UNORM_4PACK16 | F::R12X4G12X4B12X4A12X4_UNORM_4PACK16 => 4,
            F::A8_UNORM_KHR => return [false, false, false, true],
            // Without alpha.
            other if needs_conversion(other) => 3,
            _ => 4,
        },
    };
    [true, count > 1, count > 2, count > 3]
}

/// Value range of a format's components, for clamping a border value (VUID-VkSamplerCreateInfo-borderColor-04442).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComponentRange {
    /// Floats within the closed interval, for every component; NaN too if the interval is unbounded.
    Float {
        /// Lowest representable value.
        min: f32,
        /// Highest representable value.
        max: f32,
    },
    /// Unsigned integers; bits per component in the order R, G, B, A, 0 for an absent component.
    Uint([u32; 4]),
    /// Signed integers; bits per component in the order R, G, B, A, 0 for an absent component.
    Sint([u32; 4]),
}

/// Range of values that a border colour of this format can hold.
///
/// The stencil aspect is 8 bits in R (Image Operations > Border Replacement). Floating-point formats, depth included, keep
/// any value (unsigned ones from zero), and so do formats that are not [known](is_known).
pub fn component_range(format: vk::Format, stencil: bool) -> ComponentRange {
    use vk::Format as F;
    if stencil {
        return ComponentRange::Uint([8, 0, 0, 0]);
    }
    let unsigned = ComponentRange::Uint;
    let signed = ComponentRange::Sint;
    match format {
        F::S8_UINT | F::R8_UINT => unsigned([8, 0, 0, 0]),
        F::R8G8_UINT => unsigned([8, 8, 0, 0]),
        F::R8G8B8_UINT | F::B8G8R8_UINT => unsigned([8, 8, 8, 0]),
        F::R8G8B8A8_UINT | F::B8G8R8A8_UINT | F::A8B8G8R8_UINT_PACK32 => unsigned([8; 4]),
        F::A2R10G10B10_UINT_PACK32 | F::A2B10G10R10_UINT_PACK32 => unsigned([10, 10, 10, 2]),
        F::R16_UINT => unsigned([16, 0, 0, 0]),
        F::R16G16_UINT => unsigned([16, 16, 0, 0]),
        F::R16G16B16_UINT => unsigned([16, 16, 16, 0]),
        F::R16G16B16A16_UINT => unsigned([16; 4]),
        F::R8_SINT => signed([8, 0, 0, 0]),
        F::R8G8_SINT => signed([8, 8, 0, 0]),
        F::R8G8B8_SINT | F::B8G8R8_SINT => signed([8, 8, 8, 0]),
        F::R8G8B8A8_SINT | F::B8G8R8A8_SINT | F::A8B8G8R8_SINT_PACK32 => signed([8; 4]),
        F::A2R10G10B10_SINT_PACK32 | F::A2B10G10R10_SINT_PACK32 => signed([10, 10, 10, 2]),
        F::R16_SINT => signed([16, 0, 0, 0]),
        F::R16G16_SINT => signed([16, 16, 0, 0]),
        F::R16G16B16_SINT => signed([16, 16, 16, 0]),
        F::R16G16B16A16_SINT => signed([16; 4]),
        other => match numeric_class(other) {
            NumericClass::Uint => unsigned(components(other).map(|present| u32::from(present) * 32)),
            NumericClass::Sint => signed(components(other).map(|present| u32::from(present) * 32)),
            NumericClass::Float => {
                let (min, max) = float_range(other);
                ComponentRange::Float { min, max }
            }
        },
    }
}

/// Whether the format is `USCALED` or `SSCALED`: integers read as floats of the same value.
fn is_scaled(format: vk::Format) -> bool {
    // The scaled pair sits at the same place in each family of seven formats of the registry.
    matches!(
        format.as_raw(),
        11 | 12
            | 18
            | 19
            | 25
            | 26
            | 32
            | 33
            | 39
            | 40
            | 46
            | 47
            | 53
            | 54
            | 60
            | 61
            | 66
            | 67
            | 72
            | 73
            | 79
            | 80
            | 86
            | 87
            | 93
            | 94
    )
}

/// Closed interval of a non-integer format. Scaled formats are unbounded.
fn float_range(format: vk::Format) -> (f32, f32) {
    use vk::Format as F;
    const ANY: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);
    if is_scaled(format) || !is_known(format) {
        return ANY;
    }
    match format {
        F::R8_SNORM
        | F::R8G8_SNORM
        | F::R8G8B8_SNORM
        | F::B8G8R8_SNORM
        | F::R8G8B8A8_SNORM
        | F::B8G8R8A8_SNORM
        | F::A8B8G8R8_SNORM_PACK32
        | F::A2R10G10B10_SNORM_PACK32
        | F::A2B10G10R10_SNORM_PACK32
        | F::R16_SNORM
        | F::R16G16_SNORM
        | F::R16G16B16_SNORM
        | F::R16G16B16A16_SNORM
        | F::BC4_SNORM_BLOCK
        | F::BC5_SNORM_BLOCK
        | F::EAC_R11_SNORM_BLOCK
        | F::EAC_R11G11_SNORM_BLOCK => (-1.0, 1.0),
        // 511/512 of 2^16; a shared exponent has no encoding of infinity.
        F::E5B9G9R9_UFLOAT_PACK32 => (0.0, 65_408.0),
        F::B10G11R11_UFLOAT_PACK32 | F::BC6H_UFLOAT_BLOCK => (0.0, f32::INFINITY),
        F::R16_SFLOAT
        | F::R16G16_SFLOAT
        | F::R16G16B16_SFLOAT
        | F::R16G16B16A16_SFLOAT
        | F::R32_SFLOAT
        | F::R32G32_SFLOAT
        | F::R32G32B32_SFLOAT
        | F::R32G32B32A32_SFLOAT
        | F::R64_SFLOAT
        | F::R64G64_SFLOAT
        | F::R64G64B64_SFLOAT
        | F::R64G64B64A64_SFLOAT
        | F::BC6H_SFLOAT_BLOCK
        | F::ASTC_4X4_SFLOAT_BLOCK
        | F::ASTC_5X4_SFLOAT_BLOCK
        | F::ASTC_5X5_SFLOAT_BLOCK
        | F::ASTC_6X5_SFLOAT_BLOCK
        | F::ASTC_6X6_SFLOAT_BLOCK
        | F::ASTC_8X5_SFLOAT_BLOCK
        | F::ASTC_8X6_SFLOAT_BLOCK
        | F::ASTC_8X8_SFLOAT_BLOCK
        | F::ASTC_10X5_SFLOAT_BLOCK
        | F::ASTC_10X6_SFLOAT_BLOCK
        | F::ASTC_10X8_SFLOAT_BLOCK
        | F::ASTC_10X10_SFLOAT_BLOCK
        | F::ASTC_12X10_SFLOAT_BLOCK
        | F::ASTC_12X12_SFLOAT_BLOCK
        | F::D32_SFLOAT
        | F::D32_SFLOAT_S8_UINT => ANY,
        // Every other colour format, D16 and D24.
        _ => (0.0, 1.0),
    }
}

/// Whether values are unsigned normalized, with or without sRGB encoding; of a depth/stencil format those of its depth.
pub fn is_unorm(format: vk::Format) -> bool {
    component_range(format, false) == ComponentRange::Float { min: 0.0, max: 1.0 }
}

/// Formats whose custom border colour needs its `format` member
/// (VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015).
pub fn needs_border_format(format: vk::Format) -> bool {
    matches!(
        format,
        vk::Format::B4G4R4A4_UNORM_PACK16
            | vk::Format::B5G6R5_UNORM_PACK16
            | vk::Format::B5G5R5A1_UNORM_PACK16
            | vk::Format::A1B5G5R5_UNORM_PACK16_KHR
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chroma_follows_the_name() {
        let planar = (1_000_156_000..=1_000_156_033).chain(1_000_330_000..=1_000_330_003);
        for raw in (0..=184).chain(planar.clone()).chain(1_000_054_000..=1_000_054_007) {
            let format = vk::Format::from_raw(raw);
            let name = format!("{format:?}");
            let is = |ratio: &str| name.contains(ratio);
            assert_eq!(chroma_subsampling(format), [is("_420") || is("_422"), is("_420")], "{name}");
            let converted = is("_420") || is("_422") || is("_444");
            assert_eq!(needs_conversion(format), converted, "{name}");
        }
        let subsampled = planar.filter(|raw| chroma_subsampling(vk::Format::from_raw(*raw))[0]);
        assert_eq!(subsampled.count(), 24);
    }

    #[test]
    fn classes_follow_the_suffix_of_the_name() {
        // The Debug names come from the registry, so they are an independent source for the tables.
        for raw in (0..=184).chain(1_000_054_000..=1_000_054_007).chain(1_000_066_000..=1_000_066_013) {
            let format = vk::Format::from_raw(raw);
            let name = format!("{format:?}");
            let expected = if name.contains("_UINT") && !name.contains("UNORM_S8") && !name.contains("SFLOAT_S8") {
                NumericClass::Uint
            } else if name.contains("_SINT") {
                NumericClass::Sint
            } else {
                NumericClass::Float
            };
            assert_eq!(numeric_class(format), expected, "{name}");
            assert_eq!(is_srgb(format), name.contains("SRGB"), "{name}");
            assert_eq!(is_scaled(format), name.contains("SCALED"), "{name}");
            let expected_range = match component_range(format, false) {
                ComponentRange::Float { min, max } if name.contains("SNORM") => (min, max) == (-1.0, 1.0),
                ComponentRange::Float { min, max } if name.contains("UNORM") || name.contains("SRGB") => {
                    (min, max) == (0.0, 1.0)
                }
                ComponentRange::Float { min, .. } if name.contains("UFLOAT") => min == 0.0,
                ComponentRange::Float { .. } => !expected.is_integer(),
                ComponentRange::Uint(_) => expected == NumericClass::Uint,
                ComponentRange::Sint(_) => expected == NumericClass::Sint,
            };
            assert!(expected_range, "{name}: {:?}", component_range(format, false));
            assert_eq!(is_unorm(format), name.contains("UNORM") || name.contains("SRGB"), "{name}");
        }
    }

    #[test]
    fn aspects_of_combined_formats() {
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        assert_eq!(aspects(vk::Format::D24_UNORM_S8_UINT), both);
        assert!(!is_unorm(vk::Format::from_raw(i32::MAX)), "an unknown format");
        assert_eq!(aspects(vk::Format::S8_UINT), vk::ImageAspectFlags::STENCIL);
        assert_eq!(aspects(vk::Format::R8G8B8A8_UNORM), vk::ImageAspectFlags::COLOR);
        assert!(is_depth_stencil(vk::Format::D16_UNORM) && !is_depth_stencil(vk::Format::R16_UNORM));
    }
}
