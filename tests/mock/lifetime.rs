//! Who lives how long: variants, devices, instances; and what is counted at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use samplin::device::Device as Entry;
use serde_json::{Value, json};

use crate::driver::{Args, Kind, Reuse};
use crate::loader::*;

/// Sampler handles in the order in which they were destroyed, with the allocators.
fn destroyed(device: &Device) -> Vec<(u64, usize)> {
    let of = |args| if let Args::Destroy { handle, allocator } = args { Some((handle, allocator)) } else { None };
    device.driver.calls_of(c"vkDestroySampler").into_iter().filter_map(of).collect()
}

#[test]
fn a_variant_goes_with_the_last_sampler_that_it_stands_for() {
    let device = Device::usual();
    let allocator = allocator() as usize;
    let view = device.view(INTEGERS);
    // Two states that come to the same with this view.
    let a = device.linear();
    let twin = device.linear();
    let b = device.sampler(&linear_info().mag_filter(Filter::NEAREST));
    let variant = written(&device, a, view);
    assert_eq!(written(&device, twin, view), variant);
    assert_eq!(written(&device, b, view), variant, "equal states are one variant");
    assert_eq!(device.driver.variants(), [variant.as_raw()]);
    device.driver.calls();
    device.destroy_sampler(a);
    assert_eq!(destroyed(&device), [(a.as_raw(), allocator)]);
    device.destroy_sampler(b);
    assert_eq!(destroyed(&device), [(b.as_raw(), allocator)]);
    assert_eq!(written(&device, twin, view), variant);
    device.driver.calls();
    device.destroy_sampler(twin);
    let mut gone = destroyed(&device);
    gone.sort_unstable();
    let mut expected = [(variant.as_raw(), 0), (twin.as_raw(), allocator)];
    expected.sort_unstable();
    assert_eq!(gone, expected, "with the allocator that each was made with");
    // What comes later gets a new one.
    let c = device.linear();
    assert_ne!(written(&device, c, view), c);
}

#[test]
fn variants_go_before_the_device_even_if_the_application_forgets_its_samplers() {
    let device = Device::traced();
    let views = [device.view(INTEGERS), device.view(FLOATS)];
    for bias in [0.0, 0.5, 1.0] {
        let sampler = device.sampler(&vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() });
        for view in views {
            assert_ne!(written(&device, sampler, view), sampler);
        }
    }
    assert_eq!(device.driver.variants().len(), 3, "one for each state");
    let (driver, instance, raw) = (Arc::clone(&device.driver), Arc::clone(&device.instance), device.raw);
    let seen = Arc::new(AtomicBool::new(false));
    let at_the_end = Arc::clone(&seen);
    driver.observe(move |driver, call| {
        if call.command == c"vkDestroyDevice" {
            at_the_end.store(true, Ordering::Relaxed);
            if !driver.variants().is_empty() {
                driver.error(format!("variants outlive the device: {:x?}", driver.variants()));
            }
            // SAFETY: the driver's device is still there.
            if unsafe { Entry::find(raw) }.is_some() {
                driver.error("the layer still knows the device".to_owned());
            }
        }
    });
    drop(device);
    assert!(seen.load(Ordering::Relaxed));
    driver.check();
    assert_eq!(driver.live(Kind::Sampler).len(), 3, "the application's own are its own matter");
    let summary = &instance.records("summary")[0];
    assert_eq!(summary["samplers"], json!({ "created": 3, "live": 3, "peak": 3, "changed": 0 }));
    assert_eq!(summary["variants"], json!({ "live": 3, "peak": 3, "created": 3 }));
}

