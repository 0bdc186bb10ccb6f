//! Runs a stream on a device: what would be illegal where it stands is left out, so that a stream stays legal whatever is dropped from it.

/// Notes a call before it is made.
macro_rules! log {
    ($self:ident, $($what:tt)*) => {{
        $self.log.push(format!($($what)*));
        if $self.is_loud {
            eprintln!("{}", $self.log[$self.log.len() - 1]);
        }
    }};
}

mod sets;

use super::catalog::{CODES, DEFINITIONS, Definition, Entry, FRAME, SLOT, Slot, Texel};
use super::model::{
    COMPUTE, Content, Descriptor, Drawn, Dynamic, GRAPHICS, IMAGES, Key, Lack, Mode, Objects, Pass, Pipeline,
    Recording, Set, Shape, Source, State, needed, writable,
};
use super::world::{
    ARGUMENTS, DATA, DISPATCH_AT, Handle, Made, RESULTS, SLOTS, STAGES, STEP, UNIFORMS, World, area, culled, describe,
    descriptor_type, is_of, rectangle, template_entries, viewport,
};
use super::{Kind, Op};
use crate::*;
use fastrand::Rng;
use samplin_testkit::ViewDesc;
use samplin_testkit::descriptor::{Spelling, Template, update};
use samplin_testkit::image::{FIRST, barrier, turned};
use std::collections::BTreeMap;

/// Sets of a pool, pools of a program, its primary command buffers, its samplers.
const SETS: usize = 24;
const POOLS: usize = 3;
/// Sets of a definition beyond which none is allocated for a bind while another one will do.
const FEW_SETS: usize = 3;
const PRIMARIES: usize = 2;
const SAMPLERS: usize = 5;
const POINTS: [vk::PipelineBindPoint; 2] = [vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::GRAPHICS];
/// What the results are filled with.
const UNTOUCHED: u32 = 0xcdcd_cdcd;

