//! What depends on the instructions of a link: comparison with views that cannot be compared, where nothing compares (what does is in
//! `compare.rs`), and unnormalized coordinates.

use super::*;

type Row = (&'static str, fn(Stage) -> Outcome);

pub(crate) fn trials() -> Vec<Trial> {
    let all: [Row; 4] =
        [("plain", plain), ("texels", texels), ("texels-fetched", texels_fetched), ("texels-queried", texels_queried)];
    let in_stages = |(name, body): Row| {
        STAGES.map(|(suffix, stage)| trial_in(stage, format!("reads/{name}/{suffix}"), move || body(stage)))
    };
    all.into_iter().flat_map(in_stages).collect()
}

const LESS: vk::CompareOp = vk::CompareOp::LESS_OR_EQUAL;
const R32: Scene = Scene::colour(F::R32_SFLOAT);

/// Runs a program with an image 0, a sampler 1 and perhaps an image 2; what its lookups found.
pub(crate) fn run(
    context: &Context,
    (stage, program): (Stage, Program),
    sampler: &SamplerDesc,
    scenes: &[Scene],
) -> Result<Vec<Vec<Value>>, Skip> {
    let textures = Texture::all(context, scenes)?;
    let made = sampler.create(context);
    let mut slots = vec![Slot::sampler(&made, 1, 0)];
    slots.extend(textures.iter().zip([0, 2]).map(|(texture, binding)| texture.slot(binding, 0)));
    Held::of(context, &slots).found((program, stage), [textures[0].kind(), textures[textures.len() - 1].kind()])
}

/// The only unresolved record is about a link of these uses and this rule; nothing was changed.
pub(crate) fn assert_named(judged: &Judged, rule: &str, vuid: &str, used: &str) {
    assert_left(judged, "pair");
    let record = judged.only_left();
    assert_eq!((record["rule"].as_str(), record["vuid"].as_str()), (Some(rule), Some(vuid)), "{record:#}");
    assert!(record["link"]["uses"].as_array().is_some_and(|uses| uses.contains(&used.into())), "{record:#}");
    assert!(record["pipeline"].is_string(), "{record:#}");
}

/// A shader that does not compare must not read through a sampler that does, so it gets another one.
fn plain(stage: Stage) -> Outcome {
    let (sampler, legal) = (SamplerDesc::nearest().compare(LESS), SamplerDesc::nearest());
    let (looks, judged) = silent(resolve(Context::builder()), "with samplin", |context| {
        let found = run(context, (stage, Program::One), &sampler, &[R32])?.remove(0);
        Ok(vec![Texture::new(context, R32)?.look("the colours", &legal, found)])
    })?;
    let expected = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    assert_changed(&judged, &expected.changed);
    let changes = &draws(&judged)[0]["changes"];
    assert_eq!(
        (&changes[0]["catalog"], &changes[0]["field"]),
        (&"B-30".into(), &"compareEnable".into()),
        "{changes:#}"
    );
    looks.iter().for_each(|look| look.assert("with samplin"));
    Ok(())
}

/// Unnormalized coordinates with a view of several levels, sampled, where shaders do not divide them.
fn texels(stage: Stage) -> Outcome {
    let sampler = SamplerDesc::unnormalized(vk::Filter::NEAREST);
    let body = |context: &Context| run(context, (stage, Program::One), &sampler, &[RGBA8]);
    let base = resolve(Context::builder()).setting("unnormalized", "base");
    let (_, judged) = with_layer(base.record_only(), body)?;
    assert_named(&judged, "unnormalized", "VUID-vkCmdDraw-unnormalizedCoordinates-09635", "lod");
    Ok(())
}

/// The same view is fetched from, and another one of one level sampled: nothing is said.
fn texels_fetched(stage: Stage) -> Outcome {
    only_one_sampled(stage, Program::Fetch)
}

/// The same view is asked for its size through a sampled image of both.
fn texels_queried(stage: Stage) -> Outcome {
    only_one_sampled(stage, Program::Queried)
}

fn only_one_sampled(stage: Stage, program: Program) -> Outcome {
    let sampler = SamplerDesc::unnormalized(vk::Filter::NEAREST);
    let body = |context: &Context| run(context, (stage, program), &sampler, &[RGBA8, RGBA8.flat()]);
    let (_, judged) = with_layer(resolve(Context::builder()).record_only(), body)?;
    judged.assert_untouched("a view that is not sampled");
    Ok(())
}
