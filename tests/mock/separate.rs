//! Samplers and images that only shaders join, with `separate=resolve`: random sequences, threads and failing calls.
//!
//! What the shaders of the bound pipelines read is worked out twice by a [`Machine`]: by what the application calls, and by what
//! arrives in the driver. After each command both are compared: the images are the same, a legal pair has the application's own
//! sampler, another pair has one that is legal or is told of, and nothing that is referred to is gone.
//!
//! `API_FUZZ_SEQUENCES` and `API_FUZZ_FIRST` as in [`crate::fuzz`].

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

use ash::vk::{self, Handle};
use fastrand::Rng;
use samplin_testkit::again::alone;
use samplin_testkit::assembly::{Assembly, Capability, Decoration, Op, StorageClass};

use crate::driver::machine::{ARRAY, Machine, Place, Read, Snapshot};
use crate::driver::{OwnFailure, Reuse, lock};
use crate::fuzz::{for_seeds, step_with_log, with_log};
use crate::loader::*;
use crate::pages::dangling;

const DYNAMIC: Ty = Ty::UNIFORM_BUFFER_DYNAMIC;
/// The format that filters, and one that does not.
const FORMATS: [vk::Format; 2] = [FILTERED, FLOATS];

/// Bindings of the set layouts: type and count; the place in the list is the number.
const SHAPES: [&[(Ty, u32)]; 10] = [
    &[(IMAGE, 1), (SAMPLER, 1)],
    &[(IMAGE, ARRAY), (SAMPLER, 1)],
    &[(IMAGE, 1), (IMAGE, 1), (SAMPLER, 1)],
    &[(SAMPLER, ARRAY), (IMAGE, 1), (DYNAMIC, 1)],
    &[(IMAGE, 1), (SAMPLER, 1)],
    &[(IMAGE, 1), (SAMPLER, 1), (COMBINED, 1)],
    &[(IMAGE, 1), (SAMPLER, 1)],
    &[(IMAGE, ARRAY), (SAMPLER, 1)],
    &[(SAMPLER, ARRAY), (IMAGE, 1)],
    &[
        (IMAGE, 1),
        (SAMPLER, 1),
        (Ty::UNIFORM_TEXEL_BUFFER, 2),
        (Ty::STORAGE_BUFFER, 1),
        (Ty::INLINE_UNIFORM_BLOCK, BLOCK),
        (COMBINED, 2),
        (Ty::INPUT_ATTACHMENT, 1),
        (Ty::STORAGE_TEXEL_BUFFER, 1),
        (Ty::STORAGE_IMAGE, 1),
    ],
];
/// The shape whose image may be updated after a bind, the one for pushes, the one with an immutable sampler, and those whose arrays are
/// PARTIALLY_BOUND.
const LOOSE: usize = 4;
const PUSHED: usize = 5;
/// What is pushed.
const PUSHES: [Ty; 3] = [IMAGE, SAMPLER, COMBINED];
const IMMUTABLE: usize = 6;
const PARTIAL: [usize; 2] = [7, 8];
/// Bytes of a block.
const BLOCK: u32 = 16;
/// Most bindings of a shape.
const BINDINGS: usize = 9;

/// What is written to a descriptor, large enough for any type.
type Value = [u64; 3];

/// A value as an image info, which is shorter in a program of 32 bits.
fn image(value: &Value) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo {
        sampler: vk::Sampler::from_raw(value[0]),
        image_view: vk::ImageView::from_raw(value[1]),
        image_layout: vk::ImageLayout::from_raw(value[2] as i32),
    }
}

/// A descriptor as the machine keeps it that is neither a sampler nor an image of its own; the bytes of a block.
fn others(ty: Ty, value: &Value) -> Vec<(u64, u64)> {
    match ty {
        Ty::INLINE_UNIFORM_BLOCK => {
            let bytes = value.iter().flat_map(|word| word.to_ne_bytes()).take(BLOCK as usize);
            bytes.map(|byte| (0, u64::from(byte))).collect()
        }
        COMBINED => vec![(value[0], value[1])],
        Ty::INPUT_ATTACHMENT | Ty::STORAGE_IMAGE => vec![(0, value[1])],
        _ => vec![(0, value[0])],
    }
}

// ---- shaders ----

/// An operand of a link: set, binding, length of the array, and the element or none for one that an input chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) set: u32,
    pub(crate) binding: u32,
    pub(crate) count: u32,
    pub(crate) element: Option<u32>,
}

/// A module that reads these links one after the other.
pub(crate) fn shader(model: u32, links: &[(Operand, Operand)]) -> Vec<u32> {
    shader_of(model, links, ARRAY, [0, 1, 2])
}

/// A module that joins these images and samplers, each by set and binding.
pub(crate) fn joins(model: u32, links: &[[(u32, u32); 2]]) -> Vec<u32> {
    let at = |(set, binding)| Operand { set, binding, count: 1, element: Some(0) };
    shader(model, &links.iter().map(|[image, sampler]| (at(*image), at(*sampler))).collect::<Vec<_>>())
}

/// One in which the images 0 and 1 of a set meet its sampler 2.
pub(crate) fn joins_two(model: u32) -> Vec<u32> {
    joins(model, &[[(0, 0), (0, 2)], [(0, 1), (0, 2)]])
}

/// The same of arrays of this length, whose elements have these numbers.
pub(crate) fn shader_of(
    model: u32,
    links: &[(Operand, Operand)],
    length: u32,
    numbers: [u32; ARRAY as usize],
) -> Vec<u32> {
    use StorageClass::{Input, UniformConstant};
    let stage = match model {
        0 => Stage::VERTEX,
        4 => Stage::FRAGMENT,
        5 => Stage::COMPUTE,
        _ => Stage::RAYGEN_KHR,
    };
    let mut m = Assembly::new(stage);
    m.capability(Capability::SampledImageArrayDynamicIndexing);
    let [float, uint] = [m.ty(Op::TypeFloat, &[32]), m.ty(Op::TypeInt, &[32, 0])];
    let [vec2, vec4] = [2, 4].map(|count| m.ty(Op::TypeVector, &[float, count]));
    let types = [m.ty(Op::TypeImage, &[float, 1, 0, 0, 0, 1, 0]), m.ty(Op::TypeSampler, &[])];
    let joined = m.ty(Op::TypeSampledImage, &types[..1]);
    let zero = m.constant(Op::Constant, float, &[0]);
    let coordinates = m.constant(Op::ConstantComposite, vec2, &[zero, zero]);
    let length = m.constant(Op::Constant, uint, &[length]);
    let input = m.pointer(Input, uint);
    let inputs = [0, 1].map(|location| {
        let variable = m.variable(input, Input);
        m.decorate(variable, Decoration::Location, &[location]);
        m.decorate(variable, Decoration::Flat, &[]);
        variable
    });
    let elements = types.map(|ty| m.pointer(UniformConstant, ty));
    let arrays = types.map(|ty| {
        let array = m.ty(Op::TypeArray, &[ty, length]);
        m.pointer(UniformConstant, array)
    });
    let numbers = numbers.map(|element| m.constant(Op::Constant, uint, &[element]));
    let mut variables: HashMap<(u32, u32), u32> = HashMap::new();
    for (image, sampler) in links {
        let loaded = [(0, image), (1, sampler)].map(|(which, at)| {
            let pointer = if at.count > 1 { arrays[which] } else { elements[which] };
            let variable = variables.entry((at.set, at.binding));
            let variable = *variable.or_insert_with(|| m.bound_to(pointer, UniformConstant, [at.set, at.binding]));
            let mut place = variable;
            if at.count > 1 {
                let index = match at.element {
                    Some(element) => numbers[element as usize],
                    None => m.value(Op::Load, uint, &[inputs[which]]),
                };
                place = m.value(Op::AccessChain, elements[which], &[variable, index]);
            }
            m.value(Op::Load, types[which], &[place])
        });
        let pair = m.value(Op::SampledImage, joined, &loaded);
        m.value(Op::ImageSampleExplicitLod, vec4, &[pair, coordinates, 2, zero]);
    }
    m.finish(0)
}

// ---- the application ----

crate::fuzz::tally! {
    draws legal repaired told
    /// Pairs that were left in command buffers which were begun before anything could conflict.
    early
    executed split
    /// Links that were left for want of memory.
    wanting
}

