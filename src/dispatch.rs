//! Next-layer function pointers, loaded by name, each optional.
//!
//! `ash`'s own tables panic on a missing command; here a missing one is `None`, because a device without an extension has
//! none and a layer must live with that.

use std::ffi::CStr;

use ash::vk;

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $pfn:ty = $first:literal $(, $other:literal)*;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        #[expect(missing_docs, reason = "each field is the command of that name")]
        pub struct $name { $(pub $field: Option<$pfn>,)+ }

        impl $name {
            /// Asks `resolve` for every command, by each of its names until one answers: a device of an older core
            /// version knows only the extension's spelling, a newer one without the extension only the core's.
            pub fn load(mut resolve: impl FnMut(&CStr) -> vk::PFN_vkVoidFunction) -> Self {
                Self {
                    $($field: {
                        let found = resolve($first)$(.or_else(|| resolve($other)))*;
                        // SAFETY: the loader interface guarantees that the pointer returned for a name has that
                        // command's signature; both spellings of an alias have the same one.
                        found.map(|f| unsafe { std::mem::transmute::<unsafe extern "system" fn(), $pfn>(f) })
                    },)+
                }
            }
        }
    };
}

table! {
    /// Commands that are called with an instance or a physical device.
    InstanceFns {
        destroy_instance: vk::PFN_vkDestroyInstance = c"vkDestroyInstance";
        enumerate_device_extension_properties: vk::PFN_vkEnumerateDeviceExtensionProperties = c"vkEnumerateDeviceExtensionProperties";
        get_physical_device_properties: vk::PFN_vkGetPhysicalDeviceProperties = c"vkGetPhysicalDeviceProperties";
        get_physical_device_properties2: vk::PFN_vkGetPhysicalDeviceProperties2 = c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR";
        get_physical_device_features: vk::PFN_vkGetPhysicalDeviceFeatures = c"vkGetPhysicalDeviceFeatures";
        get_physical_device_features2: vk::PFN_vkGetPhysicalDeviceFeatures2 = c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR";
        get_physical_device_format_properties: vk::PFN_vkGetPhysicalDeviceFormatProperties = c"vkGetPhysicalDeviceFormatProperties";
        get_physical_device_format_properties2: vk::PFN_vkGetPhysicalDeviceFormatProperties2 = c"vkGetPhysicalDeviceFormatProperties2", c"vkGetPhysicalDeviceFormatProperties2KHR";
        get_physical_device_image_format_properties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties = c"vkGetPhysicalDeviceImageFormatProperties";
        get_physical_device_sparse_image_format_properties: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties = c"vkGetPhysicalDeviceSparseImageFormatProperties";
        get_physical_device_sparse_image_format_properties2: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2 = c"vkGetPhysicalDeviceSparseImageFormatProperties2", c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR";
        get_physical_device_image_format_properties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2 = c"vkGetPhysicalDeviceImageFormatProperties2", c"vkGetPhysicalDeviceImageFormatProperties2KHR";
    }
}

