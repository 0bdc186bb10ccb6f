use super::*;
use samplin_core::decide::{Bias, Guard};

fn parse(text: &str) -> (Overrides, Vec<String>) {
    let (overrides, problems) = Overrides::parse(Path::new("t.toml"), text);
    let shown = problems
        .iter()
        .map(|p| format!("{}:{}: {}", p.line.unwrap_or_default(), p.column.unwrap_or_default(), p.message));
    (overrides, shown.collect())
}

#[test]
fn a_whole_rule_is_understood() {
    let (overrides, problems) = parse(
        r#"
        [[rule]]
        name = "sharp"
        when = { exe = "game*", mip_levels = { min = 2 }, class = "color", fingerprint = ["00ff", "0123456789abcdef"] }
        set = { max_anisotropy = 16, mip_lod_bias = { add = -0.5 }, address_mode = { u = "gl_clamp" } }
        guards_off = ["attachment"]
        stop = true
        "#,
    );
    assert_eq!(problems, Vec::<String>::new());
    let one = overrides.iter().next().unwrap();
    assert_eq!((one.name.as_str(), one.line), ("sharp", 2));
    assert_eq!(one.wish.max_anisotropy, Some(16.0));
    assert_eq!(one.wish.mip_lod_bias, Some(Bias::Add(-0.5)));
    assert!(one.guards_off.contains(Guard::Attachment) && !one.guards_off.contains(Guard::Compare));
    assert!(overrides.use_gl() && overrides.use_levels() && overrides.want_anisotropy() && !overrides.use_names());
}

#[test]
fn rules_hold_on_devices_with_a_quirk() {
    let (overrides, problems) = parse(
        "[[rule]]\nset = { min_lod = 1 }\n[[rule]]\nwhen = { quirk = \"opaque-black-4444\" }\nset = { min_lod = 2 }\n\
         [[rule]]\nwhen = { quirk = \"opaque-black-444\" }\nset = { min_lod = 3 }\n\
         [[rule]]\nwhen = { quirk = \"linear-blends-integers\", samples = 4 }\nset = { sample_shading = 1 }\n",
    );
    let all: Vec<&str> = Quirk::all().map(Quirk::name).collect();
    let near = "did you mean \"opaque-black-4444\"?";
    let known = all.join(", ");
    assert_eq!(problems, [format!("7:18: quirk cannot be \"opaque-black-444\"; it is one of {known}; {near}")]);
    let names = |quirks: Quirks| {
        let left = overrides.for_device("any", quirks);
        left.iter().map(|one| one.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Quirks::default()), ["rule 1"]);
    assert_eq!(names(Quirks::default().with(Quirk::OPAQUE_BLACK_4444)), ["rule 1", "rule 2"]);
    assert!(overrides.use_quirks() && !overrides.for_device("any", Quirks::default()).use_quirks());
}

#[test]
fn immutable_samplers_are_named_among_others() {
    let (overrides, problems) = parse(
        "[[rule]]\nset = { min_lod = 1 }\n[[rule]]\nset = { immutable = \"demote\" }\n[[rule]]\nset = { immutable = \"base\" }\n",
    );
    assert_eq!(problems, ["6:21: immutable cannot be \"base\"; it is one of demote"]);
    assert_eq!([0, 0b01, 0b10, u64::MAX].map(|bits| overrides.demote(bits, None)), [false, false, true, true]);
    assert!(overrides.use_samplers() && !overrides.use_pipelines());
}

#[test]
fn rules_hold_without_a_view_where_they_say_so() {
    let rules = "[[rule]]\nset = { min_lod = 1 }\n[[rule]]\napply = \"sampler\"\nset = { min_lod = 2 }\n\
                 [[rule]]\napply = \"sampler\"\nstop = true\n[[rule]]\napply = \"sampler\"\nset = { min_lod = 3 }\n";
    let (overrides, problems) = parse(rules);
    assert_eq!(problems, Vec::<String>::new());
    let lods = |bits| overrides.alone(bits).map(|one| one.wish.min_lod).collect::<Vec<_>>();
    let (one, last) = (Some(2.0), Some(3.0));
    assert_eq!([0b0001, 0b0010, 0b1011].map(lods), [vec![], vec![one], vec![one, last]]);
    assert!(!lods(0b1111).contains(&last), "the third stops");
    let (overrides, problems) = parse(
        "[[rule]]\napply = \"sampler\"\nwhen = { class = \"depth\" }\nset = { min_lod = 1 }\n[[rule]]\napply = \"view\"\n\
         set = { min_lod = 1 }\n[[rule]]\napply = \"pair\"\nwhen = { class = \"depth\" }\nset = { min_lod = 1 }\n",
    );
    let asks = "apply = \"sampler\" is for rules about samplers alone, and this one asks for a view or a pipeline";
    assert_eq!(problems, [format!("2:9: {asks}"), "6:9: apply cannot be \"view\"; it is one of pair, sampler".into()]);
    assert_eq!(overrides.iter().count(), 1);
}

