//! Section J: shading for each sample, as the state of a pipeline asks for it.

use super::{Catalog, Change, Changes, Field, Value};

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
