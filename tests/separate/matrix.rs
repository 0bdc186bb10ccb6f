//! Each way that an image and a sampler reach a shader, and each conflict: one link, so that there is nothing to disagree about.

use super::shared::{Images, Way, crossed, look};
use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    let of = |(name, conflict, way): (&str, Conflict, Way)| {
        trial_in(way.stage, format!("one/{}/{name}", conflict.name), move || run(&conflict, way))
    };
    crossed(Images::One).into_iter().map(of).collect()
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
