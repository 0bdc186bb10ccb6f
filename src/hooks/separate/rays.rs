//! Ray tracing pipelines, which may be made by deferred operations.

use ash::vk;
use samplin_hot::memory;

use super::pipeline::program;
use crate::device::{Device, Made, Program, Separate};
use crate::hooks::shader::copies;
use crate::kept;
use crate::pnext::slice;

/// What has to be remembered of pipelines; `made` are their handles, if they are there already.
///
/// # Safety
///
/// The create info is valid, and `pipeline` is made with it.
unsafe fn of_khr(
    device: &Device,
    separate: &Separate,
    info: &vk::RayTracingPipelineCreateInfoKHR<'_>,
    pipeline: vk::Pipeline,
) -> Option<Program> {
    // SAFETY: the chain of a valid create info, by this function's contract.
    let flags = unsafe { kept::all_flags(info.flags, info.p_next) };
    let made = Made::RayTracing(info.layout, flags, info.p_next);
    // SAFETY: the create info is valid by this function's contract, with as many elements as it says
    // (VUID-VkRayTracingPipelineCreateInfoKHR-pStages-parameter, -pLibraryInfo-parameter).
    unsafe {
        let libraries = info.p_library_info.as_ref();
        let libraries = libraries.map_or(&[][..], |libraries| slice(libraries.p_libraries, libraries.library_count));
        program(device, separate, pipeline, &made, slice(info.p_stages, info.stage_count), libraries)
    }
}

/// Remembers the pipelines that were made; those that were not are null (Multiple Pipeline Creation).
fn insert(
    device: &Device,
    separate: &Separate,
    made: &[vk::Pipeline],
    program: impl Fn(usize, vk::Pipeline) -> Option<Program>,
) {
    for (index, pipeline) in made.iter().enumerate().filter(|(_, pipeline)| **pipeline != vk::Pipeline::null()) {
        if let Some(program) = program(index, *pipeline) {
            separate.insert_pipeline(&device.ground, &device.pairs, *pipeline, program);
        }
    }
}

pub(crate) unsafe extern "system" fn create_ray_tracing_pipelines(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    count: u32,
    create_infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (device, next) = enter!(handle, create_ray_tracing_pipelines);
    // SAFETY: `count` valid create infos (VUID-vkCreateRayTracingPipelinesKHR-pCreateInfos-parameter).
    let copies = device.ground.guard(|| unsafe { copies::rays_khr(device, create_infos, count) }, || None);
    // What reaches the driver has to live until the operation is complete, so it is not deferred.
    let (is_deferred, operation) = match &copies {
        Some(_) => (operation != vk::DeferredOperationKHR::null(), vk::DeferredOperationKHR::null()),
        None => (false, operation),
    };
    let create_infos = copies.as_ref().map_or(create_infos, |copies| copies.infos.as_ptr());
    let answer = |result| match result {
        vk::Result::SUCCESS if is_deferred => vk::Result::OPERATION_NOT_DEFERRED_KHR,
        other => other,
    };
    let Some(separate) = device.separate.as_deref() else {
        // SAFETY: what `vkCreateRayTracingPipelinesKHR` was called with, but for samplers that shaders embed.
        return answer(unsafe { next(handle, operation, cache, count, create_infos, allocator, pipelines) });
    };
    // SAFETY: `count` create infos by VUID-vkCreateRayTracingPipelinesKHR-pCreateInfos-parameter.
    let infos = unsafe { slice(create_infos, count) };
    if operation != vk::DeferredOperationKHR::null() {
        // Before the call: after it, another thread may complete the operation, and learns so.
        device.ground.guard(
            || {
                let none = vk::Pipeline::null();
                // SAFETY: each create info is valid (VUID-vkCreateRayTracingPipelinesKHR-pCreateInfos-parameter), and no pipeline is made
                // of it yet.
                let programs =
                    memory::collect(infos.iter().map(|info| unsafe { of_khr(device, separate, info, none) }));
                separate.defer_pipelines(operation, pipelines, programs);
            },
            || (),
        );
    }
    // SAFETY: what `vkCreateRayTracingPipelinesKHR` was called with; nothing that it leads to has been written since.
    let result = unsafe { next(handle, operation, cache, count, create_infos, allocator, pipelines) };
    if operation == vk::DeferredOperationKHR::null() {
        device.ground.guard(
            || {
                // SAFETY: the call wrote all handles, whatever its result.
                let made = unsafe { slice(pipelines.cast_const(), count) };
                insert(device, separate, made, |index, pipeline| {
                    // SAFETY: the create info that this pipeline was just made with
                    // (VUID-vkCreateRayTracingPipelinesKHR-pCreateInfos-parameter).
                    infos.get(index).and_then(|info| unsafe { of_khr(device, separate, info, pipeline) })
                });
            },
            || (),
        );
    } else if result != vk::Result::OPERATION_DEFERRED_KHR {
        // Not deferred after all: the call wrote all handles.
        // SAFETY: nobody has been told yet.
        device.ground.guard(|| unsafe { separate.take_deferred(&device.ground, &device.pairs, operation) }, || ());
    }
    answer(result)
}

