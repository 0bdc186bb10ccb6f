//! Samplers and images in descriptors of their own, which only the shader joins (`separate=resolve`, the default).
//!
//! A case runs three times. Without samplin, nothing executed, validation reports what the [`Conflict`] says. With it, validation
//! below is silent, each lookup gives the very values of the sampler that is legal for its image, and the trace has one `pair` record for
//! each link that got another sampler, with both slots and how it was done. With what is legal in the same places, nothing
//! happens at all. Start at [`Case`]; [`REPAIRED`] says how much of this the layer does.

mod arrays;
mod clamp;
mod compare;
mod conflicts;
mod draws;
mod engine;
mod exact;
mod fetch;
mod filter;
mod immutable;
mod lifetime;
mod looked_up;
mod matrix;
mod meet;
mod modes;
mod programs;
mod random;
mod reads;
mod sequences;
mod sets;
mod shared;
mod switch;
mod tables;
mod texels;
mod wishes;

use ash::vk;
use conflicts::Conflict;
use libtest_mimic::Trial;
use run::{Judged, Outcome, Skip, silent, skip_if, trial, with_layer, without_layer};
use samplin_suite::case::*;
use samplin_suite::{run, scene};
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, whole, write_images};
use samplin_testkit::held::{Held, Slot, write, write_uniform};
use samplin_testkit::separate::{Commands, Job, Plan, Program, Rig, Stage};
use samplin_testkit::{
    Capability, Context, ContextBuilder, Image, Message, Pair, ResultKind, SamplePoint, Sampler, SamplerDesc, Texture,
    Value, View, reference, sample,
};
use scene::Scene;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use switch::{assert_passes, forced};

/// How a conflict is repaired: `how` of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// All links of the sampler agree: another set in the place of the application's.
    Shadow,
    /// They agree, and the sampler was pushed: it is pushed again.
    Push,
    /// They do not: the shader reads the link's sampler from a set of the layer's.
    Split,
    /// There is no room for one more set or sampler: the shader fetches texels.
    Fetch,
    /// An index says which image or sampler it is: the shader looks up which sampler suits.
    Table,
}

/// What the layer repairs. What is not in here stays as it is, and is told as unresolved.
const REPAIRED: &[How] = &[How::Shadow, How::Push, How::Split, How::Fetch, How::Table];

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Shadow => "shadow",
            Self::Push => "push",
            Self::Split => "split",
            Self::Fetch => "fetch",
            Self::Table => "table",
        }
    }
}

/// The stages that each program and each sequence of commands is tried in.
const STAGES: [(&str, Stage); 4] = [
    ("compute", Stage::Compute),
    ("graphics", Stage::Fragment),
    ("graphics", Stage::FragmentObject),
    ("graphics", Stage::Libraries),
];

/// What stages take, and what a skip says where the device lacks it. Asked once by a process.
fn lacking() -> &'static [(Capability, Option<String>)] {
    static LACKING: OnceLock<Vec<(Capability, Option<String>)>> = OnceLock::new();
    LACKING.get_or_init(|| {
        let all = [Capability::FragmentStores, Capability::ShaderObject, Capability::GraphicsPipelineLibrary];
        let Ok(context) = run::build(&Context::builder()) else { return Vec::new() };
        all.map(|one| (one, context.missing(&[one]))).to_vec()
    })
}

/// A test in a stage, where the device has it: those of shader objects and of pipeline libraries have names of their own, because not every
/// driver has them.
fn trial_in(stage: Stage, name: String, body: impl Fn() -> Outcome + Send + 'static) -> Trial {
    let kinds = [(Capability::ShaderObject, "object/"), (Capability::GraphicsPipelineLibrary, "library/")];
    let kind = kinds.iter().find(|(needed, _)| stage.needs().contains(needed)).map_or("", |(_, kind)| kind);
    trial(format!("{kind}{name}"), move || {
        let lacks = lacking().iter().filter(|(needed, _)| stage.needs().contains(needed));
        skip_if(lacks.into_iter().find_map(|(_, lacks)| lacks.clone()))?;
        body()
    })
}

// --- what is sampled --------------------------------------------------------------------------------------------------

/// A lookup of a job, by its name, what it looks at, and the sampler whose values it has to give.
type Wanted<'a, 'c> = (&'static str, &'a Texture<'c>, &'a SamplerDesc);

