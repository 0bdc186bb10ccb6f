//! Adversarial cases, drawn from bytes.
//!
//! A case starts from a well-formed idiom (trilinear, shadow map, Y′CbCr, …), then a few members are overwritten with
//! values from pools that hold every enumerant, values of no enumeration, NaN, infinities and negative zero. Few or no
//! overwrites leave a good share legal; many make combinations that no one would write. Byte 0 always draws the plain
//! choice, so that shrinking a failure moves towards the zero-filled sampler on a device that can do everything.

use ash::vk;
use proptest::prelude::*;
use samplin_core::decide::{
    Aspect, BlitSource, BlockMatchWindow, BorderMapping, ConversionState, CustomBorder, DeviceCaps, Policy, Reads,
    SamplerState, ViewTraits, YcbcrConversion, normalize_components,
};
use std::fmt;

use super::formats;

/// Where choices come from.
pub struct Dice<'a>(pub &'a [u8]);

impl Dice<'_> {
    fn roll(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.roll()) * bound / 256
    }

    /// True in about `percent` of a hundred draws.
    fn chance(&mut self, percent: u32) -> bool {
        u32::from(self.roll()) * 100 >= (100 - percent) * 256
    }

    fn pick<T: Copy>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())]
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.roll(), self.roll(), self.roll(), self.roll()])
    }

    fn float(&mut self) -> f32 {
        const POOL: [f32; 24] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.25,
            0.5,
            2.0,
            -2.0,
            4.0,
            15.0,
            -15.0,
            15.996,
            16.0,
            17.0,
            -100.0,
            1000.0,
            1e9,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            // A NaN with a payload and a sign: its bits must survive wherever it is ignored.
            f32::from_bits(0xffc0_1234),
        ];
        if self.chance(10) { f32::from_bits(self.word()) } else { self.pick(&POOL) }
    }
}

const FILTERS: [vk::Filter; 8] = [
    vk::Filter::NEAREST,
    vk::Filter::NEAREST,
    vk::Filter::LINEAR,
    vk::Filter::LINEAR,
    vk::Filter::CUBIC_EXT,
    vk::Filter::CUBIC_EXT,
    vk::Filter::from_raw(2),
    vk::Filter::from_raw(-1),
];

const ADDRESS_MODES: [vk::SamplerAddressMode; 10] = [
    vk::SamplerAddressMode::REPEAT,
    vk::SamplerAddressMode::MIRRORED_REPEAT,
    vk::SamplerAddressMode::CLAMP_TO_EDGE,
    vk::SamplerAddressMode::CLAMP_TO_BORDER,
    vk::SamplerAddressMode::CLAMP_TO_BORDER,
    vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    // GL_CLAMP and GL_MIRROR_CLAMP_EXT
    vk::SamplerAddressMode::from_raw(0x2900),
    vk::SamplerAddressMode::from_raw(0x8742),
    vk::SamplerAddressMode::from_raw(5),
    vk::SamplerAddressMode::from_raw(i32::MIN),
];

const BORDER_COLORS: [vk::BorderColor; 10] = [
    vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    vk::BorderColor::INT_TRANSPARENT_BLACK,
    vk::BorderColor::FLOAT_OPAQUE_BLACK,
    vk::BorderColor::INT_OPAQUE_BLACK,
    vk::BorderColor::FLOAT_OPAQUE_WHITE,
    vk::BorderColor::INT_OPAQUE_WHITE,
    vk::BorderColor::FLOAT_CUSTOM_EXT,
    vk::BorderColor::INT_CUSTOM_EXT,
    vk::BorderColor::from_raw(6),
    vk::BorderColor::from_raw(-7),
];

const REDUCTIONS: [Option<vk::SamplerReductionMode>; 7] = [
    None,
    Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    Some(vk::SamplerReductionMode::MIN),
    Some(vk::SamplerReductionMode::MAX),
    Some(vk::SamplerReductionMode::MAX),
    Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM),
    Some(vk::SamplerReductionMode::from_raw(3)),
];

