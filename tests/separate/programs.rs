//! How a shader comes to its pairs: functions, arrays with each kind of index, fetches, and bindings that it does not use.

use super::*;

type Row = (&'static str, fn(Stage) -> Outcome);
type RowOf = (&'static str, fn(Stage, &Conflict) -> Outcome);

pub(crate) fn trials() -> Vec<Trial> {
    let all: [Row; 19] = [
        ("calls", calls_agree),
        ("array/constant", constant),
        ("array/special", special),
        ("array/dynamic", dynamic_agree),
        ("fetch", fetch),
        ("compared", compared),
        ("gather", gather),
        ("unused", unused),
        ("offsets", offsets),
        ("beside-immutable", beside_immutable),
        ("immutable", immutable),
        ("immutable-shared", immutable_shared),
        ("immutable-good-and-bad", immutable_good_and_bad),
        ("mutable", mutable),
        ("variable-count", variable_count),
        ("variable-samplers", variable_samplers),
        ("aliased", aliased),
        ("array/non-uniform", non_uniform),
        ("queried", queried),
    ];
    let mut trials = Vec::new();
    for (name, body) in all {
        for (suffix, stage) in STAGES {
            trials.push(trial_in(stage, format!("program/{name}/{suffix}"), move || body(stage)));
        }
    }
    let disagreeing: [RowOf; 2] = [("calls", calls_disagree), ("array/dynamic", dynamic_disagree)];
    for (name, body) in disagreeing {
        for conflict in [conflicts::d16(), conflicts::border_format()] {
            for (suffix, stage) in STAGES {
                let (conflict, name) = (conflict.clone(), format!("program/{name}-{}/{suffix}", conflict.name));
                trials.push(trial_in(stage, name, move || body(stage, &conflict)));
            }
        }
    }
    trials
}

fn check(context: &Context, stage: Stage) -> Outcome {
    skip_if(context.missing(stage.needs()))
}

// --- functions --------------------------------------------------------------------------------------------------------

/// Three calls of a function that takes image and sampler: two of them with one sampler, and two with one image.
fn calls(
    context: &Context,
    stage: Stage,
    scenes: [Scene; 2],
    samplers: [&SamplerDesc; 2],
    legal: [&SamplerDesc; 3],
) -> Result<Vec<Look>, Skip> {
    check(context, stage)?;
    let [first, second] = [Texture::new(context, scenes[0])?, Texture::new(context, scenes[1])?];
    let [one, other] = samplers.map(|sampler| sampler.create(context));
    let bindings = [Binding::image(0), Binding::sampler(1), Binding::image(2), Binding::sampler(3)];
    let slots = [first.slot(0, 0), Slot::sampler(&one, 1, 0), second.slot(2, 0), Slot::sampler(&other, 3, 0)];
    let held = Held::new(context, &bindings, &slots);
    let found = held.found(context, (Program::Calls, stage), [first.kind(); 2]);
    let textures = [&first, &second, &second];
    let names = ["the first call", "the second call", "the third call"];
    Ok(std::iter::zip(textures, names).zip(legal).zip(found).map(|(((t, n), l), got)| t.look(n, l, got)).collect())
}

fn calls_agree(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let expected =
        Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0)).and(How::Shadow, place(0, 2, 0), place(0, 1, 0));
    let oracle = conflicts::uint().oracle.where_seen();
    let builder = Context::builder();
    let uint = conflicts::UINT;
    judge(&builder, oracle, &expected, &|context| {
        calls(context, stage, [uint; 2], [&linear, &nearest], [&nearest; 3])
    })?;
    judge_legal(&builder, &|context| calls(context, stage, [uint; 2], [&nearest; 2], [&nearest; 3]))
}

/// The first image conflicts with the first sampler, the second with neither.
fn calls_disagree(stage: Stage, conflict: &Conflict) -> Outcome {
    let expected = Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0));
    let (builder, sampler, linear) = (Context::builder(), &conflict.sampler, SamplerDesc::linear());
    judge(&builder, conflict.oracle.where_seen(), &expected, &|context| {
        check(context, stage)?;
        conflict.check(context)?;
        calls(context, stage, [conflict.scene, RGBA8], [sampler, &linear], [&conflict.legal, sampler, &linear])
    })?;
    judge_legal(&builder, &|context| {
        check(context, stage)?;
        conflict.check(context)?;
        calls(context, stage, [RGBA8; 2], [sampler, &linear], [sampler, sampler, &linear])
    })
}

