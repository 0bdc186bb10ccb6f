//! Orders of calls: sets that change, die and are reused while a conflict comes, goes and comes back, and what is bound beside them.
//!
//! The image is of integers. The bad sampler is LINEAR; the good one is NEAREST and repeats, so that a set which should have
//! been bound and was not shows outside of the image.

use super::*;
use samplin_testkit::descriptor::{IMAGE_INFO_SIZE, Spelling, Template, TemplateData, update};

pub(crate) fn trials() -> Vec<Trial> {
    let all: [(&str, fn(Stage) -> Outcome); 12] = [
        ("comes-and-goes", comes_and_goes),
        ("sampler-copied", sampler_copied),
        ("set-freed", set_freed),
        ("pool-reset", pool_reset),
        ("sampler-destroyed", sampler_destroyed),
        ("pipeline-a-then-b", pipeline_a_then_b),
        ("other-layout-between", other_layout_between),
        ("secondary-between", secondary_between),
        ("executed-twice", executed_twice),
        ("template-without-stride", template_without_stride),
        ("hole", hole),
        ("null-view", null_view),
    ];
    let mut trials = Vec::new();
    for (name, body) in all {
        for (suffix, stage) in [("compute", Stage::Compute), ("graphics", Stage::Fragment)] {
            trials.push(trial(format!("sequence/{name}/{suffix}"), move || body(stage)));
        }
    }
    trials.push(trial("sequence/two-bind-points", two_bind_points));
    trials.push(trial("sequence/update-after-bind", update_after_bind));
    trials.push(trial("sequence/no-free-set", no_free_set));
    trials.push(trial("sequence/handle-reused", handle_reused));
    trials
}

fn bad() -> SamplerDesc {
    SamplerDesc::linear()
}

/// What the image must give by the bad sampler.
fn legal() -> SamplerDesc {
    SamplerDesc::nearest()
}

fn good() -> SamplerDesc {
    SamplerDesc::nearest().address(vk::SamplerAddressMode::REPEAT)
}

const LINK: (Place, Place) = (place(0, 0, 0), place(0, 1, 0));

fn shadow() -> Expected {
    Expected::one(How::Shadow, LINK.0, LINK.1)
}

/// What most of these are made of.
struct Stand<'c> {
    context: &'c Context,
    texture: Texture<'c>,
    bad: Sampler<'c>,
    good: Sampler<'c>,
    layout: SetLayout<'c>,
    rig: Rig<'c>,
}

impl<'c> Stand<'c> {
    fn new(context: &'c Context, stage: Stage) -> Result<Self, Skip> {
        let needs: &[Capability] = if stage == Stage::Fragment { &[Capability::FragmentStores] } else { &[] };
        skip_if(context.missing(needs))?;
        let texture = Texture::new(context, conflicts::UINT)?;
        let layout = SetLayout::new(context, &[Binding::image(0), Binding::sampler(1)]);
        let rig = Rig::new(context, &Plan::new(Program::One, texture.kind(), &[&layout]).stage(stage));
        Ok(Self { context, texture, bad: bad().create(context), good: good().create(context), layout, rig })
    }

    /// A set with the image and this sampler.
    fn set(&self, pool: &Pool<'_>, sampler: &Sampler<'_>) -> vk::DescriptorSet {
        let set = pool.allocate(&self.layout);
        write(self.context, set, &[self.texture.slot(0, 0), Slot::sampler(sampler, 1, 0)]);
        set
    }

    fn point_to(&self, set: vk::DescriptorSet, sampler: &Sampler<'_>) {
        write(self.context, set, &[Slot::sampler(sampler, 1, 0)]);
    }

    /// Binds and executes, which has to give the values of `legal`.
    fn look(&self, what: &'static str, set: vk::DescriptorSet, legal: &SamplerDesc) -> Look {
        let job = Job::new(&self.rig, &points());
        execute(self.context, &self.rig, &job, &[set]);
        self.texture.look(what, legal, job.results().remove(0))
    }
}

