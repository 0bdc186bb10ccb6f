//! What an image that is not there yet would need: asked with the create info that it would reach the driver with, so that all query forms
//! agree.

use ash::vk;

use crate::device::{Device, Ground};

/// Calls `ask` with what `info` would reach the driver as at `vkCreateImage`.
///
/// # Safety
///
/// `info` is valid.
#[inline(never)]
unsafe fn as_created(
    device: &Device,
    info: *const vk::ImageCreateInfo<'_>,
    ask: &mut dyn FnMut(*const vk::ImageCreateInfo<'_>),
) {
    let Ground { driver, journal, wishes, .. } = &device.ground;
    // SAFETY: `info` is valid by this function's contract, which is all that `image_copy` asks.
    let copy = || unsafe { device.pairs.stand_ins.storage.image_copy(driver, journal, &*info) };
    let copy = if wishes.audit { None } else { device.ground.guard(copy, || None) };
    match copy {
        // SAFETY: `info` is valid by this function's contract, and not written while the copy is asked about.
        Some(copy) => copy.with(unsafe { &*info }, ask),
        None => ask(info),
    }
}

pub(crate) unsafe extern "system" fn get_device_image_memory_requirements(
    handle: vk::Device,
    info: *const vk::DeviceImageMemoryRequirements<'_>,
    requirements: *mut vk::MemoryRequirements2<'_>,
) {
    let (device, next) = enter!(handle, get_device_image_memory_requirements);
    // SAFETY: valid by VUID-vkGetDeviceImageMemoryRequirements-pInfo-parameter, and so is its create info.
    unsafe {
        as_created(device, (*info).p_create_info, &mut |created| {
            next(handle, &vk::DeviceImageMemoryRequirements { p_create_info: created, ..*info }, requirements);
        });
    }
}

pub(crate) unsafe extern "system" fn get_device_image_sparse_memory_requirements(
    handle: vk::Device,
    info: *const vk::DeviceImageMemoryRequirements<'_>,
    count: *mut u32,
    requirements: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    let (device, next) = enter!(handle, get_device_image_sparse_memory_requirements);
    // SAFETY: valid by VUID-vkGetDeviceImageSparseMemoryRequirements-pInfo-parameter, and so is its create info.
    unsafe {
        as_created(device, (*info).p_create_info, &mut |created| {
            next(handle, &vk::DeviceImageMemoryRequirements { p_create_info: created, ..*info }, count, requirements);
        });
    }
}

pub(crate) unsafe extern "system" fn get_device_image_subresource_layout(
    handle: vk::Device,
    info: *const vk::DeviceImageSubresourceInfoKHR<'_>,
    layout: *mut vk::SubresourceLayout2KHR<'_>,
) {
    let (device, next) = enter!(handle, get_device_image_subresource_layout);
    // SAFETY: valid by VUID-vkGetDeviceImageSubresourceLayout-pInfo-parameter, and so is its create info.
    unsafe {
        as_created(device, (*info).p_create_info, &mut |created| {
            next(handle, &vk::DeviceImageSubresourceInfoKHR { p_create_info: created, ..*info }, layout);
        });
    }
}
