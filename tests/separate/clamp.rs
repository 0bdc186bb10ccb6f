//! GL_CLAMP in the shader: coordinates are saturated, so that half of a texel of the border takes part and no more.
//!
//! The reference is OpenGL's: the coordinate is clamped to [0, 1], then the footprint is taken, with the border for what is outside of
//! the image (OpenGL compatibility profile, Coordinate Wrapping and Texel Selection, "CLAMP").

use super::*;
use samplin_testkit::held::bindings;
use samplin_testkit::way::{Route, Way};
use switch::Switch;

type M = vk::SamplerAddressMode;

const GL_CLAMP: M = M::from_raw(0x2900);
const EXTENSION: &std::ffi::CStr = c"VK_SAMPLIN_gl_address_modes";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = run::trials(&[
        ("clamp/mixed", mixed),
        ("clamp/no-set-fetched", no_set_fetched),
        ("clamp/texels", texels),
        ("clamp/array", array),
        ("clamp/array-constant", array_constant),
        ("clamp/rewritten-set", rewritten),
        ("clamp/update-after-bind", update_after_bind),
    ]);
    for (name, stage) in STAGES.into_iter().chain([("linked", Stage::LinkedObjects)]) {
        trials.push(trial_in(stage, format!("clamp/two-draws/{name}"), move || two_draws(stage, "uniform", true)));
        trials
            .push(trial_in(stage, format!("clamp/two-draws-keys/{name}"), move || two_draws(stage, "pipeline", true)));
        trials.push(trial_in(stage, format!("clamp/no-set/{name}"), move || two_draws(stage, "uniform", false)));
        trials.push(trial_in(stage, format!("clamp/untouched/{name}"), move || untouched(stage, true)));
        trials.push(trial_in(stage, format!("clamp/untouched-no-set/{name}"), move || untouched(stage, false)));
        trials.push(trial_in(stage, format!("clamp/split/{name}"), move || split(stage)));
        trials.push(trial_in(stage, format!("clamp/immutable/{name}"), move || immutable(stage)));
        trials.push(trial_in(stage, format!("clamp/immutable-combined/{name}"), move || immutable_combined(stage)));
    }
    for (name, way) in [("push", Way::Push), ("template", Way::Template), ("copy", Way::Copy)] {
        trials.push(trial(format!("clamp/ways/{name}"), move || by(way)));
    }
    trials
}

fn builder() -> ContextBuilder {
    Context::builder().extension(EXTENSION)
}

fn clamp() -> SamplerDesc {
    SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).address(GL_CLAMP)
}

/// What Vulkan has of it.
fn border() -> SamplerDesc {
    clamp().address(M::CLAMP_TO_BORDER)
}

fn edge() -> SamplerDesc {
    SamplerDesc::linear()
}

/// What a lookup has to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// What OpenGL gives.
    Exact,
    /// The border over a whole texel: the address mode alone.
    Half,
    /// No border.
    Edge,
}

impl Wanted {
    fn values(self, texture: &Texture<'_>) -> Vec<Value> {
        match self {
            Self::Exact => texture.wanted(&border(), &saturated(&points(), 1.0)),
            Self::Half => texture.wanted(&border(), &points()),
            Self::Edge => texture.wanted(&edge(), &points()),
        }
    }

    /// What is wrong with the values of a lookup, if they are not these.
    fn wrong(self, texture: &Texture<'_>, got: &[Value], what: &str) -> Option<String> {
        let wanted = self.values(texture);
        assert_eq!(got.len(), wanted.len());
        let is_far = |((got, wanted), _): &((&Value, &Value), SamplePoint)| !got.is_near(**wanted, 0.02);
        let ((got, wanted), point) = got.iter().zip(&wanted).zip(points()).find(is_far)?;
        Some(format!("{what}, {self:?}: {got:?} is not {wanted:?} at {point:?}"))
    }
}

/// What is wrong with the values of some lookups of one image, if they are not these.
fn wrongs(texture: &Texture<'_>, wanted: &[Wanted], found: &[Vec<Value>], what: &str) -> Vec<Option<String>> {
    std::iter::zip(wanted, found).map(|(wanted, found)| wanted.wrong(texture, found, what)).collect()
}

/// Coordinates that are clamped to an image of this size.
fn saturated(points: &[SamplePoint], size: f32) -> Vec<SamplePoint> {
    let saturate = |point: &SamplePoint| {
        let [x, y, z, w] = point.coord;
        SamplePoint { coord: [x.clamp(0.0, size), y.clamp(0.0, size), z, w], ..*point }
    };
    points.iter().map(saturate).collect()
}