// --- arrays -----------------------------------------------------------------------------------------------------------

/// What is in arrays, which has to live as long as their descriptors.
type Arrays<'c> = (Vec<Texture<'c>>, Vec<Sampler<'c>>, Vec<Slot>);

/// Three images and two samplers in arrays.
fn arrays<'c>(context: &'c Context, scenes: [Scene; 3], samplers: [&SamplerDesc; 2]) -> Result<Arrays<'c>, Skip> {
    let textures = scenes.into_iter().map(|scene| Texture::new(context, scene)).collect::<Result<Vec<_>, _>>()?;
    let samplers: Vec<_> = samplers.iter().map(|sampler| sampler.create(context)).collect();
    let mut slots: Vec<_> = (0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)).collect();
    slots.extend((0..).zip(&samplers).map(|(element, sampler)| Slot::sampler(sampler, 1, element)));
    Ok((textures, samplers, slots))
}

fn array_bindings() -> [Binding; 2] {
    [Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3), Binding::new(1, vk::DescriptorType::SAMPLER, 2)]
}

/// Images[2] with samplers[1], and [0] with [0]: of six pairs, two are links.
fn constant(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let look = |context: &Context, samplers: [&SamplerDesc; 2]| {
        check(context, stage)?;
        let (textures, _samplers, slots) = arrays(context, [conflicts::UINT; 3], samplers)?;
        let held = Held::new(context, &array_bindings(), &slots);
        let mut found = held.found(context, (Program::Constant, stage), [textures[0].kind(); 2]);
        let second = found.remove(1);
        Ok(vec![
            textures[2].look("element 2", &nearest, found.remove(0)),
            textures[0].look("element 0", &nearest, second),
        ])
    };
    let (builder, oracle) = (Context::builder(), conflicts::uint().oracle.where_seen());
    // One of the two samplers is at fault, and it is the one that the trace has to name.
    let second = Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1));
    judge(&builder, oracle, &second, &|context| look(context, [&nearest, &linear]))?;
    let first = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    judge(&builder, oracle, &first, &|context| look(context, [&linear, &nearest]))?;
    judge_legal(&builder, &|context| look(context, [&nearest, &nearest]))
}

/// The specialization constants choose the pair: the others may be as illegal as they like.
fn special(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let look = |context: &Context, constants: [u32; 2], legal: &SamplerDesc| {
        check(context, stage)?;
        let (textures, _samplers, slots) = arrays(context, [conflicts::UINT; 3], [&nearest, &linear])?;
        let held = Held::new(context, &array_bindings(), &slots);
        let layouts = [&held.layout];
        let mut plan = Plan::new(Program::Special, textures[0].kind(), &layouts).stage(stage);
        plan.constants = constants;
        let found = found(context, &plan, &[held.set]).remove(0);
        Ok(vec![textures[constants[0] as usize].look("the element", legal, found)])
    };
    let builder = Context::builder();
    let expected = Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1));
    // Validation does not know what specialization constants come to.
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&builder, oracle, &expected, &|context| look(context, [2, 1], &nearest))?;
    judge_legal(&builder, &|context| look(context, [2, 0], &nearest))
}

