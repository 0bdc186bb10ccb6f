//! Descriptor writes with a (sampler, view) pair. Templates are in [`super::template`].
//!
//! `vkUpdateDescriptorSets`, `vkCmdPushDescriptorSet` and `vkUpdateDescriptorSetWithTemplate` are leaves, because engines call them tens of
//! thousands of times a frame: find the device that came first, look through the descriptors, count, and jump to the next layer with the
//! application's own arguments. Everything else is behind a jump at the end that hands over all arguments (to an `extern` function,
//! because one that could unwind would not be jumped to) and starts over, so that the usual way needs no stack and no guard.

use std::ffi::c_void;

use ash::vk::{self, Handle, WriteDescriptorSet};
use samplin_core::left::Left;
use samplin_hot::SetLayout;

use crate::counters::Path;
use crate::device::{Copied, Device, Ground, LayoutOf, Separate, Stop, Write, Writes, WrittenSet};
use crate::pnext::{self, slice};

pub(crate) unsafe extern "system" fn update_descriptor_sets(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage. A copy carries a pair that was made legal when it was written, so copies reach the driver as
    // they are; so does everything else that is legal.
    unsafe {
        if count != 1 || copy_count != 0 {
            return update_several(handle, count, writes, copy_count, copies);
        }
        if let Some(device) = Device::find_first(handle)
            && device.ground.hot.pass_write(writes, Path::Update)
            && let Some(next) = device.ground.driver.fns.update_descriptor_sets
        {
            return next(handle, count, writes, copy_count, copies);
        }
        if matches!((*writes).descriptor_type, vk::DescriptorType::SAMPLER | vk::DescriptorType::SAMPLED_IMAGE) {
            return update_followed(handle, count, writes, copy_count, copies);
        }
        update_slowly(handle, count, writes, copy_count, copies, 0);
    }
}

/// For one write of samplers or of images that may be followed. Calls nothing.
#[inline(never)]
unsafe extern "system" fn update_followed(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: `update_descriptor_sets` was called for one write (VUID-vkUpdateDescriptorSets-pDescriptorWrites-parameter), of samplers or
    // sampled images, and jumps here with all its arguments.
    unsafe {
        let write = Write::new(&*writes);
        if let Some(device) = Device::find_first(handle)
            && let Some(separate) = device.separate.as_deref()
            && let Some(written) = separate.written(write)
        {
            if written.take_one(write)
                && !device.ground.hot.exchanges_views()
                && let Some(next) = device.ground.driver.fns.update_descriptor_sets
            {
                return next(handle, count, writes, copy_count, copies);
            }
            return update_written(handle, writes, copies, device, written);
        }
        update_slowly(handle, count, writes, copy_count, copies, 0);
    }
}

/// For one write to a set, which may have been taken over.
#[inline(never)]
unsafe extern "system" fn update_written(
    handle: vk::Device,
    writes: *const WriteDescriptorSet<'_>,
    copies: *const vk::CopyDescriptorSet<'_>,
    device: &Device,
    written: WrittenSet<'_>,
) {
    // SAFETY: what `update_followed` was called with: one write to this set, and no copy.
    unsafe {
        let is_known = device
            .separate
            .as_deref()
            .is_some_and(|own| own.take_one(&device.ground.hot, written, Write::new(&*writes)));
        if is_known && let Some(next) = device.ground.driver.fns.update_descriptor_sets {
            if device.ground.hot.exchanges_views() {
                return update_shown(handle, 1, writes, 0, copies);
            }
            return next(handle, 1, writes, 0, copies);
        }
        update_slowly(handle, 1, writes, 0, copies, 0);
    }
}

/// For writes that were taken over and may show other views.
#[inline(never)]
unsafe extern "system" fn update_shown(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    let (device, next) = enter!(handle, update_descriptor_sets);
    // SAFETY: the application's own arguments, or a copy of its writes with other views.
    unsafe {
        device.pairs.stand_ins.with_shown(&device.ground, &device.pairs.images, slice(writes, count), |writes| {
            next(handle, count, writes.as_ptr(), copy_count, copies)
        });
    }
}

