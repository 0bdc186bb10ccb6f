//! How Android's loader finds, opens and closes the layer, played on Linux by a small loader of our own over a real driver.
//!
//! It speaks version 0 of the layer interface: no manifest and no negotiation. What it does is what Android's `layers_extensions.cpp`
//! and `api.cpp` do. The library under test is that of `testkit/v0`.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk::{self, Handle};
use libloading::Library;
use samplin_testkit::folder::Folder;
use samplin_testkit::layer;
use serde_json::Value;
use vk_layer_sys::{
    LayerDeviceCreateInfo, LayerDeviceCreateInfoUnion, LayerDeviceLink, LayerFunction, LayerInstanceCreateInfo,
    LayerInstanceCreateInfoUnion, LayerInstanceLink,
};

/// The library under test.
const LIBRARY: &str = "libVkLayer_samplin_v0.so";

type Resolve = vk::PFN_vkGetInstanceProcAddr;
type ResolveOfDevice = vk::PFN_vkGetDeviceProcAddr;

// --- the driver -----------------------------------------------------------------------------------------------------

/// The driver's own resolver.
static DRIVER: OnceLock<Resolve> = OnceLock::new();
/// The instance that lives, as the driver made it.
static INSTANCE: AtomicU64 = AtomicU64::new(0);

/// Marks an object as a loader does: the first word of all that belong to an instance, or to a device, is the same.
///
/// # Safety
///
/// `object` is a dispatchable object of the driver.
unsafe fn mark(object: u64, word: *mut c_void) {
    // SAFETY: the first word of such an object is the loader's.
    unsafe { *(object as *mut *mut c_void) = word };
}

/// The first word of an object.
///
/// # Safety
///
/// As [`mark`].
unsafe fn word(object: u64) -> *mut c_void {
    // SAFETY: as there.
    unsafe { *(object as *mut *mut c_void) }
}

/// A word that no other object has.
fn new_word() -> *mut c_void {
    Box::into_raw(Box::new(0_u64)).cast()
}

/// A command of the driver.
///
/// # Safety
///
/// `F` is the command's own type.
unsafe fn driver<F: Copy>(name: &CStr) -> F {
    let instance = if name == c"vkCreateInstance" { 0 } else { INSTANCE.load(Ordering::Relaxed) };
    let resolve = DRIVER.get().expect("the driver is loaded");
    // SAFETY: the instance is null or lives.
    let found = unsafe { resolve(vk::Instance::from_raw(instance), name.as_ptr()) }.expect("the driver has it");
    // SAFETY: by this function's contract.
    unsafe { std::mem::transmute_copy(&found) }
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the caller's arguments, but for the chain, which is not the driver's.
    unsafe {
        let info = vk::InstanceCreateInfo { p_next: ptr::null(), ..*info };
        let result = driver::<vk::PFN_vkCreateInstance>(c"vkCreateInstance")(&info, allocator, out);
        assert_eq!(result, vk::Result::SUCCESS);
        INSTANCE.store((*out).as_raw(), Ordering::Relaxed);
        mark((*out).as_raw(), new_word());
        result
    }
}

unsafe extern "system" fn physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDevice,
) -> vk::Result {
    // SAFETY: the caller's arguments; the driver wrote that many devices.
    unsafe {
        let result = driver::<vk::PFN_vkEnumeratePhysicalDevices>(c"vkEnumeratePhysicalDevices")(instance, count, out);
        if !out.is_null() {
            for at in 0..*count as usize {
                mark((*out.add(at)).as_raw(), word(instance.as_raw()));
            }
        }
        result
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the caller's arguments; the driver passes over the loader's structures in the chain.
    unsafe {
        let result = driver::<vk::PFN_vkCreateDevice>(c"vkCreateDevice")(physical, info, allocator, out);
        assert_eq!(result, vk::Result::SUCCESS);
        mark((*out).as_raw(), new_word());
        result
    }
}

/// The loader's own end of the chain.
unsafe extern "system" fn below(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are null-terminated.
    let own: *const () = match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkCreateInstance" => create_instance as *const (),
        b"vkEnumeratePhysicalDevices" => physical_devices as *const (),
        b"vkCreateDevice" => create_device as *const (),
        b"vkGetInstanceProcAddr" => below as *const (),
        // SAFETY: as the caller asks.
        _ => return unsafe { DRIVER.get().expect("the driver is loaded")(instance, name) },
    };
    // SAFETY: a function of the command's type, without its arguments.
    Some(unsafe { std::mem::transmute::<*const (), unsafe extern "system" fn()>(own) })
}

