//! What a shader looks up (`bindless=resolve`): for each pair that it can join the very sampler that the pair asks for, whatever was written
//! before and after the bind, and whatever fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use ash::vk::{self, Handle};

use crate::arrays::words;
use crate::driver::{Args, Config, Kind, lock};
use crate::loader::*;
use crate::separate::{Operand, shader_of};
use crate::stress::Random;

type Flags = vk::DescriptorBindingFlags;

const COUNTS: [u32; 2] = [100, 80];
const LATE: Flags = Flags::from_raw(Flags::UPDATE_AFTER_BIND.as_raw() | Flags::PARTIALLY_BOUND.as_raw());
const SMOOTH: [vk::Format; 2] = [FILTERED, BGRA];
const COARSE: [vk::Format; 2] = [FLOATS, SRGB];

/// Elements that the shader reads, of images and of samplers.
const READ: u32 = 3;

/// A set of images and one of samplers, and a pipeline that reads the first elements of both, by inputs.
struct World {
    device: Device,
    layouts: [vk::DescriptorSetLayout; 2],
    layout: vk::PipelineLayout,
    pools: [vk::DescriptorPool; 2],
    counts: [u32; 2],
    pipeline: vk::Pipeline,
    commands: [vk::CommandBuffer; 3],
}

type Sets = [vk::DescriptorSet; 2];

/// A driver with room for tables.
fn roomy() -> InstanceBuilder {
    InstanceBuilder::new().followed().driver(|config| {
        config.set_limits = [8, 1 << 20, 1 << 20];
        (config.block_limits, config.storage_buffers) = ([12, 72, 1 << 20], 30);
    })
}

impl World {
    fn new(flags: Flags) -> Self {
        Self::with(flags, COUNTS)
    }

    fn with(flags: Flags, counts: [u32; 2]) -> Self {
        Self::on(roomy().set("bindless", "resolve"), flags, counts)
    }

    fn on(builder: InstanceBuilder, flags: Flags, counts: [u32; 2]) -> Self {
        let device = builder.device();
        let layouts = [(IMAGE, counts[0]), (SAMPLER, counts[1])].map(|(ty, count)| {
            let flags = if count == 1 { Flags::empty() } else { flags };
            device.layout_with(&[binding(0, ty, count).stage_flags(Stage::COMPUTE)], &[flags])
        });
        let layout = device.pipeline_layout(&layouts);
        let pools = pools(&device, flags.contains(Flags::UPDATE_AFTER_BIND));
        let element = |count| if count == 1 { Some(0) } else { None };
        let pipeline = device.compute(layout, &words(counts, counts.map(element)));
        let commands = [(); 3].map(|()| device.command_buffer());
        Self { device, layouts, layout, pools, counts, pipeline, commands }
    }

    fn sets(&self) -> Sets {
        self.sets_of(self.pools)
    }

    fn sets_of(&self, pools: [vk::DescriptorPool; 2]) -> Sets {
        [0, 1].map(|at| self.device.sets(pools[at], &self.layouts[at..=at])[0])
    }

    /// Sets with an image that does not filter and a sampler that does, at the first elements.
    fn conflict(&self) -> (Sets, vk::Sampler) {
        let (sets, sampler) = (self.sets(), self.device.linear());
        self.image(sets, 0, self.device.view(COARSE[0]));
        self.sampler(sets, 0, sampler);
        (sets, sampler)
    }

    fn free(&self, pools: [vk::DescriptorPool; 2], sets: Sets) {
        pools.iter().zip(sets).for_each(|(pool, set)| self.device.free(*pool, &[set]));
    }

    fn image(&self, sets: Sets, element: u32, view: vk::ImageView) {
        self.device.write(sets[0], (0, element), IMAGE, image_alone(view));
    }

    fn sampler(&self, sets: Sets, element: u32, sampler: vk::Sampler) {
        self.device.write(sets[1], (0, element), SAMPLER, sampler_alone(sampler));
    }

    /// Records a dispatch in one of the command buffers.
    fn record(&self, at: usize, sets: Sets) {
        self.device.record(self.commands[at], (COMPUTE, self.pipeline), self.layout, &sets);
    }

    /// The samplers that the dispatch reads which was recorded last, if that were submitted now.
    fn reads(&self, at: usize) -> Vec<u64> {
        self.device.reads(self.commands[at], COMPUTE).iter().map(|read| read.handle).collect()
    }

