//! The loader above the layer, and an application's view through it.
//!
//! Negotiates, builds the chains that a loader builds (nodes of other functions included, which a layer must skip), creates
//! instances and devices through the layer's own proc-addr functions and hands out what an application would get.
//!
//! The wrappers are safe functions although their arguments are not checked: they are the application of these tests, and each
//! test passes what the command's valid usage asks for, or says why not.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use samplin::device::Device as Entry;
use samplin::entry::negotiate;
use samplin_config::LAYER_NAME;
use samplin_testkit::Trace;
use serde_json::Value;
use vk_layer_sys::{
    LayerDeviceCreateInfo, LayerDeviceCreateInfoUnion, LayerDeviceLink, LayerFunction, LayerInstanceCreateInfo,
    LayerInstanceCreateInfoUnion, LayerInstanceLink, NegotiateLayerInterface, NegotiateLayerStructType,
    PfnGetDeviceProcAddr, PfnGetInstanceProcAddr,
};

use crate::driver::{
    self, Args, CHAIN_ERROR, Config, DeviceState, EXPECTED_LINK, Kind, LEFT_BEHIND, NEXT_CONFIG, device_destroyed,
    instance_destroyed, state_of,
};

/// Calls a command of a device or an instance: `call!(device.name(arguments))`. The safety contract is that of the command, which the
/// module's documentation speaks of.
macro_rules! call {
    ($device:ident.$name:ident($($argument:expr),* $(,)?)) => {{
        let function = $device.fns.$name.expect(concat!(stringify!($name), " resolves"));
        // SAFETY: the arguments are those of a valid use, see the module's documentation.
        unsafe { function($($argument),*) }
    }};
}
pub(crate) use call;

/// What a command of a device creates, which has to work: `create!(device.create_x(arguments))`, without device, allocator and place.
macro_rules! create {
    ($device:ident.$name:ident($($argument:expr),* $(,)?)) => {{
        let mut out = Default::default();
        let result = $crate::loader::call!($device.$name($device.raw, $($argument,)* $crate::loader::allocator(), &mut out));
        assert_eq!(result, ash::vk::Result::SUCCESS, stringify!($name));
        out
    }};
}
pub(crate) use crate::words::*;
pub(crate) use create;

/// What the layer handed to the loader.
pub(crate) struct Layer {
    pub(crate) gipa: PfnGetInstanceProcAddr,
    pub(crate) gdpa: PfnGetDeviceProcAddr,
}

/// The result of negotiating with these values.
pub(crate) fn negotiate_with(s_type: i32, version: u32) -> (vk::Result, NegotiateLayerInterface) {
    let mut interface = NegotiateLayerInterface {
        s_type: NegotiateLayerStructType(s_type),
        p_next: ptr::null_mut(),
        loader_layer_interface_version: version,
        pfn_get_instance_proc_addr: None,
        pfn_get_device_proc_addr: None,
        pfn_get_physical_device_proc_addr: None,
    };
    // SAFETY: a whole structure that may be written.
    let result = unsafe { negotiate(&raw mut interface) };
    (result, interface)
}

/// The layer, negotiated with once.
pub(crate) fn layer() -> &'static Layer {
    static LAYER: OnceLock<Layer> = OnceLock::new();
    LAYER.get_or_init(|| {
        // The environment comes before what an application says, and these tests speak as applications.
        let set = std::env::vars_os().find(|(key, _)| key.to_string_lossy().starts_with("SAMPLIN_"));
        assert!(set.is_none(), "these tests need an environment without SAMPLIN_ variables: {set:?}");
        let (result, interface) = negotiate_with(1, 2);
        assert_eq!(result, vk::Result::SUCCESS);
        Layer {
            gipa: interface.pfn_get_instance_proc_addr.expect("a layer has an instance resolver"),
            gdpa: interface.pfn_get_device_proc_addr.expect("a layer has a device resolver"),
        }
    })
}

/// Resolves through the layer.
pub(crate) fn gipa(instance: vk::Instance, name: &CStr) -> vk::PFN_vkVoidFunction {
    // SAFETY: a live instance or null, and a terminated string.
    unsafe { (layer().gipa)(instance, name.as_ptr()) }
}

