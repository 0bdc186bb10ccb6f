//! Arrays of images and samplers that a shader indexes, each pair of which gets the sampler that suits it (`bindless=resolve`).

use super::*;

const IMAGES: u32 = 4;
const SAMPLERS: u32 = 4;
const COUNTS: [u32; 2] = [100, 32];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (suffix, stage) in STAGES {
        for (flags, is_late) in [("plain", false), ("late", true)] {
            let of = |name| format!("table/{name}/{flags}/{suffix}");
            let case = Case { stage, is_late, program: Program::Tables };
            let loops = Case { program: Program::Loops, ..case };
            trials.push(trial_in(stage, of("loops"), move || floats(loops)));
            trials.push(trial_in(stage, of("integers"), move || integers(case)));
            trials.push(trial_in(stage, of("floats"), move || floats(case)));
            trials.push(trial_in(stage, of("legal"), move || legal(case)));
            trials.push(trial_in(stage, of("compared"), move || compared(case)));
        }
        trials.push(trial_in(stage, format!("table/quads/{suffix}"), move || quads(stage)));
        trials.push(trial_in(stage, format!("table/mixed/{suffix}"), move || mixed(stage)));
        for task in TASKS {
            let name = format!("table/by-itself/{}/{suffix}", task.setting);
            trials.push(trial_in(stage, name, move || by_itself(stage, task)));
        }
        let late = Case { stage, is_late: true, program: Program::Tables };
        trials.push(trial_in(stage, format!("table/heap-of-samplers/{suffix}"), move || heap_of_samplers(stage)));
        trials.push(trial_in(stage, format!("table/written-after-the-bind/{suffix}"), move || written_late(late)));
    }
    trials
}

#[derive(Clone, Copy)]
struct Case {
    stage: Stage,
    /// Descriptors may be updated after the bind.
    is_late: bool,
    program: Program,
}

