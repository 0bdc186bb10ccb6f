//! Storage images: what they declare about access, and formats that compilers made up.

use samplin_spirv::Module;
use samplin_spirv::image_access::{Formatless, Options, formatless, image_access};
use samplin_spirv::passes::{PassChange, Rewrite, Why};
use spirv::{Decoration, Op};

use crate::corpus::{assembled, glsl, having, shaders, validate};

const NOTHING: Options = Options { read: false, write: false, may_declare: false, relax: false };
const WRITE: Options = Options { read: false, write: true, may_declare: false, relax: false };
const BOTH: Options = Options { read: true, write: true, may_declare: false, relax: false };

fn relaxing(options: Options) -> Options {
    Options { relax: true, ..options }
}

fn rewritten(words: &[u32], options: &Options) -> Result<Rewrite, Why> {
    image_access(&Module::read(words).expect("a module"), options)
}

/// Rewrites, checks what must hold of every rewritten module, and hands it on.
fn corrected(words: &[u32], options: &Options) -> (Vec<u32>, Rewrite) {
    let mut rewrite = rewritten(words, options).expect("can be rewritten");
    let new = rewrite.words.take().expect("something to rewrite");
    validate(&new, "vulkan1.1").unwrap_or_else(|error| panic!("{error}"));
    let again = rewritten(&new, options).expect("can be rewritten");
    assert_eq!((again.words, again.changes), (None, Vec::new()), "a second run finds something");
    (new, rewrite)
}

fn left_alone(words: &[u32], options: &Options, left: &[Why]) {
    let expected = Rewrite { left: left.to_vec(), ..Rewrite::default() };
    assert_eq!(rewritten(words, options), Ok(expected));
}

fn compute(declarations: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(local_size_x = 1) in;\n{declarations}\nvoid main() {{ {body} }}\n"
    );
    glsl("comp", "vulkan1.1", &text)
}

fn capabilities(words: &[u32]) -> Vec<u32> {
    having(words, Op::Capability).iter().map(|it| it[1]).filter(|it| matches!(it, 55 | 56)).collect()
}

fn formats(words: &[u32]) -> Vec<u32> {
    having(words, Op::TypeImage).iter().filter(|it| it[7] == 2).map(|it| it[8]).collect()
}

/// A capability in front of all others, as compilers declare it for nothing.
fn declaring(mut words: Vec<u32>, capability: u32) -> Vec<u32> {
    words.splice(5..5, [2 << 16 | 17, capability]);
    words
}

#[test]
fn what_is_declared_for_nothing_is_dropped() {
    let store = compute("layout(binding = 0) uniform image2D a;", "imageStore(a, ivec2(0), vec4(1.0));");
    let (new, rewrite) = corrected(&declaring(store.clone(), 55), &WRITE);
    assert_eq!(rewrite.changes, [PassChange::NotRead { set: 0, binding: 0 }, PassChange::CapabilityDropped(55)]);
    assert_eq!(capabilities(&new), [56]);
    // Where it is legal it stays.
    left_alone(&declaring(store.clone(), 55), &BOTH, &[]);
    left_alone(&declaring(store, 55), &Options { may_declare: true, ..NOTHING }, &[]);
    let load = compute(
        "layout(binding = 1, set = 2) uniform image2D a;\nlayout(binding = 0, rgba8) uniform image2D b;",
        "imageStore(b, ivec2(0), imageLoad(a, ivec2(0)));",
    );
    let (new, rewrite) = corrected(
        &declaring(load.clone(), 56),
        &Options { read: true, write: false, may_declare: false, relax: false },
    );
    assert_eq!(rewrite.changes, [PassChange::NotWritten { set: 2, binding: 1 }, PassChange::CapabilityDropped(56)]);
    assert_eq!(capabilities(&new), [55]);
    // What is used is not declared for nothing.
    let (new, rewrite) = corrected(&load, &NOTHING);
    assert_eq!(rewrite.left, [Why::FormatlessRead { set: 2, binding: 1 }]);
    assert_eq!(rewrite.changes, [PassChange::NotWritten { set: 2, binding: 1 }]);
    assert_eq!(capabilities(&new), [55]);
    // No image at all, which is what one compiler does.
    let none = glsl("comp", "vulkan1.1", "#version 450\nvoid main() {}\n");
    let (new, _) = corrected(&declaring(declaring(none.clone(), 55), 56), &NOTHING);
    assert_eq!(new, none);
    left_alone(&none, &NOTHING, &[]);
}

