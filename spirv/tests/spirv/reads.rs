//! Images that entry points read.

use samplin_spirv::{Module, Sampled};

use crate::corpus::{assembled, glsl};

/// Set, binding and texels of what `main` of a stage reads, in order.
fn reads(words: &[u32], model: spirv::ExecutionModel) -> Vec<(u32, u32, Sampled)> {
    let module = Module::read(words).expect("a module");
    let reads = module.images_read("main", model as u32).expect("an entry point");
    let mut reads: Vec<_> = reads.iter().map(|read| (read.set, read.binding, read.ty.sampled)).collect();
    reads.sort_by_key(|(set, binding, _)| (*set, *binding));
    reads
}

#[test]
fn images_are_read_with_and_without_samplers() {
    let source = "#version 450
        #extension GL_EXT_samplerless_texture_functions : require
        layout(set = 0, binding = 0) uniform usampler2D whole;
        layout(set = 1, binding = 2) uniform utexture2D by_texel;
        layout(set = 1, binding = 3) uniform itexture2D sized[4];
        layout(set = 1, binding = 4) uniform sampler2DShadow depth;
        layout(set = 1, binding = 5) uniform texture2D half_of_a_pair;
        layout(set = 1, binding = 6) uniform sampler other_half;
        layout(set = 2, binding = 0) uniform usampler2D never;
        layout(set = 2, binding = 1, rgba8ui) uniform uimage2D stored;
        layout(set = 2, binding = 2) uniform usamplerBuffer texels;
        layout(set = 3, binding = 0) uniform usampler2D passed;
        uvec4 look(usampler2D it) { return textureLod(it, vec2(0), 0); }
        layout(location = 0) out vec4 color;
        void main() {
            imageStore(stored, ivec2(0), uvec4(texelFetch(texels, 0)));
            color = vec4(textureLod(whole, vec2(0), 0)) + vec4(texelFetch(by_texel, ivec2(0), 0)) + vec4(look(passed))
                + float(textureSize(sized[2], 0).x) + textureLod(depth, vec3(0), 0)
                + textureLod(sampler2D(half_of_a_pair, other_half), vec2(0), 0);
        }";
    let got = reads(&glsl("frag", "vulkan1.2", source), spirv::ExecutionModel::Fragment);
    let (float, sint, uint) = (Sampled::Float, Sampled::Sint, Sampled::Uint);
    assert_eq!(got, [(0, 0, uint), (1, 2, uint), (1, 3, sint), (1, 4, float), (1, 5, float), (3, 0, uint)]);
}

#[test]
fn input_attachments_are_read() {
    let source = "#version 450
        layout(input_attachment_index = 0, set = 0, binding = 1) uniform usubpassInput stencil;
        layout(input_attachment_index = 1, set = 0, binding = 2) uniform subpassInput depth;
        layout(location = 0) out vec4 color;
        void main() { color = vec4(subpassLoad(stencil)) + subpassLoad(depth); }";
    let got = reads(&glsl("frag", "vulkan1.2", source), spirv::ExecutionModel::Fragment);
    assert_eq!(got, [(0, 1, Sampled::Uint), (0, 2, Sampled::Float)]);
}

/// Two entry points of one module, each with an image of its own at one binding.
#[test]
fn each_entry_point_reads_its_own() {
    let text = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %one \"main\"
        OpEntryPoint GLCompute %two \"other\"
        OpExecutionMode %one LocalSize 1 1 1
        OpExecutionMode %two LocalSize 1 1 1
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 7
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 7
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %float = OpTypeFloat 32
        %uint = OpTypeInt 32 0
        %fimage = OpTypeImage %float 2D 0 0 0 1 Unknown
        %uimage = OpTypeImage %uint 2D 0 0 0 1 Unknown
        %fpointer = OpTypePointer UniformConstant %fimage
        %upointer = OpTypePointer UniformConstant %uimage
        %a = OpVariable %fpointer UniformConstant
        %b = OpVariable %upointer UniformConstant
        %one = OpFunction %void None %fn
        %first = OpLabel
        %x = OpLoad %fimage %a
        OpReturn
        OpFunctionEnd
        %two = OpFunction %void None %fn
        %second = OpLabel
        %y = OpLoad %uimage %b
        OpReturn
        OpFunctionEnd";
    let words = assembled(text);
    let module = Module::read(&words).expect("a module");
    for (name, sampled) in [("main", Sampled::Float), ("other", Sampled::Uint)] {
        let reads = module.images_read(name, spirv::ExecutionModel::GLCompute as u32).expect("an entry point");
        let [read] = reads.as_slice() else { panic!("{name}: {reads:?}") };
        assert_eq!((read.set, read.binding, read.ty.sampled), (0, 7, sampled));
    }
    assert!(module.images_read("main", spirv::ExecutionModel::Fragment as u32).is_err());
}
