//! Each conflict on each way that an image and a sampler reach a shader: one link, so that there is nothing to disagree about.

use super::*;
use samplin_testkit::descriptor::{IMAGE_INFO_SIZE, Spelling, Template, TemplateData, update};

/// A way for descriptors to reach the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One set.
    SameSet,
    /// The sampler in a set of its own.
    OtherSet,
    /// The same, and the sets are bound last first, before the pipeline.
    OtherSetFirst,
    Push,
    PushTemplate,
    Template,
    /// Written to one set and copied to another.
    Copy,
    /// All of it in a secondary command buffer.
    Secondary,
}

impl Way {
    fn pushes(self) -> bool {
        matches!(self, Self::Push | Self::PushTemplate)
    }
}

const WAYS: [(&str, Way, Stage); 26] = [
    ("same-set", Way::SameSet, Stage::Compute),
    ("other-set", Way::OtherSet, Stage::Compute),
    ("other-set-first", Way::OtherSetFirst, Stage::Compute),
    ("push", Way::Push, Stage::Compute),
    ("push-template", Way::PushTemplate, Stage::Compute),
    ("template", Way::Template, Stage::Compute),
    ("copy", Way::Copy, Stage::Compute),
    ("secondary", Way::Secondary, Stage::Compute),
    ("graphics", Way::SameSet, Stage::Fragment),
    ("graphics-other-set", Way::OtherSet, Stage::Fragment),
    ("graphics-push", Way::Push, Stage::Fragment),
    ("graphics-push-template", Way::PushTemplate, Stage::Fragment),
    ("graphics-template", Way::Template, Stage::Fragment),
    ("graphics-copy", Way::Copy, Stage::Fragment),
    ("graphics-secondary", Way::Secondary, Stage::Fragment),
    ("compute", Way::SameSet, Stage::ComputeObject),
    ("graphics", Way::SameSet, Stage::FragmentObject),
    ("graphics-other-set", Way::OtherSet, Stage::FragmentObject),
    ("graphics-push", Way::Push, Stage::FragmentObject),
    ("graphics-push-template", Way::PushTemplate, Stage::FragmentObject),
    ("graphics-template", Way::Template, Stage::FragmentObject),
    ("graphics-copy", Way::Copy, Stage::FragmentObject),
    ("graphics-secondary", Way::Secondary, Stage::FragmentObject),
    ("linked", Way::SameSet, Stage::LinkedObjects),
    ("linked", Way::SameSet, Stage::Libraries),
    ("independent", Way::OtherSet, Stage::IndependentLibraries),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for conflict in conflicts::all() {
        for (name, way, stage) in WAYS {
            let conflict = conflict.clone();
            trials.push(trial_in(stage, format!("one/{}/{name}", conflict.name), move || run(&conflict, way, stage)));
        }
    }
    trials
}

fn run(conflict: &Conflict, way: Way, stage: Stage) -> Outcome {
    let is_split_over_sets = matches!(way, Way::OtherSet | Way::OtherSetFirst);
    let how = if way.pushes() { How::Push } else { How::Shadow };
    let expected = Expected::one(how, place(0, 0, 0), place(u32::from(is_split_over_sets), 1, 0));
    let oracle = if is_split_over_sets { conflict.oracle.where_seen() } else { conflict.oracle };
    let builder = Context::builder();
    judge(&builder, oracle, &expected, &|context| look(context, conflict, conflict, way, stage))?;
    for twin in [conflict.twin(), conflict.good_twin()] {
        judge_legal(&builder, &|context| look(context, conflict, &twin, way, stage))?;
    }
    Ok(())
}

