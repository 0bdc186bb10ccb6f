//! The editor: collects insertions and replacements by word offset and applies them in one merge.
//!
//! Whatever is not named stays word for word. It knows the rules that additions have to follow (unique types, the order of
//! sections, interfaces of entry points) and not what they are for.

use std::hash::Hasher;

use spirv::{Capability, Decoration, Op, StorageClass};

use crate::error::{Error, extend, push};
use crate::links::Fold;
use crate::module::{Instruction, Module};
use crate::op::{self, Result as Defines};

/// Appends an instruction to `to`.
///
/// # Errors
///
/// [`Error::TooLong`], [`Error::Memory`]; `to` is then as it was.
pub fn assemble(to: &mut Vec<u32>, opcode: Op, operands: &[u32]) -> Result<(), Error> {
    let length = operands.len() + 1;
    if length > 0xffff {
        return Err(Error::TooLong);
    }
    to.try_reserve(length).map_err(|_| Error::Memory)?;
    to.push((length as u32) << 16 | opcode as u32);
    to.extend_from_slice(operands);
    Ok(())
}

/// The words of a literal string: its bytes, a zero, and zeros to the end of the word.
fn literal(text: &str) -> Result<Vec<u32>, Error> {
    let mut words = Vec::new();
    words.try_reserve_exact(text.len() / 4 + 1).map_err(|_| Error::Memory)?;
    for chunk in text.as_bytes().chunks(4) {
        words.push(chunk.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    }
    if text.len().is_multiple_of(4) {
        words.push(0);
    }
    Ok(words)
}

/// `remove` words at `at` make room for a range of the pool.
#[derive(Clone, Copy, Debug)]
struct Edit {
    at: usize,
    remove: usize,
    from: usize,
    to: usize,
}

/// Changes to a module, which stays as it is.
///
/// Word offsets are those of the original. What is inserted at an offset comes in the order in which it was asked for, before what
/// replaces the instruction there.
#[derive(Debug)]
pub struct Editor<'m, 'w> {
    module: &'m Module<'w>,
    bound: u32,
    edits: Vec<Edit>,
    pool: Vec<u32>,
    capabilities: Vec<u32>,
    extensions: Vec<u32>,
    imports: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    functions: Vec<u32>,
    /// Ids that entry points have to list.
    interface: Vec<u32>,
    /// Types and constants of the module by hash, with their word offsets; empty until one is looked for.
    known: Vec<(u64, u32)>,
}

impl<'m, 'w> Editor<'m, 'w> {
    /// An editor without changes.
    pub fn new(module: &'m Module<'w>) -> Editor<'m, 'w> {
        Editor {
            module,
            bound: module.bound(),
            edits: Vec::new(),
            pool: Vec::new(),
            capabilities: Vec::new(),
            extensions: Vec::new(),
            imports: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            interface: Vec::new(),
            known: Vec::new(),
        }
    }

    /// An id that nothing has.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`] beyond [`Module::IDS`].
    pub fn id(&mut self) -> Result<u32, Error> {
        let id = self.bound;
        if id >= Module::IDS {
            return Err(Error::IdBound(id));
        }
        self.bound += 1;
        Ok(id)
    }

    /// Replaces `remove` words at word offset `at` by `words`; inserts them if `remove` is 0.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`]. What overlaps is found by [`Editor::finish`].
    pub fn replace(&mut self, at: usize, remove: usize, words: &[u32]) -> Result<(), Error> {
        let from = self.pool.len();
        extend(&mut self.pool, words)?;
        push(&mut self.edits, Edit { at, remove, from, to: self.pool.len() })
    }

    /// Inserts `words` before the instruction at word offset `at`.
    ///
    /// # Errors
    ///
    /// As [`Editor::replace`].
    pub fn insert(&mut self, at: usize, words: &[u32]) -> Result<(), Error> {
        self.replace(at, 0, words)
    }

    /// Replaces an instruction that has a result by a call of `function` with the same type and id; so what is decorated, named or
    /// used stays as it is, and no block is opened.
    ///
    /// # Errors
    ///
    /// [`Error::Edits`] for an instruction without a type and an id; [`Error::TooLong`], [`Error::Memory`].
    pub fn call_instead(
        &mut self,
        instruction: &Instruction<'_>,
        function: u32,
        arguments: &[u32],
    ) -> Result<(), Error> {
        if op::result(instruction.opcode()) != Defines::Typed {
            return Err(Error::Edits);
        }
        let mut operands = Vec::new();
        extend(&mut operands, &[instruction.word(1), instruction.word(2), function])?;
        extend(&mut operands, arguments)?;
        let mut call = Vec::new();
        assemble(&mut call, Op::FunctionCall, &operands)?;
        self.replace(instruction.at, instruction.words.len(), &call)
    }

    /// Replaces an instruction by the same with more operands behind its own.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], [`Error::Memory`].
    pub fn lengthen(&mut self, instruction: &Instruction<'_>, operands: &[u32]) -> Result<(), Error> {
        let length = instruction.words.len() + operands.len();
        if length > 0xffff {
            return Err(Error::TooLong);
        }
        let mut words = Vec::new();
        extend(&mut words, &[(length as u32) << 16 | instruction.opcode()])?;
        extend(&mut words, instruction.words.get(1..).unwrap_or_default())?;
        extend(&mut words, operands)?;
        self.replace(instruction.at, instruction.words.len(), &words)
    }

    /// Declares a capability, unless it is declared.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn capability(&mut self, capability: Capability) -> Result<(), Error> {
        let mut words = Vec::new();
        assemble(&mut words, Op::Capability, &[capability as u32])?;
        if !self.is_in_preamble(&words) && !self.capabilities.chunks(2).any(|known| known == words) {
            extend(&mut self.capabilities, &words)?;
        }
        Ok(())
    }

    /// Declares an extension, unless it is declared.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn extension(&mut self, name: &str) -> Result<(), Error> {
        let mut words = Vec::new();
        assemble(&mut words, Op::Extension, &literal(name)?)?;
        let known = self.is_in_preamble(&words) || instructions(&self.extensions).any(|known| known == words);
        if known { Ok(()) } else { extend(&mut self.extensions, &words) }
    }

    fn is_in_preamble(&self, words: &[u32]) -> bool {
        let end = self.module.sections.imports;
        self.module.instructions(Module::HEADER, end).any(|instruction| instruction.words == words)
    }

    /// The id of an extended instruction set, `GLSL.std.450` for instance, imported if it is not.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::Memory`].
    pub fn import(&mut self, name: &str) -> Result<u32, Error> {
        let name = literal(name)?;
        let is_it = |words: &&[u32]| words.first().is_some_and(|first| first & 0xffff == op::EXT_INST_IMPORT);
        let preamble = self.module.instructions(Module::HEADER, self.module.sections.imports).map(|known| known.words);
        let known =
            preamble.chain(instructions(&self.imports)).filter(is_it).find(|words| words.get(2..) == Some(&name));
        if let Some(id) = known.and_then(|words| words.get(1)) {
            return Ok(*id);
        }
        let id = self.id()?;
        let mut operands = Vec::new();
        extend(&mut operands, &[id])?;
        extend(&mut operands, &name)?;
        assemble(&mut self.imports, Op::ExtInstImport, &operands)?;
        Ok(id)
    }

    /// Decorates an id.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn decorate(&mut self, target: u32, decoration: Decoration, operands: &[u32]) -> Result<(), Error> {
        let mut words = Vec::new();
        extend(&mut words, &[target, decoration as u32])?;
        extend(&mut words, operands)?;
        assemble(&mut self.annotations, Op::Decorate, &words)
    }

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
        match self.find(1, opcode, &wanted)? {
            Some(known) => Ok(known),
            None => self.aggregate(opcode, operands),
        }
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

    /// The id of a scalar constant of a type, whose value is one word for each 32 bits begun; made if there is none.
    ///
    /// # Errors
    ///
    /// As [`Editor::ty`].
    pub fn constant(&mut self, ty: u32, value: &[u32]) -> Result<u32, Error> {
        let mut words = Vec::new();
        extend(&mut words, &[ty, 0])?;
        extend(&mut words, value)?;
        if let Some(known) = self.find(2, Op::Constant, &words)? {
            return Ok(known);
        }
        let id = self.id()?;
        if let Some(place) = words.get_mut(1) {
            *place = id;
        }
        assemble(&mut self.globals, Op::Constant, &words)?;
        Ok(id)
    }

    /// The id, in word `id_at`, of a type or constant that has these operands but for it; among those that were there and those that
    /// have been added.
    fn find(&mut self, id_at: usize, opcode: Op, operands: &[u32]) -> Result<Option<u32>, Error> {
        if self.known.is_empty() {
            for instruction in self.module.instructions(Module::HEADER, self.module.sections.globals) {
                let id_at = match (instruction.opcode(), op::result(instruction.opcode())) {
                    (op::CONSTANT, _) => 2,
                    (_, Defines::Id) => 1,
                    _ => continue,
                };
                push(&mut self.known, (hash(instruction.words, id_at), instruction.at as u32))?;
            }
            self.known.sort_unstable();
        }
        let mut wanted = Vec::new();
        assemble(&mut wanted, opcode, operands)?;
        let same = |words: &[u32]| {
            let same_end = words.get(id_at + 1..) == wanted.get(id_at + 1..);
            words.get(..id_at) == wanted.get(..id_at) && same_end
        };
        let hash = hash(&wanted, id_at);
        let first = self.known.partition_point(|(known, _)| *known < hash);
        let candidates = self.known.iter().skip(first).take_while(|(known, _)| *known == hash);
        let there = candidates.map(|(_, at)| self.module.instruction(*at as usize).words);
        let found = there.chain(instructions(&self.globals)).find(|words| same(words));
        Ok(found.and_then(|words| words.get(id_at)).copied())
    }

    /// A global variable of a pointer type. All entry points list it where they must: from SPIR-V 1.4 on whatever its storage
    /// class, before that if it is an input or an output.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::Memory`].
    pub fn variable(&mut self, pointer: u32, class: StorageClass) -> Result<u32, Error> {
        let id = self.id()?;
        assemble(&mut self.globals, Op::Variable, &[pointer, id, class as u32])?;
        if self.module.version() >= 0x0001_0400 || matches!(class, StorageClass::Input | StorageClass::Output) {
            push(&mut self.interface, id)?;
        }
        Ok(id)
    }

    /// Appends whole functions.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn function(&mut self, words: &[u32]) -> Result<(), Error> {
        extend(&mut self.functions, words)
    }

    /// The words with all changes in them.
    ///
    /// # Errors
    ///
    /// [`Error::Edits`] where changes overlap or lie outside; [`Error::TooManyWords`], [`Error::TooLong`], [`Error::Memory`].
    pub fn finish(mut self) -> Result<Vec<u32>, Error> {
        self.list_interface()?;
        let sections = self.module.sections;
        let end = self.module.words().len();
        for (at, words) in [
            (sections.capabilities, std::mem::take(&mut self.capabilities)),
            (sections.extensions, std::mem::take(&mut self.extensions)),
            (sections.imports, std::mem::take(&mut self.imports)),
            (sections.annotations, std::mem::take(&mut self.annotations)),
            (sections.globals, std::mem::take(&mut self.globals)),
            (end, std::mem::take(&mut self.functions)),
        ] {
            if !words.is_empty() {
                self.insert(at, &words)?;
            }
        }
        self.merge()
    }

    fn list_interface(&mut self) -> Result<(), Error> {
        if self.interface.is_empty() {
            return Ok(());
        }
        let listed = std::mem::take(&mut self.interface);
        for entry in self.module.entry_points() {
            self.lengthen(&entry.instruction, &listed)?;
        }
        Ok(())
    }

    fn merge(mut self) -> Result<Vec<u32>, Error> {
        let words = self.module.words();
        // A stable sort: what is inserted keeps its order.
        if !self.edits.is_sorted_by_key(|edit| (edit.at, edit.remove != 0)) {
            self.edits.sort_by_key(|edit| (edit.at, edit.remove != 0));
        }
        let removed: usize = self.edits.iter().map(|edit| edit.remove).sum();
        let length = (words.len() + self.pool.len()).checked_sub(removed).ok_or(Error::Edits)?;
        if length > Module::WORDS {
            return Err(Error::TooManyWords);
        }
        let mut out = Vec::new();
        out.try_reserve_exact(length).map_err(|_| Error::Memory)?;
        let mut done = 0;
        for edit in &self.edits {
            let kept = words.get(done..edit.at).ok_or(Error::Edits)?;
            out.extend_from_slice(kept);
            out.extend_from_slice(self.pool.get(edit.from..edit.to).unwrap_or_default());
            done = edit.at.checked_add(edit.remove).ok_or(Error::Edits)?;
        }
        out.extend_from_slice(words.get(done..).ok_or(Error::Edits)?);
        if let Some(bound) = out.get_mut(3) {
            *bound = self.bound;
        }
        Ok(out)
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

/// The instructions of a list of whole ones.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let length = (*rest.first()? >> 16) as usize;
        let (instruction, after) = rest.split_at_checked(length.max(1))?;
        rest = after;
        Some(instruction)
    })
}
