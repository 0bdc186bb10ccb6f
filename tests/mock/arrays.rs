//! Arrays of thousands of descriptors: one set of samplers for a whole engine, one array of images for a whole world.
//!
//! What a shader names is repaired, wherever in an array it lies; what it does not name is told of by its name, once.

use ash::vk;

use crate::binds::Scene;
use crate::driver::machine::ARRAY;
use crate::loader::*;
use crate::separate::{Operand, shader_of};

/// A shader that reads one image of floats through one sampler. `counts` are the lengths of the arrays, 1 for none, and `elements` what it
/// names of them; none if an input chooses.
pub(crate) fn words([images, samplers]: [u32; 2], elements: [Option<u32>; 2]) -> Vec<u32> {
    let at = |set, count: u32, element: Option<u32>, named| {
        let element = if count == 1 { Some(0) } else { element.map(|_| named) };
        Operand { set, binding: 0, count: count.min(2), element }
    };
    let links = [(at(0, images, elements[0], 1), at(1, samplers, elements[1], 2))];
    let numbers = [0, elements[0].unwrap_or(1), elements[1].unwrap_or(2)];
    shader_of(5, &links, images.max(samplers).max(ARRAY), numbers)
}

/// The same of integers.
fn integer_words(counts: [u32; 2], elements: [Option<u32>; 2]) -> Vec<u32> {
    let mut words = words(counts, elements);
    let find = |first: u32| (5..words.len()).find(|at| words[*at] == first).expect("a type");
    // OpTypeInt, which is unsigned, and OpTypeImage: of what it samples.
    let (unsigned, image) = (find(4 << 16 | 21), find(9 << 16 | 25));
    words[image + 2] = words[unsigned + 1];
    words
}

/// Images in set 0 and samplers in set 1, in arrays of these lengths; `flags` are those of the samplers.
struct World {
    scene: Scene,
    layout: vk::PipelineLayout,
    sets: [vk::DescriptorSet; 2],
    /// Like these: what is written goes there, and is copied from there.
    sources: Option<[vk::DescriptorSet; 2]>,
    counts: [u32; 2],
}

impl World {
    fn new(counts: [u32; 2], flags: vk::DescriptorBindingFlags, is_copied: bool) -> Self {
        Self::of(InstanceBuilder::new().traced("decisions"), counts, flags, is_copied)
    }

    fn of(builder: InstanceBuilder, counts: [u32; 2], flags: vk::DescriptorBindingFlags, is_copied: bool) -> Self {
        let scene = Scene::of(builder.set("bindless", "name"));
        let device = &scene.device;
        let own = |ty, count| [binding(0, ty, count).stage_flags(Stage::COMPUTE)];
        let images = device.layout(&own(IMAGE, counts[0]));
        let samplers = device.layout_with(&own(SAMPLER, counts[1]), &[flags]);
        let layout = device.pipeline_layout(&[images, samplers]);
        let is_late = flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND);
        let late = if is_late { vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND } else { Default::default() };
        let pools = [device.pool(), device.pool_flagged(late)];
        let sets = || [0, 1].map(|at| device.sets(pools[at], &[[images, samplers][at]])[0]);
        let (sets, sources) = (sets(), is_copied.then(sets));
        Self { scene, layout, sets, sources, counts }
    }

    fn write(&self, set: usize, element: u32, info: vk::DescriptorImageInfo) {
        let (device, to) = (&self.scene.device, self.sets[set]);
        let from = self.sources.map_or(to, |sources| sources[set]);
        device.write(from, (0, element), [IMAGE, SAMPLER][set], info);
        if from != to {
            let copy = vk::CopyDescriptorSet::default().src_set(from).dst_set(to).descriptor_count(1);
            device.update(&[], &[copy.src_array_element(element).dst_array_element(element)]);
        }
    }

    fn image(&self, element: u32, format: vk::Format) {
        self.write(0, element, image_alone(self.scene.device.view(format)));
    }

    fn sampler(&self, element: u32, sampler: vk::Sampler) {
        self.write(1, element, sampler_alone(sampler));
    }

    fn pipeline(&self, elements: [Option<u32>; 2]) -> vk::Pipeline {
        self.scene.pipeline_of_words(self.layout, &words(self.counts, elements))
    }

    /// Records a dispatch; whether the sampler is a LINEAR one, where the shader names both.
    fn dispatch(&self, pipeline: vk::Pipeline) -> bool {
        self.scene.begin();
        self.scene.bind(pipeline);
        self.scene.bind_sets(self.layout, 0, &self.sets);
        let read = self.scene.reads().remove(0);
        let model = self.scene.device.driver.sampler(read.handle);
        model.is_some_and(|model| model.info.min_filter == Filter::LINEAR)
    }

    /// Names of what was left as it is.
    fn left(&self) -> Vec<String> {
        self.scene.device.left()
    }
}

