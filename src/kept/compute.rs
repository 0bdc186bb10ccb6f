//! Compute pipelines.

use std::mem::offset_of;

use ash::vk;

use super::Stage;
use super::block::Block;
use super::pointers::Facts;
use super::{chain, flags};
use samplin_core::left::Left;

type Info = vk::ComputePipelineCreateInfo<'static>;

/// A deep copy of a `VkComputePipelineCreateInfo`.
#[derive(Debug)]
pub struct Compute {
    block: Block,
    stage: Stage,
    flags: u64,
}

impl Compute {
    /// Keeps `info`, without flags and structures that a second pipeline has no use for (derivatives, captures, feedback).
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateComputePipelines-pCreateInfos-parameter).
    pub unsafe fn new(info: &vk::ComputePipelineCreateInfo<'_>) -> Result<Self, Left> {
        let facts = Facts::NONE;
        // SAFETY: `info` is valid by this function's contract, and so is its chain.
        let (flags, is_library) =
            unsafe { (chain::flags(info.flags, info.p_next), flags::is_library(info.flags, info.p_next)) };
        // No command links compute pipelines of libraries.
        if is_library {
            return Err(Left::PipelineLibrary);
        }
        let mut block = Block::default();
        let root = block.value(info);
        block.write(root + offset_of!(Info, flags), flags as u32);
        block.write(root + offset_of!(Info, layout), vk::PipelineLayout::null());
        block.write(root + offset_of!(Info, base_pipeline_handle), vk::Pipeline::null());
        block.write(root + offset_of!(Info, base_pipeline_index), -1_i32);
        // SAFETY: the chain is that of a valid create info by this function's contract; a compute pipeline has no facts that could
        // not apply.
        unsafe { chain::keep(&mut block, root + offset_of!(Info, p_next), info.p_next, &facts) }?;
        // SAFETY: the stage is a member of a create info that is valid by this function's contract.
        let stage = unsafe { Stage::keep(&mut block, root + offset_of!(Info, stage), &info.stage, &facts) }?;
        Ok(Self { block: block.close(), stage, flags })
    }

    /// Its stage.
    pub const fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Its flags, wide ones included, without those that were dropped.
    pub const fn flags(&self) -> u64 {
        self.flags
    }

    /// Calls `then` with the create info over another layout and module. What it leads to lives only as long as the call.
    pub fn with_create_info<R>(
        &self,
        layout: vk::PipelineLayout,
        module: vk::ShaderModule,
        then: impl FnOnce(&vk::ComputePipelineCreateInfo<'_>) -> R,
    ) -> R {
        let live = self.block.live();
        live.write(offset_of!(Info, layout), layout);
        self.stage.set_module(&live, module);
        // SAFETY: `new` puts it first.
        then(unsafe { live.get(0) })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.block.bytes()
    }
}