    /// Whether the first pair reads another sampler than this.
    fn is_repaired(&self, sampler: vk::Sampler) -> bool {
        self.reads(0)[0] != sampler.as_raw()
    }
}

fn pools(device: &Device, is_late: bool) -> [vk::DescriptorPool; 2] {
    let flags = vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
    [(); 2].map(|()| device.pool_flagged(if is_late { flags } else { Default::default() }))
}

/// What the application has written to the elements that are read.
#[derive(Clone, Copy, Default)]
struct Written {
    images: [Option<vk::Format>; READ as usize],
    samplers: [u64; READ as usize],
}

impl World {
    /// Each pair reads the sampler that is in its descriptor if that suits the image, else one that differs from it in filters only.
    #[track_caller]
    fn check(&self, at: usize, written: &Written, what: &str) {
        for (pair, read) in self.reads(at).into_iter().enumerate() {
            let (image, sampler) = (if self.counts[0] == 1 { 0 } else { pair / 3 }, pair % 3);
            let (Some(format), given) = (written.images[image], written.samplers[sampler]) else { continue };
            if given == 0 {
                continue;
            }
            let what = format!("{what}: image {image} of {format:?} with sampler {sampler}, {given:#x}: {read:#x}");
            let model = self.device.driver.sampler(given).expect("a sampler of the application's").info;
            if !COARSE.contains(&format) || model.min_filter != Filter::LINEAR {
                assert_eq!(read, given, "{what}, {:?}", self.device.driver.sampler(read));
                continue;
            }
            let other = self.device.driver.sampler(read).unwrap_or_else(|| panic!("{what} lives"));
            let filters = [other.info.mag_filter, other.info.min_filter];
            assert_eq!((other.by_layer, filters), (true, [Filter::NEAREST; 2]), "{what}");
            assert_eq!(other.info.mip_lod_bias, model.mip_lod_bias, "{what}");
        }
    }

    fn any_sampler(&self, random: &mut Random) -> vk::Sampler {
        let filter = if random.below(3) == 0 { Filter::NEAREST } else { Filter::LINEAR };
        let info = vk::SamplerCreateInfo { mip_lod_bias: random.below(6) as f32 / 16.0, ..linear_info() };
        self.device.sampler(&info.mag_filter(filter).min_filter(filter))
    }
}

fn any_format(random: &mut Random) -> vk::Format {
    let of = if random.below(2) == 0 { SMOOTH } else { COARSE };
    of[random.below(2) as usize]
}

/// A set that conflicts, bound once, so that the pipeline looks up from then on.
fn learn(world: &World) {
    let sets = world.sets();
    (0..READ.min(world.counts[0])).for_each(|at| world.image(sets, at, world.device.view(COARSE[0])));
    (0..READ).for_each(|at| world.sampler(sets, at, world.device.linear()));
    world.record(0, sets);
}

#[test]
fn pairs_read_the_samplers_that_they_ask_for_whatever_is_written() {
    for (flags, counts, seed) in [
        (LATE, COUNTS, 1),
        (LATE, COUNTS, 2),
        (Flags::PARTIALLY_BOUND, COUNTS, 3),
        (LATE, [1, 80], 4),
        (LATE, [100, 3], 5),
        // Few of both, and more pairs than are listed.
        (Flags::PARTIALLY_BOUND, [60, 60], 6),
    ] {
        let world = World::with(flags, counts);
        let device = &world.device;
        learn(&world);
        let (mut sets, mut written, mut random) = (world.sets(), Written::default(), Random(seed));
        let (mut is_recorded, mut old) = (false, Vec::new());
        for step in 0..1500 {
            let at = random.below(u64::from(READ)) as usize;
            // A single image is in no array, and may not be written late.
            let is_late = flags == LATE && counts[0] > 1;
            match random.below(10) {
                0..4 => {
                    let sampler = world.any_sampler(&mut random);
                    world.sampler(sets, at as u32, sampler);
                    old.push(std::mem::replace(&mut written.samplers[at], sampler.as_raw()));
                    is_recorded &= flags == LATE;
                }
                4..7 => {
                    let at = if counts[0] == 1 { 0 } else { at };
                    // Null views are no images, and what is read of them is not looked at.
                    let format = (random.below(8) != 0).then(|| any_format(&mut random));
                    world.image(sets, at as u32, format.map_or(vk::ImageView::null(), |format| device.view(format)));
                    written.images[at] = format;
                    is_recorded &= is_late;
                }
                7 => old
                    .drain(..)
                    .filter(|own| *own != 0)
                    .for_each(|own| device.destroy_sampler(vk::Sampler::from_raw(own))),
                8 if step % 16 == 0 => {
                    let gone = std::mem::replace(&mut sets, world.sets());
                    world.free(world.pools, gone);
                    (written, is_recorded) = (Written::default(), false);
                }
                _ => {
                    [0, 1].into_iter().for_each(|own| world.record(own, sets));
                    is_recorded = true;
                }
            }
            let what = format!("{flags:?}, {counts:?}, step {step}");
            [0, 1].into_iter().filter(|_| is_recorded).for_each(|own| world.check(own, &written, &what));
        }
        assert_eq!(device.left(), [""; 0]);
        let shaders = device.records("shader");
        assert_eq!(shaders.len(), 1, "compiled once: {shaders:#?}");
    }
}

