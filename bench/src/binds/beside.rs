//! Sets and pushes of another layout than the pipeline's, in a command buffer whose sets conflict or not; and binds of version 2.

use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::image::Buffer;

use super::Parts;
use crate::sample::{CALLS, time};

const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;

/// What is bound beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// A set with a dynamic offset, another one each time.
    Offset,
    /// A set with UPDATE_AFTER_BIND.
    Late,
    /// An image and a sampler that are pushed.
    Push,
}

impl Beside {
    pub(crate) const ALL: [Self; 3] = [Self::Offset, Self::Late, Self::Push];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Offset => "bind a set with a dynamic offset",
            Self::Late => "bind a set with UPDATE_AFTER_BIND",
            Self::Push => "push 2 beside sets",
        }
    }
}

impl Parts<'_> {
    /// ns of thread CPU time per call of `vkCmdBindDescriptorSets2` with the sets of the pipeline.
    pub(super) fn bind_sets2(&self, pool: usize) -> f64 {
        let version2 = ash::khr::maintenance6::Device::new(self.context.instance(), self.context.device());
        let info = vk::BindDescriptorSetsInfoKHR::default().stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS);
        let info = info.layout(self.layout).descriptor_sets(self.sets());
        self.record(pool, |commands| {
            self.bind_sets(commands, self.sets());
            self.bind(commands, 0);
            // SAFETY: recording; all sets are of the layout.
            time(&[(); CALLS], |()| unsafe { version2.cmd_bind_descriptor_sets2(commands, &info) })
        })
    }

    /// ns of thread CPU time per call.
    pub(super) fn beside(&self, beside: Beside, pool: usize) -> f64 {
        use vk::DescriptorSetLayoutCreateFlags as Flags;
        let (context, device) = (self.context, self.context.device());
        let image = Binding::image(0);
        let (image, flags) = match beside {
            Beside::Offset => (image, Flags::empty()),
            Beside::Late => (image.flags(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND), Flags::UPDATE_AFTER_BIND_POOL),
            Beside::Push => (image, Flags::PUSH_DESCRIPTOR_KHR),
        };
        let dynamic = Binding::new(2, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 1);
        let bindings = [image, Binding::sampler(1), dynamic];
        let count = if beside == Beside::Offset { 3 } else { 2 };
        let layout = SetLayout::with_flags(context, &bindings[..count], flags);
        let handles = [layout.handle()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles);
        // SAFETY: a valid create info.
        let pipeline_layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let images = [vk::DescriptorImageInfo {
            image_view: self.views[1],
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            ..Default::default()
        }];
        let samplers = [vk::DescriptorImageInfo { sampler: self.sampler, ..Default::default() }];
        let ns = if beside == Beside::Push {
            let push = ash::khr::push_descriptor::Device::new(context.instance(), device);
            let write = |binding, ty| vk::WriteDescriptorSet::default().dst_binding(binding).descriptor_type(ty);
            let writes = [
                write(0, vk::DescriptorType::SAMPLED_IMAGE).image_info(&images),
                write(1, vk::DescriptorType::SAMPLER).image_info(&samplers),
            ];
            self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                self.bind(commands, 0);
                // SAFETY: recording; the writes are of the layout.
                time(&[(); CALLS], |()| unsafe {
                    push.cmd_push_descriptor_set(commands, GRAPHICS, pipeline_layout, 0, &writes);
                })
            })
        } else {
            let sets = Pool::new(context, &[&layout]);
            let set = [sets.allocate(&layout)];
            write_images(context, set[0], (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &images);
            write_images(context, set[0], (1, 0), vk::DescriptorType::SAMPLER, &samplers);
            let buffer = Buffer::new(context, 4096, vk::BufferUsageFlags::UNIFORM_BUFFER);
            let of_buffer = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: 256 }];
            if beside == Beside::Offset {
                let write = vk::WriteDescriptorSet::default().dst_set(set[0]).dst_binding(2);
                let write = write.descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC).buffer_info(&of_buffer);
                // SAFETY: a valid write to a set that is not in use.
                unsafe { device.update_descriptor_sets(&[write], &[]) };
            }
            let calls: Vec<u32> = (0..CALLS as u32).map(|call| call % 4 * 256).collect();
            self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                self.bind(commands, 0);
                time(&calls, |offset| {
                    let offsets = if beside == Beside::Offset { std::slice::from_ref(offset) } else { &[] };
                    // SAFETY: recording; the set is of the layout, and the offset within its buffer.
                    unsafe { device.cmd_bind_descriptor_sets(commands, GRAPHICS, pipeline_layout, 0, &set, offsets) };
                })
            })
        };
        // SAFETY: nothing was submitted, and what was recorded is freed.
        unsafe { device.destroy_pipeline_layout(pipeline_layout, None) };
        ns
    }
}
