//! Commands with descriptor update templates. What they come to is in `device::templates`.

use std::ffi::c_void;

use ash::vk::{self, Handle};

use super::descriptor::{notes_comparisons, noting};
use crate::counters::Path;
use crate::device::{Device, Filled, Live, Separate, Template, TemplateRun};
use crate::pnext::slice;

destroy! {
    destroy_descriptor_update_template(vk::DescriptorUpdateTemplate): |device, template| {
        let forget = || {
            device.ground.hot.templates.remove(template.as_raw());
            if let Some(separate) = device.separate.as_deref() {
                separate.forget_template(template);
            }
        };
        device.ground.guard(forget, || ());
    };
}

pub(crate) unsafe extern "system" fn create_descriptor_update_template(
    handle: vk::Device,
    create_info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    template: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    let (device, next) = enter!(handle, create_descriptor_update_template);
    let result = down!(next(handle, create_info, allocator, template));
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateDescriptorUpdateTemplate-pCreateInfo-parameter; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *template) };
                // SAFETY: VUID-VkDescriptorUpdateTemplateCreateInfo-pDescriptorUpdateEntries-parameter.
                let given = unsafe { slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count) };
                if given.iter().any(|entry| entry.descriptor_type == vk::DescriptorType::SAMPLER) {
                    device.ground.separate_seen();
                }
                if let Some(separate) = device.separate.as_deref() {
                    let runs = given.iter().map(|entry| TemplateRun {
                        ty: entry.descriptor_type,
                        target: (entry.dst_binding, entry.dst_array_element),
                        count: entry.descriptor_count,
                        offset: entry.offset,
                        stride: entry.stride,
                    });
                    let pushes = info.template_type == vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR;
                    let pushes = pushes.then_some(info.pipeline_bind_point);
                    separate.insert_separate_template(&device.pairs.stand_ins.aspects, made, pushes, runs);
                }
                // The set layout is ignored, and may be garbage, for push templates.
                let for_sets = info.template_type == vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET;
                let layout = if for_sets && device.ground.hot.has_immutables() {
                    // SAFETY: valid by VUID-VkDescriptorUpdateTemplateCreateInfo-templateType-00350.
                    unsafe { device.layouts.share_set_layout(info.descriptor_set_layout) }
                } else {
                    None
                };
                let (follows, stores) = (device.separate.is_some(), device.pairs.stand_ins.storage.is_lowering());
                let point = info.pipeline_bind_point;
                if let Some(entry) = Template::new(given, point, layout, follows, stores) {
                    device.ground.hot.insert_template(made, entry);
                }
            },
            || (),
        );
    }
    result
}

/// A leaf, see [`super::descriptor`].
pub(crate) unsafe extern "system" fn update_descriptor_set_with_template(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    // SAFETY: template and data are valid during the command (VUID-vkUpdateDescriptorSetWithTemplate-descriptorUpdateTemplate-parameter,
    // -pData-01685), and so is the device.
    unsafe {
        if let Some(device) = Device::find_first(handle) {
            let look = device.ground.hot.gate.must_look();
            let passes = match device.ground.hot.template(template) {
                None => true,
                Some(kept) if device.ground.hot.watches_template(kept) => false,
                Some(kept) if look && kept.is_several() => {
                    return update_several(handle, set, template, data, device, kept);
                }
                Some(kept) => {
                    if device.ground.hot.pass_first(kept, look, data, Path::Template) {
                        true
                    } else if look && kept.is_lone() && kept.layout().is_none() {
                        return update_lone(handle, set, template, data, device);
                    } else {
                        false
                    }
                }
            };
            if passes && let Some(next) = device.ground.driver.fns.update_descriptor_set_with_template {
                return next(handle, set, template, data);
            }
        }
        update_slowly(handle, set, template, data);
    }
}

