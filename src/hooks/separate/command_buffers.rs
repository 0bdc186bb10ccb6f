//! Command buffers, and what is bound in them.
//!
//! `vkCmdBindPipeline` and `vkCmdBindDescriptorSets` are leaves while nothing can conflict, as the hooks of [`crate::hooks::descriptor`] are.

use std::ffi::c_void;

use ash::vk;
use vk::PipelineBindPoint as Point;

use crate::device::{Binds, Device, Live, Recording};
use crate::pnext::slice;

pub(crate) unsafe extern "system" fn allocate_command_buffers(
    handle: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    commands: *mut vk::CommandBuffer,
) -> vk::Result {
    let (device, next) = enter!(handle, allocate_command_buffers);
    let result = down!(next(handle, info, commands));
    if let (vk::Result::SUCCESS, Some(separate)) = (result, device.separate.as_deref()) {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkAllocateCommandBuffers-pAllocateInfo-parameter; the successful call set that many handles.
                let (pool, made) = unsafe { ((*info).command_pool, slice(commands, (*info).command_buffer_count)) };
                separate.insert_commands(pool, made);
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn free_command_buffers(
    handle: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    commands: *const vk::CommandBuffer,
) {
    let (device, next) = enter!(handle, free_command_buffers);
    if let Some(separate) = device.separate.as_deref() {
        // SAFETY: `count` elements, null ones among them (VUID-vkFreeCommandBuffers-pCommandBuffers-00048).
        device.ground.guard(|| separate.forget_commands(pool, unsafe { slice(commands, count) }), || ());
    }
    down!(next(handle, pool, count, commands));
}

pub(crate) unsafe extern "system" fn destroy_command_pool(
    handle: vk::Device,
    pool: vk::CommandPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let (device, next) = enter!(handle, destroy_command_pool);
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(|| separate.forget_command_pool(pool), || ());
    }
    down!(next(handle, pool, allocator));
}

pub(crate) unsafe extern "system" fn begin_command_buffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let (device, next) = enter!(commands, begin_command_buffer);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: a valid command buffer by VUID-vkBeginCommandBuffer-commandBuffer-parameter.
        let live = unsafe { Live::new(commands) };
        device.ground.guard(|| separate.clear_commands(live, true), || ());
    }
    down!(next(commands, info))
}

