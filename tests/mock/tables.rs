//! What a shader looks up (`bindless=resolve`): for each pair that it can join the very sampler that the pair asks for, whatever was written
//! before and after the bind, and whatever fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};

use crate::arrays::words;
use crate::driver::machine::{Read, place};
use crate::driver::{Config, OwnFailure, lock};
use crate::loader::*;
use crate::separate::{Operand, shader_of};
use crate::stress::Random;

type Ty = vk::DescriptorType;
type Flags = vk::DescriptorBindingFlags;

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const COUNTS: [u32; 2] = [100, 80];
const LATE: Flags = Flags::from_raw(Flags::UPDATE_AFTER_BIND.as_raw() | Flags::PARTIALLY_BOUND.as_raw());
const FILTERED: [vk::Format; 2] = [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_UNORM];
const UNFILTERED: [vk::Format; 2] = [vk::Format::R32_SFLOAT, vk::Format::B8G8R8A8_SRGB];

/// Elements that the shader reads, of images and of samplers.
const READ: u32 = 3;

struct World {
    device: Device,
    layouts: [vk::DescriptorSetLayout; 2],
    layout: vk::PipelineLayout,
    pools: [vk::DescriptorPool; 2],
    counts: [u32; 2],
}

fn roomy(config: &mut Config) {
    config.follows = true;
    (config.set_limits, config.block_limits, config.storage_buffers) = ([8, 1 << 20, 1 << 20], [12, 72, 1 << 20], 30);
}

impl World {
    fn new(builder: InstanceBuilder, flags: Flags) -> Self {
        Self::with(builder, flags, COUNTS)
    }

    fn with(builder: InstanceBuilder, flags: Flags, counts: [u32; 2]) -> Self {
        Self::with_setting(builder, flags, counts, true)
    }

    fn with_setting(builder: InstanceBuilder, flags: Flags, counts: [u32; 2], resolves: bool) -> Self {
        Self::on(builder, (flags, counts), resolves, |_| {})
    }

    fn on(
        builder: InstanceBuilder,
        (flags, counts): (Flags, [u32; 2]),
        resolves: bool,
        limits: impl Fn(&mut Config),
    ) -> Self {
        let driver = |config: &mut Config| {
            roomy(config);
            limits(config);
        };
        let builder = builder.driver(driver).traced("decisions");
        let builder = builder.set("bindless", if resolves { "resolve" } else { "name" });
        let device = builder.set("separate", "resolve").device();
        let is_late = flags.contains(Flags::UPDATE_AFTER_BIND);
        let layouts = [(Ty::SAMPLED_IMAGE, counts[0]), (Ty::SAMPLER, counts[1])].map(|(ty, count)| {
            let bindings = [binding(0, ty, count).stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let flags = [if count == 1 { Flags::empty() } else { flags }];
            let mut node = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
            let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut node);
            if is_late {
                info.flags |= vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
            }
            device.try_layout(&info).expect("a layout")
        });
        let layout = device.pipeline_layout(&layouts);
        let pools = pools(&device, is_late);
        Self { device, layouts, layout, pools, counts }
    }

    fn sets(&self) -> [vk::DescriptorSet; 2] {
        self.sets_of(self.pools)
    }

    fn sets_of(&self, pools: [vk::DescriptorPool; 2]) -> [vk::DescriptorSet; 2] {
        [0, 1].map(|at| self.device.sets(pools[at], &self.layouts[at..=at])[0])
    }

    fn free(&self, sets: [vk::DescriptorSet; 2]) {
        self.free_of(self.pools, sets);
    }

    fn free_of(&self, pools: [vk::DescriptorPool; 2], sets: [vk::DescriptorSet; 2]) {
        let device = &self.device;
        for (pool, set) in pools.iter().zip(&sets) {
            assert_eq!(call!(device.free_sets(device.raw, *pool, 1, set)), SUCCESS);
        }
    }

    fn image(&self, set: vk::DescriptorSet, element: u32, view: vk::ImageView) {
        self.write(set, element, Ty::SAMPLED_IMAGE, pair(vk::Sampler::null(), view));
    }

    fn sampler(&self, set: vk::DescriptorSet, element: u32, sampler: vk::Sampler) {
        self.write(set, element, Ty::SAMPLER, pair(sampler, vk::ImageView::null()));
    }

    fn write(&self, set: vk::DescriptorSet, element: u32, ty: Ty, info: vk::DescriptorImageInfo) {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_array_element(element).descriptor_type(ty);
        self.device.update(&[write.image_info(&[info])], &[]);
    }

    /// A pipeline whose shader reads the first elements of both, by inputs.
    fn pipeline(&self) -> vk::Pipeline {
        let element = |count| if count == 1 { Some(0) } else { None };
        self.device.compute(self.layout, &words(self.counts, self.counts.map(element)))
    }

