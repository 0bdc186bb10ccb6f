//! Comparison with images whose format lacks it: the shader compares, and the sampler that it reads through does not.

use super::reads::{assert_named, run};
use super::*;
use samplin_testkit::Folder;
use samplin_testkit::context::device_file;
use samplin_testkit::{Path, sample_via};

type Row = (&'static str, fn(Stage) -> Outcome);

pub(crate) fn trials() -> Vec<Trial> {
    let all: [Row; 6] = [
        ("colours", colours),
        ("legal-depths", legal_depths),
        ("shared", shared),
        ("legal-shared", legal_shared),
        ("compared-and-plain", compared_and_plain),
        ("refused", refused),
    ];
    let in_stages = |(name, body): Row| {
        STAGES.map(|(suffix, stage)| trial_in(stage, format!("compare/{name}/{suffix}"), move || body(stage)))
    };
    let mut trials: Vec<_> = all.into_iter().flat_map(in_stages).collect();
    trials.extend(run::trials(&[
        ("compare/fixed-point-depths", fixed_point_depths),
        ("compare/fixed-point-colours", fixed_point_colours),
        ("compare/operators", operators),
        ("compare/no-set", no_set),
        ("compare/learn", learn),
        ("compare/keys-in-code", keys_in_code),
        ("compare/combined", combined),
        ("compare/legal-combined", legal_combined),
        ("compare/combined-by-default", combined_by_default),
        ("compare/legal-combined-by-default", legal_combined_by_default),
        ("compare/combined-then-legal", combined_then_legal),
        ("compare/combined-cube", || cubes(scene::Shape::Cube)),
        ("compare/combined-cube-array", || cubes(scene::Shape::CubeArray)),
        ("compare/array", array),
        ("compare/off", off),
        ("compare/without-compare-enable", without_compare_enable),
    ]));
    trials
}

const LESS: vk::CompareOp = vk::CompareOp::LESS_OR_EQUAL;
const R32: Scene = Scene::colour(F::R32_SFLOAT);
const D32: Scene = Scene::depth(F::D32_SFLOAT);
const D16: Scene = Scene::depth(F::D16_UNORM);
const VUID: &str = "VUID-vkCmdDraw-None-06479";

/// Samplers that compare, with what the shader has to make of them: filters, levels, bias and limits, address modes, borders.
fn samplers() -> Vec<SamplerDesc> {
    use vk::SamplerAddressMode as M;
    let (nearest, linear) = (SamplerDesc::nearest(), SamplerDesc::linear());
    let all = [
        nearest.clone(),
        SamplerDesc { lod_bias: 0.75, ..nearest },
        linear.clone().address(M::MIRRORED_REPEAT),
        linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
        SamplerDesc { mag_filter: vk::Filter::NEAREST, ..linear },
        SamplerDesc { lod_bias: -0.5, min_lod: 0.25, max_lod: 1.3, ..SamplerDesc::trilinear() }.address(M::REPEAT),
    ];
    all.map(|desc| desc.compare(LESS)).to_vec()
}

/// The points with references below, in and above what fixed-point formats hold.
fn far_points() -> Vec<SamplePoint> {
    // None is equal to a texel, which a device may round either way.
    let references = [-0.5, 0.23, 0.41, 0.83, 1.5];
    points().into_iter().zip(references.into_iter().cycle()).map(|(point, d)| point.reference(d)).collect()
}

/// Compares images 0 and, if there is another one, 2 through sampler 1, in one pipeline for all samplers; results by sampler and image.
fn look(
    context: &Context,
    (stage, program): (Stage, Program),
    (samplers, scenes): (&[SamplerDesc], &[Scene]),
    (at, above): (&[SamplePoint], bool),
) -> Result<Vec<Option<String>>, Skip> {
    let textures = Texture::all(context, scenes)?;
    let made: Vec<_> = samplers.iter().map(|desc| desc.create(context)).collect();
    let set = |sampler| {
        let images = textures.iter().zip([0, 2]).map(|(texture, binding)| texture.slot(binding, 0));
        Held::of(context, &images.chain([Slot::sampler(sampler, 1, 0)]).collect::<Vec<_>>())
    };
    let sets: Vec<_> = made.iter().map(set).collect();
    let empty = if above { fetch::rest(context, 3)? } else { Vec::new() };
    let (layouts, above) = ([&sets[0].layout], empty.iter().collect::<Vec<_>>());
    let rig = Rig::new(context, &Plan::new(program, ResultKind::Float, &layouts).stage(stage).above(&above));
    let mut all = Vec::new();
    for ((held, sampler), desc) in sets.iter().zip(&made).zip(samplers) {
        let results = rig.found(&[held.set], at, 0);
        all.extend(textures.iter().zip(&results).map(|(texture, got)| {
            if texture.scene.format != F::D32_SFLOAT {
                return wrong(texture, desc, got, at, 1e-5);
            }
            // The device's own comparison, bit by bit.
            let own = texture.through(sampler, at);
            let first = got.iter().zip(&own).find(|(got, own)| got.components()[0] != own.components()[0]);
            first.map(|(got, own)| format!("{desc:?}: {got:?} is not the device's {own:?}"))
        }));
    }
    Ok(all)
}

/// The same through all of the [`samplers`], by a device.
fn looked(
    builder: ContextBuilder,
    run: (Stage, Program),
    scenes: &[Scene],
    at: (&[SamplePoint], bool),
) -> Result<Judged, Skip> {
    judged(builder, |context| look(context, run, (&samplers(), scenes), at))
}

/// Nothing is left, and the changes are those of a comparison that the shader does.
fn assert_compared(judged: &Judged, how: &str) {
    judged.assert_resolved();
    let pairs = draws(judged);
    assert!(!pairs.is_empty() && pairs.iter().all(|record| record["how"] == how), "not {how}: {pairs:#?}");
    for record in &pairs {
        let changes = samplin_testkit::trace::changes(record);
        let compares = changes.iter().any(|change| change.catalog == "B-31" && change.field == "compareEnable");
        assert!(compares, "{record:#}");
        let own = changes.iter().filter(|change| change.catalog == "B-31");
        assert!(own.into_iter().all(|change| change.lost.starts_with("nothing")), "{record:#}");
    }
    let passes: Vec<_> = judged.trace.events("shader").map(|record| record["pass"].clone()).collect();
    assert!(passes.contains(&"compare".into()), "{passes:?}");
}

/// Colours, which validation says cannot be compared.
fn colours(stage: Stage) -> Outcome {
    let program = (stage, Program::Compared);
    let (_, errors) =
        without_layer(Context::builder().record_only(), |context| run(context, program, &samplers()[0], &[R32]))?;
    assert!(errors.iter().any(|error| error.id.ends_with("None-06479")), "{errors:#?}");
    let judged = looked(Context::builder(), program, &[R32], (&far_points(), false))?;
    assert_compared(&judged, forced(How::Shadow).word());
    Ok(())
}

/// Depths that the device compares are nobody's business.
fn legal_depths(stage: Stage) -> Outcome {
    let judged = looked(Context::builder(), (stage, Program::Compared), &[D32], (&points(), false))?;
    judged.assert_untouched("depths");
    assert_passes(&judged, &[]);
    Ok(())
}

/// One sampler for a colour, which the shader compares, and a depth, which the device does.
fn shared(stage: Stage) -> Outcome {
    let judged = looked(Context::builder(), (stage, Program::Shadows), &[R32, D32], (&points(), false))?;
    assert_compared(&judged, "split");
    for record in draws(&judged) {
        assert_eq!(record["link"]["image"]["binding"], 0, "the colour alone: {record:#}");
    }
    Ok(())
}

fn legal_shared(stage: Stage) -> Outcome {
    let judged = looked(Context::builder(), (stage, Program::Shadows), &[D32, D32], (&points(), false))?;
    judged.assert_untouched("depths");
    Ok(())
}

/// One image is compared and sampled with one sampler: what does not compare is filtered as the sampler says.
fn compared_and_plain(stage: Stage) -> Outcome {
    let sampler = SamplerDesc::linear().compare(LESS);
    let judged = judged(Context::builder(), |context| {
        let mut found = run(context, (stage, Program::Both), &sampler, &[R32])?;
        let texture = Texture::new(context, R32)?;
        let plain = found.pop().expect("two lookups");
        let far = wrong(&texture, &SamplerDesc::linear(), &plain, &points(), 1e-5);
        let far = far.map(|wrong| format!("the colour: {wrong}"));
        Ok(vec![wrong(&texture, &sampler, &found[0], &points(), 1e-5), far])
    })?;
    assert_compared(&judged, forced(How::Shadow).word());
    // Depths are left, also where one instruction does not compare.
    let judged = alike(Context::builder(), |context| run(context, (stage, Program::Both), &sampler, &[D32]))?;
    judged.assert_untouched("depths");
    Ok(())
}

/// A view whose red component is another one cannot be compared in the shader. The pair is named, and reads what it reads without the
/// layer.
fn refused(stage: Stage) -> Outcome {
    use vk::ComponentSwizzle as C;
    let components = vk::ComponentMapping { r: C::G, ..R32.components };
    let scene = Scene { components, ..Scene::colour(F::R32G32_SFLOAT) };
    let sampler = SamplerDesc::linear().compare(LESS);
    let body = |context: &Context| run(context, (stage, Program::Compared), &sampler, &[scene]);
    let (before, errors) = without_layer(Context::builder(), body)?;
    let (after, judged) = with_layer(resolve(Context::builder()), body)?;
    assert_eq!(after, before);
    assert_eq!(judged.errors.len(), errors.len(), "{:#?}", judged.errors);
    assert_named(&judged, "compare", VUID, "dref");
    Ok(())
}

/// A device that compares no 16-bit depths, made of what lavapipe reported.
fn without_d16(folder: &Folder) -> ContextBuilder {
    let known = device_file("llvmpipe-mesa-22.3-debian12");
    let mut device: Json = serde_json::from_str(&std::fs::read_to_string(known).expect("a file")).expect("JSON");
    let d16 = &mut device["formats"]["VK_FORMAT_D16_UNORM"]["optimalTilingFeatures2"];
    assert!(d16.as_array().is_some_and(|features| !features.is_empty()), "{d16}");
    *d16 = serde_json::json!([]);
    Context::builder().file("device", folder.write("without-d16.json", device.to_string()))
}

/// References are clamped to what the format holds. Without the missing bit nothing is done.
fn fixed_point_depths() -> Outcome {
    let (program, folder) = ((Stage::Compute, Program::Compared), Folder::new());
    let judged = looked(without_d16(&folder), program, &[D16], (&far_points(), false))?;
    assert_compared(&judged, forced(How::Shadow).word());
    let (_, judged) = with_layer(resolve(Context::builder()), |context| {
        look(context, program, (&samplers(), &[D16]), (&far_points(), false))
    })?;
    judged.assert_untouched("depths that are compared");
    Ok(())
}

/// References are clamped for unsigned normalized colours too, and for no others.
fn fixed_point_colours() -> Outcome {
    let program = (Stage::Compute, Program::Compared);
    for format in [F::R16_UNORM, F::R8G8B8A8_SRGB, F::R16_SFLOAT, F::R16_SNORM] {
        let judged = looked(Context::builder(), program, &[Scene::colour(format)], (&far_points(), false))?;
        assert_compared(&judged, forced(How::Shadow).word());
    }
    Ok(())
}

/// Each operator, with references that are equal to texels.
fn operators() -> Outcome {
    let operators = (0..8).map(vk::CompareOp::from_raw);
    let samplers: Vec<_> = operators.map(|op| SamplerDesc::linear().compare(op)).collect();
    let equal = |(n, point): (usize, SamplePoint)| point.reference((n % 16) as f32 / 15.0);
    let at: Vec<_> = points().into_iter().enumerate().map(equal).collect();
    let program = (Stage::Compute, Program::Compared);
    let judged = judged(Context::builder(), |context| look(context, program, (&samplers, &[R32]), (&at, false)))?;
    assert_compared(&judged, forced(How::Shadow).word());
    Ok(())
}

/// All sets are in use, so tasks are in the code of a pipeline for each sampler.
fn no_set() -> Outcome {
    let judged = looked(Context::builder(), (Stage::Compute, Program::Compared), &[R32], (&points(), true))?;
    assert_compared(&judged, "shadow");
    Ok(())
}

/// The same by a setting, where there would be room.
fn keys_in_code() -> Outcome {
    let builder = Context::builder().setting("shader_keys", "pipeline");
    let judged = looked(builder, (Stage::Compute, Program::Shadows), &[R32, D32], (&points(), false))?;
    assert_compared(&judged, "split");
    Ok(())
}

/// Nothing is compiled at a bind, so the pair keeps its comparison and is named.
fn learn() -> Outcome {
    let sampler = SamplerDesc::linear().compare(LESS);
    let judged = alike(Context::builder().setting("split_compile", "learn"), |context| {
        run(context, (Stage::Compute, Program::Compared), &sampler, &[R32])
    })?;
    assert_left(&judged, "learned");
    for record in judged.trace.events("unresolved") {
        let changes = samplin_testkit::trace::changes(record);
        assert!(
            !changes.is_empty() && changes.iter().all(|change| change.lost.is_empty()),
            "nothing changes: {record:#}"
        );
    }
    Ok(())
}

/// Where combined descriptors are followed they are compared as well.
fn emulate() -> ContextBuilder {
    Context::builder().setting("unfilterable", "emulate")
}

fn combined_look(context: &Context, scene: Scene) -> Result<Vec<Option<String>>, Skip> {
    let texture = Texture::new(context, scene)?;
    let looks = samplers().into_iter().map(|desc| {
        let made = desc.create(context);
        let found = texture.through(&made, &far_points());
        if scene.format == F::D32_SFLOAT { None } else { wrong(&texture, &desc, &found, &far_points(), 1e-5) }
    });
    Ok(looks.collect())
}

fn combined() -> Outcome {
    let judged = judged(emulate(), |context| combined_look(context, R32))?;
    assert_compared(&judged, "split");
    Ok(())
}

fn legal_combined() -> Outcome {
    judged(emulate(), |context| combined_look(context, D32))?.assert_untouched("combined depths");
    Ok(())
}

/// A pair that compares, by each path on which both halves meet in one call.
fn look_by_paths(context: &Context, scene: Scene) -> Result<Vec<Option<String>>, Skip> {
    let texture = Texture::new(context, scene)?;
    let desc = SamplerDesc::linear().compare(LESS);
    let (made, at) = (desc.create(context), far_points());
    let pair = [Pair::new(&texture.view, &made).shadow()];
    // Nothing stands in for a sampler that lies in memory.
    let paths = Path::COMBINED.into_iter().filter(|path| *path != Path::DescriptorBuffer);
    let looks = paths.filter_map(|path| Some((path, sample_via(context, path, &pair, &at).ok()?.remove(0))));
    let look = |(path, found): (Path, Vec<Value>)| match scene.format {
        F::D32_SFLOAT => None,
        _ => wrong(&texture, &desc, &found, &at, 1e-5).map(|wrong| format!("{path:?}: {wrong}")),
    };
    Ok(looks.map(look).collect())
}

/// Nothing follows combined descriptors there: those that cannot compare are noted alone.
fn combined_by_default() -> Outcome {
    let judged = judged(Context::builder(), |context| look_by_paths(context, R32))?;
    assert_compared(&judged, "split");
    Ok(())
}

fn legal_combined_by_default() -> Outcome {
    judged(Context::builder(), |context| look_by_paths(context, D32))?.assert_untouched("combined depths");
    Ok(())
}

/// One set shows a colour, then a depth, then the colour again: the depth has the device's own comparison.
fn combined_then_legal() -> Outcome {
    let judged = judged(Context::builder(), |context| {
        let textures = textures(context, [R32, D32])?;
        let desc = SamplerDesc::linear().compare(LESS);
        let (made, at) = (desc.create(context), far_points());
        let all = [0, 1, 0].map(|number: usize| {
            let found = textures[number].through(&made, &at);
            if number == 1 { None } else { wrong(&textures[number], &desc, &found, &at, 1e-5) }
        });
        Ok(all.to_vec())
    })?;
    assert_compared(&judged, "split");
    Ok(())
}

/// Cubes of colours; texels beside edges of their faces are approximate.
fn cubes(shape: scene::Shape) -> Outcome {
    let scene = |scene: Scene| scene.shape(shape).flat();
    let look = |scene: Scene| {
        move |context: &Context| {
            let texture = Texture::new(context, scene)?;
            let made = SamplerDesc::linear().compare(LESS).create(context);
            Ok(texture.through(&made, &scene.points(false)))
        }
    };
    // The same values as depths, compared by the device.
    let (own, _) = without_layer(Context::builder(), look(scene(D32)))?;
    let (got, judged) = with_layer(resolve(emulate()), look(scene(D32)))?;
    assert_eq!(got, own);
    judged.assert_untouched("a cube of depths");
    let (got, judged) = silent(resolve(emulate()), "a cube", look(scene(R32)))?;
    judged.assert_resolved();
    let lost = judged.changes("pair").into_iter().filter(|change| change.catalog == "B-31");
    assert!(lost.into_iter().any(|change| change.lost.starts_with("seam")), "{:#?}", judged.trace);
    let mut inside = [0; 2];
    for ((own, got), point) in own.iter().zip(&got).zip(scene(R32).points(false)) {
        if point.from_middle() > 0.75 {
            continue;
        }
        let (own, got) = (own.components()[0], got.components()[0]);
        inside[usize::from(own > 0.5)] += 1;
        assert!((own - got).abs() <= 0.02, "{got} is not {own} at {point:?}");
    }
    assert!(inside.iter().all(|count| *count > 5) && inside.iter().sum::<u32>() > 30, "{inside:?}");
    Ok(())
}

/// Compares each image of an array, whose elements the shader learns when it runs.
fn look_at_array(context: &Context, sampler: &SamplerDesc, scenes: [Scene; 3]) -> Result<Vec<String>, Skip> {
    skip_if(context.missing(&[Capability::ImageArrayIndexing]))?;
    let textures = Texture::all(context, &scenes)?;
    let made = sampler.create(context);
    let mut slots = vec![Slot::sampler(&made, 1, 0)];
    slots.extend((0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)));
    let held = Held::of(context, &slots);
    let rig = Rig::new(context, &Plan::new(Program::DynamicShadows, ResultKind::Float, &[&held.layout]));
    let mut all = Vec::new();
    for (element, texture) in (0..).zip(&textures) {
        let got = rig.found(&[held.set], &points(), element).remove(0);
        if texture.scene.format != F::D32_SFLOAT {
            all.extend(wrong(texture, sampler, &got, &points(), 1e-5));
            continue;
        }
        let own = texture.through(&made, &points());
        let same = got.iter().zip(&own).all(|(got, own)| got.components()[0] == own.components()[0]);
        all.extend((!same).then(|| "the depth is not the device's".to_owned()));
    }
    Ok(all)
}

