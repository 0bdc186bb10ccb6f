//! Formats of storage images: what shaders declare for them, which unsigned integers have their size, and which a device has to do
//! without.
//!
//! Knows "Compatibility Between SPIR-V Image Formats and Vulkan Formats" and the compatibility classes of formats of one plane.
//! Makes no query.

use ash::vk::{self, Format as F, FormatFeatureFlags2 as Feature};

use crate::left::Cause;

/// Formats with the number of the image format that shaders declare for them (`spirv::ImageFormat`), or from 48 on of one that SPIR-V has
/// no name for; the first of two that share a number says whether a device can store it.
const DECLARED: [(F, u8); 49] = [
    (F::R16G16B16A16_SFLOAT, 2),
    (F::R32_SFLOAT, 3),
    (F::R8G8B8A8_UNORM, 4),
    (F::R8G8B8A8_SNORM, 5),
    (F::R32G32_SFLOAT, 6),
    (F::R16G16_SFLOAT, 7),
    (F::B10G11R11_UFLOAT_PACK32, 8),
    (F::R16_SFLOAT, 9),
    (F::R16G16B16A16_UNORM, 10),
    (F::A2B10G10R10_UNORM_PACK32, 11),
    (F::R16G16_UNORM, 12),
    (F::R8G8_UNORM, 13),
    (F::R16_UNORM, 14),
    (F::R8_UNORM, 15),
    (F::R16G16B16A16_SNORM, 16),
    (F::R16G16_SNORM, 17),
    (F::R8G8_SNORM, 18),
    (F::R16_SNORM, 19),
    (F::R8_SNORM, 20),
    (F::R16G16B16A16_SINT, 22),
    (F::R8G8B8A8_SINT, 23),
    (F::R32_SINT, 24),
    (F::R32G32_SINT, 25),
    (F::R16G16_SINT, 26),
    (F::R8G8_SINT, 27),
    (F::R16_SINT, 28),
    (F::R8_SINT, 29),
    (F::R16G16B16A16_UINT, 31),
    (F::R8G8B8A8_UINT, 32),
    (F::A2B10G10R10_UINT_PACK32, 34),
    (F::R16G16_UINT, 36),
    (F::R8G8_UINT, 37),
    (F::A8B8G8R8_UNORM_PACK32, 4),
    (F::A8B8G8R8_SNORM_PACK32, 5),
    (F::A8B8G8R8_UINT_PACK32, 32),
    (F::A8B8G8R8_SINT_PACK32, 23),
    (F::B8G8R8A8_UNORM, 48),
    (F::B8G8R8A8_SNORM, 49),
    (F::B8G8R8A8_UINT, 50),
    (F::B8G8R8A8_SINT, 51),
    (F::A2R10G10B10_UNORM_PACK32, 52),
    (F::A2R10G10B10_UINT_PACK32, 53),
    (F::R5G6B5_UNORM_PACK16, 54),
    (F::B5G6R5_UNORM_PACK16, 55),
    (F::R5G5B5A1_UNORM_PACK16, 56),
    (F::B5G5R5A1_UNORM_PACK16, 57),
    (F::A1R5G5B5_UNORM_PACK16, 58),
    (F::R4G4B4A4_UNORM_PACK16, 59),
    (F::B4G4R4A4_UNORM_PACK16, 60),
];

/// The formats that SPIR-V has no name for, as bits by their numbers: only shaders that are made for what is bound store them.
pub const UNNAMED: u64 = u64::MAX << 48;

/// sRGB formats with those of the same bits that shaders can declare.
const OF_SRGB: [(F, F); 5] = [
    (F::R8_SRGB, F::R8_UNORM),
    (F::R8G8_SRGB, F::R8G8_UNORM),
    (F::R8G8B8A8_SRGB, F::R8G8B8A8_UNORM),
    (F::A8B8G8R8_SRGB_PACK32, F::R8G8B8A8_UNORM),
    (F::B8G8R8A8_SRGB, F::B8G8R8A8_UNORM),
];

