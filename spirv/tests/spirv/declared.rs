//! What entry points declare of images, and image types with other formats.

use samplin_spirv::image_access::{Formats, assign};
use samplin_spirv::passes::{PassChange, Why};
use samplin_spirv::{Access, Declared, ImageRead, Index, Module, Sampled};
use spirv::Op;

use crate::corpus::{glsl, having, validate};

const COMPUTE: u32 = 5;

fn compute(declarations: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\n\
         #extension GL_EXT_samplerless_texture_functions : require\nlayout(local_size_x = 1) in;\n{declarations}\n\
         void main() {{ {body} }}\n"
    );
    glsl("comp", "vulkan1.1", &text)
}

fn declared(words: &[u32]) -> Vec<Declared> {
    let mut all = Module::read(words).expect("a module").declared("main", COMPUTE, None).expect("is followed");
    all.sort_by_key(|one| (one.at.set, one.at.binding));
    all
}

/// Set, binding and index, dimension and layers, what texels become, format, and whether it is a storage image.
type Line = ((u32, u32, Index), (u32, bool), Sampled, u32, bool);

fn line(one: &Declared) -> Line {
    let (at, ty) = (one.at, one.ty);
    ((at.set, at.binding, at.index), (ty.dim, ty.arrayed), ty.sampled, one.format, one.is_storage)
}

/// Each variable once, whichever way it is read; what is only asked for its size, or not used at all, is not there.
#[test]
fn what_is_read_or_written_is_there() {
    let words = compute(
        "layout(binding = 0, rgba8) uniform writeonly image2D a;\nlayout(binding = 1, r32i) uniform iimage2DArray b[3];\n\
         layout(set = 2, binding = 0) uniform sampler2D c;\nlayout(set = 2, binding = 1) uniform utexture3D d;\n\
         layout(set = 2, binding = 2) uniform samplerBuffer e;\nlayout(set = 2, binding = 3) uniform image2D sized;\n\
         layout(set = 2, binding = 4, rgba8) uniform image2D unused;\n\
         void put(writeonly image2D i, vec4 v) { imageStore(i, ivec2(0), v); }",
        "put(a, textureLod(c, vec2(0.0), 0.0) + texelFetch(e, 0)); imageAtomicAdd(b[2], ivec3(0), int(texelFetch(d, ivec3(0), 0).x)); \
         if (imageSize(sized).x == 3) return;",
    );
    let all = declared(&words);
    assert_eq!(
        all.iter().map(line).collect::<Vec<_>>(),
        [
            ((0, 0, Index::Whole), (1, false), Sampled::Float, 4, true),
            ((0, 1, Index::Const(2)), (1, true), Sampled::Sint, 24, true),
            ((2, 0, Index::Whole), (1, false), Sampled::Float, 0, false),
            ((2, 1, Index::Whole), (2, false), Sampled::Uint, 0, false),
            ((2, 2, Index::Whole), (5, false), Sampled::Float, 0, false),
        ]
    );
    let atomic = Access::READ.with(Access::WRITTEN).with(Access::ATOMIC);
    let accesses: Vec<Access> = all.iter().map(|one| one.access).collect();
    assert_eq!(accesses, [Access::WRITTEN, atomic, Access::SAMPLED, Access::SAMPLED, Access::SAMPLED]);
    assert_eq!(declared(&compute("layout(binding = 0) buffer B { float x; };", "x = 1.0;")), []);
}

fn types(words: &[u32]) -> Vec<(u32, u32)> {
    having(words, Op::TypeImage).iter().map(|it| (it[1], it[8])).collect()
}

fn capabilities(words: &[u32]) -> Vec<u32> {
    having(words, Op::Capability).iter().map(|it| it[1]).filter(|it| matches!(it, 55 | 56)).collect()
}

fn assigned(words: &[u32], types: &[(u32, u32)]) -> Result<(Vec<u32>, Vec<PassChange>), Why> {
    formatted(words, Formats::OfTypes(types))
}

fn formatted(words: &[u32], formats: Formats<'_>) -> Result<(Vec<u32>, Vec<PassChange>), Why> {
    let (new, changes) = assign(&Module::read(words).expect("a module"), formats)?;
    validate(&new, "vulkan1.1").unwrap_or_else(|error| panic!("{error}"));
    Ok((new, changes))
}

/// One type gets another format, and what is done without one is declared; the other types stay.
#[test]
fn a_type_gets_another_format() {
    let words = compute(
        "layout(binding = 0, rgba8) uniform writeonly image2D a;\nlayout(binding = 1, r32f) uniform image2D b;",
        "imageStore(a, ivec2(0), imageLoad(b, ivec2(0)));",
    );
    let all = declared(&words);
    let (new, changes) = assigned(&words, &[(all[0].image, 0)]).expect("is changed");
    assert_eq!((changes, capabilities(&new)), (vec![PassChange::CapabilityAdded(56)], vec![56]));
    let mut formats: Vec<u32> = types(&new).iter().map(|(_, format)| *format).collect();
    formats.sort_unstable();
    assert_eq!(formats, [0, 3]);
    // And back: nothing is written without a format any more.
    let (back, changes) = assigned(&new, &[(all[0].image, 4)]).expect("is changed");
    assert_eq!((changes, capabilities(&back)), (vec![PassChange::CapabilityDropped(56)], Vec::new()));
    // Two types that have become one.
    let (same, _) = assigned(&words, &[(all[0].image, 3)]).expect("is changed");
    assert_eq!(types(&same).iter().map(|(_, format)| *format).collect::<Vec<_>>(), [3]);
}