/// A command by its name, cast to `F`.
pub(crate) fn cast<F: Copy>(function: vk::PFN_vkVoidFunction) -> Option<F> {
    assert_eq!(size_of::<F>(), size_of::<fn()>());
    // SAFETY: both are function pointers of the same size; the caller names the command's own type.
    function.map(|f| unsafe { std::mem::transmute_copy::<unsafe extern "system" fn(), F>(&f) })
}

/// What `pDevice` leads to when a device is created: the loader's own object.
pub(crate) const LOADERS_DEVICE: u64 = 0x10ad_0000;

// ---- instances ----

/// How an instance is created.
pub(crate) struct InstanceBuilder {
    pub(crate) config: Config,
    pub(crate) api_version: u32,
    pub(crate) extensions: Vec<&'static CStr>,
    settings: Vec<(CString, CString)>,
    /// The application's own chain.
    pub(crate) chain: *const c_void,
    /// Whether nodes of other functions stand before the link.
    pub(crate) other_nodes: bool,
    traced: Option<Arc<File>>,
}

/// Allocation callbacks that nobody calls: the application's allocator, to tell its objects from the layer's.
pub(crate) fn allocator() -> *const vk::AllocationCallbacks<'static> {
    struct Shared(vk::AllocationCallbacks<'static>);
    // SAFETY: all pointers in it are null.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    static CALLBACKS: OnceLock<Shared> = OnceLock::new();
    &raw const CALLBACKS.get_or_init(|| Shared(vk::AllocationCallbacks::default())).0
}

unsafe extern "system" fn set_instance_data(_: vk::Instance, _: *mut c_void) -> vk::Result {
    vk::Result::SUCCESS
}

unsafe extern "system" fn set_device_data(_: vk::Device, _: *mut c_void) -> vk::Result {
    vk::Result::SUCCESS
}

impl InstanceBuilder {
    pub(crate) fn new() -> Self {
        Self {
            config: Config::new(),
            api_version: vk::API_VERSION_1_3,
            extensions: vec![ash::ext::debug_utils::NAME, ash::khr::get_physical_device_properties2::NAME],
            settings: Vec::new(),
            chain: ptr::null(),
            other_nodes: true,
            traced: None,
        }
    }

    /// Changes what the driver is like.
    pub(crate) fn driver(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Sets a setting of the layer as an application does.
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((CString::new(key).unwrap(), CString::new(value).unwrap()));
        self
    }

    /// Sets several.
    pub(crate) fn settings(self, all: &[(&str, &str)]) -> Self {
        all.iter().fold(self, |builder, (key, value)| builder.set(key, value))
    }

    /// Writes a trace of this level.
    pub(crate) fn traced(mut self, level: &str) -> Self {
        let file = File::at("jsonl");
        self = self.set("trace", file.path()).set("trace_level", level);
        self.traced = Some(Arc::new(file));
        self
    }

    /// Creates the instance.
    pub(crate) fn create(self) -> Result<Instance, vk::Result> {
        let this = if self.traced.is_some() { self } else { self.set("trace", "off") };
        let values: Vec<*const c_char> = this.settings.iter().map(|(_, value)| value.as_ptr()).collect();
        let settings: Vec<vk::LayerSettingEXT<'_>> = this
            .settings
            .iter()
            .zip(&values)
            .map(|((key, _), value)| vk::LayerSettingEXT {
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: key.as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: ptr::from_ref(value).cast(),
                ..Default::default()
            })
            .collect();
        let mut given = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        given.p_next = this.chain;
        let chain = InstanceChain::new(ptr::from_ref(&given).cast(), this.other_nodes);

        let application = vk::ApplicationInfo::default().api_version(this.api_version).application_name(c"mock");
        let extensions: Vec<*const c_char> = this.extensions.iter().map(|name| name.as_ptr()).collect();
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        info = info.enabled_extension_names(&extensions);
        info.p_next = chain.first();

        NEXT_CONFIG.set(Some(Arc::new(this.config)));
        EXPECTED_LINK.set(chain.below());
        CHAIN_ERROR.set(None);
        let create: vk::PFN_vkCreateInstance = cast(gipa(vk::Instance::null(), c"vkCreateInstance")).unwrap();
        let mut raw = vk::Instance::null();
        // SAFETY: a valid create info with the chain that the loader interface asks for.
        let result = unsafe { create(&info, allocator(), &mut raw) };
        NEXT_CONFIG.set(None);
        let error = CHAIN_ERROR.take();
        assert!(error.is_none(), "{error:?}");
        if result != vk::Result::SUCCESS {
            assert_eq!(raw, vk::Instance::null());
            return Err(result);
        }
        let destroyed = instance_destroyed(raw);
        let fns = Commands::load(|name| gipa(raw, name));
        Ok(Instance { raw, fns, destroyed, trace: this.traced })
    }

