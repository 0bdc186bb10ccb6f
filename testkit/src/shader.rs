//! Sampling programs: which shader, what it is asked, and the pipelines that run it.
//!
//! Set 0 holds the pair under test and nothing else, so every descriptor path can fill it; set 1 holds the harness's own
//! point and result buffers. [`Probe`] is a compute program with explicit LOD, [`Painter`] a fragment program with
//! implicit LOD.

use crate::context::Context;
use crate::descriptor::{self, DescriptorBuffer, SetLayout};
use crate::image::{self, Buffer, Image, ImageDesc, View, ViewDesc};
pub use crate::lookup::{Access, Op, ResultKind, SamplePoint, Shape, grid};
use crate::texel::{NumericKind, Value};
use ash::vk;

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The SPIR-V words of one program, with its bindings moved.
/// Panics when the combination does not exist (see [`Op`]).
pub fn words(stage: &str, shape: Shape, kind: ResultKind, access: Access) -> Vec<u32> {
    let (style, moves): (&str, Vec<(u32, u32)>) = match access {
        Access::Single { binding } => ("single", vec![(0, binding)]),
        Access::Array { binding, .. } => ("array", vec![(0, binding)]),
        Access::Separate { image, sampler } => ("separate", vec![(0, image), (1, sampler)]),
    };
    let name = format!("{stage}/{}/{}/{style}", shape.name(), kind.name());
    let mut words = module(&name);
    rebind(&mut words, &moves);
    words
}

pub(crate) fn module(name: &str) -> Vec<u32> {
    let (_, bytes) =
        MODULES.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("there is no shader {name}"));
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Rewrites `Binding` decorations of set 0 from the first to the second number of each pair.
fn rebind(words: &mut [u32], moves: &[(u32, u32)]) {
    const OP_DECORATE: u32 = 71;
    const BINDING: u32 = 33;
    const DESCRIPTOR_SET: u32 = 34;
    const HEADER: usize = 5;
    let mut decorations = Vec::new();
    let mut at = HEADER;
    while let Some(&head) = words.get(at) {
        let length = (head >> 16).max(1) as usize;
        if head & 0xffff == OP_DECORATE && length == 4 {
            decorations.push((at, words[at + 1], words[at + 2], words[at + 3]));
        }
        at += length;
    }
    let in_set_0 =
        |target: u32| decorations.iter().any(|&(_, id, what, set)| id == target && what == DESCRIPTOR_SET && set == 0);
    for &(at, target, what, binding) in &decorations {
        let new = moves.iter().find(|(old, _)| *old == binding);
        if let Some((_, new)) = new.filter(|_| what == BINDING && in_set_0(target)) {
            words[at + 3] = *new;
        }
    }
}

/// Fills or names set 0 for one run.
pub enum Bind<'a> {
    /// An ordinary descriptor set.
    Set(vk::DescriptorSet),
    /// Commands that push set 0: called with the command buffer and the pipeline layout.
    Push(&'a dyn Fn(vk::CommandBuffer, vk::PipelineLayout)),
    /// A descriptor buffer; the probe must have been made with [`Probe::with_descriptor_buffer`].
    Buffer(&'a DescriptorBuffer<'a>),
}

/// How a compute pipeline is made of its create info.
pub type MakeCompute<'m> = &'m dyn Fn(&ash::Device, &vk::ComputePipelineCreateInfo<'_>) -> vk::Pipeline;

/// How a graphics pipeline is made of its create info.
pub type MakeGraphics<'m> = &'m dyn Fn(&ash::Device, &vk::GraphicsPipelineCreateInfo<'_>) -> vk::Pipeline;

/// Makes a compute pipeline of its create info as it is.
pub fn make_compute(device: &ash::Device, info: &vk::ComputePipelineCreateInfo<'_>) -> vk::Pipeline {
    // SAFETY: who calls this hands over a valid create info.
    let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[*info], None) };
    made.map_err(|(_, error)| error).expect("vkCreateComputePipelines")[0]
}

/// Makes a graphics pipeline of its create info as it is.
pub fn make_graphics(device: &ash::Device, info: &vk::GraphicsPipelineCreateInfo<'_>) -> vk::Pipeline {
    // SAFETY: who calls this hands over a valid create info.
    let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[*info], None) };
    made.map_err(|(_, error)| error).expect("vkCreateGraphicsPipelines")[0]
}

