//! The commands that `separate=resolve` follows, and calls: shaders, pipelines, render passes and command buffers.

use ash::vk::{self, Handle};

use super::machine::{Machine, place};
use super::{
    Args, Callbacks, ChildObject, Data, DeviceState, Kind, Outside, array, cmd, dev, device_object, heaps, lock,
};

impl DeviceState {
    /// Feeds the machine, if the driver has one.
    pub(super) fn follow(&self, with: impl FnOnce(&mut Machine)) {
        if !self.config.follows {
            return;
        }
        let _outside = Outside::new();
        let mut machine = lock(&self.machine);
        with(&mut machine);
        for error in std::mem::take(&mut machine.errors) {
            self.error(error);
        }
    }

    /// Whether an object lives that the layer has made, which it does without an allocator.
    pub(crate) fn is_layers(&self, kind: Kind, handle: u64) -> bool {
        lock(&self.objects).live.get(&(kind, handle)).is_some_and(|object| object.allocator == 0)
    }
}

created! {
    create_module ShaderModuleCreateInfo ShaderModule Module c"vkCreateShaderModule" |state, handle, info| {
        let words = array(info.p_code, (info.code_size / 4) as u32);
        state.follow(|machine| machine.module(handle, &words));
    };
    create_render_pass RenderPassCreateInfo RenderPass RenderPass c"vkCreateRenderPass" |_, _, _| {};
    create_render_pass2 RenderPassCreateInfo2 RenderPass RenderPass c"vkCreateRenderPass2" |_, _, _| {};
    create_buffer BufferCreateInfo Buffer Buffer c"vkCreateBuffer" |state, handle, info| {
        state.follow(|machine| _ = machine.buffers.insert(handle, (info.size, 0)));
    };
    allocate_memory MemoryAllocateInfo DeviceMemory Memory c"vkAllocateMemory" |state, handle, info| {
        let words = || (0..info.allocation_size / 4).map(|_| Default::default()).collect();
        state.follow(|machine| _ = machine.memory.insert(handle, words()));
    };
    create_command_pool CommandPoolCreateInfo CommandPool CommandPool c"vkCreateCommandPool" |_, _, _| {};
}

destroyed! {
    destroy_module ShaderModule Module c"vkDestroyShaderModule" Machine::destroy_module;
    destroy_pipeline Pipeline Pipeline c"vkDestroyPipeline" Machine::destroy_pipeline;
    destroy_shader ShaderEXT Shader c"vkDestroyShaderEXT" Machine::destroy_pipeline;
    destroy_buffer Buffer Buffer c"vkDestroyBuffer" |machine, buffer| _ = machine.buffers.remove(&buffer);
    free_memory DeviceMemory Memory c"vkFreeMemory" |machine, memory| _ = machine.memory.remove(&memory);
    destroy_render_pass RenderPass RenderPass c"vkDestroyRenderPass" |_, _| {};
    destroy_command_pool CommandPool CommandPool c"vkDestroyCommandPool" |_, _| {};
}

/// Bytes of every memory object, if its buffer does not need more.
const MEMORY: u64 = 1 << 16;

answers! {
    pub(super) fn get_buffer_memory_requirements(
        device: vk::Device, buffer: vk::Buffer, out: *mut vk::MemoryRequirements,
    ) {
        let size = lock(&dev(device).machine).buffers.get(&buffer.as_raw()).map_or(0, |(size, _)| *size);
        out.write(vk::MemoryRequirements { size: size.max(MEMORY), alignment: 64, memory_type_bits: 3 });
    }

    pub(super) fn bind_buffer_memory(
        device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory, _offset: vk::DeviceSize,
    ) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkBindBufferMemory", Args::Other(vec![buffer.as_raw(), memory.as_raw()]));
        state.follow(|machine| {
            machine.buffers.entry(buffer.as_raw()).and_modify(|(_, own)| *own = memory.as_raw());
        });
        state.fails_by(c"vkBindBufferMemory", 0)?;
    }

    pub(super) fn map_memory(
        device: vk::Device, memory: vk::DeviceMemory, _offset: vk::DeviceSize, _size: vk::DeviceSize,
        _flags: vk::MemoryMapFlags, out: *mut *mut std::ffi::c_void,
    ) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkMapMemory", Args::Other(vec![memory.as_raw()]));
        state.fails_by(c"vkMapMemory", 0)?;
        let _outside = Outside::new();
        let words = lock(&state.machine).memory.get(&memory.as_raw()).cloned();
        let words = words.unwrap_or_else(|| (0..MEMORY / 4).map(|_| Default::default()).collect());
        let mut mapped = lock(&state.mapped);
        let words = mapped.entry(memory.as_raw()).insert_entry(words).into_mut();
        out.write(words.as_ptr().cast_mut().cast());
    }
}

