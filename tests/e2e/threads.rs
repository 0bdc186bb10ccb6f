//! Many threads at once: writes to sets of their own while samplers and views come and go and their handles come again.

use crate::run::{self, Outcome, Skip, silent, trial};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, Op};
use samplin_testkit::{Context, Image, Pair, Probe, Sampler, SamplerDesc, Trace, Value};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        // The validation layer wraps handles, so that none comes twice; without it the driver's own do.
        trial("threads/above-validation", above_validation),
        trial("threads/with-the-drivers-own-handles", own_handles),
    ]
}

const UINT: Scene = Scene::colour(vk::Format::R32_UINT).flat();
const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM).flat();

/// Threads that write to sets of their own.
const WRITERS: u64 = 8;
/// Rounds of each.
const ROUNDS: u64 = 2000;
/// Threads that create samplers, write them once and destroy them.
const SAMPLER_CHURNERS: u64 = 2;
/// Threads that create views, write them once and destroy them.
const VIEW_CHURNERS: u64 = 2;
/// Rounds of both.
const CHURNS: u64 = 5000;

/// Some states, legal with every colour that can be filtered, illegal with integers.
fn state(index: u64) -> SamplerDesc {
    let desc = match index % 3 {
        0 => SamplerDesc::linear(),
        1 => SamplerDesc::trilinear(),
        _ => SamplerDesc { min_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() },
    };
    desc.lod(0.0, (index % 4) as f32)
}

/// What all threads count together.
#[derive(Default)]
struct Counts {
    seen: AtomicU64,
    rewritten: AtomicU64,
}

impl Counts {
    fn add(&self, seen: u64, rewritten: u64) {
        self.seen.fetch_add(seen, Ordering::Relaxed);
        self.rewritten.fetch_add(rewritten, Ordering::Relaxed);
    }
}

/// One thread's images, set and layout.
struct Own<'c> {
    numbers: Image<'c>,
    colours: Image<'c>,
    layout: SetLayout<'c>,
    pool: Pool<'c>,
    set: vk::DescriptorSet,
}

impl<'c> Own<'c> {
    fn new(context: &'c Context) -> Result<Self, Skip> {
        let layout = SetLayout::new(context, &[Binding::combined(0, 1), Binding::combined(1, 1)]);
        let (pool, set) = Pool::set(context, &layout);
        Ok(Self { numbers: UINT.image(context)?, colours: RGBA8.image(context)?, layout, pool, set })
    }

    /// What binding 0, the integers, shows.
    fn look(&self, context: &Context, pair: Pair<'_, '_>) -> Vec<Value> {
        let access = Access::Single { binding: 0 };
        let probe = Probe::new(context, &self.layout, Op::Sample, pair.shape, pair.kind, access);
        probe.run(&Bind::Set(self.set), &UINT.points(false))
    }
}