table! {
    /// Commands that are called with a device or a command buffer.
    DeviceFns {
        destroy_device: vk::PFN_vkDestroyDevice = c"vkDestroyDevice";
        create_sampler: vk::PFN_vkCreateSampler = c"vkCreateSampler";
        destroy_sampler: vk::PFN_vkDestroySampler = c"vkDestroySampler";
        create_sampler_ycbcr_conversion: vk::PFN_vkCreateSamplerYcbcrConversion = c"vkCreateSamplerYcbcrConversion", c"vkCreateSamplerYcbcrConversionKHR";
        destroy_sampler_ycbcr_conversion: vk::PFN_vkDestroySamplerYcbcrConversion = c"vkDestroySamplerYcbcrConversion", c"vkDestroySamplerYcbcrConversionKHR";
        create_image: vk::PFN_vkCreateImage = c"vkCreateImage";
        destroy_image: vk::PFN_vkDestroyImage = c"vkDestroyImage";
        create_image_view: vk::PFN_vkCreateImageView = c"vkCreateImageView";
        destroy_image_view: vk::PFN_vkDestroyImageView = c"vkDestroyImageView";
        get_image_drm_format_modifier_properties: vk::PFN_vkGetImageDrmFormatModifierPropertiesEXT = c"vkGetImageDrmFormatModifierPropertiesEXT";
        create_swapchain: vk::PFN_vkCreateSwapchainKHR = c"vkCreateSwapchainKHR";
        create_shared_swapchains: vk::PFN_vkCreateSharedSwapchainsKHR = c"vkCreateSharedSwapchainsKHR";
        destroy_swapchain: vk::PFN_vkDestroySwapchainKHR = c"vkDestroySwapchainKHR";
        get_swapchain_images: vk::PFN_vkGetSwapchainImagesKHR = c"vkGetSwapchainImagesKHR";
        create_descriptor_set_layout: vk::PFN_vkCreateDescriptorSetLayout = c"vkCreateDescriptorSetLayout";
        destroy_descriptor_set_layout: vk::PFN_vkDestroyDescriptorSetLayout = c"vkDestroyDescriptorSetLayout";
        create_pipeline_layout: vk::PFN_vkCreatePipelineLayout = c"vkCreatePipelineLayout";
        destroy_pipeline_layout: vk::PFN_vkDestroyPipelineLayout = c"vkDestroyPipelineLayout";
        allocate_descriptor_sets: vk::PFN_vkAllocateDescriptorSets = c"vkAllocateDescriptorSets";
        free_descriptor_sets: vk::PFN_vkFreeDescriptorSets = c"vkFreeDescriptorSets";
        reset_descriptor_pool: vk::PFN_vkResetDescriptorPool = c"vkResetDescriptorPool";
        destroy_descriptor_pool: vk::PFN_vkDestroyDescriptorPool = c"vkDestroyDescriptorPool";
        update_descriptor_sets: vk::PFN_vkUpdateDescriptorSets = c"vkUpdateDescriptorSets";
        create_descriptor_update_template: vk::PFN_vkCreateDescriptorUpdateTemplate = c"vkCreateDescriptorUpdateTemplate", c"vkCreateDescriptorUpdateTemplateKHR";
        destroy_descriptor_update_template: vk::PFN_vkDestroyDescriptorUpdateTemplate = c"vkDestroyDescriptorUpdateTemplate", c"vkDestroyDescriptorUpdateTemplateKHR";
        update_descriptor_set_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate = c"vkUpdateDescriptorSetWithTemplate", c"vkUpdateDescriptorSetWithTemplateKHR";
        cmd_push_descriptor_set: vk::PFN_vkCmdPushDescriptorSetKHR = c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet";
        cmd_push_descriptor_set2: vk::PFN_vkCmdPushDescriptorSet2KHR = c"vkCmdPushDescriptorSet2KHR", c"vkCmdPushDescriptorSet2";
        cmd_push_descriptor_set_with_template: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR = c"vkCmdPushDescriptorSetWithTemplateKHR", c"vkCmdPushDescriptorSetWithTemplate";
        cmd_push_descriptor_set_with_template2: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR = c"vkCmdPushDescriptorSetWithTemplate2KHR", c"vkCmdPushDescriptorSetWithTemplate2";
        get_descriptor: vk::PFN_vkGetDescriptorEXT = c"vkGetDescriptorEXT";
        get_image_view_handle: vk::PFN_vkGetImageViewHandleNVX = c"vkGetImageViewHandleNVX";
        get_image_view_handle64: vk_layer_sys::PfnGetImageViewHandle64Nvx = c"vkGetImageViewHandle64NVX";
        cmd_blit_image: vk::PFN_vkCmdBlitImage = c"vkCmdBlitImage";
        cmd_blit_image2: vk::PFN_vkCmdBlitImage2 = c"vkCmdBlitImage2", c"vkCmdBlitImage2KHR";
        set_debug_utils_object_name: vk::PFN_vkSetDebugUtilsObjectNameEXT = c"vkSetDebugUtilsObjectNameEXT";
        debug_marker_set_object_name: vk::PFN_vkDebugMarkerSetObjectNameEXT = c"vkDebugMarkerSetObjectNameEXT";
        get_descriptor_set_host_mapping: vk::PFN_vkGetDescriptorSetHostMappingVALVE = c"vkGetDescriptorSetHostMappingVALVE";
    }
}

impl InstanceFns {
    /// The commands that may be used with a physical device of version 1.0: those of version 1.1 go, unless they were resolved
    /// as the commands of VK_KHR_get_physical_device_properties2.
    pub fn for_version_1_0(mut self) -> Self {
        self.get_physical_device_properties2 = None;
        self.get_physical_device_features2 = None;
        self.get_physical_device_format_properties2 = None;
        self.get_physical_device_image_format_properties2 = None;
        self.get_physical_device_sparse_image_format_properties2 = None;
        self
    }
}

/// The dispatch key of a dispatchable handle: its first pointer-sized word. An instance and its physical devices share
/// one, as do a device, its queues and its command buffers (Loader and Layer Interface, "Dispatch key").
///
/// # Safety
///
/// `handle` is a valid dispatchable handle (VUID-…-parameter of the command it was passed to).
#[inline]
pub unsafe fn key(handle: impl vk::Handle) -> u64 {
    // SAFETY: the loader requires every dispatchable object to start with its dispatch pointer.
    unsafe { *(handle.as_raw() as usize as *const usize) as u64 }
}
