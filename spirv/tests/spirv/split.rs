//! The pass `split`: every link of every shader that it takes reads its sampler from the hidden set, and nothing else is different.

use std::collections::BTreeMap;

use samplin_spirv::split::{Part, Refused, Split, Why, split};
use samplin_spirv::{Editor, Error, Index, Link, Module, Operand, Specialization, Uses};
use spirv::ExecutionModel;

use crate::corpus::{Shader, assembled, by_file, entries, glsl, having, instructions, shaders, text, validate};

/// A set that no shader of the corpus has.
const HIDDEN: u32 = 7;

/// One part for each link that is sampled through.
fn parts(links: &[Link]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for link in links.iter().filter(|link| link.uses.samples()) {
        if let (Some(image), Some(sampler)) = (link.image, link.sampler)
            && !parts.iter().any(|part| (part.image, part.sampler) == (image, sampler))
        {
            parts.push(Part { image, sampler, binding: 10 + parts.len() as u32 });
        }
    }
    parts
}

/// What the links of a shader are once `parts` are split.
fn expected(links: &[Link], parts: &[Part], split: &Split) -> Vec<String> {
    let mut all = Vec::new();
    for link in links {
        let part = parts.iter().zip(&split.hidden).find(|(part, _)| {
            (Some(part.image), Some(part.sampler)) == (link.image, link.sampler) && link.uses.samples()
        });
        let Some((part, hidden)) = part else {
            all.push(text(link));
            continue;
        };
        let varies =
            |operand: &Operand| matches!(operand.index, Index::Dynamic { .. } | Index::Push(_)) && operand.count > 1;
        let nonuniform = [part.image, part.sampler].iter().any(|o| o.index == Index::Dynamic { nonuniform: true });
        let combined = link.uses.contains(Uses::COMBINED);
        let index = match (varies(&part.image), varies(&part.sampler) && !combined) {
            (false, false) => Index::Whole,
            (true, true) => Index::Dynamic { nonuniform },
            (true, false) if nonuniform => Index::Dynamic { nonuniform },
            (true, false) => part.image.index,
            (false, true) => part.sampler.index,
        };
        let sampler = Operand { set: HIDDEN, binding: hidden.binding, count: hidden.count, index };
        let apart = Uses::COMBINED | Uses::FETCH | Uses::QUERY;
        all.push(text(&Link { sampler: Some(sampler), uses: link.uses.without(apart), ..*link }));
        // What needs no sampler goes on with the pair.
        if combined && link.uses.intersects(Uses::FETCH | Uses::QUERY) {
            let rest = [Uses::COMBINED, Uses::FETCH, Uses::QUERY].into_iter().filter(|one| link.uses.contains(*one));
            all.push(text(&Link { uses: rest.fold(Uses::default(), |all, one| all | one), ..*link }));
        }
    }
    all.sort();
    all
}

fn links(words: &[u32], entry: (&str, u32), values: Option<&Specialization<'_>>) -> Vec<Link> {
    Module::read(words).expect("a module").links(entry.0, entry.1, values).expect("links")
}

fn texts(words: &[u32], entry: (&str, u32), values: Option<&Specialization<'_>>) -> Vec<String> {
    let mut texts: Vec<String> = links(words, entry, values).iter().map(text).collect();
    texts.sort();
    texts
}

/// Splits what can be split, checks the result, and adds what was refused to `refused`.
fn check(
    shader: &Shader,
    entry: (&str, u32),
    values: Option<&Specialization<'_>>,
    mut parts: Vec<Part>,
    refused: &mut BTreeMap<String, Vec<Why>>,
) -> usize {
    let module = Module::read(&shader.words).expect("a module");
    let before = module.links(entry.0, entry.1, values).expect("links");
    let split = loop {
        match split(&module, entry.0, entry.1, values, HIDDEN, &parts) {
            Ok(split) => break split,
            Err(Refused::Part(position, why)) => {
                refused.entry(shader.file.clone()).or_default().push(why);
                parts.remove(position);
            }
            Err(Refused::Module(error)) => panic!("{}: {error}", shader.file),
        }
    };
    if parts.is_empty() {
        assert_eq!(split.words, shader.words, "{}: changed for nothing", shader.file);
        return 0;
    }
    if let Err(error) = validate(&split.words, &shader.environment) {
        panic!("{} {}, {} parts: {error}", shader.file, entry.0, parts.len());
    }
    let after = texts(&split.words, entry, values);
    assert_eq!(after, expected(&before, &parts, &split), "{} {}", shader.file, entry.0);
    // A second run finds none of them.
    let again = Module::read(&split.words).expect("a module");
    for part in &parts {
        let why = samplin_spirv::split::split(&again, entry.0, entry.1, values, HIDDEN + 1, &[*part])
            .expect_err(&shader.file);
        assert_eq!(why, Refused::Part(0, Why::NoLink), "{} {}: {part:?}", shader.file, entry.0);
    }
    parts.len()
}