/// Images in an array of one set, and samplers in an array of another.
pub(crate) struct Arrays<'c> {
    context: &'c Context,
    pub(crate) layouts: [SetLayout<'c>; 2],
    pub(crate) pools: [Pool<'c>; 2],
}

impl<'c> Arrays<'c> {
    /// So many images and samplers. `runs`: each layout has one more binding like its first.
    pub(crate) fn new(context: &'c Context, counts: [u32; 2], flags: vk::DescriptorBindingFlags, runs: bool) -> Self {
        let types = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER];
        let layouts = [0, 1].map(|at: usize| {
            let of = |binding| Binding::new(binding, types[at], counts[at]).flags(flags);
            let all = [of(at as u32), of(at as u32 + 1)];
            SetLayout::new(context, if runs { &all } else { &all[..1] })
        });
        let pools = layouts.each_ref().map(|layout| Pool::new(context, &[layout; 3]));
        Self { context, layouts, pools }
    }

    pub(crate) fn sets(&self) -> [vk::DescriptorSet; 2] {
        [0, 1].map(|at| self.pools[at].allocate(&self.layouts[at]))
    }

    /// Images where [`Program::Tables`] reads them.
    pub(crate) fn images(&self, set: vk::DescriptorSet, textures: &[Texture<'_>]) {
        let slots: Vec<_> = (0..).zip(textures).map(|(at, texture)| texture.slot(0, at * 30 + 7)).collect();
        write(self.context, set, &slots);
    }

    /// Samplers where it does.
    pub(crate) fn samplers(&self, set: vk::DescriptorSet, samplers: &[Sampler<'_>]) {
        let slots: Vec<_> = (0..).zip(samplers).map(|(at, sampler)| Slot::sampler(sampler, 1, at * 10 + 1)).collect();
        write(self.context, set, &slots);
    }

    pub(crate) fn fill(&self, sets: [vk::DescriptorSet; 2], textures: &[Texture<'_>], samplers: &[Sampler<'_>]) {
        self.images(sets[0], textures);
        self.samplers(sets[1], samplers);
    }
}

fn flags(is_late: bool) -> vk::DescriptorBindingFlags {
    use vk::DescriptorBindingFlags as B;
    if is_late { B::UPDATE_AFTER_BIND | B::PARTIALLY_BOUND } else { B::PARTIALLY_BOUND }
}

/// What each lookup of a job has to find: the pair of a point with the sampler that is legal for its image.
pub(crate) fn looks(
    textures: &[Texture<'_>],
    legal: &dyn Fn(usize, usize) -> SamplerDesc,
    element: usize,
    results: Vec<Vec<Value>>,
) -> Vec<Look> {
    let [results_each, results_one, results_called] = <[_; 3]>::try_from(results).expect("three lookups");
    let mut all = Vec::new();
    for (image, texture) in textures.iter().enumerate() {
        for sampler in 0..SAMPLERS as usize {
            let own = |each: &Vec<Value>, is_it: &dyn Fn(usize) -> bool| -> Vec<Option<Value>> {
                each.iter().enumerate().map(|(point, value)| is_it(point).then_some(*value)).collect()
            };
            let found = [
                ("each", own(&results_each, &|point| (point % 4, point / 4 % 4) == (image, sampler))),
                ("one", own(&results_one, &|_| (image, sampler) == (element, element))),
                ("called", own(&results_called, &|_| ((element + 1) % 4, element) == (image, sampler))),
            ];
            for (what, found) in found {
                if found.iter().all(Option::is_none) {
                    continue;
                }
                let mut look = texture.look(what, &legal(image, sampler), Vec::new());
                look.got = found
                    .iter()
                    .enumerate()
                    .map(|(point, value)| {
                        value.unwrap_or_else(|| look.driver.get(point).copied().unwrap_or(Value::Uint([0; 4])))
                    })
                    .collect();
                // What is not this pair's counts as the driver has it: near enough to the reference by the same measure.
                all.push(look);
            }
        }
    }
    all
}

pub(super) fn needs(context: &Context) -> Outcome {
    skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))
}

/// What is in the sets, made and written; images are those of the scenes.
struct Filled<'c> {
    arrays: Arrays<'c>,
    sets: [vk::DescriptorSet; 2],
    textures: Vec<Texture<'c>>,
    _samplers: Vec<Sampler<'c>>,
}

impl<'c> Filled<'c> {
    fn new(context: &'c Context, case: Case, scenes: &[Scene], states: &[SamplerDesc]) -> Result<Self, Skip> {
        needs(context)?;
        let arrays = Arrays::new(context, COUNTS, flags(case.is_late), false);
        let textures = Texture::all(context, scenes)?;
        let samplers: Vec<_> = states.iter().map(|state| state.create(context)).collect();
        let sets = arrays.sets();
        arrays.fill(sets, &textures, &samplers);
        Ok(Self { arrays, sets, textures, _samplers: samplers })
    }

    /// What the program of a case finds, of images of which the second kind is `kind`, if it has one.
    fn found(&self, case: Case, second: ResultKind, element: u32) -> Vec<Vec<Value>> {
        let (context, layouts) = (self.textures[0].context, self.arrays.layouts.each_ref());
        let plan = Plan::new(case.program, self.textures[0].kind(), &layouts).second(second).stage(case.stage);
        Rig::new(context, &plan).found(&self.sets, &points(), element)
    }
}

type Legal<'l> = &'l dyn Fn(usize, usize) -> SamplerDesc;

fn execute_with(
    context: &Context,
    case: Case,
    (scenes, states): (&[Scene], &[SamplerDesc]),
    legal: Legal<'_>,
) -> Result<Vec<Look>, Skip> {
    let filled = Filled::new(context, case, scenes, states)?;
    let element = 2;
    let found = filled.found(case, filled.textures[0].kind(), element);
    Ok(looks(&filled.textures, legal, element as usize, found))
}

