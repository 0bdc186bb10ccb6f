//! What runs in situations of its own, with `separate=resolve`: shaders with two links to one sampler, of images that it suits or not.
//!
//! Where both images want the same, a copy of the set is bound; where only one wants another sampler, what runs is split.

use std::collections::HashSet;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk::{self, Handle};

use crate::args;
use crate::binds::FILTERED;
use crate::driver::machine::place;
use crate::driver::{Args, Kind, lock};
use crate::loader::*;
use crate::separate::{Operand, shader};

use vk::PipelineBindPoint as Point;
use vk::ShaderStageFlags as S;

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

/// A module in which the images 0 and 1 meet the sampler 2.
pub(crate) fn words(model: u32) -> Vec<u32> {
    let operand = |binding| Operand { set: 0, binding, count: 1, element: Some(0) };
    shader(model, &[(operand(0), operand(2)), (operand(1), operand(2))])
}

impl Stand {
    pub(crate) fn new() -> Self {
        Self::with(ptr::null())
    }

    /// On a device with this chain.
    fn with(chain: *const std::ffi::c_void) -> Self {
        let builder = InstanceBuilder::new().driver(|config| config.follows = true);
        let builder = builder.set("separate", "resolve").traced("decisions");
        let info = DeviceInfo { chain, ..builder.device_info() };
        let device = builder.instance().device(&info);
        let (image, sampler) = (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER);
        let bindings =
            [(0, image), (1, image), (2, sampler)].map(|(number, ty)| binding(number, ty, 1).stage_flags(S::ALL));
        let set_layout = device.layout(&bindings);
        let layout = device.pipeline_layout(&[set_layout]);
        let (linear, pool) = (device.linear(), device.pool());
        let [good, bad] = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_SFLOAT].map(|format| device.view(format));
        Self { device, linear, good, bad, set_layout, layout, pool, fragment: words(4) }
    }

    pub(crate) fn set(&self, views: [vk::ImageView; 2]) -> vk::DescriptorSet {
        let set = self.device.sets(self.pool, &[self.set_layout])[0];
        let images = views.map(|view| vk::DescriptorImageInfo { image_view: view, ..Default::default() });
        let sampler = [vk::DescriptorImageInfo { sampler: self.linear, ..Default::default() }];
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        self.device.update(
            &[
                write.descriptor_type(vk::DescriptorType::SAMPLED_IMAGE).image_info(&images[..1]),
                write.descriptor_type(vk::DescriptorType::SAMPLED_IMAGE).dst_binding(1).image_info(&images[1..]),
                write.descriptor_type(vk::DescriptorType::SAMPLER).dst_binding(2).image_info(&sampler),
            ],
            &[],
        );
        set
    }

    pub(crate) fn module(&self, words: &[u32]) -> vk::ShaderModule {
        let device = &self.device;
        device.module(words)
    }

    fn compute(&self, flags: vk::PipelineCreateFlags) -> (vk::Result, vk::Pipeline) {
        let (device, mut pipeline) = (&self.device, vk::Pipeline::null());
        let stage = stage(S::COMPUTE, self.module(&words(5)));
        let info = vk::ComputePipelineCreateInfo::default().layout(self.layout).stage(stage).flags(flags);
        let none = vk::PipelineCache::null();
        (call!(device.create_compute_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline)), pipeline)
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
        let (device, mut pipeline) = (&self.device, vk::Pipeline::null());
        let stages = [stage(S::VERTEX, self.module(&shader(0, &[]))), stage(S::FRAGMENT, self.module(&self.fragment))];
        let (viewports, scissors) = ([vk::Viewport::default()], [vk::Rect2D::default()]);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let (input, assembly) =
            <(vk::PipelineVertexInputStateCreateInfo<'_>, vk::PipelineInputAssemblyStateCreateInfo<'_>)>::default();
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let attachments = [vk::PipelineColorBlendAttachmentState::default()];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(states);
        // Pipelines of libraries have their shaders there.
        let own = if flags.is_empty() && !chain.is_null() { &[] } else { &stages[..] };
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(own)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .render_pass(pass)
            .flags(flags);
        info.p_next = chain;
        let none = vk::PipelineCache::null();
        assert_eq!(
            call!(device.create_graphics_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline)),
            SUCCESS
        );
        pipeline
    }

    pub(crate) fn begin(&self) {
        let (device, info) = (&self.device, vk::CommandBufferBeginInfo::default());
        assert_eq!(call!(device.begin_command_buffer(device.commands, &info)), SUCCESS);
    }

    pub(crate) fn bind(&self, point: Point, pipeline: vk::Pipeline) {
        let device = &self.device;
        call!(device.bind_pipeline(device.commands, point, pipeline));
    }

    /// Binds a set and draws with it.
    pub(crate) fn bind_set(&self, point: Point, set: vk::DescriptorSet) {
        let device = &self.device;
        call!(device.bind_sets(device.commands, point, self.layout, 0, 1, &set, 0, ptr::null()));
        device.act(device.commands, point);
    }

    /// Whether the first and the second link read the application's own sampler.
    #[track_caller]
    pub(crate) fn own(&self, point: Point) -> [bool; 2] {
        self.device.act(self.device.commands, point);
        self.device.driver.check();
        let reads = lock(&self.device.driver.machine).draw(self.device.commands.as_raw(), place(point));
        let reads = reads.expect("what is bound can be drawn with");
        [0, 1].map(|binding| {
            let read = reads.iter().find(|read| read.image.1 == binding).expect("both images are read");
            read.handle == self.linear.as_raw()
        })
    }

    pub(crate) fn bound(&self, point: Point) -> u64 {
        lock(&self.device.driver.machine).bound_pipeline(self.device.commands.as_raw(), place(point))
    }

    /// The names of what was left.
    pub(crate) fn left(&self) -> Vec<String> {
        let records = self.device.instance.records("unresolved");
        records.iter().map(|record| record["what"].as_str().expect("a name").to_owned()).collect()
    }
}

