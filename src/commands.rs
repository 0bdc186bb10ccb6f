//! The one table of commands: which are called, by which names, since when, and which hook stands in their place.
//!
//! `dispatch` makes the structures of next-layer pointers of it and `entry` what the proc-addr functions return. It is a macro
//! that hands its rows to another, so that the pointers do not depend on the hooks.

use std::ffi::CStr;

/// Hands every row to the macro `$with`.
///
/// A row is `field: pointer type, needed, names => hook;`. *Needed* is the core version or the extension that brings the command.
/// Of several names the first that the device knows is called: the core's, but for pushes, which became core last, so that who
/// enabled the extension on a device of an older version is not answered with a command of a newer one. A row without a hook is a
/// command that the layer only calls; those under `own` have a hook and no field, and each says at which level it resolves. With
/// `separate=resolve` the hooks under `followed` stand in place of those that the same commands have below, and those under `Separate`
/// are there at all; so are those under `Shaders`, which are also there where a shader can become another one.
/// Those under `Buffers` are there where the device cannot store all texel buffers that shaders are to store, and those under `Frames`
/// with `separate=resolve` where a submission can say that a frame ends.
/// Those under `retuned` stand in place of the hooks that the same commands have below where rules may come to be others, so that nothing
/// asks for that elsewhere; so do those under `pulsed`, and a hook of each action, with `pulse=on`.
/// Those under `actions` are there with `separate=resolve`. Each names the bind point whose state the command uses, and its hook, which
/// first binds what was left to be bound there, derives from that ([`actions`](crate::hooks::separate::actions)).
macro_rules! commands {
    ($with:ident) => {
        $with! {
            own {
                Global get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr, "1.0", c"vkGetInstanceProcAddr" => get_instance_proc_addr;
                Global create_instance: vk::PFN_vkCreateInstance, "1.0", c"vkCreateInstance" => instance::create_instance;
                Global enumerate_instance_layer_properties: vk::PFN_vkEnumerateInstanceLayerProperties, "1.0", c"vkEnumerateInstanceLayerProperties" => instance::enumerate_instance_layer_properties;
                Global enumerate_instance_extension_properties: vk::PFN_vkEnumerateInstanceExtensionProperties, "1.0", c"vkEnumerateInstanceExtensionProperties" => instance::enumerate_instance_extension_properties;
                Instance enumerate_device_layer_properties: vk::PFN_vkEnumerateDeviceLayerProperties, "1.0", c"vkEnumerateDeviceLayerProperties" => instance::enumerate_device_layer_properties;
                Instance create_device: vk::PFN_vkCreateDevice, "1.0", c"vkCreateDevice" => device::create_device;
                Device get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr, "1.0", c"vkGetDeviceProcAddr" => get_device_proc_addr;
            }
            followed {
                cmd_push_descriptor_set: vk::PFN_vkCmdPushDescriptorSetKHR, c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet" => separate::sets::cmd_push_descriptor_set;
                cmd_push_descriptor_set2: vk::PFN_vkCmdPushDescriptorSet2KHR, c"vkCmdPushDescriptorSet2KHR", c"vkCmdPushDescriptorSet2" => separate::sets::cmd_push_descriptor_set2;
                cmd_push_descriptor_set_with_template: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR, c"vkCmdPushDescriptorSetWithTemplateKHR", c"vkCmdPushDescriptorSetWithTemplate" => separate::sets::cmd_push_descriptor_set_with_template;
                cmd_push_descriptor_set_with_template2: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR, c"vkCmdPushDescriptorSetWithTemplate2KHR", c"vkCmdPushDescriptorSetWithTemplate2" => separate::sets::cmd_push_descriptor_set_with_template2;
            }
            retuned {
                Device create_sampler: vk::PFN_vkCreateSampler, c"vkCreateSampler" => retuned::create_sampler;
                Device update_descriptor_sets: vk::PFN_vkUpdateDescriptorSets, c"vkUpdateDescriptorSets" => retuned::update_descriptor_sets;
                Device update_descriptor_set_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate, c"vkUpdateDescriptorSetWithTemplate", c"vkUpdateDescriptorSetWithTemplateKHR" => retuned::update_descriptor_set_with_template;
                Frames queue_submit: vk::PFN_vkQueueSubmit, c"vkQueueSubmit" => retuned::queue_submit;
                Frames queue_submit2: vk::PFN_vkQueueSubmit2, c"vkQueueSubmit2", c"vkQueueSubmit2KHR" => retuned::queue_submit2;
                Frames queue_bind_sparse: vk::PFN_vkQueueBindSparse, c"vkQueueBindSparse" => retuned::queue_bind_sparse;
            }
            pulsed {
                Device begin_command_buffer: vk::PFN_vkBeginCommandBuffer, c"vkBeginCommandBuffer" => pulse::begin_command_buffer;
                Device cmd_execute_commands: vk::PFN_vkCmdExecuteCommands, c"vkCmdExecuteCommands" => pulse::cmd_execute_commands;
                Device cmd_begin_render_pass: vk::PFN_vkCmdBeginRenderPass, c"vkCmdBeginRenderPass" => pulse::cmd_begin_render_pass;
                Device cmd_begin_render_pass2: vk::PFN_vkCmdBeginRenderPass2, c"vkCmdBeginRenderPass2", c"vkCmdBeginRenderPass2KHR" => pulse::cmd_begin_render_pass2;
                Device cmd_begin_rendering: vk::PFN_vkCmdBeginRendering, c"vkCmdBeginRendering", c"vkCmdBeginRenderingKHR" => pulse::cmd_begin_rendering;
                Device queue_submit: vk::PFN_vkQueueSubmit, c"vkQueueSubmit" => pulse::queue_submit;
                Device queue_submit2: vk::PFN_vkQueueSubmit2, c"vkQueueSubmit2", c"vkQueueSubmit2KHR" => pulse::queue_submit2;
                Device queue_present: vk::PFN_vkQueuePresentKHR, c"vkQueuePresentKHR" => pulse::queue_present;
            }
            actions {
                cmd_draw: vk::PFN_vkCmdDraw, "1.0", c"vkCmdDraw" => GRAPHICS;
                cmd_draw_indexed: vk::PFN_vkCmdDrawIndexed, "1.0", c"vkCmdDrawIndexed" => GRAPHICS;
                cmd_draw_indirect: vk::PFN_vkCmdDrawIndirect, "1.0", c"vkCmdDrawIndirect" => GRAPHICS;
                cmd_draw_indexed_indirect: vk::PFN_vkCmdDrawIndexedIndirect, "1.0", c"vkCmdDrawIndexedIndirect" => GRAPHICS;
                cmd_draw_indirect_count: vk::PFN_vkCmdDrawIndirectCount, "1.2", c"vkCmdDrawIndirectCount", c"vkCmdDrawIndirectCountKHR", c"vkCmdDrawIndirectCountAMD" => GRAPHICS;
                cmd_draw_indexed_indirect_count: vk::PFN_vkCmdDrawIndexedIndirectCount, "1.2", c"vkCmdDrawIndexedIndirectCount", c"vkCmdDrawIndexedIndirectCountKHR", c"vkCmdDrawIndexedIndirectCountAMD" => GRAPHICS;
                cmd_draw_indirect_byte_count: vk::PFN_vkCmdDrawIndirectByteCountEXT, "VK_EXT_transform_feedback", c"vkCmdDrawIndirectByteCountEXT" => GRAPHICS;
                cmd_draw_multi: vk::PFN_vkCmdDrawMultiEXT, "VK_EXT_multi_draw", c"vkCmdDrawMultiEXT" => GRAPHICS;
                cmd_draw_multi_indexed: vk::PFN_vkCmdDrawMultiIndexedEXT, "VK_EXT_multi_draw", c"vkCmdDrawMultiIndexedEXT" => GRAPHICS;
                cmd_draw_mesh_tasks: vk::PFN_vkCmdDrawMeshTasksEXT, "VK_EXT_mesh_shader", c"vkCmdDrawMeshTasksEXT" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect: vk::PFN_vkCmdDrawMeshTasksIndirectEXT, "VK_EXT_mesh_shader", c"vkCmdDrawMeshTasksIndirectEXT" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect_count: vk::PFN_vkCmdDrawMeshTasksIndirectCountEXT, "VK_EXT_mesh_shader", c"vkCmdDrawMeshTasksIndirectCountEXT" => GRAPHICS;
                cmd_draw_mesh_tasks_nv: vk::PFN_vkCmdDrawMeshTasksNV, "VK_NV_mesh_shader", c"vkCmdDrawMeshTasksNV" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect_nv: vk::PFN_vkCmdDrawMeshTasksIndirectNV, "VK_NV_mesh_shader", c"vkCmdDrawMeshTasksIndirectNV" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect_count_nv: vk::PFN_vkCmdDrawMeshTasksIndirectCountNV, "VK_NV_mesh_shader", c"vkCmdDrawMeshTasksIndirectCountNV" => GRAPHICS;
                cmd_draw_cluster: vk::PFN_vkCmdDrawClusterHUAWEI, "VK_HUAWEI_cluster_culling_shader", c"vkCmdDrawClusterHUAWEI" => GRAPHICS;
                cmd_draw_cluster_indirect: vk::PFN_vkCmdDrawClusterIndirectHUAWEI, "VK_HUAWEI_cluster_culling_shader", c"vkCmdDrawClusterIndirectHUAWEI" => GRAPHICS;
                cmd_draw_indirect2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawIndirect2KHR" => GRAPHICS;
                cmd_draw_indexed_indirect2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawIndexedIndirect2KHR" => GRAPHICS;
                cmd_draw_indirect_count2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawIndirectCount2KHR" => GRAPHICS;
                cmd_draw_indexed_indirect_count2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawIndexedIndirectCount2KHR" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawMeshTasksIndirect2EXT" => GRAPHICS;
                cmd_draw_mesh_tasks_indirect_count2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDrawMeshTasksIndirectCount2EXT" => GRAPHICS;
                cmd_draw_indirect_byte_count2: vk_layer_sys::PfnCmdDrawIndirectByteCount2, "VK_KHR_device_address_commands", c"vkCmdDrawIndirectByteCount2EXT" => GRAPHICS;
                cmd_dispatch: vk::PFN_vkCmdDispatch, "1.0", c"vkCmdDispatch" => COMPUTE;
                cmd_dispatch_base: vk::PFN_vkCmdDispatchBase, "1.1", c"vkCmdDispatchBase", c"vkCmdDispatchBaseKHR" => COMPUTE;
                cmd_dispatch_indirect: vk::PFN_vkCmdDispatchIndirect, "1.0", c"vkCmdDispatchIndirect" => COMPUTE;
                cmd_dispatch_indirect2: vk_layer_sys::PfnCmdWithInfo, "VK_KHR_device_address_commands", c"vkCmdDispatchIndirect2KHR" => COMPUTE;
                cmd_dispatch_tile: vk_layer_sys::PfnCmdWithInfo, "VK_QCOM_tile_shading", c"vkCmdDispatchTileQCOM" => COMPUTE;
                cmd_trace_rays: vk::PFN_vkCmdTraceRaysKHR, "VK_KHR_ray_tracing_pipeline", c"vkCmdTraceRaysKHR" => RAY_TRACING_KHR;
                cmd_trace_rays_indirect: vk::PFN_vkCmdTraceRaysIndirectKHR, "VK_KHR_ray_tracing_pipeline", c"vkCmdTraceRaysIndirectKHR" => RAY_TRACING_KHR;
                cmd_trace_rays_indirect2: vk::PFN_vkCmdTraceRaysIndirect2KHR, "VK_KHR_ray_tracing_maintenance1", c"vkCmdTraceRaysIndirect2KHR" => RAY_TRACING_KHR;
                cmd_trace_rays_nv: vk::PFN_vkCmdTraceRaysNV, "VK_NV_ray_tracing", c"vkCmdTraceRaysNV" => RAY_TRACING_KHR;
            }
            Instance {
                destroy_instance: vk::PFN_vkDestroyInstance, "1.0", c"vkDestroyInstance" => instance::destroy_instance;
                enumerate_device_extension_properties: vk::PFN_vkEnumerateDeviceExtensionProperties, "1.0", c"vkEnumerateDeviceExtensionProperties" => instance::enumerate_device_extension_properties;
            }
            Physical {
                get_physical_device_format_properties: vk::PFN_vkGetPhysicalDeviceFormatProperties, "1.0", c"vkGetPhysicalDeviceFormatProperties" => physical::get_physical_device_format_properties;
                get_physical_device_format_properties2: vk::PFN_vkGetPhysicalDeviceFormatProperties2, "1.1", c"vkGetPhysicalDeviceFormatProperties2", c"vkGetPhysicalDeviceFormatProperties2KHR" => physical::get_physical_device_format_properties2;
                get_physical_device_image_format_properties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties, "1.0", c"vkGetPhysicalDeviceImageFormatProperties" => physical::get_physical_device_image_format_properties;
                get_physical_device_image_format_properties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2, "1.1", c"vkGetPhysicalDeviceImageFormatProperties2", c"vkGetPhysicalDeviceImageFormatProperties2KHR" => physical::get_physical_device_image_format_properties2;
                get_physical_device_sparse_image_format_properties: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties, "1.0", c"vkGetPhysicalDeviceSparseImageFormatProperties" => physical::get_physical_device_sparse_image_format_properties;
                get_physical_device_sparse_image_format_properties2: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2, "1.1", c"vkGetPhysicalDeviceSparseImageFormatProperties2", c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR" => physical::get_physical_device_sparse_image_format_properties2;
                get_physical_device_memory_properties: vk::PFN_vkGetPhysicalDeviceMemoryProperties, "1.0", c"vkGetPhysicalDeviceMemoryProperties";
                get_physical_device_features: vk::PFN_vkGetPhysicalDeviceFeatures, "1.0", c"vkGetPhysicalDeviceFeatures" => physical::get_physical_device_features;
                get_physical_device_features2: vk::PFN_vkGetPhysicalDeviceFeatures2, "1.1", c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR" => physical::get_physical_device_features2;
                get_physical_device_properties: vk::PFN_vkGetPhysicalDeviceProperties, "1.0", c"vkGetPhysicalDeviceProperties" => physical::get_physical_device_properties;
                get_physical_device_properties2: vk::PFN_vkGetPhysicalDeviceProperties2, "1.1", c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR" => physical::get_physical_device_properties2;
            }
            Device {
                destroy_device: vk::PFN_vkDestroyDevice, "1.0", c"vkDestroyDevice" => device::destroy_device;
                update_descriptor_sets: vk::PFN_vkUpdateDescriptorSets, "1.0", c"vkUpdateDescriptorSets" => descriptor::update_descriptor_sets;
                update_descriptor_set_with_template: vk::PFN_vkUpdateDescriptorSetWithTemplate, "1.1", c"vkUpdateDescriptorSetWithTemplate", c"vkUpdateDescriptorSetWithTemplateKHR" => template::update_descriptor_set_with_template;
                cmd_push_descriptor_set: vk::PFN_vkCmdPushDescriptorSetKHR, "1.4", c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet" => descriptor::cmd_push_descriptor_set;
                cmd_push_descriptor_set2: vk::PFN_vkCmdPushDescriptorSet2KHR, "1.4", c"vkCmdPushDescriptorSet2KHR", c"vkCmdPushDescriptorSet2" => descriptor::cmd_push_descriptor_set2;
                cmd_push_descriptor_set_with_template: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR, "1.4", c"vkCmdPushDescriptorSetWithTemplateKHR", c"vkCmdPushDescriptorSetWithTemplate" => template::cmd_push_descriptor_set_with_template;
                cmd_push_descriptor_set_with_template2: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR, "1.4", c"vkCmdPushDescriptorSetWithTemplate2KHR", c"vkCmdPushDescriptorSetWithTemplate2" => template::cmd_push_descriptor_set_with_template2;
                get_descriptor: vk::PFN_vkGetDescriptorEXT, "VK_EXT_descriptor_buffer", c"vkGetDescriptorEXT" => descriptor::get_descriptor;
                get_image_view_handle: vk::PFN_vkGetImageViewHandleNVX, "VK_NVX_image_view_handle", c"vkGetImageViewHandleNVX" => descriptor::get_image_view_handle;
                get_image_view_handle64: vk_layer_sys::PfnGetImageViewHandle64Nvx, "VK_NVX_image_view_handle", c"vkGetImageViewHandle64NVX" => descriptor::get_image_view_handle64;
                write_sampler_descriptors: vk_layer_sys::PfnWriteSamplerDescriptors, "VK_EXT_descriptor_heap", c"vkWriteSamplerDescriptorsEXT" => heap::write_sampler_descriptors;
                write_resource_descriptors: vk_layer_sys::PfnWriteResourceDescriptors, "VK_EXT_descriptor_heap", c"vkWriteResourceDescriptorsEXT" => heap::write_resource_descriptors;
                register_custom_border_color: vk_layer_sys::PfnRegisterCustomBorderColor, "VK_EXT_descriptor_heap", c"vkRegisterCustomBorderColorEXT" => heap::register_custom_border_color;
                unregister_custom_border_color: vk_layer_sys::PfnUnregisterCustomBorderColor, "VK_EXT_descriptor_heap", c"vkUnregisterCustomBorderColorEXT" => heap::unregister_custom_border_color;
                get_descriptor_set_host_mapping: vk::PFN_vkGetDescriptorSetHostMappingVALVE, "VK_VALVE_descriptor_set_host_mapping", c"vkGetDescriptorSetHostMappingVALVE" => descriptor::get_descriptor_set_host_mapping;
                create_sampler: vk::PFN_vkCreateSampler, "1.0", c"vkCreateSampler" => sampler::create_sampler;
                destroy_sampler: vk::PFN_vkDestroySampler, "1.0", c"vkDestroySampler" => sampler::destroy_sampler;
                create_sampler_ycbcr_conversion: vk::PFN_vkCreateSamplerYcbcrConversion, "1.1", c"vkCreateSamplerYcbcrConversion", c"vkCreateSamplerYcbcrConversionKHR" => sampler::create_sampler_ycbcr_conversion;
                destroy_sampler_ycbcr_conversion: vk::PFN_vkDestroySamplerYcbcrConversion, "1.1", c"vkDestroySamplerYcbcrConversion", c"vkDestroySamplerYcbcrConversionKHR" => sampler::destroy_sampler_ycbcr_conversion;
                set_debug_utils_object_name: vk::PFN_vkSetDebugUtilsObjectNameEXT, "VK_EXT_debug_utils", c"vkSetDebugUtilsObjectNameEXT" => sampler::set_debug_utils_object_name;
                debug_marker_set_object_name: vk::PFN_vkDebugMarkerSetObjectNameEXT, "VK_EXT_debug_marker", c"vkDebugMarkerSetObjectNameEXT" => sampler::debug_marker_set_object_name;
                create_image: vk::PFN_vkCreateImage, "1.0", c"vkCreateImage" => image::create_image;
                destroy_image: vk::PFN_vkDestroyImage, "1.0", c"vkDestroyImage" => image::destroy_image;
                create_image_view: vk::PFN_vkCreateImageView, "1.0", c"vkCreateImageView" => image::create_image_view;
                destroy_image_view: vk::PFN_vkDestroyImageView, "1.0", c"vkDestroyImageView" => image::destroy_image_view;
                get_device_image_memory_requirements: vk::PFN_vkGetDeviceImageMemoryRequirements, "1.3", c"vkGetDeviceImageMemoryRequirements", c"vkGetDeviceImageMemoryRequirementsKHR" => requirements::get_device_image_memory_requirements;
                get_device_image_sparse_memory_requirements: vk::PFN_vkGetDeviceImageSparseMemoryRequirements, "1.3", c"vkGetDeviceImageSparseMemoryRequirements", c"vkGetDeviceImageSparseMemoryRequirementsKHR" => requirements::get_device_image_sparse_memory_requirements;
                get_device_image_subresource_layout: vk::PFN_vkGetDeviceImageSubresourceLayoutKHR, "1.4", c"vkGetDeviceImageSubresourceLayout", c"vkGetDeviceImageSubresourceLayoutKHR" => requirements::get_device_image_subresource_layout;
                create_swapchain: vk::PFN_vkCreateSwapchainKHR, "VK_KHR_swapchain", c"vkCreateSwapchainKHR" => image::create_swapchain;
                create_shared_swapchains: vk::PFN_vkCreateSharedSwapchainsKHR, "VK_KHR_display_swapchain", c"vkCreateSharedSwapchainsKHR" => image::create_shared_swapchains;
                get_swapchain_images: vk::PFN_vkGetSwapchainImagesKHR, "VK_KHR_swapchain", c"vkGetSwapchainImagesKHR" => image::get_swapchain_images;
                destroy_swapchain: vk::PFN_vkDestroySwapchainKHR, "VK_KHR_swapchain", c"vkDestroySwapchainKHR" => image::destroy_swapchain;
                create_descriptor_set_layout: vk::PFN_vkCreateDescriptorSetLayout, "1.0", c"vkCreateDescriptorSetLayout" => layout::create_descriptor_set_layout;
                destroy_descriptor_set_layout: vk::PFN_vkDestroyDescriptorSetLayout, "1.0", c"vkDestroyDescriptorSetLayout" => layout::destroy_descriptor_set_layout;
                create_pipeline_layout: vk::PFN_vkCreatePipelineLayout, "1.0", c"vkCreatePipelineLayout" => layout::create_pipeline_layout;
                destroy_pipeline_layout: vk::PFN_vkDestroyPipelineLayout, "1.0", c"vkDestroyPipelineLayout" => layout::destroy_pipeline_layout;
                create_descriptor_pool: vk::PFN_vkCreateDescriptorPool, "1.0", c"vkCreateDescriptorPool" => layout::create_descriptor_pool;
                allocate_descriptor_sets: vk::PFN_vkAllocateDescriptorSets, "1.0", c"vkAllocateDescriptorSets" => layout::allocate_descriptor_sets;
                free_descriptor_sets: vk::PFN_vkFreeDescriptorSets, "1.0", c"vkFreeDescriptorSets" => layout::free_descriptor_sets;
                reset_descriptor_pool: vk::PFN_vkResetDescriptorPool, "1.0", c"vkResetDescriptorPool" => layout::reset_descriptor_pool;
                destroy_descriptor_pool: vk::PFN_vkDestroyDescriptorPool, "1.0", c"vkDestroyDescriptorPool" => layout::destroy_descriptor_pool;
                create_descriptor_update_template: vk::PFN_vkCreateDescriptorUpdateTemplate, "1.1", c"vkCreateDescriptorUpdateTemplate", c"vkCreateDescriptorUpdateTemplateKHR" => template::create_descriptor_update_template;
                destroy_descriptor_update_template: vk::PFN_vkDestroyDescriptorUpdateTemplate, "1.1", c"vkDestroyDescriptorUpdateTemplate", c"vkDestroyDescriptorUpdateTemplateKHR" => template::destroy_descriptor_update_template;
                cmd_blit_image: vk::PFN_vkCmdBlitImage, "1.0", c"vkCmdBlitImage" => blit::cmd_blit_image;
                cmd_blit_image2: vk::PFN_vkCmdBlitImage2, "1.3", c"vkCmdBlitImage2", c"vkCmdBlitImage2KHR" => blit::cmd_blit_image2;
                get_image_drm_format_modifier_properties: vk::PFN_vkGetImageDrmFormatModifierPropertiesEXT, "VK_EXT_image_drm_format_modifier", c"vkGetImageDrmFormatModifierPropertiesEXT";
            }
            Shaders {
                create_shader_module: vk::PFN_vkCreateShaderModule, "1.0", c"vkCreateShaderModule" => shader::create_shader_module;
                destroy_shader_module: vk::PFN_vkDestroyShaderModule, "1.0", c"vkDestroyShaderModule" => shader::destroy_shader_module;
                get_shader_module_create_info_identifier: vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT, "VK_EXT_shader_module_identifier", c"vkGetShaderModuleCreateInfoIdentifierEXT" => shader::get_shader_module_create_info_identifier;
                get_pipeline_key: vk_layer_sys::PfnGetPipelineKey, "VK_KHR_pipeline_binary", c"vkGetPipelineKeyKHR" => shader::get_pipeline_key;
                create_graphics_pipelines: vk::PFN_vkCreateGraphicsPipelines, "1.0", c"vkCreateGraphicsPipelines" => separate::pipeline::create_graphics_pipelines;
                create_compute_pipelines: vk::PFN_vkCreateComputePipelines, "1.0", c"vkCreateComputePipelines" => separate::pipeline::create_compute_pipelines;
                create_ray_tracing_pipelines: vk::PFN_vkCreateRayTracingPipelinesKHR, "VK_KHR_ray_tracing_pipeline", c"vkCreateRayTracingPipelinesKHR" => separate::rays::create_ray_tracing_pipelines;
                create_ray_tracing_pipelines_nv: vk::PFN_vkCreateRayTracingPipelinesNV, "VK_NV_ray_tracing", c"vkCreateRayTracingPipelinesNV" => separate::rays::create_ray_tracing_pipelines_nv;
                create_shaders: vk::PFN_vkCreateShadersEXT, "VK_EXT_shader_object", c"vkCreateShadersEXT" => separate::shader_objects::create_shaders;
            }
            Buffers {
                create_buffer: vk::PFN_vkCreateBuffer, "1.0", c"vkCreateBuffer" => buffer_view::create_buffer;
                destroy_buffer: vk::PFN_vkDestroyBuffer, "1.0", c"vkDestroyBuffer" => buffer_view::destroy_buffer;
            }
            BufferViews {
                create_buffer_view: vk::PFN_vkCreateBufferView, "1.0", c"vkCreateBufferView" => buffer_view::create_buffer_view;
                destroy_buffer_view: vk::PFN_vkDestroyBufferView, "1.0", c"vkDestroyBufferView" => buffer_view::destroy_buffer_view;
            }
            Frames {
                queue_submit: vk::PFN_vkQueueSubmit, "1.0", c"vkQueueSubmit" => queue::queue_submit;
                queue_submit2: vk::PFN_vkQueueSubmit2, "1.3", c"vkQueueSubmit2", c"vkQueueSubmit2KHR" => queue::queue_submit2;
                queue_bind_sparse: vk::PFN_vkQueueBindSparse, "1.0", c"vkQueueBindSparse" => queue::queue_bind_sparse;
            }
            Separate {
                deferred_operation_join: vk::PFN_vkDeferredOperationJoinKHR, "VK_KHR_deferred_host_operations", c"vkDeferredOperationJoinKHR" => separate::rays::deferred_operation_join;
                get_deferred_operation_result: vk::PFN_vkGetDeferredOperationResultKHR, "VK_KHR_deferred_host_operations", c"vkGetDeferredOperationResultKHR" => separate::rays::get_deferred_operation_result;
                destroy_pipeline: vk::PFN_vkDestroyPipeline, "1.0", c"vkDestroyPipeline" => separate::pipeline::destroy_pipeline;
                destroy_shader: vk::PFN_vkDestroyShaderEXT, "VK_EXT_shader_object", c"vkDestroyShaderEXT" => separate::shader_objects::destroy_shader;
                get_buffer_memory_requirements: vk::PFN_vkGetBufferMemoryRequirements, "1.0", c"vkGetBufferMemoryRequirements";
                allocate_memory: vk::PFN_vkAllocateMemory, "1.0", c"vkAllocateMemory";
                cmd_begin_render_pass: vk::PFN_vkCmdBeginRenderPass, "1.0", c"vkCmdBeginRenderPass";
                cmd_begin_render_pass2: vk::PFN_vkCmdBeginRenderPass2, "1.2", c"vkCmdBeginRenderPass2", c"vkCmdBeginRenderPass2KHR";
                cmd_begin_rendering: vk::PFN_vkCmdBeginRendering, "1.3", c"vkCmdBeginRendering", c"vkCmdBeginRenderingKHR";
                create_fence: vk::PFN_vkCreateFence, "1.0", c"vkCreateFence";
                destroy_fence: vk::PFN_vkDestroyFence, "1.0", c"vkDestroyFence";
                wait_for_fences: vk::PFN_vkWaitForFences, "1.0", c"vkWaitForFences";
                free_memory: vk::PFN_vkFreeMemory, "1.0", c"vkFreeMemory";
                get_descriptor_set_layout_support: vk::PFN_vkGetDescriptorSetLayoutSupport, "1.1", c"vkGetDescriptorSetLayoutSupport", c"vkGetDescriptorSetLayoutSupportKHR";
                bind_buffer_memory: vk::PFN_vkBindBufferMemory, "1.0", c"vkBindBufferMemory";
                map_memory: vk::PFN_vkMapMemory, "1.0", c"vkMapMemory";
                create_render_pass: vk::PFN_vkCreateRenderPass, "1.0", c"vkCreateRenderPass" => separate::pipeline::create_render_pass;
                create_render_pass2: vk::PFN_vkCreateRenderPass2, "1.2", c"vkCreateRenderPass2", c"vkCreateRenderPass2KHR" => separate::pipeline::create_render_pass2;
                destroy_render_pass: vk::PFN_vkDestroyRenderPass, "1.0", c"vkDestroyRenderPass" => separate::pipeline::destroy_render_pass;
                allocate_command_buffers: vk::PFN_vkAllocateCommandBuffers, "1.0", c"vkAllocateCommandBuffers" => separate::command_buffers::allocate_command_buffers;
                free_command_buffers: vk::PFN_vkFreeCommandBuffers, "1.0", c"vkFreeCommandBuffers" => separate::command_buffers::free_command_buffers;
                destroy_command_pool: vk::PFN_vkDestroyCommandPool, "1.0", c"vkDestroyCommandPool" => separate::command_buffers::destroy_command_pool;
                begin_command_buffer: vk::PFN_vkBeginCommandBuffer, "1.0", c"vkBeginCommandBuffer" => separate::command_buffers::begin_command_buffer;
                cmd_execute_commands: vk::PFN_vkCmdExecuteCommands, "1.0", c"vkCmdExecuteCommands" => separate::command_buffers::cmd_execute_commands;
                cmd_bind_pipeline: vk::PFN_vkCmdBindPipeline, "1.0", c"vkCmdBindPipeline" => separate::command_buffers::cmd_bind_pipeline;
                cmd_bind_shaders: vk::PFN_vkCmdBindShadersEXT, "VK_EXT_shader_object", c"vkCmdBindShadersEXT" => separate::shader_objects::cmd_bind_shaders;
                cmd_begin_transform_feedback: vk::PFN_vkCmdBeginTransformFeedbackEXT, "VK_EXT_transform_feedback", c"vkCmdBeginTransformFeedbackEXT" => separate::command_buffers::cmd_begin_transform_feedback;
                cmd_end_transform_feedback: vk::PFN_vkCmdEndTransformFeedbackEXT, "VK_EXT_transform_feedback", c"vkCmdEndTransformFeedbackEXT" => separate::command_buffers::cmd_end_transform_feedback;
                cmd_begin_transform_feedback2: vk_layer_sys::PfnCmdTransformFeedback2, "VK_KHR_device_address_commands", c"vkCmdBeginTransformFeedback2EXT" => separate::command_buffers::cmd_begin_transform_feedback2;
                cmd_end_transform_feedback2: vk_layer_sys::PfnCmdTransformFeedback2, "VK_KHR_device_address_commands", c"vkCmdEndTransformFeedback2EXT" => separate::command_buffers::cmd_end_transform_feedback2;
                cmd_set_descriptor_buffer_offsets: vk::PFN_vkCmdSetDescriptorBufferOffsetsEXT, "VK_EXT_descriptor_buffer", c"vkCmdSetDescriptorBufferOffsetsEXT" => separate::buffers::cmd_set_descriptor_buffer_offsets;
                cmd_set_descriptor_buffer_offsets2: vk::PFN_vkCmdSetDescriptorBufferOffsets2EXT, "VK_EXT_descriptor_buffer", c"vkCmdSetDescriptorBufferOffsets2EXT" => separate::buffers::cmd_set_descriptor_buffer_offsets2;
                cmd_bind_descriptor_buffer_embedded_samplers: vk::PFN_vkCmdBindDescriptorBufferEmbeddedSamplersEXT, "VK_EXT_descriptor_buffer", c"vkCmdBindDescriptorBufferEmbeddedSamplersEXT" => separate::buffers::cmd_bind_descriptor_buffer_embedded_samplers;
                cmd_bind_descriptor_buffer_embedded_samplers2: vk::PFN_vkCmdBindDescriptorBufferEmbeddedSamplers2EXT, "VK_EXT_descriptor_buffer", c"vkCmdBindDescriptorBufferEmbeddedSamplers2EXT" => separate::buffers::cmd_bind_descriptor_buffer_embedded_samplers2;
                cmd_bind_sampler_heap: vk_layer_sys::PfnCmdWithInfo, "VK_EXT_descriptor_heap", c"vkCmdBindSamplerHeapEXT" => separate::buffers::cmd_bind_sampler_heap;
                cmd_bind_resource_heap: vk_layer_sys::PfnCmdWithInfo, "VK_EXT_descriptor_heap", c"vkCmdBindResourceHeapEXT" => separate::buffers::cmd_bind_resource_heap;
                cmd_push_data: vk_layer_sys::PfnCmdWithInfo, "VK_EXT_descriptor_heap", c"vkCmdPushDataEXT" => separate::buffers::cmd_push_data;
                cmd_preprocess_generated_commands: vk_layer_sys::PfnCmdPreprocessGeneratedCommands, "VK_EXT_device_generated_commands", c"vkCmdPreprocessGeneratedCommandsEXT" => separate::generated::cmd_preprocess_generated_commands;
                cmd_preprocess_generated_commands_nv: vk::PFN_vkCmdPreprocessGeneratedCommandsNV, "VK_NV_device_generated_commands", c"vkCmdPreprocessGeneratedCommandsNV" => separate::generated::cmd_preprocess_generated_commands_nv;
                cmd_execute_generated_commands: vk_layer_sys::PfnCmdExecuteGeneratedCommands, "VK_EXT_device_generated_commands", c"vkCmdExecuteGeneratedCommandsEXT" => separate::generated::cmd_execute_generated_commands;
                cmd_execute_generated_commands_nv: vk::PFN_vkCmdExecuteGeneratedCommandsNV, "VK_NV_device_generated_commands", c"vkCmdExecuteGeneratedCommandsNV" => separate::generated::cmd_execute_generated_commands_nv;
                cmd_bind_pipeline_shader_group: vk::PFN_vkCmdBindPipelineShaderGroupNV, "VK_NV_device_generated_commands", c"vkCmdBindPipelineShaderGroupNV" => separate::generated::cmd_bind_pipeline_shader_group;
                cmd_bind_descriptor_sets: vk::PFN_vkCmdBindDescriptorSets, "1.0", c"vkCmdBindDescriptorSets" => separate::command_buffers::cmd_bind_descriptor_sets;
                cmd_bind_descriptor_sets2: vk::PFN_vkCmdBindDescriptorSets2KHR, "1.4", c"vkCmdBindDescriptorSets2", c"vkCmdBindDescriptorSets2KHR" => separate::command_buffers::cmd_bind_descriptor_sets2;
                cmd_begin_debug_utils_label: vk::PFN_vkCmdBeginDebugUtilsLabelEXT, "VK_EXT_debug_utils", c"vkCmdBeginDebugUtilsLabelEXT" => separate::labels::cmd_begin_debug_utils_label;
                cmd_end_debug_utils_label: vk::PFN_vkCmdEndDebugUtilsLabelEXT, "VK_EXT_debug_utils", c"vkCmdEndDebugUtilsLabelEXT" => separate::labels::cmd_end_debug_utils_label;
                cmd_insert_debug_utils_label: vk::PFN_vkCmdInsertDebugUtilsLabelEXT, "VK_EXT_debug_utils", c"vkCmdInsertDebugUtilsLabelEXT" => separate::labels::cmd_insert_debug_utils_label;
                cmd_debug_marker_begin: vk::PFN_vkCmdDebugMarkerBeginEXT, "VK_EXT_debug_marker", c"vkCmdDebugMarkerBeginEXT" => separate::labels::cmd_debug_marker_begin;
                cmd_debug_marker_end: vk::PFN_vkCmdDebugMarkerEndEXT, "VK_EXT_debug_marker", c"vkCmdDebugMarkerEndEXT" => separate::labels::cmd_debug_marker_end;
                cmd_debug_marker_insert: vk::PFN_vkCmdDebugMarkerInsertEXT, "VK_EXT_debug_marker", c"vkCmdDebugMarkerInsertEXT" => separate::labels::cmd_debug_marker_insert;
                queue_present: vk::PFN_vkQueuePresentKHR, "VK_KHR_swapchain", c"vkQueuePresentKHR" => queue::queue_present;
            }
        }
    };
}
pub(crate) use commands;