/// Apart, as the two that it goes on to, so that no call saves more registers than it needs.
#[inline(never)]
unsafe extern "system" fn update_several(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: all arguments are those that `update_descriptor_sets` was called with and jumps on with; device and arrays are valid during
    // the command (VUID-vkUpdateDescriptorSets-device-parameter, -pDescriptorWrites-parameter, -pDescriptorCopies-parameter).
    unsafe {
        if let Some(device) = Device::find_first(handle) {
            if copy_count != 0 {
                // Copies may be of descriptors that are followed.
                if device.ground.follows_copies() {
                    return update_slowly(handle, count, writes, copy_count, copies, 0);
                }
                if count == 0
                    && let Some(next) = device.ground.driver.fns.update_descriptor_sets
                {
                    return next(handle, count, writes, copy_count, copies);
                }
            }
            if device.ground.hot.gate.must_look() {
                return update_each(handle, count, writes, copy_count, copies, device);
            }
            return update_all(handle, count, writes, copy_count, copies, device);
        }
        update_slowly(handle, count, writes, copy_count, copies, 0);
    }
}

/// Where nothing can conflict.
#[inline(never)]
unsafe extern "system" fn update_all(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
    device: &Device,
) {
    // SAFETY: `count` valid writes (VUID-vkUpdateDescriptorSets-pDescriptorWrites-parameter), as `pass_all` asks; the rest goes on as
    // `update_several` was given it.
    unsafe {
        if device.ground.hot.pass_all(count, writes, Path::Update)
            && let Some(next) = device.ground.driver.fns.update_descriptor_sets
        {
            return next(handle, count, writes, copy_count, copies);
        }
        update_slowly(handle, count, writes, copy_count, copies, 0);
    }
}

/// Where something can conflict.
#[inline(never)]
unsafe extern "system" fn update_each(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
    device: &Device,
) {
    // SAFETY: `count` valid writes (VUID-vkUpdateDescriptorSets-pDescriptorWrites-parameter), as `pass_each` asks; the rest goes on as
    // `update_several` was given it.
    unsafe {
        match (
            device.ground.hot.pass_each(count, writes, Path::Update),
            device.ground.driver.fns.update_descriptor_sets,
        ) {
            (Ok(()), Some(next)) => next(handle, count, writes, copy_count, copies),
            (Ok(()), None) => {}
            (Err(stop), _) if stop.is_single() && device.ground.hot.has_immutables() => {
                update_few::<true>(handle, count, writes, copy_count, copies, stop);
            }
            (Err(stop), _) if stop.is_single() => update_few::<false>(handle, count, writes, copy_count, copies, stop),
            (Err(stop), _) => update_slowly(handle, count, writes, copy_count, copies, stop.at()),
        }
    }
}

