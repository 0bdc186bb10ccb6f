//! Negotiation and the proc-addr functions.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::Arc;

use ash::vk;
use samplin::API_VERSION;
use samplin::commands::{Which, intercepted_on_devices};
use samplin::hooks::augment::OWN_EXTENSIONS;
use samplin_config::LAYER_NAME;

use crate::driver::{COMMANDS, Config, Level, Need};
use crate::loader::*;

const NULL: vk::Instance = vk::Instance::null();

/// The words of the setting `separate`, and whether it is followed what only shaders join.
const SEPARATE: [(bool, &str); 2] = [(false, "base"), (true, "resolve")];

/// What the layer answers itself for a simulated device that the application sees.
const PHYSICAL_INTERCEPTS: [&CStr; 14] = [
    c"vkGetPhysicalDeviceFormatProperties",
    c"vkGetPhysicalDeviceFormatProperties2",
    c"vkGetPhysicalDeviceFormatProperties2KHR",
    c"vkGetPhysicalDeviceImageFormatProperties",
    c"vkGetPhysicalDeviceSparseImageFormatProperties",
    c"vkGetPhysicalDeviceSparseImageFormatProperties2",
    c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR",
    c"vkGetPhysicalDeviceImageFormatProperties2",
    c"vkGetPhysicalDeviceImageFormatProperties2KHR",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceFeatures2KHR",
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceProperties2KHR",
];

/// What the layer intercepts of instances.
const INSTANCE_INTERCEPTS: [&CStr; 5] = [
    c"vkGetInstanceProcAddr",
    c"vkCreateInstance",
    c"vkDestroyInstance",
    c"vkCreateDevice",
    c"vkEnumerateDeviceExtensionProperties",
];

fn address(function: vk::PFN_vkVoidFunction) -> usize {
    function.map_or(0, |f| f as usize)
}

/// What the driver below resolves, asked directly.
fn below_instance(instance: &Instance, name: &CStr) -> usize {
    // SAFETY: a live instance of the driver.
    address(unsafe { crate::driver::get_instance_proc_addr(instance.raw, name.as_ptr()) })
}

fn below_device(device: &Device, name: &CStr) -> usize {
    // SAFETY: the signature is the one of the name.
    let gdpa: vk::PFN_vkGetDeviceProcAddr =
        cast(unsafe { crate::driver::get_instance_proc_addr(device.instance.raw, c"vkGetDeviceProcAddr".as_ptr()) })
            .unwrap();
    // SAFETY: a live device of the driver.
    address(unsafe { gdpa(device.raw, name.as_ptr()) })
}

#[test]
fn negotiation_settles_on_version_2() {
    for version in [2, 3, 7, u32::MAX] {
        let (result, interface) = negotiate_with(1, version);
        assert_eq!((result, interface.loader_layer_interface_version), (SUCCESS, 2));
        assert!(interface.pfn_get_instance_proc_addr.is_some() && interface.pfn_get_device_proc_addr.is_some());
    }
    for (s_type, version) in [(1, 0), (1, 1), (0, 2), (2, 2), (-1, 2)] {
        let (result, interface) = negotiate_with(s_type, version);
        assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
        assert_eq!(interface.loader_layer_interface_version, version, "outputs stay as they were");
        assert!(interface.pfn_get_instance_proc_addr.is_none());
    }
    // SAFETY: null is the case under test.
    let result = unsafe { samplin::entry::negotiate(std::ptr::null_mut()) };
    assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
}

#[test]
fn without_an_instance_no_device_command_resolves() {
    for name in [
        c"vkGetInstanceProcAddr",
        c"vkCreateInstance",
        c"vkEnumerateInstanceLayerProperties",
        c"vkEnumerateInstanceExtensionProperties",
        // Layers above have no instance at hand when they ask for these.
        c"vkDestroyInstance",
        c"vkCreateDevice",
    ] {
        assert!(gipa(NULL, name).is_some(), "{name:?}");
    }
    for name in [c"vkGetDeviceProcAddr", c"vkCreateSampler", c"vkEnumerateInstanceVersion", c"vkNoSuchCommand", c""] {
        assert!(gipa(NULL, name).is_none(), "{name:?}");
    }
    let gipa_again: vk::PFN_vkGetInstanceProcAddr = cast(gipa(NULL, c"vkGetInstanceProcAddr")).unwrap();
    // SAFETY: null is what is asked about: the query must survive it.
    assert!(unsafe { gipa_again(NULL, std::ptr::null()) }.is_none());
    // vkCreateInstance comes back whatever the instance is.
    let instance = InstanceBuilder::new().create().unwrap();
    assert_eq!(address(gipa(instance.raw, c"vkCreateInstance")), address(gipa(NULL, c"vkCreateInstance")));
}