/// Which of the commands are intercepted that are not always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// Those for samplers and images that only a shader joins.
    pub separate: bool,
    /// Those for shaders that are rewritten as they come.
    pub shaders: bool,
    /// Those for buffers whose texels shaders store.
    pub buffers: bool,
    /// Those for views of buffers: the same, and what shaders declare of them.
    pub buffer_views: bool,
    /// Submissions, which may say that a frame ends, and are when the rules file is looked at.
    pub frames: bool,
    /// Whether those that rules may change have other hooks.
    pub retuned: bool,
    /// Whether those have that are counted.
    pub pulsed: bool,
}

macro_rules! name_row {
    (Device $which:ident $($command:literal)+ => $hook:path) => { &[$($command),+] };
    (Separate $which:ident $($command:literal)+ => $hook:path) => { if $which.separate { &[$($command),+] } else { &[] } };
    (Shaders $which:ident $($command:literal)+ => $hook:path) => { if $which.shaders { &[$($command),+] } else { &[] } };
    (Buffers $which:ident $($command:literal)+ => $hook:path) => { if $which.buffers { &[$($command),+] } else { &[] } };
    (BufferViews $which:ident $($command:literal)+ => $hook:path) => {
        if $which.buffer_views { &[$($command),+] } else { &[] }
    };
    (Frames $which:ident $($command:literal)+ => $hook:path) => { if $which.frames { &[$($command),+] } else { &[] } };
    ($($other:tt)+) => { &[] };
}

