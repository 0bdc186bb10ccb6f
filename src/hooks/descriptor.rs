//! Descriptor writes with a (sampler, view) pair. Templates are in [`super::template`].
//!
//! `vkUpdateDescriptorSets`, `vkCmdPushDescriptorSet` and `vkUpdateDescriptorSetWithTemplate` are leaves, because engines call them tens of
//! thousands of times a frame: find the device that came first, look through the descriptors, count, and jump to the next layer with the
//! application's own arguments. Everything else is behind a jump at the end that hands over all arguments (to an `extern` function,
//! because one that could unwind would not be jumped to) and starts over, so that the usual way needs no stack and no guard.

use std::ffi::c_void;

use ash::vk::{self, Handle, WriteDescriptorSet};
use samplin_hot::SetLayout;

use super::slice;
use crate::counters::Path;
use crate::device::{Device, LayoutOf};
use crate::pnext;

pub(crate) unsafe extern "system" fn update_descriptor_sets(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage. A copy carries a pair that was made legal when it was written, so copies go down as
    // they are; so does everything else that is legal.
    unsafe {
        let mut first = 0;
        if let Some(known) = Device::find_first(handle)
            && let Some(next) = known.fns.update_descriptor_sets
        {
            // Copies may be of descriptors that are followed.
            if copy_count == 0 || known.separate.is_none() {
                match known.pass_writes(count, writes, Path::Update) {
                    Ok(()) => return next(handle, count, writes, copy_count, copies),
                    Err(index) => first = index,
                }
            }
        }
        update_slowly(handle, count, writes, copy_count, copies, first);
    }
}

#[inline(never)]
unsafe extern "system" fn update_slowly(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
    first: u32,
) {
    let (known, next) = enter!(handle, update_descriptor_sets);
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers.
    unsafe {
        if known.follows_writes(count, writes, copy_count) {
            follow(known, slice(writes, count), slice(copies, copy_count));
        }
        let down = |writes| next(handle, count, writes, copy_count, copies);
        known.forward_writes(count, writes, (first, Path::Update), LayoutOf::DstSet, down);
    }
}

