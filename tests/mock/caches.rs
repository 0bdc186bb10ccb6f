//! What a device remembers over many frames that replace the objects of the frames before: as much as over the first of them.
//!
//! Each test of [`rows`] is an application that makes one kind of object anew in each frame, binds something that has to be repaired with it,
//! and destroys what was made for the frame before the last, which is complete. Every cache that the layer lists
//! ([`samplin::device::caches`]) is held against its bound, and so are the layer's own objects and the memory of the process.
//!
//! `API_CACHE_FRAMES`: how many frames (default 20,000; `scripts/fuzz soak` has 100,000).

use std::collections::{BTreeMap, VecDeque};

use ash::vk::{self, Handle};
use samplin::device::{On, caches};
use samplin_testkit::again::alone;

use crate::driver::machine::{ARRAY, Snapshot, place};
use crate::driver::{Kind, Reuse, lock};
use crate::fuzz::number;
use crate::loader::*;
use crate::separate::{Operand, heap, joins_two, shader};

/// Frames that are not complete.
const PENDING: usize = 2;

/// An application that makes an object of one kind in each frame.
struct Row {
    settings: &'static [(&'static str, &'static str)],
    /// Objects of the application's that are alive.
    live: usize,
    frame: fn(&mut World, u64),
}

const TRACED: &[(&str, &str)] = &[("trace_limit", "16K")];
const GL: &[(&str, &str)] = &[("gl", "")];
const GL_IN_CODE: &[(&str, &str)] = &[("gl", ""), ("shader_keys", "pipeline")];

type Gone = Box<dyn FnOnce(&Device)>;

struct World {
    device: Device,
    is_gl: bool,
    /// One that smooths, and those of before that stay.
    linear: vk::Sampler,
    kept: Vec<vk::Sampler>,
    good: vk::ImageView,
    bad: vk::ImageView,
    of_set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    /// Of each pending frame a command buffer and a set, and what goes when it is complete.
    commands: [vk::CommandBuffer; PENDING],
    sets: [vk::DescriptorSet; PENDING],
    gone: VecDeque<Vec<Gone>>,
}

fn at(number: u32) -> Operand {
    Operand { set: 0, binding: number, count: 1, element: Some(0) }
}

/// Two images and a sampler.
fn bindings() -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    of_compute([IMAGE, IMAGE, SAMPLER]).map(|binding| binding.stage_flags(Stage::ALL)).to_vec()
}

/// A module that joins both with the sampler, like that of no frame that is near.
fn words(model: u32, number: u64) -> Vec<u32> {
    let mut words = joins_two(model);
    // OpNop
    words.extend(std::iter::repeat_n(0x1_0000, (number % 64) as usize));
    words
}

impl World {
    /// `follows`: whether the driver knows what shaders read.
    fn new(settings: &[(&str, &str)], follows: bool) -> Self {
        let mut builder = InstanceBuilder::new().driver(|config| {
            (config.max_samplers, config.follows) = (u32::MAX, follows);
            config.reuse = if follows { Reuse::AtOnce } else { Reuse::Never };
        });
        let is_gl = settings.iter().any(|(key, _)| *key == "gl");
        for (key, value) in settings.iter().filter(|(key, _)| *key != "gl") {
            builder = builder.set(key, value);
        }
        if settings == TRACED {
            builder = builder.traced("decisions");
        }
        let device = builder.device_with(|info| info.extensions.extend(is_gl.then_some(GL_ADDRESS_MODES)));
        device.forget_calls();
        device.driver.reserve(1 << 14);
        let linear = device.linear();
        let [good, bad] = [FILTERED, FLOATS].map(|format| device.view(format));
        let of_set = device.layout(&bindings());
        let layout = device.pipeline_layout(&[of_set]);
        let sets = device.sets(device.pool(), &[of_set; PENDING]);
        let commands = device.command_buffers(device.command_pool());
        let mut world = Self {
            device,
            is_gl,
            linear,
            kept: Vec::new(),
            good,
            bad,
            of_set,
            layout,
            pipeline: vk::Pipeline::null(),
            commands,
            sets: [sets[0], sets[1]],
            gone: VecDeque::from([Vec::new(), Vec::new()]),
        };
        world.pipeline = world.compute(layout, 0);
        for set in world.sets {
            world.device.write_image(set, 0, good);
            world.device.write_image(set, 1, if is_gl { good } else { bad });
            world.device.write_sampler(set, 2, linear);
        }
        world
    }

