//! What belongs to instances and devices: modes, trace levels, variants and their lives, names, several of each at once.

use crate::run::{
    self, Folder, Judged, Outcome, Skip, assert_silent, build, read_trace, silent, skip_if, with_layer, without_layer,
};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::case::assert_reported;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::{BlitApi, Capability, Context, Image, Pair, SamplerDesc, Trace, sample};
use serde_json::{Value as Json, json};

const UINT: Scene = Scene::colour(vk::Format::R32_UINT);
const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("mode/audit-changes-nothing", audit),
        ("mode/off-is-not-there", off),
        ("mode/two-instances-at-once", two_instances),
        ("mode/two-devices-of-one-instance", two_devices),
        ("level/all-tells-legal-pairs-too", level_all),
        ("level/summary-tells-no-decision", level_summary),
        ("level/trace-off", trace_off),
        ("variants/shared-by-equal-states", variants_shared),
        ("variants/shared-by-different-states", variants_of_different_states),
        ("variants/outlive-one-of-two-samplers", variants_outlive),
        ("variants/of-leaked-samplers", variants_leaked),
        ("handles/view-used-again", view_handle_again),
        ("handles/sampler-used-again", sampler_handle_again),
        ("names/in-records", names),
        ("names/gone-with-their-object", names_gone),
        ("counts/census", census),
    ])
}

/// An illegal sampler, an illegal pair and an illegal blit; nothing of it is executed on a context that only records.
fn misbehave(context: &Context) -> Outcome {
    drop(SamplerDesc::nearest().lod(2.0, 0.5).create(context));
    let image = UINT.flat().image(context)?;
    let view = UINT.flat().view(&image);
    let sampler = SamplerDesc::linear().create(context);
    sample(context, Pair::new(&view, &sampler), &UINT.points(false));
    let target = Image::new(context, image.desc()).map_err(Skip)?;
    target.blit_from(&image, vk::Filter::LINEAR, BlitApi::Core);
    Ok(())
}

/// What validation reports of it.
const MISBEHAVIOUR: &[&str] = &["maxLod-01973", "magFilter-04553", "filter-02001"];

/// Catalogue rows of its repair: sampler, pair, blit.
const REPAIR: [(&str, &[&str]); 3] = [("sampler", &["A-4", "A-4"]), ("pair", &["B-16", "B-16"]), ("blit", &["C-10"])];

fn assert_told(judged: &Judged) {
    for (event, rows) in REPAIR {
        let changes = judged.changes(event);
        assert_eq!(changes.iter().map(|change| change.catalog.as_str()).collect::<Vec<_>>(), rows, "{event}");
    }
}

// --- modes ----------------------------------------------------------------------------------------------------------

/// Everything is told as if it were repaired, and nothing is.
fn audit() -> Outcome {
    let ((), judged) = with_layer(Context::builder().record_only().setting("mode", "audit"), misbehave)?;
    assert_reported(&judged.errors, MISBEHAVIOUR, "in audit mode");
    assert_told(&judged);
    assert_eq!(judged.trace.first("layer")["settings"]["mode"], json!({"value": "audit", "source": "application"}));
    assert!(judged.trace.first("pair")["variant"].is_null());
    let summary = judged.summary();
    assert_eq!(summary["variants"], json!({"live": 0, "peak": 0, "created": 0}));
    assert_eq!(summary["writes"]["update"], json!({"seen": 1, "rewritten": 0}));
    assert_eq!(judged.trace.first("device")["augmented"], json!([]));
    Ok(())
}

/// No record, no file, no repair.
fn off() -> Outcome {
    let folder = Folder::new();
    let path = folder.join("trace.jsonl");
    let builder = Context::builder().record_only().samplin().validation();
    let builder = builder.setting("mode", "off").file("trace", &path);
    let context = build(&builder)?;
    let log = context.messages();
    misbehave(&context)?;
    drop(context);
    assert_reported(&log.errors(), MISBEHAVIOUR, "switched off");
    assert!(!path.exists(), "a trace although the layer is off");
    Ok(())
}

