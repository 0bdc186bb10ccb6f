//! Arrays of thousands of descriptors: one set of samplers for a whole engine, one array of images for a whole world.
//!
//! What a shader names is repaired, wherever in an array it lies; what it does not name is told of by its name, once.

use ash::vk;

use crate::binds::Scene;
use crate::driver::machine::ARRAY;
use crate::loader::*;
use crate::separate::{Operand, shader_of};

type Ty = vk::DescriptorType;

const FILTERED: vk::Format = vk::Format::R8G8B8A8_UNORM;
const UNFILTERED: vk::Format = vk::Format::R32_SFLOAT;

/// A shader that reads one image through one sampler. `counts` are the lengths of the arrays, 1 for none, and `elements` what it names of
/// them; none if an input chooses.
fn words([images, samplers]: [u32; 2], elements: [Option<u32>; 2]) -> Vec<u32> {
    let at = |set, count: u32, element: Option<u32>, named| {
        let element = if count == 1 { Some(0) } else { element.map(|_| named) };
        Operand { set, binding: 0, count: count.min(2), element }
    };
    let links = [(at(0, images, elements[0], 1), at(1, samplers, elements[1], 2))];
    let numbers = [0, elements[0].unwrap_or(1), elements[1].unwrap_or(2)];
    shader_of(5, &links, images.max(samplers).max(ARRAY), numbers)
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
        let scene = Scene::of(InstanceBuilder::new().traced("decisions"));
        let device = &scene.device;
        let own = |ty, count| [binding(0, ty, count).stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let images = device.layout(&own(Ty::SAMPLED_IMAGE, counts[0]));
        let bindings = own(Ty::SAMPLER, counts[1]);
        let mut node = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default();
        let flags = [flags];
        node = node.binding_flags(&flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut node);
        let mut pool = vk::DescriptorPoolCreateInfo::default();
        if flags[0].contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND) {
            info.flags |= vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
            pool.flags |= vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
        }
        let samplers = device.try_layout(&info).expect("a layout");
        let layout = device.pipeline_layout(&[images, samplers]);
        let mut late = vk::DescriptorPool::null();
        assert_eq!(call!(device.create_pool(device.raw, &pool, allocator(), &mut late)), SUCCESS);
        let pools = [device.pool(), late];
        let sets = || [0, 1].map(|at| device.sets(pools[at], &[[images, samplers][at]])[0]);
        let (sets, sources) = (sets(), is_copied.then(sets));
        Self { scene, layout, sets, sources, counts }
    }

    fn write(&self, set: usize, element: u32, info: vk::DescriptorImageInfo) {
        let to = self.sets[set];
        let from = self.sources.map_or(to, |sources| sources[set]);
        let write = vk::WriteDescriptorSet::default().dst_set(from).dst_array_element(element);
        let ty = [Ty::SAMPLED_IMAGE, Ty::SAMPLER][set];
        self.scene.device.update(&[write.descriptor_type(ty).image_info(&[info])], &[]);
        if from != to {
            let copy = vk::CopyDescriptorSet::default().src_set(from).dst_set(to).descriptor_count(1);
            self.scene.device.update(&[], &[copy.src_array_element(element).dst_array_element(element)]);
        }
    }

    fn image(&self, element: u32, format: vk::Format) {
        self.write(0, element, pair(vk::Sampler::null(), self.scene.device.view(format)));
    }

    fn sampler(&self, element: u32, sampler: vk::Sampler) {
        self.write(1, element, pair(sampler, vk::ImageView::null()));
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
        model.is_some_and(|model| model.info.min_filter == vk::Filter::LINEAR)
    }

    /// Names of what was left as it is.
    fn left(&self) -> Vec<String> {
        let records = self.scene.device.instance.records("unresolved");
        records.iter().map(|record| record["what"].as_str().expect("a name").to_owned()).collect()
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
        world.image(image ^ 1, UNFILTERED);
        world.sampler(sampler ^ 1, world.scene.device.linear());
        assert!(world.dispatch(pipeline), "{counts:?}: what the shader does not name does not count");
        world.image(image, UNFILTERED);
        assert!(!world.dispatch(pipeline), "{counts:?}: {:?}", world.left());
        world.image(image, FILTERED);
        assert!(world.dispatch(pipeline), "{counts:?}: legal again");
        world.image(image, UNFILTERED);
        world.sampler(sampler, world.scene.device.nearest());
        assert!(!world.dispatch(pipeline), "{counts:?}: the application's own NEAREST sampler");
        assert_eq!(world.left(), [""; 0], "{counts:?}");
    }
}

#[test]
fn what_a_shader_does_not_name_is_told_of_once() {
    for (counts, elements, flags, name) in [
        ([1, 4000], [Some(0), None], NONE, "bindless"),
        ([1, 4000], [Some(0), None], LATE, "bindless"),
        ([1_000_000, 64], [None, Some(3)], NONE, "bindless"),
        ([1_000_000, 4000], [None, None], LATE, "bindless"),
        ([1, 4000], [Some(0), Some(3999)], LATE, "update-after-bind"),
        ([1, (1 << 20) + 1], [Some(0), Some(3)], NONE, "too-large"),
        ([1, (1 << 20) + 1], [Some(0), None], LATE, "too-large"),
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
        // What is in an array that is too large is not known.
        let legal: &[&str] = if name == "too-large" { &[name] } else { &[] };
        assert_eq!(world.left(), legal, "{counts:?}, {elements:?}: nothing conflicts");
        for _ in 0..3 {
            world.image(at[0], UNFILTERED);
            world.sampler(at[1], world.scene.device.linear());
            world.dispatch(pipeline);
        }
        assert_eq!(world.left(), [name], "{counts:?}, {elements:?}, {flags:?}");
    }
}
