//! Atomic counters: which bytes are counted in, before and after; what is valid; what is refused.

use std::collections::{BTreeSet, HashMap};

use samplin_spirv::atomic_counters::{Options, Target, atomic_counters};
use samplin_spirv::passes::{Counters, PassChange, Rewrite, Why};
use samplin_spirv::{Editor, Module};
use spirv::{Decoration, Op};

use crate::corpus::{assembled, glsl, having, instructions, shaders, validate};
use crate::machine::{Space, Trace, run};

fn rewritten(words: &[u32], options: &Options) -> Result<Rewrite, Why> {
    atomic_counters(&Module::read(words).expect("a module"), options)
}

fn buffers(rewrite: &Rewrite) -> Vec<Counters> {
    let counters = rewrite.changes.iter();
    counters
        .filter_map(|change| if let PassChange::Counters(all) = change { Some(all.clone()) } else { None })
        .collect()
}

/// Rewrites, checks what must hold of every rewritten module, and hands it on.
fn lowered(words: &[u32], environment: &str, options: &Options) -> (Vec<u32>, Rewrite) {
    let mut rewrite = rewritten(words, options).expect("can be rewritten");
    let new = rewrite.words.take().expect("something to rewrite");
    validate(&new, environment).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rewritten(&new, options), Ok(Rewrite::default()), "a second run finds something");
    assert_eq!(rewritten(words, options).expect("again").words.as_ref(), Some(&new), "not the same twice");
    (new, rewrite)
}

/// What a trace would be with storage buffers.
fn mapped(trace: Trace, counters: &[Counters]) -> Trace {
    let space = |space: Space| match space {
        Space::Counter(binding) => {
            let to = counters.iter().find(|to| to.counter_binding == binding).expect("a buffer");
            Space::Buffer(to.set, to.binding)
        }
        other => other,
    };
    Trace {
        atomics: trace.atomics.into_iter().map(|(opcode, at, byte)| (opcode, space(at), byte)).collect(),
        memory: trace.memory.into_iter().map(|((at, byte), value)| ((space(at), byte), value)).collect(),
    }
}

const HEAD: &str = "#version 460\n#extension GL_ARB_shader_atomic_counter_ops : enable\nlayout(local_size_x = 1) in;\n\
    layout(std430, binding = 3) buffer Result { uint result[]; };\n";

/// Declarations and the body of the main function, in which `g` is the number of the work group, for shaders with all kinds of
/// counters.
const SOURCES: &[(&str, &str, &str)] = &[
    ("single", "layout(binding = 0) uniform atomic_uint c;", "result[g] = atomicCounterIncrement(c);"),
    (
        "several bindings and offsets",
        "layout(binding = 0, offset = 4) uniform atomic_uint a;\nlayout(binding = 0, offset = 12) uniform atomic_uint b;\n\
         layout(binding = 5, offset = 8) uniform atomic_uint c;",
        "result[g] = atomicCounterIncrement(a) + atomicCounterDecrement(b) + atomicCounter(c) + atomicCounterIncrement(c);",
    ),
    (
        "arrays",
        "layout(binding = 1, offset = 8) uniform atomic_uint a[4];\nlayout(binding = 1) uniform atomic_uint after;\n\
         layout(binding = 2) uniform atomic_uint grid[2][3];",
        "result[0] = atomicCounterIncrement(a[g]) + atomicCounterIncrement(a[2]) + atomicCounterIncrement(after);\n\
         result[1] = atomicCounterIncrement(grid[1][g]) + atomicCounterIncrement(grid[g][2]) + atomicCounterIncrement(grid[1][1]);\n\
         int i = int(g); result[2] = atomicCounterIncrement(a[i + 1]) + atomicCounterIncrement(grid[i][i]);",
    ),
    (
        "every operation",
        "layout(binding = 0, offset = 16) uniform atomic_uint c;",
        "result[0] = atomicCounterAdd(c, 40u + g); result[1] = atomicCounterSubtract(c, 3u); result[2] = atomicCounterMin(c, 30u);\n\
         result[3] = atomicCounterMax(c, 35u); result[4] = atomicCounterAnd(c, 0xfeu); result[5] = atomicCounterOr(c, 0x101u);\n\
         result[6] = atomicCounterXor(c, 0x11u); result[7] = atomicCounterExchange(c, 77u);\n\
         result[8] = atomicCounterCompSwap(c, 77u, 78u); result[9] = atomicCounterCompSwap(c, 77u, 79u);\n\
         result[10] = atomicCounterIncrement(c); result[11] = atomicCounterDecrement(c); result[12] = atomicCounter(c);",
    ),
    (
        "barriers",
        "layout(binding = 0) uniform atomic_uint c;",
        "atomicCounterIncrement(c); memoryBarrierAtomicCounter(); memoryBarrier(); barrier(); result[0] = atomicCounter(c);",
    ),
    (
        "parameters",
        "layout(binding = 0, offset = 4) uniform atomic_uint a;\nlayout(binding = 0, offset = 8) uniform atomic_uint many[3];\n\
         layout(binding = 4, offset = 12) uniform atomic_uint other;\n\
         uint bump(atomic_uint c, uint by) { precise float f = float(by) * 3.0 + 1.0; return atomicCounterAdd(c, by) + uint(f) * 0u; }\n\
         uint twice(uint by, atomic_uint d) { return bump(d, by) + bump(d, by + 1u) + bump(a, 100u); }\n\
         uint both(atomic_uint x, atomic_uint y) { return bump(x, 7u) - bump(y, 9u) + atomicCounterIncrement(x); }",
        "result[0] = twice(1u, a); result[1] = twice(2u, other); result[2] = bump(many[g], 5u); result[3] = bump(many[2], 6u);\n\
         result[4] = both(a, other); result[5] = both(other, many[1]); result[6] = both(a, a);",
    ),
];

