//! Step 5: depth comparison against the view.

use alloc::{format, string::String};

use ash::vk;

use super::is_of_shader;
use crate::decide::lost::Lost;
use crate::decide::{Aspect, Catalog, Change, Context, Field, Judgement, Reads, Value, ViewTraits};
use crate::format;

rule! { ($)
    /// Depth comparison that is malformed, or that the view or the device does not allow.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-compareEnable-01080: `compareOp` is a valid operator.
    /// VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450: portability devices take comparing samplers as immutable ones only.
    /// VUID-vkCmdDraw-None-06479: a view that a shader compares with (`OpImage…Dref…`) has a format with
    ///   `VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_DEPTH_COMPARISON_BIT`.
    /// Image Operations > Instruction/Format/Sampler/Image View Validation: an instruction that compares needs `compareEnable`, and
    ///   one that does not compare needs it to be off.
    ///
    /// ## Who trips over it
    ///
    /// Shadow maps in R32F or D16 on devices without the bit; emulators that bind a colour image where the shader compares.
    ///
    /// ## What is lost
    ///
    /// Nothing where samplin sees the shader at the bind:
    ///
    /// - If no instruction that reads the pair compares, and the view is a colour that cannot be compared or stencil, samplin
    ///   switches `compareEnable` off.
    /// - If an instruction compares, samplin switches `compareEnable` off and the shader compares instead (B-31). The shader
    ///   compares each texel with the reference, then filters the results as the sampler would. It clamps the reference to 0 to 1
    ///   for unsigned normalized formats, depth or colour, and for no others. Other images of the same sampler keep the device's
    ///   own comparison.
    ///
    /// A comparing shader reads without anisotropy (B-9). CUBIC becomes LINEAR, and texels beside the edges of cube faces are
    ///   approximate (`seam`).
    ///
    /// An instruction that compares is undefined without `compareEnable`. Where the shader cannot compare, samplin therefore keeps
    ///   the comparison and names the pair in an `unresolved` record:
    ///
    /// - immutable samplers without `immutable=demote`, descriptors in memory, and arrays of combined descriptors whose index only
    ///   the shader knows;
    /// - stencil views, integer formats, views whose red component is another one, and samplers with flags;
    /// - sparse instructions, and pipelines that samplin cannot compile a second time.
    ///
    /// A shader that compares through a sampler without `compareEnable` is undefined as well. samplin changes nothing there. An
    ///   `unresolved` record names the link if samplin looks at the bind for another reason; with `trace_level=all` it always does.
    ///
    /// The comparison is lost if its operator is invalid (01080). It is also lost if the device does not take comparing samplers in
    ///   such descriptors (04450) and the shader does not compare.
    ///
    /// samplin departs from the specification twice:
    ///
    /// - A depth view, or a colour format with the bit, keeps the comparison also where no instruction compares. Programs read
    ///   shadow maps that way, and drivers return the depth.
    /// - The specification defines the comparison for depth/stencil formats only (Image Operations > Depth Compare Operation).
    ///   samplin compares colours in the shader as it would compare depths.
    ///
    /// ## In the application
    ///
    /// Use a depth format that the device can compare, or compare in the shader:
    ///
    /// ```glsl
    /// float lit = reference <= texture(sampler2D(shadow_map, plain_sampler), uv).r ? 1.0 : 0.0;
    /// ```
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    compare Compare "compare" lost_by lost {
        A25 "A-25" Vuid("VUID-VkSamplerCreateInfo-compareEnable-01080")
            lost "what this driver happened to show", because "the value is not a VkCompareOp";
        B30Stencil "B-30" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing: no instruction compares",
            because "the view reads the stencil aspect, and no instruction that reads it compares";
        B30 "B-30" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "nothing: no instruction compares", by never_compared;
        B31 "B-31" Vuid("VUID-vkCmdDraw-None-06479")
            lost "nothing: the shader compares, and filters what it finds", by in_shader;
        B36 "B-36" Vuid("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450")
            lost "comparison", disabled "mutableComparisonSamplers";
        B33 "B-33" Text("Image Operations > Instruction/Format/Sampler/Image View Validation")
            lost "", by of_stencil;
        B35 "B-35" Vuid("VUID-vkCmdDraw-None-06479")
            lost "", by not_comparable;
    }
}

pub(super) fn never_compared(_: &Change, context: &Context<'_>) -> String {
    format!("{}, and no instruction that reads it compares", context.lacks("SAMPLED_IMAGE_DEPTH_COMPARISON"))
}

pub(super) fn in_shader(change: &Change, context: &Context<'_>) -> String {
    match change.field {
        field if is_of_shader(field) => "the comparing shader samples whole levels, and adds it itself".into(),
        Field::MagFilter | Field::MinFilter | Field::MipmapMode => {
            "the shader compares texels one by one, and weighs the results".into()
        }
        _ => format!("{}, so the shader compares", context.lacks("SAMPLED_IMAGE_DEPTH_COMPARISON")),
    }
}

pub(super) fn of_stencil(_: &Change, context: &Context<'_>) -> String {
    format!("the view reads the stencil aspect{}", compared(context))
}

pub(super) fn not_comparable(_: &Change, context: &Context<'_>) -> String {
    format!("{}{}", context.lacks("SAMPLED_IMAGE_DEPTH_COMPARISON"), compared(context))
}

/// What there is to say of a comparison that stays.
fn compared(context: &Context<'_>) -> &'static str {
    match context.view.map(|view| view.reads) {
        Some(Reads::Compared) => {
            ", and a shader compares with it. That is as undefined without compareEnable, so the sampler stays as it is; use a depth \
             format, or compare in the shader"
        }
        _ => {
            ". Whether a shader compares is not known here, so the sampler stays as it is; use a depth format, or a sampler without \
             compareEnable if no shader compares"
        }
    }
}

pub(super) fn lost(change: &Change, context: &Context<'_>) -> Option<Lost> {
    let is_filter = matches!(change.field, Field::MagFilter | Field::MinFilter);
    let lost = match change.catalog {
        Catalog::B31 if change.from == Value::Filter(vk::Filter::CUBIC_EXT) => Catalog::B5.lost(),
        Catalog::B31 if is_filter && context.is_cube() => "seam: the texels beside edges of faces are approximate",
        Catalog::B31 => Catalog::B31.lost(),
        _ => return None,
    };
    Some(Lost::but_for_the_shader(lost))
}

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
pub(in crate::decide) fn can_compare(view: &ViewTraits) -> bool {
    view.aspect != Aspect::Stencil && view.may(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON)
}

impl Judgement<'_> {
    /// Step 5: B-30, B-31, B-33, B-35, B-36.
    ///
    /// A depth view that lacks the bit is left alone unless a shader is known to compare: the rule (VUID-vkCmdDraw-None-06479) only
    /// forbids that.
    pub(in crate::decide) fn compare(&mut self) {
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
        // Averages are what comparison goes with (A-26).
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