/// What a command buffer refers to; a set stands for what is in it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Set(usize),
    View(usize),
    Sampler(usize),
    Pipeline(usize),
    Layout(usize, usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Status {
    #[default]
    Idle,
    Recording,
    Executable,
}

/// A command buffer and what is recorded in it.
#[derive(Default)]
struct Recorder {
    handle: vk::CommandBuffer,
    status: Status,
    state: Recording,
    uses: BTreeSet<Object>,
    draws: Vec<Drawn>,
    pass: Option<Pass>,
}

pub(super) struct Program<'w, 'c> {
    world: &'w mut World<'c>,
    objects: Objects,
    views: Vec<Option<View<'c>>>,
    samplers: Vec<Option<Sampler<'c>>>,
    sets: Vec<vk::DescriptorSet>,
    /// Views by image, and samplers, that updates choose among.
    own_views: [usize; 2 * IMAGES],
    own_samplers: [usize; SAMPLERS],
    pools: Vec<Pool<'c>>,
    primaries: [Recorder; PRIMARIES],
    current: usize,
    secondary: Option<Recorder>,
    next_slot: usize,
    /// Draws that joined what may not be joined, and all of them.
    pub(super) conflicts: usize,
    pub(super) draws: usize,
    /// What validation said.
    pub(super) errors: Vec<Message>,
    /// What it said of a draw in which nothing conflicts.
    wrong: Option<String>,
    pub(super) log: Vec<String>,
    /// Calls are told before they are made, for a program that ends its process.
    is_loud: bool,
}

impl<'w, 'c> Program<'w, 'c> {
    pub(super) fn new(world: &'w mut World<'c>, random: &mut Rng) -> Self {
        let context = world.context;
        let device = context.device();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(world.commands);
        // SAFETY: the pool is the world's own.
        let handles = unsafe { device.allocate_command_buffers(&info.command_buffer_count(PRIMARIES as u32)) };
        let handles = handles.expect("vkAllocateCommandBuffers");
        let mut program = Self {
            world,
            objects: Objects::default(),
            views: Vec::new(),
            samplers: Vec::new(),
            sets: Vec::new(),
            own_views: [0; 2 * IMAGES],
            own_samplers: [0; SAMPLERS],
            pools: Vec::new(),
            primaries: std::array::from_fn(|at| Recorder { handle: handles[at], ..Recorder::default() }),
            current: 0,
            secondary: None,
            next_slot: 0,
            conflicts: 0,
            draws: 0,
            errors: Vec::new(),
            wrong: None,
            log: Vec::new(),
            is_loud: std::env::var_os("API_FUZZ_LOUD").is_some(),
        };
        for number in 0..POOLS {
            // The last one is for sets that may be updated after binds.
            let is_late = number + 1 == POOLS;
            let layouts = program.world.set_layouts.iter().zip(&DEFINITIONS);
            let layouts = layouts.filter(|(_, definition)| !definition.is_pushed && definition.is_late() == is_late);
            let layouts: Vec<_> =
                layouts.filter_map(|(layouts, _)| layouts.as_ref()).map(|[first, ..]| first).collect();
            let all: Vec<_> = layouts.iter().copied().cycle().take(layouts.len() * SETS).collect();
            if !all.is_empty() {
                program.pools.push(Pool::new(context, &all));
            }
        }
        (0..2 * IMAGES).for_each(|image| program.make_view(image));
        (0..SAMPLERS).for_each(|place| program.make_sampler(place, random));
        program
    }

    // --- pipelines and layouts --------------------------------------------------------------------------------------------

    fn remake_pipeline(&mut self, random: &mut Rng) {
        let number = random.usize(0..self.world.pipelines.len());
        if !self.give_up(Object::Pipeline(number)) {
            return;
        }
        log!(self, "pipeline {number} is destroyed and made again");
        let plan = self.world.pipelines[number].plan;
        self.world.destroy(self.world.pipelines[number].handle);
        let handle = self.world.make(&plan);
        self.world.pipelines[number] = Made { plan, handle, known: 0 };
    }

    fn remake_set_layout(&mut self, random: &mut Rng) {
        let Some(set) = random.choice(self.live_sets()).filter(|set| self.objects.sets[*set].layout == 2) else {
            return;
        };
        let definition = self.objects.sets[set].definition;
        log!(self, "a layout of {} is destroyed and made again", DEFINITIONS[definition].name);
        self.world.remake_set_layout(definition);
        let of = |set: &&mut Set| set.definition == definition && set.layout == 2;
        self.objects.sets.iter_mut().filter(of).for_each(|set| set.is_frozen = true);
    }

    fn remake_layout(&mut self, random: &mut Rng) {
        let code = self.world.pipelines[random.usize(0..self.world.pipelines.len())].plan.code;
        let which = random.usize(1..3);
        if !self.give_up(Object::Layout(code, which)) {
            return;
        }
        log!(self, "layout {which} of code {code} is destroyed and made again");
        let layout = self.layout(code, which);
        // SAFETY: no command buffer that was passed it is recording.
        unsafe { self.world.context.device().destroy_pipeline_layout(layout, None) };
        let layout = self.world.pipeline_layout(code, random);
        self.world.layouts[code].as_mut().expect("it was made")[which] = layout;
    }

    fn layout(&self, code: usize, which: usize) -> vk::PipelineLayout {
        self.world.layouts[code].expect("it was made")[which]
    }

    fn random_pipeline(&self, random: &mut Rng) -> usize {
        random.usize(0..self.world.pipelines.len())
    }

    fn plan(&self, pipeline: usize) -> Pipeline {
        self.world.pipelines[pipeline].plan
    }

    // --- commands ---------------------------------------------------------------------------------------------------------

    /// The command buffer that is being recorded. One that is not is begun again.
    fn recorder(&mut self) -> &mut Recorder {
        if self.secondary.is_none() && self.primaries[self.current].status != Status::Recording {
            self.begin();
        }
        self.secondary.as_mut().unwrap_or(&mut self.primaries[self.current])
    }

    fn begin(&mut self) {
        log!(self, "begin {}", self.current);
        let recorder = &mut self.primaries[self.current];
        let handle = recorder.handle;
        *recorder = Recorder { handle, status: Status::Recording, ..Recorder::default() };
        let device = self.world.context.device();
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: it is not pending, and its pool lets it be reset.
        unsafe { device.begin_command_buffer(handle, &info) }.expect("vkBeginCommandBuffer");
        self.barrier(handle, vk::ImageLayout::UNDEFINED);
        let (target, layout) = (self.world.target.handle(), vk::ImageLayout::GENERAL);
        // SAFETY: the image has that layout since the barrier.
        unsafe { device.cmd_clear_color_image(handle, target, layout, &vk::ClearColorValue::default(), &[FIRST]) };
        self.barrier(handle, vk::ImageLayout::GENERAL);
    }

    /// Everything before is done and seen by everything after.
    fn barrier(&self, commands: vk::CommandBuffer, old: vk::ImageLayout) {
        let turn = turned(self.world.target.handle(), FIRST, [old, vk::ImageLayout::GENERAL]);
        barrier(self.world.context.device(), commands, &[turn]);
    }

    fn bind_pipeline(&mut self, pipeline: usize) {
        let plan = self.plan(pipeline);
        self.recorder();
        log!(self, "  bind pipeline {pipeline}: {plan:?}");
        let recorder = self.recorder();
        recorder.uses.insert(Object::Pipeline(pipeline));
        recorder.state.bind_pipeline(pipeline, &plan);
        let (commands, point) = (recorder.handle, POINTS[plan.point()]);
        let handle = self.world.pipelines[pipeline].handle;
        match handle {
            // SAFETY: the buffer is recording and the pipeline alive.
            Handle::Pipeline(handle) | Handle::Linked(handle, _) => unsafe {
                self.world.context.device().cmd_bind_pipeline(commands, point, handle);
            },
            // SAFETY: as above.
            Handle::Shader(handle) => unsafe {
                self.world.objects.cmd_bind_shaders(commands, &[vk::ShaderStageFlags::COMPUTE], &[handle]);
            },
        }
    }

    fn bind_sets(
        &mut self,
        point: usize,
        (code, which): (usize, usize),
        first: usize,
        sets: &[Option<usize>],
        random: &mut Rng,
    ) {
        let null = vk::DescriptorSet::null();
        let handles: Vec<_> = sets.iter().map(|set| set.map_or(null, |set| self.sets[set])).collect();
        let mut offsets = |set: &Option<usize>| {
            set.map_or(Vec::new(), |set| Self::offsets(&DEFINITIONS[self.objects.sets[set].definition], random))
        };
        let bound: Vec<_> = sets.iter().map(|set| (*set, offsets(set))).collect();
        self.recorder();
        log!(self, "  bind sets at {point} with layout {which} of code {code} from {first}: {bound:?}");
        let recorder = self.recorder();
        recorder.uses.extend(sets.iter().flatten().map(|set| Object::Set(*set)));
        recorder.uses.insert(Object::Layout(code, which));
        recorder.state.bind_sets(point, &Shape::of(code), first, &bound);
        let commands = recorder.handle;
        let offsets: Vec<u32> = bound.into_iter().flat_map(|(_, offsets)| offsets).collect();
        let (layout, first, point) = (self.layout(code, which), first as u32, POINTS[point]);
        let device = self.world.context.device();
        // SAFETY: the sets fit the layout and there is an offset for each dynamic descriptor.
        unsafe { device.cmd_bind_descriptor_sets(commands, point, layout, first, &handles, &offsets) };
    }

    fn push(&mut self, point: usize, (code, which): (usize, usize), number: usize, is_whole: bool, random: &mut Rng) {
        let definition = CODES[code].sets[number];
        let layout = self.layout(code, which);
        let is_template = is_whole && random.u8(0..3) == 0;
        let (data, content) = match is_template {
            true => self.template_data(definition, false, random),
            false => (Vec::new(), self.content(definition, is_whole, random)),
        };
        if content.is_empty() {
            return;
        }
        let by = if is_template { " by a template" } else { "" };
        self.recorder();
        log!(self, "  push{by} at {point} with layout {which} of code {code} to {number}: {content:?}");
        let recorder = self.recorder();
        recorder.uses.insert(Object::Layout(code, which));
        recorder.uses.extend(content.values().filter_map(|found| found.view().map(Object::View)));
        recorder.uses.extend(content.values().filter_map(|found| found.sampler().map(Object::Sampler)));
        recorder.state.push(point, &Shape::of(code), number, &content);
        let (commands, push) = (recorder.handle, &self.world.push);
        if is_template {
            let entries = template_entries(definition, false);
            let context = self.world.context;
            let of = (POINTS[point], layout);
            let template = Template::for_push(context, Spelling::Core, of, number as u32, &entries);
            let data = data.as_ptr().cast();
            // SAFETY: the data has a record for each descriptor of the entries.
            unsafe {
                push.cmd_push_descriptor_set_with_template(commands, template.handle(), layout, number as u32, data);
            }
            return;
        }
        let null = vk::DescriptorSet::null();
        // SAFETY: the set of this number is pushed, and what is written is alive.
        self.with_writes(null, definition, &content, |writes| unsafe {
            push.cmd_push_descriptor_set(commands, POINTS[point], layout, number as u32, writes);
        });
    }

    fn push_words(&mut self, (code, which): (usize, usize), first: usize, words: &[u32]) {
        self.recorder();
        log!(self, "  push constants with layout {which} of code {code} from {first}: {words:x?}");
        let recorder = self.recorder();
        recorder.uses.insert(Object::Layout(code, which));
        recorder.state.push_words(&Shape::of(code), first, words);
        let commands = recorder.handle;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (layout, offset) = (self.layout(code, which), first as u32 * 4);
        // SAFETY: the layout has a range with these words.
        unsafe { self.world.context.device().cmd_push_constants(commands, layout, STAGES, offset, &bytes) };
    }

    fn set_state(&mut self, state: Dynamic, random: &mut Rng) {
        let is_culled = random.u8(0..3) == 0;
        let value = if state == Dynamic::Cull { culled(is_culled) } else { area(random) };
        self.recorder();
        log!(self, "  set {state:?} {value:?}");
        let recorder = self.recorder();
        recorder.state.set_state(state, value);
        let (commands, device) = (recorder.handle, self.world.context.device());
        // The triangle is clockwise, and what is counter-clockwise is front.
        let cull = match is_culled {
            true => vk::CullModeFlags::BACK,
            false => [vk::CullModeFlags::NONE, vk::CullModeFlags::FRONT][random.usize(0..2)],
        };
        // SAFETY: the buffer is recording.
        unsafe {
            match state {
                Dynamic::Viewport => device.cmd_set_viewport(commands, 0, &[viewport(value)]),
                Dynamic::Scissor => device.cmd_set_scissor(commands, 0, &[rectangle(value)]),
                Dynamic::Cull => device.cmd_set_cull_mode(commands, cull),
            }
        }
    }

    /// Has the recording be in this pass, or in none. A secondary command buffer stays where it is.
    fn be_in(&mut self, pass: Option<Pass>, contents: vk::SubpassContents) -> bool {
        let is_secondary = self.secondary.is_some();
        let recorder = self.recorder();
        if recorder.pass == pass {
            return true;
        }
        if is_secondary {
            return false;
        }
        let (before, commands) = (std::mem::replace(&mut recorder.pass, pass), recorder.handle);
        let (width, height) = (FRAME[0], FRAME[1]);
        let area = rectangle([0, 0, width, height]);
        log!(self, "  pass {before:?} ends, {pass:?} begins, {contents:?}");
        let device = self.world.context.device();
        // SAFETY: what was begun ends.
        unsafe {
            match before {
                None => {}
                Some(Pass::Object) => device.cmd_end_render_pass(commands),
                Some(Pass::Dynamic) => device.cmd_end_rendering(commands),
            }
        }
        self.barrier(commands, vk::ImageLayout::GENERAL);
        match pass {
            None => {}
            Some(Pass::Object) => self.world.frame.begin(commands, &[], contents),
            Some(Pass::Dynamic) => {
                let attachments = [vk::RenderingAttachmentInfo::default()
                    .image_view(self.world.target_view.handle())
                    .image_layout(vk::ImageLayout::GENERAL)
                    .load_op(vk::AttachmentLoadOp::LOAD)
                    .store_op(vk::AttachmentStoreOp::STORE)];
                let mut info = vk::RenderingInfo::default().render_area(area).layer_count(1);
                if contents == vk::SubpassContents::SECONDARY_COMMAND_BUFFERS {
                    info = info.flags(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
                }
                // SAFETY: as above; the view is that of the target.
                unsafe { device.cmd_begin_rendering(commands, &info.color_attachments(&attachments)) };
            }
        }
        true
    }

    /// A layout that is compatible with that of a code for this number, mostly another one.
    fn layout_like(&self, code: usize, number: usize, random: &mut Rng) -> (usize, usize) {
        let is_like = |other: &usize| {
            self.world.layouts[*other].is_some() && Shape::of(*other).is_compatible(&Shape::of(code), number)
        };
        let like = random.choice((0..CODES.len()).filter(is_like).collect::<Vec<_>>()).expect("its own is like it");
        (if random.bool() { like } else { code }, random.usize(0..3))
    }

    /// Whether a set is of a definition and has these descriptors, or all where the driver goes through all.
    fn fits(&self, set: usize, definition: usize, needed: &BTreeSet<Key>) -> bool {
        let (own, content) = (self.objects.sets[set].definition, &self.objects.sets[set].content);
        let is_there = |key: &Key| content.get(key).is_some_and(|found| self.objects.is_alive(*found));
        own == definition
            && needed.iter().all(is_there)
            && (self.world.has.holes || writable(definition).all(|(key, _)| is_there(&key)))
    }

    /// A set for a number of a code: what the code reads is in it.
    fn fitting_set(&mut self, code: usize, number: usize, random: &mut Rng) -> Option<usize> {
        let (needed, definition) = (needed(&CODES[code], number), CODES[code].sets[number]);
        let is_of = |set: &usize| self.objects.sets[*set].definition == definition;
        let of: Vec<_> = self.live_sets().into_iter().filter(is_of).collect();
        let fitting: Vec<_> = of.iter().copied().filter(|set| self.fits(*set, definition, &needed)).collect();
        // Few, so that they are changed and bound again.
        let is_enough = of.len() >= FEW_SETS || random.u8(0..5) > 0;
        let mut set = random.choice(fitting).filter(|_| is_enough);
        if set.is_none() && of.len() >= FEW_SETS {
            set = random.choice(of).filter(|set| !self.is_busy(Object::Set(*set)));
            set.into_iter().for_each(|set| self.write(set, true, random));
        }
        let set = set.or_else(|| self.allocate(definition, random))?;
        self.fits(set, definition, &needed).then_some(set)
    }

    fn bind_some_sets(&mut self, random: &mut Rng) {
        let pipeline = self.plan(self.random_pipeline(random));
        let (code, which) = (pipeline.code, random.usize(0..3));
        let count = CODES[code].sets.len();
        let point = if random.u8(0..4) == 0 { random.usize(0..2) } else { pipeline.point() };
        let first = random.usize(0..count);
        let mut sets = Vec::new();
        for number in first..count {
            if CODES[code].definition(number).is_pushed {
                if sets.is_empty() {
                    return self.push(point, (code, which), number, random.bool(), random);
                }
                break;
            }
            // SwiftShader takes dynamic offsets for null sets as well.
            let has_offsets = CODES[code].definition(number).entries.iter().any(|entry| entry.slot.is_moved());
            if self.world.has.null_sets && !has_offsets && random.u8(0..10) == 0 {
                sets.push(None);
                continue;
            }
            let Some(set) = self.fitting_set(code, number, random) else { break };
            sets.push(Some(set));
            if random.u8(0..3) == 0 {
                break;
            }
        }
        if !sets.is_empty() {
            self.bind_sets(point, (code, which), first, &sets, random);
        }
    }

    fn push_some_words(&mut self, random: &mut Rng) {
        let code = self.plan(self.random_pipeline(random)).code;
        let first = random.usize(1..CODES[code].words);
        let words: Vec<u32> = (first..random.usize(first + 1..=CODES[code].words)).map(|_| random.u32(..)).collect();
        self.push_words((code, random.usize(0..3)), first, &words);
    }

    /// Makes up for what a draw lacks, in any order.
    fn make_up(&mut self, pipeline: &Pipeline, lacks: &[Lack], random: &mut Rng) {
        let mut lacks = lacks.to_vec();
        random.shuffle(&mut lacks);
        let code = pipeline.code;
        let mut words = Vec::new();
        for lack in lacks {
            match lack {
                Lack::Set(number) => {
                    let of = self.layout_like(code, number, random);
                    if CODES[code].definition(number).is_pushed {
                        self.push(pipeline.point(), of, number, true, random);
                    } else if let Some(set) = self.fitting_set(code, number, random) {
                        self.bind_sets(pipeline.point(), of, number, &[Some(set)], random);
                    }
                }
                Lack::Word(word) => words.push(word),
                Lack::State(state) => self.set_state(state, random),
                Lack::Pipeline => {
                    let bound = self.recorder().state.pipelines[pipeline.point()].expect("it is bound");
                    self.bind_pipeline(bound);
                }
            }
        }
        // As few calls as go.
        words.sort_unstable();
        words.dedup();
        while let Some(first) = words.first().copied() {
            let count = (first..).zip(&words).take_while(|(at, word)| at == *word).count();
            let values: Vec<u32> = (0..count).map(|_| random.u32(..)).collect();
            self.push_words((code, random.usize(0..3)), first, &values);
            words.drain(..count);
        }
    }

    /// Draws or dispatches with a pipeline, after what it lacks; nothing where it still lacks something.
    fn draw(&mut self, random: &mut Rng) {
        let point = random.usize(0..2);
        let bound = self.recorder().state.pipelines[point].filter(|_| random.bool());
        let pipeline = bound.unwrap_or_else(|| self.random_pipeline(random));
        let plan = self.plan(pipeline);
        // See `Abilities::pushes_apart`.
        let is_mixed = self.recorder().state.has_pushed[1 - plan.point()] && !self.world.has.pushes_apart;
        if is_mixed || self.next_slot == SLOTS || !self.be_in(plan.pass, vk::SubpassContents::INLINE) {
            return;
        }
        let is_bound = |program: &mut Self| program.recorder().state.pipelines[plan.point()] == Some(pipeline);
        if !is_bound(self) && random.bool() {
            self.bind_pipeline(pipeline);
        }
        for _ in 0..3 {
            let lacks = self.lacks(&plan);
            // States are set when the pipeline is bound that has them dynamic.
            let is_early = !is_bound(self);
            let lacks: Vec<_> = lacks
                .into_iter()
                .filter(|lack| !is_early || !matches!(lack, Lack::State(_) | Lack::Pipeline))
                .collect();
            self.make_up(&plan, &lacks, random);
            if !is_bound(self) {
                self.bind_pipeline(pipeline);
            }
        }
        let slot = self.next_slot as u32;
        self.push_words((plan.code, random.usize(0..3)), 0, &[slot]);
        if !self.lacks(&plan).is_empty() {
            return;
        }
        self.next_slot += 1;
        let mut drawn = {
            let recorder = self.secondary.as_ref().unwrap_or(&self.primaries[self.current]);
            recorder.state.draw(&self.objects, &plan, super::world::uniform)
        };
        let conflicts = drawn.conflicts(&self.objects);
        let known = &mut self.world.pipelines[pipeline].known;
        *known |= conflicts;
        drawn.sure = *known;
        let is_indirect = random.u8(0..4) == 0;
        log!(
            self,
            "  {} with pipeline {pipeline}: slot {slot}",
            if plan.point() == COMPUTE { "dispatch" } else { "draw" }
        );
        // Validation does not see which element of an array is read.
        let is_legal = conflicts == 0 && !CODES[plan.code].has_dynamic_index();
        self.take_errors(None);
        let recorder = self.recorder();
        recorder.draws.push(drawn);
        let commands = recorder.handle;
        let (device, arguments) = (self.world.context.device(), self.world.arguments.handle());
        debug_assert_eq!(ARGUMENTS[4..], [1; 3]);
        // SAFETY: nothing lacks.
        unsafe {
            match (plan.point(), is_indirect) {
                (GRAPHICS, false) => device.cmd_draw(commands, 3, 1, 0, 0),
                (GRAPHICS, true) => device.cmd_draw_indirect(commands, arguments, 0, 1, 16),
                (_, false) => device.cmd_dispatch(commands, 1, 1, 1),
                (_, true) => device.cmd_dispatch_indirect(commands, arguments, DISPATCH_AT),
            }
        }
        let before = self.errors.len();
        self.take_errors(Some(plan.code));
        if let Some(message) = self.errors.get(before).filter(|_| is_legal) {
            self.wrong.get_or_insert_with(|| format!("a draw in which nothing conflicts: {}", message.text));
        }
    }

    /// Takes over what validation has said since, of a draw with this code or of something else.
    fn take_errors(&mut self, code: Option<usize>) {
        let messages = self.world.context.messages().take();
        self.errors.extend(messages.into_iter().filter(|message| self.world.is_about_illegal(message, code)));
    }

    fn lacks(&self, plan: &Pipeline) -> Vec<Lack> {
        let recorder = self.secondary.as_ref().unwrap_or(&self.primaries[self.current]);
        recorder.state.lacks(&self.objects, plan)
    }

    /// Records a secondary command buffer, and executes it in the primary.
    fn record_secondary(&mut self, ops: &[Op], random: &mut Rng) {
        if self.secondary.is_some() {
            return;
        }
        let pass = match random.u8(0..3) {
            0 => None,
            1 if self.world.has.rendering => Some(Pass::Dynamic),
            _ => Some(Pass::Object),
        };
        self.recorder();
        let context = self.world.context;
        let device = context.device();
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.world.commands)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        // SAFETY: the pool is the world's own.
        let handle = unsafe { device.allocate_command_buffers(&info) }.expect("vkAllocateCommandBuffers")[0];
        let formats = [super::world::TARGET];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        let mut flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        match pass {
            None => {}
            Some(Pass::Object) => inheritance = inheritance.render_pass(self.world.frame.pass),
            Some(Pass::Dynamic) => inheritance = inheritance.push_next(&mut rendering),
        }
        if pass.is_some() {
            flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
        log!(self, "begin secondary in {pass:?}");
        // SAFETY: freshly allocated; the inheritance is a local.
        unsafe { device.begin_command_buffer(handle, &begin) }.expect("vkBeginCommandBuffer");
        self.secondary = Some(Recorder { handle, status: Status::Recording, pass, ..Recorder::default() });
        ops.iter().for_each(|op| self.step(op));
        let secondary = self.secondary.take().expect("it is recording");
        // SAFETY: it is recording.
        unsafe { device.end_command_buffer(handle) }.expect("vkEndCommandBuffer");
        self.be_in(None, vk::SubpassContents::INLINE);
        self.be_in(pass, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS);
        log!(self, "end and execute secondary");
        let recorder = self.recorder();
        recorder.state = Recording::default();
        recorder.uses.extend(secondary.uses);
        recorder.draws.extend(secondary.draws);
        let commands = recorder.handle;
        // SAFETY: the primary is recording where the secondary is to run.
        unsafe { device.cmd_execute_commands(commands, &[handle]) };
        self.be_in(None, vk::SubpassContents::INLINE);
    }

    // --- executing --------------------------------------------------------------------------------------------------------

    /// Ends what is being recorded and executes it.
    fn submit(&mut self, random: &mut Rng) -> Result<(), String> {
        if self.secondary.is_some() || self.primaries[self.current].status != Status::Recording {
            return Ok(());
        }
        self.be_in(None, vk::SubpassContents::INLINE);
        let commands = self.primaries[self.current].handle;
        let device = self.world.context.device();
        self.barrier(commands, vk::ImageLayout::GENERAL);
        let region = vk::BufferImageCopy::default()
            .image_subresource(
                vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1),
            )
            .image_extent(vk::Extent3D { width: FRAME[0], height: FRAME[1], depth: 1 });
        let (target, picture) = (self.world.target.handle(), self.world.picture.handle());
        // SAFETY: the picture has room for the target, which has this layout.
        unsafe {
            device.cmd_copy_image_to_buffer(commands, target, vk::ImageLayout::GENERAL, picture, &[region]);
        }
        self.barrier(commands, vk::ImageLayout::GENERAL);
        // SAFETY: it is recording outside of a render pass.
        unsafe { device.end_command_buffer(commands) }.expect("vkEndCommandBuffer");
        self.primaries[self.current].status = Status::Executable;
        self.execute(self.current, random)?;
        if random.u8(0..3) == 0 { self.execute(self.current, random) } else { Ok(()) }
    }

    /// Executes what was recorded and compares what it found.
    fn execute(&mut self, which: usize, random: &mut Rng) -> Result<(), String> {
        if self.primaries[which].status != Status::Executable {
            return Ok(());
        }
        self.renew_late(which, random);
        log!(self, "submit {which}");
        let words = 2 * RESULTS;
        let fill = vec![UNTOUCHED; words];
        let mut start = fill.clone();
        let draws = std::mem::take(&mut self.primaries[which].draws);
        draws.iter().for_each(|drawn| start[drawn.at] = 0);
        self.world.results.write_words(&start);
        self.world.context.execute(self.primaries[which].handle);
        let result = self.compare(&draws, &start);
        self.draws += draws.len();
        self.conflicts += draws.iter().filter(|drawn| drawn.conflicts(&self.objects) != 0).count();
        self.primaries[which].draws = draws;
        result
    }

    /// What is updated after binds has to be alive when it is read.
    fn renew_late(&mut self, which: usize, random: &mut Rng) {
        let recorder = &self.primaries[which];
        let read: BTreeSet<_> = recorder.draws.iter().flat_map(Drawn::sources).filter_map(Source::place).collect();
        let sets = recorder.uses.iter().filter_map(|used| if let Object::Set(set) = used { Some(*set) } else { None });
        let sets: Vec<_> = sets.filter(|set| self.objects.sets[*set].is_alive).collect();
        for set in sets {
            let definition = self.objects.sets[set].definition;
            for (key, entry) in writable(definition).filter(|(_, entry)| entry.is_late) {
                let found = self.objects.sets[set].content.get(&key);
                let is_alive = found.is_some_and(|found| self.objects.is_alive(*found));
                if is_alive || (self.world.has.holes && !read.contains(&(set, key))) {
                    continue;
                }
                let content = Content::from([(key, self.descriptor(definition, entry.slot, random))]);
                self.write_late(set, content);
            }
        }
    }

    fn write_late(&mut self, set: usize, content: Content) {
        log!(self, "late update of set {set}: {content:?}");
        let (definition, context) = (self.objects.sets[set].definition, self.world.context);
        // The bindings may be updated after binds, and no submission is pending.
        self.with_writes(self.sets[set], definition, &content, |writes| update(context, writes, &[], &[]));
        self.objects.sets[set].content.extend(content);
    }

    fn compare(&self, draws: &[Drawn], start: &[u32]) -> Result<(), String> {
        if self.world.context.is_record_only() {
            return self.wrong.clone().map_or(Ok(()), Err);
        }
        let mut found = self.world.results.words();
        let mut picture = [[0; 2]; (FRAME[0] * FRAME[1]) as usize];
        for drawn in draws {
            drawn.paint(&mut picture);
            let slot = &mut found[drawn.at..][..SLOT];
            if let Some(what) = drawn.differs(&self.objects, slot) {
                let all = CODES[drawn.code].sets.iter().map(|set| DEFINITIONS[*set].name);
                let code = all.collect::<Vec<_>>().join(", ");
                return Err(format!("slot {} of a draw with {code}: {what}", drawn.at % RESULTS / SLOT));
            }
            slot.copy_from_slice(&start[drawn.at..][..SLOT]);
        }
        if let Some(stray) = found.iter().zip(start).position(|(found, start)| found != start) {
            return Err(format!("something wrote to word {stray}, which no draw has"));
        }
        let colours = self.world.picture.words();
        for (pixel, (colour, expected)) in colours.chunks_exact(4).zip(picture).enumerate() {
            if colour[..2] != expected {
                return Err(format!("pixel {pixel}: {:x?} and not {expected:x?}", &colour[..2]));
            }
        }
        Ok(())
    }

    // --- the stream -------------------------------------------------------------------------------------------------------

    /// Runs a stream to its end.
    pub(super) fn run(&mut self, ops: &[Op]) -> Result<(), String> {
        for op in ops {
            let mut random = Rng::with_seed(op.seed);
            match op.kind {
                Kind::Submit => self.submit(&mut random)?,
                Kind::Again => self.execute(random.usize(0..PRIMARIES), &mut random)?,
                _ => self.step(op),
            }
        }
        for which in 0..PRIMARIES {
            self.current = which;
            self.submit(&mut Rng::with_seed(which as u64))?;
        }
        self.take_errors(None);
        Ok(())
    }

    fn step(&mut self, op: &Op) {
        let random = &mut Rng::with_seed(op.seed);
        match op.kind {
            Kind::Draw => self.draw(random),
            Kind::Pipeline => {
                let pipeline = self.random_pipeline(random);
                self.bind_pipeline(pipeline);
            }
            Kind::Sets => self.bind_some_sets(random),
            Kind::Words => self.push_some_words(random),
            Kind::State => {
                self.set_state([Dynamic::Viewport, Dynamic::Scissor, Dynamic::Cull][random.usize(0..3)], random)
            }
            Kind::EndPass => _ = self.be_in(None, vk::SubpassContents::INLINE),
            Kind::Secondary => self.record_secondary(&op.inner, random),
            Kind::Switch if self.secondary.is_none() => self.current = random.usize(0..PRIMARIES),
            Kind::Allocate => {
                let definition = random.usize(0..DEFINITIONS.len());
                _ = self.allocate(definition, random);
            }
            Kind::Update => self.update(random),
            Kind::Copy => self.copy(random),
            Kind::Free => self.free(random),
            Kind::Reset => self.reset(random),
            Kind::RemakeSampler => self.remake_sampler(random),
            Kind::RemakeView => self.remake_view(random),
            Kind::RemakePipeline => self.remake_pipeline(random),
            Kind::RemakeLayout => self.remake_layout(random),
            Kind::RemakeSetLayout => self.remake_set_layout(random),
            Kind::Switch | Kind::Submit | Kind::Again => {}
        }
    }
}

impl Drop for Program<'_, '_> {
    fn drop(&mut self) {
        let flags = vk::CommandPoolResetFlags::empty();
        let device = self.world.context.device();
        let handles = self.primaries.each_ref().map(|recorder| recorder.handle);
        // SAFETY: each submission was waited for, so that nothing is pending.
        unsafe {
            device.reset_command_pool(self.world.commands, flags).expect("vkResetCommandPool");
            device.free_command_buffers(self.world.commands, &handles);
        }
    }
}
