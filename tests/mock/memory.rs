//! Memory that the layer cannot get.
//!
//! The allocator of a debug build fails on demand, see [`memory::faults`]. What it has to do then ends the process if it goes wrong,
//! and the reserve is one for the whole process, so each test runs in a process of its own.

use std::sync::Arc;

use ash::vk;
use samplin::memory;
use samplin::memory::faults::{self, Plan};
use samplin_testkit::again::alone;

use crate::binds::Scene;
use crate::budget::script;
use crate::driver::Kind;
use crate::loader::*;
use crate::separate::joins;

const FAILURE: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;

/// Runs `body` without its first allocation, then without its second, until it has none left to fail; returns how many failed. `body` says
/// how many it had.
fn each_fails(mut body: impl FnMut(u64) -> u64) -> u64 {
    (0..).find(|first| *first >= body(*first)).expect("it ends")
}

/// No plan is left behind, whatever happens.
struct Faults;

impl Faults {
    fn new(plan: Plan) -> Self {
        faults::set(Some(plan));
        Self
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        faults::set(None);
    }
}

/// What the driver has to be asked for afterwards.
fn assert_driver_is_clean(device: Device, when: &str) {
    device.driver.check();
    let driver = Arc::clone(&device.driver);
    drop(device);
    driver.check();
    assert_eq!(driver.live(Kind::Sampler), [0; 0], "{when}");
}

#[test]
fn a_host_without_memory_for_small_things() {
    alone("memory::a_host_without_memory_for_small_things", small_allocations_fail);
}

/// Every allocation of a script fails once, alone, and then with all that follow.
fn small_allocations_fail() {
    let (mut refused, mut alone) = ([0, 0], 0);
    for (level, count) in [None, Some("all")].into_iter().flat_map(|level| [(level, 1), (level, u64::MAX)]) {
        each_fails(|first| {
            let builder = InstanceBuilder::new();
            let builder = if let Some(level) = level { builder.traced(level) } else { builder };
            let info = builder.device_info();
            let plan = Faults::new(Plan { smallest: 0, first, count, reserve: true });
            let mut refuse = |at: usize, error| {
                assert_eq!(error, FAILURE);
                refused[at] += 1;
            };
            let made = builder.create().map_err(|error| refuse(0, error));
            let Ok(instance) = made.map(Arc::new) else { return u64::MAX };
            let made = instance.try_device(&info).map_err(|error| refuse(1, error));
            let Ok(device) = made else { return u64::MAX };
            script(&device, FAILURE);
            let seen = faults::seen();
            device.destroy_all();
            drop(plan);
            assert_driver_is_clean(device, &format!("after allocation {first}"));
            drop(instance);
            assert!(!memory::is_low(), "what the reserve gave came back");
            alone += u64::from(count == 1 && first < seen);
            seen
        });
    }
    assert!(alone > 300 && refused[0] > 5 && refused[1] > 5, "{alone} failed alone, refused: {refused:?}");
    // With memory again everything is as before.
    let device = Device::usual();
    assert_ne!(written(&device, device.linear(), device.view(INTEGERS)), device.linear());
}

#[test]
fn a_host_without_memory_for_large_things() {
    alone("memory::a_host_without_memory_for_large_things", || assert!(each_fails(a_large_allocation_fails) > 40));
}

/// Every large allocation fails once, and the reserve has nothing for it.
fn a_large_allocation_fails(first: u64) -> u64 {
    let device = InstanceBuilder::new().driver(|driver| driver.max_samplers = u32::MAX).device();
    let plan = Faults::new(Plan { smallest: 1024, first, count: 1, reserve: false });
    grow(&device);
    let seen = faults::seen();
    drop(plan);
    if first < seen {
        // Whatever it was, the device has passed everything through from then on.
        let (view, sampler) = (device.view(INTEGERS), device.linear());
        if device.entry().ground.is_broken() {
            assert_eq!(written(&device, sampler, view), sampler, "passed through");
        }
        device.destroy_sampler(sampler);
        device.destroy_view(view);
    } else {
        assert!(!device.entry().ground.is_broken());
    }
    assert_driver_is_clean(device, &format!("after large allocation {first}"));
    seen
}

