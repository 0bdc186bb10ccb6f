//! Section J: shading for each sample, as the state of a pipeline asks for it.

use super::{Catalog, Change, Changes, Field, Guard, Guards, Value};

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
    (holding, off): (Guards, Guards),
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
