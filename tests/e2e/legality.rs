//! Runs the table of [`cases`](crate::cases).

use crate::cases::{Case, Expected, Oracle, all};
use crate::run::{Outcome, Skip, assert_silent, skip_if, trial, with_layer, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::{Context, ContextBuilder, Message, Pair, SamplerDesc, Value, reference, sample};
use std::collections::BTreeSet;

/// One test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    all().into_iter().map(|case| trial(format!("case/{}", case.name), move || case.run())).collect()
}

/// Samples a scene with `sampler`, by the kind of lookup that goes with `legal`.
fn look(context: &Context, scene: &Scene, sampler: &SamplerDesc, legal: &SamplerDesc) -> Result<Look, Skip> {
    let image = scene.image(context)?;
    let view = scene.view(&image);
    let made = sampler.create(context);
    let mut pair = Pair::new(&view, &made);
    if legal.compare_enable {
        pair = pair.shadow();
    }
    let points = scene.points(legal.unnormalized);
    let got = sample(context, pair, &points);
    let legal = on_device(legal, context);
    let wanted = if is_beyond_reference(scene, &legal) {
        let made = legal.create(context);
        sample(context, Pair { sampler: &made, ..pair }, &points)
    } else {
        let texture = reference::Texture::read(&image, &view);
        let limit = context.limits().max_sampler_lod_bias;
        points.iter().map(|point| reference::sample(&texture, &legal, point, limit)).collect()
    };
    Ok(Look { got, wanted })
}

/// The result of [`look`].
struct Look {
    got: Vec<Value>,
    wanted: Vec<Value>,
}

/// Whether the reference cannot tell the result (of cubes, and with anisotropy, which even explicit LODs get on some drivers), so
/// that the driver's own result with the legal sampler takes its place.
fn is_beyond_reference(scene: &Scene, legal: &SamplerDesc) -> bool {
    scene.shape == Shape::Cube || legal.anisotropy_enable
}

/// A sampler within the device's limits.
fn on_device(sampler: &SamplerDesc, context: &Context) -> SamplerDesc {
    let (limits, mut sampler) = (context.limits(), sampler.clone());
    if sampler.anisotropy_enable {
        sampler.max_anisotropy = sampler.max_anisotropy.min(limits.max_sampler_anisotropy);
    }
    sampler.lod_bias = sampler.lod_bias.clamp(-limits.max_sampler_lod_bias, limits.max_sampler_lod_bias);
    sampler
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

/// Asserts that no error is another than the given ones.
fn assert_known(errors: &[Message], known: &[&str], what: &str) {
    let ids = ids(errors);
    let is_known = |id: &&str| known.iter().any(|suffixes| is_one_of(id, suffixes));
    assert!(ids.iter().all(is_known), "{what}: reported {ids:?}, expected only {known:?}: {errors:#?}");
}

/// Asserts that the errors are the expected ones, all of them and no others.
pub(crate) fn assert_reported(errors: &[Message], expected: &[&str], what: &str) {
    assert_known(errors, expected, what);
    let ids = ids(errors);
    let all = expected.iter().all(|suffixes| ids.iter().any(|id| is_one_of(id, suffixes)));
    assert!(all, "{what}: reported {ids:?}, expected all of {expected:?}: {errors:#?}");
}

/// How many pairs [`look`] writes.
fn looks(scene: &Scene, legal: &SamplerDesc) -> u32 {
    1 + u32::from(is_beyond_reference(scene, legal))
}

impl Case {
    fn builder(&self) -> ContextBuilder {
        // What becomes of a sampler alone; `tests/separate/texels.rs` has what shaders divide.
        let builder = Context::builder().setting("unnormalized", "base");
        let builder = self.without.iter().fold(builder, |builder, capability| builder.without(*capability));
        self.extensions.iter().fold(builder, |builder, name| builder.extension(name))
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

    /// Without samplin: validation says what is wrong. Nothing illegal is executed.
    fn run_off(&self) -> Outcome {
        let builder = self.builder().record_only();
        let builder = if self.alone { builder.refuse_errors() } else { builder };
        let ((), errors) = without_layer(builder, |context| {
            self.check_device(context)?;
            if self.alone {
                let _ = self.illegal.try_create(context);
            } else {
                look(context, &self.scene, &self.illegal, &self.legal)?;
            }
            Ok(())
        })?;
        match self.oracle {
            Oracle::Reports(expected) => assert_reported(&errors, expected, "without samplin"),
            Oracle::ReportsSome(expected) => {
                assert!(!errors.is_empty(), "without samplin, expected some of {expected:?}");
                assert_known(&errors, expected, "without samplin");
            }
            Oracle::MayReport(expected) if !errors.is_empty() => assert_reported(&errors, expected, "without samplin"),
            Oracle::MayReport(_) => {}
            Oracle::Blind => assert_silent(&errors, "without samplin, for all that it is wrong"),
        }
        Ok(())
    }

    /// With samplin: silent, the pixels of the legalized sampler, and the changes in the trace.
    fn run_on(&self) -> Outcome {
        let builder = self.builder().setting("augment", "off");
        let (look, judged) = with_layer(builder, |context| look(context, &self.scene, &self.illegal, &self.legal))?;
        judged.assert_silent("with samplin");
        let device = judged.trace.first("device");
        for (event, expected) in [("sampler", &self.at_creation), ("pair", &self.at_pair)] {
            let expected: Vec<Expected> = expected.iter().map(|change| change.on_device(device)).collect();
            assert_eq!(
                judged.changes(event),
                expected,
                "{event} changes: left those of the trace, right the expected ones"
            );
            assert_eq!(judged.trace.events(event).count(), usize::from(!expected.is_empty()), "{event} records");
        }
        let unresolved: Vec<_> = judged.trace.events("unresolved").collect();
        assert!(unresolved.is_empty(), "{unresolved:#?}");
        let (summary, replaced) = (judged.summary(), i32::from(!self.at_pair.is_empty()));
        let writes = serde_json::json!({"seen": looks(&self.scene, &self.legal), "rewritten": replaced});
        assert_eq!(summary["writes"]["update"], writes, "{summary:#}");
        assert_eq!(summary["variants"], serde_json::json!({"live": 0, "peak": replaced, "created": replaced}));
        if replaced == 1 {
            let record = judged.trace.first("pair");
            assert_eq!(record["path"], "update", "{record:#}");
            assert!(record["variant"].is_string(), "{record:#}");
        }
        assert_same(&look.got, &look.wanted, &self.legal, &self.scene, "with samplin");
        Ok(())
    }

    /// What is legal stays as it is.
    fn run_twin(&self) -> Outcome {
        let (scene, sampler) = &self.twin;
        let builder = self.builder().setting("augment", "off");
        let (look, judged) = with_layer(builder, |context| look(context, scene, sampler, sampler))?;
        judged.assert_silent("the legal twin");
        judged.assert_untouched("the legal twin");
        let summary = judged.summary();
        assert_eq!(
            summary["writes"]["update"]["seen"],
            looks(scene, sampler),
            "the layer looked at the write: {summary:#}"
        );
        assert_same(&look.got, &look.wanted, sampler, scene, "the legal twin");
        Ok(())
    }
}
