//! Comparisons that no sampler does: texels are sampled one by one, each is compared with the reference, and the results are weighed
//! ("Depth Compare Operation" comes before filtering). Gathered texels are compared all four.

use spirv::{GlslStd450Op, Op};

use super::flags;
use super::helper::{Helper, Place};
use super::site::operand::{COUNT, EXTRA};
use crate::error::Error;
use crate::op;

/// With `EMULATE`, and in the place of what `FETCH` needs as the bits below are: texels are compared with the reference of an
/// instruction before they are weighed. The sampler that is bound compares nothing.
pub const COMPARE: u32 = 1 << 25;
/// The comparison passes where the reference is less than the texel.
pub const LESS: u32 = 1 << 13;
/// It passes where both are equal.
pub const EQUAL: u32 = 1 << 14;
/// It passes where the reference is greater.
pub const GREATER: u32 = 1 << 15;
/// It passes where one of them is no number.
pub const UNORDERED: u32 = 1 << 16;
/// The reference is clamped to [0, 1]: the format is unsigned normalized.
pub const CLAMP_REFERENCE: u32 = 1 << 17;

impl Helper<'_, '_, '_, '_> {
    /// Compares in the shader.
    pub(super) fn comparison(&mut self, place: &Place) -> Result<u32, Error> {
        let reference = self.reference(place.reference)?;
        let place = Place { reference, ..*place };
        if !self.sample.form.gathers {
            return self.filtered(&place);
        }
        self.gathered = reference;
        let gathered = self.gather(&place);
        self.gathered = 0;
        gathered
    }

    /// The same, or has the sampler do it at the coordinates that the task asks for.
    pub(super) fn compared(&mut self, place: &Place) -> Result<u32, Error> {
        if !self.sample.passes.saturate {
            return self.comparison(place);
        }
        let compares = self.code.has(self.flags, COMPARE)?;
        let mut fork = self.code.fork(compares)?;
        let compared = self.comparison(place)?;
        self.code.otherwise(&mut fork, [compared, 0])?;
        let sampled = self.sampled(place)?;
        Ok(self.code.join(&fork, self.sample.ty, [sampled, 0])?[0])
    }

    /// The reference, clamped where the format of the view asks for that.
    fn reference(&mut self, given: u32) -> Result<u32, Error> {
        let (zero, one) = (self.code.splat(0.0, 1)?, self.code.splat(1.0, 1)?);
        let clamped = self.code.glsl(GlslStd450Op::NClamp, self.code.float, &[given, zero, one])?;
        let clamps = self.code.has(self.flags, CLAMP_REFERENCE)?;
        self.code.float(Op::Select, &[clamps, clamped, given])
    }

    /// Gathers where the instruction does, or at saturated coordinates.
    fn gather(&mut self, place: &Place) -> Result<u32, Error> {
        if !self.sample.passes.saturate {
            return self.emit(self.sample.form.opcode, self.operands);
        }
        let saturates = self.code.has(self.flags, flags::CLAMP | flags::MIRROR)?;
        let mut fork = self.code.fork(saturates)?;
        let saturated = self.sampled(place)?;
        self.code.otherwise(&mut fork, [saturated, 0])?;
        let own = self.emit(self.sample.form.opcode, self.operands)?;
        Ok(self.code.join(&fork, self.sample.ty, [own, 0])?[0])
    }

    /// A gather of what a comparing gather would compare, and its comparison.
    pub(super) fn gathered(&mut self, mut operands: [u32; COUNT]) -> Result<u32, Error> {
        operands[EXTRA] = self.code.editor.constant(self.code.int, &[0])?;
        let texels = self.instruction(op::IMAGE_GATHER, operands)?;
        self.passes(texels, self.gathered, 4)
    }

    /// Whether the red component of a texel passes the comparison, as 1 or 0.
    pub(super) fn passed(&mut self, texel: u32, reference: u32) -> Result<u32, Error> {
        let red = self.code.float(Op::CompositeExtract, &[texel, 0])?;
        self.passes(red, reference, 1)
    }

    /// The same for each of `count` depths.
    fn passes(&mut self, depths: u32, reference: u32, count: u32) -> Result<u32, Error> {
        let (float, uint, bool) = (self.code.float, self.code.uint, self.code.bool);
        let (floats, uints, bools) =
            (self.code.vec(count)?, self.code.vector(uint, count)?, self.code.vector(bool, count)?);
        let references = self.code.repeat(float, reference, count)?;
        let mut relation = self.repeated(UNORDERED, count)?;
        for (opcode, flag) in [(Op::FOrdLessThan, LESS), (Op::FOrdEqual, EQUAL), (Op::FOrdGreaterThan, GREATER)] {
            let holds = self.code.op(opcode, bools, &[references, depths])?;
            let flag = self.repeated(flag, count)?;
            relation = self.code.op(Op::Select, uints, &[holds, flag, relation])?;
        }
        let flags = self.code.repeat(uint, self.flags, count)?;
        let met = self.code.op(Op::BitwiseAnd, uints, &[relation, flags])?;
        let none = self.repeated(0, count)?;
        let passes = self.code.op(Op::INotEqual, bools, &[met, none])?;
        let (one, zero) = (self.code.splat(1.0, count)?, self.code.splat(0.0, count)?);
        self.code.op(Op::Select, floats, &[passes, one, zero])
    }

    fn repeated(&mut self, value: u32, count: u32) -> Result<u32, Error> {
        let value = self.code.unsigned(value)?;
        self.code.repeat(self.code.uint, value, count)
    }
}