/// Four states of which two are LINEAR, with modes that tell them apart.
pub(crate) fn states() -> Vec<SamplerDesc> {
    use vk::SamplerAddressMode as M;
    let (nearest, linear) = (SamplerDesc::nearest(), SamplerDesc::linear());
    vec![
        nearest.clone().address(M::CLAMP_TO_EDGE),
        linear.clone().address(M::CLAMP_TO_EDGE),
        linear.address(M::MIRRORED_REPEAT),
        nearest.address(M::MIRRORED_REPEAT),
    ]
}

pub(crate) fn unfiltered(mut desc: SamplerDesc) -> SamplerDesc {
    let nearest = SamplerDesc::nearest();
    (desc.mag_filter, desc.min_filter, desc.mipmap_mode) =
        (nearest.mag_filter, nearest.min_filter, nearest.mipmap_mode);
    desc
}

/// Judges what was looked up: the records, and what validation says below.
pub(crate) fn assert_looked_up(judged: &Judged, looks: &[Look]) {
    judged.assert_silent("with tables");
    looks.iter().for_each(|look| look.assert("with tables"));
    let records = draws(judged);
    assert!(!records.is_empty(), "{:#?}", judged.trace);
    assert!(records.iter().all(|record| record["how"] == "table"), "{records:#?}");
    judged.assert_resolved();
}

fn integers(case: Case) -> Outcome {
    let scenes = [Scene::UINT; IMAGES as usize];
    let states = states();
    let legal = |_, sampler: usize| unfiltered(states[sampler].clone());
    let (looks, judged) =
        with_layer(resolve(Context::builder()), |context| execute_with(context, case, (&scenes, &states), &legal))?;
    assert_looked_up(&judged, &looks);
    Ok(())
}

/// On a device that does not filter 32-bit floats, beside images that every sampler suits.
fn floats(case: Case) -> Outcome {
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let scenes = [RGBA8, float, RGBA8, float];
    let states = states();
    let legal = |image: usize, sampler: usize| match image % 2 {
        0 => states[sampler].clone(),
        _ => unfiltered(states[sampler].clone()),
    };
    let builder = resolve(Context::builder()).simulated(conflicts::WEAK);
    let (looks, judged) = with_layer(builder, |context| execute_with(context, case, (&scenes, &states), &legal))?;
    assert_looked_up(&judged, &looks);
    Ok(())
}

/// Samplers that compare, beside others, on colours that a shader reads as they are.
fn compared(case: Case) -> Outcome {
    let (scenes, mut states) = ([RGBA8; IMAGES as usize], states());
    for (state, op) in states[1..3].iter_mut().zip([vk::CompareOp::NEVER, vk::CompareOp::ALWAYS]) {
        *state = state.clone().compare(op);
    }
    let legal = |_, sampler: usize| SamplerDesc { compare_enable: false, ..states[sampler].clone() };
    let (looks, judged) =
        with_layer(resolve(Context::builder()), |context| execute_with(context, case, (&scenes, &states), &legal))?;
    assert_looked_up(&judged, &looks);
    Ok(())
}

/// Floats that conflict in an array that a shader reads as integers first, and nothing else does.
fn mixed(stage: Stage) -> Outcome {
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let found = |program, kind| {
        let case = Case { stage, is_late: false, program };
        let body = |context: &Context| {
            let filled = Filled::new(context, case, &[RGBA8, float, RGBA8, float], &states())?;
            Ok(filled.found(case, kind, 0).remove(0))
        };
        with_layer(resolve(Context::builder()).simulated(conflicts::WEAK), body)
    };
    let ((one, _), (both, judged)) =
        (found(Program::Tables, ResultKind::Float)?, found(Program::Mixed, ResultKind::Uint)?);
    assert_eq!(one, both);
    assert_looked_up(&judged, &[]);
    Ok(())
}

/// A setting with which shaders do more than sample, and the value with which samplers do without them.
#[derive(Clone, Copy)]
struct Task {
    setting: &'static str,
    by_shader: &'static str,
    by_itself: &'static str,
    states: fn() -> Vec<SamplerDesc>,
}

