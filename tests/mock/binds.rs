//! Binds that come again: what goes down for each, once it is known what the pipeline and its sets come to.

use std::cell::Cell;

use ash::vk::{self, Handle};

use crate::driver::machine::{Read, place};
use crate::driver::{Kind, Reuse, lock};
use crate::loader::*;
use crate::separate::joins;

/// What is in a set.
const TYPES: [Ty; 3] = [IMAGE, IMAGE, SAMPLER];

/// Sets with two images and the sampler that pipelines read both through, a layout of one such set and one of two.
pub(crate) struct Scene {
    pub(crate) device: Device,
    of_set: vk::DescriptorSetLayout,
    pub(crate) layouts: [vk::PipelineLayout; 2],
    pool: vk::DescriptorPool,
    /// The one that is recorded now.
    pub(crate) commands: Cell<vk::CommandBuffer>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(Reuse::Never)
    }

    pub(crate) fn with(reuse: Reuse) -> Self {
        Self::of(InstanceBuilder::new().driver(|config| config.reuse = reuse))
    }

    pub(crate) fn of(builder: InstanceBuilder) -> Self {
        let scene = Self::quiet(builder);
        // Something conflicts from the start, so that binds are followed.
        scene.device.linear();
        scene.device.view(FLOATS);
        scene.pipeline();
        scene.begin();
        scene
    }

    /// Nothing conflicts yet.
    pub(crate) fn without_conflict(reuse: Reuse) -> Self {
        Self::quiet(InstanceBuilder::new().driver(|config| config.reuse = reuse).traced("decisions"))
    }

    pub(crate) fn quiet(builder: InstanceBuilder) -> Self {
        let device = builder.driver(|config| config.follows = true).set("separate", "resolve").device();
        let of_set = device.layout(&of_compute(TYPES));
        let layouts = [device.pipeline_layout(&[of_set]), device.pipeline_layout(&[of_set, of_set])];
        let (pool, commands) = (device.pool(), Cell::new(device.command_buffer()));
        Self { device, of_set, layouts, pool, commands }
    }

    /// A device on which nothing conflicts yet, and a command buffer that is begun.
    pub(crate) fn begun(device: Device, of_set: vk::DescriptorSetLayout, layout: vk::PipelineLayout) -> Self {
        let (pool, commands) = (device.pool(), Cell::new(device.command_buffer()));
        let scene = Self { device, of_set, layouts: [layout; 2], pool, commands };
        scene.begin();
        scene
    }

    /// A set with images of these formats and a LINEAR sampler.
    pub(crate) fn set(&self, formats: [vk::Format; 2]) -> vk::DescriptorSet {
        self.set_with(formats, self.device.linear())
    }

    pub(crate) fn set_with(&self, formats: [vk::Format; 2], sampler: vk::Sampler) -> vk::DescriptorSet {
        let set = self.device.sets(self.pool, &[self.of_set])[0];
        self.write_images(set, formats);
        self.device.write_sampler(set, 2, sampler);
        set
    }

    fn write_images(&self, set: vk::DescriptorSet, formats: [vk::Format; 2]) {
        (0..).zip(formats).for_each(|(number, format)| self.device.write_image(set, number, self.device.view(format)));
    }

    /// A pipeline of the shorter layout.
    pub(crate) fn pipeline(&self) -> vk::Pipeline {
        self.pipeline_of(self.layouts[0], 0)
    }

    /// A pipeline that reads both images of a set through the sampler of set 0.
    fn pipeline_of(&self, layout: vk::PipelineLayout, images: u32) -> vk::Pipeline {
        self.pipeline_with(layout, &[0, 1].map(|image| [(images, image), (0, 2)]))
    }

    /// A pipeline that joins images and samplers at these set numbers and bindings.
    pub(crate) fn pipeline_with(&self, layout: vk::PipelineLayout, links: &[[(u32, u32); 2]]) -> vk::Pipeline {
        self.pipeline_of_words(layout, &joins(5, links))
    }

    pub(crate) fn pipeline_of_words(&self, layout: vk::PipelineLayout, words: &[u32]) -> vk::Pipeline {
        self.device.compute(layout, words)
    }

    pub(crate) fn bind(&self, pipeline: vk::Pipeline) {
        self.device.bind_pipeline(self.commands.get(), COMPUTE, pipeline);
    }

    pub(crate) fn bind_sets(&self, layout: vk::PipelineLayout, first: u32, sets: &[vk::DescriptorSet]) {
        self.bind_sets_at(layout, first, sets, &[]);
    }

    pub(crate) fn bind_sets_at(
        &self,
        layout: vk::PipelineLayout,
        first: u32,
        sets: &[vk::DescriptorSet],
        offsets: &[u32],
    ) {
        self.device.bind_sets_at(self.commands.get(), COMPUTE, (layout, first), sets, offsets);
    }

    /// Whether the first and the second image are read through the application's sampler.
    #[track_caller]
    pub(crate) fn own(&self) -> [bool; 2] {
        let reads = self.reads();
        [0, 1].map(|image| {
            let read = reads.iter().find(|read| read.image.1 == image).expect("both are read");
            self.device.model(read.handle).min_filter == Filter::LINEAR
        })
    }

    /// What the shader reads.
    #[track_caller]
    pub(crate) fn reads(&self) -> Vec<Read> {
        self.act();
        self.device.reads(self.commands.get(), COMPUTE)
    }

    pub(crate) fn act(&self) {
        self.device.act(self.commands.get(), COMPUTE);
    }

    pub(crate) fn bound_sets(&self) -> Vec<u64> {
        self.device.bound_sets(self.commands.get())
    }

    /// Pipelines and sets that were bound below since this was asked last.
    fn bound_below(&self) -> [usize; 2] {
        let calls = self.device.driver.calls();
        [c"vkCmdBindPipeline", c"vkCmdBindDescriptorSets"]
            .map(|command| calls.iter().filter(|call| call.command == command).count())
    }

    /// Nothing is bound any more.
    pub(crate) fn begin(&self) {
        self.device.begin(self.commands.get());
    }
}

