//! `vkCreateInstance`, `vkDestroyInstance` and the enumerate commands.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use samplin_wire::{kinds, text};
use vk_layer_sys::{LayerFunction, LayerInstanceCreateInfo};

use super::augment::OWN_EXTENSIONS;
use super::{MISSING, failure};
use crate::caps;
use crate::dispatch::{self, InstanceFns};
use crate::instance::Instance;
use crate::log;
use crate::memory;
use crate::overrides::{Host, Overrides};
use crate::platform;
use crate::pnext::{self, slice};
use crate::settings::{self, Loaded, Problem, TraceIdentity};
use crate::simulate;
use crate::trace::Trace;
use crate::{LAYER_NAME, VERSION};

/// The loader's node with the link to the layer below.
///
/// # Safety
///
/// `p_next` is the chain of a `VkInstanceCreateInfo` that the loader passed to a layer.
unsafe fn link(p_next: *const c_void) -> Option<*mut LayerInstanceCreateInfo> {
    // SAFETY: the loader's chain is valid; a node with this sType is the loader's own structure.
    unsafe { pnext::chain(p_next) }.find_map(|node| unsafe {
        let candidate = node.cast::<LayerInstanceCreateInfo>();
        ((*node).s_type == vk::StructureType::LOADER_INSTANCE_CREATE_INFO
            && (*candidate).function == LayerFunction::LINK_INFO)
            .then_some(candidate.cast_mut())
    })
}

