//! [`SamplerState`]: everything a `VkSamplerCreateInfo` and its chain say, as one comparable value.

use ash::vk;

use super::is_gl;

/// `VK_CUBIC_FILTER_WEIGHTS_CATMULL_ROM_QCOM`, the kernel that an absent structure means.
pub(super) const CATMULL_ROM: i32 = 0;

/// `VkSamplerCustomBorderColorCreateInfoEXT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomBorder {
    /// The four 32-bit words of `customBorderColor`; floats by their bits for a `FLOAT` border.
    pub color: [u32; 4],
    /// `format`; `UNDEFINED` means "any".
    pub format: vk::Format,
}

/// `VkSamplerBorderColorComponentMappingCreateInfoEXT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderMapping {
    /// Component mapping in the order R, G, B, A.
    pub components: [vk::ComponentSwizzle; 4],
    /// Whether the view's format is sRGB-encoded.
    pub srgb: bool,
}

/// `VkSamplerBlockMatchWindowCreateInfoQCOM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMatchWindow {
    /// Window size in texels.
    pub extent: [u32; 2],
    /// Comparison mode, a raw `VkBlockMatchWindowCompareModeQCOM`.
    pub compare_mode: i32,
}

/// What a chained `VkSamplerYcbcrConversion` demands of its sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YcbcrConversion {
    /// The driver's handle. Not part of a [fingerprint](SamplerState::fingerprint).
    pub handle: u64,
    /// `chromaFilter` as created.
    pub chroma_filter: vk::Filter,
    /// Whether min and mag may differ from `chromaFilter`: the potential format features of the
    /// conversion hold `…_SEPARATE_RECONSTRUCTION_FILTER`, or they are unknown.
    pub separate_reconstruction: bool,
    /// Stable hash of the conversion's own state.
    pub fingerprint: u64,
}

/// The state of a sampler: `VkSamplerCreateInfo` with every structure of its chain that matters for sampling.
///
/// Enumerants are kept as the raw values the application passed; unknown ones are legal here.
#[derive(Clone, Copy, Debug)]
pub struct SamplerState {
    /// `flags`.
    pub flags: vk::SamplerCreateFlags,
    /// `magFilter`.
    pub mag_filter: vk::Filter,
    /// `minFilter`.
    pub min_filter: vk::Filter,
    /// `mipmapMode`.
    pub mipmap_mode: vk::SamplerMipmapMode,
    /// `addressModeU`, `addressModeV`, `addressModeW`.
    pub address_mode: [vk::SamplerAddressMode; 3],
    /// `mipLodBias`, in mip levels.
    pub mip_lod_bias: f32,
    /// `anisotropyEnable`.
    pub anisotropy_enable: bool,
    /// `maxAnisotropy`; ignored unless enabled.
    pub max_anisotropy: f32,
    /// `compareEnable`.
    pub compare_enable: bool,
    /// `compareOp`; ignored unless enabled.
    pub compare_op: vk::CompareOp,
    /// `minLod`, in mip levels.
    pub min_lod: f32,
    /// `maxLod`, in mip levels.
    pub max_lod: f32,
    /// `borderColor`; ignored unless it is a custom one or an address mode uses the border.
    pub border_color: vk::BorderColor,
    /// `unnormalizedCoordinates`.
    pub unnormalized_coordinates: bool,
    /// `VkSamplerReductionModeCreateInfo::reductionMode`, if chained.
    pub reduction_mode: Option<vk::SamplerReductionMode>,
    /// The chained conversion.
    pub ycbcr: Option<YcbcrConversion>,
    /// The chained custom border colour; ignored unless `border_color` is a custom one.
    pub custom_border: Option<CustomBorder>,
    /// The chained border swizzle.
    pub border_mapping: Option<BorderMapping>,
    /// `VkSamplerCubicWeightsCreateInfoQCOM::cubicWeights` (raw), if chained.
    pub cubic_weights: Option<i32>,
    /// The chained block-match window.
    pub block_match: Option<BlockMatchWindow>,
    /// Whether `VkOpaqueCaptureDescriptorDataCreateInfoEXT` is chained.
    pub opaque_capture: bool,
}

/// A normalised state as words: equal keys mean samplers that behave the same.
///
/// Floats are compared by bits (with −0 folded into 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateKey(pub [u32; StateKey::WORDS]);

impl StateKey {
    /// Number of words in a key.
    pub const WORDS: usize = 39;
}

/// Whether the border colour is one of the custom ones.
pub fn is_custom(color: vk::BorderColor) -> bool {
    matches!(color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT)
}

