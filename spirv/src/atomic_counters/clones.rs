//! Clones of functions: new ids for all that they define.

use std::ops::Range;

use spirv::Decoration;

use super::body::{Body, CountersEdit, Version};
use crate::error::Error;
use crate::ids;
use crate::map::put;
use crate::module::{Function, Instruction, sort};
use crate::op;
use crate::outcome::Why;

impl CountersEdit<'_, '_, '_> {
    /// Gives all that a clone defines new ids.
    pub(super) fn rename(&mut self, function: &Function, version: &Version, body: &mut Body<'_>) -> Result<(), Why> {
        for instruction in self.module.instructions(function.at, function.end) {
            let Some(at) = instruction.id_at() else { continue };
            let new = if instruction.opcode() == op::FUNCTION { version.id } else { self.editor.id()? };
            put(&mut body.renamed, instruction.word(at), new)?;
        }
        Ok(())
    }

    /// Gives what clones define the decorations of what they are clones of.
    pub(super) fn decorate_clones(&mut self) -> Result<(), Error> {
        if self.renamed.is_empty() {
            return Ok(());
        }
        sort(&mut self.renamed);
        let module = self.module;
        for instruction in module.instructions(module.sections.imports, module.sections.annotations) {
            // A group is decorated once, and its targets are listed behind it.
            let (targets, before, after) = match instruction.opcode() {
                op::DECORATE | op::DECORATE_ID | op::DECORATE_STRING => {
                    let exported = instruction.word(2) == Decoration::LinkageAttributes as u32;
                    (if exported { 0..0 } else { 1..2 }, 1..1, 2..instruction.words.len())
                }
                op::GROUP_DECORATE => (2..instruction.words.len(), 1..2, 0..0),
                _ => continue,
            };
            for target in instruction.words.get(targets).unwrap_or_default() {
                let first = self.renamed.partition_point(|(old, _)| old < target);
                for (_, new) in self.renamed.iter().skip(first).take_while(|(old, _)| old == target) {
                    let part = |range: &Range<usize>| instruction.words.get(range.clone()).unwrap_or_default();
                    self.editor.annotation(instruction.opcode(), &[part(&before), &[*new], part(&after)])?;
                }
            }
        }
        Ok(())
    }

    /// Puts a clone's ids into the copy of an instruction that begins at a word offset of the body.
    pub(super) fn renumber(&self, instruction: &Instruction<'_>, body: &mut Body<'_>, from: usize) -> Result<(), Why> {
        let opcode = instruction.opcode();
        let result = instruction.id_at();
        if opcode == op::SWITCH {
            // Pairs of a literal, as long as the selector, and a label.
            let selector = self.module.definition(self.module.type_of(instruction.word(1)));
            let literal = if selector.is_some_and(|ty| ty.word(2) > 32) { 2 } else { 1 };
            for at in (3 + literal..instruction.words.len()).step_by(literal + 1) {
                put_renamed(body, from + at);
            }
        }
        for at in ids::positions(instruction).chain(result) {
            let is_local = body.renamed.contains_key(&instruction.word(at));
            if is_local && Some(at) != result && !ids::is_known(opcode) {
                return Err(Why::Opcode(opcode));
            }
            put_renamed(body, from + at);
        }
        Ok(())
    }
}

fn put_renamed(body: &mut Body<'_>, at: usize) {
    if let Some(word) = body.words.get_mut(at)
        && let Some(new) = body.renamed.get(word)
    {
        *word = *new;
    }
}
