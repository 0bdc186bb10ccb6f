//! The structures of the header, and what they are in Rust.

use std::ffi::c_char;

use samplin_core::{
    BlockMatchWindow, BorderMapping, CustomBorder, Features, Image, Limits, Reads, Sampler, Tiling, View,
    YcbcrConversion, vk,
};

use crate::sized::Sized32;

macro_rules! sized {
    ($($type:ty)+) => {
        $(
            // SAFETY: it is `repr(C)`, its first member is `size`, and all others are numbers, pointers and arrays of them.
            unsafe impl Sized32 for $type {}
        )+
    };
}

sized! {
    SamplinLimits SamplinFeatures SamplinDeviceInfo SamplinSampler SamplinView SamplinChange SamplinUnresolved
}

/// The size of a structure as its first member has it.
fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(0)
}

/// The limits that matter for sampling.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinLimits {
    /// `sizeof(SamplinLimits)`.
    pub size: u32,
    /// `maxSamplerAnisotropy`.
    pub max_sampler_anisotropy: f32,
    /// `maxSamplerLodBias`.
    pub max_sampler_lod_bias: f32,
    /// `maxSamplerAllocationCount`.
    pub max_sampler_allocation_count: u32,
    /// `maxCustomBorderColorSamplers`.
    pub max_custom_border_color_samplers: u32,
    /// `filterMinmaxImageComponentMapping`, 0 or 1.
    pub filter_minmax_image_component_mapping: u32,
    /// `maxBlockMatchWindow` of `VK_QCOM_image_processing2`.
    pub max_block_match_window: [u32; 2],
}

impl SamplinLimits {
    pub(crate) fn of(&self) -> Limits {
        Limits {
            max_sampler_anisotropy: self.max_sampler_anisotropy,
            max_sampler_lod_bias: self.max_sampler_lod_bias,
            max_sampler_allocation_count: self.max_sampler_allocation_count,
            max_custom_border_color_samplers: self.max_custom_border_color_samplers,
            filter_minmax_image_component_mapping: self.filter_minmax_image_component_mapping != 0,
            max_block_match_window: self.max_block_match_window,
        }
    }

    /// Of limits in Rust.
    pub fn new(of: &Limits) -> Self {
        Self {
            size: size::<Self>(),
            max_sampler_anisotropy: of.max_sampler_anisotropy,
            max_sampler_lod_bias: of.max_sampler_lod_bias,
            max_sampler_allocation_count: of.max_sampler_allocation_count,
            max_custom_border_color_samplers: of.max_custom_border_color_samplers,
            filter_minmax_image_component_mapping: of.filter_minmax_image_component_mapping.into(),
            max_block_match_window: of.max_block_match_window,
        }
    }
}

/// The features and extensions that matter for sampling, as **enabled** on the device: 0 or 1 each.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinFeatures {
    /// `sizeof(SamplinFeatures)`.
    pub size: u32,
    /// `samplerAnisotropy`.
    pub sampler_anisotropy: u32,
    /// `samplerMirrorClampToEdge`, or `VK_KHR_sampler_mirror_clamp_to_edge`.
    pub sampler_mirror_clamp_to_edge: u32,
    /// `samplerFilterMinmax`, or `VK_EXT_sampler_filter_minmax`.
    pub sampler_filter_minmax: u32,
    /// `samplerYcbcrConversion`.
    pub sampler_ycbcr_conversion: u32,
    /// `customBorderColors`.
    pub custom_border_colors: u32,
    /// `customBorderColorWithoutFormat`.
    pub custom_border_color_without_format: u32,
    /// `borderColorSwizzle`.
    pub border_color_swizzle: u32,
    /// `borderColorSwizzleFromImage`.
    pub border_color_swizzle_from_image: u32,
    /// `nonSeamlessCubeMap`.
    pub non_seamless_cube_map: u32,
    /// `VK_IMG_filter_cubic`.
    pub filter_cubic_img: u32,
    /// `VK_EXT_filter_cubic`.
    pub filter_cubic_ext: u32,
    /// `VK_IMG_filter_linear_2d`.
    pub filter_linear_2d_img: u32,
    /// `cubicRangeClamp`.
    pub cubic_range_clamp: u32,
    /// `selectableCubicWeights`.
    pub selectable_cubic_weights: u32,
    /// `descriptorBufferCaptureReplay`.
    pub descriptor_buffer_capture_replay: u32,
    /// `VK_KHR_portability_subset` is enabled, and its `samplerMipLodBias` is not.
    pub lacks_sampler_mip_lod_bias: u32,
    /// `VK_KHR_portability_subset` is enabled, and its `mutableComparisonSamplers` is not.
    pub lacks_mutable_comparison_samplers: u32,
    /// The program means `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT` by address modes of OpenGL's numbers (`0x2900`, `0x8742`).
    pub gl_address_modes: u32,
    /// An extension is enabled that may bring enumerants which samplin does not know. Such values then stay as they are.
    pub unknown_extension: u32,
}

