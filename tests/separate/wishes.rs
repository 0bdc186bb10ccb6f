//! Rules of the user's about samplers that shaders join with many images: what most images of a sampler are wished goes into a copy of
//! its set, and the few that a guard holds back read the application's own.

use super::*;
use run::Folder;

/// Image, sampler, and how it was given another one.
type Link = (Place, Place, String);

const BIAS: f32 = 0.5;
/// One level, which has no use for a bias.
const FLAT: Scene = RGBA8.flat();

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, stage) in [("compute", Stage::Compute), ("graphics", Stage::Fragment), ("linked", Stage::Libraries)] {
        trials.push(trial_in(stage, format!("wish/most/{name}"), move || most(stage, true)));
        trials.push(trial_in(stage, format!("wish/few/{name}"), move || few(stage)));
        trials.push(trial_in(stage, format!("wish/all/{name}"), move || most(stage, false)));
        trials.push(trial_in(stage, format!("wish/beside-illegal/{name}"), move || beside_illegal(stage)));
    }
    trials.extend(run::trials(&[("wish/none", none), ("wish/keep", keep), ("wish/room", room)]));
    trials
}

fn wished(desc: &SamplerDesc) -> SamplerDesc {
    SamplerDesc { lod_bias: desc.lod_bias + BIAS, ..desc.clone() }
}

/// Runs a body under a rule, and says which images of which samplers were given another one, and how.
fn ruled(
    builder: ContextBuilder,
    body: impl FnOnce(&Context) -> Result<Vec<Option<String>>, Skip>,
) -> Result<(Vec<Link>, Judged), Skip> {
    let folder = Folder::new();
    let rule = "[[rule]]\nname = \"softer\"\nwhen = { class = \"color\" }\nset = { mip_lod_bias = { add = 0.5 } }\n";
    let judged = judged(builder.rules(&folder, rule), body)?;
    let place = |slot: &Json| {
        let number = |key: &str| slot[key].as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
        place(number("set"), number("binding"), number("element"))
    };
    let mut changed: Vec<_> = draws(&judged)
        .into_iter()
        .filter_map(|record| {
            let (link, how) = (&record["link"], record["how"].as_str()?);
            Some((place(&link["image"]), place(&link["sampler"]), how.to_owned()))
        })
        .collect();
    changed.sort_by_key(|(image, sampler, _)| (image.set, image.binding, sampler.binding));
    Ok((changed, judged))
}

fn scene(context: &Context, stage: Stage, images: [(Scene, &SamplerDesc); 3]) -> Result<Vec<Option<String>>, Skip> {
    scene_of(context, stage, (&SamplerDesc::trilinear(), 0), images)
}

/// Sampler 1 with images 0 and 2 and that of set 3, sampler 3 with the last as well ([`Program::Engine`]); `more` samplers that nobody
/// reads.
fn scene_of(
    context: &Context,
    stage: Stage,
    (sampler, more): (&SamplerDesc, u32),
    [first, second, third]: [(Scene, &SamplerDesc); 3],
) -> Result<Vec<Option<String>>, Skip> {
    let sets = context.limits().max_bound_descriptor_sets;
    skip_if((sets < 5).then(|| format!("{} binds {sets} sets", context.device_name())))?;
    let [one, two, three] = textures(context, [first.0, second.0, third.0])?;
    let sampler = sampler.create(context);
    let low = Held::of(context, &[one.slot(0, 0), two.slot(2, 0)]);
    let mut slots = vec![Slot::sampler(&sampler, 1, 0), Slot::sampler(&sampler, 3, 0)];
    slots.extend((0..more).map(|element| Slot::sampler(&sampler, 4, element)));
    let (states, high) = (Held::of(context, &slots), Held::of(context, &[three.slot(0, 0)]));
    let (layouts, above) = ([&low.layout, &states.layout], [&high.layout]);
    let plan = Plan::new(Program::Engine, one.kind(), &layouts).stage(stage).above(&above);
    let rig = Rig::new(context, &plan);
    let mut all = Vec::new();
    for _ in 0..2 {
        let job = Job::new(&rig, &points());
        Commands::once(context, |commands| {
            rig.bind_sets(commands, 0, &[low.set, states.set], &[]);
            rig.bind(commands);
            job.bind(commands);
            rig.bind_sets(commands, 3, &[high.set], &[]);
            job.run(commands, 0);
        });
        let rows = [(&one, first.1), (&two, second.1), (&three, third.1), (&three, third.1)];
        let of = |(number, ((texture, legal), got)): (usize, (_, Vec<Value>))| {
            Some(format!("lookup {number}: {}", wrong(texture, legal, &got, &points(), 0.02)?))
        };
        all.extend(rows.into_iter().zip(job.results()).enumerate().map(of));
    }
    Ok(all)
}

fn told(links: &[(u32, u32, u32, How)]) -> Vec<Link> {
    let of = |(set, binding, sampler, how): &(u32, u32, u32, How)| {
        (place(*set, *binding, 0), place(1, *sampler, 0), forced(*how).word().to_owned())
    };
    links.iter().map(of).collect()
}

