//! Abilities of a device that sampling depends on: one table of what each is called, where applications find and enable it, and what
//! cannot be without it.
//!
//! Sources: *Features*, "Feature Requirements" (which feature an extension or a core version demands), the extensions' dependencies
//! in the registry, and for formats the features' own descriptions ("must be supported in `optimalTilingFeatures`").

use core::ffi::CStr;
use core::mem::offset_of;

use ash::vk::{self, FormatFeatureFlags2 as Feature, TaggedStructure};

use crate::decide::DeviceCaps;

/// A `VkBool32` in a structure of features.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Type of the structure.
    pub s_type: vk::StructureType,
    /// Place of the member in it, in bytes.
    pub offset: usize,
}

/// One ability.
#[derive(Clone, Copy, Debug)]
pub struct Ability {
    /// Name in traces, and in `needs`: Vulkan's, of the feature or of the extension.
    pub name: &'static str,
    /// Name in the member `effective` of capability files; empty if they do not know it.
    pub file: &'static str,
    /// What decisions look at; `None` where no decision does.
    pub field: Option<fn(&mut DeviceCaps) -> &mut bool>,
    /// Where applications find and enable the feature.
    pub members: &'static [Member],
    /// Extensions that must not be supported without it.
    pub extensions: &'static [&'static CStr],
    /// Enabling the first of the extensions enables it, without a feature.
    pub by_extension: bool,
    /// Every device has it that does not enable `VK_KHR_portability_subset`.
    pub unless_portability: bool,
    /// Other abilities, by name, without which it must not be supported.
    pub needs: &'static [&'static str],
    /// Formats (first and last number) that must have the format features, with optimal tiling, if it is supported.
    pub formats: (&'static [(i32, i32)], Feature),
    /// Core version that demands it.
    pub since: Option<u32>,
}

const V14: u32 = vk::make_api_version(0, 1, 4, 0);
/// What textures of a compressed format must be good for.
const TEXTURE: Feature = Feature::from_raw(
    Feature::SAMPLED_IMAGE.as_raw() | Feature::BLIT_SRC.as_raw() | Feature::SAMPLED_IMAGE_FILTER_LINEAR.as_raw(),
);
/// The formats of `shaderStorageImageExtendedFormats`.
const EXTENDED: &[(i32, i32)] =
    &[(9, 10), (13, 14), (16, 17), (20, 21), (64, 64), (68, 68), (70, 71), (74, 78), (81, 83), (91, 92), (122, 122)];

const NONE: Ability = Ability {
    name: "",
    file: "",
    field: None,
    members: &[],
    extensions: &[],
    by_extension: false,
    unless_portability: false,
    needs: &[],
    formats: (&[], Feature::empty()),
    since: None,
};

