//! Orders of calls: handles that are reused while a conflict comes, goes and comes back, and what is bound beside sets. Sets that change and
//! die, and command buffers within others and executed again, are in `random`.
//!
//! The image is of integers. The bad sampler is LINEAR; the good one is NEAREST and repeats, so that a set which should have
//! been bound and was not shows outside of the image. Where links disagree there is a second image, which both samplers suit.

use super::*;
use samplin_testkit::Buffer;
use samplin_testkit::descriptor::{IMAGE_INFO_SIZE, Spelling, Template, TemplateData};

pub(crate) fn trials() -> Vec<Trial> {
    let all: [Row; 5] = [
        ("other-layout-between", other_layout_between),
        ("handle-reused", handle_reused),
        ("two-bind-points", two_bind_points),
        ("threads", threads),
        ("pipeline-made-twice", pipeline_made_twice),
    ];
    let alone: [Row; 5] = [
        ("layout-destroyed", layout_destroyed),
        ("pipeline-a-then-b", pipeline_a_then_b),
        ("template-without-stride", template_without_stride),
        ("hole", hole),
        ("null-view", null_view),
    ];
    let mut trials = Vec::new();
    for (name, body) in all {
        for (suffix, stage) in STAGES {
            for (links, second) in [("agree", false), ("disagree", true)] {
                let name = format!("sequence/{name}/{links}/{suffix}");
                trials.push(trial_in(stage, name, move || body(Shape { stage, second })));
            }
        }
    }
    for (name, body) in alone {
        for (suffix, stage) in STAGES {
            let shape = Shape { stage, second: false };
            trials.push(trial_in(stage, format!("sequence/{name}/{suffix}"), move || body(shape)));
        }
    }
    for (suffix, stage) in STAGES {
        trials.push(trial_in(stage, format!("sequence/push-set-above/{suffix}"), move || push_set_above(stage, false)));
        trials.push(trial_in(stage, format!("sequence/push-set-above-later/{suffix}"), move || {
            push_set_above(stage, true)
        }));
        for (links, program) in [("with-link", Program::Above), ("without-link", Program::Plain)] {
            let name = format!("sequence/longer-layout/{links}/{suffix}");
            trials.push(trial_in(stage, name, move || longer_layout(stage, program)));
        }
    }
    let objects = [
        ("object-compute", Stage::ComputeObject),
        ("object-graphics", Stage::FragmentObject),
        ("object-linked", Stage::LinkedObjects),
    ];
    for (suffix, stage) in objects {
        for (links, second) in [("agree", false), ("disagree", true)] {
            let shape = Shape { stage, second };
            let name = |what| format!("sequence/{what}/{links}/{suffix}");
            trials.push(trial_in(stage, name("stage-by-stage"), move || stage_by_stage(shape)));
            trials.push(trial_in(stage, name("pipeline-and-objects"), move || pipeline_and_objects(shape)));
        }
    }
    for (links, second) in [("agree", false), ("disagree", true)] {
        for (suffix, stage) in [("graphics", Stage::Fragment), ("garbage", Stage::Garbage)] {
            let name = format!("sequence/in-render-pass/{links}/{suffix}");
            trials.push(trial_in(stage, name, move || in_render_pass(Shape { stage, second })));
        }
        // Garbage in what pipelines may leave unset, and render passes that are gone.
        let rows: [Row; 2] = [("two-bind-points", two_bind_points), ("pipeline-made-twice", pipeline_made_twice)];
        for (name, body) in rows {
            let (stage, name) = (Stage::Garbage, format!("sequence/{name}/{links}/garbage"));
            trials.push(trial_in(stage, name, move || body(Shape { stage, second })));
        }
    }
    trials.push(trial("sequence/update-after-bind", update_after_bind));
    trials.push(trial("sequence/updated-after-bind/bad-then-good", || updated_after_bind([Has::Bad, Has::Good], 0)));
    trials.push(trial("sequence/updated-after-bind/good-then-bad", || updated_after_bind([Has::Good, Has::Bad], 0)));
    trials.push(trial("sequence/updated-after-bind/good-then-bad-beside", || {
        updated_after_bind([Has::Good, Has::Bad], 1)
    }));
    trials.push(trial("sequence/updated-after-bind/good-then-good", || updated_after_bind([Has::Good, Has::Good], 0)));
    trials
}

