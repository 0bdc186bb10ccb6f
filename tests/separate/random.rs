//! Random programs from a seed, on a real driver with the validation layer below samplin.
//!
//! A program binds pipelines, sets, pushed descriptors, push constants and states in any order, in primary and secondary command buffers;
//! it updates, copies, frees and makes again what it binds, and submits more than once. A third of its draws or more join images and samplers
//! that may not be joined. What each draw has to find is worked out by [`model`], from the specification alone: push constants,
//! buffers with their offsets, pixels, and the texels of each link.
//!
//! `API_FUZZ_DEVICE_PROGRAMS` is the number of programs (default 200), `API_FUZZ_FIRST` the first seed. A failure names its seed and what
//! is left of the program when all is dropped that it fails without; `API_FUZZ_FIRST=<seed> API_FUZZ_DEVICE_PROGRAMS=1` does it again.
//! With `API_FUZZ_LOUD` each call is written to standard error before it is made, for a program that ends its process.

mod catalog;
mod machine;
mod model;
mod world;

use crate::*;
use fastrand::Rng;
use machine::Program as Run;
use std::time::Instant;
use world::World;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("random/programs", programs),
        trial("random/without-samplin", without),
        trial("random/legal-without-samplin", legal_without),
    ]
}

/// Programs that share a device; each fourth block has nothing that conflicts.
const BLOCK: u64 = 50;
/// Steps of a program, and of a secondary command buffer.
const STEPS: std::ops::Range<usize> = 20..70;
const INNER: std::ops::Range<usize> = 1..10;

/// A step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Draw,
    Pipeline,
    Sets,
    Words,
    State,
    EndPass,
    Secondary,
    Switch,
    Submit,
    Again,
    Allocate,
    Update,
    Copy,
    Free,
    Reset,
    RemakeSampler,
    RemakeView,
    RemakePipeline,
    RemakeLayout,
    RemakeSetLayout,
}

/// How often each kind is, in proportion.
const KINDS: [(Kind, usize); 20] = [
    (Kind::Draw, 60),
    (Kind::Pipeline, 14),
    (Kind::Sets, 26),
    (Kind::Words, 8),
    (Kind::State, 10),
    (Kind::EndPass, 4),
    (Kind::Secondary, 7),
    (Kind::Switch, 4),
    (Kind::Submit, 18),
    (Kind::Again, 6),
    (Kind::Allocate, 5),
    (Kind::Update, 18),
    (Kind::Copy, 14),
    (Kind::Free, 4),
    (Kind::Reset, 2),
    (Kind::RemakeSampler, 6),
    (Kind::RemakeView, 6),
    (Kind::RemakePipeline, 1),
    (Kind::RemakeLayout, 3),
    (Kind::RemakeSetLayout, 3),
];

/// A step: what it does follows from its seed and from what there is.
#[derive(Clone, Debug)]
struct Op {
    kind: Kind,
    seed: u64,
    /// What a secondary command buffer records.
    inner: Vec<Op>,
}

fn op(random: &mut Rng, is_inner: bool) -> Op {
    let total = KINDS.iter().map(|(_, weight)| weight).sum();
    let mut at = random.usize(0..total);
    let mut kinds = KINDS.iter();
    let kind = loop {
        let (kind, weight) = kinds.next().expect("the weights have this sum");
        if at < *weight {
            break *kind;
        }
        at -= weight;
    };
    let inner = match kind {
        Kind::Secondary if !is_inner => (0..random.usize(INNER)).map(|_| op(random, true)).collect(),
        _ => Vec::new(),
    };
    Op { kind, seed: random.u64(..), inner }
}

