//! Chains that no loader or application should build, and what `vkCreateDevice` adds to those that they do.

use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk::{self, Handle};
use samplin::hooks::augment::{GL_ADDRESS_MODES, GL_SHADERS};
use vk_layer_sys::{LayerDeviceCreateInfo, LayerFunction, LayerInstanceCreateInfo, LayerInstanceCreateInfoUnion};

use crate::driver::{ATTEMPTS, Attempt, EXPECTED_LINK, NEXT_RESULTS, Node};
use crate::loader::*;
use crate::pages::Guarded;

const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

fn unknown(next: *const c_void) -> vk::BaseInStructure<'static> {
    vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0006), p_next: next.cast(), ..Default::default() }
}

/// Creates an instance with this chain as it is.
fn create_instance(chain: *const c_void) -> (vk::Result, u64) {
    let create: vk::PFN_vkCreateInstance = cast(gipa(vk::Instance::null(), c"vkCreateInstance")).unwrap();
    let info = vk::InstanceCreateInfo { p_next: chain, ..Default::default() };
    let mut out = vk::Instance::from_raw(0xabab);
    // SAFETY: the chain is what the test is about; it leads to readable nodes.
    let result = unsafe { create(&info, allocator(), &mut out) };
    (result, out.as_raw())
}

#[test]
fn an_instance_needs_its_link() {
    let loop_of_one = &mut unknown(ptr::null());
    let at = ptr::from_mut(loop_of_one);
    loop_of_one.p_next = at;
    let link = |info| LayerInstanceCreateInfo {
        s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
        p_next: ptr::null(),
        function: LayerFunction::LINK_INFO,
        u: LayerInstanceCreateInfoUnion { p_layer_info: info },
    };
    let no_payload = link(ptr::null_mut());
    let mut no_resolver = vk_layer_sys::LayerInstanceLink {
        p_next: ptr::null_mut(),
        pfn_next_get_instance_proc_addr: None,
        pfn_next_get_physical_device_proc_addr: None,
    };
    let empty_payload = link(&raw mut no_resolver);
    for chain in
        [ptr::null(), at.cast_const().cast(), ptr::from_ref(&no_payload).cast(), ptr::from_ref(&empty_payload).cast()]
    {
        assert_eq!(create_instance(chain), (FAILED, 0xabab));
    }
    // SAFETY: null is what is asked about.
    let create: vk::PFN_vkCreateInstance = cast(gipa(vk::Instance::null(), c"vkCreateInstance")).unwrap();
    let mut out = vk::Instance::null();
    // SAFETY: as above; the layer must survive it.
    assert_eq!(unsafe { create(ptr::null(), ptr::null(), &mut out) }, FAILED);
    // More nodes than anyone has, before the link.
    let mut nodes = Vec::new();
    let chain = InstanceChain::new(ptr::null(), true);
    let mut next = chain.first();
    for _ in 0..1000 {
        let node = Box::new(unknown(next));
        next = ptr::from_ref(&*node).cast();
        nodes.push(node);
    }
    assert_eq!(create_instance(next), (FAILED, 0xabab));
}

#[test]
fn a_device_needs_its_link() {
    let instance = InstanceBuilder::new().instance();
    let create: vk::PFN_vkCreateDevice = instance.get(c"vkCreateDevice");
    let physical = instance.physical();
    let loop_of_one = &mut unknown(ptr::null());
    let at = ptr::from_mut(loop_of_one);
    loop_of_one.p_next = at;
    let no_payload = LayerDeviceCreateInfo {
        s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
        p_next: ptr::null(),
        function: LayerFunction::LINK_INFO,
        u: vk_layer_sys::LayerDeviceCreateInfoUnion { p_layer_info: ptr::null_mut() },
    };
    for chain in [ptr::null(), at.cast_const().cast(), ptr::from_ref(&no_payload).cast()] {
        let info = vk::DeviceCreateInfo { p_next: chain, ..Default::default() };
        let mut out = vk::Device::from_raw(0xabab);
        // SAFETY: the chain is what the test is about.
        assert_eq!(unsafe { create(physical, &info, allocator(), &mut out) }, FAILED);
        assert_eq!(out.as_raw(), 0xabab);
    }
    let mut out = vk::Device::null();
    // SAFETY: null is what the test is about.
    assert_eq!(unsafe { create(physical, ptr::null(), allocator(), &mut out) }, FAILED);
}

