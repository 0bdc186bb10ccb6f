//! The pre-scan: each bit on a module that has it, none on one that has not, and nothing behind the first function.

use samplin_spirv::scan::{Scan, scan};

use crate::corpus::{assembled, glsl, shaders};

/// A fragment shader with these lines in the preamble, among the decorations and among the types.
fn module(model: &str, modes: &str, decorations: &str, globals: &str) -> Vec<u32> {
    assembled(&format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint {model} %main \"main\"\n{modes}\n{decorations}\n\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n{globals}\n\
         %main = OpFunction %void None %ft\n%b = OpLabel\nOpReturn\nOpFunctionEnd\n"
    ))
}

#[test]
fn each_interest_is_found_alone() {
    let compute = |decorations: &str, globals: &str| module("GLCompute", "", decorations, globals);
    let vertex = |modes: &str, decorations: &str, globals: &str| module("Vertex", modes, decorations, globals);
    let input = "%p = OpTypePointer Input %uint\n%v = OpVariable %p Input";
    let cases = [
        (compute("", ""), Scan::default()),
        (compute("", "%p = OpTypePointer AtomicCounter %uint"), Scan::COUNTERS),
        (compute("", "%p = OpTypePointer Private %uint"), Scan::default()),
        (compute("", "%t = OpTypeImage %float 2D 0 0 0 2 Rgba8"), Scan::STORAGE_IMAGES),
        (compute("", "%t = OpTypeImage %float 2D 0 0 0 1 Unknown"), Scan::default()),
        (vertex("", "OpDecorate %v BuiltIn VertexId", input), Scan::GL),
        (vertex("", "OpDecorate %v BuiltIn InstanceId", input), Scan::GL),
        (vertex("", "OpDecorate %v BuiltIn VertexIndex", input), Scan::default()),
        (module("Fragment", "OpExecutionMode %main OriginUpperLeft", "", ""), Scan::FRAGMENT),
        (module("Fragment", "OpExecutionMode %main OriginLowerLeft", "", ""), Scan::FRAGMENT | Scan::GL),
        (vertex("", "OpDecorate %v Sample", input), Scan::SAMPLES),
        (vertex("", "OpDecorate %v Flat", input), Scan::default()),
        (vertex("", "OpDecorate %v BuiltIn SampleId", input), Scan::SAMPLES),
        (vertex("", "OpMemberDecorate %s 1 Sample", "%s = OpTypeStruct %uint %float"), Scan::SAMPLES),
        (vertex("OpSource HLSL 600", "", ""), Scan::HLSL),
        (vertex("OpSource GLSL 450", "", ""), Scan::default()),
    ];
    for (words, expected) in cases {
        assert_eq!(scan(&words), expected);
    }
    for (capability, expected) in [
        (21, Scan::COUNTERS),
        (4445, Scan::COUNTERS),
        (55, Scan::FORMATLESS),
        (56, Scan::FORMATLESS),
        (35, Scan::SAMPLES),
        (52, Scan::SAMPLES),
        (49, Scan::default()),
    ] {
        let mut words = compute("", "");
        words.splice(5..5, [2 << 16 | 17, capability]);
        assert_eq!(scan(&words), expected, "capability {capability}");
    }
    for (generator, expected) in [(14, Scan::HLSL), (40, Scan::HLSL), (8, Scan::default())] {
        let mut words = compute("", "");
        words[2] = generator << 16 | 7;
        assert_eq!(scan(&words), expected, "generator {generator}");
    }
}

#[test]
fn compilers_write_what_is_looked_for() {
    let counters = glsl(
        "comp",
        "opengl",
        "#version 450\nlayout(binding = 0) uniform atomic_uint c;\nvoid main() { atomicCounterIncrement(c); }\n",
    );
    assert_eq!(scan(&counters), Scan::COUNTERS);
    let fragment = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(gl_SampleID); }\n";
    assert_eq!(scan(&glsl("frag", "vulkan1.0", fragment)), Scan::FRAGMENT | Scan::SAMPLES);
    assert_eq!(scan(&glsl("frag", "opengl", fragment)), Scan::FRAGMENT | Scan::SAMPLES | Scan::GL);
    assert!(shaders().iter().any(|shader| scan(&shader.words).contains(Scan::HLSL)));
    assert!(shaders().iter().all(|shader| !scan(&shader.words).intersects(Scan::COUNTERS | Scan::GL)));
}

/// What stands in functions is not looked at, and words that are cut off anywhere are survived.
#[test]
fn only_what_precedes_functions_counts() {
    for shader in shaders() {
        let (mut at, words) = (5, &shader.words);
        while words[at] & 0xffff != spirv::Op::Function as u32 {
            at += (words[at] >> 16) as usize;
        }
        let mut tail = words[..=at].to_vec();
        assert_eq!(scan(&tail), scan(words), "{}", shader.file);
        tail.extend([2 << 16 | 17, 21, 2 << 16 | 17, 35]);
        assert_eq!(scan(&tail), scan(words), "{}", shader.file);
        for length in 0..words.len().min(600) {
            let _ = scan(&words[..length]);
        }
    }
    assert_eq!(scan(&[]), Scan::default());
    assert_eq!(scan(&[0x0302_2307, 0, 14 << 16, 1, 0]), Scan::default());
    assert_eq!(scan(&[0x0723_0203, 0, 0, 1, 0, 0, 0]), Scan::default());
}