fn source((_, declarations, body): &(&str, &str, &str)) -> String {
    // The conversions of the function with floats would be beyond the machine: integers do.
    let declarations =
        declarations.replace("precise float f = float(by) * 3.0 + 1.0; ", "").replace(" + uint(f) * 0u", "");
    format!("{HEAD}{declarations}\nvoid main() {{ uint g = gl_WorkGroupID.x;\n{body}\n}}\n")
}

#[test]
fn the_same_bytes_are_counted_in() {
    for case in SOURCES {
        let words = glsl("comp", "opengl", &source(case));
        for target in [Target::Auto, Target::At { set: 2, first: 10 }] {
            let (new, rewrite) = lowered(&words, "vulkan1.0", &Options { target, ..Options::default() });
            let buffers = buffers(&rewrite);
            for buffer in &buffers {
                let (set, first) = if target == Target::Auto { (0, 4) } else { (2, 10) };
                assert_eq!((buffer.set, buffer.binding), (set, first + buffer.counter_binding), "{}", case.0);
            }
            for input in 0..2 {
                let (before, after) = (mapped(run(&words, input), &buffers), run(&new, input));
                assert!(!before.atomics.is_empty());
                assert_eq!(after, before, "{}", case.0);
                // What the record says of a buffer is all that is touched.
                for (_, at, byte) in &after.atomics {
                    let buffer = buffers.iter().find(|it| Space::Buffer(it.set, it.binding) == *at).expect("a buffer");
                    assert!(byte + 4 <= buffer.size && *byte >= buffer.offsets[0], "{}: byte {byte}", case.0);
                }
            }
        }
    }
}

#[test]
fn offsets_sizes_and_capabilities_are_told() {
    let words = glsl("comp", "opengl", &source(&SOURCES[2]));
    let rewrite = rewritten(&words, &Options::default()).expect("can be rewritten");
    assert_eq!(
        buffers(&rewrite),
        [
            Counters { counter_binding: 1, set: 0, binding: 5, offsets: vec![8, 24], size: 28 },
            Counters { counter_binding: 2, set: 0, binding: 6, offsets: vec![0], size: 24 },
        ]
    );
    assert!(rewrite.changes.contains(&PassChange::CapabilityDropped(21)));
    let words = glsl("comp", "opengl", &source(&SOURCES[3]));
    let changes = rewritten(&words, &Options::default()).expect("can be rewritten").changes;
    assert!(changes.contains(&PassChange::CapabilityDropped(4445)), "{changes:?}");
    assert!(changes.contains(&PassChange::ExtensionDropped("SPV_KHR_shader_atomic_counter_ops")));
    let words = glsl("comp", "opengl", &source(&SOURCES[4]));
    let (new, rewrite) = lowered(&words, "vulkan1.0", &Options::default());
    assert!(rewrite.changes.contains(&PassChange::Semantics(2)), "{:?}", rewrite.changes);
    let masks = |words: &[u32]| -> BTreeSet<u32> {
        let module = Module::read(words).expect("a module");
        having(words, Op::MemoryBarrier)
            .iter()
            .map(|it| module.definition(it[2]).expect("a constant").word(3))
            .collect()
    };
    assert_eq!(masks(&words), BTreeSet::from([0x408, 0xd48]));
    assert_eq!(masks(&new), BTreeSet::from([0x48, 0x948]));
}