    /// A device with every extension of the driver.
    pub(crate) fn device_info(&self) -> DeviceInfo {
        let extensions = self.config.extensions.iter().copied();
        let without = extensions.filter(|name| *name != ash::khr::portability_subset::NAME).collect();
        DeviceInfo { extensions: without, ..DeviceInfo::default() }
    }

    /// Creates an instance that has to work.
    pub(crate) fn instance(self) -> Arc<Instance> {
        Arc::new(self.create().expect("the instance is created"))
    }

    /// Creates such an instance, and a device with every extension of the driver.
    pub(crate) fn device(self) -> Device {
        self.device_with(|_| ())
    }

    /// The same, of which the caller changes something.
    pub(crate) fn device_with(self, change: impl FnOnce(&mut DeviceInfo)) -> Device {
        let mut info = self.device_info();
        change(&mut info);
        self.instance().device(&info)
    }
}

/// The loader's nodes in a chain, the link last among them, and the two links that layers take one by one.
pub(crate) struct Chain<N, L> {
    /// From `Box::into_raw`, the last one first in the chain.
    nodes: Vec<*mut N>,
    links: *mut [L; 2],
}

/// That of an instance, and that of a device.
pub(crate) type InstanceChain = Chain<LayerInstanceCreateInfo, LayerInstanceLink>;
pub(crate) type DeviceChain = Chain<LayerDeviceCreateInfo, LayerDeviceLink>;

impl<N, L> Drop for Chain<N, L> {
    fn drop(&mut self) {
        // SAFETY: all made by `Box::into_raw` in `of`.
        unsafe {
            self.nodes.drain(..).for_each(|node| drop(Box::from_raw(node)));
            drop(Box::from_raw(self.links));
        }
    }
}

impl<N, L> Chain<N, L> {
    /// Nodes of these payloads in front of `rest`; `link` makes a link to the next one, `payloads` what nodes hold.
    fn of<P>(
        rest: *const c_void,
        link: impl Fn(*mut L) -> L,
        payloads: impl FnOnce(*mut L) -> Vec<P>,
        node: impl Fn(*const c_void, P) -> N,
    ) -> Self {
        let links = Box::into_raw(Box::new([link(ptr::null_mut()), link(ptr::null_mut())]));
        // SAFETY: just made.
        let first = unsafe {
            (*links)[0] = link(&raw mut (*links)[1]);
            &raw mut (*links)[0]
        };
        let (mut next, mut nodes) = (rest, Vec::new());
        for payload in payloads(first).into_iter().rev() {
            let made = Box::into_raw(Box::new(node(next, payload)));
            next = made.cast_const().cast();
            nodes.push(made);
        }
        Self { nodes, links }
    }

    /// The first node.
    pub(crate) fn first(&self) -> *const c_void {
        self.nodes.last().map_or(ptr::null(), |node| node.cast_const().cast())
    }

    /// The link that the layer has to leave to the one below.
    pub(crate) fn below(&self) -> usize {
        // SAFETY: made by `of`.
        unsafe { &raw const (*self.links)[1] as usize }
    }
}

