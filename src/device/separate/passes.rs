//! Render passes: what a pipeline that is made again has to know of them, and that they are there until then.

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::recipe::Recipe;
use crate::device::Device;
use crate::kept;
use crate::table::lock;

/// What subpasses have: colour attachments, a depth/stencil attachment.
pub(super) struct RenderPass {
    subpasses: Box<[(bool, bool)]>,
}

impl Separate {
    /// Remembers a render pass by what each of its subpasses has: colour attachments, a depth/stencil attachment.
    pub fn insert_render_pass(&self, pass: vk::RenderPass, subpasses: impl Iterator<Item = (bool, bool)>) {
        let subpasses = memory::collect(subpasses).into_boxed_slice();
        self.passes.insert(pass.as_raw(), Arc::new(RenderPass { subpasses }));
    }

    /// What a subpass says of the states of a pipeline.
    ///
    /// # Safety
    ///
    /// `pass` is null or valid.
    pub unsafe fn subpass(&self, pass: vk::RenderPass, subpass: u32) -> kept::Context {
        // SAFETY: a render pass that is not null is valid by this function's contract, so it is not destroyed and its entry stays
        // meanwhile.
        let pass = unsafe { self.passes.get(pass.as_raw()) };
        let (color, depth_stencil) =
            pass.and_then(|pass| pass.subpasses.get(subpass as usize)).copied().unwrap_or_default();
        kept::Context { color, depth_stencil, advanced_blend: self.limits.advanced_blend }
    }
}

impl Device {
    /// Whether a render pass that the application destroys has to stay, for pipelines that may be made again. One that must go at once
    /// (`now`) takes that away from them.
    pub fn keep_render_pass(&self, separate: &Separate, pass: vk::RenderPass, now: bool) -> bool {
        separate.passes.remove(pass.as_raw());
        let mut is_named = false;
        separate.programs.for_each(&mut |program| {
            if program.has_render_pass(pass) {
                is_named = true;
                if now {
                    program.splits.refuse(u64::MAX, "pipeline-chain");
                }
            }
        });
        let stays = is_named && !now && pass != vk::RenderPass::null();
        if stays {
            lock(&separate.old_passes).with_room().push(pass.as_raw());
        }
        stays
    }

    /// Destroys the render passes that stayed for the sake of a pipeline, if that was the last of theirs.
    pub(super) fn leave_render_passes(&self, separate: &Separate, recipe: &Recipe) {
        recipe.each_render_pass(&mut |pass| self.leave_render_pass(separate, pass));
    }

    fn leave_render_pass(&self, separate: &Separate, pass: vk::RenderPass) {
        if pass == vk::RenderPass::null() || !lock(&separate.old_passes).contains(&pass.as_raw()) {
            return;
        }
        let mut is_named = false;
        separate.programs.for_each(&mut |program| is_named |= program.has_render_pass(pass));
        let mut old = lock(&separate.old_passes);
        let at = old.iter().position(|old| *old == pass.as_raw() && !is_named);
        let Some(at) = at else { return };
        old.swap_remove(at);
        drop(old);
        if let Some(destroy) = self.fns.destroy_render_pass {
            // SAFETY: the application destroyed it with a NULL allocator, and no pipeline may be made with it any more.
            unsafe { destroy(self.handle, pass, std::ptr::null()) };
        }
    }

    /// Destroys the render passes that were kept: for the end of the device.
    pub(super) fn destroy_render_passes(&self, separate: &Separate) {
        let Some(destroy) = self.fns.destroy_render_pass else { return };
        for pass in std::mem::take(&mut *lock(&separate.old_passes)) {
            // SAFETY: the application destroyed it with a NULL allocator, and it was not destroyed below.
            unsafe { destroy(self.handle, Handle::from_raw(pass), std::ptr::null()) };
        }
    }
}
