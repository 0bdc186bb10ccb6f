//! One sampler of the driver for each state: `samplers=share`, and `auto` once there are nearly as many as the device allows.

use std::ffi::c_void;
use std::ptr;

use ash::vk::{self, Handle};

use crate::driver::Args;
use crate::loader::*;
use crate::stress::Random;

/// The `n`-th state.
fn state(n: u32) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo { min_lod: n as f32, ..linear_info() }
}

/// How many calls of the two commands arrived since the last look.
fn arrived(device: &Device) -> [usize; 2] {
    let calls = device.driver.calls();
    [c"vkCreateSampler", c"vkDestroySampler"].map(|name| calls.iter().filter(|call| call.command == name).count())
}

fn sharing(setting: &str, max: u32) -> Device {
    InstanceBuilder::new().set("samplers", setting).driver(|driver| driver.max_samplers = max).bare(&[])
}

fn create_with(
    device: &Device,
    info: &vk::SamplerCreateInfo<'_>,
    given: Option<&vk::AllocationCallbacks<'_>>,
) -> vk::Sampler {
    let (mut out, given) = (vk::Sampler::null(), given.map_or(ptr::null(), ptr::from_ref));
    assert_eq!(call!(device.create_sampler(device.raw, info, given, &mut out)), SUCCESS);
    out
}

/// Destroys a sampler that has no allocator.
fn destroy_bare(device: &Device, sampler: vk::Sampler) {
    call!(device.destroy_sampler(device.raw, sampler, ptr::null()));
}

/// What is destroyed as often as it was created ends with the last, and not before.
#[test]
fn equal_samplers_are_one() {
    let device = sharing("share", 4000);
    arrived(&device);
    let [first, second, other] = [state(1), state(1), state(2)].map(|info| device.sampler(&info));
    // What is ignored makes no other state.
    let garbage = vk::SamplerCreateInfo { max_anisotropy: 7.0, ..state(1) };
    let third = device.sampler(&garbage);
    assert!(first == second && first == third && first != other);
    assert_eq!(arrived(&device), [2, 0]);
    device.destroy_sampler(second);
    device.destroy_sampler(first);
    assert_eq!(arrived(&device), [0, 0]);
    // It is as good as ever.
    let view = device.view(INTEGERS);
    assert_ne!(written(&device, third, view), third, "an integer view needs a variant");
    arrived(&device);
    device.destroy_sampler(third);
    assert_eq!(arrived(&device), [0, 2], "it and the variant");
    let again = device.sampler(&state(1));
    assert_eq!(arrived(&device), [1, 0]);
    device.destroy_sampler(again);
    device.destroy_sampler(other);
}

/// A sampler that is changed at creation is changed for all who ask for it.
#[test]
fn what_is_changed_is_shared_as_well() {
    let device = sharing("share", 4000);
    let info = vk::SamplerCreateInfo { mip_lod_bias: 1e9, ..linear_info() };
    let all: Vec<vk::Sampler> = (0..3).map(|_| device.sampler(&info)).collect();
    assert!(all.iter().all(|sampler| *sampler == all[0]));
    assert_eq!(arrived(&device), [1, 0]);
    assert!(device.driver.sampler(all[0].as_raw()).unwrap().info.mip_lod_bias < 100.0);
    all.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
    assert_eq!(arrived(&device), [0, 1]);
}

/// Each goes to the allocator that it came from.
#[test]
fn allocators_do_not_mix() {
    let device = sharing("share", 4000);
    let [one, two] = [1, 2].map(|at| vk::AllocationCallbacks { p_user_data: at as *mut c_void, ..Default::default() });
    let of = |given: Option<&vk::AllocationCallbacks<'_>>| create_with(&device, &state(1), given);
    let [a, b, c, d] = [of(None), of(Some(&one)), of(Some(&two)), of(Some(&one))];
    assert!(a != b && b != c && a != c && b == d);
    // With an equal one at another place.
    let same = one;
    for (sampler, given) in [(b, Some(&same)), (a, None), (c, Some(&two)), (d, Some(&one))] {
        let given = given.map_or(ptr::null(), ptr::from_ref);
        call!(device.destroy_sampler(device.raw, sampler, given));
        let of = |args| if let Args::Destroy { allocator, .. } = args { Some(allocator) } else { None };
        let last: Vec<_> = device.driver.calls_of(c"vkDestroySampler").into_iter().filter_map(of).collect();
        assert_eq!(last, if sampler == b && given != ptr::from_ref(&one) { vec![] } else { vec![given as usize] });
    }
}

