//! Where sampler and view do not meet in one call: immutable samplers, separate samplers, and views that no sampler can suit.
//!
//! Immutable samplers of pairs and such views are left as they are and told once as `unresolved`, as separate samplers are with
//! `separate=base`; a sampler that is illegal by itself is repaired here too.

use crate::run::{self, Judged, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk::{self, Handle};
use libtest_mimic::Trial;
use samplin_suite::case::{assert_reported, assert_same, reported};
use samplin_testkit::descriptor::{
    Binding, Pool, SetLayout, Spelling, Template, TemplateData, push, write_combined, write_images,
};
use samplin_testkit::shader::{Access, Bind, Op};
use samplin_testkit::{
    Capability, Context, Held, Pair, Path, Probe, SamplePoint, SamplerDesc, Slot, Texture, sample, sample_via,
};

const UINT: Scene = Scene::colour(vk::Format::R32_UINT);
const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);
const COMBINED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("immutable/conflict-is-told-once", immutable_conflict),
        ("immutable/conflict-in-an-array", immutable_array),
        ("immutable/conflict-by-template", immutable_template),
        ("immutable/conflict-by-push", immutable_push),
        ("immutable/legal-pair-is-not-told", immutable_legal),
        ("immutable/sampler-alone-is-repaired", immutable_alone),
        ("immutable/set-handle-used-again", || handle_again(false)),
        ("immutable/freed-set", || handle_again(true)),
        ("separate/told-once", separate),
        ("separate/sampler-alone-is-repaired", separate_alone),
        ("separate/immutable", separate_immutable),
        ("unresolved/unnormalized-3d", unnormalized_3d),
        ("unresolved/unnormalized-levels", unnormalized_levels),
        ("unresolved/unnormalized-fetched", unnormalized_fetched),
        ("unresolved/comparison", comparison),
    ])
}

/// A `sampler` member that nobody may look at.
fn garbage() -> vk::Sampler {
    vk::Sampler::from_raw(0x0bad_0bad_0bad)
}

/// The `unresolved` records, of which each has to be about `what` and `rule`.
fn assert_unresolved(judged: &Judged, what: &str, rule: Option<&str>, count: usize) {
    let records: Vec<_> = judged.trace.events("unresolved").collect();
    assert_eq!(records.len(), count, "{records:#?}");
    for record in records {
        assert_eq!((record["what"].as_str(), record["rule"].as_str()), (Some(what), rule), "{record:#}");
        assert!(record["why"].as_str().is_some_and(|why| !why.is_empty()), "{record:#}");
    }
    assert_eq!(judged.trace.events("pair").count(), 0);
    let summary = judged.summary();
    assert_eq!(summary["variants"]["created"], 0, "{summary:#}");
    for (path, counts) in summary["writes"].as_object().expect("counts by path") {
        assert_eq!(counts["rewritten"], 0, "{path} in {summary:#}");
    }
}

/// Runs `body`, in which nothing is executed, without samplin and with it: validation reports `ids` both times, because samplin
/// lets the pair through.
fn passed_through(ids: &[&str], body: impl Fn(&Context) -> Outcome) -> Result<Judged, Skip> {
    reported(Context::builder().record_only(), ids, &body)?;
    let ((), judged) = with_layer(Context::builder().record_only(), &body)?;
    assert_reported(&judged.errors, ids, "with samplin");
    Ok(judged)
}

// --- immutable samplers ---------------------------------------------------------------------------------------------

