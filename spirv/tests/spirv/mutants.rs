//! Damaged modules: what a pass makes of one that spirv-val takes, spirv-val takes too.

use samplin_spirv::passes::{Step, run};
use samplin_spirv::sampling::{Keys, Limits, Passes, Slot, sampling};
use samplin_spirv::scan::scan;
use samplin_spirv::{Link, Module, atomic_counters, image_access, image_formats};

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

/// Damages seeds until `valid` of those for which `made` makes new words are valid, or there were `most`.
fn survive(target: &str, made: impl Fn(&[u32]) -> Option<Vec<u32>>, environment: &str, (valid, most): (usize, usize)) {
    // SplitMix64: the same inputs in every run.
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    };
    let seeds = seeds(target);
    let (mut rewritten, mut accepted, mut inputs) = (0, 0, 0);
    for seed in &seeds {
        let new = made(seed).unwrap_or_else(|| panic!("{target}: a seed is left alone"));
        validate(&new, "vulkan1.2").unwrap_or_else(|error| panic!("{target}: {error}"));
    }
    while accepted < valid && inputs < most {
        let words = damage(&seeds[random(seeds.len())], &mut random);
        inputs += 1;
        let Some(new) = made(&words) else { continue };
        rewritten += 1;
        let bound = Module::read(&new).expect("what was made can be read").bound();
        // What the words name without defining it is defined by accident then.
        let names = words[5..].iter().any(|word| (words[3]..bound).contains(word));
        assert!(names || made(&new).is_none(), "{target}: a second run finds something");
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
    let step =
        |step: Step<'static>| move |words: &[u32]| run(words, scan(words), [step].iter()).expect("an outcome").words;
    // What is damaged in a module for OpenGL may be allowed there and not by Vulkan: both have to be SPIR-V.
    survive("atomic_counters", step(Step::AtomicCounters(counters)), "spv1.0", limits);
    survive("image_access", step(Step::ImageAccess(device)), vulkan, limits);
    let formats = image_formats::Options { images: u64::MAX, buffers: u64::MAX };
    survive("image_formats", step(Step::ImageFormats(formats)), vulkan, limits);
    survive("sample_builtins", step(Step::SampleBuiltins), vulkan, limits);
    survive("sample_inputs", step(Step::SampleInputs("main")), vulkan, limits);
}

/// The first entry point with all its links sampled through records; none if nothing is.
fn sampled(words: &[u32]) -> Option<Vec<u32>> {
    let module = Module::read(words).ok()?;
    let entry = module.entry_points().next()?;
    let name = String::from_utf8(entry.name().collect()).ok()?;
    let links = module.links(&name, entry.model(), None).ok()?;
    let (fetch, compare) = (words.len().is_multiple_of(2), words.len().is_multiple_of(3));
    let divide = words.len() % 5 < 3;
    let passes =
        Passes { saturate: true, filter: true, fetch, divide, compare, must_compare: false, own_sampler: false };
    let slot = |link: &Link| Some(Slot { image: link.image?, sampler: link.sampler?, first: 0, passes, row: 1 });
    let slots: Vec<Slot> = links.iter().filter_map(slot).collect();
    let keys = Keys::Block { set: 7, binding: 0, count: 64 };
    let limits = Limits { lod_bias: 16.0 };
    let sampled = sampling(&module, &name, entry.model(), None, keys, &slots, limits).ok()?;
    (sampled.changed > 0).then_some(sampled.words)
}

#[test]
fn what_was_valid_stays_valid_with_records() {
    survive("sampling", sampled, "vulkan1.2", (100, 4000));
}

/// The first entry point with all its links sampled through the pool; none if there are none, or one cannot be.
fn selected(words: &[u32]) -> Option<Vec<u32>> {
    use samplin_spirv::select::{Length, Lookup, Part, PoolAt, select};
    const HIDDEN: u32 = 7;
    let module = Module::read(words).ok()?;
    let entry = module.entry_points().next()?;
    let name = String::from_utf8(entry.name().collect()).ok()?;
    let links = module.links(&name, entry.model(), None).ok()?;
    let length = if words.len().is_multiple_of(2) { Length::Rest } else { Length::Fixed(100) };
    let lookup = |binding| Lookup { binding, first: 3 * binding, length };
    let part = |link: &Link| {
        let (image, sampler) = (link.image?, link.sampler?);
        let is_own = link.uses.samples() && image != sampler && sampler.set != HIDDEN;
        is_own.then_some(Part { image, sampler, column: lookup(0), row: lookup(1) })
    };
    let parts: Vec<Part> = links.iter().filter_map(part).collect();
    let place = PoolAt { set: HIDDEN, matrix: 2, pool: 3, count: 16 };
    (!parts.is_empty()).then(|| select(&module, &name, entry.model(), None, &place, &parts).ok())?
}

#[test]
fn what_was_valid_stays_valid_with_a_pool() {
    survive("select", selected, "vulkan1.2", (100, 4000));
}
