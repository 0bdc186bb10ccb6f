//! The pass `sampling`: every link of every shader that it takes asks its task first.

use std::collections::BTreeMap;

use samplin_spirv::sampling::{FUNCTIONS, Keys, Limits, Passes, Sampled, Slot, Task, Unchanged, flags, sampling};
use samplin_spirv::split::{Part, Refused, split};
use samplin_spirv::{Index, Link, Module, Specialization, Uses};
use spirv::{ExecutionModel, Op};

use crate::corpus::{Shader, assembled, by_file, entries, glsl, having, shaders, validate};

/// A set that no shader of the corpus has.
pub(crate) const SET: u32 = 7;

/// The set that `split` reads samplers from.
const HIDDEN: u32 = 8;

const LIMITS: Limits = Limits { lod_bias: 16.0 };

const BOTH: Passes = Passes { saturate: true, filter: true, ..Passes::NONE };

/// A slot for each link that is sampled through, and the number of tasks.
pub(crate) fn slots(links: &[Link], passes: Passes) -> (Vec<Slot>, u32) {
    let (mut slots, mut first) = (Vec::<Slot>::new(), 0);
    for link in links.iter().filter(|link| link.uses.samples()) {
        let (Some(image), Some(sampler)) = (link.image, link.sampler) else { continue };
        if slots.iter().any(|slot| (slot.image, slot.sampler) == (image, sampler)) {
            continue;
        }
        let varies = matches!(sampler.index, Index::Dynamic { .. } | Index::Push(_)) && image != sampler;
        // A hidden set has an element for each pair.
        let varies = varies && sampler.set != HIDDEN;
        let slot = Slot { image, sampler, first, passes, row: if varies { sampler.count } else { 0 } };
        first += slot.tasks().unwrap_or(0);
        slots.push(slot);
    }
    (slots, first)
}

fn all_flags() -> Task {
    Task { flags: 0xfff, bias: 0.5, min_lod: 0.0, max_lod: 4.0 }
}

/// Runs the pass on each entry point of each shader.
pub(crate) fn each(mut with: impl FnMut(&Shader, (&str, u32), Option<&Specialization<'_>>, &Module<'_>, &[Slot], u32)) {
    entries(|shader, entry, values| {
        let module = Module::read(&shader.words).expect("a module");
        let (slots, count) = slots(&module.links(entry.0, entry.1, values).expect("links"), BOTH);
        with(shader, entry, values, &module, &slots, count);
    });
}

/// What the pass makes of a shader: it is valid, and a second run finds nothing in it.
pub(crate) fn settled(
    shader: &Shader,
    entry: (&str, u32),
    values: Option<&Specialization<'_>>,
    keys: Keys<'_>,
    slots: &[Slot],
) -> Sampled {
    let sampled = run(&shader.words, entry, values, keys, slots);
    if let Err(error) = validate(&sampled.words, &shader.environment) {
        panic!("{} {} {keys:?} {slots:?}: {error}", shader.file, entry.0);
    }
    assert_eq!(sampled.words == shader.words, sampled.changed == 0, "{}", shader.file);
    let again = run(&sampled.words, entry, values, keys, slots);
    assert_eq!((again.changed, again.words == sampled.words), (0, true), "{} again", shader.file);
    sampled
}

pub(crate) fn run(
    words: &[u32],
    entry: (&str, u32),
    values: Option<&Specialization<'_>>,
    keys: Keys<'_>,
    slots: &[Slot],
) -> Sampled {
    sampling(&Module::read(words).expect("a module"), entry.0, entry.1, values, keys, slots, LIMITS).expect("a module")
}

#[test]
fn everything_is_sampled_through_tasks() {
    let mut refused: BTreeMap<String, Vec<Unchanged>> = BTreeMap::new();
    let (mut modules, mut changed) = (0, 0);
    each(|shader, entry, values, _, slots, count| {
        let tasks = vec![all_flags(); count as usize];
        for keys in [Keys::Block { set: SET, binding: 0, count: count.max(1) }, Keys::Fixed(&tasks)] {
            let sampled = settled(shader, entry, values, keys, slots);
            if matches!(keys, Keys::Block { .. }) {
                for (_, why) in &sampled.left {
                    refused.entry(shader.file.clone()).or_default().push(*why);
                }
                changed += sampled.changed;
                modules += u32::from(sampled.changed > 0);
            }
            assert_eq!(run(&shader.words, entry, values, keys, slots), sampled, "{} twice", shader.file);
        }
    });
    println!("{modules} modules, {changed} instructions; refused: {refused:#?}");
    let expected = by_file([
        ("dxc_arrays.hlsl", vec![Unchanged::Unbounded]),
        // A function that has the index, called with pairs of which only its callers know which they are.
        ("dynamic_argument.frag", vec![Unchanged::Call, Unchanged::Call]),
        ("footprint.frag", vec![Unchanged::Footprint]),
        ("nonuniform.frag", vec![Unchanged::Unbounded, Unchanged::Unbounded]),
        ("push_index.frag", vec![Unchanged::Unbounded]),
        // Clamped, and not filtered.
        ("sparse.frag", vec![Unchanged::Sparse]),
    ]);
    assert_eq!(refused, expected);
    assert_eq!((modules, changed), (50, 122));
}