/// For a pair that may conflict and is all that the template describes.
#[inline(never)]
unsafe extern "system" fn update_lone(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
    device: &Device,
) {
    // SAFETY: `data` has the one pair that the template describes (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685), which is all of it
    // in the copy.
    unsafe {
        let forward = || {
            let other = device.pairs.rewrite_lone(&device.ground, data, Path::Template);
            if let Some(next) = device.ground.driver.fns.update_descriptor_set_with_template {
                next(handle, set, template, other.as_ref().map_or(data, |info| std::ptr::from_ref(info).cast()));
            }
        };
        noting(device, false, forward, |separate| {
            note(device, separate, Live::new(set), Filled::new(Live::new(template), data))
        });
    }
}

/// Notes what an update with a template shows.
fn note(device: &Device, separate: &Separate, set: Live<'_, vk::DescriptorSet>, filled: Filled<'_>) {
    separate.note_template_wholes(&device.ground.hot, &device.pairs.stand_ins.aspects, set, filled);
}

/// Apart, as the one that it goes on to, so that no call saves more registers than it needs.
#[inline(never)]
unsafe extern "system" fn update_several(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
    device: &Device,
    kept: &Template,
) {
    // SAFETY: `update_descriptor_set_with_template` jumps here with its arguments and the entry of its template, which `data` is valid for
    // (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685).
    unsafe {
        if !kept.is_one_run() {
            return update_runs(handle, set, template, data, device, kept);
        }
        if device.ground.hot.pass_run(kept, data, Path::Template)
            && let Some(next) = device.ground.driver.fns.update_descriptor_set_with_template
        {
            return next(handle, set, template, data);
        }
        update_slowly(handle, set, template, data);
    }
}

#[inline(never)]
unsafe extern "system" fn update_runs(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
    device: &Device,
    kept: &Template,
) {
    // SAFETY: `kept` is the entry of the template that `data` is valid for (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685).
    unsafe {
        if device.ground.hot.pass_template(kept, true, data, Path::Template)
            && let Some(next) = device.ground.driver.fns.update_descriptor_set_with_template
        {
            return next(handle, set, template, data);
        }
        update_slowly(handle, set, template, data);
    }
}

#[inline(never)]
unsafe extern "system" fn update_slowly(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let (device, next) = enter!(handle, update_descriptor_set_with_template);
    // What is followed then has all.
    let is_noted = notes_comparisons(device);
    if let Some(separate) = device.separate.as_deref() {
        let (ground, pairs) = (&device.ground, &device.pairs);
        let hot = &ground.hot;
        // SAFETY: set, template and data are valid by the command's valid usage.
        let (set, filled, kept) =
            unsafe { (Live::new(set), Filled::new(Live::new(template), data), hot.template(template)) };
        if kept.is_none_or(|kept| hot.watches_template(kept)) && !separate.follow_template(hot, set, filled) {
            ground.guard(|| separate.separate_template(ground, pairs, set, filled), || ());
        }
        separate.rest_from_views(&device.ground);
    }
    // SAFETY: the application's own arguments, or a copy of the described data with other samplers.
    let forward = || unsafe {
        let down = move |data| next(handle, set, template, data);
        device.pairs.forward_template(
            &device.ground,
            template,
            Template::layout,
            (data, Path::Template),
            down,
            move |_, writes| {
                writes.iter_mut().for_each(|write| write.dst_set = set);
                if let Some(update) = device.ground.driver.fns.update_descriptor_sets {
                    device.pairs.stand_ins.with_shown(&device.ground, &device.pairs.images, writes, |writes| {
                        update(handle, writes.len() as u32, writes.as_ptr(), 0, std::ptr::null());
                    });
                }
            },
        );
    };
    noting(device, is_noted, forward, |separate| {
        // SAFETY: set, template and data are valid by the command's valid usage.
        let (set, filled) = unsafe { (Live::new(set), Filled::new(Live::new(template), data)) };
        note(device, separate, set, filled);
    });
}

/// Pushes single descriptors.
///
/// # Safety
///
/// The arguments are those of a valid push with a template.
unsafe fn push_patches(
    device: &Device,
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    if let Some(push) = device.ground.driver.fns.cmd_push_descriptor_set {
        // SAFETY: the bind point is the template's, the rest the application's own.
        unsafe {
            device.pairs.stand_ins.with_shown(&device.ground, &device.pairs.images, writes, |writes| {
                push(commands, bind_point, layout, set, writes.len() as u32, writes.as_ptr());
            });
        }
    }
}