/// Written twice to two sets; named; the sampler of the writes is garbage.
fn immutable_conflict() -> Outcome {
    let judged = passed_through(&["magFilter-04553"], |context| {
        let (_image, view) = UINT.shown(context)?;
        context.set_name(view.handle(), "numbers");
        let sampler = SamplerDesc::linear().named("immutable").create(context);
        let layout = SetLayout::new(context, &[Binding::combined(3, 1).immutable(&[&sampler])]);
        let pool = Pool::new(context, &[&layout, &layout]);
        let pair = Pair::new(&view, &sampler);
        for set in [pool.allocate(&layout), pool.allocate(&layout)] {
            for sampler in [garbage(), vk::Sampler::null()] {
                write_images(context, set, (3, 0), COMBINED, &[vk::DescriptorImageInfo { sampler, ..pair.info() }]);
            }
            Probe::read(&pair, (&layout, set), Access::Single { binding: 3 }, &UINT.points(false));
        }
        Ok(())
    })?;
    assert_unresolved(&judged, "immutable sampler", Some("linear-filter"), 1);
    let record = judged.trace.first("unresolved");
    assert_eq!(record["names"], serde_json::json!({"sampler": "immutable", "view": "numbers"}));
    assert_eq!(record["format"], "VK_FORMAT_R32_UINT");
    assert!(record["vuid"].as_str().is_some_and(|vuid| vuid.ends_with("magFilter-04553")), "{record:#}");
    assert_eq!(judged.summary()["writes"]["update"]["seen"], 4);
    Ok(())
}

/// An array of three immutable samplers, of which one conflicts, written in parts and over two bindings.
fn immutable_array() -> Outcome {
    let judged = passed_through(&["magFilter-04553"], |context| {
        let (_image, view) = UINT.shown(context)?;
        let (nearest, linear) = (SamplerDesc::nearest().create(context), SamplerDesc::linear().create(context));
        let layout = SetLayout::new(
            context,
            &[Binding::combined(0, 1).immutable(&[&nearest]), Binding::combined(4, 2).immutable(&[&linear, &nearest])],
        );
        let (_pool, set) = Pool::set(context, &layout);
        let pair = Pair::new(&view, &nearest);
        let info = vk::DescriptorImageInfo { sampler: garbage(), ..pair.info() };
        write_images(context, set, (0, 0), COMBINED, &[info; 3]);
        write_images(context, set, (4, 1), COMBINED, &[info]);
        Probe::read(&pair, (&layout, set), Access::Array { binding: 4, count: 2, element: 0 }, &UINT.points(false));
        Ok(())
    })?;
    assert_unresolved(&judged, "immutable sampler", Some("linear-filter"), 1);
    Ok(())
}

/// One immutable and one dynamic binding in one template: the first is told, the second repaired.
fn immutable_template() -> Outcome {
    let body = |context: &Context, looks_at: u32| {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        let (_image, view) = UINT.shown(context)?;
        let sampler = SamplerDesc::linear().create(context);
        let layout =
            SetLayout::new(context, &[Binding::combined(0, 1).immutable(&[&sampler]), Binding::combined(1, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        let pair = Pair::new(&view, &sampler);
        let infos = [vk::DescriptorImageInfo { sampler: garbage(), ..pair.info() }, pair.info()];
        let entry = |binding, offset| Slot::pair(&view, &sampler, binding, 0).entry(offset);
        let template = Template::for_set(context, Spelling::Core, &layout, &[entry(0, 4), entry(1, 34)]);
        template.update(set, &TemplateData::pack(&infos, 4, 30));
        Probe::read(&pair, (&layout, set), Access::Single { binding: looks_at }, &UINT.points(false));
        Ok(())
    };
    let ((), judged) = with_layer(Context::builder().record_only(), |context| body(context, 0))?;
    assert_reported(&judged.errors, &["magFilter-04553"], "the immutable one");
    let ((), judged) = silent(Context::builder(), "the dynamic one", |context| body(context, 1))?;
    assert_eq!(judged.summary()["writes"]["template"], serde_json::json!({"seen": 2, "rewritten": 1}));
    assert_eq!(judged.left(), ["immutable sampler"]);
    assert_eq!(judged.trace.events("pair").count(), 1);
    Ok(())
}

/// Pushed: the layout is the one that the command names.
fn immutable_push() -> Outcome {
    let judged = passed_through(&["magFilter-04553"], |context| {
        skip_if(Path::Push.missing(context))?;
        let (_image, view) = UINT.shown(context)?;
        let sampler = SamplerDesc::linear().create(context);
        let layout = SetLayout::pushed(context, &[Binding::combined(0, 1).immutable(&[&sampler])]);
        let pair = Pair::new(&view, &sampler);
        let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, Access::Single { binding: 0 });
        let infos = [vk::DescriptorImageInfo { sampler: garbage(), ..pair.info() }];
        let writes = [vk::WriteDescriptorSet::default().descriptor_type(COMBINED).image_info(&infos)];
        probe.run(&Bind::Push(&|commands, layout| push(context, commands, layout, &writes)), &UINT.points(false));
        Ok(())
    })?;
    assert_unresolved(&judged, "immutable sampler", Some("linear-filter"), 1);
    assert_eq!(judged.summary()["writes"]["push"]["seen"], 1);
    Ok(())
}

/// An immutable sampler that suits its view, next to garbage that nobody looks at.
fn immutable_legal() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let shown = Texture::new(context, RGBA8)?;
        let desc = SamplerDesc::trilinear();
        let sampler = desc.create(context);
        // One that would conflict, so that the layer has reason to look.
        let _numbers = Texture::new(context, UINT)?;
        let held = Held::of(context, &[shown.pair(&sampler, 0, 0).fixed()]);
        let pair = Pair::new(&shown.view, &sampler);
        let info = vk::DescriptorImageInfo { sampler: garbage(), ..pair.info() };
        write_images(context, held.set, (0, 0), COMBINED, &[info]);
        let points = RGBA8.points(false);
        let got = Probe::read(&pair, (&held.layout, held.set), Access::Single { binding: 0 }, &points);
        assert_same(&got, &shown.wanted(&desc, &points), &desc, &RGBA8, "an immutable sampler");
        Ok(())
    })?;
    judged.assert_untouched("an immutable sampler");
    Ok(())
}