/// Formats of every kind, class and width.
pub const FORMATS: [vk::Format; 40] = [
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::R8_UNORM,
    vk::Format::A8_UNORM_KHR,
    vk::Format::R5G6B5_UNORM_PACK16,
    vk::Format::B4G4R4A4_UNORM_PACK16,
    vk::Format::B4G4R4A4_UNORM_PACK16,
    vk::Format::B5G6R5_UNORM_PACK16,
    vk::Format::B5G5R5A1_UNORM_PACK16,
    vk::Format::A1B5G5R5_UNORM_PACK16_KHR,
    vk::Format::R16G16_SNORM,
    vk::Format::R8G8_USCALED,
    vk::Format::R16G16B16A16_SFLOAT,
    vk::Format::R32G32B32A32_SFLOAT,
    vk::Format::B10G11R11_UFLOAT_PACK32,
    vk::Format::E5B9G9R9_UFLOAT_PACK32,
    vk::Format::BC1_RGB_UNORM_BLOCK,
    vk::Format::BC6H_UFLOAT_BLOCK,
    vk::Format::R8_UINT,
    vk::Format::R8G8B8A8_UINT,
    vk::Format::A2B10G10R10_UINT_PACK32,
    vk::Format::R16G16_UINT,
    vk::Format::R32_UINT,
    vk::Format::R8G8B8A8_SINT,
    vk::Format::R16_SINT,
    vk::Format::R32G32_SINT,
    vk::Format::R64_UINT,
    vk::Format::D16_UNORM,
    vk::Format::X8_D24_UNORM_PACK32,
    vk::Format::D32_SFLOAT,
    vk::Format::S8_UINT,
    vk::Format::S8_UINT,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D32_SFLOAT_S8_UINT,
    vk::Format::G8_B8R8_2PLANE_420_UNORM,
    vk::Format::UNDEFINED,
    // VK_FORMAT_R10X6_UINT_PACK16_ARM: an integer format that no table here or there knows.
    vk::Format::from_raw(1_000_609_000),
    vk::Format::from_raw(-5),
];

const COMPONENTS: [vk::ComponentSwizzle; 7] = [
    vk::ComponentSwizzle::IDENTITY,
    vk::ComponentSwizzle::ZERO,
    vk::ComponentSwizzle::ONE,
    vk::ComponentSwizzle::R,
    vk::ComponentSwizzle::G,
    vk::ComponentSwizzle::B,
    vk::ComponentSwizzle::A,
];

// --- samplers ------------------------------------------------------------------------------------------------------