#[test]
fn an_instance_resolves_what_the_driver_has() {
    // With `separate=base` nothing more is intercepted than ever.
    for (separate, word) in SEPARATE {
        let instance = InstanceBuilder::new().set("separate", word).create().unwrap();
        // Whether a shader can become another one depends on the device, of which an instance knows nothing.
        let intercepts: BTreeSet<&CStr> = intercepted_on_devices(Which {
            separate,
            shaders: true,
            buffers: true,
            buffer_views: true,
            frames: separate,
            retuned: false,
            pulsed: false,
        })
        .into_iter()
        .collect();
        assert_eq!(intercepts.contains(c"vkCmdBindPipeline"), separate);
        for (name, level, _) in COMMANDS {
            let (own, below) = (address(instance.resolve(name)), below_instance(&instance, name));
            if intercepts.contains(name) || *level == Level::Global {
                assert_eq!(own != 0, below != 0, "{name:?}");
                assert!(own == 0 || own != below, "{name:?} is intercepted");
            } else if INSTANCE_INTERCEPTS.contains(name) {
                assert!(own != 0 && own != below, "{name:?} is intercepted");
            } else {
                assert_eq!(own, below, "{name:?} is the driver's");
            }
        }
    }
    let instance = InstanceBuilder::new().instance();
    assert!(instance.resolve(c"vkNoSuchCommand").is_none());
    assert!(instance.resolve(c"vkEnumerateDeviceLayerProperties").is_some());
    // Commands that the driver lacks altogether, and aliases of which it has one.
    let hidden = vec![c"vkGetImageViewHandle64NVX", c"vkUpdateDescriptorSetWithTemplate", c"vkCmdBlitImage2KHR"];
    let instance = InstanceBuilder::new().driver(|driver| driver.hidden = hidden.clone()).instance();
    for name in hidden {
        assert!(instance.resolve(name).is_none(), "{name:?}");
    }
    for name in [c"vkUpdateDescriptorSetWithTemplateKHR", c"vkCmdBlitImage2", c"vkGetImageViewHandleNVX"] {
        assert!(instance.resolve(name).is_some(), "{name:?}");
    }
}

/// Checks every command of the driver on a device; `separate`: of an instance with `separate=resolve`.
fn check_device(device: &Device, separate: bool) {
    let which = device.entry().which();
    assert_eq!(which.separate, separate);
    let intercepts: BTreeSet<&CStr> = intercepted_on_devices(which).into_iter().collect();
    for (name, level, need) in COMMANDS {
        let (own, below) = (address(device.resolve(name)), below_device(device, name));
        if INSTANCE_INTERCEPTS.contains(name) || PHYSICAL_INTERCEPTS.contains(name) {
            assert_eq!(own, 0, "{name:?} is no device command");
        } else if *level != Level::Device {
            assert_eq!(own, below, "{name:?} is nothing that the layer knows");
        } else if below == 0 {
            assert_eq!(own, 0, "{name:?} does not exist without {need:?}");
        } else if intercepts.contains(name) {
            assert!(own != 0 && own != below, "{name:?} is intercepted");
        } else {
            assert_eq!(own, below, "{name:?} is the driver's");
        }
    }
    assert!(device.resolve(c"vkNoSuchCommand").is_none());
    assert!(device.resolve(c"vkGetInstanceProcAddr").is_none());
    // SAFETY: null is what is asked about.
    assert!(unsafe { (layer().gdpa)(device.raw, std::ptr::null()) }.is_none());
}