    /// The sampler of a frame, which no other is like.
    fn sampler(&self, number: u64) -> vk::Sampler {
        let lod = (number % 100_003) as f32 / 65_536.0;
        let info = vk::SamplerCreateInfo { max_lod: 2.0 + lod, ..linear_info() };
        let clamp = vk::SamplerCreateInfo { max_lod: info.max_lod, ..addressed(GL_CLAMP) };
        self.device.sampler(if self.is_gl { &clamp } else { &info })
    }

    fn compute(&self, layout: vk::PipelineLayout, number: u64) -> vk::Pipeline {
        self.device.compute(layout, &words(5, number))
    }

    fn write(&self, set: vk::DescriptorSet, number: u32, ty: Ty, sampler: vk::Sampler, image_view: vk::ImageView) {
        let info = [vk::DescriptorImageInfo { sampler, image_view, ..Default::default() }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number).descriptor_type(ty);
        self.device.update(&[write.image_info(&info)], &[]);
    }

    /// Begins the command buffer of a frame, which is complete, and destroys what was made for it then.
    fn begin(&mut self, frame: u64) -> usize {
        let now = frame as usize % PENDING;
        self.device.begin(self.commands[now]);
        for gone in self.gone.pop_front().expect("as many as are pending") {
            gone(&self.device);
        }
        self.gone.push_back(Vec::new());
        now
    }

    /// Something goes when this frame is complete.
    fn later(&mut self, gone: impl FnOnce(&Device) + 'static) {
        self.gone.back_mut().expect("a frame").push(Box::new(gone));
    }

    fn bind(&self, now: usize, pipeline: vk::Pipeline, layout: vk::PipelineLayout, set: vk::DescriptorSet) {
        let (device, commands) = (&self.device, self.commands[now]);
        device.bind_pipeline(commands, COMPUTE, pipeline);
        device.bind_sets(commands, COMPUTE, layout, &[set]);
        device.act(commands, COMPUTE);
    }

    fn bind_usual(&self, now: usize) {
        self.bind(now, self.pipeline, self.layout, self.sets[now]);
    }

    /// What every cache holds, and objects in the driver.
    fn counts(&self) -> BTreeMap<&'static str, usize> {
        let device = self.device.entry();
        let on = On { ground: &device.ground, pairs: &device.pairs };
        let separate = device.separate.as_deref();
        let caches = caches::all().map(|cache| (cache.name, (cache.count)(on, separate)));
        let kinds = [
            ("driver: samplers", Kind::Sampler),
            ("driver: sets", Kind::Set),
            ("driver: pools", Kind::Pool),
            ("driver: set layouts", Kind::Layout),
            ("driver: pipeline layouts", Kind::PipelineLayout),
            ("driver: pipelines", Kind::Pipeline),
            ("driver: shaders", Kind::Shader),
            ("driver: buffers", Kind::Buffer),
            ("driver: memory", Kind::Memory),
        ];
        caches.chain(kinds.map(|(name, kind)| (name, self.device.driver.live(kind).len()))).collect()
    }
}

// ---- frames ----

fn samplers(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let sampler = world.sampler(frame);
    world.device.write_sampler(world.sets[now], 2, sampler);
    world.later(move |device| device.destroy_sampler(sampler));
    world.bind_usual(now);
}

