//! What a frame is recorded with where images and samplers are descriptors of their own: pipelines, sets and draws, and the updates
//! of such sets.
//!
//! Each set has two images (bindings 0 and 1) and the sampler (binding 2) that the fragment shader reads both through. Commands are
//! only recorded: nothing here is submitted.

mod beside;
pub(crate) mod repaired;
mod shader;
mod tables;

use ash::vk;
use samplin_testkit::capability::Capability;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::image::{Image, ImageDesc};

use self::beside::Beside;
use self::shader::{pipelines, shader};
use self::tables::Looked;
use crate::callgrind;
use crate::noted::Held;
use crate::sample::{CALLS, COUNTED, create_view, sampler_write, thread_ns, time};

/// Sets of a pipeline.
const SETS: u32 = 3;
/// Pipelines of the rows of one command.
const PIPELINES: usize = 64;
/// Most threads that bind at once.
const THREADS: usize = 8;
/// Pipelines, draws and threads of the frame.
const FRAME_PIPELINES: usize = 200;
const FRAME_DRAWS: usize = 2000;
const FRAME_THREADS: usize = 2;
/// Frames that are recorded before one is counted.
const FRAME_WARMS: usize = 4;
/// Images of the array that is written, and of one that is too large for the shader's index to be followed.
const ARRAY: u32 = 16;
const LARGE: u32 = 4096;

/// What is known to conflict, and with which setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictState {
    /// With `separate=base`.
    Base,
    /// No view lacks anything.
    Nothing,
    /// Another pipeline was bound with a set that conflicts.
    Elsewhere,
    /// The same with `unfilterable=emulate`: pipelines may get shaders that filter themselves.
    Emulate,
    /// Both images of set 0 conflict with its sampler.
    Agree,
    /// One image of set 0 conflicts with its sampler, and one does not.
    Disagree,
    /// No view lacks anything, and there is a view with depth and stencil.
    Aspects,
    /// No view lacks anything, but one that a shader has compared.
    Compared,
    /// Another pipeline was bound with a set that conflicts, and whose views are of other numbers than shaders declare.
    Declared,
    /// With `bindless=resolve`.
    Looked,
    /// No view lacks anything, with `pulse=on`.
    Pulsed,
}

impl ConflictState {
    pub(crate) const ALL: [Self; 11] = [
        Self::Base,
        Self::Nothing,
        Self::Elsewhere,
        Self::Emulate,
        Self::Agree,
        Self::Disagree,
        Self::Aspects,
        Self::Compared,
        Self::Declared,
        Self::Looked,
        Self::Pulsed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Base => "separate=base",
            Self::Nothing => "nothing lacks",
            Self::Elsewhere => "conflict elsewhere",
            Self::Emulate => "emulate, conflict elsewhere",
            Self::Agree => "conflict, agreed on",
            Self::Disagree => "conflict, shared sampler",
            Self::Aspects => "a view of depth and stencil",
            Self::Compared => "a comparison in the shader",
            Self::Declared => "declared otherwise elsewhere",
            Self::Looked => "bindless=resolve",
            Self::Pulsed => "nothing lacks, pulse=on",
        }
    }

    /// Settings of the layer.
    pub(crate) fn settings(self) -> Vec<(&'static str, &'static str)> {
        let separate = if self == Self::Base { "base" } else { "resolve" };
        let unfilterable = if self == Self::Emulate { "emulate" } else { "nearest" };
        let storage = if self == Self::Declared { "emulate" } else { "base" };
        let mut all = vec![("separate", separate), ("unfilterable", unfilterable), ("storage", storage)];
        if self == Self::Looked {
            // Which does not filter 32-bit floats.
            all.extend([("bindless", "resolve"), ("device", "broadcom-v3d-4.2-v3dv")]);
        }
        if self == Self::Pulsed {
            all.push(("pulse", "on"));
        }
        all
    }

    fn conflicts(self) -> bool {
        matches!(self, Self::Agree | Self::Disagree)
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Pipeline,
    /// Sets from number 0 on, the same ones each time.
    Sets(u32),
    /// All sets, the same ones each time, by `vkCmdBindDescriptorSets2`.
    Sets2,
    /// All sets, other ones each time.
    OtherSets,
    Draw,
    /// A set or a push beside those that the pipeline reads.
    Beside(Beside),
    /// What a shader looks samplers up for.
    Looked(Looked),
    /// Bind and draw after a sampler was created and destroyed, which nothing that is bound names.
    GoneSampler,
    /// A command buffer with two sets that were written since they were last bound.
    NewSets,
    UpdateSampler,
    /// Images of one write, to the short array and to the large one.
    UpdateImages(u32),
    UpdateLarge(u32),
    /// Creation and destruction of a shader module, and of a graphics pipeline.
    Module,
    NewPipeline,
    /// A frame whose draws are sorted by pipeline: each pipeline comes with its sets, each draw with the last of them.
    SortedFrame,
    /// A frame in which each draw binds its pipeline and its sets.
    MixedFrame,
}

