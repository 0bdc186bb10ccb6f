//! Which pointers go down: the application's own while nothing has to change, else copies in which nothing but the
//! sampler or the filter differs.

use std::ffi::c_void;
use std::ptr;

use ash::vk::{self, Handle};

use crate::args;
use crate::driver::{Args, Array, Write};
use crate::loader::*;

/// A node of a type that the layer does not know.
fn unknown() -> vk::BaseInStructure<'static> {
    vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0001), ..Default::default() }
}

/// The members of an image info, which has padding.
fn members(info: &vk::DescriptorImageInfo) -> (u64, u64, i32) {
    (info.sampler.as_raw(), info.image_view.as_raw(), info.image_layout.as_raw())
}

/// Every member of a write but `pImageInfo`.
fn rest(write: &vk::WriteDescriptorSet<'_>) -> (i32, usize, u64, [u32; 3], i32, [usize; 2]) {
    (
        write.s_type.as_raw(),
        write.p_next as usize,
        write.dst_set.as_raw(),
        [write.dst_binding, write.dst_array_element, write.descriptor_count],
        write.descriptor_type.as_raw(),
        [write.p_buffer_info as usize, write.p_texel_buffer_view as usize],
    )
}

/// The filters of a sampler as the driver has it.
fn filters(device: &Device, sampler: vk::Sampler) -> [Filter; 2] {
    let model = device.model(sampler.as_raw());
    [model.mag_filter, model.min_filter]
}

impl Pairs {
    /// Checks that the writes went down as they are.
    #[track_caller]
    fn untouched(&self, writes: &Array<Write>, given: &[vk::WriteDescriptorSet<'_>]) {
        assert_eq!(writes.at, given.as_ptr() as usize);
        assert!(self.device.driver.variants().is_empty());
    }

    /// Checks that a copy went down in which the pairs with the unfilterable view have another sampler and nothing else
    /// differs.
    #[track_caller]
    fn repaired(&self, writes: &Array<Write>, given: &[vk::WriteDescriptorSet<'_>]) {
        assert_ne!(writes.at, given.as_ptr() as usize);
        assert_eq!(writes.items.len(), given.len());
        for (down, given) in writes.items.iter().zip(given) {
            assert_eq!(rest(&down.raw), rest(given));
            if given.descriptor_type != COMBINED {
                assert_eq!(down.raw.p_image_info, given.p_image_info);
                continue;
            }
            // SAFETY: the infos of these tests are live locals.
            let infos = unsafe { std::slice::from_raw_parts(given.p_image_info, given.descriptor_count as usize) };
            let conflicts = infos.iter().any(|info| info.image_view == self.illegal);
            assert_eq!(conflicts, down.raw.p_image_info != given.p_image_info, "only what changes is copied");
            for (down, given) in down.images.iter().zip(infos) {
                if given.image_view == self.illegal {
                    assert_ne!(down.sampler, given.sampler);
                    assert_eq!(filters(&self.device, down.sampler), [Filter::NEAREST; 2]);
                } else {
                    assert_eq!(down.sampler, given.sampler);
                }
                assert_eq!(members(&vk::DescriptorImageInfo { sampler: given.sampler, ..*down }), members(given));
            }
        }
    }

    /// Writes of every kind, of which the ones at 1 and 3 conflict if `view` cannot be filtered.
    fn writes<'a>(
        &self,
        set: vk::DescriptorSet,
        first: &'a [vk::DescriptorImageInfo],
        second: &'a [vk::DescriptorImageInfo],
        legal: &'a [vk::DescriptorImageInfo],
        node: &'a vk::BaseInStructure<'static>,
    ) -> [vk::WriteDescriptorSet<'a>; 5] {
        let buffer = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(7).descriptor_type(Ty::UNIFORM_BUFFER);
        // What a type ignores may be anything.
        let buffer = vk::WriteDescriptorSet {
            p_image_info: crate::pages::dangling(),
            p_buffer_info: legal.as_ptr().cast(),
            descriptor_count: 1,
            ..buffer
        };
        let odd = vk::WriteDescriptorSet {
            p_next: ptr::from_ref(node).cast(),
            p_buffer_info: crate::pages::dangling(),
            p_texel_buffer_view: crate::pages::dangling(),
            dst_array_element: 5,
            ..combined(set, 2, first)
        };
        [combined(set, 0, legal), odd, buffer, combined(set, 3, second), combined(set, 4, legal)]
    }
}

#[test]
fn a_legal_sampler_goes_down_with_everything_given() {
    let device = Device::usual();
    let node = unknown();
    let mut reduction = vk::SamplerReductionModeCreateInfo::default();
    reduction.p_next = ptr::from_ref(&node).cast();
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&reduction).cast(), ..linear_info() };
    let mut out = vk::Sampler::null();
    assert_eq!(call!(device.create_sampler(device.raw, &info, allocator(), &mut out)), SUCCESS);
    args!(device, c"vkCreateSampler", Args::CreateSampler { info: down, allocator: given, out: at });
    assert_eq!(down.at, ptr::from_ref(&info) as usize);
    assert_eq!(
        down.chain.iter().map(|node| node.at).collect::<Vec<_>>(),
        [ptr::from_ref(&reduction) as usize, ptr::from_ref(&node) as usize]
    );
    assert_eq!((given, at), (allocator() as usize, &raw const out as usize));
    // Destruction too, a null one included.
    device.destroy_sampler(out);
    args!(device, c"vkDestroySampler", Args::Destroy { handle, allocator: given });
    assert_eq!((handle, given), (out.as_raw(), allocator() as usize));
    call!(device.destroy_sampler(device.raw, vk::Sampler::null(), ptr::null()));
    args!(device, c"vkDestroySampler", Args::Destroy { handle, allocator: given });
    assert_eq!((handle, given), (0, 0));
}

