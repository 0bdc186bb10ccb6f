//! What runs in situations of its own, with `separate=resolve`: shaders with two links to one sampler, of images that it suits or not.
//!
//! Where both images want the same, a copy of the set is bound; where only one wants another sampler, what runs is split.

use std::collections::HashSet;
use std::ptr;

use ash::vk::{self, Handle};

use crate::driver::{Kind, lock};
use crate::loader::*;
use crate::separate::{joins, joins_two, shader};

pub(crate) struct Stand {
    pub(crate) device: Device,
    linear: vk::Sampler,
    pub(crate) good: vk::ImageView,
    pub(crate) bad: vk::ImageView,
    set_layout: vk::DescriptorSetLayout,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) pool: vk::DescriptorPool,
    /// The fragment shader of graphics pipelines.
    fragment: Vec<u32>,
}

impl Stand {
    pub(crate) fn new() -> Self {
        Self::with(ptr::null())
    }

    /// On a device with this chain.
    fn with(chain: *const std::ffi::c_void) -> Self {
        let device = InstanceBuilder::new().followed().device_with(|info| info.chain = chain);
        let bindings = of_compute([IMAGE, IMAGE, SAMPLER]).map(|binding| binding.stage_flags(Stage::ALL));
        let set_layout = device.layout(&bindings);
        let layout = device.pipeline_layout(&[set_layout]);
        let (linear, pool) = (device.linear(), device.pool());
        let [good, bad] = [FILTERED, FLOATS].map(|format| device.view(format));
        Self { device, linear, good, bad, set_layout, layout, pool, fragment: joins_two(4) }
    }

    pub(crate) fn set(&self, views: [vk::ImageView; 2]) -> vk::DescriptorSet {
        let set = self.device.sets(self.pool, &[self.set_layout])[0];
        (0..).zip(views).for_each(|(number, view)| self.device.write_image(set, number, view));
        self.device.write_sampler(set, 2, self.linear);
        set
    }

    /// Sets of good images, of bad ones, and of a bad one before a good one.
    pub(crate) fn sets(&self) -> [vk::DescriptorSet; 3] {
        [[self.good; 2], [self.bad; 2], [self.bad, self.good]].map(|views| self.set(views))
    }