impl Step {
    /// Every step in a state.
    pub(crate) fn all(state: ConflictState) -> Vec<Self> {
        use Step as S;
        if state == ConflictState::Looked {
            return Looked::ALL.map(S::Looked).to_vec();
        }
        if state == ConflictState::Pulsed {
            return vec![S::SortedFrame, S::MixedFrame, S::Draw];
        }
        if matches!(state, ConflictState::Aspects | ConflictState::Compared | ConflictState::Declared) {
            return vec![S::Draw, S::OtherSets, S::UpdateSampler, S::UpdateImages(1), S::UpdateImages(ARRAY)];
        }
        // Frames come first: the rows of binds have more pipelines split than a frame has, which stay so.
        let frames = [S::SortedFrame, S::MixedFrame];
        let binds = [S::Pipeline, S::Sets(1), S::Sets(SETS), S::Draw];
        let updates = [S::UpdateSampler, S::UpdateImages(1), S::UpdateImages(ARRAY)];
        let beside = Beside::ALL.map(S::Beside);
        let others = [S::OtherSets, S::Sets2, S::NewSets, S::Module, S::NewPipeline, S::GoneSampler];
        let large: &[S] = if matches!(state, ConflictState::Nothing | ConflictState::Elsewhere) {
            &[1, 256].map(S::UpdateLarge)
        } else {
            &[]
        };
        [&frames[..], &binds, &updates, large, &others, &beside].concat()
    }

    /// Whether several threads do it at once, each in a command buffer of its own.
    pub(crate) fn is_threaded(self) -> bool {
        matches!(self, Self::Pipeline | Self::Sets(_) | Self::OtherSets | Self::Module)
    }

    pub(crate) fn is_timed_only(self) -> bool {
        matches!(self, Self::NewSets | Self::NewPipeline)
    }

    fn is_frame(self) -> bool {
        matches!(self, Self::SortedFrame | Self::MixedFrame)
    }

    pub(crate) fn is_own(self) -> bool {
        self.is_frame() || matches!(self, Self::Draw | Self::GoneSampler | Self::Sets2)
    }

    /// Calls that one sample of instructions covers; draws of a frame.
    pub(crate) fn counted(self) -> usize {
        if self.is_frame() { FRAME_DRAWS / FRAME_THREADS } else { COUNTED }
    }

