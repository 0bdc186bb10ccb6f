//! Texels of storage images and components of shaders: what is written and read in tests, and in what two runs differ.

use samplin_spirv::image_formats::{Codec, Kind};

/// What a shader read of an image's texels, as words, and what is in an image to which it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Four words for each texel.
    pub read: Vec<u32>,
    /// The texels in memory.
    pub written: Vec<u8>,
}

/// In what conversions of numbers may differ (Fundamentals > Fixed-Point Data Conversions, Floating-Point Format Conversions).
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// Steps of what is stored.
    pub steps: u32,
    /// Whether the driver's conversions of normalized numbers are its own: of what is stored one of the two closest, of what is
    /// read the next float.
    pub otherwise: bool,
}

/// SplitMix64: the same in every run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Width and height: each pattern of 8 and 16 bits, 2²⁰ of the wider ones.
pub fn edges(codec: &Codec) -> (u32, u32) {
    match codec.bits() {
        8 => (16, 16),
        16 => (256, 256),
        _ => (1024, 1024),
    }
}

/// The texels that are read: as many patterns as there are places.
pub fn patterns(codec: &Codec) -> Vec<u8> {
    let (width, height) = edges(codec);
    let (mut state, size) = (3, codec.bits() as usize / 8);
    let pattern = |n: u64| if size <= 2 { n } else { random(&mut state) };
    (0..u64::from(width * height)).map(pattern).flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

/// The components that are written, as words: in and out of range, ties, and what lies near them.
pub fn components(codec: &Codec) -> Vec<u32> {
    let (width, height) = edges(codec);
    let mut state = 17;
    let mut one = |at: usize| {
        let bits = random(&mut state);
        let low = bits as u32;
        let most = f64::from((1_u32 << (codec.widths[at % 4].clamp(2, 16) - 1)) - 1);
        match codec.kind {
            // What does not fit is undefined ("Texel Output Format Conversion").
            Kind::Uint => low >> (32 - u32::from(codec.widths[at % 4].max(1))),
            Kind::Sint => ((low as i32) >> (32 - u32::from(codec.widths[at % 4].max(1)))) as u32,
            Kind::Float => loop {
                // No NaN: which one is stored is nobody's business.
                let bits = random(&mut state) as u32;
                // Half of them where 16 bits have their numbers.
                let value =
                    if bits & 1 == 0 { f32::from_bits(bits) } else { f32::from_bits(bits & 0x87ff_ffff | 0x3000_0000) };
                if !value.is_nan() {
                    break value.to_bits();
                }
            },
            // Multiples of half a step, and a little beside.
            _ if bits >> 63 == 0 => ((f64::from(low >> 16) / most - 1.0) as f32).to_bits().wrapping_add(low % 3),
            _ => (low as i32 as f32 / i32::MAX as f32 * 1.5).to_bits(),
        }
    };
    (0..4 * (width * height) as usize).map(&mut one).collect()
}

/// A channel of a texel in memory.
fn channel(codec: &Codec, texel: &[u8], at: usize) -> u32 {
    let bits = texel.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let shift: u32 = codec.widths[..at].iter().map(|width| u32::from(*width)).sum();
    (bits >> shift) as u32 & ((1_u64 << codec.widths[at]) - 1) as u32
}

/// Whether the bits of a channel are infinite or no number.
fn is_special(codec: &Codec, bits: u32, width: u8) -> bool {
    let exponent = match width {
        32 => 0x7f80_0000,
        16 => 0x7c00,
        11 => 0x7c0,
        _ => 0x3e0,
    };
    codec.kind == Kind::Float && bits & exponent == exponent
}

/// Whether two words that were read are the same number, or one step apart where that is allowed.
pub fn is_same_read(codec: &Codec, (one, other): (u32, u32), otherwise: bool) -> bool {
    let is_float = !matches!(codec.kind, Kind::Uint | Kind::Sint);
    let nan = |bits: u32| is_float && f32::from_bits(bits).is_nan();
    let near = otherwise && is_normalized(codec) && one.abs_diff(other) <= 1;
    one == other || near || nan(one) && nan(other)
}

fn is_normalized(codec: &Codec) -> bool {
    matches!(codec.kind, Kind::Unorm | Kind::Snorm)
}

/// How many components read, and how many channels written, differ by more than is allowed.
pub fn differences(codec: &Codec, native: &Stored, lowered: &Stored, allowed: Allowed) -> (usize, usize) {
    let otherwise = allowed.otherwise;
    let pairs = native.read.iter().zip(&lowered.read);
    let read = pairs.filter(|(a, b)| !is_same_read(codec, (**a, **b), otherwise)).count();
    let steps = if otherwise && is_normalized(codec) { 1 } else { allowed.steps };
    let size = codec.bits() as usize / 8;
    let mut written = 0;
    for (a, b) in native.written.chunks_exact(size).zip(lowered.written.chunks_exact(size)) {
        for (at, width) in codec.widths.iter().enumerate().filter(|(_, width)| **width > 0) {
            let (a, b) = (channel(codec, a, at), channel(codec, b, at));
            // A driver that rounds to the nearest makes other numbers of what is huge. Zeros have signs.
            let number = |bits: u32| match codec.kind {
                Kind::Snorm => (bits << (32 - width)) as i32 >> (32 - width),
                _ if *width == 16 && bits & 0x8000 != 0 && !is_normalized(codec) => -((bits & 0x7fff) as i32),
                _ => bits as i32,
            };
            let near = number(a).abs_diff(number(b)) <= steps;
            if steps > 0 && a != b && !near && !is_special(codec, a, *width) && written < 3 {
                println!("native {a:#x}, lowered {b:#x}");
            }
            let other = steps > 0 && (is_special(codec, a, *width) || near);
            written += usize::from(a != b && !other);
        }
    }
    (read, written)
}
