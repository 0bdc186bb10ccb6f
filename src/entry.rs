//! Negotiation with the loader and the proc-addr functions.
//!
//! The functions handed to the loader are private ones, so that no other object in the process can interpose them.
//! Source of the rules: *Loader and Layer Interface*, "Layer Interface Versions" and "Layer Interception Requirements".

use std::ffi::{CStr, c_char};

use ash::vk;
use vk_layer_sys::{CURRENT_LOADER_LAYER_INTERFACE_VERSION, NegotiateLayerInterface, NegotiateLayerStructType};

use crate::commands::commands;
use crate::device::Device;
use crate::hooks::{
    blit, buffer_view, descriptor, device, heap, image, instance, layout, physical, pulse, queue, requirements,
    retuned, sampler, separate, shader, template,
};
use crate::instance::Instance;
use crate::log;
use crate::platform;
use crate::settings::{self, Separate};

type Function = unsafe extern "system" fn();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Resolves without an instance.
    Global,
    Instance,
    /// Only intercepted when the application is to see a simulated device.
    Physical,
    Device,
    /// A device command, hooked with `separate=resolve` only.
    Separate,
    /// A device command, hooked where the device cannot store all texel buffers that shaders are to store.
    Buffers,
    /// A device command, hooked there and with `separate=resolve`.
    BufferViews,
    /// A device command, hooked where a submission can say that a frame ends, with `separate=resolve`.
    Frames,
    /// A device command, hooked where a shader can become another one, and with `separate=resolve`.
    Shaders,
}

macro_rules! row {
    ($name:ident $level:ident $type:ty, $($command:literal)+ => $hook:expr) => {
        $(if $name == $command {
            let function: $type = $hook;
            // SAFETY: a pointer of the command's own signature (checked by the line above), typed without arguments as
            // PFN_vkVoidFunction is; the caller casts it back by the command's name.
            let function = unsafe { std::mem::transmute::<$type, Function>(function) };
            return Some((function, Level::$level));
        })+
    };
    ($name:ident $level:ident $type:ty, $($command:literal)+) => {};
}

macro_rules! table {
    (
        own { $($own_level:ident $own:ident: $own_type:ty, $own_needed:literal, $($own_name:literal),+ => $own_hook:path;)+ }
        followed { $($f_field:ident: $f_type:ty, $($f_name:literal),+ => $f_hook:path;)+ }
        retuned { $($r_level:ident $r_field:ident: $r_type:ty, $($r_name:literal),+ => $r_hook:path;)+ }
        pulsed { $($u_level:ident $u_field:ident: $u_type:ty, $($u_name:literal),+ => $u_hook:path;)+ }
        actions { $($a_field:ident: $a_type:ty, $a_needed:literal, $($a_name:literal),+ => $a_point:ident;)+ }
        $($level:ident { $($field:ident: $type:ty, $needed:literal, $($name:literal),+ $(=> $hook:path)?;)+ })+
    ) => {
        /// The intercept of a command; `separate`: with `separate=resolve`; `retuned`: where rules may come to be others; `pulsed`: with
        /// `pulse=on`, or where rules follow render passes.
        fn find(name: &CStr, separate: bool, [retuned, pulsed]: [bool; 2]) -> Option<(Function, Level)> {
            if pulsed {
                $(row!(name $u_level $u_type, $($u_name)+ => $u_hook);)+
                $(row!(name Device $a_type, $($a_name)+ => separate::actions::pulsed::<separate::actions::$a_field>());)+
            }
            if retuned {
                $(row!(name $r_level $r_type, $($r_name)+ => $r_hook);)+
            }
            if separate {
                $(row!(name Device $f_type, $($f_name)+ => $f_hook);)+
            }
            $(row!(name $own_level $own_type, $($own_name)+ => $own_hook);)+
            $($(row!(name $level $type, $($name)+ $(=> $hook)?);)+)+
            $(row!(name Separate $a_type, $($a_name)+ => separate::actions::hook::<separate::actions::$a_field>());)+
            None
        }
    };
}

commands!(table);

/// Whether samplers and images are followed that only a shader joins.
fn follows(instance: &Instance) -> bool {
    instance.settings.separate == Separate::Resolve
}

/// Whether rules may come to be others on its devices.
fn retunes(instance: &Instance) -> bool {
    instance.settings.live || instance.overrides.follow_render()
}

