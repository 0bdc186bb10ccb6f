//! The pass `select`: links whose indices only the running shader knows read their sampler from the pool, and nothing else is
//! different.

use samplin_spirv::select::{Length, Lookup, Part, PoolAt, Refused, Why, select, select_or_own};
use samplin_spirv::{Error, Index, Link, Module, Operand, Specialization, Uses};
use spirv::{Capability, Decoration, ExecutionModel, Op, StorageClass};

use crate::corpus::{assembled, entries, glsl, having, instructions, shaders, text, validate};
use crate::split::{handed_on, nonuniform};

/// A set that no shader here has.
const HIDDEN: u32 = 7;

/// Bindings of the columns, the rows, the matrix and the pool, which has 48 samplers.
const PLACE: PoolAt = PoolAt { set: HIDDEN, matrix: 2, pool: 3, count: 48 };

const MAIN: (&str, u32) = ("main", FRAGMENT);

/// What is read for arrays without a length.
const RUNTIME_COLUMN: &str = "min(variable, length(columns) - 1)";
const RUNTIME_ROW: &str = "min(variable, length(rows) - 101) + 100";

const COMPUTE: u32 = ExecutionModel::GLCompute as u32;
const FRAGMENT: u32 = ExecutionModel::Fragment as u32;

/// The words of an operand: as many as it has descriptors, from word 100 on for each binding.
fn lookup(binding: u32, operand: &Operand) -> Lookup {
    let length = match (operand.index, operand.count) {
        (Index::Whole, _) => Length::One,
        (_, 0) => Length::Rest,
        (_, count) => Length::Fixed(count),
    };
    Lookup { binding, first: 100 * operand.binding, length }
}

fn part(image: Operand, sampler: Operand) -> Part {
    Part { image, sampler, column: lookup(0, &image), row: lookup(1, &sampler) }
}

/// One part for each link that is sampled through and is no combined descriptor.
fn parts(links: &[Link]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for link in links.iter().filter(|link| link.uses.samples() && !link.uses.contains(Uses::COMBINED)) {
        if let (Some(image), Some(sampler)) = (link.image, link.sampler)
            && !parts.iter().any(|part| (part.image, part.sampler) == (image, sampler))
        {
            parts.push(part(image, sampler));
        }
    }
    parts
}

fn links(words: &[u32], entry: (&str, u32), values: Option<&Specialization<'_>>) -> Vec<Link> {
    Module::read(words).expect("a module").links(entry.0, entry.1, values).expect("links")
}

fn selected(
    words: &[u32],
    entry: (&str, u32),
    values: Option<&Specialization<'_>>,
    parts: &[Part],
) -> Result<Vec<u32>, Refused> {
    select(&Module::read(words).expect("a module"), entry.0, entry.1, values, &PLACE, parts)
}

/// What is computed, as text: names of what the pass has not made, and numbers for constants.
fn expression(module: &Module<'_>, id: u32) -> String {
    let Some(it) = module.definition(id) else { return format!("%{id}") };
    let of = |op: Op| it.opcode() == op as u32;
    let at = |n: usize| expression(module, it.word(n));
    if of(Op::Constant) {
        it.word(3).to_string()
    } else if of(Op::Variable) {
        let of = |decoration| module.decoration(id, decoration);
        match (of(Decoration::DescriptorSet), of(Decoration::Binding)) {
            (Some(HIDDEN), Some(0)) => "columns".to_owned(),
            (Some(HIDDEN), Some(1)) => "rows".to_owned(),
            (Some(HIDDEN), Some(2)) => "matrix".to_owned(),
            (Some(HIDDEN), Some(3)) => "pool".to_owned(),
            (Some(set), Some(binding)) => format!("{set}:{binding}"),
            _ => "variable".to_owned(),
        }
    } else if of(Op::Load) || of(Op::CopyObject) {
        at(3)
    } else if of(Op::AccessChain) {
        format!("{}[{}]", at(3), expression(module, *it.words.last().expect("an index")))
    } else if of(Op::ExtInst) {
        assert_eq!(it.word(4), spirv::GlslStd450Op::UMin as u32);
        format!("min({}, {})", at(5), at(6))
    } else if of(Op::IAdd) {
        format!("{} + {}", at(3), at(4))
    } else if of(Op::ISub) {
        format!("{} - {}", at(3), at(4))
    } else if of(Op::ArrayLength) {
        format!("length({})", at(3))
    } else {
        Op::from_u32(it.opcode()).map_or_else(|| "other".to_owned(), |op| format!("{op:?}"))
    }
}

/// The samplers of all pairs that are joined, in the order of the words.
fn samplers(words: &[u32]) -> Vec<String> {
    let module = Module::read(words).expect("a module");
    having(words, Op::SampledImage).iter().map(|it| expression(&module, it[4])).collect()
}

