//! Binds that come again: what goes down for each, once it is known what the pipeline and its sets come to.

use std::ptr;

use ash::vk::{self, Handle};

use crate::driver::lock;
use crate::driver::machine::place;
use crate::loader::{Device, InstanceBuilder, allocator, binding, call, pair};
use crate::separate::{Operand, shader};

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const FILTERED: vk::Format = vk::Format::R8G8B8A8_UNORM;
const UNFILTERED: vk::Format = vk::Format::R32_SFLOAT;

/// Sets with two images and the sampler that pipelines read both through, a layout of one such set and one of two.
struct Scene {
    device: Device,
    of_set: vk::DescriptorSetLayout,
    layouts: [vk::PipelineLayout; 2],
    commands: vk::CommandBuffer,
}

impl Scene {
    fn new() -> Self {
        let device = InstanceBuilder::new().driver(|config| config.follows = true).set("separate", "resolve").device();
        let types = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER];
        let bindings: Vec<_> = std::iter::zip(0.., types)
            .map(|(number, ty)| binding(number, ty, 1).stage_flags(vk::ShaderStageFlags::COMPUTE))
            .collect();
        let of_set = device.layout(&bindings);
        let layouts = [device.pipeline_layout(&[of_set]), device.pipeline_layout(&[of_set, of_set])];
        let mut pool = vk::CommandPool::null();
        let info = vk::CommandPoolCreateInfo::default();
        assert_eq!(call!(device.create_command_pool(device.raw, &info, allocator(), &mut pool)), vk::Result::SUCCESS);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let mut commands = vk::CommandBuffer::null();
        assert_eq!(call!(device.allocate_command_buffers(device.raw, &info, &mut commands)), vk::Result::SUCCESS);
        // Something conflicts from the start, so that binds are followed.
        device.linear();
        device.view(UNFILTERED);
        let scene = Self { device, of_set, layouts, commands };
        scene.pipeline();
        let info = vk::CommandBufferBeginInfo::default();
        let device = &scene.device;
        assert_eq!(call!(device.begin_command_buffer(commands, &info)), vk::Result::SUCCESS);
        scene
    }

    /// A set with images of these formats and a LINEAR sampler.
    fn set(&self, formats: [vk::Format; 2]) -> vk::DescriptorSet {
        self.set_with(formats, self.device.linear())
    }

    fn set_with(&self, formats: [vk::Format; 2], sampler: vk::Sampler) -> vk::DescriptorSet {
        let device = &self.device;
        let set = device.sets(device.pool(), &[self.of_set])[0];
        let images = formats.map(|format| pair(vk::Sampler::null(), device.view(format)));
        let sampler = pair(sampler, vk::ImageView::null());
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        for (number, image) in (0..).zip(&images) {
            let image = std::slice::from_ref(image);
            let write = write.dst_binding(number).descriptor_type(vk::DescriptorType::SAMPLED_IMAGE).image_info(image);
            device.update(&[write], &[]);
        }
        let sampler = [sampler];
        let write = write.dst_binding(2).descriptor_type(vk::DescriptorType::SAMPLER).image_info(&sampler);
        device.update(&[write], &[]);
        set
    }

    /// A pipeline of the shorter layout.
    fn pipeline(&self) -> vk::Pipeline {
        self.pipeline_of(self.layouts[0], 0)
    }

    /// A pipeline that reads both images of a set through the sampler of set 0.
    fn pipeline_of(&self, layout: vk::PipelineLayout, images: u32) -> vk::Pipeline {
        let device = &self.device;
        let at = |set, binding| Operand { set, binding, count: 1, element: Some(0) };
        let words = shader(5, &[0, 1].map(|image| (at(images, image), at(0, 2))));
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let mut module = vk::ShaderModule::null();
        assert_eq!(call!(device.create_module(device.raw, &info, allocator(), &mut module)), vk::Result::SUCCESS);
        let stage = vk::PipelineShaderStageCreateInfo::default().name(c"main").module(module);
        let stage = stage.stage(vk::ShaderStageFlags::COMPUTE);
        let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
        let (none, mut made) = (vk::PipelineCache::null(), vk::Pipeline::null());
        let result = call!(device.create_compute_pipelines(device.raw, none, 1, &info, allocator(), &mut made));
        assert_eq!(result, vk::Result::SUCCESS);
        call!(device.destroy_module(device.raw, module, allocator()));
        made
    }

    fn bind(&self, pipeline: vk::Pipeline) {
        let device = &self.device;
        call!(device.bind_pipeline(self.commands, COMPUTE, pipeline));
    }

    fn bind_sets(&self, layout: vk::PipelineLayout, first: u32, sets: &[vk::DescriptorSet]) {
        let (device, count) = (&self.device, sets.len() as u32);
        call!(device.bind_sets(self.commands, COMPUTE, layout, first, count, sets.as_ptr(), 0, ptr::null()));
    }

    /// Whether the first and the second image are read through the application's sampler.
    #[track_caller]
    fn own(&self) -> [bool; 2] {
        self.device.driver.check();
        let reads = lock(&self.device.driver.machine).draw(self.commands.as_raw(), place(COMPUTE));
        let reads = reads.expect("what is bound can be drawn with");
        let linear = |handle| {
            let model = self.device.driver.sampler(handle).expect("a sampler that lives");
            model.info.min_filter == vk::Filter::LINEAR
        };
        [0, 1].map(|image| linear(reads.iter().find(|read| read.image.1 == image).expect("both are read").handle))
    }

    /// Binds that went down.
    fn binds(&self) -> usize {
        self.device.driver.calls().iter().filter(|call| call.command.to_bytes().starts_with(b"vkCmdBind")).count()
    }
}

