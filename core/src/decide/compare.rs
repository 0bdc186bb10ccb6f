//! Step 5: depth comparison against the view.

use ash::vk;

use super::{Aspect, Catalog, Pass, ViewTraits};

/// Whether a sampler with comparison can be used with the view at all (B-33, B-35).
///
/// A depth view is left alone even if its format lacks the comparison bit: whether a shader compares is not known here,
/// and the rule (VUID-vkCmdDraw-None-06479) only forbids that. On a colour view without the bit neither a comparing
/// nor a plain sample is defined (Image Operations > Instruction/Format/Sampler/Image View Validation), so giving up the
/// comparison can only help.
pub(super) fn can_compare(view: &ViewTraits) -> bool {
    match view.aspect {
        Aspect::Depth => true,
        Aspect::Stencil => false,
        Aspect::Color => view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON),
    }
}

impl Pass<'_> {
    /// Step 5: B-33, B-35, B-36.
    pub(super) fn compare(&mut self) {
        if self.used.dynamic && !self.caps.mutable_comparison_samplers {
            self.disable_compare(Catalog::B36);
        }
        if let Some(view) = self.used.view
            && !can_compare(view)
        {
            self.disable_compare(if view.aspect == Aspect::Stencil { Catalog::B33 } else { Catalog::B35 });
        }
    }
}
