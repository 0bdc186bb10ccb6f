//! What each descriptor path means: templates that cannot be copied, immutable samplers, consecutive bindings, copies, and what is
//! only written down.

use std::ptr;

use ash::vk::{self, Handle};
use samplin::memory::faults;

use crate::args;
use crate::driver::{Args, Write};
use crate::loader::*;

impl Pairs {
    /// Checks the writes that follow a template which could not be copied.
    fn check_patches(&self, writes: &[Write], target: Option<vk::DescriptorSet>, expected: &[(u32, u32)]) {
        let places: Vec<_> = writes.iter().map(|w| (w.raw.dst_binding, w.raw.dst_array_element)).collect();
        assert_eq!(places, expected);
        for write in writes {
            assert_eq!((write.raw.descriptor_type, write.raw.descriptor_count), (COMBINED, 1));
            assert!(target.is_none_or(|set| set == write.raw.dst_set) && write.raw.p_next.is_null());
            let image = write.images[0];
            let own = pair(self.sampler, self.illegal);
            assert_eq!((image.image_view, image.image_layout), (own.image_view, own.image_layout));
            assert!(self.device.is_variant(image.sampler));
        }
    }
}

#[test]
fn a_template_with_an_unknown_type_is_applied_and_then_corrected() {
    let scene = Pairs::usual();
    #[repr(C)]
    struct Data {
        odd: [u8; 40],
        pairs: [vk::DescriptorImageInfo; 4],
    }
    let odd = Ty::from_raw(0x7fff_0009);
    // No element of binding 5 could be one beyond the end of binding 3.
    let entries =
        [entry(8, 0, 1, odd, 0, 0), entry(3, 0, 2, COMBINED, 40, INFO), entry(5, 2, 2, COMBINED, 40 + 2 * INFO, INFO)];
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let data = Data { odd: [7; 40], pairs: [l, i, i, l] };
    let at = ptr::from_ref(&data).cast();
    let (set, layout) = (scene.plain_set(), scene.layout(&[]));
    let (for_sets, for_pushes) = (scene.template(layout, &entries), scene.push_template(&entries));
    let pipeline = vk::PipelineLayout::from_raw(0x77);
    let expected = [(3, 1), (5, 2)];
    scene.driver.calls();

    scene.update_with_template(set, for_sets, at);
    let calls = scene.driver.calls();
    let Args::Template { data: down, elements, .. } = &calls[calls.len() - 2].args else { panic!("{calls:?}") };
    assert_eq!(*down, at as usize, "the application's own data first");
    assert_eq!(elements[0].bytes, [7; 40]);
    let Args::Update { writes, copies } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    assert!(copies.items.is_empty());
    scene.check_patches(&writes.items, Some(set), &expected);

    call!(scene.push_with_template(scene.commands, for_pushes, pipeline, 2, at));
    let info = vk::PushDescriptorSetWithTemplateInfoKHR { p_data: at, ..Default::default() }
        .descriptor_update_template(for_pushes)
        .layout(pipeline)
        .set(2);
    call!(scene.push_with_template2(scene.commands, &info));
    let calls = scene.driver.calls();
    assert_eq!(calls.len(), 4);
    let Args::Template { data: down, .. } = &calls[0].args else { panic!("{calls:?}") };
    assert_eq!(*down, at as usize);
    let Args::Template2 { info: down, .. } = &calls[2].args else { panic!("{calls:?}") };
    assert_eq!(down.at, ptr::from_ref(&info) as usize);
    for push in [&calls[1], &calls[3]] {
        let Args::Push { layout, set, writes } = &push.args else { panic!("{push:?}") };
        assert_eq!((*layout, *set), (0x77, 2));
        scene.check_patches(&writes.items, None, &expected);
    }
    // Nothing to correct: nothing but the application's call.
    let data = Data { odd: [7; 40], pairs: [l; 4] };
    scene.update_with_template(set, for_sets, ptr::from_ref(&data).cast());
    assert_eq!(scene.driver.calls().len(), 1);
}

#[test]
fn a_template_of_huge_extent_is_not_copied() {
    let scene = Pairs::usual();
    let stride = 64 << 20;
    let mut data = crate::pages::Pages::new(2 * stride);
    data.place(8, &[pair(scene.sampler, scene.illegal)]);
    data.place(8 + stride, &[pair(scene.sampler, scene.illegal)]);
    let template = scene.template(scene.layout(&[]), &[entry(1, 0, 2, COMBINED, 8, stride)]);
    let set = scene.plain_set();
    scene.driver.calls();
    scene.update_with_template(set, template, data.start());
    let calls = scene.driver.calls();
    let Args::Template { data: down, .. } = &calls[calls.len() - 2].args else { panic!("{calls:?}") };
    assert_eq!(*down, data.start() as usize);
    let Args::Update { writes, .. } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    scene.check_patches(&writes.items, Some(set), &[(1, 0), (1, 1)]);
}