/// Checks that a module's functions are what they were but for samplers, parameters and what is computed for them: no block, branch
/// or phi is new, and each image instruction is where it was.
fn check_shape(before: &[u32], after: &[u32]) {
    let body = |words: &[u32]| -> Vec<Vec<u32>> {
        let all = instructions(words).into_iter().map(<[u32]>::to_vec);
        all.skip_while(|it| it[0] & 0xffff != Op::Function as u32).collect()
    };
    const NEW: [Op; 7] =
        [Op::AccessChain, Op::Load, Op::ExtInst, Op::IAdd, Op::ISub, Op::ArrayLength, Op::FunctionParameter];
    let (before, after) = (body(before), body(after));
    let mut after = after.into_iter();
    for old in &before {
        let same = |new: &Vec<u32>| match (Op::from_u32(new[0] & 0xffff), new[0] & 0xffff == old[0] & 0xffff) {
            (_, false) => false,
            // The sampler; the type; more arguments.
            (Some(Op::SampledImage), _) => new[..4] == old[..4],
            (Some(Op::Function), _) => new[..4] == old[..4],
            (Some(Op::FunctionCall), _) => new.len() >= old.len() && new[1..old.len()] == old[1..],
            _ => new == old,
        };
        loop {
            let new = after.next().unwrap_or_else(|| panic!("{old:?} is gone"));
            if same(&new) {
                break;
            }
            let op = Op::from_u32(new[0] & 0xffff).expect("an instruction");
            assert!(NEW.contains(&op), "{op:?} is new, before {old:?}");
        }
    }
    assert_eq!(after.next(), None);
}

/// Links as text, those that differ in their uses only as one.
fn merged(links: impl Iterator<Item = Link>) -> Vec<String> {
    let mut all: Vec<Link> = Vec::new();
    for link in links {
        let same = |known: &&mut Link| Link { uses: link.uses, ..**known } == link;
        match all.iter_mut().find(same) {
            Some(known) => known.uses |= link.uses,
            None => all.push(link),
        }
    }
    let mut all: Vec<String> = all.iter().map(text).collect();
    all.sort();
    all
}

/// Selects all links of a shader, and checks the result.
fn check(words: &[u32], environment: &str, entry: (&str, u32), values: Option<&Specialization<'_>>) -> Vec<u32> {
    let before = links(words, entry, values);
    let parts = parts(&before);
    let new = selected(words, entry, values, &parts).unwrap_or_else(|refused| panic!("{refused:?}"));
    check_made(words, &new, environment, entry, values, &parts);
    new
}

fn check_made(
    words: &[u32],
    new: &[u32],
    environment: &str,
    entry: (&str, u32),
    values: Option<&Specialization<'_>>,
    parts: &[Part],
) {
    if let Err(error) = validate(new, environment) {
        panic!("{} {} parts: {error}", entry.0, parts.len());
    }
    check_shape(words, new);
    let mut decorations = having(new, Op::Decorate);
    decorations.sort();
    assert!(decorations.windows(2).all(|pair| pair[0] != pair[1]), "decorated twice");
    // Whether it is nonuniform is said of pointers, which other tests look at.
    let index = Index::Dynamic { nonuniform: false };
    let pool = Operand { set: HIDDEN, binding: PLACE.pool, count: PLACE.count, index };
    let changed = |link: &Link| {
        let is_it = |part: &&Part| (Some(part.image), Some(part.sampler)) == (link.image, link.sampler);
        let is_pool = link.sampler.is_some_and(|sampler| (sampler.set, sampler.binding) == (HIDDEN, PLACE.pool));
        let is_changed = is_pool || link.uses.samples() && parts.iter().any(|part| is_it(&part));
        Link { sampler: if is_changed { Some(pool) } else { link.sampler }, ..*link }
    };
    let expected = merged(links(words, entry, values).iter().map(changed));
    assert_eq!(merged(links(new, entry, values).iter().map(changed)), expected, "{}", entry.0);
    // A second run finds none of them.
    for part in parts {
        assert_eq!(selected(new, entry, values, &[*part]), Err(Refused::Part(0, Why::NoLink)), "{part:?}");
    }
}

/// A fragment shader with an image array and a sampler array in sets 0 and 1, and with what is in `main`.
fn arrays(images: &str, samplers: &str, body: &str) -> String {
    format!(
        "#version 450
        #extension GL_EXT_nonuniform_qualifier : require
        layout(set = 0, binding = 0) uniform texture2D images{images};
        layout(set = 1, binding = 1) uniform sampler samplers{samplers};
        layout(location = 0) flat in int i;
        layout(location = 1) flat in uint j;
        layout(location = 2) in vec2 uv;
        layout(location = 0) out vec4 color;
        {body}"
    )
}

/// The body of a shader that samples once.
fn once(pair: &str) -> String {
    format!("void main() {{ color = texture({pair}, uv); }}")
}

/// Where words are read, and where the pool is.
fn looked_up(column: &str, row: &str) -> String {
    format!("pool[min(matrix[min(rows[{row}] + columns[{column}], length(matrix) - 1)], 47)]")
}

