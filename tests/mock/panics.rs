//! A panic inside a hook: the device is passed through from then on, and nothing else happens.
//!
//! No input is known that makes a hook panic, so the guard is called as hooks call it.

use std::panic::panic_any;
use std::ptr;
use std::sync::Arc;

use ash::vk;

use crate::args;
use crate::driver::{Args, Kind};
use crate::loader::*;

const UNFILTERED: vk::Format = vk::Format::R32_UINT;

/// Records about panics.
fn panics(device: &Device) -> Vec<serde_json::Value> {
    let records = device.instance.records("unresolved");
    records.into_iter().filter(|record| record["what"] == "panic in a hook").collect()
}

#[test]
fn after_a_panic_the_device_is_passed_through() {
    let instance = InstanceBuilder::new().traced("decisions").instance();
    let device = instance.device(&DeviceInfo { extensions: instance_extensions(), ..Default::default() });
    let other = instance.device(&DeviceInfo::default());
    let (sampler, view, set) = (device.linear(), device.view(UNFILTERED), device.plain_set());
    let infos = [pair(sampler, view)];
    let writes = [combined(set, 0, &infos)];
    let template =
        device.template(device.layout(&[]), &[entry(0, 0, 1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 0, INFO)]);
    device.update(&writes, &[]);
    assert_eq!(device.driver.variants().len(), 1);
    let kept = device.entry();
    assert_eq!(kept.ground.guard(|| 1, || 2), 1);
    assert_eq!(kept.ground.guard(|| panic!("provoked {}", 7), || 2), 2);
    assert!(kept.ground.is_broken());
    assert_eq!(kept.ground.guard(|| 1, || 2), 2, "what is guarded is not run any more");
    let said = panics(&device);
    assert_eq!(said.len(), 1);
    let why = said[0]["why"].as_str().unwrap_or_default();
    assert!(why.starts_with("provoked 7"), "{why}");

    // Everything goes down as it is.
    device.driver.calls();
    device.update(&writes, &[]);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    assert_eq!(down.at, writes.as_ptr() as usize);
    device.push(vk::PipelineLayout::null(), 0, &writes);
    args!(device, c"vkCmdPushDescriptorSet", Args::Push { writes: down, .. });
    assert_eq!(down.at, writes.as_ptr() as usize);
    device.update_with_template(set, template, infos.as_ptr().cast());
    args!(device, c"vkUpdateDescriptorSetWithTemplate", Args::Template { data, .. });
    assert_eq!(data, infos.as_ptr() as usize);
    let info = vk::SamplerCreateInfo { mip_lod_bias: 99.0, ..linear_info() };
    let illegal = device.sampler(&info);
    args!(device, c"vkCreateSampler", Args::CreateSampler { info: down, .. });
    assert_eq!(down.at, ptr::from_ref(&info) as usize);
    let source = device.image(UNFILTERED);
    let layout = vk::ImageLayout::GENERAL;
    call!(device.blit(device.commands, source, layout, source, layout, 0, ptr::null(), vk::Filter::LINEAR));
    args!(device, c"vkCmdBlitImage", Args::Blit { filter, .. });
    assert_eq!(filter, vk::Filter::LINEAR);
    let conversion = vk::SamplerYcbcrConversionCreateInfo {
        format: vk::Format::G8_B8R8_2PLANE_420_UNORM,
        chroma_filter: vk::Filter::LINEAR,
        ..Default::default()
    };
    let made = create!(device.create_conversion(&conversion));
    args!(device, c"vkCreateSamplerYcbcrConversion", Args::CreateConversion { info: down, .. });
    assert_eq!(down.at, ptr::from_ref(&conversion) as usize);
    call!(device.destroy_conversion(device.raw, made, allocator()));
    device.destroy_sampler(illegal);
    device.destroy_sampler(sampler);
    device.destroy_view(view);

    // The other device of the instance goes on.
    let (s, v, set) = (other.linear(), other.view(UNFILTERED), other.plain_set());
    let infos = [pair(s, v)];
    other.driver.calls();
    other.update(&[combined(set, 0, &infos)], &[]);
    args!(other, c"vkUpdateDescriptorSets", Args::Update { writes: down, .. });
    assert_ne!(down.items[0].images[0].sampler, s);
    other.finish();

    // At the end nothing of the layer's is left in the driver, and the summary tells.
    let driver = Arc::clone(&device.driver);
    assert_eq!(driver.variants().len(), 1);
    device.finish();
    assert_eq!(driver.live(Kind::Sampler), [0; 0]);
    let summaries = instance.records("summary");
    let through: Vec<_> = summaries.iter().filter(|record| record["passed_through"] == true).collect();
    assert_eq!((summaries.len(), through.len()), (2, 1));
}

fn instance_extensions() -> Vec<&'static std::ffi::CStr> {
    vec![
        ash::khr::push_descriptor::NAME,
        ash::khr::descriptor_update_template::NAME,
        ash::khr::sampler_ycbcr_conversion::NAME,
    ]
}

#[test]
fn a_panic_under_a_lock_does_not_block_the_rest() {
    let device = Device::traced();
    let kept = device.entry();
    let sampler = device.linear();
    let result = kept.ground.guard(|| kept.pairs.samplers.cache().with_borders(|_| panic!("with a lock held")), || 3);
    assert_eq!(result, 3);
    // Whatever takes that lock goes on.
    device.destroy_sampler(sampler);
    assert_eq!(kept.pairs.samplers.cache().with_borders(|borders| borders.taken()), 0);
    assert_eq!(kept.pairs.samplers.cache().variants().live, 0);
    assert_eq!(panics(&device).len(), 1);
}

#[test]
fn any_payload_will_do() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("the payload panics too");
        }
    }
    for (index, device) in [Device::traced(), Device::traced()].into_iter().enumerate() {
        let result = device.entry().ground.guard(|| if index == 0 { panic_any(17_u64) } else { panic_any(Loud) }, || 5);
        assert_eq!(result, 5);
        // A second one, on another thread at the same time perhaps, is not said again.
        device.entry().ground.guard(|| panic!("again"), || ());
        assert_eq!(panics(&device).len(), 1);
    }
}
