//! Coordinates in texels become normalized ones: they are divided by the size of the level, and the instruction stays what it is.

use spirv::{GlslStd450Op as GLOp, Op};

use super::flags;
use super::helper::{Helper, nearest_level, shrunk};
use super::site::operand::{COORDINATE, COUNT, DX, DY, LOD, MIN_LOD};
use crate::build::{Scalar, Value};

impl<'b> Helper<'b> {
    /// The operands of the instruction with coordinates and gradients divided where the task says so. Layers, divisors of a projection
    /// and offsets stay as they are. There is no fork, so that derivatives are taken of what all invocations have.
    pub(super) fn divided(&self) -> [Option<Value<'b>>; COUNT] {
        let (axes, given) = (self.sample.axes, self.coordinate());
        let on = self.has(flags::DIVIDE);
        let texels = self.base();
        let base = texels.convert(Scalar::Float);
        let at = given.first(axes);
        let whole = self.whole_texel(at);
        let size = if self.has_level() { self.size_of_level(texels) } else { base };
        let at = on.select(whole / size, at);
        let (mut parts, rest) = ([at; 4], axes..given.ty.count);
        for (part, position) in parts.iter_mut().skip(1).zip(rest.clone()) {
            *part = given.at(position);
        }
        let mut operands = self.operands;
        operands[COORDINATE] = Some(self.code.vector(parts.get(..=rest.len()).unwrap_or(&parts)));
        for position in [DX, DY] {
            operands[position] = operands[position].map(|gradient| on.select(gradient / base, gradient));
        }
        operands
    }

    /// Whether the instruction says which level it reads. Others read levels by how coordinates differ, for which those of the base
    /// level count.
    fn has_level(&self) -> bool {
        self.operands[LOD].is_some() && !self.sample.form.gathers
    }

    /// The size of the level that is nearest to the instruction's level of detail.
    fn size_of_level(&self, base: Value<'b>) -> Value<'b> {
        let detail = self.within(self.limited(self.biased(self.level_of_detail())));
        shrunk(base, nearest_level(detail).convert(Scalar::Int)).convert(Scalar::Float)
    }

    /// The middle of the texel that NEAREST reads, so that rounding of the division never reaches the texel beside it. Where filters
    /// or levels are mixed, and for gathers, coordinates stay as they are.
    fn whole_texel(&self, at: Value<'b>) -> Value<'b> {
        let form = self.sample.form;
        if form.gathers || form.asks || form.projected || self.operands[MIN_LOD].is_some() {
            return at;
        }
        const NEAREST: u32 = flags::MAG_NEAREST | flags::MIN_NEAREST;
        const FLAT: u32 = NEAREST | flags::BASE_LEVEL;
        let is = |mask: u32, wanted: u32| (self.flags & mask).is(Op::IEqual, wanted);
        let mut nearest = is(FLAT, FLAT);
        if self.has_level() {
            nearest = nearest | is(NEAREST | flags::MIP_LINEAR, NEAREST);
        }
        nearest.select(at.math(GLOp::Floor) + 0.5, at)
    }
}