/// Two instances with different settings, used in turns.
fn two_instances() -> Outcome {
    let folder = Folder::new();
    let make = |name: &str, mode: &str| {
        let path = folder.join(name);
        let builder = Context::builder().record_only().samplin().validation().setting("mode", mode);
        let context = build(&builder.file("trace", &path))?;
        Ok((context, path))
    };
    let (legal, legal_path) = make("legalize.jsonl", "legalize")?;
    let (audit, audit_path) = make("audit.jsonl", "audit")?;
    let (legal_log, audit_log) = (legal.messages(), audit.messages());
    misbehave(&audit)?;
    misbehave(&legal)?;
    misbehave(&audit)?;
    drop(audit);
    // The other one goes on when its sibling is gone.
    misbehave(&legal)?;
    drop(legal);
    assert_silent(&legal_log.errors(), "the instance that legalizes");
    assert_reported(&audit_log.errors(), MISBEHAVIOUR, "the instance that audits");
    let (legal, audit) = (read_trace(&legal_path), read_trace(&audit_path));
    assert!(legal.first("pair")["variant"].is_string());
    assert!(audit.first("pair")["variant"].is_null());
    for trace in [&legal, &audit] {
        assert_eq!(trace.events("layer").count(), 1);
        assert_eq!(trace.events("summary").count(), 2, "of the device and of the instance");
        assert_eq!(trace.events("summary").last().expect("two")["scope"], "instance");
    }
    Ok(())
}