#[test]
fn an_illegal_sampler_differs_in_the_illegal_members_only() {
    let device = Device::usual();
    let node = unknown();
    let info = vk::SamplerCreateInfo {
        p_next: ptr::from_ref(&node).cast(),
        mip_lod_bias: 100.0,
        anisotropy_enable: 1,
        max_anisotropy: 1000.0,
        min_lod: 3.0,
        max_lod: 7.5,
        compare_op: vk::CompareOp::GREATER,
        border_color: vk::BorderColor::INT_OPAQUE_WHITE,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        ..linear_info()
    };
    let mut out = vk::Sampler::null();
    assert_eq!(call!(device.create_sampler(device.raw, &info, allocator(), &mut out)), SUCCESS);
    args!(device, c"vkCreateSampler", Args::CreateSampler { info: down, allocator: given, out: at });
    assert_ne!(down.at, ptr::from_ref(&info) as usize);
    assert_eq!((given, at), (allocator() as usize, &raw const out as usize));
    let v = down.value;
    assert_eq!((v.mip_lod_bias, v.max_anisotropy), (4.0, 16.0));
    let expected = vk::SamplerCreateInfo { mip_lod_bias: 4.0, max_anisotropy: 16.0, ..info };
    assert_eq!(format!("{v:?}"), format!("{expected:?}"));
    assert_eq!(v.p_next, info.p_next);
}

