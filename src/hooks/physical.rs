//! What the application is told of a simulated device (`device_visible=on`): format properties, features and limits of the
//! simulation, so that its own fallback paths run.
//!
//! Answers are the driver's with things taken away, so an application never enables what is not there. A chained structure is
//! written only where the command itself may write it: in the application's output chain.

use std::ffi::c_void;

use ash::vk;

use crate::decide::DeviceCaps;
use crate::features::FormatFeatures;
use crate::pnext::{self, Base};
use crate::simulate::Simulation;
use crate::state::Instance;

/// The instance and its simulation.
///
/// # Safety
///
/// `physical` is a valid physical device (the command's valid usage).
unsafe fn known<'a>(physical: vk::PhysicalDevice) -> Option<(&'a Instance, &'a Simulation)> {
    // SAFETY: forwarded from the caller.
    let instance = unsafe { Instance::find(physical) }?;
    Some((instance, instance.simulation.as_deref()?))
}

/// The first structure of type `T` in an output chain, to be written.
///
/// # Safety
///
/// `p_next` is the chain of a valid output structure, which the command may write.
unsafe fn find_mut<'a, T: vk::TaggedStructure + 'a>(p_next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: forwarded from the caller; the type is checked before the rest is touched.
    unsafe { pnext::chain(p_next) }.find_map(|node: *const Base| unsafe {
        ((*node).s_type == T::STRUCTURE_TYPE).then(|| &mut *node.cast_mut().cast::<T>())
    })
}

fn narrow(flags: vk::FormatFeatureFlags2) -> vk::FormatFeatureFlags {
    vk::FormatFeatureFlags::from_raw(flags.as_raw() as u32)
}

fn widen(flags: vk::FormatFeatureFlags) -> vk::FormatFeatureFlags2 {
    vk::FormatFeatureFlags2::from_raw(u64::from(flags.as_raw()))
}

fn restrict_format(simulation: &Simulation, format: vk::Format, properties: &mut vk::FormatProperties) {
    let mut features = FormatFeatures {
        optimal: widen(properties.optimal_tiling_features),
        linear: widen(properties.linear_tiling_features),
        modifiers: Vec::new(),
    };
    simulation.restrict_format(format, &mut features);
    properties.optimal_tiling_features = narrow(features.optimal);
    properties.linear_tiling_features = narrow(features.linear);
}

pub(crate) unsafe extern "system" fn get_physical_device_format_properties(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    properties: *mut vk::FormatProperties,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_format_properties else { return };
    // SAFETY: the application's own arguments; the output was just filled.
    unsafe {
        next(physical, format, properties);
        if let Some(properties) = properties.as_mut() {
            restrict_format(simulation, format, properties);
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_format_properties2(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    properties: *mut vk::FormatProperties2<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_format_properties2 else { return };
    // SAFETY: the application's own arguments; the output and its chain were just filled.
    unsafe {
        next(physical, format, properties);
        let Some(properties) = properties.as_mut() else { return };
        restrict_format(simulation, format, &mut properties.format_properties);
        if let Some(three) = find_mut::<vk::FormatProperties3<'_>>(properties.p_next) {
            let mut features = FormatFeatures {
                optimal: three.optimal_tiling_features,
                linear: three.linear_tiling_features,
                modifiers: Vec::new(),
            };
            simulation.restrict_format(format, &mut features);
            three.optimal_tiling_features = features.optimal;
            three.linear_tiling_features = features.linear;
        }
    }
}

/// The simulation's word on each feature: what is false there is false for the application.
fn allowed(simulation: &Simulation) -> DeviceCaps {
    simulation.caps()
}

fn take(feature: &mut vk::Bool32, allowed: bool) {
    *feature &= u32::from(allowed);
}

pub(crate) unsafe extern "system" fn get_physical_device_features(
    physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_features else { return };
    // SAFETY: the application's own arguments; the output was just filled.
    unsafe {
        next(physical, features);
        if let Some(features) = features.as_mut() {
            take(&mut features.sampler_anisotropy, allowed(simulation).sampler_anisotropy);
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_features2(
    physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_features2 else { return };
    let caps = allowed(simulation);
    // SAFETY: the application's own arguments; the output and its chain were just filled.
    unsafe {
        next(physical, features);
        let Some(features) = features.as_mut() else { return };
        take(&mut features.features.sampler_anisotropy, caps.sampler_anisotropy);
        let chain = features.p_next;
        if let Some(twelve) = find_mut::<vk::PhysicalDeviceVulkan12Features<'_>>(chain) {
            take(&mut twelve.sampler_mirror_clamp_to_edge, caps.sampler_mirror_clamp_to_edge);
            take(&mut twelve.sampler_filter_minmax, caps.sampler_filter_minmax);
        }
        if let Some(custom) = find_mut::<vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_>>(chain) {
            take(&mut custom.custom_border_colors, caps.custom_border_colors);
            take(&mut custom.custom_border_color_without_format, caps.custom_border_color_without_format);
        }
        if let Some(swizzle) = find_mut::<vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'_>>(chain) {
            take(&mut swizzle.border_color_swizzle, caps.border_color_swizzle);
            take(&mut swizzle.border_color_swizzle_from_image, caps.border_color_swizzle_from_image);
        }
        if let Some(cube) = find_mut::<vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT<'_>>(chain) {
            take(&mut cube.non_seamless_cube_map, caps.non_seamless_cube_map);
        }
    }
}

fn restrict_limits(caps: &DeviceCaps, limits: &mut vk::PhysicalDeviceLimits) {
    limits.max_sampler_anisotropy = limits.max_sampler_anisotropy.min(caps.max_sampler_anisotropy);
    limits.max_sampler_lod_bias = limits.max_sampler_lod_bias.min(caps.max_sampler_lod_bias);
    limits.max_sampler_allocation_count = limits.max_sampler_allocation_count.min(caps.max_sampler_allocation_count);
}

pub(crate) unsafe extern "system" fn get_physical_device_properties(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_properties else { return };
    // SAFETY: the application's own arguments; the output was just filled.
    unsafe {
        next(physical, properties);
        if let Some(properties) = properties.as_mut() {
            restrict_limits(&allowed(simulation), &mut properties.limits);
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_properties2(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some((instance, simulation)) = (unsafe { known(physical) }) else { return };
    let Some(next) = instance.fns.get_physical_device_properties2 else { return };
    let caps = allowed(simulation);
    // SAFETY: the application's own arguments; the output and its chain were just filled.
    unsafe {
        next(physical, properties);
        let Some(properties) = properties.as_mut() else { return };
        restrict_limits(&caps, &mut properties.properties.limits);
        if let Some(custom) = find_mut::<vk::PhysicalDeviceCustomBorderColorPropertiesEXT<'_>>(properties.p_next) {
            custom.max_custom_border_color_samplers =
                custom.max_custom_border_color_samplers.min(caps.max_custom_border_color_samplers);
        }
        if let Some(minmax) = find_mut::<vk::PhysicalDeviceSamplerFilterMinmaxProperties<'_>>(properties.p_next) {
            take(&mut minmax.filter_minmax_image_component_mapping, caps.filter_minmax_component_mapping);
        }
        if let Some(twelve) = find_mut::<vk::PhysicalDeviceVulkan12Properties<'_>>(properties.p_next) {
            take(&mut twelve.filter_minmax_image_component_mapping, caps.filter_minmax_component_mapping);
        }
    }
}
