//! What each descriptor path means: templates that cannot be copied, immutable samplers, consecutive bindings, copies, and what is
//! only written down.

use std::ptr;

use ash::vk::{self, Handle};
use samplin::memory::faults;

use crate::args;
use crate::driver::{Args, Write};
use crate::loader::*;

const FILTERED: vk::Format = vk::Format::R8G8B8A8_UNORM;
const UNFILTERED: vk::Format = vk::Format::R32_UINT;
const COMBINED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

struct Scene {
    device: Device,
    sampler: vk::Sampler,
    legal: vk::ImageView,
    illegal: vk::ImageView,
}

impl Scene {
    fn on(device: Device) -> Self {
        let (sampler, legal, illegal) = (device.linear(), device.view(FILTERED), device.view(UNFILTERED));
        device.driver.calls();
        Self { device, sampler, legal, illegal }
    }

    fn traced() -> Self {
        Self::on(Device::traced())
    }

    fn is_variant(&self, sampler: vk::Sampler) -> bool {
        self.device.driver.variants().contains(&sampler.as_raw())
    }

    /// Records about what was passed through, by `what`.
    fn unresolved(&self, what: &str) -> Vec<serde_json::Value> {
        self.device.instance.records("unresolved").into_iter().filter(|record| record["what"] == what).collect()
    }

    /// Checks the writes that follow a template which could not be copied.
    fn check_patches(&self, writes: &[Write], target: Option<vk::DescriptorSet>, expected: &[(u32, u32)]) {
        let places: Vec<_> = writes.iter().map(|w| (w.raw.dst_binding, w.raw.dst_array_element)).collect();
        assert_eq!(places, expected);
        for write in writes {
            assert_eq!((write.raw.descriptor_type, write.raw.descriptor_count), (COMBINED, 1));
            assert!(target.is_none_or(|set| set == write.raw.dst_set) && write.raw.p_next.is_null());
            let image = write.images[0];
            assert_eq!(
                (image.image_view, image.image_layout),
                (self.illegal, pair(self.sampler, self.illegal).image_layout)
            );
            assert!(self.is_variant(image.sampler));
        }
    }
}

#[test]
fn a_template_with_an_unknown_type_is_applied_and_then_corrected() {
    let scene = Scene::on(Device::usual());
    let device = &scene.device;
    #[repr(C)]
    struct Data {
        odd: [u8; 40],
        pairs: [vk::DescriptorImageInfo; 4],
    }
    let odd = vk::DescriptorType::from_raw(0x7fff_0009);
    // No element of binding 5 could be one beyond the end of binding 3.
    let entries =
        [entry(8, 0, 1, odd, 0, 0), entry(3, 0, 2, COMBINED, 40, INFO), entry(5, 2, 2, COMBINED, 40 + 2 * INFO, INFO)];
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let data = Data { odd: [7; 40], pairs: [l, i, i, l] };
    let at = ptr::from_ref(&data).cast();
    let (set, layout) = (device.plain_set(), device.layout(&[]));
    let (for_sets, for_pushes) = (device.template(layout, &entries), device.push_template(&entries));
    let pipeline = vk::PipelineLayout::from_raw(0x77);
    let expected = [(3, 1), (5, 2)];
    device.driver.calls();

    device.update_with_template(set, for_sets, at);
    let calls = device.driver.calls();
    let Args::Template { data: down, elements, .. } = &calls[calls.len() - 2].args else { panic!("{calls:?}") };
    assert_eq!(*down, at as usize, "the application's own data first");
    assert_eq!(elements[0].bytes, [7; 40]);
    let Args::Update { writes, copies } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    assert!(copies.items.is_empty());
    scene.check_patches(&writes.items, Some(set), &expected);

    call!(device.push_with_template(device.commands, for_pushes, pipeline, 2, at));
    let info = vk::PushDescriptorSetWithTemplateInfoKHR { p_data: at, ..Default::default() }
        .descriptor_update_template(for_pushes)
        .layout(pipeline)
        .set(2);
    call!(device.push_with_template2(device.commands, &info));
    let calls = device.driver.calls();
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
    device.update_with_template(set, for_sets, ptr::from_ref(&data).cast());
    assert_eq!(device.driver.calls().len(), 1);
}