/// A second device without features: what is legal on the first is repaired there, and each has its own summary.
fn two_devices() -> Outcome {
    let ((), Judged { trace, .. }) = silent(Context::builder().setting("augment", "off"), "two devices", |context| {
        skip_if(context.missing(&[Capability::SamplerAnisotropy]))?;
        let priorities = [1.0];
        let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(context.queue_family());
        let queues = [queue.queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // SAFETY: one queue of a family of this physical device, nothing enabled.
        let bare = unsafe { context.instance().create_device(context.physical_device(), &info, None) };
        let bare = bare.expect("vkCreateDevice");
        let desc = SamplerDesc::linear().anisotropy(4.0);
        let _full = desc.create(context);
        // SAFETY: the create info is complete; that anisotropy is not enabled on this device is the point.
        let sampler = desc.with_info(|info| unsafe { bare.create_sampler(info, None) }).expect("vkCreateSampler");
        // SAFETY: created above and not in use.
        unsafe { bare.destroy_sampler(sampler, None) };
        // SAFETY: its only child is gone.
        unsafe { bare.destroy_device(None) };
        Ok(())
    })?;
    assert_eq!(trace.events("device").count(), 2);
    let changes = trace.changes();
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(changes[0].catalog, "A-5");
    let summaries: Vec<_> = trace.events("summary").filter(|record| record["scope"] == "device").collect();
    assert_eq!(summaries.len(), 2);
    assert_ne!(summaries[0]["device"], summaries[1]["device"]);
    assert_eq!(summaries[0]["changes"], json!({"anisotropy": 1}));
    assert_eq!(summaries[1]["changes"], json!({}));
    Ok(())
}

// --- trace levels ---------------------------------------------------------------------------------------------------

/// Legal samplers and pairs are told with no changes and no variant, so that the application's own sampler went down.
fn level_all() -> Outcome {
    let ((), judged) = silent(Context::builder().setting("trace_level", "all"), "with samplin", |context| {
        let (_image, view) = RGBA8.shown(context)?;
        let sampler = SamplerDesc::trilinear().named("legal").create(context);
        sample(context, Pair::new(&view, &sampler), &RGBA8.points(false));
        Ok(())
    })?;
    judged.assert_untouched("a legal pair");
    let record = judged.trace.first("sampler");
    assert_eq!(record["state"]["magFilter"], "VK_FILTER_LINEAR");
    let pair = judged.trace.first("pair");
    assert_eq!((&pair["variant"], &pair["changes"]), (&json!(null), &json!([])), "{pair:#}");
    assert_eq!(pair["sampler"], record["sampler"]);
    assert_eq!(pair["names"]["sampler"], "legal");
    assert_eq!(pair["fingerprint"], record["fingerprint"]);
    Ok(())
}

/// The counts alone; the repairs are made all the same.
fn level_summary() -> Outcome {
    let ((), judged) =
        silent(Context::builder().record_only().setting("trace_level", "summary"), "with samplin", misbehave)?;
    for event in ["sampler", "pair", "blit", "unresolved"] {
        assert_eq!(judged.trace.events(event).count(), 0, "{event}");
    }
    let summary = judged.summary();
    assert_eq!(summary["changes"], json!({"lod-range": 2, "linear-filter": 2, "blit-filter": 1}));
    assert_eq!(summary["writes"]["update"], json!({"seen": 1, "rewritten": 1}));
    Ok(())
}

/// Nothing is written; the repairs are made all the same.
fn trace_off() -> Outcome {
    let builder = Context::builder().record_only().samplin().validation().setting("trace", "off");
    let context = build(&builder)?;
    let log = context.messages();
    misbehave(&context)?;
    drop(context);
    assert_silent(&log.errors(), "without a trace");
    Ok(())
}

// --- variants -------------------------------------------------------------------------------------------------------

/// Writes pairs to a set; nothing is sampled.
fn write(context: &Context, pairs: &[Pair<'_, '_>]) {
    let layout = SetLayout::new(context, &[Binding::combined(0, u32::try_from(pairs.len()).expect("few"))]);
    let pool = Pool::new(context, &[&layout]);
    write_combined(context, pool.allocate(&layout), (0, 0), pairs);
}

/// Two samplers of equal state need one variant between them.
fn variants_shared() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let image = UINT.image(context)?;
        let views = [UINT.view(&image), UINT.view(&image)];
        let desc = SamplerDesc::linear().address(vk::SamplerAddressMode::REPEAT);
        let samplers = [desc.create(context), desc.create(context)];
        let pairs: Vec<_> =
            samplers.iter().flat_map(|sampler| views.iter().map(move |view| Pair::new(view, sampler))).collect();
        write(context, &pairs);
        write(context, &pairs);
        Ok(())
    })?;
    let summary = judged.summary();
    assert_eq!(summary["variants"], json!({"live": 0, "peak": 1, "created": 1}));
    assert_eq!(summary["writes"]["update"], json!({"seen": 8, "rewritten": 8}));
    assert_eq!(summary["census"]["unique_states"], json!({"live": 0, "peak": 1}));
    assert_eq!(judged.trace.events("pair").count(), 1, "one state met one class of views");
    Ok(())
}

/// Samplers that differ in what is repaired become the same sampler.
fn variants_of_different_states() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let (_image, view) = UINT.shown(context)?;
        let mag = SamplerDesc { mag_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() };
        let samplers = [SamplerDesc::linear(), SamplerDesc::trilinear(), mag].map(|desc| desc.create(context));
        let pairs: Vec<_> = samplers.iter().map(|sampler| Pair::new(&view, sampler)).collect();
        write(context, &pairs);
        Ok(())
    })?;
    assert_eq!(judged.summary()["variants"], json!({"live": 0, "peak": 1, "created": 1}));
    let pairs: Vec<_> = judged.trace.events("pair").map(|record| record["variant"].clone()).collect();
    assert_eq!(pairs.len(), 3);
    assert!(pairs.iter().all(|variant| variant.is_string() && *variant == pairs[0]), "{pairs:?}");
    Ok(())
}

/// A descriptor that holds the variant goes on working while one of two samplers of its state lives; with the last one the
/// variant goes, and a new sampler of that state gets a new one.
fn variants_outlive() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let (_image, view) = UINT.shown(context)?;
        let first = SamplerDesc::linear().create(context);
        let second = SamplerDesc::linear().create(context);
        let nearest = SamplerDesc::nearest().create(context);
        let points = UINT.points(false);
        let wanted = sample(context, Pair::new(&view, &nearest), &points);
        assert_eq!(sample(context, Pair::new(&view, &first), &points), wanted);
        drop(first);
        assert_eq!(sample(context, Pair::new(&view, &second), &points), wanted);
        drop(second);
        let third = SamplerDesc::linear().create(context);
        assert_eq!(sample(context, Pair::new(&view, &third), &points), wanted);
        Ok(())
    })?;
    assert_eq!(judged.summary()["variants"], json!({"live": 0, "peak": 1, "created": 2}));
    Ok(())
}

