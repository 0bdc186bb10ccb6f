//! Flags of pipelines, and what is chained to one that makes another one of it.

use std::ffi::c_void;

use ash::vk;

use crate::pnext::{self, Base};

// Younger than the bindings.
pub(super) const PIPELINE_BINARY_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_483_002);
pub(super) const CUSTOM_RESOLVE: vk::StructureType = vk::StructureType::from_raw(1_000_628_002);
pub(super) const DEPTH_CLAMP_CONTROL: vk::StructureType = vk::StructureType::from_raw(1_000_582_001);

/// The flags of a pipeline, wide ones included.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub unsafe fn all_flags(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> u64 {
    // SAFETY: `p_next` is a valid chain by this function's contract, so a flags structure in it is whole.
    let wide = unsafe { pnext::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(p_next) };
    wide.map_or(u64::from(flags.as_raw()), |wide| wide.flags.as_raw())
}

/// Whether a pipeline is a library.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub(super) unsafe fn is_library(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> bool {
    // SAFETY: `p_next` is a valid chain by this function's contract.
    unsafe { all_flags(flags, p_next) & u64::from(vk::PipelineCreateFlags::LIBRARY_KHR.as_raw()) != 0 }
}

/// The start of those that name other objects: base and their number.
#[repr(C)]
pub(super) struct Counted {
    base: Base,
    pub(super) count: u32,
}

/// Whether a pipeline is made of binaries: its modules, and words and identifiers in their place, are ignored (VkPipelineBinaryInfoKHR).
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of a pipeline.
pub unsafe fn has_binaries(p_next: *const c_void) -> bool {
    // SAFETY: a valid chain by this function's contract; the structure has a count behind its base.
    unsafe { pnext::find_as::<Counted>(p_next, PIPELINE_BINARY_INFO) }.is_some_and(|binaries| binaries.count > 0)
}
