//! Every way to change a set, with every type of descriptor, while the layer has a copy of the set bound in its place.
//!
//! The copy is one of all that is in the set, so whatever is written, it has to be made again; and it has to stay where it was
//! another set that was written. What is in a set is told by the driver's machine, which takes over writes and copies of every type.

use std::collections::BTreeMap;
use std::ffi::c_void;

use ash::vk::{self, Handle};

use crate::binds::Scene;
use crate::driver::{Reuse, lock};
use crate::loader::*;

/// `VK_DESCRIPTOR_TYPE_TENSOR_ARM`, for one that the layer does not know.
const UNKNOWN: Ty = Ty::from_raw(1_000_460_000);

/// Types of descriptors, and what a binding of several types is written with.
const TYPES: [Ty; 18] = [
    SAMPLER,
    COMBINED,
    IMAGE,
    Ty::STORAGE_IMAGE,
    Ty::UNIFORM_TEXEL_BUFFER,
    Ty::STORAGE_TEXEL_BUFFER,
    Ty::UNIFORM_BUFFER,
    Ty::STORAGE_BUFFER,
    Ty::UNIFORM_BUFFER_DYNAMIC,
    Ty::STORAGE_BUFFER_DYNAMIC,
    Ty::INPUT_ATTACHMENT,
    Ty::INLINE_UNIFORM_BLOCK,
    Ty::ACCELERATION_STRUCTURE_KHR,
    Ty::ACCELERATION_STRUCTURE_NV,
    Ty::SAMPLE_WEIGHT_IMAGE_QCOM,
    Ty::BLOCK_MATCH_IMAGE_QCOM,
    Ty::MUTABLE_EXT,
    UNKNOWN,
];

/// What a binding of several types is written with.
const MUTABLE_WITH: [Ty; 4] = [IMAGE, Ty::STORAGE_BUFFER, Ty::UNIFORM_TEXEL_BUFFER, Ty::STORAGE_IMAGE];

/// The binding that is written, behind an image and a sampler.
const WRITTEN: u32 = 2;
/// Bytes of a block, or descriptors of another binding.
const BLOCK: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Write,
    /// Among writes to another set.
    WriteBetween,
    /// One write that goes on from the binding before.
    Template,
    /// Copied from another set of the layout.
    Copy,
    /// Copied from a set that has nothing but this binding.
    CopyFromPlain,
    /// The set is freed, and another one has its place.
    Free,
    Reset,
    DestroyPool,
}

const WAYS: [Way; 8] = [
    Way::Write,
    Way::WriteBetween,
    Way::Template,
    Way::Copy,
    Way::CopyFromPlain,
    Way::Free,
    Way::Reset,
    Way::DestroyPool,
];

/// A layout with an image, a sampler that does not suit it, and a binding of a type; and one of that binding alone.
struct Bench {
    scene: Scene,
    ty: Ty,
    /// What the binding is written with.
    with: Ty,
    of_set: vk::DescriptorSetLayout,
    plain: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    sampler: vk::Sampler,
    view: vk::ImageView,
}

/// Data of a descriptor, large enough for any type.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Words([u64; 5]);

impl Bench {
    fn new(ty: Ty, with: Ty, reuse: Reuse) -> Self {
        let scene = Scene::with(reuse);
        let device = &scene.device;
        let count = if ty == Ty::INLINE_UNIFORM_BLOCK { BLOCK } else { 2 };
        let mut bindings = of_compute([IMAGE, SAMPLER, ty]);
        bindings[2] = bindings[2].descriptor_count(count);
        let (of_set, written) = (device.layout(&bindings), bindings[2]);
        let plain = device.layout(&[written]);
        let layout = device.pipeline_layout(&[of_set]);
        let pipeline = scene.pipeline_with(layout, &[[(0, 0), (0, 1)]]);
        let (sampler, view) = (device.sampler(&linear_info().max_lod(7.0)), device.view(FLOATS));
        Self { ty, with, of_set, plain, layout, pipeline, sampler, view, scene }
    }

    fn device(&self) -> &Device {
        &self.scene.device
    }

    /// Something to write, told apart by its number; of images and samplers a new one.
    fn value(&self, number: u64) -> Words {
        let device = self.device();
        match self.with {
            SAMPLER => Words([device.nearest().as_raw(), 0, 0, 0, 0]),
            COMBINED => {
                let view = device.view(FILTERED);
                Words([device.nearest().as_raw(), view.as_raw(), 0, 0, 0])
            }
            Ty::INLINE_UNIFORM_BLOCK => Words([number * 0x0101_0101_0101_0101; 5]),
            ty if is_image(ty) => Words([0, device.view(FILTERED).as_raw(), 0, 0, 0]),
            _ => Words([0x1_0000 + number, 0, 0x100, 0, 0]),
        }
    }