/// A sequence with a conflict, which is the shadow's to repair.
fn sequence(stage: Stage, body: impl Fn(&Stand<'_>) -> Result<Vec<Look>, Skip>) -> Outcome {
    judge(&Context::builder(), conflicts::uint().oracle, &shadow(), &|context| body(&Stand::new(context, stage)?))
}

// --- what happens to sets ---------------------------------------------------------------------------------------------

/// One set, updated between command buffers.
fn comes_and_goes(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout]);
        let set = stand.set(&pool, &stand.good);
        let mut looks = vec![stand.look("at first", set, &good())];
        for _ in 0..3 {
            stand.point_to(set, &stand.bad);
            looks.push(stand.look("with the bad sampler", set, &legal()));
            looks.push(stand.look("once more", set, &legal()));
            stand.point_to(set, &stand.good);
            looks.push(stand.look("with the good one", set, &good()));
        }
        Ok(looks)
    })
}

/// The conflict arrives by a copy of the sampler alone, and leaves by another.
fn sampler_copied(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout, &stand.layout, &stand.layout]);
        let (bads, goods) = (stand.set(&pool, &stand.bad), stand.set(&pool, &stand.good));
        let set = stand.set(&pool, &stand.good);
        let copy = |from| {
            let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(1);
            update(stand.context, &[], &[copy.dst_set(set).dst_binding(1).descriptor_count(1)], &[]);
        };
        copy(bads);
        let first = stand.look("after a bad copy", set, &legal());
        copy(goods);
        Ok(vec![first, stand.look("after a good copy", set, &good())])
    })
}

/// A set is freed and another allocated in its place, again and again.
fn set_freed(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout]);
        let mut looks = Vec::new();
        for (sampler, wanted) in [(&stand.bad, legal()), (&stand.good, good())].into_iter().cycle().take(6) {
            let set = stand.set(&pool, sampler);
            looks.push(stand.look("a new set", set, &wanted));
            // SAFETY: the set is of this pool, and nothing that uses it is pending.
            unsafe { stand.context.device().free_descriptor_sets(pool.handle(), &[set]) }
                .expect("vkFreeDescriptorSets");
        }
        Ok(looks)
    })
}

/// The same by a reset of the pool.
fn pool_reset(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout, &stand.layout]);
        let mut looks = Vec::new();
        for _ in 0..3 {
            let (one, other) = (stand.set(&pool, &stand.bad), stand.set(&pool, &stand.good));
            looks.push(stand.look("the bad set", one, &legal()));
            looks.push(stand.look("the good set", other, &good()));
            let none = vk::DescriptorPoolResetFlags::empty();
            // SAFETY: nothing that uses the pool's sets is pending.
            unsafe { stand.context.device().reset_descriptor_pool(pool.handle(), none) }
                .expect("vkResetDescriptorPool");
        }
        Ok(looks)
    })
}

/// The sampler dies, and the set gets one that may have its handle.
fn sampler_destroyed(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout]);
        let first = bad().create(stand.context);
        let set = stand.set(&pool, &first);
        let mut looks = vec![stand.look("the first sampler", set, &legal())];
        drop(first);
        for (desc, wanted) in [(good(), good()), (bad(), legal())] {
            let next = desc.create(stand.context);
            stand.point_to(set, &next);
            looks.push(stand.look("the next sampler", set, &wanted));
        }
        Ok(looks)
    })
}

/// Handles that are used again are those of the driver, which validation would hide.
fn handle_reused() -> Outcome {
    const ROUNDS: usize = 64;
    sequence(Stage::Compute, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout]);
        Ok(vec![stand.look("a set", stand.set(&pool, &stand.bad), &legal())])
    })?;
    let folder = run::Folder::new();
    let path = folder.join("trace.jsonl");
    let builder = resolve(Context::builder().samplin()).setting("trace", path.to_str().expect("UTF-8"));
    let context = run::build(&builder)?;
    let stand = Stand::new(&context, Stage::Compute)?;
    let pool = Pool::new(&context, &[&stand.layout; ROUNDS]);
    let mut last: Option<vk::DescriptorSet> = None;
    let mut reused = 0;
    for (sampler, wanted) in [(&stand.bad, legal()), (&stand.good, good())].into_iter().cycle().take(8) {
        // What was just freed comes back soon, if not at once.
        let (mut set, mut spare) = (stand.set(&pool, sampler), Vec::new());
        while last.is_some_and(|last| last != set) && spare.len() < ROUNDS - 1 {
            spare.push(set);
            set = stand.set(&pool, sampler);
        }
        reused += usize::from(last == Some(set));
        stand.look("a set", set, &wanted).assert("with samplin alone");
        last = Some(set);
        spare.push(set);
        // SAFETY: the sets are of this pool, and nothing that uses them is pending. The last one is freed last.
        unsafe { context.device().free_descriptor_sets(pool.handle(), &spare) }.expect("vkFreeDescriptorSets");
    }
    skip_if((reused == 0).then(|| format!("{} uses no handle twice", context.device_name())))
}

