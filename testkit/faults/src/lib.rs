//! A layer that fails calls on request: every call of a command that can fail is counted, and those from a given number on
//! return a given result instead of going down, where the specification lets that command return it.
//!
//! It also keeps what was created and not destroyed through it. The test holds the library open and asks through the exported
//! `samplin_faults_*` functions; all state belongs to the process. One instance and one device at a time, which is all the test
//! needs; the next layer's functions are plain statics.
#![allow(non_snake_case, reason = "the library's file name is what manifests expect")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk::{self, Handle};
use vk_layer_sys::{
    LayerDeviceCreateInfo, LayerFunction, LayerInstanceCreateInfo, NegotiateLayerInterface, PfnGetDeviceProcAddr,
    PfnGetInstanceProcAddr,
};

// --- what is counted ------------------------------------------------------------------------------------------------

/// What the test asked for and what was seen since.
struct FaultState {
    /// Calls with these numbers fail, counted from 0.
    failing: std::ops::Range<u64>,
    result: vk::Result,
    /// The commands that can fail, in the order of their calls.
    calls: Vec<&'static CStr>,
    /// How many calls failed, and the number of the first.
    injected: u64,
    first: u64,
    /// How often each object was handed out and not taken back; a driver may have one object for equal create infos.
    live: BTreeMap<(&'static CStr, u64), u64>,
    /// Objects destroyed that were not live here.
    foreign: u64,
    /// The sampler of the last combined image sampler that was written or pushed by a plain write.
    written: u64,
}

static STATE: Mutex<FaultState> = Mutex::new(FaultState {
    failing: 0..0,
    result: vk::Result::SUCCESS,
    calls: Vec::new(),
    injected: 0,
    first: u64::MAX,
    live: BTreeMap::new(),
    foreign: 0,
    written: 0,
});

fn state() -> MutexGuard<'static, FaultState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call of `command`, and says what it has to fail with, if it has to and `may` return that.
fn fault(command: &'static CStr, may: &[vk::Result]) -> Option<vk::Result> {
    let mut state = state();
    let number = state.calls.len() as u64;
    state.calls.push(command);
    if state.failing.contains(&number) && may.contains(&state.result) {
        state.injected += 1;
        state.first = state.first.min(number);
        return Some(state.result);
    }
    None
}

fn born(kind: &'static CStr, handle: u64) {
    *state().live.entry((kind, handle)).or_default() += 1;
}

fn gone(kind: &'static CStr, handle: u64) {
    if handle == 0 {
        return;
    }
    let mut state = state();
    match state.live.get_mut(&(kind, handle)) {
        Some(1) => _ = state.live.remove(&(kind, handle)),
        Some(count) => *count -= 1,
        None => state.foreign += 1,
    }
}

// --- for the test ---------------------------------------------------------------------------------------------------

/// Forgets the calls so far, and lets `count` calls from number `first` on return `result` (a `VkResult`).
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_arm(first: u64, count: u64, result: i32) {
    let mut state = state();
    state.failing = first..first.saturating_add(count);
    state.result = vk::Result::from_raw(result);
    state.calls.clear();
    state.injected = 0;
    state.first = u64::MAX;
    state.foreign = 0;
    state.written = 0;
}

/// How many calls that can fail there were.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_calls() -> u64 {
    state().calls.len() as u64
}

/// How many of them did not go down and failed.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_injected() -> u64 {
    state().injected
}

/// The number of the first call that failed; the largest number where none did.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_first() -> u64 {
    state().first
}

/// The command of a call; null beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_command(call: u64) -> *const c_char {
    usize::try_from(call).ok().and_then(|call| state().calls.get(call).copied()).map_or(ptr::null(), CStr::as_ptr)
}

/// The kind of an object that was created and not destroyed; null beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_left(number: u64) -> *const c_char {
    let kind = usize::try_from(number).ok().and_then(|number| state().live.keys().nth(number).map(|(kind, _)| *kind));
    kind.map_or(ptr::null(), CStr::as_ptr)
}

/// How many objects were destroyed that were not live.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_foreign() -> u64 {
    state().foreign
}

/// The sampler of the last combined image sampler that came by in a plain write or push.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_faults_written() -> u64 {
    state().written
}