macro_rules! at {
    ($type:ident . $($field:ident).+) => {
        Member {
            s_type: <vk::$type<'static> as TaggedStructure>::STRUCTURE_TYPE,
            offset: offset_of!(vk::$type<'static>, $($field).+),
        }
    };
}

/// Every ability; those with a field in the order of the trace.
pub const ABILITIES: &[Ability] = &[
    Ability {
        name: "samplerAnisotropy",
        file: "samplerAnisotropy",
        field: Some(|caps| &mut caps.sampler_anisotropy),
        members: &[at!(PhysicalDeviceFeatures2.features.sampler_anisotropy)],
        since: Some(V14),
        ..NONE
    },
    Ability {
        name: "samplerMirrorClampToEdge",
        file: "mirrorClampToEdge",
        field: Some(|caps| &mut caps.sampler_mirror_clamp_to_edge),
        members: &[at!(PhysicalDeviceVulkan12Features.sampler_mirror_clamp_to_edge)],
        extensions: &[ash::khr::sampler_mirror_clamp_to_edge::NAME],
        by_extension: true,
        since: Some(V14),
        ..NONE
    },
    Ability {
        name: "samplerFilterMinmax",
        file: "filterMinmax",
        field: Some(|caps| &mut caps.sampler_filter_minmax),
        members: &[at!(PhysicalDeviceVulkan12Features.sampler_filter_minmax)],
        extensions: &[ash::ext::sampler_filter_minmax::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "samplerYcbcrConversion",
        field: Some(|caps| &mut caps.sampler_ycbcr_conversion),
        members: &[
            at!(PhysicalDeviceVulkan11Features.sampler_ycbcr_conversion),
            at!(PhysicalDeviceSamplerYcbcrConversionFeatures.sampler_ycbcr_conversion),
        ],
        ..NONE
    },
    Ability {
        name: "customBorderColors",
        file: "customBorderColors",
        field: Some(|caps| &mut caps.custom_border_colors),
        members: &[at!(PhysicalDeviceCustomBorderColorFeaturesEXT.custom_border_colors)],
        extensions: &[ash::ext::custom_border_color::NAME],
        ..NONE
    },
    Ability {
        name: "customBorderColorWithoutFormat",
        file: "customBorderColorWithoutFormat",
        field: Some(|caps| &mut caps.custom_border_color_without_format),
        members: &[at!(PhysicalDeviceCustomBorderColorFeaturesEXT.custom_border_color_without_format)],
        needs: &["customBorderColors"],
        ..NONE
    },
    Ability {
        name: "borderColorSwizzle",
        file: "borderColorSwizzle",
        field: Some(|caps| &mut caps.border_color_swizzle),
        members: &[at!(PhysicalDeviceBorderColorSwizzleFeaturesEXT.border_color_swizzle)],
        extensions: &[ash::ext::border_color_swizzle::NAME],
        needs: &["customBorderColors"],
        ..NONE
    },
    Ability {
        name: "borderColorSwizzleFromImage",
        file: "borderColorSwizzleFromImage",
        field: Some(|caps| &mut caps.border_color_swizzle_from_image),
        members: &[at!(PhysicalDeviceBorderColorSwizzleFeaturesEXT.border_color_swizzle_from_image)],
        needs: &["borderColorSwizzle"],
        ..NONE
    },
    Ability {
        name: "nonSeamlessCubeMap",
        file: "nonSeamlessCubeMap",
        field: Some(|caps| &mut caps.non_seamless_cube_map),
        members: &[at!(PhysicalDeviceNonSeamlessCubeMapFeaturesEXT.non_seamless_cube_map)],
        extensions: &[ash::ext::non_seamless_cube_map::NAME],
        ..NONE
    },
    Ability {
        name: "VK_IMG_filter_cubic",
        file: "filterCubic",
        field: Some(|caps| &mut caps.filter_cubic_img),
        extensions: &[ash::img::filter_cubic::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "VK_EXT_filter_cubic",
        file: "filterCubic",
        field: Some(|caps| &mut caps.filter_cubic_ext),
        extensions: &[ash::ext::filter_cubic::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "VK_IMG_filter_linear_2d",
        field: Some(|caps| &mut caps.filter_linear_2d_img),
        extensions: &[c"VK_IMG_filter_linear_2d"],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "cubicRangeClamp",
        field: Some(|caps| &mut caps.cubic_range_clamp),
        members: &[at!(PhysicalDeviceCubicClampFeaturesQCOM.cubic_range_clamp)],
        extensions: &[ash::qcom::filter_cubic_clamp::NAME],
        needs: &["VK_EXT_filter_cubic"],
        ..NONE
    },
    Ability {
        name: "selectableCubicWeights",
        field: Some(|caps| &mut caps.selectable_cubic_weights),
        members: &[at!(PhysicalDeviceCubicWeightsFeaturesQCOM.selectable_cubic_weights)],
        extensions: &[ash::qcom::filter_cubic_weights::NAME],
        needs: &["VK_EXT_filter_cubic"],
        ..NONE
    },
    Ability {
        name: "descriptorBufferCaptureReplay",
        field: Some(|caps| &mut caps.descriptor_buffer_capture_replay),
        members: &[at!(PhysicalDeviceDescriptorBufferFeaturesEXT.descriptor_buffer_capture_replay)],
        ..NONE
    },
    Ability {
        name: "samplerMipLodBias",
        file: "samplerMipLodBias",
        field: Some(|caps| &mut caps.sampler_mip_lod_bias),
        members: &[at!(PhysicalDevicePortabilitySubsetFeaturesKHR.sampler_mip_lod_bias)],
        unless_portability: true,
        ..NONE
    },
    Ability {
        name: "mutableComparisonSamplers",
        field: Some(|caps| &mut caps.mutable_comparison_samplers),
        members: &[at!(PhysicalDevicePortabilitySubsetFeaturesKHR.mutable_comparison_samplers)],
        unless_portability: true,
        ..NONE
    },
    Ability {
        name: "VK_KHR_maintenance2",
        field: Some(|caps| &mut caps.view_usage),
        extensions: &[ash::khr::maintenance2::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "imagelessFramebuffer",
        field: Some(|caps| &mut caps.imageless_framebuffer),
        members: &[
            at!(PhysicalDeviceVulkan12Features.imageless_framebuffer),
            at!(PhysicalDeviceImagelessFramebufferFeatures.imageless_framebuffer),
        ],
        extensions: &[ash::khr::imageless_framebuffer::NAME],
        ..NONE
    },
    Ability {
        name: "sampleRateShading",
        file: "sampleRateShading",
        field: Some(|caps| &mut caps.sample_rate_shading),
        members: &[at!(PhysicalDeviceFeatures2.features.sample_rate_shading)],
        ..NONE
    },
    Ability {
        name: "shaderStorageImageReadWithoutFormat",
        file: "shaderStorageImageReadWithoutFormat",
        field: Some(|caps| &mut caps.storage_read_without_format),
        members: &[at!(PhysicalDeviceFeatures2.features.shader_storage_image_read_without_format)],
        ..NONE
    },
    Ability {
        name: "shaderStorageImageWriteWithoutFormat",
        file: "shaderStorageImageWriteWithoutFormat",
        field: Some(|caps| &mut caps.storage_write_without_format),
        members: &[at!(PhysicalDeviceFeatures2.features.shader_storage_image_write_without_format)],
        ..NONE
    },
    Ability {
        name: "VK_KHR_format_feature_flags2",
        field: Some(|caps| &mut caps.format_feature_flags2),
        extensions: &[ash::khr::format_feature_flags2::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "shaderDrawParameters",
        field: Some(|caps| &mut caps.shader_draw_parameters),
        members: &[
            at!(PhysicalDeviceVulkan11Features.shader_draw_parameters),
            at!(PhysicalDeviceShaderDrawParametersFeatures.shader_draw_parameters),
        ],
        extensions: &[ash::khr::shader_draw_parameters::NAME],
        by_extension: true,
        ..NONE
    },
    Ability {
        name: "fragmentStoresAndAtomics",
        file: "fragmentStoresAndAtomics",
        field: Some(|caps| &mut caps.fragment_stores),
        members: &[at!(PhysicalDeviceFeatures2.features.fragment_stores_and_atomics)],
        ..NONE
    },
    Ability {
        name: "vertexPipelineStoresAndAtomics",
        file: "vertexPipelineStoresAndAtomics",
        field: Some(|caps| &mut caps.vertex_stores),
        members: &[at!(PhysicalDeviceFeatures2.features.vertex_pipeline_stores_and_atomics)],
        ..NONE
    },
    Ability { name: "VK_SAMPLIN_gl_shaders", field: Some(|caps| &mut caps.gl_shaders), ..NONE },
    Ability { name: "VK_SAMPLIN_gl_address_modes", field: Some(|caps| &mut caps.gl_address_modes), ..NONE },
    Ability { name: "VK_SAMPLIN_unknown_extension", field: Some(|caps| &mut caps.unknown_extension), ..NONE },
    Ability {
        name: "textureCompressionBC",
        members: &[at!(PhysicalDeviceFeatures2.features.texture_compression_bc)],
        formats: (&[(131, 146)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "textureCompressionETC2",
        members: &[at!(PhysicalDeviceFeatures2.features.texture_compression_etc2)],
        formats: (&[(147, 156)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "textureCompressionASTC_LDR",
        members: &[at!(PhysicalDeviceFeatures2.features.texture_compression_astc_ldr)],
        formats: (&[(157, 184)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "textureCompressionASTC_HDR",
        members: &[
            at!(PhysicalDeviceVulkan13Features.texture_compression_astc_hdr),
            at!(PhysicalDeviceTextureCompressionASTCHDRFeatures.texture_compression_astc_hdr),
        ],
        extensions: &[ash::ext::texture_compression_astc_hdr::NAME],
        formats: (&[(1_000_066_000, 1_000_066_013)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "formatA4R4G4B4",
        members: &[at!(PhysicalDevice4444FormatsFeaturesEXT.format_a4r4g4b4)],
        extensions: &[ash::ext::_4444_formats::NAME],
        formats: (&[(1_000_340_000, 1_000_340_000)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "formatA4B4G4R4",
        members: &[at!(PhysicalDevice4444FormatsFeaturesEXT.format_a4b4g4r4)],
        needs: &["formatA4R4G4B4"],
        formats: (&[(1_000_340_001, 1_000_340_001)], TEXTURE),
        ..NONE
    },
    Ability {
        name: "shaderStorageImageExtendedFormats",
        members: &[at!(PhysicalDeviceFeatures2.features.shader_storage_image_extended_formats)],
        formats: (EXTENDED, Feature::STORAGE_IMAGE),
        since: Some(V14),
        ..NONE
    },
];

/// `nullDescriptor`, on which no decision depends.
pub const NULL_DESCRIPTOR: Ability = Ability {
    name: "nullDescriptor",
    members: &[at!(PhysicalDeviceRobustness2FeaturesEXT.null_descriptor)],
    extensions: &[ash::ext::robustness2::NAME],
    ..NONE
};

/// `privateData`, with which handles are unique; no decision depends on it.
pub const PRIVATE_DATA: Ability = Ability {
    name: "privateData",
    members: &[at!(PhysicalDeviceVulkan13Features.private_data), at!(PhysicalDevicePrivateDataFeatures.private_data)],
    extensions: &[ash::ext::private_data::NAME],
    ..NONE
};

impl Ability {
    /// The ability of a name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        ABILITIES.iter().find(|ability| ability.name == name)
    }
}

/// What the layer may add to a device, each with what it is added for.
pub const ADDED: [(&str, &str); 17] = [
    ("VK_EXT_custom_border_color", "variants have border colours of their own, with the format of their view"),
    ("VK_EXT_border_color_swizzle", "variants tell the device the mapping of their view"),
    ("VK_KHR_maintenance2", "views have less usage than their image (VkImageViewUsageCreateInfo)"),
    ("VK_KHR_sampler_mirror_clamp_to_edge", MIRROR_CLAMP),
    ("VK_EXT_sampler_filter_minmax", MINMAX),
    ("samplerMirrorClampToEdge", MIRROR_CLAMP),
    ("samplerFilterMinmax", MINMAX),
    ("samplerAnisotropy", "an override sets anisotropy (VUID-VkSamplerCreateInfo-anisotropyEnable-01070)"),
    (
        "sampleRateShading",
        "shaders run for each sample (VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784)",
    ),
    (
        "shaderStorageImageReadWithoutFormat",
        "shaders read images without a format (VUID-RuntimeSpirv-apiVersion-07955)",
    ),
    (
        "shaderStorageImageWriteWithoutFormat",
        "shaders write images without a format (VUID-RuntimeSpirv-apiVersion-07954)",
    ),
    ("fragmentStoresAndAtomics", "atomic counters are in buffers (VUID-RuntimeSpirv-NonWritable-06340)"),
    ("vertexPipelineStoresAndAtomics", "atomic counters are in buffers (VUID-RuntimeSpirv-NonWritable-06341)"),
    ("imageCubeArray", "views may be arrays of cubes (VUID-VkImageViewCreateInfo-viewType-01004)"),
    ("shaderImageGatherExtended", "gathers may have offsets (VUID-VkShaderModuleCreateInfo-pCode-08740)"),
    (
        "shaderSampledImageArrayDynamicIndexing",
        "shaders may index samplers and sampled images (VUID-VkShaderModuleCreateInfo-pCode-08740)",
    ),
    ("shaderResourceMinLod", "instructions may limit the level (VUID-VkShaderModuleCreateInfo-pCode-08740)"),
];
const MIRROR_CLAMP: &str = "MIRROR_CLAMP_TO_EDGE is legal (VUID-VkSamplerCreateInfo-addressModeU-01079)";
const MINMAX: &str = "MIN and MAX are legal (VUID-VkSamplerCreateInfo-pNext-06726)";

/// What an extension or feature that the application did not ask for was added for.
pub fn added_for(name: &str) -> Option<&'static str> {
    ADDED.iter().find(|(added, _)| *added == name).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_needs_exist() {
        for (index, ability) in ABILITIES.iter().enumerate() {
            assert!(ABILITIES[..index].iter().all(|other| other.name != ability.name), "{}", ability.name);
            for needed in ability.needs {
                // Named before, so that no two can need each other.
                assert!(ABILITIES[..index].iter().any(|other| other.name == *needed), "{needed}");
            }
            assert!(!ability.by_extension || !ability.extensions.is_empty(), "{}", ability.name);
            assert_eq!(ability.formats.0.is_empty(), ability.formats.1.is_empty(), "{}", ability.name);
        }
    }
}