/// Uses are followed through functions, arrays, copies and choices.
#[test]
fn uses_are_followed() {
    let declarations = "layout(binding = 0) uniform image2D a;\nlayout(binding = 1) uniform image2D b[3];\n\
        layout(binding = 2) uniform imageBuffer c;\nlayout(binding = 3) uniform image2DArray d;\n\
        void put(image2D i, vec4 v) { imageStore(i, ivec2(0), v); }\nvoid through(image2D i) { put(i, vec4(2.0)); }\n\
        vec4 get(image2D i) { return imageLoad(i, ivec2(1)); }";
    let words = compute(declarations, "through(a); put(b[1], get(b[2])); imageStore(c, 0, vec4(imageSize(d), 1.0));");
    let (new, rewrite) = corrected(&words, &NOTHING);
    assert_eq!(
        rewrite.left,
        [
            Why::FormatlessRead { set: 0, binding: 1 },
            Why::FormatlessWrite { set: 0, binding: 0 },
            Why::FormatlessWrite { set: 0, binding: 1 },
            Why::FormatlessWrite { set: 0, binding: 2 },
        ]
    );
    assert_eq!(
        rewrite.changes,
        [
            PassChange::NotRead { set: 0, binding: 0 },
            PassChange::NotRead { set: 0, binding: 2 },
            PassChange::NotRead { set: 0, binding: 3 },
            PassChange::NotWritten { set: 0, binding: 3 },
        ]
    );
    let decorated =
        |decoration: Decoration| having(&new, Op::Decorate).iter().filter(|it| it[2] == decoration as u32).count();
    assert_eq!((decorated(Decoration::NonReadable), decorated(Decoration::NonWritable)), (3, 1));
    // With a format nothing of it is asked for.
    let declared = "layout(binding = 0, rgba8) uniform image2D a;\nlayout(binding = 1, rgba8) uniform image2D b[3];";
    let words =
        compute(declared, "imageStore(a, ivec2(0), vec4(2.0)); imageStore(b[1], ivec2(0), imageLoad(b[2], ivec2(1)));");
    left_alone(&words, &NOTHING, &[]);
}

const HLSL: &str = "[[vk::binding(0)]] RWTexture2D<float4> a; [[vk::binding(1)]] RWTexture2D<int4> b; [[vk::binding(2)]] RWTexture2D<uint4> c;\n\
    [[vk::binding(3)]] RWTexture2D<uint> counts;\n\
    [numthreads(1, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {\n\
    a[id.xy] = float4(1, 2, 3, 4); b[id.xy] = b[id.yx] + 1; c[id.xy] = 3; InterlockedAdd(counts[id.xy], 1); }\n";

#[test]
fn formats_that_were_made_up_go() {
    let words = glsl("comp", "hlsl", HLSL);
    assert_eq!(formats(&words), [1, 21, 30, 33]);
    let (new, rewrite) = corrected(&words, &relaxing(BOTH));
    assert_eq!(formats(&new), [0, 0, 0, 33]);
    assert_eq!(
        rewrite.changes,
        [
            PassChange::FormatRelaxed { set: 0, binding: 0, format: 1 },
            PassChange::FormatRelaxed { set: 0, binding: 1, format: 21 },
            PassChange::FormatRelaxed { set: 0, binding: 2, format: 30 },
            PassChange::CapabilityAdded(55),
            PassChange::CapabilityAdded(56),
        ]
    );
    assert_eq!(rewrite.left, [Why::Atomics { set: 0, binding: 3 }]);
    // What the device cannot do is not asked of it, and what remains says what it is not.
    let (new, rewrite) = corrected(&words, &relaxing(WRITE));
    assert_eq!(formats(&new), [0, 21, 0, 33]);
    assert_eq!(rewrite.left, [Why::FormatlessRead { set: 0, binding: 1 }, Why::Atomics { set: 0, binding: 3 }]);
    assert_eq!(capabilities(&new), [56]);
    assert!(rewrite.changes.contains(&PassChange::NotRead { set: 0, binding: 0 }));
    let nothing: Vec<Why> = vec![
        Why::FormatlessWrite { set: 0, binding: 0 },
        Why::FormatlessRead { set: 0, binding: 1 },
        Why::FormatlessWrite { set: 0, binding: 2 },
        Why::Atomics { set: 0, binding: 3 },
    ];
    left_alone(&words, &relaxing(NOTHING), &nothing);
    left_alone(&words, &BOTH, &[]);
}