    pub(crate) fn name(self, state: ConflictState) -> String {
        let links = if state.conflicts() { ", 10 links" } else { "" };
        let state = state.name();
        match self {
            Self::Pipeline => format!("bind pipeline, {state}"),
            Self::Sets(n) => format!("bind {n} set(s), {state}"),
            Self::Sets2 => format!("bind {SETS} set(s) by version 2, {state}"),
            Self::OtherSets => format!("bind {SETS} other set(s), {state}"),
            Self::Draw => format!("draw, {state}"),
            Self::Beside(beside) => format!("{}, {state}", beside.name()),
            Self::Looked(looked) => format!("{}, {state}", looked.name()),
            Self::GoneSampler => format!("bind and draw after a sampler went, {state}"),
            Self::NewSets => format!("write and bind 2 sets, {state}"),
            Self::UpdateSampler => format!("update, a sampler, {state}"),
            Self::UpdateImages(n) => format!("update, {n} image(s), {state}"),
            Self::UpdateLarge(n) => format!("update, {n} image(s) of {LARGE}, {state}"),
            Self::Module => format!("create and destroy a module, {state}"),
            Self::NewPipeline => format!("create and destroy a pipeline, {state}"),
            Self::SortedFrame => format!("frame, sorted, {state}{links}"),
            Self::MixedFrame => format!("frame, mixed, {state}{links}"),
        }
    }
}

/// Everything that one device needs for the rows.
pub(crate) struct Scene<'c> {
    parts: Parts<'c>,
    _images: [Image<'c>; 2],
    _noted: Option<Held<'c>>,
}

impl<'c> Scene<'c> {
    pub(crate) fn new(context: &'c Context, state: ConflictState) -> Self {
        use ConflictState as S;
        let noted = Held::of(context, state == S::Aspects, state == S::Compared);
        let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT];
        let images = formats.map(|format| Image::new(context, &ImageDesc::d2(format, 4, 4)).expect("an image"));
        // Without a view that lacks something nothing can conflict.
        let lacks = usize::from(!matches!(state, S::Base | S::Nothing | S::Aspects | S::Compared));
        let views = [0, lacks].map(|at| create_view(context, images[at].handle(), formats[at]));
        Self { parts: Parts::new(context, state, views), _images: images, _noted: noted }
    }

    /// ns of thread CPU time per call of each thread, or for a whole frame. Empty when the device cannot do the step.
    pub(crate) fn measure(&self, step: Step, threads: usize) -> Vec<f64> {
        let parts = &self.parts;
        let indexing = [Capability::DescriptorIndexing, Capability::ImageArrayIndexing];
        let is_missing = match step {
            Step::Sets2 => !parts.context.supports(Capability::Maintenance6),
            Step::Looked(_) => indexing.into_iter().any(|own| !parts.context.supports(own)),
            _ => false,
        };
        if is_missing {
            return Vec::new();
        }
        if threads == 1 {
            return vec![parts.measure(step, 0)];
        }
        std::thread::scope(|scope| {
            let run = |pool| scope.spawn(move || parts.measure(step, pool));
            let running: Vec<_> = (0..threads.min(THREADS)).map(run).collect();
            running.into_iter().map(|thread| thread.join().expect("a measuring thread")).collect()
        })
    }
}

/// What the recording threads share.
struct Parts<'c> {
    context: &'c Context,
    state: ConflictState,
    sampler: vk::Sampler,
    /// A view that filters, and one that does not.
    views: [vk::ImageView; 2],
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    /// As many sets as a pipeline has, twice, with nothing that conflicts, and the same with what the state says in the first.
    legal: [Vec<vk::DescriptorSet>; 2],
    stated: [Vec<vk::DescriptorSet>; 2],
    written: [vk::DescriptorSet; 2],
    pools: Vec<vk::CommandPool>,
    _pool: Pool<'c>,
    _layouts: [SetLayout<'c>; 3],
}