type Row = (&'static str, fn(Shape) -> Outcome);

/// Where the images are sampled, and whether there are two of them.
#[derive(Clone, Copy)]
struct Shape {
    stage: Stage,
    second: bool,
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

/// What most of these are made of.
struct Stand<'c> {
    context: &'c Context,
    texture: Texture<'c>,
    second: Option<Texture<'c>>,
    bad: Sampler<'c>,
    good: Sampler<'c>,
    layout: SetLayout<'c>,
    rig: Rig<'c>,
}

/// Which sampler a set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Bad,
    Good,
}

impl<'c> Stand<'c> {
    fn new(context: &'c Context, shape: Shape) -> Result<Self, Skip> {
        let texture = Texture::new(context, conflicts::UINT)?;
        let second = if shape.second { Some(Texture::new(context, RGBA8)?) } else { None };
        let mut bindings = vec![Binding::image(0), Binding::sampler(1)];
        bindings.extend(shape.second.then(|| Binding::image(2)));
        let layout = SetLayout::new(context, &bindings);
        let rig = Self::rig(context, &texture, second.as_ref(), shape.stage, &layout);
        Ok(Self { context, texture, second, bad: bad().create(context), good: good().create(context), layout, rig })
    }

    fn rig(
        context: &'c Context,
        texture: &Texture<'_>,
        second: Option<&Texture<'_>>,
        stage: Stage,
        layout: &SetLayout<'c>,
    ) -> Rig<'c> {
        let program = if second.is_some() { Program::Shared } else { Program::One };
        let layouts = [layout];
        let plan = Plan::new(program, texture.kind(), &layouts).stage(stage);
        Rig::new(context, &plan.second(second.unwrap_or(texture).kind()))
    }

    /// Another pipeline for the same sets.
    fn another(&self, stage: Stage) -> Rig<'c> {
        Self::rig(self.context, &self.texture, self.second.as_ref(), stage, &self.layout)
    }

    fn sampler(&self, has: Has) -> &Sampler<'c> {
        if has == Has::Bad { &self.bad } else { &self.good }
    }

    fn pool(&self, sets: usize) -> Pool<'c> {
        Pool::new(self.context, &vec![&self.layout; sets])
    }

    fn fill(&self, set: vk::DescriptorSet, sampler: &Sampler<'_>) {
        let mut slots = vec![self.texture.slot(0, 0), Slot::sampler(sampler, 1, 0)];
        slots.extend(self.second.as_ref().map(|second| second.slot(2, 0)));
        write(self.context, set, &slots);
    }

    /// A set with the images and this sampler.
    fn set(&self, pool: &Pool<'_>, has: Has) -> vk::DescriptorSet {
        let set = pool.allocate(&self.layout);
        self.fill(set, self.sampler(has));
        set
    }

    /// What a job over a set with that sampler has to have found.
    fn found(&self, what: &'static str, job: &Job<'_, '_>, has: Has) -> Vec<Look> {
        self.looks(what, job.results(), has)
    }

    fn looks(&self, what: &'static str, results: Vec<Vec<Value>>, has: Has) -> Vec<Look> {
        let (legal, own) = if has == Has::Bad { (legal(), bad()) } else { (good(), good()) };
        let mut wanted = vec![(what, &self.texture, &legal)];
        // Smooth with the bad sampler, which is good for this image.
        wanted.extend(self.second.as_ref().map(|second| (what, second, &own)));
        looks(&wanted, results)
    }

    /// Binds and executes.
    fn look(&self, what: &'static str, set: vk::DescriptorSet, has: Has) -> Vec<Look> {
        self.looks(what, self.rig.found(&[set], &points(), 0), has)
    }
}

