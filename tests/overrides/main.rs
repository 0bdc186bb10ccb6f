//! Rules of `samplin.toml` end to end: what they match, what they set, what is held back, and what mistakes in them say.
//!
//! Start at [`main`] for the list. Every context has the validation layer below samplin, which has to be silent: an override must
//! never make a sampler or a pair illegal. Mistakes are data: `tests/data/rules/NN-*.toml` with the expected problems beside it.

use ash::vk;
use run::{Folder, Judged, Outcome, Skip, build, skip_if, trial, with_layer};
use samplin_config::rules::Rules;
use samplin_suite::{run, scene};
use samplin_testkit::trace::{Trace, changes};
use samplin_testkit::{
    BorderValue, Capability, Context, ContextBuilder, Image, ImageDesc, Mapping, Painter, Pair, Sampler, SamplerDesc,
    Value, View, ViewDesc, again, descriptor, reference, sample, texel,
};
use scene::{Scene, pattern};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

type F = vk::Format;
type M = vk::SamplerAddressMode;

/// A builder with these rules in force.
fn with_rules(folder: &Folder, text: &str) -> ContextBuilder {
    let path = folder.join("samplin.toml");
    std::fs::write(&path, text).expect("a rules file");
    Context::builder().setting("config", path.to_str().expect("temporary paths are UTF-8"))
}

