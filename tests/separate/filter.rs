//! `unfilterable=emulate`: LINEAR on formats that the device does not filter is made of NEAREST in the shader.

use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = run::trials(&[
        ("filter/what-stays-nearest", nearest),
        ("filter/off", off),
        ("filter/clamped", clamped),
        ("filter/cube", cube),
    ]);
    for (name, stage) in STAGES.into_iter().chain([("linked", Stage::LinkedObjects)]) {
        trials.push(trial_in(stage, format!("filter/floats/{name}"), move || floats(stage)));
        trials.push(trial_in(stage, format!("filter/shared/{name}"), move || shared(stage)));
    }
    trials
}

/// A device on which 32-bit floats cannot be filtered.
fn builder() -> ContextBuilder {
    set_to("emulate")
}

fn set_to(unfilterable: &str) -> ContextBuilder {
    resolve(Context::builder().simulated(conflicts::WEAK).setting("unfilterable", unfilterable))
}

const FLOATS: Scene = Scene::colour(F::R32_SFLOAT);

/// Samplers whose LINEAR the shader makes: address modes and borders, levels, limits.
fn samplers() -> Vec<SamplerDesc> {
    use vk::SamplerAddressMode as M;
    let linear = SamplerDesc::linear();
    let white = vk::BorderColor::FLOAT_OPAQUE_WHITE;
    vec![
        linear.clone(),
        linear.clone().border(white),
        linear.clone().address(M::REPEAT),
        linear.clone().address(M::MIRRORED_REPEAT),
        SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::NEAREST, ..linear.clone() },
        SamplerDesc { mag_filter: vk::Filter::NEAREST, ..linear.clone() },
        SamplerDesc { min_lod: 1.0, max_lod: 2.0, ..linear.clone() },
        // What would count a second time, if the sampler that is bound had it as well.
        SamplerDesc { lod_bias: 0.25, ..linear },
        SamplerDesc { lod_bias: -0.75, ..SamplerDesc::trilinear() },
        SamplerDesc { min_lod: 0.75, max_lod: 1.3, ..SamplerDesc::trilinear() },
    ]
}

/// Combined and separate at once, one pipeline for all samplers.
fn floats(stage: Stage) -> Outcome {
    let judged = judged(builder(), |context| {
        let texture = Texture::new(context, FLOATS)?;
        let made: Vec<_> = samplers().iter().map(|desc| desc.create(context)).collect();
        let sets: Vec<_> = made
            .iter()
            .map(|sampler| {
                let [one, other] = [1, 3].map(|binding| Slot::sampler(sampler, binding, 0));
                Held::of(context, &[texture.slot(0, 0), one, texture.pair(sampler, 2, 0), other])
            })
            .collect();
        let layouts = [&sets[0].layout];
        let rig = Rig::new(context, &Plan::new(Program::Beside, texture.kind(), &layouts).stage(stage));
        let mut all = Vec::new();
        for (held, legal) in sets.iter().zip(samplers()) {
            all.extend(
                rig.found(&[held.set], &points(), 0).iter().map(|got| wrong(&texture, &legal, got, &points(), 1e-5)),
            );
        }
        Ok(all)
    })?;
    judged.assert_resolved();
    // One pipeline does for all.
    assert_passes(&judged, &["filter"]);
    let lost: Vec<_> = judged.changes("pair").into_iter().filter(|change| change.catalog == "B-1").collect();
    assert!(!lost.is_empty() && lost.iter().all(|change| change.lost.starts_with("nothing")), "{lost:#?}");
    Ok(())
}

/// One sampler for an image that the device filters and one that the shader does.
fn shared(stage: Stage) -> Outcome {
    let judged = judged(builder(), |context| {
        let [good, bad] = textures(context, [RGBA8, FLOATS])?;
        let sampler = SamplerDesc::linear().create(context);
        let held = Held::of(context, &[good.slot(0, 0), bad.slot(2, 0), Slot::sampler(&sampler, 1, 0)]);
        let results = held.found((Program::Shared, stage), [good.kind(), bad.kind()])?;
        // The good one has the device's precision.
        let wanted = good.wanted(&SamplerDesc::linear(), &points());
        let is_near = std::iter::zip(&results[0], wanted).all(|(got, wanted)| got.is_near(wanted, 0.02));
        let own = (!is_near).then(|| "the image that is filtered".to_owned());
        Ok(vec![own, wrong(&bad, &SamplerDesc::linear(), &results[1], &points(), 1e-5)])
    })?;
    judged.assert_resolved();
    Ok(())
}