/// Whether the border colour is one of the integer kind.
pub fn is_int_border(color: vk::BorderColor) -> bool {
    matches!(
        color,
        vk::BorderColor::INT_TRANSPARENT_BLACK
            | vk::BorderColor::INT_OPAQUE_BLACK
            | vk::BorderColor::INT_OPAQUE_WHITE
            | vk::BorderColor::INT_CUSTOM_EXT
    )
}

/// Whether the value names any border colour of Vulkan.
pub fn is_valid_border(color: vk::BorderColor) -> bool {
    (0..=5).contains(&color.as_raw()) || is_custom(color)
}

impl Default for SamplerState {
    /// The zero-filled `VkSamplerCreateInfo`: NEAREST, REPEAT, LOD 0.
    fn default() -> Self {
        Self {
            flags: vk::SamplerCreateFlags::empty(),
            mag_filter: vk::Filter::NEAREST,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::NEAREST,
            address_mode: [vk::SamplerAddressMode::REPEAT; 3],
            mip_lod_bias: 0.0,
            anisotropy_enable: false,
            max_anisotropy: 0.0,
            compare_enable: false,
            compare_op: vk::CompareOp::NEVER,
            min_lod: 0.0,
            max_lod: 0.0,
            border_color: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
            unnormalized_coordinates: false,
            reduction_mode: None,
            ycbcr: None,
            custom_border: None,
            border_mapping: None,
            cubic_weights: None,
            block_match: None,
            opaque_capture: false,
        }
    }
}

/// What a create info says without its chain.
impl From<&vk::SamplerCreateInfo<'_>> for SamplerState {
    #[inline(never)]
    fn from(info: &vk::SamplerCreateInfo<'_>) -> Self {
        Self {
            flags: info.flags,
            mag_filter: info.mag_filter,
            min_filter: info.min_filter,
            mipmap_mode: info.mipmap_mode,
            address_mode: [info.address_mode_u, info.address_mode_v, info.address_mode_w],
            mip_lod_bias: info.mip_lod_bias,
            anisotropy_enable: info.anisotropy_enable != 0,
            max_anisotropy: info.max_anisotropy,
            compare_enable: info.compare_enable != 0,
            compare_op: info.compare_op,
            min_lod: info.min_lod,
            max_lod: info.max_lod,
            border_color: info.border_color,
            unnormalized_coordinates: info.unnormalized_coordinates != 0,
            reduction_mode: None,
            ycbcr: None,
            custom_border: None,
            border_mapping: None,
            cubic_weights: None,
            block_match: None,
            opaque_capture: false,
        }
    }
}