const NONE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::PARTIALLY_BOUND;
const LATE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::from_raw(
    vk::DescriptorBindingFlags::UPDATE_AFTER_BIND.as_raw() | vk::DescriptorBindingFlags::PARTIALLY_BOUND.as_raw(),
);

/// Lengths of the arrays, and what a shader names of them.
const NAMED: [([u32; 2], [u32; 2]); 6] = [
    ([1, 256], [0, 255]),
    ([1, 257], [0, 256]),
    ([1, 4000], [0, 3999]),
    ([100_000, 1], [77_777, 0]),
    ([1_000_000, 4000], [999_999, 1234]),
    ([1 << 20, 1], [(1 << 20) - 1, 0]),
];

#[test]
fn what_a_shader_names_of_an_array_is_repaired_wherever_it_lies() {
    for ((counts, [image, sampler]), is_copied) in NAMED.into_iter().flat_map(|named| [(named, false), (named, true)]) {
        let world = World::new(counts, NONE, is_copied);
        let pipeline = world.pipeline([Some(image), Some(sampler)]);
        world.image(image, FILTERED);
        world.sampler(sampler, world.scene.device.linear());
        assert!(world.dispatch(pipeline), "{counts:?}: a legal pair is left alone");
        // Beside them there may be whatever there likes.
        world.image(image ^ 1, FLOATS);
        world.sampler(sampler ^ 1, world.scene.device.linear());
        assert!(world.dispatch(pipeline), "{counts:?}: what the shader does not name does not count");
        world.image(image, FLOATS);
        assert!(!world.dispatch(pipeline), "{counts:?}: {:?}", world.left());
        world.image(image, FILTERED);
        assert!(world.dispatch(pipeline), "{counts:?}: legal again");
        world.image(image, FLOATS);
        world.sampler(sampler, world.scene.device.nearest());
        assert!(!world.dispatch(pipeline), "{counts:?}: the application's own NEAREST sampler");
        assert_eq!(world.left(), [""; 0], "{counts:?}");
    }
}

#[test]
fn what_a_shader_does_not_name_is_told_of_once() {
    for (counts, elements, flags, name) in [
        ([65, 1], [None, Some(0)], NONE, "bindless"),
        ([4096, 64], [None, None], NONE, "bindless"),
        ([1, 4000], [Some(0), None], NONE, "bindless"),
        ([1, 4000], [Some(0), None], LATE, "bindless"),
        ([1_000_000, 64], [None, Some(3)], NONE, "bindless"),
        ([1_000_000, 4000], [None, None], LATE, "bindless"),
        ([1, 4000], [Some(0), Some(3999)], LATE, "update-after-bind"),
        ([1, (1 << 20) + 1], [Some(0), Some(3)], NONE, "too-large"),
        ([1, (1 << 20) + 1], [Some(0), None], LATE, "too-large"),
        ([(1 << 20) + 1, 65], [None, None], NONE, "too-large"),
    ] {
        let world = World::new(counts, flags, false);
        let pipeline = world.pipeline(elements);
        let at = [elements[0].unwrap_or(2), elements[1].unwrap_or(2)];
        // Where elements are not named, those that inputs of the test's driver choose.
        (0..3).for_each(|element| world.image(element.min(counts[0] - 1), FILTERED));
        (0..3).for_each(|element| world.sampler(element, world.scene.device.nearest()));
        world.image(at[0], FILTERED);
        world.sampler(at[1], world.scene.device.linear());
        world.dispatch(pipeline);
        assert_eq!(world.left(), [""; 0], "{counts:?}, {elements:?}: nothing conflicts");
        for _ in 0..3 {
            world.image(at[0], FLOATS);
            world.sampler(at[1], world.scene.device.linear());
            world.dispatch(pipeline);
        }
        assert_eq!(world.left(), [name], "{counts:?}, {elements:?}, {flags:?}");
    }
}

