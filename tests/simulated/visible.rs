//! A simulated device that the application sees is one consistent device: what the conformance tests ask of any device.
//!
//! What the driver itself does not keep is not held against the simulation.

use super::{F, Outcome, build, simulate};
use ash::vk::{self, FormatFeatureFlags as Feature, ImageUsageFlags as Usage, TaggedStructure};
use samplin_testkit::Context;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_void};
use std::path::Path;

/// A structure of features of any type: header and bits.
#[repr(C)]
struct Bits {
    s_type: i32,
    p_next: *mut c_void,
    bits: [u32; 126],
}

impl Bits {
    fn new(s_type: i32) -> Self {
        Self { s_type, p_next: std::ptr::null_mut(), bits: [0; 126] }
    }

    /// What the device supports of this structure.
    fn query(context: &Context, s_type: i32) -> Self {
        let mut out = Self::new(s_type);
        let mut two = vk::PhysicalDeviceFeatures2::default();
        let itself = s_type == vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE.as_raw();
        if !itself {
            two.p_next = (&raw mut out).cast();
        }
        // SAFETY: version 1.1, and a chain of live locals that is long enough for any such structure.
        unsafe { context.instance().get_physical_device_features2(context.physical_device(), &mut two) };
        if itself {
            // SAFETY: the structure is 55 words.
            let words: [u32; 55] = unsafe { std::mem::transmute(two.features) };
            out.bits[..55].copy_from_slice(&words);
        }
        out
    }
}

fn extensions(context: &Context) -> BTreeSet<String> {
    // SAFETY: the physical device belongs to the instance.
    let all = unsafe { context.instance().enumerate_device_extension_properties(context.physical_device()) };
    let all = all.expect("extensions");
    all.iter().map(|p| p.extension_name_as_c_str().expect("a name").to_str().expect("UTF-8").to_owned()).collect()
}

fn version(context: &Context) -> u32 {
    // SAFETY: as above.
    unsafe { context.instance().get_physical_device_properties(context.physical_device()) }.api_version
}

