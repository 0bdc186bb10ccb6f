//! Code that is being written: operators and methods of values append the instructions that compute them.
//!
//! A value has its type with it, so the opcode follows from what is computed with what. A scalar beside a vector counts for each
//! component. What goes wrong is kept until [`Code::end`], and ids mean nothing from then on.

use std::cell::{Cell, RefCell};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

use spirv::{Decoration, GlslStd450Op as GLOp, Op, SelectionControl};

use crate::edit::{Editor, assemble, write};
use crate::error::{Error, push};
use crate::module::Module;
use crate::op;

/// What a component is, of 32 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Float,
    Int,
    Uint,
    Bool,
    /// Nothing that is computed with.
    Other,
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub(crate) id: u32,
    /// The type of a component.
    scalar: u32,
    pub(crate) of: Scalar,
    /// Components: 1 if it is no vector.
    pub(crate) count: u32,
}

impl Type {
    /// What a type of the module is.
    pub(crate) fn of(module: &Module<'_>, id: u32) -> Type {
        let vector = module.defined(id, op::TYPE_VECTOR);
        let (scalar, count) = vector.map_or((id, 1), |vector| (vector.word(2), vector.word(3)));
        let of = module.definition(scalar).map_or(Scalar::Other, |ty| match (ty.opcode(), ty.word(2), ty.word(3)) {
            (op::TYPE_FLOAT, 32, _) => Scalar::Float,
            (op::TYPE_INT, 32, 0) => Scalar::Uint,
            (op::TYPE_INT, 32, _) => Scalar::Int,
            (op::TYPE_BOOL, ..) => Scalar::Bool,
            _ => Scalar::Other,
        });
        Type { id, scalar, of, count }
    }

    /// A vector of four of a scalar, by its id.
    pub(crate) fn four(self, id: u32) -> Type {
        Type { id, count: 4, ..self }
    }

    /// The same as signed integers, which may have another width.
    pub(crate) fn signed(self) -> Type {
        Type { of: Scalar::Int, ..self }
    }

    /// A type that nothing is computed with.
    pub(crate) fn other(id: u32) -> Type {
        Type { id, scalar: id, of: Scalar::Other, count: 1 }
    }
}

/// An editor that code shares with other code.
pub(crate) trait SharedEditor {
    /// Has the editor make something, which has an id.
    fn edit(&self, what: &mut dyn FnMut(&mut Editor<'_, '_>) -> Result<u32, Error>) -> Result<u32, Error>;
}

impl SharedEditor for RefCell<&mut Editor<'_, '_>> {
    fn edit(&self, what: &mut dyn FnMut(&mut Editor<'_, '_>) -> Result<u32, Error>) -> Result<u32, Error> {
        what(&mut self.borrow_mut())
    }
}

/// A function that is being written.
pub(crate) struct Code<'b> {
    pub(crate) editor: &'b dyn SharedEditor,
    words: RefCell<Vec<u32>>,
    /// The label of the block that is being written.
    block: Cell<u32>,
    /// Types by component and count, once they were needed.
    types: [[Cell<u32>; 4]; 4],
    /// The import of GLSL.std.450, once it was needed.
    glsl: Cell<u32>,
    /// What went wrong first.
    wrong: Cell<Option<Error>>,
}

