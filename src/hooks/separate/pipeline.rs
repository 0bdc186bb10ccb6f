//! Pipelines.

use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::Arc;

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};

use crate::device::{Device, Live, Made, On, Program, Separate, Stage, Words};
use crate::hooks::shader::{constants, copies, words};
use crate::kept;
use crate::pnext::{self, slice};

pub(crate) unsafe extern "system" fn destroy_pipeline(
    handle: vk::Device,
    pipeline: vk::Pipeline,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let (device, next) = enter!(handle, destroy_pipeline);
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(|| separate.forget_pipeline(&device.ground, pipeline), || ());
    }
    down!(next(handle, pipeline, allocator));
}

/// A stage's bit, entry point, code and specialization constants.
type Text<'a> = (vk::ShaderStageFlags, Cow<'a, str>, Arc<Words>, Vec<(u32, &'a [u8])>);

/// Remembers one pipeline.
///
/// # Safety
///
/// As for [`program`].
unsafe fn remember(
    device: &Device,
    separate: &Separate,
    pipeline: vk::Pipeline,
    made: &Made<'_>,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    libraries: &[vk::Pipeline],
) {
    if pipeline == vk::Pipeline::null() {
        return;
    }
    // SAFETY: the create info is that of the pipeline, by this function's contract.
    if let Some(program) = unsafe { program(device, separate, pipeline, made, stages, libraries) } {
        separate.insert_pipeline(&device.ground, &device.pairs, pipeline, program);
    }
}

/// What has to be remembered of one pipeline.
///
/// # Safety
///
/// All of it is of a valid create info of `pipeline`, which may be null if it is not made yet.
pub(super) unsafe fn program(
    device: &Device,
    separate: &Separate,
    pipeline: vk::Pipeline,
    made: &Made<'_>,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    libraries: &[vk::Pipeline],
) -> Option<Program> {
    // SAFETY: the chain of a valid create info.
    let binaries = unsafe { kept::has_binaries(made.p_next()) };
    let mut hidden = binaries.then_some(Left::HiddenSpirv);
    let mut texts: Vec<Text<'_>> = Vec::new();
    for stage in stages.iter().filter(|_| !binaries) {
        // SAFETY: the module is null or valid while a pipeline is made of it; otherwise the code is in the chain
        // (VUID-VkPipelineShaderStageCreateInfo-stage-06845).
        let code = unsafe {
            separate.words(Live::new(stage.module)).or_else(|| {
                let chained = pnext::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next)?;
                Some(separate.intern(words(chained), None))
            })
        };
        let Some(code) = code else {
            // An identifier, or a module that is not known.
            hidden = Some(Left::HiddenSpirv);
            continue;
        };
        // SAFETY: null-terminated by VUID-VkPipelineShaderStageCreateInfo-pName-parameter.
        let name = unsafe { CStr::from_ptr(stage.p_name) }.to_string_lossy();
        // SAFETY: VUID-VkPipelineShaderStageCreateInfo-pSpecializationInfo-parameter.
        let constants = unsafe { constants(stage.p_specialization_info) };
        texts.with_room().push((stage.stage, name, code, constants));
    }
    let stages = memory::collect(texts.iter().map(|(stage, name, words, constants)| Stage {
        stage: *stage,
        name,
        constants,
        words,
    }));
    // SAFETY: `made` is the valid create info of `pipeline`, and the libraries are named in it, by this function's contract.
    unsafe {
        let libraries = Live::all(libraries);
        separate.program_of(
            On { ground: &device.ground, pairs: &device.pairs },
            pipeline,
            made,
            &stages,
            libraries,
            hidden,
        )
    }
}

