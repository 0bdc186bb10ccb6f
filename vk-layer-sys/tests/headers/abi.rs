//! The crate's types against the installed C header.
//!
//! A C source made from the tables below includes `<vulkan/vk_layer.h>` and asserts the sizes, alignments, offsets and constants of
//! the Rust types, which the C compiler compares with its own. A second test reads the header itself, so that a type which the tables
//! lack cannot go unnoticed.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::fmt::Write as _;
use std::mem::{align_of, offset_of, size_of};

use ash::vk;
use vk_layer_sys::*;

use crate::compiler::compile;

/// The comparison.
#[derive(Default)]
struct Probe {
    /// Assertions, in C.
    source: String,
    /// The names of what they are about.
    facts: BTreeSet<String>,
    /// Every name of the header that is looked at.
    names: BTreeSet<&'static str>,
}

impl Probe {
    fn number(&mut self, name: &str, c: &str, rust: usize) {
        writeln!(self.source, "_Static_assert(({c}) == {rust}, \"{name} is {rust} in Rust\");").unwrap();
        assert!(self.facts.insert(name.to_owned()), "{name} is listed twice");
    }

    fn layout(&mut self, name: &'static str, size: usize, align: usize) {
        self.names.insert(name);
        self.number(&format!("sizeof {name}"), &format!("sizeof({name})"), size);
        self.number(&format!("alignof {name}"), &format!("_Alignof({name})"), align);
    }

    fn member(&mut self, name: &'static str, member: &str, offset: usize, size: usize) {
        self.number(&format!("offsetof {name}.{member}"), &format!("offsetof({name}, {member})"), offset);
        self.number(&format!("sizeof {name}.{member}"), &format!("sizeof((({name}*)0)->{member})"), size);
    }

    fn constant(&mut self, name: &'static str, value: usize) {
        self.names.insert(name);
        self.number(name, name, value);
    }

    fn function(&mut self, name: &'static str, c: &str) {
        self.names.insert(name);
        self.number(&format!("{name} is {c}"), &format!("__builtin_types_compatible_p({name}, {c})"), 1);
        self.number(&format!("sizeof {name}"), &format!("sizeof({name})"), size_of::<Option<fn()>>());
    }
}

/// Size of the member that `pick` borrows.
fn size_of_member<T, M>(_pick: fn(&T) -> &M) -> usize {
    size_of::<M>()
}

macro_rules! structures {
    ($probe:ident: $($c:ident = $rust:ident { $($member:ident = $field:ident,)+ })+) => {
        $(
            $probe.layout(stringify!($c), size_of::<$rust>(), align_of::<$rust>());
            $($probe.member(
                stringify!($c),
                stringify!($member),
                offset_of!($rust, $field),
                size_of_member(|whole: &$rust| &whole.$field),
            );)+
        )+
    };
}

/// Members of the unions, whose offset is 0 within the union: seen from C through the structure that holds it.
macro_rules! union_members {
    ($probe:ident: $($c:ident.$($member:ident).+ = $size:expr, $offset:expr;)+) => {
        $($probe.member(stringify!($c), stringify!($($member).+).replace(' ', "").as_str(), $offset, $size);)+
    };
}

macro_rules! functions {
    ($probe:ident: $($c:ident = $rust:ident: $type:ty, $text:literal;)+) => {
        $({
            // The signature written here is the crate's …
            let _same: fn($rust) -> $type = |f| f;
            // … and the one written in C is the header's.
            $probe.function(stringify!($c), $text);
        })+
    };
}