impl InstanceChain {
    /// Nodes in front of `rest`, with others than the link if asked for.
    pub(crate) fn new(rest: *const c_void, others: bool) -> Self {
        let link = |p_next| LayerInstanceLink {
            p_next,
            pfn_next_get_instance_proc_addr: Some(driver::get_instance_proc_addr),
            pfn_next_get_physical_device_proc_addr: None,
        };
        let payloads = |first| {
            let link = (LayerFunction::LINK_INFO, LayerInstanceCreateInfoUnion { p_layer_info: first });
            if !others {
                return vec![link];
            }
            let callback = LayerInstanceCreateInfoUnion { pfn_set_instance_loader_data: Some(set_instance_data) };
            let devices =
                vk_layer_sys::LayerDeviceFunctions { pfn_layer_create_device: None, pfn_layer_destroy_device: None };
            let devices = LayerInstanceCreateInfoUnion { layer_device: devices };
            vec![
                (LayerFunction::LOADER_FEATURES, LayerInstanceCreateInfoUnion { loader_features: 1 }),
                (LayerFunction::LOADER_LAYER_CREATE_DEVICE_CALLBACK, devices),
                (LayerFunction::LOADER_DATA_CALLBACK, callback),
                link,
            ]
        };
        let s_type = vk::StructureType::LOADER_INSTANCE_CREATE_INFO;
        Self::of(rest, link, payloads, |p_next, (function, u)| LayerInstanceCreateInfo { s_type, p_next, function, u })
    }
}

impl DeviceChain {
    pub(crate) fn new(rest: *const c_void, gdpa: PfnGetDeviceProcAddr) -> Self {
        let link = |p_next| LayerDeviceLink {
            p_next,
            pfn_next_get_instance_proc_addr: Some(driver::get_instance_proc_addr),
            pfn_next_get_device_proc_addr: Some(gdpa),
        };
        let callback = LayerDeviceCreateInfoUnion { pfn_set_device_loader_data: Some(set_device_data) };
        let payloads = |first| {
            let link = LayerDeviceCreateInfoUnion { p_layer_info: first };
            vec![(LayerFunction::LINK_INFO, link), (LayerFunction::LOADER_DATA_CALLBACK, callback)]
        };
        let s_type = vk::StructureType::LOADER_DEVICE_CREATE_INFO;
        Self::of(rest, link, payloads, |p_next, (function, u)| LayerDeviceCreateInfo { s_type, p_next, function, u })
    }
}

/// One instance, destroyed on drop.
pub(crate) struct Instance {
    pub(crate) raw: vk::Instance,
    pub(crate) fns: Commands,
    pub(crate) destroyed: Arc<AtomicBool>,
    trace: Option<Arc<File>>,
}

impl File {
    /// What a trace says, also of an instance that is gone.
    pub(crate) fn read(&self) -> Trace {
        Trace::read(&self.0).expect("a well-formed trace")
    }
}

// SAFETY: an instance may be used from any thread.
unsafe impl Send for Instance {}
// SAFETY: as above; what must be synchronised is destroyed through an exclusive owner.
unsafe impl Sync for Instance {}

/// How a device is created.
pub(crate) struct DeviceInfo {
    pub(crate) extensions: Vec<&'static CStr>,
    pub(crate) features: vk::PhysicalDeviceFeatures,
    /// The application's own chain.
    pub(crate) chain: *const c_void,
}

impl Default for DeviceInfo {
    fn default() -> Self {
        let features = vk::PhysicalDeviceFeatures { sampler_anisotropy: 1, ..Default::default() };
        Self { extensions: Vec::new(), features, chain: ptr::null() }
    }
}

impl Instance {
    /// A command by its name.
    pub(crate) fn resolve(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        gipa(self.raw, name)
    }

    pub(crate) fn get<F: Copy>(&self, name: &CStr) -> F {
        cast(self.resolve(name)).unwrap_or_else(|| panic!("{name:?} does not resolve"))
    }

    /// The physical device.
    pub(crate) fn physical(&self) -> vk::PhysicalDevice {
        let (mut count, mut physical) = (1, vk::PhysicalDevice::null());
        let result = call!(self.enumerate_physical_devices(self.raw, &mut count, &mut physical));
        assert_eq!((result, count), (vk::Result::SUCCESS, 1));
        physical
    }