/// A sampler as an application might have meant it.
fn idiom(dice: &mut Dice<'_>) -> SamplerState {
    use vk::SamplerAddressMode as M;
    let plain = SamplerState::default();
    let texel = SamplerState { address_mode: [M::CLAMP_TO_EDGE; 3], ..plain };
    let trilinear = SamplerState {
        mag_filter: vk::Filter::LINEAR,
        min_filter: vk::Filter::LINEAR,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        max_lod: 1000.0,
        ..plain
    };
    let bordered = SamplerState { address_mode: [M::CLAMP_TO_BORDER; 3], ..trilinear };
    match dice.below(17) {
        0 => plain,
        1 => SamplerState { anisotropy_enable: dice.chance(50), max_anisotropy: 2.0, mip_lod_bias: 0.5, ..trilinear },
        2 => {
            let filter = dice.pick(&[vk::Filter::NEAREST, vk::Filter::LINEAR]);
            SamplerState { unnormalized_coordinates: true, mag_filter: filter, min_filter: filter, ..texel }
        }
        3 => SamplerState { flags: vk::SamplerCreateFlags::SUBSAMPLED_EXT, ..texel },
        4 => SamplerState {
            flags: vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM,
            address_mode: [dice.pick(&[M::CLAMP_TO_EDGE, M::CLAMP_TO_BORDER]); 3],
            unnormalized_coordinates: dice.chance(50),
            block_match: dice.chance(60).then(|| BlockMatchWindow {
                extent: [dice.pick(&[8, 64, 1000]), dice.pick(&[8, 64, 1000])],
                compare_mode: 0,
            }),
            ..plain
        },
        5 => {
            let conversion = conversion_of(dice);
            let filter = conversion.chroma_filter;
            SamplerState { ycbcr: Some(conversion), mag_filter: filter, min_filter: filter, ..texel }
        }
        6 => SamplerState {
            compare_enable: true,
            compare_op: vk::CompareOp::LESS_OR_EQUAL,
            ..if dice.chance(50) { bordered } else { trilinear }
        },
        7 => SamplerState {
            reduction_mode: dice.pick(&[Some(vk::SamplerReductionMode::MAX), Some(vk::SamplerReductionMode::MIN)]),
            mipmap_mode: dice.pick(&[vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR]),
            mag_filter: dice.pick(&FILTERS[..4]),
            ..trilinear
        },
        8 | 9 => SamplerState {
            mag_filter: vk::Filter::CUBIC_EXT,
            min_filter: dice.pick(&[vk::Filter::CUBIC_EXT, vk::Filter::LINEAR, vk::Filter::NEAREST]),
            reduction_mode: if dice.chance(60) { dice.pick(&REDUCTIONS[..6]) } else { None },
            cubic_weights: if dice.chance(40) { Some(dice.pick(&[0, 1, 3])) } else { None },
            ..trilinear
        },
        10 | 11 => {
            let black = [vk::BorderColor::FLOAT_OPAQUE_BLACK, vk::BorderColor::INT_OPAQUE_BLACK];
            let color = if dice.chance(50) { dice.pick(&black) } else { dice.pick(&BORDER_COLORS[..6]) };
            SamplerState { border_color: color, ..bordered }
        }
        12..=15 => {
            let int = dice.chance(50);
            let kinds = [vk::BorderColor::FLOAT_CUSTOM_EXT, vk::BorderColor::INT_CUSTOM_EXT];
            SamplerState {
                border_color: kinds[usize::from(int)],
                custom_border: Some(CustomBorder {
                    color: color(dice, int),
                    format: if dice.chance(70) { dice.pick(&FORMATS) } else { vk::Format::UNDEFINED },
                }),
                border_mapping: if dice.chance(25) { Some(mapping(dice)) } else { None },
                ..bordered
            }
        }
        _ => SamplerState {
            flags: vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT,
            opaque_capture: dice.chance(70),
            ..trilinear
        },
    }
}

fn conversion_of(dice: &mut Dice<'_>) -> YcbcrConversion {
    let unusual = dice.chance(10);
    YcbcrConversion {
        handle: 0xabcd,
        chroma_filter: if unusual { dice.pick(&FILTERS) } else { dice.pick(&[FILTERS[0], FILTERS[2]]) },
        separate_reconstruction: dice.chance(40),
        fingerprint: dice.word().into(),
    }
}

fn color(dice: &mut Dice<'_>, int: bool) -> [u32; 4] {
    let one = if int { 1 } else { 1.0_f32.to_bits() };
    let grey = if int { [8, 8, 9, 1] } else { [0.5, 0.5, 0.625, 1.0].map(f32::to_bits) };
    if dice.chance(50) {
        // What a predefined colour says as well, and what an exchange hardly changes.
        dice.pick(&[[0; 4], [0, 0, 0, one], [one; 4], grey, grey, grey])
    } else if int {
        const POOL: [u32; 10] = [0, 1, 127, 128, 255, 256, 65_535, u32::MAX, (-128_i32) as u32, (-40_000_i32) as u32];
        std::array::from_fn(|_| if dice.chance(10) { dice.word() } else { dice.pick(&POOL) })
    } else {
        std::array::from_fn(|_| {
            if dice.chance(40) { dice.float().to_bits() } else { dice.pick(&[0.0, 1.0, 0.5, 0.25_f32]).to_bits() }
        })
    }
}

fn mapping(dice: &mut Dice<'_>) -> BorderMapping {
    BorderMapping { components: swizzle(dice), srgb: dice.chance(30) }
}

/// Identity in either form, the usual exchange of R and B, or anything.
pub fn swizzle(dice: &mut Dice<'_>) -> [vk::ComponentSwizzle; 4] {
    use vk::ComponentSwizzle as C;
    match dice.below(8) {
        0 => [C::IDENTITY; 4],
        1 => [C::R, C::G, C::IDENTITY, C::A],
        2 | 3 => [C::B, C::G, C::R, C::A],
        _ => std::array::from_fn(|_| dice.pick(&COMPONENTS)),
    }
}