#[test]
fn legal_writes_and_copies_go_down_as_they_are() {
    let scene = Pairs::usual();
    let set = scene.plain_set();
    let (legal, node) = ([pair(scene.sampler, scene.legal); 3], unknown());
    let writes = scene.writes(set, &legal, &legal, &legal, &node);
    let copies = [vk::CopyDescriptorSet::default().src_set(set).dst_set(set).dst_binding(1).descriptor_count(1)];
    scene.driver.calls();
    scene.update(&writes, &copies);
    args!(scene.device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
    scene.untouched(&down, &writes);
    assert_eq!(down_copies.at, copies.as_ptr() as usize);
    // Copies alone, and nothing at all.
    scene.update(&[], &copies);
    args!(scene.device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
    assert_eq!((down.items.len(), down_copies.at), (0, copies.as_ptr() as usize));
    let dangling = crate::pages::dangling();
    call!(scene.update(scene.raw, 0, dangling, 0, ptr::null()));
    args!(scene.device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
    assert_eq!((down.at, down_copies.at), (dangling as usize, 0));
}

#[test]
fn illegal_writes_are_copied_with_other_samplers() {
    let scene = Pairs::usual();
    let set = scene.plain_set();
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let (first, second, legal, node) = ([l, i, l], [i; 40], [l; 2], unknown());
    let writes = scene.writes(set, &first, &second, &legal, &node);
    let before = format!("{writes:?} {first:?} {second:?}");
    let copies = [vk::CopyDescriptorSet::default().src_set(set).dst_set(set).dst_binding(1).descriptor_count(1)];
    scene.driver.calls();
    // Twice: the second time every choice is known.
    for _ in 0..2 {
        scene.update(&writes, &copies);
        args!(scene.device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
        scene.repaired(&down, &writes);
        assert_eq!(down_copies.at, copies.as_ptr() as usize);
    }
    assert_eq!(before, format!("{writes:?} {first:?} {second:?}"), "the application's arrays stay as they are");
    assert_eq!(scene.driver.variants().len(), 1);
}

#[test]
fn pushes_go_down_as_given_or_copied() {
    let scene = Pairs::usual();
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let (legal, mixed, node) = ([l; 2], [i, l], unknown());
    // The set of a push is ignored, so it is garbage.
    let garbage = vk::DescriptorSet::from_raw(u64::MAX);
    let good = scene.writes(garbage, &legal, &legal, &legal, &node);
    let bad = scene.writes(garbage, &mixed, &mixed, &legal, &node);
    let layout = vk::PipelineLayout::from_raw(0x77);
    scene.push(layout, 3, &good);
    args!(scene.device, c"vkCmdPushDescriptorSet", Args::Push { layout: given, set, writes });
    assert_eq!((given, set), (0x77, 3));
    scene.untouched(&writes, &good);

    let info = vk::PushDescriptorSetInfoKHR {
        p_next: ptr::from_ref(&node).cast(),
        stage_flags: Stage::FRAGMENT,
        layout,
        set: 2,
        ..vk::PushDescriptorSetInfoKHR::default().descriptor_writes(&good)
    };
    scene.push2(&info);
    args!(scene.device, c"vkCmdPushDescriptorSet2", Args::Push2 { info: down, writes });
    assert_eq!(down.at, ptr::from_ref(&info) as usize);
    scene.untouched(&writes, &good);

    scene.push(layout, 3, &bad);
    args!(scene.device, c"vkCmdPushDescriptorSet", Args::Push { layout: given, set, writes });
    assert_eq!((given, set), (0x77, 3));
    scene.repaired(&writes, &bad);

    let info = vk::PushDescriptorSetInfoKHR { p_descriptor_writes: bad.as_ptr(), ..info };
    scene.push2(&info);
    args!(scene.device, c"vkCmdPushDescriptorSet2", Args::Push2 { info: down, writes });
    assert_ne!(down.at, ptr::from_ref(&info) as usize);
    scene.repaired(&writes, &bad);
    assert_eq!(down.value.p_next, info.p_next);
    let members =
        |i: &vk::PushDescriptorSetInfoKHR<'_>| (i.s_type, i.stage_flags, i.layout, i.set, i.descriptor_write_count);
    assert_eq!(members(&down.value), members(&info));
}

/// A template's data: what the application puts in a structure of its own.
#[repr(C)]
#[derive(Clone, Copy)]
struct Data {
    first: [vk::DescriptorImageInfo; 2],
    buffer: vk::DescriptorBufferInfo,
    texel: vk::BufferView,
    inline: [u8; 13],
    second: vk::DescriptorImageInfo,
}

impl Data {
    fn new(first: [vk::DescriptorImageInfo; 2], second: vk::DescriptorImageInfo) -> Self {
        let buffer = vk::DescriptorBufferInfo { buffer: vk::Buffer::from_raw(0xb0f), offset: 3, range: 9 };
        Self { first, buffer, texel: vk::BufferView::from_raw(0x7e8), inline: *b"inline block!", second }
    }

    fn entries() -> [vk::DescriptorUpdateTemplateEntry; 5] {
        use std::mem::offset_of;
        let of = |binding, count, ty, offset| entry(binding, 0, count, ty, offset, INFO);
        [
            of(0, 2, COMBINED, offset_of!(Data, first)),
            of(1, 1, Ty::STORAGE_BUFFER, offset_of!(Data, buffer)),
            of(2, 1, Ty::UNIFORM_TEXEL_BUFFER, offset_of!(Data, texel)),
            of(3, 13, Ty::INLINE_UNIFORM_BLOCK, offset_of!(Data, inline)),
            of(4, 1, COMBINED, offset_of!(Data, second)),
        ]
    }
}

#[test]
fn template_data_goes_down_as_given_or_copied() {
    let scene = Pairs::usual();
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let (good, bad) = (Data::new([l; 2], l), Data::new([l, i], i));
    let layout = scene.layout(&[binding(0, COMBINED, 2)]);
    let for_sets = scene.template(layout, &Data::entries());
    let for_pushes = scene.push_template(&Data::entries());
    let (set, pipeline, node) = (scene.plain_set(), vk::PipelineLayout::from_raw(0x77), unknown());
    scene.driver.calls();

    let elements_of = |path: usize, data: &Data| {
        let at: *const c_void = ptr::from_ref(data).cast();
        let (down, elements) = match path {
            0 => {
                scene.update_with_template(set, for_sets, at);
                args!(scene, c"vkUpdateDescriptorSetWithTemplate", Args::Template { target, template, data, elements });
                assert_eq!((target, template), (set.as_raw(), for_sets.as_raw()));
                (data, elements)
            }
            1 => {
                call!(scene.push_with_template(scene.commands, for_pushes, pipeline, 2, at));
                args!(
                    scene,
                    c"vkCmdPushDescriptorSetWithTemplate",
                    Args::Template { target, template, data, elements }
                );
                assert_eq!((target, template), (2, for_pushes.as_raw()));
                (data, elements)
            }
            _ => {
                let info = vk::PushDescriptorSetWithTemplateInfoKHR {
                    p_next: ptr::from_ref(&node).cast(),
                    p_data: at,
                    ..vk::PushDescriptorSetWithTemplateInfoKHR::default()
                        .descriptor_update_template(for_pushes)
                        .layout(pipeline)
                        .set(2)
                };
                call!(scene.push_with_template2(scene.commands, &info));
                args!(scene, c"vkCmdPushDescriptorSetWithTemplate2", Args::Template2 { info: down, elements });
                let d = down.value;
                assert_eq!(d.p_next, info.p_next);
                assert_eq!((d.descriptor_update_template, d.layout, d.set), (for_pushes, pipeline, 2));
                assert_eq!(down.at == ptr::from_ref(&info) as usize, d.p_data == at, "copied only to be changed");
                (d.p_data as usize, elements)
            }
        };
        (down, at as usize, elements)
    };
    for path in 0..3 {
        let (down, given, _) = elements_of(path, &good);
        assert_eq!(down, given);
    }
    assert!(scene.driver.variants().is_empty());
    for path in 0..3 {
        let (_, _, expected) = elements_of(path, &good);
        let (down, given, elements) = elements_of(path, &bad);
        assert_ne!(down, given);
        assert_eq!(down % 16, given % 16, "what was aligned stays aligned");
        assert_eq!(elements.len(), 6);
        for (element, good) in elements.iter().zip(&expected) {
            let entry = Data::entries()[element.entry];
            assert_eq!(element.at - down, entry.offset + element.index * INFO, "at its offset");
            assert_eq!(element.bytes, good.bytes);
            match (element.image, good.image) {
                (Some(image), Some(_)) if matches!((element.entry, element.index), (0, 1) | (4, 0)) => {
                    assert_eq!(filters(&scene, image.sampler), [Filter::NEAREST; 2]);
                    assert_eq!(members(&vk::DescriptorImageInfo { sampler: scene.sampler, ..image }), members(&i));
                }
                (image, expected) => {
                    assert_eq!(image.as_ref().map(members), expected.as_ref().map(members));
                }
            }
        }
    }
}

#[test]
fn descriptor_buffers_and_view_handles_get_a_copy_with_another_sampler() {
    let scene = Pairs::usual();
    let node = unknown();
    for (view, legal) in [(scene.legal, true), (scene.illegal, false)] {
        let image = pair(scene.sampler, view);
        let info = vk::DescriptorGetInfoEXT {
            p_next: ptr::from_ref(&node).cast(),
            ty: COMBINED,
            data: vk::DescriptorDataEXT { p_combined_image_sampler: &image },
            ..Default::default()
        };
        let mut out = [0_u64; 2];
        call!(scene.get_descriptor(scene.raw, &info, 16, out.as_mut_ptr().cast()));
        args!(scene, c"vkGetDescriptorEXT", Args::GetDescriptor { info: down, image: found, .. });
        let (at, found) = found.expect("a combined image sampler");
        assert_eq!(down.at == ptr::from_ref(&info) as usize, legal);
        assert_eq!(at == ptr::from_ref(&image) as usize, legal);
        assert_eq!((down.value.ty, down.value.p_next), (info.ty, info.p_next));
        assert_eq!(filters(&scene, found.sampler)[0] == Filter::LINEAR, legal);
        assert_eq!(out[0], found.sampler.as_raw(), "the descriptor is the driver's");
        assert_eq!(members(&vk::DescriptorImageInfo { sampler: scene.sampler, ..found }), members(&image));

        let info = vk::ImageViewHandleInfoNVX {
            p_next: ptr::from_ref(&node).cast(),
            image_view: view,
            descriptor_type: COMBINED,
            sampler: scene.sampler,
            ..Default::default()
        };
        // SAFETY: a valid structure.
        let handles = [
            u64::from(call!(scene.get_view_handle(scene.raw, &info))),
            call!(scene.get_view_handle64(scene.raw, &info)),
        ];
        for (call, handle) in scene.driver.calls().into_iter().zip(handles) {
            let Args::ViewHandle { info: down } = call.args else { panic!("{call:?}") };
            assert_eq!(down.at == ptr::from_ref(&info) as usize, legal);
            let d = down.value;
            assert_eq!((d.p_next, d.image_view, d.descriptor_type), (info.p_next, view, info.descriptor_type));
            assert_eq!(filters(&scene, d.sampler)[0] == Filter::LINEAR, legal);
            assert_eq!(handle as u32, d.sampler.as_raw() as u32, "the handle is the driver's");
        }
    }
}

#[test]
fn other_descriptor_types_go_down_as_given() {
    let scene = Pairs::usual();
    let image = pair(vk::Sampler::from_raw(u64::MAX), scene.illegal);
    for ty in [IMAGE, Ty::STORAGE_IMAGE] {
        let data = vk::DescriptorDataEXT { p_sampled_image: &image };
        assert!(scene.described(ty, data).0, "{ty:?}");
    }
    // In the union an acceleration structure is an integer, and a null pointer is a null descriptor.
    for (ty, data) in [
        (Ty::ACCELERATION_STRUCTURE_KHR, vk::DescriptorDataEXT { acceleration_structure: 3 }),
        (Ty::UNIFORM_BUFFER, vk::DescriptorDataEXT { p_uniform_buffer: ptr::null() }),
    ] {
        assert!(scene.described(ty, data).0, "{ty:?}");
    }
    let sampler = vk::DescriptorDataEXT { p_sampler: &scene.sampler };
    assert!(scene.described(SAMPLER, sampler).0, "a sampler");
    let info = vk::ImageViewHandleInfoNVX {
        image_view: scene.illegal,
        descriptor_type: IMAGE,
        sampler: scene.sampler,
        ..Default::default()
    };
    call!(scene.get_view_handle(scene.raw, &info));
    assert!(scene.took(c"vkGetImageViewHandleNVX", &info));
}

#[test]
fn a_blit_differs_in_the_filter_only() {
    let device = Device::usual();
    let node = unknown();
    let target = device.image(FILTERED);
    for (format, given, expected) in [
        (FILTERED, Filter::LINEAR, Filter::LINEAR),
        (INTEGERS, Filter::NEAREST, Filter::NEAREST),
        (INTEGERS, Filter::LINEAR, Filter::NEAREST),
        (DEPTH, Filter::LINEAR, Filter::NEAREST),
    ] {
        let source = device.image(format);
        let layout = vk::ImageLayout::GENERAL;
        let regions = [vk::ImageBlit::default(); 2];
        device.driver.calls();
        call!(device.blit(device.commands, source, layout, target, layout, 2, regions.as_ptr(), given));
        args!(device, c"vkCmdBlitImage", Args::Blit { source: from, filter, regions: at });
        assert_eq!((from, filter, at), (source.as_raw(), expected, regions.as_ptr() as usize));

        let regions = [vk::ImageBlit2::default(); 2];
        let info = vk::BlitImageInfo2 { p_next: ptr::from_ref(&node).cast(), ..Default::default() }
            .src_image(source)
            .src_image_layout(layout)
            .dst_image(target)
            .dst_image_layout(layout)
            .regions(&regions)
            .filter(given);
        call!(device.blit2(device.commands, &info));
        args!(device, c"vkCmdBlitImage2", Args::Blit2 { info: down });
        assert_eq!(down.at == ptr::from_ref(&info) as usize, given == expected);
        let expected = vk::BlitImageInfo2 { filter: expected, ..info };
        assert_eq!(format!("{:?}", down.value), format!("{expected:?}"));
    }
}

#[test]
fn objects_are_created_and_destroyed_with_what_was_given() {
    let device = Device::usual();
    let image = device.image(FILTERED);
    let layouts = [device.layout(&[])];
    macro_rules! passes {
        ($create:ident $create_name:literal $destroy:ident $destroy_name:literal $handle:ident = $info:expr) => {{
            let info = $info;
            let mut out = vk::$handle::null();
            device.driver.calls();
            assert_eq!(call!(device.$create(device.raw, &info, allocator(), &mut out)), SUCCESS);
            args!(device, $create_name, Args::Create { info: down, allocator: given, out: at });
            assert_eq!((down, given), (ptr::from_ref(&info) as usize, allocator() as usize));
            assert_eq!(at, &raw const out as usize);
            call!(device.$destroy(device.raw, out, allocator()));
            args!(device, $destroy_name, Args::Destroy { handle, allocator: given });
            assert_eq!((handle, given), (out.as_raw(), allocator() as usize));
            // A null handle is legal and passed on.
            call!(device.$destroy(device.raw, vk::$handle::null(), ptr::null()));
            args!(device, $destroy_name, Args::Destroy { handle, allocator: given });
            assert_eq!((handle, given), (0, 0));
        }};
    }
    let template = [entry(0, 0, 1, COMBINED, 0, 0)];
    passes!(create_image c"vkCreateImage" destroy_image c"vkDestroyImage" Image = image_info(FILTERED));
    passes!(create_view c"vkCreateImageView" destroy_view c"vkDestroyImageView" ImageView = view_info(image, FILTERED));
    passes!(create_layout c"vkCreateDescriptorSetLayout" destroy_layout c"vkDestroyDescriptorSetLayout"
        DescriptorSetLayout = vk::DescriptorSetLayoutCreateInfo::default());
    passes!(create_pipeline_layout c"vkCreatePipelineLayout" destroy_pipeline_layout c"vkDestroyPipelineLayout"
        PipelineLayout = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts));
    passes!(create_pool c"vkCreateDescriptorPool" destroy_pool c"vkDestroyDescriptorPool"
        DescriptorPool = vk::DescriptorPoolCreateInfo::default());
    passes!(create_template c"vkCreateDescriptorUpdateTemplate" destroy_template c"vkDestroyDescriptorUpdateTemplate"
        DescriptorUpdateTemplate = vk::DescriptorUpdateTemplateCreateInfo::default().descriptor_update_entries(&template));
    passes!(create_swapchain c"vkCreateSwapchainKHR" destroy_swapchain c"vkDestroySwapchainKHR"
        SwapchainKHR = vk::SwapchainCreateInfoKHR::default());
}

#[test]
fn an_audit_hands_down_the_original_everywhere() {
    let scene = InstanceBuilder::new().set("mode", "audit").traced("decisions").device();
    let scene = Pairs::on(scene);
    let set = scene.plain_set();
    let info = vk::SamplerCreateInfo { mip_lod_bias: 99.0, ..linear_info() };
    scene.driver.calls();
    let sampler = scene.sampler(&info);
    assert!(scene.took(c"vkCreateSampler", &info));

    let infos = [pair(sampler, scene.illegal)];
    let writes = [combined(set, 0, &infos)];
    scene.update(&writes, &[]);
    args!(scene, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    scene.untouched(&down, &writes);
    let layout = scene.layout(&[]);
    let template = scene.template(layout, &[entry(0, 0, 1, COMBINED, 0, INFO)]);
    scene.driver.calls();
    scene.update_with_template(set, template, infos.as_ptr().cast());
    args!(scene, c"vkUpdateDescriptorSetWithTemplate", Args::Template { data, .. });
    assert_eq!(data, infos.as_ptr() as usize);
    let source = scene.image(INTEGERS);
    let blit = vk::BlitImageInfo2::default().src_image(source).dst_image(source).filter(Filter::LINEAR);
    scene.driver.calls();
    call!(scene.blit2(scene.commands, &blit));
    args!(scene, c"vkCmdBlitImage2", Args::Blit2 { info: down });
    assert_eq!(down.at, ptr::from_ref(&blit) as usize);
    // All of it is written down nevertheless.
    let rules: Vec<String> = scene.instance.trace().changes().into_iter().map(|change| change.rule).collect();
    for rule in ["lod-bias", "linear-filter", "blit-filter"] {
        assert!(rules.iter().any(|r| r == rule), "{rule} is not in {rules:?}");
    }
}