fn probe() -> Probe {
    let mut probe = Probe::default();
    structures! { probe:
        VkNegotiateLayerInterface = NegotiateLayerInterface {
            sType = s_type,
            pNext = p_next,
            loaderLayerInterfaceVersion = loader_layer_interface_version,
            pfnGetInstanceProcAddr = pfn_get_instance_proc_addr,
            pfnGetDeviceProcAddr = pfn_get_device_proc_addr,
            pfnGetPhysicalDeviceProcAddr = pfn_get_physical_device_proc_addr,
        }
        VkLayerInstanceLink = LayerInstanceLink {
            pNext = p_next,
            pfnNextGetInstanceProcAddr = pfn_next_get_instance_proc_addr,
            pfnNextGetPhysicalDeviceProcAddr = pfn_next_get_physical_device_proc_addr,
        }
        VkLayerDeviceInfo = LayerDeviceInfo {
            device_info = device_info,
            pfnNextGetInstanceProcAddr = pfn_next_get_instance_proc_addr,
        }
        VkLayerInstanceCreateInfo = LayerInstanceCreateInfo {
            sType = s_type,
            pNext = p_next,
            function = function,
            u = u,
        }
        VkLayerDeviceLink = LayerDeviceLink {
            pNext = p_next,
            pfnNextGetInstanceProcAddr = pfn_next_get_instance_proc_addr,
            pfnNextGetDeviceProcAddr = pfn_next_get_device_proc_addr,
        }
        VkLayerDeviceCreateInfo = LayerDeviceCreateInfo {
            sType = s_type,
            pNext = p_next,
            function = function,
            u = u,
        }
        VkChainHeader = ChainHeader {
            type = ty,
            version = version,
            size = size,
        }
        VkEnumerateInstanceExtensionPropertiesChain = EnumerateInstanceExtensionPropertiesChain {
            header = header,
            pfnNextLayer = pfn_next_layer,
            pNextLink = p_next_link,
        }
        VkEnumerateInstanceLayerPropertiesChain = EnumerateInstanceLayerPropertiesChain {
            header = header,
            pfnNextLayer = pfn_next_layer,
            pNextLink = p_next_link,
        }
        VkEnumerateInstanceVersionChain = EnumerateInstanceVersionChain {
            header = header,
            pfnNextLayer = pfn_next_layer,
            pNextLink = p_next_link,
        }
    }
    let instance = offset_of!(LayerInstanceCreateInfo, u);
    let pair = instance + offset_of!(LayerInstanceCreateInfoUnion, layer_device);
    let device = offset_of!(LayerDeviceCreateInfo, u);
    union_members! { probe:
        VkLayerInstanceCreateInfo.u.pLayerInfo = size_of::<*mut LayerInstanceLink>(),
            instance + offset_of!(LayerInstanceCreateInfoUnion, p_layer_info);
        VkLayerInstanceCreateInfo.u.pfnSetInstanceLoaderData = size_of::<Option<PfnSetInstanceLoaderData>>(),
            instance + offset_of!(LayerInstanceCreateInfoUnion, pfn_set_instance_loader_data);
        VkLayerInstanceCreateInfo.u.layerDevice = size_of::<LayerDeviceFunctions>(), pair;
        VkLayerInstanceCreateInfo.u.layerDevice.pfnLayerCreateDevice = size_of::<Option<PfnLayerCreateDevice>>(),
            pair + offset_of!(LayerDeviceFunctions, pfn_layer_create_device);
        VkLayerInstanceCreateInfo.u.layerDevice.pfnLayerDestroyDevice = size_of::<Option<PfnLayerDestroyDevice>>(),
            pair + offset_of!(LayerDeviceFunctions, pfn_layer_destroy_device);
        VkLayerInstanceCreateInfo.u.loaderFeatures = size_of::<u32>(),
            instance + offset_of!(LayerInstanceCreateInfoUnion, loader_features);
        VkLayerDeviceCreateInfo.u.pLayerInfo = size_of::<*mut LayerDeviceLink>(),
            device + offset_of!(LayerDeviceCreateInfoUnion, p_layer_info);
        VkLayerDeviceCreateInfo.u.pfnSetDeviceLoaderData = size_of::<Option<PfnSetDeviceLoaderData>>(),
            device + offset_of!(LayerDeviceCreateInfoUnion, pfn_set_device_loader_data);
    }
    // Enumerations and flags.
    probe.layout(
        "VkNegotiateLayerStructType",
        size_of::<NegotiateLayerStructType>(),
        align_of::<NegotiateLayerStructType>(),
    );
    probe.layout("VkLayerFunction", size_of::<LayerFunction>(), align_of::<LayerFunction>());
    probe.layout("VkChainType", size_of::<ChainType>(), align_of::<ChainType>());
    probe.layout("VkLoaderFlagBits", size_of::<u32>(), align_of::<u32>());
    probe.layout("VkLoaderFeatureFlags", size_of::<u32>(), align_of::<u32>());
    for (name, value) in [
        ("LAYER_NEGOTIATE_UNINTIALIZED", NegotiateLayerStructType::UNINITIALIZED.0),
        ("LAYER_NEGOTIATE_INTERFACE_STRUCT", NegotiateLayerStructType::INTERFACE_STRUCT.0),
        ("VK_LAYER_LINK_INFO", LayerFunction::LINK_INFO.0),
        ("VK_LOADER_DATA_CALLBACK", LayerFunction::LOADER_DATA_CALLBACK.0),
        ("VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK", LayerFunction::LOADER_LAYER_CREATE_DEVICE_CALLBACK.0),
        ("VK_LOADER_FEATURES", LayerFunction::LOADER_FEATURES.0),
        ("VK_CHAIN_TYPE_UNKNOWN", ChainType::UNKNOWN.0),
        ("VK_CHAIN_TYPE_ENUMERATE_INSTANCE_EXTENSION_PROPERTIES", ChainType::ENUMERATE_INSTANCE_EXTENSION_PROPERTIES.0),
        ("VK_CHAIN_TYPE_ENUMERATE_INSTANCE_LAYER_PROPERTIES", ChainType::ENUMERATE_INSTANCE_LAYER_PROPERTIES.0),
        ("VK_CHAIN_TYPE_ENUMERATE_INSTANCE_VERSION", ChainType::ENUMERATE_INSTANCE_VERSION.0),
    ] {
        probe.constant(name, value as usize);
    }
    for (name, value) in [
        ("VK_LOADER_FEATURE_PHYSICAL_DEVICE_SORTING", LOADER_FEATURE_PHYSICAL_DEVICE_SORTING),
        ("CURRENT_LOADER_LAYER_INTERFACE_VERSION", CURRENT_LOADER_LAYER_INTERFACE_VERSION),
        ("MIN_SUPPORTED_LOADER_LAYER_INTERFACE_VERSION", MIN_SUPPORTED_LOADER_LAYER_INTERFACE_VERSION),
        ("VK_CURRENT_CHAIN_VERSION", CURRENT_CHAIN_VERSION),
        ("MAX_NUM_UNKNOWN_EXTS", MAX_NUM_UNKNOWN_EXTS),
    ] {
        probe.constant(name, value as usize);
    }
    functions! { probe:
        PFN_GetPhysicalDeviceProcAddr = PfnGetPhysicalDeviceProcAddr:
            unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction,
            "PFN_vkVoidFunction (VKAPI_PTR *)(VkInstance, const char *)";
        PFN_vkNegotiateLoaderLayerInterfaceVersion = PfnNegotiateLoaderLayerInterfaceVersion:
            unsafe extern "system" fn(*mut NegotiateLayerInterface) -> vk::Result,
            "VkResult (VKAPI_PTR *)(VkNegotiateLayerInterface *)";
        PFN_PhysDevExt = PfnPhysDevExt:
            unsafe extern "system" fn(vk::PhysicalDevice) -> vk::Result,
            "VkResult (VKAPI_PTR *)(VkPhysicalDevice)";
        PFN_vkSetInstanceLoaderData = PfnSetInstanceLoaderData:
            unsafe extern "system" fn(vk::Instance, *mut c_void) -> vk::Result,
            "VkResult (VKAPI_PTR *)(VkInstance, void *)";
        PFN_vkSetDeviceLoaderData = PfnSetDeviceLoaderData:
            unsafe extern "system" fn(vk::Device, *mut c_void) -> vk::Result,
            "VkResult (VKAPI_PTR *)(VkDevice, void *)";
        PFN_vkLayerCreateDevice = PfnLayerCreateDevice:
            unsafe extern "system" fn(
                vk::Instance,
                vk::PhysicalDevice,
                *const vk::DeviceCreateInfo<'_>,
                *const vk::AllocationCallbacks<'_>,
                *mut vk::Device,
                Option<PfnGetInstanceProcAddr>,
                *mut Option<PfnGetDeviceProcAddr>,
            ) -> vk::Result,
            "VkResult (VKAPI_PTR *)(VkInstance, VkPhysicalDevice, const VkDeviceCreateInfo *, const VkAllocationCallbacks *, VkDevice *, PFN_vkGetInstanceProcAddr, PFN_vkGetDeviceProcAddr *)";
        PFN_vkLayerDestroyDevice = PfnLayerDestroyDevice:
            unsafe extern "system" fn(
                vk::Device,
                *const vk::AllocationCallbacks<'_>,
                Option<vk::PFN_vkDestroyDevice>,
            ),
            "void (VKAPI_PTR *)(VkDevice, const VkAllocationCallbacks *, PFN_vkDestroyDevice)";
    }
    // Kinds of chain nodes, by the values that the loader writes.
    for (name, ty) in [
        ("VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO", vk::StructureType::LOADER_INSTANCE_CREATE_INFO),
        ("VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO", vk::StructureType::LOADER_DEVICE_CREATE_INFO),
    ] {
        probe.number(name, name, ty.as_raw() as usize);
    }
    probe
}