#[test]
fn the_summary_counts_what_happened() {
    let device = Device::traced();
    let (filtered, unfiltered) = (device.view(FILTERED), device.view(INTEGERS));
    let sampler = device.linear();
    device.destroy_sampler(device.sampler(&vk::SamplerCreateInfo { mip_lod_bias: 77.0, ..linear_info() }));
    let infos = [pair(sampler, filtered), pair(sampler, unfiltered), pair(sampler, unfiltered)];
    let set = device.plain_set();
    device.update(&[combined(set, 0, &infos), combined(set, 4, &infos[..1])], &[]);
    device.update(&[combined(set, 0, &infos[..1])], &[]);
    device.push(vk::PipelineLayout::null(), 0, &[combined(set, 0, &infos)]);
    let template = device.template(device.layout(&[]), &[entry(0, 0, 3, COMBINED, 0, INFO)]);
    device.update_with_template(set, template, infos.as_ptr().cast());
    device.blits_with(device.image(INTEGERS), Filter::LINEAR);
    let instance = Arc::clone(&device.instance);
    device.finish();
    let summary = &instance.records("summary")[0];
    let writes = |path: &str| (summary["writes"][path]["seen"].clone(), summary["writes"][path]["rewritten"].clone());
    assert_eq!(writes("update"), (json!(5), json!(2)));
    assert_eq!(writes("push"), (json!(3), json!(2)));
    assert_eq!(writes("template"), (json!(3), json!(2)));
    assert_eq!(writes("push_template"), (json!(0), json!(0)));
    assert_eq!(summary["samplers"], json!({ "created": 2, "live": 1, "peak": 2, "changed": 1 }));
    assert_eq!(summary["views"]["created"], 2);
    assert_eq!(summary["variants"], json!({ "live": 1, "peak": 1, "created": 1 }));
    assert_eq!(summary["blits_rewritten"], 1);
    assert_eq!(summary["changes"], json!({ "lod-bias": 1, "linear-filter": 2, "blit-filter": 1 }));
    assert_eq!((&summary["passed_through"], &summary["dropped"]), (&Value::Bool(false), &json!(0)));
    assert_eq!(summary["census"]["headroom"]["maxSamplerAllocationCount"], 4000 - 3);
}

#[test]
fn devices_do_not_see_each_other() {
    // The drivers of all devices hand out the same values.
    let first = InstanceBuilder::new().traced("decisions").instance();
    let second = InstanceBuilder::new().traced("decisions").instance();
    let devices = [
        first.device(&DeviceInfo::default()),
        first.device(&DeviceInfo::default()),
        second.device(&DeviceInfo::default()),
    ];
    let linear = devices[0].linear();
    let nearest = [devices[1].nearest(), devices[2].nearest()];
    assert!(nearest.iter().all(|sampler| *sampler == linear), "one value, three samplers");
    let views: Vec<_> = devices.iter().map(|device| device.view(INTEGERS)).collect();
    assert!(views.iter().all(|view| *view == views[0]));
    for (index, device) in devices.iter().enumerate() {
        assert_eq!(written(device, linear, views[0]) != linear, index == 0);
    }
    assert_eq!((first.records("pair").len(), second.records("pair").len()), (1, 0));
    // The end of one is not the end of the others.
    let [a, b, c] = devices;
    b.finish();
    assert_ne!(written(&a, linear, views[0]), linear);
    a.finish();
    assert_eq!(written(&c, linear, views[0]), linear);
    c.finish();
    assert_eq!(first.records("summary").len(), 2);
    let path = second.trace();
    assert_eq!(path.events("summary").count(), 1);
}

#[test]
fn threads_with_instances_of_their_own_do_not_meet() {
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            scope.spawn(move || {
                for round in 0..25 {
                    let device = InstanceBuilder::new().driver(|driver| driver.reuse = Reuse::AtOnce).device();
                    let view = device.view(if (thread + round) % 2 == 0 { INTEGERS } else { FILTERED });
                    let sampler = device.linear();
                    assert_eq!(written(&device, sampler, view) != sampler, (thread + round) % 2 == 0);
                }
            });
        }
    });
}

#[test]
fn null_instances_and_devices_are_destroyed_without_effect() {
    let device = Device::usual();
    call!(device.destroy_device(vk::Device::null(), std::ptr::null()));
    let instance = &device.instance;
    call!(instance.destroy_instance(vk::Instance::null(), std::ptr::null()));
    let sampler = device.nearest();
    assert_eq!(written(&device, sampler, device.view(INTEGERS)), sampler, "all is well");
}

#[test]
fn an_instance_tells_its_end() {
    let instance = InstanceBuilder::new().traced("decisions").create().unwrap();
    let ended = Arc::clone(&instance.destroyed);
    let trace = instance.keep_trace();
    drop(instance);
    assert!(ended.load(Ordering::Relaxed));
    let records = trace.read();
    let last = records.records.last().expect("records");
    assert_eq!((&last["event"], &last["scope"]), (&"summary".into(), &"instance".into()));
}