#[test]
fn immutable_samplers_are_left_alone_across_bindings() {
    let scene = Pairs::traced();
    let (a, b) = (scene.linear(), scene.nearest());
    let c = scene.sampler(&vk::SamplerCreateInfo { max_lod: 3.0, ..linear_info() });
    let (first, second) = ([a, b], [c, b]);
    let layout = scene.layout(&[
        binding(9, COMBINED, 2).immutable_samplers(&second),
        binding(5, COMBINED, 0),
        binding(2, COMBINED, 2).immutable_samplers(&first),
        binding(12, COMBINED, 4),
    ]);
    let set = scene.sets(scene.pool(), &[layout])[0];
    // From the second element of binding 2 over the empty binding 5 to binding 9: b, c, b. The samplers are ignored.
    let garbage = vk::Sampler::from_raw(0xdead);
    let infos = [pair(garbage, scene.illegal), pair(garbage, scene.illegal), pair(garbage, scene.legal)];
    let writes = [vk::WriteDescriptorSet { dst_array_element: 1, ..combined(set, 2, &infos) }];
    scene.driver.calls();
    scene.update(&writes, &[]);
    assert!(scene.took(c"vkUpdateDescriptorSets", writes.as_ptr()));
    let noted = scene.left_as("immutable sampler");
    assert_eq!(noted.len(), 1, "b is fine with any view: {noted:#?}");
    assert_eq!(noted[0]["sampler"], format!("{:#x}", c.as_raw()));
    assert_eq!(noted[0]["rule"], "linear-filter");

    // The element itself may lie beyond its binding: element 0 of binding 2 and up to binding 9.
    let other = scene.view(FLOATS);
    let infos = [pair(garbage, other), pair(garbage, other)];
    for (element, expected) in [(0, a), (2, c)] {
        let before = scene.left_as("immutable sampler").len();
        scene.update(&[vk::WriteDescriptorSet { dst_array_element: element, ..combined(set, 2, &infos) }], &[]);
        let noted = scene.left_as("immutable sampler");
        assert_eq!(noted.len(), before + 1, "element {element}");
        assert_eq!(noted[before]["sampler"], format!("{:#x}", expected.as_raw()));
    }
    // Dynamic bindings of the same set are repaired.
    assert!(scene.is_variant(scene.written_to(set, 12, pair(scene.sampler, scene.illegal))));
}

#[test]
fn pushes_find_the_immutable_samplers_of_the_pipeline_layout() {
    let scene = Pairs::traced();
    let immutable = [scene.sampler];
    let with = scene.layout(&[binding(0, COMBINED, 1).immutable_samplers(&immutable), binding(1, COMBINED, 1)]);
    let without = scene.layout(&[binding(0, COMBINED, 1)]);
    let pipeline = scene.pipeline_layout(&[without, vk::DescriptorSetLayout::null(), with]);
    // Layouts of sets may go before the pipeline layouts that were made with them.
    for layout in [with, without] {
        scene.destroy_layout(layout);
    }
    let info = pair(scene.sampler, scene.illegal);
    for (set, number, changes) in [(2, 0, false), (2, 1, true), (0, 0, true), (1, 0, true), (7, 0, true)] {
        for way in Way::PUSHES {
            let arrived = scene.sent(way, (pipeline, set, number), info);
            assert_eq!(scene.is_variant(arrived), changes, "{way:?}: set {set}, binding {number}");
        }
    }
    assert_eq!(scene.left_as("immutable sampler").len(), 1);
    // The pipeline layout's handle may come back for another one.
    scene.destroy_pipeline_layout(pipeline);
    assert!(scene.is_variant(scene.sent(Way::Push, (pipeline, 2, 0), info)));
}

