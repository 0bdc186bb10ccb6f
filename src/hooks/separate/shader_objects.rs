//! Shader objects.

use std::ffi::CStr;

use ash::vk;

use crate::device::{Device, Group, Live, On, Recording, Rewritten, Separate, Stage};
use crate::hooks::shader::{constants, copies};
use crate::pnext::slice;

const LINKED: vk::ShaderCreateFlagsEXT = vk::ShaderCreateFlagsEXT::LINK_STAGE;

/// Remembers a shader object. `made_of`: what its code was made of, if it is not the application's.
///
/// # Safety
///
/// `info` is the valid create info that `shader` was made with.
unsafe fn remember(
    device: &Device,
    separate: &Separate,
    shader: vk::ShaderEXT,
    info: &vk::ShaderCreateInfoEXT<'_>,
    group: Group,
    made_of: Option<&Rewritten>,
) {
    if info.code_type != vk::ShaderCodeTypeEXT::SPIRV {
        // SAFETY: `info` is the valid create info of `shader` by this function's contract.
        return unsafe {
            separate.insert_shader(On { ground: &device.ground, pairs: &device.pairs }, shader, info, group, None)
        };
    }
    // SAFETY: SPIR-V is a multiple of four bytes (VUID-VkShaderCreateInfoEXT-codeSize-08735) at an address that is one too (-pCode-08493).
    let words = unsafe { slice(info.p_code.cast::<u32>(), u32::try_from(info.code_size / 4).unwrap_or(0)) };
    // SAFETY: null-terminated by VUID-VkShaderCreateInfoEXT-pName-parameter.
    let name = unsafe { CStr::from_ptr(info.p_name) }.to_string_lossy();
    // SAFETY: VUID-VkShaderCreateInfoEXT-pSpecializationInfo-parameter.
    let constants = unsafe { constants(info.p_specialization_info) };
    let words = separate.intern(words, made_of.and_then(|made_of| made_of.declared.as_deref()));
    let stage = Stage { stage: info.stage, name: &name, constants: &constants, words: &words };
    // SAFETY: `info` is the valid create info of `shader` by this function's contract, and the stage holds copies of what it says.
    unsafe {
        separate.insert_shader(On { ground: &device.ground, pairs: &device.pairs }, shader, info, group, Some(&stage))
    };
}

pub(crate) unsafe extern "system" fn create_shaders(
    handle: vk::Device,
    count: u32,
    create_infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    shaders: *mut vk::ShaderEXT,
) -> vk::Result {
    let (device, next) = enter!(handle, create_shaders);
    // SAFETY: `count` valid create infos (VUID-vkCreateShadersEXT-pCreateInfos-parameter).
    let copies = device.ground.guard(|| unsafe { copies::objects(device, slice(create_infos, count)) }, || None);
    let create_infos = copies.as_ref().map_or(create_infos, |copies| copies.infos.as_ptr());
    // SAFETY: what `vkCreateShadersEXT` was called with, or as many create infos with words that a pass has made of the application's.
    let result = unsafe { next(handle, count, create_infos, allocator, shaders) };
    // Whatever the result: each element was written, with a handle or null (vkCreateShadersEXT).
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(
            || {
                // SAFETY: `count` create infos (VUID-vkCreateShadersEXT-pCreateInfos-parameter) and as many handles, all of which the call
                // wrote.
                let (infos, made) = unsafe { (slice(create_infos, count), slice(shaders.cast_const(), count)) };
                let linked = infos.iter().filter(|info| info.flags.contains(LINKED)).count();
                let linked = separate.shader_group(linked);
                let made_of = |info: &vk::ShaderCreateInfoEXT<'_>| copies.as_ref()?.made_of(info.p_code);
                for (info, shader) in infos.iter().zip(made).filter(|(_, shader)| **shader != vk::ShaderEXT::null()) {
                    let group = if info.flags.contains(LINKED) { linked } else { Group::default() };
                    // SAFETY: the create info of that shader.
                    unsafe { remember(device, separate, *shader, info, group, made_of(info)) };
                }
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_shader(
    handle: vk::Device,
    shader: vk::ShaderEXT,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let (device, next) = enter!(handle, destroy_shader);
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(|| separate.forget_shader(&device.ground, shader), || ());
    }
    // SAFETY: what `vkDestroyShaderEXT` was called with; nothing of the layer's names the shader any more.
    unsafe { next(handle, shader, allocator) };
}

pub(crate) unsafe extern "system" fn cmd_bind_shaders(
    commands: vk::CommandBuffer,
    count: u32,
    stages: *const vk::ShaderStageFlags,
    shaders: *const vk::ShaderEXT,
) {
    let (device, next) = enter!(commands, cmd_bind_shaders);
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        let (ground, pairs) = (&device.ground, &device.pairs);
        // SAFETY: a recording command buffer and valid shaders (VUID-vkCmdBindShadersEXT-commandBuffer-recording, -pShaders-parameter);
        // `count` elements by the command's valid usage, but the shaders may be a null array, which `slice` makes an empty one.
        let (recording, all, given) =
            unsafe { (Recording::new(commands), slice(stages, count), Live::all(slice(shaders, count))) };
        ground.guard(
            || separate.note_shaders(ground, recording, all, given),
            || separate.forget_program(ground, pairs, recording),
        );
    }
    down!(next(commands, count, stages, shaders));
}
