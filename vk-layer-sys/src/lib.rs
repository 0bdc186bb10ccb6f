//! Raw ABI of the Vulkan loader's layer interface, `vk_layer.h`, expressed on [`ash::vk`] types.
//!
//! Types and constants only, no behaviour but a look-up. Every function pointer that crosses the interface is an
//! [`Option`], because the loader, another layer or a driver may hand over null.
//!
//! Beside it, what the layer needs of Vulkan that the bindings do not have: [`sizes`] of structures in chains, and
//! types younger than the bindings.
//!
//! Source: *Loader and Layer Interface* (interface version 2) and `vk_layer.h`, header version 1.3.239
//! up to 1.4.364; the layouts are unchanged over that range. Sizes and offsets are asserted at compile
//! time per pointer width, and `tests/headers/` compares them with the installed C header.

#![no_std]
#![forbid(unsafe_code)]

use ash::vk;
use core::ffi::{c_char, c_void};

mod heap;
pub mod sizes;
mod younger;

pub use heap::*;
pub use younger::*;

/// Interface version spoken by this crate's types (`CURRENT_LOADER_LAYER_INTERFACE_VERSION`).
pub const CURRENT_LOADER_LAYER_INTERFACE_VERSION: u32 = 2;
/// First interface version in which the negotiate function exists.
pub const MIN_SUPPORTED_LOADER_LAYER_INTERFACE_VERSION: u32 = 1;
/// Version of the structures that pre-instance functions are chained with (`VK_CURRENT_CHAIN_VERSION`).
pub const CURRENT_CHAIN_VERSION: u32 = 1;
/// Physical-device commands unknown to the loader that it can forward (`MAX_NUM_UNKNOWN_EXTS`).
pub const MAX_NUM_UNKNOWN_EXTS: u32 = 250;
/// `VK_LOADER_FEATURE_PHYSICAL_DEVICE_SORTING`, a bit of the `loader_features` of [`LayerInstanceCreateInfoUnion`].
pub const LOADER_FEATURE_PHYSICAL_DEVICE_SORTING: u32 = 1;

/// `VkNegotiateLayerStructType`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegotiateLayerStructType(pub i32);

impl NegotiateLayerStructType {
    /// `LAYER_NEGOTIATE_UNINTIALIZED` (the header's spelling).
    pub const UNINITIALIZED: Self = Self(0);
    /// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
    pub const INTERFACE_STRUCT: Self = Self(1);
}

/// `PFN_GetPhysicalDeviceProcAddr`: the layer's resolver of physical-device commands.
pub type PfnGetPhysicalDeviceProcAddr =
    unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;

/// `vkGetInstanceProcAddr` with the instance passed by value, as `ash` spells it.
pub type PfnGetInstanceProcAddr = vk::PFN_vkGetInstanceProcAddr;
/// `vkGetDeviceProcAddr`.
pub type PfnGetDeviceProcAddr = vk::PFN_vkGetDeviceProcAddr;

/// `VkNegotiateLayerInterface`, in and out parameter of the negotiate function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NegotiateLayerInterface {
    /// [`NegotiateLayerStructType::INTERFACE_STRUCT`].
    pub s_type: NegotiateLayerStructType,
    /// Reserved for extension; unknown nodes are ignored.
    pub p_next: *mut c_void,
    /// In: the newest version the loader speaks. Out: the version both will speak.
    pub loader_layer_interface_version: u32,
    /// Out: resolver of instance-level commands.
    pub pfn_get_instance_proc_addr: Option<PfnGetInstanceProcAddr>,
    /// Out: resolver of device-level commands.
    pub pfn_get_device_proc_addr: Option<PfnGetDeviceProcAddr>,
    /// Out: resolver of physical-device commands; null when the layer intercepts none.
    pub pfn_get_physical_device_proc_addr: Option<PfnGetPhysicalDeviceProcAddr>,
}

/// `PFN_vkNegotiateLoaderLayerInterfaceVersion`.
pub type PfnNegotiateLoaderLayerInterfaceVersion =
    unsafe extern "system" fn(version_struct: *mut NegotiateLayerInterface) -> vk::Result;

/// `PFN_PhysDevExt`: a physical-device command that the loader does not know.
pub type PfnPhysDevExt = unsafe extern "system" fn(physical_device: vk::PhysicalDevice) -> vk::Result;

/// `VkLayerFunction`: what a loader node in a create-info chain carries.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerFunction(pub i32);

