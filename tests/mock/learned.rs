//! When pipelines are split: in the bind that finds a conflict, or when they are made, by what was learned before; and what may be kept
//! for that.

use std::path::PathBuf;
use std::{env, fs};

use ash::vk::{self, Handle};
use serde_json::Value;

use crate::binds;
use crate::loader::*;
use crate::separate::joins;

const HEADER: &str = "# samplin: links that are split when their pipeline is made\n";

/// A set with two images and a sampler that smooths, which suits the first image only.
struct Scene {
    device: Device,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    commands: vk::CommandBuffer,
}

impl std::ops::Deref for Scene {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

impl Scene {
    fn new(settings: &[(&str, &str)]) -> Self {
        Self::with(settings, [FILTERED, FLOATS])
    }

    fn with(settings: &[(&str, &str)], formats: [vk::Format; 2]) -> Self {
        let scene = binds::Scene::quiet(InstanceBuilder::new().settings(settings).traced("decisions"));
        let (set, layout, commands) = (scene.set(formats), scene.layouts[0], scene.commands.get());
        Self { device: scene.device, layout, set, commands }
    }

    /// A pipeline that reads these images through the sampler, of a module with `more` words that mean nothing.
    fn pipeline(&self, images: &[u32], more: usize) -> vk::Pipeline {
        let mut words = joins(5, &images.iter().map(|image| [(0, *image), (0, 2)]).collect::<Vec<_>>());
        // OpNop
        words.extend(std::iter::repeat_n(0x1_0000, more));
        self.compute(self.layout, &words)
    }

    /// Binds a pipeline and the set, and dispatches.
    fn bind(&self, pipeline: vk::Pipeline) {
        self.record(self.commands, (COMPUTE, pipeline), self.layout, &[self.set]);
    }

    /// For each shader that was split whether that was learned.
    fn splits(&self) -> Vec<bool> {
        self.records("shader").iter().map(|record| record["learned"] == true).collect()
    }

