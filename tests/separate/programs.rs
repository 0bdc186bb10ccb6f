//! How a shader comes to its pairs: functions, arrays with each kind of index, fetches, and bindings that it does not use.

use super::*;
use samplin_testkit::Buffer;
use samplin_testkit::descriptor::update;

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

// --- functions --------------------------------------------------------------------------------------------------------

/// Three calls of a function that takes image and sampler: two of them with one sampler, and two with one image.
fn calls(
    context: &Context,
    stage: Stage,
    scenes: [Scene; 2],
    samplers: [&SamplerDesc; 2],
    legal: [&SamplerDesc; 3],
) -> Result<Vec<Look>, Skip> {
    let [first, second] = textures(context, scenes)?;
    let [one, other] = samplers.map(|sampler| sampler.create(context));
    let slots = [first.slot(0, 0), Slot::sampler(&one, 1, 0), second.slot(2, 0), Slot::sampler(&other, 3, 0)];
    let wanted = [
        ("the first call", &first, legal[0]),
        ("the second call", &second, legal[1]),
        ("the third call", &second, legal[2]),
    ];
    Held::of(context, &slots).looks((Program::Calls, stage), &wanted)
}

fn calls_agree(stage: Stage) -> Outcome {
    let expected = shadow().and(How::Shadow, place(0, 2, 0), place(0, 1, 0));
    repaired_unseen(&expected, &|context, sampler, legal| {
        calls(context, stage, [conflicts::UINT; 2], [sampler, legal], [legal; 3])
    })
}

/// The first image conflicts with the first sampler, the second with neither.
fn calls_disagree(stage: Stage, conflict: &Conflict) -> Outcome {
    let (builder, sampler, linear) = (Context::builder(), &conflict.sampler, linear());
    judge(&builder, conflict.oracle.where_seen(), &split(), &|context| {
        conflict.check(context)?;
        calls(context, stage, [conflict.scene, RGBA8], [sampler, &linear], [&conflict.legal, sampler, &linear])
    })?;
    judge_legal(&builder, &|context| {
        conflict.check(context)?;
        calls(context, stage, [RGBA8; 2], [sampler, &linear], [sampler, sampler, &linear])
    })
}

// --- arrays -----------------------------------------------------------------------------------------------------------

/// What is in arrays, which has to live as long as their descriptors.
type Arrays<'c> = (Vec<Texture<'c>>, Vec<Sampler<'c>>, Vec<Slot>);

/// Images in an array at 0, and samplers in one at 1.
fn arrays<'c>(context: &'c Context, scenes: &[Scene], samplers: &[&SamplerDesc]) -> Result<Arrays<'c>, Skip> {
    let textures = Texture::all(context, scenes)?;
    let samplers: Vec<_> = samplers.iter().map(|sampler| sampler.create(context)).collect();
    let mut slots: Vec<_> = (0..).zip(&textures).map(|(element, texture)| texture.slot(0, element)).collect();
    slots.extend((0..).zip(&samplers).map(|(element, sampler)| Slot::sampler(sampler, 1, element)));
    Ok((textures, samplers, slots))
}

/// What [`Program::Constant`] looks at.
fn constant_looks<'a, 'c>(textures: &'a [Texture<'c>], legal: &'a SamplerDesc) -> [Wanted<'a, 'c>; 2] {
    [("element 2", &textures[2], legal), ("element 0", &textures[0], legal)]
}

/// Images[2] with samplers[1], and [0] with [0]: of six pairs, two are links.
fn constant(stage: Stage) -> Outcome {
    let look = |context: &Context, samplers: [&SamplerDesc; 2], legal: &SamplerDesc| {
        let (textures, _samplers, slots) = arrays(context, &[conflicts::UINT; 3], &samplers)?;
        Held::of(context, &slots).looks((Program::Constant, stage), &constant_looks(&textures, legal))
    };
    // One of the two samplers is at fault, and it is the one that the trace has to name.
    let second = Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1));
    repaired_unseen(&second, &|context, sampler, legal| look(context, [legal, sampler], legal))?;
    repaired_unseen(&shadow(), &|context, sampler, legal| look(context, [sampler, legal], legal))
}