/// While the pipeline has to stay the application's sets do too, and each link that would have been repaired by either is named; with no
/// feedback each is repaired.
#[test]
fn active_transform_feedback_names_what_copies_of_sets_would_repair() {
    for feeds_back in [true, false] {
        let mut stand = Stand::new();
        let at = |set, binding| Operand { set, binding, count: 1, element: Some(0) };
        // Two images that do not agree, which are split, and one alone, whose set is copied.
        stand.fragment = shader(4, &[(at(0, 0), at(0, 2)), (at(0, 1), at(0, 2)), (at(1, 0), at(1, 2))]);
        stand.layout = stand.device.pipeline_layout(&[stand.set_layout; 2]);
        let (device, point) = (&stand.device, Point::GRAPHICS);
        let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), ptr::null());
        let [goods, bads, mixed] =
            [[stand.good; 2], [stand.bad; 2], [stand.bad, stand.good]].map(|views| stand.set(views));
        let bind = |sets: [vk::DescriptorSet; 2]| {
            call!(device.bind_sets(device.commands, point, stand.layout, 0, 2, sets.as_ptr(), 0, ptr::null()));
        };
        stand.begin();
        stand.bind(point, pipeline);
        bind([goods, goods]);
        if feeds_back {
            call!(device.begin_feedback(device.commands, 0, 0, ptr::null(), ptr::null()));
        }
        bind([mixed, bads]);
        device.act(device.commands, point);
        device.driver.check();
        let reads = lock(&device.driver.machine).draw(device.commands.as_raw(), place(point));
        let reads = reads.expect("what is bound can be drawn with");
        let own = |image| {
            reads.iter().any(|read| (read.image.0, read.image.1) == image && read.handle == stand.linear.as_raw())
        };
        assert_eq!([(0, 0), (0, 1), (1, 0)].map(own), [feeds_back, true, feeds_back]);
        let told = device.instance.records("unresolved");
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
    let (device, point) = (&stand.device, Point::GRAPHICS);
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), ptr::null());
    let [goods, bads, mixed] = [[stand.good; 2], [stand.bad; 2], [stand.bad, stand.good]].map(|views| stand.set(views));
    let begin = || call!(device.begin_feedback(device.commands, 0, 0, ptr::null(), ptr::null()));
    let end = || call!(device.end_feedback(device.commands, 0, 0, ptr::null(), ptr::null()));
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, goods);
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
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, mixed);
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
            stand.bind(Point::COMPUTE, pipeline);
            stand.bind_set(Point::COMPUTE, goods);
        }
        // The first view that conflicts with anything.
        let bad = stand.device.view(vk::Format::R32_SFLOAT);
        let mixed = stand.set([bad, stand.good]);
        if !bound_before {
            stand.bind(Point::COMPUTE, pipeline);
        }
        stand.bind_set(Point::COMPUTE, mixed);
        assert_eq!((stand.own(Point::COMPUTE), stand.left().len()), ([false, true], 0));
        stand.bind_set(Point::COMPUTE, goods);
        assert_eq!(stand.own(Point::COMPUTE), [true, true]);
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
        let flags = Arc::new(AtomicU32::new(u32::MAX));
        let seen = Arc::clone(&flags);
        driver.observe(move |_, call| {
            if let (true, Args::Create { info, .. }) = (call.command == command, &call.args) {
                // SAFETY: the argument of a call under way.
                let info = unsafe { &*(*info as *const vk::ComputePipelineCreateInfo<'_>) };
                seen.store(info.flags.as_raw(), Ordering::Relaxed);
            }
        });
        if fails {
            driver.fail(command, [REQUIRED]);
        }
        let mixed = stand.set([stand.bad, stand.good]);
        stand.begin();
        stand.bind(Point::COMPUTE, pipeline);
        stand.bind_set(Point::COMPUTE, mixed);
        assert_eq!(flags.load(Ordering::Relaxed), 0, "the second pipeline may be compiled");
        if fails {
            assert_eq!((stand.own(Point::COMPUTE), stand.left()), ([true, true], vec!["memory".to_owned()]));
        } else {
            assert_eq!((stand.own(Point::COMPUTE), stand.left().len()), ([false, true], 0));
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
        let made = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&made);
        stand.device.driver.observe(move |_, call| {
            if let (true, Args::Create { info, .. }) = (call.command == c"vkCreateGraphicsPipelines", &call.args) {
                // SAFETY: the argument of a call under way.
                let blend = unsafe { &*(*(*info as *const vk::GraphicsPipelineCreateInfo<'_>)).p_color_blend_state };
                seen.store(if blend.p_attachments.is_null() { 1 } else { 2 }, Ordering::Relaxed);
            }
        });
        let mixed = stand.set([stand.bad, stand.good]);
        stand.begin();
        stand.bind(Point::GRAPHICS, pipeline);
        stand.bind_set(Point::GRAPHICS, mixed);
        assert_eq!(stand.own(Point::GRAPHICS), [false, true]);
        // VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353: without the feature nobody reads them.
        assert_eq!(made.load(Ordering::Relaxed), if advanced { 2 } else { 1 });
    }
}

#[test]
fn what_the_device_chooses_is_named_and_gets_what_the_application_bound() {
    let (stand, point) = (Stand::new(), Point::GRAPHICS);
    let device = &stand.device;
    let group: vk::PFN_vkCmdBindPipelineShaderGroupNV = device.get(c"vkCmdBindPipelineShaderGroupNV");
    let generated: vk_layer_sys::PfnCmdExecuteGeneratedCommands = device.get(c"vkCmdExecuteGeneratedCommandsEXT");
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), ptr::null());
    let [goods, mixed, bads] = [[stand.good; 2], [stand.bad, stand.good], [stand.bad; 2]].map(|views| stand.set(views));
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, mixed);
    assert_eq!(stand.left(), [""; 0], "nothing was chosen by the device");
    for (set, own) in [(mixed, [false, true]), (bads, [false, false])] {
        stand.begin();
        stand.bind(point, pipeline);
        stand.bind_set(point, set);
        assert_eq!(stand.own(point), own);
        // Nothing that the layer has exchanged is left for a group of which it knows nothing.
        device.driver.calls();
        // SAFETY: a recording command buffer and a pipeline of the device.
        unsafe { group(device.commands, point, pipeline, 1) };
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
        // SAFETY: a recording command buffer; the driver does not look at the structure.
        unsafe { generated(device.commands, vk::FALSE, ptr::dangling()) };
        assert_eq!(device.driver.calls_of(c"vkCmdExecuteGeneratedCommandsEXT").len(), 1);
        device.driver.check();
    }
    assert_eq!(stand.left(), ["generated-commands"]);
}

