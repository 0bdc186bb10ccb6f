//! A program that renders a scene and scales it up to its swapchain.

use ash::vk;

use crate::shader::{ShaderModule, Target, attachment, covering, make_graphics, module, pipeline_layout};
use crate::{Context, Image, ImageDesc, View, ViewDesc};

/// A pass with a colour and a depth attachment.
pub struct ScenePass<'c> {
    context: &'c Context,
    extent: [u32; 2],
    colour: Image<'c>,
    depth: Image<'c>,
    _views: [View<'c>; 2],
    target: Target<'c>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> ScenePass<'c> {
    /// One of this width and height.
    /// The error is a sentence when the device has no such images.
    pub fn new(context: &'c Context, extent: [u32; 2]) -> Result<Self, String> {
        use vk::ImageUsageFlags as Usage;
        let [width, height] = extent;
        let of = |format, usage| Image::new(context, &ImageDesc { usage, ..ImageDesc::d2(format, width, height) });
        let colour = of(vk::Format::R8G8B8A8_UNORM, Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC)?;
        let depth = of(vk::Format::D32_SFLOAT, Usage::DEPTH_STENCIL_ATTACHMENT)?;
        let aspect = vk::ImageAspectFlags::DEPTH;
        let views = [colour.view(&ViewDesc::default()), depth.view(&ViewDesc { aspect, ..ViewDesc::default() })];
        let layouts = [vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL];
        let attachments = [vk::Format::R8G8B8A8_UNORM, vk::Format::D32_SFLOAT]
            .map(|format| attachment(format, vk::AttachmentLoadOp::CLEAR, layouts));
        let handles = [views[0].handle(), views[1].handle()];
        let target = Target::new(context, &attachments, [&[0], &[], &[], &[1]], &handles, extent);
        let layout = pipeline_layout(context, &[], &[]);
        let pipeline = pipeline(context, extent, target.pass, layout);
        Ok(Self { context, extent, colour, depth, _views: views, target, layout, pipeline })
    }

    /// Draws so often in one pass.
    pub fn draw(&self, draws: u32) {
        let device = self.context.device();
        // SAFETY: all objects live until the submission is complete, and the pipeline was made for the pass.
        self.target.draw(&[vk::ClearValue::default(); 2], |commands| unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            (0..draws).for_each(|_| device.cmd_draw(commands, 3, 1, 0, 0));
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
    let stages = [vertex.stage(vk::ShaderStageFlags::VERTEX)];
    let scissors = [vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..vk::Rect2D::default() }];
    let depth = vk::PipelineDepthStencilStateCreateInfo::default().depth_test_enable(true).depth_write_enable(true);
    let depth = depth.depth_compare_op(vk::CompareOp::ALWAYS);
    let blends = [vk::PipelineColorBlendAttachmentState::default()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let area = vk::Rect2D { extent: vk::Extent2D { width, height }, ..vk::Rect2D::default() };
    let viewports = [vk::Viewport { width: width as f32, height: height as f32, max_depth: 1.0, ..Default::default() }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    covering(&stages, area, 1, |info| {
        let info = info.viewport_state(&viewport).depth_stencil_state(&depth).color_blend_state(&blend);
        make_graphics(context.device(), &info.layout(layout).render_pass(pass))
    })
}

impl Drop for ScenePass<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: each submission is complete, and nothing else names these.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