#[test]
fn a_template_of_huge_extent_is_not_copied() {
    let scene = Scene::on(Device::usual());
    let device = &scene.device;
    let stride = 64 << 20;
    let mut data = crate::pages::Pages::new(2 * stride);
    data.place(8, &[pair(scene.sampler, scene.illegal)]);
    data.place(8 + stride, &[pair(scene.sampler, scene.illegal)]);
    let template = device.template(device.layout(&[]), &[entry(1, 0, 2, COMBINED, 8, stride)]);
    let set = device.plain_set();
    device.driver.calls();
    device.update_with_template(set, template, data.start());
    let calls = device.driver.calls();
    let Args::Template { data: down, .. } = &calls[calls.len() - 2].args else { panic!("{calls:?}") };
    assert_eq!(*down, data.start() as usize);
    let Args::Update { writes, .. } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    scene.check_patches(&writes.items, Some(set), &[(1, 0), (1, 1)]);
}

#[test]
fn entries_that_share_their_data_keep_what_is_not_a_pair() {
    // One structure feeds a pair, a separate sampler and a separate image: legal, and only the pair may change.
    let scene = Scene::on(Device::usual());
    let device = &scene.device;
    let shared = [
        entry(0, 0, 1, COMBINED, 0, INFO),
        entry(1, 0, 1, vk::DescriptorType::SAMPLER, 0, INFO),
        entry(2, 0, 1, vk::DescriptorType::SAMPLED_IMAGE, 0, INFO),
    ];
    let data = pair(scene.sampler, scene.illegal);
    let template = device.template(device.layout(&[]), &shared);
    let set = device.plain_set();
    device.driver.calls();
    device.update_with_template(set, template, ptr::from_ref(&data).cast());
    // What each binding holds in the end.
    let mut held = [vk::Sampler::null(); 3];
    for call in device.driver.calls() {
        match call.args {
            Args::Template { elements, .. } => {
                for element in elements {
                    held[element.entry] = element.image.expect("an image").sampler;
                }
            }
            Args::Update { writes, .. } => {
                for write in writes.items {
                    held[write.raw.dst_binding as usize] = write.images[0].sampler;
                }
            }
            _ => {}
        }
    }
    assert!(scene.is_variant(held[0]));
    assert_eq!(held[1], scene.sampler, "the separate sampler is the application's");
}

#[test]
fn immutable_samplers_are_left_alone_across_bindings() {
    let scene = Scene::traced();
    let device = &scene.device;
    let (a, b) = (device.linear(), device.nearest());
    let c = device.sampler(&vk::SamplerCreateInfo { max_lod: 3.0, ..linear_info() });
    let (first, second) = ([a, b], [c, b]);
    let layout = device.layout(&[
        binding(9, COMBINED, 2).immutable_samplers(&second),
        binding(5, COMBINED, 0),
        binding(2, COMBINED, 2).immutable_samplers(&first),
        binding(12, COMBINED, 4),
    ]);
    let set = device.sets(device.pool(), &[layout])[0];
    // From the second element of binding 2 over the empty binding 5 to binding 9: b, c, b. The samplers are ignored.
    let garbage = vk::Sampler::from_raw(0xdead);
    let infos = [pair(garbage, scene.illegal), pair(garbage, scene.illegal), pair(garbage, scene.legal)];
    let writes = [vk::WriteDescriptorSet { dst_array_element: 1, ..combined(set, 2, &infos) }];
    device.driver.calls();
    device.update(&writes, &[]);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    assert_eq!(down.at, writes.as_ptr() as usize);
    let noted = scene.unresolved("immutable sampler");
    assert_eq!(noted.len(), 1, "b is fine with any view: {noted:#?}");
    assert_eq!(noted[0]["sampler"], format!("{:#x}", c.as_raw()));
    assert_eq!(noted[0]["rule"], "linear-filter");

    // The element itself may lie beyond its binding: element 0 of binding 2 and up to binding 9.
    let other = device.view(vk::Format::R32_SFLOAT);
    let infos = [pair(garbage, other), pair(garbage, other)];
    for (element, expected) in [(0, a), (2, c)] {
        let before = scene.unresolved("immutable sampler").len();
        device.update(&[vk::WriteDescriptorSet { dst_array_element: element, ..combined(set, 2, &infos) }], &[]);
        let noted = scene.unresolved("immutable sampler");
        assert_eq!(noted.len(), before + 1, "element {element}");
        assert_eq!(noted[before]["sampler"], format!("{:#x}", expected.as_raw()));
    }
    // Dynamic bindings of the same set are repaired.
    let infos = [pair(scene.sampler, scene.illegal)];
    device.driver.calls();
    device.update(&[combined(set, 12, &infos)], &[]);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    assert!(scene.is_variant(down.items[0].images[0].sampler));
}

