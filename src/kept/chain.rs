//! What is chained to a create info, its stages and its states.

use std::ffi::c_void;
use std::mem::offset_of;

use ash::vk;
use vk_layer_sys::sizes;

use super::block::Block;
use super::flags::{CUSTOM_RESOLVE, Counted, PIPELINE_BINARY_INFO, all_flags};
use super::pointers::{Arrays, Facts};
use crate::pnext::{self, Base};
use samplin_core::left::Left;

/// Flags that a second pipeline has no use for: derivatives, whose parent may be gone; statistics and other things that are captured
/// for tools; and giving up where the driver would have to compile, which is what a second pipeline is made for.
const DROPPED: u64 = {
    let flags = vk::PipelineCreateFlags::ALLOW_DERIVATIVES.as_raw()
        | vk::PipelineCreateFlags::DERIVATIVE.as_raw()
        | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR.as_raw()
        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR.as_raw()
        | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw()
        | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE.as_raw();
    // VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR is younger than the bindings.
    flags as u64 | 1 << 31
};

/// The flags of a pipeline without those that are dropped.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub(super) unsafe fn flags(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> u64 {
    // SAFETY: `p_next` is a valid chain by this function's contract.
    unsafe { all_flags(flags, p_next) & !DROPPED }
}

/// What becomes of a node.
enum Fate {
    Keep(sizes::Flat),
    /// It says nothing that a second pipeline needs.
    Drop,
}

/// # Safety
///
/// `node` is a node of the chain of a valid create info.
unsafe fn fate(node: *const Base, facts: &Facts<'_>) -> Result<Fate, Left> {
    use vk::StructureType as Type;
    // SAFETY: `node` is one of a valid chain by this function's contract, so its base can be read.
    let s_type = unsafe { (*node).s_type };
    // SAFETY: each of the structures for which this is asked has a count behind its base.
    let names_none = || unsafe { (*node.cast::<Counted>()).count } == 0;
    match s_type {
        // Written to by the driver; names and caches of modules; words, which are the caller's to keep.
        Type::PIPELINE_CREATION_FEEDBACK_CREATE_INFO
        | Type::DEBUG_UTILS_OBJECT_NAME_INFO_EXT
        | Type::SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT
        | Type::SHADER_MODULE_CREATE_INFO => Ok(Fate::Drop),
        // "If a graphics pipeline is created with a valid VkRenderPass, parameters of this structure are ignored."
        Type::PIPELINE_RENDERING_CREATE_INFO | Type::ATTACHMENT_SAMPLE_COUNT_INFO_AMD | CUSTOM_RESOLVE
            if facts.render_pass() =>
        {
            Ok(Fate::Drop)
        }
        Type::PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT | PIPELINE_BINARY_INFO => {
            if names_none() {
                Ok(Fate::Drop)
            } else {
                Err(Left::HiddenSpirv)
            }
        }
        // Which libraries a second pipeline is linked of is the caller's to say.
        Type::PIPELINE_LIBRARY_CREATE_INFO_KHR => Ok(Fate::Drop),
        _ => sizes::in_pipeline(s_type).map(Fate::Keep).ok_or(Left::PipelineChain),
    }
}

/// Copies what is chained at `p_next` and links it to the member at `from`.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of a pipeline, of a stage or of a state of it, to which `facts` apply.
pub(super) unsafe fn keep(
    block: &mut Block,
    mut from: usize,
    p_next: *const c_void,
    facts: &Facts<'_>,
) -> Result<(), Left> {
    block.clear(from);
    // SAFETY: `p_next` is a valid chain by this function's contract.
    for (number, node) in unsafe { pnext::chain(p_next) }.enumerate() {
        if number + 1 == pnext::LIMIT {
            return Err(Left::PipelineChain);
        }
        // SAFETY: `chain` yields the nodes of the caller's chain.
        let Fate::Keep(flat) = (unsafe { fate(node, facts) })? else { continue };
        // SAFETY: a node of this type has this size.
        let at = unsafe { block.copy(node.cast(), flat.size) };
        block.link(from, at);
        from = at + offset_of!(Base, p_next);
        block.clear(from);
        // SAFETY: `node` is of the chain that is walked here, to which `facts` apply by this function's contract.
        let arrays = unsafe { facts.arrays(node) };
        for array in flat.arrays() {
            let pointer = at + array.pointer;
            block.clear(pointer);
            // SAFETY: the table says that there is a pointer.
            let source = unsafe { *node.byte_add(array.pointer).cast::<*const u8>() };
            if source.is_null() {
                continue;
            }
            match (arrays?, array.count) {
                (Arrays::Read, _) => {}
                (Arrays::Emptied, Some(count)) => {
                    block.write(at + count, 0_u32);
                    continue;
                }
                _ => continue,
            }
            // SAFETY: the table says that there is a count.
            let count = array.count.map_or(1, |count| unsafe { *node.byte_add(count).cast::<u32>() });
            let size = (count as usize).checked_mul(array.element).ok_or(Left::PipelineChain)?;
            if array.element == 0 {
                return Err(Left::PipelineChain);
            }
            // SAFETY: not ignored and not null, so it leads to that many elements (VUIDs …-parameter of each structure).
            unsafe { block.array(pointer, source, size) };
        }
        // SAFETY: a node of the caller's chain.
        if unsafe { (*node).s_type } == vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR {
            type Wide = vk::PipelineCreateFlags2CreateInfoKHR<'static>;
            // SAFETY: the sType says so (VUID-…-sType-sType).
            let wide = unsafe { (*node.cast::<Wide>()).flags.as_raw() };
            block.write(at + offset_of!(Wide, flags), wide & !DROPPED);
        }
    }
    Ok(())
}
