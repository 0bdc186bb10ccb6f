//! Memory that the layer may not touch: everything an application passes lies in read-only memory that ends with it, what a
//! command ignores leads nowhere, and templates have holes. A violation is a fault, which ends the test program.

use std::ffi::c_void;
use std::ptr;

use ash::vk::{self, Handle};

use crate::driver::Args;
use crate::loader::*;
use crate::pages::{Guarded, Pages, dangling, page};

/// Node of an unknown type, of 16 bytes.
fn unknown(next: *const c_void) -> vk::BaseInStructure<'static> {
    vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0002), p_next: next.cast(), ..Default::default() }
}

/// A sampler with LINEAR filters, views that can and cannot be filtered, a set; nothing recorded yet.
fn scene(device: &Device) -> (vk::Sampler, vk::ImageView, vk::ImageView, vk::DescriptorSet) {
    let made = (device.linear(), device.view(FILTERED), device.view(INTEGERS), device.plain_set());
    device.driver.calls();
    made
}

/// Those that the random calls do not have.
#[test]
fn create_infos_are_neither_written_nor_read_beyond_their_end() {
    let device = InstanceBuilder::new().traced("all").device();
    let mut memory = Guarded::new();
    let last = memory.value(unknown(ptr::null())).cast::<c_void>();
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
    reduction.p_next = last;
    let reduction = memory.value(reduction).cast::<c_void>();
    let first = memory.value(unknown(reduction)).cast::<c_void>();
    for p_next in [ptr::null(), last, reduction, first] {
        let info = vk::SwapchainCreateInfoKHR { p_next, ..Default::default() }.image_format(FILTERED);
        create!(device.create_swapchain(memory.value(info)));
        // Unknown nodes before, between and behind known ones.
        device.sampler(&vk::SamplerCreateInfo { p_next, mip_lod_bias: 100.0, ..linear_info() });
    }
}

#[test]
fn nothing_is_read_for_a_count_of_zero_or_an_ignored_member() {
    let device = Device::usual();
    let pool = device.pool();
    // Arrays of no elements.
    let info = vk::DescriptorSetLayoutCreateInfo { p_bindings: dangling(), ..Default::default() };
    let empty = device.layout_of(&info);
    let info = vk::PipelineLayoutCreateInfo { p_set_layouts: dangling(), ..Default::default() };
    create!(device.create_pipeline_layout(&info));
    let info = vk::DescriptorUpdateTemplateCreateInfo { p_descriptor_update_entries: dangling(), ..Default::default() };
    let template = device.template_of(&info);
    device.update_with_template(device.plain_set(), template, dangling());
    // Immutable samplers of a type that has none, and of a binding without descriptors.
    let ignored = |mut b: vk::DescriptorSetLayoutBinding<'static>| {
        b.p_immutable_samplers = dangling();
        b
    };
    let immutable = device.linear();
    let mut real = binding(3, COMBINED, 1);
    real.p_immutable_samplers = &immutable;
    let layout = device.layout(&[
        ignored(binding(0, Ty::UNIFORM_BUFFER, 4)),
        ignored(binding(1, IMAGE, 1)),
        ignored(binding(2, COMBINED, 0)),
        real,
    ]);
    // From here on the device has immutable samplers, and looks at the sets' life.
    let sets = device.sets(pool, &[layout]);
    assert_eq!(call!(device.free_sets(device.raw, pool, 0, dangling())), SUCCESS);
    let info = vk::DescriptorSetAllocateInfo { descriptor_pool: pool, p_set_layouts: dangling(), ..Default::default() };
    assert_eq!(call!(device.allocate_sets(device.raw, &info, ptr::null_mut())), SUCCESS);
    let info = vk::DescriptorUpdateTemplateCreateInfo {
        template_type: vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET,
        descriptor_set_layout: layout,
        pipeline_layout: vk::PipelineLayout::from_raw(u64::MAX),
        p_descriptor_update_entries: dangling(),
        ..Default::default()
    };
    device.template_of(&info);
    // Descriptor writes of nothing, and of everything that is no image.
    let (_, _, illegal, set) = scene(&device);
    let count0 = vk::WriteDescriptorSet {
        dst_set: set,
        descriptor_type: COMBINED,
        p_image_info: dangling(),
        ..Default::default()
    };
    let ignored = |ty, count| vk::WriteDescriptorSet {
        dst_set: sets[0],
        dst_binding: 3,
        descriptor_type: ty,
        descriptor_count: count,
        p_image_info: dangling(),
        p_buffer_info: dangling(),
        p_texel_buffer_view: dangling(),
        ..Default::default()
    };
    let infos = [pair(device.linear(), illegal)];
    let writes = [
        count0,
        ignored(Ty::UNIFORM_BUFFER, 3),
        ignored(Ty::STORAGE_TEXEL_BUFFER, 1),
        ignored(Ty::INLINE_UNIFORM_BLOCK, 4096),
        ignored(Ty::ACCELERATION_STRUCTURE_KHR, 2),
        ignored(IMAGE, 2),
        ignored(SAMPLER, 2),
        ignored(Ty::MUTABLE_EXT, 2),
        ignored(Ty::from_raw(0x7fff_0007), 2),
        combined(set, 0, &infos),
    ];
    device.update(&writes[..9], &[]);
    // A conflict behind them makes a copy of the list, and still none of it is followed.
    device.update(&writes, &[]);
    let pipeline = device.pipeline_layout(&[layout]);
    device.push(pipeline, 0, &writes[..9]);
    device.push(pipeline, 0, &writes);
    device.push(vk::PipelineLayout::null(), 7, &writes);
    let info = vk::PushDescriptorSetInfoKHR { p_descriptor_writes: dangling(), ..Default::default() };
    device.push2(&info);
    assert_eq!(device.driver.variants().len(), 1);
    device.destroy_layout(empty);
}