#[test]
fn descriptor_buffers_are_named_where_a_shader_joins() {
    let (stand, point) = (Stand::new(), Point::COMPUTE);
    let device = &stand.device;
    let with = |words: &[u32], flags: u64, wide: bool| {
        let chained =
            vk::PipelineCreateFlags2CreateInfoKHR::default().flags(vk::PipelineCreateFlags2KHR::from_raw(flags));
        let mut info = vk::ComputePipelineCreateInfo::default().layout(stand.layout);
        info = info.stage(stage(S::COMPUTE, stand.module(words)));
        if wide {
            info.p_next = (&raw const chained).cast();
        } else {
            info.flags = vk::PipelineCreateFlags::from_raw(flags as u32);
        }
        let none = vk::PipelineCache::null();
        create!(device.create_compute_pipelines(none, 1, &info))
    };
    let flag = u64::from(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT.as_raw());
    with(&words(5), 0, false);
    with(&shader(5, &[]), flag, false);
    assert_eq!(stand.left(), [""; 0], "one joins nothing, the other is followed");
    let pipeline = with(&words(5), flag, true);
    assert_eq!(stand.left(), ["descriptor-buffer"]);
    with(&words(5), flag, false);
    let mixed = stand.set([stand.bad, stand.good]);
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, mixed);
    assert_eq!((stand.bound(point), stand.left()), (pipeline.as_raw(), vec!["descriptor-buffer".to_owned()]));
}