/// The three are told apart by these points at all.
fn assert_distinct(texture: &Texture<'_>) {
    let [exact, half, edge] = [Wanted::Exact, Wanted::Half, Wanted::Edge].map(|wanted| wanted.values(texture));
    let far = |one: &[Value], two: &[Value]| one.iter().zip(two).filter(|(one, two)| !one.is_near(**two, 0.1)).count();
    assert!(far(&exact, &half) > 20 && far(&exact, &edge) > 20, "the points show no difference");
}

/// A set of [`Program::Beside`]: the image with a sampler of its own, with one in its descriptor, and with another of its own.
fn beside(texture: &Texture<'_>, [one, pair, other]: [&Sampler<'_>; 3]) -> [Slot; 4] {
    [texture.slot(0, 0), Slot::sampler(one, 1, 0), texture.pair(pair, 2, 0), Slot::sampler(other, 3, 0)]
}

/// Runs a body that says what is wrong with the lookups of an image of bytes, silently and with nothing left.
fn clamped(
    body: impl for<'c> FnOnce(&'c Context, &Texture<'c>) -> Result<Vec<Option<String>>, Skip>,
) -> Result<Judged, Skip> {
    let judged = judged(builder(), |context| body(context, &Texture::new(context, RGBA8)?))?;
    judged.assert_resolved();
    Ok(judged)
}

/// Layouts above the first one and the harness's own: as many as there is room for, but where there is to be room for one more.
fn above(context: &Context, room: bool) -> Result<Vec<SetLayout<'_>>, Skip> {
    if room { Ok(Vec::new()) } else { fetch::rest(context, 3) }
}

/// One pipeline, bound once, with sets of which one has GL_CLAMP and one has not, separately and combined, each as the other is not.
/// Without room for another set shaders have in their code what is asked of them.
fn two_draws(stage: Stage, keys: &str, room: bool) -> Outcome {
    let judged = judged(builder().setting("shader_keys", keys), |context| {
        let texture = Texture::new(context, RGBA8)?;
        assert_distinct(&texture);
        let (gl, plain) = (clamp().create(context), edge().create(context));
        let set = |one, other| Held::of(context, &beside(&texture, [one, other, other]));
        let sets = [set(&gl, &plain), set(&plain, &plain), set(&plain, &gl), set(&gl, &gl)];
        let (layouts, rest) = ([&sets[0].layout], above(context, room)?);
        let above: Vec<_> = rest.iter().collect();
        let rig = Rig::new(context, &Plan::new(Program::Beside, texture.kind(), &layouts).stage(stage).above(&above));
        let jobs: Vec<_> = sets.iter().map(|_| Job::new(&rig, &points())).collect();
        Commands::once(context, |commands| {
            rig.bind(commands);
            for (job, held) in jobs.iter().zip(&sets) {
                job.bind(commands);
                rig.bind_sets(commands, 0, &[held.set], &[]);
                job.run(commands, 0);
            }
        });
        let (exact, edge) = (Wanted::Exact, Wanted::Edge);
        let wanted = [[exact, edge, edge], [edge; 3], [edge, exact, exact], [exact; 3]];
        let of = |(draw, (job, wanted)): (usize, (&Job<'_, '_>, [Wanted; 3]))| {
            wrongs(&texture, &wanted, &job.results(), &format!("draw {draw}"))
        };
        Ok(jobs.iter().zip(wanted).enumerate().flat_map(of).collect())
    })?;
    judged.assert_resolved();
    // In their code shaders have each combination by itself.
    let count = if keys == "uniform" && room { 1 } else { 3 };
    assert_passes(&judged, &vec!["saturate"; count]);
    Ok(())
}

/// A device that has the extension and samplers that do not use it: nothing is changed.
fn untouched(stage: Stage, room: bool) -> Outcome {
    let judged = clamped(|context, texture| {
        let (edge, border) = (edge().create(context), border().create(context));
        let held = Held::of(context, &beside(texture, [&edge, &border, &border]));
        let (layouts, rest) = ([&held.layout], above(context, room)?);
        let above: Vec<_> = rest.iter().collect();
        let plan = Plan::new(Program::Beside, texture.kind(), &layouts).stage(stage).above(&above);
        let results = found(context, &plan, &[held.set]);
        Ok(wrongs(texture, &[Wanted::Edge, Wanted::Half, Wanted::Half], &results, "legal"))
    })?;
    judged.assert_untouched("without GL_CLAMP");
    if !matches!(Switch::on(), Some(Switch::Saturate | Switch::Filter)) {
        assert_eq!(judged.summary()["separate"]["hidden_sets"], 0, "{:#}", judged.summary());
    }
    Ok(())
}

