//! What shaders do that the layer leaves as it is, by the name of its record: the pipeline goes down by the application's own pointer
//! and is bound as it is, one record says why, however often it is bound; and what is like it and legal, or not beyond the layer, has
//! none.

use std::ptr;

use ash::vk::{self, Handle};
use samplin_compiler::{Language, compile};

use crate::driver::Args;
use crate::loader::*;
use crate::separate::{Operand, shader};

/// What is in a descriptor.
#[derive(Clone, Copy, Debug)]
enum Put {
    /// An image that can be filtered, and one that cannot.
    Good,
    Bad,
    Linear,
    Nearest,
    /// A combined one that asks for `GL_CLAMP`, and one that does not.
    Clamped,
    Edge,
}

use Put::{Bad, Clamped, Edge, Good, Linear, Nearest};

/// A shader, and the set that it reads.
#[derive(Clone)]
struct Case {
    stage: Stage,
    words: Vec<u32>,
    bindings: &'static [(Ty, u32)],
    /// Binding and element of what is written.
    puts: &'static [(u32, u32, Put)],
    /// What the pipeline is linked of beside its own stages.
    libraries: Vec<vk::Pipeline>,
}

impl Case {
    fn new(stage: Stage, words: Vec<u32>, bindings: &'static [(Ty, u32)], puts: &'static [(u32, u32, Put)]) -> Self {
        Self { stage, words, bindings, puts, libraries: Vec::new() }
    }

    fn with(&self, puts: &'static [(u32, u32, Put)]) -> Self {
        Self { puts, ..self.clone() }
    }
}

/// A device that has the clamp modes of OpenGL, so that shaders have tasks too.
fn device() -> Device {
    let builder = InstanceBuilder::new().traced("decisions").set("bindless", "name");
    builder.device_with(|info| info.extensions.push(GL_ADDRESS_MODES))
}

fn info_of(device: &Device, put: Put) -> vk::DescriptorImageInfo {
    let clamped = |mode| device.sampler(&addressed(mode).border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE));
    let (none, good) = (vk::Sampler::null(), || device.view(FILTERED));
    match put {
        Good => pair(none, good()),
        Bad => pair(none, device.view(FLOATS)),
        Linear => sampler_alone(device.linear()),
        Nearest => sampler_alone(device.nearest()),
        Clamped => pair(clamped(GL_CLAMP), good()),
        Edge => pair(clamped(vk::SamplerAddressMode::CLAMP_TO_EDGE), good()),
    }
}

/// Makes a pipeline of a module, which must go down by the application's own pointers as it was given; its handle.
fn pipeline(device: &Device, case: &Case, layout: vk::PipelineLayout, what: &str) -> vk::Pipeline {
    let before = case.words.clone();
    let info = vk::ShaderModuleCreateInfo::default().code(&case.words);
    device.driver.calls();
    let module = create!(device.create_module(&info));
    let arrived = |command, own: usize| {
        let calls = device.driver.calls_of(command);
        let own = calls.iter().any(|args| matches!(args, Args::Create { info, .. } if *info == own));
        assert!(own, "{what}: {command:?} with {calls:x?}");
    };
    arrived(c"vkCreateShaderModule", ptr::from_ref(&info) as usize);
    let stage = stage(case.stage, module);
    let made;
    if case.stage == Stage::COMPUTE {
        let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
        made = device.compute_with(&info);
        arrived(c"vkCreateComputePipelines", ptr::from_ref(&info) as usize);
    } else {
        let stages = [stage];
        let states = States::new(&[]);
        let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&case.libraries);
        let mut parts = library_of(vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_SHADER);
        // It leaves out what it may.
        let mut info = vk::GraphicsPipelineCreateInfo::default().stages(&stages).layout(layout);
        info = info.rasterization_state(&states.raster).multisample_state(&states.samples);
        if !case.libraries.is_empty() {
            info = info.push_next(&mut parts).push_next(&mut linked);
        }
        made = device.graphics_with(&info);
        arrived(c"vkCreateGraphicsPipelines", ptr::from_ref(&info) as usize);
    }
    assert!(case.words == before, "{what}: the application's words are as before");
    device.destroy_module(module);
    made
}

