//! The functions by which a loader finds a layer that it does not negotiate with, Android's among them: version 0 of the layer
//! interface. [`export_v0`](crate::export_v0) exports them.
//!
//! Such a loader opens the library to ask which layers and extensions it has, and closes it again; it reads no manifest. It opens
//! it once more for the first instance and closes it after the last.
//! Source of the rules: *Loader and Layer Interface*, "Layer Interface Version 0"; Android's `layers_extensions.cpp`.

use std::ffi::c_char;

use ash::vk;

use crate::hooks::instance;
use crate::{entry, log, platform, settings};

macro_rules! same {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $own:path;)+) => {
        $($(#[$doc])*
        ///
        /// # Safety
        ///
        /// As the command.
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller keeps to the command's valid usage, which is all that the hook asks.
            unsafe { $own($($argument),*) }
        })+
    };
}

same! {
    /// `vkGetDeviceProcAddr`.
    get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction = entry::get_device_proc_addr;
    /// `vkEnumerateInstanceExtensionProperties`: of this layer alone.
    instance_extensions(layer: *const c_char, count: *mut u32, properties: *mut vk::ExtensionProperties) -> vk::Result
        = instance::enumerate_instance_extension_properties;
    /// `vkEnumerateDeviceLayerProperties`: the same layer.
    device_layers(physical: vk::PhysicalDevice, count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result
        = instance::enumerate_device_layer_properties;
    /// `vkEnumerateDeviceExtensionProperties`: of this layer alone where it is named, without a device then.
    device_extensions(physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32,
        properties: *mut vk::ExtensionProperties) -> vk::Result = instance::enumerate_device_extension_properties;
    /// `vkGetInstanceProcAddr`.
    get_instance_proc_addr(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction = entry::get_instance_proc_addr;
}

/// `vkEnumerateInstanceLayerProperties`: this layer. The loader asks for it before anything else, so what else happens in a negotiation
/// happens here.
///
/// # Safety
///
/// As the command.
pub unsafe fn instance_layers(count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result {
    log::raise(settings::log_of_environment());
    platform::keep_loaded();
    // SAFETY: the caller keeps to the command's valid usage, which is all that the hook asks.
    unsafe { instance::enumerate_instance_layer_properties(count, properties) }
}

/// Exports the functions of [`v0`](self) from a loadable library, under the names that loaders look for.
#[macro_export]
macro_rules! export_v0 {
    () => {
        $crate::export_v0! {
            vkGetInstanceProcAddr(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction
                = get_instance_proc_addr;
            vkGetDeviceProcAddr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction = get_device_proc_addr;
            vkEnumerateInstanceLayerProperties(count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result
                = instance_layers;
            vkEnumerateInstanceExtensionProperties(layer: *const c_char, count: *mut u32,
                properties: *mut vk::ExtensionProperties) -> vk::Result = instance_extensions;
            vkEnumerateDeviceLayerProperties(physical: vk::PhysicalDevice, count: *mut u32,
                properties: *mut vk::LayerProperties) -> vk::Result = device_layers;
            vkEnumerateDeviceExtensionProperties(physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32,
                properties: *mut vk::ExtensionProperties) -> vk::Result = device_extensions;
        }
    };
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $own:ident;)+) => {
        mod v0 {
            #![allow(non_snake_case, reason = "loaders look for these names")]

            use std::ffi::c_char;

            use ash::vk;

            $(
                /// As the command; it is of this layer alone.
                ///
                /// # Safety
                ///
                /// As the command.
                #[unsafe(no_mangle)]
                pub unsafe extern "system" fn $name($($argument: $type),*) -> $result {
                    // SAFETY: the loader keeps to the command's valid usage, which is all that is asked there.
                    unsafe { $crate::v0::$own($($argument),*) }
                }
            )+
        }
    };
}