/// From SPIR-V 1.3 on storage buffers have a class of their own, from 1.4 on interfaces list them.
#[test]
fn every_version_gets_its_own_kind_of_buffer() {
    for (version, environment) in
        [(0x0001_0000, "vulkan1.0"), (0x0001_0300, "vulkan1.1"), (0x0001_0500, "vulkan1.2"), (0x0001_0600, "vulkan1.3")]
    {
        let text = "#version 460\nlayout(local_size_x = 1) in;\nlayout(binding = 0, offset = 4) uniform atomic_uint c;\n\
            layout(binding = 1) uniform atomic_uint d;\nvoid main() { atomicCounterIncrement(c); atomicCounterIncrement(d); }\n";
        let mut words = glsl("comp", "opengl", text);
        words[1] = version;
        let (new, _) = lowered(&words, environment, &Options::default());
        let module = Module::read(&new).expect("a module");
        let class = if version < 0x0001_0300 { 2 } else { 12 };
        let variables = having(&new, Op::Variable);
        assert_eq!(variables.iter().map(|it| it[3]).collect::<Vec<_>>(), [class; 2]);
        let interface = module.entry_points().next().expect("an entry point").interface();
        let listed: Vec<u32> = variables.iter().map(|it| it[2]).collect();
        assert_eq!(interface, if version < 0x0001_0400 { &[][..] } else { &listed[..] });
    }
}

/// A function is there once for each list of buffers, and what decorates its instructions decorates those of the clones.
#[test]
fn functions_are_cloned_with_their_decorations() {
    let (_, declarations, body) = SOURCES[5];
    let text = format!("{HEAD}{declarations}\nvoid main() {{ uint g = gl_WorkGroupID.x;\n{body}\n}}\n");
    let words = glsl("comp", "opengl", &text);
    let (new, _) = lowered(&words, "vulkan1.0", &Options::default());
    let count = |words: &[u32], op: Op| having(words, op).len();
    assert_eq!(count(&words, Op::Function), 4);
    // Two of bump and of twice, three of both.
    assert_eq!(count(&new, Op::Function), 1 + 2 + 2 + 3);
    let contracted = |words: &[u32]| {
        having(words, Op::Decorate).iter().filter(|it| it[2] == Decoration::NoContraction as u32).count()
    };
    assert!(contracted(&words) > 0);
    assert_eq!(contracted(&new), 2 * contracted(&words));
}

/// Every control flow and many instructions inside of a function that is cloned.
#[test]
fn clones_are_valid_whatever_is_in_them() {
    let text = format!(
        "{HEAD}layout(binding = 0) uniform atomic_uint a;\nlayout(binding = 1) uniform atomic_uint b;\n\
         layout(binding = 0) uniform sampler2D s;\nlayout(rgba8, binding = 1) uniform image2D im;\nstruct T {{ float x; vec4 y[3]; }};\n\
         float work(atomic_uint c, inout vec4 v, int n) {{\n  float sum = 0.0; T t; t.x = v.x; t.y[n % 3] = v.wzyx;\n\
         for (int i = 0; i < n; i++) {{\n    switch (i) {{ case 0: sum += textureLod(s, v.xy, 1.0).x; break;\n\
         case 7: sum -= float(atomicCounterIncrement(c)); case 9: if (sum > 3.0) return sum; break; default: continue; }}\n\
         v = mix(v, t.y[i % 3], sum) * mat4(t.x); do {{ sum *= 2.0; }} while (sum < 5.0 && v.x > sum);\n  }}\n\
         double d = double(sum); imageStore(im, ivec2(n), vec4(d) + imageLoad(im, ivec2(0)));\n\
         uvec2 q = unpackDouble2x32(d); uint r = bitfieldInsert(q.x, q.y, 3, 4); v.y = sum > 2.0 ? v.x : uintBitsToFloat(r);\n\
         return float(atomicCounterDecrement(c)) + modf(sum, v.z) + float(textureSize(s, 0).x + findMSB(r)) + textureLodOffset(s, v.xy, 0.0, ivec2(1)).y;\n}}\n\
         void main() {{ vec4 v = vec4(1.0); result[0] = uint(work(a, v, 4) + work(b, v, 5)); }}\n"
    );
    let words = glsl("comp", "opengl", &text);
    let (new, _) = lowered(&words, "vulkan1.0", &Options::default());
    // The clone is the function itself but for its ids and the buffer.
    let functions = |words: &[u32]| -> Vec<Vec<u32>> {
        let all = instructions(words);
        let bodies =
            all.split(|it| it[0] & 0xffff == Op::FunctionEnd as u32).map(|body| body.iter().map(|it| it[0]).collect());
        bodies.collect()
    };
    let functions = functions(&new);
    let (work, clone) = (&functions[1], &functions[2]);
    assert_eq!(
        work[work.iter().position(|word| word & 0xffff == Op::Function as u32).expect("a function")..],
        clone[..]
    );
}