/// Pushes with a layout that is only chained (VUID-VkPushDescriptorSetInfo-layout-09496).
#[test]
fn pushes_with_a_chained_layout_stay_valid() {
    let scene = Pairs::traced();
    let immutable = [scene.sampler];
    let sets = [scene.layout(&[binding(0, COMBINED, 1).immutable_samplers(&immutable), binding(1, COMBINED, 1)])];
    let chained = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
    let garbage = vk::Sampler::from_raw(0xdead);
    let infos = [pair(garbage, scene.illegal), pair(scene.sampler, scene.illegal)];
    let writes =
        [combined(vk::DescriptorSet::null(), 0, &infos[..1]), combined(vk::DescriptorSet::null(), 1, &infos[1..])];
    scene.driver.calls();
    let mut info = vk::PushDescriptorSetInfoKHR::default().stage_flags(Stage::ALL).descriptor_writes(&writes);
    info.p_next = ptr::from_ref(&chained).cast();
    scene.push2(&info);
    args!(scene, c"vkCmdPushDescriptorSet2", Args::Push2 { info: down, writes });
    assert_eq!((down.value.layout, down.chain[0].at), (vk::PipelineLayout::null(), ptr::from_ref(&chained) as usize));
    assert_eq!(writes.items[0].images[0].sampler, garbage);
    assert!(scene.is_variant(writes.items[1].images[0].sampler));
    assert_eq!(scene.left_as("immutable sampler").len(), 1, "the chained layout has it");

    // A template that cannot be copied: what has to change follows in a push of its own, with the same layout.
    let odd = Ty::from_raw(0x7fff_0009);
    let entries =
        [entry(8, 0, 1, odd, 0, 0), entry(0, 0, 1, COMBINED, 40, INFO), entry(1, 0, 1, COMBINED, 40 + INFO, INFO)];
    #[repr(C)]
    struct Data {
        odd: [u8; 40],
        pairs: [vk::DescriptorImageInfo; 2],
    }
    let data = Data { odd: [7; 40], pairs: infos };
    let template = scene.push_template(&entries);
    let (data, chain) = (ptr::from_ref(&data).cast(), ptr::from_ref(&chained).cast());
    scene.push_with_template2(template, (vk::PipelineLayout::null(), 0), data, chain);
    let calls = scene.driver.calls();
    let names: Vec<_> = calls.iter().map(|call| call.command).collect();
    let expected = [c"vkCmdPushDescriptorSetWithTemplate2", c"vkCmdPushDescriptorSet2"];
    assert_eq!(names[names.len() - 2..], expected, "{names:?}");
    let Args::Push2 { info: down, writes } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    assert_eq!((down.value.layout, down.chain[0].at), (vk::PipelineLayout::null(), ptr::from_ref(&chained) as usize));
    assert_eq!(down.value.stage_flags, Stage::COMPUTE, "of the template's bind point");
    scene.check_patches(&writes.items, None, &[(1, 0)]);
}

/// VK_NV_per_stage_descriptor_set: a binding number may stand for one binding in each stage.
#[test]
fn a_binding_number_may_stand_for_several_bindings() {
    let scene = Pairs::usual();
    let immutable = [scene.sampler];
    let (vertex, fragment) = (Stage::VERTEX, Stage::FRAGMENT);
    let dynamic = |stage| binding(3, COMBINED, 1).stage_flags(stage);
    let fixed = |stage| binding(3, COMBINED, 1).stage_flags(stage).immutable_samplers(&immutable);
    let other = binding(1, COMBINED, 1);
    for (bindings, changes) in [
        (vec![dynamic(vertex), fixed(fragment), other], true),
        (vec![fixed(vertex), other, dynamic(fragment)], true),
        (vec![other, fixed(vertex), fixed(fragment)], false),
    ] {
        let layout = scene.layout_flagged(vk::DescriptorSetLayoutCreateFlags::PER_STAGE_NV, &bindings);
        let set = scene.sets(scene.pool(), &[layout])[0];
        let arrived = scene.written_to(set, 3, pair(scene.sampler, scene.illegal));
        assert_eq!(scene.is_variant(arrived), changes, "{bindings:?}");
    }
}

#[test]
fn templates_for_sets_find_the_immutable_samplers_of_their_layout() {
    let scene = Pairs::traced();
    let immutable = [scene.nearest(), scene.sampler];
    let layout = scene.layout(&[binding(0, COMBINED, 2).immutable_samplers(&immutable), binding(1, COMBINED, 1)]);
    let template = scene.template(layout, &[entry(0, 1, 1, COMBINED, 0, INFO), entry(1, 0, 1, COMBINED, INFO, INFO)]);
    let set = scene.sets(scene.pool(), &[layout])[0];
    scene.destroy_layout(layout);
    let garbage = vk::Sampler::from_raw(u64::MAX);
    let data = [pair(garbage, scene.illegal), pair(scene.sampler, scene.illegal)];
    scene.driver.calls();
    scene.update_with_template(set, template, data.as_ptr().cast());
    args!(scene, c"vkUpdateDescriptorSetWithTemplate", Args::Template { elements, .. });
    assert_eq!(elements[0].image.unwrap().sampler, garbage);
    assert!(scene.is_variant(elements[1].image.unwrap().sampler));
    assert_eq!(scene.left_as("immutable sampler").len(), 1);
}

