//! How what came out compares with what had to.

use serde::{Deserialize, Serialize};

/// What sampling gave at a point, and what it had to give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Difference {
    /// The coordinate.
    pub coord: [f32; 4],
    /// The explicit level of detail.
    pub lod: f32,
    /// The four components that came out.
    pub got: [f64; 4],
    /// Those of the reference.
    pub expected: [f64; 4],
    /// At how many points of how many it differs.
    pub points: (usize, usize),
}

/// How what came out compares with a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Compared {
    /// At every point within the specification's tolerances.
    Same,
    /// Not so.
    Differs(Difference),
    /// The driver refused or failed.
    Failed(String),
    /// There is no reference, and why.
    Unknown(String),
}

impl Compared {
    /// Why nothing can be said.
    pub(super) fn why(self) -> String {
        match self {
            Self::Failed(why) | Self::Unknown(why) => why,
            Self::Same | Self::Differs(_) => String::new(),
        }
    }
}