    fn record(&self, commands: vk::CommandBuffer, pipeline: vk::Pipeline, sets: [vk::DescriptorSet; 2]) {
        let device = &self.device;
        assert_eq!(call!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())), SUCCESS);
        call!(device.bind_pipeline(commands, COMPUTE, pipeline));
        call!(device.bind_sets(commands, COMPUTE, self.layout, 0, 2, sets.as_ptr(), 0, std::ptr::null()));
        device.act(commands, COMPUTE);
    }

    /// What the dispatch reads that was recorded last, if that were submitted now.
    fn reads(&self, commands: vk::CommandBuffer) -> Vec<Read> {
        self.device.driver.check();
        let reads = lock(&self.device.driver.machine).draw(commands.as_raw(), place(COMPUTE));
        reads.expect("what is bound can be dispatched with")
    }

    fn left(&self) -> Vec<String> {
        let records = self.device.instance.records("unresolved");
        records.iter().map(|record| record["what"].as_str().expect("a name").to_owned()).collect()
    }
}

fn pools(device: &Device, is_late: bool) -> [vk::DescriptorPool; 2] {
    let mut info = vk::DescriptorPoolCreateInfo::default();
    if is_late {
        info.flags |= vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
    }
    [0, 1].map(|_| {
        let mut pool = vk::DescriptorPool::null();
        assert_eq!(call!(device.create_pool(device.raw, &info, allocator(), &mut pool)), SUCCESS);
        pool
    })
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
    fn check(&self, commands: vk::CommandBuffer, written: &Written, what: &str) {
        for (at, read) in self.reads(commands).into_iter().enumerate() {
            let (image, sampler) = match self.counts {
                [1, _] => (0, at % 3),
                _ => (at / 3, at % 3),
            };
            let (Some(format), given) = (written.images[image], written.samplers[sampler]) else { continue };
            if given == 0 {
                continue;
            }
            let what =
                format!("{what}: image {image} of {format:?} with sampler {sampler}, {given:#x}: {:#x}", read.handle);
            let model = self.device.driver.sampler(given).expect("a sampler of the application's");
            let is_linear = model.info.min_filter == vk::Filter::LINEAR;
            if !UNFILTERED.contains(&format) || !is_linear {
                let other = self.device.driver.sampler(read.handle);
                let of = |m: &crate::driver::SamplerModel| (m.by_layer, m.info.min_filter, m.info.mip_lod_bias);
                let what =
                    format!("{what}, {:?}, wanted {:?}, at {:?}", other.as_ref().map(of), of(&model), read.sampler);
                assert_eq!(read.handle, given, "{what}");
                continue;
            }
            let other = self.device.driver.sampler(read.handle).unwrap_or_else(|| panic!("{what} lives"));
            assert!(other.by_layer, "{what}");
            assert_eq!(
                (other.info.mag_filter, other.info.min_filter, other.info.mip_lod_bias),
                (vk::Filter::NEAREST, vk::Filter::NEAREST, model.info.mip_lod_bias),
                "{what}"
            );
        }
    }

    fn any_sampler(&self, random: &mut Random) -> vk::Sampler {
        let filter = if random.below(3) == 0 { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let info = vk::SamplerCreateInfo { mip_lod_bias: random.below(6) as f32 / 16.0, ..linear_info() };
        self.device.sampler(&info.mag_filter(filter).min_filter(filter))
    }
}

fn any_format(random: &mut Random) -> vk::Format {
    let of = if random.below(2) == 0 { FILTERED } else { UNFILTERED };
    of[random.below(2) as usize]
}

/// A set that conflicts, bound once, so that the pipeline looks up from then on.
fn learn(world: &World, pipeline: vk::Pipeline, commands: vk::CommandBuffer) {
    let sets = world.sets();
    (0..READ.min(world.counts[0])).for_each(|at| world.image(sets[0], at, world.device.view(UNFILTERED[0])));
    (0..READ).for_each(|at| world.sampler(sets[1], at, world.device.linear()));
    world.record(commands, pipeline, sets);
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
        let world = World::with(InstanceBuilder::new(), flags, counts);
        let (device, pipeline) = (&world.device, world.pipeline());
        let commands = [0, 1].map(|_| device.command_buffer());
        learn(&world, pipeline, commands[0]);
        let (mut sets, mut written, mut random) = (world.sets(), Written::default(), Random(seed));
        let (mut is_recorded, mut old) = (false, Vec::new());
        for step in 0..1500 {
            let at = random.below(u64::from(READ)) as usize;
            // A single image is in no array, and may not be written late.
            let is_late = flags == LATE && counts[0] > 1;
            match random.below(10) {
                0..4 => {
                    let sampler = world.any_sampler(&mut random);
                    world.sampler(sets[1], at as u32, sampler);
                    old.push(std::mem::replace(&mut written.samplers[at], sampler.as_raw()));
                    is_recorded &= flags == LATE;
                }
                4..7 => {
                    let at = if counts[0] == 1 { 0 } else { at };
                    // Null views are no images, and what is read of them is not looked at.
                    let format = (random.below(8) != 0).then(|| any_format(&mut random));
                    world.image(sets[0], at as u32, format.map_or(vk::ImageView::null(), |format| device.view(format)));
                    written.images[at] = format;
                    is_recorded &= is_late;
                }
                7 => old
                    .drain(..)
                    .filter(|own| *own != 0)
                    .for_each(|own| device.destroy_sampler(vk::Sampler::from_raw(own))),
                8 if step % 16 == 0 => {
                    let gone = std::mem::replace(&mut sets, world.sets());
                    world.free(gone);
                    (written, is_recorded) = (Written::default(), false);
                }
                _ => {
                    commands.iter().for_each(|own| world.record(*own, pipeline, sets));
                    is_recorded = true;
                }
            }
            if is_recorded {
                commands
                    .iter()
                    .for_each(|own| world.check(*own, &written, &format!("{flags:?}, {counts:?}, step {step}")));
            }
        }
        assert_eq!(world.left(), [""; 0]);
        let shaders = device.instance.records("shader");
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
        let world = World::new(InstanceBuilder::new(), LATE);
        let (device, pipeline) = (&world.device, world.pipeline());
        let commands = [0, 1].map(|_| device.command_buffer());
        let sets = world.sets();
        world.image(sets[0], 0, device.view(UNFILTERED[0]));
        world.image(sets[0], 1, device.view(FILTERED[0]));
        world.sampler(sets[1], 0, device.linear());
        world.record(commands[0], pipeline, sets);
        let make = || if conflicts { device.linear() } else { device.nearest() };
        let mut lost = 0;
        let mut all: Vec<_> = (0..samplers).map(|_| make()).collect();
        for (step, sampler) in all.iter().enumerate() {
            world.sampler(sets[1], 1, *sampler);
            let reads = world.reads(commands[0]);
            assert_eq!(reads[4].handle, sampler.as_raw(), "{step}: the pair is legal");
            lost += u32::from(conflicts && reads[1].handle == sampler.as_raw());
        }
        assert_eq!(lost > 0, !left.is_empty(), "{lost} of {samplers}");
        // A pool that is made now has what the other has.
        let other = world.sets()[0];
        world.image(other, 1, device.view(FILTERED[1]));
        world.record(commands[1], pipeline, [other, sets[1]]);
        let last = all.pop().expect("a sampler");
        assert_eq!(world.reads(commands[1])[4].handle, last.as_raw());
        // What has no place goes, and another comes in its descriptor.
        device.destroy_sampler(last);
        world.sampler(sets[1], 1, all[0]);
        assert_eq!(commands.map(|own| world.reads(own)[4].handle), [all[0].as_raw(); 2]);
        call!(device.destroy_pipeline(device.raw, pipeline, allocator()));
        assert_eq!(world.left(), left, "{samplers}");
    }
}

