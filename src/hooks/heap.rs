//! Descriptor heaps: samplers and images that are described where they are written, and border colours that are registered for them.

use ash::vk;
use samplin_core::left::{Cause, Left};
use samplin_hot::memory::{self, Room};
use vk_layer_sys::{
    HostAddressRangeEXT, ImageDescriptorInfoEXT, ResourceDescriptorDataEXT, ResourceDescriptorInfoEXT,
    TexelBufferDescriptorInfoEXT,
};

use super::image;
use super::sampler::read;
use crate::decide::{Change, aspect_shown};
use crate::device::{Device, DriverView, HeapView};
use crate::pnext::slice;
use crate::sampler_info::Owned;

/// The sampler that reaches the driver in place of one that is described, if another one.
///
/// # Safety
///
/// `info` is valid, and its chain is alive for as long as the result is used. `given` was read of it.
pub(super) unsafe fn described(
    device: &Device,
    info: &vk::SamplerCreateInfo<'_>,
    given: &crate::sampler_info::SamplerInfo,
    alone: &crate::outcome::Alone<'_>,
) -> Option<Owned> {
    if !alone.rewrite {
        return None;
    }
    // SAFETY: `info` is valid and alive by this function's contract.
    let (made, left_out) = unsafe { Owned::new(&alone.decision.state, (info, &given.state)) };
    if let Some(s_type) = left_out {
        let key = (s_type as u64, given.state.fingerprint());
        device.ground.journal.unresolved(Cause::LeftOut.with(&[&s_type]), None, serde_json::json!({}), key);
    }
    Some(made)
}

pub(crate) unsafe extern "system" fn write_sampler_descriptors(
    handle: vk::Device,
    count: u32,
    samplers: *const vk::SamplerCreateInfo<'_>,
    descriptors: *const HostAddressRangeEXT,
) -> vk::Result {
    let (device, next) = enter!(handle, write_sampler_descriptors);
    let plan = || {
        let mut changed: Vec<(usize, Owned)> = Vec::new();
        // SAFETY: `count` valid create infos (VUID-vkWriteSamplerDescriptorsEXT-pSamplers-parameter).
        let infos = unsafe { slice(samplers, count) };
        for (number, info) in infos.iter().enumerate() {
            // SAFETY: `info` is valid, as above, and its chain is alive during the call.
            let made = unsafe {
                let given = read(device, info);
                let rules = device.ground.wishes.rules();
                let alone = device.pairs.heaps.written(&device.ground, &rules, info, &given);
                described(device, info, &given, &alone)
            };
            if let Some(made) = made {
                changed.with_room().push((number, made));
            }
        }
        let mut copies = memory::vec(if changed.is_empty() { 0 } else { infos.len() });
        if !changed.is_empty() {
            copies.extend_from_slice(infos);
        }
        for (number, made) in &changed {
            if let Some(copy) = copies.get_mut(*number) {
                *copy = *made.info();
            }
        }
        (copies, changed)
    };
    let (copies, _changed) = device.ground.guard(plan, Default::default);
    if copies.is_empty() {
        return down!(next(handle, count, samplers, descriptors));
    }
    // SAFETY: what `vkWriteSamplerDescriptorsEXT` was called with, but for as many create infos of which some are legal ones.
    unsafe { next(handle, count, copies.as_ptr(), descriptors) }
}

/// What reaches the driver in place of the view of a descriptor of this type, if not that.
///
/// # Safety
///
/// `info` is valid, and its chain is alive for as long as the result is used.
unsafe fn view(device: &Device, info: &vk::ImageViewCreateInfo<'_>, ty: vk::DescriptorType) -> Option<HeapView> {
    const BOTH: vk::ImageAspectFlags =
        vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());
    const PATH: Option<&str> = Some("heap_write");
    let (ground, pairs) = (&device.ground, &device.pairs);
    let Some((number, image)) = pairs.images.image(info.image) else {
        ground.journal.unresolved(Left::UnknownImage, None, serde_json::json!({}), (0, 0));
        return None;
    };
    if ty == vk::DescriptorType::SAMPLED_IMAGE && ground.journal.trace().is_on() {
        // SAFETY: `info` is valid by this function's contract.
        let (traits, _) = unsafe { image::view_traits(device, info, number, image) };
        if let Some(class) = pairs.images.class_of(&ground.driver, traits, image.tiling) {
            device.pairs.heaps.meet_view(ground, &pairs.images, class);
        }
    }
    let record = |alias, change: &[Change]| {
        let (null, shown) = (vk::ImageView::null(), DriverView { alias, path: PATH });
        ground.journal.record_view(null, info.format, shown, change, image.tiling, Vec::new());
    };
    if info.subresource_range.aspect_mask.contains(BOTH) && pairs.stand_ins.aspects.is_on() {
        // VUID-VkImageDescriptorInfoEXT-pView-11430.
        record(None, &[aspect_shown(vk::ImageAspectFlags::DEPTH)]);
        return (!ground.wishes.audit).then(|| HeapView::of_aspect(info, vk::ImageAspectFlags::DEPTH));
    }
    if !pairs.images.narrows_views() {
        return None;
    }
    let stores = ty == vk::DescriptorType::STORAGE_IMAGE;
    // SAFETY: `info` is valid by this function's contract.
    let (narrowed, copy) = unsafe { image::changed_view(device, info) };
    if let Some((copy, _)) = copy {
        record(Some(copy.alias_format), &[copy.change]);
        return (!ground.wishes.audit).then(|| copy.described(info, stores));
    }
    let (_, usage, changes) = narrowed?;
    let usage = vk::ImageUsageFlags::from_raw(usage as u32);
    if stores && !usage.contains(vk::ImageUsageFlags::STORAGE) {
        ground.journal.storage_unresolved(Cause::StoredByHeap, info.format);
        return None;
    }
    record(None, &memory::collect(changes.iter().copied()));
    (!ground.wishes.audit).then(|| HeapView::narrowed(info, usage))
}

