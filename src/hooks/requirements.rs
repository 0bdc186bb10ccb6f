//! What an image that is not there yet would need: asked with the create info that it would go down with, so that all query forms agree.

use ash::vk;

use crate::device::Device;

/// Calls `ask` with what `info` would go down as at `vkCreateImage`.
///
/// # Safety
///
/// `info` is valid.
unsafe fn as_created<T>(
    device: &Device,
    info: *const vk::ImageCreateInfo<'_>,
    ask: impl FnOnce(*const vk::ImageCreateInfo<'_>) -> T,
) -> T {
    // SAFETY: `info` is valid by this function's contract.
    let wider = if device.audit { None } else { device.guard(|| unsafe { device.wider_flags(&*info) }, || None) };
    match wider {
        // SAFETY: as above.
        Some((flags, _)) => ask(&vk::ImageCreateInfo { flags, ..unsafe { *info } }),
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
        as_created(device, (*info).p_create_info, |created| {
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
        as_created(device, (*info).p_create_info, |created| {
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
        as_created(device, (*info).p_create_info, |created| {
            next(handle, &vk::DeviceImageSubresourceInfoKHR { p_create_info: created, ..*info }, layout);
        });
    }
}