/// The last place is the application's own sampler's: what would stand in for it has none, which is named, and legal pairs are read as they
/// are. With one place more it has one.
#[test]
fn places_are_the_application_s_first() {
    for (others, is_repaired) in [(498, true), (499, false)] {
        let world = World::new(InstanceBuilder::new(), LATE);
        let (device, pipeline) = (&world.device, world.pipeline());
        let commands = device.command_buffer();
        let sets = world.sets();
        world.image(sets[0], 0, device.view(UNFILTERED[0]));
        world.image(sets[0], 1, device.view(FILTERED[0]));
        let first = device.linear();
        world.sampler(sets[1], 0, first);
        world.record(commands, pipeline, sets);
        device.destroy_sampler(first);
        for _ in 0..others {
            world.sampler(sets[1], 1, device.nearest());
        }
        let last = device.linear();
        world.sampler(sets[1], 2, last);
        let reads = world.reads(commands);
        assert_eq!((reads[2].handle != last.as_raw(), reads[5].handle), (is_repaired, last.as_raw()), "{others}");
        world.record(commands, pipeline, sets);
        let left: &[&str] = if is_repaired { &[] } else { &["sampler-limit"] };
        assert_eq!(world.left(), left, "{others}");
    }
}

/// Where nothing is written after the bind, a pool that has not enough places is not bound, as long as it has not.
#[test]
fn a_pool_without_room_is_not_bound() {
    let world = World::new(InstanceBuilder::new(), Flags::PARTIALLY_BOUND);
    let (device, pipeline) = (&world.device, world.pipeline());
    let commands = device.command_buffer();
    let sets = world.sets();
    world.image(sets[0], 0, device.view(UNFILTERED[0]));
    let sampler = device.linear();
    world.sampler(sets[1], 0, sampler);
    world.record(commands, pipeline, sets);
    assert_ne!(world.reads(commands)[0].handle, sampler.as_raw());
    let others: Vec<_> = (0..1100).map(|_| device.nearest()).collect();
    others.iter().for_each(|own| world.sampler(sets[1], 1, *own));
    world.record(commands, pipeline, sets);
    let reads = world.reads(commands);
    assert_eq!([0, 1].map(|at: usize| reads[at].handle), [sampler, others[1099]].map(Handle::as_raw));
    assert_eq!(world.left(), ["sampler-limit"]);
    others.into_iter().for_each(|own| device.destroy_sampler(own));
    world.sampler(sets[1], 1, sampler);
    world.record(commands, pipeline, sets);
    let reads = world.reads(commands);
    assert!([0, 1].iter().all(|at| reads[*at].handle != sampler.as_raw()), "repaired again");
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
        let world = World::on(InstanceBuilder::new(), (flags, COUNTS), true, limits);
        let (device, pipeline) = (&world.device, world.pipeline());
        let commands = device.command_buffer();
        let sets = world.sets();
        world.image(sets[0], 0, device.view(UNFILTERED[0]));
        let sampler = device.linear();
        world.sampler(sets[1], 0, sampler);
        world.record(commands, pipeline, sets);
        (0..100).for_each(|_| world.sampler(sets[1], 1, device.nearest()));
        world.record(commands, pipeline, sets);
        assert_eq!(world.reads(commands)[0].handle != sampler.as_raw(), left.is_empty(), "{after_bind} {flags:?}");
        assert_eq!(world.left(), left, "{after_bind} {flags:?}");
    }
}