/// The number of the layout of a format's texels, if another format can stand in for it: the image format that shaders declare, or one
/// of [`UNNAMED`]. Of an sRGB
/// format it is that of the same bits: what is stored is not encoded.
pub fn declared(format: vk::Format) -> Option<u32> {
    let format = OF_SRGB.iter().find(|(srgb, _)| *srgb == format).map_or(format, |(_, plain)| *plain);
    DECLARED.iter().find(|(known, _)| *known == format).map(|(_, number)| u32::from(*number))
}

/// The format of unsigned integers whose compatibility class a format is in and that shaders read and write in its place; none for
/// formats of other sizes, of several planes, compressed, of depth or stencil, or in a class of their own.
pub fn alias(format: vk::Format) -> Option<vk::Format> {
    // Classes of colour formats of one plane lie together in the registry: 8, 16, 32 and 64 bits ("Format Compatibility Classes").
    Some(match format.as_raw() {
        1 | 9..=15 => F::R8_UINT,
        2..=8 | 16..=22 | 70..=76 | 1_000_156_007 | 1_000_156_017 | 1_000_340_000..=1_000_340_001 | 1_000_470_000 => {
            F::R16_UINT
        }
        37..=69 | 77..=83 | 98..=100 | 122..=123 | 1_000_156_008 | 1_000_156_018 => F::R32_UINT,
        91..=97 | 101..=103 => F::R32G32_UINT,
        _ => return None,
    })
}

/// The numbers of the image formats of what stands in for others.
const ALIASES: [(F, u8); 4] = [(F::R32_UINT, 33), (F::R32G32_UINT, 35), (F::R16_UINT, 38), (F::R8_UINT, 39)];

/// The number of the image format that stands in for a format.
pub fn stand_in(format: vk::Format) -> Option<u32> {
    let alias = alias(format)?;
    ALIASES.iter().find(|(one, _)| *one == alias).map(|(_, number)| u32::from(*number))
}

/// What images and texel buffers are used for. Without any of it a device does not have the format, whatever else a simulation has left
/// of its features.
const USES: Feature = Feature::from_raw(
    Feature::SAMPLED_IMAGE.as_raw()
        | Feature::STORAGE_IMAGE.as_raw()
        | Feature::COLOR_ATTACHMENT.as_raw()
        | Feature::BLIT_SRC.as_raw()
        | Feature::BLIT_DST.as_raw()
        | Feature::UNIFORM_TEXEL_BUFFER.as_raw()
        | Feature::STORAGE_TEXEL_BUFFER.as_raw(),
);

/// What a device can do with the formats that shaders declare and with those that stand in for them: bits by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorableFormats {
    /// It has the format.
    pub there: u64,
    /// Shaders can store it.
    pub stored: u64,
}

impl StorableFormats {
    /// Of a device; `features` says what it can do with a format, and `needed` is what storing takes.
    pub fn of(features: &mut dyn FnMut(vk::Format) -> Feature, needed: Feature) -> Self {
        let (mut known, mut seen) = (Self::default(), 0_u64);
        for (format, number) in DECLARED.into_iter().chain(ALIASES) {
            let bit = 1 << number;
            if seen & bit == 0 {
                seen |= bit;
                let own = features(format);
                known.there |= if own.intersects(USES) { bit } else { 0 };
                known.stored |= if own.contains(needed) { bit } else { 0 };
            }
        }
        known
    }

    /// What both of two devices can do.
    pub fn both(self, other: Self) -> Self {
        Self { there: self.there & other.there, stored: self.stored & other.stored }
    }

    /// The image formats that the device has to do without: those that it has and cannot store, and whose stand-in it can.
    pub fn lowered(self) -> u64 {
        let stands_in = |format| stand_in(format).is_some_and(|number| self.stored >> number & 1 != 0);
        let lacking = self.there & !self.stored;
        let of = |(format, number): (F, u8)| if stands_in(format) { lacking & 1 << number } else { 0 };
        DECLARED.into_iter().map(of).fold(0, core::ops::BitOr::bitor)
    }
}