#[test]
fn whole_hooks_without_memory() {
    alone("memory::whole_hooks_without_memory", || assert!(each_fails(an_allocation_of_a_hook_fails) > 3));
}

/// Large allocations fail anywhere in a hook, not only where it expects that.
fn an_allocation_of_a_hook_fails(first: u64) -> u64 {
    const MANY: u32 = 700;
    const STRIDE: usize = 400;
    let device = Device::usual();
    let sampler = device.linear();
    let info = pair(sampler, device.view(INTEGERS));
    // Too long to be copied, so that every pair is written again.
    let mut data = vec![0_u8; MANY as usize * STRIDE];
    for element in data.chunks_exact_mut(STRIDE) {
        // SAFETY: an element is longer than the structure.
        unsafe { element.as_mut_ptr().cast::<vk::DescriptorImageInfo>().write_unaligned(info) };
    }
    let template = device.template(device.layout(&[]), &[entry(0, 0, MANY, COMBINED, 0, STRIDE)]);
    let set = device.plain_set();
    device.driver.calls();
    let plan = Faults::new(Plan { smallest: 1024, first, count: 1, reserve: false });
    faults::inside(|| device.update_with_template(set, template, data.as_ptr().cast()));
    let in_template = faults::seen();
    let enumerate: vk::PFN_vkEnumerateDeviceExtensionProperties =
        device.instance.get(c"vkEnumerateDeviceExtensionProperties");
    let (physical, mut count) = (device.instance.physical(), 0);
    let mut list = vec![vk::ExtensionProperties::default(); 100];
    // SAFETY: a valid physical device and room for the count.
    let result = faults::inside(|| unsafe {
        count = 100;
        enumerate(physical, std::ptr::null(), &mut count, list.as_mut_ptr())
    });
    let seen = faults::seen();
    drop(plan);
    let in_enumerate = first >= in_template && first < seen;
    assert_eq!(result, if in_enumerate { FAILURE } else { SUCCESS }, "allocation {first}");
    let mut calls = device.driver.calls();
    calls.retain(|call| call.command != c"vkCreateSampler");
    assert_eq!(calls[0].command, c"vkUpdateDescriptorSetWithTemplate");
    assert_eq!(calls.len(), if first < in_template { 1 } else { 2 }, "allocation {first}");
    assert_eq!(device.entry().ground.is_broken(), first < in_template);
    device.destroy_sampler(sampler);
    assert_driver_is_clean(device, &format!("after allocation {first}"));
    assert!(first < seen || in_template > 0 && seen > in_template);
    seen
}

#[test]
fn a_draw_without_memory() {
    alone("memory::a_draw_without_memory", || assert!(each_fails(an_allocation_of_a_draw_fails) > 0));
}

/// A large allocation fails in a draw whose pipeline must be cloned again: the draw reads what the application bound, through its pipeline.
fn an_allocation_of_a_draw_fails(first: u64) -> u64 {
    let scene = Scene::new();
    let mut words = joins(5, &[(0, 0), (0, 1), (1, 0), (1, 1)].map(|image| [image, (0, 2)]));
    // OpNop
    words.extend([0x1_0000; 4096]);
    let layout = scene.layouts[1];
    let bind = |formats: [[vk::Format; 2]; 2]| scene.bind_sets(layout, 0, &formats.map(|formats| scene.set(formats)));
    scene.bind(scene.pipeline_of_words(layout, &words));
    bind([[FILTERED, FLOATS], [FILTERED; 2]]);
    scene.act();
    // Other links conflict.
    bind([[FILTERED; 2], [FILTERED, FLOATS]]);
    let plan = Faults::new(Plan { smallest: 4096, first, count: 1, reserve: false });
    scene.act();
    let seen = faults::seen();
    drop(plan);
    let is_broken = scene.device.entry().ground.is_broken();
    assert_eq!(is_broken, first < seen, "allocation {first}");
    let bound = scene.device.bound_pipeline(scene.commands.get(), COMPUTE);
    let is_own = !scene.device.driver.is_layers(Kind::Pipeline, bound);
    assert_eq!(is_own, is_broken, "allocation {first}");
    scene.reads();
    scene.device.driver.check();
    scene.device.leak();
    seen
}

