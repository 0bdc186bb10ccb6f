//! The passes together: their order, what they say, and that the order changes nothing.

use samplin_spirv::passes::{ModuleOptions, Outcome, Pass, Sampling, Step, Why, for_module, for_pipeline, run};
use samplin_spirv::scan::{Scan, scan};
use samplin_spirv::{Error, Module, atomic_counters, image_access, image_formats};
use spirv::{BuiltIn, Decoration, Op};

use crate::corpus::{glsl, glsl_with, having, meaning, shaders, validate};

const IMAGES: image_access::Options =
    image_access::Options { read: false, write: true, may_declare: false, relax: true };
const COUNTERS: atomic_counters::Options =
    atomic_counters::Options { target: atomic_counters::Target::Auto, draw_parameters: true, storage_buffers: 0 };

const FORMATS: image_formats::Options = image_formats::Options { images: 1 << 15, buffers: 0 };

const OPTIONS: ModuleOptions = ModuleOptions {
    images: Some(IMAGES),
    counters: Some(COUNTERS),
    formats: FORMATS,
    without_samples: false,
    mask_words: 1,
};

/// A fragment shader in which every pass finds something: from OpenGL, with counters, per sample, with an image that is declared as
/// a compiler of HLSL would, and a capability for nothing.
pub(crate) fn everything() -> Vec<u32> {
    everything_with(&[])
}

/// The same with further options of the compiler.
pub(crate) fn everything_with(options: &[&str]) -> Vec<u32> {
    let mut words = glsl_with(
        "frag",
        "opengl",
        "#version 460\nlayout(binding = 0, offset = 4) uniform atomic_uint a;\nlayout(binding = 3) uniform atomic_uint b[2];\n\
         layout(binding = 1, rgba32f) uniform image2D written;\nlayout(binding = 2) writeonly uniform image2D formatless;\n\
         layout(binding = 4, r8) uniform image2D lowered;\n\
         layout(location = 0) in vec4 plain;\nlayout(location = 1) sample in vec4 sampled;\nlayout(location = 0) out vec4 o;\n\
         uint bump(atomic_uint c) { return atomicCounterIncrement(c); }\n\
         void main() { uint n = bump(a) + atomicCounterIncrement(b[1]); memoryBarrier(); imageStore(written, ivec2(0), vec4(gl_SamplePosition, n, 1.0));\n\
         imageStore(formatless, ivec2(0), imageLoad(lowered, ivec2(1))); o = plain + sampled + interpolateAtCentroid(plain) + float(gl_SampleID);\n\
         gl_SampleMask[0] = 1 << gl_SampleID; }\n",
        options,
    );
    lengthen_mask(&mut words);
    words[2] = 14 << 16;
    words.splice(5..5, [2 << 16 | 17, 55]);
    words
}

/// Gives the sample mask two words, as sources may and compilers here refuse: the length of the counters' array.
fn lengthen_mask(words: &mut [u32]) {
    let (mask, counters) = {
        let module = Module::read(words).expect("a module");
        let array_of = |variable: u32| {
            let pointer = module.definition(variable).and_then(|it| module.definition(it.word(1))).expect("a pointer");
            module.definition(pointer.word(3)).expect("a type").words
        };
        let decorated = |decoration: &[u32]| {
            having(words, Op::Decorate)
                .into_iter()
                .filter(|it| it[2..] == *decoration)
                .map(|it| it[1])
                .collect::<Vec<_>>()
        };
        let mask = decorated(&[Decoration::BuiltIn as u32, BuiltIn::SampleMask as u32]);
        let counters = decorated(&[Decoration::Binding as u32, 3]);
        (array_of(mask[0])[1], array_of(counters[0])[3])
    };
    let mut at = 5;
    while words[at] & 0xffff != Op::TypeArray as u32 || words[at + 1] != mask {
        at += (words[at] >> 16) as usize;
    }
    words[at + 3] = counters;
}

fn steps() -> [Step<'static>; 4] {
    [Step::ImageAccess(IMAGES), Step::AtomicCounters(COUNTERS), Step::ImageFormats(FORMATS), Step::SampleBuiltins]
}

/// The mask of the shader has two words.
const MASK: Step<'static> = Step::SampleMask(1);

/// All orders of what is in a list.
fn orders<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    if all.is_empty() {
        return vec![Vec::new()];
    }
    let without = |at: usize| [&all[..at], &all[at + 1..]].concat();
    (0..all.len())
        .flat_map(|at| orders(&without(at)).into_iter().map(move |rest| (at, rest)))
        .map(|(at, rest)| [vec![all[at]], rest].concat())
        .collect()
}

