//! Hooks of `pulse=on`, and of rules that follow render passes. Each replaces the hook that it calls, so that nothing is counted without
//! these. Those of draws are in
//! [`actions`](super::separate::actions).

use ash::vk;

use super::{queue, retuned, separate};
use crate::device::{Device, Live, Separate};
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

/// Notes a render pass that begins; `has_depth`: it has a depth attachment.
fn begin_pass(device: &Device, commands: vk::CommandBuffer, area: vk::Rect2D, has_depth: bool) {
    if let Some(activity) = device.pairs.activity.as_deref() {
        let extent = has_depth.then_some([area.extent.width, area.extent.height]);
        device.ground.guard(|| activity.begin_pass(commands, extent), || ());
    }
}

/// Notes a render pass object that begins.
///
/// # Safety
///
/// `info` is null or valid.
unsafe fn begin_pass_object(device: &Device, commands: vk::CommandBuffer, info: *const vk::RenderPassBeginInfo<'_>) {
    // SAFETY: null or valid, by this function's contract, and so is the render pass that it names.
    let of = unsafe { info.as_ref().map(|info| (info.render_area, Live::new(info.render_pass))) };
    if let Some((area, pass)) = of {
        let has_depth = device.separate.as_deref().is_some_and(|separate| separate.has_depth(pass));
        begin_pass(device, commands, area, has_depth);
    }
}

pub(crate) unsafe extern "system" fn cmd_begin_render_pass(
    commands: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
) {
    let (device, next) = enter!(commands, cmd_begin_render_pass);
    // SAFETY: valid by VUID-vkCmdBeginRenderPass-pRenderPassBegin-parameter.
    unsafe { begin_pass_object(device, commands, info) };
    down!(next(commands, info, contents));
}

pub(crate) unsafe extern "system" fn cmd_begin_render_pass2(
    commands: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    begin: *const vk::SubpassBeginInfo<'_>,
) {
    let (device, next) = enter!(commands, cmd_begin_render_pass2);
    // SAFETY: valid by VUID-vkCmdBeginRenderPass2-pRenderPassBegin-parameter.
    unsafe { begin_pass_object(device, commands, info) };
    down!(next(commands, info, begin));
}

pub(crate) unsafe extern "system" fn cmd_begin_rendering(
    commands: vk::CommandBuffer,
    info: *const vk::RenderingInfo<'_>,
) {
    let (device, next) = enter!(commands, cmd_begin_rendering);
    // SAFETY: valid by VUID-vkCmdBeginRendering-pRenderingInfo-parameter, and so is the attachment that it may point to.
    let of = unsafe { info.as_ref().map(|info| (info.render_area, info.p_depth_attachment.as_ref())) };
    if let Some((area, depth)) = of {
        let has_depth = depth.is_some_and(|depth| depth.image_view != vk::ImageView::null());
        begin_pass(device, commands, area, has_depth);
    }
    down!(next(commands, info));
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
    let device = enter!(queue);
    device.ground.guard(|| device.pairs.observe(&device.ground, device.separate.as_deref()), || ());
    record_if_due(device);
    result
}