const INCLUDES: &str = "#include <stddef.h>\n#include <vulkan/vk_layer.h>\n";

/// What the C compiler complains of.
fn complaints(source: &str) -> Vec<String> {
    let (compiled, _, errors) = compile(&["-Wall", "-Werror", "-fsyntax-only"], source);
    let complaints: Vec<String> = errors.lines().filter(|line| line.contains("error")).map(str::to_owned).collect();
    assert_eq!(compiled, complaints.is_empty(), "{errors}");
    complaints
}

#[test]
fn layouts_and_constants_are_those_of_the_c_header() {
    let probe = probe();
    let complaints = complaints(&format!("{INCLUDES}{}", probe.source));
    assert!(complaints.is_empty(), "vk-layer-sys differs from vk_layer.h:\n{}", complaints.join("\n"));
}

#[test]
fn the_compiler_compares_each() {
    let probe = probe();
    let complaints = complaints(&format!("{INCLUDES}{}", probe.source.replace(") == ", ") == 1 + ")));
    assert_eq!(complaints.len(), probe.facts.len(), "{}", complaints.join("\n"));
}

#[test]
fn no_type_or_constant_of_the_header_is_missing() {
    let (_, rule, errors) = compile(&["-M"], INCLUDES);
    let path = rule.split_whitespace().find(|word| word.ends_with("/vk_layer.h")).unwrap_or_else(|| {
        panic!(
            "this test needs the Vulkan headers (Debian: libvulkan-dev), among which is no vk_layer.h: {errors}{rule}"
        )
    });
    let header = std::fs::read_to_string(path).expect("what the compiler read can be read");
    let known = probe().names;
    let missing: Vec<String> = names(&header).into_iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "vk-layer-sys lacks what {path} declares: {missing:?}");
}