impl SamplerState {
    /// A create info of the state, without the structures to chain to it.
    #[inline(never)]
    pub fn create_info(&self) -> vk::SamplerCreateInfo<'static> {
        let [address_mode_u, address_mode_v, address_mode_w] = self.address_mode;
        vk::SamplerCreateInfo {
            flags: self.flags,
            mag_filter: self.mag_filter,
            min_filter: self.min_filter,
            mipmap_mode: self.mipmap_mode,
            address_mode_u,
            address_mode_v,
            address_mode_w,
            mip_lod_bias: self.mip_lod_bias,
            anisotropy_enable: u32::from(self.anisotropy_enable),
            max_anisotropy: self.max_anisotropy,
            compare_enable: u32::from(self.compare_enable),
            compare_op: self.compare_op,
            min_lod: self.min_lod,
            max_lod: self.max_lod,
            border_color: self.border_color,
            unnormalized_coordinates: u32::from(self.unnormalized_coordinates),
            ..Default::default()
        }
    }

    /// Whether `magFilter` or `minFilter` is `filter`.
    pub fn uses_filter(&self, filter: vk::Filter) -> bool {
        self.mag_filter == filter || self.min_filter == filter
    }

    /// Whether a LINEAR filter or mipmap mode is in use.
    pub fn uses_linear(&self) -> bool {
        self.uses_filter(vk::Filter::LINEAR) || self.mipmap_mode == vk::SamplerMipmapMode::LINEAR
    }

    /// The reduction mode in force; absent means `WEIGHTED_AVERAGE`.
    pub fn reduction(&self) -> vk::SamplerReductionMode {
        self.reduction_mode.unwrap_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE)
    }

    /// Whether the reduction mode is `MIN` or `MAX`.
    pub fn is_minmax(&self) -> bool {
        matches!(self.reduction(), vk::SamplerReductionMode::MIN | vk::SamplerReductionMode::MAX)
    }

    /// Whether any axis clamps to the border, or may come to: OpenGL's clamp modes blend with it.
    pub fn uses_border(&self) -> bool {
        let uses = |mode: &vk::SamplerAddressMode| *mode == vk::SamplerAddressMode::CLAMP_TO_BORDER || is_gl(*mode);
        self.address_mode.iter().any(uses)
    }

    /// The same sampler with every ignored member set to its zero value, so that garbage in it
    /// neither shows in a comparison nor in a hash.
    ///
    /// Ignored are `compareOp` without compare, `maxAnisotropy` without anisotropy, `borderColor` when no
    /// axis uses it (unless it is a custom colour, whose rules hold regardless), a chained custom colour
    /// with a predefined `borderColor`, a border swizzle when no axis uses the border, and cubic weights
    /// without CUBIC. Of an ignored `borderColor` the kind stays, because `border=strict` judges it (B-50, B-51).
    /// A chained `WEIGHTED_AVERAGE` or `CATMULL_ROM` is the same as none.
    pub fn normalized(&self) -> Self {
        let mut out = *self;
        if !out.compare_enable {
            out.compare_op = vk::CompareOp::NEVER;
        }
        if !out.anisotropy_enable {
            out.max_anisotropy = 0.0;
        }
        if !out.uses_border() {
            if !is_custom(out.border_color) {
                out.border_color = if is_int_border(out.border_color) {
                    vk::BorderColor::INT_TRANSPARENT_BLACK
                } else {
                    vk::BorderColor::FLOAT_TRANSPARENT_BLACK
                };
            }
            out.border_mapping = None;
        }
        if !is_custom(out.border_color) {
            out.custom_border = None;
        }
        if out.reduction_mode == Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE) {
            out.reduction_mode = None;
        }
        if out.cubic_weights == Some(CATMULL_ROM) || !out.uses_filter(vk::Filter::CUBIC_EXT) {
            out.cubic_weights = None;
        }
        out
    }

    /// The words of the normalised state, without handles (a conversion enters by its fingerprint).
    pub fn key(&self) -> StateKey {
        let s = self.normalized();
        let bits = |f: f32| if f == 0.0 { 0 } else { f.to_bits() };
        let mut words = [0_u32; StateKey::WORDS];
        let mut at = 0;
        let mut put = |word: u32| {
            if let Some(slot) = words.get_mut(at) {
                *slot = word;
            }
            at += 1;
        };
        put(s.flags.as_raw());
        put(s.mag_filter.as_raw() as u32);
        put(s.min_filter.as_raw() as u32);
        put(s.mipmap_mode.as_raw() as u32);
        for mode in s.address_mode {
            put(mode.as_raw() as u32);
        }
        put(bits(s.mip_lod_bias));
        put(u32::from(s.anisotropy_enable));
        put(bits(s.max_anisotropy));
        put(u32::from(s.compare_enable));
        put(s.compare_op.as_raw() as u32);
        put(bits(s.min_lod));
        put(bits(s.max_lod));
        put(s.border_color.as_raw() as u32);
        put(u32::from(s.unnormalized_coordinates));
        put(s.reduction().as_raw() as u32);
        put(u32::from(s.ycbcr.is_some()));
        let conversion = s.ycbcr.map_or(0, |y| y.fingerprint);
        put(conversion as u32);
        put((conversion >> 32) as u32);
        let custom = s.custom_border.unwrap_or(CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED });
        put(u32::from(s.custom_border.is_some()));
        custom.color.into_iter().for_each(&mut put);
        put(custom.format.as_raw() as u32);
        let mapping =
            s.border_mapping.unwrap_or(BorderMapping { components: [vk::ComponentSwizzle::IDENTITY; 4], srgb: false });
        put(u32::from(s.border_mapping.is_some()));
        for component in mapping.components {
            put(component.as_raw() as u32);
        }
        put(u32::from(mapping.srgb));
        put(u32::from(s.cubic_weights.is_some()));
        put(s.cubic_weights.unwrap_or(CATMULL_ROM) as u32);
        let window = s.block_match.unwrap_or(BlockMatchWindow { extent: [0; 2], compare_mode: 0 });
        put(u32::from(s.block_match.is_some()));
        put(window.extent[0]);
        put(window.extent[1]);
        put(window.compare_mode as u32);
        put(u32::from(s.opaque_capture));
        debug_assert_eq!(at, StateKey::WORDS);
        StateKey(words)
    }

    /// Stable 64-bit hash of the normalised state (FNV-1a over the little-endian bytes of the key): the same in every
    /// run, process and machine. Printed in the trace and matched by overrides.
    pub fn fingerprint(&self) -> u64 {
        fnv1a(self.key().0.iter().flat_map(|word| word.to_le_bytes()))
    }
}

/// 64-bit FNV-1a. Chosen because its definition is fixed for ever, unlike the standard library's hashers.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
