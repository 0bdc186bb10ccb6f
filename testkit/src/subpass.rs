//! A fragment program that reads an input attachment.

use ash::vk;

use crate::context::Context;
use crate::descriptor::{Binding, SetLayout};
use crate::image::{Image, ImageDesc, View, ViewDesc};
use crate::shader::{
    Frame, ShaderModule, Target, attachment as attachment_of, graphics_pipeline, make_graphics, module, pipeline_layout,
};
use crate::texel::Value;

/// A program that reads the attachment of its subpass at each pixel, through set 0, binding 0.
pub struct Subpass<'c> {
    context: &'c Context,
    set_layout: SetLayout<'c>,
    picture: Image<'c>,
    _views: [View<'c>; 2],
    target: Target<'c>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> Subpass<'c> {
    /// Makes the program of the words of a fragment shader, which writes a `uvec4` to location 0. `attachment`: what it reads, which
    /// rests in `GENERAL`.
    /// The error is a sentence when the device cannot render to the target's format.
    pub fn new(context: &'c Context, attachment: &Image<'c>, fragment: &[u32]) -> Result<Self, String> {
        let size = [attachment.desc().extent[0], attachment.desc().extent[1]];
        let format = vk::Format::R32G32B32A32_UINT;
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let picture = Image::new(context, &ImageDesc::d2(format, size[0], size[1]).usage(usage))?;
        let views = [picture.view(&ViewDesc::default()), attachment.view(&ViewDesc::default())];

        let (general, load) = (vk::ImageLayout::GENERAL, vk::AttachmentLoadOp::LOAD);
        let attachments = [
            attachment_of(format, vk::AttachmentLoadOp::DONT_CARE, [vk::ImageLayout::UNDEFINED, general]),
            attachment_of(attachment.desc().format, load, [general; 2]),
        ];
        let handles = views.each_ref().map(View::handle);
        let target = Target::new(context, &attachments, [&[0], &[1], &[], &[]], &handles, size);

        let binding = Binding::new(0, vk::DescriptorType::INPUT_ATTACHMENT, 1);
        let flags = vk::DescriptorSetLayoutCreateFlags::empty();
        let set_layout = SetLayout::with_stages(context, &[binding], flags, vk::ShaderStageFlags::FRAGMENT);
        let layout = pipeline_layout(context, &[&set_layout], &[]);
        let vertex = ShaderModule::new(context, &module("draw/vertex"));
        let fragment = ShaderModule::new(context, fragment);
        let constants = vk::SpecializationInfo::default();
        let frame = Frame { render_pass: target.pass, size, attachments: 1 };
        let pipeline = graphics_pipeline(context, &frame, layout, [&vertex, &fragment], &constants, &make_graphics);
        Ok(Self { context, set_layout, picture, _views: views, target, layout, pipeline })
    }

    /// The layout of set 0: an input attachment at binding 0.
    pub fn set_layout(&self) -> &SetLayout<'c> {
        &self.set_layout
    }

    /// What each pixel is, row by row from the top, with this set.
    pub fn paint(&self, set: vk::DescriptorSet) -> Vec<Value> {
        let device = self.context.device();
        self.target.draw(&[], |commands| {
            let point = vk::PipelineBindPoint::GRAPHICS;
            // SAFETY: the buffer is recording in the render pass; pipeline, layout and set belong together.
            unsafe {
                device.cmd_bind_pipeline(commands, point, self.pipeline);
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        });
        self.picture.set_layout(vk::ImageLayout::GENERAL);
        self.picture.read(vk::ImageAspectFlags::COLOR, 0, 0)
    }
}

impl Drop for Subpass<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: every paint waited for its submission.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
