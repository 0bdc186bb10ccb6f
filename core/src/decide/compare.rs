//! Step 5: depth comparison against the view.

use ash::vk;

use super::{Aspect, Catalog, Pass, Reads, ViewTraits};
use crate::format;

/// How a shader compares in the place of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderCompare {
    /// The sampler's `compareOp`.
    pub operator: vk::CompareOp,
    /// The reference is clamped to [0, 1] first: "If the image being sampled has an unsigned normalized fixed-point format" (Image
    /// Operations > Depth Compare Operation).
    pub clamps: bool,
}

/// Whether a sampler with comparison can be used with the view at all (B-31, B-33, B-35).
pub(super) fn can_compare(view: &ViewTraits) -> bool {
    view.aspect != Aspect::Stencil && view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON)
}

impl Pass<'_> {
    /// Step 5: B-30, B-31, B-33, B-35, B-36.
    ///
    /// A depth view that lacks the bit is left alone unless a shader is known to compare: the rule (VUID-vkCmdDraw-None-06479) only
    /// forbids that.
    pub(super) fn compare(&mut self) {
        let conflict = self.used.view.filter(|view| self.state.compare_enable && !can_compare(view));
        match conflict {
            // Image Operations > Instruction/Format/Sampler/Image View Validation: what does not compare must not read through a
            // sampler that does, so nothing is lost. The statement holds of views that can be compared as well, which are left:
            // programs read their shadow maps both ways.
            Some(view) if view.reads == Reads::Plain && view.aspect != Aspect::Depth => {
                let is_stencil = view.aspect == Aspect::Stencil;
                self.disable_compare(if is_stencil { Catalog::B30Stencil } else { Catalog::B30 });
            }
            Some(view) if view.reads == Reads::Compared && self.can_compare_in_shader(view) => {
                self.compare_in_shader(view);
            }
            _ => {}
        }
        // Behind those that lose nothing: with this one the comparison is lost.
        if self.used.dynamic && !self.caps.mutable_comparison_samplers {
            self.disable_compare(Catalog::B36);
        }
        let Some(view) = conflict.filter(|_| self.state.compare_enable) else { return };
        // An instruction that compares is undefined without the comparison as well, and drivers that compare nevertheless give the
        // application what it asks for.
        if view.reads == Reads::Compared || view.reads == Reads::Unknown && view.aspect != Aspect::Depth {
            self.unresolved = Some(if view.aspect == Aspect::Stencil { Catalog::B33 } else { Catalog::B35 });
        }
    }

    fn compare_in_shader(&mut self, view: &ViewTraits) {
        let (operator, clamps) = (self.state.compare_op, format::is_unorm(view.format));
        self.compare = Some(ShaderCompare { operator, clamps });
        // Averages are what comparison goes with.
        self.drop_reduction(Catalog::A26);
        self.disable_compare(Catalog::B31);
        // The shader weighs results as LINEAR does.
        self.demote_filter(Catalog::B31, vk::Filter::CUBIC_EXT, vk::Filter::LINEAR);
        // It takes texels one by one, of which anisotropy says nothing.
        self.disable_anisotropy(Catalog::B9);
    }

    /// Whether a shader that samples without comparison and compares does what the sampler would: it compares the red component as the
    /// view gives it, so that has to be the texel's own, a float.
    fn can_compare_in_shader(&self, view: &ViewTraits) -> bool {
        let state = &self.state;
        self.policy.compares
            && !self.is_off(Catalog::B31)
            && !view.is_integer()
            && view.class_is_known()
            && view.can_be_sampled()
            && view.is_identity(0)
            && !view.corner_sampled
            && !view.subsampled
            && (0..=vk::CompareOp::ALWAYS.as_raw()).contains(&state.compare_op.as_raw())
            && state.flags.is_empty()
    }
}
