//! `set = { repair = "off" }`: on each way that a pair takes to the driver it arrives as the application asked for it, with one record;
//! the pair beside it, which no such rule matches, is repaired as ever.

use std::sync::Mutex;

use ash::vk::{self, Handle};
use serde_json::Value;

use crate::binds;
use crate::driver::{Args, lock};
use crate::loader::*;

/// A driver's instance with these rules.
fn builder(rules: &File) -> InstanceBuilder {
    InstanceBuilder::new().set("config", rules.path()).traced("decisions")
}

/// A device that leaves alone what one rule matches.
fn exempting(when: &str) -> (File, Device) {
    let rules = File::new("toml", format!("[[rule]]\nwhen = {when}\nset = {{ repair = \"off\" }}\n"));
    let device = builder(&rules).device();
    (rules, device)
}

const BY_FORMAT: &str =
    "\n[[rule]]\nname = \"as it was\"\nwhen = { format = \"R32_SFLOAT\" }\nset = { repair = \"off\" }\n";

/// The sampler that arrives when a pair is written beside one that is repaired.
fn beside_another(device: &Device, sampler: vk::Sampler, view: vk::ImageView) -> vk::Sampler {
    let infos = [pair(sampler, device.view(INTEGERS)), pair(sampler, view)];
    let writes = device.updates(&[combined(device.plain_set(), 0, &infos)]);
    assert_ne!(writes.items[0].images[0].sampler, sampler, "the other pair is repaired");
    writes.items[0].images[1].sampler
}

fn rule_of(record: &Value) -> (&str, u64, bool) {
    let rule = &record["rules"][0];
    let is_file = rule["file"].as_str().is_some_and(|file| file.ends_with(".toml"));
    (rule["name"].as_str().unwrap(), rule["line"].as_u64().unwrap(), is_file)
}

#[test]
fn a_pair_is_left_alone_on_every_way() {
    use Way::{Push, PushTemplate, Template, Update};
    for name in [Some(Update), Some(Template), Some(Push), Some(PushTemplate), None] {
        let rules = File::new("toml", BY_FORMAT);
        let device = builder(&rules).device();
        let (sampler, left, repaired) = (device.linear(), device.view(FLOATS), device.view(INTEGERS));
        let layout = device.pipeline_layout(&[]);
        let way = |view| match name {
            Some(way) => device.sent(way, (layout, 0, 0), pair(sampler, view)),
            None => beside_another(&device, sampler, view),
        };
        for _ in 0..2 {
            assert_eq!(way(left), sampler, "{name:?}");
            assert_ne!(way(repaired), sampler, "{name:?}: its twin");
        }
        let said = device.records("exempt");
        assert_eq!(said.len(), 1, "{name:?}: once for a state and a class: {said:#?}");
        let record = &said[0];
        assert_eq!(rule_of(record), ("as it was", 2, true));
        assert_eq!((&record["what"], &record["format"]), (&"pair".into(), &"VK_FORMAT_R32_SFLOAT".into()));
        let changes: Vec<_> = record["changes"].as_array().unwrap().iter().map(|change| &change["rule"]).collect();
        assert!(changes.contains(&&"linear-filter".into()), "{record:#}");
        let pairs = device.records("pair");
        assert!(pairs.iter().all(|record| record["format"] == "VK_FORMAT_R32_UINT"), "{pairs:#?}");
    }
}

