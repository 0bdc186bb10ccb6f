//! What pipelines are made of that is gone, ignored or not to be seen, with `separate=resolve`.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk::{self, Handle};
use samplin::commands::{Which, intercepted_on_devices};

use crate::driver::{Args, Kind, lock};
use crate::loader::*;
use crate::pages::dangling;
use crate::programs::Stand;
use crate::separate::joins_two;

/// `VkPipelineBinaryInfoKHR`, which is younger than the bindings.
#[repr(C)]
struct Binaries {
    s_type: vk::StructureType,
    p_next: *const c_void,
    count: u32,
    binaries: *const u64,
}

static BINARY: u64 = 0x88;

impl Binaries {
    fn new(count: u32) -> Self {
        let s_type = vk::StructureType::from_raw(1_000_483_002);
        Self { s_type, p_next: ptr::null(), count, binaries: if count == 0 { dangling() } else { &raw const BINARY } }
    }
}

/// A stage whose module and words may be anything, as binaries are used in their place.
fn ignored(of: Stage, words: &vk::ShaderModuleCreateInfo<'_>) -> [vk::PipelineShaderStageCreateInfo<'static>; 2] {
    let chained =
        vk::PipelineShaderStageCreateInfo { p_next: ptr::from_ref(words).cast(), ..stage(of, Default::default()) };
    [chained, stage(of, vk::ShaderModule::from_raw(0xdead_0000))]
}

#[test]
fn pipelines_of_binaries_are_named() {
    let words = vk::ShaderModuleCreateInfo { code_size: 64, p_code: dangling(), ..Default::default() };
    for (point, of) in
        [(COMPUTE, Stage::COMPUTE), (GRAPHICS, Stage::FRAGMENT), (Point::RAY_TRACING_KHR, Stage::RAYGEN_KHR)]
    {
        for stages in ignored(of, &words).map(|stage| [stage]) {
            let (stand, binaries) = (Stand::new(), Binaries::new(1));
            let device = &stand.device;
            let (p_next, layout) = ((&raw const binaries).cast(), stand.layout);
            let pipeline = match point {
                COMPUTE => {
                    let info = vk::ComputePipelineCreateInfo { p_next, layout, ..Default::default() };
                    device.compute_with(&info.stage(stages[0]))
                }
                GRAPHICS => {
                    let (input, assembly) = Default::default();
                    let raster = vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true);
                    let info = vk::GraphicsPipelineCreateInfo { p_next, layout, ..Default::default() }
                        .stages(&stages)
                        .vertex_input_state(&input)
                        .input_assembly_state(&assembly)
                        .rasterization_state(&raster);
                    device.graphics_with(&info)
                }
                _ => {
                    let info = vk::RayTracingPipelineCreateInfoKHR { p_next, layout, ..Default::default() };
                    let (operation, none) = Default::default();
                    create!(device.create_ray_tracing_pipelines(operation, none, 1, &info.stages(&stages)))
                }
            };
            let bads = stand.set([stand.bad; 2]);
            stand.run(point, pipeline, bads);
            let hidden = vec!["hidden-spirv".to_owned()];
            assert_eq!((stand.bound(point), stand.left()), (pipeline.as_raw(), hidden), "{point:?}");
            // The mock knows no binaries, and says so.
            lock(&device.driver.errors).clear();
        }
    }
    // Its twin: of no binaries.
    let (stand, binaries) = (Stand::new(), Binaries::new(0));
    let (device, point) = (&stand.device, COMPUTE);
    let stage = stage(Stage::COMPUTE, stand.device.module(&joins_two(5)));
    let info = vk::ComputePipelineCreateInfo { p_next: (&raw const binaries).cast(), ..Default::default() };
    let info = info.layout(stand.layout).stage(stage);
    let pipeline = device.compute_with(&info);
    stand.run(point, pipeline, stand.set([stand.bad, stand.good]));
    assert_eq!((stand.own(point), stand.left().len()), ([false, true], 0));
}