fn long_lived_samplers(world: &mut World, frame: u64) {
    while world.kept.len() < 2000 {
        world.kept.push(world.sampler(world.kept.len() as u64));
    }
    let now = world.begin(frame);
    let sampler = world.kept[(frame * 7) as usize % world.kept.len()];
    world.device.write_sampler(world.sets[now], 2, sampler);
    world.bind_usual(now);
}

fn views(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let image = world.device.image(FLOATS);
    let view = world.device.view_of(image, FLOATS);
    world.device.write_image(world.sets[now], 1, view);
    world.later(move |device| {
        device.destroy_view(view);
        device.destroy_image(image);
    });
    world.bind_usual(now);
}

fn new_set(world: &mut World, frame: u64, views: [vk::ImageView; 2]) {
    let now = world.begin(frame);
    let pool = world.device.pool();
    let set = world.device.sets(pool, &[world.of_set])[0];
    (0..).zip(views).for_each(|(number, view)| world.device.write_image(set, number, view));
    world.device.write_sampler(set, 2, world.linear);
    world.later(move |device| device.destroy_pool(pool));
    world.bind(now, world.pipeline, world.layout, set);
}

fn templates(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let template = world.device.template(world.of_set, &[entry(1, 0, 1, IMAGE, 0, 0)]);
    let info = vk::DescriptorImageInfo { image_view: world.bad, ..Default::default() };
    world.device.update_with_template(world.sets[now], template, (&raw const info).cast());
    world.later(move |device| device.destroy_template(template));
    world.bind_usual(now);
}

fn command_pools(world: &mut World, frame: u64) {
    world.begin(frame);
    let pool = world.device.command_pool();
    let commands: [_; PENDING] = world.device.command_buffers(pool);
    let usual = std::mem::replace(&mut world.commands, commands);
    let now = frame as usize % PENDING;
    world.device.begin(commands[now]);
    world.bind_usual(now);
    world.commands = usual;
    world.later(move |device| {
        // The mock's own command buffers are used again when they are freed.
        call!(device.free_command_buffers(device.raw, pool, PENDING as u32, commands.as_ptr()));
        device.destroy_command_pool(pool);
    });
}

fn names(world: &mut World, frame: u64) {
    samplers(world, frame);
    let now = frame as usize % PENDING;
    let sampler = world.sampler(frame + 50_000);
    let pipeline = world.compute(world.layout, frame);
    let name = std::ffi::CString::new(format!("object {frame}")).expect("no zero in it");
    world.device.name(sampler, &name);
    world.device.name(pipeline, &name);
    world.bind(now, pipeline, world.layout, world.sets[now]);
    world.later(move |device| {
        device.destroy_sampler(sampler);
        device.destroy_pipeline(pipeline);
        device.driver.names.lock().expect("no test panicked with it").clear();
    });
}

fn pipelines(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let pipeline = world.compute(world.layout, frame);
    world.later(move |device| device.destroy_pipeline(pipeline));
    world.bind(now, pipeline, world.layout, world.sets[now]);
}

fn layouts(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let mut bindings = bindings();
    bindings.push(binding(100 + frame as u32 % 512, Ty::UNIFORM_BUFFER, 1).stage_flags(Stage::ALL));
    let of_set = world.device.layout(&bindings);
    let layout = world.device.pipeline_layout(&[of_set]);
    let pool = world.device.pool();
    let set = world.device.sets(pool, &[of_set])[0];
    let views = [world.good, if frame.is_multiple_of(2) { world.bad } else { world.good }];
    (0..).zip(views).for_each(|(number, view)| world.device.write_image(set, number, view));
    world.device.write_sampler(set, 2, world.linear);
    let pipeline = world.compute(layout, 0);
    world.bind(now, pipeline, layout, set);
    world.later(move |device| {
        device.destroy_pool(pool);
        device.destroy_pipeline(pipeline);
        device.destroy_pipeline_layout(layout);
        device.destroy_layout(of_set);
    });
}