/// One filter that is LINEAR and one that is not: the border takes part where the first one reads, and nowhere else. Beside the same
/// samplers with an address mode of Vulkan, which are left alone. In fragment shaders `testkit/tests/sampling.rs` looks at them, as
/// llvmpipe 22 has one filter for all pixels of a block, also for those that nothing covers.
fn mixed() -> Outcome {
    use vk::Filter as T;
    use vk::SamplerMipmapMode as Mip;
    let look = |context: &Context, gl: bool| {
        let texture = Texture::new(context, RGBA8)?;
        let texels = reference::Texture::read(&texture.image, &texture.view);
        let mut wrong = Vec::new();
        for (mag_filter, min_filter, mipmap_mode) in [
            (T::LINEAR, T::NEAREST, Mip::LINEAR),
            (T::LINEAR, T::NEAREST, Mip::NEAREST),
            (T::NEAREST, T::LINEAR, Mip::NEAREST),
        ] {
            let vulkan = SamplerDesc { mag_filter, min_filter, mipmap_mode, ..border() };
            let made = if gl { vulkan.clone().address(GL_CLAMP) } else { vulkan.clone() }.create(context);
            let held = Held::of(context, &beside(&texture, [&made; 3]));
            let layouts = [&held.layout];
            let rig = Rig::new(context, &Plan::new(Program::Beside, texture.kind(), &layouts));
            let wanted = |point: &SamplePoint| {
                let filter = if point.lod <= 0.0 { mag_filter } else { min_filter };
                let inside = if filter == T::NEAREST { edge().address } else { vulkan.address };
                let address = if gl { inside } else { vulkan.address };
                let [x, y, z, w] = point.coord;
                let coord = if gl { [x.clamp(0.0, 1.0), y.clamp(0.0, 1.0), z, w] } else { point.coord };
                reference::sample(
                    &texels,
                    &SamplerDesc { address, ..vulkan.clone() },
                    &SamplePoint { coord, ..*point },
                    2.0,
                )
            };
            // Whole groups of one level of detail, for the same reason.
            for all in points().chunk_by(|one, other| one.lod == other.lod) {
                let all: Vec<_> = all.iter().copied().cycle().take(1024).collect();
                for (lookup, got) in rig.found(&[held.set], &all, 0).iter().enumerate() {
                    let far = got.iter().zip(&all).find(|(got, point)| !got.is_near(wanted(point), 0.02));
                    wrong.push(far.map(|(got, point)| {
                        let wanted = wanted(point);
                        format!("{mag_filter:?} {min_filter:?}, lookup {lookup}: {got:?}, not {wanted:?} at {point:?}")
                    }));
                }
            }
        }
        Ok(wrong)
    };
    judged(builder(), |context| look(context, true))?.assert_resolved();
    judged(builder(), |context| look(context, false))?.assert_untouched("filters that differ");
    Ok(())
}

/// A sampler of its own and a saturated coordinate at once: the sampler is shared by an image that filters and one that does not.
fn split(stage: Stage) -> Outcome {
    let judged = judged(builder(), |context| {
        let bad = conflicts::uint();
        let [first, second] = textures(context, [RGBA8, bad.scene])?;
        let sampler = clamp().create(context);
        let held = Held::of(context, &[first.slot(0, 0), second.slot(2, 0), Slot::sampler(&sampler, 1, 0)]);
        let layouts = [&held.layout];
        let plan = Plan::new(Program::Shared, first.kind(), &layouts).second(second.kind()).stage(stage);
        let rig = Rig::new(context, &plan);
        let mut wrong = Vec::new();
        for turn in 0..2 {
            let results = rig.found(&[held.set], &points(), 0);
            wrong.push(Wanted::Exact.wrong(&first, &results[0], &format!("turn {turn}")));
            let wanted = second.wanted(&SamplerDesc::nearest(), &points());
            wrong.push((results[1] != wanted).then(|| format!("integers, turn {turn}")));
        }
        Ok(wrong)
    })?;
    judged.assert_resolved();
    Ok(())
}