impl LayerFunction {
    /// `VK_LAYER_LINK_INFO`: the union holds `pLayerInfo`.
    pub const LINK_INFO: Self = Self(0);
    /// `VK_LOADER_DATA_CALLBACK`: the union holds the set-loader-data function.
    pub const LOADER_DATA_CALLBACK: Self = Self(1);
    /// `VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK` (instance chain only).
    pub const LOADER_LAYER_CREATE_DEVICE_CALLBACK: Self = Self(2);
    /// `VK_LOADER_FEATURES` (instance chain only).
    pub const LOADER_FEATURES: Self = Self(3);
}

/// `VkLayerInstanceLink`: one element of the instance chain, owned by the loader.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LayerInstanceLink {
    /// The link of the layer below, null at the terminator.
    pub p_next: *mut LayerInstanceLink,
    /// `vkGetInstanceProcAddr` of the layer below.
    pub pfn_next_get_instance_proc_addr: Option<PfnGetInstanceProcAddr>,
    /// Physical-device resolver of the layer below.
    pub pfn_next_get_physical_device_proc_addr: Option<PfnGetPhysicalDeviceProcAddr>,
}

/// `VkLayerDeviceInfo`: a device as the loader of interface version 1 passed it along.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LayerDeviceInfo {
    /// The loader's own record of the device.
    pub device_info: *mut c_void,
    /// `vkGetInstanceProcAddr` of the layer below.
    pub pfn_next_get_instance_proc_addr: Option<PfnGetInstanceProcAddr>,
}

/// `PFN_vkSetInstanceLoaderData`.
pub type PfnSetInstanceLoaderData =
    unsafe extern "system" fn(instance: vk::Instance, object: *mut c_void) -> vk::Result;
/// `PFN_vkSetDeviceLoaderData`.
pub type PfnSetDeviceLoaderData = unsafe extern "system" fn(device: vk::Device, object: *mut c_void) -> vk::Result;
/// `PFN_vkLayerCreateDevice`.
pub type PfnLayerCreateDevice = unsafe extern "system" fn(
    instance: vk::Instance,
    physical_device: vk::PhysicalDevice,
    create_info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
    layer_gipa: Option<PfnGetInstanceProcAddr>,
    next_gdpa: *mut Option<PfnGetDeviceProcAddr>,
) -> vk::Result;
/// `PFN_vkLayerDestroyDevice`.
pub type PfnLayerDestroyDevice = unsafe extern "system" fn(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
    destroy: Option<vk::PFN_vkDestroyDevice>,
);

/// The `layerDevice` member of the instance node's union.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LayerDeviceFunctions {
    /// Creates a device below the calling layer.
    pub pfn_layer_create_device: Option<PfnLayerCreateDevice>,
    /// Destroys a device made by the function above.
    pub pfn_layer_destroy_device: Option<PfnLayerDestroyDevice>,
}

/// Union `u` of [`LayerInstanceCreateInfo`], discriminated by its `function`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union LayerInstanceCreateInfoUnion {
    /// With [`LayerFunction::LINK_INFO`].
    pub p_layer_info: *mut LayerInstanceLink,
    /// With [`LayerFunction::LOADER_DATA_CALLBACK`].
    pub pfn_set_instance_loader_data: Option<PfnSetInstanceLoaderData>,
    /// With [`LayerFunction::LOADER_LAYER_CREATE_DEVICE_CALLBACK`].
    pub layer_device: LayerDeviceFunctions,
    /// With [`LayerFunction::LOADER_FEATURES`]: `VkLoaderFeatureFlags`.
    pub loader_features: u32,
}

/// `VkLayerInstanceCreateInfo`: loader node in the chain of `VkInstanceCreateInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerInstanceCreateInfo {
    /// `VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO` (47).
    pub s_type: vk::StructureType,
    /// Next node.
    pub p_next: *const c_void,
    /// Discriminates `u`.
    pub function: LayerFunction,
    /// Payload.
    pub u: LayerInstanceCreateInfoUnion,
}

/// `VkLayerDeviceLink`: one element of the device chain, owned by the loader.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LayerDeviceLink {
    /// The link of the layer below, null at the terminator.
    pub p_next: *mut LayerDeviceLink,
    /// `vkGetInstanceProcAddr` of the layer below.
    pub pfn_next_get_instance_proc_addr: Option<PfnGetInstanceProcAddr>,
    /// `vkGetDeviceProcAddr` of the layer below.
    pub pfn_next_get_device_proc_addr: Option<PfnGetDeviceProcAddr>,
}

/// Union `u` of [`LayerDeviceCreateInfo`], discriminated by its `function`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union LayerDeviceCreateInfoUnion {
    /// With [`LayerFunction::LINK_INFO`].
    pub p_layer_info: *mut LayerDeviceLink,
    /// With [`LayerFunction::LOADER_DATA_CALLBACK`].
    pub pfn_set_device_loader_data: Option<PfnSetDeviceLoaderData>,
}