/// A format of the extended list brings the capability that it takes, once.
#[test]
fn formats_of_the_extended_list_bring_their_capability() {
    let words = compute("layout(binding = 0) uniform writeonly image2D a;", "imageStore(a, ivec2(0), vec4(1.0));");
    let image = declared(&words)[0].image;
    let extended = |words: &[u32]| having(words, Op::Capability).iter().filter(|it| it[1] == 49).count();
    for (words, format, added, there) in
        [(&words, 15, 1, 1), (&assigned(&words, &[(image, 15)]).expect("is changed").0, 9, 0, 1), (&words, 4, 0, 0)]
    {
        let (new, changes) = assigned(words, &[(image, format)]).expect("is changed");
        let adds = changes.iter().filter(|change| **change == PassChange::CapabilityAdded(49)).count();
        assert_eq!((adds, extended(&new)), (added, there), "{format}");
    }
}

/// Of two variables of one type one gets another format, an array as well, and the other stays as it is.
#[test]
fn a_variable_gets_another_format_alone() {
    for (array, index) in [("", ""), ("[3]", "[1]")] {
        let words = compute(
            &format!(
                "layout(binding = 0, rgba8) uniform image2D a{array};\nlayout(binding = 1, rgba8) uniform image2D b;"
            ),
            &format!("imageStore(a{index}, ivec2(0), imageLoad(b, ivec2(imageSize(a{index}))));"),
        );
        let all = declared(&words);
        assert_eq!(all[0].image, all[1].image);
        let (new, changes) = formatted(&words, Formats::OfVariables(&[(all[0].variable, 0)])).expect("is changed");
        assert_eq!(changes, [PassChange::CapabilityAdded(56)]);
        assert_eq!(declared(&new).iter().map(|one| one.format).collect::<Vec<_>>(), [0, 4]);
        // Back it finds the type that is there.
        let (back, _) = formatted(&new, Formats::OfVariables(&[(all[0].variable, 4)])).expect("is changed");
        let back = declared(&back);
        assert_eq!((back[0].format, back[0].image == back[1].image), (4, true));
    }
    // What a function takes has the type of its parameter.
    let words = compute(
        "layout(binding = 7) uniform image2D a;\nvoid put(image2D i) { imageStore(i, ivec2(0), vec4(1.0)); }",
        "put(a);",
    );
    let [one] = &declared(&words)[..] else { panic!("one") };
    let alone = formatted(&words, Formats::OfVariables(&[(one.variable, 4)]));
    assert_eq!(alone, Err(Why::Escapes { set: 0, binding: 7 }));
    assert!(assigned(&words, &[(one.image, 4)]).is_ok());
}

/// Integers count where they are read, floats where they are declared.
#[test]
fn images_are_read_as_integers_or_floats() {
    let words = compute(
        "layout(set = 0, binding = 0) uniform usampler2D whole;\nlayout(set = 1, binding = 2) uniform utexture2D by_texel;\n\
         layout(set = 1, binding = 3) uniform itexture2D some[4];\nlayout(set = 1, binding = 4) uniform sampler2DShadow depth;\n\
         layout(set = 1, binding = 5) uniform texture2D half_of_a_pair;\nlayout(set = 2, binding = 0) uniform usampler2D never;\n\
         layout(set = 2, binding = 1, rgba8ui) uniform uimage2D stored;\nlayout(set = 2, binding = 2) uniform usamplerBuffer texels;\n\
         layout(set = 3, binding = 0) uniform usampler2D passed;\n\
         uvec4 look(usampler2D it) { return textureLod(it, vec2(0), 0); }",
        "imageStore(stored, ivec2(0), uvec4(texelFetch(texels, 0)) + textureLod(whole, vec2(0), 0) + texelFetch(by_texel, ivec2(0), 0) \
         + look(passed) + uvec4(texelFetch(some[2], ivec2(0), 0)) + uvec4(textureLod(depth, vec3(0), 0)));",
    );
    let mut reads = Module::read(&words).expect("a module").images_read("main", COMPUTE, None).expect("is followed");
    reads.sort_by_key(|read| (read.set, read.binding));
    let reads: Vec<(u32, u32, bool)> = reads.iter().map(|read| (read.set, read.binding, read.is_integer)).collect();
    let integers = [(0, 0), (1, 2), (1, 3), (3, 0)].map(|(set, binding)| (set, binding, true));
    let [whole, by_texel, some, passed] = integers;
    // Nobody reads the half of a pair, which is declared all the same.
    assert_eq!(reads, [whole, by_texel, some, (1, 4, false), (1, 5, false), passed]);
    let input = "#version 450\nlayout(input_attachment_index = 0, set = 0, binding = 1) uniform usubpassInput stencil;\n\
                 layout(location = 0) out vec4 color;\nvoid main() { color = vec4(subpassLoad(stencil)); }";
    let words = glsl("frag", "vulkan1.2", input);
    let reads = Module::read(&words).expect("a module").images_read("main", 4, None).expect("is followed");
    assert_eq!(reads, [ImageRead { set: 0, binding: 1, is_integer: true }]);
}