/// A pipeline whose render pass is gone: nothing is made again for what is legal, and it can be for what is not.
#[track_caller]
fn is_made_again_when_it_conflicts(stand: &Stand, pipeline: vk::Pipeline) {
    let [goods, _, mixed] = stand.sets();
    stand.run(GRAPHICS, pipeline, goods);
    assert_eq!((stand.own(GRAPHICS), stand.bound(GRAPHICS)), ([true, true], pipeline.as_raw()));
    assert_eq!(stand.device.driver.live(Kind::RenderPass), [0_u64; 0]);
    stand.bind_set(GRAPHICS, mixed);
    assert_eq!((stand.own(GRAPHICS), stand.left().len()), ([false, true], 0));
}

/// An application may destroy a render pass as soon as its pipeline is there: it is destroyed at once, with its own allocator, and the
/// pipeline can still be made again.
#[test]
fn a_render_pass_may_go_before_its_pipeline_is_made_again() {
    for own in [allocator(), ptr::null()] {
        let stand = Stand::new();
        let device = &stand.device;
        let pass = stand.pass(own);
        let pipeline = stand.graphics_in(pass, &[], vk::PipelineCreateFlags::empty(), ptr::null());
        device.driver.calls();
        call!(device.destroy_render_pass(device.raw, pass, own));
        crate::args!(device, c"vkDestroyRenderPass", Args::Destroy { handle, allocator: with });
        assert_eq!((handle, with), (pass.as_raw(), own as usize));
        is_made_again_when_it_conflicts(&stand, pipeline);
        device.destroy_pipeline(pipeline);
    }
}

/// A library may be linked when its render pass is gone, and what is linked can be made again.
#[test]
fn a_library_may_be_linked_after_its_render_pass() {
    let stand = Stand::new();
    let device = &stand.device;
    let parts = whole_library();
    let pass = stand.pass(allocator());
    let libraries = [stand.graphics_in(pass, &[], vk::PipelineCreateFlags::LIBRARY_KHR, (&raw const parts).cast())];
    device.destroy_render_pass(pass);
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    // What is only linked has no render pass of its own: the handle is ignored, and may be that of what is gone.
    let pipeline = stand.graphics_in(pass, &[], vk::PipelineCreateFlags::empty(), (&raw const linked).cast());
    // The driver's own complaint about the handle that is ignored.
    let errors = std::mem::take(&mut *lock(&device.driver.errors));
    assert!(errors.iter().all(|error| error.contains("which does not live")) && errors.len() <= 1, "{errors:?}");
    is_made_again_when_it_conflicts(&stand, pipeline);
}

/// The render passes of the layer's own go when nothing is made with them any more.
#[test]
fn render_passes_of_the_layers_own_do_not_add_up() {
    let (stand, point) = (Stand::new(), GRAPHICS);
    let device = &stand.device;
    let [goods, _, mixed] = stand.sets();
    let mut most = 0;
    for (number, is_legal) in [true, false].into_iter().flat_map(|is_legal| (0..400).map(move |n| (n, is_legal))) {
        let pass = stand.pass(allocator());
        let pipeline = stand.graphics_in(pass, &[], vk::PipelineCreateFlags::empty(), ptr::null());
        stand.run(point, pipeline, if is_legal { goods } else { mixed });
        assert_eq!(stand.own(point), [is_legal, true]);
        if is_legal {
            assert_eq!(
                device.driver.live(Kind::RenderPass),
                [pass.as_raw()],
                "pipeline {number}: nothing is made again"
            );
        }
        stand.begin();
        // On two threads at once.
        std::thread::scope(|scope| {
            scope.spawn(|| device.destroy_render_pass(pass));
            scope.spawn(|| device.destroy_pipeline(pipeline));
        });
        most = most.max(device.driver.live(Kind::RenderPass).len());
    }
    assert!(most <= 130, "{most} render passes");
}