/// Asserts that the rules were understood.
fn assert_no_problem(judged: &Judged) {
    let problems: Vec<_> = judged.trace.events("settings").collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

// --- when -------------------------------------------------------------------------------------------------------------

/// The samplers of [`when_keys`] by their debug names, in order of creation.
fn samplers() -> Vec<(&'static str, SamplerDesc)> {
    let tri = SamplerDesc::trilinear().address(M::REPEAT);
    vec![
        ("plain", SamplerDesc::nearest()),
        ("soft", SamplerDesc::linear()),
        ("blend", tri.clone()),
        ("mixed", SamplerDesc { mag_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() }),
        ("shadow", SamplerDesc::linear().compare(vk::CompareOp::LESS)),
        ("sharp", tri.anisotropy(2.0)),
        ("texels", SamplerDesc::unnormalized(vk::Filter::NEAREST)),
    ]
}

/// The views of [`when_keys`] by their debug names.
fn views() -> Vec<(&'static str, Scene)> {
    vec![
        ("four", Scene { levels: 4, ..Scene::colour(F::R8G8B8A8_UNORM) }),
        ("srgb", Scene { levels: 2, ..Scene::colour(F::R8G8B8A8_SRGB) }),
        ("uint", Scene { levels: 2, ..Scene::colour(F::R8G8B8A8_UINT) }),
        ("flat", Scene::colour(F::R8G8B8A8_UNORM).flat()),
        ("depth", Scene::depth(F::D32_SFLOAT)),
        ("stencil", Scene::stencil(F::S8_UINT)),
    ]
}

/// Whether a test may look at the pair: comparison is for depth, texels are for one level.
fn is_used(sampler: &str, view: &str) -> bool {
    match sampler {
        "shadow" => view == "depth",
        "texels" => view == "flat",
        _ => true,
    }
}

/// A condition, and the (sampler, view) that fit it.
type Condition = (&'static str, fn(&str, &str) -> bool);

const CONDITIONS: &[Condition] = &[
    ("exe = \"OVERRIDES*\"", |_, _| true),
    ("exe = \"overrides\"", |_, _| false),
    ("exe = \"over?ides-*\"", |_, _| true),
    ("app = \"*-testkit\"", |_, _| true),
    ("app = \"something else\"", |_, _| false),
    ("engine = \"testkit\"", |_, _| true),
    ("engine = \"test\"", |_, _| false),
    ("driver = \"*\"", |_, _| true),
    ("driver = \"no such device\"", |_, _| false),
    ("mag_filter = \"linear\"", |s, _| ["soft", "blend", "mixed", "shadow", "sharp"].contains(&s)),
    ("mag_filter = \"nearest\"", |s, _| ["plain", "texels"].contains(&s)),
    ("mag_filter = \"cubic\"", |_, _| false),
    ("min_filter = \"linear\"", |s, _| ["soft", "blend", "shadow", "sharp"].contains(&s)),
    ("mipmap_mode = \"linear\"", |s, _| ["blend", "sharp"].contains(&s)),
    ("address_mode = \"repeat\"", |s, _| ["blend", "sharp"].contains(&s)),
    ("address_mode = \"clamp_to_edge\"", |s, _| !["blend", "sharp"].contains(&s)),
    ("compare = true", |s, _| s == "shadow"),
    ("compare = false", |s, _| s != "shadow"),
    ("anisotropy = true", |s, _| s == "sharp"),
    ("anisotropy = false", |s, _| s != "sharp"),
    ("unnormalized = true", |s, _| s == "texels"),
    ("unnormalized = false", |s, _| s != "texels"),
    // The third sampler that the application created.
    ("nth = 3", |s, _| s == "blend"),
    ("nth = 300", |_, _| false),
    ("name = \"s*\"", |s, _| s.starts_with('s')),
    ("name = \"S?ft\"", |s, _| s == "soft"),
    ("name = \"late *\"", |_, _| false),
    ("format = \"VK_FORMAT_R8G8B8A8_UNORM\"", |_, v| ["four", "flat"].contains(&v)),
    ("format = \"r8g8b8a8_*\"", |_, v| !["depth", "stencil"].contains(&v)),
    ("format = \"d32*\"", |_, v| v == "depth"),
    ("class = \"color\"", |_, v| !["depth", "stencil"].contains(&v)),
    ("class = \"depth\"", |_, v| v == "depth"),
    ("class = \"stencil\"", |_, v| v == "stencil"),
    ("class = \"float\"", |_, v| !["uint", "stencil"].contains(&v)),
    ("class = \"integer\"", |_, v| ["uint", "stencil"].contains(&v)),
    ("class = \"srgb\"", |_, v| v == "srgb"),
    ("mip_levels = 4", |_, v| v == "four"),
    ("mip_levels = 1", |_, v| v == "flat"),
    ("mip_levels = { min = 3 }", |_, v| ["four", "depth", "stencil"].contains(&v)),
    ("mip_levels = { max = 2 }", |_, v| ["srgb", "uint", "flat"].contains(&v)),
    ("mip_levels = { min = 2, max = 3 }", |_, v| ["srgb", "uint", "depth", "stencil"].contains(&v)),
    ("class = \"float\", mip_levels = 4, anisotropy = true", |s, v| (s, v) == ("sharp", "four")),
];

/// Names of rules by the names of sampler and view.
type ByPair = BTreeMap<(String, String), Vec<String>>;

/// Runs every pair under a file of rules and returns the names of the rules that the trace lists for each.
fn rules_by_pair(text: &str, named: bool) -> Result<(ByPair, Judged), Skip> {
    let folder = Folder::new();
    let builder = with_rules(&folder, text).setting("trace_level", "all");
    let ((), judged) = with_layer(builder, |context| {
        let name = |name: &str| if named { Some(name.to_owned()) } else { None };
        let made: Vec<_> = samplers()
            .into_iter()
            .map(|(label, desc)| (label, SamplerDesc { name: name(label), ..desc }.create(context)))
            .collect();
        for (label, scene) in views() {
            let image = scene.image(context)?;
            let view = scene.view(&image);
            context.set_name(view.handle(), label);
            for (sampler, made) in made.iter().filter(|(sampler, _)| is_used(sampler, label)) {
                context.set_name(made.handle(), sampler);
                let pair = Pair::new(&view, made);
                let pair = if *sampler == "shadow" { pair.shadow() } else { pair };
                sample(context, pair, &scene.points(*sampler == "texels")[..1]);
            }
        }
        Ok(())
    })?;
    judged.assert_silent("pairs under rules");
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let by_pair = judged
        .trace
        .events("pair")
        .map(|record| {
            let names = &record["names"];
            let rules = record["rules"].as_array().into_iter().flatten().map(text).collect();
            ((text(&names["sampler"]), text(&names["view"])), rules)
        })
        .collect();
    Ok((by_pair, judged))
}

/// Every key of `when` matches what it names, and nothing else.
fn when_keys() -> Outcome {
    let rules: Vec<String> = CONDITIONS
        .iter()
        .enumerate()
        .map(|(index, (condition, _))| {
            format!("[[rule]]\nname = \"{index}\"\nwhen = {{ {condition} }}\nset = {{ min_lod = 0.0 }}\n")
        })
        .collect();
    let (by_pair, judged) = rules_by_pair(&rules.concat(), true)?;
    assert_no_problem(&judged);
    let pairs: BTreeSet<_> = samplers()
        .iter()
        .flat_map(|(s, _)| views().into_iter().map(move |(v, _)| ((*s).to_owned(), v.to_owned())))
        .filter(|(s, v)| is_used(s, v))
        .collect();
    assert_eq!(by_pair.keys().cloned().collect::<BTreeSet<_>>(), pairs, "every pair is in the trace");
    for ((sampler, view), rules) in &by_pair {
        let fits = |(_, (_, fits)): &(usize, &Condition)| fits(sampler, view);
        let wanted: Vec<String> =
            CONDITIONS.iter().enumerate().filter(fits).map(|(index, _)| index.to_string()).collect();
        let text = |rules: &[String]| -> Vec<&str> {
            rules.iter().filter_map(|rule| Some(CONDITIONS.get(rule.parse::<usize>().ok()?)?.0)).collect()
        };
        assert_eq!(text(rules), text(&wanted), "{sampler} on {view}");
    }
    Ok(())
}

/// A fingerprint of the trace selects its sampler, alone or in a list.
fn when_fingerprint() -> Outcome {
    let (_, judged) = rules_by_pair("", false)?;
    let prints: Vec<String> =
        judged.trace.events("sampler").map(|r| r["fingerprint"].as_str().expect("a text").to_owned()).collect();
    let wanted = samplers().len();
    assert_eq!(prints.iter().collect::<BTreeSet<_>>().len(), wanted, "one for each state: {prints:?}");
    let (one, two) = (&prints[2], &prints[5]);
    let text = format!(
        "[[rule]]\nname = \"one\"\nwhen = {{ fingerprint = \"{one}\" }}\nset = {{ min_lod = 0.0 }}\n\
         [[rule]]\nname = \"list\"\nwhen = {{ fingerprint = [\"0x{one}\", \"{two}\"] }}\nset = {{ min_lod = 0.0 }}\n\
         [[rule]]\nname = \"none\"\nwhen = {{ fingerprint = \"0123456789abcdef\" }}\nset = {{ min_lod = 0.0 }}\n"
    );
    let (by_pair, judged) = rules_by_pair(&text, true)?;
    assert_no_problem(&judged);
    for ((sampler, view), rules) in by_pair {
        let wanted: &[&str] = match sampler.as_str() {
            "blend" => &["one", "list"],
            "sharp" => &["list"],
            _ => &[],
        };
        assert_eq!(rules, wanted, "{sampler} on {view}");
    }
    Ok(())
}

/// Rules apply in order; `stop` ends the search for the pairs that it matches, and only for those.
fn stop() -> Outcome {
    let text = "
        [[rule]]
        name = \"first\"
        set = { min_lod = 0.0 }
        [[rule]]
        name = \"stop\"
        when = { class = \"integer\" }
        stop = true
        [[rule]]
        name = \"last\"
        set = { max_lod = 900.0 }
        [[rule]]
        set = { min_lod = 0.0 }
        stop = true
        [[rule]]
        name = \"never\"
        set = { max_lod = 1.0 }
    ";
    let (by_pair, judged) = rules_by_pair(text, true)?;
    assert_no_problem(&judged);
    assert!(!by_pair.is_empty());
    for ((sampler, view), rules) in by_pair {
        let wanted: &[&str] = if ["uint", "stencil"].contains(&view.as_str()) {
            &["first", "stop"]
        } else {
            &["first", "last", "rule 4"]
        };
        assert_eq!(rules, wanted, "{sampler} on {view}");
    }
    Ok(())
}

/// A sampler that gets its name after it has been written follows rules about names from the next write on.
fn late_name() -> Outcome {
    let folder = Folder::new();
    let builder = with_rules(
        &folder,
        "[[rule]]\nwhen = { name = \"late\" }\nset = { mag_filter = \"nearest\", min_filter = \"nearest\" }\n",
    );
    let ((), judged) = with_layer(builder, |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let image = scene.image(context)?;
        let view = scene.view(&image);
        // Two of one state: only the named one changes.
        let (sampler, other) = (SamplerDesc::linear().create(context), SamplerDesc::linear().create(context));
        let points = scene.points(false);
        let look = |sampler| sample(context, Pair::new(&view, sampler), &points);
        let before = look(&sampler);
        context.set_name(sampler.handle(), "late");
        assert_ne!(look(&sampler), before, "the name came too late");
        assert_eq!(look(&other), before, "a sampler without a name changed");
        Ok(())
    })?;
    judged.assert_silent("a late name");
    assert_eq!(judged.trace.events("pair").count(), 1);
    Ok(())
}

// --- set --------------------------------------------------------------------------------------------------------------

/// One wish for one sampler.
struct Wish {
    set: &'static str,
    sampler: SamplerDesc,
    /// What it comes to.
    legal: SamplerDesc,
    /// (catalogue row, member, before, after)
    changes: Vec<(&'static str, &'static str, String, String)>,
}

fn change(
    catalog: &'static str,
    field: &'static str,
    from: impl ToString,
    to: impl ToString,
) -> (&'static str, &'static str, String, String) {
    (catalog, field, from.to_string(), to.to_string())
}

fn wishes() -> Vec<Wish> {
    let (linear, nearest, tri) = (SamplerDesc::linear(), SamplerDesc::nearest(), SamplerDesc::trilinear());
    let filter =
        |catalog, field, from, to| change(catalog, field, format!("VK_FILTER_{from}"), format!("VK_FILTER_{to}"));
    let mode = |field, from, to| {
        change("O-1", field, format!("VK_SAMPLER_ADDRESS_MODE_{from}"), format!("VK_SAMPLER_ADDRESS_MODE_{to}"))
    };
    let modes = |sampler: &SamplerDesc, address| SamplerDesc { address, ..sampler.clone() };
    vec![
        Wish {
            set: "mag_filter = \"nearest\"",
            sampler: linear.clone(),
            legal: SamplerDesc { mag_filter: vk::Filter::NEAREST, ..linear.clone() },
            changes: vec![filter("O-1", "magFilter", "LINEAR", "NEAREST")],
        },
        Wish {
            set: "min_filter = \"linear\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { min_filter: vk::Filter::LINEAR, ..nearest.clone() },
            changes: vec![filter("O-1", "minFilter", "NEAREST", "LINEAR")],
        },
        Wish {
            // No driver here has it: what is not legal comes to what is.
            set: "mag_filter = \"cubic\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest.clone() },
            changes: vec![
                filter("O-1", "magFilter", "NEAREST", "CUBIC_EXT"),
                filter("A-1", "magFilter", "CUBIC_EXT", "LINEAR"),
            ],
        },
        Wish {
            set: "mipmap_mode = \"linear\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..nearest.clone() },
            changes: vec![change(
                "O-1",
                "mipmapMode",
                "VK_SAMPLER_MIPMAP_MODE_NEAREST",
                "VK_SAMPLER_MIPMAP_MODE_LINEAR",
            )],
        },
        Wish {
            set: "address_mode = \"repeat\"",
            sampler: nearest.clone(),
            legal: nearest.clone().address(M::REPEAT),
            changes: ["addressModeU", "addressModeV", "addressModeW"]
                .map(|field| mode(field, "CLAMP_TO_EDGE", "REPEAT"))
                .to_vec(),
        },
        Wish {
            set: "address_mode = { v = \"mirrored_repeat\" }",
            sampler: nearest.clone(),
            legal: modes(&nearest, [M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE]),
            changes: vec![mode("addressModeV", "CLAMP_TO_EDGE", "MIRRORED_REPEAT")],
        },
        Wish {
            set: "address_mode = { u = \"mirror_clamp_to_edge\", w = \"repeat\" }",
            sampler: nearest.clone(),
            legal: modes(&nearest, [M::MIRROR_CLAMP_TO_EDGE, M::CLAMP_TO_EDGE, M::REPEAT]),
            changes: vec![
                mode("addressModeU", "CLAMP_TO_EDGE", "MIRROR_CLAMP_TO_EDGE"),
                mode("addressModeW", "CLAMP_TO_EDGE", "REPEAT"),
            ],
        },
        Wish {
            set: "address_mode = \"clamp_to_border\", border = \"opaque_white\"",
            sampler: linear.clone(),
            legal: linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
            changes: ["addressModeU", "addressModeV", "addressModeW"]
                .map(|field| mode(field, "CLAMP_TO_EDGE", "CLAMP_TO_BORDER"))
                .into_iter()
                .chain([change(
                    "O-1",
                    "borderColor",
                    "VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK",
                    "VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE",
                )])
                .collect(),
        },
        Wish {
            // A custom colour goes with its structure.
            set: "border = \"opaque_black\"",
            sampler: linear.clone().custom_border(BorderValue::Float([0.5; 4]), F::R8G8B8A8_UNORM),
            legal: linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_BLACK),
            changes: vec![change(
                "O-1",
                "borderColor",
                "VK_BORDER_COLOR_FLOAT_CUSTOM_EXT",
                "VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK",
            )],
        },
        Wish {
            set: "mip_lod_bias = { add = 0.75 }",
            sampler: SamplerDesc { lod_bias: 0.5, ..tri.clone() },
            legal: SamplerDesc { lod_bias: 1.25, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 0.5, 1.25)],
        },
        Wish {
            set: "mip_lod_bias = { set = -1 }",
            sampler: SamplerDesc { lod_bias: 2.5, ..tri.clone() },
            legal: SamplerDesc { lod_bias: -1.0, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 2.5, "-1.0")],
        },
        Wish {
            set: "mip_lod_bias = 1.5",
            sampler: tri.clone(),
            legal: SamplerDesc { lod_bias: 1.5, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", "0.0", 1.5)],
        },
        Wish {
            // Mesa's software driver has a limit of 16; beyond it the wish is clamped like anybody's.
            set: "mip_lod_bias = { add = 1000.0 }",
            sampler: SamplerDesc { lod_bias: 0.25, ..tri.clone() },
            legal: SamplerDesc { lod_bias: 16.0, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 0.25, 1000.25), change("A-2", "mipLodBias", 1000.25, "16.0")],
        },
        Wish {
            set: "min_lod = 1",
            sampler: tri.clone().lod(0.0, 4.0),
            legal: tri.clone().lod(1.0, 4.0),
            changes: vec![change("O-1", "minLod", "0.0", "1.0")],
        },
        Wish {
            set: "max_lod = 0.5",
            sampler: tri.clone().lod(0.0, 5.0),
            legal: tri.clone().lod(0.0, 0.5),
            changes: vec![change("O-1", "maxLod", "5.0", 0.5)],
        },
        Wish {
            // Above what the application allows: the two ends are put in order again.
            set: "min_lod = 2.0",
            sampler: tri.clone().lod(0.0, 1.0),
            legal: tri.clone().lod(1.0, 2.0),
            changes: vec![
                change("O-1", "minLod", "0.0", "2.0"),
                change("A-4", "minLod", "2.0", "1.0"),
                change("A-4", "maxLod", "1.0", "2.0"),
            ],
        },
        Wish {
            set: "max_anisotropy = 1",
            sampler: tri.clone().anisotropy(4.0).lod(0.0, 6.0),
            legal: tri.clone().lod(0.0, 6.0),
            changes: vec![change("O-1", "maxAnisotropy", "4.0", "1.0")],
        },
    ]
}

