//! Negotiation with the loader and the proc-addr functions: the only module with an exported symbol.
//!
//! The functions handed to the loader are private ones, so that no other object in the process can interpose them.
//! Source of the rules: *Loader and Layer Interface*, "Layer Interface Versions" and "Layer Interception Requirements".

use std::ffi::{CStr, c_char};

use ash::vk;
use samplin_hot::hooks as hot;
use vk_layer_sys::{CURRENT_LOADER_LAYER_INTERFACE_VERSION, NegotiateLayerInterface, NegotiateLayerStructType};

use crate::hooks::{blit, descriptor, device, image, instance, layout, physical, sampler, template};
use crate::state::{Device, Instance};

type Function = unsafe extern "system" fn();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Resolves without an instance.
    Global,
    Instance,
    /// Only intercepted when the application is to see a simulated device.
    Physical,
    Device,
}

macro_rules! commands {
    ($($level:ident $function:path: $type:ty = $($name:literal),+;)+) => {
        const COMMANDS: &[(&CStr, Level)] = &[$($(($name, Level::$level),)+)+];

        /// The intercept of a command.
        fn find(name: &CStr) -> Option<(Function, Level)> {
            $(
                $(if name == $name {
                    let function: $type = $function;
                    // SAFETY: a pointer of the command's own signature (checked by the line above), typed without arguments as
                    // PFN_vkVoidFunction is; the caller casts it back by the command's name.
                    let function = unsafe { std::mem::transmute::<$type, Function>(function) };
                    return Some((function, Level::$level));
                })+
            )+
            None
        }
    };
}