#[test]
fn samplers_are_looked_up() {
    const BOTH: &str = "sampler2D(images[i], samplers[j])";
    // A word for each descriptor of arrays with a length, all of the buffer for the others.
    for (images, column) in [("[65]", "min(variable, 64)"), ("[4096]", "min(variable, 4095)"), ("[]", RUNTIME_COLUMN)] {
        for (samplers, row) in [("[65]", "min(variable, 64) + 100"), ("[]", RUNTIME_ROW)] {
            for environment in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
                let words = glsl("frag", environment, &arrays(images, samplers, &once(BOTH)));
                let new = check(&words, environment, MAIN, None);
                assert_eq!(self::samplers(&new), [looked_up(column, row)], "{images} {samplers} {environment}");
            }
        }
    }
    for (images, samplers, pair, column, row) in [
        // One side alone is an array, or its element is known.
        ("[4096]", "", "sampler2D(images[i], samplers)", "min(variable, 4095)", "100"),
        ("", "[4096]", "sampler2D(images, samplers[j])", "0", "min(variable, 4095) + 100"),
        ("[4096]", "[3]", "sampler2D(images[i], samplers[2])", "min(variable, 4095)", "102"),
        ("[4096]", "[4096]", "sampler2D(images[7], samplers[j])", "7", "min(variable, 4095) + 100"),
    ] {
        let words = glsl("frag", "vulkan1.2", &arrays(images, samplers, &once(pair)));
        let new = check(&words, "vulkan1.2", MAIN, None);
        assert_eq!(self::samplers(&new), [looked_up(column, row)], "{pair}");
    }
    let model = "#extension GL_KHR_memory_scope_semantics : require\n#pragma use_vulkan_memory_model\n";
    let pair = format!("{model}{}", once("sampler2D(images[nonuniformEXT(i)], samplers[j])"));
    check(&glsl("frag", "vulkan1.2", &arrays("[]", "[65]", &pair)), "vulkan1.2", MAIN, None);
    // A known element of an array without a length may be behind the end of the buffer.
    let two = "void main() { color = texture(sampler2D(images[9], samplers), uv) + texture(sampler2D(images[i], samplers), uv); }";
    let new = check(&glsl("frag", "vulkan1.2", &arrays("[]", "", two)), "vulkan1.2", MAIN, None);
    assert_eq!(samplers(&new), [looked_up("min(9, length(columns) - 1)", "100"), looked_up(RUNTIME_COLUMN, "100")]);
}

/// What an entry names beyond the places is the sampler of the descriptor that the shader names itself, in the pool's own copy of its array;
/// without one it is the last place.
#[test]
fn own_samplers_are_read_behind_the_places() {
    let place = PoolAt { count: 48 + 65, ..PLACE };
    for (samplers, pair, row, own) in [
        ("[65]", "sampler2D(images[i], samplers[j])", "min(variable, 64) + 100", "min(variable, 64) + 48"),
        ("[]", "sampler2D(images[i], samplers[j])", RUNTIME_ROW, "min(variable, length(rows) - 101) + 48"),
        ("[65]", "sampler2D(images[i], samplers[2])", "102", "50"),
        ("", "sampler2D(images[i], samplers)", "100", "48"),
    ] {
        let words = glsl("frag", "vulkan1.2", &arrays("[65]", samplers, &once(pair)));
        let (module, parts) = (Module::read(&words).expect("a module"), parts(&links(&words, MAIN, None)));
        for (own, last) in [(Some(48), own), (None, "112")] {
            let new = select_or_own(&module, MAIN.0, MAIN.1, None, &place, &parts, &[own]).expect("a link");
            validate(&new, "vulkan1.2").expect("a valid module");
            let at = format!("matrix[min(rows[{row}] + columns[min(variable, 64)], length(matrix) - 1)]");
            assert_eq!(self::samplers(&new), [format!("pool[min({at}, {last})]")], "{samplers} {pair}");
        }
    }
}

/// What differs between invocations is the position in the pool, and with it pointer, sampler and pair; the words of tables are found
/// through buffers that do not.
#[test]
fn samplers_differ_where_an_index_does() {
    for (pair, differs) in [
        ("sampler2D(images[i], samplers[j])", false),
        ("sampler2D(images[nonuniformEXT(i)], samplers[j])", true),
        ("sampler2D(images[i], samplers[nonuniformEXT(j)])", true),
        ("nonuniformEXT(sampler2D(images[nonuniformEXT(i)], samplers[nonuniformEXT(j)]))", true),
        ("sampler2D(images[7], samplers[nonuniformEXT(j)])", true),
        ("sampler2D(images[7], samplers[j])", false),
    ] {
        let words = glsl("frag", "vulkan1.2", &arrays("[65]", "[4096]", &once(pair)));
        let new = check(&words, "vulkan1.2", MAIN, None);
        assert_eq!(nonuniform(&new), [[differs; 3]], "{pair}");
        let module = Module::read(&new).expect("a module");
        let is_new = |id: u32| Module::read(&words).expect("a module").definition(id).is_none();
        let differ = |op: Op| {
            let new = having(&new, op).into_iter().filter(|it| is_new(it[2]));
            new.filter(|it| module.decoration(it[2], Decoration::NonUniform).is_some()).count()
        };
        let once = usize::from(differs);
        // The pointer and the sampler; the position.
        assert_eq!((differ(Op::AccessChain), differ(Op::Load), differ(Op::ExtInst)), (once, once, once), "{pair}");
        // What the module declares for its own arrays is enough.
        assert_eq!(having(&new, Op::Capability), having(&words, Op::Capability), "{pair}");
    }
    // A function that is handed the pointer.
    for (of, pair, with, differs) in [
        ("", "", "images[nonuniformEXT(i)]", true),
        ("nonuniformEXT", "", "images[i]", true),
        ("", "", "images[i]", false),
    ] {
        let new = check(&handed_on(of, pair, with), "vulkan1.2", MAIN, None);
        assert_eq!(nonuniform(&new), [[differs; 3]], "{of} {pair} {with}");
    }
}