/// An embedded sampler and an image that may be what a shader finds in a descriptor buffer, whichever of the two comes first.
#[test]
fn embedded_samplers_are_named_with_the_images_that_they_may_meet() {
    use vk::DescriptorSetLayoutCreateFlags as Flags;
    type Ty = vk::DescriptorType;
    const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
    const INTEGER: vk::Format = vk::Format::R32_UINT;
    let linear = linear_info();
    let nearest = vk::SamplerCreateInfo::default();
    // The sampler, the format of the image, whether its descriptor is asked for before the pipeline is made, or none is; formats that are
    // named, none for a sampler alone.
    for (sampler, format, first, named) in [
        (linear, DEPTH, Some(true), vec![Some("VK_FORMAT_D32_SFLOAT")]),
        (linear, DEPTH, Some(false), vec![None, Some("VK_FORMAT_D32_SFLOAT")]),
        (linear, DEPTH, None, vec![None]),
        // The shader declares floats.
        (linear, INTEGER, Some(true), vec![None]),
        (linear, FILTERED, Some(true), vec![]),
        (nearest, DEPTH, Some(true), vec![]),
    ] {
        let builder = InstanceBuilder::new().traced("decisions").set("separate", "resolve");
        let extensions = vec![ash::ext::descriptor_buffer::NAME];
        let instance = builder.instance();
        let device = instance.device(&DeviceInfo { extensions, ..Default::default() });
        // A sampler that nobody embeds, so that something may conflict.
        device.linear();
        let samplers = [device.sampler(&sampler)];
        let of_images = [binding(0, Ty::SAMPLED_IMAGE, 1).stage_flags(S::COMPUTE)];
        let of_sampler = [binding(0, Ty::SAMPLER, 1).stage_flags(S::COMPUTE).immutable_samplers(&samplers)];
        let layouts = [(&of_images, Flags::empty()), (&of_sampler, Flags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT)];
        let layouts = layouts.map(|(bindings, flags)| {
            let flags = flags | Flags::DESCRIPTOR_BUFFER_EXT;
            device.try_layout(&vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(bindings)).unwrap()
        });
        let view = device.view(format);
        let get = || {
            let image = pair(vk::Sampler::null(), view);
            let data = vk::DescriptorDataEXT { p_sampled_image: &image };
            let info = vk::DescriptorGetInfoEXT { ty: Ty::SAMPLED_IMAGE, data, ..Default::default() };
            call!(device.get_descriptor(device.raw, &info, 0, ptr::null_mut()));
            args!(device, c"vkGetDescriptorEXT", Args::GetDescriptor { info: down, .. });
            assert_eq!(down.at, ptr::from_ref(&info) as usize, "it goes down as it came");
        };
        if first == Some(true) {
            get();
        }
        let at = |set| Operand { set, binding: 0, count: 1, element: Some(0) };
        let words = shader(5, &[(at(0), at(1))]);
        let module = device.module(&words);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .layout(device.pipeline_layout(&layouts))
            .stage(stage(S::COMPUTE, module));
        let none = vk::PipelineCache::null();
        create!(device.create_compute_pipelines(none, 1, &info));
        if first.is_some() {
            // Again, of which nothing is said.
            get();
            get();
        }
        let told = device.instance.records("unresolved").into_iter();
        let told: Vec<_> = told.filter(|record| record["what"] == "embedded-sampler").collect();
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
    let (stand, point) = (Stand::new(), Point::COMPUTE);
    let (device, image, sampler) = (&stand.device, vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER);
    let layouts = [(image, 66), (sampler, 8)].map(|(ty, count)| {
        device.layout(&(0..count).map(|number| binding(number, ty, 1).stage_flags(S::ALL)).collect::<Vec<_>>())
    });
    let layout = device.pipeline_layout(&layouts);
    let sets = layouts.map(|of_set| device.sets(stand.pool, &[of_set])[0]);
    let write = |set, ty, number, info: vk::DescriptorImageInfo| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number).descriptor_type(ty);
        device.update(&[write.image_info(&[info])], &[]);
    };
    // Each sampler is for some of the images, of which the last alone needs another one.
    for number in 0..66 {
        let image_view = if number == 65 { stand.bad } else { stand.good };
        write(sets[0], image, number, vk::DescriptorImageInfo { image_view, ..Default::default() });
    }
    for number in 0..8 {
        let info = vk::DescriptorImageInfo { sampler: stand.linear, ..Default::default() };
        write(sets[1], sampler, number, info);
    }
    let of = |set, binding| Operand { set, binding, count: 1, element: Some(0) };
    let links: Vec<_> = (0..66).map(|link| (of(0, link), of(1, link / 9))).collect();
    let pipeline = |links: &[_]| {
        let stage = stage(S::COMPUTE, stand.module(&shader(5, links)));
        let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
        let none = vk::PipelineCache::null();
        create!(device.create_compute_pipelines(none, 1, &info))
    };
    let last_first: Vec<_> = links.iter().rev().copied().collect();
    for (links, left) in [(&last_first, vec![]), (&links, vec!["too-many-links".to_owned()])] {
        let made = pipeline(links);
        stand.begin();
        stand.bind(point, made);
        call!(device.bind_sets(device.commands, point, layout, 0, 2, sets.as_ptr(), 0, ptr::null()));
        device.act(device.commands, point);
        device.driver.check();
        assert_eq!(stand.left(), left);
        let reads = lock(&device.driver.machine).draw(device.commands.as_raw(), place(point));
        let reads = reads.expect("what is bound can be drawn with");
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
            let stages = [stage(S::RAYGEN_KHR, stand.module(&words(5313)))];
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
        let [goods, bads, mixed] =
            [[stand.good; 2], [stand.bad; 2], [stand.bad, stand.good]].map(|views| stand.set(views));
        stand.begin();
        stand.bind(point, pipeline);
        stand.bind_set(point, goods);
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
    let (stand, point) = (Stand::new(), Point::GRAPHICS);
    let parts = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(
        vk::GraphicsPipelineLibraryFlagsEXT::VERTEX_INPUT_INTERFACE
            | vk::GraphicsPipelineLibraryFlagsEXT::PRE_RASTERIZATION_SHADERS
            | vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_SHADER
            | vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_OUTPUT_INTERFACE,
    );
    let libraries = [stand.graphics(&[], vk::PipelineCreateFlags::LIBRARY_KHR, (&raw const parts).cast())];
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), (&raw const linked).cast());
    let [goods, bads, mixed] = [[stand.good; 2], [stand.bad; 2], [stand.bad, stand.good]].map(|views| stand.set(views));
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, goods);
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
    let (stand, point) = (Stand::new(), Point::GRAPHICS);
    let unknown = vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0001), ..Default::default() };
    let mut parts = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(
        vk::GraphicsPipelineLibraryFlagsEXT::PRE_RASTERIZATION_SHADERS
            | vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_SHADER,
    );
    parts.p_next = (&raw const unknown).cast();
    let libraries = [stand.graphics(&[], vk::PipelineCreateFlags::LIBRARY_KHR, (&raw const parts).cast())];
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let pipeline = stand.graphics(&[], vk::PipelineCreateFlags::empty(), (&raw const linked).cast());
    let mixed = stand.set([stand.bad, stand.good]);
    stand.begin();
    stand.bind(point, pipeline);
    stand.bind_set(point, mixed);
    assert_eq!((stand.own(point), stand.bound(point)), ([true, true], pipeline.as_raw()));
    assert_eq!(stand.left(), ["pipeline-chain"]);
}