pub(crate) unsafe extern "system" fn cmd_execute_commands(
    commands: vk::CommandBuffer,
    count: u32,
    secondaries: *const vk::CommandBuffer,
) {
    let (device, next) = enter!(commands, cmd_execute_commands);
    down!(next(commands, count, secondaries));
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // The state of the primary is undefined after it (vkCmdExecuteCommands).
        // SAFETY: a valid command buffer by VUID-vkCmdExecuteCommands-commandBuffer-parameter.
        let live = unsafe { Live::new(commands) };
        device.ground.guard(|| separate.clear_commands(live, false), || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_bind_pipeline(
    commands: vk::CommandBuffer,
    point: Point,
    pipeline: vk::Pipeline,
) {
    // SAFETY: command buffer and pipeline are valid during the command (VUID-vkCmdBindPipeline-commandBuffer-parameter,
    // -pipeline-parameter), as the look-up and the note ask; what is jumped to gets the application's own arguments.
    unsafe {
        let mut to: vk::PFN_vkCmdBindPipeline = note_own_pipeline;
        if let Some(device) = Device::find_first(commands)
            && !device.ground.hot.follows_binds()
            && let Some(next) = device.ground.driver.fns.cmd_bind_pipeline
        {
            to = next;
        }
        to(commands, point, pipeline);
    }
}

/// A leaf as well. Apart from the one before, which needs no room on the stack.
#[inline(never)]
unsafe extern "system" fn note_own_pipeline(commands: vk::CommandBuffer, point: Point, pipeline: vk::Pipeline) {
    // SAFETY: a recording command buffer and a valid pipeline (VUID-vkCmdBindPipeline-commandBuffer-recording, -pipeline-parameter).
    unsafe {
        let mut to: vk::PFN_vkCmdBindPipeline = note_pipeline;
        if let Some(device) = Device::find_first(commands)
            && let Some(next) = device.ground.driver.fns.cmd_bind_pipeline
            && let Some(separate) = device.separate.as_deref()
            && let (recording, live) = (Recording::new(commands), Live::new(pipeline))
            && separate.note_own_pipeline(&device.ground.hot, recording, point, live)
        {
            to = next;
        }
        to(commands, point, pipeline);
    }
}

#[inline(never)]
unsafe extern "system" fn note_pipeline(commands: vk::CommandBuffer, point: Point, pipeline: vk::Pipeline) {
    let (device, next) = enter!(commands, cmd_bind_pipeline);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        // SAFETY: a recording command buffer and a valid pipeline (VUID-vkCmdBindPipeline-commandBuffer-recording, -pipeline-parameter).
        let (recording, live) = unsafe { (Recording::new(commands), Live::new(pipeline)) };
        if !separate.note_pipeline(&device.ground, recording, point, live) {
            return;
        }
    }
    down!(next(commands, point, pipeline));
}

/// Hooks of commands between which transform feedback is active.
macro_rules! feedback {
    ($($begin:ident $end:ident($($argument:ident: $type:ty),+);)+) => {$(
        /// It begins for a pipeline, so that everything has to be bound.
        pub(crate) unsafe extern "system" fn $begin(commands: vk::CommandBuffer, $($argument: $type),+) {
            let (device, next) = enter!(commands, $begin);
            if let Some(separate) = device.separate.as_deref() {
                // SAFETY: a recording command buffer by VUID-vkCmdBeginTransformFeedbackEXT-commandBuffer-recording.
                let recording = unsafe { Recording::new(commands) };
                separate.meet_feedback(&device.ground, &device.pairs, recording, Point::GRAPHICS);
                separate.note_feedback(recording, true);
            }
            down!(next(commands, $($argument),+));
        }

        /// What had to wait for the end is bound for the next draw.
        pub(crate) unsafe extern "system" fn $end(commands: vk::CommandBuffer, $($argument: $type),+) {
            let (device, next) = enter!(commands, $end);
            if let Some(separate) = device.separate.as_deref() {
                // SAFETY: a recording command buffer by VUID-vkCmdEndTransformFeedbackEXT-commandBuffer-recording.
                separate.note_feedback(unsafe { Recording::new(commands) }, false);
            }
            down!(next(commands, $($argument),+));
        }
    )+};
}

feedback! {
    cmd_begin_transform_feedback cmd_end_transform_feedback(
        first: u32, count: u32, buffers: *const vk::Buffer, offsets: *const vk::DeviceSize
    );
    cmd_begin_transform_feedback2 cmd_end_transform_feedback2(first: u32, count: u32, counters: *const c_void);
}

pub(crate) unsafe extern "system" fn cmd_bind_descriptor_sets(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    // One call through what was chosen: LLVM makes a jump of that, and of several calls with arguments on the stack none.
    // SAFETY: command buffer, layout and sets are valid during the command (VUID-vkCmdBindDescriptorSets-commandBuffer-parameter,
    // -layout-parameter, -pDescriptorSets-parameter), as the look-up and the note ask; `count` elements by the command's valid usage; what is
    // jumped to gets the application's own arguments.
    unsafe {
        let mut to: vk::PFN_vkCmdBindDescriptorSets = note_sets_alike;
        if let Some(device) = Device::find_first(commands)
            && !device.ground.hot.follows_binds()
            && let Some(next) = device.ground.driver.fns.cmd_bind_descriptor_sets
        {
            to = next;
        }
        to(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

/// A leaf as well. Apart from the one before, which needs no room on the stack.
#[inline(never)]
unsafe extern "system" fn note_sets_alike(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    // SAFETY: a recording command buffer, valid sets and a valid layout (VUID-vkCmdBindDescriptorSets-commandBuffer-recording,
    // -pDescriptorSets-parameter, -layout-parameter); `count` elements by the command's valid usage.
    unsafe {
        let mut to: vk::PFN_vkCmdBindDescriptorSets = note_sets;
        let (layout_alive, sets_alive) = (Live::new(layout), Live::all(slice(sets, count)));
        let binds = Binds { layout: layout_alive, first, sets: sets_alive, offsets: slice(offsets, offset_count) };
        if let Some(device) = Device::find_first(commands)
            && let Some(next) = device.ground.driver.fns.cmd_bind_descriptor_sets
            && let Some(separate) = device.separate.as_deref()
            && separate.note_sets_alike(Recording::new(commands), point, binds)
        {
            to = next;
        }
        to(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

#[inline(never)]
unsafe extern "system" fn note_sets(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    let (device, next) = enter!(commands, cmd_bind_descriptor_sets);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        let (ground, pairs) = (&device.ground, &device.pairs);
        // SAFETY: a recording command buffer, valid sets and a valid layout (VUID-vkCmdBindDescriptorSets-commandBuffer-recording,
        // -pDescriptorSets-parameter, -layout-parameter); `count` and `offset_count` elements by the command's valid usage.
        let (recording, binds) = unsafe {
            let (layout, sets) = (Live::new(layout), Live::all(slice(sets, count)));
            (Recording::new(commands), Binds { layout, first, sets, offsets: slice(offsets, offset_count) })
        };
        let goes_down = ground.guard(
            || separate.note_sets(ground, recording, point, binds, true),
            || {
                separate.forget_kept_sets(ground, pairs, recording, point);
                true
            },
        );
        if !goes_down {
            return;
        }
    }
    down!(next(commands, point, layout, first, count, sets, offset_count, offsets));
}

/// The bind points that are followed.
pub(super) const ALL_POINTS: [Point; 3] = [Point::GRAPHICS, Point::COMPUTE, Point::RAY_TRACING_KHR];

/// The bind points that stages belong to (VkBindDescriptorSetsInfo, `stageFlags`).
pub(super) fn points(stages: vk::ShaderStageFlags) -> impl Iterator<Item = Point> {
    use vk::ShaderStageFlags as S;
    let rays =
        S::RAYGEN_KHR | S::ANY_HIT_KHR | S::CLOSEST_HIT_KHR | S::MISS_KHR | S::INTERSECTION_KHR | S::CALLABLE_KHR;
    let all = [
        (S::ALL_GRAPHICS | S::TASK_EXT | S::MESH_EXT | S::CLUSTER_CULLING_HUAWEI, Point::GRAPHICS),
        (S::COMPUTE, Point::COMPUTE),
        (rays, Point::RAY_TRACING_KHR),
    ];
    all.into_iter().filter(move |(own, _)| stages.intersects(*own)).map(|(_, point)| point)
}

pub(crate) unsafe extern "system" fn cmd_bind_descriptor_sets2(
    commands: vk::CommandBuffer,
    info: *const vk::BindDescriptorSetsInfoKHR<'_>,
) {
    let (device, next) = enter!(commands, cmd_bind_descriptor_sets2);
    down!(next(commands, info));
    // SAFETY: VUID-vkCmdBindDescriptorSets2-pBindDescriptorSetsInfo-parameter.
    let Some(info) = unsafe { info.as_ref() }.filter(|_| device.ground.hot.follows_binds()) else { return };
    let Some(separate) = device.separate.as_deref() else { return };
    // SAFETY: a recording command buffer (VUID-vkCmdBindDescriptorSets2-commandBuffer-recording), a layout that is null or valid, and as many
    // valid sets, and offsets, as the structure says (VUID-VkBindDescriptorSetsInfo-layout-parameter, -pDescriptorSets-parameter,
    // -pDynamicOffsets-parameter).
    let (recording, layout, sets, offsets) = unsafe {
        let sets = Live::all(slice(info.p_descriptor_sets, info.descriptor_set_count));
        let offsets = slice(info.p_dynamic_offsets, info.dynamic_offset_count);
        (Recording::new(commands), Live::new(info.layout), sets, offsets)
    };
    let binds = Binds { layout, first: info.first_set, sets, offsets };
    let note = |point| _ = separate.note_sets(&device.ground, recording, point, binds, false);
    device.ground.guard(|| points(info.stage_flags).for_each(note), || ());
}