fn shader_objects(world: &mut World, frame: u64) {
    let now = world.begin(frame);
    let sets = [world.of_set];
    let code = bytes_of(&words(5, frame));
    let info = shader_info(Stage::COMPUTE, &code).set_layouts(&sets);
    let device = &world.device;
    let made = create!(device.create_shaders(1, &info));
    call!(device.bind_shaders(world.commands[now], 1, &Stage::COMPUTE, &made));
    let set = world.sets[now];
    device.bind_sets(world.commands[now], COMPUTE, world.layout, &[set]);
    device.act(world.commands[now], COMPUTE);
    world.later(move |device| device.destroy_shader(made));
}

// ---- what is pending ----

/// What was recorded in the command buffer of a frame, and that it can be executed still.
struct Pending(usize, Snapshot);

impl Pending {
    fn new(world: &World, now: usize) -> Self {
        let machine = lock(&world.device.driver.machine);
        let commands = world.commands[now].as_raw();
        Self(now, machine.snapshot(commands, place(COMPUTE)).expect("something is bound"))
    }

    fn assert_whole(&self, world: &World, when: &str) {
        let broken = lock(&world.device.driver.machine).broken(&self.1);
        assert_eq!(broken, None, "{when}");
        world.device.reads(world.commands[self.0], COMPUTE);
    }
}

impl World {
    /// The samplers that what is bound reads the second image through, which needs others than the application's.
    fn others(&self, now: usize) -> Vec<u64> {
        let reads = self.device.reads(self.commands[now], COMPUTE);
        reads.iter().filter(|read| read.image.1 == 1).map(|read| read.handle).collect()
    }

    fn begin_again(&self, now: usize) {
        self.device.begin(self.commands[now]);
    }
}

/// An array of samplers of which the shader reads one; with PARTIALLY_BOUND the application may destroy the others meanwhile.
#[test]
fn a_hidden_set_outlives_a_sampler_that_is_not_read() {
    let world = World::new(&[], true);
    let device = &world.device;
    let array = binding(2, SAMPLER, ARRAY).stage_flags(Stage::ALL);
    let bindings = [bindings()[0], bindings()[1], array];
    let partially = vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let of_set = device.layout_with(&bindings, &[Default::default(), Default::default(), partially]);
    let layout = device.pipeline_layout(&[of_set]);
    let set = device.sets(device.pool(), &[of_set])[0];
    let any = Operand { set: 0, binding: 2, count: ARRAY, element: None };
    let pipeline = world.device.compute(layout, &shader(5, &[(at(0), any), (at(1), any)]));
    world.device.write_image(set, 0, world.good);
    world.device.write_image(set, 1, world.bad);
    let write = |element: u32, sampler: vk::Sampler| {
        device.write(set, (2, element), SAMPLER, sampler_alone(sampler));
    };
    let samplers: Vec<_> = (0..u64::from(ARRAY)).map(|number| world.sampler(number)).collect();
    for (element, sampler) in (0..).zip(&samplers) {
        write(element, *sampler);
    }
    world.begin_again(0);
    world.bind(0, pipeline, layout, set);
    let pending = Pending::new(&world, 0);
    let pools = world.device.own(Kind::Pool);
    device.destroy_sampler(samplers[0]);
    pending.assert_whole(&world, "a sampler went that is not read");

    // What is recorded from now on reads another set, in which nothing is that is gone.
    let lives = |sampler: &u64| device.driver.live(Kind::Sampler).contains(sampler);
    world.begin_again(1);
    world.bind(1, pipeline, layout, set);
    assert!(world.others(1).iter().all(lives), "{:x?}", world.others(1));
    let pools_then = world.device.own(Kind::Pool);
    assert_eq!(pools_then, pools + 1);

    // The handle comes back, as another sampler.
    let back = world.sampler(77);
    assert_eq!(back, samplers[0], "the driver uses it again");
    pending.assert_whole(&world, "its handle came back");
    world.begin_again(1);
    write(0, back);
    world.bind(1, pipeline, layout, set);
    let new = world.others(1);
    assert!(new.iter().all(lives), "{new:x?}");
    // Handles of samplers may come back as well, but what is pending is another set.
    let bound = |now: usize| device.bound_sets(world.commands[now]);
    assert_ne!(bound(0), bound(1));

    // Nothing holds the first set any more once its command buffer is begun; it goes when the next sampler does.
    world.begin_again(0);
    let before = world.device.own(Kind::Pool);
    device.destroy_sampler(world.sampler(99));
    assert!(world.device.own(Kind::Pool) < before, "{} of {before}", world.device.own(Kind::Pool));
}