// --- the commands ---------------------------------------------------------------------------------------------------

const MEMORY: &[vk::Result] = &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY];
/// Version 1.0 of the specification also listed the third one for samplers and memory, and drivers go on returning it.
const COUNTED: &[vk::Result] =
    &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_TOO_MANY_OBJECTS];
const DEVICE: &[vk::Result] = &[
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    vk::Result::ERROR_TOO_MANY_OBJECTS,
    vk::Result::ERROR_DEVICE_LOST,
];
const QUEUE: &[vk::Result] =
    &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_DEVICE_LOST];

type Callbacks = *const vk::AllocationCallbacks<'static>;

/// Defines commands of a device and what `vkGetDeviceProcAddr` says of them. The body of each may call `next`.
macro_rules! commands {
    ($($name:literal $(= $alias:literal)? $fn:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? |$next:ident| $body:block)+) => {
        $(unsafe extern "system" fn $fn($($arg: $type),*) $(-> $result)? {
            let next = next::$fn.load(Ordering::Relaxed);
            // SAFETY: only handed out once the pointer below is known; the signature is the name's.
            let $next = unsafe { std::mem::transmute::<usize, unsafe extern "system" fn($($type),*) $(-> $result)?>(next) };
            $body
        })+

        /// The functions of the layer below.
        #[allow(non_upper_case_globals, reason = "named after the functions that use them")]
        mod next {
            $(pub(super) static $fn: super::AtomicUsize = super::AtomicUsize::new(0);)+
        }

        fn load(resolve: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) {
            $({
                let found = resolve($name)$(.or_else(|| resolve($alias)))?;
                next::$fn.store(found.map_or(0, |found| found as usize), Ordering::Relaxed);
            })+
        }

        fn intercept(name: &CStr) -> vk::PFN_vkVoidFunction {
            $(if name == $name $(|| name == $alias)? {
                let function: unsafe extern "system" fn($($type),*) $(-> $result)? = $fn;
                // SAFETY: the caller casts it back by the command's name.
                return Some(unsafe { std::mem::transmute::<unsafe extern "system" fn($($type),*) $(-> $result)?, unsafe extern "system" fn()>(function) });
            })+
            None
        }
    };
}

/// A command that creates one object.
///
/// # Safety
///
/// `out` is the command's output, which `create` sets when it succeeds.
unsafe fn create<T: Handle + Copy>(
    command: &'static CStr,
    kind: &'static CStr,
    may: &[vk::Result],
    out: *mut T,
    create: impl FnOnce() -> vk::Result,
) -> vk::Result {
    if let Some(result) = fault(command, may) {
        return result;
    }
    let result = create();
    if result == vk::Result::SUCCESS {
        // SAFETY: forwarded from the caller.
        born(kind, unsafe { *out }.as_raw());
    }
    result
}

/// Commands that create and destroy objects of a device, those that just fail, and those that wait: what `commands` takes for each.
macro_rules! objects {
    ($({
        $create:literal $(= $create_alias:literal)? $create_fn:ident $may:ident
        $destroy:literal $(= $destroy_alias:literal)? $destroy_fn:ident
        $kind:literal $type:ident $info:ident
    })+
    fail $({ $fail:literal $fail_fn:ident $fail_may:ident ($($fail_arg:ident: $fail_type:ty),*) })+
    wait $({ $wait:literal $wait_fn:ident ($($wait_arg:ident: $wait_type:ty),*) })+
    ; $($rest:tt)*) => {
        commands! {
            $($create $(= $create_alias)? $create_fn(device: vk::Device, info: *const vk::$info<'_>, allocator: Callbacks, out: *mut vk::$type) -> vk::Result |next| {
                // SAFETY: the caller's own arguments, whose types are the name's.
                unsafe { create($create, $kind, $may, out, || next(device, info, allocator, out)) }
            }
            $destroy $(= $destroy_alias)? $destroy_fn(device: vk::Device, object: vk::$type, allocator: Callbacks) |next| {
                // Before the call, because the driver may hand the handle out again at once.
                gone($kind, object.as_raw());
                // SAFETY: the caller's own arguments.
                unsafe { next(device, object, allocator) };
            })+
            $($fail $fail_fn($($fail_arg: $fail_type),*) -> vk::Result |next| {
                // SAFETY: the caller's own arguments.
                fault($fail, $fail_may).unwrap_or_else(|| unsafe { next($($fail_arg),*) })
            })+
            // Whoever waits in vain destroys things next: what was submitted is over by then, as it is on a device that was lost.
            $($wait $wait_fn($($wait_arg: $wait_type),*) -> vk::Result |next| {
                // SAFETY: the caller's own arguments.
                let result = unsafe { next($($wait_arg),*) };
                fault($wait, QUEUE).unwrap_or(result)
            })+
            $($rest)*
        }
    };
}

