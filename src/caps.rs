//! What a device reported and what was enabled on it.
//!
//! Queried when the device is created, when a format is first used by an image or view, and when a Y′CbCr conversion is
//! created; never while a descriptor is written. Queries go through the chain below the layer.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex};

use ash::vk;
use samplin_core::features::FormatFeatures;
use samplin_hot::memory::Room;
use vk_layer_sys::{EXT_DESCRIPTOR_HEAP_NAME, PhysicalDeviceDescriptorHeapPropertiesEXT as HeapProperties};

use crate::ability::{ABILITIES, NULL_DESCRIPTOR, PRIVATE_DATA};
use crate::decide::DeviceCaps;
use crate::dispatch::InstanceFns;
use crate::extensions;
use crate::feature_bits;
use crate::simulate::Simulation;
use crate::table::{FastMap, lock};

/// Names in a `ppEnabledExtensionNames`-like array.
///
/// # Safety
///
/// `names` points to `count` pointers to null-terminated strings, or `count` is 0.
pub unsafe fn names<'a>(names: *const *const c_char, count: u32) -> Vec<&'a CStr> {
    if names.is_null() {
        return Vec::new();
    }
    (0..count as usize)
        .filter_map(|index| {
            // SAFETY: the caller promises `count` readable pointers to terminated strings.
            unsafe {
                let name = *names.add(index);
                (!name.is_null()).then(|| CStr::from_ptr(name))
            }
        })
        .collect()
}

/// What of `VkDeviceCreateInfo` the layer keeps: enabled features and extensions.
#[derive(Clone, Debug, Default)]
pub struct Enabled {
    /// Names of the enabled extensions.
    pub extensions: Vec<String>,
    /// Sampler-related features, by Vulkan's names, with whether they are enabled.
    pub features: Vec<(&'static str, bool)>,
    /// Extensions and features that the layer added.
    pub augmented: Vec<&'static str>,
    /// `VK_EXT_fragment_density_map` is enabled, so that subsampled images can exist.
    pub subsampled: bool,
    /// The list of formats of an image may be chained: version 1.2 or `VK_KHR_image_format_list`.
    pub format_lists: bool,
    /// `nullDescriptor` is enabled.
    pub null_descriptor: bool,
    /// `privateData` is enabled.
    pub private_data: bool,
    /// Limit `maxPerStageDescriptorStorageBuffers`; 0 if not known.
    pub storage_buffers: u32,
    /// Places of `maxSamplerAllocationCount` that samplers which shaders embed take from others
    /// (VUID-vkCreateSampler-maxSamplerAllocationCount-11412).
    pub embedded_places: u32,
}

impl Enabled {
    /// Fills `features` from what decisions will see.
    pub fn name_features(&mut self, caps: &DeviceCaps) {
        self.features = caps.features();
        self.features.push(("VK_EXT_fragment_density_map", self.subsampled));
    }

    /// The enabled extensions that are younger than the layer.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().map(String::as_str).filter(|name| !extensions::is_known(name.as_bytes()))
    }

    /// Whether an extension is enabled.
    pub fn extension(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|enabled| enabled.as_bytes() == name.to_bytes())
    }
}

