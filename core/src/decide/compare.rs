//! Step 5: depth comparison against the view.

use ash::vk;

use super::{Aspect, Catalog, Pass, Reads, ViewTraits};

/// Whether a sampler with comparison can be used with the view at all (B-33, B-35).
///
/// A depth view is left alone even if its format lacks the comparison bit: whether a shader compares is not known here,
/// and the rule (VUID-vkCmdDraw-None-06479) only forbids that.
pub(super) fn can_compare(view: &ViewTraits) -> bool {
    match view.aspect {
        Aspect::Depth => true,
        Aspect::Stencil => false,
        Aspect::Color => view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON),
    }
}

impl Pass<'_> {
    /// Step 5: B-30, B-33, B-35, B-36.
    pub(super) fn compare(&mut self) {
        if self.used.dynamic && !self.caps.mutable_comparison_samplers {
            self.disable_compare(Catalog::B36);
        }
        let Some(view) = self.used.view.filter(|view| self.state.compare_enable && !can_compare(view)) else { return };
        let is_stencil = view.aspect == Aspect::Stencil;
        match view.reads {
            // Image Operations > Instruction/Format/Sampler/Image View Validation: what does not compare must not read through a
            // sampler that does, so nothing is lost. The statement holds of views that can be compared as well, which are left:
            // programs read their shadow maps both ways.
            Reads::Plain => self.disable_compare(if is_stencil { Catalog::B30Stencil } else { Catalog::B30 }),
            // An instruction that compares is undefined without the comparison as well, and drivers that compare nevertheless give
            // the application what it asks for.
            Reads::Unknown | Reads::Compared => {
                self.unresolved = Some(if is_stencil { Catalog::B33 } else { Catalog::B35 });
            }
        }
    }
}
