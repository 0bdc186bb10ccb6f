//! Catalogue J: shading for each sample.

use crate::setting::line;
use samplin_core::decide::{SampleShading, sample_shading};

/// What is asked for (enable and least fraction), whether the device has the feature, whether there is one sample; what comes of it, and
/// the changes.
type ShadingRow = ((bool, f32), bool, bool, (bool, f32), &'static [&'static str]);

pub(crate) const ROWS: &[ShadingRow] = &[
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
];

pub(crate) fn check() {
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
