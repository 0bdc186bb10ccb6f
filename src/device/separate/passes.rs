//! Render passes: what a pipeline that is made again has to know of them, and the layer's own copies that it is made with. The
//! application may destroy its own as soon as its pipeline is there.

use std::sync::Arc;

use ash::vk::{self, Handle};

use super::Separate;
use super::layouts::Twin;
use crate::device::live::Live;
use crate::kept;
use samplin_core::left::Left;

/// A render pass of the application's. What is made with it again shares it.
pub(super) struct RenderPass {
    subpasses: Box<[kept::Subpass]>,
    pub(super) kept: Result<kept::RenderPass, Left>,
    pub(super) twin: Twin,
}

impl Separate {
    /// Remembers a render pass: what its subpasses use, and how it is made again, if it can be.
    pub fn insert_render_pass(
        &self,
        pass: vk::RenderPass,
        subpasses: Box<[kept::Subpass]>,
        kept: Result<kept::RenderPass, Left>,
    ) {
        self.passes.insert(pass.as_raw(), Arc::new(RenderPass { subpasses, kept, twin: Twin::default() }));
    }

    /// Whether a render pass has a depth attachment.
    pub fn has_depth(&self, pass: Live<'_, vk::RenderPass>) -> bool {
        pass.of(&self.passes).is_some_and(|pass| pass.subpasses.iter().any(|own| own.depth_stencil))
    }

    /// What a graphics pipeline is used in.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    pub unsafe fn context(&self, info: &vk::GraphicsPipelineCreateInfo<'_>) -> kept::Context {
        let advanced_blend = self.limits.advanced_blend;
        let unknown = kept::Context { subpass: None, advanced_blend };
        // SAFETY: `info` is valid by this function's contract; what it is used in makes no difference for whether its render pass counts.
        if !unsafe { kept::Facts::of(info, unknown) }.render_pass() {
            return unknown;
        }
        // SAFETY: the render pass is not ignored, so it is a valid one, which is not destroyed meanwhile, and its entry stays.
        let pass = unsafe { self.passes.get(info.render_pass.as_raw()) };
        let subpass = pass.and_then(|pass| pass.subpasses.get(info.subpass as usize)).copied();
        kept::Context { subpass, advanced_blend }
    }

    /// What a pipeline is made with again in place of its render pass: nothing where it has none.
    ///
    /// # Safety
    ///
    /// `pass` is null or valid.
    pub(super) unsafe fn pass_for(&self, pass: vk::RenderPass) -> Result<Option<Arc<RenderPass>>, Left> {
        if pass == vk::RenderPass::null() {
            return Ok(None);
        }
        // SAFETY: a render pass that is not null is valid by this function's contract, so it is not destroyed and its entry stays until
        // it is shared.
        let pass = unsafe { self.passes.share(pass.as_raw()) }.ok_or(Left::PipelineChain)?;
        match &pass.kept {
            Ok(_) => Ok(Some(pass)),
            Err(why) => Err(*why),
        }
    }

    /// Forgets a render pass that is about to be destroyed.
    pub fn forget_render_pass(&self, pass: vk::RenderPass) {
        self.passes.remove(pass.as_raw());
    }
}
