//! Pipelines that have as many sets as the device binds, or as many samplers: where the filter is all that is wrong the shader fetches
//! texels and reads no sampler.

use super::*;

/// What there is no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    Set,
    Sampler,
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = run::trials(&[
        ("fetch/edges", edges),
        ("fetch/legal-edges", legal_edges),
        ("fetch/texels", texels),
        ("fetch/emulated", emulated),
        ("fetch/combined", combined),
        ("fetch/legal-combined", legal_combined),
        ("fetch/border-kind", border_kind),
        ("fetch/gathers", gathers),
        ("fetch/learn", learn),
    ]);
    for (name, stage) in STAGES.into_iter().chain([("linked", Stage::LinkedObjects)]) {
        for conflict in [conflicts::uint(), conflicts::d16()] {
            for (lack, word) in [(Lack::Set, "set"), (Lack::Sampler, "sampler")] {
                let own = conflict.clone();
                let name = format!("fetch/{}/no-{word}/{name}", conflict.name);
                trials.push(trial_in(stage, name, move || one(stage, &own, lack)));
            }
        }
    }
    trials
}

/// Layouts of sets that have nothing in them, as many as the device still binds above the harness's own.
pub(crate) fn rest(context: &Context, used: usize) -> Result<Vec<SetLayout<'_>>, Skip> {
    let sets = context.limits().max_bound_descriptor_sets as usize;
    skip_if((sets > 64).then(|| format!("{} binds {sets} sets", context.device_name())))?;
    Ok((used..sets).map(|_| SetLayout::new(context, &[])).collect())
}

/// Image 0 and, with a program that has one, image 2 with sampler 1.
fn scene(
    context: &Context,
    (program, stage, lack): (Program, Stage, Lack),
    sampler: &SamplerDesc,
    [first, second]: [(Scene, &SamplerDesc); 2],
) -> Result<Vec<Look>, Skip> {
    let limits = context.limits();
    let [(one, one_legal), (two, two_legal)] = [first, second];
    let [one, two] = textures(context, [one, two])?;
    let sampler = sampler.create(context);
    let mut slots = vec![one.slot(0, 0), Slot::sampler(&sampler, 1, 0), two.slot(2, 0)];
    if lack == Lack::Sampler {
        let most = limits.max_per_stage_descriptor_samplers.min(limits.max_descriptor_set_samplers);
        skip_if((most > 256).then(|| format!("{} has {most} samplers", context.device_name())))?;
        slots.extend((0..most - 1).map(|element| Slot::sampler(&sampler, 3, element)));
    }
    let held = Held::of(context, &slots);
    let (layouts, empty) = ([&held.layout], if lack == Lack::Set { rest(context, 3)? } else { Vec::new() });
    let above: Vec<_> = empty.iter().collect();
    let plan = Plan::new(program, one.kind(), &layouts).second(two.kind()).stage(stage).above(&above);
    let wanted = [("the first image", &one, one_legal), ("the second", &two, two_legal)];
    Ok(looks(&wanted, found(context, &plan, &[held.set])))
}

/// One that conflicts with the sampler, and one that it suits.
fn images(conflict: &Conflict) -> [(Scene, &SamplerDesc); 2] {
    [(conflict.scene, &conflict.legal), (conflict.twin.0, &conflict.sampler)]
}

/// That the link of image 0 and sampler 1 fetches, whatever a test switch says.
fn fetched() -> Expected {
    Expected::unresolved("").and_just(How::Fetch, place(0, 0, 0), place(0, 1, 0))
}

fn one(stage: Stage, conflict: &Conflict, lack: Lack) -> Outcome {
    let run = (Program::Shared, stage, lack);
    judge(&Context::builder(), conflict.oracle, &fetched(), &|context| {
        conflict.check(context)?;
        scene(context, run, &conflict.sampler, images(conflict))
    })?;
    judge_legal(&Context::builder(), &|context| {
        scene(context, run, &conflict.sampler, [(conflict.twin.0, &conflict.sampler); 2])
    })
}

/// Samplers that differ in what is beyond edges and in their levels, each with a conflict that makes a fetch of it.
fn samplers() -> Vec<(Conflict, SamplerDesc)> {
    use vk::BorderColor as B;
    use vk::SamplerAddressMode as M;
    let linear = SamplerDesc::linear();
    let modes = [M::REPEAT, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE].map(|mode| linear.clone().address(mode));
    let levels = SamplerDesc { min_lod: 1.0, lod_bias: 0.5, ..SamplerDesc::trilinear() };
    let borders = [B::FLOAT_OPAQUE_WHITE, B::FLOAT_OPAQUE_BLACK, B::FLOAT_TRANSPARENT_BLACK];
    let borders = borders.map(|colour| (conflicts::d16(), linear.clone().border(colour)));
    modes.into_iter().chain([levels]).map(|sampler| (conflicts::uint(), sampler)).chain(borders).collect()
}

/// The same with an image that they suit, where there is as little room: nothing happens.
fn legal_edges() -> Outcome {
    for (_, sampler) in samplers() {
        judge_legal(&Context::builder(), &|context| {
            scene(context, (Program::Shared, Stage::Compute, Lack::Set), &sampler, [(RGBA8, &sampler); 2])
        })?;
    }
    Ok(())
}