/// Remembers the sampler of the last combined image sampler.
///
/// # Safety
///
/// `writes` are valid.
unsafe fn watch(count: u32, writes: *const vk::WriteDescriptorSet<'_>) {
    for index in 0..count as usize {
        // SAFETY: forwarded from the caller; such a write has image infos.
        unsafe {
            let write = &*writes.add(index);
            if write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && write.descriptor_count > 0 {
                let last = write.p_image_info.add(write.descriptor_count as usize - 1);
                state().written = (*last).sampler.as_raw();
            }
        }
    }
}

objects! {
    { c"vkCreateSampler" create_sampler COUNTED c"vkDestroySampler" destroy_sampler c"VkSampler" Sampler SamplerCreateInfo }
    { c"vkCreateImage" create_image MEMORY c"vkDestroyImage" destroy_image c"VkImage" Image ImageCreateInfo }
    { c"vkCreateImageView" create_image_view MEMORY c"vkDestroyImageView" destroy_image_view c"VkImageView" ImageView ImageViewCreateInfo }
    { c"vkCreateBuffer" create_buffer MEMORY c"vkDestroyBuffer" destroy_buffer c"VkBuffer" Buffer BufferCreateInfo }
    { c"vkAllocateMemory" allocate_memory COUNTED c"vkFreeMemory" free_memory c"VkDeviceMemory" DeviceMemory MemoryAllocateInfo }
    { c"vkCreateDescriptorSetLayout" create_set_layout MEMORY c"vkDestroyDescriptorSetLayout" destroy_set_layout c"VkDescriptorSetLayout" DescriptorSetLayout DescriptorSetLayoutCreateInfo }
    { c"vkCreatePipelineLayout" create_pipeline_layout MEMORY c"vkDestroyPipelineLayout" destroy_pipeline_layout c"VkPipelineLayout" PipelineLayout PipelineLayoutCreateInfo }
    { c"vkCreateDescriptorPool" create_descriptor_pool MEMORY c"vkDestroyDescriptorPool" destroy_descriptor_pool c"VkDescriptorPool" DescriptorPool DescriptorPoolCreateInfo }
    { c"vkCreateDescriptorUpdateTemplate" = c"vkCreateDescriptorUpdateTemplateKHR" create_template MEMORY c"vkDestroyDescriptorUpdateTemplate" = c"vkDestroyDescriptorUpdateTemplateKHR" destroy_template c"VkDescriptorUpdateTemplate" DescriptorUpdateTemplate DescriptorUpdateTemplateCreateInfo }
    { c"vkCreateSamplerYcbcrConversion" = c"vkCreateSamplerYcbcrConversionKHR" create_conversion MEMORY c"vkDestroySamplerYcbcrConversion" = c"vkDestroySamplerYcbcrConversionKHR" destroy_conversion c"VkSamplerYcbcrConversion" SamplerYcbcrConversion SamplerYcbcrConversionCreateInfo }
    { c"vkCreateShaderModule" create_shader_module MEMORY c"vkDestroyShaderModule" destroy_shader_module c"VkShaderModule" ShaderModule ShaderModuleCreateInfo }
    { c"vkCreateCommandPool" create_command_pool MEMORY c"vkDestroyCommandPool" destroy_command_pool c"VkCommandPool" CommandPool CommandPoolCreateInfo }
    { c"vkCreateFence" create_fence MEMORY c"vkDestroyFence" destroy_fence c"VkFence" Fence FenceCreateInfo }
    fail
    { c"vkBindImageMemory" bind_image MEMORY (device: vk::Device, image: vk::Image, memory: vk::DeviceMemory, offset: vk::DeviceSize) }
    { c"vkBindBufferMemory" bind_buffer MEMORY (device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: vk::DeviceSize) }
    { c"vkMapMemory" map_memory MEMORY (device: vk::Device, memory: vk::DeviceMemory, offset: vk::DeviceSize, size: vk::DeviceSize, flags: vk::MemoryMapFlags, out: *mut *mut c_void) }
    { c"vkBeginCommandBuffer" begin MEMORY (commands: vk::CommandBuffer, info: *const vk::CommandBufferBeginInfo<'_>) }
    { c"vkEndCommandBuffer" end MEMORY (commands: vk::CommandBuffer) }
    { c"vkQueueSubmit" submit QUEUE (queue: vk::Queue, count: u32, submits: *const vk::SubmitInfo<'_>, fence: vk::Fence) }
    wait
    { c"vkQueueWaitIdle" queue_wait (queue: vk::Queue) }
    { c"vkDeviceWaitIdle" device_wait (device: vk::Device) }
    { c"vkWaitForFences" wait_fences (device: vk::Device, count: u32, fences: *const vk::Fence, all: vk::Bool32, timeout: u64) }
    ;
    c"vkCreateComputePipelines" create_pipelines(device: vk::Device, cache: vk::PipelineCache, count: u32, infos: *const vk::ComputePipelineCreateInfo<'_>, allocator: Callbacks, out: *mut vk::Pipeline) -> vk::Result |next| {
        if let Some(result) = fault(c"vkCreateComputePipelines", MEMORY) {
            // SAFETY: the command has `count` outputs; those of failed pipelines are null.
            unsafe { out.write_bytes(0, count as usize) };
            return result;
        }
        // SAFETY: the caller's own arguments.
        let result = unsafe { next(device, cache, count, infos, allocator, out) };
        for index in 0..count as usize {
            // SAFETY: every output is a pipeline or null.
            let made = unsafe { *out.add(index) }.as_raw();
            if made != 0 {
                born(c"VkPipeline", made);
            }
        }
        result
    }
    c"vkDestroyPipeline" destroy_pipeline(device: vk::Device, object: vk::Pipeline, allocator: Callbacks) |next| {
        gone(c"VkPipeline", object.as_raw());
        // SAFETY: the caller's own arguments.
        unsafe { next(device, object, allocator) };
    }
    c"vkAllocateDescriptorSets" allocate_sets(device: vk::Device, info: *const vk::DescriptorSetAllocateInfo<'_>, out: *mut vk::DescriptorSet) -> vk::Result |next| {
        if let Some(result) = fault(c"vkAllocateDescriptorSets", MEMORY) {
            // SAFETY: as many outputs as layouts; all of them are null after a failure. Sets die with their pool.
            unsafe { out.write_bytes(0, (*info).descriptor_set_count as usize) };
            return result;
        }
        // SAFETY: the caller's own arguments.
        unsafe { next(device, info, out) }
    }
    c"vkAllocateCommandBuffers" allocate_commands(device: vk::Device, info: *const vk::CommandBufferAllocateInfo<'_>, out: *mut vk::CommandBuffer) -> vk::Result |next| {
        if let Some(result) = fault(c"vkAllocateCommandBuffers", MEMORY) {
            // SAFETY: as for sets.
            unsafe { out.write_bytes(0, (*info).command_buffer_count as usize) };
            return result;
        }
        // SAFETY: the caller's own arguments.
        unsafe { next(device, info, out) }
    }
    c"vkUpdateDescriptorSets" update(device: vk::Device, count: u32, writes: *const vk::WriteDescriptorSet<'_>, copy_count: u32, copies: *const vk::CopyDescriptorSet<'_>) |next| {
        // SAFETY: the caller's own arguments.
        unsafe {
            watch(count, writes);
            next(device, count, writes, copy_count, copies);
        }
    }
    c"vkCmdPushDescriptorSetKHR" push(commands: vk::CommandBuffer, point: vk::PipelineBindPoint, layout: vk::PipelineLayout, set: u32, count: u32, writes: *const vk::WriteDescriptorSet<'_>) |next| {
        // SAFETY: the caller's own arguments.
        unsafe {
            watch(count, writes);
            next(commands, point, layout, set, count, writes);
        }
    }
    c"vkDestroyDevice" destroy_device(device: vk::Device, allocator: Callbacks) |next| {
        gone(c"VkDevice", device.as_raw());
        // SAFETY: the caller's own arguments.
        unsafe { next(device, allocator) };
    }
}

// --- instance and device --------------------------------------------------------------------------------------------

static NEXT_GIPA: AtomicUsize = AtomicUsize::new(0);
static NEXT_GDPA: AtomicUsize = AtomicUsize::new(0);

/// A function that was stored, as its type.
///
/// # Safety
///
/// The static was set from a function of type `F`.
unsafe fn stored<F: Copy>(from: &AtomicUsize) -> Option<F> {
    let word = from.load(Ordering::Relaxed);
    // SAFETY: forwarded from the caller; function pointers have the size of a word.
    (word != 0).then(|| unsafe { std::mem::transmute_copy(&word) })
}

/// The functions of the instance in the layer below. Asked for when the instance is made, as every layer has to: later the
/// loader's own end of the chain answers with its beginning.
macro_rules! below {
    ($($static:ident $name:literal)+) => {
        $(static $static: AtomicUsize = AtomicUsize::new(0);)+

        fn load_instance(resolve: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) {
            $($static.store(resolve($name).map_or(0, |found| found as usize), Ordering::Relaxed);)+
        }
    };
}

below! {
    DESTROY_INSTANCE c"vkDestroyInstance"
    ENUMERATE_DEVICES c"vkEnumeratePhysicalDevices"
    ENUMERATE_EXTENSIONS c"vkEnumerateDeviceExtensionProperties"
    IMAGE_FORMATS c"vkGetPhysicalDeviceImageFormatProperties2"
    CREATE_DEVICE c"vkCreateDevice"
}

/// The next node of type `s_type` at or after `node` for which `wanted` holds.
///
/// # Safety
///
/// `node` is a valid chain.
unsafe fn find(
    mut node: *const vk::BaseInStructure<'_>,
    s_type: vk::StructureType,
    wanted: impl Fn(*const vk::BaseInStructure<'_>) -> bool,
) -> *const c_void {
    // SAFETY: forwarded from the caller.
    unsafe {
        while !(node.is_null() || (*node).s_type == s_type && wanted(node)) {
            node = (*node).p_next;
        }
    }
    node.cast()
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the loader puts its link into the chain and lets each layer advance it; the signature is the name's.
    unsafe {
        let node = find((*info).p_next.cast(), vk::StructureType::LOADER_INSTANCE_CREATE_INFO, |node| {
            (*node.cast::<LayerInstanceCreateInfo>()).function == LayerFunction::LINK_INFO
        });
        let Some(node) = node.cast_mut().cast::<LayerInstanceCreateInfo>().as_mut() else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let link = *node.u.p_layer_info;
        node.u.p_layer_info = link.p_next;
        let Some(gipa) = link.pfn_next_get_instance_proc_addr else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        NEXT_GIPA.store(gipa as usize, Ordering::Relaxed);
        let Some(next) = gipa(vk::Instance::null(), c"vkCreateInstance".as_ptr()) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let next = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(next);
        let result = create(c"vkCreateInstance", c"VkInstance", MEMORY, out, || next(info, allocator, out));
        if result == vk::Result::SUCCESS {
            load_instance(|name| gipa(*out, name.as_ptr()));
        }
        result
    }
}

unsafe extern "system" fn destroy_instance(instance: vk::Instance, allocator: *const vk::AllocationCallbacks<'_>) {
    gone(c"VkInstance", instance.as_raw());
    // SAFETY: the caller's own arguments.
    unsafe {
        if let Some(next) = stored::<vk::PFN_vkDestroyInstance>(&DESTROY_INSTANCE) {
            next(instance, allocator);
        }
    }
}

/// Commands of the instance that just fail.
macro_rules! failing {
    ($($below:ident $pfn:ident $name:literal $function:ident($($arg:ident: $type:ty),*);)+) => {$(
        unsafe extern "system" fn $function($($arg: $type),*) -> vk::Result {
            fault($name, MEMORY).unwrap_or_else(|| {
                // SAFETY: the caller's own arguments; the signature is the name's.
                unsafe { stored::<vk::$pfn>(&$below).map_or(vk::Result::ERROR_INITIALIZATION_FAILED, |next| next($($arg),*)) }
            })
        }
    )+};
}

failing! {
    ENUMERATE_DEVICES PFN_vkEnumeratePhysicalDevices c"vkEnumeratePhysicalDevices"
        enumerate_devices(instance: vk::Instance, count: *mut u32, devices: *mut vk::PhysicalDevice);
    ENUMERATE_EXTENSIONS PFN_vkEnumerateDeviceExtensionProperties c"vkEnumerateDeviceExtensionProperties"
        enumerate_extensions(physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32, extensions: *mut vk::ExtensionProperties);
    IMAGE_FORMATS PFN_vkGetPhysicalDeviceImageFormatProperties2 c"vkGetPhysicalDeviceImageFormatProperties2"
        image_formats(physical: vk::PhysicalDevice, info: *const vk::PhysicalDeviceImageFormatInfo2<'_>, out: *mut vk::ImageFormatProperties2<'_>);
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: as for the instance.
    unsafe {
        let node = find((*info).p_next.cast(), vk::StructureType::LOADER_DEVICE_CREATE_INFO, |node| {
            (*node.cast::<LayerDeviceCreateInfo>()).function == LayerFunction::LINK_INFO
        });
        let Some(node) = node.cast_mut().cast::<LayerDeviceCreateInfo>().as_mut() else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let link = *node.u.p_layer_info;
        node.u.p_layer_info = link.p_next;
        let Some(gdpa) = link.pfn_next_get_device_proc_addr else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let Some(next) = stored::<vk::PFN_vkCreateDevice>(&CREATE_DEVICE) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let result = create(c"vkCreateDevice", c"VkDevice", DEVICE, out, || next(physical, info, allocator, out));
        if result == vk::Result::SUCCESS {
            NEXT_GDPA.store(gdpa as usize, Ordering::Relaxed);
            load(|name| gdpa(*out, name.as_ptr()));
        }
        result
    }
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is terminated; the resolver below was stored when the device was made.
    unsafe {
        let below = stored::<PfnGetDeviceProcAddr>(&NEXT_GDPA)?(device, name)?;
        Some(intercept(CStr::from_ptr(name)).unwrap_or(below))
    }
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    macro_rules! own {
        ($type:ident $function:ident) => {
            // SAFETY: the caller casts it back by the command's name.
            Some(unsafe { std::mem::transmute::<vk::$type, unsafe extern "system" fn()>($function) })
        };
    }
    // SAFETY: the name is terminated.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkCreateInstance" => own!(PFN_vkCreateInstance create_instance),
        b"vkDestroyInstance" => own!(PFN_vkDestroyInstance destroy_instance),
        b"vkEnumeratePhysicalDevices" => own!(PFN_vkEnumeratePhysicalDevices enumerate_devices),
        b"vkEnumerateDeviceExtensionProperties" => {
            own!(PFN_vkEnumerateDeviceExtensionProperties enumerate_extensions)
        }
        b"vkGetPhysicalDeviceImageFormatProperties2" => {
            own!(PFN_vkGetPhysicalDeviceImageFormatProperties2 image_formats)
        }
        b"vkCreateDevice" => own!(PFN_vkCreateDevice create_device),
        b"vkGetInstanceProcAddr" => own!(PFN_vkGetInstanceProcAddr get_instance_proc_addr),
        b"vkGetDeviceProcAddr" => own!(PFN_vkGetDeviceProcAddr get_device_proc_addr),
        // SAFETY: the caller's own arguments.
        _ => unsafe { stored::<PfnGetInstanceProcAddr>(&NEXT_GIPA)?(instance, name) },
    }
}

/// Agrees on version 2 of the layer interface.
///
/// # Safety
///
/// `interface` points to a `VkNegotiateLayerInterface` that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: the caller's promise.
    let Some(interface) = (unsafe { interface.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    interface.loader_layer_interface_version = 2;
    interface.pfn_get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.pfn_get_device_proc_addr = Some(get_device_proc_addr);
    interface.pfn_get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}