impl<'c> Parts<'c> {
    fn new(context: &'c Context, state: ConflictState, views: [vk::ImageView; 2]) -> Self {
        let device = context.device();
        let info = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR);
        // SAFETY: a valid create info.
        let sampler = unsafe { device.create_sampler(&info, None) }.expect("a sampler");
        let own = SetLayout::new(context, &[Binding::image(0), Binding::image(1), Binding::sampler(2)]);
        let written_layouts = [ARRAY, LARGE].map(|count| {
            let array = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, count);
            SetLayout::new(context, &[array, Binding::sampler(1)])
        });
        let mut room: Vec<&SetLayout<'_>> = vec![&own; 4 * SETS as usize];
        room.extend(&written_layouts);
        let pool = Pool::new(context, &room);
        let allocate = || (0..SETS).map(|_| pool.allocate(&own)).collect::<Vec<_>>();
        let [legal, stated] = [(); 2].map(|()| [allocate(), allocate()]);
        let fill = |set: vk::DescriptorSet, at: [usize; 2]| {
            let info = |at: usize| vk::DescriptorImageInfo {
                image_view: views[at],
                image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                ..Default::default()
            };
            write_images(context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &at.map(info));
            let info = [vk::DescriptorImageInfo { sampler, ..Default::default() }];
            write_images(context, set, (2, 0), vk::DescriptorType::SAMPLER, &info);
        };
        let first = if state == ConflictState::Disagree { [0, 1] } else { [1, 1] };
        legal.iter().flatten().for_each(|set| fill(*set, [0, 0]));
        for sets in &stated {
            sets.iter().enumerate().for_each(|(number, set)| fill(*set, if number == 0 { first } else { [0, 0] }));
        }
        let written = written_layouts.each_ref().map(|layout| pool.allocate(layout));
        let [short, large] = written_layouts;
        let handles = [own.handle(); SETS as usize];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles);
        // SAFETY: a valid create info.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let pass = render_pass(context);
        let pipelines = pipelines(context, layout, pass, FRAME_PIPELINES);
        let pools = (0..THREADS)
            .map(|_| {
                let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
                // SAFETY: a queue family of the device.
                unsafe { device.create_command_pool(&info, None) }.expect("a command pool")
            })
            .collect();
        let scene = Self {
            context,
            state,
            sampler,
            views,
            pass,
            layout,
            pipelines,
            legal,
            stated,
            written,
            pools,
            _pool: pool,
            _layouts: [own, short, large],
        };
        if matches!(state, ConflictState::Elsewhere | ConflictState::Emulate | ConflictState::Declared) {
            scene.record(0, |commands| {
                scene.bind(commands, PIPELINES);
                scene.bind_sets(commands, &scene.stated[0]);
            });
        }
        scene
    }

    /// Records a command buffer of a pool; it is freed again.
    fn record<R>(&self, pool: usize, record: impl FnOnce(vk::CommandBuffer) -> R) -> R {
        let device = self.context.device();
        let pool = self.pools[pool];
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: each thread has a pool of its own.
        let commands = unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer");
        let begin = vk::CommandBufferBeginInfo::default();
        // SAFETY: it was just allocated.
        unsafe { device.begin_command_buffer(commands[0], &begin) }.expect("a command buffer that records");
        let out = record(commands[0]);
        // SAFETY: it is recording, and was not submitted.
        unsafe {
            device.end_command_buffer(commands[0]).expect("a recorded command buffer");
            device.free_command_buffers(pool, &commands);
        }
        out
    }

    fn bind(&self, commands: vk::CommandBuffer, pipeline: usize) {
        let pipeline = self.pipelines[pipeline];
        // SAFETY: the command buffer is recording.
        unsafe { self.context.device().cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline) };
    }

    fn bind_sets(&self, commands: vk::CommandBuffer, sets: &[vk::DescriptorSet]) {
        self.bind_sets_from(commands, 0, sets);
    }

    fn bind_sets_from(&self, commands: vk::CommandBuffer, first: u32, sets: &[vk::DescriptorSet]) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording; all sets are of the one layout.
        unsafe { self.context.device().cmd_bind_descriptor_sets(commands, point, self.layout, first, sets, &[]) };
    }

    /// What the row binds.
    fn both_sets(&self) -> &[Vec<vk::DescriptorSet>; 2] {
        if self.state.conflicts() { &self.stated } else { &self.legal }
    }

    fn sets(&self) -> &[vk::DescriptorSet] {
        &self.both_sets()[0]
    }

    fn measure(&self, step: Step, pool: usize) -> f64 {
        let device = self.context.device();
        match step {
            Step::Pipeline => self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                let calls: Vec<usize> = (0..CALLS).map(|call| call % PIPELINES).collect();
                time(&calls, |pipeline| self.bind(commands, *pipeline))
            }),
            Step::Sets(count) => self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                self.bind(commands, 0);
                let calls = vec![&self.sets()[..count as usize]; CALLS];
                time(&calls, |sets| self.bind_sets(commands, sets))
            }),
            Step::Sets2 => self.bind_sets2(pool),
            Step::OtherSets => self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                self.bind(commands, 0);
                let calls: Vec<&[vk::DescriptorSet]> = (0..CALLS).map(|call| &*self.both_sets()[call % 2]).collect();
                time(&calls, |sets| self.bind_sets(commands, sets))
            }),
            Step::Draw => self.record(pool, |commands| {
                self.bind_sets(commands, self.sets());
                self.bind(commands, 0);
                // SAFETY: recording; pipeline and sets are bound (the render pass is left out, which no driver looks at here).
                time(&[(); CALLS], |()| unsafe { device.cmd_draw(commands, 3, 1, 0, 0) })
            }),
            Step::Beside(beside) => self.beside(beside, pool),
            Step::Looked(looked) => self.looked(looked, pool),
            Step::GoneSampler => self.record(pool, |commands| {
                let info = vk::SamplerCreateInfo::default();
                time(&[(); CALLS], |()| {
                    // SAFETY: a valid create info; nothing uses the sampler.
                    unsafe { device.destroy_sampler(device.create_sampler(&info, None).expect("a sampler"), None) };
                    self.bind(commands, 0);
                    self.bind_sets(commands, self.sets());
                    // SAFETY: as in the row of draws.
                    unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
                })
            }),
            Step::NewSets => {
                let info = [vk::DescriptorImageInfo { sampler: self.sampler, ..Default::default() }];
                let sets = self.both_sets().each_ref().map(|sets| sets[0]);
                let writes = sets.map(|set| sampler_write(set, 2, &info));
                time(&[(); CALLS], |()| {
                    // SAFETY: valid writes to sets that are in no command buffer.
                    unsafe { device.update_descriptor_sets(&writes, &[]) };
                    self.record(pool, |commands| {
                        self.bind(commands, 0);
                        sets.iter().for_each(|set| self.bind_sets(commands, &[*set]));
                    });
                })
            }
            Step::UpdateSampler => {
                let info = [vk::DescriptorImageInfo { sampler: self.sampler, ..Default::default() }];
                let write = sampler_write(self.written[0], 1, &info);
                // SAFETY: valid writes to a set that is not in use.
                time(&vec![[write]; CALLS], |writes| unsafe { device.update_descriptor_sets(writes, &[]) })
            }
            Step::UpdateImages(count) | Step::UpdateLarge(count) => {
                let info = |at: usize| vk::DescriptorImageInfo {
                    image_view: self.views[at % 2],
                    image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                    ..Default::default()
                };
                let infos: Vec<_> = (0..count as usize).map(info).collect();
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(self.written[usize::from(step == Step::UpdateLarge(count))])
                    .dst_binding(0)
                    .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                    .image_info(&infos);
                // SAFETY: as above.
                time(&vec![[write]; CALLS], |writes| unsafe { device.update_descriptor_sets(writes, &[]) })
            }
            Step::Module => {
                let words = shader(true);
                let info = vk::ShaderModuleCreateInfo::default().code(&words);
                // SAFETY: valid words; nothing uses the module.
                time(&[(); CALLS], |()| unsafe {
                    let module = device.create_shader_module(&info, None).expect("a shader module");
                    device.destroy_shader_module(module, None);
                })
            }
            Step::NewPipeline => time(&[(); CALLS], |()| {
                let made = pipelines(self.context, self.layout, self.pass, 1);
                // SAFETY: nothing uses them.
                made.into_iter().for_each(|pipeline| unsafe { device.destroy_pipeline(pipeline, None) });
            }),
            Step::SortedFrame | Step::MixedFrame => self.frame(step == Step::SortedFrame),
        }
    }

    /// ns of thread CPU time of all threads together.
    fn frame(&self, is_sorted: bool) -> f64 {
        let frame = |thread: usize| self.record_frame(thread, is_sorted, &mut AsItComes(self));
        if callgrind::is_running() {
            // What one thread records, the last of several times: the driver's heap is in the same order then, with and without a layer.
            (0..FRAME_WARMS).for_each(|_| _ = frame(0));
            callgrind::zero();
            let ns = frame(0);
            callgrind::dump(c"sample");
            return ns;
        }
        on_threads(frame)
    }

    /// What a thread records of a frame, in ns.
    fn record_frame(&self, thread: usize, is_sorted: bool, binds: &mut impl Binds) -> f64 {
        let draws = FRAME_DRAWS / FRAME_THREADS;
        let pipelines = FRAME_PIPELINES / FRAME_THREADS;
        self.record(thread, |commands| {
            let start = thread_ns();
            for draw in 0..draws {
                let at = if is_sorted { draw * pipelines / draws } else { draw % pipelines };
                // Every 20th pipeline is one whose links conflict.
                let sets = if at % 20 == 0 { self.sets() } else { &self.legal[0] };
                if !is_sorted || draw % (draws / pipelines) == 0 {
                    binds.pipeline(commands, at * FRAME_THREADS + thread);
                    binds.sets(commands, 0, sets);
                }
                if is_sorted {
                    binds.sets(commands, SETS - 1, &sets[SETS as usize - 1..]);
                }
                // SAFETY: as in the row of draws.
                unsafe { self.context.device().cmd_draw(commands, 3, 1, 0, 0) };
            }
            thread_ns() - start
        })
    }
}