/// The same from GLSL, whose formats people wrote, stays; with the generator word of DXC it goes.
#[test]
fn formats_that_people_wrote_stay() {
    let words = compute("layout(binding = 0, rgba32f) uniform image2D a;", "imageStore(a, ivec2(0), vec4(1.0));");
    left_alone(&words, &relaxing(BOTH), &[]);
    let mut dxc = words.clone();
    dxc[2] = 14 << 16;
    let (new, _) = corrected(&dxc, &relaxing(BOTH));
    assert_eq!(formats(&new), [0]);
    let mut other = compute("layout(binding = 0, rgba8) uniform image2D a;", "imageStore(a, ivec2(0), vec4(1.0));");
    other[2] = 14 << 16;
    left_alone(&other, &relaxing(BOTH), &[]);
}

/// Types that become equal are one type, whichever came first, and so are those of functions that take them.
#[test]
fn equal_types_become_one() {
    for (first, second) in [("Rgba32f", "Unknown"), ("Unknown", "Rgba32f"), ("Rgba32f", "Rg32f")] {
        let words = assembled(&format!(
            "OpCapability Shader\nOpCapability StorageImageWriteWithoutFormat\nOpCapability StorageImageExtendedFormats\n\
             OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
             OpSource HLSL 600\nOpName %t2 \"gone or not\"\nOpDecorate %a DescriptorSet 0\nOpDecorate %a Binding 0\n\
             OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 1\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
             %float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n%uint = OpTypeInt 32 0\n%v2 = OpTypeVector %uint 2\n\
             %zero = OpConstant %uint 0\n%at = OpConstantComposite %v2 %zero %zero\n%one = OpConstant %float 1\n\
             %white = OpConstantComposite %v4 %one %one %one %one\n%t1 = OpTypeImage %float 2D 2 0 0 2 {first}\n\
             %p1 = OpTypePointer UniformConstant %t1\n%f1 = OpTypeFunction %void %t1\n%t2 = OpTypeImage %float 2D 2 0 0 2 {second}\n\
             %p2 = OpTypePointer UniformConstant %t2\n%f2 = OpTypeFunction %void %t2\n%two = OpConstant %uint 2\n\
             %array = OpTypeArray %t2 %two\n%pa = OpTypePointer UniformConstant %array\n\
             %a = OpVariable %p1 UniformConstant\n%b = OpVariable %pa UniformConstant\n\
             %g1 = OpFunction %void None %f1\n%i1 = OpFunctionParameter %t1\n%l1 = OpLabel\nOpImageWrite %i1 %at %white\nOpReturn\nOpFunctionEnd\n\
             %g2 = OpFunction %void None %f2\n%i2 = OpFunctionParameter %t2\n%l2 = OpLabel\nOpImageWrite %i2 %at %white\nOpReturn\nOpFunctionEnd\n\
             %main = OpFunction %void None %ft\n%lm = OpLabel\n%x = OpLoad %t1 %a\n%c = OpAccessChain %p2 %b %zero\n%y = OpLoad %t2 %c\n\
             %r = OpFunctionCall %void %g1 %x\n%s = OpFunctionCall %void %g2 %y\nOpReturn\nOpFunctionEnd\n"
        ));
        let (new, rewrite) = corrected(&words, &relaxing(BOTH));
        assert_eq!(formats(&new), [0], "{first} {second}");
        assert_eq!(having(&new, Op::TypeFunction).len(), 2);
        let relaxed = rewrite.changes.iter().filter(|it| matches!(it, PassChange::FormatRelaxed { .. })).count();
        assert_eq!(relaxed, if second == "Rg32f" { 2 } else { 1 });
        // An instruction that nobody has heard of and that may name the type that goes.
        let gone = having(&words, Op::TypeImage)[1][1];
        let label = words.len() - 2;
        for (operand, expected) in [(gone, Err(Why::Opcode(60_000))), (1 << 20, Ok(()))] {
            let mut strange = words.clone();
            strange.splice(label..label, [2 << 16 | 60_000, operand]);
            assert_eq!(rewritten(&strange, &relaxing(BOTH)).map(|_| ()), expected);
        }
    }
}