/// Sets of these formats, and which of their images are read through the application's own sampler.
const CONTENTS: [([vk::Format; 2], [bool; 2]); 3] = [
    ([FILTERED, FILTERED], [true, true]),
    ([UNFILTERED, UNFILTERED], [false, false]),
    ([FILTERED, UNFILTERED], [true, false]),
];

#[test]
fn a_bind_that_comes_again_is_one_bind() {
    for (formats, own) in CONTENTS {
        let scene = Scene::new();
        let pipelines = [scene.pipeline(), scene.pipeline()];
        let set = scene.set(formats);
        let all = || {
            for pipeline in pipelines {
                scene.bind(pipeline);
                scene.bind_sets(scene.layouts[0], 0, &[set]);
                assert_eq!(scene.own(), own);
            }
        };
        all();
        scene.binds();
        all();
        assert_eq!(scene.binds(), 4, "{formats:?}");
    }
}

#[test]
fn what_comes_after_a_conflict_reads_what_it_would_have_read_before() {
    let scene = Scene::new();
    let pipelines = [scene.pipeline(), scene.pipeline()];
    let sets = CONTENTS.map(|(formats, own)| (scene.set(formats), own));
    for _ in 0..3 {
        for (set, own) in sets.iter().chain(sets.iter().rev()) {
            for pipeline in pipelines {
                scene.bind(pipeline);
                scene.bind_sets(scene.layouts[0], 0, &[*set]);
                assert_eq!(scene.own(), *own);
                scene.bind_sets(scene.layouts[0], 0, &[sets[0].0]);
                assert_eq!(scene.own(), [true, true]);
                scene.bind_sets(scene.layouts[0], 0, &[*set]);
                assert_eq!(scene.own(), *own);
            }
        }
    }
}

#[test]
fn a_hidden_set_is_bound_again_once_it_is_disturbed_and_not_before() {
    let scene = Scene::new();
    let (pipeline, longer) = (scene.pipeline(), scene.layouts[1]);
    let (shared, other) = (scene.set([FILTERED, UNFILTERED]), scene.set([FILTERED, FILTERED]));
    scene.bind_sets(longer, 0, &[shared, other]);
    scene.bind(pipeline);
    assert_eq!(scene.own(), [true, false]);
    scene.binds();
    for _ in 0..2 {
        // Set 0 is below the hidden one.
        scene.bind_sets(longer, 0, &[shared]);
        assert_eq!((scene.own(), scene.binds()), ([true, false], 1));
        // Set 1 takes its place.
        scene.bind_sets(longer, 1, &[other]);
        assert_eq!((scene.own(), scene.binds()), ([true, false], 2));
    }
}

#[test]
fn a_pipeline_that_needs_nothing_reads_sets_as_they_were_given() {
    let scene = Scene::new();
    let layout = scene.layouts[1];
    let [conflicts, legal] = [0, 1].map(|images| scene.pipeline_of(layout, images));
    let sets = [scene.set([UNFILTERED; 2]), scene.set([FILTERED; 2])];
    for _ in 0..3 {
        scene.bind_sets(layout, 0, &sets);
        scene.bind(conflicts);
        assert_eq!(scene.own(), [false, false]);
        // It reads other images through the sampler that was exchanged.
        scene.bind(legal);
        assert_eq!(scene.own(), [true, true]);
        scene.bind(conflicts);
        assert_eq!(scene.own(), [false, false]);
        scene.bind_sets(layout, 1, &sets[1..]);
        assert_eq!(scene.own(), [false, false]);
        scene.bind(legal);
        assert_eq!(scene.own(), [true, true]);
    }
}

/// Its samplers are in a set of the layer's own, so that no bind of the application's goes down without a look at it, not even of sets
/// that conflict with nothing.
#[test]
fn a_split_pipeline_reads_the_samplers_of_sets_that_conflict_with_nothing() {
    let scene = Scene::new();
    let (pipeline, layout) = (scene.pipeline(), scene.layouts[0]);
    let nearest = scene.device.nearest();
    let shared = scene.set([FILTERED, UNFILTERED]);
    let legal = [scene.set([FILTERED; 2]), scene.set_with([FILTERED; 2], nearest)];
    scene.bind_sets(layout, 0, &[shared]);
    scene.bind(pipeline);
    assert_eq!(scene.own(), [true, false]);
    for _ in 0..3 {
        scene.bind_sets(layout, 0, &legal[..1]);
        assert_eq!(scene.own(), [true, true]);
        scene.bind_sets(layout, 0, &legal[1..]);
        assert_eq!(scene.own(), [false, false]);
    }
}

/// Binds that conflict with nothing go down as they are and are remembered all the same: the pipeline and the sets below count when a
/// set comes that does conflict.
#[test]
fn what_was_bound_without_a_look_counts_once_something_conflicts() {
    let scene = Scene::new();
    let layout = scene.layouts[1];
    let pipelines = [0, 1].map(|images| scene.pipeline_of(layout, images));
    let legal = [(); 3].map(|()| scene.set([FILTERED; 2]));
    let conflicts = scene.set([UNFILTERED; 2]);
    scene.bind_sets(layout, 0, &legal[..2]);
    for _ in 0..3 {
        for (images, pipeline) in pipelines.into_iter().enumerate() {
            scene.bind(pipelines[1 - images]);
            scene.bind_sets(layout, 0, &legal[1..]);
            scene.bind(pipeline);
            scene.bind_sets(layout, 1, &legal[..1]);
            scene.binds();
            scene.bind_sets(layout, images as u32, &[conflicts]);
            assert_eq!(scene.own(), [false, false]);
            scene.bind_sets(layout, 0, &legal[..2]);
            assert_eq!(scene.own(), [true, true]);
        }
    }
}