/// One sampler over an array whose element is chosen when the shader runs.
fn dynamic(
    context: &Context,
    stage: Stage,
    scenes: [Scene; 3],
    sampler: &SamplerDesc,
    legal: [&SamplerDesc; 3],
) -> Result<Vec<Look>, Skip> {
    check(context, stage)?;
    skip_if(context.missing(&[Capability::ImageArrayIndexing]))?;
    let textures = scenes.into_iter().map(|scene| Texture::new(context, scene)).collect::<Result<Vec<_>, _>>()?;
    let sampler = sampler.create(context);
    let mut slots: Vec<_> = (0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)).collect();
    slots.push(Slot::sampler(&sampler, 1, 0));
    let held =
        Held::new(context, &[Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3), Binding::sampler(1)], &slots);
    let layouts = [&held.layout];
    let plan = Plan::new(Program::Dynamic, textures[0].kind(), &layouts).stage(stage);
    let rig = Rig::new(context, &plan);
    let mut looks = Vec::new();
    for ((element, texture), legal) in (0..).zip(&textures).zip(legal) {
        let job = Job::new(&rig, &points());
        let commands = Commands::primary(context, |commands| {
            rig.bind(commands);
            rig.bind_sets(commands, 0, &[held.set], &[]);
            job.bind(commands);
            job.run(commands, element);
        });
        commands.execute();
        looks.push(texture.look("the element", legal, job.results().remove(0)));
    }
    Ok(looks)
}

fn dynamic_agree(stage: Stage) -> Outcome {
    let (linear, nearest, builder) = (SamplerDesc::linear(), SamplerDesc::nearest(), Context::builder());
    // Elements of one class are one decision, which is told of the first.
    let expected = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    let uint = conflicts::UINT;
    judge(&builder, conflicts::uint().oracle, &expected, &|context| {
        dynamic(context, stage, [uint; 3], &linear, [&nearest; 3])
    })?;
    judge_legal(&builder, &|context| dynamic(context, stage, [uint; 3], &nearest, [&nearest; 3]))
}

fn dynamic_disagree(stage: Stage, conflict: &Conflict) -> Outcome {
    let (builder, sampler) = (Context::builder(), &conflict.sampler);
    let expected = Expected::one(How::Split, place(0, 0, 1), place(0, 1, 0));
    judge(&builder, conflict.oracle.where_seen(), &expected, &|context| {
        check(context, stage)?;
        conflict.check(context)?;
        dynamic(context, stage, [RGBA8, conflict.scene, RGBA8], sampler, [sampler, &conflict.legal, sampler])
    })?;
    judge_legal(&builder, &|context| {
        check(context, stage)?;
        conflict.check(context)?;
        dynamic(context, stage, [RGBA8; 3], sampler, [sampler; 3])
    })
}

// --- what is no link --------------------------------------------------------------------------------------------------

/// An image that is only fetched meets no sampler.
fn fetch(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        check(context, stage)?;
        let [fetched, sampled] = [Texture::new(context, conflicts::UINT)?, Texture::new(context, RGBA8)?];
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        let slots = [fetched.slot(0, 0), Slot::sampler(&sampler, 1, 0), sampled.slot(2, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), Binding::image(2)], &slots);
        let mut found = held.found(context, (Program::Fetch, stage), [fetched.kind(), sampled.kind()]);
        let smooth = found.remove(1);
        let corner = fetched.image.read(vk::ImageAspectFlags::COLOR, 0, 0)[0];
        assert!(found[0].iter().all(|value| *value == corner), "{:?} is not {corner:?}", found[0][0]);
        Ok(vec![sampled.look("the sampled image", &linear, smooth)])
    })
}

/// LINEAR is legal where depths are compared, whatever the format can be filtered by.
fn compared(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        check(context, stage)?;
        let depth = Texture::new(context, Scene::depth(F::D16_UNORM))?;
        let compare = SamplerDesc::linear().compare(vk::CompareOp::LESS);
        let sampler = compare.create(context);
        let slots = [depth.slot(0, 0), Slot::sampler(&sampler, 1, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1)], &slots);
        let found = held.found(context, (Program::Compared, stage), [depth.kind(); 2]).remove(0);
        Ok(vec![depth.look("the depths", &compare, found)])
    })
}

