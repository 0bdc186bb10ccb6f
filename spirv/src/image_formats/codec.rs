//! Formats as the layout of their bits: what a declared image format stands for.

/// What the channels of a format hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Fractions of the largest unsigned number.
    Unorm,
    /// Fractions of the largest signed number.
    Snorm,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// Floating point: with 32 and 16 bits signed, with 11 and 10 not.
    Float,
}

/// The bits of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codec {
    /// The number of the image format (`spirv::ImageFormat`), or from [`UNNAMED`] on of a format that SPIR-V has no name for.
    pub format: u32,
    /// What its channels hold.
    pub kind: Channels,
    /// Bits of red, green, blue and alpha; 0 for one that it has not.
    pub widths: [u8; 4],
    /// The channels from the lowest bit on: 0 is red.
    pub order: [u8; 4],
}

/// The first number of a format that no shader can declare. SPIR-V's own numbers end below; a module with one of these is for
/// [`image_formats`](super::image_formats()) alone, which leaves none.
pub const UNNAMED: u32 = 48;

const RGBA: [u8; 4] = [0, 1, 2, 3];
const BGRA: [u8; 4] = [2, 1, 0, 3];
const ABGR: [u8; 4] = [3, 2, 1, 0];
const ARGB: [u8; 4] = [3, 0, 1, 2];

const fn row(format: u32, kind: Channels, widths: [u8; 4]) -> Codec {
    unnamed(format, kind, widths, RGBA)
}

const fn unnamed(format: u32, kind: Channels, widths: [u8; 4], order: [u8; 4]) -> Codec {
    Codec { format, kind, widths, order }
}

/// Every format of 1, 2, 4 or 8 bytes but for those that stand in for the others ("Compatibility Between SPIR-V Image Formats and
/// Vulkan Formats"), and those of version 1.0 of Vulkan that SPIR-V has no name for, with the order of the Vulkan format's name ("Packed Formats").
pub const CODECS: [Codec; 45] = [
    row(2, Channels::Float, [16; 4]),
    row(3, Channels::Float, [32, 0, 0, 0]),
    row(4, Channels::Unorm, [8; 4]),
    row(5, Channels::Snorm, [8; 4]),
    row(6, Channels::Float, [32, 32, 0, 0]),
    row(7, Channels::Float, [16, 16, 0, 0]),
    row(8, Channels::Float, [11, 11, 10, 0]),
    row(9, Channels::Float, [16, 0, 0, 0]),
    row(10, Channels::Unorm, [16; 4]),
    row(11, Channels::Unorm, [10, 10, 10, 2]),
    row(12, Channels::Unorm, [16, 16, 0, 0]),
    row(13, Channels::Unorm, [8, 8, 0, 0]),
    row(14, Channels::Unorm, [16, 0, 0, 0]),
    row(15, Channels::Unorm, [8, 0, 0, 0]),
    row(16, Channels::Snorm, [16; 4]),
    row(17, Channels::Snorm, [16, 16, 0, 0]),
    row(18, Channels::Snorm, [8, 8, 0, 0]),
    row(19, Channels::Snorm, [16, 0, 0, 0]),
    row(20, Channels::Snorm, [8, 0, 0, 0]),
    row(22, Channels::Sint, [16; 4]),
    row(23, Channels::Sint, [8; 4]),
    row(24, Channels::Sint, [32, 0, 0, 0]),
    row(25, Channels::Sint, [32, 32, 0, 0]),
    row(26, Channels::Sint, [16, 16, 0, 0]),
    row(27, Channels::Sint, [8, 8, 0, 0]),
    row(28, Channels::Sint, [16, 0, 0, 0]),
    row(29, Channels::Sint, [8, 0, 0, 0]),
    row(31, Channels::Uint, [16; 4]),
    row(32, Channels::Uint, [8; 4]),
    row(34, Channels::Uint, [10, 10, 10, 2]),
    row(36, Channels::Uint, [16, 16, 0, 0]),
    row(37, Channels::Uint, [8, 8, 0, 0]),
    // B8G8R8A8.
    unnamed(48, Channels::Unorm, [8; 4], BGRA),
    unnamed(49, Channels::Snorm, [8; 4], BGRA),
    unnamed(50, Channels::Uint, [8; 4], BGRA),
    unnamed(51, Channels::Sint, [8; 4], BGRA),
    // A2R10G10B10.
    unnamed(52, Channels::Unorm, [10, 10, 10, 2], BGRA),
    unnamed(53, Channels::Uint, [10, 10, 10, 2], BGRA),
    // R5G6B5, B5G6R5.
    unnamed(54, Channels::Unorm, [5, 6, 5, 0], BGRA),
    unnamed(55, Channels::Unorm, [5, 6, 5, 0], RGBA),
    // R5G5B5A1, B5G5R5A1, A1R5G5B5.
    unnamed(56, Channels::Unorm, [5, 5, 5, 1], ABGR),
    unnamed(57, Channels::Unorm, [5, 5, 5, 1], ARGB),
    unnamed(58, Channels::Unorm, [5, 5, 5, 1], BGRA),
    // R4G4B4A4, B4G4R4A4.
    unnamed(59, Channels::Unorm, [4; 4], ABGR),
    unnamed(60, Channels::Unorm, [4; 4], ARGB),
];

impl Codec {
    /// The layout of an image format, by its number; none for what has no other format of its size to stand in for it.
    pub fn of(format: u32) -> Option<&'static Codec> {
        CODECS.iter().find(|codec| codec.format == format)
    }

    /// Bits of a texel.
    pub fn bits(&self) -> u32 {
        self.widths.iter().map(|width| u32::from(*width)).sum()
    }

    /// The number of the image format that stands in for it: R8ui, R16ui, R32ui or Rg32ui.
    pub fn alias(&self) -> u32 {
        match self.bits() {
            8 => 39,
            16 => 38,
            32 => R32_UI,
            _ => 35,
        }
    }

    /// In which of the two words each channel is, and from which bit on.
    pub fn places(&self) -> [(u32, u32); 4] {
        let (mut bit, mut places) = (0, [(0, 0); 4]);
        for channel in self.order.map(usize::from) {
            if self.widths[channel] != 0 {
                places[channel] = (bit / 32, bit % 32);
                bit += u32::from(self.widths[channel]);
            }
        }
        places
    }
}

/// The number of `R32ui`, the one alias that needs no capability.
pub(super) const R32_UI: u32 = 33;