#[test]
fn everything_is_split() {
    let mut refused = BTreeMap::new();
    let (mut modules, mut count) = (0, 0);
    entries(|shader, entry, values| {
        count += check(shader, entry, values, parts(&links(&shader.words, entry, values)), &mut refused);
        modules += 1;
    });
    println!("{modules} modules, {count} links; refused: {refused:#?}");
    let expected = by_file([
        ("dxc_arrays.hlsl", vec![Why::Unbounded]),
        // A function that has the index, called with samplers that are to become different arrays.
        ("dynamic_argument.frag", vec![Why::Call, Why::Call]),
        ("footprint.frag", vec![Why::Vendor]),
        ("nonuniform.frag", vec![Why::Unbounded, Why::Unbounded]),
        ("push_index.frag", vec![Why::Unbounded]),
    ]);
    assert_eq!(refused, expected);
}

/// What nobody has heard of, of full length too, and what a debugger alone reads stay where they are between what is split.
#[test]
fn what_is_in_between_stays() {
    const STRANGE: u32 = 60_000;
    let mut splits = 0;
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let module = Module::read(&shader.words).expect("a module");
        let mut editor = Editor::new(&module);
        let (mut at, mut number) = (5, 0);
        while let Some(first) = shader.words.get(at) {
            number += 1;
            let length = if number % 256 == 0 { 0xffff } else { 3 };
            let mut strange = vec![length << 16 | STRANGE];
            strange.resize(length as usize, number);
            editor.insert(at, &strange).expect("room");
            at += (first >> 16) as usize;
        }
        let strange = editor.finish().expect("words");
        for table in &shader.tables {
            table.specialized(|values| {
                let entry = (&*table.name, table.model);
                let parts = parts(&links(&shader.words, entry, values));
                let of = |words: &[u32]| {
                    split(&Module::read(words).expect("a module"), entry.0, entry.1, values, HIDDEN, &parts)
                };
                let (Ok(plain), Ok(split)) = (of(&shader.words), of(&strange)) else {
                    return assert_eq!(of(&shader.words), of(&strange), "{}", shader.file);
                };
                let without: Vec<u32> = instructions(&split.words)
                    .into_iter()
                    .filter(|instruction| instruction[0] & 0xffff != STRANGE)
                    .flatten()
                    .copied()
                    .collect();
                assert_eq!(without, plain.words[5..], "{}", shader.file);
                splits += 1;
            });
        }
    }
    assert!(splits >= 40, "{splits}");
}

/// Where calls of one function disagree, each gets what is right for it.
#[test]
fn one_link_at_a_time_is_split() {
    let mut refused = BTreeMap::new();
    let mut count = 0;
    entries(|shader, entry, values| {
        for part in parts(&links(&shader.words, entry, values)) {
            count += check(shader, entry, values, vec![part], &mut refused);
        }
    });
    println!("{count} modules; refused: {refused:#?}");
    let expected = by_file([
        // Arguments that are no pointers: there is nothing to pass where the sampler stays the same.
        ("by_value.spvasm", vec![Why::Call, Why::Call]),
        ("dxc_arrays.hlsl", vec![Why::Unbounded]),
        // A function that has the index, called with samplers that are to become different arrays.
        ("dynamic_argument.frag", vec![Why::Call, Why::Call]),
        ("footprint.frag", vec![Why::Vendor]),
        ("nonuniform.frag", vec![Why::Unbounded, Why::Unbounded]),
        ("pair_argument.frag", vec![Why::Call, Why::Call]),
        ("push_index.frag", vec![Why::Unbounded]),
    ]);
    assert_eq!(refused, expected);
}

/// The instructions of a module with an opcode.
fn count(words: &[u32], opcode: spirv::Op) -> usize {
    let (mut at, mut found) = (5, 0);
    while let Some(first) = words.get(at) {
        found += usize::from(first & 0xffff == opcode as u32);
        at += (first >> 16) as usize;
    }
    found
}

fn named(file: &str) -> &'static Shader {
    shaders().iter().find(|shader| shader.file == file).expect("a shader")
}

const FRAGMENT: u32 = ExecutionModel::Fragment as u32;
const COMPUTE: u32 = ExecutionModel::GLCompute as u32;

fn whole(set: u32, binding: u32) -> Operand {
    Operand { set, binding, count: 1, index: Index::Whole }
}

fn part(image: (u32, u32), sampler: (u32, u32)) -> Part {
    Part { image: whole(image.0, image.1), sampler: whole(sampler.0, sampler.1), binding: 0 }
}