/// Makes a graphics pipeline of a library for each part of its create info, whose dynamic states are of the part before rasterization. `vertices`: the layout of the library with the vertex
/// shader. The libraries have to be destroyed behind the pipeline: version 1.3.239 of the validation layer goes on reading them.
pub fn link_graphics(
    device: &ash::Device,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    vertices: vk::PipelineLayout,
) -> (vk::Pipeline, [vk::Pipeline; 4]) {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let blank = vk::GraphicsPipelineCreateInfo::default().flags(vk::PipelineCreateFlags::LIBRARY_KHR);
    let rendered = blank.layout(info.layout).render_pass(info.render_pass).subpass(info.subpass);
    // SAFETY: the create info is valid: two stages and their states.
    let stages = unsafe { std::slice::from_raw_parts(info.p_stages, info.stage_count as usize) };
    let parts = [
        (
            Part::VERTEX_INPUT_INTERFACE,
            vk::GraphicsPipelineCreateInfo {
                p_vertex_input_state: info.p_vertex_input_state,
                p_input_assembly_state: info.p_input_assembly_state,
                ..blank
            },
        ),
        (
            Part::PRE_RASTERIZATION_SHADERS,
            vk::GraphicsPipelineCreateInfo {
                p_viewport_state: info.p_viewport_state,
                p_rasterization_state: info.p_rasterization_state,
                p_dynamic_state: info.p_dynamic_state,
                ..rendered.stages(&stages[..1]).layout(vertices)
            },
        ),
        (
            Part::FRAGMENT_SHADER,
            vk::GraphicsPipelineCreateInfo {
                p_multisample_state: info.p_multisample_state,
                p_depth_stencil_state: info.p_depth_stencil_state,
                ..rendered.stages(&stages[1..])
            },
        ),
        (
            Part::FRAGMENT_OUTPUT_INTERFACE,
            vk::GraphicsPipelineCreateInfo {
                p_multisample_state: info.p_multisample_state,
                p_color_blend_state: info.p_color_blend_state,
                ..rendered
            },
        ),
    ];
    let libraries = parts.map(|(part, info)| {
        let mut part = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(part);
        make_graphics(device, &info.push_next(&mut part))
    });
    let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let link = vk::GraphicsPipelineCreateInfo::default().layout(info.layout).push_next(&mut linked);
    (make_graphics(device, &link), libraries)
}

