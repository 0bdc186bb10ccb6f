//! Damaged modules: what a pass makes of one that spirv-val takes, spirv-val takes too.

use samplin_spirv::passes::{Step, run};
use samplin_spirv::scan::scan;
use samplin_spirv::{Module, atomic_counters, image_access};

use crate::corpus::{instructions, validate};

/// The seeds of a fuzz target.
fn seeds(target: &str) -> Vec<Vec<u32>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("seeds").map(|it| it.expect("an entry").path()).collect();
    files.sort();
    let words = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    files.iter().map(|file| words(std::fs::read(file).expect("a seed"))).collect()
}

/// A change that often leaves a module valid: an instruction less, twice or elsewhere, or another word in one.
fn damage(words: &[u32], random: &mut impl FnMut(usize) -> usize) -> Vec<u32> {
    let mut all: Vec<Vec<u32>> = instructions(words).into_iter().map(<[u32]>::to_vec).collect();
    for _ in 0..=random(2) {
        let at = random(all.len());
        match random(6) {
            0 => _ = all.remove(at),
            1 => all.insert(at, all[at].clone()),
            2 => {
                let to = (at + 1 + random(3)).min(all.len() - 1);
                all.swap(at, to);
            }
            _ => {
                let (length, other) = (all[at].len(), random(all.len()));
                let word = match random(4) {
                    0 => random(8) as u32,
                    1 => random(words[3] as usize) as u32,
                    2 => 1 << random(12),
                    _ => *all[other].last().expect("a word"),
                };
                if length > 1 {
                    all[at][1 + random(length - 1)] = word;
                }
            }
        }
    }
    [&words[..5], &all.concat()].concat()
}

/// Damages seeds until `valid` of those that the step rewrites are valid, or there were `most`.
fn survive(target: &str, step: Step<'static>, environment: &str, (valid, most): (usize, usize)) {
    // SplitMix64: the same inputs in every run.
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % below.max(1)
    };
    let seeds = seeds(target);
    let (mut rewritten, mut accepted, mut inputs) = (0, 0, 0);
    for seed in &seeds {
        let outcome = run(seed, scan(seed), [step].iter()).expect("an outcome");
        let new = outcome.words.unwrap_or_else(|| panic!("{target}: {:?}", outcome.refusals));
        validate(&new, "vulkan1.2").unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    while accepted < valid && inputs < most {
        let words = damage(&seeds[random(seeds.len())], &mut random);
        inputs += 1;
        let outcome = run(&words, scan(&words), [step].iter()).expect("an outcome");
        let Some(new) = outcome.words else { continue };
        rewritten += 1;
        Module::read(&new).expect("what was made can be read");
        let again = run(&new, scan(&new), [step].iter()).expect("an outcome");
        assert_eq!((again.words, again.changes), (None, Vec::new()), "{target}: a second run finds something");
        // Most are not valid; asking takes a process, so a few hundred have to do.
        if validate(&words, environment).is_err() {
            continue;
        }
        accepted += 1;
        if let Err(error) = validate(&new, environment) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let file = std::env::temp_dir().join(format!("samplin-spirv-mutant-{target}.spv"));
            std::fs::write(&file, bytes).expect("writes a file");
            panic!("{target}: {} becomes invalid: {error}", file.display());
        }
    }
    println!("{target}: {inputs} inputs, {rewritten} rewritten, {accepted} valid before and after");
    assert!(accepted > 0);
}

#[test]
fn what_was_valid_stays_valid() {
    let vulkan = "vulkan1.2";
    let device = image_access::Options { read: false, write: true, may_declare: false, relax: true };
    let counters = atomic_counters::Options { draw_parameters: true, ..Default::default() };
    let limits = (100, 4000);
    // What is damaged in a module for OpenGL may be allowed there and not by Vulkan: both have to be SPIR-V.
    survive("atomic_counters", Step::AtomicCounters(counters), "spv1.0", limits);
    survive("image_access", Step::ImageAccess(device), vulkan, limits);
    survive("sample_builtins", Step::SampleBuiltins, vulkan, limits);
    survive("sample_inputs", Step::SampleInputs("main"), vulkan, limits);
}
