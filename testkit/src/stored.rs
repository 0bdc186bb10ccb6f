//! Texels of storage images and components of shaders: what is written and read in tests, and in what two runs differ.

use crate::descriptor::Binding;
use crate::job::{Job, buffer, write_buffer, write_image};
use crate::skip::Skip;
use crate::texel::{self, Value};
use crate::{Buffer, Context, Image, ImageDesc, ViewDesc, shader};
use ash::vk::{self, ImageUsageFlags as Usage};
use samplin_spirv::image_formats::{Channels, Codec};

/// What a shader read of an image's texels, as words, and what is in an image to which it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Four words for each texel.
    pub read: Vec<u32>,
    /// The texels in memory.
    pub written: Vec<u8>,
}

/// What a shader that declares the codec's format reads of the [`patterns`], and what is in an image to which it writes the
/// [`components`]. `format` is that of the image.
pub fn through(context: &Context, codec: &Codec, format: vk::Format) -> Result<Stored, Skip> {
    const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
    let (width, height) = edges(codec);
    let kind = match codec.kind {
        Channels::Uint => "uint",
        Channels::Sint => "int",
        _ => "float",
    };
    let bindings =
        [Binding::new(0, vk::DescriptorType::STORAGE_IMAGE, 1), Binding::new(1, vk::DescriptorType::STORAGE_BUFFER, 1)];
    // With and without a view for something else.
    let sampled = if codec.format.is_multiple_of(2) { Usage::SAMPLED } else { Usage::empty() };
    let usage = sampled | Usage::STORAGE | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let image = Image::new(context, &ImageDesc { usage, ..ImageDesc::d2(format, width, height) }).map_err(Skip)?;
    let view = image.view(&ViewDesc::default());
    let run = |program: &str, buffer: &Buffer<'_>| {
        image.transition(vk::ImageLayout::GENERAL);
        let words = declaring(shader::module(&format!("{program}/{kind}")), codec.format);
        let job = Job::new(context, &words, &bindings).expect("a pipeline");
        job.run(width * height / 64, |set| {
            write_image(context, set, 0, &view);
            write_buffer(context, set, 1, buffer);
        });
    };
    image.upload_bytes(COLOR, 0, 0, &patterns(codec));
    let read = buffer(context, &vec![7; 4 * (width * height) as usize]);
    run("load", &read);
    let written = buffer(context, &components(codec));
    run("store", &written);
    Ok(Stored { read: read.words(), written: image.read_bytes(COLOR, 0, 0) })
}

/// The same by the specification, without a device: what [`texel`] decodes and encodes.
pub fn by_reference(codec: &Codec, format: vk::Format) -> Stored {
    const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
    let size = codec.bits() as usize / 8;
    let read =
        patterns(codec).chunks_exact(size).flat_map(|bytes| texel::decode(format, COLOR, bytes).bits()).collect();
    let (kind, mut written) = (texel::numeric_kind(format, COLOR), Vec::new());
    for words in components(codec).chunks_exact(4) {
        let value = Value::from_bits(kind, [words[0], words[1], words[2], words[3]]);
        texel::encode(format, COLOR, value, &mut written);
    }
    Stored { read, written }
}