/// A descriptor without an index that is written after the bind is looked up as well, if shaders of the device may index samplers. Else it is
/// named.
#[test]
fn descriptors_without_an_index_are_looked_up_too() {
    for (permits, counts) in [true, false].into_iter().flat_map(|permits| [(permits, [100, 80]), (permits, [2, 2])]) {
        let world = World::on(InstanceBuilder::new(), (LATE, counts), true, |config| {
            (config.tells_features, config.permits) = (true, permits);
        });
        let device = &world.device;
        let pipeline = device.compute(world.layout, &words(counts, [Some(1), Some(1)]));
        let (commands, sets) = (device.command_buffer(), world.sets());
        world.image(sets[0], 1, device.view(FILTERED[0]));
        let samplers = [device.linear(), device.nearest()];
        world.sampler(sets[1], 1, samplers[0]);
        world.record(commands, pipeline, sets);
        assert_eq!(world.reads(commands)[0].handle, samplers[0].as_raw(), "legal");
        let what = format!("{permits}, {counts:?}");
        // Before the bind, and after that.
        for is_late in [false, true] {
            let sets = world.sets();
            let write = |format: vk::Format, sampler| {
                world.image(sets[0], 1, device.view(format));
                world.sampler(sets[1], 1, sampler);
            };
            write(if is_late { FILTERED[0] } else { UNFILTERED[0] }, samplers[0]);
            world.record(commands, pipeline, sets);
            write(UNFILTERED[0], samplers[0]);
            assert_eq!(world.reads(commands)[0].handle != samplers[0].as_raw(), permits, "{what}, {is_late}");
            write(UNFILTERED[0], samplers[1]);
            assert_eq!(world.reads(commands)[0].handle, samplers[1].as_raw(), "{what}: NEAREST is legal");
            write(FILTERED[1], samplers[0]);
            assert_eq!(world.reads(commands)[0].handle, samplers[0].as_raw(), "{what}: legal again");
        }
        assert_eq!(world.left(), if permits { &[][..] } else { &["update-after-bind"] }, "{what}");
    }
}

/// The shader's index is the last element, or lies beyond the descriptors that there are: then it is undefined which descriptor is read, and
/// the pool is not left.
#[test]
fn indices_beyond_an_array_stay_in_the_pool() {
    for counts in [COUNTS, [4096, 1], [1, 900]] {
        let world = World::with(InstanceBuilder::new(), LATE, counts);
        let (device, pipeline) = (&world.device, world.pipeline());
        let (commands, sets) = (device.command_buffer(), world.sets());
        let last = counts.map(|count| count - 1);
        let write = |set: usize, element| match set {
            0 => world.image(sets[0], element, device.view(UNFILTERED[0])),
            _ => world.sampler(sets[1], element, device.linear()),
        };
        [0, 1].into_iter().for_each(|set| (0..READ.min(counts[set])).for_each(|element| write(set, element)));
        world.record(commands, pipeline, sets);
        [0, 1].into_iter().for_each(|set| write(set, last[set]));
        let reads = world.reads(commands);
        assert!(
            reads.iter().all(|read| device.driver.sampler(read.handle).is_some_and(|own| own.by_layer)),
            "{counts:?}"
        );
        assert_eq!(world.left(), [""; 0], "{counts:?}");
    }
}