#[test]
fn code_that_is_not_to_be_read_is_told_where_it_matters() {
    let (stand, point) = (Stand::new(), Point::COMPUTE);
    let (device, sets) = (&stand.device, [stand.set_layout]);
    let info = vk::ShaderCreateInfoEXT::default()
        .stage(S::COMPUTE)
        .code_type(vk::ShaderCodeTypeEXT::BINARY)
        .code(&[0xff; 16])
        .name(c"main")
        .set_layouts(&sets);
    let shader = create!(device.create_shaders(1, &info));
    let [goods, mixed] = [[stand.good; 2], [stand.bad, stand.good]].map(|views| stand.set(views));
    stand.begin();
    call!(device.bind_shaders(device.commands, 1, &S::COMPUTE, &shader));
    stand.bind_set(point, goods);
    assert_eq!(stand.left(), [""; 0]);
    stand.bind_set(point, mixed);
    stand.bind_set(point, goods);
    stand.bind_set(point, mixed);
    device.driver.check();
    assert_eq!(stand.left(), ["hidden-spirv"]);
    let arrived = device.driver.calls_of(c"vkCmdBindShadersEXT");
    assert_eq!(arrived.len(), 1, "nothing else was bound: {arrived:?}");
    call!(device.destroy_shader(device.raw, shader, allocator()));
}

