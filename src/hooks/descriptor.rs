//! Descriptor writes with a (sampler, view) pair: `vkUpdateDescriptorSets`, push descriptors, descriptor buffers and image-view
//! handles. Templates are in [`super::template`].
//!
//! `vkUpdateDescriptorSets` and `vkCmdPushDescriptorSet` come here only with what `samplin_hot::hooks` leaves over: immutable
//! samplers, and the first separate one.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::hooks;

use super::{device, slice};
use crate::counters::Path;
use crate::pnext;
use crate::state::{Device, SetLayout};

/// Where the set layout of a write comes from.
#[derive(Clone, Copy)]
pub(crate) enum LayoutOf<'a> {
    /// `dstSet` of the write.
    DestinationSet,
    /// Push descriptors: `dstSet` is ignored.
    Given(Option<&'a SetLayout>),
}

impl<'a> LayoutOf<'a> {
    /// The layout of a write, if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// With [`LayoutOf::DestinationSet`], `set` is a valid descriptor set (VUID-VkWriteDescriptorSet-dstSet-00320).
    pub(crate) unsafe fn of(self, known: &'a Device, set: vk::DescriptorSet) -> Option<&'a SetLayout> {
        match self {
            // SAFETY: forwarded from the caller.
            Self::DestinationSet => unsafe { known.sets.get(set.as_raw()) },
            Self::Given(layout) => layout,
        }
    }

    /// The set layout number `set` of a pipeline layout, for push descriptors. Without a layout (`dynamicPipelineLayout`) it is
    /// described in the chain (VUID-VkPushDescriptorSetInfo-layout-09496).
    ///
    /// # Safety
    ///
    /// `layout` is null or valid, `p_next` is the chain of a valid push.
    pub(crate) unsafe fn push(known: &'a Device, layout: vk::PipelineLayout, p_next: *const c_void, set: u32) -> Self {
        if !known.hot.has_immutables.load(Ordering::Acquire) {
            return Self::Given(None);
        }
        if layout == vk::PipelineLayout::null() {
            // SAFETY: forwarded from the caller; the set layouts are valid, or null, during the command.
            return Self::Given(unsafe {
                pnext::find::<vk::PipelineLayoutCreateInfo<'_>>(p_next).and_then(|chained| {
                    let sets = slice(chained.p_set_layouts, chained.set_layout_count);
                    known.layouts.get(sets.get(set as usize)?.as_raw())
                })
            });
        }
        // SAFETY: forwarded from the caller.
        let sets = unsafe { known.pipeline_layouts.get(layout.as_raw()) };
        Self::Given(sets.and_then(|sets| sets.get(set as usize)).and_then(|layout| layout.as_deref()))
    }
}

/// The image infos of a combined image sampler write; empty for any other type, whose pointer may dangle.
///
/// # Safety
///
/// The write is valid.
#[inline(always)]
unsafe fn combined<'a>(write: &vk::WriteDescriptorSet<'a>) -> &'a [vk::DescriptorImageInfo] {
    if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
        // SAFETY: VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493: `descriptorCount` valid elements.
        unsafe { slice(write.p_image_info, write.descriptor_count) }
    } else {
        &[]
    }
}

/// Whether the samplers of a write are ignored; then conflicts of the immutable ones are noted.
///
/// # Safety
///
/// The write is valid.
#[cold]
unsafe fn immutable(known: &Device, write: &vk::WriteDescriptorSet<'_>, layout: LayoutOf<'_>) -> bool {
    // SAFETY: the write's set is valid.
    let Some(layout) = (unsafe { layout.of(known, write.dst_set) }) else { return false };
    if !layout.is_immutable(write.dst_binding) {
        return false;
    }
    // SAFETY: the write is valid.
    for (element, info) in unsafe { combined(write) }.iter().enumerate() {
        note_immutable(
            known,
            layout,
            write.dst_binding,
            u64::from(write.dst_array_element) + element as u64,
            info.image_view,
        );
    }
    true
}

/// Notes a conflict of the immutable sampler at an element with a view.
pub(crate) fn note_immutable(known: &Device, layout: &SetLayout, binding: u32, element: u64, view: vk::ImageView) {
    if let Some((sampler, _)) = layout.immutable_at(binding, element)
        && let Some(pair) = known.hot.gate.conflict(vk::Sampler::from_raw(sampler), view)
    {
        known.guard(|| known.immutable_conflict(sampler, pair.state, view.as_raw()), || ());
    }
}

/// Hands `writes` to `down`, or a copy with legal pairs if one of them conflicts. Conflicts of immutable samplers are noted.
///
/// # Safety
///
/// The writes are valid.
unsafe fn forward<'a>(
    known: &Device,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'a>,
    layout: LayoutOf<'_>,
    path: Path,
    down: impl FnOnce(*const vk::WriteDescriptorSet<'a>),
) {
    let immutables = known.hot.has_immutables.load(Ordering::Acquire);
    // SAFETY: `count` valid elements by the command's valid usage.
    if unsafe { slice(writes, count) }.iter().any(|write| write.descriptor_type == vk::DescriptorType::SAMPLER) {
        known.separate_seen();
    }
    // SAFETY: the writes are valid, and `known` starts with its `Hot`.
    unsafe {
        let mut left_alone = |write: &vk::WriteDescriptorSet<'_>| immutables && immutable(known, write, layout);
        hooks::forward_except(&known.hot, count, writes, path, &mut left_alone, down);
    }
}

pub(crate) unsafe extern "system" fn update_descriptor_sets(
    handle: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    let Some(next) = known.fns.update_descriptor_sets else { return };
    // A copy carries a pair that was made legal when it was written, so copies go down as they are.
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers.
    unsafe {
        forward(known, write_count, writes, LayoutOf::DestinationSet, Path::Update, move |writes| {
            next(handle, write_count, writes, copy_count, copies);
        });
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(commands) }) else { return };
    let Some(next) = known.fns.cmd_push_descriptor_set else { return };
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers, which are consumed at the call.
    unsafe {
        let immutable = LayoutOf::push(known, layout, std::ptr::null(), set);
        forward(known, count, writes, immutable, Path::Push, move |writes| {
            next(commands, bind_point, layout, set, count, writes);
        });
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(commands) }) else { return };
    let Some(next) = known.fns.cmd_push_descriptor_set2 else { return };
    // SAFETY: valid by the command's valid usage; the layout is null or valid.
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        let immutable = LayoutOf::push(known, given.layout, given.p_next, given.set);
        forward(known, given.descriptor_write_count, given.p_descriptor_writes, immutable, Path::Push, |writes| {
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
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    let Some(next) = known.fns.get_descriptor else { return };
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
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return 0 };
    let Some(next) = known.fns.get_image_view_handle else { return 0 };
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
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return 0 };
    let Some(next) = known.fns.get_image_view_handle64 else { return 0 };
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
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
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