#[test]
fn an_application_chain_that_never_ends_is_survived() {
    let device = Device::usual();
    let reduction = &mut vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
    let at = ptr::from_mut(reduction);
    let tail = &mut unknown(at.cast_const().cast());
    reduction.p_next = ptr::from_mut(tail).cast_const().cast();
    for (bias, start) in [
        (0.0, at.cast_const().cast::<c_void>()),
        (9.0, at.cast_const().cast()),
        (9.0, ptr::from_mut(tail).cast_const().cast()),
    ] {
        let info = vk::SamplerCreateInfo { p_next: start, mip_lod_bias: bias, ..linear_info() };
        device.sampler(&info);
    }
    // The same structure twice: the first counts, as in every driver.
    let second = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
    let mut first = vk::SamplerReductionModeCreateInfo::default();
    first.p_next = ptr::from_ref(&second).cast();
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&first).cast(), ..linear_info() };
    device.driver.calls();
    device.sampler(&info);
    assert!(device.took(c"vkCreateSampler", &info));
}

/// The attempts to create a device since the last look.
fn attempts() -> Vec<Attempt> {
    ATTEMPTS.take()
}

fn names(attempt: &Attempt) -> Vec<&str> {
    attempt.extensions.iter().map(String::as_str).collect()
}

fn text(names: &[&'static CStr]) -> Vec<&'static str> {
    names.iter().map(|name| name.to_str().unwrap()).collect()
}

/// What the layer adds when nothing is asked for.
const ADDED: [&CStr; 4] = [
    ash::ext::custom_border_color::NAME,
    ash::ext::border_color_swizzle::NAME,
    ash::khr::sampler_mirror_clamp_to_edge::NAME,
    ash::ext::sampler_filter_minmax::NAME,
];

/// Usages of views need no feature, so they come also where no feature is told; they are part of version 1.1.
#[test]
fn version_1_0_gets_the_usages_of_views() {
    const NAME: &CStr = ash::khr::maintenance2::NAME;
    for (version, has_it, expected) in [
        (vk::API_VERSION_1_0, true, text(&[NAME])),
        (vk::API_VERSION_1_0, false, text(&[])),
        (vk::API_VERSION_1_1, true, text(&[])),
    ] {
        let instance = InstanceBuilder::new().driver(|driver| {
            driver.api_version = version;
            driver.extensions.extend(has_it.then_some(NAME));
        });
        attempts();
        let device = instance.instance().device(&DeviceInfo::default());
        assert_eq!(names(&attempts()[0]), expected, "{version:#x} {has_it}");
        assert_eq!(device.entry().ground.driver.caps.view_usage, version > vk::API_VERSION_1_0 || has_it);
    }
}

#[test]
fn what_a_device_is_augmented_with_comes_on_top() {
    let instance = augmenting(InstanceBuilder::new().traced("decisions"));
    let mut memory = Guarded::new();
    let robustness = memory.value(unknown(ptr::null()));
    let given = [ash::khr::push_descriptor::NAME, ash::ext::debug_marker::NAME];
    attempts();
    let info = DeviceInfo { extensions: given.to_vec(), chain: robustness.cast(), ..Default::default() };
    let device = instance.device(&info);
    let attempt = &attempts()[0];
    assert_eq!(names(attempt), [text(&given), text(&ADDED)].concat());
    assert!(attempt.chain.iter().any(|node| node.at == robustness as usize), "the application's chain is still there");
    let custom: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_> = node_of(attempt).expect("the feature is enabled");
    assert_eq!(custom.custom_border_colors, 1);
    // A border colour without a format may cost speed and change opaque black ("Border Replacement"), and no repair needs it.
    assert_eq!(custom.custom_border_color_without_format, 0);
    assert!(!device.entry().ground.driver.caps.custom_border_color_without_format);
    let caps = &device.entry().ground.driver.caps;
    assert!(caps.border_color_swizzle && caps.sampler_filter_minmax);
    let record = &device.records("device")[0];
    assert_eq!(record["augmented"], serde_json::json!(text(&ADDED)));
    device.finish();

    // What the application chained is its own decision, and what it enabled is not enabled twice.
    let own = vk::PhysicalDeviceCustomBorderColorFeaturesEXT {
        p_next: robustness.cast_mut().cast(),
        custom_border_color_without_format: 1,
        ..Default::default()
    };
    let own = memory.value(own);
    let swizzle =
        vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT { p_next: own.cast_mut().cast(), ..Default::default() };
    let swizzle = memory.value(swizzle);
    let info = DeviceInfo { extensions: ADDED.to_vec(), chain: swizzle.cast(), ..Default::default() };
    let device = instance.device(&info);
    let attempt = &attempts()[0];
    assert_eq!(names(attempt), text(&ADDED));
    let custom =
        attempt.chain.iter().filter(|node| node.get::<vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_>>().is_some());
    assert_eq!(custom.map(|node| node.at).collect::<Vec<_>>(), [own as usize]);
    assert!(!device.entry().ground.driver.caps.custom_border_colors);
    assert!(device.entry().ground.driver.caps.custom_border_color_without_format);
}

#[test]
fn a_border_that_was_not_asked_for_is_made_with_the_format_of_its_view() {
    let instance = augmenting(InstanceBuilder::new());
    let info = linear_info()
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
        .border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
    let color = vk::ClearColorValue { float32: [0.5, 0.25, 0.0, 1.0] };
    let format = FILTERED;
    // The application enabled nothing, so no format is not for it to leave out; with the feature of its own it is.
    let custom = any_border();
    for (chain, own) in [(ptr::null(), false), (ptr::from_ref(&custom).cast::<c_void>(), true)] {
        let device = instance.device(&DeviceInfo { chain, ..Default::default() });
        let mut border = vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(color);
        let sampler = device.sampler(&info.push_next(&mut border));
        let down = written(&device, sampler, device.view(format));
        let model = device.driver.sampler(down.as_raw()).unwrap();
        assert_eq!((down == sampler, model.by_layer), (own, !own));
        let found: vk::SamplerCustomBorderColorCreateInfoEXT<'_> =
            model.chain.iter().find_map(Node::get).expect("the colour that was asked for");
        // SAFETY: the member that was set.
        assert_eq!(unsafe { found.custom_border_color.float32 }, unsafe { color.float32 });
        assert_eq!(found.format, if own { vk::Format::UNDEFINED } else { format });
    }
}

/// The first structure of a type.
fn node_of<T: vk::TaggedStructure + Copy>(attempt: &Attempt) -> Option<T> {
    attempt.chain.iter().find_map(Node::get)
}

/// An instance of a driver that tells its features.
fn augmenting(builder: InstanceBuilder) -> std::sync::Arc<Instance> {
    builder.driver(|driver| driver.tells_features = true).instance()
}

/// The structures of a chain that are of these types, from the front.
fn of_types(attempt: &Attempt, types: &[i32]) -> Vec<Node> {
    attempt.chain.iter().filter(|node| types.contains(&node.s_type.as_raw())).cloned().collect()
}

#[test]
fn structures_younger_than_the_bindings_are_copied_whole() {
    /// `VkPhysicalDeviceVulkan14Features`: 21 features.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Vulkan14 {
        s_type: vk::StructureType,
        p_next: *const c_void,
        features: [u32; 21],
    }
    let instance = augmenting(InstanceBuilder::new());
    let mut memory = Guarded::new();
    let twelve = memory.value(vk::PhysicalDeviceVulkan12Features::default());
    let features = std::array::from_fn(|index| 0x1400 + index as u32);
    let s_type = vk::StructureType::from_raw(55);
    let fourteen = memory.value(Vulkan14 { s_type, p_next: twelve.cast(), features });
    attempts();
    let device = instance.device(&DeviceInfo { chain: fourteen.cast(), ..Default::default() });
    let found = of_types(&attempts()[0], &[55, 51]);
    assert_eq!(found.iter().map(|node| node.s_type.as_raw()).collect::<Vec<_>>(), [55, 51], "their order stays");
    assert!(found[0].at != fourteen as usize && found[1].at != twelve as usize, "copies");
    // SAFETY: the mock copied the whole structure.
    let copy = unsafe { found[0].bytes.as_ptr().cast::<Vulkan14>().read_unaligned() };
    assert_eq!(copy.features, features);
    let second: vk::PhysicalDeviceVulkan12Features<'_> = found[1].get().unwrap();
    assert_eq!((second.sampler_mirror_clamp_to_edge, second.sampler_filter_minmax), (1, 1));
    assert!(device.entry().ground.driver.caps.sampler_filter_minmax);
}

#[test]
fn a_structure_that_has_to_differ_is_copied_with_all_before_it() {
    let instance = augmenting(InstanceBuilder::new());
    let mut memory = Guarded::new();
    let behind = memory.value(unknown(ptr::null()));
    let twelve = vk::PhysicalDeviceVulkan12Features {
        p_next: behind.cast_mut().cast(),
        timeline_semaphore: 1,
        ..Default::default()
    };
    let twelve = memory.value(twelve);
    let two = vk::PhysicalDeviceFeatures2 { p_next: twelve.cast_mut().cast(), ..Default::default() };
    let two = memory.value(two);
    attempts();
    let device = instance.device(&DeviceInfo { chain: two.cast(), ..Default::default() });
    let attempt = &attempts()[0];
    let found: vk::PhysicalDeviceVulkan12Features<'_> = node_of(attempt).expect("it is still there");
    assert_eq!((found.sampler_mirror_clamp_to_edge, found.sampler_filter_minmax, found.timeline_semaphore), (1, 1, 1));
    let at: Vec<usize> = attempt.chain.iter().map(|node| node.at).collect();
    assert!(!at.contains(&(twelve as usize)) && !at.contains(&(two as usize)), "copies");
    assert_eq!(at.last(), Some(&(behind as usize)), "what follows is the application's");
    assert!(device.entry().ground.driver.caps.sampler_filter_minmax);
    device.finish();

    // An unknown structure in front cannot be copied: then nothing is changed, and the application's go down.
    let front = memory.value(unknown(two.cast()));
    let device = instance.device(&DeviceInfo { chain: front.cast(), ..Default::default() });
    let attempt = &attempts()[0];
    let at: Vec<usize> = attempt.chain.iter().map(|node| node.at).collect();
    assert!(at.ends_with(&[front as usize, two as usize, twelve as usize, behind as usize]));
    assert!(!device.entry().ground.driver.caps.sampler_filter_minmax);
}

/// Features that only make something about sampling legal are enabled where the device, and the one that is simulated, has them.
#[test]
fn what_only_has_to_be_enabled_is() {
    const PERMITS: [&str; 4] = [
        "imageCubeArray",
        "shaderImageGatherExtended",
        "shaderSampledImageArrayDynamicIndexing",
        "shaderResourceMinLod",
    ];
    let bits = |of: &vk::PhysicalDeviceFeatures| {
        let [cubes, gather] = [of.image_cube_array, of.shader_image_gather_extended];
        [cubes, gather, of.shader_sampled_image_array_dynamic_indexing, of.shader_resource_min_lod]
    };
    let weak = r#"{"schema": "device-caps/1", "features": {"imageCubeArray": false}, "formats": {}}"#;
    let weak = File::new("json", weak);
    let weak = weak.path();
    let own = vk::PhysicalDeviceFeatures { image_cube_array: 1, shader_image_gather_extended: 1, ..Default::default() };
    let none = vk::PhysicalDeviceFeatures::default();
    for (settings, permits, given, expected) in [
        (&[][..], true, none, [1, 1, 1, 1]),
        (&[], true, own, [1, 1, 1, 1]),
        (&[], false, none, [0; 4]),
        (&[("augment", "off")], true, none, [0; 4]),
        (&[("mode", "audit")], true, own, [1, 1, 0, 0]),
        (&[("device", weak)], true, none, [0, 1, 1, 1]),
        (&[("device", weak)], true, own, [1, 1, 1, 1]),
    ] {
        let builder = InstanceBuilder::new().traced("decisions").driver(|driver| {
            (driver.tells_features, driver.permits) = (true, permits);
        });
        let instance = builder.settings(settings).instance();
        // In pEnabledFeatures, and in a structure that is copied for it.
        let two = vk::PhysicalDeviceFeatures2 { features: given, ..Default::default() };
        for chained in [false, true] {
            attempts();
            let info = DeviceInfo {
                features: if chained { none } else { given },
                chain: if chained { ptr::from_ref(&two).cast() } else { ptr::null() },
                ..Default::default()
            };
            let device = instance.device(&info);
            let attempt = &attempts()[0];
            let below = attempt.chain.iter().find_map(Node::get::<vk::PhysicalDeviceFeatures2<'_>>);
            let below = below.map(|two| two.features).or(attempt.features).unwrap();
            assert_eq!(bits(&below), expected, "{settings:?} {permits} {chained}");
            let record = device.records("device").pop().unwrap();
            let differs = |at: usize| expected[at] != bits(&given)[at];
            let added: Vec<&str> = (0..4).filter(|at| differs(*at)).map(|at| PERMITS[at]).collect();
            let told: Vec<&str> =
                record["augmented"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
            let told: Vec<&str> = told.into_iter().filter(|name| PERMITS.contains(name)).collect();
            assert_eq!(told, added, "{settings:?} {permits} {chained}: {record:#}");
            // Each with its reason.
            for name in record["augmented"].as_array().unwrap() {
                assert!(record["augmented_for"][name.as_str().unwrap()].is_string(), "{record:#}");
            }
        }
        assert_eq!(bits(&two.features), bits(&given), "the application's own structure");
    }
}

#[test]
fn a_device_that_fails_with_additions_is_tried_without() {
    let instance = augmenting(InstanceBuilder::new().traced("decisions"));
    let given = [ash::khr::push_descriptor::NAME, GL_ADDRESS_MODES, GL_SHADERS];
    let info = DeviceInfo { extensions: given.to_vec(), ..Default::default() };
    attempts();
    // The mock checks the link at each attempt: it must be the one for the layer below again.
    NEXT_RESULTS.set([vk::Result::ERROR_TOO_MANY_OBJECTS].into());
    let device = instance.device(&info);
    let tried = attempts();
    assert_eq!(tried.len(), 2);
    assert_eq!(names(&tried[0]), [text(&given[..1]), text(&ADDED)].concat());
    assert_eq!(names(&tried[1]), text(&given[..1]), "the layer's own extensions never reach the driver");
    // Behind pDevice is the loader's own object, whatever the first attempt left there.
    assert_eq!([tried[0].device, tried[1].device], [LOADERS_DEVICE; 2]);
    let caps = &device.entry().ground.driver.caps;
    assert!(!caps.custom_border_colors && caps.gl_address_modes);
    assert_eq!(device.records("device")[0]["augmented"], serde_json::json!([]));
    device.finish();
    // The application is told of the second failure.
    NEXT_RESULTS.set([vk::Result::ERROR_TOO_MANY_OBJECTS, vk::Result::ERROR_DEVICE_LOST].into());
    assert_eq!(instance.try_device(&info).err(), Some(vk::Result::ERROR_DEVICE_LOST));
    assert_eq!(attempts().len(), 2);
}

#[test]
fn a_copied_chain_leaves_the_link_to_the_second_attempt() {
    // The loader's nodes stand before the structure that has to differ, so they are copied with it and the layers below advance the
    // copy; the second attempt goes down with the loader's own.
    let instance = augmenting(InstanceBuilder::new());
    let twelve = vk::PhysicalDeviceVulkan12Features::default();
    let info = DeviceInfo { chain: ptr::from_ref(&twelve).cast(), ..Default::default() };
    attempts();
    NEXT_RESULTS.set([vk::Result::ERROR_TOO_MANY_OBJECTS].into());
    // The mock checks at each attempt that the link is the one for the layer below.
    let _device = instance.device(&info);
    let tried = attempts();
    let at = |attempt: &Attempt| of_types(attempt, &[51])[0].at;
    assert_eq!(
        (at(&tried[0]) == ptr::from_ref(&twelve) as usize, at(&tried[1])),
        (false, ptr::from_ref(&twelve) as usize)
    );
}

#[test]
fn nothing_is_copied_when_nothing_is_added() {
    for builder in [InstanceBuilder::new().set("augment", "off"), InstanceBuilder::new().set("mode", "audit")] {
        let instance = builder.driver(|driver| driver.tells_features = true).instance();
        // SAFETY: a live instance of the driver.
        let below = unsafe { crate::driver::get_instance_proc_addr(instance.raw, c"vkGetDeviceProcAddr".as_ptr()) };
        let chain = DeviceChain::new(ptr::null(), cast(below).unwrap());
        let info = vk::DeviceCreateInfo { p_next: chain.first(), ..Default::default() };
        EXPECTED_LINK.set(chain.below());
        let create: vk::PFN_vkCreateDevice = instance.get(c"vkCreateDevice");
        let mut raw = vk::Device::null();
        attempts();
        // SAFETY: a valid create info.
        assert_eq!(unsafe { create(instance.physical(), &info, allocator(), &mut raw) }, SUCCESS);
        assert_eq!(attempts()[0].info, ptr::from_ref(&info) as usize);
        assert!(attempts().is_empty());
        let destroy: vk::PFN_vkDestroyDevice = instance.get(c"vkDestroyDevice");
        // SAFETY: the device that was just created.
        unsafe { destroy(raw, allocator()) };
    }
}

#[test]
fn features_are_found_wherever_they_stand() {
    // In pEnabledFeatures, in VkPhysicalDeviceFeatures2, in neither.
    let instance = InstanceBuilder::new().instance();
    let two = vk::PhysicalDeviceFeatures2 {
        features: vk::PhysicalDeviceFeatures { sampler_anisotropy: 1, ..Default::default() },
        ..Default::default()
    };
    let none = vk::PhysicalDeviceFeatures::default();
    for (features, chain, expected) in [
        (DeviceInfo::default().features, ptr::null(), true),
        (none, ptr::from_ref(&two).cast::<c_void>(), true),
        (none, ptr::null(), false),
    ] {
        attempts();
        let device = instance.device(&DeviceInfo { features, chain, extensions: Vec::new() });
        assert_eq!(device.entry().ground.driver.caps.sampler_anisotropy, expected);
        assert!(attempts()[0].features.is_some());
    }
}