    fn compute(&self, flags: vk::PipelineCreateFlags) -> (vk::Result, vk::Pipeline) {
        let (device, mut pipeline) = (&self.device, vk::Pipeline::null());
        let stage = stage(Stage::COMPUTE, device.module(&joins_two(5)));
        let info = vk::ComputePipelineCreateInfo::default().layout(self.layout).stage(stage).flags(flags);
        let none = vk::PipelineCache::null();
        (call!(device.create_compute_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline)), pipeline)
    }

    /// A graphics pipeline with one colour attachment.
    pub(crate) fn usual(&self) -> vk::Pipeline {
        self.graphics(&[], vk::PipelineCreateFlags::empty(), ptr::null())
    }

    /// A graphics pipeline with one colour attachment, these states dynamic, these flags and this chain.
    pub(crate) fn graphics(
        &self,
        states: &[vk::DynamicState],
        flags: vk::PipelineCreateFlags,
        chain: *const std::ffi::c_void,
    ) -> vk::Pipeline {
        self.graphics_in(self.pass(allocator()), states, flags, chain)
    }

    /// A render pass with one colour attachment.
    pub(crate) fn pass(&self, own: *const vk::AllocationCallbacks<'static>) -> vk::RenderPass {
        let (device, mut pass) = (&self.device, vk::RenderPass::null());
        let colour = [vk::AttachmentReference::default()];
        let subpass = [vk::SubpassDescription::default().color_attachments(&colour)];
        let info = vk::RenderPassCreateInfo::default().subpasses(&subpass);
        assert_eq!(call!(device.create_render_pass(device.raw, &info, own, &mut pass)), SUCCESS);
        pass
    }

    /// [`Stand::graphics`] in a render pass, or none.
    pub(crate) fn graphics_in(
        &self,
        pass: vk::RenderPass,
        states: &[vk::DynamicState],
        flags: vk::PipelineCreateFlags,
        chain: *const std::ffi::c_void,
    ) -> vk::Pipeline {
        let stages = [
            stage(Stage::VERTEX, self.device.module(&shader(0, &[]))),
            stage(Stage::FRAGMENT, self.device.module(&self.fragment)),
        ];
        let attachments = [vk::PipelineColorBlendAttachmentState::default()];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
        // Pipelines of libraries have their shaders there.
        let own = if flags.is_empty() && !chain.is_null() { &[] } else { &stages[..] };
        let states = States::new(states);
        let mut info = states.info(own).color_blend_state(&blend).layout(self.layout).render_pass(pass).flags(flags);
        info.p_next = chain;
        self.device.graphics_with(&info)
    }

    pub(crate) fn begin(&self) {
        self.device.begin(self.device.commands);
    }

    pub(crate) fn bind(&self, point: Point, pipeline: vk::Pipeline) {
        self.device.bind_pipeline(self.device.commands, point, pipeline);
    }

    /// Begins anew, and draws with a pipeline and a set.
    pub(crate) fn run(&self, point: Point, pipeline: vk::Pipeline, set: vk::DescriptorSet) {
        self.device.record(self.device.commands, (point, pipeline), self.layout, &[set]);
    }

    /// Binds a set and draws with it.
    pub(crate) fn bind_set(&self, point: Point, set: vk::DescriptorSet) {
        self.device.bind_sets(self.device.commands, point, self.layout, &[set]);
        self.device.act(self.device.commands, point);
    }

    /// Whether the first and the second link read the application's own sampler.
    #[track_caller]
    pub(crate) fn own(&self, point: Point) -> [bool; 2] {
        self.device.act(self.device.commands, point);
        let reads = self.device.reads(self.device.commands, point);
        [0, 1].map(|binding| {
            let read = reads.iter().find(|read| read.image.1 == binding).expect("both images are read");
            read.handle == self.linear.as_raw()
        })
    }

    pub(crate) fn bound(&self, point: Point) -> u64 {
        self.device.bound_pipeline(self.device.commands, point)
    }

    pub(crate) fn left(&self) -> Vec<String> {
        self.device.left()
    }
}

/// While the pipeline has to stay the application's sets do too, and each link that would have been repaired by either is named; with no
/// feedback each is repaired.
#[test]
fn active_transform_feedback_names_what_copies_of_sets_would_repair() {
    for feeds_back in [true, false] {
        let mut stand = Stand::new();
        // Two images that do not agree, which are split, and one alone, whose set is copied.
        stand.fragment = joins(4, &[[(0, 0), (0, 2)], [(0, 1), (0, 2)], [(1, 0), (1, 2)]]);
        stand.layout = stand.device.pipeline_layout(&[stand.set_layout; 2]);
        let (device, point) = (&stand.device, GRAPHICS);
        let pipeline = stand.usual();
        let [goods, bads, mixed] = stand.sets();
        let bind = |sets: [vk::DescriptorSet; 2]| {
            device.bind_sets(device.commands, point, stand.layout, &sets);
        };
        stand.begin();
        stand.bind(point, pipeline);
        bind([goods, goods]);
        if feeds_back {
            device.feed_back(device.commands, true);
        }
        bind([mixed, bads]);
        device.act(device.commands, point);
        let reads = device.reads(device.commands, point);
        let own = |image| {
            reads.iter().any(|read| (read.image.0, read.image.1) == image && read.handle == stand.linear.as_raw())
        };
        assert_eq!([(0, 0), (0, 1), (1, 0)].map(own), [feeds_back, true, feeds_back]);
        let told = device.records("unresolved");
        let named: Vec<_> = told.iter().map(|record| (&record["what"], &record["link"]["image"]["set"])).collect();
        let expected =
            [("transform-feedback", 0), ("transform-feedback", 1)].map(|(what, set)| (what.into(), set.into()));
        let expected: Vec<_> = expected.iter().map(|(what, set)| (what, set)).filter(|_| feeds_back).collect();
        assert_eq!(named, expected);
    }
}