unsafe extern "system" fn below_device(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: as the caller asks.
    unsafe { driver::<ResolveOfDevice>(c"vkGetDeviceProcAddr")(device, name) }
}

/// The manifest of the driver that the environment names, else of lavapipe.
fn driver_manifest() -> Option<PathBuf> {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(std::env::var_os);
    named.map(PathBuf::from).or_else(|| {
        let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
        let machine = if cfg!(target_arch = "x86") { "i686" } else { std::env::consts::ARCH };
        let names = [format!("lvp_icd.{machine}.json"), "lvp_icd.json".to_owned()];
        let mut all = folders.iter().flat_map(|folder| names.iter().map(|name| Path::new(folder).join(name)));
        all.find(|path| path.exists())
    })
}

/// Loads that driver.
fn load_driver() {
    DRIVER.get_or_init(|| {
        let manifest = driver_manifest().expect("VK_DRIVER_FILES names a driver, or lavapipe is installed");
        let text = std::fs::read(&manifest).expect("a manifest");
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        let library = value["ICD"]["library_path"].as_str().expect("a library").to_owned();
        let library =
            if library.contains('/') { manifest.parent().expect("a folder").join(library) } else { library.into() };
        // SAFETY: what the manifest names is a driver, which Vulkan programs load.
        let library = Box::leak(Box::new(unsafe { Library::new(library) }.expect("the driver loads")));
        // SwiftShader makes no instance for a loader that has not negotiated.
        // SAFETY: drivers that export this function have it of this type, and it writes to its argument alone.
        unsafe {
            let name = b"vk_icdNegotiateLoaderICDInterfaceVersion\0";
            if let Ok(negotiate) = library.get::<unsafe extern "system" fn(*mut u32) -> vk::Result>(name) {
                assert_eq!(negotiate(&mut 5), vk::Result::SUCCESS);
            }
        }
        // SAFETY: drivers export this function of this type.
        *unsafe { library.get::<Resolve>(b"vk_icdGetInstanceProcAddr\0") }.expect("a driver")
    });
}

// --- the loader -----------------------------------------------------------------------------------------------------

/// The layer's library, as it is opened and closed.
struct Layer(Library);

impl Layer {
    fn open(path: &Path) -> Self {
        // SAFETY: the layer's library, which does nothing when it is loaded.
        Self(unsafe { Library::new(path) }.expect("the layer loads"))
    }

    /// # Safety
    ///
    /// `F` is the command's own type.
    unsafe fn command<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: by this function's contract.
        *unsafe { self.0.get::<F>(name.to_bytes_with_nul()) }.unwrap_or_else(|error| panic!("{name:?}: {error}"))
    }

    /// The layers, and the instance and device extensions of the first.
    fn lists(&self) -> [Vec<String>; 3] {
        // SAFETY: the types are the commands' own.
        let (layers, instance, device) = unsafe {
            (
                self.command::<vk::PFN_vkEnumerateInstanceLayerProperties>(c"vkEnumerateInstanceLayerProperties"),
                self.command::<vk::PFN_vkEnumerateInstanceExtensionProperties>(
                    c"vkEnumerateInstanceExtensionProperties",
                ),
                self.command::<vk::PFN_vkEnumerateDeviceExtensionProperties>(c"vkEnumerateDeviceExtensionProperties"),
            )
        };
        // SAFETY: the pointers are live for the calls, and no device is needed where a layer is named.
        unsafe {
            let layers = listed(|count, out| layers(count, out));
            let own = layers[0].layer_name;
            let of_instance = listed(|count, out| instance(own.as_ptr(), count, out));
            let of_device = listed(|count, out| device(vk::PhysicalDevice::null(), own.as_ptr(), count, out));
            let names = |all: &[vk::ExtensionProperties]| all.iter().map(|one| text(&one.extension_name)).collect();
            [vec![text(&own)], names(&of_instance), names(&of_device)]
        }
    }
}

