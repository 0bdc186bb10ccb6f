//! A compute pipeline with one set, for shaders that tests bring themselves.

use crate::descriptor::{Binding, Pool, SetLayout};
use crate::{Buffer, Context, View};
use ash::vk;

/// A compute pipeline with set 0.
pub struct Job<'c> {
    /// Where it runs.
    pub context: &'c Context,
    /// The layout of its set.
    pub set_layout: SetLayout<'c>,
    /// The layout of its pipeline.
    pub layout: vk::PipelineLayout,
    /// Its pipeline.
    pub pipeline: vk::Pipeline,
}

impl<'c> Job<'c> {
    /// Makes the pipeline; its module is gone then, as those of most programs are.
    ///
    /// # Errors
    ///
    /// What the driver returns.
    pub fn new(context: &'c Context, words: &[u32], bindings: &[Binding]) -> Result<Self, vk::Result> {
        let device = context.device();
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a module's; what the rules forbid of them is the test's business.
        let module = unsafe { device.create_shader_module(&info, None) }?;
        Self::with(context, module, SetLayout::new(context, bindings))
    }

    /// Makes the pipeline of a module, which goes, and a set layout.
    ///
    /// # Errors
    ///
    /// What the driver returns.
    ///
    /// # Panics
    ///
    /// When the pipeline layout cannot be created.
    pub fn with(context: &'c Context, module: vk::ShaderModule, set_layout: SetLayout<'c>) -> Result<Self, vk::Result> {
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
    pub fn run(&self, groups: u32, write: impl FnOnce(vk::DescriptorSet)) {
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
    pub fn dispatch(&self, groups: u32, bind: impl FnOnce(vk::CommandBuffer)) {
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
pub fn write_buffer(context: &Context, set: vk::DescriptorSet, binding: u32, buffer: &Buffer<'_>) {
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
pub fn write_image(context: &Context, set: vk::DescriptorSet, binding: u32, view: &View<'_>) {
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
pub fn buffer<'c>(context: &'c Context, words: &[u32]) -> Buffer<'c> {
    let buffer = Buffer::new(context, words.len() * 4, vk::BufferUsageFlags::STORAGE_BUFFER);
    buffer.write_words(words);
    buffer
}
