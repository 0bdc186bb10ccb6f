//! What a test switch of the layer forces (`scripts/switches`, `src/device/separate/force.rs`). A test leaves exactly that out of what it compares,
//! and a test of what is not repaired without the switch leaves itself out.

use std::collections::BTreeSet;

use super::{How, Judged, Skip, skip_if};

/// A repair that nothing asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Each set that may be copied is bound as a copy.
    Shadow,
    /// Each link that can be split is.
    Split,
    /// Each program runs in a pipeline that can saturate coordinates.
    Saturate,
    /// The same pipeline can filter, fetch, divide and compare as well.
    Filter,
    /// Each link with an index looks up which sampler suits what it names.
    Table,
    /// Descriptors show another view of the same aspect in place of each.
    Aspect,
}

impl Switch {
    /// The one that is on.
    pub(crate) fn on() -> Option<Self> {
        match &*std::env::var("TESTSWITCH_SEPARATE").ok()? {
            "shadow" => Some(Self::Shadow),
            "split" => Some(Self::Split),
            "saturate" => Some(Self::Saturate),
            "filter" => Some(Self::Filter),
            "table" => Some(Self::Table),
            "aspect" => Some(Self::Aspect),
            other => panic!("TESTSWITCH_SEPARATE={other}"),
        }
    }

    /// The passes of `shader` records that it leads to. A pipeline that can do several things is named by one, whatever a link asks for.
    const fn passes(self) -> &'static [&'static str] {
        match self {
            Self::Shadow | Self::Aspect => &[],
            Self::Split => &["split"],
            Self::Table => &["split", "table"],
            Self::Saturate => &["saturate", "divide"],
            Self::Filter => &["saturate", "divide", "compare"],
        }
    }

    /// Whether it has other code run, which follows combined descriptors and immutable samplers from the start.
    const fn rewrites(self) -> bool {
        !matches!(self, Self::Shadow | Self::Aspect)
    }
}

/// Whether every link is split.
pub(crate) fn is_split() -> bool {
    Switch::on() == Some(Switch::Split)
}

/// Whether every link with an index looks up its sampler.
pub(crate) fn is_table() -> bool {
    Switch::on() == Some(Switch::Table)
}

/// How a conflict that can be repaired in any way is.
pub(crate) fn forced(how: How) -> How {
    if is_split() { How::Split } else { how }
}

/// Skips what is about code that stays as it is.
pub(crate) fn without_rewrites() -> Result<(), Skip> {
    let switch = Switch::on().filter(|switch| switch.rewrites());
    skip_if(switch.map(|switch| format!("the test switch {switch:?} rewrites what this leaves alone")))
}

/// Skips templates whose elements share bytes, so that none can show another view.
pub(crate) fn without_twins() -> Result<(), Skip> {
    let switch = Switch::on().filter(|switch| *switch == Switch::Aspect);
    skip_if(switch.map(|switch| format!("the test switch {switch:?} cannot copy what this writes")))
}

/// The passes of the `shader` records are these. A switch has its own pipelines beside those that are needed, and then others of both: its
/// passes are left out, and how often the rest came.
pub(crate) fn assert_passes(judged: &Judged, wanted: &[&str]) {
    let found: Vec<_> = judged.trace.events("shader").map(|record| record["pass"].as_str().expect("a name")).collect();
    let own = Switch::on().map_or(&[][..], Switch::passes);
    if own.is_empty() {
        return assert_eq!(found, wanted, "{:#?}", judged.trace);
    }
    let rest = |all: &[&str]| -> BTreeSet<String> {
        all.iter().filter(|pass| !own.contains(pass)).map(ToString::to_string).collect()
    };
    assert_eq!(rest(&found), rest(wanted), "{:#?}", judged.trace);
}