#[derive(Clone, Debug)]
struct Layout {
    handle: vk::PipelineLayout,
    shapes: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Pipeline {
    handle: vk::Pipeline,
    /// Shader objects by stage, instead of a pipeline.
    shaders: Vec<(Stage, vk::ShaderEXT)>,
    shapes: Vec<usize>,
    point: Point,
}

#[derive(Clone, Debug)]
struct Set {
    handle: vk::DescriptorSet,
    shape: usize,
    pool: usize,
    /// Its layout is gone, so that it can only be bound.
    is_fixed: bool,
}

#[derive(Clone)]
struct Buffer {
    handle: vk::CommandBuffer,
    pool: vk::CommandPool,
    /// It was begun before anything could conflict.
    is_early: bool,
    /// Samplers and images that draws in it have asked for.
    asked: HashSet<u64>,
    /// Nothing that it refers to was changed or destroyed since it was begun.
    is_valid: bool,
    /// Sets and pipelines that were bound in it.
    uses: HashSet<u64>,
    draws: Vec<(Snapshot, Vec<(u64, u64)>)>,
}

/// The bind points, by their places.
const POINTS: [Point; 2] = [GRAPHICS, COMPUTE];

/// A pipeline, and set and binding of an image and of a sampler.
type Left = (u64, (u32, u32), (u32, u32));

/// How many objects, from the front of each list, several threads use: those stay as they are.
#[derive(Clone, Copy, Default)]
struct Shared {
    samplers: usize,
    views: usize,
    layouts: usize,
    pipelines: usize,
    pools: usize,
    sets: usize,
}

#[derive(Clone)]
struct Application {
    rng: Rng,
    device: Arc<Device>,
    shared: Shared,
    machine: Machine,
    samplers: Vec<(vk::Sampler, bool, f32)>,
    immutable: vk::Sampler,
    /// The sampler of combined descriptors, which suits every image.
    plain: vk::Sampler,
    /// Images that do not filter come after this step.
    late: u64,
    steps: u64,
    /// There was such an image, and a pipeline.
    could_conflict: bool,
    views: Vec<(vk::ImageView, vk::Image, usize)>,
    shapes: Vec<vk::DescriptorSetLayout>,
    templates: Vec<vk::DescriptorUpdateTemplate>,
    push_template: vk::DescriptorUpdateTemplate,
    layouts: Vec<Layout>,
    pipelines: Vec<Pipeline>,
    pools: Vec<vk::DescriptorPool>,
    sets: Vec<Set>,
    buffers: Vec<Buffer>,
    /// Links that conflicted and were not repaired: pipeline, image, sampler.
    left: HashSet<Left>,
    log: Vec<String>,
    created: u32,
    faults: bool,
    /// There is a trace, in which what was left is looked for at the end.
    is_traced: bool,
    tally: Tally,
}

impl Application {
    fn new(seed: u64, faults: bool, is_traced: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let reuse = if rng.bool() { Reuse::AtOnce } else { Reuse::Never };
        let limit = *rng.choice(&[4, 8, 8, 8]).expect("there are some");
        let late = if rng.u8(0..4) == 0 { rng.u64(0..STEPS / 2) } else { 0 };
        Self::with(rng, (reuse, limit, late), faults, is_traced)
    }

    fn with(rng: Rng, (reuse, limit, late): (Reuse, u32, u64), faults: bool, is_traced: bool) -> Self {
        let builder = InstanceBuilder::new()
            .driver(|config| {
                config.follows = true;
                config.reuse = reuse;
                config.set_limits[0] = limit;
            })
            .set("separate", "resolve");
        // At the level of all binds are followed from the start.
        let level = if late > 0 { "decisions" } else { "all" };
        let device = if is_traced { builder.traced(level) } else { builder }.device();
        device.forget_calls();
        let immutable = device.sampler(&linear_info().max_lod(0.5));
        let plain = device.nearest();
        let mut application = Self {
            rng,
            device: Arc::new(device),
            shared: Shared::default(),
            machine: Machine::default(),
            samplers: vec![(immutable, true, 0.5)],
            immutable,
            plain,
            late,
            steps: 0,
            could_conflict: false,
            views: Vec::new(),
            shapes: Vec::new(),
            templates: Vec::new(),
            push_template: vk::DescriptorUpdateTemplate::null(),
            layouts: Vec::new(),
            pipelines: Vec::new(),
            pools: Vec::new(),
            sets: Vec::new(),
            buffers: Vec::new(),
            left: HashSet::new(),
            log: Vec::new(),
            created: 0,
            faults,
            is_traced,
            tally: Tally::default(),
        };
        application.start();
        application
    }

    fn start(&mut self) {
        for (shape, bindings) in SHAPES.iter().enumerate() {
            let layout = self.set_layout(shape);
            self.shapes.push(layout);
            let entries: Vec<_> = bindings
                .iter()
                .enumerate()
                .filter(|(number, _)| Self::is_writable(shape, *number))
                .map(|(number, (ty, count))| {
                    let size = size_of::<Value>();
                    entry(number as u32, 0, *count, *ty, number * ARRAY as usize * size, size)
                })
                .collect();
            if shape == PUSHED {
                self.push_template = self.device.push_template(&entries);
                self.templates.push(self.push_template);
            } else {
                self.templates.push(self.device.template(layout, &entries));
            }
        }
        (0..4).for_each(|_| self.create_sampler());
        (0..5).for_each(|_| self.create_view());
        self.create_pools();
        (0..3).for_each(|_| self.create_pipeline());
        (0..SHAPES.len())
            .chain(0..SHAPES.len())
            .filter(|shape| *shape != PUSHED)
            .for_each(|shape| self.allocate(shape));
        (0..2).for_each(|_| self.create_buffer());
    }

    /// Sets whose image may be updated after a bind come from the first one, all others from either.
    fn create_pools(&mut self) {
        for flags in [vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND, vk::DescriptorPoolCreateFlags::empty()] {
            let info = vk::DescriptorPoolCreateInfo::default().flags(flags);
            let device = &self.device;
            let pool = create!(device.create_pool(&info));
            // SAFETY: a valid create info.
            unsafe { self.machine.pool(pool.as_raw(), &info) };
            self.pools.push(pool);
        }
    }

    /// The application of a thread, which has what is there in common with others, and pools and command buffers of its own.
    fn of_thread(&self, seed: u64) -> Self {
        let mut own = self.clone();
        (own.rng, own.buffers) = (Rng::with_seed(seed), Vec::new());
        own.shared = Shared {
            samplers: own.samplers.len(),
            views: own.views.len(),
            layouts: own.layouts.len(),
            pipelines: own.pipelines.len(),
            pools: own.pools.len(),
            sets: own.sets.len(),
        };
        own.create_pools();
        (0..2).for_each(|_| own.create_buffer());
        own
    }

    /// Whether there are others beside this one.
    fn is_one_of_several(&self) -> bool {
        self.shared.pools > 0
    }