/// Overwrites one member, or one structure of the chain.
fn overwrite(state: &mut SamplerState, dice: &mut Dice<'_>) {
    const FLAGS: [vk::SamplerCreateFlags; 8] = [
        vk::SamplerCreateFlags::empty(),
        vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
        vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
        vk::SamplerCreateFlags::SUBSAMPLED_EXT,
        vk::SamplerCreateFlags::SUBSAMPLED_COARSE_RECONSTRUCTION_EXT,
        vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM,
        vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT,
        vk::SamplerCreateFlags::from_raw(0x8000_0000),
    ];
    match dice.below(26) {
        0 => state.flags |= dice.pick(&FLAGS),
        1 => state.mag_filter = dice.pick(&FILTERS),
        2 => state.min_filter = dice.pick(&FILTERS),
        3 => {
            let filter = dice.pick(&FILTERS);
            (state.mag_filter, state.min_filter) = (filter, filter);
        }
        4 => {
            state.mipmap_mode = vk::SamplerMipmapMode::from_raw(dice.pick(&[0, 1, 1, 1, 2, -1]));
        }
        5..=7 => state.address_mode[dice.below(3)] = dice.pick(&ADDRESS_MODES),
        8 => state.address_mode = std::array::from_fn(|_| dice.pick(&ADDRESS_MODES[..8])),
        9 => state.mip_lod_bias = dice.float(),
        10 => {
            state.anisotropy_enable = dice.chance(80);
            state.max_anisotropy = dice.float();
        }
        11 => state.max_anisotropy = dice.float(),
        12 => {
            state.compare_enable = dice.chance(80);
            state.compare_op = vk::CompareOp::from_raw(dice.pick(&[0, 3, 7, 8, -1]));
        }
        13 => state.min_lod = dice.float(),
        14 => state.max_lod = dice.float(),
        15 | 16 => state.border_color = dice.pick(&BORDER_COLORS),
        17 => state.unnormalized_coordinates = !state.unnormalized_coordinates,
        18 | 19 => state.reduction_mode = dice.pick(&REDUCTIONS),
        20 => state.ycbcr = Some(conversion_of(dice)),
        21 => {
            let int = dice.chance(50);
            state.custom_border = if dice.chance(80) {
                Some(CustomBorder { color: color(dice, int), format: dice.pick(&FORMATS) })
            } else {
                None
            };
        }
        22 => state.border_mapping = Some(mapping(dice)),
        23 => state.cubic_weights = Some(dice.pick(&[0, 1, 2, 3, 4, -1])),
        24 => {
            state.block_match = Some(BlockMatchWindow {
                extent: [dice.pick(&[0, 64, 65, u32::MAX]), dice.pick(&[0, 64, 65, u32::MAX])],
                compare_mode: dice.pick(&[0, 1, -1]),
            });
        }
        _ => state.opaque_capture = !state.opaque_capture,
    }
}

/// A sampler, legal or not.
pub fn sampler(dice: &mut Dice<'_>) -> SamplerState {
    let mut state = idiom(dice);
    for _ in 0..dice.pick(&[0, 0, 0, 1, 1, 2, 3, 5, 8, 24]) {
        overwrite(&mut state, dice);
    }
    state
}

// --- views, devices, policies --------------------------------------------------------------------------------------

/// Format features, or that they are not known.
pub fn features(dice: &mut Dice<'_>) -> Option<vk::FormatFeatureFlags2> {
    use vk::FormatFeatureFlags2 as F;
    const BITS: [F; 5] = [
        F::SAMPLED_IMAGE_FILTER_LINEAR,
        F::SAMPLED_IMAGE_FILTER_MINMAX,
        F::SAMPLED_IMAGE_FILTER_CUBIC_EXT,
        F::SAMPLED_IMAGE_DEPTH_COMPARISON,
        // VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_2D_BIT_IMG
        F::from_raw(1 << 45),
    ];
    match dice.below(5) {
        0 => Some(F::from_raw(u64::MAX)),
        1 => Some(F::SAMPLED_IMAGE | F::SAMPLED_IMAGE_FILTER_LINEAR),
        2 => Some(F::SAMPLED_IMAGE),
        3 => None,
        _ if dice.chance(15) => Some(F::empty()),
        _ => Some(BITS.into_iter().filter(|_| dice.chance(50)).fold(F::SAMPLED_IMAGE, |all, bit| all | bit)),
    }
}

