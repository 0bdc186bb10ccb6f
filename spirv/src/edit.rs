//! The editor: collects insertions and replacements by word offset and applies them in one merge.
//!
//! Whatever is not named stays word for word. It knows the rules that additions have to follow (unique types, the order of
//! sections, interfaces of entry points) and not what they are for.

mod declare;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use spirv::{Capability, Decoration, Op};

use crate::error::{Error, extend, push};
use crate::map::Fold;
use crate::module::{Instruction, Module, sort};
use crate::op::{self, Result as Defines, Section};

/// Appends an instruction to `to`.
///
/// # Errors
///
/// [`Error::TooLong`], [`Error::Memory`]; `to` is then as it was.
pub fn assemble(to: &mut Vec<u32>, opcode: Op, operands: &[u32]) -> Result<(), Error> {
    write(to, opcode as u32, &[operands])
}

/// The same with operands in parts.
pub(crate) fn write(to: &mut Vec<u32>, opcode: u32, operands: &[&[u32]]) -> Result<(), Error> {
    let length = operands.iter().map(|part| part.len()).sum::<usize>() + 1;
    if length > 0xffff {
        return Err(Error::TooLong);
    }
    to.try_reserve(length).map_err(|_| Error::Memory)?;
    to.push((length as u32) << 16 | opcode);
    for part in operands {
        to.extend_from_slice(part);
    }
    Ok(())
}