/// Makes pipelines; a failure leaves null handles.
///
/// # Safety
///
/// `out` has room for as many handles as there are pipelines.
unsafe fn make_pipelines(
    (device, command): (vk::Device, &'static std::ffi::CStr),
    (infos, allocator): (usize, usize),
    out: *mut vk::Pipeline,
    pipelines: &[(vk::PipelineLayout, Vec<vk::ShaderModule>, vk::RenderPass)],
) -> Result<(), vk::Result> {
    // SAFETY: forwarded from the caller.
    let state = unsafe { dev(device) };
    state.arrive(command, Args::Create { info: infos, allocator, out: out as usize });
    let made = state.fails_by(command, allocator);
    for (index, (layout, modules, pass)) in pipelines.iter().enumerate() {
        let mut handle = 0;
        if made.is_ok() {
            handle = state.make(Kind::Pipeline, allocator, Data::None);
            if *pass != vk::RenderPass::null() && !state.live(Kind::RenderPass).contains(&pass.as_raw()) {
                state.error(format!("a pipeline of render pass {pass:?}, which does not live"));
            }
            let modules: Vec<u64> = modules.iter().map(|module| module.as_raw()).collect();
            state.follow(|machine| machine.pipeline(handle, layout.as_raw(), &modules));
        }
        // SAFETY: forwarded from the caller.
        unsafe { out.add(index).write(vk::Pipeline::from_raw(handle)) };
    }
    made
}

answers! {
    pub(super) fn create_graphics_pipelines(
        device: vk::Device, _cache: vk::PipelineCache, count: u32, infos: *const vk::GraphicsPipelineCreateInfo<'_>,
        allocator: Callbacks<'_>, out: *mut vk::Pipeline,
    ) -> VkResult {
        let of = |info: &vk::GraphicsPipelineCreateInfo<'_>| {
            let stages = array(info.p_stages, info.stage_count);
            stages.iter().for_each(|stage| heaps::note(dev(device), stage.p_next));
            (info.layout, stages.iter().map(|stage| stage.module).collect(), info.render_pass)
        };
        let pipelines: Vec<_> = array(infos, count).iter().map(of).collect();
        let args = (infos as usize, allocator as usize);
        let result = make_pipelines((device, c"vkCreateGraphicsPipelines"), args, out, &pipelines);
        for (index, info) in array(infos, count).iter().enumerate() {
            let states = info.p_dynamic_state.as_ref();
            let states = states.map_or_else(Vec::new, |all| array(all.p_dynamic_states, all.dynamic_state_count));
            let raster = info.p_rasterization_state.as_ref();
            if let Some(raster) = raster.filter(|_| !states.contains(&vk::DynamicState::LINE_WIDTH)) {
                let made = (*out.add(index)).as_raw();
                dev(device).follow(|machine| machine.set_static_width(made, raster.line_width));
            }
            let first = info.p_next.cast::<vk::PipelineLibraryCreateInfoKHR<'_>>();
            if first.as_ref().is_some_and(|node| node.s_type == vk::StructureType::PIPELINE_LIBRARY_CREATE_INFO_KHR) {
                let libraries = array((*first).p_libraries, (*first).library_count);
                let libraries: Vec<u64> = libraries.iter().map(|library| library.as_raw()).collect();
                dev(device).follow(|machine| machine.include((*out.add(index)).as_raw(), &libraries));
            }
        }
        result?;
    }

    pub(super) fn create_compute_pipelines(
        device: vk::Device, _cache: vk::PipelineCache, count: u32, infos: *const vk::ComputePipelineCreateInfo<'_>,
        allocator: Callbacks<'_>, out: *mut vk::Pipeline,
    ) -> VkResult {
        let of = |info: &vk::ComputePipelineCreateInfo<'_>| {
            heaps::note(dev(device), info.stage.p_next);
            (info.layout, vec![info.stage.module], vk::RenderPass::null())
        };
        let pipelines: Vec<_> = array(infos, count).iter().map(of).collect();
        make_pipelines((device, c"vkCreateComputePipelines"), (infos as usize, allocator as usize), out, &pipelines)?;
    }

    pub(super) fn create_ray_tracing_pipelines(
        device: vk::Device, operation: vk::DeferredOperationKHR, _cache: vk::PipelineCache, count: u32,
        infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>, allocator: Callbacks<'_>, out: *mut vk::Pipeline,
    ) -> VkResult {
        let of = |info: &vk::RayTracingPipelineCreateInfoKHR<'_>| {
            let stages = array(info.p_stages, info.stage_count);
            stages.iter().for_each(|stage| heaps::note(dev(device), stage.p_next));
            (info.layout, stages.iter().map(|stage| stage.module).collect(), vk::RenderPass::null())
        };
        let pipelines: Vec<_> = array(infos, count).iter().map(of).collect();
        let args = (infos as usize, allocator as usize);
        let mut made = vec![vk::Pipeline::null(); pipelines.len()];
        let command = c"vkCreateRayTracingPipelinesKHR";
        let result = make_pipelines((device, command), args, made.as_mut_ptr(), &pipelines);
        if operation == vk::DeferredOperationKHR::null() {
            made.iter().enumerate().for_each(|(index, pipeline)| out.add(index).write(*pipeline));
            return result;
        }
        *lock(&dev(device).deferred) = Some((out as usize, made.iter().map(|pipeline| pipeline.as_raw()).collect()));
        return Err(vk::Result::OPERATION_DEFERRED_KHR);
    }

    pub(super) fn join(device: vk::Device, _operation: vk::DeferredOperationKHR) -> VkResult {
        let state = dev(device);
        let Some((out, made)) = lock(&state.deferred).take() else { return Err(vk::Result::THREAD_DONE_KHR) };
        for (index, pipeline) in made.into_iter().enumerate() {
            // SAFETY: the application's array of handles, which stays until it knows that the operation is complete.
            (out as *mut vk::Pipeline).add(index).write(vk::Pipeline::from_raw(pipeline));
        }
    }
}

