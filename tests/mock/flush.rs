//! What is the layer's own is bound in place of the application's bind of the same, or right before a draw, and nowhere else; and where not
//! all is known that is bound, nothing is.

use std::ptr;

use ash::vk::{self, Handle};

use crate::binds::Below::{Given, Layers, Own};
use crate::binds::Scene;
use crate::driver::{Kind, Reuse, lock};
use crate::loader::*;
use crate::programs::Stand;
use crate::separate::joins_two;

/// A state that is static in a pipeline and dynamic in the next is set between the bind of the first one and what makes that need another.
#[test]
fn static_state_of_a_pipeline_stays_away_from_the_next() {
    let dynamic = [vk::DynamicState::LINE_WIDTH];
    for (is_static, feeds_back) in [(true, false), (true, true), (false, false), (false, true)] {
        let stand = Stand::new();
        let (device, raw) = (&stand.device, stand.device.commands);
        let states = &dynamic[usize::from(is_static)..];
        let first = stand.graphics(states, vk::PipelineCreateFlags::empty(), ptr::null());
        let next = stand.graphics(&dynamic, vk::PipelineCreateFlags::empty(), ptr::null());
        let [goods, _, mixed] = stand.sets();
        let bind_set = |set| device.bind_sets(raw, GRAPHICS, stand.layout, &[set]);
        stand.begin();
        stand.bind(GRAPHICS, first);
        bind_set(goods);
        if feeds_back {
            device.feed_back(raw, true);
        }
        call!(device.set_line_width(raw, 7.0));
        // From here on the first one would be another, if anything was drawn with it.
        bind_set(mixed);
        if feeds_back {
            device.feed_back(raw, false);
        }
        assert_eq!(stand.bound(GRAPHICS), first.as_raw(), "nothing draws with it");
        stand.bind(GRAPHICS, next);
        assert_eq!(stand.own(GRAPHICS), [false, true]);
        assert_eq!(lock(&device.driver.machine).line_width(raw.as_raw()), Some(7.0_f32.to_bits()));
        // A draw of its own has it.
        stand.bind(GRAPHICS, first);
        assert_eq!(stand.own(GRAPHICS), [false, true]);
        assert_ne!(stand.bound(GRAPHICS), first.as_raw());
        let width = if is_static { 1.0_f32 } else { 7.0 };
        assert_eq!(lock(&device.driver.machine).line_width(raw.as_raw()), Some(width.to_bits()));
    }
}

/// A command buffer is begun, and binds sets, while nothing can conflict; another has the pipeline split.
#[test]
fn a_command_buffer_that_is_not_whole_gets_nothing() {
    for longer in [false, true] {
        let scene = Scene::without_conflict(Reuse::Never);
        let (device, pipeline) = (&scene.device, scene.pipeline());
        let layout = scene.layouts[usize::from(longer)];
        let [legal, above] = [(); 2].map(|()| scene.set([FILTERED; 2]));
        let sets = [legal, above];
        let old = scene.commands.get();
        scene.begin();
        scene.bind_sets(layout, 0, &sets[..1 + usize::from(longer)]);
        let mixed = [scene.set([FILTERED, FLOATS])];
        let new = device.command_buffer();
        scene.commands.set(new);
        scene.begin();
        scene.bind(pipeline);
        scene.bind_sets(scene.layouts[0], 0, &mixed);
        assert_eq!(scene.own(), [true, false], "it is split");
        scene.commands.set(old);
        assert_eq!(scene.arrives(&[], || scene.bind(pipeline)), [Own]);
        assert_eq!(scene.arrives(&[], || assert_eq!(scene.own(), [true, true])), []);
        let bound = || device.bound_sets(old);
        let given: Vec<_> = sets[..1 + usize::from(longer)].iter().map(|set| set.as_raw()).collect();
        assert_eq!(bound(), given, "nothing is disturbed");
        assert_eq!(scene.arrives(&mixed, || scene.bind_sets(layout, 0, &mixed)), [Given]);
        assert_eq!(scene.arrives(&[], || assert_eq!(scene.own(), [true, true])), []);
        let records = device.records("unresolved");
        assert_eq!(device.left_as("began-before").len(), 1, "once for the link that conflicts: {records:#?}");
        // Begun again it is whole.
        scene.begin();
        scene.bind(pipeline);
        scene.bind_sets(scene.layouts[0], 0, &mixed);
        assert_eq!(scene.own(), [true, false]);
        assert_eq!(device.records("unresolved").len(), records.len());
    }
}

/// A command buffer is begun again while transform feedback is active in it, for a pipeline that was never split.
#[test]
fn a_command_buffer_that_begins_again_feeds_nothing_back() {
    for feeds_back in [true, false] {
        let stand = Stand::new();
        let device = &stand.device;
        let pipeline = stand.usual();
        let mixed = stand.set([stand.bad, stand.good]);
        stand.begin();
        stand.bind(GRAPHICS, pipeline);
        if feeds_back {
            device.feed_back(device.commands, true);
        }
        stand.begin();
        stand.bind(GRAPHICS, pipeline);
        device.bind_sets(device.commands, GRAPHICS, stand.layout, &[mixed]);
        assert_eq!((stand.own(GRAPHICS), stand.left().len()), ([false, true], 0));
    }
}