#[test]
fn writes_to_ordinary_sets_are_repaired_beside_those_to_immutable_samplers() {
    let scene = Scene::traced();
    let device = &scene.device;
    let immutable =
        device.layout(&[binding(0, COMBINED, 1).immutable_samplers(&[scene.sampler]), binding(1, COMBINED, 1)]);
    let ordinary = device.layout(&[binding(0, COMBINED, 16)]);
    let sets = device.sets(device.pool(), &[immutable, ordinary, ordinary]);
    // Set, binding, whether the view is one that conflicts, and whether another sampler has to go down.
    type Asked = (usize, u32, bool, bool);
    const FIXED: Asked = (0, 0, true, false);
    const DYNAMIC: Asked = (0, 1, true, true);
    const ILLEGAL: Asked = (1, 0, true, true);
    const OTHER: Asked = (2, 0, true, true);
    const LEGAL: Asked = (1, 0, false, false);
    let calls: [&[Asked]; 9] = [
        &[ILLEGAL, LEGAL],
        &[LEGAL, ILLEGAL, OTHER],
        &[ILLEGAL, FIXED],
        &[FIXED, ILLEGAL],
        &[LEGAL, OTHER, DYNAMIC, FIXED, ILLEGAL],
        &[DYNAMIC, FIXED],
        &[FIXED, FIXED],
        &[LEGAL, LEGAL],
        &[OTHER; 16],
    ];
    for call in calls {
        let given = call.iter().map(|(_, _, conflicts, _)| if *conflicts { scene.illegal } else { scene.legal });
        let infos: Vec<_> = given.map(|view| [pair(scene.sampler, view)]).collect();
        let asked = call.iter().zip(&infos);
        let writes: Vec<_> = asked.map(|((set, binding, ..), info)| combined(sets[*set], *binding, info)).collect();
        device.driver.calls();
        device.update(&writes, &[]);
        args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
        let changes = call.iter().any(|(.., changes)| *changes);
        assert_eq!(down.at == writes.as_ptr() as usize, !changes, "{call:?}");
        assert_eq!(down.items.len(), call.len());
        for (item, asked) in down.items.iter().zip(call) {
            let sampler = item.images[0].sampler;
            assert_eq!(scene.is_variant(sampler), asked.3, "{asked:?} in {call:?}");
            assert!(asked.3 || sampler == scene.sampler, "{asked:?} in {call:?}");
        }
    }
    assert_eq!(scene.unresolved("immutable sampler").len(), 1, "said once, whatever stands beside it");
}