/// The application leaks its samplers: validation says so for them and not for the variants, which are destroyed with the
/// device; the summary is written.
fn variants_leaked() -> Outcome {
    let leak = |context: &Context| {
        let (_image, view) = UINT.shown(context)?;
        for desc in [SamplerDesc::linear(), SamplerDesc::linear().address(vk::SamplerAddressMode::REPEAT)] {
            let sampler = desc.create(context);
            write(context, &[Pair::new(&view, &sampler)]);
            std::mem::forget(sampler);
        }
        Ok(())
    };
    let leaks = |errors: &[samplin_testkit::Message]| {
        // Older layers report each object, newer ones a list; either way every handle is named once.
        errors.iter().map(|message| message.text.matches("VkSampler 0x").count()).sum::<usize>()
    };
    let ids = &["vkDestroyDevice-device-05137|vkDestroyDevice-device-00378"];
    let ((), errors) = without_layer(Context::builder(), leak)?;
    assert_reported(&errors, ids, "without samplin");
    let ((), judged) = with_layer(Context::builder(), leak)?;
    assert_reported(&judged.errors, ids, "with samplin");
    assert_eq!(leaks(&judged.errors), leaks(&errors), "{:#?}", judged.errors);
    let summary = judged.summary();
    assert_eq!(summary["samplers"], json!({"created": 2, "live": 2, "peak": 2, "changed": 0}));
    assert_eq!(summary["variants"], json!({"live": 2, "peak": 2, "created": 2}));
    Ok(())
}

// --- handles --------------------------------------------------------------------------------------------------------

/// Runs `body` twice: above the validation layer, which gives every object a handle of its own, and without it, where the driver's
/// own handles come again.
fn with_handles(body: impl Fn(&Context) -> Outcome) -> Result<[Trace; 2], Skip> {
    let ((), judged) = silent(Context::builder(), "with samplin", &body)?;
    let ((), alone) = run::alone(Context::builder(), &body)?;
    Ok([judged.trace, alone])
}

/// The summary of the device.
fn summary(trace: &Trace) -> &Json {
    trace.events("summary").find(|record| record["scope"] == "device").expect("a summary")
}

/// Views come and go under one sampler. Each pair is judged by what its view is now.
fn view_handle_again() -> Outcome {
    let traces = with_handles(|context| {
        let (numbers, colours) = (UINT.image(context)?, RGBA8.image(context)?);
        let sampler = SamplerDesc::trilinear().create(context);
        let nearest = SamplerDesc::nearest().create(context);
        let points = UINT.points(false);
        let view = UINT.view(&numbers);
        let wanted_numbers = sample(context, Pair::new(&view, &nearest), &points);
        drop(view);
        let mut wanted_colours = None;
        for _ in 0..4 {
            let view = UINT.view(&numbers);
            assert_eq!(sample(context, Pair::new(&view, &sampler), &points), wanted_numbers);
            drop(view);
            let view = RGBA8.view(&colours);
            let got = sample(context, Pair::new(&view, &sampler), &points);
            assert_eq!(*wanted_colours.get_or_insert_with(|| got.clone()), got);
        }
        Ok(())
    })?;
    for trace in &traces {
        assert_eq!(summary(trace)["writes"]["update"], json!({"seen": 9, "rewritten": 4}));
        assert_eq!(summary(trace)["views"], json!({"created": 9, "live": 0, "classes": 2}));
    }
    Ok(())
}

