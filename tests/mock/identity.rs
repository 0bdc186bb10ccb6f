//! Which pointers go down: the application's own while nothing has to change, else copies in which nothing but the
//! sampler or the filter differs.

use std::ptr;

use ash::vk::{self, Handle};

use crate::args;
use crate::driver::Args;
use crate::loader::*;

/// A node of a type that the layer does not know.
fn unknown() -> vk::BaseInStructure<'static> {
    vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0001), ..Default::default() }
}

#[test]
fn only_writes_that_change_are_copied() {
    let scene = Pairs::usual();
    let set = scene.plain_set();
    let (l, i) = (pair(scene.sampler, scene.legal), pair(scene.sampler, scene.illegal));
    let (legal, mixed, bad) = ([l; 2], [l, i, l], [i; 40]);
    let writes = [combined(set, 0, &legal), combined(set, 2, &mixed), combined(set, 3, &bad), combined(set, 4, &legal)];
    // Twice: the second time every choice is known.
    for _ in 0..2 {
        let down = scene.updates(&writes);
        let is_own =
            std::iter::zip(down.items, writes).map(|(down, given)| down.raw.p_image_info == given.p_image_info);
        assert_eq!(is_own.collect::<Vec<_>>(), [true, false, false, true]);
    }
    assert_eq!(scene.driver.variants().len(), 1);
}

#[test]
fn copies_alone_and_nothing_at_all_go_down_as_they_are() {
    let device = Device::usual();
    let set = device.plain_set();
    let copies = [vk::CopyDescriptorSet::default().src_set(set).dst_set(set).dst_array_element(1).descriptor_count(1)];
    device.driver.calls();
    device.update(&[], &copies);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
    assert_eq!((down.items.len(), down_copies.at), (0, copies.as_ptr() as usize));
    let dangling = crate::pages::dangling();
    call!(device.update(device.raw, 0, dangling, 0, ptr::null()));
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, copies: down_copies });
    assert_eq!((down.at, down_copies.at), (dangling as usize, 0));
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
    let info = handle_info(IMAGE, &pair(scene.sampler, scene.illegal));
    call!(scene.get_view_handle(scene.raw, &info));
    assert!(scene.took(c"vkGetImageViewHandleNVX", &info));
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

/// That what goes down is the original the random calls see.
#[test]
fn an_audit_writes_down_what_it_would_change() {
    let scene = Pairs::on(InstanceBuilder::new().set("mode", "audit").traced("decisions").device());
    let sampler = scene.sampler(&vk::SamplerCreateInfo { mip_lod_bias: 99.0, ..linear_info() });
    assert_eq!(written(&scene, sampler, scene.illegal), sampler);
    assert_eq!(scene.blits_with(scene.image(INTEGERS), Filter::LINEAR), Filter::LINEAR);
    let rules: Vec<String> = scene.instance.trace().changes().into_iter().map(|change| change.rule).collect();
    for rule in ["lod-bias", "linear-filter", "blit-filter"] {
        assert!(rules.iter().any(|r| r == rule), "{rule} is not in {rules:?}");
    }
}
