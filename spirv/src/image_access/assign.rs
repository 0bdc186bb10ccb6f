//! Image types and variables with the formats of the views that are bound, where that is known.

use spirv::{Capability, Op};

use super::{Images, READ, UNKNOWN, Variable, WRITTEN, retype};
use crate::edit::Editor;
use crate::error::{copied, push};
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Why};

const READS: Capability = Capability::StorageImageReadWithoutFormat;
const WRITES: Capability = Capability::StorageImageWriteWithoutFormat;

/// Whether a format of this number needs no capability. The one that the others need, `StorageImageExtendedFormats`, every module may
/// declare: version 1.0 of Vulkan is all that it asks for.
fn is_basic(format: u32) -> bool {
    matches!(format, 0..=5 | 21..=24 | 30..=33)
}

/// What gets another format, by ids, and which one, by its number: 0 is Unknown.
#[derive(Clone, Copy, Debug)]
pub enum Formats<'a> {
    /// Image types, with all variables of them.
    OfTypes(&'a [(u32, u32)]),
    /// Variables, each by itself.
    OfVariables(&'a [(u32, u32)]),
}

impl Formats<'_> {
    fn all(&self) -> &[(u32, u32)] {
        match self {
            Formats::OfTypes(all) | Formats::OfVariables(all) => all,
        }
    }

    /// The new format of a variable of a type.
    fn of(&self, variable: &Variable) -> Option<u32> {
        let id = match self {
            Formats::OfTypes(_) => variable.image,
            Formats::OfVariables(_) => variable.id,
        };
        self.all().iter().find(|(known, _)| *known == id).map(|(_, format)| *format)
    }
}

/// Gives image types or variables other formats. Declares what is then read or written without a format, and drops what nothing needs any
/// more. The new words, and what else was changed.
///
/// # Errors
///
/// Why the module is left as it was; [`Why::Escapes`] for a variable that goes where it would need its type.
#[inline(never)]
pub fn assign(module: &Module<'_>, formats: Formats<'_>) -> Result<(Vec<u32>, Vec<PassChange>), Why> {
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    let images = Images::find(module)?;
    if images.untyped {
        return Err(Why::Untyped);
    }
    // What is done without a format, before and after.
    let (mut before, mut after) = (0, 0);
    for variable in images.variables(module)? {
        let format = images.format(variable.image);
        before |= if format == UNKNOWN { variable.uses } else { 0 };
        after |= if formats.of(&variable).unwrap_or(format) == UNKNOWN { variable.uses } else { 0 };
    }
    let mut editor = Editor::new(module);
    let mut changes = Vec::new();
    for (mask, capability) in [(READ, READS), (WRITTEN, WRITES)] {
        if after & mask != 0 && !module.declares(capability) {
            editor.capability(capability)?;
            push(&mut changes, PassChange::CapabilityAdded(capability as u32))?;
        } else if before & !after & mask != 0 && editor.drop_capability(capability)? {
            push(&mut changes, PassChange::CapabilityDropped(capability as u32))?;
        }
    }
    let extended = Capability::StorageImageExtendedFormats;
    if formats.all().iter().any(|(_, format)| !is_basic(*format)) && !module.declares(extended) {
        editor.capability(extended)?;
        push(&mut changes, PassChange::CapabilityAdded(extended as u32))?;
    }
    match formats {
        Formats::OfTypes(types) => {
            let mut map = Map::default();
            for (image, format) in types {
                put(&mut map, *image, *format)?;
            }
            retype::retype(&mut editor, module, &map, None)?;
        }
        Formats::OfVariables(variables) => {
            for (variable, format) in variables {
                move_variable(&mut editor, module, *variable, *format)?;
            }
        }
    }
    Ok((editor.finish()?, changes))
}

/// What a type becomes whose image type has another format: found or made behind all others.
fn with_format(
    editor: &mut Editor<'_, '_>,
    module: &Module<'_>,
    made: &mut Map<u32>,
    ty: u32,
    format: u32,
) -> Result<u32, Why> {
    if let Some(known) = made.get(&ty) {
        return Ok(*known);
    }
    let Some(of) = module.definition(ty) else { return Err(Why::Opcode(0)) };
    let mut operands = copied(of.words.get(2..).unwrap_or_default())?;
    let (at, opcode) = match of.opcode() {
        op::TYPE_IMAGE => (FORMAT, Op::TypeImage),
        op::TYPE_POINTER => (1, Op::TypePointer),
        op::TYPE_ARRAY => (0, Op::TypeArray),
        op::TYPE_RUNTIME_ARRAY => (0, Op::TypeRuntimeArray),
        other => return Err(Why::Opcode(other)),
    };
    let Some(inner) = operands.get(at).copied() else { return Err(Why::Opcode(of.opcode())) };
    let new = if opcode == Op::TypeImage { format } else { with_format(editor, module, made, inner, format)? };
    if let Some(word) = operands.get_mut(at) {
        *word = new;
    }
    let is_array = matches!(opcode, Op::TypeArray | Op::TypeRuntimeArray);
    let new = if is_array { editor.aggregate(opcode, &operands) } else { editor.ty(opcode, &operands) }?;
    put(made, ty, new)?;
    Ok(new)
}

/// Where an image type has its format behind its id.
const FORMAT: usize = 6;

/// Puts a variable behind all types, as one of an image type with this format, and follows it through what is loaded from it.
fn move_variable(editor: &mut Editor<'_, '_>, module: &Module<'_>, id: u32, format: u32) -> Result<(), Why> {
    let (set, binding) = module.descriptor(id);
    let escapes = Why::Escapes { set, binding };
    let Some(variable) = module.defined(id, op::VARIABLE) else { return Err(escapes) };
    let mut made = Map::default();
    let mut words = copied(variable.words)?;
    let pointer = with_format(editor, module, &mut made, variable.word(1), format)?;
    if let Some(word) = words.get_mut(1) {
        *word = pointer;
    }
    let names = |it: &Instruction<'_>, seen: &Map<u8>| ids::operands(it).any(|operand| seen.contains_key(&operand));
    let mut seen = Map::default();
    put(&mut seen, id, 1_u8)?;
    let mut globals = module.instructions(module.sections.annotations, module.sections.globals);
    if globals.any(|it| it.at != variable.at && names(&it, &seen)) {
        return Err(escapes);
    }
    for it in module.instructions(module.sections.globals, module.words().len()) {
        if !names(&it, &seen) {
            continue;
        }
        match it.opcode() {
            op::LOAD | op::COPY_OBJECT | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN
                if seen.contains_key(&it.word(3)) =>
            {
                let ty = with_format(editor, module, &mut made, it.word(1), format)?;
                editor.set(&it, 1, ty)?;
                put(&mut seen, it.word(2), 1)?;
            }
            op::IMAGE_READ
            | op::IMAGE_SPARSE_READ
            | op::IMAGE_WRITE
            | op::IMAGE_QUERY_FORMAT..=op::IMAGE_QUERY_SAMPLES => {}
            _ => return Err(escapes),
        }
    }
    Ok(editor.move_behind(&variable, &words)?)
}