/// The same with samplers under one view.
fn sampler_handle_again() -> Outcome {
    let traces = with_handles(|context| {
        let (_image, view) = UINT.shown(context)?;
        let points = UINT.points(false);
        let mut wanted = None;
        for _ in 0..4 {
            for desc in [SamplerDesc::nearest(), SamplerDesc::linear()] {
                let sampler = desc.create(context);
                let got = sample(context, Pair::new(&view, &sampler), &points);
                assert_eq!(*wanted.get_or_insert_with(|| got.clone()), got);
            }
        }
        Ok(())
    })?;
    for trace in &traces {
        let summary = summary(trace);
        assert_eq!(summary["writes"]["update"], json!({"seen": 8, "rewritten": 4}));
        assert_eq!(summary["variants"], json!({"live": 0, "peak": 1, "created": 4}));
        assert_eq!(summary["samplers"], json!({"created": 8, "live": 0, "peak": 1, "changed": 0}));
    }
    Ok(())
}

// --- names ----------------------------------------------------------------------------------------------------------

/// Names that are awkward in JSON come out as they went in.
fn names() -> Outcome {
    let awkward = "rock \"albedo\"\n\\ ü 🪨";
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let (_image, view) = UINT.shown(context)?;
        let sampler = SamplerDesc::linear().named("first name").create(context);
        context.set_name(sampler.handle(), awkward);
        context.set_name(view.handle(), "ids");
        write(context, &[Pair::new(&view, &sampler)]);
        Ok(())
    })?;
    assert_eq!(judged.trace.first("pair")["names"], json!({"sampler": awkward, "view": "ids"}));
    Ok(())
}

/// A new object does not inherit the name of one that had its handle.
fn names_gone() -> Outcome {
    let traces = with_handles(|context| {
        let (image, view) = UINT.shown(context)?;
        context.set_name(view.handle(), "old view");
        drop(view);
        drop(SamplerDesc::linear().named("old sampler").create(context));
        let view = UINT.view(&image);
        let sampler = SamplerDesc::linear().create(context);
        write(context, &[Pair::new(&view, &sampler)]);
        // An empty name takes a name away.
        let other = SamplerDesc::trilinear().named("named").create(context);
        context.set_name(other.handle(), "");
        write(context, &[Pair::new(&view, &other)]);
        Ok(())
    })?;
    for trace in &traces {
        let found: Vec<_> = trace.events("pair").map(|record| record["names"].clone()).collect();
        assert_eq!(found, [json!({"sampler": null, "view": null}), json!({"sampler": null, "view": null})]);
    }
    Ok(())
}

// --- counts ---------------------------------------------------------------------------------------------------------

/// The numbers of a summary add up.
fn census() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        let (numbers, colours) = (UINT.image(context)?, RGBA8.image(context)?);
        let views = [UINT.view(&numbers), UINT.view(&numbers), RGBA8.view(&colours)];
        let samplers: Vec<_> = (0..5)
            .map(|index| SamplerDesc::linear().lod(0.0, if index < 3 { 1.0 } else { 2.0 }).create(context))
            .collect();
        for sampler in &samplers {
            let pairs: Vec<_> = views.iter().map(|view| Pair::new(view, sampler)).collect();
            write(context, &pairs);
        }
        Ok(())
    })?;
    let summary = judged.summary();
    assert_eq!(summary["samplers"], json!({"created": 5, "live": 0, "peak": 5, "changed": 0}));
    assert_eq!(summary["views"], json!({"created": 3, "live": 0, "classes": 2}));
    assert_eq!(summary["writes"]["update"], json!({"seen": 15, "rewritten": 10}));
    assert_eq!(summary["variants"], json!({"live": 0, "peak": 2, "created": 2}));
    assert_eq!(summary["census"]["unique_states"], json!({"live": 0, "peak": 2}));
    let limit = judged.trace.first("device")["limits"]["maxSamplerAllocationCount"].as_u64().expect("a limit");
    assert_eq!(summary["census"]["headroom"]["maxSamplerAllocationCount"], limit - 7);
    assert_eq!((&summary["passed_through"], &summary["dropped"]), (&json!(false), &json!(0)));
    Ok(())
}
