//! The pass `sample_mask`: sample masks have no more words than the device has.
//!
//! Compilers write down whatever length a source gives `gl_SampleMask`, and a pipeline may not be made of one that is longer than
//! `maxSampleMaskWords` (VUID-VkPipelineShaderStageCreateInfo-maxSampleMaskWords-00711). Words behind the last sample have no effect
//! and read as zero, but what is not there cannot be touched: where a shader does, or may, the module stays.

use spirv::{BuiltIn, Decoration, Op};

use crate::edit::{Editor, assemble};
use crate::error::push;
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Rewrite, Why};

/// Shortens masks to `most` words.
///
/// # Errors
///
/// Why the module is left as it was.
pub fn sample_mask(module: &Module<'_>, most: u32) -> Result<Rewrite, Why> {
    let mut editor = Editor::new(module);
    let mut changes = Vec::new();
    let mut masks: Map<()> = Map::default();
    for decoration in module.instructions(module.sections.imports, module.sections.annotations) {
        let id = decoration.word(1);
        let is_mask = decoration.opcode() == op::DECORATE
            && decoration.word(2) == Decoration::BuiltIn as u32
            && decoration.word(3) == BuiltIn::SampleMask as u32;
        let Some(variable) = module.definition(id).filter(|_| is_mask) else { continue };
        let Some(length) = shorten(module, &mut editor, &variable, most)? else { continue };
        put(&mut masks, id, ())?;
        push(&mut changes, PassChange::MaskShortened { from: length, to: most })?;
    }
    if changes.is_empty() {
        return Ok(Rewrite::default());
    }
    for instruction in module.instructions(module.sections.annotations, module.words().len()) {
        if instruction.opcode() == op::VARIABLE || !ids::operands(&instruction).any(|id| masks.contains_key(&id)) {
            continue;
        }
        let index = module.defined(instruction.word(4), op::CONSTANT);
        match instruction.opcode() {
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN if index.is_some_and(|index| index.word(3) < most) => {}
            _ => return Err(Why::MaskWords),
        }
    }
    Ok(Rewrite { words: Some(editor.finish()?), changes, left: Vec::new() })
}

/// Gives a mask another type, behind all others, if it is too long; its length then.
fn shorten(
    module: &Module<'_>,
    editor: &mut Editor<'_, '_>,
    variable: &Instruction<'_>,
    most: u32,
) -> Result<Option<u32>, Why> {
    const WRONG: Why = Why::BuiltInType(BuiltIn::SampleMask as u32);
    if variable.opcode() != op::VARIABLE {
        return Err(Why::Group);
    }
    let pointee = module.definition(variable.word(1)).map_or(0, |pointer| pointer.word(3));
    let array = module.defined(pointee, op::TYPE_ARRAY).ok_or(WRONG)?;
    let length = module.definition(array.word(3)).ok_or(WRONG)?;
    // Of one word, as the shorter one will be.
    if length.opcode() != op::CONSTANT || length.words.len() != 4 {
        return Err(WRONG);
    }
    if length.word(3) <= most {
        return Ok(None);
    }
    // A first value has the old type.
    let [_, _, id, class] = variable.words else { return Err(WRONG) };
    let shorter = editor.constant(length.word(1), &[most])?;
    let array = editor.aggregate(Op::TypeArray, &[array.word(2), shorter])?;
    let pointer = editor.ty(Op::TypePointer, &[*class, array])?;
    let mut words = Vec::new();
    assemble(&mut words, Op::Variable, &[pointer, *id, *class])?;
    editor.move_behind(variable, &words)?;
    Ok(Some(length.word(3)))
}