#[test]
fn active_transform_feedback_keeps_its_pipeline() {
    let stand = Stand::new();
    let (device, point) = (&stand.device, GRAPHICS);
    let pipeline = stand.usual();
    let [goods, bads, mixed] = stand.sets();
    let begin = || device.feed_back(device.commands, true);
    let end = || device.feed_back(device.commands, false);
    stand.run(point, pipeline, goods);
    begin();
    // A copy of a set can be bound at any time.
    stand.bind_set(point, bads);
    assert_eq!((stand.own(point), stand.left().len()), ([false, false], 0));
    // Another pipeline cannot.
    stand.bind_set(point, mixed);
    assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
    assert_eq!(stand.left(), ["transform-feedback"]);
    stand.bind_set(point, goods);
    stand.bind_set(point, mixed);
    end();
    assert_eq!(stand.own(point), [false, true]);
    assert_ne!(stand.bound(point), pipeline.as_raw());
    // The pipeline that is split is bound now, and stays.
    begin();
    stand.bind_set(point, goods);
    assert_eq!(stand.own(point), [true, true]);
    stand.bind_set(point, mixed);
    assert_eq!(stand.own(point), [false, true]);
    end();
    assert_eq!(stand.left(), ["transform-feedback"]);
    // A command buffer that is begun again has none active.
    begin();
    stand.run(point, pipeline, mixed);
    assert_eq!(stand.own(point), [false, true]);
}

#[test]
fn nothing_is_lost_of_a_command_buffer_that_was_begun_before() {
    for bound_before in [false, true] {
        let stand = Stand::new();
        let (_, pipeline) = stand.compute(vk::PipelineCreateFlags::empty());
        let goods = stand.set([stand.good; 2]);
        stand.begin();
        if bound_before {
            stand.bind(COMPUTE, pipeline);
            stand.bind_set(COMPUTE, goods);
        }
        // The first view that conflicts with anything.
        let bad = stand.device.view(FLOATS);
        let mixed = stand.set([bad, stand.good]);
        if !bound_before {
            stand.bind(COMPUTE, pipeline);
        }
        stand.bind_set(COMPUTE, mixed);
        assert_eq!((stand.own(COMPUTE), stand.left().len()), ([false, true], 0));
        stand.bind_set(COMPUTE, goods);
        assert_eq!(stand.own(COMPUTE), [true, true]);
    }
}

#[test]
fn pipelines_that_would_have_to_be_compiled_are_made_later() {
    const ONLY_CACHED: vk::PipelineCreateFlags = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    const REQUIRED: vk::Result = vk::Result::PIPELINE_COMPILE_REQUIRED;
    let command = c"vkCreateComputePipelines";
    for fails in [false, true] {
        let stand = Stand::new();
        let driver = &stand.device.driver;
        driver.fail(command, [REQUIRED]);
        assert_eq!(stand.compute(ONLY_CACHED), (REQUIRED, vk::Pipeline::null()));
        let (result, pipeline) = stand.compute(ONLY_CACHED);
        assert_eq!(result, SUCCESS);
        let flags = stand.device.sees_created(command, |info: &vk::ComputePipelineCreateInfo<'static>| info.flags);
        if fails {
            driver.fail(command, [REQUIRED]);
        }
        stand.run(COMPUTE, pipeline, stand.set([stand.bad, stand.good]));
        let last = lock(&flags).last().copied();
        assert_eq!(last, Some(vk::PipelineCreateFlags::empty()), "the second pipeline may be compiled");
        if fails {
            assert_eq!((stand.own(COMPUTE), stand.left()), ([true, true], vec!["memory".to_owned()]));
        } else {
            assert_eq!((stand.own(COMPUTE), stand.left().len()), ([false, true], 0));
        }
    }
}

#[test]
fn attachments_of_advanced_blending_are_made_again() {
    use vk::DynamicState as D;
    let states = [D::COLOR_BLEND_ENABLE_EXT, D::COLOR_BLEND_EQUATION_EXT, D::COLOR_WRITE_MASK_EXT];
    for advanced in [false, true] {
        let feature =
            vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT::default().advanced_blend_coherent_operations(advanced);
        let stand = Stand::with((&raw const feature).cast());
        let pipeline = stand.graphics(&states, vk::PipelineCreateFlags::empty(), ptr::null());
        let has_attachments = |info: &vk::GraphicsPipelineCreateInfo<'static>| {
            // SAFETY: the state of a create info that has one.
            unsafe { !(*info.p_color_blend_state).p_attachments.is_null() }
        };
        let made = stand.device.sees_created(c"vkCreateGraphicsPipelines", has_attachments);
        stand.run(GRAPHICS, pipeline, stand.set([stand.bad, stand.good]));
        assert_eq!(stand.own(GRAPHICS), [false, true]);
        // VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353: without the feature nobody reads them.
        assert_eq!(lock(&made).last(), Some(&advanced));
    }
}

