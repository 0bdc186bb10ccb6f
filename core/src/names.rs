//! Vulkan's own spelling of enumerants, for the trace.

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

use ash::vk;
use once_cell::race::OnceBox;

/// `prefix` + the registry's name, or the plain number of a value that the bindings do not know.
fn named(prefix: &str, debug: String) -> String {
    let unknown = debug.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    // Names that would start with a digit are spelled `TYPE_2D` by the bindings.
    if unknown { debug } else { format!("{prefix}{}", debug.strip_prefix("TYPE_").unwrap_or(&debug)) }
}

macro_rules! namer {
    ($($(#[$doc:meta])* $fn:ident($type:ident) = $prefix:literal;)+) => {
        $($(#[$doc])* pub fn $fn(value: vk::$type) -> String { named($prefix, format!("{value:?}")) })+
    };
}

namer! {
    /// `VkFilter`.
    filter(Filter) = "VK_FILTER_";
    /// `VkSamplerMipmapMode`.
    mipmap_mode(SamplerMipmapMode) = "VK_SAMPLER_MIPMAP_MODE_";
    /// `VkCompareOp`.
    compare_op(CompareOp) = "VK_COMPARE_OP_";
    /// `VkBorderColor`.
    border_color(BorderColor) = "VK_BORDER_COLOR_";
    /// `VkSamplerReductionMode`.
    reduction_mode(SamplerReductionMode) = "VK_SAMPLER_REDUCTION_MODE_";
    /// `VkImageType`.
    image_type(ImageType) = "VK_IMAGE_TYPE_";
    /// `VkImageViewType`.
    view_type(ImageViewType) = "VK_IMAGE_VIEW_TYPE_";
    /// `VkChromaLocation`.
    chroma_location(ChromaLocation) = "VK_CHROMA_LOCATION_";
    /// `VkComponentSwizzle`.
    component_swizzle(ComponentSwizzle) = "VK_COMPONENT_SWIZZLE_";
    /// `VkDescriptorType`.
    descriptor_type(DescriptorType) = "VK_DESCRIPTOR_TYPE_";
}

/// `VkSamplerAddressMode`, with OpenGL's names for the two modes that samplin adds.
pub fn address_mode(value: vk::SamplerAddressMode) -> String {
    match value {
        crate::decide::GL_CLAMP => "GL_CLAMP".into(),
        crate::decide::GL_MIRROR_CLAMP => "GL_MIRROR_CLAMP_EXT".into(),
        _ => named("VK_SAMPLER_ADDRESS_MODE_", format!("{value:?}")),
    }
}

/// `VkFormat`.
pub fn format(value: vk::Format) -> String {
    let name = named("VK_FORMAT_", format!("{value:?}"));
    // The registry writes the block size of ASTC formats with a small x.
    match name.strip_prefix("VK_FORMAT_ASTC_") {
        Some(rest) => format!("VK_FORMAT_ASTC_{}", rest.replacen('X', "x", 1)),
        None => name,
    }
}

/// Names of the set bits of `VkSamplerCreateFlags`; bits without a name as a hexadecimal number.
pub fn sampler_flags(flags: vk::SamplerCreateFlags) -> Vec<String> {
    use vk::SamplerCreateFlags as F;
    let known = [
        (F::SUBSAMPLED_EXT, "VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT"),
        (F::SUBSAMPLED_COARSE_RECONSTRUCTION_EXT, "VK_SAMPLER_CREATE_SUBSAMPLED_COARSE_RECONSTRUCTION_BIT_EXT"),
        (F::NON_SEAMLESS_CUBE_MAP_EXT, "VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT"),
        (F::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT, "VK_SAMPLER_CREATE_DESCRIPTOR_BUFFER_CAPTURE_REPLAY_BIT_EXT"),
        (F::IMAGE_PROCESSING_QCOM, "VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM"),
    ];
    let mut rest = flags;
    let mut out = Vec::new();
    for (bit, name) in known {
        if flags.contains(bit) {
            out.push(name.to_owned());
            rest &= !bit;
        }
    }
    if !rest.is_empty() {
        out.push(format!("0x{:x}", rest.as_raw()));
    }
    out
}

/// `FORMAT_LIST_EXT` to `VK_PREFIX_FORMAT_LIST_BIT_EXT`, for each set bit; bits without a name as a hexadecimal number.
fn bit_names(prefix: &str, bits: u64, debug: impl Fn(u64) -> String) -> Vec<String> {
    let set = (0..64).map(|bit| 1 << bit).filter(|bit| bits & bit != 0);
    set.map(|bit| {
        let word = debug(bit);
        if word.is_empty() || word.starts_with(|first: char| first.is_ascii_digit()) {
            return format!("0x{bit:x}");
        }
        let vendor =
            ["_KHR", "_EXT", "_NV", "_AMD", "_QCOM", "_HUAWEI", "_VALVE"].into_iter().find(|v| word.ends_with(v));
        let bare = vendor.and_then(|vendor| word.strip_suffix(vendor)).unwrap_or(&word);
        format!("VK_{prefix}_{bare}_BIT{}", vendor.unwrap_or_default())
    })
    .collect()
}

/// Names of the set bits of a usage of images, whose low half is a `VkImageUsageFlags`.
pub fn image_usage(usage: u64) -> Vec<String> {
    bit_names("IMAGE_USAGE", usage, |bit| {
        u32::try_from(bit).map_or_else(|_| String::new(), |bit| format!("{:?}", vk::ImageUsageFlags::from_raw(bit)))
    })
}

/// Names of the set bits of an aspect mask.
pub fn image_aspects(aspects: u64) -> Vec<String> {
    bit_names("IMAGE_ASPECT", aspects, |bit| {
        u32::try_from(bit).map_or_else(|_| String::new(), |bit| format!("{:?}", vk::ImageAspectFlags::from_raw(bit)))
    })
}

/// Names of the set bits of the create flags of images, whose low half is a `VkImageCreateFlags`.
pub fn image_flags(flags: u64) -> Vec<String> {
    bit_names("IMAGE_CREATE", flags, |bit| {
        u32::try_from(bit).map_or_else(|_| String::new(), |bit| format!("{:?}", vk::ImageCreateFlags::from_raw(bit)))
    })
}

/// The format of that name, the reverse of [`format()`].
pub fn format_by_name(name: &str) -> Option<vk::Format> {
    static BY_NAME: OnceBox<BTreeMap<String, vk::Format>> = OnceBox::new();
    let all = BY_NAME.get_or_init(|| {
        let mut all = BTreeMap::new();
        // One by one: collecting them would sort a list first, with a sort's code.
        all.extend(formats().map(|f| (format(f), f)));
        Box::new(all)
    });
    all.get(name).copied()
}

/// Every format that the bindings have a name for: the core ones, and those of extensions.
pub fn formats() -> impl Iterator<Item = vk::Format> {
    let ranges = [
        1..=184,
        1_000_054_000..=1_000_054_007,
        1_000_066_000..=1_000_066_013,
        1_000_156_000..=1_000_156_033,
        1_000_330_000..=1_000_330_003,
        1_000_340_000..=1_000_340_001,
        1_000_464_000..=1_000_464_000,
        1_000_470_000..=1_000_470_001,
    ];
    ranges.into_iter().flatten().map(vk::Format::from_raw).filter(|f| format(*f).starts_with("VK_"))
}

/// The names of format features, in the 32-bit spelling; bits without a name are left out.
pub fn format_features(features: vk::FormatFeatureFlags2) -> Vec<String> {
    feature_names(features, "VK_FORMAT_FEATURE_")
}

/// The names of format features, in the 64-bit spelling.
pub fn format_features_2(features: vk::FormatFeatureFlags2) -> Vec<String> {
    feature_names(features, "VK_FORMAT_FEATURE_2_")
}

fn feature_names(features: vk::FormatFeatureFlags2, prefix: &str) -> Vec<String> {
    let set = (0..64).map(|bit| vk::FormatFeatureFlags2::from_raw(1 << bit)).filter(|bit| features.contains(*bit));
    set.filter_map(|bit| {
        let name = format!("{bit:?}");
        let constant = name.starts_with(|c: char| c.is_ascii_uppercase());
        // The bindings leave out `_BIT` and, in the 64-bit names, the 2.
        constant.then(|| match name.rsplit_once('_') {
            Some((base, suffix @ ("EXT" | "KHR" | "NV" | "QCOM" | "IMG" | "ARM"))) => {
                format!("{prefix}{base}_BIT_{suffix}")
            }
            _ => format!("{prefix}{name}_BIT"),
        })
    })
    .collect()
}

/// The bare word in a name of a format feature: without `VK_FORMAT_FEATURE_`, `_BIT` and the vendor.
fn feature_word(name: &str) -> &str {
    let word = name.strip_prefix("VK_FORMAT_FEATURE_").unwrap_or(name);
    let word = word.strip_prefix("2_").unwrap_or(word);
    let vendors = ["_KHR", "_EXT", "_IMG", "_NV", "_QCOM"];
    let word = vendors.iter().find_map(|vendor| word.strip_suffix(vendor)).unwrap_or(word);
    word.strip_suffix("_BIT").unwrap_or(word)
}

/// The format feature of that name, in the 32-bit spelling or the 64-bit one.
pub fn format_feature_by_name(name: &str) -> Option<vk::FormatFeatureFlags2> {
    let wanted = feature_word(name);
    (0..64)
        .map(|bit| vk::FormatFeatureFlags2::from_raw(1 << bit))
        .find(|flag| feature_word(&format!("{flag:?}")) == wanted)
}

/// What a word of SPIR-V's is a name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spirv {
    /// A capability.
    Capability,
    /// A builtin.
    BuiltIn,
    /// An image format.
    ImageFormat,
    /// A name of another kind, which nothing looks up by its number.
    Other,
}

/// The words of SPIR-V's that changes name, by kind and number.
const SPIRV: &[(Spirv, u32, &str)] = &[
    (Spirv::Capability, 21, "AtomicStorage"),
    (Spirv::Capability, 35, "SampleRateShading"),
    (Spirv::Capability, 49, "StorageImageExtendedFormats"),
    (Spirv::Capability, 52, "InterpolationFunction"),
    (Spirv::Capability, 55, "StorageImageReadWithoutFormat"),
    (Spirv::Capability, 56, "StorageImageWriteWithoutFormat"),
    (Spirv::Capability, 4445, "AtomicStorageOps"),
    (Spirv::BuiltIn, 5, "VertexId"),
    (Spirv::BuiltIn, 6, "InstanceId"),
    (Spirv::BuiltIn, 18, "SampleId"),
    (Spirv::BuiltIn, 19, "SamplePosition"),
    (Spirv::BuiltIn, 42, "VertexIndex"),
    (Spirv::BuiltIn, 43, "InstanceIndex"),
    (Spirv::ImageFormat, 0, "Unknown"),
    (Spirv::ImageFormat, 1, "Rgba32f"),
    (Spirv::ImageFormat, 2, "Rgba16f"),
    (Spirv::ImageFormat, 3, "R32f"),
    (Spirv::ImageFormat, 4, "Rgba8"),
    (Spirv::ImageFormat, 5, "Rgba8Snorm"),
    (Spirv::ImageFormat, 6, "Rg32f"),
    (Spirv::ImageFormat, 7, "Rg16f"),
    (Spirv::ImageFormat, 8, "R11fG11fB10f"),
    (Spirv::ImageFormat, 9, "R16f"),
    (Spirv::ImageFormat, 10, "Rgba16"),
    (Spirv::ImageFormat, 11, "Rgb10A2"),
    (Spirv::ImageFormat, 12, "Rg16"),
    (Spirv::ImageFormat, 13, "Rg8"),
    (Spirv::ImageFormat, 14, "R16"),
    (Spirv::ImageFormat, 15, "R8"),
    (Spirv::ImageFormat, 16, "Rgba16Snorm"),
    (Spirv::ImageFormat, 17, "Rg16Snorm"),
    (Spirv::ImageFormat, 18, "Rg8Snorm"),
    (Spirv::ImageFormat, 19, "R16Snorm"),
    (Spirv::ImageFormat, 20, "R8Snorm"),
    (Spirv::ImageFormat, 21, "Rgba32i"),
    (Spirv::ImageFormat, 22, "Rgba16i"),
    (Spirv::ImageFormat, 23, "Rgba8i"),
    (Spirv::ImageFormat, 24, "R32i"),
    (Spirv::ImageFormat, 25, "Rg32i"),
    (Spirv::ImageFormat, 26, "Rg16i"),
    (Spirv::ImageFormat, 27, "Rg8i"),
    (Spirv::ImageFormat, 28, "R16i"),
    (Spirv::ImageFormat, 29, "R8i"),
    (Spirv::ImageFormat, 30, "Rgba32ui"),
    (Spirv::ImageFormat, 31, "Rgba16ui"),
    (Spirv::ImageFormat, 32, "Rgba8ui"),
    (Spirv::ImageFormat, 33, "R32ui"),
    (Spirv::ImageFormat, 34, "Rgb10a2ui"),
    (Spirv::ImageFormat, 35, "Rg32ui"),
    (Spirv::ImageFormat, 36, "Rg16ui"),
    (Spirv::ImageFormat, 37, "Rg8ui"),
    (Spirv::ImageFormat, 38, "R16ui"),
    (Spirv::ImageFormat, 39, "R8ui"),
    (Spirv::Other, 0, "AtomicCounter"),
    (Spirv::Other, 0, "StorageBuffer"),
    (Spirv::Other, 0, "AtomicCounterMemory"),
    (Spirv::Other, 0, "UniformMemory"),
    (Spirv::Other, 0, "NonReadable"),
    (Spirv::Other, 0, "NonWritable"),
    (Spirv::Other, 0, "OriginLowerLeft"),
    (Spirv::Other, 0, "OriginUpperLeft"),
    (Spirv::Other, 0, "SPV_KHR_shader_atomic_counter_ops"),
    (Spirv::Other, 0, "Location"),
    (Spirv::Other, 0, SAMPLE),
    (Spirv::Other, 0, "Private"),
    (Spirv::Other, 0, "InterpolateAtSample"),
    (Spirv::Other, 0, "InterpolateAtOffset"),
    (Spirv::Other, 0, UNNAMED),
];

/// The decoration of inputs that are interpolated for each sample.
pub const SAMPLE: &str = "Sample";

/// What a word is called that [`spirv`] has no name of.
const UNNAMED: &str = "unnamed";

/// The name of a word of SPIR-V's that changes name, by kind and number.
pub fn spirv(kind: Spirv, number: u32) -> &'static str {
    let found = SPIRV.iter().find(|(of, at, _)| (*of, *at) == (kind, number));
    found.map_or(UNNAMED, |(.., name)| name)
}

/// The word of SPIR-V's with this name, among those that changes name.
pub fn spirv_by_name(name: &str) -> Option<&'static str> {
    SPIRV.iter().map(|(.., known)| *known).find(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_specifications() {
        assert_eq!(filter(vk::Filter::CUBIC_EXT), "VK_FILTER_CUBIC_EXT");
        assert_eq!(filter(vk::Filter::from_raw(77)), "77");
        assert_eq!(view_type(vk::ImageViewType::TYPE_2D_ARRAY), "VK_IMAGE_VIEW_TYPE_2D_ARRAY");
        assert_eq!(format(vk::Format::ASTC_4X4_UNORM_BLOCK), "VK_FORMAT_ASTC_4x4_UNORM_BLOCK");
        assert_eq!(format(vk::Format::D24_UNORM_S8_UINT), "VK_FORMAT_D24_UNORM_S8_UINT");
        assert_eq!(format_by_name("VK_FORMAT_ASTC_4x4_UNORM_BLOCK"), Some(vk::Format::ASTC_4X4_UNORM_BLOCK));
        assert_eq!(format_by_name("VK_FORMAT_OF_THE_FUTURE"), None);
        for name in [
            "VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_CUBIC_BIT_EXT",
            "VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT",
        ] {
            assert_eq!(
                format_feature_by_name(name),
                Some(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT),
                "{name}"
            );
        }
        assert_eq!(border_color(vk::BorderColor::INT_CUSTOM_EXT), "VK_BORDER_COLOR_INT_CUSTOM_EXT");
        assert_eq!(
            sampler_flags(vk::SamplerCreateFlags::from_raw(0x4000_0004)),
            ["VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT", "0x40000000"]
        );
        assert_eq!(
            image_usage(0x8000_0000_0000_010c),
            [
                "VK_IMAGE_USAGE_SAMPLED_BIT",
                "VK_IMAGE_USAGE_STORAGE_BIT",
                "VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR",
                "0x8000000000000000"
            ]
        );
        assert_eq!(image_flags(0x108), ["VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT", "VK_IMAGE_CREATE_EXTENDED_USAGE_BIT"]);
    }
}