#[test]
fn what_has_no_counters_stays_as_it_is() {
    for shader in shaders() {
        let rewrite = rewritten(&shader.words, &Options::default());
        assert_eq!(rewrite, Ok(Rewrite::default()), "{}", shader.file);
    }
    // Barriers of a module without counters name them too, which glslang does for Vulkan.
    let words = glsl("comp", "vulkan1.0", "#version 450\nvoid main() { memoryBarrier(); }\n");
    assert_eq!(rewritten(&words, &Options::default()), Ok(Rewrite::default()));
}

/// A compute shader with a counter `%c` of binding 0 at offset 8, with something in its place.
fn module(decorations: &str, globals: &str, body: &str) -> Vec<u32> {
    assembled(&format!(
        "OpCapability Shader\nOpCapability AtomicStorage\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\n{decorations}\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
         %uint = OpTypeInt 32 0\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
         %bool = OpTypeBool\n%true = OpConstantTrue %bool\n%pointer = OpTypePointer AtomicCounter %uint\n\
         %c = OpVariable %pointer AtomicCounter\n{globals}\n%main = OpFunction %void None %ft\n%b = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    ))
}

const PLACED: &str = "OpDecorate %c Binding 0\nOpDecorate %c Offset 8\n";
const COUNTED: &str = "%r = OpAtomicIIncrement %uint %c %one %zero";

/// The twins of what is refused.
#[test]
fn what_can_be_done_is_done() {
    let at = |set, first| Options { target: Target::At { set, first }, ..Options::default() };
    let auto = Options::default();
    let placed = |more: &str| format!("{PLACED}{more}");
    let array =
        "%ints = OpTypeArray %uint %two\n%ap = OpTypePointer AtomicCounter %ints\n%d = OpVariable %ap AtomicCounter";
    let buffer = "%s = OpTypeStruct %uint\n%sp = OpTypePointer Uniform %s\n%buf = OpVariable %sp Uniform";
    let with_buffer = placed(
        "OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\nOpDecorate %buf DescriptorSet 1\nOpDecorate %buf Binding 7\n",
    );
    let fine = [
        (module(PLACED, "", COUNTED), auto),
        (module(&placed("OpDecorate %d Binding 0\nOpDecorate %d Offset 12"), array, COUNTED), auto),
        (module(&placed("OpDecorate %d Binding 1\nOpDecorate %d Offset 4"), array, COUNTED), auto),
        (module(&with_buffer, buffer, COUNTED), at(1, 8)),
        (module(&with_buffer, buffer, COUNTED), at(0, 7)),
        (module("OpDecorate %c Binding 3\nOpDecorate %c Offset 0", "", COUNTED), at(0, u32::MAX - 3)),
        // Two names for one counter.
        (
            module(
                &placed("OpDecorate %d Binding 0\nOpDecorate %d Offset 8"),
                "%d = OpVariable %pointer AtomicCounter",
                COUNTED,
            ),
            auto,
        ),
        // A literal that happens to be the number of an id of a counter.
        (module(PLACED, "", "%c2 = OpCopyObject %pointer %c\n%r = OpAtomicIIncrement %uint %c2 %one %zero"), auto),
    ];
    for (words, options) in fine {
        lowered(&words, "vulkan1.1", &options);
    }
}

