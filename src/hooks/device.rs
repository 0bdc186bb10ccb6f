//! `vkCreateDevice` and `vkDestroyDevice`.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ash::vk;
use samplin_config::quirks;
use samplin_core::quirk::Quirks;
use vk_layer_sys::{LayerDeviceCreateInfo, LayerFunction, PfnGetDeviceProcAddr};

use super::augment::{self, Augmented, FeatureWishes};
use super::{MISSING, failure, physical};
use crate::caps::{self, DriverSays, Enabled, Formats};
use crate::commands;
use crate::decide::DeviceCaps;
use crate::device::{Device, Driver, LaterLimits, Limits, RulesSource};
use crate::dispatch::{self, DeviceFns, InstanceFns};
use crate::instance::Instance;
use crate::memory;
use crate::overrides::{Overrides, Rendered, ScaleBy};
use crate::pnext;
use crate::settings::{Counters, Mode};

/// The loader's node with the link to the layer below.
///
/// # Safety
///
/// `p_next` is the chain of a `VkDeviceCreateInfo` that the loader passed to a layer.
unsafe fn link(p_next: *const c_void) -> Option<*mut LayerDeviceCreateInfo> {
    // SAFETY: the loader's chain is valid; a node with this sType is the loader's own structure.
    unsafe { pnext::chain(p_next) }.find_map(|node| unsafe {
        let candidate = node.cast::<LayerDeviceCreateInfo>();
        ((*node).s_type == vk::StructureType::LOADER_DEVICE_CREATE_INFO
            && (*candidate).function == LayerFunction::LINK_INFO)
            .then_some(candidate.cast_mut())
    })
}

pub(crate) unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    create_info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: non-null by VUID-vkCreateDevice-pCreateInfo-parameter.
    let Some(info) = (unsafe { create_info.as_ref() }) else { return MISSING };
    // SAFETY: a valid physical device by VUID-vkCreateDevice-physicalDevice-parameter.
    let Some(instance) = (unsafe { Instance::share(physical) }) else { return MISSING };
    // SAFETY: `info` is a valid create info (VUID-vkCreateDevice-pCreateInfo-parameter), so all structures of its chain are whole.
    if let Some(refusal) = unsafe { physical::refusal(&instance, info) } {
        tracing::info!(result = ?refusal, "the simulated device lacks what the application asks of it");
        return refusal;
    }
    // SAFETY: the loader gives every layer its link in this chain; a layer must advance it in place for the one below.
    let (next_gipa, next_gdpa, link_below) = unsafe {
        let Some(link) = link(info.p_next) else { return MISSING };
        let Some(layer_info) = (*link).u.p_layer_info.as_ref() else { return MISSING };
        let (Some(next_gipa), Some(next_gdpa)) =
            (layer_info.pfn_next_get_instance_proc_addr, layer_info.pfn_next_get_device_proc_addr)
        else {
            return MISSING;
        };
        (*link).u.p_layer_info = layer_info.p_next;
        (next_gipa, next_gdpa, layer_info.p_next)
    };
    // SAFETY: the signature is the one of the name.
    let create: Option<vk::PFN_vkCreateDevice> = unsafe {
        next_gipa(instance.handle, c"vkCreateDevice".as_ptr())
            .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateDevice>(f))
    };
    let Some(create) = create else { return MISSING };
    let mut plan = catch_unwind(AssertUnwindSafe(|| {
        if instance.is_off() {
            return None;
        }
        // SAFETY: `info` is the valid create info of a device of `physical`.
        memory::inside(|| unsafe { plan(&instance, physical, info) })
    }))
    .unwrap_or(None);
    // The loader passes an object of its own there, which a failed attempt may overwrite.
    // SAFETY: non-null by VUID-vkCreateDevice-pDevice-parameter; what an application has there need not be initialised.
    let given = unsafe { device.cast::<MaybeUninit<vk::Device>>().read() };
    let mut result = vk::Result::ERROR_INITIALIZATION_FAILED;
    let mut done = false;
    let mut down = *info;
    if let Some(augmented) = &mut plan {
        down = augmented.link(info);
        // SAFETY: the application's own arguments but for the create info, which adds what the device supports.
        result = unsafe { create(physical, &down, allocator, device) };
        done = result == vk::Result::SUCCESS;
        if !done && !augmented.added.is_empty() {
            // Nobody asked for what was added, so a failure because of it must not reach the application.
            tracing::warn!(?result, added = ?augmented.added, "vkCreateDevice failed; tried again without what was added");
            augmented.withdraw(info);
            down = augmented.link(info);
            // SAFETY: the arguments of the first call, which were valid then; the layers below have advanced the link, which goes back to
            // where this layer found it.
            result = unsafe {
                restore(info.p_next, link_below);
                device.cast::<MaybeUninit<vk::Device>>().write(given);
                create(physical, &down, allocator, device)
            };
            done = result == vk::Result::SUCCESS;
        }
    }
    if plan.is_none() {
        // SAFETY: the application's own arguments, but for the link that the loader gave each layer to advance.
        result = unsafe { create(physical, create_info, allocator, device) };
        done = result == vk::Result::SUCCESS;
    }
    if !done {
        tracing::info!(?result, "vkCreateDevice failed below");
        return result;
    }
    // SAFETY: the call succeeded, so it has set the handle.
    let handle = unsafe { *device };
    let registered = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `info` is valid and `handle` was just created from `physical`.
        memory::inside(|| unsafe { register(instance, physical, &down, handle, next_gdpa, plan.as_ref()) });
    }));
    if let Err(payload) = registered {
        // SAFETY: `handle` is the device just created, with the same allocator.
        unsafe {
            if let Some(destroy) = next_gdpa(handle, c"vkDestroyDevice".as_ptr())
                .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkDestroyDevice>(f))
            {
                destroy(handle, allocator);
            }
            *device = vk::Device::null();
        }
        let result = failure(&*payload);
        tracing::warn!(?result, "the device was given back: the layer could not make itself ready for it");
        return result;
    }
    result
}