const TASKS: [Task; 2] = [
    Task { setting: "unfilterable", by_shader: "emulate", by_itself: "nearest", states: limited },
    Task { setting: "unnormalized", by_shader: "exact", by_itself: "base", states: in_texels },
];

/// Limits and a bias that a sampler has to keep if the shader does not add them.
fn limited() -> Vec<SamplerDesc> {
    vec![
        SamplerDesc { min_lod: 1.0, max_lod: 2.0, ..SamplerDesc::linear() },
        SamplerDesc { lod_bias: 0.75, ..SamplerDesc::trilinear() },
        SamplerDesc { min_lod: 1.0, ..SamplerDesc::trilinear() },
        SamplerDesc::nearest(),
    ]
}

fn in_texels() -> Vec<SamplerDesc> {
    let repeated = |desc: SamplerDesc| desc.address(vk::SamplerAddressMode::REPEAT);
    let illegal = [repeated(SamplerDesc::linear()), repeated(SamplerDesc::nearest())];
    let mut states = illegal.map(|desc| SamplerDesc { unnormalized: true, ..desc }).to_vec();
    states.extend([vk::Filter::LINEAR, vk::Filter::NEAREST].map(SamplerDesc::unnormalized));
    states
}

/// Where a shader looks samplers up it does nothing else, so each pair has the sampler that suits it by itself.
fn by_itself(stage: Stage, task: Task) -> Outcome {
    let case = Case { stage, is_late: false, program: Program::Tables };
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let states = (task.states)();
    let found = |value| {
        let builder = resolve(Context::builder()).simulated(conflicts::WEAK);
        let builder = builder.setting(task.setting, value);
        let body = |context: &Context| {
            let filled = Filled::new(context, case, &[RGBA8, float, RGBA8, float], &states)?;
            Ok(filled.found(case, ResultKind::Float, 0))
        };
        with_layer(builder, body)
    };
    let ((by_shader, with), (by_itself, without)) = (found(task.by_shader)?, found(task.by_itself)?);
    let changes =
        |judged: &Judged| draws(judged).into_iter().map(|record| record["changes"].to_string()).collect::<Vec<_>>();
    assert_eq!(by_shader, by_itself, "{:#?}", with.trace);
    assert_eq!(changes(&with), changes(&without));
    Ok(())
}

/// Nothing can conflict: the application's pipeline and its sets.
fn legal(case: Case) -> Outcome {
    let (scenes, states) = ([RGBA8; IMAGES as usize], states());
    let legal = |_, sampler: usize| states[sampler].clone();
    let builder = resolve(Context::builder());
    let (looks, judged) =
        silent(builder, "what is legal", |context| execute_with(context, case, (&scenes, &states), &legal))?;
    looks.iter().for_each(|look| look.assert("what is legal"));
    judged.assert_untouched("what is legal");
    assert_passes(&judged, &[]);
    Ok(())
}

/// Images, samplers and states come after the bind, of a pipeline that looks up by then.
fn written_late(case: Case) -> Outcome {
    let (scenes, states) = ([Scene::UINT; IMAGES as usize], states());
    let legal = |_, sampler: usize| unfiltered(states[sampler].clone());
    let body = |context: &Context| {
        needs(context)?;
        let textures = Texture::all(context, &scenes)?;
        let arrays = Arrays::new(context, COUNTS, flags(true), false);
        let (first, then) = (arrays.sets(), arrays.sets());
        let layouts = arrays.layouts.each_ref();
        let rig = Rig::new(context, &Plan::new(Program::Tables, textures[0].kind(), &layouts).stage(case.stage));
        let (job, element) = (Job::new(&rig, &points()), 1);
        let one: [_; SAMPLERS as usize] = std::array::from_fn(|_| SamplerDesc::linear().create(context));
        arrays.fill(first, &textures, &one);
        job.over(&first, element).execute();
        let commands = job.over(&then, element);
        let samplers: Vec<_> = states.iter().map(|state| state.create(context)).collect();
        arrays.fill(then, &textures, &samplers);
        commands.execute();
        Ok(looks(&textures, &legal, element as usize, job.results()))
    };
    let (looks, judged) = with_layer(resolve(Context::builder()), body)?;
    assert_looked_up(&judged, &looks);
    Ok(())
}