/// `dEQP-VK.info.device_mandatory_features`, for every extension and core version: what the registry demands and is not there.
fn undelivered(context: &Context) -> BTreeSet<String> {
    let (names, version) = (extensions(context), version(context));
    let supported = |need: &str| match need.strip_prefix("VK_VERSION_1_") {
        Some(minor) => version >= vk::make_api_version(0, 1, minor.parse().expect("a number"), 0),
        None => names.contains(need),
    };
    let table = include_str!("../data/mandatory-features.tsv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    let mut asked = 0;
    let mut out = BTreeSet::new();
    for row in rows.filter(|row| row[0].split(' ').all(supported)) {
        let bits = Bits::query(context, row[1].parse().expect("a number"));
        let mut any = row[4].split(' ').map(|index| bits.bits[index.parse::<usize>().expect("a number")]);
        if !any.any(|bit| bit != 0) {
            out.insert(format!("{} for {}", row[3], row[0]));
        }
        asked += 1;
    }
    assert!(asked > 50, "{asked} demands");
    // Dependencies of extensions (registry, `depends`).
    for (extension, needed) in [
        ("VK_EXT_border_color_swizzle", "VK_EXT_custom_border_color"),
        ("VK_QCOM_filter_cubic_clamp", "VK_EXT_filter_cubic"),
        ("VK_QCOM_filter_cubic_weights", "VK_EXT_filter_cubic"),
    ] {
        if supported(extension) && !supported(needed) {
            out.insert(format!("{needed} for {extension}"));
        }
    }
    out
}

/// Creates a device with these extensions and structure of features.
fn create(context: &Context, extensions: &[&CStr], features: Option<&Bits>) -> vk::Result {
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let priority = [1.0];
    let queue =
        vk::DeviceQueueCreateInfo::default().queue_family_index(context.queue_family()).queue_priorities(&priority);
    let queues = [queue];
    let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    let plain: vk::PhysicalDeviceFeatures;
    if let Some(features) = features {
        if features.s_type == vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE.as_raw() {
            let words: [u32; 55] = features.bits[..55].try_into().expect("as many");
            // SAFETY: the structure is 55 words.
            plain = unsafe { std::mem::transmute::<[u32; 55], vk::PhysicalDeviceFeatures>(words) };
            info = info.enabled_features(&plain);
        } else {
            info.p_next = std::ptr::from_ref(features).cast();
        }
    }
    // SAFETY: a create info whose features may be unsupported, which is what the result is for.
    match unsafe { context.instance().create_device(context.physical_device(), &info, None) } {
        Ok(device) => {
            // SAFETY: nothing of it is in use.
            unsafe { device.destroy_device(None) };
            vk::Result::SUCCESS
        }
        Err(error) => error,
    }
}

/// `dEQP-VK.api.device_init.create_device_unsupported_features.*`: what of the structures that samplin knows can be enabled although
/// it is not supported.
fn accepted(context: &Context) -> Vec<String> {
    let names = extensions(context);
    let mut out = Vec::new();
    let mut refused = 0;
    for (s_type, count, extension) in [
        (vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE, 55, None),
        (vk::PhysicalDeviceVulkan11Features::STRUCTURE_TYPE, 12, None),
        (vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE, 47, None),
        (vk::PhysicalDeviceVulkan13Features::STRUCTURE_TYPE, 15, None),
        (vk::PhysicalDeviceTextureCompressionASTCHDRFeatures::STRUCTURE_TYPE, 1, None),
        (vk::PhysicalDeviceCustomBorderColorFeaturesEXT::STRUCTURE_TYPE, 2, Some(ash::ext::custom_border_color::NAME)),
        (
            vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::STRUCTURE_TYPE,
            2,
            Some(ash::ext::border_color_swizzle::NAME),
        ),
        (
            vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT::STRUCTURE_TYPE,
            1,
            Some(ash::ext::non_seamless_cube_map::NAME),
        ),
        (vk::PhysicalDevice4444FormatsFeaturesEXT::STRUCTURE_TYPE, 2, Some(ash::ext::_4444_formats::NAME)),
    ] {
        let supported = Bits::query(context, s_type.as_raw());
        let enabled: Vec<&CStr> =
            extension.into_iter().filter(|name| names.contains(name.to_str().expect("ASCII"))).collect();
        for index in (0..count).filter(|index| supported.bits[*index] == 0) {
            let mut features = Bits::new(s_type.as_raw());
            features.bits[index] = 1;
            match create(context, &enabled, Some(&features)) {
                vk::Result::ERROR_FEATURE_NOT_PRESENT => refused += 1,
                other => out.push(format!("{s_type:?} bit {index}: {other:?}")),
            }
        }
    }
    assert!(refused > 0, "there is always something that a software driver lacks");
    out
}

/// Formats of version 1.0, and those of an extension that files list.
fn formats() -> impl Iterator<Item = F> {
    let more =
        [1_000_156_002, 1_000_156_003, 1_000_340_000, 1_000_340_001].into_iter().chain(1_000_066_000..=1_000_066_013);
    (1..=184).chain(more).map(F::from_raw)
}

/// Usages, and the format features of which each needs one.
const USAGES: [(Usage, Feature); 7] = [
    (Usage::SAMPLED, Feature::SAMPLED_IMAGE),
    (Usage::STORAGE, Feature::STORAGE_IMAGE),
    (Usage::COLOR_ATTACHMENT, Feature::COLOR_ATTACHMENT),
    (Usage::DEPTH_STENCIL_ATTACHMENT, Feature::DEPTH_STENCIL_ATTACHMENT),
    (
        Usage::INPUT_ATTACHMENT,
        Feature::from_raw(Feature::COLOR_ATTACHMENT.as_raw() | Feature::DEPTH_STENCIL_ATTACHMENT.as_raw()),
    ),
    (Usage::TRANSFER_SRC, Feature::TRANSFER_SRC),
    (Usage::TRANSFER_DST, Feature::TRANSFER_DST),
];

/// What a context says of creating an image of a format, tiling and type, for the usage of that number.
type Answer = (F, vk::ImageTiling, vk::ImageType, usize, Result<vk::ImageFormatProperties, vk::Result>);

fn images(context: &Context) -> Vec<Answer> {
    let mut out = Vec::new();
    for format in formats() {
        for tiling in [vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR] {
            for ty in [vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D] {
                for (number, (usage, _)) in USAGES.iter().enumerate() {
                    let mut one = vk::ImageFormatProperties::default();
                    let (physical, fns) = (context.physical_device(), context.instance().fp_v1_0());
                    // SAFETY: parameters of their types, and a live local.
                    let result = unsafe {
                        let get = fns.get_physical_device_image_format_properties;
                        get(physical, format, ty, tiling, *usage, vk::ImageCreateFlags::empty(), &mut one)
                    };
                    let info = vk::PhysicalDeviceImageFormatInfo2::default().format(format).ty(ty).tiling(tiling);
                    let mut two = vk::ImageFormatProperties2::default();
                    two.image_format_properties.max_mip_levels = 77;
                    // SAFETY: as above.
                    let again = unsafe {
                        let get = context.instance().fp_v1_1().get_physical_device_image_format_properties2;
                        get(physical, &info.usage(*usage), &mut two)
                    };
                    let two = two.image_format_properties;
                    assert_eq!(again, result, "{format:?} {tiling:?} {ty:?} {usage:?}: the two queries agree");
                    if result != vk::Result::SUCCESS {
                        let zero = two.max_mip_levels == 0 && two.max_array_layers == 0 && two.max_resource_size == 0;
                        assert!(zero, "{format:?} {tiling:?} {ty:?} {usage:?}: all members are zero, not {two:?}");
                    }
                    out.push((format, tiling, ty, number, result.result_with_success(one)));
                }
            }
        }
    }
    out
}

/// `dEQP-VK.api.info.image_format_properties.*` and `format_properties.*`: what of the queries contradicts the format features.
fn contradictions(context: &Context) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (format, tiling, ty, number, answer) in images(context) {
        let (features, (usage, any)) = (context.format_features(format, tiling), USAGES[number]);
        if answer.is_ok() && (features.is_empty() || !features.intersects(any)) {
            // Without the features, which are others where something is hidden, so that the driver's own can be told apart.
            out.insert(format!("{format:?} {tiling:?} {ty:?} {usage:?}"));
        }
    }
    for format in formats() {
        for tiling in [vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR] {
            let features = context.format_features(format, tiling);
            for (dependent, base) in [
                (Feature::SAMPLED_IMAGE_FILTER_LINEAR, Feature::SAMPLED_IMAGE | Feature::BLIT_SRC),
                (Feature::SAMPLED_IMAGE_FILTER_MINMAX, Feature::SAMPLED_IMAGE),
                (Feature::SAMPLED_IMAGE_FILTER_CUBIC_EXT, Feature::SAMPLED_IMAGE),
                (Feature::STORAGE_IMAGE_ATOMIC, Feature::STORAGE_IMAGE),
                (Feature::COLOR_ATTACHMENT_BLEND, Feature::COLOR_ATTACHMENT),
            ] {
                if features.contains(dependent) && !features.intersects(base) {
                    out.insert(format!("{format:?} {tiling:?}: {features:?}"));
                }
            }
        }
    }
    // Features that promise format features.
    let supported = Bits::query(context, vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE.as_raw());
    let texture = Feature::SAMPLED_IMAGE | Feature::BLIT_SRC | Feature::SAMPLED_IMAGE_FILTER_LINEAR;
    let offset = |of: usize| supported.bits[of / 4] != 0;
    for (on, formats) in [
        (offset(std::mem::offset_of!(vk::PhysicalDeviceFeatures, texture_compression_bc)), 131..=146),
        (offset(std::mem::offset_of!(vk::PhysicalDeviceFeatures, texture_compression_etc2)), 147..=156),
        (offset(std::mem::offset_of!(vk::PhysicalDeviceFeatures, texture_compression_astc_ldr)), 157..=184),
    ] {
        for format in formats.filter(|_| on).map(F::from_raw) {
            if !context.format_features(format, vk::ImageTiling::OPTIMAL).contains(texture) {
                out.insert(format!("{format:?} of a supported compression"));
            }
        }
    }
    out
}