/// An array of which the shader compares two elements and the device one; of depths the device compares all.
fn array() -> Outcome {
    let sampler = SamplerDesc::linear().compare(LESS);
    let look = |scenes: [Scene; 3]| {
        with_layer(resolve(Context::builder()), |context| look_at_array(context, &sampler, scenes))
    };
    let (wrong, judged) = look([R32, D32, Scene::colour(F::R16_UNORM)])?;
    assert!(wrong.is_empty(), "{wrong:#?} with {:#?}", judged.trace);
    // Validation sees the comparison of the other element.
    assert!(judged.errors.iter().all(|error| error.id.ends_with("None-06479")), "{:#?}", judged.errors);
    assert_compared(&judged, "split");
    let elements: BTreeSet<_> =
        draws(&judged).iter().map(|record| record["link"]["image"]["element"].as_u64()).collect();
    assert_eq!(elements, [Some(0), Some(2)].into(), "{:#?}", judged.trace);
    let (wrong, judged) = look([D32; 3])?;
    assert!(wrong.is_empty(), "{wrong:#?}");
    judged.assert_silent("depths");
    judged.assert_untouched("depths");
    Ok(())
}

/// A rule that switches the repair off leaves the pair as it is.
fn off() -> Outcome {
    let folder = Folder::new();
    let rule = "version = 1\n[[rule]]\nname = \"leave\"\nset = { repair = \"off\" }\n";
    let sampler = SamplerDesc::linear().compare(LESS);
    let judged = alike(Context::builder().rules(&folder, rule), |context| {
        run(context, (Stage::Compute, Program::Compared), &sampler, &[R32])
    })?;
    assert_passes(&judged, &[]);
    Ok(())
}

/// A shader that compares through a sampler that does not: it is named, and nothing changed. What compares is not named.
fn without_compare_enable() -> Outcome {
    for (sampler, count) in [(SamplerDesc::nearest(), 1), (SamplerDesc::nearest().compare(LESS), 0)] {
        let judged = alike(Context::builder().setting("trace_level", "all"), |context| {
            run(context, (Stage::Compute, Program::Compared), &sampler, &[D32])
        })?;
        let unresolved: Vec<_> = judged.trace.events("unresolved").collect();
        assert_eq!(unresolved.len(), count, "{unresolved:#?}");
        for record in unresolved {
            assert_eq!((&record["rule"], &record["vuid"]), (&"compare".into(), &Json::Null), "{record:#}");
            assert!(record["why"].as_str().is_some_and(|why| why.contains("no compareEnable")), "{record:#}");
            assert_eq!(record["link"]["sampler"]["binding"], 1, "{record:#}");
        }
    }
    Ok(())
}
