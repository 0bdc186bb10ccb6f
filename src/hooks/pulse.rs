//! Hooks of `pulse=on`. Each replaces the hook that it calls, so that nothing is counted without `pulse=on`. Those of draws are in
//! [`actions`](super::separate::actions).

use ash::vk;

use super::{queue, retuned, separate};
use crate::device::{Device, Separate};
use crate::pnext::slice;

/// Writes a record if it is time for one.
fn record_if_due(device: &Device) {
    if let Some(activity) = device.pairs.activity.as_deref() {
        let copies = device.separate.as_deref().map(Separate::copies);
        device.ground.guard(|| device.pairs.pulse(&device.ground, activity, copies), || ());
    }
}

pub(crate) unsafe extern "system" fn begin_command_buffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let device = enter!(commands);
    if let Some(activity) = device.pairs.activity.as_deref() {
        device.ground.guard(|| activity.begin(commands), || ());
    }
    // SAFETY: the application's own arguments.
    unsafe { separate::command_buffers::begin_command_buffer(commands, info) }
}

pub(crate) unsafe extern "system" fn cmd_execute_commands(
    commands: vk::CommandBuffer,
    count: u32,
    secondaries: *const vk::CommandBuffer,
) {
    let device = enter!(commands);
    if let Some(activity) = device.pairs.activity.as_deref() {
        // SAFETY: `count` command buffers (VUID-vkCmdExecuteCommands-pCommandBuffers-parameter).
        let secondaries = unsafe { slice(secondaries, count) };
        device.ground.guard(|| activity.execute(commands, secondaries), || ());
    }
    // SAFETY: the application's own arguments.
    unsafe { separate::command_buffers::cmd_execute_commands(commands, count, secondaries) };
}

pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let device = enter!(queue);
    if let Some(activity) = device.pairs.activity.as_deref() {
        // SAFETY: `count` structures (VUID-vkQueueSubmit-pSubmits-parameter), each with its command buffers
        // (VUID-VkSubmitInfo-pCommandBuffers-parameter).
        let commands = unsafe { slice(infos, count).iter() }
            .flat_map(|info| unsafe { slice(info.p_command_buffers, info.command_buffer_count) });
        device.ground.guard(|| commands.for_each(|commands| activity.submit(*commands)), || ());
    }
    record_if_due(device);
    // SAFETY: the application's own arguments.
    unsafe { retuned::queue_submit(queue, count, infos, fence) }
}

pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let device = enter!(queue);
    if let Some(activity) = device.pairs.activity.as_deref() {
        // SAFETY: `count` structures (VUID-vkQueueSubmit2-pSubmits-parameter), each with its command buffers
        // (VUID-VkSubmitInfo2-pCommandBufferInfos-parameter).
        let commands = unsafe { slice(infos, count).iter() }
            .flat_map(|info| unsafe { slice(info.p_command_buffer_infos, info.command_buffer_info_count) });
        device.ground.guard(|| commands.for_each(|commands| activity.submit(commands.command_buffer)), || ());
    }
    record_if_due(device);
    // SAFETY: the application's own arguments.
    unsafe { retuned::queue_submit2(queue, count, infos, fence) }
}

pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    // SAFETY: the application's own arguments.
    let result = unsafe { queue::queue_present(queue, info) };
    record_if_due(enter!(queue));
    result
}