/// A compute program that samples set 0 at a list of points.
pub struct Probe<'c> {
    context: &'c Context,
    kind: ResultKind,
    io_layout: SetLayout<'c>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> Probe<'c> {
    /// Makes the program for sets of `set_layout`.
    pub fn new(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        op: Op,
        shape: Shape,
        kind: ResultKind,
        access: Access,
    ) -> Self {
        Self::build(context, set_layout, (op, shape, kind, access), false, &make_compute)
    }

    /// As [`Probe::new`] for sampling, with a pipeline that `make` makes.
    pub fn made_by(
        make: MakeCompute<'_>,
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        shape: Shape,
        kind: ResultKind,
        access: Access,
    ) -> Self {
        Self::build(context, set_layout, (Op::Sample, shape, kind, access), false, make)
    }

    /// A program of a module of one's own, which has points and results as those of the harness have.
    pub fn of_words(context: &'c Context, set_layout: &SetLayout<'_>, kind: ResultKind, words: &[u32]) -> Self {
        let none = vk::SpecializationInfo::default();
        Self::of(context, set_layout, (kind, words, &none), false, &make_compute)
    }

    /// As [`Probe::new`], for [`Bind::Buffer`].
    pub fn with_descriptor_buffer(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        lookup: (Op, Shape, ResultKind, Access),
    ) -> Self {
        Self::build(context, set_layout, lookup, true, &make_compute)
    }

    fn build(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        (op, shape, kind, access): (Op, Shape, ResultKind, Access),
        in_buffer: bool,
        make: MakeCompute<'_>,
    ) -> Self {
        let (count, element) = match access {
            Access::Array { count, element, .. } => (count, element),
            _ => (1, 0),
        };
        let constants: Vec<u8> = [count, element].into_iter().flat_map(u32::to_le_bytes).collect();
        let entries = [
            vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 },
            vk::SpecializationMapEntry { constant_id: 1, offset: 4, size: 4 },
        ];
        let mut specialization = vk::SpecializationInfo::default();
        if matches!(access, Access::Array { .. }) {
            specialization = specialization.map_entries(&entries).data(&constants);
        }
        let words = words(op.stage(), shape, kind, access);
        Self::of(context, set_layout, (kind, &words, &specialization), in_buffer, make)
    }

    fn of(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        (kind, words, specialization): (ResultKind, &[u32], &vk::SpecializationInfo<'_>),
        in_buffer: bool,
        make: MakeCompute<'_>,
    ) -> Self {
        let io_layout = SetLayout::storage_pair(context, in_buffer);
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4)];
        let layout = pipeline_layout(context, &[set_layout, &io_layout], &push);
        let module = ShaderModule::new(context, words);
        let stage = module.stage(vk::ShaderStageFlags::COMPUTE).specialization_info(specialization);
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        if in_buffer {
            info = info.flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT);
        }
        // Module and layout are alive; set 0 and 1 match the shader's declarations.
        let pipeline = make(context.device(), &info);
        Self { context, kind, io_layout, layout, pipeline }
    }

    /// The pipeline layout (set 0 is the pair's).
    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// Layout of the harness's own set 1.
    pub(crate) fn io_layout(&self) -> &SetLayout<'c> {
        &self.io_layout
    }

    /// What a pair's own kind of lookup finds at these points, in one set of a layout.
    pub fn read(
        pair: &descriptor::Pair<'_, 'c>,
        (layout, set): (&SetLayout<'c>, vk::DescriptorSet),
        access: Access,
        points: &[SamplePoint],
    ) -> Vec<Value> {
        let context = pair.view.context();
        Self::new(context, layout, pair.op, pair.shape, pair.kind, access).run(&Bind::Set(set), points)
    }

    /// Samples every point, in order.
    pub fn run(&self, bind: &Bind<'_>, points: &[SamplePoint]) -> Vec<Value> {
        let context = self.context;
        let device = context.device();
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        if matches!(bind, Bind::Buffer(_)) {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let input = Buffer::new(context, (points.len() * 32).max(32), usage);
        input.write(0, &points.iter().flat_map(SamplePoint::bytes).collect::<Vec<_>>());
        let output = Buffer::new(context, (points.len() * 16).max(16), usage);
        let io = match bind {
            Bind::Buffer(buffer) => {
                buffer.write_storage(&[&input, &output]);
                None
            }
            _ => {
                let pool = descriptor::Pool::new(context, &[&self.io_layout]);
                let set = pool.allocate(&self.io_layout);
                descriptor::write_storage(context, set, &[&input, &output]);
                Some((pool, set))
            }
        };
        let count = u32::try_from(points.len()).expect("fewer points than 2^32");
        context.submit(|commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the buffer is recording and the pipeline alive.
            unsafe { device.cmd_bind_pipeline(commands, point, self.pipeline) };
            if let Some((_, set)) = &io {
                // SAFETY: set 1 was allocated with this pipeline layout's set layout 1.
                unsafe { device.cmd_bind_descriptor_sets(commands, point, self.layout, 1, &[*set], &[]) };
            }
            match bind {
                // SAFETY: the caller's set has the layout the probe was made for.
                Bind::Set(set) => unsafe {
                    device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[*set], &[]);
                },
                Bind::Push(push) => push(commands, self.layout),
                Bind::Buffer(buffer) => buffer.record_bind(commands, self.layout),
            }
            let stage = vk::ShaderStageFlags::COMPUTE;
            // SAFETY: the layout has this push constant range.
            unsafe { device.cmd_push_constants(commands, self.layout, stage, 0, &count.to_le_bytes()) };
            // SAFETY: pipeline, both sets and the push constant are bound.
            unsafe { device.cmd_dispatch(commands, count.div_ceil(64).max(1), 1, 1) };
            image::barrier(device, commands, &[]);
        });
        let bytes = output.read(0, points.len() * 16);
        bytes.chunks_exact(16).map(|texel| Value::from_bytes(self.kind.numeric(), texel)).collect()
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        // SAFETY: every run waited for its submission.
        unsafe { self.context.device().destroy_pipeline(self.pipeline, None) };
        // SAFETY: the pipeline that used it is gone.
        unsafe { self.context.device().destroy_pipeline_layout(self.layout, None) };
    }
}

/// A shader module, for as long as pipelines are made of it.
pub struct ShaderModule<'c> {
    context: &'c Context,
    pub(crate) handle: vk::ShaderModule,
}