impl SamplinFeatures {
    pub(crate) fn of(&self) -> Features {
        Features {
            sampler_anisotropy: self.sampler_anisotropy != 0,
            sampler_mirror_clamp_to_edge: self.sampler_mirror_clamp_to_edge != 0,
            sampler_filter_minmax: self.sampler_filter_minmax != 0,
            sampler_ycbcr_conversion: self.sampler_ycbcr_conversion != 0,
            custom_border_colors: self.custom_border_colors != 0,
            custom_border_color_without_format: self.custom_border_color_without_format != 0,
            border_color_swizzle: self.border_color_swizzle != 0,
            border_color_swizzle_from_image: self.border_color_swizzle_from_image != 0,
            non_seamless_cube_map: self.non_seamless_cube_map != 0,
            filter_cubic_img: self.filter_cubic_img != 0,
            filter_cubic_ext: self.filter_cubic_ext != 0,
            filter_linear_2d_img: self.filter_linear_2d_img != 0,
            cubic_range_clamp: self.cubic_range_clamp != 0,
            selectable_cubic_weights: self.selectable_cubic_weights != 0,
            descriptor_buffer_capture_replay: self.descriptor_buffer_capture_replay != 0,
            sampler_mip_lod_bias: self.lacks_sampler_mip_lod_bias == 0,
            mutable_comparison_samplers: self.lacks_mutable_comparison_samplers == 0,
            gl_address_modes: self.gl_address_modes != 0,
            unknown_extension: self.unknown_extension != 0,
        }
    }

    /// Of features in Rust.
    pub fn new(of: &Features) -> Self {
        Self {
            size: size::<Self>(),
            sampler_anisotropy: of.sampler_anisotropy.into(),
            sampler_mirror_clamp_to_edge: of.sampler_mirror_clamp_to_edge.into(),
            sampler_filter_minmax: of.sampler_filter_minmax.into(),
            sampler_ycbcr_conversion: of.sampler_ycbcr_conversion.into(),
            custom_border_colors: of.custom_border_colors.into(),
            custom_border_color_without_format: of.custom_border_color_without_format.into(),
            border_color_swizzle: of.border_color_swizzle.into(),
            border_color_swizzle_from_image: of.border_color_swizzle_from_image.into(),
            non_seamless_cube_map: of.non_seamless_cube_map.into(),
            filter_cubic_img: of.filter_cubic_img.into(),
            filter_cubic_ext: of.filter_cubic_ext.into(),
            filter_linear_2d_img: of.filter_linear_2d_img.into(),
            cubic_range_clamp: of.cubic_range_clamp.into(),
            selectable_cubic_weights: of.selectable_cubic_weights.into(),
            descriptor_buffer_capture_replay: of.descriptor_buffer_capture_replay.into(),
            lacks_sampler_mip_lod_bias: (!of.sampler_mip_lod_bias).into(),
            lacks_mutable_comparison_samplers: (!of.mutable_comparison_samplers).into(),
            gl_address_modes: of.gl_address_modes.into(),
            unknown_extension: of.unknown_extension.into(),
        }
    }
}

/// The features of a format: `VkFormatFeatureFlags2`. An array has them, so its size is fixed for ever.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinFormat {
    /// `VkFormat`.
    pub format: i32,
    /// Zero.
    pub reserved: u32,
    /// `optimalTilingFeatures`.
    pub optimal: u64,
    /// `linearTilingFeatures`.
    pub linear: u64,
    /// `bufferFeatures`.
    pub buffer: u64,
}

/// What a device is made of. Of a format that is not listed nothing is known, so nothing is taken away because of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinDeviceInfo {
    /// `sizeof(SamplinDeviceInfo)`.
    pub size: u32,
    /// The setting `border=strict`, 0 or 1.
    pub border_strict: u32,
    /// The setting `depth_linear=compare`.
    pub depth_linear_compare: u32,
    /// The setting `gl_clamp_rule=min`.
    pub gl_clamp_rule_min: u32,
    /// The setting `aniso_nearest=off`.
    pub aniso_nearest_off: u32,
    /// May be null.
    pub limits: *const SamplinLimits,
    /// May be null.
    pub features: *const SamplinFeatures,
    /// May be null if there are none.
    pub formats: *const SamplinFormat,
    /// How many formats there are.
    pub format_count: usize,
}