/// The pool is indexed dynamically for constants too.
#[test]
fn what_the_pool_needs_is_declared() {
    let declared = |words: &[u32]| -> Vec<u32> { having(words, Op::Capability).iter().map(|it| it[1]).collect() };
    let dynamic = Capability::SampledImageArrayDynamicIndexing as u32;
    let differing = Capability::SampledImageArrayNonUniformIndexing as u32;
    let constant = arrays("[4096]", "[3]", &once("sampler2D(images[7], samplers[2])"));
    let words = glsl("frag", "vulkan1.2", &constant);
    assert!(!declared(&words).contains(&dynamic));
    assert!(declared(&check(&words, "vulkan1.2", MAIN, None)).contains(&dynamic));
    // A module that declares the other kind alone.
    let both = "void main() {
        color = texture(sampler2D(images[nonuniformEXT(i)], samplers[0]), uv);
        color += texture(sampler2D(images[7], samplers[1]), uv);
    }";
    let words = glsl("frag", "vulkan1.2", &arrays("[4096]", "[3]", both));
    assert!(declared(&words).contains(&differing) && !declared(&words).contains(&dynamic));
    let before = links(&words, MAIN, None);
    let parts = parts(&before);
    let is_constant = |part: &&Part| matches!(part.image.index, Index::Const(_));
    let all = check(&words, "vulkan1.2", MAIN, None);
    assert!(declared(&all).contains(&dynamic));
    let first: Vec<Part> = parts.iter().filter(|part| !is_constant(part)).copied().collect();
    let new = selected(&words, MAIN, None, &first).expect("a link");
    check_made(&words, &new, "vulkan1.2", MAIN, None, &first);
    assert_eq!(declared(&new), declared(&words));
}

/// Functions that take image and sampler look nothing up where their calls agree, and are handed a pointer where they do not.
#[test]
fn functions_are_handed_a_sampler() {
    let parameters = |words: &[u32]| having(words, Op::FunctionParameter).len();
    let read = "vec4 read(texture2D image, sampler with) { return texture(sampler2D(image, with), uv); }";
    for (main, passed) in [
        // One call, whose index the function does not know.
        ("read(images[i], samplers[j])", 1),
        // Two elements of the same arrays.
        ("read(images[i], samplers[j]) + read(images[i + 1], samplers[j + 2])", 1),
        // An array pair and one that is known.
        ("read(images[i], samplers[j]) + read(images[3], samplers[1])", 1),
        // The same element each time.
        ("read(images[3], samplers[1]) + read(images[3], samplers[1])", 0),
    ] {
        let body = format!("{read}\nvoid main() {{ color = {main}; }}");
        let words = glsl("frag", "vulkan1.2", &arrays("[4096]", "[65]", &body));
        let new = check(&words, "vulkan1.2", MAIN, None);
        assert_eq!(parameters(&new), parameters(&words) + passed, "{main}");
    }
    // One call is not asked for: it hands on the sampler that it has had.
    let body =
        format!("{read}\nvoid main() {{ color = read(images[i], samplers[j]) + read(images[3], samplers[1]); }}");
    let words = glsl("frag", "vulkan1.2", &arrays("[4096]", "[65]", &body));
    let all = parts(&links(&words, MAIN, None));
    for (at, own) in [(0, "1:1[1]"), (1, "1:1[variable]")] {
        let new = selected(&words, MAIN, None, &all[at..=at]).expect("a link");
        check_made(&words, &new, "vulkan1.2", MAIN, None, &all[at..=at]);
        let module = Module::read(&new).expect("a module");
        let last = |it: &[u32]| expression(&module, *it.last().expect("an argument"));
        let calls: Vec<String> = having(&new, Op::FunctionCall).iter().map(|it| last(it)).collect();
        assert!(calls.iter().any(|it| it == own) && calls.iter().any(|it| it.starts_with("pool[")), "{calls:?}");
    }
}