/// Reads the enabled features and queries the limits.
///
/// # Safety
///
/// `create_info` is the valid argument of a `vkCreateDevice` for `physical`, and `fns` belong to its instance.
pub unsafe fn query(
    fns: &InstanceFns,
    physical: vk::PhysicalDevice,
    create_info: &vk::DeviceCreateInfo<'_>,
) -> (DeviceCaps, Enabled) {
    // SAFETY: valid by VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
    let asked = unsafe { names(create_info.pp_enabled_extension_names, create_info.enabled_extension_count) };
    let has = |name: &CStr| asked.contains(&name);
    let portability = has(ash::khr::portability_subset::NAME);
    let mut caps = DeviceCaps::default();
    for ability in ABILITIES {
        let Some(field) = ability.field else { continue };
        let named = ability.by_extension && ability.extensions.first().is_some_and(|name| has(name));
        // SAFETY: the create info is valid for `physical` by this function's contract, and so is its chain.
        let enabled = unsafe { feature_bits::is_enabled(ability, create_info) };
        *field(&mut caps) = named || enabled || (ability.unless_portability && !portability);
    }

    let mut custom = vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default();
    let mut minmax = vk::PhysicalDeviceSamplerFilterMinmaxProperties::default();
    let mut processing = vk::PhysicalDeviceImageProcessing2PropertiesQCOM::default();
    let mut properties = vk::PhysicalDeviceProperties2::default();
    // A structure of an extension that the device lacks must not be chained (VUID-VkPhysicalDeviceProperties2-pNext-pNext
    // allows it, drivers of 2016 do not survive it), so each one hangs on its extension being enabled.
    if has(ash::ext::custom_border_color::NAME) {
        properties = properties.push_next(&mut custom);
    }
    if caps.sampler_filter_minmax {
        properties = properties.push_next(&mut minmax);
    }
    if has(ash::qcom::image_processing2::NAME) {
        properties = properties.push_next(&mut processing);
    }
    let mut heaps = HeapProperties {
        s_type: HeapProperties::STRUCTURE_TYPE,
        p_next: properties.p_next,
        ..HeapProperties::default()
    };
    if has(EXT_DESCRIPTOR_HEAP_NAME) {
        properties.p_next = (&raw mut heaps).cast();
    }
    let mut limits = vk::PhysicalDeviceLimits::default();
    let mut version = vk::API_VERSION_1_0;
    if let Some(get) = fns.get_physical_device_properties2 {
        // SAFETY: `physical` belongs to the instance that `fns` were loaded for; the chain is made of live locals.
        unsafe { get(physical, &mut properties) };
        limits = properties.properties.limits;
        version = properties.properties.api_version;
    } else if let Some(get) = fns.get_physical_device_properties {
        let mut plain = vk::PhysicalDeviceProperties::default();
        // SAFETY: `physical` belongs to the instance that `fns` were loaded for, by this function's contract; `plain` is a live
        // local.
        unsafe { get(physical, &mut plain) };
        limits = plain.limits;
        version = plain.api_version;
    }
    caps.unknown_extension =
        !extensions::is_known_version(version) || asked.iter().any(|name| !extensions::is_known(name.to_bytes()));
    caps.max_sampler_anisotropy = limits.max_sampler_anisotropy.max(1.0);
    caps.max_sampler_lod_bias = limits.max_sampler_lod_bias;
    caps.max_sample_mask_words = limits.max_sample_mask_words;
    caps.max_sampler_allocation_count = limits.max_sampler_allocation_count;
    caps.max_custom_border_color_samplers = custom.max_custom_border_color_samplers;
    caps.filter_minmax_component_mapping = minmax.filter_minmax_image_component_mapping != 0;
    caps.max_block_match_window = [processing.max_block_match_window.width, processing.max_block_match_window.height];

    let mut enabled = Enabled {
        subsampled: has(ash::ext::fragment_density_map::NAME),
        format_lists: has(ash::khr::image_format_list::NAME),
        // SAFETY: as for the features above.
        null_descriptor: unsafe { feature_bits::is_enabled(&NULL_DESCRIPTOR, create_info) },
        // SAFETY: as for the features above.
        private_data: unsafe { feature_bits::is_enabled(&PRIVATE_DATA, create_info) },
        storage_buffers: limits.max_per_stage_descriptor_storage_buffers,
        embedded_places: u32::try_from(
            heaps
                .min_sampler_heap_reserved_range_with_embedded
                .checked_div(heaps.sampler_descriptor_size)
                .unwrap_or_default(),
        )
        .unwrap_or(u32::MAX),
        features: Vec::new(),
        augmented: Vec::new(),
        extensions: asked.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
    };
    enabled.name_features(&caps);
    (caps, enabled)
}

/// The formats of one physical device, each queried once.
pub struct Formats {
    physical: vk::PhysicalDevice,
    /// `VkFormatProperties3` may be chained: the device is of version 1.3 or has VK_KHR_format_feature_flags2.
    flags2: bool,
    /// The device supports VK_EXT_image_drm_format_modifier.
    modifiers: bool,
    simulation: Option<Arc<Simulation>>,
    asked: Mutex<FastMap<i32, FormatFeatures>>,
}

impl Formats {
    /// Prepares for a physical device.
    ///
    /// # Safety
    ///
    /// `physical` belongs to the instance that `fns` were loaded for.
    pub unsafe fn new(
        fns: &InstanceFns,
        physical: vk::PhysicalDevice,
        api_version: u32,
        simulation: Option<Arc<Simulation>>,
    ) -> Self {
        let mut supported: Vec<vk::ExtensionProperties> = Vec::new();
        if let Some(enumerate) = fns.enumerate_device_extension_properties {
            let mut count = 0;
            // SAFETY: two-call idiom on a valid physical device; the second call writes at most `count` elements.
            unsafe {
                if enumerate(physical, std::ptr::null(), &mut count, std::ptr::null_mut()) == vk::Result::SUCCESS {
                    supported.resize(count as usize, vk::ExtensionProperties::default());
                    let _ = enumerate(physical, std::ptr::null(), &mut count, supported.as_mut_ptr());
                    supported.truncate(count as usize);
                }
            }
        }
        let has = |name: &CStr| supported.iter().any(|p| p.extension_name_as_c_str() == Ok(name));
        Self {
            physical,
            flags2: api_version >= vk::API_VERSION_1_3 || has(ash::khr::format_feature_flags2::NAME),
            modifiers: has(ash::ext::image_drm_format_modifier::NAME),
            simulation,
            asked: Mutex::new(FastMap::default()),
        }
    }

    /// The physical device.
    pub fn physical(&self) -> vk::PhysicalDevice {
        self.physical
    }

    /// Whether features say which formats may be read and written without a format.
    pub fn reports_formatless(&self) -> bool {
        self.flags2
    }

