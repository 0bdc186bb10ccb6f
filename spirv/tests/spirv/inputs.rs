//! Inputs of fragment shaders that are to be shaded for each sample, and what speaks against it.

use samplin_spirv::passes::{PassChange, Rewrite, Why};
use samplin_spirv::sample_inputs::{Facts, facts, sample_inputs};
use samplin_spirv::{Error, Module};
use spirv::{Decoration, Op};

use crate::corpus::{assembled, glsl, having, validate};

fn rewritten(words: &[u32]) -> Result<Rewrite, Why> {
    sample_inputs(&Module::read(words).expect("a module"), "main")
}

fn fragment(environment: &str, declarations: &str, body: &str) -> Vec<u32> {
    let text = format!("#version 450\nlayout(location = 0) out vec4 o;\n{declarations}\nvoid main() {{ {body} }}\n");
    glsl("frag", environment, &text)
}

fn decorated(words: &[u32], environment: &str) -> (Vec<u32>, u32) {
    let mut rewrite = rewritten(words).expect("can be rewritten");
    let new = rewrite.words.take().expect("something to rewrite");
    validate(&new, environment).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rewritten(&new).map(|again| again.words), Ok(None), "a second run finds something");
    assert!(having(&new, Op::Capability).iter().any(|it| it[1] == 35));
    let [PassChange::SampleAdded(added)] = rewrite.changes[..] else { panic!("{:?}", rewrite.changes) };
    let count = |opcode: Op, at: usize| {
        having(&new, opcode).iter().filter(|it| it[at] == Decoration::Sample as u32).count()
            - having(words, opcode).iter().filter(|it| it[at] == Decoration::Sample as u32).count()
    };
    assert_eq!(count(Op::Decorate, 2) + count(Op::MemberDecorate, 3), added as usize);
    (new, added)
}

#[test]
fn inputs_that_are_interpolated_get_a_sample() {
    for environment in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let words = fragment(
            environment,
            "layout(location = 0) in vec4 a;\nlayout(location = 1) in vec2 b[2];\nlayout(location = 3) flat in int c;\n\
             layout(location = 4) centroid in vec4 d;\nlayout(location = 5) sample in vec4 e;\nlayout(location = 6) noperspective in float f;\n\
             layout(location = 7) flat in vec4 g;",
            "o = a + b[0].xyxy + b[1].xxyy + d + e + g + f + c + gl_FragCoord;",
        );
        let (new, added) = decorated(&words, environment);
        assert_eq!(added, 3);
        // Which ones: those at locations 0, 1 and 6, besides that at 5.
        let location = |id: u32| {
            having(&new, Op::Decorate)
                .into_iter()
                .find(|it| it[1] == id && it[2] == Decoration::Location as u32)
                .expect("a location")[3]
        };
        let mut sampled: Vec<u32> = having(&new, Op::Decorate)
            .iter()
            .filter(|it| it[2] == Decoration::Sample as u32)
            .map(|it| location(it[1]))
            .collect();
        sampled.sort_unstable();
        assert_eq!(sampled, [0, 1, 5, 6]);
    }
}

#[test]
fn members_of_blocks_are_looked_at() {
    let plain = fragment("vulkan1.1", "layout(location = 0) in B { vec4 a; vec2 b; };", "o = a + b.xyxy;");
    let (new, added) = decorated(&plain, "vulkan1.1");
    assert_eq!(added, 1);
    assert!(having(&new, Op::Decorate).iter().any(|it| it[2] == Decoration::Sample as u32));
    let mixed = fragment(
        "vulkan1.1",
        "layout(location = 0) in B { vec4 a; flat int n; centroid vec2 b; vec3 c; };",
        "o = a + b.xyxy + c.xyzx + n;",
    );
    let (new, added) = decorated(&mixed, "vulkan1.1");
    assert_eq!(added, 2);
    let members: Vec<u32> = having(&new, Op::MemberDecorate)
        .iter()
        .filter(|it| it[3] == Decoration::Sample as u32)
        .map(|it| it[2])
        .collect();
    assert_eq!(members, [0, 3]);
}

#[test]
fn what_is_not_interpolated_stays_as_it_is() {
    for (declarations, body) in [
        ("", "o = gl_FragCoord;"),
        ("layout(location = 0) flat in vec4 a;", "o = a;"),
        ("layout(location = 0) centroid in vec4 a;", "o = a;"),
        ("layout(location = 0) sample in vec4 a;", "o = a;"),
        ("layout(location = 0) in B { flat int n; sample vec4 c; };", "o = c * n;"),
    ] {
        assert_eq!(rewritten(&fragment("vulkan1.0", declarations, body)), Ok(Rewrite::default()), "{declarations}");
    }
    let vertex =
        glsl("vert", "vulkan1.0", "#version 450\nlayout(location = 0) in vec4 a;\nvoid main() { gl_Position = a; }\n");
    assert_eq!(rewritten(&vertex), Err(Why::Module(Error::NoEntryPoint)));
}