/// `VkLayerDeviceCreateInfo`: loader node in the chain of `VkDeviceCreateInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerDeviceCreateInfo {
    /// `VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO` (48).
    pub s_type: vk::StructureType,
    /// Next node.
    pub p_next: *const c_void,
    /// Discriminates `u`.
    pub function: LayerFunction,
    /// Payload.
    pub u: LayerDeviceCreateInfoUnion,
}

/// `VkChainType`: which pre-instance function a chain belongs to.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainType(pub i32);

impl ChainType {
    /// `VK_CHAIN_TYPE_UNKNOWN`.
    pub const UNKNOWN: Self = Self(0);
    /// `VK_CHAIN_TYPE_ENUMERATE_INSTANCE_EXTENSION_PROPERTIES`.
    pub const ENUMERATE_INSTANCE_EXTENSION_PROPERTIES: Self = Self(1);
    /// `VK_CHAIN_TYPE_ENUMERATE_INSTANCE_LAYER_PROPERTIES`.
    pub const ENUMERATE_INSTANCE_LAYER_PROPERTIES: Self = Self(2);
    /// `VK_CHAIN_TYPE_ENUMERATE_INSTANCE_VERSION`.
    pub const ENUMERATE_INSTANCE_VERSION: Self = Self(3);
}

/// `VkChainHeader`: first member of every pre-instance chain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChainHeader {
    /// Which function.
    pub ty: ChainType,
    /// [`CURRENT_CHAIN_VERSION`].
    pub version: u32,
    /// Size of the whole structure in bytes.
    pub size: u32,
}

/// `VkEnumerateInstanceExtensionPropertiesChain`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EnumerateInstanceExtensionPropertiesChain {
    /// With [`ChainType::ENUMERATE_INSTANCE_EXTENSION_PROPERTIES`].
    pub header: ChainHeader,
    /// The function of the next layer.
    pub pfn_next_layer: Option<
        unsafe extern "system" fn(
            chain: *const EnumerateInstanceExtensionPropertiesChain,
            layer_name: *const c_char,
            property_count: *mut u32,
            properties: *mut vk::ExtensionProperties,
        ) -> vk::Result,
    >,
    /// What to pass to it.
    pub p_next_link: *const EnumerateInstanceExtensionPropertiesChain,
}

/// `VkEnumerateInstanceLayerPropertiesChain`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EnumerateInstanceLayerPropertiesChain {
    /// With [`ChainType::ENUMERATE_INSTANCE_LAYER_PROPERTIES`].
    pub header: ChainHeader,
    /// The function of the next layer.
    pub pfn_next_layer: Option<
        unsafe extern "system" fn(
            chain: *const EnumerateInstanceLayerPropertiesChain,
            property_count: *mut u32,
            properties: *mut vk::LayerProperties,
        ) -> vk::Result,
    >,
    /// What to pass to it.
    pub p_next_link: *const EnumerateInstanceLayerPropertiesChain,
}

/// `VkEnumerateInstanceVersionChain`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EnumerateInstanceVersionChain {
    /// With [`ChainType::ENUMERATE_INSTANCE_VERSION`].
    pub header: ChainHeader,
    /// The function of the next layer.
    pub pfn_next_layer: Option<
        unsafe extern "system" fn(chain: *const EnumerateInstanceVersionChain, api_version: *mut u32) -> vk::Result,
    >,
    /// What to pass to it.
    pub p_next_link: *const EnumerateInstanceVersionChain,
}

/// Layout claims of this crate, checked at compile time for both pointer widths.
const _: () = {
    use core::mem::{align_of, offset_of, size_of};
    const PTR: usize = size_of::<usize>();
    assert!(size_of::<NegotiateLayerInterface>() == 6 * PTR);
    assert!(offset_of!(NegotiateLayerInterface, p_next) == PTR);
    assert!(offset_of!(NegotiateLayerInterface, loader_layer_interface_version) == 2 * PTR);
    assert!(offset_of!(NegotiateLayerInterface, pfn_get_instance_proc_addr) == 3 * PTR);
    assert!(size_of::<LayerInstanceLink>() == 3 * PTR);
    assert!(size_of::<LayerDeviceLink>() == 3 * PTR);
    assert!(size_of::<LayerInstanceCreateInfo>() == 5 * PTR);
    assert!(offset_of!(LayerInstanceCreateInfo, function) == 2 * PTR);
    assert!(offset_of!(LayerInstanceCreateInfo, u) == 3 * PTR);
    assert!(size_of::<LayerDeviceCreateInfo>() == 4 * PTR);
    assert!(offset_of!(LayerDeviceCreateInfo, u) == 3 * PTR);
    assert!(align_of::<LayerInstanceCreateInfo>() == PTR);
};
