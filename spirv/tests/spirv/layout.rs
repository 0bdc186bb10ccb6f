//! Where things stand in a module: each opcode in the section that the specification gives it ("Logical Layout of a Module"), what is
//! added behind what has to come before it.

use samplin_spirv::{Editor, Module};
use spirv::{Capability, Decoration, Op, StorageClass};

use crate::corpus::{assembled, instructions, validate};

/// The parts of a module in their order, numbered as far as it matters what comes before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Capabilities,
    Extensions,
    Imports,
    Modes,
    Sources,
    Names,
    Processed,
    Annotations,
    Globals,
    Functions,
    Graphs,
}

/// Where the specification, or the extension that brought it, has an opcode outside of functions; whether it may stand in functions
/// as well. By the names of the opcodes, and by nothing of the reader's.
fn places(op: Op) -> (Option<Part>, bool) {
    use Part as P;
    let name = format!("{op:?}");
    match &*name {
        "Capability" | "ConditionalCapabilityINTEL" => (Some(P::Capabilities), false),
        "Extension" | "ConditionalExtensionINTEL" => (Some(P::Extensions), false),
        "ExtInstImport" => (Some(P::Imports), false),
        "MemoryModel"
        | "SamplerImageAddressingModeNV"
        | "EntryPoint"
        | "ConditionalEntryPointINTEL"
        | "ExecutionMode"
        | "ExecutionModeId" => (Some(P::Modes), false),
        "String" | "SourceExtension" | "Source" | "SourceContinued" => (Some(P::Sources), false),
        "Name" | "MemberName" => (Some(P::Names), false),
        "ModuleProcessed" => (Some(P::Processed), false),
        "DecorationGroup" => (Some(P::Annotations), false),
        // Variables, in functions of storage class Function; what is undefined; instructions that say nothing of semantics; lines.
        "Variable" | "UntypedVariableKHR" | "Undef" | "ExtInst" | "ExtInstWithForwardRefsKHR" | "Line" | "NoLine" => {
            (Some(P::Globals), true)
        }
        "GraphConstantARM" => (Some(P::Globals), false),
        _ if name.starts_with("Graph") => (Some(P::Graphs), false),
        _ if name.contains("Decorate") => (Some(P::Annotations), false),
        _ if name.starts_with("Type") => (Some(P::Globals), false),
        _ if name.starts_with("Constant") || name.starts_with("SpecConstant") => (Some(P::Globals), false),
        _ => (None, true),
    }
}

/// One instruction or more of each part; the last id is 8.
fn skeleton() -> Vec<(Part, Vec<u32>)> {
    use Part as P;
    let of = |part: Part, op: Op, operands: &[u32]| (part, instruction(op, operands));
    vec![
        of(P::Capabilities, Op::Capability, &[Capability::Shader as u32]),
        of(P::Extensions, Op::Extension, &[0x61]),
        of(P::Imports, Op::ExtInstImport, &[3, 0x61]),
        of(P::Modes, Op::MemoryModel, &[0, 1]),
        of(P::Modes, Op::EntryPoint, &[5, 5, 0x61]),
        of(P::Modes, Op::ExecutionMode, &[5, 17, 1, 1, 1]),
        of(P::Sources, Op::String, &[4, 0x61]),
        of(P::Names, Op::Name, &[5, 0x61]),
        of(P::Processed, Op::ModuleProcessed, &[0x61]),
        of(P::Annotations, Op::Decorate, &[8, Decoration::RelaxedPrecision as u32]),
        of(P::Globals, Op::TypeVoid, &[1]),
        of(P::Globals, Op::TypeFunction, &[2, 1]),
        of(P::Globals, Op::TypeInt, &[7, 32, 0]),
        of(P::Globals, Op::Constant, &[7, 8, 0]),
        of(P::Functions, Op::Function, &[1, 5, 0, 2]),
        of(P::Functions, Op::Label, &[6]),
        of(P::Functions, Op::Return, &[]),
        of(P::Functions, Op::FunctionEnd, &[]),
    ]
}

fn instruction(op: Op, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | op as u32];
    words.extend(operands);
    words
}

