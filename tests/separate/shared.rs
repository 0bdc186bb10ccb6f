//! One sampler shared by images that it suits and images that it does not: only the shader can tell its links apart.

use super::*;

const WAYS: [(&str, bool, bool, Stage); 10] = [
    ("same-set", false, false, Stage::Compute),
    ("other-set", true, false, Stage::Compute),
    ("push", false, true, Stage::Compute),
    ("graphics", false, false, Stage::Fragment),
    ("graphics-other-set", true, false, Stage::Fragment),
    ("compute", false, false, Stage::ComputeObject),
    ("graphics", false, false, Stage::FragmentObject),
    ("linked", true, false, Stage::LinkedObjects),
    ("linked", false, false, Stage::Libraries),
    ("independent", true, false, Stage::IndependentLibraries),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, other_set, push, stage) in WAYS {
        for conflict in conflicts::all() {
            let way = Way { other_set, push, stage };
            let (agreeing, of) = (conflict.clone(), conflict.name);
            trials.push(trial_in(stage, format!("shared/good-and-bad/{of}/{name}"), move || disagree(&conflict, way)));
            trials.push(trial_in(stage, format!("shared/both-bad/{of}/{name}"), move || agree(&agreeing, way)));
        }
    }
    trials
}

#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) other_set: bool,
    pub(crate) push: bool,
    pub(crate) stage: Stage,
}

impl Way {
    pub(crate) fn state(self) -> Place {
        place(u32::from(self.other_set), 1, 0)
    }

    pub(crate) fn oracle(self, conflict: &Conflict) -> Oracle {
        if self.other_set { conflict.oracle.where_seen() } else { conflict.oracle }
    }
}

/// The bad image gets what is legal for it, the good one keeps its sampler.
fn disagree(conflict: &Conflict, way: Way) -> Outcome {
    let (builder, good) = (Context::builder(), conflict.good_twin());
    let expected = Expected::one(How::Split, place(0, 0, 0), way.state());
    judge(&builder, way.oracle(conflict), &expected, &|context| {
        look(context, conflict, &conflict.sampler, [conflict, &good], way)
    })?;
    // Two good ones.
    judge_legal(&builder, &|context| look(context, conflict, &conflict.sampler, [&good, &good], way))
}

/// Both images want the same sampler.
fn agree(conflict: &Conflict, way: Way) -> Outcome {
    let builder = Context::builder();
    let how = if way.push { How::Push } else { How::Shadow };
    let expected = Expected::one(how, place(0, 0, 0), way.state()).and(how, place(0, 2, 0), way.state());
    judge(&builder, way.oracle(conflict), &expected, &|context| {
        look(context, conflict, &conflict.sampler, [conflict, conflict], way)
    })?;
    judge_legal(&builder, &|context| {
        look(context, conflict, &conflict.legal, [&conflict.twin(), &conflict.twin()], way)
    })
}

/// Samples two images with one sampler; `conflict` says whether the device can have the conflict at all.
pub(crate) fn look(
    context: &Context,
    conflict: &Conflict,
    sampler: &SamplerDesc,
    images: [&Conflict; 2],
    way: Way,
) -> Result<Vec<Look>, Skip> {
    skip_if(context.missing(way.stage.needs()))?;
    conflict.check(context)?;
    if way.push {
        skip_if(context.missing(&[Capability::PushDescriptor]))?;
    }
    let [first, second] = [Texture::new(context, images[0].scene)?, Texture::new(context, images[1].scene)?];
    let sampler = sampler.create(context);
    let slots = [first.slot(0, 0), second.slot(2, 0), Slot::sampler(&sampler, 1, 0)];
    let bindings = [Binding::image(0), Binding::image(2), Binding::sampler(1)];
    let held = match (way.push, way.other_set) {
        (true, _) => Vec::new(),
        (_, true) => {
            vec![Held::new(context, &bindings[..2], &slots[..2]), Held::new(context, &bindings[2..], &slots[2..])]
        }
        (_, false) => vec![Held::new(context, &bindings, &slots)],
    };
    let push = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let pushed = way.push.then(|| SetLayout::with_flags(context, &bindings, push));
    let layouts: Vec<_> = held.iter().map(|held| &held.layout).chain(&pushed).collect();
    let plan = Plan::new(Program::Shared, first.kind(), &layouts).second(second.kind()).stage(way.stage);
    let rig = Rig::new(context, &plan);
    let job = Job::new(&rig, &points());
    let commands = Commands::primary(context, |commands| {
        rig.bind(commands);
        job.bind(commands);
        if way.push {
            // The sampler last, and by itself.
            rig.push(commands, 0, &[slots[0], slots[1]].each_ref().map(|slot| slot.write(vk::DescriptorSet::null())));
            rig.push(commands, 0, &[slots[2].write(vk::DescriptorSet::null())]);
        } else {
            let sets: Vec<_> = held.iter().map(|held| held.set).collect();
            rig.bind_sets(commands, 0, &sets, &[]);
        }
        job.run(commands, 0);
    });
    commands.execute();
    let mut results = job.results();
    let second_result = results.remove(1);
    Ok(vec![
        first.look("the first image", &images[0].legal, results.remove(0)),
        second.look("the second image", &images[1].legal, second_result),
    ])
}
