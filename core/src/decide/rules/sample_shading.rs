//! Section J: shading for each sample, as the state of a pipeline asks for it.

use crate::decide::{Catalog, Change, Changes, Context, Field, Guard, Guards, Value};

rule! { ($)
    /// A shader or pipeline asks for shading per sample without the feature, or with values out of range.
    ///
    /// ## The specification
    ///
    /// VUID-VkShaderModuleCreateInfo-pCode-08740: `SampleRateShading` needs `sampleRateShading`.
    /// VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784 and -minSampleShading-00786.
    ///
    /// ## Who trips over it
    ///
    /// Shaders with `gl_SampleID` on devices without the feature; a `minSampleShading` above 1.
    ///
    /// ## What is lost
    ///
    /// Shading per sample where there is more than one sample; nothing with one.
    ///
    /// ## In the application
    ///
    /// ```c
    /// features.sampleRateShading = supported.sampleRateShading;
    /// ```
    ///
    /// ## Settings
    ///
    /// - `augment=on` enables the feature where the device has it.
    /// - A rule can set `sample_shading` for pipelines.
    sample_shading SampleShading "sample-shading" lost_by lost {
        J2 "J-2" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740")
            lost "shading per sample, where there is more than one", disabled "sampleRateShading";
        J2One "J-2" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740")
            lost "nothing: there is one sample", disabled "sampleRateShading";
        J2More "J-2" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740")
            lost "shading per sample", disabled "sampleRateShading";
        J2Single "J-2" Vuid("VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784")
            lost "nothing: there is one sample", disabled "sampleRateShading";
        J2Many "J-2" Vuid("VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784")
            lost "shading per sample", disabled "sampleRateShading";
        J3 "J-3" Vuid("VUID-VkPipelineMultisampleStateCreateInfo-minSampleShading-00786")
            lost "nothing: there is no less than none, and no more than every sample",
            because "minSampleShading must be within 0 and 1";
        J4 "J-4" Vuid("VUID-VkPipelineShaderStageCreateInfo-maxSampleMaskWords-00711")
            lost "nothing: the shader only touches words that exist", because "the array is longer than maxSampleMaskWords";
    }
}

/// What [`Field::Interpolation`] has for an instruction whose value at an offset follows from derivatives.
pub const AT_OFFSET: &str = "InterpolateAtOffset";
/// What it becomes where derivatives are taken in place, although neighbours may go another way.
pub const IN_PLACE: &str = "DPdx";
/// What [`Field::BuiltIn`] has for a mask that each sample wrote for itself.
pub const OF_SAMPLES: &str = "SampleMask of a sample";

pub(super) fn lost(change: &Change, _: &Context<'_>) -> Option<&'static str> {
    use Catalog::{J2, J2More, J2One};
    match (change.catalog, change.field) {
        (J2 | J2One | J2More, Field::Interpolation) if change.to == Value::Spirv(IN_PLACE) => {
            Some("shading per sample; the value where neighbours take another branch")
        }
        (J2 | J2More, Field::BuiltIn) if change.from == Value::Spirv(OF_SAMPLES) => {
            Some("shading per sample, and coverage: one mask for all")
        }
        (J2One, Field::Interpolation) if change.from == Value::Spirv(AT_OFFSET) => {
            Some("nothing without perspective; else what it bends within the offset")
        }
        _ => None,
    }
}

/// What the multisample state of a pipeline says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleShading {
    /// `sampleShadingEnable`.
    pub enable: bool,
    /// `minSampleShading`, a fraction of the samples.
    pub least: f32,
}

/// What a pipeline may say instead, and the changes. `supported`: the feature `sampleRateShading` is enabled; `single`: the pipeline has
/// one sample and no way to get more.
pub fn sample_shading(asked: SampleShading, supported: bool, single: bool) -> (SampleShading, Changes) {
    let (mut out, mut changes) = (asked, Changes::new());
    // NaN is in no range.
    if !(0.0..=1.0).contains(&asked.least) {
        out.least = if asked.least > 1.0 { 1.0 } else { 0.0 };
        let (from, to) = (Value::Float(asked.least), Value::Float(out.least));
        changes.push(Change { catalog: Catalog::J3, field: Field::MinSampleShading, from, to });
    }
    if asked.enable && !supported {
        out.enable = false;
        let catalog = if single { Catalog::J2Single } else { Catalog::J2Many };
        let (from, to) = (Value::Bool(true), Value::Bool(false));
        changes.push(Change { catalog, field: Field::SampleShadingEnable, from, to });
    }
    (out, changes)
}

/// What a user wishes for pipelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShadingWish {
    /// Once for each pixel.
    Off,
    /// At least this fraction of the samples, each with values of its own.
    Least(f32),
}

/// Guards of pipelines, in the order in which they are named.
const OF_PIPELINES: [Guard; 7] = [
    Guard::Library,
    Guard::SingleSample,
    Guard::SideEffects,
    Guard::ShadingRate,
    Guard::MaskOutput,
    Guard::MaskInput,
    Guard::Interlock,
];

/// Applies a wish to what a pipeline asks for; `holding` are the guards that hold for it. Says whether shaders are to follow it, too:
/// where it was not held back and something is left to change.
pub fn wish_shading(
    asked: SampleShading,
    wish: ShadingWish,
    holding: Guards,
    off: Guards,
    changes: &mut Changes,
) -> (SampleShading, bool) {
    let wanted = match wish {
        ShadingWish::Off => SampleShading { enable: false, ..asked },
        ShadingWish::Least(least) if !asked.enable => SampleShading { enable: true, least },
        ShadingWish::Least(least) => SampleShading { least: least.max(asked.least), ..asked },
    };
    // One sample is shaded once in any case, so there is nothing to hold back there.
    let concerns = |guard: &Guard| wish != ShadingWish::Off || *guard != Guard::SingleSample;
    let is_library = |guard: &Guard| *guard == Guard::Library;
    let held = OF_PIPELINES
        .into_iter()
        .filter(concerns)
        .find(|guard| holding.contains(*guard) && (is_library(guard) || !off.contains(*guard)));
    let catalog = held.map_or(Catalog::Override, Guard::catalog);
    let mut change = |field, from: Value, to: Value| {
        let (from, to) = if held.is_some() { (to, from) } else { (from, to) };
        if from != to {
            changes.push(Change { catalog, field, from, to });
        }
    };
    change(Field::SampleShadingEnable, Value::Bool(asked.enable), Value::Bool(wanted.enable));
    if wanted.enable {
        change(Field::MinSampleShading, Value::Float(asked.least), Value::Float(wanted.least));
    }
    if held.is_some() { (asked, false) } else { (wanted, true) }
}
