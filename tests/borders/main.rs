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
use rows::WITH_CUSTOM;
use run::{Judged, Outcome, Skip, build, silent, skip_if, trial};
use samplin_suite::case::*;
use samplin_suite::{run, scene};
use samplin_testkit::trace::changes;
use samplin_testkit::{
    Capability, Context, ContextBuilder, Held, Image, ImageDesc, Pair, SamplePoint, Sampler, SamplerDesc, Slot,
    Texture, Value, View, ViewDesc, descriptor, sample,
};
use scene::{Scene, Shape};
use serde_json::Value as Json;

type C = vk::ComponentSwizzle;
type M = vk::SamplerAddressMode;

const BGRA: vk::ComponentMapping = vk::ComponentMapping { r: C::B, g: C::G, b: C::R, a: C::A };
const ALPHA_ONE: vk::ComponentMapping = vk::ComponentMapping { r: C::R, g: C::G, b: C::B, a: C::ONE };
const RED_IN_ALPHA: vk::ComponentMapping = vk::ComponentMapping { r: C::ONE, g: C::ONE, b: C::ONE, a: C::R };

/// What drivers may round: half a step of eight bits, and the least of an sRGB value.
const NEAR: f64 = 0.004;

fn run(case: &Case) -> Outcome {
    let (look, judged) =
        silent(case.builder().setting("augment", "off"), "with samplin", |context| case.look(context))?;
    if case.left.is_none() && case.at_creation.is_empty() && case.at_pair.is_empty() {
        judged.assert_untouched("a legal border");
    }
    case.assert_changes(&judged);
    assert_within(&look.got, &look.wanted, NEAR, (&case.scene, false), "with samplin");
    if case.visible { run_alone(case) } else { Ok(()) }
}

/// Without samplin the driver's result is another one, where it lets that be seen.
fn run_alone(case: &Case) -> Outcome {
    let context = build(&case.without.iter().fold(Context::builder(), |builder, c| builder.without(*c)))?;
    skip_if((!context.device_name().contains("llvmpipe")).then(|| "only known of Mesa's software driver".into()))?;
    let look = case.look(&context)?;
    let difference = first_difference(&look.got, &look.wanted, &case.scene, NEAR);
    assert!(difference.is_some(), "the driver gives the specification's result without samplin as well");
    Ok(())
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
    let ((), judged) =
        silent(Context::builder().setting("augment", "off"), "one sampler on four formats", |context| {
            skip_if(context.missing(&WITH_CUSTOM))?;
            let sampler = desc.create(context);
            for (format, legal) in &formats {
                let scene = Scene::colour(*format);
                let (texture, points) = (Texture::new(context, scene)?, scene.points(false));
                let (got, wanted) = (texture.through(&sampler, &points), texture.wanted(legal, &points));
                assert_within(&got, &wanted, NEAR, (&scene, false), &format!("{format:?}"));
            }
            Ok(())
        })?;
    let variants: std::collections::BTreeSet<_> =
        judged.trace.events("pair").map(|record| record["variant"].to_string()).collect();
    assert_eq!(variants.len(), 3, "the base suits its own format, and each other one has a variant: {variants:?}");
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut trials: Vec<Trial> =
        rows::all().into_iter().map(|row| trial(row.name.clone(), move || run(&row))).collect();
    trials.extend(clamp::trials());
    trials.extend(augment::trials());
    trials.push(trial("variant-per-view", variant_per_view));
    trials.push(trial("budget/ten-thousand", budget::ten_thousand));
    trials.push(trial("budget/variants-count", budget::variants_count));
    samplin_suite::forked::main(trials)
}
