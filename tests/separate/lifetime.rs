//! Objects that the application destroys while what was recorded with them is still to be executed, as it may.

use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, stage) in STAGES {
        let conflict = conflicts::uint();
        let name = format!("lifetime/sampler/{}/{name}", conflict.name);
        trials.push(trial_in(stage, name, move || sampler(stage, &conflict)));
    }
    trials
}

/// Two images through the second of two samplers, the first of which is destroyed before that is executed.
fn look(context: &Context, stage: Stage, scenes: [Scene; 2], samplers: [&SamplerDesc; 2]) -> Result<Vec<Look>, Skip> {
    skip_if(context.missing(&[Capability::ImageArrayIndexing, Capability::DescriptorIndexing]))?;
    let [first, second] = textures(context, scenes)?;
    let own = samplers[1].clone();
    let unread = own.clone().address(vk::SamplerAddressMode::MIRRORED_REPEAT).create(context);
    let read = own.create(context);
    let array = Binding::new(1, vk::DescriptorType::SAMPLER, 2).flags(vk::DescriptorBindingFlags::PARTIALLY_BOUND);
    let slots = [first.slot(0, 0), Slot::sampler(&unread, 1, 0), Slot::sampler(&read, 1, 1), second.slot(2, 0)];
    let held = Held::new(context, &[Binding::image(0), array, Binding::image(2)], &slots);
    let layouts = [&held.layout];
    let plan = Plan::new(Program::Samplers, first.kind(), &layouts).second(second.kind()).stage(stage);
    let rig = Rig::new(context, &plan);
    let job = Job::new(&rig, &points());
    let commands = job.over(&[held.set], 1);
    drop(unread);
    // What was freed is given out again, the handle of the sampler perhaps as well.
    let _others: Vec<_> = (0..8).map(|_| SamplerDesc::nearest().create(context)).collect();
    let _sets: Vec<_> = (0..16).map(|_| Held::new(context, &[Binding::sampler(0)], &[])).collect();
    commands.execute();
    let look = |what| looks(&[(what, &first, samplers[0]), (what, &second, samplers[1])], job.results());
    let mut all = look("recorded before");
    job.over(&[held.set], 1).execute();
    all.extend(look("recorded after"));
    Ok(all)
}

fn sampler(stage: Stage, conflict: &Conflict) -> Outcome {
    let expected =
        Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0)).and(How::Split, place(0, 0, 0), place(0, 1, 1));
    let builder = Context::builder();
    judge(&builder, conflict.oracle.where_seen(), &expected, &|context| {
        conflict.check(context)?;
        look(context, stage, [conflict.scene, RGBA8], [&conflict.legal, &conflict.sampler])
    })?;
    judge_legal(&builder, &|context| {
        conflict.check(context)?;
        look(context, stage, [RGBA8; 2], [&conflict.sampler; 2])
    })
}