/// The layer knows the driver by its id and its build. A simulated device has the quirks of its file, and none of the driver's.
#[test]
fn a_rule_asks_for_a_quirk_of_the_device() {
    let rules = File::new(
        "toml",
        "\n[[rule]]\nwhen = { quirk = \"linear-needs-no-bit\", format = \"R32_SFLOAT\" }\nset = { repair = \"off\" }\n",
    );
    let file = |quirks: &str| {
        let sampled = r#"{"optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"]}"#;
        let formats = format!(r#"{{"VK_FORMAT_R32_SFLOAT": {sampled}, "VK_FORMAT_R32_UINT": {sampled}}}"#);
        format!(r#"{{"schema": "device-caps/1", "quirks": [{quirks}], "formats": {formats}}}"#)
    };
    let simulated = File::new("toml", "");
    let (old, new) = (c"Mesa 22.3.6 (LLVM 15.0.6)", c"Mesa 25.0.7 (LLVM 15.0.6)");
    for (info, quirks, is_left) in [
        (Some(old), None, true),
        (Some(new), None, false),
        (None, None, false),
        (Some(old), Some("\"opaque-black-4444\""), false),
        (Some(new), Some("\"linear-needs-no-bit\""), true),
    ] {
        for is_traced in [true, false] {
            let mut builder = InstanceBuilder::new().set("config", rules.path());
            if is_traced {
                builder = builder.traced("decisions");
            }
            if let Some(quirks) = quirks {
                std::fs::write(&simulated.0, file(quirks)).unwrap();
                builder = builder.set("device", simulated.path());
            }
            let device = builder.driver(|config| config.lavapipe = info).device();
            let (sampler, twin) = (device.linear(), device.view(INTEGERS));
            assert_eq!(written(&device, sampler, device.view(FLOATS)) == sampler, is_left, "{info:?} {quirks:?}");
            assert_ne!(written(&device, sampler, twin), sampler, "{info:?} {quirks:?}");
            if is_traced {
                let said = &device.records("device")[0]["quirks"];
                let has = said.as_array().is_some_and(|all| all.iter().any(|one| one == "linear-needs-no-bit"));
                assert_eq!(has, is_left, "{said}");
            }
        }
    }
}

/// What a rule matches that is about one repair, and the filter and anisotropy with which the pair arrives.
#[test]
fn one_repair_is_switched_off_and_the_others_hold() {
    for (when, filter, mipmap) in [
        ("{ rule = \"linear-filter\" }", true, false),
        ("{ rule = \"linear-mipmap\" }", false, true),
        ("{ rule = [\"B-1\", \"B-2\"], class = \"color\" }", true, true),
        ("{ rule = \"B-16\" }", false, false),
        ("{ rule = \"linear-filter\", class = \"depth\" }", false, false),
        ("{ rule = \"linear-filter\", min_filter = \"nearest\" }", false, false),
    ] {
        let (_rules, device) = exempting(when);
        let info = vk::SamplerCreateInfo { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..linear_info() };
        let arrived = written(&device, device.sampler(&info), device.view(FLOATS));
        let model = device.model(arrived.as_raw());
        let linear = [model.mag_filter, model.min_filter].map(|filter| filter == Filter::LINEAR);
        assert_eq!(linear, [filter; 2], "{when}");
        assert_eq!(model.mipmap_mode == vk::SamplerMipmapMode::LINEAR, mipmap, "{when}");
        let said = device.records("exempt");
        assert_eq!(said.len(), usize::from(filter || mipmap), "{when}: {said:#?}");
    }
}

/// Creation looks at the sampler alone, so that only a rule which does so too leaves it alone there.
#[test]
fn what_creation_changes_is_left_where_the_rule_looks_at_the_sampler() {
    for (when, left) in [
        ("{}", true),
        ("{ rule = \"anisotropy\" }", true),
        ("{ rule = \"A-6\", min_filter = \"linear\", nth = 1 }", true),
        ("{ nth = 2 }", false),
        ("{ rule = \"A-5\" }", false),
        ("{ rule = \"anisotropy\", compare = true }", false),
        ("{ format = \"*\" }", false),
        ("{ name = \"*\" }", false),
    ] {
        let (_rules, device) = exempting(when);
        let info = vk::SamplerCreateInfo { anisotropy_enable: 1, max_anisotropy: 1e6, ..linear_info() };
        device.driver.calls();
        let sampler = device.sampler(&info);
        assert_eq!(device.took(c"vkCreateSampler", &info), left, "{when}: the application's own pointer");
        let said = device.records("exempt");
        let found: Vec<_> = said.iter().map(|record| (&record["what"], &record["changes"][0]["rule"])).collect();
        let expected = [(&Value::from("sampler"), &Value::from("anisotropy"))];
        assert_eq!(found, &expected[..usize::from(left)], "{when}");
        assert_eq!(device.records("sampler").len(), usize::from(!left), "{when}");
        // A view that filters has nothing to do with it.
        assert_eq!(written(&device, sampler, device.view(FILTERED)), sampler, "{when}");
    }
}

/// A number by order of creation is that of one sampler, also where the driver refuses one while another thread creates the next.
#[test]
fn no_two_samplers_have_the_same_number() {
    let rules = File::new("toml", "[[rule]]\nwhen = { nth = 2 }\nset = { repair = \"off\" }\n");
    let device = builder(&rules).device();
    let info = |lod| vk::SamplerCreateInfo { anisotropy_enable: 1, max_anisotropy: 1e6, max_lod: lod, ..linear_info() };
    let (arrived, arrives) = std::sync::mpsc::channel();
    let (refuse, refused) = std::sync::mpsc::channel();
    let (arrived, refused) = (Mutex::new(arrived), Mutex::new(refused));
    device.driver.observe(move |_, call| {
        if let Args::CreateSampler { info, .. } = &call.args
            && info.value.max_lod == 1.0
        {
            lock(&arrived).send(()).expect("the test waits");
            lock(&refused).recv().expect("the test goes on");
        }
    });
    let is_left = |lod| {
        device.sampler(&info(lod));
        device.records("exempt").len()
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| device.try_sampler(&info(1.0)));
        arrives.recv().expect("the first one arrives");
        assert_eq!(is_left(2.0), 1, "it is the second");
        device.driver.fail(c"vkCreateSampler", [vk::Result::ERROR_OUT_OF_DEVICE_MEMORY]);
        refuse.send(()).expect("the first one waits");
        assert!(first.join().expect("the thread ends").is_err());
    });
    assert_eq!(is_left(3.0), 1, "it is the third");
}

