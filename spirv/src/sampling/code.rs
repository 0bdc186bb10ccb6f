//! A function that is being written.

use spirv::{GlslStd450Op, Op, SelectionControl};

use super::NAME;
use crate::edit::{Editor, assemble, literal};
use crate::error::{Error, extend, push};
use crate::module::{Module, sort};
use crate::op;

/// Appends instructions with results of their own.
pub(super) struct Code<'e, 'm, 'w> {
    pub(super) editor: &'e mut Editor<'m, 'w>,
    pub(super) words: Vec<u32>,
    /// The label of the block that is being written.
    block: u32,
    glsl: u32,
    pub(super) float: u32,
    pub(super) int: u32,
    pub(super) uint: u32,
    pub(super) bool: u32,
}

/// Two ways, one of which is being written.
pub(super) struct Fork {
    merge: u32,
    other: u32,
    /// The last block of the first way, and what it found.
    first: (u32, [u32; 2]),
}

// What is called for each instruction of what is made is not taken in place: that would be a hundred times, for nobody's good.
impl<'e, 'm, 'w> Code<'e, 'm, 'w> {
    pub(super) fn new(editor: &'e mut Editor<'m, 'w>) -> Result<Self, Error> {
        let glsl = editor.import("GLSL.std.450")?;
        let float = editor.ty(Op::TypeFloat, &[32])?;
        let int = editor.ty(Op::TypeInt, &[32, 1])?;
        let uint = editor.ty(Op::TypeInt, &[32, 0])?;
        let bool = editor.ty(Op::TypeBool, &[])?;
        Ok(Code { editor, words: Vec::new(), block: 0, glsl, float, int, uint, bool })
    }

    /// One of the operations that take floats and give one.
    #[inline(never)]
    pub(super) fn float(&mut self, opcode: Op, operands: &[u32]) -> Result<u32, Error> {
        self.op(opcode, self.float, operands)
    }

    /// The type of `count` of a scalar.
    #[inline(never)]
    pub(super) fn vector(&mut self, of: u32, count: u32) -> Result<u32, Error> {
        if count == 1 { Ok(of) } else { self.editor.ty(Op::TypeVector, &[of, count]) }
    }

    pub(super) fn vec(&mut self, count: u32) -> Result<u32, Error> {
        self.vector(self.float, count)
    }

    /// A float that is the same in each of `count` components.
    #[inline(never)]
    pub(super) fn splat(&mut self, value: f32, count: u32) -> Result<u32, Error> {
        let scalar = self.editor.constant(self.float, &[value.to_bits()])?;
        self.repeat(self.float, scalar, count)
    }

    /// A scalar of a type `count` times.
    pub(super) fn repeat(&mut self, of: u32, scalar: u32, count: u32) -> Result<u32, Error> {
        if count == 1 {
            return Ok(scalar);
        }
        let ty = self.vector(of, count)?;
        let all = [scalar; 4];
        self.op(Op::CompositeConstruct, ty, all.get(..count as usize).unwrap_or(&all))
    }

    pub(super) fn unsigned(&mut self, value: u32) -> Result<u32, Error> {
        self.editor.constant(self.uint, &[value])
    }

    /// An instruction with a result, whose id is returned.
    #[inline(never)]
    pub(super) fn op(&mut self, opcode: Op, ty: u32, operands: &[u32]) -> Result<u32, Error> {
        self.raw(opcode as u32, ty, operands)
    }

    pub(super) fn raw(&mut self, opcode: u32, ty: u32, operands: &[u32]) -> Result<u32, Error> {
        let id = self.editor.id()?;
        extend(&mut self.words, &[(operands.len() as u32 + 3) << 16 | opcode, ty, id])?;
        extend(&mut self.words, operands)?;
        Ok(id)
    }

    /// An instruction without a result.
    pub(super) fn plain(&mut self, opcode: Op, operands: &[u32]) -> Result<(), Error> {
        assemble(&mut self.words, opcode, operands)
    }

    #[inline(never)]
    pub(super) fn glsl(&mut self, instruction: GlslStd450Op, ty: u32, operands: &[u32]) -> Result<u32, Error> {
        let mut all = Vec::new();
        extend(&mut all, &[self.glsl, instruction as u32])?;
        extend(&mut all, operands)?;
        self.op(Op::ExtInst, ty, &all)
    }