/// Sets and storage buffers are taken up to the last one, and not beyond.
#[test]
fn limits_are_kept_to_the_last() {
    for (sets, buffers, left) in
        [(3, 3, &[][..]), (2, 3, &["no-free-set"]), (3, 2, &["storage-buffers"]), (2, 2, &["no-free-set"])]
    {
        let limits = |config: &mut Config| (config.set_limits[0], config.storage_buffers) = (sets, buffers);
        let world = World::on(InstanceBuilder::new(), (LATE, COUNTS), true, limits);
        let (device, pipeline) = (&world.device, world.pipeline());
        let (commands, sets) = (device.command_buffer(), world.sets());
        world.image(sets[0], 0, device.view(UNFILTERED[0]));
        let sampler = device.linear();
        world.sampler(sets[1], 0, sampler);
        world.record(commands, pipeline, sets);
        assert_eq!(world.reads(commands)[0].handle != sampler.as_raw(), left.is_empty(), "{left:?}");
        assert_eq!(world.left(), left);
    }
}

/// Sets of one image are written for each dispatch. What was found out for an image serves others of its class, and no other.
#[test]
fn sets_of_other_classes_are_found_out_anew() {
    let world = World::with(InstanceBuilder::new(), LATE, [1, 80]);
    let (device, pipeline) = (&world.device, world.pipeline());
    let (commands, heap) = (device.command_buffer(), world.sets()[1]);
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
    let least = device.sampler(&linear_info().push_next(&mut reduction));
    let linear = device.linear();
    world.sampler(heap, 0, linear);
    // With this one no class is legal here.
    world.sampler(heap, 1, least);
    let read = |format| {
        let image = world.sets()[0];
        world.image(image, 0, device.view(format));
        world.record(commands, pipeline, [image, heap]);
        world.reads(commands)[0].handle
    };
    let classes = [FILTERED[1], UNFILTERED[0]];
    let first = classes.map(read);
    assert_eq!(first.map(|own| own == linear.as_raw()), [true, false]);
    (0..4).for_each(|_| assert_eq!(classes.map(read), first));
    assert_eq!(world.left(), [""; 0]);
}

