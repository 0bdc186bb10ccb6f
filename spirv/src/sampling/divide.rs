//! Coordinates in texels become normalized ones: they are divided by the size of the level, and the instruction stays what it is.

use spirv::Op;

use super::flags;
use super::helper::Helper;
use super::site::operand::{COORDINATE, DX, DY, LOD, MIN_LOD};
use crate::error::{Error, push};

impl Helper<'_, '_, '_, '_> {
    /// Divides the coordinates and gradients of the instruction where the task says so. Layers, divisors of a projection and offsets
    /// stay as they are. There is no fork, so that derivatives are taken of what all invocations have.
    pub(super) fn divide(&mut self) -> Result<(), Error> {
        let (axes, float, bool) = (self.sample.axes, self.code.float, self.code.bool);
        let (given, count) = self.coordinate();
        let on = self.code.has(self.flags, flags::DIVIDE)?;
        let on = self.code.repeat(bool, on, axes)?;
        let texels = self.base()?;
        let base = self.texels(texels)?;
        let at = self.code.first(given, count, float, axes)?;
        let whole = self.whole_texel(at)?;
        let size = if self.has_level() { self.size_of_level(texels)? } else { base };
        let at = self.divided(on, (whole, at), size)?;
        let mut all = Vec::new();
        push(&mut all, at)?;
        for rest in axes..count {
            push(&mut all, self.code.float(Op::CompositeExtract, &[given, rest])?)?;
        }
        let coordinate = match *all.as_slice() {
            [one] => one,
            _ => {
                let ty = self.code.vec(count)?;
                self.code.op(Op::CompositeConstruct, ty, &all)?
            }
        };
        let [dx, dy] = [self.operands[DX], self.operands[DY]];
        if dx != 0 {
            self.operands[DX] = self.divided(on, (dx, dx), base)?;
            self.operands[DY] = self.divided(on, (dy, dy), base)?;
        }
        self.operands[COORDINATE] = coordinate;
        Ok(())
    }

    /// Whether the instruction says which level it reads. Others read levels by how coordinates differ, for which those of the base
    /// level count.
    fn has_level(&self) -> bool {
        self.operands[LOD] != 0 && !self.sample.form.gathers
    }

    /// A vector over a size where the task says so, else another one.
    fn divided(&mut self, on: u32, (vector, other): (u32, u32), size: u32) -> Result<u32, Error> {
        let ty = self.code.vec(self.sample.axes)?;
        let normalized = self.code.op(Op::FDiv, ty, &[vector, size])?;
        self.code.op(Op::Select, ty, &[on, normalized, other])
    }

    /// The size of the level that is nearest to the instruction's level of detail.
    fn size_of_level(&mut self, base: u32) -> Result<u32, Error> {
        let detail = self.biased(self.operands[LOD])?;
        let detail = self.limited(detail)?;
        let detail = self.within(detail)?;
        let level = self.nearest_level(detail)?;
        let level = self.code.op(Op::ConvertFToS, self.code.int, &[level])?;
        let size = self.shrunk(base, level)?;
        self.texels(size)
    }

    /// The middle of the texel that NEAREST reads, so that rounding of the division never reaches the texel beside it. Where filters
    /// or levels are mixed, and for gathers, coordinates stay as they are.
    fn whole_texel(&mut self, at: u32) -> Result<u32, Error> {
        let form = self.sample.form;
        if form.gathers || form.asks || form.projected || self.operands[MIN_LOD] != 0 {
            return Ok(at);
        }
        let (axes, uint, bool) = (self.sample.axes, self.code.uint, self.code.bool);
        let is = |helper: &mut Self, mask: u32, wanted: u32| {
            let (mask, wanted) = (helper.code.unsigned(mask)?, helper.code.unsigned(wanted)?);
            let bits = helper.code.op(Op::BitwiseAnd, uint, &[helper.flags, mask])?;
            helper.code.op(Op::IEqual, bool, &[bits, wanted])
        };
        const NEAREST: u32 = flags::MAG_NEAREST | flags::MIN_NEAREST;
        let flat = NEAREST | flags::BASE_LEVEL;
        let mut nearest = is(self, flat, flat)?;
        if self.has_level() {
            let on_one = is(self, NEAREST | flags::MIP_LINEAR, NEAREST)?;
            nearest = self.code.op(Op::LogicalOr, bool, &[nearest, on_one])?;
        }
        let vector = self.code.vec(axes)?;
        let half = self.code.splat(0.5, axes)?;
        let texel = self.code.glsl(spirv::GlslStd450Op::Floor, vector, &[at])?;
        let texel = self.code.op(Op::FAdd, vector, &[texel, half])?;
        let nearest = self.code.repeat(bool, nearest, axes)?;
        self.code.op(Op::Select, vector, &[nearest, texel, at])
    }
}
