//! Which opcodes define an id, and in which section of a module each stands.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::{Failure, Outcome, read, root, write};

const USAGE: &str = "\
Writes spirv/src/op/grammar.rs: which opcodes define an id, and in which section of a module each stands.

    scripts/known-opcodes GRAMMAR            writes the tables
    scripts/known-opcodes GRAMMAR --check    changes nothing; exit status 1 if the tables are others

GRAMMAR is include/spirv/unified1/spirv.core.grammar.json of KhronosGroup/SPIRV-Headers. The sections are those of \"Logical Layout of a
Module\" in the SPIR-V specification. The grammar's classes say most of them; what a class leaves open is said here by name, and an
opcode of such a class that has no name here is an error.";

const TABLE: &str = "spirv/src/op/grammar.rs";

/// The sections in order, each with what stands there.
const SECTIONS: [(&str, &str); 11] = [
    ("Capabilities", "Capabilities."),
    ("Extensions", "Extensions."),
    ("Imports", "Imports of extended instruction sets."),
    ("Modes", "The memory model, entry points, execution modes."),
    ("Sources", "Strings and sources."),
    ("Names", "Names."),
    ("Processed", "What processed the module."),
    ("Annotations", "Annotations."),
    ("Globals", "Types and constants. Variables, `OpUndef` and `OpExtInst` stand here as well, and in functions."),
    ("Lines", "Lines, which belong to what follows them."),
    ("Graphs", "Graphs, behind all functions."),
];

/// A grammar.
#[derive(Deserialize)]
struct Grammar {
    major_version: u32,
    minor_version: u32,
    revision: u32,
    instructions: Vec<Opcode>,
}

#[derive(Deserialize)]
struct Opcode {
    opname: String,
    class: String,
    opcode: u16,
    #[serde(default)]
    operands: Vec<Operand>,
}

#[derive(Deserialize)]
struct Operand {
    kind: String,
}