macro_rules! names {
    (
        own { $($own_level:ident $own:ident: $own_type:ty, $own_needed:literal, $($own_name:literal),+ => $own_hook:path;)+ }
        followed { $($followed:tt)+ }
        retuned { $($retuned:tt)+ }
        pulsed { $($p_level:ident $p_field:ident: $p_type:ty, $($p_name:literal),+ => $p_hook:path;)+ }
        actions { $($a_field:ident: $a_type:ty, $a_needed:literal, $($a_name:literal),+ => $a_point:ident;)+ }
        $($level:ident { $($field:ident: $type:ty, $needed:literal, $($name:literal),+ $(=> $hook:path)?;)+ })+
    ) => {
        /// Names of the device commands that the layer intercepts, aliases included.
        pub fn intercepted_on_devices(which: Which) -> Vec<&'static CStr> {
            let rows: &[&[&CStr]] = &[
                $(name_row!($own_level which $($own_name)+ => $own_hook),)+
                $(name_row!(Separate which $($a_name)+ => $a_point),)+
                $(if which.pulsed && !which.separate { &[$($a_name),+] } else { &[] },)+
                $($(name_row!($level which $($name)+ $(=> $hook)?),)+)+
            ];
            let mut names = rows.concat();
            if which.pulsed {
                $($(if !names.contains(&$p_name) { names.push($p_name); })+)+
            }
            names
        }
    };
}

commands!(names);