/// What a command of the two-call idiom lists.
fn listed<T: Default + Clone>(list: impl Fn(*mut u32, *mut T) -> vk::Result) -> Vec<T> {
    let mut count = 0;
    assert_eq!(list(&mut count, ptr::null_mut()), vk::Result::SUCCESS);
    let mut all = vec![T::default(); count as usize];
    assert_eq!(list(&mut count, all.as_mut_ptr()), vk::Result::SUCCESS);
    all
}

/// A name in a structure.
fn text(name: &[c_char]) -> String {
    // SAFETY: such names are null-terminated.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().expect("ASCII").to_owned()
}

unsafe extern "system" fn set_instance_data(instance: vk::Instance, object: *mut c_void) -> vk::Result {
    // SAFETY: layers call it for an object that they made below.
    unsafe { mark(object as u64, word(instance.as_raw())) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn set_device_data(device: vk::Device, object: *mut c_void) -> vk::Result {
    // SAFETY: layers call it for an object that they made below.
    unsafe { mark(object as u64, word(device.as_raw())) };
    vk::Result::SUCCESS
}

/// A run of a small application: one sampler that the driver cannot do, and one that it can.
fn run(layer: &Layer, trace: &str) {
    // SAFETY: the type is the command's own.
    let resolve: Resolve = unsafe { layer.command(c"vkGetInstanceProcAddr") };
    // SAFETY: likewise.
    let resolve_of_device: ResolveOfDevice = unsafe { layer.command(c"vkGetDeviceProcAddr") };
    let trace = std::ffi::CString::new(trace).expect("a path");
    let value = trace.as_ptr();
    let setting = vk::LayerSettingEXT {
        p_layer_name: c"VK_LAYER_SAMPLIN_sampling".as_ptr(),
        p_setting_name: c"trace".as_ptr(),
        ty: vk::LayerSettingTypeEXT::STRING,
        value_count: 1,
        p_values: (&raw const value).cast(),
        ..Default::default()
    };
    let settings = vk::LayerSettingsCreateInfoEXT::default().settings(std::slice::from_ref(&setting));
    // SAFETY: what is chained lives during the calls, commands have their own types, and objects are used while they live.
    unsafe {
        let mut link = LayerInstanceLink {
            p_next: ptr::null_mut(),
            pfn_next_get_instance_proc_addr: Some(below),
            pfn_next_get_physical_device_proc_addr: None,
        };
        let callback = LayerInstanceCreateInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: (&raw const settings).cast(),
            function: LayerFunction::LOADER_DATA_CALLBACK,
            u: LayerInstanceCreateInfoUnion { pfn_set_instance_loader_data: Some(set_instance_data) },
        };
        let chain = LayerInstanceCreateInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: LayerFunction::LINK_INFO,
            u: LayerInstanceCreateInfoUnion { p_layer_info: &mut link },
        };
        let of_instance = |instance: vk::Instance, name: &CStr| resolve(instance, name.as_ptr()).expect("a command");
        macro_rules! command {
            ($instance:expr, $type:ty, $name:literal) => {
                std::mem::transmute::<unsafe extern "system" fn(), $type>(of_instance($instance, $name))
            };
        }
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        info.p_next = (&raw const chain).cast();
        let mut instance = vk::Instance::null();
        let create = command!(vk::Instance::null(), vk::PFN_vkCreateInstance, c"vkCreateInstance");
        assert_eq!(create(&info, ptr::null(), &mut instance), vk::Result::SUCCESS);

        let enumerate = command!(instance, vk::PFN_vkEnumeratePhysicalDevices, c"vkEnumeratePhysicalDevices");
        let (mut count, mut physical) = (1, vk::PhysicalDevice::null());
        // INCOMPLETE where there are more.
        let enumerated = enumerate(instance, &mut count, &mut physical);
        assert!(enumerated.as_raw() >= 0, "{enumerated:?}");
        assert_eq!(count, 1);
        let mut link = LayerDeviceLink {
            p_next: ptr::null_mut(),
            pfn_next_get_instance_proc_addr: Some(below),
            pfn_next_get_device_proc_addr: Some(below_device),
        };
        let callback = LayerDeviceCreateInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: ptr::null(),
            function: LayerFunction::LOADER_DATA_CALLBACK,
            u: LayerDeviceCreateInfoUnion { pfn_set_device_loader_data: Some(set_device_data) },
        };
        let chain = LayerDeviceCreateInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: LayerFunction::LINK_INFO,
            u: LayerDeviceCreateInfoUnion { p_layer_info: &mut link },
        };
        let queue = vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0]);
        let features = vk::PhysicalDeviceFeatures::default().sampler_anisotropy(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(std::slice::from_ref(&queue))
            .enabled_features(&features);
        info.p_next = (&raw const chain).cast();
        let mut device = vk::Device::null();
        let create = command!(instance, vk::PFN_vkCreateDevice, c"vkCreateDevice");
        assert_eq!(create(physical, &info, ptr::null(), &mut device), vk::Result::SUCCESS);

        let of_device = |name: &CStr| resolve_of_device(device, name.as_ptr()).expect("a command");
        macro_rules! own {
            ($type:ty, $name:literal) => {
                std::mem::transmute::<unsafe extern "system" fn(), $type>(of_device($name))
            };
        }
        let (create, destroy) =
            (own!(vk::PFN_vkCreateSampler, c"vkCreateSampler"), own!(vk::PFN_vkDestroySampler, c"vkDestroySampler"));
        // Version 1.0 asks for a limit of 16 at least, and no driver has this one.
        for anisotropy in [1000.0, 4.0] {
            let info = vk::SamplerCreateInfo::default().anisotropy_enable(true).max_anisotropy(anisotropy).max_lod(1.0);
            let mut sampler = vk::Sampler::null();
            assert_eq!(create(device, &info, ptr::null(), &mut sampler), vk::Result::SUCCESS);
            destroy(device, sampler, ptr::null());
        }
        own!(vk::PFN_vkDestroyDevice, c"vkDestroyDevice")(device, ptr::null());
        command!(instance, vk::PFN_vkDestroyInstance, c"vkDestroyInstance")(instance, ptr::null());
    }
}