/// Every key of `set` does what it says, and comes to something legal.
fn set_keys() -> Outcome {
    let wishes = wishes();
    let rules: Vec<String> = wishes
        .iter()
        .enumerate()
        .map(|(index, wish)| format!("[[rule]]\nwhen = {{ name = \"wish {index}\" }}\nset = {{ {} }}\n", wish.set))
        .collect();
    let folder = Folder::new();
    let ((), judged) = with_layer(with_rules(&folder, &rules.concat()), |context| {
        skip_if(
            (!context.device_name().contains("llvmpipe")).then(|| "limits are those of Mesa's software driver".into()),
        )?;
        skip_if(context.missing(&[Capability::CustomBorderColor, Capability::SamplerMirrorClampToEdge]))?;
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let image = scene.image(context)?;
        let view = scene.view(&image);
        let texture = reference::Texture::read(&image, &view);
        let points = scene.points(false);
        for (index, wish) in wishes.iter().enumerate() {
            let sampler = wish.sampler.clone().named(&format!("wish {index}")).create(context);
            let got = sample(context, Pair::new(&view, &sampler), &points);
            for (point, got) in points.iter().zip(got) {
                let wanted = reference::sample(&texture, &wish.legal, point, 16.0);
                assert!(got.is_near(wanted, 0.02), "{}: {got:?} is not {wanted:?} at {point:?}", wish.set);
            }
        }
        Ok(())
    })?;
    judged.assert_silent("wishes");
    assert_no_problem(&judged);
    let records: Vec<_> = judged.trace.events("pair").collect();
    assert_eq!(records.len(), wishes.len(), "{records:#?}");
    for (record, wish) in records.iter().zip(&wishes) {
        let rows: Vec<_> = changes(record).into_iter().map(|c| (c.catalog, c.field, c.from, c.to)).collect();
        let wanted: Vec<_> = wish
            .changes
            .iter()
            .map(|(catalog, field, from, to)| ((*catalog).to_owned(), (*field).to_owned(), from.clone(), to.clone()))
            .collect();
        assert_eq!(rows, wanted, "{}: {record:#}", wish.set);
        assert!(record["variant"].is_string(), "{record:#}");
    }
    Ok(())
}