// --- what is bound between --------------------------------------------------------------------------------------------

/// Two pipelines over one set, bound once: the first wants another sampler in it, the second does not.
fn pipeline_a_then_b(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let context = stand.context;
        let smooth = Texture::new(context, RGBA8)?;
        let bindings = [Binding::image(0), Binding::sampler(1), Binding::image(2)];
        let slots = [stand.texture.slot(0, 0), Slot::sampler(&stand.bad, 1, 0), smooth.slot(2, 0)];
        let held = Held::new(context, &bindings, &slots);
        let layouts = [&held.layout];
        let a = Rig::new(context, &Plan::new(Program::One, stand.texture.kind(), &layouts).stage(stage));
        let plan = Plan::new(Program::Fetch, stand.texture.kind(), &layouts).second(smooth.kind()).stage(stage);
        let b = Rig::new(context, &plan);
        let jobs = [Job::new(&a, &points()), Job::new(&b, &points()), Job::new(&a, &points())];
        let commands = Commands::primary(context, |commands| {
            a.bind_sets(commands, 0, &[held.set], &[]);
            for (rig, job) in std::iter::zip([&a, &b, &a], &jobs) {
                job.bind(commands);
                rig.bind(commands);
                job.run(commands, 0);
            }
        });
        commands.execute();
        let [first, second, third] = jobs.map(|job| job.results());
        Ok(vec![
            stand.texture.look("a", &legal(), first[0].clone()),
            smooth.look("b", &bad(), second[1].clone()),
            stand.texture.look("a again", &legal(), third[0].clone()),
        ])
    })
}

/// A pipeline with a layout of its own runs in between, and disturbs set 0.
fn other_layout_between(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let context = stand.context;
        let smooth = Texture::new(context, RGBA8)?;
        let bindings = [Binding::image(0), Binding::sampler(1), Binding::image(7)];
        let other = Held::new(context, &bindings, &[smooth.slot(0, 0), Slot::sampler(&stand.bad, 1, 0)]);
        let between = Rig::new(context, &Plan::new(Program::One, smooth.kind(), &[&other.layout]).stage(stage));
        let pool = Pool::new(context, &[&stand.layout]);
        let set = stand.set(&pool, &stand.bad);
        let jobs = [Job::new(&stand.rig, &points()), Job::new(&between, &points()), Job::new(&stand.rig, &points())];
        let commands = Commands::primary(context, |commands| {
            stand.rig.bind_sets(commands, 0, &[set], &[]);
            for (rig, job, set) in
                [(&stand.rig, &jobs[0], set), (&between, &jobs[1], other.set), (&stand.rig, &jobs[2], set)]
            {
                rig.bind(commands);
                rig.bind_sets(commands, 0, &[set], &[]);
                job.bind(commands);
                job.run(commands, 0);
            }
        });
        commands.execute();
        let [first, second, third] = jobs.map(|job| job.results().remove(0));
        Ok(vec![
            stand.texture.look("before", &legal(), first),
            smooth.look("between", &bad(), second),
            stand.texture.look("after", &legal(), third),
        ])
    })
}

/// Compute and graphics share a set in one command buffer.
fn two_bind_points() -> Outcome {
    sequence(Stage::Compute, |stand| {
        let context = stand.context;
        skip_if(context.missing(&[Capability::FragmentStores]))?;
        let layouts = [&stand.layout];
        let plan = Plan::new(Program::One, stand.texture.kind(), &layouts).stage(Stage::Fragment);
        let graphics = Rig::new(context, &plan);
        let pool = Pool::new(context, &[&stand.layout]);
        let set = stand.set(&pool, &stand.bad);
        let jobs = [Job::new(&stand.rig, &points()), Job::new(&graphics, &points())];
        let rigs = [&stand.rig, &graphics];
        let commands = Commands::primary(context, |commands| {
            for (rig, job) in std::iter::zip(rigs, &jobs) {
                rig.bind_sets(commands, 0, &[set], &[]);
                job.bind(commands);
            }
            for rig in rigs {
                rig.bind(commands);
            }
            for job in &jobs {
                job.run(commands, 0);
            }
        });
        commands.execute();
        let [compute, graphics] = jobs.map(|job| job.results().remove(0));
        Ok(vec![stand.texture.look("compute", &legal(), compute), stand.texture.look("graphics", &legal(), graphics)])
    })
}