#[test]
fn pushes_find_the_immutable_samplers_of_the_pipeline_layout() {
    let scene = Scene::traced();
    let device = &scene.device;
    let immutable = [scene.sampler];
    let with = device.layout(&[binding(0, COMBINED, 1).immutable_samplers(&immutable), binding(1, COMBINED, 1)]);
    let without = device.layout(&[binding(0, COMBINED, 1)]);
    let pipeline = device.pipeline_layout(&[without, vk::DescriptorSetLayout::null(), with]);
    // Layouts of sets may go before the pipeline layouts that were made with them.
    for layout in [with, without] {
        call!(device.destroy_layout(device.raw, layout, allocator()));
    }
    let infos = [pair(scene.sampler, scene.illegal)];
    let template = device.push_template(&[entry(0, 0, 1, COMBINED, 0, INFO)]);
    for (set, number, changes) in [(2, 0, false), (2, 1, true), (0, 0, true), (1, 0, true), (7, 0, true)] {
        let writes = [combined(vk::DescriptorSet::from_raw(0x123), number, &infos)];
        device.driver.calls();
        device.push(pipeline, set, &writes);
        args!(device, c"vkCmdPushDescriptorSet", Args::Push { writes: down, .. });
        assert_eq!(scene.is_variant(down.items[0].images[0].sampler), changes, "set {set}, binding {number}");
        let info = vk::PushDescriptorSetInfoKHR::default().layout(pipeline).set(set).descriptor_writes(&writes);
        device.push2(&info);
        args!(device, c"vkCmdPushDescriptorSet2", Args::Push2 { writes: down, .. });
        assert_eq!(scene.is_variant(down.items[0].images[0].sampler), changes, "set {set}, binding {number}");
        if number == 0 {
            call!(device.push_with_template(device.commands, template, pipeline, set, infos.as_ptr().cast()));
            args!(device, c"vkCmdPushDescriptorSetWithTemplate", Args::Template { elements, .. });
            assert_eq!(scene.is_variant(elements[0].image.unwrap().sampler), changes, "set {set}");
        }
    }
    assert_eq!(scene.unresolved("immutable sampler").len(), 1);
    // The pipeline layout's handle may come back for another one.
    call!(device.destroy_pipeline_layout(device.raw, pipeline, allocator()));
    device.driver.calls();
    device.push(pipeline, 2, &[combined(vk::DescriptorSet::null(), 0, &infos)]);
    args!(device, c"vkCmdPushDescriptorSet", Args::Push { writes: down, .. });
    assert!(scene.is_variant(down.items[0].images[0].sampler));
}

