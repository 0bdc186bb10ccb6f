//! Builtins of samples: every row of what becomes of them, what is valid, what is refused.

use samplin_spirv::Module;
use samplin_spirv::passes::{PassChange, Rewrite, Why};
use samplin_spirv::sample_builtins::sample_builtins;
use spirv::{Decoration, Op, StorageClass};

use crate::corpus::{assembled, glsl, having, instructions, shaders, validate};

const ENVIRONMENTS: [&str; 4] = ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"];

fn rewritten(words: &[u32]) -> Result<Rewrite, Why> {
    sample_builtins(&Module::read(words).expect("a module"))
}

fn fragment(environment: &str, declarations: &str, body: &str) -> Vec<u32> {
    let text = format!("#version 450\nlayout(location = 0) out vec4 o;\n{declarations}\nvoid main() {{ {body} }}\n");
    glsl("frag", environment, &text)
}

/// Rewrites, checks what must hold of every rewritten module, and hands it on.
fn lowered(words: &[u32], environment: &str) -> (Vec<u32>, Vec<PassChange>) {
    let mut rewrite = rewritten(words).expect("can be rewritten");
    let new = rewrite.words.take().expect("something to rewrite");
    validate(&new, environment).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rewritten(&new), Ok(Rewrite::default()), "a second run finds something");
    assert!(having(&new, Op::Capability).iter().all(|it| it[1] != 35 && it[1] != 52));
    assert!(having(&new, Op::Decorate).iter().all(|it| it[2] != Decoration::Sample as u32));
    assert!(having(&new, Op::Decorate).iter().all(|it| it[2] != 11 || it[3] != 18 && it[3] != 19));
    assert!(having(&new, Op::MemberDecorate).iter().all(|it| it[3] != Decoration::Sample as u32));
    assert!(having(&new, Op::ExtInst).iter().all(|it| !(76..=78).contains(&it[4])));
    (new, rewrite.changes)
}

/// The words of the constant that initializes the only private variable.
fn initial(words: &[u32]) -> Vec<u32> {
    let module = Module::read(words).expect("a module");
    let private: Vec<_> =
        having(words, Op::Variable).into_iter().filter(|it| it[3] == StorageClass::Private as u32).collect();
    assert_eq!(private.len(), 1);
    let constant = module.definition(private[0][4]).expect("an initializer");
    if constant.opcode() == Op::Constant as u32 {
        return vec![constant.word(3)];
    }
    constant.words[3..].iter().map(|id| module.definition(*id).expect("a component").word(3)).collect()
}

#[test]
fn the_number_of_the_sample_is_zero() {
    for environment in ENVIRONMENTS {
        let words =
            fragment(environment, "int twice() { return gl_SampleID * 2; }", "o = vec4(gl_SampleID + twice());");
        let (new, changes) = lowered(&words, environment);
        assert_eq!(changes, [PassChange::BuiltInConstant(18), PassChange::CapabilityDropped(35)]);
        assert_eq!(initial(&new), [0]);
        // Interfaces list all variables from SPIR-V 1.4 on.
        let listed = |words: &[u32]| {
            Module::read(words).expect("a module").entry_points().next().expect("an entry point").interface().len()
        };
        assert_eq!(listed(&words) - listed(&new), if new[1] < 0x0001_0400 { 1 } else { 0 });
        // The variable keeps its id and its name, the flatness is gone with the input.
        let names = |words: &[u32]| having(words, Op::Name).iter().map(|it| it.to_vec()).collect::<Vec<_>>();
        assert_eq!(names(&new), names(&words));
        let flat = |words: &[u32]| having(words, Op::Decorate).iter().filter(|it| it[2] == 14).count();
        assert_eq!((flat(&words), flat(&new)), (1, 0));
    }
}

#[test]
fn the_position_of_the_sample_is_the_centre() {
    for environment in ENVIRONMENTS {
        let body =
            "int i = int(gl_FragCoord.x) & 1; o = vec4(gl_SamplePosition, gl_SamplePosition.y, gl_SamplePosition[i]);";
        let (new, changes) = lowered(&fragment(environment, "", body), environment);
        assert_eq!(changes, [PassChange::BuiltInConstant(19), PassChange::CapabilityDropped(35)]);
        assert_eq!(initial(&new), [0.5f32.to_bits(); 2]);
    }
}

#[test]
fn inputs_lose_their_sample() {
    for environment in ENVIRONMENTS {
        let declarations = "layout(location = 0) sample in vec4 a;\nlayout(location = 1) in B { sample vec4 b; vec4 c; sample vec2 d; };";
        let (_, changes) = lowered(&fragment(environment, declarations, "o = a + b + c + d.xyxy;"), environment);
        assert_eq!(changes, [PassChange::SampleDropped(3), PassChange::CapabilityDropped(35)]);
    }
}

