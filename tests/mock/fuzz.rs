//! Random calls from a seed: valid ones against a model ([`application`]), and ones that break rules where a layer must survive
//! it ([`edges`]).
//!
//! `API_FUZZ_SEQUENCES` is the number of sequences of each kind, `API_FUZZ_FIRST` the first seed. A failure names its seed and what
//! was done; `API_FUZZ_FIRST=<seed> API_FUZZ_SEQUENCES=1` does it again. Seeds that failed once are kept in
//! `tests/data/api-seeds.txt` and run every time. (The names do not start as the layer's own settings do: those may not be set
//! while these tests run.)

mod application;
mod chain;
mod edges;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use application::{Application, Tally};

/// Calls of the application in one sequence.
const STEPS: u64 = 60;

pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// Runs `body` for each seed, and says which it was when it fails.
pub(crate) fn for_seeds(otherwise: u64, mut body: impl FnMut(u64)) -> u64 {
    let (first, count) = (number("API_FUZZ_FIRST", 1), number("API_FUZZ_SEQUENCES", otherwise));
    let mut failed = Vec::new();
    for seed in first..first + count {
        if catch_unwind(AssertUnwindSafe(|| body(seed))).is_err() {
            eprintln!("seed {seed} failed");
            failed.push(seed);
        }
        if failed.len() == 5 {
            break;
        }
    }
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
    count
}

/// Says what was done where `body` panics.
pub(crate) fn with_log<T>(log: &[String], body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        log.iter().for_each(|line| eprintln!("{line}"));
        resume_unwind(panic)
    })
}

/// One step of an application that keeps a log, which is said where the step panics.
pub(crate) fn step_with_log<A>(application: &mut A, step: fn(&mut A), log: fn(&A) -> &[String]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(application))) {
        with_log(log(application), || resume_unwind(panic))
    }
}

/// Counts of what a run was about, which add up.
macro_rules! tally {
    ($($(#[$doc:meta])* $name:ident)+) => {
        /// What came of the sequences, to see that they are about something.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Tally { $($(#[$doc])* pub(crate) $name: u64,)+ }

        impl std::ops::AddAssign for Tally {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)+
            }
        }
    };
}
pub(crate) use tally;

/// One sequence of valid calls.
fn sequence(seed: u64) -> Tally {
    let mut application = Application::new(seed);
    for _ in 0..STEPS {
        step_with_log(&mut application, Application::step, |application| &application.log);
    }
    with_log(&application.log.clone(), || application.finish())
}

#[test]
fn valid_calls_arrive_as_the_model_says() {
    let start = Instant::now();
    let mut tally = Tally::default();
    let count = for_seeds(3000, |seed| tally += sequence(seed));
    println!("{count} sequences in {} s: {tally:?}", start.elapsed().as_secs());
    if count >= 1000 {
        // Otherwise the drawing has gone lame.
        assert!(tally.pairs > count * 8 && tally.repaired > tally.pairs / 20 && tally.repaired < tally.pairs);
        assert!(tally.kept_while_alive > count * 3 && tally.changed_at_creation > count && tally.blits > count);
    }
}

#[test]
fn calls_that_break_rules_are_survived() {
    let start = Instant::now();
    let mut calls = 0;
    let count = for_seeds(1000, |seed| calls += edges::sequence(seed));
    println!("{count} sequences in {} s: {calls} calls", start.elapsed().as_secs());
}

#[test]
fn seeds_that_failed_once() {
    let file = include_str!("../data/api-seeds.txt");
    let mut seen = 0;
    for line in file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (kind, seed) = (words.next().expect("a kind"), words.next().expect("a seed"));
        let seed = seed.parse().expect("a seed is a number");
        println!("{line}");
        match kind {
            "valid" => _ = sequence(seed),
            "edges" => _ = edges::sequence(seed),
            "separate" => _ = crate::separate::sequence(seed),
            other => panic!("{other} is no kind of sequence"),
        }
        seen += 1;
    }
    println!("{seen} seeds");
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * crate::pages::page() as u64
}

/// Everything is created and destroyed over and over, for `API_SOAK_SECONDS`, on devices that come and go and on one that stays; what
/// was done in the first third warms up caches, and after that memory has to stay flat.
#[test]
fn memory_stays_flat() {
    const ALLOWED: u64 = 1 << 20;
    let seconds = number("API_SOAK_SECONDS", 6);
    let start = Instant::now();
    let (mut seed, mut before, mut peak, mut warm) = (0, 0, 0, 0);
    let mut endless = crate::separate::Endless::new();
    while start.elapsed() < Duration::from_secs(seconds) {
        // The same sequences again and again, few enough that a third of the time has room for all.
        seed = seed % 250 + 1;
        sequence(seed);
        crate::separate::sequence(seed);
        (0..20).for_each(|_| endless.go_on());
        if before == 0 {
            warm += 1;
            if start.elapsed() > Duration::from_secs(seconds) / 3 {
                before = resident();
            }
        } else {
            peak = peak.max(resident());
            warm += 1;
        }
    }
    let (after, grown) = (resident(), resident().saturating_sub(before));
    println!(
        "{warm} devices in {seconds} s: {before} bytes after a third, {after} at the end, {peak} at most, grown by {grown}"
    );
    assert!(endless.finish() > 0, "nothing was drawn");
    assert!(grown < ALLOWED, "memory grew from {before} to {after} bytes");
}
