//! Queues: where a frame ends.

use std::ffi::c_void;

use ash::vk;

use crate::pnext::{self, slice};

/// Whether a chain says that a frame ends.
///
/// # Safety
///
/// As for [`pnext::find`].
unsafe fn ends_frame(p_next: *const c_void) -> bool {
    // SAFETY: a valid chain, by this function's contract.
    let boundary = unsafe { pnext::find::<vk::FrameBoundaryEXT<'_>>(p_next) };
    boundary.is_some_and(|boundary| boundary.flags.contains(vk::FrameBoundaryFlagsEXT::FRAME_END))
}

pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    let (device, next) = enter!(queue, queue_present);
    // SAFETY: valid by VUID-vkQueuePresentKHR-pPresentInfo-parameter, and so is its chain.
    let is_boundary = unsafe { info.as_ref().is_some_and(|info| ends_frame(info.p_next)) };
    device.ground.journal.frames.end(true, is_boundary);
    device.pairs.heaps.end_frame(&device.ground, &device.pairs.images);
    if let Some(separate) = device.separate.as_deref() {
        separate.end_frame(&device.ground);
    }
    down!(next(queue, info))
}

/// Hooks of submissions, which are there where a submission can say that a frame ends.
macro_rules! submissions {
    ($($command:ident: $info:ident;)+) => {$(
        pub(crate) unsafe extern "system" fn $command(
            queue: vk::Queue,
            count: u32,
            infos: *const vk::$info<'_>,
            fence: vk::Fence,
        ) -> vk::Result {
            let (device, next) = enter!(queue, $command);
            // SAFETY: `count` structures with valid chains, by the command's valid usage.
            for info in unsafe { slice(infos, count) } {
                // SAFETY: as above.
                device.ground.journal.frames.end(false, unsafe { ends_frame(info.p_next) });
            }
            down!(next(queue, count, infos, fence))
        }
    )+};
}

submissions! {
    queue_submit: SubmitInfo;
    queue_submit2: SubmitInfo2;
    queue_bind_sparse: BindSparseInfo;
}