#[test]
fn every_order_comes_to_the_same() {
    let words = everything();
    // Raising and lowering exclude each other: each goes with the others.
    for last in [Step::SampleBuiltins, Step::SampleInputs("main")] {
        let [images, counters, formats, _] = steps();
        let mut first = None;
        for order in orders(&[images, counters, formats, last, MASK]) {
            let outcome = run(&words, scan(&words), order.iter()).expect("an outcome");
            assert_eq!(outcome.refusals, []);
            let mut changes = outcome.changes;
            changes.sort_by_key(|(pass, _)| *pass);
            let new = outcome.words.expect("new words");
            validate(&new, "vulkan1.0").unwrap_or_else(|error| panic!("{error}"));
            let all = (meaning(&new), changes);
            match &first {
                None => first = Some(all),
                Some(first) => assert_eq!(*first, all, "{order:?}"),
            }
        }
        let (_, changes) = first.expect("an order");
        for pass in [Pass::ImageAccess, Pass::AtomicCounters, Pass::ImageFormats, last.pass(), Pass::SampleMask] {
            assert!(changes.iter().any(|(of, _)| *of == pass), "{} finds nothing", pass.name());
        }
    }
    assert_ne!(
        meaning(&words),
        meaning(&run(&words, scan(&words), steps().iter()).expect("words").words.expect("words"))
    );
}

#[test]
fn each_tier_runs_its_passes_in_one_order() {
    let words = everything();
    let outcome = for_module(&words, scan(&words), &OPTIONS).expect("an outcome");
    let new = outcome.words.expect("new words");
    let of: Vec<Pass> = outcome.changes.iter().map(|(pass, _)| *pass).collect();
    assert!(of.is_sorted() && of.contains(&Pass::ImageAccess) && of.contains(&Pass::AtomicCounters), "{of:?}");
    assert_eq!(for_module(&new, scan(&new), &OPTIONS), Ok(Outcome::default()), "a second run finds something");
    for sampling in [Sampling::Lower, Sampling::Force("main")] {
        let outcome = for_pipeline(&new, scan(&new), sampling).expect("an outcome");
        let last = outcome.words.expect("new words");
        validate(&last, "vulkan1.0").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(for_pipeline(&last, scan(&last), sampling), Ok(Outcome::default()));
    }
    assert_eq!(for_pipeline(&new, scan(&new), Sampling::Keep), Ok(Outcome::default()));
    assert_eq!(for_module(&words, scan(&words), &ModuleOptions::default()), Ok(Outcome::default()));
}

#[test]
fn what_is_refused_has_a_pass_and_a_name() {
    let words = glsl(
        "frag",
        "opengl",
        "#version 460\nlayout(location = 0) out vec4 o;\nlayout(binding = 0) uniform atomic_uint a;\nvoid main() { o = gl_FragCoord + float(atomicCounterIncrement(a)); }\n",
    );
    let outcome = for_module(&words, scan(&words), &OPTIONS).expect("an outcome");
    assert_eq!(outcome.words, None);
    assert_eq!(outcome.refusals, [(Pass::AtomicCounters, Why::FragmentOrigin)]);
    assert_eq!(outcome.refusals[0].1.left().name(), "fragment-origin");
    // What cannot be read is refused by the first that would have looked.
    let broken = &words[..words.len() - 1];
    let outcome = for_module(broken, scan(broken), &OPTIONS).expect("an outcome");
    assert!(matches!(outcome.refusals[..], [(Pass::AtomicCounters, Why::Module(Error::Instruction { .. }))]));
    assert_eq!(outcome.words, None);
}

/// A pass that the pre-scan sends away would have found nothing.
#[test]
fn the_pre_scan_misses_nothing() {
    let everything = everything();
    let words = shaders().iter().map(|shader| &shader.words).chain([&everything]);
    for words in words {
        for step in steps().into_iter().chain([Step::SampleInputs("main"), MASK]) {
            let all = Scan::FORMATLESS
                | Scan::STORAGE_IMAGES
                | Scan::COUNTERS
                | Scan::GL
                | Scan::SAMPLES
                | Scan::FRAGMENT
                | Scan::SAMPLE_MASK
                | Scan::HLSL;
            let found = run(words, all, [step].iter()).expect("an outcome");
            let asked = run(words, scan(words), [step].iter()).expect("an outcome");
            // Nobody asks for the inputs of a fragment shader that is none.
            if matches!(found.refusals[..], [(Pass::SampleInputs, Why::Module(Error::NoEntryPoint))]) {
                continue;
            }
            assert_eq!(found, asked, "{step:?}");
        }
    }
}