/// An immutable sampler that is illegal by itself is repaired when it is created.
fn immutable_alone() -> Outcome {
    let legal = SamplerDesc::linear().lod(0.25, 1.75);
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let shown = Texture::new(context, RGBA8)?;
        let sampler = SamplerDesc::linear().lod(1.75, 0.25).create(context);
        let points = RGBA8.points(false);
        let pair = Pair::new(&shown.view, &sampler);
        let got = sample_via(context, Path::Immutable, &[pair], &points).map_err(Skip)?;
        assert_same(&got[0], &shown.wanted(&legal, &points), &legal, &RGBA8, "an immutable sampler");
        Ok(())
    })?;
    assert_eq!(judged.changes("sampler").len(), 2);
    judged.assert_resolved();
    Ok(())
}

/// A pool that held a set with an immutable sampler is reset or gone, or the set is freed; the next set, likely with the same handle, is a
/// dynamic one, whose pair is repaired.
fn handle_again(frees: bool) -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let (_image, view) = UINT.shown(context)?;
        let (sampler, nearest) = (SamplerDesc::linear().create(context), SamplerDesc::nearest().create(context));
        let (pair, points) = (Pair::new(&view, &sampler), UINT.points(false));
        let wanted = sample(context, Pair { sampler: &nearest, ..pair }, &points);
        let fixed = SetLayout::new(context, &[Binding::combined(0, 1).immutable(&[&sampler])]);
        let dynamic = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let assert_repaired = |pool: &Pool<'_>| {
            let set = pool.allocate(&dynamic);
            write_combined(context, set, (0, 0), &[pair]);
            let got = Probe::read(&pair, (&dynamic, set), Access::Single { binding: 0 }, &points);
            assert_eq!(got, wanted, "a dynamic pair was not repaired");
        };
        let pool = Pool::new(context, &[&fixed]);
        if frees {
            // Null sets are ignored.
            pool.free(&[vk::DescriptorSet::null(), pool.allocate(&fixed)]);
            assert_repaired(&pool);
            return Ok(());
        }
        for _ in 0..3 {
            pool.allocate(&fixed);
            pool.reset();
            assert_repaired(&pool);
            pool.reset();
        }
        // The pool itself goes, and another takes its place.
        drop(pool);
        assert_repaired(&Pool::new(context, &[&dynamic]));
        Ok(())
    })?;
    judged.assert_resolved();
    Ok(())
}

// --- separate samplers ----------------------------------------------------------------------------------------------