/// Sets of these formats, and which of their images are read through the application's own sampler.
const CONTENTS: [([vk::Format; 2], [bool; 2]); 3] =
    [([FILTERED, FILTERED], [true, true]), ([FLOATS, FLOATS], [false, false]), ([FILTERED, FLOATS], [true, false])];

/// Before its sets a pipeline is bound once, and they bring what else is to be bound: nothing where none conflicts, a copy in the place
/// of a set that is agreed on, one hidden set where a sampler is shared.
#[test]
fn a_pipeline_that_comes_before_its_sets_is_bound_once() {
    for ((formats, own), added) in CONTENTS.into_iter().zip([0, 0, 1]) {
        let scene = Scene::new();
        let longer = scene.layouts[1];
        let pipelines = [scene.pipeline_of(longer, 0), scene.pipeline_of(longer, 0)];
        let (set, other) = (scene.set(formats), scene.set([FILTERED; 2]));
        for turn in 0..3 {
            scene.begin();
            for (at, pipeline) in pipelines.into_iter().enumerate() {
                scene.bound_below();
                scene.bind(pipeline);
                scene.bind_sets(longer, 0, &[set]);
                scene.bind_sets(longer, 1, &[other]);
                assert_eq!(scene.own(), own);
                if turn > 0 {
                    // The hidden set stays for the second pipeline, whose samplers are the same.
                    let added = if at == 0 { added } else { 0 };
                    assert_eq!(scene.bound_below(), [1, 2 + added], "{formats:?}, pipeline {at}, turn {turn}");
                }
            }
        }
    }
}

/// The handle of a pipeline layout that is gone is that of another, with which nothing that was bound is compatible.
#[test]
fn a_layout_with_the_handle_of_one_that_is_gone_is_another() {
    for is_other in [false, true] {
        let scene = Scene::with(Reuse::AtOnce);
        let (device, layout) = (&scene.device, scene.layouts[0]);
        let (split, plain) = (scene.pipeline(), scene.pipeline());
        let of_other = device.layout(&[binding(0, Ty::UNIFORM_BUFFER, 1)]);
        let (shared, legal) = (scene.set([FILTERED, FLOATS]), scene.set([FILTERED; 2]));
        let buffers = device.sets(scene.pool, &[of_other])[0];
        let alike = device.pipeline_layout(&[scene.of_set]);
        for _ in 0..2 {
            scene.bind(split);
            scene.bind_sets(layout, 0, &[shared]);
            assert_eq!(scene.own(), [true, false]);
            scene.bind_sets(layout, 0, &[legal]);
            assert_eq!(scene.own(), [true, true]);
            scene.bind(plain);
        }
        // Once the long way, and then as the last one.
        (0..2).for_each(|_| scene.bind_sets(alike, 0, &[legal]));
        assert_eq!(scene.own(), [true, true]);
        device.destroy_pipeline_layout(alike);
        let again = device.pipeline_layout(&[if is_other { of_other } else { scene.of_set }]);
        assert_eq!(again, alike, "the driver hands it out again");
        scene.bind_sets(again, 0, &[if is_other { buffers } else { legal }]);
        scene.bind_sets(layout, 0, &[shared]);
        scene.bound_below();
        scene.bind(split);
        assert_eq!(scene.own(), [true, false]);
        assert_eq!(scene.bound_below(), [1, usize::from(is_other)]);
    }
}

