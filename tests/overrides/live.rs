//! `live=on`: the rules file is read again while the program runs.

use super::*;
use samplin_testkit::path::{Path as Reach, sample_via};
use std::time::Duration;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("live/separate", || follows(Way::Separate)),
        ("live/combined", || follows(Way::Combined)),
        ("live/after-bind", || follows(Way::AfterBind)),
        ("live/written", written),
        ("live/mistake", mistake),
        ("live/off", off),
        ("live/pulse", || pulse(true)),
        ("live/pulse-of-legal", || pulse(false)),
    ])
}

/// How a set that was written once reaches a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Separate,
    Combined,
    /// Combined, with UPDATE_AFTER_BIND.
    AfterBind,
}

const RULE: &str = "[[rule]]\nname = \"blurred\"\nset = { min_lod = 1 }\n";

/// From one corner to the other.
const MAPPING: Mapping = Mapping {
    origin: [0.0; 4],
    dx: [0.9, 0.0, 0.0, 0.0],
    dy: [0.0, 0.9, 0.0, 0.0],
    divisor: [0.0, 0.0, 1.0],
    reference: 0.0,
    bias: 0.0,
};

/// Rules that the test changes.
fn live(folder: &Folder, text: &str) -> ContextBuilder {
    with_rules(folder, text).setting("live", "on")
}

/// Changes the rules, and submits something when it is time to look at them.
fn retune(context: &Context, folder: &Folder, text: &str) {
    std::fs::write(folder.join("samplin.toml"), text).expect("a rules file");
    std::thread::sleep(Duration::from_millis(300));
    context.submit(|_| ());
}

/// Pictures of a set that was written once: before rules, with one, and without.
fn pictures(context: &Context, way: Way, folder: &Folder) -> Result<(Vec<Vec<Value>>, Vec<Value>), Skip> {
    use vk::DescriptorType as T;
    let scene = Scene::colour(F::R8G8B8A8_UNORM);
    let (_image, view) = scene.shown(context)?;
    let desc = SamplerDesc::trilinear();
    let sampler = desc.clone().create(context);
    // What the application would ask for to see the same.
    let wanted = SamplerDesc { min_lod: 1.0, ..desc }.create(context);
    let types = match way {
        Way::Separate => &[T::SAMPLED_IMAGE, T::SAMPLER][..],
        Way::Combined | Way::AfterBind => &[T::COMBINED_IMAGE_SAMPLER],
    };
    let is_late = way == Way::AfterBind;
    if is_late {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
    }
    let (flags, layout_flags, pool_flags) = match is_late {
        true => (
            vk::DescriptorBindingFlags::UPDATE_AFTER_BIND,
            vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
            vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND,
        ),
        false => Default::default(),
    };
    let binding = |(at, ty): (u32, &T)| {
        let binding = descriptor::Binding::new(at, *ty, 1);
        if is_late { binding.flags(flags) } else { binding }
    };
    let bindings: Vec<_> = (0..).zip(types).map(binding).collect();
    let layout = descriptor::SetLayout::with_flags(context, &bindings, layout_flags);
    let pool = descriptor::Pool::with_flags(context, &[&layout, &layout], pool_flags);
    let sets = [&sampler, &wanted].map(|sampler| {
        let (set, pair) = (pool.allocate(&layout), Pair::new(&view, sampler));
        for (at, ty) in (0..).zip(types) {
            descriptor::write_images(context, set, (at, 0), *ty, &[pair.info()]);
        }
        set
    });
    let pair = Pair::new(&view, &sampler);
    let make = if way == Way::Separate { Painter::of_separate } else { Painter::new };
    let painter = make(context, &layout, pair.shape, pair.kind, [16, 16]).map_err(Skip)?;
    let paint = |set| painter.paint(set, &MAPPING);
    let expected = paint(sets[1]);
    let mut out = vec![paint(sets[0])];
    for text in [RULE, ""] {
        retune(context, folder, text);
        out.push(paint(sets[0]));
    }
    Ok((out, expected))
}

/// What is drawn follows the rules file.
fn follows(way: Way) -> Outcome {
    let folder = Folder::new();
    let ((pictures, expected), judged) =
        silent(live(&folder, ""), "rules that change", |context| pictures(context, way, &folder))?;
    assert_no_problem(&judged);
    assert_ne!(pictures[0], expected, "the rule would change nothing");
    assert_eq!(pictures[1], expected, "the rule is not followed: {way:?}");
    assert_eq!(pictures[2], pictures[0], "its end is not followed: {way:?}");
    retuned(&judged);
    for record in judged.trace.events("retune") {
        let wanted = if way == Way::AfterBind { 1 } else { 0 };
        assert_eq!((&record["reissued"], &record["kept"]), (&wanted.into(), &serde_json::json!({})), "{record:#}");
    }
    Ok(())
}

