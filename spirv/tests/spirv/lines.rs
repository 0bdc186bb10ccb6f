//! Debug information: after every pass each instruction of the application's has the line and the scope that it had before, and the
//! module is valid.

use std::collections::HashMap;

use samplin_spirv::passes::{Sampling, Step, for_pipeline, run};
use samplin_spirv::sampling::{Keys, Limits, Passes, Slot, Task, sampling};
use samplin_spirv::scan::scan;
use samplin_spirv::select;
use samplin_spirv::split::{Part, Refused, split};
use samplin_spirv::{Link, Module, atomic_counters, image_access, image_formats};
use spirv::Op;

use crate::corpus::{assembled, debuggable, instructions, validate};
use crate::passes::everything_with;

/// Options of the compiler: `OpLine`, and `NonSemantic.Shader.DebugInfo.100` with and without the source.
const OPTIONS: [&str; 3] = ["-g", "-gV", "-gVS"];

/// Where an instruction is said to be: the operands of the last `OpLine`, of the last `DebugLine`, of the last `DebugScope`. A block's
/// end ends them all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PoolAt {
    line: Option<Vec<u32>>,
    debug_line: Option<Vec<u32>>,
    scope: Option<Vec<u32>>,
}

/// What an instruction does to the place of those behind it, by its operands.
type Change = fn(&mut PoolAt, Option<Vec<u32>>);

/// Instructions of `NonSemantic.Shader.DebugInfo.100`.
const DEBUG: [(u32, Change); 4] = [
    (103, |place, at| place.debug_line = at),
    (104, |place, _| place.debug_line = None),
    (23, |place, at| place.scope = at),
    (24, |place, _| place.scope = None),
];

/// All instructions but lines and scopes themselves, each with the function that it is in (0 for none) and its place.
fn placed(words: &[u32]) -> Vec<(u32, Vec<u32>, PoolAt)> {
    let (mut place, mut function, mut all) = (PoolAt::default(), 0, Vec::new());
    let mut sets = Vec::new();
    for it in instructions(words) {
        match Op::from_u32(it[0] & 0xffff) {
            Some(Op::ExtInstImport) => {
                let name: Vec<u8> = it[2..].iter().flat_map(|word| word.to_le_bytes()).collect();
                if name.starts_with(b"NonSemantic.Shader.DebugInfo.100\0") {
                    sets.push(it[1]);
                }
            }
            Some(Op::Line) => {
                place.line = Some(it[1..].to_vec());
                continue;
            }
            Some(Op::NoLine) => {
                place.line = None;
                continue;
            }
            Some(Op::ExtInst) if sets.contains(&it[3]) => {
                if let Some((_, set)) = DEBUG.iter().find(|(number, _)| *number == it[4]) {
                    set(&mut place, Some(it[5..].to_vec()));
                    continue;
                }
            }
            Some(Op::Function) => function = it[2],
            _ => {}
        }
        all.push((function, it.to_vec(), place.clone()));
        match Op::from_u32(it[0] & 0xffff) {
            Some(
                Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::Return
                | Op::ReturnValue
                | Op::Kill
                | Op::Unreachable
                | Op::TerminateInvocation,
            ) => place = PoolAt::default(),
            Some(Op::FunctionEnd) => function = 0,
            _ => {}
        }
    }
    all
}

/// The id that an instruction of a module defines.
fn result(module: &Module<'_>, words: &[u32]) -> Option<u32> {
    let is_own = |id: &u32| module.definition(*id).is_some_and(|it| it.words == words);
    words.iter().skip(1).take(2).copied().find(is_own)
}

/// Holds the places of a module against those of what a pass made of it; how many instructions were found again.
fn compare(what: &str, before: &[u32], after: &[u32]) -> usize {
    let (old, new) = (placed(before), placed(after));
    let [before_read, after_read] = [before, after].map(|words| Module::read(words).expect("a module"));
    let own = |(_, words, place): &'_ (u32, Vec<u32>, PoolAt)| Some((result(&after_read, words)?, place.clone()));
    let ids: HashMap<u32, PoolAt> = new.iter().filter_map(own).collect();
    let mut found = 0;
    let mut functions: HashMap<u32, std::slice::Iter<'_, (u32, Vec<u32>, PoolAt)>> = HashMap::new();
    for (function, words, place) in &old {
        let now = match result(&before_read, words) {
            Some(id) => ids.get(&id),
            // What defines nothing is found by its words, behind the one before it.
            None => {
                let rest = functions.entry(*function).or_insert_with(|| new.iter());
                let mut ahead = rest.clone();
                let same = ahead.find(|(other, it, _)| other == function && it == words);
                same.map(|(_, _, place)| {
                    *rest = ahead;
                    place
                })
            }
        };
        // A function's own end and label are in no line.
        let Some(now) = now else { continue };
        assert_eq!(now, place, "{what}: {words:?} in function {function}\n{}", samplin_compiler::disassemble(after));
        found += 1;
    }
    // Nothing new stands between a line and what it is about.
    let (old, new) = (instructions(before), instructions(after));
    for pair in old.windows(2).filter(|pair| pair[0][0] & 0xffff == Op::Line as u32) {
        let is_function = |it: &[u32]| it[0] & 0xffff == Op::Function as u32;
        if is_function(pair[1]) {
            let behind = new.iter().position(|it| is_function(it) && it[2] == pair[1][2]).map(|at| new[at - 1]);
            assert!(behind.is_none_or(|it| it == pair[0]), "{what}: a function lost its line");
        }
    }
    found
}

