//! Which features and extensions a program enables.

use ash::vk;

use crate::decide::DeviceCaps;

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident: $default:literal,)+) => {
        /// The features and extensions that matter for sampling, as **enabled** on the device and not as it supports them.
        ///
        /// The default is nothing, on a device without `VK_KHR_portability_subset`. [`Features::with`] reads ash's structures, and
        /// [`Features::with_extensions`] names of extensions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Features {
            $($(#[$doc])* pub $name: bool,)+
        }

        impl Default for Features {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Features {
            /// The features of capabilities, as they were enabled.
            pub(super) fn write(&self, caps: &mut DeviceCaps) {
                $(caps.$name = self.$name;)+
            }

            pub(super) fn read(caps: &DeviceCaps) -> Self {
                Self { $($name: caps.$name,)+ }
            }
        }
    };
}

features! {
    /// `samplerAnisotropy`.
    sampler_anisotropy: false,
    /// `samplerMirrorClampToEdge`, or `VK_KHR_sampler_mirror_clamp_to_edge`.
    sampler_mirror_clamp_to_edge: false,
    /// `samplerFilterMinmax`, or `VK_EXT_sampler_filter_minmax`.
    sampler_filter_minmax: false,
    /// `samplerYcbcrConversion`.
    sampler_ycbcr_conversion: false,
    /// `customBorderColors`.
    custom_border_colors: false,
    /// `customBorderColorWithoutFormat`.
    custom_border_color_without_format: false,
    /// `borderColorSwizzle`.
    border_color_swizzle: false,
    /// `borderColorSwizzleFromImage`.
    border_color_swizzle_from_image: false,
    /// `nonSeamlessCubeMap`.
    non_seamless_cube_map: false,
    /// `VK_IMG_filter_cubic`.
    filter_cubic_img: false,
    /// `VK_EXT_filter_cubic`.
    filter_cubic_ext: false,
    /// `VK_IMG_filter_linear_2d`.
    filter_linear_2d_img: false,
    /// `cubicRangeClamp`.
    cubic_range_clamp: false,
    /// `selectableCubicWeights`.
    selectable_cubic_weights: false,
    /// `descriptorBufferCaptureReplay`.
    descriptor_buffer_capture_replay: false,
    /// False if `VK_KHR_portability_subset` is enabled and its `samplerMipLodBias` is not.
    sampler_mip_lod_bias: true,
    /// False if `VK_KHR_portability_subset` is enabled and its `mutableComparisonSamplers` is not.
    mutable_comparison_samplers: true,
    /// The program means `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT` by address modes of OpenGL's numbers (`0x2900`, `0x8742`).
    gl_address_modes: false,
    /// An extension is enabled that may bring enumerants which samplin does not know. Such values then stay as they are.
    unknown_extension: false,
}

/// A structure of Vulkan's that says which features are enabled.
pub trait FeatureStructure {
    /// Enables in `features` what the structure enables.
    fn enable(&self, features: &mut Features);
}

impl Features {
    /// These, and what a structure enables.
    #[must_use]
    pub fn with(mut self, structure: &impl FeatureStructure) -> Self {
        structure.enable(&mut self);
        self
    }

    /// These, and what the names of enabled extensions mean.
    ///
    /// With `VK_KHR_portability_subset` two features are off that other devices always have, so this comes before its structure.
    #[must_use]
    pub fn with_extensions<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        for name in names {
            match name {
                "VK_KHR_sampler_mirror_clamp_to_edge" => self.sampler_mirror_clamp_to_edge = true,
                "VK_EXT_sampler_filter_minmax" => self.sampler_filter_minmax = true,
                "VK_IMG_filter_cubic" => self.filter_cubic_img = true,
                "VK_EXT_filter_cubic" => self.filter_cubic_ext = true,
                "VK_IMG_filter_linear_2d" => self.filter_linear_2d_img = true,
                "VK_KHR_portability_subset" => {
                    (self.sampler_mip_lod_bias, self.mutable_comparison_samplers) = (false, false);
                }
                _ => {}
            }
        }
        self
    }
}

macro_rules! structures {
    ($($type:ty: $($field:ident)+;)+) => {
        $(impl FeatureStructure for $type {
            fn enable(&self, features: &mut Features) {
                $(features.$field |= self.$field != 0;)+
            }
        })+
    };
}

structures! {
    vk::PhysicalDeviceFeatures: sampler_anisotropy;
    vk::PhysicalDeviceVulkan11Features<'_>: sampler_ycbcr_conversion;
    vk::PhysicalDeviceSamplerYcbcrConversionFeatures<'_>: sampler_ycbcr_conversion;
    vk::PhysicalDeviceVulkan12Features<'_>: sampler_mirror_clamp_to_edge sampler_filter_minmax;
    vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_>: custom_border_colors custom_border_color_without_format;
    vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'_>: border_color_swizzle border_color_swizzle_from_image;
    vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT<'_>: non_seamless_cube_map;
    vk::PhysicalDeviceCubicClampFeaturesQCOM<'_>: cubic_range_clamp;
    vk::PhysicalDeviceCubicWeightsFeaturesQCOM<'_>: selectable_cubic_weights;
    vk::PhysicalDeviceDescriptorBufferFeaturesEXT<'_>: descriptor_buffer_capture_replay;
    vk::PhysicalDevicePortabilitySubsetFeaturesKHR<'_>: sampler_mip_lod_bias mutable_comparison_samplers;
}