/// More samplers come after the bind than the bound pool has places: pairs that find none read the application's own sampler, as without
/// samplin, and those that conflict have a name.
#[test]
fn pairs_without_a_place_keep_their_samplers() {
    for (conflicts, samplers, left) in
        [(true, 400, &[][..]), (false, 1100, &[][..]), (true, 1100, &["sampler-limit"][..])]
    {
        let world = World::new(LATE);
        let device = &world.device;
        let (sets, _) = world.conflict();
        world.image(sets, 1, device.view(SMOOTH[0]));
        world.record(0, sets);
        let make = || if conflicts { device.linear() } else { device.nearest() };
        let mut lost = 0;
        let mut all: Vec<_> = (0..samplers).map(|_| make()).collect();
        for (step, sampler) in all.iter().enumerate() {
            world.sampler(sets, 1, *sampler);
            let reads = world.reads(0);
            assert_eq!(reads[4], sampler.as_raw(), "{step}: the pair is legal");
            lost += u32::from(conflicts && reads[1] == sampler.as_raw());
        }
        assert_eq!(lost > 0, !left.is_empty(), "{lost} of {samplers}");
        // A pool that is made now has what the other has.
        let other = [world.sets()[0], sets[1]];
        world.image(other, 1, device.view(SMOOTH[1]));
        world.record(1, other);
        let last = all.pop().expect("a sampler");
        assert_eq!(world.reads(1)[4], last.as_raw());
        // What has no place goes, and another comes in its descriptor.
        device.destroy_sampler(last);
        world.sampler(sets, 1, all[0]);
        assert_eq!([0, 1].map(|own| world.reads(own)[4]), [all[0].as_raw(); 2]);
        device.destroy_pipeline(world.pipeline);
        assert_eq!(device.left(), left, "{samplers}");
    }
}

/// The last place is the application's own sampler's: what would stand in for it has none, which is named, and legal pairs are read as they
/// are. With one place more it has one.
#[test]
fn places_are_the_application_s_first() {
    for (others, is_repaired) in [(498, true), (499, false)] {
        let world = World::new(LATE);
        let device = &world.device;
        let (sets, first) = world.conflict();
        world.image(sets, 1, device.view(SMOOTH[0]));
        world.record(0, sets);
        device.destroy_sampler(first);
        for _ in 0..others {
            world.sampler(sets, 1, device.nearest());
        }
        let last = device.linear();
        world.sampler(sets, 2, last);
        let reads = world.reads(0);
        assert_eq!((reads[2] != last.as_raw(), reads[5]), (is_repaired, last.as_raw()), "{others}");
        world.record(0, sets);
        let left: &[&str] = if is_repaired { &[] } else { &["sampler-limit"] };
        assert_eq!(device.left(), left, "{others}");
    }
}

/// Where nothing is written after the bind, a pool that has not enough places is not bound, as long as it has not.
#[test]
fn a_pool_without_room_is_not_bound() {
    let world = World::new(Flags::PARTIALLY_BOUND);
    let device = &world.device;
    let (sets, sampler) = world.conflict();
    world.record(0, sets);
    assert!(world.is_repaired(sampler));
    let others: Vec<_> = (0..1100).map(|_| device.nearest()).collect();
    others.iter().for_each(|own| world.sampler(sets, 1, *own));
    world.record(0, sets);
    assert_eq!(world.reads(0)[..2], [sampler, others[1099]].map(Handle::as_raw));
    assert_eq!(device.left(), ["sampler-limit"]);
    others.into_iter().for_each(|own| device.destroy_sampler(own));
    world.sampler(sets, 1, sampler);
    world.record(0, sets);
    assert!(!world.reads(0)[..2].contains(&sampler.as_raw()), "repaired again");
}

