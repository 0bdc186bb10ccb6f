//! More of what a shader looks up (`bindless=resolve`): how arrays are laid out, how they are written, and when.

use super::tables::{Arrays, assert_looked_up, looks, needs, states, unfiltered};
use super::*;
use samplin_testkit::descriptor::update;
use samplin_testkit::way::Way as By;
use samplin_testkit::{context::device_file, texel};

use vk::{DescriptorBindingFlags as B, DescriptorType as T};

const LATE: B = B::from_raw(B::UPDATE_AFTER_BIND.as_raw() | B::PARTIALLY_BOUND.as_raw());
const COUNTS: [u32; 2] = [100, 32];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, layout) in LAYOUTS {
        for (when, late) in [("before", false), ("late", true)] {
            trials.push(trial(format!("table/layout/{name}/{when}"), move || laid_out(layout, late)));
        }
    }
    for (name, kinds) in [("fit", 20), ("crowded", 32)] {
        trials.push(trial(format!("table/columns/{name}"), move || columns(kinds)));
    }
    for (name, way) in WAYS {
        for (suffix, stage) in [("compute", Stage::Compute), ("graphics", Stage::Fragment)] {
            trials.push(trial_in(stage, format!("table/way/{name}/{suffix}"), move || written(way, stage)));
        }
    }
    trials
}

// --- layouts ------------------------------------------------------------------------------------------------------------

/// Bindings of images and of samplers, in one set or in two.
#[derive(Clone, Copy)]
enum Layout {
    /// These flags beside, and this many descriptors of the last binding of each set.
    Flags(B, Option<[u32; 2]>),
    /// Images and samplers are mutable descriptors that may be either.
    Mutable,
    Immutable,
    OneSet,
    /// One more set has dynamic offsets.
    Dynamic,
    /// One more set is pushed.
    Push,
}

const LAYOUTS: [(&str, Layout); 8] = [
    ("whole", Layout::Flags(B::empty(), None)),
    ("variable", Layout::Flags(B::VARIABLE_DESCRIPTOR_COUNT, Some([98, 32]))),
    ("unused-while-pending", Layout::Flags(B::UPDATE_UNUSED_WHILE_PENDING, None)),
    ("mutable", Layout::Mutable),
    ("immutable", Layout::Immutable),
    ("one-set", Layout::OneSet),
    ("dynamic", Layout::Dynamic),
    ("push", Layout::Push),
];