impl<'c> ShaderModule<'c> {
    /// Makes a module of these words.
    pub fn new(context: &'c Context, words: &[u32]) -> Self {
        Self::try_new(context, words).expect("vkCreateShaderModule")
    }

    /// The same, or what the driver returns.
    pub fn try_new(context: &'c Context, words: &[u32]) -> Result<Self, vk::Result> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a module's; what the rules forbid of them is the test's business.
        let handle = unsafe { context.device().create_shader_module(&info, None) }?;
        Ok(Self { context, handle })
    }

    /// The stage of a pipeline whose entry point is `main`.
    pub fn stage(&self, stage: vk::ShaderStageFlags) -> vk::PipelineShaderStageCreateInfo<'static> {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(self.handle).name(c"main")
    }
}

/// A layout of these sets and push constants.
pub fn pipeline_layout(
    context: &Context,
    sets: &[&SetLayout<'_>],
    push: &[vk::PushConstantRange],
) -> vk::PipelineLayout {
    let sets: Vec<_> = sets.iter().map(|layout| layout.handle()).collect();
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(push);
    // SAFETY: the set layouts are alive and the create info is a local.
    unsafe { context.device().create_pipeline_layout(&info, None) }.expect("vkCreatePipelineLayout")
}

impl Drop for ShaderModule<'_> {
    fn drop(&mut self) {
        // SAFETY: modules are only needed while pipelines are created.
        unsafe { self.context.device().destroy_shader_module(self.handle, None) };
    }
}

/// Where a [`Painter`] looks: coordinate = (origin + dx·x + dy·y) / (divisor · (1, x, y)), x and y in 0..=1 from the top left.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// Coordinate of the top left corner.
    pub origin: [f32; 4],
    /// Change from left to right.
    pub dx: [f32; 4],
    /// Change from top to bottom.
    pub dy: [f32; 4],
    /// Perspective divisor: constant, x and y part.
    pub divisor: [f32; 3],
    /// Depth reference.
    pub reference: f32,
    /// LOD bias of the instruction.
    pub bias: f32,
}

impl Mapping {
    /// A flat mapping of the rectangle from `low` (top left) to `high` (bottom right).
    pub fn rectangle(low: [f32; 2], high: [f32; 2]) -> Self {
        Self {
            origin: [low[0], low[1], 0.0, 0.0],
            dx: [high[0] - low[0], 0.0, 0.0, 0.0],
            dy: [0.0, high[1] - low[1], 0.0, 0.0],
            divisor: [1.0, 0.0, 0.0],
            reference: 0.0,
            bias: 0.0,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let [one, x, y] = self.divisor;
        let rows = [self.origin, self.dx, self.dy, [one, x, y, 0.0], [self.reference, self.bias, 0.0, 0.0]];
        rows.into_iter().flatten().flat_map(f32::to_le_bytes).take(72).collect()
    }
}

/// A fragment program that paints a rectangle of pixels with implicit LOD; set 0 binding 0 is the pair.
pub struct Painter<'c> {
    context: &'c Context,
    kind: ResultKind,
    picture: Image<'c>,
    _view: View<'c>,
    target: Target<'c>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'c> Painter<'c> {
    /// Makes the program for sets of `set_layout` and a target of `size` pixels.
    /// The error is a sentence when the device cannot render to the 32-bit target format of this kind.
    pub fn new(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        shape: Shape,
        kind: ResultKind,
        size: [u32; 2],
    ) -> Result<Self, String> {
        let words = words("draw", shape, kind, Access::Single { binding: 0 });
        Self::made_by(&make_graphics, context, set_layout, (kind, &words), size)
    }

    /// As [`Painter::new`], for sets with the image at binding 0 and the sampler at binding 1.
    pub fn of_separate(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        shape: Shape,
        kind: ResultKind,
        size: [u32; 2],
    ) -> Result<Self, String> {
        let access = Access::Separate { image: 0, sampler: 1 };
        Self::made_by(&make_graphics, context, set_layout, (kind, &words("draw", shape, kind, access)), size)
    }

    /// As [`Painter::new`], of the words of a fragment shader of one's own, which looks where those of the harness look.
    pub fn of_words(
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        kind: ResultKind,
        words: &[u32],
        size: [u32; 2],
    ) -> Result<Self, String> {
        Self::made_by(&make_graphics, context, set_layout, (kind, words), size)
    }