/// What was found out for a pipeline and its sets goes with the samplers that these name, and with no other.
#[test]
fn what_was_found_out_goes_with_its_own_samplers() {
    let world = World::new(&[], true);
    let samplers = [0, 1].map(|number| world.sampler(number));
    let record = |now: usize| {
        world.begin_again(now);
        world.bind(now, world.pipeline, world.layout, world.sets[now]);
        assert!(!world.others(now).contains(&samplers[now].as_raw()), "it is repaired");
    };
    for now in [0, 1] {
        world.device.write_sampler(world.sets[now], 2, samplers[now]);
        record(now);
    }
    let found_out = || world.counts()["resolutions"];
    assert_eq!(found_out(), 2);
    world.device.destroy_sampler(world.sampler(2));
    assert_eq!(found_out(), 2, "no set names it");
    record(0);
    world.device.destroy_sampler(samplers[1]);
    assert_eq!(found_out(), 1, "one set names it");
    record(0);
    world.device.destroy_sampler(samplers[0]);
    assert_eq!(found_out(), 0);
}

/// One command buffer may be pending for long, while others ask for so many sets that the first is not found any more.
#[test]
fn a_hidden_set_that_others_take_the_place_of_outlives_what_is_recorded() {
    let world = World::new(&[], true);
    let record = |now: usize, sampler| {
        world.device.write_sampler(world.sets[now], 2, sampler);
        world.bind(now, world.pipeline, world.layout, world.sets[now]);
    };
    world.begin_again(0);
    record(0, world.sampler(0));
    let pending = Pending::new(&world, 0);
    for number in 1..2000 {
        world.begin_again(1);
        record(1, world.sampler(number));
    }
    pending.assert_whole(&world, "two thousand others");
    assert!(world.device.own(Kind::Pool) < 600, "{} are left", world.device.own(Kind::Pool));
}

/// The same with pipelines whose shaders have in their code what they do for a descriptor.
#[test]
fn a_pipeline_that_others_take_the_place_of_outlives_what_is_recorded() {
    let world = World::new(GL_IN_CODE, true);
    let pool = world.device.pool();
    let record = |now: usize, number| {
        let set = world.device.sets(pool, &[world.of_set])[0];
        for binding in [0, 1] {
            world.device.write_image(set, binding, world.good);
        }
        world.device.write_sampler(set, 2, world.sampler(number));
        world.bind(now, world.pipeline, world.layout, set);
        let bound = world.device.bound_pipeline(world.commands[now], COMPUTE);
        assert!(world.device.driver.is_layers(Kind::Pipeline, bound), "the {number}th is repaired");
    };
    world.begin_again(0);
    record(0, 0);
    let pending = Pending::new(&world, 0);
    for number in 1..200 {
        world.begin_again(1);
        record(1, number);
    }
    pending.assert_whole(&world, "two hundred others");
    assert!(world.device.own(Kind::Pipeline) <= 66, "{} are left", world.device.own(Kind::Pipeline));
    // All of them in one command buffer: none of these may go.
    world.begin_again(1);
    for number in 200..300 {
        record(1, number);
    }
    assert!(world.device.own(Kind::Pipeline) >= 100, "{} are left", world.device.own(Kind::Pipeline));
    pending.assert_whole(&world, "a hundred more");
    for now in [0, 1, 0, 1] {
        world.begin_again(now);
        record(now, 1000 + now as u64);
    }
    assert!(world.device.own(Kind::Pipeline) <= 66, "{} are left", world.device.own(Kind::Pipeline));
}