/// The specialization constants choose the pair: the others may be as illegal as they like.
fn special(stage: Stage) -> Outcome {
    let (linear, nearest) = (linear(), nearest());
    let look = |context: &Context, constants: [u32; 2], legal: &SamplerDesc| {
        let (textures, _samplers, slots) = arrays(context, &[conflicts::UINT; 3], &[&nearest, &linear])?;
        let held = Held::of(context, &slots);
        let layouts = [&held.layout];
        let mut plan = Plan::new(Program::Special, textures[0].kind(), &layouts).stage(stage);
        plan.constants = constants;
        Ok(looks(&[("the element", &textures[constants[0] as usize], legal)], found(context, &plan, &[held.set])))
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
    skip_if(context.missing(&[Capability::ImageArrayIndexing]))?;
    let (textures, _sampler, slots) = arrays(context, &scenes, &[sampler])?;
    let held = Held::of(context, &slots);
    let rig = Rig::new(context, &Plan::new(Program::Dynamic, textures[0].kind(), &[&held.layout]).stage(stage));
    let elements = (0..).zip(&textures).zip(legal);
    let look = |((element, texture), legal): ((u32, &Texture<'_>), _)| {
        texture.look("the element", legal, rig.found(&[held.set], &points(), element).remove(0))
    };
    Ok(elements.map(look).collect())
}

fn dynamic_agree(stage: Stage) -> Outcome {
    // Elements of one class are one decision, which is told of the first.
    repaired(&shadow(), &|context, sampler, legal| dynamic(context, stage, [conflicts::UINT; 3], sampler, [legal; 3]))
}

fn dynamic_disagree(stage: Stage, conflict: &Conflict) -> Outcome {
    let (builder, sampler) = (Context::builder(), &conflict.sampler);
    let expected = Expected::one(How::Split, place(0, 0, 1), place(0, 1, 0));
    judge(&builder, conflict.oracle.where_seen(), &expected, &|context| {
        conflict.check(context)?;
        dynamic(context, stage, [RGBA8, conflict.scene, RGBA8], sampler, [sampler, &conflict.legal, sampler])
    })?;
    judge_legal(&builder, &|context| {
        conflict.check(context)?;
        dynamic(context, stage, [RGBA8; 3], sampler, [sampler; 3])
    })
}

// --- what is no link --------------------------------------------------------------------------------------------------

/// A program over two images and a sampler, of which it samples the second only: what its lookups find, and the first image.
fn beside_sampled<'c>(
    context: &'c Context,
    run: (Program, Stage),
    sampler: &SamplerDesc,
) -> Result<(Vec<Vec<Value>>, Look, Texture<'c>), Skip> {
    let [first, sampled] = textures(context, [conflicts::UINT, RGBA8])?;
    let made = sampler.create(context);
    let held = Held::of(context, &[first.slot(0, 0), Slot::sampler(&made, 1, 0), sampled.slot(2, 0)]);
    let mut found = held.found(run, [first.kind(), sampled.kind()])?;
    let look = sampled.look("the sampled image", sampler, found.remove(1));
    Ok((found, look, first))
}

/// An image that is only fetched meets no sampler.
fn fetch(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        let (found, look, fetched) = beside_sampled(context, (Program::Fetch, stage), &linear())?;
        let corner = fetched.image.read(vk::ImageAspectFlags::COLOR, 0, 0)[0];
        assert!(found[0].iter().all(|value| *value == corner), "{:?} is not {corner:?}", found[0][0]);
        Ok(vec![look])
    })
}

/// LINEAR is legal where depths are compared, whatever the format can be filtered by.
fn compared(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        let depth = Texture::new(context, Scene::depth(F::D16_UNORM))?;
        let compare = linear().compare(vk::CompareOp::LESS);
        let sampler = compare.create(context);
        let held = Held::of(context, &[depth.slot(0, 0), Slot::sampler(&sampler, 1, 0)]);
        held.looks((Program::Compared, stage), &[("the depths", &depth, &compare)])
    })
}

