//! Which pipelines and which words go down for GL_CLAMP, where the shader saturates coordinates.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_spirv::sampling::flags;

use crate::driver::{Args, Kind, lock};
use crate::loader::*;
use crate::separate::joins;

/// A device, with the extension or without it.
fn device(settings: &[(&str, &str)], extended: bool) -> Device {
    let builder = InstanceBuilder::new().driver(|config| config.follows = true).settings(settings);
    builder.traced("decisions").device_with(|info| info.extensions.extend(extended.then_some(GL_ADDRESS_MODES)))
}

/// A set with an image and a sampler that a pipeline joins.
#[derive(Clone, Copy)]
struct Scene {
    of_set: vk::DescriptorSetLayout,
    set: vk::DescriptorSet,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    commands: vk::CommandBuffer,
}

impl Scene {
    fn new(device: &Device, sampler: vk::Sampler) -> Self {
        Self::of(device, sampler, 1)
    }

    /// With an image of so many levels.
    fn of(device: &Device, sampler: vk::Sampler, levels: u32) -> Self {
        let of_set = device.layout(&of_compute([IMAGE, SAMPLER]));
        let layout = device.pipeline_layout(&[of_set]);
        let set = set_of(device, of_set, (sampler, levels));
        let pipeline = device.compute(layout, &joins(5, &[[(0, 0), (0, 1)]]));
        let commands = device.command_buffer();
        Self { of_set, set, layout, pipeline, commands }
    }

    /// Binds the pipeline and the set; the pipelines that arrive in the driver.
    fn bind(&self, device: &Device) -> Vec<u64> {
        device.driver.calls();
        device.record(self.commands, (COMPUTE, self.pipeline), self.layout, &[self.set]);
        let bound = |args: Args| if let Args::Other(words) = args { words[1] } else { panic!("{args:?}") };
        device.driver.calls_of(c"vkCmdBindPipeline").into_iter().map(bound).collect()
    }
}

fn clamp_info() -> vk::SamplerCreateInfo<'static> {
    addressed(GL_CLAMP).border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
}

fn clamp(device: &Device) -> vk::Sampler {
    device.sampler(&clamp_info())
}

fn edge(device: &Device) -> vk::Sampler {
    device.sampler(&addressed(vk::SamplerAddressMode::CLAMP_TO_EDGE))
}

/// A set with an image that filters and this sampler.
fn set_of(
    device: &Device,
    of_set: vk::DescriptorSetLayout,
    (sampler, levels): (vk::Sampler, u32),
) -> vk::DescriptorSet {
    let set = device.sets(device.pool(), &[of_set])[0];
    let format = FILTERED;
    let mut view = view_info(device.image_with(&image_info(format).mip_levels(levels)), format);
    view.subresource_range.level_count = levels;
    let view = device.view_with(&view);
    device.write_image(set, 0, view);
    device.write_sampler(set, 1, sampler);
    set
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
    for turn in 0..4 {
        let bound = scene.bind(&device);
        // What the sets need is bound for the draw.
        let (last, before) = bound.split_last().expect("a pipeline is bound");
        assert_eq!(before, [scene.pipeline.as_raw()], "turn {turn}");
        assert!(device.driver.is_layers(Kind::Pipeline, *last), "turn {turn}");
    }
    assert_eq!(device.driver.live(Kind::Pipeline).len(), 2, "nothing is made in a bind");
    // Both axes of a 2D image of one level, and the level range of the sampler.
    assert_eq!(words(&device), [3 | flags::BASE_LEVEL, 0, 0, linear_info().max_lod.to_bits()]);
    assert_eq!(device.driver.live(Kind::Buffer).len(), 1);
    let own = |kind| device.own(kind);
    assert_eq!(own(Kind::Pool), 2, "the hidden set, and the copy with the sampler that has a border");
    device.destroy_pipeline(scene.pipeline);
    assert_eq!((own(Kind::Pipeline), own(Kind::Pool)), (0, 1), "they go with the application's");
}

/// Levels of detail need not be computed where the base level is read by one filter, and anisotropy does not count either.
#[test]
fn shaders_are_told_where_levels_of_detail_do_not_matter() {
    use vk::SamplerMipmapMode as Mip;
    let whole = |most| clamp_info().mipmap_mode(Mip::NEAREST).max_lod(most);
    let smooth = clamp_info().mipmap_mode(Mip::LINEAR);
    for (info, levels, is_told) in [
        (smooth, 1, true),
        (whole(0.25), 3, true),
        (smooth, 3, false),
        (smooth.max_lod(0.25), 3, false),
        (whole(0.5), 3, false),
        (whole(vk::LOD_CLAMP_NONE), 3, false),
        (smooth.mag_filter(Filter::NEAREST), 1, false),
        (smooth.anisotropy_enable(true).max_anisotropy(4.0), 1, false),
    ] {
        let device = device(&[("gl_clamp_rule", "min")], true);
        let scene = Scene::of(&device, device.sampler(&info), levels);
        scene.bind(&device);
        let told = words(&device)[0];
        assert_eq!((told & 3, told & flags::BASE_LEVEL != 0), (3, is_told), "{info:?}, {levels} levels");
    }
}