/// The same where texels can be fetched, by tasks that say so of all, of none, or that are not known.
#[test]
fn everything_is_fetched_or_left() {
    const FETCH: Passes = Passes { fetch: true, ..BOTH };
    let (mut changed, mut fetched) = (0, 0);
    each(|shader, entry, values, _, slots, count| {
        let slots: Vec<Slot> = slots.iter().map(|slot| Slot { passes: FETCH, ..*slot }).collect();
        let all = vec![Task { flags: all_flags().flags | flags::FETCH, ..all_flags() }; count as usize];
        // Every second one.
        let mut some = all.clone();
        some.iter_mut().step_by(2).for_each(|task| task.flags = flags::CLAMP_S);
        let block = Keys::Block { set: SET, binding: 0, count: count.max(1) };
        for keys in [Keys::Fixed(&all), Keys::Fixed(&some), block] {
            let sampled = settled(shader, entry, values, keys, &slots);
            changed += sampled.changed;
            fetched += having(&sampled.words, Op::ImageFetch).len() - having(&shader.words, Op::ImageFetch).len();
        }
    });
    assert!(changed > 300 && fetched > 300, "{changed} changed, {fetched} fetches");
}

/// The same where shaders can compare: where they always do no instruction is left that has a sampler compare, but for those that were
/// left as they are.
#[test]
fn everything_is_compared_or_left() {
    const COMPARE: Passes = Passes { compare: true, ..BOTH };
    const MUST: Passes = Passes { compare: true, must_compare: true, ..Passes::NONE };
    let forms = [
        Op::ImageSampleDrefImplicitLod,
        Op::ImageSampleDrefExplicitLod,
        Op::ImageSampleProjDrefImplicitLod,
        Op::ImageSampleProjDrefExplicitLod,
        Op::ImageDrefGather,
    ];
    let comparing = |words: &[u32]| forms.iter().map(|form| having(words, *form).len()).sum::<usize>();
    let (mut compared, mut kept) = (0, 0);
    each(|shader, entry, values, _, slots, count| {
        let task =
            Task { flags: all_flags().flags | flags::COMPARE | flags::LESS | flags::CLAMP_REFERENCE, ..all_flags() };
        let tasks = vec![task; count as usize];
        let block = Keys::Block { set: SET, binding: 0, count: count.max(1) };
        for (keys, passes) in [(block, COMPARE), (block, MUST), (Keys::Fixed(&tasks), MUST)] {
            let slots: Vec<Slot> = slots.iter().map(|slot| Slot { passes, ..*slot }).collect();
            let sampled = settled(shader, entry, values, keys, &slots);
            let (before, after) = (comparing(&shader.words), comparing(&sampled.words));
            if before > 0 && passes == MUST && sampled.left.is_empty() && shader.tables.len() == 1 {
                assert_eq!(after, 0, "{} {} {keys:?}", shader.file, entry.0);
                compared += before;
            }
            if passes == COMPARE {
                // What the sampler compares where tasks do not ask for it.
                assert!(after >= before.min(1), "{} {}", shader.file, entry.0);
                kept += after;
            }
        }
    });
    assert!(compared > 10 && kept > 10, "{compared} compared, {kept} kept");
}

/// Every slot by itself: where calls of one function disagree, what is not asked for goes on as it does.
#[test]
fn one_slot_at_a_time_is_sampled_through_its_task() {
    each(|shader, entry, values, _, slots, count| {
        for slot in slots {
            let keys = Keys::Block { set: SET, binding: 0, count: count.max(1) };
            let sampled = settled(shader, entry, values, keys, &[*slot]);
            assert!(
                sampled.changed > 0 || !sampled.left.is_empty() || is_asked_only(shader, entry, values, slot),
                "{} {slot:?}",
                shader.file
            );
        }
    });
}