#[test]
fn a_device_resolves_what_is_enabled_and_nothing_else() {
    let version = |minor| vk::make_api_version(0, 1, minor, 0);
    for (minor, asked) in (0..=4).flat_map(|minor| (0..=4).map(move |asked| (minor, asked))) {
        for (separate, word) in SEPARATE {
            let builder = InstanceBuilder::new().driver(|driver| driver.api_version = version(minor));
            let mut builder = builder.set("separate", word);
            builder.api_version = version(asked);
            let instance = builder.instance();
            let all = instance.device(&DeviceInfo { extensions: Config::new().extensions, ..Default::default() });
            check_device(&all, separate);
            let none = instance.device(&DeviceInfo::default());
            check_device(&none, separate);
            assert_eq!(none.resolve(c"vkCmdPushDescriptorSet").is_some(), minor.min(asked) >= 4);
            assert!(
                none.resolve(c"vkCmdPushDescriptorSetKHR").is_none() && none.resolve(c"vkGetDescriptorEXT").is_none()
            );
            assert!(
                all.resolve(c"vkCmdPushDescriptorSetKHR").is_some() && all.resolve(c"vkGetDescriptorEXT").is_some()
            );
        }
    }
}

#[test]
fn a_careless_driver_does_not_make_the_layer_careless() {
    // It answers instance commands in vkGetDeviceProcAddr; those are not for devices.
    check_device(&InstanceBuilder::new().driver(|driver| driver.careless = true).device(), true);
}

#[test]
fn every_extension_is_needed_for_its_own_commands() {
    let config = Config::new();
    for left_out in &config.extensions {
        let extensions = config.extensions.iter().copied().filter(|name| name != left_out).collect();
        // Only what was enabled counts, not what the driver supports.
        let instance = InstanceBuilder::new().instance();
        let device = instance.device(&DeviceInfo { extensions, ..Default::default() });
        check_device(&device, true);
        for (name, _, need) in COMMANDS {
            if matches!(need, Need::Of(extension) if extension == left_out) {
                assert!(device.resolve(name).is_none(), "{name:?} without {left_out:?}");
            }
        }
    }
}

#[test]
fn both_spellings_of_an_alias_reach_the_driver_whichever_it_has() {
    let pairs: [(&CStr, &CStr); 9] = [
        (c"vkCmdPushDescriptorSet", c"vkCmdPushDescriptorSetKHR"),
        (c"vkCmdPushDescriptorSet2", c"vkCmdPushDescriptorSet2KHR"),
        (c"vkCmdPushDescriptorSetWithTemplate", c"vkCmdPushDescriptorSetWithTemplateKHR"),
        (c"vkCmdPushDescriptorSetWithTemplate2", c"vkCmdPushDescriptorSetWithTemplate2KHR"),
        (c"vkCmdBlitImage2", c"vkCmdBlitImage2KHR"),
        (c"vkCreateDescriptorUpdateTemplate", c"vkCreateDescriptorUpdateTemplateKHR"),
        (c"vkDestroyDescriptorUpdateTemplate", c"vkDestroyDescriptorUpdateTemplateKHR"),
        (c"vkUpdateDescriptorSetWithTemplate", c"vkUpdateDescriptorSetWithTemplateKHR"),
        (c"vkCreateSamplerYcbcrConversion", c"vkCreateSamplerYcbcrConversionKHR"),
    ];
    for spelling in 0..2 {
        let hidden: Vec<&'static CStr> = pairs.iter().map(|pair| if spelling == 0 { pair.1 } else { pair.0 }).collect();
        let mut builder = InstanceBuilder::new().driver(|driver| {
            driver.api_version = API_VERSION;
            driver.hidden = hidden.clone();
        });
        builder.api_version = API_VERSION;
        let device = builder.device();
        for (core, alias) in pairs {
            let (there, gone) = if spelling == 0 { (core, alias) } else { (alias, core) };
            assert!(device.resolve(there).is_some(), "{there:?}");
            assert!(device.resolve(gone).is_none(), "{gone:?}");
            // The application gets an alias from the instance all the same if the device could have it; calling it must
            // reach the driver by the other name.
        }
        let writes = [];
        device.push(vk::PipelineLayout::null(), 0, &writes);
        device.push2(&vk::PushDescriptorSetInfoKHR::default());
        assert_eq!(device.driver.calls().len(), 2);
    }
}

#[test]
fn a_hook_from_the_instance_survives_a_device_without_the_command() {
    let instance = InstanceBuilder::new().instance();
    let device = instance.device(&DeviceInfo::default());
    let mut out = vk::SwapchainKHR::null();
    // None of this is valid use, since the extensions are not enabled; the layer must only not crash.
    call!(instance.push(device.commands, GRAPHICS, vk::PipelineLayout::null(), 0, 0, std::ptr::null()));
    call!(instance.get_descriptor(device.raw, &vk::DescriptorGetInfoEXT::default(), 0, std::ptr::null_mut()));
    assert_eq!(call!(instance.get_view_handle(device.raw, &vk::ImageViewHandleInfoNVX::default())), 0);
    let info = vk::SwapchainCreateInfoKHR::default();
    assert!(call!(instance.create_swapchain(device.raw, &info, std::ptr::null(), &mut out)).as_raw() < 0);
    call!(instance.get_host_mapping(device.raw, vk::DescriptorSet::null(), std::ptr::null_mut()));
    assert_eq!(out, vk::SwapchainKHR::null());
    assert!(device.driver.calls().is_empty());
}