/// What a sampler asks for: the members of `VkSamplerCreateInfo` and of the structures in its chain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinSampler {
    /// `sizeof(SamplinSampler)`.
    pub size: u32,
    /// `flags`.
    pub flags: u32,
    /// `magFilter`.
    pub mag_filter: i32,
    /// `minFilter`.
    pub min_filter: i32,
    /// `mipmapMode`.
    pub mipmap_mode: i32,
    /// `addressModeU`, `addressModeV` and `addressModeW`.
    pub address_mode: [i32; 3],
    /// `mipLodBias`.
    pub mip_lod_bias: f32,
    /// `anisotropyEnable`.
    pub anisotropy_enable: u32,
    /// `maxAnisotropy`.
    pub max_anisotropy: f32,
    /// `compareEnable`.
    pub compare_enable: u32,
    /// `compareOp`.
    pub compare_op: i32,
    /// `minLod`.
    pub min_lod: f32,
    /// `maxLod`.
    pub max_lod: f32,
    /// `borderColor`.
    pub border_color: i32,
    /// `unnormalizedCoordinates`.
    pub unnormalized_coordinates: u32,
    /// `VkSamplerReductionModeCreateInfo` is chained.
    pub has_reduction_mode: u32,
    /// Its `reductionMode`.
    pub reduction_mode: i32,
    /// `VkSamplerCustomBorderColorCreateInfoEXT` is chained.
    pub has_custom_border: u32,
    /// The words of its `customBorderColor`.
    pub custom_border_color: [u32; 4],
    /// Its `format`.
    pub custom_border_format: i32,
    /// `VkSamplerBorderColorComponentMappingCreateInfoEXT` is chained.
    pub has_border_mapping: u32,
    /// Its `components`.
    pub border_components: [i32; 4],
    /// Its `srgb`.
    pub border_srgb: u32,
    /// `VkSamplerCubicWeightsCreateInfoQCOM` is chained.
    pub has_cubic_weights: u32,
    /// Its `cubicWeights`.
    pub cubic_weights: i32,
    /// `VkSamplerBlockMatchWindowCreateInfoQCOM` is chained.
    pub has_block_match: u32,
    /// Its `windowExtent`.
    pub block_match_extent: [u32; 2],
    /// Its `windowCompareMode`.
    pub block_match_compare_mode: i32,
    /// `VkOpaqueCaptureDescriptorDataCreateInfoEXT` is chained.
    pub opaque_capture: u32,
    /// `VkSamplerYcbcrConversionInfo` is chained.
    pub has_ycbcr: u32,
    /// The `chromaFilter` of its conversion.
    pub ycbcr_chroma_filter: i32,
    /// The features of its format allow filters that differ from `chromaFilter`, or are not known.
    pub ycbcr_separate_reconstruction: u32,
    /// The handle of its conversion.
    pub ycbcr_handle: u64,
    /// Anything that equal conversions have in common.
    pub ycbcr_fingerprint: u64,
}

impl SamplinSampler {
    /// The state in Rust.
    pub fn state(&self) -> Sampler {
        let filter = vk::Filter::from_raw;
        Sampler {
            flags: vk::SamplerCreateFlags::from_raw(self.flags),
            mag_filter: filter(self.mag_filter),
            min_filter: filter(self.min_filter),
            mipmap_mode: vk::SamplerMipmapMode::from_raw(self.mipmap_mode),
            address_mode: self.address_mode.map(vk::SamplerAddressMode::from_raw),
            mip_lod_bias: self.mip_lod_bias,
            anisotropy_enable: self.anisotropy_enable != 0,
            max_anisotropy: self.max_anisotropy,
            compare_enable: self.compare_enable != 0,
            compare_op: vk::CompareOp::from_raw(self.compare_op),
            min_lod: self.min_lod,
            max_lod: self.max_lod,
            border_color: vk::BorderColor::from_raw(self.border_color),
            unnormalized_coordinates: self.unnormalized_coordinates != 0,
            reduction_mode: (self.has_reduction_mode != 0)
                .then(|| vk::SamplerReductionMode::from_raw(self.reduction_mode)),
            ycbcr: (self.has_ycbcr != 0).then(|| YcbcrConversion {
                handle: self.ycbcr_handle,
                chroma_filter: filter(self.ycbcr_chroma_filter),
                separate_reconstruction: self.ycbcr_separate_reconstruction != 0,
                fingerprint: self.ycbcr_fingerprint,
            }),
            custom_border: (self.has_custom_border != 0).then(|| CustomBorder {
                color: self.custom_border_color,
                format: vk::Format::from_raw(self.custom_border_format),
            }),
            border_mapping: (self.has_border_mapping != 0).then(|| BorderMapping {
                components: self.border_components.map(vk::ComponentSwizzle::from_raw),
                srgb: self.border_srgb != 0,
            }),
            cubic_weights: (self.has_cubic_weights != 0).then_some(self.cubic_weights),
            block_match: (self.has_block_match != 0).then_some(BlockMatchWindow {
                extent: self.block_match_extent,
                compare_mode: self.block_match_compare_mode,
            }),
            opaque_capture: self.opaque_capture != 0,
        }
    }

