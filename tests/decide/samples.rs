//! Catalogue J: shading for each sample.

use crate::setting::line;
use crate::setting::table;
use samplin_checker::{Multisample, multisample_violations};
use samplin_core::decide::{Changes, Guard, Guards, SampleShading, ShadingWish, sample_shading, wish_shading};

/// What is asked for (enable and least fraction), whether the device has the feature, whether there is one sample; what comes of it, and
/// the changes.
type ShadingRow = ((bool, f32), bool, bool, (bool, f32), &'static [&'static str]);

pub(crate) const ROWS: &[ShadingRow] = table! {
    ((true, f32::NAN), true, false, (true, 0.0), &["J-3 minSampleShading NaN -> 0"]),
    ((true, -0.5), true, false, (true, 0.0), &["J-3 minSampleShading -0.5 -> 0"]),
    ((false, 1.5), true, true, (false, 1.0), &["J-3 minSampleShading 1.5 -> 1"]),
    ((true, f32::INFINITY), true, false, (true, 1.0), &["J-3 minSampleShading inf -> 1"]),
    ((true, 0.5), false, false, (false, 0.5), &["J-2 sampleShadingEnable true -> false"]),
    ((true, 1.0), false, true, (false, 1.0), &["J-2 sampleShadingEnable true -> false"]),
    ((true, 2.0), false, true, (false, 1.0), &["J-3 minSampleShading 2 -> 1", "J-2 sampleShadingEnable true -> false"]),
    // Their legal twins.
    ((true, 0.0), true, false, (true, 0.0), &[]),
    ((true, 1.0), true, true, (true, 1.0), &[]),
    ((false, 0.5), false, false, (false, 0.5), &[]),
    ((false, -0.0), false, true, (false, -0.0), &[]),
};

#[test]
fn check() {
    for (asked, supported, single, wanted, changes) in ROWS {
        let asked = SampleShading { enable: asked.0, least: asked.1 };
        let (got, made) = sample_shading(asked, *supported, *single);
        let lines: Vec<String> = made.iter().map(line).collect();
        assert_eq!((got.enable, got.least), *wanted, "{asked:?}");
        assert_eq!(lines, *changes, "{asked:?}");
        // What was lost is said of more samples only.
        for change in made.iter().filter(|change| change.catalog.id() == "J-2") {
            assert_eq!(change.catalog.lost().starts_with("nothing"), *single, "{asked:?}");
        }
        let (again, none) = sample_shading(got, *supported, *single);
        assert!(none.is_empty() && (again.enable, again.least) == (got.enable, got.least), "{asked:?} again");
    }
}

/// What is asked for, the wish, guards that hold and those that the rule switches off; what comes of it, whether shaders follow, and the
/// changes.
type WishRow =
    ((bool, f32), ShadingWish, &'static [Guard], &'static [Guard], (bool, f32), bool, &'static [&'static str]);

const WISHES: &[WishRow] = table! {
    ((false, 0.0), ShadingWish::Least(1.0), &[], &[], (true, 1.0), true,
        &["O-1 sampleShadingEnable false -> true", "O-1 minSampleShading 0 -> 1"]),
    // A fraction that is not asked for is none.
    ((false, 1.0), ShadingWish::Least(0.25), &[], &[], (true, 0.25), true,
        &["O-1 sampleShadingEnable false -> true", "O-1 minSampleShading 1 -> 0.25"]),
    ((true, 0.5), ShadingWish::Least(1.0), &[], &[], (true, 1.0), true, &["O-1 minSampleShading 0.5 -> 1"]),
    // It only raises; NaN is none.
    ((true, 0.5), ShadingWish::Least(0.25), &[], &[], (true, 0.5), true, &[]),
    ((true, f32::NAN), ShadingWish::Least(0.25), &[], &[], (true, 0.25), true, &["O-1 minSampleShading NaN -> 0.25"]),
    ((true, 0.5), ShadingWish::Off, &[], &[], (false, 0.5), true, &["O-1 sampleShadingEnable true -> false"]),
    ((true, 0.5), ShadingWish::Off, &[Guard::SingleSample], &[], (false, 0.5), true,
        &["O-1 sampleShadingEnable true -> false"]),
    ((false, 0.5), ShadingWish::Off, &[], &[], (false, 0.5), true, &[]),
    // Held back, by the first that holds.
    ((false, 0.0), ShadingWish::Least(1.0), &[Guard::SideEffects, Guard::SingleSample], &[], (false, 0.0), false,
        &["O-2 sampleShadingEnable true -> false", "O-2 minSampleShading 1 -> 0"]),
    ((true, 0.5), ShadingWish::Off, &[Guard::SideEffects], &[], (true, 0.5), false,
        &["O-2 sampleShadingEnable false -> true"]),
    ((false, 0.0), ShadingWish::Least(1.0), &[Guard::MaskOutput], &[Guard::MaskOutput], (true, 1.0), true,
        &["O-1 sampleShadingEnable false -> true", "O-1 minSampleShading 0 -> 1"]),
    ((true, 0.5), ShadingWish::Off, &[Guard::MaskInput], &[], (true, 0.5), false,
        &["O-2 sampleShadingEnable false -> true"]),
    // A library stays in any case, and guards of samplers hold nothing back.
    ((false, 0.0), ShadingWish::Least(1.0), &[Guard::Library], &[Guard::Library], (false, 0.0), false,
        &["O-2 sampleShadingEnable true -> false", "O-2 minSampleShading 1 -> 0"]),
    ((true, 0.0), ShadingWish::Least(1.0), &[Guard::Attachment], &[], (true, 1.0), true,
        &["O-1 minSampleShading 0 -> 1"]),
};