    /// Creates a device.
    pub(crate) fn try_device(self: &Arc<Self>, given: &DeviceInfo) -> Result<Device, vk::Result> {
        // As a loader asks: the driver's resolver comes from the instance's.
        // SAFETY: a live instance of the driver.
        let below = unsafe { driver::get_instance_proc_addr(self.raw, c"vkGetDeviceProcAddr".as_ptr()) };
        let chain = DeviceChain::new(given.chain, cast(below).unwrap());
        let extensions: Vec<*const c_char> = given.extensions.iter().map(|name| name.as_ptr()).collect();
        let mut info = vk::DeviceCreateInfo::default().enabled_extension_names(&extensions);
        info = info.enabled_features(&given.features);
        info.p_next = chain.first();
        EXPECTED_LINK.set(chain.below());
        CHAIN_ERROR.set(None);
        let mut raw = vk::Device::from_raw(LOADERS_DEVICE);
        let result = call!(self.create_device(self.physical(), &info, allocator(), &mut raw));
        let error = CHAIN_ERROR.take();
        assert!(error.is_none(), "{error:?}");
        if result != vk::Result::SUCCESS {
            assert!([0, LOADERS_DEVICE, LEFT_BEHIND].contains(&raw.as_raw()), "{raw:?}");
            return Err(result);
        }
        Ok(Device::new(Arc::clone(self), raw))
    }

    /// Creates a device that has to work.
    pub(crate) fn device(self: &Arc<Self>, given: &DeviceInfo) -> Device {
        self.try_device(given).expect("the device is created")
    }

    /// The trace so far.
    pub(crate) fn trace(&self) -> Trace {
        self.keep_trace().read()
    }

    /// The trace for a look after the end.
    pub(crate) fn keep_trace(&self) -> Arc<File> {
        self.trace.clone().expect("the instance was created with a trace")
    }

    /// Records of one event so far.
    pub(crate) fn records(&self, event: &str) -> Vec<Value> {
        self.trace().events(event).cloned().collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: every device holds a share of the instance, so none is left.
        unsafe { (self.fns.destroy_instance.unwrap())(self.raw, allocator()) };
        if !std::thread::panicking() {
            assert!(self.destroyed.load(Ordering::Acquire), "vkDestroyInstance did not reach the driver");
        }
    }
}

// ---- devices ----

macro_rules! device_commands {
    ($($level:ident $module:ident $name:ident: $type:ty = $first:literal $need:expr $(, $other:literal $or:expr)*;)+) => {
        /// What the application resolved, by any spelling that exists.
        pub(crate) struct Commands { $(pub(crate) $name: Option<$type>,)+ }

        impl Commands {
            fn load(resolve: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) -> Self {
                Self { $($name: cast(resolve($first)$(.or_else(|| resolve($other)))*),)+ }
            }
        }
    };
}

driver::every_command!(device_commands);

/// One device, destroyed on drop.
pub(crate) struct Device {
    pub(crate) raw: vk::Device,
    pub(crate) instance: Arc<Instance>,
    pub(crate) driver: Arc<DeviceState>,
    pub(crate) fns: Commands,
    pub(crate) commands: vk::CommandBuffer,
    destroyed: Arc<AtomicBool>,
    /// Whether it ends with this value.
    owned: bool,
}

// SAFETY: a device may be used from any thread; the tests synchronise what the API asks to.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

pub(crate) const SUCCESS: vk::Result = vk::Result::SUCCESS;

impl Device {
    /// Draws, dispatches or traces rays with what is bound.
    pub(crate) fn act(&self, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        let (device, table) = (self, vk::StridedDeviceAddressRegionKHR::default());
        match point {
            vk::PipelineBindPoint::GRAPHICS => call!(device.draw(commands, 3, 1, 0, 0)),
            vk::PipelineBindPoint::COMPUTE => call!(device.dispatch(commands, 1, 1, 1)),
            _ => call!(device.trace_rays(commands, &table, &table, &table, &table, 1, 1, 1)),
        }
    }

