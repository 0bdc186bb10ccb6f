//! Types, constants and variables: found where they are, made where they are not.

use std::hash::Hasher;

use spirv::{Decoration, Op, StorageClass};

use super::{Editor, instructions, write};
use crate::error::{Error, push};
use crate::map::{Fold, put};
use crate::module::{Module, sort};
use crate::op::{self, Result as Defines};

impl Editor<'_, '_> {
    /// The id of a type that is no aggregate, of which there must be no second one; made if there is none. `operands` are what
    /// follows the id.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::TooLong`], [`Error::Memory`].
    pub fn ty(&mut self, opcode: Op, operands: &[u32]) -> Result<u32, Error> {
        self.only(opcode, &[], operands)
    }

    /// The id of a new type: for arrays and structures, whose decorations tell them apart.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn aggregate(&mut self, opcode: Op, operands: &[u32]) -> Result<u32, Error> {
        let id = self.id()?;
        write(&mut self.globals, opcode as u32, &[&[id], operands])?;
        Ok(id)
    }

    /// The id of a composite constant of a type; made if there is none.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn composite(&mut self, ty: u32, constituents: &[u32]) -> Result<u32, Error> {
        self.only(Op::ConstantComposite, &[ty], constituents)
    }

    /// The id of a scalar constant of a type, whose value is one word for each 32 bits begun; made if there is none.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn constant(&mut self, ty: u32, value: &[u32]) -> Result<u32, Error> {
        self.only(Op::Constant, &[ty], value)
    }

    /// The id of a type or constant that has these operands before its id and behind it; made if there is none.
    fn only(&mut self, opcode: Op, before: &[u32], operands: &[u32]) -> Result<u32, Error> {
        let id_at = before.len() + 1;
        if self.seen.is_empty() {
            for instruction in self.module.instructions(Module::HEADER, self.module.sections.globals) {
                let id_at = match (instruction.opcode(), op::result(instruction.opcode())) {
                    (op::CONSTANT | op::CONSTANT_COMPOSITE, _) => 2,
                    (_, Defines::Id) => 1,
                    _ => continue,
                };
                push(&mut self.seen, (hash(instruction.words, id_at), instruction.at as u32))?;
            }
            sort(&mut self.seen);
        }
        // Behind the globals, where it stays if there is no other.
        let (at, id) = (self.globals.len(), self.bound);
        write(&mut self.globals, opcode as u32, &[before, &[id], operands])?;
        let (others, new) = self.globals.split_at(at);
        let hash = hash(new, id_at);
        let first = self.seen.partition_point(|(seen, _)| *seen < hash);
        let candidates = self.seen.iter().skip(first).take_while(|(seen, _)| *seen == hash);
        let there = candidates.map(|(_, at)| self.module.instruction(*at as usize).words);
        // Of two that have been added and share a hash, the second is found behind the first.
        let added = self.added.get(&hash).and_then(|at| others.get(*at..)).unwrap_or_default();
        let same =
            |words: &&[u32]| words.get(..id_at) == new.get(..id_at) && words.get(id_at + 1..) == new.get(id_at + 1..);
        let found = there.chain(instructions(added)).find(same).and_then(|words| words.get(id_at)).copied();
        if let Some(found) = found {
            self.globals.truncate(at);
            return Ok(found);
        }
        if !self.added.contains_key(&hash) {
            put(&mut self.added, hash, at)?;
        }
        self.id()
    }

    /// A global variable of a pointer type. All entry points list it where they must: from SPIR-V 1.4 on whatever its storage
    /// class, before that if it is an input or an output.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::Memory`].
    pub fn variable(&mut self, pointer: u32, class: StorageClass) -> Result<u32, Error> {
        self.declare(pointer, class, &[])
    }

    /// The same with a constant as its first value.
    ///
    /// # Errors
    ///
    /// As [`Editor::variable`].
    pub fn initialized(&mut self, pointer: u32, class: StorageClass, value: u32) -> Result<u32, Error> {
        self.declare(pointer, class, &[value])
    }

    /// A variable with a set and a binding.
    pub(crate) fn descriptor(
        &mut self,
        pointer: u32,
        class: StorageClass,
        set: u32,
        binding: u32,
    ) -> Result<u32, Error> {
        let variable = self.variable(pointer, class)?;
        self.decorate(variable, Decoration::DescriptorSet, &[set])?;
        self.decorate(variable, Decoration::Binding, &[binding])?;
        Ok(variable)
    }

    /// A buffer that is an array, whose elements are `stride` bytes apart; `block` is what its structure is decorated with.
    pub(crate) fn buffer(
        &mut self,
        array: u32,
        stride: u32,
        block: Decoration,
        class: StorageClass,
        set: u32,
        binding: u32,
    ) -> Result<u32, Error> {
        let structure = self.block(array, stride, block)?;
        let pointer = self.ty(Op::TypePointer, &[class as u32, structure])?;
        self.descriptor(pointer, class, set, binding)
    }

    /// The structure of such buffers.
    pub(crate) fn block(&mut self, array: u32, stride: u32, block: Decoration) -> Result<u32, Error> {
        self.decorate(array, Decoration::ArrayStride, &[stride])?;
        let structure = self.aggregate(Op::TypeStruct, &[array])?;
        self.decorate(structure, block, &[])?;
        self.decorate_member(structure, 0, Decoration::Offset, &[0])?;
        Ok(structure)
    }

    fn declare(&mut self, pointer: u32, class: StorageClass, value: &[u32]) -> Result<u32, Error> {
        let id = self.id()?;
        write(&mut self.globals, op::VARIABLE, &[&[pointer, id, class as u32], value])?;
        if self.module.version() >= 0x0001_0400 || matches!(class, StorageClass::Input | StorageClass::Output) {
            push(&mut self.interface, id)?;
        }
        Ok(id)
    }
}

/// A hash of an instruction but for its id.
fn hash(words: &[u32], id_at: usize) -> u64 {
    let mut fold = Fold::default();
    for word in words.iter().enumerate().filter(|(at, _)| *at != id_at).map(|(_, word)| *word) {
        fold.write_u32(word);
    }
    fold.finish()
}
