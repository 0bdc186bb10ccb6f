//! What the application reads of a simulated device (`device_visible=on`): format properties, features and limits of the
//! simulation, so that its own fallback paths run; and of formats that shaders convert (`storage=advertise`).
//!
//! Answers are the driver's with things taken away, consistently: what the specification does not allow without a feature goes with
//! it, and what is hidden cannot be enabled. Then what is advertised is added. A chained structure is written only where the command
//! itself may write it: in the application's output chain. Nothing here allocates, but for what is said of device creation and the first
//! question about a physical device.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ash::vk::{self, FormatFeatureFlags2 as Feature};

use super::{Missing, failure};
use crate::ability::{ABILITIES, Ability};
use crate::advertised::Advertised;
use crate::caps;
use crate::decide::DeviceCaps;
use crate::feature_bits;
use crate::features::FormatFeatures;
use crate::instance::Instance;
use crate::memory;
use crate::pnext::{self, Base};
use crate::simulate::Simulation;

/// What the application sees of a physical device instead of the driver's answers.
struct VisibleDevice<'a> {
    instance: &'a Instance,
    physical: vk::PhysicalDevice,
    simulation: Option<&'a Simulation>,
    advertised: Option<Arc<Advertised>>,
}

impl<'a> VisibleDevice<'a> {
    /// # Safety
    ///
    /// `physical` is a valid physical device (the command's valid usage).
    unsafe fn of(physical: vk::PhysicalDevice) -> Option<Self> {
        // SAFETY: `physical` is valid by this function's contract, and its instance is not destroyed during a command that names it.
        let instance: &Instance = unsafe { Instance::find(physical) }?;
        let simulation = instance.simulation.as_deref().filter(|_| instance.shows_simulation());
        // SAFETY: as above.
        let advertised = unsafe { instance.advertised(physical) };
        Some(Self { instance, physical, simulation, advertised })
    }

    /// The features of a format with the two tilings.
    fn format(&self, format: vk::Format, optimal: Feature, linear: Feature) -> (Feature, Feature) {
        let (mut optimal, mut linear) = self.restricted(format, optimal, linear);
        if let Some(advertised) = &self.advertised {
            // SAFETY: the commands of the instance that the answers are of.
            unsafe { advertised.add(&self.instance.fns, format, &mut optimal, &mut linear) };
        }
        (optimal, linear)
    }

    /// The features of a format with the two tilings, without what is advertised.
    fn restricted(&self, format: vk::Format, optimal: Feature, linear: Feature) -> (Feature, Feature) {
        let mut features = FormatFeatures { optimal, linear, ..FormatFeatures::default() };
        if let Some(simulation) = self.simulation {
            simulation.show_format(format, &mut features);
        }
        (features.optimal, features.linear)
    }

    fn set_format(&self, format: vk::Format, properties: &mut vk::FormatProperties) {
        let (optimal, linear) = (widen(properties.optimal_tiling_features), widen(properties.linear_tiling_features));
        let (optimal, linear) = self.format(format, optimal, linear);
        properties.optimal_tiling_features = narrow(optimal);
        properties.linear_tiling_features = narrow(linear);
    }

    /// [`Simulation::allows_image`], with the driver's features of the format. Those of a modifier are not asked: any may be there.
    fn allows_image(
        &self,
        format: vk::Format,
        tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
    ) -> bool {
        let Some(simulation) = self.simulation else { return true };
        let mut own = vk::FormatProperties::default();
        if let Some(get) = self.instance.fns.get_physical_device_format_properties {
            // SAFETY: the physical device is valid during the command; the output is a live local.
            unsafe { get(self.physical, format, &mut own) };
        }
        let (own, is_linear) = match tiling {
            vk::ImageTiling::OPTIMAL => (widen(own.optimal_tiling_features), false),
            vk::ImageTiling::LINEAR => (widen(own.linear_tiling_features), true),
            _ => (Feature::from_raw(u64::from(u32::MAX)), false),
        };
        simulation.allows_image(format, is_linear, own, usage, flags)
    }