/// Images and samplers are in one set, which is bound at two numbers: images are read through one and samplers through the other.
#[test]
fn one_set_is_bound_at_two_numbers() {
    let world = World::new(InstanceBuilder::new(), LATE);
    let device = &world.device;
    let bindings = [(0, Ty::SAMPLED_IMAGE), (1, Ty::SAMPLER)]
        .map(|(number, ty)| binding(number, ty, 100).stage_flags(vk::ShaderStageFlags::COMPUTE));
    let layout = device.layout(&bindings);
    let layouts = device.pipeline_layout(&[layout; 2]);
    let at = |set, binding| Operand { set, binding, count: 2, element: None };
    let links = [(at(0, 0), at(1, 1)), (at(1, 0), at(0, 1))];
    let pipeline = device.compute(layouts, &shader_of(5, &links, 100, [0; 3]));
    let set = device.sets(pools(device, false)[0], &[layout])[0];
    let write = |number, ty, info: vk::DescriptorImageInfo| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number).descriptor_type(ty);
        device.update(&[write.image_info(&[info])], &[]);
    };
    let sampler = device.linear();
    write(1, Ty::SAMPLER, pair(sampler, vk::ImageView::null()));
    let commands = device.command_buffer();
    for (format, is_repaired) in [(FILTERED[0], false), (UNFILTERED[0], true), (FILTERED[1], false)] {
        write(0, Ty::SAMPLED_IMAGE, pair(vk::Sampler::null(), device.view(format)));
        assert_eq!(call!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())), SUCCESS);
        call!(device.bind_pipeline(commands, COMPUTE, pipeline));
        call!(device.bind_sets(commands, COMPUTE, layouts, 0, 2, [set; 2].as_ptr(), 0, std::ptr::null()));
        device.act(commands, COMPUTE);
        let reads = world.reads(commands);
        // The first elements, in both ways.
        let first = [0, reads.len() / 2].map(|at| reads[at].handle != sampler.as_raw());
        assert_eq!(first, [is_repaired; 2], "{format:?}: {reads:?}");
    }
    assert_eq!(world.left(), [""; 0]);
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
            [1_u32, 2, u32::MAX].into_iter().flat_map(|calls| [(calls, LATE), (calls, Flags::PARTIALLY_BOUND)])
        {
            let world = World::new(InstanceBuilder::new(), flags);
            let (device, pipeline) = (&world.device, world.pipeline());
            let commands = device.command_buffer();
            let sets = world.sets();
            world.image(sets[0], 0, device.view(UNFILTERED[0]));
            let sampler = device.linear();
            world.sampler(sets[1], 0, sampler);
            let result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
            *lock(&device.driver.own_failure) = Some(OwnFailure { command, left: calls.into(), hit: 0, result });
            world.record(commands, pipeline, sets);
            let hit = lock(&device.driver.own_failure).take().map_or(0, |failure| failure.hit);
            assert!(hit > 0, "{command:?} is called");
            let read = world.reads(commands).remove(0);
            let is_repaired = read.handle != sampler.as_raw();
            let left = world.left();
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
    for ((command, is_late), times) in calls.into_iter().flat_map(|call| [(call, 1_u32), (call, u32::MAX)]) {
        let world = World::with(InstanceBuilder::new(), LATE, LARGE);
        let (device, pipeline) = (&world.device, world.pipeline());
        let commands = device.command_buffer();
        learn(&world, pipeline, commands);
        let sets = world.sets();
        world.image(sets[0], 0, device.view(UNFILTERED[0]));
        world.sampler(sets[1], 0, device.linear());
        let info = vk::SamplerCreateInfo { mip_lod_bias: 0.25, ..linear_info() };
        let sampler = device.sampler(&info);
        if is_late {
            world.record(commands, pipeline, sets);
        }
        let result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        *lock(&device.driver.own_failure) = Some(OwnFailure { command, left: times.into(), hit: 0, result });
        world.sampler(sets[1], 0, sampler);
        if !is_late {
            world.record(commands, pipeline, sets);
        }
        let hit = lock(&device.driver.own_failure).take().map_or(0, |failure| failure.hit);
        assert!(hit > 0, "{command:?} is called");
        let is_repaired = world.reads(commands).remove(0).handle != sampler.as_raw();
        let left = world.left();
        assert!(is_repaired || !left.is_empty(), "{command:?} fails {times} times, late: {is_late}: {left:?}");
    }
}

/// A sampler comes that parts columns, while other threads write the set that it is in and record with it.
#[test]
fn columns_are_parted_while_a_set_is_written() {
    for round in 0..60 {
        let world = World::new(InstanceBuilder::new(), LATE);
        let (device, pipeline) = (&world.device, world.pipeline());
        device.driver.recording.store(false, Ordering::Relaxed);
        let commands = [0, 1].map(|_| device.command_buffer());
        learn(&world, pipeline, commands[0]);
        let sets = world.sets();
        world.image(sets[0], 90, device.view(FILTERED[0]));
        world.image(sets[0], 91, device.view(FILTERED[1]));
        world.sampler(sets[1], 2, device.nearest());
        world.record(commands[0], pipeline, sets);
        let views = [FILTERED, UNFILTERED].map(|own| own.map(|format| device.view(format)));
        let samplers = [device.linear(), device.nearest()];
        let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
        let least = device.sampler(&linear_info().push_next(&mut reduction));
        let start = std::sync::Barrier::new(4);
        let (world, start) = (&world, &start);
        let written = std::thread::scope(|scope| {
            let writers = [0_usize, 1].map(|at| {
                scope.spawn(move || {
                    let (mut written, mut random) = (Written::default(), Random(round * 4 + at as u64));
                    start.wait();
                    for _ in 0..60 {
                        let [kind, format, sampler] = [0, 1, 2].map(|_| random.below(2) as usize);
                        world.image(sets[0], at as u32, views[kind][format]);
                        world.sampler(sets[1], at as u32, samplers[sampler]);
                        written.images[at] = Some([FILTERED, UNFILTERED][kind][format]);
                        written.samplers[at] = samplers[sampler].as_raw();
                    }
                    written
                })
            });
            scope.spawn(move || {
                start.wait();
                (0..10).for_each(|_| world.record(commands[1], pipeline, sets));
            });
            start.wait();
            (0..round * 300).for_each(|_| std::hint::spin_loop());
            world.sampler(sets[1], 2, least);
            writers.map(|writer| writer.join().expect("a writer ends"))
        });
        let mut all = written[0];
        (all.images[1], all.samplers[1]) = (written[1].images[1], written[1].samplers[1]);
        for own in commands {
            world.check(own, &all, &format!("round {round}"));
        }
        // What is legal with it is its own, and what is not is another.
        let reads = world.reads(commands[0]);
        for at in 0..2 {
            let is_own = reads[at * 3 + 2].handle == least.as_raw();
            assert_eq!(is_own, all.images[at] == Some(FILTERED[0]), "round {round}: {:?}", all.images[at]);
        }
    }
}

