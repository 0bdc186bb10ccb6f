//! Images and samplers in bindings of their own, which only the shader joins.
//!
//! A [`Rig`] is a pipeline with one of the [`Program`]s of `shaders/separate.glsl`; a [`Job`] is one run of it over a list of points.
//! Tests record the binds between [`Rig::bind`] and [`Job::record`] themselves, in the order that they are about; [`Commands`]
//! holds what was recorded. Images are in set 0, samplers in set 0 or 1, the harness's own buffers in set 2.

use crate::capability::Capability;
use crate::context::Context;
use crate::descriptor::{self, Pool, SetLayout};
use crate::garbage;
use crate::image::{self, Buffer};
use crate::lookup::{ResultKind, SamplePoint};
use crate::shader::{
    Frame, ShaderModule, Target, graphics_pipeline, link_graphics, make_compute, make_graphics, module,
};
use crate::texel::Value;
use ash::vk;

/// Set of the harness's own buffers.
const OWN_SET: u32 = 2;
/// The most points of a job: pixels of the framebuffer that a fragment program covers.
const MOST_POINTS: u32 = 1024;
const STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

/// What a lookup of a program gives: the kind of the first image or of the second, or what a comparison does.
enum Gives {
    A,
    B,
    Compared,
}

/// Defines the programs: one a row, with its name in `shaders/` and what its lookups give, in order.
macro_rules! programs {
    ($($(#[$doc:meta])+ $program:ident $name:literal [$($gives:ident)+])+) => {
        /// How the shader joins images and samplers; numbers are bindings, `[2]` elements of an array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Program {
            $($(#[$doc])+ $program,)+
        }

        impl Program {
            fn row(self) -> (&'static str, &'static [Gives]) {
                match self {
                    $(Self::$program => ($name, &[$(Gives::$gives),+]),)+
                }
            }
        }
    };
}

programs! {
    /// Image 0 with sampler 1.
    One "one" [A]
    /// Images 0 and 2 with sampler 1.
    Shared "shared" [A B]
    /// Image 0 with sampler 1, image 2 with sampler 1, image 2 with sampler 3: three calls of a function that takes both and
    /// hands them on to another.
    Calls "calls" [A A A]
    /// Image 0`[2]` of 3 with sampler 1`[1]` of 2, and 0`[0]` with 1`[0]`.
    Constant "constant" [A A]
    /// One pair of the same arrays, chosen by the two specialization constants.
    Special "special" [A]
    /// Image 0`[i]` of 3 with sampler 1; i is the job's element, which the shader learns when it runs.
    Dynamic "dynamic" [A]
    /// Images 0 and 2 with sampler 1`[i]` of 2; i is the job's element.
    Samplers "samplers" [A B]
    /// Combined image and sampler 0`[i]` of 3; i is the job's element.
    Pairs "pairs" [A]
    /// Image 0 is fetched, image 2 is sampled with sampler 1.
    Fetch "fetch" [A B]
    /// Image 0 with sampler 1; the bits come out combined by XOR with the word in the uniform buffer 2 of set 0.
    Salted "salted" [A]
    /// The same, with the uniform buffer 0 of set 3.
    Above "above" [A]
    /// Image 0 is fetched from at its corner, and no sampler used; the bits come out as with [`Program::Above`].
    Plain "plain" [A]
    /// Image 0 with sampler 1, the combined image and sampler 2 of set 0, and image 0 with sampler 3.
    Beside "beside" [A A A]
    /// Depth image 0 is compared with the point's reference by sampler 1.
    Compared "compared" [Compared]
    /// The same, and image 0 is sampled with sampler 1 as well.
    Both "both" [Compared A]
    /// Depth images 0 and 2 are compared with the point's reference by sampler 1.
    Shadows "shadows" [Compared Compared]
    /// Depth image 0`[i]` of 3 is compared with the point's reference by sampler 1; i is the job's element.
    DynamicShadows "dynamic_shadows" [Compared]
    /// Image 0 is gathered from and image 2 sampled, both with sampler 1.
    Gather "gather" [A B]
    /// Images 0 and 2 and image 0 of set 3 with sampler 1, the last with sampler 3 as well: functions take the image and join it with
    /// a sampler of the whole scene.
    Engine "engine" [A A A A]
    /// Images 0 and 2 with sampler 1, which the shader has a variable for with each.
    Aliased "aliased" [A B]
    /// Image 0`[i]` of 3 with sampler 1; i is another one for each point in turn.
    NonUniform "nonuniform" [A]
    /// The size of image 0 is asked for with sampler 1, and image 2 sampled with it.
    Queried "queried" [A B]
    /// Image 0`[i]` of 4096 with sampler 1`[j]` of 64; i and j come from a buffer, and are 0.
    World "world" [A]
    /// Image 0 with sampler 1`[i]` of 4000; i is the job's element.
    Global "global" [A]
    /// Images 0`[30 i + 7]` of 100 with samplers 1`[10 j + 1]` of 32: for point number n i is n mod 4 and j is n / 4 mod 4; both are the
    /// job's element; j is the job's element and i the next one, in a function that takes both.
    Tables "tables" [A A A]
    /// The same: the first in a loop through all pairs, and the last by fragments whose neighbours have been discarded.
    Loops "loops" [A A A]
    /// The first of these lookups, by a variable that shares its binding with one of images of the other kind.
    Mixed "mixed" [A]
    /// The first of these lookups, of images in an array without a length; a fragment takes its level of detail from its neighbours.
    Quads "quads" [A]
}

/// Stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A compute shader.
    Compute,
    /// A fragment shader of a render pass without attachments; needs `fragmentStoresAndAtomics`.
    Fragment,
    /// A compute shader as a shader object.
    ComputeObject,
    /// A fragment shader and a vertex shader as shader objects.
    FragmentObject,
    /// The same, linked.
    LinkedObjects,
    /// [`Stage::Fragment`] in a pipeline that is linked of a library for each of its parts.
    Libraries,
    /// The same, where the library with the vertex shader has a layout without sets.
    IndependentLibraries,
    /// [`Stage::Fragment`] in a pipeline whose create info has garbage wherever that is ignored, and whose render pass is gone: it is used
    /// in another one that is compatible.
    Garbage,
}

impl Stage {
    fn is_compute(self) -> bool {
        matches!(self, Self::Compute | Self::ComputeObject)
    }

    /// What a device has to have for it.
    pub fn needs(self) -> &'static [Capability] {
        match self {
            Self::Compute => &[],
            Self::Fragment | Self::Garbage => &[Capability::FragmentStores],
            Self::Libraries | Self::IndependentLibraries => {
                &[Capability::FragmentStores, Capability::GraphicsPipelineLibrary]
            }
            Self::ComputeObject => &[Capability::ShaderObject],
            Self::FragmentObject | Self::LinkedObjects => &[Capability::ShaderObject, Capability::FragmentStores],
        }
    }
}

/// What a [`Rig`] is made of.
#[derive(Clone, Copy)]
pub struct Plan<'a, 'c> {
    /// How images and samplers are joined.
    pub program: Program,
    /// Where.
    pub stage: Stage,
    /// Kinds of the first and the second image: float or uint, and equal where the program has images of one kind only.
    pub kinds: [ResultKind; 2],
    /// Layouts of set 0, and of set 1 if the samplers are there.
    pub sets: &'a [&'a SetLayout<'c>],
    /// The specialization constants.
    pub constants: [u32; 2],
    /// Layouts of the sets above the harness's own.
    pub above: &'a [&'a SetLayout<'c>],
    /// Whether the harness's own buffers have dynamic offsets.
    pub own_offsets: bool,
}

impl<'a, 'c> Plan<'a, 'c> {
    /// A compute program over images of one kind.
    pub fn new(program: Program, kind: ResultKind, sets: &'a [&'a SetLayout<'c>]) -> Self {
        let stage = Stage::Compute;
        Self { program, stage, kinds: [kind; 2], sets, constants: [0; 2], above: &[], own_offsets: false }
    }

    /// In this stage.
    pub fn stage(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    /// With layouts of sets above the harness's own.
    pub fn above(self, above: &'a [&'a SetLayout<'c>]) -> Self {
        Self { above, ..self }
    }

    /// With a second image of this kind.
    pub fn second(self, kind: ResultKind) -> Self {
        Self { kinds: [self.kinds[0], kind], ..self }
    }
}

/// What a rig runs.
enum Made {
    Pipeline(vk::Pipeline),
    Objects(Vec<vk::ShaderStageFlags>, Vec<vk::ShaderEXT>),
}

/// A pipeline that joins images and samplers, or shader objects that do.
pub struct Rig<'c> {
    context: &'c Context,
    stage: Stage,
    lookups: Vec<ResultKind>,
    own: SetLayout<'c>,
    /// Of the sets that have nothing in them; newer validation layers want it alive while the pipeline is in use.
    _empty: SetLayout<'c>,
    own_offsets: bool,
    layout: vk::PipelineLayout,
    made: Made,
    /// What the pipeline was linked of.
    libraries: Option<[vk::Pipeline; 4]>,
    frame: Option<Target<'c>>,
}

impl<'c> Rig<'c> {
    /// Makes the pipeline or the shader objects. The shader module is destroyed at once.
    pub fn new(context: &'c Context, plan: &Plan<'_, 'c>) -> Self {
        let device = context.device();
        let ty = if plan.own_offsets {
            vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
        } else {
            vk::DescriptorType::STORAGE_BUFFER
        };
        let own = SetLayout::new(context, &[0, 1].map(|binding| descriptor::Binding::new(binding, ty, 1)));
        let empty = SetLayout::new(context, &[]);
        let mut set_layouts: Vec<_> = plan.sets.iter().map(|layout| layout.handle()).collect();
        set_layouts.resize(OWN_SET as usize, empty.handle());
        set_layouts.push(own.handle());
        set_layouts.extend(plan.above.iter().map(|layout| layout.handle()));
        let push = [vk::PushConstantRange::default().stage_flags(STAGES).size(8)];
        let is_independent = plan.stage == Stage::IndependentLibraries;
        let flags = match is_independent {
            true => vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT,
            false => vk::PipelineLayoutCreateFlags::empty(),
        };
        let layout_of = |sets: &[vk::DescriptorSetLayout]| {
            let info = vk::PipelineLayoutCreateInfo::default().flags(flags);
            let info = info.set_layouts(sets).push_constant_ranges(&push);
            // SAFETY: the set layouts are alive, or null where sets are independent, and the create info is a local.
            unsafe { device.create_pipeline_layout(&info, None) }.expect("vkCreatePipelineLayout")
        };
        let layout = layout_of(&set_layouts);

        let stage = if plan.stage.is_compute() { "compute" } else { "fragment" };
        let (name, gives) = plan.program.row();
        let ([a, b], states) = (plan.kinds.map(ResultKind::name), plan.sets.len() - 1);
        let words = module(&format!("separate/{name}/{stage}/{states}/{a}-{b}"));
        let constants: Vec<u8> = plan.constants.into_iter().flat_map(u32::to_le_bytes).collect();
        let entries =
            [0, 1].map(|id| vk::SpecializationMapEntry { constant_id: id, offset: id * 4, size: size_of::<u32>() });
        let mut specialization = vk::SpecializationInfo::default();
        if plan.program == Program::Special {
            specialization = specialization.map_entries(&entries).data(&constants);
        }
        let mut libraries = None;
        let (made, frame) = match plan.stage {
            Stage::ComputeObject | Stage::FragmentObject | Stage::LinkedObjects => {
                let made = Self::objects(context, plan.stage, &words, (&set_layouts, &push), &specialization);
                (made, None)
            }
            Stage::Compute => {
                let shader = ShaderModule::new(context, &words);
                let stage = shader.stage(vk::ShaderStageFlags::COMPUTE).specialization_info(&specialization);
                let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
                let pipeline = make_compute(device, &info);
                (Made::Pipeline(pipeline), None)
            }
            Stage::Fragment | Stage::Libraries | Stage::IndependentLibraries | Stage::Garbage => {
                let shader = ShaderModule::new(context, &words);
                // Without attachments, for what its fragments store.
                let target = Target::new(context, &[], [&[]; 4], &[], [MOST_POINTS, 1]);
                let vertex = ShaderModule::new(context, &module("draw/vertex"));
                let gone = (plan.stage == Stage::Garbage).then(|| garbage::pass(device));
                let frame = Frame { render_pass: gone.unwrap_or(target.pass), size: [MOST_POINTS, 1], attachments: 0 };
                let stages = [&vertex, &shader];
                let none = is_independent.then(|| layout_of(&vec![vk::DescriptorSetLayout::null(); set_layouts.len()]));
                let parts = std::cell::Cell::new(None);
                let link = |device: &ash::Device, info: &vk::GraphicsPipelineCreateInfo<'_>| match plan.stage {
                    Stage::Fragment => make_graphics(device, info),
                    Stage::Garbage => garbage::with(info, |info| make_graphics(device, info)),
                    _ => {
                        let (pipeline, all) = link_graphics(device, info, none.unwrap_or(layout));
                        parts.set(Some(all));
                        pipeline
                    }
                };
                let pipeline = graphics_pipeline(context, &frame, layout, stages, &specialization, &link);
                if let Some(gone) = gone {
                    garbage::destroy(device, gone);
                }
                if let Some(none) = none {
                    // SAFETY: made above; a pipeline does without its layout.
                    unsafe { device.destroy_pipeline_layout(none, None) };
                }
                libraries = parts.take();
                (Made::Pipeline(pipeline), Some(target))
            }
        };
        let [a, b] = plan.kinds;
        let lookup = |gives: &Gives| match gives {
            Gives::A => a,
            Gives::B => b,
            Gives::Compared => ResultKind::Shadow,
        };
        let lookups = gives.iter().map(lookup).collect();
        let own_offsets = plan.own_offsets;
        Self { context, stage: plan.stage, lookups, own, _empty: empty, own_offsets, layout, made, libraries, frame }
    }

    /// Shader objects of the stage; with a fragment shader a vertex shader that covers the frame.
    fn objects(
        context: &Context,
        stage: Stage,
        words: &[u32],
        (sets, push): (&[vk::DescriptorSetLayout], &[vk::PushConstantRange]),
        specialization: &vk::SpecializationInfo<'_>,
    ) -> Made {
        use vk::ShaderStageFlags as S;
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let (own, vertex) = (bytes(words), bytes(&module("draw/vertex")));
        let info = vk::ShaderCreateInfoEXT::default()
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .name(c"main")
            .set_layouts(sets)
            .push_constant_ranges(push);
        let flags = match stage {
            Stage::LinkedObjects => vk::ShaderCreateFlagsEXT::LINK_STAGE,
            _ => vk::ShaderCreateFlagsEXT::empty(),
        };
        let (stages, infos) = if stage.is_compute() {
            (vec![S::COMPUTE], vec![info.stage(S::COMPUTE).code(&own).specialization_info(specialization)])
        } else {
            let vertex = info.stage(S::VERTEX).next_stage(S::FRAGMENT).code(&vertex).flags(flags);
            let own = info.stage(S::FRAGMENT).code(&own).specialization_info(specialization).flags(flags);
            (vec![S::VERTEX, S::FRAGMENT], vec![vertex, own])
        };
        // SAFETY: the layouts are alive, the sets match the shaders' declarations, and the rest is local.
        let made = unsafe { context.functions.objects.create_shaders(&infos, None) };
        Made::Objects(stages, made.map_err(|(_, error)| error).expect("vkCreateShadersEXT"))
    }

    /// The pipeline layout.
    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The bind point.
    pub fn point(&self) -> vk::PipelineBindPoint {
        if self.stage.is_compute() { vk::PipelineBindPoint::COMPUTE } else { vk::PipelineBindPoint::GRAPHICS }
    }

    /// The render pass of a fragment program, which a secondary command buffer inherits.
    pub fn render_pass(&self) -> Option<vk::RenderPass> {
        self.frame.as_ref().map(|target| target.pass)
    }

    /// Whether it draws without a render pass object, as shader objects have to.
    fn renders_dynamically(&self) -> bool {
        matches!(self.made, Made::Objects(..)) && !self.stage.is_compute()
    }

    /// Records the bind of the pipeline, or of the shader objects with all the state that a draw needs.
    pub fn bind(&self, commands: vk::CommandBuffer) {
        match &self.made {
            // SAFETY: the buffer is recording and the pipeline alive.
            Made::Pipeline(pipeline) => unsafe {
                self.context.device().cmd_bind_pipeline(commands, self.point(), *pipeline);
            },
            Made::Objects(stages, shaders) => {
                // SAFETY: the buffer is recording and the shaders are alive.
                unsafe { self.context.functions.objects.cmd_bind_shaders(commands, stages, shaders) };
                if !self.stage.is_compute() {
                    self.set_state(commands);
                }
            }
        }
    }

    /// Records that some stages have other shaders than those of the rig, or none; then its own again, one by one.
    pub fn bind_stage_by_stage(&self, commands: vk::CommandBuffer) {
        let Made::Objects(stages, shaders) = &self.made else { return self.bind(commands) };
        let objects = &self.context.functions.objects;
        // SAFETY: the buffer is recording; a null array unbinds.
        unsafe {
            (objects.fp().cmd_bind_shaders_ext)(commands, stages.len() as u32, stages.as_ptr(), std::ptr::null())
        };
        for (stage, shader) in stages.iter().zip(shaders) {
            // SAFETY: as for `bind`.
            unsafe { objects.cmd_bind_shaders(commands, &[*stage], &[*shader]) };
        }
        if !self.stage.is_compute() {
            self.set_state(commands);
        }
    }

    /// Records the state that a pipeline has and shader objects have not.
    fn set_state(&self, commands: vk::CommandBuffer) {
        let (device, objects) = (self.context.device(), &self.context.functions.objects);
        let viewport = vk::Viewport { width: MOST_POINTS as f32, height: 1.0, max_depth: 1.0, ..Default::default() };
        let extent = vk::Extent2D { width: MOST_POINTS, height: 1 };
        let scissor = vk::Rect2D { offset: vk::Offset2D::default(), extent };
        // SAFETY: the buffer is recording; the device has Vulkan 1.3 and shader objects, and none of the features that ask for more state.
        unsafe {
            device.cmd_set_viewport_with_count(commands, &[viewport]);
            device.cmd_set_scissor_with_count(commands, &[scissor]);
            device.cmd_set_rasterizer_discard_enable(commands, false);
            device.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_LIST);
            device.cmd_set_primitive_restart_enable(commands, false);
            device.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
            device.cmd_set_depth_test_enable(commands, false);
            device.cmd_set_depth_write_enable(commands, false);
            device.cmd_set_depth_bias_enable(commands, false);
            device.cmd_set_stencil_test_enable(commands, false);
            objects.cmd_set_vertex_input(commands, &[], &[]);
            objects.cmd_set_polygon_mode(commands, vk::PolygonMode::FILL);
            objects.cmd_set_rasterization_samples(commands, vk::SampleCountFlags::TYPE_1);
            objects.cmd_set_sample_mask(commands, vk::SampleCountFlags::TYPE_1, &[u32::MAX]);
            objects.cmd_set_alpha_to_coverage_enable(commands, false);
        }
    }

    /// Records the bind of sets from `first` on.
    pub fn bind_sets(&self, commands: vk::CommandBuffer, first: u32, sets: &[vk::DescriptorSet], offsets: &[u32]) {
        let device = self.context.device();
        // SAFETY: the caller's sets have the layouts that the rig was made for.
        unsafe { device.cmd_bind_descriptor_sets(commands, self.point(), self.layout, first, sets, offsets) };
    }

    /// Records writes pushed to a set.
    pub fn push(&self, commands: vk::CommandBuffer, set: u32, writes: &[vk::WriteDescriptorSet<'_>]) {
        let push = &self.context.functions.push;
        // SAFETY: that set of the layout is a push set with the bindings that the caller names.
        unsafe { push.cmd_push_descriptor_set(commands, self.point(), self.layout, set, writes) };
    }

    /// Executes once over these sets, pipeline first; what each lookup finds at each of the points. `element`: see [`Job::record`].
    pub fn found(&self, sets: &[vk::DescriptorSet], points: &[SamplePoint], element: u32) -> Vec<Vec<Value>> {
        let job = Job::new(self, points);
        job.over(sets, element).execute();
        job.results()
    }

    /// Records what is between the ends of the render pass of a fragment program; of another, just that.
    pub fn in_pass(&self, commands: vk::CommandBuffer, contents: vk::SubpassContents, record: impl FnOnce()) {
        let device = self.context.device();
        let is_dynamic = self.renders_dynamically();
        if is_dynamic {
            let extent = vk::Extent2D { width: MOST_POINTS, height: 1 };
            let render_area = vk::Rect2D { offset: vk::Offset2D::default(), extent };
            let mut info = vk::RenderingInfo::default().render_area(render_area).layer_count(1);
            if contents == vk::SubpassContents::SECONDARY_COMMAND_BUFFERS {
                info = info.flags(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
            }
            // SAFETY: the buffer is recording outside of a render pass; there are no attachments.
            unsafe { device.cmd_begin_rendering(commands, &info) };
        }
        if let Some(target) = &self.frame {
            target.begin(commands, &[], contents);
        }
        record();
        if self.frame.is_some() {
            // SAFETY: inside the render pass begun above.
            unsafe { device.cmd_end_render_pass(commands) };
        }
        if is_dynamic {
            // SAFETY: begun above.
            unsafe { device.cmd_end_rendering(commands) };
        }
    }
}

impl Drop for Rig<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        match &self.made {
            // SAFETY: the harness waits for each submission.
            Made::Pipeline(pipeline) => unsafe { device.destroy_pipeline(*pipeline, None) },
            Made::Objects(_, shaders) => {
                let objects = &self.context.functions.objects;
                // SAFETY: as above.
                shaders.iter().for_each(|shader| unsafe { objects.destroy_shader(*shader, None) });
            }
        }
        for library in self.libraries.into_iter().flatten() {
            // SAFETY: as above.
            unsafe { device.destroy_pipeline(library, None) };
        }
        // SAFETY: as above, and the pipeline is gone.
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
    }
}