/// What is split once stays split: another link makes another pipeline, and a conflict that goes and comes back makes none.
#[test]
fn links_are_split_as_they_conflict_and_once() {
    let scene = Scene::new();
    let (device, layout) = (&scene.device, scene.layouts[1]);
    let pipeline = scene.pipeline_with(layout, &[(0, 0), (0, 1), (1, 0), (1, 1)].map(|image| [image, (0, 2)]));
    let made = || device.own(Kind::Pipeline);
    let sets = CONTENTS.map(|(formats, own)| (scene.set(formats), own));
    let [good, _, half] = sets;
    let other_half = (scene.set([FLOATS, FILTERED]), [false, true]);
    // The images of both sets, and how many second pipelines there are from then on.
    let turns = [
        (good, good, 0),
        (half, good, 1),
        (good, good, 1),
        (half, half, 2),
        (half, good, 2),
        (other_half, half, 3),
        // The last link that is left has the sampler of the set to itself: a copy of the set does.
        (good, other_half, 3),
        (half, half, 3),
        (good, good, 3),
        (other_half, good, 3),
    ];
    let mut most = 0;
    for turn in turns.iter().chain(turns.iter().rev()) {
        let ((first, first_own), (second, second_own), count) = *turn;
        scene.begin();
        scene.bind(pipeline);
        scene.bind_sets(layout, 0, &[first, second]);
        for read in scene.reads() {
            let own = if read.image.0 == 0 { first_own } else { second_own };
            assert_eq!(device.model(read.handle).min_filter == Filter::LINEAR, own[read.image.1 as usize], "{turn:?}");
        }
        most = most.max(count);
        assert_eq!(made(), most, "{turn:?}");
    }
    device.destroy_pipeline(pipeline);
    assert_eq!(made(), 0, "they go with the application's");
}

impl Scene {
    /// A pipeline layout with a set that is pushed, as the others otherwise, and those of `above`.
    fn push_layout(&self, above: &[vk::DescriptorSetLayout]) -> vk::PipelineLayout {
        let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let of_push = self.device.layout_flagged(flags, &of_compute(TYPES));
        self.device.pipeline_layout(&[&[of_push], above].concat())
    }

    /// Pushes images of these formats and a sampler.
    fn push(&self, layout: vk::PipelineLayout, formats: [vk::Format; 2], sampler: vk::Sampler) {
        let device = &self.device;
        let [first, second] = formats.map(|format| image_alone(device.view(format)));
        let infos = [first, second, sampler_alone(sampler)];
        let writes: Vec<_> = std::iter::zip(0.., std::iter::zip(TYPES, infos.chunks(1)))
            .map(|(number, (ty, info))| {
                vk::WriteDescriptorSet::default().dst_binding(number).descriptor_type(ty).image_info(info)
            })
            .collect();
        call!(device.push(self.commands.get(), COMPUTE, layout, 0, writes.len() as u32, writes.as_ptr()));
    }
}