/// To gather is to sample: the image of integers is not to be used with LINEAR, whose filter plays no part. The values are those of any
/// filter, so the neighbour alone shows that it was left smooth.
fn gather(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc| {
        check(context, stage)?;
        let [gathered, sampled] = [Texture::new(context, conflicts::UINT)?, Texture::new(context, RGBA8)?];
        let made = sampler.create(context);
        let slots = [gathered.slot(0, 0), Slot::sampler(&made, 1, 0), sampled.slot(2, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), Binding::image(2)], &slots);
        let found = held.found(context, (Program::Gather, stage), [gathered.kind(), sampled.kind()]).remove(1);
        Ok(vec![sampled.look("the sampled image", sampler, found)])
    };
    let (conflict, builder) = (conflicts::uint(), Context::builder());
    let expected = Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0));
    judge(&builder, conflict.oracle, &expected, &|context| look(context, &conflict.sampler))?;
    judge_legal(&builder, &|context| look(context, &conflict.legal))
}

/// A set with an image and a sampler that must not meet, and do not: the shader uses others.
fn unused(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        check(context, stage)?;
        let [bad, good] = [Texture::new(context, conflicts::UINT)?, Texture::new(context, RGBA8)?];
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        let state = |binding| Slot::sampler(&sampler, binding, 0);
        let held = Held::new(
            context,
            &[Binding::image(0), Binding::sampler(1), Binding::image(2), Binding::sampler(3)],
            &[good.slot(0, 0), state(1), bad.slot(2, 0), state(3)],
        );
        let found = held.found(context, (Program::One, stage), [good.kind(); 2]).remove(0);
        Ok(vec![good.look("the good image", &linear, found)])
    })
}

// --- beside them ------------------------------------------------------------------------------------------------------

/// A dynamic offset in the set of the sampler and two in the next, all in one bind: they count by set.
fn offsets(stage: Stage) -> Outcome {
    const SALT: [u32; 2] = [0x1111_1111, 0x2222_2222];
    const STEP: u32 = 256;
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let salt = Binding::new(2, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 1);
        let slots = [texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), salt], &slots);
        let buffer = samplin_testkit::Buffer::new(context, 2 * STEP as usize, vk::BufferUsageFlags::UNIFORM_BUFFER);
        for (index, salt) in SALT.iter().enumerate() {
            buffer.write(index * STEP as usize, &salt.to_le_bytes());
        }
        let info = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: 16 }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(held.set)
            .dst_binding(2)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .buffer_info(&info);
        samplin_testkit::descriptor::update(context, &[write], &[], &[]);
        let empty = SetLayout::new(context, &[]);
        let (_pool, none) = Pool::set(context, &empty);
        let layouts = [&held.layout];
        let mut plan = Plan::new(Program::Salted, texture.kind(), &layouts).stage(stage);
        plan.own_offsets = true;
        let rig = Rig::new(context, &plan);
        let mut looks = Vec::new();
        for pipeline_first in [true, false] {
            for (index, salt) in (0..).zip(SALT) {
                let job = Job::new(&rig, &points());
                let (own, own_offsets) = job.own();
                let offsets: Vec<_> = std::iter::once(index * STEP).chain(own_offsets.iter().copied()).collect();
                let commands = Commands::primary(context, |commands| {
                    if pipeline_first {
                        rig.bind(commands);
                    }
                    rig.bind_sets(commands, 0, &[held.set, none, own], &offsets);
                    if !pipeline_first {
                        rig.bind(commands);
                    }
                    job.run(commands, 0);
                });
                commands.execute();
                let found = unsalted(job.results().remove(0), salt);
                looks.push(texture.look("the salted image", legal, found));
            }
        }
        Ok(looks)
    };
    repaired(&Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0)), &look)
}

/// A set in which one sampler is to be another, with an immutable sampler and an image that has an immutable sampler.
fn beside_immutable(stage: Stage) -> Outcome {
    let nearest = SamplerDesc::nearest();
    let fixed = nearest.clone().address(vk::SamplerAddressMode::REPEAT);
    let look = |context: &Context, sampler: &SamplerDesc| {
        check(context, stage)?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let (state, immutable) = (sampler.create(context), fixed.create(context));
        let bindings = [
            Binding::image(0),
            Binding::sampler(1),
            Binding::combined(2, 1).immutable(&[&immutable]),
            Binding::sampler(3).immutable(&[&immutable]),
        ];
        let mut combined = texture.slot(2, 0);
        combined.ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let held = Held::new(context, &bindings, &[texture.slot(0, 0), Slot::sampler(&state, 1, 0), combined]);
        let found = held.found(context, (Program::Beside, stage), [texture.kind(); 2]);
        let wanted = [("the sampler", &nearest), ("the combined one", &fixed), ("the immutable one", &fixed)];
        Ok(std::iter::zip(wanted, found).map(|((what, legal), found)| texture.look(what, legal, found)).collect())
    };
    let (linear, builder) = (SamplerDesc::linear(), Context::builder());
    let expected = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    judge(&builder, conflicts::uint().oracle, &expected, &|context| look(context, &linear))?;
    judge_legal(&builder, &|context| look(context, &nearest))
}