/// A shader stage of a bind point: a push for one is a push for all of them (VkPushDescriptorSetInfo, "subset of all stages").
fn stage(bind_point: vk::PipelineBindPoint) -> vk::ShaderStageFlags {
    match bind_point {
        vk::PipelineBindPoint::COMPUTE => vk::ShaderStageFlags::COMPUTE,
        vk::PipelineBindPoint::RAY_TRACING_KHR => vk::ShaderStageFlags::RAYGEN_KHR,
        vk::PipelineBindPoint::SUBPASS_SHADING_HUAWEI => vk::ShaderStageFlags::SUBPASS_SHADING_HUAWEI,
        _ => vk::ShaderStageFlags::FRAGMENT,
    }
}

/// Pushes single descriptors as `given` did: with its chain, because a null layout is described there, and only this version of
/// the command takes one (VUID-VkPushDescriptorSetInfo-None-09495).
///
/// # Safety
///
/// `given` is the argument of a valid push with a template.
unsafe fn push_patches2(
    device: &Device,
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    given: &vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    if given.layout != vk::PipelineLayout::null() {
        // SAFETY: layout and set number are those of a valid push, and so are the writes, by this function's contract.
        return unsafe { push_patches(device, commands, bind_point, given.layout, given.set, writes) };
    }
    let mut info =
        vk::PushDescriptorSetInfoKHR::default().stage_flags(stage(bind_point)).set(given.set).descriptor_writes(writes);
    info.p_next = given.p_next;
    if let Some(push) = device.ground.driver.fns.cmd_push_descriptor_set2 {
        // SAFETY: the stage is one of the template's bind point, the rest the application's own; both structures may be extended by
        // the same ones.
        unsafe { push(commands, &info) };
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template(
    commands: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    let (device, next) = enter!(commands, cmd_push_descriptor_set_with_template);
    // SAFETY: the application's own arguments, or a copy of the described data with other samplers.
    unsafe {
        if device.ground.hot.template(template).is_none_or(|kept| {
            !(kept.has_shown() && device.ground.hot.exchanges_views())
                && device.ground.hot.pass_template(kept, device.ground.hot.gate.must_look(), data, Path::PushTemplate)
        }) {
            return next(commands, template, layout, set, data);
        }
        let layout_of = |_: &_| device.ground.hot.push_layout(layout, set);
        let down = move |data| next(commands, template, layout, set, data);
        device.pairs.forward_template(
            &device.ground,
            template,
            layout_of,
            (data, Path::PushTemplate),
            down,
            move |bind_point, writes| {
                push_patches(device, commands, bind_point, layout, set, writes);
            },
        );
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
) {
    let (device, next) = enter!(commands, cmd_push_descriptor_set_with_template2);
    // SAFETY: null or valid by VUID-vkCmdPushDescriptorSetWithTemplate2-pPushDescriptorSetWithTemplateInfo-parameter; the data is the
    // application's or a copy of what is described.
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        let (template, data) = (given.descriptor_update_template, given.p_data);
        if device.ground.hot.template(template).is_none_or(|kept| {
            !(kept.has_shown() && device.ground.hot.exchanges_views())
                && device.ground.hot.pass_template(kept, device.ground.hot.gate.must_look(), data, Path::PushTemplate)
        }) {
            return next(commands, info);
        }
        let layout_of = |_: &_| super::descriptor::push_layout(device, given.layout, given.p_next, given.set);
        let down = move |data| {
            if data == given.p_data {
                next(commands, info);
            } else {
                next(commands, &vk::PushDescriptorSetWithTemplateInfoKHR { p_data: data, ..*given });
            }
        };
        device.pairs.forward_template(
            &device.ground,
            template,
            layout_of,
            (data, Path::PushTemplate),
            down,
            move |bind_point, writes| {
                push_patches2(device, commands, bind_point, given, writes);
            },
        );
    }
}
