//! Formats as the layout of their bits: what a declared image format stands for.

/// What the channels of a format hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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

/// The bits of a texel. Channels follow each other from the lowest bit on, red first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codec {
    /// The number of the image format (`spirv::ImageFormat`).
    pub format: u32,
    /// What its channels hold.
    pub kind: Kind,
    /// Bits of each channel; 0 for one that it has not.
    pub widths: [u8; 4],
}

const fn row(format: u32, kind: Kind, widths: [u8; 4]) -> Codec {
    Codec { format, kind, widths }
}

/// Every format of 1, 2, 4 or 8 bytes but for those that stand in for the others ("Compatibility Between SPIR-V Image Formats and
/// Vulkan Formats").
pub const CODECS: [Codec; 32] = [
    row(2, Kind::Float, [16; 4]),
    row(3, Kind::Float, [32, 0, 0, 0]),
    row(4, Kind::Unorm, [8; 4]),
    row(5, Kind::Snorm, [8; 4]),
    row(6, Kind::Float, [32, 32, 0, 0]),
    row(7, Kind::Float, [16, 16, 0, 0]),
    row(8, Kind::Float, [11, 11, 10, 0]),
    row(9, Kind::Float, [16, 0, 0, 0]),
    row(10, Kind::Unorm, [16; 4]),
    row(11, Kind::Unorm, [10, 10, 10, 2]),
    row(12, Kind::Unorm, [16, 16, 0, 0]),
    row(13, Kind::Unorm, [8, 8, 0, 0]),
    row(14, Kind::Unorm, [16, 0, 0, 0]),
    row(15, Kind::Unorm, [8, 0, 0, 0]),
    row(16, Kind::Snorm, [16; 4]),
    row(17, Kind::Snorm, [16, 16, 0, 0]),
    row(18, Kind::Snorm, [8, 8, 0, 0]),
    row(19, Kind::Snorm, [16, 0, 0, 0]),
    row(20, Kind::Snorm, [8, 0, 0, 0]),
    row(22, Kind::Sint, [16; 4]),
    row(23, Kind::Sint, [8; 4]),
    row(24, Kind::Sint, [32, 0, 0, 0]),
    row(25, Kind::Sint, [32, 32, 0, 0]),
    row(26, Kind::Sint, [16, 16, 0, 0]),
    row(27, Kind::Sint, [8, 8, 0, 0]),
    row(28, Kind::Sint, [16, 0, 0, 0]),
    row(29, Kind::Sint, [8, 0, 0, 0]),
    row(31, Kind::Uint, [16; 4]),
    row(32, Kind::Uint, [8; 4]),
    row(34, Kind::Uint, [10, 10, 10, 2]),
    row(36, Kind::Uint, [16, 16, 0, 0]),
    row(37, Kind::Uint, [8, 8, 0, 0]),
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
        let mut bit = 0;
        self.widths.map(|width| {
            let place = if width == 0 { (0, 0) } else { (bit / 32, bit % 32) };
            bit += u32::from(width);
            place
        })
    }
}

/// The number of `R32ui`, the one alias that needs no capability.
pub(super) const R32_UI: u32 = 33;