    /// A queue: a dispatchable handle of the device.
    pub(crate) fn queue(&self) -> vk::Queue {
        vk::Queue::from_raw(self.commands.as_raw())
    }

    fn new(instance: Arc<Instance>, raw: vk::Device) -> Self {
        // SAFETY: a live device and a terminated string.
        let fns = Commands::load(|name| unsafe { (layer().gdpa)(raw, name.as_ptr()) });
        let mut commands = vk::CommandBuffer::null();
        let info = vk::CommandBufferAllocateInfo::default().command_buffer_count(1);
        // SAFETY: room for one.
        let result = unsafe { (fns.allocate_command_buffers.unwrap())(raw, &info, &mut commands) };
        assert_eq!(result, vk::Result::SUCCESS);
        Self { raw, instance, driver: state_of(raw), fns, commands, destroyed: device_destroyed(raw), owned: true }
    }

    /// The usual instance and device.
    pub(crate) fn usual() -> Self {
        InstanceBuilder::new().device()
    }

    /// The same with a trace of decisions.
    pub(crate) fn traced() -> Self {
        InstanceBuilder::new().traced("decisions").device()
    }

    /// Resolves through the layer.
    pub(crate) fn resolve(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: a live device and a terminated string.
        unsafe { (layer().gdpa)(self.raw, name.as_ptr()) }
    }

    /// A command by its name.
    pub(crate) fn get<F: Copy>(&self, name: &CStr) -> F {
        cast(self.resolve(name)).unwrap_or_else(|| panic!("{name:?} does not resolve"))
    }

    /// The layer's entry of the device.
    pub(crate) fn entry(&self) -> &Entry {
        // SAFETY: the device is alive as long as `self`.
        unsafe { Entry::find(self.raw) }.expect("the layer knows the device")
    }

    pub(crate) fn try_sampler(&self, info: &vk::SamplerCreateInfo<'_>) -> Result<vk::Sampler, vk::Result> {
        let mut out = vk::Sampler::null();
        let result = call!(self.create_sampler(self.raw, info, allocator(), &mut out));
        result.result_with_success(out)
    }

    #[track_caller]
    pub(crate) fn sampler(&self, info: &vk::SamplerCreateInfo<'_>) -> vk::Sampler {
        self.try_sampler(info).expect("the sampler is created")
    }

    /// A sampler with LINEAR filters and mipmap mode NEAREST.
    pub(crate) fn linear(&self) -> vk::Sampler {
        self.sampler(&linear_info())
    }

    pub(crate) fn nearest(&self) -> vk::Sampler {
        self.sampler(&vk::SamplerCreateInfo::default())
    }

    pub(crate) fn image_with(&self, info: &vk::ImageCreateInfo<'_>) -> vk::Image {
        create!(self.create_image(info))
    }

    pub(crate) fn image(&self, format: vk::Format) -> vk::Image {
        self.image_with(&image_info(format))
    }

    pub(crate) fn view_with(&self, info: &vk::ImageViewCreateInfo<'_>) -> vk::ImageView {
        create!(self.create_view(info))
    }

    /// A view of an image, with the format of the image.
    pub(crate) fn view_of(&self, image: vk::Image, format: vk::Format) -> vk::ImageView {
        self.view_with(&view_info(image, format))
    }

    /// A view of a new image.
    pub(crate) fn view(&self, format: vk::Format) -> vk::ImageView {
        self.view_of(self.image(format), format)
    }