/// Without room for another set: a combined descriptor that is clamped beside an immutable sampler whose filter the image lacks, of
/// which texels are fetched.
fn no_set_fetched() -> Outcome {
    let judged = judged(builder().simulated(conflicts::WEAK), |context| {
        let [good, bad] = textures(context, [RGBA8, Scene::colour(F::R32_SFLOAT)])?;
        let (gl, linear, nearest) = (clamp().create(context), edge().create(context), SamplerDesc::nearest());
        let other = nearest.create(context);
        let fixed = Slot::sampler(&linear, 1, 0).fixed();
        let held = Held::of(context, &[bad.slot(0, 0), fixed, good.pair(&gl, 2, 0), Slot::sampler(&other, 3, 0)]);
        let (layouts, rest) = ([&held.layout], above(context, false)?);
        let above: Vec<_> = rest.iter().collect();
        let results = found(context, &Plan::new(Program::Beside, good.kind(), &layouts).above(&above), &[held.set]);
        let wanted = bad.wanted(&nearest, &points());
        Ok(vec![
            (results[0] != wanted).then(|| "what is fetched".to_owned()),
            Wanted::Exact.wrong(&good, &results[1], "beside what is fetched"),
            (results[2] != wanted).then(|| "NEAREST beside that".to_owned()),
        ])
    })?;
    judged.assert_resolved();
    let hows: Vec<_> = draws(&judged).iter().filter_map(|record| record["how"].as_str().map(str::to_owned)).collect();
    assert_eq!(hows, ["fetch"], "{:#?}", judged.trace);
    assert_passes(&judged, &["fetch"]);
    Ok(())
}

/// Coordinates in texels, as rectangles of OpenGL have them: they are clamped to the size.
fn texels() -> Outcome {
    let judged = judged(builder(), |context| {
        let texture = Texture::new(context, RGBA8.flat())?;
        let legal = SamplerDesc::unnormalized(vk::Filter::LINEAR).border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let made = SamplerDesc { address: [GL_CLAMP, GL_CLAMP, legal.address[2]], ..legal.clone() }.create(context);
        let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&made, 1, 0)]);
        let rig = Rig::new(context, &Plan::new(Program::One, texture.kind(), &[&held.layout]));
        let all = texture.scene.points(true);
        let got = rig.found(&[held.set], &all, 0).remove(0);
        let exact = texture.wanted(&legal, &saturated(&all, 8.0));
        let far = got.iter().zip(exact).zip(all).find(|((got, exact), _)| !got.is_near(*exact, 0.02));
        Ok(vec![far.map(|((got, exact), point)| format!("{got:?}, not {exact:?}, at {point:?}"))])
    })?;
    judged.assert_resolved();
    assert_passes(&judged, &["saturate"]);
    Ok(())
}

/// An immutable sampler of a binding of its own: it is read from the hidden set, with its border.
fn immutable(stage: Stage) -> Outcome {
    clamped(|context, texture| {
        let sampler = clamp().create(context);
        let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&sampler, 1, 0).fixed()]);
        let results = held.found((Program::One, stage), [texture.kind(); 2])?;
        Ok(wrongs(texture, &[Wanted::Exact], &results, "an immutable sampler"))
    })?;
    Ok(())
}

/// One of a descriptor that holds the image as well: the image is read from there, the sampler from the hidden set.
fn immutable_combined(stage: Stage) -> Outcome {
    clamped(|context, texture| {
        let (gl, plain) = (clamp().create(context), edge().create(context));
        // What is written beside the immutable sampler does not count.
        let slots = beside(texture, [&plain, &plain, &gl]);
        let layout = slots.map(|slot| if slot.at.0 == 2 { texture.pair(&gl, 2, 0).fixed() } else { slot });
        let held = Held::new(context, &bindings(&layout), &slots);
        let results = held.found((Program::Beside, stage), [texture.kind(); 2])?;
        Ok(wrongs(texture, &[Wanted::Edge, Wanted::Exact, Wanted::Exact], &results, "immutable"))
    })?;
    Ok(())
}

/// Descriptors that come to their sets in other ways than by writes.
fn by(way: Way) -> Outcome {
    clamped(|context, texture| {
        let (gl, plain) = (clamp().create(context), edge().create(context));
        let slots = beside(texture, [&plain, &gl, &gl]);
        let route = Route::new(context, way, &bindings(&slots), 0)?;
        let rig = Rig::new(context, &Plan::new(Program::Beside, texture.kind(), &route.layouts()));
        let found = route.found(&rig, &slots, &points());
        Ok(wrongs(texture, &[Wanted::Edge, Wanted::Exact, Wanted::Exact], &found, "another way"))
    })?;
    Ok(())
}