impl Opcode {
    /// The section; `None` if it stands in functions or in more than one.
    fn section(&self) -> Result<Option<&'static str>, Failure> {
        let name = self.opname.as_str();
        Ok(Some(match (self.class.as_str(), name) {
            // Classes whose opcodes stand in several sections: each by its name.
            ("Debug", "OpString" | "OpSource" | "OpSourceContinued" | "OpSourceExtension") => "Sources",
            ("Debug", "OpName" | "OpMemberName") => "Names",
            ("Debug", "OpModuleProcessed") => "Processed",
            ("Debug", "OpLine" | "OpNoLine") => "Lines",
            ("Extension", "OpExtension" | "OpConditionalExtensionINTEL") => "Extensions",
            ("Extension", "OpExtInstImport") => "Imports",
            ("Extension", "OpExtInst" | "OpExtInstWithForwardRefsKHR") => return Ok(None),
            ("Mode-Setting", "OpCapability" | "OpConditionalCapabilityINTEL") => "Capabilities",
            ("Mode-Setting", "OpMemoryModel" | "OpEntryPoint" | "OpConditionalEntryPointINTEL") => "Modes",
            ("Mode-Setting", "OpExecutionMode" | "OpExecutionModeId") => "Modes",
            ("Graph", "OpGraphConstantARM") => "Globals",
            ("Graph", "OpGraphEntryPointARM" | "OpGraphARM" | "OpGraphInputARM") => "Graphs",
            ("Graph", "OpGraphSetOutputARM" | "OpGraphEndARM") => "Graphs",
            (class @ ("Debug" | "Extension" | "Mode-Setting" | "Graph"), _) => {
                let what =
                    format!("{name} is of the class {class} and has no section: name it in xtask/src/opcodes.rs");
                return Err(Failure::Input(what));
            }
            // Reserved opcodes are of no class of their own, whatever they do.
            ("Reserved" | "@exclude", _) if is_global(name) => "Globals",
            // Its class says nothing of a section. The mode stands behind the memory model (SPV_NV_bindless_texture).
            (_, "OpSamplerImageAddressingModeNV") => "Modes",
            ("Annotation", _) => "Annotations",
            ("Type-Declaration" | "Constant-Creation", _) => "Globals",
            _ => return Ok(None),
        }))
    }

    /// Whether it defines an id, and whether with a type.
    fn result(&self) -> Result<Option<bool>, Failure> {
        let kinds: Vec<&str> = self.operands.iter().map(|operand| operand.kind.as_str()).collect();
        match kinds[..] {
            ["IdResultType", "IdResult", ..] => Ok(Some(true)),
            ["IdResult", ..] => Ok(Some(false)),
            _ if kinds.contains(&"IdResult") => {
                Err(Failure::Input(format!("{} has its result elsewhere", self.opname)))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a name is that of a type or a constant.
fn is_global(name: &str) -> bool {
    let rest = ["OpType", "OpConstant", "OpSpecConstant"].iter().find_map(|start| name.strip_prefix(start));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// A constant with the ranges, first and last, of ascending numbers.
fn table(doc: &str, name: &str, numbers: impl Iterator<Item = u16>) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for number in numbers {
        match ranges.last_mut().filter(|(_, last)| last + 1 == number) {
            Some((_, last)) => *last = number,
            None => ranges.push((number, number)),
        }
    }
    let mut out = format!("/// {doc}\n#[rustfmt::skip]\npub(super) const {name}: &[(u16, u16)] = &[\n");
    let mut line = "   ".to_owned();
    for (first, last) in ranges {
        let entry = format!("({first}, {last})");
        if line.len() + entry.len() + 2 > 110 {
            out += &(line + "\n");
            line = "   ".to_owned();
        }
        line += &format!(" {entry},");
    }
    out + &line + "\n];\n"
}

fn derive(grammar: &Grammar) -> Result<(String, String), Failure> {
    // Aliases are entries of their own in older grammars.
    let opcodes: BTreeMap<u16, &Opcode> = grammar.instructions.iter().map(|opcode| (opcode.opcode, opcode)).collect();
    let (mut results, mut sections) = (Vec::new(), Vec::new());
    for (number, opcode) in &opcodes {
        results.push((*number, opcode.result()?));
        sections.push((*number, opcode.section()?));
    }
    let of_result = |wanted| results.iter().filter(move |(_, found)| *found == wanted).map(|(number, _)| *number);
    let Grammar { major_version, minor_version, revision, .. } = grammar;
    let version = format!("{major_version}.{minor_version} revision {revision}");
    let mut text = format!(
        "//! Written by scripts/known-opcodes from the grammar of SPIR-V {version}: ranges of opcodes, first and last.\n\n\
         /// One more than the largest opcode that is known.\npub(super) const KNOWN: usize = {};\n\n{}\n{}",
        opcodes.keys().last().map_or(0, |last| usize::from(*last) + 1),
        table("Opcodes that define an id and give it a type.", "TYPED", of_result(Some(true))),
        table(
            "Opcodes that define an id without a type: types, labels, strings, imports, groups.",
            "UNTYPED",
            of_result(Some(false))
        ),
    );
    for (name, doc) in SECTIONS {
        let numbers = sections.iter().filter(|(_, found)| *found == Some(name)).map(|(number, _)| *number);
        text += &format!("\n{}", table(doc, &name.to_uppercase(), numbers));
    }
    Ok((text, format!("{} opcodes of SPIR-V {version}", opcodes.len())))
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (path, is_check) = match arguments {
        [path] if !path.starts_with('-') => (*path, false),
        [path, "--check"] | ["--check", path] => (*path, true),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let grammar = serde_json::from_str(&read(Path::new(path))?);
    let (text, said) = derive(&grammar.map_err(|error| Failure::Input(format!("{path}: {error}")))?)?;
    let written = root().join(TABLE);
    if is_check {
        let holds = read(&written).is_ok_and(|written| written == text);
        if !holds {
            eprintln!("{TABLE} is not of {path}");
        }
        return Ok(holds);
    }
    write(&written, &text)?;
    println!("{said}");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opcode(opname: &str, class: &str, kinds: &[&str]) -> Opcode {
        let operands = kinds.iter().map(|kind| Operand { kind: (*kind).to_owned() }).collect();
        Opcode { opname: opname.to_owned(), class: class.to_owned(), opcode: 1, operands }
    }

    #[test]
    fn an_opcode_has_the_section_of_its_class_or_of_its_name() {
        let section = |name, class| opcode(name, class, &[]).section().ok().unwrap();
        assert_eq!(section("OpName", "Debug"), Some("Names"));
        assert_eq!(section("OpTypeNewKHR", "Reserved"), Some("Globals"));
        assert_eq!((section("OpTypedNewKHR", "Reserved"), section("OpFAdd", "Arithmetic")), (None, None));
        assert!(opcode("OpNew", "Debug", &[]).section().is_err());
    }

    #[test]
    fn an_id_is_the_first_or_behind_its_type() {
        let result = |kinds: &[&str]| opcode("OpX", "Arithmetic", kinds).result();
        assert_eq!(result(&["IdResultType", "IdResult", "IdRef"]).ok(), Some(Some(true)));
        assert_eq!((result(&["IdResult"]).ok(), result(&["IdRef"]).ok()), (Some(Some(false)), Some(None)));
        assert!(result(&["IdRef", "IdResult"]).is_err());
    }

    #[test]
    fn neighbours_are_one_range() {
        assert!(table("Doc.", "NAME", [1, 2, 3, 7].into_iter()).contains("    (1, 3), (7, 7),\n"));
    }
}