    /// The counts of the device, which is destroyed.
    fn finish(self) -> Value {
        let instance = std::sync::Arc::clone(&self.device.instance);
        drop(self.device);
        let all = instance.records("summary");
        all.into_iter().find(|record| record["scope"] == "device").expect("one")["separate"].clone()
    }
}

#[test]
fn a_link_that_conflicted_is_split_when_the_next_pipeline_is_made() {
    let scene = Scene::new(&[]);
    let (first, good) = (scene.pipeline(&[0, 1], 0), scene.pipeline(&[0], 0));
    assert!(scene.splits().is_empty(), "nothing is known yet");
    scene.bind(first);
    assert_eq!(scene.splits(), [false]);
    let later = scene.pipeline(&[0, 1], 1);
    assert_eq!(scene.splits(), [false, true]);
    // The link to the good image never conflicted.
    let fine = scene.pipeline(&[0], 1);
    [later, good, fine, first].into_iter().for_each(|pipeline| scene.bind(pipeline));
    assert_eq!(scene.splits(), [false, true], "nothing is compiled in a bind");
    assert!(scene.left().is_empty());
    let mut counts = scene.finish();
    let took = counts.as_object_mut().and_then(|counts| counts.remove("compile_ms"));
    assert!(took.and_then(|took| took.as_f64()).is_some_and(|took| took > 0.0), "{counts:#}");
    let expected = serde_json::json!({
        "links": 6,
        "sets": 1,
        "shadows": { "live": 0, "peak": 0 },
        "hidden_sets": 1,
        "splits": 2,
        "learned": 1,
        "repeated": 1,
        "unresolved": {},
    });
    assert_eq!(counts, expected);
}

/// Of what was named which pipelines got which names.
fn names(scene: &Scene) -> Vec<(u64, String)> {
    let named = std::mem::take(&mut *scene.device.driver.names.lock().expect("no test panicked with it"));
    assert!(named.iter().all(|(ty, ..)| *ty == vk::ObjectType::PIPELINE), "{named:?}");
    named.into_iter().map(|(_, pipeline, name)| (pipeline, name)).collect()
}

#[test]
fn what_is_bound_instead_is_named_after_it() {
    let scene = Scene::new(&[]);
    let device = &scene.device;
    // Made for a bind, when the name is there.
    let first = scene.pipeline(&[0, 1], 0);
    device.name(first, c"shadows");
    scene.bind(first);
    let named = names(&scene);
    assert_eq!(named[0], (first.as_raw(), "shadows".to_owned()));
    assert_eq!((named.len(), named[1].1.as_str()), (2, "shadows (samplin split)"));
    assert_ne!(named[1].0, first.as_raw());
    assert_eq!(scene.records("pair")[0]["pipeline_name"], "shadows");
    // Made with the pipeline, before the name is there.
    let later = scene.pipeline(&[0, 1], 1);
    device.name(later, c"water");
    let texts = |scene: &Scene| names(scene).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(texts(&scene), ["water (samplin split)", "water"]);
    // Nothing is made of what is legal, and nothing is named that has no name.
    let good = scene.pipeline(&[0], 0);
    device.name(good, c"sky");
    scene.bind(good);
    assert_eq!(texts(&scene), ["sky"]);
    device.destroy_pipeline(first);
    let nameless = scene.pipeline(&[0, 1], 2);
    scene.bind(nameless);
    assert_eq!(texts(&scene), [""; 0]);
    // One record for all that join the same in the same way.
    assert_eq!(scene.records("pair").len(), 1);
}

#[test]
fn learn_compiles_nothing_in_a_bind() {
    let scene = Scene::new(&[("split_compile", "learn")]);
    let first = scene.pipeline(&[0, 1], 0);
    let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(first).object_name(c"shadows");
    let device = &scene.device;
    assert_eq!(call!(device.set_name(device.raw, &info)), SUCCESS);
    scene.bind(first);
    assert_eq!((scene.splits(), scene.left()), (vec![], vec!["learned".to_owned()]));
    assert_eq!(scene.records("unresolved")[0]["pipeline_name"], "shadows");
    let later = scene.pipeline(&[0, 1], 0);
    scene.bind(later);
    scene.bind(first);
    assert_eq!((scene.splits(), scene.left()), (vec![true], vec!["learned".to_owned()]));
    // What is legal is neither learned nor told of.
    let scene = Scene::with(&[("split_compile", "learn")], [FILTERED; 2]);
    scene.bind(scene.pipeline(&[0, 1], 0));
    scene.bind(scene.pipeline(&[0, 1], 0));
    assert_eq!((scene.splits(), scene.left()), (vec![], vec![]));
}

#[test]
fn what_is_kept_has_a_limit() {
    // Words of a third of a MiB and more each.
    let sizes = [100_000, 100_001, 100_002];
    for (budget, left) in [("64", 0), ("1", 1), ("0", 3)] {
        let scene = Scene::new(&[("resolve_memory", budget)]);
        let pipelines = sizes.map(|more| scene.pipeline(&[0, 1], more));
        pipelines.into_iter().for_each(|pipeline| scene.bind(pipeline));
        let named = scene.records("unresolved").iter().filter(|record| record.get("pipeline_name").is_some()).count();
        assert_eq!(named, 0, "they have no names");
        assert_eq!(
            (scene.splits(), scene.left()),
            (vec![false; 3 - left], vec!["learned".to_owned(); left.min(1)]),
            "{budget}"
        );
        // What is forgotten is what is oldest.
        let all = scene.records("unresolved");
        let of_first = all
            .first()
            .is_none_or(|record| record["pipeline"] == samplin_wire::text::handle(Handle::as_raw(pipelines[0])));
        assert!(of_first, "{all:#?}");
    }
    // Equal words are kept once.
    let scene = Scene::new(&[("resolve_memory", "1")]);
    let pipelines = [100_000; 8].map(|more| scene.pipeline(&[0, 1], more));
    pipelines.into_iter().for_each(|pipeline| scene.bind(pipeline));
    assert_eq!((scene.splits(), scene.left()), (vec![false; 8], vec![]));
}

/// Modules that are alive are the application's to bound, and the newest pipeline can be made again whatever else is kept.
#[test]
fn modules_that_are_alive_keep_no_pipeline_from_being_split() {
    let scene = Scene::new(&[("resolve_memory", "1")]);
    let device = &scene.device;
    let modules: Vec<_> = (0..8)
        .map(|number| {
            let mut words = joins(5, &[[(0, 0), (0, 2)]]);
            words.extend(std::iter::repeat_n(0x1_0000, 100_000 + number));
            device.module(&words)
        })
        .collect();
    // All of them are made before any conflicts, so that none is kept because it is split.
    let pipelines = [0, 1].map(|more| scene.pipeline(&[0, 1], more));
    pipelines.into_iter().for_each(|pipeline| scene.bind(pipeline));
    assert_eq!((scene.splits(), scene.left()), (vec![false; 2], vec![]));
    modules.into_iter().for_each(|module| device.destroy_module(module));
    // One that is larger than all that may be kept.
    let huge = scene.pipeline(&[0, 1], 400_000);
    scene.bind(huge);
    let bound = device.bound_pipeline(scene.commands, COMPUTE);
    assert_ne!(bound, Handle::as_raw(huge), "the newest is split");
    assert_eq!(scene.left(), [""; 0]);
}

#[test]
fn a_shared_sampler_is_kept_where_it_is_to_be() {
    let scene = Scene::new(&[("separate_shared", "keep")]);
    scene.bind(scene.pipeline(&[0, 1], 0));
    assert_eq!((scene.splits(), scene.left()), (vec![], vec!["shared-sampler".to_owned()]));
    // All images of the sampler in this pipeline agree.
    scene.bind(scene.pipeline(&[1], 0));
    let how: Vec<_> = scene.records("pair").iter().map(|pair| pair["how"].clone()).collect();
    assert_eq!(how.iter().filter(|how| **how == "shadow").count(), 1, "{how:?}");
    assert_eq!(scene.left().len(), 1);
    let counts = scene.finish();
    assert_eq!(counts["shadows"], serde_json::json!({ "live": 1, "peak": 1 }));
    assert_eq!(counts["unresolved"], serde_json::json!({ "shared-sampler": 1 }));
    assert_eq!((&counts["splits"], &counts["learned"]), (&0.into(), &0.into()));
}

#[test]
fn images_of_a_shared_sampler_get_what_suits_them_all() {
    let scene = Scene::new(&[("separate_shared", "meet")]);
    scene.bind(scene.pipeline(&[0], 0));
    assert_eq!(scene.records("pair").len(), 0, "it suits the only image");
    scene.bind(scene.pipeline(&[0, 1], 0));
    assert_eq!((scene.splits(), scene.left()), (vec![], vec![]));
    let pairs = scene.records("pair");
    let told: Vec<_> =
        pairs.iter().map(|pair| (&pair["how"], &pair["format"], &pair["link"]["image"]["binding"])).collect();
    let (shadow, formats) =
        (Value::from("shadow"), [FILTERED, FLOATS].map(|format| Value::from(format!("VK_FORMAT_{format:?}"))));
    let numbers = [0, 1].map(Value::from);
    assert_eq!(told, [(&shadow, &formats[0], &numbers[0]), (&shadow, &formats[1], &numbers[1])]);
    // Both for the same reason, which is the other image's.
    assert_eq!((&pairs[0]["changes"], &pairs[0]["variant"]), (&pairs[1]["changes"], &pairs[1]["variant"]));
    assert!(pairs[0]["changes"].to_string().contains("R32_SFLOAT lacks"), "{pairs:#?}");
    let counts = scene.finish();
    assert_eq!(counts["shadows"], serde_json::json!({ "live": 1, "peak": 1 }));
}

// ---- the file ----

impl File {
    fn setting(&self) -> [(&'static str, &str); 1] {
        [("learned", self.path())]
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.0).expect("reads").lines().map(str::to_owned).collect()
    }
}

#[test]
fn links_are_learned_from_run_to_run() {
    let file = File::at("learned");
    let scene = Scene::new(&file.setting());
    let first = scene.pipeline(&[0, 1], 0);
    assert!(!file.0.exists(), "nothing is written before anything is learned");
    scene.bind(first);
    let lines = file.lines();
    assert_eq!((lines.len(), lines[0].as_str()), (2, HEADER.trim_end()), "{lines:?}");
    assert!(lines[1].ends_with(" # image 0.1, sampler 0.2"), "{lines:?}");
    // What a process left that was cut off, and words that are none of ours.
    fs::write(&file.0, format!("{}\nnonsense\n0123", lines.join("\n"))).expect("writes");
    let next = Scene::new(&file.setting());
    let later = next.pipeline(&[0, 1], 0);
    assert_eq!(next.splits(), [true]);
    next.bind(later);
    assert_eq!((next.splits(), next.left().len()), (vec![true], 0));
    // Another link: the sampler of the second image alone is exchanged in a copy of the set, so it is none of it.
    next.bind(next.pipeline(&[1], 0));
    assert_eq!(file.lines().len(), 4, "{:?}", file.lines());
}

#[test]
fn two_that_learn_at_once_keep_what_the_other_wrote() {
    let file = File::at("learned");
    // Both read before either writes; their bad images are in different bindings.
    let scenes = [[FILTERED, FLOATS], [FLOATS, FILTERED]].map(|formats| Scene::with(&file.setting(), formats));
    for scene in &scenes {
        scene.bind(scene.pipeline(&[0, 1], 0));
        assert_eq!(scene.splits(), [false]);
    }
    let next = Scene::with(&file.setting(), [FILTERED; 2]);
    next.pipeline(&[0, 1], 0);
    let records = next.records("shader");
    assert_eq!(records.len(), 1, "one pipeline");
    assert_eq!(records[0]["bindings"].as_array().expect("a list").len(), 2, "with both links: {records:#?}");
}

#[test]
fn what_is_no_list_is_neither_read_nor_written() {
    let notes = "0123456789abcdef is not ours\n".to_owned();
    let huge = format!("{HEADER}{}", "0123456789abcdef # image 0.0, sampler 0.0\n".repeat(110_000));
    for (name, text) in [("notes", notes.into_bytes()), ("huge", huge.into_bytes()), ("bytes", vec![0xff; 64])] {
        let file = File::new("learned", &text);
        let scene = Scene::new(&file.setting());
        scene.bind(scene.pipeline(&[0, 1], 0));
        let records = scene.records("settings");
        assert_eq!((records.len(), &records[0]["key"]), (1, &"learned".into()), "{name}: {records:#?}");
        assert_eq!(scene.splits(), [false], "{name}: the repair goes on");
        assert!(fs::read(&file.0).expect("reads") == text, "{name} is as it was");
    }
    // A folder, and a folder that cannot be made.
    for path in [env::temp_dir(), PathBuf::from("/proc/none/learned")] {
        let scene = Scene::new(&[("learned", path.to_str().expect("UTF-8"))]);
        scene.bind(scene.pipeline(&[0, 1], 0));
        assert_eq!(scene.splits(), [false]);
    }
}

#[test]
fn audit_neither_reads_nor_writes_the_list() {
    let file = File::at("learned");
    let scene = Scene::new(&file.setting());
    scene.bind(scene.pipeline(&[0, 1], 0));
    let before = file.lines();
    let audit = Scene::new(&[file.setting()[0], ("mode", "audit")]);
    audit.bind(audit.pipeline(&[0, 1], 0));
    assert_eq!((audit.splits(), audit.left()), (vec![], vec![]));
    assert_eq!(audit.records("pair").len(), 1, "what would be changed is told");
    assert_eq!(file.lines(), before);
    fs::remove_file(&file.0).expect("removes");
    audit.bind(audit.pipeline(&[0, 1], 1));
    assert!(!file.0.exists());
}
