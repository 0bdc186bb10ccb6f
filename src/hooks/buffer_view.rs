//! Buffers and their views, where shaders store to texel buffers of formats that the device cannot store, and what shaders find in
//! texel buffers.

use ash::vk;
use ash::vk::TaggedStructure;

use crate::device::{Device, On};
use crate::pnext;

destroy! {
    destroy_buffer(vk::Buffer): |device, object| device.pairs.stand_ins.storage.forget_buffer(object);
    destroy_buffer_view(vk::BufferView): |device, view| {
        if let Some(separate) = device.separate.as_deref() {
            separate.forget_buffer_view(view);
        }
        device.pairs.stand_ins.storage.forget_buffer_view(&device.ground.hot, &device.ground.driver, view);
    };
}

/// The usage that the chain of a buffer or of a view of one states, in place of the word (VkBufferUsageFlags2CreateInfo).
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
unsafe fn stated(p_next: *const std::ffi::c_void) -> Option<u64> {
    // SAFETY: a valid chain by this function's contract.
    unsafe { pnext::find::<vk::BufferUsageFlags2CreateInfoKHR<'_>>(p_next) }.map(|node| node.usage.as_raw())
}

pub(crate) unsafe extern "system" fn create_buffer(
    handle: vk::Device,
    create_info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    let (device, next) = enter!(handle, create_buffer);
    let result = down!(next(handle, create_info, allocator, buffer));
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateBuffer-pCreateInfo-parameter; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *buffer) };
                // SAFETY: the chain of that create info (VUID-VkBufferCreateInfo-pNext-pNext), so a usage structure in it is whole.
                let usage = unsafe { stated(info.p_next) }.unwrap_or(info.usage.as_raw().into());
                device.pairs.stand_ins.storage.insert_buffer(made, usage);
            },
            || (),
        );
    }
    result
}

/// What a view reaches the driver as, if its chain says no more than what it is used for.
///
/// # Safety
///
/// The arguments of a valid `vkCreateBufferView`.
unsafe fn lowered(
    device: &Device,
    next: vk::PFN_vkCreateBufferView,
    create_info: *const vk::BufferViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::BufferView,
) -> Option<vk::Result> {
    // SAFETY: valid by VUID-vkCreateBufferView-pCreateInfo-parameter.
    let info = unsafe { &*create_info };
    // SAFETY: the chain of a valid create info, whose nodes can be read as bases.
    let is_plain = unsafe { pnext::chain(info.p_next) }
        .all(|node| unsafe { (*node).s_type } == vk::BufferUsageFlags2CreateInfoKHR::STRUCTURE_TYPE);
    if device.ground.wishes.audit || !is_plain {
        return None;
    }
    // SAFETY: the arguments are those of a valid `vkCreateBufferView` by this function's contract, and the chain is that of its create
    // info.
    unsafe {
        device.pairs.stand_ins.storage.make_buffer_view(
            &device.ground,
            next,
            info,
            stated(info.p_next),
            allocator,
            view,
        )
    }
}

pub(crate) unsafe extern "system" fn create_buffer_view(
    handle: vk::Device,
    create_info: *const vk::BufferViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::BufferView,
) -> vk::Result {
    let (device, next) = enter!(handle, create_buffer_view);
    // SAFETY: `lowered` asks for the arguments of a valid `vkCreateBufferView`, which this command was called with.
    let result = match unsafe { lowered(device, next, create_info, allocator, view) } {
        Some(vk::Result::SUCCESS) => vk::Result::SUCCESS,
        _ => down!(next(handle, create_info, allocator, view)),
    };
    if result == vk::Result::SUCCESS {
        // SAFETY: valid by VUID-vkCreateBufferView-pCreateInfo-parameter; the handle was set by the successful call.
        let (view, format) = unsafe { (*view, (*create_info).format) };
        if let Some(separate) = device.separate.as_deref() {
            let on = On { ground: &device.ground, pairs: &device.pairs };
            device.ground.guard(|| separate.note_buffer_view(on, view, format), || ());
        }
    }
    result
}