/// The pool counts towards the limits of sets that may be updated after they were bound, where there are such sets.
#[test]
fn pools_are_as_large_as_such_sets_may_be() {
    for (after_bind, flags, left) in [
        (1 << 20, LATE, &[][..]),
        (1 << 20, Flags::PARTIALLY_BOUND, &[]),
        (0, Flags::PARTIALLY_BOUND, &["sampler-limit"]),
    ] {
        let limits = |config: &mut Config| (config.set_limits, config.after_bind) = ([8, 160, 160], after_bind);
        let world = World::on(roomy().driver(limits).set("bindless", "resolve"), flags, COUNTS);
        let (sets, sampler) = world.conflict();
        world.record(0, sets);
        (0..100).for_each(|_| world.sampler(sets, 1, world.device.nearest()));
        world.record(0, sets);
        assert_eq!(world.is_repaired(sampler), left.is_empty(), "{after_bind} {flags:?}");
        assert_eq!(world.device.left(), left, "{after_bind} {flags:?}");
    }
}

/// A descriptor without an index that is written after the bind is looked up as well, if shaders of the device may index samplers. Else it is
/// named.
#[test]
fn descriptors_without_an_index_are_looked_up_too() {
    for (permits, counts) in [true, false].into_iter().flat_map(|permits| [(permits, [100, 80]), (permits, [2, 2])]) {
        let permit = |config: &mut Config| (config.tells_features, config.permits) = (true, permits);
        let mut world = World::on(roomy().driver(permit).set("bindless", "resolve"), LATE, counts);
        world.device.destroy_pipeline(world.pipeline);
        world.pipeline = world.device.compute(world.layout, &words(counts, [Some(1), Some(1)]));
        let device = &world.device;
        let samplers = [device.linear(), device.nearest()];
        let write = |sets, format: vk::Format, sampler| {
            world.image(sets, 1, device.view(format));
            world.sampler(sets, 1, sampler);
        };
        let sets = world.sets();
        write(sets, SMOOTH[0], samplers[0]);
        world.record(0, sets);
        assert!(!world.is_repaired(samplers[0]), "legal");
        let what = format!("{permits}, {counts:?}");
        // Before the bind, and after that.
        for is_late in [false, true] {
            let sets = world.sets();
            write(sets, if is_late { SMOOTH[0] } else { COARSE[0] }, samplers[0]);
            world.record(0, sets);
            for (format, sampler, is_repaired) in
                [(COARSE[0], samplers[0], permits), (COARSE[0], samplers[1], false), (SMOOTH[1], samplers[0], false)]
            {
                write(sets, format, sampler);
                assert_eq!(world.is_repaired(sampler), is_repaired, "{what}, {is_late}: {format:?}, {sampler:?}");
            }
        }
        assert_eq!(device.left(), if permits { &[][..] } else { &["update-after-bind"] }, "{what}");
    }
}

/// The shader's index is the last element, or lies beyond the descriptors that there are: then it is undefined which descriptor is read, and
/// the pool is not left.
#[test]
fn indices_beyond_an_array_stay_in_the_pool() {
    for counts in [COUNTS, [4096, 1], [1, 900]] {
        let world = World::with(LATE, counts);
        let (device, sets) = (&world.device, world.sets());
        let write = |set: usize, element| match set {
            0 => world.image(sets, element, device.view(COARSE[0])),
            _ => world.sampler(sets, element, device.linear()),
        };
        [0, 1].into_iter().for_each(|set| (0..READ.min(counts[set])).for_each(|element| write(set, element)));
        world.record(0, sets);
        [0, 1].into_iter().for_each(|set| write(set, counts[set] - 1));
        let is_layers = |read: &u64| device.driver.sampler(*read).is_some_and(|own| own.by_layer);
        assert!(world.reads(0).iter().all(is_layers), "{counts:?}");
        assert_eq!(device.left(), [""; 0], "{counts:?}");
    }
}