/// What a wish asks for is legal, whatever is switched off.
#[test]
fn a_wish_is_never_created_illegally() {
    let text = "[[rule]]\nset = { repair = \"off\" }\n[[rule]]\nset = { max_anisotropy = 1000000 }\nguards_off = [\"single_mip\"]\n";
    let rules = File::new("toml", text);
    let device = builder(&rules).device();
    let sampler = device.linear();
    let arrived = written(&device, sampler, device.view(FILTERED));
    let model = device.model(arrived.as_raw());
    assert!(model.anisotropy_enable == 1 && model.max_anisotropy < 1e5, "{}", model.max_anisotropy);
    // The view that does not filter is left alone in what only it decides about.
    let arrived = written(&device, sampler, device.view(FLOATS));
    assert_eq!(device.model(arrived.as_raw()).min_filter, Filter::LINEAR);
}

#[test]
fn a_sampler_is_named_by_fingerprint_and_by_name() {
    let first = File::new("toml", "");
    let device = builder(&first).device();
    written(&device, device.linear(), device.view(FLOATS));
    let fingerprint = device.records("pair")[0]["fingerprint"].as_str().unwrap().to_owned();
    let when = |when: &str| format!("[[rule]]\nwhen = {{ {when} }}\nset = {{ repair = \"off\" }}\n");
    for (text, is_named, left) in [
        (when(&format!("fingerprint = \"{fingerprint}\"")), false, true),
        (when("fingerprint = \"0123456789abcdef\""), false, false),
        (when("name = \"shadow*\""), true, true),
        (when("name = \"shadow*\""), false, false),
        (when("name = \"other\""), true, false),
    ] {
        let rules = File::new("toml", &text);
        let device = builder(&rules).device();
        let sampler = device.linear();
        if is_named {
            device.name(sampler, c"shadow map");
        }
        assert_eq!(written(&device, sampler, device.view(FLOATS)) == sampler, left, "{text}");
    }
}

