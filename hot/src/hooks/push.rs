//! Pushed descriptors: writes whose layout comes from the pipeline layout.

use ash::vk::{self, WriteDescriptorSet};

use super::devices::{find, find_first};
use super::immutable::Layouts;
use super::record::Hot;
use super::writes::forward;
use crate::counters::Path;
use crate::layout::SetLayout;

/// Passes pushed writes on, for a command whose hook is elsewhere.
///
/// # Safety
///
/// `count` valid writes for `layout`, if that has immutable samplers; `hot` starts the record of their device.
pub unsafe fn forward_push<'a>(
    hot: &Hot,
    count: u32,
    writes: *const WriteDescriptorSet<'a>,
    layout: Option<&SetLayout>,
    down: impl FnOnce(*const WriteDescriptorSet<'a>),
) {
    // SAFETY: forwarded from the caller.
    unsafe { forward(hot, count, writes, (0, Path::Push), Layouts::Given(layout), down) };
}

/// `vkCmdPushDescriptorSet`.
///
/// # Safety
///
/// The command's valid usage.
pub unsafe extern "system" fn cmd_push_descriptor_set(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: the command's valid usage.
    unsafe {
        if let Some(hot) = find_first(commands)
            && let Some(next) = hot.next.cmd_push_descriptor_set
            && hot.pass(count, writes, Path::Push).is_ok()
        {
            return next(commands, bind_point, layout, set, count, writes);
        }
        push_slowly(commands, bind_point, layout, set, count, writes);
    }
}

/// # Safety
///
/// As for [`cmd_push_descriptor_set`].
#[inline(never)]
unsafe extern "system" fn push_slowly(
    commands: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const WriteDescriptorSet<'_>,
) {
    // SAFETY: the application's own arguments, or a copy of its writes with other samplers, which are consumed by the call.
    unsafe {
        let Some(hot) = find(commands) else { return };
        let Some(next) = hot.next.cmd_push_descriptor_set else { return };
        let down = |writes| next(commands, bind_point, layout, set, count, writes);
        let layout = hot.push_layout(layout, set);
        forward(hot, count, writes, (0, Path::Push), Layouts::Given(layout), down);
    }
}