#[test]
fn wishes() {
    let all = |guards: &[Guard]| {
        let mut set = Guards::NONE;
        guards.iter().for_each(|guard| set.insert(*guard));
        set
    };
    for (asked, wish, holding, off, wanted, follows, lines) in WISHES {
        let asked = SampleShading { enable: asked.0, least: asked.1 };
        let mut changes = Changes::new();
        let (got, followed) = wish_shading(asked, *wish, all(holding), all(off), &mut changes);
        assert_eq!((got.enable, got.least), *wanted, "{asked:?} {wish:?}");
        assert_eq!(followed, *follows, "{asked:?} {wish:?}");
        assert_eq!(changes.iter().map(line).collect::<Vec<_>>(), *lines, "{asked:?} {wish:?}");
        if followed {
            let mut none = Changes::new();
            let (again, _) = wish_shading(got, *wish, all(holding), all(off), &mut none);
            assert!(none.is_empty() && again == got, "{asked:?} {wish:?} again: {none:?}");
        }
    }
    // Each guard of pipelines holds a wish back by a row of its own.
    let held = |guard: Guard| {
        let mut changes = Changes::new();
        let asked = SampleShading { enable: false, least: 0.0 };
        wish_shading(asked, ShadingWish::Least(1.0), all(&[guard]), Guards::NONE, &mut changes);
        changes.iter().map(|change| change.catalog).next()
    };
    let rows: Vec<_> = Guard::ALL.iter().filter_map(|guard| held(*guard).filter(|row| row.id() == "O-2")).collect();
    assert_eq!(rows.len(), 7, "{rows:?}");
    assert!(rows.iter().enumerate().all(|(at, row)| !rows[..at].contains(row)));
}

/// The checker finds what the layer finds, where it says; what comes of a state is legal, and a legal one stays bit for bit.
#[test]
fn checked() {
    const LEAST: [f32; 14] = [
        0.0,
        -0.0,
        0.25,
        0.5,
        1.0,
        f32::MIN_POSITIVE,
        1.0 - f32::EPSILON,
        1.0 + f32::EPSILON,
        -f32::MIN_POSITIVE,
        -1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let judged = |state: SampleShading, supported| {
        let state = Multisample { sample_shading_enable: state.enable, min_sample_shading: state.least };
        multisample_violations(&state, supported)
    };
    let mut seen = [0; 2];
    for least in LEAST {
        for bits in 0..8_u32 {
            let (enable, supported, single) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            let asked = SampleShading { enable, least };
            let (got, changes) = sample_shading(asked, supported, single);
            let broken = judged(asked, supported);
            seen[usize::from(broken.is_empty())] += 1;
            let mut told: Vec<_> =
                changes.iter().map(|it| (it.catalog.id(), it.catalog.vuid().expect("a valid-usage id"))).collect();
            told.sort_unstable();
            assert_eq!(told, broken, "{asked:?}, {supported}");
            assert_eq!(judged(got, supported), [], "{asked:?} became {got:?}");
            if broken.is_empty() {
                assert_eq!((got.enable, got.least.to_bits()), (enable, least.to_bits()));
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}
