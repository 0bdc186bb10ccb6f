//! Types that are younger than the bindings.

use ash::vk;
use core::ffi::c_void;

/// `PFN_vkGetImageViewHandle64NVX` (VK_NVX_image_view_handle revision 3).
pub type PfnGetImageViewHandle64Nvx =
    unsafe extern "system" fn(device: vk::Device, info: *const vk::ImageViewHandleInfoNVX<'_>) -> u64;

/// `PFN_vkCmdExecuteGeneratedCommandsEXT` (VK_EXT_device_generated_commands); `info` is a `VkGeneratedCommandsInfoEXT`.
pub type PfnCmdExecuteGeneratedCommands =
    unsafe extern "system" fn(commands: vk::CommandBuffer, is_preprocessed: vk::Bool32, info: *const c_void);

/// `PFN_vkCmdPreprocessGeneratedCommandsEXT` (VK_EXT_device_generated_commands); `info` is a `VkGeneratedCommandsInfoEXT`.
pub type PfnCmdPreprocessGeneratedCommands =
    unsafe extern "system" fn(commands: vk::CommandBuffer, info: *const c_void, state: vk::CommandBuffer);

/// A command that takes one structure: `PFN_vkCmdDrawIndirect2KHR` and its likes (VK_KHR_device_address_commands),
/// `PFN_vkCmdDispatchTileQCOM` (VK_QCOM_tile_shading), `PFN_vkCmdBindSamplerHeapEXT` and its likes (VK_EXT_descriptor_heap).
pub type PfnCmdWithInfo = unsafe extern "system" fn(commands: vk::CommandBuffer, info: *const c_void);

/// `PFN_vkCmdDrawIndirectByteCount2EXT` (VK_KHR_device_address_commands); `counter` is a `VkBindTransformFeedbackBuffer2InfoEXT`.
pub type PfnCmdDrawIndirectByteCount2 = unsafe extern "system" fn(
    commands: vk::CommandBuffer,
    instances: u32,
    first_instance: u32,
    counter: *const c_void,
    counter_offset: u32,
    stride: u32,
);

/// `PFN_vkCmdBeginTransformFeedback2EXT` and `PFN_vkCmdEndTransformFeedback2EXT` (VK_KHR_device_address_commands); `counters` are
/// `VkBindTransformFeedbackBuffer2InfoEXT`.
pub type PfnCmdTransformFeedback2 =
    unsafe extern "system" fn(commands: vk::CommandBuffer, first: u32, count: u32, counters: *const c_void);

/// `VkPipelineCreateInfoKHR` (VK_KHR_pipeline_binary): what a pipeline is created with is in its chain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PipelineCreateInfoKHR {
    /// `VK_STRUCTURE_TYPE_PIPELINE_CREATE_INFO_KHR`.
    pub s_type: vk::StructureType,
    /// The create info.
    pub p_next: *const c_void,
}

/// `PFN_vkGetPipelineKeyKHR` (VK_KHR_pipeline_binary); the key is a `VkPipelineBinaryKeyKHR`.
pub type PfnGetPipelineKey =
    unsafe extern "system" fn(vk::Device, info: *const PipelineCreateInfoKHR, key: *mut c_void) -> vk::Result;

/// The structures of `VK_KHR_extended_flags` that carry flags: base and one 64-bit word each.
macro_rules! wide_flags {
    ($($(#[$doc:meta])+ $name:ident = $s_type:literal, $member:ident;)+) => {
        $(
            $(#[$doc])+
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                /// [`Self::STRUCTURE_TYPE`](vk::TaggedStructure::STRUCTURE_TYPE).
                pub s_type: vk::StructureType,
                /// Next node.
                pub p_next: *const c_void,
                /// The flags, whose low 32 bits mean what they mean in the words of Vulkan 1.0.
                pub $member: u64,
            }

            impl $name {
                /// `sType` of the structure.
                pub const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($s_type);

                /// The structure with these flags and nothing chained to it.
                pub const fn new($member: u64) -> Self {
                    Self { s_type: Self::STRUCTURE_TYPE, p_next: core::ptr::null(), $member }
                }
            }
        )+
    };
}

wide_flags! {
    /// `VkImageCreateFlags2CreateInfoKHR`: stands for `VkImageCreateInfo::flags`.
    ImageCreateFlags2CreateInfoKHR = 1_000_668_001, flags;
    /// `VkImageUsageFlags2CreateInfoKHR`: stands for `VkImageCreateInfo::usage` and `VkSwapchainCreateInfoKHR::imageUsage`.
    ImageUsageFlags2CreateInfoKHR = 1_000_668_002, usage;
    /// `VkImageViewUsage2CreateInfoKHR`: stands for `VkImageViewUsageCreateInfo`.
    ImageViewUsage2CreateInfoKHR = 1_000_668_003, usage;
    /// `VkImageStencilUsage2CreateInfoKHR`: stands for `VkImageStencilUsageCreateInfo`.
    ImageStencilUsage2CreateInfoKHR = 1_000_668_005, stencil_usage;
}