/// To gather is to sample: the image of integers is not to be used with LINEAR, whose filter plays no part. The values are those of any
/// filter, so the neighbour alone shows that it was left smooth.
fn gather(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc| {
        Ok(vec![beside_sampled(context, (Program::Gather, stage), sampler)?.1])
    };
    let (conflict, builder) = (conflicts::uint(), Context::builder());
    judge(&builder, conflict.oracle, &split(), &|context| look(context, &conflict.sampler))?;
    judge_legal(&builder, &|context| look(context, &conflict.legal))
}

/// A set with an image and a sampler that must not meet, and do not: the shader uses others.
fn unused(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        let [bad, good] = textures(context, [conflicts::UINT, RGBA8])?;
        let sampler = linear().create(context);
        let state = |binding| Slot::sampler(&sampler, binding, 0);
        let held = Held::of(context, &[good.slot(0, 0), state(1), bad.slot(2, 0), state(3)]);
        held.looks((Program::One, stage), &[("the good image", &good, &linear())])
    })
}

// --- beside them ------------------------------------------------------------------------------------------------------

/// A dynamic offset in the set of the sampler and two in the next, all in one bind: they count by set.
fn offsets(stage: Stage) -> Outcome {
    const SALT: [u32; 2] = [0x1111_1111, 0x2222_2222];
    const STEP: u32 = 256;
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let salt = Binding::new(2, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 1);
        let slots = [texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), salt], &slots);
        let buffer = Buffer::new(context, 2 * STEP as usize, vk::BufferUsageFlags::UNIFORM_BUFFER);
        for (index, salt) in SALT.iter().enumerate() {
            buffer.write(index * STEP as usize, &salt.to_le_bytes());
        }
        let info = [vk::DescriptorBufferInfo { range: 16, ..whole(&buffer) }];
        let write = vk::WriteDescriptorSet::default().dst_set(held.set).dst_binding(2).buffer_info(&info);
        update(context, &[write.descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)], &[], &[]);
        let none = Held::new(context, &[], &[]);
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
                Commands::once(context, |commands| {
                    if pipeline_first {
                        rig.bind(commands);
                    }
                    rig.bind_sets(commands, 0, &[held.set, none.set, own], &offsets);
                    if !pipeline_first {
                        rig.bind(commands);
                    }
                    job.run(commands, 0);
                });
                let found = unsalted(job.results().remove(0), salt);
                looks.push(texture.look("the salted image", legal, found));
            }
        }
        Ok(looks)
    };
    repaired(&shadow(), &look)
}

/// A set in which one sampler is to be another, with an immutable sampler and an image that has an immutable sampler.
fn beside_immutable(stage: Stage) -> Outcome {
    let (linear, nearest, builder) = (linear(), nearest(), Context::builder());
    let fixed = nearest.clone().address(vk::SamplerAddressMode::REPEAT);
    let look = |context: &Context, sampler: &SamplerDesc| {
        let texture = Texture::new(context, conflicts::UINT)?;
        let (state, immutable) = (sampler.create(context), fixed.create(context));
        let (pair, alone) = (texture.pair(&immutable, 2, 0), Slot::sampler(&immutable, 3, 0));
        let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&state, 1, 0), pair.fixed(), alone.fixed()]);
        let wanted = [("the sampler", &nearest), ("the combined one", &fixed), ("the immutable one", &fixed)];
        held.looks((Program::Beside, stage), &wanted.map(|(what, legal)| (what, &texture, legal)))
    };
    judge(&builder, conflicts::uint().oracle, &shadow(), &|context| look(context, &linear))?;
    judge_legal(&builder, &|context| look(context, &nearest))
}

/// An immutable sampler cannot be replaced in any set: only the shader can read another.
fn immutable(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        let texture = Texture::new(context, conflicts::UINT)?;
        let sampler = sampler.create(context);
        let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&sampler, 1, 0).fixed()]);
        held.looks((Program::One, stage), &[("the image", &texture, legal)])
    };
    repaired(&split(), &look)
}