    /// What of an image that cannot be stored to is asked instead: as it reaches the driver, if it is advertised.
    ///
    /// # Safety
    ///
    /// The chain of `info` is valid.
    unsafe fn lowered(
        &self,
        info: &vk::PhysicalDeviceImageFormatInfo2<'_>,
    ) -> Option<vk::PhysicalDeviceImageFormatInfo2<'static>> {
        // SAFETY: the commands of the instance that the answers are of; the chain is valid by this function's contract.
        let flags = unsafe { self.advertised.as_ref()?.flags(&self.instance.fns, info) }?;
        let (format, ty, tiling, usage) = (info.format, info.ty, info.tiling, info.usage);
        Some(vk::PhysicalDeviceImageFormatInfo2 { format, ty, tiling, usage, flags, ..Default::default() })
    }
}

/// The start of a physical device's hook: what the application sees of it, and the command of the layer below. As `enter!`, for
/// hooks only.
macro_rules! enter_physical {
    ($physical:ident, $command:ident) => {{
        // SAFETY: the handle of the hook's command, valid by that command's `-physicalDevice-parameter` VUID.
        let Some(shown) = (unsafe { VisibleDevice::of($physical) }) else { return Missing::missing() };
        let Some(next) = shown.instance.fns.$command else { return Missing::missing() };
        (shown, next)
    }};
}