/// What `split` has made is sampled through tasks as what it was made of is.
#[test]
fn split_links_are_sampled_through_tasks() {
    let mut changed = 0;
    each(|shader, entry, values, module, slots, _| {
        let mut parts: Vec<Part> = (0..)
            .zip(slots)
            .map(|(binding, slot)| Part { image: slot.image, sampler: slot.sampler, binding })
            .collect();
        let split = loop {
            match split(module, entry.0, entry.1, values, HIDDEN, &parts) {
                Ok(split) => break split,
                Err(Refused::Part(part, _)) => _ = parts.remove(part),
                Err(Refused::Module(error)) => panic!("{}: {error}", shader.file),
            }
        };
        let links = Module::read(&split.words).expect("a module").links(entry.0, entry.1, values).expect("links");
        let (slots, count) = self::slots(&links, BOTH);
        for part in &split.hidden {
            // One task for each element, whatever the image's array is.
            let own = slots.iter().find(|slot| (slot.sampler.set, slot.sampler.binding) == (HIDDEN, part.binding));
            assert_eq!(own.map(Slot::tasks), own.map(|_| Ok(part.count)), "{}", shader.file);
        }
        let keys = Keys::Block { set: SET, binding: 0, count: count.max(1) };
        let sampled = run(&split.words, entry, values, keys, &slots);
        if let Err(error) = validate(&sampled.words, &shader.environment) {
            panic!("{} {}: {error}", shader.file, entry.0);
        }
        // A combined descriptor's own sampler is read where nothing is asked.
        let passes = Passes { compare: true, own_sampler: true, ..BOTH };
        let own: Vec<Slot> = slots.iter().map(|slot| Slot { passes, ..*slot }).collect();
        let chosen = run(&split.words, entry, values, keys, &own);
        if let Err(error) = validate(&chosen.words, &shader.environment) {
            panic!("{} {}: {error}", shader.file, entry.0);
        }
        let again = run(&chosen.words, entry, values, keys, &own);
        assert_eq!((again.changed, again.words == chosen.words), (0, true), "{} again", shader.file);
        let before = run(&shader.words, entry, values, Keys::Block { set: SET, binding: 0, count: 4096 }, &{
            let links = module.links(entry.0, entry.1, values).expect("links");
            self::slots(&links, BOTH).0
        });
        assert_eq!(sampled.changed, before.changed, "{} {}: {:?}", shader.file, entry.0, sampled.left);
        changed += sampled.changed;
    });
    assert!(changed > 100, "{changed}");
}

/// Whether nothing but the level of detail is asked of a slot's link.
fn is_asked_only(shader: &Shader, entry: (&str, u32), values: Option<&Specialization<'_>>, slot: &Slot) -> bool {
    let links = Module::read(&shader.words).expect("a module").links(entry.0, entry.1, values).expect("links");
    let samples = Uses::QUERY_LOD | Uses::COMBINED | Uses::FETCH | Uses::QUERY;
    let is_it = |link: &&Link| link.image == Some(slot.image) && link.sampler == Some(slot.sampler);
    // Cubes are not clamped, and what is compared is not filtered.
    let is_left = |link: &Link| link.uses.contains(Uses::DREF) && link.ty.dim == 3;
    links.iter().filter(is_it).all(|link| link.uses.without(samples) == Uses::default() || is_left(link))
}

#[test]
fn tasks_that_ask_for_nothing_change_nothing_if_they_are_fixed() {
    each(|shader, entry, values, _, slots, count| {
        // What is of no use without the flags of a pass does not count.
        let idle = Task { flags: !(flags::CLAMP_S | flags::CLAMP_T | flags::CLAMP_R) & !0x138, ..all_flags() };
        let sampled = run(&shader.words, entry, values, Keys::Fixed(&vec![idle; count as usize]), slots);
        assert_eq!((sampled.changed, sampled.words == shader.words), (0, true), "{}", shader.file);
    });
}

#[test]
fn nothing_is_changed_without_slots() {
    each(|shader, entry, values, _, _, _| {
        let keys = Keys::Block { set: SET, binding: 0, count: 1 };
        let sampled = run(&shader.words, entry, values, keys, &[]);
        assert_eq!((sampled.changed, sampled.left.len(), &sampled.words), (0, 0, &shader.words), "{}", shader.file);
        assert_eq!(having(&sampled.words, Op::ImageQuerySizeLod), having(&shader.words, Op::ImageQuerySizeLod));
    });
}