#[test]
fn what_the_device_chooses_is_named_and_gets_what_the_application_bound() {
    let (stand, point) = (Stand::new(), GRAPHICS);
    let device = &stand.device;
    let pipeline = stand.usual();
    let [goods, bads, mixed] = stand.sets();
    stand.run(point, pipeline, mixed);
    assert_eq!(stand.left(), [""; 0], "nothing was chosen by the device");
    for (set, own) in [(mixed, [false, true]), (bads, [false, false])] {
        stand.run(point, pipeline, set);
        assert_eq!(stand.own(point), own);
        // Nothing that the layer has exchanged is left for a group of which it knows nothing.
        device.driver.calls();
        call!(device.bind_pipeline_shader_group(device.commands, point, pipeline, 1));
        let arrived = device.driver.calls_of(c"vkCmdBindPipelineShaderGroupNV");
        assert_eq!(arrived.len(), 1, "{arrived:?}");
        assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
        assert_eq!(stand.left(), ["generated-commands"]);
        // Another set exchanges no pipeline under it.
        stand.bind_set(point, goods);
        stand.bind_set(point, set);
        assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
        // The next bind is followed again.
        stand.bind(point, pipeline);
        assert_eq!(stand.own(point), own);
        call!(device.execute_generated_commands(device.commands, vk::FALSE, ptr::dangling()));
        assert_eq!(device.driver.calls_of(c"vkCmdExecuteGeneratedCommandsEXT").len(), 1);
        device.driver.check();
    }
    assert_eq!(stand.left(), ["generated-commands"]);
}

#[test]
fn descriptor_buffers_are_named_where_a_shader_joins() {
    let (stand, point) = (Stand::new(), COMPUTE);
    let device = &stand.device;
    let with = |words: &[u32], flags: u64, wide: bool| {
        let chained =
            vk::PipelineCreateFlags2CreateInfoKHR::default().flags(vk::PipelineCreateFlags2KHR::from_raw(flags));
        let mut info = vk::ComputePipelineCreateInfo::default().layout(stand.layout);
        info = info.stage(stage(Stage::COMPUTE, stand.device.module(words)));
        if wide {
            info.p_next = (&raw const chained).cast();
        } else {
            info.flags = vk::PipelineCreateFlags::from_raw(flags as u32);
        }
        device.compute_with(&info)
    };
    let flag = u64::from(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT.as_raw());
    with(&joins_two(5), 0, false);
    with(&shader(5, &[]), flag, false);
    assert_eq!(stand.left(), [""; 0], "one joins nothing, the other is followed");
    let pipeline = with(&joins_two(5), flag, true);
    assert_eq!(stand.left(), ["descriptor-buffer"]);
    with(&joins_two(5), flag, false);
    stand.run(point, pipeline, stand.set([stand.bad, stand.good]));
    assert_eq!((stand.bound(point), stand.left()), (pipeline.as_raw(), vec!["descriptor-buffer".to_owned()]));
}

