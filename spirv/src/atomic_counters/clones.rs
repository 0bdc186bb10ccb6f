//! Clones of functions: new ids for all that they define.

use spirv::Decoration;

use super::body::{Body, Pass, Version};
use crate::error::{Error, extend};
use crate::map::put;
use crate::module::{Function, sort};
use crate::op::{self, Result as Defines};
use crate::outcome::Why;

impl Pass<'_, '_, '_> {
    /// Gives all that a clone defines new ids.
    pub(super) fn rename(&mut self, function: &Function, version: &Version, body: &mut Body) -> Result<(), Why> {
        for instruction in self.module.instructions(function.at, function.end) {
            let id = match op::result(instruction.opcode()) {
                Defines::None => continue,
                Defines::Id => instruction.word(1),
                Defines::Typed => instruction.word(2),
            };
            let new = if instruction.opcode() == op::FUNCTION { version.id } else { self.editor.id()? };
            put(&mut body.renamed, id, new)?;
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
                    let mut words = Vec::new();
                    extend(&mut words, &[0])?;
                    extend(&mut words, instruction.words.get(before.clone()).unwrap_or_default())?;
                    extend(&mut words, &[*new])?;
                    extend(&mut words, instruction.words.get(after.clone()).unwrap_or_default())?;
                    if let (length, Some(first)) = (words.len() as u32, words.first_mut()) {
                        *first = length << 16 | instruction.opcode();
                    }
                    self.editor.annotation(&words)?;
                }
            }
        }
        Ok(())
    }
}
