//! Descriptor buffers: what reaches the driver of descriptors that the application keeps in memory.

use std::ptr;

use ash::vk;

use crate::args;
use crate::driver::Args;
use crate::loader::*;

fn device_with(builder: InstanceBuilder) -> Device {
    builder.traced("decisions").bare(&[ash::ext::descriptor_buffer::NAME, ash::khr::push_descriptor::NAME])
}

/// Asks for a combined descriptor; the sampler of which it was made, and whether the application's own structures went down.
fn get(device: &Device, image: &vk::DescriptorImageInfo) -> (vk::Sampler, bool) {
    let data = vk::DescriptorDataEXT { p_combined_image_sampler: image };
    let (is_own, Some((at, found)), _) = device.described(COMBINED, data) else { panic!("a pair") };
    assert_eq!((found.image_view, found.image_layout), (image.image_view, image.image_layout));
    assert_eq!(is_own, at == ptr::from_ref(image) as usize);
    (found.sampler, is_own)
}

/// An immutable sampler of a layout for descriptor buffers is written by the application as well, and has to be the same one there.
#[test]
fn a_sampler_of_a_layout_for_buffers_is_the_same_everywhere() {
    let device = device_with(InstanceBuilder::new());
    let (sampler, twin, integers) = (device.linear(), device.linear(), device.view(INTEGERS));
    let before = get(&device, &pair(sampler, integers)).0;
    assert_ne!(before, sampler, "nothing says yet that it has to stay");
    let samplers = [sampler];
    let bindings = [binding(0, COMBINED, 1).immutable_samplers(&samplers)];
    let flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
    device.layout_flagged(flags, &bindings);
    assert_eq!(get(&device, &pair(sampler, integers)), (sampler, true));
    assert_eq!(get(&device, &pair(twin, integers)).0, before, "another of the same state is another sampler");
    let left = device.records("unresolved");
    assert_eq!(left.len(), 1, "{left:#?}");
    assert_eq!(left[0]["rule"], "flags");
    // Another view, whichever of both meets it first.
    let other = device.view(FLOATS);
    assert_ne!(get(&device, &pair(twin, other)).0, twin);
    assert_eq!(get(&device, &pair(sampler, other)), (sampler, true));
}

/// Pushed descriptors of a pipeline that reads descriptor buffers are none in memory.
#[test]
fn pushes_beside_buffers_are_repaired() {
    for separate in ["resolve", "base"] {
        let device = device_with(InstanceBuilder::new().set("separate", separate));
        let (linear, integers) = (device.linear(), device.view(INTEGERS));
        type Flags = vk::DescriptorSetLayoutCreateFlags;
        let bindings = [binding(0, COMBINED, 1)];
        let flags = Flags::DESCRIPTOR_BUFFER_EXT | Flags::PUSH_DESCRIPTOR_KHR;
        let layout = device.pipeline_layout(&[device.layout_flagged(flags, &bindings)]);
        let infos = [pair(linear, integers)];
        let write = combined(vk::DescriptorSet::null(), 0, &infos);
        device.begin(device.commands);
        let point = COMPUTE;
        // The buffers of the same bind point come before and after.
        let (index, offset) = (0, 0);
        for _ in 0..2 {
            call!(device.set_descriptor_buffer_offsets(device.commands, point, layout, 0, 1, &index, &offset));
            device.driver.calls();
            call!(device.push(device.commands, point, layout, 0, 1, &write));
            args!(device, c"vkCmdPushDescriptorSet", Args::Push { writes, .. });
            assert_ne!(writes.items[0].images[0].sampler, linear, "{separate}");
        }
    }
}

/// In audit mode a pair in memory is named and stays.
#[test]
fn audited_pairs_in_memory_stay() {
    let device = device_with(InstanceBuilder::new().set("mode", "audit"));
    let image = pair(device.linear(), device.view(INTEGERS));
    assert_eq!(get(&device, &image), (image.sampler, true));
    assert_eq!(device.records("pair").len(), 1);
}