/// Writes pairs of shared and own samplers with two views; looks at the result now and then.
fn writer(context: &Context, shared: &[Sampler<'_>], number: u64, counts: &Counts) -> Outcome {
    let own = Own::new(context)?;
    let (numbers, colours) = (UINT.view(&own.numbers), RGBA8.view(&own.colours));
    let nearest = SamplerDesc::nearest().create(context);
    // Both bindings: llvmpipe 22.3 also reads those that no shader uses.
    write_combined(context, own.set, (0, 0), &[Pair::new(&numbers, &nearest), Pair::new(&colours, &nearest)]);
    counts.add(2, 0);
    let wanted = own.look(context, Pair::new(&numbers, &nearest));
    for round in 0..ROUNDS {
        let mine = state(number + round).create(context);
        let sampler = if round % 3 == 0 { &mine } else { &shared[(number + round) as usize % shared.len()] };
        let pairs = [Pair::new(&numbers, sampler), Pair::new(&colours, sampler)];
        write_combined(context, own.set, (0, 0), &pairs);
        counts.add(2, 1);
        if round % 100 == 99 {
            assert_eq!(own.look(context, pairs[0]), wanted, "thread {number}, round {round}");
        }
        // The set still names `mine` when it goes, and is not used before it is written again.
    }
    assert_ne!(own.pool.handle(), vk::DescriptorPool::null());
    Ok(())
}

/// Samplers that live for one write.
fn churn_samplers(context: &Context, number: u64, counts: &Counts) -> Outcome {
    let own = Own::new(context)?;
    let numbers = UINT.view(&own.numbers);
    for round in 0..CHURNS {
        let sampler = state(number * 7 + round).named("short-lived").create(context);
        if round % 2 == 0 {
            write_combined(context, own.set, (0, 0), &[Pair::new(&numbers, &sampler)]);
            counts.add(1, 1);
        }
    }
    Ok(())
}

/// Views that live for one write, illegal and legal ones in turns, so that a handle changes what it stands for.
fn churn_views(context: &Context, shared: &[Sampler<'_>], number: u64, counts: &Counts) -> Outcome {
    let own = Own::new(context)?;
    for round in 0..CHURNS {
        let sampler = &shared[(number + round) as usize % shared.len()];
        if round % 2 == 0 {
            let view = UINT.view(&own.numbers);
            write_combined(context, own.set, (0, 0), &[Pair::new(&view, sampler)]);
            counts.add(1, 1);
        } else {
            let view = RGBA8.view(&own.colours);
            write_combined(context, own.set, (1, 0), &[Pair::new(&view, sampler)]);
            counts.add(1, 0);
        }
    }
    Ok(())
}

/// Runs all threads to their end.
fn storm(context: &Context, counts: &Counts) -> Outcome {
    // Whether the device can do this at all is found out before there are threads.
    drop(Own::new(context)?);
    let shared: Vec<_> = (0..4).map(|index| state(index).create(context)).collect();
    let shared = shared.as_slice();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..WRITERS {
            threads.push(scope.spawn(move || writer(context, shared, number, counts)));
        }
        for number in 0..SAMPLER_CHURNERS {
            threads.push(scope.spawn(move || churn_samplers(context, number, counts)));
        }
        for number in 0..VIEW_CHURNERS {
            threads.push(scope.spawn(move || churn_views(context, shared, number, counts)));
        }
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread"))
    })
}

/// The counts of the layer are those of the threads, and nothing is left over.
fn assert_counts(trace: &Trace, counts: &Counts) {
    let summary = trace.events("summary").find(|record| record["scope"] == "device").expect("a summary");
    let (seen, rewritten) = (counts.seen.load(Ordering::Relaxed), counts.rewritten.load(Ordering::Relaxed));
    assert_eq!(summary["writes"]["update"], json!({"seen": seen, "rewritten": rewritten}), "{summary:#}");
    assert_eq!(summary["variants"]["live"], 0, "{summary:#}");
    assert_eq!(summary["samplers"]["live"], 0, "{summary:#}");
    assert_eq!(summary["views"]["live"], 0, "{summary:#}");
    assert_eq!(summary["census"]["unique_states"]["live"], 0, "{summary:#}");
    assert_eq!(summary["passed_through"], false, "{summary:#}");
    assert_eq!(summary["dropped"], 0, "{summary:#}");
    assert_eq!(trace.events("unresolved").count(), 0);
    for record in trace.events("pair") {
        assert_eq!(record["format"], "VK_FORMAT_R32_UINT", "{record:#}");
        assert!(record["variant"].is_string(), "{record:#}");
    }
}

fn above_validation() -> Outcome {
    let counts = Counts::default();
    let ((), judged) = silent(Context::builder(), "with samplin", |context| storm(context, &counts))?;
    assert_counts(&judged.trace, &counts);
    Ok(())
}

fn own_handles() -> Outcome {
    let counts = Counts::default();
    let ((), trace) = run::alone(Context::builder(), |context| storm(context, &counts))?;
    assert_counts(&trace, &counts);
    Ok(())
}