/// Elements of an array that the shader chooses from when it runs: each has what it needs by itself.
fn array() -> Outcome {
    clamped(|context, texture| {
        skip_if(context.missing(&[Capability::ImageArrayIndexing]))?;
        let samplers = [edge().create(context), clamp().create(context), border().create(context)];
        let slots: Vec<_> = (0..).zip(&samplers).map(|(at, sampler)| texture.pair(sampler, 0, at)).collect();
        let held = Held::of(context, &slots);
        let layouts = [&held.layout];
        let rig = Rig::new(context, &Plan::new(Program::Pairs, texture.kind(), &layouts));
        let jobs: Vec<_> = (0..3).map(|_| Job::new(&rig, &points())).collect();
        Commands::once(context, |commands| {
            rig.bind(commands);
            rig.bind_sets(commands, 0, &[held.set], &[]);
            for (element, job) in (0..).zip(&jobs) {
                job.bind(commands);
                job.run(commands, element);
            }
        });
        let wanted = [Wanted::Edge, Wanted::Exact, Wanted::Half];
        let wrong = |(job, wanted): (&Job<'_, '_>, Wanted)| wanted.wrong(texture, &job.results()[0], "an element");
        Ok(jobs.iter().zip(wanted).map(wrong).collect())
    })?;
    Ok(())
}

/// Elements that the shader names, on devices that choose none when it runs: samplers change places, and their tasks with them.
fn array_constant() -> Outcome {
    clamped(|context, texture| {
        let (gl, plain) = (clamp().create(context), edge().create(context));
        let images = (0..3).map(|element| texture.slot(0, element));
        let mut wrong = Vec::new();
        for (samplers, wanted) in [
            // Image 2 is joined with sampler 1, and 0 with 0.
            ([&plain, &gl], [Wanted::Exact, Wanted::Edge]),
            ([&gl, &plain], [Wanted::Edge, Wanted::Exact]),
            ([&gl, &gl], [Wanted::Exact, Wanted::Exact]),
        ] {
            let states = (0..).zip(samplers).map(|(element, sampler)| Slot::sampler(sampler, 1, element));
            let held = Held::of(context, &images.clone().chain(states).collect::<Vec<_>>());
            let results = held.found((Program::Constant, Stage::Compute), [texture.kind(); 2])?;
            wrong.extend(wrongs(texture, &wanted, &results, "an element that is named"));
        }
        Ok(wrong)
    })?;
    Ok(())
}

/// A set that is written again between two command buffers: what the shader does follows its content, and nothing is compiled.
fn rewritten() -> Outcome {
    let judged = clamped(|context, texture| {
        let (gl, plain) = (clamp().create(context), edge().create(context));
        let held = Held::new(context, &bindings(&beside(texture, [&plain; 3])), &[]);
        let rig = Rig::new(context, &Plan::new(Program::Beside, texture.kind(), &[&held.layout]));
        let mut wrong = Vec::new();
        for (sampler, wanted) in [(&gl, Wanted::Exact), (&plain, Wanted::Edge), (&gl, Wanted::Exact)] {
            held.write(&beside(texture, [&plain, sampler, sampler]));
            let results = rig.found(&[held.set], &points(), 0);
            wrong.extend(wrongs(texture, &[Wanted::Edge, wanted, wanted], &results, "written again"));
        }
        Ok(wrong)
    })?;
    // Made with the pipeline, and never again.
    assert_passes(&judged, &["saturate"]);
    Ok(())
}

/// A descriptor that may be another one after the bind keeps what its address mode does.
fn update_after_bind() -> Outcome {
    let judged = judged(builder(), |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing, Capability::ImageArrayIndexing]))?;
        let texture = Texture::new(context, RGBA8)?;
        let gl = clamp().create(context);
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let slots = [0, 1, 2].map(|at| texture.pair(&gl, 0, at));
        let held = Held::new(context, &[Binding::combined(0, 3).flags(late)], &slots);
        let results = held.found((Program::Pairs, Stage::Compute), [texture.kind(); 2])?;
        Ok(wrongs(&texture, &[Wanted::Half], &results, "after the bind"))
    })?;
    assert_eq!(judged.left(), ["update-after-bind"], "once for the link");
    Ok(())
}