/// The settings that the application passed for this layer, as text.
///
/// # Safety
///
/// `p_next` is the chain of a valid `VkInstanceCreateInfo`.
unsafe fn application_settings(p_next: *const c_void) -> Vec<(String, String)> {
    // SAFETY: a node of this type in a valid chain is whole.
    let Some(node) = (unsafe { pnext::find::<vk::LayerSettingsCreateInfoEXT<'_>>(p_next) }) else { return Vec::new() };
    let mut out = Vec::new();
    // SAFETY: VUID-VkLayerSettingsCreateInfoEXT-pSettings-parameter.
    for setting in unsafe { slice(node.p_settings, node.setting_count) } {
        if setting.p_layer_name.is_null() || setting.p_setting_name.is_null() {
            continue;
        }
        // SAFETY: both are null-terminated (VUID-VkLayerSettingEXT-pLayerName-parameter, -pSettingName-parameter).
        let (layer, key) = unsafe { (CStr::from_ptr(setting.p_layer_name), CStr::from_ptr(setting.p_setting_name)) };
        if layer != LAYER_NAME {
            continue;
        }
        // SAFETY: `pValues` points to `valueCount` values of the stated type (VUID-VkLayerSettingEXT-pValues-parameter).
        let values = unsafe { setting_values(setting) };
        out.push((key.to_string_lossy().into_owned(), values.join(",")));
    }
    out
}

/// The values of one setting as text.
///
/// # Safety
///
/// `setting` is valid.
unsafe fn setting_values(setting: &vk::LayerSettingEXT<'_>) -> Vec<String> {
    macro_rules! numbers {
        ($type:ty) => {
            // SAFETY: the type member says what the array holds.
            unsafe { slice(setting.p_values.cast::<$type>(), setting.value_count) }
                .iter()
                .map(ToString::to_string)
                .collect()
        };
    }
    match setting.ty {
        vk::LayerSettingTypeEXT::BOOL32 => {
            // SAFETY: for BOOL32, `pValues` leads to `valueCount` words of 32 bits (VUID-VkLayerSettingEXT-pValues-parameter).
            unsafe { slice(setting.p_values.cast::<u32>(), setting.value_count) }
                .iter()
                .map(|value| if *value == 0 { "off" } else { "on" }.to_owned())
                .collect()
        }
        vk::LayerSettingTypeEXT::INT32 => numbers!(i32),
        vk::LayerSettingTypeEXT::INT64 => numbers!(i64),
        vk::LayerSettingTypeEXT::UINT32 => numbers!(u32),
        vk::LayerSettingTypeEXT::UINT64 => numbers!(u64),
        vk::LayerSettingTypeEXT::FLOAT32 => numbers!(f32),
        vk::LayerSettingTypeEXT::FLOAT64 => numbers!(f64),
        vk::LayerSettingTypeEXT::STRING => {
            // SAFETY: for strings, `pValues` leads to `valueCount` pointers, each to a null-terminated one
            // (VUID-VkLayerSettingEXT-pValues-parameter).
            unsafe { slice(setting.p_values.cast::<*const c_char>(), setting.value_count) }
                .iter()
                .filter(|text| !text.is_null())
                .map(|text| unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned())
                .collect()
        }
        other => vec![format!("a value of unknown type {}", other.as_raw())],
    }
}

/// Name and engine of the application.
///
/// # Safety
///
/// `info` is valid.
unsafe fn application(info: &vk::InstanceCreateInfo<'_>) -> (Option<String>, Option<String>, u32) {
    // SAFETY: null or valid (VUID-VkInstanceCreateInfo-pApplicationInfo-parameter), as are its names.
    unsafe {
        let Some(app) = info.p_application_info.as_ref() else { return (None, None, vk::API_VERSION_1_0) };
        let text = |name: *const c_char| (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned());
        (text(app.p_application_name), text(app.p_engine_name), app.api_version.max(vk::API_VERSION_1_0))
    }
}

pub(crate) unsafe extern "system" fn create_instance(
    create_info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: non-null by VUID-vkCreateInstance-pCreateInfo-parameter.
    let Some(info) = (unsafe { create_info.as_ref() }) else { return MISSING };
    // SAFETY: the loader gives every layer its link in this chain; a layer must advance it in place for the one below
    // (Loader and Layer Interface, "Layer Interception Requirements").
    let next_gipa = unsafe {
        let Some(link) = link(info.p_next) else { return MISSING };
        let Some(layer_info) = (*link).u.p_layer_info.as_ref() else { return MISSING };
        let Some(next_gipa) = layer_info.pfn_next_get_instance_proc_addr else { return MISSING };
        (*link).u.p_layer_info = layer_info.p_next;
        next_gipa
    };
    // SAFETY: vkCreateInstance is a global command, which resolves with a null instance; the loader interface guarantees
    // its signature.
    let create: Option<vk::PFN_vkCreateInstance> = unsafe {
        next_gipa(vk::Instance::null(), c"vkCreateInstance".as_ptr())
            .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(f))
    };
    let Some(create) = create else { return MISSING };
    // SAFETY: the application's own arguments, but for the link that the loader gave each layer to advance.
    let result = unsafe { create(create_info, allocator, instance) };
    if result != vk::Result::SUCCESS {
        tracing::info!(?result, "vkCreateInstance failed below");
        return result;
    }
    // SAFETY: the call succeeded, so it has set the handle.
    let handle = unsafe { *instance };
    let registered = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `info` is valid and `handle` was just created by the layer below.
        memory::inside(|| unsafe { register(info, handle, next_gipa) });
    }));
    if let Err(payload) = registered {
        // Nothing is registered, so nothing can be forwarded: undo, as a failing layer must.
        // SAFETY: `handle` is the instance just created, with the same allocator.
        unsafe {
            if let Some(destroy) = next_gipa(handle, c"vkDestroyInstance".as_ptr())
                .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkDestroyInstance>(f))
            {
                destroy(handle, allocator);
            }
            *instance = vk::Instance::null();
        }
        let result = failure(&*payload);
        tracing::warn!(?result, "the instance was given back: the layer could not make itself ready for it");
        return result;
    }
    result
}