fn sample_separately(context: &Context, path: Path, scene: Scene, sampler: &SamplerDesc, times: usize) -> Outcome {
    let (_image, view) = scene.shown(context)?;
    let sampler = sampler.create(context);
    let pairs = vec![Pair::new(&view, &sampler); times];
    sample_via(context, path, &pairs, &scene.points(false)).map_err(Skip)?;
    Ok(())
}

/// The pair exists in the shader only, where validation finds it: repaired for each pipeline that joins it, and told once; so it is with
/// `separate=base`, where it is left. What was judged there.
fn joined(path: Path, times: usize, how: &str) -> Result<Judged, Skip> {
    let body = |context: &Context| sample_separately(context, path, UINT, &SamplerDesc::linear(), times);
    let ids = &["magFilter-04553"];
    reported(Context::builder().record_only(), ids, body)?;
    let ((), judged) = silent(Context::builder(), "with samplin", body)?;
    // Once for a link and a class, however many pipelines join them alike.
    assert_joined(&judged, how, 1);
    let ((), judged) = with_layer(Context::builder().setting("separate", "base").record_only(), body)?;
    assert_reported(&judged.errors, ids, "with samplin, separate=base");
    Ok(judged)
}

fn separate() -> Outcome {
    assert_unresolved(&joined(Path::Separate, 3, "shadow")?, "separate samplers", None, 1);
    Ok(())
}

/// What is wrong with the sampler itself is repaired in any case; the pair is legal then.
fn separate_alone() -> Outcome {
    for (word, left) in [("resolve", 0), ("base", 1)] {
        let ((), judged) = silent(Context::builder().setting("separate", word), "with samplin", |context| {
            sample_separately(context, Path::Separate, RGBA8, &SamplerDesc::linear().lod(3.0, 1.0), 1)
        })?;
        assert_eq!(judged.changes("sampler").len(), 2);
        assert_unresolved(&judged, "separate samplers", None, left);
    }
    Ok(())
}

/// An immutable sampler in a SAMPLER binding is never written: the shader reads another one.
fn separate_immutable() -> Outcome {
    let judged = joined(Path::SeparateImmutable, 1, "split")?;
    assert_eq!(judged.trace.events("pair").count(), 0);
    assert_eq!(judged.summary()["variants"]["created"], 0);
    Ok(())
}

/// The `pair` records are `count` of pairs that a shader joins, all repaired in the same way, and nothing is left.
fn assert_joined(judged: &Judged, how: &str, count: usize) {
    let records: Vec<_> = judged.trace.events("pair").map(|record| (&record["path"], &record["how"])).collect();
    assert_eq!(records, vec![(&"draw".into(), &how.into()); count]);
    judged.assert_resolved();
}

// --- views that no sampler suits ------------------------------------------------------------------------------------

/// Unnormalized coordinates need a 1D or 2D view (B-40) where a shader samples through them, which is known where combined descriptors
/// are followed. Older validation layers do not see it.
fn unnormalized_3d() -> Outcome {
    let scene = RGBA8.shape(Shape::D3).flat();
    let body = |context: &Context| {
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::unnormalized(vk::Filter::NEAREST).create(context);
        let pair = Pair::new(&view, &sampler);
        sample(context, pair, &scene.points(true));
        sample(context, pair, &scene.points(true));
        Ok(())
    };
    let ((), errors) = without_layer(Context::builder().record_only(), body)?;
    let ids: &[&str] = if errors.is_empty() { &[] } else { &["None-08609"] };
    assert_reported(&errors, ids, "without samplin");
    // Combined descriptors are followed from the first sampler with unnormalized coordinates on, and the shader divides.
    let ((), judged) = with_layer(Context::builder().record_only(), body)?;
    assert_reported(&judged.errors, ids, "with samplin");
    judged.assert_resolved();
    let changes: Vec<_> = judged.changes("pair").into_iter().map(|change| (change.catalog, change.field)).collect();
    assert_eq!(changes, [("S-5".to_owned(), "unnormalizedCoordinates".to_owned())]);
    // Where shaders do not divide coordinates.
    let follows = Context::builder().setting("unfilterable", "emulate").setting("unnormalized", "base");
    let ((), judged) = with_layer(follows.record_only(), body)?;
    assert_reported(&judged.errors, ids, "with samplin, which follows pairs");
    // Each call makes a pipeline of its own, and one record tells of a state and a view class.
    assert_unresolved(&judged, "pair", Some("unnormalized"), 1);
    let record = judged.only_left();
    assert_eq!(record["vuid"], "VUID-vkCmdDraw-None-08609");
    assert!(record["link"]["uses"].as_array().is_some_and(|uses| uses.contains(&"combined".into())), "{record:#}");
    Ok(())
}