/// Integers through four states, in arrays of a layout.
fn laid_out(layout: Layout, is_late: bool) -> Outcome {
    let states = states();
    let legal = |_: usize, sampler: usize| unfiltered(states[sampler].clone());
    let beside = std::cell::Cell::new(false);
    let body = |context: &Context| {
        needs(context)?;
        if matches!(layout, Layout::Mutable) {
            skip_if(context.missing(&[Capability::MutableDescriptorType]))?;
        }
        if matches!(layout, Layout::Push) {
            skip_if(context.missing(&[Capability::PushDescriptor]))?;
        }
        beside.set(context.limits().max_bound_descriptor_sets > 4);
        let late = if is_late { B::UPDATE_AFTER_BIND } else { B::empty() };
        let (flags, counts) = match layout {
            Layout::Flags(flags, counts) => (late | B::PARTIALLY_BOUND | flags, counts),
            _ => (late | B::PARTIALLY_BOUND, None),
        };
        let textures = Texture::all(context, &[Scene::UINT; 4])?;
        let samplers: Vec<_> = states.iter().map(|state| state.create(context)).collect();
        let fixed: Vec<_> = (0..COUNTS[1] as usize).map(|at| &samplers[at / 10 % 4]).collect();
        let of = |binding, ty| {
            let made = Binding::new(binding, ty, COUNTS[binding as usize]);
            match layout {
                Layout::Mutable => Binding { ty: T::MUTABLE_EXT, kinds: vec![T::SAMPLED_IMAGE, T::SAMPLER], ..made },
                Layout::Immutable if binding == 1 => made.immutable(&fixed).flags(late),
                _ => made.flags(flags),
            }
            .flags(late)
        };
        let all = [of(0, T::SAMPLED_IMAGE), of(1, T::SAMPLER)];
        let bindings = if matches!(layout, Layout::OneSet) { vec![&all[..]] } else { vec![&all[..1], &all[1..]] };
        let layouts: Vec<_> = bindings.iter().map(|all| SetLayout::new(context, all)).collect();
        let pools: Vec<_> = layouts.iter().map(|layout| Pool::new(context, &[layout])).collect();
        let sets: Vec<_> = (0..layouts.len())
            .map(|at| pools[at].allocate_with(&layouts[at], counts.map(|counts| counts[at])))
            .collect();
        let slots: Vec<_> = (0..).zip(&textures).map(|(at, texture)| texture.slot(0, at * 30 + 7)).collect();
        write(context, sets[0], &slots);
        if !matches!(layout, Layout::Immutable) {
            for (at, sampler) in (0..).zip(&samplers) {
                write(context, *sets.last().expect("a set"), &[Slot::sampler(sampler, 1, at * 10 + 1)]);
            }
        }
        let pushed = matches!(layout, Layout::Push).then(|| SetLayout::pushed(context, &[Binding::image(0)]));
        let (layouts, above): (Vec<_>, Vec<_>) = (layouts.iter().collect(), pushed.iter().collect());
        let mut plan = Plan::new(Program::Tables, textures[0].kind(), &layouts);
        (plan.above, plan.own_offsets) = (&above, matches!(layout, Layout::Dynamic));
        let rig = Rig::new(context, &plan);
        let (job, element) = (Job::new(&rig, &points()), 2);
        Commands::once(context, |commands| {
            rig.bind(commands);
            rig.bind_sets(commands, 0, &sets, &[]);
            job.bind(commands);
            if matches!(layout, Layout::Push) {
                rig.push(commands, 3, &[textures[0].slot(0, 0).write(vk::DescriptorSet::null())]);
            }
            job.run(commands, element);
        });
        Ok(looks(&textures, &legal, element as usize, job.results()))
    };
    let (looks, judged) = with_layer(resolve(Context::builder()), body)?;
    if matches!(layout, Layout::Push) && !beside.get() {
        // Four sets, and no place for one more.
        assert_left(&judged, "no-free-set");
        return Ok(());
    }
    assert_looked_up(&judged, &looks);
    Ok(())
}

// --- ways ---------------------------------------------------------------------------------------------------------------

/// How sets get what the shader reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Copied from sets that no shader reads.
    Copied,
    /// And these were read themselves.
    CopiedFromRead,
    /// One write that goes on in the next binding.
    Runs,
    Template,
    /// Sets are freed and allocated again.
    Again,
    /// The pool is reset while a command buffer holds them.
    Reset,
    /// Views are destroyed, and others made that get their handles.
    Handles,
    /// So are samplers, which become others.
    Samplers,
    /// Recorded before another sampler goes, and submitted after that.
    Gone,
    /// A sampler comes that some images do not suit which so far were like others.
    Parted,
    /// Three command buffers hold the sets when they are written.
    Three,
    /// Secondary command buffers do.
    Secondary,
    /// The conflict comes, goes and comes again.
    Twice,
    /// Samplers of other sets go, which a recorded command buffer has nothing to do with.
    Beside,
}

const WAYS: [(&str, Way); 14] = [
    ("copied", Way::Copied),
    ("copied-from-read", Way::CopiedFromRead),
    ("template", Way::Template),
    ("again", Way::Again),
    ("reset", Way::Reset),
    ("handles", Way::Handles),
    ("samplers", Way::Samplers),
    ("gone", Way::Gone),
    ("parted", Way::Parted),
    ("three", Way::Three),
    ("secondary", Way::Secondary),
    ("twice", Way::Twice),
    ("beside", Way::Beside),
    ("runs", Way::Runs),
];

