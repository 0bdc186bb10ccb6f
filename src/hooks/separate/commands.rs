//! Command buffers, and what is bound in them.
//!
//! `vkCmdBindPipeline` and `vkCmdBindDescriptorSets` are leaves, as the hooks of [`crate::hooks::descriptor`] are.

use std::ffi::c_void;

use ash::vk;
use vk::PipelineBindPoint as Point;

use crate::device::{Binds, Device, Follow};
use crate::dispatch::DeviceFns;
use crate::hooks::slice;

pub(crate) unsafe extern "system" fn allocate_command_buffers(
    handle: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    commands: *mut vk::CommandBuffer,
) -> vk::Result {
    let (device, next) = enter!(handle, allocate_command_buffers);
    let result = down!(next(handle, info, commands));
    if let (vk::Result::SUCCESS, Some(separate)) = (result, device.separate.as_deref()) {
        device.guard(
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
        device.guard(|| separate.forget_commands(pool, unsafe { slice(commands, count) }), || ());
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
        device.guard(|| separate.forget_command_pool(pool), || ());
    }
    down!(next(handle, pool, allocator));
}

pub(crate) unsafe extern "system" fn begin_command_buffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let (device, next) = enter!(commands, begin_command_buffer);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.follows_binds()) {
        // SAFETY: a valid command buffer by VUID-vkBeginCommandBuffer-commandBuffer-parameter.
        device.guard(|| unsafe { separate.clear_commands(commands, true) }, || ());
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
    if let Some(separate) = device.separate.as_deref().filter(|_| device.follows_binds()) {
        // The state of the primary is undefined after it (vkCmdExecuteCommands).
        // SAFETY: a valid command buffer by VUID-vkCmdExecuteCommands-commandBuffer-parameter.
        device.guard(|| unsafe { separate.clear_commands(commands, false) }, || ());
    }
}

pub(crate) unsafe extern "system" fn cmd_bind_pipeline(
    commands: vk::CommandBuffer,
    point: Point,
    pipeline: vk::Pipeline,
) {
    // SAFETY: command buffer and pipeline are valid during the command (VUID-vkCmdBindPipeline-commandBuffer-parameter,
    // -pipeline-parameter), as the look-up and what is jumped to ask.
    unsafe {
        match Device::find_first(commands) {
            Some(device) if device.follows_binds() => bind_pipeline_followed(commands, point, pipeline, device),
            Some(Device { fns: DeviceFns { cmd_bind_pipeline: Some(next), .. }, .. }) => {
                next(commands, point, pipeline)
            }
            _ => bind_pipeline_slowly(commands, point, pipeline),
        }
    }
}

#[inline(never)]
unsafe extern "system" fn bind_pipeline_followed(
    commands: vk::CommandBuffer,
    point: Point,
    pipeline: vk::Pipeline,
    device: &Device,
) {
    // SAFETY: a recording command buffer and a valid pipeline (VUID-vkCmdBindPipeline-commandBuffer-recording).
    unsafe {
        match device.fns.cmd_bind_pipeline {
            Some(next) if device.pass_pipeline(commands, point, pipeline) => next(commands, point, pipeline),
            _ => bind_pipeline_looked_at(commands, point, pipeline, device),
        }
    }
}

#[inline(never)]
unsafe extern "system" fn bind_pipeline_looked_at(
    commands: vk::CommandBuffer,
    point: Point,
    pipeline: vk::Pipeline,
    device: &Device,
) {
    // SAFETY: a recording command buffer and a valid pipeline (VUID-vkCmdBindPipeline-commandBuffer-recording); a pipeline that
    // stands in for it differs in the samplers that it reads.
    unsafe {
        match (device.follow_pipeline(commands, point, pipeline), device.fns.cmd_bind_pipeline) {
            (Some(actual), Some(next)) => next(commands, point, actual),
            _ => bind_pipeline_slowly(commands, point, pipeline),
        }
    }
}

