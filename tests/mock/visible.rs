//! A simulated device that the application sees (`device_visible`): what is hidden cannot be had either. On a driver that has more
//! than those of the test machines.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

use ash::vk;

use crate::driver::{ATTEMPTS, Config, Feature, FormatSupport};
use crate::loader::*;
use crate::pages::Guarded;

const V13: u32 = vk::API_VERSION_1_3;
const V14: u32 = vk::make_api_version(0, 1, 4, 0);
const CLAMP: &CStr = ash::qcom::filter_cubic_clamp::NAME;

/// A capability file.
fn caps(effective: &str, limits: &str, formats: &str) -> File {
    let text = format!(
        r#"{{"schema": "device-caps/1", "name": "mock", "formats_covered": {{}},
            "effective": {{{effective}}}, "limits": {{{limits}}}, "formats": {{{formats}}}}}"#
    );
    File::new("json", text)
}

impl File {
    fn show(&self, visible: &str, change: impl FnOnce(&mut Config)) -> (Arc<Instance>, DeviceInfo) {
        let mut builder = InstanceBuilder::new().driver(|driver| {
            driver.tells_features = true;
            change(driver);
        });
        builder.api_version = V14;
        let info = builder.device_info();
        (builder.set("device", self.path()).set("device_visible", visible).instance(), info)
    }
}

/// Structures of features with one bit set, by what capability files call what each hangs on.
fn chains(memory: &mut Guarded) -> Vec<(&'static str, *const c_void)> {
    macro_rules! with {
        ($name:literal, $type:ident . $($field:ident).+) => {{
            let mut features = vk::$type::default();
            features.$($field).+ = 1;
            ($name, memory.value(features).cast())
        }};
    }
    vec![
        with!("samplerAnisotropy", PhysicalDeviceFeatures2.features.sampler_anisotropy),
        with!("mirrorClampToEdge", PhysicalDeviceVulkan12Features.sampler_mirror_clamp_to_edge),
        with!("filterMinmax", PhysicalDeviceVulkan12Features.sampler_filter_minmax),
        with!("customBorderColors", PhysicalDeviceCustomBorderColorFeaturesEXT.custom_border_colors),
        with!("customBorderColors", PhysicalDeviceCustomBorderColorFeaturesEXT.custom_border_color_without_format),
        with!("customBorderColors", PhysicalDeviceBorderColorSwizzleFeaturesEXT.border_color_swizzle),
        with!("borderColorSwizzle", PhysicalDeviceBorderColorSwizzleFeaturesEXT.border_color_swizzle_from_image),
        with!("nonSeamlessCubeMap", PhysicalDeviceNonSeamlessCubeMapFeaturesEXT.non_seamless_cube_map),
        with!("filterCubic", PhysicalDeviceCubicClampFeaturesQCOM.cubic_range_clamp),
    ]
}