/// What of some sets goes to others, copied.
fn copy(context: &Context, from: [vk::DescriptorSet; 2], to: [vk::DescriptorSet; 2]) {
    for (at, element) in [0, 1].into_iter().flat_map(|at| (0..4).map(move |element| (at, element))) {
        let element = if at == 0 { element * 30 + 7 } else { element * 10 + 1 };
        let copy = vk::CopyDescriptorSet::default().src_set(from[at]).dst_set(to[at]).descriptor_count(1);
        let copy = copy.src_binding(at as u32).dst_binding(at as u32);
        update(context, &[], &[copy.src_array_element(element).dst_array_element(element)], &[]);
    }
}

#[expect(clippy::too_many_lines, reason = "one way after the other")]
fn written(way: Way, stage: Stage) -> Outcome {
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let half = Scene::colour(vk::Format::R16G16B16A16_SFLOAT);
    let scenes = if way == Way::Parted { [RGBA8, float, half, float] } else { [Scene::UINT; 4] };
    let (before, element) = (states(), 2);
    let mut states = before.clone();
    let border = |format| custom_float([1.0, 0.0, 1.0, 0.0], format);
    if way == Way::Parted {
        states[3] = border(vk::Format::R8G8B8A8_UNORM);
    }
    let legal = |image: usize, sampler: usize| match scenes[image].format {
        format if sampler == 3 && way == Way::Parted => border(format),
        vk::Format::R8G8B8A8_UNORM | vk::Format::R16G16B16A16_SFLOAT => states[sampler].clone(),
        _ => unfiltered(states[sampler].clone()),
    };
    let is_late = !matches!(way, Way::Copied | Way::Again | Way::Reset | Way::Beside);
    let body = |context: &Context| {
        needs(context)?;
        let flags = if is_late { LATE } else { B::PARTIALLY_BOUND };
        let world = Arrays::new(context, COUNTS, flags, way == Way::Runs);
        let create = |scenes: &[Scene]| Texture::all(context, scenes);
        let textures = create(&scenes)?;
        let make = |states: &[SamplerDesc]| states.iter().map(|state| state.create(context)).collect::<Vec<_>>();
        let samplers = make(&states);
        let layouts = world.layouts.each_ref();
        let rig = Rig::new(context, &Plan::new(Program::Tables, textures[0].kind(), &layouts).stage(stage));
        let job = Job::new(&rig, &points());
        let record = |sets: [vk::DescriptorSet; 2]| job.over(&sets, element);
        let fill = |sets| world.fill(sets, &textures, &samplers);
        // A first draw, after which the pipeline looks up.
        let learn = |sets: [vk::DescriptorSet; 2]| {
            fill(sets);
            record(sets).execute();
        };
        let all = |job: &Job<'_, '_>| looks(&textures, &legal, element as usize, job.results());
        let mut found = Vec::new();
        match way {
            Way::Copied | Way::CopiedFromRead => {
                let (from, to) = (world.sets(), world.sets());
                if way == Way::CopiedFromRead {
                    learn(from);
                    let commands = record(to);
                    copy(context, from, to);
                    commands.execute();
                } else {
                    fill(from);
                    copy(context, from, to);
                    record(to).execute();
                }
            }
            Way::Runs | Way::Template => {
                let sets = world.sets();
                learn(sets);
                let then = world.sets();
                let commands = record(then);
                if way == Way::Template {
                    for (at, set) in then.iter().enumerate() {
                        let slots: Vec<_> = (0..4)
                            .map(|index| match at {
                                0 => textures[index].slot(0, index as u32 * 30 + 7),
                                _ => Slot::sampler(&samplers[index], 1, index as u32 * 10 + 1),
                            })
                            .collect();
                        By::Template.fill(context, &world.layouts[at], *set, &slots);
                    }
                } else {
                    // From the last element that is read to the first of the next binding, and back to front.
                    let infos: Vec<_> = (97..101).map(|_| textures[3].slot(0, 0).info).collect();
                    world.images(then[0], &textures);
                    write_images(context, then[0], (0, 97), T::SAMPLED_IMAGE, &infos);
                    let infos: Vec<_> = (31..34).map(|_| Slot::sampler(&samplers[3], 1, 0).info).collect();
                    world.samplers(then[1], &samplers);
                    write_images(context, then[1], (1, 31), T::SAMPLER, &infos);
                }
                commands.execute();
            }
            Way::Again => {
                let sets = world.sets();
                learn(sets);
                world.pools.iter().zip(sets).for_each(|(pool, set)| pool.free(&[set]));
                learn(world.sets());
            }
            Way::Reset => {
                let sets = world.sets();
                fill(sets);
                let held = record(sets);
                held.execute();
                world.pools.iter().for_each(Pool::reset);
                learn(world.sets());
                drop(held);
            }
            Way::Handles => {
                let sets = world.sets();
                let others = create(&[float, RGBA8, float, RGBA8])?;
                world.images(sets[0], &others);
                learn(sets);
                world.images(sets[0], &others);
                let commands = record(sets);
                drop(others);
                // With the handles of those, if the driver gives them again.
                let again = create(&scenes)?;
                world.images(sets[0], &again);
                commands.execute();
            }
            Way::Samplers => {
                let sets = world.sets();
                learn(sets);
                for turn in 0..4 {
                    let backwards: Vec<_> = (0..4).map(|at| states[(at + turn) % 4].clone()).collect();
                    let others = make(&backwards);
                    world.samplers(sets[1], &others);
                    record(sets).execute();
                }
                let commands = record(sets);
                let others = make(&states);
                world.samplers(sets[1], &others);
                commands.execute();
                found.extend(all(&job));
                return Ok(found);
            }
            Way::Gone => {
                let sets = world.sets();
                learn(sets);
                let other = SamplerDesc::trilinear().create(context);
                write(context, sets[1], &[Slot::sampler(&other, 1, 5)]);
                let commands = record(sets);
                drop(other);
                commands.execute();
            }
            Way::Parted => {
                skip_if(context.missing(&[Capability::CustomBorderColor]))?;
                let (seen, sets) = (world.sets(), world.sets());
                let others = make(&before);
                world.fill(seen, &textures, &others);
                record(seen).execute();
                world.fill(sets, &textures, &others);
                let commands = record(sets);
                world.samplers(sets[1], &samplers);
                commands.execute();
            }
            Way::Three => {
                let sets = world.sets();
                learn(world.sets());
                let commands = [record(sets), record(sets), record(sets)];
                fill(sets);
                for commands in &commands {
                    commands.execute();
                    found.extend(all(&job));
                }
            }
            Way::Secondary => {
                let sets = world.sets();
                learn(world.sets());
                let inner = Commands::secondary(context, &rig, |commands| {
                    rig.bind(commands);
                    rig.bind_sets(commands, 0, &sets, &[]);
                    job.bind(commands);
                    job.record(commands, element);
                });
                let commands = Commands::primary(context, |commands| {
                    let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
                    rig.in_pass(commands, contents, || inner.record_into(commands));
                    job.finish(commands);
                });
                fill(sets);
                commands.execute();
            }
            Way::Beside => {
                let (sets, others) = (world.sets(), world.sets());
                let biased = |state: &SamplerDesc| SamplerDesc { lod_bias: 0.5, ..state.clone() };
                let more = make(&states.iter().map(biased).collect::<Vec<_>>());
                world.fill(others, &textures, &more);
                record(others).execute();
                fill(sets);
                let commands = record(sets);
                drop(more);
                commands.execute();
            }
            Way::Twice => {
                let sets = world.sets();
                let nearest = make(&states.iter().map(|state| unfiltered(state.clone())).collect::<Vec<_>>());
                for _ in 0..3 {
                    world.fill(sets, &textures, &nearest);
                    record(sets).execute();
                    learn(sets);
                }
            }
        }
        found.extend(all(&job));
        Ok(found)
    };
    let (mut builder, folder) = (resolve(Context::builder()), run::Folder::new());
    if way == Way::Parted {
        // With custom borders enough for what stands in.
        let device = std::fs::read_to_string(device_file(conflicts::WEAK)).expect("a device file");
        let mut device: Json = serde_json::from_str(&device).expect("JSON");
        device["limits"]["maxCustomBorderColorSamplers"] = 4000.into();
        builder = builder.file("device", folder.write("device.json", device.to_string()));
    }
    let (looks, judged) = with_layer(builder, body)?;
    assert_looked_up(&judged, &looks);
    let compiled: BTreeSet<_> = judged.trace.events("shader").map(ToString::to_string).collect();
    assert_eq!(compiled.len(), 1, "compiled once: {:#?}", judged.trace);
    Ok(())
}