/// Enters the new instance and writes its first records.
///
/// # Safety
///
/// `info` is valid, `handle` was created by the layer that `next_gipa` belongs to.
unsafe fn register(
    info: &vk::InstanceCreateInfo<'_>,
    handle: vk::Instance,
    next_gipa: vk_layer_sys::PfnGetInstanceProcAddr,
) {
    let taken = memory::taken();
    // SAFETY: `info` is a valid create info by this function's contract, so all structures of its chain are whole.
    let (given, (app, engine, api_version)) = unsafe { (application_settings(info.p_next), application(info)) };
    // SAFETY: VUID-VkInstanceCreateInfo-ppEnabledExtensionNames-parameter.
    let extensions = unsafe { caps::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
    let properties2 = extensions.contains(&ash::khr::get_physical_device_properties2::NAME);
    let fns = InstanceFns::load(|name| {
        // What the application did not ask for must not be called for it either, neither by version nor by extension.
        let bytes = name.to_bytes();
        let since_1_1 = bytes.ends_with(b"2");
        let of_extension = bytes.ends_with(b"2KHR");
        if (since_1_1 && (properties2 || api_version < vk::API_VERSION_1_1)) || (of_extension && !properties2) {
            return None;
        }
        // SAFETY: `handle` is valid for the resolver below.
        unsafe { next_gipa(handle, name.as_ptr()) }
    });
    let mut loaded = settings::load(&given);
    log::raise(loaded.settings.log);
    let off = loaded.settings.mode == settings::Mode::Off;
    let (trace, mut problems) =
        if off { (Trace::off(), Vec::new()) } else { Trace::open(&loaded.settings.trace, loaded.settings.trace_level) };
    let trace = trace.limited(loaded.settings.trace_limit);
    let mut simulation = None;
    if let Some(device) = loaded.settings.device.as_deref().filter(|_| !off) {
        match simulate::load(device) {
            Ok(found) => {
                found.quirks().defaults().for_each(|(name, text)| loaded.default_to(name, text));
                simulation = Some(Arc::new(found));
            }
            Err(error) => {
                say_unsimulated(device, &error.message);
                problems.push(Problem {
                    level: settings::Level::Error,
                    key: "device".into(),
                    file: error.path.map(|path| path.to_string_lossy().into_owned()),
                    line: error.line,
                    column: error.column,
                    message: error.message,
                });
            }
        }
    }
    let exe = platform::executable_name();
    let mut overrides = Overrides::default();
    if !off {
        let (found, wrong) = Overrides::find(loaded.settings.config.as_deref(), &exe);
        problems.extend(wrong);
        overrides = found.for_host(&Host {
            exe: &exe,
            app: app.as_deref().unwrap_or_default(),
            engine: engine.as_deref().unwrap_or_default(),
        });
    }
    let host = [Some(exe.clone()), app.clone(), engine.clone()].map(Option::unwrap_or_default);
    if memory::taken() != taken {
        // This command has a result for it.
        samplin_hot::memory::give_up();
    }
    problems.splice(..0, loaded.problems.iter().cloned());
    log_instance(&loaded, &problems, &exe, app.as_deref(), api_version);
    if trace.is_on() {
        let effective = loaded.effective();
        trace.emit(
            "layer",
            &kinds::Layer {
                version: VERSION.to_owned(),
                commit: crate::COMMIT.get().map(|commit| (*commit).to_owned()),
                started: Some(platform::date_and_time()),
                arguments: match loaded.settings.trace_identity {
                    TraceIdentity::Program => platform::arguments().into_iter().take(1).collect(),
                    TraceIdentity::Arguments | TraceIdentity::Host => platform::arguments(),
                },
                host: (loaded.settings.trace_identity == TraceIdentity::Host).then(platform::host_name).flatten(),
                exe,
                app,
                engine,
                api_version: Some(text::api_version(api_version)),
                settings: serde_json::to_value(effective).unwrap_or_default(),
            },
        );
        for problem in &problems {
            trace.emit("settings", problem);
        }
    }
    let (Loaded { settings, .. }, trace) = (loaded, Arc::new(trace));
    let instance = Instance {
        handle,
        next_gipa,
        fns,
        settings,
        trace,
        api_version,
        properties2,
        simulation,
        overrides,
        host,
        advertised: Default::default(),
    };
    // SAFETY: `handle` was just created, by this function's contract, so it starts with its dispatch key.
    unsafe { Arc::new(instance).register() };
}

/// Says on standard error that the device which somebody named is not simulated: what the program shows then is not what was asked for, and
/// the trace may be off. Once in a process.
fn say_unsimulated(device: &str, why: &str) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !platform::is_elevated() && !SAID.swap(true, Ordering::Relaxed) {
        platform::say(&format!("samplin: the device {device} is not simulated: {why}"));
    }
}