    /// Of a state in Rust.
    pub fn new(of: &Sampler) -> Self {
        let custom = of.custom_border.unwrap_or(CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED });
        let identity = [vk::ComponentSwizzle::IDENTITY; 4];
        let mapping = of.border_mapping.unwrap_or(BorderMapping { components: identity, srgb: false });
        let window = of.block_match.unwrap_or(BlockMatchWindow { extent: [0; 2], compare_mode: 0 });
        Self {
            size: size::<Self>(),
            flags: of.flags.as_raw(),
            mag_filter: of.mag_filter.as_raw(),
            min_filter: of.min_filter.as_raw(),
            mipmap_mode: of.mipmap_mode.as_raw(),
            address_mode: of.address_mode.map(vk::SamplerAddressMode::as_raw),
            mip_lod_bias: of.mip_lod_bias,
            anisotropy_enable: of.anisotropy_enable.into(),
            max_anisotropy: of.max_anisotropy,
            compare_enable: of.compare_enable.into(),
            compare_op: of.compare_op.as_raw(),
            min_lod: of.min_lod,
            max_lod: of.max_lod,
            border_color: of.border_color.as_raw(),
            unnormalized_coordinates: of.unnormalized_coordinates.into(),
            has_reduction_mode: of.reduction_mode.is_some().into(),
            reduction_mode: of.reduction_mode.unwrap_or_default().as_raw(),
            has_custom_border: of.custom_border.is_some().into(),
            custom_border_color: custom.color,
            custom_border_format: custom.format.as_raw(),
            has_border_mapping: of.border_mapping.is_some().into(),
            border_components: mapping.components.map(vk::ComponentSwizzle::as_raw),
            border_srgb: mapping.srgb.into(),
            has_cubic_weights: of.cubic_weights.is_some().into(),
            cubic_weights: of.cubic_weights.unwrap_or(0),
            has_block_match: of.block_match.is_some().into(),
            block_match_extent: window.extent,
            block_match_compare_mode: window.compare_mode,
            opaque_capture: of.opaque_capture.into(),
            has_ycbcr: of.ycbcr.is_some().into(),
            ycbcr_chroma_filter: of.ycbcr.map_or(0, |ycbcr| ycbcr.chroma_filter.as_raw()),
            ycbcr_separate_reconstruction: of.ycbcr.is_some_and(|ycbcr| ycbcr.separate_reconstruction).into(),
            ycbcr_handle: of.ycbcr.map_or(0, |ycbcr| ycbcr.handle),
            ycbcr_fingerprint: of.ycbcr.map_or(0, |ycbcr| ycbcr.fingerprint),
        }
    }
}

/// An image view, and what matters of its image. `samplin_view_2d` fills in the usual one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinView {
    /// `sizeof(SamplinView)`.
    pub size: u32,
    /// `format` of the view.
    pub format: i32,
    /// `viewType`.
    pub view_type: i32,
    /// `components`.
    pub components: [i32; 4],
    /// `subresourceRange.aspectMask`.
    pub aspect_mask: u32,
    /// `subresourceRange.baseMipLevel`.
    pub base_mip_level: u32,
    /// `subresourceRange.levelCount`.
    pub level_count: u32,
    /// `subresourceRange.baseArrayLayer`.
    pub base_array_layer: u32,
    /// `subresourceRange.layerCount`.
    pub layer_count: u32,
    /// The usage of the view, which is the image's unless `VkImageViewUsageCreateInfo` is chained.
    pub usage: u32,
    /// A `VkSamplerYcbcrConversion` is chained.
    pub has_conversion: u32,
    /// The device was asked about the image, and answered without `filterCubic`.
    pub lacks_filter_cubic: u32,
    /// The same without `filterCubicMinmax`.
    pub lacks_filter_cubic_minmax: u32,
    /// How shaders read it: 0 if that is not known, 1 if none compares, 2 if one does.
    pub reads: u32,
    /// `imageType`.
    pub image_type: i32,
    /// `tiling` of the image.
    pub image_tiling: i32,
    /// `flags` of the image.
    pub image_flags: u32,
    /// `mipLevels` of the image.
    pub image_levels: u32,
    /// `arrayLayers` of the image.
    pub image_layers: u32,
    /// Its DRM format modifier.
    pub image_modifier: u64,
}