/// Pushes with a layout that is only chained (VUID-VkPushDescriptorSetInfo-layout-09496).
#[test]
fn pushes_with_a_chained_layout_stay_valid() {
    let scene = Scene::traced();
    let device = &scene.device;
    let immutable = [scene.sampler];
    let sets = [device.layout(&[binding(0, COMBINED, 1).immutable_samplers(&immutable), binding(1, COMBINED, 1)])];
    let chained = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
    let garbage = vk::Sampler::from_raw(0xdead);
    let infos = [pair(garbage, scene.illegal), pair(scene.sampler, scene.illegal)];
    let writes =
        [combined(vk::DescriptorSet::null(), 0, &infos[..1]), combined(vk::DescriptorSet::null(), 1, &infos[1..])];
    device.driver.calls();
    let mut info =
        vk::PushDescriptorSetInfoKHR::default().stage_flags(vk::ShaderStageFlags::ALL).descriptor_writes(&writes);
    info.p_next = ptr::from_ref(&chained).cast();
    device.push2(&info);
    args!(device, c"vkCmdPushDescriptorSet2", Args::Push2 { info: down, writes });
    assert_eq!((down.value.layout, down.chain[0].at), (vk::PipelineLayout::null(), ptr::from_ref(&chained) as usize));
    assert_eq!(writes.items[0].images[0].sampler, garbage);
    assert!(scene.is_variant(writes.items[1].images[0].sampler));
    assert_eq!(scene.unresolved("immutable sampler").len(), 1, "the chained layout has it");

    // A template that cannot be copied: what has to change follows in a push of its own, with the same layout.
    let odd = vk::DescriptorType::from_raw(0x7fff_0009);
    let entries =
        [entry(8, 0, 1, odd, 0, 0), entry(0, 0, 1, COMBINED, 40, INFO), entry(1, 0, 1, COMBINED, 40 + INFO, INFO)];
    #[repr(C)]
    struct Data {
        odd: [u8; 40],
        pairs: [vk::DescriptorImageInfo; 2],
    }
    let data = Data { odd: [7; 40], pairs: infos };
    let template = device.push_template(&entries);
    let mut info =
        vk::PushDescriptorSetWithTemplateInfoKHR { p_data: ptr::from_ref(&data).cast(), ..Default::default() }
            .descriptor_update_template(template);
    info.p_next = ptr::from_ref(&chained).cast();
    call!(device.push_with_template2(device.commands, &info));
    let calls = device.driver.calls();
    let names: Vec<_> = calls.iter().map(|call| call.command).collect();
    let expected = [c"vkCmdPushDescriptorSetWithTemplate2", c"vkCmdPushDescriptorSet2"];
    assert_eq!(names[names.len() - 2..], expected, "{names:?}");
    let Args::Push2 { info: down, writes } = &calls[calls.len() - 1].args else { panic!("{calls:?}") };
    assert_eq!((down.value.layout, down.chain[0].at), (vk::PipelineLayout::null(), ptr::from_ref(&chained) as usize));
    assert_eq!(down.value.stage_flags, vk::ShaderStageFlags::COMPUTE, "of the template's bind point");
    scene.check_patches(&writes.items, None, &[(1, 0)]);
}

/// VK_NV_per_stage_descriptor_set: a binding number may stand for one binding in each stage.
#[test]
fn a_binding_number_may_stand_for_several_bindings() {
    let scene = Scene::on(Device::usual());
    let device = &scene.device;
    let immutable = [scene.sampler];
    let (vertex, fragment) = (vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT);
    let dynamic = |stage| binding(3, COMBINED, 1).stage_flags(stage);
    let fixed = |stage| binding(3, COMBINED, 1).stage_flags(stage).immutable_samplers(&immutable);
    let other = binding(1, COMBINED, 1);
    for (bindings, changes) in [
        (vec![dynamic(vertex), fixed(fragment), other], true),
        (vec![fixed(vertex), other, dynamic(fragment)], true),
        (vec![other, fixed(vertex), fixed(fragment)], false),
    ] {
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::PER_STAGE_NV)
            .bindings(&bindings);
        let layout = device.try_layout(&info).expect("the layout is created");
        let set = device.sets(device.pool(), &[layout])[0];
        let infos = [pair(scene.sampler, scene.illegal)];
        device.driver.calls();
        device.update(&[combined(set, 3, &infos)], &[]);
        args!(device, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
        assert_eq!(scene.is_variant(writes.items[0].images[0].sampler), changes, "{bindings:?}");
    }
}