/// Sets and storage buffers are taken up to the last one, and not beyond.
#[test]
fn limits_are_kept_to_the_last() {
    for (sets, buffers, left) in
        [(3, 3, &[][..]), (2, 3, &["no-free-set"]), (3, 2, &["storage-buffers"]), (2, 2, &["no-free-set"])]
    {
        let limits = |config: &mut Config| (config.set_limits[0], config.storage_buffers) = (sets, buffers);
        let world = World::on(roomy().driver(limits).set("bindless", "resolve"), LATE, COUNTS);
        let (sets, sampler) = world.conflict();
        world.record(0, sets);
        assert_eq!(world.is_repaired(sampler), left.is_empty(), "{left:?}");
        assert_eq!(world.device.left(), left);
    }
}

/// Sets of one image are written for each dispatch. What was found out for an image serves others of its class, and no other.
#[test]
fn sets_of_other_classes_are_found_out_anew() {
    let world = World::with(LATE, [1, 80]);
    let (device, heap) = (&world.device, world.sets()[1]);
    let linear = device.linear();
    device.write(heap, (0, 0), SAMPLER, sampler_alone(linear));
    // With this one no class is legal here.
    device.write(heap, (0, 1), SAMPLER, sampler_alone(least(device)));
    let read = |format| {
        let sets = [world.sets()[0], heap];
        world.image(sets, 0, device.view(format));
        world.record(0, sets);
        world.reads(0)[0]
    };
    let classes = [SMOOTH[1], COARSE[0]];
    let first = classes.map(read);
    assert_eq!(first.map(|own| own == linear.as_raw()), [true, false]);
    (0..4).for_each(|_| assert_eq!(classes.map(read), first));
    assert_eq!(device.left(), [""; 0]);
}

/// Images and samplers are in one set, which is bound at two numbers: images are read through one and samplers through the other.
#[test]
fn one_set_is_bound_at_two_numbers() {
    let world = World::new(LATE);
    let device = &world.device;
    let layout = device.layout(&of_compute([IMAGE, SAMPLER]).map(|binding| binding.descriptor_count(100)));
    let layouts = device.pipeline_layout(&[layout; 2]);
    let at = |set, binding| Operand { set, binding, count: 2, element: None };
    let links = [(at(0, 0), at(1, 1)), (at(1, 0), at(0, 1))];
    let pipeline = device.compute(layouts, &shader_of(5, &links, 100, [0; 3]));
    let set = device.sets(pools(device, false)[0], &[layout])[0];
    let sampler = device.linear();
    device.write_sampler(set, 1, sampler);
    for (format, is_repaired) in [(SMOOTH[0], false), (COARSE[0], true), (SMOOTH[1], false)] {
        device.write_image(set, 0, device.view(format));
        device.record(world.commands[0], (COMPUTE, pipeline), layouts, &[set; 2]);
        let reads = world.reads(0);
        // The first elements, in both ways.
        let first = [0, reads.len() / 2].map(|at| reads[at] != sampler.as_raw());
        assert_eq!(first, [is_repaired; 2], "{format:?}: {reads:?}");
    }
    assert_eq!(device.left(), [""; 0]);
}

/// Whatever call of the layer's own fails, nothing wrong is read in silence.
#[test]
fn a_call_that_fails_leaves_a_name() {
    for command in [
        c"vkCreateBuffer",
        c"vkAllocateMemory",
        c"vkBindBufferMemory",
        c"vkMapMemory",
        c"vkCreateDescriptorPool",
        c"vkAllocateDescriptorSets",
        c"vkCreateDescriptorSetLayout",
        c"vkCreatePipelineLayout",
        c"vkCreateComputePipelines",
    ] {
        for (calls, flags) in
            [1, 2, u64::MAX].into_iter().flat_map(|calls| [(calls, LATE), (calls, Flags::PARTIALLY_BOUND)])
        {
            let world = World::new(flags);
            let (sets, sampler) = world.conflict();
            world.device.fail_own(command, calls);
            world.record(0, sets);
            assert!(world.device.failed() > 0, "{command:?} is called");
            let left = world.device.left();
            let is_repaired = world.is_repaired(sampler);
            assert_eq!(left.is_empty(), is_repaired, "{command:?} fails {calls} times, {flags:?}: {left:?}");
        }
    }
}