/// One link reads a hidden set, and the other one the sampler of the application's set. Where that is exchanged, and there is no
/// hidden set to be had, the first one must not read what is there for the other.
#[test]
fn without_a_hidden_set_a_legal_pair_keeps_its_sampler() {
    for is_pushed in [false, true] {
        let scene = Scene::new();
        let sampler = scene.device.linear();
        let layout = if is_pushed { scene.push_layout(&[]) } else { scene.layouts[0] };
        let formats = [[FILTERED, FLOATS], [FLOATS, FILTERED]];
        let sets = formats.map(|formats| scene.set_with(formats, sampler));
        let bind = |content: usize| match is_pushed {
            true => scene.push(layout, formats[content], sampler),
            false => scene.bind_sets(layout, 0, &[sets[content]]),
        };
        let [pipeline, first_only] = [&[[(0, 0), (0, 2)], [(0, 1), (0, 2)]][..], &[[(0, 0), (0, 2)]]]
            .map(|links| scene.pipeline_with(layout, links));
        scene.bind(pipeline);
        bind(0);
        assert_eq!(scene.own(), [true, false]);
        // So the copy is there already.
        scene.bind(first_only);
        bind(1);
        scene.device.fail_own(c"vkCreateDescriptorPool", u64::MAX);
        scene.bind(pipeline);
        assert_eq!(scene.own(), [true, true], "pushed: {is_pushed}");
        scene.device.failed();
        bind(1);
        assert_eq!(scene.own(), [false, true], "pushed: {is_pushed}");
    }
}

/// What was bound in place of the application's sets goes back, also for a pipeline whose layout the driver does not make again.
#[test]
fn without_a_layout_of_its_own_a_pipeline_reads_what_was_given() {
    for is_pushed in [false, true] {
        let scene = Scene::new();
        let sampler = scene.device.linear();
        let [short, long] = match is_pushed {
            true => [scene.push_layout(&[]), scene.push_layout(&[scene.of_set])],
            false => scene.layouts,
        };
        scene.bind(scene.pipeline_of(short, 0));
        match is_pushed {
            true => scene.push(short, [FLOATS; 2], sampler),
            false => scene.bind_sets(short, 0, &[scene.set_with([FLOATS; 2], sampler)]),
        }
        assert_eq!(scene.own(), [false, false]);
        let other = scene.pipeline_of(long, 1);
        scene.device.fail_own(c"vkCreatePipelineLayout", u64::MAX);
        scene.bind(other);
        scene.bind_sets(long, 1, &[scene.set([FILTERED; 2])]);
        assert_eq!(scene.own(), [true, true], "pushed: {is_pushed}");
        scene.device.failed();
    }
}

/// What is pushed again has the samplers that its pairs got when they were pushed, not those that the application wrote.
#[test]
fn what_is_pushed_again_keeps_its_repairs() {
    let scene = Scene::new();
    let device = &scene.device;
    let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let of_set = device.layout_flagged(flags, &of_compute([IMAGE, IMAGE, SAMPLER, COMBINED]));
    let layout = device.pipeline_layout(&[of_set]);
    let (sampler, commands) = (device.linear(), scene.commands.get().as_raw());
    let found = || lock(&device.driver.machine).pushed(commands, place(COMPUTE), 0, (3, 0)).expect("it was pushed");
    scene.bind(scene.pipeline_of(layout, 0));
    for format in [FLOATS, FILTERED, FLOATS] {
        // The sampler of the link is exchanged, so that all is pushed again from the second push on.
        scene.push(layout, [FLOATS; 2], sampler);
        let pushed = [pair(sampler, device.view(format))];
        let write = vk::WriteDescriptorSet::default().dst_binding(3).image_info(&pushed);
        let write = write.descriptor_type(COMBINED);
        call!(device.push(scene.commands.get(), COMPUTE, layout, 0, 1, &write));
        let given = found();
        assert_eq!(given.0 == sampler.as_raw(), format == FILTERED, "as it was pushed");
        assert_eq!(scene.own(), [false, false]);
        assert_eq!(found(), given, "in front of the dispatch");
    }
}

// ---- what is bound again, call by call ----

/// A call that arrives below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The application's own pipeline.
    Own,
    /// One of the layer's.
    Second,
    /// Sets by the application's pointer.
    Given,
    /// Sets by a pointer of the layer's: copies in the place of the application's, or a hidden one.
    Layers,
}

use Below::{Given, Layers, Own, Second};

impl Scene {
    /// What arrives while something is bound; `sets` is the application's array, if it binds one.
    pub(crate) fn arrives(&self, sets: &[vk::DescriptorSet], bind: impl FnOnce()) -> Vec<Below> {
        let driver = &self.device.driver;
        driver.calls();
        bind();
        let below = |call: crate::driver::Call| {
            let crate::driver::Args::Other(words) = call.args else { return None };
            match call.command.to_bytes() {
                b"vkCmdBindPipeline" if driver.is_layers(Kind::Pipeline, words[1]) => Some(Second),
                b"vkCmdBindPipeline" => Some(Own),
                b"vkCmdBindDescriptorSets" if words[1] == sets.as_ptr() as u64 => Some(Given),
                b"vkCmdBindDescriptorSets" => Some(Layers),
                _ => None,
            }
        };
        let below = driver.calls().into_iter().filter_map(below).collect();
        driver.check();
        below
    }

