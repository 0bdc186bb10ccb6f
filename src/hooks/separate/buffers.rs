//! Descriptors that come from memory: of the sets that were bound before, what these commands leave is not followed.
//!
//! Set numbers whose offsets are set are no longer bound, nor are those whose layouts are not compatible
//! (vkCmdBindDescriptorSets, "no longer valid"; Pipeline Layout Compatibility), and no layout of descriptor buffers is compatible with one
//! of sets. A hidden set goes with them.

use std::ffi::c_void;

use ash::vk;
use vk::PipelineBindPoint as Point;

use super::command_buffers::{ALL_POINTS, points};
use crate::device::{Device, Recording};

/// What is bound at these bind points is not known any more.
///
/// # Safety
///
/// `commands` is a valid command buffer in the recording state.
unsafe fn forget(device: &Device, commands: vk::CommandBuffer, points: impl IntoIterator<Item = Point>) {
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let recording = unsafe { Recording::new(commands) };
        let forget = || points.into_iter().for_each(|point| separate.note_buffers(recording, point));
        device.ground.guard(forget, || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_set_descriptor_buffer_offsets(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    indices: *const u32,
    offsets: *const vk::DeviceSize,
) {
    let (device, next) = enter!(commands, cmd_set_descriptor_buffer_offsets);
    down!(next(commands, point, layout, first, count, indices, offsets));
    // SAFETY: VUID-vkCmdSetDescriptorBufferOffsetsEXT-commandBuffer-recording.
    unsafe { forget(device, commands, [point]) };
}

pub(crate) unsafe extern "system" fn cmd_set_descriptor_buffer_offsets2(
    commands: vk::CommandBuffer,
    info: *const vk::SetDescriptorBufferOffsetsInfoEXT<'_>,
) {
    let (device, next) = enter!(commands, cmd_set_descriptor_buffer_offsets2);
    down!(next(commands, info));
    // SAFETY: VUID-vkCmdSetDescriptorBufferOffsets2EXT-pSetDescriptorBufferOffsetsInfo-parameter.
    let stages = unsafe { info.as_ref() }.map_or(vk::ShaderStageFlags::empty(), |info| info.stage_flags);
    // SAFETY: VUID-vkCmdSetDescriptorBufferOffsets2EXT-commandBuffer-recording.
    unsafe { forget(device, commands, points(stages)) };
}

pub(crate) unsafe extern "system" fn cmd_bind_descriptor_buffer_embedded_samplers(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    set: u32,
) {
    let (device, next) = enter!(commands, cmd_bind_descriptor_buffer_embedded_samplers);
    down!(next(commands, point, layout, set));
    // SAFETY: VUID-vkCmdBindDescriptorBufferEmbeddedSamplersEXT-commandBuffer-recording.
    unsafe { forget(device, commands, [point]) };
}

pub(crate) unsafe extern "system" fn cmd_bind_descriptor_buffer_embedded_samplers2(
    commands: vk::CommandBuffer,
    info: *const vk::BindDescriptorBufferEmbeddedSamplersInfoEXT<'_>,
) {
    let (device, next) = enter!(commands, cmd_bind_descriptor_buffer_embedded_samplers2);
    down!(next(commands, info));
    // SAFETY: VUID-vkCmdBindDescriptorBufferEmbeddedSamplers2EXT-pBindDescriptorBufferEmbeddedSamplersInfo-parameter.
    let stages = unsafe { info.as_ref() }.map_or(vk::ShaderStageFlags::empty(), |info| info.stage_flags);
    // SAFETY: VUID-vkCmdBindDescriptorBufferEmbeddedSamplers2EXT-commandBuffer-recording.
    unsafe { forget(device, commands, points(stages)) };
}

/// Commands of descriptor heaps, which no bind point belongs to.
macro_rules! heaps {
    ($($command:ident)+) => {$(
        pub(crate) unsafe extern "system" fn $command(commands: vk::CommandBuffer, info: *const c_void) {
            let (device, next) = enter!(commands, $command);
            down!(next(commands, info));
            // SAFETY: a recording command buffer (the `-commandBuffer-recording` VUID of each).
            unsafe { forget(device, commands, ALL_POINTS) };
        }
    )+};
}

heaps! { cmd_bind_sampler_heap cmd_bind_resource_heap cmd_push_data }