/// The device of a file, shown to the application, breaks no rule that the driver keeps.
pub(crate) fn consistent(path: &Path) -> Outcome {
    let driver = build(&Context::builder())?;
    let hidden = build(&simulate(path).samplin())?;
    let shown = build(&simulate(path).samplin().setting("device_visible", "on"))?;

    let demands: Vec<_> = undelivered(&shown).difference(&undelivered(&driver)).cloned().collect();
    assert!(demands.is_empty(), "{demands:?}");
    let wrong: Vec<_> = contradictions(&shown).difference(&contradictions(&driver)).cloned().collect();
    assert!(wrong.is_empty(), "{} contradictions: {:?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    // A driver that accepts what it does not support may be held back, but nothing more may be accepted.
    let by_driver = accepted(&driver);
    let more: Vec<_> = accepted(&shown).into_iter().filter(|what| !by_driver.contains(what)).collect();
    assert!(more.is_empty(), "{more:?}");

    // An extension that is not shown cannot be enabled; all that is shown can be.
    let (all, left) = (extensions(&driver), extensions(&shown));
    for name in all.difference(&left) {
        let name = CString::new(name.as_str()).expect("a name");
        assert_eq!(create(&shown, &[&name], None), vk::Result::ERROR_EXTENSION_NOT_PRESENT, "{name:?}");
        assert_eq!(create(&hidden, &[&name], None), create(&driver, &[&name], None), "{name:?}");
    }
    for s_type in [vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE, vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE] {
        let features = Bits::query(&shown, s_type.as_raw());
        assert_eq!(create(&shown, &[], Some(&features)), vk::Result::SUCCESS, "{s_type:?}, everything that is shown");
    }

    // Not shown, nothing changes.
    let own = ["VK_SAMPLIN_gl_address_modes", "VK_SAMPLIN_gl_shaders"];
    assert_eq!(extensions(&hidden).difference(&all).collect::<Vec<_>>(), own);
    assert!(all.is_subset(&extensions(&hidden)));
    assert_eq!((undelivered(&hidden), version(&hidden)), (undelivered(&driver), version(&driver)));
    let text = |context| images(context).iter().map(|answer| format!("{answer:?}")).collect::<Vec<_>>();
    assert!(text(&hidden) == text(&driver), "image format queries of a device that is not shown");
    Ok(())
}
