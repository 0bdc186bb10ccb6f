//! Which pipelines and which words go down for GL_CLAMP, where the shader saturates coordinates.

use std::ffi::CStr;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use crate::driver::{Args, Kind, lock};
use crate::loader::{Device, InstanceBuilder, allocator, binding, call, linear_info, pair};
use crate::separate::{Operand, shader};

const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);
const GL_ADDRESS_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";
const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// A device, with the extension or without it.
fn device(settings: &[(&str, &str)], extended: bool) -> Device {
    let mut builder = InstanceBuilder::new().driver(|config| config.follows = true);
    for (key, value) in settings {
        builder = builder.set(key, value);
    }
    let builder = builder.traced("decisions");
    let mut info = builder.device_info();
    if extended {
        info.extensions.push(GL_ADDRESS_MODES);
    }
    std::sync::Arc::new(builder.create().expect("an instance")).device(&info)
}

/// A set with an image and a sampler that a pipeline joins.
struct Scene {
    set: vk::DescriptorSet,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    commands: vk::CommandBuffer,
}

impl Scene {
    fn new(device: &Device, sampler: vk::Sampler) -> Self {
        let types = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER];
        let bindings = [0, 1].map(|at| binding(at, types[at as usize], 1).stage_flags(vk::ShaderStageFlags::COMPUTE));
        let of_set = device.layout(&bindings);
        let layout = device.pipeline_layout(&[of_set]);
        let set = device.sets(device.pool(), &[of_set])[0];
        let view = device.view(vk::Format::R8G8B8A8_UNORM);
        let infos = [pair(vk::Sampler::null(), view), pair(sampler, vk::ImageView::null())];
        for ((at, ty), info) in (0..).zip(types).zip(&infos) {
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(at).descriptor_type(ty);
            device.update(&[write.image_info(std::slice::from_ref(info))], &[]);
        }
        let at = |binding| Operand { set: 0, binding, count: 1, element: Some(0) };
        let words = shader(5, &[(at(0), at(1))]);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let mut module = vk::ShaderModule::null();
        assert_eq!(call!(device.create_module(device.raw, &info, allocator(), &mut module)), vk::Result::SUCCESS);
        let stage = vk::PipelineShaderStageCreateInfo::default().name(c"main").module(module);
        let info =
            vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage.stage(vk::ShaderStageFlags::COMPUTE));
        let (none, mut pipeline) = (vk::PipelineCache::null(), vk::Pipeline::null());
        let result = call!(device.create_compute_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline));
        assert_eq!(result, vk::Result::SUCCESS);
        call!(device.destroy_module(device.raw, module, allocator()));
        let info = vk::CommandPoolCreateInfo::default();
        let mut pool = vk::CommandPool::null();
        assert_eq!(call!(device.create_command_pool(device.raw, &info, allocator(), &mut pool)), vk::Result::SUCCESS);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let mut commands = vk::CommandBuffer::null();
        assert_eq!(call!(device.allocate_command_buffers(device.raw, &info, &mut commands)), vk::Result::SUCCESS);
        Self { set, layout, pipeline, commands }
    }

    /// Binds the pipeline and the set; the pipelines that arrive in the driver.
    fn bind(&self, device: &Device) -> Vec<u64> {
        device.driver.calls();
        let info = vk::CommandBufferBeginInfo::default();
        assert_eq!(call!(device.begin_command_buffer(self.commands, &info)), vk::Result::SUCCESS);
        call!(device.bind_pipeline(self.commands, POINT, self.pipeline));
        call!(device.bind_sets(self.commands, POINT, self.layout, 0, 1, &self.set, 0, std::ptr::null()));
        let bound = |args: Args| if let Args::Other(words) = args { words[1] } else { panic!("{args:?}") };
        device.driver.calls_of(c"vkCmdBindPipeline").into_iter().map(bound).collect()
    }
}

fn clamp(device: &Device) -> vk::Sampler {
    let mode = GL_CLAMP;
    let info = linear_info().address_mode_u(mode).address_mode_v(mode).address_mode_w(mode);
    device.sampler(&info.border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE))
}

fn edge(device: &Device) -> vk::Sampler {
    let mode = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    device.sampler(&linear_info().address_mode_u(mode).address_mode_v(mode).address_mode_w(mode))
}