/// An immutable sampler cannot be replaced in any set: only the shader can read another.
fn immutable(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let bindings = [Binding::image(0), Binding::sampler(1).immutable(&[&sampler])];
        let held = Held::new(context, &bindings, &[texture.slot(0, 0)]);
        let found = held.found(context, (Program::One, stage), [texture.kind(); 2]).remove(0);
        Ok(vec![texture.look("the image", legal, found)])
    };
    repaired(&Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0)), &look)
}

/// The same with two images: the sampler of the second link must not have a binding that a sampler of the application has too.
/// Versions of the validation layer look it up in the set of the image.
fn immutable_shared(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        let [first, second] = [Texture::new(context, conflicts::UINT)?, Texture::new(context, conflicts::UINT)?];
        let sampler = sampler.create(context);
        let bindings = [Binding::image(0), Binding::sampler(1).immutable(&[&sampler]), Binding::image(2)];
        let held = Held::new(context, &bindings, &[first.slot(0, 0), second.slot(2, 0)]);
        let mut found = held.found(context, (Program::Shared, stage), [first.kind(), second.kind()]);
        let other = found.remove(1);
        Ok(vec![first.look("the first image", legal, found.remove(0)), second.look("the second image", legal, other)])
    };
    let sampler = place(0, 1, 0);
    repaired(&Expected::one(How::Split, place(0, 0, 0), sampler).and(How::Split, place(0, 2, 0), sampler), &look)
}

/// The same where the sampler suits the second image: that one keeps it.
fn immutable_good_and_bad(stage: Stage) -> Outcome {
    let conflict = conflicts::uint();
    let good = conflict.good();
    let look = |context: &Context, images: [&Conflict; 2]| {
        check(context, stage)?;
        let [first, second] = [Texture::new(context, images[0].scene)?, Texture::new(context, images[1].scene)?];
        let sampler = conflict.sampler.create(context);
        let bindings = [Binding::image(0), Binding::sampler(1).immutable(&[&sampler]), Binding::image(2)];
        let held = Held::new(context, &bindings, &[first.slot(0, 0), second.slot(2, 0)]);
        let mut found = held.found(context, (Program::Shared, stage), [first.kind(), second.kind()]);
        let other = found.remove(1);
        Ok(vec![
            first.look("the first image", &images[0].legal, found.remove(0)),
            second.look("the second image", &images[1].legal, other),
        ])
    };
    let builder = Context::builder();
    let expected = Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0));
    judge(&builder, conflict.oracle, &expected, &|context| look(context, [&conflict, &good]))?;
    let expected = Expected::one(How::Split, place(0, 2, 0), place(0, 1, 0));
    judge(&builder, conflict.oracle, &expected, &|context| look(context, [&good, &conflict]))?;
    judge_legal(&builder, &|context| look(context, [&good, &good]))
}

/// Image and sampler in bindings that hold what is written to them: a sampler where an image was, an image where a buffer was.
fn mutable(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        skip_if(context.missing(&[Capability::MutableDescriptorType]))?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let made = sampler.create(context);
        let kinds = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::UNIFORM_BUFFER];
        let bindings = [Binding::mutable(0, &kinds), Binding::sampler(1)];
        let held = Held::new(context, &bindings, &[Slot::sampler(&made, 1, 0)]);
        let buffer = samplin_testkit::Buffer::new(context, 16, vk::BufferUsageFlags::UNIFORM_BUFFER);
        let info = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: 16 }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(held.set)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
            .buffer_info(&info);
        samplin_testkit::descriptor::update(context, &[write], &[], &[]);
        super::write(context, held.set, &[texture.slot(0, 0)]);
        let found = held.found(context, (Program::One, stage), [texture.kind(); 2]).remove(0);
        Ok(vec![texture.look("the image", legal, found)])
    };
    let (linear, nearest, builder) = (SamplerDesc::linear(), SamplerDesc::nearest(), Context::builder());
    let expected = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    // Not every version of validation knows what a mutable descriptor is at the moment.
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&builder, oracle, &expected, &|context| look(context, &linear, &nearest))?;
    judge_legal(&builder, &|context| look(context, &nearest, &nearest))
}