/// Sets the loader's link back to what the layer below has to find.
///
/// # Safety
///
/// `p_next` is the chain of a `VkDeviceCreateInfo` that the loader passed to a layer, `below` was read from its link.
unsafe fn restore(p_next: *const c_void, below: *mut vk_layer_sys::LayerDeviceLink) {
    // SAFETY: the chain is the loader's own by this function's contract, and a layer may write this one member of its node.
    unsafe {
        if let Some(link) = link(p_next) {
            (*link).u.p_layer_info = below;
        }
    }
}

/// The instance commands that a physical device of its version may be used with, that version (at most the application's), and the
/// properties it is from.
///
/// Core commands of version 1.1 are for physical devices of that version, whatever the instance has (Fundamentals,
/// "Physical-Device-Level Functionality").
///
/// # Safety
///
/// `physical` belongs to `instance`.
unsafe fn fns_for(
    instance: &Instance,
    physical: vk::PhysicalDevice,
) -> (InstanceFns, u32, Option<vk::PhysicalDeviceProperties>) {
    let properties = instance.fns.get_physical_device_properties.map(|get| {
        let mut plain = vk::PhysicalDeviceProperties::default();
        // SAFETY: `physical` belongs to the instance that `get` was resolved for, by this function's contract; `plain` is a live
        // local.
        unsafe { get(physical, &mut plain) };
        plain
    });
    let version = properties.map_or(vk::API_VERSION_1_0, |p| p.api_version).min(instance.api_version);
    let fns = instance.fns.clone();
    let old = version < vk::API_VERSION_1_1 && !instance.properties2;
    (if old { fns.for_version_1_0() } else { fns }, version, properties)
}

/// Limits of a device that structures of later versions and of extensions have.
///
/// # Safety
///
/// `physical` belongs to the instance that `fns` were loaded for.
unsafe fn later_limits<'a>(
    fns: &InstanceFns,
    physical: vk::PhysicalDevice,
    version: u32,
    enabled: &Enabled,
) -> LaterLimits<'a> {
    let mut later = LaterLimits::default();
    let mut properties = vk::PhysicalDeviceProperties2::default();
    // Drivers of 2016 do not survive structures of what they lack.
    let indexing = version >= vk::API_VERSION_1_2 || enabled.extension(ash::ext::descriptor_indexing::NAME);
    let maintenance = version >= vk::API_VERSION_1_1 || enabled.extension(ash::khr::maintenance3::NAME);
    if indexing {
        properties = properties.push_next(&mut later.after_bind);
    }
    if maintenance {
        properties = properties.push_next(&mut later.set);
    }
    if let (true, Some(get)) = (indexing || maintenance, fns.get_physical_device_properties2) {
        // SAFETY: `physical` is valid by this function's contract; the chain is made of live locals.
        unsafe { get(physical, &mut properties) };
    }
    // What it was chained to is gone.
    (later.after_bind.p_next, later.set.p_next) = (std::ptr::null_mut(), std::ptr::null_mut());
    later
}