/// Offsets of descriptor buffers leave nothing bound: a hidden set is bound again for the next draw of its pipeline, and not before.
#[test]
fn descriptor_buffers_disturb_what_is_bound() {
    for other_point in [false, true] {
        let scene = Scene::new();
        let (device, layout, pipeline) = (&scene.device, scene.layouts[0], scene.pipeline());
        let mixed = [scene.set([FILTERED, FLOATS])];
        scene.bind(pipeline);
        scene.bind_sets(layout, 0, &mixed);
        assert_eq!(scene.own(), [true, false]);
        let (raw, none, offsets) = (scene.commands.get(), ptr::null(), ptr::null());
        let point = if other_point { GRAPHICS } else { COMPUTE };
        let set_offsets = || {
            call!(device.set_descriptor_buffer_offsets(raw, point, vk::PipelineLayout::null(), 0, 0, none, offsets));
        };
        assert_eq!(scene.arrives(&[], set_offsets), []);
        assert_eq!(scene.arrives(&mixed, || scene.bind_sets(layout, 0, &mixed)), [Given]);
        // Of the other bind point nothing is disturbed, and nothing bound again.
        let again: &[_] = if other_point { &[] } else { &[Layers] };
        assert_eq!(scene.arrives(&[], || device.act(raw, COMPUTE)), again);
        assert_eq!(scene.own(), [true, false]);
    }
}

/// A bind without a layout (`dynamicPipelineLayout`) leaves nothing known: nothing of the layer's own is drawn with, and it is named.
#[test]
fn a_bind_without_a_layout_leaves_nothing_known() {
    let scene = Scene::of(InstanceBuilder::new().traced("decisions"));
    let (device, layout, pipeline) = (&scene.device, scene.layouts[0], scene.pipeline());
    let mixed = [scene.set([FILTERED, FLOATS])];
    scene.bind(pipeline);
    scene.bind_sets(layout, 0, &mixed);
    assert_eq!(scene.own(), [true, false]);
    let info = vk::BindDescriptorSetsInfoKHR::default().stage_flags(Stage::COMPUTE);
    call!(device.bind_sets2(scene.commands.get(), &info.descriptor_sets(&mixed)));
    assert_eq!(scene.arrives(&[], || device.act(scene.commands.get(), COMPUTE)), [Own], "nothing reads a hidden set");
    assert_eq!(device.left(), ["dynamic-layout"]);
    // What is bound from there on is known again.
    scene.bind_sets(layout, 0, &mixed);
    assert_eq!(scene.own(), [true, false]);
}

/// A pipeline that reads image 0 and image 1 of a set through sampler 2, where image 0 may change after the bind, or not.
struct Rung {
    what: &'static str,
    settings: &'static [(&'static str, &'static str)],
    formats: [vk::Format; 2],
    clamps: bool,
    /// Sets that can be bound.
    sets: u32,
    /// Pipelines that there are where the image may not change, with the application's.
    pipelines: usize,
}

/// Every way to have a pair repaired leaves a descriptor alone that may be another one after the bind.
#[test]
fn update_after_bind_is_left_alone_on_every_rung() {
    let rung = |what, settings, formats| Rung { what, settings, formats, clamps: false, sets: 8, pipelines: 1 };
    let both = [FLOATS; 2];
    let one = [FLOATS, FILTERED];
    let rungs = [
        rung("shadow", &[], both),
        Rung { pipelines: 2, ..rung("split", &[], one) },
        Rung { pipelines: 2, sets: 1, ..rung("fetch", &[], one) },
        rung("meet", &[("separate_shared", "meet")], one),
        Rung { pipelines: 2, ..rung("filters", &[("unfilterable", "emulate")], both) },
        Rung { pipelines: 2, clamps: true, ..rung("saturates", &[], [FILTERED; 2]) },
        Rung { pipelines: 2, clamps: true, ..rung("saturates in code", &[("shader_keys", "pipeline")], [FILTERED; 2]) },
    ];
    for (rung, late) in rungs.iter().flat_map(|rung| [(rung, false), (rung, true)]) {
        let Rung { what, settings, formats, clamps, sets, pipelines } = rung;
        let builder = InstanceBuilder::new().driver(|config| config.set_limits[0] = *sets).settings(settings);
        let device = builder.followed().device_with(|info| info.extensions.extend(clamps.then_some(GL_ADDRESS_MODES)));
        let after = if late { vk::DescriptorBindingFlags::UPDATE_AFTER_BIND } else { Default::default() };
        let bindings = of_compute([IMAGE, IMAGE, SAMPLER]);
        let of_set = device.layout_with(&bindings, &[after, after, Default::default()]);
        let layout = device.pipeline_layout(&[of_set]);
        let pipeline = device.compute(layout, &joins_two(5));
        let sampler = if *clamps { device.sampler(&addressed(GL_CLAMP)) } else { device.linear() };
        let pool = if late { vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND } else { Default::default() };
        let set = device.sets(device.pool_flagged(pool), &[of_set])[0];
        (0..).zip(formats).for_each(|(number, format)| device.write_image(set, number, device.view(*format)));
        device.write_sampler(set, 2, sampler);
        let commands = device.command_buffer();
        let bound = [(); 2].map(|()| {
            device.record(commands, (COMPUTE, pipeline), layout, &[set]);
            device.driver.check();
            (device.bound_pipeline(commands, COMPUTE), device.bound_sets(commands))
        });
        let made = device.driver.live(Kind::Pipeline).len();
        assert!(late || made == *pipelines, "{what}: {made} pipelines");
        let is_own = bound.iter().all(|bound| *bound == (pipeline.as_raw(), vec![set.as_raw()]));
        assert_eq!(is_own, late, "{what}: {bound:x?}, {:#?}", device.records("unresolved"));
        assert_eq!(!device.left_as("update-after-bind").is_empty(), late, "{what}: {:?}", device.left());
    }
}