#[inline(never)]
unsafe extern "system" fn bind_pipeline_slowly(commands: vk::CommandBuffer, point: Point, pipeline: vk::Pipeline) {
    let (device, next) = enter!(commands, cmd_bind_pipeline);
    let Some(separate) = device.separate.as_deref().filter(|_| device.follows_binds()) else {
        return down!(next(commands, point, pipeline));
    };
    // SAFETY: the arguments of this `vkCmdBindPipeline`: a recording command buffer (VUID-vkCmdBindPipeline-commandBuffer-recording) and a
    // valid pipeline (-pipeline-parameter).
    let actual = device.guard(|| unsafe { device.separate_pipeline(separate, commands, point, pipeline) }, || pipeline);
    // SAFETY: the application's own arguments, or a pipeline that differs in the samplers that it reads.
    unsafe { next(commands, point, actual) };
}

/// Hooks of commands between which transform feedback is active.
macro_rules! feedback {
    ($($begin:ident $end:ident($($argument:ident: $type:ty),+);)+) => {$(
        /// It begins for a pipeline, so that everything has to be bound.
        pub(crate) unsafe extern "system" fn $begin(commands: vk::CommandBuffer, $($argument: $type),+) {
            let (device, next) = enter!(commands, $begin);
            // SAFETY: a recording command buffer by VUID-vkCmdBeginTransformFeedbackEXT-commandBuffer-recording.
            unsafe { device.flush(commands, Point::GRAPHICS) };
            down!(next(commands, $($argument),+));
            if let Some(separate) = device.separate.as_deref() {
                // SAFETY: a recording command buffer by VUID-vkCmdBeginTransformFeedbackEXT-commandBuffer-recording.
                device.guard(|| unsafe { device.set_feedback(separate, commands, true) }, || ());
            }
        }

        /// What had to wait for the end is bound for the next draw.
        pub(crate) unsafe extern "system" fn $end(commands: vk::CommandBuffer, $($argument: $type),+) {
            let (device, next) = enter!(commands, $end);
            down!(next(commands, $($argument),+));
            if let Some(separate) = device.separate.as_deref() {
                // SAFETY: a recording command buffer by VUID-vkCmdEndTransformFeedbackEXT-commandBuffer-recording.
                device.guard(|| unsafe { device.set_feedback(separate, commands, false) }, || ());
            }
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
    // One call through what was chosen, as in what it leads to: LLVM makes a jump of that, and of several calls with arguments on the
    // stack none.
    // SAFETY: the command buffer is valid during the command (VUID-vkCmdBindDescriptorSets-commandBuffer-parameter), which the look-up
    // asks; what is jumped to gets the application's own arguments.
    unsafe {
        let mut to: vk::PFN_vkCmdBindDescriptorSets = bind_sets_slowly;
        if let Some(device) = Device::find_first(commands) {
            if device.follows_binds() {
                to = bind_sets_followed;
            } else if let Some(next) = device.fns.cmd_bind_descriptor_sets {
                to = next;
            }
        }
        to(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

#[inline(never)]
unsafe extern "system" fn bind_sets_followed(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    // SAFETY: a recording command buffer, valid sets and a valid layout; `count` elements by the command's valid usage.
    unsafe {
        let mut to: vk::PFN_vkCmdBindDescriptorSets = bind_sets_looked_at;
        if let Some(device) = Device::find_first(commands)
            && offset_count == 0
            && !sets.is_null()
            && let given = std::slice::from_raw_parts(sets, count as usize)
            && device.pass_sets((commands, point), layout, first, given)
            && let Some(next) = device.fns.cmd_bind_descriptor_sets
        {
            to = next;
        }
        to(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

#[inline(never)]
unsafe extern "system" fn bind_sets_looked_at(
    commands: vk::CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    // SAFETY: a recording command buffer, valid sets and a valid layout; `count` and `offset_count` elements by the command's valid usage.
    unsafe {
        let mut to: vk::PFN_vkCmdBindDescriptorSets = bind_sets_slowly;
        if let Some(device) = Device::find_first(commands)
            && !sets.is_null()
        {
            let given = std::slice::from_raw_parts(sets, count as usize);
            match device.follow_sets((commands, point), layout, first, given, (offset_count, offsets)) {
                Follow::Down => to = device.fns.cmd_bind_descriptor_sets.unwrap_or(to),
                Follow::Others => to = bind_other_sets,
                Follow::Slowly => {}
            }
        }
        to(commands, point, layout, first, count, sets, offset_count, offsets);
    }
}

/// For sets that were taken over, some of which others stand in for.
#[inline(never)]
unsafe extern "system" fn bind_other_sets(
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
    let Some(separate) = device.separate.as_deref() else {
        return down!(next(commands, point, layout, first, count, sets, offset_count, offsets));
    };
    // SAFETY: `count` and `offset_count` elements by the command's valid usage.
    let binds =
        unsafe { Binds { point, layout, first, sets: slice(sets, count), offsets: slice(offsets, offset_count) } };
    // SAFETY: the command buffer is recording (VUID-vkCmdBindDescriptorSets-commandBuffer-recording); sets and layout are valid
    // (-pDescriptorSets-parameter, -layout-parameter).
    let actual = unsafe { device.followed_sets(separate, commands, &binds) };
    let sets = actual.as_ref().map_or(sets, |actual| actual.as_ptr());
    // SAFETY: the application's own arguments, or as many sets of layouts that are defined alike.
    unsafe { next(commands, point, layout, first, count, sets, offset_count, offsets) };
}

#[inline(never)]
unsafe extern "system" fn bind_sets_slowly(
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
    let Some(separate) = device.separate.as_deref().filter(|_| device.follows_binds()) else {
        return down!(next(commands, point, layout, first, count, sets, offset_count, offsets));
    };
    // SAFETY: `count` and `offset_count` elements by the command's valid usage.
    let binds =
        unsafe { Binds { point, layout, first, sets: slice(sets, count), offsets: slice(offsets, offset_count) } };
    // SAFETY: a recording command buffer (VUID-vkCmdBindDescriptorSets-commandBuffer-recording), valid sets and a valid layout
    // (-pDescriptorSets-parameter, -layout-parameter).
    let other = device.guard(|| unsafe { device.separate_binds(separate, commands, &binds) }, || None);
    let sets = other.as_ref().map_or(sets, |other| other.as_ptr());
    // SAFETY: the application's own arguments, or as many sets of layouts that are defined alike.
    unsafe { next(commands, point, layout, first, count, sets, offset_count, offsets) };
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
    let (Some(separate), Some(info)) = (device.separate.as_deref(), unsafe { info.as_ref() }) else { return };
    if !device.follows_binds() {
        return;
    }
    device.guard(
        || {
            // SAFETY: as many sets and offsets as the structure says (VUID-VkBindDescriptorSetsInfo-pDescriptorSets-parameter,
            // -pDynamicOffsets-parameter).
            let (sets, offsets) = unsafe {
                (
                    slice(info.p_descriptor_sets, info.descriptor_set_count),
                    slice(info.p_dynamic_offsets, info.dynamic_offset_count),
                )
            };
            for point in points(info.stage_flags) {
                let binds = Binds { point, layout: info.layout, first: info.first_set, sets, offsets };
                // SAFETY: a recording command buffer (VUID-vkCmdBindDescriptorSets2-commandBuffer-recording), valid sets and a layout that
                // is null or valid (VUID-VkBindDescriptorSetsInfo-pDescriptorSets-parameter, -layout-parameter).
                unsafe { device.separate_bound_as_given(separate, commands, &binds) };
            }
        },
        || (),
    );
}
