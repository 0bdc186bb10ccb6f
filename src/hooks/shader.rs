//! Shaders, as they are created and identified: modules here, those that come with pipelines and shader objects in `copies`.

pub(super) mod copies;
mod mappings;
mod samples;

use std::ffi::c_void;

use ash::vk;
use samplin_hot::memory;
use vk_layer_sys::PipelineCreateInfoKHR;

use crate::device::{Device, Rewritten};
use crate::pnext::Base;
use crate::pnext::slice;

/// The words of a module.
///
/// # Safety
///
/// `info` is valid.
pub(super) unsafe fn words<'a>(info: &vk::ShaderModuleCreateInfo<'a>) -> &'a [u32] {
    // SAFETY: VUID-VkShaderModuleCreateInfo-pCode-parameter; the size is a multiple of four (-codeSize-08735).
    unsafe { slice(info.p_code, u32::try_from(info.code_size / 4).unwrap_or(0)) }
}

/// The numbers and bytes of specialization constants.
///
/// # Safety
///
/// `info` is null or valid: its entries lie within its data (VUID-VkSpecializationInfo-offset-00773, -pMapEntries-00774).
pub(super) unsafe fn constants<'a>(info: *const vk::SpecializationInfo<'a>) -> Vec<(u32, &'a [u8])> {
    // SAFETY: null or valid, by this function's contract.
    let Some(info) = (unsafe { info.as_ref() }) else { return Vec::new() };
    // SAFETY: as many bytes and entries as the structure says (VUID-VkSpecializationInfo-pData-parameter, -pMapEntries-parameter).
    let (data, entries) = unsafe {
        let data = if info.p_data.is_null() {
            &[]
        } else {
            std::slice::from_raw_parts(info.p_data.cast::<u8>(), info.data_size)
        };
        (data, slice(info.p_map_entries, info.map_entry_count))
    };
    memory::collect(entries.iter().filter_map(|entry| {
        let start = entry.offset as usize;
        Some((entry.constant_id, data.get(start..start.checked_add(entry.size)?)?))
    }))
}

/// The words that reach the driver in place of a module's, if not its own.
///
/// # Safety
///
/// `info` is valid.
unsafe fn rewritten(device: &Device, info: *const vk::ShaderModuleCreateInfo<'_>) -> Option<Rewritten> {
    // SAFETY: `info` is valid by this function's contract, so its words can be read.
    device
        .ground
        .guard(|| device.shaders.module_words(&device.ground, &device.pairs, unsafe { words(&*info) }), || None)
}

/// A create info with other words, in the application's chain.
fn with_words<'a>(info: &vk::ShaderModuleCreateInfo<'a>, words: &'a [u32]) -> vk::ShaderModuleCreateInfo<'a> {
    vk::ShaderModuleCreateInfo { p_code: words.as_ptr(), code_size: size_of_val(words), ..*info }
}

pub(crate) unsafe extern "system" fn create_shader_module(
    handle: vk::Device,
    create_info: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    let (device, next) = enter!(handle, create_shader_module);
    // SAFETY: valid by VUID-vkCreateShaderModule-pCreateInfo-parameter.
    let rewritten = unsafe { rewritten(device, create_info) };
    let result = match &rewritten {
        None => down!(next(handle, create_info, allocator, module)),
        Some(rewritten) => {
            // SAFETY: the same create info, which was not null, as it has words.
            let other = with_words(unsafe { &*create_info }, &rewritten.words);
            // SAFETY: what `vkCreateShaderModule` was called with, but for words that a pass has made of the application's, which live
            // during the call.
            unsafe { next(handle, &other, allocator, module) }
        }
    };
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateShaderModule-pCreateInfo-parameter; the handle was set by the successful call.
                let (given, module) = unsafe { (words(&*create_info), *module) };
                device.shaders.insert_module(device.separate.as_deref(), module, given, rewritten.as_ref());
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_shader_module(
    handle: vk::Device,
    module: vk::ShaderModule,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let (device, next) = enter!(handle, destroy_shader_module);
    device.ground.guard(|| device.shaders.forget_module(device.separate.as_deref(), module), || ());
    down!(next(handle, module, allocator));
}

/// An identifier stands for what the driver would be given.
pub(crate) unsafe extern "system" fn get_shader_module_create_info_identifier(
    handle: vk::Device,
    create_info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    let (device, next) = enter!(handle, get_shader_module_create_info_identifier);
    // SAFETY: valid by VUID-vkGetShaderModuleCreateInfoIdentifierEXT-pCreateInfo-parameter.
    let Some(rewritten) = (unsafe { rewritten(device, create_info) }) else {
        return down!(next(handle, create_info, identifier));
    };
    // SAFETY: the create info that words were just read of, so it is not null.
    let other = with_words(unsafe { &*create_info }, &rewritten.words);
    // SAFETY: what `vkGetShaderModuleCreateInfoIdentifierEXT` was called with, but for words that a pass has made of the application's,
    // which live during the call.
    unsafe { next(handle, &other, identifier) };
}

/// A key stands for what the driver would be given. Its create info, of which only the first in the chain is looked at, is that of a
/// pipeline; without one the key is the driver's own.
pub(crate) unsafe extern "system" fn get_pipeline_key(
    handle: vk::Device,
    info: *const PipelineCreateInfoKHR,
    key: *mut c_void,
) -> vk::Result {
    let (device, next) = enter!(handle, get_pipeline_key);
    // SAFETY: null or valid, by VUID-vkGetPipelineKeyKHR-pPipelineCreateInfo-parameter.
    let first = unsafe { info.as_ref() }.map_or(std::ptr::null(), |info| info.p_next);
    // SAFETY: null or a structure, of which at least the base can be read (VUID-VkPipelineCreateInfoKHR-pNext-pNext).
    let s_type = unsafe { first.cast::<Base>().as_ref() }.map(|base| base.s_type);
    // SAFETY: the application's own arguments, or create infos that differ in what has to.
    let with = |first: *const c_void| unsafe { next(handle, &PipelineCreateInfoKHR { p_next: first, ..*info }, key) };
    match s_type {
        Some(vk::StructureType::GRAPHICS_PIPELINE_CREATE_INFO) => {
            // SAFETY: a whole structure, by its type.
            let copies = device.ground.guard(|| unsafe { copies::graphics(device, slice(first.cast(), 1)) }, || None);
            if let Some(copies) = copies.as_ref().filter(|copies| copies.differs()) {
                return with(copies.infos.as_ptr().cast());
            }
        }
        Some(vk::StructureType::COMPUTE_PIPELINE_CREATE_INFO) => {
            // SAFETY: a whole structure, by its type.
            let copies = device.ground.guard(|| unsafe { copies::compute(device, slice(first.cast(), 1)) }, || None);
            if let Some(copies) = &copies {
                return with(copies.infos.as_ptr().cast());
            }
        }
        Some(vk::StructureType::RAY_TRACING_PIPELINE_CREATE_INFO_KHR) => {
            // SAFETY: a whole structure, by its type, with as many stages as it says.
            let copies = device.ground.guard(|| unsafe { copies::rays_khr(device, first.cast(), 1) }, || None);
            if let Some(copies) = &copies {
                return with(copies.infos.as_ptr().cast());
            }
        }
        _ => {}
    }
    down!(next(handle, info, key))
}
