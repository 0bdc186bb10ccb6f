//! A compute pipeline with one set, for shaders that tests bring themselves.

use crate::descriptor::{Binding, Pool, SetLayout, update, whole, write_images};
use crate::image::barrier;
use crate::shader::{ShaderModule, pipeline_layout};
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
    pub fn new(context: &'c Context, words: &[u32], bindings: &[Binding]) -> Result<Self, vk::Result> {
        Self::with(context, words, SetLayout::new(context, bindings))
    }

    /// The same for a set layout.
    pub fn with(context: &'c Context, words: &[u32], set_layout: SetLayout<'c>) -> Result<Self, vk::Result> {
        let module = ShaderModule::try_new(context, words)?;
        let layout = pipeline_layout(context, &[&set_layout], &[]);
        let infos = [vk::ComputePipelineCreateInfo::default()
            .stage(module.stage(vk::ShaderStageFlags::COMPUTE))
            .layout(layout)];
        // SAFETY: module and layout are alive.
        let made = unsafe { context.device().create_compute_pipelines(vk::PipelineCache::null(), &infos, None) };
        let pipeline = made.map_err(|(_, error)| error)?[0];
        Ok(Self { context, set_layout, layout, pipeline })
    }

    /// Records the bind of a set.
    pub fn bind(&self, commands: vk::CommandBuffer, set: vk::DescriptorSet) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the buffer is recording; layout and set belong together.
        unsafe { self.context.device().cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]) };
    }

    /// Dispatches so many groups, with what `write` has written to the set.
    pub fn run(&self, groups: u32, write: impl FnOnce(vk::DescriptorSet)) {
        let (_pool, set) = Pool::set(self.context, &self.set_layout);
        write(set);
        self.dispatch(groups, |commands| self.bind(commands, set));
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
            barrier(device, commands, &[]);
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
    let info = [whole(buffer)];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).buffer_info(&info);
    update(context, &[write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER)], &[], &[]);
}

/// Writes a storage image to a binding.
pub fn write_image(context: &Context, set: vk::DescriptorSet, binding: u32, view: &View<'_>) {
    let info = vk::DescriptorImageInfo::default().image_view(view.handle()).image_layout(vk::ImageLayout::GENERAL);
    write_images(context, set, (binding, 0), vk::DescriptorType::STORAGE_IMAGE, &[info]);
}

/// Writes a view of a buffer to a binding.
pub fn write_texels(
    context: &Context,
    set: vk::DescriptorSet,
    (binding, ty): (u32, vk::DescriptorType),
    view: vk::BufferView,
) {
    let views = [view];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).texel_buffer_view(&views);
    update(context, &[write.descriptor_type(ty).descriptor_count(1)], &[], &[]);
}

/// Makes a view of all of a buffer, uses and destroys it.
pub fn with_texels<R>(
    context: &Context,
    buffer: &Buffer<'_>,
    format: vk::Format,
    use_view: impl FnOnce(vk::BufferView) -> R,
) -> R {
    let info = vk::BufferViewCreateInfo::default().buffer(buffer.handle()).format(format).range(vk::WHOLE_SIZE);
    // SAFETY: the buffer is alive.
    let view = unsafe { context.device().create_buffer_view(&info, None) }.expect("vkCreateBufferView");
    let result = use_view(view);
    // SAFETY: each run waited for its submission.
    unsafe { context.device().destroy_buffer_view(view, None) };
    result
}

/// A storage buffer of these words.
pub fn buffer<'c>(context: &'c Context, words: &[u32]) -> Buffer<'c> {
    let buffer = Buffer::new(context, words.len() * 4, vk::BufferUsageFlags::STORAGE_BUFFER);
    buffer.write_words(words);
    buffer
}