/// Binds the pipeline and its set twice: what is told, and how often other pipelines are bound.
fn names(case: &Case, what: &str) -> (Vec<String>, usize) {
    let device = device();
    let bindings: Vec<_> = std::iter::zip(0.., case.bindings)
        .map(|(number, (ty, count))| binding(number, *ty, *count).stage_flags(case.stage))
        .collect();
    let of_set = device.layout(&bindings);
    let layout = device.pipeline_layout(&[of_set]);
    let made = pipeline(&device, case, layout, what);
    let set = device.sets(device.pool(), &[of_set])[0];
    for (number, element, put) in case.puts {
        device.write(set, (*number, *element), case.bindings[*number as usize].0, info_of(&device, *put));
    }
    let point = if case.stage == Stage::COMPUTE { COMPUTE } else { GRAPHICS };
    device.driver.calls();
    for _ in 0..2 {
        device.record(device.commands, (point, made), layout, &[set]);
    }
    let bound = device.driver.calls_of(c"vkCmdBindPipeline");
    let is_other = |args: &&Args| !matches!(args, Args::Other(words) if words[1] == made.as_raw());
    let others = bound.iter().filter(is_other).count();
    let told = device.left();
    device.destroy_pipeline(made);
    (told, others)
}

/// The shader of a fragment that comes to `colour`, with these declarations.
fn fragment(declarations: &str, colour: &str) -> Vec<u32> {
    let source = format!(
        "#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_NV_shader_texture_footprint : require
#extension GL_AMD_gpu_shader_half_float : require
#extension GL_AMD_gpu_shader_half_float_fetch : require
#define IMAGE(number) layout(set = 0, binding = number) uniform texture2D
#define STATE(number) layout(set = 0, binding = number) uniform sampler
#define PAIR(number) layout(set = 0, binding = number) uniform sampler2D
layout(location = 0) in vec2 uv;
layout(location = 1) flat in int i;
layout(location = 0) out vec4 colour;
{declarations}
void main() {{ {colour} }}
"
    );
    compile(Language::Glsl("vulkan1.2"), "frag", &source)
}

/// A fragment shader that reads one image through one of two samplers: the first, or one that is selected.
fn selected(sampler: &str) -> Vec<u32> {
    let source = format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\"
OpExecutionMode %main OriginUpperLeft
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpDecorate %s DescriptorSet 0
OpDecorate %s Binding 1
OpDecorate %t DescriptorSet 0
OpDecorate %t Binding 2
%void = OpTypeVoid
%nothing = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%v2 = OpTypeVector %float 2
%image_t = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampler_t = OpTypeSampler
%pair_t = OpTypeSampledImage %image_t
%image_p = OpTypePointer UniformConstant %image_t
%sampler_p = OpTypePointer UniformConstant %sampler_t
%image = OpVariable %image_p UniformConstant
%s = OpVariable %sampler_p UniformConstant
%t = OpVariable %sampler_p UniformConstant
%half = OpConstant %float 0.5
%at = OpConstantComposite %v2 %half %half
%yes = OpConstantTrue %bool
%main = OpFunction %void None %nothing
%begin = OpLabel
%i1 = OpLoad %image_t %image
%s1 = OpLoad %sampler_t %s
%t1 = OpLoad %sampler_t %t
%one = OpSelect %sampler_t %yes %s1 %t1
%pair = OpSampledImage %pair_t %i1 {sampler}
%r1 = OpImageSampleImplicitLod %v4 %pair %at
OpReturn
OpFunctionEnd
"
    );
    compile(Language::Assembly("spv1.3"), "", &source)
}