/// An embedded sampler and an image that may be what a shader finds in a descriptor buffer, whichever of the two comes first.
#[test]
fn embedded_samplers_are_named_with_the_images_that_they_may_meet() {
    use vk::DescriptorSetLayoutCreateFlags as Flags;
    let linear = linear_info();
    let nearest = vk::SamplerCreateInfo::default();
    // The sampler, the format of the image, whether its descriptor is asked for before the pipeline is made, or none is; formats that are
    // named, none for a sampler alone.
    for (sampler, format, first, named) in [
        (linear, DEPTH, Some(true), vec![Some("VK_FORMAT_D32_SFLOAT")]),
        (linear, DEPTH, Some(false), vec![None, Some("VK_FORMAT_D32_SFLOAT")]),
        (linear, DEPTH, None, vec![None]),
        // The shader declares floats.
        (linear, INTEGERS, Some(true), vec![None]),
        (linear, FILTERED, Some(true), vec![]),
        (nearest, DEPTH, Some(true), vec![]),
    ] {
        let builder = InstanceBuilder::new().traced("decisions").set("separate", "resolve");
        let device = builder.bare(&[ash::ext::descriptor_buffer::NAME]);
        // A sampler that nobody embeds, so that something may conflict.
        device.linear();
        let samplers = [device.sampler(&sampler)];
        let of_images = [binding(0, IMAGE, 1).stage_flags(Stage::COMPUTE)];
        let of_sampler = [binding(0, SAMPLER, 1).stage_flags(Stage::COMPUTE).immutable_samplers(&samplers)];
        let layouts = [(&of_images, Flags::empty()), (&of_sampler, Flags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT)];
        let layouts = layouts.map(|(own, flags)| device.layout_flagged(flags | Flags::DESCRIPTOR_BUFFER_EXT, own));
        let view = device.view(format);
        let get = || {
            let image = image_alone(view);
            let data = vk::DescriptorDataEXT { p_sampled_image: &image };
            assert!(device.described(IMAGE, data).0, "it goes down as it came");
        };
        if first == Some(true) {
            get();
        }
        let module = device.module(&joins(5, &[[(0, 0), (1, 0)]]));
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .layout(device.pipeline_layout(&layouts))
            .stage(stage(Stage::COMPUTE, module));
        device.compute_with(&info);
        if first.is_some() {
            // Again, of which nothing is said.
            get();
            get();
        }
        let told = device.left_as("embedded-sampler");
        let formats: Vec<_> = told.iter().map(|record| record["format"].as_str()).collect();
        assert_eq!(formats, named, "{format:?}, asked for before: {first:?}: {told:#?}");
        for record in told {
            assert_eq!(record["link"]["sampler"], serde_json::json!({ "set": 1, "binding": 0 }));
            assert!(record["pipeline"].is_string() && record["fingerprint"].is_string());
            assert_eq!(record["rule"].as_str(), record["format"].as_str().map(|_| "linear-filter"));
        }
    }
}

#[test]
fn the_first_sixty_four_links_can_be_split() {
    let (stand, point) = (Stand::new(), COMPUTE);
    let device = &stand.device;
    let layouts = [(IMAGE, 66), (SAMPLER, 8)].map(|(ty, count)| {
        device.layout(&(0..count).map(|number| binding(number, ty, 1).stage_flags(Stage::ALL)).collect::<Vec<_>>())
    });
    let layout = device.pipeline_layout(&layouts);
    let sets = layouts.map(|of_set| device.sets(stand.pool, &[of_set])[0]);
    // Each sampler is for some of the images, of which the last alone needs another one.
    for number in 0..66 {
        device.write_image(sets[0], number, if number == 65 { stand.bad } else { stand.good });
    }
    (0..8).for_each(|number| device.write_sampler(sets[1], number, stand.linear));
    let links: Vec<_> = (0..66).map(|link| [(0, link), (1, link / 9)]).collect();
    let pipeline = |links: &[_]| device.compute(layout, &joins(5, links));
    let last_first: Vec<_> = links.iter().rev().copied().collect();
    for (links, left) in [(&last_first, vec![]), (&links, vec!["too-many-links".to_owned()])] {
        let made = pipeline(links);
        device.record(device.commands, (point, made), layout, &sets);
        assert_eq!(stand.left(), left);
        let reads = device.reads(device.commands, point);
        let others: HashSet<_> =
            reads.iter().filter(|read| read.handle != stand.linear.as_raw()).map(|read| read.image.1).collect();
        assert_eq!(others, left.is_empty().then_some(65).into_iter().collect(), "images that are read otherwise");
    }
}