/// Whether a format is one of those that a device has to do without.
pub fn lowers(lowered: u64, format: vk::Format) -> bool {
    declared(format).is_some_and(|number| lowered >> number & 1 != 0)
}

/// Why an image is left that is to be stored to and cannot be, by the features of its format with its tiling; nothing where it can be, or
/// where only its views need to be (VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251: such an image has no limits, as its usage needs
/// `STORAGE_IMAGE` of its format unless `EXTENDED_USAGE` leaves that to views).
pub fn unstored(
    format: vk::Format,
    flags: vk::ImageCreateFlags,
    usage: vk::ImageUsageFlags,
    features: Option<Feature>,
) -> Option<Cause> {
    let is_asked =
        usage.contains(vk::ImageUsageFlags::STORAGE) && !flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE);
    if !is_asked || features?.contains(Feature::STORAGE_IMAGE) {
        return None;
    }
    Some(match declared(format) {
        None => Cause::NoFormatOfItsBits,
        Some(_) => Cause::NoStandIn,
    })
}

/// The create flags of an image that may be viewed as unsigned integers; `features` are those of its own format.
pub fn flags_with_alias(flags: vk::ImageCreateFlags, features: Feature) -> vk::ImageCreateFlags {
    let extended = vk::ImageCreateFlags::EXTENDED_USAGE;
    let own = if features.contains(Feature::STORAGE_IMAGE) { vk::ImageCreateFlags::empty() } else { extended };
    flags | vk::ImageCreateFlags::MUTABLE_FORMAT | own
}

/// How texels of a format get from shaders into images, with `storage=emulate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// By the device.
    Natively,
    /// As unsigned integers, which shaders make of them.
    Lowered,
    /// Not at all.
    Not,
}

impl Stored {
    /// Of a format with these features; `lowered` are the image formats that the device has to do without ([`StorableFormats::lowered`]).
    pub fn of(format: vk::Format, features: Feature, lowered: u64) -> Self {
        if features.contains(Feature::STORAGE_IMAGE) {
            Self::Natively
        } else if !features.is_empty() && lowers(lowered, format) {
            Self::Lowered
        } else {
            Self::Not
        }
    }