/// What reaches the driver in place of one resource.
enum Other {
    Image { descriptor: Box<ImageDescriptorInfoEXT>, _view: HeapView },
    Texels(Box<TexelBufferDescriptorInfoEXT>),
}

/// What reaches the driver in place of a resource, if not that.
///
/// # Safety
///
/// `resource` is valid, and what it leads to is alive for as long as the result is used.
unsafe fn other(device: &Device, resource: &ResourceDescriptorInfoEXT) -> Option<Other> {
    use vk::DescriptorType as T;
    match resource.ty {
        T::SAMPLED_IMAGE | T::STORAGE_IMAGE | T::INPUT_ATTACHMENT => {
            // SAFETY: null or valid by VUID-VkResourceDescriptorInfoEXT-pImage-parameter, and so is its view
            // (VUID-VkImageDescriptorInfoEXT-pView-parameter).
            let (given, info) = unsafe {
                let given = resource.data.p_image.as_ref()?;
                (given, given.p_view.as_ref()?)
            };
            // SAFETY: `info` is valid, as above.
            let view = unsafe { view(device, info, resource.ty) }?;
            let descriptor = Box::new(ImageDescriptorInfoEXT { p_view: view.info(), ..*given });
            Some(Other::Image { descriptor, _view: view })
        }
        T::STORAGE_TEXEL_BUFFER => {
            // SAFETY: null or valid by VUID-VkResourceDescriptorInfoEXT-pTexelBuffer-parameter.
            let given = unsafe { resource.data.p_texel_buffer.as_ref() }?;
            let storage = &device.pairs.stand_ins.storage;
            let format = storage.stored_format(&device.ground, &device.pairs.images, given.format);
            let differs = format != given.format;
            differs.then(|| Other::Texels(Box::new(TexelBufferDescriptorInfoEXT { format, ..*given })))
        }
        _ => None,
    }
}

pub(crate) unsafe extern "system" fn write_resource_descriptors(
    handle: vk::Device,
    count: u32,
    resources: *const ResourceDescriptorInfoEXT,
    descriptors: *const HostAddressRangeEXT,
) -> vk::Result {
    let (device, next) = enter!(handle, write_resource_descriptors);
    let plan = || {
        // SAFETY: `count` valid structures (VUID-vkWriteResourceDescriptorsEXT-pResources-parameter).
        let given = unsafe { slice(resources, count) };
        let mut changed: Vec<Other> = Vec::new();
        let mut copies: Vec<ResourceDescriptorInfoEXT> = Vec::new();
        for (number, resource) in given.iter().enumerate() {
            // SAFETY: `resource` is valid, as above, and what it leads to is alive during the call.
            let Some(other) = (unsafe { other(device, resource) }) else { continue };
            if copies.is_empty() {
                copies = memory::collect(given.iter().copied());
            }
            let data = match &other {
                Other::Image { descriptor, .. } => ResourceDescriptorDataEXT { p_image: &raw const **descriptor },
                Other::Texels(texels) => ResourceDescriptorDataEXT { p_texel_buffer: &raw const **texels },
            };
            if let Some(copy) = copies.get_mut(number) {
                copy.data = data;
            }
            changed.with_room().push(other);
        }
        (copies, changed)
    };
    let (copies, _changed) = device.ground.guard(plan, Default::default);
    if copies.is_empty() {
        return down!(next(handle, count, resources, descriptors));
    }
    // SAFETY: what `vkWriteResourceDescriptorsEXT` was called with, but for views and formats, which are such as the device can have.
    unsafe { next(handle, count, copies.as_ptr(), descriptors) }
}

pub(crate) unsafe extern "system" fn register_custom_border_color(
    handle: vk::Device,
    color: *const vk::SamplerCustomBorderColorCreateInfoEXT<'_>,
    request_index: vk::Bool32,
    index: *mut u32,
) -> vk::Result {
    let (device, next) = enter!(handle, register_custom_border_color);
    let result = down!(next(handle, color, request_index, index));
    if result == vk::Result::SUCCESS {
        // SAFETY: the call succeeded, so it has set the index.
        let index = unsafe { *index };
        device.ground.guard(|| device.pairs.heaps.register(&device.ground, &device.pairs.samplers, index), || ());
    }
    result
}

pub(crate) unsafe extern "system" fn unregister_custom_border_color(handle: vk::Device, index: u32) {
    let (device, next) = enter!(handle, unregister_custom_border_color);
    device.ground.guard(|| device.pairs.heaps.unregister(&device.pairs.samplers, index), || ());
    down!(next(handle, index));
}