/// A sequence with a conflict: the shadow's to repair where the links agree, the split's where they do not.
fn sequence(shape: Shape, body: impl Fn(&Stand<'_>) -> Result<Vec<Look>, Skip>) -> Outcome {
    let how = if shape.second { How::Split } else { How::Shadow };
    let expected = Expected::one(how, LINK.0, LINK.1);
    judge(&Context::builder(), conflicts::uint().oracle, &expected, &|context| body(&Stand::new(context, shape)?))
}

/// Bad and good by turns.
fn turns(count: usize) -> impl Iterator<Item = Has> {
    [Has::Bad, Has::Good].into_iter().cycle().take(count)
}

// --- what happens to sets ---------------------------------------------------------------------------------------------

/// Handles that are used again are those of the driver, which validation would hide.
fn handle_reused(shape: Shape) -> Outcome {
    const ROUNDS: usize = 64;
    sequence(shape, |stand| {
        let pool = stand.pool(1);
        Ok(stand.look("a set", stand.set(&pool, Has::Bad), Has::Bad))
    })?;
    let look = |context: &Context| {
        let stand = Stand::new(context, shape)?;
        let pool = stand.pool(ROUNDS);
        let mut last: Option<vk::DescriptorSet> = None;
        let mut reused = 0;
        for has in turns(8) {
            // What was just freed comes back soon, if not at once.
            let (mut set, mut spare) = (stand.set(&pool, has), Vec::new());
            while last.is_some_and(|last| last != set) && spare.len() < ROUNDS - 1 {
                spare.push(set);
                set = stand.set(&pool, has);
            }
            reused += usize::from(last == Some(set));
            stand.look("a set", set, has).iter().for_each(|look| look.assert("with samplin alone"));
            last = Some(set);
            spare.push(set);
            // The last one is freed last.
            pool.free(&spare);
        }
        context.skip_where(reused == 0, "uses no handle twice")
    };
    run::alone(resolve(Context::builder()), look).map(|_| ())
}

/// The pipeline dies, and the next one may have its handle.
fn pipeline_made_twice(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let pool = stand.pool(2);
        let sets = [Has::Bad, Has::Good].map(|has| (has, stand.set(&pool, has)));
        let mut looks = Vec::new();
        for (has, set) in sets.into_iter().cycle().take(4) {
            let rig = stand.another(shape.stage);
            looks.extend(stand.looks("a new pipeline", rig.found(&[set], &points(), 0), has));
        }
        Ok(looks)
    })
}

/// The layout of the set is gone when the set is bound; the pipeline's has a definition that is the same.
fn layout_destroyed(shape: Shape) -> Outcome {
    // To copy a set may access its layout, so only the shader can read another sampler.
    let expected = Expected::one(How::Split, LINK.0, LINK.1);
    judge(&Context::builder(), conflicts::uint().oracle, &expected, &|context| {
        let stand = Stand::new(context, shape)?;
        let layout = SetLayout::new(context, stand.layout.bindings());
        let (_pool, set) = Pool::set(context, &layout);
        stand.fill(set, &stand.bad);
        drop(layout);
        Ok(stand.look("a set without layout", set, Has::Bad))
    })
}

// --- what is bound between --------------------------------------------------------------------------------------------

/// Two pipelines over one set, bound once: the first wants another sampler in it, the second does not.
fn pipeline_a_then_b(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let context = stand.context;
        let smooth = Texture::new(context, RGBA8)?;
        let slots = [stand.texture.slot(0, 0), Slot::sampler(&stand.bad, 1, 0), smooth.slot(2, 0)];
        let held = Held::of(context, &slots);
        let layouts = [&held.layout];
        let a = Rig::new(context, &Plan::new(Program::One, stand.texture.kind(), &layouts).stage(shape.stage));
        let plan = Plan::new(Program::Fetch, stand.texture.kind(), &layouts).second(smooth.kind()).stage(shape.stage);
        let b = Rig::new(context, &plan);
        let jobs = [Job::new(&a, &points()), Job::new(&b, &points()), Job::new(&a, &points())];
        Commands::once(context, |commands| {
            a.bind_sets(commands, 0, &[held.set], &[]);
            for (rig, job) in std::iter::zip([&a, &b, &a], &jobs) {
                job.bind(commands);
                rig.bind(commands);
                job.run(commands, 0);
            }
        });
        let [first, second, third] = jobs.map(|job| job.results());
        Ok(vec![
            stand.texture.look("a", &legal(), first[0].clone()),
            smooth.look("b", &bad(), second[1].clone()),
            stand.texture.look("a again", &legal(), third[0].clone()),
        ])
    })
}

const SALT: u32 = 0x5a5a_5a5a;

/// A uniform buffer with [`SALT`].
fn salted(context: &Context) -> Buffer<'_> {
    let buffer = Buffer::new(context, 16, vk::BufferUsageFlags::UNIFORM_BUFFER);
    buffer.write_words(&[SALT]);
    buffer
}