    /// Binds sets from number 0 on, and dispatches.
    fn bind_sets_and_draw(&self, layout: vk::PipelineLayout, sets: &[vk::DescriptorSet]) {
        self.bind_sets(layout, 0, sets);
        self.device.act(self.commands.get(), COMPUTE);
    }
}

/// A pipeline at its point and a set at its number, which are there already, are one call each: what is bound in their place, where
/// something is, and nothing besides.
#[test]
fn what_is_bound_is_bound_again_by_one_call() {
    for ((formats, own), [pipeline_again, sets_again]) in
        CONTENTS.into_iter().zip([[Own, Given], [Own, Layers], [Second, Given]]).rev()
    {
        let scene = Scene::new();
        let (pipeline, layout, sets) = (scene.pipeline(), scene.layouts[0], [scene.set(formats)]);
        scene.bind(pipeline);
        scene.bind_sets_and_draw(layout, &sets);
        for turn in 0..4 {
            let what = format!("{formats:?}, turn {turn}");
            let act = || scene.act();
            let arrives = scene.arrives(&[], || {
                scene.bind(pipeline);
                act();
            });
            assert_eq!(arrives, [pipeline_again], "{what}");
            assert_eq!(scene.own(), own, "{what}");
            for _ in 0..2 {
                let arrives = scene.arrives(&sets, || scene.bind_sets_and_draw(layout, &sets));
                assert_eq!(arrives, [sets_again], "{what}");
                assert_eq!(scene.own(), own, "{what}");
            }
        }
    }
}

/// A pipeline or a set that others may stand in for waits for the draw, which binds what it needs; everything else goes down as it comes.
#[test]
fn what_sets_need_besides_is_bound_for_the_draw() {
    let scene = Scene::new();
    let layout = scene.layouts[0];
    let [first, second] = [scene.pipeline(), scene.pipeline()];
    let [legal, bads, half] = CONTENTS.map(|(formats, own)| ([scene.set(formats)], own));
    // Each pipeline by itself is split by the set that has its images disagree, and from then on for good. What arrives for it, for the
    // sets, and for the draw, and whether a copy of the set is bound then.
    type Turn<'a, S> = (vk::Pipeline, S, &'a [Below], &'a [Below], &'a [Below], bool);
    let turns: [Turn<'_, _>; 9] = [
        (first, &legal, &[Own], &[Given], &[], false),
        (first, &bads, &[Own], &[Given], &[Layers], true),
        (first, &half, &[Own], &[Given], &[Second, Layers], false),
        (second, &legal, &[Own], &[Given], &[], false),
        (first, &half, &[], &[Given], &[Second, Layers], false),
        (second, &bads, &[Own], &[], &[Layers], true),
        (second, &half, &[Own], &[Given], &[Second, Layers], false),
        (first, &legal, &[], &[Given], &[Own], false),
        (first, &half, &[], &[Given], &[Second, Layers], false),
    ];
    for (turn, (pipeline, (sets, own), with_pipeline, with_sets, with_draw, is_copy)) in turns.into_iter().enumerate() {
        scene.begin();
        assert_eq!(scene.arrives(&[], || scene.bind(pipeline)), with_pipeline, "turn {turn}");
        assert_eq!(scene.arrives(sets, || scene.bind_sets(layout, 0, sets)), with_sets, "turn {turn}");
        let act = || scene.act();
        assert_eq!(scene.arrives(sets, act), with_draw, "turn {turn}");
        assert_eq!(scene.arrives(sets, act), [], "turn {turn}: nothing is left");
        assert_eq!(scene.own(), *own, "turn {turn}");
        let bound = scene.bound_sets();
        assert_eq!(bound.first() != Some(&sets[0].as_raw()), is_copy, "turn {turn}");
    }
}