fn stream(seed: u64) -> Vec<Op> {
    let mut random = Rng::with_seed(seed);
    (0..random.usize(STEPS)).map(|_| op(&mut random, false)).collect()
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// What programs did.
#[derive(Debug, Default)]
struct Tally {
    draws: usize,
    conflicts: usize,
}

/// A program that failed.
struct Failure {
    what: String,
    log: Vec<String>,
}

/// Runs a program in a world, and gives back what validation says where nothing is executed.
fn run(world: &mut World<'_>, seed: u64, ops: &[Op], tally: &mut Tally) -> Result<Vec<Message>, Failure> {
    let is_judged = !world.context.is_record_only();
    if std::env::var_os("API_FUZZ_LOUD").is_some() {
        eprintln!("program {seed}");
    }
    let mut program = Run::new(world, &mut Rng::with_seed(seed));
    let mut result = program.run(ops);
    (tally.draws, tally.conflicts) = (tally.draws + program.draws, tally.conflicts + program.conflicts);
    let (log, errors) = (std::mem::take(&mut program.log), std::mem::take(&mut program.errors));
    if is_judged && let (Ok(()), Some(first)) = (&result, errors.first()) {
        result = Err(format!("validation: {}", first.text));
    }
    result.map(|()| errors).map_err(|what| Failure { what, log })
}

/// Runs a program on a device of its own.
fn run_alone(seed: u64, ops: &[Op]) -> Result<Option<Failure>, Skip> {
    let (failure, _) = with_layer(resolve(Context::builder()), |context| {
        let mut world = World::new(context, seed / BLOCK)?;
        Ok(run(&mut world, seed, ops, &mut Tally::default()).err())
    })?;
    Ok(failure)
}

/// What is left of a program when all is dropped that it fails without.
fn shrink(seed: u64) -> Result<Option<(Vec<Op>, Failure)>, Skip> {
    let mut ops = stream(seed);
    let Some(mut failure) = run_alone(seed, &ops)? else { return Ok(None) };
    // Where it takes longer it is short enough.
    let started = Instant::now();
    let mut part = ops.len() / 2;
    while part > 0 {
        let mut first = 0;
        while first < ops.len() && started.elapsed().as_secs() < 120 {
            let mut fewer = ops.clone();
            fewer.drain(first..(first + part).min(ops.len()));
            match run_alone(seed, &fewer)? {
                Some(other) => (ops, failure) = (fewer, other),
                None => first += part,
            }
        }
        part /= 2;
    }
    for at in 0..ops.len() {
        let mut inner = 0;
        while inner < ops[at].inner.len() && started.elapsed().as_secs() < 120 {
            let mut fewer = ops.clone();
            fewer[at].inner.remove(inner);
            match run_alone(seed, &fewer)? {
                Some(other) => (ops, failure) = (fewer, other),
                None => inner += 1,
            }
        }
    }
    Ok(Some((ops, failure)))
}

fn fail(seed: u64, failure: &Failure) -> Outcome {
    let Failure { what, log } = failure;
    match shrink(seed)? {
        Some((ops, Failure { what, log })) => {
            let count = ops.len();
            panic!("seed {seed}, {count} steps of which none can be dropped:\n{}\n{what}", log.join("\n"))
        }
        None => {
            let first = seed / BLOCK * BLOCK;
            panic!("seed {seed}, only after others from seed {first} on:\n{}\n{what}", log.join("\n"))
        }
    }
}

fn programs() -> Outcome {
    let (first, count) = (number("API_FUZZ_FIRST", 0), number("API_FUZZ_DEVICE_PROGRAMS", 4 * BLOCK));
    let started = Instant::now();
    let (mut tally, mut repaired, mut seed) = (Tally::default(), 0, first);
    while seed < first + count {
        let last = (first + count).min((seed / BLOCK + 1) * BLOCK);
        // Where a process ends in a program, this says in which.
        println!("programs {seed} to {}, {} s", last - 1, started.elapsed().as_secs());
        let (failed, judged) = with_layer(resolve(Context::builder()), |context| {
            let mut world = World::new(context, seed / BLOCK)?;
            Ok((seed..last).find_map(|seed| {
                let failure = run(&mut world, seed, &stream(seed), &mut tally).err()?;
                Some((seed, failure))
            }))
        })?;
        if let Some((seed, failure)) = failed {
            return fail(seed, &failure);
        }
        judged.assert_silent("random programs");
        if (seed / BLOCK) % 4 == 3 {
            judged.assert_untouched("programs in which all is legal");
        }
        // The first conflict of a pipeline may come after its bind.
        let unresolved = judged.trace.events("unresolved").filter(|record| record["what"] != "update-after-bind");
        let unresolved: Vec<_> = unresolved.collect();
        assert!(unresolved.is_empty(), "programs {seed} to {}: {unresolved:#?}", last - 1);
        repaired += judged.trace.events("pair").count();
        seed = last;
    }
    println!("{count} programs, {tally:?}, {repaired} pairs repaired, {} s", started.elapsed().as_secs());
    if count >= 4 * BLOCK {
        assert!(tally.draws > count as usize * 5 && tally.conflicts > count as usize && repaired > 50, "{tally:?}");
    }
    Ok(())
}

/// Runs a block without samplin, and gives back what validation says.
fn run_without(builder: ContextBuilder, block: u64) -> Result<Vec<Message>, Skip> {
    let (said, errors) = without_layer(builder, |context| {
        let (mut world, mut said) = (World::new(context, block)?, Vec::new());
        for seed in block * BLOCK..(block + 1) * BLOCK {
            match run(&mut world, seed, &stream(seed), &mut Tally::default()) {
                Ok(messages) => said.extend(messages),
                Err(Failure { what, log }) => panic!("without samplin, seed {seed}:\n{}\n{what}", log.join("\n")),
            }
        }
        Ok(said)
    })?;
    run::assert_silent(&errors, "the end of programs without samplin");
    Ok(said)
}

/// Without samplin validation has nothing against the programs but the pairs that conflict. Nothing is executed.
fn without() -> Outcome {
    let errors = run_without(Context::builder().record_only(), number("API_FUZZ_FIRST", 0) / BLOCK)?;
    conflicts::uint().oracle.assert(&errors, "random programs without samplin");
    Ok(())
}

/// Programs in which nothing conflicts find without samplin what the model says.
fn legal_without() -> Outcome {
    let errors = run_without(Context::builder(), 3)?;
    run::assert_silent(&errors, "legal programs without samplin");
    Ok(())
}
