//! One function per intercepted command: unpack, look up, ask [`crate::decide`], call down, record.
//!
//! Every hook has three parts. What it prepares and what it records runs inside [`Device::guard`], so that no panic
//! crosses the boundary; calling down happens outside, exactly once, with the application's own arguments unless something has
//! to change. No lock is held while calling down. Records are removed before a destroy call goes down and inserted after a
//! create call returns, because the driver may hand out a handle again at once.
//!
//! The safety contract of all hooks is that of their Vulkan command: the caller obeys its valid usage ("implicit" part), which the
//! SAFETY comments refer to as *the command's valid usage*.

pub mod augment;
pub mod blit;
pub mod descriptor;
pub mod device;
pub mod image;
pub mod instance;
pub mod layout;
pub mod physical;
pub mod sampler;
pub mod template;

use ash::vk;

use crate::device::Device;

/// What a hook returns when a command that cannot exist here is called all the same.
pub(crate) const MISSING: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

/// What a creation returns whose record could not be made.
pub(crate) fn failure(payload: &(dyn std::any::Any + Send)) -> vk::Result {
    if payload.is::<samplin_hot::memory::OutOfMemory>() { vk::Result::ERROR_OUT_OF_HOST_MEMORY } else { MISSING }
}

/// The entry of a dispatchable handle.
///
/// # Safety
///
/// `of` is a valid device or command buffer (the command's valid usage) and stays so while the reference is used.
#[inline(always)]
pub(crate) unsafe fn device<'a>(of: impl vk::Handle) -> Option<&'a Device> {
    // SAFETY: forwarded from the caller.
    unsafe { Device::find(of) }
}

/// A slice from a Vulkan (pointer, count) pair: empty when the count is 0, whatever the pointer.
///
/// # Safety
///
/// If `count` is not 0 and `first` not null, `first` points to `count` readable elements for `'a`.
#[inline(always)]
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 || first.is_null() {
        &[]
    } else {
        // SAFETY: forwarded from the caller.
        unsafe { std::slice::from_raw_parts(first, count as usize) }
    }
}
