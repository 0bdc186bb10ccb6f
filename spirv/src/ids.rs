//! Which words of an instruction are ids.
//!
//! The reader need not know it, but who redirects or renames ids does. What is not in the table has to be taken as if every word
//! were an id when looking for uses, and cannot be renamed.

use crate::module::Instruction;
use crate::op::{OperandLayout, layout};

/// Whether it is known which words of an instruction with this opcode are ids.
pub(crate) fn is_known(opcode: u32) -> bool {
    layout(opcode) != OperandLayout::Unknown
}

/// Positions of the words that are operands and ids, or may be: neither type nor id of the result.
pub(crate) fn positions(instruction: &Instruction<'_>) -> impl Iterator<Item = usize> + use<> {
    let first = instruction.id_at().unwrap_or(0) + 1;
    let length = instruction.words.len();
    let (end, literal) = match layout(instruction.opcode()) {
        OperandLayout::Unknown | OperandLayout::All => (length, None),
        OperandLayout::First(count) => (length.min(first + usize::from(count)), None),
        OperandLayout::Except(position) => (length, Some(first + usize::from(position))),
    };
    (first..end).filter(move |position| Some(*position) != literal)
}

/// The operands that are ids, or may be.
pub(crate) fn operands<'w>(instruction: &Instruction<'w>) -> impl Iterator<Item = u32> + use<'w> {
    let instruction = *instruction;
    positions(&instruction).map(move |position| instruction.word(position))
}