/// Samples the image of `of` with its sampler; `conflict` says whether the device can have the conflict at all.
fn look(context: &Context, conflict: &Conflict, of: &Conflict, way: Way, stage: Stage) -> Result<Vec<Look>, Skip> {
    skip_if(context.missing(stage.needs()))?;
    conflict.check(context)?;
    match way {
        Way::Push => skip_if(context.missing(&[Capability::PushDescriptor]))?,
        Way::PushTemplate => skip_if(context.missing(&[Capability::PushDescriptor, Capability::UpdateTemplate]))?,
        Way::Template => skip_if(context.missing(&[Capability::UpdateTemplate]))?,
        _ => {}
    }
    let texture = Texture::new(context, of.scene)?;
    let sampler = of.sampler.create(context);
    let (image, state) = (texture.slot(0, 0), Slot::sampler(&sampler, 1, 0));
    let both = [Binding::image(0), Binding::sampler(1)];
    const OFFSET: usize = 4;
    let entries = [image, state].map(|slot| vk::DescriptorUpdateTemplateEntry {
        dst_binding: slot.at.0,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: slot.ty,
        offset: OFFSET + slot.at.0 as usize * IMAGE_INFO_SIZE,
        stride: 0,
    });
    let data = TemplateData::pack(&[image.info, state.info], OFFSET, IMAGE_INFO_SIZE);
    let mut held = Vec::new();
    match way {
        Way::OtherSet | Way::OtherSetFirst => {
            held.push(Held::new(context, &both[..1], &[image]));
            held.push(Held::new(context, &both[1..], &[state]));
        }
        Way::SameSet | Way::Secondary => held.push(Held::new(context, &both, &[image, state])),
        Way::Push | Way::PushTemplate => {}
        Way::Template => {
            let filled = Held::new(context, &both, &[]);
            Template::for_set(context, Spelling::Core, &filled.layout, &entries).update(filled.set, &data);
            held.push(filled);
        }
        Way::Copy => {
            let (from, to) = (Held::new(context, &both, &[image, state]), Held::new(context, &both, &[]));
            let copies = [0, 1].map(|binding| {
                let copy = vk::CopyDescriptorSet::default().src_set(from.set).src_binding(binding);
                copy.dst_set(to.set).dst_binding(binding).descriptor_count(1)
            });
            update(context, &[], &copies, &[]);
            held.push(to);
        }
    }
    let push = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let pushed = way.pushes().then(|| SetLayout::with_flags(context, &both, push));
    let layouts: Vec<_> = held.iter().map(|held| &held.layout).chain(&pushed).collect();
    let rig = Rig::new(context, &Plan::new(Program::One, texture.kind(), &layouts).stage(stage));
    let job = Job::new(&rig, &points());
    let template = (way == Way::PushTemplate)
        .then(|| Template::for_push(context, Spelling::Core, (rig.point(), rig.layout()), 0, &entries));
    let sets: Vec<_> = held.iter().map(|held| held.set).collect();
    let bind = |commands| match way {
        Way::PushTemplate => {
            rig.bind(commands);
            job.bind(commands);
            rig.push_with_template(commands, template.as_ref().expect("made above"), &data);
        }
        Way::OtherSetFirst => {
            job.bind(commands);
            rig.bind_sets(commands, 1, &sets[1..], &[]);
            rig.bind_sets(commands, 0, &sets[..1], &[]);
            rig.bind(commands);
        }
        Way::Push => {
            rig.bind(commands);
            job.bind(commands);
            rig.push(commands, 0, &[image.write(vk::DescriptorSet::null()), state.write(vk::DescriptorSet::null())]);
        }
        _ => {
            rig.bind(commands);
            job.bind(commands);
            rig.bind_sets(commands, 0, &sets, &[]);
        }
    };
    if way == Way::Secondary {
        let secondary = Commands::secondary(context, &rig, |commands| {
            bind(commands);
            job.record(commands, 0);
        });
        context.submit(|commands| {
            rig.in_pass(commands, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS, || secondary.record_into(commands));
            job.finish(commands);
        });
    } else {
        let commands = Commands::primary(context, |commands| {
            bind(commands);
            job.run(commands, 0);
        });
        commands.execute();
    }
    let mut results = job.results();
    Ok(vec![texture.look("the image", &of.legal, results.remove(0))])
}
