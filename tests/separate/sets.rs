//! Sets that are copied: what is written beside the sampler that is exchanged, what pools and layouts of copies are like, and arrays of
//! thousands of descriptors.

use super::*;
use samplin_testkit::Buffer;
use samplin_testkit::descriptor::{self, Spelling, Template, TemplateData};
use samplin_testkit::held::bindings;
use samplin_testkit::way::{Route, Way as By};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (suffix, stage) in STAGES {
        for (name, way) in
            [("write", Way::Write), ("template", Way::Template), ("copy", Way::Copy), ("copy-from-plain", Way::Plain)]
        {
            trials.push(trial_in(stage, format!("set/written/{name}/{suffix}"), move || written(stage, way)));
        }
        for (name, in_layout, in_pool) in [("pool", false, true), ("layout-and-pool", true, true)] {
            let name = format!("set/update-after-bind/{name}/{suffix}");
            trials.push(trial_in(stage, name, move || of_pool(stage, in_layout, in_pool)));
        }
        for (name, by) in [("set", By::Set), ("sets", By::Sets), ("push", By::Push), ("template", By::PushTemplate)] {
            trials.push(trial_in(stage, format!("set/out-of-pair/{name}/{suffix}"), move || out_of_pair(stage, by)));
        }
        trials.push(trial_in(stage, format!("set/large/constant/{suffix}"), move || large(stage)));
        trials.push(trial_in(stage, format!("set/large/after-bind/{suffix}"), move || large_after_bind(stage)));
        trials.push(trial_in(stage, format!("set/large/looked-up/{suffix}"), move || large_looked_up(stage)));
    }
    trials
}

/// How the uniform buffer of a set becomes another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Write,
    Template,
    Copy,
    /// Copied from a set that has nothing else.
    Plain,
}

/// The set is copied when it is first bound. Then its uniform buffer is exchanged, which neither the image nor the sampler is about.
fn written(stage: Stage, way: Way) -> Outcome {
    const SALT: [u32; 2] = [0x1111_1111, 0x2222_2222];
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let salt = |binding| Binding::new(binding, vk::DescriptorType::UNIFORM_BUFFER, 1);
        let slots = [texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)];
        let bindings = [Binding::image(0), Binding::sampler(1), salt(2)];
        let [held, other] = [(); 2].map(|()| Held::new(context, &bindings, &slots));
        let plain = Held::new(context, &[salt(0)], &[]);
        let buffers = SALT.map(|salt| {
            let buffer = Buffer::new(context, 16, vk::BufferUsageFlags::UNIFORM_BUFFER);
            buffer.write_words(&[salt]);
            buffer
        });
        let point_to = |(set, binding), buffer: &Buffer<'_>| write_uniform(context, set, binding, buffer);
        point_to((held.set, 2), &buffers[0]);
        point_to((other.set, 2), &buffers[1]);
        point_to((plain.set, 0), &buffers[1]);
        let layouts = [&held.layout];
        let plan = Plan::new(Program::Salted, texture.kind(), &layouts).stage(stage);
        let rig = Rig::new(context, &plan);
        let mut looks = Vec::new();
        for (turn, salt) in SALT.into_iter().enumerate() {
            let copy = vk::CopyDescriptorSet::default().dst_set(held.set).dst_binding(2).descriptor_count(1);
            match way {
                _ if turn == 0 => {}
                Way::Write => point_to((held.set, 2), &buffers[1]),
                Way::Copy => descriptor::update(context, &[], &[copy.src_set(other.set).src_binding(2)], &[]),
                Way::Plain => descriptor::update(context, &[], &[copy.src_set(plain.set)], &[]),
                Way::Template => {
                    let entry = vk::DescriptorUpdateTemplateEntry {
                        dst_binding: 2,
                        descriptor_count: 1,
                        descriptor_type: vk::DescriptorType::UNIFORM_BUFFER,
                        ..Default::default()
                    };
                    let template = Template::for_set(context, Spelling::Core, &held.layout, &[entry]);
                    template.update(held.set, &TemplateData::of_buffer(&buffers[1], 16));
                }
            }
            let found = unsalted(rig.found(&[held.set], &points(), 0).remove(0), salt);
            looks.push(texture.look("the salted image", legal, found));
        }
        Ok(looks)
    };
    repaired(&shadow(), &look)
}

/// No descriptor may be updated after a bind, but the pool, or the pool and the layout, are of the kind that allows it: a copy has to be
/// of the same kind (VUID-VkCopyDescriptorSet-srcSet-01918, -01920, -04885, -04887).
fn of_pool(stage: Stage, in_layout: bool, in_pool: bool) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let late = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        let flags = if in_layout { late } else { vk::DescriptorSetLayoutCreateFlags::empty() };
        let layout = SetLayout::with_flags(context, &[Binding::image(0), Binding::sampler(1)], flags);
        let late = vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
        let flags = if in_pool { late } else { vk::DescriptorPoolCreateFlags::empty() };
        let pool = Pool::with_flags(context, &[&layout], flags);
        let set = pool.allocate(&layout);
        write(context, set, &[texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)]);
        let found = found(context, &Plan::new(Program::One, texture.kind(), &[&layout]).stage(stage), &[set]);
        Ok(looks(&[("the image", &texture, legal)], found))
    };
    repaired(&shadow(), &look)
}

