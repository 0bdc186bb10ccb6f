//! The line of the shader: 20 shaders with a fault each, in GLSL, HLSL and Slang's form of debug lines, through layer and gate.

use std::process::Command;

use crate::common::*;

/// A shader whose line `line` reads a depth image through a sampler that would filter it.
struct Fault {
    file: String,
    line: u64,
}

/// Comments in front, so that each shader has its fault elsewhere.
fn padding(lines: usize) -> String {
    "// nothing\n".repeat(lines)
}

const GLSL: &str = "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) uniform texture2D image;\nlayout(set = 0, binding = 1) uniform sampler state;\nlayout(set = 0, binding = 2) buffer Out { vec4 texel; };\n";

/// The whole text, and the line of the fault.
fn glsl(number: usize) -> (String, usize) {
    let head = format!("{GLSL}{}", padding(number * 3));
    let first = head.lines().count();
    if number.is_multiple_of(2) {
        // In the entry point.
        (
            head + "void main() {\n    vec2 at = vec2(0.5);\n    texel = textureLod(sampler2D(image, state), at, 0.0);\n}\n",
            first + 3,
        )
    } else {
        // In a function, and through its parameters.
        let text = "vec4 read(texture2D i, sampler s, vec2 at) {\n    vec2 twice = at * 2.0;\n    return textureLod(sampler2D(i, s), twice, 0.0);\n}\nvoid main() {\n    texel = read(image, state, vec2(0.5));\n}\n";
        (head + text, first + 3)
    }
}

fn hlsl(number: usize) -> (String, usize) {
    let head = format!(
        "[[vk::binding(0, 0)]] Texture2D<float4> image;\n[[vk::binding(1, 0)]] SamplerState state;\n[[vk::binding(2, 0)]] RWStructuredBuffer<float4> result;\n{}",
        padding(number * 2 + 1)
    );
    let first = head.lines().count();
    let text = "[numthreads(1, 1, 1)]\nvoid main() {\n    float2 at = float2(0.5, 0.5);\n    float4 read = image.SampleLevel(state, at, 0);\n    result[0] = read;\n}\n";
    (head + text, first + 4)
}

/// What Slang writes with -g: a `DebugLine` of NonSemantic.Shader.DebugInfo.100 in front of each statement, its numbers constants.
fn slang(file: &str, line: usize) -> String {
    format!(
        r#"OpCapability Shader
OpExtension "SPV_KHR_non_semantic_info"
%set = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%file = OpString "{file}"
%other = OpString "core.meta.slang"
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpDecorate %state DescriptorSet 0
OpDecorate %state Binding 1
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 2
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%one = OpConstant %uint 1
%line = OpConstant %uint {line}
%after = OpConstant %uint {after}
%vec2 = OpTypeVector %float 2
%vec4 = OpTypeVector %float 4
%half = OpConstant %float 0.5
%lod = OpConstant %float 0
%at = OpConstantComposite %vec2 %half %half
%type = OpTypeImage %float 2D 0 0 0 1 Unknown
%pointer = OpTypePointer UniformConstant %type
%sampler = OpTypeSampler
%states = OpTypePointer UniformConstant %sampler
%pair = OpTypeSampledImage %type
%block = OpTypeStruct %vec4
%blocks = OpTypePointer Uniform %block
%texels = OpTypePointer Uniform %vec4
%image = OpVariable %pointer UniformConstant
%state = OpVariable %states UniformConstant
%out = OpVariable %blocks Uniform
%meta = OpExtInst %void %set DebugSource %other
%source = OpExtInst %void %set DebugSource %file
%main = OpFunction %void None %function
%label = OpLabel
%l0 = OpExtInst %void %set DebugLine %meta %one %one %one %one
%i = OpLoad %type %image
%s = OpLoad %sampler %state
%l1 = OpExtInst %void %set DebugLine %source %line %line %one %one
%p = OpSampledImage %pair %i %s
%texel = OpImageSampleExplicitLod %vec4 %p %at Lod %lod
%l2 = OpExtInst %void %set DebugLine %source %after %after %one %one
%place = OpAccessChain %texels %out %zero
OpStore %place %texel
OpReturn
OpFunctionEnd
"#,
        after = line + 1
    )
}

#[test]
fn twenty_faults_have_the_right_file_and_line() {
    let Some(vulkan) = vulkan() else { return };
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !has("glslangValidator") || !has("spirv-as") {
        skip("there is no glslangValidator or no spirv-as");
        return;
    }
    let home = Folder::new();
    let compile = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(home.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {said}");
    };
    let mut faults: Vec<Fault> = Vec::new();
    for number in 0..20 {
        let spv = format!("{number}.spv");
        let (file, line) = match number {
            0..8 => {
                let (text, line) = glsl(number);
                let file = format!("glsl {number}.comp");
                home.write(&file, text);
                // The newer form loses the lines of functions in this compiler.
                let lines = if number % 4 == 0 { "-gV" } else { "-g" };
                compile("glslangValidator", &["-V", lines, &file, "-o", &spv]);
                (file, line)
            }
            8..14 => {
                let (text, line) = hlsl(number);
                let file = format!("hlsl{number}.hlsl");
                home.write(&file, text);
                compile("glslangValidator", &["-V", "-D", "-S", "comp", "-e", "main", "-g", &file, "-o", &spv]);
                (file, line)
            }
            _ => {
                let (file, line) = (format!("shaders/fault{number}.slang"), number * 7);
                home.write("slang.spvasm", slang(&file, line));
                compile("spirv-as", &["--target-env", "vulkan1.1", "slang.spvasm", "-o", &spv]);
                (file, line)
            }
        };
        faults.push(Fault { file, line: line as u64 });
    }
    let ran = Ran::by(
        vulkan
            .tool(&home)
            .args(["run", "--trace", "t.jsonl", "--"])
            .arg(example("lines"))
            .args((0..20).map(|number| format!("{number}.spv"))),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let found = samplin_in(&home, ["check", "t.jsonl", "--format", "sarif", "--deny", "linear-filter"]).quiet(1);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let results = found["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 20, "one finding a shader");
    for (number, fault) in faults.iter().enumerate() {
        let name = format!("sampler \"{number}.spv\"");
        let result = results.iter().find(|result| result["message"]["text"].as_str().unwrap().contains(&name)).unwrap();
        let place = &result["locations"][0]["physicalLocation"];
        let uri = fault.file.replace(' ', "%20");
        let told = (place["artifactLocation"]["uri"].as_str(), place["region"]["startLine"].as_u64());
        assert_eq!(told, (Some(uri.as_str()), Some(fault.line)), "{number}: {result:#}");
    }
}