macro_rules! feedback {
    ($($name:ident $active:literal;)+) => { answers! {
        $(pub(super) fn $name(
            commands: vk::CommandBuffer, _first: u32, _count: u32, _buffers: *const vk::Buffer,
            _offsets: *const vk::DeviceSize,
        ) {
            cmd(commands).follow(|machine| machine.set_feedback(commands.as_raw(), $active));
        })+
    } };
}

feedback! {
    begin_feedback true;
    end_feedback false;
}

answers! {
    /// Makes shader objects; a failure leaves null handles, but for the first of several.
    pub(super) fn create_shaders(
        device: vk::Device, count: u32, infos: *const vk::ShaderCreateInfoEXT<'_>, allocator: Callbacks<'_>,
        out: *mut vk::ShaderEXT,
    ) -> VkResult {
        let state = dev(device);
        let command = c"vkCreateShadersEXT";
        let args = Args::Create { info: infos as usize, allocator: allocator as usize, out: out as usize };
        state.arrive(command, args);
        let result = state.fails(command);
        let infos = array(infos, count);
        let linked = |info: &vk::ShaderCreateInfoEXT<'_>| info.flags.contains(vk::ShaderCreateFlagsEXT::LINK_STAGE);
        if infos.iter().filter(|info| linked(info)).count() == 1 {
            state.error("a shader is linked with no other".into());
        }
        for (index, info) in infos.iter().enumerate() {
            heaps::note(state, info.p_next);
            let mut handle = 0;
            if result.is_ok() || (index == 0 && count > 1) {
                handle = state.make(Kind::Shader, allocator as usize, Data::None);
                state.follow(|machine| machine.shader(handle, info));
            }
            out.add(index).write(vk::ShaderEXT::from_raw(handle));
        }
        let made = array(out.cast_const(), count);
        let linked = infos.iter().zip(&made).filter(|(info, _)| linked(info)).map(|(_, shader)| shader.as_raw());
        let linked: Vec<u64> = linked.collect();
        state.follow(|machine| machine.link(&linked));
        result?;
    }

    pub(super) fn bind_shaders(
        commands: vk::CommandBuffer, count: u32, stages: *const vk::ShaderStageFlags, shaders: *const vk::ShaderEXT,
    ) {
        let state = cmd(commands);
        state.arrive(c"vkCmdBindShadersEXT", Args::Other(vec![commands.as_raw(), stages as u64, shaders as u64]));
        // A null array unbinds.
        let (stages, shaders) = (array(stages, count), array(shaders, if shaders.is_null() { 0 } else { count }));
        state.follow(|machine| machine.bind_shaders(commands.as_raw(), &stages, &shaders));
    }

    pub(super) fn free_command_buffers(
        device: vk::Device, _pool: vk::CommandPool, count: u32, commands: *const vk::CommandBuffer,
    ) {
        let object = device_object(device);
        for commands in array(commands, count) {
            object.state.follow(|machine| machine.clear(commands.as_raw()));
            lock(&object.unused).push(commands.as_raw() as usize as *mut ChildObject);
        }
    }

    pub(super) fn begin_command_buffer(
        commands: vk::CommandBuffer, _info: *const vk::CommandBufferBeginInfo<'_>,
    ) -> VkResult {
        cmd(commands).follow(|machine| machine.clear(commands.as_raw()));
    }

    pub(super) fn reset_command_buffer(commands: vk::CommandBuffer, _flags: vk::CommandBufferResetFlags) -> VkResult {
        cmd(commands).follow(|machine| machine.clear(commands.as_raw()));
    }

    /// Whose command buffers nobody records into before they are begun again.
    pub(super) fn reset_command_pool(
        device: vk::Device, _pool: vk::CommandPool, _flags: vk::CommandPoolResetFlags,
    ) -> VkResult {
        dev(device).follow(|_| {});
    }

    pub(super) fn execute_commands(commands: vk::CommandBuffer, _count: u32, _secondaries: *const vk::CommandBuffer) {
        cmd(commands).follow(|machine| machine.clear(commands.as_raw()));
    }

    pub(super) fn bind_pipeline(commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        let state = cmd(commands);
        state.arrive(c"vkCmdBindPipeline", Args::Other(vec![commands.as_raw(), pipeline.as_raw()]));
        state.follow(|machine| machine.bind_pipeline(commands.as_raw(), place(point), pipeline.as_raw()));
    }

    pub(super) fn bind_pipeline_shader_group(
        commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline, group: u32,
    ) {
        let state = cmd(commands);
        let passed = vec![commands.as_raw(), pipeline.as_raw(), u64::from(group)];
        state.arrive(c"vkCmdBindPipelineShaderGroupNV", Args::Other(passed));
        state.follow(|machine| machine.bind_pipeline(commands.as_raw(), place(point), pipeline.as_raw()));
    }
}