/// The sampler comes out of a descriptor that holds another image as well, in which no sampler can be exchanged for it alone.
fn out_of_pair(stage: Stage, by: By) -> Outcome {
    let conflict = conflicts::border();
    let look = |context: &Context, sampler: &SamplerDesc, beside: Scene| {
        by.check(context)?;
        let [texture, beside] = textures(context, [conflict.scene, beside])?;
        let sampler = sampler.create(context);
        let slots = [texture.slot(0, 0), beside.pair(&sampler, 1, 0)];
        let bindings = bindings(&slots);
        let route = Route::new(context, by, &bindings, 1)?;
        let layouts = route.layouts();
        let rig = Rig::new(context, &Plan::new(Program::One, texture.kind(), &layouts).stage(stage));
        Ok(looks(&[("the image beside a pair", &texture, &conflict.legal)], route.found(&rig, &slots, &points())))
    };
    // Combined descriptors are followed.
    let builder = Context::builder().setting("unfilterable", "emulate");
    let expected = Expected::one(How::Split, place(0, 0, 0), place(u32::from(by.has_sets()), 1, 0));
    judge(&builder, conflict.oracle, &expected, &|context| look(context, &conflict.sampler, conflicts::UINT))?;
    judge_legal(&builder, &|context| look(context, &conflict.legal, conflict.scene))?;
    // What the other image needs in its place is not what this one reads with, and nobody reads the other one.
    let (looks, judged) = silent(resolve(builder), "beside a conflict", |context: &Context| {
        look(context, &conflict.legal, conflicts::UINT)
    })?;
    looks.iter().for_each(|look| look.assert("beside a conflict"));
    assert!(draws(&judged).is_empty(), "{:#?}", judged.trace);
    Ok(())
}

/// Descriptors of the one set with samplers that all shaders of an engine index.
const SAMPLERS: u32 = 4000;

/// One set with thousands of samplers, and one with images, whose elements the shader names. `flags` are those of the samplers.
fn global(
    context: &Context,
    stage: Stage,
    flags: vk::DescriptorBindingFlags,
    samplers: [&SamplerDesc; 2],
    legal: &SamplerDesc,
) -> Result<Vec<Look>, Skip> {
    skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
    let many = Binding::new(1, vk::DescriptorType::SAMPLER, SAMPLERS).flags(flags);
    // Also where none of its descriptors is updated after the bind.
    let late = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
    let all = SetLayout::with_flags(context, &[many], late);
    let pool = Pool::with_flags(context, &[&all], vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND);
    let set = pool.allocate(&all);
    let textures = Texture::all(context, &[conflicts::UINT; 3])?;
    let slots: Vec<_> = (0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)).collect();
    let images = Held::of(context, &slots);
    // The first two are read, and any of the others may be there or not.
    let made = samplers.map(|sampler| sampler.create(context));
    let infos: Vec<_> = (0..1000_usize)
        .map(|element| vk::DescriptorImageInfo { sampler: made[element.min(1)].handle(), ..Default::default() })
        .collect();
    write_images(context, set, (1, 0), vk::DescriptorType::SAMPLER, &infos);
    let layouts = [&images.layout, &all];
    let plan = Plan::new(Program::Constant, textures[0].kind(), &layouts).stage(stage);
    let wanted = [("element 2", &textures[2], legal), ("element 0", &textures[0], legal)];
    Ok(looks(&wanted, found(context, &plan, &[images.set, set])))
}

fn large(stage: Stage) -> Outcome {
    let none = vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let expected = Expected::one(How::Shadow, place(0, 0, 2), place(1, 1, 1));
    repaired_unseen(&expected, &|context, sampler, legal| global(context, stage, none, [legal, sampler], legal))
}

/// Where samplers may be exchanged after the bind nothing is known with `bindless=name`; that is what is said, and once.
fn large_after_bind(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let builder = Context::builder().setting("bindless", "name");
    let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let expected = Expected::unresolved("update-after-bind");
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&builder, oracle, &expected, &|context| global(context, stage, late, [&nearest, &linear], &nearest))?;
    judge_legal(&builder, &|context| global(context, stage, late, [&nearest; 2], &nearest))
}

/// With `bindless=resolve` the shader looks up which sampler suits, though it has no index, if the device lets it index samplers.
fn large_looked_up(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::PARTIALLY_BOUND;
    let builder = resolve(Context::builder());
    let (looks, judged) = with_layer(builder, |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
        global(context, stage, late, [&nearest, &linear], &nearest)
    })?;
    tables::assert_looked_up(&judged, &looks);
    Ok(())
}