/// Two of three images are wished another sampler, or all three.
fn most(stage: Stage, is_held: bool) -> Outcome {
    let (own, other) = (SamplerDesc::trilinear(), wished(&SamplerDesc::trilinear()));
    let first = if is_held { (FLAT, &own) } else { (RGBA8, &other) };
    let (changed, judged) =
        ruled(Context::builder(), |context| scene(context, stage, [first, (RGBA8, &other), (RGBA8, &other)]))?;
    let mut links = vec![(0, 2, 1, How::Shadow), (3, 0, 1, How::Shadow), (3, 0, 3, How::Shadow)];
    if !is_held {
        links.insert(0, (0, 0, 1, How::Shadow));
    }
    assert_eq!(changed, told(&links), "{:#?}", judged.trace);
    // Only what is held back reads a sampler of its own.
    assert_passes(&judged, if is_held { &["split"] } else { &[] });
    Ok(())
}

/// One of three is: the set stays as it is.
fn few(stage: Stage) -> Outcome {
    let (own, other) = (SamplerDesc::trilinear(), wished(&SamplerDesc::trilinear()));
    let (changed, judged) =
        ruled(Context::builder(), |context| scene(context, stage, [(RGBA8, &other), (FLAT, &own), (FLAT, &own)]))?;
    assert_eq!(changed, told(&[(0, 0, 1, How::Split)]), "{:#?}", judged.trace);
    Ok(())
}

/// Depths that the device does not filter, beside two wishes.
fn beside_illegal(stage: Stage) -> Outcome {
    let (d16, other) = (conflicts::d16(), wished(&SamplerDesc::trilinear()));
    let nearest = SamplerDesc::nearest();
    let (changed, judged) = ruled(Context::builder(), |context| {
        d16.check(context)?;
        scene(context, stage, [(d16.scene, &nearest), (RGBA8, &other), (RGBA8, &other)])
    })?;
    let links = [(0, 0, 1, How::Split), (0, 2, 1, How::Shadow), (3, 0, 1, How::Shadow), (3, 0, 3, How::Shadow)];
    assert_eq!(changed, told(&links), "{:#?}", judged.trace);
    Ok(())
}

/// Every image is held back: nothing happens, and the records say by what.
fn none() -> Outcome {
    let own = SamplerDesc::trilinear();
    let (changed, judged) = ruled(Context::builder(), |context| {
        scene(context, Stage::Compute, [(FLAT, &own), (FLAT, &own), (FLAT, &own)])
    })?;
    assert!(changed.is_empty(), "{changed:?}");
    let held: Vec<_> = draws(&judged).iter().map(|record| record["changes"].to_string()).collect();
    assert!(!held.is_empty() && held.iter().all(|changes| changes.contains("(guard single_mip)")), "{held:#?}");
    Ok(())
}

/// Nobody wants partners to part: no wish is granted to some of them.
fn keep() -> Outcome {
    let (own, other) = (SamplerDesc::trilinear(), wished(&SamplerDesc::trilinear()));
    let body = |context: &Context, legal: &SamplerDesc| {
        let [flat, deep] = textures(context, [FLAT, RGBA8])?;
        let sampler = own.create(context);
        let held = Held::of(context, &[flat.slot(0, 0), deep.slot(2, 0), Slot::sampler(&sampler, 1, 0)]);
        let found = held.found((Program::Shared, Stage::Compute), [flat.kind(), deep.kind()])?;
        let wrong = |texture, legal, got| wrong(texture, legal, got, &points(), 0.02);
        Ok(vec![wrong(&flat, &own, &found[0]), wrong(&deep, legal, &found[1])])
    };
    for (shared, how, legal) in [("keep", None, &own), ("split", Some(How::Split), &other)] {
        let builder = Context::builder().setting("separate_shared", shared);
        let (changed, judged) = ruled(builder, |context| body(context, legal))?;
        let wanted = how.map(|how| (place(0, 2, 0), place(0, 1, 0), forced(how).word().to_owned()));
        assert_eq!(changed, wanted.into_iter().collect::<Vec<_>>(), "{shared}");
        assert_eq!(judged.left().len(), usize::from(how.is_none()), "{:?}", judged.left());
    }
    Ok(())
}

/// What is illegal, what is wished and what is neither, in one slot: both get samplers of their own. Where there is room for one of them
/// only, what is illegal has it, and the wish is dropped by name.
fn room() -> Outcome {
    let minmax = conflicts::minmax();
    let own = &minmax.sampler;
    let softer = wished(own);
    for crowded in [false, true] {
        let wanted = if crowded { own } else { &softer };
        let (changed, judged) = ruled(Context::builder(), |context| {
            minmax.check(context)?;
            let limits = context.limits();
            let most = limits.max_per_stage_descriptor_samplers.min(limits.max_descriptor_set_samplers);
            skip_if((most > 256).then(|| format!("{} has {most} samplers", context.device_name())))?;
            let more = if crowded { most - 3 } else { 0 };
            let images = [(minmax.scene.flat(), &minmax.legal), (minmax.twin.0, wanted), (minmax.twin.0.flat(), own)];
            scene_of(context, Stage::Compute, (own, more), images)
        })?;
        let mut links = vec![(0, 0, 1, How::Split)];
        if !crowded {
            links.push((0, 2, 1, How::Split));
        }
        assert_eq!(changed, told(&links), "{:#?}", judged.trace);
        let left: Vec<_> = judged.trace.events("unresolved").map(|record| (&record["what"], &record["link"])).collect();
        match left[..] {
            [] => assert!(!crowded),
            [(what, link)] => {
                assert_eq!((what.as_str(), &link["image"]["binding"]), (Some("sampler-limit"), &2.into()));
                assert!(crowded);
            }
            _ => panic!("{left:#?}"),
        }
    }
    Ok(())
}
