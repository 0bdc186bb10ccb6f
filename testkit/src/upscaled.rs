//! A program that renders a scene and scales it up to its swapchain.

use ash::vk;

use crate::shader::{ShaderModule, module};
use crate::{Context, Image, ImageDesc, View, ViewDesc};

/// A pass with a colour and a depth attachment.
pub struct ScenePass<'c> {
    context: &'c Context,
    extent: [u32; 2],
    colour: Image<'c>,
    depth: Image<'c>,
    _views: [View<'c>; 2],
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> ScenePass<'c> {
    /// One of this width and height.
    ///
    /// # Errors
    ///
    /// A sentence when the device has no such images.
    ///
    /// # Panics
    ///
    /// When a Vulkan call fails.
    pub fn new(context: &'c Context, extent: [u32; 2]) -> Result<Self, String> {
        use vk::ImageUsageFlags as Usage;
        let device = context.device();
        let [width, height] = extent;
        let of = |format, usage| Image::new(context, &ImageDesc { usage, ..ImageDesc::d2(format, width, height) });
        let colour = of(vk::Format::R8G8B8A8_UNORM, Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC)?;
        let depth = of(vk::Format::D32_SFLOAT, Usage::DEPTH_STENCIL_ATTACHMENT)?;
        let aspect = vk::ImageAspectFlags::DEPTH;
        let views = [colour.view(&ViewDesc::default()), depth.view(&ViewDesc { aspect, ..ViewDesc::default() })];
        let attachments = [vk::Format::R8G8B8A8_UNORM, vk::Format::D32_SFLOAT].map(|format| {
            vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(vk::ImageLayout::UNDEFINED)
                .final_layout(vk::ImageLayout::GENERAL)
        });
        let of = |attachment| vk::AttachmentReference { attachment, layout: vk::ImageLayout::GENERAL };
        let (colours, depths) = ([of(0)], of(1));
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colours)
            .depth_stencil_attachment(&depths)];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        // SAFETY: the subpass names attachments that are there.
        let pass = unsafe { device.create_render_pass(&info, None) }.expect("vkCreateRenderPass");
        let handles = [views[0].handle(), views[1].handle()];
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&handles);
        let info = info.width(width).height(height).layers(1);
        // SAFETY: the views have the attachments' formats and sizes.
        let framebuffer = unsafe { device.create_framebuffer(&info, None) }.expect("vkCreateFramebuffer");
        // SAFETY: an empty layout.
        let layout = unsafe { device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None) };
        let layout = layout.expect("vkCreatePipelineLayout");
        let pipeline = pipeline(context, extent, pass, layout);
        Ok(Self { context, extent, colour, depth, _views: views, pass, framebuffer, layout, pipeline })
    }

    /// Draws so often in one pass.
    pub fn draw(&self, draws: u32) {
        let device = self.context.device();
        let [width, height] = self.extent;
        let area = vk::Rect2D { extent: vk::Extent2D { width, height }, ..vk::Rect2D::default() };
        let clear = [vk::ClearValue::default(); 2];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(area)
            .clear_values(&clear);
        // SAFETY: all objects live until the submission is complete, and the pipeline was made for the pass.
        self.context.submit(|commands| unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            (0..draws).for_each(|_| device.cmd_draw(commands, 3, 1, 0, 0));
            device.cmd_end_render_pass(commands);
        });
        self.colour.set_layout(vk::ImageLayout::GENERAL);
        self.depth.set_layout(vk::ImageLayout::GENERAL);
    }

    /// What was drawn, in the layout GENERAL, and its width and height.
    pub fn picture(&self) -> (vk::Image, [u32; 2]) {
        (self.colour.handle(), self.extent)
    }
}

/// A pipeline with a vertex shader alone, which writes no colour.
fn pipeline(
    context: &Context,
    [width, height]: [u32; 2],
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
) -> vk::Pipeline {
    let vertex = ShaderModule::new(context, &module("draw/vertex"));
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::VERTEX);
    let stages = [stage.module(vertex.handle).name(c"main")];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let (w, h) = (width as f32, height as f32);
    let viewports = [vk::Viewport { width: w, height: h, max_depth: 1.0, ..vk::Viewport::default() }];
    let scissors = [vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..vk::Rect2D::default() }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::SampleCountFlags::TYPE_1;
    let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default().depth_test_enable(true).depth_write_enable(true);
    let depth = depth.depth_compare_op(vk::CompareOp::ALWAYS);
    let blends = [vk::PipelineColorBlendAttachmentState::default()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .layout(layout)
        .render_pass(pass);
    // SAFETY: every object named is alive and every state that the pipeline needs is there.
    let made = unsafe { context.device().create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    made.map_err(|(_, error)| error).expect("vkCreateGraphicsPipelines")[0]
}

impl Drop for ScenePass<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: each submission is complete, and nothing else names these.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_framebuffer(self.framebuffer, None);
            device.destroy_render_pass(self.pass, None);
        }
    }
}
