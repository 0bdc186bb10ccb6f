//! Runs the table of [`cases`](crate::cases).

use crate::cases::{Case, Event, Oracle, all};
use crate::run::{Outcome, Skip, assert_silent, skip_if, trial, with_layer, without_layer};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::{Context, ContextBuilder, Message, Pair, SamplerDesc, Value, reference, sample};
use std::collections::BTreeSet;

/// One test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    all().into_iter().map(|case| trial(format!("case/{}", case.name), move || case.run())).collect()
}

/// Samples a scene, and what the reference says for `legal`.
fn look(
    context: &Context,
    scene: &Scene,
    sampler: &SamplerDesc,
    legal: Option<&SamplerDesc>,
) -> Result<(Vec<Value>, Vec<Value>), Skip> {
    let image = scene.image(context)?;
    let view = scene.view(&image);
    let made = sampler.create(context);
    let mut pair = Pair::new(&view, &made);
    if legal.unwrap_or(sampler).compare_enable {
        pair = pair.shadow();
    }
    let points = scene.points(sampler.unnormalized);
    let got = sample(context, pair, &points);
    let wanted = legal.map_or_else(Vec::new, |legal| {
        let texture = reference::Texture::read(&image, &view);
        let limit = context.limits().max_sampler_lod_bias;
        points.iter().map(|point| reference::sample(&texture, legal, point, limit)).collect()
    });
    Ok((got, wanted))
}

/// Whether two results agree: exactly for integers, else within what drivers may round.
pub(crate) fn assert_same(got: &[Value], wanted: &[Value], legal: &SamplerDesc, scene: &Scene, what: &str) {
    let smooth = legal.mag_filter == vk::Filter::LINEAR
        || legal.min_filter == vk::Filter::LINEAR
        || legal.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
    // Weights may have as few as four bits for the mip fraction; texels differ by 1 / 15 at least.
    let tolerance = if smooth { 0.02 } else { 1e-4 };
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        let same = if scene.aspect == vk::ImageAspectFlags::COLOR {
            got.is_near(*wanted, tolerance)
        } else {
            // Depth and stencil define their first component only.
            (got.components()[0] - wanted.components()[0]).abs() <= tolerance
        };
        let point = scene.points(legal.unnormalized)[index];
        assert!(same, "{what}: {got:?} is not {wanted:?} at {point:?}");
    }
}

/// The distinct ids of errors.
fn ids(errors: &[Message]) -> BTreeSet<&str> {
    errors.iter().map(|message| message.id.as_str()).collect()
}

/// Whether an id is one of the alternatives in `suffixes`, which are separated by `|`.
fn is_one_of(id: &str, suffixes: &str) -> bool {
    suffixes.split('|').any(|suffix| id.ends_with(suffix))
}

/// Asserts that the errors are the expected ones, all of them and no others.
pub(crate) fn assert_reported(errors: &[Message], expected: &[&str], what: &str) {
    let ids = ids(errors);
    let known = |id: &&str| expected.iter().any(|suffixes| is_one_of(id, suffixes));
    let all = expected.iter().all(|suffixes| ids.iter().any(|id| is_one_of(id, suffixes)));
    assert!(all && ids.iter().all(known), "{what}: reported {ids:?}, expected {expected:?}: {errors:#?}");
}

impl Case {
    fn builder(&self) -> ContextBuilder {
        self.without.iter().fold(Context::builder(), |builder, capability| builder.without(*capability))
    }

    fn run(&self) -> Outcome {
        self.run_off()?;
        self.run_on()?;
        self.run_twin()
    }

    fn check_device(&self, context: &Context) -> Outcome {
        skip_if(context.missing(&self.needs))?;
        let present = self.scene.features(context) & self.lacks;
        if !present.is_empty() {
            let (device, format) = (context.device_name(), self.scene.format);
            return Err(Skip(format!("{device} has {present:?} for {format:?}, so the pair is legal")));
        }
        Ok(())
    }

    /// Without samplin: validation says what is wrong.
    fn run_off(&self) -> Outcome {
        let ((), errors) = without_layer(self.builder(), |context| {
            self.check_device(context)?;
            if self.event == Event::Sampler {
                // Nothing is sampled: what an illegal sampler does to a driver is not the question.
                let _ = self.illegal.try_create(context);
            } else {
                look(context, &self.scene, &self.illegal, None)?;
            }
            Ok(())
        })?;
        match self.oracle {
            Oracle::Reports(expected) => assert_reported(&errors, expected, "without samplin"),
            Oracle::Blind(_) => assert_silent(&errors, "without samplin, for all that it is wrong"),
            Oracle::Newer(expected, _) => {
                if !errors.is_empty() {
                    assert_reported(&errors, expected, "without samplin");
                }
            }
        }
        Ok(())
    }

    /// With samplin: silent, the pixels of the legalized sampler, and the changes in the trace.
    fn run_on(&self) -> Outcome {
        let ((got, wanted), judged) =
            with_layer(self.builder(), |context| look(context, &self.scene, &self.illegal, Some(&self.legal)))?;
        judged.assert_silent("with samplin");
        let event = self.event.name();
        assert_eq!(judged.changes(event), self.changes, "{event} changes, left the trace's, right the expected ones");
        let other = if self.event == Event::Pair { Event::Sampler } else { Event::Pair }.name();
        assert!(judged.changes(other).is_empty(), "{other} records: {:#?}", judged.changes(other));
        let unresolved: Vec<_> = judged.trace.events("unresolved").collect();
        assert!(unresolved.is_empty(), "{unresolved:#?}");
        if self.event == Event::Pair {
            let record = judged.trace.first("pair");
            assert_eq!(record["path"], "update", "{record:#}");
            assert!(record["variant"].is_string(), "{record:#}");
            assert_eq!(judged.summary()["writes"]["update"]["rewritten"], 1);
            assert_eq!(judged.summary()["variants"]["created"], 1);
        } else {
            assert_eq!(judged.trace.events("sampler").count(), 1);
            assert_eq!(judged.summary()["variants"]["created"], 0);
        }
        assert_eq!(judged.summary()["variants"]["live"], 0, "variants go with their sampler");
        assert_same(&got, &wanted, &self.legal, &self.scene, "with samplin");
        Ok(())
    }

    /// What is legal stays as it is.
    fn run_twin(&self) -> Outcome {
        let (scene, sampler) = &self.twin;
        let ((got, wanted), judged) =
            with_layer(self.builder(), |context| look(context, scene, sampler, Some(sampler)))?;
        judged.assert_silent("the legal twin");
        judged.assert_untouched("the legal twin");
        assert_eq!(judged.summary()["writes"]["update"]["seen"], 1, "the layer looked at the write");
        assert_same(&got, &wanted, sampler, scene, "the legal twin");
        Ok(())
    }
}