/// The words at the start of the only mapped memory.
fn words(device: &Device) -> Vec<u32> {
    let mapped = lock(&device.driver.mapped);
    let mut all = mapped.values();
    let (words, None) = (all.next().expect("memory"), all.next()) else { panic!("one memory does for all") };
    words[..4].iter().map(|word| word.load(Ordering::Relaxed)).collect()
}

#[test]
fn a_clamped_coordinate_takes_a_pipeline_of_the_layers_own() {
    let device = device(&[], true);
    let scene = Scene::new(&device, clamp(&device));
    assert_eq!(device.driver.live(Kind::Pipeline).len(), 2, "made with the application's");
    for turn in 0..2 {
        let bound = scene.bind(&device);
        assert_eq!(bound.len(), 2, "{bound:x?}");
        assert_eq!(bound[0], scene.pipeline.as_raw());
        assert!(bound[1] != bound[0] && device.driver.is_layers(Kind::Pipeline, bound[1]), "turn {turn}");
    }
    assert_eq!(device.driver.live(Kind::Pipeline).len(), 2, "nothing is made in a bind");
    // Both axes of a 2D image, and the level range of the sampler.
    assert_eq!(words(&device), [3, 0, 0, linear_info().max_lod.to_bits()]);
    assert_eq!(device.driver.live(Kind::Buffer).len(), 1);
    let own =
        |kind| device.driver.live(kind).into_iter().filter(|handle| device.driver.is_layers(kind, *handle)).count();
    assert_eq!(own(Kind::Pool), 2, "the hidden set, and the copy with the sampler that has a border");
    call!(device.destroy_pipeline(device.raw, scene.pipeline, allocator()));
    assert_eq!((own(Kind::Pipeline), own(Kind::Pool)), (0, 1), "they go with the application's");
    device.finish();
}

#[test]
fn what_is_not_clamped_is_bound_as_it_came() {
    let device = device(&[], true);
    let scene = Scene::new(&device, edge(&device));
    // One that is clamped lives, so that binds are looked at.
    let other = Scene::new(&device, clamp(&device));
    assert_eq!(scene.bind(&device), [scene.pipeline.as_raw()]);
    assert_eq!(other.bind(&device).len(), 2);
    assert_eq!(scene.bind(&device), [scene.pipeline.as_raw()]);
    device.finish();
}

#[test]
fn without_the_extension_nothing_is_made() {
    for (settings, extended) in
        [(&[][..], false), (&[("separate", "base")][..], true), (&[("mode", "audit")][..], true)]
    {
        let device = device(settings, extended);
        let scene = Scene::new(&device, edge(&device));
        assert_eq!(device.driver.live(Kind::Pipeline).len(), 1, "{settings:?}");
        assert_eq!(scene.bind(&device), [scene.pipeline.as_raw()], "{settings:?}");
        assert!(device.driver.live(Kind::Buffer).is_empty() && device.instance.records("shader").is_empty());
        device.finish();
    }
}

#[test]
fn with_keys_in_the_code_a_bind_makes_the_pipeline() {
    let device = device(&[("shader_keys", "pipeline")], true);
    let scene = Scene::new(&device, clamp(&device));
    assert_eq!(device.driver.live(Kind::Pipeline).len(), 1);
    for _ in 0..2 {
        assert_eq!(scene.bind(&device).len(), 2);
        assert_eq!(device.driver.live(Kind::Pipeline).len(), 2);
    }
    assert!(device.driver.live(Kind::Buffer).is_empty(), "nothing has to be written");
    device.finish();
}

/// Calls of the layer's own that fail leave the address mode, which is told, and nothing else behind.
#[test]
#[cfg_attr(miri, ignore = "reads a trace")]
fn without_memory_the_address_mode_is_left() {
    for command in [c"vkCreateBuffer", c"vkAllocateMemory", c"vkBindBufferMemory", c"vkMapMemory"] {
        let device = device(&[], true);
        let scene = Scene::new(&device, clamp(&device));
        device.driver.fail(command, [vk::Result::ERROR_OUT_OF_HOST_MEMORY]);
        assert_eq!(scene.bind(&device), [scene.pipeline.as_raw()], "{command:?}");
        let left: Vec<_> =
            device.instance.records("unresolved").iter().map(|record| record["what"].to_string()).collect();
        assert_eq!(left, ["\"memory\""], "{command:?}");
        assert!(device.driver.live(Kind::Buffer).is_empty() && device.driver.live(Kind::Memory).is_empty());
        // There is memory again.
        assert_eq!(scene.bind(&device).len(), 2, "{command:?}");
        device.finish();
    }
}