#[test]
fn templates_for_sets_find_the_immutable_samplers_of_their_layout() {
    let scene = Scene::traced();
    let device = &scene.device;
    let immutable = [device.nearest(), scene.sampler];
    let layout = device.layout(&[binding(0, COMBINED, 2).immutable_samplers(&immutable), binding(1, COMBINED, 1)]);
    let template = device.template(layout, &[entry(0, 1, 1, COMBINED, 0, INFO), entry(1, 0, 1, COMBINED, INFO, INFO)]);
    let set = device.sets(device.pool(), &[layout])[0];
    call!(device.destroy_layout(device.raw, layout, allocator()));
    let garbage = vk::Sampler::from_raw(u64::MAX);
    let data = [pair(garbage, scene.illegal), pair(scene.sampler, scene.illegal)];
    device.driver.calls();
    device.update_with_template(set, template, data.as_ptr().cast());
    args!(device, c"vkUpdateDescriptorSetWithTemplate", Args::Template { elements, .. });
    assert_eq!(elements[0].image.unwrap().sampler, garbage);
    assert!(scene.is_variant(elements[1].image.unwrap().sampler));
    assert_eq!(scene.unresolved("immutable sampler").len(), 1);
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
        let scene = Scene::on(if let Some(level) = level { builder.traced(level) } else { builder }.device());
        let device = &scene.device;
        let records = || if level.is_some() { scene.unresolved("immutable sampler").len() } else { 0 };
        let immutable = [device.nearest(), scene.sampler];
        let layout = device.layout(&[binding(3, COMBINED, 2).immutable_samplers(&immutable)]);
        let (pool, pipeline) = (device.pool(), device.pipeline_layout(&[layout]));
        let set = device.sets(pool, &[layout])[0];
        let elements = [entry(3, 0, 2, COMBINED, 0, INFO)];
        let (for_sets, for_pushes) = (device.template(layout, &elements), device.push_template(&elements));
        // The samplers of a write are ignored.
        let infos = |view| [pair(scene.sampler, scene.legal), pair(vk::Sampler::null(), view)];
        type Write<'a> = &'a dyn Fn(vk::ImageView);
        let update: Write<'_> = &|view| device.update(&[combined(set, 3, &infos(view))], &[]);
        let template: Write<'_> = &|view| device.update_with_template(set, for_sets, infos(view).as_ptr().cast());
        let push: Write<'_> = &|view| device.push(pipeline, 0, &[combined(set, 3, &infos(view))]);
        let push2: Write<'_> = &|view| {
            let (infos, info) = (infos(view), vk::PushDescriptorSetInfoKHR::default().layout(pipeline));
            device.push2(&info.descriptor_writes(&[combined(set, 3, &infos)]));
        };
        let push_template: Write<'_> = &|view| {
            let infos = infos(view);
            call!(device.push_with_template(device.commands, for_pushes, pipeline, 0, infos.as_ptr().cast()));
        };
        let push_template2: Write<'_> = &|view| {
            let infos = infos(view);
            let info = vk::PushDescriptorSetWithTemplateInfoKHR { p_data: infos.as_ptr().cast(), ..Default::default() };
            let info = info.descriptor_update_template(for_pushes).layout(pipeline);
            call!(device.push_with_template2(device.commands, &info));
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
            let view = device.view(format);
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
    let scene = Scene::traced();
    let device = &scene.device;
    let pool = device.pool();
    let view = device.view(vk::Format::R32_UINT);
    let write = |info: &vk::SamplerCreateInfo<'_>| {
        let sampler = [device.sampler(info)];
        let layout = device.layout(&[binding(0, COMBINED, 1).immutable_samplers(&sampler)]);
        let set = device.sets(pool, &[layout])[0];
        (0..3).for_each(|_| device.update(&[combined(set, 0, &[pair(vk::Sampler::null(), view)])], &[]));
        let sets = [set];
        assert_eq!(call!(device.free_sets(device.raw, pool, 1, sets.as_ptr())), SUCCESS);
        call!(device.destroy_layout(device.raw, layout, allocator()));
        device.destroy_sampler(sampler[0]);
    };
    let say = |info: &vk::SamplerCreateInfo<'_>| {
        write(info);
        scene.unresolved("immutable sampler").len()
    };
    let other = vk::SamplerCreateInfo { max_lod: 3.0, ..linear_info() };
    let legal = vk::SamplerCreateInfo { mag_filter: vk::Filter::NEAREST, min_filter: vk::Filter::NEAREST, ..other };
    assert_eq!(say(&legal), 0);
    assert_eq!(say(&linear_info()), 1);
    assert_eq!(say(&other), 2, "another state");
    assert_eq!(say(&linear_info()), 2, "the same state once more");
    // More states than are kept without a sampler: places get others.
    for n in 0..600_u16 {
        write(&vk::SamplerCreateInfo { max_lod: 4.0 + f32::from(n), ..linear_info() });
    }
    assert_eq!(scene.unresolved("immutable sampler").len(), 2 + 600);
}

