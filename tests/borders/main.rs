//! Border colours end to end: their kind, value, format and swizzle by the view they meet, and how many of them a device holds;
//! with them OpenGL's clamp modes ([`clamp`]) and what the layer enables on a device for all of these ([`augment`]).
//!
//! A case is a row of [`rows`]: what the application asks for, the view, what the device may do, the changes that the trace must
//! list, and the sampler whose result is the specification's. The validation layer stands below samplin and must be silent, for
//! all that most of these rules are ones it cannot see; the judge of the pixels is the reference sampler on the CPU.

mod augment;
mod budget;
mod clamp;
mod rows;

use ash::vk;
use libtest_mimic::Trial;
use rows::{WITH_CUSTOM, custom_float, custom_int, custom_uint, rows};
use run::{Judged, Outcome, Skip, build, skip_if, trial, with_layer};
use samplin_suite::{run, scene};
use samplin_testkit::trace::{Change, changes};
use samplin_testkit::{
    BorderValue, Capability, Context, Image, ImageDesc, Pair, Point, Sampler, SamplerDesc, Value, View, ViewDesc,
    descriptor, reference, sample,
};
use scene::{Scene, Shape};
use serde_json::Value as Json;

type C = vk::ComponentSwizzle;
type F = vk::Format;
type B = vk::BorderColor;
type M = vk::SamplerAddressMode;

const BGRA: vk::ComponentMapping = vk::ComponentMapping { r: C::B, g: C::G, b: C::R, a: C::A };
const ALPHA_ONE: vk::ComponentMapping = vk::ComponentMapping { r: C::R, g: C::G, b: C::B, a: C::ONE };
const RED_IN_ALPHA: vk::ComponentMapping = vk::ComponentMapping { r: C::ONE, g: C::ONE, b: C::ONE, a: C::R };

/// Catalogue row, member, value before and after.
type Wanted = (&'static str, &'static str, String, String);

/// One case.
struct Row {
    name: String,
    scene: Scene,
    sampler: SamplerDesc,
    /// The sampler whose result the specification asks for.
    legal: SamplerDesc,
    at_creation: Vec<Wanted>,
    at_pair: Vec<Wanted>,
    needs: Vec<Capability>,
    without: Vec<Capability>,
    settings: Vec<(&'static str, &'static str)>,
    /// Mesa's software driver returns something else without samplin.
    visible: bool,
    /// The rule that stays broken.
    left: Option<&'static str>,
}

impl Row {
    /// A sampler that must be left alone.
    fn untouched(name: impl Into<String>, scene: Scene, sampler: SamplerDesc) -> Self {
        Self {
            name: name.into(),
            scene,
            legal: sampler.clone(),
            sampler,
            at_creation: Vec::new(),
            at_pair: Vec::new(),
            needs: Vec::new(),
            without: Vec::new(),
            settings: Vec::new(),
            visible: false,
            left: None,
        }
    }

    /// A sampler that must become another one when it meets the view.
    fn pair(
        name: impl Into<String>,
        scene: Scene,
        sampler: SamplerDesc,
        legal: SamplerDesc,
        at_pair: Vec<Wanted>,
    ) -> Self {
        Self { legal, at_pair, ..Self::untouched(name, scene, sampler) }
    }

    /// A sampler that the specification leaves to the driver and that no other one mends, by this rule.
    fn left(name: impl Into<String>, scene: Scene, sampler: SamplerDesc, rule: &'static str) -> Self {
        Self { left: Some(rule), ..Self::untouched(name, scene, sampler) }
    }

    /// The same, changed when it is created already.
    fn created(mut self, at_creation: Vec<Wanted>) -> Self {
        self.at_creation = at_creation;
        self
    }

    fn without(mut self, capabilities: &[Capability]) -> Self {
        self.without.extend(capabilities);
        self
    }

    fn needs(mut self, capabilities: &[Capability]) -> Self {
        self.needs.extend(capabilities);
        self
    }

    fn setting(mut self, key: &'static str, value: &'static str) -> Self {
        self.settings.push((key, value));
        self
    }

    fn visible(mut self) -> Self {
        self.visible = true;
        self
    }

    fn context(&self) -> samplin_testkit::ContextBuilder {
        let builder = self.without.iter().fold(Context::builder(), |builder, c| builder.without(*c));
        let builder = builder.setting("augment", "off");
        self.settings.iter().fold(builder, |builder, (key, value)| builder.setting(key, value))
    }

    fn run(&self) -> Outcome {
        let ((got, wanted), judged) = with_layer(self.context(), |context| self.look(context))?;
        judged.assert_silent("with samplin");
        self.assert_changes(&judged);
        assert_same(&got, &wanted, &self.scene, "with samplin");
        if self.visible {
            self.run_alone()?;
        }
        Ok(())
    }

    /// Without samplin the driver's result is another one, where it lets that be seen.
    fn run_alone(&self) -> Outcome {
        let builder = self.without.iter().fold(Context::builder(), |builder, c| builder.without(*c));
        let context = build(&builder)?;
        skip_if((!context.device_name().contains("llvmpipe")).then(|| "only known of Mesa's software driver".into()))?;
        let (got, wanted) = self.look(&context)?;
        assert!(
            !same(&got, &wanted, &self.scene),
            "the driver gives the specification's result without samplin as well"
        );
        Ok(())
    }

