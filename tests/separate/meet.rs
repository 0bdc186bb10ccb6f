//! `separate_shared=meet`: images that share a sampler get the one that suits them all, in a copy of the set; where none of them needs
//! one that does, their links part as ever.

use super::shared::{Way, look};
use super::*;
use samplin_testkit::way::Way as By;

/// Conflicts whose repair takes from the good image what its own sampler has: kinds of border suit images of one kind only.
const PART: [&str; 2] = ["border-kind", "border-format"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, by, stage) in [
        ("same-set", By::Set, Stage::Compute),
        ("other-set", By::Sets, Stage::Fragment),
        ("push", By::Push, Stage::Compute),
        ("shader-object", By::Set, Stage::ComputeObject),
    ] {
        for conflict in conflicts::all() {
            let way = Way { by, stage };
            let name = format!("meet/{}/{name}", conflict.name);
            trials.push(trial_in(stage, name, move || meets(&conflict, way)));
        }
    }
    trials
}

fn meets(conflict: &Conflict, way: Way) -> Outcome {
    let builder = Context::builder().setting("separate_shared", "meet");
    let (parts, own) = (PART.contains(&&*conflict.name) || switch::is_split(), conflict.good());
    let how = match way.pushes() {
        _ if parts => How::Split,
        true => How::Push,
        false => How::Shadow,
    };
    let mut expected = Expected::one(how, place(0, 0, 0), way.state());
    // What the bad image needs, the good one gets as well.
    let mut good = own.clone();
    if !parts {
        expected = expected.and(how, place(0, 2, 0), way.state());
        good.legal = conflict.legal.clone();
    }
    judge(&builder, way.oracle(conflict), &expected, &|context| {
        look(context, conflict, &conflict.sampler, &[conflict, &good], way)
    })?;
    judge_legal(&builder, &|context| look(context, conflict, &conflict.sampler, &[&own, &own], way))
}
