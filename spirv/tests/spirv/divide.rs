//! The pass `sampling` where coordinates are in texels: they are divided, and the instructions stay what they are.

use std::collections::BTreeMap;

use samplin_spirv::sampling::{Keys, Passes, Slot, Task, Unchanged, flags};
use samplin_spirv::{Module, Uses};
use spirv::{ExecutionModel, Op};

use crate::corpus::{by_file, glsl, having, validate};
use crate::sampling::{SET, each, run, settled, slots};

const DIVIDE: Passes = Passes { divide: true, ..Passes::NONE };
const ALL: Passes = Passes { saturate: true, filter: true, ..DIVIDE };
const COMPARED: Passes = Passes { compare: true, must_compare: true, ..DIVIDE };

fn task(flags: u32) -> Task {
    Task { flags, bias: 0.5, min_lod: 0.0, max_lod: 4.0 }
}

/// Every link of every shader, alone and beside the other passes.
#[test]
fn everything_is_divided_or_left() {
    let mut refused: BTreeMap<String, Vec<Unchanged>> = BTreeMap::new();
    let mut changed = [0; 3];
    each(|shader, entry, values, _, slots, count| {
        for (passes, changed) in [DIVIDE, ALL, COMPARED].into_iter().zip(&mut changed) {
            let slots: Vec<Slot> = slots.iter().map(|slot| Slot { passes, ..*slot }).collect();
            let tasks = vec![task(flags::DIVIDE | flags::EMULATE | flags::COMPARE); count as usize];
            for keys in [Keys::Block { set: SET, binding: 0, count: count.max(1) }, Keys::Fixed(&tasks)] {
                let sampled = settled(shader, entry, values, keys, &slots);
                *changed += sampled.changed;
                if passes == DIVIDE && matches!(keys, Keys::Block { .. }) {
                    for (_, why) in &sampled.left {
                        refused.entry(shader.file.clone()).or_default().push(*why);
                    }
                }
            }
            // Tasks that are known and ask for nothing of it.
            let none = vec![task(0); count as usize];
            let sampled = run(&shader.words, entry, values, Keys::Fixed(&none), &slots);
            assert_eq!((sampled.changed, sampled.words == shader.words), (0, true), "{}", shader.file);
        }
    });
    let expected = by_file([
        ("dxc_arrays.hlsl", vec![Unchanged::Unbounded]),
        ("dynamic_argument.frag", vec![Unchanged::Call, Unchanged::Call]),
        ("footprint.frag", vec![Unchanged::Footprint]),
        ("nonuniform.frag", vec![Unchanged::Unbounded, Unchanged::Unbounded]),
        ("push_index.frag", vec![Unchanged::Unbounded]),
    ]);
    assert_eq!(refused, expected);
    assert!(changed[0] > 200 && changed[1] >= changed[0] && changed[2] >= changed[0], "{changed:?}");
}

/// One shader for each instruction that unnormalized coordinates exclude, and those that they do not: it is there once, in a function
/// that divides.
#[test]
fn instructions_stay_what_they_are() {
    let cases = [
        ("sampler2D", "texture(pair, at.xy)", Op::ImageSampleImplicitLod, Uses::IMPLICIT),
        ("sampler2D", "texture(pair, at.xy, 0.5)", Op::ImageSampleImplicitLod, Uses::BIAS),
        ("sampler2D", "textureProj(pair, at)", Op::ImageSampleProjImplicitLod, Uses::PROJ),
        ("sampler2D", "textureProjLod(pair, at.xyz, 1.0)", Op::ImageSampleProjExplicitLod, Uses::PROJ),
        ("sampler2D", "textureOffset(pair, at.xy, ivec2(1))", Op::ImageSampleImplicitLod, Uses::OFFSET),
        ("sampler2D", "textureLodOffset(pair, at.xy, 0.0, ivec2(1))", Op::ImageSampleExplicitLod, Uses::OFFSET),
        ("sampler2D", "textureGrad(pair, at.xy, at.zw, at.xw)", Op::ImageSampleExplicitLod, Uses::GRAD),
        ("sampler2D", "textureGather(pair, at.xy, 1)", Op::ImageGather, Uses::GATHER),
        ("sampler2D", "vec4(textureQueryLod(pair, at.xy), 0, 0)", Op::ImageQueryLod, Uses::QUERY_LOD),
        ("sampler2DShadow", "vec4(texture(pair, at.xyz))", Op::ImageSampleDrefImplicitLod, Uses::DREF),
        ("sampler2DShadow", "vec4(textureProj(pair, at))", Op::ImageSampleProjDrefImplicitLod, Uses::PROJ),
        ("sampler2DArray", "textureLod(pair, at.xyz, at.w)", Op::ImageSampleExplicitLod, Uses::LOD),
        ("sampler1D", "texture(pair, at.x)", Op::ImageSampleImplicitLod, Uses::IMPLICIT),
        ("sampler3D", "textureLod(pair, at.xyz, 1.0)", Op::ImageSampleExplicitLod, Uses::LOD),
    ];
    let entry = ("main", ExecutionModel::Fragment as u32);
    let keys = Keys::Block { set: SET, binding: 0, count: 1 };
    for (kind, lookup, opcode, use_of) in cases {
        let source = format!(
            "#version 450\nlayout(set = 0, binding = 0) uniform {kind} pair;\nlayout(location = 0) in vec4 at;\n\
             layout(location = 0) out vec4 colour;\nvoid main() {{ colour = {lookup}; }}"
        );
        let words = glsl("frag", "vulkan1.1", &source);
        let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
        assert!(links[0].uses.contains(use_of), "{lookup}: {:?}", links[0].uses);
        let sampled = run(&words, entry, None, keys, &slots(&links, DIVIDE).0);
        assert_eq!((sampled.changed, &sampled.left[..]), (1, &[][..]), "{lookup}");
        validate(&sampled.words, "vulkan1.1").unwrap_or_else(|error| panic!("{lookup}: {error}"));
        let count = |words: &[u32], op| having(words, op).len();
        assert_eq!((count(&words, opcode), count(&sampled.words, opcode)), (1, 1), "{lookup}");
        // Of coordinates, and of two gradients.
        let divisions = if use_of == Uses::GRAD { 3 } else { 1 };
        assert_eq!(count(&sampled.words, Op::FDiv) - count(&words, Op::FDiv), divisions, "{lookup}");
        assert_eq!(count(&sampled.words, Op::BranchConditional), 0, "{lookup}: derivatives are those of all");
    }
}

/// Directions of a cube have nothing to be divided: the shader stays, and nothing is left.
#[test]
fn cubes_stay() {
    let source = "#version 450
        layout(set = 0, binding = 0) uniform samplerCube pair;
        layout(location = 0) out vec4 colour;
        void main() { colour = textureLod(pair, vec3(1.0), 0.0); }";
    let words = glsl("frag", "vulkan1.1", source);
    let entry = ("main", ExecutionModel::Fragment as u32);
    let links = Module::read(&words).expect("a module").links(entry.0, entry.1, None).expect("links");
    let keys = Keys::Block { set: SET, binding: 0, count: 1 };
    let sampled = run(&words, entry, None, keys, &slots(&links, DIVIDE).0);
    assert_eq!((sampled.changed, sampled.left.len(), sampled.words == words), (0, 0, true));
}