    /// What the pair gives, and what the legal sampler gives: by the reference, of cubes by the driver.
    fn look(&self, context: &Context) -> Result<(Vec<Value>, Vec<Value>), Skip> {
        skip_if(context.missing(&self.needs))?;
        let image = self.scene.image(context)?;
        let view = self.scene.view(&image);
        let made = self.sampler.create(context);
        let points = self.scene.points(false);
        let got = sample(context, Pair::new(&view, &made), &points);
        let wanted = if self.scene.shape == Shape::Cube {
            let legal = self.legal.create(context);
            sample(context, Pair::new(&view, &legal), &points)
        } else {
            let texture = reference::Texture::read(&image, &view);
            let bias = context.limits().max_sampler_lod_bias;
            points.iter().map(|point| reference::sample(&texture, &self.legal, point, bias)).collect()
        };
        Ok((got, wanted))
    }

    fn assert_changes(&self, judged: &Judged) {
        let unresolved: Vec<_> = judged.trace.events("unresolved").collect();
        let rules: Vec<_> = unresolved.iter().map(|record| record["rule"].as_str().expect("a rule")).collect();
        if self.left.is_some() {
            assert!(rules == Vec::from_iter(self.left), "{unresolved:#?}");
        } else if self.at_creation.is_empty() && self.at_pair.is_empty() {
            return judged.assert_untouched("a legal border");
        }
        for (event, wanted) in [("sampler", &self.at_creation), ("pair", &self.at_pair)] {
            assert_eq!(rows_of(&judged.changes(event)), *wanted, "{event}: left the trace, right what is wanted");
        }
        assert!(self.left.is_some() || unresolved.is_empty(), "{unresolved:#?}");
    }
}

/// Changes as [`Wanted`].
fn rows_of(changes: &[Change]) -> Vec<Wanted> {
    let leak = |text: &str| -> &'static str { String::leak(text.to_owned()) };
    changes.iter().map(|c| (leak(&c.catalog), leak(&c.field), c.from.clone(), c.to.clone())).collect()
}

fn same(got: &[Value], wanted: &[Value], scene: &Scene) -> bool {
    first_difference(got, wanted, scene).is_none()
}

fn first_difference(got: &[Value], wanted: &[Value], scene: &Scene) -> Option<usize> {
    assert_eq!(got.len(), wanted.len());
    let colour = scene.aspect == vk::ImageAspectFlags::COLOR;
    // Half a step of eight bits, and the least a driver may round an sRGB value by.
    let differs = |(got, wanted): (&Value, &Value)| {
        if colour {
            !got.is_near(*wanted, 0.004)
        } else {
            // Depth and stencil define their first component only.
            (got.components()[0] - wanted.components()[0]).abs() > 0.004
        }
    };
    got.iter().zip(wanted).position(differs)
}

fn assert_same(got: &[Value], wanted: &[Value], scene: &Scene, what: &str) {
    if let Some(index) = first_difference(got, wanted, scene) {
        let point = scene.points(false)[index];
        panic!("{what}: {:?} is not {:?} at {point:?}", got[index], wanted[index]);
    }
}

// --- one sampler, several views ---------------------------------------------------------------------------------------

/// One sampler with a custom colour on views of several formats and kinds: each gets a variant of its own.
fn variant_per_view() -> Outcome {
    let value = [1.0, 0.0, 1.0, 0.0];
    let desc = custom_float(value, F::R8G8B8A8_UNORM);
    let formats = [
        (F::R8G8B8A8_UNORM, custom_float([1.0, 0.0, 1.0, 0.0], F::R8G8B8A8_UNORM)),
        (F::R16G16B16A16_SFLOAT, custom_float([1.0, 0.0, 1.0, 0.0], F::R16G16B16A16_SFLOAT)),
        (F::R8G8B8A8_UINT, custom_uint([1, 0, 1, 0], F::R8G8B8A8_UINT)),
        (F::R32G32B32A32_SINT, custom_int([1, 0, 1, 0], F::R32G32B32A32_SINT)),
    ];
    let ((), judged) = with_layer(Context::builder().setting("augment", "off"), |context| {
        skip_if(context.missing(&WITH_CUSTOM))?;
        let sampler = desc.create(context);
        for (format, legal) in &formats {
            let scene = Scene::colour(*format);
            let image = scene.image(context)?;
            let view = scene.view(&image);
            let points = scene.points(false);
            let got = sample(context, Pair::new(&view, &sampler), &points);
            let texture = reference::Texture::read(&image, &view);
            let wanted: Vec<_> = points.iter().map(|point| reference::sample(&texture, legal, point, 2.0)).collect();
            assert_same(&got, &wanted, &scene, &format!("{format:?}"));
        }
        Ok(())
    })?;
    judged.assert_silent("one sampler on four formats");
    let variants: std::collections::BTreeSet<_> =
        judged.trace.events("pair").map(|record| record["variant"].to_string()).collect();
    assert_eq!(variants.len(), 3, "the base suits its own format, and each other one has a variant: {variants:?}");
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut trials: Vec<Trial> = rows().into_iter().map(|row| trial(row.name.clone(), move || row.run())).collect();
    trials.extend(clamp::trials());
    trials.extend(augment::trials());
    trials.push(trial("variant-per-view", variant_per_view));
    trials.push(trial("budget/ten-thousand", budget::ten_thousand));
    trials.push(trial("budget/variants-count", budget::variants_count));
    samplin_suite::forked::main(trials)
}
