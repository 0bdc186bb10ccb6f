//! Limits and failures: what the layer does when it may not or cannot make a sampler, and what it leaves behind when a call of the
//! application fails.

use std::sync::Barrier;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use crate::args;
use crate::driver::{Args, Kind};
use crate::loader::{
    Device, InstanceBuilder, allocator, assert_nothing_left, binding, call, combined, entry, image_info, linear_info,
    pair, view_info,
};

const UNFILTERED: vk::Format = vk::Format::R32_UINT;
const COMBINED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// What a sampler becomes when it is written with a view.
fn written(device: &Device, set: vk::DescriptorSet, sampler: vk::Sampler, view: vk::ImageView) -> vk::Sampler {
    let infos = [pair(sampler, view)];
    device.driver.calls();
    device.update(&[combined(set, 0, &infos)], &[]);
    args!(device, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
    writes.items[0].images[0].sampler
}

fn biased(bias: f32) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() }
}

#[test]
#[cfg_attr(miri, ignore = "reads a trace")]
fn the_last_sampler_is_the_applications() {
    let device = InstanceBuilder::new().traced("decisions").driver(|driver| driver.max_samplers = 4).device();
    let (set, view) = (device.plain_set(), device.view(UNFILTERED));
    let samplers: Vec<_> = (0..3).map(|n| device.sampler(&biased(n as f32 / 4.0))).collect();
    // One place is left: the first pair gets it.
    assert_ne!(written(&device, set, samplers[0], view), samplers[0]);
    for sampler in &samplers[1..] {
        for _ in 0..2 {
            assert_eq!(written(&device, set, *sampler, view), *sampler, "no place, no variant");
        }
    }
    device.driver.check();
    let said = device.instance.records("unresolved");
    assert_eq!(said.len(), 2);
    for (record, sampler) in said.iter().zip(&samplers[1..]) {
        assert_eq!((&record["what"], &record["rule"]), (&"pair".into(), &"sampler-budget".into()));
        assert_eq!(record["sampler"], format!("{:#x}", sampler.as_raw()));
    }
    assert_eq!(device.instance.records("pair").len(), 1, "what could not be changed is no change");
    // The application's own creation fails as the driver says.
    assert_eq!(device.try_sampler(&biased(2.0)), Err(vk::Result::ERROR_TOO_MANY_OBJECTS));
    // A variant is shared, so an equal state needs no place.
    device.destroy_sampler(samplers[2]);
    let twin = device.sampler(&biased(0.0));
    assert_ne!(written(&device, set, twin, view), twin);
    device.finish();
}