#[test]
fn a_bad_rule_does_not_take_the_others_along() {
    let (overrides, problems) = parse(
        "[[rule]]\nset = { mag_filter = \"nearest\" }\n[[rule]]\nset = { mag_fliter = \"nearest\" }\n[[rule]]\nset = { min_filter = \"linear\" }\n",
    );
    assert_eq!(problems, ["4:9: set has no key mag_fliter; did you mean mag_filter?"]);
    assert_eq!(overrides.iter().count(), 2);
}

#[test]
fn a_syntax_error_leaves_the_rules_around_it() {
    let (overrides, problems) = parse(
        "[[rule]]\nset = { mag_filter = \"nearest\" }\n[[rule]]\nset = { mag_filter = \n[[rule]]\nset = { min_filter = \"linear\" }\n",
    );
    assert!(!problems.is_empty());
    assert!(overrides.iter().any(|one| one.wish.mag_filter == Some(vk::Filter::NEAREST)), "{problems:?}");
}

#[test]
fn globs() {
    let fits = |pattern: &str, text| Glob(pattern.into()).matches(text);
    assert!(fits("game*", "Game.exe") && fits("*", "") && fits("a?c*e", "abcde") && fits("*.exe", "x.y.exe"));
    assert!(!fits("game", "game2") && !fits("a?c", "ac") && !fits("", "x"));
}

#[test]
fn stop_ends_the_search() {
    let (overrides, problems) =
        parse("[[rule]]\nstop = true\nwhen = { class = \"integer\" }\n[[rule]]\nset = { mag_filter = \"nearest\" }\n");
    assert_eq!(problems, Vec::<String>::new());
    let state = SamplerState::default();
    let bits = overrides.match_sampler(&state, state.fingerprint(), 1, None);
    assert_eq!(bits, 0b11);
    let float = ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::empty());
    let int = ViewTraits::new_2d(vk::Format::R8_UINT, vk::FormatFeatureFlags2::empty());
    assert_eq!(overrides.for_view(bits, &float).count(), 1);
    assert_eq!(overrides.for_view(bits, &int).filter(|one| one.wish != Wish::default()).count(), 0);
}

#[test]
fn rules_about_pipelines_leave_samplers_alone() {
    let (overrides, problems) = parse(
        r#"
        [[rule]]
        when = { samples = { min = 2 }, blended = false }
        set = { sample_shading = 0.5 }
        guards_off = ["side-effects"]
        [[rule]]
        when = { exe = "game", blended = true }
        stop = true
        [[rule]]
        when = { samples = 8 }
        set = { sample_shading = "off" }
        "#,
    );
    assert_eq!(problems, Vec::<String>::new());
    assert!(overrides.use_pipelines() && !overrides.use_samplers() && !overrides.is_empty());
    assert_eq!(overrides.match_sampler(&SamplerState::default(), 0, 1, None), 0);
    let names = |samples, blended| -> Vec<&str> {
        overrides.for_pipeline(samples, blended).map(|one| one.name.as_str()).collect()
    };
    assert_eq!(names(Some(4), Some(false)), ["rule 1"]);
    assert_eq!(names(Some(8), Some(false)), ["rule 1", "rule 3"]);
    assert_eq!(names(Some(8), Some(true)), ["rule 2"]);
    assert_eq!(names(Some(1), Some(false)), Vec::<&str>::new());
    // What is not known fits nothing that asks for it.
    assert_eq!(names(None, None), Vec::<&str>::new());
    let one = overrides.iter().next().unwrap();
    assert_eq!(one.shading, Some(ShadingWish::Least(0.5)));
    assert!(one.guards_off.contains(Guard::SideEffects));
    // One about samplers fits no pipeline; one that only stops fits both.
    let (overrides, _) = parse("[[rule]]\nset = { min_lod = 1 }\n[[rule]]\nstop = true\n");
    assert!(!overrides.use_pipelines() && overrides.use_samplers());
    assert_eq!(overrides.for_pipeline(Some(4), Some(true)).count(), 1);
    assert_eq!(overrides.match_sampler(&SamplerState::default(), 0, 1, None), 3);
}
