//! Arrays of which a shader indexes more than is told apart: what they can join has a name, and nothing else has.

use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (suffix, stage) in [("compute", Stage::Compute), ("graphics", Stage::Fragment)] {
        for (name, program) in [("world", Program::World), ("global", Program::Global)] {
            for (when, is_late) in [("before-bind", false), ("before-submission", true)] {
                let name = format!("array/{name}/{when}/{suffix}");
                trials.push(trial_in(stage, name, move || named(program, stage, is_late)));
            }
        }
    }
    trials
}

/// Images in set 0 and samplers in set 1, which may be updated after they are bound. The shader reads element 0 of each; `image` and
/// `sampler` are in another element if there is one, from before the bind or from before the submission on.
fn execute_with(
    context: &Context,
    (program, stage): (Program, Stage),
    (own, image): (Scene, Scene),
    sampler: &SamplerDesc,
    is_late: bool,
) -> Result<Vec<Look>, Skip> {
    skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
    let counts = if program == Program::World { [4096, 64] } else { [1, 4000] };
    let flags = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let arrays = tables::Arrays::new(context, counts, flags, false);
    let sets = arrays.sets();
    let [read, other] = textures(context, [own, image])?;
    let (nearest, sampler) = (SamplerDesc::nearest().create(context), sampler.create(context));
    write(context, sets[0], &[read.slot(0, 0)]);
    write(context, sets[1], &[Slot::sampler(&nearest, 1, 0)]);
    let write_others = || {
        if counts[0] > 1 {
            write(context, sets[0], &[other.slot(0, counts[0] - 1)]);
        }
        write(context, sets[1], &[Slot::sampler(&sampler, 1, counts[1] - 1)]);
    };
    if !is_late {
        write_others();
    }
    let layouts = arrays.layouts.each_ref();
    let rig = Rig::new(context, &Plan::new(program, read.kind(), &layouts).stage(stage));
    let job = Job::new(&rig, &points());
    let commands = job.over(&sets, 0);
    if is_late {
        write_others();
    }
    commands.execute();
    Ok(vec![read.look("element 0", &SamplerDesc::nearest(), job.results().remove(0))])
}

fn named(program: Program, stage: Stage, is_late: bool) -> Outcome {
    skip_if(switch::is_table().then(|| "a test switch looks everything up".to_owned()))?;
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let builder = Context::builder().setting("bindless", "name");
    let run = |own, image, sampler: &SamplerDesc| {
        let sampler = sampler.clone();
        move |context: &Context| execute_with(context, (program, stage), (own, image), &sampler, is_late)
    };
    // Integers that a LINEAR sampler can meet, and a shader of integers. It reads neither, so that all is defined.
    let body = run(conflicts::UINT, conflicts::UINT, &linear);
    let (looks, judged) = with_layer(resolve(builder.clone()), &body)?;
    looks.iter().for_each(|look| look.assert("what could be joined"));
    assert_left(&judged, "bindless");
    // No LINEAR sampler, and one beside integers that a shader of floats cannot read.
    judge_legal(&builder, &run(conflicts::UINT, conflicts::UINT, &nearest))?;
    judge_legal(&builder, &run(RGBA8, if program == Program::World { conflicts::UINT } else { RGBA8 }, &linear))
}