    /// In one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Natively => "native",
            Self::Lowered => "lowered",
            Self::Not => "not",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    /// What the name of a format says of its bits, by the registry.
    fn bits(format: vk::Format) -> u32 {
        let name = format!("{format:?}");
        let digits = |text: &str| text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).sum();
        match name.split_once("_PACK") {
            Some((_, pack)) => pack.parse().expect("a size"),
            None => digits(name.split('_').next().expect("components")),
        }
    }

    #[test]
    fn stand_ins_have_the_size_and_the_class() {
        for raw in 0..=184 {
            let format = vk::Format::from_raw(raw);
            let name = format!("{format:?}");
            let plain =
                !["BLOCK", "D16", "D32", "D24", "S8", "R64", "UNDEFINED"].iter().any(|part| name.contains(part));
            let of_size = match bits(format) {
                8 => Some(vk::Format::R8_UINT),
                16 => Some(vk::Format::R16_UINT),
                32 => Some(vk::Format::R32_UINT),
                64 => Some(vk::Format::R32G32_UINT),
                _ => None,
            };
            assert_eq!(alias(format), of_size.filter(|_| plain), "{name}");
        }
        // A class of its own.
        assert_eq!(alias(vk::Format::A8_UNORM_KHR), None);
    }

    #[test]
    fn what_is_declared_has_the_numbers_of_the_name() {
        for (format, number) in DECLARED {
            assert_eq!(declared(format), Some(u32::from(number)));
            assert!(alias(format).is_some() && !format::is_srgb(format), "{format:?}");
            let kind = match number {
                50 | 53 => format::NumericClass::Uint,
                51 => format::NumericClass::Sint,
                48.. => format::NumericClass::Float,
                0..=20 => format::NumericClass::Float,
                21..=29 => format::NumericClass::Sint,
                _ => format::NumericClass::Uint,
            };
            assert_eq!(format::numeric_class(format), kind, "{format:?}");
        }
        for (srgb, plain) in OF_SRGB {
            assert!(format::is_srgb(srgb) && !format::is_srgb(plain));
            assert_eq!((declared(srgb), alias(srgb)), (declared(plain), alias(plain)));
        }
        for other in [vk::Format::E5B9G9R9_UFLOAT_PACK32, vk::Format::R32_UINT, vk::Format::R8_UINT] {
            assert_eq!(declared(other), None, "{other:?}");
        }
        let unnamed = DECLARED.iter().filter(|(_, number)| UNNAMED >> number & 1 != 0);
        assert!(unnamed.clone().all(|(format, _)| crate::declared::number_of(*format).is_none()));
        assert_eq!(unnamed.count(), 13);
    }

    #[test]
    fn what_a_device_lacks_is_lowered_where_something_stands_in() {
        let stores = Feature::STORAGE_IMAGE;
        let all = |lacking: &[vk::Format], there: Feature| {
            StorableFormats::of(&mut |format| if lacking.contains(&format) { there } else { stores }, stores).lowered()
        };
        let r11 = vk::Format::B10G11R11_UFLOAT_PACK32;
        assert_eq!(all(&[], Feature::SAMPLED_IMAGE), 0);
        assert_eq!(all(&[r11, vk::Format::R8_SINT], Feature::SAMPLED_IMAGE), 1 << 8 | 1 << 29);
        // What the device does not have at all nobody can have an image of.
        assert_eq!(all(&[r11], Feature::empty()), 0);
        assert_eq!(all(&[r11], Feature::DISJOINT), 0);
        // The second of two names for one layout does not count.
        assert_eq!(all(&[vk::Format::A8B8G8R8_UNORM_PACK32], Feature::SAMPLED_IMAGE), 0);
        // What one of two devices lacks both lack; what one of them does not have at all neither has.
        let of = |lacking: vk::Format, there| {
            StorableFormats::of(&mut |format| if lacking == format { there } else { stores }, stores)
        };
        let (r8, both) = (vk::Format::R8_SINT, Feature::SAMPLED_IMAGE);
        assert_eq!(of(r11, both).both(of(r8, both)).lowered(), 1 << 8 | 1 << 29);
        assert_eq!(of(r11, both).both(of(r11, Feature::empty())).lowered(), 0);
        // Without a stand-in.
        assert_eq!(all(&[vk::Format::R8_UNORM, vk::Format::R8_UINT, r11], Feature::SAMPLED_IMAGE), 1 << 8);
    }

    #[test]
    fn formats_are_stored_natively_lowered_or_not() {
        let (stores, sampled) = (Feature::STORAGE_IMAGE, Feature::SAMPLED_IMAGE);
        let r11 = vk::Format::B10G11R11_UFLOAT_PACK32;
        assert_eq!(Stored::of(r11, stores | sampled, 1 << 8), Stored::Natively);
        assert_eq!(Stored::of(r11, sampled, 1 << 8), Stored::Lowered);
        assert_eq!(Stored::of(r11, sampled, 1 << 9), Stored::Not);
        assert_eq!(Stored::of(r11, Feature::empty(), 1 << 8), Stored::Not);
        // No shader can declare the one, and nothing has the bits of the other.
        assert_eq!(Stored::of(vk::Format::B8G8R8A8_UNORM, sampled, UNNAMED), Stored::Lowered);
        assert_eq!(Stored::of(vk::Format::B8G8R8A8_UNORM, sampled, !UNNAMED), Stored::Not);
        assert_eq!(Stored::of(vk::Format::E5B9G9R9_UFLOAT_PACK32, sampled, u64::MAX), Stored::Not);
        // With the bits of the format that is not encoded.
        assert_eq!(Stored::of(vk::Format::R8G8B8A8_SRGB, sampled, 1 << 4), Stored::Lowered);
    }
}