/// The same of a call that fails once pipelines look up: where a second set gets its table, and where samplers come after the bind.
#[test]
fn a_call_that_fails_later_leaves_a_name() {
    // Tables that fill a buffer each.
    const LARGE: [u32; 2] = [20_000, 80];
    let calls = [
        (c"vkCreateBuffer", false),
        (c"vkAllocateMemory", false),
        (c"vkBindBufferMemory", false),
        (c"vkMapMemory", false),
        (c"vkCreateDescriptorPool", false),
        (c"vkAllocateDescriptorSets", false),
        (c"vkCreateSampler", false),
        (c"vkCreateSampler", true),
    ];
    for ((command, is_late), times) in calls.into_iter().flat_map(|call| [(call, 1), (call, u64::MAX)]) {
        let world = World::with(LATE, LARGE);
        let device = &world.device;
        learn(&world);
        let (sets, _) = world.conflict();
        let sampler = device.sampler(&linear_info().mip_lod_bias(0.25));
        if is_late {
            world.record(0, sets);
        }
        device.fail_own(command, times);
        world.sampler(sets, 0, sampler);
        if !is_late {
            world.record(0, sets);
        }
        assert!(device.failed() > 0, "{command:?} is called");
        let (is_repaired, left) = (world.is_repaired(sampler), device.left());
        assert!(is_repaired || !left.is_empty(), "{command:?} fails {times} times, late: {is_late}: {left:?}");
    }
}

/// A bound set, with images of both classes that are legal from an element on and a sampler; samplers to write, and one that parts the
/// column of these images.
struct Parted {
    world: World,
    sets: Sets,
    samplers: [vk::Sampler; 2],
    least: vk::Sampler,
}

impl Parted {
    fn new(first: u32, (at, filter): (u32, Filter)) -> Self {
        let world = World::new(LATE);
        let device = &world.device;
        device.forget_calls();
        learn(&world);
        let sets = world.sets();
        (first..).zip(SMOOTH).for_each(|(element, format)| world.image(sets, element, device.view(format)));
        world.sampler(sets, at, device.sampler(&linear_info().mag_filter(filter).min_filter(filter)));
        world.record(0, sets);
        let (samplers, least) = ([device.linear(), device.nearest()], least(device));
        Self { world, sets, samplers, least }
    }
}

/// A sampler comes that parts columns, while other threads write the set that it is in and record with it.
#[test]
fn columns_are_parted_while_a_set_is_written() {
    for round in 0..60 {
        let Parted { world, sets, samplers, least } = &Parted::new(90, (2, Filter::NEAREST));
        let device = &world.device;
        let views = [SMOOTH, COARSE].map(|own| own.map(|format| device.view(format)));
        let start = &std::sync::Barrier::new(4);
        let written = std::thread::scope(|scope| {
            let writers = [0_usize, 1].map(|at| {
                scope.spawn(move || {
                    let (mut written, mut random) = (Written::default(), Random(round * 4 + at as u64));
                    start.wait();
                    for _ in 0..60 {
                        let [kind, format, sampler] = [0, 1, 2].map(|_| random.below(2) as usize);
                        world.image(*sets, at as u32, views[kind][format]);
                        world.sampler(*sets, at as u32, samplers[sampler]);
                        written.images[at] = Some([SMOOTH, COARSE][kind][format]);
                        written.samplers[at] = samplers[sampler].as_raw();
                    }
                    written
                })
            });
            scope.spawn(move || {
                start.wait();
                (0..10).for_each(|_| world.record(1, *sets));
            });
            start.wait();
            (0..round * 300).for_each(|_| std::hint::spin_loop());
            world.sampler(*sets, 2, *least);
            writers.map(|writer| writer.join().expect("a writer ends"))
        });
        let mut all = written[0];
        (all.images[1], all.samplers[1]) = (written[1].images[1], written[1].samplers[1]);
        [0, 1].into_iter().for_each(|own| world.check(own, &all, &format!("round {round}")));
        // What is legal with it is its own, and what is not is another.
        let reads = world.reads(0);
        for at in 0..2 {
            let is_own = reads[at * 3 + 2] == least.as_raw();
            assert_eq!(is_own, all.images[at] == Some(SMOOTH[0]), "round {round}: {:?}", all.images[at]);
        }
    }
}