/// Two images with an immutable sampler.
fn immutable_of_two(
    context: &Context,
    stage: Stage,
    sampler: &SamplerDesc,
    images: [(Scene, &SamplerDesc); 2],
) -> Result<Vec<Look>, Skip> {
    let [first, second] = textures(context, images.map(|(scene, _)| scene))?;
    let sampler = sampler.create(context);
    let slots = [first.slot(0, 0), Slot::sampler(&sampler, 1, 0).fixed(), second.slot(2, 0)];
    let wanted = [("the first image", &first, images[0].1), ("the second image", &second, images[1].1)];
    Held::of(context, &slots).looks((Program::Shared, stage), &wanted)
}

/// The same with two images: the sampler of the second link must not have a binding that a sampler of the application has too.
/// Versions of the validation layer look it up in the set of the image.
fn immutable_shared(stage: Stage) -> Outcome {
    let expected = split().and(How::Split, place(0, 2, 0), place(0, 1, 0));
    repaired(&expected, &|context, sampler, legal| {
        immutable_of_two(context, stage, sampler, [(conflicts::UINT, legal); 2])
    })
}

/// The same where the sampler suits the second image: that one keeps it.
fn immutable_good_and_bad(stage: Stage) -> Outcome {
    let conflict = conflicts::uint();
    let (bad, good) = ((conflict.scene, &conflict.legal), (conflict.twin.0, &conflict.sampler));
    let look = |context: &Context, images| immutable_of_two(context, stage, &conflict.sampler, images);
    let builder = Context::builder();
    judge(&builder, conflict.oracle, &split(), &|context| look(context, [bad, good]))?;
    let expected = Expected::one(How::Split, place(0, 2, 0), place(0, 1, 0));
    judge(&builder, conflict.oracle, &expected, &|context| look(context, [good, bad]))?;
    judge_legal(&builder, &|context| look(context, [good, good]))
}

/// Image and sampler in bindings that hold what is written to them: a sampler where an image was, an image where a buffer was.
fn mutable(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        skip_if(context.missing(&[Capability::MutableDescriptorType]))?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let made = sampler.create(context);
        let kinds = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::UNIFORM_BUFFER];
        let bindings = [Binding::mutable(0, &kinds), Binding::sampler(1)];
        let held = Held::new(context, &bindings, &[Slot::sampler(&made, 1, 0)]);
        let buffer = Buffer::new(context, 16, vk::BufferUsageFlags::UNIFORM_BUFFER);
        write_uniform(context, held.set, 0, &buffer);
        held.write(&[texture.slot(0, 0)]);
        held.looks((Program::One, stage), &[("the image", &texture, legal)])
    };
    // Not every version of validation knows what a mutable descriptor is at the moment.
    repaired_unseen(&shadow(), &look)
}

/// Looks at sets of a layout whose last binding has another number of descriptors in each; `fill` writes one.
fn of_counts(
    context: &Context,
    bindings: &[Binding],
    counts: [u32; 3],
    fill: &dyn Fn(vk::DescriptorSet, u32),
    look: &dyn Fn(&SetLayout<'_>, vk::DescriptorSet) -> Vec<Look>,
) -> Vec<Look> {
    let layout = SetLayout::new(context, bindings);
    let pool = Pool::new(context, &[&layout]);
    let of = |count| {
        let set = pool.allocate_with(&layout, Some(count));
        fill(set, count);
        let looks = look(&layout, set);
        pool.free(&[set]);
        looks
    };
    counts.into_iter().flat_map(of).collect()
}

/// The set has fewer descriptors in its last binding than its layout: a copy of it too.
fn variable_count(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let made = sampler.create(context);
        let last = Binding::new(2, vk::DescriptorType::SAMPLED_IMAGE, 96)
            .flags(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT);
        let fill = |set, count| {
            write(context, set, &[texture.slot(0, 0), Slot::sampler(&made, 1, 0)]);
            (0..count).for_each(|element| write(context, set, &[texture.slot(2, element)]));
        };
        Ok(of_counts(context, &[Binding::image(0), Binding::sampler(1), last], [2, 0, 96], &fill, &|layout, set| {
            let layouts = [layout];
            let plan = Plan::new(Program::One, texture.kind(), &layouts).stage(stage);
            looks(&[("the image", &texture, legal)], found(context, &plan, &[set]))
        }))
    };
    repaired(&shadow(), &look)
}