#[test]
fn ray_tracing_pipelines_get_other_sets_but_stay() {
    let point = Point::RAY_TRACING_KHR;
    for deferred in [false, true] {
        let stand = Stand::new();
        let (device, mut pipeline) = (&stand.device, vk::Pipeline::null());
        let operation = vk::DeferredOperationKHR::from_raw(if deferred { 0x77 } else { 0 });
        {
            let stages = [stage(Stage::RAYGEN_KHR, stand.device.module(&joins_two(5313)))];
            let info = vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages).layout(stand.layout);
            let (none, out) = (vk::PipelineCache::null(), &raw mut pipeline);
            let create = device.fns.create_ray_tracing_pipelines.expect("it resolves");
            // SAFETY: a valid create info, and room for a handle until the operation is complete.
            let result = unsafe { create(device.raw, operation, none, 1, &info, allocator(), out) };
            assert_eq!(result, if deferred { vk::Result::OPERATION_DEFERRED_KHR } else { SUCCESS });
            if deferred {
                assert_eq!(call!(device.join(device.raw, operation)), SUCCESS);
                assert_eq!(call!(device.join(device.raw, operation)), vk::Result::THREAD_DONE_KHR);
            }
        }
        assert_ne!(pipeline, vk::Pipeline::null());
        let [goods, bads, mixed] = stand.sets();
        stand.run(point, pipeline, goods);
        assert_eq!(stand.own(point), [true, true]);
        stand.bind_set(point, bads);
        assert_eq!((stand.own(point), stand.left().len()), ([false, false], 0));
        for _ in 0..2 {
            stand.bind_set(point, mixed);
            assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
        }
        assert_eq!(stand.left(), ["ray-tracing-handles"]);
    }
}

#[test]
fn pipelines_of_libraries_are_linked_again() {
    let (stand, point) = (Stand::new(), GRAPHICS);
    let parts = whole_library();
    let libraries = [stand.graphics(&[], vk::PipelineCreateFlags::LIBRARY_KHR, (&raw const parts).cast())];
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), (&raw const linked).cast());
    let [goods, bads, mixed] = stand.sets();
    stand.run(point, pipeline, goods);
    assert_eq!(stand.own(point), [true, true]);
    stand.bind_set(point, bads);
    assert_eq!((stand.own(point), stand.left().len()), ([false, false], 0));
    // What it is linked of again outlives the libraries.
    let device = &stand.device;
    device.destroy_pipeline(libraries[0]);
    let made = || device.driver.live(Kind::Pipeline).len();
    let before = made();
    for _ in 0..2 {
        stand.bind_set(point, mixed);
        assert_eq!(stand.own(point), [false, true]);
        assert_ne!(stand.bound(point), pipeline.as_raw());
        assert_eq!(made(), before + 2, "a pipeline and the library that it is linked of");
    }
    assert_eq!(stand.left(), [""; 0]);
    stand.begin();
    device.destroy_pipeline(pipeline);
    assert_eq!(made(), before - 1);
}

/// A library whose code is not to be seen keeps what is linked of it from being made again.
#[test]
fn libraries_without_words_are_named() {
    let (stand, point) = (Stand::new(), GRAPHICS);
    let unknown = vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0001), ..Default::default() };
    let mut parts = library_of(
        vk::GraphicsPipelineLibraryFlagsEXT::PRE_RASTERIZATION_SHADERS
            | vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_SHADER,
    );
    parts.p_next = (&raw const unknown).cast();
    let libraries = [stand.graphics(&[], vk::PipelineCreateFlags::LIBRARY_KHR, (&raw const parts).cast())];
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), (&raw const linked).cast());
    stand.run(point, pipeline, stand.set([stand.bad, stand.good]));
    assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
    assert_eq!(stand.left(), ["pipeline-chain"]);
}