/// A shader that samples one pair with so many different offsets.
fn many(ways: usize) -> Vec<u32> {
    let list = |format: &dyn Fn(usize) -> String| (0..ways).map(format).collect::<String>();
    let offsets = list(&|n| format!("%n{n} = OpConstant %int {n}\n%o{n} = OpConstantComposite %i2 %n{n} %n{n}\n"));
    let body = list(&|n| format!("%t{n} = OpImageSampleExplicitLod %v4 %pair %at Lod|ConstOffset %zero %o{n}\n"));
    assembled(&format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %i DescriptorSet 0\nOpDecorate %i Binding 0\n\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
         %v2 = OpTypeVector %float 2\n%int = OpTypeInt 32 1\n%i2 = OpTypeVector %int 2\n\
         %it = OpTypeImage %float 2D 0 0 0 1 Unknown\n%pt = OpTypeSampledImage %it\n\
         %ip = OpTypePointer UniformConstant %pt\n%zero = OpConstant %float 0\n{offsets}\
         %at = OpConstantComposite %v2 %zero %zero\n%i = OpVariable %ip UniformConstant\n\
         %main = OpFunction %void None %ft\n%mb = OpLabel\n%pair = OpLoad %pt %i\n{body}OpReturn\nOpFunctionEnd\n"
    ))
}

#[test]
fn new_functions_have_a_limit() {
    let entry = ("main", ExecutionModel::GLCompute as u32);
    let keys = Keys::Block { set: SET, binding: 0, count: 1 };
    let saturate = Passes { saturate: true, ..Passes::default() };
    for (ways, left) in [(FUNCTIONS, vec![]), (FUNCTIONS + 1, vec![(0, Unchanged::Functions)])] {
        let words = many(ways);
        let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
        let sampled = run(&words, entry, None, keys, &slots(&links, saturate).0);
        assert_eq!((sampled.changed as usize, &sampled.left), (FUNCTIONS, &left));
        assert_eq!(having(&sampled.words, Op::Function).len(), 1 + FUNCTIONS);
    }
    // One function for all that is alike.
    let words = &shaders().iter().find(|shader| shader.file == "same_pair_twice.frag").expect("a shader").words;
    let entry = ("main", ExecutionModel::Fragment as u32);
    let links = Module::read(words).expect("a module").links(entry.0, entry.1, None).expect("links");
    let sampled = run(words, entry, None, keys, &slots(&links, saturate).0);
    let functions = |words: &[u32]| having(words, Op::Function).len() as u32;
    assert!(sampled.changed > functions(&sampled.words) - functions(words), "{}", sampled.changed);
}

/// A function that is called with elements which differ between invocations reads them so, whichever of the two says it.
#[test]
fn what_is_handed_on_is_nonuniform_where_it_may_differ() {
    let entry = ("main", ExecutionModel::Fragment as u32);
    for (of, pair, with, differs) in [
        ("", "", "images[nonuniformEXT(i)]", true),
        ("", "nonuniformEXT", "images[i]", true),
        ("", "", "images[i]", false),
    ] {
        let words = crate::split::handed_on(of, pair, with);
        let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
        let (slots, count) = slots(&links, BOTH);
        let sampled = run(&words, entry, None, Keys::Block { set: SET, binding: 0, count }, &slots);
        assert_eq!((sampled.changed, sampled.left.len()), (1, 0), "{of} {pair} {with}");
        validate(&sampled.words, "vulkan1.2").expect("a valid module");
        let module = Module::read(&sampled.words).expect("a module");
        let is_new = |it: &&&[u32]| Module::read(&words).expect("a module").definition(it[2]).is_none();
        let joined = having(&sampled.words, Op::SampledImage);
        let decorated = |it: &&[u32]| module.decoration(it[2], spirv::Decoration::NonUniform).is_some();
        let joined: Vec<bool> = joined.iter().filter(is_new).map(decorated).collect();
        assert!(!joined.is_empty() && joined.iter().all(|it| *it == differs), "{of} {pair} {with}: {joined:?}");
    }
}

/// A function that is called with cubes of several slots. They are filtered; where they should be clamped nothing changes, and each slot
/// says so.
#[test]
fn cubes_of_functions_are_left() {
    let source = "#version 450
        layout(set = 0, binding = 0) uniform samplerCube a;
        layout(set = 0, binding = 1) uniform samplerCube b;
        layout(location = 0) out vec4 colour;
        vec4 get(samplerCube pair) { return textureLod(pair, vec3(1.0), 0.0); }
        void main() { colour = get(a) + get(b); }";
    let words = glsl("frag", "vulkan1.1", source);
    let entry = ("main", ExecutionModel::Fragment as u32);
    let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
    let keys = Keys::Block { set: SET, binding: 0, count: 2 };
    let saturate = Passes { saturate: true, ..Passes::default() };
    let sampled = run(&words, entry, None, keys, &slots(&links, saturate).0);
    assert_eq!(sampled.left, [(0, Unchanged::Cube), (1, Unchanged::Cube)]);
    assert_eq!((sampled.changed, sampled.words == words), (0, true));
    let sampled = run(&words, entry, None, keys, &slots(&links, BOTH).0);
    assert_eq!((sampled.changed, sampled.left.len()), (1, 0));
}