/// What to hand down instead of the application's create info, if anything.
///
/// # Safety
///
/// `info` is the valid create info of a device of `physical`.
unsafe fn plan(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
) -> Option<Augmented> {
    // SAFETY: `physical` belongs to `instance`, or `info` would not be a valid create info of a device of it.
    let (fns, version, _) = unsafe { fns_for(instance, physical) };
    let augment = instance.settings.augment && instance.settings.mode == Mode::Legalize;
    if !augment {
        let (mode, augment) = (instance.settings.mode.as_str(), instance.settings.augment);
        tracing::debug!(mode, augment, "nothing is added to the device");
    }
    let wants = FeatureWishes {
        anisotropy: instance.settings.live || instance.overrides.want_anisotropy(),
        relax: instance.settings.storage.emulates(),
        counters: instance.settings.counters != Counters::None,
        simulation: instance.simulation.as_deref(),
    };
    // SAFETY: `info` is valid for `physical` by this function's contract, and `fns` are of its instance.
    unsafe { augment::plan(&fns, physical, info, version, augment, &wants) }
}

/// The name of a device.
fn name_of(properties: Option<&vk::PhysicalDeviceProperties>) -> String {
    let name = properties.and_then(|known| known.device_name_as_c_str().ok()).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// What the device can do and what is wanted of it.
///
/// # Safety
///
/// `info` is the valid create info of a device of `physical`, which `fns` may be used with.
unsafe fn abilities(
    instance: &Instance,
    fns: &InstanceFns,
    physical: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    properties: Option<&vk::PhysicalDeviceProperties>,
    quirks: Quirks,
    plan: Option<&Augmented>,
) -> (DeviceCaps, Enabled, Overrides) {
    // SAFETY: `info` is valid for `physical`, with which `fns` may be used, by this function's contract.
    let (mut caps, mut enabled) = unsafe { caps::query(fns, physical, info) };
    if let Some(simulation) = &instance.simulation {
        simulation.restrict(&mut caps);
    }
    let name = name_of(properties);
    tracing::info!(?name, "device created");
    let version = properties.map_or(vk::API_VERSION_1_0, |p| p.api_version).min(instance.api_version);
    caps.view_usage |= version >= vk::API_VERSION_1_1;
    enabled.format_lists |= version >= vk::API_VERSION_1_2;
    caps.format_feature_flags2 |= version >= vk::API_VERSION_1_3;
    let overrides = instance.overrides.for_device(&name, quirks);
    caps.gl_address_modes |= overrides.use_gl();
    if let Some(plan) = plan {
        caps.gl_address_modes |= plan.gl_address_modes;
        caps.gl_shaders |= plan.gl_shaders;
        enabled.augmented.clone_from(&plan.added);
        plan.added.iter().for_each(|what| tracing::debug!(what, "added"));
    }
    enabled.name_features(&caps);
    (caps, enabled, overrides)
}

/// Writes the records of a new device.
fn record_device(device: &Device, properties: Option<(vk::PhysicalDeviceProperties, Option<DriverSays>)>) {
    if device.ground.journal.trace().is_on() || tracing::enabled!(tracing::Level::DEBUG) {
        let driver = &device.ground.driver;
        // SAFETY: the device is valid for the resolver below it, and so is the name.
        let is_there = |name: &&CStr| unsafe { (driver.next_gdpa)(driver.handle, name.as_ptr()) }.is_some();
        let (hooked, lacking): (Vec<&CStr>, Vec<&CStr>) =
            commands::intercepted_on_devices(device.which()).into_iter().partition(is_there);
        hooked.iter().for_each(|name| tracing::trace!(?name, "hooked"));
        lacking.iter().for_each(|name| tracing::debug!(?name, "not hooked: the device has no such command"));
        if device.ground.journal.trace().is_on() {
            let intercepts: Vec<&str> = hooked.iter().filter_map(|name| name.to_str().ok()).collect();
            device.ground.journal.record_device(&device.ground.driver, properties, &intercepts);
            let is_constant = |by| matches!(by, ScaleBy::Fixed(_));
            let rules = device.ground.wishes.rules();
            device.ground.journal.record_scales(&rules, Rendered::default(), is_constant, None);
        }
    }
}

/// Enters the new device and writes its record. With `mode` off it is entered only so that its proc-addr queries can be passed on,
/// and nothing is asked of it.
///
/// # Safety
///
/// `info` is the valid create info of `handle`, a device of `physical`.
unsafe fn register(
    instance: Arc<Instance>,
    physical: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    handle: vk::Device,
    next_gdpa: PfnGetDeviceProcAddr,
    plan: Option<&Augmented>,
) {
    let taken = memory::taken();
    let off = instance.is_off();
    // SAFETY: `handle` is valid for the resolver below.
    let fns = DeviceFns::load(|name| unsafe { next_gdpa(handle, name.as_ptr()) });
    let (instance_fns, api_version, properties) =
        // SAFETY: `physical` is a physical device of `instance` by this function's contract.
        if off { Default::default() } else { unsafe { fns_for(&instance, physical) } };
    let is_asked = !off && (instance.trace.is_on() || instance.settings.live || instance.overrides.use_quirks());
    let says = properties.filter(|_| is_asked).and_then(|known| {
        // SAFETY: `physical` is a physical device of the instance, whose commands these are, by this function's contract.
        unsafe { caps::driver(&instance_fns, physical, known.api_version) }
    });
    let quirks = match (&instance.simulation, &says, &properties) {
        (Some(simulation), ..) => simulation.quirks(),
        (None, Some(says), Some(known)) => quirks::of_driver(&quirks::Identity {
            driver_id: says.id.as_raw(),
            version: known.driver_version,
            info: &says.info,
        }),
        _ => Quirks::default(),
    };
    let (caps, enabled, overrides) = if off {
        tracing::info!("device created; nothing is hooked, since mode is off");
        Default::default()
    } else {
        // SAFETY: `info` is valid for `physical` by this function's contract, and the commands are those of its instance.
        unsafe { abilities(&instance, &instance_fns, physical, info, properties.as_ref(), quirks, plan) }
    };
    // SAFETY: the commands are those of the instance that `physical` belongs to; with `mode` off there are none, and nothing is asked.
    let formats = unsafe { Formats::new(&instance_fns, physical, api_version, instance.simulation.clone()) };
    let mut memory = vk::PhysicalDeviceMemoryProperties::default();
    if let Some(get) = instance_fns.get_physical_device_memory_properties {
        // SAFETY: `physical` is valid by this function's contract; `memory` is a live local.
        unsafe { get(physical, &mut memory) };
    }
    // SAFETY: `physical` belongs to the instance that the commands are of.
    let later = unsafe { later_limits(&instance_fns, physical, api_version, &enabled) };
    // SAFETY: `info` is a valid create info of a device by this function's contract.
    let limits = properties.map_or_else(Limits::default, |known| unsafe { Limits::of(&known, &memory, info, &later) });
    let below = Driver { handle, instance, next_gdpa, instance_fns, fns, caps, enabled, formats, quirks };
    let source = (below.instance.settings.live && !off).then(|| {
        let [exe, app, engine] = below.instance.host.clone();
        let driver = name_of(properties.as_ref());
        RulesSource { setting: below.instance.settings.config.clone(), exe, app, engine, driver, quirks }
    });
    let device = Device::new(below, overrides, source, limits);
    if !off {
        record_device(&device, properties.map(|properties| (properties, says)));
        if let Some(separate) = device.separate.as_deref() {
            separate.read_learned(&device.ground);
        }
        if memory::taken() != taken {
            // What a device needs is too much for the reserve to give to many, and this command has a result for it.
            samplin_hot::memory::give_up();
        }
    }
    // SAFETY: `handle` was just created, by this function's contract, so it starts with its dispatch key.
    unsafe { Arc::new(device).register() };
}

pub(crate) unsafe extern "system" fn destroy_device(handle: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    if handle == vk::Device::null() {
        return;
    }
    // SAFETY: a valid device by VUID-vkDestroyDevice-device-parameter.
    let (key, device) = unsafe { (dispatch::key(handle), Device::share(handle)) };
    let Some(device) = device else { return };
    // Not through the guard: a device that is passed through since a panic has an end too, and what the layer made for it must not be
    // left to the driver, nor must what an application leaked (VUID-vkDestroyDevice-device-05137).
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if device.ground.journal.trace().is_on() {
            let separate = device.separate.as_deref();
            let joined = separate.map(|separate| separate.separate_summary(&device.ground));
            let columns = separate.and_then(|separate| separate.columns(&device.ground, &device.pairs));
            device.pairs.heaps.record_meeting(&device.ground, &device.pairs.images);
            device.pairs.summarize(&device.ground, joined, columns);
        }
    }));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Some(separate) = device.separate.as_deref() {
            separate.destroy_separate(&device.ground.driver);
        }
        device.pairs.stand_ins.storage.destroy_aliases(&device.ground.driver);
        device.pairs.stand_ins.aspects.destroy_aspects(&device.ground.driver);
        device.pairs.samplers.destroy_variants(&device.ground);
        device.pairs.submissions.destroy(&device.ground.driver);
    }));
    // SAFETY: destroying a device is externally synchronised with every other use of it.
    unsafe { Device::forget(key) };
    if let Some(destroy) = device.ground.driver.fns.destroy_device {
        down!(destroy(handle, allocator));
    }
    tracing::info!("device destroyed");
}