/// What a salted program that fetches the corner of the image has to have found.
fn assert_corner(stand: &Stand<'_>, found: Vec<Value>, what: &str) {
    let (corner, found) = (stand.texture.image.read(vk::ImageAspectFlags::COLOR, 0, 0)[0], unsalted(found, SALT));
    assert!(found.iter().all(|value| *value == corner), "{what}: {:?} is not {corner:?}", found[0]);
}

/// Pipelines with three sets and with four run by turns over four sets that are bound once. What the layer binds behind the three is
/// where the other pipeline, which joins images and samplers as well or does not, has its fourth.
fn longer_layout(stage: Stage, program: Program) -> Outcome {
    let limit = |context: &Context| Ok(context.limits().max_bound_descriptor_sets);
    let (sets, _) = without_layer(Context::builder().record_only(), limit)?;
    let mut expected = Expected::one(How::Split, LINK.0, LINK.1);
    if program == Program::Above {
        // Where there is no set behind the four a link that has to be split fetches.
        let how = if switch::is_split() && sets <= 4 { How::Fetch } else { forced(How::Shadow) };
        expected = expected.and_just(how, LINK.0, LINK.1);
    }
    // Newer validation layers do not look at sets that were bound with a longer layout.
    judge(&Context::builder(), conflicts::uint().oracle.where_seen(), &expected, &|context| {
        let stand = Stand::new(context, Shape { stage, second: true })?;
        let salt = Binding::new(0, vk::DescriptorType::UNIFORM_BUFFER, 1);
        let (empty, fourth) = (Held::new(context, &[], &[]), Held::new(context, &[salt], &[]));
        let buffer = salted(context);
        write_uniform(context, fourth.set, 0, &buffer);
        let (layouts, above) = ([&stand.layout], [&fourth.layout]);
        let longer = Rig::new(context, &Plan::new(program, stand.texture.kind(), &layouts).stage(stage).above(&above));
        let pool = stand.pool(1);
        let set = stand.set(&pool, Has::Bad);
        let rigs = [&longer, &stand.rig, &longer, &stand.rig];
        let jobs = rigs.map(|rig| Job::new(rig, &points()));
        Commands::once(context, |commands| {
            longer.bind_sets(commands, 0, &[set, empty.set, jobs[0].own().0, fourth.set], &[]);
            jobs.iter().for_each(|job| job.draw(commands, 0));
        });
        let [first, second, third, fourth] = jobs.each_ref();
        let mut looks = stand.found("three sets", second, Has::Bad);
        looks.extend(stand.found("three sets again", fourth, Has::Bad));
        for job in [first, third] {
            let found = job.results().remove(0);
            if program == Program::Above {
                looks.push(stand.texture.look("four sets", &legal(), unsalted(found, SALT)));
            } else if !context.is_record_only() {
                assert_corner(&stand, found, "four sets");
            }
        }
        Ok(looks)
    })
}

/// The same with descriptors that were pushed, perhaps after the other pipeline was split: they are pushed again for the longer one.
fn push_set_above(stage: Stage, before: bool) -> Outcome {
    let expected = Expected::one(How::Split, LINK.0, LINK.1);
    // Newer validation layers do not look at sets that were bound with a longer layout.
    judge(&Context::builder(), conflicts::uint().oracle.where_seen(), &expected, &|context| {
        let stand = Stand::new(context, Shape { stage, second: true })?;
        skip_if(context.missing(&[Capability::PushDescriptor]))?;
        let salt = Binding::new(0, vk::DescriptorType::UNIFORM_BUFFER, 1);
        let (empty, fourth) = (Held::new(context, &[], &[]), SetLayout::pushed(context, &[salt]));
        let buffer = salted(context);
        let info = [whole(&buffer)];
        let (layouts, above) = ([&stand.layout], [&fourth]);
        let plan = Plan::new(Program::Plain, stand.texture.kind(), &layouts).stage(stage);
        let longer = Rig::new(context, &plan.above(&above));
        let pool = stand.pool(1);
        let set = stand.set(&pool, Has::Bad);
        let rigs = [&longer, &stand.rig, &longer];
        let jobs = rigs.map(|rig| Job::new(rig, &points()));
        let earlier = Job::new(&stand.rig, &points());
        Commands::once(context, |commands| {
            longer.bind_sets(commands, 0, &[set, empty.set, jobs[0].own().0], &[]);
            if before {
                earlier.draw(commands, 0);
            }
            let write = vk::WriteDescriptorSet::default().buffer_info(&info);
            longer.push(commands, 3, &[write.descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)]);
            jobs.iter().for_each(|job| job.draw(commands, 0));
        });
        let [first, second, third] = jobs.each_ref();
        if !context.is_record_only() {
            [first, third].into_iter().for_each(|job| assert_corner(&stand, job.results().remove(0), "pushed"));
        }
        Ok(stand.found("three sets", second, Has::Bad))
    })
}