commands! {
    Global get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr = c"vkGetInstanceProcAddr";
    Global instance::create_instance: vk::PFN_vkCreateInstance = c"vkCreateInstance";
    Global instance::enumerate_instance_layer_properties: vk::PFN_vkEnumerateInstanceLayerProperties = c"vkEnumerateInstanceLayerProperties";
    Global instance::enumerate_instance_extension_properties: vk::PFN_vkEnumerateInstanceExtensionProperties = c"vkEnumerateInstanceExtensionProperties";
    Instance instance::destroy_instance: vk::PFN_vkDestroyInstance = c"vkDestroyInstance";
    Instance instance::enumerate_device_layer_properties: vk::PFN_vkEnumerateDeviceLayerProperties = c"vkEnumerateDeviceLayerProperties";
    Instance instance::enumerate_device_extension_properties: vk::PFN_vkEnumerateDeviceExtensionProperties = c"vkEnumerateDeviceExtensionProperties";
    Instance device::create_device: vk::PFN_vkCreateDevice = c"vkCreateDevice";
    Physical physical::get_physical_device_format_properties: vk::PFN_vkGetPhysicalDeviceFormatProperties = c"vkGetPhysicalDeviceFormatProperties";
    Physical physical::get_physical_device_format_properties2: vk::PFN_vkGetPhysicalDeviceFormatProperties2 = c"vkGetPhysicalDeviceFormatProperties2", c"vkGetPhysicalDeviceFormatProperties2KHR";
    Physical physical::get_physical_device_image_format_properties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties = c"vkGetPhysicalDeviceImageFormatProperties";
    Physical physical::get_physical_device_image_format_properties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2 = c"vkGetPhysicalDeviceImageFormatProperties2", c"vkGetPhysicalDeviceImageFormatProperties2KHR";
    Physical physical::get_physical_device_sparse_image_format_properties: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties = c"vkGetPhysicalDeviceSparseImageFormatProperties";
    Physical physical::get_physical_device_sparse_image_format_properties2: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2 = c"vkGetPhysicalDeviceSparseImageFormatProperties2", c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR";
    Physical physical::get_physical_device_features: vk::PFN_vkGetPhysicalDeviceFeatures = c"vkGetPhysicalDeviceFeatures";
    Physical physical::get_physical_device_features2: vk::PFN_vkGetPhysicalDeviceFeatures2 = c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR";
    Physical physical::get_physical_device_properties: vk::PFN_vkGetPhysicalDeviceProperties = c"vkGetPhysicalDeviceProperties";
    Physical physical::get_physical_device_properties2: vk::PFN_vkGetPhysicalDeviceProperties2 = c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR";
    Device get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr = c"vkGetDeviceProcAddr";
    Device device::destroy_device: vk::PFN_vkDestroyDevice = c"vkDestroyDevice";
    Device hot::update_descriptor_sets: vk::PFN_vkUpdateDescriptorSets = c"vkUpdateDescriptorSets";
    Device hot::update_descriptor_set_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate = c"vkUpdateDescriptorSetWithTemplate", c"vkUpdateDescriptorSetWithTemplateKHR";
    Device hot::cmd_push_descriptor_set: vk::PFN_vkCmdPushDescriptorSetKHR = c"vkCmdPushDescriptorSet", c"vkCmdPushDescriptorSetKHR";
    Device descriptor::cmd_push_descriptor_set2: vk::PFN_vkCmdPushDescriptorSet2KHR = c"vkCmdPushDescriptorSet2", c"vkCmdPushDescriptorSet2KHR";
    Device template::cmd_push_descriptor_set_with_template: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR = c"vkCmdPushDescriptorSetWithTemplate", c"vkCmdPushDescriptorSetWithTemplateKHR";
    Device template::cmd_push_descriptor_set_with_template2: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR = c"vkCmdPushDescriptorSetWithTemplate2", c"vkCmdPushDescriptorSetWithTemplate2KHR";
    Device descriptor::get_descriptor: vk::PFN_vkGetDescriptorEXT = c"vkGetDescriptorEXT";
    Device descriptor::get_image_view_handle: vk::PFN_vkGetImageViewHandleNVX = c"vkGetImageViewHandleNVX";
    Device descriptor::get_image_view_handle64: vk_layer_sys::PfnGetImageViewHandle64Nvx = c"vkGetImageViewHandle64NVX";
    Device descriptor::get_descriptor_set_host_mapping: vk::PFN_vkGetDescriptorSetHostMappingVALVE = c"vkGetDescriptorSetHostMappingVALVE";
    Device sampler::create_sampler: vk::PFN_vkCreateSampler = c"vkCreateSampler";
    Device sampler::destroy_sampler: vk::PFN_vkDestroySampler = c"vkDestroySampler";
    Device sampler::create_sampler_ycbcr_conversion: vk::PFN_vkCreateSamplerYcbcrConversion = c"vkCreateSamplerYcbcrConversion", c"vkCreateSamplerYcbcrConversionKHR";
    Device sampler::destroy_sampler_ycbcr_conversion: vk::PFN_vkDestroySamplerYcbcrConversion = c"vkDestroySamplerYcbcrConversion", c"vkDestroySamplerYcbcrConversionKHR";
    Device sampler::set_debug_utils_object_name: vk::PFN_vkSetDebugUtilsObjectNameEXT = c"vkSetDebugUtilsObjectNameEXT";
    Device sampler::debug_marker_set_object_name: vk::PFN_vkDebugMarkerSetObjectNameEXT = c"vkDebugMarkerSetObjectNameEXT";
    Device image::create_image: vk::PFN_vkCreateImage = c"vkCreateImage";
    Device image::destroy_image: vk::PFN_vkDestroyImage = c"vkDestroyImage";
    Device image::create_image_view: vk::PFN_vkCreateImageView = c"vkCreateImageView";
    Device image::destroy_image_view: vk::PFN_vkDestroyImageView = c"vkDestroyImageView";
    Device image::create_swapchain: vk::PFN_vkCreateSwapchainKHR = c"vkCreateSwapchainKHR";
    Device image::create_shared_swapchains: vk::PFN_vkCreateSharedSwapchainsKHR = c"vkCreateSharedSwapchainsKHR";
    Device image::get_swapchain_images: vk::PFN_vkGetSwapchainImagesKHR = c"vkGetSwapchainImagesKHR";
    Device image::destroy_swapchain: vk::PFN_vkDestroySwapchainKHR = c"vkDestroySwapchainKHR";
    Device layout::create_descriptor_set_layout: vk::PFN_vkCreateDescriptorSetLayout = c"vkCreateDescriptorSetLayout";
    Device layout::destroy_descriptor_set_layout: vk::PFN_vkDestroyDescriptorSetLayout = c"vkDestroyDescriptorSetLayout";
    Device layout::create_pipeline_layout: vk::PFN_vkCreatePipelineLayout = c"vkCreatePipelineLayout";
    Device layout::destroy_pipeline_layout: vk::PFN_vkDestroyPipelineLayout = c"vkDestroyPipelineLayout";
    Device layout::allocate_descriptor_sets: vk::PFN_vkAllocateDescriptorSets = c"vkAllocateDescriptorSets";
    Device layout::free_descriptor_sets: vk::PFN_vkFreeDescriptorSets = c"vkFreeDescriptorSets";
    Device layout::reset_descriptor_pool: vk::PFN_vkResetDescriptorPool = c"vkResetDescriptorPool";
    Device layout::destroy_descriptor_pool: vk::PFN_vkDestroyDescriptorPool = c"vkDestroyDescriptorPool";
    Device template::create_descriptor_update_template: vk::PFN_vkCreateDescriptorUpdateTemplate = c"vkCreateDescriptorUpdateTemplate", c"vkCreateDescriptorUpdateTemplateKHR";
    Device template::destroy_descriptor_update_template: vk::PFN_vkDestroyDescriptorUpdateTemplate = c"vkDestroyDescriptorUpdateTemplate", c"vkDestroyDescriptorUpdateTemplateKHR";
    Device blit::cmd_blit_image: vk::PFN_vkCmdBlitImage = c"vkCmdBlitImage";
    Device blit::cmd_blit_image2: vk::PFN_vkCmdBlitImage2 = c"vkCmdBlitImage2", c"vkCmdBlitImage2KHR";
}

