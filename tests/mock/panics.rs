//! A panic inside a hook: the device is passed through from then on, and nothing else happens.
//!
//! No input is known that makes a hook panic, so the guard is called as hooks call it.

use std::panic::panic_any;
use std::sync::Arc;

use ash::khr::{descriptor_update_template, push_descriptor, sampler_ycbcr_conversion};
use ash::vk;

use crate::driver::Kind;
use crate::loader::*;

#[test]
fn after_a_panic_the_device_is_passed_through() {
    let instance = InstanceBuilder::new().traced("decisions").instance();
    let extensions = [push_descriptor::NAME, descriptor_update_template::NAME, sampler_ycbcr_conversion::NAME];
    let device = instance.device(&DeviceInfo { extensions: extensions.to_vec(), ..Default::default() });
    let other = instance.device(&DeviceInfo::default());
    let (sampler, view, set) = (device.linear(), device.view(INTEGERS), device.plain_set());
    let infos = [pair(sampler, view)];
    let writes = [combined(set, 0, &infos)];
    let template = device.template(device.layout(&[]), &[entry(0, 0, 1, COMBINED, 0, INFO)]);
    device.update(&writes, &[]);
    assert_eq!(device.driver.variants().len(), 1);
    let kept = device.entry();
    assert_eq!(kept.ground.guard(|| 1, || 2), 1);
    assert_eq!(kept.ground.guard(|| panic!("provoked {}", 7), || 2), 2);
    assert!(kept.ground.is_broken());
    assert_eq!(kept.ground.guard(|| 1, || 2), 2, "what is guarded is not run any more");
    let said = device.left_as("panic in a hook");
    assert_eq!(said.len(), 1);
    let why = &texts(&said, "why")[0];
    assert!(why.starts_with("provoked 7"), "{why}");

    // Everything goes down as it is.
    device.driver.calls();
    device.update(&writes, &[]);
    assert!(device.took(c"vkUpdateDescriptorSets", writes.as_ptr()));
    device.push(vk::PipelineLayout::null(), 0, &writes);
    assert!(device.took(c"vkCmdPushDescriptorSet", writes.as_ptr()));
    device.update_with_template(set, template, infos.as_ptr().cast());
    assert!(device.took(c"vkUpdateDescriptorSetWithTemplate", infos.as_ptr()));
    let info = vk::SamplerCreateInfo { mip_lod_bias: 99.0, ..linear_info() };
    let illegal = device.sampler(&info);
    assert!(device.took(c"vkCreateSampler", &info));
    assert_eq!(device.blits_with(device.image(INTEGERS), Filter::LINEAR), Filter::LINEAR);
    let conversion =
        vk::SamplerYcbcrConversionCreateInfo { format: PLANAR, chroma_filter: Filter::LINEAR, ..Default::default() };
    let made = device.conversion(&conversion);
    assert!(device.took(c"vkCreateSamplerYcbcrConversion", &conversion));
    device.destroy_conversion(made);
    device.destroy_sampler(illegal);
    device.destroy_sampler(sampler);
    device.destroy_view(view);

    // The other device of the instance goes on.
    let sampler = other.linear();
    assert_ne!(written(&other, sampler, other.view(INTEGERS)), sampler);
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
    assert_eq!(device.left_as("panic in a hook").len(), 1);
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
        assert_eq!(device.left_as("panic in a hook").len(), 1);
    }
}