/// An instruction that nobody has heard of: fine where it has nothing to do with counters, not where it could. So whatever number the
/// counter has, up to the largest.
#[test]
fn unknown_instructions_are_looked_at() {
    let words = module(PLACED, "", COUNTED);
    let counter = instructions(&words).iter().find(|it| it[0] & 0xffff == Op::Variable as u32).expect("the counter")[2];
    for number in [counter, words[3] + 1000, words[3] + 60_000, Module::IDS - 1000] {
        let mut words = words.clone();
        words[3] = words[3].max(number + 1);
        let mut at = 5;
        while let Some(first) = words.get(at) {
            // Where each of the instructions names it.
            let named = match first & 0xffff {
                decorates if decorates == Op::Decorate as u32 => 1,
                variable if variable == Op::Variable as u32 => 2,
                counts if counts == Op::AtomicIIncrement as u32 => 3,
                _ => 0,
            };
            let length = (first >> 16) as usize;
            if named != 0 && words[at + named] == counter {
                words[at + named] = number;
            }
            at += length;
        }
        let module = Module::read(&words).expect("a module");
        let all = instructions(&words);
        let label = all.iter().position(|it| it[0] & 0xffff == Op::Label as u32).expect("a label");
        let at = 5 + all[..=label].iter().map(|it| it.len()).sum::<usize>();
        for (operand, expected) in [(number, Err(Why::Opcode(60_000))), (0x7777, Ok(()))] {
            let mut editor = Editor::new(&module);
            editor.insert(at, &[3 << 16 | 60_000, operand, 1]).expect("room");
            let strange = editor.finish().expect("words");
            assert_eq!(rewritten(&strange, &Options::default()).map(|_| ()), expected, "counter {number}");
        }
    }
}

/// A chain of functions that each call the next with both orders of two counters, of which there are more and more variants.
#[test]
fn variants_have_a_limit() {
    let counters: String = (0..20).map(|n| format!("layout(binding = {n}) uniform atomic_uint c{n};\n")).collect();
    let calls = |count: u32| -> String {
        let pairs = (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).take(count as usize);
        pairs.map(|(a, b)| format!("f(c{a}, c{b});\n")).collect()
    };
    let words = |count: u32| {
        let body = calls(count);
        glsl(
            "comp",
            "opengl",
            &format!(
                "#version 460\n{counters}void f(atomic_uint a, atomic_uint b) {{ atomicCounterIncrement(a); atomicCounterDecrement(b); }}\nvoid main() {{ {body} }}\n"
            ),
        )
    };
    lowered(&words(257), "vulkan1.0", &Options::default());
    assert_eq!(rewritten(&words(258), &Options::default()), Err(Why::Clones));
}