    pub(crate) fn layout_of(&self, info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> vk::DescriptorSetLayout {
        create!(self.create_layout(info))
    }

    pub(crate) fn layout(&self, bindings: &[vk::DescriptorSetLayoutBinding<'_>]) -> vk::DescriptorSetLayout {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
        self.layout_of(&info)
    }

    pub(crate) fn pipeline_layout(&self, sets: &[vk::DescriptorSetLayout]) -> vk::PipelineLayout {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets);
        create!(self.create_pipeline_layout(&info))
    }

    /// A command buffer of a pool of its own.
    pub(crate) fn command_buffer(&self) -> vk::CommandBuffer {
        let pool = create!(self.create_command_pool(&vk::CommandPoolCreateInfo::default()));
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let mut commands = vk::CommandBuffer::null();
        assert_eq!(call!(self.allocate_command_buffers(self.raw, &info, &mut commands)), SUCCESS);
        commands
    }

    #[track_caller]
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) {
        assert_eq!(call!(self.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())), SUCCESS);
    }

    pub(crate) fn module(&self, words: &[u32]) -> vk::ShaderModule {
        create!(self.create_module(&vk::ShaderModuleCreateInfo::default().code(words)))
    }

    /// A compute pipeline of these words, whose module is gone.
    pub(crate) fn compute(&self, layout: vk::PipelineLayout, words: &[u32]) -> vk::Pipeline {
        let module = self.module(words);
        let info = vk::ComputePipelineCreateInfo::default().layout(layout);
        let info = info.stage(stage(vk::ShaderStageFlags::COMPUTE, module));
        let pipeline = create!(self.create_compute_pipelines(vk::PipelineCache::null(), 1, &info));
        self.destroy_module(module);
        pipeline
    }

    pub(crate) fn pool(&self) -> vk::DescriptorPool {
        let info = vk::DescriptorPoolCreateInfo::default();
        create!(self.create_pool(&info))
    }

    pub(crate) fn sets(&self, pool: vk::DescriptorPool, layouts: &[vk::DescriptorSetLayout]) -> Vec<vk::DescriptorSet> {
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
        let mut out = vec![vk::DescriptorSet::null(); layouts.len()];
        assert_eq!(call!(self.allocate_sets(self.raw, &info, out.as_mut_ptr())), vk::Result::SUCCESS);
        out
    }

    /// A set of a layout with these bindings, from a pool of its own.
    pub(crate) fn set(&self, bindings: &[vk::DescriptorSetLayoutBinding<'_>]) -> vk::DescriptorSet {
        self.sets(self.pool(), &[self.layout(bindings)])[0]
    }

    /// A set with a dynamic array of combined image samplers at binding 0.
    pub(crate) fn plain_set(&self) -> vk::DescriptorSet {
        self.set(&[binding(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 16)])
    }

    pub(crate) fn update(&self, writes: &[vk::WriteDescriptorSet<'_>], copies: &[vk::CopyDescriptorSet<'_>]) {
        call!(self.update(self.raw, writes.len() as u32, writes.as_ptr(), copies.len() as u32, copies.as_ptr()));
    }

    pub(crate) fn template_of(
        &self,
        info: &vk::DescriptorUpdateTemplateCreateInfo<'_>,
    ) -> vk::DescriptorUpdateTemplate {
        create!(self.create_template(info))
    }

    /// A template for sets of `layout`.
    pub(crate) fn template(
        &self,
        layout: vk::DescriptorSetLayout,
        entries: &[vk::DescriptorUpdateTemplateEntry],
    ) -> vk::DescriptorUpdateTemplate {
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(layout);
        self.template_of(&info)
    }

    /// A template for pushes. Its set layout is ignored, so it is garbage.
    pub(crate) fn push_template(&self, entries: &[vk::DescriptorUpdateTemplateEntry]) -> vk::DescriptorUpdateTemplate {
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .descriptor_set_layout(vk::DescriptorSetLayout::from_raw(0xdead_beef));
        self.template_of(&info)
    }

    pub(crate) fn update_with_template(
        &self,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) {
        call!(self.update_with_template(self.raw, set, template, data));
    }

    pub(crate) fn push(&self, layout: vk::PipelineLayout, set: u32, writes: &[vk::WriteDescriptorSet<'_>]) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        call!(self.push(self.commands, point, layout, set, writes.len() as u32, writes.as_ptr()));
    }

    pub(crate) fn push2(&self, info: &vk::PushDescriptorSetInfoKHR<'_>) {
        call!(self.push2(self.commands, info));
    }

    /// Destroys the device.
    pub(crate) fn finish(self) {}

    /// Leaves the device alive: for the tests that destroy it in a way of their own.
    pub(crate) fn leak(mut self) {
        self.owned = false;
    }
}

impl Drop for Device {
    /// Destroys it, and checks that the driver was not misused.
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        if !std::thread::panicking() {
            self.driver.check();
        }
        // SAFETY: the last use of the device.
        unsafe { (self.fns.destroy_device.unwrap())(self.raw, allocator()) };
        if !std::thread::panicking() {
            self.driver.check();
            assert!(self.destroyed.load(Ordering::Acquire), "vkDestroyDevice did not reach the driver");
        }
    }
}

