//! The features, extensions and limits that capability files hold, and what an application can use of them.

use serde_json::{Map, Value as Json, json};

/// Features, each with the structure that Vulkan Profiles name it in.
pub const FEATURES: &[(&str, &str)] = &[
    ("samplerAnisotropy", CORE),
    ("imageCubeArray", CORE),
    ("textureCompressionBC", CORE),
    ("textureCompressionETC2", CORE),
    ("textureCompressionASTC_LDR", CORE),
    ("shaderImageGatherExtended", CORE),
    ("shaderResourceMinLod", CORE),
    ("shaderStorageImageExtendedFormats", CORE),
    ("shaderStorageImageReadWithoutFormat", CORE),
    ("shaderStorageImageWriteWithoutFormat", CORE),
    ("sampleRateShading", CORE),
    ("fragmentStoresAndAtomics", CORE),
    ("vertexPipelineStoresAndAtomics", CORE),
    ("samplerMirrorClampToEdge", "VkPhysicalDeviceVulkan12Features"),
    ("samplerFilterMinmax", "VkPhysicalDeviceVulkan12Features"),
    ("samplerYcbcrConversion", "VkPhysicalDeviceSamplerYcbcrConversionFeatures"),
    ("customBorderColors", "VkPhysicalDeviceCustomBorderColorFeaturesEXT"),
    ("customBorderColorWithoutFormat", "VkPhysicalDeviceCustomBorderColorFeaturesEXT"),
    ("borderColorSwizzle", "VkPhysicalDeviceBorderColorSwizzleFeaturesEXT"),
    ("borderColorSwizzleFromImage", "VkPhysicalDeviceBorderColorSwizzleFeaturesEXT"),
    ("nonSeamlessCubeMap", "VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT"),
    ("samplerMipLodBias", "VkPhysicalDevicePortabilitySubsetFeaturesKHR"),
    ("imageViewFormatSwizzle", "VkPhysicalDevicePortabilitySubsetFeaturesKHR"),
    ("imageViewFormatReinterpretation", "VkPhysicalDevicePortabilitySubsetFeaturesKHR"),
];
/// The structure of the features of version 1.0, which every source carries.
pub(crate) const CORE: &str = "VkPhysicalDeviceFeatures";

/// Extensions.
pub const EXTENSIONS: &[&str] = &[
    "VK_KHR_sampler_mirror_clamp_to_edge",
    "VK_EXT_sampler_filter_minmax",
    "VK_EXT_filter_cubic",
    "VK_IMG_filter_cubic",
    "VK_EXT_custom_border_color",
    "VK_EXT_border_color_swizzle",
    "VK_EXT_non_seamless_cube_map",
    "VK_KHR_sampler_ycbcr_conversion",
    "VK_KHR_portability_subset",
    "VK_KHR_format_feature_flags2",
    "VK_EXT_4444_formats",
];

/// Limits, each with the structure that Vulkan Profiles name it in; those of `VkPhysicalDeviceLimits` have none.
pub(crate) const LIMITS: &[(&str, Option<&str>)] = &[
    ("maxSamplerAnisotropy", None),
    ("maxSamplerLodBias", None),
    ("maxSamplerAllocationCount", None),
    ("maxPerStageDescriptorSamplers", None),
    ("maxDescriptorSetSamplers", None),
    ("maxImageDimension2D", None),
    ("mipmapPrecisionBits", None),
    ("subTexelPrecisionBits", None),
    ("minTexelOffset", None),
    ("maxTexelOffset", None),
    ("minTexelGatherOffset", None),
    ("maxTexelGatherOffset", None),
    ("maxCustomBorderColorSamplers", Some("VkPhysicalDeviceCustomBorderColorPropertiesEXT")),
    ("filterMinmaxSingleComponentFormats", Some("VkPhysicalDeviceSamplerFilterMinmaxProperties")),
    ("filterMinmaxImageComponentMapping", Some("VkPhysicalDeviceSamplerFilterMinmaxProperties")),
];

/// What an application can use: features and their extensions or core versions together.
pub fn effective(feature: impl Fn(&str) -> bool, extension: impl Fn(&str) -> bool) -> Json {
    json!({
        "samplerAnisotropy": feature("samplerAnisotropy"),
        "mirrorClampToEdge": feature("samplerMirrorClampToEdge") || extension("VK_KHR_sampler_mirror_clamp_to_edge"),
        "filterMinmax": feature("samplerFilterMinmax") || extension("VK_EXT_sampler_filter_minmax"),
        "filterCubic": extension("VK_EXT_filter_cubic") || extension("VK_IMG_filter_cubic"),
        "customBorderColors": feature("customBorderColors"),
        "customBorderColorWithoutFormat": feature("customBorderColorWithoutFormat"),
        "borderColorSwizzle": feature("borderColorSwizzle"),
        "borderColorSwizzleFromImage": feature("borderColorSwizzleFromImage"),
        "samplerMipLodBias": !extension("VK_KHR_portability_subset") || feature("samplerMipLodBias"),
        "nonSeamlessCubeMap": feature("nonSeamlessCubeMap"),
    })
}

/// What a capability file is made of.
pub(crate) struct Parts {
    /// `device`: what the device and its driver are called.
    pub(crate) device: Json,
    /// Where this is from.
    pub(crate) provenance: Json,
    /// What is known of a feature.
    pub(crate) features: Map<String, Json>,
    /// Extensions that the device supports.
    pub(crate) extensions: Map<String, Json>,
    pub(crate) limits: Map<String, Json>,
    pub(crate) formats: Map<String, Json>,
    /// `formats_covered`.
    pub(crate) covered: Json,
    pub(crate) quirks: Vec<Json>,
}

impl Parts {
    /// The capability file.
    pub(crate) fn file(self, name: &str, kind: &str) -> Json {
        let is = |of: &Map<String, Json>, key: &str| of.get(key) == Some(&Json::Bool(true));
        let effective = effective(|name| is(&self.features, name), |name| is(&self.extensions, name));
        let mut out = json!({
            "schema": crate::SCHEMA,
            "kind": kind,
            "name": name,
            "device": self.device,
            "provenance": self.provenance,
            "features": self.features,
            "extensions": self.extensions,
            "limits": self.limits,
            "effective": effective,
            "formats_covered": self.covered,
            "formats": self.formats,
        });
        if !self.quirks.is_empty() {
            out["quirks"] = self.quirks.into();
        }
        out
    }
}
