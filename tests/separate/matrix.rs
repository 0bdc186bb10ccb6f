//! Each way that an image and a sampler reach a shader, and each conflict: one link, so that there is nothing to disagree about.

use super::shared::{By, Way, crossed, look};
use super::*;

const WAYS: [(&str, By, Stage); 26] = [
    ("same-set", By::Set, Stage::Compute),
    ("other-set", By::Sets, Stage::Compute),
    ("other-set-first", By::SetsFirst, Stage::Compute),
    ("push", By::Push, Stage::Compute),
    ("push-template", By::PushTemplate, Stage::Compute),
    ("template", By::Template, Stage::Compute),
    ("copy", By::Copy, Stage::Compute),
    ("secondary", By::Secondary, Stage::Compute),
    ("graphics", By::Set, Stage::Fragment),
    ("graphics-other-set", By::Sets, Stage::Fragment),
    ("graphics-push", By::Push, Stage::Fragment),
    ("graphics-push-template", By::PushTemplate, Stage::Fragment),
    ("graphics-template", By::Template, Stage::Fragment),
    ("graphics-copy", By::Copy, Stage::Fragment),
    ("graphics-secondary", By::Secondary, Stage::Fragment),
    ("compute", By::Set, Stage::ComputeObject),
    ("graphics", By::Set, Stage::FragmentObject),
    ("graphics-other-set", By::Sets, Stage::FragmentObject),
    ("graphics-push", By::Push, Stage::FragmentObject),
    ("graphics-push-template", By::PushTemplate, Stage::FragmentObject),
    ("graphics-template", By::Template, Stage::FragmentObject),
    ("graphics-copy", By::Copy, Stage::FragmentObject),
    ("graphics-secondary", By::Secondary, Stage::FragmentObject),
    ("linked", By::Set, Stage::LinkedObjects),
    ("linked", By::Set, Stage::Libraries),
    ("independent", By::Sets, Stage::IndependentLibraries),
];

pub(crate) fn trials() -> Vec<Trial> {
    let of = |(name, conflict, way): (&str, Conflict, Way)| {
        trial_in(way.stage, format!("one/{}/{name}", conflict.name), move || run(&conflict, way))
    };
    crossed(&WAYS).into_iter().map(of).collect()
}

fn run(conflict: &Conflict, way: Way) -> Outcome {
    let how = if way.pushes() { How::Push } else { How::Shadow };
    let (builder, expected) = (Context::builder(), Expected::one(how, place(0, 0, 0), way.state()));
    let look = |context: &Context, of: &Conflict| look(context, conflict, &of.sampler, &[of], way);
    judge(&builder, way.oracle(conflict), &expected, &|context| look(context, conflict))?;
    for twin in [conflict.repaired(), conflict.good()] {
        judge_legal(&builder, &|context| look(context, &twin))?;
    }
    Ok(())
}