#[test]
fn threads_together_keep_within_the_limit() {
    // The driver takes its time, so that whoever is going to ask for a variant does so before any is there.
    for _ in 0..3 {
        let device = InstanceBuilder::new().driver(|driver| driver.max_samplers = 10).device();
        let view = device.view(UNFILTERED);
        let samplers: Vec<_> = (0..8).map(|n| device.sampler(&biased(n as f32 / 8.0))).collect();
        let start = Barrier::new(8);
        device.driver.observe(|_, call| {
            if call.command == c"vkCreateSampler" {
                std::thread::sleep(std::time::Duration::from_millis(30));
            }
        });
        std::thread::scope(|scope| {
            for sampler in &samplers {
                let (device, start) = (&device, &start);
                scope.spawn(move || {
                    let set = device.plain_set();
                    let infos = [pair(*sampler, view)];
                    start.wait();
                    device.update(&[combined(set, 0, &infos)], &[]);
                });
            }
        });
        assert_eq!(device.driver.variants().len(), 2);
        device.finish();
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads a trace")]
fn a_variant_that_cannot_be_made_is_given_up() {
    for failure in [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_TOO_MANY_OBJECTS] {
        let device = Device::traced();
        let (set, view, other) = (device.plain_set(), device.view(UNFILTERED), device.view(vk::Format::R32_SFLOAT));
        let sampler = device.linear();
        device.driver.fail(c"vkCreateSampler", [failure]);
        assert_eq!(written(&device, set, sampler, view), sampler);
        let said = device.instance.records("unresolved");
        assert_eq!((said.len(), &said[0]["rule"]), (1, &"sampler-budget".into()));
        let text = said[0]["why"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("{failure:?}")), "{text}");
        // It is not tried again and again.
        assert_eq!(written(&device, set, sampler, view), sampler);
        assert_eq!(device.driver.live(Kind::Sampler), [sampler.as_raw()]);
        // Another class may have more luck.
        assert_ne!(written(&device, set, sampler, other), sampler);
        let mut out = vk::Sampler::from_raw(0xabab);
        device.driver.fail(c"vkCreateSampler", [failure]);
        let info = linear_info();
        assert_eq!(call!(device.create_sampler(device.raw, &info, allocator(), &mut out)), failure);
        assert_eq!(out.as_raw(), 0xabab, "the output stays as it was");
        device.finish();
    }
}

/// What a script made: everything is `None` that failed.
#[derive(Default)]
pub(crate) struct Made {
    image: Option<vk::Image>,
    view: Option<vk::ImageView>,
    samplers: Vec<vk::Sampler>,
    layout: Option<vk::DescriptorSetLayout>,
    pipeline: Option<vk::PipelineLayout>,
    pool: Option<vk::DescriptorPool>,
    template: Option<vk::DescriptorUpdateTemplate>,
    conversion: Option<vk::SamplerYcbcrConversion>,
    swapchain: Option<vk::SwapchainKHR>,
    failed: Vec<&'static str>,
}

/// Every call that can fail, once, and uses of what they made. Returns what was made.
pub(crate) fn script(device: &Device, failure: vk::Result) -> Made {
    let mut made = Made::default();
    macro_rules! create {
        ($create:ident $handle:ident = $info:expr) => {{
            let mut out = vk::$handle::from_raw(0xabab);
            let result = call!(device.$create(device.raw, $info, allocator(), &mut out));
            if result == vk::Result::SUCCESS {
                Some(out)
            } else {
                assert_eq!(result, failure, "the driver's result");
                assert_eq!(out.as_raw(), 0xabab, "the output stays as it was");
                made.failed.push(stringify!($create));
                None
            }
        }};
    }
    made.image = create!(create_image Image = &image_info(UNFILTERED).tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT));
    made.view = made.image.and_then(|image| create!(create_view ImageView = &view_info(image, UNFILTERED)));
    for bias in [0.0, 0.0, 100.0] {
        made.samplers.extend(create!(create_sampler Sampler = &biased(bias)));
    }
    let immutable = made.samplers.clone();
    let bindings =
        [binding(0, COMBINED, 4), binding(1, COMBINED, immutable.len() as u32).immutable_samplers(&immutable)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    made.layout = create!(create_layout DescriptorSetLayout = &info);
    let layouts = [made.layout.unwrap_or_default()];
    made.pipeline =
        create!(create_pipeline_layout PipelineLayout = &vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts));
    made.pool = create!(create_pool DescriptorPool = &vk::DescriptorPoolCreateInfo::default());
    let entries = [entry(0, 0, 1, COMBINED, 0, 24)];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .descriptor_set_layout(layouts[0]);
    made.template = create!(create_template DescriptorUpdateTemplate = &info);
    let info = vk::SamplerYcbcrConversionCreateInfo {
        format: vk::Format::G8_B8R8_2PLANE_420_UNORM,
        chroma_filter: vk::Filter::LINEAR,
        ..Default::default()
    };
    made.conversion = create!(create_conversion SamplerYcbcrConversion = &info);
    let info = vk::SwapchainCreateInfoKHR::default().image_format(UNFILTERED);
    made.swapchain = create!(create_swapchain SwapchainKHR = &info);
    if let Some(swapchain) = made.swapchain {
        let (mut count, mut images) = (3, [vk::Image::from_raw(0xabab); 3]);
        let result = call!(device.get_swapchain_images(device.raw, swapchain, &mut count, images.as_mut_ptr()));
        if result != vk::Result::SUCCESS {
            assert_eq!((count, images), (3, [vk::Image::from_raw(0xabab); 3]));
            made.failed.push("get_swapchain_images");
        }
    }
    let mut sets = [vk::DescriptorSet::from_raw(0xabab); 2];
    if let (Some(pool), Some(layout)) = (made.pool, made.layout) {
        let layouts = [layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let result = call!(device.allocate_sets(device.raw, &info, sets.as_mut_ptr()));
        if result == vk::Result::SUCCESS {
            // Conflicts, so that variants are made (or not).
            for sampler in &made.samplers {
                let infos = [pair(*sampler, made.view.unwrap_or_default())];
                device.update(&[combined(sets[0], 0, &infos), combined(sets[1], 1, &infos)], &[]);
                if let Some(template) = made.template {
                    device.update_with_template(sets[0], template, infos.as_ptr().cast());
                }
                if let Some(layout) = made.pipeline {
                    device.push(layout, 0, &[combined(sets[0], 0, &infos)]);
                }
                let get = vk::ImageViewHandleInfoNVX {
                    image_view: infos[0].image_view,
                    descriptor_type: COMBINED,
                    sampler: *sampler,
                    ..Default::default()
                };
                call!(device.get_view_handle(device.raw, &get));
            }
        } else {
            assert_eq!(sets, [vk::DescriptorSet::from_raw(0xabab); 2]);
            made.failed.push("allocate_sets");
        }
    }
    made
}

pub(crate) fn destroy(device: &Device, made: Made) {
    for sampler in made.samplers {
        device.destroy_sampler(sampler);
    }
    macro_rules! destroy {
        ($($destroy:ident $object:expr;)+) => {
            $(call!(device.$destroy(device.raw, $object.unwrap_or_default(), allocator()));)+
        };
    }
    destroy! {
        destroy_view made.view;
        destroy_image made.image;
        destroy_layout made.layout;
        destroy_pipeline_layout made.pipeline;
        destroy_pool made.pool;
        destroy_template made.template;
        destroy_conversion made.conversion;
        destroy_swapchain made.swapchain;
    }
}

/// What calls fail with: every error that the calls of the script may have.
const FAILURES: [vk::Result; 4] = [
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_TOO_MANY_OBJECTS,
    vk::Result::ERROR_DEVICE_LOST,
];

#[test]
#[cfg_attr(miri, ignore = "takes an hour")]
fn any_call_may_fail_and_nothing_is_left_behind() {
    let mut injected = 0;
    for failure in FAILURES {
        injected += any_call_may_fail(failure);
    }
    println!("{injected} faults injected");
    assert!(injected > 60);
}

fn any_call_may_fail(failure: vk::Result) -> u64 {
    let mut failed = Vec::new();
    let mut injected = 0;
    for nth in 0.. {
        let device = Device::usual();
        device.driver.fail_nth.store(nth, Ordering::Relaxed);
        *crate::driver::lock(&device.driver.fail_with) = failure;
        let made = script(&device, failure);
        let (count, expected) = (device.driver.fallible(), made.failed.clone());
        destroy(&device, made);
        assert_nothing_left(&device, &format!("after call {nth} failed"));
        device.finish();
        // A variant that fails is nobody's failure, nor is the modifier that is asked for behind the application's back.
        failed.extend(expected);
        if nth > count {
            break;
        }
        injected += u64::from(nth > 0);
    }
    failed.sort_unstable();
    failed.dedup();
    assert_eq!(
        failed,
        [
            "allocate_sets",
            "create_conversion",
            "create_image",
            "create_layout",
            "create_pipeline_layout",
            "create_pool",
            "create_sampler",
            "create_swapchain",
            "create_template",
            "create_view",
            "get_swapchain_images",
        ]
    );
    injected
}

#[test]
fn results_of_instances_and_devices_come_back() {
    for failure in [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_INCOMPATIBLE_DRIVER] {
        crate::driver::NEXT_RESULTS.set([failure].into());
        assert_eq!(InstanceBuilder::new().create().err(), Some(failure));
        let instance = std::sync::Arc::new(InstanceBuilder::new().create().unwrap());
        crate::driver::NEXT_RESULTS.set([failure].into());
        assert_eq!(instance.try_device(&Default::default()).err(), Some(failure));
        // The next one works.
        instance.device(&Default::default()).finish();
    }
}