// ---- structures that many tests need ----

/// A stage of a pipeline, of a module's function `main`.
pub(crate) fn stage(
    stage: vk::ShaderStageFlags,
    module: vk::ShaderModule,
) -> vk::PipelineShaderStageCreateInfo<'static> {
    vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
}

/// A handle that stands for nothing, for members that are ignored.
pub(crate) fn dangling_handle() -> u64 {
    0xdead_beef_0000
}

pub(crate) fn linear_info() -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo::default()
        .mag_filter(Filter::LINEAR)
        .min_filter(Filter::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .max_lod(vk::LOD_CLAMP_NONE)
}

pub(crate) fn image_info(format: vk::Format) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::SAMPLED)
}

pub(crate) fn view_info(image: vk::Image, format: vk::Format) -> vk::ImageViewCreateInfo<'static> {
    let depth = matches!(format, vk::Format::D32_SFLOAT | vk::Format::D16_UNORM);
    let aspect_mask = if depth { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR };
    vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        })
}

pub(crate) fn binding(number: u32, ty: vk::DescriptorType, count: u32) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(ty).descriptor_count(count)
}

pub(crate) fn pair(sampler: vk::Sampler, view: vk::ImageView) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { sampler, image_view: view, image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL }
}

pub(crate) fn combined<'a>(
    set: vk::DescriptorSet,
    number: u32,
    infos: &'a [vk::DescriptorImageInfo],
) -> vk::WriteDescriptorSet<'a> {
    vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(number)
        .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
        .image_info(infos)
}

/// Bytes of an image info: 24, or 20 in programs of 32 bits.
pub(crate) const INFO: usize = size_of::<vk::DescriptorImageInfo>();

pub(crate) fn entry(
    binding: u32,
    element: u32,
    count: u32,
    ty: vk::DescriptorType,
    offset: usize,
    stride: usize,
) -> vk::DescriptorUpdateTemplateEntry {
    vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        dst_array_element: element,
        descriptor_count: count,
        descriptor_type: ty,
        offset,
        stride,
    }
}

/// The sampler that arrives below when the pair is written to a set.
pub(crate) fn written(device: &Device, sampler: vk::Sampler, view: vk::ImageView) -> vk::Sampler {
    let set = device.plain_set();
    let infos = [pair(sampler, view)];
    device.driver.calls();
    device.update(&[combined(set, 0, &infos)], &[]);
    crate::args!(device, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
    writes.items[0].images[0].sampler
}

/// Neither the driver nor the layer's tables hold anything any more.
pub(crate) fn assert_nothing_left(device: &Device, when: &str) {
    for kind in Kind::ALL {
        assert_eq!(device.driver.live(*kind), [0; 0], "{kind:?} {when}");
    }
    let kept = device.entry();
    assert_eq!(
        (kept.ground.hot.gate.samplers(), kept.ground.hot.gate.views(), kept.pairs.images.images_kept()),
        (0, 0, 0)
    );
    assert!(!kept.layouts.has_set_layouts() && kept.ground.hot.pipeline_layouts.is_empty());
    assert!(kept.ground.hot.sets.is_empty() && kept.ground.hot.templates.is_empty());
    assert_eq!(
        (kept.pairs.samplers.cache().variants().live, kept.pairs.samplers.rows(&kept.ground.hot).states().live),
        (0, 0)
    );
    assert_eq!(kept.pairs.samplers.samplers_taken(&kept.ground.hot), 0);
    assert_eq!(kept.pairs.samplers.cache().with_borders(|borders| borders.taken()), 0);
}