/// What these lookups of a job found, and had to.
fn looks<'c>(wanted: &[Wanted<'_, 'c>], found: Vec<Vec<Value>>) -> Vec<Look> {
    std::iter::zip(wanted, found).map(|((what, texture, legal), found)| texture.look(what, legal, found)).collect()
}

/// One lookup of a job.
trait Looked {
    /// What was found, and the values of `legal`, which it had to be.
    fn look(&self, what: &'static str, legal: &SamplerDesc, got: Vec<Value>) -> Look;
}

impl Looked for Texture<'_> {
    fn look(&self, what: &'static str, legal: &SamplerDesc, got: Vec<Value>) -> Look {
        let scene = self.scene;
        let smooth = legal.mag_filter == vk::Filter::LINEAR || legal.min_filter == vk::Filter::LINEAR;
        if self.context.is_record_only() {
            return Look { what, scene, smooth, got, reference: Vec::new(), driver: Vec::new() };
        }
        let driver = self.through(&legal.create(self.context), &points());
        Look { what, scene, smooth, got, reference: self.wanted(legal, &points()), driver }
    }
}

/// What a shader that adds a salt to its lookups found, without it.
fn unsalted(found: Vec<Value>, salt: u32) -> Vec<Value> {
    let plain = |value| match value {
        Value::Uint(bits) => Value::Uint(bits.map(|bits| bits ^ salt)),
        other => other,
    };
    found.into_iter().map(plain).collect()
}

/// Where every job looks.
fn points() -> Vec<SamplePoint> {
    RGBA8.points(false)
}

const RGBA8: Scene = Scene::RGBA8;

/// What one lookup of a shader gave, and what it had to give.
struct Look {
    what: &'static str,
    scene: Scene,
    smooth: bool,
    got: Vec<Value>,
    /// By the specification.
    reference: Vec<Value>,
    /// By the driver, of one descriptor with the image and the legal sampler.
    driver: Vec<Value>,
}

impl Look {
    fn assert(&self, when: &str) {
        assert_eq!((self.got.len(), self.got.len()), (self.reference.len(), self.driver.len()), "{}", self.what);
        let colour = self.scene.aspect == vk::ImageAspectFlags::COLOR;
        // Depth and stencil define their first component only.
        let components = if colour { 4 } else { 1 };
        let tolerance = if self.smooth { 0.02 } else { 1e-4 };
        for (index, got) in self.got.iter().enumerate() {
            let (got, point) = (&got.components()[..components], points()[index]);
            let (reference, driver) = (self.reference[index].components(), self.driver[index].components());
            let what = format!("{when}, {}: at {point:?}", self.what);
            assert_eq!(got, &driver[..components], "{what}, as of one descriptor with image and legal sampler");
            let is_near = got.iter().zip(reference).all(|(got, wanted)| (got - wanted).abs() <= tolerance);
            assert!(is_near, "{what}: {got:?} is not {reference:?}");
        }
    }
}

// --- descriptors ------------------------------------------------------------------------------------------------------

/// What a program finds in a set.
trait Found<'c> {
    /// In a stage, or a skip where there is none; the kinds of its first and second image.
    fn found(&self, run: (Program, Stage), kinds: [ResultKind; 2]) -> Result<Vec<Vec<Value>>, Skip>;

    /// The same, and what each of its lookups had to find: the first of them of its first image, the last of its second.
    fn looks(&self, run: (Program, Stage), wanted: &[Wanted<'_, 'c>]) -> Result<Vec<Look>, Skip> {
        let [(_, first, _), (_, second, _)] = [wanted[0], wanted[wanted.len() - 1]];
        Ok(looks(wanted, self.found(run, [first.kind(), second.kind()])?))
    }
}

impl<'c> Found<'c> for Held<'c> {
    fn found(&self, (program, stage): (Program, Stage), [a, b]: [ResultKind; 2]) -> Result<Vec<Vec<Value>>, Skip> {
        skip_if(self.context.missing(stage.needs()))?;
        Ok(found(self.context, &Plan::new(program, a, &[&self.layout]).second(b).stage(stage), &[self.set]))
    }
}

/// What a program finds, of a rig of its own.
fn found(context: &Context, plan: &Plan<'_, '_>, sets: &[vk::DescriptorSet]) -> Vec<Vec<Value>> {
    Rig::new(context, plan).found(sets, &points(), 0)
}

/// [`Texture::all`], in an array.
fn textures<const N: usize>(context: &Context, scenes: [Scene; N]) -> Result<[Texture<'_>; N], Skip> {
    let all = Texture::all(context, &scenes)?;
    Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as scenes")))
}

