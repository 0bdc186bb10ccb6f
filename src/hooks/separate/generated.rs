//! Commands that the device generates, and pipelines that it may choose for them.
//!
//! Which pipeline and which shaders run is not known, so that for these everything is bound as the application has it: also where they are
//! preprocessed, which takes over what is bound then.

use ash::vk;
use core::ffi::c_void;
use vk::PipelineBindPoint as Point;

use super::command_buffers::ALL_POINTS;
use crate::device::{Device, Recording};

/// Binds what the application has bound in place of what is the layer's own, and names once that this happens.
///
/// # Safety
///
/// `commands` is a valid command buffer in the recording state.
unsafe fn give_back(device: &Device, commands: vk::CommandBuffer) {
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: the command buffer is recording, by this function's contract.
        let recording = unsafe { Recording::new(commands) };
        let give_back = |point| separate.give_back(&device.ground, &device.pairs, recording, point);
        device.ground.guard(
            || {
                device.ground.journal.generated_commands();
                ALL_POINTS.into_iter().for_each(give_back);
            },
            || (),
        );
    }
}

pub(crate) unsafe extern "system" fn cmd_execute_generated_commands(
    commands: vk::CommandBuffer,
    is_preprocessed: vk::Bool32,
    info: *const c_void,
) {
    let (device, next) = enter!(commands, cmd_execute_generated_commands);
    // SAFETY: VUID-vkCmdExecuteGeneratedCommandsEXT-commandBuffer-recording.
    unsafe { give_back(device, commands) };
    down!(next(commands, is_preprocessed, info));
}

pub(crate) unsafe extern "system" fn cmd_execute_generated_commands_nv(
    commands: vk::CommandBuffer,
    is_preprocessed: vk::Bool32,
    info: *const vk::GeneratedCommandsInfoNV<'_>,
) {
    let (device, next) = enter!(commands, cmd_execute_generated_commands_nv);
    // SAFETY: VUID-vkCmdExecuteGeneratedCommandsNV-commandBuffer-recording.
    unsafe { give_back(device, commands) };
    down!(next(commands, is_preprocessed, info));
}

pub(crate) unsafe extern "system" fn cmd_preprocess_generated_commands(
    commands: vk::CommandBuffer,
    info: *const c_void,
    state: vk::CommandBuffer,
) {
    let (device, next) = enter!(commands, cmd_preprocess_generated_commands);
    // SAFETY: it is recording, and externally synchronised as well (vkCmdPreprocessGeneratedCommandsEXT, `stateCommandBuffer`).
    unsafe { give_back(device, state) };
    down!(next(commands, info, state));
}

pub(crate) unsafe extern "system" fn cmd_preprocess_generated_commands_nv(
    commands: vk::CommandBuffer,
    info: *const vk::GeneratedCommandsInfoNV<'_>,
) {
    let (device, next) = enter!(commands, cmd_preprocess_generated_commands_nv);
    // SAFETY: VUID-vkCmdPreprocessGeneratedCommandsNV-commandBuffer-recording.
    unsafe { give_back(device, commands) };
    down!(next(commands, info));
}

/// A group has shaders of its own, of which nothing is known.
pub(crate) unsafe extern "system" fn cmd_bind_pipeline_shader_group(
    commands: vk::CommandBuffer,
    point: Point,
    pipeline: vk::Pipeline,
    group: u32,
) {
    let (device, next) = enter!(commands, cmd_bind_pipeline_shader_group);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        device.ground.guard(|| device.ground.journal.generated_commands(), || ());
        // SAFETY: a recording command buffer (VUID-vkCmdBindPipelineShaderGroupNV-commandBuffer-recording).
        separate.note_unknown(unsafe { Recording::new(commands) }, point, pipeline);
    }
    down!(next(commands, point, pipeline, group));
}