/// A pipeline with a layout of its own runs in between, and disturbs set 0.
fn other_layout_between(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let context = stand.context;
        let smooth = Texture::new(context, RGBA8)?;
        let bindings = [Binding::image(0), Binding::sampler(1), Binding::image(7)];
        let other = Held::new(context, &bindings, &[smooth.slot(0, 0), Slot::sampler(&stand.bad, 1, 0)]);
        let layouts = [&other.layout];
        let between = Rig::new(context, &Plan::new(Program::One, smooth.kind(), &layouts).stage(shape.stage));
        let pool = stand.pool(1);
        let set = stand.set(&pool, Has::Bad);
        let jobs = [Job::new(&stand.rig, &points()), Job::new(&between, &points()), Job::new(&stand.rig, &points())];
        Commands::once(context, |commands| {
            stand.rig.bind_sets(commands, 0, &[set], &[]);
            for (rig, job, set) in
                [(&stand.rig, &jobs[0], set), (&between, &jobs[1], other.set), (&stand.rig, &jobs[2], set)]
            {
                rig.bind_sets(commands, 0, &[set], &[]);
                job.draw(commands, 0);
            }
        });
        let mut looks = stand.found("before", &jobs[0], Has::Bad);
        looks.push(smooth.look("between", &bad(), jobs[1].results().remove(0)));
        looks.extend(stand.found("after", &jobs[2], Has::Bad));
        Ok(looks)
    })
}

/// Compute and graphics share a set in one command buffer.
fn two_bind_points(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let context = stand.context;
        let stage = if shape.stage == Stage::Compute { Stage::Fragment } else { Stage::Compute };
        skip_if(context.missing(stage.needs()))?;
        let other = stand.another(stage);
        let pool = stand.pool(1);
        let set = stand.set(&pool, Has::Bad);
        let rigs = [&stand.rig, &other];
        let jobs = rigs.map(|rig| Job::new(rig, &points()));
        Commands::once(context, |commands| {
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
        Ok(jobs.iter().flat_map(|job| stand.found("one of both", job, Has::Bad)).collect())
    })
}

/// Shaders are unbound, and bound again one by one, after the sets.
fn stage_by_stage(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let pool = stand.pool(2);
        let [bads, goods] = [Has::Bad, Has::Good].map(|has| stand.set(&pool, has));
        let mut looks = Vec::new();
        for (set, has) in [(bads, Has::Bad), (goods, Has::Good), (bads, Has::Bad)] {
            let job = Job::new(&stand.rig, &points());
            Commands::once(stand.context, |commands| {
                stand.rig.bind_sets(commands, 0, &[set], &[]);
                job.bind(commands);
                stand.rig.bind(commands);
                stand.rig.bind_stage_by_stage(commands);
                job.run(commands, 0);
            });
            looks.extend(stand.found("stage by stage", &job, has));
        }
        Ok(looks)
    })
}

/// A pipeline and shader objects take turns at one bind point, whose sets stay.
fn pipeline_and_objects(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let stage = if shape.stage == Stage::ComputeObject { Stage::Compute } else { Stage::Fragment };
        let other = stand.another(stage);
        let pool = stand.pool(1);
        let set = stand.set(&pool, Has::Bad);
        let rigs = [&stand.rig, &other, &stand.rig, &other];
        let jobs = rigs.map(|rig| Job::new(rig, &points()));
        Commands::once(stand.context, |commands| {
            stand.rig.bind_sets(commands, 0, &[set], &[]);
            jobs.iter().for_each(|job| job.draw(commands, 0));
        });
        Ok(jobs.iter().flat_map(|job| stand.found("one of both", job, Has::Bad)).collect())
    })
}