fn view(dice: &mut Dice<'_>) -> ViewTraits {
    use vk::ImageViewType as V;
    let format = dice.pick(&FORMATS);
    let facts = formats::facts(format);
    let mut view = ViewTraits::new_2d(format, vk::FormatFeatureFlags2::empty());
    view.features = features(dice);
    if facts.depth && facts.stencil && dice.chance(50) {
        view.aspect = Aspect::Stencil;
    }
    view.view_type = dice.pick(&[
        V::TYPE_2D,
        V::TYPE_2D,
        V::TYPE_2D_ARRAY,
        V::TYPE_3D,
        V::CUBE,
        V::CUBE_ARRAY,
        V::TYPE_1D,
        V::TYPE_1D_ARRAY,
        V::from_raw(7),
    ]);
    view.image_type = match view.view_type {
        V::TYPE_1D | V::TYPE_1D_ARRAY => vk::ImageType::TYPE_1D,
        V::TYPE_3D => vk::ImageType::TYPE_3D,
        _ if dice.chance(10) => vk::ImageType::TYPE_3D,
        _ => vk::ImageType::TYPE_2D,
    };
    if dice.chance(60) {
        let [r, g, b, a] = swizzle(dice);
        view.components = normalize_components(vk::ComponentMapping { r, g, b, a });
    }
    view.reads = dice.pick(&[Reads::Unknown, Reads::Plain, Reads::Compared]);
    view.single_level = !dice.chance(30);
    view.single_layer = !dice.chance(30);
    view.corner_sampled = dice.chance(8);
    view.subsampled = dice.chance(8);
    view.attachment = dice.chance(20);
    view.ycbcr = dice.chance(5);
    view.filter_cubic = !dice.chance(25);
    view.filter_cubic_minmax = !dice.chance(25);
    view
}

fn caps(dice: &mut Dice<'_>) -> DeviceCaps {
    let everything = DeviceCaps {
        sampler_anisotropy: true,
        max_sampler_anisotropy: 16.0,
        max_sampler_lod_bias: 15.0,
        sampler_mirror_clamp_to_edge: true,
        sampler_filter_minmax: true,
        filter_minmax_component_mapping: true,
        filter_cubic_img: true,
        filter_cubic_ext: true,
        filter_linear_2d_img: true,
        custom_border_colors: true,
        custom_border_color_without_format: true,
        max_custom_border_color_samplers: 4096,
        border_color_swizzle: true,
        border_color_swizzle_from_image: true,
        non_seamless_cube_map: true,
        cubic_range_clamp: true,
        selectable_cubic_weights: true,
        descriptor_buffer_capture_replay: true,
        max_block_match_window: [64, 64],
        sampler_ycbcr_conversion: true,
        gl_address_modes: true,
        ..DeviceCaps::default()
    };
    match dice.below(8) {
        0..=2 => everything,
        3 => DeviceCaps::default(),
        // Each feature missing now and then.
        _ => DeviceCaps {
            sampler_anisotropy: !dice.chance(30),
            // Nonsense below 1 can come from a hand-written capability file.
            max_sampler_anisotropy: dice.pick(&[16.0, 16.0, 2.0, 1.0, 0.0, f32::NAN]),
            max_sampler_lod_bias: dice.pick(&[15.0, 2.0, 15.996, 0.0, f32::INFINITY]),
            sampler_mirror_clamp_to_edge: !dice.chance(30),
            sampler_filter_minmax: !dice.chance(30),
            filter_minmax_component_mapping: !dice.chance(50),
            filter_cubic_img: !dice.chance(30),
            filter_cubic_ext: !dice.chance(30),
            filter_linear_2d_img: !dice.chance(30),
            custom_border_colors: !dice.chance(25),
            custom_border_color_without_format: !dice.chance(50),
            border_color_swizzle: !dice.chance(60),
            border_color_swizzle_from_image: !dice.chance(75),
            non_seamless_cube_map: !dice.chance(30),
            cubic_range_clamp: !dice.chance(30),
            selectable_cubic_weights: !dice.chance(30),
            descriptor_buffer_capture_replay: !dice.chance(50),
            max_block_match_window: dice.pick(&[[64, 64], [0, 0], [8, 64]]),
            sampler_mip_lod_bias: !dice.chance(20),
            mutable_comparison_samplers: !dice.chance(20),
            gl_address_modes: !dice.chance(50),
            ..everything
        },
    }
}