    /// One of `count` components.
    #[inline(never)]
    pub(super) fn component(&mut self, ty: u32, of: u32, count: u32, position: u32) -> Result<u32, Error> {
        if count == 1 { Ok(of) } else { self.op(Op::CompositeExtract, ty, &[of, position]) }
    }

    /// The first `count` components of a vector of scalars that has `of`.
    #[inline(never)]
    pub(super) fn first(&mut self, vector: u32, of: u32, scalar: u32, count: u32) -> Result<u32, Error> {
        if of == count {
            return Ok(vector);
        }
        if count == 1 {
            return self.op(Op::CompositeExtract, scalar, &[vector, 0]);
        }
        let ty = self.vector(scalar, count)?;
        let words = [vector, vector, 0, 1, 2];
        self.op(Op::VectorShuffle, ty, words.get(..2 + count as usize).unwrap_or(&words))
    }

    /// Whether any of `bits` is in `flags`.
    #[inline(never)]
    pub(super) fn has(&mut self, flags: u32, bits: u32) -> Result<u32, Error> {
        let (uint, bool) = (self.uint, self.bool);
        let (bits, zero) = (self.unsigned(bits)?, self.unsigned(0)?);
        let masked = self.op(Op::BitwiseAnd, uint, &[flags, bits])?;
        self.op(Op::INotEqual, bool, &[masked, zero])
    }

    pub(super) fn label(&mut self) -> Result<(), Error> {
        let id = self.editor.id()?;
        self.begin(id)
    }

    fn begin(&mut self, label: u32) -> Result<(), Error> {
        self.block = label;
        self.plain(Op::Label, &[label])
    }

    /// Goes the first of two ways where `condition` holds; what is written next belongs to it.
    pub(super) fn fork(&mut self, condition: u32) -> Result<Fork, Error> {
        let (first, other, merge) = (self.editor.id()?, self.editor.id()?, self.editor.id()?);
        self.plain(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()])?;
        self.plain(Op::BranchConditional, &[condition, first, other])?;
        self.begin(first)?;
        Ok(Fork { merge, other, first: (0, [0; 2]) })
    }

    /// Ends the first way, which has found `values`, and begins the other one.
    pub(super) fn otherwise(&mut self, fork: &mut Fork, values: [u32; 2]) -> Result<(), Error> {
        fork.first = (self.block, values);
        self.plain(Op::Branch, &[fork.merge])?;
        self.begin(fork.other)
    }

    /// Ends the other way, which has found `values` of a type, 0 for none; what one of both has found.
    pub(super) fn join(&mut self, fork: &Fork, ty: u32, values: [u32; 2]) -> Result<[u32; 2], Error> {
        let (block, (first, mut found)) = (self.block, fork.first);
        self.plain(Op::Branch, &[fork.merge])?;
        self.begin(fork.merge)?;
        for (found, value) in found.iter_mut().zip(values).filter(|(_, value)| *value != 0) {
            *found = self.op(Op::Phi, ty, &[*found, first, value, block])?;
        }
        Ok(found)
    }

    /// The words of a function without its head; `types` are those of the result and of the parameters.
    pub(super) fn parameters(&mut self, types: &[u32]) -> Result<(u32, Vec<u32>), Error> {
        let function_ty = self.editor.ty(Op::TypeFunction, types)?;
        let result = types.first().copied().unwrap_or(0);
        let function = self.op(Op::Function, result, &[0, function_ty])?;
        let mut parameters = Vec::new();
        for ty in types.iter().skip(1) {
            push(&mut parameters, self.op(Op::FunctionParameter, *ty, &[])?)?;
        }
        self.label()?;
        Ok((function, parameters))
    }

    /// Ends the function and adds it to the module.
    pub(super) fn end(mut self, value: u32) -> Result<(), Error> {
        self.plain(Op::ReturnValue, &[value])?;
        self.plain(Op::FunctionEnd, &[])?;
        self.editor.function(&self.words)
    }
}

/// The ids, sorted, of the functions that an earlier run has added.
pub(super) fn own(module: &Module<'_>) -> Result<Vec<u32>, Error> {
    let name = literal(NAME)?;
    let mut own = Vec::new();
    for instruction in module.instructions(module.sections.sources, module.sections.annotations) {
        if instruction.opcode() == op::NAME && instruction.words.get(2..) == Some(&name) {
            push(&mut own, instruction.word(1))?;
        }
    }
    sort(&mut own);
    Ok(own)
}