/// That two changes are recorded: the rule comes and goes.
fn retuned(judged: &Judged) {
    let told: Vec<_> = judged.trace.events("retune").collect();
    let wanted = [(1, vec!["blurred"], vec![]), (2, vec![], vec!["blurred"])];
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (record, (generation, rules, gone)) in told.iter().zip(wanted) {
        assert_eq!(record["generation"], generation, "{record:#}");
        assert_eq!((&record["rules"], &record["gone"]), (&serde_json::json!(rules), &serde_json::json!(gone)));
        assert!(record["states"].as_u64() > Some(0), "{record:#}");
    }
}

/// Samples a pair with descriptors that are written, or pushed, anew.
fn read(context: &Context, reach: Reach, pair: Pair<'_, '_>) -> Result<Vec<Value>, Skip> {
    let points = Scene::colour(F::R8G8B8A8_UNORM).points(false);
    Ok(sample_via(context, reach, &[pair], &points).map_err(Skip)?.remove(0))
}

/// Descriptors that are written or pushed later follow, for one sampler.
fn written() -> Outcome {
    let folder = Folder::new();
    let (all, judged) = silent(live(&folder, ""), "descriptors that come later", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
        let desc = SamplerDesc::trilinear();
        let (sampler, wanted) = (desc.clone().create(context), SamplerDesc { min_lod: 1.0, ..desc }.create(context));
        let reaches = [Reach::Update, Reach::Template, Reach::Push, Reach::Separate];
        let mut all = Vec::new();
        for text in ["", RULE, ""] {
            retune(context, &folder, text);
            for reach in reaches {
                let of = |sampler| read(context, reach, Pair::new(&view, sampler));
                all.push((text, reach, of(&sampler)?, of(&wanted)?));
            }
        }
        Ok(all)
    })?;
    assert_no_problem(&judged);
    for (text, reach, got, wanted) in &all {
        assert_eq!(got == wanted, !text.is_empty(), "{reach:?} with {text:?}");
    }
    retuned(&judged);
    Ok(())
}

/// A file with a mistake changes nothing, and its line is recorded.
fn mistake() -> Outcome {
    let folder = Folder::new();
    let (all, judged) = silent(live(&folder, RULE), "a mistake in the rules", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let mut all = Vec::new();
        for text in [RULE, "[[rule]]\nset = { min_lod = 2 }\n[[rule]]\nset = { min_lud = 2 }\n"] {
            retune(context, &folder, text);
            all.push(read(context, Reach::Update, Pair::new(&view, &sampler))?);
        }
        Ok(all)
    })?;
    assert_eq!(all[0], all[1]);
    let problems: Vec<_> = judged.trace.events("settings").map(|record| record["line"].as_u64()).collect();
    assert_eq!(problems, [Some(4)]);
    assert_eq!(judged.trace.events("retune").count(), 0);
    Ok(())
}

/// Without the setting nothing follows, and nothing is intercepted for it.
fn off() -> Outcome {
    let folder = Folder::new();
    let (all, judged) = silent(with_rules(&folder, ""), "rules that stay", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let mut all = Vec::new();
        for text in ["", RULE] {
            retune(context, &folder, text);
            all.push(read(context, Reach::Update, Pair::new(&view, &sampler))?);
        }
        Ok(all)
    })?;
    assert_eq!(all[0], all[1]);
    assert_eq!(judged.trace.events("retune").count(), 0);
    let devices: Vec<_> = judged.trace.events("device").collect();
    assert!(!devices[0]["intercepts"].to_string().contains("vkQueueSubmit"), "{:#}", devices[0]["intercepts"]);
    assert_eq!(judged.trace.events("pulse").count(), 0);
    Ok(())
}

/// With `pulse=on` draws are counted when they are submitted, and those that read a sampler of the layer's own apart.
fn pulse(is_repaired: bool) -> Outcome {
    const DRAWS: u64 = 3;
    let folder = Folder::new();
    let builder = with_rules(&folder, if is_repaired { RULE } else { "" }).setting("pulse", "on");
    let (_, judged) = silent(builder, "a pulse", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let pair = Pair::new(&view, &sampler);
        let binding = descriptor::Binding::new(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 1);
        let layout = descriptor::SetLayout::new(context, &[binding]);
        let pool = descriptor::Pool::new(context, &[&layout]);
        let set = pool.allocate(&layout);
        descriptor::write_images(context, set, (0, 0), vk::DescriptorType::COMBINED_IMAGE_SAMPLER, &[pair.info()]);
        let painter = Painter::new(context, &layout, pair.shape, pair.kind, [16, 16]).map_err(Skip)?;
        (0..DRAWS).for_each(|_| _ = painter.paint(set, &MAPPING));
        std::thread::sleep(Duration::from_millis(1100));
        context.submit(|_| ());
        Ok(())
    })?;
    let pulses: Vec<_> = judged.trace.events("pulse").collect();
    let last = pulses.last().expect("a second has passed");
    let repaired = if is_repaired { DRAWS } else { 0 };
    assert_eq!((&last["draws"], &last["repaired"]), (&DRAWS.into(), &repaired.into()), "{last:#}");
    assert!(last["headroom"]["maxSamplerAllocationCount"].as_u64() > Some(0), "{last:#}");
    Ok(())
}