/// What a shader may not read as the type that it declares is no reason for a name: heaps hold views of integers beside LINEAR samplers.
#[test]
fn only_what_a_shader_can_read_is_told_of() {
    for counts in [[65, 1], [4096, 64], [1_000_000, 4000], [(1 << 20) + 1, 1]] {
        for (format, is_integer) in [INTEGERS, FLOATS].into_iter().flat_map(|own| [(own, false), (own, true)]) {
            let world = World::new(counts, NONE, false);
            let elements = [None, Some(0)];
            let words = if is_integer { integer_words(counts, elements) } else { words(counts, elements) };
            let pipeline = world.scene.pipeline_of_words(world.layout, &words);
            (0..3).for_each(|element| world.image(element, FILTERED));
            world.sampler(0, world.scene.device.linear());
            world.image(64, format);
            world.dispatch(pipeline);
            let name = if counts[0] > 1 << 20 { "too-large" } else { "bindless" };
            let wanted: &[&str] = if is_integer == (format == INTEGERS) { &[name] } else { &[] };
            assert_eq!(world.left(), wanted, "{counts:?}, {format:?}, integers: {is_integer}");
        }
    }
}

/// Descriptors with UPDATE_AFTER_BIND are written when the dispatch is recorded, and before it is submitted.
#[test]
fn what_comes_after_the_dispatch_is_told_of_when_the_pipeline_goes() {
    for (counts, name) in [
        ([1, 4000], "bindless"),
        ([1, 64], "update-after-bind"),
        ([4096, 65], "bindless"),
        ([1, (1 << 20) + 1], "too-large"),
    ] {
        for (is_first, is_legal) in [(false, false), (false, true), (true, false), (true, true)] {
            let world = World::new(counts, LATE, false);
            let device = &world.scene.device;
            let elements = [if counts[0] == 1 { Some(0) } else { None }, None];
            (0..3).for_each(|element| world.image(element.min(counts[0] - 1), FLOATS));
            (0..3).for_each(|element| world.sampler(element, device.nearest()));
            let write = || world.sampler(7, if is_legal { device.nearest() } else { device.linear() });
            // It had what conflicts before the pipeline is there, and nothing is new when it has that again. What was in a binding that is
            // too large is always known to have been.
            if is_first && name == "too-large" {
                continue;
            }
            if is_first {
                write();
                world.sampler(7, device.nearest());
            }
            let pipeline = world.pipeline(elements);
            world.dispatch(pipeline);
            assert_eq!(world.left(), [""; 0], "{counts:?}: nothing conflicts when it is recorded");
            write();
            device.destroy_pipeline(pipeline);
            let wanted: &[&str] = if is_legal { &[] } else { &[name] };
            assert_eq!(world.left(), wanted, "{counts:?}, first: {is_first}, legal: {is_legal}");
        }
    }
}

/// Beyond the memory that arrays may take nothing is known of their descriptors but what was ever written.
#[test]
fn arrays_without_memory_are_told_of_where_they_conflict() {
    for (megabytes, counts, is_legal) in
        ["1", "64"].into_iter().flat_map(|own| [(own, [1_000_000, 1], false), (own, [1_000_000, 1], true)])
    {
        let builder = InstanceBuilder::new().traced("decisions").set("resolve_memory", megabytes);
        let world = World::of(builder, counts, NONE, false);
        // Named, so that it is repaired where it is known.
        let pipeline = world.pipeline([Some(77_777), Some(0)]);
        world.image(77_777, if is_legal { FILTERED } else { FLOATS });
        world.sampler(0, world.scene.device.linear());
        let is_repaired = !world.dispatch(pipeline);
        assert_eq!(is_repaired, megabytes == "64" && !is_legal, "{megabytes}, legal: {is_legal}");
        let wanted: &[&str] = if megabytes == "1" && !is_legal { &["memory"] } else { &[] };
        assert_eq!(world.left(), wanted, "{megabytes}, legal: {is_legal}");
    }
}

/// The census of the level all counts how many kinds of views arrays hold, by what the samplers there become for them.
#[test]
fn the_census_counts_columns() {
    for (level, formats, columns) in [
        ("all", &[FILTERED][..], Some(1)),
        ("all", &[FILTERED, BGRA], Some(1)),
        ("all", &[FILTERED, FLOATS, FILTERED], Some(2)),
        ("decisions", &[FILTERED, FLOATS], None),
    ] {
        let world = World::of(InstanceBuilder::new().traced(level), [4096, 64], LATE, false);
        world.sampler(0, world.scene.device.linear());
        world.sampler(1, world.scene.device.nearest());
        (0..).zip(formats).for_each(|(element, format)| world.image(element, *format));
        let instance = world.scene.device.instance.clone();
        drop(world);
        let summary = instance.records("summary").remove(0);
        assert_eq!(summary["census"]["columns"].as_u64(), columns, "{level}, {formats:?}: {summary:#}");
    }
}