#[test]
fn interpolation_happens_at_the_centre() {
    for environment in ENVIRONMENTS {
        let declarations = "layout(location = 0) in vec4 a;\nlayout(location = 1) in float f;\nlayout(location = 2) in B { vec2 b[2]; };\n\
            layout(location = 5) flat in int n;";
        let words = fragment(
            environment,
            declarations,
            "o = interpolateAtSample(a, n) + interpolateAtCentroid(a) + interpolateAtSample(f, 1) + interpolateAtCentroid(b[n]).xyxy;",
        );
        let (new, changes) = lowered(&words, environment);
        assert_eq!(
            changes,
            [
                PassChange::Interpolation { at_the_centre: 4, at_offsets: 0, diverging: 0 },
                PassChange::CapabilityDropped(52)
            ]
        );
        // Each is a load now, with the same type, id and pointer.
        for before in having(&words, Op::ExtInst) {
            let load = Module::read(&new).expect("a module").definition(before[2]).expect("the id").words;
            assert_eq!(load, [4 << 16 | Op::Load as u32, before[1], before[2], before[5]]);
        }
        let offsets = "o = interpolateAtOffset(a, vec2(0.25, -0.5)) + interpolateAtOffset(f, a.xy) + interpolateAtOffset(b[1], b[0]).xyxy;";
        let (new, changes) = lowered(&fragment(environment, declarations, offsets), environment);
        assert_eq!(
            changes,
            [
                PassChange::Interpolation { at_the_centre: 0, at_offsets: 3, diverging: 0 },
                PassChange::CapabilityDropped(52)
            ]
        );
        assert_eq!((having(&new, Op::DPdx).len(), having(&new, Op::DPdy).len()), (3, 3));
        assert_eq!(having(&new, Op::VectorTimesScalar).len(), 4);
        // What is added up is the value, its slope along x times the x of the offset, and the same for y.
        let module = Module::read(&new).expect("a module");
        let of = |id: u32| module.definition(id).expect("a definition");
        for slope in having(&new, Op::DPdy) {
            let product = having(&new, Op::VectorTimesScalar).into_iter().chain(having(&new, Op::FMul));
            let product = product.into_iter().find(|it| it[3] == slope[2]).expect("a product");
            assert_eq!(of(product[4]).words[4..], [1]);
            let sum = having(&new, Op::FAdd).into_iter().find(|it| it[4] == product[2]).expect("a sum");
            let first = of(sum[3]);
            assert_eq!(first.word(3), slope[3], "the value at the centre");
            let along_x = of(first.word(4));
            assert_eq!(of(along_x.word(4)).words[4..], [0]);
            assert_eq!(of(along_x.word(3)).words[3..], [slope[3]]);
        }
    }
}

/// Whether the derivative with this id is in the first block of the first function.
fn is_in_the_first_block(words: &[u32], id: u32) -> bool {
    let all = instructions(words);
    let slope = |it: &&[u32]| [Op::DPdx as u32, Op::DPdy as u32].contains(&(it[0] & 0xffff)) && it[2] == id;
    let at = all.iter().position(slope).expect("a derivative");
    all[..at].iter().filter(|it| it[0] & 0xffff == Op::Label as u32).count() == 1
}

/// Derivatives are undefined where neighbours go another way, so those of plain inputs are taken before anybody does.
#[test]
fn derivatives_are_taken_where_nobody_has_parted_ways() {
    let declarations =
        "layout(location = 0) in vec4 a;\nlayout(location = 1) in vec2 b[3];\nlayout(location = 4) flat in int n;";
    let apart = |what: &str| format!("o = vec4(0.0); if (n > 2) {{ o += {what}; }}");
    for environment in ENVIRONMENTS {
        for (body, diverging) in [
            (apart("interpolateAtOffset(a, vec2(0.25))"), 0),
            (apart("interpolateAtOffset(b[1], vec2(n)).xyxy"), 0),
            (apart("interpolateAtOffset(b[n], vec2(0.25)).xyxy"), 1),
            (apart("interpolateAtOffset(a, vec2(0.25)) + interpolateAtOffset(b[n], vec2(0.25)).xyxy"), 1),
        ] {
            let (new, changes) = lowered(&fragment(environment, declarations, &body), environment);
            let slopes = [having(&new, Op::DPdx), having(&new, Op::DPdy)].concat();
            let ahead = slopes.iter().filter(|it| is_in_the_first_block(&new, it[2])).count();
            assert_eq!(slopes.len() - ahead, 2 * diverging as usize, "{body}");
            let PassChange::Interpolation { diverging: told, .. } = changes[0] else { panic!("{changes:?}") };
            assert_eq!(told, diverging, "{body}");
        }
        // In a function of its own nobody knows; where nothing has branched yet it stays in place.
        let of = "vec4 at(vec2 by) { return interpolateAtOffset(a, by); }";
        let words = fragment(environment, &format!("{declarations}\n{of}"), &apart("at(vec2(0.25))"));
        assert_eq!(
            lowered(&words, environment).1[0],
            PassChange::Interpolation { at_the_centre: 0, at_offsets: 1, diverging: 1 }
        );
        let words = fragment(environment, declarations, "o = interpolateAtOffset(b[n], vec2(0.25)).xyxy;");
        assert_eq!(
            lowered(&words, environment).1[0],
            PassChange::Interpolation { at_the_centre: 0, at_offsets: 1, diverging: 0 }
        );
    }
}

