//! One sampler shared by images that it suits and images that it does not: only the shader can tell its links apart.

use super::*;
use samplin_testkit::descriptor::{IMAGE_INFO_SIZE, Spelling, Template, TemplateData, update};

/// How the descriptors get to where the shader reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Written to one set.
    Set,
    /// Written to two, the sampler in one of its own.
    Sets,
    Push,
    PushTemplate,
    Template,
    /// Written to one set and copied to another.
    Copy,
    /// As with one set, all of it in a secondary command buffer.
    Secondary,
}

const WAYS: [(&str, By, Stage); 21] = [
    ("same-set", By::Set, Stage::Compute),
    ("other-set", By::Sets, Stage::Compute),
    ("push", By::Push, Stage::Compute),
    ("push-template", By::PushTemplate, Stage::Compute),
    ("template", By::Template, Stage::Compute),
    ("copy", By::Copy, Stage::Compute),
    ("secondary", By::Secondary, Stage::Compute),
    ("graphics", By::Set, Stage::Fragment),
    ("graphics-other-set", By::Sets, Stage::Fragment),
    ("graphics-push-template", By::PushTemplate, Stage::Fragment),
    ("graphics-template", By::Template, Stage::Fragment),
    ("graphics-copy", By::Copy, Stage::Fragment),
    ("graphics-secondary", By::Secondary, Stage::Fragment),
    ("compute", By::Set, Stage::ComputeObject),
    ("graphics", By::Set, Stage::FragmentObject),
    ("graphics-template", By::Template, Stage::FragmentObject),
    ("graphics-copy", By::Copy, Stage::FragmentObject),
    ("graphics-secondary", By::Secondary, Stage::FragmentObject),
    ("linked", By::Sets, Stage::LinkedObjects),
    ("linked", By::Set, Stage::Libraries),
    ("independent", By::Sets, Stage::IndependentLibraries),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, by, stage) in WAYS {
        for conflict in conflicts::all() {
            let way = Way { by, stage };
            let (agreeing, of) = (conflict.clone(), conflict.name);
            trials.push(trial_in(stage, format!("shared/good-and-bad/{of}/{name}"), move || disagree(&conflict, way)));
            trials.push(trial_in(stage, format!("shared/both-bad/{of}/{name}"), move || agree(&agreeing, way)));
        }
    }
    trials
}

#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) by: By,
    pub(crate) stage: Stage,
}

impl Way {
    pub(crate) fn state(self) -> Place {
        place(u32::from(self.by == By::Sets), 1, 0)
    }

    pub(crate) fn pushes(self) -> bool {
        matches!(self.by, By::Push | By::PushTemplate)
    }

    pub(crate) fn oracle(self, conflict: &Conflict) -> Oracle {
        if self.by == By::Sets { conflict.oracle.where_seen() } else { conflict.oracle }
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
    let how = if way.pushes() { How::Push } else { How::Shadow };
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
    if way.pushes() {
        skip_if(context.missing(&[Capability::PushDescriptor]))?;
    }
    if matches!(way.by, By::Template | By::PushTemplate) {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
    }
    let [first, second] = [Texture::new(context, images[0].scene)?, Texture::new(context, images[1].scene)?];
    let sampler = sampler.create(context);
    let slots = [first.slot(0, 0), second.slot(2, 0), Slot::sampler(&sampler, 1, 0)];
    let bindings = [Binding::image(0), Binding::image(2), Binding::sampler(1)];
    let entries = slots.map(|slot| vk::DescriptorUpdateTemplateEntry {
        dst_binding: slot.at.0,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: slot.ty,
        offset: slot.at.0 as usize * IMAGE_INFO_SIZE,
        stride: 0,
    });
    let data = TemplateData::pack(&[slots[0].info, slots[2].info, slots[1].info], 0, IMAGE_INFO_SIZE);
    let held = match way.by {
        By::Push | By::PushTemplate => Vec::new(),
        By::Sets => {
            vec![Held::new(context, &bindings[..2], &slots[..2]), Held::new(context, &bindings[2..], &slots[2..])]
        }
        By::Set | By::Secondary => vec![Held::new(context, &bindings, &slots)],
        By::Template => {
            let filled = Held::new(context, &bindings, &[]);
            Template::for_set(context, Spelling::Core, &filled.layout, &entries).update(filled.set, &data);
            vec![filled]
        }
        By::Copy => {
            let (from, to) = (Held::new(context, &bindings, &slots), Held::new(context, &bindings, &[]));
            let copies = slots.map(|slot| {
                let copy = vk::CopyDescriptorSet::default().src_set(from.set).src_binding(slot.at.0);
                copy.dst_set(to.set).dst_binding(slot.at.0).descriptor_count(1)
            });
            update(context, &[], &copies, &[]);
            vec![to]
        }
    };
    let push = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let pushed = way.pushes().then(|| SetLayout::with_flags(context, &bindings, push));
    let layouts: Vec<_> = held.iter().map(|held| &held.layout).chain(&pushed).collect();
    let plan = Plan::new(Program::Shared, first.kind(), &layouts).second(second.kind()).stage(way.stage);
    let rig = Rig::new(context, &plan);
    let job = Job::new(&rig, &points());
    let template = (way.by == By::PushTemplate)
        .then(|| Template::for_push(context, Spelling::Core, (rig.point(), rig.layout()), 0, &entries));
    let bind = |commands| {
        rig.bind(commands);
        job.bind(commands);
        if let Some(template) = &template {
            rig.push_with_template(commands, template, &data);
        } else if way.pushes() {
            // The sampler last, and by itself.
            rig.push(commands, 0, &[slots[0], slots[1]].each_ref().map(|slot| slot.write(vk::DescriptorSet::null())));
            rig.push(commands, 0, &[slots[2].write(vk::DescriptorSet::null())]);
        } else {
            let sets: Vec<_> = held.iter().map(|held| held.set).collect();
            rig.bind_sets(commands, 0, &sets, &[]);
        }
    };
    if way.by == By::Secondary {
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
    let second_result = results.remove(1);
    Ok(vec![
        first.look("the first image", &images[0].legal, results.remove(0)),
        second.look("the second image", &images[1].legal, second_result),
    ])
}