impl<'b> Code<'b> {
    pub(crate) fn new(editor: &'b dyn SharedEditor) -> Code<'b> {
        Code {
            editor,
            words: RefCell::default(),
            block: Cell::default(),
            types: Default::default(),
            glsl: Cell::default(),
            wrong: Cell::default(),
        }
    }

    /// The same where the editor need not know a type.
    pub(crate) fn with(editor: &'b dyn SharedEditor, scalar: Scalar, id: u32) -> Code<'b> {
        let code = Code::new(editor);
        code.types[scalar as usize][0].set(id);
        code
    }

    /// Notes what goes wrong, so that what follows need not ask.
    pub(crate) fn noted<T: Default>(&self, made: Result<T, Error>) -> T {
        made.unwrap_or_else(|error| {
            self.wrong.set(self.wrong.get().or(Some(error)));
            T::default()
        })
    }

    /// What the editor makes, by its id.
    pub(crate) fn edit(&self, mut what: impl FnMut(&mut Editor<'_, '_>) -> Result<u32, Error>) -> u32 {
        self.noted(self.editor.edit(&mut what))
    }

    #[inline(never)]
    pub(crate) fn ty(&self, of: Scalar, count: u32) -> Type {
        let cached = |count: u32| self.types.get(of as usize).and_then(|types| types.get(count as usize - 1));
        let id = |count: u32, opcode: Op, operands: &[u32]| {
            let known = cached(count).map_or(0, Cell::get);
            if known != 0 {
                return known;
            }
            let id = self.edit(|editor| editor.ty(opcode, operands));
            cached(count).inspect(|cached| cached.set(id));
            id
        };
        let scalar = match of {
            Scalar::Float => id(1, Op::TypeFloat, &[32]),
            Scalar::Int => id(1, Op::TypeInt, &[32, 1]),
            Scalar::Uint => id(1, Op::TypeInt, &[32, 0]),
            Scalar::Bool | Scalar::Other => id(1, Op::TypeBool, &[]),
        };
        Type { id: if count == 1 { scalar } else { id(count, Op::TypeVector, &[scalar, count]) }, scalar, of, count }
    }

    /// Something that is there already.
    pub(crate) fn value(&'b self, id: u32, ty: Type) -> Value<'b> {
        Value { code: self, id, ty }
    }

    /// An instruction with a result.
    pub(crate) fn op(&'b self, opcode: Op, ty: Type, operands: &[u32]) -> Value<'b> {
        self.raw(opcode as u32, ty, operands)
    }

    #[inline(never)]
    pub(crate) fn raw(&'b self, opcode: u32, ty: Type, operands: &[u32]) -> Value<'b> {
        let id = self.edit(|editor| {
            let id = editor.id()?;
            write(&mut self.words.borrow_mut(), opcode, &[&[ty.id, id], operands]).map(|()| id)
        });
        self.value(id, ty)
    }

    /// An instruction without a result.
    fn plain(&self, opcode: Op, operands: &[u32]) {
        self.noted(assemble(&mut self.words.borrow_mut(), opcode, operands));
    }

    /// A constant by its bits: one for all components, or one for each.
    #[inline(never)]
    pub(crate) fn constant(&'b self, ty: Type, bits: &[u32]) -> Value<'b> {
        let id = self.edit(|editor| {
            let mut parts = [0; 4];
            for (part, bits) in parts.iter_mut().zip(bits.iter().cycle()).take(ty.count as usize) {
                *part = editor.constant(ty.scalar, &[*bits])?;
            }
            let parts = parts.get(..ty.count as usize).unwrap_or(&parts);
            if let [one] = *parts { Ok(one) } else { editor.composite(ty.id, parts) }
        });
        self.value(id, ty)
    }

    pub(crate) fn float(&'b self, value: f32) -> Value<'b> {
        self.constant(self.ty(Scalar::Float, 1), &[value.to_bits()])
    }

    pub(crate) fn int(&'b self, value: u32) -> Value<'b> {
        self.constant(self.ty(Scalar::Int, 1), &[value])
    }

    /// A vector of scalars, or of shorter vectors and scalars; the only one there is.
    #[inline(never)]
    pub(crate) fn vector(&'b self, parts: &[Value<'b>]) -> Value<'b> {
        let Some(first) = parts.first().filter(|_| parts.len() > 1) else {
            return parts.first().copied().unwrap_or(self.float(0.0));
        };
        let count = parts.iter().map(|part| part.ty.count).sum();
        self.composed(self.ty(first.ty.of, count), parts)
    }

    /// Something of a type from its parts.
    pub(crate) fn composed(&'b self, ty: Type, parts: &[Value<'b>]) -> Value<'b> {
        let mut ids = [0; 4];
        for (id, part) in ids.iter_mut().zip(parts) {
            *id = part.id;
        }
        self.op(Op::CompositeConstruct, ty, ids.get(..parts.len()).unwrap_or(&ids))
    }

    /// What one of two ways finds: the first where the condition holds.
    pub(crate) fn either(
        &'b self,
        condition: Value<'b>,
        yes: impl FnOnce() -> Value<'b>,
        no: impl FnOnce() -> Value<'b>,
    ) -> Value<'b> {
        let [first, other, merge] = [(); 3].map(|()| self.edit(|editor| editor.id()));
        self.plain(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.plain(Op::BranchConditional, &[condition.id, first, other]);
        let (yes, first) = self.way(first, merge, yes);
        let (no, other) = self.way(other, merge, no);
        self.begin(merge);
        self.op(Op::Phi, yes.ty, &[yes.id, first, no.id, other])
    }

    /// One of two ways, with the block that it ends in.
    fn way(&'b self, label: u32, merge: u32, way: impl FnOnce() -> Value<'b>) -> (Value<'b>, u32) {
        self.begin(label);
        let found = way();
        self.plain(Op::Branch, &[merge]);
        (found, self.block.get())
    }

    fn begin(&self, label: u32) {
        self.block.set(label);
        self.plain(Op::Label, &[label]);
    }

    pub(crate) fn decorate(&self, id: u32, decoration: Decoration) {
        self.edit(|editor| editor.decorate(id, decoration, &[]).map(|()| id));
    }

    /// Begins a function with the types of the result and of the parameters; its id, and those of the parameters.
    pub(crate) fn function(&'b self, types: &[u32]) -> (u32, Vec<u32>) {
        let ty = self.edit(|editor| editor.ty(Op::TypeFunction, types));
        let result = types.first().copied().unwrap_or(0);
        let function = self.op(Op::Function, Type::other(result), &[0, ty]);
        let mut parameters = Vec::new();
        for ty in types.iter().skip(1) {
            self.noted(push(&mut parameters, self.op(Op::FunctionParameter, Type::other(*ty), &[]).id));
        }
        self.begin(self.edit(|editor| editor.id()));
        (function.id, parameters)
    }

    /// Ends the function with its result and adds it to the module.
    ///
    /// # Errors
    ///
    /// What went wrong since the code was begun.
    pub(crate) fn end(&self, result: Value<'_>) -> Result<(), Error> {
        self.plain(Op::ReturnValue, &[result.id]);
        self.plain(Op::FunctionEnd, &[]);
        if let Some(error) = self.wrong.get() {
            return Err(error);
        }
        self.editor.edit(&mut |editor| editor.function(&self.words.borrow()).map(|()| 0)).map(|_| ())
    }
}

/// A value that code computes with.
#[derive(Clone, Copy)]
pub(crate) struct Value<'b> {
    code: &'b Code<'b>,
    pub(crate) id: u32,
    pub(crate) ty: Type,
}

/// What may stand beside a value: another one, or constants.
pub(crate) trait Operand<'b> {
    /// A value with as many components.
    fn beside(self, value: Value<'b>) -> Value<'b>;
}

impl<'b> Operand<'b> for Value<'b> {
    fn beside(self, value: Value<'b>) -> Value<'b> {
        self.spread(value.ty.count)
    }
}

macro_rules! constants {
    ($($ty:ty: $bits:expr;)*) => { $(
        impl<'b> Operand<'b> for $ty {
            #[inline(never)]
            fn beside(self, value: Value<'b>) -> Value<'b> {
                value.code.constant(value.ty, &[self].map($bits))
            }
        }

        impl<'b> Operand<'b> for [$ty; 4] {
            fn beside(self, value: Value<'b>) -> Value<'b> {
                value.code.constant(value.ty, &self.map($bits))
            }
        }
    )* };
}
constants! { f32: f32::to_bits; u32: std::convert::identity; }

macro_rules! operators {
    ($($trait:ident $method:ident [$($kind:ident $opcode:ident),*];)*) => { $(
        impl<'b, T: Operand<'b>> $trait<T> for Value<'b> {
            type Output = Value<'b>;

            #[inline(never)]
            fn $method(self, other: T) -> Value<'b> {
                let opcode = match self.ty.of { $(Scalar::$kind => Op::$opcode,)* _ => Op::Nop };
                self.with(opcode, &[other.beside(self)])
            }
        }
    )* };
}
operators! {
    Add add [Float FAdd, Int IAdd, Uint IAdd];
    Sub sub [Float FSub, Int ISub, Uint ISub];
    Mul mul [Float FMul, Int IMul, Uint IMul];
    Div div [Float FDiv, Int SDiv, Uint UDiv];
    Shl shl [Int ShiftLeftLogical, Uint ShiftLeftLogical];
    Shr shr [Int ShiftRightArithmetic, Uint ShiftRightLogical];
    BitAnd bitand [Bool LogicalAnd, Int BitwiseAnd, Uint BitwiseAnd];
    BitOr bitor [Bool LogicalOr, Int BitwiseOr, Uint BitwiseOr];
    BitXor bitxor [Bool LogicalNotEqual, Int BitwiseXor, Uint BitwiseXor];
}

impl<'b> Neg for Value<'b> {
    type Output = Value<'b>;

    fn neg(self) -> Value<'b> {
        self.with(if self.ty.of == Scalar::Float { Op::FNegate } else { Op::SNegate }, &[])
    }
}

impl<'b> Value<'b> {
    /// A constant with as many components.
    pub(crate) fn of(self, constant: impl Operand<'b>) -> Value<'b> {
        constant.beside(self)
    }

    /// An instruction on this and others that finds something of the same type.
    fn with(self, opcode: Op, others: &[Value<'b>]) -> Value<'b> {
        self.to(opcode, self.ty, others)
    }

    /// An instruction on this and at most two others.
    #[inline(never)]
    pub(crate) fn to(self, opcode: Op, ty: Type, others: &[Value<'b>]) -> Value<'b> {
        let mut ids = [self.id, 0, 0];
        for (id, other) in ids.iter_mut().skip(1).zip(others) {
            *id = other.id;
        }
        self.code.op(opcode, ty, ids.get(..=others.len()).unwrap_or(&ids))
    }

    /// One of the functions of GLSL.std.450, which find something of this type.
    pub(crate) fn math(self, function: GLOp) -> Value<'b> {
        self.glsl(function, self.ty, &[])
    }

    #[inline(never)]
    pub(crate) fn glsl(self, function: GLOp, ty: Type, others: &[Value<'b>]) -> Value<'b> {
        let code = self.code;
        if code.glsl.get() == 0 {
            code.glsl.set(code.edit(|editor| editor.import("GLSL.std.450")));
        }
        let mut ids = [code.glsl.get(), function as u32, self.id, 0, 0];
        for (id, other) in ids.iter_mut().skip(3).zip(others) {
            *id = other.id;
        }
        code.op(Op::ExtInst, ty, ids.get(..3 + others.len()).unwrap_or(&ids))
    }

    /// One of the functions for floats, signed and unsigned integers.
    fn one_of(self, [float, int, uint]: [GLOp; 3], others: &[Value<'b>]) -> Value<'b> {
        let function = match self.ty.of {
            Scalar::Int => int,
            Scalar::Uint => uint,
            _ => float,
        };
        self.glsl(function, self.ty, others)
    }

    /// The smaller one; of a float and what is no number the float, as in the two below.
    pub(crate) fn min(self, other: impl Operand<'b>) -> Value<'b> {
        self.one_of([GLOp::NMin, GLOp::SMin, GLOp::UMin], &[self.of(other)])
    }

    pub(crate) fn max(self, other: impl Operand<'b>) -> Value<'b> {
        self.one_of([GLOp::NMax, GLOp::SMax, GLOp::UMax], &[self.of(other)])
    }

    pub(crate) fn clamp(self, least: impl Operand<'b>, most: impl Operand<'b>) -> Value<'b> {
        self.one_of([GLOp::NClamp, GLOp::SClamp, GLOp::UClamp], &[self.of(least), self.of(most)])
    }

    /// Whether a relation holds, by its opcode.
    pub(crate) fn is(self, relation: Op, other: impl Operand<'b>) -> Value<'b> {
        self.to(relation, self.code.ty(Scalar::Bool, self.ty.count), &[self.of(other)])
    }

    /// One of two, by this condition.
    pub(crate) fn select(self, yes: Value<'b>, no: impl Operand<'b>) -> Value<'b> {
        self.beside(yes).to(Op::Select, yes.ty, &[yes, yes.of(no)])
    }

    /// The nearest number of another kind.
    pub(crate) fn convert(self, of: Scalar) -> Value<'b> {
        let opcode = match (self.ty.of, of) {
            (Scalar::Int, _) => Op::ConvertSToF,
            (Scalar::Uint, _) => Op::ConvertUToF,
            (_, Scalar::Int) => Op::ConvertFToS,
            _ => Op::ConvertFToU,
        };
        self.to(opcode, self.code.ty(of, self.ty.count), &[])
    }

    /// The same bits as another type; itself if it has that.
    pub(crate) fn bitcast(self, of: Scalar) -> Value<'b> {
        if self.ty.of == of { self } else { self.to(Op::Bitcast, self.code.ty(of, self.ty.count), &[]) }
    }

    /// A vector times a scalar.
    pub(crate) fn scaled(self, by: Value<'b>) -> Value<'b> {
        self.with(if self.ty.count == 1 { Op::FMul } else { Op::VectorTimesScalar }, &[by])
    }

    pub(crate) fn dot(self, other: Value<'b>) -> Value<'b> {
        self.to(Op::Dot, self.code.ty(Scalar::Float, 1), &[other])
    }

    /// A component; itself if it is no vector.
    pub(crate) fn at(self, position: u32) -> Value<'b> {
        if self.ty.count == 1 { self } else { self.member(Type { id: self.ty.scalar, count: 1, ..self.ty }, position) }
    }

    /// A member of a structure or array.
    pub(crate) fn member(self, ty: Type, position: u32) -> Value<'b> {
        self.code.op(Op::CompositeExtract, ty, &[self.id, position])
    }

    /// The first components.
    pub(crate) fn first(self, count: u32) -> Value<'b> {
        match count {
            1 => self.at(0),
            _ if count == self.ty.count => self,
            _ => self.shuffled([0, 1, 2, 3].get(..count as usize).unwrap_or_default()),
        }
    }

    /// Components by their positions.
    pub(crate) fn shuffled(self, positions: &[u32]) -> Value<'b> {
        let mut operands = [self.id, self.id, 0, 0, 0, 0];
        for (operand, position) in operands.iter_mut().skip(2).zip(positions) {
            *operand = *position;
        }
        let ty = self.code.ty(self.ty.of, positions.len() as u32);
        self.code.op(Op::VectorShuffle, ty, operands.get(..2 + positions.len()).unwrap_or(&operands))
    }

    /// A scalar as often as a vector has components.
    fn spread(self, count: u32) -> Value<'b> {
        if self.ty.count == count {
            return self;
        }
        let all = [self; 4];
        self.code.vector(all.get(..count as usize).unwrap_or(&all))
    }
}