#[test]
fn functions_change_only_where_calls_disagree() {
    let words = &named("nested_calls.frag").words;
    let module = Module::read(words).expect("a module");
    let parameters = count(words, spirv::Op::FunctionParameter);
    // Every link of one function reads the same: nothing is passed.
    let shared = &named("entries_13.spvasm").words;
    let one = split(&Module::read(shared).expect("a module"), "front", FRAGMENT, None, HIDDEN, &[]).expect("nothing");
    assert_eq!(&one.words, shared);
    let four = parts(&links(words, ("main", FRAGMENT), None));
    assert_eq!(four.len(), 4);
    let all = split(&module, "main", FRAGMENT, None, HIDDEN, &four).expect("all");
    assert!(count(&all.words, spirv::Op::FunctionParameter) > parameters);
    assert_eq!(count(&all.words, spirv::Op::Function), count(words, spirv::Op::Function));
    // A function with one caller reads the hidden set itself.
    let words = &named("compute.comp").words;
    let module = Module::read(words).expect("a module");
    let both = split(&module, "main", COMPUTE, None, HIDDEN, &parts(&links(words, ("main", COMPUTE), None)));
    let both = both.expect("both").words;
    assert_eq!(count(&both, spirv::Op::FunctionParameter), count(words, spirv::Op::FunctionParameter));
}

#[test]
fn other_entry_points_keep_their_samplers() {
    for file in ["entries_13.spvasm", "entries_14.spvasm"] {
        let words = &named(file).words;
        let module = Module::read(words).expect("a module");
        let split = split(&module, "front", FRAGMENT, None, HIDDEN, &[part((0, 0), (1, 0))]).expect("a link");
        validate(&split.words, "vulkan1.2").expect("a valid module");
        assert_eq!(texts(&split.words, ("front", FRAGMENT), None), ["0:0 + 7:0 2D float LOD0"]);
        for entry in [("back", FRAGMENT), ("front", COMPUTE)] {
            assert_eq!(texts(&split.words, entry, None), texts(words, entry, None));
        }
    }
}

#[test]
fn interfaces_list_the_new_variable_from_1_4_on() {
    let grown = |file: &str| {
        let words = &named(file).words;
        let module = Module::read(words).expect("a module");
        let split = split(&module, "front", FRAGMENT, None, HIDDEN, &[part((0, 0), (1, 0))]).expect("a link");
        let lengths = |words: &[u32]| -> Vec<usize> {
            let module = Module::read(words).expect("a module");
            module.entry_points().map(|entry| entry.interface().len()).collect()
        };
        lengths(&split.words).iter().zip(lengths(words)).map(|(after, before)| after - before).collect::<Vec<_>>()
    };
    assert_eq!(grown("entries_13.spvasm"), [0, 0, 0]);
    assert_eq!(grown("entries_14.spvasm"), [1, 1, 1]);
}