/// Every link of every shader of the corpus, or why not.
#[test]
fn everything_is_selected() {
    let (mut count, mut refused) = (0, Vec::new());
    entries(|shader, entry, values| {
        let mut parts = parts(&links(&shader.words, entry, values));
        let new = loop {
            match selected(&shader.words, entry, values, &parts) {
                Ok(new) => break new,
                Err(Refused::Part(position, why)) => {
                    refused.push((&*shader.file, why));
                    parts.remove(position);
                }
                Err(Refused::Module(error)) => panic!("{}: {error}", shader.file),
            }
        };
        if parts.is_empty() {
            assert_eq!(new, shader.words, "{}: changed for nothing", shader.file);
            return;
        }
        check_made(&shader.words, &new, &shader.environment, entry, values, &parts);
        count += parts.len();
    });
    assert!(count > 100, "{count} links");
    // A function that has the index, called with samplers that have different rows.
    assert_eq!(refused, [("dynamic_argument.frag", Why::Call); 2]);
}

/// Loops that change the index, branches, and invocations that are discarded before: each sample stays in its block.
#[test]
fn control_flow_stays() {
    for body in [
        "for (int k = 0; k < i; ++k) color += texture(sampler2D(images[k], samplers[j + k]), uv);",
        "for (int k = i;; k = k * 3 & 63) { color += texture(sampler2D(images[k], samplers[j]), uv); if (color.x > 1.0) break; }",
        "if (uv.x > 0.5) discard; color = texture(sampler2D(images[nonuniformEXT(i)], samplers[j]), uv);",
        "if (uv.x > 0.5) color = texture(sampler2D(images[i], samplers[j]), uv); \
         else color = texture(sampler2D(images[i + 1], samplers[j]), uv);",
        "vec2 at = uv; \
         switch (i) { case 1: at = uv.yx; case 2: color = texture(sampler2D(images[i], samplers[j]), at); break; default: break; }",
        "here();",
    ] {
        let read = "void here() { color = i > 3 ? texture(sampler2D(images[i], samplers[j]), uv) : vec4(0.0); }";
        let source = arrays("[]", "[2048]", &format!("{read}\nvoid main() {{ color = vec4(0.0); {body} }}"));
        for environment in ["vulkan1.1", "vulkan1.2", "vulkan1.3"] {
            check(&glsl("frag", environment, &source), environment, MAIN, None);
        }
    }
}

/// All that image instructions can say beside image and sampler.
#[test]
fn every_form_is_selected() {
    let source = "#version 450
        #extension GL_EXT_nonuniform_qualifier : require
        #extension GL_EXT_samplerless_texture_functions : require
        #extension GL_ARB_sparse_texture2 : require
        #extension GL_ARB_sparse_texture_clamp : require
        layout(set = 0, binding = 0) uniform texture2D images[];
        layout(set = 0, binding = 0) uniform utexture2D numbers[];
        layout(set = 0, binding = 0) uniform textureCubeArray cubes[];
        layout(set = 0, binding = 1) uniform sampler samplers[512];
        layout(set = 0, binding = 1) uniform samplerShadow comparing[512];
        layout(location = 0) flat in ivec2 i;
        layout(location = 1) in vec4 at;
        layout(location = 0) out vec4 color;
        #define PAIR sampler2D(images[nonuniformEXT(i.x)], samplers[nonuniformEXT(i.y)])
        #define SHADOW sampler2DShadow(images[i.x], comparing[i.y])
        void main() {
            vec2 uv = at.xy;
            color = texture(PAIR, uv, 0.5) + textureLod(PAIR, uv, at.z) + textureLod(PAIR, uv, 0.0);
            color += textureGrad(PAIR, uv, at.xy, at.zw) + textureProj(PAIR, at) + textureProjLod(PAIR, at.xyz, 1.0);
            color += textureOffset(PAIR, uv, ivec2(1)) + textureGather(PAIR, uv, 2) + textureGatherOffset(PAIR, uv, ivec2(1, 2));
            color += textureGatherOffsets(PAIR, uv, ivec2[4](ivec2(0), ivec2(1), ivec2(2), ivec2(3)));
            color.x += texture(SHADOW, at.xyz) + textureLod(SHADOW, at.xyz, 0.0) + textureProj(SHADOW, at);
            color += textureGather(SHADOW, uv, 0.5);
            color += vec4(texture(usampler2D(numbers[i.x], samplers[i.y]), uv));
            color += texture(samplerCubeArray(cubes[i.x], samplers[i.y]), at);
            color.xy += textureQueryLod(PAIR, uv);
            vec4 texel;
            color.x += sparseTextureARB(PAIR, uv, texel);
            color += texel + textureClampARB(PAIR, uv, 1.0);
            // What needs no sampler.
            color += texelFetch(images[i.x], ivec2(uv), 0) + vec4(textureSize(images[i.x], 0).xyxy);
            color += vec4(textureQueryLevels(images[i.x]));
        }";
    let words = glsl("frag", "vulkan1.2", source);
    let new = check(&words, "vulkan1.2", MAIN, None);
    let joined = samplers(&new);
    assert_eq!(joined.len(), 19);
    let row = "min(variable[1], 511) + 100";
    assert!(joined.iter().all(|it| *it == looked_up("min(variable[0], length(columns) - 1)", row)), "{joined:?}");
}