/// Clamped as OpenGL does, then filtered: the border takes part.
fn clamped() -> Outcome {
    use vk::SamplerAddressMode as M;
    for (mode, mirrors) in [(0x2900, false), (0x8742, true)] {
        let asked = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).address(M::from_raw(mode));
        let judged = judged(builder().extension(c"VK_SAMPLIN_gl_address_modes"), |context| {
            let texture = Texture::new(context, FLOATS)?;
            let made = asked.create(context);
            let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&made, 1, 0)]);
            let results = held.found((Program::One, Stage::Compute), [texture.kind(); 2])?;
            let texels = reference::Texture::read(&texture.image, &texture.view);
            let border = asked.clone().address(M::CLAMP_TO_BORDER);
            let exact = |point: SamplePoint| {
                let level = ((point.lod + 0.5).ceil() - 1.0).clamp(0.0, 2.0);
                let low = 0.5 / (8.0 / level.exp2());
                let at = |s: f32| if mirrors { s.abs().clamp(low, 1.0) } else { s.clamp(0.0, 1.0) };
                reference::sample(&texels, &border, &SamplePoint { coord: point.coord.map(at), ..point }, 2.0)
            };
            let far = |(got, point): &(&Value, SamplePoint)| !got.is_near(exact(*point), 1e-5);
            let first = results[0].iter().zip(points()).find(far);
            Ok(vec![first.map(|(got, point)| format!("{mode:#x}: {got:?}, not {:?}, at {point:?}", exact(point)))])
        })?;
        judged.assert_resolved();
    }
    Ok(())
}

/// Samples one image through one sampler in a set of two bindings.
fn look(
    context: &Context,
    scene: Scene,
    sampler: &SamplerDesc,
    legal: &SamplerDesc,
) -> Result<Vec<Option<String>>, Skip> {
    let texture = Texture::new(context, scene)?;
    let made = sampler.create(context);
    let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&made, 1, 0)]);
    let results = held.found((Program::One, Stage::Compute), [texture.kind(); 2])?;
    Ok(vec![wrong(&texture, legal, &results[0], &points(), 1e-5)])
}

/// Integers, for which weights mean nothing.
fn nearest() -> Outcome {
    let linear = SamplerDesc::linear();
    let judged = judged(builder(), |context| look(context, conflicts::UINT, &linear, &SamplerDesc::nearest()))?;
    judged.assert_resolved();
    // With `nearest` the LOD stays the sampler's.
    let biased = SamplerDesc { lod_bias: 0.25, ..linear };
    let legal = SamplerDesc { lod_bias: 0.25, ..SamplerDesc::nearest() };
    super::judged(set_to("nearest"), |context| look(context, FLOATS, &biased, &legal))?;
    Ok(())
}

/// Faces of a cube are filtered as the driver filters them, but for the texels beside their edges, which the record says.
fn cube() -> Outcome {
    let scene = FLOATS.shape(scene::Shape::Cube);
    let look = |context: &Context| {
        let (_image, view) = scene.shown(context)?;
        let made = SamplerDesc::trilinear().create(context);
        Ok(sample(context, Pair::new(&view, &made), &scene.points(false)))
    };
    let (own, _) = without_layer(Context::builder(), look)?;
    let (got, judged) = silent(builder(), "a cube", look)?;
    let (mut inside, mut beside) = (0, 0);
    for ((own, got), point) in own.iter().zip(&got).zip(scene.points(false)) {
        // Of the coarsest level that takes part.
        let texel = 2.0 / (8.0 / point.lod.ceil().clamp(0.0, 2.0).exp2());
        if point.from_middle() > 1.0 - texel {
            beside += 1;
            continue;
        }
        inside += 1;
        assert!(got.is_near(*own, 0.02), "{got:?} is not {own:?} at {point:?}");
    }
    assert!(inside > 30 && beside > 30, "{inside} inside, {beside} beside edges");
    let lost: Vec<_> = judged.changes("pair").into_iter().filter(|change| change.catalog == "B-1").collect();
    assert!(!lost.is_empty() && lost.iter().all(|change| change.lost.starts_with("seam")), "{lost:#?}");
    judged.assert_resolved();
    Ok(())
}

/// By default NEAREST is what there is.
fn off() -> Outcome {
    let judged =
        judged(set_to("nearest"), |context| look(context, FLOATS, &SamplerDesc::linear(), &SamplerDesc::nearest()))?;
    assert_eq!(judged.trace.events("shader").filter(|record| record["pass"] == "filter").count(), 0);
    Ok(())
}