/// A name, what has it, and what is like that and has none.
type Row = (&'static str, Case, Vec<Case>);

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    let two = "IMAGE(0) a; IMAGE(1) b; STATE(2) s;";
    let shared: &[_] = &[(IMAGE, 1), (IMAGE, 1), (SAMPLER, 1)];
    let mixed: &[_] = &[(0, 0, Good), (1, 0, Bad), (2, 0, Linear)];
    let goods: &[_] = &[(0, 0, Good), (1, 0, Good), (2, 0, Linear)];
    let of_array = |length: &str, index: &str| {
        let colour = format!("colour = texture(sampler2D(images[{index}], s), uv);");
        fragment(&format!("IMAGE(0) images[{length}]; STATE(1) s;"), &colour)
    };
    let four: &[_] = &[(IMAGE, 4), (SAMPLER, 1)];
    let bad_array: &[_] = &[(0, 1, Bad), (1, 0, Linear)];
    let good_array: &[_] = &[(0, 1, Good), (1, 0, Linear)];
    let legal_array: &[_] = &[(0, 1, Bad), (1, 0, Nearest)];
    let many: &[_] = &[(IMAGE, (1 << 20) + 1), (SAMPLER, 1), (IMAGE, 1)];
    let fewer: &[_] = &[(IMAGE, 1 << 20), (SAMPLER, 1), (IMAGE, 1)];
    let bad_beside: &[_] = &[(0, 1, Bad), (1, 0, Linear), (2, 0, Bad)];
    let good_beside: &[_] = &[(0, 1, Good), (1, 0, Linear), (2, 0, Bad)];
    let one_pair: &[_] = &[(COMBINED, 1)];
    let plain = fragment("PAIR(0) p;", "colour = texture(p, uv);");
    let clamped = |words: Vec<u32>| Case::new(Stage::FRAGMENT, words, one_pair, &[(0, 0, Clamped)]);
    let edge: &[_] = &[(0, 0, Edge)];
    // Functions that take what was loaded, from callers with different images.
    let by_value = compile(Language::Assembly("spv1.3"), "", include_str!("../../spirv/tests/data/by_value.spvasm"));
    let by_value = Case::new(
        Stage::COMPUTE,
        by_value,
        &[(IMAGE, 1), (IMAGE, 1), (SAMPLER, 1), (COMBINED, 1)],
        &[(0, 0, Good), (1, 0, Bad), (2, 0, Linear), (3, 0, Edge)],
    );
    // An element of a parameter's array is chosen inside, where its caller does not know it.
    let pick = "IMAGE(0) images[4]; STATE(1) s; STATE(2) t;
        vec4 pick(sampler with, int at) { return texture(sampler2D(images[at], with), uv); }";
    let pick = Case::new(
        Stage::FRAGMENT,
        fragment(pick, "colour = pick(s, i) + pick(t, i + 1);"),
        &[(IMAGE, 4), (SAMPLER, 1), (SAMPLER, 1)],
        &[(0, 0, Good), (0, 1, Bad), (1, 0, Linear), (2, 0, Nearest)],
    );
    let half_pair = "layout(set = 0, binding = 0) uniform f16sampler2D p;";
    let footprint = "gl_TextureFootprint2DNV found; bool one = textureFootprintNV";
    let half = Case::new(
        Stage::FRAGMENT,
        fragment(half_pair, "colour = vec4(texture(p, f16vec2(uv)));"),
        one_pair,
        &[(0, 0, Clamped)],
    );
    let seen_by = fragment(two, &format!(
        "{footprint}(sampler2D(b, s), uv, 3, true, found);
        colour = texture(sampler2D(a, s), uv) + (one ? vec4(found.lod) : vec4(0.0));"
    ));
    let sampled = fragment(two, "colour = texture(sampler2D(a, s), uv) + texture(sampler2D(b, s), uv);");
    let unseen = vec![vk::Pipeline::from_raw(0x7777_0001)];
    vec![
        (
            "bindless",
            Case::new(Stage::FRAGMENT, of_array("", "nonuniformEXT(i)"), four, bad_array),
            vec![
                Case::new(Stage::FRAGMENT, of_array("", "1"), four, good_array),
                Case::new(Stage::FRAGMENT, of_array("4", "nonuniformEXT(i)"), four, good_array),
                Case::new(Stage::FRAGMENT, of_array("4", "nonuniformEXT(i)"), four, legal_array),
            ],
        ),
        (
            "too-large",
            Case::new(Stage::FRAGMENT, of_array("1048577", "1"), many, bad_beside),
            vec![
                Case::new(Stage::FRAGMENT, of_array("1048576", "1"), fewer, good_beside),
                Case::new(Stage::FRAGMENT, of_array("1048576", "1"), fewer, bad_beside),
            ],
        ),
        (
            "opaque-operand",
            Case::new(Stage::FRAGMENT, selected("%one"), &[(IMAGE, 1), (SAMPLER, 1), (SAMPLER, 1)], &[
                (0, 0, Good), (1, 0, Linear), (2, 0, Linear),
            ]),
            vec![Case::new(Stage::FRAGMENT, selected("%s1"), &[(IMAGE, 1), (SAMPLER, 1), (SAMPLER, 1)], &[
                (0, 0, Good), (1, 0, Linear), (2, 0, Linear),
            ])],
        ),
        (
            "too-many-clones",
            by_value.clone(),
            vec![by_value.with(&[(0, 0, Good), (1, 0, Good), (2, 0, Linear), (3, 0, Edge)])],
        ),
        ("too-many-clones", pick.clone(), vec![
            pick.with(&[(0, 0, Good), (0, 1, Good), (1, 0, Linear), (2, 0, Nearest)]),
            pick.with(&[(0, 0, Good), (0, 1, Bad), (1, 0, Nearest), (2, 0, Nearest)]),
        ]),
        // The sampler cannot be another one, and the shader cannot saturate.
        ("vendor-instruction", Case::new(Stage::FRAGMENT, seen_by.clone(), shared, mixed), vec![
            Case::new(Stage::FRAGMENT, seen_by, shared, goods),
            Case::new(Stage::FRAGMENT, sampled.clone(), shared, goods),
            Case::new(Stage::FRAGMENT, sampled.clone(), shared, mixed),
        ]),
        (
            "vendor-instruction",
            clamped(fragment("PAIR(0) p;", &format!("{footprint}(p, uv, 3, true, found); colour = vec4(found.lod);"))),
            vec![
                clamped(fragment("PAIR(0) p;", &format!("{footprint}(p, uv, 3, true, found); colour = vec4(found.lod);")))
                    .with(edge),
                clamped(plain.clone()),
            ],
        ),
        // A library that the layer has not seen: what is linked of it cannot be linked again.
        (
            "pipeline-library",
            Case { libraries: unseen.clone(), ..Case::new(Stage::FRAGMENT, sampled.clone(), shared, mixed) },
            vec![
                Case { libraries: unseen, ..Case::new(Stage::FRAGMENT, sampled.clone(), shared, goods) },
                Case::new(Stage::FRAGMENT, sampled.clone(), shared, mixed),
            ],
        ),
        ("coordinate-type", half.clone(), vec![
            half.with(edge),
            clamped(fragment(half_pair, "colour = vec4(texture(p, uv));")),
            clamped(plain),
        ]),
    ]
}