/// The set has fewer descriptors in its last binding than its layout: a copy of it too.
fn variable_count(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let made = sampler.create(context);
        let last = Binding::new(2, vk::DescriptorType::SAMPLED_IMAGE, 96)
            .flags(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT);
        let layout = SetLayout::new(context, &[Binding::image(0), Binding::sampler(1), last]);
        let pool = Pool::new(context, &[&layout]);
        let mut looks = Vec::new();
        for count in [2, 0, 96] {
            let set = pool.allocate_with(&layout, Some(count));
            write(context, set, &[texture.slot(0, 0), Slot::sampler(&made, 1, 0)]);
            (0..count).for_each(|element| write(context, set, &[texture.slot(2, element)]));
            let layouts = [&layout];
            let plan = Plan::new(Program::One, texture.kind(), &layouts).stage(stage);
            let found = found(context, &plan, &[set]).remove(0);
            looks.push(texture.look("the image", legal, found));
            // SAFETY: the set is of this pool, which frees sets one by one, and its execution was waited for.
            unsafe { context.device().free_descriptor_sets(pool.handle(), &[set]) }.expect("vkFreeDescriptorSets");
        }
        Ok(looks)
    };
    repaired(&Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0)), &look)
}

/// The array that is joined is the one whose length the set chooses: samplers behind its end are no part of a link.
fn variable_samplers(stage: Stage) -> Outcome {
    let (linear, nearest) = (SamplerDesc::linear(), SamplerDesc::nearest());
    let look = |context: &Context, samplers: [&SamplerDesc; 2]| {
        check(context, stage)?;
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let (textures, made, slots) = arrays(context, [conflicts::UINT; 3], samplers)?;
        let states = Binding::new(1, vk::DescriptorType::SAMPLER, 48);
        let [images, _] = array_bindings();
        let variable = states.flags(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT);
        let layout = SetLayout::new(context, &[images, variable]);
        let pool = Pool::new(context, &[&layout]);
        let plan_layouts = [&layout];
        let plan = Plan::new(Program::Constant, textures[0].kind(), &plan_layouts).stage(stage);
        let mut looks = Vec::new();
        for count in [2, 48, 3] {
            let set = pool.allocate_with(&layout, Some(count));
            write(context, set, &slots);
            // What no link reads may be as it likes.
            (2..count).for_each(|element| write(context, set, &[Slot::sampler(&made[1], 1, element)]));
            let mut found = found(context, &plan, &[set]);
            let second = found.remove(1);
            looks.push(textures[2].look("element 2", &nearest, found.remove(0)));
            looks.push(textures[0].look("element 0", &nearest, second));
            // SAFETY: the set is of this pool, which frees sets one by one, and its execution was waited for.
            unsafe { context.device().free_descriptor_sets(pool.handle(), &[set]) }.expect("vkFreeDescriptorSets");
        }
        Ok(looks)
    };
    let (builder, oracle) = (Context::builder(), conflicts::uint().oracle.where_seen());
    let expected = Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1));
    judge(&builder, oracle, &expected, &|context| look(context, [&nearest, &linear]))?;
    judge_legal(&builder, &|context| look(context, [&nearest, &nearest]))
}