/// Another thread makes the same sampler as one that fills tables and is faster, while a hidden set that nobody holds waits to be destroyed.
#[test]
fn who_comes_second_with_a_sampler_waits_for_nobody() {
    let world = Arc::new(World::new(LATE));
    let (device, sets) = (&world.device, world.sets());
    learn(&world);
    world.image(sets, 0, device.view(COARSE[0]));
    let (gone, _) = world.conflict();
    world.record(0, gone);
    world.record(1, sets);
    world.free(world.pools, gone);
    device.begin(world.commands[0]);
    let sampler = device.sampler(&linear_info().mip_lod_bias(0.25));
    let (arrived, arrives) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    let once = Mutex::new(Some((arrived, goes)));
    device.driver.observe(move |_, call| {
        let is_own = matches!(call.args, Args::CreateSampler { allocator: 0, .. });
        let first = if is_own { lock(&once).take() } else { None };
        if let Some((arrived, goes)) = first {
            arrived.send(()).expect("the test waits");
            goes.recv().expect("the test goes on");
        }
    });
    let (ended, ends) = mpsc::channel();
    let writer = Arc::clone(&world);
    std::thread::spawn(move || {
        writer.sampler(sets, 0, sampler);
        ended.send(()).expect("the test waits");
    });
    let wait = Duration::from_secs(20);
    arrives.recv_timeout(wait).expect("a sampler is made for the table");
    let set = device.set(&[binding(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 1)]);
    let faster = device.written_to(set, 0, pair(sampler, device.view(COARSE[0])));
    assert!(device.is_variant(faster), "{faster:?}");
    go.send(()).expect("the other thread waits");
    ends.recv_timeout(wait).expect("the other thread goes on");
    world.record(0, sets);
    assert_eq!(world.reads(0)[0], faster.as_raw());
}

