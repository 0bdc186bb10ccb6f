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
        ("live/separate-after-bind", || follows(Way::SeparateAfterBind)),
        ("live/table-after-bind", || follows(Way::Table)),
        ("live/shared-after-bind", || stays(&SHARED)),
        ("live/other-needs-after-bind", || stays(&OTHER_NEEDS)),
        ("live/unused-while-pending", || stays(&UNUSED)),
        ("live/pending", pending),
        ("live/written", written),
        ("live/mistake", mistake),
        ("live/off", off),
        ("live/kept-immutable", || kept_of(RULE, Some("immutable-sampler"))),
        ("live/kept-pipeline", || kept_of("[[rule]]\nset = { sample_shading = 1.0 }\n", Some("pipeline"))),
        ("live/other-immutable", || {
            kept_of("[[rule]]\nwhen = { mag_filter = \"nearest\" }\nset = { min_lod = 1 }\n", None)
        }),
        ("live/pulse", || pulse(true, false)),
        ("live/pulse-of-pushes", || pulse(true, true)),
        ("live/pulse-of-legal", || pulse(false, false)),
        ("live/pulse-of-legal-pushes", || pulse(false, true)),
    ])
}

/// How a set that was written once reaches a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Separate,
    Combined,
    /// Combined, with UPDATE_AFTER_BIND.
    AfterBind,
    /// Separate, with UPDATE_AFTER_BIND, without shaders that look samplers up.
    SeparateAfterBind,
    /// The same, where the shader looks up which sampler suits the image.
    Table,
}

type Flags = vk::DescriptorBindingFlags;

/// A set that is written once, with a picture of what it shows.
struct Set<'c> {
    layout: descriptor::SetLayout<'c>,
    pool: descriptor::Pool<'c>,
    types: &'static [vk::DescriptorType],
}

impl<'c> Set<'c> {
    /// Room for two sets with one of each of `types`, whose bindings have `flags`.
    fn new(context: &'c Context, is_separate: bool, flags: Flags) -> Self {
        use vk::DescriptorType as T;
        let types = if is_separate { &[T::SAMPLED_IMAGE, T::SAMPLER][..] } else { &[T::COMBINED_IMAGE_SAMPLER] };
        let bindings: Vec<_> =
            (0..).zip(types).map(|(at, ty)| descriptor::Binding::new(at, *ty, 1).flags(flags)).collect();
        let layout = descriptor::SetLayout::new(context, &bindings);
        let pool = descriptor::Pool::new(context, &[&layout, &layout]);
        Self { layout, pool, types }
    }

    fn written(&self, context: &Context, pair: &Pair<'_, '_>) -> vk::DescriptorSet {
        let set = self.pool.allocate(&self.layout);
        for (at, ty) in (0..).zip(self.types) {
            descriptor::write_images(context, set, (at, 0), *ty, &[pair.info()]);
        }
        set
    }

    fn painter(&self, context: &'c Context, pair: &Pair<'_, '_>) -> Result<Painter<'c>, Skip> {
        let make = if self.types.len() > 1 { Painter::of_separate } else { Painter::new };
        make(context, &self.layout, pair.shape, pair.kind, [16, 16]).map_err(Skip)
    }
}

impl Way {
    fn is_late(self) -> bool {
        matches!(self, Self::AfterBind | Self::SeparateAfterBind | Self::Table)
    }