/// A custom border colour that each kind of image asks for another sampler of: those beyond the columns of a table have a name, and what the
/// shader reads beside them is right.
fn columns(kinds: usize) -> Outcome {
    let border = |format| custom_float([1.0, 0.0, 1.0, 0.0], format);
    let mut states = states();
    states[3] = border(RGBA8.format);
    let legal = |_: usize, sampler: usize| states[sampler].clone();
    let body = |context: &Context| {
        needs(context)?;
        skip_if(context.missing(&[Capability::CustomBorderColor]))?;
        let world = Arrays::new(context, COUNTS, LATE, false);
        let create = |scene: Scene| Texture::new(context, scene);
        let textures = Texture::all(context, &[RGBA8; 4])?;
        let samplers: Vec<_> = states.iter().map(|state| state.create(context)).collect();
        let sets = world.sets();
        world.fill(sets, &textures, &samplers);
        // Formats of normalized and floating-point colours.
        let formats = (9..=140).map(vk::Format::from_raw).filter(|format| {
            let name = format!("{format:?}");
            *format != RGBA8.format
                && texel::is_known(*format)
                && ["UNORM", "SNORM", "SRGB", "FLOAT"].iter().any(|kind| name.contains(kind))
        });
        let of = |format: vk::Format| match format.as_raw() {
            124..=130 => Scene::depth(format),
            _ => Scene::colour(format),
        };
        let mut others = formats.filter_map(|format| create(of(format)).ok());
        let others: Vec<_> = others.by_ref().take(kinds).collect();
        skip_if((others.len() < kinds).then(|| format!("{} formats", others.len())))?;
        let is_read = |at: &u32| at % 30 == 7;
        for (at, texture) in (0..COUNTS[0]).filter(|at| !is_read(at)).zip(&others) {
            write(context, sets[0], &[texture.slot(0, at)]);
        }
        let layouts = world.layouts.each_ref();
        let rig = Rig::new(context, &Plan::new(Program::Tables, textures[0].kind(), &layouts));
        let found = [(); 2].map(|()| rig.found(&sets, &points(), 0));
        Ok(looks(&textures, &legal, 0, found[1].clone()))
    };
    let (looks, judged) = with_layer(resolve(Context::builder()), body)?;
    looks.iter().for_each(|look| look.assert("beside many kinds"));
    let wanted: &[&str] = if kinds > 31 { &["too-many-columns"] } else { &[] };
    assert_eq!(judged.left(), wanted, "{:#?}", judged.trace);
    let records = draws(&judged);
    assert!(!records.is_empty() && records.iter().all(|record| record["how"] == "table"), "{records:#?}");
    Ok(())
}
