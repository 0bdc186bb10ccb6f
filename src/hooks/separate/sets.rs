//! Pushes of descriptors: left to the hooks that every device has, then taken over.

use std::ffi::c_void;

use ash::vk;

use crate::device::{Descriptors, Device, Pushes};
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
    if device.ground.hot.follows_binds() {
        // SAFETY: the command buffer and the layout are valid, and so are the writes, by the command's valid usage.
        device.ground.guard(
            || unsafe {
                let pushes = Pushes { layout, set, descriptors: Descriptors::Writes(slice(writes, count)) };
                device.note_push(commands, bind_point, pushes);
            },
            || (),
        );
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    // SAFETY: the hook that this one stands in for is called with what this one was called with.
    unsafe { descriptor::cmd_push_descriptor_set2(commands, info) };
    let device = enter!(commands);
    // SAFETY: VUID-vkCmdPushDescriptorSet2-pPushDescriptorSetInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() }.filter(|_| device.ground.hot.follows_binds()) {
        device.ground.guard(
            || {
                // SAFETY: the command buffer and the layout are valid, and so are the writes, by the command's valid usage.
                unsafe {
                    let writes = slice(info.p_descriptor_writes, info.descriptor_write_count);
                    let (layout, set, descriptors) = (info.layout, info.set, Descriptors::Writes(writes));
                    let push = |point| device.note_push(commands, point, Pushes { layout, set, descriptors });
                    super::commands::points(info.stage_flags).for_each(push);
                }
            },
            || (),
        );
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
    if device.ground.hot.follows_binds() {
        let pushes = Pushes { layout: at.0, set: at.1, descriptors: Descriptors::Template(template, data) };
        // SAFETY: the arguments are those of a valid push with this template, by this function's contract.
        device.ground.guard(
            || unsafe {
                device.push_point(template).into_iter().for_each(|point| device.note_push(commands, point, pushes));
            },
            || (),
        );
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