/// Records a new instance: where each setting came from, and what is wrong with them.
fn log_instance(loaded: &Loaded, problems: &[Problem], exe: &str, app: Option<&str>, api: u32) {
    tracing::info!(exe, app, api_version = text::api_version(api), "instance created");
    for (name, value, source) in &loaded.sources {
        tracing::debug!(name, value, ?source, "setting");
    }
    for problem in problems {
        tracing::warn!("{problem}");
    }
    if loaded.settings.mode == settings::Mode::Off {
        tracing::info!("mode is off: no command of its devices is hooked but vkDestroyDevice and vkGetDeviceProcAddr");
    }
}

pub(crate) unsafe extern "system" fn destroy_instance(
    handle: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if handle == vk::Instance::null() {
        return;
    }
    // SAFETY: a valid instance by VUID-vkDestroyInstance-instance-parameter.
    let (key, instance) = unsafe { (dispatch::key(handle), Instance::share(handle)) };
    let Some(instance) = instance else { return };
    Instance::forget(key);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if instance.trace.is_on() {
            let (dropped, left_out) = (instance.trace.dropped(), instance.trace.left_out());
            instance.trace.emit_last("summary", &kinds::Summary::Instance { dropped, left_out });
        }
        tracing::info!("instance destroyed");
    }));
    if let Some(destroy) = instance.fns.destroy_instance {
        down!(destroy(handle, allocator));
    }
}