/// Where something may conflict: for a few writes of single descriptors, without another look at those that were passed. `BESIDE`: on a
/// device that has seen immutable samplers.
#[inline(never)]
unsafe extern "system" fn update_few<const BESIDE: bool>(
    handle: vk::Device,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
    stop: Stop,
) {
    let (device, next) = enter!(handle, update_descriptor_sets);
    // SAFETY: the command's valid usage, and `update_each` goes on here with all its arguments and where it stopped in these very writes.
    unsafe {
        let down = |writes| next(handle, count, writes, copy_count, copies);
        if !device.pairs.forward_few::<BESIDE>(&device.ground, count, writes, stop, Path::Update, down) {
            update_slowly(handle, count, writes, copy_count, copies, stop.at());
        }
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
    let (device, next) = enter!(handle, update_descriptor_sets);
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers.
    unsafe {
        if (count > 1 && copy_count == 0)
            && device.ground.hot.has_immutables()
            && device.ground.hot.pass_beside(count, first, writes, LayoutOf::DstSet, Path::Update)
        {
            return next(handle, count, writes, copy_count, copies);
        }
        // What `follow` notes then has all.
        let is_noted = notes_comparisons(device);
        if device.ground.follows_writes(count, writes, copy_count) {
            follow(device, slice(writes, count), slice(copies, copy_count));
        }
        let down = |writes| next(handle, count, writes, copy_count, copies);
        noting(
            device,
            is_noted,
            || {
                device.pairs.forward_writes(
                    &device.ground,
                    count,
                    writes,
                    (first, Path::Update),
                    LayoutOf::DstSet,
                    down,
                )
            },
            |separate| {
                let Ground { hot, .. } = &device.ground;
                separate.note_written_wholes(hot, &device.pairs.stand_ins.aspects, Writes::new(slice(writes, count)));
            },
        );
    }
}

/// Whether there are combined descriptors that compare where their format cannot. From then on their types are watched.
pub(super) fn notes_comparisons(device: &Device) -> bool {
    device.separate.as_deref().is_some_and(Separate::notes_comparisons)
}

/// Has an update `forward`ed, and `note`d if it `is_noted` not yet and has written the first such descriptor, or another thread has
/// meanwhile.
#[inline(always)]
pub(super) fn noting(device: &Device, is_noted: bool, forward: impl FnOnce(), note: impl FnOnce(&Separate)) {
    forward();
    let separate = device.separate.as_deref().filter(|_| !is_noted);
    if let Some(separate) = separate.filter(|separate| separate.notes_comparisons()) {
        device.ground.guard(|| note(separate), || ());
    }
}

/// Takes over writes and copies of separate samplers and images.
///
/// # Safety
///
/// The arguments of a valid `vkUpdateDescriptorSets`.
#[inline(never)]
unsafe fn follow(device: &Device, writes: &[WriteDescriptorSet<'_>], copies: &[vk::CopyDescriptorSet<'_>]) {
    if let Some(separate) = device.separate.as_deref() {
        // SAFETY: writes and copies are those of a valid `vkUpdateDescriptorSets` by this function's contract.
        let (writes, copied) = unsafe { (Writes::new(writes), Copied::all(copies)) };
        let (ground, pairs) = (&device.ground, &device.pairs);
        if !copies.is_empty() || !separate.follow_writes(&ground.hot, writes) {
            ground.guard(|| separate.separate_updates(ground, pairs, writes, copied), || ());
        }
        separate.rest_from_views(&device.ground);
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
    // SAFETY: `count` valid writes (VUID-vkCmdPushDescriptorSet-pDescriptorWrites-06494 and
    // VUID-vkCmdPushDescriptorSet-pDescriptorWrites-parameter), and a command buffer that is not freed meanwhile
    // (-commandBuffer-parameter).
    unsafe {
        if count != 1 {
            return push_several(commands, bind_point, layout, set, count, writes);
        }
        if let Some(device) = Device::find_first(commands)
            && device.ground.hot.pass_write(writes, Path::Push)
            && let Some(next) = device.ground.driver.fns.cmd_push_descriptor_set
        {
            return next(commands, bind_point, layout, set, count, writes);
        }
        push_slowly(commands, bind_point, layout, set, count, writes);
    }
}

#[inline(never)]
unsafe extern "system" fn push_several(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: what `cmd_push_descriptor_set` was called with: `count` valid writes
    // (VUID-vkCmdPushDescriptorSet-pDescriptorWrites-parameter) and a command buffer that is not freed meanwhile
    // (-commandBuffer-parameter).
    unsafe {
        if let Some(device) = Device::find_first(commands) {
            let passes = if device.ground.hot.gate.must_look() {
                device.ground.hot.pass_each(count, writes, Path::Push).is_ok()
            } else {
                device.ground.hot.pass_all(count, writes, Path::Push)
            };
            if passes && let Some(next) = device.ground.driver.fns.cmd_push_descriptor_set {
                return next(commands, bind_point, layout, set, count, writes);
            }
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
    let (device, next) = enter!(commands, cmd_push_descriptor_set);
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers, which are consumed by the call.
    unsafe {
        let down = |writes| next(commands, bind_point, layout, set, count, writes);
        let layout_of = LayoutOf::Push(device.ground.hot.push_layout(layout, set));
        if count > 1
            && device.ground.hot.has_immutables()
            && device.ground.hot.pass_beside(count, 0, writes, layout_of, Path::Push)
        {
            return down(writes);
        }
        device.pairs.forward_writes(&device.ground, count, writes, (0, Path::Push), layout_of, down);
    }
}

/// The set layout with immutable samplers that a push goes to. Without a pipeline layout (`dynamicPipelineLayout`) it is described
/// in the chain (VUID-VkPushDescriptorSetInfo-layout-09496).
///
/// # Safety
///
/// `layout` is null or valid, `p_next` is the chain of a valid push.
pub(super) unsafe fn push_layout(
    device: &Device,
    layout: vk::PipelineLayout,
    p_next: *const c_void,
    set: u32,
) -> Option<&SetLayout> {
    if layout != vk::PipelineLayout::null() {
        // SAFETY: a layout that is not null is valid by this function's contract.
        return unsafe { device.ground.hot.push_layout(layout, set) };
    }
    if !device.ground.hot.has_immutables() {
        return None;
    }
    // SAFETY: the chain of a valid push; the set layouts that it names are valid, or null, during the command.
    unsafe {
        let chained = pnext::find::<vk::PipelineLayoutCreateInfo<'_>>(p_next)?;
        let sets = slice(chained.p_set_layouts, chained.set_layout_count);
        device.layouts.set_layout(*sets.get(set as usize)?)
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetInfoKHR<'_>,
) {
    let (device, next) = enter!(commands, cmd_push_descriptor_set2);
    // SAFETY: null or valid by VUID-vkCmdPushDescriptorSet2-pPushDescriptorSetInfo-parameter; the layout in it is null or valid
    // (VUID-VkPushDescriptorSetInfo-layout-parameter).
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        let layout = push_layout(device, given.layout, given.p_next, given.set);
        let (count, writes) = (given.descriptor_write_count, given.p_descriptor_writes);
        device.pairs.forward_writes(&device.ground, count, writes, (0, Path::Push), LayoutOf::Push(layout), |writes| {
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
    let (device, next) = enter!(handle, get_descriptor);
    // SAFETY: null or valid (VUID-vkGetDescriptorEXT-pDescriptorInfo-parameter).
    let Some(given) = (unsafe { info.as_ref() }) else { return down!(next(handle, info, size, descriptor)) };
    if given.ty == vk::DescriptorType::SAMPLED_IMAGE
        && let Some(separate) = device.separate.as_deref()
        && separate.has_embedded(&device.ground.hot)
    {
        // SAFETY: `type` tells which member of the union is set (VUID-VkDescriptorGetInfoEXT-type-parameter).
        let image = unsafe { given.data.p_sampled_image.as_ref() };
        image.iter().for_each(|image| separate.meet_embedded(&device.ground, &device.pairs, image.image_view));
    }
    // SAFETY: `given` is valid, as above.
    if let Some(result) = unsafe { stored_descriptor(device, given) } {
        // SAFETY: the application's own arguments, but for another view or another format of the same size.
        return unsafe { result.with(|info| next(handle, info, size, descriptor)) };
    }
    match given.ty {
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER => {
            // SAFETY: `type` tells which member of the union is set (VUID-VkDescriptorGetInfoEXT-type-parameter).
            if let Some(image) = unsafe { given.data.p_combined_image_sampler.as_ref() } {
                let sampler = substitute(device, image.sampler, image.image_view, Path::GetDescriptor);
                let (stand_ins, images) = (&device.pairs.stand_ins, &device.pairs.images);
                let image_view = stand_ins.shown_view(&device.ground, images, given.ty, image.image_view);
                if (sampler, image_view) != (image.sampler, image.image_view) {
                    let changed = vk::DescriptorImageInfo { sampler, image_view, ..*image };
                    let data = vk::DescriptorDataEXT { p_combined_image_sampler: &changed };
                    // SAFETY: the application's own arguments but for the pair; the copies live during the call.
                    return unsafe { next(handle, &vk::DescriptorGetInfoEXT { data, ..*given }, size, descriptor) };
                }
            }
        }
        vk::DescriptorType::SAMPLER if device.ground.hot.gate.must_look() => device.ground.separate_seen(),
        _ => {}
    }
    down!(next(handle, info, size, descriptor))
}

/// A descriptor of a storage image or of a storage texel buffer that has to be another one.
enum StoredInfo<'a> {
    Image(vk::DescriptorGetInfoEXT<'a>, vk::DescriptorImageInfo),
    Buffer(vk::DescriptorGetInfoEXT<'a>, vk::DescriptorAddressInfoEXT<'a>),
}

impl StoredInfo<'_> {
    fn with(&self, down: impl FnOnce(*const vk::DescriptorGetInfoEXT<'_>)) {
        let (given, data) = match self {
            Self::Image(given, image) => (given, vk::DescriptorDataEXT { p_storage_image: image }),
            Self::Buffer(given, buffer) => (given, vk::DescriptorDataEXT { p_storage_texel_buffer: buffer }),
        };
        down(&vk::DescriptorGetInfoEXT { data, ..*given });
    }
}

/// What a descriptor that is stored to has to be, if another one.
///
/// # Safety
///
/// `given` is valid.
unsafe fn stored_descriptor<'a>(device: &Device, given: &vk::DescriptorGetInfoEXT<'a>) -> Option<StoredInfo<'a>> {
    match given.ty {
        _ if !device.pairs.stand_ins.storage.is_used() && !device.ground.hot.exchanges_views() => None,
        vk::DescriptorType::STORAGE_IMAGE
        | vk::DescriptorType::SAMPLED_IMAGE
        | vk::DescriptorType::INPUT_ATTACHMENT => {
            // SAFETY: null or valid, by VUID-VkDescriptorGetInfoEXT-pStorageImage-parameter and those of its kin, which are pointers to one
            // structure in one place.
            let image = unsafe { given.data.p_storage_image.as_ref() }?;
            let image_view =
                device.pairs.stand_ins.shown_view(&device.ground, &device.pairs.images, given.ty, image.image_view);
            let other = vk::DescriptorImageInfo { image_view, ..*image };
            (image_view != image.image_view).then_some(StoredInfo::Image(*given, other))
        }
        vk::DescriptorType::STORAGE_TEXEL_BUFFER => {
            // SAFETY: null or valid, by VUID-VkDescriptorGetInfoEXT-pStorageTexelBuffer-parameter.
            let buffer = unsafe { given.data.p_storage_texel_buffer.as_ref() }?;
            let format =
                device.pairs.stand_ins.storage.stored_format(&device.ground, &device.pairs.images, buffer.format);
            (format != buffer.format)
                .then_some(StoredInfo::Buffer(*given, vk::DescriptorAddressInfoEXT { format, ..*buffer }))
        }
        _ => None,
    }
}

/// The sampler to use for a single pair.
fn substitute(device: &Device, sampler: vk::Sampler, view: vk::ImageView, path: Path) -> vk::Sampler {
    let conflict =
        if device.ground.hot.gate.must_look() { device.ground.hot.gate.conflict(sampler, view) } else { None };
    let choice = conflict.map_or(sampler.as_raw(), |pair| device.pairs.choose(&device.ground, pair, path));
    device.ground.hot.counters.add(path, 1, u64::from(choice != sampler.as_raw()));
    vk::Sampler::from_raw(choice)
}

/// A copy of `info` with a legal pair, if it has to change.
///
/// # Safety
///
/// `info` is null or valid.
unsafe fn handle_info<'a>(
    device: &Device,
    info: *const vk::ImageViewHandleInfoNVX<'a>,
) -> Option<vk::ImageViewHandleInfoNVX<'a>> {
    // SAFETY: null or valid by this function's contract.
    let given = unsafe { info.as_ref() }?;
    let image_view = device.pairs.stand_ins.shown_view(
        &device.ground,
        &device.pairs.images,
        given.descriptor_type,
        given.image_view,
    );
    let sampler = match given.descriptor_type {
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER => {
            substitute(device, given.sampler, given.image_view, Path::ImageViewHandle)
        }
        _ => given.sampler,
    };
    let differs = (sampler, image_view) != (given.sampler, given.image_view);
    differs.then_some(vk::ImageViewHandleInfoNVX { sampler, image_view, ..*given })
}

pub(crate) unsafe extern "system" fn get_image_view_handle(
    handle: vk::Device,
    info: *const vk::ImageViewHandleInfoNVX<'_>,
) -> u32 {
    let (device, next) = enter!(handle, get_image_view_handle);
    // SAFETY: the application's own argument, or a copy with another sampler.
    unsafe {
        let changed = handle_info(device, info);
        next(handle, changed.as_ref().map_or(info, std::ptr::from_ref))
    }
}

pub(crate) unsafe extern "system" fn get_image_view_handle64(
    handle: vk::Device,
    info: *const vk::ImageViewHandleInfoNVX<'_>,
) -> u64 {
    let (device, next) = enter!(handle, get_image_view_handle64);
    // SAFETY: the application's own argument, or a copy with another sampler.
    unsafe {
        let changed = handle_info(device, info);
        next(handle, changed.as_ref().map_or(info, std::ptr::from_ref))
    }
}

pub(crate) unsafe extern "system" fn get_descriptor_set_host_mapping(
    handle: vk::Device,
    set: vk::DescriptorSet,
    data: *mut *mut c_void,
) {
    let device = enter!(handle);
    device.ground.guard(
        || {
            device.ground.journal.unresolved(Left::HostMappedDescriptorSet, None, serde_json::json!({}), (0, 0));
            if let Some(separate) = device.separate.as_deref() {
                separate.forget_mapped_set(&device.ground.driver, set);
            }
        },
        || (),
    );
    if let Some(next) = device.ground.driver.fns.get_descriptor_set_host_mapping {
        down!(next(handle, set, data));
    }
}