impl SamplinView {
    pub(crate) fn of(&self) -> View {
        let [r, g, b, a] = self.components.map(vk::ComponentSwizzle::from_raw);
        View {
            format: vk::Format::from_raw(self.format),
            view_type: vk::ImageViewType::from_raw(self.view_type),
            components: vk::ComponentMapping { r, g, b, a },
            range: vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::from_raw(self.aspect_mask),
                base_mip_level: self.base_mip_level,
                level_count: self.level_count,
                base_array_layer: self.base_array_layer,
                layer_count: self.layer_count,
            },
            usage: vk::ImageUsageFlags::from_raw(self.usage),
            has_conversion: self.has_conversion != 0,
            filter_cubic: self.lacks_filter_cubic == 0,
            filter_cubic_minmax: self.lacks_filter_cubic_minmax == 0,
            reads: match self.reads {
                1 => Reads::Plain,
                2 => Reads::Compared,
                _ => Reads::Unknown,
            },
            image: Image {
                image_type: vk::ImageType::from_raw(self.image_type),
                tiling: Tiling::of(vk::ImageTiling::from_raw(self.image_tiling)),
                modifier: self.image_modifier,
                flags: vk::ImageCreateFlags::from_raw(self.image_flags),
                levels: self.image_levels,
                layers: self.image_layers,
            },
        }
    }

    /// Of a view in Rust.
    pub fn new(of: &View) -> Self {
        let (range, image, components) = (of.range, of.image, of.components);
        Self {
            size: size::<Self>(),
            format: of.format.as_raw(),
            view_type: of.view_type.as_raw(),
            components: [components.r, components.g, components.b, components.a].map(vk::ComponentSwizzle::as_raw),
            aspect_mask: range.aspect_mask.as_raw(),
            base_mip_level: range.base_mip_level,
            level_count: range.level_count,
            base_array_layer: range.base_array_layer,
            layer_count: range.layer_count,
            usage: of.usage.as_raw(),
            has_conversion: of.has_conversion.into(),
            lacks_filter_cubic: (!of.filter_cubic).into(),
            lacks_filter_cubic_minmax: (!of.filter_cubic_minmax).into(),
            reads: match of.reads {
                Reads::Unknown => 0,
                Reads::Plain => 1,
                Reads::Compared => 2,
            },
            image_type: image.image_type.as_raw(),
            image_tiling: match image.tiling {
                Tiling::Optimal => vk::ImageTiling::OPTIMAL,
                Tiling::Linear => vk::ImageTiling::LINEAR,
                Tiling::Modifier => vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT,
            }
            .as_raw(),
            image_flags: image.flags.as_raw(),
            image_levels: image.levels,
            image_layers: image.layers,
            image_modifier: image.modifier,
        }
    }
}

/// One member of a create info that had to change.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinChange {
    /// `sizeof(SamplinChange)`.
    pub size: u32,
    /// The stable name of the rule, such as `linear-filter`.
    pub rule: *const c_char,
    /// The row of the catalogue of rules, such as `B-1`.
    pub catalog: *const c_char,
    /// Vulkan's name of the member.
    pub field: *const c_char,
    /// The value before, as Vulkan spells it.
    pub from: *const c_char,
    /// The value after.
    pub to: *const c_char,
    /// Why, in one clause.
    pub because: *const c_char,
    /// The valid usage that the value before breaks; null if no valid-usage id says so.
    pub vuid: *const c_char,
    /// What the application does not get.
    pub lost: *const c_char,
}

/// Something that stays wrong, because only another view or another device could repair it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SamplinUnresolved {
    /// `sizeof(SamplinUnresolved)`.
    pub size: u32,
    /// The stable name of the rule.
    pub rule: *const c_char,
    /// The valid usage that is broken; null if no valid-usage id says so.
    pub vuid: *const c_char,
    /// What is wrong, in a sentence.
    pub because: *const c_char,
}