/// Two threads write one set while others record with it, make states and free sets with tables of their own.
#[test]
fn threads_write_what_is_bound() {
    let world = Arc::new(World::new(InstanceBuilder::new(), LATE));
    let (device, pipeline) = (&world.device, world.pipeline());
    let commands: Vec<_> = (0..4).map(|_| device.command_buffer()).collect();
    learn(&world, pipeline, commands[0]);
    for round in 0..40 {
        let sets = world.sets();
        (0..READ).for_each(|at| world.sampler(sets[1], at, device.nearest()));
        (0..READ).for_each(|at| world.image(sets[0], at, device.view(FILTERED[0])));
        world.record(commands[0], pipeline, sets);
        let stop = AtomicBool::new(false);
        let (world, stop, commands) = (&*world, &stop, &commands[..]);
        let (written, made) = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..2_u64)
                .map(|thread| {
                    scope.spawn(move || {
                        let mut random = Random(round * 16 + thread);
                        let (mut written, mut made) = (Written::default(), Vec::new());
                        for _ in 0..150 {
                            // Of three elements each of both the one thread has the first and the other has the rest.
                            let at = if thread == 0 { 0 } else { 1 + random.below(2) as usize };
                            if random.below(2) == 0 {
                                let sampler = world.any_sampler(&mut random);
                                world.sampler(sets[1], at as u32, sampler);
                                written.samplers[at] = sampler.as_raw();
                                made.push(sampler);
                            } else {
                                let format = any_format(&mut random);
                                world.image(sets[0], at as u32, world.device.view(format));
                                written.images[at] = Some(format);
                            }
                        }
                        (written, made)
                    })
                })
                .collect();
            let recorder = scope.spawn(move || {
                loop {
                    world.record(commands[1], pipeline, sets);
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            writers_and(writers, stop, recorder)
        });
        for (at, own) in commands[..2].iter().enumerate() {
            world.check(*own, &written, &format!("round {round}, commands {at}"));
        }
        world.free(sets);
        made.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
    }
}

fn writers_and(
    writers: Vec<std::thread::ScopedJoinHandle<'_, (Written, Vec<vk::Sampler>)>>,
    stop: &AtomicBool,
    recorder: std::thread::ScopedJoinHandle<'_, ()>,
) -> (Written, Vec<vk::Sampler>) {
    let mut samplers = Vec::new();
    let mut all = Written { images: [Some(FILTERED[0]); READ as usize], samplers: [0; READ as usize] };
    for (own, made) in writers.into_iter().map(|writer| writer.join().expect("a writer ends")) {
        samplers.extend(made);
        for at in 0..READ as usize {
            all.images[at] = own.images[at].or(all.images[at]);
            all.samplers[at] = own.samplers[at].max(all.samplers[at]);
        }
    }
    stop.store(true, Ordering::Relaxed);
    recorder.join().expect("the recorder ends");
    (all, samplers)
}

/// Frames that allocate and free sets with tables take no more memory from one to the next.
#[test]
fn frames_with_tables_stay_flat() {
    let world = World::new(InstanceBuilder::new(), LATE);
    let (device, pipeline) = (&world.device, world.pipeline());
    device.driver.recording.store(false, Ordering::Relaxed);
    let commands = device.command_buffer();
    let views = UNFILTERED.map(|format| device.view(format));
    let samplers = [device.linear(), device.nearest()];
    let mut known = None;
    for frame in 0..10_000 {
        let sets = world.sets();
        (0..READ).for_each(|at| world.image(sets[0], at, views[at as usize % 2]));
        (0..READ).for_each(|at| world.sampler(sets[1], at, samplers[at as usize % 2]));
        world.record(commands, pipeline, sets);
        assert_eq!(call!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())), SUCCESS);
        world.free(sets);
        if frame == 999 || frame == 9_999 {
            let live = [crate::driver::Kind::Buffer, crate::driver::Kind::Memory, crate::driver::Kind::Pool]
                .map(|kind| device.driver.live(kind).len());
            assert_eq!(*known.get_or_insert(live), live, "frame {frame}");
        }
    }
    device.driver.check();
}

