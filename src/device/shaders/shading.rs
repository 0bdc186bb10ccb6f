//! Shading for each sample, as far as it depends on the pipeline: what a rule wishes, what the device cannot do, and whether that loses
//! anything.

use ash::vk::{self};
use samplin_core::left::Cause;
use samplin_hot::memory::{self, Room};
use samplin_spirv::passes::{self, Outcome, Sampling};
use samplin_spirv::sample_inputs::facts;
use samplin_spirv::scan::scan;
use samplin_spirv::{Error, Module};

use super::records::{self, PipelineRecord};
use crate::decide::{
    Catalog, Change, Changes, Field, Guard, Guards, Rule, SampleShading, ShadingWish, Value, sample_shading,
    wish_shading,
};
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::journal::Journal;
use crate::device::live::Live;
use crate::device::modules::fingerprint;
use crate::device::separate::{Separate, Words};
use crate::device::shaders::Shaders;
use crate::device::wishes::Wishes;
use crate::names;

/// What a pipeline asks for, as far as its create info says it.
#[derive(Clone, Copy, Debug)]
pub struct ShadingRequest {
    /// Its multisample state.
    pub shading: SampleShading,
    /// `rasterizationSamples`; none if that is not known before something is drawn.
    pub samples: Option<u32>,
    /// Whether it blends into any attachment; none if that is not known.
    pub blended: Option<bool>,
    /// It is a library, or linked of some.
    pub library: bool,
    /// It has a fragment shading rate.
    pub rate: bool,
}

/// What a pipeline gets.
#[derive(Debug)]
pub struct Shading {
    /// Its multisample state.
    pub state: SampleShading,
    /// The words of its fragment shader before formats are converted, if not its own.
    pub words: Option<Vec<u32>>,
    /// What is written down once there is a pipeline, if anything.
    pub record: Option<PipelineRecord>,
}

impl Shaders {
    /// Whether rules are about pipelines.
    pub fn looks_at_pipelines(&self) -> bool {
        self.pipelines
    }

    /// Decides how often the fragment shader of a pipeline runs; `fragment` are its words, if they are known, and its entry point.
    pub fn shading(
        &self,
        ground: &Ground,
        asked: &ShadingRequest,
        fragment: Option<(Option<&[u32]>, &str)>,
    ) -> Shading {
        let mut record = PipelineRecord { pass: "multisample_state", ..PipelineRecord::default() };
        let (mut state, mut words) = (asked.shading, None);
        let mut follow = None;
        // A pipeline pays for no rules where none is about pipelines.
        if self.pipelines {
            let rules = ground.wishes.rules();
            let wish = rules.for_pipeline(asked.samples, asked.blended).filter_map(|one| Some((one, one.shading?)));
            if let (Some((one, wish)), Some((given, name))) = (wish.last(), fragment)
                && let Some((mut holding, per_sample, given)) = ground.journal.holding(given, name)
                && (wish == ShadingWish::Off || !per_sample)
            {
                let mut hold = |guard, holds: bool| {
                    if holds {
                        holding.insert(guard);
                    }
                };
                hold(Guard::Library, asked.library);
                hold(Guard::SingleSample, asked.samples == Some(1));
                hold(Guard::ShadingRate, asked.rate);
                let mut changes = Changes::new();
                let (wished, follows) = wish_shading(state, wish, holding, one.guards_off, &mut changes);
                record.changes.extend(changes.iter());
                record.rules.with_room().push(one.name.clone());
                record.module = Some(fingerprint(given));
                state = wished;
                follow = follows.then_some((wish, given, name));
            }
        }
        // What is illegal is so in each part of a library, and parts that agree still do.
        let (legal, changes) = sample_shading(state, ground.driver.caps.sample_rate_shading, asked.samples == Some(1));
        record.changes.extend(changes.iter());
        state = legal;
        if let Some((wish, given, name)) = follow {
            let sampling = match wish {
                ShadingWish::Off => Sampling::Lower,
                ShadingWish::Least(_) if state.enable => Sampling::Force(name),
                ShadingWish::Least(_) => Sampling::Keep,
            };
            let Ok(outcome) = passes::for_pipeline(given, scan(given), sampling) else { memory::give_up() };
            words = self.follow(&ground.wishes, &ground.journal, &mut record, given, outcome);
        }
        let record = (!record.changes.is_empty()).then_some(record);
        Shading { state, words, record }
    }

