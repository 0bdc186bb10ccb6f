//! The pass `select`: links whose indices only the running shader knows read their sampler from the pool, and nothing else is
//! different.

use samplin_spirv::select::{Length, Lookup, Part, Place, Refused, Why, select};
use samplin_spirv::{Index, Link, Module, Operand, Specialization, Uses};
use spirv::{Capability, Decoration, ExecutionModel, Op};

use crate::corpus::{glsl, having, instructions, shaders, text, validate};
use crate::split::{handed_on, nonuniform};

/// A set that no shader here has.
const HIDDEN: u32 = 7;

/// Bindings of the columns, the rows, the matrix and the pool, which has 48 samplers.
const PLACE: Place = Place { set: HIDDEN, matrix: 2, pool: 3, count: 48 };

const MAIN: (&str, u32) = ("main", FRAGMENT);

/// What is read for arrays without a length.
const RUNTIME_COLUMN: &str = "min(variable, length(columns) - 1)";
const RUNTIME_ROW: &str = "min(variable, length(rows) - 101) + 100";

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
    select(&Module::read(words).expect("a module"), entry, values, &PLACE, parts)
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
    } else if of(Op::Load) {
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
    // A known element of an array without a length may be behind the end of the buffer.
    let two = "void main() { color = texture(sampler2D(images[9], samplers), uv) + texture(sampler2D(images[i], samplers), uv); }";
    let new = check(&glsl("frag", "vulkan1.2", &arrays("[]", "", two)), "vulkan1.2", MAIN, None);
    assert_eq!(samplers(&new), [looked_up("min(9, length(columns) - 1)", "100"), looked_up(RUNTIME_COLUMN, "100")]);
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
    for shader in shaders().iter().filter(|shader| shader.valid) {
        for table in &shader.tables {
            table.specialized(|values| {
                let entry = (&*table.name, table.model);
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
        }
    }
    assert!(count > 100, "{count} links");
    // A function that has the index, called with samplers that have different rows.
    assert_eq!(refused, [("dynamic_argument.frag", Why::Call); 2]);
}
