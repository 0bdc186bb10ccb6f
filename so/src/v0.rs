//! What loaders look for that do not negotiate: Android's.

use std::ffi::c_char;

use ash::vk;
use samplin::v0;

macro_rules! exported {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $own:path;)+) => {
        $($(#[$doc])*
        ///
        /// # Safety
        ///
        /// As the command.
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the loader keeps to the command's valid usage, which is all that is asked there.
            unsafe { $own($($argument),*) }
        })+
    };
}

exported! {
    /// Resolves commands.
    vkGetInstanceProcAddr(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction = v0::get_instance_proc_addr;
    /// Resolves commands of devices.
    vkGetDeviceProcAddr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction = v0::get_device_proc_addr;
    /// The layer.
    vkEnumerateInstanceLayerProperties(count: *mut u32, properties: *mut vk::LayerProperties) -> vk::Result
        = v0::instance_layers;
    /// Its instance extensions.
    vkEnumerateInstanceExtensionProperties(layer: *const c_char, count: *mut u32, properties: *mut vk::ExtensionProperties)
        -> vk::Result = v0::instance_extensions;
    /// The layer again.
    vkEnumerateDeviceLayerProperties(physical: vk::PhysicalDevice, count: *mut u32, properties: *mut vk::LayerProperties)
        -> vk::Result = v0::device_layers;
    /// Its device extensions.
    vkEnumerateDeviceExtensionProperties(physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32,
        properties: *mut vk::ExtensionProperties) -> vk::Result = v0::device_extensions;
}