#[test]
fn what_cannot_be_split_is_named() {
    let why = |file: &str, model: u32, one: Part| {
        let module = Module::read(&named(file).words).expect("a module");
        match split(&module, "main", model, None, HIDDEN, &[one]) {
            Err(Refused::Part(0, why)) => Some(why),
            Ok(_) => None,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(why("opaque.spvasm", FRAGMENT, part((0, 0), (0, 2))), Some(Why::Opaque));
    // Its neighbour is one image and one sampler.
    assert_eq!(why("opaque.spvasm", FRAGMENT, part((0, 1), (0, 2))), None);
    assert_eq!(why("separate.frag", FRAGMENT, part((0, 0), (0, 2))), Some(Why::NoLink));
    // Never sampled through.
    assert_eq!(why("query_only.frag", FRAGMENT, part((0, 0), (0, 0))), Some(Why::NoLink));
    let module = Module::read(&named("separate.frag").words).expect("a module");
    let missing = split(&module, "main", COMPUTE, None, HIDDEN, &[]);
    assert_eq!(missing, Err(Refused::Module(Error::NoEntryPoint)));
}

/// A function that is called, by way of another, with the images of `with` and an image that is always the same; `of` is what stands
/// before its image, `pair` before what it joins.
pub(crate) fn handed_on(of: &str, pair: &str, with: &str) -> Vec<u32> {
    let source = format!(
        "#version 450
        #extension GL_EXT_nonuniform_qualifier : require
        layout(set = 0, binding = 0) uniform texture2D images[16];
        layout(set = 0, binding = 1) uniform texture2D other;
        layout(set = 0, binding = 2) uniform sampler s;
        layout(location = 0) flat in int i;
        layout(location = 1) in vec2 uv;
        layout(location = 0) out vec4 color;
        vec4 read({of} texture2D image, sampler with) {{ return texture({pair}(sampler2D(image, with)), uv); }}
        vec4 on(texture2D image, sampler with) {{ return read(image, with) + read(image, with); }}
        void main() {{ color = on({with}, s) + on(other, s); }}"
    );
    glsl("frag", "vulkan1.2", &source)
}

/// Of each pair that is joined, whether the pointer to the sampler, the sampler and the pair are decorated as nonuniform.
pub(crate) fn nonuniform(words: &[u32]) -> Vec<[bool; 3]> {
    let module = Module::read(words).expect("a module");
    let is_decorated = |id: u32| module.decoration(id, spirv::Decoration::NonUniform).is_some();
    let pointer = |sampler: u32| module.definition(sampler).expect("a load").word(3);
    let joined = having(words, spirv::Op::SampledImage);
    joined.iter().map(|it| [pointer(it[4]), it[4], it[2]].map(is_decorated)).collect()
}

/// What a function is handed differs if any call says so, or the function itself ("NonUniform", VUID-RuntimeSpirv-NonUniform-06274).
#[test]
fn what_is_handed_on_is_nonuniform_where_it_may_differ() {
    for (of, pair, with, differs) in [
        ("", "", "images[nonuniformEXT(i)]", true),
        ("nonuniformEXT", "", "images[i]", true),
        ("", "nonuniformEXT", "images[i]", true),
        ("", "", "images[i]", false),
        ("", "", "images[3]", false),
    ] {
        let words = handed_on(of, pair, with);
        let parts = parts(&links(&words, ("main", FRAGMENT), None));
        let split = split(&Module::read(&words).expect("a module"), "main", FRAGMENT, None, HIDDEN, &parts);
        let split = split.expect("two links").words;
        validate(&split, "vulkan1.2").unwrap_or_else(|error| panic!("{of} {pair} {with}: {error}"));
        assert_eq!(nonuniform(&split), [[differs; 3]], "{of} {pair} {with}");
    }
}

/// A function with `samplers` samplers, all joined with one image, called with two lots of them.
fn many(samplers: usize) -> Vec<u32> {
    let variables = 0..2 * samplers;
    let list = |format: &dyn Fn(usize) -> String, range: std::ops::Range<usize>| range.map(format).collect::<String>();
    let decorations =
        list(&|n| format!("OpDecorate %s{n} DescriptorSet 1\nOpDecorate %s{n} Binding {n}\n"), variables.clone());
    let globals = list(&|n| format!("%s{n} = OpVariable %sp UniformConstant\n"), variables);
    let types = list(&|_| " %sp".to_owned(), 0..samplers);
    let parameters = list(&|n| format!("%p{n} = OpFunctionParameter %sp\n"), 0..samplers);
    let body = list(
        &|n| {
            format!(
                "%l{n} = OpLoad %st %p{n}\n%j{n} = OpSampledImage %pt %iv %l{n}\n\
                 %t{n} = OpImageSampleExplicitLod %v4 %j{n} %at Lod %zero\n"
            )
        },
        0..samplers,
    );
    let (first, second) =
        (list(&|n| format!(" %s{n}"), 0..samplers), list(&|n| format!(" %s{n}"), samplers..2 * samplers));
    assembled(&format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %i DescriptorSet 0\nOpDecorate %i Binding 0\n{decorations}\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
         %v2 = OpTypeVector %float 2\n%it = OpTypeImage %float 2D 0 0 0 1 Unknown\n%st = OpTypeSampler\n\
         %pt = OpTypeSampledImage %it\n%ip = OpTypePointer UniformConstant %it\n%sp = OpTypePointer UniformConstant %st\n\
         %gt = OpTypeFunction %void{types}\n%zero = OpConstant %float 0\n%at = OpConstantComposite %v2 %zero %zero\n\
         %i = OpVariable %ip UniformConstant\n{globals}%g = OpFunction %void None %gt\n{parameters}%gb = OpLabel\n\
         %iv = OpLoad %it %i\n{body}OpReturn\nOpFunctionEnd\n%main = OpFunction %void None %ft\n%mb = OpLabel\n\
         %c1 = OpFunctionCall %void %g{first}\n%c2 = OpFunctionCall %void %g{second}\nOpReturn\nOpFunctionEnd\n"
    ))
}

#[test]
fn new_parameters_have_a_limit() {
    for (samplers, fits) in [(64, true), (65, false)] {
        let words = many(samplers);
        validate(&words, "vulkan1.1").expect("a valid module");
        let found = links(&words, ("main", COMPUTE), None);
        assert_eq!(found.len(), 2 * samplers);
        let module = Module::read(&words).expect("a module");
        match split(&module, "main", COMPUTE, None, HIDDEN, &parts(&found)) {
            Ok(split) => {
                assert!(fits);
                validate(&split.words, "vulkan1.1").expect("a valid module");
            }
            Err(Refused::Part(_, Why::Parameters)) => assert!(!fits),
            Err(other) => panic!("{other:?}"),
        }
    }
}