#[test]
fn sets_are_forgotten_with_their_pool() {
    let scene = Scene::on(InstanceBuilder::new().driver(|driver| driver.reuse = crate::driver::Reuse::AtOnce).device());
    let device = &scene.device;
    let immutable = [scene.sampler];
    let with = device.layout(&[binding(0, COMBINED, 1).immutable_samplers(&immutable)]);
    let without = device.layout(&[binding(0, COMBINED, 1)]);
    let infos = [pair(scene.sampler, scene.illegal)];
    let changes = |set| {
        device.driver.calls();
        device.update(&[combined(set, 0, &infos)], &[]);
        args!(device, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
        scene.is_variant(writes.items[0].images[0].sampler)
    };
    let mut pool = device.pool();
    for how in 0..3 {
        let set = device.sets(pool, &[with])[0];
        assert!(!changes(set));
        match how {
            0 => {
                let sets = [vk::DescriptorSet::null(), set];
                assert_eq!(call!(device.free_sets(device.raw, pool, 2, sets.as_ptr())), SUCCESS);
            }
            1 => {
                let flags = vk::DescriptorPoolResetFlags::empty();
                assert_eq!(call!(device.reset_pool(device.raw, pool, flags)), SUCCESS);
            }
            _ => {
                call!(device.destroy_pool(device.raw, pool, allocator()));
                pool = device.pool();
            }
        }
        let again = device.sets(pool, &[without])[0];
        assert_eq!(again, set, "the driver hands the handle out again");
        assert!(changes(again));
        let flags = vk::DescriptorPoolResetFlags::empty();
        assert_eq!(call!(device.reset_pool(device.raw, pool, flags)), SUCCESS);
    }
}

#[test]
fn unknown_and_null_handles_are_no_conflict() {
    let scene = Scene::on(Device::usual());
    let device = &scene.device;
    let set = device.plain_set();
    let (null, stranger) = (vk::ImageView::null(), vk::ImageView::from_raw(0x1234_5678));
    let infos = [
        pair(scene.sampler, null),
        pair(scene.sampler, stranger),
        pair(vk::Sampler::null(), scene.illegal),
        pair(vk::Sampler::from_raw(0x1234_5678), scene.illegal),
        pair(vk::Sampler::from_raw(u64::MAX), vk::ImageView::from_raw(u64::MAX)),
    ];
    let writes = [combined(set, 0, &infos)];
    device.driver.calls();
    device.update(&writes, &[]);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    assert_eq!(down.at, writes.as_ptr() as usize);
}

#[test]
fn what_cannot_be_seen_is_said_once() {
    let scene = Scene::on(InstanceBuilder::new().set("separate", "base").traced("decisions").device());
    let device = &scene.device;
    let set = device.plain_set();
    device.driver.calls();
    let mut mapped = ptr::null_mut();
    for _ in 0..3 {
        call!(device.get_host_mapping(device.raw, set, &mut mapped));
        let infos = [pair(scene.sampler, vk::ImageView::from_raw(u64::MAX))];
        let write = combined(set, 0, &infos).descriptor_type(vk::DescriptorType::SAMPLER);
        device.update(&[write], &[]);
    }
    let calls = device.driver.calls();
    let Args::Other(arguments) = &calls[0].args else { panic!("{calls:?}") };
    assert_eq!(*arguments, [set.as_raw(), &raw mut mapped as u64]);
    assert_eq!(scene.unresolved("host-mapped descriptor set").len(), 1);
    assert_eq!(scene.unresolved("separate samplers").len(), 1);
}

#[test]
fn core_1_4_commands_need_no_extension() {
    let version = vk::make_api_version(0, 1, 4, 0);
    let mut builder = InstanceBuilder::new().driver(|driver| driver.api_version = version);
    builder.api_version = version;
    let instance = builder.instance();
    let scene = Scene::on(instance.device(&DeviceInfo::default()));
    let device = &scene.device;
    assert!(device.resolve(c"vkCmdPushDescriptorSetKHR").is_none());
    let infos = [pair(scene.sampler, scene.illegal)];
    let writes = [combined(vk::DescriptorSet::null(), 0, &infos)];
    let layout = vk::PipelineLayout::from_raw(0x77);
    device.push(layout, 0, &writes);
    args!(device, c"vkCmdPushDescriptorSet", Args::Push { writes: down, .. });
    assert!(scene.is_variant(down.items[0].images[0].sampler));
    device.push2(&vk::PushDescriptorSetInfoKHR::default().layout(layout).descriptor_writes(&writes));
    args!(device, c"vkCmdPushDescriptorSet2", Args::Push2 { writes: down, .. });
    assert!(scene.is_variant(down.items[0].images[0].sampler));
    let template = device.push_template(&[entry(0, 0, 1, COMBINED, 0, INFO)]);
    let at = infos.as_ptr().cast();
    call!(device.push_with_template(device.commands, template, layout, 0, at));
    args!(device, c"vkCmdPushDescriptorSetWithTemplate", Args::Template { elements, .. });
    assert!(scene.is_variant(elements[0].image.unwrap().sampler));
    let info = vk::PushDescriptorSetWithTemplateInfoKHR { p_data: at, ..Default::default() };
    call!(device.push_with_template2(device.commands, &info.descriptor_update_template(template)));
    args!(device, c"vkCmdPushDescriptorSetWithTemplate2", Args::Template2 { elements, .. });
    assert!(scene.is_variant(elements[0].image.unwrap().sampler));
}

#[test]
fn a_sampler_of_a_descriptor_buffer_layout_is_the_same_everywhere() {
    // Descriptors of immutable samplers are written by the application there, with parameters identical to the layout's.
    let scene = Scene::traced();
    let device = &scene.device;
    let (pinned, free) = (device.linear(), device.linear());
    let immutable = [pinned];
    let bindings = [binding(0, COMBINED, 1).immutable_samplers(&immutable)];
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT)
        .bindings(&bindings);
    device.try_layout(&info).expect("the layout is created");
    let get = |sampler, view| {
        let image = pair(sampler, view);
        let data = vk::DescriptorDataEXT { p_combined_image_sampler: &image };
        let info = vk::DescriptorGetInfoEXT { ty: COMBINED, data, ..Default::default() };
        device.driver.calls();
        call!(device.get_descriptor(device.raw, &info, 0, ptr::null_mut()));
        args!(device, c"vkGetDescriptorEXT", Args::GetDescriptor { image, .. });
        image.unwrap().1.sampler
    };
    // In either order, although both have one state.
    assert_eq!(get(pinned, scene.illegal), pinned);
    assert!(scene.is_variant(get(free, scene.illegal)), "another sampler of the same state is repaired");
    let other = device.view(vk::Format::R32_SFLOAT);
    assert!(scene.is_variant(get(free, other)));
    assert_eq!(get(pinned, other), pinned);
}

#[test]
fn the_last_element_for_a_descriptor_stays_the_last() {
    // Two entries for one descriptor, the first of which has to change, in data that is not copied because elements share bytes.
    let device = Device::usual();
    let bindings = [binding(0, COMBINED, 1), binding(1, vk::DescriptorType::SAMPLER, 1)];
    let layout = device.layout(&bindings);
    let set = device.sets(device.pool(), &[layout])[0];
    let entries = [
        entry(0, 0, 1, COMBINED, 0, INFO),
        entry(0, 0, 1, COMBINED, INFO, INFO),
        entry(1, 0, 1, vk::DescriptorType::SAMPLER, INFO, INFO),
    ];
    let template = device.template(layout, &entries);
    let (sampler, bad, good) = (device.linear(), device.view(UNFILTERED), device.view(FILTERED));
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
