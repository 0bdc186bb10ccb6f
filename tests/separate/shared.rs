//! One sampler shared by images that it suits and images that it does not: only the shader can tell its links apart.

use super::*;
use samplin_testkit::held::bindings;
use samplin_testkit::way::{Route, Way as By};

/// Which tests take a way: those with one image, those with two that share a sampler, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Images {
    One,
    Shared,
    Both,
}

const WAYS: [(&str, By, Stage, Images); 27] = [
    ("same-set", By::Set, Stage::Compute, Images::Both),
    ("other-set", By::Sets, Stage::Compute, Images::Both),
    ("other-set-first", By::SetsFirst, Stage::Compute, Images::One),
    ("push", By::Push, Stage::Compute, Images::Both),
    ("push-template", By::PushTemplate, Stage::Compute, Images::Both),
    ("template", By::Template, Stage::Compute, Images::Both),
    ("copy", By::Copy, Stage::Compute, Images::Both),
    ("secondary", By::Secondary, Stage::Compute, Images::Both),
    ("graphics", By::Set, Stage::Fragment, Images::Both),
    ("graphics-other-set", By::Sets, Stage::Fragment, Images::Both),
    ("graphics-push", By::Push, Stage::Fragment, Images::One),
    ("graphics-push-template", By::PushTemplate, Stage::Fragment, Images::Both),
    ("graphics-template", By::Template, Stage::Fragment, Images::Both),
    ("graphics-copy", By::Copy, Stage::Fragment, Images::Both),
    ("graphics-secondary", By::Secondary, Stage::Fragment, Images::Both),
    ("compute", By::Set, Stage::ComputeObject, Images::Both),
    ("graphics", By::Set, Stage::FragmentObject, Images::Both),
    ("graphics-other-set", By::Sets, Stage::FragmentObject, Images::One),
    ("graphics-push", By::Push, Stage::FragmentObject, Images::One),
    ("graphics-push-template", By::PushTemplate, Stage::FragmentObject, Images::One),
    ("graphics-template", By::Template, Stage::FragmentObject, Images::Both),
    ("graphics-copy", By::Copy, Stage::FragmentObject, Images::Both),
    ("graphics-secondary", By::Secondary, Stage::FragmentObject, Images::Both),
    ("linked", By::Set, Stage::LinkedObjects, Images::One),
    ("linked", By::Sets, Stage::LinkedObjects, Images::Shared),
    ("linked", By::Set, Stage::Libraries, Images::Both),
    ("independent", By::Sets, Stage::IndependentLibraries, Images::Both),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, conflict, way) in crossed(Images::Shared) {
        let (agreeing, of) = (conflict.clone(), conflict.name.clone());
        trials.push(trial_in(way.stage, format!("shared/good-and-bad/{of}/{name}"), move || disagree(&conflict, way)));
        trials.push(trial_in(way.stage, format!("shared/both-bad/{of}/{name}"), move || agree(&agreeing, way)));
    }
    trials
}

/// Each way with the conflict that every device has, and each conflict by two of the ways: nothing on a way depends on what a sampler asks for.
pub(crate) fn crossed(images: Images) -> Vec<(&'static str, Conflict, Way)> {
    let mut all = Vec::new();
    for conflict in conflicts::all() {
        let is_first = all.is_empty();
        let own = WAYS.into_iter().filter(|(.., of)| [images, Images::Both].contains(of));
        let own = own.filter(|(name, ..)| is_first || ["same-set", "graphics-other-set"].contains(name));
        all.extend(own.map(|(name, by, stage, _)| (name, conflict.clone(), Way { by, stage })));
    }
    all
}

#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) by: By,
    pub(crate) stage: Stage,
}

impl Way {
    pub(crate) fn state(self) -> Place {
        place(u32::from(self.by.has_sets()), 1, 0)
    }

    pub(crate) fn pushes(self) -> bool {
        self.by.pushes()
    }

    pub(crate) fn oracle(self, conflict: &Conflict) -> Oracle {
        if self.by.has_sets() { conflict.oracle.where_seen() } else { conflict.oracle }
    }
}

/// The bad image gets what is legal for it, the good one keeps its sampler.
fn disagree(conflict: &Conflict, way: Way) -> Outcome {
    let (builder, good) = (Context::builder(), conflict.good());
    let expected = Expected::one(How::Split, place(0, 0, 0), way.state());
    judge(&builder, way.oracle(conflict), &expected, &|context| {
        look(context, conflict, &conflict.sampler, &[conflict, &good], way)
    })?;
    // Two good ones.
    judge_legal(&builder, &|context| look(context, conflict, &conflict.sampler, &[&good, &good], way))
}

/// Both images want the same sampler.
fn agree(conflict: &Conflict, way: Way) -> Outcome {
    let builder = Context::builder();
    let how = if way.pushes() { How::Push } else { How::Shadow };
    let expected = Expected::one(how, place(0, 0, 0), way.state()).and(how, place(0, 2, 0), way.state());
    judge(&builder, way.oracle(conflict), &expected, &|context| {
        look(context, conflict, &conflict.sampler, &[conflict, conflict], way)
    })?;
    judge_legal(&builder, &|context| {
        look(context, conflict, &conflict.legal, &[&conflict.repaired(), &conflict.repaired()], way)
    })
}

/// Samples one image or two with one sampler; `conflict` says whether the device can have the conflict at all.
pub(crate) fn look(
    context: &Context,
    conflict: &Conflict,
    sampler: &SamplerDesc,
    images: &[&Conflict],
    way: Way,
) -> Result<Vec<Look>, Skip> {
    conflict.check(context)?;
    way.by.check(context)?;
    let textures = Texture::all(context, &images.iter().map(|image| image.scene).collect::<Vec<_>>())?;
    let sampler = sampler.create(context);
    let mut slots: Vec<_> = textures.iter().zip([0, 2]).map(|(texture, binding)| texture.slot(binding, 0)).collect();
    slots.push(Slot::sampler(&sampler, 1, 0));
    let route = Route::new(context, way.by, &bindings(&slots), 1)?;
    let layouts = route.layouts();
    let program = if images.len() == 1 { Program::One } else { Program::Shared };
    let [first, last] = [&textures[0], &textures[images.len() - 1]];
    let plan = Plan::new(program, first.kind(), &layouts).second(last.kind()).stage(way.stage);
    let rig = Rig::new(context, &plan);
    let names = textures.iter().zip(["the first image", "the second image"]).zip(images);
    let wanted: Vec<_> = names.map(|((texture, what), image)| (what, texture, &image.legal)).collect();
    Ok(looks(&wanted, route.found(&rig, &slots, &points())))
}