/// The array that is joined is the one whose length the set chooses: samplers behind its end are no part of a link.
fn variable_samplers(stage: Stage) -> Outcome {
    let look = |context: &Context, samplers: [&SamplerDesc; 2], legal: &SamplerDesc| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let (textures, made, slots) = arrays(context, &[conflicts::UINT; 3], &samplers)?;
        let images = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3);
        let states = Binding::new(1, vk::DescriptorType::SAMPLER, 48);
        let states = states.flags(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT);
        let fill = |set, count| {
            write(context, set, &slots);
            // What no link reads may be as it likes.
            (2..count).for_each(|element| write(context, set, &[Slot::sampler(&made[1], 1, element)]));
        };
        Ok(of_counts(context, &[images, states], [2, 48, 3], &fill, &|layout, set| {
            let layouts = [layout];
            let plan = Plan::new(Program::Constant, textures[0].kind(), &layouts).stage(stage);
            looks(&constant_looks(&textures, legal), found(context, &plan, &[set]))
        }))
    };
    let expected = Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1));
    repaired_unseen(&expected, &|context, sampler, legal| look(context, [legal, sampler], legal))
}

/// One descriptor with a sampler that the shader has two variables for.
fn aliased(stage: Stage) -> Outcome {
    let conflict = conflicts::uint();
    let (good, repaired) = (conflict.good(), conflict.repaired());
    let look = |context: &Context, sampler: &SamplerDesc, images: [&Conflict; 2]| {
        let [first, second] = textures(context, images.map(|image| image.scene))?;
        let sampler = sampler.create(context);
        let held = Held::of(context, &[first.slot(0, 0), second.slot(2, 0), Slot::sampler(&sampler, 1, 0)]);
        let [one, two] = images.map(|image| &image.legal);
        held.looks((Program::Aliased, stage), &[("the first image", &first, one), ("the second image", &second, two)])
    };
    let (builder, both) = (Context::builder(), shadow().and(How::Shadow, place(0, 2, 0), place(0, 1, 0)));
    judge(&builder, conflict.oracle, &split(), &|context| look(context, &conflict.sampler, [&conflict, &good]))?;
    judge(&builder, conflict.oracle, &both, &|context| look(context, &conflict.sampler, [&conflict, &conflict]))?;
    judge_legal(&builder, &|context| look(context, &conflict.sampler, [&good, &good]))?;
    judge_legal(&builder, &|context| look(context, &conflict.legal, [&repaired, &repaired]))
}

/// Invocations choose different elements of an array at once. Its images are alike, so that each reads the same of its own.
fn non_uniform(stage: Stage) -> Outcome {
    let look = |context: &Context, scenes: [Scene; 3], sampler: &SamplerDesc, legal: &SamplerDesc| {
        skip_if(context.missing(&[Capability::NonUniformIndexing]))?;
        let (textures, _sampler, slots) = arrays(context, &scenes, &[sampler])?;
        Held::of(context, &slots).looks((Program::NonUniform, stage), &[("an element", &textures[0], legal)])
    };
    let uint = [conflicts::UINT; 3];
    repaired_unseen(&shadow(), &|context, sampler, legal| look(context, uint, sampler, legal))?;
    judge_legal(&Context::builder(), &|context| look(context, [RGBA8; 3], &linear(), &linear()))
}

/// To ask for sizes is not to sample: the image of integers is asked through the sampler that suits the other one only.
fn queried(stage: Stage) -> Outcome {
    let (look, judged) = with_layer(resolve(Context::builder()), |context| {
        let (found, look, asked) = beside_sampled(context, (Program::Queried, stage), &linear())?;
        let [width, height, _] = asked.image.desc().level_extent(0);
        let size = Value::Uint([width, height, 0, 0]);
        let is_size = |value: &Value| context.is_record_only() || *value == size;
        assert!(found[0].iter().all(is_size), "{:?} is not {size:?}", found[0][0]);
        Ok(look)
    })?;
    // Not every version of the validation layer tells them apart either.
    conflicts::uint().oracle.where_seen().assert(&judged.errors, "what is asked for its size");
    look.assert("what is asked for its size");
    judged.assert_untouched("what is asked for its size");
    Ok(())
}