pub(crate) unsafe extern "system" fn create_ray_tracing_pipelines_nv(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    create_infos: *const vk::RayTracingPipelineCreateInfoNV<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (device, next) = enter!(handle, create_ray_tracing_pipelines_nv);
    // SAFETY: `count` valid create infos (VUID-vkCreateRayTracingPipelinesNV-pCreateInfos-parameter).
    let copies = device.ground.guard(|| unsafe { copies::rays_nv(device, create_infos, count) }, || None);
    let create_infos = copies.as_ref().map_or(create_infos, |copies| copies.infos.as_ptr());
    // SAFETY: what `vkCreateRayTracingPipelinesNV` was called with, but for samplers that shaders embed.
    let result = unsafe { next(handle, cache, count, create_infos, allocator, pipelines) };
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(
            || {
                // SAFETY: `count` elements each by the command's valid usage; the call wrote all handles, whatever its result.
                let (infos, made) = unsafe { (slice(create_infos, count), slice(pipelines.cast_const(), count)) };
                insert(device, separate, made, |index, pipeline| {
                    let info = infos.get(index)?;
                    // SAFETY: VUID-VkRayTracingPipelineCreateInfoNV-pNext-pNext.
                    let flags = unsafe { kept::all_flags(info.flags, info.p_next) };
                    let made = Made::RayTracing(info.layout, flags, info.p_next);
                    // SAFETY: VUID-VkRayTracingPipelineCreateInfoNV-pStages-parameter.
                    unsafe { program(device, separate, pipeline, &made, slice(info.p_stages, info.stage_count), &[]) }
                });
            },
            || (),
        );
    }
    result
}

/// The application learns of the completion of an operation by these two commands.
macro_rules! completion {
    ($($command:ident($result:ident => $is_complete:expr);)+) => {$(
        pub(crate) unsafe extern "system" fn $command(
            handle: vk::Device,
            operation: vk::DeferredOperationKHR,
        ) -> vk::Result {
            let (device, next) = enter!(handle, $command);
            // SAFETY: device and operation are those that the command was called with (its `-device-parameter` and `-operation-parameter`
            // VUIDs).
            let $result = unsafe { next(handle, operation) };
            if let Some(separate) = device.separate.as_deref().filter(|_| $is_complete) {
                // SAFETY: the operation is complete, of which nobody is told before its pipelines are taken over.
                device.ground.guard(|| unsafe { separate.take_deferred(&device.ground, &device.pairs, operation) }, || ());
            }
            $result
        }
    )+};
}

completion! {
    deferred_operation_join(result => result == vk::Result::SUCCESS);
    get_deferred_operation_result(result => result != vk::Result::NOT_READY);
}