    fn set_layout(&mut self, shape: usize) -> vk::DescriptorSetLayout {
        let immutable = [self.immutable];
        let mut flags = [vk::DescriptorBindingFlags::empty(); BINDINGS];
        let mut bindings: Vec<_> = SHAPES[shape]
            .iter()
            .enumerate()
            .map(|(number, (ty, count))| binding(number as u32, *ty, *count).stage_flags(Stage::ALL))
            .collect();
        let mut info = vk::DescriptorSetLayoutCreateInfo::default();
        match shape {
            LOOSE => {
                flags[0] = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
                info = info.flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL);
            }
            PUSHED => info = info.flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR),
            IMMUTABLE => bindings[1] = bindings[1].immutable_samplers(&immutable),
            _ if PARTIAL.contains(&shape) => flags[0] = vk::DescriptorBindingFlags::PARTIALLY_BOUND,
            _ => {}
        }
        let mut chained =
            vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags[..bindings.len()]);
        let info = info.bindings(&bindings).push_next(&mut chained);
        let layout = self.device.layout_of(&info);
        // SAFETY: a valid create info.
        unsafe { self.machine.layout(layout.as_raw(), &info) };
        layout
    }

    fn create_sampler(&mut self) {
        self.created += 1;
        let linear = self.rng.bool();
        // No two are of equal state, so that what stands in for one can be told from what stands in for another.
        let mark = 1.0 + self.created as f32;
        let mut info = linear_info().max_lod(mark);
        match (linear, self.rng.u8(0..3)) {
            (false, _) => info = info.mag_filter(Filter::NEAREST).min_filter(Filter::NEAREST),
            (true, 1) => info = info.min_filter(Filter::NEAREST),
            (true, 2) => {
                info = info.mag_filter(Filter::NEAREST).min_filter(Filter::NEAREST);
                info = info.mipmap_mode(vk::SamplerMipmapMode::LINEAR);
            }
            _ => {}
        }
        let sampler = self.device.sampler(&info);
        self.samplers.push((sampler, linear, mark));
    }

    /// From here on something can conflict: some sets get images that do not filter.
    fn begin_conflicts(&mut self) {
        while !self.could_conflict {
            self.create_view();
        }
        for _ in 0..4 {
            let shape = self.rng.usize(0..SHAPES.len());
            if shape != PUSHED {
                self.allocate(shape);
            }
        }
    }

    fn create_view(&mut self) {
        let format = if self.steps < self.late { 0 } else { self.rng.usize(0..2) };
        self.could_conflict |= format == 1;
        // Of cubes nothing is fetched, so whatever shaders read here they read through a sampler.
        let layers = vk::ImageCreateInfo { array_layers: 6, ..image_info(FORMATS[format]) };
        let image = self.device.image_with(&layers.flags(vk::ImageCreateFlags::CUBE_COMPATIBLE));
        let mut view = view_info(image, FORMATS[format]).view_type(vk::ImageViewType::CUBE);
        view.subresource_range.layer_count = 6;
        self.views.push((self.device.view_with(&view), image, format));
    }

    fn create_layout(&mut self, shapes: Vec<usize>) -> vk::PipelineLayout {
        let sets: Vec<_> = shapes.iter().map(|shape| self.shapes[*shape]).collect();
        let handle = self.device.pipeline_layout(&sets);
        // SAFETY: a valid create info.
        unsafe {
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            self.machine.pipeline_layout(handle.as_raw(), &info);
        }
        self.layouts.push(Layout { handle, shapes });
        handle
    }

    fn create_pipeline(&mut self) {
        let mut shapes: Vec<usize> = (0..self.rng.usize(1..5)).map(|_| self.rng.usize(0..SHAPES.len())).collect();
        // At most one set is pushed.
        let pushed = shapes.iter().position(|shape| *shape == PUSHED);
        for (number, shape) in shapes.iter_mut().enumerate() {
            if *shape == PUSHED && Some(number) != pushed {
                *shape = 0;
            }
        }
        let layout = self.create_layout(shapes.clone());
        let operand = |wanted: Ty, rng: &mut Rng| loop {
            let set = rng.usize(0..shapes.len());
            let binding = rng.usize(0..SHAPES[shapes[set]].len());
            let (ty, count) = SHAPES[shapes[set]][binding];
            if ty == wanted {
                let element = (count == 1 || rng.bool()).then(|| rng.u32(0..count));
                return Operand { set: set as u32, binding: binding as u32, count, element };
            }
        };
        let rng = &mut self.rng;
        let links: Vec<_> = (0..rng.usize(1..5)).map(|_| (operand(IMAGE, rng), operand(SAMPLER, rng))).collect();
        let graphics = rng.bool();
        let words = shader(if graphics { 4 } else { 5 }, &links);
        let point = if graphics { GRAPHICS } else { COMPUTE };
        if rng.u8(0..3) == 0 {
            let shaders = self.create_shaders(graphics, &words, &shapes);
            self.log.push(format!("shaders {shaders:?} of {shapes:?}, links {links:?}"));
            return self.pipelines.push(Pipeline { handle: vk::Pipeline::null(), shaders, shapes, point });
        }
        let module = self.create_module(&words);
        let handle;
        if graphics {
            let vertex_module = self.create_module(&shader(0, &[]));
            let stages = [stage(Stage::VERTEX, vertex_module), stage(Stage::FRAGMENT, module)];
            // Attachments that are referred to and not used, or none; arrays of nothing lead nowhere.
            let unused = vk::AttachmentReference { attachment: vk::ATTACHMENT_UNUSED, ..Default::default() };
            let colors = vec![unused; self.rng.usize(0..3)];
            let mut subpass = [vk::SubpassDescription::default().color_attachments(&colors)];
            subpass[0].p_input_attachments = dangling();
            subpass[0].p_preserve_attachments = dangling();
            if self.rng.bool() {
                subpass[0].p_depth_stencil_attachment = &unused;
            }
            let info = vk::RenderPassCreateInfo::default().subpasses(&subpass);
            let device = &self.device;
            let pass = create!(device.create_render_pass(&info));
            let mut dynamic = Vec::new();
            let is_open = self.rng.bool();
            if is_open {
                dynamic.extend([vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
            }
            if self.rng.bool() {
                dynamic.push(vk::DynamicState::VERTEX_INPUT_EXT);
            }
            let discards = self.rng.u8(0..4) == 0;
            self.created += 1;
            let width = (self.rng.u8(0..3) > 0).then_some(self.created as f32);
            if width.is_none() {
                dynamic.push(vk::DynamicState::LINE_WIDTH);
            }
            let mut states = States::new(&dynamic);
            if is_open {
                (states.viewport.p_viewports, states.viewport.p_scissors) = (dangling(), dangling());
            }
            states.raster = states.raster.line_width(width.unwrap_or(1.0)).rasterizer_discard_enable(discards);
            let mut info = states.info(&stages).layout(layout).render_pass(pass);
            info.base_pipeline_handle = vk::Pipeline::from_raw(dangling_handle());
            // There are no tessellation shaders, and no attachments that are used.
            info.p_tessellation_state = dangling();
            (info.p_depth_stencil_state, info.p_color_blend_state) = (dangling(), dangling());
            if dynamic.contains(&vk::DynamicState::VERTEX_INPUT_EXT) {
                info.p_vertex_input_state = dangling();
            }
            if discards {
                (info.p_viewport_state, info.p_multisample_state) = (dangling(), dangling());
            }
            handle = device.graphics_with(&info);
            self.machine.pipeline(handle.as_raw(), layout.as_raw(), &[vertex_module.as_raw(), module.as_raw()]);
            width.iter().for_each(|width| self.machine.set_static_width(handle.as_raw(), *width));
            device.destroy_render_pass(pass);
            // Nothing, with either allocator.
            let own = if self.rng.bool() { allocator() } else { ptr::null() };
            call!(device.destroy_render_pass(device.raw, vk::RenderPass::null(), own));
            call!(device.destroy_pipeline(device.raw, vk::Pipeline::null(), own));
            call!(device.destroy_module(device.raw, vk::ShaderModule::null(), own));
            self.destroy_module(vertex_module);
        } else {
            let stage = stage(Stage::COMPUTE, module);
            let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
            let device = &self.device;
            handle = device.compute_with(&info);
            self.machine.pipeline(handle.as_raw(), layout.as_raw(), &[module.as_raw()]);
        }
        self.destroy_module(module);
        self.log.push(format!("pipeline {handle:?} of {shapes:?}, links {links:?}, graphics: {graphics}"));
        self.pipelines.push(Pipeline { handle, shaders: Vec::new(), shapes, point });
    }

    /// A compute shader of these words, or a fragment shader with a vertex shader, perhaps linked.
    fn create_shaders(&mut self, graphics: bool, words: &[u32], shapes: &[usize]) -> Vec<(Stage, vk::ShaderEXT)> {
        let sets: Vec<_> = shapes.iter().map(|shape| self.shapes[*shape]).collect();
        let (own, vertex) = (bytes_of(words), bytes_of(&shader(0, &[])));
        let of = |stage, code| shader_info(stage, code).set_layouts(&sets);
        let (stages, infos) = if graphics {
            let linked = if self.rng.bool() { vk::ShaderCreateFlagsEXT::LINK_STAGE } else { Default::default() };
            let vertex = of(Stage::VERTEX, &vertex).next_stage(Stage::FRAGMENT).flags(linked);
            (vec![Stage::VERTEX, Stage::FRAGMENT], vec![vertex, of(Stage::FRAGMENT, &own).flags(linked)])
        } else {
            (vec![Stage::COMPUTE], vec![of(Stage::COMPUTE, &own)])
        };
        let mut made = vec![vk::ShaderEXT::null(); infos.len()];
        let (device, count, out) = (&self.device, infos.len() as u32, made.as_mut_ptr());
        assert_eq!(call!(device.create_shaders(device.raw, count, infos.as_ptr(), allocator(), out)), SUCCESS);
        for (info, shader) in infos.iter().zip(&made) {
            // SAFETY: the create info of a shader that was made.
            unsafe { self.machine.shader(shader.as_raw(), info) };
        }
        if infos[0].flags.contains(vk::ShaderCreateFlagsEXT::LINK_STAGE) {
            let linked: Vec<u64> = made.iter().map(|shader| shader.as_raw()).collect();
            self.machine.link(&linked);
        }
        stages.into_iter().zip(made).collect()
    }

    /// Binds shader objects at once, one by one, or some of them, or none.
    fn bind_shaders(&mut self, at: usize, shaders: &[(Stage, vk::ShaderEXT)]) {
        let commands = self.buffers[at].handle;
        let (mut stages, mut handles): (Vec<_>, Vec<_>) = shaders.iter().copied().unzip();
        match self.rng.u8(0..6) {
            0 => handles.clear(),
            1 => {
                stages.truncate(1);
                handles.truncate(1);
            }
            2 => {
                stages.reverse();
                handles.reverse();
            }
            _ => {}
        }
        let calls = if self.rng.u8(0..4) == 0 { stages.len() } else { 1 };
        let size = stages.len() / calls;
        for call in 0..calls {
            let stages = &stages[call * size..][..size];
            let handles = if handles.is_empty() { &[][..] } else { &handles[call * size..][..size] };
            self.log.push(format!("{commands:?}: bind {stages:?} {handles:?}"));
            let pointer = if handles.is_empty() { ptr::null() } else { handles.as_ptr() };
            let device = &self.device;
            call!(device.bind_shaders(commands, stages.len() as u32, stages.as_ptr(), pointer));
            self.machine.bind_shaders(commands.as_raw(), stages, handles);
            self.look(at);
        }
    }

    fn create_module(&mut self, words: &[u32]) -> vk::ShaderModule {
        let device = &self.device;
        let module = device.module(words);
        self.machine.module(module.as_raw(), words);
        module
    }

    fn destroy_module(&mut self, module: vk::ShaderModule) {
        self.device.destroy_module(module);
        self.machine.destroy_module(module.as_raw());
    }

    fn create_buffer(&mut self) {
        let pool = self.device.command_pool();
        let [handle] = self.device.command_buffers(pool);
        self.buffers.push(Buffer {
            handle,
            pool,
            is_early: false,
            asked: HashSet::new(),
            is_valid: false,
            uses: HashSet::new(),
            draws: Vec::new(),
        });
    }

    // ---- sets ----

    fn allocate(&mut self, shape: usize) {
        let pool = self.rng.usize(self.shared.pools..self.pools.len());
        let pool = if shape == LOOSE { self.shared.pools } else { pool };
        let handle = self.device.sets(self.pools[pool], &[self.shapes[shape]])[0];
        self.machine.allocate(self.pools[pool].as_raw(), self.shapes[shape].as_raw(), handle.as_raw());
        self.log.push(format!("allocate {handle:?} of shape {shape}"));
        self.sets.push(Set { handle, shape, pool, is_fixed: false });
        if self.rng.u8(0..8) > 0 {
            self.write_all(self.sets.len() - 1);
        }
    }

    /// What was recorded with this is invalid from now on.
    fn touch(&mut self, handle: u64) {
        for buffer in self.buffers.iter_mut().filter(|buffer| buffer.uses.contains(&handle)) {
            buffer.is_valid = false;
        }
    }

    fn value(&mut self, ty: Ty) -> Value {
        match ty {
            SAMPLER => [self.rng.choice(&self.samplers).expect("there are some").0.as_raw(), 0, 0],
            IMAGE | COMBINED | Ty::INPUT_ATTACHMENT | Ty::STORAGE_IMAGE => {
                let sampler = if ty == COMBINED { self.plain.as_raw() } else { 0 };
                [sampler, self.rng.choice(&self.views).map_or(0, |view| view.0.as_raw()), 0]
            }
            Ty::INLINE_UNIFORM_BLOCK => [self.rng.u64(..), self.rng.u64(..), 0],
            // Handles that nothing else has.
            _ => [0x7eee_0000_0000 + self.rng.u64(1..1000), 0, 0x100],
        }
    }

    fn info(&mut self, ty: Ty) -> vk::DescriptorImageInfo {
        image(&self.value(ty))
    }

    /// Bindings of a shape that are written: number, type and values, of which a block is one.
    fn writable(shape: usize) -> impl Iterator<Item = (usize, Ty, u32)> {
        let all = SHAPES[shape].iter().enumerate().filter(move |(number, _)| Self::is_writable(shape, *number));
        all.map(|(number, (ty, count))| (number, *ty, if *ty == Ty::INLINE_UNIFORM_BLOCK { 1 } else { *count }))
    }

    fn is_writable(shape: usize, number: usize) -> bool {
        SHAPES[shape][number].0 != DYNAMIC && (shape, number) != (IMMUTABLE, 1)
    }

    /// Elements of a binding that are written where all are: of a block all bytes at once, of those that need not be there only some.
    fn elements(&mut self, shape: usize, (number, count): (usize, u32)) -> Vec<u32> {
        let is_partial = PARTIAL.contains(&shape) && number == 0;
        (0..count).filter(|_| !is_partial || self.rng.u8(0..3) > 0).collect()
    }

    fn write_all(&mut self, index: usize) {
        let set = self.sets[index].clone();
        if self.rng.bool() && !PARTIAL.contains(&set.shape) {
            return self.write_with_template(&set);
        }
        let mut all = Vec::new();
        for (number, _, count) in Self::writable(set.shape) {
            let elements = self.elements(set.shape, (number, count));
            all.extend(elements.into_iter().map(|element| (number, element, 1)));
        }
        if self.rng.bool() {
            return self.write(&set, &all);
        }
        all.iter().for_each(|one| self.write(&set, &[*one]));
    }

    /// Takes over descriptors in the application's own machine.
    fn note(&mut self, set: u64, ty: Ty, (number, element): (u32, u32), values: &[Value]) {
        if ty == SAMPLER || ty == IMAGE {
            let infos: Vec<_> = values.iter().map(image).collect();
            return self.machine.write(set, ty, (number, element), &infos);
        }
        let others: Vec<_> = values.iter().flat_map(|value| others(ty, value)).collect();
        self.machine.write_others(set, (number, element), &others);
    }

    /// Writes so many descriptors from a binding and an element on, all in one call.
    fn write(&mut self, set: &Set, all: &[(usize, u32, u32)]) {
        let values: Vec<Vec<Value>> = all
            .iter()
            .map(|(number, _, count)| (0..*count).map(|_| self.value(SHAPES[set.shape][*number].0)).collect())
            .collect();
        let handles: Vec<Vec<u64>> =
            values.iter().map(|values| values.iter().map(|value| value[0]).collect()).collect();
        let block = |values: &Vec<Value>| vk::WriteDescriptorSetInlineUniformBlock {
            data_size: BLOCK,
            p_data: values.as_ptr().cast(),
            ..Default::default()
        };
        let blocks: Vec<_> = values.iter().map(block).collect();
        let images: Vec<Vec<_>> = values.iter().map(|values| values.iter().map(image).collect()).collect();
        let mut writes = Vec::new();
        for (at, (number, element, count)) in all.iter().enumerate() {
            let ty = SHAPES[set.shape][*number].0;
            self.log.push(format!("write {:?} {number}[{element}] {ty:?} {:x?}", set.handle, values[at]));
            let write = vk::WriteDescriptorSet::default().dst_set(set.handle).dst_binding(*number as u32);
            let mut write = write.dst_array_element(*element).descriptor_type(ty);
            write.descriptor_count = *count;
            match ty {
                Ty::INLINE_UNIFORM_BLOCK => {
                    write.descriptor_count = BLOCK;
                    write.p_next = (&raw const blocks[at]).cast();
                }
                Ty::UNIFORM_TEXEL_BUFFER | Ty::STORAGE_TEXEL_BUFFER => {
                    write.p_texel_buffer_view = handles[at].as_ptr().cast()
                }
                Ty::STORAGE_BUFFER => write.p_buffer_info = values[at].as_ptr().cast(),
                _ => write.p_image_info = images[at].as_ptr(),
            }
            writes.push(write);
        }
        self.device.update(&writes, &[]);
        for ((number, element, _), values) in all.iter().zip(&values) {
            self.note(set.handle.as_raw(), SHAPES[set.shape][*number].0, (*number as u32, *element), values);
        }
        if set.shape != LOOSE || all.iter().any(|(number, ..)| *number != 0) {
            self.touch(set.handle.as_raw());
        }
    }

    fn write_with_template(&mut self, set: &Set) {
        let mut data = [Value::default(); BINDINGS * ARRAY as usize];
        for (number, ty, count) in Self::writable(set.shape) {
            for element in 0..count {
                let value = self.value(ty);
                data[number * ARRAY as usize + element as usize] = value;
                self.note(set.handle.as_raw(), ty, (number as u32, element), &[value]);
            }
        }
        self.log.push(format!("template {:?} {data:x?}", set.handle));
        self.device.update_with_template(set.handle, self.templates[set.shape], data.as_ptr().cast());
        self.touch(set.handle.as_raw());
    }

    /// Copies a binding from a set of the same shape, or one descriptor from a set of any.
    fn copy(&mut self, set: &Set) {
        // Also the pools are alike then (VUID-VkCopyDescriptorSet-srcSet-01920).
        let is_like = |other: &&Set| other.pool == set.pool && (other.shape == LOOSE) == (set.shape == LOOSE);
        let is_other = |other: &&Set| is_like(other) && !other.is_fixed && other.handle != set.handle;
        let same = self.rng.bool();
        let fits = |other: &&Set| is_other(other) && (!same || other.shape == set.shape);
        let others: Vec<Set> = self.sets.iter().filter(fits).cloned().collect();
        let Some(from) = self.rng.choice(&others) else { return };
        let number = self.rng.usize(0..SHAPES[set.shape].len());
        if !Self::is_writable(set.shape, number) {
            return;
        }
        let (ty, count) = SHAPES[set.shape][number];
        let mut copy = vk::CopyDescriptorSet::default()
            .src_set(from.handle)
            .src_binding(number as u32)
            .dst_set(set.handle)
            .dst_binding(number as u32)
            .descriptor_count(count);
        if !same {
            let fitting: Vec<_> = (0..).zip(SHAPES[from.shape]).filter(|(_, (other, _))| *other == ty).collect();
            let Some((source, (_, length))) = self.rng.choice(fitting) else { return };
            if ty != Ty::INLINE_UNIFORM_BLOCK {
                copy = copy.src_array_element(self.rng.u32(0..*length)).dst_array_element(self.rng.u32(0..count));
                copy = copy.descriptor_count(1);
            }
            copy = copy.src_binding(source);
        }
        self.log.push(format!("copy {copy:?}"));
        self.device.update(&[], &[copy]);
        self.machine.copy(&copy);
        self.touch(set.handle.as_raw());
    }

    fn change_set(&mut self) {
        let some = self.some_own(self.shared.sets, self.sets.len());
        let Some(index) = some.filter(|index| !self.sets[*index].is_fixed) else { return };
        let set = self.sets[index].clone();
        match self.rng.u8(0..4) {
            0 if !PARTIAL.contains(&set.shape) => self.write_with_template(&set),
            1 => self.copy(&set),
            _ => {
                let number = self.rng.usize(0..SHAPES[set.shape].len());
                if Self::is_writable(set.shape, number) {
                    let (ty, count) = SHAPES[set.shape][number];
                    let count = if ty == Ty::INLINE_UNIFORM_BLOCK { 1 } else { count };
                    let element = self.rng.u32(0..count);
                    let count = self.rng.clone().u32(1..=count - element);
                    self.write(&set, &[(number, element, count)]);
                }
            }
        }
    }

    fn some(&mut self, count: usize) -> Option<usize> {
        self.some_own(0, count)
    }

    /// One of a list that begins with what others use too.
    fn some_own(&mut self, shared: usize, count: usize) -> Option<usize> {
        (count > shared).then(|| self.rng.usize(shared..count))
    }

    fn remove_sets(&mut self) {
        if self.rng.u8(0..4) == 0 {
            let pool = self.rng.usize(self.shared.pools..self.pools.len());
            self.log.push(format!("reset {:?}", self.pools[pool]));
            let gone: Vec<Set> = self.sets.iter().filter(|set| set.pool == pool).cloned().collect();
            gone.iter().for_each(|set| self.touch(set.handle.as_raw()));
            self.device.reset_pool(self.pools[pool]);
            self.machine.reset_pool(self.pools[pool].as_raw());
            self.sets.retain(|set| set.pool != pool);
        } else if let Some(index) = self.some_own(self.shared.sets, self.sets.len()) {
            let set = self.sets.swap_remove(index);
            self.log.push(format!("free {:?}", set.handle));
            self.touch(set.handle.as_raw());
            self.device.free(self.pools[set.pool], &[set.handle]);
            self.machine.free(set.handle.as_raw());
        }
    }

    // ---- what goes ----

    /// A descriptor that is gone invalidates what was recorded with its sets.
    fn touch_sets_with(&mut self, handle: u64) {
        let with = |set: &&Set| {
            let content = self.machine.content(set.handle.as_raw());
            content.is_some_and(|content| content.values().any(|(sampler, view)| [*sampler, *view].contains(&handle)))
        };
        let sets: Vec<Set> = self.sets.iter().filter(with).cloned().collect();
        for set in sets {
            let content = self.machine.content(set.handle.as_raw()).expect("a set that lives");
            let is_needed = |((number, _), (sampler, view)): (&(u32, u32), &(u64, u64))| {
                let may_lack = PARTIAL.contains(&set.shape) && *number == 0;
                !may_lack && [*sampler, *view].contains(&handle)
            };
            if content.iter().any(is_needed) {
                self.touch(set.handle.as_raw());
                continue;
            }
            // Of those that need not be there only what is read counts.
            let reads =
                |buffer: &&mut Buffer| buffer.uses.contains(&set.handle.as_raw()) && buffer.asked.contains(&handle);
            self.buffers.iter_mut().filter(reads).for_each(|buffer| buffer.is_valid = false);
        }
        // Pushed ones are not looked for.
        self.buffers.iter_mut().filter(|buffer| buffer.uses.contains(&0)).for_each(|buffer| buffer.is_valid = false);
    }

    fn remove_sampler(&mut self) {
        if self.samplers.len() > self.shared.samplers.max(3) {
            let index = self.rng.usize(self.shared.samplers.max(1)..self.samplers.len());
            let (sampler, ..) = self.samplers.swap_remove(index);
            self.log.push(format!("destroy {sampler:?}"));
            self.touch_sets_with(sampler.as_raw());
            self.device.destroy_sampler(sampler);
            self.machine.gone(sampler.as_raw());
        }
    }

    fn remove_view(&mut self) {
        if self.views.len() > self.shared.views.max(2) {
            let index = self.rng.usize(self.shared.views..self.views.len());
            let (view, image, _) = self.views.swap_remove(index);
            self.log.push(format!("destroy {view:?}"));
            self.touch_sets_with(view.as_raw());
            self.device.destroy_view(view);
            self.device.destroy_image(image);
            self.machine.gone(view.as_raw());
        }
    }

    fn remove_pipeline(&mut self) {
        if let Some(index) = self.some_own(self.shared.pipelines, self.pipelines.len()) {
            let Pipeline { handle: pipeline, shaders, .. } = self.pipelines.swap_remove(index);
            self.log.push(format!("destroy {pipeline:?} {shaders:?}"));
            for handle in shaders.iter().map(|(_, shader)| shader.as_raw()).chain([pipeline.as_raw()]) {
                if handle != 0 {
                    self.touch(handle);
                    self.machine.destroy_pipeline(handle);
                }
            }
            self.destroy(pipeline, &shaders);
        }
    }

    fn destroy(&self, pipeline: vk::Pipeline, shaders: &[(Stage, vk::ShaderEXT)]) {
        let device = &self.device;
        if shaders.is_empty() {
            device.destroy_pipeline(pipeline);
        }
        for (_, shader) in shaders {
            device.destroy_shader(*shader);
        }
    }

    fn remove_layout(&mut self) {
        if self.rng.bool() || self.is_one_of_several() {
            let Some(index) = self.some_own(self.shared.layouts, self.layouts.len()) else { return };
            let layout = self.layouts.swap_remove(index).handle;
            self.log.push(format!("destroy {layout:?}"));
            self.destroy_pipeline_layout(layout);
        } else {
            let shape = self.rng.usize(0..SHAPES.len());
            self.log.push(format!("destroy the layout of shape {shape} and make another"));
            let old = self.shapes[shape];
            self.device.destroy_layout(old);
            self.machine.destroy_layout(old.as_raw());
            self.sets.iter_mut().filter(|set| set.shape == shape).for_each(|set| set.is_fixed = true);
            self.shapes[shape] = self.set_layout(shape);
        }
    }

    fn destroy_pipeline_layout(&mut self, layout: vk::PipelineLayout) {
        self.device.destroy_pipeline_layout(layout);
        self.machine.destroy_pipeline_layout(layout.as_raw());
    }

    // ---- recording ----

    /// A command buffer to record into.
    fn buffer(&mut self) -> usize {
        let index = self.rng.usize(0..self.buffers.len());
        if !self.buffers[index].is_valid || self.rng.u8(0..20) == 0 {
            self.begin(index);
        }
        index
    }

    fn begin(&mut self, index: usize) {
        let device = &self.device;
        if self.rng.u8(0..6) == 0 {
            // The handle comes back at once.
            let Buffer { handle, pool, .. } = self.buffers[index];
            call!(device.free_command_buffers(device.raw, pool, 1, &handle));
            self.machine.clear(handle.as_raw());
            [self.buffers[index].handle] = device.command_buffers(pool);
        }
        let buffer = &mut self.buffers[index];
        self.log.push(format!("begin {:?}", buffer.handle));
        device.begin(buffer.handle);
        self.machine.clear(buffer.handle.as_raw());
        (buffer.is_valid, buffer.uses, buffer.draws) = (true, HashSet::new(), Vec::new());
        (buffer.is_early, buffer.asked) = (!self.could_conflict, HashSet::new());
    }

    /// Resets a command buffer, by itself or with its pool, whatever goes on in it.
    fn reset(&mut self) {
        let index = self.rng.usize(0..self.buffers.len());
        let buffer = &mut self.buffers[index];
        (buffer.is_valid, buffer.uses, buffer.draws) = (false, HashSet::new(), Vec::new());
        let (device, commands, pool) = (&self.device, buffer.handle, buffer.pool);
        let with_pool = self.rng.bool();
        self.log.push(format!("reset {commands:?}, with its pool: {with_pool}"));
        let result = match with_pool {
            true => call!(device.reset_command_pool(device.raw, pool, vk::CommandPoolResetFlags::empty())),
            false => call!(device.reset_command_buffer(commands, vk::CommandBufferResetFlags::empty())),
        };
        assert_eq!(result, SUCCESS);
        self.machine.clear(commands.as_raw());
    }

    fn bind_pipeline(&mut self) {
        let Some(index) = self.some(self.pipelines.len()) else { return };
        let Pipeline { handle, point, shaders, .. } = self.pipelines[index].clone();
        let at = self.buffer();
        if point == GRAPHICS && self.machine.feeds_back(self.buffers[at].handle.as_raw()) {
            return;
        }
        if !shaders.is_empty() {
            self.buffers[at].uses.extend(shaders.iter().map(|(_, shader)| shader.as_raw()));
            return self.bind_shaders(at, &shaders);
        }
        let commands = self.buffers[at].handle;
        self.log.push(format!("{commands:?}: bind {handle:?}"));
        self.buffers[at].uses.insert(handle.as_raw());
        self.device.bind_pipeline(commands, point, handle);
        self.machine.bind_pipeline(commands.as_raw(), crate::driver::machine::place(point), handle.as_raw());
        self.look(at);
    }

    /// Binds sets of a pipeline's shapes: all of them or some in a row.
    fn bind_sets(&mut self) {
        let Some(index) = self.some(self.pipelines.len()) else { return };
        let Pipeline { shapes, point, .. } = self.pipelines[index].clone();
        let same: Vec<_> = self.layouts.iter().filter(|layout| layout.shapes == shapes).map(|l| l.handle).collect();
        let layout = match self.rng.choice(&same) {
            Some(layout) => *layout,
            None => self.create_layout(shapes.clone()),
        };
        let at = self.buffer();
        let commands = self.buffers[at].handle;
        let mut first = if self.rng.bool() { 0 } else { self.rng.usize(0..shapes.len()) };
        while first < shapes.len() {
            if shapes[first] == PUSHED {
                self.push(at, layout, first as u32, point);
                first += 1;
                continue;
            }
            let (mut sets, mut offsets) = (Vec::new(), Vec::new());
            for shape in shapes[first..].iter().take_while(|shape| **shape != PUSHED) {
                if !self.sets.iter().any(|set| set.shape == *shape) {
                    self.allocate(*shape);
                }
                let fitting: Vec<_> = self.sets.iter().filter(|set| set.shape == *shape).map(|s| s.handle).collect();
                sets.push(*self.rng.choice(&fitting).expect("there is one"));
                if *shape == 3 {
                    offsets.push(self.rng.u32(0..4) * 256);
                }
            }
            // A set that was just allocated and written may have invalidated nothing: nobody used it.
            self.log.push(format!("{commands:?}: bind {sets:?} at {first} {point:?} {offsets:?}"));
            self.buffers[at].uses.extend(sets.iter().map(|set| set.as_raw()));
            let (count, raw) = (sets.len(), commands.as_raw());
            let device = &self.device;
            if self.rng.u8(0..4) == 0 {
                let stages = if point == GRAPHICS { Stage::ALL_GRAPHICS } else { Stage::COMPUTE };
                let info = vk::BindDescriptorSetsInfoKHR::default()
                    .stage_flags(stages)
                    .layout(layout)
                    .first_set(first as u32)
                    .descriptor_sets(&sets)
                    .dynamic_offsets(&offsets);
                call!(device.bind_sets2(commands, &info));
            } else {
                device.bind_sets_at(commands, point, (layout, first as u32), &sets, &offsets);
            }
            let place = crate::driver::machine::place(point);
            self.machine.bind_sets(raw, place, layout.as_raw(), first as u32, &sets, &offsets);
            first += count;
            self.look(at);
            if self.rng.u8(0..3) == 0 {
                break;
            }
        }
    }

    fn push(&mut self, at: usize, layout: vk::PipelineLayout, number: u32, point: Point) {
        let commands = self.buffers[at].handle;
        let (image, sampler) = (self.info(IMAGE), self.info(SAMPLER));
        // A pair of its own, which may conflict, and which goes with what it names.
        let both = vk::DescriptorImageInfo { sampler: self.info(SAMPLER).sampler, ..self.info(IMAGE) };
        let infos = [image, sampler, both];
        self.buffers[at].asked.extend([both.sampler.as_raw(), both.image_view.as_raw()]);
        let all = self.rng.u8(0..3) > 0;
        let only = self.rng.usize(0..3);
        self.log.push(format!("{commands:?}: push {infos:?} at {number} {point:?}, all: {all}, only {only}"));
        self.buffers[at].uses.insert(0);
        let place = crate::driver::machine::place(point);
        let raw = layout.as_raw();
        let device = &self.device;
        if all && place == 1 && self.rng.bool() {
            let mut data = [Value::default(); BINDINGS * ARRAY as usize];
            (0..3).for_each(|number| {
                let info = &infos[number];
                let value = [info.sampler.as_raw(), info.image_view.as_raw(), info.image_layout.as_raw() as u64];
                data[number * ARRAY as usize] = value;
            });
            let data = data.as_ptr().cast();
            call!(device.push_with_template(commands, self.push_template, layout, number, data));
        } else {
            let writes: Vec<_> = PUSHES
                .into_iter()
                .enumerate()
                .filter(|(binding, _)| all || *binding == only)
                .map(|(binding, ty)| {
                    vk::WriteDescriptorSet::default()
                        .dst_binding(binding as u32)
                        .descriptor_type(ty)
                        .image_info(&infos[binding..=binding])
                })
                .collect();
            call!(device.push(commands, point, layout, number, writes.len() as u32, writes.as_ptr()));
        }
        for (binding, ty) in PUSHES.into_iter().enumerate().filter(|(binding, _)| all || *binding == only) {
            let info = &infos[binding..=binding];
            self.machine.push(commands.as_raw(), place, (raw, number), ty, (binding as u32, 0), info);
        }
        self.look(at);
    }

    /// Sets a state that is static in some pipelines.
    fn set_line_width(&mut self) {
        let at = self.buffer();
        let (commands, width) = (self.buffers[at].handle, self.rng.f32());
        self.log.push(format!("{commands:?}: line width {width}"));
        let device = &self.device;
        call!(device.set_line_width(commands, width));
        self.machine.set_line_width(commands.as_raw(), width);
        self.look(at);
    }

    /// Begins transform feedback, or ends it.
    fn feed_back(&mut self) {
        // What is left then is told of in a trace, which threads have none of.
        if self.is_one_of_several() {
            return;
        }
        let at = self.buffer();
        let commands = self.buffers[at].handle;
        let raw = commands.as_raw();
        let active = !self.machine.feeds_back(raw);
        if active && (self.machine.draw(raw, 0).is_err() || self.machine.bound_pipeline(raw, 0) == 0) {
            return;
        }
        self.log.push(format!("{commands:?}: feedback {active}"));
        self.device.feed_back(commands, active);
        self.machine.set_feedback(raw, active);
        self.look(at);
    }

    /// Sets of a bind point give way to descriptors in memory.
    fn set_offsets(&mut self) {
        let at = self.buffer();
        let (commands, point) = (self.buffers[at].handle, usize::from(self.rng.bool()));
        self.log.push(format!("{commands:?}: offsets at {point}"));
        let device = &self.device;
        let (layout, none, offsets) = (vk::PipelineLayout::null(), ptr::null(), ptr::null());
        call!(device.set_descriptor_buffer_offsets(commands, POINTS[point], layout, 0, 0, none, offsets));
        self.machine.forget_sets(commands.as_raw(), point);
    }

    /// For commands of which nothing is known everything is bound as the application has it.
    fn generate_commands(&mut self) {
        let at = self.buffer();
        let commands = self.buffers[at].handle;
        // They draw, so what is bound has to be whole (VUID-vkCmdExecuteGeneratedCommandsNV-None-08608, -08600).
        if self.machine.draw(commands.as_raw(), 0).is_err() {
            return;
        }
        self.log.push(format!("{commands:?}: generated commands"));
        let device = &self.device;
        call!(device.execute_generated_commands_nv(commands, vk::FALSE, ptr::dangling()));
        device.driver.check();
        let raw = commands.as_raw();
        for point in (0..2).filter(|point| *point == 1 || !self.machine.feeds_back(raw)) {
            let Ok(asked) = self.machine.draw(raw, point) else { continue };
            let machine = lock(&device.driver.machine);
            assert_eq!(machine.bound_pipeline(raw, point), self.machine.bound_pipeline(raw, point));
            assert_eq!(machine.draw(raw, point).as_ref(), Ok(&asked), "another read");
        }
        self.look(at);
    }

    fn execute_commands(&mut self) {
        let at = self.buffer();
        let commands = self.buffers[at].handle;
        // VUID-vkCmdExecuteCommands-None-02286
        if self.machine.feeds_back(commands.as_raw()) {
            return;
        }
        let device = &self.device;
        self.log.push(format!("{commands:?}: execute commands"));
        call!(device.execute_commands(commands, 0, ptr::null()));
        self.machine.clear(commands.as_raw());
    }

    // ---- the oracle ----

    fn is_legal(&self, sampler: u64, view: u64) -> bool {
        let Some(model) = self.device.driver.sampler(sampler) else { return false };
        let linear = model.info.mag_filter == Filter::LINEAR
            || model.info.min_filter == Filter::LINEAR
            || model.info.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
        let format = self.views.iter().find(|(other, ..)| other.as_raw() == view).map(|(_, _, format)| *format);
        !linear || format == Some(0)
    }

    /// Draws or not, and compares what the shaders of a command buffer read by what the application has called with what they read in
    /// truth.
    fn look(&mut self, at: usize) {
        if self.rng.u8(0..3) == 0 {
            return self.device.driver.check();
        }
        self.device.driver.check();
        assert!(self.machine.errors.is_empty(), "the application is wrong: {:#?}", self.machine.errors);
        let commands = self.buffers[at].handle.as_raw();
        for (point, bind_point) in POINTS.into_iter().enumerate().take(2) {
            // What may not be recorded says nothing.
            let Ok(asked) = self.machine.draw(commands, point) else { continue };
            // Nor does what reads through a sampler that is not there (VUID-vkCmdDraw-None-08114).
            if asked.iter().any(|read| read.handle == 0 && !read.may_lack) {
                continue;
            }
            self.buffers[at].asked.extend(asked.iter().flat_map(|read| [read.handle, read.view]));
            self.device.act(self.buffers[at].handle, bind_point);
            self.device.driver.check();
            let (found, snapshot) = {
                let machine = lock(&self.device.driver.machine);
                (machine.draw(commands, point), machine.snapshot(commands, point))
            };
            let found = found.unwrap_or_else(|why| panic!("a valid draw is broken: {why}"));
            assert_eq!(asked.len(), found.len());
            let width = |machine: &Machine| machine.line_width(commands);
            let has_width =
                point == 0 && self.machine.bound_pipeline(commands, 0) != 0 && width(&self.machine).is_some();
            if has_width {
                assert_eq!(width(&self.machine), width(&lock(&self.device.driver.machine)), "another state");
            }
            self.tally.draws += u64::from(!asked.is_empty());
            let pipeline = self.machine.bound_pipeline(commands, point);
            let actual = lock(&self.device.driver.machine).bound_pipeline(commands, point);
            self.tally.split += u64::from(pipeline != actual);
            for (asked, found) in asked.iter().zip(&found) {
                self.compare((pipeline, at), asked, found);
            }
            self.compare_copies(commands, point, &asked);
            self.compare_pushes(commands, point);
            for set in self.machine.bound_sets(commands) {
                let machine = lock(&self.device.driver.machine);
                assert_eq!(
                    self.machine.content(set),
                    machine.content(set),
                    "set {set:#x} of the application is changed"
                );
            }
            if let Some(snapshot) = snapshot {
                // What the application has not bound or pushed is not read.
                let is_read = |(asked, found): &(&Read, &Read)| !found.is_loose && asked.handle != 0 && asked.view != 0;
                let reads = asked.iter().zip(&found).filter(is_read).map(|(_, read)| (read.handle, read.view));
                self.buffers[at].draws.push((snapshot, reads.collect()));
            }
        }
    }

    /// What is bound in place of a set has all that is in it but for samplers.
    fn compare_copies(&self, commands: u64, point: usize, asked: &[Read]) {
        let machine = lock(&self.device.driver.machine);
        let bound = self.machine.sets_at(commands, point).into_iter().zip(machine.sets_at(commands, point));
        for (number, (own, other)) in (0..).zip(bound) {
            // At other numbers what was there before may stay, where a bind has not gone down yet.
            let is_read = asked.iter().any(|read| [read.image.0, read.sampler.0].contains(&number));
            if is_read && own != other && own != 0 && machine.layout_is_same(own, other) {
                assert_eq!(machine.others(own), machine.others(other), "{other:#x} is bound in place of {own:#x}");
            }
        }
    }

    fn compare(&mut self, (pipeline, at): (u64, usize), asked: &Read, found: &Read) {
        assert_eq!((asked.image, &asked.offsets), (found.image, &found.offsets), "another descriptor is read");
        // What was not pushed is not read. Something may be there all the same: what was pushed before a set that did not go down.
        if asked.view == 0 || asked.handle == 0 {
            return;
        }
        assert_eq!(asked.view, found.view, "another image is read");
        if self.is_legal(asked.handle, asked.view) {
            self.tally.legal += 1;
            let own = found.handle == asked.handle || (asked.is_loose && self.is_legal(found.handle, found.view));
            assert!(own, "{asked:x?} is legal and reads {found:x?}");
            return;
        }
        if found.handle != asked.handle {
            self.tally.repaired += 1;
            assert!(self.is_legal(found.handle, found.view), "{asked:x?} is repaired by {found:x?}");
            let of = |handle| self.device.driver.sampler(handle).expect("a live sampler").info.max_lod;
            assert_eq!(of(asked.handle), of(found.handle), "{asked:x?} has got the sampler of another");
        } else if !asked.is_loose && self.buffers[at].is_early {
            // It is told of as far as it can be known when its pipeline is bound.
            self.tally.early += 1;
        } else if !asked.is_loose {
            let may_be_left = !self.is_one_of_several() || asked.handle == self.immutable.as_raw();
            assert!(may_be_left, "nothing keeps {asked:x?} from being repaired");
            self.tally.told += 1;
            let place = |(set, binding, _): Place| (set, binding);
            self.left.insert((pipeline, place(asked.image), place(asked.sampler)));
        }
    }

    /// What was pushed with image and sampler in one descriptor is legal below, whoever pushed it last.
    fn compare_pushes(&mut self, commands: u64, point: usize) {
        for number in 0..4 {
            let asked = self.machine.pushed(commands, point, number, (2, 0));
            let found = lock(&self.device.driver.machine).pushed(commands, point, number, (2, 0));
            let Some(((sampler, view), found)) = asked.zip(found).filter(|((_, view), _)| *view != 0) else { continue };
            assert_eq!(view, found.1, "another image is pushed");
            match self.is_legal(sampler, view) {
                true => assert_eq!(sampler, found.0, "a legal pair is pushed with another sampler"),
                false => assert!(self.is_legal(found.0, view), "{sampler:#x} is pushed with {view:#x}"),
            }
        }
    }

    /// What was recorded and is still valid could be executed now.
    fn execute(&mut self) {
        for buffer in self.buffers.iter().filter(|buffer| buffer.is_valid) {
            for (snapshot, reads) in &buffer.draws {
                if let Some(why) = lock(&self.device.driver.machine).broken(snapshot) {
                    panic!("{:?} cannot be executed: {why}", buffer.handle);
                }
                for (sampler, _) in reads.iter().filter(|(sampler, view)| *sampler != 0 && *view != 0) {
                    assert!(self.device.driver.sampler(*sampler).is_some(), "a recorded sampler is gone");
                }
                self.tally.executed += 1;
            }
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        if self.steps == self.late {
            self.begin_conflicts();
        }
        match self.rng.u8(0..100) {
            0..35 => self.bind_sets(),
            35..55 => self.bind_pipeline(),
            55..67 => self.change_set(),
            67..71 => {
                let shape = self.rng.usize(0..SHAPES.len());
                if shape != PUSHED {
                    self.allocate(shape);
                }
            }
            71..75 => self.remove_sets(),
            75..78 => self.create_sampler(),
            78..81 => self.remove_sampler(),
            81..83 => self.create_view(),
            83..86 => self.remove_view(),
            86..89 => self.create_pipeline(),
            89..91 => self.remove_pipeline(),
            91..94 => self.remove_layout(),
            94..95 => self.execute_commands(),
            95..97 if self.rng.bool() => self.set_line_width(),
            95..97 => self.feed_back(),
            97 if self.rng.bool() => self.set_offsets(),
            97 => self.generate_commands(),
            98 if self.rng.bool() => self.reset(),
            _ => self.execute(),
        }
        self.device.driver.check();
    }

    fn finish(mut self) -> Tally {
        self.execute();
        self.tally.wanting = self.told();
        Arc::into_inner(self.device).expect("no other application is left").end();
        self.tally
    }

    /// There is a record for each link that was left as it is. Returns how many were for want of memory.
    fn told(&self) -> u64 {
        if self.left.is_empty() || !self.is_traced {
            return 0;
        }
        let mut wanting = 0;
        let records = self.device.records("unresolved");
        let number = |value: &serde_json::Value| value.as_u64().unwrap_or(u64::MAX) as u32;
        let place = |value: &serde_json::Value| (number(&value["set"]), number(&value["binding"]));
        for (pipeline, image, sampler) in &self.left {
            let name = samplin_wire::text::handle(*pipeline).to_string();
            let is_about = |record: &&serde_json::Value| {
                record["pipeline"] == *name
                    && place(&record["link"]["image"]) == *image
                    && place(&record["link"]["sampler"]) == *sampler
            };
            let record = records.iter().find(is_about);
            // Of a pipeline that was bound before binds were followed nobody knows which it is: one record says so for all.
            let is_unseen =
                |record: &serde_json::Value| record["what"] == "began-before" && record["pipeline"].is_null();
            if record.is_none() && records.iter().any(is_unseen) {
                continue;
            }
            let record = record.unwrap_or_else(|| {
                let pairs = self.device.records("pair");
                panic!("nothing tells of {name}, {image:?} by {sampler:?}: {records:#?} {pairs:#?}")
            });
            let what = record["what"].as_str().expect("a name");
            assert!(NAMES.contains(&what), "{what} is no reason for this");
            assert!(self.faults || what != "memory", "there was memory: {record}");
            wanting += u64::from(records.iter().any(|record| is_about(&record) && record["what"] == "memory"));
        }
        wanting
    }
}

/// Why a link of these sequences may be left as it is.
const NAMES: [&str; 10] = [
    "transform-feedback",
    "shared-sampler",
    "immutable-sampler",
    "update-after-bind",
    "layout-destroyed",
    "no-free-set",
    "pipeline-chain",
    "sampler-limit",
    "began-before",
    "memory",
];

/// Calls of the application in one sequence.
const STEPS: u64 = 80;

/// One sequence of valid calls.
pub(crate) fn sequence(seed: u64) -> Tally {
    sequence_with(Application::new(seed, false, true), |_, _| ())
}

/// A sequence of valid calls; `before` is called before each.
fn sequence_with(mut application: Application, before: impl Fn(&Application, u64)) -> Tally {
    for step in 0..STEPS {
        before(&application, step);
        step_with_log(&mut application, Application::step, |application| &application.log);
    }
    with_log(&application.log.clone(), || application.finish())
}

/// An application that goes on for as long as wanted, on one device.
pub(crate) struct Endless(Application);

impl Endless {
    /// Most pipelines at a time, and most sets.
    const PIPELINES: usize = 24;
    const SETS: usize = 60;

    pub(crate) fn new() -> Self {
        Self(Application::new(1, false, false))
    }

    /// Some calls, and after them as much is there as always.
    pub(crate) fn go_on(&mut self) {
        let application = &mut self.0;
        application.log.drain(..application.log.len().saturating_sub(1000));
        application.left.clear();
        for _ in 0..STEPS {
            step_with_log(application, Application::step, |application| &application.log);
        }
        while application.pipelines.len() > Self::PIPELINES {
            application.remove_pipeline();
        }
        while application.sets.len() > Self::SETS {
            application.remove_sets();
        }
        while application.samplers.len() > 8 {
            application.remove_sampler();
        }
        while application.views.len() > 8 {
            application.remove_view();
        }
        while application.layouts.len() > Self::PIPELINES {
            let layout = application.layouts.swap_remove(application.shared.layouts).handle;
            application.destroy_pipeline_layout(layout);
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0.finish().draws
    }
}

#[test]
fn shaders_read_what_the_application_bound_or_what_is_legal() {
    let mut tally = Tally::default();
    let count = for_seeds(2000, |seed| tally += sequence(seed));
    println!("{count} sequences: {tally:?}");
    if count >= 500 {
        assert!(tally.draws > count * 3 && tally.repaired > count && tally.legal > count, "{tally:?}");
        assert!(tally.split > count / 2 && tally.executed > count / 2 && tally.early > 0, "{tally:?}");
    }
}

/// What the layer calls on its own may fail, once or from one time on: the shaders go on to read what the application bound or what is
/// legal, nothing is left behind, and what is not repaired has a record.
#[test]
fn calls_of_the_layers_own_may_fail() {
    use vk::Result as R;
    const COMMANDS: [&CStr; 8] = [
        c"vkCreateDescriptorPool",
        c"vkAllocateDescriptorSets",
        c"vkCreateDescriptorSetLayout",
        c"vkCreatePipelineLayout",
        c"vkCreateShaderModule",
        c"vkCreateComputePipelines",
        c"vkCreateGraphicsPipelines",
        c"vkCreateRenderPass",
    ];
    const RESULTS: [vk::Result; 5] = [
        R::ERROR_OUT_OF_HOST_MEMORY,
        R::ERROR_OUT_OF_DEVICE_MEMORY,
        R::ERROR_DEVICE_LOST,
        R::ERROR_FRAGMENTED_POOL,
        R::PIPELINE_COMPILE_REQUIRED,
    ];
    for command in COMMANDS {
        let (hit, mut tally, mut count) = (Cell::new(0), Tally::default(), 0);
        for (result, left) in RESULTS.into_iter().flat_map(|result| [(result, 1), (result, u64::MAX)]) {
            // What fails once fails again later; what goes on failing begins some way in.
            let arm = |application: &Application, step: u64, seed: u64| {
                let mut armed = lock(&application.device.driver.own_failure);
                let is_time = if left == 1 { step % 8 == seed % 8 } else { step == seed % 8 };
                if is_time {
                    *armed = Some(OwnFailure { command, result, left, hit: 0 });
                }
                if let Some(armed) = armed.as_mut() {
                    hit.set(hit.get() + std::mem::take(&mut armed.hit));
                }
            };
            count = for_seeds(30, |seed| {
                tally +=
                    sequence_with(Application::new(seed, true, true), |application, step| arm(application, step, seed));
            });
        }
        println!("{command:?}: {} calls failed, {tally:?}", hit.get());
        let is_about_it = hit.get() >= 20 && tally.wanting > 0 && tally.repaired > 0;
        assert!(count < 30 || is_about_it, "{command:?}: {} calls failed", hit.get());
    }
}

/// Threads record with what they have in common, and make, write and destroy what is their own.
#[test]
fn eight_threads_record_at_once() {
    let mut first = Application::with(Rng::with_seed(99), (Reuse::AtOnce, 8, 0), false, false);
    first.begin_conflicts();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|seed| {
                let mut own = Endless(first.of_thread(seed));
                scope.spawn(move || {
                    (0..60).for_each(|_| own.go_on());
                    own.0.execute();
                    own.0.tally
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| tally += thread.join().expect("the thread ends"));
    });
    println!("{tally:?}");
    assert!(tally.legal > 10_000 && tally.repaired > tally.legal / 10 && tally.executed > 100, "{tally:?}");
    first.finish();
}

// ---- memory ----

/// Bytes on the heap of this process.
pub(crate) fn heap() -> usize {
    // SAFETY: mallinfo2 only reads the allocator's own records.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// What 10,000 sets of two images and two samplers and 64 command buffers hold of memory, bytes in this process with one value of the setting. The layer and the mock
/// share the heap, so it is the difference between two values that counts.
fn held(separate: &str) -> usize {
    let device = InstanceBuilder::new().driver(|_| ()).set("separate", separate).device();
    device.forget_calls();
    // Something can conflict, or binds are not followed.
    let samplers = [device.linear()];
    let views = FORMATS.map(|format| device.view(format));
    let bindings = [0, 1, 2, 3].map(|number| binding(number, if number < 2 { IMAGE } else { SAMPLER }, 1));
    let shape = device.layout(&bindings);
    let layout = device.pipeline_layout(&[shape; 4]);
    let words = joins(5, &[[(0, 0), (0, 2)]]);
    device.compute(layout, &words);
    let (pool, command_pool) = (device.pool(), device.command_pool());

    let before = heap();
    let layouts = vec![shape; 100];
    let sets: Vec<_> = (0..100).flat_map(|_| device.sets(pool, &layouts)).collect();
    for (number, set) in sets.iter().enumerate() {
        let image = [vk::DescriptorImageInfo { image_view: views[number % 2], ..Default::default() }; 2];
        let sampler = [vk::DescriptorImageInfo { sampler: samplers[0], ..Default::default() }; 2];
        let write =
            |binding, ty| vk::WriteDescriptorSet::default().dst_set(*set).dst_binding(binding).descriptor_type(ty);
        device.update(&[write(0, IMAGE).image_info(&image), write(2, SAMPLER).image_info(&sampler)], &[]);
    }
    let buffers: [_; 64] = device.command_buffers(command_pool);
    for (commands, sets) in buffers.iter().zip(sets.chunks(4)) {
        device.begin(*commands);
        for point in [GRAPHICS, COMPUTE] {
            device.bind_sets(*commands, point, layout, sets);
        }
    }
    let held = heap() - before;
    device.leak();
    held
}

#[test]
fn ten_thousand_sets_and_their_command_buffers_hold_two_megabytes() {
    alone("separate::ten_thousand_sets_and_their_command_buffers_hold_two_megabytes", || {
        let held = held("resolve").saturating_sub(held("base"));
        assert!((100_000..2 << 20).contains(&held), "{held} bytes");
    });
}
