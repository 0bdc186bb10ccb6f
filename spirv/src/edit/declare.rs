//! Types, constants and variables: found where they are, made where they are not.

use std::hash::Hasher;

use spirv::{Op, StorageClass};

use super::{Editor, assemble, instructions};
use crate::error::{Error, extend, push};
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
        let mut wanted = Vec::new();
        extend(&mut wanted, &[0])?;
        extend(&mut wanted, operands)?;
        if let Some(seen) = self.find(1, opcode, &wanted)? {
            return Ok(seen);
        }
        let at = self.globals.len();
        let id = self.aggregate(opcode, operands)?;
        self.remember(1, at)?;
        Ok(id)
    }

    /// The id of a new type: for arrays and structures, whose decorations tell them apart.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn aggregate(&mut self, opcode: Op, operands: &[u32]) -> Result<u32, Error> {
        let id = self.id()?;
        let mut words = Vec::new();
        extend(&mut words, &[id])?;
        extend(&mut words, operands)?;
        assemble(&mut self.globals, opcode, &words)?;
        Ok(id)
    }

    /// The id of a new composite constant of a type.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn composite(&mut self, ty: u32, constituents: &[u32]) -> Result<u32, Error> {
        let id = self.id()?;
        let mut words = Vec::new();
        extend(&mut words, &[ty, id])?;
        extend(&mut words, constituents)?;
        assemble(&mut self.globals, Op::ConstantComposite, &words)?;
        Ok(id)
    }

    /// The id of a scalar constant of a type, whose value is one word for each 32 bits begun; made if there is none.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn constant(&mut self, ty: u32, value: &[u32]) -> Result<u32, Error> {
        let mut words = Vec::new();
        extend(&mut words, &[ty, 0])?;
        extend(&mut words, value)?;
        if let Some(seen) = self.find(2, Op::Constant, &words)? {
            return Ok(seen);
        }
        let id = self.id()?;
        if let Some(word) = words.get_mut(1) {
            *word = id;
        }
        let at = self.globals.len();
        assemble(&mut self.globals, Op::Constant, &words)?;
        self.remember(2, at)?;
        Ok(id)
    }

    /// Lets what has been added at a word offset of the globals be found again.
    fn remember(&mut self, id_at: usize, at: usize) -> Result<(), Error> {
        let hash = hash(self.globals.get(at..).unwrap_or_default(), id_at);
        // Of two that share a hash the second is found behind the first.
        if !self.added.contains_key(&hash) {
            put(&mut self.added, hash, at)?;
        }
        Ok(())
    }

    /// The id, in word `id_at`, of a type or constant that has these operands but for it; among those that were there and those that
    /// have been added.
    fn find(&mut self, id_at: usize, opcode: Op, operands: &[u32]) -> Result<Option<u32>, Error> {
        if self.seen.is_empty() {
            for instruction in self.module.instructions(Module::HEADER, self.module.sections.globals) {
                let id_at = match (instruction.opcode(), op::result(instruction.opcode())) {
                    (op::CONSTANT, _) => 2,
                    (_, Defines::Id) => 1,
                    _ => continue,
                };
                push(&mut self.seen, (hash(instruction.words, id_at), instruction.at as u32))?;
            }
            sort(&mut self.seen);
        }
        let mut wanted = Vec::new();
        assemble(&mut wanted, opcode, operands)?;
        let same = |words: &[u32]| {
            let same_end = words.get(id_at + 1..) == wanted.get(id_at + 1..);
            words.get(..id_at) == wanted.get(..id_at) && same_end
        };
        let hash = hash(&wanted, id_at);
        let first = self.seen.partition_point(|(seen, _)| *seen < hash);
        let candidates = self.seen.iter().skip(first).take_while(|(seen, _)| *seen == hash);
        let there = candidates.map(|(_, at)| self.module.instruction(*at as usize).words);
        let added = self.added.get(&hash).and_then(|at| self.globals.get(*at..)).unwrap_or_default();
        let found = there.chain(instructions(added)).find(|words| same(words));
        Ok(found.and_then(|words| words.get(id_at)).copied())
    }

    /// A global variable of a pointer type. All entry points list it where they must: from SPIR-V 1.4 on whatever its storage
    /// class, before that if it is an input or an output.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::Memory`].
    pub fn variable(&mut self, pointer: u32, class: StorageClass) -> Result<u32, Error> {
        self.declare(&[pointer, 0, class as u32], class)
    }

    /// The same with a constant as its first value.
    ///
    /// # Errors
    ///
    /// As [`Editor::variable`].
    pub fn initialized(&mut self, pointer: u32, class: StorageClass, value: u32) -> Result<u32, Error> {
        self.declare(&[pointer, 0, class as u32, value], class)
    }

    fn declare(&mut self, operands: &[u32], class: StorageClass) -> Result<u32, Error> {
        let id = self.id()?;
        let mut words = Vec::new();
        extend(&mut words, operands)?;
        if let Some(word) = words.get_mut(1) {
            *word = id;
        }
        assemble(&mut self.globals, Op::Variable, &words)?;
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