/// A secondary buffer with binds of its own runs between the primary's; afterwards everything is bound again.
fn secondary_between(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let context = stand.context;
        let pool = Pool::new(context, &[&stand.layout, &stand.layout]);
        let (bads, goods) = (stand.set(&pool, &stand.bad), stand.set(&pool, &stand.good));
        let jobs = [(); 3].map(|()| Job::new(&stand.rig, &points()));
        let bind = |commands, job: &Job<'_, '_>, set| {
            stand.rig.bind(commands);
            stand.rig.bind_sets(commands, 0, &[set], &[]);
            job.bind(commands);
        };
        let secondary = Commands::secondary(context, &stand.rig, |commands| {
            bind(commands, &jobs[1], goods);
            jobs[1].record(commands, 0);
        });
        let commands = Commands::primary(context, |commands| {
            bind(commands, &jobs[0], bads);
            jobs[0].run(commands, 0);
            let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
            stand.rig.in_pass(commands, contents, || secondary.record_into(commands));
            bind(commands, &jobs[2], bads);
            jobs[2].run(commands, 0);
        });
        commands.execute();
        let [first, second, third] = jobs.map(|job| job.results().remove(0));
        Ok(vec![
            stand.texture.look("before", &legal(), first),
            stand.texture.look("in the secondary buffer", &good(), second),
            stand.texture.look("after", &legal(), third),
        ])
    })
}

/// What a command buffer was recorded with is there each time that it is executed.
fn executed_twice(stage: Stage) -> Outcome {
    sequence(stage, |stand| {
        let pool = Pool::new(stand.context, &[&stand.layout, &stand.layout]);
        let (bads, goods) = (stand.set(&pool, &stand.bad), stand.set(&pool, &stand.good));
        let job = Job::new(&stand.rig, &points());
        let commands = Commands::primary(stand.context, |commands| {
            stand.rig.bind(commands);
            stand.rig.bind_sets(commands, 0, &[bads], &[]);
            job.bind(commands);
            job.run(commands, 0);
        });
        commands.execute();
        let first = stand.texture.look("the first time", &legal(), job.results().remove(0));
        let between = stand.look("another set", goods, &good());
        commands.execute();
        Ok(vec![first, between, stand.texture.look("the second time", &legal(), job.results().remove(0))])
    })
}

// --- how sets are filled ----------------------------------------------------------------------------------------------

/// A template entry without stride fills each element of the array from the same place.
fn template_without_stride(stage: Stage) -> Outcome {
    let expected =
        Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1)).and(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    judge(&Context::builder(), conflicts::uint().oracle.where_seen(), &expected, &|context| {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        let stand = Stand::new(context, stage)?;
        let (images, samplers) = (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER);
        let held = Held::new(context, &[Binding::new(0, images, 3), Binding::new(1, samplers, 2)], &[]);
        let entries =
            [(0, images, 3), (1, samplers, 2)].map(|(binding, ty, count)| vk::DescriptorUpdateTemplateEntry {
                dst_binding: binding,
                dst_array_element: 0,
                descriptor_count: count,
                descriptor_type: ty,
                offset: binding as usize * IMAGE_INFO_SIZE,
                stride: 0,
            });
        let template = Template::for_set(context, Spelling::Core, &held.layout, &entries);
        let infos = [stand.texture.slot(0, 0).info, Slot::sampler(&stand.bad, 1, 0).info];
        template.update(held.set, &TemplateData::pack(&infos, 0, IMAGE_INFO_SIZE));
        let rig = Rig::new(context, &Plan::new(Program::Constant, stand.texture.kind(), &[&held.layout]).stage(stage));
        let job = Job::new(&rig, &points());
        execute(context, &rig, &job, &[held.set]);
        let look = |found| stand.texture.look("an element", &legal(), found);
        Ok(job.results().into_iter().map(look).collect())
    })
}