fn is_mapped(path: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("reads");
    maps.lines().any(|line| line.ends_with(path.to_str().expect("UTF-8")))
}

#[test]
fn a_loader_of_version_0_uses_the_layer() {
    let path = layer::built(LIBRARY).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("layer.json")).expect("reads");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let listed = |key: &str| -> Vec<String> {
        let all = manifest["layer"][key].as_array().expect("a list");
        all.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
    };
    // Opened and closed to see what is in it.
    let found = Layer::open(&path).lists();
    assert_eq!(found[0], [manifest["layer"]["name"].as_str().expect("a name")]);
    assert_eq!(found[1], listed("instance_extensions"));
    assert_eq!(found[2], listed("device_extensions"));
    assert!(is_mapped(&path), "what has run once may still be on a thread's stack");

    load_driver();
    let folder = Folder::new();
    for round in 0..3 {
        let trace = folder.join(format!("{round}.jsonl"));
        let layer = Layer::open(&path);
        run(&layer, trace.to_str().expect("UTF-8"));
        // Closed with the last instance.
        drop(layer);
        assert!(is_mapped(&path));
        let text = std::fs::read_to_string(&trace).expect("a trace");
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let changed: Vec<&Value> = records.iter().filter(|record| record["event"] == "sampler").collect();
        assert_eq!(changed.len(), 1, "{text}");
        assert_eq!(changed[0]["changes"][0]["field"], "maxAnisotropy", "{}", changed[0]);
        assert_eq!(records.iter().filter(|record| record["event"] == "layer").count(), 1);
    }
}