/// One run of a rig: its points, and room for what is found there.
pub struct Job<'r, 'c> {
    rig: &'r Rig<'c>,
    count: u32,
    output: Buffer<'c>,
    _input: Buffer<'c>,
    _pool: Pool<'c>,
    set: vk::DescriptorSet,
    offsets: Vec<u32>,
}

impl<'r, 'c> Job<'r, 'c> {
    /// Offset of the harness's own buffers where they are dynamic, in bytes: a multiple of what any device asks for.
    const OFFSET: usize = 256;

    /// A run over these points, of at most 1024.
    /// Panics when there are more.
    pub fn new(rig: &'r Rig<'c>, points: &[SamplePoint]) -> Self {
        let context = rig.context;
        let count = u32::try_from(points.len()).ok().filter(|count| *count <= MOST_POINTS).expect("up to 1024 points");
        let start = if rig.own_offsets { Self::OFFSET } else { 0 };
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let input = Buffer::new(context, start + points.len() * 32, usage);
        input.write(start, &points.iter().flat_map(SamplePoint::bytes).collect::<Vec<_>>());
        let output = Buffer::new(context, start + points.len() * rig.lookups.len() * 16, usage);
        let pool = Pool::new(context, &[&rig.own]);
        let set = pool.allocate(&rig.own);
        for (binding, buffer) in (0..).zip([&input, &output]) {
            let range = (buffer.size() - start) as u64;
            let info = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(rig.own.bindings()[0].ty)
                .buffer_info(&info);
            descriptor::update(context, &[write], &[], &[]);
        }
        let offsets = if rig.own_offsets { vec![Self::OFFSET as u32; 2] } else { Vec::new() };
        Self { rig, count, output, _input: input, _pool: pool, set, offsets }
    }