/// Garbage in every pointer that a subpass and a pipeline may leave unset arrives below as it came, and what is made again has none of it.
#[test]
fn pointers_that_are_ignored_are_not_followed() {
    let reference = |attachment| vk::AttachmentReference { attachment, layout: vk::ImageLayout::GENERAL };
    let (unused, used) = (reference(vk::ATTACHMENT_UNUSED), reference(0));
    for (colors, depth) in [([unused, unused], Some(used)), ([unused, used], Some(unused)), ([used, used], None)] {
        let (stand, point) = (Stand::new(), GRAPHICS);
        let device = &stand.device;
        let mut subpass = [vk::SubpassDescription::default().color_attachments(&colors)];
        subpass[0].p_depth_stencil_attachment = depth.as_ref().map_or(ptr::null(), ptr::from_ref);
        // None of either.
        subpass[0].p_preserve_attachments = dangling();
        subpass[0].p_input_attachments = dangling();
        let info = vk::RenderPassCreateInfo::default().subpasses(&subpass);
        let pass = create!(device.create_render_pass(&info));
        let stages = [
            stage(Stage::VERTEX, stand.device.module(&crate::separate::shader(0, &[]))),
            stage(Stage::FRAGMENT, stand.device.module(&joins_two(4))),
        ];
        let has = |uses: bool, state: *const c_void| if uses { state } else { dangling() };
        let uses_color = colors.iter().any(|it| it.attachment != vk::ATTACHMENT_UNUSED);
        let uses_depth = depth.is_some_and(|it| it.attachment != vk::ATTACHMENT_UNUSED);
        let (depth_stencil, blend) =
            <(vk::PipelineDepthStencilStateCreateInfo<'_>, vk::PipelineColorBlendStateCreateInfo<'_>)>::default();
        let mut states = States::new(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
        (states.viewport.p_viewports, states.viewport.p_scissors) = (dangling(), dangling());
        let mut info = states.info(&stages).layout(stand.layout).render_pass(pass);
        // Of what it is derived is said without the flag only.
        info.base_pipeline_handle = vk::Pipeline::from_raw(0xdead_0000);
        info.p_tessellation_state = dangling();
        info.p_depth_stencil_state = has(uses_depth, (&raw const depth_stencil).cast()).cast();
        info.p_color_blend_state = has(uses_color, (&raw const blend).cast()).cast();
        let seen = Arc::new(AtomicU32::new(0));
        let writes = Arc::clone(&seen);
        let given = &raw const info as usize;
        device.driver.observe(move |_, call| {
            if let (true, Args::Create { info, .. }) = (call.command == c"vkCreateGraphicsPipelines", &call.args) {
                // SAFETY: the argument of a call under way.
                let at = unsafe { &*(*info as *const vk::GraphicsPipelineCreateInfo<'_>) };
                if *info == given {
                    return;
                }
                // SAFETY: what the layer makes again has its states.
                let viewport = unsafe { &*at.p_viewport_state };
                assert!(viewport.p_viewports.is_null() && viewport.p_scissors.is_null());
                assert!(at.p_tessellation_state.is_null() && at.base_pipeline_handle == vk::Pipeline::null());
                let there = [at.p_depth_stencil_state.is_null(), at.p_color_blend_state.is_null()];
                writes.store(1 | u32::from(!there[0]) << 1 | u32::from(!there[1]) << 2, Ordering::Relaxed);
            }
        });
        let pipeline = device.graphics_with(&info);
        let [goods, _, mixed] = stand.sets();
        stand.run(point, pipeline, goods);
        assert_eq!((stand.own(point), seen.load(Ordering::Relaxed)), ([true, true], 0), "nothing is made again");
        stand.bind_set(point, mixed);
        assert_eq!((stand.own(point), stand.left().len()), ([false, true], 0));
        let expected = 1 | u32::from(uses_depth) << 1 | u32::from(uses_color) << 2;
        assert_eq!(seen.load(Ordering::Relaxed), expected, "{colors:?}, {depth:?}");
    }
}

/// Destroying nothing changes nothing: one call goes down as it came, and what was remembered of objects stays.
#[test]
fn null_handles_are_destroyed_without_effect() {
    type Destroy = unsafe extern "system" fn(vk::Device, u64, *const vk::AllocationCallbacks<'static>);
    let all = Which {
        separate: true,
        shaders: true,
        buffers: true,
        buffer_views: true,
        frames: true,
        retuned: false,
        pulsed: false,
    };
    let is_end = |name: &&&CStr| name.to_bytes().starts_with(b"vkDestroy") || name.to_bytes().starts_with(b"vkFree");
    let commands: BTreeSet<&CStr> = intercepted_on_devices(all).iter().filter(is_end).copied().collect();
    // Those that are not of the usual form, and one that is of a device as a whole.
    let others = [c"vkFreeDescriptorSets", c"vkFreeCommandBuffers", c"vkDestroyDevice"];
    let usual: Vec<_> = commands.iter().copied().filter(|name| !others.contains(name)).collect();
    assert!(usual.len() >= 15 && others.iter().all(|name| commands.contains(name)), "{commands:?}");
    let point = GRAPHICS;
    let rendering = vk::PipelineRenderingCreateInfo::default();
    let of_rendering = |stand: &Stand| {
        let (none, flags) = (vk::RenderPass::null(), vk::PipelineCreateFlags::DISABLE_OPTIMIZATION);
        stand.graphics_in(none, &[], flags, (&raw const rendering).cast())
    };
    let mut tried = 0;
    for (own, name) in [allocator(), ptr::null()].into_iter().flat_map(|own| usual.iter().map(move |name| (own, name)))
    {
        // A device each, which has learned nothing.
        let stand = Stand::new();
        let device = &stand.device;
        let Some(destroy) = cast::<Destroy>(device.resolve(name)) else { continue };
        let [goods, _, mixed] = stand.sets();
        // Made before, and split afterwards.
        let of_pass = stand.usual();
        let pipelines = [of_pass, of_rendering(&stand)];
        device.driver.calls();
        // SAFETY: nothing is a valid handle for each of them.
        unsafe { destroy(device.raw, 0, own) };
        let calls = device.driver.calls_of(name);
        assert!(calls.len() <= 1, "{name:?}: {calls:?}");
        for call in calls {
            let Args::Destroy { handle, allocator: with } = call else { panic!("{name:?}: {call:?}") };
            assert_eq!((handle, with), (0, own as usize), "{name:?}");
        }
        for pipeline in pipelines {
            stand.run(point, pipeline, goods);
            assert_eq!(stand.own(point), [true, true], "{name:?}");
            stand.bind_set(point, mixed);
            assert_eq!((stand.own(point), stand.left()), ([false, true], vec![]), "{name:?}");
        }
        tried += 1;
    }
    assert!(tried >= 30, "{tried} calls");
    // Sets and command buffers: nothing among others, and nothing at all.
    let stand = Stand::new();
    let device = &stand.device;
    let (set, other) = (stand.set([stand.bad; 2]), stand.set([stand.bad; 2]));
    let sets = [vk::DescriptorSet::null(), set, vk::DescriptorSet::null()];
    device.free(stand.pool, &sets);
    assert_eq!(call!(device.free_sets(device.raw, stand.pool, 0, dangling())), SUCCESS);
    let pool = device.command_pool();
    let [own] = device.command_buffers(pool);
    let buffers = [vk::CommandBuffer::null(), own, vk::CommandBuffer::null()];
    call!(device.free_command_buffers(device.raw, pool, 3, buffers.as_ptr()));
    call!(device.free_command_buffers(device.raw, pool, 0, dangling()));
    let pipeline = of_rendering(&stand);
    stand.run(point, pipeline, other);
    assert_eq!((stand.own(point), stand.left()), ([false, false], vec![]));
}