/// Names of the device commands that the layer intercepts, aliases included.
pub fn device_commands() -> impl Iterator<Item = &'static CStr> {
    COMMANDS.iter().filter(|(_, level)| *level == Level::Device).map(|(name, _)| *name)
}

/// The layer's `vkGetInstanceProcAddr`.
///
/// A device command is returned too, because applications fetch them here; its hook then serves devices on which the
/// command may be missing. What the layer below does not know is not returned.
pub(crate) unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: null-terminated by VUID-vkGetInstanceProcAddr-pName-parameter.
    let name = unsafe { CStr::from_ptr(name) };
    let own = find(name);
    if let Some((function, Level::Global)) = own {
        return Some(function);
    }
    if instance == vk::Instance::null() {
        // Layers above ask so for vkCreateDevice while they create a device (MangoHud and RenderDoc do), when all they have at
        // hand is the next layer's resolver. The loader never lets an application's question through to here.
        return own.filter(|(_, level)| *level == Level::Instance).map(|(function, _)| function);
    }
    // SAFETY: a valid instance by VUID-vkGetInstanceProcAddr-instance-parameter.
    let known = unsafe { Instance::find(instance) }?;
    // SAFETY: the instance is valid for the resolver below.
    let below = unsafe { (known.next_gipa)(instance, name.as_ptr()) };
    match own {
        Some((function, Level::Instance)) => Some(function),
        Some((function, Level::Physical)) if below.is_some() && known.shows_simulation() => Some(function),
        Some((_, Level::Physical)) => below,
        Some((function, _)) if below.is_some() && serves(name, known.is_off()) => Some(function),
        _ => below,
    }
}

/// Whether a device command is answered with the layer's own function. Two are in any mode: the record of a device has to go away
/// with it, and whoever resolves vkDestroyDevice by another way would pass the layer by.
fn serves(name: &CStr, off: bool) -> bool {
    !off || matches!(name.to_bytes(), b"vkDestroyDevice" | b"vkGetDeviceProcAddr")
}

/// The layer's `vkGetDeviceProcAddr`: null below means null here, as a command of an extension that is not enabled must be.
pub(crate) unsafe extern "system" fn get_device_proc_addr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: a valid device by VUID-vkGetDeviceProcAddr-device-parameter.
    let known = unsafe { Device::find(device) }?;
    // SAFETY: null-terminated by VUID-vkGetDeviceProcAddr-pName-parameter.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the device is valid for the resolver below.
    let below = unsafe { (known.next_gdpa)(device, name.as_ptr()) }?;
    match find(name) {
        Some((function, Level::Device)) if serves(name, known.instance.is_off()) => Some(function),
        // Instance commands are not for devices, even if what is below answers for them: those would go past this layer.
        Some((_, Level::Global | Level::Instance | Level::Physical)) => None,
        _ => Some(below),
    }
}

/// Agrees with the loader on version 2 of the layer interface.
///
/// # Errors
///
/// `VK_ERROR_INITIALIZATION_FAILED` when the structure is missing or of another type, or when the loader only speaks a version
/// without this function.
///
/// # Safety
///
/// `interface` is null or points to a `VkNegotiateLayerInterface` that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: the caller's promise.
    let Some(interface) = (unsafe { interface.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    if interface.s_type != NegotiateLayerStructType::INTERFACE_STRUCT
        || interface.loader_layer_interface_version < CURRENT_LOADER_LAYER_INTERFACE_VERSION
    {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.loader_layer_interface_version = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
    interface.pfn_get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.pfn_get_device_proc_addr = Some(get_device_proc_addr);
    interface.pfn_get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}