/// Runs `split` and `select` on all links of an entry point that the former takes, and `sampling` on all of them.
fn rewritten(words: &[u32], name: &str, model: u32) -> Vec<(&'static str, Vec<u32>)> {
    let module = Module::read(words).expect("a module");
    let links = module.links(name, model, None).expect("links");
    let mut pairs: Vec<&Link> = Vec::new();
    for link in links.iter().filter(|link| link.uses.samples() && link.image.is_some() && link.sampler.is_some()) {
        if !pairs.iter().any(|other| (other.image, other.sampler) == (link.image, link.sampler)) {
            pairs.push(link);
        }
    }
    let mut parts: Vec<Part> = pairs
        .iter()
        .zip(10..)
        .filter_map(|(link, binding)| Some(Part { image: link.image?, sampler: link.sampler?, binding }))
        .collect();
    let split = loop {
        match split(&module, name, model, None, 7, &parts) {
            Ok(split) => break split.words,
            Err(Refused::Part(position, _)) => _ = parts.remove(position),
            Err(Refused::Module(error)) => panic!("{error}"),
        }
    };
    let lookup = |binding| select::Lookup { binding, first: 0, length: select::Length::Rest };
    let looked_up =
        |part: &Part| select::Part { image: part.image, sampler: part.sampler, column: lookup(0), row: lookup(1) };
    let apart = parts.iter().filter(|part| part.image != part.sampler).map(looked_up).collect::<Vec<_>>();
    let place = select::PoolAt { set: 7, matrix: 2, pool: 3, count: 16 };
    let select = select::select(&module, name, model, None, &place, &apart).expect("what can be split");
    let passes = Passes { saturate: true, filter: true, ..Passes::NONE };
    let (mut slots, mut first) = (Vec::new(), 0);
    for link in pairs {
        let slot = Slot { image: link.image.expect("one"), sampler: link.sampler.expect("one"), first, passes, row: 0 };
        first += slot.tasks().unwrap_or(0);
        slots.push(slot);
    }
    let tasks = vec![Task { flags: 0xfff, bias: 0.5, min_lod: 0.0, max_lod: 4.0 }; first as usize];
    let sampled = sampling(&module, name, model, None, Keys::Fixed(&tasks), &slots, Limits { lod_bias: 16.0 });
    let block = Keys::Block { set: 8, binding: 0, count: first.max(1) };
    let read = sampling(&module, name, model, None, block, &slots, Limits { lod_bias: 16.0 });
    let (sampled, read) = (sampled.expect("a module").words, read.expect("a module").words);
    vec![("split", split), ("select", select), ("sampling", sampled), ("sampling", read)]
}

#[test]
fn lines_stay_when_links_are_rewritten() {
    let (mut modules, mut found) = (0, 0);
    for option in OPTIONS {
        for shader in debuggable(option) {
            if let Err(error) = validate(&shader.words, &shader.environment) {
                // The compiler describes an array whose length is a specialization constant as the validator does not want it.
                assert_eq!(shader.file, "spec_index.frag", "{error}");
                continue;
            }
            for table in &shader.tables {
                for (pass, words) in rewritten(&shader.words, &table.name, table.model) {
                    if words == shader.words {
                        continue;
                    }
                    let what = format!("{} {option} {pass}", shader.file);
                    validate(&words, &shader.environment).unwrap_or_else(|error| panic!("{what}: {error}"));
                    found += compare(&what, &shader.words, &words);
                    modules += 1;
                }
            }
        }
    }
    println!("{modules} modules, {found} instructions");
    assert!(modules >= 150 && found >= 10_000, "only {modules} modules, {found} instructions");
}