#[test]
fn a_host_that_stays_without_memory() {
    alone("memory::a_host_that_stays_without_memory", everything_fails);
}

/// The reserve runs low long before everything is made that the application makes.
fn everything_fails() {
    let device = InstanceBuilder::new().traced("decisions").driver(|driver| driver.max_samplers = u32::MAX).device();
    let plan = Faults::new(Plan { smallest: 0, first: 0, count: u64::MAX, reserve: true });
    grow(&device);
    assert!(device.entry().ground.is_broken());
    let said = device.left_as("out of host memory");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["why"], "the host has no memory left; the device is passed through from here on");
    drop(plan);
    assert_driver_is_clean(device, "at the end");
    assert!(!memory::is_low(), "what the reserve gave came back");
}

/// Makes everything grow that can.
fn grow(device: &Device) {
    const MANY: u32 = 700;
    let images: Vec<_> = (0..MANY).map(|n| device.image_with(&image_info(INTEGERS).mip_levels(1 + n))).collect();
    let views: Vec<_> = images.iter().map(|image| device.view_with(&view_info(*image, INTEGERS))).collect();
    let biased = |n: u32| vk::SamplerCreateInfo { mip_lod_bias: n as f32 / 512.0, ..linear_info() };
    let samplers: Vec<_> = (0..MANY).map(|n| device.sampler(&biased(n))).collect();
    let set = device.plain_set();
    // One call, so that the copy is large.
    let infos: Vec<_> = samplers.iter().zip(&views).map(|(sampler, view)| [pair(*sampler, *view)]).collect();
    let writes: Vec<_> = infos.iter().map(|info| combined(set, 0, info)).collect();
    assert_eq!(device.updates(&writes).items.len(), writes.len());
    let flat: Vec<_> = infos.iter().flatten().copied().collect();
    for stride in [INFO, 32] {
        let layout = device.layout(&[]);
        let template = device.template(layout, &[entry(0, 0, MANY, COMBINED, 0, stride)]);
        let data: Vec<u8> = vec![0; MANY as usize * stride];
        for (n, info) in flat.iter().enumerate() {
            // SAFETY: `data` has `stride` bytes for each info.
            unsafe {
                data.as_ptr().add(n * stride).cast_mut().cast::<vk::DescriptorImageInfo>().write_unaligned(*info)
            };
        }
        device.update_with_template(set, template, data.as_ptr().cast());
        device.destroy_template(template);
        device.destroy_layout(layout);
    }
    let conversion = vk::SamplerYcbcrConversionCreateInfo { format: PLANAR, ..Default::default() };
    for n in 0..MANY {
        device.conversion(&conversion);
        create!(device.create_swapchain(&vk::SwapchainCreateInfoKHR::default().image_format(INTEGERS)));
        let immutable = if n == 0 { &samplers } else { &samplers[..1] };
        let layout = device.layout(&[binding(0, COMBINED, immutable.len() as u32).immutable_samplers(immutable)]);
        device.pipeline_layout(&[layout]);
        device.sets(device.pool(), &[layout]);
        device.template(layout, &[entry(0, 0, 1, COMBINED, 0, INFO)]);
    }
    samplers.iter().for_each(|sampler| device.name(*sampler, c"a sampler"));
    device.destroy_all();
}