/// An input that another stage reads too cannot be decorated for one of them.
#[test]
fn inputs_of_two_stages_stay() {
    let text = |vertex: &str| {
        format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %in %own\nOpEntryPoint Vertex %main \"vertex\" {vertex}\n\
             OpExecutionMode %main OriginUpperLeft\nOpDecorate %in Location 0\nOpDecorate %own Location 1\n%void = OpTypeVoid\n\
             %ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%p = OpTypePointer Input %float\n%in = OpVariable %p Input\n%own = OpVariable %p Input\n\
             %main = OpFunction %void None %ft\n%b = OpLabel\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let rewrite = rewritten(&assembled(&text("%in"))).expect("can be rewritten");
    assert_eq!((rewrite.changes, rewrite.left), (vec![PassChange::SampleAdded(1)], vec![Why::SharedInput(0)]));
    let rewrite = rewritten(&assembled(&text(""))).expect("can be rewritten");
    assert_eq!((rewrite.changes, rewrite.left), (vec![PassChange::SampleAdded(2)], Vec::new()));
}

#[test]
fn what_speaks_against_it_is_told() {
    let none = Facts::default();
    let effects = Facts { side_effects: true, ..none };
    let cases = [
        ("", "float x[2]; x[0] = 1.0; o = vec4(x[0]);", none),
        ("layout(binding = 0, rgba8) uniform image2D i;", "o = imageLoad(i, ivec2(0));", none),
        ("layout(binding = 0, rgba8) uniform image2D i;", "o = vec4(1.0); imageStore(i, ivec2(0), o);", effects),
        ("layout(binding = 0) buffer B { float x; };", "o = vec4(x);", none),
        ("layout(binding = 0) buffer B { float x; };", "o = vec4(x); x = 2.0;", effects),
        ("layout(binding = 0) buffer B { uint x; };", "o = vec4(atomicAdd(x, 1));", effects),
        ("layout(binding = 0, r32ui) uniform uimage2D i;", "o = vec4(imageAtomicAdd(i, ivec2(0), 1));", effects),
        // In a function that is called, and in one that is not.
        (
            "layout(binding = 0) buffer B { float x; }; void f() { x = 1.0; } void g() { f(); }",
            "g(); o = vec4(0.0);",
            effects,
        ),
        ("layout(binding = 0) buffer B { float x; }; void f() { x = 1.0; }", "o = vec4(0.0);", none),
        ("", "gl_SampleMask[0] = 1; o = vec4(0.0);", Facts { mask_output: true, ..none }),
        ("", "o = vec4(bitCount(gl_SampleMaskIn[0]));", Facts { mask_input: true, ..none }),
        (
            "",
            "gl_SampleMask[0] = gl_SampleMaskIn[0]; o = vec4(0.0);",
            Facts { mask_output: true, mask_input: true, ..none },
        ),
        ("", "o = vec4(gl_SampleMaskIn[0]);", Facts { mask_input: true, ..none }),
        ("", "o = vec4(gl_SampleID);", Facts { per_sample: true, ..none }),
        ("layout(location = 0) sample in vec4 a;", "o = a;", Facts { per_sample: true, ..none }),
        ("layout(location = 0) in B { sample vec4 a; };", "o = a;", Facts { per_sample: true, ..none }),
    ];
    for (declarations, body, expected) in cases {
        let words = fragment("vulkan1.2", declarations, body);
        assert_eq!(facts(&Module::read(&words).expect("a module"), "main"), Ok(expected), "{declarations} {body}");
    }
    let interlock = fragment(
        "vulkan1.0",
        "#extension GL_ARB_fragment_shader_interlock : require\nlayout(pixel_interlock_ordered) in;",
        "beginInvocationInterlockARB(); o = vec4(1.0); endInvocationInterlockARB();",
    );
    let found = facts(&Module::read(&interlock).expect("a module"), "main").expect("facts");
    assert_eq!(found, Facts { interlock: true, ..none });
    let rate =
        fragment("vulkan1.0", "#extension GL_EXT_fragment_shading_rate : require", "o = vec4(gl_ShadingRateEXT);");
    let found = facts(&Module::read(&rate).expect("a module"), "main").expect("facts");
    assert_eq!(found, Facts { shading_rate: true, ..none });
    // What nobody knows may do anything.
    let mut strange = fragment("vulkan1.0", "", "o = vec4(1.0);");
    let at = strange.len() - 2;
    strange.splice(at..at, [1 << 16 | 60_000]);
    assert_eq!(facts(&Module::read(&strange).expect("a module"), "main"), Ok(effects));
}
