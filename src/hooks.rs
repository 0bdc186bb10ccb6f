//! One function per intercepted command: unpack, ask the rooms of the [`Device`](crate::device::Device), call down, let it remember.
//!
//! Every hook has three parts. What it prepares and what it remembers runs inside [`guard`](crate::device::Ground::guard), so that
//! no panic crosses the boundary; calling the driver happens outside, exactly once, with the application's own arguments unless
//! something has to change. No lock is held while calling the driver. Entries are removed before a destroy call reaches the driver and made
//! after a create call returns, because the driver may hand out a handle again at once.
//!
//! The safety contract of all hooks is that of their Vulkan command: the caller obeys its valid usage ("implicit" part), which the
//! SAFETY comments refer to as *the command's valid usage*.

/// The start of a device command's hook: the entry of the device that a dispatchable handle belongs to and, if the command's field is
/// named, the same command of the layer below. Where one is missing the hook returns [`Missing::missing`].
///
/// For hooks only: the handle must be the valid one that the command was called with.
macro_rules! enter {
    ($handle:expr) => {{
        let handle = $handle;
        // SAFETY: the dispatchable handle of the hook's command, which the application must not destroy during the command (the
        // `-device-parameter` or `-commandBuffer-parameter` VUID of each command, and "Object Lifetime").
        let Some(device) = (unsafe { $crate::device::Device::find(handle) }) else {
            return $crate::hooks::Missing::missing();
        };
        device
    }};
    ($handle:expr, $command:ident) => {{
        let device = enter!($handle);
        let Some(next) = device.ground.driver.fns.$command else { return $crate::hooks::Missing::missing() };
        (device, next)
    }};
}

/// Calls the layer below, by the pointer that [`enter`] gave, with arguments of the hook as they came. The macro takes plain
/// names, which no hook binds anew; what a hook has changed reaches the driver under a SAFETY reason of its own.
macro_rules! down {
    ($next:ident($($argument:ident),+ $(,)?)) => {{
        // SAFETY: what the hook was called with, whose validity is the application's promise to this very command.
        unsafe { $next($($argument),+) }
    }};
}

/// Hooks of commands that destroy an object made from a device: the entry is removed in the given way, then the layer below is
/// called with the application's own arguments.
macro_rules! destroy {
    ($($command:ident($type:ty): $forget:expr;)+) => {$(
        pub(crate) unsafe extern "system" fn $command(
            handle: vk::Device,
            object: $type,
            allocator: *const vk::AllocationCallbacks<'_>,
        ) {
            let device = enter!(handle);
            let forget: fn(&$crate::device::Device, $type) = $forget;
            forget(device, object);
            if let Some(next) = device.ground.driver.fns.$command {
                down!(next(handle, object, allocator));
            }
        }
    )+};
}

pub mod augment;
pub mod blit;
pub mod buffer_view;
pub mod descriptor;
pub mod device;
pub mod heap;
pub mod image;
pub mod instance;
pub mod layout;
pub mod physical;
pub mod pulse;
pub mod queue;
pub mod requirements;
pub mod retuned;
pub mod sampler;
pub mod separate;
pub mod shader;
pub mod template;

use ash::vk;

/// The result of a command that cannot exist here and is called all the same.
pub(crate) const MISSING: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

/// What a creation returns whose entry could not be made.
pub(crate) fn failure(payload: &(dyn std::any::Any + Send)) -> vk::Result {
    if payload.is::<samplin_hot::memory::OutOfMemory>() { vk::Result::ERROR_OUT_OF_HOST_MEMORY } else { MISSING }
}

/// What a hook returns when a command that cannot exist here is called all the same.
pub(crate) trait Missing {
    /// That value.
    fn missing() -> Self;
}

impl Missing for () {
    fn missing() -> Self {}
}

impl Missing for vk::Result {
    fn missing() -> Self {
        MISSING
    }
}

/// An image view handle; 0 is none.
impl Missing for u32 {
    fn missing() -> Self {
        0
    }
}

/// As for `u32`.
impl Missing for u64 {
    fn missing() -> Self {
        0
    }
}