/// Commands whose arguments are noted, and nothing else.
macro_rules! noted {
    ($($name:ident $command:literal ($($argument:ident: $type:ty),*);)+) => { answers! { $(
        pub(super) fn $name(commands: vk::CommandBuffer, $($argument: $type),*) {
            cmd(commands).arrive($command, Args::Other(vec![commands.as_raw() $(, $argument as u64)*]));
        }
    )+ } };
}

type Region = *const vk::StridedDeviceAddressRegionKHR;

noted! {
    draw c"vkCmdDraw" (vertices: u32, instances: u32, first_vertex: u32, first_instance: u32);
    dispatch c"vkCmdDispatch" (x: u32, y: u32, z: u32);
    trace_rays c"vkCmdTraceRaysKHR" (
        raygen: Region, miss: Region, hit: Region, callable: Region, width: u32, height: u32, depth: u32
    );
    execute_generated_commands_nv c"vkCmdExecuteGeneratedCommandsNV" (
        is_preprocessed: vk::Bool32, info: *const vk::GeneratedCommandsInfoNV<'_>
    );
    execute_generated_commands c"vkCmdExecuteGeneratedCommandsEXT" (is_preprocessed: vk::Bool32, info: *const std::ffi::c_void);
    preprocess_generated_commands_nv c"vkCmdPreprocessGeneratedCommandsNV" (
        info: *const vk::GeneratedCommandsInfoNV<'_>
    );
    begin_label c"vkCmdBeginDebugUtilsLabelEXT" (info: *const vk::DebugUtilsLabelEXT<'_>);
    insert_label c"vkCmdInsertDebugUtilsLabelEXT" (info: *const vk::DebugUtilsLabelEXT<'_>);
    end_label c"vkCmdEndDebugUtilsLabelEXT" ();
    begin_marker c"vkCmdDebugMarkerBeginEXT" (info: *const vk::DebugMarkerMarkerInfoEXT<'_>);
    insert_marker c"vkCmdDebugMarkerInsertEXT" (info: *const vk::DebugMarkerMarkerInfoEXT<'_>);
    end_marker c"vkCmdDebugMarkerEndEXT" ();
}

/// Notes what a queue is given. It stands for no state of its own: any handle of the device does, see `loader::Device::queue`.
macro_rules! submitted {
    ($($name:ident $command:literal ($queue:ident $(, $argument:ident: $type:ty)+) $infos:ident;)+) => { answers! { $(
        pub(super) fn $name($queue: vk::Queue $(, $argument: $type)+) -> VkResult {
            cmd(vk::CommandBuffer::from_raw($queue.as_raw())).arrive($command, Args::Other(vec![$infos as u64]));
        }
    )+ } };
}

submitted! {
    present c"vkQueuePresentKHR" (queue, info: *const vk::PresentInfoKHR<'_>) info;
    submit c"vkQueueSubmit" (queue, _count: u32, infos: *const vk::SubmitInfo<'_>, _fence: vk::Fence) infos;
    submit2 c"vkQueueSubmit2" (queue, _count: u32, infos: *const vk::SubmitInfo2<'_>, _fence: vk::Fence) infos;
    bind_sparse c"vkQueueBindSparse" (queue, _count: u32, infos: *const vk::BindSparseInfo<'_>, _fence: vk::Fence) infos;
}

answers! {
    pub(super) fn preprocess_generated_commands(
        commands: vk::CommandBuffer, info: *const std::ffi::c_void, _state: vk::CommandBuffer,
    ) {
        cmd(commands).arrive(c"vkCmdPreprocessGeneratedCommandsEXT", Args::Other(vec![info as u64]));
    }

    pub(super) fn set_line_width(commands: vk::CommandBuffer, width: f32) {
        cmd(commands).follow(|machine| machine.set_line_width(commands.as_raw(), width));
    }

    /// From there on nothing is bound at this bind point: offsets of a layout that is compatible with none of sets.
    pub(super) fn set_descriptor_buffer_offsets(
        commands: vk::CommandBuffer, point: vk::PipelineBindPoint, _layout: vk::PipelineLayout, _first: u32,
        _count: u32, _indices: *const u32, _offsets: *const vk::DeviceSize,
    ) {
        cmd(commands).follow(|machine| machine.forget_sets(commands.as_raw(), place(point)));
    }

    pub(super) fn bind_sets(
        commands: vk::CommandBuffer, point: vk::PipelineBindPoint, layout: vk::PipelineLayout, first: u32, count: u32,
        sets: *const vk::DescriptorSet, offset_count: u32, offsets: *const u32,
    ) {
        let state = cmd(commands);
        state.arrive(c"vkCmdBindDescriptorSets", Args::Other(vec![commands.as_raw(), sets as u64, offsets as u64]));
        let (sets, offsets) = (array(sets, count), array(offsets, offset_count));
        state.follow(|machine| {
            machine.bind_sets(commands.as_raw(), place(point), layout.as_raw(), first, &sets, &offsets);
        });
    }

    pub(super) fn bind_sets2(commands: vk::CommandBuffer, info: *const vk::BindDescriptorSetsInfoKHR<'_>) {
        let state = cmd(commands);
        state.arrive(c"vkCmdBindDescriptorSets2", Args::Other(vec![commands.as_raw(), info as u64]));
        let info = &*info;
        let sets = array(info.p_descriptor_sets, info.descriptor_set_count);
        let offsets = array(info.p_dynamic_offsets, info.dynamic_offset_count);
        for point in points(info.stage_flags) {
            state.follow(|machine| {
                // The layout would be in the chain: what it leaves bound is nothing that may be counted on.
                if info.layout == vk::PipelineLayout::null() {
                    return machine.forget_sets(commands.as_raw(), point);
                }
                machine.bind_sets(commands.as_raw(), point, info.layout.as_raw(), info.first_set, &sets, &offsets);
            });
        }
    }
}

/// Places of the bind points that stages belong to.
pub(crate) fn points(stages: vk::ShaderStageFlags) -> Vec<usize> {
    let graphics = stages.intersects(vk::ShaderStageFlags::ALL_GRAPHICS);
    let compute = stages.contains(vk::ShaderStageFlags::COMPUTE);
    [graphics.then_some(0), compute.then_some(1)].into_iter().flatten().collect()
}

/// Whether descriptors of a type are followed.
fn is_separate(ty: vk::DescriptorType) -> bool {
    matches!(ty, vk::DescriptorType::SAMPLER | vk::DescriptorType::SAMPLED_IMAGE)
}

/// Sampler and view of each descriptor that a write of another type writes, or something in their place that tells it from others: a
/// handle, a byte.
///
/// # Safety
///
/// A valid write.
unsafe fn others(write: &vk::WriteDescriptorSet<'_>) -> Vec<(u64, u64)> {
    use vk::DescriptorType as T;
    let count = write.descriptor_count;
    // SAFETY: the arrays of a valid write, by its type; tests chain nothing before what belongs to the type.
    unsafe {
        match write.descriptor_type {
            T::INLINE_UNIFORM_BLOCK => {
                let block = write.p_next.cast::<vk::WriteDescriptorSetInlineUniformBlock<'_>>();
                array((*block).p_data.cast::<u8>(), (*block).data_size)
                    .iter()
                    .map(|byte| (0, u64::from(*byte)))
                    .collect()
            }
            T::ACCELERATION_STRUCTURE_KHR | T::ACCELERATION_STRUCTURE_NV => {
                // Both structures are laid out alike, and so are the handles.
                let own = write.p_next.cast::<vk::WriteDescriptorSetAccelerationStructureKHR<'_>>();
                let handles = array((*own).p_acceleration_structures.cast::<u64>(), count);
                handles.iter().map(|handle| (0, *handle)).collect()
            }
            ty if super::has_image(ty) => {
                let infos = array(write.p_image_info, count);
                infos.iter().map(|info| image(ty, info)).collect()
            }
            _ if !write.p_texel_buffer_view.is_null() => {
                array(write.p_texel_buffer_view, count).iter().map(|view| (0, view.as_raw())).collect()
            }
            _ if !write.p_buffer_info.is_null() => {
                array(write.p_buffer_info, count).iter().map(|info| (0, info.buffer.as_raw())).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What an image info stands for in a descriptor of a type.
fn image(ty: vk::DescriptorType, info: &vk::DescriptorImageInfo) -> (u64, u64) {
    let sampler = if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER { info.sampler.as_raw() } else { 0 };
    (sampler, info.image_view.as_raw())
}

/// Takes over an update.
///
/// # Safety
///
/// The arguments of a valid update.
pub(super) unsafe fn updated(
    state: &DeviceState,
    writes: &[vk::WriteDescriptorSet<'_>],
    copies: &[vk::CopyDescriptorSet<'_>],
) {
    for write in writes {
        let at = (write.dst_binding, write.dst_array_element);
        if !is_separate(write.descriptor_type) {
            // SAFETY: forwarded from the caller.
            let others = unsafe { others(write) };
            state.follow(|machine| {
                machine.write_others(write.dst_set.as_raw(), at, &others);
                if write.descriptor_type == vk::DescriptorType::STORAGE_BUFFER && at.1 == 0 {
                    // SAFETY: forwarded from the caller.
                    let infos = unsafe { array(write.p_buffer_info, write.descriptor_count.min(1)) };
                    let ranges = infos.iter().map(|info| ((write.dst_set.as_raw(), at.0), (info.offset, info.range)));
                    machine.ranges.extend(ranges);
                }
            });
            continue;
        }
        // SAFETY: forwarded from the caller.
        let infos = unsafe { array(write.p_image_info, write.descriptor_count) };
        state.follow(|machine| machine.write(write.dst_set.as_raw(), write.descriptor_type, at, &infos));
    }
    for copy in copies {
        let mut is_copied = false;
        state.follow(|machine| {
            is_copied = machine.is_loose(copy.src_set.as_raw());
            machine.copy(copy);
        });
        if is_copied && state.is_in_layers_pool(copy.dst_set.as_raw()) {
            state.error(format!("{:?} may be updated after a bind and was copied", copy.src_set));
        }
    }
}

impl DeviceState {
    fn is_in_layers_pool(&self, set: u64) -> bool {
        lock(&self.objects).live.iter().any(|((kind, _), object)| {
            *kind == Kind::Pool
                && object.allocator == 0
                && matches!(&object.data, Data::Sets(sets) if sets.contains(&set))
        })
    }
}

/// Takes over a push.
///
/// # Safety
///
/// The writes are those of a valid push.
pub(super) unsafe fn pushed(
    commands: vk::CommandBuffer,
    points: &[usize],
    place: (vk::PipelineLayout, u32),
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    // SAFETY: forwarded from the caller.
    let state = unsafe { cmd(commands) };
    if !state.config.follows {
        return;
    }
    let is_pair = |ty| is_separate(ty) || ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    for write in writes.iter().filter(|write| is_pair(write.descriptor_type)) {
        // SAFETY: forwarded from the caller.
        let infos = unsafe { array(write.p_image_info, write.descriptor_count) };
        let at = (write.dst_binding, write.dst_array_element);
        for point in points {
            state.follow(|machine| {
                let place = (place.0.as_raw(), place.1);
                machine.push(commands.as_raw(), *point, place, write.descriptor_type, at, &infos);
            });
        }
    }
}

/// Takes over what a template writes: to a set, or to what is pushed, descriptors that hold both with it.
pub(super) fn templated(
    state: &DeviceState,
    template: u64,
    (elements, is_pushed): (&[super::Element], bool),
    mut with: impl FnMut(&mut Machine, vk::DescriptorType, (u32, u32), &[vk::DescriptorImageInfo]),
) {
    if !state.config.follows {
        return;
    }
    let entries = state.template(template);
    for element in elements {
        let entry = &entries[element.entry];
        let is_both = entry.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        if let Some(info) = element.image.filter(|_| is_separate(entry.descriptor_type) || is_pushed && is_both) {
            let at = (entry.dst_binding, entry.dst_array_element + element.index as u32);
            state.follow(|machine| with(machine, entry.descriptor_type, at, &[info]));
        }
    }
}

/// Takes over what a template writes to a set of other types.
pub(super) fn templated_others(state: &DeviceState, (set, template): (u64, u64), elements: &[super::Element]) {
    if !state.config.follows {
        return;
    }
    let entries = state.template(template);
    for element in elements {
        let entry = &entries[element.entry];
        let ty = entry.descriptor_type;
        let others: Vec<(u64, u64)> = match &element.image {
            Some(_) if is_separate(ty) => continue,
            Some(info) => vec![image(ty, info)],
            None if ty == vk::DescriptorType::INLINE_UNIFORM_BLOCK => {
                element.bytes.iter().map(|byte| (0, u64::from(*byte))).collect()
            }
            // A handle comes first.
            None => element.bytes.first_chunk().map(|word| (0, u64::from_ne_bytes(*word))).into_iter().collect(),
        };
        let at = (entry.dst_binding, entry.dst_array_element + element.index as u32);
        state.follow(|machine| machine.write_others(set, at, &others));
    }
}

/// Takes over the creation of what the machine knows.
///
/// # Safety
///
/// The create info is valid.
pub(super) unsafe fn allocated(state: &DeviceState, info: &vk::DescriptorSetAllocateInfo<'_>, index: usize, set: u64) {
    // SAFETY: forwarded from the caller.
    let layout = unsafe { *info.p_set_layouts.add(index) };
    state.follow(|machine| machine.allocate(info.descriptor_pool.as_raw(), layout.as_raw(), set));
}