pub(crate) unsafe extern "system" fn create_graphics_pipelines(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    create_infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (device, next) = enter!(handle, create_graphics_pipelines);
    // SAFETY: `count` valid create infos (VUID-vkCreateGraphicsPipelines-pCreateInfos-parameter).
    let copies = device.ground.guard(|| unsafe { copies::graphics(device, slice(create_infos, count)) }, || None);
    let differs = copies.as_ref().filter(|copies| copies.differs());
    let create_infos = differs.map_or(create_infos, |copies| copies.infos.as_ptr());
    // SAFETY: the application's own arguments, or create infos that differ in what had to.
    let result = unsafe { next(handle, cache, count, create_infos, allocator, pipelines) };
    if let Some(copies) = &copies {
        // SAFETY: the call wrote all handles.
        device.ground.guard(|| copies.record(unsafe { slice(pipelines.cast_const(), count) }), || ());
    }
    // Whatever the result: of several pipelines some may have been made, and those that were not are null (Multiple Pipeline Creation).
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(
            || {
                // SAFETY: `count` create infos (VUID-vkCreateGraphicsPipelines-pCreateInfos-parameter) and as many handles, all of which
                // the call wrote.
                let (infos, made) = unsafe { (slice(create_infos, count), slice(pipelines.cast_const(), count)) };
                for (info, pipeline) in infos.iter().zip(made) {
                    // SAFETY: the chain and the arrays of a valid create info.
                    unsafe {
                        let libraries = pnext::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(info.p_next);
                        let libraries = libraries.map_or(&[][..], |node| slice(node.p_libraries, node.library_count));
                        let stages = kept::Facts::of(info, kept::Context::default()).stages_of(info);
                        remember(device, separate, *pipeline, &Made::Graphics(info), stages, libraries);
                    }
                }
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn create_compute_pipelines(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    create_infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (device, next) = enter!(handle, create_compute_pipelines);
    // SAFETY: `count` valid create infos (VUID-vkCreateComputePipelines-pCreateInfos-parameter).
    let copies = device.ground.guard(|| unsafe { copies::compute(device, slice(create_infos, count)) }, || None);
    let create_infos = copies.as_ref().map_or(create_infos, |copies| copies.infos.as_ptr());
    // SAFETY: the application's own arguments, or create infos that differ in what had to.
    let result = unsafe { next(handle, cache, count, create_infos, allocator, pipelines) };
    // Whatever the result: of several pipelines some may have been made, and those that were not are null (Multiple Pipeline Creation).
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(
            || {
                // SAFETY: `count` create infos (VUID-vkCreateComputePipelines-pCreateInfos-parameter) and as many handles, all of which the
                // call wrote.
                let (infos, made) = unsafe { (slice(create_infos, count), slice(pipelines.cast_const(), count)) };
                for (info, pipeline) in infos.iter().zip(made) {
                    // SAFETY: the stage and the layout are members of the valid create info of `pipeline`.
                    unsafe {
                        let stages = std::slice::from_ref(&info.stage);
                        remember(device, separate, *pipeline, &Made::Compute(info), stages, &[]);
                    }
                }
            },
            || (),
        );
    }
    result
}

/// The hooks of both commands that create render passes.
macro_rules! create_render_pass {
    ($($command:ident($info:ident, $keep:ident);)+) => {$(
        pub(crate) unsafe extern "system" fn $command(
            handle: vk::Device,
            create_info: *const vk::$info<'_>,
            allocator: *const vk::AllocationCallbacks<'_>,
            pass: *mut vk::RenderPass,
        ) -> vk::Result {
            let (device, next) = enter!(handle, $command);
            let result = down!(next(handle, create_info, allocator, pass));
            if let (vk::Result::SUCCESS, Some(separate)) = (result, device.separate.as_deref()) {
                device.ground.guard(
                    || {
                        // SAFETY: the create info is valid by the `-pCreateInfo-parameter` VUID of each command; the handle was set by the
                        // successful call.
                        let (info, made) = unsafe { (&*create_info, *pass) };
                        // SAFETY: the create info is valid, as above.
                        let (subpasses, kept) = unsafe { kept::RenderPass::$keep(info) };
                        separate.insert_render_pass(made, subpasses, kept);
                    },
                    || (),
                );
            }
            result
        }
    )+};
}

create_render_pass! {
    create_render_pass(RenderPassCreateInfo, new);
    create_render_pass2(RenderPassCreateInfo2, new2);
}

destroy! {
    destroy_render_pass(vk::RenderPass): |device, pass| {
        if let Some(separate) = device.separate.as_deref() {
            device.ground.guard(|| separate.forget_render_pass(pass), || ());
        }
    };
}