/// An array of which one element was ever written.
fn hole(stage: Stage) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
        let stand = Stand::new(context, stage)?;
        let sampler = sampler.create(context);
        let images = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3);
        let bindings = [images.flags(vk::DescriptorBindingFlags::PARTIALLY_BOUND), Binding::sampler(1)];
        let held = Held::new(context, &bindings, &[stand.texture.slot(0, 1), Slot::sampler(&sampler, 1, 0)]);
        let rig = Rig::new(context, &Plan::new(Program::Dynamic, stand.texture.kind(), &[&held.layout]).stage(stage));
        let job = Job::new(&rig, &points());
        let commands = Commands::primary(context, |commands| {
            rig.bind(commands);
            rig.bind_sets(commands, 0, &[held.set], &[]);
            job.bind(commands);
            job.run(commands, 1);
        });
        commands.execute();
        Ok(vec![stand.texture.look("the only element", legal, job.results().remove(0))])
    };
    let expected = Expected::one(How::Shadow, place(0, 0, 1), LINK.1);
    // Which elements are used is not known before the shader runs.
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&Context::builder(), oracle, &expected, &|context| look(context, &bad(), &legal()))?;
    judge_legal(&Context::builder(), &|context| look(context, &good(), &good()))
}

/// A null view conflicts with nothing.
fn null_view(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        skip_if(context.missing(&[Capability::NullDescriptor]))?;
        let stand = Stand::new(context, stage)?;
        let mut image = stand.texture.slot(0, 0);
        image.info.image_view = vk::ImageView::null();
        let held = Held::new(context, stand.layout.bindings(), &[image, Slot::sampler(&stand.bad, 1, 0)]);
        let job = Job::new(&stand.rig, &points());
        execute(context, &stand.rig, &job, &[held.set]);
        assert!(job.results()[0].iter().all(|value| value.components()[..3] == [0.0; 3]), "a null view reads 0");
        Ok(Vec::new())
    })
}

// --- what cannot be repaired ------------------------------------------------------------------------------------------

/// The image may change after the bind, when nothing is decided any more.
fn update_after_bind() -> Outcome {
    let expected = Expected::unresolved("update-after-bind");
    judge(&Context::builder(), conflicts::uint().oracle.where_seen(), &expected, &|context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let stand = Stand::new(context, Stage::Compute)?;
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let layout = SetLayout::with_flags(
            context,
            &[Binding::image(0).flags(late), Binding::sampler(1)],
            vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
        );
        let pool = Pool::new(context, &[&layout]);
        let set = pool.allocate(&layout);
        write(context, set, &[stand.texture.slot(0, 0), Slot::sampler(&stand.bad, 1, 0)]);
        let rig = Rig::new(context, &Plan::new(Program::One, stand.texture.kind(), &[&layout]));
        let job = Job::new(&rig, &points());
        execute(context, &rig, &job, &[set]);
        Ok(vec![stand.texture.look("the image", &legal(), job.results().remove(0))])
    })
}

/// Images that disagree, in a pipeline that has as many sets as the device can bind.
fn no_free_set() -> Outcome {
    let conflict = conflicts::uint();
    judge(&Context::builder(), conflict.oracle, &Expected::unresolved("no-free-set"), &|context| {
        let sets = context.limits().max_bound_descriptor_sets as usize;
        skip_if((sets > 64).then(|| format!("{} binds {sets} sets", context.device_name())))?;
        let [first, second] = [Texture::new(context, conflict.scene)?, Texture::new(context, conflict.good)?];
        let sampler = conflict.sampler.create(context);
        let slots = [first.slot(0, 0), Slot::sampler(&sampler, 1, 0), second.slot(2, 0)];
        let held = Held::new(context, &[Binding::image(0), Binding::sampler(1), Binding::image(2)], &slots);
        let layouts = [&held.layout];
        let mut plan = Plan::new(Program::Shared, first.kind(), &layouts).second(second.kind());
        plan.above = sets - 3;
        let rig = Rig::new(context, &plan);
        let job = Job::new(&rig, &points());
        execute(context, &rig, &job, &[held.set]);
        Ok(Vec::new())
    })
}