    /// Records the bind of the harness's own set.
    pub fn bind(&self, commands: vk::CommandBuffer) {
        self.rig.bind_sets(commands, OWN_SET, &[self.set], &self.offsets);
    }

    /// The harness's own set and its dynamic offsets, to be bound together with others.
    pub fn own(&self) -> (vk::DescriptorSet, &[u32]) {
        (self.set, &self.offsets)
    }

    /// Records the dispatch, or the draw where the render pass has been begun. `element` is what [`Program::Dynamic`] looks at.
    pub fn record(&self, commands: vk::CommandBuffer, element: u32) {
        let device = self.rig.context.device();
        let constants: Vec<u8> = [self.count, element].into_iter().flat_map(u32::to_le_bytes).collect();
        // SAFETY: the layout has this push constant range.
        unsafe { device.cmd_push_constants(commands, self.rig.layout, STAGES, 0, &constants) };
        if self.rig.stage.is_compute() {
            // SAFETY: pipeline, sets and push constants are bound (the caller's side of the contract).
            unsafe { device.cmd_dispatch(commands, self.count.div_ceil(64).max(1), 1, 1) };
        } else {
            // SAFETY: as above, and the render pass has been begun.
            unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
        }
    }

    /// Records the dispatch or the draw in its render pass, and makes the results visible.
    pub fn run(&self, commands: vk::CommandBuffer, element: u32) {
        self.rig.in_pass(commands, vk::SubpassContents::INLINE, || self.record(commands, element));
        self.finish(commands);
    }

