//! A scene as engines have it: four sets in use, samplers that all shaders share in one of them, functions that take a texture and join
//! it with one of these, and an atlas of shadows whose depths the device does not filter.

use super::*;

/// Pipelines of the scene.
const PIPELINES: usize = 3;
/// Times that each is bound.
const FRAMES: usize = 2;

pub(crate) fn trials() -> Vec<Trial> {
    [("compute", Stage::Compute), ("graphics", Stage::Fragment)]
        .into_iter()
        .flat_map(|(name, stage)| {
            [
                trial_in(stage, format!("engine/{name}"), move || run(stage)),
                trial_in(stage, format!("engine/{name}-learned"), move || run_again(name, stage)),
                trial_in(stage, format!("engine/{name}-crowded"), move || crowded(stage)),
            ]
        })
        .collect()
}

/// The second run reads what the first one learned: each pipeline is split when it is made, and nothing is compiled at a bind.
fn run_again(name: &str, stage: Stage) -> Outcome {
    skip_if(switch::is_split().then(|| "a test switch splits everything, and learns nothing".to_owned()))?;
    let d16 = conflicts::d16();
    let path = std::env::temp_dir().join(format!("samplin-engine-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let builder = resolve(Context::builder()).file("learned", &path);
    for run in ["the first run", "the second run"] {
        let (looks, judged) = with_layer(builder.clone(), |context| look(context, stage, d16.scene, &d16.legal))?;
        judged.assert_silent(run);
        looks.iter().for_each(|look| look.assert(run));
        let splits = judged.trace.events("shader").filter(|record| record["pass"] == "split");
        let learned: Vec<_> = splits.map(|record| record["learned"] == true).collect();
        assert_eq!(learned, [run == "the second run"; PIPELINES], "{run}: {:#?}", judged.trace);
    }
    // A scene in which all is legal teaches nothing.
    let kept = std::fs::read_to_string(&path).expect("what was learned");
    assert_eq!(kept.lines().count(), 2, "a line that says what it is, and one link: {kept}");
    std::fs::remove_file(&path).expect("removes");
    let (_, judged) = with_layer(builder, |context| look(context, stage, RGBA8, &SamplerDesc::linear()))?;
    assert_passes(&judged, &[]);
    assert!(!path.exists(), "{}", path.display());
    Ok(())
}

fn run(stage: Stage) -> Outcome {
    let (d16, builder) = (conflicts::d16(), Context::builder());
    let expected = Expected::one(How::Split, place(0, 0, 0), place(1, 1, 0));
    let bad = |context: &Context| look(context, stage, d16.scene, &d16.legal);
    judge(&builder, d16.oracle.where_seen(), &expected, &bad)?;
    let (_, judged) = with_layer(resolve(builder.clone()), bad)?;
    // Each pipeline has one shader with links, and is made again when it is first bound with the atlas; not in the second frame.
    assert_passes(&judged, &["split"; PIPELINES]);
    let good = |context: &Context| look(context, stage, RGBA8, &SamplerDesc::linear());
    judge_legal(&builder, &good)?;
    let (_, judged) = with_layer(resolve(builder.clone()), good)?;
    assert_passes(&judged, &[]);
    Ok(())
}

/// Draws the scene with this atlas, whose lookups have to give the values of `legal`; all others stay smooth.
fn look(context: &Context, stage: Stage, atlas: Scene, legal: &SamplerDesc) -> Result<Vec<Look>, Skip> {
    let sets = context.limits().max_bound_descriptor_sets;
    skip_if((sets < 5).then(|| format!("{} binds {sets} sets", context.device_name())))?;
    look_with(context, stage, (atlas, legal), &[])
}

/// The same on a device that binds no more sets: depths are fetched, and the functions that take them take what to do with them too.
fn crowded(stage: Stage) -> Outcome {
    let d16 = conflicts::d16();
    let expected = Expected::unresolved("").and_just(How::Fetch, place(0, 0, 0), place(1, 1, 0));
    let look = |context: &Context, atlas: Scene, legal: &SamplerDesc| {
        look_with(context, stage, (atlas, legal), &fetch::rest(context, 4)?)
    };
    let bad = |context: &Context| look(context, d16.scene, &d16.legal);
    judge(&Context::builder(), d16.oracle.where_seen(), &expected, &bad)?;
    judge_legal(&Context::builder(), &|context| look(context, RGBA8, &SamplerDesc::linear()))
}

fn look_with<'c>(
    context: &'c Context,
    stage: Stage,
    (atlas, legal): (Scene, &SamplerDesc),
    rest: &[SetLayout<'c>],
) -> Result<Vec<Look>, Skip> {
    conflicts::d16().check(context)?;
    let (clamped, repeated) = (SamplerDesc::linear(), SamplerDesc::linear().address(vk::SamplerAddressMode::REPEAT));
    let [atlas, decals, albedo] = textures(context, [atlas, RGBA8, RGBA8])?;
    let [one, other] = [&clamped, &repeated].map(|sampler| sampler.create(context));
    let images = Held::of(context, &[atlas.slot(0, 0), decals.slot(2, 0)]);
    let shared = Held::of(context, &[Slot::sampler(&one, 1, 0), Slot::sampler(&other, 3, 0)]);
    let material = Held::of(context, &[albedo.slot(0, 0)]);
    let layouts = [&images.layout, &shared.layout];
    let above: Vec<_> = std::iter::once(&material.layout).chain(rest).collect();
    let plan = Plan::new(Program::Engine, atlas.kind(), &layouts).stage(stage).above(&above);
    let rigs: Vec<_> = (0..PIPELINES).map(|_| Rig::new(context, &plan)).collect();
    let mut all = Vec::new();
    for _ in 0..FRAMES {
        let jobs: Vec<_> = rigs.iter().map(|rig| (rig, Job::new(rig, &points()))).collect();
        Commands::once(context, |commands| {
            // What is shared is bound once, what is the pipeline's own with each.
            rigs[0].bind_sets(commands, 0, &[images.set, shared.set], &[]);
            for (rig, job) in &jobs {
                rig.bind(commands);
                job.bind(commands);
                rig.bind_sets(commands, 3, &[material.set], &[]);
                job.run(commands, 0);
            }
        });
        for (_, job) in &jobs {
            let lookups = [
                ("the atlas", &atlas, legal),
                ("the decals", &decals, &clamped),
                ("the albedo", &albedo, &clamped),
                ("the albedo, repeated", &albedo, &repeated),
            ];
            all.extend(looks(&lookups, job.results()));
        }
    }
    Ok(all)
}