/// `compare` changes samplers that compare, once its guard is off; and never makes one compare.
fn set_compare() -> Outcome {
    let folder = Folder::new();
    let text = "
        [[rule]]
        when = { name = \"greater\" }
        set = { compare = \"greater\" }
        guards_off = [\"compare\"]
        [[rule]]
        when = { name = \"guarded\" }
        set = { compare = \"greater\" }
        [[rule]]
        when = { name = \"off\" }
        set = { compare = \"off\" }
        guards_off = [\"compare\"]
        [[rule]]
        when = { name = \"plain\" }
        set = { compare = \"greater\" }
        guards_off = [\"compare\"]
    ";
    let ((), judged) = with_layer(with_rules(&folder, text), |context| {
        let scene = Scene::depth(F::D32_SFLOAT);
        let image = scene.image(context)?;
        let view = scene.view(&image);
        let texture = reference::Texture::read(&image, &view);
        let points = scene.points(false);
        let less = SamplerDesc::nearest().compare(vk::CompareOp::LESS);
        for (name, sampler, legal) in [
            ("greater", &less, SamplerDesc::nearest().compare(vk::CompareOp::GREATER)),
            ("guarded", &less, less.clone()),
            ("off", &less, SamplerDesc::nearest()),
            ("plain", &SamplerDesc::nearest(), SamplerDesc::nearest()),
        ] {
            let made = sampler.clone().named(name).create(context);
            let pair = Pair::new(&view, &made);
            let got = sample(context, if legal.compare_enable { pair.shadow() } else { pair }, &points);
            for (point, got) in points.iter().zip(got) {
                let wanted = reference::sample(&texture, &legal, point, 2.0);
                let (got, wanted) = (got.components()[0], wanted.components()[0]);
                assert!((got - wanted).abs() < 1e-4, "{name}: {got} is not {wanted} at {point:?}");
            }
        }
        Ok(())
    })?;
    judged.assert_silent("comparison under rules");
    assert_no_problem(&judged);
    let held: Vec<String> = judged.changes("pair").iter().map(|c| format!("{} {}", c.catalog, c.field)).collect();
    assert_eq!(held, ["O-1 compareOp", "O-2 compareOp", "O-1 compareEnable"]);
    Ok(())
}

// --- guards -----------------------------------------------------------------------------------------------------------

/// A pair that breaks when anisotropy is forced blindly.
struct Fragile {
    name: &'static str,
    /// The guard that holds it back.
    guard: &'static str,
    sampler: SamplerDesc,
    desc: ImageDesc,
    aspect: vk::ImageAspectFlags,
}

fn fragile() -> Vec<Fragile> {
    let tri = SamplerDesc::trilinear().address(M::REPEAT);
    let colour = vk::ImageAspectFlags::COLOR;
    let rgba = |levels| ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(levels);
    let target = |levels| rgba(levels).usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
    let fragile = |name, guard, sampler: &SamplerDesc, desc| Fragile {
        name,
        guard,
        sampler: sampler.clone(),
        desc,
        aspect: colour,
    };
    let shadow = SamplerDesc::linear().compare(vk::CompareOp::LESS);
    vec![
        Fragile {
            aspect: vk::ImageAspectFlags::DEPTH,
            ..fragile("shadow map", "compare", &shadow, ImageDesc::d2(F::D32_SFLOAT, 32, 32).levels(3))
        },
        fragile("integers", "integer", &SamplerDesc::nearest(), ImageDesc::d2(F::R8G8B8A8_UINT, 32, 32).levels(3)),
        fragile("integers, linear", "integer", &tri, ImageDesc::d2(F::R8G8B8A8_UINT, 32, 32).levels(3)),
        fragile("render target", "attachment", &tri, target(1)),
        fragile("render target with levels", "attachment", &tri, target(4)),
        fragile("one level", "single_mip", &tri, rgba(1)),
        fragile("texels", "unnormalized", &SamplerDesc::unnormalized(vk::Filter::LINEAR), rgba(1)),
        fragile("blocks", "nearest", &SamplerDesc::nearest(), rgba(4)),
        fragile("line", "one_dimensional", &tri, ImageDesc::d1(F::R8G8B8A8_UNORM, 32).levels(4)),
    ]
}

fn fill<'c>(context: &'c Context, desc: &ImageDesc) -> Result<Image<'c>, Skip> {
    let format = desc.format;
    Image::filled(context, desc, |aspect, level, layer, at| {
        pattern(texel::numeric_kind(format, aspect), level, layer, at)
    })
    .map_err(Skip)
}

/// A floor seen at a flat angle.
fn paint(context: &Context, view: &View<'_>, sampler: &Sampler<'_>) -> Result<Vec<Value>, Skip> {
    let pair = Pair::new(view, sampler);
    let pair = if sampler.desc().compare_enable { pair.shadow() } else { pair };
    let layout = descriptor::SetLayout::new(context, &[descriptor::Binding::combined(0, 1)]);
    let pool = descriptor::Pool::new(context, &[&layout]);
    let set = pool.allocate(&layout);
    descriptor::write_combined(context, set, (0, 0), &[pair]);
    let painter = Painter::new(context, &layout, pair.shape, pair.kind, [48, 48]).map_err(Skip)?;
    let mapping = Mapping {
        origin: [-1.0, 1.0, 0.0, 0.0],
        dx: [2.0, 0.0, 0.0, 0.0],
        dy: [0.0; 4],
        divisor: [0.06, 0.0, 0.9],
        reference: 0.41,
        bias: 0.0,
    };
    Ok(painter.paint(set, &mapping))
}

/// What a pair looks like: by implicit LOD, or by a probe where the shader may not use that.
fn appearance(context: &Context, view: &View<'_>, sampler: &Sampler<'_>) -> Result<Vec<Value>, Skip> {
    if sampler.desc().unnormalized {
        let scene = Scene::colour(F::R8G8B8A8_UNORM).flat();
        return Ok(sample(context, Pair::new(view, sampler), &scene.points(true)));
    }
    paint(context, view, sampler)
}

/// The pictures of all fragile pairs, and of one that gains from anisotropy, plain and with the application's own.
fn pictures(context: &Context) -> Result<Vec<(String, Vec<Value>)>, Skip> {
    let mut out = Vec::new();
    for case in fragile() {
        let image = fill(context, &case.desc)?;
        let view = image.view(&ViewDesc::aspect(case.aspect));
        out.push((case.name.to_owned(), appearance(context, &view, &case.sampler.clone().create(context))?));
    }
    let image = fill(context, &ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(6))?;
    let view = image.view(&ViewDesc::default());
    let tri = SamplerDesc::trilinear().address(M::REPEAT);
    out.push(("floor".into(), paint(context, &view, &tri.clone().create(context))?));
    Ok(out)
}

/// Forced 16× anisotropy: what would break is left as it is, down to the pixel, and the trace says why; the rest is what an
/// application's own 16× gives. The application never asked for the feature: the layer enables it.
fn forced_anisotropy() -> Outcome {
    let plain = {
        let context = build(&Context::builder())?;
        skip_if(context.missing(&[Capability::SamplerAnisotropy]))?;
        // Without samplin a LINEAR sampler on integers is undefined, so its picture is not asked for here.
        let image = fill(&context, &ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(6))?;
        let view = image.view(&ViewDesc::default());
        let tri = SamplerDesc::trilinear().address(M::REPEAT);
        let none = paint(&context, &view, &tri.clone().create(&context))?;
        let own = paint(&context, &view, &tri.anisotropy(16.0).create(&context))?;
        assert_ne!(none, own, "the driver does nothing for anisotropy here");
        (none, own)
    };
    let (before, _) = with_layer(Context::builder(), pictures)?;
    let folder = Folder::new();
    let builder = with_rules(&folder, "[[rule]]\nname = \"sharper\"\nset = { max_anisotropy = 16 }\n");
    let (after, judged) = with_layer(builder.without(Capability::SamplerAnisotropy), pictures)?;
    judged.assert_silent("forced anisotropy");
    assert_no_problem(&judged);
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        if name == "floor" {
            assert_eq!(*before, plain.0, "without a rule");
            assert_eq!(*after, plain.1, "with the rule it is what the application's own 16 gives");
        } else {
            assert_eq!(before, after, "{name} was touched");
        }
    }
    let device = judged.trace.first("device");
    let augmented: Vec<_> = device["augmented"].as_array().expect("a list").iter().collect();
    assert!(augmented.contains(&&Json::from("samplerAnisotropy")), "{device:#}");
    // One record each, in order: the guard by its name, and the one that was changed.
    let records: Vec<_> = judged.trace.events("pair").collect();
    let held = |record: &Json| -> Vec<String> {
        let held = changes(record).into_iter().filter(|change| change.catalog == "O-2");
        held.map(|c| format!("{} {} {}: {}", c.rule, c.field, c.from, c.because)).collect()
    };
    let mut left = records.iter();
    for case in fragile() {
        let record = left.next().unwrap_or_else(|| panic!("no record of {}", case.name));
        let told = held(record);
        let guard = format!("(guard {})", case.guard);
        assert_eq!(told.len(), 1, "{}: {record:#}", case.name);
        assert!(
            told[0].starts_with("override maxAnisotropy 16.0") && told[0].ends_with(&guard),
            "{}: {told:?}",
            case.name
        );
        assert_eq!(record["rules"], serde_json::json!(["sharper"]), "{record:#}");
        // An illegal pair is repaired all the same; a legal one keeps its sampler.
        assert_eq!(record["variant"].is_null(), case.name != "integers, linear", "{}: {record:#}", case.name);
    }
    let floor = left.next().expect("a record of the floor");
    assert!(held(floor).is_empty() && floor["variant"].is_string(), "{floor:#}");
    assert_eq!(changes(floor)[0].catalog, "O-1");
    assert!(left.next().is_none());
    Ok(())
}

/// Each guard can be named off; what is illegal then is repaired like an application's own mistake. Nothing is executed: what the
/// guards are there for does happen, and some drivers crash on anisotropic 1D images.
fn guards_off() -> Outcome {
    let guards: BTreeSet<_> = fragile().into_iter().map(|case| case.guard).collect();
    for guard in guards {
        let folder = Folder::new();
        let text = format!("[[rule]]\nset = {{ max_anisotropy = 16 }}\nguards_off = [\"{guard}\"]\n");
        let (_, judged) = with_layer(with_rules(&folder, &text).record_only(), pictures)?;
        judged.assert_silent(guard);
        assert_no_problem(&judged);
        let records: Vec<_> = judged.trace.events("pair").collect();
        for (case, record) in fragile().iter().zip(&records) {
            let rows: Vec<String> = changes(record).iter().map(|c| c.catalog.clone()).collect();
            // The next guard may still hold: a render target with one level, a nearest sampler on integers.
            let next = match case.name {
                "render target" => Some("single_mip"),
                "integers" => Some("nearest"),
                "texels" => Some("single_mip"),
                _ => None,
            };
            let off = case.guard == guard;
            match next {
                Some(next) if off => {
                    let because = &changes(record)[0].because;
                    assert!(because.ends_with(&format!("(guard {next})")), "{}: {because}", case.name);
                }
                _ => assert_eq!(rows.contains(&"O-2".to_owned()), !off, "{guard} off, {}: {record:#}", case.name),
            }
            if off && next.is_none() {
                assert_eq!(rows[0], "O-1", "{record:#}");
            }
            // With LINEAR filters gone there is nothing to be anisotropic about.
            if off && case.name == "integers, linear" {
                assert!(rows.contains(&"B-9".to_owned()), "{}: {record:#}", case.name);
            }
        }
    }
    // All at once, and every other wish with them: still nothing illegal.
    let folder = Folder::new();
    let all = "\"unnormalized\", \"compare\", \"ycbcr\", \"integer\", \"attachment\", \"single_mip\", \"nearest\", \"one_dimensional\"";
    let text = format!(
        "[[rule]]\nset = {{ max_anisotropy = 64, mip_lod_bias = {{ add = 99 }}, min_lod = 3, mag_filter = \"linear\", \
         min_filter = \"cubic\", mipmap_mode = \"linear\", address_mode = \"mirror_clamp_to_edge\", \
         border = \"opaque_white\" }}\nguards_off = [{all}]\n"
    );
    let builder = with_rules(&folder, &text).record_only();
    let builder = builder.without(Capability::SamplerMirrorClampToEdge).setting("augment", "off");
    let (_, judged) = with_layer(builder, pictures)?;
    judged.assert_silent("every wish at once");
    assert_no_problem(&judged);
    Ok(())
}

/// A guard holds back what it concerns and lets the rest of the rule through.
fn guards_by_member() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { max_anisotropy = 8, mip_lod_bias = 1, mag_filter = \"linear\" }\n";
    let ((), judged) = with_layer(with_rules(&folder, text), |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM).flat();
        let image = scene.image(context)?;
        let view = scene.view(&image);
        let mixed = SamplerDesc { min_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() };
        sample(context, Pair::new(&view, &mixed.create(context)), &scene.points(false));
        Ok(())
    })?;
    judged.assert_silent("one level");
    let told: Vec<String> = judged.changes("pair").iter().map(|c| format!("{} {}", c.catalog, c.field)).collect();
    assert_eq!(told, ["O-1 magFilter", "O-2 maxAnisotropy", "O-2 mipLodBias"]);
    Ok(())
}

/// Views that are not alike get what suits each of them, from one sampler.
fn by_pair_not_by_sampler() -> Outcome {
    let folder = Folder::new();
    let text =
        "[[rule]]\nwhen = { format = \"*_UNORM\" }\nset = { mag_filter = \"nearest\", min_filter = \"nearest\" }\n";
    let ((), judged) = with_layer(with_rules(&folder, text), |context| {
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        for (format, legal) in [(F::R8G8B8A8_UNORM, SamplerDesc::nearest()), (F::R16G16B16A16_SFLOAT, linear.clone())] {
            let scene = Scene::colour(format);
            let image = scene.image(context)?;
            let view = scene.view(&image);
            let texture = reference::Texture::read(&image, &view);
            let points = scene.points(false);
            let got = sample(context, Pair::new(&view, &sampler), &points);
            for (point, got) in points.iter().zip(got) {
                let wanted = reference::sample(&texture, &legal, point, 2.0);
                assert!(got.is_near(wanted, 0.02), "{format:?}: {got:?} is not {wanted:?}");
            }
        }
        Ok(())
    })?;
    judged.assert_silent("two views");
    assert_eq!(judged.trace.events("pair").count(), 1);
    Ok(())
}

/// A Y′CbCr sampler is its layout's, and no rule reaches it.
fn ycbcr() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { max_anisotropy = 16, mag_filter = \"nearest\", address_mode = \"repeat\" }\n";
    let builder = with_rules(&folder, text).setting("trace_level", "all");
    let ((), judged) = with_layer(builder, |context| {
        skip_if(context.missing(&[Capability::SamplerYcbcrConversion]))?;
        let format = F::G8_B8R8_2PLANE_420_UNORM;
        let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
        let wanted = vk::FormatFeatureFlags::SAMPLED_IMAGE | vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES;
        skip_if((!features.contains(wanted)).then(|| format!("the device cannot sample {format:?}")))?;
        let device = context.device();
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(format)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .x_chroma_offset(vk::ChromaLocation::MIDPOINT)
            .y_chroma_offset(vk::ChromaLocation::MIDPOINT);
        // SAFETY: the feature is enabled and the format's features were asked for.
        let conversion = unsafe { device.create_sampler_ycbcr_conversion(&info, None) }.expect("a conversion");
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let clamp = M::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .address_mode_u(clamp)
            .address_mode_v(clamp)
            .address_mode_w(clamp)
            .push_next(&mut chained);
        // SAFETY: the chain is a live local.
        let sampler = unsafe { device.create_sampler(&info, None) }.expect("a sampler");
        // SAFETY: nothing uses the two.
        unsafe {
            device.destroy_sampler(sampler, None);
            device.destroy_sampler_ycbcr_conversion(conversion, None);
        }
        Ok(())
    })?;
    judged.assert_silent("a conversion under rules");
    assert!(judged.changes("sampler").is_empty());
    Ok(())
}

// --- processes --------------------------------------------------------------------------------------------------------

/// Runs this program again under whatever rules the environment leads to, and returns its trace.
fn child(folder: &Folder, name: &str, environment: &[(&str, &Path)]) -> Result<Trace, Skip> {
    let trace = folder.join(name);
    let part = trace.to_str().expect("temporary paths are UTF-8");
    again::run(again::command(part).envs(environment.iter().copied()))?;
    Ok(run::read_trace(&trace))
}

/// What [`child`] starts: samples a few samplers, with a trace at this path.
fn be_child(trace: &str) -> Outcome {
    let builder = Context::builder().samplin().setting("trace", trace).setting("trace_level", "all");
    let context = build(&builder)?;
    let scene = Scene::colour(F::R8G8B8A8_UNORM);
    let image = scene.image(&context)?;
    let view = scene.view(&image);
    // Members that count for nothing must not show in the fingerprint.
    let garbage = SamplerDesc {
        max_anisotropy: f32::from_bits(std::process::id()),
        compare_op: vk::CompareOp::from_raw(std::process::id().cast_signed()),
        ..SamplerDesc::nearest()
    };
    let custom = SamplerDesc::nearest().custom_border(BorderValue::Float([0.25, 0.5, 0.75, 1.0]), F::R8G8B8A8_UNORM);
    for desc in samplers().into_iter().map(|(_, desc)| desc).chain([garbage, custom]) {
        let sampler = desc.create(&context);
        if !desc.unnormalized && !desc.compare_enable {
            sample(&context, Pair::new(&view, &sampler), &scene.points(false)[..1]);
        }
    }
    Ok(())
}

/// A fingerprint is the same in every process, and on every machine: some are written down here.
fn fingerprints() -> Outcome {
    // Also tells whether there is a device at all.
    drop(build(&Context::builder().samplin())?);
    let folder = Folder::new();
    let prints = |name| -> Result<Vec<String>, Skip> {
        let trace = child(&folder, name, &[])?;
        Ok(trace.events("sampler").map(|r| r["fingerprint"].as_str().expect("a text").to_owned()).collect())
    };
    let (first, second) = (prints("first.jsonl")?, prints("second.jsonl")?);
    assert_eq!(first, second);
    assert_eq!(first[0], first[samplers().len()], "ignored members count");
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), first.len() - 1, "{first:?}");
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fingerprints.txt");
    let known = std::fs::read_to_string(known).expect("the known fingerprints");
    assert_eq!(first, known.lines().collect::<Vec<_>>());
    Ok(())
}

/// The file of the application wins over the general one, and the setting over both.
fn which_file() -> Outcome {
    drop(build(&Context::builder().samplin())?);
    let folder = Folder::new();
    let own = again::program();
    let own = own.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let config = folder.join("config");
    std::fs::create_dir_all(config.join("samplin")).expect("a folder");
    let put = |path: &Path, rule: &str| {
        let text = format!("[[rule]]\nname = \"{rule}\"\nset = {{ min_lod = 0.0 }}\n");
        std::fs::write(path, text).expect("a rules file");
    };
    let rules = |name: &str, environment: &[(&str, &Path)]| -> Result<BTreeSet<String>, Skip> {
        let trace = child(&folder, name, environment)?;
        let all = trace.events("pair").flat_map(|record| record["rules"].as_array().cloned().unwrap_or_default());
        Ok(all.map(|rule| rule.as_str().unwrap_or_default().to_owned()).collect())
    };
    let home: (&str, &Path) = ("XDG_CONFIG_HOME", &config);
    let only = |rule: &str| BTreeSet::from([rule.to_owned()]);
    assert_eq!(rules("none.jsonl", &[home])?, BTreeSet::new());
    put(&config.join("samplin/samplin.toml"), "general");
    assert_eq!(rules("general.jsonl", &[home])?, only("general"));
    put(&config.join(format!("samplin/{own}.toml")), "own");
    assert_eq!(rules("own.jsonl", &[home])?, only("own"));
    let named = folder.join("named.toml");
    put(&named, "named");
    assert_eq!(rules("named.jsonl", &[home, ("SAMPLIN_CONFIG", &named)])?, only("named"));
    Ok(())
}

// --- mistakes ---------------------------------------------------------------------------------------------------------

/// The malformed files, each with what is expected beside it.
fn malformed() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of malformed rules")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

/// What a file is expected to come to: `line:column: message` for each problem, then `rules: a, b` for those left in force.
fn expected(path: &Path) -> String {
    let path = path.with_extension("expected");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Each malformed file says what is wrong and where, and the good rules in it stay in force.
fn mistakes() -> Outcome {
    let files = malformed();
    assert!(files.len() >= 30, "{} malformed files", files.len());
    let mut wrong = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a file");
        let (rules, problems) = Rules::parse(path, &text);
        let mut lines: Vec<String> = problems
            .iter()
            .map(|p| format!("{}:{}: {}\n", p.line.unwrap_or(0), p.column.unwrap_or(0), p.message))
            .collect();
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        lines.push(format!("rules: {}\n", names.join(", ")));
        assert!(!problems.is_empty(), "{} is not malformed", path.display());
        let file = path.to_str().expect("UTF-8");
        assert!(problems.iter().all(|problem| problem.file.as_deref() == Some(file)), "{problems:?}");
        if lines.concat() != expected(path) {
            wrong.push(format!("{}:\n{}instead of\n{}", path.display(), lines.concat(), expected(path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The same through the layer: problems become `settings` records, the application runs on under the rules that are good.
fn mistakes_in_the_trace() -> Outcome {
    for path in malformed() {
        let file = path.to_str().expect("UTF-8").to_owned();
        let folder = Folder::new();
        let trace = folder.join("trace.jsonl");
        let builder = Context::builder()
            .without_messenger()
            .samplin()
            .setting("trace", trace.to_str().expect("UTF-8"))
            .setting("config", &file)
            .setting("trace_level", "all");
        let context = build(&builder)?;
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let image = scene.image(&context)?;
        let view = scene.view(&image);
        let sampler = SamplerDesc::nearest().create(&context);
        let pair = Pair::new(&view, &sampler);
        let layout = descriptor::SetLayout::new(&context, &[descriptor::Binding::combined(0, 1)]);
        let pool = descriptor::Pool::new(&context, &[&layout]);
        let set = pool.allocate(&layout);
        descriptor::write_combined(&context, set, (0, 0), &[pair]);
        drop((pool, layout, sampler, view, image));
        drop(context);
        let trace = run::read_trace(&trace);
        let mut lines: Vec<String> = trace
            .events("settings")
            .map(|p| {
                assert_eq!((p["level"].as_str(), p["key"].as_str()), (Some("error"), Some("config")), "{p:#}");
                assert_eq!(p["file"], file, "{p:#}");
                format!("{}:{}: {}\n", p["line"], p["column"], p["message"].as_str().expect("a text"))
            })
            .collect();
        let names = &trace.first("pair")["rules"];
        let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        lines.push(format!("rules: {}\n", names.join(", ")));
        assert_eq!(lines.concat(), expected(&path), "{file}");
    }
    Ok(())
}

/// A file that cannot be read is said so, once.
fn unreadable() -> Outcome {
    let folder = Folder::new();
    let path = folder.join("no such file.toml");
    let builder = Context::builder().setting("config", path.to_str().expect("UTF-8"));
    let ((), judged) = with_layer(builder, |_| Ok(()))?;
    let problem = judged.trace.first("settings");
    assert_eq!(judged.trace.events("settings").count(), 1);
    assert_eq!((&problem["level"], &problem["file"]), (&"error".into(), &path.to_str().into()), "{problem:#}");
    let message = problem["message"].as_str().expect("a text");
    assert!(message.starts_with("the rules file cannot be read: "), "{message}");
    Ok(())
}

// --- editors ----------------------------------------------------------------------------------------------------------

/// `text` as JSON, as an editor's schema checker sees it; `None` if it is not TOML.
fn toml_as_json(text: &str) -> Option<Json> {
    fn value(of: &DeValue<'_>) -> Json {
        match of {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Integer(number) => {
                i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).expect("a small number").into()
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().expect("a number").into(),
            DeValue::Boolean(on) => (*on).into(),
            DeValue::Datetime(when) => when.to_string().into(),
            DeValue::Array(list) => list.iter().map(|item| value(item.get_ref())).collect(),
            DeValue::Table(of) => table(of),
        }
    }
    fn table(of: &DeTable<'_>) -> Json {
        Json::Object(of.iter().map(|(key, of)| (key.get_ref().to_string(), value(of.get_ref()))).collect())
    }
    DeTable::parse(text).ok().map(|file| table(file.get_ref()))
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/samplin.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    jsonschema::draft202012::new(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

/// The schema for editors accepts what the layer accepts, and complains where it does.
fn editors() -> Outcome {
    let schema = schema();
    let accept = |text: &str| {
        let (_, problems) = Rules::parse(Path::new("samplin.toml"), text);
        assert_eq!(problems, Vec::new(), "{text}");
        let json = toml_as_json(text).expect("TOML");
        let errors: Vec<String> = schema.iter_errors(&json).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?} in {text}");
    };
    for (condition, _) in CONDITIONS {
        accept(&format!("[[rule]]\nwhen = {{ {condition} }}\nset = {{ min_lod = 0 }}\n"));
    }
    for wish in wishes() {
        accept(&format!("[[rule]]\nname = \"a\"\nset = {{ {} }}\nguards_off = [\"compare\"]\n", wish.set));
    }
    let mut seen = 0;
    for path in malformed() {
        let text = std::fs::read_to_string(&path).expect("a file");
        // What is not TOML never reaches a schema; some mistakes are beyond one.
        let Some(json) = toml_as_json(&text) else { continue };
        let beyond = path.to_string_lossy().contains("swapped");
        seen += 1;
        assert_eq!(schema.is_valid(&json), beyond, "{}", path.display());
    }
    assert!(seen >= 20, "{seen}");
    // The sample: as it is, and with its rules switched on.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/samplin.toml");
    let sample = std::fs::read_to_string(path).expect("the sample");
    accept(&sample);
    let on: Vec<&str> = sample
        .lines()
        .map(|line| {
            let rule = |rest: &&str| rest.starts_with(|first: char| first == '[' || first.is_ascii_lowercase());
            line.strip_prefix('#').filter(rule).unwrap_or(line)
        })
        .collect();
    accept(&on.join("\n"));
    let (rules, _) = Rules::parse(Path::new("samplin.toml"), &on.join("\n"));
    assert!(rules.iter().count() >= 3, "the sample has rules to switch on");
    Ok(())
}

fn main() -> std::process::ExitCode {
    if let Some(trace) = again::part() {
        again::tell(be_child(&trace));
        return std::process::ExitCode::SUCCESS;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = vec![
        trial("when/keys", when_keys),
        trial("when/fingerprint", when_fingerprint),
        trial("when/late-name", late_name),
        trial("stop", stop),
        trial("set/keys", set_keys),
        trial("set/compare", set_compare),
        trial("set/by-pair", by_pair_not_by_sampler),
        trial("guards/forced-anisotropy", forced_anisotropy),
        trial("guards/off", guards_off),
        trial("guards/by-member", guards_by_member),
        trial("guards/ycbcr", ycbcr),
        trial("fingerprints", fingerprints),
        trial("which-file", which_file),
        trial("mistakes/messages", mistakes),
        trial("mistakes/in-the-trace", mistakes_in_the_trace),
        trial("mistakes/unreadable", unreadable),
        trial("editors", editors),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}