// --- judging ----------------------------------------------------------------------------------------------------------

/// A slot in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    set: u32,
    binding: u32,
    element: u32,
}

const fn place(set: u32, binding: u32, element: u32) -> Place {
    Place { set, binding, element }
}

/// A link that has to get another sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Changed {
    image: Place,
    sampler: Place,
    how: How,
}

/// What one body must come to with samplin.
#[derive(Clone, Debug)]
struct Expected {
    /// The links that get another sampler, in any order; none where that is not to be had.
    changed: Vec<Changed>,
    /// `what` of the only unresolved record, where the layer does not repair this.
    left: &'static str,
}

impl Expected {
    fn one(how: How, image: Place, sampler: Place) -> Self {
        Self { changed: vec![Changed { image, sampler, how: forced(how) }], left: "shared-sampler" }
    }

    fn and(self, how: How, image: Place, sampler: Place) -> Self {
        self.and_just(forced(how), image, sampler)
    }

    /// In this way whatever a test switch says.
    fn and_just(mut self, how: How, image: Place, sampler: Place) -> Self {
        let changed = Changed { image, sampler, how };
        if !self.changed.contains(&changed) {
            self.changed.push(changed);
        }
        self
    }

    fn unresolved(what: &'static str) -> Self {
        Self { changed: Vec::new(), left: what }
    }

    /// Whether the layer does all of it.
    fn is_done(&self) -> bool {
        !self.changed.is_empty() && self.changed.iter().all(|changed| REPAIRED.contains(&changed.how))
    }
}

/// That the link of image 0 and sampler 1 gets another sampler in a copy of its set.
fn shadow() -> Expected {
    Expected::one(How::Shadow, place(0, 0, 0), place(0, 1, 0))
}

/// That the shader reads that sampler from a set of the layer's.
fn split() -> Expected {
    Expected::one(How::Split, place(0, 0, 0), place(0, 1, 0))
}

/// A body that records and executes, and gives back what its lookups found.
type Body<'b> = &'b dyn Fn(&Context) -> Result<Vec<Look>, Skip>;

fn resolve(builder: ContextBuilder) -> ContextBuilder {
    builder.setting("augment", "off")
}

/// Runs a body with a conflict, see the head of the file. `oracle`: what validation says without samplin.
fn judge(builder: &ContextBuilder, oracle: Oracle, expected: &Expected, body: Body<'_>) -> Outcome {
    let (_, errors) = without_layer(builder.clone().record_only(), body)?;
    oracle.assert(&errors, "without samplin");
    if expected.is_done() {
        let (looks, judged) = silent(resolve(builder.clone()), "with samplin", body)?;
        assert_changed(&judged, &expected.changed);
        looks.iter().for_each(|look| look.assert("with samplin"));
        return Ok(());
    }
    let (_, judged) = with_layer(resolve(builder.clone()).record_only(), body)?;
    oracle.assert(&judged.errors, "with samplin, which does not repair this");
    assert_left(&judged, expected.left);
    Ok(())
}

/// A body that looks at integers through a sampler, and what that has to find.
type Through<'b> = &'b dyn Fn(&Context, &SamplerDesc, &SamplerDesc) -> Result<Vec<Look>, Skip>;

/// [`judge`] with a LINEAR sampler, and with the NEAREST one that is legal.
fn repaired(expected: &Expected, look: Through<'_>) -> Outcome {
    repaired_by(conflicts::uint().oracle, expected, look)
}

/// The same where not every version of validation sees the pair.
fn repaired_unseen(expected: &Expected, look: Through<'_>) -> Outcome {
    repaired_by(conflicts::uint().oracle.where_seen(), expected, look)
}

fn repaired_by(oracle: Oracle, expected: &Expected, look: Through<'_>) -> Outcome {
    let (linear, nearest, builder) = (linear(), nearest(), Context::builder());
    judge(&builder, oracle, expected, &|context| look(context, &linear, &nearest))?;
    judge_legal(&builder, &|context| look(context, &nearest, &nearest))
}

/// What is wrong with values that have to be those of a sampler at these points.
fn wrong(
    texture: &Texture<'_>,
    sampler: &SamplerDesc,
    got: &[Value],
    at: &[SamplePoint],
    tolerance: f64,
) -> Option<String> {
    assert_eq!(got.len(), at.len());
    let wanted = texture.wanted(sampler, at);
    let mut far = got.iter().zip(&wanted).zip(at).filter(|((got, wanted), _)| !got.is_near(**wanted, tolerance));
    far.next().map(|((got, wanted), at)| format!("{sampler:?}: {got:?} is not {wanted:?} at {at:?}"))
}

