//! A layer that intercepts the commands of the benchmark and only forwards them: what any layer costs at least.
//!
//! One instance and one device at a time, which is all the benchmark needs; the next layer's functions are plain statics.
#![allow(non_snake_case, reason = "the library's file name is what manifests expect")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use ash::vk;
use vk_layer_sys::{
    LayerDeviceCreateInfo, LayerFunction, LayerInstanceCreateInfo, NegotiateLayerInterface, PfnGetDeviceProcAddr,
    PfnGetInstanceProcAddr,
};

static NEXT_GIPA: AtomicUsize = AtomicUsize::new(0);
static NEXT_GDPA: AtomicUsize = AtomicUsize::new(0);

#[repr(C)]
struct Base {
    s_type: vk::StructureType,
    p_next: *const c_void,
}

/// The next node of type `s_type` at or after `node`.
///
/// # Safety
///
/// `node` is a valid chain.
unsafe fn find(mut node: *const Base, s_type: vk::StructureType, link: impl Fn(*const Base) -> bool) -> *const Base {
    // SAFETY: forwarded from the caller.
    unsafe {
        while !(node.is_null() || (*node).s_type == s_type && link(node)) {
            node = (*node).p_next.cast();
        }
    }
    node
}

/// The resolver below, as its type.
///
/// # Safety
///
/// The static was set from a function of type `F`.
unsafe fn resolver<F: Copy>(from: &AtomicUsize) -> Option<F> {
    let word = from.load(Ordering::Relaxed);
    // SAFETY: forwarded from the caller; function pointers have the size of a word.
    (word != 0).then(|| unsafe { std::mem::transmute_copy(&word) })
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the loader puts its link into the chain and lets each layer advance it; the signature is the name's.
    unsafe {
        let node = find((*info).p_next.cast(), vk::StructureType::LOADER_INSTANCE_CREATE_INFO, |node| {
            (*node.cast::<LayerInstanceCreateInfo>()).function == LayerFunction::LINK_INFO
        });
        if node.is_null() {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        let node = node.cast::<LayerInstanceCreateInfo>().cast_mut();
        let link = *(*node).u.p_layer_info;
        (*node).u.p_layer_info = link.p_next;
        let Some(gipa) = link.pfn_next_get_instance_proc_addr else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        NEXT_GIPA.store(gipa as usize, Ordering::Relaxed);
        let Some(create) = gipa(vk::Instance::null(), c"vkCreateInstance".as_ptr()) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(create)(info, allocator, instance)
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: as for the instance.
    unsafe {
        let node = find((*info).p_next.cast(), vk::StructureType::LOADER_DEVICE_CREATE_INFO, |node| {
            (*node.cast::<LayerDeviceCreateInfo>()).function == LayerFunction::LINK_INFO
        });
        if node.is_null() {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        let node = node.cast::<LayerDeviceCreateInfo>().cast_mut();
        let link = *(*node).u.p_layer_info;
        (*node).u.p_layer_info = link.p_next;
        let (Some(gipa), Some(gdpa)) = (link.pfn_next_get_instance_proc_addr, link.pfn_next_get_device_proc_addr)
        else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let Some(create) = gipa(vk::Instance::null(), c"vkCreateDevice".as_ptr()).or_else(|| {
            resolver::<PfnGetInstanceProcAddr>(&NEXT_GIPA)?(vk::Instance::null(), c"vkCreateDevice".as_ptr())
        }) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let result = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateDevice>(create)(
            physical, info, allocator, device,
        );
        if result == vk::Result::SUCCESS {
            NEXT_GDPA.store(gdpa as usize, Ordering::Relaxed);
            load(|name| gdpa(*device, name.as_ptr()));
        }
        result
    }
}

macro_rules! forward {
    ($($fn:ident $static:ident $name:literal ($($arg:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        $(static $static: AtomicUsize = AtomicUsize::new(0);

        unsafe extern "system" fn $fn($($arg: $type),*) $(-> $result)? {
            let next = $static.load(Ordering::Relaxed);
            // SAFETY: only handed out once the pointer below is known; the signature is the name's.
            unsafe { std::mem::transmute::<usize, unsafe extern "system" fn($($type),*) $(-> $result)?>(next)($($arg),*) }
        })+

        fn load(resolve: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) {
            $($static.store(resolve($name).map_or(0, |f| f as usize), Ordering::Relaxed);)+
        }

        fn intercept(name: &CStr) -> vk::PFN_vkVoidFunction {
            $(if name == $name {
                let function: unsafe extern "system" fn($($type),*) $(-> $result)? = $fn;
                // SAFETY: the caller casts it back by the command's name.
                return Some(unsafe { std::mem::transmute::<unsafe extern "system" fn($($type),*) $(-> $result)?, unsafe extern "system" fn()>(function) });
            })+
            None
        }
    };
}

type Callbacks = *const vk::AllocationCallbacks<'static>;

forward! {
    update UPDATE c"vkUpdateDescriptorSets" (device: vk::Device, n: u32, writes: *const vk::WriteDescriptorSet<'_>, m: u32, copies: *const vk::CopyDescriptorSet<'_>);
    template TEMPLATE c"vkUpdateDescriptorSetWithTemplate" (device: vk::Device, set: vk::DescriptorSet, template: vk::DescriptorUpdateTemplate, data: *const c_void);
    push PUSH c"vkCmdPushDescriptorSetKHR" (commands: vk::CommandBuffer, point: vk::PipelineBindPoint, layout: vk::PipelineLayout, set: u32, n: u32, writes: *const vk::WriteDescriptorSet<'_>);
    create_sampler CREATE_SAMPLER c"vkCreateSampler" (device: vk::Device, info: *const vk::SamplerCreateInfo<'_>, allocator: Callbacks, out: *mut vk::Sampler) -> vk::Result;
    destroy_sampler DESTROY_SAMPLER c"vkDestroySampler" (device: vk::Device, sampler: vk::Sampler, allocator: Callbacks);
    create_view CREATE_VIEW c"vkCreateImageView" (device: vk::Device, info: *const vk::ImageViewCreateInfo<'_>, allocator: Callbacks, out: *mut vk::ImageView) -> vk::Result;
    destroy_view DESTROY_VIEW c"vkDestroyImageView" (device: vk::Device, view: vk::ImageView, allocator: Callbacks);
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is terminated; the resolver below was stored when the device was made.
    unsafe {
        let below = resolver::<PfnGetDeviceProcAddr>(&NEXT_GDPA)?(device, name)?;
        Some(intercept(CStr::from_ptr(name)).unwrap_or(below))
    }
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is terminated; each function has its command's signature.
    unsafe {
        match CStr::from_ptr(name).to_bytes() {
            b"vkCreateInstance" => {
                Some(std::mem::transmute::<vk::PFN_vkCreateInstance, unsafe extern "system" fn()>(create_instance))
            }
            b"vkCreateDevice" => {
                Some(std::mem::transmute::<vk::PFN_vkCreateDevice, unsafe extern "system" fn()>(create_device))
            }
            b"vkGetInstanceProcAddr" => Some(std::mem::transmute::<
                vk::PFN_vkGetInstanceProcAddr,
                unsafe extern "system" fn(),
            >(get_instance_proc_addr)),
            b"vkGetDeviceProcAddr" => Some(std::mem::transmute::<
                vk::PFN_vkGetDeviceProcAddr,
                unsafe extern "system" fn(),
            >(get_device_proc_addr)),
            _ => resolver::<PfnGetInstanceProcAddr>(&NEXT_GIPA)?(instance, name),
        }
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