/// A module whose storage image has this format.
fn declaring(mut words: Vec<u32>, format: u32) -> Vec<u32> {
    const TYPE_IMAGE: u32 = 25;
    let mut at = 5;
    while let Some(head) = words.get(at).copied() {
        if head & 0xffff == TYPE_IMAGE {
            words[at + 8] = format;
        }
        at += (head >> 16).max(1) as usize;
    }
    words
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
        8 | 16 => (256, 256),
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

/// The components that are written, as words: in and out of range, and of normalized numbers what lies between two that are stored, to
/// the bit and a little beside.
pub fn components(codec: &Codec) -> Vec<u32> {
    let (width, height) = edges(codec);
    let mut state = 17;
    let mut one = |at: usize| {
        let bits = random(&mut state);
        let (low, high, width) = (bits as u32, bits >> 32, codec.widths[at % 4].max(1));
        match codec.kind {
            // What does not fit is undefined ("Texel Output Format Conversion").
            Channels::Uint => low >> (32 - u32::from(width)),
            Channels::Sint => ((low as i32) >> (32 - u32::from(width))) as u32,
            Channels::Float => loop {
                // No NaN: which one is stored is nobody's business.
                let bits = random(&mut state) as u32;
                // Half of them where 16 bits have their numbers.
                let value =
                    if bits & 1 == 0 { f32::from_bits(bits) } else { f32::from_bits(bits & 0x87ff_ffff | 0x3000_0000) };
                if !value.is_nan() {
                    break value.to_bits();
                }
            },
            // Three of four are a tie, or up to two floats away from one.
            _ if bits >> 62 != 0 => near_tie(codec.kind, width, low, high as u32),
            _ => (low as i32 as f32 / i32::MAX as f32 * 1.5).to_bits(),
        }
    };
    (0..4 * (width * height) as usize).map(&mut one).collect()
}

/// (2k + 1) / (2 · largest), of either sign where there are two, and up to two floats beside.
fn near_tie(kind: Channels, width: u8, which: u32, beside: u32) -> u32 {
    let bits = if kind == Channels::Snorm { width.max(2) - 1 } else { width };
    let largest = (1_u32 << bits) - 1;
    let tie = (f64::from(2 * (which % largest) + 1) / f64::from(2 * largest)) as f32;
    let sign = if kind == Channels::Snorm { (beside >> 16 & 1) << 31 } else { 0 };
    (tie.to_bits() + beside % 5 - 2) | sign
}

/// A half, as it is stored by who rounds toward zero: what is too large is the largest, and infinity stays.
pub fn half_toward_zero(word: u32) -> u16 {
    let (sign, size) = ((word >> 16 & 0x8000) as u16, word & 0x7fff_ffff);
    let exponent = (size >> 23) as i32 - 127;
    let half = match exponent {
        128 => 0x7c00,
        16.. => 0x7bff,
        -14.. => ((exponent + 15) as u32) << 10 | (size >> 13 & 0x3ff),
        -24.. => (size & 0x7f_ffff | 0x80_0000) >> (-1 - exponent),
        _ => 0,
    };
    sign | half as u16
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
    codec.kind == Channels::Float && bits & exponent == exponent
}

/// Whether two words that were read are the same number, or one step apart where that is allowed.
pub fn is_same_read(codec: &Codec, (one, other): (u32, u32), otherwise: bool) -> bool {
    let is_float = !matches!(codec.kind, Channels::Uint | Channels::Sint);
    let nan = |bits: u32| is_float && f32::from_bits(bits).is_nan();
    let near = otherwise && is_normalized(codec) && one.abs_diff(other) <= 1;
    one == other || near || nan(one) && nan(other)
}

fn is_normalized(codec: &Codec) -> bool {
    matches!(codec.kind, Channels::Unorm | Channels::Snorm)
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
                Channels::Snorm => (bits << (32 - width)) as i32 >> (32 - width),
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

#[cfg(test)]
mod tests {
    use samplin_spirv::image_formats::CODECS;

    use super::*;

    /// Of each format that has normalized numbers every tie is there, and more values in range than out of it.
    #[test]
    fn ties_are_among_what_is_written() {
        for codec in CODECS.iter().filter(|codec| is_normalized(codec)) {
            let all = components(codec);
            assert!(all.len() >= 4 << 16);
            let (largest, wide) = match codec.kind {
                Channels::Snorm => ((1_u32 << (codec.widths[0] - 1)) - 1, true),
                _ => ((1_u32 << codec.widths[0]) - 1, false),
            };
            let first: Vec<f32> = all.iter().step_by(4).map(|word| f32::from_bits(*word)).collect();
            let in_range = first.iter().filter(|value| value.abs() <= 1.0 && (wide || **value >= 0.0)).count();
            assert!(4 * in_range > 3 * first.len(), "{codec:?}: {in_range}");
            let is_tie = |value: f32| {
                let doubled = f64::from(value.abs()) * f64::from(2 * largest);
                let k = (doubled - 1.0) / 2.0;
                (k - k.round()).abs() < 1e-9 || ((k.round() * 2.0 + 1.0) / f64::from(2 * largest)) as f32 == value.abs()
            };
            let ties = first.iter().filter(|value| is_tie(**value)).count();
            assert!(10 * ties > first.len(), "{codec:?}: {ties} of {}", first.len());
            if largest < 256 {
                let mut seen: Vec<i64> = first
                    .iter()
                    .filter(|value| is_tie(**value))
                    .map(|value| ((f64::from(value.abs()) * f64::from(2 * largest) - 1.0) / 2.0).round() as i64)
                    .collect();
                seen.sort_unstable();
                seen.dedup();
                assert!(seen.len() >= largest as usize, "{codec:?}: {} of {largest}", seen.len());
            }
        }
    }

    #[test]
    fn halves_are_rounded_toward_zero() {
        for (value, half) in [
            (0.0_f32, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.5, 0xc100),
            (65504.0, 0x7bff),
            (65535.9, 0x7bff),
            (1e30, 0x7bff),
            (f32::INFINITY, 0x7c00),
            (f32::NEG_INFINITY, 0xfc00),
            (1.000_976_5, 0x3c00),
            (6.103_515_6e-5, 0x0400),
            (6.0e-5, 0x03ee),
            (5.960_464_5e-8, 1),
            (5.9e-8, 0),
        ] {
            assert_eq!(half_toward_zero(value.to_bits()), half, "{value}");
        }
    }
}