/// Two threads write one set while others record with it, make states and free sets with tables of their own.
#[test]
fn threads_write_what_is_bound() {
    let world = World::new(LATE);
    learn(&world);
    for round in 0..40 {
        let (world, sets) = (&world, world.sets());
        let device = &world.device;
        (0..READ).for_each(|at| world.sampler(sets, at, device.nearest()));
        (0..READ).for_each(|at| world.image(sets, at, device.view(SMOOTH[0])));
        world.record(0, sets);
        let stop = AtomicBool::new(false);
        let mut all = Written { images: [Some(SMOOTH[0]); READ as usize], samplers: [0; READ as usize] };
        let mut samplers = Vec::new();
        std::thread::scope(|scope| {
            let writers = [0_u64, 1].map(|thread| {
                scope.spawn(move || {
                    let mut random = Random(round * 16 + thread);
                    let (mut written, mut made) = (Written::default(), Vec::new());
                    for _ in 0..150 {
                        // Of three elements each of both the one thread has the first and the other has the rest.
                        let at = if thread == 0 { 0 } else { 1 + random.below(2) as usize };
                        if random.below(2) == 0 {
                            let sampler = world.any_sampler(&mut random);
                            world.sampler(sets, at as u32, sampler);
                            written.samplers[at] = sampler.as_raw();
                            made.push(sampler);
                        } else {
                            let format = any_format(&mut random);
                            world.image(sets, at as u32, device.view(format));
                            written.images[at] = Some(format);
                        }
                    }
                    (written, made)
                })
            });
            scope.spawn(|| {
                world.record(1, sets);
                while !stop.load(Ordering::Relaxed) {
                    world.record(1, sets);
                }
            });
            for (own, made) in writers.map(|writer| writer.join().expect("a writer ends")) {
                samplers.extend(made);
                for at in 0..READ as usize {
                    all.images[at] = own.images[at].or(all.images[at]);
                    all.samplers[at] = own.samplers[at].max(all.samplers[at]);
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        [0, 1].into_iter().for_each(|at| world.check(at, &all, &format!("round {round}, commands {at}")));
        world.free(world.pools, sets);
        samplers.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
    }
}

/// Frames that allocate and free sets with tables take no more memory from one to the next.
#[test]
fn frames_with_tables_stay_flat() {
    let world = World::new(LATE);
    let device = &world.device;
    device.forget_calls();
    let views = COARSE.map(|format| device.view(format));
    let samplers = [device.linear(), device.nearest()];
    let mut known = None;
    for frame in 0..10_000 {
        let sets = world.sets();
        (0..READ).for_each(|at| world.image(sets, at, views[at as usize % 2]));
        (0..READ).for_each(|at| world.sampler(sets, at, samplers[at as usize % 2]));
        world.record(0, sets);
        device.begin(world.commands[0]);
        world.free(world.pools, sets);
        if frame == 999 || frame == 9_999 {
            let live = [Kind::Buffer, Kind::Memory, Kind::Pool].map(|kind| device.driver.live(kind).len());
            assert_eq!(*known.get_or_insert(live), live, "frame {frame}");
        }
    }
    device.driver.check();
}

/// A sampler comes that parts columns, while other threads allocate sets with tables, record with them and free them.
#[test]
fn columns_are_parted_while_sets_come_and_go() {
    for round in 0..60 {
        let Parted { world, sets, samplers, least } = &Parted::new(0, (0, Filter::LINEAR));
        let views = [SMOOTH, COARSE].map(|own| world.device.view(own[0]));
        let start = &std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for thread in 1..3_u64 {
                scope.spawn(move || {
                    let (own, mut random) = (pools(&world.device, true), Random(round * 4 + thread));
                    start.wait();
                    for turn in 0..30 {
                        let (sets, mut written) = (world.sets_of(own), Written::default());
                        for at in 0..READ as usize {
                            let [image, sampler] = [0, 1].map(|_| random.below(2) as usize);
                            world.image(sets, at as u32, views[image]);
                            world.sampler(sets, at as u32, samplers[sampler]);
                            written.images[at] = Some([SMOOTH, COARSE][image][0]);
                            written.samplers[at] = samplers[sampler].as_raw();
                        }
                        world.record(thread as usize, sets);
                        let what = format!("round {round}, turn {turn}");
                        (0..4).for_each(|_| world.check(thread as usize, &written, &what));
                        world.free(own, sets);
                    }
                });
            }
            start.wait();
            (0..round * 300).for_each(|_| std::hint::spin_loop());
            world.sampler(*sets, 1, *least);
        });
        let reads = world.reads(0);
        assert_eq!([1, 4].map(|at: usize| reads[at] == least.as_raw()), [true, false], "round {round}");
    }
}

/// What is written by the settings that say when a pipeline may be compiled again, and whether anything is. A draw that is repaired later
/// leaves none of the one before it: nobody knows whether that is submitted again.
#[test]
fn a_conflict_is_told_of_by_when_it_comes() {
    for (setting, value, is_late, again, left, compiled) in [
        ("bindless", "resolve", false, 3, &[][..], 1),
        ("bindless", "resolve", true, 0, &["update-after-bind"][..], 0),
        ("bindless", "resolve", true, 1, &[][..], 1),
        ("split_compile", "learn", false, 3, &["learned"][..], 0),
        ("mode", "audit", false, 3, &["bindless"][..], 0),
        ("mode", "audit", true, 0, &["bindless"][..], 0),
        ("bindless", "name", true, 0, &["bindless"][..], 0),
    ] {
        let builder = if setting == "bindless" { roomy() } else { roomy().set("bindless", "resolve") };
        let world = World::on(builder.set(setting, value), LATE, COUNTS);
        let (device, sets) = (&world.device, world.sets());
        let write = |is_legal: bool| {
            (0..READ).for_each(|at| {
                world.image(sets, at, device.view(if is_legal { SMOOTH[0] } else { COARSE[0] }));
                world.sampler(sets, at, device.linear());
            });
        };
        write(is_late);
        world.record(0, sets);
        write(false);
        (0..again).for_each(|_| world.record(0, sets));
        device.destroy_pipeline(world.pipeline);
        let what = format!("{setting}={value}, late: {is_late}, recorded again: {again}");
        assert_eq!(device.left(), left, "{what}");
        assert_eq!(device.records("shader").len(), compiled, "{what}");
        let told = device.records("pair").into_iter().filter(|record| record["how"] == "table").count();
        assert_eq!(told, compiled, "one for the link, state and class: {what}");
    }
}

/// The second run compiles when the pipeline is created, and nothing at a bind.
#[test]
fn what_was_looked_up_is_learned() {
    let file = File::at("learned");
    for run in 0..2 {
        let builder = roomy().set("bindless", "resolve").set("learned", file.path());
        let world = World::on(builder, LATE, COUNTS);
        let learned =
            || -> Vec<bool> { world.device.records("shader").iter().map(|record| record["learned"] == true).collect() };
        let wanted: &[bool] = if run == 0 { &[] } else { &[true] };
        assert_eq!(learned(), wanted, "created in run {run}");
        learn(&world);
        assert_eq!(learned(), [run == 1], "bound in run {run}");
    }
    assert!(file.0.exists(), "the list was written");
}