/// The first structure of type `T` in an output chain, to be written.
///
/// # Safety
///
/// `p_next` is the chain of a valid output structure, which the command may write.
unsafe fn find_mut<'a, T: vk::TaggedStructure + 'a>(p_next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: the chain is that of an output structure by this function's contract, which may be written; the type is checked before more
    // than the base is touched.
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

/// Restricts a list of `count` modifiers; one without features is none (`drmFormatModifierTilingFeatures` "must contain at least one
/// bit"). A null list is only counted, and may then be shorter when it is filled.
///
/// # Safety
///
/// `items` is null or points to `count` elements that may be written.
unsafe fn restrict_modifiers<T: Copy>(count: &mut u32, items: *mut T, restrict: impl Fn(&mut T) -> bool) {
    if items.is_null() {
        return;
    }
    let mut kept = 0;
    for index in 0..*count as usize {
        // SAFETY: `items` has `count` elements that may be written, by this function's contract, and `kept <= index < count`.
        unsafe {
            let mut item = items.add(index).read();
            if restrict(&mut item) {
                items.add(kept as usize).write(item);
                kept += 1;
            }
        }
    }
    *count = kept;
}

pub(crate) unsafe extern "system" fn get_physical_device_format_properties(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    properties: *mut vk::FormatProperties,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_format_properties);
    // SAFETY: `properties` may be written (VUID-vkGetPhysicalDeviceFormatProperties-pFormatProperties-parameter) and was just filled.
    unsafe {
        next(physical, format, properties);
        if let Some(properties) = properties.as_mut() {
            shown.set_format(format, properties);
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_format_properties2(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    properties: *mut vk::FormatProperties2<'_>,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_format_properties2);
    // SAFETY: `properties` and its chain may be written (VUID-vkGetPhysicalDeviceFormatProperties2-pFormatProperties-parameter) and were
    // just filled.
    unsafe {
        next(physical, format, properties);
        let Some(properties) = properties.as_mut() else { return };
        shown.set_format(format, &mut properties.format_properties);
        if let Some(three) = find_mut::<vk::FormatProperties3<'_>>(properties.p_next) {
            let (optimal, linear) = (three.optimal_tiling_features, three.linear_tiling_features);
            (three.optimal_tiling_features, three.linear_tiling_features) = shown.format(format, optimal, linear);
        }
        // Nothing stands in for an image with a modifier.
        let one = |features| shown.restricted(format, features, Feature::empty()).0;
        if let Some(list) = find_mut::<vk::DrmFormatModifierPropertiesListEXT<'_>>(properties.p_next) {
            let items = list.p_drm_format_modifier_properties;
            restrict_modifiers(&mut list.drm_format_modifier_count, items, |item| {
                let features = &mut item.drm_format_modifier_tiling_features;
                *features = narrow(one(widen(*features)));
                !features.is_empty()
            });
        }
        if let Some(list) = find_mut::<vk::DrmFormatModifierPropertiesList2EXT<'_>>(properties.p_next) {
            let items = list.p_drm_format_modifier_properties;
            restrict_modifiers(&mut list.drm_format_modifier_count, items, |item| {
                let features = &mut item.drm_format_modifier_tiling_features;
                *features = one(*features);
                !features.is_empty()
            });
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_image_format_properties(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    ty: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
    properties: *mut vk::ImageFormatProperties,
) -> vk::Result {
    let (shown, next) = enter_physical!(physical, get_physical_device_image_format_properties);
    // SAFETY: `properties` may be written (VUID-vkGetPhysicalDeviceImageFormatProperties-pImageFormatProperties-parameter).
    unsafe {
        let result = next(physical, format, ty, tiling, usage, flags, properties);
        let is_allowed = result != vk::Result::SUCCESS || shown.allows_image(format, tiling, usage, flags);
        if is_allowed && result != vk::Result::ERROR_FORMAT_NOT_SUPPORTED {
            return result;
        }
        let info = vk::PhysicalDeviceImageFormatInfo2 { format, ty, tiling, usage, flags, ..Default::default() };
        if let Some(info) = shown.lowered(&info) {
            return next(physical, format, ty, tiling, usage, info.flags, properties);
        }
        if !is_allowed {
            // All members are zero then (vkGetPhysicalDeviceImageFormatProperties, "not supported").
            properties.write(vk::ImageFormatProperties::default());
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        result
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_image_format_properties2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
    properties: *mut vk::ImageFormatProperties2<'_>,
) -> vk::Result {
    let (shown, next) = enter_physical!(physical, get_physical_device_image_format_properties2);
    // SAFETY: `info` is valid and `properties` may be written (VUID-vkGetPhysicalDeviceImageFormatProperties2-pImageFormatInfo-parameter,
    // -pImageFormatProperties-parameter).
    unsafe {
        let result = next(physical, info, properties);
        let is_refused = result == vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        let Some(info) = info.as_ref().filter(|_| is_refused || result == vk::Result::SUCCESS) else { return result };
        // The stencil aspect may have a usage of its own (VkImageStencilUsageCreateInfo).
        let stencil = pnext::find::<vk::ImageStencilUsageCreateInfo<'_>>(info.p_next);
        let usage = info.usage | stencil.map_or(vk::ImageUsageFlags::empty(), |stencil| stencil.stencil_usage);
        let is_allowed = shown.allows_image(info.format, info.tiling, usage, info.flags);
        if is_allowed && !is_refused {
            return result;
        }
        if let Some(info) = shown.lowered(info) {
            return next(physical, &info, properties);
        }
        if !is_allowed {
            (*properties).image_format_properties = vk::ImageFormatProperties::default();
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        result
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_sparse_image_format_properties(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    ty: vk::ImageType,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
    tiling: vk::ImageTiling,
    count: *mut u32,
    properties: *mut vk::SparseImageFormatProperties,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_sparse_image_format_properties);
    // SAFETY: `count` may be written (VUID-vkGetPhysicalDeviceSparseImageFormatProperties-pPropertyCount-parameter).
    unsafe {
        if !shown.allows_image(format, tiling, usage, vk::ImageCreateFlags::empty()) {
            // "pPropertyCount will be set to zero upon return, and no data will be written".
            return count.write(0);
        }
        next(physical, format, ty, samples, usage, tiling, count, properties);
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_sparse_image_format_properties2(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: *mut u32,
    properties: *mut vk::SparseImageFormatProperties2<'_>,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_sparse_image_format_properties2);
    // SAFETY: `info` is valid and `count` may be written (VUID-vkGetPhysicalDeviceSparseImageFormatProperties2-pFormatInfo-parameter,
    // -pPropertyCount-parameter).
    unsafe {
        let Some(given) = info.as_ref() else { return next(physical, info, count, properties) };
        if !shown.allows_image(given.format, given.tiling, given.usage, vk::ImageCreateFlags::empty()) {
            return count.write(0);
        }
        next(physical, info, count, properties);
    }
}

/// Clears the hidden features of a chain of answers.
///
/// # Safety
///
/// As for [`feature_bits::clear`].
unsafe fn hide(simulation: Option<&Simulation>, first: *mut c_void) {
    for ability in simulation.into_iter().flat_map(|it| ABILITIES.iter().filter(|ability| it.hides(ability))) {
        // SAFETY: the chain at `first` may be read and written by this function's contract, which is that of `clear`.
        unsafe { feature_bits::clear(ability, first) };
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_features(
    physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_features);
    // SAFETY: `features` may be written (VUID-vkGetPhysicalDeviceFeatures-pFeatures-parameter) and was just filled; the chain is one live
    // local.
    unsafe {
        next(physical, features);
        if let Some(features) = features.as_mut() {
            let mut two = vk::PhysicalDeviceFeatures2 { features: *features, ..Default::default() };
            hide(shown.simulation, (&raw mut two).cast());
            *features = two.features;
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_features2(
    physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_features2);
    // SAFETY: `features` and its chain may be written (VUID-vkGetPhysicalDeviceFeatures2-pFeatures-parameter) and were just filled.
    unsafe {
        next(physical, features);
        hide(shown.simulation, features.cast());
    }
}

/// Why a device that the application sees cannot be created: it names a hidden extension or feature.
///
/// # Safety
///
/// `info` is valid.
pub(super) unsafe fn refusal(instance: &Instance, info: &vk::DeviceCreateInfo<'_>) -> Option<vk::Result> {
    let simulation = instance.simulation.as_deref().filter(|_| instance.shows_simulation())?;
    let refused = catch_unwind(AssertUnwindSafe(|| {
        memory::inside(|| {
            // SAFETY: VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-parameter.
            let names = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
            if names.iter().any(|name| simulation.hides_extension(name)) {
                return Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            }
            // SAFETY: `info` is valid by this function's contract, and so are its chain and its features.
            let hidden =
                |ability: &&Ability| unsafe { feature_bits::is_enabled(ability, info) } && simulation.hides(ability);
            ABILITIES.iter().find(hidden).map(|_| vk::Result::ERROR_FEATURE_NOT_PRESENT)
        })
    }));
    refused.unwrap_or_else(|payload| Some(failure(&*payload)))
}

fn take(property: &mut vk::Bool32, allowed: bool) {
    *property &= u32::from(allowed);
}

fn restrict_properties(simulation: &Simulation, caps: &DeviceCaps, properties: &mut vk::PhysicalDeviceProperties) {
    properties.api_version = simulation.show_version(properties.api_version);
    let limits = &mut properties.limits;
    limits.max_sampler_anisotropy = limits.max_sampler_anisotropy.min(caps.max_sampler_anisotropy);
    limits.max_sampler_lod_bias = limits.max_sampler_lod_bias.min(caps.max_sampler_lod_bias);
    limits.max_sampler_allocation_count = limits.max_sampler_allocation_count.min(caps.max_sampler_allocation_count);
}

pub(crate) unsafe extern "system" fn get_physical_device_properties(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_properties);
    // SAFETY: `properties` may be written (VUID-vkGetPhysicalDeviceProperties-pProperties-parameter) and was just filled.
    unsafe {
        next(physical, properties);
        if let Some((properties, simulation)) = properties.as_mut().zip(shown.simulation) {
            restrict_properties(simulation, &simulation.reported().caps(), properties);
        }
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_properties2(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    let (shown, next) = enter_physical!(physical, get_physical_device_properties2);
    // SAFETY: `properties` and its chain may be written (VUID-vkGetPhysicalDeviceProperties2-pProperties-parameter) and were just filled.
    unsafe {
        next(physical, properties);
        let Some((properties, simulation)) = properties.as_mut().zip(shown.simulation) else { return };
        let caps = simulation.reported().caps();
        restrict_properties(simulation, &caps, &mut properties.properties);
        if let Some(custom) = find_mut::<vk::PhysicalDeviceCustomBorderColorPropertiesEXT<'_>>(properties.p_next) {
            custom.max_custom_border_color_samplers =
                custom.max_custom_border_color_samplers.min(caps.max_custom_border_color_samplers);
        }
        let single = simulation.reduces_single_components();
        if let Some(minmax) = find_mut::<vk::PhysicalDeviceSamplerFilterMinmaxProperties<'_>>(properties.p_next) {
            take(&mut minmax.filter_minmax_single_component_formats, single);
            take(&mut minmax.filter_minmax_image_component_mapping, caps.filter_minmax_component_mapping);
        }
        if let Some(twelve) = find_mut::<vk::PhysicalDeviceVulkan12Properties<'_>>(properties.p_next) {
            take(&mut twelve.filter_minmax_single_component_formats, single);
            take(&mut twelve.filter_minmax_image_component_mapping, caps.filter_minmax_component_mapping);
        }
    }
}