/// A sampler comes that parts columns, while other threads allocate sets with tables, record with them and free them.
#[test]
fn columns_are_parted_while_sets_come_and_go() {
    for round in 0..60 {
        let world = World::new(InstanceBuilder::new(), LATE);
        let (device, pipeline) = (&world.device, world.pipeline());
        device.driver.recording.store(false, Ordering::Relaxed);
        let commands = [0, 1, 2].map(|_| device.command_buffer());
        learn(&world, pipeline, commands[0]);
        let sets = world.sets();
        (0..2).for_each(|at| world.image(sets[0], at, device.view(FILTERED[at as usize])));
        world.sampler(sets[1], 0, device.linear());
        world.record(commands[0], pipeline, sets);
        let (views, samplers) =
            ([FILTERED, UNFILTERED].map(|own| device.view(own[0])), [device.linear(), device.nearest()]);
        let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
        let least = device.sampler(&linear_info().push_next(&mut reduction));
        let start = std::sync::Barrier::new(3);
        let (world, start) = (&world, &start);
        std::thread::scope(|scope| {
            for thread in 1..3_u64 {
                scope.spawn(move || {
                    let (own, mut random) = (pools(&world.device, true), Random(round * 4 + thread));
                    let commands = commands[thread as usize];
                    start.wait();
                    for turn in 0..30 {
                        let (sets, mut written) = (world.sets_of(own), Written::default());
                        for at in 0..READ as usize {
                            let [image, sampler] = [0, 1].map(|_| random.below(2) as usize);
                            world.image(sets[0], at as u32, views[image]);
                            world.sampler(sets[1], at as u32, samplers[sampler]);
                            written.images[at] = Some([FILTERED, UNFILTERED][image][0]);
                            written.samplers[at] = samplers[sampler].as_raw();
                        }
                        world.record(commands, pipeline, sets);
                        (0..4).for_each(|_| world.check(commands, &written, &format!("round {round}, turn {turn}")));
                        world.free_of(own, sets);
                    }
                });
            }
            start.wait();
            (0..round * 300).for_each(|_| std::hint::spin_loop());
            world.sampler(sets[1], 1, least);
        });
        let reads = world.reads(commands[0]);
        assert_eq!([1, 4].map(|at: usize| reads[at].handle == least.as_raw()), [true, false], "round {round}");
    }
}

/// What is written by the settings that say when a pipeline may be compiled again, and whether anything is.
#[test]
fn a_conflict_is_told_of_by_when_it_comes() {
    for (setting, value, is_late, left, compiled) in [
        ("bindless", "resolve", false, &[][..], 1),
        ("bindless", "resolve", true, &["update-after-bind"][..], 0),
        ("split_compile", "learn", false, &["learned"][..], 0),
        ("mode", "audit", false, &["bindless"][..], 0),
        ("mode", "audit", true, &["bindless"][..], 0),
        ("bindless", "name", true, &["bindless"][..], 0),
    ] {
        let builder = InstanceBuilder::new().set(setting, value);
        let world = World::with_setting(builder, LATE, COUNTS, setting != "bindless" || value != "name");
        let (device, pipeline) = (&world.device, world.pipeline());
        let (commands, sets) = (device.command_buffer(), world.sets());
        let write = |is_legal: bool| {
            (0..READ).for_each(|at| {
                world.image(sets[0], at, device.view(if is_legal { FILTERED[0] } else { UNFILTERED[0] }));
                world.sampler(sets[1], at, device.linear());
            });
        };
        write(is_late);
        world.record(commands, pipeline, sets);
        write(false);
        if !is_late {
            (0..3).for_each(|_| world.record(commands, pipeline, sets));
        }
        call!(device.destroy_pipeline(device.raw, pipeline, allocator()));
        let what = format!("{setting}={value}, late: {is_late}");
        assert_eq!(world.left(), left, "{what}");
        assert_eq!(device.instance.records("shader").len(), compiled, "{what}");
        let told = device.instance.records("pair").into_iter().filter(|record| record["how"] == "table").count();
        assert_eq!(told, compiled, "one for the link, state and class: {what}");
    }
}

/// The second run compiles when the pipeline is created, and nothing at a bind.
#[test]
fn what_was_looked_up_is_learned() {
    let path = std::env::temp_dir().join(format!("samplin-tables-{}", std::process::id()));
    for run in 0..2 {
        let builder = InstanceBuilder::new().set("learned", path.to_str().expect("UTF-8"));
        let world = World::new(builder, LATE);
        let (device, pipeline) = (&world.device, world.pipeline());
        let learned = || -> Vec<bool> {
            device.instance.records("shader").iter().map(|record| record["learned"] == true).collect()
        };
        let wanted: &[bool] = if run == 0 { &[] } else { &[true] };
        assert_eq!(learned(), wanted, "created in run {run}");
        learn(&world, pipeline, device.command_buffer());
        assert_eq!(learned(), [run == 1], "bound in run {run}");
    }
    std::fs::remove_file(path).expect("the list was written");
}