#[test]
fn a_hidden_feature_cannot_be_enabled() {
    let mut memory = Guarded::new();
    for (key, features) in chains(&mut memory) {
        for (said, visible, refused) in [("false", "on", true), ("true", "on", false), ("false", "off", false)] {
            let file = caps(&format!(r#""{key}": {said}"#), "", "");
            let (instance, _) = file.show(visible, |_| ());
            ATTEMPTS.with_borrow_mut(Vec::clear);
            // Nothing but the one bit, and an unknown structure in front.
            let unknown = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(0x7fff_0001),
                p_next: features.cast(),
                ..Default::default()
            };
            let chain = ptr::from_ref(&unknown).cast();
            let info = DeviceInfo { extensions: Vec::new(), features: Default::default(), chain };
            let result = instance.try_device(&info).map(drop);
            let expected = if refused { Err(vk::Result::ERROR_FEATURE_NOT_PRESENT) } else { Ok(()) };
            assert_eq!(result, expected, "{key} {said}, visible {visible}");
            let attempts = ATTEMPTS.with_borrow(Vec::len);
            assert_eq!(attempts == 0, refused, "{key}: what is refused does not reach the driver");
        }
    }
    // The same in pEnabledFeatures.
    for visible in ["on", "off"] {
        let (instance, _) = caps(r#""samplerAnisotropy": false"#, "", "").show(visible, |_| ());
        let result = instance.try_device(&DeviceInfo::default()).map(drop);
        let expected = if visible == "on" { Err(vk::Result::ERROR_FEATURE_NOT_PRESENT) } else { Ok(()) };
        assert_eq!(result, expected);
    }
}

#[test]
fn an_extension_goes_with_the_feature_that_it_demands() {
    for (key, gone) in [
        ("mirrorClampToEdge", vec![ash::khr::sampler_mirror_clamp_to_edge::NAME]),
        ("filterMinmax", vec![ash::ext::sampler_filter_minmax::NAME]),
        ("customBorderColors", vec![ash::ext::custom_border_color::NAME, ash::ext::border_color_swizzle::NAME]),
        ("customBorderColorWithoutFormat", vec![]),
        ("borderColorSwizzle", vec![ash::ext::border_color_swizzle::NAME]),
        ("borderColorSwizzleFromImage", vec![]),
        ("nonSeamlessCubeMap", vec![ash::ext::non_seamless_cube_map::NAME]),
        ("filterCubic", vec![ash::ext::filter_cubic::NAME, CLAMP, ash::qcom::filter_cubic_weights::NAME]),
    ] {
        for visible in ["on", "off"] {
            let file = caps(&format!(r#""{key}": false"#), "", "");
            let (instance, info) = file.show(visible, |_| ());
            let enumerate: vk::PFN_vkEnumerateDeviceExtensionProperties =
                instance.get(c"vkEnumerateDeviceExtensionProperties");
            let mut list = vec![vk::ExtensionProperties::default(); 200];
            let mut count = 200;
            // SAFETY: a valid physical device and room for the count.
            let result = unsafe { enumerate(instance.physical(), ptr::null(), &mut count, list.as_mut_ptr()) };
            assert_eq!(result, SUCCESS);
            let names: Vec<_> = list[..count as usize].iter().map(|p| p.extension_name_as_c_str().unwrap()).collect();
            for name in info.extensions {
                let hidden = visible == "on" && gone.contains(&name);
                assert_eq!(names.contains(&name), !hidden, "{name:?} without {key}");
                let info = DeviceInfo { extensions: vec![name], features: Default::default(), chain: ptr::null() };
                let expected = if hidden { Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) } else { Ok(()) };
                assert_eq!(instance.try_device(&info).map(drop), expected, "{name:?} without {key}");
            }
        }
    }
}

#[test]
fn the_version_is_one_that_does_not_demand_what_is_hidden() {
    // The formats of the file are those of shaderStorageImageExtendedFormats, which version 1.4 demands.
    let numbers = [9, 10, 13, 14, 16, 17, 20, 21, 64, 68, 70, 71, 74, 75, 76, 77, 78, 81, 82, 83, 91, 92, 122];
    let format = |number: &i32| {
        format!(
            r#""VK_FORMAT_{:?}": {{"optimalTilingFeatures": ["VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT"], "linearTilingFeatures": []}}"#,
            vk::Format::from_raw(*number)
        )
    };
    let all = numbers.iter().map(format).collect::<Vec<_>>().join(",");
    for (effective, limits, formats, version, seen) in [
        ("", "", all.as_str(), V14, V14),
        ("", r#""maxSamplerLodBias": 14"#, &all, V14, V14),
        (r#""nonSeamlessCubeMap": false"#, "", &all, V14, V14),
        (r#""samplerAnisotropy": false"#, "", &all, V14, V13),
        (r#""samplerAnisotropy": false"#, "", &all, V13, V13),
        (r#""mirrorClampToEdge": false"#, "", &all, V14, V13),
        ("", r#""maxSamplerLodBias": 2"#, &all, V14, V13),
        ("", "", "", V14, V13),
    ] {
        for visible in ["on", "off"] {
            let file = caps(effective, limits, formats);
            let (instance, _) = file.show(visible, |driver| driver.api_version = version + 7);
            let (mut one, mut two) =
                (vk::PhysicalDeviceProperties::default(), vk::PhysicalDeviceProperties2::default());
            call!(instance.get_properties(instance.physical(), &mut one));
            call!(instance.get_properties2(instance.physical(), &mut two));
            assert_eq!(one.api_version, two.properties.api_version);
            let expected = if visible == "on" { seen } else { version };
            assert_eq!(one.api_version, expected + 7, "{effective}{limits}");
        }
    }
}

const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const MODIFIED: vk::Format = vk::Format::A2R10G10B10_UNORM_PACK32;

/// RGBA8 can be sampled, the depth format only be rendered to, the other one only be blitted from.
const FORMATS: &str = r#"
    "VK_FORMAT_R8G8B8A8_UNORM": {"optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"], "linearTilingFeatures": []},
    "VK_FORMAT_D32_SFLOAT_S8_UINT":
        {"optimalTilingFeatures": ["VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT"], "linearTilingFeatures": []},
    "VK_FORMAT_A2R10G10B10_UNORM_PACK32":
        {"optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT"], "linearTilingFeatures": []}"#;

#[test]
fn image_queries_agree_with_the_format_features() {
    use vk::ImageUsageFlags as U;
    let none = vk::ImageCreateFlags::empty();
    let (optimal, linear) = (vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR);
    let extended = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    for visible in ["on", "off"] {
        let (instance, _) = caps("", "", FORMATS).show(visible, |driver| {
            let all = FormatSupport {
                optimal: Feature::from_raw(0xffff),
                linear: Feature::from_raw(0xffff),
                ..FormatSupport::default()
            };
            let has = [FILTERED, DEPTH, vk::Format::R16_UNORM, vk::Format::A4R4G4B4_UNORM_PACK16];
            driver.formats = has.into_iter().map(|format| (format, all.clone())).collect();
        });
        let physical = instance.physical();
        for (format, tiling, usage, stencil, flags, allowed) in [
            (FILTERED, optimal, U::SAMPLED, U::empty(), none, true),
            (FILTERED, optimal, U::SAMPLED | U::STORAGE, U::empty(), none, false),
            (FILTERED, optimal, U::SAMPLED | U::STORAGE, U::empty(), extended, true),
            (FILTERED, optimal, U::SAMPLED | U::TRANSIENT_ATTACHMENT, U::empty(), none, true),
            (FILTERED, linear, U::SAMPLED, U::empty(), none, false),
            (FILTERED, linear, U::SAMPLED, U::empty(), extended, false),
            (DEPTH, optimal, U::DEPTH_STENCIL_ATTACHMENT, U::empty(), none, true),
            (DEPTH, optimal, U::INPUT_ATTACHMENT, U::empty(), none, true),
            (DEPTH, optimal, U::DEPTH_STENCIL_ATTACHMENT, U::SAMPLED, none, false),
            // A core format that the file does not list, and one of an extension.
            (vk::Format::R16_UNORM, optimal, U::SAMPLED, U::empty(), none, false),
            (vk::Format::A4R4G4B4_UNORM_PACK16, optimal, U::SAMPLED, U::empty(), none, true),
            // What the driver has for another reason than a feature of the format is its own affair.
            (vk::Format::R8_UINT, linear, U::COLOR_ATTACHMENT, U::empty(), none, true),
        ] {
            let what = format!("{format:?} {tiling:?} {usage:?} {stencil:?} {flags:?}, visible {visible}");
            let allowed = allowed || visible == "off";
            let expected = if allowed { SUCCESS } else { vk::Result::ERROR_FORMAT_NOT_SUPPORTED };
            let mut chained = vk::ImageStencilUsageCreateInfo::default().stencil_usage(stencil);
            let mut info = vk::PhysicalDeviceImageFormatInfo2::default()
                .format(format)
                .ty(vk::ImageType::TYPE_2D)
                .tiling(tiling)
                .usage(usage)
                .flags(flags);
            if !stencil.is_empty() {
                info = info.push_next(&mut chained);
            }
            let mut out = vk::ImageFormatProperties2::default();
            let result = call!(instance.get_image_format_properties2(physical, &info, &mut out));
            assert_eq!(result, expected, "{what}");
            assert_eq!(out.image_format_properties.max_mip_levels != 0, allowed, "{what}");
            if !stencil.is_empty() {
                continue;
            }
            let mut out = vk::ImageFormatProperties::default();
            let ty = vk::ImageType::TYPE_2D;
            let result =
                call!(instance.get_image_format_properties(physical, format, ty, tiling, usage, flags, &mut out));
            assert_eq!((result, out.max_mip_levels != 0), (expected, allowed), "{what}");
            if !flags.is_empty() {
                continue;
            }
            let samples = vk::SampleCountFlags::TYPE_1;
            let mut count = 9;
            let (at, out) = (&mut count, ptr::null_mut());
            call!(instance.get_sparse_properties(physical, format, ty, samples, usage, tiling, at, out));
            assert_eq!(count, u32::from(allowed), "{what}");
            let info = vk::PhysicalDeviceSparseImageFormatInfo2::default()
                .format(format)
                .ty(vk::ImageType::TYPE_2D)
                .samples(samples)
                .usage(usage)
                .tiling(tiling);
            count = 9;
            call!(instance.get_sparse_properties2(physical, &info, &mut count, ptr::null_mut()));
            assert_eq!(count, u32::from(allowed), "{what}");
        }
    }
}

#[test]
fn format_features_are_those_that_can_be_together() {
    for visible in ["on", "off"] {
        let (instance, _) = caps("", "", FORMATS).show(visible, |driver| {
            let all = Feature::SAMPLED_IMAGE | Feature::SAMPLED_IMAGE_FILTER_LINEAR;
            let (_, support) = driver.formats.iter_mut().find(|(format, _)| *format == MODIFIED).expect("it is there");
            support.modifiers = vec![(7, all | Feature::BLIT_SRC), (9, Feature::SAMPLED_IMAGE)];
            support.optimal = all | Feature::SAMPLED_IMAGE_DEPTH_COMPARISON;
        });
        let mut items = [vk::DrmFormatModifierProperties2EXT::default(); 2];
        let mut list = vk::DrmFormatModifierPropertiesList2EXT::default().drm_format_modifier_properties(&mut items);
        let mut three = vk::FormatProperties3::default();
        let mut two = vk::FormatProperties2::default().push_next(&mut list).push_next(&mut three);
        call!(instance.get_format_properties2(instance.physical(), MODIFIED, &mut two));
        // LINEAR without anything that could be filtered is nothing, and so is a comparison without sampling.
        let left = three.optimal_tiling_features;
        assert_eq!(left.is_empty(), visible == "on", "{left:?}");
        assert_eq!(list.drm_format_modifier_count, if visible == "on" { 0 } else { 2 });
    }
}