#[test]
fn a_conflict_of_an_immutable_sampler_is_decided_once_on_each_path() {
    // More classes than have a place in the first row of a state.
    const FORMATS: [vk::Format; 12] = [
        vk::Format::R8_UINT,
        vk::Format::R8_SINT,
        vk::Format::R8G8_UINT,
        vk::Format::R8G8_SINT,
        vk::Format::R8G8B8A8_UINT,
        vk::Format::R8G8B8A8_SINT,
        vk::Format::R16_UINT,
        vk::Format::R16_SINT,
        vk::Format::R16G16_UINT,
        vk::Format::R16G16_SINT,
        vk::Format::R32G32_UINT,
        vk::Format::R32G32_SINT,
    ];
    for level in [None, Some("changes"), Some("all")] {
        let builder = InstanceBuilder::new();
        let scene = Pairs::on(if let Some(level) = level { builder.traced(level) } else { builder }.device());
        let records = || if level.is_some() { scene.left_as("immutable sampler").len() } else { 0 };
        let immutable = [scene.nearest(), scene.sampler];
        let layout = scene.layout(&[binding(3, COMBINED, 2).immutable_samplers(&immutable)]);
        let (pool, pipeline) = (scene.pool(), scene.pipeline_layout(&[layout]));
        let set = scene.sets(pool, &[layout])[0];
        let elements = [entry(3, 0, 2, COMBINED, 0, INFO)];
        let (for_sets, for_pushes) = (scene.template(layout, &elements), scene.push_template(&elements));
        // The samplers of a write are ignored.
        let infos = |view| [pair(scene.sampler, scene.legal), image_alone(view)];
        type Write<'a> = &'a dyn Fn(vk::ImageView);
        let update: Write<'_> = &|view| scene.update(&[combined(set, 3, &infos(view))], &[]);
        let template: Write<'_> = &|view| scene.update_with_template(set, for_sets, infos(view).as_ptr().cast());
        let push: Write<'_> = &|view| scene.push(pipeline, 0, &[combined(set, 3, &infos(view))]);
        let push2: Write<'_> = &|view| {
            let (infos, info) = (infos(view), vk::PushDescriptorSetInfoKHR::default().layout(pipeline));
            scene.push2(&info.descriptor_writes(&[combined(set, 3, &infos)]));
        };
        let push_template: Write<'_> = &|view| {
            let infos = infos(view);
            call!(scene.push_with_template(scene.commands, for_pushes, pipeline, 0, infos.as_ptr().cast()));
        };
        let push_template2: Write<'_> = &|view| {
            let infos = infos(view);
            scene.push_with_template2(for_pushes, (pipeline, 0), infos.as_ptr().cast(), ptr::null());
        };
        let paths = [
            ("update", update),
            ("template", template),
            ("push", push),
            ("push 2", push2),
            ("push with a template", push_template),
            ("push with a template 2", push_template2),
        ];
        // What the layer allocates for a hundred calls: every decision and every record does.
        let allocations = |write: Write<'_>, view| {
            faults::set(None);
            (0..100).for_each(|_| write(view));
            faults::seen()
        };
        // What is pushed is followed from the first push on.
        paths.iter().for_each(|(_, write)| write(scene.legal));
        for (nth, format) in FORMATS.into_iter().enumerate() {
            let (path, write) = paths[nth % paths.len()];
            let view = scene.view(format);
            if level != Some("all") {
                assert_eq!(allocations(write, scene.legal), 0, "{path}: nothing is decided for what is legal");
            }
            assert_eq!(records(), if level.is_some() { nth } else { 0 }, "{path}: nothing is said of what is legal");
            write(view);
            for (other, write) in paths {
                assert_eq!(allocations(write, view), 0, "{other} after {path}, {format:?}: decided again");
            }
            assert_eq!(records(), if level.is_some() { nth + 1 } else { 0 }, "{path}, {format:?}");
        }
    }
}