/// The words of a module with one more of everything that can be added.
fn added(words: &[u32]) -> Result<Vec<u32>, samplin_spirv::Error> {
    let module = Module::read(words)?;
    let mut editor = Editor::new(&module);
    editor.capability(Capability::ImageQuery)?;
    editor.extension("SPV_KHR_non_semantic_info")?;
    editor.import("GLSL.std.450")?;
    let float = editor.ty(Op::TypeFloat, &[32])?;
    let pointer = editor.ty(Op::TypePointer, &[StorageClass::Private as u32, float])?;
    let variable = editor.variable(pointer, StorageClass::Private)?;
    editor.name(variable, "added")?;
    editor.decorate(variable, Decoration::RelaxedPrecision, &[])?;
    let (void, function, label) = (editor.ty(Op::TypeVoid, &[])?, editor.id()?, editor.id()?);
    let ty = editor.ty(Op::TypeFunction, &[void])?;
    let body = [
        (Op::Function, &[void, function, 0, ty][..]),
        (Op::Label, &[label]),
        (Op::Return, &[]),
        (Op::FunctionEnd, &[]),
    ];
    editor.function(&body.iter().flat_map(|(op, operands)| instruction(*op, operands)).collect::<Vec<_>>())?;
    editor.finish()
}

/// Holds what is made of `module` against the order of parts. `module` has the part of each of its instructions.
fn check(what: &str, module: &[(Part, Vec<u32>)]) {
    let body: Vec<u32> = module.iter().flat_map(|(_, words)| words.iter().copied()).collect();
    let words = [&[spirv::MAGIC_NUMBER, 0x0001_0300, 0, 1000, 0][..], &body].concat();
    let after = added(&words).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut before = module.iter().peekable();
    let (mut latest, mut new, mut lines) = (Part::Capabilities, 0, false);
    for words in instructions(&after) {
        let op = Op::from_u32(words[0] & 0xffff).expect("an opcode");
        let is_old = before.peek().is_some_and(|(_, old)| old == words);
        let part = match before.next_if(|(_, old)| old == words) {
            Some((part, _)) => *part,
            None if matches!(op, Op::Function | Op::Label | Op::Return | Op::FunctionEnd) => Part::Functions,
            None => places(op).0.expect("a part"),
        };
        assert!(latest <= part, "{what}: {op:?} of {part:?} behind {latest:?}");
        assert!(is_old || !lines, "{what}: {op:?} takes the line of what is behind it");
        (latest, new, lines) = (part, new + u32::from(!is_old), is_old && matches!(op, Op::Line | Op::NoLine));
    }
    assert!(before.next().is_none(), "{what}: something is gone");
    assert!(new >= 9, "{what}: only {new} are new");
}

#[test]
fn every_opcode_has_its_section() {
    let skeleton = skeleton();
    check("nothing more", &skeleton);
    let mut count = 0;
    for op in (0..=0xffff).filter_map(Op::from_u32) {
        // Ids that nothing else defines, whether it defines the first, the second or none.
        let words = instruction(op, &[100, 101, 1, 1, 1]);
        let (part, in_functions) = places(op);
        let mut at = Vec::new();
        if let Some(part) = part {
            // Before and behind each of its own, and instead of them.
            let own: Vec<usize> = (0..skeleton.len()).filter(|at| skeleton[*at].0 == part).collect();
            let end = own.last().map_or(skeleton.len(), |last| last + 1);
            at.extend(own.iter().copied().chain([end]).map(|at| (at, part)));
            if !matches!(part, Part::Globals | Part::Graphs | Part::Modes) {
                let mut module = skeleton.clone();
                module.splice(own[0]..end, [(part, words.clone())]);
                check(&format!("{op:?} alone"), &module);
            }
        }
        if in_functions {
            let behind = if op == Op::FunctionParameter { Op::Function } else { Op::Label };
            let body = skeleton.iter().position(|(_, it)| it[0] & 0xffff == behind as u32).expect("a body") + 1;
            at.push((body, Part::Functions));
        }
        if matches!(op, Op::Function | Op::FunctionEnd) {
            continue;
        }
        for (at, part) in at {
            let mut module = skeleton.clone();
            module.insert(at, (part, words.clone()));
            check(&format!("{op:?} at {at}"), &module);
        }
        count += 1;
    }
    println!("{count} opcodes");
    assert!(count >= 850, "only {count} opcodes");
}