/// An immutable sampler stays in any case: what was a fault that is left is what the user wants.
#[test]
fn an_immutable_sampler_that_is_left_alone_is_no_fault() {
    for (rule, what) in [(BY_FORMAT, "exempt"), ("", "unresolved")] {
        let rules = File::new("toml", rule);
        let device = builder(&rules).set("separate", "base").device();
        let samplers = [device.linear()];
        let set = device.set(&[binding(0, COMBINED, 1).immutable_samplers(&samplers)]);
        let infos = [image_alone(device.view(FLOATS))];
        device.update(&[combined(set, 0, &infos)], &[]);
        let said: Vec<_> = ["exempt", "unresolved"]
            .into_iter()
            .flat_map(|event| device.records(event).into_iter().map(move |record| (event, record)))
            .collect();
        assert_eq!(said.len(), 1, "{said:#?}");
        assert_eq!((said[0].0, &said[0].1["what"]), (what, &"immutable sampler".into()));
    }
}

/// A blit has no sampler, so a rule that asks for one is about no blit.
#[test]
fn a_blit_is_left_alone_by_its_format() {
    for (when, left) in [
        ("{ format = \"R32_SFLOAT\" }", true),
        ("{ rule = \"blit-filter\" }", true),
        ("{ rule = \"C-1\", class = \"color\" }", true),
        ("{ rule = \"linear-filter\" }", false),
        ("{ format = \"R32_UINT\" }", false),
        ("{ min_filter = \"linear\" }", false),
        ("{ mip_levels = { min = 0 } }", false),
    ] {
        let (_rules, device) = exempting(when);
        let [from, to] = [device.image(FLOATS), device.image(FLOATS)];
        let region = vk::ImageBlit {
            src_offsets: [vk::Offset3D::default(), vk::Offset3D { x: 4, y: 4, z: 1 }],
            dst_offsets: [vk::Offset3D::default(), vk::Offset3D { x: 2, y: 2, z: 1 }],
            ..Default::default()
        };
        let layout = vk::ImageLayout::GENERAL;
        device.driver.calls();
        for _ in 0..2 {
            call!(device.blit(device.commands, from, layout, to, layout, 1, &region, Filter::LINEAR));
        }
        let filters = device.driver.calls_of(c"vkCmdBlitImage").into_iter().map(|args| match args {
            Args::Blit { filter, .. } => filter == Filter::LINEAR,
            other => panic!("{other:?}"),
        });
        assert_eq!(filters.collect::<Vec<_>>(), [left; 2], "{when}");
        assert_eq!(device.records("exempt").len(), usize::from(left), "{when}");
        assert_eq!(device.records("blit").len(), usize::from(!left), "{when}");
    }
}

#[test]
fn a_conversion_is_left_alone_by_its_format() {
    for (rule, left) in [("{ rule = \"ycbcr\" }", true), ("{ format = \"R8*\" }", false)] {
        let (_rules, device) = exempting(rule);
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(vk::Format::G8_B8_R8_3PLANE_420_UNORM)
            .chroma_filter(Filter::LINEAR)
            .force_explicit_reconstruction(true);
        create!(device.create_conversion(&info));
        let counts = [device.records("exempt").len(), device.records("conversion").len()];
        assert_eq!(counts, [usize::from(left), usize::from(!left)], "{rule}");
    }
}

/// Which of the images of a set, which one sampler of it reads, are read through the application's own.
#[test]
fn separate_samplers_are_left_alone_in_copies_splits_and_with_one_for_all() {
    for shared in ["split", "meet", "keep"] {
        for (formats, own) in [
            ([FLOATS, FLOATS], [true, true]),
            ([FLOATS, FILTERED], [true, true]),
            // The other image gets a sampler of its own, or none.
            ([FLOATS, INTEGERS], [true, shared == "keep"]),
            ([INTEGERS, INTEGERS], [false, false]),
        ] {
            let rules = File::new("toml", BY_FORMAT);
            let scene = binds::Scene::of(builder(&rules).set("separate_shared", shared));
            let (pipeline, set) = (scene.pipeline(), scene.set(formats));
            for _ in 0..2 {
                scene.bind(pipeline);
                scene.bind_sets(scene.layouts[0], 0, &[set]);
                assert_eq!(scene.own(), own, "{shared}, {formats:?}");
            }
            let said = scene.device.records("exempt");
            assert_eq!(said.len(), usize::from(formats.contains(&FLOATS)), "{shared}, {formats:?}: {said:#?}");
        }
    }
}