/// What must be one's own is: samplers for capture and replay, and any on a device whose handles are unique.
#[test]
fn what_is_told_apart_is_not_shared() {
    let private = vk::PhysicalDevicePrivateDataFeatures { private_data: 1, ..Default::default() };
    let thirteen = vk::PhysicalDeviceVulkan13Features { private_data: 1, ..Default::default() };
    let none = vk::PhysicalDevicePrivateDataFeatures::default();
    let buffers = vec![ash::ext::descriptor_buffer::NAME];
    for (chain, extensions, settings, shares) in [
        (ptr::from_ref(&none).cast::<c_void>(), vec![], &[("samplers", "share")][..], true),
        (ptr::from_ref(&private).cast(), vec![], &[("samplers", "share")], false),
        (ptr::from_ref(&thirteen).cast(), vec![], &[("samplers", "share")], false),
        (ptr::null(), buffers, &[("samplers", "share")], false),
        (ptr::null(), vec![], &[("samplers", "share"), ("mode", "audit")], false),
        (ptr::null(), vec![], &[], false),
        (ptr::null(), vec![], &[("samplers", "own")], false),
    ] {
        let instance = InstanceBuilder::new().settings(settings).instance();
        let device = instance.device(&DeviceInfo { chain, extensions, ..Default::default() });
        let [a, b] = [device.linear(), device.linear()];
        assert_eq!(a == b, shares, "{settings:?}");
        let flags = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let captured = vk::SamplerCreateInfo { flags, ..linear_info() };
        let mut weighted = vk::SamplerReductionModeCreateInfo::default();
        let chained = linear_info().push_next(&mut weighted);
        let data = vk::OpaqueCaptureDescriptorDataCreateInfoEXT::default();
        let opaque = vk::SamplerCreateInfo { p_next: ptr::from_ref(&data).cast(), ..linear_info() };
        for (info, may_share) in [(captured, false), (opaque, false), (chained, true)] {
            let [c, d] = [create_with(&device, &info, None), create_with(&device, &info, None)];
            assert_eq!(c == d, shares && may_share, "{settings:?}");
            [c, d].iter().for_each(|sampler| destroy_bare(&device, *sampler));
        }
        device.destroy_sampler(a);
        device.destroy_sampler(b);
    }
}