/// A shader whose indices are integers of a width, signed or not, with `more` extensions.
fn indexed(width: u32, sign: u32, more: &str) -> String {
    let capability = match width {
        8 => "OpCapability Int8\n",
        16 => "OpCapability Int16\n",
        64 => "OpCapability Int64\n",
        _ => "",
    };
    // There is one type of a kind only.
    let (index, types) = match (width, sign) {
        (32, 0) => ("%int", "%int = OpTypeInt 32 0\n".to_owned()),
        _ => ("%index", format!("%int = OpTypeInt 32 0\n%index = OpTypeInt {width} {sign}\n")),
    };
    format!(
        "OpCapability Shader\n{capability}{more}OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %images DescriptorSet 0\nOpDecorate %images Binding 0\n\
         OpDecorate %samplers DescriptorSet 0\nOpDecorate %samplers Binding 1\n\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
         %v2 = OpTypeVector %float 2\n{types}%pp = OpTypePointer Private {index}\n\
         %length = OpConstant %int 100\n%it = OpTypeImage %float 2D 0 0 0 1 Unknown\n%st = OpTypeSampler\n\
         %pt = OpTypeSampledImage %it\n%ia = OpTypeArray %it %length\n%sa = OpTypeArray %st %length\n\
         %iap = OpTypePointer UniformConstant %ia\n%sap = OpTypePointer UniformConstant %sa\n\
         %ip = OpTypePointer UniformConstant %it\n%sp = OpTypePointer UniformConstant %st\n%zero = OpConstant %float 0\n\
         %at = OpConstantComposite %v2 %zero %zero\n%images = OpVariable %iap UniformConstant\n\
         %samplers = OpVariable %sap UniformConstant\n%n = OpVariable %pp Private\n%main = OpFunction %void None %ft\n%mb = OpLabel\n\
         %i = OpLoad {index} %n\n%ic = OpAccessChain %ip %images %i\n%il = OpLoad %it %ic\n%sc = OpAccessChain %sp %samplers %i\n\
         %sl = OpLoad %st %sc\n%j = OpSampledImage %pt %il %sl\n%t = OpImageSampleExplicitLod %v4 %j %at Lod %zero\n\
         OpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn indices_have_32_bits() {
    for (width, sign) in [(32, 0), (32, 1), (64, 0), (64, 1), (16, 0), (16, 1), (8, 0), (8, 1)] {
        let words = assembled(&indexed(width, sign, ""));
        validate(&words, "vulkan1.1").expect("a valid module");
        let parts = parts(&links(&words, ("main", COMPUTE), None));
        assert_eq!(parts.len(), 1);
        if width == 32 {
            let new = check(&words, "vulkan1.1", ("main", COMPUTE), None);
            assert_eq!(samplers(&new), [looked_up("min(variable, 99)", "min(variable, 99) + 100")]);
            continue;
        }
        let refused = selected(&words, ("main", COMPUTE), None, &parts);
        assert_eq!(refused, Err(Refused::Part(0, Why::IndexType)), "{width} {sign}");
        // One word for all elements needs no index.
        let one = |lookup: Lookup| Lookup { length: Length::One, ..lookup };
        let part = Part { column: one(parts[0].column), row: one(parts[0].row), ..parts[0] };
        let new = selected(&words, ("main", COMPUTE), None, &[part]).expect("a link");
        check_made(&words, &new, "vulkan1.1", ("main", COMPUTE), None, &[part]);
        assert_eq!(samplers(&new), [looked_up("0", "100")], "{width} {sign}");
    }
}

/// A storage buffer is a uniform `BufferBlock` before SPIR-V 1.3, unless the module has the extension for its storage class.
#[test]
fn buffers_are_what_the_version_calls_them() {
    use samplin_compiler::{Language, compile};
    let with = "OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n";
    for (version, environment, extension, class) in [
        ("spv1.0", "vulkan1.0", "", StorageClass::Uniform),
        ("spv1.0", "vulkan1.1", with, StorageClass::StorageBuffer),
        ("spv1.2", "vulkan1.1", "", StorageClass::Uniform),
        ("spv1.3", "vulkan1.1", "", StorageClass::StorageBuffer),
        ("spv1.3", "vulkan1.2", with, StorageClass::StorageBuffer),
    ] {
        let words = compile(Language::Assembly(version), "", &indexed(32, 1, extension));
        let new = check(&words, environment, ("main", COMPUTE), None);
        let module = Module::read(&new).expect("a module");
        let buffers = having(&new, Op::Variable).into_iter().filter(|it| {
            let of = |decoration| module.decoration(it[2], decoration);
            of(Decoration::DescriptorSet) == Some(HIDDEN) && of(Decoration::Binding) != Some(PLACE.pool)
        });
        let classes: Vec<u32> = buffers.map(|it| it[3]).collect();
        assert_eq!(classes, [class as u32; 3], "{version} {extension}");
        let decorated =
            |decoration: Decoration| having(&new, Op::Decorate).iter().filter(|it| it[2] == decoration as u32).count();
        let is_old = usize::from(class == StorageClass::Uniform);
        assert_eq!((decorated(Decoration::BufferBlock), decorated(Decoration::Block)), (is_old, 1 - is_old));
        assert_eq!(decorated(Decoration::NonWritable), 3, "{version} {extension}");
    }
}

/// Lookups share the variable of their binding, which may be the matrix's too.
#[test]
fn a_binding_is_one_variable() {
    let words = glsl("frag", "vulkan1.2", &arrays("[65]", "[4096]", &once("sampler2D(images[i], samplers[j])")));
    let mut part = parts(&links(&words, MAIN, None))[0];
    let hidden = |words: &[u32]| {
        let sets = having(words, Op::Decorate).into_iter();
        sets.filter(|it| it[2] == Decoration::DescriptorSet as u32 && it[3] == HIDDEN).count()
    };
    let interface =
        |words: &[u32]| Module::read(words).expect("a module").entry_points().next().map(|it| it.interface().len());
    for (column, row, variables) in [(0, 1, 4), (0, 0, 3), (2, 2, 2)] {
        (part.column.binding, part.row.binding) = (column, row);
        let new = selected(&words, MAIN, None, &[part]).expect("a link");
        check_made(&words, &new, "vulkan1.2", MAIN, None, &[part]);
        assert_eq!(hidden(&new), variables);
        assert_eq!(interface(&new), interface(&words).map(|count| count + variables));
    }
}

/// Variables of several types that alias one binding, and arrays in one set.
#[test]
fn aliased_arrays_are_selected() {
    let source = "#version 450
        layout(set = 0, binding = 0) uniform texture2D images[128];
        layout(set = 0, binding = 0) uniform itexture2D numbers[128];
        layout(set = 0, binding = 0) uniform texture2DArray layered[128];
        layout(set = 0, binding = 1) uniform sampler samplers[128];
        layout(set = 0, binding = 1) uniform samplerShadow comparing[128];
        layout(location = 0) flat in int i;
        layout(location = 1) in vec3 at;
        layout(location = 0) out vec4 color;
        void main() {
            color = texture(sampler2D(images[i], samplers[i]), at.xy);
            color += texture(isampler2D(numbers[i], samplers[i]), at.xy);
            color += texture(sampler2DArray(layered[i], samplers[i]), at);
            color += texture(sampler2DShadow(images[i], comparing[i]), at);
        }";
    let words = glsl("frag", "vulkan1.2", source);
    // One part has them all.
    assert_eq!(parts(&links(&words, MAIN, None)).len(), 1);
    let new = check(&words, "vulkan1.2", MAIN, None);
    assert_eq!(samplers(&new), vec![looked_up("min(variable, 127)", "min(variable, 127) + 100"); 4]);
}

/// Functions of other entry points go on with what they have.
#[test]
fn other_entry_points_keep_their_samplers() {
    for file in ["entries_13.spvasm", "entries_14.spvasm"] {
        let words = &shaders().iter().find(|shader| shader.file == file).expect("a shader").words;
        let new = check(words, "vulkan1.2", ("front", FRAGMENT), None);
        for entry in [("back", FRAGMENT), ("front", COMPUTE)] {
            let all = |words: &[u32]| merged(links(words, entry, None).into_iter());
            assert_eq!(all(&new), all(words), "{file}");
        }
    }
}

#[test]
fn what_cannot_be_selected_is_named() {
    let first = |words: &[u32]| {
        let links = links(words, MAIN, None);
        let link = links.iter().find(|link| link.uses.samples()).expect("a link");
        let part = part(link.image.expect("an image"), link.sampler.expect("a sampler"));
        selected(words, MAIN, None, &[part])
    };
    let why = |why| Err(Refused::Part(0, why));
    // A descriptor that is both.
    let combined = "#version 450
        #extension GL_EXT_nonuniform_qualifier : require
        layout(set = 0, binding = 0) uniform sampler2D pairs[];
        layout(location = 0) flat in int i;
        layout(location = 0) out vec4 color;
        void main() { color = textureLod(pairs[i], vec2(0.5), 0.0); }";
    assert_eq!(first(&glsl("frag", "vulkan1.2", combined)), why(Why::NoLink));
    // The same as image and sampler.
    let apart = combined.replace(
        "uniform sampler2D pairs[]",
        "uniform texture2D images[];\nlayout(set = 0, binding = 0) uniform sampler pairs[]",
    );
    let apart = glsl("frag", "vulkan1.2", &apart.replace("pairs[i],", "sampler2D(images[i], pairs[i]),"));
    check(&apart, "vulkan1.2", MAIN, None);
    // An image that is chosen, and one that an instruction of a vendor's reads.
    for (file, found) in [("opaque.spvasm", Why::Opaque), ("footprint.frag", Why::Vendor)] {
        let words = &shaders().iter().find(|shader| shader.file == file).expect("a shader").words;
        assert_eq!(first(words), why(found), "{file}");
    }
    // The function has the index, its callers have the samplers.
    let body = "vec4 read(sampler with, int at) { return texture(sampler2D(images[at], with), uv); }
        void main() { color = read(samplers[j], i) + read(samplers[3], i + 1); }";
    assert_eq!(first(&glsl("frag", "vulkan1.2", &arrays("[]", "[4096]", body))), why(Why::Call));
    // All that it needs is in one function.
    let body = "vec4 read(int at, uint with) { return texture(sampler2D(images[at], samplers[with]), uv); }
        void main() { color = read(i, j) + read(i + 1, 3); }";
    check(&glsl("frag", "vulkan1.2", &arrays("[]", "[4096]", body)), "vulkan1.2", MAIN, None);
    // Never sampled through, or not there.
    let words = glsl("frag", "vulkan1.2", &arrays("[65]", "[65]", &once("sampler2D(images[i], samplers[j])")));
    let part = parts(&links(&words, MAIN, None))[0];
    let other = Part { image: Operand { binding: 9, ..part.image }, ..part };
    assert_eq!(selected(&words, MAIN, None, &[part, other]), Err(Refused::Part(1, Why::NoLink)));
    let missing = selected(&words, ("main", COMPUTE), None, &[part]);
    assert_eq!(missing, Err(Refused::Module(Error::NoEntryPoint)));
    // Without parts there is nothing to do.
    assert_eq!(selected(&words, MAIN, None, &[]).as_ref(), Ok(&words));
}

/// Links that are split before or after, tasks behind both, and storage images: each pass finds what it would find alone.
#[test]
fn select_goes_with_other_passes() {
    use samplin_spirv::image_formats;
    use samplin_spirv::passes::{Step, run};
    use samplin_spirv::sampling::{Keys, Limits, Passes, sampling};
    use samplin_spirv::scan::scan;
    use samplin_spirv::split;
    let source = "#version 450
        #extension GL_EXT_nonuniform_qualifier : require
        layout(set = 0, binding = 0) uniform texture2D many[];
        layout(set = 0, binding = 1) uniform sampler samplers[4096];
        layout(set = 0, binding = 2) uniform texture2D one;
        layout(set = 0, binding = 3) uniform sampler s;
        layout(set = 0, binding = 4, rgba8) uniform image2D written;
        layout(location = 0) flat in int i;
        layout(location = 1) in vec2 uv;
        layout(location = 0) out vec4 color;
        vec4 read(texture2D image, sampler with) { return texture(sampler2D(image, with), uv); }
        void main() {
            color = read(many[nonuniformEXT(i)], samplers[i + 1]) + read(one, s) + texture(sampler2D(many[i], s), uv);
            imageStore(written, ivec2(uv), color);
        }";
    let words = glsl("frag", "vulkan1.2", source);
    let is_small = |part: &&Part| part.image.index == Index::Whole;
    let all = parts(&links(&words, MAIN, None));
    let small: Vec<split::Part> = all
        .iter()
        .filter(is_small)
        .map(|part| split::Part { image: part.image, sampler: part.sampler, binding: 9 })
        .collect();
    let large: Vec<Part> = all.iter().filter(|part| !is_small(part)).copied().collect();
    assert_eq!((small.len(), large.len()), (1, 2));
    let select = |words: &[u32]| selected(words, MAIN, None, &large).expect("two links");
    let split = |words: &[u32]| {
        let module = Module::read(words).expect("a module");
        split::split(&module, MAIN.0, MAIN.1, None, HIDDEN, &small).expect("a link").words
    };
    let formats = |words: &[u32]| {
        let step = Step::ImageFormats(image_formats::Options { images: u64::MAX, buffers: 0 });
        run(words, scan(words), [step].iter()).expect("an outcome").words.expect("a storage image")
    };
    let texts = |words: &[u32]| merged(links(words, MAIN, None).into_iter());
    let both = [
        select(&split(&words)),
        split(&select(&words)),
        select(&split(&formats(&words))),
        formats(&select(&split(&words))),
    ];
    for new in &both {
        validate(new, "vulkan1.2").expect("a valid module");
        assert_eq!(texts(new), texts(&both[0]));
        for (part, split) in large.iter().zip(small.iter().cycle()) {
            assert_eq!(selected(new, MAIN, None, &[*part]), Err(Refused::Part(0, Why::NoLink)));
            let module = Module::read(new).expect("a module");
            assert!(split::split(&module, MAIN.0, MAIN.1, None, HIDDEN, &[*split]).is_err());
        }
        // The pass for tasks takes what is split, and leaves the pool.
        let (slots, count) = crate::sampling::slots(&links(new, MAIN, None), Passes { filter: true, ..Passes::NONE });
        let module = Module::read(new).expect("a module");
        let keys = Keys::Block { set: 8, binding: 0, count: count.max(1) };
        let sampled =
            sampling(&module, MAIN.0, MAIN.1, None, keys, &slots, Limits { lod_bias: 16.0 }).expect("a module");
        validate(&sampled.words, "vulkan1.2").expect("a valid module");
    }
}