    /// Whether samplin writes the descriptor again.
    fn is_rewritten(self) -> bool {
        matches!(self, Self::AfterBind | Self::SeparateAfterBind)
    }
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
    let scene = Scene::colour(F::R8G8B8A8_UNORM);
    let (_image, view) = scene.shown(context)?;
    let desc = SamplerDesc::trilinear();
    let sampler = desc.clone().create(context);
    // What the application would ask for to see the same.
    let wanted = SamplerDesc { min_lod: 1.0, ..desc }.create(context);
    let flags = if way.is_late() { Flags::UPDATE_AFTER_BIND } else { Flags::empty() };
    if way.is_late() {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
    }
    let set = Set::new(context, !matches!(way, Way::Combined | Way::AfterBind), flags);
    let sets = [&sampler, &wanted].map(|sampler| set.written(context, &Pair::new(&view, sampler)));
    let painter = set.painter(context, &Pair::new(&view, &sampler))?;
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
    let builder = live(&folder, "").setting("bindless", if way == Way::Table { "resolve" } else { "name" });
    let ((pictures, expected), judged) =
        silent(builder, "rules that change", |context| pictures(context, way, &folder))?;
    assert_no_problem(&judged);
    assert!(pictures[0] != expected, "the rule would change nothing");
    assert!(pictures[1] == expected, "the rule is not followed: {way:?}");
    assert!(pictures[2] == pictures[0], "its end is not followed: {way:?}");
    retuned(&judged);
    for record in judged.trace.events("retune") {
        let wanted = u64::from(way.is_rewritten());
        assert_eq!((&record["reissued"], &record["kept"]), (&wanted.into(), &serde_json::json!({})), "{record:#}");
    }
    Ok(())
}

/// A sampler apart from its image that does not follow a rule.
struct Stays {
    flags: Flags,
    rule: &'static str,
    desc: fn() -> SamplerDesc,
    /// The format of an image that is read with it as well.
    other: Option<F>,
    /// What the record says of it.
    kept: fn() -> Json,
}

/// Its images ask for different samplers.
const SHARED: Stays = Stays {
    flags: Flags::UPDATE_AFTER_BIND,
    rule: "[[rule]]\nname = \"blurred\"\nwhen = { format = \"R8G8B8A8_UNORM\" }\nset = { min_lod = 1 }\n",
    desc: SamplerDesc::trilinear,
    other: Some(F::B8G8R8A8_UNORM),
    kept: || serde_json::json!({ "shared-sampler": 1 }),
};

/// The other one filters, so that an image may come later which it must not be read with.
const OTHER_NEEDS: Stays = Stays {
    flags: Flags::UPDATE_AFTER_BIND,
    rule: "[[rule]]\nname = \"blurred\"\nset = { mag_filter = \"LINEAR\" }\n",
    desc: SamplerDesc::nearest,
    other: None,
    kept: || serde_json::json!({ "update-after-bind": 1 }),
};

/// The flag exempts descriptors alone that no command buffer uses.
const UNUSED: Stays = Stays {
    flags: Flags::UPDATE_UNUSED_WHILE_PENDING,
    rule: RULE,
    desc: SamplerDesc::trilinear,
    other: None,
    kept: || serde_json::json!({}),
};

/// What is drawn stays as it was.
fn stays(how: &Stays) -> Outcome {
    let folder = Folder::new();
    let builder = live(&folder, "").setting("bindless", "name");
    let (pictures, judged) = silent(builder, "a sampler that stays", |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let (_image, view) = Scene::colour(F::R8G8B8A8_UNORM).shown(context)?;
        let sampler = (how.desc)().create(context);
        let pair = Pair::new(&view, &sampler);
        let set = Set::new(context, true, how.flags);
        let painter = set.painter(context, &pair)?;
        let own = set.written(context, &pair);
        let mut out = vec![painter.paint(own, &MAPPING)];
        if let Some(format) = how.other {
            let (_image, other) = Scene::colour(format).shown(context)?;
            let write = |pair: Pair<'_, '_>| {
                descriptor::write_images(context, own, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[pair.info()]);
            };
            write(Pair::new(&other, &sampler));
            painter.paint(own, &MAPPING);
            write(pair);
            painter.paint(own, &MAPPING);
        }
        retune(context, &folder, how.rule);
        out.push(painter.paint(own, &MAPPING));
        Ok(out)
    })?;
    assert!(pictures[0] == pictures[1], "the picture has changed");
    let told: Vec<_> = judged.trace.events("retune").collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!((&told[0]["reissued"], &told[0]["kept"]), (&0.into(), &(how.kept)()), "{:#}", told[0]);
    Ok(())
}

/// While something is pending that may read the descriptor, it stays; then it follows.
fn pending() -> Outcome {
    let folder = Folder::new();
    let builder = live(&folder, "").setting("bindless", "name");
    let (pictures, judged) = silent(builder, "a descriptor in use", |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let (_image, view) = Scene::colour(F::R8G8B8A8_UNORM).shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let pair = Pair::new(&view, &sampler);
        let set = Set::new(context, true, Flags::UPDATE_AFTER_BIND);
        let painter = set.painter(context, &pair)?;
        let own = set.written(context, &pair);
        let before = painter.paint(own, &MAPPING);
        held_up(context, || retune_later(context, &folder, RULE));
        retune_later(context, &folder, RULE);
        Ok([before, painter.paint(own, &MAPPING)])
    })?;
    assert!(pictures[0] != pictures[1], "the rule is not followed");
    let told: Vec<_> = judged.trace.events("retune").collect();
    let of = |record: &Json| ["generation", "reissued", "kept"].map(|name| record[name].clone());
    let wanted = [serde_json::json!([1, 0, { "pending": 1 }]), serde_json::json!([1, 1, {}])];
    assert_eq!(told.len(), 2, "{told:#?}");
    told.iter().zip(wanted).for_each(|(record, wanted)| assert_eq!(serde_json::json!(of(record)), wanted));
    Ok(())
}

/// Changes the rules, and submits nothing when it is time to look at them, without waiting for what is pending.
fn retune_later(context: &Context, folder: &Folder, text: &str) {
    std::fs::write(folder.join("samplin.toml"), text).expect("a rules file");
    std::thread::sleep(Duration::from_millis(300));
    // SAFETY: nobody else uses the queue.
    unsafe { context.device().queue_submit(context.queue(), &[], vk::Fence::null()) }.expect("vkQueueSubmit");
}

