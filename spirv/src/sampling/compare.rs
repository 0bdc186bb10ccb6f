//! Comparisons that no sampler does: texels are sampled one by one, each is compared with the reference, and the results are weighed
//! ("Depth Compare Operation" comes before filtering). Gathered texels are compared all four.

use spirv::Op;

use super::flags;
use super::helper::{Helper, SampleAt};
use super::site::operand::{COUNT, EXTRA};
use crate::build::{Scalar, Value};
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

impl<'b> Helper<'b> {
    /// Compares in the shader.
    pub(super) fn comparison(&self, place: &SampleAt<'b>) -> Value<'b> {
        // The reference is clamped where the format of the view asks for that.
        let clamped = |given: Value<'b>| self.has(CLAMP_REFERENCE).select(given.clamp(0.0, 1.0), given);
        let place = SampleAt { reference: place.reference.map(clamped), ..*place };
        if self.sample.form.gathers {
            Helper { gathered: place.reference, ..*self }.gather(&place)
        } else {
            self.filtered(&place)
        }
    }

    /// The same, or has the sampler do it at the coordinates that the task asks for.
    pub(super) fn compared(&self, place: &SampleAt<'b>) -> Value<'b> {
        if !self.sample.passes.saturate {
            return self.comparison(place);
        }
        self.code.either(self.has(COMPARE), || self.comparison(place), || self.sampled(place))
    }

    /// Gathers where the instruction does, or at saturated coordinates.
    fn gather(&self, place: &SampleAt<'b>) -> Value<'b> {
        let own = || self.emit(self.sample.form.opcode, self.operands);
        if !self.sample.passes.saturate {
            return own();
        }
        self.code.either(self.has(flags::CLAMP | flags::MIRROR), || self.sampled(place), own)
    }

    /// A gather of what a comparing gather would compare, and its comparison.
    pub(super) fn compared_texels(&self, mut operands: [Option<Value<'b>>; COUNT], reference: Value<'b>) -> Value<'b> {
        operands[EXTRA] = Some(self.code.int(0));
        self.passes(self.instruction(op::IMAGE_GATHER, operands), reference)
    }

    /// Whether depths pass the comparison, each as 1 or 0.
    pub(super) fn passes(&self, depths: Value<'b>, reference: Value<'b>) -> Value<'b> {
        let flags = self.code.ty(Scalar::Uint, depths.ty.count);
        let reference = depths.of(reference);
        let relation = self.code.constant(flags, &[UNORDERED]);
        let relations = [(Op::FOrdLessThan, LESS), (Op::FOrdEqual, EQUAL), (Op::FOrdGreaterThan, GREATER)];
        let relation = relations.into_iter().fold(relation, |relation, (opcode, flag)| {
            reference.is(opcode, depths).select(self.code.constant(flags, &[flag]), relation)
        });
        (relation & self.flags).is(Op::INotEqual, 0).select(depths.of(1.0), 0.0)
    }
}