/// A chain of what says all that there is to a sampler, and of names, is compared by what it says.
#[test]
fn equal_chains_are_one() {
    let features = any_border();
    for level in ["decisions", "all"] {
        let builder = InstanceBuilder::new().set("samplers", "share").traced(level);
        let extensions = vec![ash::ext::custom_border_color::NAME, ash::ext::sampler_filter_minmax::NAME];
        let instance = builder.instance();
        let info = DeviceInfo { extensions, chain: ptr::from_ref(&features).cast(), ..Default::default() };
        let device = instance.device(&info);
        // A mode, a colour and its format, whether that is the border, and a name.
        let create = |(mode, color, format, is_border, name): (_, [f32; 4], _, bool, Option<&std::ffi::CStr>),
                      given| {
            let mut mode = vk::SamplerReductionModeCreateInfo::default().reduction_mode(mode);
            let color = vk::ClearColorValue { float32: color };
            let mut border =
                vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(color).format(format);
            let mut named = vk::DebugUtilsObjectNameInfoEXT::default();
            let mut info = linear_info().address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER);
            if is_border {
                info.border_color = vk::BorderColor::FLOAT_CUSTOM_EXT;
            }
            info = info.push_next(&mut mode).push_next(&mut border);
            if let Some(name) = name {
                named = named.object_name(name);
                named.p_next = info.p_next;
                info.p_next = ptr::from_ref(&named).cast();
            }
            create_with(&device, &info, given)
        };
        let average = vk::SamplerReductionMode::WEIGHTED_AVERAGE;
        let (none, r32) = (vk::Format::UNDEFINED, FLOATS);
        let like = (average, [0.25; 4], none, true, None);
        let first = create(like, None);
        assert_eq!(create(like, None), first, "by what they say, whatever lies where");
        assert_eq!(device.driver.calls_of(c"vkCreateSampler").len(), 1);
        let others = [
            (vk::SamplerReductionMode::MAX, [0.25; 4], none, true, None),
            (average, [0.5; 4], none, true, None),
            (average, [0.25; 4], r32, true, None),
            (average, [0.25; 4], none, false, None),
            (average, [0.25; 4], none, true, Some(c"one")),
            (average, [0.25; 4], none, true, Some(c"two")),
        ];
        let mut all: Vec<_> = others.iter().map(|other| create(*other, None)).collect();
        all.push(first);
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        // What is ignored says nothing.
        all.push(create((average, [0.75; 4], r32, false, None), None));
        assert_eq!(all[7], all[3]);
        // A name is as good as any other, and a chain with an allocator is its own.
        all.push(create(others[5], None));
        assert_eq!(all[8], all[5]);
        let own = vk::AllocationCallbacks { p_user_data: ptr::dangling_mut(), ..Default::default() };
        let apart = [create(like, Some(&own)), create(like, Some(&own))];
        assert!(apart[0] != apart[1] && !apart.contains(&first));
        apart.iter().for_each(|sampler| call!(device.destroy_sampler(device.raw, *sampler, &own)));
        all.push(first);
        all.into_iter().for_each(|sampler| destroy_bare(&device, sampler));
        let records = device.records("sampler");
        assert_eq!(records.len(), if level == "all" { 12 } else { 0 });
        assert!(records.iter().all(|record| record["changes"] == serde_json::json!([])));
        assert!(device.records("sharing").is_empty(), "it was asked for");
    }
}

/// At the level all each sampler has a record, also one that was handed out before.
#[test]
fn each_sampler_has_its_record() {
    let instance = InstanceBuilder::new().set("samplers", "share").traced("all").instance();
    let device = instance.device(&DeviceInfo::default());
    let changed = vk::SamplerCreateInfo { mip_lod_bias: 1e9, ..linear_info() };
    let all = [state(1), state(1), changed, changed].map(|info| device.sampler(&info));
    assert!(all[0] == all[1] && all[2] == all[3]);
    device.destroy_sampler(all[0]);
    device.destroy_sampler(all[2]);
    let changes = |record: &serde_json::Value| record["changes"].as_array().map(Vec::len);
    let records: Vec<_> = instance.records("sampler").iter().map(changes).collect();
    assert_eq!(records, [Some(0), Some(0), Some(1), Some(1)]);
    device.finish();
    let summary = instance.records("summary").remove(0);
    let [created, live, changed] = ["created", "live", "changed"].map(|name| summary["samplers"][name].as_u64());
    assert_eq!((created, live, changed), (Some(4), Some(2), Some(2)));
}

/// Far more samplers than the device allows, of fewer states, are created, and the driver has one of each in the end.
#[test]
fn many_samplers_of_few_states_fit() {
    const STATES: u32 = 900;
    let instance = InstanceBuilder::new().traced("decisions").driver(|driver| driver.max_samplers = 1024).instance();
    let device = instance.device(&DeviceInfo::default());
    let all: Vec<vk::Sampler> = (0..100_000).map(|n| device.sampler(&state(n % STATES))).collect();
    assert_eq!(arrived(&device)[0], STATES as usize);
    assert!((0..all.len()).all(|n| all[n] == all[n % STATES as usize]), "the same ones again");
    // What is left is for variants.
    let view = device.view(INTEGERS);
    assert_ne!(written(&device, all[5], view), all[5]);
    arrived(&device);
    all.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
    assert_eq!(arrived(&device), [0, STATES as usize + 1]);
    assert_eq!(instance.records("unresolved").len(), 0, "{:#?}", instance.records("unresolved"));
    let begun = instance.records("sharing");
    let begun: Vec<_> = begun.iter().map(|record| (record["count"].as_u64(), record["max"].as_u64())).collect();
    assert_eq!(begun, [(Some(896), Some(1024))], "once");
    device.finish();
    let summary = instance.records("summary").remove(0);
    let [created, live, peak] = ["created", "live", "peak"].map(|name| summary["samplers"][name].as_u64());
    assert_eq!((created, live, peak), (Some(100_000), Some(0), Some(100_000)));
    assert_eq!(summary["samplers"]["shared"]["given"], 100_000 - STATES);
    // The driver had one of each state, and a variant.
    assert_eq!(summary["census"]["headroom"]["maxSamplerAllocationCount"], 1024 - STATES - 1);
    let because = summary["samplers"]["shared"]["because"].as_str().unwrap();
    assert!(because.starts_with("896 samplers were live"), "{because}");
}