/// Unnormalized coordinates need a view of one level (B-41) too; a descriptor that nothing reads breaks no rule.
fn unnormalized_levels() -> Outcome {
    for setting in ["nearest", "emulate"] {
        let ((), judged) =
            silent(Context::builder().setting("unfilterable", setting), "a descriptor that nothing uses", |context| {
                written(context, RGBA8, &SamplerDesc::unnormalized(vk::Filter::NEAREST))
            })?;
        assert_unresolved(&judged, "pair", Some("unnormalized"), 0);
    }
    Ok(())
}

/// A shader that only fetches texels never looks at the sampler of a pair.
fn unnormalized_fetched() -> Outcome {
    let scene = RGBA8.shape(Shape::D3);
    for setting in ["nearest", "emulate"] {
        let (found, judged) = with_layer(Context::builder().setting("unfilterable", setting), |context| {
            let (image, view) = scene.shown(context)?;
            let sampler = SamplerDesc::unnormalized(vk::Filter::NEAREST).create(context);
            let held = Held::of(context, &[Slot::pair(&view, &sampler, 0, 0)]);
            let pair = Pair { op: Op::Fetch, ..Pair::new(&view, &sampler) };
            let texels = image.read(vk::ImageAspectFlags::COLOR, 0, 0);
            let points = [SamplePoint::at(0.0, 0.0, 0.0), SamplePoint::at(1.0, 0.0, 0.0)];
            let found = Probe::read(&pair, (&held.layout, held.set), Access::Single { binding: 0 }, &points);
            Ok((found, texels))
        })?;
        for (found, texel) in found.0.iter().zip(&found.1) {
            let near = found.components().iter().zip(texel.components()).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(near, "unfilterable={setting}: {found:?} is not {texel:?}");
        }
        judged.assert_silent("fetched from");
        judged.assert_untouched("fetched from");
    }
    Ok(())
}

/// Writes one descriptor of both, which nothing reads.
fn written(context: &Context, scene: Scene, sampler: &SamplerDesc) -> Outcome {
    let (_image, view) = scene.shown(context)?;
    let sampler = sampler.create(context);
    Held::of(context, &[Slot::pair(&view, &sampler, 0, 0)]);
    Ok(())
}

/// Views that cannot be compared keep a sampler that compares, because a shader may: where nothing is seen of draws it is named (B-33,
/// B-35), and depths are not.
fn comparison() -> Outcome {
    use vk::Format as F;
    let (nearest, linear) = (SamplerDesc::nearest(), SamplerDesc::linear());
    for (scene, sampler, vuid) in [
        (RGBA8, &nearest, "VUID-vkCmdDraw-None-06479".into()),
        (UINT, &linear, "VUID-vkCmdDraw-None-06479".into()),
        (Scene::stencil(F::D32_SFLOAT_S8_UINT), &nearest, serde_json::Value::Null),
    ] {
        let sampler = sampler.clone().compare(vk::CompareOp::LESS);
        let base = Context::builder().setting("separate", "base");
        let ((), judged) = silent(base, "a descriptor that nothing uses", |context| written(context, scene, &sampler))?;
        assert_unresolved(&judged, "pair", Some("compare"), 1);
        let record = judged.only_left();
        assert_eq!(record["vuid"], vuid, "{record:#}");
        let depths = Scene::depth(F::D32_SFLOAT);
        let ((), judged) = silent(Context::builder(), "depths", |context| written(context, depths, &sampler))?;
        judged.assert_untouched("depths");
    }
    Ok(())
}