    /// Records the bind of the pipeline and of the harness's own set, and runs it.
    pub fn draw(&self, commands: vk::CommandBuffer, element: u32) {
        self.rig.bind(commands);
        self.bind(commands);
        self.run(commands, element);
    }

    /// Commands that bind the pipeline, these sets and the harness's own, and run it.
    pub fn over(&self, sets: &[vk::DescriptorSet], element: u32) -> Commands<'c> {
        Commands::primary(self.rig.context, |commands| {
            self.rig.bind(commands);
            self.rig.bind_sets(commands, 0, sets, &[]);
            self.bind(commands);
            self.run(commands, element);
        })
    }

    /// Makes the results visible, outside of a render pass.
    pub fn finish(&self, commands: vk::CommandBuffer) {
        image::barrier(self.rig.context.device(), commands, &[]);
    }

    /// What was found: for each lookup of the program, one value a point. All zero where nothing was executed.
    pub fn results(&self) -> Vec<Vec<Value>> {
        let lookups = self.rig.lookups.len();
        let start = self.output.size() - self.count as usize * lookups * 16;
        let bytes = self.output.read(start, self.count as usize * lookups * 16);
        let of = |(lookup, kind): (usize, &ResultKind)| {
            let texels = bytes.chunks_exact(16).skip(lookup).step_by(lookups);
            texels.map(|texel| Value::from_bytes(kind.numeric(), texel)).collect()
        };
        self.rig.lookups.iter().enumerate().map(of).collect()
    }
}