/// The layer's `vkGetInstanceProcAddr`.
///
/// A device command is returned too, because applications fetch them here; its hook then serves devices on which the
/// command may be missing. What the layer below does not know is not returned.
pub(crate) unsafe extern "system" fn get_instance_proc_addr(
    handle: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: null-terminated by VUID-vkGetInstanceProcAddr-pName-parameter.
    let name = unsafe { CStr::from_ptr(name) };
    let own = find(name, false, [false; 2]);
    if let Some((function, Level::Global)) = own {
        return Some(function);
    }
    if handle == vk::Instance::null() {
        // Layers above ask so for vkCreateDevice while they create a device (MangoHud and RenderDoc do), when all they have at
        // hand is the next layer's resolver. The loader never lets an application's question through to here.
        return own.filter(|(_, level)| *level == Level::Instance).map(|(function, _)| function);
    }
    // SAFETY: a valid instance by VUID-vkGetInstanceProcAddr-instance-parameter.
    let instance = unsafe { Instance::find(handle) }?;
    let own =
        match (follows(instance), [retunes(instance), instance.settings.pulse || instance.overrides.follow_passes()]) {
            (false, [false, false]) => own,
            (separate, others) => find(name, separate, others),
        };
    // SAFETY: the instance is valid for the resolver below.
    let below = unsafe { (instance.next_gipa)(handle, name.as_ptr()) };
    match own {
        Some((function, Level::Instance)) => Some(function),
        Some((function, Level::Physical)) if below.is_some() && instance.shows_others() => Some(function),
        Some((_, Level::Physical)) => below,
        Some((_, Level::Separate)) if !follows(instance) => below,
        Some((_, Level::Frames)) if !follows(instance) && !retunes(instance) => below,
        Some((function, _)) if below.is_some() && serves(name, instance.is_off()) => Some(function),
        _ => below,
    }
}

/// Whether a device command is answered with the layer's own function. Two are in any mode: the entry of a device has to go away
/// with it, and whoever resolves vkDestroyDevice by another way would pass the layer by.
fn serves(name: &CStr, off: bool) -> bool {
    !off || matches!(name.to_bytes(), b"vkDestroyDevice" | b"vkGetDeviceProcAddr")
}

/// The layer's `vkGetDeviceProcAddr`: null below means null here, as a command of an extension that is not enabled must be.
pub(crate) unsafe extern "system" fn get_device_proc_addr(
    handle: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: a valid device by VUID-vkGetDeviceProcAddr-device-parameter.
    let device = unsafe { Device::find(handle) }?;
    // SAFETY: null-terminated by VUID-vkGetDeviceProcAddr-pName-parameter.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the device is valid for the resolver below.
    let below = unsafe { (device.ground.driver.next_gdpa)(handle, name.as_ptr()) }?;
    let which = device.which();
    match find(name, which.separate, [which.retuned, which.pulsed]) {
        Some((function, Level::Device)) if serves(name, device.ground.driver.instance.is_off()) => Some(function),
        Some((function, Level::Separate)) if which.separate => Some(function),
        Some((function, Level::Shaders)) if which.shaders => Some(function),
        Some((function, Level::Buffers)) if which.buffers => Some(function),
        Some((function, Level::BufferViews)) if which.buffer_views => Some(function),
        Some((function, Level::Frames)) if which.frames => Some(function),
        // Instance commands are not for devices, even if what is below answers for them: those would go past this layer.
        Some((_, Level::Global | Level::Instance | Level::Physical)) => None,
        _ => Some(below),
    }
}

/// Agrees with the loader on version 2 of the layer interface.
///
/// # Errors
///
/// `VK_ERROR_INITIALIZATION_FAILED` when the structure is missing or of another type, or when the loader only speaks a version
/// without this function.
///
/// # Safety
///
/// `interface` is null or points to a `VkNegotiateLayerInterface` that may be written.
pub unsafe fn negotiate(interface: *mut NegotiateLayerInterface) -> vk::Result {
    // SAFETY: null, or the loader's own structure, which a layer may write (vkNegotiateLoaderLayerInterfaceVersion, "Layer
    // Interface Versions").
    let Some(interface) = (unsafe { interface.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    log::raise(settings::log_of_environment());
    let (s_type, version) = (interface.s_type, interface.loader_layer_interface_version);
    if s_type != NegotiateLayerStructType::INTERFACE_STRUCT || version < CURRENT_LOADER_LAYER_INTERFACE_VERSION {
        tracing::warn!(s_type = s_type.0, version, "negotiation with the loader failed");
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    platform::keep_loaded();
    tracing::debug!(version, agreed = CURRENT_LOADER_LAYER_INTERFACE_VERSION, "negotiated with the loader");
    interface.loader_layer_interface_version = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
    interface.pfn_get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.pfn_get_device_proc_addr = Some(get_device_proc_addr);
    interface.pfn_get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}