/// Images that share a type share its fate, and what goes where nobody follows counts as used in every way.
#[test]
fn what_cannot_be_done_has_a_name() {
    let mut shared = compute(
        "layout(binding = 0, r32ui) uniform uimage2D a;\nlayout(binding = 1, r32ui) uniform uimage2D b;",
        "imageStore(a, ivec2(0), uvec4(1)); imageAtomicAdd(b, ivec2(0), 1);",
    );
    shared[2] = 40 << 16;
    left_alone(&shared, &relaxing(BOTH), &[Why::Atomics { set: 0, binding: 0 }, Why::Atomics { set: 0, binding: 1 }]);
    let escaping = assembled(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         OpSource HLSL 600\nOpDecorate %a DescriptorSet 3\nOpDecorate %a Binding 4\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
         %float = OpTypeFloat 32\n%t = OpTypeImage %float 2D 2 0 0 2 Rgba32f\n%p = OpTypePointer UniformConstant %t\n\
         %rt = OpTypeFunction %t\n%a = OpVariable %p UniformConstant\n\
         %g = OpFunction %t None %rt\n%b = OpLabel\n%l = OpLoad %t %a\nOpReturnValue %l\nOpFunctionEnd\n\
         %main = OpFunction %void None %ft\n%lm = OpLabel\n%x = OpFunctionCall %t %g\nOpReturn\nOpFunctionEnd\n",
    );
    left_alone(&escaping, &relaxing(BOTH), &[Why::Escapes { set: 3, binding: 4 }]);
    let words = glsl("comp", "hlsl", HLSL);
    assert_eq!(rewritten(&declaring(words.clone(), 6), &relaxing(BOTH)), Err(Why::Kernel));
    let mut untyped = words.clone();
    let module = Module::read(&words).expect("a module");
    let at = module.definition(having(&words, Op::TypeImage)[0][1]).expect("the type").at;
    untyped.splice(at..at, [3 << 16 | 4417, words[3], 0]);
    untyped[3] += 1;
    assert_eq!(rewritten(&untyped, &relaxing(BOTH)), Err(Why::Untyped));
}

#[test]
fn what_has_no_storage_images_stays_as_it_is() {
    for shader in shaders() {
        let words = &shader.words;
        if having(words, Op::TypeImage).iter().all(|it| it[7] != 2) {
            left_alone(words, &relaxing(BOTH), &[]);
            left_alone(words, &NOTHING, &[]);
        }
    }
    // Input attachments have no format and are none of these.
    let text = "#version 450\nlayout(input_attachment_index = 0, binding = 0) uniform subpassInput s;\nlayout(location = 0) out vec4 o;\nvoid main() { o = subpassLoad(s); }\n";
    left_alone(&glsl("frag", "vulkan1.1", text), &NOTHING, &[]);
}

/// What is read or written without a format, and not what is only asked about or has one.
#[test]
fn what_is_used_without_a_format_is_found() {
    let declarations = "layout(binding = 0) uniform image2D a;\nlayout(binding = 1, set = 2) uniform iimage2DArray b[3];\n\
        layout(binding = 2) uniform uimageBuffer c;\nlayout(binding = 3) uniform image3D d;\n\
        layout(binding = 4, rgba8) uniform image2D e;\nvec4 get(image2D i) { return imageLoad(i, ivec2(1)); }";
    let body = "imageStore(b[1], ivec3(0), ivec4(get(a))); imageStore(c, 0, uvec4(imageSize(d), 1)); imageStore(e, ivec2(0), vec4(0));";
    let find = |words: &[u32]| formatless(&Module::read(words).expect("a module")).expect("has memory");
    let of = |set, binding, dim, arrayed, integer| Formatless { set, binding, dim, arrayed, integer };
    let mut found = find(&compute(declarations, body));
    found.sort_by_key(|it| it.binding);
    assert_eq!(found, [of(0, 0, 1, false, None), of(2, 1, 1, true, Some(true)), of(0, 2, 5, false, Some(false))]);
    let with = compute("layout(binding = 4, rgba8) uniform image2D e;", "imageStore(e, ivec2(0), vec4(0));");
    assert_eq!(find(&with), []);
}