/// One case: everything that a decision depends on.
#[derive(Clone)]
pub struct Case {
    /// The application's sampler.
    pub state: SamplerState,
    /// The view it is written with.
    pub view: ViewTraits,
    /// The device.
    pub caps: DeviceCaps,
    /// The settings.
    pub policy: Policy,
}

/// Shows only what is out of the ordinary: the members that a zero-filled sampler, a plain view and a device that can
/// do everything have otherwise.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = |name: &str, value: &dyn fmt::Debug, plain: &dyn fmt::Debug| {
            let (value, plain) = (format!("{value:#?}"), format!("{plain:#?}"));
            writeln!(f, "\n{name}:")?;
            let same_shape = value.lines().count() == plain.lines().count();
            for (line, plain) in value.lines().zip(plain.lines().chain(std::iter::repeat(""))) {
                if !same_shape || line != plain {
                    writeln!(f, "{line}")?;
                }
            }
            Ok(())
        };
        let plain = Self::read(&[]);
        part("state", &self.state, &plain.state)?;
        part("view", &self.view, &plain.view)?;
        part("caps", &self.caps, &plain.caps)?;
        part("policy", &self.policy, &plain.policy)
    }
}

impl Case {
    fn read(bytes: &[u8]) -> Self {
        let dice = &mut Dice(bytes);
        // The sampler takes a varying number of bytes, so it comes last.
        let (caps, view) = (caps(dice), view(dice));
        let [strict_border, depth_compare, gl_clamp_min] = [20, 30, 30].map(|percent| dice.chance(percent));
        let state = sampler(dice);
        // What shaders do has no part in what is legal.
        let [saturates, emulates, compares] = [50, 30, 50].map(|percent| dice.chance(percent));
        // What it divides is no other sampler to a view that says nothing of that.
        let divides = dice.chance(50);
        let flat_nearest = dice.chance(30);
        let policy =
            Policy { strict_border, depth_compare, gl_clamp_min, saturates, emulates, divides, compares, flat_nearest };
        Self { state, view, caps, policy }
    }
}

/// Cases, enough bytes for the largest.
pub fn cases() -> impl Strategy<Value = Case> {
    proptest::collection::vec(any::<u8>(), 360).prop_map(|bytes| Case::read(&bytes))
}

/// Filters and sources of blits.
pub fn blits() -> impl Strategy<Value = (vk::Filter, BlitSource)> {
    proptest::collection::vec(any::<u8>(), 24).prop_map(|bytes| {
        let dice = &mut Dice(&bytes);
        let image_type = dice.pick(&[vk::ImageType::TYPE_2D, vk::ImageType::TYPE_1D, vk::ImageType::TYPE_3D]);
        let source = BlitSource { format: dice.pick(&FORMATS), image_type, features: features(dice) };
        (dice.pick(&FILTERS), source)
    })
}

/// Conversions, their potential features, and whether chroma is subsampled along each axis.
pub fn conversions() -> impl Strategy<Value = (ConversionState, Option<vk::FormatFeatureFlags2>, [bool; 2])> {
    use vk::FormatFeatureFlags2 as F;
    const BITS: [F; 4] = [
        F::COSITED_CHROMA_SAMPLES,
        F::MIDPOINT_CHROMA_SAMPLES,
        F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER,
        F::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE,
    ];
    proptest::collection::vec(any::<u8>(), 24).prop_map(|bytes| {
        let dice = &mut Dice(&bytes);
        let location = |dice: &mut Dice<'_>| vk::ChromaLocation::from_raw(dice.pick(&[0, 1, 0, 1, 2]));
        let state = ConversionState {
            x_chroma_offset: location(dice),
            y_chroma_offset: location(dice),
            chroma_filter: dice.pick(&FILTERS),
            force_explicit_reconstruction: dice.chance(40),
        };
        let features = BITS.into_iter().filter(|_| dice.chance(60)).fold(F::empty(), |all, bit| all | bit);
        (state, (!dice.chance(10)).then_some(features), [dice.chance(60), dice.chance(60)])
    })
}
