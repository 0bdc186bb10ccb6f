//! Asking the devices of this machine, through the Vulkan loader. The one module with unsafe code.

use std::collections::BTreeMap;
use std::ffi::CStr;

use ash::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_config::quirks;
use serde_json::{Map, Value, json};

use super::abilities::{self, Abilities, FormatAbilities};
use crate::failure::{Failure, Result};

/// An instance that is destroyed at the end.
struct Instance {
    instance: ash::Instance,
    /// The loader stays while the instance does.
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: nothing made from the instance is alive.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// The version of the loader, if there is one.
pub(crate) fn loader_version() -> Option<(u32, u32, u32)> {
    // SAFETY: loads the system's Vulkan loader, whose initialisers are trusted like those of every Vulkan program.
    let entry = unsafe { ash::Entry::load() }.ok()?;
    // SAFETY: the command has no preconditions.
    let version = unsafe { entry.try_enumerate_instance_version() }.ok()?.unwrap_or(vk::API_VERSION_1_0);
    Some((vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)))
}

fn open() -> Result<Instance> {
    // SAFETY: as above.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| {
        Failure::environment(format!("there is no Vulkan loader: {error}"))
            .hint("on Debian or Ubuntu: sudo apt-get install libvulkan1")
    })?;
    // SAFETY: the command has no preconditions.
    let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    let application = vk::ApplicationInfo::default()
        .application_name(c"samplin caps")
        // VK_API_VERSION_1_0 is all that a loader of 1.0 takes (VUID-VkApplicationInfo-apiVersion-04010).
        .api_version(if version >= vk::API_VERSION_1_1 { vk::API_VERSION_1_3 } else { vk::API_VERSION_1_0 });
    let mut extensions = Vec::new();
    // SAFETY: the command has no preconditions.
    let offered = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
    let mut flags = vk::InstanceCreateFlags::empty();
    let has = |name: &CStr| has(&offered, name);
    if has(ash::khr::portability_enumeration::NAME) {
        extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extensions)
        .flags(flags);
    // SAFETY: the create info is complete and its extensions are there.
    let instance = unsafe { entry.create_instance(&info, None) }.map_err(|error| {
        Failure::environment(format!("no Vulkan instance can be created: {error}"))
            .hint("`samplin doctor` looks for drivers and layers that prevent it")
    })?;
    Ok(Instance { instance, _entry: entry })
}

/// The abilities of this machine's devices; of one only, by number or part of its name.
pub(super) fn devices(which: Option<&str>) -> Result<Vec<Abilities>> {
    let opened = open()?;
    let instance = &opened.instance;
    // SAFETY: the instance is alive.
    let physical = unsafe { instance.enumerate_physical_devices() }
        .map_err(|error| Failure::environment(format!("the devices cannot be listed: {error}")))?;
    let mut found: Vec<Abilities> =
        physical.iter().enumerate().map(|(index, device)| query(instance, *device, index)).collect();
    let Some(which) = which else { return Ok(found) };
    let lower = which.to_lowercase();
    let number: Option<usize> = which.parse().ok();
    let index = number.or_else(|| found.iter().position(|device| device.title.to_lowercase().contains(&lower)));
    match index {
        Some(index) if index < found.len() => Ok(vec![found.swap_remove(index)]),
        _ => {
            let titles: Vec<_> =
                found.iter().enumerate().map(|(index, device)| format!("gpu:{index} {}", device.title)).collect();
            Err(Failure::usage(format!("this machine has no device {which}"))
                .hint(format!("there is {}", titles.join(", "))))
        }
    }
}