/// One set of samplers for all, indexed by a push constant, and images in sets of their own: a rule about colours leaves depths alone, and
/// what the device does not filter is read without.
fn heap_of_samplers(stage: Stage) -> Outcome {
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let (linear, bias) = (SamplerDesc::trilinear(), 0.25);
    let biased = |desc: &SamplerDesc| SamplerDesc { lod_bias: desc.lod_bias + bias, ..desc.clone() };
    let folder = run::Folder::new();
    let rule = "[[rule]]\nname = \"softer\"\nwhen = { class = \"color\" }\nset = { mip_lod_bias = { add = 0.25 } }\n";
    let builder = resolve(Context::builder()).simulated(conflicts::WEAK).rules(&folder, rule);
    let legal = [
        (RGBA8, biased(&linear)),
        (float, biased(&unfiltered(linear.clone()))),
        (Scene::D32, unfiltered(linear.clone())),
    ];
    let body = |context: &Context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
        let flags = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::PARTIALLY_BOUND;
        let binding = Binding::new(1, vk::DescriptorType::SAMPLER, 4000).flags(flags);
        let sampler = linear.create(context);
        let heap = Held::new(context, &[binding], &[Slot::sampler(&sampler, 1, 3999)]);
        let textures = Texture::all(context, &legal.each_ref().map(|(scene, _)| *scene))?;
        let images: Vec<_> = textures.iter().map(|texture| Held::of(context, &[texture.slot(0, 0)])).collect();
        let layouts = [&images[0].layout, &heap.layout];
        let rig = Rig::new(context, &Plan::new(Program::Global, textures[0].kind(), &layouts).stage(stage));
        let mut wrong = Vec::new();
        // The second time round all is known.
        for _ in 0..2 {
            for ((image, texture), (_, legal)) in images.iter().zip(&textures).zip(&legal) {
                let found = rig.found(&[image.set, heap.set], &points(), 3999);
                wrong.extend(super::wrong(texture, legal, &found[0], &points(), 0.02));
            }
        }
        Ok(wrong)
    };
    let (wrong, judged) = with_layer(builder, body)?;
    assert!(wrong.is_empty(), "{wrong:#?} with {:#?}", judged.trace);
    assert_looked_up(&judged, &[]);
    assert_eq!(draws(&judged).len(), 3, "{:#?}", draws(&judged));
    Ok(())
}

/// Neighbours that read different pairs take their levels of detail from each other: what is legal is the very same as without samplin,
/// also where another element conflicts.
fn quads(stage: Stage) -> Outcome {
    let case = Case { stage, is_late: false, program: Program::Quads };
    let float = Scene::colour(vk::Format::R32_SFLOAT);
    let body = |context: &Context| {
        let filled = Filled::new(context, case, &[RGBA8; IMAGES as usize], &states())?;
        let other = Texture::new(context, float)?;
        write(context, filled.sets[0], &[other.slot(0, 99)]);
        Ok(filled.found(case, ResultKind::Float, 0).remove(0))
    };
    let builder = Context::builder().simulated(conflicts::WEAK);
    let (wanted, _) = without_layer(Context::builder(), body)?;
    let (found, judged) = silent(resolve(builder), "neighbours that differ", body)?;
    let components = |all: &[Value]| all.iter().map(|value| value.components()).collect::<Vec<_>>();
    assert_eq!(components(&found), components(&wanted), "{:#?}", judged.trace);
    assert_looked_up(&judged, &[]);
    Ok(())
}