/// What a mask says of one sample it would say of all.
#[test]
fn a_mask_that_is_written_is_told() {
    let mask = "gl_SampleMask[0] = 1 << gl_SampleID; o = vec4(1.0);";
    let (_, changes) = lowered(&fragment("vulkan1.0", "", mask), "vulkan1.0");
    assert_eq!(changes, [PassChange::BuiltInConstant(18), PassChange::MaskOfPixels, PassChange::CapabilityDropped(35)]);
    let by_input = ("layout(location = 0) sample in vec4 a;", "gl_SampleMask[0] = a.x > 0.0 ? 1 : 0; o = a;");
    let (_, changes) = lowered(&fragment("vulkan1.0", by_input.0, by_input.1), "vulkan1.0");
    assert!(changes.contains(&PassChange::MaskOfPixels), "{changes:?}");
    // One that is read is none that is written.
    let (_, changes) = lowered(&fragment("vulkan1.0", "", "o = vec4(gl_SampleID + gl_SampleMaskIn[0]);"), "vulkan1.0");
    assert!(!changes.contains(&PassChange::MaskOfPixels), "{changes:?}");
}

#[test]
fn all_of_it_together() {
    for environment in ENVIRONMENTS {
        let words = fragment(
            environment,
            "layout(location = 0) sample in vec4 a;",
            "o = vec4(gl_SampleID, gl_SamplePosition, gl_SampleMaskIn[0]) + interpolateAtOffset(a, gl_SamplePosition - 0.5); gl_SampleMask[0] = 1 << gl_SampleID;",
        );
        let (_, changes) = lowered(&words, environment);
        assert_eq!(changes.len(), 7, "{changes:?}");
    }
}

#[test]
fn what_needs_no_sample_stays_as_it_is() {
    for shader in shaders() {
        assert_eq!(rewritten(&shader.words), Ok(Rewrite::default()), "{}", shader.file);
    }
    let words = fragment(
        "vulkan1.0",
        "layout(location = 0) centroid in vec4 a;\nlayout(location = 1) flat in int n;",
        "o = a + vec4(n, gl_FragCoord.xy, gl_SampleMaskIn[0]); gl_SampleMask[0] = n;",
    );
    assert_eq!(rewritten(&words), Ok(Rewrite::default()));
}

/// Copies of pointers to what becomes the shader's own.
#[test]
fn copies_of_pointers_follow() {
    let words = assembled(
        "OpCapability Shader\nOpCapability SampleRateShading\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\" %id\nOpExecutionMode %main OriginUpperLeft\nOpDecorate %id BuiltIn SampleId\n\
         OpDecorate %id Flat\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n%int = OpTypeInt 32 1\n\
         %pointer = OpTypePointer Input %int\n%private = OpTypePointer Private %int\n%id = OpVariable %pointer Input\n\
         %other = OpVariable %private Private\n%main = OpFunction %void None %ft\n%b = OpLabel\n%l = OpLoad %int %id\n\
         %c = OpCopyObject %pointer %id\n%m = OpLoad %int %c\nOpStore %other %m\nOpReturn\nOpFunctionEnd\n",
    );
    lowered(&words, "vulkan1.1");
}

/// Debug information that names the variable moves with it.
#[test]
fn names_of_debuggers_move_with_the_variable() {
    let words = assembled(
        "OpCapability Shader\nOpCapability SampleRateShading\nOpExtension \"SPV_KHR_non_semantic_info\"\n\
         %debug = OpExtInstImport \"NonSemantic.Something\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\" %id\nOpExecutionMode %main OriginUpperLeft\nOpDecorate %id BuiltIn SampleId\n\
         OpDecorate %id Flat\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n%int = OpTypeInt 32 1\n\
         %pointer = OpTypePointer Input %int\n%id = OpVariable %pointer Input\n%d = OpExtInst %void %debug 7 %id\n\
         %main = OpFunction %void None %ft\n%b = OpLabel\n%l = OpLoad %int %id\nOpReturn\nOpFunctionEnd\n",
    );
    let (new, _) = lowered(&words, "vulkan1.1");
    assert_eq!(having(&new, Op::ExtInst), having(&words, Op::ExtInst));
}