    /// Takes over what a pass made of a fragment shader because a rule wishes it.
    fn follow(
        &self,
        wishes: &Wishes,
        journal: &Journal,
        record: &mut PipelineRecord,
        given: &[u32],
        outcome: Outcome,
    ) -> Option<Vec<u32>> {
        journal.record_refusals(fingerprint(given), &outcome);
        let words = outcome.words?;
        for (pass, change) in &outcome.changes {
            record.pass = pass.name();
            let sample = Value::Spirv(names::SAMPLE);
            let added =
                Change { catalog: Catalog::Override, field: Field::Decoration, from: Value::Absent, to: sample };
            let dropped = records::change(*pass, change).map(|change| Change { catalog: Catalog::Override, ..change });
            record.changes.with_room().push(dropped.unwrap_or(added));
        }
        record.words = Some([given.len(), words.len()]);
        (!wishes.audit).then_some(words)
    }

    /// What is written down of a pipeline whose fragment shader does without sample shading, which the device does not have. Where it
    /// is not known how many samples there will be, that is said at once.
    pub fn lowered(
        &self,
        driver: &Driver,
        journal: &Journal,
        module: Live<'_, vk::ShaderModule>,
        samples: Option<u32>,
    ) -> Option<PipelineRecord> {
        if driver.caps.sample_rate_shading {
            return None;
        }
        let kept = module.of(&self.modules)?;
        let (fingerprint, changes) = &kept.lowered;
        if changes.is_empty() {
            return None;
        }
        let Some(samples) = samples else {
            journal.samples_unresolved(*fingerprint);
            return None;
        };
        let catalog = if samples == 1 { Catalog::J2One } else { Catalog::J2More };
        let changes = memory::collect(changes.iter().map(|change| Change { catalog, ..*change }));
        let (module, single) = (Some(*fingerprint), Some(samples == 1));
        Some(PipelineRecord { module, pass: "sample_builtins", single, changes, ..PipelineRecord::default() })
    }

    /// Calls `then` with the words of a module as they are before formats are converted, if they are known.
    pub fn with_words_of<R>(
        &self,
        separate: Option<&Separate>,
        module: Live<'_, vk::ShaderModule>,
        then: impl FnOnce(Option<&[u32]>) -> R,
    ) -> R {
        if let Some(separate) = separate {
            let words = separate.words(module);
            return then(words.as_deref().map(Words::declared));
        }
        let kept = module.of(&self.modules);
        then(kept.map(|kept| &kept.words[..]).filter(|words| !words.is_empty()))
    }
}

impl Journal {
    /// The guards that hold for a fragment shader, whether it is shaded for each sample in any case, and its words. None if they cannot
    /// be read, which is recorded.
    fn holding<'w>(&self, words: Option<&'w [u32]>, name: &str) -> Option<(Guards, bool, &'w [u32])> {
        let (why, key) = match words.map(|words| (words, Module::read(words).and_then(|it| facts(&it, name)))) {
            Some((words, Ok(facts))) => {
                let mut holding = Guards::NONE;
                for (guard, holds) in [
                    (Guard::SideEffects, facts.side_effects),
                    (Guard::ShadingRate, facts.shading_rate),
                    (Guard::MaskOutput, facts.mask_output),
                    (Guard::MaskInput, facts.mask_input),
                    (Guard::Interlock, facts.interlock),
                ] {
                    if holds {
                        holding.insert(guard);
                    }
                }
                return Some((holding, facts.per_sample, words));
            }
            Some((_, Err(Error::Memory))) => memory::give_up(),
            Some((words, Err(error))) => (Cause::RuleOnUnreadableShader.with(&[&error]), fingerprint(words)),
            None => (Cause::RuleOnHiddenShader.into(), 0),
        };
        self.unresolved(why, Some(Rule::Override), serde_json::json!({}), (key, 1));
        None
    }
}