    /// The same with a pipeline that `make` makes.
    pub fn made_by(
        make: MakeGraphics<'_>,
        context: &'c Context,
        set_layout: &SetLayout<'_>,
        (kind, words): (ResultKind, &[u32]),
        size: [u32; 2],
    ) -> Result<Self, String> {
        let format = match kind.numeric() {
            NumericKind::Float => vk::Format::R32G32B32A32_SFLOAT,
            NumericKind::Int => vk::Format::R32G32B32A32_SINT,
            NumericKind::Uint => vk::Format::R32G32B32A32_UINT,
        };
        let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
        if !features.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT) {
            return Err(format!("{} cannot render to {format:?}", context.device_name()));
        }
        let mut desc = ImageDesc::d2(format, size[0], size[1]);
        desc.usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let picture = Image::new(context, &desc)?;
        let view = picture.view(&ViewDesc::default());

        let layouts = [vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL];
        let attachments = [attachment(format, vk::AttachmentLoadOp::DONT_CARE, layouts)];
        let target = Target::new(context, &attachments, COLOUR, &[view.handle()], size);
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::FRAGMENT).size(72)];
        let layout = pipeline_layout(context, &[set_layout], &push);
        let vertex = ShaderModule::new(context, &module("draw/vertex"));
        let fragment = ShaderModule::new(context, words);
        let stages = [&vertex, &fragment];
        let constants = vk::SpecializationInfo::default();
        let frame = Frame { render_pass: target.pass, size, attachments: 1 };
        let pipeline = graphics_pipeline(context, &frame, layout, stages, &constants, make);
        Ok(Self { context, kind, picture, _view: view, target, layout, pipeline })
    }

    /// Paints once and returns the pixels, row by row from the top.
    pub fn paint(&self, set: vk::DescriptorSet, mapping: &Mapping) -> Vec<Value> {
        let device = self.context.device();
        self.target.draw(&[], |commands| {
            let point = vk::PipelineBindPoint::GRAPHICS;
            let stage = vk::ShaderStageFlags::FRAGMENT;
            // SAFETY: the pipeline was made for this render pass, its layout for the caller's set and for these constants.
            unsafe {
                device.cmd_bind_pipeline(commands, point, self.pipeline);
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
                device.cmd_push_constants(commands, self.layout, stage, 0, &mapping.bytes());
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        });
        self.picture.set_layout(vk::ImageLayout::GENERAL);
        let texels = self.picture.read(vk::ImageAspectFlags::COLOR, 0, 0);
        debug_assert_eq!(self.kind.numeric(), self._view.numeric_kind());
        texels
    }
}

/// An attachment of one sample that is stored; its layouts before and after.
pub fn attachment(
    format: vk::Format,
    load: vk::AttachmentLoadOp,
    [before, after]: [vk::ImageLayout; 2],
) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(load)
        .stencil_store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(before)
        .final_layout(after)
}

/// Attachments by their numbers: for colours, for inputs, for what colours are resolved to, and one for depth and stencil.
pub type Roles<'a> = [&'a [u32]; 4];

/// One for colours.
pub const COLOUR: Roles<'static> = [&[0], &[], &[], &[]];

/// A render pass of one subpass, with these attachments in the layout GENERAL, and a framebuffer of these views.
pub fn target_of(
    device: &ash::Device,
    attachments: &[vk::AttachmentDescription],
    roles: Roles<'_>,
    views: &[vk::ImageView],
    [width, height]: [u32; 2],
) -> (vk::RenderPass, vk::Framebuffer) {
    let of = |attachment: &u32| vk::AttachmentReference { attachment: *attachment, layout: vk::ImageLayout::GENERAL };
    let [colours, inputs, resolved, depths] = roles.map(|numbers| numbers.iter().map(of).collect::<Vec<_>>());
    let subpass = vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
    let mut subpass = subpass.color_attachments(&colours).input_attachments(&inputs);
    if !resolved.is_empty() {
        subpass = subpass.resolve_attachments(&resolved);
    }
    if let Some(depth) = depths.first() {
        subpass = subpass.depth_stencil_attachment(depth);
    }
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo::default().attachments(attachments).subpasses(&subpasses);
    // SAFETY: the subpass names attachments that are there; all are the caller's or locals.
    let pass = unsafe { device.create_render_pass(&info, None) }.expect("vkCreateRenderPass");
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(views);
    let info = info.width(width).height(height).layers(1);
    // SAFETY: the views have the attachments' formats and sizes.
    (pass, unsafe { device.create_framebuffer(&info, None) }.expect("vkCreateFramebuffer"))
}