    /// Features of `format`, or `None` for `VK_FORMAT_UNDEFINED` (an external format).
    ///
    /// # Safety
    ///
    /// `fns` are those given to [`Formats::new`] and the instance is alive.
    pub unsafe fn get(&self, fns: &InstanceFns, format: vk::Format) -> Option<FormatFeatures> {
        if format == vk::Format::UNDEFINED {
            return None;
        }
        if let Some(found) = lock(&self.asked).get(&format.as_raw()) {
            return Some(found.clone());
        }
        // Not under the lock: the query goes through other layers. Two threads may both ask; the answers are equal.
        // SAFETY: `fns` are of the instance that `self.physical` belongs to, which is alive, by this function's contract.
        let mut features = unsafe { self.ask(fns, format) }?;
        if let Some(simulation) = &self.simulation {
            simulation.restrict_format(format, &mut features);
        }
        lock(&self.asked).with_room().insert(format.as_raw(), features.clone());
        Some(features)
    }

    unsafe fn ask(&self, fns: &InstanceFns, format: vk::Format) -> Option<FormatFeatures> {
        let widen = |flags: vk::FormatFeatureFlags| vk::FormatFeatureFlags2::from_raw(u64::from(flags.as_raw()));
        let mut out = FormatFeatures::default();
        let Some(get2) = fns.get_physical_device_format_properties2 else {
            let get = fns.get_physical_device_format_properties?;
            let mut plain = vk::FormatProperties::default();
            // SAFETY: `self.physical` is of the instance of `fns`, as `get` asks, which calls this; the output is a live local.
            unsafe { get(self.physical, format, &mut plain) };
            return Some(FormatFeatures::of_32_bits(format, &plain));
        };
        let mut three = vk::FormatProperties3::default();
        let mut list = vk::DrmFormatModifierPropertiesList2EXT::default();
        let mut list1 = vk::DrmFormatModifierPropertiesListEXT::default();
        let mut properties = vk::FormatProperties2::default();
        if self.flags2 {
            properties.p_next = (&raw mut three).cast();
        }
        if self.modifiers {
            // The list is asked for in the width that the features are.
            if self.flags2 {
                three.p_next = (&raw mut list).cast::<c_void>();
            } else {
                properties.p_next = (&raw mut list1).cast::<c_void>();
            }
        }
        // SAFETY: `self.physical` is of the instance of `fns`, as `get` asks, which calls this; the chain is made of live locals.
        unsafe { get2(self.physical, format, &mut properties) };
        // Some drivers fill only one of the two widths.
        let plain = properties.format_properties;
        out.optimal = widen(plain.optimal_tiling_features) | three.optimal_tiling_features;
        out.linear = widen(plain.linear_tiling_features) | three.linear_tiling_features;
        out.buffer = widen(plain.buffer_features) | three.buffer_features;
        if !self.flags2 {
            out.add_comparison(format);
        }
        if self.modifiers && list.drm_format_modifier_count > 0 {
            let mut items =
                vec![vk::DrmFormatModifierProperties2EXT::default(); list.drm_format_modifier_count as usize];
            list.p_drm_format_modifier_properties = items.as_mut_ptr();
            // SAFETY: the physical device is the one of the call above; the list in the chain of `properties` leads to `items`, which has
            // room for as many modifiers as that call counted.
            unsafe { get2(self.physical, format, &mut properties) };
            items.truncate(list.drm_format_modifier_count as usize);
            out.modifiers =
                items.iter().map(|item| (item.drm_format_modifier, item.drm_format_modifier_tiling_features)).collect();
        } else if self.modifiers && list1.drm_format_modifier_count > 0 {
            let mut items =
                vec![vk::DrmFormatModifierPropertiesEXT::default(); list1.drm_format_modifier_count as usize];
            list1.p_drm_format_modifier_properties = items.as_mut_ptr();
            // SAFETY: the list in the chain of `properties` leads to `items`, which has room for as many modifiers as the first
            // call counted.
            unsafe { get2(self.physical, format, &mut properties) };
            items.truncate(list1.drm_format_modifier_count as usize);
            out.modifiers = items
                .iter()
                .map(|item| (item.drm_format_modifier, widen(item.drm_format_modifier_tiling_features)))
                .collect();
        }
        Some(out)
    }
}

/// What a driver says of itself in `VkPhysicalDeviceDriverProperties`.
pub struct DriverSays {
    /// `driverID`.
    pub id: vk::DriverId,
    /// `driverName`.
    pub name: String,
    /// `driverInfo`, which is about its build.
    pub info: String,
}

/// What a driver says of itself. Version 1.2 has that structure; for a name in a record no extension is asked for.
///
/// # Safety
///
/// `physical` is a valid physical device of the instance that `fns` were loaded for.
pub unsafe fn driver(fns: &InstanceFns, physical: vk::PhysicalDevice, version: u32) -> Option<DriverSays> {
    let get = fns.get_physical_device_properties2.filter(|_| version >= vk::API_VERSION_1_2)?;
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: `physical` is one that `fns` may be used with, by this function's contract; the chain is made of live locals, and the
    // device has the version that brought the structure.
    unsafe { get(physical, &mut properties) };
    let text = |text: Result<&CStr, _>| text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    let (name, info) = (text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str()));
    Some(DriverSays { id: driver.driver_id, name, info })
}
