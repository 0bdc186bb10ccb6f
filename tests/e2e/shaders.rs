//! Shaders that are rewritten as they come: atomic counters in [`counters`], what is declared of views in [`declared`], storage images in [`storage`], [`formats`], [`formatless`] and [`frame`], what is shaded for each
//! sample in [`samples`].
//!
//! Shaders are compiled when the test runs, by `glslangValidator` and `spirv-as`, because some are no valid SPIR-V for Vulkan.

mod advertised;
mod compared;
mod counters;
mod declared;
mod formatless;
mod formats;
mod frame;
mod samples;
mod storage;

use crate::run::{Outcome, build};
use ash::vk;
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_testkit::descriptor::{Binding, Pool, SetLayout};
use samplin_testkit::{Buffer, Context, View};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        counters::trials(),
        declared::trials(),
        storage::trials(),
        formats::trials(),
        advertised::trials(),
        compared::trials(),
        formatless::trials(),
        frame::trials(),
        samples::trials(),
    ];
    all.into_iter().flatten().collect()
}

/// The part of a process of its own.
pub(crate) fn application(name: &str) -> Outcome {
    match name {
        "counters" => counters::application(&build(&Context::builder().samplin())?),
        _ => panic!("{name} is no part"),
    }
}

// --- compilers ------------------------------------------------------------------------------------------------------

/// GLSL for Vulkan.
fn vulkan(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::Glsl("vulkan1.0"), stage, source)
}

/// HLSL for Vulkan, with the entry point `main`.
fn hlsl(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::Hlsl("vulkan1.0"), stage, source)
}

/// A capability in front of all others, as compilers declare it for nothing.
fn declaring(mut words: Vec<u32>, capability: u32) -> Vec<u32> {
    words.splice(5..5, [2 << 16 | 17, capability]);
    words
}

/// GLSL for OpenGL, with room for eight bindings of counters.
fn opengl(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::OpenGl(8), stage, source)
}

// --- compute shaders ------------------------------------------------------------------------------------------------

/// A compute pipeline with set 0.
struct Job<'c> {
    context: &'c Context,
    set_layout: SetLayout<'c>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> Job<'c> {
    /// Makes the pipeline; its module is gone then, as those of most programs are.
    fn new(context: &'c Context, words: &[u32], bindings: &[Binding]) -> Result<Self, vk::Result> {
        let device = context.device();
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a module's; what the rules forbid of them is the test's business.
        let module = unsafe { device.create_shader_module(&info, None) }?;
        Self::with(context, module, SetLayout::new(context, bindings))
    }

    /// Makes the pipeline of a module, which goes, and a set layout.
    fn with(context: &'c Context, module: vk::ShaderModule, set_layout: SetLayout<'c>) -> Result<Self, vk::Result> {
        let device = context.device();
        let layouts = [set_layout.handle()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        // SAFETY: the set layout is alive.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("vkCreatePipelineLayout");
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        // SAFETY: module and layout are alive.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None) };
        // SAFETY: only needed while the pipeline was made.
        unsafe { device.destroy_shader_module(module, None) };
        let pipeline = made.map_err(|(_, error)| error)?[0];
        Ok(Self { context, set_layout, layout, pipeline })
    }

    /// Dispatches so many groups, with what `write` has written to the set.
    fn run(&self, groups: u32, write: impl FnOnce(vk::DescriptorSet)) {
        let device = self.context.device();
        let pool = Pool::new(self.context, &[&self.set_layout]);
        let set = pool.allocate(&self.set_layout);
        write(set);
        self.dispatch(groups, |commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the buffer is recording; layout and set belong together.
            unsafe { device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]) };
        });
    }

    /// Dispatches so many groups, with the set that `bind` binds or pushes.
    fn dispatch(&self, groups: u32, bind: impl FnOnce(vk::CommandBuffer)) {
        let device = self.context.device();
        self.context.submit(|commands| {
            bind(commands);
            // SAFETY: the buffer is recording; what was bound belongs to the pipeline.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
                device.cmd_dispatch(commands, groups, 1, 1);
            }
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_READ);
            let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
            let to = to | vk::PipelineStageFlags::TRANSFER;
            // SAFETY: the buffer is recording outside of a render pass.
            unsafe {
                device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
            }
        });
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        // SAFETY: every run waited for its submission.
        unsafe {
            self.context.device().destroy_pipeline(self.pipeline, None);
            self.context.device().destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// Writes a storage buffer to a binding.
fn write_buffer(context: &Context, set: vk::DescriptorSet, binding: u32, buffer: &Buffer<'_>) {
    let info = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(binding)
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .buffer_info(&info);
    // SAFETY: set and buffer are alive and not in use.
    unsafe { context.device().update_descriptor_sets(&[write], &[]) };
}

/// Writes a storage image to a binding.
fn write_image(context: &Context, set: vk::DescriptorSet, binding: u32, view: &View<'_>) {
    let info = [vk::DescriptorImageInfo::default().image_view(view.handle()).image_layout(vk::ImageLayout::GENERAL)];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(binding)
        .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
        .image_info(&info);
    // SAFETY: set and view are alive and not in use.
    unsafe { context.device().update_descriptor_sets(&[write], &[]) };
}

/// A storage buffer of these words.
fn buffer<'c>(context: &'c Context, words: &[u32]) -> Buffer<'c> {
    let buffer = Buffer::new(context, words.len() * 4, vk::BufferUsageFlags::STORAGE_BUFFER);
    buffer.write_words(words);
    buffer
}