/// What another sampler and another pipeline are wanted for is bound when the render pass has begun.
fn in_render_pass(shape: Shape) -> Outcome {
    let body = |stand: &Stand<'_>, order: &[Has]| {
        let pool = stand.pool(2);
        let [bads, goods] = [Has::Bad, Has::Good].map(|has| stand.set(&pool, has));
        let jobs: Vec<_> = order.iter().map(|_| Job::new(&stand.rig, &points())).collect();
        let set = |has: Has| if has == Has::Bad { bads } else { goods };
        Commands::once(stand.context, |commands| {
            stand.rig.bind(commands);
            stand.rig.in_pass(commands, vk::SubpassContents::INLINE, || {
                for (index, (job, has)) in jobs.iter().zip(order).enumerate() {
                    // The sets before the pipeline, and after it.
                    if index % 2 == 1 {
                        stand.rig.bind(commands);
                    }
                    stand.rig.bind_sets(commands, 0, &[set(*has)], &[]);
                    job.bind(commands);
                    job.record(commands, 0);
                }
            });
            jobs.iter().for_each(|job| job.finish(commands));
        });
        Ok(jobs.iter().zip(order).flat_map(|(job, has)| stand.found("in the render pass", job, *has)).collect())
    };
    sequence(shape, |stand| body(stand, &[Has::Bad, Has::Good, Has::Bad, Has::Bad, Has::Good]))?;
    sequence(shape, |stand| body(stand, &[Has::Good, Has::Bad, Has::Good]))?;
    judge_legal(&Context::builder(), &|context| body(&Stand::new(context, shape)?, &[Has::Good; 3]))
}

/// Eight threads record with one pipeline and two sets.
fn threads(shape: Shape) -> Outcome {
    sequence(shape, |stand| {
        let pool = stand.pool(2);
        let sets = [Has::Bad, Has::Good].map(|has| (has, stand.set(&pool, has)));
        let start = std::sync::Barrier::new(8);
        let results: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..8)
                .map(|index| {
                    let (rig, start, (has, set)) = (&stand.rig, &start, sets[index % 2]);
                    let run = move || {
                        start.wait();
                        (rig.found(&[set], &points(), 0), has)
                    };
                    scope.spawn(run)
                })
                .collect();
            started.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
        });
        Ok(results.into_iter().flat_map(|(results, has)| stand.looks("a thread's", results, has)).collect())
    })
}

// --- how sets are filled ----------------------------------------------------------------------------------------------

/// A template entry without stride fills each element of the array from the same place.
fn template_without_stride(shape: Shape) -> Outcome {
    switch::without_twins()?;
    let expected =
        Expected::one(How::Shadow, place(0, 0, 2), place(0, 1, 1)).and(How::Shadow, place(0, 0, 0), place(0, 1, 0));
    judge(&Context::builder(), conflicts::uint().oracle.where_seen(), &expected, &|context| {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        let stand = Stand::new(context, shape)?;
        let (images, samplers) = (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER);
        let held = Held::new(context, &[Binding::new(0, images, 3), Binding::new(1, samplers, 2)], &[]);
        let slots = [stand.texture.slot(0, 0), Slot::sampler(&stand.bad, 1, 0)];
        let entry = |at: usize, count| vk::DescriptorUpdateTemplateEntry {
            descriptor_count: count,
            ..slots[at].entry(at * IMAGE_INFO_SIZE)
        };
        let template = Template::for_set(context, Spelling::Core, &held.layout, &[entry(0, 3), entry(1, 2)]);
        template.update(held.set, &TemplateData::pack(&slots.map(|slot| slot.info), 0, IMAGE_INFO_SIZE));
        held.looks((Program::Constant, shape.stage), &[("an element", &stand.texture, &legal()); 2])
    })
}

/// An array of which one element was ever written.
fn hole(shape: Shape) -> Outcome {
    let look = |context: &Context, sampler: &SamplerDesc, legal: &SamplerDesc| {
        let stand = Stand::new(context, shape)?;
        skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
        let sampler = sampler.create(context);
        let images = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 3);
        let bindings = [images.flags(vk::DescriptorBindingFlags::PARTIALLY_BOUND), Binding::sampler(1)];
        let held = Held::new(context, &bindings, &[stand.texture.slot(0, 1), Slot::sampler(&sampler, 1, 0)]);
        let rig =
            Rig::new(context, &Plan::new(Program::Dynamic, stand.texture.kind(), &[&held.layout]).stage(shape.stage));
        Ok(looks(&[("the only element", &stand.texture, legal)], rig.found(&[held.set], &points(), 1)))
    };
    let expected = Expected::one(How::Shadow, place(0, 0, 1), LINK.1);
    // Which elements are used is not known before the shader runs.
    let oracle = conflicts::uint().oracle.where_seen();
    judge(&Context::builder(), oracle, &expected, &|context| look(context, &bad(), &legal()))?;
    judge_legal(&Context::builder(), &|context| look(context, &good(), &good()))
}