/// What a fetch does beyond edges is what the address mode says, for a border whatever the format and the view make of it.
fn edges() -> Outcome {
    for (conflict, sampler) in samplers() {
        let legal = SamplerDesc {
            mag_filter: vk::Filter::NEAREST,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::NEAREST,
            ..sampler.clone()
        };
        let (looks, judged) = silent(resolve(Context::builder()), "edges", |context| {
            conflict.check(context)?;
            let run = (Program::Shared, Stage::Compute, Lack::Set);
            scene(context, run, &sampler, [(conflict.scene, &legal), (RGBA8, &sampler)])
        })?;
        looks.iter().for_each(|look| look.assert(&format!("{sampler:?}")));
        assert_eq!(hows(&judged), ["fetch"], "{:#?}", judged.trace);
    }
    Ok(())
}

/// Coordinates in texels that wrap would be divided for a sampler of the link's own. Without room for one the sampler is the one that is legal by
/// itself, and the shader fetches where a format lacks its filter.
fn texels() -> Outcome {
    let filters = [vk::Filter::NEAREST, vk::Filter::LINEAR].map(SamplerDesc::unnormalized);
    let sampler = filters[1].clone().address(vk::SamplerAddressMode::REPEAT);
    let conflict = conflicts::uint();
    let (looks, judged) = silent(resolve(Context::builder()), "coordinates in texels", |context| {
        conflict.check(context)?;
        let run = (Program::Shared, Stage::Compute, Lack::Set);
        scene(context, run, &sampler, [(conflict.scene.flat(), &filters[0]), (RGBA8.flat(), &filters[1])])
    })?;
    looks.iter().for_each(|look| look.assert("coordinates in texels"));
    assert_eq!(hows(&judged), ["fetch"], "{:#?}", judged.trace);
    Ok(())
}

/// How links were repaired.
fn hows(judged: &Judged) -> Vec<&str> {
    draws(judged).iter().filter_map(|record| record["how"].as_str()).collect()
}

/// Filters of floats that the device has not are made of fetched texels.
fn emulated() -> Outcome {
    let conflict = conflicts::simulated();
    let linear = SamplerDesc { lod_bias: 0.25, ..SamplerDesc::trilinear() };
    let builder = Context::builder().simulated(conflicts::WEAK).setting("unfilterable", "emulate");
    let (looks, judged) = silent(resolve(builder), "with samplin", |context| {
        let run = (Program::Shared, Stage::Compute, Lack::Set);
        scene(context, run, &linear, [(conflict.scene, &linear), (RGBA8, &linear)])
    })?;
    let [fetched, own] = &looks[..] else { panic!("two looks") };
    own.assert("beside what is fetched");
    let near = fetched.got.iter().zip(&fetched.reference).position(|(got, wanted)| !got.is_near(*wanted, 1e-5));
    assert_eq!(near, None, "{:?} for {:?}", fetched.got, fetched.reference);
    assert_eq!(hows(&judged), ["fetch"], "{:#?}", judged.trace);
    assert!(judged.trace.events("shader").any(|record| record["pass"] == "fetch"), "{:#?}", judged.trace);
    Ok(())
}

/// An image through the immutable sampler of a combined descriptor.
fn look_at_combined(context: &Context, scene: Scene, sampler: &SamplerDesc, legal: &SamplerDesc) -> Result<Look, Skip> {
    let texture = Texture::new(context, scene)?;
    let sampler = sampler.create(context);
    let held = Held::of(context, &[0, 1, 2].map(|element| texture.pair(&sampler, 0, element).fixed()));
    let (layouts, empty) = ([&held.layout], rest(context, 3)?);
    let above: Vec<_> = empty.iter().collect();
    let rig = Rig::new(context, &Plan::new(Program::Pairs, texture.kind(), &layouts).above(&above));
    Ok(texture.look("the image", legal, rig.found(&[held.set], &points(), 2).remove(0)))
}

/// An immutable sampler that the image does not suit.
fn combined() -> Outcome {
    let conflict = conflicts::uint();
    let builder = resolve(Context::builder().setting("immutable", "demote"));
    let look = |context: &Context| look_at_combined(context, conflict.scene, &conflict.sampler, &conflict.legal);
    let (look, judged) = with_layer(builder, look)?;
    look.assert("with samplin");
    assert_eq!(hows(&judged), ["fetch"], "{:#?}", judged.trace);
    Ok(())
}

/// One that it does. A driver may filter elements of arrays in another way than single descriptors (llvmpipe does).
fn legal_combined() -> Outcome {
    let linear = SamplerDesc::linear();
    let builder = resolve(Context::builder().setting("immutable", "demote"));
    let (look, judged) =
        silent(builder, "what is legal", |context| look_at_combined(context, RGBA8, &linear, &linear))?;
    judged.assert_untouched("what is legal");
    let far = look.got.iter().zip(&look.reference).position(|(got, wanted)| !got.is_near(*wanted, 0.02));
    assert_eq!(far, None, "{:?}, not {:?}", look.got, look.reference);
    Ok(())
}

/// What stays where there is no room, by this name.
fn left(builder: ContextBuilder, program: Program, conflict: &Conflict, what: &'static str) -> Outcome {
    judge(&builder, conflict.oracle, &Expected::unresolved(what), &|context| {
        scene(context, (program, Stage::Compute, Lack::Set), &conflict.sampler, images(conflict))
    })
}

/// A border of another kind is not the filter's business: no sampler, no repair.
fn border_kind() -> Outcome {
    left(Context::builder(), Program::Shared, &conflicts::border(), "no-free-set")
}

/// Four texels at a time are not fetched, which is told; what samples beside that is legal here.
fn gathers() -> Outcome {
    left(Context::builder(), Program::Gather, &conflicts::uint(), "no-free-set")
}

/// Nothing is compiled at a bind where that is not wanted.
fn learn() -> Outcome {
    left(Context::builder().setting("split_compile", "learn"), Program::Shared, &conflicts::uint(), "learned")
}