#[test]
fn origins_and_ids_of_opengl_become_those_of_vulkan() {
    let options = Options { draw_parameters: true, ..Options::default() };
    let fragment = |body: &str| {
        let text = format!(
            "#version 460\nlayout(location = 0) out vec4 o;\nlayout(binding = 0) uniform atomic_uint c;\nvoid main() {{ {body} }}\n"
        );
        glsl("frag", "opengl", &text)
    };
    let (_, rewrite) = lowered(&fragment("o = vec4(atomicCounterIncrement(c));"), "vulkan1.0", &options);
    assert!(rewrite.changes.contains(&PassChange::Origin));
    let plain = "#version 460\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1.0); }\n";
    let plain = glsl("frag", "opengl", plain);
    assert_eq!(lowered(&plain, "vulkan1.0", &options).1.changes, [PassChange::Origin]);
    for seen in ["o = gl_FragCoord;", "o = vec4(gl_PointCoord, 0.0, 1.0);"] {
        assert_eq!(rewritten(&fragment(seen), &options), Err(Why::FragmentOrigin));
    }
    let vertex = |body: &str| glsl("vert", "opengl", &format!("#version 460\nvoid main() {{ {body} }}\n"));
    // glslang lists both in every vertex shader.
    let (new, rewrite) = lowered(&vertex("gl_Position = vec4(0.0);"), "vulkan1.0", &options);
    assert_eq!(rewrite.changes, [PassChange::BuiltInDropped(5), PassChange::BuiltInDropped(6)]);
    assert!(!having(&new, Op::Decorate).iter().any(|it| it[2] == 11));
    let (_, rewrite) = lowered(&vertex("gl_Position = vec4(gl_VertexID);"), "vulkan1.0", &options);
    assert_eq!(rewrite.changes, [PassChange::BuiltInReplaced { from: 5, to: 42 }, PassChange::BuiltInDropped(6)]);
    let instances = vertex("gl_Position = vec4(gl_InstanceID);");
    let (new, rewrite) = lowered(&instances, "vulkan1.0", &options);
    assert_eq!(rewrite.changes, [PassChange::BuiltInReplaced { from: 6, to: 43 }, PassChange::BuiltInDropped(5)]);
    let decorated: Vec<u32> = having(&new, Op::Decorate).iter().filter(|it| it[2] == 11).map(|it| it[3]).collect();
    assert_eq!(decorated, [43, 4425]);
    assert_eq!(having(&new, Op::ISub).len(), 1);
    assert_eq!(rewritten(&instances, &Options::default()), Err(Why::InstanceId));
    // A module for Vulkan says none of it.
    let vulkan = glsl(
        "vert",
        "vulkan1.0",
        "#version 460\nvoid main() { gl_Position = vec4(gl_VertexIndex + gl_InstanceIndex); }\n",
    );
    assert_eq!(rewritten(&vulkan, &options), Ok(Rewrite::default()));
}

#[test]
fn locations_go_from_descriptors() {
    let text = "#version 460\nlayout(location = 2, binding = 3) uniform sampler2D s;\nlayout(location = 0) out vec4 o;\nvoid main() { o = texture(s, vec2(0.0)); }\n";
    let words = glsl("frag", "opengl", text);
    let (_, rewrite) = lowered(&words, "vulkan1.0", &Options::default());
    assert!(rewrite.changes.contains(&PassChange::LocationDropped(2)), "{:?}", rewrite.changes);
    let text = "#version 460\nlayout(location = 2) uniform float f;\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(f); }\n";
    let words = glsl("frag", "opengl", text);
    assert_eq!(rewritten(&words, &Options::default()), Err(Why::DefaultUniform(2)));
    // A binding, which some compilers give it as well, makes no descriptor of it; it does of an array of textures.
    let bound = |words: &[u32]| {
        let location =
            having(words, Op::Decorate).into_iter().find(|it| it[2] == 30 && it[3] == 2).expect("a location");
        let at = words.windows(4).position(|at| at == location).expect("its place");
        let mut words = words.to_vec();
        words.splice(at..at, [4 << 16 | 71, location[1], 33, 1, 4 << 16 | 71, location[1], 34, 0]);
        words
    };
    assert_eq!(rewritten(&bound(&words), &Options::default()), Err(Why::DefaultUniform(2)));
    let text = "#version 460\nlayout(location = 2) uniform sampler2D s[3];\nlayout(location = 0) out vec4 o;\nvoid main() { o = texture(s[2], vec2(0.0)); }\n";
    let (_, rewrite) = lowered(&bound(&glsl("frag", "opengl", text)), "vulkan1.0", &Options::default());
    assert!(rewrite.changes.contains(&PassChange::LocationDropped(2)), "{:?}", rewrite.changes);
    // Interfaces of stages keep theirs.
    let text =
        "#version 450\nlayout(location = 4) in vec4 v;\nlayout(location = 1) out vec4 o;\nvoid main() { o = v; }\n";
    assert_eq!(rewritten(&glsl("frag", "vulkan1.0", text), &Options::default()), Ok(Rewrite::default()));
}

/// Memory of both is empty in the beginning, so what is left of it is what was counted.
#[test]
fn the_machine_counts() {
    let words = glsl("comp", "opengl", &source(&SOURCES[1]));
    let trace = run(&words, 0);
    let expected: HashMap<(Space, u32), u32> = [
        ((Space::Counter(0), 4), 1),
        ((Space::Counter(0), 12), u32::MAX),
        ((Space::Counter(5), 8), 1),
        ((Space::Buffer(0, 3), 0), u32::MAX),
    ]
    .into();
    assert_eq!(trace.memory, expected);
}