/// The same with instructions that are whole, for the validator: each in every place that it may have.
#[test]
fn what_is_added_to_a_module_of_everything_is_valid() {
    let text = |of: &dyn Fn(&str) -> String| {
        format!(
            "OpCapability Shader\n{}OpExtension \"SPV_KHR_non_semantic_info\"\n{}%set = OpExtInstImport \"NonSemantic.DebugPrintf\"\n{}\
             OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
             OpExecutionMode %main LocalSize 1 1 1\n{}{}{}{}{}%void = OpTypeVoid\n%ft = OpTypeFunction %void\n{}\
             %main = OpFunction %void None %ft\n%b = OpLabel\n{}OpReturn\nOpFunctionEnd\n{}",
            of("capability"),
            of("extension"),
            of("import"),
            of("mode"),
            of("source"),
            of("name"),
            of("processed"),
            of("annotation"),
            of("global"),
            of("body"),
            of("behind"),
        )
    };
    let string = "%text = OpString \"text\"\n";
    let float = "%f = OpTypeFloat 32\n";
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("capability", "OpCapability Matrix\n")],
        &[("extension", "OpExtension \"SPV_KHR_multiview\"\n")],
        &[("import", "%other = OpExtInstImport \"GLSL.std.450\"\n")],
        &[("mode", "OpExecutionMode %main LocalSize 2 1 1\n")],
        &[("source", "OpSource GLSL 450\n")],
        &[("source", string)],
        &[("source", "OpSourceExtension \"GL_x\"\n")],
        &[("source", &format!("{string}OpSource GLSL 450 %text \"one\"\nOpSourceContinued \"two\"\n"))],
        &[
            (
                "source",
                &format!(
                    "{string}OpSource GLSL 450 %text \"one\"\nOpSourceContinued \"two\"\nOpSourceContinued \"three\"\n"
                ),
            ),
            ("name", "OpName %main \"main\"\n"),
        ],
        &[("name", "OpName %main \"main\"\n")],
        &[("name", "OpMemberName %s 0 \"main\"\n"), ("global", "%f = OpTypeFloat 32\n%s = OpTypeStruct %f\n")],
        &[("processed", "OpModuleProcessed \"x\"\n")],
        &[
            ("processed", "OpModuleProcessed \"x\"\n"),
            ("name", "OpName %main \"main\"\n"),
            ("annotation", "OpDecorate %b RelaxedPrecision\n"),
        ],
        &[
            ("annotation", "OpDecorate %g RelaxedPrecision\n%g = OpDecorationGroup\nOpGroupDecorate %g %u\n"),
            ("global", "%f = OpTypeFloat 32\n%u = OpUndef %f\n"),
        ],
        &[("global", &format!("{float}%u = OpUndef %f\n"))],
        &[("source", string), ("global", &format!("{float}OpLine %text 1 1\n%u = OpUndef %f\nOpNoLine\n"))],
        &[("source", string), ("global", &format!("{float}OpLine %text 1 1\n%u = OpUndef %f\nOpLine %text 2 2\n"))],
        &[("source", string), ("global", "OpLine %text 2 2\n"), ("body", "OpLine %text 3 3\n")],
        &[("global", "OpNoLine\n")],
        &[("source", string), ("global", &format!("{float}%p = OpExtInst %void %set 1 %text\n"))],
        &[("source", string), ("body", "%p = OpExtInst %void %set 1 %text\n")],
        &[("source", string), ("behind", "%p = OpExtInst %void %set 1 %text\n")],
        &[
            ("source", string),
            ("behind", "OpLine %text 4 4\n%more = OpFunction %void None %ft\n%c = OpLabel\nOpReturn\nOpFunctionEnd\n"),
        ],
    ];
    let mut count = 0;
    for case in cases {
        let of = |place: &str| case.iter().filter(|(of, _)| *of == place).map(|(_, text)| *text).collect::<String>();
        let words = assembled(&text(&of));
        // The assembler does not ask.
        if let Err(error) = validate(&words, "vulkan1.1") {
            println!("not valid itself: {case:?}: {error}");
            continue;
        }
        count += 1;
        let after = added(&words).expect("a module");
        validate(&after, "vulkan1.1").unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
    assert!(count >= cases.len() - 4, "only {count} of {} are valid themselves", cases.len());
}
