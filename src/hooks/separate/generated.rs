//! Commands that the device generates, and pipelines that it may choose for them.

use ash::vk;
use core::ffi::c_void;

use crate::device::Device;

/// Names once that the device chooses pipelines: those are the application's own, which no other stands in for.
fn tell(device: &Device) {
    if device.follows_binds() {
        device.guard(|| device.generated_commands(), || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_execute_generated_commands(
    commands: vk::CommandBuffer,
    is_preprocessed: vk::Bool32,
    info: *const c_void,
) {
    let (device, next) = enter!(commands, cmd_execute_generated_commands);
    tell(device);
    down!(next(commands, is_preprocessed, info));
}

pub(crate) unsafe extern "system" fn cmd_execute_generated_commands_nv(
    commands: vk::CommandBuffer,
    is_preprocessed: vk::Bool32,
    info: *const vk::GeneratedCommandsInfoNV<'_>,
) {
    let (device, next) = enter!(commands, cmd_execute_generated_commands_nv);
    tell(device);
    down!(next(commands, is_preprocessed, info));
}

/// A group has shaders of its own, of which nothing is known.
pub(crate) unsafe extern "system" fn cmd_bind_pipeline_shader_group(
    commands: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
    group: u32,
) {
    let (device, next) = enter!(commands, cmd_bind_pipeline_shader_group);
    tell(device);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.follows_binds()) {
        // SAFETY: a recording command buffer (VUID-vkCmdBindPipelineShaderGroupNV-commandBuffer-recording).
        device.guard(|| unsafe { device.separate_unknown(separate, commands, point) }, || ());
    }
    down!(next(commands, point, pipeline, group));
}