/// Gathers that say a level or a bias (SPV_AMD_texture_gather_bias_lod) are left; the same without is not.
#[test]
fn gathers_with_levels_are_left() {
    let entry = ("main", ExecutionModel::Fragment as u32);
    let keys = Keys::Block { set: SET, binding: 0, count: 1 };
    let saturate = Passes { saturate: true, ..Passes::default() };
    for (lookup, left) in [
        ("textureGather(pair, vec2(1.0), 0, 0.5)", vec![(0, Unchanged::Operands)]),
        ("textureGatherLodAMD(pair, vec2(1.0), 1.0, 0)", vec![(0, Unchanged::Operands)]),
        ("textureGather(pair, vec2(1.0), 0)", vec![]),
    ] {
        let source = format!(
            "#version 450\n#extension GL_AMD_texture_gather_bias_lod : require\n\
             layout(set = 0, binding = 0) uniform sampler2D pair;\nlayout(location = 0) out vec4 colour;\n\
             void main() {{ colour = {lookup}; }}"
        );
        let words = glsl("frag", "vulkan1.1", &source);
        let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
        let sampled = run(&words, entry, None, keys, &slots(&links, saturate).0);
        assert_eq!((sampled.left.clone(), sampled.changed), (left.clone(), u32::from(left.is_empty())), "{lookup}");
    }
}

/// A level of detail of 16 bits is left, because what is computed with it has 32. Such an offset is converted, whatever its width.
#[test]
fn levels_of_half_floats_are_left() {
    let entry = ("main", ExecutionModel::Fragment as u32);
    let keys = Keys::Block { set: SET, binding: 0, count: 1 };
    for (operands, left) in [
        ("Lod %half_1", vec![(0, Unchanged::Operands)]),
        ("Lod %zero", vec![]),
        ("Lod|ConstOffset %zero %short_1", vec![]),
        ("Lod|ConstOffset %zero %int_1", vec![]),
    ] {
        let words = assembled(&format!(
            "OpCapability Shader\nOpCapability Float16\nOpCapability Int16\nOpMemoryModel Logical GLSL450
             OpEntryPoint Fragment %main \"main\" %colour\nOpExecutionMode %main OriginUpperLeft
             OpDecorate %colour Location 0\nOpDecorate %pair DescriptorSet 0\nOpDecorate %pair Binding 0
             %void = OpTypeVoid\n%function = OpTypeFunction %void\n%float = OpTypeFloat 32\n%half = OpTypeFloat 16
             %short = OpTypeInt 16 1\n%int = OpTypeInt 32 1\n%v2short = OpTypeVector %short 2\n%v2int = OpTypeVector %int 2
             %v2 = OpTypeVector %float 2\n%v4 = OpTypeVector %float 4
             %image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%sampled = OpTypeSampledImage %image
             %pointer = OpTypePointer UniformConstant %sampled\n%pair = OpVariable %pointer UniformConstant
             %output = OpTypePointer Output %v4\n%colour = OpVariable %output Output
             %zero = OpConstant %float 0\n%at = OpConstantComposite %v2 %zero %zero\n%half_1 = OpConstant %half 1
             %one_short = OpConstant %short 1\n%short_1 = OpConstantComposite %v2short %one_short %one_short
             %one_int = OpConstant %int 1\n%int_1 = OpConstantComposite %v2int %one_int %one_int
             %main = OpFunction %void None %function\n%label = OpLabel\n%loaded = OpLoad %sampled %pair
             %texel = OpImageSampleExplicitLod %v4 %loaded %at {operands}
             OpStore %colour %texel\nOpReturn\nOpFunctionEnd"
        ));
        validate(&words, "vulkan1.1").expect("valid");
        let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
        let sampled = run(&words, entry, None, keys, &slots(&links, BOTH).0);
        assert_eq!((sampled.left.clone(), sampled.changed), (left.clone(), u32::from(left.is_empty())), "{operands}");
        validate(&sampled.words, "vulkan1.1").expect(operands);
    }
}
