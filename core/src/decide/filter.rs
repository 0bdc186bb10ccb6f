//! Steps 6 to 10: reduction, CUBIC, LINEAR, mipmap mode, anisotropy.

use ash::vk;

use super::state::CATMULL_ROM;
use super::{Aspect, Catalog, DeviceCaps, Field, Judgement, SamplerState, Value, ViewTraits};

/// `VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_2D_BIT_IMG`, younger than the bindings.
const FILTER_LINEAR_2D: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::from_raw(1 << 45);

/// Whether LINEAR may be used with the view (B-1, B-15, B-17).
///
/// This and the others below are content with a view that cannot be sampled at all (B-66): no filter mends it. Of a
/// depth/stencil format the filter bits speak of depth only (Formats > VkFormatFeatureFlagBits2), so a stencil aspect has none of them. An integer format has those that are reported: no statement excludes it.
pub(super) fn can_filter_linear(view: &ViewTraits, caps: &DeviceCaps) -> bool {
    if !view.can_be_sampled() {
        return true;
    }
    if view.aspect == Aspect::Stencil {
        return false;
    }
    let flat = matches!(view.image_type, vk::ImageType::TYPE_1D | vk::ImageType::TYPE_2D);
    view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR)
        || (caps.filter_linear_2d_img && flat && view.may(FILTER_LINEAR_2D))
}

/// The first rule that forbids CUBIC with the view (B-5 to B-7, B-15), if any.
pub(super) fn cubic_conflict(view: &ViewTraits, caps: &DeviceCaps) -> Option<Catalog> {
    let deep =
        matches!(view.view_type, vk::ImageViewType::TYPE_3D | vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY);
    if !view.can_be_sampled() {
        None
    } else if !view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT) {
        Some(Catalog::B5)
    } else if view.aspect == Aspect::Stencil {
        Some(Catalog::B15)
    } else if deep && !caps.filter_cubic_ext {
        Some(Catalog::B6)
    } else if caps.filter_cubic_ext && !view.filter_cubic {
        Some(Catalog::B7)
    } else {
        None
    }
}

/// Whether MIN and MAX may be used at all with the view, whatever the filter (B-13).
pub(super) fn can_reduce(view: &ViewTraits, caps: &DeviceCaps) -> bool {
    caps.filter_minmax_component_mapping || view.is_identity(0) || !view.can_be_sampled()
}

/// Whether MIN and MAX may be used with a LINEAR footprint (B-3, B-4, B-15).
pub(super) fn can_filter_minmax(view: &ViewTraits) -> bool {
    let can = view.aspect != Aspect::Stencil && view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_MINMAX);
    can || !view.can_be_sampled()
}

/// Whether MIN and MAX may be used with CUBIC (B-8), on a device that says so of each image.
pub(super) fn can_filter_cubic_minmax(view: &ViewTraits) -> bool {
    view.filter_cubic_minmax || !view.can_be_sampled()
}