/// Their own, they do not fit, and the driver says so.
#[test]
fn many_samplers_of_their_own_are_refused() {
    let device = sharing("own", 1024);
    let all: Vec<_> = (0..1025).map(|n| device.try_sampler(&state(n % 900))).collect();
    assert!(all[..1024].iter().all(Result::is_ok) && all[1024].is_err());
    all.into_iter().flatten().for_each(|sampler| device.destroy_sampler(sampler));
}

/// With samplers of several allocators it is not known who made which: those that are there stay their own.
#[test]
fn what_was_made_with_several_allocators_stays_apart() {
    let device = sharing("auto", 64);
    let other = vk::AllocationCallbacks { p_user_data: 2 as *mut c_void, ..Default::default() };
    let foreign = create_with(&device, &state(0), Some(&other));
    let before: Vec<vk::Sampler> = (0..56).map(|n| device.sampler(&state(n))).collect();
    let [a, b] = [0, 0].map(|n| device.sampler(&state(n)));
    assert!(a == b && !before.contains(&a) && a != foreign);
    call!(device.destroy_sampler(device.raw, foreign, &other));
    before.into_iter().chain([a, b]).for_each(|sampler| device.destroy_sampler(sampler));
}

/// Samplers of a small limit leave no eighth to variants; shared ones need none.
#[test]
fn variants_have_what_is_left() {
    for (setting, has_variant) in [("own", false), ("share", true)] {
        let device = sharing(setting, 96);
        let sampler = device.linear();
        let view = device.view(INTEGERS);
        assert_eq!(written(&device, sampler, view) != sampler, has_variant, "{setting}");
        device.destroy_sampler(sampler);
    }
}

/// Threads create and destroy equal samplers at once, from the start and while sharing begins: what a thread holds is alive and of its state,
/// no more samplers are there than states, and none in the end. The driver takes no handle that is gone.
#[test]
fn threads_share_samplers() {
    const THREADS: u64 = 4;
    const STATES: u32 = 8;
    for (setting, max) in [("share", 4000), ("auto", 64)] {
        let device = sharing(setting, max);
        let start = std::sync::Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (device, start) = (&device, &start);
                scope.spawn(move || {
                    let (mut random, mut held) = (Random(thread), Vec::new());
                    start.wait();
                    for _ in 0..5_000 {
                        let n = random.below(1 << 31) as u32;
                        if held.len() < 14 && n % 16 < 9 || held.is_empty() {
                            held.push((n % STATES, device.sampler(&state(n % STATES))));
                        } else {
                            let (own, sampler) = held.swap_remove(n as usize % held.len());
                            let model = device.driver.sampler(sampler.as_raw()).expect("a live sampler");
                            assert_eq!(model.info.min_lod, own as f32);
                            device.destroy_sampler(sampler);
                        }
                    }
                    held.into_iter().for_each(|(_, sampler)| device.destroy_sampler(sampler));
                });
            }
        });
        let peak = device.driver.sampler_peak();
        // Before sharing begins each has its own. One that goes may still be there when another thread creates its like.
        let most = if setting == "share" { STATES + THREADS as u32 - 1 } else { max };
        assert!(peak <= most, "{peak} samplers");
        let [created, destroyed] = arrived(&device);
        assert!(created == destroyed && created > STATES as usize, "{created} created, {destroyed} destroyed");
        assert!(device.driver.variants().is_empty());
        let again = [state(1), state(1)].map(|info| device.sampler(&info));
        again.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
        device.finish();
    }
}