// ---- judging ----

/// Runs a row, with a look at everything now and then. Says what was most in each half of the frames behind the first fifth.
fn run(kind: &str, row: &Row) {
    let mut world = World::new(row.settings, false);
    let mut most = [BTreeMap::new(), BTreeMap::new()];
    let frames = number("API_CACHE_FRAMES", 20_000);
    let (first, half) = (frames / 5, frames * 3 / 5);
    for frame in 0..frames {
        (row.frame)(&mut world, frame);
        if frame < first || frame % 97 != 0 {
            continue;
        }
        let most = &mut most[usize::from(frame >= half)];
        for (name, count) in world.counts().into_iter().chain([("bytes", heap())]) {
            let entry = most.entry(name).or_insert(0);
            *entry = count.max(*entry);
        }
    }
    world.device.driver.check();
    let [before, after] = most;
    println!("{kind}: {after:?}");
    for cache in caches::all() {
        let (count, bound) = (after[cache.name], cache.most.unwrap_or(0) + row.live);
        assert!(count <= bound, "{kind}: {count} of {} at most {bound}", cache.name);
    }
    // What has a bound moves below it.
    let is_bounded = |name: &str| caches::all().any(|cache| cache.name == name && cache.most > Some(0));
    for (name, count) in after.into_iter().filter(|(name, _)| !is_bounded(name)) {
        let slack = if name == "bytes" { 64 << 10 } else { 8 };
        assert!(count <= before[name] + slack, "{kind}: {name} grows from {} to {count}", before[name]);
    }
    assert!(!world.device.entry().ground.is_broken());
    world.device.leak();
}

/// `docs/internals/memory.md` says what is remembered.
#[test]
fn the_table_is_the_one_that_is_written_down() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/internals/memory.md");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let (_, table) = text.split_once("<!-- caches -->\n").expect("the table begins");
    let (table, _) = table.split_once("<!-- /caches -->").expect("the table ends");
    let rows = caches::all().map(|cache| {
        let most = cache.most.map_or_else(|| "—".to_owned(), |most| most.to_string());
        format!("| {} | {} | {most} | {} |\n", cache.name, cache.owner, cache.eviction)
    });
    let head = "| what | goes with | at most besides | what makes room |\n|---|---|---|---|\n";
    assert_eq!(table, head.to_owned() + &rows.collect::<String>());
}

/// A test for each kind: its name, settings, objects that are alive, and what a frame does.
macro_rules! rows {
    ($($test:ident $settings:ident $live:literal $frame:expr;)+) => { $(
        #[test]
        fn $test() {
            let row = Row { settings: $settings, live: $live, frame: $frame };
            alone(concat!("caches::", stringify!($test)), || run(stringify!($test), &row));
        }
    )+ };
}

const NONE: &[(&str, &str)] = &[];

rows! {
    new_samplers NONE 16 samplers;
    new_samplers_traced TRACED 16 samplers;
    long_lived NONE 2048 long_lived_samplers;
    new_views TRACED 16 views;
    new_sets NONE 16 |world, frame| new_set(world, frame, [world.good, world.bad]);
    new_copied_sets NONE 16 |world, frame| new_set(world, frame, [world.bad, world.bad]);
    new_templates NONE 16 templates;
    new_command_pools NONE 16 command_pools;
    new_names TRACED 16 names;
    new_pipelines TRACED 16 pipelines;
    new_layouts NONE 16 layouts;
    new_tasks GL 16 samplers;
    new_tasks_in_code GL_IN_CODE 16 samplers;
    new_shader_objects NONE 16 shader_objects;
}