impl Judgement<'_> {
    /// Step 6, B-3, B-4, B-8, B-10, B-13, B-15.
    pub(super) fn reduction(&mut self) {
        if self.state.reduction() == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            return;
        }
        let cubic = self.state.uses_filter(vk::Filter::CUBIC_EXT);
        if self.state.compare_enable {
            self.drop_reduction(Catalog::A26);
        } else if !self.caps.sampler_filter_minmax {
            self.drop_reduction(Catalog::A27);
        } else if cubic && !self.caps.filter_cubic_ext {
            self.drop_reduction(Catalog::A28);
        } else if self.state.reduction() == vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM {
            if cubic && !self.caps.cubic_range_clamp {
                self.drop_reduction(Catalog::B10);
            }
        } else if self.state.is_minmax()
            && let Some(view) = self.used.view
        {
            self.minmax_with(view);
        }
    }

    /// MIN or MAX against a view. It never turns into averaging: where the footprint cannot be reduced, one texel is
    /// read, which is its own minimum and maximum. B-8 is the exception that the catalogue makes: CUBIC is kept.
    fn minmax_with(&mut self, view: &ViewTraits) {
        self.cubic();
        let cubic = self.state.uses_filter(vk::Filter::CUBIC_EXT);
        if cubic && self.caps.filter_cubic_ext && !can_filter_cubic_minmax(view) {
            self.drop_reduction(Catalog::B8);
            return;
        }
        let reduce = can_reduce(view, self.caps);
        if reduce && can_filter_minmax(view) {
            return;
        }
        // What CUBIC may do is said by `filterCubicMinmax`; the MINMAX bit speaks of LINEAR and of mipmaps.
        let blends = |filter: vk::Filter| filter == vk::Filter::LINEAR || (filter == vk::Filter::CUBIC_EXT && !reduce);
        let filters = blends(self.state.mag_filter) || blends(self.state.min_filter);
        let mip = self.state.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
        if reduce && !filters && !mip {
            return;
        }
        let (cause, mip_cause) = if view.aspect == Aspect::Stencil && (filters || mip) {
            (Catalog::B15, Catalog::B15)
        } else if reduce {
            (Catalog::B3, Catalog::B4)
        } else {
            (Catalog::B13, Catalog::B13)
        };
        if blends(self.state.mag_filter) {
            self.set_mag(cause, vk::Filter::NEAREST);
        }
        if blends(self.state.min_filter) {
            self.set_min(cause, vk::Filter::NEAREST);
        }
        if mip {
            self.set_mip(mip_cause, vk::SamplerMipmapMode::NEAREST);
        }
        if !(cubic && reduce) {
            self.drop_reduction(if filters { cause } else { mip_cause });
        }
        if filters || mip {
            self.landed_on_nearest();
        }
    }

    /// B-9: what anisotropy does with NEAREST, or on a format that cannot be filtered, is implementation-defined.
    /// With CUBIC left it is A-7 that forbids it.
    fn landed_on_nearest(&mut self) {
        let linear = |filter: vk::Filter| filter == vk::Filter::LINEAR;
        if !self.exempt.is_empty() && (linear(self.state.mag_filter) || linear(self.state.min_filter)) {
            // The demotion is switched off, so it did not land there.
            return;
        }
        if !self.state.uses_filter(vk::Filter::CUBIC_EXT) {
            self.disable_anisotropy(Catalog::B9);
        }
    }

    /// Step 7: CUBIC to LINEAR; step 9 looks at LINEAR.
    pub(super) fn cubic(&mut self) {
        if let Some(view) = self.used.view
            && self.state.uses_filter(vk::Filter::CUBIC_EXT)
            && let Some(catalog) = cubic_conflict(view, self.caps)
        {
            self.demote_filter(catalog, vk::Filter::CUBIC_EXT, vk::Filter::LINEAR);
        }
    }

    /// Step 8: B-11 and B-12, which follow any demotion of CUBIC.
    pub(super) fn range_clamp_and_weights(&mut self) {
        if self.state.reduction() == vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM
            && !self.state.uses_filter(vk::Filter::CUBIC_EXT)
        {
            self.drop_reduction(Catalog::B11);
        }
        if let Some(weights) = self.state.cubic_weights
            && weights != CATMULL_ROM
            && self.state.uses_filter(vk::Filter::CUBIC_EXT)
            && !self.caps.selectable_cubic_weights
            && !self.is_off(Catalog::B12)
            && !self.stays(Value::Raw(weights))
        {
            self.note(Catalog::B12, Field::CubicWeights, Value::Raw(weights), Value::Absent);
            self.state.cubic_weights = None;
        }
    }

    /// Step 9: B-1, B-2, B-15, B-16 and `depth_linear=compare`.
    pub(super) fn linear(&mut self) {
        let Some(view) = self.used.view else { return };
        let averages = self.state.reduction() == vk::SamplerReductionMode::WEIGHTED_AVERAGE;
        if self.state.compare_enable || !averages || !self.state.uses_linear() {
            // VUID-vkCmdDraw-magFilter-04553 and mipmapMode-04770 speak of WEIGHTED_AVERAGE without comparison alone. MIN and
            // MAX were looked at in step 6; a range clamp, which only CUBIC has by now, is no average to them.
            return;
        }
        if self.compare.is_some() {
            // Texels are compared before they are weighed, so the shader takes them one by one.
            return self.leave_filter_to_shader([Catalog::B31; 2]);
        }
        if can_filter_linear(view, self.caps) {
            return;
        }
        if self.policy.depth_compare && !self.is_off(Catalog::DepthCompare) && self.may_compare_instead(view) {
            self.note(Catalog::DepthCompare, Field::CompareEnable, Value::Bool(false), Value::Bool(true));
            self.state.compare_enable = true;
            if self.state.compare_op != vk::CompareOp::ALWAYS {
                self.note(
                    Catalog::DepthCompare,
                    Field::CompareOp,
                    Value::CompareOp(self.state.compare_op),
                    Value::CompareOp(vk::CompareOp::ALWAYS),
                );
                self.state.compare_op = vk::CompareOp::ALWAYS;
            }
            return;
        }
        let (filter, mip) = match view.aspect {
            Aspect::Stencil => (Catalog::B15, Catalog::B15),
            _ if view.is_integer() => (Catalog::B16, Catalog::B2),
            _ => (Catalog::B1, Catalog::B2),
        };
        if filter == Catalog::B1 && !self.state.unnormalized_coordinates {
            return self.leave_filter_to_shader([filter, mip]);
        }
        self.make_nearest([filter, mip]);
    }

    /// Gives LINEAR up, and says what a shader would have to make of NEAREST.
    fn leave_filter_to_shader(&mut self, [filter, mip]: [Catalog; 2]) {
        let SamplerState { mag_filter, min_filter, mipmap_mode, .. } = self.state;
        let linear = |of: vk::Filter| of == vk::Filter::LINEAR && !self.is_off(filter);
        let levels = mipmap_mode == vk::SamplerMipmapMode::LINEAR && !self.is_off(mip);
        self.emulate = [linear(mag_filter), linear(min_filter), levels];
        self.make_nearest([filter, mip]);
    }

    fn make_nearest(&mut self, [filter, mip]: [Catalog; 2]) {
        self.demote_filter(filter, vk::Filter::LINEAR, vk::Filter::NEAREST);
        if self.state.mipmap_mode == vk::SamplerMipmapMode::LINEAR {
            self.set_mip(mip, vk::SamplerMipmapMode::NEAREST);
        }
        self.landed_on_nearest();
    }

    /// Whether `depth_linear=compare` leaves a legal sampler: no rule must want comparison off (A-15, A-53,
    /// B-36), and the view must be able to compare.
    fn may_compare_instead(&self, view: &ViewTraits) -> bool {
        view.aspect == Aspect::Depth
            && view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON)
            && !self.state.unnormalized_coordinates
            && !self.state.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT)
            && (!self.used.dynamic || self.caps.mutable_comparison_samplers)
    }
}