/// Types, function pointer types and constants that a header declares.
fn names(header: &str) -> BTreeSet<String> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut names = BTreeSet::new();
    for line in header.lines().map(str::trim) {
        // `} Name;` at the end of a type, `Name = value,` in an enumeration, `#define Name value`, and
        // `typedef … (VKAPI_PTR *PFN_name)(…` or `typedef Type Name;`.
        let name = if let Some(rest) = line.strip_prefix("} ") {
            rest.strip_suffix(';')
        } else if let Some(rest) = line.strip_prefix("#define ") {
            rest.split_once(' ').filter(|(_, value)| value.trim().parse::<u32>().is_ok()).map(|(name, _)| name)
        } else if let Some(rest) = line.strip_prefix("typedef ") {
            let function = rest.split_once("(VKAPI_PTR *").or_else(|| rest.split_once("(VKAPI_PTR*"));
            match function {
                Some((_, rest)) => rest.split_once(')').map(|(name, _)| name),
                None => rest.strip_suffix(';').and_then(|rest| rest.rsplit(' ').next()),
            }
        } else {
            line.split_once(" = ").filter(|(_, value)| value.ends_with(',')).map(|(name, _)| name)
        };
        // `u` and `layerDevice` are members of unnamed types.
        names.extend(name.filter(|name| is_name(name) && !matches!(*name, "u" | "layerDevice")).map(str::to_owned));
    }
    names
}

#[test]
fn the_header_reader_sees_every_kind_of_declaration() {
    let header = "#define A_VERSION 2\n#define NOT_A_NUMBER __attribute__(())\ntypedef enum E {\n    E_ONE = 1,\n} E;\n\
        typedef VkFlags Flags;\ntypedef VkResult(VKAPI_PTR *PFN_f)(void);\ntypedef struct {\n    union {\n    } u;\n} S;\n";
    let expected: BTreeSet<String> = ["A_VERSION", "E_ONE", "E", "Flags", "PFN_f", "S"].map(str::to_owned).into();
    assert_eq!(names(header), expected);
}