/// The words of a literal string: its bytes, a zero, and zeros to the end of the word.
pub(crate) fn literal(text: &str) -> Result<Vec<u32>, Error> {
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

/// `remove` words at `at` make room for a range of the pool. In the order of the fields: at one place, insertions as they were
/// asked for (the pool grows), then what replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edit {
    at: usize,
    replaces: bool,
    from: usize,
    to: usize,
    remove: usize,
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
    names: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    functions: Vec<u32>,
    /// Ids that entry points have to list, and ids that they must not list any more.
    interface: Vec<u32>,
    unlisted: Vec<u32>,
    /// Ids that nothing defines any more.
    gone: Vec<u32>,
    /// Types and constants of the module by hash, with their word offsets; empty until one is looked for.
    seen: Vec<(u64, u32)>,
    /// Types and constants that have been added, by hash, with their word offsets in `globals`.
    added: HashMap<u64, usize, BuildHasherDefault<Fold>>,
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
            names: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            interface: Vec::new(),
            unlisted: Vec::new(),
            gone: Vec::new(),
            seen: Vec::new(),
            added: Default::default(),
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

    /// Appends an instruction with a type and an id of its own to `words`; the id.
    ///
    /// # Errors
    ///
    /// [`Error::IdBound`], [`Error::TooLong`], [`Error::Memory`].
    pub fn op(&mut self, words: &mut Vec<u32>, opcode: Op, ty: u32, operands: &[u32]) -> Result<u32, Error> {
        let id = self.id()?;
        write(words, opcode as u32, &[&[ty, id], operands])?;
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
        push(&mut self.edits, Edit { at, replaces: remove != 0, from, to: self.pool.len(), remove })
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
        let mut call = Vec::new();
        write(&mut call, op::FUNCTION_CALL, &[&[instruction.word(1), instruction.word(2), function], arguments])?;
        self.replace(instruction.at, instruction.words.len(), &call)
    }

    /// Replaces an instruction by the same with more operands behind its own.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], [`Error::Memory`].
    pub fn lengthen(&mut self, instruction: &Instruction<'_>, operands: &[u32]) -> Result<(), Error> {
        let mut words = Vec::new();
        write(&mut words, instruction.opcode(), &[instruction.words.get(1..).unwrap_or_default(), operands])?;
        self.replace(instruction.at, instruction.words.len(), &words)
    }

    /// Removes an instruction. If it defines an id, that id loses its names and decorations and its places in interfaces; whatever
    /// else uses it is the caller's to change.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn remove(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        self.replace(instruction.at, instruction.words.len(), &[])?;
        instruction.id_at().map_or(Ok(()), |at| self.forget(instruction.word(at)))
    }

    /// Takes the names, decorations and places in interfaces of an id that nothing defines any more.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn forget(&mut self, id: u32) -> Result<(), Error> {
        push(&mut self.gone, id)
    }

    /// Replaces one word of an instruction.
    ///
    /// # Errors
    ///
    /// As [`Editor::replace`].
    pub fn set(&mut self, instruction: &Instruction<'_>, word: usize, to: u32) -> Result<(), Error> {
        self.replace(instruction.at + word, 1, &[to])
    }

    /// Takes an id from the interfaces of all entry points.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn unlist(&mut self, id: u32) -> Result<(), Error> {
        push(&mut self.unlisted, id)
    }

    /// Removes the declarations of a capability of shaders; says whether there was one. What it implied is declared by itself.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn drop_capability(&mut self, capability: Capability) -> Result<bool, Error> {
        let mut words = Vec::new();
        assemble(&mut words, Op::Capability, &[capability as u32])?;
        let found = self.drop_from_preamble(&words)?;
        if found {
            self.capability(Capability::Shader)?;
        }
        Ok(found)
    }

    /// Removes the declarations of an extension; says whether there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn drop_extension(&mut self, name: &str) -> Result<bool, Error> {
        let mut words = Vec::new();
        assemble(&mut words, Op::Extension, &literal(name)?)?;
        self.drop_from_preamble(&words)
    }

    fn drop_from_preamble(&mut self, words: &[u32]) -> Result<bool, Error> {
        let mut found = false;
        for instruction in self.module.instructions(Module::HEADER, self.module.sections.imports) {
            if instruction.words == words {
                self.remove(&instruction)?;
                found = true;
            }
        }
        Ok(found)
    }

    /// Declares a capability, unless it is declared.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn capability(&mut self, capability: Capability) -> Result<(), Error> {
        let mut words = Vec::new();
        assemble(&mut words, Op::Capability, &[capability as u32])?;
        if !self.is_in_preamble(&words) && !self.capabilities.chunks(2).any(|seen| seen == words) {
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
        let seen = self.is_in_preamble(&words) || instructions(&self.extensions).any(|seen| seen == words);
        if seen { Ok(()) } else { extend(&mut self.extensions, &words) }
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
        let preamble = self.module.instructions(Module::HEADER, self.module.sections.imports).map(|seen| seen.words);
        let seen =
            preamble.chain(instructions(&self.imports)).filter(is_it).find(|words| words.get(2..) == Some(&name));
        if let Some(id) = seen.and_then(|words| words.get(1)) {
            return Ok(*id);
        }
        let id = self.id()?;
        write(&mut self.imports, op::EXT_INST_IMPORT, &[&[id], &name])?;
        Ok(id)
    }

    /// Names an id.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], [`Error::Memory`].
    pub fn name(&mut self, target: u32, name: &str) -> Result<(), Error> {
        write(&mut self.names, op::NAME, &[&[target], &literal(name)?])
    }

    /// Decorates an id.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn decorate(&mut self, target: u32, decoration: Decoration, operands: &[u32]) -> Result<(), Error> {
        write(&mut self.annotations, op::DECORATE, &[&[target, decoration as u32], operands])
    }

    /// Appends an instruction to the annotations.
    pub(crate) fn annotation(&mut self, opcode: u32, operands: &[&[u32]]) -> Result<(), Error> {
        write(&mut self.annotations, opcode, operands)
    }

    /// Decorates a member of a structure.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn decorate_member(
        &mut self,
        structure: u32,
        member: u32,
        decoration: Decoration,
        operands: &[u32],
    ) -> Result<(), Error> {
        write(&mut self.annotations, op::MEMBER_DECORATE, &[&[structure, member, decoration as u32], operands])
    }

    /// Moves an instruction behind all types, constants and global variables, where it has other words.
    pub(crate) fn move_behind(&mut self, instruction: &Instruction<'_>, words: &[u32]) -> Result<(), Error> {
        self.replace(instruction.at, instruction.words.len(), &[])?;
        extend(&mut self.globals, words)
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
        self.clean()?;
        let sections = self.module.sections;
        for (at, words) in [
            (sections.capabilities, std::mem::take(&mut self.capabilities)),
            (sections.extensions, std::mem::take(&mut self.extensions)),
            (sections.imports, std::mem::take(&mut self.imports)),
            (sections.sources, std::mem::take(&mut self.names)),
            (sections.annotations, std::mem::take(&mut self.annotations)),
            (sections.globals, std::mem::take(&mut self.globals)),
            (sections.functions, std::mem::take(&mut self.functions)),
        ] {
            if !words.is_empty() {
                self.insert(at, &words)?;
            }
        }
        self.merge()
    }

    fn list_interface(&mut self) -> Result<(), Error> {
        let listed = std::mem::take(&mut self.interface);
        let mut taken = std::mem::take(&mut self.unlisted);
        extend(&mut taken, &self.gone)?;
        sort(&mut taken);
        for entry in self.module.entry_points() {
            let interface = entry.interface();
            if !interface.iter().any(|id| taken.binary_search(id).is_ok()) {
                if !listed.is_empty() {
                    self.lengthen(&entry.instruction, &listed)?;
                }
                continue;
            }
            let mut kept = Vec::new();
            for id in interface.iter().filter(|id| taken.binary_search(id).is_err()) {
                push(&mut kept, *id)?;
            }
            let words = entry.instruction.words;
            let head = words.get(1..words.len() - interface.len()).unwrap_or_default();
            let mut new = Vec::new();
            write(&mut new, op::ENTRY_POINT, &[head, &kept, &listed])?;
            self.replace(entry.instruction.at, words.len(), &new)?;
        }
        Ok(())
    }

    /// Removes names and decorations of ids that are gone.
    fn clean(&mut self) -> Result<(), Error> {
        if self.gone.is_empty() {
            return Ok(());
        }
        sort(&mut self.gone);
        let module = self.module;
        for instruction in module.instructions(module.sections.imports, module.sections.annotations) {
            let gone = |id: &u32| self.gone.binary_search(id).is_ok();
            match instruction.opcode() {
                op::DECORATION_GROUP => {}
                grouped @ (op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE)
                    if instruction.words.iter().skip(2).any(gone) =>
                {
                    // Pairs of a structure and a member, or targets.
                    let each = if grouped == op::GROUP_DECORATE { 1 } else { 2 };
                    let (mut targets, mut words) = (Vec::new(), Vec::new());
                    for target in instruction.words.get(2..).unwrap_or_default().chunks(each) {
                        if !target.first().is_some_and(gone) {
                            extend(&mut targets, target)?;
                        }
                    }
                    write(&mut words, grouped, &[&[instruction.word(1)], &targets])?;
                    self.replace(instruction.at, instruction.words.len(), &words)?;
                }
                op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => {}
                opcode if names_its_target(opcode) && gone(&instruction.word(1)) => {
                    self.replace(instruction.at, instruction.words.len(), &[])?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn merge(mut self) -> Result<Vec<u32>, Error> {
        let words = self.module.words();
        sort(&mut self.edits);
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

/// Whether an instruction is a name or a decoration, whose first operand is what it is about.
fn names_its_target(opcode: u32) -> bool {
    matches!(op::section(opcode), Section::Names | Section::Annotations)
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