/// A command buffer of its own pool, recorded once and executed as often as a test wants.
pub struct Commands<'c> {
    context: &'c Context,
    pool: vk::CommandPool,
    handle: vk::CommandBuffer,
}

impl<'c> Commands<'c> {
    /// Records a primary command buffer.
    pub fn primary(context: &'c Context, record: impl FnOnce(vk::CommandBuffer)) -> Self {
        Self::new(context, vk::CommandBufferLevel::PRIMARY, &vk::CommandBufferBeginInfo::default(), record)
    }

    /// Records a secondary command buffer that runs inside of the rig's render pass, if it has one.
    pub fn secondary(context: &'c Context, rig: &Rig<'_>, record: impl FnOnce(vk::CommandBuffer)) -> Self {
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        let mut rendering =
            vk::CommandBufferInheritanceRenderingInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let mut flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        if rig.renders_dynamically() {
            inheritance = inheritance.push_next(&mut rendering);
            flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        }
        if let Some(render_pass) = rig.render_pass() {
            inheritance = inheritance.render_pass(render_pass);
            flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
        Self::new(context, vk::CommandBufferLevel::SECONDARY, &begin, record)
    }

    fn new(
        context: &'c Context,
        level: vk::CommandBufferLevel,
        begin: &vk::CommandBufferBeginInfo<'_>,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Self {
        let device = context.device();
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
        // SAFETY: the create info is a local without pointers.
        let pool = unsafe { device.create_command_pool(&pool_info, None) }.expect("vkCreateCommandPool");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).level(level).command_buffer_count(1);
        // SAFETY: the pool is this object's own.
        let handle = unsafe { device.allocate_command_buffers(&info) }.expect("vkAllocateCommandBuffers")[0];
        // SAFETY: freshly allocated; the inheritance of a secondary buffer is the caller's local.
        unsafe { device.begin_command_buffer(handle, begin) }.expect("vkBeginCommandBuffer");
        record(handle);
        // SAFETY: recording since the call above.
        unsafe { device.end_command_buffer(handle) }.expect("vkEndCommandBuffer");
        Self { context, pool, handle }
    }

    /// The handle.
    pub fn handle(&self) -> vk::CommandBuffer {
        self.handle
    }

    /// Records a primary command buffer, executes it once and waits for it.
    pub fn once(context: &'c Context, record: impl FnOnce(vk::CommandBuffer)) {
        Self::primary(context, record).execute();
    }

    /// Executes a primary command buffer and waits for it.
    pub fn execute(&self) {
        self.context.execute(self.handle);
    }

    /// Records the execution of a secondary command buffer.
    pub fn record_into(&self, primary: vk::CommandBuffer) {
        // SAFETY: the primary buffer is recording, where this one was made to run.
        unsafe { self.context.device().cmd_execute_commands(primary, &[self.handle]) };
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: each execution was waited for.
        unsafe { self.context.device().destroy_command_pool(self.pool, None) };
    }
}