#[test]
fn template_data_is_read_where_it_is_described_only() {
    let device = Device::usual();
    let (sampler, legal, illegal, set) = scene(&device);
    let layout = device.layout(&[]);
    let page = page();
    // (offset, stride): elements at the end of a page, at the start of one, across a boundary, and at odd addresses, with
    // unreadable pages between them.
    let shapes = [(page - 24, 2 * page), (2 * page, 3 * page), (page - 5, 2 * page + 1), (page - 31, 3 * page - 7)];
    for (offset, stride) in shapes {
        for view in [legal, illegal] {
            let entries = [
                entry(0, 0, 3, COMBINED, offset, stride),
                // 13 bytes at the very end of the block; its stride is ignored.
                entry(1, 0, 13, Ty::INLINE_UNIFORM_BLOCK, 16 * page - 13, 0xdead_beef),
                entry(2, 0, 0, COMBINED, usize::MAX, INFO),
                entry(3, 0, 1, Ty::UNIFORM_BUFFER, 14 * page - 24, usize::MAX),
            ];
            let mut data = Pages::new(16 * page);
            for index in 0..3 {
                data.place(offset + index * stride, &[pair(sampler, view)]);
            }
            data.place(16 * page - 13, b"inline block!");
            let buffer = vk::DescriptorBufferInfo { buffer: vk::Buffer::from_raw(1), offset: 2, range: 3 };
            data.place(14 * page - 24, &[buffer]);
            let at = data.start();
            let (for_sets, for_pushes) = (device.template(layout, &entries), device.push_template(&entries));
            device.driver.calls();
            device.update_with_template(set, for_sets, at);
            call!(device.push_with_template(device.commands, for_pushes, vk::PipelineLayout::null(), 0, at));
            let mut seen = 0;
            for call in device.driver.calls() {
                let Args::Template { data: down, elements, .. } = &call.args else { continue };
                seen += 1;
                assert_eq!(*down == at as usize, view == legal);
                assert_eq!(elements.len(), 5);
                for element in elements {
                    match element.entry {
                        0 => {
                            let image = element.image.expect("an image");
                            assert_eq!(image.image_view, view);
                            assert_eq!(image.sampler == sampler, view == legal);
                            assert_eq!(element.at - down, offset + element.index * stride);
                        }
                        1 => assert_eq!(element.bytes, b"inline block!"),
                        _ => assert_eq!(element.bytes[8..16], 2_u64.to_ne_bytes()),
                    }
                }
            }
            assert_eq!(seen, 2);
        }
    }
}

#[test]
fn instances_and_devices_are_made_from_guarded_memory() {
    let mut memory = Guarded::new();
    let node = memory.value(unknown(ptr::null()));
    let mut builder = InstanceBuilder::new();
    builder.chain = node.cast();
    let instance = builder.instance();
    // The nodes of the loader are written (their links), the application's may not be.
    let border = vk::PhysicalDeviceCustomBorderColorFeaturesEXT {
        p_next: node.cast_mut().cast(),
        custom_border_colors: 1,
        ..Default::default()
    };
    let border = memory.value(border);
    let features = vk::PhysicalDeviceFeatures2 { p_next: border.cast_mut().cast(), ..Default::default() };
    let features = memory.value(features);
    let node = memory.value(unknown(features.cast()));
    let info =
        DeviceInfo { chain: node.cast(), extensions: vec![ash::ext::custom_border_color::NAME], ..Default::default() };
    let device = instance.device(&info);
    assert!(device.entry().ground.driver.caps.custom_border_colors);
}