#[test]
fn lines_stay_in_every_other_pass() {
    let images = image_access::Options { read: false, write: true, may_declare: false, relax: true };
    let counters =
        atomic_counters::Options { target: atomic_counters::Target::Auto, draw_parameters: true, storage_buffers: 0 };
    let formats = image_formats::Options { images: 1 << 15, buffers: 0 };
    let steps = [
        Step::ImageAccess(images),
        Step::AtomicCounters(counters),
        Step::ImageFormats(formats),
        Step::SampleBuiltins,
        Step::SampleInputs("main"),
        Step::SampleMask(1),
    ];
    for option in OPTIONS {
        let words = everything_with(&[option]);
        for step in &steps {
            let pass = step.pass().name();
            let outcome = run(&words, scan(&words), [step].into_iter()).expect("an outcome");
            let Some(new) = outcome.words else {
                // What debug information names stays as it is: counters, and the declaration of a sample mask.
                let named = ["atomic_counters", "sample_mask"].contains(&pass);
                assert!(named && option != "-g", "{pass} {option}: {:?}", outcome.refusals);
                continue;
            };
            let found = compare(&format!("{pass} {option}"), &words, &new);
            assert!(found > 50, "{pass}: only {found} instructions are found again");
        }
        if option != "-g" {
            // Counters that stay are nothing that Vulkan has.
            continue;
        }
        let valid = [&steps[..4], &steps[5..]].concat();
        let all = run(&words, scan(&words), valid.iter()).expect("an outcome").words.expect("new words");
        validate(&all, "vulkan1.0").unwrap_or_else(|error| panic!("{option}: {error}"));
        compare(&format!("all of them {option}"), &words, &all);
        let lowered = for_pipeline(&all, scan(&all), Sampling::Force("main")).expect("an outcome").words;
        if let Some(lowered) = lowered {
            validate(&lowered, "vulkan1.0").unwrap_or_else(|error| panic!("{option}: {error}"));
            compare(&format!("forced {option}"), &all, &lowered);
        }
    }
}

/// What a shader's lines say of its look-up in the second block: lines in the first block, between the blocks, and in the second.
fn told([first, between, second]: [&str; 3]) -> Option<(String, u32)> {
    let words = assembled(&format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint Fragment %main \"main\" %out
         OpExecutionMode %main OriginUpperLeft
         %file = OpString \"a.frag\"
         OpDecorate %image DescriptorSet 0
         OpDecorate %image Binding 0
         OpDecorate %sampler DescriptorSet 0
         OpDecorate %sampler Binding 1
         OpDecorate %out Location 0
         %void = OpTypeVoid
         %float = OpTypeFloat 32
         %v2 = OpTypeVector %float 2
         %v4 = OpTypeVector %float 4
         %image_type = OpTypeImage %float 2D 0 0 0 1 Unknown
         %sampler_type = OpTypeSampler
         %both_type = OpTypeSampledImage %image_type
         %image_pointer = OpTypePointer UniformConstant %image_type
         %sampler_pointer = OpTypePointer UniformConstant %sampler_type
         %out_pointer = OpTypePointer Output %v4
         %image = OpVariable %image_pointer UniformConstant
         %sampler = OpVariable %sampler_pointer UniformConstant
         %out = OpVariable %out_pointer Output
         %zero = OpConstant %float 0
         %at = OpConstantComposite %v2 %zero %zero
         %function = OpTypeFunction %void
         %main = OpFunction %void None %function
         %one = OpLabel
         {first}
         OpBranch %two
         {between}
         %two = OpLabel
         {second}
         %i = OpLoad %image_type %image
         %s = OpLoad %sampler_type %sampler
         %both = OpSampledImage %both_type %i %s
         %texel = OpImageSampleImplicitLod %v4 %both %at
         OpStore %out %texel
         OpReturn
         OpFunctionEnd"
    ));
    validate(&words, "spv1.3").expect("valid");
    let module = Module::read(&words).expect("a module");
    let (name, model) = ("main", 4);
    let links = module.links(name, model, None).expect("links");
    let link = links.iter().find_map(|link| link.image.zip(link.sampler)).expect("a link");
    module.source_of(name, model, None, link).expect("the source")
}

#[test]
fn a_line_holds_up_to_the_end_of_a_block() {
    let line = "OpLine %file 7 1";
    let seven = Some(("a.frag".to_owned(), 7));
    assert_eq!(told(["", "", line]), seven);
    assert_eq!(told(["", line, ""]), seven, "what stands before a label is of its block");
    assert_eq!(told([line, "", ""]), None, "the block has ended");
    assert_eq!(told(["", line, "OpNoLine"]), None);
    assert_eq!(told(["", "OpLine %file 7 1\nOpNoLine", ""]), None);
    assert_eq!(told([line, "OpLine %file 8 1", ""]), Some(("a.frag".to_owned(), 8)));
}