/// One descriptor with a sampler that the shader has two variables for.
fn aliased(stage: Stage) -> Outcome {
    let conflict = conflicts::uint();
    let good = conflict.good();
    let look = |context: &Context, sampler: &SamplerDesc, images: [&Conflict; 2]| {
        check(context, stage)?;
        let [first, second] = [Texture::new(context, images[0].scene)?, Texture::new(context, images[1].scene)?];
        let sampler = sampler.create(context);
        let slots = [first.slot(0, 0), second.slot(2, 0), Slot::sampler(&sampler, 1, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::image(2), Binding::sampler(1)], &slots);
        let mut found = held.found(context, (Program::Aliased, stage), [first.kind(), second.kind()]);
        let other = found.remove(1);
        Ok(vec![
            first.look("the first image", &images[0].legal, found.remove(0)),
            second.look("the second image", &images[1].legal, other),
        ])
    };
    let (builder, sampler) = (Context::builder(), place(0, 1, 0));
    let split = Expected::one(How::Split, place(0, 0, 0), sampler);
    judge(&builder, conflict.oracle, &split, &|context| look(context, &conflict.sampler, [&conflict, &good]))?;
    let shadow = Expected::one(How::Shadow, place(0, 0, 0), sampler).and(How::Shadow, place(0, 2, 0), sampler);
    judge(&builder, conflict.oracle, &shadow, &|context| look(context, &conflict.sampler, [&conflict, &conflict]))?;
    judge_legal(&builder, &|context| look(context, &conflict.sampler, [&good, &good]))?;
    judge_legal(&builder, &|context| look(context, &conflict.legal, [&conflict.repaired(), &conflict.repaired()]))
}

/// Invocations choose different elements of an array at once. Its images are alike, so that each reads the same of its own.
fn non_uniform(stage: Stage) -> Outcome {
    let look = |context: &Context, scenes: [Scene; 3], sampler: &SamplerDesc, legal: &SamplerDesc| {
        check(context, stage)?;
        skip_if(context.missing(&[Capability::NonUniformIndexing]))?;
        let textures = scenes.into_iter().map(|scene| Texture::new(context, scene)).collect::<Result<Vec<_>, _>>()?;
        let made = sampler.create(context);
        let mut slots: Vec<_> = (0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)).collect();
        slots.push(Slot::sampler(&made, 1, 0));
        let images = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3);
        let held = Held::new(context, &[images, Binding::sampler(1)], &slots);
        let found = held.found(context, (Program::NonUniform, stage), [textures[0].kind(); 2]).remove(0);
        Ok(vec![textures[0].look("an element", legal, found)])
    };
    let (linear, nearest, builder) = (SamplerDesc::linear(), SamplerDesc::nearest(), Context::builder());
    let expected = Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    let uint = [conflicts::UINT; 3];
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&builder, oracle, &expected, &|context| look(context, uint, &linear, &nearest))?;
    judge_legal(&builder, &|context| look(context, uint, &nearest, &nearest))?;
    judge_legal(&builder, &|context| look(context, [RGBA8; 3], &linear, &linear))
}

/// To ask for sizes is not to sample: the image of integers is asked through the sampler that suits the other one only.
fn queried(stage: Stage) -> Outcome {
    let (looks, judged) = with_layer(resolve(Context::builder()), |context| {
        check(context, stage)?;
        let [asked, sampled] = [Texture::new(context, conflicts::UINT)?, Texture::new(context, RGBA8)?];
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        let slots = [asked.slot(0, 0), Slot::sampler(&sampler, 1, 0), sampled.slot(2, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), Binding::image(2)], &slots);
        let mut found = held.found(context, (Program::Queried, stage), [asked.kind(), sampled.kind()]);
        let smooth = found.remove(1);
        let [width, height, _] = asked.image.desc().level_extent(0);
        let size = Value::Uint([width, height, 0, 0]);
        let is_size = |value: &Value| context.is_record_only() || *value == size;
        assert!(found[0].iter().all(is_size), "{:?} is not {size:?}", found[0][0]);
        Ok(vec![sampled.look("the sampled image", &linear, smooth)])
    })?;
    // Not every version of the validation layer tells them apart either.
    conflicts::uint().oracle.where_seen().assert(&judged.errors, "what is asked for its size");
    looks.iter().for_each(|look| look.assert("what is asked for its size"));
    judged.assert_untouched("what is asked for its size");
    Ok(())
}