/// Calls `with` while a submission is pending, which waits for a semaphore.
fn held_up(context: &Context, with: impl FnOnce()) {
    let (device, queue) = (context.device(), context.queue());
    let mut of = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut of);
    // SAFETY: the semaphore is this function's own, nobody else uses the queue, and it is idle in the end.
    unsafe {
        let semaphore = device.create_semaphore(&info, None).expect("vkCreateSemaphore");
        let (semaphores, values, stages) = ([semaphore], [1], [vk::PipelineStageFlags::ALL_COMMANDS]);
        let mut waits = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
        let submit = vk::SubmitInfo::default().wait_semaphores(&semaphores).wait_dst_stage_mask(&stages);
        device.queue_submit(queue, &[submit.push_next(&mut waits)], vk::Fence::null()).expect("vkQueueSubmit");
        with();
        let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
        device.signal_semaphore(&signal).expect("vkSignalSemaphore");
        device.queue_wait_idle(queue).expect("vkQueueWaitIdle");
        device.destroy_semaphore(semaphore, None);
    }
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

/// A sampler that reads the same after each of two texts of the rules.
fn reads_the_same(builder: ContextBuilder, folder: &Folder, what: &str, texts: [&str; 2]) -> Result<Judged, Skip> {
    let (all, judged) = silent(builder, what, |context| {
        let (_image, view) = Scene::colour(F::R8G8B8A8_UNORM).shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let read_after = |text| {
            retune(context, folder, text);
            read(context, Reach::Update, Pair::new(&view, &sampler))
        };
        Ok([read_after(texts[0])?, read_after(texts[1])?])
    })?;
    assert_eq!(all[0], all[1]);
    Ok(judged)
}

/// A file with a mistake changes nothing, and its line is recorded.
fn mistake() -> Outcome {
    let folder = Folder::new();
    let texts = [RULE, "[[rule]]\nset = { min_lod = 2 }\n[[rule]]\nset = { min_lud = 2 }\n"];
    let judged = reads_the_same(live(&folder, RULE), &folder, "a mistake in the rules", texts)?;
    let problems: Vec<_> = judged.trace.events("settings").map(|record| record["line"].as_u64()).collect();
    assert_eq!(problems, [Some(4)]);
    assert_eq!(judged.trace.events("retune").count(), 0);
    Ok(())
}

/// Without the setting nothing follows, and nothing is intercepted for it.
fn off() -> Outcome {
    let folder = Folder::new();
    let judged = reads_the_same(with_rules(&folder, ""), &folder, "rules that stay", ["", RULE])?;
    assert_eq!(judged.trace.events("retune").count(), 0);
    let devices: Vec<_> = judged.trace.events("device").collect();
    assert!(!devices[0]["intercepts"].to_string().contains("vkQueueSubmit"), "{:#}", devices[0]["intercepts"]);
    assert_eq!(judged.trace.events("pulse").count(), 0);
    Ok(())
}

/// One change of the rules is told of, and what stays because of it: nothing, or one thing for a reason.
fn kept(judged: &Judged, why: Option<&str>) {
    let told: Vec<_> = judged.trace.events("retune").collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    let wanted: Json = why.map(|why| (why.to_owned(), 1.into())).into_iter().collect::<serde_json::Map<_, _>>().into();
    assert_eq!(told[0]["kept"], wanted, "{:#}", told[0]);
}

/// An immutable sampler and a pipeline stay, and one of them is counted where rules ask for something else of it.
fn kept_of(text: &str, why: Option<&str>) -> Outcome {
    let folder = Folder::new();
    let (_, judged) = silent(live(&folder, ""), "what stays", |context| {
        let (_image, view) = Scene::colour(F::R8G8B8A8_UNORM).shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let _held = Held::of(context, &[Slot::pair(&view, &sampler, 0, 0).fixed()]);
        let set = Set::new(context, true, Flags::empty());
        let _painter = set.painter(context, &Pair::new(&view, &sampler))?;
        retune(context, &folder, text);
        Ok(())
    })?;
    kept(&judged, why);
    Ok(())
}

/// With `pulse=on` draws are counted when they are submitted, and those that read a sampler of the layer's own apart.
fn pulse(is_repaired: bool, is_pushed: bool) -> Outcome {
    const DRAWS: u64 = 3;
    let folder = Folder::new();
    let builder = with_rules(&folder, if is_repaired { RULE } else { "" }).setting("pulse", "on");
    let (_, judged) = silent(builder, "a pulse", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::trilinear().create(context);
        let pair = Pair::new(&view, &sampler);
        let held = Held::of(context, &[Slot::pair(&view, &sampler, 0, 0)]);
        let painter = Painter::new(context, &held.layout, pair.shape, pair.kind, [16, 16]).map_err(Skip)?;
        for _ in 0..DRAWS {
            match is_pushed {
                true => _ = read(context, Reach::Push, pair)?,
                false => _ = painter.paint(held.set, &MAPPING),
            }
        }
        std::thread::sleep(Duration::from_millis(1100));
        context.submit(|_| ());
        Ok(())
    })?;
    let pulses: Vec<_> = judged.trace.events("pulse").collect();
    let last = pulses.last().expect("a second has passed");
    let repaired = if is_repaired { DRAWS } else { 0 };
    assert_eq!((&last["draws"], &last["repaired"]), (&DRAWS.into(), &repaired.into()), "{last:#}");
    assert!(last["headroom"]["maxSamplerAllocationCount"].as_u64() > Some(0), "{last:#}");
    assert!(last["places"].as_u64() > Some(0), "{last:#}");
    Ok(())
}