#[test]
fn enumerations_speak_of_the_layer_alone() {
    let layers: vk::PFN_vkEnumerateInstanceLayerProperties =
        cast(gipa(NULL, c"vkEnumerateInstanceLayerProperties")).unwrap();
    let extensions: vk::PFN_vkEnumerateInstanceExtensionProperties =
        cast(gipa(NULL, c"vkEnumerateInstanceExtensionProperties")).unwrap();
    let mut count = 9;
    // SAFETY: the two-call idiom, with room for what is asked for.
    unsafe {
        assert_eq!(layers(&mut count, std::ptr::null_mut()), SUCCESS);
        assert_eq!(count, 1);
        let mut out = [vk::LayerProperties::default(); 3];
        count = 3;
        assert_eq!(layers(&mut count, out.as_mut_ptr()), SUCCESS);
        assert_eq!((count, out[0].layer_name_as_c_str()), (1, Ok(LAYER_NAME)));
        assert_eq!(out[0].spec_version, API_VERSION);
        count = 0;
        assert_eq!(layers(&mut count, out.as_mut_ptr()), vk::Result::INCOMPLETE);
        assert_eq!(count, 0);
        for other in [std::ptr::null(), c"VK_LAYER_KHRONOS_validation".as_ptr(), c"".as_ptr()] {
            count = 5;
            let mut out = [vk::ExtensionProperties::default(); 5];
            assert_eq!(extensions(other, &mut count, out.as_mut_ptr()), vk::Result::ERROR_LAYER_NOT_PRESENT);
        }
        count = 5;
        let mut out = [vk::ExtensionProperties::default(); 5];
        assert_eq!(extensions(LAYER_NAME.as_ptr(), &mut count, out.as_mut_ptr()), SUCCESS);
        let names: Vec<_> = out[..count as usize].iter().map(|e| e.extension_name_as_c_str().unwrap()).collect();
        assert_eq!(names, [ash::ext::layer_settings::NAME]);
    }

    let instance = InstanceBuilder::new().create().unwrap();
    let physical = instance.physical();
    let layers: vk::PFN_vkEnumerateDeviceLayerProperties = instance.get(c"vkEnumerateDeviceLayerProperties");
    let extensions: vk::PFN_vkEnumerateDeviceExtensionProperties =
        instance.get(c"vkEnumerateDeviceExtensionProperties");
    // The layer's own extensions come on top.
    let of_driver = Config::new().extensions.len() as u32;
    // SAFETY: as above.
    unsafe {
        let mut out = [vk::LayerProperties::default(); 2];
        count = 2;
        assert_eq!(layers(physical, &mut count, out.as_mut_ptr()), SUCCESS);
        assert_eq!((count, out[0].layer_name_as_c_str()), (1, Ok(LAYER_NAME)));
        for (layer, expected) in
            [(std::ptr::null(), of_driver + 2), (LAYER_NAME.as_ptr(), 2), (c"VK_LAYER_OTHER".as_ptr(), of_driver)]
        {
            assert_eq!(extensions(physical, layer, &mut count, std::ptr::null_mut()), SUCCESS);
            assert_eq!(count, expected);
        }
        let mut out = [vk::ExtensionProperties::default(); 2];
        count = 2;
        let result = extensions(physical, std::ptr::null(), &mut count, out.as_mut_ptr());
        assert_eq!((result, count), (vk::Result::INCOMPLETE, 2));
        let mut out = vec![vk::ExtensionProperties::default(); of_driver as usize + 5];
        count = of_driver + 5;
        let result = extensions(physical, std::ptr::null(), &mut count, out.as_mut_ptr());
        assert_eq!((result, count), (SUCCESS, of_driver + 2));
        let names: Vec<_> = out[..count as usize].iter().map(|e| e.extension_name_as_c_str().unwrap()).collect();
        let expected: Vec<_> = Config::new().extensions.into_iter().chain(OWN_EXTENSIONS).collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn physical_devices_are_the_drivers_unless_a_simulation_is_shown() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/devices/few-borders.json");
    for visible in ["off", "on"] {
        let builder = InstanceBuilder::new().driver(|driver| driver.tells_features = true);
        let instance = builder.set("device", file).set("device_visible", visible).create().unwrap();
        for name in PHYSICAL_INTERCEPTS {
            let (own, below) = (address(instance.resolve(name)), below_instance(&instance, name));
            assert!(own != 0 && below != 0, "{name:?}");
            assert_eq!(own == below, visible == "off", "{name:?}");
        }
    }
    // What the driver lacks stays away.
    let hidden = vec![c"vkGetPhysicalDeviceFormatProperties2"];
    let builder = InstanceBuilder::new().driver(|driver| driver.hidden = hidden);
    let instance = builder.set("device", file).set("device_visible", "on").create().unwrap();
    assert!(instance.resolve(c"vkGetPhysicalDeviceFormatProperties2").is_none());
    assert!(instance.resolve(c"vkGetPhysicalDeviceFormatProperties2KHR").is_some());
}

#[test]
fn mode_off_hands_out_the_driver() {
    let device = InstanceBuilder::new().set("mode", "off").device();
    for (name, level, _) in COMMANDS {
        let own = [c"vkDestroyDevice", c"vkGetDeviceProcAddr"].contains(name);
        if *level == Level::Device {
            assert_eq!(address(device.resolve(name)) != below_device(&device, name), own, "{name:?}");
            let of_instance = (address(device.instance.resolve(name)), below_instance(&device.instance, name));
            assert_eq!(of_instance.0 != of_instance.1, own, "{name:?}");
        }
    }
    // Nothing is looked at: a sampler that is anything but legal goes down.
    let info = vk::SamplerCreateInfo { mip_lod_bias: f32::NAN, ..linear_info() };
    device.sampler(&info);
    crate::args!(device, c"vkCreateSampler", crate::driver::Args::CreateSampler { info: down, .. });
    assert_eq!(down.at, std::ptr::from_ref(&info) as usize);
}

/// The entry of a device goes with the device, from whichever resolver vkDestroyDevice came.
#[test]
fn mode_off_forgets_its_devices() {
    for mode in ["off", "legalize"] {
        for by_device in [false, true] {
            let device = InstanceBuilder::new().set("mode", mode).device();
            let (raw, instance) = (device.raw, Arc::clone(&device.instance));
            // SAFETY: a live device.
            let key = unsafe { samplin::dispatch::key(raw) };
            // SAFETY: as above; the device is used by nobody else.
            let is_known = || unsafe { samplin::device::Device::is_kept(key) };
            assert!(is_known());
            device.leak();
            // As layers ask and applications may, both resolvers by the instance.
            let resolver: vk::PFN_vkGetDeviceProcAddr = instance.get(c"vkGetDeviceProcAddr");
            let destroy = if by_device {
                // SAFETY: a live device.
                cast(unsafe { resolver(raw, c"vkDestroyDevice".as_ptr()) }).expect("it resolves")
            } else {
                instance.get::<vk::PFN_vkDestroyDevice>(c"vkDestroyDevice")
            };
            // SAFETY: the last use of the device.
            unsafe { destroy(raw, allocator()) };
            assert!(!is_known(), "{mode}, by the device's resolver: {by_device}");
        }
    }
}

/// Core commands of version 1.1 are for physical devices of that version (Fundamentals, "Physical-Device-Level Functionality"), even if
/// the instance has them.
#[test]
fn a_physical_device_of_version_1_0_is_asked_nothing_of_1_1() {
    for (version, asks) in [(vk::API_VERSION_1_0, false), (vk::API_VERSION_1_1, true)] {
        let mut builder = InstanceBuilder::new().driver(|driver| {
            driver.api_version = version;
            driver.instance_version = vk::API_VERSION_1_3;
            driver.tells_features = true;
        });
        builder.extensions.clear();
        let asked = Arc::clone(&builder.config.queries);
        let info = builder.device_info();
        let instance = builder.instance();
        let device = instance.device(&info);
        device.view(FILTERED);
        let asked = std::mem::take(&mut *crate::driver::lock(&asked));
        assert_eq!(!asked.is_empty(), asks, "{asked:?}");
    }
}
