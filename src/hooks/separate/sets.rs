//! Writes and pushes of descriptors: taken over, then left to the hooks that every device has.

use std::ffi::c_void;

use ash::vk;

use crate::device::Device;
use crate::hooks::{descriptor, slice, template};

pub(crate) unsafe extern "system" fn update_descriptor_sets(
    handle: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    let known = enter!(handle);
    if let Some(separate) = known.separate.as_deref() {
        known.guard(
            // SAFETY: VUID-vkUpdateDescriptorSets-pDescriptorWrites-parameter and -pDescriptorCopies-parameter.
            || unsafe { known.separate_updates(separate, slice(writes, write_count), slice(copies, copy_count)) },
            || (),
        );
    }
    // SAFETY: the application's own arguments.
    unsafe { descriptor::update_descriptor_sets(handle, write_count, writes, copy_count, copies) };
}

pub(crate) unsafe extern "system" fn update_descriptor_set_with_template(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let known = enter!(handle);
    if let Some(separate) = known.separate.as_deref() {
        // SAFETY: set, template and data are valid by the command's valid usage.
        known.guard(|| unsafe { known.separate_template(separate, set, template, data) }, || ());
    }
    // SAFETY: the application's own arguments.
    unsafe { template::update_descriptor_set_with_template(handle, set, template, data) };
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: the application's own arguments.
    unsafe { descriptor::cmd_push_descriptor_set(commands, bind_point, layout, set, count, writes) };
    let known = enter!(commands);
    if let Some(separate) = known.separate.as_deref() {
        // SAFETY: the command buffer and the layout are valid, and so are the writes, by the command's valid usage.
        known.guard(
            || unsafe { known.separate_push(separate, commands, [bind_point], (layout, set), slice(writes, count)) },
            || (),
        );
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    // SAFETY: the application's own arguments.
    unsafe { descriptor::cmd_push_descriptor_set2(commands, info) };
    let known = enter!(commands);
    // SAFETY: VUID-vkCmdPushDescriptorSet2-pPushDescriptorSetInfo-parameter.
    if let (Some(separate), Some(info)) = (known.separate.as_deref(), unsafe { info.as_ref() }) {
        let points = super::commands::points(info.stage_flags);
        known.guard(
            || {
                // SAFETY: the command buffer and the layout are valid, and so are the writes, by the command's valid usage.
                unsafe {
                    let writes = slice(info.p_descriptor_writes, info.descriptor_write_count);
                    known.separate_push(separate, commands, points, (info.layout, info.set), writes);
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
    known: &Device,
    commands: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    place: (vk::PipelineLayout, u32),
    data: *const c_void,
) {
    if let Some(separate) = known.separate.as_deref() {
        // SAFETY: forwarded from the caller.
        known.guard(|| unsafe { known.separate_push_template(separate, commands, template, place, data) }, || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template(
    commands: vk::CommandBuffer,
    update: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    // SAFETY: the application's own arguments.
    unsafe { template::cmd_push_descriptor_set_with_template(commands, update, layout, set, data) };
    let known = enter!(commands);
    // SAFETY: as above.
    unsafe { pushed_with_template(known, commands, update, (layout, set), data) };
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
) {
    // SAFETY: the application's own arguments.
    unsafe { template::cmd_push_descriptor_set_with_template2(commands, info) };
    let known = enter!(commands);
    // SAFETY: VUID-vkCmdPushDescriptorSetWithTemplate2-pPushDescriptorSetWithTemplateInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        let (template, place) = (info.descriptor_update_template, (info.layout, info.set));
        // SAFETY: as above.
        unsafe { pushed_with_template(known, commands, template, place, info.p_data) };
    }
}