/// A render pass and its framebuffer, for as long as something is drawn with them.
pub struct Target<'c> {
    context: &'c Context,
    /// The render pass.
    pub pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    size: [u32; 2],
}

impl<'c> Target<'c> {
    /// As [`target_of`].
    pub fn new(
        context: &'c Context,
        attachments: &[vk::AttachmentDescription],
        roles: Roles<'_>,
        views: &[vk::ImageView],
        size: [u32; 2],
    ) -> Self {
        let (pass, framebuffer) = target_of(context.device(), attachments, roles, views, size);
        Self { context, pass, framebuffer, size }
    }

    /// Records the render pass over all of it, with what `record` records inside.
    pub fn record(&self, commands: vk::CommandBuffer, clear: &[vk::ClearValue], record: impl FnOnce()) {
        self.begin(commands, clear, vk::SubpassContents::INLINE);
        record();
        // SAFETY: inside the render pass begun above.
        unsafe { self.context.device().cmd_end_render_pass(commands) };
    }

    /// Records its beginning.
    pub fn begin(&self, commands: vk::CommandBuffer, clear: &[vk::ClearValue], contents: vk::SubpassContents) {
        let (device, [width, height]) = (self.context.device(), self.size);
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } })
            .clear_values(clear);
        // SAFETY: the buffer is recording outside a render pass; pass and framebuffer are compatible and alive.
        unsafe { device.cmd_begin_render_pass(commands, &begin, contents) };
    }

    /// The same, submitted.
    pub fn draw(&self, clear: &[vk::ClearValue], record: impl FnOnce(vk::CommandBuffer)) {
        self.context.submit(|commands| self.record(commands, clear, || record(commands)));
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // SAFETY: each submission was waited for.
        unsafe {
            self.context.device().destroy_framebuffer(self.framebuffer, None);
            self.context.device().destroy_render_pass(self.pass, None);
        }
    }
}

/// What a pipeline draws to.
pub(crate) struct Frame {
    pub(crate) render_pass: vk::RenderPass,
    /// In pixels.
    pub(crate) size: [u32; 2],
    /// Colour attachments of the render pass.
    pub(crate) attachments: usize,
}

/// A pipeline of vertex and fragment shader that covers the frame. `constants` are the fragment shader's.
pub(crate) fn graphics_pipeline(
    context: &Context,
    frame: &Frame,
    layout: vk::PipelineLayout,
    [vertex, fragment]: [&ShaderModule<'_>; 2],
    constants: &vk::SpecializationInfo<'_>,
    make: MakeGraphics<'_>,
) -> vk::Pipeline {
    let Frame { render_pass, size: [width, height], attachments } = *frame;
    let fragment = fragment.stage(vk::ShaderStageFlags::FRAGMENT).specialization_info(constants);
    let stages = [vertex.stage(vk::ShaderStageFlags::VERTEX), fragment];
    let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
    // Every object named is alive and every state that the pipeline needs is there.
    covering(&stages, area, attachments, |info| make(context.device(), &info.layout(layout).render_pass(render_pass)))
}

/// The create info of a pipeline that draws triangles over an area and writes all of some colour attachments, each of one sample.
pub fn covering<R>(
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    area: vk::Rect2D,
    attachments: usize,
    use_info: impl FnOnce(vk::GraphicsPipelineCreateInfo<'_>) -> R,
) -> R {
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let [x, y] = [area.offset.x, area.offset.y].map(|at| at as f32);
    let [width, height] = [area.extent.width, area.extent.height].map(|length| length as f32);
    let (viewports, scissors) = ([vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 }], [area]);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let written = vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
    let blends = vec![written; attachments];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let info = vk::GraphicsPipelineCreateInfo::default().stages(stages).vertex_input_state(&vertex_input);
    let info = info.input_assembly_state(&assembly).viewport_state(&viewport).rasterization_state(&raster);
    use_info(info.multisample_state(&multisample).color_blend_state(&blend))
}

impl Drop for Painter<'_> {
    fn drop(&mut self) {
        // SAFETY: every paint waited for its submission.
        unsafe {
            self.context.device().destroy_pipeline(self.pipeline, None);
            self.context.device().destroy_pipeline_layout(self.layout, None);
        }
    }
}
