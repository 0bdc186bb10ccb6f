//! Pushes of descriptors: left to the hooks that every device has, then taken over.

use std::ffi::c_void;

use ash::vk;

use crate::device::{Descriptors, Device, Filled, Live, Pushes, Recording, Writes};
use crate::hooks::{descriptor, template};
use crate::pnext::slice;

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: the arguments of this `vkCmdPushDescriptorSet`, for the hook that this one stands in for, or for what follows the push as
    // well.
    unsafe {
        if is_left(commands) {
            return descriptor::cmd_push_descriptor_set(commands, bind_point, layout, set, count, writes);
        }
        push_and_follow(commands, bind_point, layout, set, count, writes);
    }
}

/// Whether pushes are not followed. As that is how it is mostly, hooks hand all arguments over and are leaves then.
///
/// # Safety
///
/// `commands` is a valid command buffer.
#[inline(always)]
unsafe fn is_left(commands: vk::CommandBuffer) -> bool {
    // SAFETY: the command buffer is valid by this function's contract, and so its device is not destroyed meanwhile.
    unsafe { Device::find_first(commands) }.is_some_and(|device| !device.ground.hot.follows_binds())
}

#[inline(never)]
unsafe extern "system" fn push_and_follow(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: the hook that this one stands in for is called with what this one was called with.
    unsafe { descriptor::cmd_push_descriptor_set(commands, bind_point, layout, set, count, writes) };
    let device = enter!(commands);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: the command buffer is recording, the layout is valid, and so are the writes, by the command's valid usage.
        let (recording, layout, writes) =
            unsafe { (Recording::new(commands), Live::new(layout), Writes::new(slice(writes, count))) };
        let pushes = Pushes { layout, set, descriptors: Descriptors::Writes(writes) };
        device.ground.guard(|| separate.note_push(&device.ground, recording, bind_point, pushes), || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    // SAFETY: the hook that this one stands in for is called with what this one was called with.
    unsafe { descriptor::cmd_push_descriptor_set2(commands, info) };
    let device = enter!(commands);
    let separate = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds());
    // SAFETY: VUID-vkCmdPushDescriptorSet2-pPushDescriptorSetInfo-parameter.
    if let Some((info, separate)) = unsafe { info.as_ref() }.zip(separate) {
        // SAFETY: the command buffer is recording, the layout is null or valid, and the writes are valid, by the command's valid usage.
        let (recording, layout, writes) = unsafe {
            let writes = slice(info.p_descriptor_writes, info.descriptor_write_count);
            (Recording::new(commands), Live::new(info.layout), Writes::new(writes))
        };
        let pushes = Pushes { layout, set: info.set, descriptors: Descriptors::Writes(writes) };
        let push = |point| separate.note_push(&device.ground, recording, point, pushes);
        device.ground.guard(|| super::command_buffers::points(info.stage_flags).for_each(push), || ());
    }
}

/// Takes over a push with a template.
///
/// # Safety
///
/// The arguments of a valid push.
unsafe fn pushed_with_template(
    device: &Device,
    commands: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    at: (vk::PipelineLayout, u32),
    data: *const c_void,
) {
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: the arguments are those of a valid push with this template, by this function's contract.
        let (recording, layout, template) = unsafe { (Recording::new(commands), Live::new(at.0), Live::new(template)) };
        // SAFETY: as above.
        let filled = unsafe { Filled::new(template, data) };
        let pushes = Pushes { layout, set: at.1, descriptors: Descriptors::Template(filled) };
        let push = |point| separate.note_push(&device.ground, recording, point, pushes);
        device.ground.guard(|| separate.push_point(template).into_iter().for_each(push), || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template(
    commands: vk::CommandBuffer,
    update: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    // SAFETY: the arguments of this `vkCmdPushDescriptorSetWithTemplate`, for the hook that this one stands in for, or for what follows the
    // push as well.
    unsafe {
        if is_left(commands) {
            return template::cmd_push_descriptor_set_with_template(commands, update, layout, set, data);
        }
        push_template_and_follow(commands, update, layout, set, data);
    }
}

#[inline(never)]
unsafe extern "system" fn push_template_and_follow(
    commands: vk::CommandBuffer,
    update: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    // SAFETY: the template hook that this one stands in for is called with what this one was called with.
    unsafe { template::cmd_push_descriptor_set_with_template(commands, update, layout, set, data) };
    let device = enter!(commands);
    // SAFETY: template, layout, set number and data are the arguments of this very push, valid by its valid usage.
    unsafe { pushed_with_template(device, commands, update, (layout, set), data) };
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
) {
    // SAFETY: the template hook that this one stands in for is called with what this one was called with.
    unsafe { template::cmd_push_descriptor_set_with_template2(commands, info) };
    let device = enter!(commands);
    // SAFETY: VUID-vkCmdPushDescriptorSetWithTemplate2-pPushDescriptorSetWithTemplateInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        let (template, at) = (info.descriptor_update_template, (info.layout, info.set));
        // SAFETY: template, layout, set number and data are members of the push's valid info structure.
        unsafe { pushed_with_template(device, commands, template, at, info.p_data) };
    }
}