/// Nor does a view that is gone count for the other image of its set, which the shader reads: where it is repaired, it is without it.
#[test]
fn a_view_that_is_gone_is_no_part_of_what_is_bound() {
    for (format, is_own) in [(FILTERED, true), (FLOATS, false)] {
        let scene = Scene::new();
        let (device, layout) = (&scene.device, scene.layouts[0]);
        let pipeline = scene.pipeline_with(layout, &[[(0, 1), (0, 2)]]);
        let sets = [scene.set([FLOATS, format])];
        let dead = device.view(FLOATS);
        device.write_image(sets[0], 0, dead);
        for turn in 0..4 {
            scene.begin();
            scene.bind(pipeline);
            let found = scene.arrives(&sets, || scene.bind_sets_and_draw(layout, &sets));
            // What is new is found out by the draw, and then known to the bind.
            let expected: &[Below] = match (is_own, turn) {
                (true, _) => &[Given],
                (false, 0) => &[Given, Layers],
                _ => &[Layers],
            };
            assert_eq!(found, expected, "{format:?}, turn {turn}");
            let reads = scene.reads();
            assert!(reads.iter().all(|read| read.image == (0, 1, 0) && read.view != dead.as_raw()), "{reads:?}");
            let filter = |read: &Read| device.model(read.handle).min_filter;
            let is_as_expected = reads.iter().all(|read| (filter(read) == Filter::LINEAR) == is_own);
            assert!(is_as_expected && !reads.is_empty(), "{format:?}, turn {turn}: {reads:?}");
            if turn == 1 {
                device.destroy_view(dead);
            }
        }
    }
}

/// An immutable sampler is a part of how a layout is defined (Pipeline Layout Compatibility): a set of one layout may not be bound with a
/// layout that has another sampler, nor be read by a pipeline of such a layout.
#[test]
fn immutable_samplers_that_differ_are_named_once() {
    let mirrored = linear_info().address_mode_u(vk::SamplerAddressMode::MIRRORED_REPEAT);
    // The sampler's type, the other sampler; the layout that sets are bound with, whether the pipeline is of the other layout, and what is
    // named.
    let (bind, draw) = ("VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358", "VUID-vkCmdDraw-None-08600");
    for ty in [SAMPLER, COMBINED] {
        for (other, bound_with, drawn_with, named) in [
            (Some(mirrored), 1, 1, vec![bind]),
            (Some(mirrored), 0, 1, vec![draw]),
            (Some(mirrored), 1, 0, vec![bind, draw]),
            (Some(mirrored), 0, 0, vec![]),
            // The same state is the same sampler, whatever its handle is.
            (Some(linear_info()), 1, 1, vec![]),
            (Some(linear_info()), 0, 1, vec![]),
            // None is another one as well.
            (None, 1, 1, vec![bind]),
        ] {
            let device = InstanceBuilder::new().traced("decisions").set("separate", "resolve").device();
            let samplers = [Some(device.linear()), other.map(|info| device.sampler(&info))];
            let image = binding(0, IMAGE, 1).stage_flags(Stage::COMPUTE);
            let layouts = samplers.map(|sampler| {
                let sampler = sampler.map(|sampler| [sampler]);
                let mut other = binding(1, ty, 1).stage_flags(Stage::COMPUTE);
                if let Some(sampler) = &sampler {
                    other = other.immutable_samplers(sampler);
                }
                device.layout(&[image, other])
            });
            let of = layouts.map(|layout| device.pipeline_layout(&[layout]));
            let scene = Scene::begun(device, layouts[0], of[0]);
            let set = scene.device.sets(scene.pool, &[layouts[0]])[0];
            let view = scene.device.view(FILTERED);
            scene.device.write_image(set, 0, view);
            if ty == COMBINED {
                scene.device.write(set, (1, 0), COMBINED, image_alone(view));
            }
            let image = if ty == SAMPLER { 0 } else { 1 };
            let pipeline = scene.pipeline_with(of[drawn_with], &[[(0, image), (0, 1)]]);
            scene.begin();
            for _ in 0..3 {
                scene.bind(pipeline);
                scene.bind_sets(of[bound_with], 0, &[set]);
                scene.act();
            }
            let told = scene.device.records("unresolved");
            assert_eq!(
                texts(&told, "vuid"),
                named,
                "{ty:?}, bound with {bound_with}, drawn with {drawn_with}: {told:#?}"
            );
            for record in told {
                assert_eq!(record["what"], "immutable-layout");
                assert_eq!(record["descriptor"], serde_json::json!({ "set": 0, "binding": 1 }));
                assert_eq!(record["immutable"]["needed"].is_null(), other.is_none(), "{record:#}");
                assert_eq!((&record["draw"], record["pipeline"].is_string()), (&1.into(), true));
            }
        }
    }
}
