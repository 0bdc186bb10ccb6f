//! Modules that a pass has to leave alone, and why: what they declare and do not use, types that do not go together, instructions that
//! nobody knows, counters that overlap, bindings that are taken.
//!
//! Words that the assembler does not know stand there as numbers. Each module is one step from one that is rewritten, and what it does
//! wrong is all that any pass could find in it.

/// A module that is refused.
pub struct Bad {
    /// The name of the pass.
    pub pass: &'static str,
    /// What it is refused as.
    pub name: &'static str,
    /// In SPIR-V 1.3.
    pub text: String,
    /// The setting `counters`.
    pub counters: &'static str,
    /// Whether it is for a device that reads storage images without a format, and does not write them; else it is the other way round.
    pub reads: bool,
}

impl Bad {
    fn new(pass: &'static str, name: &'static str, text: String) -> Bad {
        Bad { pass, name, text, counters: "auto", reads: false }
    }
}

/// All of them.
pub fn all() -> Vec<Bad> {
    [counters(), opengl(), lowered(), declared(), samples(), masks()].into_iter().flatten().collect()
}

/// A compute shader with a counter `%c` of binding 0 at offset 8, unless `decorations` say otherwise.
fn counting(decorations: &str, globals: &str, functions: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpCapability AtomicStorage\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\n{decorations}\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
         %uint = OpTypeInt 32 0\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
         %bool = OpTypeBool\n%true = OpConstantTrue %bool\n%pointer = OpTypePointer AtomicCounter %uint\n\
         %c = OpVariable %pointer AtomicCounter\n{globals}\n{functions}\n\
         %main = OpFunction %void None %ft\n%b = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

const PLACED: &str = "OpDecorate %c Binding 0\nOpDecorate %c Offset 8\n";
const COUNTED: &str = "%r = OpAtomicIIncrement %uint %c %one %zero";
const ARRAY: &str =
    "%ints = OpTypeArray %uint %two\n%ap = OpTypePointer AtomicCounter %ints\n%d = OpVariable %ap AtomicCounter";
/// The array behind the counter.
const BEHIND: &str =
    "OpDecorate %c Binding 0\nOpDecorate %c Offset 8\nOpDecorate %d Binding 0\nOpDecorate %d Offset 16";

/// How many storage buffers a stage of the device may have.
pub const STORAGE_BUFFERS: u32 = 24;

/// As many counters, each of a binding of its own.
fn bindings(count: u32) -> (String, String) {
    let decorated = |n| format!("OpDecorate %x{n} Binding {n}\nOpDecorate %x{n} Offset 0\n");
    let declared = |n| format!("%x{n} = OpVariable %pointer AtomicCounter\n");
    // The one that is always there is the last one.
    let last = format!("OpDecorate %c Binding {}\nOpDecorate %c Offset 0\n", count - 1);
    ((0..count - 1).map(decorated).collect::<String>() + &last, (0..count - 1).map(declared).collect())
}

/// Counters of so many bindings beside an array of storage buffers.
pub fn beside_buffers(count: u32, buffers: u32, is_used: bool) -> String {
    let (decorations, variables) = bindings(count);
    let decorations = format!(
        "{decorations}OpDecorate %s BufferBlock\nOpMemberDecorate %s 0 Offset 0\nOpDecorate %buf DescriptorSet 1\nOpDecorate %buf Binding 0\n"
    );
    let globals = format!(
        "{variables}%s = OpTypeStruct %uint\n%n = OpConstant %uint {buffers}\n%ss = OpTypeArray %s %n\n%sp = OpTypePointer Uniform %ss\n\
         %up = OpTypePointer Uniform %uint\n%buf = OpVariable %sp Uniform"
    );
    let uses = "%at = OpAccessChain %up %buf %zero %zero\nOpStore %at %one";
    counting(&decorations, &globals, "", &format!("{COUNTED}\n{}", if is_used { uses } else { "" }))
}

fn counters() -> Vec<Bad> {
    let bad = |name, text| Bad::new("atomic_counters", name, text);
    let at = |name, counters, text| Bad { counters, ..bad(name, text) };
    let placed = |name, globals: &str, body: &str| bad(name, counting(PLACED, globals, "", body));
    let buffer = "%s = OpTypeStruct %uint\n%sp = OpTypePointer Uniform %s\n%buf = OpVariable %sp Uniform";
    let with_buffer = format!(
        "{PLACED}OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\nOpDecorate %buf DescriptorSet 1\nOpDecorate %buf Binding 7\n"
    );
    let takes = "%gt = OpTypeFunction %void %ap";
    let function = "%g = OpFunction %void None %gt\n%p = OpFunctionParameter %ap\n%gb = OpLabel\n%e = OpAccessChain %pointer %p %one\n\
         %gr = OpAtomicIIncrement %uint %e %one %zero\nOpReturn\nOpFunctionEnd";
    let calls = |argument: &str| {
        let call = format!("%call = OpFunctionCall %void %g {argument}");
        counting(BEHIND, &format!("{ARRAY}\n{takes}"), function, &call)
    };
    vec![
        // Declared and not said where.
        bad("counter-without-binding", counting("OpDecorate %c Offset 8", "", "", "")),
        bad("counter-offset", counting("OpDecorate %c Binding 0", "", "", "")),
        bad("counter-offset", counting("OpDecorate %c Binding 0\nOpDecorate %c Offset 6", "", "", COUNTED)),
        bad("counter-offset", counting("OpDecorate %c Binding 0\nOpDecorate %c Offset 4294967292", "", "", COUNTED)),
        // Types.
        placed("counter-type", "%int = OpTypeInt 32 1\n%ip = OpTypePointer AtomicCounter %int", COUNTED),
        placed("counter-type", "%long = OpTypeInt 64 0\n%lp = OpTypePointer AtomicCounter %long", COUNTED),
        placed("counter-type", "%st = OpTypeStruct %uint\n%tp = OpTypePointer AtomicCounter %st", COUNTED),
        placed(
            "counter-type",
            "%n = OpSpecConstant %uint 3\n%a = OpTypeArray %uint %n\n%np = OpTypePointer AtomicCounter %a",
            COUNTED,
        ),
        bad("counter-type", counting(BEHIND, ARRAY, "", "%r = OpAtomicIIncrement %uint %d %one %zero")),
        bad(
            "counter-type",
            counting(BEHIND, ARRAY, "", "%e = OpCopyObject %pointer %d\n%r = OpAtomicIIncrement %uint %e %one %zero"),
        ),
        bad("counter-type", counting(BEHIND, ARRAY, "", "%e = OpAccessChain %ap %d %one")),
        placed("counter-type", "", "%e = OpAccessChain %pointer %c %one"),
        bad("counter-type", calls("%c")),
        bad("opcode", calls("%d %c")),
        bad("opcode", calls("")),
        bad("opcode", calls("%one")),
        bad(
            "index-width",
            counting(
                BEHIND,
                &format!("{ARRAY}\n%long = OpTypeInt 64 0\n%lo = OpUndef %long"),
                "",
                "%e = OpAccessChain %pointer %d %lo\n%r = OpAtomicIIncrement %uint %e %one %zero",
            ),
        ),
        placed("memory-semantics", "%sem = OpSpecConstant %uint 1032", "%r = OpAtomicIIncrement %uint %c %one %sem"),
        // Where they are.
        bad(
            "counters-overlap",
            counting(&format!("{PLACED}OpDecorate %d Binding 0\nOpDecorate %d Offset 4"), ARRAY, "", COUNTED),
        ),
        at("binding-taken", "1:7", counting(&with_buffer, buffer, "", COUNTED)),
        at(
            "binding-taken",
            "0:4294967294",
            counting("OpDecorate %c Binding 3\nOpDecorate %c Offset 0", "", "", COUNTED),
        ),
        // More than there is place for.
        bad("storage-buffers", {
            let (decorations, variables) = bindings(STORAGE_BUFFERS + 1);
            counting(&decorations, &variables, "", COUNTED)
        }),
        bad("storage-buffers", beside_buffers(STORAGE_BUFFERS - 2, 3, true)),
        // What is done with them.
        placed("selected-pointer", "", "%s = OpSelect %pointer %true %c %c"),
        placed("opcode", "", "%l = OpLoad %uint %c"),
        placed("opcode", "", "%u = OpUndef %pointer"),
        placed("opcode", "%null = OpConstantNull %pointer", COUNTED),
        placed("opcode", "%st = OpTypeStruct %pointer", COUNTED),
        placed("opcode", "%rt = OpTypeFunction %pointer %pointer", COUNTED),
        placed("opcode", "", "%r = OpAtomicIAdd %uint %c %one %zero %c"),
        placed("opcode", "", "!0x0003ea60 %c !1"),
        placed("opcode", "!0x0003ea60 %c !1", COUNTED),
        bad("function-variants", variants()),
        bad("kernel", counting(PLACED, "", "", COUNTED).replacen("Shader", "Kernel\nOpCapability Shader", 1)),
        bad("module", counting(PLACED, "", "", "!0x0000ea60")),
    ]
}

/// A function that is called with one counter of every two bindings too many.
fn variants() -> String {
    use std::fmt::Write as _;
    let (mut decorations, mut globals, mut calls) = (PLACED.to_owned(), String::new(), String::new());
    for n in 1..=17 {
        let _ = writeln!(decorations, "OpDecorate %c{n} Binding {n}\nOpDecorate %c{n} Offset 0");
        let _ = writeln!(globals, "%c{n} = OpVariable %pointer AtomicCounter");
        for other in 1..=17 {
            let _ = writeln!(calls, "%call{n}_{other} = OpFunctionCall %void %g %c{n} %c{other}");
        }
    }
    globals.push_str("%gt = OpTypeFunction %void %pointer %pointer");
    let function = "%g = OpFunction %void None %gt\n%p = OpFunctionParameter %pointer\n%q = OpFunctionParameter %pointer\n\
         %gb = OpLabel\nOpReturn\nOpFunctionEnd";
    counting(&decorations, &globals, function, &calls)
}

/// What else modules for OpenGL carry.
fn opengl() -> Vec<Bad> {
    let bad = |name, text| Bad::new("atomic_counters", name, text);
    // A shader whose inputs are these builtins, all integers or all vectors.
    let stage = |model: &str, mode: &str, inputs: &[(&str, &str)], ty: &str, body: &str| {
        let list = |with: &dyn Fn(&str, &str) -> String| -> String {
            inputs.iter().map(|(id, builtin)| with(id, builtin)).collect()
        };
        format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint {model} %main \"main\"{}\n{mode}\n{}\
             %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n\
             %v4 = OpTypeVector %float 4\n%int = OpTypeInt 32 1\n%pointer = OpTypePointer Input %{ty}\n{}\
             %main = OpFunction %void None %ft\n%b = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n",
            list(&|id, _| format!(" %{id}")),
            list(&|id, builtin| format!("OpDecorate %{id} BuiltIn {builtin}\n")),
            list(&|id, _| format!("%{id} = OpVariable %pointer Input\n")),
        )
    };
    let origin = "OpExecutionMode %main OriginLowerLeft";
    let load = "%l = OpLoad %int %i\n%k = OpLoad %int %j";
    let both = |one, other| stage("Vertex", "", &[("i", one), ("j", other)], "int", load);
    let grouped = stage("Vertex", "", &[("i", "VertexId")], "int", "%l = OpLoad %int %i").replacen(
        "OpDecorate %i BuiltIn VertexId",
        "OpDecorate %group BuiltIn VertexId\n%group = OpDecorationGroup\nOpGroupDecorate %group %i",
        1,
    );
    let member = stage("Vertex", "", &[], "int", "").replacen(
        "%void =",
        "OpMemberDecorate %s 0 BuiltIn InstanceId\nOpDecorate %s Block\n%void =",
        1,
    );
    let member = member.replacen("%pointer =", "%s = OpTypeStruct %int\n%pointer =", 1);
    let uniform = "%up = OpTypePointer UniformConstant %uint\n%u = OpVariable %up UniformConstant";
    vec![
        // Nobody reads it, and it is declared.
        bad("default-block-uniform", counting(&format!("{PLACED}OpDecorate %u Location 3"), uniform, "", COUNTED)),
        bad("fragment-origin", stage("Fragment", origin, &[("i", "FragCoord")], "v4", "%l = OpLoad %v4 %i")),
        bad("fragment-origin", stage("Fragment", origin, &[("i", "PointCoord")], "v2", "%l = OpLoad %v2 %i")),
        bad("instance-id", stage("Vertex", "", &[("i", "InstanceId")], "int", "%l = OpLoad %int %i")),
        bad("builtin-twice", both("VertexId", "VertexIndex")),
        bad("builtin-twice", both("VertexId", "VertexId")),
        bad("builtin-twice", both("InstanceId", "InstanceIndex")),
        bad("decoration-group", grouped),
        bad("opcode", member),
    ]
}