/// Writes `all` through the two-call idiom.
///
/// # Safety
///
/// `count` is valid; `out` is null or has room for `*count` elements.
pub(crate) unsafe fn enumerate<T: Copy>(all: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: `count` is valid by this function's contract; a null one breaks the command's valid usage and is only survived.
    let Some(count) = (unsafe { count.as_mut() }) else { return MISSING };
    let available = u32::try_from(all.len()).unwrap_or(u32::MAX);
    if out.is_null() {
        *count = available;
        return vk::Result::SUCCESS;
    }
    let written = available.min(*count);
    for (index, item) in all.iter().take(written as usize).enumerate() {
        // SAFETY: `index < *count`, and the caller promises room for that many.
        unsafe { out.add(index).write(*item) };
    }
    *count = written;
    if written < available { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

/// Whether `name` is this layer's.
///
/// # Safety
///
/// `name` is null or null-terminated.
pub(crate) unsafe fn is_own(name: *const c_char) -> bool {
    // SAFETY: a name that is not null is null-terminated by this function's contract.
    !name.is_null() && unsafe { CStr::from_ptr(name) } == LAYER_NAME
}

/// Copies `text` into a fixed array, always terminated.
fn fill<const N: usize>(text: &CStr) -> [c_char; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().take(N - 1).zip(text.to_bytes()) {
        *to = *from as c_char;
    }
    out
}

fn layer_properties() -> vk::LayerProperties {
    vk::LayerProperties {
        layer_name: fill(LAYER_NAME),
        spec_version: crate::API_VERSION,
        implementation_version: 1,
        description: fill(c"Makes texture sampling legal, portable and explained"),
    }
}

pub(crate) unsafe extern "system" fn enumerate_instance_layer_properties(
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: `count` is valid and the array has that many elements (the -pPropertyCount- and -pProperties-parameter VUIDs).
    unsafe { enumerate(&[layer_properties()], count, properties) }
}

pub(crate) unsafe extern "system" fn enumerate_device_layer_properties(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: `count` is valid and the array has that many elements (the -pPropertyCount- and -pProperties-parameter VUIDs).
    unsafe { enumerate(&[layer_properties()], count, properties) }
}

pub(crate) unsafe extern "system" fn enumerate_instance_extension_properties(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: null or null-terminated by the command's valid usage.
    if !unsafe { is_own(layer) } {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    let settings = vk::ExtensionProperties {
        extension_name: fill(ash::ext::layer_settings::NAME),
        spec_version: ash::ext::layer_settings::SPEC_VERSION,
    };
    // SAFETY: `count` is valid and the array has that many elements (the -pPropertyCount- and -pProperties-parameter VUIDs).
    unsafe { enumerate(&[settings], count, properties) }
}

/// The layer's own extensions.
fn own_extensions() -> [vk::ExtensionProperties; OWN_EXTENSIONS.len()] {
    OWN_EXTENSIONS.map(|name| vk::ExtensionProperties { extension_name: fill(name), spec_version: 1 })
}

/// What the layer below has and a simulated device that is shown does not hide, and those of the layer's own extensions that the
/// loader has not added from the manifest.
///
/// # Safety
///
/// `physical` is a valid physical device of `instance`.
unsafe fn visible_extensions(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    next: vk::PFN_vkEnumerateDeviceExtensionProperties,
) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
    let mut available = 0;
    // SAFETY: `physical` is valid by this function's contract; the null pointer asks for the count alone, which goes to a local.
    let result = unsafe { next(physical, std::ptr::null(), &mut available, std::ptr::null_mut()) };
    if result != vk::Result::SUCCESS {
        return Err(result);
    }
    // Room for the layer's own as well.
    let mut all = samplin_hot::memory::vec(available as usize + OWN_EXTENSIONS.len());
    all.resize(available as usize, vk::ExtensionProperties::default());
    // SAFETY: `physical` is valid by this function's contract; the call writes at most `available` elements, which the vector has.
    let result = unsafe { next(physical, std::ptr::null(), &mut available, all.as_mut_ptr()) };
    if result != vk::Result::SUCCESS && result != vk::Result::INCOMPLETE {
        return Err(result);
    }
    all.truncate(available as usize);
    if let Some(simulation) = instance.simulation.as_deref().filter(|_| instance.shows_simulation()) {
        all.retain(|p| p.extension_name_as_c_str().is_ok_and(|name| !simulation.hides_extension(name)));
    }
    for own in own_extensions() {
        if !all.iter().any(|listed| listed.extension_name_as_c_str() == own.extension_name_as_c_str()) {
            all.push(own);
        }
    }
    Ok(all)
}

pub(crate) unsafe extern "system" fn enumerate_device_extension_properties(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: null or null-terminated by VUID-vkEnumerateDeviceExtensionProperties-pLayerName-parameter.
    if unsafe { is_own(layer) } {
        // SAFETY: `count` is valid and the array has that many elements
        // (VUID-vkEnumerateDeviceExtensionProperties-pPropertyCount-parameter, -pProperties-parameter).
        return unsafe { enumerate(&own_extensions(), count, properties) };
    }
    // SAFETY: a valid physical device by VUID-vkEnumerateDeviceExtensionProperties-physicalDevice-parameter.
    let Some(instance) = (unsafe { Instance::find(physical) }) else { return MISSING };
    let Some(next) = instance.fns.enumerate_device_extension_properties else { return MISSING };
    if !layer.is_null() || instance.is_off() {
        return down!(next(physical, layer, count, properties));
    }
    // SAFETY: `physical` is one of `instance`, which was found by it.
    let all =
        catch_unwind(AssertUnwindSafe(|| memory::inside(|| unsafe { visible_extensions(instance, physical, next) })));
    let all = match all {
        Ok(Ok(all)) => all,
        Ok(Err(result)) => return result,
        Err(payload) => return failure(&*payload),
    };
    // SAFETY: `count` is valid and the array has that many elements (VUID-vkEnumerateDeviceExtensionProperties-pPropertyCount-parameter,
    // -pProperties-parameter).
    unsafe { enumerate(&all, count, properties) }
}