/// A null view conflicts with nothing.
fn null_view(shape: Shape) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        let stand = Stand::new(context, shape)?;
        skip_if(context.missing(&[Capability::NullDescriptor]))?;
        let mut image = stand.texture.slot(0, 0);
        image.info.image_view = vk::ImageView::null();
        let held = Held::new(context, stand.layout.bindings(), &[image, Slot::sampler(&stand.bad, 1, 0)]);
        let results = stand.rig.found(&[held.set], &points(), 0);
        assert!(results[0].iter().all(|value| value.components()[..3] == [0.0; 3]), "a null view reads 0");
        Ok(Vec::new())
    })
}

// --- what cannot be repaired ------------------------------------------------------------------------------------------

/// The image may change after the bind, when nothing is decided any more.
fn update_after_bind() -> Outcome {
    let (builder, expected) =
        (Context::builder().setting("bindless", "name"), Expected::unresolved("update-after-bind"));
    judge(&builder, conflicts::uint().oracle.where_seen(), &expected, &|context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let stand = Stand::new(context, Shape { stage: Stage::Compute, second: false })?;
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let layout = SetLayout::new(context, &[Binding::image(0).flags(late), Binding::sampler(1)]);
        let (_pool, set) = Pool::set(context, &layout);
        write(context, set, &[stand.texture.slot(0, 0), Slot::sampler(&stand.bad, 1, 0)]);
        let found = found(context, &Plan::new(Program::One, stand.texture.kind(), &[&layout]), &[set]);
        Ok(looks(&[("the image", &stand.texture, &legal())], found))
    })
}

/// The image is written again after the bind and before the buffer is submitted: what counts is what is there then. A pair that is
/// legal by then reads as it was given, whatever there was at the bind. `element`: which is written, of two of which the first is read.
fn updated_after_bind([at_bind, at_submit]: [Has; 2], element: u32) -> Outcome {
    let conflict = conflicts::simulated();
    let builder = Context::builder().simulated(conflicts::WEAK).setting("bindless", "name");
    let body = |context: &Context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let [bad, good] = textures(context, [conflict.scene, conflict.twin.0])?;
        let sampler = conflict.sampler.create(context);
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let layout =
            SetLayout::new(context, &[Binding { count: 2, ..Binding::image(0) }.flags(late), Binding::sampler(1)]);
        let (_pool, set) = Pool::set(context, &layout);
        let image = |has: Has| if has == Has::Bad { &bad } else { &good };
        write(context, set, &[image(at_bind).slot(0, 0), image(at_bind).slot(0, 1), Slot::sampler(&sampler, 1, 0)]);
        let rig = Rig::new(context, &Plan::new(Program::One, good.kind(), &[&layout]));
        let job = Job::new(&rig, &points());
        let commands = job.over(&[set], 0);
        write(context, set, &[image(at_submit).slot(0, element)]);
        commands.execute();
        // The driver filters what the simulated device does not, so that what is left alone is smooth.
        let what = "what is there when it is executed";
        let is_read = if element == 0 { at_submit } else { at_bind };
        let (texture, got) = (image(is_read), job.results().remove(0));
        if is_read == Has::Good {
            return Ok(vec![texture.look(what, &conflict.sampler, got)]);
        }
        // In one descriptor the pair would be repaired, so the specification alone says what it is to be.
        let reference = texture.wanted(&conflict.sampler, &points());
        Ok(vec![Look { what, scene: texture.scene, smooth: true, driver: got.clone(), got, reference }])
    };
    if at_bind == Has::Good && (at_submit == Has::Good || element > 0) {
        return judge_legal(&builder, &body);
    }
    let (looks, judged) = silent(resolve(builder), "with samplin", body)?;
    assert_left(&judged, "update-after-bind");
    looks.iter().for_each(|look| look.assert("with samplin"));
    Ok(())
}