/// How a frame binds what it is recorded with.
trait Binds {
    /// The pipeline at this place.
    fn pipeline(&mut self, commands: vk::CommandBuffer, at: usize);

    /// Sets from a number on.
    fn sets(&mut self, commands: vk::CommandBuffer, first: u32, sets: &[vk::DescriptorSet]);
}

/// Nothing but what the application binds.
struct AsItComes<'p, 'c>(&'p Parts<'c>);

impl Binds for AsItComes<'_, '_> {
    fn pipeline(&mut self, commands: vk::CommandBuffer, at: usize) {
        self.0.bind(commands, at);
    }

    fn sets(&mut self, commands: vk::CommandBuffer, first: u32, sets: &[vk::DescriptorSet]) {
        self.0.bind_sets_from(commands, first, sets);
    }
}

/// ns of thread CPU time of all recording threads of a frame together.
fn on_threads(frame: impl Fn(usize) -> f64 + Sync) -> f64 {
    let all = || {
        std::thread::scope(|scope| {
            let frame = &frame;
            let threads: Vec<_> = (0..FRAME_THREADS).map(|thread| scope.spawn(move || frame(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a recording thread")).sum::<f64>()
        })
    };
    // Once without the clock, so that nothing is met for the first time.
    all();
    all()
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: nothing was submitted.
        unsafe {
            self.pools.iter().for_each(|pool| device.destroy_command_pool(*pool, None));
            self.pipelines.iter().for_each(|pipeline| device.destroy_pipeline(*pipeline, None));
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_render_pass(self.pass, None);
            device.destroy_sampler(self.sampler, None);
            self.views.iter().for_each(|view| device.destroy_image_view(*view, None));
        }
    }
}

/// A render pass without attachments.
pub(crate) fn render_pass(context: &Context) -> vk::RenderPass {
    let subpasses = [vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)];
    let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
    // SAFETY: a valid create info.
    unsafe { context.device().create_render_pass(&info, None) }.expect("a render pass")
}