#[test]
fn what_was_said_of_an_immutable_sampler_is_not_held_of_another_one() {
    let scene = Pairs::traced();
    let pool = scene.pool();
    let view = scene.view(INTEGERS);
    let write = |info: &vk::SamplerCreateInfo<'_>| {
        let sampler = [scene.sampler(info)];
        let layout = scene.layout(&[binding(0, COMBINED, 1).immutable_samplers(&sampler)]);
        let set = scene.sets(pool, &[layout])[0];
        (0..3).for_each(|_| scene.update(&[combined(set, 0, &[image_alone(view)])], &[]));
        let sets = [set];
        scene.free(pool, &sets);
        scene.destroy_layout(layout);
        scene.destroy_sampler(sampler[0]);
    };
    let say = |info: &vk::SamplerCreateInfo<'_>| {
        write(info);
        scene.left_as("immutable sampler").len()
    };
    let other = vk::SamplerCreateInfo { max_lod: 3.0, ..linear_info() };
    let legal = vk::SamplerCreateInfo { mag_filter: Filter::NEAREST, min_filter: Filter::NEAREST, ..other };
    assert_eq!(say(&legal), 0);
    assert_eq!(say(&linear_info()), 1);
    assert_eq!(say(&other), 2, "another state");
    assert_eq!(say(&linear_info()), 2, "the same state once more");
    // More states than are kept without a sampler: places get others.
    for n in 0..600_u16 {
        write(&vk::SamplerCreateInfo { max_lod: 4.0 + f32::from(n), ..linear_info() });
    }
    assert_eq!(scene.left_as("immutable sampler").len(), 2 + 600);
}

#[test]
fn what_cannot_be_seen_is_said_once() {
    let scene = Pairs::on(InstanceBuilder::new().set("separate", "base").traced("decisions").device());
    let set = scene.plain_set();
    scene.driver.calls();
    let mut mapped = ptr::null_mut();
    for _ in 0..3 {
        call!(scene.get_host_mapping(scene.raw, set, &mut mapped));
        let infos = [pair(scene.sampler, vk::ImageView::from_raw(u64::MAX))];
        let write = combined(set, 0, &infos).descriptor_type(SAMPLER);
        scene.update(&[write], &[]);
    }
    let calls = scene.driver.calls();
    let Args::Other(arguments) = &calls[0].args else { panic!("{calls:?}") };
    assert_eq!(*arguments, [set.as_raw(), &raw mut mapped as u64]);
    assert_eq!(scene.left_as("host-mapped descriptor set").len(), 1);
    assert_eq!(scene.left_as("separate samplers").len(), 1);
}

#[test]
fn core_1_4_commands_need_no_extension() {
    let version = vk::make_api_version(0, 1, 4, 0);
    let mut builder = InstanceBuilder::new().driver(|driver| driver.api_version = version);
    builder.api_version = version;
    let instance = builder.instance();
    let scene = Pairs::on(instance.device(&DeviceInfo::default()));
    assert!(scene.resolve(c"vkCmdPushDescriptorSetKHR").is_none());
    let info = pair(scene.sampler, scene.illegal);
    for way in Way::PUSHES {
        let arrived = scene.sent(way, (vk::PipelineLayout::from_raw(0x77), 0, 0), info);
        assert!(scene.is_variant(arrived), "{way:?}");
    }
}

#[test]
fn the_last_element_for_a_descriptor_stays_the_last() {
    // Two entries for one descriptor, the first of which has to change, in data that is not copied because elements share bytes.
    let device = Device::usual();
    let bindings = [binding(0, COMBINED, 1), binding(1, SAMPLER, 1)];
    let layout = device.layout(&bindings);
    let set = device.sets(device.pool(), &[layout])[0];
    let entries =
        [entry(0, 0, 1, COMBINED, 0, INFO), entry(0, 0, 1, COMBINED, INFO, INFO), entry(1, 0, 1, SAMPLER, INFO, INFO)];
    let template = device.template(layout, &entries);
    let (sampler, bad, good) = (device.linear(), device.view(INTEGERS), device.view(FILTERED));
    for (order, last) in [([bad, good], good), ([good, bad], bad)] {
        let data = order.map(|view| pair(sampler, view));
        device.driver.calls();
        device.update_with_template(set, template, data.as_ptr().cast());
        args!(device, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
        let down = writes.items.last().expect("a write").images[0];
        assert_eq!(down.image_view, last);
        assert_eq!(down.sampler == sampler, last == good);
    }
}