/// Takes over writes and copies of separate samplers and images.
///
/// # Safety
///
/// The arguments of a valid `vkUpdateDescriptorSets`.
#[inline(never)]
unsafe fn follow(known: &Device, writes: &[WriteDescriptorSet<'_>], copies: &[vk::CopyDescriptorSet<'_>]) {
    if let Some(separate) = known.separate.as_deref() {
        // SAFETY: forwarded from the caller.
        known.guard(|| unsafe { known.separate_updates(separate, writes, copies) }, || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage.
    unsafe {
        if let Some(known) = Device::find_first(commands)
            && let Some(next) = known.fns.cmd_push_descriptor_set
            && known.pass_writes(count, writes, Path::Push).is_ok()
        {
            return next(commands, bind_point, layout, set, count, writes);
        }
        push_slowly(commands, bind_point, layout, set, count, writes);
    }
}

#[inline(never)]
unsafe extern "system" fn push_slowly(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    let (known, next) = enter!(commands, cmd_push_descriptor_set);
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers, which are consumed by the call.
    unsafe {
        let down = |writes| next(commands, bind_point, layout, set, count, writes);
        let layout_of = LayoutOf::Push(known.push_layout(layout, set));
        known.forward_writes(count, writes, (0, Path::Push), layout_of, down);
    }
}

/// The set layout with immutable samplers that a push goes to. Without a pipeline layout (`dynamicPipelineLayout`) it is described
/// in the chain (VUID-VkPushDescriptorSetInfo-layout-09496).
///
/// # Safety
///
/// `layout` is null or valid, `p_next` is the chain of a valid push.
pub(super) unsafe fn push_layout(
    known: &Device,
    layout: vk::PipelineLayout,
    p_next: *const c_void,
    set: u32,
) -> Option<&SetLayout> {
    if layout != vk::PipelineLayout::null() {
        // SAFETY: forwarded from the caller.
        return unsafe { known.push_layout(layout, set) };
    }
    if !known.has_immutables() {
        return None;
    }
    // SAFETY: the chain of a valid push; the set layouts that it names are valid, or null, during the command.
    unsafe {
        let chained = pnext::find::<vk::PipelineLayoutCreateInfo<'_>>(p_next)?;
        let sets = slice(chained.p_set_layouts, chained.set_layout_count);
        known.set_layout(*sets.get(set as usize)?)
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    let (known, next) = enter!(commands, cmd_push_descriptor_set2);
    // SAFETY: valid by the command's valid usage; the layout is null or valid.
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        let layout = push_layout(known, given.layout, given.p_next, given.set);
        let (count, writes) = (given.descriptor_write_count, given.p_descriptor_writes);
        known.forward_writes(count, writes, (0, Path::Push), LayoutOf::Push(layout), |writes| {
            if writes == given.p_descriptor_writes {
                next(commands, info);
            } else {
                next(commands, &vk::PushDescriptorSetInfoKHR { p_descriptor_writes: writes, ..*given });
            }
        });
    }
}

pub(crate) unsafe extern "system" fn get_descriptor(
    handle: vk::Device,
    info: *const vk::DescriptorGetInfoEXT<'_>,
    size: usize,
    descriptor: *mut c_void,
) {
    let (known, next) = enter!(handle, get_descriptor);
    // SAFETY: valid by VUID-vkGetDescriptorEXT-pDescriptorInfo-parameter; `type` tells which member of the union is set
    // (VUID-VkDescriptorGetInfoEXT-type-parameter).
    let pair = unsafe {
        info.as_ref()
            .filter(|info| info.ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .and_then(|info| info.data.p_combined_image_sampler.as_ref())
    };
    if let Some(image) = pair {
        let choice = substitute(known, image.sampler, image.image_view, Path::GetDescriptor);
        if choice != image.sampler {
            let changed = vk::DescriptorImageInfo { sampler: choice, ..*image };
            // SAFETY: `info` was dereferenced above; the copies live during the call.
            unsafe {
                let data = vk::DescriptorDataEXT { p_combined_image_sampler: &changed };
                return next(handle, &vk::DescriptorGetInfoEXT { data, ..*info }, size, descriptor);
            }
        }
    } else if known.hot.gate.must_look() {
        // SAFETY: as above.
        if unsafe { info.as_ref() }.is_some_and(|info| info.ty == vk::DescriptorType::SAMPLER) {
            known.separate_seen();
        }
    }
    // SAFETY: the application's own arguments.
    unsafe { next(handle, info, size, descriptor) }
}

/// The sampler to use for a single pair.
fn substitute(known: &Device, sampler: vk::Sampler, view: vk::ImageView, path: Path) -> vk::Sampler {
    let conflict = if known.hot.gate.must_look() { known.hot.gate.conflict(sampler, view) } else { None };
    let choice = conflict.map_or(sampler.as_raw(), |pair| known.choose(pair, path));
    known.hot.counters.add(path, 1, u64::from(choice != sampler.as_raw()));
    vk::Sampler::from_raw(choice)
}

/// A copy of `info` with a legal pair, if it has to change.
///
/// # Safety
///
/// `info` is null or valid.
unsafe fn handle_info<'a>(
    known: &Device,
    info: *const vk::ImageViewHandleInfoNVX<'a>,
) -> Option<vk::ImageViewHandleInfoNVX<'a>> {
    // SAFETY: forwarded from the caller.
    let given = unsafe { info.as_ref() }.filter(|i| i.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER)?;
    let choice = substitute(known, given.sampler, given.image_view, Path::ImageViewHandle);
    (choice != given.sampler).then_some(vk::ImageViewHandleInfoNVX { sampler: choice, ..*given })
}

pub(crate) unsafe extern "system" fn get_image_view_handle(
    handle: vk::Device,
    info: *const vk::ImageViewHandleInfoNVX<'_>,
) -> u32 {
    let (known, next) = enter!(handle, get_image_view_handle);
    // SAFETY: the application's own argument, or a copy with another sampler.
    unsafe {
        let changed = handle_info(known, info);
        next(handle, changed.as_ref().map_or(info, std::ptr::from_ref))
    }
}

pub(crate) unsafe extern "system" fn get_image_view_handle64(
    handle: vk::Device,
    info: *const vk::ImageViewHandleInfoNVX<'_>,
) -> u64 {
    let (known, next) = enter!(handle, get_image_view_handle64);
    // SAFETY: the application's own argument, or a copy with another sampler.
    unsafe {
        let changed = handle_info(known, info);
        next(handle, changed.as_ref().map_or(info, std::ptr::from_ref))
    }
}

pub(crate) unsafe extern "system" fn get_descriptor_set_host_mapping(
    handle: vk::Device,
    set: vk::DescriptorSet,
    data: *mut *mut c_void,
) {
    let known = enter!(handle);
    known.guard(
        || {
            let why = "descriptors written through a host mapping are plain memory, which no layer sees";
            known.unresolved("host-mapped descriptor set", why, None, serde_json::json!({}), (0, 0));
        },
        || (),
    );
    if let Some(next) = known.fns.get_descriptor_set_host_mapping {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, set, data) };
    }
}