    /// Writes a value to a set, and whatever else is in `beside`.
    fn write(&self, set: vk::DescriptorSet, value: &Words, beside: &[vk::WriteDescriptorSet<'_>]) {
        let words = &raw const *value;
        let image = words.cast::<vk::DescriptorImageInfo>();
        let mut write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(WRITTEN).descriptor_type(self.with);
        write.descriptor_count = 1;
        let block =
            vk::WriteDescriptorSetInlineUniformBlock { data_size: BLOCK, p_data: words.cast(), ..Default::default() };
        let structures = vk::WriteDescriptorSetAccelerationStructureKHR {
            acceleration_structure_count: 1,
            p_acceleration_structures: words.cast(),
            ..Default::default()
        };
        match self.with {
            Ty::INLINE_UNIFORM_BLOCK => {
                write.descriptor_count = BLOCK;
                write.p_next = (&raw const block).cast();
            }
            Ty::ACCELERATION_STRUCTURE_KHR | Ty::ACCELERATION_STRUCTURE_NV => {
                write.p_next = (&raw const structures).cast();
            }
            Ty::UNIFORM_TEXEL_BUFFER | Ty::STORAGE_TEXEL_BUFFER => write.p_texel_buffer_view = words.cast(),
            ty if is_image(ty) || ty == SAMPLER => write.p_image_info = image,
            _ => write.p_buffer_info = words.cast(),
        }
        let mut all = beside.to_vec();
        all.insert(beside.len() / 2, write);
        self.device().update(&all, &[]);
    }

    /// Image and sampler of a set.
    fn fill(&self, set: vk::DescriptorSet) {
        self.device().write_image(set, 0, self.view);
        self.device().write_sampler(set, 1, self.sampler);
    }

    fn set(&self, pool: vk::DescriptorPool) -> vk::DescriptorSet {
        let set = self.device().sets(pool, &[self.of_set])[0];
        self.fill(set);
        set
    }

    /// Binds the set in a new recording. Returns what is bound in its place, which has all that is in the set but for the sampler.
    #[track_caller]
    fn bound(&self, set: vk::DescriptorSet) -> u64 {
        let (bound, is_alike) = self.bound_beside(set);
        assert!(is_alike, "the copy has what is in the set");
        bound
    }

    /// The same, and whether it has all that is in the set.
    #[track_caller]
    fn bound_beside(&self, set: vk::DescriptorSet) -> (u64, bool) {
        let scene = &self.scene;
        scene.begin();
        scene.bind(self.pipeline);
        let dynamic = matches!(self.ty, Ty::UNIFORM_BUFFER_DYNAMIC | Ty::STORAGE_BUFFER_DYNAMIC);
        let offsets: &[u32] = if dynamic { &[0, 0] } else { &[] };
        scene.bind_sets_at(self.layout, 0, &[set], offsets);
        let reads = scene.reads();
        assert_eq!(self.device().model(reads[0].handle).min_filter, Filter::NEAREST, "the pair is repaired");
        let machine = lock(&self.device().driver.machine);
        let bound = machine.bound_sets(scene.commands.get().as_raw())[0];
        let content = |set| -> BTreeMap<_, _> {
            let content = machine.content(set).expect("a set that lives").iter();
            content.filter(|(at, _)| **at != (1, 0)).map(|(at, value)| (*at, *value)).collect()
        };
        assert_ne!(bound, set.as_raw(), "a copy is bound");
        (bound, content(bound) == content(set.as_raw()))
    }

    /// Binds a set of a pair that is legal: it is bound itself.
    #[track_caller]
    fn assert_left_alone(&self, pool: vk::DescriptorPool) {
        let (scene, set) = (&self.scene, self.set(pool));
        self.device().write_image(set, 0, self.device().view(FILTERED));
        scene.begin();
        scene.bind(self.pipeline);
        scene.bind_sets(self.layout, 0, &[set]);
        assert_eq!(scene.reads()[0].handle, self.sampler.as_raw());
        assert_eq!(scene.bound_sets(), [set.as_raw()]);
    }

    /// Changes a set in this way; returns the set that is in its place.
    fn change(&self, way: Way, set: vk::DescriptorSet, pool: vk::DescriptorPool, value: &Words) -> vk::DescriptorSet {
        let device = self.device();
        let count = if self.ty == Ty::INLINE_UNIFORM_BLOCK { BLOCK } else { 1 };
        let copy = |from: vk::DescriptorSet, at| {
            let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(WRITTEN).src_array_element(at);
            let copy = copy.dst_set(set).dst_binding(WRITTEN).descriptor_count(count);
            device.update(&[], &[copy]);
        };
        match way {
            Way::Write => self.write(set, value, &[]),
            Way::WriteBetween => {
                let other = self.set(device.pool());
                let infos = [sampler_alone(self.sampler)];
                let beside = vk::WriteDescriptorSet::default().dst_set(other).dst_binding(1);
                self.write(set, value, &[beside.descriptor_type(SAMPLER).image_info(&infos); 4]);
            }
            Way::Template => {
                let described = entry(WRITTEN, 0, count, self.with, 0, 0);
                let template = device.template(self.of_set, &[described]);
                device.update_with_template(set, template, (&raw const *value).cast::<c_void>());
                device.destroy_template(template);
            }
            Way::Copy => {
                let other = self.set(device.pool());
                self.write(other, value, &[]);
                copy(other, 0);
            }
            Way::CopyFromPlain => {
                let other = device.sets(device.pool(), &[self.plain])[0];
                self.write(other, value, &[]);
                copy(other, 0);
            }
            Way::Free => {
                device.free(pool, &[set]);
            }
            Way::Reset => {
                device.reset_pool(pool);
            }
            Way::DestroyPool => device.destroy_pool(pool),
        }
        match way {
            Way::Free | Way::Reset | Way::DestroyPool => {
                let pool = if way == Way::DestroyPool { device.pool() } else { pool };
                let other = self.set(pool);
                self.write(other, value, &[]);
                other
            }
            _ => set,
        }
    }
}

fn is_image(ty: Ty) -> bool {
    matches!(
        ty,
        COMBINED
            | IMAGE
            | Ty::STORAGE_IMAGE
            | Ty::INPUT_ATTACHMENT
            | Ty::SAMPLE_WEIGHT_IMAGE_QCOM
            | Ty::BLOCK_MATCH_IMAGE_QCOM
    )
}

#[test]
fn every_way_to_change_a_set_makes_its_copy_anew_and_no_other() {
    for ty in TYPES {
        let with: &[Ty] = if ty == Ty::MUTABLE_EXT { &MUTABLE_WITH } else { &[ty] };
        for (with, way) in with.iter().flat_map(|with| WAYS.map(|way| (*with, way))) {
            for reuse in [Reuse::Never, Reuse::AtOnce] {
                let what = format!("{way:?} of {ty:?} with {with:?}, {reuse:?}");
                eprintln!("{what}");
                let bench = Bench::new(ty, with, reuse);
                let pools = [bench.device().pool(), bench.device().pool()];
                let [set, beside] = pools.map(|pool| bench.set(pool));
                for (number, set) in [(1, set), (2, beside)] {
                    bench.write(set, &bench.value(number), &[]);
                }
                let copies = [bench.bound(set), bench.bound(beside)];
                // What is bound again is the same copy.
                assert_eq!([bench.bound(set), bench.bound(beside)], copies, "{what}");
                let changed = bench.change(way, set, pools[0], &bench.value(3));
                let now = bench.bound(changed);
                assert!(reuse == Reuse::AtOnce || now != copies[0], "{what}");
                assert_eq!(bench.bound(beside), copies[1], "{what}: the other set was not written");
                assert_eq!(bench.bound(changed), now, "{what}: nothing was written since");
                bench.device().driver.check();
            }
        }
    }
}

/// A copy is made in a pool like that of the set, of a layout like that of the set: the machine says what is illegal otherwise.
#[test]
fn a_copy_comes_from_a_pool_like_that_of_its_set() {
    use vk::{DescriptorPoolCreateFlags as P, DescriptorSetLayoutCreateFlags as L};
    let free = P::FREE_DESCRIPTOR_SET;
    for (in_layout, in_pool) in [
        (L::empty(), P::empty()),
        (L::empty(), free),
        (L::empty(), P::UPDATE_AFTER_BIND | free),
        (L::UPDATE_AFTER_BIND_POOL, P::UPDATE_AFTER_BIND),
    ] {
        let mut bench = Bench::new(Ty::UNIFORM_BUFFER, Ty::UNIFORM_BUFFER, Reuse::AtOnce);
        let device = &bench.scene.device;
        let of_set = device.layout_flagged(in_layout, &of_compute([IMAGE, SAMPLER, Ty::UNIFORM_BUFFER]));
        let layout = device.pipeline_layout(&[of_set]);
        let pipeline = bench.scene.pipeline_with(layout, &[[(0, 0), (0, 1)]]);
        (bench.of_set, bench.layout, bench.pipeline) = (of_set, layout, pipeline);
        for _ in 0..2 {
            let device = bench.device();
            let pool = device.pool_flagged(in_pool);
            bench.bound(bench.set(pool));
            bench.assert_left_alone(pool);
            // It stays a pool of its kind when it is reset.
            device.reset_pool(pool);
            bench.bound(bench.set(pool));
            // The handle comes back as another pool.
            device.destroy_pool(pool);
            let pool = device.pool();
            if in_layout.is_empty() {
                bench.bound(bench.set(pool));
            }
            device.destroy_pool(pool);
        }
        bench.device().driver.check();
    }
}

/// An immutable sampler is destroyed when nothing of the application's uses it any more but a pipeline, and its handle comes back as
/// another sampler. What the layer has made of the first one is not taken for the second, and nothing more is made of it.
#[test]
fn an_immutable_sampler_that_comes_back_is_another_one() {
    for pinned in [COMBINED, SAMPLER] {
        for was_copied in [true, false] {
            let mut bench = Bench::new(Ty::UNIFORM_BUFFER, Ty::UNIFORM_BUFFER, Reuse::AtOnce);
            let mut kept = Vec::new();
            let mut before = None;
            for turn in 0..3 {
                let device = &bench.scene.device;
                let sampler = device.nearest();
                assert!(before.is_none_or(|before| before == sampler), "the handle comes back");
                before = Some(sampler);
                let samplers = [sampler];
                let mut bindings = of_compute([IMAGE, SAMPLER, Ty::UNIFORM_BUFFER, pinned]);
                bindings[3] = bindings[3].immutable_samplers(&samplers);
                bench.of_set = device.layout(&bindings);
                bench.layout = device.pipeline_layout(&[bench.of_set]);
                bench.pipeline = bench.scene.pipeline_with(bench.layout, &[[(0, 0), (0, 1)]]);
                let pool = device.pool();
                if was_copied || turn > 0 {
                    bench.bound_beside(bench.set(pool));
                }
                let device = bench.device();
                device.destroy_pool(pool);
                device.destroy_layout(bench.of_set);
                device.destroy_sampler(sampler);
                // The pipeline and its layout live on.
                kept.push((bench.pipeline, bench.layout));
                device.driver.check();
            }
        }
    }
}

/// A command buffer is begun before anything can conflict. What its pipeline joins has a record if it conflicts, and not because something
/// else on the device does; also if it is written after the bind of the pipeline.
#[test]
fn what_began_before_is_told_of_where_it_conflicts() {
    for (conflicts, is_late) in [(false, false), (true, false), (false, true), (true, true)] {
        let device = InstanceBuilder::new().followed().device();
        let of_set = device.layout(&of_compute([IMAGE, SAMPLER]));
        let layout = device.pipeline_layout(&[of_set]);
        let scene = Scene::begun(device, of_set, layout);
        let device = &scene.device;
        // From here on something could conflict.
        let (linear, bad) = (device.linear(), device.view(FLOATS));
        let good = device.view(FILTERED);
        let pipeline = scene.pipeline_with(layout, &[[(0, 0), (0, 1)]]);
        let set = device.sets(device.pool(), &[of_set])[0];
        if is_late {
            scene.bind(pipeline);
        }
        device.write_image(set, 0, if conflicts { bad } else { good });
        device.write_sampler(set, 1, linear);
        if !is_late {
            scene.bind(pipeline);
        }
        scene.bind_sets(layout, 0, &[set]);
        scene.reads();
        let wanted: &[&str] = if conflicts { &["began-before"] } else { &[] };
        assert_eq!(device.left(), wanted, "the set is written after the bind of the pipeline: {is_late}");
    }
}

/// A pipeline layout outlives an immutable sampler of one of its sets, which is bound no more; another set of it has to be copied.
#[test]
fn nothing_is_made_of_a_layout_whose_immutable_sampler_is_gone() {
    for (pinned, is_gone) in [COMBINED, SAMPLER].map(|ty| [(ty, true), (ty, false)]).concat() {
        let bench = Bench::new(Ty::UNIFORM_BUFFER, Ty::UNIFORM_BUFFER, Reuse::AtOnce);
        let device = bench.device();
        let samplers = [device.nearest()];
        let of_pinned = device.layout(&of_compute([pinned]).map(|binding| binding.immutable_samplers(&samplers)));
        let layout = device.pipeline_layout(&[bench.of_set, of_pinned]);
        let pipeline = bench.scene.pipeline_with(layout, &[[(0, 0), (0, 1)]]);
        device.destroy_layout(of_pinned);
        if is_gone {
            device.destroy_sampler(samplers[0]);
        }
        let set = bench.set(device.pool());
        let scene = &bench.scene;
        scene.begin();
        scene.bind(pipeline);
        scene.bind_sets(layout, 0, &[set]);
        let reads = scene.reads();
        // Whether it can be repaired without the sampler is the layer's to know; that nothing is made of it the machine says.
        let is_repaired = reads[0].handle != bench.sampler.as_raw();
        let bound = scene.bound_sets();
        assert!(is_gone || is_repaired && bound != [set.as_raw()], "{pinned:?}: its sampler lives");
        device.driver.check();
    }
}