/// A compute shader with a storage image `%a` of this type.
fn storing(sampled: &str, format: &str, globals: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %a DescriptorSet 2\nOpDecorate %a Binding 3\n\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%int = OpTypeInt 32 1\n%v2 = OpTypeVector %int 2\n\
         %f4 = OpTypeVector %float 4\n%f2 = OpTypeVector %float 2\n%i4 = OpTypeVector %int 4\n\
         %zero = OpConstant %int 0\n%at = OpConstantComposite %v2 %zero %zero\n\
         %t = OpTypeImage %{sampled} 2D 2 0 0 2 {format}\n%p = OpTypePointer UniformConstant %t\n\
         %a = OpVariable %p UniformConstant\n%pt = OpTypePointer Image %int\n{globals}\n\
         %main = OpFunction %void None %ft\n%l = OpLabel\n%i = OpLoad %t %a\nOpNop\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

const READ: &str = "%r = OpImageRead %f4 %i %at";

fn kernel(text: &str) -> String {
    text.replacen("Shader", "Kernel\nOpCapability Shader", 1)
}

/// An untyped pointer, which the assembler does not know.
const UNTYPED: &str = "!0x00031141 %untyped !0";

/// Formats that the device does not store.
fn lowered() -> Vec<Bad> {
    let bad = |name, text| Bad::new("image_formats", name, text);
    let rgba8 = |name, globals: &str, body: &str| bad(name, storing("float", "Rgba8", globals, body));
    let atomic = "%x = OpImageTexelPointer %pt %a %at %zero\n%y = OpAtomicLoad %int %x %zero %zero";
    vec![
        bad("image-type", storing("int", "Rgba8", "", "%r = OpImageRead %i4 %i %at")),
        // Nobody does anything with it.
        bad("image-type", storing("int", "Rgba8", "", "")),
        rgba8("texel-type", "", "%r = OpImageRead %i4 %i %at"),
        rgba8("texel-type", "", "%r = OpImageRead %f2 %i %at"),
        rgba8("texel-type", "", "OpImageWrite %i %at %zero"),
        rgba8("texel-type", "", "OpImageWrite %i %at %nobody"),
        rgba8("image-operands", "", "!0x00060062 %f4 %r %i %at !0x1000"),
        rgba8("opcode", "", "%r = OpImageRead %f4 %a %at"),
        rgba8("opcode", "", "OpImageWrite %a %at %at"),
        rgba8("opcode", "", "%s = OpImageFetch %f4 %i %at"),
        rgba8("opcode", "%si = OpTypeSampledImage %t", "%s = OpSampledImage %si %i %i"),
        rgba8("opcode", "", "!0x0003ea60 %i !1"),
        rgba8("opcode", "!0x0003ea60 %a !1", READ),
        rgba8("opcode", READ, ""),
        bad("image-atomics", storing("int", "R32i", "", atomic)),
        bad("kernel", kernel(&storing("float", "Rgba8", "", READ))),
        rgba8("untyped-pointer", UNTYPED, READ),
        rgba8("module", "", "!0x0000ea60"),
    ]
}

/// What storage images declare about formats.
fn declared() -> Vec<Bad> {
    let bad = |name, text| Bad::new("image_access", name, text);
    // From a compiler of HLSL, whose formats go.
    let hlsl = |sampled, format, globals: &str, body: &str| {
        let text = storing(sampled, format, globals, body);
        text.replacen("OpDecorate", "OpSource HLSL 600\nOpDecorate", 1)
    };
    let made_up = |name, globals: &str, body: &str| bad(name, hlsl("float", "Rgba32f", globals, body));
    let atomic = "%x = OpImageTexelPointer %pt %a %at %zero\n%y = OpAtomicLoad %int %x %zero %zero";
    let write = "OpImageWrite %i %at %nothing";
    let nothing = "%nothing = OpConstantNull %f4";
    // Another type that is equal without the format, and is named by what nobody knows.
    let equal = "%t2 = OpTypeImage %float 2D 2 0 0 2 Unknown\n%nothing = OpConstantNull %f4";
    let formatless = |capability: &str, globals: &str, body: &str| {
        storing("float", "Unknown", globals, body).replacen("Shader", &format!("Shader\nOpCapability {capability}"), 1)
    };
    vec![
        made_up("read-without-format", "", READ),
        Bad { reads: true, ..made_up("write-without-format", nothing, write) },
        bad("read-without-format", formatless("StorageImageReadWithoutFormat", "", READ)),
        Bad {
            reads: true,
            ..bad("write-without-format", formatless("StorageImageWriteWithoutFormat", nothing, write))
        },
        bad("image-atomics", hlsl("int", "R32i", "", atomic)),
        made_up("image-escapes", "%st = OpTypeStruct %t", ""),
        made_up("image-escapes", "", "!0x0003ea60 %i !1"),
        made_up("opcode", equal, &format!("{write}\nOpNop\n!0x0002ea60 %t2")),
        // A capability for nothing, in a module that nobody here understands.
        bad("kernel", kernel(&formatless("StorageImageReadWithoutFormat", "", ""))),
        bad("untyped-pointer", formatless("StorageImageReadWithoutFormat", UNTYPED, "")),
        bad("module", formatless("StorageImageReadWithoutFormat", "", "!0x0000ea60")),
    ]
}

/// A fragment shader with the input `%id`, the number of the sample or what `decorations` make of it.
fn sampling(decorations: &str, globals: &str, functions: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpCapability SampleRateShading\nOpCapability InterpolationFunction\n\
         %glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\" %id %in\nOpExecutionMode %main OriginUpperLeft\n{decorations}\nOpDecorate %id Flat\n\
         OpDecorate %in Location 0\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n%int = OpTypeInt 32 1\n%bool = OpTypeBool\n\
         %true = OpConstantTrue %bool\n%zero = OpConstant %int 0\n%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n\
         %v3 = OpTypeVector %float 3\n%pointer = OpTypePointer Input %int\n%private = OpTypePointer Private %int\n\
         %pf = OpTypePointer Input %float\n%own = OpTypePointer Private %float\n{globals}\n\
         %id = OpVariable %pointer Input\n%in = OpVariable %pf Input\n%other = OpVariable %private Private\n\
         %mine = OpVariable %own Private\n{functions}\n\
         %main = OpFunction %void None %ft\n%b = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

const NUMBER: &str = "OpDecorate %id BuiltIn SampleId";

fn samples() -> Vec<Bad> {
    let bad = |name, text| Bad::new("sample_builtins", name, text);
    let number = |name, globals: &str, body: &str| bad(name, sampling(NUMBER, globals, "", body));
    let takes = "%g = OpFunction %void None %gt\n%p = OpFunctionParameter %pointer\n%gb = OpLabel\n%l = OpLoad %int %p\nOpReturn\nOpFunctionEnd";
    let of_a_group = "OpDecorate %group BuiltIn SampleId\n%group = OpDecorationGroup\nOpGroupDecorate %group %id";
    let in_a_group = "OpDecorate %id BuiltIn SampleId\nOpDecorate %group Flat\n%group = OpDecorationGroup\nOpGroupDecorate %group %id";
    let load = "%l = OpLoad %int %id";
    vec![
        bad(
            "passed-by-pointer",
            sampling(NUMBER, "%gt = OpTypeFunction %void %pointer", takes, "%r = OpFunctionCall %void %g %id"),
        ),
        number("selected-pointer", "", "%s = OpSelect %pointer %true %id %id"),
        number("opcode", "", "OpCopyMemory %other %id"),
        number("opcode", "", "%e = OpAccessChain %pointer %id %zero"),
        number("opcode", "", "%e = OpExtInst %int %glsl InterpolateAtCentroid %id"),
        number("opcode", "", "!0x0003ea60 %id !1"),
        bad("decoration-group", sampling(of_a_group, "", "", load)),
        bad("decoration-group", sampling(in_a_group, "", "", load)),
        bad(
            "opcode",
            sampling("OpMemberDecorate %s 0 BuiltIn SampleId\nOpDecorate %s Block", "%s = OpTypeStruct %int", "", ""),
        ),
        // Declared as what it is not, and not read.
        bad("builtin-type", sampling("OpDecorate %id BuiltIn SamplePosition", "", "", "")),
        bad("opcode", sampling("", "", "", "%e = OpExtInst %v2 %glsl InterpolateAtCentroid %in")),
        bad("opcode", sampling("", "", "", "%e = OpExtInst %float %glsl InterpolateAtCentroid %mine")),
        bad(
            "opcode",
            sampling("", "%by = OpConstantNull %v3", "", "%e = OpExtInst %float %glsl InterpolateAtOffset %in %by"),
        ),
        bad("opcode", sampling("", "", "", "%e = OpExtInst %float %glsl InterpolateAtOffset %in %zero")),
        bad("kernel", kernel(&sampling(NUMBER, "", "", load))),
        bad(
            "capability",
            sampling(NUMBER, "", "", load).replacen("Shader", "Shader\n!0x00020011 !5249\nOpCapability Shader", 1),
        ),
        bad("module", sampling(NUMBER, "", "", "!0x0000ea60")),
    ]
}

/// A fragment shader with a mask of two words.
fn masked(decorations: &str, length: &str, variable: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %out\n\
         OpExecutionMode %main OriginUpperLeft\n{decorations}\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
         %int = OpTypeInt 32 1\n%long = OpTypeInt 64 0\n%zero = OpConstant %int 0\n%one = OpConstant %int 1\n%length = {length}\n\
         %n = OpSpecConstant %int 0\n%array = OpTypeArray %int %length\n%pointer = OpTypePointer Output %array\n\
         %element = OpTypePointer Output %int\n%null = OpConstantNull %array\n%out = OpVariable %pointer Output {variable}\n\
         %main = OpFunction %void None %ft\n%b = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

fn masks() -> Vec<Bad> {
    let bad = |name, text| Bad::new("sample_mask", name, text);
    let mask = "OpDecorate %out BuiltIn SampleMask";
    let two = "OpConstant %int 2";
    let touched = |body| bad("sample-mask-words", masked(mask, two, "", body));
    let first = "%c = OpAccessChain %element %out %zero\nOpStore %c %one";
    let of_a_group = "OpDecorate %group BuiltIn SampleMask\n%group = OpDecorationGroup\nOpGroupDecorate %group %out";
    vec![
        touched("%c = OpAccessChain %element %out %one\nOpStore %c %zero"),
        touched("%c = OpAccessChain %element %out %n\nOpStore %c %zero"),
        touched("OpStore %out %null"),
        touched("%c = OpCopyObject %pointer %out"),
        touched("!0x0003ea60 %out !1"),
        bad("builtin-type", masked(mask, two, "%null", first)),
        bad("builtin-type", masked(mask, "OpConstant %long 2", "", first)),
        bad("builtin-type", masked(mask, "OpSpecConstant %int 2", "", first)),
        bad("builtin-type", masked(mask, two, "", "").replace("OpTypeArray %int %length", "OpTypeVector %int 2")),
        bad("decoration-group", masked(of_a_group, two, "", first)),
        bad("module", masked(mask, two, "", "!0x0000ea60")),
    ]
}
