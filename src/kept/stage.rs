//! Stages of a pipeline.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;

use ash::vk;

use super::block::{Block, Live};
use super::chain;
use super::pointers::Facts;
use crate::pnext::{self, slice};
use samplin_core::left::Left;

type Info = vk::PipelineShaderStageCreateInfo<'static>;
type Specialization = vk::SpecializationInfo<'static>;

/// A stage of a kept pipeline. Its name, specialization and chain are in what the pipeline's `with_create_info` hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which one.
    pub stage: vk::ShaderStageFlags,
    /// The application's module, which may be gone; null where the words were chained ([`inline_words`]).
    pub module: vk::ShaderModule,
    /// Where it lies in the block.
    at: usize,
}

impl Stage {
    /// Keeps what the copy of `info` at `at` leads to.
    ///
    /// # Safety
    ///
    /// `info` is a stage of a valid create info, to which `facts` apply.
    pub(super) unsafe fn keep(
        block: &mut Block,
        at: usize,
        info: &vk::PipelineShaderStageCreateInfo<'_>,
        facts: &Facts<'_>,
    ) -> Result<Self, Left> {
        for pointer in [offset_of!(Info, p_name), offset_of!(Info, p_specialization_info)] {
            block.clear(at + pointer);
        }
        block.write(at + offset_of!(Info, module), vk::ShaderModule::null());
        // SAFETY: `info` is a stage of a valid create info to which `facts` apply, by this function's contract, and so is its
        // chain.
        unsafe { chain::keep(block, at + offset_of!(Info, p_next), info.p_next, facts) }?;
        // SAFETY: `info` is a stage of a valid create info by this function's contract.
        if info.module == vk::ShaderModule::null() && unsafe { inline_words(info) }.is_none() {
            return Err(Left::HiddenSpirv);
        }
        // SAFETY: VUID-VkPipelineShaderStageCreateInfo-pName-parameter.
        unsafe { entry(block, at + offset_of!(Info, p_name), info.p_name) };
        // SAFETY: VUID-VkPipelineShaderStageCreateInfo-pSpecializationInfo-parameter.
        unsafe { specialization(block, at + offset_of!(Info, p_specialization_info), info.p_specialization_info) };
        Ok(Self { stage: info.stage, module: info.module, at })
    }

    /// Puts a module into the stage's copy.
    pub(super) fn set_module(&self, live: &Live<'_>, module: vk::ShaderModule) {
        live.write(self.at + offset_of!(Info, module), module);
    }
}

/// Keeps the name of an entry point, and links it to the member at `from`.
///
/// # Safety
///
/// `name` is null or null-terminated.
pub(super) unsafe fn entry(block: &mut Block, from: usize, name: *const c_char) {
    block.clear(from);
    if !name.is_null() {
        // SAFETY: not null here, so null-terminated by this function's contract.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
        let to = block.slice(name);
        block.link(from, to);
    }
}

/// Keeps specialization constants, and links them to the member at `from`.
///
/// # Safety
///
/// `constants` is null or valid.
pub(super) unsafe fn specialization(block: &mut Block, from: usize, constants: *const vk::SpecializationInfo<'_>) {
    block.clear(from);
    // SAFETY: null or valid, by this function's contract.
    let Some(constants) = (unsafe { constants.as_ref() }) else { return };
    let to = block.value(constants);
    block.link(from, to);
    let (entries, count) = (to + offset_of!(Specialization, p_map_entries), constants.map_entry_count as usize);
    // SAFETY: VUID-VkSpecializationInfo-pMapEntries-parameter.
    unsafe { block.array(entries, constants.p_map_entries, count) };
    let data = to + offset_of!(Specialization, p_data);
    // SAFETY: VUID-VkSpecializationInfo-pData-parameter.
    unsafe { block.array(data, constants.p_data.cast::<u8>(), constants.data_size) };
}

/// The words that are chained to a stage instead of a module. They are not kept with it: a second pipeline gets modules of its own.
///
/// # Safety
///
/// `info` is a stage of a valid create info of a pipeline.
pub unsafe fn inline_words<'a>(info: &vk::PipelineShaderStageCreateInfo<'a>) -> Option<&'a [u32]> {
    if info.module != vk::ShaderModule::null() {
        return None;
    }
    // SAFETY: `info` is a stage of a valid create info by this function's contract, so a module structure in its chain is whole.
    let inline = unsafe { pnext::find::<vk::ShaderModuleCreateInfo<'_>>(info.p_next) }?;
    // The type's own rule (VUID-VkShaderModuleCreateInfo-codeSize-08735, -pCode-parameter); what breaks it cannot be a slice.
    let count = u32::try_from(inline.code_size / 4).ok()?;
    if count == 0 || !inline.p_code.is_aligned() {
        return None;
    }
    // SAFETY: VUID-VkShaderModuleCreateInfo-pCode-parameter.
    Some(unsafe { slice(inline.p_code, count) })
}