/// What selects a filter, and how far levels of detail are lowered.
#[test]
fn shaders_are_told_of_filters_and_of_anisotropy() {
    let whole = clamp_info().mipmap_mode(vk::SamplerMipmapMode::NEAREST);
    for (info, told) in [
        (whole, 0),
        (whole.mag_filter(Filter::NEAREST), flags::MAG_NEAREST),
        (whole.min_filter(Filter::NEAREST), flags::MIN_NEAREST),
        (whole.anisotropy_enable(true).max_anisotropy(1.0), 0),
        (whole.anisotropy_enable(true).max_anisotropy(2.0), flags::ANISOTROPY),
        (whole.anisotropy_enable(true).max_anisotropy(6.0), 3 * flags::ANISOTROPY),
        (whole.anisotropy_enable(true).max_anisotropy(16.0), 4 * flags::ANISOTROPY),
        (whole.max_anisotropy(16.0), 0),
    ] {
        let device = device(&[], true);
        let scene = Scene::of(&device, device.sampler(&info), 3);
        scene.bind(&device);
        assert_eq!(words(&device)[0], 3 | told, "{info:?}");
    }
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
}

/// A pipeline that was bound for sets which are not bound yet is bound again once they turn out to be others.
#[test]
fn sets_say_which_pipeline_a_draw_has() {
    let first = device(&[], true);
    sets_choose(&first);
    // The short way belongs to the first device of a process.
    let second = device(&[], true);
    sets_choose(&second);
    first.finish();
    second.finish();
}

fn sets_choose(device: &Device) {
    let clamped = Scene::new(device, clamp(device));
    let legal = Scene { set: set_of(device, clamped.of_set, (edge(device), 1)), ..clamped };
    let own = clamped.pipeline.as_raw();
    let [.., other] = clamped.bind(device)[..] else { panic!("a pipeline is bound") };
    assert_ne!(other, own);
    // Each set in its turn, and what goes down for it.
    let turns: [(&Scene, &[u64]); 5] = [
        (&clamped, &[own, other]),
        (&clamped, &[own, other]),
        (&legal, &[own]),
        (&legal, &[own]),
        (&clamped, &[own, other]),
    ];
    for (turn, (scene, bound)) in turns.into_iter().enumerate() {
        assert_eq!(scene.bind(device), bound, "turn {turn}");
        device.driver.check();
    }
    // The set of before is still bound for a pipeline that comes after it.
    legal.bind(device);
    device.bind_pipeline(legal.commands, COMPUTE, legal.pipeline);
    device.act(legal.commands, COMPUTE);
    let bound = device.bound_pipeline(legal.commands, COMPUTE);
    assert_eq!(bound, own);
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
        assert!(device.driver.live(Kind::Buffer).is_empty() && device.records("shader").is_empty());
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
}

/// Calls of the layer's own that fail leave the address mode, which is told, and nothing else behind.
#[test]
fn without_memory_the_address_mode_is_left() {
    // What each command may return, and what none does.
    let memory = [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY];
    let and =
        |more: &[vk::Result]| [&memory[..], &[vk::Result::ERROR_UNKNOWN, vk::Result::ERROR_DEVICE_LOST], more].concat();
    let address = vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
    let all = [
        (c"vkCreateBuffer", and(&[address])),
        (
            c"vkAllocateMemory",
            and(&[vk::Result::ERROR_TOO_MANY_OBJECTS, vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, address]),
        ),
        (c"vkBindBufferMemory", and(&[address])),
        (c"vkMapMemory", and(&[vk::Result::ERROR_MEMORY_MAP_FAILED])),
    ];
    for (command, result) in all.iter().flat_map(|(command, all)| all.iter().map(|result| (*command, *result))) {
        let device = device(&[], true);
        let scene = Scene::new(&device, clamp(&device));
        device.driver.fail(command, [result]);
        assert_eq!(scene.bind(&device), [scene.pipeline.as_raw()], "{command:?}: {result:?}");
        let left: Vec<_> = device.records("unresolved").iter().map(|record| record["what"].to_string()).collect();
        assert_eq!(left, ["\"memory\""], "{command:?}: {result:?}");
        assert!(device.driver.live(Kind::Buffer).is_empty() && device.driver.live(Kind::Memory).is_empty());
        // There is memory again.
        assert_eq!(scene.bind(&device).len(), 2, "{command:?}: {result:?}");
    }
}
