//! Rules of `samplin.toml` end to end: what they match, what they set, what is held back, and what mistakes in them say.
//!
//! Start at [`main`] for the list. Every context has the validation layer below samplin, which has to be silent: an override must
//! never make a sampler or a pair illegal. Mistakes are data: `tests/data/rules/NN-*.toml` with the expected problems beside it.

mod editors;
mod guards;
mod live;
mod mistakes;
mod processes;
mod scale;
mod set;
mod when;

use ash::vk;
use libtest_mimic::Trial;
use run::{Folder, Judged, Outcome, Skip, build, silent, skip_if, with_layer};
use samplin_config::overrides::Overrides;
use samplin_suite::{run, scene};
use samplin_testkit::trace::{Trace, changes};
use samplin_testkit::{
    BorderValue, Capability, Context, ContextBuilder, Held, Image, ImageDesc, Mapping, Painter, Pair, Sampler,
    SamplerDesc, Slot, Texture, Value, View, ViewDesc, again, descriptor, sample, texel,
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
    Context::builder().rules(folder, text)
}

/// Asserts that the rules were understood.
fn assert_no_problem(judged: &Judged) {
    let problems: Vec<_> = judged.trace.events("settings").collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

fn main() -> std::process::ExitCode {
    if let Some(trace) = again::part() {
        again::tell(processes::be_child(&trace));
        return std::process::ExitCode::SUCCESS;
    }
    let trials = [
        when::trials(),
        set::trials(),
        guards::trials(),
        scale::trials(),
        live::trials(),
        processes::trials(),
        mistakes::trials(),
        editors::trials(),
    ];
    samplin_suite::forked::main(trials.into_iter().flatten().collect())
}
