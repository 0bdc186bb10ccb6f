//! What rules match.

use super::*;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("when/keys", when_keys),
        ("when/fingerprint", when_fingerprint),
        ("when/late-name", late_name),
        ("stop", stop),
    ])
}

/// The samplers of [`when_keys`] by their debug names, in order of creation.
pub(crate) fn samplers() -> Vec<(&'static str, SamplerDesc)> {
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
pub(crate) type Condition = (&'static str, fn(&str, &str) -> bool);

pub(crate) const CONDITIONS: &[Condition] = &[
    ("exe = \"OVERRIDES*\"", |_, _| true),
    ("exe = \"overrides\"", |_, _| false),
    ("exe = \"over?ides-*\"", |_, _| true),
    ("app = \"*-testkit\"", |_, _| true),
    ("app = \"something else\"", |_, _| false),
    ("engine = \"testkit\"", |_, _| true),
    ("engine = \"test\"", |_, _| false),
    ("driver = \"*\"", |_, _| true),
    ("driver = \"no such device\"", |_, _| false),
    // None of the drivers here has it.
    ("quirk = \"opaque-black-4444\"", |_, _| false),
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
    let ((), judged) = silent(builder, "pairs under rules", |context| {
        let name = |name: &str| if named { Some(name.to_owned()) } else { None };
        let made: Vec<_> = samplers()
            .into_iter()
            .map(|(label, desc)| (label, SamplerDesc { name: name(label), ..desc }.create(context)))
            .collect();
        for (label, scene) in views() {
            let (_image, view) = scene.shown(context)?;
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
    let ((), judged) = silent(builder, "a late name", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM);
        let (_image, view) = scene.shown(context)?;
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
    assert_eq!(judged.trace.events("pair").count(), 1);
    Ok(())
}
