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
    /// The same, and the sets are bound last first, before the pipeline.
    SetsFirst,
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
    for (name, conflict, way) in crossed(&WAYS) {
        let (agreeing, of) = (conflict.clone(), conflict.name.clone());
        trials.push(trial_in(way.stage, format!("shared/good-and-bad/{of}/{name}"), move || disagree(&conflict, way)));
        trials.push(trial_in(way.stage, format!("shared/both-bad/{of}/{name}"), move || agree(&agreeing, way)));
    }
    trials
}

/// Each way with the conflict that every device has, and each conflict by two of the ways: nothing on a way depends on what a sampler asks for.
pub(crate) fn crossed(ways: &[(&'static str, By, Stage)]) -> Vec<(&'static str, Conflict, Way)> {
    let mut all = Vec::new();
    for conflict in conflicts::all() {
        let is_first = all.is_empty();
        let own = ways.iter().filter(|(name, ..)| is_first || ["same-set", "graphics-other-set"].contains(name));
        all.extend(own.map(|(name, by, stage)| (*name, conflict.clone(), Way { by: *by, stage: *stage })));
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
        place(u32::from(self.has_sets()), 1, 0)
    }

    fn has_sets(self) -> bool {
        matches!(self.by, By::Sets | By::SetsFirst)
    }

    pub(crate) fn pushes(self) -> bool {
        matches!(self.by, By::Push | By::PushTemplate)
    }

    pub(crate) fn oracle(self, conflict: &Conflict) -> Oracle {
        if self.has_sets() { conflict.oracle.where_seen() } else { conflict.oracle }
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
    const OFFSET: usize = 4;
    skip_if(context.missing(way.stage.needs()))?;
    conflict.check(context)?;
    if way.pushes() {
        skip_if(context.missing(&[Capability::PushDescriptor]))?;
    }
    if matches!(way.by, By::Template | By::PushTemplate) {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
    }
    let textures = images.iter().map(|image| Texture::new(context, image.scene)).collect::<Result<Vec<_>, _>>()?;
    let sampler = sampler.create(context);
    let mut slots: Vec<_> = textures.iter().zip([0, 2]).map(|(texture, binding)| texture.slot(binding, 0)).collect();
    let count = slots.len();
    slots.push(Slot::sampler(&sampler, 1, 0));
    let bindings: Vec<_> = slots.iter().map(|slot| Binding::new(slot.at.0, slot.ty, 1)).collect();
    let infos: Vec<_> = slots.iter().map(|slot| slot.info).collect();
    let entry = |(number, slot): (usize, &Slot)| vk::DescriptorUpdateTemplateEntry {
        dst_binding: slot.at.0,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: slot.ty,
        offset: OFFSET + number * IMAGE_INFO_SIZE,
        stride: 0,
    };
    let entries: Vec<_> = slots.iter().enumerate().map(entry).collect();
    let data = TemplateData::pack(&infos, OFFSET, IMAGE_INFO_SIZE);
    let held = match way.by {
        By::Push | By::PushTemplate => Vec::new(),
        By::Sets | By::SetsFirst => {
            let parts = [0..count, count..count + 1];
            parts.map(|part| Held::new(context, &bindings[part.clone()], &slots[part])).into()
        }
        By::Set | By::Secondary => vec![Held::new(context, &bindings, &slots)],
        By::Template => {
            let filled = Held::new(context, &bindings, &[]);
            Template::for_set(context, Spelling::Core, &filled.layout, &entries).update(filled.set, &data);
            vec![filled]
        }
        By::Copy => {
            let (from, to) = (Held::new(context, &bindings, &slots), Held::new(context, &bindings, &[]));
            let copy = |slot: &Slot| {
                let copy = vk::CopyDescriptorSet::default().src_set(from.set).src_binding(slot.at.0);
                copy.dst_set(to.set).dst_binding(slot.at.0).descriptor_count(1)
            };
            update(context, &[], &slots.iter().map(copy).collect::<Vec<_>>(), &[]);
            vec![to]
        }
    };
    let push = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let pushed = way.pushes().then(|| SetLayout::with_flags(context, &bindings, push));
    let layouts: Vec<_> = held.iter().map(|held| &held.layout).chain(&pushed).collect();
    let program = if count == 1 { Program::One } else { Program::Shared };
    let mut plan = Plan::new(program, textures[0].kind(), &layouts).stage(way.stage);
    if let Some(second) = textures.get(1) {
        plan = plan.second(second.kind());
    }
    let rig = Rig::new(context, &plan);
    let job = Job::new(&rig, &points());
    let template = (way.by == By::PushTemplate)
        .then(|| Template::for_push(context, Spelling::Core, (rig.point(), rig.layout()), 0, &entries));
    let sets: Vec<_> = held.iter().map(|held| held.set).collect();
    let bind = |commands| {
        if way.by == By::SetsFirst {
            job.bind(commands);
            rig.bind_sets(commands, 1, &sets[1..], &[]);
            rig.bind_sets(commands, 0, &sets[..1], &[]);
            return rig.bind(commands);
        }
        rig.bind(commands);
        job.bind(commands);
        if let Some(template) = &template {
            rig.push_with_template(commands, template, &data);
        } else if way.pushes() {
            // All at once, or the sampler last and by itself.
            let writes: Vec<_> = slots.iter().map(|slot| slot.write(vk::DescriptorSet::null())).collect();
            let parts: &[_] = if count == 1 { &[&writes[..]] } else { &[&writes[..count], &writes[count..]] };
            parts.iter().for_each(|writes| rig.push(commands, 0, writes));
        } else {
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
    let all = textures.iter().zip(["the first image", "the second image"]).zip(images).zip(job.results());
    Ok(all.map(|(((texture, what), image), found)| texture.look(what, &image.legal, found)).collect())
}