#[test]
fn code_that_is_not_to_be_read_is_told_where_it_matters() {
    let (stand, point) = (Stand::new(), COMPUTE);
    let (device, sets) = (&stand.device, [stand.set_layout]);
    let info = vk::ShaderCreateInfoEXT::default()
        .stage(Stage::COMPUTE)
        .code_type(vk::ShaderCodeTypeEXT::BINARY)
        .code(&[0xff; 16])
        .name(c"main")
        .set_layouts(&sets);
    let shader = create!(device.create_shaders(1, &info));
    let [goods, _, mixed] = stand.sets();
    stand.begin();
    call!(device.bind_shaders(device.commands, 1, &Stage::COMPUTE, &shader));
    stand.bind_set(point, goods);
    assert_eq!(stand.left(), [""; 0]);
    stand.bind_set(point, mixed);
    stand.bind_set(point, goods);
    stand.bind_set(point, mixed);
    device.driver.check();
    assert_eq!(stand.left(), ["hidden-spirv"]);
    let arrived = device.driver.calls_of(c"vkCmdBindShadersEXT");
    assert_eq!(arrived.len(), 1, "nothing else was bound: {arrived:?}");
    device.destroy_shader(shader);
}

#[test]
fn shader_objects_come_and_go_with_those_they_stand_in_for() {
    // Nothing, or what the command may return, a success that is none (VK_INCOMPATIBLE_SHADER_BINARY_EXT) and what it may not among it.
    let results = [
        SUCCESS,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        vk::Result::ERROR_INITIALIZATION_FAILED,
        vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT,
        vk::Result::ERROR_DEVICE_LOST,
        vk::Result::ERROR_UNKNOWN,
    ];
    for (linked, failure) in [false, true].into_iter().flat_map(|linked| results.map(|result| (linked, result))) {
        let fails = failure != SUCCESS;
        let (stand, point) = (Stand::new(), GRAPHICS);
        let (device, sets) = (&stand.device, [stand.set_layout]);
        let (vertex, fragment) = (bytes_of(&shader(0, &[])), bytes_of(&joins_two(4)));
        let flags = if linked { vk::ShaderCreateFlagsEXT::LINK_STAGE } else { vk::ShaderCreateFlagsEXT::empty() };
        let info = vk::ShaderCreateInfoEXT::default()
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .name(c"main")
            .set_layouts(&sets)
            .flags(flags);
        let infos = [
            info.stage(Stage::VERTEX).next_stage(Stage::FRAGMENT).code(&vertex),
            info.stage(Stage::FRAGMENT).code(&fragment),
        ];
        let mut shaders = [vk::ShaderEXT::null(); 2];
        let out = shaders.as_mut_ptr();
        assert_eq!(call!(device.create_shaders(device.raw, 2, infos.as_ptr(), allocator(), out)), SUCCESS);
        device.name(shaders[1], c"lit");
        if fails {
            // The driver makes the first of several nevertheless.
            device.driver.fail(c"vkCreateShadersEXT", [failure]);
        }
        let mixed = stand.set([stand.bad, stand.good]);
        let stages = [Stage::VERTEX, Stage::FRAGMENT];
        stand.begin();
        stand.bind_set(point, mixed);
        call!(device.bind_shaders(device.commands, 2, stages.as_ptr(), shaders.as_ptr()));
        let live = || device.driver.live(Kind::Shader).len();
        if fails {
            assert_eq!((stand.own(point), stand.left()), ([true, true], vec!["memory".to_owned()]), "{failure:?}");
            assert_eq!(live(), 2, "what was made is destroyed again");
        } else {
            assert_eq!((stand.own(point), stand.left().len(), live()), ([false, true], 0, 4));
            // The vertex shader has no name that its own could be after.
            let named = std::mem::take(&mut *device.driver.names.lock().expect("no test panicked with it"));
            let named: Vec<_> = named.iter().map(|(ty, _, name)| (*ty, name.as_str())).collect();
            let ty = vk::ObjectType::SHADER_EXT;
            assert_eq!(named, [(ty, "lit"), (ty, "lit (samplin split)")]);
            // Bound again, it is what stands in at once.
            device.driver.calls();
            call!(device.bind_shaders(device.commands, 2, stages.as_ptr(), shaders.as_ptr()));
            assert_eq!(device.driver.calls_of(c"vkCmdBindShadersEXT").len(), 1);
            assert_eq!(stand.own(point), [false, true]);
        }
        device.destroy_shader(shaders[1]);
        assert_eq!(live(), 1, "only the other of the application's is there");
        device.destroy_shader(shaders[0]);
        device.driver.check();
    }
}