/// Runs a body that says what is wrong with what it saw, silently; the trace is for whoever has to find out why.
fn judged(
    builder: ContextBuilder,
    body: impl FnOnce(&Context) -> Result<Vec<Option<String>>, Skip>,
) -> Result<Judged, Skip> {
    let (wrong, judged) = with_layer(resolve(builder), body)?;
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:#?} with {:#?}", judged.trace);
    judged.assert_silent("what was right");
    Ok(judged)
}

/// Runs a body without samplin and with it, to the same end.
fn alike<R: PartialEq + std::fmt::Debug>(
    builder: ContextBuilder,
    body: impl Fn(&Context) -> Result<R, Skip>,
) -> Result<Judged, Skip> {
    let (before, _) = without_layer(Context::builder(), &body)?;
    let (after, judged) = with_layer(resolve(builder), &body)?;
    assert_eq!(after, before);
    Ok(judged)
}

/// Runs a body in which all is legal.
fn judge_legal(builder: &ContextBuilder, body: Body<'_>) -> Outcome {
    let (looks, judged) = silent(resolve(builder.clone()), "what is legal", body)?;
    looks.iter().for_each(|look| look.assert("what is legal"));
    judged.assert_untouched("what is legal");
    Ok(())
}

/// The only unresolved record says `what`, and nothing was changed.
fn assert_left(judged: &Judged, what: &str) {
    assert_eq!(judged.left(), [what], "{:#?}", judged.trace);
    assert_eq!(judged.trace.events("pair").count(), 0, "{:#?}", judged.trace);
}

/// The pair records that a shader's link led to.
fn draws(judged: &Judged) -> Vec<&Json> {
    judged.trace.events("pair").filter(|record| record["path"] == "draw").collect()
}

fn assert_changed(judged: &Judged, expected: &[Changed]) {
    judged.assert_resolved();
    let records = draws(judged);
    assert_eq!(records.len(), judged.trace.events("pair").count(), "pairs of shaders only: {:#?}", judged.trace);
    let place = |slot: &Json| {
        let number = |key: &str| slot[key].as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
        Place { set: number("set"), binding: number("binding"), element: number("element") }
    };
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    for record in &records {
        let link = &record["link"];
        let how = expected.iter().map(|changed| changed.how).find(|how| record["how"] == how.word());
        let place_of = |name: &str| place(&link[name]);
        let same = |changed: &&Changed| (changed.image, changed.sampler) == (place_of("image"), place_of("sampler"));
        let is_forced = switch::is_table() && record["how"] == How::Table.word();
        let how = how.or_else(|| expected.iter().find(same).filter(|_| is_forced).map(|changed| changed.how));
        let how = how.unwrap_or_else(|| panic!("none of {expected:#?} is done like this: {record:#}"));
        let changed = Changed { image: place(&link["image"]), sampler: place(&link["sampler"]), how };
        assert!(told.insert(format!("{} {changed:?}", record["pipeline"])), "told before: {record:#}");
        if !found.contains(&changed) {
            found.push(changed);
        }
        assert!(record["variant"].is_string(), "another sampler: {record:#}");
        assert!(!samplin_testkit::trace::changes(record).is_empty(), "{record:#}");
    }
    let key = |changed: &Changed| format!("{changed:?}");
    found.sort_by_key(key);
    let mut wanted = expected.to_vec();
    wanted.sort_by_key(key);
    assert_eq!(found, wanted, "links in the trace on the left: {records:#?}");
}

fn main() -> std::process::ExitCode {
    let trials = [
        matrix::trials(),
        meet::trials(),
        shared::trials(),
        programs::trials(),
        reads::trials(),
        sequences::trials(),
        sets::trials(),
        arrays::trials(),
        tables::trials(),
        looked_up::trials(),
        modes::trials(),
        draws::trials(),
        clamp::trials(),
        compare::trials(),
        filter::trials(),
        exact::trials(),
        fetch::trials(),
        immutable::trials(),
        engine::trials(),
        lifetime::trials(),
        texels::trials(),
        wishes::trials(),
        random::trials(),
    ];
    samplin_suite::forked::main(trials.into_iter().flatten().collect())
}