#[test]
fn shader_objects_come_and_go_with_those_they_stand_in_for() {
    // Nothing, or what the command may return, a success that is none (VK_INCOMPATIBLE_SHADER_BINARY_EXT) and what it may not among it.
    let results = [
        vk::Result::SUCCESS,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        vk::Result::ERROR_INITIALIZATION_FAILED,
        vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT,
        vk::Result::ERROR_DEVICE_LOST,
        vk::Result::ERROR_UNKNOWN,
    ];
    for (linked, failure) in [false, true].into_iter().flat_map(|linked| results.map(|result| (linked, result))) {
        let fails = failure != SUCCESS;
        let (stand, point) = (Stand::new(), Point::GRAPHICS);
        let (device, sets) = (&stand.device, [stand.set_layout]);
        let bytes = |words: Vec<u32>| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let (vertex, fragment) = (bytes(shader(0, &[])), bytes(words(4)));
        let flags = if linked { vk::ShaderCreateFlagsEXT::LINK_STAGE } else { vk::ShaderCreateFlagsEXT::empty() };
        let info = vk::ShaderCreateInfoEXT::default()
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .name(c"main")
            .set_layouts(&sets)
            .flags(flags);
        let infos =
            [info.stage(S::VERTEX).next_stage(S::FRAGMENT).code(&vertex), info.stage(S::FRAGMENT).code(&fragment)];
        let mut shaders = [vk::ShaderEXT::null(); 2];
        assert_eq!(
            call!(device.create_shaders(device.raw, 2, infos.as_ptr(), allocator(), shaders.as_mut_ptr())),
            SUCCESS
        );
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(shaders[1]).object_name(c"lit");
        assert_eq!(call!(device.set_name(device.raw, &info)), SUCCESS);
        if fails {
            // The driver makes the first of several nevertheless.
            device.driver.fail(c"vkCreateShadersEXT", [failure]);
        }
        let mixed = stand.set([stand.bad, stand.good]);
        let stages = [S::VERTEX, S::FRAGMENT];
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
        call!(device.destroy_shader(device.raw, shaders[1], allocator()));
        assert_eq!(live(), 1, "only the other of the application's is there");
        call!(device.destroy_shader(device.raw, shaders[0], allocator()));
        device.driver.check();
    }
}