#[test]
fn what_shaders_do_that_is_left_has_one_record() {
    let mut wrong = Vec::new();
    for (row, (name, case, twins)) in rows().into_iter().enumerate() {
        let what = format!("row {row}, {name}: {:?}", case.puts);
        let found = names(&case, &what);
        if found != (vec![name.to_owned()], 0) {
            wrong.push(format!("{what}: {found:?}"));
        }
        for (number, twin) in twins.into_iter().enumerate() {
            let what = format!("{what}: twin {number}, {:?}", twin.puts);
            let (told, _) = names(&twin, &what);
            if !told.is_empty() {
                wrong.push(format!("{what}: {told:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A module whose words from `at` on are replaced.
fn with_words(words: &[u32], at: usize, other: &[u32]) -> Vec<u32> {
    let mut words = words.to_vec();
    words[at..at + other.len()].copy_from_slice(other);
    words
}

/// Where the instruction with this code begins.
fn place_of(words: &[u32], code: u32) -> usize {
    let mut at = 5;
    while words[at] & 0xffff != code {
        at += (words[at] >> 16) as usize;
    }
    at
}

/// Modules that do not hold together: a copy of the good one with something wrong.
fn malformed(good: &[u32]) -> Vec<(&'static str, Vec<u32>)> {
    let (load, joined) = (place_of(good, 61), place_of(good, 86));
    let (array, pair, function) = (place_of(good, 28), place_of(good, 27), place_of(good, 54));
    let entry = place_of(good, 15);
    let (call, end) = ("%again = OpFunctionCall %v4 %join %from %with", "OpReturnValue %join_v");
    let by_value = include_str!("../../spirv/tests/data/by_value.spvasm");
    let recursive = by_value.replace(end, &format!("{call}\n{end}"));
    let of_itself = |at: usize, result: usize, operand: usize| with_words(good, at + operand, &[good[at + result]]);
    vec![
        ("no word", Vec::new()),
        ("a header alone", good[..5].to_vec()),
        ("half a header", good[..3].to_vec()),
        ("another magic number", with_words(good, 0, &[0xdead_beef])),
        ("no ids", with_words(good, 3, &[0])),
        ("ids beyond those that there may be", with_words(good, 3, &[7])),
        ("more ids than there can be", with_words(good, 3, &[u32::MAX])),
        ("an instruction of no words", with_words(good, load, &[61])),
        ("an instruction that ends behind the module", with_words(good, function, &[0xffff_0036])),
        ("an instruction cut short", good[..joined + 2].to_vec()),
        ("a pair made of itself", of_itself(joined, 2, 3)),
        ("an entry point that is no function", with_words(good, entry + 2, &[good[array + 1]])),
        ("an entry point beyond all ids", with_words(good, entry + 2, &[u32::MAX])),
        ("a function that calls itself", compile(Language::Assembly("spv1.3"), "", &recursive)),
        ("one id twice", with_words(good, pair + 1, &[good[array + 1]])),
    ]
}

/// Modules that are as wrong, but of which nothing that is wrong has to be known, or has another name.
fn absurd(good: &[u32]) -> Vec<(&'static str, Vec<u32>)> {
    let of_itself = |at: usize, result: usize, operand: usize| with_words(good, at + operand, &[good[at + result]]);
    let (load, access, joined) = (place_of(good, 61), place_of(good, 65), place_of(good, 86));
    let (array, pair) = (place_of(good, 28), place_of(good, 27));
    vec![
        ("a version of the future", with_words(good, 1, &[0x00ff_ff00])),
        ("an array of itself", of_itself(array, 1, 2)),
        ("an array as long as a float", with_words(good, array + 3, &[good[place_of(good, 22) + 1]])),
        ("a pair of itself", of_itself(pair, 1, 2)),
        ("what is loaded from itself", of_itself(load, 2, 3)),
        ("an element of itself", of_itself(access, 2, 3)),
        ("a sampler that is its own pair", of_itself(joined, 2, 4)),
    ]
}

/// Whatever the words are, they are the driver's to judge: they go down as they came, and what is said of them is said once.
#[test]
fn words_that_do_not_hold_together_go_down_as_they_came() {
    let at = |binding, count| Operand { set: 0, binding, count, element: (count == 1).then_some(0) };
    let good = shader(5, &[(at(0, 4), at(2, 1)), (at(1, 1), at(2, 1))]);
    let bindings: &[_] = &[(IMAGE, 4), (IMAGE, 1), (SAMPLER, 1)];
    let mixed: &[_] = &[(0, 0, Good), (1, 0, Bad), (2, 0, Linear)];
    let whole = Case::new(Stage::COMPUTE, good.clone(), bindings, mixed);
    assert_eq!(names(&whole, "the module itself").0, [""; 0]);
    let mut wrong = Vec::new();
    for (what, words) in malformed(&good) {
        let found = names(&Case { words, ..whole.clone() }, what);
        if found != (vec!["malformed-spirv".to_owned()], 0) {
            wrong.push(format!("{what}: {found:?}"));
        }
    }
    let cut = (0..good.len()).step_by(3).map(|length| ("cut off", good[..length].to_vec()));
    for (what, words) in absurd(&good).into_iter().chain(cut) {
        let length = words.len();
        let (told, _) = names(&Case { words, ..whole.clone() }, what);
        if told.len() > 1 {
            wrong.push(format!("{what}, {length} words: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