fn has(extensions: &[vk::ExtensionProperties], name: &CStr) -> bool {
    extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

fn query(instance: &ash::Instance, physical: vk::PhysicalDevice, index: usize) -> Abilities {
    // SAFETY: the physical device belongs to the instance, here and below.
    let plain = unsafe { instance.get_physical_device_properties(physical) };
    // SAFETY: as above.
    let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }.unwrap_or_default();
    let has = |name: &CStr| has(&extensions, name);
    let version = plain.api_version;
    let core = |minor: u32| version >= vk::make_api_version(0, 1, minor, 0);

    // A structure is chained only where its extension or version is there.
    let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut border = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default();
    let mut swizzle = vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default();
    let mut seams = vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT::default();
    let mut portability = vk::PhysicalDevicePortabilitySubsetFeaturesKHR::default();
    let mut properties12 = vk::PhysicalDeviceDriverProperties::default();
    let mut minmax = vk::PhysicalDeviceSamplerFilterMinmaxProperties::default();
    let mut border_limits = vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default();
    let mut properties = vk::PhysicalDeviceProperties2::default();
    let has_minmax = has(ash::ext::sampler_filter_minmax::NAME);
    let has_border = has(ash::ext::custom_border_color::NAME);
    let has_subset = has(ash::khr::portability_subset::NAME);
    if core(2) {
        features = features.push_next(&mut features12);
        properties = properties.push_next(&mut properties12);
    }
    if core(2) || has_minmax {
        properties = properties.push_next(&mut minmax);
    }
    if has_border {
        features = features.push_next(&mut border);
        properties = properties.push_next(&mut border_limits);
    }
    if has(ash::ext::border_color_swizzle::NAME) {
        features = features.push_next(&mut swizzle);
    }
    if has(ash::ext::non_seamless_cube_map::NAME) {
        features = features.push_next(&mut seams);
    }
    if has_subset {
        features = features.push_next(&mut portability);
    }
    let mut ycbcr = vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default();
    if core(1) {
        features = features.push_next(&mut ycbcr);
        // SAFETY: the chains are made of live locals.
        unsafe {
            instance.get_physical_device_features2(physical, &mut features);
            instance.get_physical_device_properties2(physical, &mut properties);
        }
    } else {
        // SAFETY: as above.
        features.features = unsafe { instance.get_physical_device_features(physical) };
        properties.properties = plain;
    }
    let core_features = features.features;
    let limits = properties.properties.limits;
    let of = core_features;
    // What no structure was chained for is not known.
    let of12 = |value: u32| core(2).then_some(value);
    let of_swizzle = |value: u32| has(ash::ext::border_color_swizzle::NAME).then_some(value);
    let of_border = |value: u32| has_border.then_some(value);
    let of_subset = |value: u32| has_subset.then_some(value);
    let known: Map<String, Value> = [
        ("samplerAnisotropy", Some(of.sampler_anisotropy)),
        ("imageCubeArray", Some(of.image_cube_array)),
        ("textureCompressionBC", Some(of.texture_compression_bc)),
        ("textureCompressionETC2", Some(of.texture_compression_etc2)),
        ("textureCompressionASTC_LDR", Some(of.texture_compression_astc_ldr)),
        ("shaderImageGatherExtended", Some(of.shader_image_gather_extended)),
        ("shaderResourceMinLod", Some(of.shader_resource_min_lod)),
        ("shaderStorageImageExtendedFormats", Some(of.shader_storage_image_extended_formats)),
        ("shaderStorageImageReadWithoutFormat", Some(of.shader_storage_image_read_without_format)),
        ("shaderStorageImageWriteWithoutFormat", Some(of.shader_storage_image_write_without_format)),
        ("sampleRateShading", Some(of.sample_rate_shading)),
        ("fragmentStoresAndAtomics", Some(of.fragment_stores_and_atomics)),
        ("vertexPipelineStoresAndAtomics", Some(of.vertex_pipeline_stores_and_atomics)),
        ("samplerMirrorClampToEdge", of12(features12.sampler_mirror_clamp_to_edge)),
        ("samplerFilterMinmax", of12(features12.sampler_filter_minmax)),
        ("samplerYcbcrConversion", core(1).then_some(ycbcr.sampler_ycbcr_conversion)),
        ("customBorderColors", of_border(border.custom_border_colors)),
        ("customBorderColorWithoutFormat", of_border(border.custom_border_color_without_format)),
        ("borderColorSwizzle", of_swizzle(swizzle.border_color_swizzle)),
        ("borderColorSwizzleFromImage", of_swizzle(swizzle.border_color_swizzle_from_image)),
        ("nonSeamlessCubeMap", has(ash::ext::non_seamless_cube_map::NAME).then_some(seams.non_seamless_cube_map)),
        ("samplerMipLodBias", of_subset(portability.sampler_mip_lod_bias)),
        ("imageViewFormatSwizzle", of_subset(portability.image_view_format_swizzle)),
        ("imageViewFormatReinterpretation", of_subset(portability.image_view_format_reinterpretation)),
    ]
    .into_iter()
    .map(|(key, on)| (key.to_owned(), on.map(|on| on != 0).into()))
    .collect();
    let supported: Map<String, Value> = samplin_reports::EXTENSIONS
        .iter()
        .map(|name| {
            let is_there = |one: &vk::ExtensionProperties| text(one.extension_name_as_c_str()) == *name;
            ((*name).to_owned(), extensions.iter().any(is_there).into())
        })
        .collect();
    let is = |of: &Map<String, Value>, key: &str| of.get(key) == Some(&Value::Bool(true));
    let effective = samplin_reports::effective(|key| is(&known, key), |key| is(&supported, key));
    let effective: BTreeMap<String, bool> = serde_json::from_value(effective).unwrap_or_default();
    let limits = [
        ("maxSamplerAnisotropy", Some(f64::from(limits.max_sampler_anisotropy))),
        ("maxSamplerLodBias", Some(f64::from(limits.max_sampler_lod_bias))),
        ("maxSamplerAllocationCount", Some(f64::from(limits.max_sampler_allocation_count))),
        ("maxPerStageDescriptorSamplers", Some(f64::from(limits.max_per_stage_descriptor_samplers))),
        ("maxDescriptorSetSamplers", Some(f64::from(limits.max_descriptor_set_samplers))),
        ("maxImageDimension2D", Some(f64::from(limits.max_image_dimension2_d))),
        ("mipmapPrecisionBits", Some(f64::from(limits.mipmap_precision_bits))),
        ("subTexelPrecisionBits", Some(f64::from(limits.sub_texel_precision_bits))),
        ("minTexelOffset", Some(f64::from(limits.min_texel_offset))),
        ("maxTexelOffset", Some(f64::from(limits.max_texel_offset))),
        ("minTexelGatherOffset", Some(f64::from(limits.min_texel_gather_offset))),
        ("maxTexelGatherOffset", Some(f64::from(limits.max_texel_gather_offset))),
        ("maxCustomBorderColorSamplers", has_border.then(|| f64::from(border_limits.max_custom_border_color_samplers))),
        (
            "filterMinmaxSingleComponentFormats",
            (core(2) || has_minmax).then(|| f64::from(minmax.filter_minmax_single_component_formats)),
        ),
        (
            "filterMinmaxImageComponentMapping",
            (core(2) || has_minmax).then(|| f64::from(minmax.filter_minmax_image_component_mapping)),
        ),
    ];
    let flags2 = core(3) || has(ash::khr::format_feature_flags2::NAME);
    let title = text(plain.device_name_as_c_str());
    let driver = [text(properties12.driver_name_as_c_str()), text(properties12.driver_info_as_c_str())];
    let driver: Vec<_> = driver.into_iter().filter(|part| !part.is_empty()).collect();
    let api_version = format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    );
    let file = json!({
        "kind": "device",
        "features": known,
        "extensions": supported,
        "device": {
            "deviceName": title,
            "vendorID": format!("{:#x}", plain.vendor_id),
            "driverName": driver.first(),
            "driverInfo": driver.get(1),
            "driverVersion": plain.driver_version.to_string(),
            "apiVersion": api_version,
        },
        "provenance": { "origin": "samplin caps --save", "license": "own measurement" },
    });
    let formats: Vec<FormatAbilities> = abilities::formats()
        .filter_map(|(format, name)| ask(instance, physical, format, name, flags2, core(1)))
        .collect();
    Abilities {
        name: format!("gpu:{index}"),
        title,
        api_version,
        driver: driver.join(", "),
        source: String::new(),
        effective,
        limits: limits.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        lowered: abilities::lowered(&formats),
        formats,
        knows_compare: flags2,
        quirks: quirks::of_driver(&quirks::Identity {
            driver_id: properties12.driver_id.as_raw(),
            version: plain.driver_version,
            info: driver.get(1).map_or("", String::as_str),
        }),
        file,
    }
}

fn text(of: std::result::Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    of.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What the device can do with one format; `None` for nothing.
fn ask(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    format: vk::Format,
    name: String,
    flags2: bool,
    version2: bool,
) -> Option<FormatAbilities> {
    let widen = |flags: vk::FormatFeatureFlags| Feature::from_raw(u64::from(flags.as_raw()));
    let mut three = vk::FormatProperties3::default();
    let plain = if version2 {
        let mut properties = vk::FormatProperties2::default();
        if flags2 {
            properties = properties.push_next(&mut three);
        }
        // SAFETY: the physical device belongs to the instance; the chain is made of live locals.
        unsafe { instance.get_physical_device_format_properties2(physical, format, &mut properties) };
        properties.format_properties
    } else {
        // SAFETY: as above.
        unsafe { instance.get_physical_device_format_properties(physical, format) }
    };
    let optimal = widen(plain.optimal_tiling_features) | three.optimal_tiling_features;
    let linear_tiling = widen(plain.linear_tiling_features) | three.linear_tiling_features;
    let buffer = widen(plain.buffer_features) | three.buffer_features;
    let any = optimal | linear_tiling | buffer;
    (!any.is_empty()).then_some(FormatAbilities { name, optimal, linear_tiling, buffer })
}
